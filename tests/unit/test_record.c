/* Lists of descriptors: what kernels queue when they run on the host. */
#include "xpu_runtime/program/record.h"

#include <string.h>

#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpu_device.h"

enum { WORDS = sizeof(struct xpu_conv2d_i8_args) / sizeof(uint32_t), LISTS = 0x80100000, SM = 0x20000400 };
enum {
    LOAD = XPU_COUNTER_LISTS + XPU_COUNTER_LOAD,
    TENSOR = XPU_COUNTER_LISTS + XPU_COUNTER_TENSOR,
    STORE = XPU_COUNTER_LISTS + XPU_COUNTER_STORE
};

/* A product of 8 x 8 pixels of 32 channels in tiles of two rows, weights whole. */
static struct xpu_conv2d_i8_args product(void) {
    struct xpu_conv2d_i8_args a = {.x = 0x80200000, .w = 0x80300000, .y = 0x80400000, .factors = 0x80500000};
    a.batch = a.kernel_h = a.kernel_w = a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = a.groups = 1;
    a.in_h = a.in_w = a.out_h = a.out_w = a.tile_w = 8;
    a.in_c = a.out_c = a.tile_c = a.x_pixel = 32;
    a.tile_h = 2;
    a.whole = 3;
    a.banks = 2;
    a.sm = SM;
    a.sm_bytes = 1 << 16;
    a.x_row = 8 * 32;
    a.x_image = 64 * 32;
    a.high = 127;
    return a;
}

static const char *record(bench *b, const struct xpu_conv2d_i8_args *args, uint32_t layer, uint32_t most,
                          xpu_recording *recording, xpu_recorded *recorded) {
    uint32_t words[WORDS];
    memcpy(words, args, sizeof words);
    return xpu_record_layer("conv2d_i8", words, layer, LISTS, 32, most, b->arena, recording, recorded);
}

static const uint32_t *place(const xpu_recorded *r, int32_t number) {
    return r->words + XPU_DESC_WORDS * number;
}

/* Parameters, loads, products and stores in this order; the counters are those of lists. */
static void lists(void) {
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r;
    const struct xpu_conv2d_i8_args args = product();
    CU_ASSERT_PTR_NULL_FATAL(record(&b, &args, 4, 100, &recording, &r));
    CU_ASSERT(r.args.engine == XPU_ENGINE_TENSOR && r.args.work == 4 && r.args.stores == 4);
    CU_ASSERT(r.args.loads == 1 + 1 + 4 &&
              r.args.early == 2); /* parameters and weights, which wait for no layer, tiles */
    CU_ASSERT_EQUAL(r.places, 15);
    CU_ASSERT(((const xpu_post_params *)r.words)->hi.i == 127);
    for (int32_t i = 1; i < (int32_t)r.places; i++) {
        const uint32_t signal = i <= 6    ? LOAD
                                : i <= 10 ? TENSOR
                                          : STORE,
                       kind = i > 6 && i <= 10 ? XPU_OPCODE_TENSOR : XPU_OPCODE_COPY;
        CU_ASSERT_EQUAL(place(&r, i)[0], kind | 4 << 16 | (place(&r, i)[0] & 0xff00));
        CU_ASSERT_EQUAL(place(&r, i)[1] >> 16 & 0xff, signal);
    }
    CU_ASSERT((place(&r, 1)[1] & 0xff) == STORE && place(&r, 1)[2] == 0); /* the scratch is free */
    CU_ASSERT((place(&r, 11)[1] & 0xff) == TENSOR && place(&r, 11)[2] == 1);
    CU_ASSERT((place(&r, 14)[1] & 0xff) == TENSOR && place(&r, 14)[2] == 4);
    CU_ASSERT(recording.signals[XPU_COUNTER_LOAD] == 6 && recording.signals[XPU_COUNTER_STORE] == 4);
    bench_close(&b);
}

/* What a tile of x waits for besides its place: the stores of the layer before, where that has lists; else nothing, a
 * nop of core 0 stands in front of it. */
static void layers_before(void) {
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 0};
    xpu_recorded r;
    const struct xpu_conv2d_i8_args args = product();
    for (uint32_t layer = 0; layer < 5; layer += layer == 1 ? 2 : 1) { /* 0, 1, 3, 4 */
        CU_ASSERT_PTR_NULL_FATAL(record(&b, &args, layer, 100, &recording, &r));
        const int follows = layer == 1 || layer == 4;
        const uint32_t *tile = place(&r, follows ? 3 : 1 + r.args.early);
        CU_ASSERT_EQUAL(tile[1] >> 8 & 0xff, follows ? STORE : XPU_NO_COUNTER);
        if (follows) CU_ASSERT_EQUAL(tile[3], (uint32_t)r.args.store_base);
    }
    CU_ASSERT_EQUAL(r.args.store_base, 12);
    bench_close(&b);
}

/* There are no lists, and what comes later is as if they had not been tried. */
static void refused(void) {
    BENCH_OPEN(b);
    xpu_recording recording = {.after = 7};
    xpu_recorded r;
    struct xpu_conv2d_i8_args none = product(), wide = product(), small = product(), endless = product();
    none.tile_h = 0;
    wide.groups = 64;
    small.sm_bytes = 64;
    endless.tile_c = 1;
    endless.whole = 0;
    endless.out_h = 1 << 24;
    const struct xpu_conv2d_i8_args good = product(), *const cases[] = {&none, &wide, &small, &endless};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_PTR_NOT_NULL(record(&b, cases[i], 9, 100, &recording, &r));
    CU_ASSERT_PTR_NOT_NULL(record(&b, &good, 9, 13, &recording, &r));
    CU_ASSERT(recording.after == 7 && recording.signals[XPU_COUNTER_LOAD] == 0);
    CU_ASSERT_PTR_NULL(record(&b, &good, 9, 14, &recording, &r));
    CU_ASSERT_EQUAL(xpu_recorded_words("conv2d_i8"), WORDS);
    CU_ASSERT_EQUAL(xpu_recorded_words("conv2d_f32"), 0);
    bench_close(&b);
}

XPU_TEST_MAIN("lists of descriptors", {"lists", lists}, {"layers before", layers_before}, {"refused", refused})
