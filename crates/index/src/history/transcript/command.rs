//! Extracts paths from commands that agents run.

use colgrep_core::query::intents::Intents;
use colgrep_syntax::language;

use crate::history::paths::is_absolute;

/// Last letters of options that take a text or another command: `-c`, `-lc`, `-m`, `-e`, `--message`.
const OPTIONS_OF_TEXTS: [char; 3] = ['c', 'm', 'e'];
/// What people put between the parts of a substitution.
const DELIMITERS: &str = "/|#,@!:~";
/// Flags after a substitution of sed or perl.
const FLAGS: &str = "0123456789IMegimprx";

/// Programs that read an option's text as a command.
const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "fish", "pwsh", "powershell", "cmd"];
/// Programs that take files of other machines, `host:path`.
const COPIERS: [&str; 3] = ["scp", "rsync", "sftp"];
/// Words before a program's name.
const BEFORE_PROGRAMS: [&str; 13] =
    ["sudo", "env", "time", "exec", "command", "nohup", "if", "then", "else", "while", "do", "{", "!"];
/// Ways to write the folder in which a command runs.
const HERE: [&str; 4] = ["$PWD", "${PWD}", "$(pwd)", "`pwd`"];

/// The words of a command that are paths: those with a known extension, or of several parts. After `cd` they are
/// relative to its target.
pub(super) fn of_command(command: &str) -> Vec<String> {
    let mut reader = CommandReader::default();
    reader.read(command);
    reader.paths
}

#[derive(Default)]
struct CommandReader {
    paths: Vec<String>,
    /// The folder of relative words, from the one in which the command runs.
    folder: String,
    /// The same outside each open parenthesis.
    outer: Vec<String>,
}

impl CommandReader {
    fn read(&mut self, command: &str) {
        let command = HERE.iter().fold(without_documents(command), |command, here| command.replace(*here, "."));
        let mut words = words(&parted(&command)).into_iter().peekable();
        let (mut program, mut begins, mut option) = (String::new(), true, String::new());
        while let Some(word) = words.next() {
            if is_mark(&word) {
                match word.as_str() {
                    "(" => self.outer.push(self.folder.clone()),
                    ")" => self.folder = self.outer.pop().unwrap_or_else(|| std::mem::take(&mut self.folder)),
                    _ => {}
                }
                (begins, option) = (true, String::new());
                continue;
            }
            if begins && !is_before_program(&word) {
                begins = false;
                program = program_of(&word).to_string();
                if matches!(program.as_str(), "cd" | "pushd" | "popd") {
                    while words.next_if(|next| matches!(next.as_str(), "-P" | "-L" | "--" | "/d")).is_some() {}
                    let target = words.next_if(|next| !is_mark(next));
                    self.go(target.as_deref().unwrap_or(if program == "cd" { "~" } else { "-" }));
                    continue;
                }
            }
            if holds_command(&option) && SHELLS.contains(&program.as_str()) {
                let folder = self.folder.clone();
                self.read(&word);
                self.folder = folder;
            } else {
                self.word(&word, &program, holds_text(&option));
            }
            option = word;
        }
    }

    /// Changes the folder. If the target is unknown, it is the folder in which the command runs.
    fn go(&mut self, target: &str) {
        self.word(target, "cd", false);
        let is_unknown = target == "-" || target.starts_with(['$', '`']);
        self.folder = if is_unknown { String::new() } else { joined(&self.folder, target) };
    }

    /// Collects the paths in one word.
    fn word(&mut self, word: &str, program: &str, is_text: bool) {
        if is_substitution(word) {
            return;
        }
        let (word, folder) = match in_revision(word, program) {
            Some(path) => (path, ""),
            None => (near_side(word, program), self.folder.as_str()),
        };
        let found: Vec<String> = if !is_text && is_spaced_path(word) {
            vec![word.to_string()]
        } else {
            let intents = Intents::parse(word, language::facts());
            intents.mentions.into_iter().chain(intents.locations.into_iter().map(|location| location.path)).collect()
        };
        // `1/2` is a number or a date, and the value of a variable is unknown.
        let is_number = |path: &str| path.chars().all(|c| c.is_ascii_digit() || c == '/');
        let known = found.iter().filter(|path| !path.starts_with('$') && !is_number(path));
        self.paths.extend(known.map(|path| joined(folder, path)));
    }
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() || is_absolute(path) { path.to_string() } else { format!("{folder}/{path}") }
}

