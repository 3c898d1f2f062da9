/* Both models are read, and inputs and outputs that belong together are found: by name, else by position. */
#include <string.h>

#include "frontend/onnx/onnx.h"
#include "frontend/paddle/paddle.h"
#include "xpuc/validate.h"

static const char *shown(const xpu_validation *v, const char *text) {
    return xpu_escape(v->arena, text, 100);
}

const char *xpu_validate_name(const xpu_validation *v, const xpu_side *side, xpu_value value) {
    return xpu_printf(v->arena, "input '%s' of %c", shown(v, xpu_value_at(side->graph, value)->name), side->letter);
}

static xpu_status refuse(const xpu_validation *v, xpu_status status, const char *rule, const char *where,
                         const char *what, const char *why, const char *hint) {
    return xpu_error(v->diags, status, NULL, rule, where, what, why, hint);
}

/* ---- reading ---- */

/* Notes are of compiling: nobody asks for them here. */
static xpu_status take_problems(const xpu_validation *v, const xpu_diags *from, xpu_status status) {
    for (size_t i = 0; i < from->count; i++) {
        const xpu_diag *d = &from->items[i];
        if (d->severity == XPU_SEVERITY_NOTE) continue;
        xpu_diag_add(v->diags, d->severity, d->status, d->file, d->rule, d->where, d->what, d->why, d->hint);
    }
    return status == XPU_OK ? xpu_diags_status(from) : status;
}

static xpu_status find_names(const xpu_validation *v, xpu_side *side) {
    xpu_model_facts facts = {.format = NULL};
    const xpu_import_options none = {.params = side->wanted.params};
    xpu_diags *diags = xpu_diags_new(v->arena);
    const int found = xpu_paddle_is_model(side->p->path)
                          ? xpu_paddle_facts(v->arena, side->p->path, &none, &facts, diags)
                          : xpu_onnx_facts(v->arena, side->p->path, &none, &facts, diags);
    if (!found) return take_problems(v, diags, XPU_EMODEL);
    side->names = XPU_NEW_ARRAY(v->arena, const char *, facts.inputs.count);
    side->name_count = facts.inputs.count;
    for (uint32_t i = 0; i < facts.inputs.count; i++) side->names[i] = facts.inputs.items[i].name;
    return XPU_OK;
}

static void open_side(const xpu_validation *v, xpu_side *side, const char *path, char letter) {
    side->letter = letter;
    side->wanted = (xpuc_options){.params = letter == 'A' ? v->wanted->params_a : v->wanted->params_b,
                                  .bounds = v->wanted->bounds,
                                  .shapes = letter == 'A' ? v->wanted->shapes : NULL,
                                  .values = letter == 'A' ? v->wanted->values : NULL};
    side->p = XPU_NEW(v->arena, xpu_pipeline);
    *side->p =
        (xpu_pipeline){.path = path, .wanted = &side->wanted, .arena = v->arena, .diags = xpu_diags_new(v->arena)};
}

static xpu_status read_program(const xpu_validation *v, xpu_side *side) {
    side->image = xpu_program_read(v->arena, side->p->path, v->diags);
    if (!side->image) return xpu_diags_status(v->diags);
    if (side->image->program.stripped)
        return refuse(v, XPU_EUSAGE, "validate-program", xpu_printf(v->arena, "'%s'", shown(v, side->p->path)),
                      "the program has no graph", "it was compiled with --strip", "compile it without --strip");
    side->graph = side->image->program.graph;
    side->names = XPU_NEW_ARRAY(v->arena, const char *, side->graph->inputs.count);
    side->name_count = side->graph->inputs.count;
    for (uint32_t i = 0; i < side->name_count; i++)
        side->names[i] = xpu_value_at(side->graph, side->graph->inputs.items[i])->name;
    return xpu_program_load_constants(side->image, v->arena, v->diags);
}

static xpu_status begin_side(const xpu_validation *v, xpu_side *side, const char *path, char letter) {
    open_side(v, side, path, letter);
    if (xpu_is_program(side->p)) return read_program(v, side);
    xpu_status status = xpu_check_format(side->p);
    if (status == XPU_OK) status = xpu_check_describe_options(side->p);
    if (status != XPU_OK) return take_problems(v, side->p->diags, status);
    return find_names(v, side);
}

