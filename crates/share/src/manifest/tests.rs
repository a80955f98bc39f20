//! Manifests as they are written, damaged, crafted, and of other programs.

use super::*;

fn part(name: &str, content: &[u8]) -> PartRecord {
    PartRecord::of(name, content)
}

fn sealed(text: &str) -> Vec<u8> {
    [text.as_bytes(), SEAL, of_bytes(text.as_bytes()).as_bytes(), b"\n"].concat()
}

fn snapshot(commit: &str, branch: &str) -> ManifestSnapshot {
    let parts = vec![part("files-7.bin", commit.as_bytes()), part(POINT_PART, b"point")];
    ManifestSnapshot {
        commit: Some(commit.into()),
        branch: Some(branch.into()),
        format: 6,
        ..ManifestSnapshot::of(parts)
    }
}

#[test]
fn what_a_newer_program_wrote_is_kept() {
    let mut manifest = Manifest::new("h/n");
    manifest.add(snapshot("a", "main"));
    let text = String::from_utf8(manifest.sealed()).expect("text");
    let json = text.rsplit_once(SEAL.iter().map(|b| *b as char).collect::<String>().as_str()).expect("a seal").0;
    let json = json.replace("\"format\": 6", "\"format\": 6, \"signed\": [1]").replacen('{', "{\"more\": true,", 1);
    let mut read = Manifest::read(&sealed(&json), "x").expect("a manifest");
    read.add(snapshot("b", "main"));
    let written = String::from_utf8(read.sealed()).expect("text");
    assert!(written.contains("\"more\": true") && written.contains("\"signed\": ["), "{written}");
}

#[test]
fn no_cut_or_flipped_manifest_is_read() {
    let mut manifest = Manifest::new("h/n");
    manifest.add(snapshot("a", "main"));
    let sealed = manifest.sealed();
    assert_eq!(Manifest::read(&sealed, "x").expect("sound"), manifest);
    for at in 0..sealed.len() {
        assert!(Manifest::read(&sealed[..at], "x").is_err(), "cut at {at}");
        let mut flipped = sealed.clone();
        flipped[at] ^= 1;
        assert!(Manifest::read(&flipped, "x").is_err(), "flipped at {at}");
    }
    manifest.layout = LAYOUT + 1;
    let newer = Manifest::read(&manifest.sealed(), "x").expect_err("newer");
    assert!(matches!(newer, Error::NewerLayout { layout: 2, .. }), "{newer}");
}

#[test]
fn the_newest_of_a_branch_stay() {
    let mut manifest = Manifest::new("h/n");
    for n in 0..5 {
        manifest.add(snapshot(&n.to_string(), "main"));
    }
    manifest.add(snapshot("x", "side"));
    manifest.add(snapshot("4", "main"));
    let commits: Vec<_> = manifest.snapshots().filter_map(|s| s.commit.as_deref()).collect();
    assert_eq!(commits, ["2", "3", "x", "4"]);
    for n in 0..100 {
        manifest.add(snapshot("y", &n.to_string()));
    }
    assert_eq!(manifest.snapshots.len(), SNAPSHOTS_MAX);
    // What others wrote does not grow without a bound either.
    let many = vec![part("files-7.bin", b"x"); 2_000];
    for n in 0..40 {
        manifest.add(ManifestSnapshot {
            commit: Some(format!("{n}")),
            branch: Some(format!("b{n}")),
            ..ManifestSnapshot::of(many.clone())
        });
    }
    assert!(manifest.sealed().len() as u64 <= MANIFEST_BYTES_MAX && manifest.snapshots.len() > 2);
    let named = manifest.snapshots().last().and_then(|s| s.commit.clone());
    assert_eq!(named.as_deref(), Some("39"));
}

#[test]
fn an_index_of_another_line_end_stays_beside_this_one() {
    let mut manifest = Manifest::new("h/n");
    manifest.add(snapshot("a", "main"));
    manifest.add(ManifestSnapshot { lines: Some("crlf".into()), ..snapshot("a", "main") });
    manifest.add(snapshot("a", "main"));
    assert_eq!(manifest.snapshots().map(|s| s.lines.as_deref()).collect::<Vec<_>>(), [Some("crlf"), None]);
}