/// Whether a word separates commands.
fn is_mark(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| ";&|()".contains(c))
}

/// Whether a word can precede a program: `sudo`, or `NAME=value`.
fn is_before_program(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    BEFORE_PROGRAMS.contains(&word) || word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

fn program_of(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe")
}

/// Whether an option takes a text or another command.
fn holds_text(option: &str) -> bool {
    (option.starts_with('-') && option.ends_with(OPTIONS_OF_TEXTS)) || holds_command(option)
}

/// Whether an option of a shell takes a command.
fn holds_command(option: &str) -> bool {
    let is_short = option.starts_with('-') && option.ends_with('c');
    is_short || option == "/c" || option.eq_ignore_ascii_case("-command")
}

/// The path of a file in a revision for git: `HEAD:src/a.py`.
fn in_revision<'w>(word: &'w str, program: &str) -> Option<&'w str> {
    let (revision, path) = word.rsplit_once(':').filter(|_| program == "git")?;
    let is_host = revision.contains('@') && revision != "@" && !revision.contains("@{");
    let is_drive = revision.len() == 1 && revision != "@";
    (!is_host && !is_drive && !word.contains(char::is_whitespace) && !word.contains("://")).then_some(path)
}

/// The local part of a word with a colon: for a test its file (`a.py::TestA`), for a mount the near side (`./a:/b`),
/// empty for another machine's file (`host:/a`). Lines, drives and addresses are unchanged.
fn near_side<'w>(word: &'w str, program: &str) -> &'w str {
    if word.contains(char::is_whitespace) || word.contains("://") {
        return word;
    }
    let word = word.split_once("::").map_or(word, |(file, _)| file);
    let Some((near, far)) = word.split_once(':') else { return word };
    let is_drive = near.len() == 1 && near != ".";
    if is_drive || far.is_empty() || far.starts_with(|c: char| c.is_ascii_digit()) {
        return word;
    }
    let is_path = near.starts_with('.') || near.contains('/') || language::facts().is_file_name(&near.to_lowercase());
    let is_elsewhere = COPIERS.contains(&program) || near.contains('@');
    match (is_elsewhere, is_path, far.starts_with('/')) {
        (false, true, _) => near,
        (false, false, false) => word,
        _ => "",
    }
}

/// A command without its here-documents, which are texts for programs.
fn without_documents(command: &str) -> String {
    let mut kept = String::with_capacity(command.len());
    let mut lines = command.lines();
    while let Some(line) = lines.next() {
        kept.push_str(line);
        kept.push('\n');
        for end in ends_of_documents(line) {
            let mut behind = lines.clone();
            if behind.any(|line| line.trim() == end) {
                lines = behind;
            }
        }
    }
    kept
}

/// The words that end the here-documents which begin on a line.
fn ends_of_documents(line: &str) -> impl Iterator<Item = &str> {
    line.split("<<").skip(1).filter_map(|behind| {
        let word = behind.trim_start_matches('-').trim_start().trim_start_matches(['"', '\'', '\\']);
        let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
        let is_word = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        is_word.then(|| &word[..end])
    })
}

/// A command with blanks around the separators of commands, line ends included, and without comments.
fn parted(command: &str) -> String {
    let mut parted = String::with_capacity(command.len());
    let mut quote = None;
    let mut letters = command.chars().peekable();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (None | Some('"'), '\\') => {
                parted.push(c);
                parted.extend(letters.next());
            }
            (Some(open), _) => {
                parted.push(c);
                quote = (c != open).then_some(open);
            }
            (None, '"' | '\'') => {
                parted.push(c);
                quote = Some(c);
            }
            (None, '#') if parted.is_empty() || parted.ends_with(char::is_whitespace) => {
                while letters.next_if(|next| *next != '\n').is_some() {}
            }
            (None, '\n') => parted.push_str(" ; "),
            // `2>&1` does not end a command.
            (None, ';' | '&' | '|' | '(' | ')') if !parted.ends_with('>') => parted.extend([' ', c, ' ']),
            (None, _) => parted.push(c),
        }
    }
    parted
}

