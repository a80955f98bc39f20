//! `research`: programs for changes to the embedded model or the index's layout. They measure internals of colgrep, and
//! make training data and the codebook.

mod codebook;
mod corpus;
mod encoder;
mod highlight;
mod space;
mod unread;
mod vectors;

use anyhow::Result;

use crate::FINE;
use crate::corpus::Vars;

/// `research`.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Args {
    /// Print the units of every file below a folder, a JSON line a file: what the encoder is trained on
    Corpus(corpus::Args),
    /// Train the codebook that the embedded model brings along
    Codebook(codebook::Args),
    /// Measure the speed of a model on one core
    Encoder(encoder::Args),
    /// Measure what colouring by the grammars' own highlight queries would take
    Highlight(highlight::Args),
    /// Print what each field of an index takes on disk
    Space(space::Args),
    /// Count the names that lines announce (`fn NAME`, `class NAME {`) and no unit has
    Unread(unread::Args),
    /// Measure the vector store: size, speed, memory, what codecs lose
    #[command(subcommand)]
    Vectors(vectors::Args),
}

/// Runs one of them.
///
/// # Errors
/// When a file can't be read or written, a model can't be opened, or an argument fits no file.
pub fn run(args: &Args, vars: &Vars) -> Result<u8> {
    match args {
        Args::Corpus(args) => corpus::run(args)?,
        Args::Codebook(args) => codebook::run(args)?,
        Args::Encoder(args) => encoder::run(args, vars)?,
        Args::Unread(args) => unread::run(args)?,
        Args::Highlight(args) => highlight::run(args)?,
        Args::Space(args) => space::run(args)?,
        Args::Vectors(args) => vectors::run(args)?,
    }
    Ok(FINE)
}
