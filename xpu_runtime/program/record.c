/* Kernels run on the host for the descriptors that they queue. */
#include "xpu_runtime/program/record.h"

#include <pthread.h>
#include <string.h>

#include "xpu_runtime/include/xpu_device.h"
#include "xpu_runtime/program/record_behind.h"
#include "xpu_runtime/program/record_moves.h"
#include "xpu_runtime/program/record_waits.h"

enum { LAYERS = XPU_LISTED_TOGETHER, LAYER_TAGS = 0xffff, PARAMS_BYTES = 4 * XPU_POST_WORDS, MOST = 1 << 24 };
enum { MOST_FIELD = 0xffff, MOST_STRIDE = 0xff }; /* of descriptors */
enum { PRODUCT, WINDOWS, BEHIND };                /* layers of a pipeline, as they are recorded */
enum { FIRST, READER };                           /* of windows, and a product that reads their results */

typedef struct {
    uint32_t words[XPU_DESC_WORDS];
} descriptor;

/* What a kernel has queued so far, for all engines in the order of the calls. */
typedef struct {
    xpu_recording counters;
    descriptor *items, params[LAYERS]; /* params: of the post-processor */
    uint8_t *engines;                  /* of items */
    uint32_t places, most, early, address, columns;
    uint32_t call;      /* of the layers that are recorded, the one whose kernel runs */
    int (*step)(void);  /* 0: nothing is left */
    int (*taken)(void); /* of the layer before, by the one that follows it */
    uint32_t layer, y[LAYERS];
    struct xpu_progress progress[LAYERS];
    struct xpu_row_ring *ring; /* where layers meet in SM; NULL: they do not */
    uint32_t reader;           /* the layer that reads the windows' results there; 0: none */
    xpu_recorded_behind chain; /* of a product behind the windows */
    int alone;                 /* there is one layer */
    int apart;                 /* their scratch is free before the layer before them ends */
    const char *problem;
} record;

/* Kernels keep what they do in variables of their own: one runs at a time. Nothing is allocated meanwhile. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static record now;
xpu_ticket xpu_engines_done;

/* ---- what kernels call ---- */

uint32_t xpu_reg_load(uint32_t offset) {
    return offset == XPU_REG_ARRAY_COLUMNS ? now.columns : 0;
}

void xpu_wait(xpu_ticket ticket) {
    (void)ticket;
}

void xpu_abort(uint32_t code) {
    (void)code;
    now.problem = "its scratch is too small";
}

void xpu_finish_queueing(void) {
    while (now.step && !now.problem && now.step()) {
    }
    now.step = 0;
}

static int take_step(void) {
    return !now.problem && now.taken();
}

int (*xpu_take_over(uint32_t layer, uint32_t y, struct xpu_progress *progress))(void) {
    if (!now.step || now.call == 0 || now.layer != layer || now.y[0] != y) return 0;
    *progress = now.progress[0];
    now.taken = now.step;
    now.step = 0;
    return take_step;
}

uint32_t xpu_lm_address(const void *params) {
    memcpy(now.params[now.call].words, params, PARAMS_BYTES);
    return now.address + now.call * (uint32_t)sizeof now.params[0];
}

xpu_ticket xpu_expect(uint32_t counter, uint32_t amount) {
    now.counters.signals[counter] += amount;
    return (xpu_ticket){counter, now.counters.signals[counter]};
}

uint32_t *xpu_record(uint32_t engine, const uint32_t *template) {
    descriptor *item = &now.items[now.places]; /* there is one more than may be used */
    memcpy(item->words, template, sizeof item->words);
    if (now.places == now.most) {
        now.problem = "its lists are too long";
        return item->words;
    }
    now.engines[now.places++] = (uint8_t)engine;
    return item->words;
}

void xpu_continue_later(int (*step)(void), uint32_t layer, uint32_t y, const struct xpu_progress *progress) {
    now.layer = layer;
    now.step = step;
    now.y[now.call] = y;
    now.progress[now.call] = *progress;
}

void xpu_record_bell(uint32_t engine) {
    if (engine == XPU_ENGINE_DMA0 && !now.step && now.call == 0) now.early = now.places; /* all of these are loads */
}

struct xpu_row_ring *xpu_recorded_ring(void) {
    return !now.reader || now.call < now.reader ? now.ring : NULL;
}

