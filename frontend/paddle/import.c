#include <inttypes.h>
#include <string.h>

#include "base/name_table.h"
#include "frontend/paddle/importer.h"
#include "frontend/paddle/quantised.h"

#define TEXT(importer, ...) xpu_printf((importer)->scratch, __VA_ARGS__)

static const char *shown(const xpu_paddle_importer *importer, const char *name) {
    return xpu_escape(importer->scratch, name, 100);
}

static void fail(const xpu_paddle_importer *importer, const char *rule, const char *where, const char *what,
                 const char *why, const char *hint) {
    xpu_error(importer->diags, XPU_EMODEL, importer->program->file, rule, where, what, why, hint);
}

static void bind(const xpu_paddle_importer *importer, uint32_t var, xpu_value value) {
    importer->bindings[var] = (xpu_paddle_binding){value.id ? XPU_PADDLE_READY : XPU_PADDLE_FAILED, value, {NULL, 0}};
}

/* ---- parameters ---- */

enum { LAZY = 64 << 10 }; /* longer ones stay in their file */

static xpu_value add_parameter(const xpu_paddle_importer *importer, const xpu_paddle_parameter *parameter) {
    xpu_dtype dtype = xpu_paddle_dtype(parameter->code);
    if (parameter->rank > XPU_MAX_RANK) {
        fail(importer, "paddle-params", TEXT(importer, "parameter '%s'", shown(importer, parameter->name)),
             "the parameter has too many dims",
             TEXT(importer, "it has %d; at most %d are supported", parameter->rank, XPU_MAX_RANK),
             "give it fewer dims before the program is saved");
        return (xpu_value){0};
    }
    if (parameter->bytes > LAZY) {
        return xpu_graph_const_file(importer->graph, parameter->name, dtype, parameter->rank, parameter->dims,
                                    parameter->file, parameter->offset);
    }
    xpu_tensor tensor = {.dtype = dtype, .rank = parameter->rank, .data = (void *)""};
    for (int i = 0; i < parameter->rank; i++) tensor.dims[i] = parameter->dims[i];
    if (parameter->bytes) tensor.data = xpu_alloc(importer->scratch, (size_t)parameter->bytes);
    if (xpu_file_read(parameter->file, parameter->offset, tensor.data, (size_t)parameter->bytes, importer->diags) !=
        XPU_OK)
        return (xpu_value){0};
    return xpu_graph_const_bytes(importer->graph, parameter->name, &tensor);
}

static void add_source(const xpu_paddle_importer *importer, const xpu_file *file) {
    XPU_PUSH(importer->arena, &importer->graph->sources, ((xpu_graph_source){.file = file}));
}

static void add_parameters(const xpu_paddle_importer *importer) {
    xpu_paddle_parameters list = {0};
    const xpu_paddle_files *files = &importer->files;
    xpu_name_table names = {.arena = importer->scratch};
    if (files->missing) {
        fail(importer, "paddle-params", NULL, "the program's parameters are missing", files->missing,
             "give their file: --params=FILE");
        return;
    }
    if (!xpu_paddle_read_parameters(importer->arena, importer->program, files->params, files->folder, &list,
                                    importer->diags))
        return;
    if (files->params) add_source(importer, files->params);
    for (uint32_t i = 0; i < list.items.count; i++) {
        xpu_name_add(&names, list.items.items[i].name, i);
        if (!files->params) add_source(importer, list.items.items[i].file);
    }
    for (uint32_t i = 0; i < importer->program->vars.count; i++) {
        const xpu_paddle_var *var = &importer->program->vars.items[i];
        if (!var->is_persistable || var->kind != XPU_PADDLE_TENSOR || var->block != 0) continue;
        const uint32_t *found = xpu_name_find(&names, var->name);
        if (found) bind(importer, i, add_parameter(importer, &list.items.items[*found]));
    }
}

/* ---- inputs ---- */

static xpu_input_reader input_reader(const xpu_paddle_importer *importer) {
    return (xpu_input_reader){.scratch = importer->scratch,
                              .options = importer->options,
                              .graph = importer->graph,
                              .diags = importer->diags,
                              .file = importer->program->file,
                              .rule = "paddle-input",
                              .hint = "save the program again"};
}

static const char *port_name(const xpu_paddle_importer *importer, const xpu_paddle_port *port) {
    return port->name[0] ? port->name : importer->program->vars.items[port->var].name;
}

