/*
 * The state of the functional chip, which its parts (memory, registers, queues, engines, schedule) share, and the two
 * hooks for guests (gdb/, report/): no part knows more of them.
 *
 * One thread runs everything in a fixed schedule: each core in turn until it stalls or has used its quantum, and after
 * each core every descriptor whose waits hold. Nothing depends on time. Register SEED draws other legal schedules.
 */
#ifndef XPU_SIM_FUNC_FUNC_H
#define XPU_SIM_FUNC_FUNC_H

#include <stdint.h>

#include "core/chip.h"
#include "sim/func/events.h"
#include "sim/func/hart.h"

typedef struct xpu_func xpu_func;

/* What the bus of a core knows. */
typedef struct {
    xpu_func *func;
    unsigned core;
} xpu_func_port;

/* A strided box of elements of `bytes` bytes at a 40-bit address. */
typedef struct {
    uint64_t address;
    uint32_t size[4];
    int32_t stride[4]; /* bytes */
    unsigned bytes;
    int write;
    uint8_t *bytes_at; /* filled in: host address of element 0 */
} xpu_func_box;

/* A list that a doorbell queued: descriptors `done` .. `count` - 1 are to do. */
typedef struct {
    uint32_t address, count, done;
} xpu_func_list;

typedef struct {
    xpu_func_list lists[XPU_QUEUE_DEPTH];
    unsigned first, count;
} xpu_func_queue;

/* Per-core registers. */
typedef struct {
    uint32_t wait_value[XPU_COUNTERS];
    uint32_t doorbell_address[XPU_ENGINES];
    uint32_t layer, ticket_counter, ticket_value;
    uint32_t stall_address;            /* register that the core stalls on, or 0 */
    uint64_t instructions_at_progress; /* or a store to WATCHDOG */
    uint64_t instructions_at_signal;   /* at progress only */
    int at_barrier, barrier_open;
    int idle; /* wfi was executed */
} xpu_func_core_state;

/* Hook 1: a debugger, which stops and steers the chip; context: its own. */
typedef struct {
    void (*start)(void *context); /* after a start, before the first turn */
    /* Before each turn, when it may talk to its client: chooses the core whose turn it is (it should be *core) and
     * shortens *budget, its instructions. */
    void (*before)(void *context, unsigned *core, uint64_t *budget);
    /* After a turn: why the core stopped; moved: whether anything did. */
    void (*after)(void *context, unsigned core, xpu_hart_reason reason, int moved);
    void (*end)(void *context);           /* after the last turn: a fault is not yet reported to the runtime */
    int (*runs_all)(const void *context); /* whether dead locks are looked for: not while single cores run */
    void (*access)(void *context, uint32_t address, uint32_t bytes,
                   int write);      /* of a core; LM as engines address it */
    void (*release)(void *context); /* the chip goes */
} xpu_func_debugger;

struct xpu_func {
    xpu_chip chip;
    uint8_t *space; /* 4 GiB of reserved addresses; device address a of LM_ALL, SM, L3, GM is at space + a */
    xpu_func_port ports[XPU_MAX_CORES];
    xpu_core_bus buses[XPU_MAX_CORES];
    xpu_hart *harts; /* one per core */
    xpu_code *code;  /* all of GM */
    xpu_func_core_state core_state[XPU_MAX_CORES];
    xpu_sim_events events; /* with the counters */
    xpu_func_queue queues[XPU_ENGINES][XPU_MAX_CORES];
    unsigned next_queue[XPU_ENGINES];          /* round robin */
    uint32_t start_seed, seed, watchdog_limit; /* start_seed: what seed is at a start */
    uint32_t draws;                            /* state of the sequence that the seed began */
    int64_t *banks[4]; /* accumulators: acc_rows * array_columns each; int32 modes keep them sign-extended, the 16-bit
                        * modes modulo 2^64 */
    void *scratch;     /* buffers of the tensor engine, xpu_func_tensor_scratch bytes */
    const struct xpu_matmul *matmul;
    const struct xpu_rows *rows;

    int started;
    unsigned next_core; /* the core that runs next */
    uint64_t budget;    /* of this run, 0: none; instructions in it; cycles of engines since the start, at least */
    uint64_t spent, engine_cycles;
    int exhausted;              /* the next descriptor is more than what is left of the budget */
    int progress;               /* something moved since the scheduler looked last */
    int alive;                  /* WATCHDOG was written since then */
    int (*stop)(void *context); /* the caller's hook, or NULL */
    void *stop_context;

    /* How much of a descriptor is executed: all; what is looked at before it begins; that, indices and w_absmax. With
     * the latter two nothing is written, computed or counted. */
    enum { XPU_FUNC_EXECUTE, XPU_FUNC_CHECK_BEGIN, XPU_FUNC_CHECK_ALL } extent;
    /* Is told of every box that a descriptor is going to write; NULL: nobody. */
    void (*writes)(void *context, const xpu_func_box *box);
    void *writes_context;

    xpurt_fault fault; /* cause XPU_FAULT_NONE: none */
    char reason[256];

    const xpu_func_debugger *debugger; /* NULL: none */
    void *debugger_context;
    void (*describe)(xpu_func *func); /* hook 2: fills in fault.state, the state of all cores, queues and counters */

    struct xpu_races *races; /* NULL: nobody looks for them */
    xpurt_counters totals;   /* without what the harts count since the last start */
};

/* Whether the caller of the run wants it to end. */
static inline int xpu_func_stopped(const xpu_func *func) {
    return func->stop && func->stop(func->stop_context);
}

/* The host address of a device address that the chip has. */
static inline uint8_t *xpu_func_host(const xpu_func *func, uint32_t address) {
    return func->space + address;
}

/* 0 .. bound - 1 from the sequence that register SEED began. */
static inline uint32_t xpu_func_draw(xpu_func *func, uint32_t bound) {
    func->draws = func->draws * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)func->draws * bound) >> 32);
}

/* Adds to a counter; counts as progress. */
static inline void xpu_func_counter_add(xpu_func *func, unsigned counter, uint32_t value) {
    func->events.counters[counter] += value;
    func->progress = 1;
}

#endif
