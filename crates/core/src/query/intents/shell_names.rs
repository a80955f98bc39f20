//! Names in a shell's syntax: variables, settings, flags; and names of calls and of members.

use crate::identifier_style::{flag_name, is_name_in_query, is_token};
use crate::token::{is_word_char, parts};

/// Marks after a name that do not belong to it.
const MARKS_AT_THE_END: &[char] = &['.', ':', ';', ',', '\\', '/', ' '];
/// Words before an assignment.
const SETTERS: &[&str] = &["-e", "--env", "ENV", "env", "export", "set"];

/// The variable in `$NAME`, `${NAME}`, `%NAME%`, `NAME=1`, `export NAME=1`, `os.environ["NAME"]`, or the flag in
/// `--name=1`. `None` for any other text, and for a name that may be a plain word.
pub fn name_inside(text: &str) -> Option<&str> {
    let text = text.trim();
    let set = text.split_once(' ').filter(|(setter, rest)| SETTERS.contains(setter) && rest.contains('='));
    let text = set.map_or(text, |(_, rest)| rest.trim_start());
    let (name, is_set) = match assigned(text) {
        Some(name) => (unmarked(name).unwrap_or(name), true),
        None => (unmarked(text)?, text.starts_with('%')),
    };
    // To the index, `PORT` in `PORT=80` is a plain word.
    if is_set && flag_name(name).is_none() && parts(name).nth(1).is_none() {
        return None;
    }
    let begins = |c: char| c == '_' || c.is_alphabetic();
    let is_variable = name.starts_with(begins) && name.chars().all(is_word_char);
    let is_odd = is_variable && (is_token(name) || is_name_in_query(name));
    (is_odd || flag_name(name).is_some()).then_some(name)
}

/// The path of keys that a text of one piece is or reads: `pool:size`, `POOL_SIZE`, `${pool.size}`,
/// `config.get("pool.size")`.
pub fn key_path(text: &str) -> Option<&str> {
    let is_path = |path: &&str| {
        let of_key = |c: char| is_word_char(c) || matches!(c, '-' | '.' | ':' | '[' | ']' | '"' | '\'');
        let words = path.split(|c| !is_word_char(c)).filter(|word| !word.is_empty()).count();
        let are_keys = words > 1 || (parts(path).nth(1).is_some() && !path.contains(char::is_lowercase));
        path.chars().all(of_key) && are_keys && path.contains(char::is_alphabetic) && !path.contains("::")
    };
    let text = text.trim();
    let inside = unmarked(text).map(|inside| unmarked(inside).unwrap_or(inside));
    // `$.pool.size`
    inside.into_iter().chain([text]).map(|path| path.trim_start_matches(['$', '.'])).find(is_path)
}

/// What to look up in files for a token: the name inside it, if the index can tell which files have it. Of a one-word
/// flag it knows only the word.
pub fn lookup_form(token: &str) -> &str {
    let can_tell = |name: &&str| flag_name(name).is_none_or(|flag| flag.contains('-'));
    name_inside(token).filter(can_tell).unwrap_or(token)
}

/// What a piece of code, an address, a symbol or a line of a configuration may name, best first: the path of an address
/// without its host and query; the text before a value and, for an error with its subject (`NoClassDefFound: a.B`), the
/// value; without brackets and their content at the end.
pub fn names_in_piece(text: &str) -> Vec<&str> {
    let text = text.trim();
    if let Some((scheme, address)) = text.split_once("://")
        && scheme.chars().all(|c| c.is_ascii_alphanumeric())
    {
        let path = address.find('/').map_or("", |at| &address[at..]);
        return named([path.split(['?', '#']).next().unwrap_or(path)]);
    }
    if let Some(at) = text.find(['?', '#']).filter(|at| text[..*at].contains('/')) {
        return named([&text[..at]]);
    }
    let value = text.find([':', '=']).filter(|at| {
        let behind = &text[at + 1..];
        text.as_bytes()[*at] == b'=' || behind.starts_with(char::is_whitespace)
    });
    value.map_or_else(|| named([text]), |at| named([text[..at].trim(), text[at + 1..].trim()]))
}

