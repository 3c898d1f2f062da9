/*
 * --check-passes: the reference kernels run the graph behind every pass; who changed what, and was it allowed to.
 * Where a run is not bit for bit the one before, it is made once more with every layer on the operands that it had
 * before: a pass answers for what a layer does, not for what quantisation makes of an allowed difference further on.
 */
#include <math.h>
#include <string.h>

#include "core/arith.h"
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
    snapshot before; /* behind the pass before */
};

typedef struct {
    const xpu_graph *graph;
    const snapshot *held; /* what replaces the results once they are recorded; or NULL */
    snapshot *to;
    double work;
    uint32_t nodes; /* that ran */
    xpu_diags *diags;
} recorder;

/* The pass that is looked at. */
typedef struct {
    const char *name;
    xpu_effect effect;
} step;

/* What a run has of the value; or NULL. */
static const xpu_tensor *value_of(const snapshot *of, xpu_value value) {
    return value.id < of->count && of->values[value.id].data ? &of->values[value.id] : NULL;
}

xpu_checker *xpu_checker_new(xpu_arena *arena) {
    xpu_checker *checker = XPU_NEW(arena, xpu_checker);
    checker->arena = arena;
    return checker;
}

/* ---- input ---- */

#define MOST_WORK  0x1p38
#define MOST_BYTES 0x1p32
enum { MOST_NODES = 1 << 20 }; /* that run, each time that a body runs them */

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

/* What symbols stand for is what the inputs hold. */
static void fill_elements(const xpu_checker *checker, const xpu_graph *graph, xpu_value input, xpu_tensor *tensor) {
    for (uint32_t s = 0; s < graph->dims.symbols.count; s++) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[s];
        if (symbol->value.id != input.id) continue;
        if (tensor->dtype == XPU_I32) ((int32_t *)tensor->data)[symbol->element] = (int32_t)checker->symbols[s];
        if (tensor->dtype == XPU_I64) ((int64_t *)tensor->data)[symbol->element] = checker->symbols[s];
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

static const char too_large[] = "it takes more than 2^38 operations, 2^20 nodes or 4 GiB of results behind every pass";

/* Every value of a run is kept, and there is a run behind every pass. */
static int is_too_large(const xpu_checker *checker, const xpu_graph *graph) {
    double work = 0, bytes = 0;
    XPU_FOR_ALL_NODES(graph, node) {
        xpu_ref_cost cost = xpu_ref_cost_of_node(graph, node, checker->symbols);
        work += cost.work;
        bytes += cost.bytes;
    }
    return work > MOST_WORK || bytes > MOST_BYTES;
}

static xpu_status make_inputs(xpu_checker *checker, const xpu_graph *graph, xpu_diags *diags) {
    uint64_t state = 1;
    checker->inputs = XPU_NEW_ARRAY(checker->arena, xpu_tensor, graph->inputs.count);
    if (!make_symbols(checker, graph)) return cannot_check(graph, "no small shape fulfils all guards", diags);
    if (is_too_large(checker, graph)) {
        return cannot_check(graph, too_large, diags);
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[i]);
        xpu_tensor *tensor = &checker->inputs[i];
        *tensor = (xpu_tensor){.dtype = info->dtype, .rank = info->rank};
        if (!xpu_value_dims(graph, graph->inputs.items[i], checker->symbols, tensor->dims)) {
            return cannot_check(graph, "an input's dims are not known", diags);
        }
        tensor->data = xpu_alloc(checker->arena, xpu_tensor_bytes(tensor));
        fill(tensor, &state);
        fill_elements(checker, graph, graph->inputs.items[i], tensor);
    }
    return XPU_OK;
}

/* ---- runs ---- */

