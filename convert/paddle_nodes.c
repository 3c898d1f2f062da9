/* Operators, attributes and variables of a PaddlePaddle program that is being made. */
#include <string.h>

#include "convert/paddle_writer.h"
#include "frontend/paddle/program.h"

/* ---- operators ---- */

pw_op *pw_add(pw *w, const char *type) {
    pw_op *op = XPU_NEW(w->arena, pw_op);
    op->type = type;
    XPU_PUSH(w->arena, &w->ops, op);
    return op;
}

void pw_in(pw *w, pw_op *op, const char *slot, const char *var) {
    pw_slot *last = op->inputs.count ? &op->inputs.items[op->inputs.count - 1] : NULL;
    if (!last || strcmp(last->name, slot) != 0) {
        pw_slot made = {.name = slot};
        XPU_PUSH(w->arena, &op->inputs, made);
        last = &op->inputs.items[op->inputs.count - 1];
    }
    XPU_PUSH(w->arena, &last->vars, var);
}

void pw_out(pw *w, pw_op *op, const char *slot, const char *var) {
    pw_slot made = {.name = slot};
    XPU_PUSH(w->arena, &made.vars, var);
    XPU_PUSH(w->arena, &op->outputs, made);
}

void pw_outs(pw *w, pw_op *op, const char *slot, const char *const *vars, uint32_t count) {
    pw_slot made = {.name = slot};
    for (uint32_t i = 0; i < count; i++) XPU_PUSH(w->arena, &made.vars, vars[i]);
    XPU_PUSH(w->arena, &op->outputs, made);
}

static void add(pw *w, pw_op *op, pw_attr attr) {
    XPU_PUSH(w->arena, &op->attrs, attr);
}

void pw_int(pw *w, pw_op *op, const char *name, int64_t value) {
    add(w, op, (pw_attr){.name = name, .type = PW_INT, .i = value});
}
void pw_bool(pw *w, pw_op *op, const char *name, int value) {
    add(w, op, (pw_attr){.name = name, .type = PW_BOOL, .i = value != 0});
}
void pw_block(pw *w, pw_op *op, const char *name, const pw_body *body) {
    add(w, op, (pw_attr){.name = name, .type = PW_BLOCK, .body = body});
}
void pw_float(pw *w, pw_op *op, const char *name, float value) {
    add(w, op, (pw_attr){.name = name, .type = PW_FLOAT, .f = value});
}
void pw_string(pw *w, pw_op *op, const char *name, const char *value) {
    add(w, op, (pw_attr){.name = name, .type = PW_STRING, .s = xpu_strdup(w->arena, value)});
}
void pw_ints(pw *w, pw_op *op, const char *name, const int64_t *values, uint32_t count) {
    const int64_t *copy = count ? xpu_copy(w->arena, values, count * sizeof *values) : NULL;
    add(w, op, (pw_attr){.name = name, .type = PW_INTS, .ints = copy, .count = count});
}
void pw_longs(pw *w, pw_op *op, const char *name, const int64_t *values, uint32_t count) {
    const int64_t *copy = count ? xpu_copy(w->arena, values, count * sizeof *values) : NULL;
    add(w, op, (pw_attr){.name = name, .type = PW_LONGS, .ints = copy, .count = count});
}
void pw_floats(pw *w, pw_op *op, const char *name, const float *values, uint32_t count) {
    const float *copy = count ? xpu_copy(w->arena, values, count * sizeof *values) : NULL;
    add(w, op, (pw_attr){.name = name, .type = PW_FLOATS, .floats = copy, .count = count});
}

/* ---- types ---- */

int pw_code(xpu_dtype dtype) {
    return xpu_paddle_code_of_dtype(dtype);
}

xpu_dtype pw_held(xpu_dtype dtype) {
    return pw_code(dtype) < 0 ? XPU_I64 : dtype;
}

int pw_is_small(xpu_dtype dtype) {
    return dtype == XPU_I8 || dtype == XPU_U8 || dtype == XPU_I16 || dtype == XPU_BOOL;
}

