/* LSTM, GRU and RNN as PaddlePaddle's rnn: one layer, weights of each direction apart, gates in its order. */
#include "convert/paddle_writer.h"
#include "convert/recurrent.h"

enum { MOST_GATES = 4 };

/* Which of PaddlePaddle's gates each one of the core is: i, f, c, o of i, o, f, c; r, z, h of z, r, h. */
static const struct {
    const char *mode;
    int order[MOST_GATES];
} kinds[XA_RECURRENCES] = {
    [XA_LSTM] = {"LSTM", {0, 3, 1, 2}}, [XA_GRU] = {"GRU", {1, 0, 2}}, [XA_RNN] = {"RNN_TANH", {0}}};

typedef struct {
    xpu_recurrence r;
    xpu_recurrent_source s;
    int64_t rows, inputs; /* gates * hidden; width of an input */
    const float *weights,
        *state; /* [inputs, directions * rows], NULL: the identity; [directions * hidden, rows], NULL: computed */
    const float *bias, *bias_of_state; /* [directions * rows] or NULL */
} recurrence;

static const float *floats(pw *w, xpu_value value) {
    xpu_tensor tensor;
    if (!value.id) return NULL;
    if (xpu_value_at(w->graph, value)->dtype != XPU_F32) pw_refuse(w, XPU_REFUSED_PASSES);
    if (!xpu_value_at(w->graph, value)->constant) return NULL; /* it is computed */
    return xpu_const_tensor(w->graph, value, w->arena, &tensor, w->diags) == XPU_OK ? tensor.data : NULL;
}

static int read_recurrence(pw *w, recurrence *u) {
    const size_t errors = w->diags->errors;
    if (!xpu_recurrence_of(w->graph, w->node, &u->r) || xpu_node_input(w->graph, w->node, XPU_IN_WSCALE).id) {
        pw_refuse(w, XPU_REFUSED_PASSES);
        return 0;
    }
    u->rows = u->r.gates * u->r.hidden;
    if (xpu_recurrent_source_of(w->graph, w->node, &u->s) && xpu_value_at(w->graph, u->s.w)->constant &&
        (!u->s.bias.id || xpu_value_at(w->graph, u->s.bias)->constant) &&
        xpu_dim_is_const(&w->graph->dims, u->s.inputs, &u->inputs)) {
        u->weights = floats(w, u->s.w);
    } else { /* the products are written, and are the inputs */
        u->s = (xpu_recurrent_source){.x = xpu_node_input(w->graph, w->node, XPU_IN_X)};
        u->inputs = u->r.directions * u->rows;
    }
    u->state = floats(w, xpu_node_input(w->graph, w->node, XPU_IN_W));
    u->bias = floats(w, u->s.bias);
    u->bias_of_state = floats(w, xpu_node_input(w->graph, w->node, XPU_IN_BIAS));
    return w->diags->errors == errors;
}

/* Row `row` of PaddlePaddle's order as the core's. */
static int64_t core_row(const recurrence *u, int64_t row) {
    const int64_t gate = row / u->r.hidden;
    int64_t own = 0;
    for (int g = 0; g < u->r.gates; g++) own = kinds[u->r.kind].order[g] == gate ? g : own;
    return own * u->r.hidden + row % u->r.hidden;
}

/* A direction's rows of what is computed, gates in PaddlePaddle's order. */
static const char *ordered(pw *w, const recurrence *u, const char *x, const pw_type *type) {
    const char *parts[MOST_GATES];
    pw_type part = *type;
    pw_op *op;
    part.dims[0] = xpu_dim_const(&w->graph->dims, u->r.hidden);
    if (u->r.gates == 1) return x;
    for (int gate = 0; gate < u->r.gates; gate++) {
        const int64_t from = core_row(u, gate * u->r.hidden);
        parts[gate] = pw_part(w, NULL, x, &part, 0, from, from + u->r.hidden);
    }
    x = pw_make(w, &op, NULL, "concat", type, parts[0], NULL);
    for (int gate = 1; gate < u->r.gates; gate++) pw_in(w, op, "X", parts[gate]);
    pw_int(w, op, "axis", 0);
    return x;
}

