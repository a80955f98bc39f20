//! Any ONNX ColBERT or sentence encoder, run by ONNX Runtime.

mod find;
mod folder;
mod library;
mod provider;
mod session;
mod tokens;

use std::path::Path;

use ndarray::{Array2, ArrayView2, Axis, s};

use crate::{Encoder, Error, Multivector, RuntimeEnv, RuntimeReport};
use folder::{Folder, OnnxKind};
#[cfg(feature = "hub")]
pub(crate) use folder::{MODEL_FILES, is_outside_data};
use session::{BATCH, OutputShape, SessionPool};
use tokens::{Inputs, TokenSide, TokenizedText};

/// A model of a folder, ready to encode. Concurrent calls run in parallel, each on its own thread.
pub(crate) struct Onnx {
    name: String,
    fingerprint: u64,
    dimension: usize,
    kind: OnnxKind,
    inputs: Inputs,
    sessions: SessionPool,
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
        let sessions = SessionPool::open(library, folder.model, inputs.pad)?;
        if sessions.shape == OutputShape::Texts && matches!(folder.kind, OnnxKind::Colbert(_)) {
            return Err(Error::Unfit(format!(
                "{}: the configuration is a ColBERT's, but the model gives one vector a text; export it with its token \
                 vectors as output",
                path.display()
            )));
        }
        let probe = inputs.input("text", TokenSide::Document)?;
        let (_, _, dimension) = sessions.run(&[&probe])?.dim();
        if let OnnxKind::Colbert(config) = &folder.kind
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
        // Queries may be longer than any document: they are padded to their length.
        let query = inputs.input("text", TokenSide::Query)?;
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
    fn encode(&self, texts: &[&str], side: TokenSide) -> Result<Vec<Multivector>, Error> {
        let inputs: Vec<TokenizedText> =
            texts.iter().map(|text| self.inputs.input(text, side)).collect::<Result<_, _>>()?;
        // Batches texts of similar length, so that they need little padding.
        let mut order: Vec<usize> = (0..inputs.len()).filter(|index| !inputs[*index].ids.is_empty()).collect();
        order.sort_by_key(|index| inputs[*index].ids.len());
        let mut done = vec![Multivector::default(); inputs.len()];
        for batch in order.chunks(BATCH) {
            let members: Vec<&TokenizedText> = batch.iter().map(|index| &inputs[*index]).collect();
            let output = self.sessions.run(&members)?;
            for (rows, index) in output.outer_iter().zip(batch) {
                done[*index] = self.vectors(rows, &inputs[*index]);
            }
        }
        Ok(done)
    }

    /// The vectors of one text, from the model's output for each of its tokens.
    fn vectors(&self, tokens: ArrayView2<'_, f32>, input: &TokenizedText) -> Multivector {
        let mut rows: Array2<f32> = match (&self.kind, self.sessions.shape) {
            (OnnxKind::Colbert(_), _) => tokens.select(Axis(0), &kept(&input.keep)),
            // The length does not matter, so the sum is as good as the mean.
            (OnnxKind::Sentence(config), OutputShape::Tokens) if !config.first => {
                tokens.select(Axis(0), &kept(&input.attention)).sum_axis(Axis(0)).insert_axis(Axis(0))
            }
            (OnnxKind::Sentence(_), _) => tokens.slice_move(s![..1, ..]).to_owned(),
        };
        if !matches!(&self.kind, OnnxKind::Colbert(config) if !config.normalize) {
            for mut row in rows.rows_mut() {
                let length = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
                row /= length;
            }
        }
        Multivector::new(self.heads(), rows)
    }
}

/// The positions that are set.
fn kept(keep: &[bool]) -> Vec<usize> {
    (0..keep.len()).filter(|place| keep[*place]).collect()
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
            OnnxKind::Colbert(config) => config.heads,
            OnnxKind::Sentence(_) => 1,
        }
    }

    fn encode_query(&self, text: &str) -> Result<Multivector, Error> {
        Ok(self.encode(&[text], TokenSide::Query)?.swap_remove(0))
    }

    fn encode_documents(&self, texts: &[&str]) -> Result<Vec<Multivector>, Error> {
        self.encode(texts, TokenSide::Document)
    }
}

/// An identity graph, to see which provider accepts sessions.
const IDENTITY: &[u8] = include_bytes!("identity.onnx");

/// Facts about ONNX Runtime, without loading it: see [`RuntimeReport`].
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

/// The file of the loaded library.
pub(crate) fn library_path() -> Option<std::path::PathBuf> {
    Some(library::loaded()?.path)
}

/// Adds what a loaded library reports.
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
