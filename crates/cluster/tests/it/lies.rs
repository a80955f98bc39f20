//! A shard that says nonsense: its answers are changed on their way, and the coordinator neither panics nor leaves out in
//! silence.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::corpus::{Corpus, NAMES, QUERY, Serving, asked, cluster, hurried, told};
use colgrep_cluster::{ClusterScope, ReplicaTimeouts};
use colgrep_engine::{Detail, Scope};

/// How an answer is changed, which begins with a byte that says that it is one.
type Lie = Box<dyn FnMut(&mut Vec<u8>) + Send>;

/// Proxies a server and changes one of its answers.
struct Liar {
    address: SocketAddr,
    /// Answers that pass unchanged before that, and the lie.
    lie: Arc<Mutex<(usize, Lie)>>,
    answers: Arc<AtomicUsize>,
}

impl Liar {
    fn new(target: SocketAddr) -> Liar {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("an address");
        let lie: Arc<Mutex<(usize, Lie)>> = Arc::new(Mutex::new((usize::MAX, Box::new(|_| {}))));
        let answers = Arc::new(AtomicUsize::new(0));
        let (own, count) = (Arc::clone(&lie), Arc::clone(&answers));
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let (near, own, count) = (near.expect("a connection"), Arc::clone(&own), Arc::clone(&count));
                let Ok(far) = TcpStream::connect(target) else { continue };
                let (mut from, mut to) = (near.try_clone().expect("a clone"), far.try_clone().expect("a clone"));
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                std::thread::spawn(move || passed_on(far, near, &own, &count));
            }
        });
        Liar { address, lie, answers }
    }

    /// Changes the answer that follows the given number of answers.
    fn lies(&self, behind: usize, lie: impl FnMut(&mut Vec<u8>) + Send + 'static) {
        *self.lie.lock().expect("unbroken") = (behind, Box::new(lie));
        self.answers.store(0, Ordering::SeqCst);
    }
}

fn passed_on(mut far: TcpStream, mut near: TcpStream, lie: &Mutex<(usize, Lie)>, answers: &AtomicUsize) {
    let mut head = [0; 4];
    while far.read_exact(&mut head).is_ok() {
        let mut body = vec![0; u32::from_le_bytes(head) as usize];
        if far.read_exact(&mut body).is_err() {
            break;
        }
        {
            let mut lie = lie.lock().expect("unbroken");
            if answers.fetch_add(1, Ordering::SeqCst) == lie.0 {
                (lie.1)(&mut body);
            }
        }
        let head = (body.len() as u32).to_le_bytes();
        if near.write_all(&[&head[..], &body].concat()).is_err() {
            break;
        }
    }
    let _ = near.shutdown(Shutdown::Both);
}

#[test]
fn a_shard_that_speaks_nonsense_is_missing_and_breaks_nothing() {
    let corpus = Corpus::new(&NAMES[..4]);
    let servers = [Serving::new(corpus.part(0, 2), None), Serving::new(corpus.part(1, 2), None)];
    let query = "who calls merge in zeta/src/core/parse0.py \"the cache is\"";
    let scope = Scope::default();
    let rest: Vec<String> = corpus.part(0, 2).into_iter().map(|one| one.name).collect();
    let rest = corpus.here(Some(&rest), &scope, query, true);
    let (mut random, mut missing) = (7u64, 0);
    for behind in 0..26 {
        for kind in [behind % 4, (behind + 1) % 4] {
            let liar = Liar::new(servers[1].address);
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = random >> 33;
            liar.lies(behind, move |body| {
                let at = 1 + (place as usize) % body.len().saturating_sub(1).max(1);
                match kind {
                    // Only the byte that marks an answer, a truncated answer, another number, large numbers.
                    0 => body.truncate(1),
                    1 => body.truncate(at),
                    2 => body.iter_mut().skip(at).take(1).for_each(|byte| *byte = byte.wrapping_add(1)),
                    _ => body.iter_mut().skip(at).take(4).for_each(|byte| *byte = 0x7f),
                }
            });
            let shards = [vec![servers[0].name()], vec![liar.address.to_string()]];
            let cluster = cluster(corpus.folder.path(), &shards, None, ReplicaTimeouts::default());
            let wanted = ClusterScope { allowed: None, scope: &scope };
            asked(&corpus, query, true, |asked| {
                let (ranked, gathered) = cluster.rank(&wanted, asked, &()).expect("an answer of the other shard");
                let coverage = gathered.coverage();
                if let Some(away) = coverage.missing.first() {
                    missing += 1;
                    assert_eq!(told(&ranked, &gathered), rest, "{behind} {kind}: {}", away.why);
                }
            });
        }
    }
    assert!(missing > 12, "{missing} lies were found out");
}

#[test]
fn a_caller_with_rights_learns_no_shard_that_is_lost_after_the_ranking() {
    let corpus = Corpus::new(&NAMES[..2]);
    let serving = Serving::new(corpus.repositories.clone(), None);
    let scope = Scope::default();
    let all: Vec<String> = corpus.repositories.iter().map(|one| one.name.clone()).collect();
    for (allowed, is_told) in [(None, true), (Some(&all[..]), false)] {
        let liar = Liar::new(serving.address);
        let cluster = cluster(corpus.folder.path(), &[vec![liar.address.to_string()]], None, hurried());
        asked(&corpus, QUERY, false, |asked| {
            let (ranked, gathered) =
                cluster.rank(&ClusterScope { allowed, scope: &scope }, asked, &()).expect("a ranking");
            liar.lies(0, |body| body.truncate(1));
            let error = ranked.files(&gathered, 0..ranked.len(), Detail::Relations).expect_err("no files");
            assert_eq!(format!("{error:?}").contains("shard 1"), is_told, "{error:?}");
        });
    }
}
