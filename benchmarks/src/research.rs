//! `research`: programs for changes to the embedded model or the index's layout. They measure internals of colgrep, and
//! make training data and the codebook.

mod codebook;
mod corpus;
mod encoder;
mod space;

use anyhow::Result;

use crate::FINE;
use crate::corpus::Vars;

#[derive(Clone, Debug, clap::Subcommand)]
pub enum ResearchArgs {
    /// Print the units of every file below a folder, a JSON line a file: what the encoder is trained on
    Corpus(corpus::CorpusUnitsArgs),
    /// Train the codebook that the embedded model brings along
    Codebook(codebook::CodebookArgs),
    /// Measure the speed of a model on one core
    Encoder(encoder::EncoderArgs),
    /// Print what each field of an index takes on disk
    Space(space::SpaceArgs),
}

pub fn run(args: &ResearchArgs, vars: &Vars) -> Result<u8> {
    match args {
        ResearchArgs::Corpus(args) => corpus::run(args)?,
        ResearchArgs::Codebook(args) => codebook::run(args)?,
        ResearchArgs::Encoder(args) => encoder::run(args, vars)?,
        ResearchArgs::Space(args) => space::run(args)?,
    }
    Ok(FINE)
}
