/* Results of iterations that are made in the place of the carried value. */
#include "xpu_codegen/lower/carried.h"

#include "core/ops/control.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"

/* A result that layer `layer` makes in `buffer`, and the place that it may have. */
typedef struct {
    xpu_codegen *cg;
    uint32_t layer, buffer, place;
} placing;

/* Whether the layer may write its result over this operand: it reads each element before it writes it. */
static int is_offered(const placing *p) {
    for (uint32_t i = 0; i < p->cg->program.in_place.count; i++) {
        const xpu_program_in_place *pair = &p->cg->program.in_place.items[i];
        if (pair->buffer == p->buffer && pair->other == p->place) return 1;
    }
    return 0;
}

/* Whether layer `reader` has read the place when the result is written to it. */
static int reads_before(const placing *p, uint32_t reader) {
    int early = p->cg->layers.items[p->layer].begins_early;
    return reader + (uint32_t)early < p->layer || (reader == p->layer && !early && is_offered(p));
}

/* Whether all uses of the value, behind views too, come before the result. */
static int is_free(const placing *p, xpu_value value) {
    xpu_codegen *cg = p->cg;
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    if (info->results) return 0;
    for (uint32_t i = 0; i < info->uses.count; i++) {
        xpu_node user = info->uses.items[i].node;
        int free;
        if (cg->layer_of[user.id] >= 0) {
            free = reads_before(p, (uint32_t)cg->layer_of[user.id]);
        } else if (xpu_node_is(cg->graph, user, XPU_OP_IF) || xpu_node_is(cg->graph, user, XPU_OP_LOOP)) {
            free = reads_before(p, cg->last_of[user.id]);
        } else {
            free = xpu_is_view(cg, user) && is_free(p, xpu_node_output(cg->graph, user, 0));
        }
        if (!free) return 0;
    }
    return 1;
}

/* Whether control, and layers that move values, have read the place. */
static int is_read_by_control(const placing *p) {
    for (uint32_t i = 0; i < p->cg->readings.count; i++) {
        const xpu_reading *reading = &p->cg->readings.items[i];
        if (reading->buffer == p->place && reading->last >= p->layer) return 1;
    }
    return 0;
}

void xpu_make_in_place(xpu_codegen *cg, xpu_value now, xpu_value next) {
    xpu_value root = xpu_value_root(cg, next);
    const xpu_value_info *info = xpu_value_at(cg->graph, root);
    if (info->kind != XPU_VALUE_NODE || cg->layer_of[info->node.id] < 0) return;
    if (xpu_value_block(cg->graph, root).id != xpu_value_block(cg->graph, now).id) return;
    placing p = {.cg = cg,
                 .layer = (uint32_t)cg->layer_of[info->node.id],
                 .buffer = xpu_activation_buffer(cg, root),
                 .place = xpu_activation_buffer(cg, now)};
    xpu_program_buffer *buffer = &cg->program.buffers.items[p.buffer], *place = &cg->program.buffers.items[p.place];
    if (buffer->alias_of >= 0 || place->alias_of >= 0 || p.buffer <= p.place) return;
    if (is_read_by_control(&p) || !is_free(&p, now)) return;
    place->bytes = xpu_dim_op(&cg->graph->dims, XPU_DIM_MAX, place->bytes, buffer->bytes);
    buffer->alias_of = (int32_t)p.place;
}
