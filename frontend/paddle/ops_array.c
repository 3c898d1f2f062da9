/*
 * Tensor arrays: a list of values while every place that is written is known, one tensor [length, ...] where the run
 * decides (control flow carries it, and appending to it is a concatenation, which needs no copy).
 */
#include <inttypes.h>
#include <string.h>

#include "core/ir/known.h"
#include "frontend/paddle/control.h"
#include "frontend/paddle/converters.h"

static const xpu_value none = {0};

int xpu_paddle_is_array(const xpu_paddle_importer *importer, uint32_t var) {
    return importer->program->vars.items[var].kind == XPU_PADDLE_ARRAY;
}

xpu_value xpu_paddle_zeros(const xpu_paddle_node *node, xpu_dtype dtype, const xpu_dim *dims, int rank) {
    enum { SMALL = 1 << 16 };
    xpu_tensor tensor = {.dtype = dtype, .rank = rank};
    int64_t count = 1;
    for (int i = 0; i < rank && count <= SMALL; i++) {
        int is_known = xpu_dim_is_const(&node->build.graph->dims, dims[i], &tensor.dims[i]) && tensor.dims[i] <= SMALL;
        count = is_known ? count * tensor.dims[i] : SMALL + 1;
    }
    if (count <= SMALL) {
        tensor.data = xpu_alloc(node->importer->scratch, (size_t)count * xpu_dtype_bytes(dtype) + 1);
        return xpu_graph_const_bytes(node->importer->graph, NULL, &tensor);
    }
    fe_builder inside = fe_inside(&node->build);
    inside.made = 4000;
    return fe_expand(&inside, xpu_paddle_single(node, dtype, 0), (fe_dims){dims, (size_t)rank});
}

static fe_builder inside_of(const xpu_paddle_node *node, uint32_t first) {
    fe_builder inside = fe_inside(&node->build);
    inside.made = first;
    return inside;
}

/* ---- as one tensor ---- */

static int same_shape(const xpu_paddle_node *node, xpu_value a, xpu_value b) {
    const xpu_value_info *first = xpu_paddle_info(node, a), *second = xpu_paddle_info(node, b);
    if (first->rank != second->rank || first->dtype != second->dtype) return 0;
    for (int d = 0; d < first->rank; d++) {
        if (!xpu_dim_same(&node->build.graph->dims, first->dims[d], second->dims[d])) return 0;
    }
    return 1;
}

static xpu_value differs(const xpu_paddle_node *node, const char *what) {
    return xpu_paddle_refuse(node, "the tensors of an array differ in shape or type", what);
}

/* With a new first dim. */
static xpu_value as_entry(const xpu_paddle_node *node, fe_builder *b, xpu_value value) {
    int64_t axis = 0;
    if (xpu_paddle_rank(node, value) < XPU_MAX_RANK) return fe_unsqueeze(b, value, (fe_ints){&axis, 1});
    return xpu_paddle_refuse(node, "the tensors of an array have too many dims",
                             xpu_paddle_format(node, "at most %d are supported", XPU_MAX_RANK - 1));
}

xpu_value xpu_paddle_stack_of(const xpu_paddle_node *node, uint32_t var) {
    xpu_paddle_binding *binding = &node->importer->bindings[var];
    if (binding->value.id || !binding->list.count) return binding->value;
    const xpu_paddle_values list = binding->list;
    xpu_value *entries = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, list.count);
    fe_builder b = inside_of(node, 5000 + var % 1000);
    for (uint32_t i = 0; i < list.count; i++) {
        if (!same_shape(node, list.items[0], list.items[i]))
            return differs(
                node, xpu_paddle_format(node, "%s and %s; they are used where only the run knows which one is meant",
                                        fe_shape_text(&b, list.items[0]), fe_shape_text(&b, list.items[i])));
        entries[i] = as_entry(node, &b, list.items[i]);
        if (!entries[i].id) return none;
    }
    xpu_value stack = fe_concat(&b, entries, list.count, 0);
    binding->value = stack;
    return stack;
}

/* ---- the place that is meant ---- */

