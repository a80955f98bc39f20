//! Errors that name a way out: a flag or a command for people, a tool or a parameter for agents.

use std::fmt;
use std::io::ErrorKind as Refusal;

use colgrep_core::expand::TermTable;
use colgrep_encoder::Error as ModelError;
use colgrep_engine::{Error as EngineError, Refused, SettingError};
use colgrep_index::{Error as IndexError, ErrorKind};
#[cfg(feature = "share")]
use colgrep_share::Error as RemoteError;

use crate::path::typed;
use crate::words::shell_word;

/// An error, with advice in terms of the command line and of the server's tools.
#[derive(Clone, Debug)]
pub struct Hinted {
    /// What went wrong.
    pub what: String,
    /// The way out on the command line.
    pub shell: String,
    /// The way out by a tool.
    pub tool: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.shell)
    }
}

impl std::error::Error for Hinted {}

/// A part of an error's text, and its replacement.
struct Mended {
    said: String,
    hinted: Hinted,
}

impl Mended {
    /// The same words, and a way out for people and for agents.
    fn adding(error: &dyn std::error::Error, shell: impl Into<String>, tool: impl Into<String>) -> Mended {
        let said = error.to_string();
        Mended { hinted: Hinted { what: said.clone(), shell: shell.into(), tool: tool.into() }, said }
    }

    /// The same words, and a way out that is the same for both.
    fn with(error: &dyn std::error::Error, way: impl Into<String>) -> Mended {
        let way = way.into();
        Mended::adding(error, way.clone(), way)
    }

    /// A message that already includes the advice.
    fn instead(error: &dyn std::error::Error, what: String) -> Mended {
        Mended { said: error.to_string(), hinted: Hinted { what, shell: String::new(), tool: String::new() } }
    }
}

/// The way out of an error of the engine, where there is one.
fn mended(error: &EngineError, takes_yes: bool) -> Option<Mended> {
    match error {
        EngineError::Refused(refused) => of_refused(refused, takes_yes),
        EngineError::Setting(error) => of_setting(error),
        EngineError::NoIndex { .. } => Some(Mended::with(error, "leave out --no-update, or run `colgrep init`")),
        // If the disk is at fault, the advice follows the cause.
        EngineError::NoPlace { source, .. } if for_index(source).is_none() => {
            Some(Mended::with(error, "COLGREP_DATA_DIR=FOLDER names another one"))
        }
        _ => None,
    }
}

/// Advice for an invalid setting or variable.
fn of_setting(error: &SettingError) -> Option<Mended> {
    match error {
        SettingError::File { source, .. } => of_setting(source),
        SettingError::Unknown { .. } => Some(Mended::with(error, "`colgrep settings` lists them all")),
        SettingError::UnknownVariable { .. } => {
            Some(Mended::with(error, "`colgrep knobs` and `colgrep --help` list them all"))
        }
        SettingError::NoFolder => Some(Mended::with(error, "set COLGREP_DATA_DIR to one")),
        _ => None,
    }
}

