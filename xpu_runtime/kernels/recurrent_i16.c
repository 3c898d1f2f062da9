/*
 * LSTM, GRU and RNN with the product of the state on the tensor engine. In each step the cores find the largest
 * magnitude of the state, write it as int16 to SM, and meet; core 0 hands the engine a list of descriptors, one for
 * each column tile; then every core computes the gates of its units. The blocks of weights that SM has room for stay
 * there; the rest passes through a ring, whose first loads for a step begin when the engine is done with the step
 * before.
 *
 * Weights are loaded by DMA1, so that what cores load by DMA0 does not wait behind them. The lists are made once for a
 * direction: a step changes what they wait for.
 */
#include "core/arith_rvv.h"
#include "xpu_runtime/include/xpu_tiling.h"
#include "xpu_runtime/kernels/recurrent.h"

enum { WORD = 4, DESCRIPTOR = WORD * XPU_DESC_WORDS };

/* Core 0: the lists, in memory that engines and cores reach; loads first, those of the blocks that stay in front. */
struct lists {
    uint32_t tiles, resident, slots, loads, tensors, params;
    xpu_ticket done; /* of the last step's products */
    xpu_post_params post;
};

struct layer {
    struct xpu_recurrent_i16_args a;
    struct recurrence r;
    xpu_tiling_recurrence at; /* in SM */
    uint32_t columns, cores;
    struct part part;
    float *z, *x, *state, *out, *biases;
    xpu_ticket stored;
    struct lists lists;
};

static uint32_t sm_of(const struct layer *l, uint32_t offset) {
    return (uint32_t)l->a.sm + offset;
}

static void place_buffers(struct layer *l) {
    uint32_t available, all = l->r.batch * l->part.units;
    float *lm = lm_floats(&available);
    l->z = lm;
    l->x = l->z + l->r.gates * all;
    l->out = l->x + l->r.gates * all;
    l->state = l->r.a.kind == XA_GRU ? l->out : l->out + all;
    l->biases = l->state + all;
    if (l->biases + l->r.gates * l->part.units > lm + available) xpu_abort(ABORT_LOCAL_MEMORY);
}

/* ---- core 0: lists ---- */

static void store_descriptor(uint32_t to, const uint32_t *words) {
    copy_words((void *)(uintptr_t)to, words, XPU_DESC_WORDS);
}

static void enqueue(uint32_t engine, uint32_t list, uint32_t count) {
    if (count == 0) return;
    mfence();
    xpu_reg_store(XPU_REG_DOORBELL_ADDRESS + XPU_REG_DOORBELL_ADDRESS_STRIDE * engine, list);
    xpu_reg_store(XPU_REG_DOORBELL_COUNT + XPU_REG_DOORBELL_COUNT_STRIDE * engine, count);
}

static uint32_t place_of(const struct lists *s, uint32_t tile) {
    uint32_t ring = s->slots - s->resident;
    return tile < s->resident ? tile : s->resident + (tile - s->resident) % ring;
}

static void make_loads(const struct layer *l) {
    const struct lists *s = &l->lists;
    uint32_t words[XPU_DESC_WORDS];
    xpu_desc_copy copy = {.layer = xpu_layer_now,
                          .wait0 = XPU_NO_COUNTER,
                          .wait1 = XPU_NO_COUNTER,
                          .signal = XPU_COUNTER_LOAD,
                          .signal_add = 1,
                          .src_type = XPU_TYPE_I32,
                          .dst_type = XPU_TYPE_I32,
                          .size0 = 1,
                          .size1 = 1,
                          .size2 = 1,
                          .src_stride3 = WORD,
                          .dst_stride3 = WORD};
    uint32_t bytes = l->r.hidden * l->columns * (l->a.w_int8 ? 1 : 2);
    copy.size3 = bytes / WORD;
    for (uint32_t i = 0; i < s->tiles; i++) {
        copy.src = (uint32_t)l->a.w + (i * l->r.directions + l->r.direction) * bytes;
        copy.dst = sm_of(l, l->at.w + place_of(s, i) * l->at.block);
        copy.wait0 = i >= s->slots ? XPU_COUNTER_TENSOR : XPU_NO_COUNTER;
        xpu_desc_copy_pack(words, &copy);
        store_descriptor(s->loads + i * DESCRIPTOR, words);
    }
}

