/* Shared by the tests of the IR: a graph with its memory, short ways to build, seeded random numbers. */
#ifndef XPU_TESTS_UNIT_IR_H
#define XPU_TESTS_UNIT_IR_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/ops/op.h"
#include "core/passes/verify.h"
#include "tests/unit/unit.h"

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpu_graph *graph;
} bench;

/* Tests run with memory to spare: running out of it ends the program. */
#define BENCH_OPEN(b)                                                                                                  \
    bench b;                                                                                                           \
    memset(&b, 0, sizeof b);                                                                                           \
    xpu_mem_init(&b.mem);                                                                                              \
    if (setjmp(b.mem.out_of_memory)) exit(EXIT_FAILURE);                                                               \
    b.arena = xpu_arena_new(&b.mem, "test");                                                                           \
    xpu_diags_init(&b.diags);                                                                                          \
    b.graph = xpu_graph_new(b.arena, "test", "test.onnx")

static inline void bench_close(bench *b) {
    xpu_diags_clear(&b->diags);
    xpu_mem_release(&b->mem);
}

static inline void bench_print(const bench *b) {
    char text[2048];
    for (size_t i = 0; i < b->diags.count; i++) {
        xpu_diag_text(&b->diags, i, text, sizeof text);
        printf("%s\n", text);
    }
}

static inline xpu_value bench_input(bench *b, const char *name, xpu_dtype dtype, int rank, const int64_t *dims) {
    xpu_dim list[XPU_MAX_RANK];
    for (int i = 0; i < rank; i++) list[i] = xpu_dim_const(&b->graph->dims, dims[i]);
    return xpu_graph_input(b->graph, name, dtype, rank, list);
}

#define DIMS(...)                                                                                                      \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) {                                     \
        __VA_ARGS__                                                                                                    \
    }
#define INTS(name, ...)                                                                                                \
    XPU_ATTR_INTS_OF(name, ((const int64_t[]){__VA_ARGS__}), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline xpu_node bench_node(bench *b, xpu_op_id op, const xpu_value *inputs, uint32_t count,
                                  const xpu_attr *attrs, uint32_t attr_count) {
    return xpu_build(b->graph, (xpu_node){0}, op, inputs, count, NULL, attrs, attr_count, NULL, 0, &b->diags);
}

/* splitmix64 */
typedef struct {
    uint64_t state;
} random_source;

static inline uint64_t random_bits(random_source *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline int64_t random_range(random_source *r, int64_t low, int64_t high) {
    return low + (int64_t)(random_bits(r) % (uint64_t)(high - low + 1));
}

/* Mostly in -2..2, of many magnitudes; some zeros of both signs. */
static inline float random_float(random_source *r) {
    uint64_t bits = random_bits(r);
    float value = ((float)(bits & 0xffffff) - 8388608.0f) / 4194304.0f;
    if ((bits >> 24 & 31) == 0) value *= 0.0f;
    if ((bits >> 29 & 15) == 0) value *= 1e-6f;
    return value;
}

/* The seed of a random test: XPU_SEED, or a fixed one; printed, so that a failure can be replayed. */
static inline random_source random_open(const char *test) {
    const char *text = getenv("XPU_SEED");
    random_source r = {text ? strtoull(text, NULL, 0) : 20240607};
    printf("%s: seed %llu ", test, (unsigned long long)r.state);
    return r;
}

#endif
