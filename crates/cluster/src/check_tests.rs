//! Checks of answers: for each kind, one that is accepted and others that are not.

use colgrep_core::Unit;
use colgrep_core::UnitId;
use colgrep_core::query::QueryParts;
use colgrep_core::rank::Context;
use colgrep_core::spelling::NameFit;
use colgrep_core::statistics::Statistics;
use colgrep_core::strength::Tokens;
use colgrep_engine::answer::show::{FileAsked, ShowAsked};
use colgrep_engine::answer::summary::EndAsked;
use colgrep_index::ids::{FilePlace, TextHash};
use colgrep_search::rounds::*;
use colgrep_search::shard::{TextCutoff, UnitFound};
use serde::Serialize;

use super::*;
use crate::frame::answer_head;
use crate::message::Begin;
use crate::message::LineFound;

/// The extent of the made-up shard: ten files, two segments.
fn extent() -> ShardExtent {
    ShardExtent { places: 10, segments: 2, documents: 20, ..ShardExtent::default() }
}

/// Asserts that the first answer is accepted and the others are not, as they come over the wire.
fn only_first_by<T: Serialize + DeserializeOwned>(name: &str, answers: &[T], is_valid: impl Fn(&T) -> bool) {
    for (at, answer) in answers.iter().enumerate() {
        let bytes = postcard::to_extend(answer, answer_head()).expect("bytes").split_off(crate::frame::HEAD_BYTES);
        let answer = checked::<T>(&bytes, name, &is_valid);
        assert!(answer.is_ok() || matches!(answer, Err(Lost::Nonsense(_))), "{name}");
        assert_eq!(answer.is_ok(), at == 0, "{name} {at}");
    }
}

/// The same for the answers to a round.
fn only_first<R: Round>(request: &R, answers: &[R::Answer]) {
    only_first_by(std::any::type_name::<R>(), answers, |answer| request.is_valid(answer, &extent()));
}

fn unit(segment: u32, file: u32, line: u32, score: f32) -> UnitFound {
    let (kind, role) = Default::default();
    UnitFound { unit: UnitId::new(segment, 7), file: FilePlace(file), kind, role, line, end: line, score }
}

fn good() -> UnitFound {
    unit(1, 9, 3, 0.5)
}

/// A unit with an invalid segment, file, line and score each.
fn bad() -> [UnitFound; 4] {
    [unit(2, 9, 3, 0.5), unit(1, 10, 3, 0.5), unit(1, 9, u32::MAX, 0.5), unit(1, 9, 3, f32::NAN)]
}

fn files() -> Vec<FilePlace> {
    vec![FilePlace(0), FilePlace(9)]
}

fn units() -> Vec<UnitId> {
    vec![UnitId::new(0, 1), UnitId::new(1, 2)]
}

