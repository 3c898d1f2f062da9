/* What targets before the last one make of their regions: portable C, looked at before anything relies on it. */
#include <string.h>

#include "xpuc/pipeline.h"

typedef struct {
    xpu_pipeline *p;
    const xpu_region *region;
    const xpu_portable *c;
} check;

static xpu_status refuse(const check *k, const char *why) {
    xpu_pipeline *p = k->p;
    return xpu_error(
        p->diags, XPU_EUSAGE, p->graph->file, "portable", xpu_node_where(p->graph, k->region->nodes[0], p->arena),
        xpu_printf(p->arena, "target '%s' makes no valid C of region %u",
                   xpu_escape(p->arena, k->region->target->name, 80), k->region->number),
        why, "this is a fault of the plug-in: see docs/bring-your-own-codegen.md, \"Before another target\"");
}

static const char *name_of(const check *k, xpu_value value) {
    return xpu_escape(k->p->arena, xpu_value_at(k->p->graph, value)->name, 80);
}

/* ---- texts ---- */

static int is_identifier(const char *text) {
    enum { LONGEST = 200 };
    size_t length = strlen(text);
    int good = length > 0 && length <= LONGEST && !(text[0] >= '0' && text[0] <= '9');
    for (size_t i = 0; i < length && good; i++) {
        char c = text[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    return good;
}

static const xpu_region *region_with(const check *k, const char *entry) {
    for (const xpu_region *r = k->p->job.regions; r != k->region; r++) {
        if (r->portable && strcmp(r->portable->entry, entry) == 0) return r;
    }
    return NULL;
}

static xpu_status check_texts(const check *k) {
    const char *entry = k->c->entry;
    if (!k->c->source || !k->c->source[0]) return refuse(k, "there is no text (source is NULL or empty)");
    if (!entry) return refuse(k, "the function has no name (entry is NULL)");
    if (!is_identifier(entry))
        return refuse(k, xpu_printf(k->p->arena, "its function's name, '%s', is no C identifier of at most 200 letters",
                                    xpu_escape(k->p->arena, entry, 80)));
    if (strncmp(entry, "xpu_", 4) == 0 || strncmp(entry, "__", 2) == 0)
        return refuse(k, xpu_printf(k->p->arena, "its function's name, '%s', begins as those of the device library do",
                                    xpu_escape(k->p->arena, entry, 80)));
    const xpu_region *other = region_with(k, entry);
    if (!other) return XPU_OK;
    return refuse(k, xpu_printf(k->p->arena, "its function '%s' has the name of that of region %u",
                                xpu_escape(k->p->arena, entry, 80), other->number));
}

/* ---- operands and results ---- */

static int is_among(const xpu_value *values, uint32_t count, xpu_value value) {
    for (uint32_t i = 0; i < count; i++) {
        if (values[i].id == value.id) return 1;
    }
    return 0;
}

static const xpu_block_info *body_of(const check *k) {
    return xpu_block_at(k->p->graph, xpu_node_at(k->p->graph, k->region->call)->blocks[0]);
}

/* Whether a node of the region reads the constant. */
static int is_read(const check *k, xpu_value constant) {
    for (uint32_t n = 0; n < k->region->node_count; n++) {
        const xpu_node_info *node = xpu_node_at(k->p->graph, k->region->nodes[n]);
        if (is_among(node->inputs, node->input_count, constant)) return 1;
    }
    return 0;
}

static xpu_status check_operands(const check *k) {
    const xpu_portable *c = k->c;
    const xpu_block_info *body = body_of(k);
    if (c->operand_count && !c->operands)
        return refuse(k, xpu_printf(k->p->arena, "it has %u operands, and no list of them", c->operand_count));
    for (uint32_t i = 0; i < c->operand_count; i++) {
        xpu_value value = c->operands[i];
        if (!value.id || value.id >= k->p->graph->values.count)
            return refuse(k, xpu_printf(k->p->arena, "operand %u is value %u, which does not exist", i, value.id));
        if (is_among(body->arguments.items, body->arguments.count, value)) continue;
        int is_const = xpu_value_at(k->p->graph, value)->kind == XPU_VALUE_CONST;
        if (!is_const || !is_read(k, value))
            return refuse(k, xpu_printf(k->p->arena, "operand %u, '%s', is nothing that the region reads from outside",
                                        i, name_of(k, value)));
    }
    return XPU_OK;
}

static xpu_status check_results(const check *k) {
    const xpu_portable *c = k->c;
    const xpu_block_info *body = body_of(k);
    if (c->result_count != body->results.count || !c->results)
        return refuse(k, xpu_printf(k->p->arena, "it has %u results; others read %u of the region",
                                    c->results ? c->result_count : 0, body->results.count));
    for (uint32_t i = 0; i < body->results.count; i++) {
        if (!is_among(c->results, c->result_count, body->results.items[i]))
            return refuse(k, xpu_printf(k->p->arena, "'%s', which others read, is not among its results",
                                        name_of(k, body->results.items[i])));
    }
    return XPU_OK;
}

/* ---- sizes ---- */

static int is_dim(const check *k, xpu_dim dim) {
    return dim.id > 0 && dim.id < k->p->graph->dims.nodes.count;
}

static xpu_status check_sizes(const check *k) {
    const xpu_portable *c = k->c;
    const xpu_dims *dims = &k->p->graph->dims;
    const uint64_t memory =
        k->p->job.memory_bytes && k->p->job.memory_bytes < INT32_MAX ? k->p->job.memory_bytes : INT32_MAX;
    if (c->dim_count && !c->dims)
        return refuse(k, xpu_printf(k->p->arena, "it has %u dims, and no list of them", c->dim_count));
    for (uint32_t i = 0; i < c->dim_count; i++) {
        if (!is_dim(k, c->dims[i])) return refuse(k, xpu_printf(k->p->arena, "dim %u is not known", i));
    }
    if (!c->scratch_bytes.id) return XPU_OK;
    if (!is_dim(k, c->scratch_bytes)) return refuse(k, "the size of its scratch is not known");
    int64_t least = xpu_dim_min(dims, c->scratch_bytes);
    if (least >= 0 && (uint64_t)least <= memory) return XPU_OK;
    return refuse(k, xpu_printf(k->p->arena, "its scratch has %lld bytes; the device has %llu", (long long)least,
                                (unsigned long long)memory));
}

/* ---- all regions ---- */

static xpu_status lower_region(xpu_pipeline *p, xpu_region *region) {
    const xpu_offer *offer = p->offers;
    while (offer->target != region->target) offer++;
    xpu_portable *made = XPU_NEW(p->arena, xpu_portable);
    const check k = {p, region, made};
    const size_t errors = p->diags->errors;
    xpu_status status = offer->target->lower_portable(offer->job, region->number - 1, made);
    if (status != XPU_OK || p->diags->errors != errors) {
        if (p->diags->errors == errors) return refuse(&k, "it says that it failed, and not why");
        return xpu_diags_status(p->diags);
    }
    status = check_texts(&k);
    if (status == XPU_OK) status = check_operands(&k);
    if (status == XPU_OK) status = check_results(&k);
    if (status == XPU_OK) status = check_sizes(&k);
    if (status == XPU_OK) region->portable = made;
    return status;
}

xpu_status xpu_lower_portable_regions(xpu_pipeline *p) {
    xpu_status first = XPU_OK;
    for (uint32_t i = 0; i < p->partition.region_count; i++) {
        if (!p->partition.regions[i].call.id) continue;
        xpu_status status = lower_region(p, &p->partition.regions[i]);
        if (first == XPU_OK) first = status;
    }
    return first;
}
