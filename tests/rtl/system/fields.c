/*
 * One field after the other of descriptors of every kind gets values that it should not have, and some that it may:
 * in lock-step the Verilated chip finds the same fault as the functional one, or none, at the same descriptor, layer
 * and address; what is executed has the same results. The functional chip alone gives the same report, with the rule
 * and the field in the same words. Fields and their places are those of core/chip.def.
 */
#include <stdio.h>
#include <string.h>

#include "sim/func/events.h"
#include "tests/gen/descriptors.h"
#include "tests/rtl/system/rig.h"

enum {
    /* In GM: what post-processors read, indices, scales; sources of DMA */
    SMALL = XPU_GM_BASE + 0x200000,
    SMALL_BYTES = 0x2000,
    SCALE = SMALL + 0x100,
    BIAS = SMALL + 0x600,
    START = SMALL + 0xb00,
    LOOKUP = SMALL + 0x1000,
    INDEX = SMALL + 0x1200,
    FACTOR = SMALL + 0x1300,
    FINDMAX = SMALL + 0x1340,
    SOURCE = SMALL + SMALL_BYTES,
    LIST = XPU_GM_BASE + 0x300004,
    /* In SM */
    OPERANDS = XPU_SM_BASE + 0x400,
    OPERAND_BYTES = 0x4000,
    X = OPERANDS + 0x800,
    W = OPERANDS + 0x1800,
    BRANCH = OPERANDS + 0x2800,
    OUTPUT_BYTES = 0x2400, /* at the end of SM: what is too large does not fit */
    TARGET = XPU_L3_BASE + 0x2000,
    ELSEWHERE = TARGET + 0x800, /* results of descriptors that come before */
    LAYER = 7,
    MOST_VALUES = 40,
    PARAMS = XPU_POST_WORDS
};

/* A descriptor that is legal, those that come before it in its list, and an engine that takes them. */
typedef struct {
    const char *kind, *what;
    unsigned engine, before;
    uint32_t words[3][XPU_DESC_WORDS];
    uint32_t params[PARAMS];
    uint32_t index; /* the second of a gather's list */
} base;

static base bases[16];
static unsigned base_count;
static uint64_t random_state;

static uint32_t draw(uint32_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) * bound >> 31);
}

static uint32_t bits(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

/* ---- The legal descriptors ---- */

#define ONE_SIGNAL .layer = LAYER, NO_WAITS, .signal = 11, .signal_add = 1

static base *add(const char *kind, const char *what, unsigned engine, unsigned before) {
    base *b = &bases[base_count++];
    *b = (base){.kind = kind, .what = what, .engine = engine, .before = before, .index = 1};
    return b;
}

static void add_dma(void) {
    xpu_desc_gather g = {ONE_SIGNAL,
                         .src = SOURCE,
                         .dst = TARGET,
                         .src_type = XPU_TYPE_F32,
                         .dst_type = XPU_TYPE_F32,
                         .size0 = 2,
                         .size1 = 2,
                         .size2 = 3,
                         .size3 = 5,
                         .src_stride0 = 0x200,
                         .src_stride1 = 0x100,
                         .src_stride2 = 0x20,
                         .src_stride3 = 4,
                         .dst_stride0 = 0x200,
                         .dst_stride1 = 0x100,
                         .dst_stride2 = 0x20,
                         .dst_stride3 = 4,
                         .scale = 20.0f,
                         .scale_address = FACTOR,
                         .index = INDEX,
                         .gather_dim = 2};
    static const struct {
        const char *what;
        uint32_t src_type, dst_type, scale_mode;
    } cases[] = {{"bytes", XPU_TYPE_I8, XPU_TYPE_I8, 0},
                 {"float32 to int16", XPU_TYPE_F32, XPU_TYPE_I16, XPU_SCALE_MEMORY},
                 {"int16 to float32", XPU_TYPE_I16, XPU_TYPE_F32, XPU_SCALE_ABSMAX},
                 {"float32 to uint8", XPU_TYPE_F32, XPU_TYPE_U8, XPU_SCALE_DIVISOR}};
    xpu_desc_nop_pack(add("nop", "on DMA1", XPU_ENGINE_DMA1, 0)->words[0], &(xpu_desc_nop){ONE_SIGNAL});
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        base *copy = add("copy", cases[i].what, i & 1, 1);
        g.src_type = cases[i].src_type, g.dst_type = cases[i].dst_type, g.scale_mode = cases[i].scale_mode;
        for (unsigned n = 0; n < 2; n++) {
            xpu_desc_gather_pack(copy->words[n], &g);
            copy->words[n][0] = XPU_OPCODE_COPY | (uint32_t)LAYER << 16;
            set_field(copy->words[n], "gather", "index", 0), set_field(copy->words[n], "gather", "gather_dim", 0);
            if (n == 0) set_field(copy->words[n], "gather", "dst", ELSEWHERE);
        }
        if (i == 0) continue;
        base *gather = add("gather", cases[i].what, i & 1, 0);
        xpu_desc_gather_pack(gather->words[0], &g);
    }
    base *fill = add("fill", "float32", XPU_ENGINE_DMA1, 1);
    for (unsigned n = 0; n < 2; n++) {
        memcpy(fill->words[n], bases[1].words[n], XPU_DESC_BYTES);
        fill->words[n][0] = XPU_OPCODE_FILL | (uint32_t)LAYER << 16;
        set_field(fill->words[n], "fill", "dst_type", XPU_TYPE_F32),
            set_field(fill->words[n], "fill", "value", bits(1.5f));
    }
}