/// The words of a command without their quotes, or unchanged if a quote is never closed, as in text for a program to
/// read. Outside quotes a backslash may be part of a Windows path.
fn words(command: &str) -> Vec<String> {
    let is_quoted = command.contains(['"', '\'']) || command.contains("\\ ");
    let split = if is_quoted { shlex::split(command) } else { None };
    split.unwrap_or_else(|| command.split_whitespace().map(String::from).collect())
}

/// Whether a word with blanks is a path: it ends like a file name, and contains no marks of a command or a sentence.
fn is_spaced_path(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default().to_lowercase();
    let is_file = !name.starts_with('.') && language::facts().is_file_name(&name);
    is_file && word.contains(' ') && !word.starts_with('-') && !word.contains(['\n', ';', '|', '&', '<', '>', '"', ','])
}

/// Whether a word is a script of sed or perl that replaces text: `s/a/b/g`, `2,5y|ab|cd|`.
fn is_substitution(word: &str) -> bool {
    let is_address = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$');
    let script = word.trim_matches(['"', '\'']).trim_start_matches(is_address);
    let Some(behind) = script.strip_prefix(['s', 'y']) else { return false };
    let Some(delimiter) = behind.chars().next().filter(|c| DELIMITERS.contains(*c)) else { return false };
    // An escaped delimiter belongs to its part.
    let parts = behind.replace("\\\\", "").replace(&format!("\\{delimiter}"), "");
    parts.split(delimiter).nth(3).is_some_and(|flags| {
        let rest = flags.trim_start_matches(|c: char| FLAGS.contains(c));
        rest.is_empty() || rest.starts_with([';', '}', ' ', '\n'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_paths_are_told_from_others() {
        for (command, expected) in [
            ("vim 'a b.py' && cd src && cat rel.py && echo 1/2 && sed s/a/b/ q.go", "a b.py|src/rel.py|src/q.go"),
            ("cat My\\ notes/a.py; ls \"src/b c.rs\"; date 2025/11/24", "My notes/a.py|src/b c.rs"),
            ("bash -lc 'cat src/b.rs'", "src/b.rs"),
            ("git commit -m 'fix a.py' src/b.py", "a.py|src/b.py"),
            ("sed -i -e 's|src/a.py|lib/a.py|g' -e '2,5s/x\\/y/z/; s/a/b/' src/c.go", "src/c.go"),
            ("perl -pi -e 's#a/b#c/d#gi' src/c.go", "src/c.go"),
            ("cat s/a/b.py src/s/a/b/c.py", "s/a/b.py|src/s/a/b/c.py"),
            ("cat > src/a.py <<EOF\nit's\nEOF", "src/a.py"),
            ("type src\\a.rs", "src/a.rs"),
            ("python setup.py:12", "setup.py"),
            ("echo 'no path'", ""),
            ("pytest tests/test_a.py::TestX::test_y -q", "tests/test_a.py"),
            ("git show HEAD:src/show.py 'stash@{1}:src/b.py' 2>&1 | head", "src/show.py|src/b.py"),
            ("cd lib && git show main:src/show.py && git clone git@host.org:acme/app.git", "src/show.py"),
            ("cd src && cat inner.py; cd /etc; cat x.py", "src/inner.py|/etc/x.py"),
            ("(cd src; cat inner.py)\ncd sub/b\nls c.py # and d.py", "src/inner.py|sub/b|sub/b/c.py"),
            ("cd src && cd - && cat a.py && cd \"$X\" && cat b.py", "a.py|b.py"),
            ("cat \"$PWD/src/pwd.py\" $(pwd)/b.py \"$DIR/c.py\"", "src/pwd.py|b.py"),
            ("scp host:/x/y.py ann@host:z.py host:z/w.py .", ""),
            ("docker run -v ./vol:/data -v ./src/vol:/data -v $PWD:/app img", "src/vol"),
            ("cat > src/a.go <<'EOF' && ls b.py\nimport os/path\nEOF\ncat c.py", "src/a.go|b.py|c.py"),
            ("sudo bash -lc 'cd src && cat a.py' && cat b.py", "src/a.py|b.py"),
        ] {
            assert_eq!(of_command(command).join("|"), expected, "{command}");
        }
    }
}