static xpu_status import(const xpu_validation *v, xpu_side *side) {
    if (side->image) return XPU_OK;
    xpu_doing(xpu_arena_mem(v->arena), "reading", side->p->path);
    if (v->wanted->progress) v->wanted->progress(v->wanted->context, xpu_printf(v->arena, "reading %c", side->letter));
    xpu_status status = take_problems(v, side->p->diags, xpu_import_model(side->p));
    side->graph = side->p->graph;
    return status;
}

/* ---- names ---- */

#define NO_INPUT UINT32_MAX

static int64_t find_name(const xpu_side *side, const char *name) {
    for (uint32_t i = 0; i < side->name_count; i++) {
        if (strcmp(side->names[i], name) == 0) return i;
    }
    return -1;
}

/* Whether --value makes the input a constant. */
static int has_value(const xpu_validation *v, const char *input) {
    const xpu_import_options *options = &v->a.p->import;
    for (uint32_t i = 0; i < options->value_count; i++) {
        if (strcmp(options->values[i].input, input) == 0) return 1;
    }
    return 0;
}

/* By input that A's file declares: B's, or NO_INPUT; by name, those that are left in their order. What --value names
 * and the other model does not is built in there where that has fewer inputs. */
static uint32_t *match_names(const xpu_validation *v) {
    const xpu_side *a = &v->a, *b = &v->b;
    uint32_t *b_of = XPU_NEW_ARRAY(v->arena, uint32_t, a->name_count + 1), next = 0;
    for (uint32_t i = 0; i < a->name_count; i++) {
        const int64_t same = find_name(b, a->names[i]);
        b_of[i] = same >= 0 ? (uint32_t)same : NO_INPUT;
        if (same >= 0 || (a->name_count > b->name_count && has_value(v, a->names[i]))) continue;
        while (next < b->name_count &&
               (find_name(a, b->names[next]) >= 0 || (b->name_count > a->name_count && has_value(v, b->names[next]))))
            next++;
        if (next < b->name_count) b_of[i] = next++;
    }
    return b_of;
}

static xpu_status differ_in(const xpu_validation *v, const char *what, uint32_t a, uint32_t b) {
    return refuse(v, XPU_EDIFF, "validate-interface", NULL,
                  xpu_printf(v->arena, "the models have different numbers of %s", what),
                  xpu_printf(v->arena, "A has %u, B has %u", a, b),
                  "xpuc --describe names them; --value makes an input a constant");
}

/* ---- what the user says of inputs, for B ---- */

/* NULL: B has it built in. */
static const char *name_in_b(const xpu_validation *v, const uint32_t *b_of, const char *name) {
    const int64_t a = find_name(&v->a, name);
    if (a >= 0) return b_of[a] == NO_INPUT ? NULL : v->b.names[b_of[a]];
    return name;
}

/* What A does not have and B does is built in in A. */
static int is_for_a(const xpu_validation *v, const char *name) {
    return find_name(&v->a, name) >= 0 || find_name(&v->b, name) < 0;
}

static void pass_on(const xpu_validation *v, const uint32_t *b_of) {
    xpu_import_options *a = &v->a.p->import, *b = &v->b.p->import;
    const xpu_shape_spec *shapes = a->shapes;
    const xpu_value_spec *values = a->values;
    const uint32_t shape_count = a->shape_count, value_count = a->value_count;
    xpu_shape_spec *shapes_a = XPU_NEW_ARRAY(v->arena, xpu_shape_spec, shape_count + 1),
                   *shapes_b = XPU_NEW_ARRAY(v->arena, xpu_shape_spec, shape_count + 1);
    xpu_value_spec *values_a = XPU_NEW_ARRAY(v->arena, xpu_value_spec, value_count + 1),
                   *values_b = XPU_NEW_ARRAY(v->arena, xpu_value_spec, value_count + 1);
    a->shape_count = a->value_count = b->shape_count = b->value_count = 0;
    for (uint32_t i = 0; i < shape_count; i++) {
        const char *name = name_in_b(v, b_of, shapes[i].input);
        if (is_for_a(v, shapes[i].input)) shapes_a[a->shape_count++] = shapes[i];
        if (!name) continue;
        shapes_b[b->shape_count] = shapes[i];
        shapes_b[b->shape_count++].input = name;
    }
    for (uint32_t i = 0; i < value_count; i++) {
        const char *name = name_in_b(v, b_of, values[i].input);
        if (is_for_a(v, values[i].input)) values_a[a->value_count++] = values[i];
        if (!name) continue;
        values_b[b->value_count] = values[i];
        values_b[b->value_count++].input = name;
    }
    a->shapes = shapes_a;
    b->shapes = shapes_b;
    a->values = values_a;
    b->values = values_b;
}

