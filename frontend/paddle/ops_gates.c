/* Recurrent layers of old programs, whose operand is projected before: one step (gru_unit), and one sequence (gru,
 * lstm). */
#include <string.h>

#include "frontend/paddle/compose.h"

static const xpu_value failed = {0};

enum { MOST_SIZE = 1 << 10, LSTM_GATES = 4, GRU_GATES = 3 };

static xpu_dim fixed(const xpu_paddle_node *node, int64_t size) {
    return xpu_dim_const(&node->build.graph->dims, size);
}

/* The matrix of a GRU, [D,3D], holds that of update and reset, [D,2D], and behind it that of the candidate, [D,D]. */
static void gru_matrices(xpu_paddle_node *node, fe_builder *b, xpu_value weight, int64_t size, xpu_value matrices[2]) {
    xpu_dim all[] = {fixed(node, size * size * GRU_GATES)};
    weight = xpu_paddle_reshaped(b, weight, all, 1);
    for (int i = 0; i < 2; i++) {
        int64_t columns = i ? size : 2 * size;
        xpu_dim dims[] = {fixed(node, size), fixed(node, columns)};
        matrices[i] =
            weight.id ? fe_part(b, weight, 0, fixed(node, i ? 2 * size * size : 0), fixed(node, size * columns), 1, 0)
                      : failed;
        matrices[i] = xpu_paddle_reshaped(b, matrices[i], dims, 2);
    }
}

/* An activation by its number, or its name. */
static xpu_value activated(xpu_paddle_node *node, fe_builder *b, const char *name, int fallback, xpu_value x) {
    static const char *const names[] = {"identity", "sigmoid", "tanh", "relu"};
    static const xpu_op_id ops[] = {XPU_OP_IDENTITY, XPU_OP_SIGMOID, XPU_OP_TANH, XPU_OP_RELU};
    const char *text = xpu_paddle_text(node, name, NULL);
    int64_t which = xpu_paddle_int(node, name, fallback);
    for (int64_t i = 0; i < 4; i++) {
        if (text ? strcmp(text, names[i]) == 0 : which == i) return i ? fe_unary(b, ops[i], x) : x;
    }
    return fe_bad_attr(&node->build, name, "it is none of those that are known"), failed;
}

static int read_size(xpu_paddle_node *node, xpu_value weight, int64_t gates, int64_t *size) {
    int64_t wide = 0;
    const xpu_value_info *info = xpu_paddle_info(node, weight);
    xpu_dims *dims = &node->build.graph->dims;
    if (info->rank == 2 && xpu_dim_is_const(dims, info->dims[0], size) &&
        xpu_dim_is_const(dims, info->dims[1], &wide) && *size > 0 && *size <= MOST_SIZE && wide == gates * *size)
        return 1;
    return xpu_paddle_refuse(node, "the weights have another shape than those of gates",
                             fe_shape_text(&node->build, weight))
               .id != 0;
}

/* Gives the states, which are the last result in PIR; there are no others. */
static xpu_value give_states(xpu_paddle_node *node, fe_builder *b, xpu_value x) {
    uint32_t index =
        node->row->dialect == XPU_PADDLE_PIR && node->row->op != XPU_OP_RECURRENT ? node->result_count - 1 : 0;
    for (uint32_t i = 0; i < index; i++) {
        if (xpu_paddle_is_used(node, i))
            return xpu_paddle_refuse(node, "the gates are not supported as results", "something uses them");
    }
    return xpu_paddle_give(node, b, index, x);
}

