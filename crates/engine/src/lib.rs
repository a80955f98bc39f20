//! colgrep-engine: opens a project, keeps its index current and answers searches.
//!
#![doc = include_str!("../README.md")]

pub mod answer;
pub mod engine;
pub mod error;
pub mod history;
pub mod notice;
pub mod project;
pub mod relations;
pub mod request;
pub mod run;
pub mod session;
pub mod settings;

pub use answer::results::Results;
pub use answer::{Answer, BestLine, FileAnswer, UnitAnswer};
pub use engine::Engine;
pub use error::{Error, Refused, Result, SettingError};
pub use notice::{Listener, Notice};
pub use project::Project;
pub use project::git::GitChange;
pub use project::open::OpenOptions;
pub use relations::changed::ChangeSpec;
pub use relations::impact::{ImpactAnswer, ImpactRequest};
pub use relations::levels::CallDirection;
pub use relations::unknown::UnknownCalls;
pub use request::{
    Background, Changes, Detail, Facts, Pattern, Question, RankBy, RankingOptions, Scope, SearchRequest, Shape,
    Standpoint, Tests, Weakest,
};
pub use run::{Backend, FILES_DEFAULT, PreparedSearch};
pub use session::Session;
pub use session::related::{CallLevelsAnswer, CallLevelsRequest, CallStart};
pub use session::symbols::NameMatch;
pub use settings::Settings;
pub use settings::env::Env;
