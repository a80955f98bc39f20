//! What a call of `search` asks for, and the table of parameters that go with it. Calls with parameters that have no
//! effect are refused.

use anyhow::{Result, bail};

use super::params::Search;
use super::tools::{RESULTS_DEFAULT, pattern};

/// What a call of `search` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchForm {
    /// Units like one.
    Similar,
    /// The unit of a name, wherever it is.
    Name,
    /// The unit of a name in a file.
    NameInFile,
    /// What is at a place, or has an id.
    Place,
    /// Calls over several levels.
    Levels,
    /// A ranking by a query.
    Ranking,
    /// A list of units without a query.
    List,
    /// The lines with a pattern.
    Lines,
    /// The units of a file.
    Outline,
}

use SearchForm::{Levels, Lines, List, Name, NameInFile, Outline, Place, Ranking, Similar};

/// All forms.
const ANY: &[SearchForm] = &[Similar, Name, NameInFile, Place, Levels, Ranking, List, Lines, Outline];
/// Those that look into many files.
const OF_FILES: &[SearchForm] = &[Similar, Name, Levels, Ranking, List, Lines];
/// Those that show lines of each result.
const WITH_LINES: &[SearchForm] = &[Similar, Ranking, List, Lines];
/// Those whose answer is one unit.
const ONE_UNIT: [SearchForm; 3] = [Name, NameInFile, Place];

/// A parameter.
struct ParameterRule {
    name: &'static str,
    is_given: fn(&Search) -> bool,
    /// The forms in which it has an effect, or asks for what they give anyway.
    forms: &'static [SearchForm],
    /// The parameters of which it needs one.
    needs: &'static [&'static str],
}

const fn rule(name: &'static str, is_given: fn(&Search) -> bool, forms: &'static [SearchForm]) -> ParameterRule {
    ParameterRule { name, is_given, forms, needs: &[] }
}

/// Which parameters go with which forms. Those that shape the answer go with every form. Empty texts, zeros and defaults
/// ask for nothing, since some agents fill in every parameter.
const RULES: [ParameterRule; 34] = [
    rule("query", |asked| !asked.query.trim().is_empty(), &[Ranking]),
    rule("queries", |asked| !asked.queries.is_empty(), &[Ranking]),
    rule("pattern", |asked| pattern(asked).is_some(), &[Similar, Ranking, List, Lines]),
    rule("name", |asked| !asked.name.trim().is_empty(), &ONE_UNIT),
    rule("file", |asked| !asked.file.trim().is_empty(), ANY),
    rule("like", |asked| !asked.like.trim().is_empty(), &[Similar]),
    rule("calls", |asked| is_named(&asked.calls), &[Similar, Levels, Ranking, List]),
    rule("called_by", |asked| is_named(&asked.called_by), &[Similar, Levels, Ranking, List]),
    rule("depth", |asked| asked.depth.is_some_and(|depth| depth > 0), &[Levels]),
    rule("kind", |asked| is_named(&asked.kind), &[Similar, Name, NameInFile, Levels, Ranking, List]),
    rule("paths", |asked| is_named(&asked.paths), OF_FILES),
    rule("groups", |asked| is_named(&asked.groups), OF_FILES),
    rule("include", |asked| is_named(&asked.include), OF_FILES),
    rule("exclude", |asked| is_named(&asked.exclude), OF_FILES),
    rule("languages", |asked| is_named(&asked.languages), OF_FILES),
    rule("code_only", |asked| asked.code_only, OF_FILES),
    rule("tests", |asked| asked.tests.as_deref().is_some_and(|tests| tests != "auto"), OF_FILES),
    ParameterRule { needs: &["pattern"], ..rule("fixed", |asked| asked.fixed, ANY) },
    ParameterRule { needs: &["pattern"], ..rule("word", |asked| asked.word, ANY) },
    ParameterRule {
        needs: &["pattern", "calls", "called_by", "query", "queries"],
        ..rule("ignore_case", |asked| asked.ignore_case, &[Similar, Ranking, List, Lines])
    },
    rule("context", |asked| asked.context.is_some_and(|lines| lines > 0), WITH_LINES),
    rule("near", |asked| asked.near.as_ref().is_some_and(|near| !near.trim().is_empty()), &[Ranking]),
    rule("hints", |asked| !asked.hints.is_empty(), &[Ranking]),
    rule("expand", |asked| asked.expand.as_ref().is_some_and(|given| !given.is_empty()), &[Ranking]),
    rule("no_expand", |asked| asked.no_expand, &[Ranking]),
    rule("min_strength", |asked| asked.min_strength.is_some_and(|least| least > 0.0), &[Ranking]),
    rule("all", |asked| asked.all, ANY),
    rule("per_file", |asked| asked.per_file.is_some_and(|units| units != 1), &[Ranking, List]),
    rule("pack", |asked| asked.pack.is_some_and(|tokens| tokens > 0), &[Ranking]),
    rule("results", |asked| asked.results.is_some_and(|files| files != RESULTS_DEFAULT), WITH_LINES),
    rule("content", |asked| asked.content, &[Similar, Name, NameInFile, Place, Ranking, List]),
    rule("lines", |asked| asked.lines.is_some_and(|lines| lines > 0), WITH_LINES),
    rule("offset", |asked| asked.offset.is_some(), ANY),
    rule("max_tokens", |asked| asked.max_tokens.is_some(), ANY),
];

