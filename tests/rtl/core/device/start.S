/* Start-up code of the test programs: stack at the top of the part of LM that is theirs, result to EXIT, the end. */
    .section .text.start, "ax"
    .globl start
start:
    li sp, 0x1000f000
    call main
    li t0, 0x0200041c
    sw a0, 0(t0)
    wfi
