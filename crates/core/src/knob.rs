//! Knobs: every constant of the ranking, declared once beside the code that reads it.
//!
//! The environment, `colgrep knobs`, the table in the docs, the trace and a sweep's grid all come
//! from that one declaration.

use std::collections::BTreeMap;
use std::fmt;

/// What values a knob takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Any number of the range.
    Real,
    /// A whole number of the range.
    Whole,
    /// 0 or 1.
    Switch,
}

/// One declared constant.
#[derive(Debug)]
pub struct Knob {
    /// Its environment variable.
    pub env: &'static str,
    /// What it does, in one sentence, with its unit.
    pub doc: &'static str,
    /// Value in the `default` profile.
    pub default: f64,
    /// Value in the `classic` profile.
    pub classic: f64,
    /// What values it takes.
    pub shape: Shape,
    /// Smallest and largest value allowed.
    pub range: (f64, f64),
    /// Values worth trying in a sweep.
    pub grid: &'static [f64],
    /// Where the value comes from.
    pub source: &'static str,
}

/// A named set of values for all knobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// The best that the benchmark knows.
    #[default]
    Default,
    /// The pipeline as published (ColGREP, pull request 99).
    Classic,
}

impl Profile {
    /// Both profiles.
    pub const ALL: [Profile; 2] = [Profile::Default, Profile::Classic];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Default => "default",
            Profile::Classic => "classic",
        }
    }

    /// The profile of that name.
    pub fn from_name(name: &str) -> Option<Profile> {
        Profile::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// Why a setting was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnobError {
    /// No knob has that name.
    Unknown {
        /// The name given.
        name: String,
        /// The known name that may be meant.
        nearest: Option<&'static str>,
    },
    /// The value does not fit the knob.
    Value {
        /// The knob's name.
        name: String,
        /// The value given.
        value: String,
        /// What the knob takes.
        expected: String,
    },
}

impl fmt::Display for KnobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnobError::Unknown { name, nearest } => {
                let meant = nearest.map(|nearest| format!(" did you mean {nearest}?")).unwrap_or_default();
                write!(f, "{name} is not a setting of colgrep;{meant} `colgrep knobs` lists them all")
            }
            KnobError::Value { name, value, expected } => write!(f, "{name}={value}: expected {expected}"),
        }
    }
}

impl std::error::Error for KnobError {}

impl Knob {
    /// What values it takes, in words.
    pub fn expected(&self) -> String {
        let (low, high) = self.range;
        match self.shape {
            Shape::Switch => "0 or 1".to_string(),
            Shape::Whole => format!("a whole number from {low} to {high}"),
            Shape::Real => format!("a number from {low} to {high}"),
        }
    }

    /// Its value in a profile.
    pub const fn value_in(&self, profile: Profile) -> f64 {
        match profile {
            Profile::Default => self.default,
            Profile::Classic => self.classic,
        }
    }

    /// Reads a value as written.
    ///
    /// # Errors
    /// When it is no number, or does not fit the shape or the range.
    pub fn parse(&self, text: &str) -> Result<f64, KnobError> {
        let value: Option<f64> = text.trim().parse().ok();
        let fits = |v: &f64| {
            v.is_finite()
                && (self.range.0..=self.range.1).contains(v)
                && (self.shape == Shape::Real || v.fract() == 0.0)
        };
        value.filter(fits).ok_or_else(|| KnobError::Value {
            name: self.env.to_string(),
            value: text.to_string(),
            expected: self.expected(),
        })
    }
}

/// The values in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Knobs {
    profile: Profile,
    set: BTreeMap<&'static str, f64>,
}

impl Knobs {
    /// The values of a profile.
    pub fn of(profile: Profile) -> Knobs {
        Knobs { profile, set: BTreeMap::new() }
    }

    /// Which profile stands below the values set.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The value of a knob.
    pub fn get(&self, knob: &Knob) -> f32 {
        self.exact(knob) as f32
    }

    /// The value of a knob in full precision.
    pub fn exact(&self, knob: &Knob) -> f64 {
        self.set.get(knob.env).copied().unwrap_or(knob.value_in(self.profile))
    }

    /// The value of a whole-number knob.
    pub fn whole(&self, knob: &Knob) -> usize {
        self.exact(knob) as usize
    }

