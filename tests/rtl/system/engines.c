/*
 * Engines of the whole chip: random descriptors between all memories while the cores load and store there, too. The
 * memories are the same as on the functional chip under every seed; with and without skipping so are the cycles.
 */
#include <stdio.h>
#include <string.h>

#include "tests/gen/descriptors.h"
#include "tests/rtl/system/rig.h"

enum {
    SEEDS = 20,
    BLOCK = SYSTEM_BLOCK,
    MAX_BLOCKS = 256,
    MAX_JOBS = 120,
    TENSORS = 6,
    Y_BLOCK = 29,
    LIST_BLOCK = 52,
    LM_LISTS = 11,
    L3_LIST_BYTES = 9 * BLOCK
};

/* Blocks of one kind in a memory: first, count. */
typedef struct {
    unsigned first, count;
} blocks;

/* A: sources, never written. B: destinations of the first phase, each of one descriptor. C: of the second. */
typedef struct {
    uint32_t base;
    unsigned size;
    blocks kind[3];
} place;

typedef struct {
    uint32_t words[MAX_JOBS][XPU_DESC_WORDS];
    uint64_t random;
    place places[XPURT_MAX_CORES + 3];
    unsigned place_count, cores;
    uint32_t table[XPURT_MAX_CORES][SYSTEM_LISTS][4];
    struct {
        uint32_t at, bytes;
        uint8_t data[64 * BLOCK];
    } lists[XPURT_MAX_CORES * 4 + 1];
    unsigned list_count, lm_used;
    uint32_t l3_used;
    uint8_t *image; /* what `after` has read */
} rig;

static uint8_t images[2][(XPURT_MAX_CORES * 16 + 32 + 64 + 64) * BLOCK];

static uint32_t draw(rig *r, uint32_t bound) {
    r->random = r->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((r->random >> 33) * bound >> 31);
}

static void lay_out(rig *r, const xpu_chip *chip) {
    r->cores = chip->cores;
    r->place_count = 0;
    r->places[r->place_count++] = (place){XPU_GM_BASE + 0x200000, 64, {{0, 16}, {16, 16}, {32, 16}}};
    r->places[r->place_count++] = (place){XPU_L3_BASE, 64, {{0, 16}, {16, 16}, {32, 16}}};
    r->places[r->place_count++] = (place){XPU_SM_BASE, 32, {{1, 8}, {9, 8}, {17, 8}}};
    for (unsigned core = 0; core < chip->cores; core++)
        r->places[r->place_count++] =
            (place){XPU_LM_ALL_BASE + XPU_LM_ALIAS_STRIDE * core, 12, {{1, 3}, {4, 3}, {7, 3}}};
}

/* A random block of a kind. */
static uint32_t any_block(rig *r, unsigned kind) {
    const place *p = &r->places[draw(r, r->place_count)];
    return p->base + BLOCK * (p->kind[kind].first + draw(r, p->kind[kind].count));
}

/* All blocks of a kind in random order. */
static unsigned all_blocks(rig *r, unsigned kind, uint32_t *list) {
    unsigned count = 0;
    for (unsigned i = 0; i < r->place_count; i++)
        for (unsigned n = 0; n < r->places[i].kind[kind].count; n++)
            list[count++] = r->places[i].base + BLOCK * (r->places[i].kind[kind].first + n);
    for (unsigned i = count; i > 1; i--) {
        unsigned j = draw(r, i);
        uint32_t t = list[i - 1];
        list[i - 1] = list[j], list[j] = t;
    }
    return count;
}

