//! `held`: searches for parts of names, drawn from the files of a folder and their paths, in every case and with every
//! joiner, and compares the answers with the text of the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use colgrep_core::token::is_stop_word;
use colgrep_engine::request::Weakest;
use colgrep_engine::{Detail, Engine, Env, OpenOptions, Question, RankBy, SearchRequest, Session};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::{Tally, TortureArgs, case_seed, go_through};

/// A tree of names that people cut in many ways.
const TREE: [(&str, &str); 12] = [
    ("net.c", "int family = AF_INET6;\nvoid API_V2_handler(void) { isIPv4(USE_LIBSSH2); }\n#define HTTP2_MAX 3\n"),
    (
        "convert.js",
        "export function toMP3(x) { return x }\nconst my_2nd_try = is_3d(retry_4xx)\nlet userIDs = [getURLs]\n",
    ),
    (
        "api.go",
        "package api\n\nfunc listAPIs() {}\nfunc exportPDFs() {}\nfunc gRPCDial() {}\ntype OAuthToken struct{}\n",
    ),
    (
        "dialog.swift",
        "func open2FADialog() {}\nlet macOSVersion = eBayClient()\nstruct WiFiState { var i18nKey = 1 }\n",
    ),
    (
        "store.java",
        "class MySQLConnect { GraphQLClient c; PostgreSQLPool p; }\nclass WebSocketServer { int timeOutMs; }\n",
    ),
    ("server.yaml", "max-open-files: 3\nx-request-id: on\ncontent-type: text\nsha-256: yes\n"),
    (
        "server.rs",
        "pub struct Limits { max_open_files: u32 }\nconst MAX_LEN: u32 = 7;\nfn x86_64_only() { utf8_decode() }\n",
    ),
    ("hash.py", "def sha256_hex(data):\n    return base64Encode(sha256sum(data))\n\nclass Utf8Decoder:\n    pass\n"),
    ("menu.py", "cafe\u{301}_menu = 1\nΟΔΟΣ_map = größeÄndern()\n"),
    ("docs/Rate-limits.v2.md", "# Limits\n\nOver HTTP/2 and TCP/IP, `acme.queue.retry-count` and RFC-3339 dates.\n"),
    ("src/tokenBucket.ts", "export class Bucket { take() { return 1; } }\n"),
    ("notes.md", "# Notes\n\nThe max open files limit, the web socket and the second retry.\n"),
];

/// Files of an answer that are looked at.
const FILES: usize = 100;
/// Letters of an identifier that is drawn from.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=40;
/// Letters of what is drawn, at least.
const DRAWN_MIN: usize = 2;

struct Searched {
    path: String,
    /// Its path without extension and its text in lower case.
    lower: String,
    /// Its text in lower case without what joins the parts of names.
    joined: String,
}

/// The searched files of a folder, and a session that answers.
struct HeldScene {
    folder: PathBuf,
    session: Session,
    files: Vec<Searched>,
    identifiers: Vec<String>,
}

impl HeldScene {
    /// Indexes a folder by words, with the index in `data`.
    fn new(folder: &Path, data: &Path) -> Result<HeldScene> {
        let mut options = OpenOptions::default();
        options.any_root = true;
        let mut session = Engine::new(Env::default().data_in(data)).options(options).session(folder)?;
        let mut every = SearchRequest::new("").within(folder).files(usize::MAX).by(RankBy::Words);
        every.question = Question::Every;
        let listed = session.search(&every)?;
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || ('\u{300}'..'\u{370}').contains(&c);
        let (mut files, mut identifiers): (Vec<Searched>, Vec<String>) = (Vec::new(), Vec::new());
        for file in listed.files {
            if files.last().is_some_and(|last| last.path == file.path) {
                continue;
            }
            let text = fs::read(file.root.join(&file.path)).with_context(|| file.path.clone())?;
            let text = String::from_utf8_lossy(&text);
            let joined = joined(&text);
            let text = format!("{}\n{text}", Path::new(&file.path).with_extension("").display());
            let words = text.split(|c| !is_of_word(c));
            let hyphenated = text.split(|c| !is_of_word(c) && c != '-').filter(|name| name.contains('-'));
            let names = words.chain(hyphenated).filter(|name| LETTERS.contains(&name.chars().count()));
            identifiers.extend(names.map(String::from));
            files.push(Searched { path: file.path, lower: lower(&text), joined });
        }
        identifiers.sort_unstable();
        identifiers.dedup();
        Ok(HeldScene { folder: folder.to_path_buf(), session, files, identifiers })
    }

    /// Searches for a drawn text and returns what is wrong with the answer.
    fn try_one(&mut self, drawn: &str) -> Result<Vec<(&'static str, String)>> {
        let mut request =
            SearchRequest::new(drawn).within(&self.folder).by(RankBy::Words).files(FILES).detail(Detail::Names);
        request.shape.weakest = Weakest::Floor;
        let results = self.session.rank(&request)?;
        let (end, found) = (results.end()?, results.files(0..results.len())?);
        let mut failures = Vec::new();
        let holders = |text: &str| -> Vec<&str> {
            let typed = lower(text);
            self.files.iter().filter(|file| file.lower.contains(&typed)).map(|file| file.path.as_str()).collect()
        };
        let is_all_denied = end.shown == 0 && end.is_tokens && !end.is_held;
        let of_tokens = is_all_denied.then(|| drawn.to_string());
        let denied = end.unknown.iter().cloned().chain(end.read_as.iter().map(|(typed, _)| typed.clone()));
        for denied in denied.chain(of_tokens) {
            if let Some(path) = holders(&denied).first() {
                failures.push(("denied, and there", format!("{denied:?} of {drawn:?} in {path}")));
            }
        }
        // Several words are asked for one by one; stop words alone ask for nothing.
        let is_piece = !drawn.contains(' ');
        let is_asked = is_piece && !drawn.split(['_', '-']).all(|piece| is_stop_word(&piece.to_lowercase()));
        let letters = joined(drawn);
        // The parts of a number are no name.
        let is_name = letters.contains(char::is_alphabetic);
        let in_any_spelling = self.files.iter().filter(|file| is_name && file.joined.contains(&letters));
        let any: Vec<&str> = holders(drawn).into_iter().chain(in_any_spelling.map(|file| file.path.as_str())).collect();
        let is_found = || found.iter().any(|file| any.contains(&file.path.as_str()));
        if is_asked && !any.is_empty() && !is_found() && found.len() < FILES {
            failures.push(("there, and not found", format!("{drawn:?} of {any:?}")));
        }
        Ok(failures)
    }
}

