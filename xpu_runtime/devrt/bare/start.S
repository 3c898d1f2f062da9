/* Start-up of a bare program: the stack at the top of LM; core 0 calls main(core, cores) and ends the program with what
 * it returns. Other cores call other_main(core, cores) where there is one; then they end. */
    .weak other_main
    .section .text.start, "ax", @progbits
    .globl _start
_start:
    li      t0, 0x02000000
    lw      t1, 0x444(t0)               # LM_BYTES
    li      sp, 0x10000000
    add     sp, sp, t1
    csrw    fcsr, zero                  # round to nearest even, flags clear
    csrr    a0, 0xfc0                   # core_id
    csrr    a1, 0xfc2                   # core_num
    bnez    a0, 2f
    li      t1, 100000000               # core 0 alone: another core may be so late that main has chosen its own limit
    sw      t1, 0x418(t0)               # WATCHDOG_LIMIT: foreign programs do not tell of progress
    call    main
    li      t0, 0x02000000
    fence                               # results are in memory
    sw      a0, 0x41c(t0)               # EXIT
1:  wfi
    j       1b
2:  la      t1, other_main
    beqz    t1, 1b
    jalr    t1
    j       1b
