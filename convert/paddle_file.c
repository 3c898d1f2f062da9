/* PaddlePaddle's files: ProgramDesc, and the stream of parameters. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "convert/paddle_file.h"

/* ---- the program ---- */

static int is_used(const pw *w, const char *name) {
    return w->vars.items[*xpu_name_find(&w->names, name)].is_used;
}

static void use(pw *w, const char *name) {
    w->vars.items[*xpu_name_find(&w->names, name)].is_used = 1;
}

/* From the last operator on those stay that make something that is used. */
static void prune_ops(pw *w, pw_ops *ops) {
    uint32_t kept = ops->count;
    for (uint32_t i = ops->count; i-- > 0;) {
        pw_op *op = ops->items[i];
        int needed = 0;
        for (uint32_t k = 0; k < op->outputs.count; k++) {
            const pw_slot *slot = &op->outputs.items[k];
            for (uint32_t v = 0; v < slot->vars.count; v++) needed |= is_used(w, slot->vars.items[v]);
        }
        if (!needed) continue;
        for (uint32_t k = 0; k < op->inputs.count; k++) {
            const pw_slot *slot = &op->inputs.items[k];
            for (uint32_t v = 0; v < slot->vars.count; v++) use(w, slot->vars.items[v]);
        }
        for (uint32_t k = 0; k < op->outputs.count; k++) {
            const pw_slot *slot = &op->outputs.items[k];
            for (uint32_t v = 0; v < slot->vars.count; v++) use(w, slot->vars.items[v]);
        }
        for (uint32_t k = 0; k < op->body_count; k++) {
            pw_body *body = op->bodies[k];
            for (uint32_t v = 0; v < body->arguments.count; v++) use(w, body->arguments.items[v]);
            for (uint32_t v = 0; v < body->results.count; v++) use(w, body->results.items[v]);
            prune_ops(w, &body->ops);
        }
        ops->items[--kept] = op;
    }
    if (ops->count) memmove(ops->items, ops->items + kept, (ops->count - kept) * sizeof *ops->items);
    ops->count -= kept;
}

static void prune(pw *w) {
    for (uint32_t i = 0; i < w->graph->outputs.count; i++) use(w, pw_name(w, w->graph->outputs.items[i]));
    for (uint32_t i = 0; i < w->graph->inputs.count; i++) use(w, pw_name(w, w->graph->inputs.items[i]));
    prune_ops(w, &w->ops);
}

/* What a ProgramDesc holds inputs and outputs in: no tensor has these names. */
enum { FEED_HOLDER, FETCH_HOLDER };
static const char *const holders[] = {[FEED_HOLDER] = "feed", [FETCH_HOLDER] = "fetch"};

pw *xpu_paddle_program_of(xpu_arena *arena, xpu_graph *graph, int is_desc, xpu_diags *diags) {
    const size_t errors = diags->errors;
    pw *w = XPU_NEW(arena, pw);
    *w = (pw){.arena = arena, .graph = graph, .diags = diags, .names = {.arena = arena}};
    for (size_t i = 0; is_desc && i < sizeof holders / sizeof *holders; i++)
        xpu_name_add(&w->names, holders[i], UINT32_MAX);
    for (uint32_t i = 0; i < graph->inputs.count; i++) pw_name(w, graph->inputs.items[i]);
    for (uint32_t i = 0; i < graph->outputs.count; i++) pw_name(w, graph->outputs.items[i]);
    XPU_FOR_BLOCK_NODES(graph, XPU_TOP_BLOCK, node) pw_write_node(w, node);
    for (uint32_t i = 0; i < graph->outputs.count + graph->inputs.count; i++) {
        const xpu_value value =
            i < graph->outputs.count ? graph->outputs.items[i] : graph->inputs.items[i - graph->outputs.count];
        const xpu_dtype dtype = xpu_value_at(graph, value)->dtype;
        if (pw_code(dtype) >= 0) continue;
        xpu_diag_add(diags, XPU_SEVERITY_WARNING, XPU_OK, graph->file, "convert-type",
                     xpu_printf(arena, "tensor '%s'", xpu_escape(arena, xpu_value_at(graph, value)->name, 100)),
                     "an input or output is int64 in what is written",
                     xpu_printf(arena, "PaddlePaddle has no tensors of %s", xpu_dtype_name(dtype)), NULL);
    }
    const xpu_refused_row *row = xpu_refused_row_of(XPU_REFUSED_OUTPUTS);
    if (!graph->outputs.count)
        xpu_error(diags, XPU_EMODEL, graph->file, "convert-operator", "the model", "the model has no outputs", row->why,
                  row->hint);
    if (diags->errors > errors) return NULL;
    prune(w);
    return w;
}

/* ---- protobuf ---- */

static void put_varint(xpu_text *out, uint64_t value) {
    char byte;
    do {
        byte = (char)((value & 127) | (value > 127 ? 128 : 0));
        xpu_text_add_bytes(out, &byte, 1);
        value >>= 7;
    } while (value);
}

static void put_int(xpu_text *out, uint32_t field, int64_t value) {
    put_varint(out, field << 3);
    put_varint(out, (uint64_t)value);
}