/* The second result of a convolution or product goes with the first. */
static void renew_absmax(const xpu_graph *graph, xpu_node node, const xpu_tensor *results, uint32_t count) {
    if (!xpu_node_has(graph, node, XPU_TRAIT_FINDS_ABSMAX) || count <= XPU_OUT_ABSMAX) return;
    const xpu_tensor *y = &results[XPU_OUT_Y];
    *(float *)results[XPU_OUT_ABSMAX].data = xa_absmax_of(y->data, (size_t)xpu_tensor_count(y));
}

/* The innermost loop around the node, or 0. */
static xpu_node loop_around(const xpu_graph *graph, xpu_node node) {
    do node = xpu_block_at(graph, xpu_node_at(graph, node)->parent)->owner;
    while (node.id && !xpu_node_is(graph, node, XPU_OP_LOOP));
    return node;
}

/* What stands in a loop is part of the loop: it has other values in each iteration. */
static xpu_status record(void *context, xpu_node node, const xpu_tensor *results, uint32_t count) {
    recorder *r = context;
    if (loop_around(r->graph, node).id) return XPU_OK;
    for (uint32_t i = 0; i < count; i++) {
        xpu_value value = xpu_node_output(r->graph, node, i);
        xpu_tensor *kept = &r->to->values[value.id];
        *kept = results[i];
        kept->data = xpu_copy(r->to->arena, results[i].data, xpu_tensor_bytes(&results[i]));
        const xpu_tensor *before = r->held ? value_of(r->held, value) : NULL;
        if (before && xpu_same_shape(before, kept)) memcpy(results[i].data, before->data, xpu_tensor_bytes(before));
    }
    if (r->held) renew_absmax(r->graph, node, results, count);
    return XPU_OK;
}

/* What loops take is known when they run. */
static xpu_status meter(void *context, xpu_node node, double work) {
    recorder *r = context;
    (void)node;
    r->work += work;
    if (++r->nodes <= MOST_NODES && r->work <= MOST_WORK) return XPU_OK;
    return cannot_check(r->graph, too_large, r->diags);
}

/* Runs the graph. With `held` every layer reads the operands that it had there, so that no difference spreads. */
static xpu_status take_snapshot(const xpu_checker *checker, const xpu_graph *graph, const snapshot *held, snapshot *to,
                                xpu_diags *diags) {
    to->arena = xpu_arena_new(xpu_arena_mem(checker->arena), "snapshot");
    to->count = graph->values.count;
    to->values = XPU_NEW_ARRAY(to->arena, xpu_tensor, to->count);
    to->outputs = XPU_NEW_ARRAY(to->arena, xpu_tensor, graph->outputs.count);
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        to->values[graph->inputs.items[i].id] = checker->inputs[i];
    }
    recorder context = {.graph = graph, .held = held, .to = to, .diags = diags};
    xpu_ref_options options = {.symbols = checker->symbols,
                               .inputs = checker->inputs,
                               .observer = record,
                               .bodies = 1,
                               .meter = meter,
                               .context = &context};
    return xpu_ref_run(graph, &options, to->outputs, to->arena, diags);
}

/* ---- comparison ---- */

/* How far elements may be apart. */
typedef struct {
    xpu_effect effect;
    const xpu_margin *margin; /* of a layer in int16; or NULL */
    int64_t inner;            /* elements of one channel in a row */
    double largest;           /* magnitude of what was before */
} allowance;

static allowance make_allowance(xpu_effect effect, const xpu_margin *margin, const xpu_tensor *before) {
    allowance a = {effect, margin, 1, 0};
    for (int i = 2; margin && margin->is_conv && i < before->rank; i++) a.inner *= before->dims[i];
    for (int64_t i = 0, count = xpu_tensor_count(before); before->dtype == XPU_F32 && i < count; i++) {
        double magnitude = fabs((double)((const float *)before->data)[i]);
        if (isfinite(magnitude) && magnitude > a.largest) a.largest = magnitude;
    }
    return a;
}

