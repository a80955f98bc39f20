//! Indexes that a team shares through an object store.
