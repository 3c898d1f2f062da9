/*
 * XPU C: the calls that generated programs are made of. Freestanding device C (clang, RV32IMF_Zve32f).
 *
 * A kernel call enqueues work and returns a ticket: work is complete, and its writes are visible, once counter
 * `counter` has reached `value` (compared by signed difference). A call starts after ticket `after`; calls of one
 * program are made by core 0 only. Arguments come from the plan table (kernels.def), never from literals.
 */
#ifndef XPU_KERNELS_H
#define XPU_KERNELS_H

#include "xpu_runtime/include/xpu_control.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

typedef struct {
    uint32_t counter, value;
} xpu_ticket;

/* The body of a generated chain: out[0..n) from in[i][0..n), all in LM and dense; immediates from c. One that finds the
 * largest magnitude joins those of what it makes to the 64 words at in[number of operands]. */
typedef void (*xpu_chain_body)(const float *const *in, const float *c, float *out, uint32_t n);
typedef xpu_chain_body xpu_chain_planes_body;
typedef xpu_chain_body xpu_chain_typed_body; /* the elements are of the types that the body knows */
typedef xpu_chain_body xpu_chain_dense_body;
typedef xpu_chain_body xpu_chain_image_body;
typedef xpu_chain_body xpu_depthwise_chain_f32_body;
/* Of a region of another target: in[0..] are its operands, results, scratch and dims; nothing else is given. */
typedef xpu_chain_body xpu_portable_c_body;

/* One function per row of kernels.def: layer is the 16-bit tag that completions and profiles carry. */
#define KERNEL(name, unit, fields, about)                                                                              \
    xpu_ticket xpu_##name(const struct xpu_##name##_args *args, uint32_t layer, xpu_ticket after);
#define KERNEL_WITH_BODY(name, unit, fields, about)                                                                    \
    xpu_ticket xpu_##name(const struct xpu_##name##_args *args, xpu_##name##_body body, uint32_t layer,                \
                          xpu_ticket after);
#include "xpu_runtime/include/kernels.def"
#undef KERNEL

/* A layer that runs on the host: the device posts its number, blocks until the host has run the layer's node on device
 * memory, and goes on. Legal anywhere, also inside a loop. */
xpu_ticket xpu_host_call(uint32_t layer, xpu_ticket after);

/* What a generated program provides: its layers in order, each a sequence of kernel calls. */
typedef xpu_ticket (*xpu_layer_function)(const void *plan, xpu_ticket after);
extern const xpu_layer_function xpu_layers[];
extern const uint32_t xpu_layer_count;
/* Whether a layer is called before the layer before it has run: that is one call on the cores, and this one only queues
 * descriptors, in whose waits the ticket of its predecessor stands. */
extern const uint8_t xpu_layers_ahead[];

/* For each layer, in GM: XPU_LAYER_ARGS(word where its arguments begin in the plan table, how many words; 0 where they
 * are XPU_LAYER_ARGS_LIMIT and more). A layer function may be given a copy of its arguments: `plan` is then where word
 * 0 of the table would be. */
#define XPU_LAYER_ARGS_LIMIT 128
#define XPU_LAYER_ARGS(word, words)                                                                                    \
    ((uint32_t)(word) * XPU_LAYER_ARGS_LIMIT + ((words) < XPU_LAYER_ARGS_LIMIT ? (words) : 0))
#define XPU_LAYER_ARGS_SECTION __attribute__((section(".text.xpu_layer_args"), aligned(64)))
extern const uint32_t xpu_layer_args[];

/* With branches and loops: what runs ranges of layers. Other programs have none: all layers are one range. */
__attribute__((weak)) void xpu_program(void);

/* The control block in GM (symbol xpu_control), filled by the runtime before it starts the program: which layers to
 * run; last_layer XPU_WHOLE_PROGRAM: what xpu_program says. */
struct xpu_control {
    uint32_t first_layer, last_layer;
};

#endif
