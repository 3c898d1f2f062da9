/* Packed weights: random geometry against the order written out, and back; elements where the kernels look for them. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "xpu_runtime/program/packing.h"

static uint32_t state;
static int32_t draw(int32_t low, int32_t high) {
    state = state * 1664525u + 1013904223u;
    return low + (int32_t)((state >> 8) % (uint32_t)(high - low + 1));
}

static xpu_packing random_packing(void) {
    xpu_packing p = {.kind = (xpu_packing_kind)draw(XPU_PACK_CONV_F32, XPU_PACK_DEPTHWISE_I8),
                     .kernel_h = draw(1, 4),
                     .kernel_w = draw(1, 4),
                     .groups = draw(1, 5),
                     .columns = 8 << draw(0, 3),
                     .tile_c = draw(1, 40)};
    p.out_c = p.groups * draw(1, 20);
    p.in_c = p.groups * draw(1, 20);
    if (p.kind == XPU_PACK_DEPTHWISE_F32 || p.kind == XPU_PACK_DEPTHWISE_I8)
        p.out_c = p.in_c = p.groups = draw(1, 70);
    else if (draw(0, 3) == 0) {
        p.groups = p.kernel_h = p.kernel_w = 1;
        p.transposed = 1;
    }
    return p;
}

static xpu_tensor random_tensor(const xpu_packing *p) {
    static const xpu_dtype dtypes[] = {[XPU_PACK_CONV_F32] = XPU_F32,
                                       [XPU_PACK_DEPTHWISE_F32] = XPU_F32,
                                       [XPU_PACK_CONV_I16] = XPU_I16,
                                       [XPU_PACK_CONV_I8] = XPU_U8,
                                       [XPU_PACK_DEPTHWISE_I8] = XPU_I8};
    xpu_tensor t = {
        .dtype = dtypes[p->kind], .rank = 4, .dims = {p->out_c, p->in_c / p->groups, p->kernel_h, p->kernel_w}};
    t.data = malloc(xpu_tensor_bytes(&t));
    for (size_t i = 0; i < xpu_tensor_bytes(&t); i++) ((uint8_t *)t.data)[i] = (uint8_t)draw(0, 255);
    return t;
}

/* ---- the packed form, element by element ---- */

typedef struct {
    const xpu_packing *p;
    const xpu_tensor *t;
    uint8_t *packed;
    uint64_t at;
} writer;

/* The next element is w[o][c of the group][tap], or padding where there is none. */
static void put(writer *w, int exists, int64_t o, int64_t c, int64_t tap) {
    const xpu_packing *p = w->p;
    size_t bytes = xpu_dtype_bytes(w->t->dtype);
    int64_t index =
        p->transposed ? c * p->out_c + o : (o * (p->in_c / p->groups) + c) * p->kernel_h * p->kernel_w + tap;
    if (exists) memcpy(w->packed + w->at * bytes, (const uint8_t *)w->t->data + (size_t)index * bytes, bytes);
    w->at++;
}

static void put_rows(writer *w) {
    const xpu_packing *p = w->p;
    int is_depthwise = p->kind == XPU_PACK_DEPTHWISE_F32 || p->kind == XPU_PACK_DEPTHWISE_I8;
    int64_t groups = is_depthwise ? 1 : p->groups, in = p->in_c / p->groups, out = p->out_c / groups;
    for (int64_t g = 0; g < groups; g++) {
        for (int64_t tap = 0; tap < p->kernel_h * p->kernel_w; tap++) {
            for (int64_t c = 0; c < in; c++) {
                for (int64_t o = 0; o < (out + 15) / 16 * 16; o++) put(w, o < out, g * out + o, c, tap);
            }
        }
    }
}

static void put_tiles(writer *w) {
    const xpu_packing *p = w->p;
    int64_t in = p->in_c / p->groups, out = p->out_c / p->groups;
    for (int64_t tile = 0; tile < p->out_c; tile += p->columns) {
        int64_t last = tile + p->columns < p->out_c ? tile + p->columns - 1 : p->out_c - 1;
        int64_t end = (last / out + 1) * in;
        for (int64_t first = tile / out * in; first < end; first += p->tile_c) {
            for (int64_t tap = 0; tap < p->kernel_h * p->kernel_w; tap++) {
                for (int64_t c = first; c < first + p->tile_c && c < end; c++) {
                    for (int64_t o = tile; o < tile + p->columns; o++) {
                        put(w, o < p->out_c && o / out == c / in, o, c % in, tap);
                    }
                }
            }
        }
    }
}