struct xpu_row_ring *xpu_recorded_slots(void) {
    return now.reader && now.call == now.reader ? now.ring : NULL;
}

int xpu_recorded_apart(void) {
    return now.apart;
}

int xpu_recorded_alone(void) {
    return now.alone;
}

/* ---- the kernels ---- */

static int is_size(int32_t value) {
    return value >= 1 && value <= MOST;
}

/* What arguments that a compiler makes have in common: kernels divide by these. */
#define HAS_SIZES(a)                                                                                                   \
    (is_size((a)->batch) && is_size((a)->in_h) && is_size((a)->in_w) && is_size((a)->in_c) && is_size((a)->out_h) &&   \
     is_size((a)->out_w) && is_size((a)->out_c) && is_size((a)->kernel_h) && is_size((a)->kernel_w) &&                 \
     is_size((a)->stride_h) && is_size((a)->stride_w) && is_size((a)->groups) && (a)->groups <= (a)->out_c &&          \
     (a)->groups <= (a)->in_c && is_size((a)->tile_h) && is_size((a)->tile_w) && is_size((a)->tile_c))

/* Scales, factors or zero points that a layer computes are read behind it: core 0 knows when. */
static int can_conv2d_i16(const struct xpu_conv2d_i16_args *a) {
    const int repeats = a->repeat_h == 0 || (is_size(a->repeat_h) && is_size(a->repeat_w));
    return HAS_SIZES(a) && a->scale_image == 0 && a->w_image == 0 && repeats;
}
static int can_conv2d_i8(const struct xpu_conv2d_i8_args *a) {
    return HAS_SIZES(a);
}
static int can_conv2d_i8_f32(const struct xpu_conv2d_i8_f32_args *a) {
    return HAS_SIZES(a) && a->x_zero_byte == 0;
}
/* Descriptors of a tile: the kernel of one with weights may be parts. */
static int64_t window_parts(uint32_t weights, int32_t kernel_h, int32_t kernel_w) {
    return weights ? (int64_t)xpu_tiling_window_parts(kernel_h) * xpu_tiling_window_parts(kernel_w) : 1;
}
static int can_window_i8(const struct xpu_window_i8_args *a) {
    return HAS_SIZES(a) && !(a->whole & XPU_WINDOW_COMPUTED) &&
           window_parts(a->w, a->kernel_h, a->kernel_w) <= XPU_MOST_LISTED;
}
/* Along an axis: averages divide by dilations, and count taps in a word; before, behind: padding that counts. */
static int can_average(int32_t out, int32_t tile, int32_t kernel, int32_t stride, int32_t dilation, int32_t pad,
                       int32_t before, int32_t behind) {
    enum { MOST_KERNEL = XPU_WINDOW_KERNEL, MOST_REACH = 1 << 30 };
    if (kernel > MOST_KERNEL || stride > MOST_STRIDE || dilation < 1 || dilation > MOST_STRIDE) return 0;
    if (before < 0 || before > INT16_MAX || behind < 0 || behind > INT16_MAX || tile > MOST_FIELD) return 0;
    return (int64_t)out * stride < MOST_REACH && pad >= -MOST && pad <= MOST;
}
static int can_window_i16(const struct xpu_window_i16_args *a) {
    if (!HAS_SIZES(a) || a->whole & XPU_WINDOW_COMPUTED ||
        window_parts(a->w, a->kernel_h, a->kernel_w) > XPU_MOST_LISTED)
        return 0;
    return !(a->whole & XPU_WINDOW_AVERAGE) ||
           (a->sm_bytes >= 0 &&
            can_average(a->out_h, a->tile_h, a->kernel_h, a->stride_h, a->dilation_h, a->pad_top, a->counted_top,
                        a->counted_bottom) &&
            can_average(a->out_w, a->tile_w, a->kernel_w, a->stride_w, a->dilation_w, a->pad_left, a->counted_left,
                        a->counted_right));
}

/* Its steps are queued at once, so there may not be more of them than lists have room for. */
static int can_elementwise(const struct xpu_elementwise_args *a) {
    if (a->tile < 1 || a->rows < 1 || a->columns < 0 || a->columns > MOST_FIELD || !is_size(a->images)) return 0;
    if (a->columns && a->tile > MOST_FIELD) return 0;
    return (int64_t)a->images * (a->rows / a->tile + (a->rows % a->tile != 0)) <= XPU_MOST_LISTED;
}

