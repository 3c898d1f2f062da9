/*
 * Layers get their numbers when all are there: until then a layer is known by its place among those that nodes became.
 * What a layer is called in the generated C follows from its number.
 */
#include "xpu_codegen/lower/layer_numbers.h"

#include <string.h>

#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/steps.h"
#include "xpu_codegen/lower/weight_copies.h"

enum { MAX_IDENTIFIER = 40 };

static const char *identifier(xpu_codegen *cg, uint32_t layer, const char *name) {
    char *text = xpu_printf(cg->arena, "layer_%u_%s", layer, name);
    size_t length = strlen(text);
    if (length > MAX_IDENTIFIER) text[length = MAX_IDENTIFIER] = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        int plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain) text[i] = '_';
    }
    return text;
}

/* The operators of the source model that the node stands for. */
static const char *source_comment(xpu_codegen *cg, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    xpu_text text;
    xpu_text_init(&text, cg->arena);
    for (uint32_t i = 0; i < info->origins.count; i++) {
        const xpu_origin *origin = &cg->graph->origins.items[info->origins.items[i]];
        xpu_text_add(&text, "%s%s", i ? "\n * " : "", xpu_origin_text(origin, "", cg->arena));
    }
    if (info->origins.count) return text.text;
    const char *result = xpu_value_at(cg->graph, info->outputs[0])->name;
    return xpu_printf(cg->arena, "%s, made by the compiler: '%s'", info->op->name, xpu_escape(cg->arena, result, 120));
}

/* Its C function, and the members of the plan struct, numbered where it makes several calls. */
static void name_layer(xpu_codegen *cg, uint32_t index) {
    xpu_codegen_layer *layer = &cg->layers.items[index];
    if (!layer->comment) layer->comment = source_comment(cg, layer->node);
    layer->identifier = identifier(cg, index, cg->program.layers.items[index].name);
    for (uint32_t i = 0; i < layer->calls.count; i++) {
        const char *kernel = xpu_kernel_of(layer->calls.items[i].kernel)->name;
        layer->calls.items[i].member = layer->calls.count == 1
                                           ? layer->identifier
                                           : xpu_printf(cg->arena, "%s_%s_%u", layer->identifier, kernel, i);
    }
}

/* A layer before all others, in the region of the first one that runs on the chip. */
static void begin_with_copies(xpu_codegen *cg) {
    uint32_t others = cg->layers.count, region = 0;
    for (uint32_t i = others; i-- > 0;) {
        if (cg->layers.items[i].calls.count) region = cg->layers.items[i].region;
    }
    xpu_codegen_layer layer = {.region = region, .comment = "copies of weights, made by the compiler"};
    xpu_program_layer item = {.name = xpu_unique_layer_name(cg, "weights/L3"),
                              .reason = "placement rules want weights in L3"};
    XPU_PUSH(cg->arena, &cg->layers, layer);
    XPU_PUSH(cg->arena, &cg->program.layers, item);
    memmove(cg->layers.items + 1, cg->layers.items, others * sizeof layer);
    memmove(cg->program.layers.items + 1, cg->program.layers.items, others * sizeof item);
    cg->layers.items[0] = layer;
    cg->program.layers.items[0] = item;
    for (uint32_t i = 0; i < cg->graph->nodes.count; i++) {
        if (cg->layer_of[i] >= 0) cg->layer_of[i]++;
    }
    xpu_steps_behind_first(cg);
    xpu_live_behind_copies(cg, cg->program.buffers.items);
    xpu_describe_layer(cg, 0, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
}

xpu_status xpu_number_layers(xpu_codegen *cg, int with_copies) {
    xpu_status status = XPU_OK;
    if (with_copies) {
        begin_with_copies(cg);
        status = xpu_make_copies(cg);
    }
    for (uint32_t i = 0; i < cg->layers.count && !xpu_has_many_layers(cg); i++) name_layer(cg, i);
    return status;
}
