//! Failures: replicas that are lost, hang or serve something else, shards that are gone, broken frames, a wrong token;
//! and what a caller without a right to a repository can learn of it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::corpus::{Corpus, NAMES, QUERY, Serving, asked, cluster, everything, frame, hurried, name, through};
use colgrep_cluster::{Cluster, ClusterScope, Generation, ReplicaTimeouts, ShardCoverage, VERSION};
use colgrep_engine::Scope;

/// What a proxy does after a number of answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Cut,
    Hang,
}

/// Proxies a server and lets a number of answers through.
struct Proxy {
    address: SocketAddr,
}

impl Proxy {
    fn new(target: SocketAddr, answers: usize, then: Then) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("an address");
        let left = Arc::new(AtomicUsize::new(answers));
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let (near, left) = (near.expect("a connection"), Arc::clone(&left));
                let Ok(far) = TcpStream::connect(target) else { continue };
                let (mut from_near, mut to_far) =
                    (near.try_clone().expect("a clone"), far.try_clone().expect("a clone"));
                std::thread::spawn(move || std::io::copy(&mut from_near, &mut to_far));
                std::thread::spawn(move || answered(far, near, &left, then));
            }
        });
        Proxy { address }
    }
}

/// Passes answers on, as long as there are some left.
fn answered(mut far: TcpStream, mut near: TcpStream, left: &AtomicUsize, then: Then) {
    let mut head = [0; 4];
    while far.read_exact(&mut head).is_ok() {
        let mut body = vec![0; u32::from_le_bytes(head) as usize];
        if far.read_exact(&mut body).is_err() {
            return;
        }
        if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err() {
            match then {
                // In the middle of a frame.
                Then::Cut => {
                    let _ = near.write_all(&head);
                    let _ = near.write_all(&body[..body.len() / 2]);
                    let _ = near.shutdown(Shutdown::Both);
                }
                Then::Hang => std::thread::sleep(Duration::from_secs(600)),
            }
            return;
        }
        if near.write_all(&[&head[..], &body].concat()).is_err() {
            return;
        }
    }
    let _ = near.shutdown(Shutdown::Both);
}

#[test]
fn a_replica_that_is_lost_in_the_middle_is_replaced() {
    let corpus = Corpus::new(&NAMES[..4]);
    let scope = Scope::default();
    let expected = corpus.here(None, &scope, QUERY, true);
    let replicas: Vec<Serving> = (0..2).map(|_| Serving::new(corpus.part(0, 2), None)).collect();
    let other = Serving::new(corpus.part(1, 2), None);
    for (answers, then) in [0, 1, 2, 3, 5, 7, 9, 12, 15]
        .into_iter()
        .map(|n| (n, Then::Cut))
        .chain([0, 1, 2, 4, 8].map(|n| (n, Then::Hang)))
    {
        let proxy = Proxy::new(replicas[0].address, answers, then);
        let shards = [vec![proxy.address.to_string(), replicas[1].name()], vec![other.name()]];
        let patience = if then == Then::Hang { hurried() } else { ReplicaTimeouts::default() };
        let cluster = cluster(corpus.folder.path(), &shards, None, patience);
        let (got, coverage) = through(&cluster, &corpus, &everything(&scope), QUERY, true);
        assert_eq!(got, expected, "{then:?} behind {answers} answers");
        assert_eq!((coverage.asked, coverage.answered), (2, 2), "{then:?} behind {answers} answers");
    }
}

