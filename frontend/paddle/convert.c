/* One operator: is there a row for it, are its operands there; then the row's converter. */
#include <inttypes.h>
#include <string.h>

#include "frontend/build/found.h"
#include "frontend/paddle/importer.h"

static const char check_program[] = "save the program again (paddle.jit.save, save_inference_model)";
static const char check_form[] = "replace it by another form before the program is saved";

static const fe_frontend frontend = {
    .rules = {[FE_FORM] = "paddle-form",
              [FE_OPERAND] = "paddle-operand",
              [FE_ATTRIBUTE] = "paddle-attribute",
              [FE_SHAPE] = "paddle-shape"},
    .hints = {[FE_FORM] = check_form,
              [FE_OPERAND] = check_program,
              [FE_ATTRIBUTE] = check_program,
              [FE_SHAPE] = check_program},
};

static const char *shown(const xpu_paddle_importer *importer, const char *text, size_t most) {
    return xpu_escape(importer->scratch, text, most);
}

/* ---- results ---- */

/* The name that a value of the variable gets; in PIR, most have none. Of several values the last one has it. */
static const char *name_of(const xpu_paddle_importer *importer, const xpu_paddle_op *op, uint32_t var, uint32_t i) {
    const char *own = var == XPU_PADDLE_NO_VAR ? "" : importer->program->vars.items[var].name;
    if (var != XPU_PADDLE_NO_VAR && importer->names[var]) own = importer->names[var];
    if (own[0] && op->block) return own; /* read once or more: those outside have the name */
    if (own[0])
        return ++importer->made[var] >= importer->assigned[var]
                   ? own
                   : xpu_printf(importer->scratch, "%s/%u", own, importer->made[var]);
    const char *block = op->block ? xpu_printf(importer->scratch, "%u.", op->block) : "";
    const char *name = xpu_printf(importer->scratch, "%s_%s%u", op->type, block, op->index);
    return i ? xpu_printf(importer->scratch, "%s.%u", name, i) : name;
}

void xpu_paddle_set_results(xpu_paddle_node *node, const uint32_t *vars, uint32_t count) {
    xpu_arena *scratch = node->importer->scratch;
    const char **names = XPU_NEW_ARRAY(scratch, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++) names[i] = name_of(node->importer, node->op, vars[i], i);
    if (!count) names[0] = name_of(node->importer, node->op, XPU_PADDLE_NO_VAR, 0);
    node->result_vars = vars;
    node->result_count = count;
    node->results = XPU_NEW_ARRAY(scratch, xpu_value, count + 1);
    node->build.names = names;
    node->build.name_count = count ? count : 1;
}

/* The variables of the results that the row names; of PIR all. */
static void list_results(xpu_paddle_node *node) {
    const xpu_paddle_op *op = node->op;
    XPU_ARRAY(uint32_t) vars = {0};
    xpu_arena *scratch = node->importer->scratch;
    const char *at = node->row && node->row->dialect == XPU_PADDLE_DESC ? node->row->outputs : NULL;
    while (at) {
        size_t length = strcspn(at, ",*");
        const xpu_paddle_slot *slot =
            xpu_paddle_slot_of(op->outputs, op->output_count, xpu_strndup(scratch, at, length));
        if (!slot || !slot->count) XPU_PUSH(scratch, &vars, XPU_PADDLE_NO_VAR);
        for (uint32_t i = 0; slot && i < slot->count; i++) XPU_PUSH(scratch, &vars, slot->vars[i]);
        at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    }
    int all = !node->row || node->row->dialect == XPU_PADDLE_PIR;
    for (uint32_t i = 0; all && i < op->output_count; i++) {
        for (uint32_t k = 0; k < op->outputs[i].count; k++) XPU_PUSH(scratch, &vars, op->outputs[i].vars[k]);
    }
    xpu_paddle_set_results(node, vars.items, vars.count);
}

/* What the operator does not compute is not there any more. */
static void forget_others(const xpu_paddle_node *node) {
    const xpu_paddle_op *op = node->op;
    for (uint32_t i = 0; i < op->output_count; i++) {
        for (uint32_t k = 0; k < op->outputs[i].count; k++) {
            uint32_t var = op->outputs[i].vars[k];
            if (var == XPU_PADDLE_NO_VAR || node->importer->program->vars.items[var].is_persistable) continue;
            node->importer->bindings[var] = (xpu_paddle_binding){.state = XPU_PADDLE_UNSET};
        }
    }
}

