//! colgrep-core: tokens, query analysis, fusion, ranking stages and collapse.
//!
//! Pure: nothing here touches a disk, the clock, the environment or a thread.

pub mod bm25;
pub mod collapse;
pub mod fuse;
pub mod knob;
pub mod language;
pub mod path;
pub mod query;
pub mod rank;
pub mod token;
pub mod unit;

pub use language::{LanguageFacts, PathRules};
pub use unit::{Span, Unit, UnitId, UnitKind, UnitRole};
