//! Makes Cython readable for Python's grammar: `cdef int f(int x) nogil:` becomes `def f( ):`, declarations of C become
//! expressions. The result has the same length in bytes.

/// Longest parameters of a function, in bytes.
const PARAMETERS_BYTES_MAX: usize = 4_096;

/// Words that begin a statement of Cython.
const WORDS: [&str; 3] = ["cdef", "cpdef", "ctypedef"];
/// Words before the name of a structure of C.
const STRUCTURES: [&str; 4] = ["struct", "union", "enum", "cppclass"];

/// The text as Python, if it has statements of Cython.
pub(super) fn as_python(text: &str) -> Option<String> {
    if !text.contains("cdef ") && !text.contains("cpdef ") {
        return None;
    }
    let mut cython = CythonText { text, bytes: text.as_bytes().to_vec() };
    // Indentation of the block of C whose lines are read.
    let mut block: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (code, column) = (line.trim(), line.len() - line.trim_start().len());
        let start = at + column;
        at += line.len();
        if code.is_empty() || code.starts_with('#') {
            continue;
        }
        block = block.filter(|outer| column > *outer);
        let is_own = WORDS.contains(&code.split([' ', ':']).next().unwrap_or_default());
        let opens_block = (is_own || block.is_some()) && cython.statement(start, code);
        if opens_block {
            block.get_or_insert(column);
        } else if block.is_some() && !is_own {
            cython.fill(start, code);
        }
    }
    String::from_utf8(cython.bytes).ok().filter(|edited| edited != text)
}

struct CythonText<'a> {
    text: &'a str,
    bytes: Vec<u8>,
}

impl CythonText<'_> {
    /// Makes a line an expression.
    fn fill(&mut self, start: usize, code: &str) {
        self.bytes[start..start + code.len()].fill(b'_');
    }

    /// Writes `word` at `start` and blanks the rest up to `end`.
    fn write(&mut self, start: usize, word: &str, end: usize) {
        self.bytes[start..start + word.len()].copy_from_slice(word.as_bytes());
        self.blank(start + word.len(), end);
    }

    fn blank(&mut self, start: usize, end: usize) {
        self.bytes[start..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
    }

    /// Edits the statement at `start`; returns whether a block of C follows.
    fn statement(&mut self, start: usize, code: &str) -> bool {
        let kinds = STRUCTURES.into_iter().chain(["class"]);
        let named =
            kinds.filter_map(|kind| Some((kind, code.find(&format!("{kind} "))? + kind.len() + 1))).min_by_key(|k| k.1);
        let head = code.split(['(', '=']).next().unwrap_or_default();
        if code.ends_with(':')
            && let Some((kind, name)) = named.filter(|(_, name)| *name <= head.len() && *name > "class".len())
        {
            self.write(start, "class", start + name);
            // Parameters of a C++ template.
            if let Some(open) = code.find('[')
                && let Some(close) = code.rfind(']')
                && open < close
            {
                self.blank(start + open, start + close + 1);
            }
            return kind != "class";
        }
        if let Some((name, open)) = function_name(code)
            && let Some(close) = self.close(start + open)
        {
            let line_end = close + self.text[close..].lines().next().unwrap_or_default().len();
            match self.text[close..line_end].find(':') {
                Some(colon) => {
                    self.write(start, "def", start + name);
                    self.blank(start + open + 1, close);
                    self.blank(close + 1, close + colon);
                }
                None => self.fill(start, code),
            }
            return false;
        }
        if code.ends_with(':') {
            self.write(start, "if 1", start + code.len() - 1);
            return true;
        }
        match code.split_once('=') {
            Some((before, _)) => {
                let before = before.trim_end();
                let name = before.rfind(|c: char| !is_word(c)).map_or(0, |space| space + 1);
                if name > 2 { self.write(start, "0;", start + name) } else { self.fill(start, code) }
            }
            None => self.fill(start, code),
        }
        false
    }

    /// The bracket that closes the one at `open`.
    fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0;
        let closes = |byte: &u8| {
            depth += i32::from(*byte == b'(') - i32::from(*byte == b')');
            depth == 0
        };
        self.text.as_bytes()[open..].iter().take(PARAMETERS_BYTES_MAX).position(closes).map(|length| open + length)
    }
}

/// The name before the first bracket that follows one directly, and that bracket: of `int f(int x)`.
fn function_name(code: &str) -> Option<(usize, usize)> {
    let code = code.split('#').next().unwrap_or_default();
    let value = code.find('=').unwrap_or(code.len());
    let open = code.match_indices('(').map(|(at, _)| at).find(|at| code[..*at].ends_with(is_word))?;
    let name = code[..open].rfind(|c: char| !is_word(c)).map_or(0, |before| before + 1);
    (open < value && name > "def".len()).then_some((name, open))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cython_becomes_python() {
        for (text, expected) in [
            ("cdef int f(int x) nogil:\n    return x\n", "def      f(     )      :\n    return x\n"),
            ("cpdef g(int[:] a,\n        b=1) except *:\n", "def   g(         \n           )         :\n"),
            ("cdef class A(B):\n    cdef int x\n    x = 1\n", "class      A(B):\n    __________\n    x = 1\n"),
            ("cdef struct A:\n    int b\nc = 1\n", "class       A:\n    _____\nc = 1\n"),
            ("cdef extern from \"a.h\":\n    int f(int x)\n", "if 1                  :\n    ____________\n"),
            ("cdef cppclass A[T]:\n    int f(T&)\n", "class         A   :\n    _________\n"),
            ("cdef int x # f(y)\n", "_________________\n"),
            ("cdef double RATE = 2\n", "0;          RATE = 2\n"),
            ("cdef inline (int, int) f(): return 1, 2\n", "def                    f(): return 1, 2\n"),
        ] {
            assert_eq!(as_python(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(as_python("# cdef int\ndef f(x): return 1\n"), None);
    }
}