typedef struct {
    xpu_value value; /* int64 of one element */
    xpu_dim dim;     /* {0}: only data say it */
    int64_t number;  /* where it is known; -1: it is not */
} place;

static int place_of(const xpu_paddle_node *node, const char *name, place *found) {
    xpu_dim list[XPU_MOST_KNOWN];
    *found = (place){.value = xpu_paddle_operand(node, name), .number = -1};
    if (!found->value.id) return 0;
    const xpu_value_info info = *xpu_paddle_info(node, found->value);
    if (xpu_value_as_dims(node->build.graph, found->value, list) == 1) found->dim = list[0];
    int64_t size = 1, dim;
    for (int d = 0; d < info.rank; d++)
        size = xpu_dim_is_const(&node->build.graph->dims, info.dims[d], &dim) ? size * dim : -1;
    if (size != 1 || (info.dtype != XPU_I64 && info.dtype != XPU_I32)) {
        xpu_paddle_refuse(node, "the index of an array is invalid",
                          xpu_paddle_format(node, "it is %s%s; an integer is expected", xpu_dtype_name(info.dtype),
                                            fe_shape_text(&node->build, found->value)));
        return 0;
    }
    if (!xpu_dim_is_const(&node->build.graph->dims, found->dim, &found->number)) return 1;
    if (found->number >= 0) return 1;
    xpu_paddle_refuse(node, "the index of an array is out of range",
                      xpu_paddle_format(node, "it is %" PRId64, found->number));
    return 0;
}

static uint32_t var_of(const xpu_paddle_node *node, const char *name, uint32_t index) {
    const xpu_paddle_op *op = node->op;
    const xpu_paddle_slot *slot = op->dialect[0] ? index < op->input_count ? &op->inputs[index] : NULL
                                                 : xpu_paddle_slot_of(op->inputs, op->input_count, name);
    return slot && slot->count == 1 ? slot->vars[0] : XPU_PADDLE_NO_VAR;
}

static xpu_value no_array(const xpu_paddle_node *node) {
    return fe_refuse(&node->build, FE_OPERAND, "the operand is no tensor array",
                     xpu_paddle_format(node, "%s is imported with one", node->op->type), NULL);
}

/* The array that the operator reads; NO_VAR after reporting. */
static uint32_t array_read(const xpu_paddle_node *node, const char *name) {
    uint32_t var = var_of(node, name, 0);
    if (var == XPU_PADDLE_NO_VAR || !xpu_paddle_is_array(node->importer, var)) {
        no_array(node);
        return XPU_PADDLE_NO_VAR;
    }
    return xpu_paddle_check_var(node, var) ? var : XPU_PADDLE_NO_VAR;
}

static int check_vars(const xpu_paddle_node *node) {
    int ok = 1;
    for (uint32_t i = 0; i < node->op->input_count; i++) {
        for (uint32_t k = 0; k < node->op->inputs[i].count; k++)
            ok &= xpu_paddle_check_var(node, node->op->inputs[i].vars[k]);
    }
    return ok;
}

/* ---- writing ---- */

static xpu_value failed_array(xpu_paddle_node *node, uint32_t var) {
    if (var != XPU_PADDLE_NO_VAR) xpu_paddle_bind(node->importer, var, none);
    node->is_bound = 1;
    return none;
}

static xpu_value bound(xpu_paddle_node *node, uint32_t var, xpu_paddle_binding binding) {
    binding.state = XPU_PADDLE_READY;
    node->importer->bindings[var] = binding;
    node->is_bound = 1;
    return binding.value;
}

/* A list with one more entry, or another one at a place. */
static xpu_value write_list(xpu_paddle_node *node, uint32_t var, xpu_value x, int64_t at) {
    const xpu_paddle_values before = node->importer->bindings[var].list;
    if (at > before.count) {
        xpu_paddle_refuse(node, "the array would have entries without a tensor",
                          xpu_paddle_format(node, "entry %" PRId64 " is written, and it has %u", at, before.count));
        return failed_array(node, var);
    }
    const uint32_t count = before.count + (at == before.count);
    xpu_value *items = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, count);
    for (uint32_t i = 0; i < before.count; i++) items[i] = before.items[i];
    items[at] = x;
    return bound(node, var, (xpu_paddle_binding){.list = {items, count}});
}