/* What the kinds tensor and post share; `type`: of y and the branch. */
static xpu_desc_post post_of(uint32_t mode, uint32_t type, uint32_t y) {
    int32_t pixel = type == XPU_TYPE_F32 ? 32 : 8;
    return (xpu_desc_post){ONE_SIGNAL,
                           .post_mode = mode,
                           .activation = XPU_ACT_CLIP,
                           .x = X,
                           .y = y,
                           .params = SMALL,
                           .scale = SCALE,
                           .branch = BRANCH,
                           .y_type = type,
                           .branch_type = type,
                           .columns = 8,
                           .oh = 4,
                           .ow = 5,
                           .y_pixel_stride = pixel,
                           .y_row_stride = 8 * pixel,
                           .branch_pixel_stride = pixel,
                           .branch_row_stride = 8 * pixel};
}

static void set_params(base *b, int quantised) {
    const uint32_t integers[PARAMS] = {
        (uint32_t)-100, 100,        0,           bits(0.5f),  bits(0.7f), bits(3.0f), 5, (uint32_t)-90, 90,
        bits(1.5f),     bits(0.5f), bits(0.01f), bits(0.02f), 0,          3,          2};
    const uint32_t floats[2] = {bits(-50.0f), bits(70.0f)};
    memcpy(b->params, integers, sizeof integers);
    if (!quantised) memcpy(b->params, floats, sizeof floats);
}

/* Two descriptors before it fill the banks, so that it may accumulate. */
static base *add_tensor(const char *what, uint32_t mode, const xpu_desc_post *p) {
    uint32_t bytes = mode == XPU_OPERANDS_8X8 ? 1 : 2;
    xpu_desc_tensor d = {ONE_SIGNAL,     .channels = 6, .columns = 8,    .kh = 2,           .kw = 2,
                         .stride_h = 1,  .stride_w = 1, .dilation_h = 1, .dilation_w = 1,   .tile_rows = 4,
                         .tile_cols = 6, .oh = 8,       .ow = 8,         .pad_top = 1,      .pad_left = 1,
                         .mode = mode,   .x = X,        .w = W,          .w_row_stride = 16};
    base *b = add("tensor", what, XPU_ENGINE_TENSOR, 2);
    d.x_pixel_stride = (int32_t)(8 * bytes), d.x_row_stride = 8 * d.x_pixel_stride;
    for (d.bank = 0; d.bank < 2; d.bank++) xpu_desc_tensor_pack(b->words[d.bank], &d);
    d.bank = 1, d.drain = 1, d.oh = p->oh, d.ow = p->ow, d.start = START, d.post_mode = p->post_mode;
    d.activation = p->activation, d.y = p->y, d.params = p->params, d.scale = p->scale, d.bias = p->bias;
    d.branch = p->branch, d.findmax = p->findmax, d.absmax = p->absmax, d.lookup = p->lookup, d.y_type = p->y_type;
    d.branch_type = p->branch_type, d.y_pixel_stride = p->y_pixel_stride, d.y_row_stride = p->y_row_stride;
    d.branch_pixel_stride = p->branch_pixel_stride, d.branch_row_stride = p->branch_row_stride;
    xpu_desc_tensor_pack(b->words[2], &d);
    set_params(b, p->post_mode == XPU_POST_QUANTISED);
    return b;
}

