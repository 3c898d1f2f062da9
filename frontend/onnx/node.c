#include <inttypes.h>
#include <string.h>

#include "base/compare.h"
#include "frontend/onnx/importer.h"

const char *xpu_onnx_format(const xpu_onnx_node *node, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = xpu_vprintf(node->importer->scratch, format, args);
    va_end(args);
    return text;
}

xpu_value xpu_onnx_refuse(const xpu_onnx_node *node, const char *rule, const char *what, const char *why,
                          const char *hint) {
    const xpu_onnx_importer *importer = node->importer;
    int is_form = strcmp(rule, "onnx-unsupported-form") == 0;
    if (!hint) hint = is_form ? XPU_ONNX_CHECK_FORM : XPU_ONNX_CHECK_MODEL;
    xpu_error(importer->diags, XPU_EMODEL, importer->source->name, rule, node->build.where, what, why, hint);
    return (xpu_value){0};
}

/* ---- attributes ---- */

const xpu_onnx_attr_proto *xpu_onnx_attr_of(const xpu_onnx_node *node, const char *name) {
    for (size_t i = 0; i < node->proto->n_attribute; i++) {
        const xpu_onnx_attr_proto *attr = node->proto->attribute[i];
        if (attr->name && strcmp(attr->name, name) == 0) return attr;
    }
    return NULL;
}

const xpu_onnx_graph_proto *xpu_onnx_attr_graph(const xpu_onnx_node *node, const char *name) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    return attr ? attr->g : NULL;
}

int64_t xpu_onnx_attr_int(const xpu_onnx_node *node, const char *name, int64_t fallback) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    return attr ? attr->i : fallback;
}

float xpu_onnx_attr_float(const xpu_onnx_node *node, const char *name, float fallback) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    return attr ? attr->f : fallback;
}

const char *xpu_onnx_attr_string(const xpu_onnx_node *node, const char *name, const char *fallback) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    if (!attr) return fallback;
    return attr->s.len ? xpu_strndup(node->importer->scratch, (const char *)attr->s.data, attr->s.len) : "";
}

fe_ints xpu_onnx_attr_ints(const xpu_onnx_node *node, const char *name) {
    static const int64_t none = 0;
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    if (!attr) return (fe_ints){NULL, 0};
    return (fe_ints){attr->n_ints ? attr->ints : &none, attr->n_ints};
}

const float *xpu_onnx_attr_floats(const xpu_onnx_node *node, const char *name, size_t *count) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    *count = attr ? attr->n_floats : 0;
    return *count ? attr->floats : NULL;
}

const char *const *xpu_onnx_attr_strings(const xpu_onnx_node *node, const char *name, size_t *count) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, name);
    *count = attr ? attr->n_strings : 0;
    const char **list = XPU_NEW_ARRAY(node->importer->scratch, const char *, *count + 1);
    for (size_t i = 0; i < *count; i++) {
        list[i] = xpu_strndup(node->importer->scratch, (const char *)attr->strings[i].data, attr->strings[i].len);
    }
    return list;
}

int xpu_onnx_attr_flag(const xpu_onnx_node *node, const char *name, int fallback, int *ok) {
    return fe_flag(&node->build, name, xpu_onnx_attr_int(node, name, fallback), ok);
}

/* ---- operands ---- */

int xpu_onnx_has_input(const xpu_onnx_node *node, uint32_t input) {
    return input < node->input_count && node->inputs[input].id != 0;
}

xpu_value xpu_onnx_optional(const xpu_onnx_node *node, uint32_t input) {
    return input < node->input_count ? node->inputs[input] : (xpu_value){0};
}

int xpu_onnx_is_float(xpu_dtype dtype) {
    return dtype == XPU_F32 || dtype == XPU_F16 || dtype == XPU_BF16;
}

xpu_value xpu_onnx_as_float32(xpu_onnx_node *node, xpu_value value) {
    if (!value.id || xpu_onnx_info(node, value)->dtype == XPU_F32) return value;
    return fe_convert(&node->build, value, XPU_F32);
}

int xpu_onnx_output_used(const xpu_onnx_node *node, uint32_t output) {
    if (output >= node->proto->n_output || node->proto->output[output][0] == '\0') return 0;
    return xpu_onnx_name_of(node->importer, node->proto->output[output])->uses > 0;
}

const xpu_value_info *xpu_onnx_info(const xpu_onnx_node *node, xpu_value value) {
    return xpu_value_at(node->importer->graph, value);
}

static const char *operand_text(const xpu_onnx_node *node, uint32_t input) {
    return xpu_onnx_format(node, "input %u ('%s')", input,
                           xpu_escape(node->importer->scratch, node->proto->input[input], 100));
}

