/*
 * The functional chip, inside: what its parts (memory, registers, engines, cores, scheduler) know of each other.
 *
 * One thread runs everything in a fixed schedule: each core in turn until it stalls or has used its quantum, and after
 * each core every descriptor whose waits hold. Nothing depends on time. Register SEED draws other legal schedules.
 */
#ifndef XPU_SIM_FUNC_FUNC_H
#define XPU_SIM_FUNC_FUNC_H

#include <stdint.h>

#include "core/chip.h"
#include "sim/func/core.h"
#include "sim/func/events.h"
#include "sim/func/gdb.h"
#include "sim/func/races.h"

typedef struct xpu_func xpu_func;
typedef struct xpu_func_box xpu_func_box;

/* What the bus of a core knows. */
typedef struct {
    xpu_func *func;
    unsigned core;
} xpu_func_port;

/* The bus of a core (context: its port): registers. */
xpu_bus_result xpu_func_load_register(void *port, uint32_t address, uint32_t *value);
xpu_bus_result xpu_func_store_register(void *port, uint32_t address, uint32_t *value);

/* ---- State ---- */

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
    int64_t *banks[4]; /* accumulators: acc_rows * array_columns each; int32 modes keep them sign-extended */
    void *scratch;     /* buffers of the tensor engine, xpu_func_tensor_scratch bytes */
    const struct xpu_matmul *matmul;

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

    xpu_gdb *gdb;          /* NULL: none */
    xpu_races *races;      /* NULL: nobody looks for them */
    xpurt_counters totals; /* without what the harts count since the last start */
};

/* Whether the caller of the run wants it to end. */
static inline int xpu_func_stopped(const xpu_func *func) {
    return func->stop && func->stop(func->stop_context);
}

/* ---- Parts ---- */

/* The chip of a device that this driver made; for tests. */
xpu_func *xpu_func_of(xpurt_device *device);

/* Host pointer for an engine: GM, L3, SM and LM by 0x11000000, `length` bytes at a 40-bit address; NULL: not there. */
uint8_t *xpu_func_engine_memory(const xpu_func *func, uint64_t address, uint64_t length);

/* The host address of a device address that the chip has. */
static inline uint8_t *xpu_func_host(const xpu_func *func, uint32_t address) {
    return func->space + address;
}

/* Memory: 0, or -1 when the host has none. */
int xpu_func_memory_create(xpu_func *func);
void xpu_func_memory_destroy(xpu_func *func);

void xpu_func_registers_reset(xpu_func *func);

/* Copy-on-write map of a part of a file, see xpurt_device.h. */
int xpu_func_memory_map(xpu_func *func, uint64_t address, int file, uint64_t offset, size_t length);

/* Queues a list; 0: the queue is full. */
int xpu_func_queue_push(xpu_func *func, unsigned engine, unsigned core, uint32_t address, uint32_t count);

/* 0 .. bound - 1 from the sequence that register SEED began. */
static inline uint32_t xpu_func_draw(xpu_func *func, uint32_t bound) {
    func->draws = func->draws * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)func->draws * bound) >> 32);
}

/* Runs every descriptor whose waits hold, until none is left; returns how many. Stops at a fault. With a seed: some of
 * them, in a drawn order. */
uint64_t xpu_func_engines_run(xpu_func *func);

/* Executes the descriptor at `address` now, whatever it waits for, and without its signal: 0; -1: a fault. */
int xpu_func_descriptor_run(xpu_func *func, unsigned engine, uint64_t address);

/* The fault that the descriptor at `address` has now, without executing it: 0: none; -1: it is in func->fault. Of
 * `func` only the chip's sizes and memory are needed. */
int xpu_func_descriptor_check(xpu_func *func, unsigned engine, uint64_t address);

/* Adds to a counter; counts as progress. */
void xpu_func_counter_add(xpu_func *func, unsigned counter, uint32_t value);

/* What a descriptor is executed with; reason is printf text. Engine functions return 0, or -1 after a fault. */
typedef struct {
    xpu_func *func;
    unsigned engine;
    uint64_t address;      /* of the descriptor */
    const uint32_t *words; /* its 32 words */
} xpu_func_job;
int xpu_func_engine_fault(const xpu_func_job *job, xpu_fault_cause cause, uint64_t address, const char *reason, ...)
    __attribute__((format(printf, 4, 5)));

/* As xpu_func_engine_memory for a read or write of a job: bounds, alignment, GM statistics; NULL after a fault. */
uint8_t *xpu_func_job_memory(const xpu_func_job *job, const char *field, uint64_t address, uint64_t length,
                             unsigned alignment, int write);

/* Counts bytes of an engine when the address is in GM. */
void xpu_func_count_gm(xpu_func *func, uint64_t address, uint64_t bytes, int write);

/* A strided box of elements of `bytes` bytes at a 40-bit address. */
struct xpu_func_box {
    uint64_t address;
    uint32_t size[4];
    int32_t stride[4]; /* bytes */
    unsigned bytes;
    int write;
    uint8_t *bytes_at; /* filled in: host address of element 0 */
};

/* Whether the job is only looked at. */
static inline int xpu_func_checks(const xpu_func_job *job) {
    return job->func->extent != XPU_FUNC_EXECUTE;
}

/* Checks alignment and that the whole box is in one memory, counts its bytes. An empty box is fine. */
int xpu_func_job_box(const xpu_func_job *job, xpu_func_box *box, const char *field, unsigned alignment);

/* The next descriptor of a queue that is not empty; NULL: its address is bad. */
const uint32_t *xpu_func_queue_head(const xpu_func *func, const xpu_func_queue *queue, uint64_t *address);

int xpu_func_dma_copy(const xpu_func_job *job);
int xpu_func_dma_fill(const xpu_func_job *job);
int xpu_func_dma_gather(const xpu_func_job *job);
int xpu_func_tensor(const xpu_func_job *job);
size_t xpu_func_tensor_scratch(void);
int xpu_func_post(const xpu_func_job *job);

/* Fills in fault.state: the state of all cores, queues and counters as text. */
void xpu_func_describe(xpu_func *func);

#endif
