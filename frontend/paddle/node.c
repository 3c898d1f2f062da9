#include <inttypes.h>
#include <string.h>

#include "base/compare.h"
#include "core/ir/known.h"
#include "frontend/build/found.h"
#include "frontend/paddle/importer.h"

const char *xpu_paddle_format(const xpu_paddle_node *node, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = xpu_vprintf(node->importer->scratch, format, args);
    va_end(args);
    return text;
}

xpu_value xpu_paddle_refuse(const xpu_paddle_node *node, const char *what, const char *why) {
    return fe_refuse(&node->build, FE_FORM, what, why, NULL);
}

/* The place of `name` in "X,Y,Z"; -1: it is none of them. */
static int place_of(const char *list, const char *name) {
    size_t length = strlen(name);
    int place = 0;
    for (const char *at = list; at; place++) {
        const char *end = strchr(at, ',');
        size_t own = end ? (size_t)(end - at) : strlen(at);
        if (own > 0 && at[own - 1] == '*') own--;
        if (own == length && strncmp(at, name, length) == 0) return place;
        at = end ? end + 1 : NULL;
    }
    return -1;
}

/* ---- attributes ---- */

/* What PIR calls the attribute. */
static const char *renamed(const xpu_paddle_node *node, const char *name) {
    size_t length = strlen(name);
    for (const char *at = node->row->renames; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *other = at + length + 1;
        if (strncmp(at, name, length) != 0 || at[length] != '=') continue;
        return xpu_strndup(node->importer->scratch, other, strcspn(other, ","));
    }
    return name;
}

const xpu_paddle_attr *xpu_paddle_find_attr(const xpu_paddle_node *node, const char *name) {
    const xpu_paddle_attr *attr = xpu_paddle_attr_of(node->op, renamed(node, name));
    return attr && attr->kind != XPU_PADDLE_NOTHING ? attr : NULL;
}

int64_t xpu_paddle_int(const xpu_paddle_node *node, const char *name, int64_t fallback) {
    const xpu_paddle_attr *attr = xpu_paddle_find_attr(node, name);
    if (!attr) return fallback;
    if (attr->kind == XPU_PADDLE_INT) return attr->integer;
    if (attr->kind == XPU_PADDLE_INTS && attr->count == 1) return attr->integers[0];
    if (attr->kind != XPU_PADDLE_FLOAT || !(attr->number >= -0x1p62 && attr->number <= 0x1p62)) return fallback;
    return (int64_t)attr->number;
}

float xpu_paddle_float(const xpu_paddle_node *node, const char *name, float fallback) {
    const xpu_paddle_attr *attr = xpu_paddle_find_attr(node, name);
    if (!attr) return fallback;
    return attr->kind == XPU_PADDLE_FLOAT ? (float)attr->number : (float)xpu_paddle_int(node, name, 0);
}

const char *xpu_paddle_text(const xpu_paddle_node *node, const char *name, const char *fallback) {
    const xpu_paddle_attr *attr = xpu_paddle_find_attr(node, name);
    return attr && attr->kind == XPU_PADDLE_STRING ? attr->text : fallback;
}

fe_ints xpu_paddle_ints(const xpu_paddle_node *node, const char *name) {
    const xpu_paddle_attr *attr = xpu_paddle_find_attr(node, name);
    if (attr && attr->kind == XPU_PADDLE_INTS) return (fe_ints){attr->integers, attr->count};
    if (attr && attr->kind == XPU_PADDLE_INT) return (fe_ints){&attr->integer, 1};
    return (fe_ints){NULL, 0};
}

const float *xpu_paddle_floats(const xpu_paddle_node *node, const char *name, size_t *count) {
    const xpu_paddle_attr *attr = xpu_paddle_find_attr(node, name);
    *count = attr && attr->kind == XPU_PADDLE_FLOATS ? attr->count : attr && attr->kind == XPU_PADDLE_FLOAT ? 1 : 0;
    float *list = XPU_NEW_ARRAY(node->importer->scratch, float, *count + 1);
    for (size_t i = 0; i < *count; i++)
        list[i] = (float)(attr->kind == XPU_PADDLE_FLOAT ? attr->number : attr->numbers[i]);
    return list;
}

