; The elements of JSX, in JavaScript and in TypeScript.

; Components, not plain elements.
([
  (jsx_opening_element name: [(identifier) @call (member_expression property: (property_identifier) @call)])
  (jsx_self_closing_element name: [(identifier) @call (member_expression property: (property_identifier) @call)])
]
  (#match? @call "^[A-Z]"))