/* An index that data say, as a dim: the user may bound it. */
static xpu_dim symbol_of(const xpu_paddle_node *node, xpu_value value) {
    const char *name = xpu_paddle_info(node, value)->name;
    xpu_dim dim = xpu_dim_new_symbol(&node->build.graph->dims, name, 0, INT32_MAX - 1, value, 0, (xpu_dim){0});
    xpu_known known = {dim, 1};
    if (dim.id) xpu_value_set_known(node->build.graph, value, &known, 1);
    return dim;
}

/* The array is as long as the place needs. */
static xpu_value lengthened(const xpu_paddle_node *node, fe_builder *b, xpu_value stack, xpu_dim at) {
    xpu_dims *dims = &node->build.graph->dims;
    const xpu_value_info info = *xpu_paddle_info(node, stack);
    xpu_dim needed = xpu_dim_op(dims, XPU_DIM_MAX, info.dims[0], xpu_dim_add_const(dims, at, 1)), shape[XPU_MAX_RANK];
    if (xpu_dim_same(dims, needed, info.dims[0])) return stack;
    memcpy(shape, info.dims, sizeof shape);
    shape[0] = xpu_dim_add(dims, needed, xpu_dim_mul_const(dims, info.dims[0], -1));
    if (!needed.id || !shape[0].id)
        return xpu_paddle_refuse(node, "the length of the array is no expression that can be kept",
                                 fe_shape_text(b, stack));
    xpu_value parts[] = {stack, xpu_paddle_zeros(node, info.dtype, shape, info.rank)};
    return parts[1].id ? fe_concat(b, parts, 2, 0) : none;
}

static xpu_value write_stack(xpu_paddle_node *node, xpu_value stack, xpu_value x, const place *at) {
    xpu_dims *dims = &node->build.graph->dims;
    fe_builder b = inside_of(node, 1);
    const xpu_value_info info = *xpu_paddle_info(node, stack);
    xpu_value entry = as_entry(node, &b, x);
    if (!entry.id) return none;
    const xpu_value_info own = *xpu_paddle_info(node, entry);
    int fits = own.rank == info.rank && own.dtype == info.dtype;
    for (int d = 1; fits && d < info.rank; d++) fits = xpu_dim_same(dims, own.dims[d], info.dims[d]);
    if (!fits)
        return differs(node,
                       xpu_paddle_format(node, "%s%s is written to an array %s%s", xpu_dtype_name(own.dtype),
                                         fe_shape_text(&b, x), xpu_dtype_name(info.dtype), fe_shape_text(&b, stack)));
    if (at->dim.id && xpu_dim_same(dims, at->dim, info.dims[0])) {
        xpu_value parts[] = {stack, entry};
        return fe_concat(&node->build, parts, 2, 0);
    }
    stack = lengthened(node, &b, stack, at->dim.id ? at->dim : symbol_of(node, at->value));
    if (!stack.id) return none;
    xpu_dim shape[] = {xpu_dim_const(dims, 1), xpu_dim_const(dims, 1)};
    fe_scattering form = {.x = stack, .updates = entry, .kind = XA_PLACE};
    form.indices = fe_reshape_to(&b, fe_as(&b, at->value, XPU_I64), shape, 2, 0);
    return form.indices.id ? fe_scatter_nd(&node->build, &form) : none;
}

/* No tensors yet, of the type of x. */
static xpu_value empty_of(const xpu_paddle_node *node, xpu_value x) {
    const xpu_value_info info = *xpu_paddle_info(node, x);
    xpu_dim shape[XPU_MAX_RANK] = {xpu_dim_const(&node->build.graph->dims, 0)};
    if (info.rank == XPU_MAX_RANK) return none;
    memcpy(shape + 1, info.dims, (size_t)info.rank * sizeof *shape);
    return xpu_paddle_zeros(node, info.dtype, shape, info.rank + 1);
}

