//! Compares a name that occurs nowhere with the names that do: it may be mistyped (`uv_spwan`) or half remembered
//! (`uv_run_timers` for `uv__run_timers`).

use crate::fold::folded;
use crate::token::parts;

/// Minimum of letters and digits in a name: shorter ones are like many others.
const LETTERS_MIN: usize = 5;
/// A name with this many letters may have two changes, or one if the number of parts differs; a shorter one may have one,
/// or none.
const LETTERS_OF_TWO_CHANGES: usize = 9;
/// Parts with fewer letters are the same or different words: `min` and `max`.
const LETTERS_OF_PART_MIN: usize = 4;

/// A name that occurs nowhere as written.
#[derive(Clone, Debug)]
pub struct MistypedName {
    parts: Vec<String>,
    letters: String,
}

impl MistypedName {
    /// Reads a name; `None` if it is too short to tell what is meant.
    pub fn new(name: &str) -> Option<MistypedName> {
        let letters = letters(name);
        let is_long = letters.chars().nth(LETTERS_MIN - 1).is_some();
        is_long.then(|| MistypedName { parts: parts_of(name), letters })
    }

    /// Whether a name in any case may be meant. A name that passes must be compared as written.
    pub fn may_mean(&self, name: &str) -> bool {
        self.changes(&letters(name)).is_some()
    }

    /// The number of letters in which a name as written differs, regardless of case and joiners; `None` if it is another
    /// name.
    pub fn changes_to(&self, name: &str) -> Option<u32> {
        let changes = self.changes(&letters(name))?;
        let own = parts_of(name);
        let is_meant = match own.len() == self.parts.len() {
            true => own.iter().zip(&self.parts).all(|(own, typed)| is_like(own, typed)),
            false => changes == 0 || (changes == 1 && self.is_long()),
        };
        is_meant.then_some(changes)
    }

    fn is_long(&self) -> bool {
        self.letters.chars().nth(LETTERS_OF_TWO_CHANGES - 1).is_some()
    }

    fn changes(&self, other: &str) -> Option<u32> {
        let digits = |text: &str| text.chars().filter(|c| c.is_numeric()).collect::<String>();
        let most = if self.is_long() { 2 } else { 1 };
        let may_be = other.chars().count().abs_diff(self.letters.chars().count()) <= most
            && other.chars().next() == self.letters.chars().next()
            && digits(other) == digits(&self.letters);
        let changes = if may_be { strsim::osa_distance(&self.letters, other) } else { usize::MAX };
        (changes <= most).then_some(changes as u32)
    }
}

/// Whether parts of two names may be one word.
fn is_like(own: &str, typed: &str) -> bool {
    let is_long = own.chars().count().min(typed.chars().count()) >= LETTERS_OF_PART_MIN;
    own == typed || (is_long && own.chars().next() == typed.chars().next())
}

fn parts_of(name: &str) -> Vec<String> {
    parts(name).map(|part| folded(&name[part]).into_owned()).collect()
}

/// The letters and digits of a name in lower case.
pub fn letters(name: &str) -> String {
    folded(name).chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_means_the_one_that_it_nearly_is() {
        for (typed, name, expected) in [
            ("uv_spwan", "uv_spawn", Some(1)),
            ("uv_run_timers", "uv__run_timers", Some(0)),
            ("ClientSesion", "ClientSession", Some(1)),
            ("clientSession", "ClientSession", Some(0)),
            ("close_sesion", "close_session", Some(1)),
            ("closeSesion", "close_session", Some(1)),
            ("parse_requst_body", "parse_request_body", Some(1)),
            ("parse_reqeust_bdoy", "parse_request_body", Some(2)),
            ("MAX_BUFER_SIZE", "MAX_BUFFER_SIZE", Some(1)),
            ("open_files", "open_file", Some(1)),
            ("WebSocketClinet", "WebSocketClient", Some(1)),
            ("Web_Socket_Client", "WebSocketClient", Some(0)),
            ("websocketClient", "WebSocketClient", Some(0)),
            ("read_utf8_strng", "read_utf8_string", Some(1)),
            ("getElementsByTagNmae", "getElementsByTagName", Some(1)),
            // Other names.
            ("min_open_files", "max_open_files", None),
            ("run_ls", "runs", None),
            ("with_mut", "without", None),
            ("get_open_files", "set_open_files", None),
            ("handler_19999", "handler_1999", None),
            ("VALUE_99", "value_9", None),
            ("read_sha256", "read_sha1", None),
            ("open_any", "open_all", None),
            ("parse_header", "parse_headings", None),
            ("close_session", "close_connection", None),
            ("close_session", "close_sessions_now", None),
            ("total_count", "local_count", None),
        ] {
            let mistyped = MistypedName::new(typed).expect("a long name");
            assert_eq!(mistyped.changes_to(name), expected, "{typed} {name}");
            assert!(expected.is_none() || mistyped.may_mean(&name.to_lowercase()), "{typed} {name}");
        }
        assert!(MistypedName::new("abcd").is_none());
    }
}