/// Small letters in composed form: what a search that ignores case compares.
fn lower(text: &str) -> String {
    colgrep_core::fold::folded(text).into_owned()
}

/// A text in lower case without what joins the parts of names.
fn joined(text: &str) -> String {
    lower(text).replace(['_', '-', ' '], "")
}

/// A part of an identifier, cut where case, digits or underscores allow, in some case and with some joiner.
fn drawn(identifier: &str, random: &mut StdRng) -> Option<String> {
    let cuts = cuts(identifier);
    let (from, to) = (random.random_range(0..cuts.len()), random.random_range(0..cuts.len()));
    let (from, to) = (from.min(to), from.max(to));
    let joiner = ["_", "-", "", " "].choose(random).copied().unwrap_or_default();
    let mut text = String::new();
    for (at, pair) in cuts[from..=to].windows(2).enumerate() {
        // Some people leave neighbouring parts in one piece.
        if at > 0 && random.random_bool(0.7) && !text.is_empty() && !text.ends_with(joiner) {
            text.push_str(joiner);
        }
        text.push_str(identifier[pair[0]..pair[1]].trim_matches(['_', '-']));
    }
    let text = text.trim_matches(|c: char| !c.is_alphanumeric());
    let text = match random.random_range(0..4) {
        0 => text.to_lowercase(),
        1 => text.to_uppercase(),
        _ => text.to_string(),
    };
    (text.chars().filter(|c| c.is_alphanumeric()).count() >= DRAWN_MIN).then_some(text)
}

/// Where an identifier may be cut: its ends, and between characters of other kinds.
fn cuts(identifier: &str) -> Vec<usize> {
    let kind = |c: char| match c {
        '_' | '-' => 0,
        _ if c.is_numeric() => 1,
        _ if c.is_uppercase() => 2,
        _ => 3,
    };
    let chars: Vec<(usize, char)> = identifier.char_indices().collect();
    let is_mark = |c: char| !c.is_alphanumeric() && c != '_' && c != '-';
    let mut cuts = vec![0];
    for at in 1..chars.len() {
        let (before, here) = (chars[at - 1].1, chars[at].1);
        let is_plural_at = |at: usize| chars[at].1 == 's' && chars.get(at + 1).is_none_or(|behind| kind(behind.1) != 3);
        let is_plural = kind(before) == 2 && is_plural_at(at);
        let is_lower_at = |at: usize| chars.get(at).is_some_and(|next| kind(next.1) == 3);
        let is_hump = kind(before) == 2 && kind(here) == 2 && is_lower_at(at + 1) && !is_plural_at(at + 1);
        let is_other = kind(before) != kind(here) && !(kind(before) == 2 && kind(here) == 3);
        if !is_mark(here) && (is_plural || is_hump || is_other) {
            cuts.push(chars[at].0);
        }
    }
    cuts.push(identifier.len());
    cuts
}

/// Goes through drawn texts, in the folder that is given or a small tree of odd names.
pub(super) fn run(args: &TortureArgs) -> Result<Vec<Tally>> {
    let scratch = tempfile::tempdir()?;
    let folder = match &args.folder {
        Some(folder) => folder.clone(),
        None => {
            let folder = scratch.path().join("tree");
            for (path, text) in TREE {
                let file = folder.join(path);
                file.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(file, text)?;
            }
            folder
        }
    };
    let mut scene = HeldScene::new(&folder, &scratch.path().join("data"))?;
    let names = Arc::new(std::mem::take(&mut scene.identifiers));
    let of_case = |case: u64| {
        let mut random = StdRng::seed_from_u64(case_seed(args.seed, case));
        names.choose(&mut random).and_then(|name| drawn(name, &mut random))
    };
    let cases: Vec<String> = (0..2 * args.cases as u64).filter_map(of_case).take(args.cases).collect();
    let try_one = |drawn: &String, _: &mut BTreeMap<&'static str, u64>| scene.try_one(drawn);
    Ok(vec![go_through(args, "parts of identifiers", cases, try_one)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_cut_where_people_cut_them() {
        let told = |name: &str| {
            let cuts = cuts(name);
            cuts.windows(2).map(|pair| &name[pair[0]..pair[1]]).collect::<Vec<_>>().join("|")
        };
        for (name, expected) in [
            ("AF_INET6", "AF|_|INET|6"),
            ("exportPDFs", "export|PDF|s"),
            ("gRPCDial", "g|RPC|Dial"),
            ("open2FADialog", "open|2|FA|Dialog"),
            ("cafe\u{301}_menu", "cafe\u{301}|_|menu"),
            ("Rate-limits", "Rate|-|limits"),
        ] {
            assert_eq!(told(name), expected);
        }
    }
}
