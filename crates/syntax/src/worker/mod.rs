//! Parsing in worker processes, so that no file can crash, block or take over the program that reads it.
//!
//! Grammars are C code from many authors, and their scanners keep state in C by hand. Some hostile files make them write
//! out of bounds, fail an assertion or run for minutes. A worker is this same program, started again with [`ARGUMENT`].
//! It reads requests from its standard input, parses, and answers on its standard output; it has no files, no network
//! and little memory (`sandbox.rs`). A file that crashes its worker or runs out of time becomes plain blocks, and the
//! next file gets a new worker (`pool.rs`).
//!
//! A program calls [`enable`] once at its start. Where nobody does, as in a library, files are parsed in the process
//! itself.
//!
//! The messages: a worker sends `HELLO` when it is ready. A request is the length of the text (8 bytes), the number of
//! the language in the table (2 bytes), the length of a structural pattern (2 bytes, 0 if units are asked for), the
//! pattern and the text; a response is a length (8 bytes) and, in postcard's format, a [`Parsed`](crate::parse::Parsed)
//! or what [`structure::find`] returns. Numbers are little-endian.

mod pool;
mod sandbox;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub use pool::{WorkerPool, processor_ticks};
use serde::Serialize;

use crate::language::{LANGUAGES, Language};
use crate::parse::{parse_elsewhere, parse_in_process};
use crate::structure;

/// The only argument of a worker's command line.
pub const ARGUMENT: &str = "--parse-worker";
/// The first bytes that a worker sends: another program, or another version, sends something else.
const HELLO: &[u8] = concat!("colgrep ", env!("CARGO_PKG_VERSION"), " parses\n").as_bytes();
/// Bytes of the length of a message.
const LENGTH_BYTES: usize = size_of::<u64>();
/// Bytes of a request before its pattern and its text.
const HEADER_BYTES: usize = LENGTH_BYTES + 2 * size_of::<u16>();

static POOL: OnceLock<Arc<WorkerPool>> = OnceLock::new();

/// Parses in workers from here on. `program` must run [`serve`] when its only argument is [`ARGUMENT`]. Starts nothing
/// until the first file has to be parsed.
pub fn enable(program: PathBuf) {
    POOL.get_or_init(|| WorkerPool::new(program));
    parse_elsewhere(|text, language| match POOL.get() {
        Some(pool) => pool.parse(text, language),
        None => parse_in_process(text, language),
    });
    structure::find_elsewhere(|text, language, pattern| match POOL.get() {
        Some(pool) => pool.find(text, language, pattern),
        None => structure::find_in_process(text, language, pattern),
    });
}

/// Ends the workers at the end of the program, which thereby accounts for their processor time.
pub fn end() {
    if let Some(pool) = POOL.get() {
        pool.end_idle();
    }
}

/// A path to this program. On Linux it leads to the running version, even if the file has been replaced since.
pub fn this_program() -> Option<PathBuf> {
    let own = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && own.exists() { Some(own.to_path_buf()) } else { std::env::current_exe().ok() }
}

/// Whether a command line, with the program's name in front, asks for a worker.
pub fn is_asked_for(args: &[OsString]) -> bool {
    matches!(args, [_, only] if only == ARGUMENT)
}

/// Works as a worker until the other end closes the connection.
///
/// # Errors
/// When the connection breaks, or what it brings is no request.
pub fn serve() -> io::Result<()> {
    let (mut input, mut output) = (sandbox::owned(io::stdin())?, sandbox::owned(io::stdout())?);
    let limits = sandbox::enter();
    output.write_all(HELLO)?;
    while let Some((text, language, pattern)) = read_request(&mut input)? {
        limits.allow_another_file();
        let answer = match pattern.as_str() {
            "" => response(&parse_in_process(&text, language))?,
            pattern => response(&structure::find_in_process(&text, language, pattern))?,
        };
        output.write_all(&answer)?;
    }
    Ok(())
}

/// The next text, its language, and the pattern or an empty one; `None` at the end of the input.
fn read_request(input: &mut File) -> io::Result<Option<(String, &'static Language, String)>> {
    let mut header = [0; HEADER_BYTES];
    match input.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let (length, numbers) = header.split_at(LENGTH_BYTES);
    let length = u64::from_le_bytes(length.try_into().map_err(io::Error::other)?);
    let [a, b, c, d] = numbers.try_into().map_err(io::Error::other)?;
    let (number, pattern_length) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
    let language = LANGUAGES.get(usize::from(number)).ok_or_else(|| io::Error::other("no such language"))?;
    let (mut pattern, mut text) = (String::new(), String::new());
    input.take(pattern_length.into()).read_to_string(&mut pattern)?;
    input.take(length).read_to_string(&mut text)?;
    Ok(Some((text, language, pattern)))
}

/// Puts a request into `frame`, in place of what is there.
fn write_request(frame: &mut Vec<u8>, text: &str, language: &'static Language, pattern: &str) -> io::Result<()> {
    let number = LANGUAGES.iter().position(|row| std::ptr::eq(row, language));
    let number = number.and_then(|number| u16::try_from(number).ok()).ok_or_else(|| io::Error::other("no row"))?;
    let pattern_length = u16::try_from(pattern.len()).map_err(io::Error::other)?;
    frame.clear();
    frame.extend((text.len() as u64).to_le_bytes());
    frame.extend(number.to_le_bytes());
    frame.extend(pattern_length.to_le_bytes());
    frame.extend(pattern.as_bytes());
    frame.extend(text.as_bytes());
    Ok(())
}

fn response(answer: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = postcard::to_extend(answer, vec![0; LENGTH_BYTES]).map_err(io::Error::other)?;
    let length = (frame.len() - LENGTH_BYTES) as u64;
    frame[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}
