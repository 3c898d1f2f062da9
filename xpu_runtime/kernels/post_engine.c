/*
 * Elementwise layers on the tensor engine's post-processor, which is fed from memory (descriptors of kind post).
 *
 * A step is some rows of an image: its loads (DMA0), one descriptor of the engine, a store (DMA1). Operands and result
 * have three buffers in SM each, so the loads of the next step run while one is computed and an earlier result is
 * stored. What lies dense as a whole (columns 0) is cut into rows as wide as the array, and into what is left of one.
 *
 * Descriptors that core 0 makes stand on its stack: the kernel returns when they are done.
 */
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/rings.h"

enum { LOADS = 4, POSTS = 2, STORES = 2, RINGS = 3, LOAD = 0, POST = 1, STORE = 2 };

/* A tensor of the layer: where its rows are, and its buffers in SM. */
struct side {
    uint32_t at, image, row; /* bytes from one to the next */
    uint32_t row_bytes;      /* of its elements; of a dense tensor: an element */
    struct turns buffers;
};

struct work {
    struct xpu_elementwise_args args;
    xpu_ticket after, loaded, computed, stored;
    struct ring rings[RINGS];
    struct side x, branch, y;
    struct turns vectors; /* scale, behind it bias */
    uint32_t bias;        /* from scale on */
    uint32_t lanes;       /* of a row of the engine */
    uint32_t copy[XPU_DESC_WORDS], post[XPU_DESC_WORDS];
};

static uint32_t bytes_of_type(int32_t type) {
    return xpu_bytes_of_type((uint32_t)type);
}

/* ---- copies ---- */

static void load(struct work *k, uint32_t to, uint32_t from, uint32_t bytes, xpu_ticket after, xpu_ticket free) {
    uint32_t *words = ring_next(&k->rings[LOAD], k->copy, &k->loaded);
    set_waits(words, after, free);
    SET_ADDRESS(words, copy, src, from);
    SET_ADDRESS(words, copy, dst, to);
    xpu_desc_copy_set_size3(words, bytes);
    ring_the_bell(&k->rings[LOAD]);
}

/* `count` rows, side by side in SM, from or to where they are. */
static void set_rows(uint32_t *words, const struct side *s, uint32_t count, int is_load) {
    const uint32_t apart = s->row != s->row_bytes && count > 1;
    xpu_desc_copy_set_size2(words, apart ? count : 1);
    xpu_desc_copy_set_size3(words, apart ? s->row_bytes : count * s->row_bytes);
    if (!apart) return;
    xpu_desc_copy_set_src_stride2(words, (int32_t)(is_load ? s->row : s->row_bytes));
    xpu_desc_copy_set_dst_stride2(words, (int32_t)(is_load ? s->row_bytes : s->row));
}

static void load_rows(struct work *k, struct side *s, uint32_t from, uint32_t count) {
    struct turns *t = &s->buffers;
    take_turn(t);
    uint32_t *words = ring_next(&k->rings[LOAD], k->copy, &k->loaded);
    set_waits(words, k->after, t->free[t->now]);
    SET_ADDRESS(words, copy, src, from);
    SET_ADDRESS(words, copy, dst, address_now(t));
    set_rows(words, s, count, 1);
    ring_the_bell(&k->rings[LOAD]);
}

static void store_rows(struct work *k, uint32_t to, uint32_t count) {
    struct turns *t = &k->y.buffers;
    uint32_t *words = ring_next(&k->rings[STORE], k->copy, &k->stored);
    xpu_desc_copy_set_signal(words, XPU_COUNTER_STORE);
    set_waits(words, k->computed, no_ticket);
    SET_ADDRESS(words, copy, src, address_now(t));
    SET_ADDRESS(words, copy, dst, to);
    set_rows(words, &k->y, count, 0);
    t->free[t->now] = k->stored;
    ring_the_bell(&k->rings[STORE]);
}

