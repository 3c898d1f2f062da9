/* One node: is there a row for it, do attributes and operands fit the row; then the row's converter. */
#include <string.h>

#include "frontend/build/found.h"
#include "frontend/onnx/importer.h"

static const char *const DOCUMENT =
    "replace it by supported operators (docs/onnx-operators.md lists them), or export the model without it";

static const fe_frontend frontend = {
    .rules = {[FE_FORM] = "onnx-unsupported-form",
              [FE_OPERAND] = "onnx-operand",
              [FE_ATTRIBUTE] = "onnx-attribute",
              [FE_SHAPE] = "onnx-shape"},
    .hints = {[FE_FORM] = XPU_ONNX_CHECK_FORM,
              [FE_OPERAND] = XPU_ONNX_CHECK_MODEL,
              [FE_ATTRIBUTE] = XPU_ONNX_CHECK_MODEL,
              [FE_SHAPE] = XPU_ONNX_CHECK_MODEL},
};

static const char *const attr_type_names[] = {
    [XPU_ONNX_FLOAT] = "a float",           [XPU_ONNX_INT] = "an integer",
    [XPU_ONNX_STRING] = "a string",         [XPU_ONNX_TENSOR] = "a tensor",
    [XPU_ONNX_GRAPH] = "a graph",           [XPU_ONNX_FLOATS] = "a list of floats",
    [XPU_ONNX_INTS] = "a list of integers", [XPU_ONNX_STRINGS] = "a list of strings",
};

static int is_default_domain(const char *domain) {
    return !domain || domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0;
}

/* The version of a domain that the model imports; 0 when it imports none. */
static int domain_version(const xpu_onnx_importer *importer, const char *domain) {
    for (size_t i = 0; i < importer->model->n_opset_import; i++) {
        const XpuOnnx__OperatorSetIdProto *set = importer->model->opset_import[i];
        if (set->domain && strcmp(set->domain, domain) == 0 && set->version >= 0 && set->version < 1 << 20) {
            return (int)set->version;
        }
    }
    return 0;
}

/* Name, version and place of a node; op_type and domain come from the file. */
static void name_node(xpu_onnx_node *node) {
    xpu_onnx_importer *importer = node->importer;
    const xpu_onnx_node_proto *proto = node->proto;
    const char *op = proto->op_type ? proto->op_type : "";
    node->name = proto->name && proto->name[0]
                     ? proto->name
                     : xpu_onnx_format(node, "%s%s_%u", importer->scope->prefix, op, node->index);
    const char *shown = xpu_escape(importer->scratch, op, 60), *prefix = "";
    if (is_default_domain(proto->domain)) {
        int known = xpu_onnx_known_version(op, importer->opset);
        node->version = known > 0 ? known : importer->opset;
    } else {
        node->version = domain_version(importer, proto->domain);
        prefix = xpu_onnx_format(node, "%s.", xpu_escape(importer->scratch, proto->domain, 60));
    }
    node->build.where =
        xpu_onnx_format(node, "node '%s' (%s%s-%d, #%u)%s", xpu_escape(importer->scratch, node->name, 100), prefix,
                        shown, node->version, node->index, importer->scope->where);
}

/* ---- the operator ---- */

static int unsupported(const xpu_onnx_node *node, const char *why, const char *hint) {
    const char *op = node->proto->op_type ? node->proto->op_type : "";
    const char *what =
        xpu_onnx_format(node, "operator %s is not supported", xpu_escape(node->importer->scratch, op, 60));
    xpu_onnx_refuse(node, "onnx-unsupported-op", what, why, hint);
    return 0;
}

static int has_function(const xpu_onnx_node *node) {
    for (size_t i = 0; i < node->importer->model->n_functions; i++) {
        const XpuOnnx__FunctionProto *function = node->importer->model->functions[i];
        const char *domain = function->domain ? function->domain : "";
        if (strcmp(domain, node->proto->domain) == 0 && function->name && node->proto->op_type &&
            strcmp(function->name, node->proto->op_type) == 0) {
            return 1;
        }
    }
    return 0;
}

