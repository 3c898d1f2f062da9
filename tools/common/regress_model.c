#include "tools/common/regress_model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "tools/common/predict.h"

static const int64_t *symbols_of(xpu_graph *graph, const xpu_inputs *inputs, xpu_arena *arena) {
    if (!graph->dims.symbols.count) return NULL;
    int64_t *symbols = XPU_NEW_ARRAY(arena, int64_t, graph->dims.symbols.count);
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) symbols[i] = graph->dims.symbols.items[i].max;
    xpu_symbols_of_inputs(graph, inputs->items, inputs->count, symbols);
    return symbols;
}

static void add_line(xpu_text *text, const char *name, const char *unit, uint64_t predicted, uint64_t measured) {
    xpu_text_add(text, "        %-40s %-7s %12" PRIu64 " %12" PRIu64 " %+8.1f %%\n", name, unit, predicted, measured,
                 xpu_regress_error(predicted, measured));
}

const char *xpu_regress_predict(xpu_regress_model *model, xpu_program_image *image, const xpu_chip *chip,
                                const xpu_inputs *inputs, const char *stats, xpu_arena *arena, xpu_diags *diags) {
    xpu_program *program = &image->program;
    if (program->stripped || !program->layers.count) return NULL;
    const int64_t *symbols = symbols_of(program->graph, inputs, arena);
    if (!xpu_can_predict(program, symbols)) return NULL;
    const xpu_prediction p = xpu_predict(program, chip, chip, symbols, arena);
    if (p.no_plan) return p.no_plan;
    json_t *layer, *top = xpu_json_parse(arena, stats, strlen(stats), "statistics", diags);
    size_t i;
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_text_add(&text, "        %-40s %-7s %12s %12s\n", "layer", "unit", "by the model", "measured");
    json_array_foreach(json_object_get(top, "layers"), i, layer) {
        const char *name = json_string_value(json_object_get(layer, "name"));
        const char *unit = json_string_value(json_object_get(layer, "unit"));
        const json_int_t cycles = json_integer_value(json_object_get(layer, "cycles"));
        if (i < program->layers.count)
            add_line(&text, xpu_escape(arena, name ? name : "", 40), unit ? unit : "", p.layers[i], (uint64_t)cycles);
    }
    const uint64_t measured = (uint64_t)json_integer_value(json_object_get(top, "cycles"));
    add_line(&text, "all", "", p.cycles, measured);
    model->predicted = p.cycles;
    model->layers = text.text;
    if (fabs(xpu_regress_error(p.cycles, measured)) <= model->limit) return NULL;
    return xpu_printf(arena, "the model says %" PRIu64 " cycles, the chip took %" PRIu64 ": off by more than %g %%",
                      p.cycles, measured, model->limit);
}
