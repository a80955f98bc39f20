//! What a name is called on, by the form of the call.

use super::call::code_of;
use super::{numbered_code, words_at};
use crate::token::is_word_char;

/// What a unit calls a name on, the least known first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallReceiver {
    /// Something that the own object has: `self.items.push()`.
    Part,
    /// Another value: `other.push()`.
    Other,
    /// The own object, its class, or nothing: `self.push()`, `Ring::push()`, `push()`.
    Own,
}

/// Between a receiver and a name, the longest first.
const SEPARATORS: [&str; 4] = ["::", "->", ".", ":"];

/// What the lines of a unit call a name on: the best known of all receivers, and [`CallReceiver::Own`] without a call.
/// `marks` begin the comments of its language, `own` are names of the own object and its class.
pub fn call_receiver<'l>(
    lines: impl Iterator<Item = &'l str>,
    name: &str,
    marks: &[&str],
    own: &[&str],
) -> CallReceiver {
    let code: Vec<String> = numbered_code(lines).map(|(_, line)| code_of(line, marks)).collect();
    let code = code.join("\n");
    let places: Vec<(&str, &str)> = words_at(&code, name).map(|at| (&code[..at], &code[at + name.len()..])).collect();
    let is_call = |(_, behind): &&(&str, &str)| {
        let behind = behind.trim_start_matches(['!', '?']);
        behind.starts_with('(') || (behind.starts_with(['<', '[']) && behind.contains(['>', ']']))
    };
    // In languages whose calls have no parentheses, any use of the name is one.
    let uses: Vec<&(&str, &str)> = match places.iter().any(|place| is_call(&place)) {
        true => places.iter().filter(is_call).collect(),
        false => places.iter().collect(),
    };
    let receivers = uses.into_iter().map(|(front, behind)| receiver_of(front, behind, marks, own));
    receivers.max().unwrap_or(CallReceiver::Own)
}

/// The receiver of a name between these texts.
fn receiver_of(front: &str, behind: &str, marks: &[&str], own: &[&str]) -> CallReceiver {
    let is_message = front.ends_with(char::is_whitespace) && behind.starts_with([':', ']']);
    let Some(mut rest) = before_separator(front, marks).or_else(|| receiver_of_message(front).filter(|_| is_message))
    else {
        return CallReceiver::Own;
    };
    let mut is_last = true;
    loop {
        let (bare, is_bracketed) = before_brackets(rest);
        let before = bare.trim_end_matches(is_word_char);
        let (word, before) = (&bare[before.len()..], before.trim_end_matches(['$', '#']));
        // `@items` of Ruby is a part of the own object.
        if before.ends_with('@') {
            return CallReceiver::Part;
        }
        let is_own = own.contains(&word);
        let is_class = is_own && word.starts_with(char::is_uppercase);
        match before_separator(before, marks) {
            // A class behind its modules.
            Some(_) if is_last && is_class && !is_bracketed => return CallReceiver::Own,
            Some(before) => (rest, is_last) = (before, false),
            None if is_last && is_own && (is_class || !is_bracketed) => return CallReceiver::Own,
            None if is_own => return CallReceiver::Part,
            None => return CallReceiver::Other,
        }
    }
}

/// The text before the separator that ends a text.
fn before_separator<'t>(front: &'t str, marks: &[&str]) -> Option<&'t str> {
    let front = front.trim_end();
    let separator = SEPARATORS.iter().find(|separator| front.ends_with(**separator))?;
    // `ring:push()` of Lua; elsewhere a colon is before a value.
    if *separator == ":" && !marks.contains(&"--") {
        return None;
    }
    // `ring?.push()`, `ring!!.push()`, `ring&.push()`
    let rest = front[..front.len() - separator.len()].trim_end_matches(['?', '!', '&']).trim_end();
    // `..` is a range, and a dot alone has what it belongs to before it.
    (!rest.ends_with('.')).then_some(rest)
}

/// The receiver of `[ring push:1]`, whose name follows `front`.
fn receiver_of_message(front: &str) -> Option<&str> {
    let front = front.trim_end();
    let (bare, _) = before_brackets(front);
    let word = bare.trim_end_matches(|c: char| is_word_char(c) || c == '.');
    word.ends_with('[').then_some(front)
}

/// A text without the brackets that it ends with, and whether it has any.
fn before_brackets(text: &str) -> (&str, bool) {
    let mut rest = text;
    while rest.ends_with([')', ']']) {
        let mut depth = 0;
        let open = rest.char_indices().rev().find(|(_, c)| {
            depth += match c {
                ')' | ']' => 1,
                '(' | '[' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some((at, _)) = open else { break };
        rest = &rest[..at];
    }
    (rest, rest.len() < text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [&str; 4] = ["self", "this", "Self", "Ring"];

    #[test]
    fn a_receiver_is_the_own_object_a_part_of_it_or_another_value() {
        use CallReceiver::{Other, Own, Part};
        for (line, expected) in [
            ("push(1)", Own),
            ("return push(1)", Own),
            ("x = !push(1) + -push(2)", Own),
            ("{ key: push(1) }", Own),
            ("self.push(1)", Own),
            ("this?.push(1)", Own),
            ("this->push(1);", Own),
            ("$this->push(1);", Own),
            ("Self::push(1)", Own),
            ("Ring.push(1)", Own),
            ("net.Ring.push(1)", Own),
            ("crate::net::Ring::push::<u8>(1)", Own),
            ("self.items.push(1)", Part),
            ("this.#items.push(1)", Part),
            ("this.items!.push(1)", Part),
            ("$this->items->push(1);", Part),
            ("@items.push(1)", Part),
            ("@items&.push(1)", Part),
            ("self.all(1)[0].push(2)", Part),
            ("self[0].push(2)", Part),
            ("self.items().push(1)", Part),
            ("self.items\n    .push(1)", Part),
            ("other.push(1)", Other),
            ("ring.self_.push(1)", Other),
            ("super().push(1)", Other),
            ("(a + b).push(1)", Other),
            ("new Ring().push(1)", Own),
            ("other.push(self.push(1))", Own),
            ("self.items.push(1); other.push(2)", Other),
            ("push_all(1)", Own),
            ("0..push(1)", Own),
        ] {
            assert_eq!(call_receiver(line.lines(), "push", &["//"], &OWN), expected, "{line}");
        }
    }

    #[test]
    fn calls_without_parentheses_and_messages_have_receivers_too() {
        use CallReceiver::{Other, Own, Part};
        for (line, marks, expected) in [
            ("push 1", &["#"][..], Own),
            ("items.push 1", &["#"], Other),
            ("@items.push 1 # push 2", &["#"], Part),
            ("self:push(1)", &["--"], Own),
            ("self.items:push(1)", &["--"], Part),
            ("items:push(1)", &["--"], Other),
            ("[self push:1];", &["//"], Own),
            ("[ring push:1];", &["//"], Other),
            ("[self.items push:1];", &["//"], Part),
        ] {
            assert_eq!(call_receiver(line.lines(), "push", marks, &OWN), expected, "{line}");
        }
    }
}