#[test]
fn a_shard_that_lies_of_words_is_not_believed() {
    let begin = Begin { allowed: Some(vec!["a".into(), "b".into()]), terms: vec!["x".into()], ..Begin::default() };
    let of = |fronts: &[(&str, u32)], places: u32, names: usize| {
        let one = |(front, first): &(&str, u32)| RepositoryExtent { front: (*front).into(), first: FilePlace(*first) };
        let repositories = fronts.iter().map(one).collect();
        Begun { extent: ShardExtent { repositories, places, ..extent() }, names: vec![true; names], ..Begun::default() }
    };
    let both = [("a/", 0), ("b/", 4)];
    let lies = [of(&both, 10, 1), of(&both, 10, 0), of(&both, 3, 1), of(&[("b/", 0), ("a/", 4)], 10, 1)];
    let more = [of(&[("a/", 5), ("b/", 4)], 10, 1), of(&[("c/", 0)], 10, 1), of(&[("a", 0)], 10, 1)];
    let is_begun = |begun: &Begun| is_begun(&begin, begun);
    only_first_by("begin", &[&lies[..], &more, &[of(&both, u32::MAX, 1)]].concat(), is_begun);
    let part = |name: &str, units: u64, units_without_vectors: u64, known: u64| {
        let files = Some(FileProgress { known, in_tree: Some(9) });
        let partial =
            vec![(name.to_string(), IndexProgress { files, units, units_without_vectors, ..Default::default() })];
        Begun { partial, ..of(&both, 10, 1) }
    };
    let lies = [part("a", 3, 2, 8), part("c", 3, 2, 8), part("a", 3, 4, 8), part("a", 3, 2, u64::MAX)];
    only_first_by("begin", &lies, is_begun);

    let query = QueryParts { plain_words: vec!["x".into()], ..QueryParts::default() };
    let words = |words: Vec<u64>| ShardOverview {
        statistics: Statistics { words, ..Statistics::default() },
        ..ShardOverview::default()
    };
    let lies = [words(vec![4]), words(vec![]), words(vec![4, 4]), words(vec![u64::MAX])];
    only_first_by("search", &lies, |overview| is_overview(&query, overview, &extent()));

    let asked = CandidatesRequest {
        statistics: Statistics::default(),
        units_max: 640,
        files_min: 5,
        named_max: 5,
        in_outline: true,
    };
    let outline =
        |step, scores: Vec<f32>| CandidatesResponse { outline: ScoreOutline { step, scores }, ..Default::default() };
    only_first(
        &asked,
        &[
            outline(10, vec![0.5]),
            outline(0, vec![0.5]),
            outline(u32::MAX, vec![0.5]),
            outline(1, vec![f32::INFINITY]),
            outline(1, vec![0.5; 200]),
        ],
    );
    let named = |file, unit| NamedFileHit { file: FilePlace(file), weight: 1.0, definitions: vec![unit] };
    let found = |named| CandidatesResponse { named: vec![named], ..CandidatesResponse::default() };
    only_first(&asked, &[found(named(9, units()[0])), found(named(10, units()[0])), found(named(9, bad()[0].unit))]);

    let lists = |bad: UnitFound| vec![good(), bad];
    let of_units: Vec<Vec<UnitFound>> = [vec![good()]].into_iter().chain(bad().map(lists)).collect();
    only_first(&BestUnitsRequest { least: 0.0 }, &of_units);
    only_first(&CallersRequest { name: "x".into(), is_loose: true }, &of_units);
    let scored = |of_files: Vec<UnitFound>| ScoresResponse { of_files, units: Vec::new() };
    let lies = bad().map(|bad| scored(vec![bad]));
    only_first(
        &ScoresRequest { files: files(), units: units() },
        &[&[scored(vec![good()]), scored(vec![good(); 3])], &lies[..]].concat(),
    );

    let asked = FactsRequest { files: files(), units: units(), parts: vec![4] };
    let facts = |files, units, parts, count| FactsResponse {
        files: vec![FileFound::default(); files],
        name_hits: vec![true; units],
        pairs: vec![(count, 0); parts],
    };
    let lies = [facts(2, 2, 1, 3), facts(1, 2, 1, 3), facts(2, 3, 1, 3), facts(2, 2, 0, 3), facts(2, 2, 1, u64::MAX)];
    only_first(&asked, &lies);
    only_first(&TopicsRequest { terms: vec!["x".into()] }, &[vec![4u64], vec![], vec![4, 4], vec![u64::MAX]]);
    only_first(&HoldersRequest { units: units() }, &[vec![vec![0u32, 1]], vec![vec![2]]]);
    only_first(
        &TokensRequest { files: files(), tokens: vec![] },
        &[vec![Tokens::All; 2], vec![], vec![Tokens::All; 3]],
    );
    only_first(&StoredUnitsRequest { units: units() }, &[vec![Unit::default(); 2], vec![Unit::default()]]);
}

