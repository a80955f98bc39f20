//! The two ends of a requested time.

use std::time::{SystemTime, UNIX_EPOCH};

use colgrep_index::moment::{Moment, day_of};

use crate::error::{Refused, Result};

const DAY: i64 = 86_400;

/// An end of a requested time, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A day, by the author's clock, as it is printed.
    Day(i64),
    /// A moment, in seconds since 1970.
    Second(i64),
}

impl Bound {
    /// Reads `2026-01-01`, `2026-01-01T10:00:00Z`, `2026-01-01 10:00`, `@1767261600`, `today`, `yesterday`, `last week`,
    /// `2 weeks ago`.
    ///
    /// # Errors
    /// When the text has none of these forms.
    pub fn read(text: &str) -> Result<Bound> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64);
        let written = text.trim();
        let read = day_of(written).map(Bound::Day);
        let read = read.or_else(|| Moment::read(written).map(|moment| Bound::Second(moment.seconds())));
        let read = read.or_else(|| Some(Bound::Second(written.strip_prefix('@')?.parse().ok()?)));
        match read.or_else(|| ago(&written.to_lowercase(), now)) {
            Some(bound) => Ok(bound),
            None => Err(Refused::NoDate { text: text.to_string() }.into()),
        }
    }

    /// Whether a moment is not before this.
    pub(super) fn begins(self, moment: Moment) -> bool {
        match self {
            Bound::Day(day) => moment.day() >= day,
            Bound::Second(second) => moment.seconds() >= second,
        }
    }

    /// Whether a moment is at or before this bound.
    pub(super) fn ends(self, moment: Moment) -> bool {
        match self {
            Bound::Day(day) => moment.day() <= day,
            Bound::Second(second) => moment.seconds() <= second,
        }
    }
}

/// `yesterday`, `2 weeks ago`, `2.weeks.ago`; days by the clock in UTC.
fn ago(text: &str, now: i64) -> Option<Bound> {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == '.').filter(|word| !word.is_empty()).collect();
    let (number, unit) = match words[..] {
        ["now"] => return Some(Bound::Second(now)),
        ["today"] => (0, "day"),
        ["last", unit] => (1, unit),
        ["yesterday"] => (1, "day"),
        [number, unit, "ago"] => (number.parse().ok()?, unit),
        _ => return None,
    };
    let days = match unit.trim_end_matches('s') {
        "hour" => return Some(Bound::Second(now.saturating_sub(3_600_i64.saturating_mul(number)))),
        "minute" => return Some(Bound::Second(now.saturating_sub(60_i64.saturating_mul(number)))),
        "day" => 1,
        "week" => 7,
        "month" => 30,
        "year" => 365,
        _ => return None,
    };
    Some(Bound::Day(now.div_euclid(DAY).saturating_sub(number.saturating_mul(days))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_write_them() {
        let now = 20_454 * DAY + 7_200;
        for (text, expected) in [
            ("yesterday", Some(Bound::Day(20_453))),
            ("2 weeks ago", Some(Bound::Day(20_440))),
            ("2.weeks.ago", Some(Bound::Day(20_440))),
            ("1 hour ago", Some(Bound::Second(now - 3_600))),
            ("last week", Some(Bound::Day(20_447))),
            ("now", Some(Bound::Second(now))),
            ("last banana", None),
            ("banana", None),
            ("two weeks ago", None),
        ] {
            assert_eq!(ago(text, now), expected, "{text}");
        }
        assert_eq!(Bound::read("2026-01-01").unwrap(), Bound::Day(20_454));
        for written in ["2026-01-01T02:00:00Z", "2026-01-01 02:00", "2026-01-01 04:00:00 +0200", "@1767232800"] {
            assert_eq!(Bound::read(written).unwrap(), Bound::Second(now), "{written}");
        }
        assert!(Bound::read("2026-01-01 2").is_err() && Bound::read("@x").is_err());
        assert!(Bound::read("v1.0").is_err());
        let noon = Moment::new(20_454 * DAY + 43_200, 0);
        assert!(Bound::Day(20_454).begins(noon) && Bound::Day(20_454).ends(noon) && !Bound::Second(now).ends(noon));
    }
}
