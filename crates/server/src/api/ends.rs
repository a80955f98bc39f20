//! The end of an answer for agents: strengths, files left out as too weak, files that contain all words; and the rows
//! of the structured answer.

use std::fmt::Write as _;

use anyhow::Result;
use colgrep_cluster::ShardCoverage;
use colgrep_core::strength::RULE;
use colgrep_engine::answer::summary::{Audience, End};
use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_engine::session::corpus::{Parts, RankedTogether};
use serde_json::{Value, json};

use super::unserved::{self, Unserved};
use colgrep_render::end::{NOTHING_SEARCHED, cut_query, held, is_cut, read_as, unheld, unquoted};
use colgrep_render::escape::escape_control;
use colgrep_render::line::shortened;
use colgrep_render::path::typed;
use colgrep_render::shards::remarks as of_shards;
use colgrep_render::words::{counted, in_short, quoted};

#[derive(Debug, Default)]
pub struct ToolAnswer {
    pub text: String,
    /// Remarks on the whole answer, a line each.
    pub remarks: String,
    /// The results as rows, where it ranks.
    pub hits: Option<Vec<Value>>,
    /// Which shards answered, where there are any.
    pub standing: Option<ShardCoverage>,
    /// Roots that are left out.
    pub unserved: Vec<Unserved>,
    /// The length of the whole answer in tokens where the request names none; the usual one where this is `None`.
    pub tokens: Option<usize>,
}

impl From<String> for ToolAnswer {
    fn from(text: String) -> ToolAnswer {
        ToolAnswer { text, ..ToolAnswer::default() }
    }
}

impl ToolAnswer {
    /// The answer of a ranking, with remarks on what is shown of it.
    pub fn of(text: String, remarks: String, told: RankingReport) -> ToolAnswer {
        let remarks = remarks + &told.left_out();
        let RankingReport { hits, standing, unserved, .. } = told;
        ToolAnswer { text, remarks, hits: Some(hits.concat()), standing, unserved, tokens: None }
    }

    /// An answer without a ranking that leaves out these roots.
    pub fn without(text: String, remarks: String, unserved: Vec<Unserved>) -> ToolAnswer {
        let told = RankingReport { unserved, ..RankingReport::default() };
        let remarks = remarks + &told.left_out();
        ToolAnswer { text, remarks, unserved: told.unserved, ..ToolAnswer::default() }
    }
}

/// A remark as a line of an answer; empty where there is none.
pub fn remark(told: Option<String>) -> String {
    told.map(|told| format!("({})\n", escape_control(&told))).unwrap_or_default()
}

/// Rows and the end of a ranking, which accompany its text.
#[derive(Debug, Default)]
pub struct RankingReport {
    /// Each result as rows: one, in a list one for each unit.
    pub hits: Vec<Vec<Value>>,
    /// The remarks after the last result, where the ranking has an end.
    pub end: Option<End>,
    /// The name whose callers are asked for, where none is known.
    pub uncalled: Option<String>,
    /// How many of the results a pack shows, where it is one.
    pub packed: Option<usize>,
    /// Which shards answered, where there are any.
    pub standing: Option<ShardCoverage>,
    /// Roots that are left out.
    pub unserved: Vec<Unserved>,
}

impl RankingReport {
    /// Hears which shards answered; says so where one did not.
    pub fn heard(&mut self, standing: Option<&ShardCoverage>) {
        if let Some(standing) = standing {
            self.standing = Some(standing.clone());
        }
    }

    /// What the answer leaves out: shards that are away, and repositories that can't be served.
    pub fn left_out(&self) -> String {
        let mut remarks = self.standing.as_ref().map(of_shards).unwrap_or_default();
        if let Some(told) = unserved::told(&self.unserved) {
            remarks.push_str(&format!("({})\n", escape_control(&told)));
        }
        remarks
    }

    pub fn add(&mut self, files: &[FileAnswer]) {
        self.hits.extend(files.iter().map(|file| vec![row(file, file.units.first())]));
    }

    /// Adds results of a list, whose units are answers of their own.
    pub fn list(&mut self, files: &[FileAnswer]) {
        let rows = |file: &FileAnswer| file.units.iter().map(|unit| row(file, Some(unit))).collect::<Vec<Value>>();
        self.hits.extend(files.iter().map(rows));
    }

    /// The paths of the results, best first.
    pub fn files(&self) -> Vec<String> {
        let path = |rows: &Vec<Value>| Some(rows.first()?["file"].as_str()?.to_string());
        self.hits.iter().filter_map(path).collect()
    }

