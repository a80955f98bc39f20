//! Shards behind a wire: their answers, and what goes wrong.

mod corpus;
mod equality;
mod failures;
mod lies;
mod served;