/// The texts that name something, without their ends.
fn named<const N: usize>(texts: [&str; N]) -> Vec<&str> {
    texts.into_iter().map(without_end).filter(|name| !name.is_empty()).collect()
}

/// The text without brackets at its end, and what they contain.
fn without_end(text: &str) -> &str {
    const PAIRS: &[(char, char)] = &[('(', ')'), ('[', ']'), ('{', '}'), ('<', '>')];
    let mut text = text.trim_end_matches(MARKS_AT_THE_END);
    while let Some((open, close)) = PAIRS.iter().find(|(_, close)| text.ends_with(*close)) {
        let Some(at) = opening(text, *open, *close).filter(|at| *at > 0) else { break };
        text = text[..at].trim_end_matches(MARKS_AT_THE_END);
    }
    text
}

/// The place of the bracket that the one at the end of a text closes.
fn opening(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0i32;
    let opens = text.char_indices().rev().find(|(_, c)| {
        depth += i32::from(*c == close) - i32::from(*c == open);
        depth == 0
    });
    opens.map(|(at, _)| at)
}

/// The names that a text calls, if it is a call with arguments, without blanks: `Clock.set_to` in `Clock.set_to(now)`
/// and in `x=Clock.set_to(now);`. All calls of a chain, last one first; for an object (`p->open(x)`) only the name.
pub fn names_called(text: &str) -> Vec<&str> {
    std::iter::successors(call_at_end(text), |&(_, before)| call_at_end(before)).map(|(name, _)| name).collect()
}

/// The name of the call at the end of a text, and the text before it.
fn call_at_end(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().trim_end_matches(';');
    let given = text.strip_suffix(')').filter(|given| !given.contains(char::is_whitespace))?;
    let at = opening(text, '(', ')').filter(|at| at + 1 < given.len())?;
    let of_path = |c: char| is_word_char(c) || matches!(c, '.' | ':' | '\\' | '!' | '?');
    let front = &given[..at];
    let before = front.trim_end_matches(of_path);
    let name = front[before.len()..].trim_start_matches(|c: char| c != '_' && !c.is_alphabetic());
    let is_whole = before.is_empty() || before.ends_with(['=', '>', ')', ']', '&', '*', '$', '@']);
    let is_name = name.chars().filter(|c| c.is_alphanumeric()).nth(1).is_some();
    // `get_(a|b)` is a pattern.
    let ends_so = name.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '!' | '?'));
    (is_whole && is_name && ends_so).then_some((name, before))
}

/// The flags among the words of a text, without their values.
pub fn flags_in(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter_map(|word| {
        let word = word.split('=').next()?.trim_matches(|c: char| c != '-' && !c.is_alphanumeric());
        flag_name(word).map(|_| word)
    })
}

/// The qualified names in a text, without the arguments of a call: `Type.method`, `Type#method`, `module::function`,
/// `Space\Type->method`, `com.acme.Type`. Before a lone dot only a type name counts: `example.com` is an address.
pub fn qualified_names(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter_map(|word| {
        let name = word.trim_start_matches(|c: char| !is_word_char(c));
        let name = name.split('(').next().unwrap_or(name);
        let name = name.trim_end_matches(|c: char| !is_word_char(c) && !matches!(c, '!' | '?'));
        let parts = name.split("->").flat_map(|path| path.split(['.', '#', ':', '\\', '/']));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let [before @ .., last] = parts.as_slice() else { return None };
        let begins = |c: char| c == '_' || c.is_alphabetic();
        let is_name = |part: &&str| part.starts_with(begins) && part.chars().all(is_word_char);
        let are_names = before.iter().all(is_name) && is_name(&last.trim_end_matches(['!', '?']));
        let is_type = before.last()?.starts_with(char::is_uppercase)
            || (before.len() > 1 && last.starts_with(char::is_uppercase));
        let has_sign = ["::", "#", "\\", "->"].iter().any(|sign| name.contains(sign));
        let is_pair = name.matches('/').count() == 1;
        (are_names && (is_type || has_sign) && !is_pair && !name.contains("://")).then_some(name)
    })
}