#[test]
fn a_replica_of_another_generation_answers_anew_and_is_not_mixed_in() {
    let mut corpus = Corpus::new(&NAMES[..2]);
    let old = Serving::new(corpus.repositories.clone(), None);
    std::fs::write(corpus.folder.path().join("acme/src/core/more.py"), "def retry_session(x):\n    return socket(x)\n")
        .expect("a file");
    corpus.repositories[0] = corpus.opened("acme");
    let new = Serving::new(corpus.repositories.clone(), None);
    let scope = Scope::default();
    let expected = corpus.here(None, &scope, QUERY, false);
    assert!(expected.contains("more.py"));
    for answers in [2, 3, 4, 6] {
        let proxy = Proxy::new(old.address, answers, Then::Cut);
        let shards = [vec![proxy.address.to_string(), new.name()]];
        let cluster = cluster(corpus.folder.path(), &shards, None, ReplicaTimeouts::default());
        let (got, coverage) = through(&cluster, &corpus, &everything(&scope), QUERY, false);
        assert_eq!((got, coverage.answered), (expected.clone(), 1), "behind {answers} answers");
    }
    // The served generation is swapped while searches continue with the one that they began with.
    let cluster = cluster(corpus.folder.path(), &[vec![old.name()]], None, ReplicaTimeouts::default());
    let before = through(&cluster, &corpus, &everything(&scope), QUERY, false).0;
    assert!(before != expected);
    asked(&corpus, QUERY, false, |asked| {
        let (ranked, gathered) = cluster.rank(&everything(&scope), asked, &()).expect("an answer");
        *old.shelf.now.lock().expect("unbroken") = Some(Arc::new(Generation::new(corpus.repositories.clone())));
        assert_eq!(crate::corpus::told(&ranked, &gathered), before, "shown from what was ranked");
    });
    assert_eq!(through(&cluster, &corpus, &everything(&scope), QUERY, false).0, expected);
}

#[test]
fn a_shard_without_a_replica_is_told_and_comes_back() {
    let corpus = Corpus::new(&NAMES[..4]);
    let scope = Scope::default();
    let hung = TcpListener::bind("127.0.0.1:0").expect("a listener that never answers");
    let one = Serving::new(corpus.part(0, 2), None);
    let two = Serving::new(corpus.part(1, 2), None);
    let address = two.name();
    let hanging = hung.local_addr().expect("an address").to_string();
    let cluster = cluster(corpus.folder.path(), &[vec![one.name()], vec![hanging, address.clone()]], None, hurried());
    let ask = |cluster: &Cluster| through(cluster, &corpus, &everything(&scope), QUERY, true);
    let whole = corpus.here(None, &scope, QUERY, true);
    assert_eq!(ask(&cluster).0, whole, "the other replica answers for one that hangs");
    drop(two);
    let rest: Vec<String> = corpus.part(0, 2).into_iter().map(|one| one.name).collect();
    let rest = corpus.here(Some(&rest), &scope, QUERY, true);
    for _ in 0..3 {
        let (got, coverage) = ask(&cluster);
        assert_eq!((coverage.asked, coverage.answered, coverage.missing[0].shard), (2, 1, 2));
        assert_eq!(got, rest, "the answer is that of the others");
        assert!(coverage.told().expect("it is told").contains(&address), "{coverage:?}");
    }
    let _two = Serving::at(&address, corpus.part(1, 2), None);
    let end = std::time::Instant::now() + Duration::from_secs(60);
    while cluster.health(None).expect("shards").coverage.answered < 2 {
        assert!(std::time::Instant::now() < end, "it never comes back");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(ask(&cluster).0, whole, "searches ask what a look at the replicas has found");
    // The file may name other places, or be written just now.
    let file = corpus.folder.path().join("shards.json");
    std::fs::write(&file, "{\"shards\": [[").expect("half a file");
    assert_eq!(ask(&cluster).0, whole);
    assert!(cluster.refused_file().is_some_and(|why| why.contains("does not name shards")));
    name(&file, &[vec![one.name()]]);
    assert_eq!((ask(&cluster).0, cluster.refused_file()), (rest, None));
}

#[test]
fn a_shard_that_hangs_is_found_out_by_a_greeting() {
    let corpus = Corpus::new(&NAMES[..4]);
    let scope = Scope::default();
    let servers = [Serving::new(corpus.part(0, 2), None), Serving::new(corpus.part(1, 2), None)];
    let rest: Vec<String> = corpus.part(0, 2).into_iter().map(|one| one.name).collect();
    let rest = corpus.here(Some(&rest), &scope, QUERY, true);
    // Nothing but the greeting can tell: an answer may take longer than the test.
    let patience = ReplicaTimeouts { answer: Duration::from_secs(3_600), ..hurried() };
    // From the greeting on, from the beginning of the search on, in the middle of it.
    for answers in [0, 1, 2, 5] {
        let proxy = Proxy::new(servers[1].address, answers, Then::Hang);
        let shards = [vec![servers[0].name()], vec![proxy.address.to_string()]];
        let cluster = cluster(corpus.folder.path(), &shards, None, patience.clone());
        for _ in 0..3 {
            let (got, coverage) = through(&cluster, &corpus, &everything(&scope), QUERY, true);
            assert_eq!((coverage.answered, coverage.missing[0].shard), (1, 2), "behind {answers} answers");
            assert_eq!(got, rest, "behind {answers} answers");
        }
    }
}

/// What a server answers to bytes, until it closes.
fn raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    text
}

