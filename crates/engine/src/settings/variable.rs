//! The ranking's constants in the environment: `alpha` is COLGREP_ALPHA there, and in messages about it.

use colgrep_core::knob::{Knob, KnobError, Knobs};

use crate::error::{Result, SettingError};
use crate::settings::did_you_mean::nearest;

const PREFIX: &str = "COLGREP_";

/// Variables named COLGREP_… that are not knobs.
pub(crate) const OWN: [&str; 8] = [
    "COLGREP_TOKEN",
    "COLGREP_SHARD_TOKEN",
    "COLGREP_TRACE",
    "COLGREP_DATA_DIR",
    "COLGREP_PROFILE",
    "COLGREP_BACKGROUND",
    "COLGREP_WAIT",
    "COLGREP_PROGRESS",
];

pub fn variable(knob: Knob) -> String {
    format!("{PREFIX}{}", knob.name().to_uppercase())
}

/// The knob of a variable.
///
/// # Errors
/// When no knob has that name; the message suggests a similar one.
pub fn knob_of(variable_name: &str) -> Result<Knob> {
    if let Some(knob) = Knob::ALL.iter().find(|knob| variable(**knob) == variable_name) {
        return Ok(*knob);
    }
    // What all names begin with makes no two of them alike.
    let knobs: Vec<String> = Knob::ALL.iter().map(|knob| knob.name().to_uppercase()).collect();
    let others = OWN.iter().map(|name| name.trim_start_matches(PREFIX));
    let near = nearest(variable_name.trim_start_matches(PREFIX), knobs.iter().map(String::as_str).chain(others));
    let near = near.map(|near| format!("{PREFIX}{near}"));
    Err(SettingError::UnknownVariable { name: variable_name.to_string(), near }.into())
}

/// Sets a knob; an error names the variable, by which users know it.
///
/// # Errors
/// When the value does not fit the knob.
pub fn set(knobs: &mut Knobs, knob: Knob, value: &str) -> Result<()> {
    Ok(knobs.set(knob, value).map_err(named)?)
}

/// A knob's error with the variable's name in it.
pub fn named(error: KnobError) -> SettingError {
    match error {
        KnobError::Value { knob, value } => {
            SettingError::Variable { name: variable(knob), value, expected: knob.declaration().expected() }
        }
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_checked_and_errors_say_what_to_do() {
        for (name, value, expected) in [
            ("COLGREP_TRUST_LOW", "0.75", "ok"),
            ("COLGREP_TRUST_LOW", "2", "COLGREP_TRUST_LOW=2: expected a number from 0 to 1"),
            ("COLGREP_TRUST_LOW", "NaN", "COLGREP_TRUST_LOW=NaN: expected a number from 0 to 1"),
            ("COLGREP_UNIT_SUM_DEPTH", "2.5", "COLGREP_UNIT_SUM_DEPTH=2.5: expected a whole number from 1 to 100"),
            ("COLGREP_TRUST_LO", "2", "COLGREP_TRUST_LO is not a setting of colgrep; did you mean COLGREP_TRUST_LOW?"),
            ("COLGREP_WAITT", "1", "COLGREP_WAITT is not a setting of colgrep; did you mean COLGREP_WAIT?"),
            ("COLGREP_BOGUS", "2", "COLGREP_BOGUS is not a setting of colgrep"),
            ("COLGREP_alpha", "1", "COLGREP_alpha is not a setting of colgrep"),
        ] {
            let result = knob_of(name).and_then(|knob| set(&mut Knobs::of(Default::default()), knob, value));
            assert_eq!(result.map_or_else(|e| e.to_string(), |()| "ok".to_string()), expected);
        }
    }

    #[test]
    fn every_knob_has_a_variable_of_its_own() {
        for knob in Knob::ALL {
            assert_eq!(knob_of(&variable(*knob)).expect("its own"), *knob);
        }
    }
}
