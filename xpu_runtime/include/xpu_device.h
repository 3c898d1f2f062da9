/*
 * XPU C: what device code says to the chip. Freestanding C for the cores.
 *
 * Order comes only from counters, the barrier and mfence (docs/chip.md). Counters only grow; a wait names the value
 * that a counter must have reached. Who uses which counter is fixed in XPU_COUNTER_* below.
 */
#ifndef XPU_DEVICE_H
#define XPU_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "core/chip.def"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_kernels.h"
#include "xpu_runtime/include/xpu_tiling.h"

/* ---- Descriptors ---- */
/* The word of a descriptor's field. */
#define WORD_OF(kind, name, word, bit, width, hi, type, doc) WORD_##kind##_##name = word,
enum { XPU_DESC_FIELDS(WORD_OF) };
#undef WORD_OF
/* Sets an address of 32 bits; the template has no high bits. Nothing is read of what was just copied. */
#define SET_ADDRESS(words, kind, name, value) ((words)[WORD_##kind##_##name] = (value))

static inline uint32_t xpu_bytes_of_type(uint32_t type) {
    return type == XPU_TYPE_F32 || type == XPU_TYPE_I32 ? 4 : type == XPU_TYPE_I16 ? 2 : 1;
}

/* ---- Counters and who signals them ---- */
enum {
    XPU_COUNTER_CALL = 0,         /* core 0: +1 for each core kernel that it published in the mailboxes */
    XPU_COUNTER_DONE = 1,         /* each core: +1 when its share of a core kernel is done */
    XPU_COUNTER_LOAD = 2,         /* DMA0, lists of layers: operands are in SM */
    XPU_COUNTER_TENSOR = 3,       /* tensor engine, lists of layers */
    XPU_COUNTER_STORE = 4,        /* DMA1, lists of layers: results are in L3 or GM */
    XPU_COUNTER_COPY = 5,         /* DMA0, copies and fills of layers */
    XPU_COUNTER_HOST = 6,         /* core 0: +1 when a host call has returned */
    XPU_COUNTER_WINDOW = 7,       /* window engine, lists of layers */
    XPU_COUNTER_WINDOW_STORE = 8, /* DMA1, results of layers on the window engine */
    XPU_COUNTER_ARGS = 9,         /* DMA0, arguments of layers for core 0 */
    /* Lists that are made before the start: + LOAD, TENSOR, STORE, WINDOW, and WINDOW_STORE in the place of COPY. */
    XPU_COUNTER_LISTS = 8,
    XPU_COUNTER_CORE_LOAD = 16, /* + core: that core's own loads (DMA0) */
    XPU_COUNTER_CORE_STORE = 32 /* + core: that core's own stores (DMA1) */
};

/* Of layers that are recorded together: where a product and the windows over its result meet in SM, rows being 0 where
 * none comes before the windows, and where these and a product of their pixels do, slots being 0 where none does. */
struct xpu_row_ring {
    xpu_tiling_ring_scratch at; /* addresses */
    int32_t rows, columns;
    xpu_ticket (*free)(int32_t row, int32_t block); /* when rows from this one on have room; set by the windows */
    int32_t slots, readers;                         /* of the windows' results; descriptors that read one */
    xpu_ticket (*made)(int32_t row, int32_t end);   /* when the step that begins there has the channels before `end` */
};

/* On the host, where a kernel runs for the descriptors that it queues, xpu_runtime/program/record.c has these. */
#ifndef __riscv
enum { XPU_RECORDED = 1 };
struct xpu_row_ring *xpu_recorded_ring(void);
struct xpu_row_ring *
xpu_recorded_slots(void);     /* of a product behind the windows: where its input is; 0: there is none */
int xpu_recorded_alone(void); /* no other layer is recorded with it */
int xpu_recorded_apart(void); /* what the layer has of SM is free before the layer before it ends */
uint32_t xpu_reg_load(uint32_t offset);
void xpu_wait(xpu_ticket ticket);
void xpu_abort(uint32_t code);
uint32_t xpu_lm_address(const void *pointer);
uint32_t *xpu_record(uint32_t engine, const uint32_t *template);
void xpu_record_bell(uint32_t engine);
#else
enum { XPU_RECORDED = 0 };
static inline struct xpu_row_ring *xpu_recorded_ring(void) {
    return 0;
}
static inline struct xpu_row_ring *xpu_recorded_slots(void) {
    return 0;
}
static inline int xpu_recorded_alone(void) {
    return 0;
}
static inline int xpu_recorded_apart(void) {
    return 0;
}

/* ---- Registers ---- */
static inline uint32_t xpu_reg_load(uint32_t offset) {
    return *(volatile uint32_t *)(XPU_REGS_BASE + offset);
}
static inline void xpu_reg_store(uint32_t offset, uint32_t value) {
    *(volatile uint32_t *)(XPU_REGS_BASE + offset) = value;
}

