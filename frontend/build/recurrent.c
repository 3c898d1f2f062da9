/*
 * LSTM, GRU and RNN: the product of the inputs of all time steps with the weights at once, then the recurrence. In the
 * form that is usual that is one operator. Other forms (activations, clips, peepholes, lengths, the reset of a GRU in
 * front of its product) are written out step by step as products, slices and elementwise operators: the number of time
 * steps is known; where the sequences of a batch differ in length, a step behind an end leaves the state as it is and
 * gives 0.
 */
#include <inttypes.h>
#include <strings.h>

#include "core/ops/recurrent.h"
#include "frontend/build/build.h"

enum { MOST_STEPS = 4096, MOST_DIRECTIONS = 2, MOST_GATES = 4, MOST_ACTIVATIONS = 3, JOINED = 64 };

/* ---- activations ---- */

typedef struct {
    const char *name;
    xpu_op_id op;
    int alpha, beta; /* takes them from the lists */
    float alpha_default, beta_default;
} activation_row;

static const activation_row activation_rows[] = {
    {"Affine", XPU_OP_MUL, 1, 1, 1.0f, 0.0f},
    {"Elu", XPU_OP_ELU, 1, 0, 1.0f, 0.0f},
    {"HardSigmoid", XPU_OP_HARD_SIGMOID, 1, 1, 0.2f, 0.5f},
    {"LeakyRelu", XPU_OP_LEAKY_RELU, 1, 0, 0.01f, 0.0f},
    {"Relu", XPU_OP_RELU, 0, 0, 0.0f, 0.0f},
    {"ScaledTanh", XPU_OP_TANH, 1, 1, 1.0f, 1.0f},
    {"Sigmoid", XPU_OP_SIGMOID, 0, 0, 0.0f, 0.0f},
    {"Softplus", XPU_OP_SOFTPLUS, 0, 0, 0.0f, 0.0f},
    {"Softsign", XPU_OP_SOFTSIGN, 0, 0, 0.0f, 0.0f},
    {"Tanh", XPU_OP_TANH, 0, 0, 0.0f, 0.0f},
    {"ThresholdedRelu", XPU_OP_THRESHOLDED_RELU, 1, 0, 1.0f, 0.0f},
};

typedef struct {
    const activation_row *row;
    float alpha, beta;
} activation;

/* What the kinds differ in: gates, and the default activations. */
static const struct {
    int gates, activations;
    const char *defaults[MOST_ACTIVATIONS];
} kinds[] = {[FE_LSTM] = {4, 3, {"Sigmoid", "Tanh", "Tanh"}},
             [FE_GRU] = {3, 2, {"Sigmoid", "Tanh"}},
             [FE_RNN] = {1, 1, {"Tanh"}}};

/* ---- the operator while it is built ---- */

typedef struct {
    fe_builder *b;
    const char *const *names; /* of the results */
    uint32_t name_count;
    const fe_recurrence *form;
    fe_recurrent_kind kind;
    fe_recurrent_operands in; /* as layout 0 has them, float32 */
    int directions, gates;
    int64_t steps, hidden;      /* steps: where they are written out */
    xpu_dim time, batch, width; /* of the inputs */
    activation activations[MOST_DIRECTIONS][MOST_ACTIVATIONS];
    xpu_value lengths;  /* [batch,1], or {0} */
    xpu_value *outputs; /* of step t and direction d at t * directions + d, [batch,hidden] */
    xpu_value last_h[MOST_DIRECTIONS], last_c[MOST_DIRECTIONS];
} recurrent;

/* One direction: its weights, and the inputs' products. */
typedef struct {
    int index, backwards;
    xpu_value r;         /* [hidden, gates * hidden] */
    xpu_value bias_r;    /* GRU: [gates * hidden], or {0} */
    xpu_value peephole;  /* [3 * hidden], or {0} */
    xpu_value projected; /* [steps * batch, gates * hidden], biases added */
} direction;

