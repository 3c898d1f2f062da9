/* Instructions of the device kernels for typical layers, on one chip: the busiest core's, and per unit of work. */
#include "tests/chip/rig/operands.h"
#include "xpu_runtime/include/xpu_tiling.h"

/* A place for `count` floats of small finite values. */
static uint32_t floats(rig *r, int64_t count) {
    float *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++) values[i] = random_float(r->random);
    uint32_t address = rig_place(r, values, (uint32_t)count * 4, 4);
    free(values);
    return address;
}

/* `work`: what one vector instruction of 64 lanes could do at best per 64 of it. */
static void measure(rig *r, const char *name, int64_t work) {
    r->plan[1] = 0;
    if (!rig_execute(r)) exit(EXIT_FAILURE);
    printf("%-40s %12llu %12llu %10.2f\n", name, (unsigned long long)r->instructions,
           (unsigned long long)r->most_instructions, 64.0 * (double)r->instructions / (double)work);
}

typedef struct {
    const char *name;
    int32_t size, in_c, out_c, kernel, stride, groups;
} layer;

#define SET_CONV(a, r, l, out)                                                                                         \
    do {                                                                                                               \
        (a)->batch = 1, (a)->in_h = (a)->in_w = (l)->size, (a)->in_c = (l)->in_c,                                      \
        (a)->out_c = (a)->y_pixel = (l)->out_c;                                                                        \
        (a)->out_h = (a)->out_w = out, (a)->kernel_h = (a)->kernel_w = (l)->kernel, (a)->groups = (l)->groups;         \
        (a)->stride_h = (a)->stride_w = (l)->stride, (a)->dilation_h = (a)->dilation_w = 1;                            \
        (a)->pad_top = (a)->pad_left = (l)->kernel / 2;                                                                \
        (a)->activation = XPU_ACTIVATION_CLIP, (a)->high = 6;                                                          \
        (a)->x = floats(r, (int64_t)(l)->size * (l)->size * (l)->in_c);                                                \
        (a)->bias = floats(r, (l)->out_c);                                                                             \
        (a)->y = floats(r, (int64_t)(out) * (out) * (l)->out_c);                                                       \
    } while (0)

static int32_t padded(int32_t channels) {
    return (channels + 15) / 16 * 16;
}

static void convolutions(rig *r) {
    static const layer layers[] = {{"conv2d_f32 28x28 64 to 64, 3x3", 28, 64, 64, 3, 1, 1},
                                   {"conv2d_f32 28x28 64 to 256, 1x1", 28, 64, 256, 1, 1, 1},
                                   {"conv2d_f32 28x28 256 to 64, 1x1", 28, 256, 64, 1, 1, 1},
                                   {"conv2d_f32 56x56 3 to 32, 7x7 by 2", 56, 3, 32, 7, 2, 1},
                                   {"conv2d_f32 7x7 512 to 512, 1x1", 7, 512, 512, 1, 1, 1},
                                   {"conv2d_f32 8x8 1 to 8, 3x3", 8, 1, 8, 3, 1, 1},
                                   {"conv2d_f32 1x1 512 to 1000, 1x1", 1, 512, 1000, 1, 1, 1},
                                   {"depthwise_f32 28x28 144, 3x3", 28, 144, 144, 3, 1, 144},
                                   {"depthwise_f32 28x28 144, 3x3 by 2", 28, 144, 144, 3, 2, 144},
                                   {"depthwise_f32 7x7 960, 3x3", 7, 960, 960, 3, 1, 960}};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const layer *l = &layers[i];
        int32_t out = (l->size - 1) / l->stride + 1, taps = l->kernel * l->kernel, group_in = l->in_c / l->groups;
        rig_begin(r);
        if (l->groups == 1) {
            struct xpu_conv2d_f32_args a = {0};
            SET_CONV(&a, r, l, out);
            a.w = floats(r, (int64_t)taps * l->in_c * padded(l->out_c));
            rig_call(r, XPU_CALL_conv2d_f32, XPU_BODY_IDENTITY, &a, sizeof a);
        } else {
            struct xpu_depthwise_f32_args a = {0};
            SET_CONV(&a, r, l, out);
            a.w = floats(r, (int64_t)taps * padded(l->out_c));
            rig_call(r, XPU_CALL_depthwise_f32, XPU_BODY_IDENTITY, &a, sizeof a);
        }
        measure(r, l->name, (int64_t)out * out * l->out_c * taps * group_in);
    }
}

static void tensor(rig *r) {
    static const layer l = {"conv2d_i16 28x28 64 to 64, 3x3", 28, 64, 64, 3, 1, 1};
    struct xpu_conv2d_i16_args a = {.tile_h = 14,
                                    .tile_w = 28,
                                    .tile_c = 32,
                                    .banks = 2,
                                    .sm = rig_sm(),
                                    .sm_bytes = 250000,
                                    .x_image = 28 * 28 * 64 * 4,
                                    .x_row = 28 * 64 * 4,
                                    .x_pixel = 64 * 4,
                                    .x_plane = 4};
    rig_begin(r);
    SET_CONV(&a, r, &l, 28);
    a.w = floats(r, 9 * 64 * 64 / 2);
    a.w_scale = floats(r, 64);
    a.x_absmax = floats(r, 1);
    rig_call(r, XPU_CALL_conv2d_i16, XPU_BODY_IDENTITY, &a, sizeof a);
    measure(r, l.name, 28 * 28 * 64);
}

