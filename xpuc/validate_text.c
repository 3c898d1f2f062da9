/* What was found, for people and for programs. */
#include <math.h>
#include <string.h>

#include "base/compare.h"
#include "base/json.h"
#include "xpuc/validate.h"

void xpu_validate_place(xpu_hit *hit, const xpu_tensor *a, const xpu_tensor *b) {
    int64_t at = hit->apart.at;
    hit->rank = at >= 0 ? a->rank : -1;
    if (at < 0) return;
    hit->at_a = xpu_element(a, at);
    hit->at_b = xpu_element(b, at);
    for (int d = a->rank - 1; d >= 0; d--) {
        hit->place[d] = at % a->dims[d];
        at /= a->dims[d];
    }
}

/* ---- the caller's copy ---- */

typedef struct {
    char **tensor, **op, **node, **where;
} names_to;

static void name(const xpu_validation *v, const xpu_side *side, xpu_value value, xpu_node node, const names_to *to) {
    if (value.id) *to->tensor = xpu_give_text(v->arena, xpu_value_at(side->graph, value)->name);
    if (!node.id) return;
    const xpu_node_info *info = xpu_node_at(side->graph, node);
    const xpu_origin *origin = info->origins.count ? &side->graph->origins.items[info->origins.items[0]] : NULL;
    *to->op = xpu_give_text(v->arena, origin ? origin->op : info->op->name);
    *to->node = xpu_give_text(v->arena, origin && origin->name ? origin->name : xpu_node_name(side->graph, node));
    *to->where = xpu_give_text(v->arena, xpu_node_where(side->graph, node, v->arena));
}

xpuc_difference xpu_validate_difference(const xpu_validation *v, const xpu_hit *hit, xpu_node node_a, xpu_node node_b) {
    xpuc_difference d = {.sample = v->sample,
                         .rank = hit->rank,
                         .a = hit->at_a,
                         .b = hit->at_b,
                         .difference = hit->apart.difference,
                         .largest = hit->apart.largest};
    memcpy(d.place, hit->place, sizeof d.place);
    name(v, &v->a, hit->a, node_a, &(names_to){&d.tensor_a, &d.operator_a, &d.node_a, &d.where_a});
    if (v->has_b) name(v, &v->b, hit->b, node_b, &(names_to){&d.tensor_b, &d.operator_b, &d.node_b, &d.where_b});
    return d;
}

/* ---- text ---- */

static const char *of_max(const xpu_validation *v, double difference, double largest) {
    if (!(difference > 0)) return "0";
    return largest > 0 ? xpu_printf(v->arena, "%.2g", difference / largest) : "inf";
}

/* "by 0.5 at [0,3] (1.5 against 2), which is 0.01 of max|a|" */
static const char *by_text(const xpu_validation *v, const xpuc_difference *d) {
    char place[192];
    if (d->rank < 0) return "in shape";
    return xpu_printf(v->arena, "by %.6g at %s (%.9g against %.9g), which is %s of max|a|", d->difference,
                      xpu_dims_text(d->rank, d->place, place, sizeof place), d->a, d->b,
                      of_max(v, d->difference, d->largest));
}

static const char *tensors_text(const xpu_validation *v, const xpuc_difference *d) {
    const char *a = d->tensor_a ? xpu_escape(v->arena, d->tensor_a, 120) : "";
    if (!d->tensor_b || strcmp(d->tensor_a ? d->tensor_a : "", d->tensor_b) == 0)
        return xpu_printf(v->arena, "'%s'", a);
    return xpu_printf(v->arena, "'%s' of A, '%s' of B,", a, xpu_escape(v->arena, d->tensor_b, 120));
}

