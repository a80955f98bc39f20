//! `self`: evaluates on any repository without labels, with queries made from its commits and documentation.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use colgrep_core::path::{PathClass, PathFacts};
use colgrep_core::token::Tokenizer;
use colgrep_index::store::FileRecord;
use colgrep_search::is_text;
use colgrep_syntax::language;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;

use crate::FINE;
use crate::corpus::AnnotatedBackground;
use crate::corpus::{
    Annotation, AnnotationSet, BenchCorpus, BenchRepository, BenchTask, RankingArgs, TargetFile, Vars,
};
use crate::report::{OutputArgs, write_json};
use crate::run::measure;

/// Most files of a commit that is used; larger commits are sweeping changes.
const COMMIT_FILES_MAX: usize = 10;
/// Words of a query at least.
const WORDS_MIN: usize = 3;
const COMMITS: &str = "commits";
const DOCUMENTATION: &str = "documentation";
const FROM_TEST: &str = "commits, from a test";
const FROM_SOURCE: &str = "commits, from a source";
const NAMED: &str = "commits, a file named";

#[derive(Clone, Debug, clap::Args)]
pub struct SelfEvalArgs {
    /// The repository, or a folder in it
    pub repository: PathBuf,
    /// Commits to take, newest first
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub commits: usize,
    /// Documented units to take, drawn by chance
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub units: usize,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Ask for the commits between what is checked out and this one, so that no answer lies in the history that is
    /// searched; those of several files give one of them as the place where the reader stands
    #[arg(long, value_name = "REV")]
    pub future: Option<String>,
    /// Name one of the files in each question of a commit: that file is asked for
    #[arg(long)]
    pub named: bool,
    /// How units are ranked.
    #[command(flatten)]
    pub ranking: RankingArgs,
    /// Write the queries into this folder as annotations, for `run` and `sweep`
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
    /// Output files.
    #[command(flatten)]
    pub output: OutputArgs,
}

pub fn run(args: &SelfEvalArgs, vars: &Vars) -> Result<u8> {
    args.output.check()?;
    let env = args.ranking.environment(vars)?;
    let knobs = args.ranking.knobs(&env)?;
    let folder = args.repository.canonicalize().with_context(|| format!("{}", args.repository.display()))?;
    let name = folder.file_name().map_or_else(|| "repository".into(), |n| n.to_string_lossy().into_owned());
    let written = args.write.as_ref().map(|folder| folder.join(format!("{name}.json")));
    if let Some(path) = written.as_ref().filter(|p| p.exists()) {
        bail!(
            "{} is there, perhaps with queries taken out by hand; move it away or name another folder",
            path.display()
        );
    }
    let repository = BenchRepository::open(&name, None, &folder, &env, args.ranking.model(&env)?, &args.ranking)?;
    let (commits, files) = (git_log(&folder, args.future.as_deref())?, code_files(&repository, &folder));
    let mut annotations = from_commits(&commits, &files, args.commits);
    if args.future.is_some() {
        let pairs: Vec<Annotation> = annotations.iter().flat_map(|a| standing(a, &commits, &files)).collect();
        annotations.extend(pairs);
    }
    if args.named {
        annotations = annotations.iter().filter_map(|a| naming(a, &files)).collect();
    }
    annotations.extend(from_documentation(&repository, args.units, args.seed)?);
    if annotations.is_empty() {
        bail!("{name}: no commit and no documented unit makes a query");
    }
    if let (Some(folder), Some(path)) = (&args.write, &written) {
        std::fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
        write_json(path, &annotations)?;
    }
    let with_background = |annotation: Annotation| {
        let background = annotation.given.read(Path::new(""), &repository)?;
        Ok(BenchTask { background, ..BenchTask::new(annotation, 0, 0) })
    };
    let tasks: Vec<BenchTask> = annotations.into_iter().map(with_background).collect::<Result<_>>()?;
    let sets = vec![AnnotationSet { name: "self".to_string(), weight: 1.0 }];
    let corpus = BenchCorpus { sets, repositories: vec![repository], tasks, knobs, ranking: args.ranking.text() };
    let record = measure(&corpus, true)?;
    let note = format!(
        "\n`{COMMITS}`: a commit's subject asks for the files it changed; what else it could have meant counts as wrong, so the level is low, and only differences between settings mean something. `{DOCUMENTATION}`: the first sentence of a unit's documentation asks for its file; easy, because its words are in the index.\n"
    );
    args.output.write(&record, &note)?;
    Ok(FINE)
}