static xpu_dim size_of(const recurrent *u, int64_t size) {
    return xpu_dim_const(&u->b->graph->dims, size);
}
static xpu_value unary(const recurrent *u, xpu_op_id op, xpu_value x) {
    return fe_node(u->b, op, &x, 1, NULL, 0, 0);
}
static xpu_value binary(const recurrent *u, xpu_op_id op, xpu_value x, xpu_value y) {
    return fe_node(u->b, op, (xpu_value[]){x, y}, 2, NULL, 0, 0);
}
/* Errors of a product come back in each step. */
static xpu_value product(const recurrent *u, xpu_value x, xpu_value y) {
    return fe_node(u->b, XPU_OP_MATMUL, (xpu_value[]){x, y}, 2, &XPU_ATTR_INT_OF(EXACT, 1), 1, 0);
}
/* x + y, where one may be absent. */
static xpu_value sum(const recurrent *u, xpu_value x, xpu_value y) {
    return !x.id ? y : !y.id ? x : binary(u, XPU_OP_ADD, x, y);
}
static xpu_value number(const recurrent *u, float value) {
    return xpu_graph_const_f32(u->b->graph, NULL, value);
}
static xpu_value part(const recurrent *u, xpu_value x, int axis, int64_t first, int64_t count) {
    return fe_part(u->b, x, axis, size_of(u, first), size_of(u, count), 1, 0);
}
static xpu_value reshaped(const recurrent *u, xpu_value x, xpu_dim first, xpu_dim second) {
    return x.id ? fe_reshape_to(u->b, x, (xpu_dim[]){first, second}, 2, 0) : x;
}
/* Gate `gate` of the columns of x. */
static xpu_value gate_of(const recurrent *u, xpu_value x, int gate) {
    return part(u, x, fe_info(u->b, x)->rank - 1, gate * u->hidden, u->hidden);
}
static xpu_value zeros(const recurrent *u) {
    xpu_dim dims[] = {u->batch, size_of(u, u->hidden)};
    xpu_value zero = number(u, 0.0f);
    return fe_node(u->b, XPU_OP_EXPAND, &zero, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, 2), 1, 0);
}

static xpu_value activate(const recurrent *u, const direction *d, int which, xpu_value x) {
    const activation *a = &u->activations[d->index][which];
    xpu_attr attrs[2];
    uint32_t count = 0;
    if (a->row->op == XPU_OP_MUL) { /* alpha x + beta */
        return binary(u, XPU_OP_ADD, binary(u, XPU_OP_MUL, x, number(u, a->alpha)), number(u, a->beta));
    }
    if (a->row->op == XPU_OP_TANH && a->row->alpha) { /* alpha tanh(beta x) */
        x = unary(u, XPU_OP_TANH, binary(u, XPU_OP_MUL, x, number(u, a->beta)));
        return binary(u, XPU_OP_MUL, x, number(u, a->alpha));
    }
    if (a->row->alpha) attrs[count++] = XPU_ATTR_FLOAT_OF(ALPHA, a->alpha);
    if (a->row->beta) attrs[count++] = XPU_ATTR_FLOAT_OF(BETA, a->beta);
    return fe_node(u->b, a->row->op, &x, 1, attrs, count, 0);
}

/* An activation's operand is clipped. */
static xpu_value gated(const recurrent *u, const direction *d, int which, xpu_value x) {
    if (u->form->clip > 0) {
        xpu_attr attrs[] = {XPU_ATTR_FLOAT_OF(LOW, -u->form->clip), XPU_ATTR_FLOAT_OF(HIGH, u->form->clip)};
        x = fe_node(u->b, XPU_OP_CLIP, &x, 1, attrs, 2, 0);
    }
    return activate(u, d, which, x);
}

/* ---- a step ---- */

typedef struct {
    xpu_value h, c; /* [batch, hidden]; {0}: all 0 */
} state;