xpu_dtype xpu_paddle_type(const xpu_paddle_node *node, const char *name, xpu_dtype fallback) {
    int64_t code = xpu_paddle_int(node, name, -1);
    if (code < 0) return fallback;
    xpu_dtype dtype = xpu_paddle_dtype(code);
    if (dtype != XPU_DTYPE_NONE) return dtype;
    xpu_paddle_refuse(
        node, "the element type is not supported",
        xpu_paddle_format(node, "attribute '%s' is %s (%" PRId64 ")", name, xpu_paddle_type_name(code), code));
    return XPU_DTYPE_NONE;
}

/* ---- operands ---- */

const xpu_paddle_slot *xpu_paddle_operand_slot(const xpu_paddle_node *node, const char *name) {
    const xpu_paddle_op *op = node->op;
    if (node->row->dialect == XPU_PADDLE_DESC) return xpu_paddle_slot_of(op->inputs, op->input_count, name);
    int place = place_of(node->row->inputs, name);
    return place >= 0 && place < (int)op->input_count ? &op->inputs[place] : NULL;
}

/* Values of variables, lists among them taken apart. */
static xpu_paddle_values values_of(const xpu_paddle_node *node, const uint32_t *vars, size_t count) {
    XPU_ARRAY(xpu_value) values = {0};
    for (size_t i = 0; i < count; i++) {
        if (vars[i] == XPU_PADDLE_NO_VAR) continue;
        const xpu_paddle_binding *binding = &node->importer->bindings[vars[i]];
        if (binding->state != XPU_PADDLE_READY) continue;
        if (binding->value.id) XPU_PUSH(node->importer->scratch, &values, binding->value);
        for (uint32_t k = 0; k < binding->list.count; k++)
            XPU_PUSH(node->importer->scratch, &values, binding->list.items[k]);
    }
    return (xpu_paddle_values){values.items, values.count};
}

xpu_paddle_values xpu_paddle_operands(const xpu_paddle_node *node, const char *name) {
    const xpu_paddle_slot *slot = xpu_paddle_operand_slot(node, name);
    return slot ? values_of(node, slot->vars, slot->count) : (xpu_paddle_values){NULL, 0};
}

xpu_value xpu_paddle_operand(const xpu_paddle_node *node, const char *name) {
    xpu_paddle_values all = xpu_paddle_operands(node, name);
    xpu_value value = all.count ? all.items[0] : (xpu_value){0};
    if (!value.id || !node->row->computes_float32) return value;
    xpu_dtype dtype = xpu_paddle_info(node, value)->dtype;
    if (dtype != XPU_F16 && dtype != XPU_BF16) return value;
    fe_builder inside = fe_inside(&node->build);
    inside.made = 1000 + value.id;
    return fe_as(&inside, value, XPU_F32);
}

const xpu_value_info *xpu_paddle_info(const xpu_paddle_node *node, xpu_value value) {
    return xpu_value_at(node->importer->graph, value);
}

int xpu_paddle_rank(const xpu_paddle_node *node, xpu_value value) {
    return value.id ? xpu_paddle_info(node, value)->rank : 0;
}

static int uses(const xpu_paddle_op *op, uint32_t var) {
    for (uint32_t i = 0; i < op->input_count; i++) {
        for (uint32_t k = 0; k < op->inputs[i].count; k++) {
            if (op->inputs[i].vars[k] == var) return 1;
        }
    }
    return 0;
}

/* `outputs` 1: what the program gives counts, too. */
static int is_used(const xpu_paddle_node *node, uint32_t index, int outputs) {
    if (index >= node->result_count || node->result_vars[index] == XPU_PADDLE_NO_VAR) return 0;
    const xpu_paddle_program *program = node->importer->program;
    for (uint32_t b = 0; b < program->blocks.count; b++) {
        for (uint32_t i = 0; i < program->blocks.items[b].op_count; i++) {
            const xpu_paddle_op *op = &program->blocks.items[b].ops[i];
            if ((outputs || !xpu_paddle_is_output(op)) && uses(op, node->result_vars[index])) return 1;
        }
    }
    return 0;
}

