//! Tags, which describe a unit by facts in the index, and hints, which ask for them. Both are
//! compared as terms, so `memory-management`, "memory management" and `MemoryManagement` are equal.

mod verbs;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::path::fold_agent;
use crate::token::{Tokenizer, is_stop_word};
use crate::unit::Unit;

crate::named! {
    /// The subject of a tag.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum TagKind {
        /// The part of the program: folders, the file's stem, the enclosing units.
        Subsystem = "subsystem",
        /// What the unit does: the class of a verb in its name.
        Purpose = "purpose",
        /// Types in its parameters, its return type and its bases.
        Type = "type",
        /// Topics of its documentation and its folders.
        Concept = "concept",
        /// The conditions under which it is compiled: `cfg(feature = "…")`, `#ifdef`, build tags.
        Feature = "feature",
        /// A name that people gave to its file.
        Tag = "tag",
        /// A word of its name, signature, documentation, calls and variables.
        Keyword = "keyword",
    }
}

impl TagKind {
    pub fn from_name(name: &str) -> Option<TagKind> {
        TagKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Every name, with commas.
    pub fn names() -> String {
        TagKind::ALL.map(TagKind::name).join(", ")
    }
}

/// A tag that the caller expects of the wanted unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    /// Its subject.
    pub kind: TagKind,
    /// The tag in words.
    pub word: String,
}

/// Why a text is not a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HintError {
    /// There is no `=`.
    #[error("a hint is KIND=WORD, with one of the kinds {}", TagKind::names())]
    NoKind,
    /// No kind has that name.
    #[error("there is no kind {kind:?} of hint; the kinds are {}", TagKind::names())]
    Kind {
        /// The name given.
        kind: String,
    },
    /// There is no word to compare.
    #[error("the hint {}=… needs a word", kind.name())]
    NoWord {
        /// The hint's kind.
        kind: TagKind,
    },
}

impl Hint {
    /// A hint of a kind with that name.
    ///
    /// # Errors
    /// When there is no such kind, or the word has no letter or digit.
    pub fn new(kind: &str, word: &str) -> Result<Hint, HintError> {
        let known = TagKind::from_name(kind.trim());
        let kind = known.ok_or_else(|| HintError::Kind { kind: kind.to_string() })?;
        if !word.contains(char::is_alphanumeric) {
            return Err(HintError::NoWord { kind });
        }
        Ok(Hint { kind, word: word.trim().to_string() })
    }
}

impl FromStr for Hint {
    type Err = HintError;

    /// Reads `KIND=WORD`.
    fn from_str(text: &str) -> Result<Hint, HintError> {
        let (kind, word) = text.split_once('=').ok_or(HintError::NoKind)?;
        Hint::new(kind, word)
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.kind.name(), self.word)
    }
}

/// Which hints a unit's tags match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matched {
    /// A bit for each kind with a matching hint, except keywords.
    kinds: u8,
    /// Number of matched keyword hints.
    pub keywords: u8,
}

impl Matched {
    /// Whether a hint of that kind is matched.
    pub fn has(self, kind: TagKind) -> bool {
        if kind == TagKind::Keyword { self.keywords > 0 } else { self.kinds & 1 << kind as u8 != 0 }
    }

    /// The same with a hint of that kind matched.
    #[must_use]
    pub fn with(self, kind: TagKind) -> Matched {
        match kind {
            TagKind::Keyword => Matched { keywords: self.keywords.saturating_add(1), ..self },
            kind => Matched { kinds: self.kinds | 1 << kind as u8, ..self },
        }
    }
}

/// Hints, ready to be compared with many units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Kind and terms of each.
    wanted: Vec<(TagKind, Vec<String>)>,
}

impl Hints {
    /// Turns hints into terms. A purpose that is a verb becomes the verb's class.
    pub fn new<'h>(hints: impl IntoIterator<Item = &'h Hint>, tokenizer: &mut Tokenizer) -> Hints {
        let mut wanted: Vec<(TagKind, Vec<String>)> = Vec::new();
        for hint in hints {
            let mut terms = tokenizer.part_terms(&hint.word);
            // As in the tags: `copy-on-write` is copy, write.
            if !terms.iter().all(|term| is_stop_word(term)) {
                terms.retain(|term| !is_stop_word(term));
            }
            if hint.kind == TagKind::Purpose {
                terms = of_purpose(terms, tokenizer);
            }
            if !wanted.contains(&(hint.kind, terms.clone())) {
                wanted.push((hint.kind, terms));
            }
        }
        Hints { wanted }
    }

    /// Whether it has no hints.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Which of them a unit matches; `own` are the names that people gave to the file at `path`.
    pub fn matched(&self, unit: &Unit, path: &str, own: &[String], tokenizer: &mut Tokenizer) -> Matched {
        let mut known: HashMap<TagKind, Vec<Vec<String>>> = HashMap::new();
        let mut matched = Matched::default();
        for (kind, wanted) in &self.wanted {
            let tags = known.entry(*kind).or_insert_with(|| tags(*kind, unit, path, own, tokenizer));
            if tags.iter().any(|tag| tag.windows(wanted.len()).any(|run| run == wanted)) {
                matched = matched.with(*kind);
            }
        }
        matched
    }
}

