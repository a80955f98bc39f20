//! Times as somebody's clock showed them, and days of the calendar.

use serde::{Deserialize, Serialize};

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A time as somebody's clock showed it: ordered by the moment, and it knows the day that was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(i64);

impl Moment {
    /// Bits of the clock's distance from UTC in minutes; zones lie within 14 hours of it.
    const ZONE_BITS: u32 = 12;
    const ZONE_HALF: i64 = 1 << (Moment::ZONE_BITS - 1);

    /// So many seconds since 1970 (UTC), on a clock so many minutes east of UTC.
    pub fn new(seconds: i64, zone_minutes: i64) -> Moment {
        let zone = zone_minutes.clamp(1 - Moment::ZONE_HALF, Moment::ZONE_HALF - 1) + Moment::ZONE_HALF;
        Moment(seconds.clamp(-(1 << 50), 1 << 50) << Moment::ZONE_BITS | zone)
    }

    /// The moment of a value that the index holds.
    pub(crate) fn of_value(value: i64) -> Moment {
        Moment(value)
    }

    /// Its value, as the index holds it.
    pub(crate) fn value(self) -> i64 {
        self.0
    }

    /// Reads RFC 3339 and what git writes: `2026-01-01T10:00:00.123Z`, `2026-01-01 10:00:00 +0200`, `2026-01-01 10:00`
    /// (UTC).
    pub fn read(text: &str) -> Option<Moment> {
        let (date, rest) = text.split_at_checked(10)?;
        let time = rest.strip_prefix(['T', 't', ' '])?;
        let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
        let clock = time[..zone_at].trim_end().split('.').next()?;
        let seconds = if clock.matches(':').count() == 1 { ":00" } else { "" };
        let [hour, minute, second] = numbers(&format!("{clock}{seconds}"), ':')?;
        let zone = match &time[zone_at..] {
            "" | "Z" | "z" => 0,
            zone => {
                let (sign, zone) = zone.split_at(1);
                let (hours, minutes) = zone.split_once(':').or_else(|| zone.split_at_checked(2))?;
                let minutes = 60 * hours.parse::<i64>().ok()? + minutes.parse::<i64>().ok()?;
                if sign == "-" { -minutes } else { minutes }
            }
        };
        let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
        let seconds = DAY * day_of(date)? + 3_600 * hour + 60 * minute + second;
        is_time.then(|| Moment::new(seconds - 60 * zone, zone))
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

    /// The same, written as `2026-01-01`.
    pub fn date(self) -> String {
        // The year begins in March, so that the leap day is its last (Hinnant, chrono-compatible date algorithms).
        let days = self.day() + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        format!("{:04}-{month:02}-{day:02}", era * 400 + year + carry)
    }
}

/// The day of a date as written, `2026-01-01`, counted from 1970-01-01; none where there is no such date.
pub fn day_of(date: &str) -> Option<i64> {
    let [year, month, day] = numbers(date, '-')?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) || !(0..=9_999).contains(&year) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let parts: Vec<i64> = text.split(between).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    parts.try_into().ok()
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
        assert_eq!(read("1970-01-01T25:00:00Z"), None);
        assert_eq!(read("soon"), None);
    }
}
