/* DMA engines of the functional chip against plain loops, with random geometry. */
#include "core/arith.h"
#include "sim/func/rows.h"
#include "tests/unit/func_fixture.h"

enum { ROUNDS = 300, AREA = 1 << 18 };
static const uint64_t seed = 7;

static const uint32_t sources[] = {XPU_GM_BASE + 0x10000, XPU_L3_BASE, XPU_SM_BASE};
static const uint32_t targets[] = {XPU_GM_BASE + 0x800000, XPU_L3_BASE + 0x80000, XPU_SM_BASE + 0x80000};

typedef struct {
    uint32_t size[4];
    int32_t src[4], dst[4]; /* strides in elements; dst never overlaps itself */
    int64_t src_first, dst_first;
    int64_t src_extent, dst_extent; /* elements from the lowest to the highest */
} geometry;

/* Random sizes; strides of a random permutation of the dimensions with gaps, some negative. */
static void draw_geometry(fixture *f, geometry *g) {
    int64_t dst = 1, src = 1;
    unsigned dims[4] = {0, 1, 2, 3};
    for (int d = 0; d < 4; d++) g->size[d] = 1 + draw(f, d == 3 ? 40 : 6);
    if (draw(f, 3)) g->size[draw(f, 3)] = 1;
    if (draw(f, 2)) {
        unsigned i = draw(f, 4), j = draw(f, 4), t = dims[i];
        dims[i] = dims[j], dims[j] = t;
    }
    g->src_first = g->dst_first = 0;
    for (int i = 3; i >= 0; i--) {
        unsigned d = dims[i], ordered = (unsigned)i;
        g->dst[d] = (int32_t)dst;
        dst *= g->size[d];
        if (draw(f, 3) == 0) dst += draw(f, 3);
        g->src[ordered] = (int32_t)src;
        src *= g->size[ordered];
        if (draw(f, 3) == 0) src += draw(f, 3);
    }
    g->src_extent = src, g->dst_extent = dst;
    for (int d = 0; d < 4; d++) {
        if (draw(f, 6) == 0) g->src_first += (int64_t)g->src[d] * (g->size[d] - 1), g->src[d] = -g->src[d];
        if (draw(f, 6) == 0) g->dst_first += (int64_t)g->dst[d] * (g->size[d] - 1), g->dst[d] = -g->dst[d];
    }
}

static const unsigned type_size[] = {1, 1, 2, 4, 4};

/* Element `i` of a conversion, as the specification has it. */
static void expected_element(uint8_t *to, const uint8_t *from, uint32_t src_type, uint32_t dst_type, float scale) {
    float x;
    int16_t half;
    int32_t word;
    if (src_type == dst_type) {
        memcpy(to, from, type_size[src_type]);
        return;
    }
    if (src_type == XPU_TYPE_F32) {
        memcpy(&x, from, 4);
        int32_t limit = dst_type == XPU_TYPE_I16 ? 32767 : 127;
        double q = __builtin_rint((double)(x * scale));
        word = q > limit ? limit : q < -limit ? -limit : (int32_t)q;
        half = (int16_t)word;
        if (dst_type == XPU_TYPE_I16)
            memcpy(to, &half, 2);
        else
            *to = (uint8_t)word;
        return;
    }
    memcpy(&half, from, 2);
    if (src_type == XPU_TYPE_I32)
        memcpy(&word, from, 4);
    else
        word = src_type == XPU_TYPE_I16 ? half : (int8_t)*from;
    x = (float)word * scale;
    memcpy(to, &x, 4);
}

typedef void (*each_element)(const geometry *g, int64_t src, int64_t dst, const uint32_t *at, void *context);
static void walk(const geometry *g, each_element each, void *context) {
    uint32_t i[4];
    for (i[0] = 0; i[0] < g->size[0]; i[0]++)
        for (i[1] = 0; i[1] < g->size[1]; i[1]++)
            for (i[2] = 0; i[2] < g->size[2]; i[2]++)
                for (i[3] = 0; i[3] < g->size[3]; i[3]++) {
                    int64_t src = g->src_first, dst = g->dst_first;
                    for (int d = 0; d < 4; d++) src += (int64_t)i[d] * g->src[d], dst += (int64_t)i[d] * g->dst[d];
                    each(g, src, dst, i, context);
                }
}

