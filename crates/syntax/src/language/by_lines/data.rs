//! Languages of builds, configurations, schemas and grammars.

use super::{CALLS, DefinitionLine, HASH, LineOutline, OUTLINE, SLASHES, class, constant, function, lined, section};
use crate::language::Category::Data;
use crate::language::{Language, Reader};

lined!(ANTLR, "antlr", ["g4"], SLASHES, [
    function(r"^(?:fragment\s+|protected\s+)?([A-Za-z_]\w*)\s*(?::[^:=].*|:)?\s*$").level(1),
], imports: r"import\s");
lined!(BICEP, "bicep", ["bicep", "bicepparam"], SLASHES, [
    section(r"(?:resource|module)\s+(\w+)"),
    function(r"func\s+(\w+)"),
    class(r"type\s+(\w+)"),
    constant(r"(?:param|var|output|metadata)\s+(\w+)"),
], imports: r"(?:using|import)\s", calls: CALLS);
lined!(CAPNP, "capnp", ["capnp"], HASH, [
    class(r"(?:struct|interface|enum|annotation)\s+(\w+)"),
    constant(r"(?:const\s+)?(\w+)\s*(?:@\d|:\w+\s*=)"),
], imports: r"using\s");
lined!(CMAKE, "cmake", ["cmake"], HASH, [
    function(r"function\s*\(\s*([^\s()]+)").ended(r"endfunction\b"),
    function(r"macro\s*\(\s*([^\s()]+)").ended(r"endmacro\b"),
    section(r"(?:add_executable|add_library|add_custom_target)\s*\(\s*([^\s()$]+)"),
    section(r"project\s*\(\s*([^\s()$]+)"),
    constant(r"(?:option|set)\s*\(\s*([^\s()$]+)"),
], imports: r"(?:include|find_package|add_subdirectory)\s*\(", calls: r"^\s*(\w+)\s*\(", ignores_case: true;
    file_names: &["CMakeLists.txt"]);
lined!(CUE, "cuelang", ["cue"], SLASHES, [
    class(r"^(#\w+)\s*:"),
    constant(r"^(\w+)\s*:"),
], imports: r"import\s"; member_extensions: &["cue"]);
lined!(FLATBUFFERS, "flatbuffers", ["fbs"], SLASHES, [
    class(r"(?:table|struct|enum|union|rpc_service)\s+(\w+)"),
    constant(r"^\s+(\w+)\s*:\s*[\w\[\].]+"),
], imports: r"include\s");
lined!(INI, "ini", ["ini", "cfg", "conf", "properties", "env", "editorconfig", "desktop"], &[";", "#"], [
    section(r"\[\s*([^\[\]]+?)\s*\]\s*(?:[;#].*)?$").level(1),
    constant(r"^(?:export\s+)?([A-Za-z_][\w.-]*)\s*[=:](?:[^:=]|$)").line(),
]; member_extensions: &["properties", "env"], category: Data, file_names: &[".gitconfig", ".gitmodules", ".npmrc", ".pylintrc", ".flake8", ".coveragerc"]);
lined!(JSONNET, "jsonnet", ["jsonnet", "libsonnet"], &["//", "#", "/*"], [
    function(r"(?:local\s+)?(\w+)\([^()]*\)\s*(?:=|:{1,3})(?:\s|$)"),
    constant(r"local\s+(\w+)\s*="),
    constant(r"(\w+|'[^']+'|\x22[^\x22]+\x22)\s*\+?:{1,3}(?:\s|$)"),
], imports: r"local\s+\w+\s*=\s*import", calls: CALLS);
lined!(JUST, "justfile", ["just"], HASH, [
    constant(r"^(?:export\s+)?([A-Za-z_][\w-]*)\s*:="),
    constant(r"^alias\s+([A-Za-z_][\w-]*)\s*:=").line(),
    function(r"^@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?:[^=]|$)"),
], imports: r"(?:import|mod)\s"; file_names: &["justfile", "Justfile", ".justfile"],
    member_extensions: &["just"], interpreters: &["just"]);
