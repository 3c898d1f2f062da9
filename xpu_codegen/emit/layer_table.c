#include "xpu_codegen/emit/layer_table.h"

#include "xpu_codegen/emit/steps_text.h"
#include "xpu_codegen/lower/layers.h"

/* Calls that follow each other and are the same but for their arguments: calls first .. end - 1. */
static uint32_t end_of_run(const xpu_codegen_layer *layer, uint32_t first) {
    const xpu_call *call = &layer->calls.items[first];
    uint32_t end = first + 1;
    while (end < layer->calls.count && layer->calls.items[end].kernel == call->kernel &&
           layer->calls.items[end].body == call->body && layer->calls.items[end].words == call->words) {
        end++;
    }
    return end;
}

/* What a layer calls: "copy_nd x3, chain(chain_1_add)". */
static const char *calls_of(const xpu_codegen_layer *layer, xpu_arena *arena) {
    if (!layer->calls.count) return "the host";
    xpu_text text;
    xpu_text_init(&text, arena);
    for (uint32_t first = 0, end; first < layer->calls.count; first = end) {
        const xpu_call *call = &layer->calls.items[first];
        end = end_of_run(layer, first);
        xpu_text_add(&text, "%s%s", first ? ", " : "", xpu_kernel_of(call->kernel)->name);
        if (call->body) xpu_text_add(&text, "(%s)", call->body);
        if (call->unlisted) xpu_text_add(&text, " or %s", xpu_kernel_of((xpu_kernel)(call->unlisted - 1))->name);
        if (end - first > 1) xpu_text_add(&text, " x%u", end - first);
    }
    return text.text;
}

static void emit_call(xpu_text *text, const xpu_call *call, uint32_t word, uint32_t count) {
    const xpu_kernel_info *kernel = xpu_kernel_of(call->kernel);
    if (call->kernel == XPU_KERNEL_when_empty) {
        xpu_text_add(text, "    if (!args[%u]) return xpu_when_empty((const void *)(args + %u), layer, after);\n", word,
                     word);
        return;
    }
    if (call->unlisted) {
        xpu_text_add(
            text,
            "    if (!((const struct xpu_engine_lists_args *)(const void *)(args + %u))->work)\n"
            "        return xpu_%s((const void *)(xpu_plan + xpu_layer_args[layer] / XPU_LAYER_ARGS_LIMIT + %u), "
            "layer, after);\n",
            word, xpu_kernel_of((xpu_kernel)(call->unlisted - 1))->name, word + xpu_list_words());
    }
    if (count == 1) {
        xpu_text_add(text, "    after = xpu_%s((const void *)(args + %u), ", kernel->name, word);
    } else {
        xpu_text_add(text, "    for (uint32_t i = 0; i < %u; i++) after = xpu_%s((const void *)(args + %u + %u * i), ",
                     count, kernel->name, word, call->words);
    }
    xpu_text_add(text, "%s%slayer, after);\n", call->body ? call->body : "", call->body ? ", " : "");
}

static uint32_t words_of(const xpu_codegen_layer *layer) {
    uint32_t words = 0;
    for (uint32_t c = 0; c < layer->calls.count; c++) words += layer->calls.items[c].words;
    return words;
}

static void emit_function(xpu_text *text, const xpu_codegen_layer *layer, uint32_t number, const char *calls) {
    xpu_text_add(text,
                 "/* %s */\nstatic xpu_ticket calls_%u(const uint32_t *args, uint32_t layer, xpu_ticket after) {\n",
                 calls, number);
    if (!layer->calls.count) xpu_text_add(text, "    (void)args;\n    after = xpu_host_call(layer, after);\n");
    uint32_t word = 0;
    for (uint32_t first = 0, end; first < layer->calls.count; first = end) {
        const xpu_call *call = &layer->calls.items[first];
        end = end_of_run(layer, first);
        emit_call(text, call, word, end - first);
        word += (end - first) * call->words;
    }
    xpu_text_add(text, "    return after;\n}\n\n");
}