#[test]
fn broken_frames_end_their_connection_alone() {
    let corpus = Corpus::new(&NAMES[..2]);
    let serving = Serving::new(corpus.repositories.clone(), None);
    let hello = frame(&[&b"colgrep\x01"[..], &[VERSION as u8], &[7; 32]].concat());
    assert!(raw(serving.address, &hello).len() > 8, "a hello is answered");
    // Without a token, any credential will do.
    let greeting = [&hello[..], &frame(&[0])].concat();
    let refused = |bytes: &[u8]| raw(serving.address, bytes);
    // An answer that says no: a length, then postcard's Err.
    let says_no = |answer: &[u8]| answer.len() > 4 && answer[4] == 1;
    for other in [b"colgrep\x01\x04\x00", b"colgrep\x01\x63\x00"] {
        // `Err`, the failure of another version, and the one that is spoken here.
        assert_eq!(refused(&frame(other))[4..], [1, 0, VERSION as u8], "another version");
    }
    assert!(says_no(&refused(&frame(&[&b"GREPCOL\x01\x0a"[..], &[7; 32]].concat()))), "another program");
    for broken in [&[][..], &hello[..5], &[0xff; 64], b"\x00\x00\x00\x00", &[7; 3]] {
        let answer = refused(broken);
        assert!(answer.is_empty() || says_no(&answer), "{broken:?}: {answer:?}");
    }
    let mut seed = 7u64;
    for at in 0..200u8 {
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u8
        };
        let length = usize::from(random());
        let mut noise: Vec<u8> = (0..length).map(|_| random()).collect();
        // Half of them are questions by their first byte, of every valid kind and some invalid ones.
        if let Some(first) = noise.first_mut().filter(|_| at % 2 == 0) {
            *first = at / 2 % 50;
        }
        refused(&[&greeting[..], &frame(&noise), &frame(&noise)].concat());
        refused(&[&greeting[..], &noise].concat());
        refused(&[&hello[..], &frame(&noise)].concat());
    }
    let scope = Scope::default();
    let cluster = cluster(corpus.folder.path(), &[vec![serving.name()]], None, ReplicaTimeouts::default());
    let (got, _) = through(&cluster, &corpus, &everything(&scope), QUERY, false);
    assert_eq!(got, corpus.here(None, &scope, QUERY, false), "others are answered as before");
    let damaged = serving.shelf.damaged.lock().expect("unbroken");
    assert!(damaged.is_empty(), "what is out of turn is no damage: {damaged:?}");
}

#[test]
fn a_panic_outside_the_indexes_is_no_damage_of_them() {
    let corpus = Corpus::new(&NAMES[..2]);
    let serving = Serving::new(corpus.repositories.clone(), None);
    let scope = Scope::default();
    let cluster = cluster(corpus.folder.path(), &[vec![serving.name()]], None, ReplicaTimeouts::default());
    let search = || through(&cluster, &corpus, &everything(&scope), QUERY, false).0;
    let whole = corpus.here(None, &scope, QUERY, false);
    assert_eq!(search(), whole);
    serving.shelf.panics.store(1, Ordering::Release);
    assert_eq!(search(), whole, "the shard is asked again");
    assert!(serving.shelf.broken.lock().expect("unbroken")[0].contains("outside the indexes"));
    let damaged = serving.shelf.damaged.lock().expect("unbroken");
    assert!(damaged.is_empty(), "{damaged:?}");
}