/* x + peephole part `which` of c */
static xpu_value peeped(const recurrent *u, const direction *d, int which, xpu_value x, xpu_value c) {
    if (!d->peephole.id || !c.id) return x;
    return binary(u, XPU_OP_ADD, x, binary(u, XPU_OP_MUL, gate_of(u, d->peephole, which), c));
}

/* Gates in the order input, output, forget, cell; peepholes input, output, forget. */
static state lstm_step(const recurrent *u, const direction *d, xpu_value x, state was) {
    if (was.h.id) x = binary(u, XPU_OP_ADD, product(u, was.h, d->r), x);
    xpu_value input = gated(u, d, 0, peeped(u, d, 0, gate_of(u, x, 0), was.c));
    xpu_value cell = gated(u, d, 1, gate_of(u, x, 3)), forget = {0};
    state now = {.c = binary(u, XPU_OP_MUL, input, cell)};
    if (was.c.id) {
        forget = u->form->input_forget ? binary(u, XPU_OP_SUB, number(u, 1.0f), input)
                                       : gated(u, d, 0, peeped(u, d, 2, gate_of(u, x, 2), was.c));
        now.c = binary(u, XPU_OP_ADD, binary(u, XPU_OP_MUL, forget, was.c), now.c);
    }
    xpu_value output = gated(u, d, 0, peeped(u, d, 1, gate_of(u, x, 1), now.c));
    now.h = binary(u, XPU_OP_MUL, output, activate(u, d, 2, now.c));
    return now;
}

/* Gates in the order update, reset, hidden. */
static state gru_step(const recurrent *u, const direction *d, xpu_value x, state was) {
    const int64_t h = u->hidden;
    xpu_value hidden = gate_of(u, x, 2), reset, update, before;
    if (u->form->linear_before_reset) {
        before = sum(u, product(u, was.h, d->r), d->bias_r);
        update = gated(u, d, 0, binary(u, XPU_OP_ADD, gate_of(u, before, 0), gate_of(u, x, 0)));
        reset = gated(u, d, 0, binary(u, XPU_OP_ADD, gate_of(u, before, 1), gate_of(u, x, 1)));
        before = binary(u, XPU_OP_MUL, reset, gate_of(u, before, 2));
    } else {
        xpu_value both = product(u, was.h, part(u, d->r, 1, 0, 2 * h));
        both = binary(u, XPU_OP_ADD, both, part(u, x, 1, 0, 2 * h));
        update = gated(u, d, 0, gate_of(u, both, 0));
        reset = gated(u, d, 0, gate_of(u, both, 1));
        before = product(u, binary(u, XPU_OP_MUL, reset, was.h), part(u, d->r, 1, 2 * h, h));
    }
    hidden = gated(u, d, 1, binary(u, XPU_OP_ADD, before, hidden));
    xpu_value rest = binary(u, XPU_OP_MUL, binary(u, XPU_OP_SUB, number(u, 1.0f), update), hidden);
    return (state){.h = binary(u, XPU_OP_ADD, rest, binary(u, XPU_OP_MUL, update, was.h))};
}

static state rnn_step(const recurrent *u, const direction *d, xpu_value x, state was) {
    if (was.h.id) x = binary(u, XPU_OP_ADD, product(u, was.h, d->r), x);
    return (state){.h = gated(u, d, 0, x)};
}

/* Where step t is not behind the end of its sequence `now`, else `was`. */
static xpu_value kept(const recurrent *u, int64_t t, xpu_value now, xpu_value was) {
    int32_t step = (int32_t)t;
    xpu_tensor tensor = {.dtype = XPU_I32, .rank = 0, .data = &step};
    xpu_value inside = binary(u, XPU_OP_LESS, xpu_graph_const_bytes(u->b->graph, NULL, &tensor), u->lengths);
    return fe_node(u->b, XPU_OP_WHERE, (xpu_value[]){inside, now, was}, 3, NULL, 0, 0);
}

