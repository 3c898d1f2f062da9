/* A core's own DMA: descriptors in a ring in LM, one ring and one counter for each direction. */
#include <riscv_vector.h>

#include "xpu_runtime/include/xpu_device.h"
#include "xpu_runtime/include/xpu_pixels.h"

struct ring {
    uint32_t words[XPU_RING][XPU_DESC_WORDS];
    uint32_t issued;  /* descriptors queued so far: what the counter reaches when all are done */
    uint32_t drained; /* of them, what the counter is known to have reached */
};

static struct ring loads, stores;
static const xpu_ticket none = {XPU_NO_COUNTER, 0};

/* What all copies have in common, but for the counter. */
static void make_template(uint32_t *words) {
    const xpu_desc_copy copy = {
        .wait0 = XPU_NO_COUNTER,
        .wait1 = XPU_NO_COUNTER,
        .signal_add = 1,
        .src_type = XPU_TYPE_I32,
        .dst_type = XPU_TYPE_I32,
        .size0 = 1,
        .size1 = 1,
        .src_stride3 = 4,
        .dst_stride3 = 4,
    };
    xpu_desc_copy_pack(words, &copy);
}

static void prepare(struct ring *ring, uint32_t *template, uint32_t counter) {
    xpu_desc_copy_set_signal(template, counter);
    const size_t vl = __riscv_vsetvl_e32m2(XPU_DESC_WORDS);
    const vuint32m2_t words = __riscv_vle32_v_u32m2(template, vl);
    for (uint32_t i = 0; i < XPU_RING; i++) __riscv_vse32_v_u32m2(ring->words[i], words, vl);
}

void xpu_dma_begin(void) {
    uint32_t template[XPU_DESC_WORDS];
    make_template(template);
    prepare(&loads, template, XPU_COUNTER_CORE_LOAD + core_id());
    prepare(&stores, template, XPU_COUNTER_CORE_STORE + core_id());
}

void xpu_load_template(uint32_t *words) {
    const size_t vl = __riscv_vsetvl_e32m2(XPU_DESC_WORDS);
    __riscv_vse32_v_u32m2(words, __riscv_vle32_v_u32m2(loads.words[0], vl), vl);
}

static xpu_ticket copy_2d(struct ring *ring, uint32_t engine, uint32_t counter, uint32_t target, int32_t target_stride,
                          uint32_t source, int32_t source_stride, uint32_t row_bytes, uint32_t rows, xpu_ticket after) {
    uint32_t *words = ring->words[ring->issued % XPU_RING];
    if (ring->issued - ring->drained >= XPU_RING) {
        ring->drained = ring->issued - XPU_RING + 1;
        xpu_wait((xpu_ticket){counter, ring->drained});
    }
    xpu_desc_copy_set_layer(words, xpu_layer_now);
    xpu_desc_copy_set_wait0(words, after.counter);
    xpu_desc_copy_set_wait0_value(words, after.value);
    xpu_desc_copy_set_src(words, source);
    xpu_desc_copy_set_dst(words, target);
    xpu_desc_copy_set_size2(words, rows);
    xpu_desc_copy_set_size3(words, row_bytes / 4);
    xpu_desc_copy_set_src_stride2(words, source_stride);
    xpu_desc_copy_set_dst_stride2(words, target_stride);
    xpu_enqueue(engine, words, 1);
    ring->issued++;
    return (xpu_ticket){counter, ring->issued};
}

xpu_ticket xpu_load_2d_after(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t row_bytes,
                             uint32_t rows, xpu_ticket after) {
    return copy_2d(&loads, XPU_ENGINE_DMA0, XPU_COUNTER_CORE_LOAD + core_id(), xpu_lm_address(lm), lm_stride, source,
                   source_stride, row_bytes, rows, after);
}

xpu_ticket xpu_load_2d(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t row_bytes,
                       uint32_t rows) {
    return xpu_load_2d_after(lm, lm_stride, source, source_stride, row_bytes, rows, none);
}

