#include "tools/common/predict.h"

#include <string.h>

#include "xpu_runtime/program/placement.h"

/* An engine moves a line of 64 bytes in a cycle, from GM no more than its rate. */
static const double LINE_BYTES = 64;
/* Of a layer, how often something waits for GM alone: lines of instructions as it starts, its first loads and last
 * store. */
static const double WAITS = 10;

typedef struct {
    const xpu_program *program;
    const int64_t *symbols, *upper; /* of the shape, of the upper ends; NULL: there are none */
    const xpu_place *places;
    const int32_t *buffer_of; /* per value: where it lies, -1: nowhere */
    double rate, later;       /* GM: bytes in a cycle, cycles of latency more than on the program's own chip */
} predictor;

static double size_at(const xpu_graph *graph, xpu_dim dim, const int64_t *symbols) {
    int64_t size = symbols ? xpu_dim_between(graph, dim, symbols).max : xpu_dim_eval(&graph->dims, dim, symbols);
    return size > 0 ? (double)size : 0;
}

static double bytes_at(const xpu_graph *graph, xpu_value value, const int64_t *symbols) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    double bytes = (double)xpu_dtype_bytes(info->dtype);
    for (int i = 0; i < info->rank; i++) bytes *= size_at(graph, info->dims[i], symbols);
    return bytes;
}

static uint64_t bytes_of(const predictor *p, xpu_value value) {
    double bytes = bytes_at(p->program->graph, value, p->symbols);
    return bytes < (double)XPU_PROGRAM_MAX_SIZE ? (uint64_t)bytes : (uint64_t)XPU_PROGRAM_MAX_SIZE;
}

/* What a layer does: multiply-accumulates, of one that has none the bytes of its operands and results. */
static double work_at(const predictor *p, const xpu_program_layer *layer, const int64_t *symbols) {
    const xpu_graph *graph = p->program->graph;
    double work = layer->macs.id ? size_at(graph, layer->macs, symbols) : 0;
    if (work > 0) return work;
    for (uint32_t i = 0; i < layer->output_count; i++) work += bytes_at(graph, layer->outputs[i], symbols);
    for (uint32_t i = 0; layer->node.id && i < xpu_node_at(graph, layer->node)->input_count; i++) {
        const xpu_value x = xpu_node_at(graph, layer->node)->inputs[i];
        if (x.id && xpu_value_at(graph, x)->kind != XPU_VALUE_CONST) work += bytes_at(graph, x, symbols);
    }
    return work;
}

/* A layer's model is of the upper ends of dims: the share of that work which the shape asks for. Starts, first loads
 * and last drains (tail) are the same at any shape. */
static double share_of(const predictor *p, const xpu_program_layer *layer) {
    double most = p->upper ? work_at(p, layer, p->upper) : 0;
    return most > 0 ? work_at(p, layer, p->symbols) / most : 1;
}

/* Bytes of the value that lie in GM; constants count with the layer's model. */
static uint64_t gm_bytes_of(const predictor *p, xpu_value value) {
    int32_t buffer = value.id ? p->buffer_of[value.id] : -1;
    if (buffer < 0 || p->places[buffer].level != XPU_LEVEL_GM) return 0;
    return p->program->buffers.items[buffer].kind == XPU_BUFFER_WEIGHT ? 0 : bytes_of(p, value);
}

