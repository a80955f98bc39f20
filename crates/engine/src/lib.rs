//! colgrep-engine: opens a project, keeps its index current and answers searches.
//!
#![doc = include_str!("../README.md")]

pub mod answer;
mod bound;
pub mod cloud;
pub mod corpus;
pub mod damage;
pub mod end;
pub mod engine;
pub mod env;
pub mod error;
pub mod explain;
pub mod filter;
mod follow;
pub mod git;
pub mod history;
pub mod identity;
pub mod like;
pub mod line;
pub mod list;
pub mod model;
mod moved;
pub mod near;
mod nearest;
mod needed;
pub mod nested;
pub mod notice;
pub mod open;
pub mod pack;
pub mod past;
pub mod pattern;
pub mod place;
pub mod project;
pub mod request;
pub mod results;
pub mod rules;
pub mod session;
pub mod settings;
pub mod show;
pub mod stand;
pub mod terms;
pub mod tree;
pub mod variable;
mod watch;

pub use answer::{Answer, BestLine, FileAnswer, UnitAnswer};
pub use engine::Engine;
pub use env::Env;
pub use error::{Error, Refused, Result, SettingError};
pub use notice::{Listener, Notice};
pub use open::OpenOptions;
pub use project::Project;
pub use request::{
    Background, Changes, Detail, Facts, Pattern, Question, RankBy, RankingOptions, Scope, SearchRequest, Shape,
    Standpoint, Tests, Weakest,
};
pub use results::Results;
pub use session::Session;
pub use settings::Settings;