/* Moves within one block on either side: [a][b][c] elements, padded or dense. */
static void draw_dma(rig *r, uint32_t *words, uint32_t src, uint32_t dst, unsigned phase, unsigned wait_value) {
    static const uint32_t pairs[][2] = {{0, 0}, {2, 2}, {4, 4}, {1, 1}, {4, 2}, {4, 0}, {2, 4}, {0, 4}, {3, 4}, {4, 1}};
    static const unsigned sizes[] = {1, 1, 2, 4, 4};
    const uint32_t *pair = pairs[draw(r, 10)];
    uint32_t s = sizes[pair[0]], d = sizes[pair[1]], c = 1 + draw(r, 60), b = 1 + draw(r, 3);
    uint32_t gap = draw(r, 3), wait = phase ? 10 : 255, signal = phase ? 11 : 10, kind = draw(r, 8);
    uint32_t row = c + gap, at = draw(r, 64);
    if (c > 30) b = 1;
#define MOVE                                                                                                           \
    .layer = draw(r, 9), .signal = signal, .signal_add = 1, .src = src + s * at, .dst = dst + d * at,                  \
    .src_type = pair[0], .dst_type = pair[1], .size0 = 1, .size1 = 1, .size2 = b, .size3 = c,                          \
    .src_stride2 = (int32_t)(row * s), .src_stride3 = (int32_t)s, .dst_stride2 = (int32_t)(row * d),                   \
    .dst_stride3 = (int32_t)d
    if (kind == 0) {
        xpu_desc_fill fill = {.layer = draw(r, 9),
                              .wait0 = wait,
                              .wait1 = 255,
                              .wait0_value = wait_value,
                              .signal = signal,
                              .signal_add = 1,
                              .dst = dst + d * at,
                              .dst_type = pair[1],
                              .size0 = 1,
                              .size1 = 1,
                              .size2 = b,
                              .size3 = c,
                              .value = draw(r, 0x7fffffff)};
        fill.dst_stride2 = (int32_t)(row * d), fill.dst_stride3 = (int32_t)d;
        xpu_desc_fill_pack(words, &fill);
    } else if (kind == 1) { /* the index list: zeros at the end of the block of lists, or of this block */
        const xpu_desc_gather gather = {MOVE,
                                        .wait0 = wait,
                                        .wait1 = XPU_NO_COUNTER,
                                        .wait0_value = wait_value,
                                        .scale = 3.0f,
                                        .scale_mode = pair[1] == XPU_TYPE_U8 ? XPU_SCALE_DIVISOR : 0,
                                        .gather_dim = 2,
                                        .index = XPU_GM_BASE + 0x200000 + 63 * BLOCK};
        xpu_desc_gather_pack(words, &gather);
    } else {
        const xpu_desc_copy copy = {MOVE,
                                    .wait0 = XPU_NO_COUNTER,
                                    .wait1 = wait,
                                    .wait1_value = wait_value,
                                    .scale = 0.37f,
                                    .zero = draw(r, 256),
                                    .scale_mode = pair[1] == XPU_TYPE_U8 ? XPU_SCALE_DIVISOR : draw(r, 2),
                                    .scale_address = any_block(r, 0) + 4 * draw(r, 256)};
        xpu_desc_copy_pack(words, &copy);
    }
#undef MOVE
}

