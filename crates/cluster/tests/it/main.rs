//! Remote shards: their answers and failures.

mod corpus;
mod equality;
mod failures;
mod lies;
mod served;
