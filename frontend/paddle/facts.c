/* What a PaddlePaddle program says of itself. */
#include <inttypes.h>
#include <string.h>

#include "frontend/paddle/importer.h"

typedef struct {
    xpu_arena *arena;
    const xpu_paddle_program *program;
    xpu_model_facts *facts;
} teller;

static const char *type_text(const teller *t, const xpu_paddle_var *var) {
    xpu_text text;
    xpu_text_init(&text, t->arena);
    xpu_text_add(&text, "%s", var->type_name);
    if (var->rank == XPU_PADDLE_NO_RANK) return text.text;
    for (int i = 0; i < var->rank; i++) {
        xpu_text_add(&text, "%s", i ? "," : "[");
        if (var->dims[i] < 0)
            xpu_text_add(&text, "?");
        else
            xpu_text_add(&text, "%" PRId64, var->dims[i]);
    }
    xpu_text_add(&text, var->rank ? "]" : "[]");
    return text.text;
}

static const char *name_of(const teller *t, uint32_t var) {
    if (var == XPU_PADDLE_NO_VAR) return "";
    const char *name = t->program->vars.items[var].name;
    return name[0] ? name : xpu_printf(t->arena, "%%%" PRIu32, var);
}

static const char *const *names_of(const teller *t, const xpu_paddle_slot *slots, uint32_t count, uint32_t *total) {
    XPU_ARRAY(const char *) names = {0};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < slots[i].count; k++) XPU_PUSH(t->arena, &names, name_of(t, slots[i].vars[k]));
    }
    *total = names.count;
    return names.items;
}

static xpu_model_value value_of(const teller *t, const xpu_paddle_port *port) {
    const xpu_paddle_var *var = &t->program->vars.items[port->var];
    return (xpu_model_value){.name = port->name[0] ? port->name : name_of(t, port->var), .type = type_text(t, var)};
}

static void add_ports(const teller *t) {
    uint32_t count = 0;
    const xpu_paddle_port *ports = xpu_paddle_ports(t->arena, t->program, 1, &count);
    for (uint32_t i = 0; i < count; i++) XPU_PUSH(t->arena, &t->facts->inputs, value_of(t, &ports[i]));
    ports = xpu_paddle_ports(t->arena, t->program, 0, &count);
    for (uint32_t i = 0; i < count; i++) XPU_PUSH(t->arena, &t->facts->outputs, value_of(t, &ports[i]));
}

static void add_operator(const teller *t, const xpu_paddle_op *op) {
    if (xpu_paddle_is_input(op) || xpu_paddle_is_output(op) || xpu_paddle_is_parameter(op)) return;
    xpu_model_operator entry = {.name = "", .block = "", .index = op->index};
    const char *hint;
    if (!xpu_paddle_find_row(op)) entry.why_not = xpu_paddle_why_not(op, &hint);
    entry.type = op->dialect[0] ? xpu_printf(t->arena, "%s.%s", op->dialect, op->type) : op->type;
    if (op->block) entry.block = xpu_printf(t->arena, "block %" PRIu32, op->block);
    entry.inputs = names_of(t, op->inputs, op->input_count, &entry.input_count);
    entry.outputs = names_of(t, op->outputs, op->output_count, &entry.output_count);
    if (entry.output_count) entry.name = entry.outputs[0];
    XPU_PUSH(t->arena, &t->facts->operators, entry);
}

/* What the program declares; open dims count as 1. */
static void add_parameters(const teller *t) {
    for (uint32_t i = 0; i < t->program->vars.count; i++) {
        const xpu_paddle_var *var = &t->program->vars.items[i];
        if (!var->is_persistable || var->kind != XPU_PADDLE_TENSOR || var->block != 0) continue;
        uint64_t bytes = xpu_dtype_bytes(var->dtype);
        for (int k = 0; k < var->rank; k++) bytes *= var->dims[k] < 0 ? 1 : (uint64_t)var->dims[k];
        t->facts->parameters++;
        t->facts->parameter_bytes += bytes;
    }
}

int xpu_paddle_facts(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_model_facts *facts,
                     xpu_diags *diags) {
    xpu_paddle_files files;
    *facts = (xpu_model_facts){.format = "PaddlePaddle program", .name = ""};
    if (xpu_paddle_open(arena, arena, path, options, &files, diags) != XPU_OK) return 0;
    teller t = {.arena = arena, .program = files.program, .facts = facts};
    facts->version = xpu_paddle_version_text(arena, files.program);
    for (uint32_t b = 0; b < files.program->blocks.count; b++) {
        const xpu_paddle_block *block = &files.program->blocks.items[b];
        for (uint32_t i = 0; i < block->op_count; i++) add_operator(&t, &block->ops[i]);
    }
    add_ports(&t);
    add_parameters(&t);
    facts->has_no_parameters = files.missing != NULL;
    facts->parameter_file = files.missing       ? files.missing
                            : files.params      ? xpu_path_name(files.params->path)
                            : facts->parameters ? "one file for each"
                                                : "";
    return 1;
}