static void add_inputs(const xpu_paddle_importer *importer) {
    uint32_t count = 0;
    const xpu_paddle_port *ports = xpu_paddle_ports(importer->scratch, importer->program, 1, &count);
    xpu_input *inputs = XPU_NEW_ARRAY(importer->scratch, xpu_input, count + 1);
    xpu_name_table names = {.arena = importer->scratch};
    for (uint32_t i = 0; i < count; i++) {
        const xpu_paddle_var *var = &importer->program->vars.items[ports[i].var];
        const char *name = port_name(importer, &ports[i]), *where = TEXT(importer, "input '%s'", shown(importer, name));
        inputs[i] = (xpu_input){.name = name, .dtype = var->dtype, .rank = var->rank, .dims = var->dims};
        if (var->kind != XPU_PADDLE_TENSOR || var->dtype == XPU_DTYPE_NONE) {
            inputs[i].is_faulty = 1;
            fail(importer, "paddle-input", where, "the input's type is not supported",
                 TEXT(importer, "it is %s", xpu_escape(importer->scratch, var->type_name, 60)),
                 "save the program with tensors of float32 or integers as inputs");
        }
        if (!xpu_name_find(&names, name)) {
            xpu_name_add(&names, name, i);
            continue;
        }
        inputs[i].is_faulty = 1;
        fail(importer, "paddle-input", where, "the input is defined twice", "two operators feed it",
             "save the program again");
    }
    const xpu_input_reader reader = input_reader(importer);
    xpu_take_given_bounds(&reader);
    xpu_add_inputs(&reader, inputs, count);
    for (uint32_t i = 0; i < count; i++) bind(importer, ports[i].var, inputs[i].value);
}

/* ---- outputs ---- */

/* What has another name, or is no result of an operator, gets a copy of its own. */
static xpu_value output_value(const xpu_paddle_importer *importer, xpu_value value, const char *name, uint32_t index) {
    const xpu_value_info *info = xpu_value_at(importer->graph, value);
    if (info->kind == XPU_VALUE_NODE && !info->is_output && strcmp(info->name, name) == 0) return value;
    xpu_origin origin = {.framework = "paddle", .op = "Output", .name = name, .index = index};
    uint32_t number = xpu_graph_origin(importer->graph, &origin);
    xpu_node node = xpu_build(importer->graph, (xpu_node){0}, XPU_OP_IDENTITY, &value, 1, name, NULL, 0, &number, 1,
                              importer->diags);
    return xpu_node_output(importer->graph, node, 0);
}

static void add_outputs(xpu_paddle_importer *importer) {
    uint32_t count = 0, op_count = importer->program->blocks.items[0].op_count;
    const xpu_paddle_port *ports = xpu_paddle_ports(importer->scratch, importer->program, 0, &count);
    if (!count)
        fail(importer, "paddle-output", NULL, "the program has no outputs", "no operator fetch takes a result",
             "save it for inference (paddle.jit.save, save_inference_model)");
    for (uint32_t i = 0; i < count; i++) {
        const xpu_paddle_binding *binding = &importer->bindings[ports[i].var];
        const xpu_paddle_var *program_var = &importer->program->vars.items[ports[i].var];
        const char *name = port_name(importer, &ports[i]);
        if (binding->state == XPU_PADDLE_PENDING) xpu_paddle_settle(importer, ports[i].var);
        if (binding->state == XPU_PADDLE_FAILED) continue;
        int is_array = program_var->kind == XPU_PADDLE_ARRAY;
        if (binding->is_complex) {
            fail(importer, "paddle-output", TEXT(importer, "output '%s'", shown(importer, name)),
                 "the output is complex", "outputs are tensors of real numbers", "give its parts (as_real, abs)");
            continue;
        }
        if (binding->state == XPU_PADDLE_READY && binding->value.id && !is_array) {
            xpu_graph_output(importer->graph, output_value(importer, binding->value, name, op_count));
            continue;
        }
        fail(importer, "paddle-output", TEXT(importer, "output '%s'", shown(importer, name)),
             is_array || binding->list.count ? "the output is a list of tensors" : "the output is not defined",
             is_array || binding->list.count ? "outputs are tensors" : "no operator that is imported computes it",
             "save the program again");
    }
}