/// One commit: its subject and the files it changed, relative to the folder asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SubjectCommit {
    subject: String,
    files: Vec<String>,
}

/// The commits that touch the folder, newest first, merges left out: the ancestors of what is checked out, or those
/// from there to `future`.
fn git_log(folder: &Path, future: Option<&str>) -> Result<Vec<SubjectCommit>> {
    let range = future.map_or("HEAD".to_string(), |future| format!("HEAD..{future}"));
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args([
            "-c",
            "core.quotePath=false",
            "log",
            "--no-merges",
            "--relative",
            "--name-only",
            "--pretty=format:%x1e%s",
        ])
        .arg(range)
        .arg("--")
        .output()
        .context("git")?;
    if !output.status.success() {
        // A folder without git has documentation all the same.
        eprintln!("colgrep-bench: no commits: {}", String::from_utf8_lossy(&output.stderr).trim());
        return Ok(Vec::new());
    }
    let shallow = Command::new("git").arg("-C").arg(folder).args(["rev-parse", "--is-shallow-repository"]).output();
    if shallow.is_ok_and(|o| o.stdout.starts_with(b"true")) {
        eprintln!("colgrep-bench: a shallow clone has few commits to ask for; `git fetch --unshallow` gets the others");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let commit = |block: &str| {
        let (subject, files) = block.split_once('\n').unwrap_or((block, ""));
        let files = files.lines().filter(|l| !l.is_empty()).map(String::from).collect();
        SubjectCommit { subject: subject.to_string(), files }
    };
    Ok(text.split('\x1e').skip(1).map(commit).collect())
}

/// Whether a file is secondary in a commit (prose, data, tests): if code was changed too, the code is the answer.
fn goes_along(record: &FileRecord, tokenizer: &mut Tokenizer) -> bool {
    is_text(&record.language) || PathFacts::new(&record.path, language::facts(), tokenizer).class.has(PathClass::TEST)
}

/// Indexed files below the folder, relative to it: path, and whether it [goes along](goes_along).
fn code_files(repository: &BenchRepository, folder: &Path) -> BTreeMap<String, bool> {
    let below = folder.strip_prefix(&repository.place.project.root).unwrap_or(Path::new(""));
    let mut files = BTreeMap::new();
    let mut tokenizer = Tokenizer::default();
    for record in repository.files() {
        if let Ok(path) = Path::new(&record.path).strip_prefix(below) {
            files.insert(path.to_string_lossy().replace('\\', "/"), goes_along(record, &mut tokenizer));
        }
    }
    files
}

/// Queries from commits: the subject asks for the changed files that still exist; where code is among them, for that.
fn from_commits(commits: &[SubjectCommit], files: &BTreeMap<String, bool>, most: usize) -> Vec<Annotation> {
    let mut seen = HashSet::new();
    let mut annotations = Vec::new();
    for commit in commits {
        if annotations.len() == most {
            break;
        }
        if commit.files.len() > COMMIT_FILES_MAX || is_chore(&commit.subject) {
            continue;
        }
        let query = clean(&commit.subject);
        let left: Vec<(&String, bool)> =
            commit.files.iter().filter_map(|f| files.get_key_value(f)).map(|(f, along)| (f, *along)).collect();
        let has_code = left.iter().any(|(_, along)| !along);
        let relevant: Vec<TargetFile> = left
            .iter()
            .filter(|(_, along)| !(has_code && *along))
            .map(|(f, _)| TargetFile::Path((*f).clone()))
            .collect();
        if relevant.is_empty() || query.split_whitespace().count() < WORDS_MIN || !seen.insert(query.clone()) {
            continue;
        }
        let category = Some(COMMITS.to_string());
        annotations.push(Annotation {
            query,
            relevant,
            secondary: Vec::new(),
            category,
            given: AnnotatedBackground::default(),
        });
    }
    annotations
}

/// The questions of a commit from where its author stood: from a test for the code, and from one file of the code for
/// the others.
fn standing(annotation: &Annotation, commits: &[SubjectCommit], files: &BTreeMap<String, bool>) -> Vec<Annotation> {
    let facts = language::facts();
    let Some(commit) = commits.iter().find(|commit| clean(&commit.subject) == annotation.query) else {
        return Vec::new();
    };
    let is_test = |path: &&String| PathClass::of(path, facts).has(PathClass::TEST);
    let mut tests: Vec<&String> = commit.files.iter().filter(|f| files.contains_key(*f)).filter(is_test).collect();
    let code = |path: &&String| files.get(*path) == Some(&false);
    let mut sources: Vec<&String> = commit.files.iter().filter(code).collect();
    tests.sort();
    sources.sort();
    let from = |near: &String, category: &str, relevant: &[&String]| Annotation {
        relevant: relevant.iter().map(|path| TargetFile::Path((*path).clone())).collect(),
        category: Some(category.to_string()),
        given: AnnotatedBackground { near: Some(near.clone()), ..AnnotatedBackground::default() },
        ..annotation.clone()
    };
    let by_test = tests.first().filter(|_| !sources.is_empty()).map(|near| from(near, FROM_TEST, &sources));
    let by_source = sources.split_first().filter(|(_, others)| !others.is_empty());
    by_test.into_iter().chain(by_source.map(|(near, others)| from(near, FROM_SOURCE, others))).collect()
}

/// The question with the name of one of its files, that no other file bears, which alone is asked for.
fn naming(annotation: &Annotation, files: &BTreeMap<String, bool>) -> Option<Annotation> {
    let name_of = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_alone = |path: &&String| files.keys().filter(|other| name_of(other) == name_of(path)).count() == 1;
    let paths = annotation.relevant.iter().filter_map(|target| files.get_key_value(target.path()));
    let path = paths.map(|(path, _)| path).find(is_alone)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    if annotation.category.as_deref() != Some(COMMITS) {
        return None;
    }
    Some(Annotation {
        query: format!("{} in {name}", annotation.query),
        relevant: vec![TargetFile::Path(path.clone())],
        category: Some(NAMED.to_string()),
        ..annotation.clone()
    })
}

/// Whether a subject speaks of formatting, dependencies, releases or the undoing of another commit.
pub(crate) fn is_chore(subject: &str) -> bool {
    const WORDS: [&str; 32] = [
        "bump",
        "bumps",
        "dependencies",
        "dependency",
        "deps",
        "renovate",
        "dependabot",
        "lockfile",
        "upgrade",
        "fmt",
        "format",
        "formatting",
        "reformat",
        "rustfmt",
        "prettier",
        "gofmt",
        "black",
        "isort",
        "lint",
        "lints",
        "linter",
        "clippy",
        "eslint",
        "whitespace",
        "typo",
        "typos",
        "release",
        "changelog",
        "version",
        "revert",
        "reverts",
        "merge",
    ];
    let lower = subject.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|w| WORDS.contains(&w)) || lower.starts_with("chore") || lower.starts_with("style")
}