xpu_value xpu_paddle_convert_write_array(xpu_paddle_node *node) {
    uint32_t var = node->result_count ? node->result_vars[0] : XPU_PADDLE_NO_VAR;
    place at;
    if (var == XPU_PADDLE_NO_VAR || !xpu_paddle_is_array(node->importer, var)) return no_array(node);
    if (node->importer->bindings[var].state == XPU_PADDLE_PENDING) xpu_paddle_settle(node->importer, var);
    if (!check_vars(node) || node->importer->bindings[var].state == XPU_PADDLE_FAILED) return failed_array(node, var);
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || !place_of(node, "I", &at)) return x.id ? failed_array(node, var) : none;
    const xpu_paddle_binding before = node->importer->bindings[var];
    if (at.number >= 0 && (before.list.count || !before.value.id)) return write_list(node, var, x, at.number);
    xpu_value stack = xpu_paddle_stack_of(node, var);
    if (!stack.id && !before.list.count) stack = empty_of(node, x);
    if (stack.id) stack = write_stack(node, stack, x, &at);
    return stack.id ? bound(node, var, (xpu_paddle_binding){.value = stack}) : failed_array(node, var);
}

xpu_value xpu_paddle_convert_create_array(xpu_paddle_node *node) {
    uint32_t var = node->result_count ? node->result_vars[0] : XPU_PADDLE_NO_VAR;
    if (var == XPU_PADDLE_NO_VAR || !xpu_paddle_is_array(node->importer, var)) return no_array(node);
    return bound(node, var, (xpu_paddle_binding){.value = none});
}

/* ---- reading ---- */

xpu_value xpu_paddle_convert_read_array(xpu_paddle_node *node) {
    place at;
    if (!check_vars(node)) return none;
    uint32_t var = array_read(node, "X");
    if (var == XPU_PADDLE_NO_VAR || !place_of(node, "I", &at)) return none;
    const xpu_paddle_values list = node->importer->bindings[var].list;
    xpu_value stack = node->importer->bindings[var].value;
    if (at.number >= 0 && list.count && at.number < list.count) return fe_identity(&node->build, list.items[at.number]);
    if ((at.number >= 0 && list.count) || (!list.count && !stack.id))
        return xpu_paddle_refuse(node, "the index of an array is out of range",
                                 at.number < 0
                                     ? "it has no tensors"
                                     : xpu_paddle_format(node, "entry %" PRId64 " of %u", at.number, list.count));
    stack = xpu_paddle_stack_of(node, var);
    if (!stack.id) return none;
    fe_builder b = inside_of(node, 1);
    const xpu_value_info info = *xpu_paddle_info(node, stack);
    xpu_value one = at.dim.id ? fe_part(&b, stack, 0, at.dim, xpu_dim_const(&b.graph->dims, 1), 1, 0) : none;
    if (one.id) return fe_reshape_to(&node->build, one, info.dims + 1, info.rank - 1, 1);
    xpu_value index = at.dim.id ? none : fe_reshape_to(&b, at.value, NULL, 0, 0);
    return index.id ? fe_gather(&node->build, stack, index, 0) : none;
}

/* int64 [1]. */
xpu_value xpu_paddle_convert_array_length(xpu_paddle_node *node) {
    if (!check_vars(node)) return none;
    uint32_t var = array_read(node, "X");
    if (var == XPU_PADDLE_NO_VAR) return none;
    const xpu_paddle_binding *binding = &node->importer->bindings[var];
    xpu_dim length = xpu_dim_const(&node->build.graph->dims, binding->list.count);
    if (!binding->list.count && binding->value.id) length = xpu_paddle_info(node, binding->value)->dims[0];
    return fe_dim_values(&node->build, &length, 1, 1);
}

/* ---- as one tensor, for the program ---- */

/* The first dim moves to `axis`. */
static xpu_value moved(fe_builder *b, xpu_value x, int axis, int rank) {
    int64_t perm[XPU_MAX_RANK];
    for (int d = 0; d < rank; d++) perm[d] = d < axis ? d + 1 : d == axis ? 0 : d;
    return axis ? fe_transpose(b, x, (fe_ints){perm, (size_t)rank}) : fe_identity(b, x);
}