/* The name of the input that a tensor of the caller's is for, or NULL. */
static const char *name_of_given(const xpu_validation *v, uint32_t i) {
    const char *name = v->wanted->inputs[i].name;
    if (name) return name;
    return i < v->a.name_count ? v->a.names[i] : NULL;
}

static int has_shape(const xpu_import_options *options, const char *input) {
    for (uint32_t i = 0; i < options->shape_count; i++) {
        if (strcmp(options->shapes[i].input, input) == 0) return 1;
    }
    return 0;
}

/* An input whose data are given has their dims. */
static void take_shapes(const xpu_validation *v) {
    xpu_import_options *options = &v->a.p->import;
    xpu_shape_spec *specs = XPU_NEW_ARRAY(v->arena, xpu_shape_spec, options->shape_count + v->wanted->input_count);
    uint32_t count = options->shape_count;
    if (count) memcpy(specs, options->shapes, count * sizeof *specs);
    for (uint32_t i = 0; i < v->wanted->input_count; i++) {
        const xpuc_tensor *tensor = &v->wanted->inputs[i];
        const char *name = name_of_given(v, i);
        int is_empty = 0;
        if (!name || find_name(&v->a, name) < 0 || has_shape(options, name)) continue;
        xpu_shape_spec *spec = &specs[count];
        *spec = (xpu_shape_spec){.input = name, .rank = tensor->rank};
        for (int d = 0; d < tensor->rank; d++) {
            spec->dims[d] = (xpu_shape_dim){.min = tensor->dims[d], .max = tensor->dims[d], .step = 1};
            is_empty |= tensor->dims[d] < 1 || tensor->dims[d] > INT32_MAX;
        }
        count += !is_empty;
    }
    options->shapes = specs;
    options->shape_count = count;
}

/* ---- inputs and outputs ---- */

static uint32_t find_value(const xpu_graph *graph, const xpu_value *values, uint32_t count, const char *name) {
    uint32_t i = 0;
    while (i < count && strcmp(xpu_value_at(graph, values[i])->name, name) != 0) i++;
    return i;
}

/* By entry of `of`: which of `in` it is. */
static uint32_t *match_values(const xpu_validation *v, const xpu_graph *of_graph, const xpu_value *of,
                              const xpu_graph *in_graph, const xpu_value *in, uint32_t count) {
    uint32_t *found = XPU_NEW_ARRAY(v->arena, uint32_t, count + 1), next = 0;
    uint8_t *taken = XPU_NEW_ARRAY(v->arena, uint8_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        found[i] = find_value(in_graph, in, count, xpu_value_at(of_graph, of[i])->name);
        if (found[i] < count) taken[found[i]] = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (found[i] < count) continue;
        while (taken[next]) next++;
        found[i] = next++;
    }
    return found;
}

static xpu_status match_inputs(xpu_validation *v, const uint32_t *b_of) {
    const xpu_graph *a = v->a.graph, *b = v->b.graph;
    if (a->inputs.count != b->inputs.count) return differ_in(v, "inputs", a->inputs.count, b->inputs.count);
    v->b.input_of = XPU_NEW_ARRAY(v->arena, uint32_t, b->inputs.count + 1);
    for (uint32_t i = 0; i < a->inputs.count; i++) {
        int64_t declared = find_name(&v->a, xpu_value_at(a, a->inputs.items[i])->name);
        uint32_t k = b->inputs.count;
        if (declared >= 0 && b_of[declared] != NO_INPUT)
            k = find_value(b, b->inputs.items, b->inputs.count, v->b.names[b_of[declared]]);
        v->b.input_of[k < b->inputs.count ? k : i] = i;
    }
    return XPU_OK;
}

static xpu_status match_outputs(xpu_validation *v) {
    const xpu_graph *a = v->a.graph, *b = v->b.graph;
    uint32_t count = a->outputs.count;
    if (count != b->outputs.count) return differ_in(v, "outputs", count, b->outputs.count);
    v->output_of = match_values(v, b, b->outputs.items, a, a->outputs.items, count);
    v->output_b = XPU_NEW_ARRAY(v->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) v->output_b[v->output_of[i]] = i;
    return XPU_OK;
}