/* The state's weights [directions * hidden, rows], or its bias [directions, rows], of one direction. */
static const char *computed(pw *w, const recurrence *u, int64_t direction, uint32_t operand) {
    static const int64_t perm[] = {1, 0};
    xpu_dims *dims = &w->graph->dims;
    const int64_t count = operand == XPU_IN_W ? u->r.hidden : u->rows;
    pw_type type = pw_operand_type(w, operand);
    const char *x = pw_operand(w, operand);
    if (operand == XPU_IN_BIAS) {
        const pw_type from = type;
        type.rank = 1;
        type.dims[0] = xpu_dim_const(dims, u->r.directions * count);
        x = pw_reshape(w, NULL, x, &from, &type);
    }
    type.dims[0] = xpu_dim_const(dims, count);
    if (u->r.directions > 1) x = pw_part(w, NULL, x, &type, 0, direction * count, (direction + 1) * count);
    if (operand == XPU_IN_W) {
        type.dims[1] = type.dims[0];
        type.dims[0] = xpu_dim_const(dims, u->rows);
        x = pw_transpose(w, NULL, x, &type, perm);
    }
    return ordered(w, u, x, &type);
}

/* [rows, columns] of one direction: of the inputs, or of the state. */
static const char *matrix(pw *w, const recurrence *u, int64_t direction, int is_state) {
    if (is_state && !u->state) return computed(w, u, direction, XPU_IN_W);
    const int64_t columns = is_state ? u->r.hidden : u->inputs, width = u->r.directions * u->rows;
    float *items = XPU_NEW_ARRAY(w->arena, float, u->rows *columns);
    for (int64_t row = 0; row < u->rows; row++) {
        const int64_t from = core_row(u, row);
        for (int64_t i = 0; i < columns; i++) {
            float *item = &items[row * columns + i];
            if (is_state)
                *item = u->state[(direction * u->r.hidden + i) * u->rows + from];
            else if (u->weights)
                *item = u->weights[i * width + direction * u->rows + from];
            else
                *item = i == direction * u->rows + from ? 1.0f : 0.0f;
        }
    }
    return pw_parameter(w, is_state ? "weight_hh" : "weight_ih",
                        &(xpu_tensor){.dtype = XPU_F32, .rank = 2, .dims = {u->rows, columns}, .data = items});
}

static const char *vector(pw *w, const recurrence *u, int64_t direction, int is_state) {
    const float *from = is_state ? u->bias_of_state : u->bias;
    if (is_state && !from && xpu_node_input(w->graph, w->node, XPU_IN_BIAS).id)
        return computed(w, u, direction, XPU_IN_BIAS);
    float *items = XPU_NEW_ARRAY(w->arena, float, u->rows);
    for (int64_t row = 0; row < u->rows && from; row++) items[row] = from[direction * u->rows + core_row(u, row)];
    return pw_parameter(w, is_state ? "bias_hh" : "bias_ih",
                        &(xpu_tensor){.dtype = XPU_F32, .rank = 1, .dims = {u->rows}, .data = items});
}

/* The state at the start, or zeros. */
static const char *first_state(pw *w, const recurrence *u, uint32_t operand) {
    const xpu_node_info *info = xpu_node_at(w->graph, w->node);
    if (operand < info->input_count && info->inputs[operand].id) return pw_operand(w, operand);
    const xpu_dim one = xpu_dim_const(&w->graph->dims, 1);
    const pw_type from = {.dtype = XPU_F32, .rank = 3, .dims = {one, one, one}},
                  to = {.dtype = XPU_F32,
                        .rank = 3,
                        .dims = {xpu_dim_const(&w->graph->dims, u->r.directions), u->r.batch,
                                 xpu_dim_const(&w->graph->dims, u->r.hidden)}};
    float zero = 0;
    const xpu_tensor tensor = {.dtype = XPU_F32, .rank = 3, .dims = {1, 1, 1}, .data = &zero};
    return pw_expand(w, NULL, pw_parameter(w, "zero", &tensor), &from, &to);
}

static const char *turned(pw *w, const char *x, const pw_type *type) {
    const int64_t axis = 0;
    pw_op *op;
    x = pw_make(w, &op, NULL, "flip", type, x, NULL);
    pw_ints(w, op, "axis", &axis, 1);
    return x;
}

/* What is not among the node's results has a name all the same. */
static const char *last_state(pw *w, uint32_t i, const pw_type *type) {
    const xpu_node_info *info = xpu_node_at(w->graph, w->node);
    return i < info->output_count && info->outputs[i].id ? pw_result(w, i) : pw_new(w, "state", type);
}