static int same_float(float now, float before, const allowance *a, int64_t at) {
    uint32_t now_bits, before_bits;
    memcpy(&now_bits, &now, sizeof now);
    memcpy(&before_bits, &before, sizeof before);
    if (now_bits == before_bits || now == before || (isnan(now) && isnan(before))) return 1;
    if (a->effect == XPU_EFFECT_EXACT) return 0;
    double extra = a->margin ? a->margin->extra[at / a->inner % (a->margin->rows * a->margin->channels)] : 0;
    if (!isfinite(extra)) return 1;
    double difference = fabs((double)now - (double)before); /* infinite where one is: within no tolerance */
    return isfinite(difference) && difference <= 1e-3 * fabs((double)before) + 1e-5 * a->largest + extra;
}

/* The first element in which `now` differs from `before` more than is allowed; -1 where there is none. */
static int64_t first_difference(const xpu_tensor *now, const xpu_tensor *before, xpu_effect effect,
                                const xpu_margin *margin) {
    int64_t count = xpu_tensor_count(now);
    if (now->dtype != before->dtype || count != xpu_tensor_count(before)) return 0;
    allowance a = make_allowance(effect, margin, before);
    size_t bytes = xpu_dtype_bytes(now->dtype);
    for (int64_t i = 0; i < count; i++) {
        const char *x = (const char *)now->data + (size_t)i * bytes,
                   *y = (const char *)before->data + (size_t)i * bytes;
        if (memcmp(x, y, bytes) == 0) continue;
        if (now->dtype != XPU_F32 || !same_float(*(const float *)x, *(const float *)y, &a, i)) return i;
    }
    return -1;
}

/*
 * What stands behind layers in int16 that the pass has made anew, so that nothing of before holds their results: no
 * bound is known of single elements. Of all of it the squared differences are at most a sixteenth of the squares.
 */
static int is_close_as_a_whole(const xpu_tensor *now, const xpu_tensor *before) {
    if (now->dtype != XPU_F32 || !xpu_same_shape(now, before)) return 0;
    const float *x = now->data, *y = before->data;
    double difference = 0, squares = 0;
    for (int64_t i = 0, count = xpu_tensor_count(before); i < count; i++) {
        double apart = (double)x[i] - (double)y[i];
        if (x[i] == y[i] || (isnan(x[i]) && isnan(y[i]))) apart = 0;
        difference += apart * apart;
        if (isfinite(y[i])) squares += (double)y[i] * (double)y[i];
    }
    return difference <= squares / 16;
}

/* Whether the node reads a value that is marked, by its id. */
static int reads_unheld(const xpu_graph *graph, xpu_node node, const uint8_t *unheld) {
    for (uint32_t i = 0; i < xpu_node_at(graph, node)->input_count; i++)
        if (unheld[xpu_node_input(graph, node, i).id]) return 1;
    return 0;
}

/* By value id: whether it is new behind the pass and comes, by new values alone, from a layer in int16. */
static uint8_t *find_unheld(const xpu_checker *checker, const xpu_graph *graph) {
    uint8_t *unheld = XPU_NEW_ARRAY(checker->arena, uint8_t, graph->values.count);
    XPU_FOR_ALL_NODES(graph, node) {
        const int is_unheld = xpu_is_narrowed(graph, node) || reads_unheld(graph, node, unheld);
        for (uint32_t i = 0; is_unheld && i < xpu_node_at(graph, node)->output_count; i++) {
            xpu_value value = xpu_node_output(graph, node, i);
            unheld[value.id] = !value_of(&checker->before, value);
        }
    }
    return unheld;
}

