//! Times with their local day, and days of the calendar.

use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime};

const DAY: i64 = 86_400;
/// The Julian day of 1970-01-01, from which days are counted here.
const EPOCH: i64 = 2_440_588;

/// A time as a local clock showed it: ordered by the moment, with the local day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(i64);

impl Moment {
    /// Bits of the time zone's offset from UTC in minutes; zones are within 14 hours of it.
    const ZONE_BITS: u32 = 12;
    const ZONE_HALF: i64 = 1 << (Moment::ZONE_BITS - 1);

    /// The moment `seconds` after 1970 (UTC), on a clock `zone_minutes` east of UTC.
    pub fn new(seconds: i64, zone_minutes: i64) -> Moment {
        let zone = zone_minutes.clamp(1 - Moment::ZONE_HALF, Moment::ZONE_HALF - 1) + Moment::ZONE_HALF;
        Moment(seconds.clamp(-(1 << 50), 1 << 50) << Moment::ZONE_BITS | zone)
    }

    pub(crate) fn of_value(value: i64) -> Moment {
        Moment(value)
    }

    /// Its value, as stored in the index.
    pub(crate) fn value(self) -> i64 {
        self.0
    }

    /// Parses RFC 3339 and git's format: `2026-01-01T10:00:00.123Z`, `2026-01-01 10:00:00 +0200`, `2026-01-01 10:00`
    /// (UTC).
    pub fn read(text: &str) -> Option<Moment> {
        let (date, time) = text.split_at_checked(10)?;
        let time = time.strip_prefix(['T', 't', ' '])?;
        let (clock, zone) = time.split_at(time.find(['Z', 'z', '+', '-']).unwrap_or(time.len()));
        let clock = clock.trim_end();
        let seconds = if clock.matches(':').count() == 1 { ":00" } else { "" };
        let zone = match zone.split_at_checked(3) {
            Some((hours, minutes)) => format!("{hours}:{}", minutes.trim_start_matches(':')),
            None if zone.is_empty() => "Z".to_string(),
            None => zone.to_string(),
        };
        let read = OffsetDateTime::parse(&format!("{date}T{clock}{seconds}{zone}"), &Rfc3339).ok()?;
        Some(Moment::new(read.unix_timestamp(), i64::from(read.offset().whole_minutes())))
    }

    /// Seconds since 1970 (UTC).
    pub fn seconds(self) -> i64 {
        self.0 >> Moment::ZONE_BITS
    }

    /// The day that the clock showed, counted from 1970-01-01.
    pub fn day(self) -> i64 {
        let zone = (self.0 & ((1 << Moment::ZONE_BITS) - 1)) - Moment::ZONE_HALF;
        (self.seconds() + 60 * zone).div_euclid(DAY)
    }

    /// The same, written as `2026-01-01`; later dates are cut to the last day of year 9999.
    pub fn date(self) -> String {
        let day = i32::try_from(self.day() + EPOCH).ok().and_then(|day| Date::from_julian_day(day).ok());
        let (year, month, day) = day.unwrap_or(Date::MAX).to_calendar_date();
        format!("{year:04}-{:02}-{day:02}", u8::from(month))
    }
}

/// The day of a date such as `2026-01-01`, counted from 1970-01-01; `None` if it is not a date.
pub fn day_of(date: &str) -> Option<i64> {
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    let date = Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()?;
    Some(i64::from(date.to_julian_day()) - EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_knows_its_order_and_its_day() {
        for (seconds, zone, day) in [(0, 0, 0), (0, -1, -1), (86_399, 0, 0), (86_399, 1, 1), (-1, 0, -1), (-1, 600, 0)]
        {
            let moment = Moment::new(seconds, zone);
            assert_eq!((moment.seconds(), moment.day()), (seconds, day), "{seconds} {zone}");
        }
        assert!(Moment::new(10, -600) > Moment::new(9, 600));
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (date, day) in [
            ("1970-01-01", Some(0)),
            ("2000-02-29", Some(11_016)),
            ("2026-01-01", Some(20_454)),
            ("1969-12-31", Some(-1)),
            ("2023-02-29", None),
            ("2026-13-01", None),
            ("2026-1", None),
            ("yesterday", None),
        ] {
            assert_eq!(day_of(date), day, "{date}");
            if let Some(day) = day {
                assert_eq!(Moment::new(DAY * day, 0).date(), date);
            }
        }
        assert!((-200_000..200_000).all(|day| day_of(&Moment::new(DAY * day, 0).date()) == Some(day)));
    }

    #[test]
    fn times_are_read_with_their_zone() {
        let read = |text| Moment::read(text).map(|moment| (moment.seconds(), moment.date()));
        assert_eq!(read("1970-01-02T00:00:01.5Z"), Some((DAY + 1, "1970-01-02".to_string())));
        assert_eq!(read("1970-01-02T00:30:00+01:00"), Some((DAY - 1_800, "1970-01-02".to_string())));
        assert_eq!(read("1970-01-02 00:00:01"), Some((DAY + 1, "1970-01-02".to_string())));
        assert_eq!(read("1970-01-01T25:00:00Z"), None);
        assert_eq!(read("soon"), None);
    }
}
