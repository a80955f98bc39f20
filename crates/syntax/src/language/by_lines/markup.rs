//! Templates, style sheets and markup.

use super::{
    C_FUNCTION, C_TYPE, CALLS, DefinitionLine, LineOutline, OUTLINE, SLASHES, class, constant, function, lined, section,
};
use crate::language::Category::Data;
use crate::language::{Language, Reader};

/// An element with an id.
const ELEMENT: DefinitionLine = section(r#"<[\w.:-]+[^<>]*?\sid="([\w.:-]+)""#);
/// A function of a script in a template.
const SCRIPT_FUNCTION: DefinitionLine = function(r"(?:async\s+)?function\s+(\w+)\s*\(");
/// Calls in templates: functions, and components after `<.`.
const TEMPLATE_CALLS: &str = r"(?:<\.([\w.]+)|([A-Za-z_]\w*[?!]?)\()";

lined!(ASTRO, "astro", ["astro"], &["//", "/*", "<!--"], [
    class(r"(?:export\s+)?(?:interface|type)\s+(\w+)"),
    function(r"(?:export\s+)?(?:async\s+)?function\s+(\w+)"),
    function(r"(?:export\s+)?const\s+(\w+)\s*(?::[^=]*)?=\s*(?:async\s*)?\(.*=>"),
    constant(r"(?:export\s+)?(?:const|let|var)\s+\{?\s*(\w+)"),
    ELEMENT,
], imports: r"import\s", calls: r"(?:<([A-Z]\w*)|([A-Za-z_]\w*)\()");
lined!(BLADE, "blade", [], &["<!--", "{{--"], [
    section(r"@(?:section|push|prepend|slot|component|once|fragment)\s*\(\s*['\x22]([^'\x22]+)['\x22]\s*\)"),
    section(r"<x-slot(?::|\s+name=\x22)([\w-]+)"),
    SCRIPT_FUNCTION,
    ELEMENT,
], imports: r"@(?:extends|include|includeIf|use)\s*\(", calls: r"(?:<x-([\w.:-]+)|([A-Za-z_]\w*)\()";
    file_suffixes: &[".blade.php"]);
lined!(EEX, "eex", ["heex", "leex", "eex"], &["<!--", "<%#"], [
    section(r"<:(\w+)"),
    SCRIPT_FUNCTION,
    ELEMENT,
], calls: TEMPLATE_CALLS; aliases: &["heex"]);
lined!(ERB, "erb", ["erb", "rhtml"], &["<!--", "<%#"], [
    section(r"<%-?\s*content_for[\s(]+:(\w+)"),
    section(r"<%=?-?\s*turbo_frame_tag[\s(]+[:\x22'](\w+)"),
    SCRIPT_FUNCTION,
    ELEMENT,
], calls: r"([A-Za-z_]\w*[?!]?)\(");
lined!(GO_TEMPLATE, "gotemplate", ["tmpl", "tpl", "gohtml", "gotmpl"], &["<!--", "{{/*", "{{- /*"], [
    function(r"\{\{-?\s*(?:define|block)\s+\x22([^\x22]+)\x22").level(1),
    SCRIPT_FUNCTION,
    ELEMENT,
], calls: r"(?:include|template)\s+\x22([^\x22]+)\x22");
lined!(HANDLEBARS, "handlebars", ["hbs", "handlebars", "mustache", "ejs", "jsp"], &["<!--", "{{!"], [
    section(r"\{\{#\*inline\s+\x22([^\x22]+)\x22"),
    SCRIPT_FUNCTION,
    ELEMENT,
], calls: r"\{\{>\s*([\w./-]+)"; aliases: &["hbs"]);
lined!(JINJA, "jinja", ["jinja", "jinja2", "j2", "njk", "twig", "liquid"], &["{#", "<!--"], [
    function(r"\{%-?\s*macro\s+(\w+)").ended(r".*\{%-?\s*endmacro\b"),
    section(r"\{%-?\s*block\s+(\w+).*\{%-?\s*endblock\b").line(),
    section(r"\{%-?\s*block\s+(\w+)").ended(r".*\{%-?\s*endblock\b"),
    SCRIPT_FUNCTION,
    ELEMENT,
], imports: r"\{%-?\s*(?:extends|include|import|from)\s", calls: CALLS);
lined!(QML, "qml", ["qml", "qbs"], SLASHES, [
    class(r"component\s+(\w+)\s*:"),
    function(r"(?:async\s+)?function\s+(\w+)\s*\("),
    constant(r"signal\s+(\w+)").line(),
    constant(r"(?:(?:readonly|default|required)\s+)*property\s+[\w<>.]+\s+(\w+)"),
    constant(r"id\s*:\s*([a-z_]\w*)\s*;?\s*$").line(),
    class(r"^([A-Z][\w.]*)\s*\{"),
    section(r"([A-Z][\w.]*)\s*\{\s*$"),
], imports: r"import\s", calls: CALLS);
lined!(RAZOR, "razor", ["razor", "cshtml", "vbhtml"], &["//", "<!--", "@*"], [
    section(r"@section\s+(\w+)"),
    C_TYPE,
    C_FUNCTION,
    constant(r"(?:\[\w+(?:\([^)]*\))?\]\s*)*(?:(?:public|private|protected|internal|static|readonly|const|required)\s+)+(?:[\w<>?\[\],.]+\s+)+(\w+)\s*(?:\{|=|;)").line(),
    SCRIPT_FUNCTION,
    ELEMENT,
], imports: r"@(?:using|inject|model|inherits|page)\s", calls: r"(?:<([A-Z]\w*)|([A-Za-z_]\w*)\()");
lined!(STYLE, "style", ["scss", "sass", "less", "styl"], SLASHES, [
    function(r"@(?:mixin|function)\s+([\w-]+)"),
    function(r"(\.[\w-]+)\s*\([^)]*\)\s*(?:when\s.*)?\{"),
    section(r"@(?:media|supports|container|layer|keyframes|include)\s+([^{;]+?)\s*\{"),
    constant(r"(\$[\w-]+)\s*:"),
    constant(r"(@[\w-]+)\s*:").line(),
    constant(r"(--[\w-]+)\s*:").line(),
    // A rule, of which `#{…}` may be a part; one on one line has a declaration.
    section(r"([^@{};$/-](?:[^{};#]|#[\w-]|#\{[^{}]*\})*?)\s*\{\s*(?:(?://.*)?$|[\w.&#-]+.*\}\s*$)"),
], imports: r"@(?:use|import|forward)\s"; aliases: &["scss", "sass", "less"], member_extensions: &["less"], category: Data);
lined!(XML, "xml", [
    "xml", "svg", "xsd", "xsl", "plist", "csproj", "vbproj", "fsproj", "props", "targets", "resx", "storyboard", "xib",
    "xaml", "wsdl",
], &["<!--"], [
    class(r#"<(?:[\w-]+:)?(?:element|complexType|simpleType|template|class|bean|Target)\s+[^<>]*?\b(?:name|id|Name)="([^"]+)""#),
    section(r#"<[\w.:-]+\s+(?:[^<>]*?\s)?(?:[\w-]+:)?(?:id|[nN]ame|key|Key)="([^"]+)""#),
]; member_extensions: &["props", "targets"], minified_extensions: &["svg", "xml"], category: Data);