    /// The best units of the first files that are likely right, each as `path:line-end kind name`.
    pub fn likely(&self, count: usize) -> Vec<String> {
        let text = |row: &Value| {
            let of = |key: &str| row[key].as_str().unwrap_or_default().to_string();
            format!("{}:{}-{} {} {}", of("file"), row["line"], row["end_line"], of("kind"), of("name"))
                .trim_end()
                .to_string()
        };
        self.likely_rows().take(count).map(text).collect()
    }

    /// The files and lines of the best units of files that are likely right.
    pub fn likely_places(&self) -> impl Iterator<Item = (&str, u64)> {
        self.likely_rows().filter_map(|row| Some((row["file"].as_str()?, row["line"].as_u64()?)))
    }

    fn likely_rows(&self) -> impl Iterator<Item = &Value> {
        let rows = self.hits.iter().filter_map(|rows| rows.first());
        rows.filter(|row| row["strength"].as_f64().is_some_and(|strength| strength >= f64::from(RULE)))
    }

    fn strengths(&self) -> Vec<f64> {
        let of = |rows: &Vec<Value>| rows.first().and_then(|row| row["strength"].as_f64()).unwrap_or_default();
        self.hits.iter().map(of).collect()
    }

    /// The strength of the best of all results: a later page makes no weak answer of a strong one.
    fn strongest(&self) -> f32 {
        self.strengths().into_iter().fold(0.0, f64::max) as f32
    }

    /// Looks up the remarks after the last result. All results must have been added.
    pub fn end(&mut self, places: &dyn Parts, ranked: &RankedTogether) -> Result<()> {
        self.end = Some(places.end(ranked, self.strongest() < RULE, Audience::Client)?);
        self.uncalled = ranked.uncalled().map(str::to_string);
        Ok(())
    }

    /// The remarks on a ranking by `query`, a line each; `shown` are the places of the results that are shown.
    /// `place` is what was searched, in words.
    pub fn said(&self, query: &str, shown: impl Iterator<Item = usize>, place: &str) -> String {
        let Some(end) = &self.end else { return String::new() };
        let (of_all, mut remarks) = (self.strengths(), String::new());
        let strengths: Vec<f64> = shown.filter_map(|at| of_all.get(at).copied()).collect();
        if !strengths.is_empty() {
            let each: Vec<String> = strengths.iter().map(|strength| format!("{strength:.2}")).collect();
            let _ = write!(remarks, "(strength of each, 0 to 1: {}", each.join(" "));
            let is_near = strengths.iter().any(|strength| *strength < f64::from(RULE));
            let near = if is_near { format!("; below {RULE}: near at best") } else { String::new() };
            let _ = writeln!(remarks, "{near})");
        }
        said(end, query, (of_all.len(), strengths.len()), place).iter().for_each(|line| {
            let _ = writeln!(remarks, "({})", escape_control(line));
        });
        remarks
    }
}

/// The remarks on a ranking, a line each: how many results there are up to the end of the page, and on it.
fn said(end: &End, query: &str, (found, shown): (usize, usize), place: &str) -> Vec<String> {
    let mut lines: Vec<String> = cut_query(query).into_iter().collect();
    let query = in_short(query);
    if found == 0 && is_cut(end) {
        lines.push(format!("nothing {place} has the min_strength {}; `all` shows what is below", end.least));
    } else if let Some(first) = end.unindexed.first() {
        let words = quoted(&end.unindexed);
        let place = if place == "here" { String::new() } else { format!("{place}, ") };
        lines.push(format!(
            "{place}only what is not indexed holds {words}; `pattern` {first:?} with `ignore_case` finds it"
        ));
    } else if let Some(first) = end.unread.first().filter(|_| found == 0) {
        let words = quoted(&end.unread);
        lines.push(format!(
            "not every file was searched for {words}; `pattern` {first:?} with `ignore_case` searches all"
        ));
    } else if found == 0 && end.is_tokens && !end.is_held {
        lines.push(format!("{NOTHING_SEARCHED} holds {query:?}; `all` shows what is near by meaning"));
    } else if found == 0 && end.weak > 0 {
        lines.push(format!("nothing {place} is likely right; `all` shows what is near"));
    }
    if !end.quoted.is_empty() {
        lines.push(unquoted(&end.quoted));
    }
    lines.extend(read_as(end, NOTHING_SEARCHED));
    let is_behind = found > 0 && shown == 0;
    lines.extend(unheld(end, found, NOTHING_SEARCHED).filter(|_| !is_behind));
    if shown > 0 && end.holders > shown {
        let files = counted(end.holders as u64, "file");
        let held = held(end);
        let which = if end.patterns.len() == 1 { "all with these letters" } else { "those with the rarest" };
        let list = format!(
            "; `pattern` {:?} with `ignore_case` lists {which}",
            end.patterns.first().map_or("", String::as_str)
        );
        let list = if end.is_elsewhere { "; `offset` gives more" } else { &list };
        lines.push(format!("{files} hold {held}{list}"));
    }
    lines
}

