//! How units belong together: what calls what over several levels, and what a change affects.

pub mod around;
pub mod changed;
pub mod graph;
pub mod impact;
pub mod levels;
pub mod unknown;
