/*
 * Descriptor lists that are made before a program starts. A kernel that only queues descriptors from templates
 * (xpu_runtime/kernels/rings.h) runs here on the host: what it would queue on the chip, core by core step, becomes
 * three lists in GM, which core 0 hands to the engines by three doorbells (kernel engine_lists). Same source, same
 * descriptors.
 *
 * Lists have counters of their own, so that the values that descriptors wait for are known: those that all lists of the
 * layers before have signalled. Two layers with lists that follow each other wait for each other by these alone; behind
 * another layer core 0 queues a nop with that one's ticket in front of the loads.
 */
#ifndef XPU_PROGRAM_RECORD_H
#define XPU_PROGRAM_RECORD_H

#include "base/arena.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

/* Descriptors that the lists of layers made together, and those of a program, may have: where there are
 * more, each has more work, in which core 0 makes the next ones; and the places of parameters that come with the
 * former. */
enum { XPU_MOST_LISTED = 16384, XPU_MOST_LISTED_OF_ALL = 262144, XPU_LISTED_PARAMETERS = 3 };

/* Layers that may have lists together. */
enum { XPU_LISTED_TOGETHER = 3, XPU_MOST_SLOTS = 3 };

enum { XPU_RECORDED_COUNTERS = 9, XPU_LISTS_WORDS = sizeof(struct xpu_pipeline_lists_args) / sizeof(uint32_t) };

/* Bytes `first` to first + bytes - 1 of what is copied from a slow memory to a fast one: there they lie side by side,
 * in the slow one in runs. */
typedef struct {
    uint32_t from, to, row_bytes, pitch; /* of byte 0; row_bytes: of a run */
    uint32_t first, bytes;
} xpu_recorded_move;

/* moves: what is to be fetched for later layers; copies: what layers before have fetched for these. */
typedef struct {
    const xpu_recorded_move *moves;
    uint32_t move_count;
    const xpu_recorded_move *copies;
    uint32_t copy_count;
} xpu_recorded_moves;

/* Copies that so many loads may have among them, wherever these first wait for the layer before: what of SM a run has
 * decides that. */
uint32_t xpu_most_copies(const xpu_recorded_moves *moves, uint32_t loads);

/* What layers that are recorded together have of SM, and their ticket. */
typedef struct {
    uint64_t begin, end; /* addresses; end 0: there are no such layers */
    uint32_t done_counter, done_value;
} xpu_recorded_scratch;

/* Where the lists of a program stand before a layer. Begins as zeros. */
typedef struct {
    const xpu_recorded_moves *moves;         /* of the layers that are recorded next; NULL: none */
    uint32_t signals[XPU_RECORDED_COUNTERS]; /* of each counter, by all lists before */
    uint32_t after;                          /* the last layer with lists, plus 1; 0: there was none */
    uint32_t done_counter, done_value;       /* its ticket */
    xpu_recorded_scratch last, earlier;      /* of the layers that were recorded last, and before these */
    const uint32_t *words;                   /* the lists of the layers that were recorded last, without parameters */
    uint32_t count;                          /* of their descriptors */
    uint32_t begun[XPU_RECORDED_COUNTERS];   /* signals by the lists before them */
    int is_run; /* addresses are those of a run of all layers: waits are as fine as these allow (record_waits.h) */
} xpu_recording;

/* A layer that is recorded: its kernel, that one's arguments, its number. */
typedef struct {
    const char *kernel;
    const uint32_t *words;
    uint32_t layer;
} xpu_recorded_call;

/* A layer's lists as they lie in memory: a place for the parameters of the post-processor, loads, what the engine
 * computes, stores; XPU_DESC_WORDS each. Of two or three layers that are recorded together: the parameters of all, the
 * loads of all, what each engine computes, the stores of all, in the places of all. */
typedef struct {
    struct xpu_pipeline_lists_args args; /* but for `late`; lists: where they will lie */
    const uint32_t *words;               /* NULL: they are with those of the layer before */
    uint32_t places;                     /* descriptors of the layer, plus 1 */
} xpu_recorded;

/* Words of the arguments of a kernel that can be recorded; 0: it cannot. */
uint32_t xpu_recorded_words(const char *kernel);
/* Whether a call is recorded together with that of the layer before; dumps: that one's result is wanted, which may else
 * stay in SM. */
int xpu_is_recorded_with(const xpu_recorded_call *call, const xpu_recorded_call *before, int dumps);

/* Whether a product is recorded together with the windows before it, and the product that these are recorded with. */
int xpu_is_recorded_behind(const xpu_recorded_call *call, const xpu_recorded_call *windows, int dumps);

/* Records one layer, or two or three of which one follows the other: `address` is where their lists will lie, `columns`
 * the width of the array. NULL, or why there are no lists: arguments that no compiler makes, or more than `most`
 * places; then `recording` is as before. */
const char *xpu_record_layers(const xpu_recorded_call *calls, uint32_t count, uint32_t address, uint32_t columns,
                              uint32_t most, xpu_arena *arena, xpu_recording *recording, xpu_recorded *recorded);

#endif