pw_type pw_type_of(pw *w, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(w->graph, value);
    pw_type type = {.dtype = pw_held(info->dtype), .rank = info->rank};
    if (w->lifts && pw_is_small(type.dtype)) type.dtype = XPU_I32;
    if (w->as_float32 && (pw_is_small(type.dtype) || value.id == xpu_node_output(w->graph, w->node, 0).id))
        type.dtype = XPU_F32;
    memcpy(type.dims, info->dims, sizeof type.dims);
    return type;
}

pw_type pw_scalar_list(pw *w, xpu_dtype dtype, int64_t count) {
    return (pw_type){.dtype = dtype, .rank = 1, .dims = {xpu_dim_const(&w->graph->dims, count)}};
}

pw_type pw_as(pw_type type, xpu_dtype dtype) {
    type.dtype = dtype;
    return type;
}

int pw_const_dims(pw *w, const pw_type *type, int64_t *dims) {
    for (int i = 0; i < type->rank; i++) {
        if (!xpu_dim_is_const(&w->graph->dims, type->dims[i], &dims[i])) return 0;
    }
    return 1;
}

/* ---- variables ---- */

static const char *declare(pw *w, const char *name, const pw_type *type) {
    const char *valid = xpu_is_utf8(name) && name[0] ? name : xpu_escape(w->arena, name[0] ? name : "value", 400);
    const char *tried = valid;
    for (uint32_t i = 1; xpu_name_find(&w->names, tried); i++) tried = xpu_printf(w->arena, "%s_%u", valid, i);
    pw_var var = {.name = xpu_strdup(w->arena, tried), .dtype = type->dtype, .rank = type->rank};
    for (int i = 0; i < type->rank; i++) {
        if (!xpu_dim_is_const(&w->graph->dims, type->dims[i], &var.dims[i])) var.dims[i] = PW_OPEN;
    }
    xpu_name_add(&w->names, var.name, w->vars.count);
    XPU_PUSH(w->arena, &w->vars, var);
    return var.name;
}

const char *pw_name(pw *w, xpu_value value) {
    while (w->values.count <= value.id) XPU_PUSH(w->arena, &w->values, NULL);
    if (w->values.items[value.id]) return w->values.items[value.id];
    const xpu_value_info *info = xpu_value_at(w->graph, value);
    const pw_type type = pw_type_of(w, value);
    const char *name = declare(w, info->name, &type);
    pw_var *var = &w->vars.items[w->vars.count - 1];
    var->is_input = info->kind == XPU_VALUE_INPUT;
    if (info->kind == XPU_VALUE_CONST) {
        var->constant = value;
        var->is_parameter = 1;
    }
    w->values.items[value.id] = name;
    return name;
}

const char *pw_operand(pw *w, uint32_t i) {
    const xpu_value value = xpu_node_input(w->graph, w->node, i);
    return value.id ? pw_name(w, value) : NULL;
}
const char *pw_result(pw *w, uint32_t i) {
    return pw_name(w, xpu_node_output(w->graph, w->node, i));
}
pw_type pw_operand_type(pw *w, uint32_t i) {
    return pw_type_of(w, xpu_node_input(w->graph, w->node, i));
}
pw_type pw_result_type(pw *w, uint32_t i) {
    return pw_type_of(w, xpu_node_output(w->graph, w->node, i));
}

const char *pw_new(pw *w, const char *word, const pw_type *type) {
    return declare(w, w->node.id ? xpu_printf(w->arena, "%s/%s", pw_result(w, 0), word) : word, type);
}

const char *pw_parameter(pw *w, const char *word, const xpu_tensor *tensor) {
    pw_type type = {.dtype = tensor->dtype, .rank = tensor->rank};
    for (int i = 0; i < tensor->rank; i++) type.dims[i] = xpu_dim_const(&w->graph->dims, tensor->dims[i]);
    const char *name = pw_new(w, word, &type);
    pw_var *var = &w->vars.items[w->vars.count - 1];
    var->is_parameter = 1;
    var->tensor = *tensor;
    var->tensor.data = xpu_copy(w->arena, tensor->data ? tensor->data : "", xpu_tensor_bytes(tensor));
    return name;
}

