//! Detects the language of files by content: shared extensions and `#!` lines.

use std::sync::LazyLock;

use regex::bytes::Regex;

macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).expect("a valid pattern"));
    };
}

pattern!(OBJC, r"(?m)^\s*(?:@(?:interface|implementation|protocol|class|import|property|end)\b|#import\b)");
pattern!(
    CPP,
    r"(?m)^\s*(?:class\s+\w|namespace\b|template\s*<|using\s+\w|public:|private:|protected:|extern\s+\x22C\+\+\x22)|\bconstexpr\b|\bnoexcept\b|\w::\w|#include\s*<(?:vector|string|memory|map|utility|type_traits|iostream|functional|cstd\w+)>"
);
pattern!(MATLAB, r"(?m)^\s*(?:%|function\b[^;{]*$|classdef\b|end\s*$)");
pattern!(PROLOG, r"(?m)^\s*(?::-\s*\w|[a-z]\w*\([^)]*\)\s*:-)|^[a-z]\w*\([^)\n]*\)\.\s*$");
pattern!(PERL, r"(?m)^\s*(?:use\s+(?:strict|warnings|utf8|v?5|[A-Z]\w*)|package\s+\w|sub\s+\w|my\s+[$@%])|^#!.*\bperl");
pattern!(PHP, r"<\?(?:php|=)");
pattern!(XML, r"^\s*(?:\xef\xbb\xbf)?<\?xml|^\s*<!DOCTYPE");
pattern!(R_CODE, r"(?m)<-|\blibrary\(|\bfunction\s*\(");

pattern!(REBOL, r"\AREBOL");
pattern!(
    VERILOG,
    r"(?m)^\s*(?:module\s+\w+\s*[#(;]|endmodule\b|package\s+\w+;|`(?:timescale|define|include|ifn?def)\b)"
);
pattern!(VLANG, r"(?m)^(?:pub\s+)?fn\s|^module\s+\w+\s*$");
pattern!(BASIC_CLASS, r"(?mi)\AVERSION\s[\d.]+\s+CLASS|^Attribute\s+VB_");
pattern!(LATEX_CLASS, r"\\(?:ProvidesClass|NeedsTeXFormat|LoadClass)\b");
pattern!(
    APEX,
    r"(?mi)^\s*(?:@\w+\s*(?:\([^)]*\))?\s*)*(?:(?:public|private|global|virtual|abstract|with|without|inherited)\s+)+(?:sharing\s+)?(?:class|interface|enum)\s"
);
pattern!(SCHEME, r"(?m)^\s*\((?:define|module|use-modules|import|library|load)\b");

/// An extension of several languages: patterns of a file's beginning with their languages, tried in order, and the
/// language if none matches.
struct Shared {
    extension: &'static str,
    tests: &'static [(&'static LazyLock<Regex>, &'static str)],
    fallback: &'static str,
}

static SHARED: [Shared; 10] = [
    Shared { extension: "h", tests: &[(&OBJC, "objc"), (&CPP, "cpp")], fallback: "c" },
    Shared { extension: "m", tests: &[(&OBJC, "objc"), (&MATLAB, "matlab")], fallback: "objc" },
    Shared { extension: "pl", tests: &[(&PERL, "perl"), (&PROLOG, "prolog")], fallback: "perl" },
    Shared { extension: "t", tests: &[(&PERL, "perl")], fallback: "unknown" },
    Shared { extension: "inc", tests: &[(&PHP, "php"), (&CPP, "cpp")], fallback: "c" },
    Shared { extension: "ts", tests: &[(&XML, "xml")], fallback: "typescript" },
    Shared { extension: "r", tests: &[(&R_CODE, "r"), (&REBOL, "unknown")], fallback: "r" },
    Shared { extension: "v", tests: &[(&VERILOG, "systemverilog"), (&VLANG, "vlang")], fallback: "unknown" },
    Shared {
        extension: "cls",
        tests: &[(&BASIC_CLASS, "visualbasic"), (&LATEX_CLASS, "latex"), (&APEX, "apex")],
        fallback: "unknown",
    },
    Shared { extension: "scm", tests: &[(&SCHEME, "scheme")], fallback: "unknown" },
];

