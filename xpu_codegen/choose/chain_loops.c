/* Elementwise chains: the loops of a call. */
#include "xpu_codegen/choose/chain_loops.h"

static int is_const(const xpu_codegen *cg, xpu_dim dim, int64_t wanted) {
    int64_t value;
    return xpu_dim_is_const(&cg->graph->dims, dim, &value) && value == wanted;
}

/* Strides of an operand by the result's logical dims: 0 where it is broadcast. */
static void operand_strides(xpu_codegen *cg, xpu_value x, int result_rank, xpu_dim *strides) {
    int rank = xpu_value_at(cg->graph, x)->rank;
    xpu_dim own[XPU_MAX_RANK];
    xpu_value_strides(cg, x, own);
    for (int i = 0; i < result_rank; i++) {
        int j = i - (result_rank - rank);
        strides[i] = j < 0 || is_const(cg, xpu_value_dim(cg, x, j), 1) ? xpu_dim_of(cg, 0) : own[j];
    }
}

/* Whether loop `outer` and the one inside it are one loop for every operand. */
static int can_merge(xpu_codegen *cg, const xpu_chain_loops *loops, uint32_t inputs, int outer) {
    for (uint32_t i = 0; i < inputs; i++) {
        xpu_dim span = xpu_dim_mul(&cg->graph->dims, loops->stride[i][outer + 1], loops->size[outer + 1]);
        if (!xpu_dim_equal(span, loops->stride[i][outer])) return 0;
    }
    return 1;
}

static void merge(xpu_codegen *cg, xpu_chain_loops *loops, uint32_t inputs, int outer) {
    loops->size[outer] = xpu_dim_mul(&cg->graph->dims, loops->size[outer], loops->size[outer + 1]);
    for (uint32_t i = 0; i < inputs; i++) loops->stride[i][outer] = loops->stride[i][outer + 1];
    for (int d = outer + 1; d + 1 < loops->rank; d++) {
        loops->size[d] = loops->size[d + 1];
        for (uint32_t i = 0; i < inputs; i++) loops->stride[i][d] = loops->stride[i][d + 1];
    }
    loops->rank--;
}

int xpu_chain_plan(xpu_codegen *cg, xpu_node node, xpu_layout layout, xpu_chain_loops *loops, uint32_t *bad) {
    const xpu_node_info *info = xpu_node_at(cg->graph, node);
    xpu_value y = info->outputs[0];
    int rank = xpu_value_at(cg->graph, y)->rank, order[XPU_MAX_RANK];
    uint32_t inputs = info->input_count;
    xpu_dim strides[XPU_CHAIN_MAX_INPUTS][XPU_MAX_RANK];
    *loops = (xpu_chain_loops){0};
    xpu_storage_order(layout, rank, order);
    for (uint32_t i = 0; i < inputs; i++) operand_strides(cg, xpu_node_input(cg->graph, node, i), rank, strides[i]);
    for (int d = 0; d < rank; d++) {
        xpu_dim size = xpu_value_dim(cg, y, order[d]);
        if (is_const(cg, size, 1)) continue;
        loops->size[loops->rank] = size;
        for (uint32_t i = 0; i < inputs; i++) loops->stride[i][loops->rank] = strides[i][order[d]];
        loops->rank++;
    }
    for (int d = loops->rank - 2; d >= 0; d--) {
        if (can_merge(cg, loops, inputs, d)) merge(cg, loops, inputs, d);
    }
    uint32_t first_bad = UINT32_MAX;
    for (uint32_t i = inputs; i-- > 0 && loops->rank;) {
        xpu_dim inner = loops->stride[i][loops->rank - 1];
        if (!is_const(cg, inner, 0) && !is_const(cg, inner, 1)) first_bad = i;
    }
    if (bad) *bad = first_bad;
    return loops->rank <= XPU_CHAIN_DIMS && first_bad == UINT32_MAX;
}

/* ---- values ---- */

uint32_t xpu_chain_most_live(const xpu_chain *chain) {
    uint32_t values = chain->input_count + chain->step_count, most = 0;
    uint32_t first[XPU_CHAIN_MAX_INPUTS + XPU_CHAIN_MAX_STEPS], last[XPU_CHAIN_MAX_INPUTS + XPU_CHAIN_MAX_STEPS];
    for (uint32_t v = 0; v < values; v++) first[v] = last[v] = v < chain->input_count ? UINT32_MAX : v;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        for (int i = 0; i < xpu_elementwise_arity(chain->steps[s].op); i++) {
            uint8_t operand = chain->steps[s].operands[i];
            last[operand] = chain->input_count + s;
            if (first[operand] == UINT32_MAX) first[operand] = chain->input_count + s;
        }
    }
    for (uint32_t now = chain->input_count; now < values; now++) {
        uint32_t live = 0;
        for (uint32_t v = 0; v < values; v++) live += first[v] <= now && last[v] >= now;
        if (live > most) most = live;
    }
    return most;
}

double xpu_chain_vector_cycles(const xpu_chain *chain) {
    enum { LOAD_AND_STORE = 2, LONG_STEP = 30, SIGMOID = 54, DIVISION = 16, HARD_SWISH = 5 };
    double cycles = LOAD_AND_STORE;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        const xpu_elementwise op = chain->steps[s].op;
        if (op == XPU_EW_sigmoid)
            cycles += SIGMOID;
        else if (xpu_elementwise_is_long(op))
            cycles += LONG_STEP;
        else if (op == XPU_EW_div || op == XPU_EW_sqrt)
            cycles += DIVISION;
        else
            cycles += op == XPU_EW_hard_swish ? HARD_SWISH : 2;
    }
    return cycles;
}
