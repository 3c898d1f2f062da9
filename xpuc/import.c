/* Which importer reads a model, and the least values of dims that nobody bounds. */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "core/ops/graph_text.h"
#include "frontend/onnx/onnx.h"
#include "frontend/paddle/paddle.h"
#include "xpuc/pipeline.h"

/* Files that are models, or look like ones, and that no importer here reads. */
static const struct {
    const char *ending, *what, *hint;
} refused[] = {
    {".pt", "a PyTorch file", "export it with torch.onnx.export"},
    {".pth", "a PyTorch file", "export it with torch.onnx.export"},
    {".jit", "a TorchScript file", "export it with torch.onnx.export"},
    {".xpu", "a compiled program", "run it with xpu-run, or look into it with xpuc --describe"},
};

xpu_status xpu_read_model(const xpu_pipeline *p, xpu_arena *arena, const xpu_import_options *options, xpu_graph **graph,
                          xpu_diags *diags) {
    if (xpu_paddle_is_model(p->path)) return xpu_paddle_import(arena, p->path, options, graph, diags);
    return xpu_onnx_import(arena, p->path, options, graph, diags);
}

static xpu_status read_model(xpu_pipeline *p, xpu_diags *diags) {
    xpu_graph *partial = NULL;
    xpu_import_options options = p->import;
    options.partial = &partial;
    xpu_status status = xpu_read_model(p, p->arena, &options, &p->graph, diags);
    if (status == XPU_EMODEL && diags == p->diags) xpu_suggest_sizes(p, partial);
    return status;
}

/* ---- the least values of open dims ---- */

enum { MOST_LEAST = 1 << 16 }; /* where the search ends */

/* The first value with a dim below `least`, or none. Dims that no symbol changes do not count: [0] is the shape of a
 * scalar. */
static xpu_value find_smaller(const xpu_graph *graph, const int64_t *symbols, int64_t least) {
    for (uint32_t id = 1; id < graph->values.count; id++) {
        const xpu_value_info *info = xpu_value_at(graph, (xpu_value){id});
        for (int i = 0; i < info->rank; i++) {
            int is_fixed = !info->dims[i].id || xpu_dim_is_const(&graph->dims, info->dims[i], NULL);
            if (!is_fixed && xpu_dim_eval(&graph->dims, info->dims[i], symbols) < least) return (xpu_value){id};
        }
    }
    return (xpu_value){0};
}

/* Whether a Pad adds more by reflection than a dim, which a symbol changes, has to reflect. */
static int reflects_too_far(const xpu_graph *graph, xpu_node node, const int64_t *symbols) {
    if (!xpu_node_is(graph, node, XPU_OP_PAD) || strcmp(xpu_node_string(graph, node, XPU_ATTR_MODE), "reflect") != 0)
        return 0;
    uint32_t count;
    const int64_t *pads = xpu_node_ints(graph, node, XPU_ATTR_PADS, &count);
    const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, node, 0));
    for (uint32_t i = 0; i < count; i++) {
        xpu_dim dim = x->dims[i % (count / 2)];
        if (xpu_dim_is_const(&graph->dims, dim, NULL) || pads[i] <= 0) continue;
        if (xpu_dim_eval(&graph->dims, dim, symbols) <= pads[i]) return 1;
    }
    return 0;
}

static int any_reflects_too_far(const xpu_graph *graph, const int64_t *symbols) {
    XPU_FOR_ALL_NODES(graph, node) {
        if (reflects_too_far(graph, node, symbols)) return 1;
    }
    return 0;
}

static int is_too_small(const xpu_graph *graph, const int64_t *symbols) {
    return find_smaller(graph, symbols, 1).id != 0 || any_reflects_too_far(graph, symbols);
}

static void set_open(const xpu_graph *graph, int64_t *symbols, int64_t value) {
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        const xpu_symbol *symbol = &graph->dims.symbols.items[i];
        if (symbol->open) symbols[i] = value < symbol->max ? value : symbol->max;
    }
}

/* The least values with which no tensor is empty and every reflection fits: all grow until it is so, then each shrinks
 * as far as it can. Returns whether there are any. */