static state one_step(const recurrent *u, const direction *d, int64_t t, state was) {
    xpu_dim rows = xpu_dim_mul_const(&u->b->graph->dims, u->batch, t);
    xpu_value x = fe_part(u->b, d->projected, 0, rows, u->batch, 1, 0);
    state now = u->kind == FE_LSTM  ? lstm_step(u, d, x, was)
                : u->kind == FE_GRU ? gru_step(u, d, x, was)
                                    : rnn_step(u, d, x, was);
    xpu_value *output = &u->outputs[t * u->directions + d->index];
    *output = now.h;
    if (!u->lengths.id) return now;
    *output = kept(u, t, now.h, number(u, 0.0f));
    now.h = kept(u, t, now.h, was.h.id ? was.h : number(u, 0.0f));
    if (now.c.id) now.c = kept(u, t, now.c, was.c.id ? was.c : number(u, 0.0f));
    return now;
}

/* ---- a direction ---- */

/* Row `index` of [directions, rows, columns] as a matrix, transposed. */
static xpu_value weights_of(const recurrent *u, xpu_value all, int index, xpu_dim columns) {
    static const int64_t perm[] = {1, 0};
    xpu_value one = reshaped(u, part(u, all, 0, index, 1), size_of(u, u->gates * u->hidden), columns);
    return fe_node(u->b, XPU_OP_TRANSPOSE, &one, 1, &XPU_ATTR_INTS_OF(PERM, perm, 2), 1, 0);
}

/* Row `index` of [directions, count], as a vector. */
static xpu_value vector_of(const recurrent *u, xpu_value all, int index, int64_t count) {
    xpu_dim dim = size_of(u, count);
    xpu_value one = part(u, all, 0, index, 1);
    return one.id ? fe_reshape_to(u->b, one, &dim, 1, 0) : one;
}

static xpu_value state_of(const recurrent *u, xpu_value all, int index) {
    if (!all.id) return all;
    return reshaped(u, part(u, all, 0, index, 1), u->batch, size_of(u, u->hidden));
}

/* What is added to the inputs' products: the biases of the inputs, and those of the state unless they stay apart.
 * Parts and sums of an absent bias are absent. */
static xpu_value bias_of(const recurrent *u, direction *d) {
    const int64_t columns = u->gates * u->hidden;
    xpu_value both = vector_of(u, u->in.bias, d->index, 2 * columns);
    xpu_value of_x = part(u, both, 0, 0, columns), of_h = part(u, both, 0, columns, columns);
    if (u->kind != FE_GRU || !u->form->linear_before_reset) return binary(u, XPU_OP_ADD, of_x, of_h);
    d->bias_r = of_h;
    return of_x;
}

static void run_direction(recurrent *u, int index, int backwards) {
    direction d = {.index = index, .backwards = backwards};
    xpu_dim rows = xpu_dim_mul_const(&u->b->graph->dims, u->batch, u->steps);
    d.r = weights_of(u, u->in.r, index, size_of(u, u->hidden));
    xpu_value w = weights_of(u, u->in.w, index, u->width), bias = bias_of(u, &d);
    d.projected = sum(u, product(u, reshaped(u, u->in.x, rows, u->width), w), bias);
    if (u->in.peepholes.id) d.peephole = vector_of(u, u->in.peepholes, index, 3 * u->hidden);
    state now = {state_of(u, u->in.initial_h, index), state_of(u, u->in.initial_c, index)};
    if (u->kind == FE_GRU && !now.h.id) now.h = zeros(u);
    for (int64_t i = 0; i < u->steps; i++) now = one_step(u, &d, backwards ? u->steps - 1 - i : i, now);
    u->last_h[index] = now.h;
    u->last_c[index] = now.c;
}

/* ---- results ---- */

