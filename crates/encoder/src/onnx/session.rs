//! Sessions of a model: run batches of token ids, return their vectors.

use std::path::PathBuf;
use std::sync::Mutex;

use ndarray::{Array2, Array3, Axis, Ix3};
use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};
use ort::value::{Tensor, ValueType};

use super::library::Library;
use super::provider;
use super::tokens::TokenizedText;
use crate::Error;

/// Texts of a batch. Larger batches are no faster on a CPU and need more padding.
pub(crate) const BATCH: usize = 8;

/// A batch's result: `texts × tokens × dimension`, padding included; one vector per text for [`OutputShape::Texts`].
pub(crate) type Output = Array3<f32>;

/// Shape of a model's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputShape {
    /// `texts × tokens × dimension`.
    Tokens,
    /// `texts × dimension`.
    Texts,
}

/// Pool of sessions of one model, one for each concurrent caller; each runs on its caller's thread.
pub(crate) struct SessionPool {
    library: Library,
    model: PathBuf,
    idle: Mutex<Vec<Session>>,
    output: String,
    pub(crate) shape: OutputShape,
    /// The provider that runs the model.
    pub(crate) provider: &'static str,
    /// Padding token of a batch.
    pad: u32,
}

impl SessionPool {
    /// Opens a model.
    ///
    /// # Errors
    /// When the file is not a model, or one with other inputs and outputs.
    pub(crate) fn open(library: Library, model: PathBuf, pad: u32) -> Result<SessionPool, Error> {
        let (session, provider) = provider::first(&library, |builder| commit(builder, &model)).map_err(|error| {
            let what = format!(
                "{} can't be loaded by ONNX Runtime ({}); the file is damaged, or the runtime too old for it",
                model.display(),
                library.path.display()
            );
            Error::runtime(what, error)
        })?;
        let wrong = |what: String| Error::Unfit(format!("{}: {what}; this is no text encoder", model.display()));
        for input in session.inputs() {
            if !["input_ids", "attention_mask", "token_type_ids"].contains(&input.name()) {
                return Err(wrong(format!("unknown input {}", input.name())));
            }
        }
        if !session.inputs().iter().any(|input| input.name() == "input_ids") {
            return Err(wrong("no input input_ids".into()));
        }
        let rank = |outlet: &ort::value::Outlet| match outlet.dtype() {
            ValueType::Tensor { shape, .. } => shape.len(),
            _ => 0,
        };
        let outputs = session.outputs();
        let found = outputs.iter().find(|o| rank(o) == 3).or_else(|| outputs.iter().find(|o| rank(o) == 2));
        let Some(output) = found else { return Err(wrong("no output of token or text vectors".into())) };
        let shape = if rank(output) == 3 { OutputShape::Tokens } else { OutputShape::Texts };
        let output = output.name().to_string();
        Ok(SessionPool { library, model, idle: Mutex::new(vec![session]), output, shape, provider, pad })
    }

    /// Runs a batch.
    ///
    /// # Errors
    /// When the model fails on it.
    pub(crate) fn run(&self, inputs: &[&TokenizedText]) -> Result<Output, Error> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut session = match idle {
            Some(session) => session,
            None => provider::named(&self.library, self.provider, |builder| commit(builder, &self.model))
                .map_err(|error| Error::runtime(format!("{} can't be loaded again", self.model.display()), error))?,
        };
        let result = self.run_in(&mut session, inputs);
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(session);
        }
        result.map_err(|error| Error::runtime(format!("{} failed", self.model.display()), error))
    }

    fn run_in(&self, session: &mut Session, inputs: &[&TokenizedText]) -> Result<Output, ort::Error> {
        let tokens = inputs.iter().map(|input| input.ids.len()).max().unwrap_or_default();
        let matrix = |row: &dyn Fn(&TokenizedText) -> Vec<i64>, filling: i64| {
            let mut values = Array2::from_elem((inputs.len(), tokens), filling);
            for (input, mut values) in inputs.iter().zip(values.rows_mut()) {
                values.iter_mut().zip(row(input)).for_each(|(slot, value)| *slot = value);
            }
            Tensor::from_array(values)
        };
        let mut arguments = Vec::new();
        for name in session.inputs().iter().map(|input| input.name().to_string()) {
            let values = match name.as_str() {
                "input_ids" => {
                    matrix(&|input| input.ids.iter().map(|id| i64::from(*id)).collect(), i64::from(self.pad))
                }
                "attention_mask" => matrix(&|input| input.attention.iter().map(|on| i64::from(*on)).collect(), 0),
                _ => matrix(&|input| vec![0; input.ids.len()], 0),
            }?;
            arguments.push((name, values));
        }
        let outputs = session.run(arguments)?;
        let values = outputs[self.output.as_str()].try_extract_array::<f32>()?;
        let shape = values.shape().to_vec();
        let (values, expected) = match self.shape {
            OutputShape::Tokens => (values, tokens),
            OutputShape::Texts => (values.insert_axis(Axis(1)), 1),
        };
        match values.into_dimensionality::<Ix3>() {
            Ok(values) if values.dim().0 == inputs.len() && values.dim().1 == expected && values.dim().2 > 0 => {
                Ok(values.to_owned())
            }
            _ => Err(ort::Error::new(format!(
                "its output has the shape {shape:?} for {} texts of {tokens} tokens",
                inputs.len()
            ))),
        }
    }
}

/// Loads the model with one thread and without spinning, since callers run in parallel.
fn commit(builder: SessionBuilder, model: &PathBuf) -> ort::Result<Session> {
    builder
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_intra_op_spinning(false)?
        .commit_from_file(model)
}
