/* Recurrent layers. PaddlePaddle's gates stand in another order than ONNX's, which the builder takes. */
#include <inttypes.h>
#include <string.h>

#include "frontend/paddle/converters.h"

static const xpu_value failed = {0};

enum { MOST_GATES = 4, LIMIT = 1 << 28 };

static const struct {
    const char *name, *activation; /* of the plain ones */
    fe_recurrent_kind kind;
    int gates, order[MOST_GATES];                      /* which of PaddlePaddle's gates each of ONNX's is */
} modes[] = {{"LSTM", NULL, FE_LSTM, 4, {0, 3, 1, 2}}, /* i, o, f, c of i, f, c, o */
             {"GRU", NULL, FE_GRU, 3, {1, 0, 2}},      /* z, r, h of r, z, h */
             {"RNN_TANH", "Tanh", FE_RNN, 1, {0}},
             {"RNN_RELU", "Relu", FE_RNN, 1, {0}}};
enum { MODES = sizeof modes / sizeof *modes };

typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    size_t mode;
    int64_t hidden, directions, layers;
    xpu_paddle_values weights, states;
    xpu_value lengths;
} recurrence;

/* What gates_of gives, of weights of which one is computed. */
static xpu_value computed_gates(recurrence *r, const xpu_value *weights, int64_t stride, int parts) {
    xpu_dims *dims = &r->b.graph->dims;
    const int gates = modes[r->mode].gates;
    const xpu_dim rows = xpu_dim_const(dims, gates * r->hidden), hidden = xpu_dim_const(dims, r->hidden);
    const int64_t first = 0;
    xpu_value directions[2], sides[2], pieces[MOST_GATES];
    for (int64_t k = 0; k < r->directions * parts; k++) {
        const xpu_value value = weights[k / parts * stride + k % parts];
        const xpu_value_info info = *xpu_paddle_info(r->node, value);
        if (info.dtype != XPU_F32)
            return xpu_paddle_refuse(r->node,
                                     xpu_paddle_format(r->node, "the weights are %s", xpu_dtype_name(info.dtype)),
                                     "those of float32 are supported");
        if (info.rank != (parts > 1 ? 1 : 2) || !xpu_dim_same(dims, info.dims[0], rows))
            return xpu_paddle_refuse(r->node, "the weights do not fit hidden_size", fe_shape_text(&r->b, value));
        for (int g = 0; g < gates; g++) {
            const xpu_dim start = xpu_dim_const(dims, modes[r->mode].order[g] * r->hidden);
            pieces[g] = fe_part(&r->b, value, 0, start, hidden, 1, 0);
            if (!pieces[g].id) return failed;
        }
        sides[k % parts] = gates > 1 ? fe_concat(&r->b, pieces, (uint32_t)gates, 0) : value;
        if (!sides[k % parts].id) return failed;
        if (k % parts + 1 < parts) continue;
        const xpu_value both = parts > 1 ? fe_concat(&r->b, sides, (uint32_t)parts, 0) : sides[0];
        directions[k / parts] = both.id ? fe_unsqueeze(&r->b, both, (fe_ints){&first, 1}) : failed;
        if (!directions[k / parts].id) return failed;
    }
    return r->directions > 1 ? fe_concat(&r->b, directions, 2, 0) : directions[0];
}

/* The gates of weights in ONNX's order, as [directions, gates * hidden, ...]: one tensor of each direction, `parts`
 * of them side by side (the two biases). */
static xpu_value gates_of(recurrence *r, const xpu_value *weights, int64_t stride, int parts) {
    xpu_tensor all = {.dtype = XPU_F32, .rank = 2, .dims = {r->directions}};
    float *items = NULL;
    int64_t rows = modes[r->mode].gates * r->hidden, size = 0;
    for (int64_t k = 0; k < r->directions * parts; k++) {
        xpu_tensor tensor;
        xpu_value value = weights[k / parts * stride + k % parts];
        const xpu_value_info *info = xpu_paddle_info(r->node, value);
        if (info->kind != XPU_VALUE_CONST || info->dtype != XPU_F32) return computed_gates(r, weights, stride, parts);
        if (xpu_const_tensor(r->b.graph, value, r->b.scratch, &tensor, r->b.diags) != XPU_OK) return failed;
        int64_t own = xpu_tensor_count(&tensor), inner = own / rows;
        if (tensor.rank != (parts > 1 ? 1 : 2) || tensor.dims[0] != rows || inner < 1 || (size && own != size))
            return xpu_paddle_refuse(r->node, "the weights do not fit hidden_size", fe_shape_text(&r->b, value));
        if (!items) items = XPU_NEW_ARRAY(r->b.scratch, float, own * r->directions * parts);
        size = own;
        all.rank = parts > 1 ? 2 : 3;
        all.dims[1] = rows * parts;
        all.dims[2] = inner;
        int64_t gate = r->hidden * inner;
        for (int g = 0; g < modes[r->mode].gates; g++)
            memcpy(items + k * own + g * gate, (const float *)tensor.data + modes[r->mode].order[g] * gate,
                   (size_t)gate * sizeof(float));
    }
    all.data = items;
    return xpu_graph_const_bytes(r->b.graph, NULL, &all);
}

/* The initial states of a layer. */
static xpu_value state_of(recurrence *r, uint32_t which, int64_t layer) {
    if (which >= r->states.count) return failed;
    xpu_value all = r->states.items[which];
    if (r->layers == 1) return all;
    xpu_dims *dims = &r->b.graph->dims;
    return fe_part(&r->b, all, 0, xpu_dim_const(dims, layer * r->directions), xpu_dim_const(dims, r->directions), 1, 0);
}