static void add_inputs(const xpu_validation *v, xpu_text *text) {
    const xpu_graph *graph = v->a.graph;
    char shape[192];
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_tensor *tensor = v->a.inputs ? &v->a.inputs[i] : NULL;
        if (!tensor) continue;
        xpu_text_add(text, "input     %s  %s%s  %s\n",
                     xpu_escape(v->arena, xpu_value_at(graph, graph->inputs.items[i])->name, 120),
                     xpu_dtype_name(tensor->dtype), xpu_dims_text(tensor->rank, tensor->dims, shape, sizeof shape),
                     v->given[i] ? "given" : "drawn");
        for (uint32_t k = 0; v->has_b && k < graph->inputs.count; k++) {
            const char *in_b = xpu_value_at(v->b.graph, v->b.graph->inputs.items[k])->name;
            if (v->b.input_of[k] == i && strcmp(in_b, xpu_value_at(graph, graph->inputs.items[i])->name) != 0)
                xpu_text_add(text, "          '%s' of B, by its position\n", xpu_escape(v->arena, in_b, 120));
        }
    }
}

static void add_outputs(const xpu_validation *v, xpu_text *text) {
    const xpuc_validation *r = v->result;
    if (!v->has_b) return;
    for (uint32_t i = 0; i < v->a.graph->outputs.count; i++) {
        const char *a = xpu_value_at(v->a.graph, v->a.graph->outputs.items[i])->name;
        const char *b = xpu_value_at(v->b.graph, v->b.graph->outputs.items[v->output_b[i]])->name;
        if (strcmp(a, b) != 0)
            xpu_text_add(text, "output    %s  is '%s' of B, by its position\n", xpu_escape(v->arena, a, 120),
                         xpu_escape(v->arena, b, 120));
    }
    if (!r->differing_outputs)
        xpu_text_add(text, "outputs   %u agree, within %.2g of max|a|\n", r->outputs, r->largest);
    else
        xpu_text_add(text, "outputs   %u of %u differ; most: %s %s\n", r->differing_outputs, r->outputs,
                     tensors_text(v, &r->output), by_text(v, &r->output));
    xpu_text_add(text, "inner     %u of %u results found in A (%u by name, %u by structure, %u by value)", r->matched,
                 r->inner, r->by_name, r->by_structure, r->by_value);
    xpu_text_add(text, r->differing ? ", %u differ\n" : "\n", r->differing);
    if (r->grown)
        xpu_text_add(text, "grown     on equal operands no operator differs: roundings have grown on their way\n");
}

static void add_expected(const xpu_validation *v, xpu_text *text) {
    const xpuc_validation *r = v->result;
    if (!r->expected) return;
    xpu_text_add(text, "expected  %u of %u agree\n", r->expected - r->expected_differing, r->expected);
}

static void add_device(const xpu_validation *v, xpu_text *text) {
    const xpuc_validation *r = v->result;
    const xpuc_difference *d = &r->device_first;
    if (!v->wanted->device || !v->has_b) return;
    xpu_text_add(text, "on %-6s outputs %s, within %.2g of max|a|; %u of %u tensors differ\n",
                 v->wanted->device_name ? v->wanted->device_name : "device", r->device_differs ? "differ" : "agree",
                 r->device_largest, r->device_differing, r->device_compared);
    if (!r->has_device_first) return;
    xpu_text_add(text, "first there, sample %u: %s %s\n", d->sample, tensors_text(v, d), by_text(v, d));
    if (d->where_a) xpu_text_add(text, "  in A: %s\n", d->where_a);
    if (d->where_b) xpu_text_add(text, "  in B: %s\n", d->where_b);
}

static void add_first(const xpu_validation *v, xpu_text *text) {
    const xpuc_difference *d = &v->result->first;
    if (!v->result->has_first) return;
    if (d->is_constant)
        xpu_text_add(text, "first difference, an operand: %s %s\n", tensors_text(v, d), by_text(v, d));
    else
        xpu_text_add(text, "first difference, sample %u: %s %s\n", d->sample, tensors_text(v, d), by_text(v, d));
    if (d->where_a) xpu_text_add(text, "  in A: %s\n", d->where_a);
    if (d->where_b) xpu_text_add(text, "  in B: %s\n", d->where_b);
}

