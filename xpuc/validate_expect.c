/* Expected tensors, of another framework say: outputs, and inner tensors by their names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "xpuc/validate.h"

static xpu_status refuse(const xpu_validation *v, const char *where, const char *what, const char *why) {
    return xpu_error(v->diags, XPU_EUSAGE, NULL, "validate-expect", where, what, why,
                     "name entries as outputs or inner tensors of A, or give as many as A has outputs");
}

/* The output of A that entry `i` is for, or -1: by name, and where no entry has the name of one, by position. */
static int64_t output_of(const xpu_validation *v, uint32_t i) {
    const xpu_graph *graph = v->a.graph;
    int any = 0;
    for (uint32_t k = 0; k < graph->outputs.count; k++) {
        const char *name = xpu_value_at(graph, graph->outputs.items[k])->name;
        for (uint32_t e = 0; e < v->wanted->expected_count; e++) {
            const char *own = v->wanted->expected[e].name;
            if (!own || strcmp(own, name) != 0) continue;
            if (e == i) return k;
            any = 1;
        }
    }
    return any || v->wanted->expected_count != graph->outputs.count ? -1 : (int64_t)i;
}

/* One entry against a tensor of a side: whether it differs. An earlier node of A comes first. */
static int compare(xpu_validation *v, const xpu_side *side, xpu_value value, const xpu_tensor *made,
                   const xpu_tensor *wanted, uint32_t *earliest) {
    xpuc_validation *r = v->result;
    const xpu_value_info *info = xpu_value_at(side->graph, value);
    xpu_hit hit = {.apart = xpu_validate_other_dims(wanted)};
    if (xpu_validate_same_dims(wanted, made))
        hit.apart = xpu_validate_apart(wanted, made, hit.apart.largest, (double)INFINITY,
                                       xpu_validate_is_quantised(side->graph, value));
    if (hit.apart.of_max > r->largest) r->largest = hit.apart.of_max;
    if (hit.apart.of_max <= v->tolerance) return 0;
    r->differ = 1;
    r->expected_differing++;
    if (info->node.id >= *earliest && r->has_first) return 1;
    *earliest = info->node.id;
    *(side->letter == 'A' ? &hit.a : &hit.b) = value;
    xpu_validate_place(&hit, wanted, made);
    if (r->has_first) xpu_validate_clear_difference(&r->first);
    r->has_first = 1;
    r->first = xpu_validate_difference(v, &hit, side->letter == 'A' ? info->node : (xpu_node){0},
                                       side->letter == 'B' ? info->node : (xpu_node){0});
    r->first.is_expected = 1;
    return 1;
}

xpu_status xpu_validate_expect(xpu_validation *v, const xpu_record *record, const xpu_beside *beside) {
    const xpu_graph *a = v->a.graph;
    uint32_t earliest = v->result->has_first ? 0 : UINT32_MAX; /* it may be known where A and B differ */
    for (uint32_t i = 0; i < v->wanted->expected_count; i++) {
        const xpuc_tensor *entry = &v->wanted->expected[i];
        const char *where = xpu_printf(v->arena, "'%s'", entry->name ? xpu_escape(v->arena, entry->name, 120) : "");
        xpu_tensor wanted;
        if (!xpu_validate_tensor(v, entry, &wanted)) return XPU_EUSAGE;
        int64_t output = output_of(v, i);
        xpu_value inner = output < 0 && entry->name ? xpu_graph_by_name(a, entry->name) : (xpu_value){0};
        const xpu_kept_tensor *kept = inner.id ? xpu_validate_kept(record, inner, 0) : NULL;
        if (output < 0 && !kept) return refuse(v, where, "A has no such tensor", "it is neither an output nor inner");
        v->result->expected++;
        const int differs =
            output < 0 ? compare(v, &v->a, inner, &kept->tensor, &wanted, &earliest)
                       : compare(v, &v->a, a->outputs.items[output], &record->outputs[output], &wanted, &earliest);
        if (output < 0 || differs || !v->has_b) continue;
        uint32_t k = v->output_b[output];
        compare(v, &v->b, v->b.graph->outputs.items[k], &beside->outputs[k], &wanted, &earliest);
    }
    return XPU_OK;
}
