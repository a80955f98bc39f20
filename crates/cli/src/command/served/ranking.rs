//! One ranking in each root, shown result by result, and the results of several roots in turn.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use colgrep_core::collapse::PerFile;
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::damage::{damage, guarded};
use colgrep_engine::like::Like;
use colgrep_engine::list::Length;
use colgrep_engine::model::Model;
use colgrep_engine::near::NearFile;
use colgrep_engine::notice::IndexState;
use colgrep_engine::pack;
use colgrep_engine::place::{Asked, Place, Within};
use colgrep_engine::{Background, Detail, RankBy, RankingOptions, Scope, terms};
use colgrep_index::store::Snapshot;
use colgrep_index::update::repair;
use serde_json::Value;

use super::ends::{Told, weakest};
use super::page::page;
use super::params;
use super::state::{Root, ServerState};
use crate::console::Console;
use crate::hint::Hinted;
use crate::notice::{ANOTHER, coverage, lacking, not_ranked};
use crate::output::escape::escape_control;
use crate::output::pack::pieces;
use crate::words::counted;

/// Files retrieved for the first pages; doubled for later ones.
const WINDOW_FILES: usize = 64;
/// Files that are read at once.
const READ_FILES: usize = 16;

/// What a result is shown as.
pub type Show<'a> = &'a dyn Fn(&FileAnswer) -> String;

/// What is asked of each root.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The question in words or names.
    pub query: &'a str,
    /// Number of files.
    pub wanted: usize,
    /// Units in each file.
    pub per_file: Option<usize>,
    /// How a result is shown.
    pub show: Show<'a>,
    /// Tokens of a pack.
    pub pack: Option<usize>,
}

/// One root's blocks, best first, with remarks (a line each) where its index is incomplete or leaves out a path asked
/// for.
pub struct Ranked {
    /// The results as they are shown.
    pub blocks: Vec<String>,
    /// Remarks on the index.
    pub remarks: String,
    /// Whether further results may follow.
    pub more: bool,
    /// The results as rows, and remarks on all of them.
    pub told: Told,
}

/// One ranking in one root.
pub struct Ranking<'a> {
    /// The server's state.
    pub state: &'a ServerState,
    /// The root.
    pub root: &'a Arc<Root>,
    /// Files and folders to look in, from the root of its project.
    pub below: &'a [String],
    /// What is searched.
    pub scope: &'a Scope,
    /// What is asked.
    pub question: Question<'a>,
    /// The unit of a search for similar units.
    pub like: Option<&'a Like>,
    /// What the caller knows besides.
    pub background: &'a Background,
    /// The whole call.
    pub asked: &'a params::Search,
}

impl Ranking<'_> {
    /// Ranks; if the index turns out to be damaged, repairs it and ranks once more.
    pub fn ranked(&self) -> Result<Ranked> {
        repaired(self.root, || self.once())
    }

    pub fn once(&self) -> Result<Ranked> {
        let (state, root, question) = (self.state, self.root, &self.question);
        let model = state.model(root)?;
        let snapshot = state.snapshot(root)?;
        let settings = state.settings(root)?;
        let knobs = settings.knobs(&state.env, &RankingOptions::default())?;
        let within = Within::paths(self.below.to_vec());
        let place = Place::new(root.project.clone(), Arc::clone(&snapshot), within, self.scope, false, &settings)?;
        let terms = terms::in_force(self.background, &settings);
        let near = self.near()?;
        let past = match self.like {
            None => state.past(&settings).evidence(&root.project, question.query, &knobs),
            Some(_) => Vec::new(),
        };
        let asked = Asked {
            fusion: settings.fusion().unwrap_or_default(),
            by: RankBy::Both,
            model,
            like: self.like,
            hints: &self.background.hints,
            terms: (self.like.is_none() && !terms.is_empty()).then_some(&terms),
            near: near.as_ref(),
            past: &past,
            units_per_file: question.per_file.map_or(PerFile::Usual, |units| PerFile::Units(units.clamp(1, 100))),
            ..Asked::new(question.query, &knobs, WINDOW_FILES)
        };
        let (strength_min, has_end) = match self.like {
            Some(_) => (0.0, false),
            None => weakest(self.asked, self.scope, &settings)?,
        };
        let mut told = Told::default();
        let (blocks, more) = self.in_windows(Asked { strength_min, ..asked }, &place, has_end, &mut told)?;
        let building = (!snapshot.files.complete).then(|| {
            format!("(the index is being built: {})\n", coverage(&IndexState::of(&root.project, &snapshot, model)))
        });
        let lacking = || Some(format!("({})\n", lacking_in(root, &snapshot, model)?));
        let mut remarks = building.or_else(lacking).unwrap_or_default();
        for Hinted { what, tool, .. } in place.not_ranked().map(|of| not_ranked(&of)) {
            remarks.push_str(&format!("({}; {tool})\n", escape_control(&what)));
        }
        Ok(Ranked { blocks, remarks, more, told })
    }

    /// The file that the agent works on.
    fn near(&self) -> Result<Option<NearFile>> {
        let Some(at) = &self.background.near else { return Ok(None) };
        let (root, _, path) = self.state.locate(&at.file.to_string_lossy())?;
        let settings = self.state.settings(root)?;
        Ok(Some(NearFile::new(at, &root.project, path, self.scope, &self.state.past(&settings))?))
    }

    /// The blocks of the files that are wanted, and whether there may be more. Asking for more files retrieves more
    /// candidates and may change the order. So pages run through the ranking of a window of files, then through that of
    /// the next window without the files already shown: no file is repeated or lost.
    fn in_windows(
        &self,
        mut asked: Asked<'_>,
        place: &Place,
        has_end: bool,
        told: &mut Told,
    ) -> Result<(Vec<String>, bool)> {
        if self.like.is_none() && self.question.query.trim().is_empty() {
            return self.listed(place);
        }
        if let Some(tokens) = self.question.pack {
            return self.packed((asked, tokens), place, has_end, told);
        }
        let console = Console::new(true, self.state.env.trace);
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        loop {
            let mut ranked = place.rank(&asked, &*console)?;
            let are_all = ranked.len() < asked.files;
            ranked.retain(|path| seen.insert(path.to_string()));
            let room = self.question.wanted - all.len();
            let more = ranked.len() > room || !are_all;
            ranked.truncate(room);
            let hits: Vec<usize> = (0..ranked.len()).collect();
            for hits in hits.chunks(READ_FILES) {
                let files = place.files(&ranked, hits, Detail::Lines)?;
                all.extend(files.iter().map(self.question.show));
                told.add(&files);
            }
            if are_all || all.len() == self.question.wanted {
                if has_end {
                    told.end(place, &ranked, self.asked)?;
                }
                return Ok((all, more));
            }
            asked.files = asked.files.saturating_mul(2);
        }
    }
}

