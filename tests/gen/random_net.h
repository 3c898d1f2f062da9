/* The state of the random network generator and what its parts share; tests use random_cnn.h. */
#ifndef XPU_TESTS_GEN_RANDOM_NET_H
#define XPU_TESTS_GEN_RANDOM_NET_H

#include "tests/gen/onnx_build.h"

enum { XPU_NET_MAX_CHANNELS = 200, XPU_NET_MAX_ELEMENTS = 120000, XPU_NET_SEEN = 24 };

typedef struct {
    char name[16];
    int rank;
    int64_t dims[XPU_MAX_RANK];
} xpu_net_value;

typedef struct {
    xpu_arena *arena;
    xpu_onnx_builder onnx;
    uint64_t seed;
    uint64_t drawn; /* how many numbers were drawn: with the seed, the whole state of the generator */
    int free_batch; /* dim 0 of the input is "N": nothing may depend on its value */
    int unnamed;    /* nodes carry no names */
    int64_t macs_left, weights_left;
    int stage, serial;                /* for names */
    xpu_net_value now;                /* what the next operator takes */
    xpu_net_value seen[XPU_NET_SEEN]; /* earlier values of rank 4, for residuals and second outputs */
    int seen_count;
} xpu_net;

/* Random integers: 0..n-1; low..high; 1 in `percent` of 100 cases. */
uint32_t xpu_net_below(xpu_net *net, uint32_t n);
int64_t xpu_net_range(xpu_net *net, int64_t low, int64_t high);
int xpu_net_chance(xpu_net *net, uint32_t percent);
/* A float in low/256 .. high/256. */
float xpu_net_real(xpu_net *net, int low, int high);
/* A float near sqrt(8 / fan_in): the largest weight that keeps values behind a Relu near 1. */
float xpu_net_weight_scale(int64_t fan_in);

/* Constants: made as initializers or Constant nodes; the name is returned. Elements: low/256 .. high/256 times scale.
 */
const char *xpu_net_weights(xpu_net *net, int rank, const int64_t *dims, int low, int high, float scale);
const char *xpu_net_scalar(xpu_net *net, float value);
const char *xpu_net_ints(xpu_net *net, const int64_t *values, int count);
/* A float32 tensor of such elements. */
xpu_tensor xpu_net_tensor(xpu_net *net, int rank, const int64_t *dims, int low, int high, float scale);

int64_t xpu_net_elements(const xpu_net_value *value);
int xpu_net_same_dims(const xpu_net_value *a, const xpu_net_value *b);
/* Remembers the current value for residuals and outputs. */
void xpu_net_remember(xpu_net *net);

/* Adds a node; absent inputs are NULL. Its result, with the dims of the current value, becomes the current value. */
XpuOnnx__NodeProto *xpu_net_node(xpu_net *net, const char *op, const char *a, const char *b, const char *c);
XpuOnnx__NodeProto *xpu_net_unary(xpu_net *net, const char *op);
void xpu_net_set_dims(xpu_net *net, int rank, const int64_t *dims);
/* Attribute helpers on the builder of the net. */
void xpu_net_int(xpu_net *net, XpuOnnx__NodeProto *node, const char *name, int64_t value);
/* A list that is an attribute up to operator set `last_attribute`, and an input after it: pads, axes. */
XpuOnnx__NodeProto *xpu_net_with_list(xpu_net *net, const char *op, const char *name, int last_attribute,
                                      const int64_t *values, int count);

/* Operators that several files use; they act on the current value. */
void xpu_net_activation(xpu_net *net);
void xpu_net_reshape(xpu_net *net, int rank, const int64_t *dims);
void xpu_net_squeeze(xpu_net *net, const int64_t *axes, int count);   /* axes: positive, ascending */
void xpu_net_unsqueeze(xpu_net *net, const int64_t *axes, int count); /* axes of the result */
void xpu_net_transpose(xpu_net *net, const int64_t *perm);
void xpu_net_softmax(xpu_net *net, int axis);
int xpu_net_shrink(xpu_net *net, int64_t side); /* pools height and width down to at most `side` */

/* One stage of the body, on a current value of rank 4. Returns 0 where it does not fit; then nothing was added. */
typedef struct {
    const char *op; /* the operator that the stage is about */
    int (*emit)(xpu_net *net, const char *op);
    int first_opset; /* the operator exists from this one on */
    int weight;      /* how often it is drawn */
} xpu_net_stage;
extern const xpu_net_stage xpu_net_stages[];
extern const uint32_t xpu_net_stage_count;

int xpu_net_emit_conv(xpu_net *net, const char *op);
int xpu_net_emit_depthwise(xpu_net *net, const char *op);
int xpu_net_emit_residual(xpu_net *net, const char *op);
int xpu_net_emit_gate(xpu_net *net, const char *op);
int xpu_net_emit_conv_1d(xpu_net *net, const char *op);
int xpu_net_emit_pool(xpu_net *net, const char *op);
int xpu_net_emit_batch_norm(xpu_net *net, const char *op);

#endif
