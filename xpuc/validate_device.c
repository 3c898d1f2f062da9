/* Both models compiled and run on a device of the caller's: its tensors under their names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"
#include "xpuc/validate.h"

/* What a device gave of one model. */
typedef struct {
    const xpu_validation *v;
    xpu_name_table names;
    XPU_ARRAY(xpu_tensor) tensors;
    int is_lost; /* memory ran out, or what was given is no tensor */
} gathered;

static void give(xpuc_device_run *run, const xpuc_tensor *from) {
    gathered *to = run->own;
    xpu_tensor tensor;
    if (!from->name || !xpu_validate_tensor(to->v, from, &tensor)) {
        to->is_lost = 1;
        return;
    }
    if (xpu_name_find(&to->names, from->name)) return;
    tensor.data = xpu_copy(to->v->scratch, tensor.data, xpu_tensor_bytes(&tensor));
    xpu_name_add(&to->names, xpu_strdup(to->v->scratch, from->name), to->tensors.count);
    XPU_PUSH(to->v->scratch, &to->tensors, tensor);
}

/* Output `index`: outputs were given first. */
static const xpu_tensor *output_at(const gathered *in, uint32_t index) {
    return index < in->tensors.count ? &in->tensors.items[index] : NULL;
}

static const xpu_tensor *find(const gathered *in, const xpu_side *side, xpu_value value) {
    const uint32_t *at = xpu_name_find(&in->names, xpu_value_at(side->graph, value)->name);
    return at ? &in->tensors.items[*at] : NULL;
}

/* ---- the program ---- */

/* "x=1,3,64,96" of each input; a dim of 0 cannot be asked for, and stays as the model says. */
static const char *const *shapes_of(const xpu_validation *v, const xpu_side *side) {
    const xpu_graph *graph = side->graph;
    XPU_ARRAY(const char *) shapes = {0};
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_tensor *tensor = &side->inputs[i];
        if (!xpu_tensor_count(tensor)) continue;
        xpu_text text;
        xpu_text_init(&text, v->scratch);
        xpu_text_add(&text, "%s=", xpu_value_at(graph, graph->inputs.items[i])->name);
        for (int d = 0; d < tensor->rank; d++) xpu_text_add(&text, "%s%lld", d ? "," : "", (long long)tensor->dims[d]);
        XPU_PUSH(v->scratch, &shapes, text.text);
    }
    XPU_PUSH(v->scratch, &shapes, NULL);
    return shapes.items;
}

static const char *const *values_of(const xpu_validation *v, const xpu_side *side) {
    const xpu_import_options *import = &side->p->import;
    XPU_ARRAY(const char *) values = {0};
    for (uint32_t i = 0; i < import->value_count; i++) {
        const xpu_value_spec *spec = &import->values[i];
        xpu_text text;
        xpu_text_init(&text, v->scratch);
        xpu_text_add(&text, "%s=", spec->input);
        if (spec->is_range) xpu_text_add(&text, "%lld..%lld", (long long)spec->min, (long long)spec->max);
        for (uint32_t k = 0; k < spec->count && !spec->is_range; k++)
            xpu_text_add(&text, "%s%lld", k ? "," : "", (long long)spec->numbers[k]);
        XPU_PUSH(v->scratch, &values, text.text);
    }
    XPU_PUSH(v->scratch, &values, NULL);
    return values.items;
}

static void free_result(void *object) {
    xpuc_result_clear(object);
}

static xpu_status compile(const xpu_validation *v, const xpu_side *side, xpuc_device_run *run) {
    xpuc_result *result = XPU_NEW(v->scratch, xpuc_result);
    xpuc_error error;
    const xpuc_options options = {.chip = v->wanted->chip,
                                  .precision = v->wanted->precision ? v->wanted->precision : "fp32",
                                  .resources = v->wanted->resources,
                                  .params = side->wanted.params,
                                  .bounds = v->wanted->bounds,
                                  .shapes = shapes_of(v, side),
                                  .values = values_of(v, side),
                                  .no_fuse = 1,
                                  .stop = v->wanted->stop,
                                  .stop_context = v->wanted->context};
    int status = xpuc_compile_file(side->path, &options, result, &error);
    if (status)
        xpu_error(v->diags, (xpu_status)status, side->path, "validate-compile", NULL, "it cannot be compiled",
                  error.text ? xpu_strdup(v->scratch, error.text) : NULL, "leave --device out: ref needs no program");
    xpuc_error_clear(&error);
    xpu_arena_defer(v->scratch, free_result, result);
    run->program = result->bytes;
    run->size = result->size;
    return (xpu_status)status;
}