/* ---- steps ---- */

/* Scales and biases of an image, or of all. */
static void load_vectors(struct work *k, uint32_t image) {
    const struct xpu_elementwise_args *a = &k->args;
    struct turns *t = &k->vectors;
    const uint32_t bytes = 4 * (uint32_t)a->columns, from = image * (uint32_t)a->vector_image;
    const xpu_ticket after = a->vectors_computed ? k->after : no_ticket;
    if ((!a->scale && !a->bias) || (image && !a->vector_image)) return;
    take_turn(t);
    if (a->scale) load(k, address_now(t), a->scale + from, bytes, after, t->free[t->now]);
    if (a->bias) load(k, address_now(t) + k->bias, a->bias + from, bytes, after, t->free[t->now]);
    SET_ADDRESS(k->post, post, scale, a->scale ? address_now(t) : 0);
    SET_ADDRESS(k->post, post, bias, a->bias ? address_now(t) + k->bias : 0);
}

/* `count` rows of `columns` elements, which stand so many rows of the engine behind the begin of the buffers. */
static void queue_post(struct work *k, uint32_t first, uint32_t count, uint32_t columns) {
    uint32_t *words = ring_next(&k->rings[POST], k->post, &k->computed);
    const struct xpu_elementwise_args *a = &k->args;
    const uint32_t pixels = first * k->lanes;
    set_waits(words, k->loaded, k->y.buffers.free[k->y.buffers.now]);
    SET_ADDRESS(words, post, x, address_now(&k->x.buffers) + pixels * bytes_of_type(a->x_type));
    SET_ADDRESS(words, post, y, address_now(&k->y.buffers) + pixels * bytes_of_type(a->y_type));
    if (a->branch)
        SET_ADDRESS(words, post, branch, address_now(&k->branch.buffers) + pixels * bytes_of_type(a->branch_type));
    xpu_desc_post_set_ow(words, count);
    xpu_desc_post_set_columns(words, columns);
    ring_the_bell(&k->rings[POST]);
}

static void queue_step(struct work *k, uint32_t image, uint32_t first, uint32_t count) {
    const struct xpu_elementwise_args *a = &k->args;
    const uint32_t columns = (uint32_t)a->columns;
    load_rows(k, &k->x, k->x.at + image * k->x.image + first * k->x.row, count);
    if (a->branch && k->branch.row)
        load_rows(k, &k->branch, k->branch.at + image * k->branch.image + first * k->branch.row, count);
    else if (a->branch && first == 0 && (image == 0 || k->branch.image)) /* one row for all */
        load_rows(k, &k->branch, k->branch.at + image * k->branch.image, 1);
    take_turn(&k->y.buffers);
    if (columns) {
        queue_post(k, 0, count, columns);
    } else {
        const uint32_t whole = count / k->lanes, rest = count - whole * k->lanes;
        if (whole) queue_post(k, 0, whole, k->lanes);
        if (rest) queue_post(k, whole, 1, rest);
    }
    k->x.buffers.free[k->x.buffers.now] = k->computed;
    if (a->branch) k->branch.buffers.free[k->branch.buffers.now] = k->computed;
    k->vectors.free[k->vectors.now] = k->computed;
    store_rows(k, k->y.at + image * k->y.image + first * k->y.row, count);
}

/* ---- the layer ---- */

static struct side make_side(uint32_t at, int32_t image, int32_t row, uint32_t row_bytes) {
    return (struct side){.at = at, .image = (uint32_t)image, .row = (uint32_t)row, .row_bytes = row_bytes};
}