/// The way out of what the engine refuses.
fn of_refused(refused: &Refused, takes_yes: bool) -> Option<Mended> {
    Some(match refused {
        Refused::Type { known, .. } => Mended::adding(
            refused,
            "`colgrep --type-list` shows them",
            format!("`languages` takes {}", known.join(", ")),
        ),
        Refused::Pattern { .. } => {
            Mended::adding(refused, "use -F to search for it as plain text", "`fixed` searches for it as plain text")
        }
        Refused::NoCode { .. } => Mended::with(
            refused,
            "write a whole expression, statement or definition, as in 'foo($A, $$$)'; -e searches for text",
        ),
        Refused::LineEnd { .. } => Mended::adding(
            refused,
            "-U (--multiline) searches across lines",
            "leave it out (`$` matches where a line ends)",
        ),
        Refused::NoTerms { .. } | Refused::Terms { .. } => {
            let names = TermTable::BUILT_IN.join(", ");
            let takes = format!("takes {names}, or a file of JSON: {{\"word\": [\"term\", \"another\"]}}");
            Mended::adding(refused, format!("--expand {takes}"), format!("`expand` {takes}"))
        }
        Refused::NoUnitWith { .. } => {
            let gone = "ids change with a unit's lines";
            Mended::adding(
                refused,
                format!("{gone}; --json gives the current ones"),
                format!("{gone}; `search` gives the current ones"),
            )
        }
        Refused::NotIndexed { root, path } => {
            let what = format!("{} is not indexed", typed(root, path));
            let shell = "`colgrep status` says what is skipped and why".to_string();
            let tool = "`outline` and `pattern` read it all the same".to_string();
            Mended { said: refused.to_string(), hinted: Hinted { what, shell, tool } }
        }
        Refused::NoUnit { root, path, line } => {
            let path = typed(root, path);
            let what = format!("{path} has no unit on line {line}");
            let shell = format!("`colgrep outline {path}` lists its units");
            let tool = "`outline` lists its units".to_string();
            Mended { said: refused.to_string(), hinted: Hinted { what, shell, tool } }
        }
        Refused::NoRepository { root, since, .. } => {
            let root = root.display();
            Mended::instead(refused, format!("{} needs a git repository, and {root} is not in one", changes(since)))
        }
        Refused::NoGit { since, .. } => Mended::instead(refused, format!("{} asks git", changes(since))),
        Refused::NoCommit { .. } => Mended::instead(refused, format!("--since {refused}")),
        Refused::NotVersioned { .. } => Mended::with(refused, "name what changed as FILE or FILE:LINE"),
        Refused::NoRevision { .. } => {
            Mended::with(refused, "a change is a commit, A...B, or a file as FILE or FILE:LINE")
        }
        Refused::Shallow { .. } => Mended::with(refused, "`git fetch --deepen 1` brings it"),
        Refused::NotFetched { id, .. } => Mended::with(
            refused,
            format!("`colgrep init --model {id}` fetches it, and `--model default` takes the one in the program"),
        ),
        Refused::Group { untrusted: None, .. } => Mended::adding(
            refused,
            "`colgrep settings groups.NAME FOLDER…` makes one",
            "`groups` takes names of the user's settings, `paths` folders",
        ),
        Refused::Group { untrusted: Some(_), .. } => Mended::with(refused, "`colgrep settings --trust` there does so"),
        Refused::EmptyPath => Mended::with(refused, "say . for the current folder"),
        Refused::Gone { path } => Mended::adding(
            refused,
            format!("`colgrep log -- {}` lists what mentions it", shell_word(path)),
            "its path without lines asks for what mentions it",
        ),
        Refused::OtherProject { .. } => Mended::with(refused, "name a folder of its project"),
        _ => return of_root(refused, takes_yes),
    })
}

/// Advice for a folder that is not indexed without confirmation. A command that doesn't take it (`takes_yes`) searches
/// what another has indexed.
fn of_root(refused: &Refused, takes_yes: bool) -> Option<Mended> {
    let (instead, all, root) = match refused {
        Refused::LoneFile { root } => {
            let root = root.display();
            return Some(Mended::adding(
                refused,
                format!("name its folder {root} to index all of it, or search the file with -e PATTERN"),
                SERVED_FOLDER,
            ));
        }
        Refused::NoProject { root } | Refused::Temporary { root } | Refused::ManyFiles { root, .. } => {
            ("a folder inside it", "all of it", root)
        }
        Refused::Repositories { root, .. } => ("one of them", "all of them as one project", root),
        _ => return None,
    };
    let way = match takes_yes {
        true => format!("name {instead}, or pass -y to index {all}"),
        false => {
            let root = shell_word(&root.to_string_lossy());
            format!("go to {instead}, or `colgrep init -y {root}` indexes {all}")
        }
    };
    Some(Mended::adding(refused, way, SERVED_FOLDER))
}

