#include "xpu_codegen/choose/row_walks.h"

#include "xpu_codegen/choose/costs.h"

/* Cycles, measured on the Verilated standard chip. */
enum {
    PRODUCT_STEP = 30, /* between steps of the tensor engine, and from the last sum to the counter */
    PRODUCT_DRAIN = 60,
    WINDOW_STEP = 90, /* the same of the window engine, for each group of channels */
    WINDOW_DRAIN = 60,
    STORE_STEP = 70,
    LINE_BYTES = 64,
    QUANTISED_LANES = 16,
    RESULTS = 3, /* of what is stored, in turn */
    LOADS = 600  /* until the first tile and its weights are there */
};

/* The same of all three layers, where the array, what its weights take and the post-processor are looked at apart:
 * fitted to 37 pipelines of MobileNetV2, of which all are within a fifth. */
enum {
    PASS_STEP = 2,   /* between two passes */
    SHORT_PASS = 12, /* that weights take more than their rows */
    DRAIN_STEP = 30,
    LEAST_DRAIN = 84, /* of few pixels */
    SLIDE_STEP = 50,
    SLIDE_DRAIN = 60,
    BEGIN = 500,
    BANKS = 2,
    INPUTS = 3 /* of the first product, in turn */
};

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* ---- what steps take ---- */

static double passes_of(const xpu_codegen *cg, const xpu_tiling_shape *s) {
    return xpu_parts(s->kernel_h * s->kernel_w * s->in_c, (int32_t)cg->chip.array_rows);
}

static double row_loads_of(const xpu_codegen *cg) {
    return xpu_parts((int32_t)cg->chip.array_rows, (int32_t)cg->chip.weight_rows);
}

/* Of a descriptor of so many pixels, whose drain takes so long. */
static xpu_walk_product product_of(const xpu_codegen *cg, const xpu_tiling_shape *s, double pixels, double drain,
                                   double load) {
    const double pass = larger(pixels + PASS_STEP, row_loads_of(cg) + SHORT_PASS);
    return (xpu_walk_product){passes_of(cg, s) * pass, drain, load};
}

static void set_cycles(const xpu_codegen *cg, xpu_row_walk *p) {
    const xpu_tiling_shape *s = &p->windows, *x = &p->product;
    const xpu_tiling_ring *r = &p->ring;
    const int32_t rows = xpu_walk_rows(s, r->step_rows);
    const int32_t taps = xpu_parts(s->kernel_h * s->kernel_w, XPU_WINDOW_TAPS);
    const double pixels = (double)r->made_rows * s->in_w, outputs = (double)r->step_rows * s->out_w;
    const double passes = passes_of(cg, x);
    const double drain = xpu_parts(p->columns, (int32_t)cg->chip.post_lanes);
    const double groups = xpu_parts(p->columns < s->in_c ? p->columns : s->in_c, (int32_t)cg->chip.window_channels);
    const double together = LINE_BYTES / p->columns > 1 ? LINE_BYTES / p->columns : 1; /* pixels of a line */
    const double gm = cg->chip.gm_rate < LINE_BYTES ? cg->chip.gm_rate : LINE_BYTES;
    const double x_rows = xpu_walk_rows(x, r->made_rows);
    p->load = pixels * drain;
    p->made = larger(passes * larger(pixels, row_loads_of(cg)), p->load) + PRODUCT_STEP;
    p->first = product_of(cg, x, pixels, p->load, x_rows * x->in_w * xpu_parts(x->in_c, LINE_BYTES) + xpu_cost.copy);
    if (p->quantised) { /* 16 elements a cycle, for all column tiles */
        p->first.load = x_rows * x->in_w * x->in_c / QUANTISED_LANES + xpu_cost.copy;
        p->made = larger(p->made, p->first.load / p->blocks);
    }
    if (!r->whole_w) { /* each step has a block of weights, whose place is free behind the one three steps before */
        const double block = (double)x->kernel_h * x->kernel_w * x->in_c * p->columns / gm;
        p->made = larger(p->made, (p->made + p->load + PRODUCT_DRAIN + block + xpu_cost.copy) / 3);
        p->made = larger(p->made, block);
        p->first.array = larger(p->first.array, p->made - PRODUCT_STEP);
    }
    p->step =
        groups * (larger(taps * outputs, (double)rows * s->in_w / together) + (p->readers ? SLIDE_STEP : WINDOW_STEP));
    p->store = outputs * xpu_parts(p->columns, LINE_BYTES) + STORE_STEP;
    p->second = product_of(cg, &p->behind, outputs, outputs * drain, p->has_branch ? outputs + xpu_cost.copy : 0);
    if (p->steps == 1) { /* its blocks of weights take turns */
        const double blocks = (double)p->behind.in_c * p->columns / gm;
        p->second.array = larger(p->second.array, blocks);
    }
}

/* ---- a product and windows ---- */

/* The last step of the windows that reads what stood where a tile goes; -1: nothing did. */
static int32_t step_before(const xpu_row_walk *p, int32_t tile) {
    const int32_t last = (tile + 1) * p->ring.made_rows - p->ring.rows - 1;
    if (last < 0 || last + p->pad_top < 0) return -1;
    const int32_t step = (last + p->pad_top) / (p->ring.step_rows * p->windows.stride_h);
    return step >= p->steps ? p->steps - 1 : step;
}

/* When the product may write a tile of a column tile. */
static double room_at(const xpu_row_walk *p, int32_t tile, int32_t block) {
    const int32_t step = step_before(p, tile);
    return step < 0 ? 0 : p->done_at[step * p->blocks + block];
}

