//! A sample of each language with the units that it gives: a file `LANGUAGE.txt`, in the format in which `head` prints
//! several files.

use std::fs;
use std::path::Path;

/// The samples, sorted, as `[language, name of the file, its text, its units]`.
pub fn samples() -> Vec<[String; 4]> {
    let mut roots = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder = roots.find_map(|root| fs::read_dir(root.join("crates/syntax/tests/languages")).ok());
    let files = folder.expect("a workspace").map(|entry| entry.expect("a file").path());
    let mut samples: Vec<[String; 4]> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let language = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let page = fs::read_to_string(&path).expect("UTF-8");
            let parts = page.strip_prefix("==> ").and_then(|rest| rest.split_once(" <==\n"));
            let split = parts.and_then(|(file, rest)| Some((file, rest.split_once("==> units <==\n")?)));
            let (file, (text, units)) = split.unwrap_or_else(|| panic!("{language}: a sample, then its units"));
            [language, file.to_string(), text.to_string(), units.to_string()]
        })
        .collect();
    samples.sort();
    samples
}
