//! Languages of programs: functional, scripting, object-oriented.

use super::{
    C_FUNCTION, C_TYPE, CALLS, DefinitionLine, HASH, LISP_CALLS, LineOutline, OUTLINE, SEMICOLON, SLASHES, class,
    constant, declaration, function, lined, section,
};
use crate::language::{Language, Reader};

lined!(APEX, "apex", ["trigger"], SLASHES, [
    class(r"trigger\s+(\w+)\s+on\b"),
    C_TYPE,
    C_FUNCTION,
    constant(r"(?:(?:public|private|protected|global|static|final|transient)\s+)+(?:[\w<>,.\[\]]+\s+)(\w+)\s*(?:=|;|\{)"),
], calls: CALLS, ignores_case: true; member_extensions: &["trigger"]);
lined!(AWK, "awk", ["awk", "gawk"], HASH, [
    function(r"func(?:tion)?\s+(\w+)\s*\("),
], imports: r"@include\s", calls: CALLS; interpreters: &["awk", "gawk", "mawk"]);
lined!(BATCH, "batchfile", ["bat", "cmd"], &["rem ", "::", "@rem "], [
    function(r":([A-Za-z_][\w.-]*)").level(1),
    constant(r#"@?set\s+(?:/[ap]\s+)?"?(\w+)="#).line(),
], calls: r"call\s+:([\w.-]+)", ignores_case: true; aliases: &["bat"], member_extensions: &["cmd"]);
lined!(CLOJURE, "clojure", ["clj", "cljs", "cljc", "bb"], SEMICOLON, [
    DefinitionLine { what: "function.test", ..function(r"\(deftest\s+(?:\^\S+\s+)*([^\s()\[\]{}]+)") },
    function(r"\((?:[\w.]+/)?(?:defn-?|defmacro|defmulti|defmethod|>defn)\s+(?:\^\S+\s+)*([^\s()\[\]{}]+)"),
    class(r"\((?:defprotocol|defrecord|deftype|definterface)\s+(?:\^\S+\s+)*([^\s()\[\]{}]+)"),
    constant(r"\((?:[\w.]+/)?(?:fdef|def[a-z]*)\s+(?:\^\S+\s+)*([^\s()\[\]{}]+)"),
    // A method of a protocol or a record.
    function(r"^\s+\(([A-Za-z*!?-][^\s()\[\]{}/.]*)\s+\["),
], imports: r"\(:?(?:require|import|use)\b", calls: LISP_CALLS; aliases: &["clj"], interpreters: &["bb", "clojure"]);
lined!(COFFEESCRIPT, "coffeescript", ["coffee"], HASH, [
    class(r"(?:\w+\s*=\s*)?class\s+(?:[\w@]+\.)*(\w+)"),
    function(r"(?:@|[\w.]+\.)?(\w+)\s*[:=]\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)\s*)?[-=]>"),
    constant(r"^([A-Z_][A-Z0-9_]*)\s*="),
], imports: r"(?:import\s|\w+\s*=\s*require\b)", calls: CALLS; aliases: &["coffee"], interpreters: &["coffee"]);
lined!(LISP, "commonlisp", ["lisp", "lsp", "asd"], &[";", "#|"], [
    function(r"\((?:defun|defmacro|defgeneric|defmethod|define-compiler-macro|deftype|defsetf)\s+\(?(?:setf\s+)?([^\s()]+)"),
    class(r"\((?:defclass|defstruct|define-condition|defpackage|defsystem)\s+\(?[#:\x22]*([^\s()\x22]+)"),
    constant(r"\((?:defvar|defparameter|defconstant|define-symbol-macro)\s+([^\s()]+)"),
], imports: r"\((?:require|use-package|ql:quickload)\b", calls: LISP_CALLS; aliases: &["lisp"],
    interpreters: &["sbcl", "clisp"]);
lined!(CRYSTAL, "crystal", ["cr"], HASH, [
    class(r"(?:private\s+|abstract\s+)*(?:class|struct|module|enum|lib|union|annotation)\s+(?:\w+::)*(\w+)"),
    declaration(r"(?:private\s+|protected\s+)*abstract\s+def\s+(?:self\.)?(\w+[?!=]?)"),
    function(r"(?:private\s+|protected\s+)*(?:def|fun|macro)\s+(?:self\.)?(\w+[?!=]?|[+*/<>=!~\[\]?-]+)"),
    class(r"record\s+([A-Z]\w*)"),
    constant(r"(?:class_)?(?:property|getter|setter)[?!]?\s+(\w+)\s*(?:[:=,]|$)").line(),
    constant(r"(?:alias\s+)?([A-Z]\w*)\s*="),
], imports: r"require\s", calls: CALLS);
lined!(DLANG, "dlang", ["d", "di"], &["//", "/*", "/+"], [
    class(r"(?:\w+\s+)*?template\s+(\w+)"),
    class(r"(?:[\w@]+(?:\s*\([^()]*\))?\s+)*?(?:class|struct|interface|enum|union)\s+(\w+)\s*(?:\(.*|[^;=(){]*(?:\{.*)?)$"),
    function(r"(?:[\w@]+\s+)*?(this|~this)\s*\([^;]*(?:\{.*)?$"),
    // A type may be `const(char)[]`, and attributes have arguments: `extern(C)`.
    function(r"[\w@][\w<>\[\],.*&?@:!]*(?:\([^()]*\)[\w\[\]*.!]*)?\s+(?:[\w<>\[\],.*&?@:!]+(?:\([^()]*\)[\w\[\]*.!]*)?\s+)*[*&]*(\w+)\s*\([^;{}]*(?:\{.*|=>.*)?$"),
    // The type of the result is on the line above.
    function(r"^([a-z]\w*)\s*\([^;{}]*$"),
    DefinitionLine { what: "function.test", ..function(r"@\(?\x22([^\x22]+)\x22\)?\s*unittest\b") },
    constant(r"(?:enum|alias)\s+(?:[\w\[\]]+\s+)?(\w+)\s*=").line(),
    constant(r"enum\s+(\w+)\s*:[^{}]*;").line(),
], imports: r"(?:public\s+|static\s+)?import\s", calls: CALLS, continues: r"(?:if|in|out)\s*\(|(?:in|out|do|body)\s*$"; aliases: &["d"], member_extensions: &["d"]);
lined!(ELM, "elm", ["elm"], &["--", "{-"], [
    class(r"^type\s+(?:alias\s+)?(\w+)"),
    function(r"^port\s+([a-z]\w*)\s*:"),
    function(r"^([a-z]\w*)\s*:(?:\s|$)"),
    function(r"^([a-z]\w*)(?:\s+[^=]*)?\s=(?:\s|$)"),
], imports: r"^import\s"; merges_clauses: true);
lined!(EMACS_LISP, "emacslisp", ["el"], SEMICOLON, [
    function(r"\((?:cl-|ert-)?(?:defun|defmacro|defsubst|defgeneric|defmethod|deftest|define-inline|defadvice|define-(?:minor|derived|generic|globalized-minor|compilation)-mode|define-skeleton|transient-define-[a-z]+)\*?\s+\(?(?:setf\s+)?([^\s()]+)"),
    class(r"\((?:cl-)?(?:defstruct|defclass|deftype|define-error)\s+\(?'?([^\s()]+)"),
    constant(r"\((?:defvar|defconst|defcustom|defface|defgroup|defvar-local|defvar-keymap|defalias|define-obsolete-(?:function|variable)-alias|define-(?:abbrev-table|button-type|ibuffer-[a-z]+|package))\s+'?([^\s()]+)"),
], imports: r"\((?:require|use-package)\b", calls: LISP_CALLS; aliases: &["elisp"], member_extensions: &["el"],
    interpreters: &["emacs"]);
lined!(ERLANG, "erlang", ["erl", "hrl", "escript"], &["%"], [
    class(r"-record\(\s*([\w']+)"),
    class(r"-(?:type|opaque|nominal)\s+(\w+)"),
    constant(r"-define\(\s*(\w+)"),
    declaration(r"-callback\s+(\w+)"),
    function(r"-spec\s+(?:\w+:)?([a-z]\w*|'[^']+')"),
    function(r"^([a-z][\w@]*|'[^']+')\s*\("),
], imports: r"-(?:include|include_lib|import|behaviou?r)\(", calls: CALLS; aliases: &["erl"], merges_clauses: true,
    interpreters: &["escript"]);
lined!(FENNEL, "fennel", ["fnl"], SEMICOLON, [
    function(r"\((?:fn|lambda|λ|macro)\s+([^\s()\[\]]+)"),
    constant(r"^\((?:local|global|var)\s+([^\s()\[\]{}]+)"),
], calls: LISP_CALLS; interpreters: &["fennel"]);
lined!(FISH, "fishshell", ["fish"], HASH, [
    function(r"function\s+([^\s;-][^\s;]*)"),
    constant(r"(?:alias|abbr)\s+(?:-\S+\s+)*([^\s=;'\x22-][^\s=;'\x22]*)").line(),
    constant(r"set\s+-[a-zA-Z]*[gxU][a-zA-Z]*\s+(\w+)").line(),
], imports: r"source\s"; aliases: &["fish"], member_extensions: &["fish"], interpreters: &["fish"]);
lined!(FSHARP, "fsharp", ["fs", "fsi", "fsx"], &["//", "(*"], [
    class(r"module\s+(?:rec\s+|internal\s+|private\s+|public\s+)*(\w+)\s*="),
    class(r"(?:type|and)\s+(?:internal\s+|private\s+|public\s+)*(?:\[<[^>]*>\]\s*)?(\w+)"),
    class(r"exception\s+(\w+)").line(),
    function(r"(?:static\s+|abstract\s+)*(?:member|override|default|abstract)\s+(?:inline\s+|private\s+|internal\s+|val\s+)*(?:\w+\.)?(\w+)"),
    // Before the functions, whose name may be such a word.
    constant(r"let\s+(?:(?:mutable|inline|private|internal|public)\s+)+(\w+'*)\s*[:=]"),
    function(r"let\s+(?:rec\s+|inline\s+|private\s+|internal\s+|public\s+)*(\w+'*|``[^`]+``|\(\|[^)]*\|\)|\([^\w\s()]+\))(?:\s*<[^>]*>)?(?:\s*\(|\s+\w)[^=]*=?"),
    function(r"and\s+(\w+'*)\s+[^=]*="),
    constant(r"let\s+(\w+'*)\s*[:=]"),
], imports: r"(?:open|#load|#r)\s"; aliases: &["fs", "f#"], member_extensions: &["fs"]);
lined!(GDSCRIPT, "gdscript", ["gd"], &["#", "\"\"\""], [
    class(r"class\s+(\w+)"),
    class(r"class_name\s+(\w+)").line(),
    class(r"enum\s+(\w+)"),
    function(r"(?:static\s+)?func\s+(\w+)"),
    constant(r"signal\s+(\w+)").line(),
    constant(r"(?:@\w+(?:\([^)]*\))?\s+|export(?:\([^)]*\))?\s+|onready\s+|static\s+)*(?:const|var)\s+(\w+)"),
], imports: r"extends\s", calls: CALLS);
lined!(GLEAM, "gleam", ["gleam"], SLASHES, [
    function(r"(?:pub\s+)?fn\s+(\w+)"),
    class(r"(?:pub\s+)?(?:opaque\s+)?type\s+(\w+)"),
    constant(r"(?:pub\s+)?const\s+(\w+)"),
], imports: r"import\s", calls: CALLS);
lined!(GROOVY, "groovy", ["groovy", "gradle", "gvy", "jenkinsfile"], SLASHES, [
    class(r"(?:[\w@]+\s+)*?(?:class|interface|trait|enum|@interface)\s+(\w+)(?:[^;=()]*|[^;=(){]*\{.*)$"),
    section(r"(?:stage|tasks\.register|tasks\.create|task)\s*\(\s*['\x22]?([^'\x22(),]+)['\x22]?"),
    section(r"task\s+(\w+)\b"),
    function(r"(?:[\w<>\[\],.?@]+\s+)+(\w+|\x22[^\x22]+\x22|'[^']+')\s*\([^;{}=]*(?:=[^;{}]*)?(?:\{.*)?$"),
    function(r"(?:(?:public|private|protected)\s+)?([A-Z]\w*)\s*\([^(){};=]*\)\s*(?:throws\s[^{]*)?\{").constructor(),
    constant(r"(?:(?:final|static|private|public|protected)\s+)*(?:def|ext\.)\s*(\w+)\s*="),
    constant(r"(?:(?:final|static|private|public|protected|volatile|transient)\s+)+(?:[\w<>\[\],.]+\s+)?(\w+)\s*(?:=[^=]|$)"),
], imports: r"import\s", calls: CALLS; aliases: &["gradle"], file_names: &["Jenkinsfile"],
    interpreters: &["groovy"]);
lined!(HAXE, "haxe", ["hx"], SLASHES, [
    class(r"(?:[\w@:]+\s+)*?(?:class|interface|enum|typedef|abstract)\s+([A-Z]\w*)"),
    function(r"(?:[\w@:]+(?:\([^)]*\))?\s+)*function\s+(\w+)"),
    constant(r"(?:[\w@:]+(?:\([^)]*\))?\s+)*(?:var|final)\s+(\w+)"),
], imports: r"(?:import|using)\s", calls: CALLS);
lined!(JANET, "janet", ["janet", "jdn"], HASH, [
    function(r"\((?:defn-?|defmacro-?|varfn)\s+([^\s()\[\]]+)"),
    constant(r"^\((?:def-?|var-?)\s+([^\s()\[\]{}]+)"),
], imports: r"\((?:import|use)\s", calls: LISP_CALLS; interpreters: &["janet"]);
lined!(LEAN, "lean", ["lean"], &["--", "/-"], [
    class(r"(?:@\[[^\]]*\]\s*)?(?:private\s+|protected\s+|noncomputable\s+|public\s+)*(?:structure|inductive|class(?:\s+inductive)?)\s+([\w.'!?]+)"),
    function(r"(?:@\[[^\]]*\]\s*)?(?:private\s+|protected\s+|noncomputable\s+|partial\s+|unsafe\s+|public\s+)*(?:def|theorem|lemma|abbrev|axiom|opaque|instance|macro|syntax)\s+([\w.'!?]+)"),
], imports: r"import\s");
lined!(MATLAB, "matlab", [], &["%", "%{"], [
    class(r"classdef\s+(?:\([^)]*\)\s*)?(\w+)").level(1),
    function(r"function\s+(?:(?:\[[^\]]*\]|\w+)\s*=\s*)?([\w.]+)").level(2),
]; aliases: &["octave"], interpreters: &["octave"]);
lined!(MOJO, "mojo", ["mojo", "\u{1f525}"], &["#", "\"\"\""], [
    class(r"(?:struct|trait|class)\s+(\w+)"),
    function(r"(?:async\s+)?(?:fn|def)\s+(\w+)"),
    constant(r"(?:alias|comptime|var)\s+(\w+)\s*[:=]"),
], imports: r"(?:from|import)\s", calls: CALLS);
lined!(NIM, "nim", ["nim", "nims", "nimble"], &["#", "#["], [
    function(r"(?:proc|func|method|iterator|converter|template|macro)\s+(`[^`]+`|\w+)"),
    class(r"(?:type\s+)?(\w+)\*?\s*(?:\{[^}]*\}\s*)?(?:\[[^\]]*\]\s*)?=\s*(?:ref\s+|ptr\s+)*(?:object|enum|tuple|distinct|concept|proc)\b"),
    constant(r"^(?:const|let|var)\s+(\w+)\*?\s*(?:\{\.[^}]*\}\s*)?[:=]"),
], imports: r"(?:import|from|include)\s", calls: CALLS; interpreters: &["nim"]);
lined!(NUSHELL, "nushell", ["nu"], HASH, [
    function(r"(?:export\s+)?def\s+(?:--\w+\s+)*(\x22[^\x22]+\x22|'[^']+'|[\w-]+)"),
    class(r"(?:export\s+)?module\s+(\w+)"),
    constant(r"(?:export\s+)?(?:alias|const)\s+([\w-]+)\s*="),
], imports: r"(?:use|source|export use)\s"; interpreters: &["nu"]);
lined!(OCAML_INTERFACE, "ocaml-interface", ["mli"], &["(*"], [
    DefinitionLine { what: "function.declaration", ..function(r"(?:val|external)\s+(\w['\w]*|\([^)]+\))") },
    class(r"(?:type|and)\s+(?:nonrec\s+)?(?:\([^)]*\)\s*|[+!-]*'\w+\s+)?(\w['\w]*)"),
    class(r"(?:module|module\s+type|module\s+rec)\s+([A-Z]['\w]*)"),
    class(r"class\s+(?:virtual\s+|type\s+)*([a-z_]\w*)"),
    constant(r"exception\s+(\w+)"),
], imports: r"(?:open|include)\s"; aliases: &["mli"]);
lined!(PROLOG, "prolog", ["prolog"], &["%", "/*"], [
    function(r"^([a-z]\w*)\s*(?:\(.*)?(?::-|-->|\.\s*(?:%.*)?$)"),
], imports: r":-\s*(?:use_module|consult|include)\b"; merges_clauses: true, interpreters: &["swipl"]);
lined!(PURESCRIPT, "purescript", ["purs"], &["--", "{-"], [
    class(r"^(?:data|newtype|type|class|foreign\s+import\s+data)\s+(?:\([^)]*\)\s*=>\s*|[^=<]*<=\s*)?([A-Z][\w']*)"),
    function(r"^foreign\s+import\s+([a-z_][\w']*)"),
    function(r"^([a-z_][\w']*)\s*::"),
    function(r"^([a-z_][\w']*)(?:\s+[^=|]*)?\s[=|](?:\s|$)"),
], imports: r"^import\s"; merges_clauses: true, aliases: &["purs"]);
lined!(RAKU, "raku", ["raku", "rakumod", "rakutest", "p6", "pm6"], HASH, [
    class(r"(?:(?:my|our|unit)\s+)*(?:class|role|module|grammar|package|enum|subset)\s+([\w:'-]+)"),
    function(r"(?:(?:my|our|multi|proto|only)\s+)*(?:sub|method|submethod|macro|regex|token|rule)\s+([!\w'-]+)"),
    constant(r"(?:(?:my|our)\s+)?constant\s+[$@%&]?([\w'-]+)"),
], imports: r"(?:use|need)\s", calls: CALLS; aliases: &["perl6"], interpreters: &["raku", "perl6"]);
lined!(RESCRIPT, "rescript", ["res", "resi"], SLASHES, [
    class(r"(?:module|module\s+type)\s+(\w+)"),
    class(r"(?:type|and)\s+(?:rec\s+)?(\w+)"),
    function(r"(?:let|and)\s+(?:rec\s+)?(\w+)\s*(?::[^=]*)?=\s*(?:async\s+)?(?:\(.*\)\s*(?::[^=]*)?=>|\w+\s*=>|\(\s*$)"),
    constant(r"(?:let|external|exception)\s+(\w+)"),
], imports: r"(?:open|include)\s", calls: CALLS; member_extensions: &["res"]);
lined!(RACKET, "racket", ["rkt", "rktl"], &[";", "#|"], [
    class(r"\((?:struct|define-struct|define-type|define-class)\s+\(?([^\s()\[\]]+)"),
    constant(r"\(define-values\s+\(([^\s()\[\]]+)"),
    function(r"\((?:define-syntax|define-macro)\s+\(?([^\s()\[\]]+)"),
    function(r"\(define(?:[-*/:][^\s()\[\]]*)?\s+\(+([^\s()\[\]]+)"),
    function(r"\(define\s+([^\s()]+)\s+\((?:lambda|λ|case-lambda)\b"),
    constant(r"\(define(?:[-*/:][^\s()\[\]]*)?\s+([^\s()\[\]]+)"),
], imports: r"\(require\b", calls: LISP_CALLS; interpreters: &["racket"]);
lined!(SCHEME, "scheme", ["ss", "sld"], &[";", "#|"], [
    class(r"\((?:define-module|define-library|library)\s+\((?:([^()]+)\s)?([^\s()]+)\)").line(),
    class(r"\(define-module\s+([^\s()]+)").line(),
    class(r"\((?:define-record-type|define-class|define-structure|define-condition-type)\S*\s+\(?([^\s()\[\]]+)"),
    constant(r"\(define-values\s+\(([^\s()\[\]]+)"),
    function(r"\((?:define-(?:syntax|method|generic|accessor|macro)|def-?macro)[^\s()]*\s+\(*([^\s()\[\]]+)"),
    function(r"\(define(?:[-*/:][^\s()\[\]]*)?\s+\(+([^\s()\[\]]+)"),
    function(r"\(define(?:-public)?\s+([^\s()]+)\s+\((?:lambda|case-lambda)\b"),
    constant(r"\(define(?:[-*/:][^\s()\[\]]*)?\s+([^\s()\[\]]+)"),
], imports: r"\((?:use-modules|import|load)\b", calls: LISP_CALLS; interpreters: &["guile", "csi", "scheme"]);
lined!(TCL, "tcl", ["tcl", "itcl"], HASH, [
    class(r"(?:oo::class\s+create|itcl::class|snit::type)\s+(?:::)?([^\s$]+)(?:\s|$)"),
    DefinitionLine { what: "class.extension", ..class(r"namespace\s+eval\s+(?:::)?(\w[\w:]*)(?:\s|$)") },
    function(r"(?:proc|oo::define\s+\S+\s+method|method|itcl::body)\s+(?:::)?(?:([\w:]+)::)?([^\s:{$]+(?::[^\s:{$]+)*)(?:\s|$)"),
    function(r"(constructor|destructor)\s+\{"),
    constant(r"^(?:set|variable)\s+(?:::)?([\w:]+)\s+").line(),
], imports: r"(?:package\s+require|source)\s"; interpreters: &["tclsh", "wish", "expect"]);
lined!(VALA, "vala", ["vala", "vapi"], SLASHES, [
    C_TYPE,
    C_FUNCTION,
    function(r"(?:(?:public|private|protected|internal)\s+)?\w+\.(\w+)\s*\([^;{}=]*\)\s*(?:throws\s[^{]*)?\{"),
    class(r"namespace\s+([\w.]+)"),
    declaration(r"(?:[\w<>\[\],.?]+\s+)*(?:signal|delegate|abstract|extern)\s+(?:[\w<>\[\],.?]+\s+)+(\w+)\s*\(.*;"),
    constant(r"(?:public|private|protected|internal|const|static)\s+(?:[\w<>\[\],.?]+\s+)+(\w+)\s*(?:=|;|\{)"),
], imports: r"using\s", calls: CALLS);
lined!(VIM, "vimscript", ["vim"], &["\"", "#"], [
    function(r"(?:export\s+)?(?:function|func|fun|fu|def)!?\s+(?:<SID>|([sgbwtla]):)?([\w#.]+)\s*\(")
        .ended(r"end(?:f|fu|fun|func|function|def)\b"),
    section(r"aug(?:roup)?\s+([A-Za-z]\w*)").ended(r"aug(?:roup)?\s+END"),
    constant(r"com(?:mand)?!?\s+(?:-\S+\s+)*([A-Z]\w*)").line(),
    constant(r"let\s+([gsb]:\w+)\s*=").line(),
], imports: r"(?:source|runtime|import)\s", calls: r"([A-Za-z_][\w#]*)\("; aliases: &["vim"],
    file_names: &[".vimrc", "vimrc", ".gvimrc", "_vimrc"]);
lined!(VISUAL_BASIC, "visualbasic", ["vb", "bas", "vbs", "frm"], &["'", "rem "], [
    declaration(r"(?:\w+\s+)*declare\s+(?:ptrsafe\s+)?(?:sub|function)\s+(\w+)"),
    class(r"(?:(?:public|private|friend|protected|shared|partial|shadows|notinheritable|mustinherit)\s+)*(?:class|module|structure|interface)\s+(\w+)")
        .ended(r"end\s+(?:class|module|structure|interface)"),
    class(r"(?:(?:public|private|friend|protected)\s+)*(?:enum|type)\s+(\w+)\b").ended(r"end\s+(?:enum|type)"),
    function(r"(?:(?:public|private|friend|protected|shared|static|overrides|overridable|notoverridable|overloads|async|partial|shadows|default|iterator)\s+)*(?:sub|function|property(?:\s+(?:get|let|set))?|operator)\s+(\w+)")
        .ended(r"end\s+(?:sub|function|property|operator)"),
    constant(r"(?:(?:public|private|friend|protected|shared|global)\s+)*const\s+(\w+)").line(),
], imports: r"imports\s", calls: CALLS, ignores_case: true; aliases: &["vb"]);