/* Operands: sources in SM; what is small: sources anywhere. Output n: half a block in SM, findmax a word of its own. */
static void draw_tensor(rig *r, uint32_t *words, unsigned n) {
    xpu_desc_tensor t = {.layer = n,
                         .wait0 = 255,
                         .wait1 = 255,
                         .signal = 12,
                         .signal_add = 1,
                         .drain = 1,
                         .bank = n & 1,
                         .post_mode = 1,
                         .mode = draw(r, 3),
                         .kh = 1 + draw(r, 3),
                         .kw = 1 + draw(r, 3),
                         .channels = 1 + draw(r, 8),
                         .columns = 1 + draw(r, 8),
                         .oh = 1 + draw(r, 4),
                         .ow = 1 + draw(r, 4),
                         .stride_h = 1,
                         .stride_w = 1,
                         .dilation_h = 1,
                         .dilation_w = 1,
                         .tile_rows = 4,
                         .tile_cols = 6,
                         .pad_top = 1,
                         .pad_left = 1,
                         .y_type = XPU_TYPE_F32};
    uint32_t bytes = t.mode ? 2 : 1;
    t.x = XPU_SM_BASE + BLOCK + 4 * draw(r, 256);
    t.w = XPU_SM_BASE + 4 * BLOCK + 4 * draw(r, 256);
    t.x_pixel_stride = (int32_t)(8 * bytes), t.x_row_stride = 6 * t.x_pixel_stride;
    t.w_row_stride = 16;
    t.y = XPU_SM_BASE + BLOCK * Y_BLOCK + BLOCK / 2 * n;
    t.y_pixel_stride = 32, t.y_row_stride = 4 * 32;
    t.params = XPU_L3_BASE + BLOCK * LIST_BLOCK;
    t.scale = draw(r, 2) ? any_block(r, 0) + 4 * draw(r, 64) : 0;
    t.bias = draw(r, 2) ? any_block(r, 0) + 4 * draw(r, 64) : 0;
    t.start = draw(r, 2) ? any_block(r, 0) + 4 * draw(r, 64) : 0;
    t.findmax = (draw(r, 2) ? XPU_GM_BASE + 0x200000 : XPU_L3_BASE) + 62 * BLOCK + 4 * n;
    xpu_desc_tensor_pack(words, &t);
}

/* Puts a list of descriptors somewhere, and who rings for it. */
static void add_list(rig *r, unsigned core, unsigned entry, uint32_t engine, const unsigned *jobs, unsigned count) {
    uint32_t bytes = count * XPU_DESC_BYTES, at = XPU_GM_BASE + 0x300000 + 0x10000 * r->list_count + 4 * draw(r, 32);
    uint32_t shift = 4 * draw(r, 16);
    if (bytes + shift <= BLOCK && !r->lm_used) {
        at = XPU_LM_ALL_BASE + XPU_LM_ALIAS_STRIDE * (r->cores - 1) + LM_LISTS * BLOCK + shift;
        r->lm_used = 1;
    } else if (draw(r, 2) && r->l3_used + bytes + shift <= L3_LIST_BYTES) {
        at = XPU_L3_BASE + BLOCK * (LIST_BLOCK + 1) + r->l3_used + shift;
        r->l3_used += bytes + shift;
    }
    r->lists[r->list_count].at = at;
    r->lists[r->list_count].bytes = bytes;
    for (unsigned i = 0; i < count; i++)
        memcpy(r->lists[r->list_count].data + XPU_DESC_BYTES * i, r->words[jobs[i]], XPU_DESC_BYTES);
    r->list_count++;
    r->table[core][entry][0] = engine;
    r->table[core][entry][1] = at;
    r->table[core][entry][2] = count;
}

/* The whole work; the request's words 1 and 2. */
static void draw_work(rig *r, uint32_t *request) {
    uint32_t to[2][MAX_BLOCKS], queues = 2 * r->cores;
    unsigned count[2], jobs = 0, first, list[MAX_JOBS];
    r->list_count = r->lm_used = r->l3_used = 0;
    memset(r->table, 0, sizeof r->table);
    for (unsigned phase = 0; phase < 2; phase++) {
        count[phase] = all_blocks(r, phase + 1, to[phase]);
        if (count[phase] > 50) count[phase] = 50;
    }
    for (unsigned phase = 0; phase < 2; phase++) {
        first = jobs;
        for (unsigned i = 0; i < count[phase]; i++)
            draw_dma(r, r->words[jobs++], any_block(r, phase), to[phase][i], phase, count[0]);
        for (unsigned q = 0; q < queues; q++) {
            unsigned length = 0;
            for (unsigned i = first; i < jobs; i++)
                if (i % queues == q) list[length++] = i;
            if (length) add_list(r, q / 2, 2 * phase + q % 2, q % 2, list, length);
        }
    }
    for (unsigned i = 0; i < TENSORS; i++) {
        draw_tensor(r, r->words[jobs], i);
        list[i] = jobs++;
    }
    add_list(r, 0, 5, 2, list, TENSORS);
    request[1] = count[1], request[2] = TENSORS;
}