static void put_float(xpu_text *out, uint32_t field, float value) {
    put_varint(out, field << 3 | 5);
    xpu_text_add_bytes(out, (const char *)&value, sizeof value);
}

static void put_bytes(xpu_text *out, uint32_t field, const char *bytes, size_t length) {
    put_varint(out, field << 3 | 2);
    put_varint(out, length);
    xpu_text_add_bytes(out, bytes, length);
}

static void put_text(xpu_text *out, uint32_t field, const char *text) {
    put_bytes(out, field, text, strlen(text));
}

static void put_message(xpu_text *out, uint32_t field, const xpu_text *message) {
    put_bytes(out, field, message->text ? message->text : "", message->length);
}

static xpu_text message(const pw *w) {
    xpu_text text;
    xpu_text_init(&text, w->arena);
    return text;
}

/* TensorDesc {data_type = 1, dims = 2}. */
static xpu_text tensor_desc(const pw *w, const pw_var *var) {
    xpu_text desc = message(w);
    put_int(&desc, 1, pw_code(var->dtype));
    for (int i = 0; i < var->rank; i++) put_int(&desc, 2, var->dims[i]);
    return desc;
}

enum { TYPE_TENSOR = 7, TYPE_FEED = 9, TYPE_FETCH = 10 };

/* VarDesc {name = 1, type = 2 {type = 1, lod_tensor = 3 {tensor = 1, lod_level = 2}}, persistable = 3, ...}. */
static void put_var(const pw *w, xpu_text *block, const pw_var *var) {
    const xpu_text desc = tensor_desc(w, var);
    xpu_text lod = message(w), type = message(w), out = message(w);
    put_message(&lod, 1, &desc);
    put_int(&lod, 2, 0);
    put_int(&type, 1, TYPE_TENSOR);
    put_message(&type, 3, &lod);
    put_text(&out, 1, var->name);
    put_message(&out, 2, &type);
    put_int(&out, 3, var->is_parameter);
    put_int(&out, 4, var->is_input);
    if (var->is_parameter) put_int(&out, 5, 1);
    if (var->is_parameter) put_int(&out, 6, 1);
    put_message(block, 3, &out);
}

static void put_holder(const pw *w, xpu_text *block, const char *name, int kind, int stays) {
    xpu_text type = message(w), out = message(w);
    put_int(&type, 1, kind);
    put_text(&out, 1, name);
    put_message(&out, 2, &type);
    put_int(&out, 3, stays);
    put_message(block, 3, &out);
}

/* OpDesc.Attr {name = 1, type = 2, i = 3, f = 4, s = 5, ints = 6, floats = 7, b = 10, l = 13, longs = 15}. */
static void put_attr(const pw *w, xpu_text *op, const pw_attr *attr) {
    xpu_text out = message(w);
    put_text(&out, 1, attr->name);
    put_int(&out, 2, attr->type);
    switch (attr->type) {
    case PW_INT: put_int(&out, 3, attr->i); break;
    case PW_FLOAT: put_float(&out, 4, attr->f); break;
    case PW_STRING: put_text(&out, 5, attr->s); break;
    case PW_BOOL: put_int(&out, 10, attr->i); break;
    case PW_LONG: put_int(&out, 13, attr->i); break;
    case PW_BLOCK: put_int(&out, 12, attr->body->index); break;
    case PW_INTS:
    case PW_LONGS:
        for (uint32_t i = 0; i < attr->count; i++) put_int(&out, attr->type == PW_INTS ? 6 : 15, attr->ints[i]);
        break;
    case PW_FLOATS:
        for (uint32_t i = 0; i < attr->count; i++) put_float(&out, 7, attr->floats[i]);
        break;
    }
    put_message(op, 4, &out);
}

static void put_slot(const pw *w, xpu_text *op, uint32_t field, const pw_slot *slot) {
    xpu_text out = message(w);
    put_text(&out, 1, slot->name);
    for (uint32_t i = 0; i < slot->vars.count; i++) put_text(&out, 2, slot->vars.items[i]);
    put_message(op, field, &out);
}

static void put_op(const pw *w, xpu_text *block, const pw_op *op) {
    xpu_text out = message(w);
    for (uint32_t i = 0; i < op->inputs.count; i++) put_slot(w, &out, 1, &op->inputs.items[i]);
    for (uint32_t i = 0; i < op->outputs.count; i++) put_slot(w, &out, 2, &op->outputs.items[i]);
    put_text(&out, 3, op->type);
    for (uint32_t i = 0; i < op->attrs.count; i++) put_attr(w, &out, &op->attrs.items[i]);
    put_message(block, 4, &out);
}

/* Inputs come from feed, outputs go to fetch, each in its column. */
static void put_port(pw *w, xpu_text *block, const char *var, int64_t column, int is_input) {
    pw_op op = {.type = is_input ? "feed" : "fetch"};
    pw_in(w, &op, "X", is_input ? "feed" : var);
    pw_out(w, &op, "Out", is_input ? var : "fetch");
    pw_int(w, &op, "col", column);
    put_op(w, block, &op);
}

