//! One glob as git understands it (`wildmatch`), in time that grows with glob and text, not exponentially.

#[derive(Debug)]
pub(super) struct Glob {
    /// What a text begins with.
    front: Box<[u8]>,
    tokens: Box<[GlobToken]>,
    ignore_case: bool,
}

/// What follows in a text.
#[derive(Debug)]
enum GlobToken {
    /// These bytes, in lower case where case is ignored.
    Literal(Box<[u8]>),
    /// One byte other than a slash (`?`).
    One,
    /// One of a set of bytes, never a slash.
    Class(Box<[bool; 256]>),
    /// Any bytes other than a slash (`*`).
    Star,
    /// Any bytes (`**`).
    Any,
    /// Nothing, or any bytes up to a slash (`**/`).
    Folders,
}

/// A name of a POSIX class, and whether a byte is in it.
type PosixClass = (&'static [u8], fn(&u8) -> bool);

const POSIX: [PosixClass; 12] = [
    (b"alnum", u8::is_ascii_alphanumeric),
    (b"alpha", u8::is_ascii_alphabetic),
    (b"blank", |b| matches!(b, b' ' | b'\t')),
    (b"cntrl", u8::is_ascii_control),
    (b"digit", u8::is_ascii_digit),
    (b"graph", u8::is_ascii_graphic),
    (b"lower", u8::is_ascii_lowercase),
    (b"print", |b| b.is_ascii_graphic() || *b == b' '),
    (b"punct", u8::is_ascii_punctuation),
    (b"space", |b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')),
    (b"upper", u8::is_ascii_uppercase),
    (b"xdigit", u8::is_ascii_hexdigit),
];

const OPEN: &str = "a class without its `]`";
const ENDS_IN_ESCAPE: &str = "a backslash with nothing to escape";

impl Glob {
    /// Reads a glob.
    ///
    /// # Errors
    /// Why it matches nothing.
    pub(super) fn new(glob: &[u8], ignore_case: bool) -> Result<Glob, &'static str> {
        let is_special = |b: &u8| matches!(b, b'*' | b'?' | b'[' | b'\\');
        // Git compares this part first, and takes the rest for a glob of its own: `**` may begin it.
        let front = glob.iter().position(is_special).unwrap_or(glob.len());
        let tokens = tokens(&glob[front..], ignore_case)?.into_boxed_slice();
        let mut front: Box<[u8]> = glob[..front].into();
        if ignore_case {
            front.make_ascii_lowercase();
        }
        Ok(Glob { front, tokens, ignore_case })
    }

    /// Whether it matches all of a text.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let Some((front, rest)) = text.split_at_checked(self.front.len()) else { return false };
        if !self.is_same(front, &self.front) {
            return false;
        }
        match &*self.tokens {
            [] => rest.is_empty(),
            // The commonest form, as in `*.log`.
            [GlobToken::Star, GlobToken::Literal(end)] => {
                let starred = rest.len().checked_sub(end.len());
                starred.is_some_and(|at| self.is_same(&rest[at..], end) && !rest[..at].contains(&b'/'))
            }
            tokens => self.matches_tokens(tokens, rest),
        }
    }

    /// Whether bytes of a text are those of the glob.
    fn is_same(&self, text: &[u8], glob: &[u8]) -> bool {
        text == glob || self.ignore_case && text.len() == glob.len() && text.eq_ignore_ascii_case(glob)
    }

    /// A star that takes one byte more is tried only for the last one: earlier stars took as little as they can, and a
    /// later beginning of what follows them has no more ends. A star ends at a slash; then the last `**` takes more.
    fn matches_tokens(&self, tokens: &[GlobToken], text: &[u8]) -> bool {
        let (mut token, mut at) = (0, 0);
        // The token after a star, and where in the text that was tried.
        let mut star: Option<(usize, usize)> = None;
        let mut any: Option<(usize, usize)> = None;
        loop {
            let rest = &text[at..];
            let taken = match tokens.get(token) {
                None if rest.is_empty() => return true,
                None => None,
                Some(GlobToken::Star) => {
                    star = Some((token + 1, at));
                    Some(0)
                }
                Some(GlobToken::Any | GlobToken::Folders) => {
                    (any, star) = (Some((token + 1, at)), None);
                    Some(0)
                }
                Some(GlobToken::One) => rest.first().filter(|b| **b != b'/').map(|_| 1),
                Some(GlobToken::Class(set)) => rest.first().filter(|b| set[usize::from(**b)]).map(|_| 1),
                Some(GlobToken::Literal(literal)) => {
                    let own = rest.get(..literal.len()).filter(|own| self.is_same(own, literal));
                    own.map(<[u8]>::len)
                }
            };
            if let Some(taken) = taken {
                (token, at) = (token + 1, at + taken);
                continue;
            }
            if let Some((after, from)) = star.filter(|(_, from)| text.get(*from).is_some_and(|b| *b != b'/')) {
                star = Some((after, from + 1));
                (token, at) = (after, from + 1);
                continue;
            }
            let Some((after, from)) = any else { return false };
            let more = match tokens[after - 1] {
                GlobToken::Folders => text[from..].iter().position(|b| *b == b'/').map(|slash| from + slash + 1),
                _ => (from < text.len()).then_some(from + 1),
            };
            let Some(from) = more else { return false };
            (any, star) = (Some((after, from)), None);
            (token, at) = (after, from);
        }
    }
}

