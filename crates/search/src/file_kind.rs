//! What a file contains by its language: text or a program, tests of its own.

use colgrep_core::UnitRole;
use colgrep_syntax::language::{self, Category, others};

/// True if files of a language are prose, configuration or data.
pub fn is_text(language: &str) -> bool {
    matches!(category(language), Category::Prose | Category::Data)
}

/// True if a file is text, or if its language is unknown and its path doesn't look like a program's.
pub(crate) fn is_data(language: &str, path: &str) -> bool {
    is_text(language) || (category(language) == Category::Unknown && others::is_data(path))
}

pub(crate) fn category(language: &str) -> Category {
    language::by_name(language).map_or(Category::Unknown, |l| l.category)
}

/// Whether files of a language contain modules of tests.
pub fn has_test_modules(language: &str) -> bool {
    language::by_name(language).is_some_and(|row| row.has_test_modules)
}

/// Whether a unit with this role and these enclosing names is a test, in a file of a language.
pub fn is_test_inside(role: UnitRole, parent: &str, language: &str) -> bool {
    let is_in_module = || parent.split('.').any(|name| matches!(name, "tests" | "test"));
    role == UnitRole::Test || (is_in_module() && has_test_modules(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_lie_in_modules_of_that_name_or_are_so_by_syntax() {
        for (parent, role, language, expected) in [
            ("tests", UnitRole::Definition, "rust", true),
            ("ring.tests", UnitRole::Definition, "rust", true),
            ("tests", UnitRole::Definition, "python", false),
            ("", UnitRole::Test, "zig", true),
            ("contests", UnitRole::Definition, "rust", false),
        ] {
            assert_eq!(is_test_inside(role, parent, language), expected, "{parent} {role:?}");
        }
    }
}