static void before(void *context, const xpurt_device_driver *driver, xpurt_device *device) {
    rig *r = context;
    static uint8_t block[64 * BLOCK];
    const float params[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1.5f, 0.5f, 0.01f, 0.02f};
    uint64_t random = r->random;
    for (unsigned i = 0; i < r->place_count; i++) {
        for (unsigned n = 0; n < sizeof block; n++) {
            r->random = r->random * 6364136223846793005u + 1442695040888963407u;
            block[n] = (uint8_t)(n % 4 == 3 ? 0x3c + (r->random >> 40) % 8 : r->random >> 33); /* floats of all sorts */
        }
        CU_ASSERT_EQUAL(driver->write(device, r->places[i].base, block, r->places[i].size * BLOCK), 0);
    }
    r->random = random;
    memset(block, 0, sizeof block);
    CU_ASSERT_EQUAL(driver->write(device, XPU_GM_BASE + 0x200000 + 62 * BLOCK, block, 2 * BLOCK), 0);
    CU_ASSERT_EQUAL(driver->write(device, XPU_L3_BASE + 62 * BLOCK, block, 2 * BLOCK), 0);
    CU_ASSERT_EQUAL(driver->write(device, XPU_L3_BASE + LIST_BLOCK * BLOCK, params, sizeof params), 0);
    for (unsigned i = 0; i < r->list_count; i++)
        CU_ASSERT_EQUAL(driver->write(device, r->lists[i].at, r->lists[i].data, r->lists[i].bytes), 0);
    CU_ASSERT_EQUAL(driver->write(device, SYSTEM_TABLE, r->table, sizeof r->table), 0);
}

static void after(void *context, const xpurt_device_driver *driver, xpurt_device *device) {
    const rig *r = context;
    uint8_t *to = r->image;
    for (unsigned i = 0; i < r->place_count; i++) {
        CU_ASSERT_EQUAL(driver->read(device, r->places[i].base, to, r->places[i].size * BLOCK), 0);
        to += r->places[i].size * BLOCK;
    }
}

/* The first byte that differs, as engines address it. */
static int memories_differ(const rig *r, const char *what) {
    size_t at = 0;
    for (unsigned i = 0; i < r->place_count; i++)
        for (unsigned n = 0; n < r->places[i].size * BLOCK; n++, at++)
            if (images[0][at] != images[1][at]) {
                printf("\n%s: 0x%08x is %02x on func, %02x on rtl\n", what, r->places[i].base + n, images[0][at],
                       images[1][at]);
                return 1;
            }
    return 0;
}

static int equal_run(const rig *r, const outcome *func, const outcome *rtl, const char *what) {
    if (func->event_count != rtl->event_count || func->events[0].kind != rtl->events[0].kind || rtl->text[0]) {
        printf("\n%s: func %s, rtl %s\n", what, func->text, rtl->text);
        return 0;
    }
    return !memories_differ(r, what) && memcmp(func->results, rtl->results, sizeof func->results) == 0 &&
           memcmp(func->counters.descriptors, rtl->counters.descriptors, sizeof func->counters.descriptors) == 0;
}