static void make_sides(struct work *k) {
    const struct xpu_elementwise_args *a = &k->args;
    const uint32_t x = bytes_of_type(a->x_type), branch = bytes_of_type(a->branch_type), y = bytes_of_type(a->y_type);
    if (!a->columns) {
        k->x = make_side(a->x, 0, (int32_t)x, x);
        k->branch = make_side(a->branch, 0, (int32_t)branch, branch);
        k->y = make_side(a->y, 0, (int32_t)y, y);
        return;
    }
    const uint32_t columns = (uint32_t)a->columns;
    k->x = make_side(a->x, a->x_image, a->x_row, x * columns);
    k->branch = make_side(a->branch, a->branch_image, a->branch_row, branch * columns);
    k->y = make_side(a->y, a->y_image, a->y_row, y * columns);
}

static void make_templates(struct work *k, uint32_t layer) {
    const struct xpu_elementwise_args *a = &k->args;
    const xpu_desc_copy copy = {.layer = layer,
                                .signal = XPU_COUNTER_LOAD,
                                .signal_add = 1,
                                .src_type = XPU_TYPE_I8,
                                .dst_type = XPU_TYPE_I8,
                                .size0 = 1,
                                .size1 = 1,
                                .size2 = 1,
                                .src_stride3 = 1,
                                .dst_stride3 = 1};
    xpu_desc_copy_pack(k->copy, &copy);
    const xpu_desc_post post = {.layer = layer,
                                .signal = XPU_COUNTER_TENSOR,
                                .signal_add = 1,
                                .post_mode = a->is_float ? XPU_POST_FLOAT : XPU_POST_QUANTISED,
                                .activation = (uint32_t)a->activation,
                                .act_after = (uint32_t)a->branch_after,
                                .branch_first = (uint32_t)a->branch_first,
                                .clip_last = (uint32_t)a->clips_last,
                                .findmax = a->y_absmax,
                                .x_type = (uint32_t)a->x_type,
                                .branch_type = a->branch ? (uint32_t)a->branch_type : 0,
                                .y_type = (uint32_t)a->y_type,
                                .op = (uint32_t)a->op,
                                .oh = 1,
                                .x_pixel_stride = (int32_t)(a->columns ? k->x.row_bytes : k->lanes * k->x.row_bytes),
                                .y_pixel_stride = (int32_t)(a->columns ? k->y.row_bytes : k->lanes * k->y.row_bytes)};
    xpu_desc_post_pack(k->post, &post);
    const uint32_t pixel = a->columns ? k->branch.row_bytes : k->lanes * k->branch.row_bytes;
    if (a->branch && k->branch.row) xpu_desc_post_set_branch_pixel_stride(k->post, (int32_t)pixel);
}

static void clear_absmax(struct work *k, uint32_t layer) {
    const xpu_desc_fill fill = absmax_fill(layer, k->after, k->args.y_absmax);
    xpu_desc_fill_pack(ring_next(&k->rings[LOAD], k->copy, &k->loaded), &fill);
    ring_the_bell(&k->rings[LOAD]);
}

static void set_up_buffers(struct work *k, uint32_t params, xpu_ticket free) {
    const struct xpu_elementwise_args *a = &k->args;
    const xpu_tiling_elementwise shape = {.tile = (uint32_t)a->tile,
                                          .columns = (uint32_t)a->columns,
                                          .x = bytes_of_type(a->x_type),
                                          .branch = a->branch ? bytes_of_type(a->branch_type) : 0,
                                          .y = bytes_of_type(a->y_type),
                                          .one_branch = a->columns && !a->branch_row,
                                          .scale = a->scale != 0,
                                          .bias = a->bias != 0,
                                          .by_image = a->vector_image != 0,
                                          .table = a->table != 0};
    const xpu_tiling_elementwise_scratch at = xpu_tiling_elementwise_layout(&shape);
    if (at.total > (uint32_t)a->sm_bytes) xpu_abort(ABORT_SHARED_MEMORY);
    k->x.buffers = make_turns(a->sm + at.x, at.x_bytes, XPU_ELEMENTWISE_BUFFERS, free);
    k->branch.buffers = make_turns(a->sm + at.branch, at.branch_bytes, XPU_ELEMENTWISE_BUFFERS, free);
    k->y.buffers = make_turns(a->sm + at.y, at.y_bytes, XPU_ELEMENTWISE_BUFFERS, free);
    k->vectors = make_turns(a->sm + at.vectors, at.vector_bytes, a->vector_image ? 2 : 1, free);
    k->bias = at.bias;
    if (XPU_RECORDED) { /* they stand in GM: from SM they come at once */
        load(k, a->sm + at.params, params, XPU_TILING_PARAMS, no_ticket, free);
        params = a->sm + at.params;
    }
    SET_ADDRESS(k->post, post, params, params);
    if (!a->table) return;
    load(k, a->sm + at.table, a->table, XPU_TILING_TABLE, a->vectors_computed ? k->after : no_ticket, free);
    SET_ADDRESS(k->post, post, lookup, a->sm + at.table);
}