int xpu_onnx_const_operand(const xpu_onnx_node *node, uint32_t input, xpu_tensor *tensor) {
    const xpu_onnx_importer *importer = node->importer;
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[input]);
    if (!info->constant) {
        xpu_onnx_refuse(node, "onnx-unsupported-form",
                        xpu_onnx_format(node, "%s is computed at run time", operand_text(node, input)),
                        xpu_onnx_format(node, "%s needs it as a constant", node->row->name),
                        "fold constants when exporting (onnx-simplifier), or export with fixed shapes");
        return 0;
    }
    int64_t dim = 1;
    if (info->rank > 1 || (info->rank == 1 && !xpu_dim_is_const(&importer->graph->dims, info->dims[0], &dim))) {
        xpu_onnx_refuse(node, "onnx-operand", xpu_onnx_format(node, "%s is invalid", operand_text(node, input)),
                        xpu_onnx_format(node, "it has shape %s; a list is expected",
                                        fe_shape_text(&node->build, node->inputs[input])),
                        NULL);
        return 0;
    }
    if (dim > 4096) {
        xpu_onnx_refuse(node, "onnx-operand", xpu_onnx_format(node, "%s is invalid", operand_text(node, input)),
                        xpu_onnx_format(node, "a list of %" PRId64 " elements", dim), NULL);
        return 0;
    }
    return xpu_const_tensor(importer->graph, node->inputs[input], importer->scratch, tensor, importer->diags) == XPU_OK;
}

static void wrong_dtype(const xpu_onnx_node *node, uint32_t input, xpu_dtype dtype, const char *expected) {
    xpu_onnx_refuse(node, "onnx-dtype",
                    xpu_onnx_format(node, "%s is %s", operand_text(node, input), xpu_dtype_name(dtype)),
                    xpu_onnx_format(node, "%s expects %s there", node->row->name, expected), NULL);
}

int xpu_onnx_const_ints(const xpu_onnx_node *node, uint32_t input, fe_ints *list) {
    xpu_tensor tensor;
    if (!xpu_onnx_const_operand(node, input, &tensor)) return 0;
    if (tensor.dtype != XPU_I64 && tensor.dtype != XPU_I32) {
        wrong_dtype(node, input, tensor.dtype, "int64 or int32");
        return 0;
    }
    size_t count = (size_t)xpu_tensor_count(&tensor);
    int64_t *values = XPU_NEW_ARRAY(node->importer->scratch, int64_t, count);
    for (size_t i = 0; i < count; i++) {
        values[i] = tensor.dtype == XPU_I64 ? ((const int64_t *)tensor.data)[i] : ((const int32_t *)tensor.data)[i];
    }
    *list = (fe_ints){values, count};
    return 1;
}

fe_dims xpu_onnx_dims_of(const xpu_onnx_node *node, fe_ints list) {
    return fe_dims_of(&node->build, list);
}

int xpu_onnx_dim_list(const xpu_onnx_node *node, uint32_t input, fe_dims *list) {
    fe_ints numbers;
    const xpu_value_info *info = xpu_onnx_info(node, node->inputs[input]);
    xpu_dim dims[XPU_MOST_KNOWN];
    int is_list = info->known && info->rank <= 1 && (info->dtype == XPU_I64 || info->dtype == XPU_I32);
    int count = is_list ? xpu_value_as_dims(node->importer->graph, node->inputs[input], dims) : -1;
    if (count >= 0) {
        *list = (fe_dims){xpu_copy(node->importer->scratch, dims, (size_t)(count + 1) * sizeof *dims), (size_t)count};
        return 1;
    }
    int found = xpu_onnx_found_list(node, input, list);
    if (found >= 0) return found;
    if (!xpu_onnx_const_ints(node, input, &numbers)) return 0;
    *list = xpu_onnx_dims_of(node, numbers);
    return 1;
}

int xpu_onnx_const_float(const xpu_onnx_node *node, uint32_t input, float *value) {
    xpu_tensor tensor;
    if (!xpu_onnx_const_operand(node, input, &tensor)) return 0;
    if (xpu_tensor_count(&tensor) != 1) {
        xpu_onnx_refuse(node, "onnx-operand", xpu_onnx_format(node, "%s is invalid", operand_text(node, input)),
                        xpu_onnx_format(node, "it has %" PRId64 " elements, not one", xpu_tensor_count(&tensor)), NULL);
        return 0;
    }
    unsigned char again[XPU_ELEMENT_BYTES];
    *value = (float)xpu_element(&tensor, 0);
    if (*value != *value || (xpu_dtype_element(tensor.dtype, *value, again) &&
                             memcmp(again, tensor.data, xpu_dtype_bytes(tensor.dtype)) == 0)) {
        return 1;
    }
    xpu_onnx_refuse(node, "onnx-unsupported-form",
                    xpu_onnx_format(node, "%s is %s", operand_text(node, input),
                                    xpu_element_text(node->importer->scratch, &tensor, 0)),
                    "float32 does not have this value", "use a value that float32 has");
    return 0;
}
