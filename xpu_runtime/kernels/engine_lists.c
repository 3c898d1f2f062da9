/*
 * A layer on an engine whose descriptors were made before the program started (xpu_runtime/program/record.h): core 0
 * rings three doorbells. What the loads have to wait for stands in their waits where the layer before has lists, too;
 * else a nop in front of them waits. Loads that may come before that, of weights, stand first.
 */
#include "xpu_runtime/kernels/common.h"

enum { NOPS = 2, LOAD = XPU_COUNTER_LISTS + XPU_COUNTER_LOAD, STORE = XPU_COUNTER_LISTS + XPU_COUNTER_STORE };

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
                  lists.lists + 4 * XPU_DESC_WORDS * (uint32_t)(1 + first));
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
    nop_free[slot] = xpu_expect(STORE, 0);
}

static int ring_rest(void) {
    if (waits_for.counter != XPU_NO_COUNTER) queue_nop();
    ring(XPU_ENGINE_DMA0, lists.early, lists.loads - lists.early);
    ring((uint32_t)lists.engine, lists.loads, lists.work);
    ring(XPU_ENGINE_DMA1, lists.loads + lists.work, lists.stores);
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
    const uint32_t work =
        XPU_COUNTER_LISTS + (lists.engine == XPU_ENGINE_WINDOW ? XPU_COUNTER_WINDOW : XPU_COUNTER_TENSOR);
    begin_at(LOAD, lists.load_base);
    begin_at(work, lists.work_base);
    begin_at(STORE, lists.store_base);
    xpu_expect(LOAD, (uint32_t)lists.loads);
    xpu_expect(work, (uint32_t)lists.work);
    const xpu_ticket done = xpu_expect(STORE, (uint32_t)lists.stores);
    layer_now = layer;
    waits_for = after.counter == STORE ? (xpu_ticket){XPU_NO_COUNTER, 0} : after;
    /* behind a layer that uses the same part of SM nothing comes early */
    if (after.counter == XPU_COUNTER_STORE)
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
