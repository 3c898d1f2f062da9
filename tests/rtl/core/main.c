/*
 * core_bench: the Verilated scalar core against the functional core.
 *   core_bench test [PROGRAM.elf ...]   directed, random and float programs, and the ELF files
 *   core_bench random SEED COUNT        random programs
 *   core_bench float SEED COUNT         tables of float operands
 *   core_bench run PROGRAM.elf          one program, cycles and lost cycles
 *   core_bench speed PROGRAM.elf CYCLES simulated cycles per second without comparison
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rtl/core/tally.h"

static void random_programs(uint64_t seed, unsigned programs) {
    uint64_t instructions = 0, cycles = 0;
    for (unsigned i = 0; i < programs; i++) {
        char name[64];
        uint32_t entry = bench_random_program(seed + i, 300);
        bench_options options = {
            .seed = i % 4 ? 1000 + seed + i : 0, .skip = (int)(i & 1), .lockstep = 1, .fetch_latency = i % 5 ? 0 : 100};
        bench_result result = bench_run(entry, &options);
        instructions += result.instructions;
        cycles += result.cycles;
        snprintf(name, sizeof name, "random program, seed %llu", (unsigned long long)(seed + i));
        count(result.equal, name);
    }
    printf("random: %u programs from seed %llu, %llu instructions, %llu cycles\n", programs, (unsigned long long)seed,
           (unsigned long long)instructions, (unsigned long long)cycles);
}

static void float_programs(uint64_t seed, unsigned programs) {
    unsigned triples = 0, each = 0;
    uint64_t cycles = 0;
    for (unsigned i = 0; i < programs; i++) {
        char name[64];
        uint32_t entry = bench_float_program(seed + i, &each);
        bench_options options = {.lockstep = 1};
        bench_result result = bench_run(entry, &options);
        triples += each;
        cycles += result.cycles;
        snprintf(name, sizeof name, "float operands, seed %llu", (unsigned long long)(seed + i));
        count(result.equal, name);
    }
    printf("float: %u operand triples from seed %llu, 22 operations each, %llu cycles\n", triples,
           (unsigned long long)seed, (unsigned long long)cycles);
}

static void directed_programs(void) {
    const char *name = "";
    for (unsigned i = 0;; i++) {
        uint32_t entry = bench_directed_program(i, &name);
        if (!entry) break;
        bench_options options = {.lockstep = 1};
        count(bench_run(entry, &options).equal, name);
        for (unsigned k = 1; k < 10; k++) {
            bench_directed_program(i, &name);
            options.seed = 99 * k + i;
            options.fetch_latency = k % 3 ? 0 : 100;
            count(bench_run(entry, &options).equal, name);
        }
    }
}

static void prefetching(void) {
    const char *name = "";
    for (unsigned i = 0;; i++) {
        int good = bench_prefetch(i, &name);
        if (good < 0) return;
        count(good, name);
    }
}

/* The same number of cycles whether quiet ones are skipped or not. */
static void skipping(uint64_t seed) {
    for (unsigned i = 0; i < 20; i++) {
        bench_options options = {.seed = seed + i, .lockstep = 1, .fetch_latency = i % 3 ? 30 : 100};
        bench_result all = bench_run(bench_random_program(seed + i, 100), &options);
        options.skip = 1;
        bench_result some = bench_run(bench_random_program(seed + i, 100), &options);
        uint64_t lost = 0;
        for (unsigned k = 0; k < 32; k++) lost += some.lost[k];
        if (all.cycles != some.cycles || some.edges >= all.edges || lost != some.cycles)
            printf("%llu cycles, with skipping %llu in %llu edges, causes %llu\n", (unsigned long long)all.cycles,
                   (unsigned long long)some.cycles, (unsigned long long)some.edges, (unsigned long long)lost);
        count(all.equal && some.equal && all.cycles == some.cycles && some.edges < all.edges && lost == some.cycles &&
                  memcmp(all.lost, some.lost, sizeof all.lost) == 0,
              "skipping");
    }
}

static void speed(const char *path, uint64_t cycles) {
    bench_options options = {.max_cycles = cycles};
    double begin = seconds();
    bench_result result = run_elf(path, &options);
    double time = seconds() - begin;
    print_result(&result);
    printf("%.2f million cycles per second, %.1f ns per cycle\n", 1e-6 * (double)result.edges / time,
           1e9 * time / (double)result.edges);
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *command = argc > 1 ? argv[1] : "test";
    const char *variable = getenv("XPU_CORE_SEED");
    uint64_t seed = variable ? strtoull(variable, NULL, 0) : 1;
    if (strcmp(command, "test") == 0) {
        directed_programs();
        prefetching();
        random_programs(seed, 400);
        skipping(seed);
        float_programs(seed, 29);
        elf_programs(argv + 2, argc > 2 ? argc - 2 : 0);
    } else if (strcmp(command, "random") == 0 && argc > 3) {
        random_programs(strtoull(argv[2], NULL, 0), (unsigned)strtoul(argv[3], NULL, 0));
    } else if (strcmp(command, "float") == 0 && argc > 3) {
        float_programs(strtoull(argv[2], NULL, 0), (unsigned)strtoul(argv[3], NULL, 0));
    } else if (strcmp(command, "run") == 0 && argc > 2) {
        bench_options options = {.lockstep = 1};
        bench_result result = run_elf(argv[2], &options);
        print_result(&result);
        count(result.equal, argv[2]);
    } else if (strcmp(command, "speed") == 0 && argc > 3) {
        speed(argv[2], strtoull(argv[3], NULL, 0));
        return 0;
    } else {
        fprintf(stderr, "usage: core_bench test [PROGRAM.elf ...] | random SEED COUNT | float SEED COUNT |\n"
                        "       run PROGRAM.elf | speed PROGRAM.elf CYCLES\n");
        return 2;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