void test_engines(void) {
    static rig r;
    static outcome func, rtl, slow;
    hooks = (memory_hooks){&r, before, after};
    for (int c = 0; c < CHIPS; c++)
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            uint32_t request[5] = {SYSTEM_ENGINES, 0, 0, 1 + seed % 4};
            const char *what = xpu_printf(arena, "engines of %s, seed %u", chips[c].name, seed);
            xpurt_rtl_options options = {.seed = seed * 0x9e3779b9, .lockstep = seed % 4 == 1};
            r.random = 1000 + (seed ? seed / 4 : 0); /* four timings of each work */
            lay_out(&r, &chips[c].chip);
            draw_work(&r, request);
            r.image = images[0];
            run_func(&chips[c].chip, request, &func);
            r.image = images[1];
            run_rtl(&chips[c], request, &options, &rtl);
            CU_ASSERT_EQUAL(rtl.events[0].kind, XPURT_EVENT_ENDED);
            CU_ASSERT_TRUE(equal_run(&r, &func, &rtl, what));
            if (seed % 4) continue;
            options.no_skip = 1;
            run_rtl(&chips[c], request, &options, &slow);
            CU_ASSERT_TRUE(same_time(&rtl, &slow));
        }
    hooks = (memory_hooks){NULL, NULL, NULL};
}

/* Faults of engines are told as the functional chip tells them. */
void test_engine_faults(void) {
    static rig r;
    static outcome func, rtl;
    static const struct {
        uint32_t engine, word, value;
        int cause;
    } cases[] = {
        {0, 0, 0x00070000, XPU_FAULT_DESCRIPTOR},     /* opcode 0 */
        {1, 0, 0x00070008, XPU_FAULT_DESCRIPTOR},     /* not the DMA engine's */
        {0, 4, 0x30000000, XPU_FAULT_ENGINE_ADDRESS}, /* source in no memory */
        {1, 5, 0x11f00000, XPU_FAULT_ENGINE_ADDRESS}, /* no such core */
        {0, 5, 0x10000000, XPU_FAULT_ENGINE_ADDRESS}, /* LM as cores see it */
        {1, 4, 0x80200001, XPU_FAULT_MISALIGNED},     {0, 1, 0x010b41ff, XPU_FAULT_DESCRIPTOR}, /* no such counter */
    };
    hooks = (memory_hooks){&r, before, after};
    for (int c = 0; c < CHIPS; c++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            uint32_t request[5] = {SYSTEM_ENGINES, 2, 0, 1};
            const unsigned jobs[] = {0, 1};
            lay_out(&r, &chips[c].chip);
            r.random = 1;
            r.list_count = r.lm_used = r.l3_used = 0;
            memset(r.table, 0, sizeof r.table);
            for (unsigned n = 0; n < 2; n++) {
                const xpu_desc_copy copy = {NO_WAITS,
                                            DENSE(40, XPU_TYPE_F32, 4),
                                            .layer = 7,
                                            .signal = 11,
                                            .signal_add = 1,
                                            .src = XPU_GM_BASE + 0x200000,
                                            .dst = XPU_SM_BASE + 9 * BLOCK};
                xpu_desc_copy_pack(r.words[n], &copy);
            }
            r.words[1][cases[i].word] = cases[i].value;
            add_list(&r, 0, 1, cases[i].engine, jobs, 2);
            r.image = images[0];
            run_func(&chips[c].chip, request, &func);
            r.image = images[1];
            run_rtl(&chips[c], request, &(xpurt_rtl_options){0}, &rtl);
            CU_ASSERT_EQUAL(rtl.fault.cause, cases[i].cause);
            int same = func.fault.cause == rtl.fault.cause && func.fault.engine == rtl.fault.engine &&
                       func.fault.descriptor == rtl.fault.descriptor && func.fault.layer == rtl.fault.layer &&
                       func.fault.address == rtl.fault.address;
            CU_ASSERT_TRUE(same);
            if (!same)
                printf("\nfault %zu: func %s, engine %d, descriptor %llx, layer %u, address %llx; rtl %s, %d, %llx, "
                       "%u, %llx\n",
                       i, func.text, func.fault.engine, (unsigned long long)func.fault.descriptor, func.fault.layer,
                       (unsigned long long)func.fault.address, rtl.text, rtl.fault.engine,
                       (unsigned long long)rtl.fault.descriptor, rtl.fault.layer,
                       (unsigned long long)rtl.fault.address);
        }
    hooks = (memory_hooks){NULL, NULL, NULL};
}