/* One step: [B,3D] and the state [B,D]. */
xpu_value xpu_paddle_convert_gru_unit(xpu_paddle_node *node) {
    fe_builder b = fe_inside(&node->build);
    xpu_value x = xpu_paddle_operand(node, "Input"), state = xpu_paddle_operand(node, "HiddenPrev");
    xpu_value weight = xpu_paddle_operand(node, "Weight"), bias = xpu_paddle_operand(node, "Bias"), matrices[2];
    int64_t size;
    if (!x.id || !state.id || !weight.id || !read_size(node, weight, GRU_GATES, &size)) return failed;
    gru_matrices(node, &b, weight, size, matrices);
    if (bias.id) x = fe_binary(&b, XPU_OP_ADD, x, bias);
    xpu_value gates =
        fe_binary(&b, XPU_OP_ADD, xpu_paddle_columns(&b, x, 0, 2 * size), fe_matmul(&b, state, matrices[0]));
    gates = activated(node, &b, "gate_activation", 1, gates);
    xpu_value update = xpu_paddle_columns(&b, gates, 0, size), reset = xpu_paddle_columns(&b, gates, size, size);
    xpu_value kept = fe_binary(&b, XPU_OP_MUL, reset, state);
    if (!kept.id) return failed;
    xpu_value candidate =
        fe_binary(&b, XPU_OP_ADD, xpu_paddle_columns(&b, x, 2 * size, size), fe_matmul(&b, kept, matrices[1]));
    candidate = activated(node, &b, "activation", 2, candidate);
    int keeps = xpu_paddle_int(node, "origin_mode", 0) != 0; /* the update gate says how much of the state stays */
    xpu_value from = keeps ? candidate : state, to = keeps ? state : candidate;
    xpu_value y =
        fe_binary(&b, XPU_OP_ADD, from, fe_binary(&b, XPU_OP_MUL, update, fe_binary(&b, XPU_OP_SUB, to, from)));
    return give_states(node, &b, y);
}

/* ---- sequences ---- */

typedef struct {
    xpu_paddle_node *node;
    fe_builder b;
    int64_t size, gates;
    const int *order;  /* which of the operand's gates each of the builder's is */
    const float *sign; /* of each gate: -1 where the builder's is 1 minus it */
} layer;

/* The operand is projected: the builder's own product only exchanges gates. [1, gates * D, gates * D]. */
static xpu_value exchange(const layer *l) {
    int64_t all = l->gates * l->size;
    float *items = XPU_NEW_ARRAY(l->b.scratch, float, all *all);
    memset(items, 0, (size_t)(all * all) * sizeof *items);
    for (int64_t i = 0; i < all; i++)
        items[i * all + l->order[i / l->size] * l->size + i % l->size] = l->sign[i / l->size];
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 3, .dims = {1, all, all}, .data = items};
    return xpu_graph_const_bytes(l->b.graph, NULL, &tensor);
}

/* Matrices [D,D] of the operand's gates, turned and in the builder's order: [1, gates * D, D]. */
static xpu_value states_of(layer *l, const xpu_value *matrices) {
    static const int64_t swap[] = {1, 0};
    xpu_value parts[LSTM_GATES];
    for (int64_t i = 0; i < l->gates; i++) {
        xpu_value own = matrices[l->order[i]];
        if (own.id) own = fe_transpose(&l->b, own, (fe_ints){swap, 2});
        parts[i] = xpu_paddle_times(&l->b, own, (double)l->sign[i]);
        if (!parts[i].id) return failed;
    }
    return xpu_paddle_widened(&l->b, fe_concat(&l->b, parts, (uint32_t)l->gates, 0), 0);
}

static const char *activation(const layer *l, const char *name, const char *fallback) {
    static const char *const known[][2] = {{"sigmoid", "Sigmoid"}, {"tanh", "Tanh"}, {"relu", "Relu"}};
    const char *text = xpu_paddle_text(l->node, name, fallback);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, known[i][0]) == 0) return known[i][1];
    }
    fe_bad_attr(&l->node->build, name, "it is none of those that are known");
    return NULL;
}

/* A vector of the operand's gates, [1, ...], from `first` on added to the operand. */
static xpu_value biased(layer *l, xpu_value x, xpu_value bias) {
    if (bias.id) x = fe_binary(&l->b, XPU_OP_ADD, x, xpu_paddle_columns(&l->b, bias, 0, l->gates * l->size));
    return xpu_paddle_widened(&l->b, x, 1); /* [T,1,gates * D] */
}

/* A first state [1,D] as [1,1,D]. */
static xpu_value first_state(layer *l, const char *name) {
    xpu_value x = xpu_paddle_operand(l->node, name);
    return x.id ? xpu_paddle_widened(&l->b, x, 0) : failed;
}