static void add_post(const char *what, uint32_t op, uint32_t x_type, const xpu_desc_post *p) {
    static const int32_t sizes[] = {1, 1, 2, 4, 4};
    base *b = add("post", what, XPU_ENGINE_TENSOR, 1);
    xpu_desc_post d = *p;
    d.op = op, d.x_type = x_type, d.x_pixel_stride = 8 * sizes[x_type], d.x_row_stride = 8 * d.x_pixel_stride;
    for (unsigned n = 0; n < 2; n++) d.y = p->y + (n ? 0 : 0x1000), xpu_desc_post_pack(b->words[n], &d);
    set_params(b, p->post_mode == XPU_POST_QUANTISED);
}

/* One before it leaves other results; not where the address of w_absmax, which is the same for both, is tried. */
static base *add_window(const char *what, uint32_t mode, const xpu_desc_post *p) {
    const int32_t bytes = mode == XPU_OPERANDS_8X8 ? 1 : 2;
    xpu_desc_window d = {ONE_SIGNAL,
                         .x = X,
                         .w = W,
                         .start = START,
                         .mode = mode,
                         .columns = p->columns,
                         .tile_rows = 4,
                         .tile_cols = 6,
                         .oh = p->oh,
                         .ow = p->ow,
                         .kh = 2,
                         .kw = 3,
                         .stride_h = 1,
                         .stride_w = 1,
                         .dilation_h = 1,
                         .dilation_w = 1,
                         .pad_top = 1,
                         .pad_left = 1,
                         .w_row_stride = 16,
                         .x_pixel_stride = 8 * bytes,
                         .x_row_stride = 64 * bytes,
                         .x_ring_rows = 5,
                         .x_ring_first = 2,
                         .drain = 1,
                         .post_mode = p->post_mode,
                         .activation = p->activation,
                         .params = p->params,
                         .scale = p->scale,
                         .bias = p->bias,
                         .branch = p->branch,
                         .findmax = p->findmax,
                         .absmax = p->absmax,
                         .lookup = p->lookup,
                         .y_type = p->y_type,
                         .branch_type = p->branch_type,
                         .y_pixel_stride = p->y_pixel_stride,
                         .y_row_stride = p->y_row_stride,
                         .branch_pixel_stride = p->branch_pixel_stride,
                         .branch_row_stride = p->branch_row_stride};
    base *b = add("window", what, XPU_ENGINE_WINDOW, p->post_mode == XPU_POST_QUANTISED);
    for (unsigned n = 0; n < 2; n++) d.y = p->y + (n ? 0 : 0x1000), xpu_desc_window_pack(b->words[n], &d);
    set_params(b, p->post_mode == XPU_POST_QUANTISED);
    return b;
}

static void make_bases(const xpu_chip *chip) {
    uint32_t y = XPU_SM_BASE + chip->sm_bytes - OUTPUT_BYTES;
    xpu_desc_post quantised = post_of(XPU_POST_QUANTISED, XPU_TYPE_I8, y),
                  floating = post_of(XPU_POST_FLOAT, XPU_TYPE_F32, y);
    base_count = 0;
    add_dma();
    xpu_desc_nop_pack(add("nop", "on TENSOR", XPU_ENGINE_TENSOR, 0)->words[0], &(xpu_desc_nop){ONE_SIGNAL});
    quantised.lookup = LOOKUP, floating.bias = BIAS, floating.findmax = FINDMAX, floating.absmax = FACTOR;
    add_tensor("8x8, quantised", XPU_OPERANDS_8X8, &quantised);
    if (chip->window_channels) add_window("8x8, quantised", XPU_OPERANDS_8X8, &quantised);
    add_post("quantised multiply", XPU_POST_MUL, XPU_TYPE_I8, &quantised);
    add_post("float", XPU_POST_SCALE, XPU_TYPE_I16, &floating);
    floating.scale = 0;
    add_tensor("16x8, float", XPU_OPERANDS_16X8, &floating)->params[13] = FACTOR;
    if (chip->window_channels) add_window("16x8, float", XPU_OPERANDS_16X8, &floating)->params[13] = FACTOR;
}

