/* Start-up of a corpus program under QEMU's user mode: LM, SM and L3 of the smallest chip at their addresses, the stack
 * at the top of LM; writes `result` to the standard output. */
    .section .text.start, "ax", @progbits
    .globl  _start
    .macro  map address, length
    li      a0, \address
    li      a1, \length
    li      a2, 3                       # read, write
    li      a3, 0x32                    # private, fixed, anonymous
    li      a4, -1
    li      a5, 0
    li      a7, 222
    ecall
    .endm
_start:
    map     0x10000000, 0x4000
    map     0x20000000, 0x8000
    map     0x40000000, 0x10000
    li      sp, 0x10004000
    csrw    fcsr, zero
    call    main
    bnez    a0, 1f
    li      a0, 1
    la      a1, result
    li      a2, 16 * 256 * 4
    li      a7, 64
    ecall
    li      a0, 0
1:  li      a7, 93
    ecall
