/* --describe: what is in a model or a program. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "xpu_runtime/program/file.h"
#include "xpuc/describe.h"

static const char *file_name(const xpu_pipeline *p) {
    return xpu_escape_message(p->arena, xpu_path_name(p->path), 255);
}

void xpu_describe_values(const xpu_pipeline *p, xpu_text *text, const char *title, const xpu_value *values,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        xpu_text_add(text, "%-8s %s  %s\n", title, xpu_escape(p->arena, xpu_value_at(p->graph, values[i])->name, 120),
                     xpu_type_text(p->graph, values[i], p->arena));
    }
}

void xpu_describe_symbols(const xpu_pipeline *p, xpu_text *text) {
    for (uint32_t i = 0; i < p->graph->dims.symbols.count; i++) {
        const xpu_symbol *symbol = &p->graph->dims.symbols.items[i];
        xpu_text_add(text, "symbol   %s  %lld ", xpu_escape(p->arena, symbol->name, 120), (long long)symbol->min);
        if (symbol->open)
            xpu_text_add(text, "or more");
        else
            xpu_text_add(text, "to %lld", (long long)symbol->max);
        if (symbol->step != 1) xpu_text_add(text, " in steps of %lld", (long long)symbol->step);
        xpu_text_add(text, "\n");
    }
}

void xpu_describe_guards(const xpu_pipeline *p, xpu_text *text) {
    for (uint32_t i = 0; i < p->graph->guards.count; i++) {
        const xpu_guard *guard = &p->graph->guards.items[i];
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(p->arena), "guard"); /* its text may be much longer */
        xpu_text_add(text, "guard    %s  %s\n",
                     xpu_escape_message(scratch, xpu_guard_text(p->graph, guard, scratch), 400),
                     xpu_escape_message(scratch, guard->where, 200));
        xpu_arena_free(scratch);
    }
}

static void add_states(const xpu_pipeline *p, xpu_text *text) {
    const xpu_graph *g = p->graph;
    for (uint32_t i = 0; i < g->states.count; i++) {
        xpu_value input = g->inputs.items[g->states.items[i].input];
        xpu_value output = g->outputs.items[g->states.items[i].output];
        xpu_text_add(text, "state    %s -> %s  %s\n", xpu_escape(p->arena, xpu_value_at(g, output)->name, 120),
                     xpu_escape(p->arena, xpu_value_at(g, input)->name, 120), xpu_type_text(g, input, p->arena));
    }
}

/* ---- programs ---- */

static void add_layers(const xpu_pipeline *p, const xpu_program *program, xpu_text *text) {
    xpu_text_add(text, "%u layers:\n", program->layers.count);
    for (uint32_t i = 0; i < program->layers.count; i++) {
        const xpu_program_layer *layer = &program->layers.items[i];
        xpu_text_add(text, "  %4u  %-32s %-8s %s\n", i, xpu_escape(p->arena, layer->name, 60),
                     xpu_unit_name(layer->unit), layer->kernel ? xpu_escape(p->arena, layer->kernel, 40) : "");
    }
}

/* What became of the tensors of the source model: how many cannot be dumped, and what is missing altogether. */
static void add_left_out(const xpu_program *program, xpu_text *text) {
    uint32_t fates[XPU_TENSOR_FOLDED + 1] = {0};
    for (uint32_t i = 0; i < program->tensors.count; i++) fates[program->tensors.items[i].fate]++;
    xpu_text_add(text, "tensors of the model: %u are results of layers, %u inside fused layers, %u folded\n",
                 fates[XPU_TENSOR_DUMPED], fates[XPU_TENSOR_FUSED], fates[XPU_TENSOR_FOLDED]);
    if (program->stripped) xpu_text_add(text, "left out (--strip): the lowered graph; --device=ref cannot run it\n");
}

static char *describe_program(xpu_pipeline *p) {
    if (p->import.shape_count || p->import.value_count) {
        const char *option = p->import.shape_count ? "option '--shape'" : "option '--value'";
        xpu_error(p->diags, XPU_EUSAGE, NULL, "usage", option, "a program's shapes cannot be changed",
                  xpu_printf(p->arena, "'%s' is a compiled program", xpu_escape(p->arena, p->path, 200)),
                  "leave it out, or describe the model");
        return NULL;
    }
    if (p->wanted->describe && strcmp(p->wanted->describe, "text") != 0) {
        xpu_error(p->diags, XPU_EUSAGE, NULL, "usage", "option '--describe'", "a program is described as text only",
                  xpu_printf(p->arena, "'%s' is a compiled program", xpu_escape(p->arena, p->path, 200)),
                  "write --describe; xpu-dump and --emit=ir show more");
        return NULL;
    }
    const xpu_program_image *image = xpu_program_read(p->arena, p->path, p->diags);
    if (!image) return NULL;
    const xpu_program *program = &image->program;
    xpu_text text;
    xpu_text_init(&text, p->arena);
    xpu_text_add(&text, "%s: program for %s, precision %s, from %s (%u operators), made by xpuc %s\n", file_name(p),
                 xpu_escape(p->arena, program->target, 60), xpu_escape(p->arena, program->precision, 20),
                 xpu_escape(p->arena, program->source, 120), program->source_nodes,
                 xpu_escape(p->arena, program->compiler, 40));
    xpu_text_add(&text, "hash     %s  of the program\nhash     %s  of the model\n",
                 xpu_hash_text(p->arena, &image->hash), xpu_hash_text(p->arena, &program->source_hash));
    p->graph = program->graph;
    xpu_describe_values(p, &text, "input", p->graph->inputs.items, p->graph->inputs.count);
    xpu_describe_symbols(p, &text);
    xpu_describe_guards(p, &text);
    xpu_describe_values(p, &text, "output", p->graph->outputs.items, p->graph->outputs.count);
    add_states(p, &text);
    xpu_text_add(&text, "weights: %llu bytes; file: %llu bytes; chip ABI %08x\n",
                 (unsigned long long)program->weights_bytes, (unsigned long long)image->data->size, program->abi_hash);
    for (uint32_t i = 0; i < program->regions.count; i++) {
        const xpu_program_region *region = &program->regions.items[i];
        xpu_text_add(&text, "region %u: %u nodes on %s%s%s\n", i + 1, region->node_count,
                     xpu_escape(p->arena, region->target, 60), region->reason ? ": " : "",
                     region->reason ? xpu_escape_message(p->arena, region->reason, 400) : "");
    }
    add_layers(p, program, &text);
    add_left_out(program, &text);
    return text.text;
}

int xpu_is_program(const xpu_pipeline *p) {
    char magic[4] = {0};
    const xpu_given_file *given = xpu_file_given(p->arena, p->path);
    if (given) return given->size >= sizeof magic && memcmp(given->bytes, "\177ELF", sizeof magic) == 0;
    FILE *file = fopen(p->path, "rb");
    if (!file) return 0;
    int is_elf = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
    fclose(file);
    return is_elf;
}

char *xpu_describe(xpu_pipeline *p) {
    const char *ending = strrchr(xpu_path_name(p->path), '.');
    int is_program = xpu_is_program(p) || (ending && strcasecmp(ending, ".xpu") == 0);
    return is_program ? describe_program(p) : xpu_describe_model(p);
}
