#include "xpu_codegen/choose/long_rows.h"

#include <string.h>

#include "core/ops/op.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum { ROW = XPU_WINDOW_KERNEL, MOST = ROW * ROW };

int xpu_is_long_row(const xpu_codegen *cg, const xpu_conv_shape *s) {
    return s->kernel[0] == 1 && s->kernel[1] > ROW && s->kernel[1] <= MOST && !s->begin[0] && !s->end[0] &&
           xpu_is_one(cg, s->in_h);
}

/* Taps of 0 behind the others. */
static xpu_status extend_weights(xpu_codegen *cg, xpu_node node, int64_t taps) {
    xpu_graph *graph = cg->graph;
    const xpu_value w = xpu_node_input(graph, node, XPU_IN_W);
    xpu_arena *scratch = xpu_arena_new(xpu_arena_mem(cg->arena), "long row");
    xpu_tensor all;
    const xpu_status status = xpu_const_tensor(graph, w, scratch, &all, cg->diags);
    if (status == XPU_OK) {
        const int64_t old = all.dims[all.rank - 1], rows = xpu_tensor_count(&all) / old;
        float *data = XPU_NEW_ARRAY(scratch, float, rows *taps);
        for (int64_t i = 0; i < rows; i++)
            memcpy(data + i * taps, (const float *)all.data + i * old, (size_t)old * sizeof *data);
        all.dims[all.rank - 1] = taps;
        all.data = data;
        const char *name = xpu_printf(scratch, "%s/row", xpu_value_at(graph, w)->name);
        xpu_node_set_input(graph, node, XPU_IN_W, xpu_graph_const_bytes(graph, name, &all));
    }
    xpu_arena_free(scratch);
    return status;
}

static xpu_status pad(xpu_codegen *cg, xpu_node node, int64_t begin, int64_t end) {
    xpu_graph *graph = cg->graph;
    const xpu_node_info info = *xpu_node_at(graph, node);
    const xpu_value x = info.inputs[XPU_IN_X];
    const int rank = xpu_value_at(graph, x)->rank;
    int64_t pads[2 * XPU_MAX_RANK] = {0};
    pads[rank - 1] = begin, pads[2 * rank - 1] = end;
    const xpu_attr attr = XPU_ATTR_INTS_OF(PADS, pads, (uint32_t)(2 * rank));
    const char *name = xpu_printf(cg->arena, "%s/padded", xpu_value_at(graph, info.outputs[XPU_OUT_Y])->name);
    const xpu_block left = xpu_graph_enter(graph, info.parent);
    const xpu_node added = xpu_graph_add(graph, node, xpu_op_of(XPU_OP_PAD), &x, 1, &name, 1, &attr, 1,
                                         info.origins.items, info.origins.count);
    xpu_graph_enter(graph, left);
    xpu_node_at(graph, added)->region = info.region;
    const xpu_status status = xpu_op_infer(graph, added, cg->diags);
    xpu_node_set_input(graph, node, XPU_IN_X, xpu_node_output(graph, added, 0));
    xpu_window w = xpu_window_of(graph, node);
    memset(w.begin, 0, sizeof w.begin);
    memset(w.end, 0, sizeof w.end);
    xpu_window_set_pads(graph, node, &w);
    return status;
}

static xpu_status pad_row(xpu_codegen *cg, xpu_node node, const xpu_conv_shape *s) {
    const int64_t taps = (s->kernel[1] + ROW - 1) / ROW * ROW, more = (taps - s->kernel[1]) * s->dilation[1];
    xpu_status status = XPU_OK;
    if (more) status = extend_weights(cg, node, taps);
    if (status == XPU_OK && (s->begin[1] || s->end[1] + more)) status = pad(cg, node, s->begin[1], s->end[1] + more);
    if (status != XPU_OK) return status;
    return xpu_infer_as_float(cg, node);
}

xpu_status xpu_pad_long_rows(xpu_codegen *cg) {
    xpu_status status = XPU_OK;
    if (!cg->chip.window_channels) return XPU_OK;
    XPU_FOR_ALL_NODES(cg->graph, node) {
        if (status != XPU_OK || !xpu_node_is(cg->graph, node, XPU_OP_CONV) || !xpu_on_chip(cg, node)) continue;
        if (xpu_node_int(cg->graph, node, XPU_ATTR_PRECISION) == XPU_PRECISION_FP32) continue;
        const xpu_conv_shape shape = xpu_conv_shape_of(cg, node);
        if (xpu_is_depthwise(cg, &shape) && xpu_is_long_row(cg, &shape)) status = pad_row(cg, node, &shape);
    }
    return status;
}
