/*
 * The surroundings of RISC-V's public instruction tests (riscv-tests, isa/), for this chip: a test file says what it
 * needs with RVTEST_RV32U or RVTEST_RV32UF, stands between RVTEST_CODE_BEGIN and RVTEST_CODE_END, keeps the number of
 * the case in TESTNUM, and ends with RVTEST_PASS or RVTEST_FAIL. Here core 0 runs it, and the status of EXIT is 0 or
 * the number of the case that failed; other cores end at once.
 */
#ifndef XPU_BARE_RISCV_TEST_H
#define XPU_BARE_RISCV_TEST_H

/* clang-format off */
#define RVTEST_RV32U
#define RVTEST_RV64U
#define RVTEST_RV32UF
#define RVTEST_RV64UF
#define TESTNUM gp
#define EXTRA_DATA

#define RVTEST_CODE_BEGIN                                                                                              \
    .section .text.init, "ax", @progbits;                                                                              \
    .globl _start;                                                                                                     \
    _start: csrr t0, 0xfc0;        /* core_id */                                                                       \
    bnez t0, xpu_bare_end;                                                                                             \
    csrw fcsr, zero;                                                                                                   \
    li TESTNUM, 0;
#define RVTEST_CODE_END                                                                                                \
    xpu_bare_exit: li t0, 0x02000000;                                                                                  \
    fence;                                                                                                             \
    sw a0, 0x41c(t0);              /* EXIT */                                                                          \
    xpu_bare_end: wfi;                                                                                                 \
    j xpu_bare_end;
#define RVTEST_PASS                                                                                                    \
    fence;                                                                                                             \
    li a0, 0;                                                                                                          \
    j xpu_bare_exit;
#define RVTEST_FAIL                                                                                                    \
    fence;                                                                                                             \
    mv a0, TESTNUM;                                                                                                    \
    j xpu_bare_exit;
#define RVTEST_DATA_BEGIN EXTRA_DATA .align 4;
#define RVTEST_DATA_END   .align 4;

#endif
