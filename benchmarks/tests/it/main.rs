//! The harness on small corpora.

mod common;
mod compare;
mod economy;
mod english;
mod issues;
mod measure;
mod needles;
mod places;
mod recall;
mod relevance;
mod run;
mod sweep;
mod torture;
mod translations;
