/*
 * Rings. A product and the depthwise windows over its result meet in SM: the product leaves rows in a ring for each of
 * its column tiles, the windows read them there, and neither waits for a store and a load. The model walks through the
 * steps of both engines as their descriptors do: a step begins when its engine is free and what its waits name is done.
 */
#include "xpu_codegen/choose/rings.h"

#include <math.h>

#include "xpu_codegen/choose/costs.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/record.h"

/* Cycles, measured on the Verilated standard chip. */
enum {
    PRODUCT_STEP = 30, /* between steps of the tensor engine, and from the last sum to the counter */
    PRODUCT_DRAIN = 60,
    WINDOW_STEP = 90, /* the same of the window engine, for each group of channels */
    WINDOW_DRAIN = 60,
    STORE_STEP = 70,
    LINE_BYTES = 64,
    QUANTISED_LANES = 16,
    MOST_STEPS = XPU_MOST_LISTED / 4,
    MOST_FIELD = 65535, /* rows and channels that descriptors have fields for */
    LOADS = 600         /* until the first tile and its weights are there */
};

typedef struct {
    xpu_tiling_shape product, windows;
    xpu_tiling_ring ring;
    int32_t columns, blocks, tiles, steps, pad_top;
    int quantised;                  /* DMA makes the product's bytes as it loads them */
    double made, load, step, store; /* cycles of a step of each unit */
    double *made_at, *done_at;      /* when a step of the product, of the windows is over: [tile or step][block] */
} pipeline;

