; Copies words.
%define WORD 8
BUFSIZE equ 4096

%macro save 1
    push %1
%endmacro

; Copies rcx bytes.
copy_words:
    save rbx
.loop:
    dec rcx
    jnz .loop
    ret

fill_words:
    xor rax, rax
    ret