#[test]
fn a_shard_that_lies_of_meaning_is_not_believed() {
    let asked = ChooseRequest { by: Choice::Lists, cut: Cut { bar: None, best: 640, is_alone: false } };
    let chosen = |count, step, scores| ChooseResponse { count, outline: ScoreOutline { step, scores } };
    only_first(
        &asked,
        &[
            chosen(20, 10, vec![0.5; 2]),
            chosen(19, 10, vec![0.5; 2]),
            chosen(u64::MAX, 10, vec![0.5; 2]),
            chosen(u64::from(u32::MAX), u32::MAX, vec![0.5]),
        ],
    );
    let hash = TextHash::new(7).expect("no zero");
    let open = |score| ChosenResponse { open: vec![(hash, score)], ..ChosenResponse::default() };
    let asked = ChosenRequest { sure: None, least: 0.0, below: None };
    only_first(&asked, &[open(0.5), open(f32::NAN)]);
    let near = |unit: UnitFound| vec![TextNear { hash, score: 0.5, units: vec![unit] }];
    let lies: Vec<_> = [good()].into_iter().chain(bad()).map(near).collect();
    only_first(&NearestRequest { bar: Some(TextCutoff::of_all(0.5)) }, &lies);
    let like = |score| Likeness { hash: Some(hash), score: Some(score) };
    only_first(&LikenessRequest { units: units() }, &[vec![like(0.5); 2], vec![like(0.5)], vec![like(f32::NAN); 2]]);
    only_first(&TextsRequest { units: units() }, &[vec![Some(String::new()), None], vec![None], vec![None; 3]]);
    let traits = |calls: usize| UnitTraits { calls: vec![String::new(); calls], ..UnitTraits::default() };
    let endless = vec![traits(0), traits(1_000_000)];
    only_first(&TraitsRequest { units: units() }, &[vec![traits(3); 2], vec![traits(3)], endless]);
}

#[test]
fn a_shard_that_lies_of_places_is_not_believed() {
    let meant = |file| FileMeant { file: FilePlace(file), is_exact: false, is_allowed: true };
    let located = |paths: &[u32], names| LocateResponse {
        paths: paths.iter().map(|file| (Default::default(), vec![meant(*file)])).collect(),
        names: vec![vec![]; names],
        spelled: Vec::new(),
    };
    let asked = LocateRequest { paths: vec!["a".into()], names: vec!["b".into()], text: String::new() };
    let lies = [located(&[9], 1), located(&[], 1), located(&[9], 0), located(&[9], 2), located(&[10], 1)];
    only_first(&asked, &lies);
    let defined =
        |unit| vec![DefinitionFound { unit, is_named: true, is_owned: true, is_announced: true, is_aside: false }];
    let lies: Vec<_> = [good()].into_iter().chain(bad()).map(defined).collect();
    only_first(&DefinitionsRequest::default(), &lies);
    let written =
        |unit| vec![WrittenUnit { unit, is_same_case: true, is_exact: true, is_heading: false, is_aside: false }];
    let lies: Vec<_> = [good()].into_iter().chain(bad()).map(written).collect();
    only_first(&WrittenUnitsRequest { text: "x".into() }, &lies);
    let near = |count| vec![NearNames { changes: 1, names: [("x".to_string(), count)].into() }];
    only_first(&NearNamesRequest { names: vec!["y".into()], among_words: false }, &[near(2), vec![], near(u64::MAX)]);
    let lies = [vec![Some(good()), None], vec![None], vec![Some(bad()[1]), None]];
    only_first(&EnclosingRequest { lines: files().into_iter().map(|file| (file, 1)).collect() }, &lies);
    only_first(
        &PhrasesRequest { phrases: vec![vec![]] },
        &[vec![files()], vec![], vec![vec![FilePlace(10)]], vec![files(); 2]],
    );
    let count = |files| HolderCount { files, ..HolderCount::default() };
    only_first(
        &TermCountsRequest { terms: vec!["x".into()], units_max: 9 },
        &[vec![count(4)], vec![], vec![count(u64::MAX)]],
    );
    let weight = |file, weight: f32| vec![(FilePlace(file), weight)];
    let asked = WeightedFilesRequest { terms: vec![], least: 0.0, files_max: 4 };
    only_first(&asked, &[weight(9, 0.5), weight(10, 0.5), weight(9, f32::NAN)]);
    only_first(&FilesWithAllRequest::default(), &[files(), vec![FilePlace(10)]]);
    only_first(&SizesRequest { files: files() }, &[vec![Some(4u64), None], vec![None], vec![Some(u64::MAX), None]]);
    let spelled = |form: &str, unit| {
        vec![SpelledUnits { form: form.into(), units: vec![(unit, NameFit::Whole)] }, SpelledUnits::default()]
    };
    let asked = SpelledUnitsRequest { files: files(), name: "x".into() };
    let lies = [vec![], spelled(&"x".repeat(300), good())].into_iter().chain(bad().map(|unit| spelled("x", unit)));
    only_first(&asked, &[spelled("x", good())].into_iter().chain(lies).collect::<Vec<_>>());
    let seen = |line| vec![ScannedLine { line, ..ScannedLine::default() }];
    let asked = ScanRequest { files: files(), look: ScanTarget::Calls("x".into()) };
    only_first(&asked, &[vec![seen(3), vec![]], vec![seen(3)], vec![seen(u32::MAX), vec![]]]);
    let asked = LinesRequest { units: units(), line: LineOf::Name("x".into()) };
    only_first(&asked, &[vec![3u32, 4], vec![3], vec![3, u32::MAX]]);
    let context = |file, partner| vec![(FilePlace(file), Context { partner, ..Context::default() })];
    let asked = ContextsRequest::default();
    only_first(&asked, &[context(9, 1.0), context(10, 1.0), context(9, f32::NAN)]);
    let asked = PathsRequest { paths: vec!["a".into()] };
    only_first(&asked, &[vec![Some(FilePlace(9))], vec![], vec![Some(FilePlace(10))]]);
}

