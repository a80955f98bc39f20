//! Languages near to hardware, of shaders, of science and of business.

use super::{
    C_FUNCTION, C_TYPE, CALLS, DASHES, DefinitionLine, LineOutline, OUTLINE, SLASHES, class, constant, declaration,
    function, lined, section,
};
use crate::language::{Language, Reader};

lined!(ADA, "ada", ["adb", "ads", "ada"], DASHES, [
    constant(r"package\s+([\w.]+)\s+renames\b").line(),
    class(r"package\s+([\w.]+)\s+is\s+new\b"),
    DefinitionLine { what: "function.declaration", ..function(r"(?:procedure|function)\s+(\w+|\x22[^\x22]+\x22)\s+is\s+new\b") },
    class(r"(?:private\s+)?package(?:\s+body)?\s+([\w.]+)\s*(?:\bis\b|\bwith\b|$)").closed(r"end\b"),
    // All brackets are closed: `procedure A (B : C;` goes on.
    declaration(r"(?:not\s+)?(?:overriding\s+)?(?:procedure|function|entry)\s+(?:([\w.]+)\.)?(\w+|\x22[^\x22]+\x22)(?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*;\s*$"),
    function(r"(?:not\s+)?(?:overriding\s+)?(?:procedure|function|entry)\s+(?:([\w.]+)\.)?(\w+|\x22[^\x22]+\x22)").closed(r"end\b"),
    class(r"(?:task|protected)(?:\s+(?:type|body))?\s+(\w+).*\bis\b").closed(r"end\b"),
    class(r"(?:sub)?type\s+(\w+)"),
    constant(r"(\w+)\s*:\s*(?:aliased\s+)?constant\b"),
], imports: r"with\s", calls: CALLS, ignores_case: true);
lined!(ASSEMBLER, "assembler", ["s", "asm", "nasm", "a51"], &[";", "//", "/*", "# ", "@ "], [
    function(r"(?:ENTRY|FUNC|SYM_(?:FUNC|CODE)_START\w*)\s*\(\s*(\w+)").level(1),
    function(r"(?:\.|%)macro\s+(\w+)").ended(r"(?:\.|%)endm"),
    constant(r"(?:\.equ|\.set|%define|%assign|#define)\s+(\w+)").line(),
    constant(r"(\w+)\s+equ\b").line(),
    function(r"^([A-Za-z_$][\w.$@]*):").level(1),
    function(r"^(\w+)\s+(?:PROC|proc)\b").level(1),
], imports: r"(?:#include|\.include|%include)\s"; aliases: &["asm"], member_extensions: &["s"]);
lined!(COBOL, "cobol", ["cob", "cbl", "cpy", "cobol"], &["*"], [
    class(r"^(?:[\d ]{0,10})PROGRAM-ID\.\s+([\w-]+)").level(0),
    section(r"^(?:[\d ]{7,10})?((?:PROCEDURE|DATA|ENVIRONMENT)\s+DIVISION)\b").level(1),
    section(r"^(?:[\d ]{7,10})?([A-Za-z0-9][\w-]*)\s+SECTION\s*\.").level(2),
    function(r"^(?:[\d ]{7,10})?([A-Za-z][\w-]*|\d[\w-]*[A-Za-z][\w-]*)\s*\.\s*$").level(3),
    constant(r"^[\d ]{0,10}(?:01|77|78)\s+([A-Za-z][\w-]*)").line(),
], imports: r"COPY\s", calls: r"(?:PERFORM|CALL)\s+[\x22']?([A-Za-z0-9][\w-]*)", ignores_case: true);
lined!(FORTRAN, "fortran", ["f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "fpp"], &["!"], [
    class(r"(?:sub)?module\s+(?:\([\w: ]+\)\s*)?(\w+)\s*(?:!.*)?$").ended(r"end\s*(?:sub)?module\b"),
    class(r"program\s+(\w+)").ended(r"end\s*(?:program\b|$)"),
    class(r"block\s*data\s+(\w+)").ended(r"end\b"),
    class(r"type\s*(?:,\s*[\w()]+\s*)*(?:::\s*|\s)(\w+)\s*(?:!.*)?$").ended(r"end\s*type\b"),
    class(r"(?:abstract\s+)?interface\s+(\w+)").ended(r"end\s*interface\b"),
    function(r"(?:(?:recursive|pure|elemental|impure|module|non_recursive)\s+)*subroutine\s+(\w+)")
        .ended(r"end\s*(?:subroutine\b|procedure\b|$)"),
    // After a type, not after the mark of a comment: `c     function f(x)`.
    function(r"(?:\w[\w*=,()]+[\w*=,() ]*\s+)?function\s+(\w+)\s*\(").ended(r"end\s*(?:function\b|procedure\b|$)"),
    constant(r"\w[\w()=, ]*,\s*parameter\b[^:]*::\s*(\w+)"),
], imports: r"(?:use|include)\s", calls: r"(?:call\s+(\w+)|\b([a-z]\w*)\()", ignores_case: true;
    member_extensions: &["f", "for"]);
