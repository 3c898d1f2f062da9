/* --state OUT=IN: an output of the model that is an input of the next run. */
#include <string.h>

#include "xpuc/pipeline.h"

enum { SHOWN = 12 };

static const char *shown(const xpu_pipeline *p, const char *text) {
    return xpu_escape_message(p->arena, text, 120);
}

static xpu_status refuse(const xpu_pipeline *p, const char *text, const char *what, const char *why, const char *hint) {
    return xpu_error(p->diags, XPU_EUSAGE, p->path, "state-option", xpu_printf(p->arena, "--state %s", shown(p, text)),
                     what, why, hint);
}

static const char *names_of(const xpu_pipeline *p, const xpu_value *values, uint32_t count) {
    xpu_text text;
    xpu_text_init(&text, p->arena);
    for (uint32_t i = 0; i < count && i < SHOWN; i++)
        xpu_text_add(&text, "%s'%s'", i ? ", " : "", shown(p, xpu_value_at(p->graph, values[i])->name));
    if (count > SHOWN) xpu_text_add(&text, " and %u more", count - SHOWN);
    return count ? text.text : "none";
}

/* The index of the value of this name, `length` bytes, or -1. */
static int64_t find(const xpu_graph *graph, const xpu_value *values, uint32_t count, const char *name, size_t length) {
    for (uint32_t i = 0; i < count; i++) {
        const char *own = xpu_value_at(graph, values[i])->name;
        if (strlen(own) == length && memcmp(own, name, length) == 0) return i;
    }
    return -1;
}

/* Names may hold '=': the first one counts that stands between an output and an input. */
static xpu_status find_both(const xpu_pipeline *p, const char *text, int64_t *output, int64_t *input) {
    const xpu_graph *g = p->graph;
    const char *first = strchr(text, '=');
    if (!first || first == text || !first[1])
        return refuse(p, text, "the state cannot be read", "it is no OUTPUT=INPUT",
                      "write for example --state stateN=state");
    for (const char *at = first; at; at = strchr(at + 1, '=')) {
        *output = find(g, g->outputs.items, g->outputs.count, text, (size_t)(at - text));
        *input = find(g, g->inputs.items, g->inputs.count, at + 1, strlen(at + 1));
        if (*output >= 0 && *input >= 0) return XPU_OK;
    }
    if (find(g, g->outputs.items, g->outputs.count, text, (size_t)(first - text)) < 0)
        return refuse(p, text, "the model has no such output",
                      xpu_printf(p->arena, "its outputs are %s", names_of(p, g->outputs.items, g->outputs.count)),
                      "the output stands before the input: --state OUTPUT=INPUT");
    return refuse(p, text, "the model has no such input",
                  xpu_printf(p->arena, "its inputs are %s", names_of(p, g->inputs.items, g->inputs.count)),
                  "the input stands behind the output: --state OUTPUT=INPUT");
}

static xpu_status check_types(const xpu_pipeline *p, const char *text, xpu_value output, xpu_value input) {
    if (xpu_value_at(p->graph, output)->dtype == xpu_value_at(p->graph, input)->dtype &&
        xpu_value_same_shape(p->graph, output, input))
        return XPU_OK;
    return refuse(p, text, "the output does not fit the input",
                  xpu_printf(p->arena, "output '%s' is %s, input '%s' is %s",
                             shown(p, xpu_value_at(p->graph, output)->name), xpu_type_text(p->graph, output, p->arena),
                             shown(p, xpu_value_at(p->graph, input)->name), xpu_type_text(p->graph, input, p->arena)),
                  "both need one type and the same dims; --shape fixes those of the inputs");
}

static xpu_status tie(const xpu_pipeline *p, const char *text) {
    xpu_graph *g = p->graph;
    int64_t output = -1, input = -1;
    xpu_status status = find_both(p, text, &output, &input);
    if (status != XPU_OK) return status;
    if (xpu_graph_state_of_output(g, (uint32_t)output) || xpu_graph_state_of_input(g, (uint32_t)input))
        return refuse(p, text, "it is tied twice",
                      "an output is the next run's value of one input, and an input of one", "leave one --state out");
    status = check_types(p, text, g->outputs.items[output], g->inputs.items[input]);
    if (status == XPU_OK) xpu_graph_tie(g, (uint32_t)output, (uint32_t)input);
    return status;
}

xpu_status xpu_tie_states(xpu_pipeline *p) {
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; p->wanted->states && p->wanted->states[i]; i++) {
        xpu_status tied = tie(p, p->wanted->states[i]);
        if (tied != XPU_OK) status = tied;
    }
    return status;
}

xpu_status xpu_check_states(const xpu_pipeline *p) {
    const xpu_graph *g = p->graph;
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < g->states.count; i++) {
        const char *output = xpu_value_at(g, g->outputs.items[g->states.items[i].output])->name;
        const char *input = xpu_value_at(g, g->inputs.items[g->states.items[i].input])->name;
        if (xpu_value_at(g, g->outputs.items[g->states.items[i].output])->kind != XPU_VALUE_CONST) continue;
        status = refuse(p, xpu_printf(p->arena, "%s=%s", output, input), "the output is a constant",
                        "what is the same after every run is no state", "give the input its value in each run");
    }
    return status;
}