/* How long the parts are along the axis, int32. */
static xpu_value sizes_of(xpu_paddle_node *node, const xpu_paddle_values *list, xpu_value stack, int axis) {
    int named = 0;
    fe_builder own = fe_builder_of(&node->build, 1, &named), b = fe_inside(&own);
    if (list->count) {
        xpu_dim *sizes = XPU_NEW_ARRAY(node->importer->scratch, xpu_dim, list->count);
        for (uint32_t i = 0; i < list->count; i++) sizes[i] = xpu_paddle_info(node, list->items[i])->dims[axis];
        return fe_convert(&own, fe_dim_values(&b, sizes, list->count, 1), XPU_I32);
    }
    const xpu_value_info info = *xpu_paddle_info(node, stack);
    xpu_value size = fe_convert(&b, fe_dim_values(&b, &info.dims[axis + 1], 1, 0), XPU_I32);
    return size.id ? fe_expand(&own, size, (fe_dims){info.dims, 1}) : none;
}

xpu_value xpu_paddle_convert_array_to_tensor(xpu_paddle_node *node) {
    if (!check_vars(node)) return none;
    uint32_t var = array_read(node, "X");
    if (var == XPU_PADDLE_NO_VAR) return none;
    const xpu_paddle_values list = node->importer->bindings[var].list;
    xpu_value stack = node->importer->bindings[var].value;
    const int stacks = xpu_paddle_int(node, "use_stack", 0) != 0;
    if (!list.count && !stack.id)
        return xpu_paddle_refuse(node, "the array has no tensors", "nothing that is known is written to it");
    const int rank = list.count ? xpu_paddle_rank(node, list.items[0]) : xpu_paddle_rank(node, stack) - 1;
    int axis = fe_axis(&node->build, xpu_paddle_int(node, "axis", 0), rank + stacks);
    if (axis < 0) return none;
    for (uint32_t i = 0; i < list.count; i++) {
        if (xpu_paddle_rank(node, list.items[i]) != rank) return differs(node, "they have not the same number of dims");
    }
    int has_sizes = node->result_count > 1 && node->result_vars[1] != XPU_PADDLE_NO_VAR;
    if (has_sizes && (xpu_paddle_is_used(node, 1) || node->importer->is_output[node->result_vars[1]]))
        node->results[1] = sizes_of(node, &list, stack, axis < rank ? axis : 0);
    if (list.count && !stacks) return fe_concat(&node->build, list.items, list.count, axis);
    stack = xpu_paddle_stack_of(node, var);
    if (!stack.id) return none;
    if (stacks) return moved(&node->build, stack, axis, rank + 1);
    fe_builder b = inside_of(node, 1);
    const xpu_value_info info = *xpu_paddle_info(node, stack);
    xpu_dim shape[XPU_MAX_RANK];
    memcpy(shape, info.dims + 1, (size_t)rank * sizeof *shape);
    shape[axis] = fe_dim_product(&b, (xpu_dim[]){info.dims[0], info.dims[axis + 1]}, 0, 2);
    stack = axis ? moved(&b, stack, axis, rank + 1) : stack;
    return stack.id && shape[axis].id ? fe_reshape_to(&node->build, stack, shape, rank, 1) : none;
}

/* ---- copies ---- */

/* Of a tensor array, the array: its tensors do not change. */
xpu_value xpu_paddle_convert_assign(xpu_paddle_node *node) {
    uint32_t var = var_of(node, "X", 0), to = node->result_count ? node->result_vars[0] : XPU_PADDLE_NO_VAR;
    if (!check_vars(node)) return none;
    if (var == XPU_PADDLE_NO_VAR || !xpu_paddle_is_array(node->importer, var))
        return fe_identity(&node->build, xpu_paddle_operand(node, "X"));
    if (to == XPU_PADDLE_NO_VAR || !xpu_paddle_is_array(node->importer, to)) return no_array(node);
    return bound(node, to, node->importer->bindings[var]);
}