static void make_tensors(const struct layer *l) {
    const struct lists *s = &l->lists;
    const uint32_t all = l->r.gates * l->r.hidden;
    uint32_t words[XPU_DESC_WORDS];
    xpu_desc_tensor d = {
        .layer = xpu_layer_now,
        .wait0 = XPU_COUNTER_LOAD,
        .wait1 = XPU_NO_COUNTER,
        .signal = XPU_COUNTER_TENSOR,
        .signal_add = 1,
        .drain = 1,
        .post_mode = XPU_POST_FLOAT,
        .params = s->params,
        .absmax = sm_of(l, l->at.absmax),
        .y_type = XPU_TYPE_F32,
        .branch_type = XPU_TYPE_F32,
        .mode = l->a.w_int8 ? XPU_OPERANDS_16X8 : XPU_OPERANDS_16X16,
        .x = sm_of(l, l->at.h),
        .x_pixel_stride = (int32_t)(2 * l->r.hidden),
        .x_row_stride = (int32_t)(2 * l->r.hidden * l->r.batch),
        .tile_rows = 1,
        .tile_cols = l->r.batch,
        .oh = 1,
        .ow = l->r.batch,
        .channels = l->r.hidden,
        .kh = 1,
        .kw = 1,
        .stride_h = 1,
        .stride_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
        .w_row_stride = l->columns * (l->a.w_int8 ? 1 : 2),
        .y_pixel_stride = (int32_t)(WORD * all),
        .y_row_stride = (int32_t)(WORD * all * l->r.batch),
    };
    for (uint32_t i = 0; i < s->tiles; i++) {
        uint32_t first = i * l->columns;
        d.bank = i % (uint32_t)l->a.banks;
        d.w = sm_of(l, l->at.w + place_of(s, i) * l->at.block);
        d.y = sm_of(l, l->at.z + WORD * first);
        d.scale = sm_of(l, l->at.scale + WORD * first);
        d.bias = l->a.bias ? sm_of(l, l->at.bias + WORD * first) : 0;
        d.columns = min_u32(l->columns, all - first);
        xpu_desc_tensor_pack(words, &d);
        store_descriptor(s->tensors + i * DESCRIPTOR, words);
    }
}

/* How many blocks stay, and the scales and biases to SM. */
static void begin_lists(struct layer *l) {
    struct lists *s = &l->lists;
    const uint32_t bytes = WORD * l->r.gates * l->r.hidden;
    s->tiles = (uint32_t)xpu_tiling_column_tiles((int32_t)(l->r.gates * l->r.hidden), (int32_t)l->columns);
    s->slots = (uint32_t)l->a.slots;
    s->resident = s->slots >= s->tiles ? s->tiles : s->slots > XPU_RECURRENT_RING ? s->slots - XPU_RECURRENT_RING : 0;
    s->loads = (uint32_t)l->a.lists;
    s->tensors = s->loads + s->tiles * DESCRIPTOR;
    s->post = (xpu_post_params){.out_scale = 1.0f, .branch_scale = 1.0f};
    s->params = xpu_lm_address(&s->post);
    if (l->r.direction == 0) xpu_wait(GM2SM(sm_of(l, l->at.scale), (uint32_t)l->a.w_scale, bytes));
    if (l->a.bias) xpu_wait(GM2SM(sm_of(l, l->at.bias), (uint32_t)l->a.bias + l->r.direction * bytes, bytes));
    make_loads(l);
    make_tensors(l);
}

/* Those that wait for nothing: `first` is 0 before the first step, then the blocks that stay are there. */
static void load_first(const struct layer *l, uint32_t first) {
    const struct lists *s = &l->lists;
    enqueue(XPU_ENGINE_DMA1, s->loads + first * DESCRIPTOR, min_u32(s->slots, s->tiles) - first);
}

static void set_wait(uint32_t descriptor, uint32_t value) {
    enum { WAIT0_VALUE = 2 }; /* a word of its own, in all kinds */
    ((volatile uint32_t *)(uintptr_t)descriptor)[WAIT0_VALUE] = value;
}

/* The products of a step: what they wait for, the other loads, the list itself. */
static void multiply(struct layer *l, int is_first) {
    struct lists *s = &l->lists;
    const uint32_t begin = is_first ? 0 : s->resident, base = xpu_expect(XPU_COUNTER_TENSOR, 0).value;
    const uint32_t loaded = xpu_expect(XPU_COUNTER_LOAD, s->tiles - begin).value;
    for (uint32_t i = begin; i < s->tiles; i++) {
        set_wait(s->tensors + i * DESCRIPTOR, loaded - (s->tiles - 1 - i));
        if (i >= s->slots) set_wait(s->loads + i * DESCRIPTOR, base + i - (s->slots - s->resident) + 1);
    }
    if (s->tiles > s->slots) enqueue(XPU_ENGINE_DMA1, s->loads + s->slots * DESCRIPTOR, s->tiles - s->slots);
    s->done = xpu_expect(XPU_COUNTER_TENSOR, s->tiles);
    enqueue(XPU_ENGINE_TENSOR, s->tensors, s->tiles);
}

/* ---- the state as int16 ---- */

static float *absmax_words(const struct layer *l) {
    return (float *)(uintptr_t)sm_of(l, l->at.absmax);
}

/* This core's part of the largest magnitude of the state, which is in `out`. */
static void publish_absmax(const struct layer *l) {
    uint32_t count = l->r.batch * l->part.units;
    const float *h = l->out;
    const size_t most = __riscv_vsetvlmax_e32m4();
    vuint32m4_t so_far = __riscv_vmv_v_x_u32m4(0, most);
    for (size_t vl; count > 0; count -= (uint32_t)vl, h += vl) {
        vl = __riscv_vsetvl_e32m4(count);
        so_far = xv_absmax(so_far, __riscv_vle32_v_f32m4(h, vl), vl);
    }
    absmax_words(l)[1 + core_id()] = xv_absmax_result(so_far, most);
}