/// The names in quotes or square brackets in a text of several words.
pub fn quoted_names(text: &str) -> impl Iterator<Item = &str> {
    const PAIRS: &[(char, char)] = &[('\'', '\''), ('`', '\''), ('`', '`'), ('"', '"'), ('[', ']'), ('‘', '’')];
    let words = text.split_whitespace().filter(|word| word.len() < text.trim().len());
    words.filter_map(|word| {
        let word = word.trim_start_matches('(').trim_end_matches(['.', ',', ';', ':', ')']);
        let inside = PAIRS.iter().find_map(|(open, close)| word.strip_prefix(*open)?.strip_suffix(*close))?;
        let is_of_name = |c: char| is_word_char(c) || matches!(c, '.' | ':' | '\\' | '/' | '#' | '-' | '@' | '?' | '!');
        (inside.chars().all(is_of_name) && inside.chars().filter(|c| c.is_alphabetic()).nth(1).is_some())
            .then_some(inside)
    })
}

/// The mark right after the first occurrence of a name: `empty?` and `insert!` are names of their own in some
/// languages.
pub fn mark_behind(text: &str, name: &str) -> Option<char> {
    let (at, _) = text.match_indices(name).find(|(at, _)| !text[..*at].ends_with(is_word_char))?;
    text[at + name.len()..].chars().next().filter(|c| matches!(c, '!' | '?'))
}

/// The sign between a type and a name of it, at the first occurrence of the name as a word: the dot of `Queue.insert`, or
/// the `#` of `Queue#insert`. `queue.insert` and `Queue.new.insert` are calls of an object.
pub fn sign_before(text: &str, name: &str) -> Option<char> {
    let is_whole =
        |at: usize| !text[..at].ends_with(is_word_char) && !text[at + name.len()..].starts_with(is_word_char);
    let (at, _) = text.match_indices(name).find(|(at, _)| is_whole(*at))?;
    let before = &text[..at];
    let owner = before.trim_end_matches(['.', '#']);
    let rest = owner.trim_end_matches(|c| is_word_char(c) || c == ':');
    let is_type = owner[rest.len()..].starts_with(char::is_uppercase) && !rest.ends_with('.');
    before.chars().next_back().filter(|sign| *sign == '#' || (*sign == '.' && is_type))
}

/// The name before `=` and a plain value. With brackets and the like it is a line of code.
fn assigned(text: &str) -> Option<&str> {
    let (name, value) = text.split_once('=')?;
    let value = value.trim();
    let quoted = ['"', '\''].into_iter().find_map(|mark| value.strip_prefix(mark)?.strip_suffix(mark));
    let is_code = |c: char| c.is_whitespace() || matches!(c, '=' | '(' | '[' | ';' | '<' | '>');
    let is_plain = match quoted {
        Some(inside) => !inside.contains(['"', '\'']),
        None => !value.contains(is_code),
    };
    is_plain.then(|| name.trim_end().trim_end_matches([':', '?', '+']).trim_end())
}

/// The name in a shell's marks, or in a call that reads the environment.
fn unmarked(text: &str) -> Option<&str> {
    let braced = || text.strip_prefix("${")?.strip_suffix('}')?.split(':').next();
    let of_shell = || text.strip_prefix("$env:").or_else(|| text.strip_prefix('$'));
    let of_windows = || text.strip_prefix('%')?.strip_suffix('%');
    braced().or_else(of_windows).or_else(of_shell).or_else(|| looked_up(text))
}

