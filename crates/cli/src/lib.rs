//! The command line of colgrep: arguments and environment in, ranked code out.

mod args;
mod command;
mod files;
mod hunk;
mod limits;
mod settings;
#[cfg(feature = "share")]
mod transfer;

pub use args::FusionArg;
pub use colgrep_render::advice::told;
pub use command::knobs::markdown as knobs_markdown;
pub use command::man::markdown as cli_markdown;
pub use limits::with_room;

use std::ffi::OsString;
use std::io::{ErrorKind as IoErrorKind, Write as _};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use colgrep_render::remark;
use colgrep_syntax::worker;

pub const FOUND: u8 = 0;
pub const NOTHING: u8 = 1;
/// Something went wrong.
pub const FAILED: u8 = 2;

/// Runs colgrep and returns its exit status: 0 found, 1 nothing found, 2 an error. Files are parsed in [worker]
/// processes, which are this program, started again: it has to call this function, or serve them itself. A search also
/// starts it again in the background, so a program with other arguments has to set `COLGREP_BACKGROUND=0`.
pub fn run(args: impl Iterator<Item = OsString>, vars: impl Iterator<Item = (OsString, OsString)>) -> u8 {
    let args: Vec<OsString> = args.collect();
    if worker::is_asked_for(&args) {
        return limits::with_room(|| worker::serve().map_or(FAILED, |()| FOUND));
    }
    if let Some(program) = worker::this_program() {
        worker::enable(program);
    }
    let vars: Vec<(OsString, OsString)> = vars.collect();
    let status = limits::with_room(|| run_with(args, vars));
    worker::end();
    status
}

fn run_with(args: Vec<OsString>, vars: Vec<(OsString, OsString)>) -> u8 {
    let line = args::respelled(args.into_iter());
    let args = match args::Args::parse_line(&line) {
        Ok(args) => args,
        // An unknown flag may be a query that looks like one.
        Err(error) => match args::with_odd_query(&line, &error).and_then(|line| args::Args::parse_line(&line).ok()) {
            Some(args) => args,
            None => return say(error, &line),
        },
    };
    let work = || command::run(&args, &colgrep_engine::settings::env::Env::read(vars.into_iter())?);
    match colgrep_render::panic::contained(work).flatten() {
        Ok(status) => status,
        // The reader of our output went away: `colgrep … | head` is no failure.
        Err(error) if io_kind(&error) == Some(IoErrorKind::BrokenPipe) => FOUND,
        Err(error) if io_kind(&error).is_some_and(is_of_closed_stdout) => closed_stdout(),
        Err(error) => {
            let told = colgrep_render::advice::told_by(&error, args.takes_yes);
            let more = args::as_query(&line, &told).map(|more| format!("; {more}")).unwrap_or_default();
            remark!("colgrep: {told}{more}");
            FAILED
        }
    }
}

/// Prints clap's message, help or an error, and returns the exit status.
fn say(mut error: clap::Error, args: &[OsString]) -> u8 {
    if let (ErrorKind::InvalidUtf8, Some(told)) = (error.kind(), not_utf8(args)) {
        remark!("colgrep: {told}");
        return FAILED;
    }
    if error.kind() == ErrorKind::UnknownArgument {
        if let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
            && let Some(instead) = args::instead_of(flag)
        {
            remark!("colgrep: {flag} is not supported: {instead}");
            return FAILED;
        }
        // Remove clap's advice "To pass '-q' as a value, use '-- -q'": a flag is not meant as a value.
        error.remove(ContextKind::Suggested);
        // clap also proposes flags that only share some letters.
        let initial = |kind| match error.get(kind) {
            Some(ContextValue::String(flag)) => flag.trim_start_matches('-').chars().next(),
            _ => None,
        };
        if initial(ContextKind::InvalidArg) != initial(ContextKind::SuggestedArg) {
            error.remove(ContextKind::SuggestedArg);
        }
        if let (Some(ContextValue::String(flag)), None, Some(ContextValue::StyledStr(usage))) =
            (error.get(ContextKind::InvalidArg), error.get(ContextKind::SuggestedArg), error.get(ContextKind::Usage))
            && flag.starts_with("--")
            && usage.to_string().contains("QUERY [PATH]")
        {
            let tip = format!("to search for it, write '--query={flag}'").into();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        }
    }
    if error.use_stderr()
        && let Some(tip) = args::as_query(args, &error.to_string())
    {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    if error.kind() == ErrorKind::ArgumentConflict
        && let Some(instead) = args::instead_of_both(in_conflict(&error).into_iter())
    {
        remark!("colgrep: {instead}");
        return FAILED;
    }
    if error.use_stderr() {
        // In the form of all other errors, and without colours: the message repeats the input, whose escape sequences
        // would look like them.
        let text = error.to_string();
        let text = text
            .replace("invalid digit found in string", "it takes a whole number, 0 or more")
            .replace("number too large to fit in target type", "it is too large");
        remark!("colgrep: {}", text.strip_prefix("error: ").unwrap_or(&text).trim_end());
        return FAILED;
    }
    match error.print().and_then(|()| std::io::stdout().flush()) {
        Err(problem) if is_of_closed_stdout(problem.kind()) => closed_stdout(),
        Err(problem) if problem.kind() != IoErrorKind::BrokenPipe => {
            remark!("colgrep: {problem}");
            FAILED
        }
        _ => FOUND,
    }
}

/// What to say of an argument that has to be UTF-8 and is not: clap names none. Paths may be anything, so a flag's value
/// comes first.
fn not_utf8(args: &[OsString]) -> Option<String> {
    let flag = |at: usize| -> Option<&str> {
        let own = args[at].as_encoded_bytes().split(|byte| *byte == b'=').next().filter(|own| own.starts_with(b"-"));
        let before = || args[at - 1].to_str().filter(|before| before.starts_with('-'));
        own.map_or_else(before, |own| std::str::from_utf8(own).ok())
    };
    let odd = || (1..args.len()).filter(|at| args[*at].to_str().is_none());
    let at = odd().find(|at| flag(*at).is_some()).or_else(|| odd().next())?;
    let of = flag(at).map_or_else(String::new, |flag| format!("{flag}: "));
    Some(format!("{of}{:?} is not valid UTF-8", args[at]))
}

/// The flags that an error of clap says are in conflict.
fn in_conflict(error: &clap::Error) -> Vec<&str> {
    let texts = |kind| match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.as_str()],
        Some(ContextValue::Strings(several)) => several.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    [texts(ContextKind::InvalidArg), texts(ContextKind::PriorArg)].concat()
}

/// The kind of the first error of input or output among the causes.
fn io_kind(error: &anyhow::Error) -> Option<IoErrorKind> {
    error.chain().find_map(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        // The JSON writer's own error hides the one below it.
        io.or(cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind))
    })
}

fn is_of_closed_stdout(kind: IoErrorKind) -> bool {
    limits::is_stdout_closed() && kind == IoErrorKind::StorageFull
}

fn closed_stdout() -> u8 {
    remark!("colgrep: standard output is closed");
    FAILED
}