/* What to do about a standard operator that has no row. */
static const char *hint_of(const char *op) {
    static const struct {
        const char *op, *hint;
    } hints[] = {
        {"Upsample", "export with a transposed or subpixel convolution (Conv, Reshape, Transpose)"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (strcmp(hints[i].op, op) == 0) return hints[i].hint;
    }
    return DOCUMENT;
}

/* Finds the row; reports a node that has none. */
static int find_row(xpu_onnx_node *node) {
    xpu_onnx_importer *importer = node->importer;
    const char *op = node->proto->op_type ? node->proto->op_type : "";
    int seen = !importer->diags->dropped; /* hints cost comparisons with every name: not for what nobody will see */
    node->row = xpu_onnx_find_row(op, is_default_domain(node->proto->domain) ? "" : node->proto->domain);
    if (!is_default_domain(node->proto->domain)) {
        if (node->row) return 1;
        const char *domain = xpu_escape(importer->scratch, node->proto->domain, 60);
        if (seen && has_function(node)) {
            return unsupported(node, "it is a function of the model, and functions are not inlined",
                               "inline the model's functions when exporting (onnx.inliner)");
        }
        return unsupported(node, xpu_onnx_format(node, "operators of domain '%s' are not ONNX operators", domain),
                           "export with operators of the default domain only");
    }
    int known = xpu_onnx_known_version(op, importer->opset);
    if (known < 0) {
        const char *nearest = seen ? xpu_onnx_nearest_operator(op) : NULL;
        return unsupported(node, "ONNX has no operator of this name",
                           nearest ? xpu_onnx_format(node, "the nearest one is %s", nearest) : DOCUMENT);
    }
    if (known == 0) {
        return unsupported(node, xpu_onnx_format(node, "opset %d of ONNX does not have it", importer->opset),
                           "export the model again; its opset_import does not fit its nodes");
    }
    if (!node->row) {
        return unsupported(node, xpu_onnx_format(node, "the importer has no row for %s-%d", op, known), hint_of(op));
    }
    return 1;
}

/* ---- attributes ---- */

static int attr_error(const xpu_onnx_node *node, const xpu_onnx_attr_proto *attr, const char *why, const char *hint) {
    const char *name = xpu_escape(node->importer->scratch, attr->name ? attr->name : "", 60);
    xpu_onnx_refuse(node, "onnx-attribute", xpu_onnx_format(node, "attribute '%s' is invalid", name), why, hint);
    return 0;
}

static const xpu_onnx_attr_rule *rule_of(const xpu_onnx_node *node, const char *name) {
    for (const xpu_onnx_attr_rule *rule = node->row->attrs; rule->name; rule++) {
        int applies = node->version >= rule->since && (!rule->until || node->version < rule->until);
        if (applies && strcmp(rule->name, name) == 0) return rule;
    }
    return NULL;
}

/* Whether the attribute holds what its rule says; files of old IR versions leave `type` out. */
static int has_type(const xpu_onnx_attr_proto *attr, xpu_onnx_attr_type type) {
    static const struct {
        int code; /* AttributeProto.AttributeType */
    } codes[] = {[XPU_ONNX_FLOAT] = {1}, [XPU_ONNX_INT] = {2},    [XPU_ONNX_STRING] = {3}, [XPU_ONNX_TENSOR] = {4},
                 [XPU_ONNX_GRAPH] = {5}, [XPU_ONNX_FLOATS] = {6}, [XPU_ONNX_INTS] = {7},   [XPU_ONNX_STRINGS] = {8}};
    int present = type == XPU_ONNX_FLOAT    ? attr->has_f
                  : type == XPU_ONNX_INT    ? attr->has_i
                  : type == XPU_ONNX_STRING ? attr->has_s
                  : type == XPU_ONNX_TENSOR ? attr->t != NULL
                  : type == XPU_ONNX_GRAPH  ? attr->g != NULL
                                            : 1;
    if (attr->has_type && attr->type != 0) {
        return attr->type == codes[type].code && (present || (type != XPU_ONNX_TENSOR && type != XPU_ONNX_GRAPH));
    }
    return present && (type == XPU_ONNX_FLOATS || !attr->n_floats) && (type == XPU_ONNX_INTS || !attr->n_ints);
}

static int check_attr(const xpu_onnx_node *node, size_t index) {
    const xpu_onnx_attr_proto *attr = node->proto->attribute[index];
    if (!attr->name || !attr->name[0]) return attr_error(node, attr, "it has no name", NULL);
    if (xpu_onnx_attr_of(node, attr->name) != attr) return attr_error(node, attr, "it is given twice", NULL);
    if (attr->ref_attr_name && attr->ref_attr_name[0]) {
        return attr_error(node, attr, "it refers to an attribute of a function", NULL);
    }
    const xpu_onnx_attr_rule *rule = rule_of(node, attr->name);
    if (!rule) {
        return attr_error(node, attr,
                          xpu_onnx_format(node, "%s-%d has no such attribute", node->row->name, node->version),
                          "remove it, or fix the opset_import of the model");
    }
    if (!has_type(attr, rule->type)) {
        return attr_error(node, attr, xpu_onnx_format(node, "it is not %s", attr_type_names[rule->type]), NULL);
    }
    if (attr->s.len > 0 && memchr(attr->s.data, 0, attr->s.len)) {
        return attr_error(node, attr, "it holds a NUL byte", NULL);
    }
    return 1;
}

static int check_attrs(const xpu_onnx_node *node) {
    int ok = 1;
    if (node->proto->n_attribute > 64) {
        xpu_onnx_refuse(node, "onnx-attribute", "the node has too many attributes",
                        xpu_onnx_format(node, "%zu", node->proto->n_attribute), NULL);
        return 0;
    }
    for (size_t i = 0; i < node->proto->n_attribute; i++) ok &= check_attr(node, i);
    return ok;
}

/* ---- operands ---- */

static int operand_error(const xpu_onnx_node *node, const char *rule, const char *what, const char *why) {
    xpu_onnx_refuse(node, rule, what, why, NULL);
    return 0;
}

static int check_counts(xpu_onnx_node *node) {
    const xpu_onnx_node_proto *proto = node->proto;
    size_t count = proto->n_input;
    while (count > 0 && proto->input[count - 1][0] == '\0') count--;
    uint32_t least = node->row->min_inputs, most = node->row->max_inputs;
    int ok = 1;
    if (count < least || count > most) {
        const char *why =
            least == most ? xpu_onnx_format(node, "%s-%d takes %u", node->row->name, node->version, least)
            : most == XPU_ONNX_VARIADIC
                ? xpu_onnx_format(node, "%s-%d takes %u or more", node->row->name, node->version, least)
                : xpu_onnx_format(node, "%s-%d takes %u to %u", node->row->name, node->version, least, most);
        const char *what = xpu_onnx_format(node, "the node has %zu inputs", count);
        return operand_error(node, "onnx-operand", what, why);
    }
    for (uint32_t i = 0; i < count; i++) {
        int optional = i >= least && (most != XPU_ONNX_VARIADIC || node->row->has_gaps);
        if (proto->input[i][0] == '\0' && !optional) {
            ok = operand_error(node, "onnx-operand", xpu_onnx_format(node, "input %u is missing", i),
                               xpu_onnx_format(node, "%s-%d requires it", node->row->name, node->version));
        }
    }
    if (proto->n_output == 0 || (proto->output[0][0] == '\0' && !node->row->has_gaps) ||
        proto->n_output > node->row->max_outputs) {
        const char *why = xpu_onnx_format(node, "%s-%d has 1 to %u, and the first one needs a name", node->row->name,
                                          node->version, node->row->max_outputs);
        ok = operand_error(node, "onnx-operand", xpu_onnx_format(node, "the node has %zu results", proto->n_output),
                           why);
    }
    node->input_count = (uint32_t)count;
    return ok;
}

/* Looks the operands up. Returns 0 where one is not there, which is reported once: where its definition fails. */
static int find_inputs(xpu_onnx_node *node) {
    xpu_onnx_importer *importer = node->importer;
    int ok = 1;
    node->inputs = XPU_NEW_ARRAY(importer->scratch, xpu_value, node->input_count ? node->input_count : 1);
    for (uint32_t i = 0; i < node->input_count; i++) {
        const char *name = node->proto->input[i];
        if (name[0] == '\0') continue;
        const xpu_onnx_name *entry = xpu_onnx_visible(importer, name);
        if (entry && entry->state == XPU_ONNX_NAME_READY) {
            node->inputs[i] = entry->value;
            continue;
        }
        ok = 0;
        if (entry) continue;
        const char *what =
            xpu_onnx_format(node, "input %u ('%s') is not defined", i, xpu_escape(importer->scratch, name, 100));
        xpu_onnx_refuse(node, "onnx-name", what, "no graph input, initializer or node has this name", NULL);
    }
    return ok;
}

/* Whether operands of this type become float32, and the result that type again. */
static int widens(const xpu_onnx_row *row, xpu_dtype dtype) {
    if (dtype == XPU_F16 || dtype == XPU_BF16) {
        int computes = row->dtypes == XPU_ONNX_ALL_FLOAT32 && xpu_op_of(row->op)->elementwise < 0;
        return computes || row->op == XPU_OP_MAX_POOL;
    }
    xpu_compute class = xpu_compute_of(dtype);
    return row->dtypes == XPU_ONNX_CUT_FLOAT32 && dtype != XPU_BOOL && dtype != XPU_F32 && class != XPU_COMPUTE_COUNT;
}

/* Elementwise rows of the core say themselves what they take; others that take float32 take narrower floats, too, and
 * compute in float32. */
static int takes(const xpu_onnx_node *node, uint32_t input, xpu_dtype dtype) {
    const xpu_op *op = xpu_op_of(node->row->op);
    if (dtype == XPU_F32) return 1;
    if (widens(node->row, dtype)) return 1;
    if (op->elementwise < 0) return 0;
    return xpu_op_takes(op, input < (uint32_t)op->max_inputs ? input : (uint32_t)op->max_inputs - 1) >> dtype & 1;
}

static const char *taken(const xpu_onnx_node *node) {
    int elementwise = xpu_op_of(node->row->op)->elementwise;
    if (elementwise >= 0) return xpu_signature_text(xpu_elementwise_signature((xpu_elementwise)elementwise));
    return node->row->dtypes == XPU_ONNX_ALL_FLOAT32 ? "float32, float16 and bfloat16" : "float32";
}

static int check_dtypes(const xpu_onnx_node *node) {
    int ok = 1;
    xpu_onnx_dtypes dtypes = node->row->dtypes;
    uint32_t count = dtypes == XPU_ONNX_ANY_DTYPE ? 0 : dtypes == XPU_ONNX_DATA_FLOAT32 ? 1 : node->input_count;
    for (uint32_t i = 0; i < count && i < node->input_count; i++) {
        if (!node->inputs[i].id || takes(node, i, xpu_onnx_info(node, node->inputs[i])->dtype)) continue;
        const char *name = xpu_escape(node->importer->scratch, node->proto->input[i], 100);
        const char *dtype = xpu_dtype_name(xpu_onnx_info(node, node->inputs[i])->dtype);
        xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input %u ('%s') is %s", i, name, dtype),
                        xpu_onnx_format(node, "%s is supported on %s only", node->row->name, taken(node)),
                        "export the model in float32");
        ok = 0;
    }
    return ok;
}

