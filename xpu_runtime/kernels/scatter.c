/*
 * Elements and rows placed by computed indices, in the order of the updates. Each core reads all indices, and places
 * what goes into its part of the result: so two updates of one place meet in order. Wide rows are moved by DMA; narrow
 * ones are updates of which a block stands in LM.
 */
#include "core/arith_pick.h"
#include "xpu_runtime/kernels/indices.h"

enum { WIDE_BYTES = 64, MOST_LOADED = 1 << 15 };

typedef struct {
    struct xpu_scatter_args args;
    uint32_t words, entry;         /* of an index, of a tuple */
    uint32_t first, last;          /* this core's rows of the result */
    uint32_t row, bytes;           /* elements of a row, bytes of one */
    uint32_t column, width;        /* the elements of a row that are being placed */
    uint32_t *raw, *spare, *other; /* indices; room for what goes into a row, and for the row */
} scattering;

/* ---- narrow rows ---- */

static void place_word(const scattering *s, uint32_t *to, const uint32_t *from) {
    const xa_placing kind = (xa_placing)s->args.kind;
    if (kind == XA_PLACE) {
        *to = *from;
        if (s->bytes == 8) to[1] = from[1];
        return;
    }
    const xa_number number = (xa_number)s->args.number;
    if (s->bytes == 4) {
        *to = xa_place_word(kind, number, *to, *from);
        return;
    }
    uint64_t sum = xa_place_wide(kind, number, (uint64_t)to[1] << 32 | to[0], (uint64_t)from[1] << 32 | from[0]);
    to[0] = (uint32_t)sum;
    to[1] = (uint32_t)(sum >> 32);
}

static void place_narrow(const scattering *s, uint8_t *to, const uint8_t *from) {
    for (uint32_t i = 0; i < s->width; i++, to += s->bytes, from += s->bytes) {
        if (s->bytes == 1) {
            *to = *from;
        } else if (s->bytes == 2) {
            *(uint16_t *)to = *(const uint16_t *)from;
        } else {
            place_word(s, (uint32_t *)to, (const uint32_t *)from);
        }
    }
}

/* ---- wide rows ---- */

static void place_wide(const scattering *s, uint32_t to, uint32_t from) {
    const uint32_t bytes = s->width * s->bytes;
    if (s->args.kind == XA_PLACE) {
        GM2SM(to, from, bytes);
        return;
    }
    GM2LM(s->spare, from, bytes);
    xpu_wait(GM2LM(s->other, to, bytes));
    for (uint32_t i = 0; i < bytes / 4; i += s->bytes / 4) place_word(s, s->other + i, s->spare + i);
    mfence();
    xpu_wait(LM2GM(to, s->other, bytes));
}

/* ---- updates, block by block ---- */

/* Tuples at .. at + count - 1, whose indices are in LM; the updates in `updates`, or 0. */
static void place_block(const scattering *s, uint32_t at, uint32_t count, const uint8_t *updates) {
    const struct xpu_scatter_args *a = &s->args;
    const uint32_t inner = a->by_element ? (uint32_t)a->inner : 1, each = (uint32_t)a->n * inner;
    uint32_t outer = quotient(at, each), in = (at - outer * each) % inner, next = (outer + 1) * each;
    for (uint32_t i = 0; i < count; i++, at++) {
        if (at == next) outer++, next += each;
        uint32_t row = row_of_tuple(s->raw + i * s->entry, s->words, (uint32_t)a->columns, a->dims, at);
        row = (outer * (uint32_t)a->count + row) * inner + in;
        if (++in == inner) in = 0;
        if (row < s->first || row >= s->last) continue;
        uint32_t to = (uint32_t)a->y + (row * s->row + s->column) * s->bytes;
        if (updates)
            place_narrow(s, (uint8_t *)(uintptr_t)to, updates + i * s->width * s->bytes);
        else
            place_wide(s, to, (uint32_t)a->updates + (at * s->row + s->column) * s->bytes);
    }
}

static void scatter_share(const void *args, uint32_t core, uint32_t cores) {
    scattering s = {.args = *(const struct xpu_scatter_args *)args};
    const struct xpu_scatter_args *a = &s.args;
    uint32_t available, inner = a->by_element ? (uint32_t)a->inner : 1;
    uint32_t *lm = (uint32_t *)lm_floats(&available), total = (uint32_t)a->n * inner * (uint32_t)a->outer;
    s.words = (uint32_t)a->index_bytes / 4;
    s.entry = s.words * (uint32_t)a->columns;
    s.bytes = (uint32_t)a->element_bytes;
    s.row = a->by_element ? 1 : (uint32_t)a->inner;
    partition(core, cores, (uint32_t)a->outer * (uint32_t)a->count * inner, 4, &s.first, &s.last);
    if (s.first == s.last) return;
    const int wide = s.row * s.bytes >= WIDE_BYTES && s.bytes >= 4;
    const uint32_t room = available / 4,
                   most_width = min_u32(round_down(room * 4 / s.bytes, 16), MOST_LOADED); /* a quarter of LM each */
    s.spare = lm;
    s.other = lm + room;
    s.raw = lm + 2 * room;
    const uint32_t step = wide && a->kind == XA_PLACE ? s.row : min_u32(s.row, most_width);
    for (s.column = 0; s.column < s.row; s.column += s.width) {
        s.width = min_u32(step, s.row - s.column);
        uint32_t most = 2 * room / s.entry;
        if (!wide) most = min_u32(most, min_u32(2 * most_width, MOST_LOADED) / s.width);
        for (uint32_t at = 0, count; at < total; at += count) {
            const uint32_t updates = (uint32_t)a->updates + (at * s.row + s.column) * s.bytes;
            count = min_u32(most, total - at);
            xpu_alive();
            xpu_wait(GM2LM(s.raw, (uint32_t)a->index + at * s.entry * 4, count * s.entry * 4));
            if (!wide && s.width == s.row) {
                xpu_wait(xpu_load_elements(s.spare, 0, updates, 0, count * s.width, 1, s.bytes));
            } else if (!wide) {
                xpu_wait(xpu_load_elements(s.spare, (int32_t)(s.width * s.bytes), updates, (int32_t)(s.row * s.bytes),
                                           s.width, count, s.bytes));
            }
            place_block(&s, at, count, wide ? 0 : (const uint8_t *)s.spare);
        }
        xpu_dma_drain();
    }
}

xpu_ticket xpu_scatter(const struct xpu_scatter_args *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores(scatter_share, args, layer, after);
}