#define RECORDED(X) X(conv2d_i16) X(conv2d_i8) X(conv2d_i8_f32) X(window_i8) X(window_i16) X(elementwise)

uint32_t xpu_recorded_words(const char *kernel) {
#define WORDS(name)                                                                                                    \
    if (strcmp(kernel, #name) == 0) return sizeof(struct xpu_##name##_args) / sizeof(uint32_t);
    RECORDED(WORDS)
#undef WORDS
    return 0;
}

static int run_kernel(const char *kernel, const uint32_t *words, uint32_t layer, xpu_ticket after) {
#define CALL(name)                                                                                                     \
    if (strcmp(kernel, #name) == 0) {                                                                                  \
        struct xpu_##name##_args args;                                                                                 \
        memcpy(&args, words, sizeof args);                                                                             \
        if (!can_##name(&args)) return 0;                                                                              \
        xpu_##name(&args, layer, after);                                                                               \
        return 1;                                                                                                      \
    }
    RECORDED(CALL)
#undef CALL
    return 0;
}

/* [*begin, *end): what a call has of SM. */
static void scratch_of(const xpu_recorded_call *call, uint64_t *begin, uint64_t *end) {
#define SCRATCH(name)                                                                                                  \
    if (strcmp(call->kernel, #name) == 0) {                                                                            \
        struct xpu_##name##_args args;                                                                                 \
        memcpy(&args, call->words, sizeof args);                                                                       \
        *begin = args.sm, *end = (uint64_t)args.sm + (uint32_t)args.sm_bytes;                                          \
    }
    RECORDED(SCRATCH)
#undef SCRATCH
}

/* ---- lists ---- */

/* A descriptor as lists have it: the counters of kernels become those of lists. */
static void take(uint32_t *to, const descriptor *item) {
    memcpy(to, item->words, sizeof item->words);
    xpu_desc_nop_set_wait0(to, xpu_list_counter(to[1] & 0xff));
    xpu_desc_nop_set_wait1(to, xpu_list_counter(to[1] >> 8 & 0xff));
    xpu_desc_nop_set_signal(to, xpu_list_counter(to[1] >> 16 & 0xff));
}

static int is_window(const xpu_recorded_call *call) {
    return strcmp(call->kernel, "window_i8") == 0 || strcmp(call->kernel, "window_i16") == 0;
}

/* Descriptors of an engine; of a layer, or of all. */
static int32_t count_of(const record *r, uint32_t engine, const xpu_recorded_call *call) {
    int32_t count = 0;
    for (uint32_t i = 0; i < r->places; i++) {
        const uint32_t layer = xpu_desc_nop_get_layer(r->items[i].words);
        count += r->engines[i] == engine && (!call || layer == (call->layer & LAYER_TAGS));
    }
    return count;
}

static void take_args(const record *r, const xpu_recorded_call *call, uint32_t index, const xpu_recording *before,
                      xpu_recorded *recorded) {
    const uint32_t engine = is_window(call) ? XPU_ENGINE_WINDOW : XPU_ENGINE_TENSOR;
    const struct xpu_progress *progress = &r->progress[index];
    recorded->args = (struct xpu_pipeline_lists_args){
        .lists = r->address,
        .engine = (int32_t)engine,
        .early = index ? 0 : (int32_t)r->early,
        .loads = count_of(r, XPU_ENGINE_DMA0, call),
        .work = count_of(r, engine, call),
        .stores = count_of(r, XPU_ENGINE_DMA1, call),
        .load_base = (int32_t)before->signals[XPU_COUNTER_LOAD],
        .work_base = (int32_t)before->signals[is_window(call) ? XPU_COUNTER_WINDOW : XPU_COUNTER_TENSOR],
        .store_base = (int32_t)before->signals[is_window(call) ? XPU_COUNTER_WINDOW_STORE : XPU_COUNTER_STORE],
        .other_base = (int32_t)before->signals[is_window(call) ? XPU_COUNTER_STORE : XPU_COUNTER_WINDOW_STORE],
        .y = progress->counter == XPU_COUNTER_STORE ? r->y[index] : 0,
        .rows = (int32_t)progress->rows,
        .signals = (int32_t)progress->signals,
        .steps = (int32_t)progress->steps,
    };
    recorded->places = 1 + (uint32_t)(recorded->args.loads + recorded->args.work + recorded->args.stores);
    recorded->args.places = (int32_t)recorded->places;
    recorded->words = NULL;
}

/* Of windows and the product that reads their results the first call rings for both: its work and stores are the
 * product's, more_work are the windows' descriptors. */
static void join_reader(xpu_recorded *recorded) {
    struct xpu_pipeline_lists_args *windows = &recorded[FIRST].args, *reader = &recorded[READER].args;
    const struct xpu_pipeline_lists_args own = *windows;
    *windows = *reader;
    windows->lists = own.lists;
    windows->early = own.early;
    windows->loads = own.loads + reader->loads;
    windows->load_base = own.load_base;
    windows->more_work = own.work;
    windows->tail = XPU_WINDOWS_FIRST;
    windows->windows_done = own.work_base + own.work;
    windows->places = own.places;
    windows->y = 0;
    reader->lists = own.lists + recorded[FIRST].places * XPU_DESC_WORDS * (uint32_t)sizeof(uint32_t);
    reader->load_base += own.loads;
    reader->is_rung = 1;
    reader->y = 0;
}

/* The layers have one list of each engine: the first one's call rings for all. */
static void join(const record *r, const xpu_recorded_call *calls, uint32_t count, xpu_recorded *recorded) {
    struct xpu_pipeline_lists_args *first = &recorded[PRODUCT].args, *second = &recorded[WINDOWS].args;
    second->other_base += first->stores;
    first->more_work = second->work;
    for (uint32_t i = 1; i < count; i++) {
        struct xpu_pipeline_lists_args *other = &recorded[i].args;
        other->load_base += first->loads + first->more_loads;
        other->lists =
            recorded[i - 1].args.lists + recorded[i - 1].places * XPU_DESC_WORDS * (uint32_t)sizeof(uint32_t);
        other->is_rung = 1;
        first->more_loads += other->loads;
        first->more_stores += other->stores;
    }
    if (count <= BEHIND) return;
    /* the first product is done with its last descriptor, in front of which are some of the one behind the windows */
    int32_t all = 0;
    for (uint32_t i = 0; i < r->places; i++) {
        if (r->engines[i] != XPU_ENGINE_TENSOR) continue;
        all++;
        if (xpu_desc_nop_get_layer(r->items[i].words) == (calls[PRODUCT].layer & LAYER_TAGS)) first->work = all;
    }
    first->tail = all - first->work;
    first->windows_done = second->work_base + second->work;
}

static void take_lists(const record *r, uint32_t count, xpu_arena *arena, xpu_recorded *recorded) {
    descriptor *items = XPU_NEW_ARRAY(arena, descriptor, count + r->places), *to = items;
    static const uint32_t order[] = {XPU_ENGINE_DMA0, XPU_ENGINE_TENSOR, XPU_ENGINE_WINDOW, XPU_ENGINE_DMA1};
    for (uint32_t i = 0; i < count; i++) *to++ = r->params[i];
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        for (uint32_t i = 0; i < r->places; i++) {
            if (r->engines[i] == order[k]) take((to++)->words, &r->items[i]);
        }
    }
    recorded->words = items->words;
}

static int32_t ring_rows_of(const xpu_recorded_call *call) {
    struct xpu_window_i8_args args = {0};
    if (is_window(call)) memcpy(&args, call->words, sizeof args);
    return args.ring_rows;
}

static int is_product(const xpu_recorded_call *call) {
    return strncmp(call->kernel, "conv2d_", strlen("conv2d_")) == 0;
}

/* Whether a product reads the results of windows, before which there is no product with a ring. */
static int reads_windows(const xpu_recorded_call *call, const xpu_recorded_call *windows) {
    struct xpu_window_i8_args args;
    if (strcmp(windows->kernel, "window_i8") != 0 || strcmp(call->kernel, "conv2d_i8") != 0) return 0;
    memcpy(&args, windows->words, sizeof args);
    return args.ring_rows == 0 && args.slots != 0;
}

int xpu_is_recorded_with(const xpu_recorded_call *call, const xpu_recorded_call *before, int dumps) {
    struct xpu_window_i8_args args;
    if (reads_windows(call, before)) return !dumps && call->layer == before->layer + 1;
    if (strcmp(call->kernel, "window_i8") != 0 || !is_product(before) || call->layer != before->layer + 1) return 0;
    memcpy(&args, call->words, sizeof args);
    if (args.ring_rows) return !dumps && strcmp(before->kernel, "conv2d_i8") == 0;
    return args.follows != 0;
}

int xpu_is_recorded_behind(const xpu_recorded_call *call, const xpu_recorded_call *windows, int dumps) {
    struct xpu_window_i8_args args;
    if (dumps || strcmp(windows->kernel, "window_i8") != 0 || strcmp(call->kernel, "conv2d_i8") != 0) return 0;
    memcpy(&args, windows->words, sizeof args);
    return args.ring_rows != 0 && args.slots != 0 && call->layer == windows->layer + 1;
}

#define SHAPE(a)                                                                                                       \
    {a.in_h,     a.in_w,     a.in_c,     a.out_h,      a.out_w,      a.out_c, a.kernel_h,                              \
     a.kernel_w, a.stride_h, a.stride_w, a.dilation_h, a.dilation_w, a.groups}

/* Whether the windows' input is the product's result, and the ring is one of xpu_tiling_ring. */
static int can_meet(const struct xpu_conv2d_i8_args *p, const struct xpu_window_i8_args *w) {
    if (!can_conv2d_i8(p) || !can_window_i8(w) || p->batch != 1 || w->batch != 1 || p->groups != 1 || p->branch)
        return 0;
    if (window_parts(w->w, w->kernel_h, w->kernel_w) != 1) return 0;
    if (w->x != p->y || w->in_h != p->out_h || w->in_w != p->out_w || w->in_c != p->out_c || w->whole) return 0;
    if (w->ring_rows < 1 || w->ring_rows > MOST_FIELD || w->made_rows < 1 || w->ring_rows % w->made_rows != 0) return 0;
    return w->step_rows >= 1 && w->step_rows <= MOST_FIELD && w->stride_h <= MOST_STRIDE;
}

static xpu_tiling_ring ring_of(const struct xpu_window_i8_args *w, int has_behind) {
    return (xpu_tiling_ring){w->ring_rows, w->made_rows, w->step_rows, w->ring_whole_w, has_behind ? w->slots : 0,
                             w->lag};
}

/* Whether the second product reads what the windows make, in slots of steps. */
static int can_read_slots(const struct xpu_window_i8_args *w, const struct xpu_conv2d_i8_args *q) {
    if (!can_conv2d_i8(q) || q->batch != 1 || q->groups != 1 || q->kernel_h != 1 || q->kernel_w != 1) return 0;
    if (q->stride_h != 1 || q->stride_w != 1 || q->pad_top || q->pad_left || q->x_divisor > 0) return 0;
    if (q->x != w->y || q->in_h != w->out_h || q->in_w != w->out_w || q->in_c != w->out_c || q->in_h != q->out_h ||
        q->in_w != q->out_w || q->x_pixel != w->y_pixel)
        return 0;
    return w->slots >= 1 && w->slots <= XPU_MOST_SLOTS && w->lag >= 0 && w->lag <= MOST_FIELD &&
           !(q->whole & XPU_TILE_LATE_SCALES);
}

static xpu_tiling_ring_scratch lay_out_ring(const struct xpu_conv2d_i8_args *p, const struct xpu_window_i8_args *w,
                                            int has_behind, uint32_t columns) {
    const xpu_tiling_ring rows = ring_of(w, has_behind);
    const xpu_tiling_shape product = SHAPE((*p)), windows = SHAPE((*w));
    return xpu_tiling_ring_layout(&product, &windows, &rows, (int32_t)columns, p->sm, XPU_TILING_I8);
}

/* Layers that meet in SM; the last may be absent. */
struct pipeline {
    struct xpu_conv2d_i8_args p, q;
    struct xpu_window_i8_args w;
};

/* 0: they do not. */
static int take_pipeline(const xpu_recorded_call *calls, uint32_t count, struct pipeline *l) {
    memset(l, 0, sizeof *l);
    memcpy(&l->p, calls[PRODUCT].words, sizeof l->p);
    memcpy(&l->w, calls[WINDOWS].words, sizeof l->w);
    if (!can_meet(&l->p, &l->w)) return 0;
    if (count > BEHIND) memcpy(&l->q, calls[BEHIND].words, sizeof l->q);
    return count <= BEHIND || can_read_slots(&l->w, &l->q);
}

/* Windows and the product that reads their results; 0: it does not. */
static int take_reader(const xpu_recorded_call *calls, struct pipeline *l) {
    memset(l, 0, sizeof *l);
    memcpy(&l->w, calls[FIRST].words, sizeof l->w);
    memcpy(&l->q, calls[READER].words, sizeof l->q);
    if (!can_window_i8(&l->w) || l->w.batch != 1 || l->w.whole || l->w.in_c != l->w.out_c) return 0;
    if (l->w.step_rows < 1 || l->w.step_rows > MOST_FIELD || l->w.in_c > MOST_FIELD || l->w.in_w > MOST_FIELD) return 0;
    return l->w.ring_rows == 0 && window_parts(l->w.w, l->w.kernel_h, l->w.kernel_w) == 1 &&
           can_read_slots(&l->w, &l->q);
}

/* Bytes of the scratch of both; *behind: where that of the product begins. */
static uint64_t bytes_of_reader(const struct pipeline *l, uint32_t columns, uint32_t *behind) {
    const xpu_tiling_shape windows = SHAPE(l->w), shape = SHAPE(l->q);
    const xpu_tiling_ring rows = ring_of(&l->w, 1);
    const uint64_t own = xpu_tiling_before_slots(&windows, l->w.step_rows, l->w.w != 0);
    *behind = l->w.sm + (uint32_t)own;
    return own + xpu_tiling_behind(&shape, &rows, l->q.tile_c, (int32_t)columns, l->q.branch != 0, XPU_TILING_I8);
}

/* Bytes of the scratch of a pipeline, and where that of the product behind the windows begins. */
static uint64_t bytes_of_pipeline(const struct pipeline *l, int has_behind, uint32_t columns, uint32_t *behind) {
    const uint64_t both = (lay_out_ring(&l->p, &l->w, has_behind, columns).total + 63) / 64 * 64;
    const xpu_tiling_ring rows = ring_of(&l->w, has_behind);
    const xpu_tiling_shape shape = SHAPE(l->q);
    *behind = l->p.sm + (uint32_t)both;
    if (!has_behind) return both;
    return both + xpu_tiling_behind(&shape, &rows, l->q.tile_c, (int32_t)columns, l->q.branch != 0, XPU_TILING_I8);
}

/* What the calls have of SM together. */
static xpu_recorded_scratch scratch_of_all(const xpu_recorded_call *calls, uint32_t count, uint32_t columns) {
    xpu_recorded_scratch all = {.begin = UINT64_MAX};
    struct pipeline l;
    uint32_t behind;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t begin = 0, end = UINT64_MAX;
        scratch_of(&calls[i], &begin, &end);
        if (begin < all.begin) all.begin = begin;
        if (end > all.end) all.end = end;
    }
    uint64_t end = UINT64_MAX;
    if (count < 2) return all;
    if (reads_windows(&calls[READER], &calls[FIRST])) {
        if (take_reader(calls, &l)) end = l.w.sm + bytes_of_reader(&l, columns, &behind);
    } else if (!ring_rows_of(&calls[WINDOWS])) {
        return all;
    } else if (take_pipeline(calls, count, &l)) {
        end = l.p.sm + bytes_of_pipeline(&l, count > BEHIND, columns, &behind);
    }
    if (end > all.end) all.end = end;
    return all;
}

/* The product behind the windows, whose steps come between those of the first, or the windows' own. */
static void run_behind(struct pipeline *l, const xpu_recorded_call *calls, struct xpu_row_ring *ring) {
    const xpu_ticket none = {XPU_NO_COUNTER, 0};
    xpu_finish_queueing(); /* of those before */
    xpu_recorded_behind chain = {.first = now.places,
                                 .windows = SHAPE(l->w),
                                 .ring = ring_of(&l->w, 1),
                                 .pad_top = l->w.pad_top,
                                 .blocks = xpu_tiling_column_tiles(l->w.in_c, ring->columns),
                                 .column_tiles = xpu_tiling_column_tiles(l->q.out_c, ring->columns),
                                 .banks = ring->rows && l->p.banks < l->q.banks ? l->p.banks : l->q.banks};
    l->q.whole = xpu_tiling_behind_whole(&chain.ring, l->q.out_h);
    l->q.tile_h = l->w.step_rows, l->q.tile_w = l->q.out_w, l->q.sm_bytes = MOST;
    now.call = now.reader;
    xpu_engines_done = none;
    xpu_conv2d_i8(&l->q, calls[now.reader].layer, none);
    chain.loads = now.places - chain.first;
    xpu_finish_queueing();
    now.chain = chain;
}

/* Layers with tiles that meet in SM. */
static void run_pipeline(const xpu_recorded_call *calls, uint32_t count, xpu_ticket after, struct xpu_row_ring *ring) {
    struct pipeline l;
    if (!take_pipeline(calls, count, &l)) {
        now.problem = "its ring is none of rows of its input";
        return;
    }
    struct xpu_conv2d_i8_args *p = &l.p;
    struct xpu_window_i8_args *w = &l.w;
    const int has_behind = count > BEHIND;
    const xpu_tiling_ring rows = ring_of(w, has_behind);
    now.reader = has_behind ? BEHIND : 0;
    *ring = (struct xpu_row_ring){.rows = w->ring_rows, .columns = (int32_t)now.columns, .slots = rows.slots};
    ring->at = lay_out_ring(p, w, has_behind, now.columns);
    if (has_behind) {
        ring->readers = xpu_tiling_column_tiles(l.q.out_c, ring->columns) * xpu_tiling_chunks(0, l.q.in_c, l.q.tile_c);
        bytes_of_pipeline(&l, 1, now.columns, &l.q.sm);
        ring->at.y = l.q.sm;
    }
    now.ring = ring;
    p->whole = xpu_tiling_ring_whole(&rows, p->out_h);
    p->tile_h = rows.made_rows, p->tile_w = p->out_w, p->tile_c = p->in_c, p->sm_bytes = MOST;
    w->tile_h = rows.step_rows, w->tile_w = w->out_w, w->tile_c = ring->columns;
    w->follows = xpu_tiling_column_tiles(p->out_c, ring->columns);
    now.call = PRODUCT;
    xpu_conv2d_i8(p, calls[PRODUCT].layer, after);
    now.call = WINDOWS;
    xpu_window_i8(w, calls[WINDOWS].layer, xpu_engines_done);
    if (has_behind)
        run_behind(&l, calls, ring);
    else
        xpu_finish_queueing();
}

/* Windows, and a product that reads their results in SM. */
static void run_reader(const xpu_recorded_call *calls, xpu_ticket after, struct xpu_row_ring *ring) {
    struct pipeline l;
    if (!take_reader(calls, &l)) {
        now.problem = "it reads no results of windows";
        return;
    }
    const xpu_tiling_shape windows = SHAPE(l.w);
    *ring = (struct xpu_row_ring){.columns = (int32_t)now.columns, .slots = l.w.slots};
    ring->readers = xpu_tiling_column_tiles(l.q.out_c, ring->columns) * xpu_tiling_chunks(0, l.q.in_c, l.q.tile_c);
    bytes_of_reader(&l, now.columns, &l.q.sm);
    ring->at.y = l.q.sm;
    ring->at.y_bytes = xpu_tiling_slot_bytes(&windows, l.w.step_rows);
    now.ring = ring;
    now.reader = READER;
    l.w.tile_h = l.w.step_rows, l.w.tile_w = l.w.out_w, l.w.tile_c = l.w.in_c, l.w.follows = 0, l.w.sm_bytes = MOST;
    now.call = FIRST;
    xpu_window_i8(&l.w, calls[FIRST].layer, after);
    run_behind(&l, calls, ring);
}

/* The kernels of all layers, and what they have not queued when they return. */
static void run_kernels(const xpu_recorded_call *calls, uint32_t count, xpu_ticket after) {
    for (uint32_t i = 0; i < count; i++) {
        now.call = i;
        if (!run_kernel(calls[i].kernel, calls[i].words, calls[i].layer, after) && !now.problem)
            now.problem = "its arguments are none of lists";
        if (now.problem) return;
        after = xpu_engines_done;
    }
    xpu_finish_queueing();
}

/* The steps of a product behind windows, in their places between those of the first product. */
static void merge(record *r, const xpu_recording *before, xpu_arena *scratch) {
    xpu_descriptors d = {(uint32_t(*)[XPU_DESC_WORDS])r->items, r->engines, r->places, r->most};
    if (!r->problem) r->problem = xpu_merge_behind(&r->chain, &d, before->signals, scratch);
}

/* What is fetched, by the layers before and for later ones, among what kernels have queued. */
static void weave(record *r, const xpu_recording *before, xpu_ticket after, xpu_arena *scratch) {
    const xpu_recorded_moves *moves = before->moves;
    xpu_descriptors d = {(uint32_t(*)[XPU_DESC_WORDS])r->items, r->engines, r->places, r->most};
    if (r->problem || !moves) return;
    const int32_t more = xpu_weave_moves(moves, &d, r->early, after, before->signals[XPU_COUNTER_LOAD], scratch);
    if (more < 0) r->problem = "its lists have no room for what is fetched ahead";
    if (more > 0) r->counters.signals[XPU_COUNTER_LOAD] += (uint32_t)more;
    r->places = d.count;
}

/* Waits for the end of the layers before, as fine as their lists, which are known where this is a run, allow. */
static void relax(record *r, const xpu_recording *before, xpu_ticket done, xpu_arena *scratch) {
    xpu_descriptors d = {(uint32_t(*)[XPU_DESC_WORDS])r->items, r->engines, r->places, r->most};
    const xpu_recorded_past past = {before->words, before->count, before->begun, done};
    if (!r->problem && before->is_run) xpu_relax_waits(&past, &d, before->signals, scratch);
}

const char *xpu_record_layers(const xpu_recorded_call *calls, uint32_t count, uint32_t address, uint32_t columns,
                              uint32_t most, xpu_arena *arena, xpu_recording *recording, xpu_recorded *recorded) {
    const xpu_ticket none = {XPU_NO_COUNTER, 0}, first = {XPU_COUNTER_STORE, 0},
                     before = {recording->done_counter, recording->done_value};
    const int follows = recording->after == calls[0].layer && calls[0].layer > 0;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "lists");
    record r = {.counters = *recording, .address = address, .columns = columns, .most = most, .alone = count == 1};
    xpu_recorded_scratch own = scratch_of_all(calls, count, columns);
    const xpu_recorded_scratch *last = &recording->last, *earlier = &recording->earlier;
    r.apart = follows && last->end && (own.end <= last->begin || own.begin >= last->end);
    r.items = XPU_NEW_ARRAY(scratch, descriptor, most + 1);
    r.engines = XPU_NEW_ARRAY(scratch, uint8_t, most + 1);
    pthread_mutex_lock(&lock);
    now = r;
    xpu_engines_done = recording->done_counter ? before : first;
    /* Loads stand in their queue behind those of the layer before, whose scratch is another: what had this one is over
     * when that layer is which the one before waited for. */
    if (r.apart) xpu_engines_done = earlier->end ? (xpu_ticket){earlier->done_counter, earlier->done_value} : first;
    struct xpu_row_ring ring;
    if (count > 1 && ring_rows_of(&calls[1]))
        run_pipeline(calls, count, follows ? before : none, &ring);
    else if (count > 1 && reads_windows(&calls[READER], &calls[FIRST]))
        run_reader(calls, follows ? before : none, &ring);
    else
        run_kernels(calls, count, follows ? before : none);
    now.ring = NULL;
    r = now;
    const xpu_ticket done = xpu_engines_done;
    pthread_mutex_unlock(&lock);
    if (r.reader) merge(&r, recording, scratch);
    weave(&r, recording, follows ? before : none, scratch);
    if (follows) relax(&r, recording, before, scratch);
    if (!r.problem) {
        for (uint32_t i = 0; i < count; i++) take_args(&r, &calls[i], i, recording, &recorded[i]);
        if (r.reader == READER)
            join_reader(recorded);
        else if (count > 1)
            join(&r, calls, count, recorded);
        take_lists(&r, count, arena, recorded);
        r.counters.words = recorded->words + (size_t)count * XPU_DESC_WORDS;
        r.counters.count = r.places;
        memcpy(r.counters.begun, recording->signals, sizeof r.counters.begun);
        *recording = r.counters;
        recording->moves = NULL;
        recording->after = calls[count - 1].layer + 1;
        recording->done_counter = own.done_counter = done.counter;
        recording->done_value = own.done_value = done.value;
        recording->earlier = recording->last;
        recording->last = own;
    }
    xpu_arena_free(scratch);
    return r.problem;
}
