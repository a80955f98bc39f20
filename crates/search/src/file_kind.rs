//! Whether a file is text rather than a program.

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