/* Rows of all pieces one behind the other. */
static xpu_value joined(const recurrent *u, xpu_value *pieces, size_t count) {
    while (count > 1) {
        size_t groups = 0;
        for (size_t first = 0; first < count; first += JOINED) {
            uint32_t each = (uint32_t)(count - first < JOINED ? count - first : JOINED);
            xpu_value all = pieces[first];
            if (each > 1) all = fe_node(u->b, XPU_OP_CONCAT, &pieces[first], each, &XPU_ATTR_INT_OF(AXIS, 0), 1, 0);
            pieces[groups++] = all;
        }
        count = groups;
    }
    return pieces[0];
}

/* `x` as [dims], transposed by `perm` where the layout asks for it, under the name of result `index`. */
static xpu_value result_of(recurrent *u, uint32_t index, xpu_value x, const xpu_dim *dims, int rank,
                           const int64_t *perm) {
    fe_builder own = *u->b;
    int named = index < u->name_count && u->names[index] && u->names[index][0];
    if (named) own.names = u->names + index;
    if (!u->form->layout) {
        x = x.id ? fe_reshape_to(&own, x, dims, rank, named) : x;
    } else {
        x = x.id ? fe_reshape_to(&own, x, dims, rank, 0) : x;
        x = fe_node(&own, XPU_OP_TRANSPOSE, &x, 1, &XPU_ATTR_INTS_OF(PERM, perm, (uint32_t)rank), 1, named);
    }
    u->b->made = own.made;
    return x;
}

/* `made`: in row-major order the elements of results [steps, directions, batch, hidden], [directions, batch, hidden].
 */
static uint32_t make_results(recurrent *u, const xpu_value *made, xpu_value *results) {
    static const int64_t all_perm[] = {2, 0, 1, 3}, last_perm[] = {1, 0, 2};
    xpu_dim hidden = size_of(u, u->hidden), directions = size_of(u, u->directions);
    xpu_dim all[] = {u->time, directions, u->batch, hidden}, last[] = {directions, u->batch, hidden};
    uint32_t count = u->kind == FE_LSTM ? 3 : 2;
    results[0] = result_of(u, 0, made[0], all, 4, all_perm);
    for (uint32_t i = 1; i < count; i++) results[i] = result_of(u, i, made[i], last, 3, last_perm);
    for (uint32_t i = 0; i < count; i++) {
        if (!results[i].id) return 0;
    }
    return count;
}

/* ---- what is given ---- */

static int refuse(const recurrent *u, fe_rule rule, const char *what, const char *why) {
    fe_refuse(u->b, rule, what, why, NULL);
    return 0;
}

/* Whether operand `name` is absent or has these dims. */
static int has_dims(const recurrent *u, const char *name, xpu_value value, int rank, const xpu_dim *dims) {
    if (!value.id) return 1;
    const xpu_value_info *info = fe_info(u->b, value);
    int fits = info->rank == rank;
    for (int i = 0; i < rank && fits; i++) {
        fits = xpu_dim_agree(&u->b->graph->dims, info->dims[i], dims[i]);
        if (!fits && info->rank == rank && xpu_dim_solutions(&u->b->graph->dims, info->dims[i], dims[i]) >= 2) {
            xpu_graph_guard(u->b->graph, info->dims[i], dims[i], u->b->where);
            fits = 1;
        }
    }
    if (fits) return 1;
    return refuse(u, FE_SHAPE, fe_format(u->b, "operand %s does not fit the others", name),
                  fe_format(u->b, "it has shape %s, not %s", fe_shape_text(u->b, value),
                            xpu_dim_list_text(&u->b->graph->dims, rank, dims, u->b->scratch)));
}

