#include "tests/rtl/tensor/bench.h"

#include <stdio.h>
#include <string.h>

#include "core/arith.h"
#include "sim/func/engine.h"
#include "sim/func/func.h"
#include "sim/func/memory.h"
#include "sim/func/queues.h"
#include "tests/gen/descriptors.h"

uint32_t draw(bench *b, uint32_t bound) {
    b->random = b->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((b->random >> 33) * bound >> 31);
}

int draw_between(bench *b, int low, int high) {
    return low + (int)draw(b, (uint32_t)(high - low + 1));
}

uint8_t *host(const bench *b, uint32_t address) {
    return xpu_func_host(b->func, address);
}

void store(const bench *b, uint32_t address, uint32_t word) {
    memcpy(host(b, address), &word, 4);
}

void scribble(bench *b, uint32_t address, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i += 4) {
        b->random = b->random * 6364136223846793005u + 1442695040888963407u;
        store(b, address + i, (uint32_t)(b->random >> 32));
    }
}

uint32_t draw_float(bench *b, float size) {
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000, 0,          0x80000000, 1,
                                       0x807fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf000000};
    uint32_t kind = draw(b, 64);
    if (kind == 0) return special[draw(b, 12)];
    if (kind == 1) return draw(b, 1u << 31) << 1 | draw(b, 2);
    return xa_bits(((float)draw(b, 1u << 24) / (float)(1 << 23) - 1.0f) * size);
}

const unsigned type_size[5] = {1, 1, 2, 4, 4};
static const uint32_t float_types[] = {XPU_TYPE_F32, XPU_TYPE_I16, XPU_TYPE_I8};

uint32_t bits_int(int x) {
    return (uint32_t)x;
}

void draw_small(bench *b, uint32_t at, int quantised, float scale) {
    uint32_t p[XPU_POST_WORDS];
    for (unsigned i = 0; i < XPU_POST_WORDS; i++) p[i] = 0;
    p[0] = quantised ? bits_int(draw_between(b, -128, 0)) : draw_float(b, 20.0f);
    p[1] = quantised ? bits_int(draw_between(b, 10, 255)) : draw_float(b, 500.0f);
    p[2] = draw_float(b, 0.5f);
    p[3] = draw_float(b, 1.0f), p[4] = draw_float(b, 1.5f), p[5] = draw_float(b, 30.0f);
    p[6] = bits_int(draw_between(b, -128, 255));
    p[7] = bits_int(draw_between(b, -128, -50)), p[8] = bits_int(draw_between(b, 50, 255));
    p[9] = draw_float(b, 2.0f), p[10] = draw_float(b, 0.1f);
    p[11] = draw(b, 2) ? 0x3f800000 : draw_float(b, 0.1f);
    p[12] = draw_float(b, scale);
    p[13] = draw(b, 2) ? at + W_ABSMAX : 0;
    p[14] = bits_int(draw_between(b, -128, 255)), p[15] = bits_int(draw_between(b, -128, 255));
    memcpy(host(b, at + PARAMS), p, sizeof p);
    for (uint32_t i = 0; i < 256; i++) {
        store(b, at + SCALE + 4 * i, draw_float(b, scale));
        store(b, at + BIAS + 4 * i, draw_float(b, 100.0f));
        store(b, at + START + 4 * i, draw(b, 8) ? bits_int(draw_between(b, -100000, 100000)) : draw(b, 1u << 31) << 1);
    }
    scribble(b, at + TABLE, 260);
    store(b, at + FINDMAX, draw(b, 2) ? 0 : draw_float(b, 100.0f));
    store(b, at + ABSMAX, draw_float(b, 50.0f) & (draw(b, 8) ? 0x7fffffff : 0xffffffff));
    store(b, at + W_ABSMAX, draw_float(b, 2.0f) & 0x7fffffff);
}

uint32_t draw_strides(bench *b, const xpu_desc_post *d, unsigned element, int is_read, int32_t *pixel, int32_t *row) {
    uint32_t first = 0;
    *pixel = (int32_t)((d->columns + draw(b, 3)) * element);
    *row = (int32_t)(d->ow * (uint32_t)*pixel + draw(b, 3) * element);
    if (is_read && draw(b, 6) == 0) *pixel = 0;
    if (is_read && draw(b, 6) == 0) *row = 0;
    if (draw(b, 8) == 0) first += (d->ow - 1) * (uint32_t)*pixel, *pixel = -*pixel;
    if (draw(b, 8) == 0) first += (d->oh - 1) * (uint32_t)*row, *row = -*row;
    return first;
}

