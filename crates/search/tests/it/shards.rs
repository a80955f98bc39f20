//! A search over several shards gives exactly the result of one index of all files.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::toy::{Toy, codebook, encoding};
use colgrep_core::collapse::PerFile;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knob, Knobs, Profile};
use colgrep_core::tag::{Hint, Hints};
use colgrep_core::token::Tokenizer;
use colgrep_index::ids::FileId;
use colgrep_index::lexical::{UnitFilter, UnitPlace};
use colgrep_index::store::{Snapshot, Store};
use colgrep_index::update::Updater;
use colgrep_index::vector::Effort;
use colgrep_search::{
    Corpus, CorpusAnswer, Layout, LocalShard, Mode, Near, QueryContext, Request, Semantic, Shard, ShardGroup, search,
};
use xxhash_rust::xxh3::xxh3_64;

/// The toy, as light as the built-in model, so that the nearest units get full scores.
fn light() -> Toy {
    Toy { is_light: true, ..Toy::new() }
}

const WORDS: [&str; 24] = [
    "parse", "request", "socket", "retry", "cache", "token", "session", "header", "index", "vector", "shard", "merge",
    "score", "query", "commit", "branch", "render", "matrix", "decode", "stream", "buffer", "router", "worker",
    "limit",
];
const KINDS: [&str; 5] = ["py", "rs", "js", "md", "go"];

/// A pseudo-random number below `n`.
fn draw(seed: u64, n: u64) -> u64 {
    xxh3_64(&seed.to_le_bytes()) % n
}

/// A word: the first ones are frequent.
fn word(seed: u64) -> &'static str {
    WORDS[(draw(seed, 24) * draw(seed ^ 77, 25) / 24) as usize % 24]
}

fn sentence(seed: u64, length: u64) -> String {
    (0..length).map(|i| word(seed.wrapping_mul(31).wrapping_add(i))).collect::<Vec<_>>().join(" ")
}

/// The text of a file of some language with a few definitions.
fn text(kind: &str, seed: u64) -> String {
    let mut text = String::new();
    for at in 0..1 + draw(seed ^ 5, 4) {
        let one = seed.wrapping_mul(131).wrapping_add(at * 7);
        let (a, b, c) = (word(one), word(one ^ 1), word(one ^ 2));
        let (said, number) = (sentence(one ^ 3, 3 + one % 6), draw(one, 900));
        let _ = match kind {
            "py" => writeln!(text, "def {a}_{b}(x):\n    \"\"\"{said}\"\"\"\n    return {c}(x, {number})\n"),
            "rs" => writeln!(text, "/// {said}\npub fn {a}_{b}(x: u32) -> u32 {{\n    {c}(x + {number})\n}}\n"),
            "js" => writeln!(
                text,
                "// {said}\nfunction {a}Of{b}(x) {{\n  throw new Error(\"could not {a} the {c} {number}\");\n}}\n"
            ),
            "go" => writeln!(text, "// {said}\nfunc {a}{b}(x int) int {{\n\treturn {c}(x)\n}}\n"),
            _ => writeln!(text, "# {a} and {b}\n\n{said}. The {c} is {number}.\n"),
        };
    }
    text
}

/// The files of a corpus: repository, path, text. Some texts are in several repositories.
fn files(repositories: &[String]) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for (r, repository) in repositories.iter().enumerate() {
        for at in 0..6 + draw(r as u64, 5) {
            let seed = (r as u64) << 32 | at;
            let kind = KINDS[draw(seed ^ 9, 5) as usize];
            let folder = ["src/core", "lib/net", "tests/unit", "docs/guide", "src/vendor"][draw(seed ^ 11, 5) as usize];
            let path = format!("{folder}/{}.{kind}", word(seed ^ 13));
            // Vendored texts are the same everywhere.
            let of_text = if folder == "src/vendor" { at } else { seed };
            all.push((repository.clone(), path, text(kind, of_text)));
        }
    }
    all
}