/* Values that are outputs are called as the program calls these. */
static void name_outputs(const xpu_paddle_importer *importer) {
    uint32_t count = 0;
    const xpu_paddle_port *ports = xpu_paddle_ports(importer->scratch, importer->program, 0, &count);
    for (uint32_t i = 0; i < count; i++) {
        importer->is_output[ports[i].var] = 1;
        if (!importer->program->vars.items[ports[i].var].name[0] && ports[i].name[0])
            importer->names[ports[i].var] = ports[i].name;
    }
}

static void count_assignments(const xpu_paddle_importer *importer) {
    const xpu_paddle_block *block = &importer->program->blocks.items[0];
    for (uint32_t i = 0; i < block->op_count; i++) {
        const xpu_paddle_op *op = &block->ops[i];
        if (xpu_paddle_is_output(op)) continue;
        for (uint32_t k = 0; k < op->output_count; k++) {
            for (uint32_t j = 0; j < op->outputs[k].count; j++) {
                uint32_t var = op->outputs[k].vars[j];
                if (var != XPU_PADDLE_NO_VAR) importer->assigned[var]++;
            }
        }
    }
}

/* ---- entry ---- */

static void import_program(xpu_paddle_importer *importer) {
    const xpu_paddle_program *program = importer->program;
    const xpu_paddle_block *block = &program->blocks.items[0];
    importer->graph = xpu_graph_new(importer->arena, xpu_path_name(program->file), program->file);
    importer->bindings = XPU_NEW_ARRAY(importer->scratch, xpu_paddle_binding, program->vars.count + 1);
    importer->names = XPU_NEW_ARRAY(importer->scratch, const char *, program->vars.count + 1);
    importer->assigned = XPU_NEW_ARRAY(importer->scratch, uint32_t, program->vars.count + 1);
    importer->made = XPU_NEW_ARRAY(importer->scratch, uint32_t, program->vars.count + 1);
    importer->is_output = XPU_NEW_ARRAY(importer->scratch, uint8_t, program->vars.count + 1);
    importer->seen = XPU_NEW_ARRAY(importer->scratch, uint32_t, program->vars.count + 1);
    importer->was_read = XPU_NEW_ARRAY(importer->scratch, uint8_t, program->blocks.count + 1);
    add_source(importer, importer->files.file);
    size_t errors = importer->diags->errors;
    add_parameters(importer);
    int has_parameters = importer->diags->errors == errors;
    add_inputs(importer);
    name_outputs(importer);
    count_assignments(importer);
    for (uint32_t i = 0; i < program->vars.count && !has_parameters; i++) {
        if (program->vars.items[i].is_persistable && importer->bindings[i].state == XPU_PADDLE_UNSET)
            importer->bindings[i].state = XPU_PADDLE_FAILED;
    }
    for (uint32_t i = 0; i < block->op_count; i++) {
        const xpu_paddle_op *op = &block->ops[i];
        if (xpu_paddle_is_input(op) || xpu_paddle_is_output(op) || xpu_paddle_is_parameter(op)) continue;
        xpu_paddle_read_op(importer, op);
    }
    for (uint32_t b = 1; b < program->blocks.count; b++) {
        if (importer->was_read[b]) continue;
        for (uint32_t i = 0; i < program->blocks.items[b].op_count; i++)
            xpu_paddle_check_op(importer, &program->blocks.items[b].ops[i]);
    }
    add_outputs(importer);
    if (importer->diags->errors == errors) {
        const xpu_input_reader reader = input_reader(importer);
        xpu_check_given_bounds(&reader);
    }
    if (importer->diags->errors == errors) xpu_paddle_fold_quantised(importer->graph, importer->diags);
    if (importer->diags->errors == errors) xpu_graph_drop_elements(importer->graph);
}

xpu_status xpu_paddle_import(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_graph **graph,
                             xpu_diags *diags) {
    static const xpu_import_options defaults = {0};
    size_t errors = diags->errors, first = diags->count;
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(arena), "import");
    xpu_paddle_importer importer = {.arena = arena, .scratch = scratch, .diags = diags};
    importer.options = options ? options : &defaults;
    *graph = NULL;
    if (xpu_paddle_open(arena, scratch, path, importer.options, &importer.files, diags) == XPU_OK) {
        importer.program = importer.files.program;
        importer.options = xpu_paddle_with_ranges(scratch, &importer.files, importer.options, diags);
        import_program(&importer);
    }
    xpu_arena_free(scratch);
    return xpu_import_end(importer.options, importer.graph, errors, first, diags, graph);
}
