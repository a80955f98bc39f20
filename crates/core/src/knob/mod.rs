//! Knobs: every constant of the ranking. Environment variables, `colgrep knobs`, documentation, trace and sweeps all
//! read the declarations in `table.rs`.

mod declaration;
mod table;

use std::ops::Deref;
use std::str::FromStr;

pub use declaration::{Declaration, KnobShape, Profile};
use table::{COUNT, DECLARATIONS};
pub use table::{Knob, Values};

/// Why a knob was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KnobError {
    /// No knob has that name.
    #[error("no knob is named {name:?}")]
    Unknown { name: String },
    /// The value is not a number, or does not fit the knob's shape or range.
    #[error("{}={value}: expected {}", knob.declaration().name, knob.declaration().expected())]
    Value { knob: Knob, value: String },
}

impl Knob {
    /// Its row in the table.
    pub fn declaration(self) -> &'static Declaration {
        &DECLARATIONS[self as usize]
    }

    /// Its plain name, such as `alpha`.
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// Parses a value.
    ///
    /// # Errors
    /// When it is not a number, or does not fit the shape or the range.
    pub fn parse(self, text: &str) -> Result<f64, KnobError> {
        self.declaration().parse(text).ok_or_else(|| KnobError::Value { knob: self, value: text.to_string() })
    }
}

impl FromStr for Knob {
    type Err = KnobError;

    /// The knob of a plain name.
    fn from_str(name: &str) -> Result<Knob, KnobError> {
        let known = Knob::ALL.iter().find(|knob| knob.name() == name);
        known.copied().ok_or_else(|| KnobError::Unknown { name: name.to_string() })
    }
}

/// A value for every knob: those of a profile, and those set over them.
///
/// Dereferences to [`Values`], so a knob is read as a field: `knobs.alpha`.
#[derive(Clone, Debug, PartialEq)]
pub struct Knobs {
    profile: Profile,
    /// One per knob, in full precision; `values` is derived from it.
    numbers: [f64; COUNT],
    is_set: [bool; COUNT],
    values: Values,
}

impl Knobs {
    pub fn of(profile: Profile) -> Knobs {
        let numbers = std::array::from_fn(|i| DECLARATIONS[i].value_in(profile));
        Knobs { profile, numbers, is_set: [false; COUNT], values: Values::of(&numbers) }
    }

    /// The profile whose values apply where none is set.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The value of a knob in full precision, as a number regardless of its type.
    pub fn number(&self, knob: Knob) -> f64 {
        self.numbers[knob as usize]
    }

    /// Whether a value was set over the profile's.
    pub fn is_set(&self, knob: Knob) -> bool {
        self.is_set[knob as usize]
    }

    /// Sets a knob to a value as written.
    pub fn set(&mut self, knob: Knob, value: &str) -> Result<(), KnobError> {
        self.numbers[knob as usize] = knob.parse(value)?;
        self.is_set[knob as usize] = true;
        self.values = Values::of(&self.numbers);
        Ok(())
    }
}

impl Deref for Knobs {
    type Target = Values;

    fn deref(&self) -> &Values {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_is_declared_well() {
        for (i, knob) in Knob::ALL.iter().enumerate() {
            let declared = knob.declaration();
            assert_eq!(*knob as usize, i, "{}: wrong row", declared.name);
            assert_eq!(declared.name.parse(), Ok(*knob), "{} twice", declared.name);
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(declared.name.chars().all(is_plain), "{}: not a variable name", declared.name);
            let says = declared.doc.ends_with('.') && !declared.source.is_empty();
            assert!(says, "{}: doc or source is missing", declared.name);
            for value in declared.grid.iter().chain([&declared.default, &declared.classic]) {
                assert!(knob.parse(&value.to_string()).is_ok(), "{} = {value} is out of its range", declared.name);
            }
            for profile in Profile::ALL {
                let is_another = |value: &f64| *value != declared.value_in(profile);
                assert!(declared.grid.iter().any(is_another), "the grid of {} has another value", declared.name);
            }
            if let Some(value) = declared.off {
                assert!(knob.parse(&value.to_string()).is_ok(), "{} = {value} is out of its range", declared.name);
            }
        }
    }

    #[test]
    fn values_are_checked() {
        for (name, value, expected) in [
            ("trust_low", "0.75", "ok"),
            ("trust_low", "2", "trust_low=2: expected a number from 0 to 1"),
            ("trust_low", "many", "trust_low=many: expected a number from 0 to 1"),
            ("trust_low", "NaN", "trust_low=NaN: expected a number from 0 to 1"),
            ("unit_sum_depth", "2.5", "unit_sum_depth=2.5: expected a whole number from 1 to 100"),
            ("penalty_last", "2", "penalty_last=2: expected 0 or 1"),
            ("trust_lo", "2", "no knob is named \"trust_lo\""),
            ("COLGREP_ALPHA", "2", "no knob is named \"COLGREP_ALPHA\""),
        ] {
            let result = name.parse().and_then(|knob| Knobs::of(Profile::Default).set(knob, value));
            assert_eq!(result.map_or_else(|e| e.to_string(), |()| "ok".to_string()), expected);
        }
    }

    #[test]
    fn k1_and_b_are_knobs_and_classic_has_fts5s() {
        let mut knobs = Knobs::of(Profile::Default);
        assert_eq!((knobs.k1, knobs.b), (1.6, 0.6));
        knobs.set(Knob::K1, "1.5").unwrap();
        knobs.set(Knob::B, "0.75").unwrap();
        assert_eq!((knobs.k1, knobs.b), (1.5, 0.75));
        let classic = Knobs::of(Profile::Classic);
        assert_eq!((classic.k1, classic.b, classic.stem_weight), (1.2, 0.75, 1.0));
    }

    #[test]
    fn a_set_value_stands_over_the_profile() {
        let mut knobs = Knobs::of(Profile::Classic);
        assert_eq!((knobs.trust_low, knobs.is_set(Knob::TrustLow)), (0.0, false));
        knobs.set(Knob::TrustLow, "1").unwrap();
        assert_eq!((knobs.trust_low, knobs.is_set(Knob::TrustLow), knobs.semantic_depth), (1.0, true, 10_000));
        assert_eq!((knobs.number(Knob::TrustLow), knobs.penalty_last), (1.0, false));
        assert!(knobs.set(Knob::TrustLow, "2").is_err() && knobs.trust_low == 1.0, "an error changes nothing");
    }
}
