/* Writing programs word by word, from the rows of core/isa.def. */
#ifndef XPU_TESTS_RTL_CORE_PROGRAMS_H
#define XPU_TESTS_RTL_CORE_PROGRAMS_H

#include "core/isa.h"
#include "tests/rtl/core/bench.h"

typedef struct {
    uint32_t base, count;
    uint32_t words[65536];
} bench_code;

void code_begin(bench_code *code, uint32_t base);
void code_word(bench_code *code, uint32_t word);
uint32_t code_match(xpu_insn_id id);
void code_r(bench_code *code, xpu_insn_id id, unsigned rd, unsigned rs1, unsigned rs2); /* rm: dynamic */
void code_i(bench_code *code, xpu_insn_id id, unsigned rd, unsigned rs1, int32_t imm);
void code_s(bench_code *code, xpu_insn_id id, unsigned rs2, unsigned rs1, int32_t imm);
void code_b(bench_code *code, xpu_insn_id id, unsigned rs1, unsigned rs2, int32_t distance);
void code_j(bench_code *code, unsigned rd, int32_t distance);
void code_li(bench_code *code, unsigned rd, uint32_t value);
uint32_t code_end(bench_code *code); /* writes it to memory; returns its base */
uint32_t bench_random_float(uint64_t *state);

#endif