static void put_vars(const pw *w, xpu_text *block, int index) {
    for (uint32_t i = 0; i < w->vars.count; i++) {
        const pw_var *var = &w->vars.items[i];
        if (!var->is_used || (var->place ? var->place - 1 : 0) != index) continue;
        if (var->holder)
            put_holder(w, block, var->name, var->holder, 0);
        else
            put_var(w, block, var);
    }
}

/* The blocks of bodies, in the order of their numbers. */
static void put_bodies(const pw *w, xpu_text *program, const pw_ops *ops) {
    for (uint32_t i = 0; i < ops->count; i++) {
        for (uint32_t k = 0; k < ops->items[i]->body_count; k++) {
            const pw_body *body = ops->items[i]->bodies[k];
            xpu_text block = message(w);
            put_int(&block, 1, body->index);
            put_int(&block, 2, body->parent);
            put_vars(w, &block, body->index);
            for (uint32_t o = 0; o < body->ops.count; o++) put_op(w, &block, body->ops.items[o]);
            put_int(&block, 5, -1);
            put_message(program, 1, &block);
            put_bodies(w, program, &body->ops);
        }
    }
}

xpu_status xpu_paddle_write_desc(pw *w, xpu_output *output) {
    enum { VERSION = 2006002 };
    pw_lower_control(w);
    xpu_text block = message(w), program = message(w), version = message(w);
    put_int(&block, 1, 0);
    put_int(&block, 2, -1);
    put_holder(w, &block, holders[FEED_HOLDER], TYPE_FEED, 1);
    put_holder(w, &block, holders[FETCH_HOLDER], TYPE_FETCH, 1);
    put_vars(w, &block, 0);
    for (uint32_t i = 0; i < w->graph->inputs.count; i++)
        put_port(w, &block, pw_name(w, w->graph->inputs.items[i]), i, 1);
    for (uint32_t i = 0; i < w->ops.count; i++) put_op(w, &block, w->ops.items[i]);
    for (uint32_t i = 0; i < w->graph->outputs.count; i++)
        put_port(w, &block, pw_name(w, w->graph->outputs.items[i]), i, 0);
    put_int(&block, 5, -1);
    put_message(&program, 1, &block);
    put_bodies(w, &program, &w->ops);
    put_int(&version, 1, VERSION);
    put_message(&program, 4, &version);
    return xpu_output_write(output, program.text, program.length);
}

/* ---- parameters ---- */

static int by_name(const void *a, const void *b) {
    return strcmp((*(const pw_var *const *)a)->name, (*(const pw_var *const *)b)->name);
}

/* Elements of an unsigned type as int64. */
static xpu_status write_widened(const pw *w, xpu_value constant, xpu_output *output) {
    xpu_tensor tensor;
    xpu_status status = xpu_const_tensor(w->graph, constant, w->arena, &tensor, w->diags);
    if (status != XPU_OK) return status;
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) {
        const size_t bytes = xpu_dtype_bytes(tensor.dtype);
        uint64_t element = 0;
        memcpy(&element, (const char *)tensor.data + (size_t)i * bytes, bytes);
        xpu_output_write(output, &element, sizeof element);
    }
    return XPU_OK;
}

/* u32 0 | u64 0 levels | u32 0 | i32 length of TensorDesc | TensorDesc | elements */
static xpu_status write_parameter(const pw *w, const pw_var *var, xpu_output *output) {
    static const char zeros[16];
    const xpu_text desc = tensor_desc(w, var);
    const uint32_t length = (uint32_t)desc.length;
    xpu_output_write(output, zeros, sizeof zeros);
    xpu_output_write(output, &length, sizeof length);
    xpu_output_write(output, desc.text, desc.length);
    if (var->constant.id && xpu_value_at(w->graph, var->constant)->dtype != var->dtype)
        return write_widened(w, var->constant, output);
    if (var->constant.id) return xpu_convert_constant(w->graph, var->constant, output, w->diags);
    xpu_output_write(output, var->tensor.data, xpu_tensor_bytes(&var->tensor));
    return XPU_OK;
}

xpu_status xpu_paddle_write_parameters(const pw *w, xpu_output *output) {
    const pw_var **list = XPU_NEW_ARRAY(w->arena, const pw_var *, w->vars.count + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < w->vars.count; i++) {
        if (w->vars.items[i].is_parameter && w->vars.items[i].is_used) list[count++] = &w->vars.items[i];
    }
    qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; i < count; i++) {
        xpu_status status = write_parameter(w, list[i], output);
        if (status != XPU_OK) return status;
    }
    return XPU_OK;
}

xpu_status xpu_convert_paddle(xpu_arena *arena, xpu_graph *graph, xpu_output *program, xpu_output *parameters,
                              xpu_diags *diags) {
    const size_t errors = diags->errors;
    pw *w = xpu_paddle_program_of(arena, graph, 1, diags);
    if (!w) return xpu_diags_since(diags, errors);
    xpu_paddle_write_desc(w, program);
    return xpu_paddle_write_parameters(w, parameters);
}