static xpu_status read_bytes(const xpu_validation *v, const xpu_side *side, xpuc_device_run *run) {
    run->program = side->image->data->bytes;
    run->size = side->image->data->size;
    (void)v;
    return XPU_OK;
}

static xpu_status run_side(const xpu_validation *v, const xpu_side *side, gathered *to) {
    const xpu_graph *graph = side->graph;
    xpuc_tensor *inputs = XPU_NEW_ARRAY(v->scratch, xpuc_tensor, graph->inputs.count + 1);
    xpuc_device_run run = {
        .name = side->path, .inputs = inputs, .input_count = graph->inputs.count, .give = give, .own = to};
    *to = (gathered){.v = v, .names = {.arena = v->scratch}};
    for (uint32_t i = 0; i < graph->inputs.count; i++) {
        const xpu_tensor *from = &side->inputs[i];
        inputs[i] = (xpuc_tensor){.name = xpu_value_at(graph, graph->inputs.items[i])->name,
                                  .dtype = xpu_dtype_name(from->dtype),
                                  .rank = from->rank,
                                  .data = from->data};
        memcpy(inputs[i].dims, from->dims, sizeof inputs[i].dims);
    }
    xpu_status status = side->image ? read_bytes(v, side, &run) : compile(v, side, &run);
    if (status != XPU_OK) return status;
    char *text = NULL;
    if (v->wanted->progress)
        v->wanted->progress(v->wanted->context, xpu_printf(v->scratch, "sample %u of %u: %c on %s", v->sample + 1,
                                                           v->samples, side->letter, v->wanted->device_name));
    status = (xpu_status)v->wanted->device(v->wanted->context, &run, &text);
    if (status == XPU_OK && to->is_lost) status = XPU_EUSAGE;
    if (status != XPU_OK && !v->diags->errors)
        xpu_error(v->diags, status, side->path, "validate-device", NULL, "the run on the device failed",
                  text ? xpu_strdup(v->scratch, text) : NULL, "leave --device out: ref needs no device");
    free(text);
    return status;
}

/* ---- comparison ---- */

static void compare(xpu_validation *v, const xpu_tensor *a, const xpu_tensor *b, xpu_hit *hit, int is_output) {
    xpuc_validation *r = v->result;
    hit->apart = xpu_validate_apart(a, b, xpu_validate_largest(a), (double)INFINITY,
                                    xpu_validate_is_quantised(v->a.graph, hit->a));
    r->device_compared++;
    if (is_output && hit->apart.of_max > r->device_largest) r->device_largest = hit->apart.of_max;
    if (hit->apart.of_max <= v->tolerance) return;
    r->device_differing++;
    if (is_output) r->differ = r->device_differs = 1;
    if (r->has_device_first) return;
    xpu_validate_place(hit, a, b);
    r->has_device_first = 1;
    r->device_first = xpu_validate_difference(v, hit, xpu_value_at(v->a.graph, hit->a)->node, hit->node);
}

xpu_status xpu_validate_on_device(xpu_validation *v, const xpu_beside *beside) {
    gathered a, b;
    const xpu_graph *in_b = v->b.graph;
    xpu_status status = run_side(v, &v->a, &a);
    if (status == XPU_OK) status = run_side(v, &v->b, &b);
    if (status != XPU_OK) return status;
    XPU_FOR_ALL_NODES(in_b, node) {
        for (uint32_t i = 0; i < xpu_node_at(in_b, node)->output_count; i++) {
            xpu_hit hit = {.node = node, .b = xpu_node_output(in_b, node, i)};
            hit.a = (xpu_value){beside->counterpart[hit.b.id]};
            if (!hit.a.id || xpu_value_at(in_b, hit.b)->is_output) continue;
            const xpu_tensor *x = find(&a, &v->a, hit.a), *y = find(&b, &v->b, hit.b);
            if (x && y) compare(v, x, y, &hit, 0);
        }
    }
    for (uint32_t i = 0; i < v->a.graph->outputs.count; i++) {
        xpu_hit hit = {.a = v->a.graph->outputs.items[i], .b = in_b->outputs.items[v->output_b[i]]};
        const xpu_tensor *x = output_at(&a, i), *y = output_at(&b, v->output_b[i]);
        hit.node = xpu_value_at(in_b, hit.b)->node;
        if (!x || !y)
            return xpu_error(v->diags, XPU_EUSAGE, NULL, "validate-device", NULL, "an output is missing",
                             "the device gave fewer than the model has", "see xpuc_validate.h");
        compare(v, x, y, &hit, 1);
    }
    return XPU_OK;
}
