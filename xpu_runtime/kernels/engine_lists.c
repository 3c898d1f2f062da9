/*
 * A layer on an engine whose descriptors were made before the program started (xpu_runtime/program/record.h): core 0
 * rings three doorbells. What the loads have to wait for stands in their waits where the layer before has lists, too;
 * else a nop in front of them waits. Loads that may come before that, of weights, stand first. A product and the
 * windows that follow it have their loads and stores in one list each: the product's call rings for both.
 */
#include "xpu_runtime/kernels/common.h"

enum {
    LOAD = XPU_COUNTER_LISTS + XPU_COUNTER_LOAD,
    STORE = XPU_COUNTER_LISTS + XPU_COUNTER_STORE,
    WINDOW_STORE = XPU_COUNTER_LISTS + XPU_COUNTER_COPY
};

/* Of the layer that is queued: where the lists' first descriptor lies, the engine, and how many descriptors each list
 * has; the loads that come early are rung already. LM is small. */
static struct {
    uint32_t at, engine;
    int32_t early, loads, work, more_work, stores;
    xpu_ticket waits_for; /* of the loads; XPU_NO_COUNTER: nothing more */
} now;

/* `count` descriptors behind `first` others; the program's memory holds them from the start, so no fence is needed. */
static void ring(uint32_t engine, int32_t first, int32_t count) {
    if (!count) return;
    xpu_reg_store(XPU_REG_DOORBELL_ADDRESS + XPU_REG_DOORBELL_ADDRESS_STRIDE * engine,
                  now.at + 4 * XPU_DESC_WORDS * (uint32_t)first);
    xpu_reg_store(XPU_REG_DOORBELL_COUNT + XPU_REG_DOORBELL_COUNT_STRIDE * engine, (uint32_t)count);
}

/* A copy of nothing waits in front of the loads. */
static int ring_rest(void) {
    if (now.waits_for.counter != XPU_NO_COUNTER)
        xpu_load_2d_after((void *)(uintptr_t)XPU_LM_BASE, 0, now.at, 0, 0, 0, now.waits_for);
    ring(XPU_ENGINE_DMA0, now.early, now.loads - now.early);
    ring(now.engine, now.loads, now.work);
    ring(XPU_ENGINE_WINDOW, now.loads + now.work, now.more_work);
    ring(XPU_ENGINE_DMA1, now.loads + now.work + now.more_work, now.stores);
    return 0;
}

static int nothing_left(void) {
    return 0;
}

/* A run of some layers only begins where the lists before these would have ended. */
static void begin_at(uint32_t counter, int32_t base) {
    const xpu_ticket here = xpu_expect(counter, 0);
    const uint32_t missing = (uint32_t)base - here.value;
    if (!missing) return;
    xpu_wait(here);
    xpu_signal(counter, missing);
    xpu_expect(counter, missing);
}

xpu_ticket xpu_engine_lists(const struct xpu_engine_lists_args *args, uint32_t layer, xpu_ticket after) {
    xpu_finish_queueing();
    struct xpu_engine_lists_args lists;
    copy_words(&lists, args, sizeof lists / sizeof(uint32_t));
    const int is_window = lists.engine == XPU_ENGINE_WINDOW;
    const uint32_t work = XPU_COUNTER_LISTS + (is_window ? XPU_COUNTER_WINDOW : XPU_COUNTER_TENSOR),
                   store = is_window ? WINDOW_STORE : STORE, other = is_window ? STORE : WINDOW_STORE;
    begin_at(LOAD, lists.load_base);
    begin_at(work, lists.work_base);
    begin_at(store, lists.store_base);
    begin_at(other, lists.other_base);
    xpu_expect(LOAD, (uint32_t)lists.loads);
    xpu_expect(work, (uint32_t)lists.work);
    const xpu_ticket before = xpu_engines_done, done = xpu_expect(store, (uint32_t)lists.stores);
    xpu_engines_done = done;
    if (lists.is_rung) return done;
    now.at = lists.lists + 4 * XPU_DESC_WORDS * (lists.more_work ? 2 : 1); /* behind the parameters */
    now.engine = (uint32_t)lists.engine;
    now.loads = lists.loads + lists.more_loads;
    now.work = lists.work;
    now.more_work = lists.more_work;
    now.stores = lists.stores + lists.more_stores;
    now.waits_for = after;
    if (after.counter == STORE || after.counter == WINDOW_STORE) now.waits_for.counter = XPU_NO_COUNTER;
    /* behind a layer without lists, which may use the same part of SM, nothing comes early */
    const int is_engines = before.counter == XPU_COUNTER_STORE || before.counter == XPU_COUNTER_WINDOW_STORE;
    now.early = is_engines ? 0 : lists.early;
    ring(XPU_ENGINE_DMA0, 0, now.early);
    if (!lists.late) ring_rest();
    const struct xpu_progress progress = {.counter = lists.y ? STORE : XPU_NO_COUNTER,
                                          .base = (uint32_t)lists.store_base,
                                          .signals = (uint32_t)lists.signals,
                                          .rows = (uint32_t)lists.rows,
                                          .steps = (uint32_t)lists.steps};
    xpu_continue_later(lists.late ? ring_rest : nothing_left, layer, lists.y, &progress);
    return done;
}
