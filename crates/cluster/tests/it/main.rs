//! Remote shards: their answers and failures.

mod corpus;
mod equality;
mod failures;
mod hostile;
mod lies;
mod served;
