/*
 * A layer on an engine whose descriptors were made before the program started (xpu_runtime/program/record.h): core 0
 * rings three doorbells. What the loads have to wait for stands in their waits where the layer before has lists, too;
 * else a nop in front of them waits. Loads that may come before that, of weights, stand first. A product and the
 * windows that follow it have their loads and stores in one list each: the product's call rings for both.
 */
#include "xpu_runtime/kernels/common.h"

enum {
    NOPS = 2,
    LOAD = XPU_COUNTER_LISTS + XPU_COUNTER_LOAD,
    STORE = XPU_COUNTER_LISTS + XPU_COUNTER_STORE,
    WINDOW_STORE = XPU_COUNTER_LISTS + XPU_COUNTER_COPY
};

static uint32_t nops[NOPS][XPU_DESC_WORDS]; /* in turn */
static xpu_ticket nop_free[NOPS];
static uint32_t nops_made;

static struct xpu_engine_lists_args lists; /* of the layer that is queued */
static xpu_ticket waits_for;               /* what its loads wait for; XPU_NO_COUNTER: nothing more */
static uint32_t layer_now;

/* `count` descriptors behind `first` others; the program's memory holds them from the start, so no fence is needed. */
static void ring(uint32_t engine, int32_t first, int32_t count) {
    if (!count) return;
    xpu_reg_store(XPU_REG_DOORBELL_ADDRESS + XPU_REG_DOORBELL_ADDRESS_STRIDE * engine,
                  lists.lists + 4 * XPU_DESC_WORDS * (uint32_t)((lists.more_work ? 2 : 1) + first));
    xpu_reg_store(XPU_REG_DOORBELL_COUNT + XPU_REG_DOORBELL_COUNT_STRIDE * engine, (uint32_t)count);
}

static void queue_nop(void) {
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

static int ring_rest(void) {
    if (waits_for.counter != XPU_NO_COUNTER) queue_nop();
    const int32_t loads = lists.loads + lists.more_loads;
    ring(XPU_ENGINE_DMA0, lists.early, loads - lists.early);
    ring((uint32_t)lists.engine, loads, lists.work);
    ring(XPU_ENGINE_WINDOW, loads + lists.work, lists.more_work);
    ring(XPU_ENGINE_DMA1, loads + lists.work + lists.more_work, lists.stores + lists.more_stores);
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
    copy_words(&lists, args, sizeof lists / sizeof(uint32_t));
    const int is_window = lists.engine == XPU_ENGINE_WINDOW;
    const uint32_t work = XPU_COUNTER_LISTS + (is_window ? XPU_COUNTER_WINDOW : XPU_COUNTER_TENSOR),
                   store = is_window ? WINDOW_STORE : STORE, other = is_window ? STORE : WINDOW_STORE;
    begin_at(LOAD, lists.load_base);
    begin_at(work, lists.work_base);
    begin_at(store, lists.store_base);
    begin_at(other, lists.other_base);
    xpu_expect(LOAD, (uint32_t)lists.loads);
    const xpu_ticket before = xpu_engines_done, worked = xpu_expect(work, (uint32_t)lists.work),
                     stored = xpu_expect(store, (uint32_t)lists.stores), done = lists.stores ? stored : worked;
    xpu_engines_done = done;
    if (lists.is_rung) return done;
    layer_now = layer;
    waits_for = after;
    if (after.counter == STORE || after.counter == WINDOW_STORE) waits_for.counter = XPU_NO_COUNTER;
    /* behind a layer without lists, which may use the same part of SM, nothing comes early */
    if (before.counter == XPU_COUNTER_STORE || before.counter == XPU_COUNTER_WINDOW_STORE)
        lists.early = 0;
    else
        ring(XPU_ENGINE_DMA0, 0, lists.early);
    if (!lists.late) ring_rest();
    const struct xpu_progress progress = {.counter = lists.y ? STORE : XPU_NO_COUNTER,
                                          .base = (uint32_t)lists.store_base,
                                          .signals = (uint32_t)lists.signals,
                                          .rows = (uint32_t)lists.rows,
                                          .steps = (uint32_t)lists.steps};
    xpu_continue_later(lists.late ? ring_rest : nothing_left, layer, lists.y, &progress);
    return done;
}