static int find_least(const xpu_graph *graph, int64_t *symbols) {
    int64_t enough = 1;
    for (; is_too_small(graph, symbols); set_open(graph, symbols, enough)) {
        if (enough >= MOST_LEAST) return 0;
        enough *= 2;
    }
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        if (!graph->dims.symbols.items[i].open) continue;
        int64_t too_few = 0, most = symbols[i];
        while (most - too_few > 1) {
            symbols[i] = too_few + (most - too_few) / 2;
            if (is_too_small(graph, symbols)) {
                too_few = symbols[i];
            } else {
                most = symbols[i];
            }
        }
        symbols[i] = most;
    }
    return 1;
}

/* Reads the model once more, open dims beginning at `symbols`. Its notes have been given. */
static xpu_status read_again(xpu_pipeline *p, const int64_t *symbols) {
    const xpu_dims *dims = &p->graph->dims;
    int reflects = any_reflects_too_far(p->graph, NULL);
    xpu_open_dim *open = XPU_NEW_ARRAY(p->arena, xpu_open_dim, dims->symbols.count);
    xpu_text text;
    xpu_text_init(&text, p->arena);
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        const xpu_symbol *symbol = &dims->symbols.items[i];
        if (!symbol->open) continue;
        open[p->import.open_count++] = (xpu_open_dim){symbol->name, symbols[i]};
        if (symbols[i] == 1) continue;
        xpu_text_add(&text, "%s'%s' is at least %lld", text.length ? ", " : "", xpu_escape(p->arena, symbol->name, 100),
                     (long long)symbols[i]);
    }
    p->import.open = open;
    xpu_diag_add(p->diags, XPU_SEVERITY_NOTE, XPU_OK, p->graph->file, "shape-open", NULL, text.text,
                 reflects ? "below that a tensor of the model would be empty, or have too little for a Pad to reflect"
                          : "a tensor of the model would be empty below that",
                 NULL);
    xpu_status status = read_model(p, xpu_diags_new(p->arena));
    return status == XPU_OK ? XPU_OK : read_model(p, p->diags); /* for its errors */
}

/* An input of integers whose elements a dim of the value follows from, or NULL. */
static const xpu_value_info *sizing_input(const xpu_graph *graph, const xpu_value_info *info) {
    for (uint32_t i = 0; i < graph->dims.symbols.count; i++) {
        xpu_value says = graph->dims.symbols.items[i].value;
        if (!says.id || xpu_value_at(graph, says)->kind != XPU_VALUE_INPUT) continue;
        for (int d = 0; d < info->rank; d++) {
            if (xpu_dim_has_symbol(&graph->dims, info->dims[d], i)) return xpu_value_at(graph, says);
        }
    }
    return NULL;
}

/* At the smallest shape no dim may be negative. */
static xpu_status check_smallest(const xpu_pipeline *p) {
    const xpu_graph *graph = p->graph;
    xpu_value value = find_smaller(graph, NULL, 0);
    if (!value.id) return XPU_OK;
    const xpu_value_info *info = xpu_value_at(graph, value), *input = sizing_input(graph, info);
    const char *hint = "give the symbols ranges that begin at larger values, with --shape";
    if (input)
        hint = xpu_printf(p->arena, "say what input '%s' holds, for example --value=%s=1..100",
                          xpu_escape(p->arena, input->name, 100), xpu_escape(p->arena, input->name, 100));
    return xpu_error(p->diags, XPU_EMODEL, graph->file, "shape-negative",
                     xpu_printf(p->arena, "tensor '%s'", xpu_escape(p->arena, info->name, 100)),
                     "a dim is negative at the smallest shape",
                     xpu_printf(p->arena, "it is %s", xpu_type_text(graph, value, p->arena)), hint);
}

static xpu_status fill_open_dims(xpu_pipeline *p) {
    const xpu_dims *dims = &p->graph->dims;
    int64_t *symbols = XPU_NEW_ARRAY(p->arena, int64_t, dims->symbols.count);
    int any = 0;
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        symbols[i] = dims->symbols.items[i].min;
        any |= dims->symbols.items[i].open;
    }
    if (any && is_too_small(p->graph, symbols) && find_least(p->graph, symbols)) {
        xpu_status status = read_again(p, symbols);
        if (status != XPU_OK) return status;
    }
    return check_smallest(p);
}

