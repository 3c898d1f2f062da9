/* What the first descriptors of a layer wait for, of the layer before. */
#include <stddef.h>
#include <string.h>

#include "tests/unit/bench.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpu_device.h"
#include "xpu_runtime/program/record.h"
#include "xpu_runtime/program/record_accesses.h"

enum { LISTS = 0x80100000, SM = 0x20000400, X = 0x80200000, Y = 0x80400000, Z = 0x80500000, MOST = 200 };
enum {
    LOAD = XPU_COUNTER_LISTS + XPU_COUNTER_LOAD,
    TENSOR = XPU_COUNTER_LISTS + XPU_COUNTER_TENSOR,
    STORE = XPU_COUNTER_LISTS + XPU_COUNTER_STORE
};

/* A product of 16 x 8 pixels of 32 channels in eight tiles of two rows, weights whole. */
static struct xpu_conv2d_i8_args product(uint32_t x, uint32_t y, uint32_t sm) {
    struct xpu_conv2d_i8_args a = {.x = x, .w = 0x80300000, .y = y, .factors = 0x80380000};
    a.batch = a.kernel_h = a.kernel_w = a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = a.groups = 1;
    a.in_h = a.out_h = 16;
    a.in_w = a.out_w = a.tile_w = 8;
    a.in_c = a.out_c = a.tile_c = a.x_pixel = a.y_pixel = 32;
    a.tile_h = 2;
    a.whole = 3;
    a.banks = 2;
    a.sm = sm;
    a.sm_bytes = 1 << 14;
    a.x_row = 8 * 32;
    a.x_image = 128 * 32;
    a.high = 127;
    return a;
}

static void record_both(bench *b, const struct xpu_conv2d_i8_args *first, const struct xpu_conv2d_i8_args *second,
                        int is_run, xpu_recorded r[2]) {
    xpu_recording recording = {.is_run = is_run};
    const struct xpu_conv2d_i8_args *const args[] = {first, second};
    for (uint32_t i = 0; i < 2; i++) {
        const xpu_recorded_call call = {"conv2d_i8", (const uint32_t *)args[i], 4 + i};
        CU_ASSERT_PTR_NULL_FATAL(xpu_record_layers(&call, 1, LISTS, 32, MOST, b->arena, &recording, &r[i]));
    }
}

/* Descriptor `number` of a layer's loads. */
static const uint32_t *load(const xpu_recorded *r, int32_t number) {
    return r->words + XPU_DESC_WORDS * (1 + number);
}

/* The load of tile `number` of what stands at x. */
static const uint32_t *tile(const xpu_recorded *r, uint32_t x, int32_t number) {
    enum { TILE_BYTES = 2 * 8 * 32 };
    int32_t i = 0;
    while (i + 1 < r->args.loads && xpu_desc_copy_get_src(load(r, i)) != x + (uint64_t)(TILE_BYTES * number)) i++;
    return load(r, i);
}

/* The value of a counter that a descriptor waits for; 0: it does not. */
static uint32_t awaited(const uint32_t *words, uint32_t counter) {
    const uint32_t first = xpu_desc_nop_get_wait0(words) == counter ? xpu_desc_nop_get_wait0_value(words) : 0,
                   second = xpu_desc_nop_get_wait1(words) == counter ? xpu_desc_nop_get_wait1_value(words) : 0;
    return first > second ? first : second;
}

/* With its scratch elsewhere a tile waits for the store of its rows, parameters for nothing, the last tiles for
 * products behind the layer's own first store; where a run's addresses are not known, a tile waits for all stores. */
static void rows(void) {
    BENCH_OPEN(b);
    xpu_recorded r[2];
    const struct xpu_conv2d_i8_args first = product(X, Y, SM), second = product(Y, Z, SM + (1 << 14));
    record_both(&b, &first, &second, 1, r);
    const uint32_t done = (uint32_t)r[1].args.store_base;
    CU_ASSERT_EQUAL(done, 8);
    for (int32_t i = 0; i < 6; i++) CU_ASSERT_EQUAL(awaited(tile(&r[1], Y, i), STORE), (uint32_t)i + 1);
    for (int32_t i = 6; i < 8; i++) CU_ASSERT_EQUAL(awaited(tile(&r[1], Y, i), STORE), 0);
    CU_ASSERT_EQUAL(awaited(load(&r[1], 0), STORE), 0);
    record_both(&b, &first, &second, 0, r);
    for (int32_t i = 0; i < 8; i++) CU_ASSERT_EQUAL(awaited(tile(&r[1], Y, i), STORE), done);
    bench_close(&b);
}

/* In the place of the first layer's scratch what is loaded waits until the array has read what was there; its results
 * lie where those of the first layer are stored from. */
