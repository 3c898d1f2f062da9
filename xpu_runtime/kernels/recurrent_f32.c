/*
 * LSTM, GRU and RNN on the cores in float32. Each core computes all gates of its share of the units; what a step makes
 * is the next one's state, which every core reads from the result behind a barrier. The weights of a core's units come
 * in slices of k. What LM has room for stays there, the rest passes through a ring, ahead of the step that needs it:
 * weights do not depend on the state. Where a share or the batch is too large for LM, it is cut into blocks.
 */
#include "xpu_runtime/kernels/recurrent.h"
#include "xpu_runtime/kernels/sums.h"

enum { RING = 2, LOADS = 4, MOST_SLICES = 64, SLICE_FLOATS = 4096, WIDE = 128, NARROW = 64, DEPTH = 16 };

/* How the work is cut, which is the same on all cores. */
struct plan {
    uint32_t units, rows;  /* of a block */
    uint32_t slice, piece; /* k of a slice of weights, and of a piece of the state, which has several slices */
    uint32_t places;       /* for slices */
    float *z, *x, *h, *biases, *w;
    float *state, *out;
};

/* The slices of a direction, again and again: those of one step are `count`. The first `resident` stay. */
struct stream {
    uint32_t count, resident, total; /* total: of all steps */
    uint32_t next, next_slice;       /* to load, counted over all, and in the step */
    uint32_t passing, passed;        /* through the ring: loaded, and used */
    xpu_ticket loaded[MOST_SLICES];  /* by place */
    uint32_t number[MOST_SLICES];    /* by place: which of the loads that was */
    uint32_t words[LOADS][XPU_DESC_WORDS], issued, done;
};

struct layer {
    struct recurrence r;
    struct plan p;
    struct stream s;
    uint32_t first, units, blocks; /* this core's share */
    struct part part;
    xpu_ticket stored;
};

/* ---- the cut ---- */

static void choose(struct layer *l, uint32_t cores) {
    const struct recurrence *r = &l->r;
    struct plan *p = &l->p;
    uint32_t available, most, columns, begin;
    float *lm = lm_floats(&available);
    partition(0, cores, r->hidden, RECURRENT_LANES, &begin, &most); /* the largest share */
    p->units = most;
    while (p->units > RECURRENT_LANES && (6 * r->gates + 4) * p->units > available - NARROW)
        p->units = round_up(p->units / 2, RECURRENT_LANES);
    columns = r->gates * p->units;
    uint32_t each = 2 * columns + 2 * p->units; /* of a row */
    p->rows = min_u32(r->batch, max_i32(1, (int32_t)(available / 3 / each)));
    p->piece = min_u32(r->hidden, available / 8 / p->rows);
    uint32_t fixed = p->rows * (each + p->piece) + columns, room = available - fixed;
    p->slice = min_u32(p->piece, max_i32(1, (int32_t)(min_u32(SLICE_FLOATS, room / RING) / columns)));
    if (p->slice > DEPTH) p->slice = round_down(p->slice, DEPTH);
    if (p->piece < r->hidden) p->piece = round_down(p->piece, p->slice);
    p->places = min_u32(MOST_SLICES, room / (p->slice * columns));
    if (p->places == 0) xpu_abort(ABORT_LOCAL_MEMORY);
    p->z = lm;
    p->x = p->z + p->rows * columns;
    p->h = p->x + p->rows * columns;
    p->biases = p->h + p->rows * p->piece;
    p->state = p->biases + columns;
    p->out = p->state + p->rows * p->units;
    p->w = p->out + p->rows * p->units;
}

static struct part block_of(const struct layer *l, uint32_t block) {
    struct part part = l->part;
    part.unit = l->first + block * l->p.units;
    part.units = min_u32(l->p.units, l->first + l->units - part.unit);
    return part;
}

/* ---- weights ---- */