int xpu_paddle_is_used(const xpu_paddle_node *node, uint32_t index) {
    return is_used(node, index, 1);
}

int xpu_paddle_is_read(const xpu_paddle_node *node, uint32_t index) {
    return is_used(node, index, 0);
}

/* ---- lists of numbers ---- */

/* Of a constant of integers, which may have more than XPU_MOST_KNOWN; 0: it is none, or after reporting. */
static int constants_of(const xpu_paddle_node *node, xpu_value value, fe_dims *list) {
    const xpu_paddle_importer *importer = node->importer;
    const xpu_value_info *info = xpu_paddle_info(node, value);
    xpu_tensor tensor;
    if (!info->constant || (info->dtype != XPU_I32 && info->dtype != XPU_I64)) return 0;
    if (xpu_const_tensor(importer->graph, value, importer->scratch, &tensor, importer->diags) != XPU_OK) return 0;
    const int64_t count = xpu_tensor_count(&tensor);
    xpu_dim *entries = XPU_NEW_ARRAY(importer->scratch, xpu_dim, count + 1);
    for (int64_t i = 0; i < count; i++)
        entries[i] = xpu_dim_const(&importer->graph->dims, xpu_paddle_whole(xpu_element(&tensor, i)));
    *list = (fe_dims){entries, (size_t)count};
    return 1;
}

/* Entries of a tensor as dims; 0 after reporting. */
static int entries_of(const xpu_paddle_node *node, xpu_value value, fe_dims *list) {
    xpu_graph *graph = node->importer->graph;
    xpu_dim dims[XPU_MOST_KNOWN];
    const int count = xpu_value_as_dims(graph, value, dims);
    if (count >= 0) {
        xpu_dim *entries = XPU_NEW_ARRAY(node->importer->scratch, xpu_dim, count + 1);
        for (int i = 0; i < count; i++) entries[i] = dims[i];
        *list = (fe_dims){entries, (size_t)count};
        return 1;
    }
    const size_t errors = node->importer->diags->errors;
    if (constants_of(node, value, list)) return 1;
    if (node->importer->diags->errors > errors) return 0;
    const char *name = xpu_escape(node->importer->scratch, xpu_paddle_info(node, value)->name, 100);
    if (fe_found_count(graph, value))
        xpu_error(node->importer->diags, XPU_EMODEL, graph->file, "paddle-bound", node->build.where,
                  xpu_paddle_format(node, "operand '%s' sizes the result, and only the run knows it", name),
                  "memory is planned before the run, for the largest size",
                  xpu_paddle_format(node, "say how large it may be: --bound=%s=N", name));
    else
        xpu_paddle_refuse(node, xpu_paddle_format(node, "operand '%s' is computed from data", name),
                          xpu_paddle_format(node, "%s needs it as numbers that shapes decide", node->op->type));
    return 0;
}

/* All of them, one behind the other; `places`: where those that only the run knows may be limited, or NULL. */
static int add_entries(const xpu_paddle_node *node, xpu_paddle_values values, fe_builder *places, fe_dims *list) {
    XPU_ARRAY(xpu_dim) all = {0};
    for (uint32_t i = 0; i < values.count; i++) {
        fe_dims part;
        int found = places ? fe_found_places(places, values.items[i], &part) : -1;
        if (found < 0) found = entries_of(node, values.items[i], &part);
        if (!found) return 0;
        for (size_t k = 0; k < part.count; k++) XPU_PUSH(node->importer->scratch, &all, part.items[k]);
    }
    XPU_PUSH(node->importer->scratch, &all, (xpu_dim){0});
    *list = (fe_dims){all.items, all.count - 1};
    return 1;
}

static int read_list(const xpu_paddle_node *node, const char *attr, const char *whole, const char *parts,
                     fe_builder *places, fe_dims *list) {
    const xpu_paddle_attr *found = attr ? xpu_paddle_find_attr(node, attr) : NULL;
    xpu_paddle_values values = {NULL, 0};
    *list = (fe_dims){NULL, 0};
    if (parts) values = xpu_paddle_operands(node, parts);
    if (!values.count && whole) values = xpu_paddle_operands(node, whole);
    if (!values.count && found && found->kind == XPU_PADDLE_VARS) values = values_of(node, found->vars, found->count);
    if (values.count) return add_entries(node, values, places, list);
    if (found) *list = fe_dims_of(&node->build, xpu_paddle_ints(node, attr));
    return 1;
}