/// Whether a list names something.
fn is_named(names: &[String]) -> bool {
    names.iter().any(|name| !name.trim().is_empty())
}

/// Whether a call limits the files that are looked into, other than by `file`.
pub fn has_limits(asked: &Search) -> bool {
    RULES.iter().any(|rule| rule.forms == OF_FILES && (rule.is_given)(asked))
}

impl SearchForm {
    /// The parameter that asks for it, and what it does.
    fn told(self) -> (&'static str, &'static str) {
        match self {
            Similar => ("`like`", "ranks units like one"),
            Name | NameInFile => ("`name`", "reads the unit of that name"),
            Place => ("a place (FILE:LINE, #id)", "reads what is there"),
            Levels => ("`depth`", "lists units by level"),
            Ranking => ("`query`", "ranks units"),
            List => ("`calls`, `called_by` or `kind` without `query`", "lists units by path"),
            Lines => ("`pattern` alone", "lists lines"),
            Outline => ("`file` alone", "lists the units of that file"),
        }
    }

    /// Whether the answer is of one file that the call names.
    pub fn is_of_file(self) -> bool {
        matches!(self, NameInFile | Place | Outline)
    }

    /// Refuses what has no effect, since the caller expects one.
    ///
    /// # Errors
    /// When a parameter has none.
    pub fn check(self, asked: &Search) -> Result<()> {
        let is_given = |name: &&str| RULES.iter().any(|rule| rule.name == *name && (rule.is_given)(asked));
        let given: Vec<&ParameterRule> = RULES.iter().filter(|rule| (rule.is_given)(asked)).collect();
        if let Some(alone) = given.iter().find(|rule| !rule.needs.is_empty() && !rule.needs.iter().any(is_given)) {
            let needs: Vec<String> = alone.needs.iter().map(|name| format!("`{name}`")).collect();
            bail!("`{}`: only with {}; give that too, or leave it out", alone.name, needs.join(" or "));
        }
        let idle: Vec<String> =
            given.iter().filter(|rule| !rule.forms.contains(&self)).map(|rule| format!("`{}`", rule.name)).collect();
        if !idle.is_empty() {
            let (by, does) = self.told();
            bail!("{}: without effect beside {by}, which {does}; leave out one of them", idle.join(" and "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::schema;
    use super::*;

    #[test]
    fn every_parameter_has_its_rule() {
        let schema = schema::of::<Search>();
        let all = schema["properties"].as_object().expect("properties");
        // The whole call is limited to a project.
        let all: BTreeSet<&str> = all.keys().map(String::as_str).filter(|name| *name != "project").collect();
        assert_eq!(RULES.iter().map(|rule| rule.name).collect::<BTreeSet<_>>(), all);
    }

    #[test]
    fn defaults_ask_for_nothing() {
        let zeros = Search {
            tests: Some("auto".to_string()),
            depth: Some(0),
            context: Some(0),
            lines: Some(0),
            results: Some(RESULTS_DEFAULT),
            per_file: Some(1),
            pack: Some(0),
            min_strength: Some(0.0),
            near: Some(String::new()),
            expand: Some(String::new()),
            pattern: Some(String::new()),
            name: "push".to_string(),
            ..Search::default()
        };
        assert!(Name.check(&zeros).is_ok());
    }
}