void draw_post(bench *b, xpu_desc_post *d, unsigned index) {
    int quantised = d->post_mode == XPU_POST_QUANTISED;
    uint32_t small = SMALL_AT + SMALL_BYTES * index;
    d->params = small + PARAMS, d->y = Y_AT + Y_BYTES * index + 16 * draw(b, 5);
    d->y_type = quantised ? draw(b, 2) : float_types[draw(b, 3)];
    d->branch_type = quantised ? draw(b, 2) : float_types[draw(b, 3)];
    d->activation = draw(b, 3), d->act_after = draw(b, 2), d->branch_first = draw(b, 2);
    d->scale = draw(b, 2) ? small + SCALE : 0;
    d->branch = draw(b, 2) ? BRANCH_AT + 4 * draw(b, 64) : 0;
    d->bias = !quantised && draw(b, 2) ? small + BIAS : 0;
    d->findmax = !quantised && draw(b, 2) ? small + FINDMAX : 0;
    d->lookup = quantised && draw(b, 3) == 0 ? small + TABLE + draw(b, 4) : 0;
    if (!quantised && draw(b, 4) == 0 && d->op == XPU_POST_SCALE) {
        d->activation = XPU_ACT_HARD_SWISH;
        d->y_type = XPU_TYPE_F32, d->branch = 0;
    }
    d->clip_last = !quantised && d->activation != XPU_ACT_HARD_SWISH && d->y_type == XPU_TYPE_F32 && draw(b, 2);
    unsigned yb = type_size[d->y_type], bb = type_size[d->branch_type];
    if (yb == 1) d->y += draw(b, 4);
    if (d->branch && bb == 1) d->branch += draw(b, 4);
    d->y += draw_strides(b, d, yb, 0, &d->y_pixel_stride, &d->y_row_stride);
    uint32_t first = draw_strides(b, d, bb, 1, &d->branch_pixel_stride, &d->branch_row_stride);
    if (d->branch) d->branch += first;
}

int func_run(bench *b, const uint32_t *words, unsigned count) {
    uint32_t list = XPU_GM_BASE;
    memcpy(host(b, list), words, (size_t)count * XPU_DESC_BYTES);
    xpu_func_queue_push(b->func, b->engine, 0, list, count);
    xpu_func_engines_run(b->func);
    int cause = (int)b->func->fault.cause;
    b->fault_address = (uint32_t)b->func->fault.address;
    memset(&b->func->fault, 0, sizeof b->func->fault);
    memset(b->func->queues, 0, sizeof b->func->queues);
    return cause;
}

unsigned differences(const bench *b, uint32_t from, uint32_t bytes, uint32_t *where) {
    unsigned count = 0;
    for (uint32_t at = from; at < from + bytes; at += 4) {
        uint32_t f, r;
        memcpy(&f, host(b, at), 4);
        memcpy(&r, rtl_memory(b->rtl, at), 4);
        if (f == r || ((f & 0x7fffffff) > 0x7f800000 && r == 0x7fc00000)) continue;
        if (count++ == 0) *where = at;
    }
    return count;
}

void copy_memory(const bench *b) {
    memcpy(rtl_memory(b->rtl, XPU_SM_BASE), host(b, XPU_SM_BASE), RTL_SM_BYTES);
    memcpy(rtl_memory(b->rtl, XPU_L3_BASE), host(b, XPU_L3_BASE), RTL_L3_BYTES);
}

static void describe_list(const bench *b, const uint32_t *words, unsigned count) {
    for (unsigned i = 0; i < count; i++) b->describe(words + (size_t)i * XPU_DESC_WORDS, i);
}

int func_runs(bench *b, const uint32_t *words, unsigned count, uint32_t seed) {
    if (func_run(b, words, count) == XPU_FAULT_NONE) return 1;
    printf("seed %u: functional engine: %s\n", seed, b->func->reason);
    describe_list(b, words, count);
    b->failed++;
    return 0;
}

void compare_list(bench *b, const uint32_t *words, unsigned count, uint32_t seed, uint32_t timing) {
    uint32_t where = 0;
    rtl_result r = rtl_run(b->rtl, words, count, timing);
    unsigned wrong = differences(b, XPU_SM_BASE, RTL_SM_BYTES, &where);
    if (!wrong) wrong = differences(b, XPU_L3_BASE, RTL_L3_BYTES, &where);
    if (!r.fault && !r.hung && !wrong) {
        b->passed++;
        return;
    }
    printf("seed %u, timing %u: fault %d, %s, %u of %u descriptors, %u words differ, the first at 0x%x\n", seed, timing,
           r.fault, r.hung ? "hung" : "not hung", r.done, count, wrong, where);
    describe_list(b, words, count);
    b->failed++;
}

void compare_fault(bench *b, uint32_t *words, const char *kind, const char *field, uint64_t value) {
    set_field(words, kind, field, value);
    int expected = func_run(b, words, 1);
    rtl_result r = rtl_run(b->rtl, words, 1, 0);
    int has_address = expected != XPU_FAULT_NONE && expected != XPU_FAULT_DESCRIPTOR;
    int same_address = !has_address || r.fault_address == b->fault_address;
    if (r.fault == expected && same_address && !r.hung && r.done == !expected) {
        b->passed++;
        return;
    }
    printf("%s.%s = %llu: fault %d at 0x%x, expected %d at 0x%x%s\n", kind, field, (unsigned long long)value, r.fault,
           r.fault_address, expected, b->fault_address, r.hung ? ", hung" : "");
    b->failed++;
}

int bench_open(bench *b, const xpu_chip *chip, unsigned engine, describe_fn *describe, xpu_diags *diags) {
    *b = (bench){.engine = engine, .describe = describe};
    xpu_diags_init(diags);
    b->device = xpu_func_driver.create(chip, diags);
    if (!b->device) return 0;
    b->func = xpu_func_of(b->device);
    b->rtl = rtl_create();
    return 1;
}

int bench_close(bench *b, xpu_diags *diags) {
    rtl_destroy(b->rtl);
    xpu_func_driver.destroy(b->device);
    xpu_diags_clear(diags);
    printf("%u passed, %u failed\n", b->passed, b->failed);
    return b->failed != 0;
}
