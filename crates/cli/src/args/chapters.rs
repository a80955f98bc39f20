//! What help, manual page and reference say besides the flags: examples, exit status, environment, files.

/// Longest line that is laid out in two columns.
const LINE_MAX: usize = 100;

/// A chapter of the help.
pub(crate) struct Chapter {
    /// Its heading.
    pub title: &'static str,
    /// Names (or commands) with what they mean.
    pub rows: &'static [(&'static str, &'static str)],
}

/// All chapters, in order. The first two are short enough for `-h`.
pub(crate) static CHAPTERS: [Chapter; 4] = [
    Chapter {
        title: "Examples",
        rows: &[
            ("colgrep \"parse request\"", "files of this project about parsing requests"),
            ("colgrep parseRequest src -k 5", "where a name is defined, in src alone"),
            ("colgrep -e 'TODO|FIXME'", "every matching line, as grep prints it"),
            ("colgrep -e unsafe \"ring buffer\"", "units with a match, ranked by the query"),
            ("colgrep -e unsafe --query queue src", "the same, where `queue` is also the name of a folder"),
            ("colgrep \"retry\" --changed -c", "whole units, only from files with uncommitted changes"),
            ("colgrep --like src/queue.rs:40", "units like the one on that line"),
            ("colgrep \"rate limit\" --json | jq .", "for programs; --jsonl, --vimgrep and -0 as well"),
            ("colgrep outline src/queue.rs", "the units of one file"),
            ("colgrep install claude-code", "tell a coding agent that colgrep is here"),
        ],
    },
    Chapter {
        title: "Exit status",
        rows: &[("0", "something found"), ("1", "nothing found"), ("2", "an error, with a message on stderr")],
    },
    Chapter {
        title: "Environment",
        rows: &[
            ("COLGREP_DATA_DIR", "where indexes are kept"),
            ("COLGREP_PROFILE", "default or classic; the flag --profile goes before it"),
            (
                "COLGREP_BACKGROUND",
                "0 or 1: whether a process behind a search goes on with its index; the setting `background` else, and never \
                 where CI is set",
            ),
            ("COLGREP_WAIT", "0 or 1: whether a search waits for its index instead of answering from a part of it"),
            ("COLGREP_PROGRESS", "0 or 1: whether stderr tells how far an index or a transfer is; 1 if not given"),
            ("COLGREP_TRACE", "1: one line of JSON a ranking step on stderr"),
            ("COLGREP_TOKEN", "the token that requests to `serve` have to bring; --token-file goes before it"),
            ("COLGREP_SHARD_TOKEN", "the token that a search over shards (--shards) brings to them"),
            ("COLGREP_...", "the ranking's constants, which `colgrep knobs` lists; an unknown name is an error"),
            ("XDG_CONFIG_HOME, XDG_DATA_HOME", "the folders of settings and of data, if not the platform's"),
            ("TMPDIR, TEMP, TMP", "the folder of temporary files, which is no project"),
            ("HOME, USERPROFILE", "the user's folder; agents' files lie there"),
            (
                "CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME",
                "the folders of these agents, for `install` and `uninstall`",
            ),
            ("PATH", "where `install` finds the path by which this program is called"),
            (
                "ORT_DYLIB_PATH",
                "ONNX Runtime's library, or its folder, by its full path; without it, libraries beside the program, in \
                 Python environments (VIRTUAL_ENV, CONDA_PREFIX, PATH) and of the system are tried, but none inside a \
                 project",
            ),
            (
                "HF_HOME, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, HTTPS_PROXY",
                "for models of the hub: the cache's folder, a mirror, a key, no network, a proxy",
            ),
            (
                "NO_COLOR, CLICOLOR=0, CLICOLOR_FORCE, TERM=dumb",
                "colour off, off, on, off where nothing else is said, if --color is auto",
            ),
        ],
    },
    Chapter {
        title: "Files",
        rows: &[
            (
                "~/.config/colgrep/config.toml",
                "the user's settings, which `colgrep settings` shows and writes. The folder is $XDG_CONFIG_HOME/colgrep \
                 where that is set, on macOS else ~/Library/Application Support/colgrep, on Windows %APPDATA%\\colgrep",
            ),
            (
                ".colgrep.toml",
                "a repository's settings: the nearest file from the current folder up to the repository's root. A flag \
                 goes before the environment, that before the repository, that before the user, that before the default",
            ),
            (".gitignore, .ignore, .colgrepignore", "what is not indexed; the last is for colgrep alone"),
            (
                "~/.local/share/colgrep/indices",
                "a folder for each project's index, and what `install` wrote where. It is $COLGREP_DATA_DIR, else \
                 $XDG_DATA_HOME/colgrep/indices, else on macOS below ~/Library/Application Support, on Windows below \
                 %APPDATA%",
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

    /// The chapter in Markdown.
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
    text(&CHAPTERS[..2]) + "\n`colgrep --help` has all flags, commands, variables and files.\n"
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
