/* --check-passes: the reference kernels run the graph behind every pass; who changed what, and was it allowed to. */
#include <math.h>
#include <string.h>

#include "core/ops/ref.h"
#include "xpuc/pipeline.h"

/* Every tensor of one run. */
typedef struct {
    xpu_arena *arena;
    xpu_tensor *values; /* by value id; data NULL where the value was not computed */
    uint32_t count;
    xpu_tensor *outputs; /* in the order of graph->outputs */
} snapshot;

struct xpu_checker {
    xpu_arena *arena;
    int64_t *symbols;
    xpu_tensor *inputs;
    snapshot before, now;
};

typedef struct {
    const xpu_graph *graph;
    snapshot *to;
} recorder;

xpu_checker *xpu_checker_new(xpu_arena *arena) {
    xpu_checker *checker = XPU_NEW(arena, xpu_checker);
    checker->arena = arena;
    return checker;
}

/* ---- input ---- */

/* From a fixed seed: the same input in every run. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Floats from -2 to 2; other types small numbers. */
static void fill(xpu_tensor *tensor, uint64_t *state) {
    int64_t count = xpu_tensor_count(tensor);
    size_t bytes = xpu_dtype_bytes(tensor->dtype);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = next_random(state);
        if (tensor->dtype == XPU_F32) {
            ((float *)tensor->data)[i] = ((float)(bits >> 40) * 0x1p-24f - 0.5f) * 4;
        } else if (tensor->dtype == XPU_F64) {
            ((double *)tensor->data)[i] = ((double)(bits >> 40) * 0x1p-24 - 0.5) * 4;
        } else {
            ((uint8_t *)tensor->data)[(size_t)i * bytes] = (uint8_t)(bits & 1);
        }
    }
}

/* Small, but where the range allows it more than one, so that a mistake with the batch shows. */
static int64_t small_value(const xpu_symbol *symbol) {
    return symbol->min < 2 && symbol->min + symbol->step <= symbol->max ? symbol->min + symbol->step : symbol->min;
}

/* Small values of all symbols that break no guard: if need be at random, more and more of the first ones. */
static int make_symbols(xpu_checker *checker, const xpu_graph *graph) {
    enum { TRIES = 20000, TRIES_OF_EACH = 500 };
    const xpu_dims *dims = &graph->dims;
    uint64_t state = 1;
    checker->symbols = XPU_NEW_ARRAY(checker->arena, int64_t, dims->symbols.count);
    for (uint32_t i = 0; i < dims->symbols.count; i++) checker->symbols[i] = small_value(&dims->symbols.items[i]);
    for (int tries = 0; xpu_graph_broken_guard(graph, checker->symbols); tries++) {
        if (tries == TRIES) return 0;
        for (uint32_t i = 0; i < dims->symbols.count; i++) {
            const xpu_symbol *symbol = &dims->symbols.items[i];
            int64_t last = (symbol->max - symbol->min) / symbol->step, most = 2 + tries / TRIES_OF_EACH;
            uint64_t choices = (uint64_t)(last < most ? last : most) + 1;
            checker->symbols[i] = symbol->min + (int64_t)(next_random(&state) % choices) * symbol->step;
        }
    }
    return 1;
}

static xpu_status cannot_check(const xpu_graph *graph, const char *why, xpu_diags *diags) {
    return xpu_error(diags, XPU_EUSAGE, graph->file, "check-passes", NULL, "the passes cannot be checked on this model",
                     why, "give the dims with --shape");
}

static xpu_status make_inputs(xpu_checker *checker, const xpu_graph *graph, xpu_diags *diags) {
    uint64_t state = 1;
    checker->inputs = XPU_NEW_ARRAY(checker->arena, xpu_tensor, graph->inputs.count);
    if (!make_symbols(checker, graph)) return cannot_check(graph, "no small shape fulfils all guards", diags);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        xpu_tensor *tensor = &checker->inputs[i];
        *tensor = (xpu_tensor){.dtype = info->dtype, .rank = info->rank};
        if (!xpu_value_dims(graph, graph->inputs.items[i], checker->symbols, tensor->dims)) {
            return cannot_check(graph, "an input's dims are not known", diags);
        }
        tensor->data = xpu_alloc(checker->arena, xpu_tensor_bytes(tensor));
        fill(tensor, &state);
    }
    return XPU_OK;
}

/* ---- runs ---- */

static xpu_status record(void *context, xpu_node node, const xpu_tensor *results, uint32_t count) {
    recorder *r = context;
    for (uint32_t i = 0; i < count; i++) {
        xpu_value value = xpu_node_output(r->graph, node, i);
        xpu_tensor *kept = &r->to->values[value.id];
        *kept = results[i];
        kept->data = xpu_copy(r->to->arena, results[i].data, xpu_tensor_bytes(&results[i]));
    }
    return XPU_OK;
}

