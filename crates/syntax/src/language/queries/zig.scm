; Zig: functions, containers (by the constant they are bound to), fields, constants, tests.

; A function that returns a container is that generic type.
(Decl
  (FnProto function: (IDENTIFIER) @name (ParamDeclList) @parameters)
  (Block (Statement (AssignExpr (ErrorUnionExpr (SuffixExpr (ContainerDecl))))))) @class
(Decl
  (FnProto function: (IDENTIFIER) @name (ParamDeclList) @parameters)
  (Block)? @body) @function
(Decl (FnProto function: (IDENTIFIER) @name (ParamDeclList) . (ErrorUnionExpr) @return .)) @function

(Decl
  (VarDecl
    variable_type_function: (IDENTIFIER) @name
    (ErrorUnionExpr (SuffixExpr [(ContainerDecl) (ErrorSetDecl)])))) @class
(Decl
  (VarDecl
    variable_type_function: (IDENTIFIER) @name
    (BinaryExpr [(ErrorUnionExpr (SuffixExpr (ErrorSetDecl))) (BinaryExpr (ErrorUnionExpr (SuffixExpr (ErrorSetDecl))))]))) @class
(ErrorSetDecl field_constant: (IDENTIFIER) @name @constant)
; const std = @import("std"); is an import only.
((Decl (VarDecl variable_type_function: (IDENTIFIER) @name)) @constant
  (#not-match? @constant "^[^\n;{]*= *@(import|cImport)\\("))

(ContainerField field_member: (IDENTIFIER) @name) @constant
(ContainerField !field_member (ErrorUnionExpr (SuffixExpr variable_type_function: (IDENTIFIER) @name))) @constant

(TestDecl [(STRINGLITERALSINGLE) (IDENTIFIER)] @name (Block) @body) @function.test
(TestDecl . "test" @name . (Block) @body) @function.test

[(doc_comment) (line_comment)] @comment

((Decl (VarDecl (ErrorUnionExpr (SuffixExpr . (BUILTINIDENTIFIER) @_builtin)))) @import
  (#eq? @_builtin "@import"))
((Decl (ErrorUnionExpr (SuffixExpr . (BUILTINIDENTIFIER) @_builtin))) @import
  (#eq? @_builtin "@import"))

(FieldOrFnCall function_call: (IDENTIFIER) @call)
(SuffixExpr . variable_type_function: (IDENTIFIER) @call . (FnCallArguments))

(Statement (VarDecl variable_type_function: (IDENTIFIER) @variable))
