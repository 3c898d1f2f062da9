/* Elementwise operators become chains, and chains that feed each other one chain (core/ops/chain.h). */
#include <math.h>

#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

static uint32_t count_immediates(const xpu_chain *chain) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < chain->step_count; s++) count += (uint32_t)xpu_elementwise_immediates(chain->steps[s].op);
    return count;
}

static uint8_t input_number(xpu_chain *chain, xpu_value *inputs, xpu_value value) {
    for (uint32_t i = 0; i < chain->input_count; i++) {
        if (inputs[i].id == value.id) return (uint8_t)i;
    }
    inputs[chain->input_count] = value;
    return (uint8_t)chain->input_count++;
}

/* A sum or product of x and one number, or what is the same bits: a difference, a quotient by a power of two. */
static int scalar_step(xpu_elementwise op, uint32_t number, float value, xpu_chain_step *step) {
    const float inverse = 1.0f / value;
    int exponent;
    if (op == XPU_EW_add || (op == XPU_EW_sub && number == 1))
        *step = (xpu_chain_step){.op = XPU_EW_add_scalar, .immediates = {op == XPU_EW_sub ? -value : value}};
    else if (op == XPU_EW_mul)
        *step = (xpu_chain_step){.op = XPU_EW_mul_scalar, .immediates = {value}};
    else if (op == XPU_EW_div && number == 1 && isnormal(value) && isnormal(inverse) &&
             fabsf(frexpf(value, &exponent)) == 0.5f)
        *step = (xpu_chain_step){.op = XPU_EW_mul_scalar, .immediates = {inverse}};
    else
        return 0;
    return 1;
}

/* The node with operand `number` as an immediate; nothing changes where that is no number, or shapes the result. */
static xpu_status take_scalar(xpu_graph *graph, xpu_node node, uint32_t number, xpu_chain_step *step, int *taken,
                              xpu_diags *diags) {
    xpu_value scalar = xpu_node_input(graph, node, number), x = xpu_node_input(graph, node, 1 - number);
    float value;
    int is_one;
    xpu_status status = xpu_one_number(graph, scalar, &value, &is_one, diags);
    if (status != XPU_OK || !is_one || isnan(value)) return status;
    if (xpu_value_at(graph, x)->rank < xpu_value_at(graph, scalar)->rank) return status;
    xpu_chain chain = {.input_count = 1, .step_count = 1};
    if (!scalar_step(step->op, number, value, &chain.steps[0])) return status;
    *taken = 1;
    xpu_rewrite(graph, node, XPU_OP_CHAIN, &x, 1, &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
    return xpu_op_infer(graph, node, diags);
}

/* An elementwise node as a chain of one step; equal operands are one input. */
static xpu_status make_chain(xpu_graph *graph, xpu_node node, xpu_chain_step *step, xpu_diags *diags) {
    for (uint32_t i = 0; i < 2 && xpu_elementwise_arity(step->op) == 2; i++) {
        int taken = 0;
        xpu_status status = take_scalar(graph, node, i, step, &taken, diags);
        if (status != XPU_OK || taken) return status;
    }
    const xpu_node_info *info = xpu_node_at(graph, node);
    xpu_chain chain = {.step_count = 1};
    xpu_value inputs[XPU_CHAIN_MAX_INPUTS];
    for (uint32_t i = 0; i < info->input_count; i++) {
        step->operands[i] = input_number(&chain, inputs, info->inputs[i]);
    }
    chain.steps[0] = *step;
    xpu_rewrite(graph, node, XPU_OP_CHAIN, inputs, chain.input_count, &XPU_ATTR_CHAIN_OF(STEPS, &chain), 1);
    return xpu_op_infer(graph, node, diags);
}

/* ---- joining ---- */

typedef struct {
    xpu_chain chain;
    xpu_value inputs[2 * XPU_CHAIN_MAX_INPUTS];
} joined;

/* Appends the steps of `node`'s chain; `from` stands for operand values that are a step already. 0: too long. */
static int append(const xpu_graph *graph, xpu_node node, xpu_value made, uint32_t made_step, joined *result,
                  uint32_t input_count) {
    const xpu_chain *chain = xpu_chain_of(graph, node);
    uint32_t first = result->chain.step_count;
    if (first + chain->step_count > XPU_CHAIN_MAX_STEPS) return 0;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        xpu_chain_step step = chain->steps[s];
        for (int i = 0; i < xpu_elementwise_arity(step.op); i++) {
            uint32_t operand = step.operands[i];
            if (operand >= chain->input_count) {
                step.operands[i] = (uint8_t)(input_count + first + operand - chain->input_count);
            } else if (made.id && xpu_node_input(graph, node, operand).id == made.id) {
                step.operands[i] = (uint8_t)(input_count + made_step);
            } else {
                step.operands[i] = input_number(&result->chain, result->inputs, xpu_node_input(graph, node, operand));
            }
        }
        result->chain.steps[result->chain.step_count++] = step;
    }
    return 1;
}