/// `NAME` of `os.environ["NAME"]` and `getenv('NAME')`.
fn looked_up(text: &str) -> Option<&str> {
    let inside = text.strip_suffix([']', ')'])?;
    let mark = inside.chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    let (front, name) = inside.strip_suffix(mark)?.rsplit_once(mark)?;
    (front.ends_with(['[', '(']) && !front.contains(char::is_whitespace)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_owns_its_name_and_a_value_does_not() {
        for (text, name, expected) in [
            ("Queue.insert", "insert", Some('.')),
            ("where is Jobs::Queue.insert defined", "insert", Some('.')),
            ("Queue#insert", "insert", Some('#')),
            ("queue.insert", "insert", None),
            ("Queue.new.insert", "insert", None),
            ("Queue.insert_all", "insert", None),
            ("see lib/util.insert and Queue#insert", "insert", None),
            ("insert", "insert", None),
        ] {
            assert_eq!(sign_before(text, name), expected, "{text}");
        }
    }

    #[test]
    fn a_name_is_told_from_its_marks_and_its_value() {
        for (text, expected) in [
            ("$BAT_PAGER", "BAT_PAGER"),
            ("${BAT_PAGER}", "BAT_PAGER"),
            ("${BAT_PAGER:-less}", "BAT_PAGER"),
            ("$env:BAT_PAGER", "BAT_PAGER"),
            ("%BAT_PAGER%", "BAT_PAGER"),
            ("BAT_PAGER=1", "BAT_PAGER"),
            ("BAT_PAGER = \"less -R\"", "BAT_PAGER"),
            ("export BAT_PAGER=less", "BAT_PAGER"),
            ("-e BAT_PAGER=1", "BAT_PAGER"),
            ("$BAT_PAGER=1", "BAT_PAGER"),
            ("os.environ[\"BAT_PAGER\"]", "BAT_PAGER"),
            ("getenv('BAT_PAGER')", "BAT_PAGER"),
            ("lineLimit=3", "lineLimit"),
            ("--line-limit=3", "--line-limit"),
            // Without marks or a value there is nothing to strip.
            ("BAT_PAGER", ""),
            ("--line-limit", ""),
            // Words of a sentence, numbers, lines of code.
            ("color=red", ""),
            ("$request", ""),
            ("1=2", ""),
            ("MAX_LEN == 3", ""),
            ("MAX_LEN = len(x)", ""),
            ("let max_len = 3", ""),
            ("x -> get(\"MAX_LEN\")", ""),
            ("MAX_LEN=1 MIN_LEN=2", ""),
        ] {
            assert_eq!(name_inside(text).unwrap_or_default(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_path_of_keys_is_told_from_what_reads_it() {
        for (text, expected) in [
            ("pool.max_size", "pool.max_size"),
            ("pool:maxSize", "pool:maxSize"),
            ("POOL__MAX_SIZE", "POOL__MAX_SIZE"),
            ("items[0].name", "items[0].name"),
            ("$.pool.size", "pool.size"),
            ("${pool.size}", "pool.size"),
            ("${pool.size:5}", "pool.size"),
            ("config.get(\"pool.size\")", "pool.size"),
            ("@Value(\"${pool.size}\")", "pool.size"),
            ("config[\"pool\"][\"size\"]", "config[\"pool\"][\"size\"]"),
            ("pool", ""),
            ("maxSize", ""),
            ("pool size", ""),
            ("pool::size", ""),
            ("open(pool.size)", ""),
            ("1.2.3", ""),
        ] {
            assert_eq!(key_path(text).unwrap_or_default(), expected, "{text:?}");
        }
    }

    #[test]
    fn names_behind_their_types_are_found_in_a_text() {
        for (text, expected) in [
            ("how does Session.get work", "Session.get"),
            ("why does `net::Session::open()` fail?", "net::Session::open"),
            ("explain Session#close, then Oban.insert!", "Session#close Oban.insert!"),
            ("what does com.acme.RealCall.execute throw", "com.acme.RealCall.execute"),
            ("how is std::io read", "std::io"),
            // Addresses, versions, abbreviations, words.
            ("see example.com, e.g. v1.2 of Session.", ""),
            ("how does session.get work", ""),
            ("Call to undefined method Acme\\Queue::push()", "Acme\\Queue::push"),
            ("#3 [internal]: Acme\\Queue->push(1)", "Acme\\Queue->push"),
            ("cannot access com.acme.Foo", "com.acme.Foo"),
            ("NoClassDefFoundError: com/acme/Foo", "com/acme/Foo"),
            ("see https://host.example/Acme/Foo", ""),
            ("NoSuchMethodError: com.acme.Foo.push(I)V", "com.acme.Foo.push"),
            ("Session: get it", ""),
        ] {
            assert_eq!(qualified_names(text).collect::<Vec<_>>().join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn names_in_quotes_are_found_in_a_message() {
        for (text, expected) in [
            ("undefined method `push' for nil", "push"),
            ("cannot import name 'push' from 'acme.queue'.", "push acme.queue"),
            ("Cannot find module './queue'", "./queue"),
            ("Class \"Acme\\Queue\" not found", "Acme\\Queue"),
            ("Target class [Acme\\Queue] does not exist.", "Acme\\Queue"),
            ("cannot read (reading 'push')", "push"),
            ("'push'", ""),
            ("it's what isn't 'so easy'", ""),
            ("port '8080' of [1]", ""),
        ] {
            assert_eq!(quoted_names(text).collect::<Vec<_>>().join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn a_mark_behind_a_name_is_seen() {
        for (text, name, expected) in [
            ("Job.insert!", "insert", Some('!')),
            ("where is Job.empty? defined", "empty", Some('?')),
            ("reinsert! insert", "insert", None),
            ("Job.insert", "insert", None),
            ("Job", "insert", None),
        ] {
            assert_eq!(mark_behind(text, name), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_called_is_told_from_its_arguments() {
        for (text, expected) in [
            ("make_aware(now)", "make_aware"),
            ("make_aware(now,tz);", "make_aware"),
            ("Clock.set_to(now)", "Clock.set_to"),
            ("Str::studly('foo_bar')", "Str::studly"),
            ("Acme\\Clock(1)", "Acme\\Clock"),
            ("x=make_aware(now(1))", "make_aware"),
            ("$this->set_to(now)", "set_to"),
            ("clock(1).set_to(now)", "set_to clock"),
            ("clock().set_to(now)", "set_to"),
            ("x=Clock.of(1).set_to(now).run(2)", "run set_to Clock.of"),
            ("vec!(1,2)", "vec!"),
            // Without arguments, in quotes, or more than a call.
            ("make_aware()", ""),
            ("make_aware(", ""),
            ("'make_aware(now)'", ""),
            ("`make_aware(now)`", ""),
            ("make_aware(now, tz)", ""),
            ("make_aware(now)+1", ""),
            ("make_aware)(now))", ""),
            ("host/make_aware(now)", ""),
            ("rate-limit(1)", ""),
            ("get_(a|b)", ""),
            ("(a|b)", ""),
            ("O(n)", ""),
        ] {
            assert_eq!(names_called(text).join(" "), expected, "{text:?}");
        }
    }

    #[test]
    fn flags_are_found_among_words() {
        for (text, expected) in [
            ("bat --line-limit=3 --plain, then", "--line-limit --plain"),
            ("error: unexpected argument '--plain' found", "--plain"),
            ("a -- b --- c -x x--y ---z", ""),
        ] {
            assert_eq!(flags_in(text).collect::<Vec<_>>().join(" "), expected, "{text:?}");
        }
    }
}