/* "is 2 and was 1 before" */
static const char *numbers_text(const xpu_tensor *now, const xpu_tensor *before, int64_t at, xpu_arena *arena) {
    if (now->dtype != before->dtype || xpu_tensor_count(now) != xpu_tensor_count(before)) return "";
    switch (now->dtype) {
    case XPU_F32:
        return xpu_printf(arena, " is %.9g and was %.9g before", (double)((const float *)now->data)[at],
                          (double)((const float *)before->data)[at]);
    case XPU_I8:
        return xpu_printf(arena, " is %d and was %d before", ((const int8_t *)now->data)[at],
                          ((const int8_t *)before->data)[at]);
    case XPU_U8:
        return xpu_printf(arena, " is %u and was %u before", ((const uint8_t *)now->data)[at],
                          ((const uint8_t *)before->data)[at]);
    default: return "";
    }
}

static xpu_status report(const xpu_checker *checker, const xpu_graph *graph, const step *pass, xpu_value value,
                         const xpu_tensor *now, const xpu_tensor *before, int64_t at, xpu_diags *diags) {
    xpu_arena *arena = checker->arena;
    const xpu_value_info *info = xpu_value_at(graph, value);
    const char *where = info->kind == XPU_VALUE_NODE ? xpu_node_where(graph, info->node, arena) : NULL;
    return xpu_error(diags, XPU_EBUG, graph->file, "check-passes", where,
                     xpu_printf(arena, "pass '%s' changes the results more than it may", pass->name),
                     xpu_printf(arena, "the pass is '%s'; element %lld of value '%s'%s", xpu_effect_text(pass->effect),
                                (long long)at, xpu_escape(arena, info->name, 120),
                                numbers_text(now, before, at, arena)),
                     "this is a bug of the compiler: please report it with the model");
}

/* What a layer read in the run `now`, with what was before held. */
static const xpu_tensor *operand_of(const snapshot *now, const snapshot *before, xpu_value value) {
    const xpu_tensor *held = value_of(before, value);
    return held ? held : value_of(now, value);
}

/* That of a product of two computed matrices, from what it read in the run `now`. */
static int find_packed_margin(const xpu_graph *graph, xpu_node node, xpu_node product, const snapshot *now,
                              xpu_margin *room, xpu_diags *diags) {
    const xpu_tensor *rows = value_of(now, xpu_node_input(graph, product, XPU_IN_X));
    const xpu_tensor *powers = value_of(now, xpu_node_input(graph, node, XPU_IN_POWERS));
    const xpu_tensor *w = value_of(now, xpu_node_input(graph, product, XPU_IN_W));
    const xpu_tensor *scales = value_of(now, xpu_node_input(graph, product, XPU_IN_WSCALE));
    const xpu_value absmax = xpu_node_input(graph, product, XPU_IN_ABSMAX);
    const xpu_tensor *found = value_of(now, absmax);
    xpu_tensor constant;
    if (!found && xpu_const_tensor(graph, absmax, now->arena, &constant, diags) == XPU_OK) found = &constant;
    if (!rows || !powers || !w || !scales || !found || !xpu_tensor_count(powers)) return 0;
    xpu_packed_margin(rows, powers, w, scales, *(const float *)found->data, xpu_narrowed_slope(graph, node), room,
                      now->arena);
    return 1;
}

/* The margin of a layer that computes in int16 behind this pass; NULL: of any other. */
static xpu_status find_margin(const xpu_graph *graph, xpu_node node, const step *pass, const snapshot *now,
                              const snapshot *before, xpu_margin *room, const xpu_margin **margin, xpu_diags *diags) {
    *margin = NULL;
    if (pass->effect != XPU_EFFECT_PRECISION || !xpu_is_narrowed(graph, node)) return XPU_OK;
    xpu_node product = xpu_packed_product(graph, node);
    if (product.id) {
        if (find_packed_margin(graph, node, product, now, room, diags)) *margin = room;
        return XPU_OK;
    }
    const xpu_tensor *x = operand_of(now, before, xpu_narrowed_operand(graph, node));
    if (!x) return XPU_OK;
    *margin = room;
    return xpu_narrowed_margin(graph, node, x, value_of(now, xpu_narrowed_scales(graph, node)), room, now->arena,
                               diags);
}