lined!(GLSL, "glsl", ["glsl", "vert", "frag", "geom", "comp", "tesc", "tese"], SLASHES, [
    C_TYPE,
    C_FUNCTION,
    constant(r"#\s*define\s+(\w+)"),
    constant(r"(?:layout\s*\([^)]*\)\s*)?(?:(?:flat|smooth|centroid|highp|mediump|lowp)\s+)*(?:uniform|in|out|inout|varying|attribute|const|buffer|shared)\s+(?:[\w]+\s+)*?(\w+)\s*(?:\[[^\]]*\])?\s*(?:=.*|;.*|\{)?$"),
], imports: r"#\s*include\s", calls: CALLS);
lined!(HLSL, "hlsl", ["hlsl", "hlsli", "fx", "fxh", "usf", "ush", "cginc", "compute"], SLASHES, [
    class(r"(?:cbuffer|tbuffer)\s+(\w+)"),
    C_TYPE,
    function(r"(?:[\w<>\[\],.]+\s+)+(\w+)\s*\([^;{}=]*(?::\s*\w+\s*)?(?:\{.*)?$"),
    constant(r"#\s*define\s+(\w+)"),
    constant(r"(?:uniform|static|extern|RW\w+(?:<[^>]*>)?|Texture\w+(?:<[^>]*>)?|Sampler\w+)\s+(?:[\w<>]+\s+)*?(\w+)\s*[:;=\[]"),
], imports: r"#\s*include\s", calls: CALLS; member_extensions: &["compute"]);
lined!(LLVM, "llvm", ["ll"], &[";"], [
    function(r"define\s.*?@([\w.$]+)\(").closed(r"\}"),
    declaration(r"declare\s.*?@([\w.$]+)\("),
    class(r"%([\w.]+)\s*=\s*type\b").line(),
    constant(r"@([\w.$]+)\s*=").line(),
], calls: r"call\s.*?@([\w.$]+)\(");
lined!(MOVE, "movelang", ["move"], SLASHES, [
    class(r"module\s+(?:[\w:]+::)?(\w+)"),
    class(r"(?:public\s+)?(?:struct|enum)\s+(\w+)"),
    function(r"(?:public(?:\([^)]*\))?\s+|entry\s+|native\s+|inline\s+|macro\s+)*fun\s+(\w+)"),
    constant(r"const\s+(\w+)"),
], imports: r"(?:public\s+)?use\s", calls: CALLS; member_extensions: &["move"]);
lined!(ODIN, "odin", ["odin"], SLASHES, [
    function(r"^\s*(\w+)\s*::\s*(?:#\w+\s+)?proc\b"),
    class(r"^\s*(\w+)\s*::\s*(?:struct|enum|union|bit_set|bit_field)\b"),
    constant(r"^(\w+)\s*:(?::|=)\s"),
], imports: r"import\s", calls: CALLS);
lined!(PASCAL, "pascal", ["pas", "dpr", "lpr", "dpk"], &["//", "{", "(*"], [
    class(r"(\w+)\s*(?:<[^>]*>\s*)?=\s*(?:packed\s+)?(?:class|record|interface|object)\b.*;\s*$").line(),
    class(r"(\w+)\s*(?:<[^>]*>\s*)?=\s*(?:packed\s+)?(?:class|record|interface|object)\b").closed(r"end\b"),
    // An enumeration: names in brackets, maybe with values, where a constant has an expression.
    class(r"(T\w+)\s*=\s*\(\s*(?:[a-z_]\w*(?:\s*:?=[^,()]+)?\s*,\s*)+(?:[a-z_]\w*(?:\s*:?=[^,()]+)?\s*\)\s*;\s*)?(?:(?://|\{|\(\*).*)?$"),
    class(r"(T\w+)\s*=\s*\(\s*(?:(?://|\{|\(\*).*)?$"),
    declaration(r"(?:procedure|function)\s+(\w+).*;\s*(?:forward|external\b[^;]*);"),
    function(r"(?:class\s+|generic\s+)?(?:procedure|function|constructor|destructor|operator)\s+(?:([\w.<>]+)\.)?(\w+|[+*/<>=-]+)").closed(r"end\b"),
    constant(r"const\s+(\w+)\s*[:=]"),
], imports: r"uses\s", calls: CALLS, headings: [r"interface(?:\s*$|\s+uses\b|\s*(?://|\{|\(\*))", r"implementation\b"], ignores_case: true;
    aliases: &["delphi"]);
