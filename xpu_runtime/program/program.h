/*
 * A compiled program as the .xpu file carries it: an ELF32 RISC-V executable whose extra sections hold the metadata
 * (.xpu.program) and the lowered graph (.xpu.graph, left out by --strip), and whose weights are a page-aligned segment
 * appended after linking. The writer and the checked reader share this one description.
 */
#ifndef XPU_PROGRAM_H
#define XPU_PROGRAM_H

#include "base/hash.h"
#include "core/ir/graph.h"
#include "xpu_runtime/include/xpu_control.h"
#include "xpu_runtime/program/packing.h"

enum { XPU_PROGRAM_VERSION = 8, XPU_PROGRAM_MAX_SYMBOLS = 256 };
/* Inputs of at most so many integers may define symbols. */
enum { XPU_PROGRAM_MAX_ELEMENTS = 16 };

/* Limits of a program at every shape: bytes of a buffer and elements of a value, and what a layer computes. Those of
 * all layers add up in 64 bits. The reader checks them at the smallest shape, the runtime at those that are bound. */
#define XPU_PROGRAM_MAX_SIZE ((int64_t)1 << 40)
#define XPU_PROGRAM_MAX_MACS ((int64_t)1 << 46)
/* Of each number of a layer's model. */
#define XPU_PROGRAM_MAX_MODELLED (UINT64_C(1) << 48)

/* Of how often a run reads or writes a buffer. */
#define XPU_PROGRAM_MAX_PASSES (UINT32_C(1) << 22)

/* A 32-bit word of the plan table: constant, dim expression, or address of a buffer plus an expression in bytes. */
typedef enum { XPU_WORD_CONST, XPU_WORD_DIM, XPU_WORD_ADDRESS } xpu_word_kind;
typedef struct {
    xpu_word_kind kind;
    uint32_t bits;   /* CONST: the word (floats by their bits) */
    uint32_t buffer; /* ADDRESS: index into buffers */
    xpu_dim dim;     /* DIM: the value; ADDRESS: bytes added (id 0: none) */
} xpu_plan_word;

/* COPY: the bytes of a weight in a faster memory; the program's first layer fills it. AHEAD: a part of each block of a
 * weight in a faster memory, for the last layer of its life, fetched by transfers while the layers before that run. */
typedef enum {
    XPU_BUFFER_WEIGHT,
    XPU_BUFFER_ACTIVATION,
    XPU_BUFFER_SCRATCH,
    XPU_BUFFER_COPY,
    XPU_BUFFER_AHEAD
} xpu_buffer_kind;
typedef enum { XPU_LEVEL_SM, XPU_LEVEL_L3, XPU_LEVEL_GM, XPU_LEVEL_COUNT } xpu_level;

/* Memory that the planner places. Weights lie in the weights segment at a fixed offset. */
typedef struct {
    const char *name;
    xpu_buffer_kind kind;
    xpu_dim bytes;
    uint32_t alignment;
    uint32_t first_layer, last_layer; /* live from the start of first to the completion of last */
    uint8_t levels[XPU_LEVEL_COUNT];  /* allowed levels, best first */
    uint8_t level_count;
    uint32_t passes;      /* how often its bytes are read or written in a run; 0: nobody knows */
    int32_t alias_of;     /* buffer whose memory it shares, or -1 */
    xpu_dim alias_offset; /* bytes into it */
    uint32_t copy_of;     /* COPY, AHEAD: the weight, a buffer before this one */
    uint64_t copy_offset; /* AHEAD: its first byte in the weight, */
    uint64_t copy_row;    /* bytes that lie side by side there, */
    uint64_t copy_pitch;  /* and from each of these runs to the next */
    /* where it is: for weights (offset in the weights segment) and for programs without symbols; otherwise planned when
     * shapes are bound */
    uint8_t placed;
    xpu_level level;
    uint64_t offset; /* from the level's planned area; for weights from the segment's start */
} xpu_program_buffer;

/* The layer that makes `buffer` may write it over `other`, which it reads for the last time: both have the same bytes
 * and the layer reads each place before it writes it. The planner decides. */
typedef struct {
    uint32_t buffer, other;
} xpu_program_in_place;

/* The next bytes of a buffer AHEAD come while this layer runs, which has lists of descriptors, among its loads. Those
 * of a buffer are all of it, and in the order of layers. Where the buffer does not lie in L3 nothing comes. */
typedef struct {
    uint32_t buffer, layer;
    uint64_t bytes;
} xpu_program_transfer;

/* The buffers of a state's input and output. They live as long as the program runs, in GM, where each plan has them at
 * the same offsets, and change places after every run. */
typedef struct {
    uint32_t input, output;
} xpu_program_state;

/* A value of the graph that exists in device memory. */
typedef struct {
    xpu_value value;
    uint32_t buffer;
    xpu_dim offset;      /* bytes into the buffer; id 0: none */
    xpu_packing packing; /* constants; activations are LINEAR and follow the value's layout */
    int axis;       /* of a row-major value that has room for `extent` places along it, or 1 of a channel-last one */
    xpu_dim extent; /* id 0: as many as it has */
} xpu_program_value;

