/* Inputs of a run: which tensor is which, and what the symbols are. */
#include <string.h>

#include "xpu_runtime/host/host.h"

static const char *input_name(const xpu_run *run, uint32_t index) {
    return xpu_value_at(run->graph, run->graph->inputs.items[index])->name;
}

static const char *where(const xpu_run *run, uint32_t index) {
    return xpu_printf(run->arena, "input '%s'", xpu_escape(run->arena, input_name(run, index), 80));
}

static xpu_status refuse(const xpu_run *run, uint32_t index, const char *rule, const char *what, const char *why,
                         const char *hint) {
    return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, rule, where(run, index), what, why, hint);
}

/* The program's inputs as "x float32 [N,1,16,16]" for hints. */
static const char *inputs_text(const xpu_run *run) {
    xpu_text text;
    xpu_text_init(&text, run->arena);
    for (uint32_t i = 0; i < run->graph->inputs.count; i++) {
        const xpu_value_info *info = xpu_value_at(run->graph, run->graph->inputs.items[i]);
        xpu_text_add(&text, "%s%s %s %s", i ? ", " : "", xpu_escape(run->arena, info->name, 80),
                     xpu_dtype_name(info->dtype),
                     xpu_dim_list_text(&run->graph->dims, info->rank, info->dims, run->arena));
    }
    return text.text;
}

/* Which of the program's inputs a tensor is for: by name, or by position where it has none. */
static int find_input(const xpu_run *run, const xpurt_tensor *tensor, uint32_t position) {
    if (!tensor->name) return position < run->graph->inputs.count ? (int)position : -1;
    for (uint32_t i = 0; i < run->graph->inputs.count; i++) {
        if (strcmp(input_name(run, i), tensor->name) == 0) return (int)i;
    }
    return -1;
}

static xpu_dtype dtype_of(const char *name) {
    for (int i = XPU_DTYPE_NONE + 1; i < XPU_DTYPE_COUNT; i++) {
        if (name && strcmp(xpu_dtype_name((xpu_dtype)i), name) == 0) return (xpu_dtype)i;
    }
    return XPU_DTYPE_NONE;
}

static xpu_status take_tensor(xpu_run *run, uint32_t index, const xpurt_tensor *from) {
    const xpu_value_info *info = xpu_value_at(run->graph, run->graph->inputs.items[index]);
    xpu_tensor *to = &run->inputs[index];
    if (to->dtype != XPU_DTYPE_NONE) {
        return refuse(run, index, "input-twice", "it is given twice", "an input takes one tensor",
                      "give each --input once");
    }
    *to = (xpu_tensor){.dtype = dtype_of(from->dtype), .rank = from->rank, .data = from->data};
    if (to->dtype != info->dtype) {
        return refuse(run, index, "input-dtype", "it has the wrong element type",
                      xpu_printf(run->arena, "the model takes %s, the tensor is %s", xpu_dtype_name(info->dtype),
                                 from->dtype ? xpu_escape(run->arena, from->dtype, 40) : "none"),
                      xpu_printf(run->arena, "convert it, in NumPy: x.astype('%s')", xpu_dtype_name(info->dtype)));
    }
    if (from->rank != info->rank) {
        return refuse(run, index, "input-shape", "it has the wrong number of dimensions",
                      xpu_printf(run->arena, "the model takes %d, the tensor has %d", info->rank, from->rank),
                      xpu_printf(run->arena, "inputs are: %s", inputs_text(run)));
    }
    if (!from->data && !run->only_check) {
        return refuse(run, index, "input-data", "it has no data", "the tensor's pointer is NULL",
                      xpu_printf(run->arena, "inputs are: %s", inputs_text(run)));
    }
    for (int i = 0; i < from->rank; i++) to->dims[i] = from->dims[i];
    return XPU_OK;
}

/* A symbol whose range is one value is that constant: no dim refers to it. */
static void bind_constants(xpu_run *run, uint8_t *bound) {
    const xpu_dims *dims = &run->graph->dims;
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        if (dims->symbols.items[i].min != dims->symbols.items[i].max) continue;
        run->symbols[i] = dims->symbols.items[i].min;
        bound[i] = 1;
    }
}

/* A dim that is one symbol gives it its value. */
static void bind_symbols(xpu_run *run, const xpu_value_info *info, const xpu_tensor *tensor, uint8_t *bound) {
    for (int i = 0; i < info->rank; i++) {
        const xpu_dim_node *node = &run->graph->dims.nodes.items[info->dims[i].id];
        if (node->kind != XPU_DIM_SYMBOL || bound[node->value] || tensor->dims[i] == XPU_DIM_UNKNOWN) continue;
        run->symbols[node->value] = tensor->dims[i];
        bound[node->value] = 1;
    }
}

/* By what the caller gives first: where the session's states do not fit it, these are at fault. */
static void bind_dims(xpu_run *run, uint8_t *bound) {
    for (int kept = 0; kept < 2; kept++) {
        for (uint32_t i = 0; i < run->graph->inputs.count; i++) {
            if (run->is_kept[i] == kept)
                bind_symbols(run, xpu_value_at(run->graph, run->graph->inputs.items[i]), &run->inputs[i], bound);
        }
    }
}

