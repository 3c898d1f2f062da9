#include "xpu_codegen/lower/portable.h"

#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"

const xpu_region *xpu_region_of_call(const xpu_codegen *cg, xpu_node call) {
    return &cg->job->regions[xpu_node_at(cg->graph, call)->region - 1];
}

const char *xpu_portable_body(xpu_codegen *cg, const xpu_region *region) {
    return xpu_printf(cg->arena, "region_%u_call", region->number);
}

/* The operand of the call that an argument of its body stands for; a constant as it is. */
static xpu_value outside_of(const xpu_codegen *cg, xpu_node call, xpu_value value) {
    const xpu_block_info *body = xpu_block_at(cg->graph, xpu_node_at(cg->graph, call)->blocks[0]);
    for (uint32_t i = 0; i < body->arguments.count; i++) {
        if (body->arguments.items[i].id == value.id) return xpu_node_input(cg->graph, call, i);
    }
    return value;
}

static xpu_value result_of(const xpu_codegen *cg, xpu_node call, xpu_value value) {
    const xpu_block_info *body = xpu_block_at(cg->graph, xpu_node_at(cg->graph, call)->blocks[0]);
    uint32_t i = 0;
    while (body->results.items[i].id != value.id) i++;
    return xpu_node_output(cg->graph, call, i);
}

typedef struct {
    xpu_codegen *cg;
    uint32_t layer;
    XPU_ARRAY(xpu_arg) args;
} words;

static void add_word(words *w, xpu_arg arg) {
    XPU_PUSH(w->cg->arena, &w->args, arg);
}

static void add_place(words *w, uint32_t buffer, xpu_value value) {
    add_word(w, xpu_arg_at(buffer).arg);
    add_word(w, xpu_arg_dim(xpu_value_bytes(w->cg, value)).arg);
}

/* Of its products: what they would need on any unit. */
static xpu_dim macs_of(xpu_codegen *cg, const xpu_region *region) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_dim macs = xpu_dim_of(cg, 0);
    for (uint32_t n = 0; n < region->node_count; n++) {
        xpu_node node = region->nodes[n];
        if (!xpu_node_has(cg->graph, node, XPU_TRAIT_PRODUCT)) continue;
        xpu_value x = xpu_node_input(cg->graph, node, XPU_IN_X), w = xpu_node_input(cg->graph, node, XPU_IN_W);
        xpu_value y = xpu_node_output(cg->graph, node, 0);
        const int is_matmul =
            xpu_node_is(cg->graph, node, XPU_OP_MATMUL) || xpu_node_is(cg->graph, node, XPU_OP_QMATMUL);
        xpu_dim each = is_matmul ? xpu_value_dim(cg, x, xpu_value_at(cg->graph, x)->rank - 1)
                                 : xpu_dims_product(cg, w, 1, xpu_value_at(cg->graph, w)->rank);
        xpu_dim own = xpu_dim_mul(dims, xpu_dims_product(cg, y, 0, xpu_value_at(cg->graph, y)->rank), each);
        macs = xpu_dim_add(dims, macs, own);
    }
    return macs.id ? macs : xpu_dim_of(cg, 0);
}

xpu_status xpu_lower_region(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    const xpu_region *region = xpu_region_of_call(cg, node);
    const xpu_portable *c = region->portable;
    if (!c) return xpu_codegen_bug(cg, "a region of another target has no C", "region %u", region->number);
    words w = {.cg = cg, .layer = layer};
    cg->last_of[node.id] = layer;
    xpu_dims *dims = &cg->graph->dims;
    int has_scratch = c->scratch_bytes.id != 0;
    xpu_dim bytes =
        xpu_dim_mul_const(dims, xpu_dim_floordiv_const(dims, xpu_dim_add_const(dims, c->scratch_bytes, 3), 4), 4);
    add_word(&w, xpu_arg_number(c->operand_count).arg);
    add_word(&w, xpu_arg_number(c->result_count).arg);
    add_word(&w, has_scratch ? xpu_arg_at(xpu_portable_scratch_buffer(cg, layer, bytes)).arg : xpu_arg_absent().arg);
    add_word(&w, has_scratch ? xpu_arg_dim(bytes).arg : xpu_arg_number(0).arg);
    for (uint32_t i = 0; i < c->operand_count; i++) {
        xpu_value value = outside_of(cg, node, c->operands[i]);
        add_place(&w, xpu_operand_buffer(cg, layer, value, xpu_printf(cg->arena, "x%u", i)), value);
    }
    for (uint32_t i = 0; i < c->result_count; i++) {
        xpu_value value = result_of(cg, node, c->results[i]);
        add_place(&w, xpu_activation_buffer(cg, value), value);
    }
    for (uint32_t i = 0; i < c->dim_count; i++) add_word(&w, xpu_arg_dim(c->dims[i]).arg);
    xpu_describe_layer(cg, layer, XPU_KERNEL_portable_c, macs_of(cg, region));
    cg->program.layers.items[layer].reason =
        xpu_printf(cg->arena, "C of target '%s'", xpu_escape(cg->arena, region->target->name, 80));
    return xpu_add_call_of(cg, layer, XPU_KERNEL_portable_c, w.args.items, w.args.count, xpu_portable_body(cg, region));
}