static void places(void) {
    BENCH_OPEN(b);
    xpu_recorded r[2];
    const struct xpu_conv2d_i8_args first = product(X, Y, SM), second = product(Y, Z, SM);
    record_both(&b, &first, &second, 1, r);
    const uint32_t done = (uint32_t)r[1].args.store_base, products = (uint32_t)r[1].args.work_base;
    const uint32_t *tensor = load(&r[1], r[1].args.loads);
    CU_ASSERT_EQUAL(products, 16);                              /* eight products, and their drains */
    CU_ASSERT_EQUAL(awaited(load(&r[1], 0), TENSOR), products); /* parameters: all drains read them */
    CU_ASSERT(awaited(tile(&r[1], Y, 0), STORE) < done); /* the last drain has waited for the store of its rows */
    uint32_t most = 0;                                   /* of the stores that its first products and drains wait for */
    for (int32_t i = 0; i < 4; i++) {
        const uint32_t value = awaited(tensor + (size_t)i * XPU_DESC_WORDS, STORE);
        if (value > most && value <= done) most = value;
    }
    CU_ASSERT(most > 0);
    bench_close(&b);
}

/* Of another tensor that a layer before may have made nothing is known but that it is behind the first store. */
static void others(void) {
    BENCH_OPEN(b);
    xpu_recorded r[2];
    const struct xpu_conv2d_i8_args first = product(X, Y, SM), second = product(X, Z, SM + (1 << 14));
    record_both(&b, &first, &second, 1, r);
    CU_ASSERT_EQUAL(awaited(tile(&r[1], X, 0), STORE), 1);
    bench_close(&b);
}

static void accesses(void) {
    xpu_recorded_access a[XPU_MOST_ACCESSES];
    uint32_t words[XPU_DESC_WORDS];
    const xpu_desc_copy copy = {.src = 0x1000,
                                .dst = 0x9000,
                                .src_type = XPU_TYPE_I16,
                                .dst_type = XPU_TYPE_I16,
                                .size0 = 1,
                                .size1 = 3,
                                .size2 = 1,
                                .size3 = 4,
                                .src_stride1 = -32,
                                .src_stride3 = 2,
                                .dst_stride1 = 8,
                                .dst_stride3 = 2};
    xpu_desc_copy_pack(words, &copy);
    CU_ASSERT_EQUAL(xpu_recorded_accesses(words, a), 2);
    CU_ASSERT(a[0].begin == 0x1000 - 64 && a[0].end == 0x1000 + 8 && !a[0].writes);
    CU_ASSERT(a[1].begin == 0x9000 && a[1].end == 0x9000 + 24 && a[1].writes);
    xpu_desc_copy none = copy;
    none.size2 = 0;
    xpu_desc_copy_pack(words, &none);
    CU_ASSERT_EQUAL(xpu_recorded_accesses(words, a), 0);
    const xpu_desc_window window = {.drain = 1,
                                    .x = 0x2000,
                                    .y = 0x3000,
                                    .w = 0x4000,
                                    .columns = 32,
                                    .tile_rows = 2,
                                    .tile_cols = 5,
                                    .x_ring_rows = 4,
                                    .x_row_stride = 160,
                                    .x_pixel_stride = 32,
                                    .kh = 3,
                                    .kw = 3,
                                    .w_row_stride = 32,
                                    .oh = 1,
                                    .ow = 5,
                                    .y_pixel_stride = 64};
    xpu_desc_window_pack(words, &window);
    CU_ASSERT_EQUAL(xpu_recorded_accesses(words, a), 3);
    CU_ASSERT(a[0].begin == 0x3000 && a[0].end == 0x3000 + 4 * 64 + 32 && a[0].writes);
    CU_ASSERT(a[1].begin == 0x2000 && a[1].end == 0x2000 + 4 * 160 && !a[1].writes); /* all rows of the ring */
    CU_ASSERT(a[2].begin == 0x4000 && a[2].end == 0x4000 + 9 * 32 && !a[2].writes);
    const xpu_desc_tensor drain = {.drain = 1,
                                   .x = 0x2000,
                                   .y = 0x3000,
                                   .y_type = XPU_TYPE_F32,
                                   .columns = 8,
                                   .oh = 2,
                                   .ow = 1,
                                   .y_row_stride = 32,
                                   .findmax = 0x5000};
    xpu_desc_tensor_pack(words, &drain);
    CU_ASSERT_EQUAL(xpu_recorded_accesses(words, a), 2);
    CU_ASSERT(a[0].end == 0x3000 + 64 && a[1].begin == 0x5000 && a[1].end == 0x5004 && a[1].writes);
    const xpu_desc_gather gather = {.src = 0x1000};
    xpu_desc_gather_pack(words, &gather);
    CU_ASSERT_EQUAL(xpu_recorded_accesses(words, a), -1);
}

XPU_TEST_MAIN("waits of lists", {"rows", rows}, {"places", places}, {"others", others}, {"accesses", accesses})
