#include "xpu_runtime/program/record_moves.h"

#include <string.h>

enum { WORD = 4, LINE = 64, LANES = 32, LEAST_BYTES = 1024, MOST_COPIES = 512 };

/* What is being woven. */
typedef struct {
    const xpu_recorded_moves *moves;
    uint32_t move, at;         /* the next bytes to fetch: of this move, behind so many of it */
    uint64_t all, done, least; /* bytes to fetch, and of one copy */
    uint32_t (*words)[XPU_DESC_WORDS];
    uint8_t *engines;
    uint32_t count, most;
    uint32_t loads, more, *before; /* before: by load, how many there are more up to it */
} weaver;

static uint32_t *add_load(weaver *w) {
    if (w->count >= w->most) return NULL;
    w->engines[w->count] = XPU_ENGINE_DMA0;
    return w->words[w->count++];
}

/* ---- what has been fetched ---- */

/* Bytes of a copy of one dense run; 0: it is another one. */
static uint32_t dense_bytes(const uint32_t *words) {
    const uint32_t type = xpu_desc_copy_get_src_type(words), element = xpu_bytes_of_type(type);
    if (xpu_desc_copy_get_opcode(words) != XPU_OPCODE_COPY || xpu_desc_copy_get_dst_type(words) != type ||
        xpu_desc_copy_get_size0(words) != 1 || xpu_desc_copy_get_size1(words) != 1 ||
        xpu_desc_copy_get_size2(words) != 1 || xpu_desc_copy_get_src_stride3(words) != (int32_t)element ||
        xpu_desc_copy_get_dst_stride3(words) != (int32_t)element)
        return 0;
    return xpu_desc_copy_get_size3(words) * element;
}

/* Of `bytes` bytes from `from` on, how many lie side by side, and where they have been fetched to. */
static uint32_t run_at(const xpu_recorded_moves *moves, uint64_t from, uint32_t bytes, uint64_t *to) {
    uint64_t run = bytes;
    *to = from;
    for (uint32_t i = 0; i < moves->copy_count; i++) {
        const xpu_recorded_move *m = &moves->copies[i];
        const uint64_t rows = m->bytes / m->row_bytes;
        if (from < m->from) {
            if (m->from - from < run) run = m->from - from;
            continue;
        }
        const uint64_t row = (from - m->from) / m->pitch, within = (from - m->from) % m->pitch;
        if (row >= rows) continue;
        if (within < m->row_bytes) {
            *to = m->to + row * m->row_bytes + within;
            return (uint32_t)(m->row_bytes - within < bytes ? m->row_bytes - within : bytes);
        }
        if (row + 1 < rows && m->pitch - within < run) run = m->pitch - within;
    }
    return (uint32_t)run;
}

/* A load, or several where some of it has been fetched; 0: there is no room. */
static int take_load(weaver *w, const uint32_t *words) {
    const uint32_t bytes = dense_bytes(words), element = xpu_bytes_of_type(xpu_desc_copy_get_src_type(words));
    const uint64_t from = xpu_desc_copy_get_src(words), to = xpu_desc_copy_get_dst(words);
    uint32_t done = 0;
    do {
        uint64_t source = from;
        const uint32_t run = bytes ? run_at(w->moves, from + done, bytes - done, &source) : 0;
        uint32_t *load = add_load(w);
        if (!load) return 0;
        memcpy(load, words, sizeof *w->words);
        if (bytes) {
            xpu_desc_copy_set_src(load, source);
            xpu_desc_copy_set_dst(load, to + done);
            xpu_desc_copy_set_size3(load, run / element);
        }
        w->more += done > 0;
        done += run;
    } while (done < bytes);
    w->before[w->loads++] = w->more;
    return 1;
}

/* ---- what is fetched ---- */

uint64_t xpu_recorded_work(const uint32_t *words, uint32_t engine) {
    if (engine == XPU_ENGINE_TENSOR) {
        const uint64_t taps = (uint64_t)xpu_desc_tensor_get_kh(words) * xpu_desc_tensor_get_kw(words),
                       passes = (taps * xpu_desc_tensor_get_channels(words) + LANES - 1) / LANES;
        return 1 + passes * xpu_desc_tensor_get_oh(words) * xpu_desc_tensor_get_ow(words);
    }
    if (engine != XPU_ENGINE_WINDOW) return 0;
    const uint64_t groups = ((uint64_t)xpu_desc_window_get_columns(words) + LANES - 1) / LANES;
    return 1 + groups * xpu_desc_window_get_oh(words) * xpu_desc_window_get_ow(words);
}

static int waits_for(const uint32_t *words, xpu_ticket ticket) {
    return (xpu_desc_nop_get_wait0(words) == ticket.counter && xpu_desc_nop_get_wait0_value(words) == ticket.value) ||
           (xpu_desc_nop_get_wait1(words) == ticket.counter && xpu_desc_nop_get_wait1_value(words) == ticket.value);
}

/* Loads behind which copies may stand. */
static uint32_t first_loads(const xpu_descriptors *d, uint32_t early, xpu_ticket after) {
    uint32_t loads = 0;
    if (after.counter == XPU_NO_COUNTER) return early;
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->engines[i] != XPU_ENGINE_DMA0) continue;
        loads++;
        if (waits_for(d->words[i], after)) return loads > early ? loads : early;
    }
    return UINT32_MAX;
}

