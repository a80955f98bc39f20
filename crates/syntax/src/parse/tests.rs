//! Tables for the small functions, random and mutated texts.

use std::collections::BTreeSet;

use colgrep_core::{Span, Unit, UnitKind, UnitRole};
use proptest::prelude::*;

use super::text::{clean_comment, clean_heading, clean_name, clean_title, split_list};
use super::{BLOCK_LINES, BODY_BYTES_MAX, LARGE_FUNCTION_LINES, PANICKED, Parsed, UNITS_MAX, contained, parse};
use crate::language::{LANGUAGES, by_name};

#[path = "../../tests/languages/mod.rs"]
mod samples;
use samples::samples;

fn parsed(language: &str, text: &str) -> Parsed {
    let parsed = parse(text, by_name(language).expect("a language"));
    assert_covered(language, text, &parsed);
    parsed
}

fn unit(parsed: &Parsed, name: &str) -> Unit {
    parsed.units.iter().find(|u| u.qualified_name() == name).unwrap_or_else(|| panic!("no {name} in\n{parsed}")).clone()
}

fn assert_covered(language: &str, text: &str, parsed: &Parsed) {
    let mut covered = vec![false; text.split('\n').count() + 2];
    for unit in &parsed.units {
        let Span { first, line, end } = unit.span;
        assert!(1 <= first && first <= line && line <= end, "{language}: {:?} in\n{text}", unit.span);
        covered[first as usize..=end as usize].fill(true);
        assert!(unit.body.len() <= BODY_BYTES_MAX);
    }
    for (i, line) in text.split('\n').enumerate() {
        assert!(covered[i + 1] || line.trim().is_empty(), "{language}: line {} is in no unit:\n{text}", i + 1);
    }
}

#[test]
fn a_panic_costs_one_file_its_definitions() {
    let (text, rust) = ("fn one() {}\n\nfn two() {}\n", by_name("rust").expect("a language"));
    let parsed = contained(text, rust, || parse(&text[std::hint::black_box(40)..], rust));
    assert_covered("rust", text, &parsed);
    assert_eq!(parsed.note.as_deref(), Some(PANICKED));
    assert!(parsed.units.iter().all(|unit| unit.kind == UnitKind::RawCode), "{parsed}");
    assert_eq!(unit(&contained(text, rust, || parse(text, rust)), "two").span.line, 3);
}

#[test]
fn a_long_function_holds_what_is_made_inside_it() {
    let body = |indent: &str| format!("{indent}step();\n").repeat(LARGE_FUNCTION_LINES as usize / 4);
    let inner = "  const patch = (a, b) => {\n    if (a) {\n      walk(a, b);\n    }\n  };\n  const short = () => {\n    tick();\n  };\n";
    let factory = |parts: usize| format!("function make() {{\n{}{inner}}}\n", body("  ").repeat(parts));
    let long = parsed("javascript", &factory(4));
    let (outer, patch) = (unit(&long, "make"), unit(&long, "make.patch"));
    assert_eq!((patch.kind, patch.calls.join(" ")), (UnitKind::Function, "walk".to_string()));
    assert!(patch.body.contains("walk(a, b)") && !outer.body.contains("walk(a, b)"));
    assert!(outer.body.contains("const patch") && outer.body.contains("tick()"), "{}", outer.body);
    assert_eq!(outer.calls.join(" "), "step tick");
    let named = format!("const Card = memo(function Card() {{\n{}{inner}}});\n", body("  ").repeat(4));
    let named = parsed("javascript", &named);
    assert_eq!(
        named.units.iter().map(Unit::qualified_name).collect::<Vec<_>>().join(" "),
        "Card Card.patch",
        "{named}"
    );
    let short = parsed("javascript", &factory(1));
    assert!(short.units.len() == 1 && unit(&short, "make").body.contains("walk(a, b)"), "{short}");
}