static int read_shapes(recurrent *u) {
    const xpu_value_info *x = fe_info(u->b, u->in.x), *w = fe_info(u->b, u->in.w), *r = fe_info(u->b, u->in.r);
    const xpu_dims *table = &u->b->graph->dims;
    if (x->rank != 3 || w->rank != 3 || r->rank != 3) {
        return refuse(u, FE_SHAPE, "an operand has a wrong rank",
                      fe_format(u->b, "x, w and r have rank 3, not %d, %d and %d", x->rank, w->rank, r->rank));
    }
    if (!xpu_dim_is_const(table, r->dims[2], &u->hidden) || u->hidden < 1 || u->hidden > FE_MAX_EXTENT) {
        return refuse(u, FE_SHAPE, "the hidden size is not known",
                      fe_format(u->b, "r is %s", fe_shape_text(u->b, u->in.r)));
    }
    if (u->form->hidden_size && u->form->hidden_size != u->hidden) {
        return fe_bad_attr(u->b, "hidden_size",
                           fe_format(u->b, "it is %" PRId64 ", r has %" PRId64, u->form->hidden_size, u->hidden));
    }
    u->time = x->dims[0];
    u->batch = x->dims[1];
    u->width = x->dims[2];
    xpu_dim directions = size_of(u, u->directions), hidden = size_of(u, u->hidden);
    xpu_dim rows = size_of(u, u->gates * u->hidden);
    return has_dims(u, "w", u->in.w, 3, (xpu_dim[]){directions, rows, u->width}) &&
           has_dims(u, "r", u->in.r, 3, (xpu_dim[]){directions, rows, hidden}) &&
           has_dims(u, "bias", u->in.bias, 2, (xpu_dim[]){directions, size_of(u, (int64_t)2 * u->gates * u->hidden)}) &&
           has_dims(u, "sequence_lens", u->in.lengths, 1, &u->batch) &&
           has_dims(u, "initial_h", u->in.initial_h, 3, (xpu_dim[]){directions, u->batch, hidden}) &&
           has_dims(u, "initial_c", u->in.initial_c, 3, (xpu_dim[]){directions, u->batch, hidden}) &&
           has_dims(u, "peepholes", u->in.peepholes, 2, (xpu_dim[]){directions, size_of(u, 3 * u->hidden)});
}

/* Whether the steps can be written out. */
static int read_steps(recurrent *u) {
    const xpu_dims *table = &u->b->graph->dims;
    if (xpu_dim_is_const(table, u->time, &u->steps) && u->steps >= 1 && u->steps * u->directions <= MOST_STEPS)
        return 1;
    fe_refuse(u->b, FE_FORM, "the number of time steps is not known, or too large",
              fe_format(u->b, "it is %s; from 1 to %d are supported", xpu_dim_text(table, u->time, u->b->scratch),
                        MOST_STEPS / u->directions),
              "fix it with --shape");
    return 0;
}

static const activation_row *find_activation(const char *name) {
    for (size_t i = 0; i < sizeof activation_rows / sizeof *activation_rows; i++) {
        if (strcasecmp(name, activation_rows[i].name) == 0) return &activation_rows[i];
    }
    return NULL;
}

/* Those of one direction after those of the other; each that has an alpha or beta takes the next of the list. */
static int read_activations(recurrent *u) {
    const fe_recurrence *form = u->form;
    const int each = kinds[u->kind].activations;
    size_t alphas = 0, betas = 0;
    if (form->activation_count && form->activation_count != (size_t)each * (size_t)u->directions) {
        return fe_bad_attr(u->b, "activations",
                           fe_format(u->b, "it has %zu entries, not %d", form->activation_count, each * u->directions));
    }
    for (int i = 0; i < each * u->directions; i++) {
        const char *name = form->activation_count ? form->activations[i] : kinds[u->kind].defaults[i % each];
        const activation_row *row = find_activation(name);
        if (!row) {
            return fe_bad_attr(u->b, "activations",
                               fe_format(u->b, "'%s' is no activation", xpu_escape(u->b->scratch, name, 40)));
        }
        activation *a = &u->activations[i / each][i % each];
        *a = (activation){row, row->alpha_default, row->beta_default};
        if (row->alpha && alphas < form->alpha_count) a->alpha = form->alpha[alphas++];
        if (row->beta && betas < form->beta_count) a->beta = form->beta[betas++];
    }
    return 1;
}