fn write(root: &Path, files: &[(String, String, String)]) {
    for (repository, path, text) in files {
        let path = root.join(repository).join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
}

/// Indexes over some folders.
struct Indexes {
    roots: Vec<PathBuf>,
    snapshots: Vec<Snapshot>,
}

impl Indexes {
    fn update(&mut self, model: &Toy) {
        let book = codebook();
        self.snapshots.clear();
        for root in &self.roots {
            let encoding = encoding(model, &book);
            let store = Store::new(root.with_extension("index"));
            let (snapshot, _) = Updater::new(&store, root).encoding(Some(&encoding)).run().expect("an index");
            self.snapshots.push(snapshot);
        }
    }

    fn new(roots: Vec<PathBuf>, model: &Toy) -> Indexes {
        let mut indexes = Indexes { roots, snapshots: Vec::new() };
        indexes.update(model);
        indexes
    }
}

/// The corpus in `count` shards below `base`, each an index of its share of the repositories.
fn sharded(base: &Path, count: usize, files: &[(String, String, String)], model: &Toy) -> Indexes {
    let mut parts: BTreeMap<usize, Vec<(String, String, String)>> = BTreeMap::new();
    for file in files {
        parts.entry((xxh3_64(file.0.as_bytes()) % count as u64) as usize).or_default().push(file.clone());
    }
    let roots = parts.into_iter().map(|(at, files)| {
        let root = base.join(format!("{count}-{at}"));
        write(&root, &files);
        root
    });
    Indexes::new(roots.collect(), model)
}

/// Allows about two thirds of all files, by their paths, and no unit on a line that 7 divides.
struct Some3(Vec<FileId>);

impl Some3 {
    fn of(snapshot: &Snapshot) -> Some3 {
        // The last three components, so that the folder of a repository does not count.
        let own = |path: &str| path.rsplit('/').take(3).collect::<Vec<_>>().concat();
        let is_allowed = |path: &str| !xxh3_64(own(path).as_bytes()).is_multiple_of(3);
        let allowed = snapshot.files.indexed().filter(|file| is_allowed(&file.path));
        Some3(allowed.map(|file| file.id).collect())
    }
}

impl UnitFilter for Some3 {
    fn allows_file(&self, file: FileId) -> bool {
        self.0.contains(&file)
    }

    fn allows_unit(&self, unit: &UnitPlace) -> bool {
        !unit.first.is_multiple_of(7)
    }
}

/// The whole answer, with bit-exact scores.
fn told(answer: &CorpusAnswer) -> String {
    let mut told = format!("{} weak, documentation {}\n", answer.weak, answer.is_documentation);
    let path = |file: usize| answer.files[file].whole_path();
    for hit in &answer.hits {
        let _ = write!(told, "{} {:08x} {:08x}:", path(hit.file), hit.score.to_bits(), hit.strength.to_bits());
        for unit in &hit.units {
            let _ = write!(told, " {}={:08x}", unit.line, unit.score.to_bits());
        }
        told.push('\n');
    }
    for unit in &answer.units {
        let _ = writeln!(told, "{} {} {:?} {:08x}", path(unit.file), unit.line, unit.kind, unit.score.to_bits());
    }
    told
}

const QUERIES: [&str; 24] = [
    "parse request",
    "retry the socket when the session is closed",
    "parse_request",
    "cacheOftoken",
    "where is the header decoded",
    "how do worker and router share a buffer",
    "matrix",
    "could not parse the cache 17",
    "\"the cache is\"",
    "who calls merge",
    "fn score_query",
    "def token_session",
    "src/core/parse.py:3",
    "session in request.rs",
    "help with the index of vectors please",
    "tests for the stream",
    "guide on shards",
    "return socket(x, 12)",
    "commit branch commit branch render",
    "nosuchword parse",
    "the and of",
    "E0502",
    "[Bug] The session is not closed when a retry fails\n\nThis is what I see in src/core/parse.py for each request:\n\n  \
        File \"/usr/lib/lib/net/cache.py\", line 3, in cache\n\n### Environment\n- OS: render matrix",
    "Worker waits for the buffer\nThe router and the header are merged before a commit, and then it says \"the cache is 17\".",
];

struct Case<'a> {
    model: &'a Toy,
    mode: Option<Mode>,
    effort: Effort,
    is_filtered: bool,
}