lined!(KCONFIG, "kconfig", [], HASH, [
    section(r"^(?:menu)?config\s+(\w+)"),
    section(r"^menu\s+\x22([^\x22]+)\x22").line(),
], imports: r"source\s"; file_stems: &["Kconfig"]);
lined!(M4, "m4", ["m4", "ac"], &["dnl", "#"], [
    function(r"(?:AC_DEFUN(?:_ONCE)?|AU_DEFUN|AU_ALIAS|m4_define|define)\(\s*[\[`]?(\w+)"),
], imports: r"(?:m4_include|include|sinclude)\("; member_extensions: &["ac"]);
lined!(MESON, "meson", [], HASH, [
    constant(r"([A-Za-z_]\w*)\s*\+?=[^=]"),
], imports: r"(?:subdir|import)\s*\(", calls: CALLS; file_names: &["meson.build", "meson_options.txt", "meson.options"]);
lined!(PEST, "pest", ["pest"], SLASHES, [function(r"(\w+)\s*=\s*[_@$!]*\s*\{"),]);
lined!(PKL, "pkl", ["pkl", "pcf"], SLASHES, [
    class(r"(?:(?:abstract|open|external|local|hidden|const)\s+)*(?:class|typealias)\s+(\w+)"),
    function(r"(?:(?:local|const|external|abstract|hidden)\s+)*function\s+(\w+)"),
    constant(r"(?:(?:local|const|fixed|hidden|external|abstract)\s+)*(\w+)\s*(?::[^={]+)?(?:=|\{)"),
], imports: r"(?:import|amends|extends)\s", calls: CALLS);
lined!(
    PRISMA,
    "prisma",
    ["prisma"],
    SLASHES,
    [class(r"(?:model|enum|type|view|datasource|generator)\s+(\w+)"), constant(r"^\s+(\w+)\s+[A-Z]\w*"),]
);
lined!(PUPPET, "puppet", ["pp", "epp"], HASH, [
    class(r"class\s+([\w:]+)"),
    class(r"(?:define|application|plan|node)\s+['\x22]?([\w:.-]+)"),
    function(r"function\s+([\w:]+)"),
], imports: r"(?:include|require|contain)\s"; member_extensions: &["pp"]);
lined!(REGO, "rego", ["rego"], HASH, [
    function(r"^(?:default\s+)?([a-z_]\w*)(?:\[[^\]]*\]|\([^)]*\))?\s*(?::?=|\bif\b|\bcontains\b|\{)"),
], imports: r"import\s", calls: CALLS; merges_clauses: true);
lined!(ROBOT, "robotframework", ["robot"], HASH, [
    section(r"^\*{1,3}\s*(\w[\w ]*?)\s*\*{3}").level(0),
    function(r"^([^\s*#|$@&%.\[][^\s]*(?: [^\s]+)*)\s*$"),
    constant(r"^([$@&%]\{[^}]+\})"),
]; member_extensions: &["robot"]);
lined!(SMITHY, "smithy", ["smithy"], SLASHES, [
    class(r"(?:service|structure|union|resource|enum|intEnum|list|map|string|integer|operation)\s+(\w+)"),
], imports: r"use\s");
lined!(THRIFT, "thrift", ["thrift"], &["//", "/*", "#"], [
    class(r"(?:struct|union|exception|enum|senum|service)\s+(\w+)"),
    constant(r"\d+\s*:\s*(?:required\s+|optional\s+)?[\w.]+(?:<[^(]*>)?\s+(\w+)"),
    constant(r"(?:const|typedef)\s+[\w.]+(?:\s*<[^=]*>)?\s+(\w+)"),
    function(r"(?:oneway\s+)?[\w.]+(?:<[\w<>,. ]*>)?\s+(\w+)\s*\("),
    constant(r"^\s+(\w+)\s*=\s*-?\d"),
], imports: r"(?:include|namespace)\s");
lined!(TYPESPEC, "typespec", ["tsp"], SLASHES, [
    class(r"(?:model|enum|union|interface|scalar|alias)\s+(\w+)"),
    class(r"namespace\s+([\w.]+)\s*\{"),
    function(r"op\s+(\w+)"),
    function(r"^\s+(\w+)\(.*\)\s*:"),
    constant(r"^\s+(\w+)\??\s*:"),
], imports: r"(?:import|using)\s");