static void prepare_loads(struct layer *l) {
    const xpu_desc_copy copy = {.layer = xpu_layer_now,
                                .wait0 = XPU_NO_COUNTER,
                                .wait1 = XPU_NO_COUNTER,
                                .signal = XPU_COUNTER_CORE_LOAD + core_id(),
                                .signal_add = 1,
                                .src_type = XPU_TYPE_I32,
                                .dst_type = XPU_TYPE_I32,
                                .size0 = 1,
                                .size2 = l->r.gates,
                                .src_stride1 = (int32_t)(4 * l->r.gates * l->r.hidden),
                                .src_stride2 = (int32_t)(4 * l->r.hidden),
                                .src_stride3 = 4,
                                .dst_stride3 = 4};
    for (uint32_t i = 0; i < LOADS; i++) xpu_desc_copy_pack(l->s.words[i], &copy);
}

static uint32_t slices_of(const struct layer *l) {
    return ceil_div(l->r.hidden, l->p.slice);
}

static void begin_stream(struct layer *l, uint32_t steps) {
    struct stream *s = &l->s;
    s->count = l->blocks * slices_of(l);
    s->total = s->count * steps;
    s->next = s->next_slice = s->passing = s->passed = 0;
    s->resident = s->count <= l->p.places ? s->count : l->p.places > RING ? l->p.places - RING : 0;
}

static float *place_at(const struct layer *l, uint32_t place) {
    return l->p.w + place * l->p.slice * l->r.gates * l->p.units;
}

/* Loads slice `index` of a step to `place`. */
static void load_slice(struct layer *l, uint32_t index, uint32_t place) {
    const struct recurrence *r = &l->r;
    struct stream *s = &l->s;
    uint32_t slices = slices_of(l), block = quotient(index, slices), k = (index - block * slices) * l->p.slice;
    const struct part part = block_of(l, block);
    uint32_t row = r->gates * r->hidden, *words = s->words[s->issued % LOADS];
    xpu_desc_copy_set_src(words, r->a.w + 4 * ((r->direction * r->hidden + k) * row + part.unit));
    xpu_desc_copy_set_dst(words, xpu_lm_address(place_at(l, place)));
    xpu_desc_copy_set_size1(words, min_u32(l->p.slice, r->hidden - k));
    xpu_desc_copy_set_size3(words, part.units);
    xpu_desc_copy_set_dst_stride1(words, (int32_t)(4 * r->gates * part.units));
    xpu_desc_copy_set_dst_stride2(words, (int32_t)(4 * part.units));
    s->loaded[place] = xpu_load_box(words);
    s->number[place] = ++s->issued;
}

static uint32_t ring_of(const struct layer *l) {
    return l->p.places - l->s.resident;
}

/* Loads what there is room for, as long as that waits for nothing. */
static void load_ahead(struct layer *l) {
    struct stream *s = &l->s;
    const uint32_t ring = ring_of(l);
    while (s->next < s->total) {
        uint32_t index = s->next_slice;
        if (index < s->resident && s->next >= s->count) { /* they are there */
            s->next += s->resident - index;
            s->next_slice = s->resident == s->count ? 0 : s->resident;
            continue;
        }
        if (s->issued - s->done == LOADS) return;
        if (index < s->resident) {
            load_slice(l, index, index);
        } else {
            if (s->passing - s->passed == ring) return;
            load_slice(l, index, s->resident + s->passing++ % ring);
        }
        s->next++;
        s->next_slice = index + 1 == s->count ? 0 : index + 1;
    }
}

/* ---- the product ---- */

#define ROW_AT(at, i) __riscv_vle32_v_f32m4((at) + (i) * pitch, vl)

/* To the next row: one addition, where clang would keep the offsets of all rows, on the stack. */
#define NEXT_ROW(at)                                                                                                   \
    at += pitch;                                                                                                       \
    __asm__("" : "+r"(at))