/* Operands of another type of a row that computes in float32 become that; returns their type, which the result shall
 * have, or XPU_DTYPE_NONE. */
static xpu_dtype widen(xpu_onnx_node *node) {
    xpu_dtype narrow = XPU_DTYPE_NONE;
    node->build.inner = 1;
    for (uint32_t i = 0; i < node->input_count; i++) {
        xpu_dtype dtype = node->inputs[i].id ? xpu_onnx_info(node, node->inputs[i])->dtype : XPU_F32;
        if (!widens(node->row, dtype)) continue;
        narrow = dtype;
        node->inputs[i] = fe_convert(&node->build, node->inputs[i], XPU_F32);
    }
    node->build.inner = narrow != XPU_DTYPE_NONE;
    return narrow;
}

/* The node in its own type. A result that is no float32 (a quantised one) is what it is. */
static xpu_value convert(xpu_onnx_node *node) {
    xpu_dtype narrow = widen(node);
    xpu_value result = node->row->convert(node);
    if (narrow == XPU_DTYPE_NONE || !result.id) return result;
    node->build.inner = 0;
    xpu_dtype dtype = xpu_onnx_info(node, result)->dtype == XPU_F32 ? narrow : xpu_onnx_info(node, result)->dtype;
    return fe_convert(&node->build, result, dtype);
}

