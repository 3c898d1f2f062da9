/*
 * The Verilated core alone, with memories on its ports, in lock-step with the functional core: what the parts of the
 * test bench share. One bench per process.
 */
#ifndef XPU_TESTS_RTL_CORE_BENCH_H
#define XPU_TESTS_RTL_CORE_BENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memories of the bench; those of the core in RTL and of the functional core are different copies. */
enum {
    BENCH_LM = 0x10000000,
    BENCH_SM = 0x20000000,
    BENCH_L3 = 0x40000000,
    BENCH_LM_BYTES = 0x10000,
    BENCH_LM_SHARED = 0xf000, /* from here on, the bench uses LM through the core's outer port */
    BENCH_SM_BYTES = 0x10000,
    BENCH_L3_BYTES = 0x10000,
    BENCH_GM_BYTES = 0x400000,
    BENCH_REGISTERS = 0x02000000,
    BENCH_REGISTER_BYTES = 0x460,
    BENCH_EXIT = 0x41c,
    BENCH_ABORT = 0x420
};
#define BENCH_GM 0x80000000u

typedef struct {
    uint64_t cycle, order;
    uint32_t insn, pc, next;
    uint32_t rd, rd_value, is_float, frd, frd_value;
    uint32_t address, read_mask, write_mask, read_data, write_data;
    uint32_t trap, cause, fault_pc, fault_insn, fault_address;
    /* A vector instruction: what it raised; the register file as it is now (32 x 64 bytes) and the youngest instruction
     * that writes each register, modulo 16. */
    uint32_t vector, fflags, vxsat;
    const void *v;
    const uint8_t *writers;
} bench_retired;

typedef struct {
    uint64_t seed;          /* of delays and of traffic on the outer port of LM; 0: no delay, no traffic */
    int skip;               /* whether quiet cycles are skipped */
    int lockstep;           /* whether each instruction is compared */
    uint32_t fetch_latency; /* cycles from an instruction line's request to its answer, without the delays of a seed */
    uint64_t max_cycles;    /* 0: 20 million */
} bench_options;

typedef struct {
    int equal; /* no difference, and the core ended */
    uint64_t cycles, edges, instructions, vectors;
    uint32_t exit_status; /* what was written to EXIT */
    uint32_t cause;       /* of the fault, 0: none */
    uint64_t lost[32];    /* cycles by lost cause */
    uint64_t fetched,
        fetched_twice; /* instruction lines that were asked for; of those, while the line was on its way */
} bench_result;

/* Both copies of a memory take `size` bytes; the address must be in SM, L3, GM or LM. */
void bench_write(uint32_t address, const void *bytes, size_t size);
/* Zeroes all memories. */
void bench_clear(void);
/* Resets the core, runs it from `entry` until it halts, compares. Differences are printed. */
bench_result bench_run(uint32_t entry, const bench_options *options);

/* The bytes of a memory, NULL where there is none: copy 0 is the RTL's (LM: its contents at the start), 1 the
 * functional core's. */
uint8_t *bench_memory(int copy, uint32_t address, uint32_t size);

/* lockstep.c: the functional core. bench_lockstep_check returns 1 when equal, and prints the first difference. */
void bench_lockstep_start(uint32_t entry);
int bench_lockstep_check(const bench_retired *retired);
/* All vector registers (32 x 64 bytes) after the end. */
int bench_lockstep_end(const void *v);

/* Random numbers. */
uint32_t bench_random(uint64_t *state);

/* Programs: each fills the memories and returns the entry. */
uint32_t bench_random_program(uint64_t seed, unsigned length);
uint32_t bench_float_program(uint64_t seed, unsigned *operations);
uint32_t bench_directed_program(unsigned index, const char **name); /* 0: no such program */
uint32_t bench_elf_program(const char *path);                       /* 0: not a program */

/* prefetch.c: runs a program; 1: as it should be, 0: not, which is printed, -1: no such program. */
int bench_prefetch(unsigned index, const char **name);

#ifdef __cplusplus
}
#endif
#endif