#[test]
fn a_shard_that_lies_of_what_is_shown_is_not_believed() {
    let file = FileAsked { path: "a.rs".into(), ..FileAsked::default() };
    let asked = ShowAsked { files: vec![file], ..ShowAsked::default() };
    let shown = |path: &str, text: &str, mark: (usize, usize), number: usize| {
        let mut unit = UnitAnswer::default();
        (unit.line.text, unit.line.number) = (text.into(), number);
        unit.line.marks.push(mark.0..mark.1);
        let mut file = FileAnswer::default();
        (file.path, file.units) = (path.into(), vec![unit]);
        vec![file]
    };
    only_first_by(
        "show",
        &[
            shown("a.rs", "tür", (0, 3), 4),
            shown("b.rs", "tür", (0, 3), 4),
            shown("a.rs", "tür", (0, 2), 4),
            shown("a.rs", "tür", (0, 9), 4),
            shown("a.rs", "tür", (3, 0), 4),
            shown("a.rs", "tür", (0, 3), usize::MAX),
            Vec::new(),
        ],
        |files| is_shown(&asked, files, &extent()),
    );
    let asked = EndAsked { files: vec!["x".into()], ..EndAsked::default() };
    let end = |files: Vec<u64>, holders| EndFound { files, holders, ..EndFound::default() };
    let lies = [end(vec![4], 1), end(vec![], 1), end(vec![4, 4], 1), end(vec![4], u64::MAX)];
    only_first_by("end", &lies, |found| is_end(&asked, found, &extent()));
    let line = |path: &str, line| LinesFound {
        lines: vec![LineFound { path: path.into(), line, text: "x".into() }],
        is_cut: false,
    };
    let known = ShardExtent {
        repositories: vec![RepositoryExtent { front: "a/".into(), first: FilePlace(0) }],
        ..ShardExtent::default()
    };
    let lies = [line("a/b.rs", 1), line("b/b.rs", 1), line("a/b.rs", 0), line("a/b.rs", u32::MAX)];
    only_first_by("lines", &lies, |found| are_lines(1, found, &known));
    assert!(!are_lines(0, &line("a/b.rs", 1), &known), "more than were asked for");

    let served = |files| vec![ServedRepository { name: "acme".to_string(), files, ..ServedRepository::default() }];
    only_first_by("served", &[served(4), served(u64::MAX)], |served| are_served(served));
}