/* The constants of a layer that have a copy in L3 are not read from GM. */
static int has_copies(const predictor *p, const xpu_node_info *node) {
    for (uint32_t i = 0; i < node->input_count; i++) {
        int32_t buffer = node->inputs[i].id ? p->buffer_of[node->inputs[i].id] : -1;
        for (uint32_t k = 0; buffer >= 0 && k < p->program->buffers.count; k++) {
            const xpu_program_buffer *b = &p->program->buffers.items[k];
            if (b->kind == XPU_BUFFER_COPY && b->copy_of == (uint32_t)buffer) return 1;
        }
    }
    return 0;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* Of the constants that a smaller shape reads: each at least once. */
static double constants_of(const predictor *p, const xpu_program_layer *layer, const xpu_node_info *node,
                           double share) {
    double all = (double)layer->model.constant_bytes, once = 0;
    for (uint32_t i = 0; node && i < node->input_count; i++) {
        if (node->inputs[i].id && xpu_value_at(p->program->graph, node->inputs[i])->kind == XPU_VALUE_CONST)
            once += (double)bytes_of(p, node->inputs[i]);
    }
    return once < all ? larger(once, all * share) : all;
}

/* What layers before have fetched of the layer's constants, and what it fetches for later ones. */
typedef struct {
    double taken, fetched;
} ahead;

static ahead ahead_of(const predictor *p, uint32_t layer) {
    ahead bytes = {0};
    for (uint32_t i = 0; i < p->program->transfers.count; i++) {
        const xpu_program_transfer *t = &p->program->transfers.items[i];
        if (p->places[t->buffer].level != XPU_LEVEL_L3) continue;
        if (t->layer == layer) bytes.fetched += (double)t->bytes;
        if (p->program->buffers.items[t->buffer].last_layer == layer) bytes.taken += (double)t->bytes;
    }
    return bytes;
}

static double predict_layer(const predictor *p, uint32_t index, double *gm_bytes) {
    const xpu_program_layer *layer = &p->program->layers.items[index];
    const xpu_program_model *m = &layer->model;
    const xpu_node_info *node = layer->node.id ? xpu_node_at(p->program->graph, layer->node) : NULL;
    double read = 0, written = 0, share = share_of(p, layer), constants = constants_of(p, layer, node, share);
    const double wait = m->tail > 0 ? WAITS * p->later : 0;
    double slower = p->rate < LINE_BYTES ? LINE_BYTES / p->rate : 1;
    for (uint32_t i = 0; node && i < node->input_count; i++) read += (double)gm_bytes_of(p, node->inputs[i]);
    for (uint32_t i = 0; i < layer->output_count; i++) written += (double)gm_bytes_of(p, layer->outputs[i]);
    if (node && has_copies(p, node)) constants = 0;
    const ahead moved = ahead_of(p, index);
    const double once = constants_of(p, layer, node, 0), times = once > 0 ? constants / once : 1;
    const double taken = constants < times * moved.taken ? constants : times * moved.taken;
    constants += moved.fetched - taken;
    double load = share * (double)m->load * (read > 0 ? slower : 1) + constants / p->rate + taken / LINE_BYTES;
    double store = share * (double)m->store * (written > 0 ? slower : 1);
    double all = (read + written + constants) / p->rate;
    *gm_bytes += read + written + constants;
    return larger(larger(share * (double)m->compute, load), larger(store, all)) + (double)m->tail + wait;
}

/* The first layer fills the copies of weights in L3. */
static double predict_copies(const predictor *p, double *gm_bytes) {
    double bytes = 0;
    for (uint32_t i = 0; i < p->program->buffers.count; i++) {
        const xpu_program_buffer *b = &p->program->buffers.items[i];
        if (b->kind == XPU_BUFFER_COPY) bytes += (double)xpu_dim_eval(&p->program->graph->dims, b->bytes, p->symbols);
    }
    *gm_bytes += bytes;
    return bytes / p->rate;
}

static const char *first_error(xpu_arena *arena, const xpu_diags *diags) {
    if (!diags->count) return "memory cannot be planned";
    return xpu_printf(arena, "%s", xpu_escape_message(arena, diags->items[0].what, 200));
}

static int64_t *upper_ends(const xpu_graph *graph, xpu_arena *arena) {
    const xpu_dims *dims = &graph->dims;
    int64_t *symbols = XPU_NEW_ARRAY(arena, int64_t, dims->symbols.count);
    for (uint32_t i = 0; i < dims->symbols.count; i++) symbols[i] = dims->symbols.items[i].max;
    return symbols;
}

void xpu_symbols_of_inputs(xpu_graph *graph, const xpurt_tensor *inputs, uint32_t count, int64_t *symbols) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < graph->inputs.count; k++) {
            const xpu_value_info *info = xpu_value_at(graph, graph->inputs.items[k]);
            if (!inputs[i].name || strcmp(info->name, inputs[i].name) != 0) continue;
            for (int d = 0; d < info->rank && d < inputs[i].rank; d++) {
                const xpu_dim_node *node = &graph->dims.nodes.items[info->dims[d].id];
                if (node->kind == XPU_DIM_SYMBOL) symbols[node->value] = inputs[i].dims[d];
            }
        }
    }
    xpu_symbols_bound(graph, symbols);
}

int xpu_can_predict(const xpu_program *program, const int64_t *symbols) {
    const xpu_dims *dims = &program->graph->dims;
    int is_upper = 1;
    for (uint32_t i = 0; symbols && i < dims->symbols.count; i++) is_upper &= symbols[i] == dims->symbols.items[i].max;
    for (uint32_t i = 0; i < program->layers.count && !is_upper; i++) {
        const xpu_program_model *m = &program->layers.items[i].model;
        const uint64_t most = XPU_PROGRAM_MAX_MODELLED;
        if (m->compute == most || m->load == most || m->store == most || m->tail == most) return 0;
    }
    return 1;
}

xpu_prediction xpu_predict(const xpu_program *program, const xpu_chip *own, const xpu_chip *chip,
                           const int64_t *symbols, xpu_arena *arena) {
    xpu_diags *diags = xpu_diags_new(arena);
    int same = chip->sm_bytes == own->sm_bytes && chip->l3_bytes == own->l3_bytes && chip->gm_bytes == own->gm_bytes;
    const xpu_place *places = same ? xpu_placement_make(program, chip, symbols, arena, diags)
                                   : xpu_placement_make_new(program, chip, symbols, arena, diags);
    if (!places) return (xpu_prediction){.no_plan = first_error(arena, diags)};
    int32_t *buffer_of = XPU_NEW_ARRAY(arena, int32_t, program->graph->values.count);
    for (uint32_t i = 0; i < program->graph->values.count; i++) buffer_of[i] = -1;
    for (uint32_t i = 0; i < program->values.count; i++)
        buffer_of[program->values.items[i].value.id] = (int32_t)program->values.items[i].buffer;
    const predictor p = {program,
                         symbols,
                         symbols ? upper_ends(program->graph, arena) : NULL,
                         places,
                         buffer_of,
                         (double)chip->gm_rate,
                         (double)chip->gm_latency - (double)own->gm_latency};
    double gm_bytes = 0, cycles = predict_copies(&p, &gm_bytes);
    uint64_t *layers = XPU_NEW_ARRAY(arena, uint64_t, program->layers.count);
    for (uint32_t i = 0; i < program->layers.count; i++) {
        const double alone = predict_layer(&p, i, &gm_bytes);
        cycles += alone;
        layers[i] = (uint64_t)alone;
    }
    return (xpu_prediction){.cycles = (uint64_t)cycles, .gm_bytes = (uint64_t)gm_bytes, .layers = layers};
}