/// The tags of one kind that a unit has, each as a run of terms.
pub fn tags(kind: TagKind, unit: &Unit, path: &str, own: &[String], tokenizer: &mut Tokenizer) -> Vec<Vec<String>> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    if kind == TagKind::Purpose {
        let terms = tokenizer.part_terms(&unit.name);
        let classes = terms.iter().filter_map(|term| class_of(term));
        let mut purposes: Vec<Vec<String>> = classes.map(|class| tokenizer.part_terms(class)).collect();
        let own = unit.tags.iter().filter_map(|tag| tag.split_once('=')).filter(|(field, _)| kind_of(field) == kind);
        for (_, purpose) in own {
            let terms = tokenizer.part_terms(purpose);
            purposes.push(of_purpose(terms, tokenizer));
        }
        return purposes;
    }
    let mut runs = Vec::new();
    let mut add = |text: &str| add_runs(text, &mut runs, tokenizer);
    unit.tags
        .iter()
        .filter_map(|tag| tag.split_once('='))
        .filter(|(field, _)| kind_of(field) == kind)
        .for_each(|tag| add(tag.1));
    match kind {
        // In a row, so that `net.client` matches.
        TagKind::Subsystem => [&format!("{folder}/{stem}"), &unit.parent].into_iter().for_each(|text| add(text)),
        TagKind::Type => {
            unit.parameters.iter().chain(&unit.extends).chain([&unit.return_type]).for_each(|text| add(text));
        }
        TagKind::Concept => [unit.docstring.as_str(), folder].into_iter().for_each(&mut add),
        TagKind::Feature => unit.features.iter().for_each(|text| add(text)),
        TagKind::Tag => own.iter().for_each(|text| add(text)),
        TagKind::Keyword => {
            [&unit.name, &unit.parent, &unit.signature, &unit.docstring].into_iter().for_each(|text| add(text));
            unit.calls.iter().chain(&unit.variables).for_each(|text| add(text));
        }
        TagKind::Purpose => {}
    }
    runs
}

/// The kind of the tags in a list of that name: `subsystems` has subsystems, any other list plain tags.
fn kind_of(field: &str) -> TagKind {
    let lower = field.to_lowercase();
    TagKind::from_name(lower.strip_suffix('s').unwrap_or(&lower)).unwrap_or(TagKind::Tag)
}

/// Adds the consecutive terms of a text, without stop words, and each name of several parts as one term.
fn add_runs(text: &str, runs: &mut Vec<Vec<String>>, tokenizer: &mut Tokenizer) {
    let mut run = Vec::new();
    tokenizer.tokenize(text, |token| match token.compound {
        true => runs.push(vec![token.term.to_string()]),
        false if is_stop_word(token.term) => {}
        false => run.push(token.term.to_string()),
    });
    if !run.is_empty() {
        runs.push(run);
    }
}

/// A purpose in terms; a verb becomes its class.
fn of_purpose(terms: Vec<String>, tokenizer: &mut Tokenizer) -> Vec<String> {
    let class = if let [term] = terms.as_slice() { class_of(term) } else { None };
    class.map_or(terms, |class| tokenizer.part_terms(class))
}