static xpu_post_params params_of(const struct xpu_elementwise_args *a) {
    xpu_post_params p = {.slope = a->slope,
                         .ra = a->ra,
                         .rb = a->rb,
                         .f = a->f,
                         .zero = a->zero,
                         .lo2 = a->least,
                         .hi2 = a->most,
                         .out_scale = a->out_scale,
                         .branch_scale = a->branch_scale,
                         .x_scale = 1.0f,
                         .w_scale = a->factor,
                         .za = a->x_zero,
                         .zb = a->b_zero};
    if (a->is_float)
        p.lo.f = a->low, p.hi.f = a->high;
    else
        p.lo.i = a->least, p.hi.i = a->most;
    return p;
}

static struct ring make_ring(uint32_t (*words)[XPU_DESC_WORDS], uint32_t size, uint32_t counter, uint32_t engine) {
    const uint32_t seen = xpu_expect(counter, 0).value;
    return (struct ring){.words = words, .size = size, .counter = counter, .engine = engine, .seen = seen};
}

#ifndef __riscv
/* On the host all is recorded at once. */
static int nothing_left(void) {
    return 0;
}
#endif

xpu_ticket xpu_elementwise(const struct xpu_elementwise_args *args, uint32_t layer, xpu_ticket after) {
    uint32_t loads[LOADS][XPU_DESC_WORDS], posts[POSTS][XPU_DESC_WORDS], stores[STORES][XPU_DESC_WORDS];
    struct work work, *k = &work;
    xpu_finish_queueing();
#ifndef __riscv
    xpu_continue_later(nothing_left, layer, 0, &(struct xpu_progress){.counter = XPU_NO_COUNTER});
#endif
    k->args = *args;
    k->after = k->stored = after;
    k->rings[LOAD] = make_ring(loads, LOADS, XPU_COUNTER_LOAD, XPU_ENGINE_DMA0);
    k->rings[POST] = make_ring(posts, POSTS, XPU_COUNTER_TENSOR, XPU_ENGINE_TENSOR);
    k->rings[STORE] = make_ring(stores, STORES, XPU_COUNTER_STORE, XPU_ENGINE_DMA1);
    k->lanes = xpu_reg_load(XPU_REG_ARRAY_COLUMNS);
    const struct xpu_elementwise_args *a = &k->args;
    const xpu_post_params params = params_of(a);
    const uint32_t place = place_params(&xpu_engine_parameters, &params);
    make_sides(k);
    make_templates(k, layer);
    set_up_buffers(k, place, xpu_engines_done);
    if (a->y_absmax) clear_absmax(k, layer);
    for (uint32_t image = 0; image < (uint32_t)a->images; image++) {
        load_vectors(k, image);
        for (uint32_t row = 0; row < (uint32_t)a->rows; row += (uint32_t)a->tile)
            queue_step(k, image, row, min_u32((uint32_t)a->tile, (uint32_t)a->rows - row));
    }
    xpu_wait(k->stored);
    xpu_engines_done = k->stored;
    return params_needed_until(&xpu_engine_parameters, k->stored);
}