static void bind_results(const xpu_paddle_node *node, xpu_value first) {
    const xpu_paddle_importer *importer = node->importer;
    int done = first.id || node->list.count;
    forget_others(node);
    for (uint32_t i = 0; i < node->result_count; i++) {
        uint32_t var = node->result_vars[i];
        if (var == XPU_PADDLE_NO_VAR) continue;
        xpu_paddle_binding binding = {.state = done ? XPU_PADDLE_READY : XPU_PADDLE_FAILED};
        binding.value = i ? node->results[i] : first;
        binding.is_complex = !i && node->gives_complex;
        if (i == node->list_at && importer->program->vars.items[var].kind == XPU_PADDLE_VECTOR)
            binding.list = node->list;
        if (i == node->other_list_at && node->other_list.count) binding.list = node->other_list;
        if (binding.list.count) binding.value = (xpu_value){0};
        if (done && !binding.value.id && !binding.list.count) binding.state = XPU_PADDLE_UNSET;
        importer->bindings[var] = binding;
        if (binding.value.id)
            fe_bound_result(importer->graph, importer->scratch, binding.value,
                            xpu_value_at(importer->graph, binding.value)->name);
    }
}

/* ---- operands ---- */

int xpu_paddle_check_var(const xpu_paddle_node *node, uint32_t var) {
    xpu_paddle_importer *importer = node->importer;
    if (var == XPU_PADDLE_NO_VAR) return 1;
    if (importer->bindings[var].state == XPU_PADDLE_PENDING) xpu_paddle_settle(importer, var);
    if (importer->bindings[var].state == XPU_PADDLE_READY) return 1;
    if (importer->bindings[var].state == XPU_PADDLE_FAILED) return 0;
    const char *name = importer->program->vars.items[var].name;
    xpu_error(importer->diags, XPU_EMODEL, importer->program->file, "paddle-name", node->build.where,
              xpu_paddle_format(node, "operand '%s' is not defined",
                                name[0] ? shown(importer, name, 100) : xpu_paddle_format(node, "%%%u", var)),
              "no operator before this one computes it, and it is neither an input nor a parameter", check_program);
    return 0;
}

static int check_real(const xpu_paddle_node *node, uint32_t var) {
    if (node->row->takes_complex || var == XPU_PADDLE_NO_VAR || !node->importer->bindings[var].is_complex) return 1;
    return xpu_paddle_refuse(node, "an operand is complex",
                             xpu_paddle_format(node, "%s is imported with real numbers", node->op->type))
               .id != 0;
}

/* It has a value, which is no tensor array. */
static int check_operand(const xpu_paddle_node *node, uint32_t var) {
    const xpu_paddle_importer *importer = node->importer;
    if (!xpu_paddle_check_var(node, var)) return 0;
    if (var == XPU_PADDLE_NO_VAR) return 1;
    if (!check_real(node, var)) return 0;
    if (importer->program->vars.items[var].kind != XPU_PADDLE_ARRAY) return 1;
    const char *name = importer->program->vars.items[var].name;
    return xpu_paddle_refuse(
               node,
               xpu_paddle_format(node, "operand '%s' is a tensor array",
                                 name[0] ? shown(importer, name, 100) : xpu_paddle_format(node, "%%%u", var)),
               xpu_paddle_format(node, "%s is imported with tensors", node->op->type))
               .id != 0;
}

/* Control flow gives no complex numbers on. */
static int check_all_real(const xpu_paddle_node *node) {
    int ok = 1;
    for (uint32_t i = 0; i < node->op->input_count; i++) {
        for (uint32_t k = 0; k < node->op->inputs[i].count; k++) ok &= check_real(node, node->op->inputs[i].vars[k]);
    }
    return ok;
}

/* All operands have values; 0 after reporting, here or where an operand failed. */
static int check_operands(const xpu_paddle_node *node) {
    const xpu_paddle_op *op = node->op;
    int ok = 1;
    for (uint32_t i = 0; i < op->input_count; i++) {
        for (uint32_t k = 0; k < op->inputs[i].count; k++) ok &= check_operand(node, op->inputs[i].vars[k]);
    }
    for (uint32_t i = 0; i < op->attr_count; i++) {
        const xpu_paddle_attr *attr = &op->attrs[i];
        for (size_t k = 0; attr->kind == XPU_PADDLE_VARS && k < attr->count; k++)
            ok &= check_operand(node, attr->vars[k]);
    }
    return ok;
}

