/* Boxes that no better one overlaps: shape and reference kernel. */
#include <stdlib.h>

#include "core/arith_pick.h"
#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

xpu_status xpu_infer_nms(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_value_info boxes = *xpu_operand(graph, node, 0), scores = *xpu_operand(graph, node, 1);
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    int64_t sides = 0;
    const int64_t kind = xpu_node_int(graph, node, XPU_ATTR_KIND);
    int fits = boxes.rank == 3 && scores.rank == 3 && shape && shape->count == 1 && kind >= 0 && kind < XA_BOX_KINDS &&
               xpu_dim_is_const(&graph->dims, boxes.dims[2], &sides) && sides == 4 &&
               xpu_equal_dims(graph, node, boxes.dims[0], scores.dims[0], NULL) &&
               xpu_equal_dims(graph, node, boxes.dims[1], scores.dims[2], NULL);
    for (uint32_t i = 2; fits && i < xpu_node_at(graph, node)->input_count; i++)
        fits = !xpu_operand(graph, node, i) || xpu_operand(graph, node, i)->rank == 0;
    if (!fits) {
        return xpu_infer_error(graph, node, diags, "shape-nms", "boxes and scores do not fit together",
                               "boxes are [images, boxes, 4], scores [images, classes, boxes], thresholds scalars",
                               "they are %s and %s", xpu_operand_text(graph, node, 0),
                               xpu_operand_text(graph, node, 1));
    }
    xpu_dim dims[] = {scores.dims[0], scores.dims[1], shape->dims[0]};
    return xpu_set_result(graph, node, 0, XPU_I32, 3, dims, diags);
}

typedef struct {
    xa_box box;
    uint32_t key; /* 0: it is none, or no longer */
} candidate;

/* The best candidate; -1: there is none. */
static int64_t best_of(const candidate *list, int64_t n) {
    int64_t best = -1;
    uint32_t most = 0;
    for (int64_t i = 0; i < n; i++)
        if (list[i].key > most) most = list[i].key, best = i;
    return best;
}

static int has_input(const xpu_ref_args *args, uint32_t input) {
    return input < xpu_node_at(args->graph, args->node)->input_count && args->inputs[input];
}

static float scalar(const xpu_ref_args *args, uint32_t input) {
    return has_input(args, input) ? *(const float *)args->inputs[input]->data : 0;
}

xpu_status xpu_ref_nms(const xpu_ref_args *args) {
    const xpu_tensor *boxes = args->inputs[0], *scores = args->inputs[1], *y = args->outputs[0];
    const int64_t n = boxes->dims[1], classes = scores->dims[1], most = y->dims[2];
    const xa_box_kind kind = (xa_box_kind)xpu_ref_int(args, XPU_ATTR_KIND);
    const int has_threshold = has_input(args, 3);
    const float overlap = scalar(args, 2), threshold = scalar(args, 3);
    candidate *list = XPU_NEW_ARRAY(args->scratch, candidate, (size_t)n + 1);
    for (int64_t task = 0; task < y->dims[0] * classes; task++) {
        const float *box = (const float *)boxes->data + task / classes * n * 4;
        const float *score = (const float *)scores->data + task * n;
        int32_t *picks = (int32_t *)y->data + task * most;
        for (int64_t i = 0; i < n; i++) {
            list[i] = (candidate){xa_box_of(box + 4 * i, kind), xa_order_word(XA_FLOATING, xa_bits(score[i]))};
            if (xa_is_nan(score[i]) || (has_threshold && !(score[i] > threshold))) list[i].key = 0;
        }
        for (int64_t k = 0; k < most; k++) {
            const int64_t best = best_of(list, n);
            picks[k] = (int32_t)best;
            if (best < 0) continue;
            list[best].key = 0;
            for (int64_t i = 0; i < n; i++)
                if (list[i].key && xa_boxes_overlap(list[best].box, list[i].box, overlap, kind)) list[i].key = 0;
        }
    }
    return XPU_OK;
}
