/*
 * Lists of a product, the windows over its result and a product of their pixels (kernel engine_lists): one call rings
 * for all three, whose descriptors of the tensor engine are one list. The windows need no call; that of the product
 * behind them has nothing to do. The same where no product comes before the windows: their call rings for both.
 */
#include "xpu_runtime/kernels/common.h"

enum { PLACE_BYTES = 4 * XPU_DESC_WORDS, OWN_WORDS = sizeof(struct xpu_engine_lists_args) / sizeof(uint32_t) };

static uint32_t behind; /* the last product that needs nothing more; 0: there was none */

xpu_ticket xpu_pipeline_lists(const struct xpu_pipeline_lists_args *args, uint32_t layer, xpu_ticket after) {
    if (layer == behind && layer) return xpu_engines_done;
    struct xpu_engine_lists_args lists;
    copy_words(&lists, args, OWN_WORDS);
    const int32_t tail = args->tail, windows_done = args->windows_done;
    const xpu_ticket windows = {XPU_COUNTER_LISTS + XPU_COUNTER_WINDOW, (uint32_t)windows_done};
    if (tail > 0) {
        lists.lists += PLACE_BYTES; /* the parameters of the third layer */
        lists.work += tail;
    }
    xpu_ticket done = xpu_engine_lists(&lists, layer, after);
    if (!tail) return done;
    if (tail > 0) done.value -= (uint32_t)tail;
    if (lists.late) return tail > 0 ? done : windows;
    xpu_lists_begun[1] = 1; /* a run with pipelines begins with the program's first layer */
    if (tail == XPU_WINDOWS_FIRST) {
        behind = layer + 1;
        return windows;
    }
    xpu_needs_no_call(layer + 1, windows);
    xpu_engines_done =
        (xpu_ticket){XPU_COUNTER_LISTS + XPU_COUNTER_STORE, (uint32_t)(lists.store_base + lists.more_stores)};
    behind = layer + 2;
    return done;
}