xpu_ticket xpu_store_2d(uint32_t target, int32_t target_stride, const void *lm, int32_t lm_stride, uint32_t row_bytes,
                        uint32_t rows) {
    return copy_2d(&stores, XPU_ENGINE_DMA1, XPU_COUNTER_CORE_STORE + core_id(), target, target_stride,
                   xpu_lm_address(lm), lm_stride, row_bytes, rows, none);
}

/* ---- elements of 1 and 2 bytes ---- */

/* Beside the rings, whose descriptors stay those of words. Fewer of them are under way: XPU_LM_RESERVED has no room for
 * as many of each. */
enum { NARROW_LOADS = 2, NARROW_STORES = 1 };
static uint32_t narrow_loads[NARROW_LOADS][XPU_DESC_WORDS], narrow_stores[NARROW_STORES][XPU_DESC_WORDS];

/* One copy of `element` bytes per element; they are dense in a row. */
static xpu_ticket copy_narrow(struct ring *ring, uint32_t (*slots)[XPU_DESC_WORDS], uint32_t count, uint32_t engine,
                              uint32_t counter, xpu_desc_copy *copy, uint32_t element) {
    uint32_t *words = slots[ring->issued % count];
    if (ring->issued >= count) xpu_wait((xpu_ticket){counter, ring->issued - count + 1});
    copy->layer = xpu_layer_now;
    copy->wait0 = XPU_NO_COUNTER;
    copy->wait1 = XPU_NO_COUNTER;
    copy->signal = counter;
    copy->signal_add = 1;
    copy->src_type = copy->dst_type = element == 1 ? XPU_TYPE_U8 : XPU_TYPE_I16;
    copy->size0 = copy->size1 = 1;
    copy->src_stride3 = copy->dst_stride3 = (int32_t)element;
    xpu_desc_copy_pack(words, copy);
    xpu_enqueue(engine, words, 1);
    ring->issued++;
    return (xpu_ticket){counter, ring->issued};
}

xpu_ticket xpu_load_elements(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t count,
                             uint32_t rows, uint32_t element) {
    if (element >= 4) return xpu_load_2d(lm, lm_stride, source, source_stride, count * element, rows);
    xpu_desc_copy copy = {.src = source,
                          .dst = xpu_lm_address(lm),
                          .size2 = rows,
                          .size3 = count,
                          .src_stride2 = source_stride,
                          .dst_stride2 = lm_stride};
    return copy_narrow(&loads, narrow_loads, NARROW_LOADS, XPU_ENGINE_DMA0, XPU_COUNTER_CORE_LOAD + core_id(), &copy,
                       element);
}

xpu_ticket xpu_store_elements(uint32_t target, const void *lm, uint32_t count, uint32_t element) {
    if (element >= 4) return LM2GM(target, lm, count * element);
    xpu_desc_copy copy = {.src = xpu_lm_address(lm), .dst = target, .size2 = 1, .size3 = count};
    return copy_narrow(&stores, narrow_stores, NARROW_STORES, XPU_ENGINE_DMA1, XPU_COUNTER_CORE_STORE + core_id(),
                       &copy, element);
}

/* What programs of whole words have: the same code. */
__attribute__((weak, alias("xpu_load_2d"))) xpu_ticket xpu_load_pixels(void *lm, int32_t lm_stride, uint32_t source,
                                                                       int32_t source_stride, uint32_t row_bytes,
                                                                       uint32_t rows);
__attribute__((weak, alias("xpu_store_2d"))) xpu_ticket xpu_store_pixels(uint32_t target, int32_t target_stride,
                                                                         const void *lm, int32_t lm_stride,
                                                                         uint32_t row_bytes, uint32_t rows);

static int has_words(uint32_t address, int32_t stride, uint32_t bytes) {
    return ((address | (uint32_t)stride | bytes) & 3) == 0;
}

