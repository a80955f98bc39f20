//! Tells the kinds of search apart and refuses flags that exclude each other.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use colgrep_engine::request::check_length;
use colgrep_engine::{OpenOptions, Pattern, Question, SearchRequest};
use colgrep_syntax::language;

use colgrep_engine::request::has_no_word;
use colgrep_engine::settings::Settings;
use colgrep_render::console::Console;
use colgrep_render::grep::SortBy;
use colgrep_render::path::{is_stdin, is_stream};
use colgrep_render::remarks::RemarkKind;

use super::{IndexMode, SearchArgs};
use colgrep_render::matches::LineOptions;
use colgrep_render::words::in_short;
use colgrep_render::{Format, OutputRequest};

/// Commands that somebody may mean to ask of shards.
const SUBCOMMANDS: [&str; 5] = ["status", "init", "doctor", "clear", "outline"];

/// What a command line asks for.
pub enum Task {
    /// Print every matching line, as grep does.
    Grep,
    /// A ranking.
    Rank,
    /// The files in which nothing matches.
    Without,
    /// Answer each line of a file.
    Many(PathBuf),
    /// The calls to or from a name, up to a depth.
    Levels(usize),
    /// The names of the files that would be searched.
    Files,
    /// The languages and types of files.
    TypeList,
    /// The shape of the JSON output.
    JsonSchema,
}

/// A search as flags ask for it; what they leave open is the settings'.
pub struct Plan {
    /// What to do.
    pub task: Task,
    /// The question, where it looks, and how it ranks.
    pub request: SearchRequest,
    /// Groups of the settings whose projects are searched too.
    pub groups: Vec<String>,
    /// The file of the shards that are searched instead.
    pub shards: Option<PathBuf>,
    /// How projects are opened.
    pub open: OpenOptions,
    /// By what a plain grep sorts files, and whether the other way round.
    pub sorting: (SortBy, bool),
    /// What is printed.
    pub output: OutputRequest,
    /// What a plain grep prints of lines.
    pub lines: LineOptions,
    /// Where the index is taken from first.
    pub remote: Option<String>,
    /// Threads to use.
    pub threads: Option<usize>,
    /// What to say about how the words and flags were read.
    pub remark: Option<String>,
    /// What to say of the query's word where it is not found: it may have been meant as a path.
    pub misread: Option<String>,
}

/// What the words of a command line ask for, and where.
struct CommandWords {
    task: Task,
    question: Question,
    paths: Vec<PathBuf>,
    remark: Option<String>,
    misread: Option<String>,
}

impl CommandWords {
    fn new(task: Task, question: Question, paths: Vec<PathBuf>) -> CommandWords {
        CommandWords { task, question, paths, remark: None, misread: None }
    }
}

impl Plan {
    /// Reads the flags as they were given, before settings fill in what they leave open.
    ///
    /// # Errors
    /// When there is no query, or flags ask for what can't be had.
    pub fn read(args: &SearchArgs) -> Result<Plan> {
        if !args.ripgrep.pattern_files.is_empty() {
            let mut args = args.clone();
            let of_files = args.ripgrep.patterns(&args.regexp)?;
            args.regexp.extend(of_files);
            args.ripgrep.pattern_files.clear();
            return Plan::read(&args);
        }
        let words = match (args.json_schema, args.type_list) {
            (true, _) => CommandWords::new(Task::JsonSchema, Question::default(), Vec::new()),
            (_, true) => CommandWords::new(Task::TypeList, Question::default(), Vec::new()),
            _ => Plan::read_search(args)?,
        };
        let mut request = args.request(words.question, words.paths)?;
        let mut lines = args.lines();
        if let (Task::Grep, Question::Text(text)) = (&words.task, &request.question)
            && !text.is_empty()
        {
            let mut pattern = Pattern::new(text.trim());
            pattern.fixed = true;
            request.scope.pattern = Some(pattern);
            lines.text_only = true;
        }
        if matches!(words.task, Task::Rank) {
            request.read_filters(args.shards.is_some());
        }
        // A file has as many matching lines as it has; of a ranked one, one is shown unless more are asked for.
        let is_grep = matches!(words.task, Task::Grep);
        Ok(Plan {
            request,
            groups: args.groups.clone(),
            shards: args.shards.clone(),
            task: words.task,
            open: args.open_options(),
            sorting: args.ripgrep.sorting(),
            output: OutputRequest { many_lines: is_grep || args.output().many_lines, ..args.output() },
            lines,
            remote: args.remote.clone(),
            threads: args.walk.threads,
            remark: words.remark,
            misread: words.misread,
        })
    }