/* Step i of two: the row in turn, and the one two steps ahead in its place. */
#define STEP(i, x)                                                                                                     \
    ADD(a, x, r##i), r##i = __riscv_vle32_v_f32m4(w, vl);                                                              \
    ADD(b, x, s##i), s##i = __riscv_vle32_v_f32m4(v, vl);                                                              \
    NEXT_ROW(w);                                                                                                       \
    NEXT_ROW(v)
#define STEPS(x, y)                                                                                                    \
    STEP(0, x);                                                                                                        \
    STEP(1, y)

/* acc[0 .. 2 vl) += x[0 .. depth) w. Loads stand in front of the products that they overlap; as a scalar load waits for
 * all vector loads, DEPTH elements of x come at once. */
static __attribute__((noinline)) void multiply_two(float *acc, const float *x, const float *w, uint32_t pitch,
                                                   uint32_t depth, struct ends ends, size_t vl) {
    const float *v = w + vl;
    vfloat32m4_t a = begin_sum(acc, ends.fresh, vl), b = begin_sum(acc + vl, ends.fresh, vl);
    if (depth >= DEPTH) {
        vfloat32m4_t r0 = ROW_AT(w, 0), s0 = ROW_AT(v, 0), r1 = ROW_AT(w, 1), s1 = ROW_AT(v, 1);
        w += 2 * pitch, v += 2 * pitch;
        for (;;) {
            float x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];
            float x8 = x[8], x9 = x[9], xa = x[10], xb = x[11], xc = x[12], xd = x[13], xe = x[14], xf = x[15];
            STEPS(x0, x1);
            STEPS(x2, x3);
            STEPS(x4, x5);
            STEPS(x6, x7);
            STEPS(x8, x9);
            STEPS(xa, xb);
            STEPS(xc, xd);
            x += DEPTH, depth -= DEPTH;
            if (depth < DEPTH) {
                ADD(a, xe, r0), ADD(b, xe, s0), ADD(a, xf, r1), ADD(b, xf, s1);
                break;
            }
            STEPS(xe, xf);
        }
    }
    for (; depth > 0; depth--, w += pitch, v += pitch) {
        vfloat32m4_t r = ROW_AT(w, 0), s = ROW_AT(v, 0);
        ADD(a, *x, r), ADD(b, *x, s);
        x++;
    }
    __riscv_vse32_v_f32m4(acc, end_sum(a, ends.bias, vl), vl);
    __riscv_vse32_v_f32m4(acc + vl, end_sum(b, ends.bias ? ends.bias + vl : 0, vl), vl);
}

static void multiply_one(float *acc, const float *x, const float *w, uint32_t pitch, uint32_t depth, struct ends ends,
                         size_t vl) {
    vfloat32m4_t a = begin_sum(acc, ends.fresh, vl);
    for (; depth > 0; depth--, w += pitch) ADD(a, *x++, ROW_AT(w, 0));
    __riscv_vse32_v_f32m4(acc, end_sum(a, ends.bias, vl), vl);
}

static struct ends ends_at(struct ends ends, uint32_t column) {
    if (ends.bias) ends.bias += column;
    return ends;
}

static void multiply_row(float *z, const float *h, const float *w, uint32_t columns, uint32_t depth, struct ends ends) {
    uint32_t done = 0;
    for (; columns - done >= WIDE; done += WIDE)
        multiply_two(z + done, h, w + done, columns, depth, ends_at(ends, done), __riscv_vsetvl_e32m4(NARROW));
    uint32_t left = columns - done;
    if (left > RECURRENT_LANES && left % 2 == 0) {
        multiply_two(z + done, h, w + done, columns, depth, ends_at(ends, done), __riscv_vsetvl_e32m4(left / 2));
        return;
    }
    for (size_t vl; done < columns; done += (uint32_t)vl) {
        vl = __riscv_vsetvl_e32m4(columns - done);
        multiply_one(z + done, h, w + done, columns, depth, ends_at(ends, done), vl);
    }
}

/* A piece of the state for all rows of the block. */
static void load_piece(struct layer *l, uint32_t k, uint32_t count) {
    const struct part piece = {.row = l->part.row, .rows = l->part.rows, .unit = k, .units = count};
    xpu_wait(load_units(&l->r, &piece, l->p.h, state_address(&l->r)));
}

/* z = the state by the weights of a block, plus the biases. */
static void multiply_block(struct layer *l, const struct part *part, uint32_t block) {
    const struct plan *p = &l->p;
    struct stream *s = &l->s;
    const uint32_t hidden = l->r.hidden, columns = l->r.gates * part->units;
    uint32_t index = block * slices_of(l), width = min_u32(p->piece, hidden);
    for (uint32_t k = 0, in_piece = p->piece; k < hidden; k += p->slice, in_piece += p->slice, index++) {
        if (in_piece == p->piece) {
            in_piece = 0;
            width = min_u32(p->piece, hidden - k);
            if (block == 0 || p->piece < hidden) load_piece(l, k, width);
        }
        const int stays = index < s->resident;
        const uint32_t place = stays ? index : s->resident + s->passed % ring_of(l);
        const uint32_t depth = min_u32(p->slice, hidden - k);
        xpu_wait(s->loaded[place]);
        if (s->number[place] > s->done) s->done = s->number[place]; /* and those before it */
        const struct ends ends = {k == 0, k + depth == hidden ? p->biases : 0};
        for (uint32_t row = 0; row < part->rows; row++)
            multiply_row(p->z + row * columns, p->h + row * width + in_piece, place_at(l, place), columns, depth, ends);
        if (!stays) s->passed++;
        load_ahead(l);
    }
}

/* ---- steps ---- */

static void run_block(struct layer *l, uint32_t block) {
    struct recurrence *r = &l->r;
    const struct plan *p = &l->p;
    const struct part part = block_of(l, block);
    const uint32_t last = r->step + 1 == r->steps, all = r->batch * r->hidden, at = 4 * r->direction * all;
    xpu_ticket inputs = load_inputs(r, &part, p->x);
    if (l->blocks > 1) {
        xpu_wait(l->stored); /* of the block before, which was here */
        load_biases(r, &part, p->biases);
        if (r->step == 0)
            load_state(r, &part, p->state);
        else if (r->a.kind == XA_LSTM)
            xpu_wait(load_units(r, &part, p->state, r->a.y_c + at));
        else
            xpu_wait(load_units(r, &part, p->state, state_address(r)));
    }
    if (has_state(r))
        multiply_block(l, &part, block);
    else
        start_sums(r, &part, p->z, p->biases);
    xpu_wait(inputs);
    xpu_wait(l->stored);
    run_gates(r, &part, p->z, p->x, p->state, r->a.kind == XA_GRU ? p->state : p->out);
    const float *h = r->a.kind == XA_GRU ? p->state : p->out;
    l->stored = store_units(r, &part, r->a.y + 4 * (r->time * r->directions + r->direction) * all, h);
    if (last) l->stored = store_units(r, &part, r->a.y_h + at, h);
    if (r->a.kind == XA_LSTM && (last || l->blocks > 1)) l->stored = store_units(r, &part, r->a.y_c + at, p->state);
}

static void run_steps(struct layer *l) {
    struct recurrence *r = &l->r;
    const struct part part = block_of(l, 0);
    recurrence_step(r, 0);
    if (l->units) {
        begin_stream(l, has_state(r) ? r->steps : r->steps - 1);
        load_ahead(l);
        if (l->blocks == 1) {
            load_biases(r, &part, l->p.biases);
            load_state(r, &part, l->p.state);
        }
    }
    for (uint32_t step = 0; step < r->steps; step++) {
        recurrence_step(r, step);
        for (uint32_t block = 0; block < l->blocks; block++) run_block(l, block);
        xpu_wait(l->stored);
        if (step + 1 < r->steps) sync_cluster();
    }
}

static void share(const void *args, uint32_t core, uint32_t cores) {
    struct layer layer = {.stored = {XPU_COUNTER_CALL, 0}}, *l = &layer;
    uint32_t end;
    recurrence_begin(&l->r, args);
    choose(l, cores);
    partition(core, cores, l->r.hidden, RECURRENT_LANES, &l->first, &end);
    l->units = end - l->first;
    l->blocks = ceil_div(l->units, l->p.units);
    prepare_loads(l);
    for (uint32_t d = 0; d < l->r.directions; d++) {
        l->r.direction = d;
        for (uint32_t row = 0; row < l->r.batch; row += l->p.rows) {
            l->part = (struct part){.row = row, .rows = min_u32(l->p.rows, l->r.batch - row)};
            run_steps(l);
        }
    }
}

xpu_ticket xpu_recurrent_f32(const struct xpu_recurrent_f32_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(share, args, layer, after);
}