static xpu_status take_snapshot(const xpu_checker *checker, const xpu_graph *graph, snapshot *to, xpu_diags *diags) {
    to->arena = xpu_arena_new(xpu_arena_mem(checker->arena), "snapshot");
    to->count = graph->values.count;
    to->values = XPU_NEW_ARRAY(to->arena, xpu_tensor, to->count);
    to->outputs = XPU_NEW_ARRAY(to->arena, xpu_tensor, graph->outputs.count);
    recorder context = {graph, to};
    xpu_ref_options options = {
        .symbols = checker->symbols, .inputs = checker->inputs, .observer = record, .context = &context};
    return xpu_ref_run(graph, &options, to->outputs, to->arena, diags);
}

/* ---- comparison ---- */

static int same_float(float a, float b, float margin, xpu_effect effect) {
    uint32_t a_bits, b_bits;
    memcpy(&a_bits, &a, sizeof a);
    memcpy(&b_bits, &b, sizeof b);
    if (a_bits == b_bits || a == b || (isnan(a) && isnan(b))) return 1;
    float difference =
        fabsf(a - b); /* infinite where a or b is: within no tolerance, though b's margin is infinite too */
    return effect == XPU_EFFECT_TOLERANCE && isfinite(difference) && difference <= 1e-3f * fabsf(b) + margin;
}

/* The first element in which `now` differs from `before` more than `effect` allows; -1 where there is none. */
static int64_t first_difference(const xpu_tensor *now, const xpu_tensor *before, xpu_effect effect) {
    int64_t count = xpu_tensor_count(now);
    if (now->dtype != before->dtype || count != xpu_tensor_count(before)) return 0;
    if (now->dtype != XPU_F32) return memcmp(now->data, before->data, xpu_tensor_bytes(now)) ? 0 : -1;
    const float *a = now->data, *b = before->data;
    float largest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(b[i]) && fabsf(b[i]) > largest) largest = fabsf(b[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        if (!same_float(a[i], b[i], 1e-5f * largest, effect)) return i;
    }
    return -1;
}

static xpu_status report(const xpu_checker *checker, const xpu_graph *graph, const char *pass, xpu_effect effect,
                         xpu_value value, const xpu_tensor *now, const xpu_tensor *before, int64_t at,
                         xpu_diags *diags) {
    xpu_arena *arena = checker->arena;
    const xpu_value_info *info = xpu_value_at(graph, value);
    const char *numbers = "";
    if (now->dtype == XPU_F32 && before->dtype == XPU_F32 && xpu_tensor_count(now) == xpu_tensor_count(before)) {
        numbers = xpu_printf(arena, " is %.9g and was %.9g before", (double)((const float *)now->data)[at],
                             (double)((const float *)before->data)[at]);
    }
    const char *where = info->kind == XPU_VALUE_NODE ? xpu_node_where(graph, info->node, arena) : NULL;
    return xpu_error(diags, XPU_EBUG, graph->file, "check-passes", where,
                     xpu_printf(arena, "pass '%s' changes the results more than it may", pass),
                     xpu_printf(arena, "the pass is '%s'; element %lld of value '%s'%s", xpu_effect_text(effect),
                                (long long)at, xpu_escape(arena, info->name, 120), numbers),
                     "this is a bug of the compiler: please report it with the model");
}

static xpu_status compare(const xpu_checker *checker, const xpu_graph *graph, const char *pass, xpu_effect effect,
                          xpu_diags *diags) {
    const snapshot *now = &checker->now, *before = &checker->before;
    XPU_FOR_NODES(graph, node) {
        for (uint32_t i = 0; i < xpu_node_at(graph, node)->output_count; i++) {
            xpu_value value = xpu_node_output(graph, node, i);
            if (value.id >= before->count || !before->values[value.id].data || !now->values[value.id].data) continue;
            int64_t at = first_difference(&now->values[value.id], &before->values[value.id], effect);
            if (at < 0) continue;
            return report(checker, graph, pass, effect, value, &now->values[value.id], &before->values[value.id], at,
                          diags);
        }
    }
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        int64_t at = first_difference(&now->outputs[i], &before->outputs[i], effect);
        if (at < 0) continue;
        return report(checker, graph, pass, effect, graph->outputs.items[i], &now->outputs[i], &before->outputs[i], at,
                      diags);
    }
    return XPU_OK;
}

xpu_status xpu_checker_run(xpu_checker *checker, const xpu_graph *graph, const char *pass, xpu_effect effect,
                           xpu_diags *diags) {
    int first = checker->before.arena == NULL;
    if (effect == XPU_EFFECT_DEFINES && !first) return XPU_OK;
    xpu_status status = first ? make_inputs(checker, graph, diags) : XPU_OK;
    if (status == XPU_OK) status = take_snapshot(checker, graph, &checker->now, diags);
    if (status == XPU_OK && !first) status = compare(checker, graph, pass, effect, diags);
    xpu_arena_free(checker->before.arena);
    checker->before = checker->now;
    return status;
}
