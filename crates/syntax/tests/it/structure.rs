//! Structural patterns in every language with a grammar, over its sample.

use colgrep_syntax::language::{LANGUAGES, by_name};
use colgrep_syntax::structure::{find_in_process, languages_in};

use crate::samples::samples;

/// The lines on which matches begin; `None` if the pattern is no code of the language.
fn lines(language: &str, text: &str, pattern: &str) -> Option<Vec<usize>> {
    let found = find_in_process(text, by_name(language).expect("a row"), pattern).expect("a text that parses");
    assert!(found.places.is_empty() || found.may_match(text), "{language}: {pattern}");
    let line = |place: &(u32, u32)| 1 + text[..place.0 as usize].matches('\n').count();
    (!found.readings.is_empty()).then(|| found.places.iter().map(line).collect())
}

/// A language, a pattern with a metavariable and where it matches, one with a list and where, and one that matches
/// nowhere.
type Row = (&'static str, (&'static str, &'static [usize]), (&'static str, &'static [usize]), &'static str);

const ROWS: [Row; 43] = [
    ("bash", ("basename $A", &[36]), ("rm $$$", &[41, 55]), "mv $A"),
    ("c", ("ring *$A = calloc($$$);", &[68]), ("if ($A) $$$", &[72]), "trace_line($A)"),
    ("cpp", ("tiles_.at($I)", &[56]), ("os << $$$", &[62]), "tiles_.at()"),
    ("csharp", ("this.Add($A)", &[57]), ("foreach (var $A in $B) { $$$ }", &[55, 140]), "this.Remove($A)"),
    ("css", ("var($A)", &[18, 19, 53, 58]), ("calc($$$)", &[19]), "var($A, $B)"),
    ("dart", ("amount * $A", &[33]), ("_owner = $$$", &[60]), "_owner = lost"),
    ("dockerfile", ("ENV $A", &[9]), ("RUN $$$", &[13, 19, 24]), "ARG $A=2"),
    ("elixir", ("Repo.insert($A)", &[45]), ("Keyword.get($$$)", &[44]), "Repo.delete($A)"),
    ("go", ("opt($A)", &[73]), ("if err := $A; err != nil { $$$ }", &[75]), "errors.Is($A)"),
    ("graphql", ("dropEvent(id: $A)", &[64]), ("type $A { $$$ }", &[43]), "type Lost { $$$ }"),
    ("haskell", ("when' $A", &[75]), ("total $$$ = $B", &[69, 70]), "lost $A"),
    ("hcl", ("length($A)", &[34]), ("merge($$$)", &[37]), "length($A, $B)"),
    ("html", ("document.getElementById($A)", &[34]), ("<small>$$$</small>", &[19]), "<lost>$A</lost>"),
    ("java", ("new Posting($A, $B)", &[45, 73]), ("for (BigDecimal $A : $B) { $$$ }", &[33]), "new Posting($A)"),
    ("javascript", ("sleep($A)", &[26]), ("new Promise($$$)", &[13]), "sleep($A, $B)"),
    ("json", ("\"name\": $A", &[2]), ("{ $$$ }", &[1, 5, 10, 18, 19, 23, 25, 26, 29]), "\"lost\": $A"),
    ("julia", ("sqrt($A)", &[48, 52]), ("print($$$)", &[56]), "sqrt($A, $B)"),
    ("kotlin", ("check($A)", &[29]), ("require($$$)", &[33]), "check($A, $B)"),
    ("lua", ("json.encode($A)", &[32]), ("setmetatable($$$)", &[20]), "json.decode($A)"),
    ("make", ("$(wildcard $A)", &[10]), ("$(shell $$$)", &[7]), "$(lost $A)"),
    ("nix", ("stdenv.mkDerivation $A", &[21]), ("fetchFromGitHub { $$$ }", &[25]), "stdenv.other $A"),
    ("objc", ("[item $A]", &[74]), ("CLAMP($$$)", &[72]), "[thing $A]"),
    ("ocaml", ("failwith $A", &[28]), ("List.fold $$$", &[40]), "invalid_arg $A"),
    ("perl", ("parse_row($A)", &[55]), ("open($$$)", &[53]), "close($A, $B)"),
    ("php", ("$this->seen[$A] = $B", &[42]), ("self::from($$$)", &[26]), "strtolower($A, $B)"),
    ("powershell", ("[Region]::new($A)", &[41]), ("$line.Trim($$$)", &[41]), "[Region]::old($A)"),
    ("proto", ("repeated Attachment $A = 4;", &[26]), ("message $A { $$$ }", &[21, 35, 47]), "message Lost { $$$ }"),
    ("python", ("log.warning($A, $B)", &[17]), ("def wrap($$$): $$$", &[36]), "log.warning($A)"),
    ("r", ("check_gaps($A)", &[20]), ("summarise($$$)", &[19]), "check_gaps()"),
    ("rmarkdown", ("filter(rows, $A)", &[12]), ("count($$$)", &[13]), "filter($A)"),
    ("ruby", ("Class.new($A)", &[10]), ("Struct.new($$$)", &[13]), "Class.new($A, $B)"),
    ("rust", ("limit.min($A)", &[61]), ("fn clamp($$$) -> $T { $$$ }", &[70]), "HashMap::new($$$)"),
    ("scala", ("require($A)", &[44]), ("registry.getOrElseUpdate($$$)", &[32]), "require($A, $B)"),
    ("solidity", ("require($A, $B)", &[53]), ("contract $A is $$$ { $$$ }", &[42]), "require($A)"),
    ("sql", ("sum($A)", &[33]), ("count($$$)", &[26, 40, 48]), "max($A)"),
    ("svelte", ("toasts.filter($A)", &[15]), ("toasts.slice($$$)", &[18]), "toasts.lost($A)"),
    ("swift", ("queue.append($A)", &[67]), ("queue.removeLast($$$)", &[46]), "queue.append()"),
    ("toml", ("name = $A", &[7, 31, 35]), ("serde = { $$$ }", &[16]), "lost = $A"),
    ("tsx", ("setOpen($A)", &[21]), ("useState($$$)", &[19, 53]), "useState($A, $B)"),
    ("typescript", ("new Map<$K, $V>()", &[33]), ("createCounters($$$)", &[32]), "new Set<$K>()"),
    ("vue", ("Math.floor($A)", &[13]), ("toRefs($$$)", &[9]), "Math.ceil($A)"),
    ("yaml", ("name: $A", &[2, 29, 37, 44, 70]), ("name: $$$", &[2, 29, 37, 44, 70]), "lost: $A"),
    ("zig", ("@import($A)", &[3, 84]), ("@sizeOf($$$)", &[45]), "@alignOf($A)"),
];

