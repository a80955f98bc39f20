//! Compares a query with the name of a unit, word for word: a heading, a name with marks (`Get-DiskReport`, `x'`), or a
//! qualified name (`jobs.deploy`).

use crate::fold::folded;
use crate::token::words;
use crate::unit::Unit;

pub const NAME_WORDS_MAX: usize = 16;
/// Minimum of letters in an abbreviation of an enclosing name: `var.cidr` for `variable.cidr`.
const LETTERS_OF_OWNER_MIN: usize = 3;

/// How exactly a query is the name of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameAgreement {
    /// Its words, in any case and with any punctuation between them.
    Words,
    /// Its words as written.
    Case,
    Exact,
}

/// How a query agrees with the name of a unit, or with the end of its qualified name; `None` if it is not that name.
pub fn name_agreement(text: &str, unit: &Unit) -> Option<NameAgreement> {
    let text = text.trim();
    let typed: Vec<&str> = words(text).map(|place| &text[place]).collect();
    let name: Vec<&str> = words(&unit.name).map(|place| &unit.name[place]).collect();
    if name.is_empty() || typed.len() < name.len() || typed.len() > NAME_WORDS_MAX {
        return None;
    }
    let (owners, last) = typed.split_at(typed.len() - name.len());
    let parents: Vec<&str> = words(&unit.parent).map(|place| &unit.parent[place]).collect();
    let is_owned = owners.len() <= parents.len()
        && owners.iter().rev().zip(parents.iter().rev()).all(|(typed, own)| is_owner(typed, own));
    let is_named = last.iter().zip(&name).all(|(typed, own)| folded(typed) == folded(own));
    let is_exact = text == unit.name || (!owners.is_empty() && text == unit.qualified_name());
    (is_owned && is_named).then_some(match () {
        () if is_exact => NameAgreement::Exact,
        () if last == name => NameAgreement::Case,
        () => NameAgreement::Words,
    })
}

fn is_owner(typed: &str, own: &str) -> bool {
    typed == own || (typed.chars().nth(LETTERS_OF_OWNER_MIN - 1).is_some() && own.starts_with(typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_a_name_word_for_word() {
        for (text, parent, name, expected) in [
            ("Get-DiskReport", "", "Get-DiskReport", "Exact"),
            ("get-diskreport", "", "Get-DiskReport", "Words"),
            ("test-unit", "", "test-unit", "Exact"),
            ("test-unit:", "", "test-unit", "Case"),
            ("deploy-app()", "", "deploy-app", "Case"),
            ("x'", "", "x'", "Exact"),
            ("x'", "", "x", "Case"),
            ("x'", "", "x''", "Case"),
            (".btn-primary", "", ".btn-primary", "Exact"),
            ("btn-primary", "", ".btn-primary", "Case"),
            (".btn-primary", "", ".btn-primary:hover", ""),
            (".btn-primary", "", "a .btn-primary", ""),
            ("aws_vpc.this", "aws_vpc", "this", "Exact"),
            ("var.cidr", "variable", "cidr", "Case"),
            ("jobs.deploy", "jobs", "deploy", "Exact"),
            ("services.web_app", "services", "web_app", "Exact"),
            ("jobs.build-and-test", "jobs", "build-and-test", "Exact"),
            ("other.deploy", "jobs", "deploy", ""),
            ("jobs", "jobs", "deploy", ""),
            ("Getting started", "Title", "Getting started", "Exact"),
            ("getting started", "Title", "Getting started", "Words"),
            ("Getting started?", "", "Getting started", "Case"),
            ("What's new in 2.0?", "", "What's new in 2.0", "Case"),
            ("Getting", "", "Getting started", ""),
            ("Getting started now", "", "Getting started", ""),
            ("deploy-app", "", "deploy_app", ""),
            ("", "", "", ""),
            ("'", "", "x", ""),
        ] {
            let unit = Unit { parent: parent.into(), name: name.into(), ..Unit::default() };
            let found = name_agreement(text, &unit).map(|agreement| format!("{agreement:?}"));
            assert_eq!(found.unwrap_or_default(), expected, "{text} {parent} {name}");
        }
    }
}