/* All earlier loads and stores of this core are done before any later one. */
static inline void mfence(void) {
    __asm__ volatile("fence" ::: "memory");
}

#define XPU_CSR_READ(number)                                                                                           \
    ({                                                                                                                 \
        uint32_t value_;                                                                                               \
        __asm__ volatile("csrr %0, %1" : "=r"(value_) : "i"(number));                                                  \
        value_;                                                                                                        \
    })
static inline uint32_t core_id(void) {
    return XPU_CSR_READ(XPU_CSR_CORE_ID);
}
static inline uint32_t cluster_id(void) {
    return XPU_CSR_READ(XPU_CSR_CLUSTER_ID);
}
static inline uint32_t core_num(void) {
    return XPU_CSR_READ(XPU_CSR_CORE_NUM);
}

/* Adds to a counter; earlier stores of this core are visible to whoever sees the sum. */
static inline void xpu_signal(uint32_t counter, uint32_t amount) {
    mfence();
    xpu_reg_store(XPU_REG_COUNTER + XPU_REG_COUNTER_STRIDE * counter, amount);
}

/* Blocks this core until the ticket's counter has reached its value. */
static inline void xpu_wait(xpu_ticket ticket) {
    xpu_reg_store(XPU_REG_WAIT_VALUE + XPU_REG_WAIT_VALUE_STRIDE * ticket.counter, ticket.value);
    (void)xpu_reg_load(XPU_REG_WAIT + XPU_REG_WAIT_STRIDE * ticket.counter);
    __asm__ volatile("" ::: "memory");
}

/* Returns when every core of the cluster has called it. */
static inline void sync_cluster(void) {
    mfence();
    (void)xpu_reg_load(XPU_REG_BARRIER);
    __asm__ volatile("" ::: "memory");
}

/* Tells the watchdog that a long computation without DMA goes on. */
static inline void xpu_alive(void) {
    xpu_reg_store(XPU_REG_WATCHDOG, 1);
}

/* Ends the program with a reported fault. */
static inline void xpu_abort(uint32_t code) {
    xpu_reg_store(XPU_REG_ABORT, code);
    for (;;) {
        __asm__ volatile("wfi");
    }
}
#endif

/* Part `tid` of `parts` of 0 .. total - 1, in multiples of `grain`: [*begin, *end). */
static inline void partition(uint32_t tid, uint32_t parts, uint32_t total, uint32_t grain, uint32_t *begin,
                             uint32_t *end) {
    uint32_t grains = (total + grain - 1) / grain;
    uint32_t each = grains / parts, more = grains % parts;
    uint32_t first = each * tid + (tid < more ? tid : more);
    uint32_t last = first + each + (tid < more ? 1 : 0);
    *begin = first * grain < total ? first * grain : total;
    *end = last * grain < total ? last * grain : total;
}

/* ---- Local memory ---- */

#ifdef __riscv
/* An LM pointer of this core as engines address it. */
static inline uint32_t xpu_lm_address(const void *pointer) {
    return (uint32_t)(uintptr_t)pointer - XPU_LM_BASE + XPU_LM_ALL_BASE + core_id() * XPU_LM_ALIAS_STRIDE;
}
#endif

/* The part of LM that a kernel may use: from the end of .bss to the stack. 64-byte aligned. */
uint8_t *xpu_lm_begin(void);
uint32_t xpu_lm_bytes(void);

/* ---- This core's own DMA: 2-D copies between LM and any other memory ----
 * Each call queues one descriptor and returns its ticket; transfers of one direction complete in order. At most
 * XPU_RING descriptors of each direction are under way; a call waits for room. */
enum { XPU_RING = 4 };
xpu_ticket xpu_load_2d(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t row_bytes,
                       uint32_t rows);
xpu_ticket xpu_store_2d(uint32_t target, int32_t target_stride, const void *lm, int32_t lm_stride, uint32_t row_bytes,
                        uint32_t rows);
/* As xpu_load_2d, once `after` is true. */
xpu_ticket xpu_load_2d_after(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t row_bytes,
                             uint32_t rows, xpu_ticket after);
/* The same of `count` elements a row, of `element` bytes each (1, 2, 4 or 8), dense in a row; the store has one row. */
xpu_ticket xpu_load_elements(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t count,
                             uint32_t rows, uint32_t element);
xpu_ticket xpu_store_elements(uint32_t target, const void *lm, uint32_t count, uint32_t element);
/* Dense copies; bytes is a multiple of 4. */
xpu_ticket GM2LM(void *lm, uint32_t source, uint32_t bytes);
xpu_ticket LM2GM(uint32_t target, const void *lm, uint32_t bytes);
/* From GM or L3 into SM, without passing a core. */
xpu_ticket GM2SM(uint32_t sm, uint32_t source, uint32_t bytes);

/* A load by a descriptor of the caller's own (XPU_DESC_WORDS, in LM), which signals this core's counter of loads by 1
 * and stays until it is done. */
