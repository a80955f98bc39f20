//! Cost and loss of each codec: compares the best ten by stored codes with the best ten by the original vectors.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use colgrep_encoder::{Encoder, Multivector};
use colgrep_index::ids::TextHash;
use colgrep_index::source::read_text;
use colgrep_index::store::Store;
use colgrep_index::units::{text_hash, unit_text};
use colgrep_index::update::{Encoding, Updater};
use colgrep_index::vector::{Allowed, Codec, Effort, VectorPlace};
use colgrep_syntax::{language, parse};

use super::model::ResearchModel;
use crate::report::print;

const QUERIES: usize = 100;
const DEPTH: usize = 10;

pub(super) fn run(root: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path().join("store"));
    let root = root.canonicalize()?;
    let (snapshot, _) = Updater::new(&store, &root).run()?;
    let (mut documents, mut questions): (HashMap<TextHash, Multivector>, Vec<Multivector>) = Default::default();
    for file in snapshot.files.indexed() {
        let text = read_text(&root, &file.path)?;
        let row = language::by_name(&file.language).context("no such language")?;
        for unit in parse::parse(&text, row).units {
            let text = unit_text(&file.path, &unit);
            documents.insert(text_hash(&text), ResearchModel.encode_documents(&[&text])?.remove(0));
            if unit.docstring.len() > 40 {
                questions.push(ResearchModel.encode_query(unit.docstring.lines().next().unwrap_or_default())?);
            }
        }
    }
    questions.retain(|q| !q.is_empty());
    let step = questions.len().div_ceil(QUERIES).max(1);
    let questions: Vec<Multivector> = questions.into_iter().step_by(step).collect();
    let rows: usize = documents.values().map(Multivector::len).sum();
    print(&format!(
        "{} texts of {:.1} rows, {} questions\n",
        documents.len(),
        rows as f64 / documents.len() as f64,
        questions.len()
    ))?;
    let truth: Vec<HashSet<TextHash>> = questions
        .iter()
        .map(|q| {
            let mut all: Vec<(TextHash, f32)> = documents.iter().map(|(hash, d)| (*hash, q.maxsim(d))).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all.into_iter().take(DEPTH).map(|a| a.0).collect()
        })
        .collect();
    print(&format!(
        "bits rows alike | bytes a text | texts/s | of the best {DEPTH}: exhaustive, by default effort | ms a query\n"
    ))?;
    for bits in [1, 2, 4] {
        for (rows_max, similarity) in [(2, 90), (6, 90), (12, 90), (12, 80), (24, 90), (255, 101)] {
            let codec = Codec { bits, rows_max, similarity, ..Codec::default() };
            let started = Instant::now();
            let (snapshot, report) = Updater::new(&store, &root)
                .encoding(Some(&Encoding { codec, ..Encoding::new(&ResearchModel) }))
                .run()?;
            let speed = report.encoded as f64 / started.elapsed().as_secs_f64();
            let vectors = snapshot.vectors.as_ref().context("no vectors")?;
            let mut allowed = Allowed::none(vectors.len());
            (0..vectors.len() as u32).for_each(|p| allowed.insert(VectorPlace(p)));
            let share = |effort: Effort| -> Result<f64> {
                let mut found = 0;
                for (question, best) in questions.iter().zip(&truth) {
                    let hits = vectors.search(question, DEPTH, &allowed, effort)?;
                    let is_best = |place| vectors.hash(place).is_some_and(|hash| best.contains(&hash));
                    found += hits.iter().filter(|(place, _)| is_best(*place)).count();
                }
                Ok(found as f64 / truth.iter().map(HashSet::len).sum::<usize>() as f64)
            };
            let exhaustive = share(Effort { exact: usize::MAX, ..Effort::default() })?;
            let started = Instant::now();
            let default = share(Effort::default())?;
            print(&format!(
                "{bits:4} {rows_max:4} {similarity:5} | {:12.0} | {speed:7.0} | {exhaustive:.3} {default:.3} | {:.2}\n",
                vectors.bytes_on_disk() as f64 / vectors.len() as f64,
                started.elapsed().as_secs_f64() * 1e3 / questions.len() as f64,
            ))?;
        }
    }
    Ok(())
}
