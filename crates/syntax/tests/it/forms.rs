//! Forms of definitions beside those of the samples: the qualified names of the units of a text, in order.

use colgrep_syntax::language::by_name;
use colgrep_syntax::parse::parse;

fn names(language: &str, text: &str) -> Vec<String> {
    let units = parse(text, by_name(language).expect("a row")).units;
    units.iter().filter(|unit| !unit.name.is_empty()).map(|unit| unit.qualified_name()).collect()
}

fn assert_names(rows: &[(&str, &str, &[&str])]) {
    for (language, text, expected) in rows {
        assert_eq!(names(language, text), *expected, "{language}:\n{text}");
    }
}

#[test]
fn macros_hide_no_definition() {
    assert_names(&[
        (
            "cpp",
            "class A {\nA_INTERNAL:\n  // these are the parts that nobody should touch at all\n  void bump(int by) { if (by) { n += by; } }\nA_PUBLIC_API:\n  /* anything that follows is part of the interface */\n  bool empty() const { if (n) { return false; } return true; }\n};\n",
            &["A", "A.bump", "A.empty"],
        ),
        (
            "cpp",
            "class W : public Q {\npublic Q_SLOTS:\n  // called from the outside when the value changes\n  void set(int v);\nQ_SIGNALS:\n  // sent to everybody who is listening to this one\n  void changed(int v);\n};\nint after(int a);\n",
            &["W", "W.set", "W.changed", "after"],
        ),
        (
            "c",
            "BENCH_IMPL(parse_big, 100) {\n  int rounds = 3;\n}\nTest(suite, does_it, .init = setup) {\n  int z = 1;\n}\nEnsure(Cart, adds_items) { int q = 1; }\nPHP_METHOD(Closure, bindTo)\n{\n  int self = 0;\n}\n",
            &["parse_big", "does_it", "adds_items", "bindTo"],
        ),
        (
            "c",
            "static DEFINE_PER_CPU(struct stats, per_cpu_stats);\nDEFINE_SPINLOCK(table_lock);\nstatic LIST_HEAD(open_list);\nSYSCALL_DEFINE2(frob, int, fd, const char __user *, name)\n{\n  int err = 0;\n  return err;\n}\n",
            &["per_cpu_stats", "table_lock", "open_list", "frob"],
        ),
        (
            "c",
            "JNIEXPORT jint JNICALL Java_a_b(JNIEnv *env) { int one = 1; return one; }\nLRESULT CALLBACK WndProc(HWND h) { int two = 2; return two; }\nGLAPI void APIENTRY glDraw(int a);\n",
            &["Java_a_b", "WndProc", "glDraw"],
        ),
        (
            "c",
            "main(argc, argv) {\n  int a = 1;\n}\nstatic char *f(s)\n  char *s;\n{\n  int b;\n}\nint g(x, y) int x; int y; {\n  int c;\n}\n",
            &["main", "f", "g"],
        ),
        ("c", "EXPORT_SYMBOL(thing);\n{\n}\nint f(int a);\n{\n}\nint g(a);\n{\n}\nint last;\n", &["f", "g", "last"]),
        (
            "objc",
            "typedef NSString *Mode NS_TYPED_ENUM;\ntypedef NSInteger Level NS_SWIFT_NAME;\ntypedef NS_ERROR_ENUM(Domain, Failure) {\n  FailureBad = 1\n};\n@interface A : B\n- (void)start A_AVAILABLE(ios(11), macosx(10.13));\n@property (nonatomic) C *target A_UNTIL(10_9, 7_0);\n- (void)stop;\n@end\n",
            &["Mode", "Level", "Failure", "Failure.FailureBad", "A", "A.start", "A.target", "A.stop"],
        ),
        (
            "haskell",
            "module A where\n#ifdef WINDOWS\nf :: Int -> Int\nf x = x + 1\n#else\nf :: Int -> Int\nf x = x + 2\n#endif\nclass M m where\n  g :: m ()\n#if !MIN_VERSION_a(1,2,3)\n  h :: m Int\n#else\n  h :: m Integer\n#endif\nlast' :: Int\nlast' = 1\n",
            &["f", "M", "M.g", "M.h", "last'"],
        ),
    ]);
}