#[test]
fn what_is_no_shard_or_wants_another_token_is_missing() {
    let corpus = Corpus::new(&NAMES[..2]);
    let token = "a-token-of-some-length";
    let serving = Serving::new(corpus.repositories.clone(), Some(token));
    let noisy = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let noise = noisy.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in noisy.incoming().flatten() {
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let scope = Scope::default();
    for (given, why) in [(None, "token"), (Some("another-token-of-length"), "token"), (Some(&token[..21]), "token")] {
        let cluster = cluster(corpus.folder.path(), &[vec![serving.name()]], given, ReplicaTimeouts::default());
        let said = asked(&corpus, QUERY, false, |asked| {
            cluster.rank(&everything(&scope), asked, &()).expect_err("no answer").to_string()
        });
        assert!(said.contains(why), "{said}");
    }
    let shards = [vec![serving.name()], vec![noise]];
    let cluster = cluster(corpus.folder.path(), &shards, Some(token), ReplicaTimeouts::default());
    let (got, coverage) = through(&cluster, &corpus, &everything(&scope), QUERY, false);
    assert_eq!((coverage.answered, coverage.missing[0].shard), (1, 2));
    assert_eq!(got, corpus.here(None, &scope, QUERY, false));
}

#[test]
fn a_caller_learns_nothing_of_repositories_that_he_may_not_see() {
    let corpus = Corpus::new(&NAMES);
    let servers: Vec<Serving> = (0..3).map(|at| Serving::new(corpus.part(at, 3), None)).collect();
    let shards: Vec<Vec<String>> = servers.iter().map(|server| vec![server.name()]).collect();
    let over = cluster(corpus.folder.path(), &shards, None, ReplicaTimeouts::default());
    let scope = Scope::default();
    let queries = ["retry the socket", "parse_request", "web/src/core/parse0.py:2", "who calls merge", "cache index"];
    let mut found = 0;
    for (at, rights) in (0..18u32).map(|at| (at as usize, at.wrapping_mul(2_654_435_761) >> 25)) {
        let is_allowed = |one: usize| rights >> one & 1 == 1;
        let allowed: Vec<String> =
            NAMES.iter().enumerate().filter(|(one, _)| is_allowed(*one)).map(|(_, name)| (*name).to_string()).collect();
        let wanted = ClusterScope { allowed: Some(&allowed), scope: &scope };
        let (query, hybrid) = (queries[at % queries.len()], at % 3 == 0);
        let (got, coverage) = through(&over, &corpus, &wanted, query, hybrid);
        // A lone project is ranked without the words of its own name, so the measure is a shard of it alone.
        let expected = match &allowed[..] {
            [one] => {
                let own = corpus.repositories.iter().filter(|known| known.name == *one).cloned().collect();
                let alone = Serving::new(own, None);
                let alone = cluster(
                    &corpus.folder.path().join(".index"),
                    &[vec![alone.name()]],
                    None,
                    ReplicaTimeouts::default(),
                );
                through(&alone, &corpus, &everything(&scope), query, hybrid).0
            }
            several => corpus.here(Some(several), &scope, query, hybrid),
        };
        // The whole answer, steps of scores included, equals that of an index of these repositories alone.
        assert_eq!(got, expected, "{allowed:?} {query:?}");
        let holding = (0..3).filter(|shard| (*shard..NAMES.len()).step_by(3).any(is_allowed)).count();
        // That is so before anything is known of the shards, too.
        assert_eq!(coverage.asked, holding, "{allowed:?}");
        found += usize::from(got.lines().count() > 2);
        let (seen, mut names) = (over.health(Some(&allowed)).expect("a look"), allowed.clone());
        names.sort();
        assert!(seen.names().iter().eq(&names) && seen.coverage.asked == holding, "{seen:?}");
        assert!(seen.shards.iter().flat_map(|shard| &shard.replicas).all(|replica| replica.generation.is_none()));
    }
    assert!(found > 8, "{found} answers hold something");
}

#[test]
fn a_shard_of_another_release_is_refused_in_words() {
    let corpus = Corpus::new(&NAMES[..1]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        // A server that speaks version 1 says so, whatever it is asked.
        for stream in listener.incoming() {
            let _ = stream.expect("a connection").write_all(&frame(&[1, 0, 1]));
        }
    });
    let serving = Serving::new(corpus.repositories.clone(), None);
    let shards = [vec![address], vec![serving.name()]];
    let cluster = cluster(corpus.folder.path(), &shards, None, ReplicaTimeouts::default());
    let scope = Scope::default();
    let (_, coverage) = through(&cluster, &corpus, &everything(&scope), QUERY, false);
    let told = coverage.told().expect("a shard is missing");
    assert!(told.contains("speaks version 1 of the messages between shards, this program version "), "{told}");
    assert!(told.contains("one release"), "{told}");
}