/// A number with the digits that it is written with: .03 of 32 bits is .029999999329447746 of 64.
fn as_written(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

fn row(file: &FileAnswer, unit: Option<&UnitAnswer>) -> Value {
    let mut row = json!({"file": typed(&file.root, &file.path), "strength": as_written(file.strength)});
    if let (Some(best), Some(fields)) = (unit, row.as_object_mut()) {
        fields.insert("id".into(), best.id.to_string().into());
        fields.insert("kind".into(), best.unit.kind.name().into());
        fields.insert("name".into(), best.unit.qualified_name().into());
        fields.insert("line".into(), best.unit.span.line.into());
        fields.insert("end_line".into(), best.last_line.into());
        fields.insert("line_shown".into(), best.line.number.into());
        fields.insert("text".into(), shortened(best.line.text.trim()).into());
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_names_parameters_and_tools() {
        let mut end = End::default();
        (end.holders, end.patterns) = (30, vec!["pars".to_string()]);
        (end.words, end.are_forms) = (vec!["parse".to_string()], true);
        let many =
            "30 files hold a form of \"parse\"; `pattern` \"pars\" with `ignore_case` lists all with these letters";
        assert_eq!(said(&end, "parse", (10, 10), "here"), [many]);
        // The last result of a page that begins after 20 others; a page after the last result.
        let one = many.replace("10 are", "1 is");
        assert_eq!(said(&end, "parse", (21, 1), "here"), [one]);
        assert!(said(&end, "parse", (25, 0), "here").is_empty());
        end.is_elsewhere = true;
        let far = "30 files hold a form of \"parse\"; `offset` gives more";
        assert_eq!(said(&end, "parse", (10, 10), "here"), [far]);
        let mut end = End::default();
        (end.is_tokens, end.weak) = (true, 3);
        assert_eq!(
            said(&end, "E0502", (0, 0), "here"),
            ["nothing in what is searched holds \"E0502\"; `all` shows what is near by meaning"]
        );
        end.is_tokens = false;
        (end.unknown, end.near) = (vec!["frob".to_string()], vec!["grab".to_string()]);
        let near = "nothing in what is searched holds \"frob\"; similar words here: grab";
        assert!(said(&end, "E0502", (3, 0), "here").is_empty(), "a page behind the last result");
        assert_eq!(
            said(&end, "frob it", (0, 0), "here"),
            ["nothing here is likely right; `all` shows what is near", near]
        );
        assert_eq!(said(&end, "frob it", (3, 3), "here"), [near]);
        (end.weak, end.near) = (0, Vec::new());
        assert_eq!(said(&end, "frob", (0, 0), "here"), ["nothing in what is searched holds \"frob\""]);
        (end.weak, end.least, end.unknown) = (3, 0.5, Vec::new());
        assert_eq!(
            said(&end, "frob", (0, 0), "here"),
            ["nothing here has the min_strength 0.5; `all` shows what is below"]
        );
    }

    #[test]
    fn what_is_not_shown_is_not_counted_as_shown() {
        let rows = |strength: f64| vec![json!({"file": "a", "strength": strength})];
        let mut end = End::default();
        (end.holders, end.patterns, end.words) = (30, vec!["wait".to_string()], vec!["wait".to_string()]);
        let told =
            RankingReport { hits: [0.9, 0.8, 0.05].map(rows).to_vec(), end: Some(end), ..RankingReport::default() };
        let said = told.said("wait", [0, 1].into_iter(), "here");
        let strengths = "(strength of each, 0 to 1: 0.90 0.80)\n(30 files hold \"wait\";";
        assert!(said.starts_with(strengths), "{said}");
        assert_eq!(told.said("parse", 7..9, "here"), "");
        assert_eq!(RankingReport { end: None, ..told }.said("parse", 0..2, "here"), "");
    }
}
