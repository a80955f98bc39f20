//! The space of a sweep: knobs with the values to try, and settings as points in it.

use std::collections::{BTreeMap, HashSet};

use anyhow::{Context as _, Result, bail};
use colgrep_core::knob::Knob;
use colgrep_engine::settings::variable::{named, variable};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde::{Deserialize, Serialize};

/// Maximum number of settings of a grid; beyond, use `random` or `coordinate`.
const GRID_MAX: usize = 1_000_000;

/// Values over the baseline's, by knob; the empty one is the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Setting(pub BTreeMap<String, f64>);

impl Setting {
    /// As `A=1 B=2`; the baseline in a word.
    pub fn text(&self) -> String {
        match self.0.is_empty() {
            true => "baseline".to_string(),
            false => self.0.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" "),
        }
    }

    /// As lines for a shell.
    pub fn exports(&self) -> String {
        self.0.iter().map(|(n, v)| format!("export {n}={v}\n")).collect()
    }

    /// This setting with one knob at its baseline.
    pub fn without(&self, knob: Knob) -> Setting {
        let mut changed = self.clone();
        changed.0.remove(&variable(knob));
        changed
    }

    /// This setting with one knob changed.
    pub fn with(&self, knob: Knob, value: f64) -> Setting {
        let mut changed = self.clone();
        changed.0.insert(variable(knob), value);
        changed
    }
}

/// A knob with the values to try.
#[derive(Clone, Debug)]
pub struct Axis {
    pub knob: Knob,
    /// The values, ascending.
    pub values: Vec<f64>,
}