static xpu_value read_node(xpu_onnx_node *node) {
    xpu_onnx_importer *importer = node->importer;
    static const xpu_value failed = {0};
    node->build = (fe_builder){.frontend = &frontend,
                               .graph = importer->graph,
                               .scratch = importer->scratch,
                               .diags = importer->diags,
                               .file = importer->source->name,
                               .names = (const char *const *)node->proto->output,
                               .name_count = (uint32_t)node->proto->n_output};
    name_node(node);
    if (!find_row(node)) return failed;
    int ok = check_attrs(node);
    ok &= check_counts(node);
    if (!ok || !find_inputs(node) || !check_dtypes(node)) return failed;
    xpu_origin origin = {.framework = "onnx",
                         .op = node->row->name,
                         .version = node->version,
                         .name = node->name,
                         .index = node->index,
                         .is_inner = importer->scope->outer != NULL,
                         .within = importer->scope->within};
    node->build.origin = xpu_graph_origin(importer->graph, &origin);
    return convert(node);
}

/* Result `i` of the node whose first result was given. */
static xpu_value result_of(const xpu_onnx_node *node, xpu_value first, uint32_t i) {
    const xpu_graph *graph = node->importer->graph;
    if (node->results[i].id || i == 0) return i == 0 ? first : node->results[i];
    if (!first.id || xpu_value_at(graph, first)->kind != XPU_VALUE_NODE) return (xpu_value){0};
    return xpu_node_output(graph, xpu_value_at(graph, first)->node, i);
}