/* States of the first run have the dims that the others give them. */
static void finish_dims(xpu_run *run) {
    for (uint32_t i = 0; i < run->graph->inputs.count; i++) {
        xpu_tensor shape = xpu_run_shape(run, run->graph->inputs.items[i]);
        for (int d = 0; run->is_kept[i] && d < shape.rank; d++) {
            if (run->inputs[i].dims[d] == XPU_DIM_UNKNOWN) run->inputs[i].dims[d] = shape.dims[d];
        }
    }
}

/* Symbols that are elements of an input. Where it has not got them (no data in xpurt_check_inputs, or the wrong shape,
 * which is reported later), they have their least value. */
static void bind_elements(xpu_run *run, uint8_t *bound) {
    const xpu_dims *dims = &run->graph->dims;
    for (uint32_t i = 0; i < run->graph->inputs.count; i++) {
        const xpu_tensor *tensor = &run->inputs[i];
        for (uint32_t s = 0; s < dims->symbols.count; s++) {
            const xpu_symbol *symbol = &dims->symbols.items[s];
            if (bound[s] || symbol->value.id != run->graph->inputs.items[i].id) continue;
            run->symbols[s] = !tensor->data || symbol->element >= xpu_tensor_count(tensor) ? symbol->min
                              : tensor->dtype == XPU_I32 ? ((const int32_t *)tensor->data)[symbol->element]
                                                         : ((const int64_t *)tensor->data)[symbol->element];
            bound[s] = 1;
        }
    }
}

static xpu_status check_dims(const xpu_run *run, uint32_t index) {
    const xpu_value_info *info = xpu_value_at(run->graph, run->graph->inputs.items[index]);
    const xpu_tensor *tensor = &run->inputs[index];
    for (int i = 0; i < info->rank; i++) {
        int64_t wanted = xpu_dim_eval(&run->graph->dims, info->dims[i], run->symbols);
        if (tensor->dims[i] == wanted) continue;
        char shape[192];
        return refuse(run, index, "input-shape", "it has the wrong shape",
                      xpu_printf(run->arena, "dimension %d is %lld, the model takes %lld (%s)", i,
                                 (long long)tensor->dims[i], (long long)wanted,
                                 xpu_dims_text(tensor->rank, tensor->dims, shape, sizeof shape)),
                      xpu_printf(run->arena, "inputs are: %s", inputs_text(run)));
    }
    return XPU_OK;
}

static xpu_status check_ranges(const xpu_run *run, const uint8_t *bound) {
    const xpu_dims *dims = &run->graph->dims;
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        const xpu_symbol *s = &dims->symbols.items[i];
        int64_t value = run->symbols[i];
        if (!bound[i]) {
            return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, "shape-unbound",
                             xpu_printf(run->arena, "symbol '%s'", xpu_escape(run->arena, s->name, 80)),
                             "no input gives this dimension a value",
                             "it appears in the model only inside of expressions", "fix it with xpuc --shape");
        }
        if (value >= s->min && value <= s->max && (value - s->min) % s->step == 0) continue;
        if (run->may_be_empty && value == 0 && !s->value.id) continue;
        const char *range = s->step == 1 ? xpu_printf(run->arena, "%lld..%lld", (long long)s->min, (long long)s->max)
                                         : xpu_printf(run->arena, "%lld..%lld in steps of %lld", (long long)s->min,
                                                      (long long)s->max, (long long)s->step);
        int is_value = s->value.id != 0;
        return xpu_error(
            run->diags, XPU_EUSAGE, run->owner->image->name, is_value ? "value-range" : "shape-range",
            xpu_printf(run->arena, "symbol '%s'", xpu_escape(run->arena, s->name, 80)),
            is_value ? "the input's value is out of range" : "the input's shape is out of range",
            xpu_printf(run->arena, "%s is %lld, the program was compiled for %s", s->name, (long long)value, range),
            is_value ? "compile with a larger range: xpuc --value" : "compile with a larger range: xpuc --shape");
    }
    return XPU_OK;
}

static xpu_status check_guards(const xpu_run *run) {
    const xpu_guard *guard = xpu_graph_broken_guard(run->graph, run->symbols);
    if (!guard) return XPU_OK;
    const xpu_dims *dims = &run->graph->dims;
    const char *shape = xpu_placement_shape(run->program, run->symbols, run->arena);
    return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, "shape-guard",
                     xpu_escape_message(run->arena, guard->where, 200),
                     xpu_printf(run->arena, "it cannot run with %s", shape ? shape : "these values"),
                     xpu_printf(run->arena, "it needs %s; they are %lld and %lld",
                                xpu_guard_text(run->graph, guard, run->arena),
                                (long long)xpu_dim_eval(dims, guard->a, run->symbols),
                                (long long)xpu_dim_eval(dims, guard->b, run->symbols)),
                     "choose a shape for which they are equal");
}