static void add_attrs(pw *w, pw_op *op, const recurrence *u) {
    pw_float(w, op, "dropout_prob", 0);
    pw_bool(w, op, "is_bidirec", u->r.directions == 2);
    pw_int(w, op, "input_size", u->inputs);
    pw_int(w, op, "hidden_size", u->r.hidden);
    pw_int(w, op, "num_layers", 1);
    pw_string(w, op, "mode", kinds[u->r.kind].mode);
    pw_int(w, op, "seed", 0);
    pw_bool(w, op, "is_test", 1);
}

/* [steps, batch, directions * hidden] as [steps, directions, batch, hidden]. */
static void split_directions(pw *w, const char *y, const pw_type *joined, const recurrence *u) {
    static const int64_t perm[] = {0, 2, 1, 3};
    const pw_type to = pw_result_type(w, 0);
    pw_type apart = to;
    if (u->r.directions == 1) {
        pw_reshape(w, pw_result(w, 0), y, joined, &to);
        return;
    }
    apart.dims[1] = to.dims[2];
    apart.dims[2] = to.dims[1];
    pw_transpose(w, pw_result(w, 0), pw_reshape(w, NULL, y, joined, &apart), &to, perm);
}

void pw_write_recurrent(pw *w, const pw_row *row) {
    recurrence u = {.weights = NULL};
    if (!read_recurrence(w, &u)) return;
    xpu_dims *dims = &w->graph->dims;
    const pw_type from = pw_type_of(w, u.s.x),
                  type = {.dtype = XPU_F32, .rank = 3, .dims = {u.r.steps, u.r.batch, xpu_dim_const(dims, u.inputs)}};
    const pw_type joined = {
        .dtype = XPU_F32, .rank = 3, .dims = {u.r.steps, u.r.batch, xpu_dim_const(dims, u.r.directions * u.r.hidden)}};
    const pw_type state = {.dtype = XPU_F32,
                           .rank = 3,
                           .dims = {xpu_dim_const(dims, u.r.directions), u.r.batch, xpu_dim_const(dims, u.r.hidden)}};
    int same = from.rank == 3;
    for (int i = 0; same && i < 3; i++) same = xpu_dim_same(dims, from.dims[i], type.dims[i]);
    const char *x = pw_name(w, u.s.x);
    if (!same) x = pw_reshape(w, NULL, x, &from, &type);
    if (u.r.backwards) x = turned(w, x, &type);
    const char *states[] = {first_state(w, &u, XPU_IN_HIDDEN),
                            u.r.kind == XA_LSTM ? first_state(w, &u, XPU_IN_CELL) : NULL};
    pw_op *op = XPU_NEW(w->arena, pw_op);
    op->type = row->name;
    pw_in(w, op, "Input", x);
    for (int i = 0; i < 2 && states[i]; i++) pw_in(w, op, "PreState", states[i]);
    for (int64_t d = 0; d < u.r.directions; d++) {
        pw_in(w, op, "WeightList", matrix(w, &u, d, 0));
        pw_in(w, op, "WeightList", matrix(w, &u, d, 1));
    }
    for (int64_t d = 0; d < u.r.directions; d++) {
        pw_in(w, op, "WeightList", vector(w, &u, d, 0));
        pw_in(w, op, "WeightList", vector(w, &u, d, 1));
    }
    const char *y = pw_new(w, "rnn", &joined);
    const char *last[] = {last_state(w, XPU_OUT_HIDDEN, &state),
                          states[1] ? last_state(w, XPU_OUT_CELL, &state) : NULL};
    const pw_type reserve = {.dtype = XPU_F32}, dropout = {.dtype = XPU_U8};
    pw_out(w, op, "Out", y);
    pw_out(w, op, "DropoutState", pw_new(w, "dropout_state", &dropout));
    pw_outs(w, op, "State", last, states[1] ? 2 : 1);
    pw_out(w, op, "Reserve", pw_new(w, "reserve", &reserve));
    add_attrs(w, op, &u);
    XPU_PUSH(w->arena, &w->ops, op);
    if (u.r.backwards) y = turned(w, y, &joined);
    split_directions(w, y, &joined, &u);
}