xpu_ticket xpu_load_any_bytes(void *lm, int32_t lm_stride, uint32_t source, int32_t source_stride, uint32_t row_bytes,
                              uint32_t rows) {
    if (has_words(source, source_stride, row_bytes))
        return xpu_load_2d(lm, lm_stride, source, source_stride, row_bytes, rows);
    return xpu_load_elements(lm, lm_stride, source, source_stride, row_bytes, rows, 1);
}

xpu_ticket xpu_store_any_bytes(uint32_t target, int32_t target_stride, const void *lm, int32_t lm_stride,
                               uint32_t row_bytes, uint32_t rows) {
    if (has_words(target, target_stride, row_bytes))
        return xpu_store_2d(target, target_stride, lm, lm_stride, row_bytes, rows);
    xpu_desc_copy copy = {.src = xpu_lm_address(lm),
                          .dst = target,
                          .size2 = rows,
                          .size3 = row_bytes,
                          .src_stride2 = lm_stride,
                          .dst_stride2 = target_stride};
    return copy_narrow(&stores, narrow_stores, NARROW_STORES, XPU_ENGINE_DMA1, XPU_COUNTER_CORE_STORE + core_id(),
                       &copy, 1);
}

xpu_ticket GM2LM(void *lm, uint32_t source, uint32_t bytes) {
    return xpu_load_2d(lm, 0, source, 0, bytes, 1);
}

xpu_ticket LM2GM(uint32_t target, const void *lm, uint32_t bytes) {
    return xpu_store_2d(target, 0, lm, 0, bytes, 1);
}

/* In all programs, so that what follows has the same lines of the instruction cache in those that call it (link.ld). */
__attribute__((used, retain)) xpu_ticket GM2SM(uint32_t sm, uint32_t source, uint32_t bytes) {
    return copy_2d(&loads, XPU_ENGINE_DMA0, XPU_COUNTER_CORE_LOAD + core_id(), sm, 0, source, 0, bytes, 1, none);
}

xpu_ticket xpu_load_box(uint32_t *words) {
    xpu_enqueue(XPU_ENGINE_DMA0, words, 1);
    loads.issued++;
    return (xpu_ticket){XPU_COUNTER_CORE_LOAD + core_id(), loads.issued};
}

xpu_ticket xpu_gather_rows(uint32_t *words, uint32_t target, uint32_t source, const uint32_t *list, uint32_t count,
                           uint32_t units, uint32_t unit) {
    const uint32_t type = unit == 1 ? XPU_TYPE_U8 : unit == 2 ? XPU_TYPE_I16 : XPU_TYPE_I32;
    const xpu_desc_gather gather = {
        .layer = xpu_layer_now,
        .wait0 = XPU_NO_COUNTER,
        .wait1 = XPU_NO_COUNTER,
        .signal = XPU_COUNTER_CORE_STORE + core_id(),
        .signal_add = 1,
        .src = source,
        .dst = target,
        .src_type = type,
        .dst_type = type,
        .size0 = 1,
        .size1 = 1,
        .size2 = count,
        .size3 = units,
        .src_stride2 = (int32_t)(units * unit),
        .src_stride3 = (int32_t)unit,
        .dst_stride2 = (int32_t)(units * unit),
        .dst_stride3 = (int32_t)unit,
        .gather_dim = 2,
        .index = xpu_lm_address(list),
    };
    xpu_desc_gather_pack(words, &gather);
    xpu_enqueue(XPU_ENGINE_DMA1, words, 1);
    stores.issued++;
    return (xpu_ticket){gather.signal, stores.issued};
}

void xpu_dma_drain(void) {
    loads.drained = loads.issued;
    stores.drained = stores.issued;
    xpu_wait((xpu_ticket){XPU_COUNTER_CORE_LOAD + core_id(), loads.issued});
    xpu_wait((xpu_ticket){XPU_COUNTER_CORE_STORE + core_id(), stores.issued});
}
