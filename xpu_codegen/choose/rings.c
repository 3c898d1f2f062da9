/*
 * Rings. A product and the depthwise windows over its result meet in SM: the product leaves rows in a ring for each of
 * its column tiles, the windows read them there, and neither waits for a store and a load. A product of the windows'
 * pixels may read their results there, too. Of all tiles that have room the fastest are taken, by a model
 * (row_walks.h).
 */
#include "xpu_codegen/choose/rings.h"

#include <math.h>

#include "xpu_codegen/choose/costs.h"
#include "xpu_codegen/choose/row_walks.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum {
    MOST_STEPS = XPU_WALK_MOST_STEPS,
    MOST_FIELD = 65535,   /* rows and channels that descriptors have fields for */
    BEHIND_LISTED = 3,    /* descriptors of a step of the product behind: a branch, a product, a store */
    MOST_LAGS = 4,        /* of half a tile each */
    MOST_WALKED = 1 << 23 /* descriptors that walks for one pipeline look at: images of very many rows */
};

/* Bytes of SM. */
static uint64_t bytes_of(const xpu_row_walk *p, const xpu_tiling_ring *ring) {
    const uint64_t both = xpu_tiling_ring_layout(&p->product, &p->windows, ring, p->columns, 0, XPU_TILING_I8).total;
    if (!p->readers) return both;
    return (both + 63) / 64 * 64 +
           xpu_tiling_behind(&p->behind, ring, p->tile_c, p->columns, p->has_branch, XPU_TILING_I8);
}

/* The largest ring of a tile and a step that SM, and a descriptor's fields, have room for; 0: none. */
static int find_room(xpu_row_walk *p, int64_t room, int64_t *bytes) {
    const int32_t made = p->ring.made_rows, whole = xpu_parts(p->windows.in_h, made) * made;
    p->ring.rows = 0;
    if (p->ring.step_rows > MOST_FIELD || xpu_walk_rows(&p->product, made) > MOST_FIELD) return 0;
    for (int32_t rows = xpu_tiling_least_ring(&p->windows, made, p->ring.step_rows);; rows += made) {
        xpu_tiling_ring wanted = p->ring;
        wanted.rows = rows < whole ? rows : whole;
        const uint64_t total = bytes_of(p, &wanted);
        if (total > (uint64_t)room || wanted.rows > MOST_FIELD) break;
        p->ring = wanted;
        *bytes = (int64_t)total;
        if (rows >= whole) break;
    }
    return p->ring.rows != 0;
}

static int32_t next_rows(int32_t total, int32_t rows) {
    return rows == 1 ? 0 : xpu_parts(total, xpu_parts(total, rows - 1));
}

/* Cycles; negative: it cannot be. */
static double try_ring(xpu_codegen *cg, xpu_row_walk *p, int64_t room, xpu_row_pipeline *best) {
    int64_t bytes = 0;
    p->tiles = xpu_parts(p->product.out_h, p->ring.made_rows);
    p->steps = xpu_parts(p->windows.out_h, p->ring.step_rows);
    const int64_t products = (int64_t)p->tiles * p->blocks, windows = (int64_t)p->steps * p->blocks,
                  behind = (int64_t)p->steps * p->readers * (p->readers ? xpu_parts(p->behind.in_c, p->tile_c) : 0);
    if (products > MOST_STEPS || windows > MOST_STEPS || BEHIND_LISTED * behind > MOST_STEPS) return -1;
    if (p->walked > MOST_WALKED || !find_room(p, room, &bytes)) return -1;
    p->walked += products + windows + behind;
    const double cycles = xpu_walk_cycles(cg, p);
    if (cycles >= 0 && (best->cycles < 0 || cycles < best->cycles)) *best = (xpu_row_pipeline){p->ring, bytes, cycles};
    return cycles;
}

/* With slots for the product behind, and how far it comes behind what it reads: those of the best so far, and others
 * where that comes near it. */
