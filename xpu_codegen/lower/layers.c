/* The layers of a program: their names, and the calls that they make. */
#include "xpu_codegen/lower/layers.h"

/* ---- names ---- */

const char *xpu_unique_layer_name(xpu_codegen *cg, const char *name) {
    const char *unique = name;
    uint32_t *last = xpu_name_find(&cg->layer_names, name);
    while (last && xpu_name_find(&cg->layer_names, unique)) unique = xpu_printf(cg->arena, "%s_%u", name, ++*last);
    xpu_name_add(&cg->layer_names, unique, 1);
    return unique;
}

/* ---- layers ---- */

uint32_t xpu_last_region(const xpu_codegen *cg, xpu_node node) {
    for (uint32_t i = cg->layers.count; i-- > 0;) {
        if (cg->program.layers.items[i].unit != XPU_UNIT_HOST) return cg->layers.items[i].region;
    }
    return xpu_node_at(cg->graph, node)->region;
}

static void describe(xpu_codegen *cg, uint32_t layer, xpu_unit unit, const char *kernel, xpu_dim macs) {
    xpu_program_layer *item = &cg->program.layers.items[layer];
    item->unit = unit;
    item->kernel = kernel;
    item->macs = macs;
}

void xpu_describe_layer(xpu_codegen *cg, uint32_t layer, xpu_kernel kernel, xpu_dim macs) {
    const xpu_kernel_info *info = xpu_kernel_of(kernel);
    cg->layers.items[layer].kernel = kernel;
    describe(cg, layer, info->unit, info->name, macs);
}

void xpu_describe_host_layer(xpu_codegen *cg, uint32_t layer, const char *op) {
    describe(cg, layer, XPU_UNIT_HOST, op, xpu_dim_of(cg, 0));
}

static xpu_plan_word simplified(const xpu_codegen *cg, xpu_plan_word word) {
    int64_t value;
    if (word.kind != XPU_WORD_DIM || !xpu_dim_is_const(&cg->graph->dims, word.dim, &value)) return word;
    return (xpu_plan_word){.kind = XPU_WORD_CONST, .bits = (uint32_t)value};
}

/* Whether a word's value fits 32 bits at the smallest shape; the runtime looks at the others. */
static int fits_word(const xpu_codegen *cg, const xpu_plan_word *word) {
    if (word->kind != XPU_WORD_DIM) return 1;
    int64_t least = xpu_dim_eval(&cg->graph->dims, word->dim, NULL);
    return least == (int32_t)least;
}

xpu_status xpu_add_call_of(xpu_codegen *cg, uint32_t layer, xpu_kernel kernel, const xpu_arg *args, uint32_t count,
                           const char *body) {
    const char *name = cg->program.layers.items[layer].name, *problem = xpu_call_problem(cg->arena, kernel, args);
    if (problem) return xpu_codegen_bug(cg, "a kernel call is not complete", "layer '%s': %s", name, problem);
    for (uint32_t i = 0; i < count; i++) {
        if (args[i].state != XPU_ARG_SET || !fits_word(cg, &args[i].word)) {
            return xpu_codegen_bug(cg, "an argument does not fit 32 bits", "layer '%s': word %u of %s", name, i,
                                   xpu_kernel_of(kernel)->name);
        }
        XPU_PUSH(cg->arena, &cg->program.plan, simplified(cg, args[i].word));
    }
    xpu_call call = {.kernel = kernel, .body = body, .words = count};
    XPU_PUSH(cg->arena, &cg->layers.items[layer].calls, call);
    return XPU_OK;
}

xpu_status xpu_add_call(xpu_codegen *cg, uint32_t layer, xpu_kernel kernel, const xpu_arg *args, const char *body) {
    return xpu_add_call_of(cg, layer, kernel, args, xpu_kernel_of(kernel)->words, body);
}

static int is_whole_words(const xpu_codegen *cg, xpu_dim bytes) {
    int64_t value;
    return xpu_dim_is_const(&cg->graph->dims, bytes, &value) && value % 4 == 0;
}

void xpu_note_pixels(xpu_codegen *cg, xpu_dim in_c, xpu_dim y_pixel) {
    if (!is_whole_words(cg, in_c) || !is_whole_words(cg, y_pixel)) cg->has_odd_pixels = 1;
}