/* ---- Values ---- */

static unsigned addresses(const xpu_chip *chip, uint64_t now, uint64_t *v) {
    const uint64_t all[] = {0,
                            now + 1,
                            now + 2,
                            now + 3,
                            now + ((uint64_t)1 << 32),
                            now + ((uint64_t)0x80 << 32),
                            XPU_REGS_BASE,
                            XPU_LM_BASE + 64,
                            XPU_LM_ALL_BASE + chip->lm_bytes - 4,
                            XPU_LM_ALL_BASE + chip->lm_bytes,
                            XPU_LM_ALL_BASE + (uint64_t)XPU_LM_ALIAS_STRIDE * chip->cores,
                            XPU_SM_BASE - 4,
                            XPU_SM_BASE + chip->sm_bytes - 4,
                            XPU_SM_BASE + chip->sm_bytes - 1,
                            XPU_SM_BASE + chip->sm_bytes,
                            0x3ffffffc,
                            XPU_L3_BASE + chip->l3_bytes - 4,
                            XPU_L3_BASE + chip->l3_bytes + 64,
                            XPU_GM_BASE + chip->gm_bytes - 4,
                            XPU_GM_BASE + chip->gm_bytes,
                            0xfffffffc,
                            0xffffffffff};
    memcpy(v, all, sizeof all);
    return sizeof all / sizeof *all;
}

/* Values to try of a field that is `now`. Of sizes and strides: about this one, or so large that no memory has room:
 * what lies between could let operands and results overlap. */
static unsigned values(const xpu_chip *chip, const xpu_desc_field *f, uint64_t now, uint64_t *v) {
    uint64_t mask = ((uint64_t)1 << f->width) - 1;
    unsigned n = 0;
    if (f->type == 'A') return addresses(chip, now, v);
    if (f->type == 'F') {
        for (; n < 3; n++) v[n] = bits((float)draw(1000) / 16.0f);
        v[n++] = 0, v[n++] = 0x007fffff, v[n++] = 0x00800000, v[n++] = bits(-1.5f); /* divisors, and none */
        return n;
    }
    if (f->width <= 4) {
        for (; n <= mask; n++) v[n] = n;
        return n;
    }
    if (strcmp(f->name, "opcode") == 0)
        for (; n < 12; n++) v[n] = n;
    const uint64_t all[] = {0,        1,        now + 1,      now + 2,      now + 3,         now - 1, 0 - now, mask,
                            mask - 1, mask / 2, mask / 2 + 1, mask / 2 + 2, mask - mask / 4, 63,      64,      254};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) v[n++] = all[i] & mask;
    return n;
}

/* ---- Runs ---- */

static void fill_memory(const xpurt_device_driver *driver, xpurt_device *device, uint32_t sm_bytes, const base *b,
                        const uint32_t *spoilt) {
    static uint8_t bytes[OPERAND_BYTES];
    const uint32_t indices[16] = {0, b->index, 2, 1};
    static const uint32_t factors[4] = {0x40a00000, 0x3f000000, 0x41200000, 0x3f800000};
    uint32_t table[4] = {b->engine, LIST, b->before + 1, 0};
    for (unsigned n = 0; n < sizeof bytes && !bytes[3]; n++) /* floats of moderate size */
        bytes[n ^ 3] = (uint8_t)(n % 4 ? draw(256) : 0x3c + draw(8));
    driver->write(device, OPERANDS, bytes, OPERAND_BYTES);
    driver->write(device, XPU_SM_BASE + sm_bytes - OUTPUT_BYTES, bytes, OUTPUT_BYTES);
    driver->write(device, SMALL, bytes, SMALL_BYTES);
    driver->write(device, SOURCE, bytes, 0x1000);
    driver->write(device, TARGET, bytes, 0x1000);
    driver->write(device, INDEX, indices, sizeof indices);
    driver->write(device, FACTOR, factors, sizeof factors);
    driver->write(device, SMALL, b->params, sizeof b->params);
    driver->write(device, LIST, b->words, b->before * XPU_DESC_BYTES);
    driver->write(device, LIST + b->before * XPU_DESC_BYTES, spoilt, XPU_DESC_BYTES);
    driver->write(device, SYSTEM_TABLE, table, sizeof table);
}