    /// Keeps the remarks on the command line and on settings without effect.
    pub fn hold_remarks(&self, console: &Console, settings: &Settings) {
        self.remark.iter().for_each(|text| console.hold(RemarkKind::CommandLine, text));
        console.hold_refused(settings);
    }

    fn read_search(args: &SearchArgs) -> Result<CommandWords> {
        let mut words = Plan::read_words(args)?;
        let plain_grep = matches!(words.task, Task::Grep | Task::Files);
        let of_shards = refuse_over_shards(args, &words)?;
        refuse(args, plain_grep)?;
        words.remark = words.remark.or(of_shards).or_else(|| idle(args, plain_grep));
        refuse_order(args, plain_grep, &words.question)?;
        refuse_of_facts(args, &words.question)?;
        if !plain_grep && words.paths.iter().any(|path| is_stdin(path)) {
            bail!("- (standard input) is searched by -e alone, as in: git diff | colgrep -e PATTERN -");
        }
        let is_nameless = |path: &&PathBuf| is_stdin(path) || is_stream(path);
        if let (true, Some(path)) = (args.structure.is_some(), words.paths.iter().find(is_nameless)) {
            bail!("{}: not with --ast, which knows a language by the name of a file", path.display());
        }
        if let Some(stream) = words.paths.iter().find(|path| !plain_grep && is_stream(path)) {
            bail!("{} is a stream, which -e alone searches, as in: colgrep -e PATTERN <(git diff)", stream.display());
        }
        if let (Task::Rank, true) = (&words.task, args.files_without_match) {
            words.task = Task::Without;
        }
        Ok(words)
    }

    fn read_words(args: &SearchArgs) -> Result<CommandWords> {
        let paths = |words: &[OsString]| words.iter().map(PathBuf::from).collect::<Vec<_>>();
        if args.ripgrep.files {
            return Ok(CommandWords::new(Task::Files, Question::default(), paths(&args.words)));
        }
        if let Some(depth) = args.depth {
            refuse_with_depth(args)?;
            let task = Task::Levels(depth);
            return Ok(CommandWords::new(task, Question::Every, paths(&args.words)));
        }
        if let Some(like) = &args.like {
            let question = match like.parse() {
                Ok(id) => Question::LikeUnit(id),
                Err(_) => {
                    let (file, line) = super::line::parse(like).context("--like")?;
                    Question::Like { file, line }
                }
            };
            return Ok(CommandWords::new(Task::Rank, question, paths(&args.words)));
        }
        if let Some(file) = &args.queries_from {
            let task = Task::Many(file.clone());
            return Ok(CommandWords::new(task, Question::default(), paths(&args.words)));
        }
        if let Some(text) = &args.query {
            return Ok(CommandWords { paths: paths(&args.words), ..Plan::asked(args, text)? });
        }
        let words = args.words.split_first();
        let facts = args.facts();
        let is_filtered = args.has_pattern() || !facts.allow_all();
        if is_filtered && words.is_none_or(|(first, rest)| is_place(first, rest)) {
            let (task, question) = match facts.allow_all() {
                true => (Task::Grep, Question::default()),
                false => (Task::Rank, Question::Every),
            };
            return Ok(CommandWords::new(task, question, paths(&args.words)));
        }
        let Some((first, rest)) = words else {
            return Err(without_query(args, "no query"));
        };
        let mut asked = Plan::asked(args, first)?;
        let text = first.to_string_lossy();
        // Beside a pattern, a path is more usual than a query.
        if args.has_pattern() && !text.contains(char::is_whitespace) {
            let told = format!("there is no file or folder {text:?} here, so it is the query (--query {text})");
            asked.misread = Some(told);
        }
        Ok(CommandWords { paths: paths(rest), ..asked })
    }

    /// The task of a query: a ranking, or for a query without words a literal search.
    fn asked(args: &SearchArgs, text: &OsStr) -> Result<CommandWords> {
        let mut question = query(args, text)?;
        let (mut task, mut remark) = (Task::Rank, None);
        if let Question::Text(text) = &mut question
            && has_no_word(text)
            && !args.has_pattern()
        {
            // A phrase in quotes.
            let inner = text.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            if let Some(inner) = inner.filter(|inner| !inner.trim().is_empty() && !inner.contains('"')) {
                *text = inner.to_string();
            }
            if text.trim().contains('\n') {
                bail!(
                    "{:?} has no words to rank by; describe it in words, or search for one line of it with -F -e",
                    in_short(text)
                );
            }
            if let Some(flags) = given(&args.structure_flags()) {
                bail!(
                    "{:?} has no words to rank by; give it as -F -e TEXT, and {flags} lists the units that contain it",
                    in_short(text)
                );
            }
            task = Task::Grep;
            if args.shards.is_none() {
                let idle = given(&args.unit_flags()).map_or(String::new(), |flags| format!("; ignoring {flags}"));
                remark = Some(format!(
                    "{:?} has no words to rank by: searching for it as text (-F -e){idle}",
                    in_short(text)
                ));
            }
        }
        Ok(CommandWords { task, question, paths: Vec::new(), remark, misread: None })
    }
}