int xpu_paddle_dims(const xpu_paddle_node *node, const char *attr, const char *whole, const char *parts,
                    fe_dims *list) {
    return read_list(node, attr, whole, parts, NULL, list);
}

int xpu_paddle_bounds(xpu_paddle_node *node, const char *attr, const char *whole, const char *parts, fe_dims *list) {
    return read_list(node, attr, whole, parts, &node->build, list);
}

int xpu_paddle_numbers(const xpu_paddle_node *node, const char *attr, const char *whole, const char *parts,
                       fe_ints *list) {
    fe_dims dims;
    *list = (fe_ints){NULL, 0};
    if (!xpu_paddle_dims(node, attr, whole, parts, &dims)) return 0;
    if (!dims.items) return 1;
    int64_t *numbers = XPU_NEW_ARRAY(node->importer->scratch, int64_t, dims.count + 1);
    for (size_t i = 0; i < dims.count; i++) {
        if (xpu_dim_is_const(&node->importer->graph->dims, dims.items[i], &numbers[i])) continue;
        const char *size = xpu_dim_text(&node->importer->graph->dims, dims.items[i], node->importer->scratch);
        xpu_paddle_refuse(node, xpu_paddle_format(node, "entry %zu of '%s' is computed", i, attr ? attr : whole),
                          xpu_paddle_format(node, "it is %s, and %s needs a number", size, node->op->type));
        return 0;
    }
    *list = (fe_ints){numbers, dims.count};
    return 1;
}

int xpu_paddle_number(const xpu_paddle_node *node, const char *attr, const char *whole, double *value) {
    xpu_value operand = whole ? xpu_paddle_operand(node, whole) : (xpu_value){0};
    const xpu_paddle_attr *found = attr ? xpu_paddle_find_attr(node, attr) : NULL;
    if (!operand.id && found && found->kind == XPU_PADDLE_VARS && found->count == 1) {
        xpu_paddle_values values = values_of(node, found->vars, 1);
        if (values.count) operand = values.items[0];
    }
    if (!operand.id) {
        if (found) *value = found->kind == XPU_PADDLE_FLOAT ? found->number : (double)xpu_paddle_int(node, attr, 0);
        return 1;
    }
    xpu_tensor tensor;
    const xpu_paddle_importer *importer = node->importer;
    if (!xpu_paddle_info(node, operand)->constant) {
        xpu_paddle_refuse(node, xpu_paddle_format(node, "operand '%s' is computed", whole ? whole : attr),
                          xpu_paddle_format(node, "%s needs it as a constant", node->op->type));
        return 0;
    }
    if (xpu_const_tensor(importer->graph, operand, importer->scratch, &tensor, importer->diags) != XPU_OK) return 0;
    if (xpu_tensor_count(&tensor) != 1) {
        xpu_paddle_refuse(node, xpu_paddle_format(node, "operand '%s' is invalid", whole ? whole : attr),
                          xpu_paddle_format(node, "it has %" PRId64 " elements, not one", xpu_tensor_count(&tensor)));
        return 0;
    }
    *value = xpu_element(&tensor, 0);
    return 1;
}

int64_t xpu_paddle_whole(double value) {
    return value >= 0x1p40 ? (int64_t)1 << 40 : value > -0x1p40 ? (int64_t)value : -((int64_t)1 << 40);
}

const char *xpu_paddle_constant_name(const xpu_paddle_node *node) {
    const char *name = node->build.names[0];
    uint32_t var = node->result_count ? node->result_vars[0] : XPU_PADDLE_NO_VAR;
    int is_output = var != XPU_PADDLE_NO_VAR && node->importer->is_output[var];
    return is_output ? xpu_paddle_format(node, "%s/value", name) : name;
}

int xpu_paddle_is_before(const xpu_paddle_node *node, int64_t version) {
    const xpu_paddle_program *program = node->importer->program;
    return program->dialect == XPU_PADDLE_DESC && program->version < version;
}
