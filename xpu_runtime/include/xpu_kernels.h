/*
 * XPU C: the calls that generated programs are made of. Freestanding device C (clang, RV32IMF_Zve32f).
 *
 * A kernel call enqueues work and returns a ticket: work is complete, and its writes are visible, once counter
 * `counter` has reached `value` (compared by signed difference). A call starts after ticket `after`; calls of one
 * program are made by core 0 only. Arguments come from the plan table (kernels.def), never from literals.
 */
#ifndef XPU_KERNELS_H
#define XPU_KERNELS_H

#include "xpu_runtime/include/xpu_kernel_args.h"

typedef struct {
    uint32_t counter, value;
} xpu_ticket;

/* One function per row but chain: layer is the 16-bit tag that completions and profiles carry. */
xpu_ticket xpu_conv2d_f32(const struct xpu_conv2d_f32_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_depthwise_f32(const struct xpu_depthwise_f32_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_conv2d_i16(const struct xpu_conv2d_i16_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_conv2d_i8(const struct xpu_conv2d_i8_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_matmul_f32(const struct xpu_matmul_f32_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_pool_f32(const struct xpu_pool_f32_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_softmax_f32(const struct xpu_softmax_f32_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_absmax_f32(const struct xpu_absmax_f32_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_copy_nd(const struct xpu_copy_nd_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_fill(const struct xpu_fill_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_depthwise_i8(const struct xpu_depthwise_i8_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_max_pool_i8(const struct xpu_max_pool_i8_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_large_max_pool_i8(const struct xpu_large_max_pool_i8_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_mean_i8(const struct xpu_mean_i8_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_qpair(const struct xpu_qpair_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_lookup(const struct xpu_lookup_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_quantize(const struct xpu_quantize_args *args, uint32_t layer, xpu_ticket after);
xpu_ticket xpu_dequantize(const struct xpu_dequantize_args *args, uint32_t layer, xpu_ticket after);

/* The body of a generated chain: out[0..n) from in[i][0..n), all in LM and dense; immediates from c. */
typedef void (*xpu_chain_body)(const float *const *in, const float *c, float *out, uint32_t n);
xpu_ticket xpu_chain(const struct xpu_chain_args *args, xpu_chain_body body, uint32_t layer, xpu_ticket after);

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

/* The control block in GM (symbol xpu_control), filled by the runtime before it starts the program: which layers to
 * run (all: 0 .. xpu_layer_count - 1). */
struct xpu_control {
    uint32_t first_layer, last_layer;
};

#endif
