//! Parts of files: how they are inserted, recognised and removed.

use anyhow::Result;
use serde_json::Value;

use crate::hunk::{in_own_form, plain};

/// The name of colgrep's entries.
pub const NAME: &str = "colgrep";

/// The subcommand that a hook runs.
pub const HOOK: &str = "hook";

/// A part of a file that is colgrep's. Texts are plain here: line ends are `\n`, and there is no byte order mark.
pub trait OwnedPart {
    /// The value that `put` inserts.
    fn wanted(&self) -> Value;

    /// The parts of `text` that are recognisably colgrep's, of this or another version.
    fn found(&self, text: &str) -> Result<Vec<Value>>;

    /// What occupies the place that `put` takes and is not colgrep's.
    fn taken(&self, _text: &str) -> Result<Option<String>> {
        Ok(None)
    }

    /// Whether there is a part that was colgrep's before somebody changed it.
    fn is_changed(&self, text: &str) -> Result<bool> {
        Ok(self.taken(text)?.is_some())
    }

    /// Commands in the part's place whose program [lies in the agent's folder](is_of_folder).
    fn of_folder(&self, text: &str) -> Result<Vec<String>> {
        let _ = text;
        Ok(Vec::new())
    }

    /// Adds the part to `text`, which has none.
    fn put(&self, text: &str) -> Result<String>;

    /// Removes the part from the text and restores what was `taken` for it.
    fn cut(&self, text: &str, taken: Option<&str>) -> Result<String>;

    /// Keys around the part's place that the text lacks and `put` makes, outermost first.
    fn missing(&self, _text: &str) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// The text without those of the `made` keys that are empty. `text` no longer contains the part.
    fn cleared(&self, text: &str, _made: &[String]) -> Result<String> {
        Ok(text.to_string())
    }

    /// Whether a file that was created for colgrep is now empty.
    fn is_bare(&self, text: &str) -> bool {
        text.is_empty()
    }

    /// Whether removal is exact, byte for byte, without a receipt.
    fn tells_all(&self) -> bool {
        false
    }

    /// Whether the text is strictly valid in its format, which some readers require.
    fn is_strict(&self, _text: &str) -> bool {
        true
    }
}

/// A change of a file that can be made and reverted.
pub struct Edit(Box<dyn OwnedPart>);

impl Edit {
    /// The change that puts `part` in.
    pub fn new(part: impl OwnedPart + 'static) -> Edit {
        Edit(Box::new(part))
    }

    /// Whether anything of colgrep's is in the text.
    ///
    /// # Errors
    /// When the text has an unexpected form; likewise below.
    pub fn is_in(&self, text: &str) -> Result<bool> {
        Ok(!self.0.found(&plain(text))?.is_empty())
    }

    /// Whether the text contains exactly what `put` inserts.
    pub fn is_current(&self, text: &str) -> Result<bool> {
        Ok(self.0.found(&plain(text))? == [self.0.wanted()])
    }

    /// Whether what is colgrep's in the text is what `put` inserts, wherever the program lay then, or tells by itself that
    /// it is colgrep's.
    pub fn is_exact(&self, text: &str) -> Result<bool> {
        let (found, wanted) = (self.0.found(&plain(text))?, self.0.wanted());
        Ok(!found.is_empty() && (self.tells_all() || found.iter().all(|one| is_own_server(one, &wanted))))
    }

    /// Whether the text has a part of colgrep's, as it was written or changed since.
    pub fn is_left(&self, text: &str) -> Result<bool> {
        Ok(self.is_in(text)? || self.0.is_changed(&plain(text))?)
    }

    /// What occupies the place that `put` takes and is the user's own.
    pub fn taken(&self, text: &str) -> Result<Option<String>> {
        self.0.taken(&plain(text))
    }

    /// Commands in the part's place whose program [lies in the agent's folder](is_of_folder).
    pub fn of_folder(&self, text: &str) -> Result<Vec<String>> {
        self.0.of_folder(&plain(text))
    }

    /// The text with colgrep's part added. `text` must not contain it yet.
    pub fn put(&self, text: &str) -> Result<String> {
        in_own_form(text, |plain| self.0.put(plain))
    }

    /// The text without colgrep's part, with what was `taken` from the user put back.
    pub fn cut(&self, text: &str, taken: Option<&str>) -> Result<String> {
        in_own_form(text, |plain| self.0.cut(plain, taken))
    }

    /// The containers that `put` makes around its part.
    pub fn missing(&self, text: &str) -> Result<Vec<String>> {
        self.0.missing(&plain(text))
    }

    /// The text without the empty containers among those `made` around the part.
    pub fn cleared(&self, text: &str, made: &[String]) -> Result<String> {
        in_own_form(text, |plain| self.0.cleared(plain, made))
    }

    /// Whether a file that was created for colgrep is now empty.
    pub fn is_bare(&self, text: &str) -> bool {
        self.0.is_bare(&plain(text))
    }

    /// Whether `cut` is exact without a receipt.
    pub fn tells_all(&self) -> bool {
        self.0.tells_all()
    }

    /// Whether the text keeps to the letter of its format.
    pub fn is_strict(&self, text: &str) -> bool {
        self.0.is_strict(&plain(text))
    }
}

/// Whether a program is colgrep by its bare name or an absolute path, the only forms that `install` writes.
pub fn is_colgrep(program: &str) -> bool {
    is_named_so(program) && !is_of_folder(program)
}

/// Whether a program is a colgrep by a relative path, such as `./colgrep`: a clone may contain its own.
pub fn is_of_folder(program: &str) -> bool {
    let is_whole = program.starts_with(['/', '\\']) || program.as_bytes().get(1) == Some(&b':');
    is_named_so(program) && program.contains(['/', '\\']) && !is_whole
}

/// Whether a command runs colgrep's hook, among whatever else.
pub fn runs_hook_inside(command: &str) -> bool {
    let words = command.split(|c: char| c.is_whitespace() || "'\";&|()".contains(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().windows(2).any(|pair| matches!(pair, [program, HOOK] if is_colgrep(program)))
}

fn is_named_so(program: &str) -> bool {
    let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
    file.strip_suffix(".exe").unwrap_or(file) == NAME
}

/// The program of a server's entry, if it is such a relative path.
pub fn server_of_folder(entry: &Value) -> Option<String> {
    let command = ["/command", "/command/0"].iter().find_map(|place| entry.pointer(place)?.as_str());
    command.filter(|program| is_of_folder(program)).map(str::to_string)
}

/// Whether the text of an entry names colgrep as its program.
pub fn names_colgrep(entry: &str) -> bool {
    entry.split(['"', '\'']).any(is_colgrep)
}

/// Whether an entry is `wanted`, wherever the program lay when it was written.
pub fn is_own_server(entry: &Value, wanted: &Value) -> bool {
    let named = |entry: &Value| {
        let mut entry = entry.clone();
        for place in ["/command", "/command/0", "/hooks/0/command"] {
            let Some(command) = entry.pointer_mut(place) else { continue };
            let text = command.as_str().unwrap_or_default();
            // A hook is one text: the program, `hook` and the agent.
            let end = text.rfind(&format!(" {HOOK} ")).unwrap_or(text.len());
            let (program, others) = text.split_at(end);
            if is_colgrep(program.trim_matches(['"', '\''])) {
                *command = format!("{NAME}{others}").into();
            }
        }
        entry
    };
    entry == wanted || named(entry) == named(wanted)
}