static void note_guards(const xpu_pipeline *p) {
    for (uint32_t i = 0; i < p->graph->guards.count; i++) {
        const xpu_guard *guard = &p->graph->guards.items[i];
        xpu_diag_add(p->diags, XPU_SEVERITY_NOTE, XPU_OK, p->graph->file, "shape-guard", guard->where,
                     xpu_printf(p->arena, "only shapes with %s can be run", xpu_guard_text(p->graph, guard, p->arena)),
                     NULL, NULL);
    }
}

static xpu_status refuse(const xpu_pipeline *p, const char *why, const char *hint) {
    return xpu_error(p->diags, XPU_EUSAGE, p->path, "model-format", NULL, "the file is no model that can be compiled",
                     why, hint);
}

xpu_status xpu_check_format(const xpu_pipeline *p) {
    const char *ending = strrchr(xpu_path_name(p->path), '.');
    int is_there = xpu_file_given(p->arena, p->path) || access(p->path, F_OK) == 0;
    if (!is_there && !xpu_file_open(p->arena, p->path, p->diags)) return xpu_diags_status(p->diags);
    for (size_t i = 0; ending && i < sizeof refused / sizeof *refused; i++) {
        if (strcasecmp(ending, refused[i].ending) != 0) continue;
        return refuse(p,
                      xpu_printf(p->arena, "its name says that it is %s; ONNX and PaddlePaddle models can be read",
                                 refused[i].what),
                      refused[i].hint);
    }
    if (!xpu_is_program(p)) return XPU_OK;
    return refuse(p, "it begins as a compiled program does; ONNX and PaddlePaddle models can be read",
                  "run it with xpu-run, or look into it with xpuc --describe");
}

/* ---- networks made in C ---- */

/* What tells networks apart: what is said of them, and the elements of their constants. */
static xpu_hash hash_of(const xpu_graph *graph, xpu_arena *arena) {
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_graph_text(graph, &text);
    xpu_hasher *hasher = xpu_hasher_new(arena);
    xpu_hasher_add(hasher, text.text, text.length);
    for (uint32_t id = 1; id < graph->values.count; id++) {
        const xpu_const *constant = xpu_value_at(graph, (xpu_value){id})->constant;
        if (!constant) continue;
        xpu_hasher_add(hasher, constant->bytes, constant->length);
        for (uint32_t i = 0; i < constant->steps.count; i++) {
            const xpu_const_step *step = &constant->steps.items[i];
            xpu_hasher_add(hasher, &step->kind, sizeof step->kind);
            xpu_hasher_add(hasher, step->dims, sizeof step->dims);
            if (step->factor_count) xpu_hasher_add(hasher, step->factors, step->factor_count * sizeof *step->factors);
        }
    }
    return xpu_hasher_result(hasher);
}

/* The passes change the graph, the network stays as it is. */
static xpu_status take_network(xpu_pipeline *p) {
    p->graph = xpu_graph_copy(p->arena, p->built->graph);
    xpu_graph_source source = {.hash = hash_of(p->graph, p->arena)};
    XPU_PUSH(p->arena, &p->graph->sources, source);
    if (p->graph->outputs.count) return XPU_OK;
    return xpu_error(p->diags, XPU_EMODEL, p->graph->file, "network-output", NULL, "the network has no outputs",
                     "nothing that it computes is asked for", "call xpuc_output for each result that is wanted");
}

xpu_status xpu_import_model(xpu_pipeline *pipeline) {
    xpu_status status = pipeline->built ? take_network(pipeline) : read_model(pipeline, pipeline->diags);
    if (status == XPU_OK) status = fill_open_dims(pipeline);
    if (status == XPU_OK) status = xpu_settle(pipeline->graph, pipeline->diags);
    if (status == XPU_OK) note_guards(pipeline);
    return status;
}
