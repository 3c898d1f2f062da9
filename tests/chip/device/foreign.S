/* A test in the form of RISC-V's public instruction tests: case n leaves its number in TESTNUM. FAIL=n breaks case n. */
#include "riscv_test.h"

#ifndef FAIL
#define FAIL 0
#endif

#define CASE(number, expected, ...)                                                                                    \
    li TESTNUM, number;                                                                                                \
    __VA_ARGS__;                                                                                                       \
    li t2, expected + (FAIL == number);                                                                                \
    bne a0, t2, fail

RVTEST_RV32U
RVTEST_CODE_BEGIN
    CASE(2, 0x80000000, li a1, 0x7fffffff; addi a0, a1, 1)
    CASE(3, 0xfffffffe, li a1, 0x7fffffff; li a2, 2; mul a0, a1, a2)
    CASE(4, 42, la a1, word; lw a0, 0(a1))
    CASE(5, 7, la a1, word; li a2, 7; sw a2, 0(a1); lw a0, 0(a1))
    CASE(6, 1, li a1, 3; fcvt.s.w ft0, a1; feq.s a0, ft0, ft0)
    RVTEST_PASS
fail:
    RVTEST_FAIL
RVTEST_CODE_END

    .data
RVTEST_DATA_BEGIN
word: .word 42
RVTEST_DATA_END