lined!(SYSTEM_VERILOG, "systemverilog", ["sv", "svh", "vh"], SLASHES, [
    class(r"(?:macro)?module\s+(?:automatic\s+|static\s+)?(\w+)").ended(r"endmodule\b"),
    class(r"interface\s+(?:automatic\s+|static\s+)?(\w+)").ended(r"endinterface\b"),
    class(r"program\s+(\w+)").ended(r"endprogram\b"),
    class(r"package\s+(?:automatic\s+|static\s+)?(\w+)").ended(r"endpackage\b"),
    class(r"(?:virtual\s+)?class\s+(?:automatic\s+|static\s+)?(\w+)").ended(r"endclass\b"),
    declaration(r"(?:extern|pure|import)\s.*\b(?:function|task)\s+(?:[\w:\[\]$#]+\s+)*?(\w+)\s*[(;]"),
    function(r"(?:(?:virtual|static|protected|local)\s+)*function\s+(?:automatic\s+|static\s+)?(?:[\w:\[\]$#-]+\s+|\[[^\]]*\]\s*)*?(?:(\w+)::)?(\w+|\\\S+)\s*(?:[(;]|$)")
        .ended(r"endfunction\b"),
    function(r"(?:(?:virtual|static|protected|local)\s+)*task\s+(?:automatic\s+|static\s+)?(?:(\w+)::)?(\w+)").ended(r"endtask\b"),
    section(r"covergroup\s+(\w+)").ended(r"endgroup\b"),
    section(r"property\s+(\w+)").ended(r"endproperty\b"),
    section(r"sequence\s+(\w+)").ended(r"endsequence\b"),
    class(r"typedef\s.*[\s\]}](\w+)\s*;").line(),
    class(r"\}\s*(\w+)\s*;").line(),
    constant(r"`define\s+(\w+)").line(),
    constant(r"(?:localparam|parameter)\s+(?:[\w\[\]:$-]+\s+)*?(\w+)\s*=").line(),
], imports: r"(?:`include|import)\s", calls: CALLS; aliases: &["verilog"]);
lined!(VHDL, "vhdl", ["vhd", "vhdl"], DASHES, [
    class(r"entity\s+(\w+)\s+is\b").closed(r"end\b"),
    class(r"architecture\s+(\w+)\s+of\b").closed(r"end\b"),
    class(r"configuration\s+(\w+)\s+of\b").closed(r"end\b"),
    class(r"package\s+(?:body\s+)?(\w+)\s+is\b").closed(r"end\b"),
    declaration(r"(?:(?:pure|impure)\s+)?(?:function|procedure)\s+(\w+|\x22[^\x22]+\x22)(?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*;\s*$"),
    function(r"(?:(?:pure|impure)\s+)?(?:function|procedure)\s+(\w+|\x22[^\x22]+\x22)").closed(r"end\b"),
    class(r"component\s+(\w+)").closed(r"end\b"),
    function(r"(\w+)\s*:\s*(?:postponed\s+)?process\b").closed(r"end\b"),
    class(r"type\s+(\w+)\s+is\s+record\b").closed(r"end\b"),
    class(r"(?:sub)?type\s+(\w+)\s+is\b"),
    constant(r"constant\s+(\w+)\s*:"),
], imports: r"(?:library|use)\s", calls: CALLS, ignores_case: true);
lined!(VLANG, "vlang", ["vv"], SLASHES, [
    class(r"(?:pub\s+)?(?:struct|interface|enum|union|type)\s+(\w+)"),
    function(r"(?:pub\s+)?fn\s+(?:\([^)]*\)\s*)?(?:\w+\.)?(\w+)"),
    constant(r"(?:pub\s+)?(?:const|__global)\s+(\w+)\s*="),
], imports: r"import\s", calls: CALLS; interpreters: &["v"]);
lined!(WGSL, "wgsl", ["wgsl"], SLASHES, [
    function(r"(?:@\w+(?:\([^)]*\))?\s+)*fn\s+(\w+)"),
    class(r"struct\s+(\w+)"),
    class(r"alias\s+(\w+)"),
    constant(r"(?:@\w+(?:\([^)]*\))?\s*)*(?:var(?:<[^>]*>)?|const|override|let)\s+(\w+)"),
], calls: CALLS);