xpu_ticket xpu_load_box(uint32_t *words);
/* Such a descriptor, of words side by side, but for source, target, size2 and size3. Before any other load. */
void xpu_load_template(uint32_t *words);

/* From any memory to any memory but LM: `count` rows, list[i] rows behind `source`, side by side to `target`; a row has
 * `units` elements of `unit` bytes (1, 2 or 4). A store: `list` and `words` (XPU_DESC_WORDS of them), in LM, are used
 * until it is done. */
xpu_ticket xpu_gather_rows(uint32_t *words, uint32_t target, uint32_t source, const uint32_t *list, uint32_t count,
                           uint32_t units, uint32_t unit);

/* Called once, before all others. */
void xpu_dma_begin(void);
/* Returns when all of this core's own transfers are done. Called after each share of a core kernel. */
void xpu_dma_drain(void);

/* ---- Work of whole layers, called by core 0 ---- */

#ifdef __riscv
/* Queues `count` descriptors (32 words each, in this core's LM) on an engine. They must stay until they are done. */
static inline void xpu_enqueue(uint32_t engine, const uint32_t *descriptors, uint32_t count) {
    mfence();
    xpu_reg_store(XPU_REG_DOORBELL_ADDRESS + XPU_REG_DOORBELL_ADDRESS_STRIDE * engine, xpu_lm_address(descriptors));
    xpu_reg_store(XPU_REG_DOORBELL_COUNT + XPU_REG_DOORBELL_COUNT_STRIDE * engine, count);
}
#endif

/* The ticket of the `amount`-th signal from now on `counter`, which only core 0's descriptors use. */
xpu_ticket xpu_expect(uint32_t counter, uint32_t amount);

/* ---- Layers that overlap ----
 * A kernel on an engine may return while it still has descriptors to queue: core 0 queues them later, step by step, at
 * the latest when the next kernel begins. A kernel on the cores that reads such a result can begin before it is
 * complete, row by row; the memory plan must allow it (xpu_codegen). A layer that xpu_layers_ahead marks is called
 * while core 0 waits within xpu_run_on_cores of the layer before: it may only queue, behind that layer's ticket. */

/* When rows of a result are complete: rows 0 .. n * rows - 1 of image i when `counter` has reached base + signals * (i
 * * steps + n). counter XPU_NO_COUNTER: everything is there. columns, where it is not 0: each of the signals of such
 * rows is for so many channels, from the first on. */
struct xpu_progress {
    uint32_t counter, base, signals, rows, steps, columns;
};

/* Called by a kernel before it returns: step() queues some more, 0: nothing is left. y: device address of the result.
 */
void xpu_continue_later(int (*step)(void), uint32_t layer, uint32_t y, const struct xpu_progress *progress);
/* Queues all that is left; every kernel begins with it. */
void xpu_finish_queueing(void);
/* Hands what layer `layer`, which makes `y`, has not queued over to the caller, who queues it by calling the function
 * that this returns until that gives 0; 0 when the layer does not continue. */
int (*xpu_take_over(uint32_t layer, uint32_t y, struct xpu_progress *progress))(void);
/* Called by a kernel that has queued all of layer `layer`, the next one, too: that is not called, and complete at
 * `ticket`.
 */
void xpu_needs_no_call(uint32_t layer, xpu_ticket ticket);
/* The ticket of the last layer on the tensor or window engine that was called: what it has of SM is free then. */
extern xpu_ticket xpu_engines_done;
/* The progress of what layer `layer` makes at address `y`; 0 when it does not continue. */
int xpu_find_progress(uint32_t layer, uint32_t y, struct xpu_progress *progress);
/* On a core, within a kernel: when rows of its operand are there. */
const struct xpu_progress *xpu_call_progress(void);

/* Runs function(args, core, cores) on every core after ticket `after`; returns the ticket of the last one's end. Core
 * 0's own share runs before this returns. `args` must lie in memory that all cores see (GM, SM). */
typedef void (*xpu_core_function)(const void *args, uint32_t core, uint32_t cores);
/* The same for an operand that comes row by row: cores begin at once and wait for rows; core 0 first queues what is
 * left of the layer that makes them, and begins after `after`. */
xpu_ticket xpu_run_on_cores_behind(xpu_core_function function, const void *args, xpu_chain_body body, uint32_t layer,
                                   xpu_ticket after, const struct xpu_progress *progress);
xpu_ticket xpu_run_on_cores(xpu_core_function function, const void *args, uint32_t layer, xpu_ticket after);
/* The same with a function pointer for the function (chain bodies). */
xpu_ticket xpu_run_on_cores_with(xpu_core_function function, const void *args, xpu_chain_body body, uint32_t layer,
                                 xpu_ticket after);
/* The layer whose kernel this core runs. */
extern uint32_t xpu_layer_now;
/* The body that the call was given, on each core. */
xpu_chain_body xpu_call_body(void);

#endif
