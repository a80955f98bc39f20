//! Names inside a query that does not occur as typed: in shell syntax, in a test runner's output or command, as a flag,
//! after a type.

use colgrep_core::literal_match::is_question;
use colgrep_core::query::intents::{
    Certainty, flags_in, name_inside, qualified_names, quoted_names, test_named, test_titled,
};
use colgrep_core::query::{Query, last_segment};
use colgrep_syntax::language;

use super::definitions::path_of;
use super::lookup::IntentLookup;
use super::{Intent, NAMED, Pointers, Resolved, ResolvedSoFar, Settled};
use colgrep_index::error::Result;

/// Maximum of flags that are looked up: a text with more of them is a help page.
const FLAGS_MAX: usize = 4;
/// Maximum of names of a question or a message that are looked up.
const NAMES_MAX: usize = 4;
/// Replaces a flag in a message, as values do.
const VALUE: &str = "0";

pub(super) const SHELL_NAME: Intent = Intent {
    name: "variable or flag in a shell's syntax",
    doc: "What the name alone points at, also for `$NAME`. A name that is set, or written between `%`, has several parts: `PORT` is a word like \
          any other.",
    examples: &[
        ("${BAT_PAGER}", "BAT_PAGER"),
        ("%BAT_PAGER%", "BAT_PAGER"),
        ("export BAT_PAGER=1", "BAT_PAGER"),
        ("os.environ[\"BAT_PAGER\"]", "BAT_PAGER"),
        ("--line-limit=3", "--line-limit"),
    ],
    parse: |query| of_plain(query, |query| name_inside(&query.text).map(String::from)),
    resolve: |lookup, found, asked| Ok(instead(lookup.alone(&asked[0], found)?)),
    settles: &[],
    yields_to: &[Settled::Name, Settled::Text],
};

pub(super) const TEST: Intent = Intent {
    name: "test in a runner's output or command",
    doc: "What the test's name alone points at, or where its title occurs, unless more than a run of the query's words is \
          found.",
    examples: &[
        ("1) App\\QueueTest::testPush", "App\\QueueTest::testPush"),
        ("--- FAIL: TestPush (0.00s)", "TestPush"),
        ("[xUnit.net 00:00:01.23] App.QueueTests.PushesOne [FAIL]", "App.QueueTests.PushesOne"),
        ("go test -run ^TestPush$", "TestPush"),
        ("--filter FullyQualifiedName~QueueTests.PushesOne", "QueueTests.PushesOne"),
        ("● queue › takes all", "takes all"),
    ],
    parse: |query| {
        of_plain(query, |query| test_named(&query.text).or_else(|| test_titled(&query.text).map(String::from)))
    },
    resolve: |lookup, found, asked| {
        if found.pointers.is_certain() {
            return Ok(Resolved::default());
        }
        match test_named(&lookup.query.text) {
            // The name as a text is the whole query, which was looked up.
            Some(name) => Ok(instead(lookup.resolve(NAMED, &name, found)?)),
            None => Ok(instead(lookup.text(&asked[0], found)?.pointers)),
        }
    },
    settles: &[],
    yields_to: &[Settled::Name, Settled::Text],
};

pub(super) const FLAG: Intent = Intent {
    name: "flag of a command line",
    doc: "Literals that begin with the flag (`\"--port PORT\"`) or are its name (`long(\"line-limit\")`), arms of a shell's \
          `case`, those in declarations first; then other places that contain it. Only if no other words of the query are \
          found.",
    examples: &[("tool --line-limit 3", "--line-limit"), ("unexpected argument '--line-limit' found", "--line-limit")],
    parse: |query| {
        let flags: Vec<String> = flags_in(&query.text).take(FLAGS_MAX + 1).map(String::from).collect();
        let is_plain = of_plain(query, |query| Some(query.text.clone())).len() == 1;
        let is_alone = name_inside(&query.text).is_some() || flags.iter().any(|flag| flag == query.text.trim());
        if is_plain && !is_alone && flags.len() <= FLAGS_MAX && !query.text.trim().contains('\n') {
            flags
        } else {
            Vec::new()
        }
    },
    resolve: flags,
    settles: &[],
    yields_to: &[Settled::Name, Settled::Text],
};

