//! Models against recorded outputs.

mod common;
mod golden;
mod onnx;