/* ---- the caller's tensors ---- */

int xpu_validate_tensor(const xpu_validation *v, const xpuc_tensor *from, xpu_tensor *to) {
    *to = (xpu_tensor){.rank = from->rank, .data = (void *)from->data};
    for (int i = XPU_DTYPE_NONE + 1; i < XPU_DTYPE_COUNT; i++) {
        if (from->dtype && strcmp(xpu_dtype_name((xpu_dtype)i), from->dtype) == 0) to->dtype = (xpu_dtype)i;
    }
    int is_valid = to->dtype != XPU_DTYPE_NONE && from->data && from->rank >= 0 && from->rank <= XPU_MAX_RANK;
    for (int i = 0; is_valid && i < from->rank; i++) {
        to->dims[i] = from->dims[i];
        is_valid = from->dims[i] >= 0;
    }
    if (is_valid) return 1;
    refuse(v, XPU_EUSAGE, "validate-input",
           from->name ? xpu_printf(v->arena, "tensor '%s'", shown(v, from->name)) : "a tensor", "it cannot be used",
           "it has no data, or an element type, rank or dims that there are not", "see xpuc_validate.h");
    return 0;
}

static const char *input_names(const xpu_validation *v) {
    xpu_text text;
    xpu_text_init(&text, v->arena);
    for (uint32_t i = 0; i < v->a.graph->inputs.count && i < 12; i++)
        xpu_text_add(&text, "%s'%s'", i ? ", " : "",
                     shown(v, xpu_value_at(v->a.graph, v->a.graph->inputs.items[i])->name));
    return v->a.graph->inputs.count ? text.text : "none";
}

static xpu_status take_given(xpu_validation *v) {
    const xpu_graph *graph = v->a.graph;
    v->given = XPU_NEW_ARRAY(v->arena, const xpu_tensor *, graph->inputs.count + 1);
    for (uint32_t i = 0; i < v->wanted->input_count; i++) {
        const char *name = name_of_given(v, i);
        const char *where = xpu_printf(v->arena, "input '%s'", name ? shown(v, name) : "");
        uint32_t input = name ? find_value(graph, graph->inputs.items, graph->inputs.count, name) : graph->inputs.count;
        if (input == graph->inputs.count)
            return refuse(v, XPU_EUSAGE, "validate-input", where, "A has no such input",
                          xpu_printf(v->arena, "its inputs are %s", input_names(v)), "name one of these");
        if (v->given[input])
            return refuse(v, XPU_EUSAGE, "validate-input", where, "it is given twice", "an input takes one tensor",
                          "give each input once");
        xpu_tensor *tensor = XPU_NEW(v->arena, xpu_tensor);
        if (!xpu_validate_tensor(v, &v->wanted->inputs[i], tensor)) return XPU_EUSAGE;
        const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[input]);
        if (tensor->dtype != info->dtype || tensor->rank != info->rank)
            return refuse(v, XPU_EUSAGE, "validate-input", where, "the tensor does not fit the input",
                          xpu_printf(v->arena, "A takes %s, it is %s with %d dims",
                                     xpu_type_text(graph, graph->inputs.items[input], v->arena),
                                     xpu_dtype_name(tensor->dtype), tensor->rank),
                          "convert it, or let it be drawn");
        v->given[input] = tensor;
    }
    return XPU_OK;
}

xpu_status xpu_validate_read(xpu_validation *v) {
    uint32_t *b_of = NULL;
    xpu_status status = begin_side(v, &v->a, v->a.path, 'A');
    if (status == XPU_OK && v->has_b) status = begin_side(v, &v->b, v->b.path, 'B');
    if (status != XPU_OK) return status;
    if (v->has_b) {
        uint32_t a = v->a.name_count, b = v->b.name_count;
        int same = v->wanted->values && v->wanted->values[0] ? 1 : a == b; /* some may become constants */
        if (!same || !b != !a) return differ_in(v, "inputs", a, b);
        b_of = match_names(v);
    }
    if (!v->a.image) take_shapes(v);
    if (v->has_b) pass_on(v, b_of);
    status = import(v, &v->a);
    if (status == XPU_OK && v->has_b) status = import(v, &v->b);
    if (status == XPU_OK && v->has_b) status = match_inputs(v, b_of);
    if (status == XPU_OK && v->has_b) status = match_outputs(v);
    if (status == XPU_OK) status = take_given(v);
    return status;
}