fn tokens(glob: &[u8], ignore_case: bool) -> Result<Vec<GlobToken>, &'static str> {
    let (mut tokens, mut literal) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < glob.len() {
        let special = match glob[at] {
            b'*' => {
                let stars = glob[at..].iter().take_while(|b| **b == b'*').count();
                let rest = &glob[at + stars..];
                let ends = rest.is_empty() || rest.starts_with(b"/") || rest.starts_with(b"\\/");
                let is_folders = stars > 1 && (at == 0 || glob[at - 1] == b'/') && ends;
                at += stars;
                if !is_folders {
                    GlobToken::Star
                } else if rest.starts_with(b"/") {
                    at += 1;
                    GlobToken::Folders
                } else {
                    GlobToken::Any
                }
            }
            b'?' => {
                at += 1;
                GlobToken::One
            }
            b'[' => {
                let (set, end) = class(glob, at + 1, ignore_case)?;
                at = end;
                GlobToken::Class(Box::new(set))
            }
            byte => {
                let escaped = byte == b'\\';
                let byte = if escaped { *glob.get(at + 1).ok_or(ENDS_IN_ESCAPE)? } else { byte };
                at += 1 + usize::from(escaped);
                literal.push(if ignore_case { byte.to_ascii_lowercase() } else { byte });
                continue;
            }
        };
        if !literal.is_empty() {
            tokens.push(GlobToken::Literal(std::mem::take(&mut literal).into_boxed_slice()));
        }
        tokens.push(special);
    }
    if !literal.is_empty() {
        tokens.push(GlobToken::Literal(literal.into_boxed_slice()));
    }
    Ok(tokens)
}