/* Whole runs, or a part of one. */
static int add_copy(weaver *w, uint32_t layer, uint32_t most) {
    const xpu_recorded_move *m = &w->moves->moves[w->move];
    const uint32_t at = m->first + w->at, row = at / m->row_bytes, within = at % m->row_bytes;
    const uint32_t rows = within || most < m->row_bytes ? 1 : most / m->row_bytes;
    uint32_t run = m->row_bytes - within, *words = add_load(w);
    if (run > most) run = most;
    if (!words) return 0;
    const xpu_desc_copy copy = {.layer = layer,
                                .wait0 = XPU_NO_COUNTER,
                                .wait1 = XPU_NO_COUNTER,
                                .signal = XPU_COUNTER_LOAD,
                                .signal_add = 1,
                                .src = m->from + (uint64_t)row * m->pitch + within,
                                .dst = m->to + (uint64_t)at,
                                .src_type = XPU_TYPE_I32,
                                .dst_type = XPU_TYPE_I32,
                                .size0 = 1,
                                .size1 = 1,
                                .size2 = rows,
                                .size3 = run / WORD,
                                .src_stride2 = (int32_t)m->pitch,
                                .dst_stride2 = (int32_t)m->row_bytes,
                                .src_stride3 = WORD,
                                .dst_stride3 = WORD};
    xpu_desc_copy_pack(words, &copy);
    w->more++;
    w->at += rows * run;
    w->done += (uint64_t)rows * run;
    if (w->at < m->bytes) return 1;
    w->at = 0;
    w->move++;
    return 1;
}

/* Bytes of a copy that is worth it. */
static uint64_t least_of(uint64_t all) {
    return all / MOST_COPIES > LEAST_BYTES ? all / MOST_COPIES : LEAST_BYTES;
}

static uint64_t bytes_of(const xpu_recorded_moves *moves) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < moves->move_count; i++) all += moves->moves[i].bytes;
    return all;
}

uint32_t xpu_most_copies(const xpu_recorded_moves *moves, uint32_t loads) {
    enum { PIECES = 3 }; /* the end of a run, whole ones, the begin of one */
    const uint64_t all = bytes_of(moves), times = all / least_of(all) + 1;
    return PIECES * ((uint32_t)(times < loads ? times : loads) + 1 + moves->move_count);
}

/* Copies until so many bytes are done, as far as that makes a copy worth it; 0: there is no room. */
static int add_copies(weaver *w, uint32_t layer, uint64_t until) {
    if (until < w->all && until < w->done + w->least) return 1;
    while (w->move < w->moves->move_count && w->done < until) {
        const uint64_t left = w->moves->moves[w->move].bytes - w->at,
                       wanted = (until - w->done + LINE - 1) / LINE * LINE;
        if (!add_copy(w, layer, (uint32_t)(wanted < left ? wanted : left))) return 0;
    }
    return 1;
}

/* ---- all of it ---- */

/* What loads signal comes later by those that there are more. */
static uint32_t shifted(const weaver *w, uint32_t base, uint32_t value) {
    const uint32_t load = value - base - 1;
    return load < w->loads ? value + w->before[load] : value;
}

static void shift_waits(const weaver *w, uint32_t base) {
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t *words = w->words[i];
        if (xpu_desc_nop_get_wait0(words) == XPU_COUNTER_LOAD)
            xpu_desc_nop_set_wait0_value(words, shifted(w, base, xpu_desc_nop_get_wait0_value(words)));
        if (xpu_desc_nop_get_wait1(words) == XPU_COUNTER_LOAD)
            xpu_desc_nop_set_wait1_value(words, shifted(w, base, xpu_desc_nop_get_wait1_value(words)));
    }
}

/* Copies in front of the loads, and behind the last one, in proportion to the work so far; 0: there is no room. */
static int weave(weaver *w, const xpu_descriptors *d, uint32_t first, uint64_t all_work) {
    uint32_t layer = 0;
    uint64_t work = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        const int is_load = d->engines[i] == XPU_ENGINE_DMA0;
        const double share = (double)work / (double)all_work;
        if (is_load) {
            layer = xpu_desc_nop_get_layer(d->words[i]);
            if (w->loads >= first && !add_copies(w, layer, (uint64_t)((double)w->all * share))) return 0;
            if (!take_load(w, d->words[i])) return 0;
            continue;
        }
        if (w->loads >= first) work += xpu_recorded_work(d->words[i], d->engines[i]);
        if (w->count >= w->most) return 0;
        memcpy(w->words[w->count], d->words[i], sizeof *w->words);
        w->engines[w->count++] = d->engines[i];
    }
    return add_copies(w, layer, w->all);
}

int32_t xpu_weave_moves(const xpu_recorded_moves *moves, xpu_descriptors *d, uint32_t early, xpu_ticket after,
                        uint32_t base, xpu_arena *scratch) {
    const uint32_t first = first_loads(d, early, after);
    uint64_t all_work = 1;
    uint32_t loads = 0;
    if (!moves->move_count && !moves->copy_count) return 0;
    for (uint32_t i = 0; i < d->count; i++) {
        loads += d->engines[i] == XPU_ENGINE_DMA0;
        if (loads >= first) all_work += xpu_recorded_work(d->words[i], d->engines[i]);
    }
    if (moves->move_count && first > loads) return -1;
    weaver w = {.moves = moves,
                .words = xpu_alloc(scratch, ((size_t)d->most + 1) * sizeof *w.words),
                .engines = XPU_NEW_ARRAY(scratch, uint8_t, (size_t)d->most + 1),
                .before = XPU_NEW_ARRAY(scratch, uint32_t, loads),
                .most = d->most};
    w.all = bytes_of(moves);
    w.least = least_of(w.all);
    if (!weave(&w, d, first, all_work)) return -1;
    shift_waits(&w, base);
    memcpy(d->words, w.words, w.count * sizeof *w.words);
    memcpy(d->engines, w.engines, w.count);
    d->count = w.count;
    return (int32_t)w.more;
}
