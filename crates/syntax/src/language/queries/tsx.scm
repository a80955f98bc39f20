; Language: TypeScript with JSX.

; inherits: typescript
; inherits: jsx