static int is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return 1;
    }
    return 0;
}

/* What an attribute of an optimised program holds where it is not at its neutral value; NULL: it is. */
static const char *held_value(const xpu_paddle_node *node, const xpu_paddle_attr *attr, double neutral) {
    switch (attr->kind) {
    case XPU_PADDLE_INT:
        return (double)attr->integer == neutral ? NULL : xpu_paddle_format(node, "%" PRId64, attr->integer);
    case XPU_PADDLE_FLOAT: return attr->number == neutral ? NULL : xpu_paddle_format(node, "%g", attr->number);
    case XPU_PADDLE_STRING:
        return !attr->text[0] ? NULL : xpu_paddle_format(node, "'%s'", shown(node->importer, attr->text, 40));
    case XPU_PADDLE_INTS:
        return !attr->count ? NULL : xpu_paddle_format(node, "a list from %" PRId64 " on", attr->integers[0]);
    default: return NULL;
    }
}

/* What programs that were optimised for a device hold besides. Of operators with some operand (or alone of some type)
 * an attribute is read (ops_fused.c, ops_matrix.c). */
static int check_fused(const xpu_paddle_node *node) {
    static const struct {
        const char *name, *readers; /* types of operators, or "ResidualData" */
        double neutral;
    } fused[] = {{"fuse_relu", NULL, 0},
                 {"fuse_with_relu", NULL, 0},
                 {"fuse_brelu", NULL, 0},
                 {"fuse_activation", "ResidualData", 0},
                 {"fuse_residual_connection", "ResidualData", 0},
                 {"padding_weights", NULL, 0},
                 {"fused_output_scale", "fc,matmul,matmul_v2", 1},
                 {"fused_reshape2_shape", NULL, 0},
                 {"fused_reshape_X", NULL, 0},
                 {"fused_reshape_Y", NULL, 0},
                 {"fused_reshape_Out", NULL, 0},
                 {"fused_transpose_X", NULL, 0},
                 {"fused_transpose_Y", NULL, 0},
                 {"fused_transpose_Out", NULL, 0},
                 {"fused_squeeze2_axes", NULL, 0},
                 {"fused_unsqueeze2_axes", NULL, 0}};
    const xpu_paddle_op *op = node->op;
    int ok = 1;
    for (size_t i = 0; i < sizeof fused / sizeof *fused; i++) {
        const xpu_paddle_attr *attr = xpu_paddle_attr_of(op, fused[i].name);
        const char *readers = fused[i].readers, *value = attr ? held_value(node, attr, fused[i].neutral) : NULL;
        if (!value || is_listed(readers, op->type)) continue;
        if (is_listed(readers, "ResidualData") && is_listed(node->row->inputs, "ResidualData")) continue;
        ok = xpu_paddle_refuse(node, xpu_paddle_format(node, "attribute '%s' is not supported", fused[i].name),
                               xpu_paddle_format(node, "it is %s: the program was optimised for a device", value))
                 .id != 0;
    }
    return ok;
}

/* Operands that the row does not know, and attributes. */
static int check_form_of(const xpu_paddle_node *node) {
    const xpu_paddle_op *op = node->op;
    int ok = 1;
    for (uint32_t i = 0; node->row->dialect == XPU_PADDLE_DESC && i < op->input_count; i++) {
        if (!op->inputs[i].count || is_listed(node->row->inputs, op->inputs[i].name)) continue;
        ok = xpu_paddle_refuse(node,
                               xpu_paddle_format(node, "operand '%s' is not supported",
                                                 shown(node->importer, op->inputs[i].name, 60)),
                               xpu_paddle_format(node, "%s is imported with %s", op->type, node->row->inputs))
                 .id != 0;
    }
    return check_fused(node) && ok;
}

/* ---- the operator ---- */

static void name_op(xpu_paddle_node *node, const char *name) {
    const xpu_paddle_op *op = node->op;
    const char *dialect = op->dialect[0] ? xpu_paddle_format(node, "%s.", shown(node->importer, op->dialect, 20)) : "";
    node->build.where = xpu_paddle_format(node, "node '%s' (%s%s, block %u, #%u)", shown(node->importer, name, 100),
                                          dialect, shown(node->importer, op->type, 60), op->block, op->index);
}