#[test]
fn every_grammar_reads_patterns() {
    let samples = samples();
    let mut wrong = Vec::new();
    for (language, one, list, nowhere) in ROWS {
        let [_, _, text, _] = samples.iter().find(|sample| sample[0] == language).expect("a sample");
        for (pattern, expected) in [one, list, (nowhere, &[][..])] {
            let found = lines(language, text, pattern);
            if found.as_deref() != Some(expected) {
                wrong.push(format!("{language}: {pattern}: {found:?}, not {expected:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let is_missing = |name: &&str| !ROWS.iter().any(|row| row.0 == *name);
    let readable = LANGUAGES.iter().filter(|language| languages_in(language).next().is_some());
    assert_eq!(readable.map(|language| language.name).filter(is_missing).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_metavariable_is_the_same_code_everywhere() {
    for (pattern, text, expected) in [
        ("$A == $A", "fn f() { a.b() == a.b(); a == b; }", Some(vec![1])),
        ("$_ == $_", "fn f() { a == b; }", Some(vec![1])),
        ("f($$$A, g($$$A))", "fn f() { f(1, 2, g(1, 2)) }\nfn g() { f(1, g(2)) }", Some(vec![1])),
        ("a $$OP b", "fn f() { a + b }", None),
        ("f($A /* any */)", "fn f() {\n f(\n // note\n 1) }", Some(vec![2])),
        ("f($A)", "fn f() {\n f(\n // note\n 1) }", Some(vec![2])),
        ("f(\"one\")", "fn f() { f(\"two\"); }\nfn g() { f(\"one\"); }", Some(vec![2])),
        ("let $A = $B", "fn f() {\n let a = 1;\n}", Some(vec![2])),
        ("let $A = $B;", "fn f() {\n let a = 1;\n}", Some(vec![2])),
        ("Foo", "struct Foo;\nfn f() -> Foo { Foo }", Some(vec![1, 2, 2])),
        ("Vec<$A>", "fn f(a: Vec<u8>) -> Vec<Vec<u8>> { a }", Some(vec![1, 1, 1])),
        ("foo(", "fn f() { foo(1) }", None),
        ("f(1) g", "fn f() { f(1) }", None),
        ("\"say $A\"", "fn f() { \"say $A\" }", None),
    ] {
        assert_eq!(lines("rust", text, pattern), expected, "{pattern}");
    }
}

#[test]
fn a_body_may_be_left_out() {
    for (language, text, patterns) in [
        (
            "rust",
            "fn f(a: u8) -> u8 {\n if a > 1 { 2 } else { 3 }\n}\ntrait T { fn t(); }\nimpl T for S {}\n",
            &[
                ("fn $F($$$)", &[1, 4][..]),
                ("fn $F($$$) -> $R", &[1]),
                ("if $A > 1", &[2]),
                ("impl $T for $S", &[5]),
                ("g($A)", &[]),
            ][..],
        ),
        (
            "python",
            "class C(B):\n def f(self, a):\n  if a:\n   return 1\n",
            &[
                ("def $F($$$)", &[2]),
                ("def $F($$$):", &[2]),
                ("class $C($$$)", &[1]),
                ("if $A", &[3]),
                ("if $A:", &[3]),
                ("def f()", &[]),
            ],
        ),
        (
            "javascript",
            "function f(a) {\n if (a) { g(a) }\n}\nclass C extends B { g(b) { return b } }\n",
            &[("function $F($$$)", &[1]), ("if ($A)", &[2]), ("class $C extends $B", &[4]), ("g($A)", &[2])],
        ),
        (
            "ruby",
            "def f(a)\n while a\n  g(a)\n end\nend\nclass C < B\nend\n",
            &[("def $F($$$)", &[1]), ("while $A", &[2]), ("class $C < $B", &[6])],
        ),
        (
            "java",
            "class C {\n public void f(int a) {\n  if (a > 1) { g(); }\n }\n}\n",
            &[("class $C", &[1]), ("public void $F($$$)", &[2]), ("if ($A)", &[3])],
        ),
        ("go", "package p\nfunc f(a int) int { return a }\ntype S struct { a int }\n", &[("func $F($$$)", &[2])]),
        ("c", "int f(int a) {\n while (a) { g(a); }\n}\n", &[("int $F($$$)", &[1]), ("while ($A)", &[2])]),
        (
            "typescript",
            "interface I { a: number }\nfunction f(a: number): void {}\n",
            &[("interface $I", &[1]), ("function $F($$$)", &[2])],
        ),
        ("lua", "function f(a)\n if a then g() end\nend\n", &[("function $F($$$)", &[1])]),
        ("kotlin", "class C {\n fun f(a: Int) { g() }\n}\n", &[("fun $F($$$)", &[2]), ("class $C", &[1])]),
        ("php", "<?php\nfunction f($a) { if ($a) { g(); } }\n", &[("function $F($$$)", &[2]), ("if ($A)", &[2])]),
    ] {
        for (pattern, expected) in patterns {
            assert_eq!(lines(language, text, pattern).as_deref(), Some(*expected), "{language}: {pattern}");
        }
    }
}

#[test]
fn a_list_stands_for_members_cases_and_items() {
    let mut wrong = Vec::new();
    for (languages, text, patterns) in [
        (
            &["javascript", "typescript", "java", "cpp", "csharp", "c", "dart", "php"][..],
            "void f(int a) {\n switch (a) {\n case 1: g(); break;\n default: h();\n }\n}\n",
            &[("switch ($A) { $$$ }", 2)][..],
        ),
        (
            &["rust"],
            "trait T { fn t(&self); }\nimpl T for S { fn t(&self) {} }\nimpl S { fn s() {} }\nmod m { fn x() {} }\n\
             extern \"C\" { fn e(); }\nfn f(a: u8) {\n match a { 0 => {}, _ => {} }\n}\n",
            &[
                ("trait $A { $$$ }", 1),
                ("impl $A for $B { $$$ }", 2),
                ("impl $A { $$$ }", 3),
                ("mod $A { $$$ }", 4),
                ("extern \"C\" { $$$ }", 5),
                ("match $A { $$$ }", 7),
            ],
        ),
        (
            &["go"],
            "package p\nfunc f(a int) {\n switch a {\n case 1: g()\n }\n select {\n case <-c: g()\n }\n}\ntype S struct { A int }\n",
            &[("switch $A { $$$ }", 3), ("select { $$$ }", 6), ("type $A struct { $$$ }", 10)],
        ),
        (
            &["swift"],
            "struct S { let a: Int }\nprotocol P { func f() }\nextension S { func g() {} }\nenum E { case a }\n",
            &[
                ("struct $A { $$$ }", 1),
                ("protocol $A { $$$ }", 2),
                ("extension $A { $$$ }", 3),
                ("enum $A { $$$ }", 4),
            ],
        ),
        (
            &["kotlin"],
            "class A : B() { val a = 1 }\nobject O { fun f() {} }\nfun g(a: Int) {\n when (a) { 1 -> h()\n else -> i() }\n}\n",
            &[("class $A : $B() { $$$ }", 1), ("object $A { $$$ }", 2), ("when ($A) { $$$ }", 4)],
        ),
        (
            &["php"],
            "<?php\nclass A { public $b; }\ninterface I { function f(); }\ntrait T { function g() {} }\n",
            &[("class $A { $$$ }", 2), ("interface $A { $$$ }", 3), ("trait $A { $$$ }", 4)],
        ),
        (&["scala"], "object O {\n def f(a: Int) = a match {\n case 1 => 2\n }\n}\n", &[("$A match { $$$ }", 2)]),
        (
            &["cpp"],
            "namespace n { int a; }\nclass A : public B { int c; };\nenum class E { X, Y };\nunion U { int a; };\n",
            &[
                ("namespace $A { $$$ }", 1),
                ("class $A : public $B { $$$ };", 2),
                ("enum class $A { $$$ };", 3),
                ("union $A { $$$ };", 4),
            ],
        ),
        (&["c"], "#define A 1\nstruct s { int a; };\nint f(void) { return 1; }\n", &[("struct $A { $$$ };", 2)]),
    ] {
        for (language, (pattern, expected)) in
            languages.iter().flat_map(|language| patterns.iter().map(move |pattern| (language, pattern)))
        {
            let text =
                if *language == "php" && !text.starts_with('<') { format!("<?php {text}") } else { text.to_string() };
            let found = lines(language, &text, pattern);
            if found.as_deref() != Some(&[*expected]) {
                wrong.push(format!("{language}: {pattern}: {found:?}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn keywords_have_no_case_where_their_language_has_none() {
    for (language, text, pattern, expected) in [
        (
            "sql",
            "SELECT a FROM t WHERE b = 1;\nselect c from t where d = 2;\n",
            "Select $A from t WHERE $$$",
            vec![1, 2],
        ),
        ("sql", "SELECT a FROM t;\nselect c from T;\n", "SELECT $A FROM t", vec![1]),
        (
            "powershell",
            "foreach ($a in $b) { c }\nForEach ($d in $e) { f }\n",
            "FOREACH ($X in $Y) { $$$ }",
            vec![1, 2],
        ),
        ("rust", "fn f() { Self::a(); }\n", "self::a()", vec![]),
    ] {
        assert_eq!(lines(language, text, pattern), Some(expected), "{language}: {pattern}");
    }
}

#[test]
fn cells_of_a_notebook_are_code_of_their_language() {
    let text = r#"{
 "cells": [
  {"cell_type": "code", "source": ["%matplotlib inline\n", "def f(x):\n", "    return zebra(x, \"a\")\n", "zebra(1,\n", "  2)"]},
  {"cell_type": "markdown", "source": ["zebra(3, 4)"]},
  {"cell_type": "code", "outputs": [{"text": ["zebra(5, 6)"]}], "source": "%%bash\nzebra(7, 8)\nrm zebra"}
 ],
 "metadata": {"kernelspec": {"language": "python"}},
 "nbformat": 4
}
"#;
    assert_eq!(lines("jupyter", text, "zebra($A, $B)"), Some(vec![3, 3]));
    assert_eq!(lines("jupyter", text, "zebra($A, \"a\")"), Some(vec![3]));
    assert_eq!(lines("jupyter", text, "rm $A"), Some(vec![5]));
    assert_eq!(lines("jupyter", text, "zebra("), None);
    assert_eq!(lines("jupyter", "{}", "zebra($A)"), None);
    let found = find_in_process(text, by_name("jupyter").expect("a row"), "zebra($A, $B)").expect("a text that parses");
    let written = |(start, end): (u32, u32)| &text[start as usize..end as usize];
    let written: Vec<&str> = found.places.iter().copied().map(written).collect();
    assert_eq!(written, [r#"zebra(x, \"a\")"#, r#"zebra(1,\n", "  2)"#]);
    assert!(find_in_process("", by_name("jupyter").expect("a row"), "zebra($A)").expect("a reading").may_match("any"));
}

#[test]
fn text_that_no_node_holds_counts() {
    for (language, text, pattern, expected) in [
        ("go", "package a\nvar b = f(\"one\")\nvar c = f(\"two\")\n", "f(\"two\")", vec![3]),
        ("zig", "const a = @sizeOf(u8);\nconst b = @import(\"a\");\n", "@import($A)", vec![2]),
        ("java", "class A {\n void f(int a, int b) { g(); }\n}\n", "void $F($$$) { $$$ }", vec![2]),
        ("java", "class A {\n List<String> a;\n List<A> b;\n}\n", "List<$A>", vec![2, 3]),
        ("go", "package a\nvar a []int\nvar b map[string]int\n", "map[$K]$V", vec![3]),
        ("kotlin", "val a: List<Int> = b\nval c: Int = d\n", "List<$A>", vec![1]),
        ("typescript", "let a: Map<string, number> = b;\n", "Map<$A, $B>", vec![1]),
        ("c", "int f(int a) {\n return 1;\n}\nint g(void);\n", "int $F($$$) { $$$ }", vec![1]),
    ] {
        assert_eq!(lines(language, text, pattern), Some(expected), "{language}: {pattern}");
    }
    // Markup takes anything for text.
    assert_eq!(lines("html", "<p>foo(1)</p>", "foo(1)"), Some(Vec::new()));
    assert_eq!(lines("markdown", "foo(1)\n", "foo(1)"), None);
}

#[test]
fn deep_patterns_are_no_code() {
    let nested = |times: usize| "g(".repeat(times) + "$A" + &")".repeat(times);
    assert_eq!(lines("rust", "fn f() { g(g(g(1))) }", &nested(3)), Some(vec![1]));
    assert_eq!(lines("rust", "fn f() {}", &nested(300)), None);
}