/* Where a layer runs. */
typedef enum { XPU_UNIT_HOST, XPU_UNIT_CORE, XPU_UNIT_TENSOR, XPU_UNIT_DMA, XPU_UNIT_WINDOW, XPU_UNIT_COUNT } xpu_unit;
/* "host", "core", "tensor", "dma", "window" */
const char *xpu_unit_name(xpu_unit unit);

/* What the compiler's model says of a layer, at the upper ends of dims and once: cycles of the unit that computes, of
 * what its DMA reads and writes, and of what nothing overlaps; and the bytes of constants and descriptors that it reads
 * from GM. All 0:
 * it is not known. */
typedef struct {
    uint64_t compute, load, store, tail, constant_bytes;
} xpu_program_model;

typedef struct {
    const char *name;         /* as dumps and profiles show it */
    xpu_node node;            /* of the lowered graph; 0 when stripped, and for a layer without results */
    const xpu_value *outputs; /* what it makes: its dump points; none: it only moves weights */
    uint32_t output_count;
    xpu_unit unit;
    const char *kernel; /* the library kernel of its main call */
    xpu_dim macs;       /* multiply-accumulates */
    const char *reason; /* why this precision */
    xpu_program_model model;
    /* Where the words of kernel engine_lists begin in the plan table, plus 1, with those of `kernel` behind them: its
     * lists of descriptors are made before the start (record.h). 0: it has none. */
    uint32_t lists;
} xpu_program_layer;

/*
 * A program with branches and loops is a tree of steps, listed in order: what belongs to a step stands right behind it.
 * A program without steps runs all of its layers. Layers are numbered in the order of the list, and each stands in one
 * range. Control has words of the plan table behind those of the kernel calls, from `word` on:
 *   RUN   layers first .. last
 *   IF    struct xpu_if_words; its first branch is up to `middle`, the other one up to `end`
 *   LOOP  struct xpu_loop_words; the body is up to `end`
 *   SET   struct xpu_set_words: `symbol` is what the device has found
 */
typedef enum { XPU_DO_RUN, XPU_DO_IF, XPU_DO_LOOP, XPU_DO_SET, XPU_DO_COUNT } xpu_program_step_kind;
typedef struct {
    xpu_program_step_kind kind;
    uint32_t first, last;
    uint32_t middle, end; /* indices of steps; of RUN and SET: the next one */
    uint32_t word, symbol;
} xpu_program_step;
/* How many words of the plan table a step has. */
static inline uint32_t xpu_step_words(xpu_program_step_kind kind) {
    size_t bytes = kind == XPU_DO_IF     ? sizeof(struct xpu_if_words)
                   : kind == XPU_DO_LOOP ? sizeof(struct xpu_loop_words)
                   : kind == XPU_DO_SET  ? sizeof(struct xpu_set_words)
                                         : 0;
    return (uint32_t)(bytes / sizeof(uint32_t));
}

/* What became of each tensor of the source model: dumped, fused or folded. */
typedef enum { XPU_TENSOR_DUMPED, XPU_TENSOR_FUSED, XPU_TENSOR_FOLDED } xpu_tensor_fate;
typedef struct {
    const char *name; /* tensor of the source model */
    xpu_tensor_fate fate;
    int32_t layer; /* DUMPED: the layer whose output it is; FUSED: the layer that it went into; FOLDED: -1 */
} xpu_program_tensor;

/* A region of the model and where it runs. */
typedef struct {
    const char *target; /* "xpu-sim" or "host" */
    uint32_t node_count;
    const char *reason; /* host: why */
} xpu_program_region;

typedef struct {
    const char *target;    /* "xpu-sim" */
    const char *chip_json; /* the chip's description, whole */
    uint32_t abi_hash;
    const char *precision; /* "auto", "fp32", "int16" */
    const char *compiler;  /* xpuc's version */
    const char *clang;     /* clang's version */
    const char *source;    /* file name of the model, without folders */
    xpu_hash source_hash;  /* of the model's files (xpu_graph_source_hash) */
    xpu_graph *graph;      /* the lowered graph; values, dims, inputs and outputs even when stripped of nodes' use */
    uint8_t stripped;      /* ref is not available */
    uint8_t is_checked;    /* xpu_program_check has found its counts within what a reader takes */
    uint32_t source_nodes; /* operators in the source model */
    XPU_ARRAY(xpu_program_buffer) buffers;
    XPU_ARRAY(xpu_program_in_place) in_place;
    XPU_ARRAY(xpu_program_transfer) transfers; /* by buffer */
    XPU_ARRAY(xpu_program_value) values;
    XPU_ARRAY(xpu_program_state) states; /* in the order of the graph's; not stored, xpu_program_find_states */
    XPU_ARRAY(xpu_program_layer) layers;
    XPU_ARRAY(xpu_plan_word) plan;
    XPU_ARRAY(xpu_program_step) steps; /* none: all layers in order */
    XPU_ARRAY(xpu_program_tensor) tensors;
    XPU_ARRAY(xpu_program_region) regions;
    uint64_t weights_bytes;
    /* from the ELF file */
    uint32_t entry, plan_address, control_address, weights_address;
    uint32_t image_end; /* first GM address behind everything that the program occupies: the planned GM area */
} xpu_program;

#endif