/// A subject without its `type(scope):`, its issue numbers and its tags.
pub(crate) fn clean(subject: &str) -> String {
    let is_type = |head: &str| {
        let head = head.trim_end_matches('!');
        let name = head.split('(').next().unwrap_or(head);
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_lowercase())
            && (name.len() == head.len() || head.ends_with(')'))
    };
    let rest = match subject.split_once(": ") {
        Some((head, rest)) if is_type(head) => rest,
        _ => subject,
    };
    let keeps = |w: &&str| {
        let bare = w.trim_matches(['(', ')', '[', ']', ',', '.']);
        let number = bare.strip_prefix('#').is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
        let tag = w.starts_with('[') && w.ends_with(']');
        !number && !tag
    };
    rest.split_whitespace().filter(keeps).collect::<Vec<_>>().join(" ")
}

/// Queries from documentation: the first sentence asks for the file of its unit. Tests are left out: the ranking
/// deliberately puts them last.
fn from_documentation(repository: &BenchRepository, most: usize, seed: u64) -> Result<Vec<Annotation>> {
    let mut tokenizer = Tokenizer::default();
    let mut records: Vec<_> = repository.files().filter(|r| !goes_along(r, &mut tokenizer)).collect();
    records.sort_by(|a, b| a.path.cmp(&b.path));
    let mut by_sentence: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    for record in records {
        for hit in repository.place.snapshot.lexical.units_of(record.id, None)? {
            let unit = repository.place.snapshot.unit(hit.key)?;
            let sentence = first_sentence(&unit.docstring);
            if unit.kind.is_definition() && sentence.split_whitespace().count() >= WORDS_MIN {
                by_sentence.entry(sentence).or_default().insert(record.path.clone());
            }
        }
    }
    // A sentence that occurs in several files is not used.
    let mut all: Vec<(String, String)> = by_sentence
        .into_iter()
        .filter(|(_, files)| files.len() == 1)
        .flat_map(|(sentence, files)| files.into_iter().map(move |f| (sentence.clone(), f)))
        .collect();
    all.shuffle(&mut StdRng::seed_from_u64(seed));
    all.truncate(most);
    let annotation = |(query, file)| Annotation {
        query,
        relevant: vec![TargetFile::Path(file)],
        secondary: Vec::new(),
        category: Some(DOCUMENTATION.to_string()),
        given: AnnotatedBackground::default(),
    };
    Ok(all.into_iter().map(annotation).collect())
}