/// The set of bytes of a class whose content begins at `at`, and the place behind its end.
fn class(glob: &[u8], mut at: usize, ignore_case: bool) -> Result<([bool; 256], usize), &'static str> {
    let negated = matches!(glob.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let mut set = [false; 256];
    // The byte that a range may begin with.
    let mut before = None;
    let mut is_first = true;
    loop {
        let byte = *glob.get(at).ok_or(OPEN)?;
        if byte == b']' && !is_first {
            break;
        }
        is_first = false;
        let next = glob.get(at + 1).copied();
        match (byte, before) {
            (b'\\', _) => {
                let escaped = next.ok_or(OPEN)?;
                set[usize::from(escaped)] = true;
                before = Some(escaped);
                at += 2;
            }
            (b'-', Some(first)) if next.is_some_and(|next| next != b']') => {
                let escaped = next == Some(b'\\');
                at += 1 + usize::from(escaped);
                let last = *glob.get(at).ok_or(OPEN)?;
                (first..=last).for_each(|byte| set[usize::from(byte)] = true);
                if ignore_case {
                    (first..=last).for_each(|byte| set[usize::from(byte.to_ascii_lowercase())] = true);
                }
                before = None;
                at += 1;
            }
            (b'[', _) if next == Some(b':') => {
                let from = at + 2;
                let end = from + glob[from..].iter().position(|b| *b == b']').ok_or(OPEN)?;
                match glob[from..end].strip_suffix(b":") {
                    Some(name) => {
                        let known = POSIX.iter().find(|(known, _)| *known == name);
                        let (_, holds) = known.ok_or("no class of this name")?;
                        let is_upper = name == b"upper";
                        for byte in 0..=255u8 {
                            let folded = ignore_case && is_upper && byte.is_ascii_lowercase();
                            set[usize::from(byte)] |= holds(&byte) || folded;
                        }
                        before = None;
                        at = end + 1;
                    }
                    // Without `:]`, a bracket like any other byte.
                    None => {
                        set[usize::from(b'[')] = true;
                        before = Some(b'[');
                        at += 1;
                    }
                }
            }
            (byte, _) => {
                set[usize::from(byte)] = true;
                before = Some(byte);
                at += 1;
            }
        }
    }
    if ignore_case {
        // The text is in lower case for git, and a class is as it is written.
        (b'A'..=b'Z').for_each(|byte| set[usize::from(byte)] = set[usize::from(byte.to_ascii_lowercase())]);
    }
    if negated {
        set.iter_mut().for_each(|holds| *holds = !*holds);
    }
    set[usize::from(b'/')] = false;
    Ok((set, at + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by definition: each star tries everything.
    fn matches_slowly(tokens: &[GlobToken], text: &[u8]) -> bool {
        let Some((token, later)) = tokens.split_first() else { return text.is_empty() };
        let mut after = (0..=text.len()).map(|at| (&text[..at], &text[at..]));
        match token {
            GlobToken::Literal(literal) => {
                text.strip_prefix(&**literal).is_some_and(|rest| matches_slowly(later, rest))
            }
            GlobToken::One => text.first().is_some_and(|b| *b != b'/') && matches_slowly(later, &text[1..]),
            GlobToken::Class(set) => {
                text.first().is_some_and(|b| set[usize::from(*b)]) && matches_slowly(later, &text[1..])
            }
            GlobToken::Star => after.any(|(taken, rest)| !taken.contains(&b'/') && matches_slowly(later, rest)),
            GlobToken::Any => after.any(|(_, rest)| matches_slowly(later, rest)),
            GlobToken::Folders => {
                after.any(|(taken, rest)| (taken.is_empty() || taken.ends_with(b"/")) && matches_slowly(later, rest))
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn trying_less_finds_no_less(
            parts in prop::collection::vec(
                prop::sample::select(vec!["a", "b", "/", "*", "**", "/**/", "?", "[ab]", "[!a]", "\\*"]),
                0..9,
            ),
            text in "[ab/*]{0,12}",
        ) {
            let glob = Glob::new(parts.concat().as_bytes(), false).expect("a glob");
            let front = text.as_bytes().strip_prefix(&*glob.front);
            let expected = front.is_some_and(|rest| matches_slowly(&glob.tokens, rest));
            prop_assert_eq!(glob.matches(text.as_bytes()), expected, "{} {}", parts.concat(), text);
        }
    }

    #[test]
    fn classes_are_sets_of_bytes() {
        for (glob, inside, outside) in [
            ("[abc]", "abc", "d]["),
            ("[!abc]", "d]", "abc/"),
            ("[^abc]", "d!", "abc/"),
            ("[]a]", "]a", "b"),
            ("[!]a]", "b", "]a"),
            ("[a-c]", "abc", "d-"),
            ("[a-]", "a-", "b"),
            ("[-a]", "-a", "b"),
            ("[+--]", "+,-", "./"),
            ("[\\]]", "]", "\\"),
            ("[\\a-c]", "abc", "\\"),
            ("[a\\-c]", "a-c", "b"),
            ("[a-\\c]", "abc", "\\"),
            ("[c-a]", "c", "ab"),
            ("[a-c-e]", "abc-e", "d"),
            ("[[:digit:]x]", "09x", "a:"),
            ("[![:alpha:]]", "1-", "aZ"),
            ("[[:digit]", "[:digt", "1x"),
            ("[[:digit:]-9]", "0-9", ".:"),
            ("[*?]", "*?", "a"),
            ("[!-~]", "!a", "-~/"),
        ] {
            let glob = Glob::new(glob.as_bytes(), false).expect(glob);
            for (bytes, expected) in [(inside, true), (outside, false)] {
                for byte in bytes.bytes() {
                    assert_eq!(glob.matches(&[byte]), expected, "{glob:?} {:?}", char::from(byte));
                }
            }
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let glob = Glob::new("*a".repeat(200).as_bytes(), false).expect("a glob");
        assert!(!glob.matches(&[b'a'; 199]) && glob.matches(&[b'a'; 4_000]));
        let glob = Glob::new("**/*a*/".repeat(60).as_bytes(), false).expect("a glob");
        assert!(!glob.matches("ab/".repeat(59).as_bytes()) && glob.matches("ab/".repeat(600).as_bytes()));
    }
}
