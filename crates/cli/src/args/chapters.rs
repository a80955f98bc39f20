//! What help, manual page and reference say besides the flags: examples, exit status, environment, files.

/// Longest line that is laid out in two columns.
const LINE_MAX: usize = 100;
/// Examples that `-h` shows, from the front.
const EXAMPLES_IN_BRIEF: usize = 6;

pub(crate) struct Chapter {
    pub title: &'static str,
    /// Names (or commands) with what they mean.
    pub rows: &'static [(&'static str, &'static str)],
}

/// All chapters, in order.
pub(crate) static CHAPTERS: [Chapter; 4] = [
    Chapter {
        title: "Examples",
        rows: &[
            ("colgrep \"parse request\"", "find files about parsing requests"),
            ("colgrep parseRequest src -k 5", "find where a name is defined, only in src"),
            ("colgrep -e 'TODO|FIXME'", "print every matching line, like grep"),
            ("colgrep -e unsafe \"ring buffer\"", "rank units with a match by the query"),
            ("colgrep \"retry\" --changed -c", "show whole units, only from uncommitted files"),
            ("colgrep --like src/queue.rs:40", "find units similar to the one on that line"),
            ("colgrep -e unsafe --query queue src", "rank by `queue`, which is also a folder"),
            ("colgrep \"rate limit\" --json | jq .", "print JSON (also --jsonl, --vimgrep and -0)"),
            ("colgrep outline src/queue.rs", "list the units of one file"),
            ("colgrep install claude-code", "set up a coding agent"),
        ],
    },
    Chapter {
        title: "Exit status",
        rows: &[("0", "something found"), ("1", "nothing found"), ("2", "error, with a message on stderr")],
    },
    Chapter {
        title: "Environment",
        rows: &[
            ("COLGREP_DATA_DIR", "folder for indexes"),
            ("COLGREP_PROFILE", "default or classic; --profile takes precedence"),
            (
                "COLGREP_BACKGROUND",
                "0 or 1: whether a search continues indexing in the background; default: the setting `background`, or \
                 0 where CI is set",
            ),
            (
                "COLGREP_WAIT",
                "1: a search waits until its index is complete; 0: it answers from what is indexed; default: it spends \
                 at most two seconds on indexing",
            ),
            ("COLGREP_PROGRESS", "0 or 1: whether to show the progress of indexing and transfers on stderr; default 1"),
            ("COLGREP_TRACE", "1: print one line of JSON per ranking step on stderr"),
            ("COLGREP_TOKEN", "token that `serve` requires from requests; --token-file takes precedence"),
            ("COLGREP_SHARD_TOKEN", "token to send to shards (--shards)"),
            ("COLGREP_...", "ranking constants, listed by `colgrep knobs`; an unknown name is an error"),
            ("XDG_CONFIG_HOME, XDG_DATA_HOME", "folders for settings and data, instead of the platform's"),
            ("GIT_CONFIG_...", "where git reads its configuration, and so its ignore rules"),
            ("TMPDIR, TEMP, TMP", "temporary folder, not indexed as a project without -y"),
            ("HOME, USERPROFILE", "home folder, which contains the agents' files"),
            (
                "CLAUDE_CONFIG_DIR, CLINE_DIR, CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME",
                "the agents' folders, for `install` and `uninstall`",
            ),
            ("AMP_SETTINGS_FILE, OPENCODE_CONFIG_DIR", "Amp's settings and OpenCode's folder, likewise"),
            ("PATH", "where `install` looks up the path of this program"),
            (
                "ORT_DYLIB_PATH",
                "full path of ONNX Runtime's library or its folder; by default, searched beside the program, in Python \
                 environments (VIRTUAL_ENV, CONDA_PREFIX, PATH) and in the system, but never inside a project",
            ),
            (
                "HF_HOME, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, HTTPS_PROXY",
                "for Hugging Face models: cache folder, mirror, token, no network, proxy",
            ),
            (
                "NO_COLOR, CLICOLOR=0, CLICOLOR_FORCE, TERM=dumb",
                "colour off, off, on, off by default with --color auto",
            ),
        ],
    },
    Chapter {
        title: "Files",
        rows: &[
            (
                "~/.config/colgrep/config.toml",
                "user settings, shown and written by `colgrep settings`; in $XDG_CONFIG_HOME/colgrep if set, else \
                 ~/Library/Application Support/colgrep on macOS, %APPDATA%\\colgrep on Windows",
            ),
            ("~/.config/colgrep/installs", "a record of what `install` wrote, beside the user settings"),
            (
                ".colgrep.toml",
                "repository settings: the nearest file from the current folder up to the repository's root. Flags \
                 override the environment, then repository, user and default settings",
            ),
            (".gitignore, .ignore, .colgrepignore", "files not to index; the last is only read by colgrep"),
            (
                "~/.local/share/colgrep/indices",
                "indexes, one folder per project; in $COLGREP_DATA_DIR, else $XDG_DATA_HOME/colgrep/indices, else on \
                 macOS below ~/Library/Application Support, on Windows below %APPDATA%",
            ),
        ],
    },
];

impl Chapter {
    /// The column where meanings begin, if the chapter fits into two.
    fn column(&self) -> Option<usize> {
        let column = self.rows.iter().map(|(name, _)| name.len() + 4).max()?;
        self.rows.iter().all(|(_, meaning)| column + meaning.len() <= LINE_MAX).then_some(column)
    }

    fn lines(&self) -> String {
        let column = self.column();
        let line = |(name, meaning): &(&str, &str)| match column {
            Some(column) => format!("{:column$}{meaning}", format!("  {name}")),
            None => format!("  {name}\n          {meaning}"),
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn markdown(&self) -> String {
        let escaped = |text: &str| text.replace('|', "\\|");
        let body = match self.column() {
            Some(_) => format!("```text\n{}\n```\n", self.lines()),
            None => {
                let row = |(name, meaning): &(&str, &str)| format!("| `{}` | {} |\n", escaped(name), escaped(meaning));
                format!("| name | meaning |\n|---|---|\n{}", self.rows.iter().map(row).collect::<String>())
            }
        };
        format!("\n### {}\n\n{body}", self.title)
    }
}

fn text(chapters: &[Chapter]) -> String {
    chapters.iter().map(|c| format!("{}:\n{}", c.title, c.lines())).collect::<Vec<_>>().join("\n\n")
}

/// The text after the flags in `-h`.
pub(super) fn brief() -> String {
    let examples = Chapter { title: CHAPTERS[0].title, rows: &CHAPTERS[0].rows[..EXAMPLES_IN_BRIEF] };
    text(&[examples]) + "\n\nSee `colgrep --help` for all flags, commands, variables and files.\n"
}

/// The text after the flags in `--help`.
pub(super) fn whole() -> String {
    text(&CHAPTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_that_is_read_is_named() {
        let source =
            include_str!("../../../engine/src/settings/env.rs").split("#[cfg(test)]").next().unwrap_or_default();
        let arms = source.lines().filter(|l| l.trim_start().starts_with('"')).filter_map(|l| l.split_once(" => "));
        let names: Vec<&str> = arms.flat_map(|(names, _)| names.split('"').skip(1).step_by(2)).collect();
        assert!(names.len() > 15, "{names:?}");
        let of_name = |c: char| c.is_ascii_uppercase() || c == '_';
        for name in names.iter().filter(|n| n.chars().all(of_name)) {
            assert!(whole().split(|c| !of_name(c)).any(|word| word == *name), "{name}");
        }
    }
}