/// Reads the knobs as given.
pub fn axes(given: &[String]) -> Result<Vec<Axis>> {
    let mut axes: Vec<Axis> = Vec::new();
    for text in given {
        let axis = axis(text)?;
        if axes.iter().any(|a| a.knob == axis.knob) {
            bail!("{} is given twice", variable(axis.knob));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// Every knob that `takes` says, with its own grid.
pub fn declared(takes: impl Fn(Knob) -> bool) -> Vec<Axis> {
    let knobs = Knob::ALL.iter().copied().filter(|k| takes(*k));
    knobs.map(|knob| Axis { knob, values: knob.declaration().grid.to_vec() }).collect()
}

fn axis(text: &str) -> Result<Axis> {
    let (name, values) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
    let knob = super::knob(name)?;
    let Some(values) = values else {
        return Ok(Axis { knob, values: knob.declaration().grid.to_vec() });
    };
    let texts: Vec<String> = match values.split_once("..") {
        None => values.split(',').map(String::from).collect(),
        Some((first, rest)) => {
            let how = || format!("{text}: write a range as {name}=FIRST..LAST:STEP");
            let (last, step) = rest.split_once(':').with_context(how)?;
            let number = |t: &str| t.trim().parse::<f64>().ok().filter(|n| n.is_finite()).with_context(how);
            let (first, last, step) = (number(first)?, number(last)?, number(step)?);
            if step <= 0.0 || last < first || step > last - first || (last - first) / step > 10_000.0 {
                bail!("{}, with a STEP above 0 that fits between them, 10,000 times at most", how());
            }
            // Rounded: the step's binary fraction must not show in names, and the last value belongs to it.
            let count = ((last - first) / step + 1e-9).floor() as usize + 1;
            (0..count).map(|i| ((first + step * i as f64) * 1e9).round() / 1e9).map(|v| v.to_string()).collect()
        }
    };
    let values: Result<Vec<f64>, _> = texts.iter().map(|t| knob.parse(t)).collect();
    let mut values = values.map_err(named)?;
    values.sort_by(f64::total_cmp);
    values.dedup();
    Ok(Axis { knob, values })
}

/// Every combination.
pub fn grid(axes: &[Axis]) -> Result<Vec<Setting>> {
    let count = axes.iter().try_fold(1usize, |n, a| n.checked_mul(a.values.len())).filter(|n| *n <= GRID_MAX);
    if count.is_none() {
        bail!("the grid has more than {GRID_MAX} settings; take fewer values, or --mode coordinate or random");
    }
    let mut settings = vec![Setting::default()];
    for axis in axes {
        settings = settings.iter().flat_map(|s| axis.values.iter().map(|v| s.with(axis.knob, *v))).collect();
    }
    Ok(settings)
}

/// Distinct combinations drawn by chance, at most `trials`.
pub fn random(axes: &[Axis], trials: usize, seed: u64) -> Vec<Setting> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut settings: Vec<Setting> = Vec::new();
    let mut seen = HashSet::new();
    // A small space is soon exhausted: then many draws find nothing new.
    let mut fruitless = 0;
    while settings.len() < trials && fruitless < 1000 {
        let draw = |setting: Setting, axis: &Axis| match axis.values.choose(&mut rng) {
            Some(value) => setting.with(axis.knob, *value),
            None => setting,
        };
        let setting = axes.iter().fold(Setting::default(), draw);
        fruitless = if seen.insert(setting.text()) {
            settings.push(setting);
            0
        } else {
            fruitless + 1
        };
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_read_with_their_values() {
        for (text, expected) in [
            ("COLGREP_K1=0.5..0.7:0.1", "0.5 0.6 0.7"),
            ("COLGREP_K1=2,1,1", "1 2"),
            ("COLGREP_K1", "0.8 1.2 1.6 2"),
            ("COLGREP_UNIT_SUM_DEPTH=1..7:3", "1 4 7"),
            ("COLGREP_K1=0.5..0.7", "COLGREP_K1=0.5..0.7: write a range as COLGREP_K1=FIRST..LAST:STEP"),
            (
                "COLGREP_K1=2..1:1",
                "COLGREP_K1=2..1:1: write a range as COLGREP_K1=FIRST..LAST:STEP, with a STEP above 0 that fits between them, 10,000 times at most",
            ),
            (
                "COLGREP_B=0..1:2",
                "COLGREP_B=0..1:2: write a range as COLGREP_B=FIRST..LAST:STEP, with a STEP above 0 that fits between them, 10,000 times at most",
            ),
            ("COLGREP_K1=11", "COLGREP_K1=11: expected a number from 0 to 10"),
            ("rrf_k=1", "1"),
            (
                "rrf_q=1",
                "COLGREP_RRF_Q is not a setting of colgrep; did you mean COLGREP_RRF_K? `colgrep knobs` and `colgrep --help` list them all",
            ),
            (
                "COLGREP_K9=1",
                "COLGREP_K9 is not a setting of colgrep; did you mean COLGREP_K1? `colgrep knobs` and `colgrep --help` list them all",
            ),
        ] {
            let got = axis(text).map_or_else(
                |e| colgrep::told(&e),
                |a| a.values.iter().map(f64::to_string).collect::<Vec<_>>().join(" "),
            );
            assert_eq!(got, expected, "{text}");
        }
        assert!(axes(&["COLGREP_K1".into(), "COLGREP_K1=1".into()]).is_err());
    }

    #[test]
    fn grids_hold_every_combination_and_draws_are_distinct() {
        let axes = axes(&["COLGREP_K1=1,2".into(), "COLGREP_B=0,0.5,1".into()]).unwrap();
        let grid = grid(&axes).unwrap();
        assert_eq!((grid.len(), grid[0].text()), (6, "COLGREP_B=0 COLGREP_K1=1".to_string()));
        let drawn = random(&axes, 4, 1);
        assert_eq!(drawn.len(), 4);
        assert_eq!(drawn, random(&axes, 4, 1), "the same seed, the same settings");
        assert_eq!(random(&axes, 100, 1).len(), 6, "no setting twice");
        assert_eq!(grid[5].exports(), "export COLGREP_B=1\nexport COLGREP_K1=2\n");
    }

    #[test]
    fn a_grid_too_large_is_refused() {
        assert!(grid(&declared(|_| true)).is_err());
    }
}
