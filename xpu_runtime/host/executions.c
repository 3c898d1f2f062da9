/* Layers that run more than once, in loops: what one execution of them took, and, of the iterations that are asked for,
 * where its cycles went. */
#include <string.h>

#include "base/json.h"
#include "xpu_runtime/host/host.h"

enum { CYCLES, INSTRUCTIONS, MACS, FIGURES };
enum { MOST_ROWS = 10000 };

/* A figure over all executions, and the iterations in which it was smallest and largest (the first such ones). */
typedef struct {
    uint64_t least, most, sum;
    xpu_iterations least_at, most_at;
} spread;

typedef struct row {
    struct row *next;
    xpu_iterations at;
    uint64_t figures[FIGURES];
    xpu_layer_times *times; /* NULL: the device has no time */
} row;

/* The execution that was complete last is counted when the next one is, or the run has ended: cycles may be added. */
struct xpu_executions {
    uint32_t layer, loops;
    uint64_t counted;
    int is_open;
    xpu_iterations at;
    uint64_t figures[FIGURES]; /* of that execution */
    spread spreads[FIGURES];
    xpu_layer_times *before; /* times of the layer when it was complete */
    row *rows, **end, *last; /* last: of that execution, or NULL */
};

xpu_status xpu_executions_begin(xpu_run *run) {
    const char *text = run->options->stats_iterations;
    run->counts_executions = run->options->stats_file || run->options->stats;
    if (!text || xpu_iteration_ranges_read(text, &run->rows_of)) return XPU_OK;
    return xpu_iterations_wrong(run->arena, run->diags, "option '--iteration'", text);
}

/* ---- while it runs ---- */

static void count(struct xpu_executions *e) {
    for (int i = 0; e->is_open && i < FIGURES; i++) {
        spread *s = &e->spreads[i];
        const uint64_t figure = e->figures[i];
        if (!e->counted || figure < s->least) s->least = figure, s->least_at = e->at;
        if (!e->counted || figure > s->most) s->most = figure, s->most_at = e->at;
        s->sum += figure;
    }
    e->counted += (uint64_t)e->is_open;
    e->is_open = 0;
}

static void add_since(uint64_t *to, const uint64_t *now, const uint64_t *before, int count) {
    for (int i = 0; i < count; i++) to[i] += now[i] - before[i];
}

static void add_work_since(xpu_least_work *to, const xpu_least_work *now, const xpu_least_work *before) {
    to->array += now->array - before->array;
    to->drain += now->drain - before->drain;
    add_since(to->read, now->read, before->read, XPURT_MEMORIES);
    add_since(to->written, now->written, before->written, XPURT_MEMORIES);
}

/* What has been added to the layer's times since this was last done goes to the row. */
static void take_times(const xpu_run *run, struct xpu_executions *e) {
    const xpu_layer_times *now = run->layers[e->layer].times;
    xpu_layer_times *before = e->before, *to = e->last ? e->last->times : NULL;
    if (!before) return;
    if (to) {
        to->cycles += now->cycles - before->cycles;
        add_since(to->bytes, now->bytes, before->bytes, XPURT_MEMORIES);
        add_work_since(&to->inside, &now->inside, &before->inside);
        for (int i = 0; i < XPURT_MAX_CORES; i++)
            add_since(to->cores[i], now->cores[i], before->cores[i], XPURT_STATES);
        for (int i = 0; i < XPURT_ENGINES; i++)
            add_since(to->engines[i], now->engines[i], before->engines[i], XPURT_STATES);
    }
    *before = *now;
}

static void add_row(xpu_run *run, struct xpu_executions *e) {
    e->last = NULL;
    if (!run->rows_of.count || !xpu_iterations_are_in(&run->rows_of, &e->at, e->loops)) return;
    if (run->rows == MOST_ROWS) {
        run->rows_left_out++;
        return;
    }
    run->rows++;
    e->last = *e->end = XPU_NEW(run->arena, row);
    *e->last = (row){.at = e->at, .times = run->has_times ? XPU_NEW(run->arena, xpu_layer_times) : NULL};
    memcpy(e->last->figures, e->figures, sizeof e->figures);
    e->end = &e->last->next;
}