typedef struct {
    const uint8_t *src;
    uint8_t *expected;
    uint32_t src_type, dst_type;
    float scale;
    unsigned gather_dim;
    const int32_t *index; /* NULL: no gather */
} copy_case;

static void copy_element(const geometry *g, int64_t src, int64_t dst, const uint32_t *at, void *context) {
    copy_case *c = context;
    if (c->index) src += ((int64_t)c->index[at[c->gather_dim]] - at[c->gather_dim]) * g->src[c->gather_dim];
    expected_element(c->expected + dst * type_size[c->dst_type], c->src + src * type_size[c->src_type], c->src_type,
                     c->dst_type, c->scale);
}

/* Types and scale of a random copy; the source holds floats where it is to. */
static void draw_types(fixture *f, copy_case *c, uint32_t src, uint32_t *mode, uint32_t scale_address) {
    static const uint32_t pairs[][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {4, 2}, {4, 0}, {2, 4}, {0, 4}, {3, 4}};
    unsigned which = draw(f, 10);
    c->src_type = pairs[which][0], c->dst_type = pairs[which][1];
    float absmax = draw(f, 10) ? 1000.0f : 0.0f, *floats = host(f, src);
    c->scale = 0.37f;
    *mode = XPU_SCALE_IMMEDIATE;
    if (c->src_type == XPU_TYPE_F32)
        for (int i = 0; i < AREA / 4; i++) floats[i] = absmax ? draw_float(f) : 0.0f;
    if (c->src_type == c->dst_type) return;
    *mode = draw(f, c->src_type == XPU_TYPE_I32 ? 2 : 3);
    if (*mode == XPU_SCALE_MEMORY) memcpy(host(f, scale_address), &c->scale, 4);
    if (*mode != XPU_SCALE_ABSMAX) return;
    float limit = c->src_type == XPU_TYPE_I16 || c->dst_type == XPU_TYPE_I16 ? 32767.0f : 127.0f;
    memcpy(host(f, scale_address), &absmax, 4);
    if (c->src_type == XPU_TYPE_F32)
        c->scale = absmax == 0.0f ? 0.0f : limit / absmax;
    else
        c->scale = absmax / limit;
}

/* One random copy or gather. */
static void one_copy(fixture *f, int gathers) {
    static uint8_t expected[AREA];
    int32_t index[64];
    geometry g;
    draw_geometry(f, &g);
    uint32_t src = sources[draw(f, 3)], dst = targets[draw(f, 3)], mode, scale_address = XPU_L3_BASE + 0xf0000;
    copy_case c = {.src = host(f, src), .expected = expected, .gather_dim = draw(f, 4)};
    scribble(f, src, 16384);
    scribble(f, dst, AREA);
    draw_types(f, &c, src, &mode, scale_address);
    if (gathers) {
        for (int i = 0; i < 64; i++) index[i] = (int32_t)draw(f, g.size[c.gather_dim]);
        memcpy(host(f, XPU_SM_BASE + 0xf0000), index, sizeof index);
        c.index = index;
    }
    memcpy(expected, host(f, dst), AREA);
    walk(&g, copy_element, &c);
    int32_t sb = (int32_t)type_size[c.src_type], db = (int32_t)type_size[c.dst_type];
    xpu_desc_gather d = {ALONE,
                         .src = src + (uint64_t)(g.src_first * sb),
                         .dst = dst + (uint64_t)(g.dst_first * db),
                         .src_type = c.src_type,
                         .dst_type = c.dst_type,
                         .scale_mode = mode,
                         .scale = c.scale,
                         .scale_address = scale_address,
                         .size0 = g.size[0],
                         .size1 = g.size[1],
                         .size2 = g.size[2],
                         .size3 = g.size[3],
                         .src_stride0 = g.src[0] * sb,
                         .src_stride1 = g.src[1] * sb,
                         .src_stride2 = g.src[2] * sb,
                         .src_stride3 = g.src[3] * sb,
                         .dst_stride0 = g.dst[0] * db,
                         .dst_stride1 = g.dst[1] * db,
                         .dst_stride2 = g.dst[2] * db,
                         .dst_stride3 = g.dst[3] * db,
                         .gather_dim = c.gather_dim,
                         .index = XPU_SM_BASE + 0xf0000};
    uint32_t words[XPU_DESC_WORDS];
    xpu_desc_gather_pack(words, &d);
    if (!gathers) xpu_desc_gather_set_opcode(words, XPU_OPCODE_COPY);
    CU_ASSERT_EQUAL(execute_words(f, draw(f, 2), words), XPU_FAULT_NONE);
    CU_ASSERT_EQUAL(memcmp(expected, host(f, dst), AREA), 0);
}

