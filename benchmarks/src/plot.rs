//! `plot`: pictures of what the other commands wrote, as SVG.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use plotters::coord::Shift;
use plotters::prelude::*;
use serde::Deserialize;

use crate::FINE;
use crate::corpus::read_json;
use crate::report::{Record, print};
use crate::speed::ProjectSpeed;

const SIZE: (u32, u32) = (720, 440);
const LINE: RGBColor = RGBColor(31, 99, 156);
const FONT: (&str, u32) = ("sans-serif", 14);

/// `plot`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A result of `sweep --out`: one curve for each of its knobs (repeatable)
    #[arg(long, value_name = "FILE")]
    pub sweep: Vec<PathBuf>,
    /// A record of `run --out`: one point of NDCG@10 against search time (repeatable)
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
}

#[derive(Debug, Deserialize)]
struct Speed {
    projects: Vec<ProjectSpeed>,
}

/// A series of points, and their names.
type Points = Vec<(f64, f64, String)>;

/// What a project costs.
type Cost = fn(&ProjectSpeed) -> f64;

/// Runs the command.
///
/// # Errors
/// When a file can't be read or a picture can't be written.
pub fn run(args: &Args) -> Result<u8> {
    if args.sweep.is_empty() && args.record.is_empty() && args.speed.is_none() {
        bail!("nothing to draw; give --sweep, --record or --speed");
    }
    std::fs::create_dir_all(&args.out).with_context(|| format!("{}", args.out.display()))?;
    let mut made = Vec::new();
    for path in &args.sweep {
        let sweep: Sweep = read_json(path)?;
        for (knob, points) in curves(&sweep) {
            let file = args.out.join(format!("sweep-{}-{}.svg", stem(path), knob.to_lowercase()));
            let title = format!("{knob}: best NDCG@10 over the other knobs");
            draw(
                &file,
                &Chart { title: &title, x: &knob, y: "NDCG@10", points, line: true, level: Some(sweep.baseline) },
            )?;
            made.push(file);
        }
    }
    if !args.record.is_empty() {
        let mut points = Points::new();
        for path in &args.record {
            let record: Record = read_json(path)?;
            points.push((record.search_ms_median, record.overall.ndcg_10, stem(path)));
        }
        let file = args.out.join("relevance-against-time.svg");
        let title = "Relevance against search time";
        let x = "median search inside the process, ms";
        draw(&file, &Chart { title, x, y: "NDCG@10", points, line: false, level: None })?;
        made.push(file);
    }
    if let Some(path) = &args.speed {
        let speed: Speed = read_json(path)?;
        let costs: [(&str, &str, Cost); 3] = [
            ("cold-index", "cold index, ms", |p| p.cold_ms.median),
            ("query", "query, whole process, ms", |p| p.query_ms.median),
            ("index-size", "index, MB", |p| p.index_bytes as f64 / 1e6),
        ];
        for (name, y, cost) in costs {
            let point = |p: &ProjectSpeed| (p.source_bytes as f64 / 1e6, cost(p), p.name.clone());
            let points = speed.projects.iter().map(point).collect();
            let file = args.out.join(format!("{name}-against-size.svg"));
            let title = format!("{y} against size of the source");
            draw(&file, &Chart { title: &title, x: "source, MB", y, points, line: false, level: None })?;
            made.push(file);
        }
    }
    print(&made.iter().map(|f| format!("{}\n", f.display())).collect::<String>())?;
    Ok(FINE)
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

/// For each knob of a sweep: its values, each with the best score that any setting with it has.
fn curves(sweep: &Sweep) -> BTreeMap<String, Points> {
    let mut best: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let names: Vec<&String> = sweep.settings.iter().flat_map(|s| s.setting.keys()).collect();
    for setting in &sweep.settings {
        for name in &names {
            // A setting that does not name the knob has the baseline's value.
            let Some(value) = setting.setting.get(*name).or(sweep.knobs.get(*name)).copied() else { continue };
            let points = best.entry((*name).clone()).or_default();
            match points.iter_mut().find(|p| p.0 == value) {
                Some(point) => point.1 = point.1.max(setting.ndcg_10),
                None => points.push((value, setting.ndcg_10)),
            }
        }
    }
    let named = |mut points: Vec<(f64, f64)>| {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.into_iter().map(|(x, y)| (x, y, String::new())).collect()
    };
    best.into_iter().map(|(name, points)| (name, named(points))).collect()
}

/// One picture.
struct Chart<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    points: Points,
    line: bool,
    /// A level to compare with, drawn across.
    level: Option<f64>,
}

/// Lowest and highest value with some room; a single value gets room too.
fn range(values: impl Iterator<Item = f64> + Clone) -> std::ops::Range<f64> {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let room = if high > low { (high - low) * 0.1 } else { high.abs().max(1e-3) * 0.1 };
    low - room..high + room
}

fn draw(path: &Path, chart: &Chart<'_>) -> Result<()> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    // The backend's errors borrow from it.
    draw_on(&area, chart).map_err(|e| anyhow!("{}: {e}", path.display()))
}

fn draw_on<'b>(
    area: &DrawingArea<SVGBackend<'b>, Shift>,
    chart: &Chart<'_>,
) -> Result<(), Box<dyn std::error::Error + 'b>> {
    area.fill(&WHITE)?;
    let xs = range(chart.points.iter().map(|p| p.0));
    let ys = range(chart.points.iter().map(|p| p.1).chain(chart.level));
    let mut context = ChartBuilder::on(area)
        .caption(chart.title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(xs.clone(), ys)?;
    context.configure_mesh().x_desc(chart.x).y_desc(chart.y).label_style(FONT).light_line_style(WHITE).draw()?;
    if let Some(level) = chart.level {
        context.draw_series(LineSeries::new([(xs.start, level), (xs.end, level)], BLACK.mix(0.4)))?;
    }
    if chart.line {
        context.draw_series(LineSeries::new(chart.points.iter().map(|p| (p.0, p.1)), LINE.stroke_width(2)))?;
    }
    context.draw_series(chart.points.iter().map(|p| Circle::new((p.0, p.1), 4, LINE.filled())))?;
    context.draw_series(
        chart.points.iter().filter(|p| !p.2.is_empty()).map(|p| Text::new(p.2.clone(), (p.0, p.1), FONT)),
    )?;
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_the_best_over_the_other_knobs() {
        let setting = |a: Option<f64>, b: f64, ndcg_10: f64| SweepSetting {
            setting: a.map(|a| ("A".to_string(), a)).into_iter().chain([("B".to_string(), b)]).collect(),
            ndcg_10,
        };
        let settings = vec![setting(Some(2.0), 0.0, 0.5), setting(Some(2.0), 1.0, 0.7), setting(None, 1.0, 0.6)];
        let sweep = Sweep { baseline: 0.5, knobs: [("A".to_string(), 1.0)].into(), settings };
        let curve = &curves(&sweep)["A"];
        let points: Vec<(f64, f64)> = curve.iter().map(|p| (p.0, p.1)).collect();
        assert_eq!(points, [(1.0, 0.6), (2.0, 0.7)]);
    }

    #[test]
    fn pictures_hold_their_points_and_names() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.svg");
        let points = vec![(1.0, 0.5, "one".to_string()), (2.0, 0.7, "two".to_string())];
        draw(&file, &Chart { title: "T", x: "X", y: "Y", points, line: true, level: Some(0.6) }).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("<svg") && text.matches("<circle").count() == 2, "{text}");
        for name in ["one", "two", "T", "X", "Y"] {
            assert!(text.contains(&format!("\n{name}\n")), "{name} is missing");
        }
    }
}