void xpu_onnx_read_node(xpu_onnx_importer *importer, uint32_t index) {
    xpu_onnx_node node = {.importer = importer, .proto = importer->scope->graph->node[index], .index = index};
    node.results = XPU_NEW_ARRAY(importer->scratch, xpu_value, node.proto->n_output);
    xpu_value result = read_node(&node);
    for (size_t i = 0; i < node.proto->n_output; i++) {
        if (node.proto->output[i][0] == '\0') continue;
        xpu_onnx_name *entry = xpu_onnx_name_of(importer, node.proto->output[i]);
        if (entry->state != XPU_ONNX_NAME_PENDING || entry->producer != index) continue;
        entry->value = result_of(&node, result, (uint32_t)i);
        if (result.id && !entry->value.id && xpu_onnx_output_used(&node, (uint32_t)i))
            xpu_error(importer->diags, XPU_EBUG, importer->source->name, "ir-verify", node.build.where,
                      xpu_printf(importer->scratch, "result %zu was not made", i),
                      "the operator's converter gave no reason", NULL);
        entry->state = entry->value.id ? XPU_ONNX_NAME_READY : XPU_ONNX_NAME_FAILED;
        if (entry->value.id) fe_bound_result(importer->graph, importer->scratch, entry->value, node.proto->output[i]);
    }
}
