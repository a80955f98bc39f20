//! The index through its public interface.

mod index;
mod languages;
mod long;
mod narrowed;
mod project;
mod semantic;
mod shards;
mod shared;
mod stopped;
mod switch;
mod toy;
mod unreadable;
mod vectors;