static int is_in_order(const xpu_packing *p, const xpu_tensor *t, const void *packed, uint64_t bytes) {
    writer w = {p, t, calloc(1, bytes), 0};
    if (p->kind == XPU_PACK_CONV_I16 || p->kind == XPU_PACK_CONV_I8) {
        put_tiles(&w);
    } else {
        put_rows(&w);
    }
    int same = w.at * xpu_dtype_bytes(t->dtype) == bytes && memcmp(w.packed, packed, bytes) == 0;
    free(w.packed);
    return same;
}

static void round_trip(void) {
    printf(" seed %u ", state = 20261121);
    for (int i = 0; i < 300; i++) {
        xpu_packing p = random_packing();
        xpu_tensor t = random_tensor(&p), back = t;
        uint64_t bytes = xpu_packed_bytes(&p, t.dtype, (uint64_t)xpu_tensor_count(&t));
        CU_ASSERT_FATAL(bytes >= xpu_tensor_bytes(&t));
        void *packed = malloc(bytes);
        memset(packed, 0xff, bytes);
        back.data = calloc(1, xpu_tensor_bytes(&t));
        CU_ASSERT_EQUAL(xpu_pack(&p, &t, packed), XPU_OK);
        CU_ASSERT(is_in_order(&p, &t, packed, bytes));
        CU_ASSERT_EQUAL(xpu_unpack(&p, packed, bytes, &back), XPU_OK);
        CU_ASSERT(memcmp(t.data, back.data, xpu_tensor_bytes(&t)) == 0);
        CU_ASSERT_EQUAL(xpu_unpack(&p, packed, bytes + 1, &back), XPU_EBUG);
        free(packed);
        free(t.data);
        free(back.data);
    }
}

static void places(void) {
    float w[2 * 3 * 1 * 2];
    for (int i = 0; i < 12; i++) w[i] = (float)(i + 1);
    xpu_tensor t = {.dtype = XPU_F32, .rank = 4, .dims = {2, 3, 1, 2}, .data = w};
    xpu_packing p = {.kind = XPU_PACK_CONV_F32, .out_c = 2, .in_c = 3, .kernel_h = 1, .kernel_w = 2, .groups = 1};
    float packed[2 * 3 * 16];
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_F32, 12), sizeof packed);
    CU_ASSERT_EQUAL(xpu_pack(&p, &t, packed), XPU_OK);
    /* [kw = 1][c = 2][o = 1] is w[1][2][0][1] */
    CU_ASSERT_EQUAL(packed[(1 * 3 + 2) * 16 + 1], w[(1 * 3 + 2) * 2 + 1]);
    CU_ASSERT_EQUAL(packed[2], 0.0f);
}

static void refusals(void) {
    xpu_packing p = {.kind = XPU_PACK_CONV_F32, .out_c = 4, .in_c = 4, .kernel_h = 1, .kernel_w = 1, .groups = 1};
    CU_ASSERT_NOT_EQUAL(xpu_packed_bytes(&p, XPU_F32, 16), 0);
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_F32, 15), 0);
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_I16, 16), 0);
    p.groups = 3;
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_F32, 16), 0);
    p.groups = 0;
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_F32, 16), 0);
    p.groups = 1;
    p.out_c = p.in_c = p.kernel_h = p.kernel_w = 0x7fffffff;
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_F32, 16), 0);
}

/* A product over more than a million elements is legal; packings that would overflow are not. */
static void long_sums(void) {
    const int32_t depth = (1 << 20) + 4;
    xpu_packing p = {.out_c = 1, .in_c = depth, .kernel_h = 1, .kernel_w = 1, .groups = 1, .transposed = 1};
    p.columns = p.tile_c = 8;
    p.kind = XPU_PACK_CONV_F32;
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_F32, (uint64_t)depth), (uint64_t)depth * 16 * 4);
    p.kind = XPU_PACK_CONV_I16;
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_I16, (uint64_t)depth), (uint64_t)depth * 8 * 2);
    p = (xpu_packing){.kind = XPU_PACK_CONV_F32, .out_c = 1 << 28, .in_c = 1 << 28, .groups = 1};
    p.kernel_h = p.kernel_w = 1 << 4; /* 1 << 64 elements */
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_F32, 0), 0);
    p.kernel_h = p.kernel_w = 1;
    p.out_c = (1 << 28) + 1;
    CU_ASSERT_EQUAL(xpu_packed_bytes(&p, XPU_F32, (uint64_t)p.out_c * (uint64_t)p.in_c), 0);
}

XPU_TEST_MAIN("packing", {"round trip", round_trip}, {"places", places}, {"refusals", refusals},
              {"long sums", long_sums})
