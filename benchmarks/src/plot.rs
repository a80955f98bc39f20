//! `plot`: pictures of what the other commands wrote, as SVG.

mod draw;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::FINE;
use crate::corpus::read_json;
use crate::report::{Record, print};
use crate::speed::ProjectSpeed;
use draw::{Chart, PlotPoint, Series, draw};

#[derive(Clone, Debug, clap::Args)]
pub struct PlotArgs {
    /// A result of `sweep --out`: one curve for each of its knobs (repeatable)
    #[arg(long, value_name = "FILE")]
    pub sweep: Vec<PathBuf>,
    /// A record of `run --out`: one point a set of NDCG@10 against search time (repeatable)
    #[arg(long, value_name = "FILE")]
    pub record: Vec<PathBuf>,
    /// A result of `speed --out`: cost against size of the source
    #[arg(long, value_name = "FILE")]
    pub speed: Option<PathBuf>,
    /// Folder for the pictures
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// The part of a sweep's result that is drawn.
#[derive(Debug, Deserialize)]
struct Sweep {
    baseline: f64,
    knobs: BTreeMap<String, f64>,
    settings: Vec<SweepSetting>,
}

#[derive(Debug, Deserialize)]
struct SweepSetting {
    setting: BTreeMap<String, f64>,
    ndcg_10: f64,
    error: f64,
}

#[derive(Debug, Deserialize)]
struct Speed {
    projects: Vec<ProjectSpeed>,
}

pub fn run(args: &PlotArgs) -> Result<u8> {
    if args.sweep.is_empty() && args.record.is_empty() && args.speed.is_none() {
        bail!("nothing to draw; give --sweep, --record or --speed");
    }
    std::fs::create_dir_all(&args.out).with_context(|| format!("{}", args.out.display()))?;
    let mut made = Vec::new();
    for path in &args.sweep {
        let sweep: Sweep = read_json(path)?;
        for (knob, points) in curves(&sweep) {
            let file = args.out.join(format!("sweep-{}-{}.svg", stem(path), knob.to_lowercase()));
            let title = format!("{knob}: best over the sweep's other knobs (± paired standard error)");
            let series = vec![Series { name: String::new(), points }];
            let level = Some(sweep.baseline);
            draw(&file, &Chart { title: &title, x: &knob, y: "NDCG@10", series, line: true, log: false, level })?;
            made.push(file);
        }
    }
    if !args.record.is_empty() {
        let mut sets: BTreeMap<String, Vec<PlotPoint>> = BTreeMap::new();
        for path in &args.record {
            let record: Record = read_json(path)?;
            for (set, metrics) in record.by_set {
                let point = PlotPoint { x: record.search_ms_median, y: metrics.ndcg_10, error: 0.0, label: stem(path) };
                sets.entry(set).or_default().push(point);
            }
        }
        let series = sets.into_iter().map(|(name, points)| Series { name, points }).collect();
        let file = args.out.join("relevance-against-time.svg");
        let title = "Relevance against search time";
        let x = "median search inside the process, ms";
        draw(&file, &Chart { title, x, y: "NDCG@10", series, line: false, log: false, level: None })?;
        made.push(file);
    }
    if let Some(path) = &args.speed {
        let speed: Speed = read_json(path)?;
        let all = &speed.projects;
        for (name, y, series) in [
            ("cold-index", "cold index, ms", vec![of_size(all, "colgrep init", |p| Some(p.cold_ms.median))]),
            ("query", "an answer, ms", answers(all)),
            ("index-size", "index, MB", vec![of_size(all, "colgrep init", |p| Some(p.index_bytes as f64 / 1e6))]),
        ] {
            let file = args.out.join(format!("{name}-against-size.svg"));
            let title = format!("{y}, against size of the source");
            draw(&file, &Chart { title: &title, x: "source, MB", y, series, line: false, log: true, level: None })?;
            made.push(file);
        }
    }
    print(&made.iter().map(|f| format!("{}\n", f.display())).collect::<String>())?;
    Ok(FINE)
}

/// What each project costs, against the megabytes of its source.
fn of_size(projects: &[ProjectSpeed], name: &str, cost: impl Fn(&ProjectSpeed) -> Option<f64>) -> Series {
    let point = |p: &ProjectSpeed| {
        Some(PlotPoint { x: p.source_bytes as f64 / 1e6, y: cost(p)?, error: 0.0, label: p.name.clone() })
    };
    Series { name: name.to_string(), points: projects.iter().filter_map(point).collect() }
}

/// Query times of colgrep as a process and as a server, and of each other tool that was measured (ripgrep's for one
/// word).
fn answers(projects: &[ProjectSpeed]) -> Vec<Series> {
    let mut series = vec![
        of_size(projects, "colgrep, whole process", |p| Some(p.query_ms.median)),
        of_size(projects, "colgrep, a running server", |p| Some(p.server_ms.median)),
    ];
    let mut names: Vec<&str> = projects.iter().flat_map(|p| &p.peers).map(|peer| peer.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let own = |p: &ProjectSpeed| p.peers.iter().find(|peer| peer.name == name)?.query_ms.map(|s| s.median);
        series.push(of_size(projects, &format!("{name}, whole process"), own));
    }
    series.retain(|s| !s.points.is_empty());
    series
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

/// For each knob of a sweep: its values, each with the best score that any setting with it has.
fn curves(sweep: &Sweep) -> BTreeMap<String, Vec<PlotPoint>> {
    let mut best: BTreeMap<String, Vec<PlotPoint>> = BTreeMap::new();
    let names: Vec<&String> = sweep.settings.iter().flat_map(|s| s.setting.keys()).collect();
    for SweepSetting { setting, ndcg_10, error } in &sweep.settings {
        for name in &names {
            // A setting that does not name the knob has the baseline's value.
            let Some(value) = setting.get(*name).or(sweep.knobs.get(*name)).copied() else { continue };
            let point = PlotPoint { x: value, y: *ndcg_10, error: *error, label: String::new() };
            let points = best.entry((*name).clone()).or_default();
            match points.iter_mut().find(|p| p.x == value) {
                Some(known) if known.y >= point.y => {}
                Some(known) => *known = point,
                None => points.push(point),
            }
        }
    }
    for points in best.values_mut() {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_the_best_over_the_other_knobs() {
        let setting = |a: Option<f64>, b: f64, ndcg_10: f64| SweepSetting {
            setting: a.map(|a| ("A".to_string(), a)).into_iter().chain([("B".to_string(), b)]).collect(),
            ndcg_10,
            error: ndcg_10 / 10.0,
        };
        let settings = vec![
            setting(Some(2.0), 0.0, 0.5),
            setting(Some(2.0), 1.0, 0.7),
            setting(Some(2.0), 2.0, 0.1),
            setting(None, 1.0, 0.6),
        ];
        let sweep = Sweep { baseline: 0.5, knobs: [("A".to_string(), 1.0)].into(), settings };
        let points: Vec<(f64, f64, f64)> = curves(&sweep)["A"].iter().map(|p| (p.x, p.y, p.error)).collect();
        assert_eq!(points, [(1.0, 0.6, 0.6 / 10.0), (2.0, 0.7, 0.7 / 10.0)]);
    }
}