static xpu_value unsupported(const xpu_paddle_node *node) {
    const char *hint = NULL, *why = xpu_paddle_why_not(node->op, &hint);
    xpu_error(
        node->importer->diags, XPU_EMODEL, node->importer->program->file, "paddle-unsupported-op", node->build.where,
        xpu_paddle_format(node, "operator %s is not supported", shown(node->importer, node->op->type, 60)), why, hint);
    return (xpu_value){0};
}

static int op_version(const xpu_paddle_program *program, const char *type) {
    for (uint32_t i = 0; i < program->op_versions.count; i++) {
        if (strcmp(program->op_versions.items[i].op, type) == 0)
            return (int)(program->op_versions.items[i].version & 0xffff);
    }
    return 0;
}

/* What was computed in float32 gets the type that the operand has. */
static xpu_value narrow(xpu_paddle_node *node, xpu_value result, xpu_dtype dtype) {
    if (!result.id || dtype == XPU_DTYPE_NONE || xpu_paddle_info(node, result)->dtype != XPU_F32) return result;
    node->build.inner = 0;
    return fe_convert(&node->build, result, dtype);
}

static xpu_dtype narrow_type(const xpu_paddle_node *node) {
    if (!node->row->computes_float32) return XPU_DTYPE_NONE;
    for (uint32_t i = 0; i < node->op->input_count; i++) {
        for (uint32_t k = 0; k < node->op->inputs[i].count; k++) {
            uint32_t var = node->op->inputs[i].vars[k];
            xpu_value value = var == XPU_PADDLE_NO_VAR ? (xpu_value){0} : node->importer->bindings[var].value;
            xpu_dtype dtype = value.id ? xpu_paddle_info(node, value)->dtype : XPU_F32;
            if (dtype == XPU_F16 || dtype == XPU_BF16) return dtype;
        }
    }
    return XPU_DTYPE_NONE;
}

void xpu_paddle_begin_op(xpu_paddle_node *node) {
    const xpu_paddle_importer *importer = node->importer;
    node->build = (fe_builder){.frontend = &frontend,
                               .graph = importer->graph,
                               .scratch = importer->scratch,
                               .diags = importer->diags,
                               .file = importer->program->file};
    node->row = xpu_paddle_find_row(node->op);
    list_results(node);
    name_op(node, node->build.names[0]);
    xpu_origin origin = {.framework = "paddle",
                         .op = node->op->type,
                         .version = op_version(importer->program, node->op->type),
                         .name = node->build.names[0],
                         .index = node->op->index};
    if (node->row) node->build.origin = xpu_graph_origin(importer->graph, &origin);
}

void xpu_paddle_check_op(xpu_paddle_importer *importer, const xpu_paddle_op *op) {
    xpu_paddle_node node = {.importer = importer, .op = op};
    xpu_paddle_begin_op(&node);
    if (!node.row && strcmp(op->dialect, "cf") != 0) unsupported(&node); /* the ends of bodies are their owner's */
}

/* Builders make nothing of an operand that is not there; one whose operator failed is reported. */
static void missing_operand(const xpu_paddle_node *node) {
    const xpu_paddle_op *op = node->op;
    for (uint32_t i = 0; i < op->input_count; i++) {
        for (uint32_t k = 0; k < op->inputs[i].count; k++) {
            uint32_t var = op->inputs[i].vars[k];
            if (var != XPU_PADDLE_NO_VAR && node->importer->bindings[var].state == XPU_PADDLE_FAILED) return;
        }
    }
    fe_refuse(&node->build, FE_OPERAND, "an operand is missing",
              xpu_paddle_format(node, "%s is imported with %s", op->type, node->row->inputs), NULL);
}

static xpu_value read_op(xpu_paddle_node *node) {
    xpu_paddle_importer *importer = node->importer;
    xpu_paddle_begin_op(node);
    if (!node->row) return unsupported(node);
    if (!(node->row->is_control ? check_all_real(node) : check_operands(node)) || !check_form_of(node))
        return (xpu_value){0};
    xpu_dtype dtype = narrow_type(node);
    node->build.inner = dtype != XPU_DTYPE_NONE;
    size_t errors = importer->diags->errors;
    xpu_value result = narrow(node, node->row->convert(node), dtype);
    if (!result.id && !node->is_bound && importer->diags->errors == errors) missing_operand(node);
    return result;
}

void xpu_paddle_read_op(xpu_paddle_importer *importer, const xpu_paddle_op *op) {
    xpu_paddle_node node = {.importer = importer, .op = op};
    xpu_value result = read_op(&node);
    if (!node.is_bound) bind_results(&node, result);
}