fn answer(indexes: &Indexes, layouts: &[Layout], case: &Case<'_>, query: &str, request: &Request<'_>) -> String {
    let filters: Vec<Some3> = indexes.snapshots.iter().map(Some3::of).collect();
    let shards: Vec<LocalShard<'_>> = indexes
        .snapshots
        .iter()
        .zip(layouts)
        .zip(&filters)
        .map(|((snapshot, layout), filter)| {
            let filter = case.is_filtered.then_some(filter as &dyn UnitFilter);
            LocalShard::new(snapshot, filter).layout(layout.clone())
        })
        .collect();
    let shards: Vec<&dyn Shard> = shards.iter().map(|shard| shard as &dyn Shard).collect();
    let semantic = case.mode.map(|mode| Semantic { mode, effort: case.effort, ..Semantic::new(case.model) });
    let answered = |shards: &[&dyn Shard]| {
        let corpus = Corpus { shards, name: "", paths: None };
        told(&search(&corpus, &Request { query, semantic, ..*request }, None).expect("an answer"))
    };
    let answer = answered(&shards);
    if shards.len() > 2 {
        // A group of several repositories answers as one shard.
        let groups: Vec<ShardGroup<'_>> =
            shards.chunks(3).map(|part| ShardGroup::new(part.to_vec()).expect("a group")).collect();
        let groups: Vec<&dyn Shard> = groups.iter().map(|group| group as &dyn Shard).collect();
        assert_eq!(answered(&groups), answer, "{query:?} in {} groups", groups.len());
        let whole = ShardGroup::new(groups).expect("a group");
        assert_eq!(answered(&[&whole]), answer, "{query:?} in one group");
    }
    answer
}

fn cases(model: &Toy) -> Vec<Case<'_>> {
    let tight = Effort { probes: 5, rough: 90, exact: 40, joined: 1 << 16 };
    let case = |mode, effort, is_filtered| Case { model, mode, effort, is_filtered };
    vec![
        case(None, tight, true),
        case(Some(Mode::Hybrid), tight, false),
        case(Some(Mode::Hybrid), Effort { joined: 60, ..tight }, true),
        case(Some(Mode::SemanticOnly), Effort { joined: 60, ..tight }, false),
        case(None, tight, false),
        case(Some(Mode::Hybrid), Effort::default(), false),
    ]
}

/// Compares all answers of both; returns how many had results.
fn compare(one: (&Indexes, &[Layout]), others: &[(&Indexes, Vec<Layout>)], cases: &[Case<'_>]) -> usize {
    let mut knobs = Knobs::of(Profile::Default);
    // Few units and files become candidates, so that the cut-offs matter.
    knobs.set(Knob::PoolUnits, "40").expect("a value");
    knobs.set(Knob::PoolNamedFiles, "8").expect("a value");
    let hints: [Hint; 1] = ["keyword=cache".parse().expect("a hint")];
    let hints = Hints::new(&hints, &mut Tokenizer::default());
    let near = Near { path: one.0.snapshots[0].files.files[3].path.clone(), line: Some(3), ..Near::default() };
    let mut found = 0;
    for case in cases {
        for (at, query) in QUERIES.iter().enumerate() {
            let background = QueryContext {
                hints: (at % 3 == 0).then_some(&hints),
                near: (at % 5 == 0).then_some(&near),
                ..QueryContext::default()
            };
            let request = Request {
                fusion: if at % 4 == 3 { Fusion::ReciprocalRank } else { Fusion::MinMax },
                units_per_file: PerFile::Units(2),
                strength_min: if at % 2 == 0 { 0.0 } else { 0.03 },
                background,
                ..Request::new(query, &knobs, 12)
            };
            let expected = answer(one.0, one.1, case, query, &request);
            found += usize::from(expected.lines().count() > 3);
            for (indexes, layouts) in others {
                let shards = indexes.snapshots.len();
                let got = answer(indexes, layouts, case, query, &request);
                assert_eq!(
                    got, expected,
                    "{query:?} in {shards} shards, {:?}, filtered {}",
                    case.mode, case.is_filtered
                );
            }
        }
    }
    found
}

fn names() -> Vec<String> {
    (0..17).map(|at| format!("{}{at}", ["acme", "acme-web", "zeta", "lib.core"][at % 4])).collect()
}

#[test]
fn shards_answer_as_one_index_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().canonicalize().expect("its path");
    let model = light();
    let mut all = files(&names());
    let mut indexes: Vec<Indexes> = [1, 2, 6, 16].map(|count| sharded(&base, count, &all, &model)).into();
    let check = |indexes: &[Indexes], cases_max: usize| {
        let folders = |indexes: &Indexes| vec![Layout::Folders; indexes.snapshots.len()];
        let others: Vec<(&Indexes, Vec<Layout>)> = indexes[1..].iter().map(|one| (one, folders(one))).collect();
        compare((&indexes[0], &[Layout::Folders]), &others, &cases(&model)[..cases_max])
    };
    assert!(indexes[3].snapshots.len() > 6, "repositories fall to many shards");
    assert!(model.count() > 100, "texts were encoded");
    let found = check(&indexes, 4);
    assert!(found > 50, "{found} answers");

    // Two repositories are removed, one file of each other one changes, and one repository is added.
    for (at, (_, path, text)) in all.iter_mut().enumerate().filter(|(at, _)| at % 7 == 0) {
        *text = format!("{text}\n{}", self::text(path.rsplit('.').next().unwrap_or_default(), 5_000 + at as u64));
    }
    let gone = [names()[3].clone(), names()[8].clone()];
    all.retain(|file| !gone.contains(&file.0));
    all.push((names()[5].clone(), "src/core/added.py".into(), text("py", 9_999)));
    for indexes in &mut indexes {
        for root in &indexes.roots {
            for name in &gone {
                let _ = fs::remove_dir_all(root.join(name));
            }
            let own: Vec<_> = all.iter().filter(|file| root.join(&file.0).is_dir()).cloned().collect();
            write(root, &own);
        }
        indexes.update(&model);
    }
    check(&indexes, 2);
    // The history of an index does not matter.
    let fresh = sharded(&base.join("fresh"), 1, &all, &model);
    compare((&fresh, &[Layout::Folders]), &[(&indexes[0], vec![Layout::Folders])], &cases(&model)[..2]);
}

