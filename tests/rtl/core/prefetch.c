/* Instruction lines fetched ahead: programs whose time is known when each line comes LATENCY cycles after its request.
 */
#include <stdio.h>

#include "core/chip.h"
#include "tests/rtl/core/programs.h"

enum { LATENCY = 100, WORDS = 16 /* of a line */, LINES = 96 /* more than the cache of this bench has */ };

static bench_code code;
static unsigned lines; /* that the program uses */

static void nops(unsigned n) {
    for (unsigned i = 0; i < n; i++) code_i(&code, XPU_INSN_ADDI, 8, 8, 1);
}

static void straight_line(void) {
    nops(LINES * WORDS - 1);
    lines = LINES;
}

/* One instruction of each line: each is needed while it is on its way. */
static void first_words(void) {
    for (unsigned i = 0; i < LINES - 1; i++) {
        code_j(&code, 0, 4 * WORDS);
        nops(WORDS - 1);
    }
    lines = LINES;
}

/* Two lines, then a jump to where nothing has been fetched while lines behind are on their way. */
static void far_jumps(void) {
    for (unsigned i = 0; i < LINES / 2; i++) {
        uint32_t begin = code.count;
        nops(WORDS);
        code_j(&code, 0, 4 * 15 * WORDS);
        nops(begin + 16 * WORDS - code.count);
    }
    lines = LINES;
}

/* A loop that fits the cache comes from it. */
static void loop(void) {
    code_i(&code, XPU_INSN_ADDI, 9, 0, 50);
    uint32_t again = code.count;
    nops(40 * WORDS);
    code_i(&code, XPU_INSN_ADDI, 9, 9, -1);
    code_b(&code, XPU_INSN_BEQ, 9, 0, 8);
    code_j(&code, 0, (int32_t)(again - code.count) * 4);
    lines = 41;
}

/* Lines behind the end of memory are asked for and are no fault. */
static void last_lines(void) {
    code_begin(&code, BENCH_GM + BENCH_GM_BYTES - 64 * 3);
    nops(3 * WORDS - 1);
    lines = 3;
}

/* Lines behind fence.i are fetched anew, those on their way too, and ahead again. */
static void fence(void) {
    nops(20 * WORDS - 1);
    code_word(&code, code_match(XPU_INSN_FENCE_I));
    nops(40 * WORDS - 1);
    lines = 60;
}

static const struct {
    const char *name;
    void (*make)(void);
    uint32_t waits;  /* the most cycles that the core waits for lines */
    uint32_t unused; /* the most lines that are fetched and not used */
    uint32_t twice;  /* the most lines that are asked for while they are on their way */
} cases[] = {{"straight-line code", straight_line, LATENCY + 10, 16, 0},
             {"lines needed while they come", first_words, LINES * 10, 16, 0},
             {"jumps while lines come", far_jumps, LINES / 2 * (LATENCY + 10), LINES / 2 * 8 + 16, 0},
             {"a loop in the cache", loop, LATENCY + 10, 16, 0},
             {"last lines of memory", last_lines, LATENCY + 10, 16, 0},
             {"lines behind fence.i", fence, 2 * (LATENCY + 10), 32, 9}};

int bench_prefetch(unsigned index, const char **name) {
    if (index >= sizeof cases / sizeof *cases) return -1;
    *name = cases[index].name;
    int good = 1;
    uint64_t cycles = 0;
    for (int skip = 0; skip < 2; skip++) {
        bench_clear();
        code_begin(&code, BENCH_GM);
        cases[index].make();
        code_word(&code, code_match(XPU_INSN_WFI));
        bench_options options = {.lockstep = 1, .skip = skip, .fetch_latency = LATENCY};
        bench_result result = bench_run(code_end(&code), &options);
        good = good && result.equal && !result.cause && result.fetched_twice <= cases[index].twice &&
               result.lost[XPU_LOST_ICACHE] <= cases[index].waits && result.fetched <= lines + cases[index].unused &&
               (!skip || result.cycles == cycles);
        if (!good)
            printf("%s: %llu cycles, %llu of them wait for lines, %llu lines of %u, %llu twice%s%s\n", *name,
                   (unsigned long long)result.cycles, (unsigned long long)result.lost[XPU_LOST_ICACHE],
                   (unsigned long long)result.fetched, lines, (unsigned long long)result.fetched_twice,
                   result.cause ? ", fault: " : "", result.cause ? xpu_fault_text((xpu_fault_cause)result.cause) : "");
        cycles = result.cycles;
    }
    return good;
}