#[test]
fn a_repository_in_two_shards_is_searched_in_the_newer_index_and_stops_nothing() {
    let mut corpus = Corpus::new(&NAMES[..3]);
    let old = Serving::new(corpus.repositories[..2].to_vec(), None);
    let added = corpus.folder.path().join("acme-web/src/core/more.py");
    std::fs::write(added, "def retry_session(x):\n    return socket(x)\n").expect("a file");
    corpus.repositories[1] = corpus.opened("acme-web");
    let new = Serving::new(corpus.repositories[1..].to_vec(), None);
    let scope = Scope::default();
    let expected = corpus.here(None, &scope, QUERY, true);
    assert!(expected.contains("more.py"));
    let told = |coverage: &ShardCoverage| -> Vec<(String, usize, Vec<usize>)> {
        coverage.repeated.iter().map(|one| (one.repository.clone(), one.shard, one.others.clone())).collect()
    };
    for (shards, newer, older) in [([&old, &new], 2, 1), ([&new, &old], 1, 2)] {
        let shards = shards.map(|one| vec![one.name()]);
        let over = cluster(corpus.folder.path(), &shards, None, ReplicaTimeouts::default());
        let (got, coverage) = through(&over, &corpus, &everything(&scope), QUERY, true);
        assert_eq!((got.as_str(), coverage.answered, coverage.told()), (expected.as_str(), 2, None));
        let both = vec![("acme-web".to_string(), newer, vec![older])];
        assert_eq!(told(&coverage), both);
        assert!(
            coverage.repeated().is_some_and(|told| told.contains(&format!("acme-web (shard {newer} has the newest")))
        );
        assert_eq!(told(&over.health(None).expect("shards").coverage), both);
        over.greet().expect("shards");
        assert_eq!(told(&over.last_health().expect("a look").coverage), both);
        let text =
            over.read(None, std::path::Path::new("acme-web/src/core/more.py")).expect("a file of the newer index");
        assert!(text.contains("retry_session"));
        // A caller who may not see it does not hear of it.
        let allowed = ["acme".to_string(), "zeta".to_string()];
        let wanted = ClusterScope { allowed: Some(&allowed), scope: &scope };
        let (got, coverage) = through(&over, &corpus, &wanted, QUERY, true);
        assert_eq!((got, coverage.repeated), (corpus.here(Some(&allowed), &scope, QUERY, true), vec![]));
        assert!(over.health(Some(&allowed)).expect("shards").coverage.repeated.is_empty());
    }
    // One shard named twice is such a case.
    let shards = [vec![new.name()], vec![new.name()]];
    let over = cluster(corpus.folder.path(), &shards, None, ReplicaTimeouts::default());
    let names = ["acme-web".to_string(), "zeta".to_string()];
    let (got, coverage) = through(&over, &corpus, &everything(&scope), QUERY, true);
    assert_eq!(got, corpus.here(Some(&names), &scope, QUERY, true));
    assert_eq!(told(&coverage), names.map(|name| (name, 1, vec![2])));
    // Without the newer one, the older one answers.
    let over = cluster(corpus.folder.path(), &[vec![old.name()], vec![new.name()]], None, hurried());
    drop(new);
    let (got, coverage) = through(&over, &corpus, &everything(&scope), QUERY, true);
    assert!(got.contains("acme-web/") && !got.contains("more.py"), "{got}");
    assert_eq!((coverage.answered, coverage.repeated), (1, vec![]));
}

#[test]
fn what_is_too_long_is_refused_and_no_shard_is_blamed() {
    let corpus = Corpus::new(&NAMES[..2]);
    let serving = Serving::new(corpus.repositories.clone(), None);
    let cluster = cluster(corpus.folder.path(), &[vec![serving.name()]], None, ReplicaTimeouts::default());
    let scope = Scope::default();
    let refused = |query: &str, allowed: Option<&[String]>| {
        asked(&corpus, query, false, |asked| {
            let wanted = ClusterScope { allowed, scope: &scope };
            cluster.rank(&wanted, asked, &()).expect_err("too long").to_string()
        })
    };
    let said = refused(&"retry ".repeat(1 << 18), None);
    assert!(said.contains("a query has at most"), "{said}");
    let many: Vec<String> = (0..300_000).map(|at| format!("a repository of a long name {at}")).collect();
    let said = refused(QUERY, Some(&many));
    assert!(said.contains("the request is too long"), "{said}");
    let (got, coverage) = through(&cluster, &corpus, &everything(&scope), QUERY, false);
    assert_eq!((got, coverage.told()), (corpus.here(None, &scope, QUERY, false), None));
}
