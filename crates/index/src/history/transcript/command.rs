//! Commands as agents type them: the words of one that are paths.

use colgrep_core::clue::Clues;
use colgrep_syntax::language;

/// Ends of options behind which a text or another command stands: `-c`, `-lc`, `-m`, `-e`, `--message`.
const OPTIONS_OF_TEXTS: [char; 3] = ['c', 'm', 'e'];
/// What people put between the parts of a substitution.
const DELIMITERS: &str = "/|#,@!:~";
/// Flags behind a substitution, of sed and of perl.
const FLAGS: &str = "0123456789IMegimprx";

/// The words of a command that are paths: those with a known extension, or of several parts.
pub(super) fn of_command(command: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut holds_text = false;
    for word in words(command) {
        let whole = word.trim_end_matches([';', ')', '&', '|']);
        if !holds_text && is_spaced_path(whole) {
            paths.push(whole.to_string());
        } else if !is_substitution(&word) {
            let clues = Clues::read(&word, language::facts());
            paths.extend(clues.mentions);
            paths.extend(clues.locations.into_iter().map(|location| location.path));
        }
        holds_text = word.starts_with('-') && word.ends_with(OPTIONS_OF_TEXTS);
    }
    // `1/2` is a number, and so is a date.
    paths.retain(|path| path.contains(|c: char| !c.is_ascii_digit() && c != '/'));
    paths
}

/// The words of a command without their quotes; as they stand where a quote is never closed, as in text for a program to
/// read. Without quotes a backslash may be one of Windows' paths.
fn words(command: &str) -> Vec<String> {
    let is_quoted = command.contains(['"', '\'']) || command.contains("\\ ");
    let split = if is_quoted { shlex::split(command) } else { None };
    split.unwrap_or_else(|| command.split_whitespace().map(String::from).collect())
}

/// Whether a word with blanks is a path: it ends as files do, and has nothing that a command or a sentence has.
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
            ("vim 'a b.py' && cd src && cat rel.py && echo 1/2 && sed s/a/b/ q.go", "a b.py|rel.py|q.go"),
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
        ] {
            assert_eq!(of_command(command).join("|"), expected, "{command}");
        }
    }
}
