//! One picture of points or a curve, as SVG.

use std::ops::Range;
use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const SIZE: (u32, u32) = (720, 440);
const COLOURS: [RGBColor; 4] =
    [RGBColor(31, 99, 156), RGBColor(200, 90, 0), RGBColor(60, 130, 60), RGBColor(120, 60, 140)];
const FONT: (&str, u32) = ("sans-serif", 13);
/// About the width of a letter and the height of a line of it, in pixels.
const LETTER: (i32, i32) = (7, 14);
/// From a point to its name, in pixels.
const GAP: i32 = 7;

#[derive(Clone, Debug, PartialEq)]
pub struct PlotPoint {
    pub x: f64,
    pub y: f64,
    /// Half length of the error bar; 0 for none.
    pub error: f64,
    /// Its name; left out where it would cover another.
    pub label: String,
}

/// Points of one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Shown in the legend where there are several.
    pub name: String,
    pub points: Vec<PlotPoint>,
}

pub struct Chart<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub series: Vec<Series>,
    /// Whether the points are joined.
    pub line: bool,
    /// Whether both axes are logarithmic.
    pub log: bool,
    /// A level to compare with, drawn across.
    pub level: Option<f64>,
}

pub fn draw(path: &Path, chart: &Chart<'_>) -> Result<()> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    // The backend's errors borrow from it.
    draw_on(&area, chart).map_err(|e| anyhow!("{}: {e}", path.display()))
}

type Drawn<'b> = std::result::Result<(), Box<dyn std::error::Error + 'b>>;

fn draw_on<'b>(area: &DrawingArea<SVGBackend<'b>, Shift>, chart: &Chart<'_>) -> Drawn<'b> {
    area.fill(&WHITE)?;
    let points = || chart.series.iter().flat_map(|s| &s.points);
    let xs = range(points().map(|p| p.x), chart.log);
    let ys = range(points().flat_map(|p| [p.y - p.error, p.y + p.error]).chain(chart.level), chart.log);
    let mut builder = ChartBuilder::on(area);
    builder.caption(chart.title, ("sans-serif", 17)).margin(12).x_label_area_size(40).y_label_area_size(64);
    match chart.log {
        true => {
            fill(area, builder.build_cartesian_2d(xs.clone().log_scale(), ys.clone().log_scale())?, chart, (xs, ys))?
        }
        false => fill(area, builder.build_cartesian_2d(xs.clone(), ys.clone())?, chart, (xs, ys))?,
    }
    area.present()?;
    Ok(())
}

/// Lowest and highest value with some room; a single value gets room too.
fn range(values: impl Iterator<Item = f64> + Clone, log: bool) -> Range<f64> {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    if log {
        // From a power of ten on: the marks begin at the first one in the range.
        return 10f64.powf(low.log10().floor())..high * 1.3;
    }
    let room = if high > low { (high - low) * 0.08 } else { high.abs().max(1e-3) * 0.1 };
    low - room..high + room
}

/// A number with as many digits as tell the marks of an axis apart; of a logarithmic one, only 1, 2 and 5 in each
/// power of ten have room for it.
fn number(value: f64, range: &Range<f64>, log: bool) -> String {
    let leading = value / 10f64.powf(value.abs().max(1e-9).log10().floor());
    if log && ![1.0, 2.0, 5.0].iter().any(|n| (leading - n).abs() < 0.01) {
        return String::new();
    }
    let step = if log { value.abs() } else { range.end - range.start };
    let digits = (1.0 - step.max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{value:.digits$}");
    match log && text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn fill<'b, X, Y>(
    area: &DrawingArea<SVGBackend<'b>, Shift>,
    mut context: ChartContext<'_, SVGBackend<'b>, Cartesian2d<X, Y>>,
    chart: &Chart<'_>,
    (xs, ys): (Range<f64>, Range<f64>),
) -> Drawn<'b>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    context
        .configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.y)
        .label_style(FONT)
        .light_line_style(WHITE)
        .x_label_formatter(&|x| number(*x, &xs, chart.log))
        .y_label_formatter(&|y| number(*y, &ys, chart.log))
        .draw()?;
    let pixel = |x: f64, y: f64| context.plotting_area().map_coordinate(&(x, y));
    let (left, right) = (pixel(xs.start, ys.start).0, pixel(xs.end, ys.start).0);
    let mut names = PointLabels { taken: Vec::new(), left, right };
    if let Some(level) = chart.level {
        let (x, y) = pixel(xs.start, level);
        names.put(area, "settings in force", (x, y - LETTER.1 / 2), &BLACK.mix(0.6))?;
    }
    if chart.series.len() > 1 {
        // The legend, next to the title.
        for (i, (series, colour)) in (0..).zip(chart.series.iter().zip(COLOURS.iter().cycle())) {
            let style = FONT.into_font().color(colour).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(series.name.clone(), (right, LETTER.1 * (i + 1)), style))?;
        }
    }
    for (series, colour) in chart.series.iter().zip(COLOURS.iter().cycle()) {
        for point in &series.points {
            names.taken.push(around(pixel(point.x, point.y)));
        }
        for point in series.points.iter().filter(|p| !p.label.is_empty()) {
            names.put(area, &point.label, pixel(point.x, point.y), colour)?;
        }
    }
    if let Some(level) = chart.level {
        context.draw_series(LineSeries::new([(xs.start, level), (xs.end, level)], BLACK.mix(0.5)))?;
    }
    for (series, colour) in chart.series.iter().zip(COLOURS.iter().cycle()) {
        let points = || series.points.iter();
        if chart.line {
            context.draw_series(LineSeries::new(points().map(|p| (p.x, p.y)), colour.stroke_width(2)))?;
        }
        let bar = |p: &PlotPoint| PathElement::new([(p.x, p.y - p.error), (p.x, p.y + p.error)], colour.mix(0.6));
        context.draw_series(points().filter(|p| p.error > 0.0).map(bar))?;
        context.draw_series(points().map(|p| Circle::new((p.x, p.y), 4, colour.filled())))?;
    }
    Ok(())
}

