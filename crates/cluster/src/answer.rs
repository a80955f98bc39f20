//! Answers to the questions of a session, from the repositories of this process.

use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::path::PathBuf;

use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::show::{FileAsked, ShowAsked};
use colgrep_engine::answer::summary::{Audience, EndAsked, EndFound, end_of};
use colgrep_engine::session::project_searcher::ProjectSearcher;
use colgrep_index::error::Error;
use colgrep_index::source::read_text_within;
use colgrep_search::ShardGroup;
use colgrep_search::rounds::{ListedRound, RoundRequest, RoundVisitor, ShardSearch};
use serde::Serialize;

use crate::catalog::HostedRepository;
use crate::frame::answer_head;
use crate::message::{LINES_MAX, LineFound, LinesFound, ServedRepository};

/// Maximum size of a file that is sent whole, in bytes.
const FILE_BYTES_MAX: u64 = 2 << 20;

/// Answers a round, as a frame without its length.
pub fn answer(search: &dyn ShardSearch, round: &RoundRequest) -> Result<Vec<u8>, Error> {
    round.visit(Answering(search))
}

/// Answers any round from a search.
struct Answering<'s>(&'s dyn ShardSearch);

impl RoundVisitor for Answering<'_> {
    type Output = Result<Vec<u8>, Error>;

    fn visit<R: ListedRound>(self, request: &R) -> Result<Vec<u8>, Error> {
        written(&request.put_to(self.0)?)
    }
}

fn written(answer: &impl Serialize) -> Result<Vec<u8>, Error> {
    postcard::to_extend(answer, answer_head()).map_err(|error| Error::Away(error.to_string()))
}

/// What to show of files of a group, in the order of the files. `places` are in the order of the group's shards.
pub fn show(
    group: &ShardGroup<'_>,
    places: &[ProjectSearcher],
    asked: &ShowAsked,
) -> colgrep_engine::Result<Vec<FileAnswer>> {
    let of_place: HashMap<String, usize> = group.fronts().into_iter().collect();
    let mut files: Vec<Option<FileAnswer>> = vec![None; asked.files.len()];
    for (at, place) in places.iter().enumerate() {
        let is_own = |file: &&FileAsked| of_place.get(&file.front) == Some(&at);
        let own: Vec<usize> = (0..asked.files.len()).filter(|file| is_own(&&asked.files[*file])).collect();
        if own.is_empty() {
            continue;
        }
        let wanted: Vec<&FileAsked> = own.iter().map(|file| &asked.files[*file]).collect();
        for (file, mut shown) in own.into_iter().zip(place.show(asked, &wanted, |unit| group.own_unit(unit).1)?) {
            // The location on this machine is not disclosed.
            shown.root = PathBuf::from(asked.files[file].front.trim_end_matches('/'));
            shown.given = None;
            files[file] = Some(shown);
        }
    }
    Ok(files.into_iter().map(Option::unwrap_or_default).collect())
}

/// The answers of a group for the remarks after the last result.
pub fn end(group: &ShardGroup<'_>, places: &[ProjectSearcher], asked: &EndAsked) -> colgrep_engine::Result<EndFound> {
    let fronts = group.fronts();
    let places: Vec<(&str, &ProjectSearcher)> =
        fronts.iter().filter_map(|(front, at)| Some((front.as_str(), places.get(*at)?))).collect();
    end_of(&places, asked, Audience::Client)
}

/// The text of an indexed file.
///
/// # Errors
/// When there is no such file, or it can't be read.
pub fn read(
    group: &ShardGroup<'_>,
    places: &[ProjectSearcher],
    repository: &str,
    path: &str,
) -> Result<String, String> {
    let none = || format!("{repository}/{path} is not a file of an index here");
    let front = format!("{repository}/");
    let at = group.fronts().into_iter().find(|(own, _)| *own == front).ok_or_else(none)?.1;
    let place = places.get(at).ok_or_else(none)?;
    // Files that are not indexed, such as those with secrets, are not sent.
    let record = place.snapshot.files.indexed().find(|record| record.path == path).ok_or_else(none)?;
    let root = &place.project.root;
    read_text_within(root, &record.path, FILE_BYTES_MAX).map_err(|error| match error {
        Error::Io { source, .. } if source.kind() == ErrorKind::FileTooLarge => {
            format!("{repository}/{path} is larger than {} MiB, which is too large to show", FILE_BYTES_MAX >> 20)
        }
        _ => format!("{repository}/{path} can't be read any more"),
    })
}

/// The lines of the scope, up to `lines_max`.
pub fn lines(group: &ShardGroup<'_>, places: &[ProjectSearcher], lines_max: u32) -> colgrep_engine::Result<LinesFound> {
    let mut found = LinesFound::default();
    for (front, at) in group.fronts() {
        let Some(place) = places.get(at) else { continue };
        let (lines, is_cut) = place.lines(lines_max.min(LINES_MAX) as usize - found.lines.len())?;
        let with_front = |(path, line, text)| LineFound { path: format!("{front}{path}"), line, text };
        found.lines.extend(lines.into_iter().map(with_front));
        if is_cut {
            return Ok(LinesFound { is_cut, ..found });
        }
    }
    Ok(found)
}

/// Describes the served repositories, and those that can't be served with the reason.
pub fn served<'r>(
    repositories: impl Iterator<Item = &'r HostedRepository>,
    missing: impl Iterator<Item = (String, String)>,
) -> Vec<ServedRepository> {
    let served = repositories.map(|repository| {
        let (snapshot, known) = (&repository.snapshot, repository.known(true));
        let mut languages: BTreeMap<String, u64> = BTreeMap::new();
        snapshot.files.indexed().for_each(|file| *languages.entry(file.language.clone()).or_default() += 1);
        ServedRepository {
            name: repository.name.clone(),
            written_ms: repository.written_ms(),
            files: snapshot.files.indexed().count() as u64,
            units: known.units,
            units_without_vectors: known.units_without_vectors,
            known_files: known.files,
            has_no_room: known.has_no_room,
            is_not_fetched: known.is_not_fetched,
            languages,
            missing: None,
        }
    });
    let lost = missing.map(|(name, why)| ServedRepository { name, missing: Some(why), ..ServedRepository::default() });
    served.chain(lost).collect()
}