/// Whether a word after `-e` is a path rather than the query: it exists, contains a `/`, or has a language's extension
/// and is followed by paths.
fn is_place(word: &OsStr, others: &[OsString]) -> bool {
    let (path, text) = (Path::new(word), word.to_string_lossy());
    let has_extension = || path.extension().is_some() && !language::is_unknown(language::detect(path, &[]));
    let is_missing = || text.contains('/') || (!others.is_empty() && has_extension());
    // A link that leads nowhere is a path all the same.
    let is_there = path.symlink_metadata().is_ok();
    word.is_empty() || is_stdin(path) || is_there || (!text.contains(char::is_whitespace) && is_missing())
}

fn query(args: &SearchArgs, text: &OsStr) -> Result<Question> {
    let Some(text) = text.to_str() else { bail!("the query is not valid UTF-8") };
    if text.trim().is_empty() {
        return Err(without_query(args, "the query is empty"));
    }
    check_length(text.as_bytes())?;
    Ok(Question::Text(text.to_string()))
}

/// What is missing from a command line without a query.
fn without_query(args: &SearchArgs, why: &str) -> anyhow::Error {
    match given(&args.file_flags()) {
        Some(flags) => {
            anyhow!("{why}; beside {flags}, say what to look for, or list files with --files, definitions with --kind")
        }
        None => anyhow!("{why}; say what to look for, as in: colgrep \"parse request\" (`colgrep -h` lists the flags)"),
    }
}

