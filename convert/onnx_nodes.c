/* Nodes, attributes, names and small constants of an ONNX model that is being made. */
#include <string.h>

#include "convert/onnx_writer.h"

/* ---- growing lists of protobuf-c ---- */

/* Room for one more pointer; lists of messages are short, and double. */
static void *one_more(ow *w, void *list, size_t count) {
    if (count & (count - 1)) return list;
    void **bigger = XPU_NEW_ARRAY(w->arena, void *, count ? 2 * count : 1);
    if (count) memcpy(bigger, list, count * sizeof *bigger);
    return bigger;
}

static char *text(ow *w, const char *name) {
    return xpu_strdup(w->arena, name);
}

void ow_input(ow *w, ow_node *node, const char *name) {
    node->input = one_more(w, node->input, node->n_input);
    node->input[node->n_input++] = text(w, name);
}

void ow_result(ow *w, ow_node *node, const char *name) {
    node->output = one_more(w, node->output, node->n_output);
    node->output[node->n_output++] = text(w, name);
}

/* ---- attributes ---- */

static XpuOnnx__AttributeProto *attribute(ow *w, ow_node *node, const char *name,
                                          XpuOnnx__AttributeProto__AttributeType type) {
    XpuOnnx__AttributeProto *made = XPU_NEW(w->arena, XpuOnnx__AttributeProto);
    xpu_onnx__attribute_proto__init(made);
    made->name = text(w, name);
    made->has_type = 1;
    made->type = type;
    node->attribute = one_more(w, node->attribute, node->n_attribute);
    node->attribute[node->n_attribute++] = made;
    return made;
}

