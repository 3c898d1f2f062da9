/* The unit of simulation speed: the bare 32 x 32 array, always busy. */
#include <ctime>

#include "Vbare.h"
#include "verilated.h"

extern "C" double bare_ns_per_cycle(void) {
    VerilatedContext context;
    Vbare bare{&context};
    const unsigned cycles = 100000;
    bare.en = bare.a_valid = 1;
    bare.w_load = 0;
    timespec begin{}, end{};
    for (unsigned i = 0; i < cycles + 1000; i++) {
        if (i == 1000) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        bare.a_row[i & 7] = i * 2654435761u;
        bare.clk = 1;
        bare.eval();
        bare.clk = 0;
        bare.eval();
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return (static_cast<double>(end.tv_sec - begin.tv_sec) * 1e9 + static_cast<double>(end.tv_nsec - begin.tv_nsec)) /
           cycles;
}
