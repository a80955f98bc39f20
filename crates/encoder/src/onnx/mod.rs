//! Any ONNX ColBERT or sentence encoder, run by ONNX Runtime.

mod find;
mod folder;
mod library;
mod provider;
mod session;
mod tokens;

use std::path::Path;

use crate::{Encoder, Error, Multivector, RuntimeEnv, RuntimeReport};
use folder::{Folder, Kind};
#[cfg(feature = "hub")]
pub(crate) use folder::{MODEL_FILES, is_outside_data};
use session::{BATCH, Output, Sessions, Shape};
use tokens::{Input, Inputs, Side};

/// A model of a folder, ready to encode. Calls from several threads run side by side, each on its own thread.
pub(crate) struct Onnx {
    name: String,
    fingerprint: u64,
    dimension: usize,
    kind: Kind,
    inputs: Inputs,
    sessions: Sessions,
}

impl Onnx {
    /// Opens the model in a folder, and tries it on a word as a document and as a query.
    ///
    /// # Errors
    /// When a file is missing or damaged, the files do not belong together, or there is no ONNX Runtime.
    pub(crate) fn open(path: &Path, env: &RuntimeEnv) -> Result<Onnx, Error> {
        let folder = Folder::read(path)?;
        let inputs = Inputs::new(&folder.tokenizer, &folder.kind)
            .map_err(|error| Error::Model { what: path.display().to_string(), source: Box::new(error) })?;
        let library = library::library(env)?;
        let sessions = Sessions::open(library, folder.model, inputs.pad)?;
        if sessions.shape == Shape::Texts && matches!(folder.kind, Kind::Colbert(_)) {
            return Err(Error::Unfit(format!(
                "{}: the configuration is a ColBERT's, but the model gives one vector a text; export it with its token \
                 vectors as output",
                path.display()
            )));
        }
        let probe = inputs.input("text", Side::Document)?;
        let dimension = sessions.run(&[&probe])?.dimension;
        if let Kind::Colbert(config) = &folder.kind
            && let Some(expected) = config.embedding_dim.filter(|expected| *expected != dimension)
        {
            return Err(Error::Unfit(format!(
                "{}: the model gives {dimension} components, its configuration says {expected}; the projection is missing \
                 in the graph, or the files are of different models",
                path.display()
            )));
        }
        let mut largest = probe;
        largest.ids[0] = inputs.largest;
        sessions.run(&[&largest]).map_err(|error| {
            let what = format!(
                "{}: the model does not know the token {} of tokenizer.json; the files are of different models",
                path.display(),
                inputs.largest
            );
            Error::Model { what, source: Box::new(error) }
        })?;
        // Queries may be longer than any document: they are filled up to their length.
        let query = inputs.input("text", Side::Query)?;
        sessions.run(&[&query]).map_err(|error| {
            let what = format!(
                "{}: the model takes documents but no query of {} tokens; a query_length that it was made for helps",
                path.display(),
                query.ids.len()
            );
            Error::Model { what, source: Box::new(error) }
        })?;
        let name = path.display().to_string();
        Ok(Onnx { name, fingerprint: folder.fingerprint, dimension, kind: folder.kind, inputs, sessions })
    }

    /// Vectors of texts of one side, in order.
    fn encode(&self, texts: &[&str], side: Side) -> Result<Vec<Multivector>, Error> {
        let inputs: Vec<Input> = texts.iter().map(|text| self.inputs.input(text, side)).collect::<Result<_, _>>()?;
        // Texts of like lengths together, so that batches hold little filling.
        let mut order: Vec<usize> = (0..inputs.len()).filter(|index| !inputs[*index].ids.is_empty()).collect();
        order.sort_by_key(|index| inputs[*index].ids.len());
        let mut done = vec![Multivector::default(); inputs.len()];
        for batch in order.chunks(BATCH) {
            let members: Vec<&Input> = batch.iter().map(|index| &inputs[*index]).collect();
            let output = self.sessions.run(&members)?;
            for (place, index) in batch.iter().enumerate() {
                done[*index] = self.rows(&output, place, &inputs[*index]);
            }
        }
        Ok(done)
    }

    /// The rows of one text of a batch.
    fn rows(&self, output: &Output, place: usize, input: &Input) -> Multivector {
        let width = output.tokens * output.dimension;
        let rows = output.values[place * width..(place + 1) * width].chunks_exact(output.dimension);
        let mut values: Vec<f32> = match (&self.kind, self.sessions.shape) {
            (Kind::Colbert(_), _) => {
                rows.zip(&input.keep).filter(|(_, keep)| **keep).flat_map(|(row, _)| row).copied().collect()
            }
            (Kind::Sentence(config), Shape::Tokens) if !config.first => {
                // The length does not matter, so the sum is as good as the mean.
                let mut sum = vec![0.0; output.dimension];
                for (row, _) in rows.zip(&input.attention).filter(|(_, attended)| **attended) {
                    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                sum
            }
            (Kind::Sentence(_), _) => rows.take(1).flatten().copied().collect(),
        };
        if !matches!(&self.kind, Kind::Colbert(config) if !config.normalize) {
            for row in values.chunks_exact_mut(output.dimension) {
                let length = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
                row.iter_mut().for_each(|x| *x /= length);
            }
        }
        Multivector::new(output.dimension, self.heads(), values)
    }
}

impl Encoder for Onnx {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn heads(&self) -> usize {
        match &self.kind {
            Kind::Colbert(config) => config.heads,
            Kind::Sentence(_) => 1,
        }
    }

    fn encode_query(&self, text: &str) -> Result<Multivector, Error> {
        Ok(self.encode(&[text], Side::Query)?.swap_remove(0))
    }

    fn encode_documents(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        self.encode(texts, Side::Document)
    }
}

/// A graph that gives its input back, to see which provider takes sessions.
const IDENTITY: &[u8] = include_bytes!("identity.onnx");

/// What is known of ONNX Runtime here, without loading it: see [`RuntimeReport`].
pub(crate) fn report(env: &RuntimeEnv) -> RuntimeReport {
    let find::Candidates { files, refused } = find::candidates(env);
    let mut report = RuntimeReport {
        compiled: true,
        providers: provider::compiled().into_iter().map(|(name, _)| name).collect(),
        candidates: files.into_iter().filter(|file| file.is_file()).collect(),
        refused,
        ..RuntimeReport::default()
    };
    if let Some(library) = library::loaded() {
        describe(library, &mut report);
    }
    report
}

/// The file of the library that is loaded.
pub(crate) fn library_path() -> Option<std::path::PathBuf> {
    Some(library::loaded()?.path)
}

/// What a loaded library says about itself.
fn describe(library: library::Library, report: &mut RuntimeReport) {
    let file = library.path.canonicalize().unwrap_or(library.path.clone());
    let version: Vec<String> = find::version(&file).iter().map(u32::to_string).collect();
    report.version = (!version.is_empty()).then(|| version.join("."));
    report.build = Some(ort::info().to_string());
    match provider::first(&library, |mut builder| builder.commit_from_memory(IDENTITY)) {
        Ok((_, name)) => report.provider = Some(name),
        Err(error) => report.problem = Some(format!("ONNX Runtime makes no session: {error}")),
    }
    report.library = Some(library.path);
}