/// The flags among these that are given.
fn given(flags: &[(bool, &'static str)]) -> Option<String> {
    let names: Vec<&str> = flags.iter().filter(|f| f.0).map(|f| f.1).collect();
    Some(names.join(" and ")).filter(|names| !names.is_empty())
}

/// Refuses what a list of the names of all files can't have.
fn refuse_of_names(args: &SearchArgs) -> Result<()> {
    let units = [
        (args.units, "--units"),
        (args.per_file.is_some(), "--per-file"),
        (args.pack.is_some(), "--pack"),
        (args.max_tokens.is_some(), "--max-tokens"),
    ];
    let columns = &args.line_flags()[2..];
    let of_lists = [&args.structure_flags()[..], &units, &args.around_flags(), columns].concat();
    let others = [of_lists, args.ranking_flags(), args.background_flags(), args.indexing_flags()];
    match given(&others.concat()) {
        Some(flags) => {
            bail!("{flags}: not with --files, which only lists the names of files")
        }
        None => Ok(()),
    }
}

/// Refuses what calls over several levels can't have.
fn refuse_with_depth(args: &SearchArgs) -> Result<()> {
    if args.calls.is_empty() == args.called_by.is_empty() {
        bail!("--depth follows one of --calls and --called-by, as in: colgrep --calls parse_request --depth 3");
    }
    let others = [
        (args.query.is_some(), "--query"),
        (args.like.is_some(), "--like"),
        (args.queries_from.is_some(), "--queries-from"),
        (!args.regexp.is_empty(), "-e"),
        (args.structure.is_some(), "--ast"),
        (args.results.is_some(), "-k"),
        (args.units, "--units"),
        (args.per_file.is_some(), "--per-file"),
        (args.files_without_match, "-L"),
        (args.count, "--count"),
        (args.content, "-c"),
    ];
    let output = [
        (args.pack.is_some(), "--pack"),
        (args.max_tokens.is_some(), "--max-tokens"),
        (args.format() == Format::Vimgrep, "--vimgrep"),
    ];
    match given(&[&others[..], &args.around_flags(), &args.line_flags()[2..], &output].concat()) {
        Some(flags) => bail!("{flags}: without effect on --depth, which lists units by level; leave out one of them"),
        None => Ok(()),
    }
}

/// Refuses what a search over shards can't have: their indexes are on other machines. Returns what to say of a query that
/// is the name of a command.
fn refuse_over_shards(args: &SearchArgs, words: &CommandWords) -> Result<Option<String>> {
    if args.shards.is_none() {
        return Ok(None);
    }
    let walk = &args.walk;
    let here = [
        (walk.hidden, "--hidden"),
        (walk.no_hidden, "--no-hidden"),
        (walk.secrets, "--secrets"),
        (walk.no_secrets, "--no-secrets"),
        (walk.no_ignore, "--no-ignore"),
        (args.ripgrep.unrestricted > 0, "-u"),
        (walk.max_filesize.is_some(), "--max-filesize"),
        (walk.yes, "-y"),
        (args.no_update, "--no-update"),
        (args.wait, "--wait"),
        (walk.index_mode.is_some(), "--index-mode"),
    ];
    if let Some(flags) = given(&here) {
        bail!("{flags}: not with --shards, whose indexes are built on other machines");
    }
    let near = [
        (
            !args.groups.is_empty(),
            "--group",
            "names folders of this machine; a path behind the query names a repository",
        ),
        (args.like.is_some(), "--like", "reads a unit of this machine"),
        (args.near.is_some(), "--near", "names a file of this machine"),
        (args.remote.is_some(), "--remote", "gives this machine an index"),
        (args.structure.is_some(), "--ast", "parses files of this machine"),
    ];
    if let Some((_, flag, why)) = near.into_iter().find(|(is_given, ..)| *is_given) {
        bail!("{flag} {why}, and --shards searches other machines; leave out one of them");
    }
    if let (Question::Text(text), None) = (&words.question, &args.query)
        && SUBCOMMANDS.contains(&text.as_str())
    {
        let of_shards = if text == "status" { " --shards FILE" } else { "" };
        return Ok(Some(format!("{text:?} after --shards is the query; the command is: colgrep {text}{of_shards}")));
    }
    Ok(None)
}

/// What to say of flags for lines that the form of the output has no place for. As in ripgrep they are no error, since an
/// alias may give them.
fn idle(args: &SearchArgs, plain_grep: bool) -> Option<String> {
    let (around, of_lines, null) = (args.around_flags(), args.line_flags(), (args.null, "-0"));
    let [number, name, column, width] = of_lines;
    let headings = [(args.heading, "--heading"), (args.ripgrep.pretty, "the heading of -p")];
    let with_around = |others: &[_]| [&around[..], others, &headings].concat();
    let is_json = args.format().is_json();
    let (flags, why) = match () {
        () if args.silent => return None,
        () if args.queries_from.is_some() => (headings.to_vec(), "--queries-from prints JSON"),
        () if is_json && (args.names_only() || args.files_without_match || args.ripgrep.files) => {
            (with_around(&[number, name, column, width, null]), "JSON rows have the file")
        }
        () if is_json && plain_grep => (with_around(&[number, name, width, null]), "JSON rows have the matching line"),
        () if is_json => (with_around(&[number, name, width, null]), "JSON rows have the whole unit (`code`)"),
        () if args.files_only || args.files_without_match || args.ripgrep.files => {
            (with_around(&of_lines), "only names of files are printed")
        }
        () if args.depth.is_some() => (headings.to_vec(), "--depth lists units by level"),
        () if args.count => (with_around(&[number, column, width]), "only names and numbers are printed"),
        () if args.format() == Format::Vimgrep => {
            (with_around(&[number]), "a row of --vimgrep is a place with its line")
        }
        () if args.pack.is_some() => (of_lines.to_vec(), "a pack has units"),
        () if args.content => (vec![around[0]], "-c shows whole units"),
        () if args.invert_match => (vec![column], "a line without a match has no column"),
        () => return None,
    };
    Some(format!("ignoring {}: {why}", given(&flags)?))
}

/// Refuses what names or numbers of files (-l, -L, --count) can't have.
fn refuse_of_files(args: &SearchArgs) -> Result<()> {
    let forms = [(args.files_only, "-l"), (args.files_without_match, "-L"), (args.count, "--count")];
    let of_units = [
        (args.content, "-c"),
        (args.per_file.is_some(), "--per-file"),
        (args.explain, "--explain"),
        (args.files_without_match && args.units, "--units"),
        (args.files_without_match && args.min_strength.is_some(), "--min-strength"),
    ];
    match (given(&of_units), given(&forms)) {
        (Some(flags), Some(form)) => bail!("{flags}: not with {form}, which prints no units; leave out one of them"),
        _ => Ok(()),
    }
}

/// Refuses what the matches of lines alone (-o) can't have.
fn refuse_of_matches(args: &SearchArgs) -> Result<()> {
    let others = [(args.files_only, "-l"), (args.files_without_match, "-L"), (args.lines.is_some(), "-n")];
    match given(&others) {
        Some(flags) if args.only_matching => {
            bail!("{flags}: not with -o, which prints matches alone")
        }
        _ => Ok(()),
    }
}

/// Refuses flags that would change nothing, since the caller expects an effect.
fn refuse(args: &SearchArgs, plain_grep: bool) -> Result<()> {
    if args.perl_regexp {
        bail!("-P is not supported: patterns are Rust regexes, as in ripgrep, without look-around and back-references");
    }
    if args.semantic_only && args.walk.index_mode == Some(IndexMode::Keyword) {
        bail!("--semantic-only ranks by meaning and --index-mode keyword does without; leave one of them out");
    }
    refuse_of_files(args)?;
    if let (Some(_), Some(flags)) = (&args.queries_from, given(&args.line_flags())) {
        bail!("{flags}: not with --queries-from, which prints JSON");
    }
    if args.remote.is_some() && args.no_update {
        bail!(
            "--remote takes an index from there, and --no-update searches the one that is here; leave one of them out"
        );
    }
    if args.wait && args.no_update {
        bail!("--wait reads what changed, and --no-update leaves it unread; leave one of them out");
    }
    if args.explain && args.format() == Format::Vimgrep {
        bail!("--explain prints lines between the rows of --vimgrep; --json has both in each row");
    }
    if args.ripgrep.files {
        refuse_of_names(args)?;
    }
    let lines = [(args.invert_match, "-v"), (args.only_matching, "-o"), (args.max_count.is_some(), "-m")];
    let patterns = [
        (args.fixed_strings, "-F"),
        (args.word_regexp, "-w"),
        (args.line_regexp, "-x"),
        (args.ignore_case, "-i"),
        (args.smart_case, "-S"),
        (args.ripgrep.multiline, "-U"),
    ];
    if args.regexp.is_empty() {
        // Names of code are compared too.
        let of_pattern: Vec<_> =
            patterns.into_iter().filter(|(_, flag)| *flag != "-i" || args.facts().allow_all()).collect();
        let of_lines = if args.structure.is_some() { &[] } else { &lines[..] };
        if let Some(flags) = given(&[&of_pattern[..], of_lines].concat()) {
            let typed = flags.replace(" and", "").replace("-m", &format!("-m {}", args.max_count.unwrap_or(1)));
            bail!("{flags}: only with a pattern, as in: colgrep {typed} -e PATTERN [PATH]...");
        }
    }
    if args.structure.is_some() && args.invert_match {
        bail!("-v: not with --ast, whose matches are no lines");
    }
    if !args.has_pattern() {
        return Ok(());
    }
    if plain_grep {
        let pattern = if args.regexp.is_empty() { "--ast" } else { "-e" };
        if let Some(flags) = given(&args.unit_flags()) {
            let counts = if args.content { " (--count counts)" } else { "" };
            bail!("{flags}: only with a query; {pattern} alone lists matching lines{counts}");
        }
        if let Some(flags) = given(&args.indexing_flags()) {
            bail!("{flags}: only with a query; {pattern} alone doesn't use the index");
        }
        refuse_of_matches(args)?;
    } else if let Some(flags) = given(&lines) {
        bail!("{flags}: only with -e alone; with a query, whole units are found");
    }
    Ok(())
}

/// Refuses an order that the task doesn't support.
fn refuse_order(args: &SearchArgs, plain_grep: bool, question: &Question) -> Result<()> {
    let sorts = [(args.ripgrep.sort.is_some(), "--sort"), (args.ripgrep.sortr.is_some(), "--sortr")];
    let Some(flags) = given(&sorts).filter(|_| !plain_grep) else { return Ok(()) };
    match question {
        Question::Every => {
            bail!("{flags}: not with --calls, --called-by and --kind, whose lists are sorted by path")
        }
        _ => bail!("{flags}: not with a query, whose results are ranked; `colgrep QUERY -l | sort` sorts by path"),
    }
}

/// Refuses what a list of units by facts of their code can't have.
fn refuse_of_facts(args: &SearchArgs, question: &Question) -> Result<()> {
    match given(&[args.ranking_flags(), args.background_flags()].concat()) {
        Some(flags) if *question == Question::Every => {
            bail!("{flags}: only with a query; without one, --calls, --called-by and --kind give a list sorted by path")
        }
        _ => Ok(()),
    }
}