/* Whether layers in the loop compute in int16: how far that takes what it carries, no bound is known. */
static int has_narrowed(const xpu_graph *graph, xpu_node loop) {
    XPU_FOR_ALL_NODES(graph, node) {
        if (!xpu_is_narrowed(graph, node)) continue;
        for (xpu_node around = loop_around(graph, node); around.id; around = loop_around(graph, around)) {
            if (around.id == loop.id) return 1;
        }
    }
    return 0;
}

static xpu_status compare(const xpu_checker *checker, const xpu_graph *graph, const step *pass, const snapshot *now,
                          xpu_diags *diags) {
    const snapshot *before = &checker->before;
    const uint8_t *unheld = pass->effect == XPU_EFFECT_PRECISION ? find_unheld(checker, graph) : NULL;
    XPU_FOR_ALL_NODES(graph, node) {
        int is_loop = xpu_node_is(graph, node, XPU_OP_LOOP);
        if (is_loop && pass->effect == XPU_EFFECT_PRECISION && has_narrowed(graph, node)) continue;
        for (uint32_t i = 0; i < xpu_node_at(graph, node)->output_count; i++) {
            xpu_value value = xpu_node_output(graph, node, i);
            const xpu_tensor *x = value_of(now, value), *y = value_of(before, value);
            if (!x || !y) continue;
            xpu_margin room;
            const xpu_margin *margin;
            xpu_status status = find_margin(graph, node, pass, now, before, &room, &margin, diags);
            if (status != XPU_OK) return status;
            int64_t at = first_difference(x, y, pass->effect, margin);
            if (at >= 0 && unheld && !margin && reads_unheld(graph, node, unheld) && is_close_as_a_whole(x, y))
                continue;
            if (at >= 0) return report(checker, graph, pass, value, x, y, at, diags);
        }
    }
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        const xpu_tensor *x = &now->outputs[i], *y = &before->outputs[i];
        int64_t at = first_difference(x, y, pass->effect, NULL);
        if (at >= 0) return report(checker, graph, pass, graph->outputs.items[i], x, y, at, diags);
    }
    return XPU_OK;
}

/* Whether the whole run is what it was: then no layer differs. */
static int is_same(const xpu_checker *checker, const xpu_graph *graph, const snapshot *now, xpu_diags *diags) {
    size_t errors = diags->errors;
    static const step exact = {"", XPU_EFFECT_EXACT};
    return compare(checker, graph, &exact, now, diags) == XPU_OK && diags->errors == errors;
}

/* The layers one by one, on the operands that they had before. */
static xpu_status compare_layers(const xpu_checker *checker, const xpu_graph *graph, const step *pass,
                                 xpu_diags *diags) {
    snapshot layers = {NULL};
    xpu_status status = take_snapshot(checker, graph, &checker->before, &layers, diags);
    if (status == XPU_OK) status = compare(checker, graph, pass, &layers, diags);
    xpu_arena_free(layers.arena);
    return status;
}

xpu_status xpu_checker_run(xpu_checker *checker, const xpu_graph *graph, const char *pass, xpu_effect effect,
                           xpu_diags *diags) {
    int first = checker->before.arena == NULL;
    const step done = {pass, effect};
    snapshot now = {NULL};
    xpu_status status = first ? make_inputs(checker, graph, diags) : XPU_OK;
    if (status == XPU_OK) status = take_snapshot(checker, graph, NULL, &now, diags);
    if (status == XPU_EFAULT) status = cannot_check(graph, "random data give sizes that it cannot run with", diags);
    if (status == XPU_OK && !first && effect != XPU_EFFECT_DEFINES &&
        !is_same(checker, graph, &now, xpu_diags_new(now.arena))) {
        status = compare_layers(checker, graph, &done, diags);
    }
    xpu_arena_free(checker->before.arena);
    checker->before = now;
    return status;
}