/* ---- JSON ---- */

static void set_text(const xpu_validation *v, json_t *object, const char *key, const char *text) {
    xpu_json_set(v->arena, object, key, text ? json_string(xpu_escape(v->arena, text, 400)) : json_null());
}

static void set_number(const xpu_validation *v, json_t *object, const char *key, double value) {
    const char *text = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    xpu_json_set(v->arena, object, key, isfinite(value) ? json_real(value) : json_string(text));
}

static void set_difference(const xpu_validation *v, json_t *top, const char *key, const xpuc_difference *d) {
    json_t *object = xpu_json_set(v->arena, top, key, json_object());
    set_text(v, object, "tensor_a", d->tensor_a);
    set_text(v, object, "tensor_b", d->tensor_b);
    set_text(v, object, "operator_a", d->operator_a);
    set_text(v, object, "operator_b", d->operator_b);
    set_text(v, object, "node_a", d->node_a);
    set_text(v, object, "node_b", d->node_b);
    xpu_json_set(v->arena, object, "is_expected", json_boolean(d->is_expected));
    xpu_json_set(v->arena, object, "is_constant", json_boolean(d->is_constant));
    xpu_json_set(v->arena, object, "sample", json_integer(d->sample));
    set_number(v, object, "difference", d->difference);
    set_number(v, object, "largest", d->largest);
    if (d->rank < 0) return;
    json_t *place = xpu_json_set(v->arena, object, "place", json_array());
    for (int i = 0; i < d->rank; i++) xpu_json_append(v->arena, place, json_integer(d->place[i]));
    set_number(v, object, "a", d->a);
    set_number(v, object, "b", d->b);
}

static json_t *as_json(const xpu_validation *v) {
    const xpuc_validation *r = v->result;
    const struct {
        const char *key;
        uint32_t value;
    } counts[] = {{"samples", r->samples},
                  {"outputs", r->outputs},
                  {"differing_outputs", r->differing_outputs},
                  {"inner", r->inner},
                  {"matched", r->matched},
                  {"by_name", r->by_name},
                  {"by_structure", r->by_structure},
                  {"by_value", r->by_value},
                  {"differing", r->differing},
                  {"expected", r->expected},
                  {"expected_differing", r->expected_differing}};
    json_t *top = xpu_json_own(v->arena, json_object());
    xpu_json_set(v->arena, top, "version", json_integer(1));
    set_text(v, top, "a", v->a.path);
    set_text(v, top, "b", v->b.path);
    xpu_json_set(v->arena, top, "differ", json_boolean(r->differ));
    xpu_json_set(v->arena, top, "grown", json_boolean(r->grown));
    set_number(v, top, "tolerance", v->tolerance);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        xpu_json_set(v->arena, top, counts[i].key, json_integer(counts[i].value));
    set_number(v, top, "largest", r->largest);
    if (r->has_first) set_difference(v, top, "first", &r->first);
    if (r->output.tensor_a) set_difference(v, top, "output", &r->output);
    if (!v->wanted->device) return top;
    xpu_json_set(v->arena, top, "device_compared", json_integer(r->device_compared));
    xpu_json_set(v->arena, top, "device_differing", json_integer(r->device_differing));
    xpu_json_set(v->arena, top, "device_differs", json_boolean(r->device_differs));
    set_number(v, top, "device_largest", r->device_largest);
    if (r->has_device_first) set_difference(v, top, "device_first", &r->device_first);
    return top;
}

void xpu_validate_texts(xpu_validation *v) {
    xpu_text text;
    xpu_text_init(&text, v->arena);
    add_inputs(v, &text);
    add_outputs(v, &text);
    add_expected(v, &text);
    add_first(v, &text);
    add_device(v, &text);
    v->result->text = xpu_give_text(v->arena, text.text);
    char *json = json_dumps(as_json(v), JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    if (!json) xpu_out_of_memory(xpu_arena_mem(v->arena));
    v->result->json = json;
}