#[test]
fn calls_in_macros_cascades_and_pipes_are_calls() {
    for (language, text, name, calls) in [
        (
            "rust",
            "#[cfg(all(unix, any(a, b)))]\nfn f(t: &str) {\n    println!(\"{}\", shorten(t), x, (y));\n    assert_eq!(wrap(vec![trim(t)]), 5);\n}\n",
            "f",
            "println shorten assert_eq wrap trim",
        ),
        ("dart", "void f() {\n  var w = new Widget(3);\n  a..zeta(3)..x = 2;\n}\n", "f", "Widget zeta"),
        (
            "solidity",
            "contract A {\n  function f() public {\n    W w = new W(3);\n    V v = new V{value: 1}(2);\n  }\n}\n",
            "A.f",
            "W V",
        ),
        ("julia", "function f(x)\n    y = epsilon.(x)\n    x |> g\nend\n", "f", "epsilon g"),
    ] {
        assert_eq!(unit(&parsed(language, text), name).calls.join(" "), calls, "{language}");
    }
}

#[test]
fn modules_in_files_of_their_own_and_dynamic_imports_are_imports() {
    assert_eq!(parsed("rust", "mod a;\npub mod b;\nmod c { fn f() {} }\n").imports, ["mod a;", "pub mod b;"]);
    let text = "export async function f() {\n  return (await import(\"./beta\")).x ?? import(name);\n}\n";
    for language in ["javascript", "typescript", "tsx"] {
        assert_eq!(parsed(language, text).imports, ["import(\"./beta\")"], "{language}");
    }
}

#[test]
fn names_lose_their_wrapping_only() {
    for (written, name) in [
        ("Map<K, V>", "Map"),
        ("Outer<A>.Inner<B>", "Outer<A>.Inner"),
        ("Box<dyn Fn(A) -> B>", "Box"),
        ("Vec<T>::push", "Vec<T>::push"),
        ("operator<", "operator<"),
        ("operator<=>", "operator<=>"),
        ("operator>>", "operator>>"),
        ("operator->", "operator->"),
        ("<|>", "<|>"),
        ("<>", "<>"),
        (":export", "export"),
        (":\"with space\"", "with space"),
        (":|", ":|"),
        ("::Top", "::Top"),
        ("\"renders Map<K>\"", "renders Map<K>"),
        ("`should work`", "should work"),
        ("foo'", "foo'"),
        ("\"a\".\"b\"", "\"a\".\"b\""),
        ("\"say \\\"x\\\"\"", "say \\\"x\\\""),
        ("a\n  b", "a b"),
        ("", ""),
        ("\"", "\""),
    ] {
        assert_eq!(clean_name(written), name, "{written}");
    }
    assert_eq!(clean_title("Array<T>"), "Array<T>");
}

#[test]
fn headings_keep_what_is_read() {
    for (written, name) in [
        ("Install ##", "Install"),
        ("C#", "C#"),
        ("##", ""),
        ("[Guide](https://a.example/b) for `x`", "Guide for `x`"),
        ("[Guide][1] ![logo](a.png)", "Guide"),
        ("[![build](a.svg)](b) Title", "Title"),
        ("<a name=\"top\"></a>Top<br/>", "Top"),
        ("Map<K, V> and <https://a.example>", "Map<K, V> and <https://a.example>"),
        ("`Vec<u8>`", "Vec<u8>"),
        ("[1.2.0] - 2024", "[1.2.0] - 2024"),
        ("Oh! [", "Oh! ["),
        ("Setup {#setup .wide}", "Setup"),
        ("Middleware { #middleware }", "Middleware"),
        ("The {name} of it", "The {name} of it"),
    ] {
        assert_eq!(clean_heading(written), name, "{written}");
    }
}