typedef struct {
    const system_chip *chip;
    xpurt_device *device, *func;
    unsigned runs, rules, faults[XPU_FAULT_COUNT]; /* rules: faults whose text names one */
} bench;

static void start_one(const xpurt_device_driver *driver, xpurt_device *device, uint32_t sm_bytes, const base *b,
                      const uint32_t *spoilt, xpurt_event *event) {
    const uint32_t request[5] = {SYSTEM_ENGINES, b->before + 1, 0, 0};
    fill_memory(driver, device, sm_bytes, b, spoilt);
    CU_ASSERT_EQUAL(driver->write(device, SYSTEM_REQUEST, request, sizeof request), 0);
    CU_ASSERT_EQUAL_FATAL(driver->start(device, system_entry), 0);
    CU_ASSERT_EQUAL_FATAL(driver->run(device, 100000, event), 0);
}

/* The report of an engine's fault in words; "" where there is none. */
static const char *report_of(const xpurt_event *event) {
    const xpurt_fault *f = event->kind == XPURT_EVENT_FAULT ? event->fault : NULL;
    if (!f || f->engine < 0) return "";
    return xpu_printf(arena, "%s: %s; engine %d, descriptor 0x%llx, address 0x%llx, layer %u", f->cause_text, f->reason,
                      f->engine, (unsigned long long)f->descriptor, (unsigned long long)f->address, (unsigned)f->layer);
}

/* The functional chip reports what the Verilated one has. */
static int same_report(bench *t, const base *b, const uint32_t *spoilt, const xpurt_event *rtl) {
    xpurt_event func;
    const char *text = report_of(rtl);
    start_one(&xpu_func_driver, t->func, t->chip->chip.sm_bytes, b, spoilt, &func);
    if (text[0]) t->rules += strcmp(rtl->fault->reason, xpu_sim_cause_reason((xpu_fault_cause)rtl->fault->cause)) != 0;
    if (rtl->kind == func.kind && strcmp(text, report_of(&func)) == 0) return 1;
    printf("\nrtl: event %d, %s\nfunc: event %d, %s", rtl->kind, text, func.kind, report_of(&func));
    return 0;
}

/* Runs b with another last descriptor; how it has ended. Whatever happens: lock-step has seen no difference. */
static xpurt_event_kind run_one(bench *t, const base *b, const uint32_t *spoilt, const char *what) {
    xpurt_event event;
    start_one(t->chip->driver, t->device, t->chip->chip.sm_bytes, b, spoilt, &event);
    t->runs++;
    const xpurt_fault *fault = event.kind == XPURT_EVENT_FAULT ? event.fault : NULL;
    int good = event.kind == XPURT_EVENT_ENDED || (fault && fault->cause != XPU_FAULT_NONE);
    if (fault) t->faults[fault->cause]++;
    if (fault && fault->engine >= 0)
        good = good && fault->descriptor == LIST + b->before * XPU_DESC_BYTES &&
               fault->layer == xpu_desc_nop_get_layer(spoilt);
    good = same_report(t, b, spoilt, &event) && good;
    if (!good)
        printf("\n%s, %s, %s, %s: event %d, %s: %s\n", t->chip->name, b->kind, b->what, what, event.kind,
               fault ? fault->cause_text : "", fault ? fault->reason : "");
    CU_ASSERT_TRUE(good);
    return event.kind;
}