static int32_t parts(int32_t total, int32_t part) {
    return (total + part - 1) / part;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* When the product may write a tile of a column tile: behind the last step that reads what stood there. */
static double room_at(const pipeline *p, int32_t tile, int32_t block) {
    const int32_t last = (tile + 1) * p->ring.made_rows - p->ring.rows - 1;
    if (last < 0 || last + p->pad_top < 0) return 0;
    int32_t step = (last + p->pad_top) / (p->ring.step_rows * p->windows.stride_h);
    if (step >= p->steps) step = p->steps - 1;
    return p->done_at[step * p->blocks + block];
}

/* The tile of the product with the last row that a step of the windows reads. */
static int32_t last_tile(const pipeline *p, int32_t step) {
    const xpu_tiling_shape *s = &p->windows;
    const int32_t reach = (s->kernel_h - 1) * s->dilation_h + 1, end = (step + 1) * p->ring.step_rows;
    const int32_t last = ((end < s->out_h ? end : s->out_h) - 1) * s->stride_h - p->pad_top + reach - 1;
    const int32_t row = last < 0 ? 0 : last < s->in_h ? last : s->in_h - 1;
    return row / p->ring.made_rows;
}

static double walk(pipeline *p) {
    double array = LOADS, window = 0, store = 0;
    double stored[3] = {0};
    int32_t made = 0, turn = 0;
    for (int32_t step = 0; step < p->steps; step++) {
        for (; made <= last_tile(p, step); made++) {
            for (int32_t block = 0; block < p->blocks; block++) {
                array = larger(array, room_at(p, made, block)) + p->made;
                p->made_at[made * p->blocks + block] = array + p->load + PRODUCT_DRAIN;
            }
        }
        for (int32_t block = 0; block < p->blocks; block++) {
            const double ready = p->made_at[last_tile(p, step) * p->blocks + block];
            window = larger(larger(window, ready), stored[turn]) + p->step;
            p->done_at[step * p->blocks + block] = window + WINDOW_DRAIN;
            store = larger(store, window + WINDOW_DRAIN) + p->store;
            stored[turn] = store;
            turn = (turn + 1) % 3;
        }
    }
    return larger(store, array + (double)(p->tiles - made) * p->blocks * p->made);
}

/* Of a tile of so many rows of results. */
static int32_t input_rows(const xpu_tiling_shape *s, int32_t rows) {
    return xpu_tiling_input_extent(rows, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
}

static void set_cycles(const xpu_codegen *cg, pipeline *p) {
    const xpu_tiling_shape *s = &p->windows, *x = &p->product;
    const xpu_tiling_ring *r = &p->ring;
    const int32_t rows = input_rows(s, r->step_rows);
    const int32_t taps = parts(s->kernel_h * s->kernel_w, XPU_WINDOW_TAPS);
    const double pixels = (double)r->made_rows * s->in_w, outputs = (double)r->step_rows * s->out_w;
    const double passes = parts(x->kernel_h * x->kernel_w * x->in_c, (int32_t)cg->chip.array_rows);
    const double row_loads = parts((int32_t)cg->chip.array_rows, (int32_t)cg->chip.weight_rows);
    const double drain = parts(p->columns, (int32_t)cg->chip.post_lanes);
    const double groups = parts(p->columns < s->in_c ? p->columns : s->in_c, (int32_t)cg->chip.window_channels);
    const double together = LINE_BYTES / p->columns > 1 ? LINE_BYTES / p->columns : 1; /* pixels of a line */
    const double gm = cg->chip.gm_rate < LINE_BYTES ? cg->chip.gm_rate : LINE_BYTES;
    p->load = pixels * drain;
    p->made = larger(passes * larger(pixels, row_loads), p->load) + PRODUCT_STEP;
    if (p->quantised) { /* 16 elements a cycle, for all column tiles */
        const int32_t x_rows = xpu_tiling_input_extent(r->made_rows, x->stride_h, x->kernel_h, x->dilation_h, x->in_h);
        p->made = larger(p->made, ((double)x_rows * x->in_w * x->in_c / QUANTISED_LANES + xpu_cost.copy) / p->blocks);
    }
    if (!r->whole_w) { /* each step has a block of weights, whose place is free behind the one three steps before */
        const double block = (double)x->kernel_h * x->kernel_w * x->in_c * p->columns / gm;
        p->made = larger(p->made, (p->made + p->load + PRODUCT_DRAIN + block + xpu_cost.copy) / 3);
        p->made = larger(p->made, block);
    }
    p->step = groups * (larger(taps * outputs, (double)rows * s->in_w / together) + WINDOW_STEP);
    p->store = outputs * parts(p->columns, LINE_BYTES) + STORE_STEP;
}

/* The largest ring of a tile and a step that SM, and a descriptor's fields, have room for; 0: none. */
static int find_room(pipeline *p, int64_t room, int64_t *bytes) {
    const int32_t made = p->ring.made_rows, whole = parts(p->windows.in_h, made) * made;
    p->ring.rows = 0;
    if (p->ring.step_rows > MOST_FIELD || input_rows(&p->product, made) > MOST_FIELD) return 0;
    for (int32_t rows = xpu_tiling_least_ring(&p->windows, made, p->ring.step_rows);; rows += made) {
        const xpu_tiling_ring wanted = {rows < whole ? rows : whole, made, p->ring.step_rows, p->ring.whole_w};
        const xpu_tiling_ring_scratch at =
            xpu_tiling_ring_layout(&p->product, &p->windows, &wanted, p->columns, 0, XPU_TILING_I8);
        if (at.total > (uint64_t)room || wanted.rows > MOST_FIELD) break;
        p->ring = wanted;
        *bytes = (int64_t)at.total;
        if (rows >= whole) break;
    }
    return p->ring.rows != 0;
}

static int32_t next_rows(int32_t total, int32_t rows) {
    return rows == 1 ? 0 : parts(total, parts(total, rows - 1));
}

static void try_ring(xpu_codegen *cg, pipeline *p, int64_t room, xpu_row_pipeline *best) {
    int64_t bytes = 0;
    p->tiles = parts(p->product.out_h, p->ring.made_rows);
    p->steps = parts(p->windows.out_h, p->ring.step_rows);
    if ((int64_t)p->tiles * p->blocks > MOST_STEPS || (int64_t)p->steps * p->blocks > MOST_STEPS) return;
    if (!find_room(p, room, &bytes)) return;
    set_cycles(cg, p);
    const double cycles = walk(p);
    if (best->cycles >= 0 && cycles >= best->cycles) return;
    *best = (xpu_row_pipeline){p->ring, bytes, cycles};
}

static void try_rings(xpu_codegen *cg, pipeline *p, int64_t room, xpu_row_pipeline *best) {
    const xpu_tiling_shape *x = &p->product, *s = &p->windows;
    const int32_t most = (int32_t)cg->chip.acc_rows / x->out_w;
    best->cycles = -1;
    for (int32_t made = most < x->out_h ? parts(x->out_h, parts(x->out_h, most)) : x->out_h; made > 0;
         made = next_rows(x->out_h, made)) {
        for (int32_t rows = s->out_h; rows > 0; rows = next_rows(s->out_h, rows)) {
            for (int32_t whole_w = made < x->out_h; whole_w < 2; whole_w++) {
                p->ring = (xpu_tiling_ring){0, made, rows, whole_w};
                try_ring(cg, p, room, best);
            }
        }
    }
}

const char *xpu_choose_ring(xpu_codegen *cg, const xpu_conv_shape *product, int32_t tile_c,
                            const xpu_conv_shape *windows, xpu_row_pipeline *best) {
    const xpu_conv_shape loaded = xpu_loaded_shape(cg, product);
    pipeline p = {.product = xpu_tiling_shape_of(cg, &loaded),
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
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "rings");
    p.made_at = XPU_NEW_ARRAY(scratch, double, MOST_STEPS);
    p.done_at = XPU_NEW_ARRAY(scratch, double, MOST_STEPS);
    xpu_row_pipeline half;
    try_rings(cg, &p, room, best);
    try_rings(cg, &p, room / 2, &half);
    /* layers before and behind have room for their scratch */
    if (half.cycles >= 0 && half.cycles <= best->cycles + xpu_cost.half) *best = half;
    xpu_arena_free(scratch);
    return best->cycles < 0 ? "shared memory has no room for rows of both" : NULL;
}