/// The class of a verb in word-stem form.
fn class_of(term: &str) -> Option<&'static str> {
    static CLASS_OF: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
        let mut tokenizer = Tokenizer::default();
        let verbs = verbs::CLASSES.iter().flat_map(|(class, verbs)| verbs.split(' ').map(move |verb| (verb, *class)));
        verbs.map(|(verb, class)| (tokenizer.normal(verb).to_string(), class)).collect()
    });
    CLASS_OF.get(term).or_else(|| CLASS_OF.get(&fold_agent(term))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> Unit {
        let list = |items: &[&str]| items.iter().map(ToString::to_string).collect::<Vec<_>>();
        Unit {
            name: "alloc_page".into(),
            parent: "PageCache".into(),
            signature: "fn alloc_page(pool: &mut FramePool) -> Result<Frame>".into(),
            docstring: "Takes a frame for copy-on-write.".into(),
            parameters: list(&["pool: &mut FramePool"]),
            return_type: "Result<Frame>".into(),
            calls: list(&["evict"]),
            features: list(&["huge_pages"]),
            ..Unit::default()
        }
    }

    fn met(hints: &[&str]) -> Vec<bool> {
        let mut tokenizer = Tokenizer::default();
        let own = ["hot-path".to_string()];
        let one = |hint: &&str| {
            let hint: Hint = hint.parse().expect("a hint");
            let hints = Hints::new([&hint], &mut tokenizer);
            hints.matched(&unit(), "kernel/memory-management/page.rs", &own, &mut tokenizer).has(hint.kind)
        };
        hints.iter().map(one).collect()
    }

    #[test]
    fn every_kind_is_met_by_the_facts_that_tell_of_it() {
        let right = [
            "subsystem=kernel",
            "subsystem=kernel memory",
            "subsystem=management/page",
            "subsystem=page-cache",
            "subsystem=PageCache",
            "purpose=memory-management",
            "purpose=allocate",
            "purpose=free",
            "type=frame pool",
            "type=Frame",
            "concept=copy-on-write",
            "concept=memory",
            "feature=huge-pages",
            "tag=hot path",
            "keyword=evict",
        ];
        assert_eq!(met(&right), vec![true; right.len()]);
        let wrong = [
            "subsystem=network",
            "subsystem=memory kernel",
            "purpose=parsing",
            "purpose=page",
            "type=evict",
            "concept=pool",
            "feature=pages huge",
            "tag=kernel",
            "keyword=kernel",
        ];
        assert_eq!(met(&wrong), vec![false; wrong.len()]);
    }

    #[test]
    fn lists_of_a_row_are_tags_of_the_kind_that_they_are_named_after() {
        let mut tokenizer = Tokenizer::default();
        let tags = [
            "subsystems=memory",
            "purposes=memory-management",
            "purposes=search",
            "aliases=slab",
            "concepts=page cache",
        ];
        let row = Unit { name: "slab".into(), tags: tags.map(String::from).to_vec(), ..Unit::default() };
        for (hint, met) in [
            ("subsystem=memory", true),
            ("purpose=alloc", true),
            ("purpose=search", true),
            ("purpose=find", true),
            ("purpose=parse", false),
            ("tag=slab", true),
            ("concept=page-cache", true),
            ("tag=memory", false),
        ] {
            let hint: Hint = hint.parse().expect("a hint");
            let matched = Hints::new([&hint], &mut tokenizer).matched(&row, "rows.jsonl", &[], &mut tokenizer);
            assert_eq!(matched.has(hint.kind), met, "{hint}");
        }
    }

    #[test]
    fn a_hyphen_is_a_space_on_both_sides() {
        for hint in ["memory-management", "memory management", "memory_management", "MemoryManagement"] {
            let hint = format!("subsystem={hint}");
            assert_eq!(met(&[hint.as_str()]), [true], "{hint}");
        }
    }

    #[test]
    fn hints_are_read_and_refused() {
        for (text, expected) in [
            ("subsystem=http", "subsystem=http"),
            ("keyword= a=b ", "keyword=a=b"),
            (
                "http",
                "a hint is KIND=WORD, with one of the kinds subsystem, purpose, type, concept, feature, tag, keyword",
            ),
            (
                "module=http",
                "there is no kind \"module\" of hint; the kinds are subsystem, purpose, type, concept, feature, tag, keyword",
            ),
            ("tag=", "the hint tag=… needs a word"),
            ("tag=--", "the hint tag=… needs a word"),
        ] {
            let read = text.parse::<Hint>().map_or_else(|e| e.to_string(), |hint| hint.to_string());
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn verbs_have_one_class_each() {
        let all: Vec<(&str, &str)> =
            verbs::CLASSES.iter().flat_map(|(class, verbs)| verbs.split(' ').map(move |verb| (verb, *class))).collect();
        assert!(all.len() >= 115, "{}", all.len());
        let mut tokenizer = Tokenizer::default();
        for (verb, class) in all {
            assert_eq!(class_of(tokenizer.normal(verb)), Some(class), "{verb}");
        }
        for (name, class) in [("parser", "parsing"), ("allocator", "memory-management"), ("reading", "input")] {
            assert_eq!(class_of(tokenizer.normal(name)), Some(class), "{name}");
        }
        assert_eq!(class_of("page"), None);
    }
}
