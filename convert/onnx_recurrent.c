/* LSTM, GRU and RNN in ONNX: the product of the inputs, which the core has in front of the recurrence, goes into them.
 */
#include <string.h>

#include "convert/onnx_writer.h"
#include "convert/recurrent.h"
#include "core/passes/rewrite.h"

/* An identity: the products are the inputs. */
static const char *selection(ow *w, const xpu_recurrence *r) {
    const int64_t rows = r->gates * r->hidden, columns = r->directions * rows;
    if (rows * columns * r->directions > 1 << 24) {
        ow_refuse(w, XPU_REFUSED_GATES);
        return "";
    }
    float *ones = XPU_NEW_ARRAY(w->arena, float, r->directions *rows *columns);
    for (int64_t i = 0; i < columns; i++) ones[i * columns + i] = 1.0f;
    return ow_tensor(w, "W",
                     &(xpu_tensor){.dtype = XPU_F32, .rank = 3, .dims = {r->directions, rows, columns}, .data = ones});
}

static const char *reshaped(ow *w, const char *name, const int64_t *dims, int rank) {
    return ow_binary(w, NULL, "Reshape", name, ow_list(w, "shape", dims, rank));
}

static const char *transposed(ow *w, const char *name, const int64_t *perm, int rank) {
    ow_node *node;
    name = ow_make(w, &node, NULL, "Transpose", name, NULL, NULL);
    ow_ints(w, node, "perm", perm, (size_t)rank);
    return name;
}

/* A constant through steps of its recipe, or nodes. */
static const char *moved(ow *w, xpu_value value, const int64_t *dims, int rank, const int64_t *perm, int perm_first) {
    const int perm_rank = perm_first ? 2 : rank;
    if (!xpu_is_constant(w->graph, value)) {
        const char *name = ow_name(w, value);
        if (perm_first) name = transposed(w, name, perm, perm_rank);
        name = reshaped(w, name, dims, rank);
        return perm_first ? name : transposed(w, name, perm, perm_rank);
    }
    xpu_const_step move = {.kind = XPU_STEP_TRANSPOSE, .rank = perm_rank},
                   shape = {.kind = XPU_STEP_RESHAPE, .rank = rank};
    memcpy(move.dims, perm, (size_t)perm_rank * sizeof *perm);
    memcpy(shape.dims, dims, (size_t)rank * sizeof *dims);
    const char *name = xpu_value_at(w->graph, value)->name;
    value = xpu_const_derive(w->graph, value, perm_first ? &move : &shape, name, w->diags);
    if (value.id) value = xpu_const_derive(w->graph, value, perm_first ? &shape : &move, name, w->diags);
    return ow_name(w, value);
}

/* [directions, 2 * columns]: of the inputs, of the state. */
static const char *biases(ow *w, const xpu_recurrent_source *s, const xpu_recurrence *r) {
    const xpu_value of_state = xpu_node_input(w->graph, w->node, XPU_IN_BIAS);
    const int64_t dims[] = {r->directions, r->gates * r->hidden};
    if (!s->bias.id && !of_state.id) return "";
    float *zeros = XPU_NEW_ARRAY(w->arena, float, dims[0] * dims[1] + 1);
    const char *none = NULL, *parts[2];
    if (!s->bias.id || !of_state.id)
        none = ow_tensor(w, "zeros",
                         &(xpu_tensor){.dtype = XPU_F32, .rank = 2, .dims = {dims[0], dims[1]}, .data = zeros});
    parts[0] = s->bias.id ? reshaped(w, ow_name(w, s->bias), dims, 2) : none;
    parts[1] = of_state.id ? ow_name(w, of_state) : none;
    ow_node *node;
    const char *all = ow_make(w, &node, NULL, "Concat", parts[0], parts[1], NULL);
    ow_int(w, node, "axis", 1);
    return all;
}

static const char *inputs_of(ow *w, const xpu_recurrent_source *s, const xpu_recurrence *r) {
    const xpu_value x = xpu_through_reshape(w->graph, s->x);
    const xpu_value_info *info = xpu_value_at(w->graph, x);
    const xpu_dim dims[] = {r->steps, r->batch, s->inputs};
    int same = info->rank == 3;
    for (int i = 0; same && i < 3; i++) same = xpu_dim_same(&w->graph->dims, info->dims[i], dims[i]);
    if (same) return ow_name(w, x);
    int has_zero;
    return ow_binary(w, NULL, "Reshape", ow_name(w, s->x), ow_shape(w, NULL, dims, 3, &has_zero));
}

void ow_write_recurrent(ow *w, const ow_row *row) {
    static const char *const names[] = {[XA_LSTM] = "LSTM", [XA_GRU] = "GRU", [XA_RNN] = "RNN"};
    xpu_recurrence r;
    xpu_recurrent_source s;
    (void)row;
    if (!xpu_recurrence_of(w->graph, w->node, &r) || xpu_node_input(w->graph, w->node, XPU_IN_WSCALE).id) {
        ow_refuse(w, XPU_REFUSED_PASSES);
        return;
    }
    const int64_t columns = r.gates * r.hidden, swap[] = {1, 0}, last[] = {0, 2, 1};
    const char *x, *weights;
    int64_t inputs;
    if (xpu_recurrent_source_of(w->graph, w->node, &s) && xpu_dim_is_const(&w->graph->dims, s.inputs, &inputs)) {
        x = inputs_of(w, &s, &r);
        weights = moved(w, s.w, (int64_t[]){r.directions, columns, inputs}, 3, swap, 1);
    } else {
        s = (xpu_recurrent_source){.bias = {0}};
        x = ow_in(w, XPU_IN_X);
        weights = selection(w, &r);
    }
    const char *state =
        moved(w, xpu_node_input(w->graph, w->node, XPU_IN_W), (int64_t[]){r.directions, r.hidden, columns}, 3, last, 0);
    const char *bias = biases(w, &s, &r), *hidden = ow_in(w, XPU_IN_HIDDEN), *cell = ow_in(w, XPU_IN_CELL);
    ow_node *node;
    ow_make(w, &node, ow_out(w, 0), names[r.kind], x, weights, state);
    const int is_lstm = r.kind == XA_LSTM && cell[0], given = is_lstm ? 3 : hidden[0] ? 2 : bias[0] ? 1 : 0;
    if (given >= 1) ow_input(w, node, bias);
    if (given >= 2) ow_input(w, node, "");
    if (given >= 2) ow_input(w, node, hidden);
    if (given >= 3) ow_input(w, node, cell);
    for (uint32_t i = 1; i < xpu_node_at(w->graph, w->node)->output_count; i++) ow_result(w, node, ow_out(w, i));
    ow_int(w, node, "hidden_size", r.hidden);
    ow_string(w, node, "direction", r.directions == 2 ? "bidirectional" : r.backwards ? "reverse" : "forward");
    if (r.kind == XA_GRU) ow_int(w, node, "linear_before_reset", 1);
}