static struct xpu_executions *new_executions(const xpu_run *run, uint32_t layer) {
    struct xpu_executions *e = XPU_NEW(run->arena, struct xpu_executions);
    e->layer = layer;
    e->end = &e->rows;
    if (run->has_times && run->rows_of.count) e->before = XPU_NEW(run->arena, xpu_layer_times);
    return e;
}

void xpu_executions_add(xpu_run *run, uint32_t layer, uint64_t cycles, uint64_t instructions) {
    xpu_layer_record *record = &run->layers[layer];
    /* what the layer before has in flight when it is complete, the next one's arguments, say, is there by now */
    if (run->last_each && run->last_each->layer != layer) take_times(run, run->last_each);
    run->last_each = NULL;
    if (!run->counts_executions || !(xpu_run_nesting(run, layer) & XPU_NESTED_LOOP)) return;
    if (!record->each) record->each = new_executions(run, layer);
    struct xpu_executions *e = record->each;
    count(e);
    e->loops = xpu_run_iterations(run, layer, &e->at);
    e->figures[CYCLES] = cycles;
    e->figures[INSTRUCTIONS] = instructions;
    e->figures[MACS] = (uint64_t)xpu_run_layer_macs(run, layer);
    e->is_open = 1;
    add_row(run, e);
    take_times(run, e);
    run->last_each = e;
}

void xpu_executions_extend(xpu_run *run, uint32_t layer, uint64_t cycles) {
    struct xpu_executions *e = run->layers[layer].each;
    if (!e || !e->is_open) return;
    e->figures[CYCLES] += cycles;
    if (e->last) e->last->figures[CYCLES] += cycles;
    take_times(run, e);
}

/* ---- the figures ---- */

static void set_iteration(const xpu_run *run, json_t *to, const char *key, const xpu_iterations *at, uint32_t loops) {
    json_t *list = xpu_json_set(run->arena, to, key, json_array());
    for (uint32_t i = 0; i < loops; i++) xpu_json_append(run->arena, list, json_integer(at->at[i]));
}

/* Whether the device has this figure. */
static int has(const xpu_run *run, int figure) {
    return figure == MACS || (figure == CYCLES ? run->has_times : run->driver != NULL);
}

static void spread_stats(const xpu_run *run, const struct xpu_executions *e, int figure, json_t *entry) {
    static const char *const keys[FIGURES] = {[CYCLES] = "cycles", [INSTRUCTIONS] = "instructions", [MACS] = "macs"};
    const spread *s = &e->spreads[figure];
    json_t *to = xpu_json_set(run->arena, entry, keys[figure], json_object());
    xpu_json_set(run->arena, to, "min", json_integer((json_int_t)s->least));
    xpu_json_set(run->arena, to, "mean", json_real((double)s->sum / (double)e->counted));
    xpu_json_set(run->arena, to, "max", json_integer((json_int_t)s->most));
    set_iteration(run, to, "min_at", &s->least_at, e->loops);
    set_iteration(run, to, "max_at", &s->most_at, e->loops);
}

static void row_stats(const xpu_run *run, const struct xpu_executions *e, const row *r, json_t *list) {
    json_t *entry = xpu_json_append(run->arena, list, json_object());
    set_iteration(run, entry, "iteration", &r->at, e->loops);
    xpu_json_set(run->arena, entry, "macs", json_integer((json_int_t)r->figures[MACS]));
    if (has(run, INSTRUCTIONS))
        xpu_json_set(run->arena, entry, "instructions", json_integer((json_int_t)r->figures[INSTRUCTIONS]));
    if (r->times) xpu_profile_times_stats(run, entry, r->times);
}

void xpu_executions_stats(const xpu_run *run, json_t *entry, uint32_t layer) {
    struct xpu_executions *e = run->layers[layer].each;
    if (!e) return;
    count(e);
    json_t *each = xpu_json_set(run->arena, entry, "per_execution", json_object());
    for (int i = 0; i < FIGURES; i++) {
        if (has(run, i)) spread_stats(run, e, i, each);
    }
    if (!run->rows_of.count) return;
    if (!run->incomplete) take_times(run, e);
    json_t *list = xpu_json_set(run->arena, entry, "iterations", json_array());
    for (const row *r = e->rows; r; r = r->next) row_stats(run, e, r, list);
}