#[test]
fn repositories_with_indexes_of_their_own_answer_as_one_index_of_all() {
    // No character of these names is part of a word, and the files are too deep for the names to be encoded: one index
    // of the parent folder has the same terms and texts as those of each.
    let names: Vec<String> = ["+", "=", "%", "@", "~", "+-", "++"].map(String::from).into();
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().canonicalize().expect("its path");
    let model = light();
    let all = files(&names);
    let one = sharded(&base.join("one"), 1, &all, &model);
    let roots: Vec<PathBuf> = names.iter().map(|name| base.join("each").join(name)).collect();
    write(&base.join("each"), &all);
    let each = Indexes::new(roots, &model);
    let layouts: Vec<Layout> = names.iter().map(|name| Layout::One(format!("{name}/"))).collect();
    let found = compare((&one, &[Layout::Fronts]), &[(&each, layouts)], &cases(&model));
    assert!(found > 80, "{found} answers");
}

#[test]
fn whether_all_texts_are_looked_at_does_not_depend_on_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = folder.path().canonicalize().expect("its path");
    let model = light();
    // The other repositories have the files of the first one too; the names are not part of any text, as above.
    let names = ["+", "=", "%", "@", "~"].map(String::from);
    let mut all = files(&names);
    let first: Vec<_> = all.iter().filter(|file| file.0 == names[0]).cloned().collect();
    for name in &names[1..] {
        all.extend(first.iter().map(|(_, path, text)| (name.clone(), path.clone(), text.clone())));
    }
    let (one, six) = (sharded(&base, 1, &all, &model), sharded(&base, 6, &all, &model));
    let (mut units, mut texts) = (0, HashSet::new());
    one.snapshots[0].lexical.each_unit(None, |_, _, hash| {
        units += 1;
        texts.insert(hash);
    });
    assert!(texts.len() + 20 < units && six.snapshots.len() > 2, "{} texts of {units} units", texts.len());
    // If `rough` is this large, texts outside the few lists are not left out.
    for rough in [texts.len(), units] {
        let effort = Effort { probes: 1, rough, exact: 40, joined: 1 << 16 };
        let case = Case { model: &model, mode: Some(Mode::SemanticOnly), effort, is_filtered: false };
        let layouts = vec![Layout::Folders; six.snapshots.len()];
        assert!(compare((&one, &[Layout::Folders]), &[(&six, layouts)], &[case]) > 10);
    }
}
