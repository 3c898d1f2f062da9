/*
 * A layer on an engine whose descriptors were made before the program started (xpu_runtime/program/record.h): core 0
 * rings three doorbells. What the loads have to wait for stands in their waits where the layer before has lists, too;
 * else a nop in front of them waits. Loads that may come before that, of weights, stand first. A product and the
 * windows that follow it have their loads and stores in one list each: the product's call rings for both.
 */
#include "xpu_runtime/kernels/common.h"

enum {
    NOPS = 2,
    PLACE_BYTES = 4 * XPU_DESC_WORDS,
    LOAD = XPU_COUNTER_LISTS + XPU_COUNTER_LOAD,
    STORE = XPU_COUNTER_LISTS + XPU_COUNTER_STORE,
    WINDOW_STORE = XPU_COUNTER_LISTS + XPU_COUNTER_COPY
};

static uint32_t nops[NOPS][XPU_DESC_WORDS]; /* in turn */
static xpu_ticket nop_free[NOPS];
static uint32_t nops_made;

static struct xpu_engine_lists_args lists; /* of the layer that is queued */
uint8_t xpu_lists_begun[2];
static uint32_t rest_at;     /* those of its descriptors that no engine knows of */
static xpu_ticket waits_for; /* what its loads wait for; XPU_NO_COUNTER: nothing more */
static uint32_t layer_now;

/* `count` descriptors from `at` on, and where the next ones stand; the program's memory holds them from the start, so
 * no fence is needed. */
static uint32_t ring(uint32_t engine, uint32_t at, int32_t count) {
    if (!count) return at;
    xpu_reg_store(XPU_REG_DOORBELL_ADDRESS + XPU_REG_DOORBELL_ADDRESS_STRIDE * engine, at);
    xpu_reg_store(XPU_REG_DOORBELL_COUNT + XPU_REG_DOORBELL_COUNT_STRIDE * engine, (uint32_t)count);
    return at + PLACE_BYTES * (uint32_t)count;
}

__attribute__((noinline)) static void queue_nop(void) {
    const uint32_t slot = nops_made++ % NOPS;
    if (nops_made > NOPS) xpu_wait(nop_free[slot]);
    const xpu_desc_nop nop = {.layer = layer_now,
                              .wait0 = waits_for.counter,
                              .wait0_value = waits_for.value,
                              .wait1 = XPU_NO_COUNTER,
                              .signal = XPU_NO_COUNTER};
    xpu_desc_nop_pack(nops[slot], &nop);
    xpu_enqueue(XPU_ENGINE_DMA0, nops[slot], 1);
    nop_free[slot] = xpu_engines_done;
}

static inline __attribute__((always_inline)) void ring_others(uint32_t at) {
    if (waits_for.counter != XPU_NO_COUNTER) queue_nop();
    at = ring(XPU_ENGINE_DMA0, at, lists.loads + lists.more_loads - lists.early);
    at = ring((uint32_t)lists.engine, at, lists.work);
    at = ring(XPU_ENGINE_WINDOW, at, lists.more_work);
    ring(XPU_ENGINE_DMA1, at, lists.stores + lists.more_stores);
}

static int ring_rest(void) {
    ring_others(rest_at);
    return 0;
}

static int nothing_left(void) {
    return 0;
}

static void continue_later(uint32_t layer) {
    const struct xpu_progress progress = {.counter = lists.y ? STORE : XPU_NO_COUNTER,
                                          .base = (uint32_t)lists.store_base,
                                          .signals = (uint32_t)lists.signals,
                                          .rows = (uint32_t)lists.rows,
                                          .steps = (uint32_t)lists.steps};
    xpu_continue_later(lists.late ? ring_rest : nothing_left, layer, lists.y, &progress);
}

/* A run of some layers only begins where the lists before these would have ended. Nobody else signals these counters.
 */
static void begin_at(uint32_t counter, int32_t base) {
    if (base) xpu_signal(counter, (uint32_t)base);
}

static void begin(int is_window, uint32_t work, uint32_t store, uint32_t other) {
    begin_at(work, lists.work_base);
    if (!xpu_lists_begun[!is_window]) {
        begin_at(LOAD, lists.load_base);
        begin_at(store, lists.store_base);
        begin_at(other, lists.other_base);
    }
    xpu_lists_begun[is_window] = 1;
    if (lists.load_base == 0) xpu_lists_begun[!is_window] = 1; /* these are the program's first: nothing is missing */
}

static void ring_lists(xpu_ticket before, uint32_t layer, xpu_ticket after) {
    waits_for.counter = XPU_NO_COUNTER;
    if (after.counter != STORE && after.counter != WINDOW_STORE) {
        waits_for = after;
        layer_now = layer;
    }
    uint32_t at = lists.lists + (lists.more_work ? 2 : 1) * PLACE_BYTES;
    /* behind a layer without lists, which may use the same part of SM, nothing comes early */
    if (before.counter == XPU_COUNTER_STORE || before.counter == XPU_COUNTER_WINDOW_STORE)
        lists.early = 0;
    else
        at = ring(XPU_ENGINE_DMA0, at, lists.early);
    rest_at = at;
    if (!lists.late) ring_others(at);
}

xpu_ticket xpu_engine_lists(const struct xpu_engine_lists_args *args, uint32_t layer, xpu_ticket after) {
    xpu_finish_queueing();
    copy_words(&lists, args, sizeof lists / sizeof(uint32_t));
    const int is_window = lists.engine == XPU_ENGINE_WINDOW;
    const uint32_t work = XPU_COUNTER_LISTS + (is_window ? XPU_COUNTER_WINDOW : XPU_COUNTER_TENSOR),
                   store = is_window ? WINDOW_STORE : STORE, other = is_window ? STORE : WINDOW_STORE;
    if (!xpu_lists_begun[is_window]) begin(is_window, work, store, other);
    const xpu_ticket before = xpu_engines_done,
                     done = lists.stores ? (xpu_ticket){store, (uint32_t)(lists.store_base + lists.stores)}
                                         : (xpu_ticket){work, (uint32_t)(lists.work_base + lists.work)};
    xpu_engines_done = done;
    if (lists.is_rung) return done;
    ring_lists(before, layer, after);
    if (lists.more_stores && xpu_lists_begun[1] && !lists.late) {
        /* all that a call of the windows would do */
        xpu_engines_done = (xpu_ticket){WINDOW_STORE, (uint32_t)(lists.other_base + lists.more_stores)};
        xpu_needs_no_call(layer + 1, xpu_engines_done);
        return done;
    }
    if (lists.late || lists.y) continue_later(layer);
    return done;
}
