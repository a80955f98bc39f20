//! The embedded model's files, written by `train/export.py`: a configuration, a vocabulary, and weights in safetensors.
//! Matrices are half floats and are expanded here; rows of the token table, which is nearly all of the file, are
//! decoded on use.

use half::f16;
use half::slice::HalfFloatSliceExt;
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;

use super::kernel::Linear;
use crate::Error;

/// The layout of the files that this code reads.
const FORMAT: u32 = 2;
/// Half floats that are expanded at a time: a few lines of the first-level cache.
const HALVES: usize = 256;

/// Sizes of the model, `config.json`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Config {
    /// Layout of the files; must be [`FORMAT`].
    pub(crate) format: u32,
    /// The model's name, for people.
    pub(crate) name: String,
    pub(crate) vocabulary: usize,
    /// Components of a piece's row in the table, and of the mixer.
    pub(crate) dim: usize,
    /// Blocks of the mixer.
    pub(crate) layers: usize,
    /// Taps of the convolution.
    pub(crate) kernel: usize,
    /// Outputs of the gated linear unit.
    pub(crate) hidden: usize,
    /// Components of a vector; the summary has `dim`, which takes several rows.
    pub(crate) output_dim: usize,
    pub(crate) query_pieces_max: usize,
    pub(crate) document_pieces_max: usize,
}

impl Config {
    /// Validates layout and sizes.
    ///
    /// # Errors
    /// When the layout is unknown, or a size is 0.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.format != FORMAT {
            return Err(Error::Unfit(format!(
                "the model's files have layout {}, this program reads {FORMAT}; export the model again",
                self.format
            )));
        }
        for (name, size) in [
            ("dim", self.dim),
            ("kernel", self.kernel),
            ("hidden", self.hidden),
            ("output_dim", self.output_dim),
            ("query_pieces_max", self.query_pieces_max),
            ("document_pieces_max", self.document_pieces_max),
        ] {
            if size == 0 {
                return Err(Error::Unfit(format!("config.json of the model: {name} is 0; export the model again")));
            }
        }
        if !self.dim.is_multiple_of(self.output_dim) {
            let (dim, output_dim) = (self.dim, self.output_dim);
            return Err(Error::Unfit(format!(
                "config.json of the model: a summary of {dim} components does not fill rows of {output_dim}; export the \
                 model again"
            )));
        }
        Ok(())
    }

    /// Rows that the summary takes.
    pub(crate) fn heads(&self) -> usize {
        self.dim / self.output_dim
    }
}

/// One block of the mixer: LayerNorm, depthwise convolution, gated linear unit, with a residual path around.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) norm: [Vec<f32>; 2],
    /// `kernel × dim`.
    pub(crate) depthwise: Vec<f32>,
    /// `dim → 2 · hidden`: values, then gates.
    pub(crate) up: Linear,
    /// `hidden → dim`.
    pub(crate) down: Linear,
}

/// Learned parameters.
pub(crate) struct Weights<'a> {
    table: Table<'a>,
    /// Per piece: log weight in a query, in a document, in the summary; half floats.
    piece_weights: &'a [u8],
    /// Per side (query, document), a row of `dim`.
    pub(crate) side: Vec<f32>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) norm: [Vec<f32>; 2],
    /// `3 × dim` and 3: the context's addition to the piece weights.
    pub(crate) gate: [Vec<f32>; 2],
    /// `dim → dim`: the context's addition to a piece's direction.
    pub(crate) out: Linear,
    /// `dim → dim`: the same in the summary.
    pub(crate) summary: Linear,
    /// `dim → output_dim`, for pieces.
    pub(crate) project: Linear,
    /// Length of a summary.
    pub(crate) summary_scale: f32,
}

