//! Files that differ only by their extension.

use colgrep_core::query::Query;
use colgrep_core::rank::FileFacts;
use colgrep_core::token::is_stop_word;
use rustc_hash::FxHashMap;

/// Of files that differ only by their extension, prefers those whose extension is a word of the query: "fish
/// completion" means `completion.fish` rather than `completion.zsh`. Code and data are not variants of each other, and
/// a long text names many extensions.
pub(super) fn tell_endings_apart(query: &Query, files: &mut [FileFacts]) {
    if query.long.is_some() {
        return;
    }
    let is_asked = |ending: &str| {
        ending.len() > 1 && !is_stop_word(ending) && query.words.iter().any(|word| word.as_str() == ending)
    };
    let mut endings: FxHashMap<(&str, &str, bool), [bool; 2]> = FxHashMap::default();
    for file in files.iter() {
        if let Some((front, ending)) = file.path.rsplit_once('.') {
            let beside = endings.entry((file.repository.as_str(), front, file.is_text)).or_default();
            beside[usize::from(is_asked(ending))] = true;
        }
    }
    let variant = |file: &FileFacts| match file.path.rsplit_once('.') {
        Some((front, _)) if endings.get(&(file.repository.as_str(), front, file.is_text)) != Some(&[true; 2]) => 0.0,
        Some((_, ending)) if is_asked(ending) => 1.0,
        Some(_) => -1.0,
        None => 0.0,
    };
    let variants: Vec<f32> = files.iter().map(variant).collect();
    for (file, variant) in files.iter_mut().zip(variants) {
        file.variant = (file.variant + variant).clamp(-1.0, 1.0);
    }
}
