/* Start-up of every core: copies .rodata and .data from GM into its own LM, clears .bss, sets the stack to the top of
 * LM, and enters C. LM_BYTES is a register, so that one library serves every chip. */
    .section .text.start, "ax", @progbits
    .globl xpu_start
    .type xpu_start, @function
xpu_start:
    la      a0, xpu_local_image
    la      a1, xpu_local_begin
    la      a2, xpu_local_end
1:  bgeu    a1, a2, 2f                  # 64 bytes at a time: both ends are multiples of 64
    vsetivli zero, 16, e32, m1, ta, ma
    vle32.v v8, (a0)
    vse32.v v8, (a1)
    addi    a0, a0, 64
    addi    a1, a1, 64
    j       1b
2:  la      a2, xpu_bss_end
    sub     a2, a2, a1                  # bytes, a multiple of 64
    vsetvli t0, zero, e8, m8, ta, ma
    vmv.v.i v8, 0
3:  vsetvli t0, a2, e8, m8, ta, ma      # up to 512 at a time
    vse8.v  v8, (a1)
    add     a1, a1, t0
    sub     a2, a2, t0
    bnez    a2, 3b
4:  li      t0, 0x02000000
    lw      t1, 0x444(t0)               # LM_BYTES
    li      sp, 0x10000000
    add     sp, sp, t1
    li      a0, 0
    csrw    fcsr, a0                    # round to nearest even, flags clear
    call    xpu_core_main
5:  wfi
    j       5b