#[test]
fn functions_that_the_grammar_loses_leave_no_locals() {
    let text = "int before;\nint f(int a) {\n  MATCH(a) {\n    goto x;\n  ELSE_IF a }\n  else if (a) {\n    int low, high;\n    static const char *name = \"\";\n  }\n}}\nint after;\n";
    let names = names("c", text);
    assert!(names.contains(&"before".to_string()) && names.contains(&"after".to_string()), "{names:?}");
    assert!(!names.iter().any(|name| ["low", "high", "name"].contains(&name.as_str())), "{names:?}");
}

#[test]
fn rare_forms_of_definitions_are_named() {
    assert_names(&[
        (
            "cpp",
            "std::vector<int> a::b::C::values(int n) const { return {}; }\na::b::C::C(int n) : n_(n) { }\na::b::C::~C() { }\ntemplate <class T> void a::b::D<T>::run(T t) { t(); }\nconst char* a::b::C::name() const { return \"\"; }\na::b::C::operator bool() const { return true; }\n::a::b::E::E() {}\nA::~A() = default;\n",
            &["C.values", "C.C", "C.~C", "D.run", "C.name", "C.operator bool", "E.E", "A.~A"],
        ),
        (
            "sql",
            "CREATE EVENT TRIGGER on_ddl ON ddl_command_start EXECUTE FUNCTION f();\nCREATE TABLE [dbo].[Order Lines](\n  [Id] [int] NOT NULL\n)\nGO\nCREATE OR ALTER PROCEDURE [dbo].[usp_Get]\n  @Id INT\nAS\nBEGIN\n  SELECT 1\nEND\nGO\nCREATE SCHEMA IF NOT EXISTS reporting AUTHORIZATION owner_role;\n",
            &["on_ddl", "dbo.Order Lines", "dbo.usp_Get", "reporting"],
        ),
        (
            "make",
            "OBJS:=$(patsubst %.c,%.o,$(SRCS:.c=.o)) $(BAR:.x=)\nCC?=gcc\nLDFLAGS+=-lm\nVERSION!=git describe\nbuild-it: a\n\tcc\ndocker.build: ; docker build .\n",
            &["OBJS", "CC", "LDFLAGS", "VERSION", "build-it", "docker.build"],
        ),
        (
            "c",
            "typedef unsigned long (WINAPI *thread_proc)(void *arg);\ntypedef BOOL (CALLBACK* enum_proc)(HWND, LPARAM);\ntypedef int (*(*nested_fn)(int))(char);\ntypedef char buffer_t[64];\nstatic void (WINAPI *start)(int) = 0;\n",
            &["thread_proc", "enum_proc", "nested_fn", "buffer_t", "start"],
        ),
        (
            "python",
            "A = B, C = 1, 2\n(x, y), z = (1, 2), 3\nhead, *rest = items\nD = E = 3\n",
            &["A", "B", "C", "x", "y", "z", "head", "rest", "D", "E"],
        ),
        (
            "typescript",
            "export const { alpha, beta: gamma, delta = 3, ...others } = make();\nconst [one, , two, ...tail] = list();\nlet { nested: { deep } } = obj;\n",
            &["alpha", "gamma", "delta", "others", "one", "two", "tail", "deep"],
        ),
        (
            "perl",
            "has [qw(width height)] => (is => 'ro');\nhas 'plain';\nafter qw(open close) => sub { my $q = 1; };\nmethod hello($x) { return 1 }\nclass Point 1.0 {\n  field $x :param = 0;\n  method move($dx) { $x += $dx; }\n}\n",
            &["width", "height", "plain", "open", "close", "hello", "Point", "Point.x", "Point.move"],
        ),
        (
            "kotlin",
            "class A { companion object { const val K = 1 } }\nsealed interface R { class Bad(val m: String) : R }\nval (first, second) = pair\n",
            &["A", "A.K", "R", "R.Bad", "R.Bad.m", "first", "second"],
        ),
        (
            "powershell",
            "function script:Set-It($a) { }\nconfiguration Web { param($n) Node $n { } }\nSet-Alias -Value Get-It -Name gi\nNew-Alias ll Get-ChildItem\n",
            &["Set-It", "Web", "gi", "ll"],
        ),
        (
            "elixir",
            "defmodule A do\n  defimpl P, for: __MODULE__ do\n    def p(_), do: 1\n  end\nend\n",
            &["A", "A.P", "A.P.p"],
        ),
        (
            "zig",
            "pub const FileError = error{ NotFound, AccessDenied };\n",
            &["FileError", "FileError.NotFound", "FileError.AccessDenied"],
        ),
        (
            "python",
            "cdef extern from \"a.h\":\n    cdef cppclass vector[T]:\n        size_t size()\ncdef public int exported(int a,\n                         int b) except -1 with gil:\n    return a\ncpdef double area(self): return 1\n",
            &["vector", "exported", "area"],
        ),
        (
            "css",
            ".a{color:red}.b{color:blue}\n.btn:hover,.btn-link{x:y} #main{a:b}\n",
            &[".a", ".b", ".btn:hover,.btn-link", "#main"],
        ),
        (
            "lua",
            "type P = { x: number }\nexport type Q<T> = T\nlocal a: number, b: Foo<C, D> = 1, 2\nlocal function f(c: number): string return \"\" end\n",
            &["P", "Q", "a", "b", "f"],
        ),
        (
            "lua",
            "local s=\"Error: bad\"\nlocal function first() return 1 end\nlocal m='x: '..s\nfunction second(a) return a end\n",
            &["s", "first", "m", "second"],
        ),
    ]);
}

