//! Keeps counters in memory and writes them out.

#![warn(missing_docs)]

use std::collections::HashMap;
use std::fmt::{self, Display};

extern crate alloc;

/// Most counters one registry holds.
pub const COUNTERS_MAX: usize = 1_024;
static LAST_ID: AtomicU64 = AtomicU64::new(0);
type Names = Vec<String>;

/// What can be counted.
pub trait Countable: Display + Send {
    /// Name in reports.
    const LABEL: &'static str;
    type Unit;

    fn value(&self) -> u64;

    /// Value with its unit.
    fn describe(&self, precision: usize) -> String {
        format!("{:.*} {}", precision, self.value(), Self::LABEL)
    }
}

/// A set of counters.
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Registry<'a, C>
where
    C: Countable,
{
    counters: HashMap<&'a str, C>,
    pub(crate) names: Names,
}

#[derive(Debug)]
pub enum Change {
    /// A new value.
    Set(u64),
    Add { by: u64 },
    Reset,
}

pub struct Id(pub u64);
struct Marker;

union Word {
    bytes: [u8; 8],
    number: u64,
}

impl<'a, C: Countable> Registry<'a, C> {
    /// Room for `limit` counters.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let limit = limit.min(COUNTERS_MAX);
        let counters = HashMap::with_capacity(limit);
        Registry { counters, names: Vec::new() }
    }

    pub async fn apply<F>(&mut self, change: Change, mut then: F) -> Result<u64, Box<dyn std::error::Error>>
    where
        F: FnMut(u64) -> bool,
    {
        fn clamp(value: u64) -> u64 {
            value.min(1 << 40)
        }
        let next = self.total().checked_add(clamp(1)).ok_or("overflow")?;
        if then(next) {
            self.flush::<C>().await?;
        }
        Ok(next)
    }
}

impl<C: Countable> fmt::Display for Registry<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.names.join(", "))
    }
}

// Builds a registry from pairs.
#[macro_export]
macro_rules! registry {
    ($($name:expr => $counter:expr),*) => {{ $crate::Registry::from([$(($name, $counter)),*]) }};
}

unsafe extern "C" {
    fn clock_now(zone: i32) -> u64;
}

pub mod text {
    /* Longest line. */
    const LINE_MAX: usize = 120;

    pub fn wrap(line: &str) -> Vec<&str> {
        super::split(line, LINE_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_registry_counts_nothing() {
        let registry = Registry::<Hits>::with_limit(1);
        assert_eq!(registry.total(), 0);
    }
}
