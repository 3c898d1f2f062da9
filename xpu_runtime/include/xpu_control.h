/*
 * Control flow of a program: the words of the plan table that its steps have (xpu_runtime/program/program.h), and what
 * the generated C says between ranges of layers. Addresses are 0 where there is nothing to read or write.
 */
#ifndef XPU_CONTROL_H
#define XPU_CONTROL_H

#include <stdint.h>

/* In the control block: what xpu_program says is run, not a range of layers. */
#define XPU_WHOLE_PROGRAM 0xffffffffu

struct xpu_if_words {
    uint32_t condition; /* address of a bool */
};

struct xpu_loop_words {
    uint32_t iteration;        /* that runs, from 0 */
    uint32_t iteration_result; /* address of the body's argument, an int64 */
    uint32_t count_result;     /* address of the int64 that counts iterations */
    uint32_t trips;            /* address of an int64 */
    uint32_t first, again;     /* addresses of bools: whether there is a first iteration, and another one */
};

struct xpu_set_words {
    int32_t value;   /* of the symbol; until it is set its upper bound */
    uint32_t result; /* address of the integer that says it, of `bytes` bytes: 4 or 8 */
    uint32_t bytes;
    int32_t min, max; /* of its range */
};

/* Codes of software aborts by control: one of these, plus the number of the symbol or of the guard. */
enum {
    XPU_ABORT_SYMBOL = 0x10000,
    XPU_ABORT_GUARD = 0x20000,
    XPU_ABORT_TRIPS = 0x30000,
    XPU_ABORT_CONTROL_END = 0x40000
};

/* The same by kernels: an index lies outside its dim. This, plus its place in the list of indices. */
enum { XPU_ABORT_INDEX = 0x40000000, XPU_ABORT_INDEX_MOST = 0x3fffffff };

/* Runs layers first .. last, each after the one before; they are complete when it returns. */
void xpu_run_layers(uint32_t first, uint32_t last);
/* The bool at a device address; 1 where there is none. */
int xpu_condition(uint32_t address);
/* How many iterations a loop has at most. */
int32_t xpu_loop_trips(const struct xpu_loop_words *loop);
/* Whether the loop goes on with this iteration; says which it is, and behind the last one how many there were. */
int xpu_loop_goes_on(struct xpu_loop_words *loop, int32_t iteration, int32_t trips);
/* Takes a symbol's value from where it was computed; aborts where it is out of range. */
int32_t xpu_set_symbol(struct xpu_set_words *words, uint32_t symbol);
/* Aborts where they differ. */
void xpu_check_guard(uint32_t guard, int32_t a, int32_t b);

/* Expressions of dims, as core/ir/dim.h evaluates them: division rounds down, by zero it gives 0. */
static inline int32_t xpu_floordiv(int32_t a, int32_t b) {
    if (b == 0) return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int32_t xpu_floormod(int32_t a, int32_t b) {
    return b == 0 ? 0 : a - xpu_floordiv(a, b) * b;
}
static inline int32_t xpu_smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}
static inline int32_t xpu_larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}

#endif