static int32_t last_tile(const xpu_row_walk *p, int32_t step) {
    return xpu_tiling_last_tile(&p->windows, &p->ring, p->pad_top, step);
}

static double walk_two(xpu_row_walk *p) {
    double array = LOADS, window = 0, store = 0;
    double stored[RESULTS] = {0};
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
            turn = (turn + 1) % RESULTS;
        }
    }
    return larger(store, array + (double)(p->tiles - made) * p->blocks * p->made);
}

/* ---- a product, windows, and a product of these ---- */

/* Where the engines stand. */
typedef struct {
    xpu_row_walk *p;
    double array, post, window, dma, store;
    double banks[BANKS], inputs[INPUTS], stored[RESULTS]; /* until when they are taken */
    int32_t bank, turn, made, windows, read;              /* made, windows, read: descriptors, and steps, so far */
} engines;

/* A descriptor of the tensor engine; when its result is there. */
static double multiply(engines *e, const xpu_walk_product *of, double ready) {
    double *bank = &e->banks[e->bank];
    e->bank = (e->bank + 1) % BANKS;
    e->array = larger(larger(e->array, ready), *bank) + of->array;
    e->post = larger(e->array, e->post) + larger(of->drain + DRAIN_STEP, LEAST_DRAIN);
    return *bank = e->post;
}

/* The windows up to a step; 0: they wait for what the tensor engine has behind this. */
static int slide(engines *e, int32_t step) {
    xpu_row_walk *p = e->p;
    for (; e->windows <= step; e->windows++) {
        const int32_t before = e->windows - p->ring.slots, tile = last_tile(p, e->windows);
        if (before >= e->read || (tile + 1) * p->blocks > e->made) return 0;
        if (before >= 0) e->window = larger(e->window, p->read_at[before]);
        for (int32_t block = 0; block < p->blocks; block++) {
            e->window = larger(e->window, p->made_at[tile * p->blocks + block]) + p->step;
            p->done_at[e->windows * p->blocks + block] = e->window + SLIDE_DRAIN;
        }
    }
    return 1;
}

/* A step of the product behind. */
static int read_step(engines *e) {
    xpu_row_walk *p = e->p;
    const int32_t step = e->read;
    double read = 0;
    if (p->ring.rows && !slide(e, step)) return 0;
    for (int32_t i = 0; i < p->readers; i++) {
        double ready = larger(p->done_at[(step + 1) * p->blocks - 1], e->stored[e->turn]);
        if (p->has_branch) {
            e->dma = larger(e->dma, e->stored[e->turn]) + p->second.load;
            ready = larger(ready, e->dma);
        }
        read = multiply(e, &p->second, ready);
        e->stored[e->turn] = e->store = larger(e->store, read) + p->second.drain + STORE_STEP;
        e->turn = (e->turn + 1) % RESULTS;
    }
    p->read_at[e->read++] = read;
    return 1;
}

static int make_tile(engines *e, int32_t block) {
    xpu_row_walk *p = e->p;
    const int32_t tile = e->made / p->blocks, before = step_before(p, tile);
    double *input = &e->inputs[tile % INPUTS];
    if (before >= 0 && !slide(e, before)) return 0;
    if (block == 0) e->dma = larger(e->dma, *input) + p->first.load;
    const double ready = larger(room_at(p, tile, block), e->dma);
    p->made_at[e->made++] = *input = multiply(e, &p->first, ready);
    return 1;
}

static double walk_three(xpu_row_walk *p) {
    engines e = {.p = p, .array = BEGIN};
    const int32_t all = p->tiles * p->blocks;
    for (int32_t made = 0; made <= all; made++) {
        while (e.read < p->steps &&
               xpu_tiling_before_step(&p->windows, &p->ring, p->pad_top, p->blocks, e.read) <= made)
            if (!read_step(&e)) return -1;
        if (made < all && !make_tile(&e, made % p->blocks)) return -1;
    }
    return larger(e.store, e.post);
}

/* ---- windows, and a product of these ---- */

/* A step of the windows has all channels: its load, which has two places in turn, then the engine. */
static void slide_loaded(engines *e, int32_t step, double *places) {
    xpu_row_walk *p = e->p;
    double *place = &places[step % 2];
    e->dma = larger(e->dma, *place) + p->load;
    e->window = larger(e->window, e->dma);
    if (step >= p->ring.slots) e->window = larger(e->window, p->read_at[step - p->ring.slots]);
    e->window += p->step;
    *place = e->window;
    p->done_at[step] = e->window + SLIDE_DRAIN;
}

/* Steps of the product come behind one step of the windows more. */
static double walk_loaded(xpu_row_walk *p) {
    const xpu_tiling_shape *s = &p->windows;
    const double lines = (double)xpu_walk_rows(s, p->ring.step_rows) * s->in_w * s->in_c / LINE_BYTES;
    engines e = {.p = p, .window = BEGIN};
    double places[2] = {0};
    p->load = lines * xpu_cost.line + xpu_cost.copy;
    p->step *= xpu_tiling_column_tiles(s->in_c, p->columns);
    for (int32_t step = 0; step < p->steps; step++) {
        slide_loaded(&e, step, places);
        if (step > 0) read_step(&e);
    }
    read_step(&e);
    return larger(e.store, e.post);
}

double xpu_walk_cycles(const xpu_codegen *cg, xpu_row_walk *w) {
    set_cycles(cg, w);
    if (!w->ring.rows) return walk_loaded(w);
    return w->readers ? walk_three(w) : walk_two(w);
}