/// The way out for an agent where its server was started in no project: a tool has no flags.
const SERVED_FOLDER: &str =
    "the server has to be started with a project's folder: `colgrep mcp FOLDER` or `colgrep serve FOLDER`";

/// The flag that asks for what changed.
fn changes(since: &Option<String>) -> &'static str {
    if since.is_some() { "--since" } else { "--changed" }
}

/// Bytes of an error for tools, at most: it may repeat a pattern or a path as long as anybody likes.
const TOOL_BYTES_MAX: usize = 1_600;

/// What helps where a model can't be opened: commands and variables, of which the library knows nothing.
fn for_model(error: &ModelError) -> Option<String> {
    match error {
        ModelError::NoFolder(_) => Some("`colgrep set-model default` goes back".into()),
        ModelError::NotFetched { id, .. } => Some(format!(
            "with a network, HTTPS_PROXY names a proxy, HF_ENDPOINT a mirror and HF_TOKEN a key; without one, put \
             model.onnx, tokenizer.json and onnx_config.json (or config_sentence_transformers.json) of \
             https://huggingface.co/{id}/tree/main into a folder and run `colgrep set-model FOLDER`"
        )),
        _ => None,
    }
}

/// What helps where an index can't be used.
const ANEW: &str = "`colgrep init` rebuilds it, `colgrep clear` removes it";

/// The way out where indexes can't be shared.
#[cfg(feature = "share")]
fn of_remote(error: &RemoteError) -> Option<String> {
    let way = match error {
        RemoteError::Unknown { .. } => "`colgrep push` shares one; --name looks for another name",
        RemoteError::OtherFormat { .. } => "`colgrep push` of this version adds one; the others stay",
        RemoteError::Refused { .. } => "`colgrep init` builds one here; `colgrep push --anew` replaces the one there",
        RemoteError::NewerLayout { .. } => "update colgrep",
        RemoteError::Foreign { .. } => "update colgrep, or name another folder; nothing was changed",
        RemoteError::OtherRepository { .. } => "somebody copied it there: remove that folder, or name another one",
        RemoteError::Gone { .. } => "`colgrep push` puts what is missing there again",
        RemoteError::DamagedManifest { .. } | RemoteError::DamagedBlob { .. } => {
            "`colgrep push --anew` sends the index again; nothing was changed here"
        }
        RemoteError::Denied { .. } => "ask for the right, or see which credentials are set (AWS_PROFILE and the like)",
        RemoteError::Plain { .. } => "`colgrep settings remote_http true` allows that",
        _ => return None,
    };
    Some(way.to_string())
}

/// What helps where the system refuses to write, or has no memory.
pub fn for_disk(refused: Refusal) -> Option<&'static str> {
    match refused {
        Refusal::StorageFull | Refusal::QuotaExceeded => {
            Some("free room there, or name another folder for indexes: COLGREP_DATA_DIR=FOLDER")
        }
        Refusal::FileTooLarge => {
            Some("raise the limit (`ulimit -f`), or name another folder for indexes: COLGREP_DATA_DIR=FOLDER")
        }
        Refusal::ReadOnlyFilesystem | Refusal::PermissionDenied => {
            Some("COLGREP_DATA_DIR=FOLDER names another folder for indexes")
        }
        Refusal::OutOfMemory => Some(
            "close something, raise the limits (`ulimit -v`, `ulimit -u`), or leave large files out with --max-filesize",
        ),
        _ => None,
    }
}

/// What helps where an index can't be used or written.
fn for_index(error: &IndexError) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::Unusable => Some(ANEW),
        _ => error.refused().and_then(for_disk),
    }
}

/// An error of the index with its causes, and what helps.
pub fn of_index(error: &IndexError) -> String {
    let way = for_index(error).map_or_else(String::new, |way| format!("; {way}"));
    error.full() + &way
}

/// An error with its causes, and what helps, on the command line.
pub fn told(error: &anyhow::Error) -> String {
    told_by(error, true)
}