/* All inputs first, so that the numbers of steps are known. */
static uint32_t collect_inputs(const xpu_graph *graph, xpu_node node, xpu_value except, joined *result) {
    for (uint32_t i = 0; i < xpu_node_at(graph, node)->input_count; i++) {
        xpu_value value = xpu_node_input(graph, node, i);
        if (value.id != except.id) input_number(&result->chain, result->inputs, value);
    }
    return result->chain.input_count;
}

static int only_user(const xpu_graph *graph, xpu_node node, xpu_node user) {
    const xpu_value_info *value = xpu_value_at(graph, xpu_node_output(graph, node, 0));
    if (xpu_value_leaves(graph, xpu_node_output(graph, node, 0)) || !xpu_same_block(graph, node, user)) return 0;
    for (uint32_t i = 0; i < value->uses.count; i++) {
        if (value->uses.items[i].node.id != user.id) return 0;
    }
    return 1;
}

/* A loop over values of 64 bits is no vector code: what else there is does not become part of it. */
static int is_wide(const xpu_graph *graph, xpu_node node) {
    xpu_chain_types types;
    return xpu_chain_types_of_node(graph, node, &types) && types.is_wide;
}

/* The maker of operand `input` goes into the node where it is a chain of the same shape that nothing else uses. */
static int join(xpu_graph *graph, xpu_node node, uint32_t input, xpu_diags *diags) {
    xpu_node maker = xpu_maker(graph, node, input);
    if (!maker.id || !xpu_node_is(graph, maker, XPU_OP_CHAIN) || !only_user(graph, maker, node)) return 0;
    xpu_value made = xpu_node_output(graph, maker, 0);
    if (!xpu_value_same_shape(graph, made, xpu_node_output(graph, node, 0))) return 0;
    if (is_wide(graph, maker) != is_wide(graph, node)) return 0;
    joined result = {.chain = {.step_count = 0}};
    collect_inputs(graph, maker, (xpu_value){0}, &result);
    uint32_t count = collect_inputs(graph, node, made, &result);
    if (count > XPU_CHAIN_MAX_INPUTS || !append(graph, maker, (xpu_value){0}, 0, &result, count)) return 0;
    if (!append(graph, node, made, result.chain.step_count - 1, &result, count)) return 0;
    if (count_immediates(&result.chain) > XPU_CHAIN_ALL_IMMEDIATES) return 0;
    xpu_absorb(graph, node, maker);
    xpu_rewrite(graph, node, XPU_OP_CHAIN, result.inputs, count, &XPU_ATTR_CHAIN_OF(STEPS, &result.chain), 1);
    return xpu_op_infer(graph, node, diags) == XPU_OK;
}

xpu_status xpu_pass_chains(xpu_graph *graph, xpu_diags *diags) {
    size_t errors = diags->errors;
    XPU_FOR_ALL_NODES(graph, node) {
        xpu_chain_step step;
        if (!xpu_elementwise_step(graph, node, &step)) continue;
        xpu_status status = make_chain(graph, node, &step, diags);
        if (status != XPU_OK) return status;
    }
    XPU_FOR_ALL_NODES(graph, node) {
        if (!xpu_node_is(graph, node, XPU_OP_CHAIN)) continue;
        for (uint32_t i = 0; i < xpu_node_at(graph, node)->input_count && diags->errors == errors;) {
            i = join(graph, node, i, diags) ? 0 : i + 1;
        }
    }
    return xpu_diags_since(diags, errors);
}