/// The first sentence of a documentation, on one line.
fn first_sentence(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_become_queries() {
        for (subject, expected) in [
            ("feat(router): match by host (#123)", "match by host"),
            ("fix!: close the socket twice", "close the socket twice"),
            ("[ABC-1] Keep the order of headers #9.", "Keep the order of headers"),
            ("Router: match by host", "Router: match by host"),
        ] {
            assert_eq!(clean(subject), expected);
        }
    }

    #[test]
    fn chores_are_told_by_whole_words() {
        for (subject, expected) in [
            ("Bump serde to 1.0.9", true),
            ("chore: tidy up", true),
            ("Fix typo in the docs", true),
            ("Revert \"Match by host\"", true),
            ("Parse the information of a header", false),
            ("Submerge nothing", false),
        ] {
            assert_eq!(is_chore(subject), expected, "{subject}");
        }
    }

    #[test]
    fn commits_ask_for_code_that_still_exists() {
        let files: BTreeMap<String, bool> =
            [("a.rs", false), ("b.rs", false), ("c.md", true)].map(|(f, t)| (f.to_string(), t)).into();
        let commit = |subject: &str, files: &str| SubjectCommit {
            subject: subject.into(),
            files: files.split_whitespace().map(String::from).collect(),
        };
        let commits = [
            commit("Match routes by host", "a.rs c.md gone.rs"),
            commit("Explain matching by host", "c.md"),
            commit("Match routes by host", "b.rs"),
            commit("Match by name", "gone.rs"),
            commit("Short one", "a.rs"),
            commit("Change nearly every file here", "a.rs 1 2 3 4 5 6 7 8 9 10"),
            commit("Match routes by path", "b.rs"),
        ];
        let got: Vec<(String, String)> = from_commits(&commits, &files, 3)
            .into_iter()
            .map(|a| (a.query.clone(), format!("{:?}", a.relevant)))
            .collect();
        let queries: Vec<&str> = got.iter().map(|g| g.0.as_str()).collect();
        assert_eq!(queries, ["Match routes by host", "Explain matching by host", "Match routes by path"]);
        assert_eq!((got[0].1.as_str(), got[1].1.as_str()), ("[Path(\"a.rs\")]", "[Path(\"c.md\")]"));
    }

    #[test]
    fn a_commit_is_asked_for_from_its_test_and_from_one_of_its_sources() {
        let files: BTreeMap<String, bool> =
            [("src/a.rs", false), ("src/b.rs", false), ("tests/a.rs", true)].map(|(f, t)| (f.to_string(), t)).into();
        let subject = "Match routes by host";
        let commits = [SubjectCommit {
            subject: subject.into(),
            files: ["tests/a.rs", "src/b.rs", "src/a.rs"].map(String::from).into(),
        }];
        let asked = &from_commits(&commits, &files, 9)[0];
        let of = |a: &Annotation| {
            let relevant: Vec<&str> = a.relevant.iter().map(TargetFile::path).collect();
            format!(
                "{} {} {}",
                a.category.clone().unwrap(),
                a.given.near.clone().unwrap_or_default(),
                relevant.join("+")
            )
        };
        let found: Vec<String> = standing(asked, &commits, &files).iter().map(of).collect();
        assert_eq!(
            found,
            ["commits, from a test tests/a.rs src/a.rs+src/b.rs", "commits, from a source src/a.rs src/b.rs"]
        );
        let named = naming(asked, &files).unwrap();
        assert_eq!((named.query.as_str(), named.relevant[0].path()), ("Match routes by host in b.rs", "src/b.rs"));
    }

    #[test]
    fn sentences_end_at_the_first_stop() {
        for (text, expected) in [
            ("Reads a file. Then more.", "Reads a file"),
            ("Reads\na file.\n\nMore.", "Reads a file"),
            ("Version 1.2 of it", "Version 1.2 of it"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }
}
