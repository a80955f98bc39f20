//! What came of it: a record of every instance, and its tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use super::IssuesArgs;
use crate::corpus::read_json;
use crate::metric::{self, DEPTH};
use crate::paired::Paired;
use crate::report::{Origin, grouped};

/// Depths at which a right file counts as found.
const DEPTHS: [usize; 4] = [1, 3, 5, 10];
/// What marks a way to ask with other knobs.
const TRIED: &str = " [";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IssueRecord {
    pub origin: Origin,
    /// Whether code alone without tests was asked for.
    pub narrow: bool,
    /// The ways to ask, in the order of tables.
    pub ways: Vec<String>,
    pub asked: Vec<InstanceRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstanceRecord {
    pub id: String,
    pub repository: String,
    /// Its main language.
    pub language: String,
    /// `issues` or `commits`.
    pub from: String,
    /// Right files that are not in the index.
    pub unread: usize,
    /// For each way, the ranks of the right files among the first ten.
    pub ranks: BTreeMap<String, Vec<Option<usize>>>,
}

impl InstanceRecord {
    /// 1 where a right file is among the first `depth`.
    fn found(&self, way: &str, depth: usize) -> f64 {
        let first = self.ranks.get(way).and_then(|ranks| metric::first(ranks));
        f64::from(u8::from(first.is_some_and(|rank| rank <= depth)))
    }

    fn ndcg(&self, way: &str) -> f64 {
        self.ranks.get(way).map_or(0.0, |ranks| metric::ndcg(ranks, DEPTH))
    }
}

impl IssueRecord {
    /// The record of several runs, each of other instances.
    pub fn together(first: &Path, others: &[PathBuf]) -> Result<IssueRecord> {
        let mut all: IssueRecord = read_json(first)?;
        for path in others {
            let one: IssueRecord = read_json(path)?;
            if (&one.ways, one.narrow, &one.origin.commit) != (&all.ways, all.narrow, &all.origin.commit) {
                bail!("{} was asked in other ways than {}, or by another build", path.display(), first.display());
            }
            all.asked.extend(one.asked);
        }
        all.asked.sort_by_cached_key(|asked| (asked.repository.to_lowercase(), asked.id.clone()));
        let ids: BTreeSet<&str> = all.asked.iter().map(|asked| asked.id.as_str()).collect();
        if ids.len() < all.asked.len() {
            bail!("an instance stands in two of the records");
        }
        Ok(all)
    }

    /// Prints the tables, and writes what is asked for.
    pub fn publish(&self, args: &IssuesArgs) -> Result<()> {
        let mut text = self.markdown();
        if let Some(path) = &args.against {
            text += &self.against(&read_json(path)?);
        }
        args.output.publish(&text, self)
    }

    /// The tables: over all, by where texts come from, by language and by repository, for the knobs in force; and what
    /// trying others was worth.
    pub fn markdown(&self) -> String {
        let narrow = if self.narrow { " Code alone, without tests." } else { "" };
        let unread: usize = self.asked.iter().map(|asked| asked.unread).sum();
        let mut text = format!(
            "# Issues\n\n{}. A right file among the first 1, 3, 5 and 10, in percent, and NDCG@10 over all right files, each ± its standard error.{narrow} {unread} right files are not in the index.\n",
            self.origin.text()
        );
        let all: Vec<&InstanceRecord> = self.asked.iter().collect();
        text += &head("");
        self.in_force().for_each(|way| text += &row(way, &all, way));
        for way in self.in_force() {
            for (title, key) in [
                ("texts", (|asked| &asked.from) as fn(&InstanceRecord) -> &String),
                ("language", |asked| &asked.language),
                ("repository", |asked| &asked.repository),
            ] {
                text += &head(&format!("{way}: by {title}"));
                grouped(&self.asked, key).iter().for_each(|(name, group)| text += &row(name, group, way));
            }
        }
        self.in_force().for_each(|way| text += &self.tried(way));
        text
    }

    fn in_force(&self) -> impl Iterator<Item = &String> {
        self.ways.iter().filter(|way| !way.contains(TRIED))
    }

    /// Each setting that was tried for one way, and, on each repository, the one that is best on the others.
    fn tried(&self, way: &str) -> String {
        let settings: Vec<&String> = self
            .ways
            .iter()
            .filter(|other| other.strip_prefix(way).is_some_and(|rest| rest.starts_with(TRIED)))
            .collect();
        if settings.is_empty() {
            return String::new();
        }
        let mut text = format!("\n| {way} | NDCG@10 | difference |\n|---|---:|---|\n");
        for setting in &settings {
            let mean = mean(self.asked.iter().map(|asked| asked.ndcg(setting)));
            let difference = self.difference(|asked| asked.ndcg(setting) - asked.ndcg(way));
            text += &format!("| {} | {mean:.4} | {difference} |\n", setting[way.len()..].trim());
        }
        let repositories = grouped(&self.asked, |asked| &asked.repository);
        let own = way.to_string();
        let choices: Vec<&String> = [&own].into_iter().chain(settings).collect();
        let best_without = |left_out: &str| -> &String {
            let others = |choice: &str| {
                let others = self.asked.iter().filter(|asked| asked.repository != left_out);
                others.map(|asked| asked.ndcg(choice)).sum::<f64>()
            };
            let best = choices.iter().rev().max_by(|a, b| others(a).total_cmp(&others(b)));
            best.map_or(&own, |choice| *choice)
        };
        let chosen: BTreeMap<&str, &String> =
            repositories.keys().map(|name| (name.as_str(), best_without(name))).collect();
        let held_out = self.difference(|asked| asked.ndcg(chosen[asked.repository.as_str()]) - asked.ndcg(way));
        text + &format!("\nHeld out, chosen on the other repositories: {held_out}\n")
    }

    /// What changed since `before`, on the instances of both.
    pub fn against(&self, before: &IssueRecord) -> String {
        let known: BTreeMap<&str, &InstanceRecord> =
            before.asked.iter().map(|asked| (asked.id.as_str(), asked)).collect();
        let both: Vec<(&InstanceRecord, &InstanceRecord)> =
            self.asked.iter().filter_map(|asked| Some((asked, *known.get(asked.id.as_str())?))).collect();
        let mut text = format!(
            "\n| against before, {} instances | @1 | @5 | gained and lost at 5 | NDCG@10 |\n|---|---|---|---:|---|\n",
            both.len()
        );
        for way in self.in_force().filter(|way| before.ways.contains(way)) {
            let paired = |score: &dyn Fn(&InstanceRecord) -> f64| {
                Paired::of_equals(both.iter().map(|(now, then)| (&now.repository, score(now) - score(then))))
            };
            let (one, five) = (paired(&|asked| asked.found(way, 1)), paired(&|asked| asked.found(way, 5)));
            let ndcg = paired(&|asked| asked.ndcg(way));
            text += &format!(
                "| {way} | {} | {} | {} – {} | {} ({}) |\n",
                one.text(),
                five.text(),
                five.wins,
                five.losses,
                ndcg.text(),
                ndcg.verdict()
            );
        }
        text
    }

    fn difference(&self, of: impl Fn(&InstanceRecord) -> f64) -> String {
        Paired::of_equals(self.asked.iter().map(|asked| (&asked.repository, of(asked)))).sentence()
    }
}

fn head(title: &str) -> String {
    format!("\n| {title} | instances | @1 | @3 | @5 | @10 | NDCG@10 |\n|---|---:|---:|---:|---:|---:|---:|\n")
}

/// One row: shares and means with the larger of the standard errors over instances and over repositories.
fn row(name: &str, group: &[&InstanceRecord], way: &str) -> String {
    let summed = |score: &dyn Fn(&InstanceRecord) -> f64| {
        let paired = Paired::of_equals(group.iter().map(|asked| (&asked.repository, score(asked))));
        (paired.mean, paired.error())
    };
    let mut text = format!("| {name} | {} |", group.len());
    for depth in DEPTHS {
        let (mean, error) = summed(&|asked| asked.found(way, depth));
        text += &format!(" {:.1} ± {:.1} |", 100.0 * mean, 100.0 * error);
    }
    let (mean, error) = summed(&|asked| asked.ndcg(way));
    text + &format!(" {mean:.4} ± {error:.4} |\n")
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(id: usize, repository: &str, ranks: &[(&str, &[Option<usize>])]) -> InstanceRecord {
        let ranks = ranks.iter().map(|(way, ranks)| ((*way).to_string(), ranks.to_vec())).collect();
        let (repository, language, from) = (repository.to_string(), "c".to_string(), "issues".to_string());
        InstanceRecord { id: id.to_string(), repository, language, from, unread: 0, ranks }
    }

    fn record(asked: Vec<InstanceRecord>) -> IssueRecord {
        let ways = asked[0].ranks.keys().cloned().collect();
        IssueRecord { origin: Origin::here(), narrow: false, ways, asked }
    }

    #[test]
    fn shares_by_hand() {
        let all = record(vec![
            asked(1, "a/a", &[("title", &[Some(1), None])]),
            asked(2, "a/a", &[("title", &[Some(4)])]),
            asked(3, "b/b", &[("title", &[None])]),
            asked(4, "b/b", &[("title", &[Some(10), Some(2)])]),
        ]);
        let text = all.markdown();
        assert!(text.contains("| title | 4 | 25.0 ± "), "{text}");
        let cells = |name: &str| -> Vec<f64> {
            let line = text.lines().find(|line| line.starts_with(&format!("| {name} |"))).expect("a row");
            let numbers = line.split('|').skip(2).filter_map(|cell| cell.split_whitespace().next()?.parse().ok());
            numbers.collect()
        };
        assert_eq!(cells("title")[..5], [4.0, 25.0, 50.0, 75.0, 75.0]);
        assert_eq!(cells("b/b")[..5], [2.0, 0.0, 50.0, 50.0, 50.0]);
        // 1 / (1 + 1/log2 3), and 1/log2 5: their mean.
        assert!((cells("a/a")[5] - (0.6131 + 0.4307) / 2.0).abs() < 1e-3, "{text}");
    }

    #[test]
    fn a_setting_counts_where_it_was_not_chosen() {
        // It is right on the first repository alone, and so is chosen for the others alone.
        let of = |id: usize, repository: &str, own: usize, tried: usize| {
            asked(id, repository, &[("title", &[Some(own)]), ("title [K=1]", &[Some(tried)])])
        };
        let all = record(vec![of(1, "a/a", 9, 1), of(2, "b/b", 1, 2), of(3, "c/c", 1, 2)]);
        let text = all.markdown();
        let held = text.lines().find(|line| line.starts_with("Held out")).expect("a line");
        assert!(held.contains("0 better, 2 worse"), "{text}");
        assert!(text.contains("| [K=1] | 0.7540 |"), "{text}");
        assert!(!text.contains("| title [K=1] |"), "{text}");
    }

    #[test]
    fn what_changed_is_told_over_the_instances_of_both() {
        let of = |id: usize, rank: usize| asked(id, "a/a", &[("title", &[Some(rank)])]);
        let (before, now) = (record(vec![of(1, 6), of(2, 1), of(4, 1)]), record(vec![of(1, 5), of(2, 7), of(3, 1)]));
        let text = now.against(&before);
        assert!(text.contains("2 instances") && text.contains("| 1 – 1 |"), "{text}");
        assert!(text.contains("| title | -0.5000 ± "), "{text}");
    }
}