static int read_direction(recurrent *u, int *first_backwards) {
    const char *name = u->form->direction ? u->form->direction : "forward";
    *first_backwards = strcasecmp(name, "reverse") == 0;
    u->directions = strcasecmp(name, "bidirectional") == 0 ? 2 : 1;
    if (u->directions == 2 || *first_backwards || strcasecmp(name, "forward") == 0) return 1;
    return fe_bad_attr(u->b, "direction", fe_format(u->b, "it is '%s'", xpu_escape(u->b->scratch, name, 40)));
}

/* Operands as layout 0 has them: time first, or directions first. */
static void turn_operands(recurrent *u) {
    static const int64_t perm[] = {1, 0, 2};
    xpu_value *turned[] = {&u->in.x, &u->in.initial_h, &u->in.initial_c};
    for (size_t i = 0; i < 3; i++) {
        if (!turned[i]->id || fe_info(u->b, *turned[i])->rank != 3) continue;
        *turned[i] = fe_node(u->b, XPU_OP_TRANSPOSE, turned[i], 1, &XPU_ATTR_INTS_OF(PERM, perm, 3), 1, 0);
    }
}

/* Lengths as a column; those of constant sequences that are all whole say nothing. */
static void read_lengths(recurrent *u) {
    xpu_value lengths = u->in.lengths;
    if (!lengths.id) return;
    xpu_tensor tensor;
    if (fe_info(u->b, lengths)->constant &&
        xpu_const_tensor(u->b->graph, lengths, u->b->scratch, &tensor, u->b->diags) == XPU_OK) {
        const int64_t most = xpu_dim_max(&u->b->graph->dims, u->time);
        int64_t whole = 0, count = xpu_tensor_count(&tensor);
        while (most >= 0 && whole < count && ((const int32_t *)tensor.data)[whole] >= most) whole++;
        if (whole == count) return;
    }
    u->lengths = reshaped(u, lengths, u->batch, size_of(u, 1));
}

/* ---- the usual form ---- */

/* Whether one operator does it: the default activations, whose arguments are not clipped, all sequences whole. */
static int is_usual(const recurrent *u) {
    const fe_recurrence *form = u->form;
    if (u->lengths.id || u->in.peepholes.id || form->clip > 0 || form->input_forget) return 0;
    if (u->kind == FE_GRU && !form->linear_before_reset) return 0;
    for (int i = 0; i < u->directions * kinds[u->kind].activations; i++) {
        const activation *a = &u->activations[i / kinds[u->kind].activations][i % kinds[u->kind].activations];
        if (a->row != find_activation(kinds[u->kind].defaults[i % kinds[u->kind].activations])) return 0;
    }
    return 1;
}

/* The columns of all directions side by side: [directions, gates * hidden, width] as [width, directions * gates *
 * hidden]. */
static xpu_value input_weights(const recurrent *u) {
    static const int64_t perm[] = {1, 0};
    xpu_value flat = reshaped(u, u->in.w, size_of(u, u->hidden * u->gates * u->directions), u->width);
    return fe_node(u->b, XPU_OP_TRANSPOSE, &flat, 1, &XPU_ATTR_INTS_OF(PERM, perm, 2), 1, 0);
}

/* [directions, gates * hidden, hidden] as [directions * hidden, gates * hidden]. */
static xpu_value state_weights(const recurrent *u) {
    static const int64_t perm[] = {0, 2, 1};
    xpu_value turned = fe_node(u->b, XPU_OP_TRANSPOSE, &u->in.r, 1, &XPU_ATTR_INTS_OF(PERM, perm, 3), 1, 0);
    return reshaped(u, turned, size_of(u, u->directions * u->hidden), size_of(u, u->gates * u->hidden));
}