static void quantise(const struct layer *l) {
    const float *words = absmax_words(l), *h = l->out;
    float absmax = 0;
    for (uint32_t core = 0; core < l->cores; core++) absmax = xa_absmax(absmax, words[1 + core]);
    if (core_id() == 0) absmax_words(l)[0] = absmax;
    const float inverse = xa_absmax_inverse(absmax, XA_I16_MAX);
    for (uint32_t row = 0; row < l->r.batch; row++) {
        uint32_t left = l->part.units;
        int16_t *to = (int16_t *)(uintptr_t)sm_of(l, l->at.h + 2 * (row * l->r.hidden + l->part.unit));
        for (size_t vl; left > 0; left -= (uint32_t)vl, h += vl, to += vl) {
            vl = __riscv_vsetvl_e32m4(left);
            vint32m4_t q = xv_absmax_quantize(__riscv_vle32_v_f32m4(h, vl), inverse, XA_I16_MAX, vl);
            __riscv_vse16_v_i16m2(to, __riscv_vncvt_x_x_w_i16m2(q, vl), vl);
        }
    }
}

/* ---- steps ---- */

/* z becomes the products of the state, and x the step's inputs. */
static void sum_up(struct layer *l, int is_first, int is_last) {
    struct recurrence *r = &l->r;
    const int leads = core_id() == 0;
    publish_absmax(l);
    sync_cluster();
    quantise(l);
    sync_cluster();
    if (leads) multiply(l, is_first);
    if (l->part.units) load_inputs(r, &l->part, l->x);
    if (leads) xpu_wait(l->lists.done);
    sync_cluster();
    if (leads && !is_last) load_first(l, l->lists.resident);
    if (!l->part.units) return;
    uint32_t bytes = WORD * l->part.units;
    xpu_wait(xpu_load_2d(l->z, (int32_t)bytes, sm_of(l, l->at.z + WORD * l->part.unit), (int32_t)(WORD * r->hidden),
                         bytes, r->gates * r->batch));
}

static void store_step(struct layer *l) {
    struct recurrence *r = &l->r;
    const uint32_t all = r->batch * r->hidden, at = WORD * r->direction * all;
    l->stored = store_units(r, &l->part, r->a.y + WORD * (r->time * r->directions + r->direction) * all, l->out);
    if (r->step + 1 < r->steps) return;
    l->stored = store_units(r, &l->part, r->a.y_h + at, l->out);
    if (r->a.kind == XA_LSTM) l->stored = store_units(r, &l->part, r->a.y_c + at, l->state);
}

static void run_steps(struct layer *l) {
    struct recurrence *r = &l->r;
    const int works = l->part.units > 0, leads = core_id() == 0;
    int is_first = 1;
    recurrence_step(r, 0);
    xpu_wait(l->stored);
    if (leads) {
        begin_lists(l);
        if (has_state(r) || r->steps > 1) load_first(l, 0);
    }
    if (works) {
        load_biases(r, &l->part, l->biases);
        load_state(r, &l->part, l->state);
        if (r->a.h) xpu_wait(load_units(r, &l->part, l->out, state_address(r)));
    }
    for (uint32_t step = 0; step < r->steps; step++) {
        recurrence_step(r, step);
        if (has_state(r)) {
            sum_up(l, is_first, step + 1 == r->steps);
            is_first = 0;
        } else if (works) {
            xpu_wait(load_inputs(r, &l->part, l->x));
            start_sums(r, &l->part, l->z, l->biases);
        }
        if (!works) continue;
        xpu_wait(l->stored);
        run_gates(r, &l->part, l->z, l->x, l->state, l->out);
        store_step(l);
    }
}

static void share(const void *args, uint32_t core, uint32_t cores) {
    struct layer layer = {.a = *(const struct xpu_recurrent_i16_args *)args, .stored = {XPU_COUNTER_CALL, 0}},
                 *l = &layer;
    uint32_t end;
    recurrence_begin(&l->r, args);
    l->cores = cores;
    l->columns = xpu_reg_load(XPU_REG_ARRAY_COLUMNS);
    partition(core, cores, l->r.hidden, RECURRENT_LANES, &l->part.unit, &end);
    l->part.units = end - l->part.unit;
    l->part.rows = l->r.batch;
    l->at = xpu_tiling_recurrence_of(l->r.batch, l->r.hidden, l->r.gates, l->columns, l->a.w_int8 ? 1 : 2,
                                     (uint32_t)l->a.slots);
    if (l->at.total > (uint32_t)l->a.sm_bytes) xpu_abort(ABORT_SHARED_MEMORY);
    place_buffers(l);
    for (uint32_t d = 0; d < l->r.directions; d++) {
        l->r.direction = d;
        run_steps(l);
        if (d + 1 < l->r.directions) sync_cluster();
    }
}

xpu_ticket xpu_recurrent_i16(const struct xpu_recurrent_i16_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(share, args, layer, after);
}