#[test]
fn objects_of_yaml_are_named() {
    assert_names(&[
        (
            "yaml",
            "kind: List\nitems:\n- kind: ConfigMap\n  metadata:\n    name: cm-one\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: \"sec.two\"}\n",
            &["items", "items.ConfigMap.cm-one", "items.Secret.sec.two"],
        ),
        (
            "yaml",
            "{{- if .Values.on }}\nkind: Service\nmetadata:\n  name: {{ .Values.name }}-svc\n{{- end }}\n",
            &["Service.{{ .Values.name }}-svc", "Service.{{ .Values.name }}-svc.metadata"],
        ),
        (
            "yaml",
            "kind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  {{- range $key, $value := .Values.env }}\n  {{ $key }}: {{ $value | quote }}\n  {{ $key }}_FILE: {{ $value | quote }}\n  {{ $value }}: {{ $key }}\n  {{- end }}\n",
            &["ConfigMap.settings", "ConfigMap.settings.metadata", "ConfigMap.settings.data"],
        ),
        (
            "yaml",
            "paths:\n  /x: {post: {operationId: postX}}\ncomponents:\n  schemas:\n    Order:\n      type: object\n    \"Line-Item\": {type: object}\njobs:\n  deploy: {runs-on: x}\nservices:\n  \"db\": {image: y}\n",
            &[
                "paths",
                "paths./x",
                "paths./x.postX",
                "components",
                "components.schemas",
                "components.schemas.Order",
                "components.schemas.Line-Item",
                "jobs",
                "jobs.deploy",
                "services",
                "services.db",
            ],
        ),
    ]);
}