/// Rows of the token table. Their scale does not matter, since they are normalised after decoding.
enum Table<'a> {
    /// A byte per component.
    Int8(&'a [u8]),
    /// Two components per byte, the low half first, offset by 8.
    Int4(&'a [u8]),
}

impl<'a> Weights<'a> {
    /// Reads the weights that `config` describes.
    ///
    /// # Errors
    /// When the file is damaged or does not fit `config`.
    pub(crate) fn read(config: &Config, file: &'a [u8]) -> Result<Weights<'a>, Error> {
        let file = WeightsFile(
            SafeTensors::deserialize(file)
                .map_err(|error| Error::damaged("model.safetensors is damaged; export the model again", error))?,
        );
        let (d, h, o) = (config.dim, config.hidden, config.output_dim);
        let block = |layer: usize| {
            let name = |name: &str| format!("blocks.{layer}.{name}");
            Ok(Block {
                norm: file.pair(&name("norm"), d, &[d])?,
                depthwise: file.floats(&name("depthwise"), &[config.kernel, d])?,
                up: file.linear(&name("up"), 2 * h, d)?,
                down: file.linear(&name("down"), d, h)?,
            })
        };
        let matrix = |name: &str, rows| Ok(Linear::new(rows, d, &file.floats(name, &[rows, d])?, &[]));
        Ok(Weights {
            table: file.table(config.vocabulary, d)?,
            piece_weights: file.bytes("piece_weights", &[Dtype::F16], &[config.vocabulary, 3])?.0,
            side: file.floats("side", &[2, d])?,
            blocks: (0..config.layers).map(block).collect::<Result<_, Error>>()?,
            norm: file.pair("norm", d, &[d])?,
            gate: file.pair("gate", 3, &[3, d])?,
            out: file.linear("out", d, d)?,
            summary: matrix("summary.weight", d)?,
            project: matrix("project", o)?,
            summary_scale: file.floats("summary_scale", &[1])?[0],
        })
    }

    /// Decodes the row of piece `id` into `row`, not normalised.
    #[inline(always)]
    pub(crate) fn row(&self, id: u32, row: &mut [f32]) {
        let id = id as usize;
        match self.table {
            Table::Int8(bytes) => {
                let bytes = &bytes[id * row.len()..];
                for (slot, byte) in row.iter_mut().zip(bytes) {
                    *slot = f32::from(*byte as i8);
                }
            }
            Table::Int4(bytes) => {
                let half = row.len() / 2;
                for (pair, byte) in row.chunks_exact_mut(2).zip(&bytes[id * half..]) {
                    pair[0] = f32::from((byte & 15) as i8 - 8);
                    pair[1] = f32::from((byte >> 4) as i8 - 8);
                }
            }
        }
    }
}

impl Weights<'_> {
    /// Log weight of piece `id`: 0 in a query, 1 in a document, 2 in the summary.
    #[inline(always)]
    pub(crate) fn piece_weight(&self, id: u32, which: usize) -> f32 {
        let at = 2 * (3 * id as usize + which);
        f16::from_le_bytes([self.piece_weights[at], self.piece_weights[at + 1]]).to_f32()
    }
}

/// An opened safetensors file.
struct WeightsFile<'a>(SafeTensors<'a>);

impl<'a> WeightsFile<'a> {
    /// The bytes of a tensor of one of the given types and of that shape, and which type it is.
    fn bytes(&self, name: &str, types: &[Dtype], shape: &[usize]) -> Result<(&'a [u8], Dtype), Error> {
        let tensor = self
            .0
            .tensor(name)
            .map_err(|_| Error::Unfit(format!("model.safetensors has no tensor {name}; export the model again")))?;
        if !types.contains(&tensor.dtype()) || tensor.shape() != shape {
            return Err(Error::Unfit(format!(
                "tensor {name} of model.safetensors is {:?} {:?}, config.json says {shape:?}; export the model again",
                tensor.dtype(),
                tensor.shape()
            )));
        }
        Ok((tensor.data(), tensor.dtype()))
    }

    fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let (bytes, _) = self.bytes(name, &[Dtype::F16], shape)?;
        let mut floats = vec![0.0; bytes.len() / 2];
        let mut halves = [f16::ZERO; HALVES];
        for (floats, bytes) in floats.chunks_mut(HALVES).zip(bytes.chunks(2 * HALVES)) {
            let halves = &mut halves[..floats.len()];
            for (half, bytes) in halves.iter_mut().zip(bytes.as_chunks().0) {
                *half = f16::from_le_bytes(*bytes);
            }
            halves.convert_to_f32_slice(floats);
        }
        Ok(floats)
    }

    /// `name.weight` of `shape` and `name.bias` of `bias` values.
    fn pair(&self, name: &str, bias: usize, shape: &[usize]) -> Result<[Vec<f32>; 2], Error> {
        Ok([self.floats(&format!("{name}.weight"), shape)?, self.floats(&format!("{name}.bias"), &[bias])?])
    }

    fn linear(&self, name: &str, outputs: usize, inputs: usize) -> Result<Linear, Error> {
        let [weights, bias] = self.pair(name, outputs, &[outputs, inputs])?;
        Ok(Linear::new(outputs, inputs, &weights, &bias))
    }

    fn table(&self, vocabulary: usize, dim: usize) -> Result<Table<'a>, Error> {
        match self.bytes("table", &[Dtype::I8], &[vocabulary, dim]) {
            Ok((bytes, _)) => Ok(Table::Int8(bytes)),
            Err(error) => match self.bytes("table", &[Dtype::U8], &[vocabulary, dim / 2]) {
                Ok((bytes, _)) if dim.is_multiple_of(2) => Ok(Table::Int4(bytes)),
                _ => Err(error),
            },
        }
    }
}