static xpu_status no_size(const xpu_run *run, const char *rule, const char *where, const char *what, const char *why) {
    const char *shape = xpu_placement_shape(run->program, run->symbols, run->arena);
    return xpu_error(run->diags, XPU_EUSAGE, run->owner->image->name, rule, shape,
                     xpu_printf(run->arena, "%s %s", where, what), why, "run the model at another shape");
}

static xpu_status check_value(const xpu_run *run, xpu_value value) {
    xpu_tensor shape = xpu_run_shape(run, value);
    const char *name =
        xpu_printf(run->arena, "'%s'", xpu_escape(run->arena, xpu_value_at(run->graph, value)->name, 80));
    int64_t count = 1;
    char text[192];
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dims[i] < 0) {
            return no_size(run, "shape-negative", name, "has a dimension below zero",
                           xpu_dims_text(shape.rank, shape.dims, text, sizeof text));
        }
        int64_t factor = shape.dims[i] ? shape.dims[i] : 1;
        if (__builtin_mul_overflow(count, factor, &count) || count > XPU_PROGRAM_MAX_SIZE) {
            return no_size(run, "shape-too-large", name, "has more than 2^40 elements",
                           xpu_dims_text(shape.rank, shape.dims, text, sizeof text));
        }
    }
    return XPU_OK;
}

/* The reader has looked at the smallest shape only. */
xpu_status xpu_run_check_sizes(const xpu_run *run) {
    xpu_status status = XPU_OK;
    if (!run->graph->dims.symbols.count) return XPU_OK;
    for (uint32_t id = 1; status == XPU_OK && id < run->graph->values.count; id++) {
        status = check_value(run, (xpu_value){id});
    }
    for (uint32_t i = 0; status == XPU_OK && i < run->program->layers.count; i++) {
        int64_t macs = xpu_run_layer_macs(run, i);
        if (macs >= 0 && macs <= XPU_PROGRAM_MAX_MACS) continue;
        const char *name = xpu_escape(run->arena, run->program->layers.items[i].name, 80);
        status = no_size(run, "shape-too-large", xpu_printf(run->arena, "layer '%s'", name), "has too much to compute",
                         xpu_printf(run->arena, "it has %lld multiply-accumulates", (long long)macs));
    }
    return status;
}

xpu_status xpu_run_bind(xpu_run *run, const xpurt_tensor *inputs, uint32_t count) {
    uint8_t bound[XPU_PROGRAM_MAX_SYMBOLS] = {0};
    xpu_status status = XPU_OK;
    bind_constants(run, bound);
    for (uint32_t i = 0; i < count; i++) {
        int index = find_input(run, &inputs[i], i);
        if (index < 0) {
            status = xpu_error(
                run->diags, XPU_EUSAGE, run->owner->image->name, "input-unknown",
                inputs[i].name ? xpu_printf(run->arena, "input '%s'", xpu_escape(run->arena, inputs[i].name, 80))
                               : xpu_printf(run->arena, "input #%u", i),
                "the model has no such input", xpu_printf(run->arena, "inputs are: %s", inputs_text(run)),
                "give it the name of one of these");
            continue;
        }
        xpu_status taken = take_tensor(run, (uint32_t)index, &inputs[i]);
        if (taken != XPU_OK) status = taken;
    }
    if (status == XPU_OK) status = xpu_run_take_states(run);
    for (uint32_t i = 0; i < run->graph->inputs.count; i++) {
        if (run->inputs[i].dtype != XPU_DTYPE_NONE || status != XPU_OK) continue;
        status = refuse(run, i, "input-missing", "it is missing",
                        xpu_printf(run->arena, "the model takes %u, %u given", run->graph->inputs.count, count),
                        xpu_printf(run->arena, "inputs are: %s", inputs_text(run)));
    }
    if (status != XPU_OK) return status;
    bind_dims(run, bound);
    bind_elements(run, bound);
    for (uint32_t i = 0; i < run->graph->dims.symbols.count; i++) {
        if (xpu_symbol_is_dynamic(run->graph, i)) run->symbols[i] = run->graph->dims.symbols.items[i].min, bound[i] = 1;
    }
    status = check_ranges(run, bound);
    if (status == XPU_OK) status = xpu_run_check_states(run);
    finish_dims(run);
    for (uint32_t i = 0; status == XPU_OK && i < run->graph->inputs.count; i++) status = check_dims(run, i);
    if (status == XPU_OK) status = check_guards(run);
    xpu_symbols_bound(run->graph, run->symbols);
    return status == XPU_OK ? xpu_run_fetch_states(run) : status;
}

xpu_tensor xpu_run_shape(const xpu_run *run, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(run->graph, value);
    xpu_tensor tensor = {.dtype = info->dtype, .rank = info->rank};
    for (int i = 0; i < info->rank; i++) tensor.dims[i] = xpu_dim_eval(&run->graph->dims, info->dims[i], run->symbols);
    return tensor;
}