#[test]
fn comments_lose_their_markers() {
    for (written, text) in [
        ("/** One.\n * Two.\n */", "One.\nTwo."),
        ("-- | Haddock.", "Haddock."),
        ("{- | Haddock. -}", "Haddock."),
        ("--- Lua.", "Lua."),
        ("#' @param x It's a thing.", "@param x It's a thing."),
        ("# 'quoted' word", "'quoted' word"),
        ("@doc \"One line.\"", "One line."),
        ("@doc ~S\"\"\"\nLong.\n\"\"\"", "Long."),
        ("@moduledoc \"\"\"\nLong.\n\"\"\"", "Long."),
        ("desc 'Build it'", "Build it"),
        ("desc(\"Build it\")", "Build it"),
        ("# desc of it", "desc of it"),
        ("\"A string.\"", "A string."),
        ("\"\"\"A string.\"\"\"", "A string."),
        ("/// Of type Vec<u8>.", "Of type Vec<u8>."),
        ("\"a\" or \"b\"", "\"a\" or \"b\""),
    ] {
        assert_eq!(clean_comment(written, false), text, "{written}");
    }
    assert_eq!(clean_comment("/// <summary>Gets <see cref=\"A\"/> if a < b.</summary>", true), "Gets A if a < b.");
    assert_eq!(clean_comment("// List<int>", true), "List<int>");
}