impl Ranking<'_> {
    /// A pack, as one block. Files are ranked as for pages, so those that it does not name begin the next page.
    fn packed(
        &self,
        (asked, tokens): (Asked<'_>, usize),
        place: &Place,
        has_end: bool,
        told: &mut Told,
    ) -> Result<(Vec<String>, bool)> {
        let units_per_file = PerFile::Units(pack::UNITS_PER_FILE);
        let asked = Asked { units_per_file, ..asked };
        let mut ranked = place.rank(&asked, &*Console::new(true, self.state.env.trace))?;
        let found = ranked.len();
        ranked.truncate(self.question.wanted);
        let hits: Vec<usize> = (0..ranked.len()).collect();
        let files = place.files(&ranked, &hits, Detail::Parts)?;
        told.add(&files);
        if has_end {
            told.end(place, &ranked, self.asked)?;
        }
        let pieces = pieces(&files, tokens, true);
        let named = (0..found).find(|at| pieces.iter().all(|piece| piece.file != *at)).unwrap_or(found);
        let mut text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        let units = pieces.iter().filter(|piece| piece.file == 0).count() as u64;
        let more_here = files.first().map_or(0, |file| (file.also_here + 1).saturating_sub(units));
        if more_here > 0 && named > 0 {
            text.push_str(&format!("(also in the first file: {})\n", counted(more_here, "unit")));
        }
        if named < found {
            text.push_str(&format!("(there may be more results: offset {named})\n"));
        }
        Ok((if named == 0 { Vec::new() } else { vec![text] }, false))
    }

    /// The blocks of the first files with units that the scope's facts name, and whether there are more.
    fn listed(&self, place: &Place) -> Result<(Vec<String>, bool)> {
        let Question { wanted, per_file, show, .. } = self.question;
        let length = Length {
            results: wanted.saturating_add(1),
            units_per_file: per_file.unwrap_or(usize::MAX),
            single_units: false,
        };
        let listed = place.list(length, false)?;
        let hits: Vec<usize> = (0..listed.len().min(wanted)).collect();
        let files = place.files(&listed, &hits, Detail::Lines)?;
        Ok((files.iter().map(show).collect(), listed.len() > wanted))
    }
}

/// Runs `work`. If the root's index turns out to be damaged, repairs it and runs `work` once more.
pub fn repaired<T>(root: &Root, work: impl Fn() -> Result<T>) -> Result<T> {
    match guarded(&work) {
        Err(error) if damage(error.as_ref()).is_some() => {
            root.forget();
            repair(&root.project.store)?;
            guarded(work)
        }
        done => done,
    }
}

/// How many units of a root's index lack vectors, and who makes them.
pub fn lacking_in(root: &Root, snapshot: &Snapshot, model: Option<&Model>) -> Option<String> {
    let lack = model?.lacking(snapshot)?;
    let maker = || root.is_encoding().then_some("this server").or(root.project.store.is_locked().then_some(ANOTHER));
    Some(lacking(&lack, maker()))
}

/// Interleaves the rows of several roots, as [`page_of`] does their blocks.
pub fn hits_of(lists: &mut [Ranked]) -> Vec<Value> {
    let mut rows: Vec<_> = lists.iter_mut().map(|list| std::mem::take(&mut list.told.hits).into_iter()).collect();
    let mut hits = Vec::new();
    while rows.iter().any(|rows| rows.len() > 0) {
        hits.extend(rows.iter_mut().filter_map(Iterator::next));
    }
    hits
}

/// Interleaves the blocks of several roots, since their scores can't be compared.
pub fn in_turn(mut lists: Vec<Ranked>) -> Vec<String> {
    let longest = lists.iter().map(|l| l.blocks.len()).max().unwrap_or(0);
    let mut all = Vec::new();
    for rank in 0..longest {
        for list in &mut lists {
            if let Some(block) = list.blocks.get_mut(rank) {
                all.push(std::mem::take(block));
            }
        }
    }
    all
}

/// A page of the results.
pub fn page_of(lists: Vec<Ranked>, offset: usize, wanted: usize, max_tokens: Option<usize>) -> String {
    let more = lists.iter().any(|l| l.more);
    let remarks: String = lists.iter().map(|l| l.remarks.as_str()).collect();
    let mut all = in_turn(lists);
    let end = offset.saturating_add(wanted);
    let cut = all.len() > end;
    all.truncate(end);
    remarks + &page(&all, offset, max_tokens, "results", more || cut)
}