/* By layer: the number of its function. */
static uint32_t *emit_functions(xpu_codegen *cg, xpu_text *text, xpu_arena *arena) {
    uint32_t *function_of = XPU_NEW_ARRAY(arena, uint32_t, cg->layers.count);
    xpu_name_table numbers = {.arena = arena};
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        const xpu_codegen_layer *layer = &cg->layers.items[i];
        const char *calls = calls_of(layer, arena);
        const uint32_t *known = xpu_name_find(&numbers, calls);
        function_of[i] = known ? *known : numbers.used + 1;
        if (known) continue;
        emit_function(text, layer, function_of[i], calls);
        xpu_name_add(&numbers, calls, function_of[i]);
    }
    return function_of;
}

static void emit_rows(xpu_codegen *cg, xpu_text *text, const uint32_t *function_of) {
    xpu_text_add(text, "/* What each layer calls, and where its arguments begin in the plan table. */\n"
                       "static const struct {\n"
                       "    xpu_ticket (*calls)(const uint32_t *args, uint32_t layer, xpu_ticket after);\n"
                       "    uint32_t args;\n"
                       "} rows[] __attribute__((section(\".text.xpu_rows\"))) = {\n");
    uint32_t word = 0;
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "row");
        xpu_text_add(text, "    {calls_%u, %u}, /* %u %s */\n", function_of[i], word, i,
                     xpu_escape(scratch, cg->program.layers.items[i].name, 80));
        word += words_of(&cg->layers.items[i]);
        xpu_arena_free(scratch);
    }
    xpu_text_add(text, "};\n\n");
}

static void emit_args(xpu_codegen *cg, xpu_text *text) {
    uint32_t word = 0;
    xpu_text_add(text, "const uint32_t xpu_layer_args[] XPU_LAYER_ARGS_SECTION = {\n");
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        const xpu_codegen_layer *layer = &cg->layers.items[i];
        const uint32_t fetched =
            layer->calls.count == 1 ? xpu_call_fetched_words(&layer->calls.items[0]) : words_of(layer);
        xpu_text_add(text, "    XPU_LAYER_ARGS(%u, %u),\n", word, fetched);
        word += words_of(layer);
    }
    xpu_text_add(text, "};\n\n");
}

static void emit_ahead(const xpu_codegen *cg, xpu_text *text) {
    enum { LINE = 32 };
    xpu_text_add(text, "const uint8_t xpu_layers_ahead[] __attribute__((section(\".text.xpu_layers_ahead\"))) = {");
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        xpu_text_add(text, "%s%d,", i % LINE ? " " : "\n    ", cg->layers.items[i].called_ahead);
    }
    xpu_text_add(text, "\n};\n\n");
}

void xpu_emit_layer_table(xpu_codegen *cg, xpu_text *text) {
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "layer table");
    xpu_text_add(text, "extern %suint32_t xpu_plan[];\n\n", xpu_plan_constness(cg));
    const uint32_t *function_of = emit_functions(cg, text, scratch);
    xpu_text_add(text,
                 "/* The plan table: the arguments of every kernel call. */\n"
                 "__attribute__((section(\".xpu_plan\"), used)) %suint32_t xpu_plan[%u];\n\n",
                 xpu_plan_constness(cg), cg->program.plan.count + 1);
    emit_rows(cg, text, function_of);
    emit_args(cg, text);
    emit_ahead(cg, text);
    xpu_text_add(text,
                 "/* Layers of a range are called in order, from the first that the runtime wants. */\n"
                 "extern volatile struct xpu_control xpu_control;\n"
                 "static uint32_t called;\n"
                 "static xpu_ticket next_layer(const void *plan, xpu_ticket after) {\n"
                 "    uint32_t layer = xpu_control.first_layer + called++;\n"
                 "    return rows[layer].calls((const uint32_t *)plan + rows[layer].args, layer, after);\n"
                 "}\n"
                 "const xpu_layer_function xpu_layers[] __attribute__((section(\".text.xpu_layers\"))) = {\n"
                 "    [0 ... %u] = next_layer};\n"
                 "const uint32_t xpu_layer_count = sizeof xpu_layers / sizeof *xpu_layers;\n\n",
                 cg->layers.count - 1);
    xpu_arena_free(scratch);
}