static void pools(rig *r) {
    struct xpu_pool_f32_args a = {
        .batch = 1, .in_h = 56, .in_w = 56, .in_c = 64, .out_h = 28, .out_w = 28, .y_pixel = 64};
    rig_begin(r);
    a.kernel_h = a.kernel_w = 3, a.stride_h = a.stride_w = 2, a.dilation_h = a.dilation_w = 1;
    a.pad_top = a.pad_left = a.is_max = 1;
    a.x = floats(r, 56 * 56 * 64), a.y = floats(r, 28 * 28 * 64);
    rig_call(r, XPU_CALL_pool_f32, XPU_BODY_IDENTITY, &a, sizeof a);
    measure(r, "pool_f32 max 56x56 64, 3x3 by 2", 28 * 28 * 64 * 9);
    a = (struct xpu_pool_f32_args){
        .batch = 1, .in_h = 7, .in_w = 7, .in_c = 512, .out_h = 1, .out_w = 1, .y_pixel = 512};
    rig_begin(r);
    a.kernel_h = a.kernel_w = 7, a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
    a.x = floats(r, 7 * 7 * 512), a.y = floats(r, 512);
    rig_call(r, XPU_CALL_pool_f32, XPU_BODY_IDENTITY, &a, sizeof a);
    measure(r, "pool_f32 average 7x7 512, global", 7 * 7 * 512);
}

static void matrices(rig *r) {
    struct xpu_matmul_f32_args a = {.batch = 8, .m = 64, .k = 64, .n = 64};
    rig_begin(r);
    a.a_batch_stride = a.b_batch_stride = 64 * 64;
    a.a = floats(r, 8 * 64 * 64), a.b = floats(r, 8 * 64 * 64), a.y = floats(r, 8 * 64 * 64);
    rig_call(r, XPU_CALL_matmul_f32, XPU_BODY_IDENTITY, &a, sizeof a);
    measure(r, "matmul_f32 8 of 64x64x64", 8 * 64 * 64 * 64);
    struct xpu_softmax_f32_args s = {.outer = 16, .count = 1000, .inner = 1};
    rig_begin(r);
    s.x = floats(r, 16000), s.y = floats(r, 16000);
    rig_call(r, XPU_CALL_softmax_f32, XPU_BODY_IDENTITY, &s, sizeof s);
    measure(r, "softmax_f32 16 x 1000", 16000);
    s = (struct xpu_softmax_f32_args){.outer = 1, .count = 20, .inner = 784};
    rig_begin(r);
    s.x = floats(r, 20 * 784), s.y = floats(r, 20 * 784);
    rig_call(r, XPU_CALL_softmax_f32, XPU_BODY_IDENTITY, &s, sizeof s);
    measure(r, "softmax_f32 1 x 20 x 784", 20 * 784);
}

static void elementwise(rig *r) {
    static const struct {
        const char *name;
        int32_t body, inputs, d[4], s[3][4];
    } cases[] = {{"chain, 1 input, 100352", XPU_BODY_LEAKY, 1, {1, 1, 1, 100352}, {{0, 0, 0, 1}}},
                 {"chain, 1 input, 1000", XPU_BODY_LEAKY, 1, {1, 1, 1, 1000}, {{0, 0, 0, 1}}},
                 {"chain, 784 x 64, scale and bias",
                  XPU_BODY_AFFINE,
                  3,
                  {1, 1, 784, 64},
                  {{0, 0, 64, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}}},
                 {"chain, 784 x 64, by pixel",
                  XPU_BODY_AFFINE,
                  3,
                  {1, 1, 784, 64},
                  {{0, 0, 64, 1}, {0, 0, 1, 0}, {0, 0, 64, 1}}},
                 {"chain, 64 x 28 x 28, by plane",
                  XPU_BODY_AFFINE,
                  3,
                  {1, 1, 64, 784},
                  {{0, 0, 784, 1}, {0, 0, 1, 0}, {0, 0, 1, 0}}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xpu_chain_args a = {.inputs = cases[i].inputs, .c = {0.5f, 2}};
        int64_t total = 1;
        rig_begin(r);
        for (int d = 0; d < 4; d++) total *= a.d[d] = cases[i].d[d];
        for (int k = 0; k < a.inputs; k++) {
            a.x[k] = floats(r, total);
            for (int d = 0; d < 4; d++) a.strides[4 * k + d] = cases[i].s[k][d];
        }
        a.y = floats(r, total);
        rig_call(r, XPU_CALL_chain, (xpu_call_body_id)cases[i].body, &a, sizeof a);
        measure(r, cases[i].name, total);
    }
    struct xpu_absmax_f32_args m = {.count = 100352};
    rig_begin(r);
    m.x = floats(r, m.count), m.y = floats(r, 1);
    rig_call(r, XPU_CALL_absmax_f32, XPU_BODY_IDENTITY, &m, sizeof m);
    measure(r, "absmax_f32 100352", m.count);
    struct xpu_fill_args f = {.count = 1, .value = 1};
    rig_begin(r);
    f.y = floats(r, f.count);
    rig_call(r, XPU_CALL_fill, XPU_BODY_IDENTITY, &f, sizeof f);
    measure(r, "fill 1 (start and end of a program)", 64);
}

int main(int argc, char **argv) {
    rig r;
    random_source random = {1};
    if (!rig_open_unchecked(&r, argc > 1 ? argv[1] : "standard", &random)) return EXIT_FAILURE;
    printf("%-40s %12s %12s %10s\n", "layer", "instructions", "busiest core", "per 64");
    convolutions(&r);
    tensor(&r);
    pools(&r);
    matrices(&r);
    elementwise(&r);
    rig_close(&r);
    return EXIT_SUCCESS;
}