#[test]
fn lists_are_cut_at_their_own_commas() {
    for (written, items) in [
        ("(a, b: T<U, V> = f(1, 2))", vec!["a", "b: T<U, V>"]),
        ("((a, b), c)", vec!["(a, b)", "c"]),
        ("(f: (A) -> B, g: A => B, h)", vec!["f: (A) -> B", "g: A => B", "h"]),
        ("(x: { a = 1 })", vec!["x: { a = 1 }"]),
        ("(a)(b)", vec!["(a)(b)"]),
        ("f: (Int) -> (Int)", vec!["f: (Int) -> (Int)"]),
        ("(sep = \", \", b)", vec!["sep", "b"]),
        ("(a == b, c)", vec!["a == b", "c"]),
        ("()", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(split_list(written), items, "{written}");
    }
}

#[test]
fn what_stands_above_belongs_to_the_nearest_definition() {
    let found = parsed(
        "java",
        "class C {\n  @Inject A a;\n  @Inject B b;\n\n  /** Doc. */\n\n  int c() { return 1; }\n\n  // Loose.\n\n  int d;\n}\n",
    );
    assert_eq!(unit(&found, "C.b").span, Span { first: 3, line: 3, end: 3 });
    assert_eq!(unit(&found, "C.c").docstring, "Doc.");
    assert_eq!(unit(&found, "C.d").docstring, "");
    let found = parsed("zig", "/// Doc.\npub const a = 1;\n");
    assert_eq!(unit(&found, "a").docstring, "Doc.");
}

#[test]
fn comments_below_belong_to_what_follows() {
    let found = parsed("yaml", "a:\n  b: 1\n  # inner\n# about c\nc:\n  d: 2\n");
    assert_eq!(unit(&found, "a").span.end, 3);
    assert_eq!((unit(&found, "c").span.first, unit(&found, "c").docstring), (4, "about c".to_string()));
}

#[test]
fn signatures_without_a_body_are_whole() {
    let found = parsed("c", "int add(\n    int a,\n    int b);\n");
    assert_eq!(unit(&found, "add").signature, "int add( int a, int b)");
}

#[test]
fn bats_tests_hold_their_block() {
    let found = parsed("bash", "@test \"adds é\" {\n  run add\n}\n\n@test 'more' {  \n  run more\n}\n");
    let first = unit(&found, "adds é");
    assert_eq!((first.role, first.span.end, first.signature.as_str()), (UnitRole::Test, 3, "@test \"adds é\""));
    assert_eq!(first.body, "@test \"adds é\" {\n  run add\n}\n");
    assert_eq!(unit(&found, "more").span.line, 5);
}

#[test]
fn calls_are_found_in_each_form() {
    // Each in the body of a definition `caller`.
    let frames = [
        ("bash", "caller() {\n  CALL\n}\n"),
        ("c", "void caller(void) { CALL; }\n"),
        ("cpp", "void caller() { CALL; }\n"),
        ("csharp", "class A {\n  void caller() { CALL; }\n}\n"),
        ("elixir", "def caller(x) do\n  CALL\nend\n"),
        ("go", "package p\n\nfunc caller() { CALL }\n"),
        ("haskell", "caller a b c = CALL\n"),
        ("java", "class A {\n  void caller() { CALL; }\n}\n"),
        ("javascript", "function caller() { CALL }\n"),
        ("kotlin", "fun caller(x: Int) { CALL }\n"),
        ("lua", "function caller() CALL end\n"),
        ("make", "caller:\n\tCALL\n"),
        ("ocaml", "let caller x = CALL\n"),
        ("perl", "sub caller { CALL; }\n"),
        ("php", "<?php\nfunction caller() { CALL; }\n"),
        ("powershell", "function caller {\n  CALL\n}\n"),
        ("python", "def caller(x):\n    CALL\n"),
        ("r", "caller <- function(x) { CALL }\n"),
        ("ruby", "def caller(x, y: 1)\n  CALL\nend\n"),
        ("rust", "fn caller() { CALL }\n"),
        ("scala", "object A {\n  def caller = { CALL }\n}\n"),
        ("swift", "func caller() { CALL }\n"),
        ("tsx", "const caller = () => { CALL };\n"),
        ("typescript", "function caller() { CALL }\n"),
    ];
    for (language, call, expected) in [
        ("bash", "one | two && X=1 three; y=$(four); if five; then six; fi", "one two three four five six"),
        ("bash", "trap one EXIT; run two 3", "trap one run two"),
        ("c", "(one)(1); s->two(1)", "one two"),
        ("cpp", "(a::one)(1); Two{1}; b::Three<int>{}", "one Two Three"),
        (
            "cpp",
            "One a(1); Two b{1}; x::Three<int> c(d); Four<int> e = {1}; Five f(g); int h(1)",
            "One Two Three Four Five",
        ),
        ("csharp", "(one)(1); new Two { A = 1 }", "one Two"),
        ("elixir", "x |> one |> two() |> A.three |> b.four", "one two three four"),
        ("elixir", "x |> A.one |> B.C.two", "one two"),
        ("elixir", "map(x, &one/1); map(x, &A.two/2); map(x, &three(&1)); A.four", "map one two three four"),
        ("elixir", "x.field", ""),
        ("go", "Map[int](1)", "Map"),
        ("go", "Map[int](1, 2)", "Map"),
        ("go", "Pair[int, string](1)", "Pair"),
        ("go", "Pair[int, string](1, 2)", "Pair"),
        ("go", "p.Map[int](1)", "Map"),
        ("go", "p.Map[[]int](1, 2)", "Map"),
        ("go", "p.q.Map[int, string](1)", "Map"),
        ("go", "Map[*int](nil)", "Map"),
        ("go", "Map[[]byte](nil)", "Map"),
        ("go", "Map[p.Opt[int]](xs...)", "Map"),
        ("go", "New[int]()", "New"),
        ("go", "_ = &One{}; _ = p.Two{A: 1}; _ = Three[int]{}; _ = []int{1}; _ = map[string]int{}", "One Two Three"),
        ("go", "util.New[*T]()", "New"),
        ("go", "[]int(xs)", ""),
        ("go", "(one)(1); go two(); defer p.three()", "one two three"),
        ("haskell", "a `one` b `M.two` c", "one two"),
        ("haskell", "map (`one` b) (map (a `two`) c)", "map one two"),
        ("haskell", "one . two $ three a & four", "one three two four"),
        ("haskell", "do { x <- one; two; a; x; M.three }", "three one two"),
        ("java", "map(A::one); map(this::two); map(Three::new); map(b.C::four)", "map one two Three four"),
        ("javascript", "one.call(x); x.two.apply(x); three.bind(x)", "one call two apply bind"),
        ("javascript", "(one)(1); (0, two)(1); (0, a.three)(1); four`x`; new Five", "one two three four Five"),
        ("kotlin", "a one b; map(::two); map(A::three); four { five(it) }", "one map two three four five"),
        ("lua", "(one)(1); two\"x\"; three{1}; a.four(); a:five()", "one two three four five"),
        ("make", "$(call one,x)", "one"),
        ("ocaml", "one x |> two |> M.three; four @@ five x", "one two three four five"),
        ("perl", "one $x, 1; two; &three($x); my $r = \\&four; return five", "one two three four five"),
        ("php", "one(...); new Two; A::three()", "one Two three"),
        ("powershell", "one x | two\n  & three 1\n  & .\\four.ps1", "one two three"),
        (
            "python",
            "(one)(1)\n    @two\n    @a.three\n    @four(1)\n    @property\n    def f(): pass",
            "one two three four",
        ),
        ("r", "x %>% one %>% two(1) |> three()", "one two three"),
        ("ruby", "one; two :a, b: 1; x.three; four! if five?", "two three one four! five?"),
        ("ruby", "z = one; z; x; y; a.each { |b, (c, *d)| two b, c, d }; e ||= 1; e", "each two one a"),
        ("ruby", "One.new(1).new; A::Two.new; x.new; One.make", "new One Two make"),
        ("ruby", "map(&:one); send(:two); before_action :three, :four", "map send before_action one two three four"),
        ("rust", "One { a }; x::Two { ..b }; Three::<u8> { a }; Self { a }", "One Two Three"),
        ("rust", "One::new(1); x::Two::new(); Three::<u8>::new(); Self::new(); Four::make()", "One Two Three new make"),
        ("rust", "(one)(1); map(Self::two).map(A::three).map(B::Four)", "one map two three"),
        ("scala", "a one b; c.two; c.three(1); map(four _); e five", "one two three map four five"),
        ("swift", "one { two() }; a.three { self.four() }; five(#selector(A.six))", "one two three four five six"),
        ("tsx", "return <One a={two(1)}><B.Three/><div/></One>;", "One two Three"),
        ("typescript", "this.#one.call(x)", "#one call"),
    ] {
        let frame = frames.iter().find(|(name, _)| *name == language).expect("a frame").1;
        let found = parsed(language, &frame.replace("CALL", call));
        let own = found.units.iter().find(|unit| unit.name == "caller").expect("the caller");
        let sorted = |names: &str| names.split_whitespace().map(String::from).collect::<BTreeSet<_>>();
        assert_eq!(sorted(&own.calls.join(" ")), sorted(expected), "{language}: {call}");
    }
    // Decorators are called by what they stand above.
    for (language, text, name, calls) in [
        ("python", "@one\n@a.two(1)\nclass A:\n    pass\n", "A", "one two"),
        ("typescript", "class A {\n  @one\n  @a.two(1)\n  f() { three(); }\n}\n", "A.f", "one two three"),
        ("typescript", "@one\nclass A {}\n", "A", "one"),
    ] {
        assert_eq!(unit(&parsed(language, text), name).calls.join(" "), calls, "{text}");
    }
    // A definition written between its parameters is not a call of itself.
    let clauses = parsed("haskell", "a `op` 0 = a\na `op` b = a `minus` b\n");
    assert_eq!(unit(&clauses, "op").calls.join(" "), "minus");
}

#[test]
fn swift_is_read_without_its_conditions() {
    let text = "class A {\n    var list: [Int] = [\n        1,\n        #if os(Linux) // é\n        #endif\n        #if os(Linux)\n        2,\n        #endif\n    ]\n    func b() -> Int { 1 }\n}\n";
    let found = parsed("swift", &text.replace(" // é\n        #endif", ""));
    assert_eq!(found.note, None);
    assert_eq!(unit(&found, "A.b").return_type, "Int");
    parsed("swift", text);
}

/// The named units of a text, each with its lines and role.
fn named(language: &str, text: &str) -> Vec<String> {
    let units = parsed(language, text).units.into_iter().filter(|unit| !unit.name.is_empty());
    units
        .map(|unit| format!("{}-{} {} {:?}", unit.span.line, unit.span.end, unit.qualified_name(), unit.role))
        .collect()
}

#[test]
fn macros_as_default_values_hide_no_type_of_swift() {
    let text = "func a(l: Loc = #_sourceLocation) throws {\n  foo(l)\n}\n@Suite struct B {\n  @Test func one() {}\n}\n";
    assert_eq!(named("swift", text), ["1-3 a Definition", "4-6 B Definition", "5-5 B.one Definition"]);
    assert_eq!(unit(&parsed("swift", text), "a").signature, "func a(l: Loc = #_sourceLocation) throws");
}

#[test]
fn constructors_on_lines_of_their_own_belong_to_their_class_in_kotlin() {
    let text = "class A\n  @JvmOverloads\n  constructor(\n    a: Int = 3,\n  ) {\n    fun two() = 2\n  }\n\nclass B\n  internal constructor() : C() {\n  override fun four() = 4\n}\n";
    let expected = ["1-7 A Definition", "6-6 A.two Definition", "9-12 B Definition", "11-11 B.four Definition"];
    assert_eq!(named("kotlin", text), expected);
}

#[test]
fn conditions_part_no_member_of_csharp() {
    let text = "public interface ILogger\n{\n    /// <summary>Creates one.</summary>\n#if X\n    [Custom]\n#endif\n    ILogger With(int a)\n#if X\n        => Make(a)\n#endif\n        ;\n    void Write(string s)\n#if X\n    {\n        Go(s);\n    }\n#else\n        ;\n#endif\n}\nclass Two : B\n#if X\n  , IOther\n#endif\n{\n    [Own]\n#pragma warning disable 1\n    void Go() {}\n}\n";
    let found = parsed("csharp", text);
    assert_eq!(found.note, None);
    let with = unit(&found, "ILogger.With");
    assert_eq!((with.docstring.as_str(), with.signature.as_str()), ("Creates one.", "ILogger With(int a)"));
    assert_eq!(with.span, Span { first: 3, line: 5, end: 11 });
    assert_eq!(unit(&found, "ILogger.Write").signature, "void Write(string s)");
    assert_eq!(unit(&found, "Two").signature, "class Two : B , IOther");
    let go = unit(&found, "Two.Go");
    assert_eq!((go.signature.as_str(), go.span), ("void Go()", Span { first: 26, line: 26, end: 28 }));
}

#[test]
fn conditions_that_part_brackets_end_no_function_late_in_c() {
    let text = "void a(int x) {\n  {\n    if (x) {\n#ifdef D\n      if (b) {\n        one(x);\n      } else {\n#endif\n        if (x) {\n        } else {\n        }\n      }\n#ifdef D\n    }\n#endif\n  }\n}\n\nvoid b(int x) {\n  a(x);\n}\n";
    assert_eq!(named("c", text), ["1-17 a Definition", "19-21 b Definition"]);
}

#[test]
fn attributes_make_tests_of_rust() {
    let text = "fn a() {}\n#[tokio::test]\n/// Doc.\nasync fn b() {}\n#[cfg(test)]\nmod checks {\n    struct S;\n    impl S {\n        fn c(&self) {}\n    }\n    fn d() {}\n}\n#[cfg(not(test))]\nfn e() {}\n";
    let roles: Vec<(String, UnitRole)> =
        parsed("rust", text).units.into_iter().filter(|u| u.kind.is_definition()).map(|u| (u.name, u.role)).collect();
    let role = |name: &str| roles.iter().rfind(|(known, _)| known == name).map(|(_, role)| *role);
    for (name, expected) in [
        ("a", UnitRole::Definition),
        ("b", UnitRole::Test),
        ("S", UnitRole::Extension),
        ("c", UnitRole::Test),
        ("d", UnitRole::Test),
        ("e", UnitRole::Definition),
    ] {
        assert_eq!(role(name), Some(expected), "{name}");
    }
}

#[test]
fn minified_files_are_not_copied_into_every_unit() {
    let text: String = (0..5_000).map(|i| format!("function f{i}(a){{return g{i}(a)}}")).collect();
    let found = parsed("javascript", &text);
    assert_eq!(unit(&found, "f7").body, "function f7(a){return g7(a)}");
    assert!(found.units.iter().map(|u| u.body.len()).sum::<usize>() < 2 * text.len());
}

#[test]
fn long_sections_are_cut_into_blocks() {
    let text = format!("# Top\n{}## Under\ntext\n# Other\n{}", "line\n".repeat(300), "line\n".repeat(220));
    let found = parsed("markdown", &text);
    assert_eq!(unit(&found, "Other").span.end - unit(&found, "Other").span.line, BLOCK_LINES - 1);
    let blocks: Vec<&Unit> = found.units.iter().filter(|u| u.kind == UnitKind::Document).collect();
    assert_eq!(blocks.len(), 6 + 4);
    assert!(blocks.iter().all(|b| ["Top", "Other"].contains(&b.parent.as_str()) && b.body.lines().count() <= 50));
    assert_eq!(blocks.iter().map(|b| b.body.lines().count()).sum::<usize>(), 251 + 171);
}

#[test]
fn a_last_line_may_lack_its_end() {
    for text in ["L #abc", "<<EOT\n$x abc", "sub a { 1 } # b"] {
        parsed("perl", text);
    }
}

#[test]
fn far_characters_end_no_scanner() {
    for far in ['\u{100}', '\u{FFFD}', '\u{E01EF}', '\u{10FFFF}'] {
        for text in
            [format!("{{1{far}..{far}}}\n"), format!("echo {{{far}\n"), format!("1{far}. item\n\n# A{far}\n\ntext\n")]
        {
            for language in LANGUAGES {
                assert_covered(language.name, &text, &parse(&text, language));
            }
        }
    }
    let page = "# 見出し one\n\n1. 項目\n\n## 二\n\ntext\n";
    let names: Vec<String> =
        parse(page, crate::language::by_name("markdown").expect("a row")).units.into_iter().map(|u| u.name).collect();
    assert_eq!(names, ["見出し one", "二"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text_is_covered(text in "(?s)[ \t\n\"'`#@<>(){}\\[\\]:;,.=/*a-zA-Z0-9é\r-]{0,300}|\\PC{0,100}") {
        for language in LANGUAGES {
            assert_covered(language.name, &text, &parse(&text, language));
        }
    }

    #[test]
    fn mutated_samples_are_covered(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..60, any::<bool>()), 1..6)
    ) {
        for [language, _, mut text, _] in samples() {
            let language = by_name(&language).expect("a row");
            if language.grammar.is_none() {
                continue;
            }
            for (at, len, doubles) in &edits {
                let start = text.floor_char_boundary(at.index(text.len() + 1));
                let end = text.floor_char_boundary((start + len).min(text.len())).max(start);
                let piece = text[start..end].repeat(if *doubles { 2 } else { 0 });
                text.replace_range(start..end, &piece);
            }
            assert_covered(language.name, &text, &parse(&text, language));
        }
    }
}

#[test]
fn a_file_of_very_many_units_becomes_blocks() {
    let python: String = (0..=UNITS_MAX).map(|i| format!("def f{i}(): pass\n")).collect();
    let parsed = parse(&python, by_name("python").expect("a language"));
    assert!(parsed.units.len() <= UNITS_MAX, "{}", parsed.units.len());
    let note = parsed.note.as_deref().unwrap_or_default();
    assert!(note.starts_with("holds too many definitions"), "{note}");
}

#[test]
fn a_grammar_that_stops_inside_a_character_is_no_fault() {
    // What a decoder gives for an invalid UTF-8 byte, between and inside the tokens of every language's example.
    let texts = [
        "val planner: Planner by lazy `\u{fffd}`\n",
        "val planner: Planner by lazy `\u{fffd} {\nfun `a\u{fffd}b`() {}\n",
        "class \u{fffd}A\u{fffd} : B\u{fffd}`() { fun \u{fffd}() = `\u{fffd}\n",
        "\u{fffd}def f\u{fffd}(\u{fffd}'\u{fffd}\n",
    ];
    for language in LANGUAGES {
        for text in texts {
            for from in text.char_indices().map(|(at, _)| at) {
                parse(&text[from..], language);
            }
        }
    }
}