pub(super) const QUALIFIED_NAME: Intent = Intent {
    name: "name in a question or a message",
    doc: "What `Type.method` in a question, or a quoted name in a message, alone points at, in the named files if any. A \
          member is looked up in a type beside it; without it, the type is shown. Not used beside something surer, or \
          for tests or documents.",
    examples: &[
        ("how does Session.get work", "Session.get"),
        ("explain Session::get", "Session::get"),
        ("what does Session#close do", "Session#close"),
        ("undefined method 'close' for an instance of Net::Session", "close | Net::Session"),
        ("No module named 'net.session'", "net.session"),
    ],
    parse: |query| {
        let wants_others = !query.asks_for.is_empty() || query.asks_for_prose || query.intents.callers_of.is_some();
        if wants_others || !query.intents.locations.is_empty() || query.text.trim().contains('\n') {
            return Vec::new();
        }
        let is_file = |name: &&str| language::facts().is_file_name(&name.to_lowercase());
        let is_message = !is_question(&query.text);
        let quoted = quoted_names(&query.text).filter(|_| is_message);
        // In a question, it is a path.
        let qualified = qualified_names(&query.text).filter(|name| is_message || !name.contains('/'));
        let mut names: Vec<&str> = quoted.chain(qualified).filter(|name| !is_file(name)).collect();
        names.sort_by_key(|name| name.as_ptr());
        names.dedup();
        names.into_iter().take(NAMES_MAX).map(String::from).collect()
    },
    resolve: |lookup, found, asked| match found.pointers.is_sure() {
        true => Ok(Resolved::default()),
        false => Ok(Resolved::open(lookup.named_inside(asked, found)?)),
    },
    settles: &[],
    yields_to: &[Settled::Name, Settled::Text, Settled::Message],
};

impl IntentLookup<'_> {
    /// What the names in a text point at: a member of one in another; else each, what it belongs to, or the modules.
    fn named_inside(&mut self, names: &[String], found: &ResolvedSoFar) -> Result<Pointers> {
        let pairs = names.iter().flat_map(|name| names.iter().map(move |owner| (name, owner)));
        for (name, owner) in pairs.filter(|(name, owner)| name != owner && path_of(name).len() == 1) {
            let member = self.asked_for(&format!("{}.{name}", last_segment(owner)))?;
            if !member.pointers.units.is_empty() {
                return Ok(member.pointers);
            }
        }
        let mut pointers = Pointers::default();
        let (paths, words): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| path_of(name).len() > 1);
        for of_kind in [paths, words] {
            if !pointers.units.is_empty() {
                break;
            }
            // A plain word in quotes is a value, unless it is a member of another name.
            for name in of_kind.into_iter().filter(|name| !name.chars().all(char::is_lowercase)) {
                let is_anywhere = found.pointers.files.is_empty();
                let of_name = if is_anywhere { self.asked_for(name)? } else { self.in_files(name, found)? };
                pointers.merge(of_name.pointers);
            }
        }
        if !pointers.units.is_empty() || !found.pointers.files.is_empty() {
            return Ok(pointers);
        }
        for name in names {
            let owner = name.strip_suffix(last_segment(name)).unwrap_or_default();
            if last_segment(owner).starts_with(char::is_uppercase) {
                pointers.merge(self.asked_for(owner)?.pointers);
            }
            let module = path_of(name);
            if module.len() > 1 || name.starts_with('.') {
                for file in self.modules(&module)? {
                    pointers.name_file(file, 1.0, true);
                }
            }
        }
        Ok(pointers)
    }
}

/// Parses a query, unless it names a line or quotes a phrase.
fn of_plain(query: &Query, read: impl Fn(&Query) -> Option<String>) -> Vec<String> {
    let is_plain = query.intents.locations.is_empty() && query.intents.phrases.is_empty();
    read(query).filter(|_| is_plain).into_iter().collect()
}

/// Units that replace the pointers of a run of the query's words.
fn instead(pointers: Pointers) -> Resolved {
    Resolved { pointers, replaces: true, ..Resolved::default() }
}

fn flags(lookup: &mut IntentLookup<'_>, found: &ResolvedSoFar, flags: &[String]) -> Result<Resolved> {
    let known = &found.pointers;
    // Several flags in a row are a text themselves.
    if known.is_certain() || !known.files.is_empty() || (flags.len() > 1 && !known.units.is_empty()) {
        return Ok(Resolved::default());
    }
    // A run that consists only of the flag is no evidence.
    let beside = flags.iter().fold(lookup.query.typed.clone(), |text, flag| text.replace(flag, VALUE));
    if !known.units.is_empty()
        && beside.contains(char::is_alphabetic)
        && !lookup.text(&beside, found)?.pointers.units.is_empty()
    {
        return Ok(Resolved::default());
    }
    let mut pointers = Pointers::default();
    for flag in flags {
        pointers.merge(lookup.text(flag, found)?.pointers);
    }
    pointers.units.retain(|_, pointer| pointer.certainty == Certainty::Exact);
    Ok(instead(pointers))
}
