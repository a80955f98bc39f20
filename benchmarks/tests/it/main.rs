//! The harness on small corpora.

mod common;
mod compare;
mod issues;
mod measure;
mod needles;
mod recall;
mod relevance;
mod run;
mod sweep;
mod torture;