    /// Whether a switch is on.
    pub fn is_on(&self, knob: &Knob) -> bool {
        self.exact(knob) != 0.0
    }

    /// Whether a value was set over the profile's.
    pub fn is_set(&self, knob: &Knob) -> bool {
        self.set.contains_key(knob.env)
    }

    /// Sets one of `known` by its name.
    ///
    /// # Errors
    /// When no knob has that name, or the value does not fit it.
    pub fn set(&mut self, known: &[&'static Knob], name: &str, value: &str) -> Result<(), KnobError> {
        let Some(knob) = known.iter().find(|k| k.env == name) else {
            // What all names begin with makes no two of them alike.
            let bare = |name: &'static str| name.trim_start_matches("COLGREP_");
            let nearest = nearest(name.trim_start_matches("COLGREP_"), known.iter().map(|k| bare(k.env)));
            let nearest = known.iter().map(|k| k.env).find(|env| nearest == Some(bare(env)));
            return Err(KnobError::Unknown { name: name.to_string(), nearest });
        };
        self.set.insert(knob.env, knob.parse(value)?);
        Ok(())
    }
}

/// The name that may be meant by what was typed: the one in the fewest changes of a character, if these are at most one
/// for three characters and leave something of what was typed.
pub fn nearest<'n>(typed: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let len = typed.chars().count();
    let changes_max = len.div_ceil(3).min(len.saturating_sub(1));
    let (changes, name) = names.map(|name| (distance(typed, name), name)).min_by_key(|(changes, _)| *changes)?;
    (changes <= changes_max).then_some(name)
}

/// Levenshtein distance, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    static REAL: Knob = Knob {
        env: "COLGREP_REAL",
        doc: "",
        default: 0.5,
        classic: 0.25,
        shape: Shape::Real,
        range: (0.0, 1.0),
        grid: &[],
        source: "",
    };
    static WHOLE: Knob = Knob {
        env: "COLGREP_WHOLE",
        doc: "",
        default: 3.0,
        classic: 4.0,
        shape: Shape::Whole,
        range: (1.0, 9.0),
        grid: &[],
        source: "",
    };
    static KNOWN: [&Knob; 2] = [&REAL, &WHOLE];

    #[test]
    fn values_are_checked_and_errors_say_what_to_do() {
        for (name, value, expected) in [
            ("COLGREP_REAL", "0.75", "ok"),
            ("COLGREP_REAL", "2", "COLGREP_REAL=2: expected a number from 0 to 1"),
            ("COLGREP_REAL", "many", "COLGREP_REAL=many: expected a number from 0 to 1"),
            ("COLGREP_REAL", "NaN", "COLGREP_REAL=NaN: expected a number from 0 to 1"),
            ("COLGREP_WHOLE", "2.5", "COLGREP_WHOLE=2.5: expected a whole number from 1 to 9"),
            (
                "COLGREP_WHOL",
                "2",
                "COLGREP_WHOL is not a setting of colgrep; did you mean COLGREP_WHOLE? `colgrep knobs` lists them all",
            ),
            ("COLGREP_BOGUS", "2", "COLGREP_BOGUS is not a setting of colgrep; `colgrep knobs` lists them all"),
        ] {
            let result = Knobs::of(Profile::Default).set(&KNOWN, name, value);
            assert_eq!(result.map_or_else(|e| e.to_string(), |()| "ok".to_string()), expected);
        }
    }

    #[test]
    fn only_a_name_that_is_near_is_suggested() {
        for (typed, expected) in [
            ("result", Some("results")),
            ("colour", Some("color")),
            ("alhpa", Some("alpha")),
            ("k2", Some("k1")),
            ("bogus", None),
            ("k", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, ["results", "color", "alpha", "k1", "b"].into_iter()), expected, "{typed}");
        }
    }

    #[test]
    fn a_set_value_stands_over_the_profile() {
        let mut knobs = Knobs::of(Profile::Classic);
        assert_eq!(knobs.get(&REAL), 0.25);
        knobs.set(&KNOWN, "COLGREP_REAL", "1").unwrap();
        assert_eq!((knobs.get(&REAL), knobs.is_set(&REAL), knobs.whole(&WHOLE)), (1.0, true, 4));
    }
}