/// The same for a command that may not take the flag `-y`.
pub fn told_by(error: &anyhow::Error, takes_yes: bool) -> String {
    in_words(error, takes_yes, |hinted| &hinted.shell)
}

/// An error with its causes, and the way out that `way` takes of a hint.
fn in_words(error: &anyhow::Error, takes_yes: bool, way: impl Fn(&Hinted) -> &str) -> String {
    let index = |cause: &IndexError| for_index(cause).map(str::to_string);
    // Context that was added to an error is not one of its causes.
    let engine = || error.downcast_ref().or_else(|| error.chain().find_map(|cause| cause.downcast_ref()));
    let setting = || error.chain().find_map(|cause| of_setting(cause.downcast_ref()?));
    let advice = error.chain().find_map(|cause| match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(EngineError::Model(error)), _) => for_model(error),
        (Some(error), _) => index(error.of_index()?),
        (_, Some(error)) => index(error),
        _ => for_model(cause.downcast_ref::<ModelError>()?),
    });
    #[cfg(feature = "share")]
    let advice = advice.or_else(|| error.chain().find_map(|cause| of_remote(cause.downcast_ref()?)));
    let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
    let text = format!("{error:#}{advice}");
    let mended = engine().and_then(|error| mended(error, takes_yes)).or_else(setting);
    let Some(Mended { said, hinted }) = mended else { return text };
    let (what, way) = (&hinted.what, way(&hinted));
    let told = match (way, what.ends_with('?')) {
        ("", _) => what.clone(),
        (_, true) => format!("{what} {way}"),
        (_, false) => format!("{what}; {way}"),
    };
    text.replacen(&said, &told, 1)
}

/// An error in the form for tools; the middle of a long one is cut out.
pub fn for_tools(error: &anyhow::Error) -> String {
    without_middle(in_words(error, false, |hinted| &hinted.tool), TOOL_BYTES_MAX)
}

