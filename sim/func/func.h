/*
 * The functional chip, inside: what its parts (memory, registers, engines, cores, scheduler) know of each other.
 *
 * One thread runs everything in a fixed schedule: each core in turn until it stalls or has used its quantum, and after
 * each core every descriptor whose waits hold. Nothing depends on time.
 */
#ifndef XPU_SIM_FUNC_FUNC_H
#define XPU_SIM_FUNC_FUNC_H

#include <stdint.h>

#include "core/chip.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpurt_device.h"

typedef struct xpu_func xpu_func;
typedef struct xpu_core xpu_core; /* sim/func/core.h */

/* ---- Memory as a core sees it ---- */

typedef struct {
    uint8_t *bytes; /* host address of the first byte */
    uint32_t base;  /* device address of the first byte */
    uint32_t size;  /* bytes; 0: no memory here */
} xpu_func_window;

/* One per core: window[address >> 28] decides; addresses outside of it (registers, other cores' LM) go the slow way. */
typedef struct {
    xpu_func_window window[16];
    xpu_func *func;
    unsigned core;
} xpu_func_port;

/* Host pointer to `length` bytes (at least 1) at `address` in LM, SM, L3 or GM; NULL: try xpu_func_memory, then the
 * registers. */
static inline uint8_t *xpu_func_fast(const xpu_func_port *port, uint32_t address, uint32_t length) {
    const xpu_func_window *w = &port->window[address >> 28];
    uint32_t offset = address - w->base;
    return offset < w->size && length <= w->size - offset ? w->bytes + offset : NULL;
}

/* The same for every memory, other cores' LM included. NULL: no memory is there; then it may be a register. */
uint8_t *xpu_func_memory(const xpu_func_port *port, uint32_t address, uint32_t length);

/* How a register access ends. */
typedef enum {
    XPU_ACCESS_OK,
    XPU_ACCESS_STALL, /* try the same instruction again when the core is run next: return XPU_CORE_STALLED */
    XPU_ACCESS_STOP,  /* done; finish the instruction, then return XPU_CORE_STOPPED */
    XPU_ACCESS_FAULT  /* xpu_func_fault_* is to be called with cause `*value` (xpu_fault_cause) */
} xpu_access;

/* 32-bit accesses to any address outside of the memories; `value` is filled in (FAULT: with the cause). */
xpu_access xpu_func_load_register(xpu_func_port *port, uint32_t address, uint32_t *value);
xpu_access xpu_func_store_register(xpu_func_port *port, uint32_t address, uint32_t value, uint32_t *cause);

/* Records a core's fault, unless there is one already. `code`: of a software abort. The core then returns
 * XPU_CORE_FAULT. */
void xpu_func_core_fault(xpu_func *func, unsigned core, xpu_fault_cause cause, uint32_t pc, uint32_t instruction,
                         uint32_t address);

/* ---- Cores (sim/func/core.h and core*.c) ----
 * The core code provides:
 *     xpu_core *xpu_core_new(xpu_func_port *port, unsigned id, unsigned cores);   NULL: out of memory
 *     void xpu_core_free(xpu_core *core);
 *     void xpu_core_reset(xpu_core *core, uint32_t entry);     registers 0, pc = entry, decoded instructions dropped
 *     xpu_core_stop xpu_core_run(xpu_core *core, uint64_t budget);   at most `budget` instructions
 *     uint64_t xpu_core_instructions(const xpu_core *core);    retired since reset
 *     uint32_t xpu_core_pc(const xpu_core *core);
 * and adds the GM bytes of its loads and stores to *xpu_func_gm_bytes(func, write). */
typedef enum {
    XPU_CORE_BUDGET,  /* the budget is used up */
    XPU_CORE_STALLED, /* a register access stalls; pc is that instruction */
    XPU_CORE_STOPPED, /* an access ended with XPU_ACCESS_STOP; pc is the next instruction */
    XPU_CORE_FAULT    /* xpu_func_core_fault was called */
} xpu_core_stop;

/* Bytes that went between the cores and GM: read (write 0) or written (write 1). */
uint64_t *xpu_func_gm_bytes(xpu_func *func, int write);

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
    uint32_t stall_address; /* register that the core stalls on, or 0 */
    uint64_t instructions_at_progress;
    int at_barrier, barrier_open;
} xpu_func_core_state;

typedef struct {
    uint32_t counter, value, layer;
} xpu_func_ticket;

struct xpu_func {
    xpu_chip chip;
    uint8_t *space; /* 4 GiB of reserved addresses; device address a of LM_ALL, SM, L3, GM is at space + a */
    xpu_func_port ports[XPU_MAX_CORES];
    xpu_core *cores[XPU_MAX_CORES];
    xpu_func_core_state core_state[XPU_MAX_CORES];
    uint32_t counters[XPU_COUNTERS];
    xpu_func_queue queues[XPU_ENGINES][XPU_MAX_CORES];
    unsigned next_queue[XPU_ENGINES]; /* round robin */
    uint32_t seed, watchdog_limit;
    int64_t *banks[4]; /* accumulators: acc_rows * array_columns each; int32 modes keep them sign-extended */
    void *scratch;     /* of the tensor engine, made when first needed */
    size_t scratch_bytes;

    xpu_func_ticket *tickets; /* announced, not complete */
    size_t ticket_count, ticket_capacity;

    int ended, host_call, started, no_memory;
    uint32_t exit_status, host_call_address, abort_code;
    unsigned next_core; /* the core that runs next */
    int progress;       /* something moved since the scheduler looked last */

    xpurt_fault fault; /* cause XPU_FAULT_NONE: none */
    char reason[256];
    char *state_text;

    xpurt_counters totals;
    uint64_t core_gm_bytes[2];
    void (*put)(void *context, char byte);
    void *put_context;
};

/* ---- Parts ---- */

/* Host pointer for an engine: GM, L3, SM and LM by 0x11000000, `length` bytes at a 40-bit address; NULL: not there. */
uint8_t *xpu_func_engine_memory(const xpu_func *func, uint64_t address, uint64_t length);

/* Memory: 0, or -1 when the host has none. */
int xpu_func_memory_create(xpu_func *func);
void xpu_func_memory_destroy(xpu_func *func);

void xpu_func_registers_reset(xpu_func *func);

/* Queues a list; 0: the queue is full. */
int xpu_func_queue_push(xpu_func *func, unsigned engine, unsigned core, uint32_t address, uint32_t count);

/* Runs every descriptor whose waits hold, until none is left; returns how many. Stops at a fault. */
uint64_t xpu_func_engines_run(xpu_func *func);

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

int xpu_func_dma_copy(const xpu_func_job *job);
int xpu_func_dma_fill(const xpu_func_job *job);
int xpu_func_dma_gather(const xpu_func_job *job);
int xpu_func_tensor(const xpu_func_job *job);
int xpu_func_post(const xpu_func_job *job);

/* The state of all cores, queues and counters as text into func->state_text; fills in fault.state. */
void xpu_func_describe(xpu_func *func);

#endif