static void copies(void) {
    fixture f;
    open_fixture(&f, seed);
    printf("(seed %llu) ", (unsigned long long)seed);
    for (int i = 0; i < ROUNDS; i++) {
        f.func->rows = i % 4 ? xpu_rows_best() : &xpu_rows_any;
        one_copy(&f, 0);
    }
    close_fixture(&f);
}

static void gathers(void) {
    fixture f;
    open_fixture(&f, seed + 1);
    for (int i = 0; i < ROUNDS; i++) one_copy(&f, 1);
    close_fixture(&f);
}

static void fill_element(const geometry *g, int64_t src, int64_t dst, const uint32_t *at, void *context) {
    copy_case *c = context;
    (void)g, (void)src, (void)at;
    memcpy(c->expected + dst * type_size[c->dst_type], c->src, type_size[c->dst_type]);
}

static void fills(void) {
    static uint8_t expected[AREA];
    fixture f;
    open_fixture(&f, seed + 2);
    for (int round = 0; round < ROUNDS; round++) {
        geometry g;
        draw_geometry(&f, &g);
        uint32_t dst = targets[draw(&f, 3)], value = draw(&f, 1u << 31), type = draw(&f, 5);
        copy_case c = {.src = (const uint8_t *)&value, .expected = expected, .dst_type = type};
        scribble(&f, dst, 16384);
        memcpy(expected, host(&f, dst), AREA);
        walk(&g, fill_element, &c);
        int32_t db = (int32_t)type_size[type];
        xpu_desc_fill d = {ALONE,
                           .dst = dst + (uint64_t)(g.dst_first * db),
                           .dst_type = type,
                           .value = value,
                           .size0 = g.size[0],
                           .size1 = g.size[1],
                           .size2 = g.size[2],
                           .size3 = g.size[3],
                           .dst_stride0 = g.dst[0] * db,
                           .dst_stride1 = g.dst[1] * db,
                           .dst_stride2 = g.dst[2] * db,
                           .dst_stride3 = g.dst[3] * db};
        uint32_t words[XPU_DESC_WORDS];
        xpu_desc_fill_pack(words, &d);
        CU_ASSERT_EQUAL(execute_words(&f, draw(&f, 2), words), XPU_FAULT_NONE);
        CU_ASSERT_EQUAL(memcmp(expected, host(&f, dst), AREA), 0);
    }
    close_fixture(&f);
}