#[test]
fn definitions_are_read_from_lines() {
    assert_names(&[
        (
            "fsharp",
            "let private secret = 1\nlet inline add x y = x + y\nexception Bad of string\nlet (+.) a b = a + b\nlet ``odd name`` () = 1\ntype P(n: string) =\n  let mutable age = 0\n  member _.Greet(o: string) = age\n",
            &["secret", "add", "Bad", "(+.)", "``odd name``", "P", "P.age", "P.Greet"],
        ),
        (
            "groovy",
            "class Foo {\n  static final int MAX = 3\n  Foo(String n) { name = n }\n  class Bar {\n    Foo(x) { y }\n    Bar() { }\n  }\n  Given(x) { y }\n}\ntrait Flies { void fly() {} }\n",
            &["Foo", "Foo.MAX", "Foo.Foo", "Foo.Bar", "Foo.Bar.Bar", "Flies"],
        ),
        (
            "clojure",
            "(s/defn typed :- Int [a :- Int] a)\n(s/def ::name string?)\n(defmulti draw :kind)\n",
            &["typed", "::name", "draw"],
        ),
        (
            "style",
            "%shared { a: b }\n.btn, .link { x: y; }\n#main { a: b }\n.p-#{$n} {\n  width: calc(#{$x} + 1);\n}\n",
            &["%shared", ".btn, .link", "#main", ".p-#{$n}"],
        ),
        (
            "style",
            "a[href=\"#\"] {\n  b: c;\n}\na[href^='#x;{'], ##{$id} { b: c }\n.x { @include foo; } // bar\n.y { > .z { b: c } }\n.empty {}\n",
            &["a[href=\"#\"]", "a[href^='#x;{'], ##{$id}", ".x", ".y"],
        ),
        (
            "pascal",
            "type\n  TKind = (kA, kB);\n  TLevel = (lLow = 1, lHigh = 2); // both\n  TLong = (\n    oOne, oTwo\n  );\nconst Max = 3;\ngeneric function G<T>(a: T): T;\nbegin\nend;\noperator + (a, b: T) r: T;\nbegin\nend;\n",
            &["TKind", "TLevel", "TLong", "Max", "G", "+"],
        ),
        (
            "systemverilog",
            "package p; parameter int W = 3; endpackage\nmodule top(input clk);\n  function automatic int f(int a); return a; endfunction\n  task run(input x); endtask\nendmodule\n",
            &["p", "top", "top.f", "top.run"],
        ),
        (
            "vhdl",
            "package pk is\n  component comp port(x : in bit); end component;\n  constant c : integer := 1;\nend package;\n",
            &["pk", "pk.comp", "pk.c"],
        ),
        (
            "jinja",
            "{% macro field(name) %}<b>{{ name }}</b>{% endmacro %}\n{% macro other(a) -%}\n  {{ a }}\n{%- endmacro %}\n",
            &["field", "other"],
        ),
        ("jsonnet", "local helper(a, b=1) = a + b;\n{\n  name: 'a',\n  fn(x):: x,\n}\n", &["helper", "name", "fn"]),
        (
            "erb",
            "<script>\n  function toggle(a) {\n    return a;\n  }\n</script>\n<div id=\"user-card\">\n</div>\n",
            &["toggle", "user-card"],
        ),
        (
            "apex",
            "class A {\n  public static final String NAME = 'x';\n  public Integer count { get; set; }\n}\n",
            &["A", "A.NAME", "A.count"],
        ),
        (
            "crystal",
            "class Foo\n  property name : String\n  getter? ok : Bool\nend\nrecord Pt, x : Int32\n",
            &["Foo", "Foo.name", "Foo.ok", "Pt"],
        ),
        ("fishshell", "function hid; end\nalias ll='ls -l'\nabbr -a gs git status\n", &["hid", "ll", "gs"]),
        ("gdscript", "export var speed = 10\n@onready var s = $X\n", &["speed", "s"]),
        ("nim", "var count* {.threadvar.}: int\nproc `+`*(a, b: Foo): Foo = a\n", &["count", "+"]),
        (
            "vala",
            "class Foo : Object {\n  public Foo.with_name(string n) {\n    int local = 1;\n  }\n}\n",
            &["Foo", "Foo.with_name"],
        ),
        ("qml", "Item {\n    id: root\n    property int count: 0\n}\n", &["Item", "Item.root", "Item.count"]),
        (
            "emacslisp",
            "(transient-define-prefix my-menu () \"x\")\n(ert-deftest my-test () t)\n",
            &["my-menu", "my-test"],
        ),
        ("fortran", "block data tables\nend block data\nsubroutine s(a)\nend subroutine\n", &["tables", "s"]),
    ]);
}

