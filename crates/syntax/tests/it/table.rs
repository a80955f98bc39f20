//! Tests lists of all languages together: words that name files, test files, types.

use std::collections::BTreeSet;

use colgrep_core::path::{PathClass, PathFacts, project_terms};
use colgrep_core::query::Query;
use colgrep_core::token::Tokenizer;
use colgrep_syntax::language::{LANGUAGES, Language, facts, of_file};
use colgrep_syntax::read::skip_by_name;

fn all(list: impl Fn(&Language) -> &[&'static str]) -> String {
    let words: BTreeSet<&str> = LANGUAGES.iter().flat_map(|l| list(l).iter().copied()).collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_file_of_any_language_is_looked_up_by_its_stem() {
    for (text, name) in [
        ("app.dart", "app"),
        ("main.tf", "main"),
        ("infra/main.tf", "main"),
        ("App.svelte", "App"),
        ("client.py", "client"),
        ("socket.h", "socket"),
        ("index.ts", "index"),
        // Members of values, although the words end in known extensions.
        ("console.log", "log"),
        ("process.env", "env"),
        ("counter.inc", "inc"),
        ("this.props", "props"),
        ("http.Client", "Client"),
    ] {
        let query = Query::new(text, "/project", facts(), &mut Tokenizer::default());
        let names: Vec<&str> = query.identifiers.iter().map(|i| i.name.as_str()).collect();
        assert_eq!(names, [name], "{text}");
        assert!(query.is_symbol(), "{text}");
    }
}

#[test]
fn files_go_by_their_names() {
    for (files, expected) in [
        ("a/defs.bzl BUILD BUILD.bazel WORKSPACE MODULE.bazel Tiltfile BUCK", "python"),
        ("blink.ino mod.cppm mod.ixx vec.tcc", "cpp"),
        ("a.podspec show.json.jbuilder a.rbi Brewfile Dangerfile", "ruby"),
        ("init.luau a-1.0-1.rockspec", "lua"),
        ("schema.pgsql pkg.pkb", "sql"),
        ("job.nomad main.tofu", "hcl"),
        ("app.es6", "javascript"),
        ("report.Rmd report.qmd", "rmarkdown"),
        ("CMakeLists.txt a/FindZ.cmake", "cmake"),
        ("builder.txt", "text"),
    ] {
        for file in files.split(' ') {
            assert_eq!(of_file(file, b"").name, expected, "{file}");
        }
    }
}

#[test]
fn every_extension_names_files_but_for_those_of_members() {
    for language in LANGUAGES {
        let own = || language.extensions.iter().copied().chain(language.shared_extensions());
        for extension in own() {
            let is_member = LANGUAGES.iter().any(|l| l.member_extensions.contains(&extension));
            assert_eq!(facts().is_file_name(&format!("a.{extension}")), !is_member, "{extension}");
        }
        for member in language.member_extensions {
            assert!(own().any(|e| e == *member), "{}: {member} is not one of its extensions", language.name);
        }
    }
}

#[test]
fn classes_of_paths_go_by_the_table() {
    use PathClass as C;
    let all = [C::TEST, C::BARREL, C::TYPINGS, C::VENDORED];
    for (path, expected) in [
        ("a/FooTest.java", &[C::TEST][..]),
        ("a/FooSpec.scala", &[C::TEST]),
        ("a/FooTests.cs", &[C::TEST]),
        ("a/FooTest.php", &[C::TEST]),
        ("a/FooTests.m", &[C::TEST]),
        ("a/FooTests.mm", &[C::TEST]),
        ("a/FooSpec.groovy", &[C::TEST]),
        ("a/FooTests.fs", &[C::TEST]),
        ("a/FooSpec.hs", &[C::TEST]),
        ("a/FooTest.kt", &[C::TEST]),
        ("a/FooTests.swift", &[C::TEST]),
        ("a/FooTest.kts", &[]),
        ("a/FooTest.csx", &[]),
        ("a/FooTest.ts", &[]),
        ("a/login.cy.js", &[C::TEST]),
        ("a/types.test-d.ts", &[C::TEST]),
        ("a/conftest.py", &[C::TEST]),
        ("a/run.bats", &[C::TEST]),
        ("a/Foo.Tests.ps1", &[C::TEST]),
        ("a/tst_foo.qml", &[C::TEST]),
        ("a/test-foo.R", &[C::TEST]),
        ("a/runtests.jl", &[C::TEST]),
        ("a/foo_unittest.cc", &[C::TEST]),
        ("a/TestFoo.java", &[C::TEST]),
        ("a/FooTestCase.java", &[C::TEST]),
        ("a/FooTestCase.php", &[C::TEST]),
        ("a/FooIT.java", &[C::TEST]),
        ("a/FooTest.cpp", &[C::TEST]),
        ("a/TestFoo.cpp", &[C::TEST]),
        ("a/TestFoo.cs", &[C::TEST]),
        ("a/FooTest.sol", &[C::TEST]),
        ("a/Foo.t.sol", &[C::TEST]),
        ("a/Foo.sol", &[]),
        ("a/Spec.hs", &[C::TEST]),
        ("a/FooBench.scala", &[C::BENCHMARK]),
        ("a/bench_foo.py", &[C::BENCHMARK]),
        ("a/testify.R", &[]),
        ("a/tstamp.qml", &[]),
        ("a/Spec.java", &[]),
        ("a/page.snap", &[C::TEST]),
        ("a/index.d.ts", &[C::TYPINGS]),
        ("a/index.pyi", &[C::TYPINGS]),
        ("a/__init__.py", &[C::BARREL]),
        ("a/package-info.java", &[C::BARREL]),
        ("a/user.g.dart", &[C::VENDORED]),
        ("a/Form.g.cs", &[C::VENDORED]),
        ("a/user.dart", &[]),
        ("dist/node/a.mjs", &[C::VENDORED]),
        ("a/dist/a.css", &[C::VENDORED]),
        ("a/dist.js", &[]),
        ("src/cmd/dist/a.go", &[]),
    ] {
        let class = PathClass::of(path, facts());
        for one in all {
            assert_eq!(class.has(one), expected.contains(&one), "{path}: {one:?}");
        }
    }
}

#[test]
fn roles_and_layouts_are_no_topics() {
    let mut tokenizer = Tokenizer::default();
    for (path, topic) in [
        ("net/mod.rs", "net"),
        ("net/lib.rs", "net"),
        ("net/index.ts", "net"),
        ("net/__init__.py", "net"),
        ("net/package.scala", "net"),
        ("net/main.go", "net main"),
        ("net/init.lua", "net init"),
        ("net/socket.rs", "socket"),
    ] {
        assert_eq!(PathFacts::new(path, facts(), &mut tokenizer).topic_terms.join(" "), topic, "{path}");
    }
    for layout in ["java", "scala", "kotlin", "python"] {
        let root = format!("/home/me/relay/src/main/{layout}");
        assert_eq!(project_terms(&root, facts(), &mut tokenizer), ["relay"], "{layout}");
    }
}

#[test]
fn the_lists_of_all_languages_are_as_they_were_measured() {
    // Ranking was tuned with these; a language that adds to one changes the index (`FORMAT_VERSION`).
    assert_eq!(
        all(|l| l.type_keywords),
        "actor class concept data defmodule enum extension interface module namespace newtype object protocol record \
         struct trait type typedef union"
    );
    assert_eq!(all(|l| l.minified_extensions), "cjs css htm html js json map mjs svg xml");
    assert_eq!(all(|l| l.paths.camel_tests), "cc cpp cs cxx fs groovy hs java kt m mm php scala sol swift");
    for file in all(|l| l.lock_files).split(' ') {
        assert!(skip_by_name(&format!("a/{file}")).is_some(), "{file}");
    }
    assert_eq!(all(|l| l.lock_files).split(' ').count(), 13);
}