/* Each wrong field is a reported fault, never a crash. */
static void faults(void) {
    static const struct {
        const char *what;
        uint64_t src, dst;
        uint32_t src_type, dst_type, size0;
        int32_t src_stride0;
        uint32_t wait0;
        int cause;
    } cases[] = {
        {"good", XPU_GM_BASE, XPU_SM_BASE, 4, 4, 2, 64, 255, XPU_FAULT_NONE},
        {"empty", 0, 0, 4, 4, 0, 64, 255, XPU_FAULT_NONE},
        {"null", 0, XPU_SM_BASE, 4, 4, 2, 64, 255, XPU_FAULT_ENGINE_ADDRESS},
        {"over 32 bits", (uint64_t)1 << 32, XPU_SM_BASE, 4, 4, 2, 64, 255, XPU_FAULT_ENGINE_ADDRESS},
        {"end of SM", XPU_SM_BASE + (1 << 20) - 64, XPU_GM_BASE, 4, 4, 2, 64, 255, XPU_FAULT_ENGINE_ADDRESS},
        {"before SM", XPU_SM_BASE, XPU_GM_BASE, 4, 4, 2, -64, 255, XPU_FAULT_ENGINE_ADDRESS},
        {"own LM", XPU_LM_BASE, XPU_GM_BASE, 4, 4, 2, 64, 255, XPU_FAULT_ENGINE_ADDRESS},
        {"LM of core 2", XPU_LM_ALL_BASE + 2 * XPU_LM_ALIAS_STRIDE, XPU_GM_BASE, 4, 4, 2, 64, 255,
         XPU_FAULT_ENGINE_ADDRESS},
        {"LM of core 1", XPU_LM_ALL_BASE + XPU_LM_ALIAS_STRIDE, XPU_GM_BASE, 4, 4, 2, 64, 255, XPU_FAULT_NONE},
        {"registers", XPU_REGS_BASE, XPU_GM_BASE, 4, 4, 2, 64, 255, XPU_FAULT_ENGINE_ADDRESS},
        {"misaligned", XPU_GM_BASE + 2, XPU_SM_BASE, 4, 4, 2, 64, 255, XPU_FAULT_MISALIGNED},
        {"misaligned stride", XPU_GM_BASE, XPU_SM_BASE, 4, 4, 2, 66, 255, XPU_FAULT_MISALIGNED},
        {"no such type", XPU_GM_BASE, XPU_SM_BASE, 9, 9, 2, 64, 255, XPU_FAULT_DESCRIPTOR},
        {"no such conversion", XPU_GM_BASE, XPU_SM_BASE, 2, 0, 2, 64, 255, XPU_FAULT_DESCRIPTOR},
        {"no such counter", XPU_GM_BASE, XPU_SM_BASE, 4, 4, 2, 64, 64, XPU_FAULT_DESCRIPTOR},
        {"too many", XPU_GM_BASE, XPU_SM_BASE, 4, 4, 0xffffffff, 0, 255, XPU_FAULT_DESCRIPTOR},
        {"no multiplier to uint8", XPU_GM_BASE, XPU_SM_BASE, 4, 1, 2, 64, 255, XPU_FAULT_DESCRIPTOR},
    };
    fixture f;
    open_fixture(&f, seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_desc_copy d = {ALONE,
                           .src = cases[i].src,
                           .dst = cases[i].dst,
                           .src_type = cases[i].src_type,
                           .dst_type = cases[i].dst_type,
                           .size0 = cases[i].size0,
                           .size1 = 1,
                           .size2 = 1,
                           .size3 = 16,
                           .src_stride0 = cases[i].src_stride0,
                           .src_stride3 = 4,
                           .dst_stride3 = 4};
        uint32_t words[XPU_DESC_WORDS];
        d.wait0 = cases[i].wait0;
        xpu_desc_copy_pack(words, &d);
        int cause = execute_words(&f, XPU_ENGINE_DMA0, words);
        if (cause != cases[i].cause) printf("%s: %s (%s)\n", cases[i].what, xpu_fault_text(cause), f.func->reason);
        CU_ASSERT_EQUAL(cause, cases[i].cause);
    }
    uint32_t words[XPU_DESC_WORDS] = {0};
    CU_ASSERT_EQUAL(execute_words(&f, XPU_ENGINE_DMA1, words), XPU_FAULT_DESCRIPTOR); /* opcode 0 */
    words[0] = XPU_OPCODE_TENSOR;
    words[1] = 0xffffff;
    CU_ASSERT_EQUAL(execute_words(&f, XPU_ENGINE_DMA1, words), XPU_FAULT_DESCRIPTOR);
    close_fixture(&f);
}