/// Truncates a text to `bytes_max` bytes by cutting out its middle: the end of a message says what to do.
pub fn without_middle(mut text: String, bytes_max: usize) -> String {
    const CUT: &str = " […] ";
    if text.len() > bytes_max {
        let half = bytes_max.saturating_sub(CUT.len()) / 2;
        let (begin, end) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
        text.replace_range(begin..end, CUT);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_not_there_says_what_to_put_where() {
        let told = |error: ModelError| told(&anyhow::Error::from(error).context("search"));
        assert_eq!(
            told(ModelError::NoFolder("m".into())),
            "search: there is no model folder m; `colgrep set-model default` goes back"
        );
        let (id, cache, endpoint) = ("owner/name".to_string(), "cache".into(), "http://127.0.0.1:1".to_string());
        let text = told(ModelError::NotFetched { id, cache, endpoint, source: "HF_HUB_OFFLINE is set".into() });
        for part in [
            "can't be fetched from http://127.0.0.1:1: HF_HUB_OFFLINE is set; with a network",
            "huggingface.co/owner/name/tree/main",
            "`colgrep set-model FOLDER`",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(told(ModelError::NoCache), format!("search: {}", ModelError::NoCache));
    }

    #[test]
    fn settings_and_roots_come_with_a_way_out_where_they_stand_in_the_text() {
        let unknown =
            |near: Option<&str>| SettingError::Unknown { key: "colour".into(), near: near.map(str::to_string) };
        let in_file = |source| SettingError::File { path: "a.toml".into(), source: Box::new(source) };
        let damaged = || IndexError::Damaged { what: "the end is cut".into(), source: None };
        for (error, expected) in [
            (
                EngineError::from(in_file(unknown(Some("color")))),
                "a.toml: there is no setting \"colour\"; did you mean \"color\"? `colgrep settings` lists them all",
            ),
            (unknown(None).into(), "there is no setting \"colour\"; `colgrep settings` lists them all"),
            (
                SettingError::UnknownVariable { name: "COLGREP_K9".into(), near: Some("COLGREP_K1".into()) }.into(),
                "COLGREP_K9 is not a setting of colgrep; did you mean COLGREP_K1? `colgrep knobs` and `colgrep --help` list them all",
            ),
            (
                SettingError::UnknownVariable { name: "COLGREP_BOGUS".into(), near: None }.into(),
                "COLGREP_BOGUS is not a setting of colgrep; `colgrep knobs` and `colgrep --help` list them all",
            ),
            (Refused::EmptyPath.into(), "an empty path was given; say . for the current folder"),
            (
                Refused::Gone { path: "a b.rs".into() }.into(),
                "a b.rs is no longer in the tree, so git can't say who changed its lines last; \
                 `colgrep log -- 'a b.rs'` lists what mentions it",
            ),
            (
                Refused::NoProject { root: "/".into() }.into(),
                "/ is not a project; name a folder inside it, or pass -y to index all of it",
            ),
            (
                Refused::NoCommit { since: "x".into(), is_range: false }.into(),
                "--since x: git knows no commit, branch or tag of that name",
            ),
            (damaged().into(), "the end is cut; `colgrep init` rebuilds it, `colgrep clear` removes it"),
            (
                IndexError::Io { doing: "write", path: "a".into(), source: Refusal::StorageFull.into() }.into(),
                "could not write a: no storage space; free room there, or name another folder for indexes: \
                 COLGREP_DATA_DIR=FOLDER",
            ),
            (
                IndexError::Io { doing: "read", path: "a".into(), source: Refusal::OutOfMemory.into() }.into(),
                "could not read a: out of memory; close something, raise the limits (`ulimit -v`, `ulimit -u`), or leave \
                 large files out with --max-filesize",
            ),
            (
                EngineError::NoPlace {
                    root: "a".into(),
                    source: IndexError::Io {
                        doing: "create",
                        path: "b".into(),
                        source: Refusal::ReadOnlyFilesystem.into(),
                    },
                },
                "the index of a has no place: could not create b: read-only filesystem or storage medium; \
                 COLGREP_DATA_DIR=FOLDER names another folder for indexes",
            ),
            (
                EngineError::NoIndex { root: "a".into(), source: damaged() },
                "a has no index that this colgrep can read; leave out --no-update, or run `colgrep init`: the end is cut; \
                 `colgrep init` rebuilds it, `colgrep clear` removes it",
            ),
            (
                ModelError::NoFolder("m".into()).into(),
                "there is no model folder m; `colgrep set-model default` goes back",
            ),
        ] {
            assert_eq!(told(&error.into()), expected);
        }
    }

    #[test]
    fn a_command_without_the_flag_is_not_told_of_it() {
        let told = |refused: Refused| told_by(&EngineError::from(refused).into(), false);
        assert_eq!(
            told(Refused::NoProject { root: "/a b".into() }),
            "/a b is not a project; go to a folder inside it, or `colgrep init -y '/a b'` indexes all of it"
        );
        let (first, second) = ("a".into(), "b".into());
        assert_eq!(
            told(Refused::Repositories { root: "/src".into(), first, second }),
            "/src holds several git repositories (a, b); go to one of them, or `colgrep init -y /src` indexes all of them \
             as one project"
        );
    }

    #[test]
    fn tools_are_told_in_their_words_and_in_few() {
        let pattern = || Refused::Pattern { pattern: "(".into(), source: "it is open".into() };
        let refused = || anyhow::Error::from(EngineError::from(pattern())).context("search");
        let what = "search: \"(\" is not a valid pattern";
        let why = ": it is open";
        assert_eq!(for_tools(&refused()), format!("{what}; `fixed` searches for it as plain text{why}"));
        assert_eq!(told(&refused()), format!("{what}; use -F to search for it as plain text{why}"));
        let long = for_tools(&anyhow::anyhow!("begins {} ends", "é".repeat(TOOL_BYTES_MAX)));
        assert!(long.starts_with("begins éé") && long.ends_with("éé ends") && long.contains("é […] é"), "{long}");
        assert!(long.len() <= TOOL_BYTES_MAX + " […] ".len());
    }
}
