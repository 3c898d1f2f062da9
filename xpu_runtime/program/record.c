/* Kernels run on the host for the descriptors that they queue. */
#include "xpu_runtime/program/record.h"

#include <pthread.h>
#include <string.h>

#include "xpu_runtime/include/xpu_device.h"

enum { ENGINES = 4, PARAMS_BYTES = 4 * XPU_POST_WORDS, MOST = 1 << 24 };

typedef struct {
    uint32_t words[XPU_DESC_WORDS];
} descriptor;

/* What a kernel has queued so far, for all engines in the order of the calls. */
typedef struct {
    xpu_recording counters;
    descriptor *items, params; /* params: of the post-processor */
    uint8_t *engines;          /* of items */
    uint32_t counts[ENGINES];
    uint32_t places, most, early, address, columns;
    int (*step)(void);
    uint32_t y;
    struct xpu_progress progress;
    const char *problem;
} record;

/* Kernels keep what they do in variables of their own: one runs at a time. Nothing is allocated meanwhile. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static record now;

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

void xpu_finish_queueing(void) {}

uint32_t xpu_lm_address(const void *params) {
    memcpy(now.params.words, params, PARAMS_BYTES);
    return now.address;
}

xpu_ticket xpu_expect(uint32_t counter, uint32_t amount) {
    now.counters.signals[counter] += amount;
    return (xpu_ticket){counter, now.counters.signals[counter]};
}

uint32_t *xpu_record(uint32_t engine, const uint32_t *template) {
    if (now.places == now.most) now.problem = "its lists are too long", now.places--;
    descriptor *item = &now.items[now.places];
    memcpy(item->words, template, sizeof item->words);
    now.engines[now.places++] = (uint8_t)engine;
    now.counts[engine]++;
    return item->words;
}

void xpu_continue_later(int (*step)(void), uint32_t layer, uint32_t y, const struct xpu_progress *progress) {
    (void)layer;
    now.step = step;
    now.y = y;
    now.progress = *progress;
}

void xpu_record_bell(uint32_t engine) {
    if (engine == XPU_ENGINE_DMA0 && !now.step) now.early = now.counts[engine];
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
    return HAS_SIZES(a) && a->scale_image == 0 && a->w_image == 0;
}
static int can_conv2d_i8(const struct xpu_conv2d_i8_args *a) {
    return HAS_SIZES(a);
}
static int can_conv2d_i8_f32(const struct xpu_conv2d_i8_f32_args *a) {
    return HAS_SIZES(a) && a->x_zero_byte == 0;
}
static int can_window_i8(const struct xpu_window_i8_args *a) {
    return HAS_SIZES(a) && !(a->whole & 2);
}

#define RECORDED(X) X(conv2d_i16) X(conv2d_i8) X(conv2d_i8_f32) X(window_i8)

uint32_t xpu_recorded_words(const char *kernel) {
#define WORDS(name)                                                                                                    \
    if (strcmp(kernel, #name) == 0) return sizeof(struct xpu_##name##_args) / sizeof(uint32_t);
    RECORDED(WORDS)
#undef WORDS
    return 0;
}

static int call(const char *kernel, const uint32_t *words, uint32_t layer, xpu_ticket after) {
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

/* ---- lists ---- */

static uint32_t list_counter(uint32_t counter) {
    return counter < XPU_RECORDED_COUNTERS ? counter + XPU_COUNTER_LISTS : counter;
}

/* A descriptor as lists have it: the counters of kernels become those of lists. */
static void take(uint32_t *to, const descriptor *item) {
    memcpy(to, item->words, sizeof item->words);
    xpu_desc_nop_set_wait0(to, list_counter(to[1] & 0xff));
    xpu_desc_nop_set_wait1(to, list_counter(to[1] >> 8 & 0xff));
    xpu_desc_nop_set_signal(to, list_counter(to[1] >> 16 & 0xff));
}

static void take_lists(const record *r, const xpu_recording *before, xpu_arena *arena, xpu_recorded *recorded) {
    const uint32_t window = r->counts[XPU_ENGINE_WINDOW], engine = window ? XPU_ENGINE_WINDOW : XPU_ENGINE_TENSOR;
    recorded->args = (struct xpu_engine_lists_args){
        .lists = r->address,
        .engine = (int32_t)engine,
        .early = (int32_t)r->early,
        .loads = (int32_t)r->counts[XPU_ENGINE_DMA0],
        .work = (int32_t)r->counts[engine],
        .stores = (int32_t)r->counts[XPU_ENGINE_DMA1],
        .load_base = (int32_t)before->signals[XPU_COUNTER_LOAD],
        .work_base = (int32_t)before->signals[window ? XPU_COUNTER_WINDOW : XPU_COUNTER_TENSOR],
        .store_base = (int32_t)before->signals[XPU_COUNTER_STORE],
        .y = r->progress.counter == XPU_NO_COUNTER ? 0 : r->y,
        .rows = (int32_t)r->progress.rows,
        .signals = (int32_t)r->progress.signals,
        .steps = (int32_t)r->progress.steps,
    };
    recorded->places = 1 + r->places;
    descriptor *items = XPU_NEW_ARRAY(arena, descriptor, recorded->places), *to = items;
    const uint32_t order[] = {XPU_ENGINE_DMA0, engine, XPU_ENGINE_DMA1};
    *to++ = r->params;
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < r->places; i++) {
            if (r->engines[i] == order[k]) take((to++)->words, &r->items[i]);
        }
    }
    recorded->words = items->words;
}

const char *xpu_record_layer(const char *kernel, const uint32_t *words, uint32_t layer, uint32_t address,
                             uint32_t columns, uint32_t most, xpu_arena *arena, xpu_recording *recording,
                             xpu_recorded *recorded) {
    const xpu_ticket stored = {XPU_COUNTER_STORE, recording->signals[XPU_COUNTER_STORE]};
    const int follows = recording->after == layer && layer > 0;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "lists");
    record r = {.counters = *recording, .address = address, .columns = columns, .most = most};
    r.items = XPU_NEW_ARRAY(scratch, descriptor, most + 1);
    r.engines = XPU_NEW_ARRAY(scratch, uint8_t, most + 1);
    pthread_mutex_lock(&lock);
    now = r;
    if (!call(kernel, words, layer, follows ? stored : (xpu_ticket){XPU_NO_COUNTER, 0}) && !now.problem)
        now.problem = "its arguments are none of lists";
    while (!now.problem && now.step()) {
    }
    r = now;
    pthread_mutex_unlock(&lock);
    if (!r.problem) {
        take_lists(&r, recording, arena, recorded);
        *recording = r.counters;
        recording->after = layer + 1;
    }
    xpu_arena_free(scratch);
    return r.problem;
}