/// The language for an extension that several languages share; `None` for any other extension.
pub(super) fn shared_extension(extension: &str, head: &[u8]) -> Option<&'static str> {
    let shared = SHARED.iter().find(|s| s.extension == extension)?;
    Some(shared.tests.iter().find(|(pattern, _)| pattern.is_match(head)).map_or(shared.fallback, |(_, name)| name))
}

/// The extensions that a language shares with fallback.
pub(super) fn shared_with(language: &str) -> impl Iterator<Item = &'static str> {
    let names = |s: &'static Shared| s.tests.iter().map(|(_, name)| *name).chain([s.fallback]);
    SHARED.iter().filter(move |s| names(s).any(|name| name == language)).map(|s| s.extension)
}

/// The interpreter in a `#!` line, without its folder and version digits.
pub(super) fn interpreter(head: &[u8]) -> Option<&str> {
    let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let line = head.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.find(|w| !w.starts_with('-') && !w.contains('='))?.rsplit('/').next()?;
    }
    Some(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_extensions_go_by_content() {
        for (extension, head, expected) in [
            ("h", "#ifndef A\nint f(void);\n", Some("c")),
            ("h", "#pragma once\nnamespace a {\nclass B;\n}\n", Some("cpp")),
            ("h", "#import <Foundation/Foundation.h>\n@interface A : NSObject\n@end\n", Some("objc")),
            ("m", "#import \"A.h\"\n@implementation A\n@end\n", Some("objc")),
            ("m", "function y = f(x)\n% doubles\ny = 2 * x;\nend\n", Some("matlab")),
            ("pl", "use strict;\nmy $x = 1;\n", Some("perl")),
            ("pl", ":- module(a, [b/1]).\nb(X) :- c(X).\n", Some("prolog")),
            ("pl", "parent(tom, bob).\nparent(bob, ann).\n", Some("prolog")),
            ("pl", "print(1);\n", Some("perl")),
            ("inc", "<?php\nfunction a() {}\n", Some("php")),
            ("ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n", Some("xml")),
            ("ts", "export const a = 1;\n", Some("typescript")),
            ("r", "REBOL []\nprint 1\n", Some("unknown")),
            ("r", "x = 1\n", Some("r")),
            ("t", "use strict;\n", Some("perl")),
            ("v", "module adder(input a);\nendmodule\n", Some("systemverilog")),
            ("v", "module main\n\nfn main() {}\n", Some("vlang")),
            ("v", "Require Import List.\nLemma a : True.\n", Some("unknown")),
            ("cls", "public with sharing class Relay {\n}\n", Some("apex")),
            ("cls", "VERSION 1.0 CLASS\nBEGIN\n", Some("visualbasic")),
            ("cls", "\\NeedsTeXFormat{LaTeX2e}\n", Some("latex")),
            ("scm", "(define (f x) x)\n", Some("scheme")),
            ("scm", "(identifier) @variable\n", Some("unknown")),
            ("py", "", None),
        ] {
            assert_eq!(shared_extension(extension, head.as_bytes()), expected, ".{extension} {head:?}");
        }
    }

    #[test]
    fn shared_extensions_are_those_of_each_language() {
        for (language, expected) in [("c", "h inc"), ("objc", "h m"), ("xml", "ts"), ("perl", "pl t"), ("go", "")] {
            assert_eq!(shared_with(language).collect::<Vec<_>>().join(" "), expected, "{language}");
        }
    }

    #[test]
    fn interpreters_are_read_from_the_first_line() {
        for (head, expected) in [
            ("#!/bin/sh\n", Some("sh")),
            ("#!/usr/bin/env python3.11\nprint()", Some("python")),
            ("#!/usr/bin/env -S node --experimental\n", Some("node")),
            ("#!/usr/bin/env -S FOO=1 bash\n", Some("bash")),
            ("\u{feff}#!/bin/sh\n", Some("sh")),
            ("# not one\n", None),
            ("#!", None),
        ] {
            assert_eq!(interpreter(head.as_bytes()), expected, "{head:?}");
        }
    }
}