/* scale_mode 3: levels, and what is refused. */
static void divisors(void) {
    static const struct {
        uint32_t src_type, dst_type;
        float scale;
        int cause;
    } cases[] = {{4, 1, 0.5f, XPU_FAULT_NONE},
                 {4, 0, 0.5f, XPU_FAULT_NONE},
                 {4, 2, 0.5f, XPU_FAULT_DESCRIPTOR},
                 {0, 4, 0.5f, XPU_FAULT_DESCRIPTOR},
                 {4, 1, 0.0f, XPU_FAULT_DESCRIPTOR},
                 {4, 1, 0x1p-127f, XPU_FAULT_DESCRIPTOR},
                 {4, 1, 0x1p-126f, XPU_FAULT_NONE},
                 {4, 1, -0.5f, XPU_FAULT_DESCRIPTOR},
                 {4, 1, INFINITY, XPU_FAULT_DESCRIPTOR},
                 {4, 1, NAN, XPU_FAULT_DESCRIPTOR},
                 {2, 2, 0.0f, XPU_FAULT_NONE}};
    static const float x[] = {0.25f, 0.75f, -0.25f, -0.75f, -2.0f, 1000.0f, -1000.0f, NAN, INFINITY, -INFINITY, 1e-45f};
    static const uint8_t unsigned_levels[] = {3, 5, 3, 1, 0, 255, 0, 255, 255, 0, 3};
    static const int8_t signed_levels[] = {-3, -1, -3, -5, -7, 127, -128, 127, 127, -128, -3};
    fixture f;
    open_fixture(&f, seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xpu_desc_copy d = {ALONE,
                           .src = XPU_GM_BASE,
                           .dst = XPU_SM_BASE,
                           .src_type = cases[i].src_type,
                           .dst_type = cases[i].dst_type,
                           .scale_mode = XPU_SCALE_DIVISOR,
                           .scale = cases[i].scale,
                           .zero = cases[i].dst_type == XPU_TYPE_U8 ? 3 : 0xfd,
                           .size0 = 1,
                           .size1 = 1,
                           .size2 = 1,
                           .size3 = 11,
                           .src_stride3 = (int32_t)type_size[cases[i].src_type],
                           .dst_stride3 = (int32_t)type_size[cases[i].dst_type]};
        uint32_t words[XPU_DESC_WORDS];
        memcpy(host(&f, XPU_GM_BASE), x, sizeof x);
        xpu_desc_copy_pack(words, &d);
        int cause = execute_words(&f, XPU_ENGINE_DMA0, words);
        if (cause != cases[i].cause) printf("case %zu: %s (%s)\n", i, xpu_fault_text(cause), f.func->reason);
        CU_ASSERT_EQUAL(cause, cases[i].cause);
        if (cases[i].scale != 0.5f || cause) continue;
        const void *levels = d.dst_type == XPU_TYPE_U8 ? (const void *)unsigned_levels : signed_levels;
        CU_ASSERT_EQUAL(memcmp(levels, host(&f, XPU_SM_BASE), sizeof unsigned_levels), 0);
    }
    close_fixture(&f);
}

/* Waits, signals and bytes. */
static void order(void) {
    fixture f;
    uint32_t words[XPU_DESC_WORDS], list = XPU_GM_BASE;
    open_fixture(&f, seed);
    xpu_desc_nop d = {ALONE};
    d.wait0 = 3, d.wait0_value = 0xfffffffe, d.wait1 = 4, d.wait1_value = 1, d.signal = 5, d.signal_add = 7;
    xpu_desc_nop_pack(words, &d);
    memcpy(host(&f, list), words, sizeof words);
    f.func->events.counters[3] = 0xfffffff0;
    CU_ASSERT_EQUAL(xpu_func_queue_push(f.func, XPU_ENGINE_DMA0, 1, list, 1), 1);
    CU_ASSERT_EQUAL(xpu_func_engines_run(f.func), 0);
    f.func->events.counters[3] = 2; /* past the wait by wrapping round */
    CU_ASSERT_EQUAL(xpu_func_engines_run(f.func), 0);
    f.func->events.counters[4] = 1;
    CU_ASSERT_EQUAL(xpu_func_engines_run(f.func), 1);
    CU_ASSERT_EQUAL(f.func->events.counters[5], 7);
    xpurt_counters totals;
    xpu_func_driver.counters(f.device, &totals);
    CU_ASSERT_EQUAL(totals.descriptors[XPU_ENGINE_DMA0], 1);
    CU_ASSERT_EQUAL(totals.gm_read_bytes, XPU_DESC_BYTES);
    for (unsigned i = 0; i < XPU_QUEUE_DEPTH; i++)
        CU_ASSERT_EQUAL(xpu_func_queue_push(f.func, XPU_ENGINE_DMA1, 0, list, 1), 1);
    CU_ASSERT_EQUAL(xpu_func_queue_push(f.func, XPU_ENGINE_DMA1, 0, list, 1), 0);
    close_fixture(&f);
}

XPU_TEST_MAIN("func dma", {"copies", copies}, {"gathers", gathers}, {"fills", fills}, {"faults", faults},
              {"divisors", divisors}, {"order", order})
