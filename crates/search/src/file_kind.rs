//! Whether a file is text rather than a program.

use colgrep_core::{Unit, UnitRole};
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

/// Whether a unit is a test by its syntax or its module, in a file of a language.
pub fn is_test_inside(unit: &Unit, language: &str) -> bool {
    let in_module = || language::by_name(language).is_some_and(|l| l.has_test_modules);
    unit.role == UnitRole::Test || (unit.parent.split('.').any(|name| matches!(name, "tests" | "test")) && in_module())
}