static void try_slots(xpu_codegen *cg, xpu_row_walk *p, int64_t room, xpu_row_pipeline *best) {
    const double near = 1.25;
    const xpu_tiling_ring ring = p->ring;
    if (!p->readers) {
        try_ring(cg, p, room, best);
        return;
    }
    if (best->cycles >= 0) {
        const double least = best->cycles;
        p->ring.slots = best->ring.slots;
        p->ring.lag = best->ring.lag;
        if (try_ring(cg, p, room, best) > near * least) return;
    }
    for (int32_t slots = 1; slots <= XPU_MOST_SLOTS; slots++) {
        for (int32_t lags = 0; lags <= MOST_LAGS; lags++) {
            p->ring = ring;
            p->ring.slots = slots;
            p->ring.lag = lags * p->blocks / 2;
            if (lags == 0 || p->ring.lag > (lags - 1) * p->blocks / 2) try_ring(cg, p, room, best);
        }
    }
}

static void try_rings(xpu_codegen *cg, xpu_row_walk *p, int64_t room, xpu_row_pipeline *best) {
    const xpu_tiling_shape *x = &p->product, *s = &p->windows;
    const int32_t most = (int32_t)cg->chip.acc_rows / x->out_w;
    best->cycles = -1;
    p->walked = 0;
    for (int32_t made = most < x->out_h ? xpu_parts(x->out_h, xpu_parts(x->out_h, most)) : x->out_h; made > 0;
         made = next_rows(x->out_h, made)) {
        for (int32_t rows = s->out_h; rows > 0; rows = next_rows(s->out_h, rows)) {
            if (p->readers && (int64_t)rows * s->out_w > (int64_t)cg->chip.acc_rows) continue;
            for (int32_t whole_w = made < x->out_h; whole_w < 2; whole_w++) {
                p->ring = (xpu_tiling_ring){.made_rows = made, .step_rows = rows, .whole_w = whole_w};
                try_slots(cg, p, room, best);
            }
        }
    }
}

static void set_behind(xpu_codegen *cg, xpu_row_walk *p, const xpu_behind *behind) {
    p->behind = xpu_tiling_shape_of(cg, behind->shape);
    p->readers = xpu_tiling_column_tiles(p->behind.out_c, p->columns);
    p->has_branch = behind->has_branch;
    p->tile_c = behind->tile_c;
}

/* In half of the room, where that is about as fast: layers before and behind have room for their scratch. */
static void prefer_half(xpu_row_pipeline *best, const xpu_row_pipeline *half) {
    if (half->cycles >= 0 && half->cycles <= best->cycles + xpu_cost.half) *best = *half;
}

const char *xpu_choose_ring(xpu_codegen *cg, const xpu_conv_shape *product, int32_t tile_c,
                            const xpu_conv_shape *windows, const xpu_behind *behind, xpu_row_pipeline *best) {
    const xpu_conv_shape loaded = xpu_loaded_shape(cg, product);
    xpu_row_walk p = {.product = xpu_tiling_shape_of(cg, &loaded),
                      .windows = xpu_tiling_shape_of(cg, windows),
                      .columns = (int32_t)cg->chip.array_columns,
                      .quantised = product->quantised,
                      .pad_top = (int32_t)windows->begin[0]};
    const int64_t room = (int64_t)cg->chip.sm_bytes - (int64_t)XPU_MAILBOX_BYTES * XPU_MAX_CORES;
    const xpu_tiling_shape *x = &p.product, *s = &p.windows;
    p.blocks = xpu_tiling_column_tiles(x->out_c, p.columns);
    if (xpu_dim_upper(cg, product->batch) != 1) return "there are several images";
    if (x->groups != 1 || tile_c < x->in_c) return "the product has its channels in parts";
    if (x->out_w > (int32_t)cg->chip.acc_rows || p.blocks > MOST_STEPS) return "a row is more than accumulators hold";
    if (s->in_c > MOST_FIELD || x->in_w > MOST_FIELD) return "a row is more than a descriptor's fields hold";
    if (behind) set_behind(cg, &p, behind);
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "rings");
    p.made_at = XPU_NEW_ARRAY(scratch, double, MOST_STEPS);
    p.done_at = XPU_NEW_ARRAY(scratch, double, MOST_STEPS);
    p.read_at = XPU_NEW_ARRAY(scratch, double, MOST_STEPS);
    xpu_row_pipeline half;
    try_rings(cg, &p, room, best);
    try_rings(cg, &p, room / 2, &half);
    prefer_half(best, &half);
    xpu_arena_free(scratch);
    return best->cycles < 0 ? "shared memory has no room for rows of both" : NULL;
}

