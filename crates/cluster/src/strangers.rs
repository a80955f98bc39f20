//! Connections to a shard that have not proved anything yet. Their number is bounded, and a new one takes the place of an
//! old one, so that a client that opens many idle connections can't lock others out.

use std::collections::HashMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of such connections.
pub const STRANGERS_MAX: usize = 64;

/// Such connections, the oldest first.
#[derive(Debug, Default)]
pub struct Strangers(Mutex<StrangerList>);

#[derive(Debug, Default)]
struct StrangerList {
    next: u64,
    all: Vec<Stranger>,
}

#[derive(Debug)]
struct Stranger {
    id: u64,
    from: IpAddr,
    stream: TcpStream,
}

impl Strangers {
    fn list(&self) -> MutexGuard<'_, StrangerList> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection and returns its number. If there are too many, ends the oldest one of the machine that has
    /// most.
    pub fn enter(&self, from: IpAddr, stream: TcpStream) -> u64 {
        let mut list = self.list();
        if list.all.len() >= STRANGERS_MAX {
            let machines: Vec<IpAddr> = list.all.iter().map(|one| one.from).collect();
            if let Some(at) = oldest_of_most(&machines) {
                let _ = list.all.remove(at).stream.shutdown(Shutdown::Both);
            }
        }
        list.next += 1;
        let id = list.next;
        list.all.push(Stranger { id, from, stream });
        id
    }

    /// Removes a connection that has ended or is no stranger any more.
    pub fn leave(&self, id: u64) {
        self.list().all.retain(|one| one.id != id);
    }
}

/// The position of the oldest of the connections from the machine that has most of them. The oldest come first.
pub fn oldest_of_most(machines: &[IpAddr]) -> Option<usize> {
    let mut counts: HashMap<IpAddr, usize> = HashMap::new();
    machines.iter().for_each(|machine| *counts.entry(*machine).or_default() += 1);
    let most = counts.values().max()?;
    machines.iter().position(|machine| counts[machine] == *most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_with_most_connections_loses_its_oldest() {
        let [a, b] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
        assert_eq!(oldest_of_most(&[]), None);
        assert_eq!(oldest_of_most(&[a]), Some(0));
        assert_eq!(oldest_of_most(&[b, a, a]), Some(1));
        assert_eq!(oldest_of_most(&[a, b, b, a]), Some(0));
    }
}