/* One layer: [time, batch, directions * hidden], and its last states. */
static xpu_value layer_of(recurrence *r, xpu_value x, int64_t layer, xpu_value states[2]) {
    static const int64_t perm[] = {0, 2, 1, 3};
    int64_t first = layer * r->directions * 2, biases = r->layers * r->directions * 2 + first;
    const char *activations[] = {modes[r->mode].activation, modes[r->mode].activation};
    fe_recurrent_operands in = {.x = x, .lengths = r->lengths, .initial_h = state_of(r, 0, layer)};
    in.w = gates_of(r, r->weights.items + first, 2, 1);
    in.r = in.w.id ? gates_of(r, r->weights.items + first + 1, 2, 1) : failed;
    if (in.r.id && r->weights.count > (uint32_t)biases) {
        in.bias = gates_of(r, r->weights.items + biases, 2, 2);
        if (!in.bias.id) return failed;
    }
    if (modes[r->mode].kind == FE_LSTM) in.initial_c = state_of(r, 1, layer);
    fe_recurrence form = {.direction = r->directions == 2 ? "bidirectional" : "forward", .hidden_size = r->hidden};
    form.linear_before_reset = modes[r->mode].kind == FE_GRU;
    if (activations[0]) {
        form.activations = activations;
        form.activation_count = (size_t)r->directions;
    }
    xpu_value results[3] = {{0}};
    if (!in.r.id || !fe_recurrent(&r->b, modes[r->mode].kind, &in, &form, results)) return failed;
    states[0] = results[1];
    states[1] = results[2];
    const xpu_value_info info = *xpu_paddle_info(r->node, results[0]);
    xpu_dim dims[] = {info.dims[0], info.dims[2], xpu_dim_const(&r->b.graph->dims, r->directions * r->hidden)};
    xpu_value y = fe_transpose(&r->b, results[0], (fe_ints){perm, 4});
    return y.id ? fe_reshape_to(&r->b, y, dims, 3, 0) : failed;
}

static int read_form(recurrence *r) {
    xpu_paddle_node *node = r->node;
    const char *mode = xpu_paddle_text(node, "mode", "LSTM");
    while (r->mode < MODES && strcmp(modes[r->mode].name, mode) != 0) r->mode++;
    r->hidden = xpu_paddle_int(node, "hidden_size", 0);
    r->layers = xpu_paddle_int(node, "num_layers", 1);
    r->directions = xpu_paddle_int(node, "is_bidirec", 0) ? 2 : 1;
    r->weights = xpu_paddle_operands(node, "WeightList");
    r->states = xpu_paddle_operands(node, "PreState");
    r->lengths = xpu_paddle_operand(node, "SequenceLength");
    if (r->mode == MODES) return fe_bad_attr(&node->build, "mode", xpu_escape(node->importer->scratch, mode, 40));
    if (r->hidden < 1 || r->hidden > LIMIT / MOST_GATES || r->layers < 1 || r->layers > 1024)
        return fe_bad_attr(&node->build, "hidden_size", "it, or num_layers, is out of range");
    int64_t each = r->layers * r->directions * 2;
    if (r->weights.count == 2 * each || r->weights.count == each) return 1;
    xpu_paddle_refuse(node, "the weights do not fit the layers",
                      xpu_paddle_format(node, "there are %u, not %" PRId64, r->weights.count, 2 * each));
    return 0;
}

/* The last states of all layers: results behind the first one; of PIR a list, its third result. */
static int give_states(recurrence *r, xpu_value *const last[2]) {
    enum { PIR_STATES = 2 };
    xpu_paddle_node *node = r->node;
    int is_pir = node->row->dialect == XPU_PADDLE_PIR;
    xpu_value *states = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, 2);
    uint32_t count = modes[r->mode].kind == FE_LSTM ? 2 : 1;
    for (uint32_t i = 0; i < count && (is_pir || i + 1 < node->result_count); i++) {
        int named = 0;
        fe_builder own = is_pir ? r->b : fe_builder_of(&node->build, i + 1, &named);
        own.made = r->b.made + 1000 * (i + 1);
        states[i] = r->layers > 1 ? fe_concat(&own, last[i], (uint32_t)r->layers, 0) : fe_identity(&own, last[i][0]);
        if (!states[i].id) return 0;
        if (!is_pir) node->results[i + 1] = states[i];
    }
    if (is_pir) {
        node->list = (xpu_paddle_values){states, count};
        node->list_at = PIR_STATES;
    }
    return 1;
}

xpu_value xpu_paddle_convert_rnn(xpu_paddle_node *node) {
    recurrence r = {.node = node, .b = fe_inside(&node->build)};
    xpu_value x = xpu_paddle_operand(node, "Input");
    if (!x.id || !read_form(&r)) return failed;
    if (xpu_paddle_float(node, "dropout_prob", 0) > 0 && !xpu_paddle_int(node, "is_test", 0))
        return xpu_paddle_refuse(node, "the training form is not supported", "is_test is false");
    xpu_value *last[2] = {XPU_NEW_ARRAY(node->importer->scratch, xpu_value, r.layers),
                          XPU_NEW_ARRAY(node->importer->scratch, xpu_value, r.layers)};
    for (int64_t layer = 0; x.id && layer < r.layers; layer++) {
        xpu_value states[2] = {{0}};
        x = layer_of(&r, x, layer, states);
        for (int i = 0; i < 2; i++) last[i][layer] = states[i];
    }
    if (!x.id) return failed;
    if (!give_states(&r, last)) return failed;
    return fe_finish(&node->build, &r.b, x);
}