static void all_fields(bench *t, const base *b) {
    const uint32_t *legal = b->words[b->before];
    CU_ASSERT_EQUAL(run_one(t, b, legal, "as it is"), XPURT_EVENT_ENDED);
    for (unsigned k = 0; k < xpu_desc_field_count; k++) {
        const xpu_desc_field *f = &xpu_desc_fields[k];
        uint64_t v[MOST_VALUES];
        if (strcmp(f->kind, b->kind) != 0) continue;
        unsigned count = values(&t->chip->chip, f, xpu_desc_get(legal, f), v);
        for (unsigned i = 0; i < count; i++) {
            uint32_t words[XPU_DESC_WORDS];
            memcpy(words, legal, sizeof words);
            xpu_desc_set(words, f, v[i]);
            run_one(t, b, words, xpu_printf(arena, "%s = 0x%llx", f->name, (unsigned long long)v[i]));
        }
    }
}

/* The address of w_absmax stands in the parameter block. */
static void absmax_of_weights(bench *t, base *b) {
    uint64_t v[MOST_VALUES];
    unsigned count = addresses(&t->chip->chip, FACTOR, v);
    for (unsigned i = 0; i < count; i++) {
        b->params[13] = (uint32_t)v[i];
        run_one(t, b, b->words[b->before], xpu_printf(arena, "w_absmax = 0x%x", (unsigned)v[i]));
    }
    b->params[13] = FACTOR;
}

/* The indices stand in memory. */
static void indices_of_gather(bench *t, base *b) {
    static const uint32_t values[] = {0x00800000, 0x7fffffff, 0x80000000, 0xffffff00, 0x02000000, 0xfc000000};
    unsigned before = t->faults[XPU_FAULT_ENGINE_ADDRESS];
    for (unsigned i = 0; i < 6; i++) {
        b->index = values[i];
        run_one(t, b, b->words[b->before], xpu_printf(arena, "index 0x%x", values[i]));
    }
    CU_ASSERT(t->faults[XPU_FAULT_ENGINE_ADDRESS] >= before + 3);
    b->index = 1;
}

void test_fields(void) {
    for (int c = 0; c < CHIPS; c++) {
        static outcome o;
        const uint32_t request[5] = {SYSTEM_PRINT};
        bench t = {.chip = &chips[c]};
        random_state = 1;
        make_bases(&chips[c].chip);
        chips[c].configure(&(xpurt_rtl_options){.lockstep = 1});
        t.device = prepare(chips[c].driver, &chips[c].chip, request, &o);
        t.func = prepare(&xpu_func_driver, &chips[c].chip, request, &o);
        for (unsigned i = 0; i < base_count; i++) {
            unsigned before[XPU_FAULT_COUNT];
            memcpy(before, t.faults, sizeof before);
            all_fields(&t, &bases[i]);
            if (bases[i].params[13]) absmax_of_weights(&t, &bases[i]);
            if (strcmp(bases[i].kind, "gather") == 0) indices_of_gather(&t, &bases[i]);
            CU_ASSERT(t.faults[XPU_FAULT_DESCRIPTOR] > before[XPU_FAULT_DESCRIPTOR] + 10);
            if (strcmp(bases[i].kind, "nop") == 0) continue;
            CU_ASSERT(t.faults[XPU_FAULT_ENGINE_ADDRESS] > before[XPU_FAULT_ENGINE_ADDRESS] + 20);
            if (i > 1) CU_ASSERT(t.faults[XPU_FAULT_MISALIGNED] > before[XPU_FAULT_MISALIGNED] + 2);
        }
        CU_ASSERT_EQUAL(t.rules, t.faults[XPU_FAULT_DESCRIPTOR] + t.faults[XPU_FAULT_ENGINE_ADDRESS] +
                                     t.faults[XPU_FAULT_MISALIGNED]);
        chips[c].driver->destroy(t.device);
        xpu_func_driver.destroy(t.func);
        printf("\n%s: %u runs, %u bad descriptors, %u bad engine addresses, %u misaligned, ", chips[c].name, t.runs,
               t.faults[XPU_FAULT_DESCRIPTOR], t.faults[XPU_FAULT_ENGINE_ADDRESS], t.faults[XPU_FAULT_MISALIGNED]);
    }
}
