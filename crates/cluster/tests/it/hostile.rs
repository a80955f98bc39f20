//! Replicas that want to learn the token or to speak to whoever searches, clients that only take up room, and callers who
//! want to learn more than their repositories.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};

use crate::corpus::{Corpus, NAMES, QUERY, Serving, asked, cluster, everything, frame, hurried, through};
use colgrep_cluster::{ClusterScope, ReplicaTimeouts, VERSION};
use colgrep_engine::Scope;

const TOKEN: &str = "a-token-of-some-length";

/// The next frame of a stream, if there is one.
fn read(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).ok()?;
    let mut body = vec![0; u32::from_le_bytes(head) as usize];
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

/// A process at the address of a replica: it answers the frames of each connection with these, the last one again and
/// again, and passes on what it got.
fn impostor(answers: Vec<Vec<u8>>, got: Sender<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (answers, got) = (answers.clone(), got.clone());
            std::thread::spawn(move || {
                for at in 0.. {
                    let Some(body) = read(&mut stream) else { return };
                    let _ = got.send(body);
                    if stream.write_all(&frame(&answers[at.min(answers.len() - 1)])).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// A challenge in postcard, without a proof.
fn challenge() -> Vec<u8> {
    [&[0][..], &[7; 32], &[0]].concat()
}

/// A welcome with this many repositories, without times of their indexes.
fn welcome(repositories: u8) -> Vec<u8> {
    let names = (0..repositories).flat_map(|at| [3, b'x', b'a' + at / 26, b'a' + at % 26]);
    [0, 0, repositories].into_iter().chain(names).chain([0; 4]).collect()
}

/// A refusal of a request, in these words.
fn refusal(text: &str) -> Vec<u8> {
    [&[1, 3, text.len() as u8][..], text.as_bytes()].concat()
}

#[test]
fn a_token_never_goes_over_the_wire() {
    let corpus = Corpus::new(&NAMES[..2]);
    let serving = Serving::new(corpus.repositories.clone(), Some(TOKEN));
    let (to_here, got) = channel();
    let impostor = impostor(vec![challenge(), welcome(1)], to_here).to_string();
    let scope = Scope::default();
    let shards = [vec![impostor.clone()], vec![serving.name()]];
    let over = cluster(corpus.folder.path(), &shards, Some(TOKEN), ReplicaTimeouts::default());
    let (answer, coverage) = through(&over, &corpus, &everything(&scope), QUERY, false);
    assert_eq!(answer, corpus.here(None, &scope, QUERY, false));
    assert!(coverage.missing[0].why.contains("does not know the token"), "{coverage:?}");
    // Greetings, each with a number of its own, and nothing else.
    let hellos: Vec<Vec<u8>> = got.try_iter().collect();
    let begin = [&b"colgrep\x01"[..], &[VERSION as u8]].concat();
    assert!(!hellos.is_empty() && hellos.iter().all(|hello| hello.starts_with(&begin)), "{hellos:?}");
    assert!(hellos.iter().all(|hello| hello.len() == 9 + 32 && hello[9..] != hellos[0][9..] || *hello == hellos[0]));
    // Each shard may have a token of its own.
    let tokens = format!("{impostor} another-token\n{} {TOKEN}\n", serving.name());
    let over = cluster(corpus.folder.path(), &shards, Some(&tokens), ReplicaTimeouts::default());
    assert_eq!(through(&over, &corpus, &everything(&scope), QUERY, false).1.answered, 1);
}

#[test]
fn what_one_replica_says_ends_no_search_and_drives_no_terminal() {
    let corpus = Corpus::new(&NAMES[..2]);
    let serving = Serving::new(corpus.repositories.clone(), None);
    let scope = Scope::default();
    let whole = corpus.here(None, &scope, QUERY, false);
    let (to_here, _got) = channel();
    // It is asked first, since it serves most.
    let told = vec![challenge(), welcome(40), refusal("ask\u{1b}[2Jsomebody\nelse")];
    let liar = impostor(told, to_here).to_string();
    let over = cluster(corpus.folder.path(), &[vec![liar.clone(), serving.name()]], None, ReplicaTimeouts::default());
    for _ in 0..3 {
        assert_eq!(through(&over, &corpus, &everything(&scope), QUERY, false).0, whole, "another replica answers");
    }
    let over = cluster(corpus.folder.path(), &[vec![liar.clone()], vec![serving.name()]], None, hurried());
    let (answer, coverage) = through(&over, &corpus, &everything(&scope), QUERY, false);
    assert_eq!((answer, coverage.answered), (whole, 1));
    let why = &coverage.missing[0].why;
    assert!(why.contains("somebody") && !why.contains(['\u{1b}', '\n']), "{why}");
    // Where nobody else has anything of it, that is the answer, as plain.
    let over = cluster(corpus.folder.path(), &[vec![liar]], None, hurried());
    let said = asked(&corpus, QUERY, false, |asked| {
        over.rank(&everything(&scope), asked, &()).expect_err("nobody else").to_string()
    });
    assert!(said.contains("somebody") && !said.contains(['\u{1b}', '\n']), "{said}");
}

#[test]
fn strangers_keep_no_coordinator_out() {
    let corpus = Corpus::new(&NAMES[..2]);
    let serving = Serving::new(corpus.repositories.clone(), Some(TOKEN));
    let mut strangers: Vec<TcpStream> =
        (0..400).map(|_| TcpStream::connect(serving.address).expect("a connection")).collect();
    let scope = Scope::default();
    let over = cluster(corpus.folder.path(), &[vec![serving.name()]], Some(TOKEN), ReplicaTimeouts::default());
    let (answer, _) = through(&over, &corpus, &everything(&scope), QUERY, false);
    assert_eq!(answer, corpus.here(None, &scope, QUERY, false));
    // The oldest made room; who says nothing in time is told so.
    assert_eq!(strangers[0].read(&mut [0; 1]).expect("an end"), 0);
}

#[test]
fn a_caller_with_rights_learns_nothing_of_shards() {
    let corpus = Corpus::new(&NAMES[..4]);
    let (one, two) = (Serving::new(corpus.part(0, 2), None), Serving::new(corpus.part(1, 2), None));
    let [of_one, of_two] = [0, 1].map(|at| vec![corpus.part(at, 2)[0].name.clone()]);
    let scope = Scope::default();
    let addresses = [one.name(), two.name()];
    let shards: Vec<Vec<String>> = addresses.iter().map(|address| vec![address.clone()]).collect();
    let over = cluster(corpus.folder.path(), &shards, None, hurried());
    // Before anything is known of the shards, too.
    let look = |allowed: &[String]| {
        let (_, coverage) =
            through(&over, &corpus, &ClusterScope { allowed: Some(allowed), scope: &scope }, QUERY, false);
        let health = over.health(Some(allowed)).expect("a look");
        let all = serde_json::to_string(&(&coverage, &health)).expect("JSON");
        let told = coverage.told().unwrap_or_default();
        for address in &addresses {
            assert!(!all.contains(address.as_str()) && !told.contains(address.as_str()), "{all} {told}");
        }
        assert!(coverage.missing.is_empty() && !all.contains("\"shard\""), "{all}");
        (coverage.asked, coverage.unserved.into_iter().map(|one| one.repository).collect::<Vec<_>>())
    };
    assert_eq!(look(&of_one), (1, vec![]));
    assert_eq!(look(&of_two), (1, vec![]));
    drop(two);
    assert_eq!(look(&of_one), (1, vec![]), "the lost shard has nothing of this caller's");
    let both = [of_one.clone(), of_two.clone()].concat();
    assert_eq!(look(&both), (1, of_two.clone()), "what is his is told");
    let refused = asked(&corpus, QUERY, false, |asked| {
        let wanted = ClusterScope { allowed: Some(&of_two), scope: &scope };
        format!("{:?}", over.rank(&wanted, asked, &()))
    });
    assert!(!addresses.iter().any(|address| refused.contains(address.as_str())), "{refused}");
}