/* ---- usual operators ---- */

const char *pw_make(pw *w, pw_op **made, const char *result, const char *type, const pw_type *gives, const char *x,
                    const char *y) {
    pw_op *op = XPU_NEW(w->arena, pw_op);
    op->type = type;
    if (x) pw_in(w, op, "X", x);
    if (y) pw_in(w, op, "Y", y);
    if (!result) result = pw_new(w, type, gives);
    pw_out(w, op, "Out", result);
    XPU_PUSH(w->arena, &w->ops, op);
    if (made) *made = op;
    return result;
}

pw_op *pw_unary(pw *w, const char *type) {
    pw_op *op;
    pw_make(w, &op, pw_result(w, 0), type, NULL, pw_operand(w, 0), NULL);
    return op;
}

const char *pw_binary(pw *w, const char *result, const char *type, const pw_type *gives, const char *x, const char *y) {
    pw_op *op;
    result = pw_make(w, &op, result, type, gives, x, y);
    if (strncmp(type, "logical", 7) != 0 && strncmp(type, "bitwise", 7) != 0) pw_int(w, op, "axis", -1);
    return result;
}

const char *pw_cast(pw *w, const char *result, const char *x, const pw_type *from, xpu_dtype dtype) {
    pw_op *op;
    const pw_type to = pw_as(*from, dtype);
    result = pw_make(w, &op, result, "cast", &to, x, NULL);
    pw_int(w, op, "in_dtype", pw_code(from->dtype));
    pw_int(w, op, "out_dtype", pw_code(dtype));
    return result;
}

void pw_reduction(pw *w, pw_op *op, const pw_type *gives, int64_t axis, int keeps) {
    const int code = gives->dtype == XPU_I32 ? pw_code(XPU_I32) : -1;
    pw_ints(w, op, "dim", &axis, 1);
    pw_bool(w, op, "keep_dim", keeps);
    pw_bool(w, op, "reduce_all", 0);
    if (strcmp(op->type, "reduce_sum") != 0) return;
    pw_int(w, op, "in_dtype", code);
    pw_int(w, op, "out_dtype", code);
}

const char *pw_scale(pw *w, const char *result, const char *x, const pw_type *gives, float factor, float bias) {
    pw_op *op;
    result = pw_make(w, &op, result, "scale", gives, x, NULL);
    pw_float(w, op, "scale", factor);
    pw_float(w, op, "bias", bias);
    pw_bool(w, op, "bias_after_scale", 1);
    return result;
}

static const char *number(pw *w, xpu_dtype dtype, double value, int rank) {
    unsigned char element[XPU_ELEMENT_BYTES] = {0};
    const int64_t whole = (int64_t)value;
    if (dtype == XPU_I64 || dtype == XPU_I32)
        memcpy(element, &whole, sizeof whole);
    else
        xpu_dtype_element(dtype, (float)value, element);
    return pw_parameter(w, "number", &(xpu_tensor){.dtype = dtype, .rank = rank, .dims = {1}, .data = element});
}

const char *pw_number(pw *w, xpu_dtype dtype, double value) {
    return number(w, dtype, value, 1);
}

const char *pw_scalar(pw *w, xpu_dtype dtype, double value) {
    return number(w, dtype, value, 0);
}

static xpu_refusing refusing(const pw *w) {
    return (xpu_refusing){w->graph, w->node, w->arena, w->diags, "PaddlePaddle"};
}

void pw_refuse(pw *w, xpu_refused id) {
    const xpu_refusing at = refusing(w);
    xpu_refuse(&at, xpu_refused_row_of(id)->why, xpu_refused_row_of(id)->hint);
}

void pw_refuse_size(pw *w, const char *name) {
    const xpu_refusing at = refusing(w);
    xpu_refuse_size(&at, name);
}
