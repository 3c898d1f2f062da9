#include "tests/rtl/bare/bare.h"

#include <ctime>

#include "Vbare.h"
#include "verilated.h"

double bare_now(void) {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

double bare_ns_per_cycle(uint64_t cycles) {
    VerilatedContext context;
    Vbare top{&context};
    uint32_t x = 1;
    top.en = 1;
    for (unsigned k = 0; k < 32; k++) {
        top.w_load = 1;
        top.w_idx = static_cast<SData>(k);
        for (unsigned i = 0; i < 8; i++) top.w_row[i] = x = x * 1664525u + 1013904223u;
        top.clk = 1, top.eval(), top.clk = 0, top.eval();
    }
    top.w_load = 0;
    top.a_valid = 1;
    double start = bare_now();
    for (uint64_t i = 0; i < cycles; i++) {
        for (unsigned k = 0; k < 8; k++) top.a_row[k] = x = x * 1664525u + 1013904223u;
        top.clk = 1, top.eval(), top.clk = 0, top.eval();
    }
    return (bare_now() - start) / static_cast<double>(cycles);
}