void ow_int(ow *w, ow_node *node, const char *name, int64_t value) {
    XpuOnnx__AttributeProto *made = attribute(w, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    made->has_i = 1;
    made->i = value;
}

void ow_float(ow *w, ow_node *node, const char *name, float value) {
    XpuOnnx__AttributeProto *made = attribute(w, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    made->has_f = 1;
    made->f = value;
}

void ow_string(ow *w, ow_node *node, const char *name, const char *value) {
    XpuOnnx__AttributeProto *made = attribute(w, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    made->has_s = 1;
    made->s.data = (uint8_t *)text(w, value);
    made->s.len = strlen(value);
}

void ow_ints(ow *w, ow_node *node, const char *name, const int64_t *values, size_t count) {
    XpuOnnx__AttributeProto *made = attribute(w, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    made->ints = xpu_copy(w->arena, values, count * sizeof *values);
    made->n_ints = count;
}

void ow_body(ow *w, ow_node *node, const char *name, ow_graph *body) {
    attribute(w, node, name, XPU_ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH)->g = body;
}

/* ---- names ---- */

static const char *unique(ow *w, const char *name) {
    const char *valid = xpu_is_utf8(name) ? name : xpu_escape(w->arena, name, 400), *tried = valid;
    for (uint32_t i = 1; xpu_name_find(&w->names, tried); i++) tried = xpu_printf(w->arena, "%s_%u", valid, i);
    tried = xpu_strdup(w->arena, tried);
    xpu_name_add(&w->names, tried, 1);
    return tried;
}

const char *ow_new_name(ow *w, const char *word) {
    const xpu_value result = w->node.id ? xpu_node_output(w->graph, w->node, 0) : (xpu_value){0};
    return unique(w, result.id ? xpu_printf(w->arena, "%s/%s", ow_name(w, result), word) : word);
}

/* The count of iterations becomes one more value that the Loop carries. */
static void add_count(ow *w, ow_loop *loop, const char *name) {
    const int64_t zero = 0;
    const char *iteration = loop->body->input[0]->name, *next = unique(w, xpu_printf(w->arena, "%s/next", name));
    ow_node *node = loop->node;
    ow_graph *body = loop->body;
    const size_t at = loop->carried;
    xpu_tensor scalar = {.dtype = XPU_I64, .data = (void *)&zero};
    ow_input(w, node, ow_tensor(w, "count", &scalar));
    ow_result(w, node, name);
    memmove(node->output + at + 1, node->output + at, (node->n_output - 1 - at) * sizeof *node->output);
    node->output[at] = text(w, name);
    /* in the body: next = iteration + 1, of rank 0 */
    ow_nodes *around = w->nodes, added = {0};
    w->nodes = &added;
    const int64_t one = 1;
    xpu_tensor step = {.dtype = XPU_I64, .data = (void *)&one};
    const char *rank0 = ow_binary(w, NULL, "Reshape", iteration, ow_list(w, "rank0", NULL, 0));
    ow_binary(w, next, "Add", rank0, ow_tensor(w, "one", &step));
    w->nodes = around;
    for (uint32_t i = 0; i < added.count; i++) {
        body->node = one_more(w, body->node, body->n_node);
        body->node[body->n_node++] = added.items[i];
    }
    XpuOnnx__ValueInfoProto *before = ow_value_info(w, loop->count, unique(w, xpu_printf(w->arena, "%s/before", name)));
    XpuOnnx__ValueInfoProto *after = ow_value_info(w, loop->count, next);
    body->input = one_more(w, body->input, body->n_input);
    body->input[body->n_input++] = before;
    body->output = one_more(w, body->output, body->n_output);
    memmove(body->output + at + 2, body->output + at + 1, (body->n_output - at - 1) * sizeof *body->output);
    body->output[at + 1] = after;
    body->n_output++;
}

static void ask_for_count(ow *w, xpu_value value, const char *name) {
    for (uint32_t i = 0; i < w->loops.count; i++) {
        if (w->loops.items[i].count.id != value.id) continue;
        add_count(w, &w->loops.items[i], name);
        return;
    }
}

const char *ow_name(ow *w, xpu_value value) {
    if (!value.id) return "";
    while (w->values.count <= value.id) XPU_PUSH(w->arena, &w->values, NULL);
    if (w->values.items[value.id]) return w->values.items[value.id];
    const xpu_value_info *info = xpu_value_at(w->graph, value);
    const char *name = unique(w, info->name);
    w->values.items[value.id] = name;
    if (info->kind == XPU_VALUE_CONST) {
        ow_constant constant = {.name = name, .value = value};
        XPU_PUSH(w->arena, &w->constants, constant);
    }
    ask_for_count(w, value, name);
    return name;
}

const char *ow_in(ow *w, uint32_t i) {
    return ow_name(w, xpu_node_input(w->graph, w->node, i));
}

const char *ow_out(ow *w, uint32_t i) {
    return ow_name(w, xpu_node_output(w->graph, w->node, i));
}

const xpu_value_info *ow_info_in(ow *w, uint32_t i) {
    return xpu_value_at(w->graph, xpu_node_input(w->graph, w->node, i));
}

const xpu_value_info *ow_info_out(ow *w, uint32_t i) {
    return xpu_value_at(w->graph, xpu_node_output(w->graph, w->node, i));
}

/* ---- small constants ---- */

const char *ow_tensor(ow *w, const char *word, const xpu_tensor *tensor) {
    ow_constant constant = {.name = ow_new_name(w, word), .tensor = *tensor};
    constant.tensor.data = xpu_copy(w->arena, tensor->data ? tensor->data : "", xpu_tensor_bytes(tensor));
    XPU_PUSH(w->arena, &w->constants, constant);
    return constant.name;
}

const char *ow_list(ow *w, const char *word, const int64_t *values, int64_t count) {
    xpu_tensor tensor = {.dtype = XPU_I64, .rank = 1, .dims = {count}, .data = (void *)values};
    return ow_tensor(w, word, &tensor);
}

const char *ow_number(ow *w, const char *word, xpu_dtype dtype, double value) {
    unsigned char element[XPU_ELEMENT_BYTES] = {0};
    const int64_t whole = (int64_t)value;
    if (dtype == XPU_I64 || dtype == XPU_U64 || dtype == XPU_I32 || dtype == XPU_U32) {
        memcpy(element, &whole, sizeof whole);
    } else {
        xpu_dtype_element(dtype, (float)value, element);
    }
    xpu_tensor tensor = {.dtype = dtype, .data = element};
    return ow_tensor(w, word, &tensor);
}

/* ---- nodes ---- */

const char *ow_make(ow *w, ow_node **made, const char *result, const char *op, const char *a, const char *b,
                    const char *c) {
    ow_node *node = XPU_NEW(w->arena, ow_node);
    const char *operands[] = {a, b, c};
    xpu_onnx__node_proto__init(node);
    node->op_type = text(w, op);
    for (int i = 0; i < 3 && operands[i]; i++) ow_input(w, node, operands[i]);
    ow_result(w, node, result ? result : ow_new_name(w, op));
    node->name = node->output[0];
    XPU_PUSH(w->arena, w->nodes, node);
    if (made) *made = node;
    return node->output[0];
}

const char *ow_unary(ow *w, const char *result, const char *op, const char *a) {
    return ow_make(w, NULL, result, op, a, NULL, NULL);
}

const char *ow_binary(ow *w, const char *result, const char *op, const char *a, const char *b) {
    return ow_make(w, NULL, result, op, a, b, NULL);
}

int32_t ow_type(xpu_dtype dtype) {
    static const int32_t types[XPU_DTYPE_COUNT] = {
        [XPU_F32] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT,
        [XPU_F64] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE,
        [XPU_F16] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16,
        [XPU_BF16] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16,
        [XPU_I8] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__INT8,
        [XPU_U8] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__UINT8,
        [XPU_I16] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__INT16,
        [XPU_U16] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__UINT16,
        [XPU_I32] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__INT32,
        [XPU_U32] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__UINT32,
        [XPU_I64] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__INT64,
        [XPU_U64] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__UINT64,
        [XPU_BOOL] = XPU_ONNX__TENSOR_PROTO__DATA_TYPE__BOOL,
    };
    return types[dtype];
}

const char *ow_cast(ow *w, const char *result, const char *a, xpu_dtype dtype) {
    ow_node *node;
    result = ow_make(w, &node, result, "Cast", a, NULL, NULL);
    ow_int(w, node, "to", ow_type(dtype));
    return result;
}

/* ---- what cannot be written ---- */

int ow_needs(ow *w, int opset) {
    if (opset > w->wanted) w->wanted = opset;
    return w->opset >= opset;
}

static xpu_refusing refusing(const ow *w) {
    return (xpu_refusing){w->graph, w->node, w->arena, w->diags, "ONNX"};
}

void ow_refuse(ow *w, xpu_refused id) {
    const xpu_refusing at = refusing(w);
    xpu_refuse(&at, xpu_refused_row_of(id)->why, xpu_refused_row_of(id)->hint);
}

void ow_refuse_size(ow *w, const char *name) {
    const xpu_refusing at = refusing(w);
    xpu_refuse_size(&at, name);
}

int ow_requires(ow *w, xpu_since_id id, const char *name) {
    const xpu_since *row = xpu_since_of(id);
    const xpu_refusing at = refusing(w);
    if (ow_needs(w, row->opset)) return 1;
    xpu_refuse(&at, xpu_printf(w->arena, "%s needs opset %d", name ? name : row->what, row->opset),
               xpu_printf(w->arena, "write --opset=%d, or leave --opset out", row->opset));
    return 0;
}