/// A box in pixels: left, top, right, bottom.
type Area = (i32, i32, i32, i32);

fn around((x, y): (i32, i32)) -> Area {
    (x - 4, y - 4, x + 4, y + 4)
}

/// Labels next to points, without overlaps.
struct PointLabels {
    taken: Vec<Area>,
    /// Horizontal bounds.
    left: i32,
    right: i32,
}

impl PointLabels {
    /// Writes a name right of a point, or left of it where the right has no room; nowhere where both are taken.
    fn put<'b>(
        &mut self,
        area: &DrawingArea<SVGBackend<'b>, Shift>,
        text: &str,
        (x, y): (i32, i32),
        colour: &impl Color,
    ) -> Drawn<'b> {
        let width = LETTER.0 * i32::try_from(text.chars().count()).unwrap_or(i32::MAX / LETTER.0);
        let places = [(x + GAP, HPos::Left, x + GAP), (x - GAP, HPos::Right, x - GAP - width)];
        for (at, side, left) in places {
            let own = (left, y - LETTER.1 / 2, left + width, y + LETTER.1 / 2);
            let apart = |b: &Area| own.2 <= b.0 || b.2 <= own.0 || own.3 <= b.1 || b.3 <= own.1;
            if own.0 >= self.left && own.2 <= self.right && self.taken.iter().all(apart) {
                self.taken.push(own);
                let style = FONT.into_font().color(colour).pos(Pos::new(side, VPos::Center));
                area.draw(&Text::new(text.to_string(), (at, y), style))?;
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64, label: &str) -> PlotPoint {
        PlotPoint { x, y, error: 0.01, label: label.to_string() }
    }

    fn drawn(series: Vec<Series>, log: bool) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.svg");
        draw(&file, &Chart { title: "T", x: "X", y: "Y", series, line: true, log, level: Some(0.6) }).unwrap();
        std::fs::read_to_string(&file).unwrap()
    }

    #[test]
    fn pictures_hold_their_points_and_names() {
        let series = |name: &str, points| Series { name: name.into(), points };
        let all = vec![
            series("first", vec![point(1.0, 0.5, "one"), point(2.0, 0.7, "two")]),
            series("second", vec![point(1.5, 0.6, "three")]),
        ];
        for log in [false, true] {
            let text = drawn(all.clone(), log);
            assert!(text.starts_with("<svg") && text.matches("<circle").count() == 3, "a point, a circle: {text}");
            for name in ["one", "two", "three", "first", "second", "T", "X", "Y", "settings in force"] {
                assert!(text.contains(&format!("\n{name}\n")), "{name} is missing");
            }
        }
    }

    #[test]
    fn names_leave_the_picture_and_each_other_alone() {
        let points = vec![point(1.0, 0.5, "left one"), point(1.001, 0.5, "hidden one"), point(2.0, 0.7, "right one")];
        let text = drawn(vec![Series { name: String::new(), points }], false);
        assert!(text.contains("left one") && text.contains("right one") && !text.contains("hidden one"), "{text}");
        let before = &text[..text.find("right one").unwrap()];
        let tag = &before[before.rfind("<text").unwrap()..];
        assert!(tag.contains("text-anchor=\"end\""), "the last point's name stands left of it: {tag}");
    }

    #[test]
    fn marks_have_the_digits_that_tell_them_apart() {
        for (value, range, log, expected) in [
            (0.64, 0.63..0.65, false, "0.640"),
            (0.5, 0.0..1.0, false, "0.5"),
            (400.0, 0.0..9000.0, false, "400"),
            (0.1, 0.05..30.0, true, "0.1"),
            (10_000.0, 1.0..20_000.0, true, "10000"),
            (3.0, 1.0..30.0, true, ""),
        ] {
            assert_eq!(number(value, &range, log), expected);
        }
    }
}
