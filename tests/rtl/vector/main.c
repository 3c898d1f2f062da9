/*
 * vector_bench: the Verilated processor (scalar core and vector unit) against the functional core, instruction by
 * instruction.
 *   vector_bench test [PROGRAM.elf ...]    directed and random streams, and the ELF files
 *   vector_bench random SEED COUNT         random streams with at least COUNT vector instructions
 *   vector_bench directed FIRST LAST       some of the directed programs
 *   vector_bench run PROGRAM.elf           one program, cycles and lost cycles
 *   vector_bench speed ROUNDS              loops: cycles, simulated ns per cycle
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rtl/core/tally.h"
#include "tests/rtl/bare/bare.h"
#include "tests/rtl/vector/streams.h"

enum { STREAM = 400 };

static void random_streams(uint64_t seed, uint64_t vectors) {
    uint64_t instructions = 0, done = 0, cycles = 0;
    unsigned i = 0;
    for (; done < vectors && failed < 5; i++) {
        char name[64];
        uint32_t entry = stream_random(seed + i, STREAM);
        bench_options options = {.seed = i % 4 ? 1000 + seed + i : 0, .skip = (int)(i & 1), .lockstep = 1};
        bench_result result = bench_run(entry, &options);
        instructions += result.instructions;
        done += result.vectors;
        cycles += result.cycles;
        snprintf(name, sizeof name, "random stream, seed %llu", (unsigned long long)(seed + i));
        count(result.equal, name);
    }
    printf("random: %u streams from seed %llu, %llu instructions, %llu of them vector, %llu cycles\n", i,
           (unsigned long long)seed, (unsigned long long)instructions, (unsigned long long)done,
           (unsigned long long)cycles);
}

static void directed_streams(unsigned first, unsigned last) {
    uint64_t vectors = 0;
    const char *first_of = "";
    for (unsigned i = first; i <= last && failed < 20; i++) {
        char name[64];
        uint32_t entry = stream_directed(i, &first_of);
        if (!entry) break;
        bench_options options = {.lockstep = 1, .seed = i & 1 ? 55 + (uint64_t)i : 0};
        bench_result result = bench_run(entry, &options);
        vectors += result.vectors;
        snprintf(name, sizeof name, "directed program %u, %s and behind", i, first_of);
        count(result.equal && !result.cause, name);
    }
    printf("directed: %llu vector instructions\n", (unsigned long long)vectors);
}

/* The same number of cycles whether quiet ones are skipped or not. */
static void skipping(uint64_t seed) {
    for (unsigned i = 0; i < 10; i++) {
        bench_options options = {.seed = seed + i, .lockstep = 1};
        bench_result all = bench_run(stream_random(seed + i, 100), &options);
        options.skip = 1;
        bench_result some = bench_run(stream_random(seed + i, 100), &options);
        if (all.cycles != some.cycles || some.edges >= all.edges)
            printf("%llu cycles, with skipping %llu in %llu edges\n", (unsigned long long)all.cycles,
                   (unsigned long long)some.cycles, (unsigned long long)some.edges);
        count(all.equal && some.equal && all.cycles == some.cycles && some.edges < all.edges, "skipping");
    }
}

static void speed(unsigned rounds) {
    const char *name = "";
    double bare = bare_ns_per_cycle(100000);
    printf("bare array: %.1f ns a cycle\n", bare);
    for (unsigned i = 0;; i++) {
        uint32_t entry = stream_loop(i, rounds, &name);
        if (!entry) return;
        bench_options options = {.max_cycles = 1u << 30};
        double begin = seconds();
        bench_result result = bench_run(entry, &options);
        double time = seconds() - begin;
        double ns = 1e9 * time / (double)result.edges;
        printf("%-24s %8.2f cycles a round, %6.1f ns a cycle, %5.2f times the bare array\n", name,
               (double)result.cycles / rounds, ns, ns / bare);
    }
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *command = argc > 1 ? argv[1] : "test";
    const char *variable = getenv("XPU_VECTOR_SEED");
    uint64_t seed = variable ? strtoull(variable, NULL, 0) : 1;
    if (strcmp(command, "test") == 0) {
        directed_streams(0, 1000);
        random_streams(seed, 20000);
        skipping(seed);
        elf_programs(argv + 2, argc > 2 ? argc - 2 : 0);
    } else if (strcmp(command, "random") == 0 && argc > 3) {
        random_streams(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
    } else if (strcmp(command, "directed") == 0 && argc > 3) {
        directed_streams((unsigned)strtoul(argv[2], NULL, 0), (unsigned)strtoul(argv[3], NULL, 0));
    } else if (strcmp(command, "run") == 0 && argc > 2) {
        bench_options options = {.lockstep = 1};
        bench_result result = run_elf(argv[2], &options);
        print_result(&result);
        count(result.equal, argv[2]);
    } else if (strcmp(command, "speed") == 0 && argc > 2) {
        speed((unsigned)strtoul(argv[2], NULL, 0));
        return 0;
    } else {
        fprintf(stderr, "usage: vector_bench test [PROGRAM.elf ...] | random SEED COUNT | directed FIRST LAST |\n"
                        "       run PROGRAM.elf | speed ROUNDS\n");
        return 2;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