/* ---- windows in front ---- */

static void try_steps(xpu_codegen *cg, xpu_row_walk *p, int has_weights, int64_t room, xpu_row_pipeline *best) {
    const xpu_tiling_shape *s = &p->windows;
    best->cycles = -1;
    for (int32_t rows = s->out_h; rows > 0; rows = next_rows(s->out_h, rows)) {
        p->steps = xpu_parts(s->out_h, rows);
        if ((int64_t)rows * s->out_w > (int64_t)cg->chip.acc_rows || rows > MOST_FIELD ||
            xpu_walk_rows(s, rows) > MOST_FIELD)
            continue;
        const int64_t behind = (int64_t)p->steps * p->readers * xpu_parts(p->behind.in_c, p->tile_c);
        if (2 * (int64_t)p->steps + BEHIND_LISTED * behind > MOST_STEPS) break;
        for (int32_t slots = 2; slots <= XPU_MOST_SLOTS; slots++) {
            p->ring = (xpu_tiling_ring){.step_rows = rows, .slots = slots};
            const uint64_t bytes =
                xpu_tiling_before_slots(s, rows, has_weights) +
                xpu_tiling_behind(&p->behind, &p->ring, p->tile_c, p->columns, p->has_branch, XPU_TILING_I8);
            if (bytes > (uint64_t)room) continue;
            const double cycles = xpu_walk_cycles(cg, p);
            if (best->cycles < 0 || cycles < best->cycles) *best = (xpu_row_pipeline){p->ring, (int64_t)bytes, cycles};
        }
    }
}

const char *xpu_choose_slots(xpu_codegen *cg, const xpu_conv_shape *windows, int has_weights, const xpu_behind *behind,
                             xpu_row_pipeline *best) {
    xpu_row_walk p = {.windows = xpu_tiling_shape_of(cg, windows), .columns = (int32_t)cg->chip.array_columns};
    const int64_t room = (int64_t)cg->chip.sm_bytes - (int64_t)XPU_MAILBOX_BYTES * XPU_MAX_CORES;
    const xpu_tiling_shape *s = &p.windows;
    if (xpu_dim_upper(cg, windows->batch) != 1) return "there are several images";
    if (has_weights && xpu_tiling_window_parts(s->kernel_h) * xpu_tiling_window_parts(s->kernel_w) > 1)
        return "the kernel of those is parts";
    if (s->in_c > MOST_FIELD || s->in_w > MOST_FIELD) return "a row is more than a descriptor's fields hold";
    set_behind(cg, &p, behind);
    p.blocks = 1; /* a step of the windows has all channels */
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "slots");
    p.done_at = XPU_NEW_ARRAY(scratch, double, MOST_STEPS);
    p.read_at = XPU_NEW_ARRAY(scratch, double, MOST_STEPS);
    xpu_row_pipeline half;
    try_steps(cg, &p, has_weights, room, best);
    try_steps(cg, &p, has_weights, room / 2, &half);
    prefer_half(best, &half);
    xpu_arena_free(scratch);
    return best->cycles < 0 ? "shared memory has no room for rows of both" : NULL;
}
