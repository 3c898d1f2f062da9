/* Rows picked by computed indices: each core turns its share of the indices into positions of rows, which its DMA then
 * fetches, list by list. */
#include "xpu_runtime/kernels/indices.h"

enum { LISTS = 2, MOST_ROWS = 1024, MOST_UNITS = 1 << 16 };

typedef struct {
    struct xpu_gather_args args;
    uint32_t words, entry; /* of an index, of all of a row */
    uint32_t row, unit;    /* of elements that DMA moves: how many in a row, bytes of each */
} gathering;

/* Positions of rows first .. first + count - 1 of the result; raw: their indices, or all of the list where `whole`. */
static void list_rows(const gathering *g, const uint32_t *raw, int whole, uint32_t first, uint32_t count,
                      uint32_t *list) {
    const struct xpu_gather_args *a = &g->args;
    uint32_t inner = a->by_element ? (uint32_t)a->inner : 1, each = (uint32_t)a->n * inner;
    uint32_t outer = first / each, at = first % each, in = at % inner;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = row_of_tuple(raw + (whole ? at : i) * g->entry, g->words, (uint32_t)a->columns, a->dims,
                                    a->shared ? at : first + i);
        list[i] = (outer * (uint32_t)a->count + row) * inner + in;
        if (++in == inner) in = 0;
        if (++at == each) at = 0, outer++;
    }
}

static void gather_share(const void *args, uint32_t core, uint32_t cores) {
    gathering g = {.args = *(const struct xpu_gather_args *)args};
    const struct xpu_gather_args *a = &g.args;
    uint32_t available, first, last, bytes = (uint32_t)(a->element_bytes * (a->by_element ? 1 : a->inner));
    uint32_t *lm = (uint32_t *)lm_floats(&available), *words = lm, *lists = lm + LISTS * XPU_DESC_WORDS;
    g.words = (uint32_t)a->index_bytes / 4;
    g.entry = g.words * (uint32_t)a->columns;
    g.unit = bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
    g.row = bytes / g.unit;
    uint32_t most = min_u32(MOST_ROWS, (available - LISTS * XPU_DESC_WORDS) / 2 / LISTS);
    uint32_t *raw = lists + LISTS * most, room = available - (uint32_t)(raw - lm), total = (uint32_t)(a->outer * a->n);
    const int whole = a->shared && (uint32_t)a->n * g.entry <= room;
    if (a->by_element) total *= (uint32_t)a->inner;
    most = min_u32(most, g.row >= MOST_UNITS ? 1 : MOST_UNITS / g.row);
    if (!whole) most = min_u32(most, room / g.entry);
    partition(core, cores, total, 4, &first, &last);
    if (whole && first < last) xpu_wait(GM2LM(raw, a->index, (uint32_t)a->n * g.entry * 4));
    xpu_ticket done[LISTS] = {{XPU_COUNTER_CALL, 0}, {XPU_COUNTER_CALL, 0}};
    for (uint32_t at = first, half = 0, count; at < last; at += count, half ^= 1) {
        uint32_t entry = a->shared ? at % (uint32_t)a->n : at, *list = lists + half * most;
        count = min_u32(most, last - at);
        if (a->shared && !whole) count = min_u32(count, (uint32_t)a->n - entry);
        if (!whole) xpu_wait(GM2LM(raw, a->index + entry * g.entry * 4, count * g.entry * 4));
        xpu_wait(done[half]);
        list_rows(&g, raw, whole, at, count, list);
        mfence();
        done[half] =
            xpu_gather_rows(words + half * XPU_DESC_WORDS, a->y + at * bytes, a->x, list, count, g.row, g.unit);
    }
}

xpu_ticket xpu_gather(const struct xpu_gather_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(gather_share, args, layer, after);
}