#[test]
fn an_index_that_is_not_understood_stays_with_what_it_names() {
    let mut manifest = Manifest::new("h/n");
    manifest.add(snapshot("a", "main"));
    let key = of_bytes(b"theirs");
    let mut value = serde_json::to_value(&manifest).expect("JSON");
    let other = serde_json::json!({
        "format": 7, "vectors": {"codec": {"bits": "mixed"}}, "files": [{"at": [format!("{key}-1f")]}, key]
    });
    value["snapshots"].as_array_mut().expect("a list").insert(0, other.clone());
    let text = value.to_string();
    let mut read = Manifest::read(&sealed(&text), "x").expect("a manifest");
    assert_eq!((read.snapshots().count(), read.formats()), (1, vec![6, 7]));
    let named = read.keys();
    assert!(named.contains(key.as_str()) && named.contains(format!("{key}-1f").as_str()) && named.len() == 4);
    read.add(snapshot("b", "main"));
    assert_eq!(serde_json::to_value(&read).expect("JSON")["snapshots"][0], other);
    // Unknown keys are kept at every level.
    let mut value = serde_json::to_value(&manifest).expect("JSON");
    value["snapshots"][0]["parts"][0]["packed"] = serde_json::json!("zstd");
    let read = Manifest::read(&sealed(&value.to_string()), "x").expect("a manifest");
    assert_eq!(serde_json::to_value(&read).expect("JSON"), value);
    // Something that was never a manifest is foreign, not damaged.
    for foreign in ["{\"layout\":\"x\"}", "[]", "{}", "{\"layout\":1,\"snapshots\":7}"] {
        let error = Manifest::read(&sealed(foreign), "x").expect_err(foreign);
        assert!(matches!(error, Error::Foreign { .. }), "{foreign}: {error}");
    }
    let cut = Manifest::read(&sealed("{\"layout\":1"), "x").expect_err("no JSON");
    assert!(matches!(cut, Error::DamagedManifest { .. }), "{cut}");
}

#[test]
fn files_that_no_index_has_are_refused() {
    let check = |parts: Vec<PartRecord>| ManifestSnapshot::of(parts).check();
    let whole = || vec![part("files-7.bin", b"t"), part(POINT_PART, b"p")];
    check(whole()).expect("a whole index");
    let id = "0123456789abcdef0123456789abcdef";
    for name in [
        format!("lexical/{id}.idx"),
        format!("lexical/{id}.12.del"),
        "vectors/18f.seg".into(),
        "vectors/codebook-1f.bin".into(),
    ] {
        check([whole(), vec![part(&name, b"x")]].concat()).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    for name in [
        "lexical/0123456789abcdef0123456789abcdef./../../x",
        "../x",
        "lexical/../../x",
        "/etc/passwd",
        "lock",
        "lexical/lock",
        "lexical/meta.json.new",
        "vectors/../x.seg",
        "vectors/x/1.seg",
        "files-.bin",
        "files-1.bin.new",
        "LEXICAL/meta.json",
        "C:\\x",
        "",
    ] {
        check([whole(), vec![part(name, b"x")]].concat()).expect_err(name);
    }
    check(vec![part(POINT_PART, b"p")]).expect_err("no table");
    check([whole(), vec![part("files-8.bin", b"t")]].concat()).expect_err("two tables");
    for key in ["../x".to_string(), format!("{}-../x", of_bytes(b"x")), of_bytes(b"other")] {
        let other = PartRecord { key: Some(key.clone()), ..part("vectors/1.seg", b"x") };
        check([whole(), vec![other]].concat()).expect_err(&key);
    }
    let large = PartRecord { bytes: u64::MAX, ..part("vectors/1.seg", b"x") };
    check([whole(), vec![large]].concat()).expect_err("too large");
}

#[test]
fn a_forged_manifest_is_read_or_refused() {
    let mut manifest = Manifest::new("h/n");
    ["a", "b"].into_iter().for_each(|commit| manifest.add(snapshot(commit, "main")));
    let bytes = manifest.sealed();
    let text = &bytes[..bytes.len() - SEAL.len() - 65];
    let mut random = 7_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let pieces: [&[u8]; 8] = [b"18446744073709551615", b"-1", b"null", b"[", b"{}", b"\"\"", b"../../x", b"1e999"];
    let mut read = 0;
    for _ in 0..3_000 {
        let mut forged = text.to_vec();
        for _ in 0..1 + next(3) {
            let (at, piece) = (next(forged.len()), pieces[next(pieces.len())]);
            let end = forged.len().min(at + next(24));
            forged.splice(at..end, piece.iter().copied());
        }
        let sealed = [&forged[..], SEAL, of_bytes(&forged).as_bytes(), b"\n"].concat();
        let Ok(manifest) = Manifest::read(&sealed, "x") else { continue };
        read += 1;
        let _ = (manifest.keys(), manifest.formats(), manifest.sealed());
        for snapshot in manifest.snapshots() {
            let _ = (snapshot.id(), snapshot.bytes(), snapshot.check());
        }
    }
    assert!(read > 10, "{read}");
}