#[test]
fn heads_over_lines_and_inner_definitions_end_where_they_should() {
    assert_names(&[
        // The type of the result, the parameters and the conditions have lines of their own.
        (
            "dlang",
            "Pair!(T)\nsorted(alias less, T)(T range)\nif (isRange!T)\nin (range.ok)\n{\n    foo(x,\n        y);\n}\nvoid run\n(int count)\n{\n}\nconst(char)[] text()\n{\n}\nenum limit : size_t;\n",
            &["sorted", "run", "text", "limit"],
        ),
        // A function inside of a function does not end it.
        (
            "cmake",
            "function(outer)\n  function(inner)\n  endfunction()\n  set(local 1)\nendfunction()\nset(GLOBAL 1)\n",
            &["outer", "GLOBAL"],
        ),
        (
            "fortran",
            "subroutine outer()\ncontains\n  subroutine inner()\n  end subroutine\nend subroutine\nsubroutine next()\nend subroutine\n",
            &["outer", "next"],
        ),
        // A semicolon between parameters ends no declaration.
        (
            "vhdl",
            "package body p is\n  procedure put (a : inout line; b : in bit;\n                 c : in side := right) is\n    constant d : integer := 1;\n  begin\n  end procedure put;\n  function get (a : bit) return bit;\nend package body;\n",
            &["p", "p.put", "p.get"],
        ),
        (
            "ada",
            "package body P is\n   procedure Put (A : Line; B : Bit;\n                  C : Side) is\n      D : constant Integer := 1;\n   begin\n      null;\n   end Put;\n   E : constant Integer := 2;\nend P;\n",
            &["P", "P.Put", "P.E"],
        ),
    ]);
}

#[test]
fn macros_and_rules_lose_nothing_behind_them() {
    assert_names(&[
        // Comments inside of values; types that the grammar knows.
        (
            "c",
            "#define POP(s) do {\\\n  /* Don't call. */\\\n  s--;\\\n} while (0)\n#define SIZE (3 /* head */ + 1)\ntypedef unsigned char uint8_t;\nint f(void) { return 1; }\n",
            &["POP", "SIZE", "uint8_t", "f"],
        ),
        // Functions that are indented in a namespace that a macro opens.
        ("cpp", "BEGIN_NS\n  TEST_F(FooTest, DoesBar) {\n    run();\n  }\nEND_NS }\n", &["FooTest.DoesBar"]),
        // Rules without recipes and prerequisites; references over lines.
        (
            "make",
            "pre-build::\nall: $(and \\\n\t$(A), $(B))\nlist:\n\t$(if $(C),\\\n\t  set -e; \\\n\t  $(foreach f,$(C),\\\n\t    mv $(f);))\n$(addsuffix .gz,$(D)) $(addsuffix .tgz,$(D)):\n\ttar\nlast::\ndefine step\n\t@echo $(1 \\\n\t)\nendef\n",
            &["pre-build", "all", "list", "$(addsuffix .gz,$(D))", "$(addsuffix .tgz,$(D))", "last", "step"],
        ),
        (
            "csharp",
            "class A {\n  public static bool operator ==(A a, A b) => true;\n  public static explicit operator bool(A a) => true;\n  public static implicit operator List<int>(A a) { return a.b; }\n}\n",
            &["A", "A.operator ==", "A.operator bool", "A.operator List"],
        ),
    ]);
}