static xpu_value run_layer(layer *l, fe_recurrent_kind kind, const fe_recurrent_operands *in, fe_recurrence *form) {
    xpu_value results[3] = {{0}};
    form->direction = xpu_paddle_int(l->node, "is_reverse", 0) ? "reverse" : "forward";
    form->hidden_size = l->size;
    if (!in->x.id || !in->r.id || !fe_recurrent(&l->b, kind, in, form, results)) return failed;
    xpu_dim dims[] = {fe_info(&l->b, results[0])->dims[0], fixed(l->node, l->size)};
    return give_states(l->node, &l->b, xpu_paddle_reshaped(&l->b, results[0], dims, 2));
}

xpu_value xpu_paddle_convert_gru(xpu_paddle_node *node) {
    static const int order[] = {0, 1, 2};
    static const float same[] = {1, 1, 1}, other[] = {-1, 1, 1};
    layer l = {.node = node, .b = fe_inside(&node->build), .gates = GRU_GATES, .order = order};
    xpu_value x = xpu_paddle_operand(node, "Input"), weight = xpu_paddle_operand(node, "Weight"), matrices[2],
              each[GRU_GATES];
    if (!x.id || !weight.id || !read_size(node, weight, GRU_GATES, &l.size)) return failed;
    l.sign = xpu_paddle_int(node, "origin_mode", 0) ? same : other; /* z of the builder: how much of the state stays */
    gru_matrices(node, &l.b, weight, l.size, matrices);
    for (int64_t i = 0; i < 2; i++) each[i] = xpu_paddle_columns(&l.b, matrices[0], i * l.size, l.size);
    each[2] = matrices[1];
    const char *activations[] = {activation(&l, "gate_activation", "sigmoid"), activation(&l, "activation", "tanh")};
    if (!activations[0] || !activations[1]) return failed;
    if (l.sign == other && strcmp(activations[0], "Sigmoid") != 0)
        return xpu_paddle_refuse(node, "gate_activation is not supported",
                                 "it is not sigmoid, and origin_mode is false");
    fe_recurrence form = {.activations = activations, .activation_count = 2};
    fe_recurrent_operands in = {.w = exchange(&l), .r = states_of(&l, each), .initial_h = first_state(&l, "H0")};
    in.x = biased(&l, x, xpu_paddle_operand(node, "Bias"));
    return run_layer(&l, FE_GRU, &in, &form);
}

xpu_value xpu_paddle_convert_lstm(xpu_paddle_node *node) {
    static const int order[] = {1, 3, 2, 0}, peeps[] = {0, 2, 1}; /* i, o, f, c of c, i, f, o; i, o, f of i, f, o */
    static const float same[] = {1, 1, 1, 1};
    layer l = {.node = node, .b = fe_inside(&node->build), .gates = LSTM_GATES, .order = order, .sign = same};
    xpu_value x = xpu_paddle_operand(node, "Input"), weight = xpu_paddle_operand(node, "Weight"), each[LSTM_GATES],
              parts[3];
    xpu_value bias = xpu_paddle_operand(node, "Bias");
    if (!x.id || !weight.id || !read_size(node, weight, LSTM_GATES, &l.size)) return failed;
    if (xpu_paddle_is_used(node, 1))
        return xpu_paddle_refuse(node, "the cells of all steps are not supported", "something uses result 'Cell'");
    for (int64_t i = 0; i < l.gates; i++) each[i] = xpu_paddle_columns(&l.b, weight, i * l.size, l.size);
    const char *activations[] = {activation(&l, "gate_activation", "sigmoid"),
                                 activation(&l, "candidate_activation", "tanh"),
                                 activation(&l, "cell_activation", "tanh")};
    if (!activations[0] || !activations[1] || !activations[2]) return failed;
    fe_recurrence form = {.activations = activations, .activation_count = 3};
    fe_recurrent_operands in = {.w = exchange(&l),
                                .r = states_of(&l, each),
                                .initial_h = first_state(&l, "H0"),
                                .initial_c = first_state(&l, "C0")};
    in.x = biased(&l, x, bias);
    if (bias.id && xpu_paddle_int(node, "use_peepholes", 1)) {
        for (int i = 0; i < 3; i++) parts[i] = xpu_paddle_columns(&l.b, bias, (4 + peeps[i]) * l.size, l.size);
        if (!parts[0].id || !parts[1].id || !parts[2].id) return failed;
        in.peepholes = fe_concat(&l.b, parts, 3, 1);
    }
    return run_layer(&l, FE_LSTM, &in, &form);
}