static void run_recurrence(recurrent *u, int backwards, xpu_value *made) {
    enum { RESULTS = 3, OPERANDS = 7 };
    const xa_recurrence row = u->kind == FE_LSTM ? XA_LSTM : u->kind == FE_GRU ? XA_GRU : XA_RNN;
    const int64_t columns = u->gates * u->hidden;
    const xpu_dim all = size_of(u, u->directions * columns);
    xpu_value of_x = part(u, u->in.bias, 1, 0, columns), of_h = part(u, u->in.bias, 1, columns, columns);
    if (u->kind != FE_GRU && of_x.id) of_x = binary(u, XPU_OP_ADD, of_x, of_h), of_h = (xpu_value){0};
    if (of_x.id) of_x = fe_reshape_to(u->b, of_x, &all, 1, 0);
    xpu_value flat = reshaped(u, u->in.x, xpu_dim_mul(&u->b->graph->dims, u->time, u->batch), u->width);
    xpu_value x = sum(u, product(u, flat, input_weights(u)), of_x);
    if (x.id) x = fe_reshape_to(u->b, x, (xpu_dim[]){u->time, u->batch, all}, 3, 0);
    xpu_value in[OPERANDS] = {x, state_weights(u), of_h, u->in.initial_h};
    in[XPU_IN_CELL] = u->kind == FE_LSTM ? u->in.initial_c : (xpu_value){0};
    if (!in[0].id || !in[1].id) return;
    const xpu_attr attrs[] = {XPU_ATTR_INT_OF(KIND, row), XPU_ATTR_INT_OF(BACKWARDS, u->directions == 1 && backwards)};
    const char *names[RESULTS];
    const uint32_t count = u->kind == FE_LSTM ? 3 : 2;
    for (uint32_t i = 0; i < count; i++) names[i] = fe_format(u->b, "%s/%u", u->b->names[0], ++u->b->made);
    xpu_node node = xpu_graph_add(u->b->graph, (xpu_node){0}, xpu_op_of(XPU_OP_RECURRENT), in, OPERANDS, names, count,
                                  attrs, 2, &u->b->origin, 1);
    if (xpu_op_infer(u->b->graph, node, u->b->diags) != XPU_OK) return;
    for (uint32_t i = 0; i < count; i++) {
        made[i] = xpu_node_output(u->b->graph, node, i);
        xpu_value_at(u->b->graph, made[i])->has_made_name = 1;
    }
}

static void write_out(recurrent *u, int backwards, xpu_value *made) {
    u->outputs = XPU_NEW_ARRAY(u->b->scratch, xpu_value, (size_t)(u->steps * u->directions));
    for (int i = 0; i < u->directions; i++) run_direction(u, i, u->directions == 2 ? i : backwards);
    made[0] = joined(u, u->outputs, (size_t)(u->steps * u->directions));
    made[1] = joined(u, u->last_h, (size_t)u->directions);
    if (u->kind == FE_LSTM) made[2] = joined(u, u->last_c, (size_t)u->directions);
}

uint32_t fe_recurrent(fe_builder *b, fe_recurrent_kind kind, const fe_recurrent_operands *operands,
                      const fe_recurrence *form, xpu_value *results) {
    fe_builder inner = *b; /* its nodes are named after the first result that has a name */
    recurrent u = {.b = &inner,
                   .names = b->names,
                   .name_count = b->name_count,
                   .form = form,
                   .kind = kind,
                   .in = *operands,
                   .gates = kinds[kind].gates};
    int backwards;
    for (uint32_t i = 0; i < b->name_count && !(inner.names[0] && inner.names[0][0]); i++) inner.names = b->names + i;
    size_t errors = b->diags->errors;
    if (!u.in.x.id || !u.in.w.id || !u.in.r.id || !read_direction(&u, &backwards) || !read_activations(&u)) return 0;
    if (form->layout) turn_operands(&u);
    if (!read_shapes(&u)) return 0;
    read_lengths(&u);
    xpu_value made[3] = {{0}};
    if (is_usual(&u))
        run_recurrence(&u, backwards, made);
    else if (read_steps(&u))
        write_out(&u, backwards, made);
    uint32_t count = b->diags->errors == errors ? make_results(&u, made, results) : 0;
    b->made = inner.made;
    return count;
}
