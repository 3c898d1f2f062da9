/*
 * Rotary embedding as exporters write it out becomes one operator: pairs of a row's elements, neighbours or half a row
 * apart, times cosines and sines. Either both halves are made and joined, or x and x with the elements of each pair
 * exchanged are multiplied by whole tables.
 */
#include "core/ops/rotary.h"

#include "core/passes/rewrite.h"

/* How one element of each pair is taken from x. */
typedef enum {
    FORM_PAIRS, /* x[..., d/2, 2], of which a slice of one element is left */
    FORM_STEPS, /* every second of x[..., d] */
    FORM_HALVES
} pair_form;

typedef struct {
    xpu_value x;
    pair_form form;
    int which;
} half;

/* y = x * c + (x with pairs exchanged) * s. */
typedef struct {
    xpu_value x, c, s;
    int interleaved;
    int pairs_apart;    /* x is [..., d/2, 2] */
    int halved;         /* tables have one element for each pair */
    int negated;        /* the first of a pair is multiplied by -s */
    xpu_node parts[16]; /* that it takes the place of */
    uint32_t part_count;
} rotation;

typedef struct {
    xpu_graph *graph;
    xpu_node node;
    xpu_diags *diags;
} builder;

static void add_part(rotation *r, xpu_node node) {
    if (r->part_count < sizeof r->parts / sizeof *r->parts) r->parts[r->part_count++] = node;
}

static xpu_value before_reshapes(const xpu_graph *graph, xpu_value value) {
    for (xpu_node node; (node = xpu_made_by(graph, value, XPU_OP_RESHAPE)).id;) value = xpu_node_input(graph, node, 0);
    return value;
}

static int64_t number_of(const xpu_graph *graph, xpu_dim dim) {
    int64_t number;
    return xpu_dim_is_const(&graph->dims, dim, &number) ? number : -1;
}

/* Of the last dim, or where `from_end` is 2 the one in front of it. */
static int64_t size_at(const xpu_graph *graph, xpu_value value, int from_end) {
    const xpu_value_info *info = xpu_value_at(graph, value);
    return info->rank < from_end ? -1 : number_of(graph, info->dims[info->rank - from_end]);
}

static int same_dims(const xpu_graph *graph, xpu_value a, xpu_value b, int count) {
    for (int i = 0; i < count; i++) {
        if (!xpu_dim_same(&graph->dims, xpu_value_at(graph, a)->dims[i], xpu_value_at(graph, b)->dims[i])) return 0;
    }
    return 1;
}

static int rank_of(const xpu_graph *graph, xpu_value value) {
    return xpu_value_at(graph, value)->rank;
}

/* ---- halves, and what exchanges them ---- */

/* Whether a slice takes everything along all dims but `axis`. */
static int is_whole_but(const xpu_graph *graph, xpu_node slice, int axis) {
    const xpu_value_info *x = xpu_value_at(graph, xpu_node_input(graph, slice, 0));
    const xpu_attr *starts = xpu_node_attr(graph, slice, XPU_ATTR_STARTS);
    const xpu_attr *shape = xpu_node_attr(graph, slice, XPU_ATTR_SHAPE), *by = xpu_node_attr(graph, slice, XPU_ATTR_BY);
    for (int i = 0; i < x->rank; i++) {
        if (i == axis) continue;
        if (number_of(graph, starts->dims[i]) != 0 || by->ints[i] != 1) return 0;
        if (!xpu_dim_same(&graph->dims, shape->dims[i], x->dims[i])) return 0;
    }
    return 1;
}

static int is_half(const xpu_graph *graph, xpu_value value, half *h) {
    xpu_node reshape = xpu_made_by(graph, value, XPU_OP_RESHAPE);
    xpu_node slice = xpu_made_by(graph, reshape.id ? xpu_node_input(graph, reshape, 0) : value, XPU_OP_SLICE);
    if (!slice.id) return 0;
    h->x = xpu_node_input(graph, slice, 0);
    const int last = rank_of(graph, h->x) - 1;
    if (last < 0 || !is_whole_but(graph, slice, last)) return 0;
    const int64_t size = size_at(graph, h->x, 1);
    const int64_t count = size_at(graph, xpu_node_output(graph, slice, 0), 1);
    const int64_t start = number_of(graph, xpu_node_attr(graph, slice, XPU_ATTR_STARTS)->dims[last]);
    const int64_t by = xpu_node_attr(graph, slice, XPU_ATTR_BY)->ints[last];
    if (size < 2 || size % 2 || count != size / 2 || start < 0) return 0;
    if (reshape.id) {
        h->form = FORM_PAIRS;
        h->which = (int)start;
        return size == 2 && rank_of(graph, value) == last && same_dims(graph, value, h->x, last);
    }
    h->form = by == 2 ? FORM_STEPS : FORM_HALVES;
    h->which = start != 0;
    return by == 2 ? start < 2 : by == 1 && (start == 0 || start == count);
}

/* Whether `value` is half `which` of what `like` is a half of. */
static int is_its_half(const xpu_graph *graph, xpu_value value, int which, const half *like) {
    half h;
    return is_half(graph, value, &h) && h.which == which && h.form == like->form &&
           before_reshapes(graph, h.x).id == before_reshapes(graph, like->x).id &&
           xpu_value_same_shape(graph, h.x, like->x);
}

/* The values that a concat along the last dim joins pair by pair, or half by half: parts[0] and parts[1]. */
static int joins(const xpu_graph *graph, xpu_node concat, pair_form form, xpu_value parts[2]) {
    if (!concat.id || xpu_node_at(graph, concat)->input_count != 2) return 0;
    const int rank = rank_of(graph, xpu_node_output(graph, concat, 0));
    if (xpu_node_int(graph, concat, XPU_ATTR_AXIS) != rank - 1) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        xpu_value part = parts[i] = xpu_node_input(graph, concat, i);
        if (form == FORM_HALVES) continue;
        xpu_node reshape = xpu_made_by(graph, part, XPU_OP_RESHAPE);
        if (!reshape.id || size_at(graph, part, 1) != 1) return 0;
        parts[i] = xpu_node_input(graph, reshape, 0);
        if (rank_of(graph, parts[i]) != rank - 1 || !same_dims(graph, parts[i], part, rank - 1)) return 0;
    }
    return 1;
}

/* ---- halves that are made and joined ---- */

/* Whether `value` is half `which` times the table, which is found where it is not known. */
static int is_product(const xpu_graph *graph, xpu_value value, int which, const half *like, xpu_value *table,
                      rotation *r) {
    xpu_node product = xpu_made_by(graph, value, XPU_OP_MUL);
    for (uint32_t i = 0; product.id && i < 2; i++) {
        xpu_value other = xpu_node_input(graph, product, 1 - i);
        if (!is_its_half(graph, xpu_node_input(graph, product, i), which, like)) continue;
        if (table->id && table->id != other.id) continue;
        *table = other;
        add_part(r, product);
        return 1;
    }
    return 0;
}

/* The first half that a product of the difference has. */
static int find_half(const xpu_graph *graph, xpu_node difference, half *h) {
    xpu_node product = xpu_made_by(graph, xpu_node_input(graph, difference, 0), XPU_OP_MUL);
    for (uint32_t i = 0; product.id && i < 2; i++) {
        if (is_half(graph, xpu_node_input(graph, product, i), h) && h->which == 0) return 1;
    }
    return 0;
}

static int is_joined(const xpu_graph *graph, xpu_node concat, rotation *r) {
    half h;
    xpu_value parts[2];
    if (!joins(graph, concat, FORM_HALVES, parts)) return 0;
    xpu_node difference = xpu_made_by(graph, before_reshapes(graph, parts[0]), XPU_OP_SUB);
    if (!difference.id || !find_half(graph, difference, &h) || !joins(graph, concat, h.form, parts)) return 0;
    xpu_node sum = xpu_made_by(graph, parts[1], XPU_OP_ADD);
    difference = xpu_made_by(graph, parts[0], XPU_OP_SUB);
    if (!difference.id || !sum.id) return 0;
    if (!is_product(graph, xpu_node_input(graph, difference, 0), 0, &h, &r->c, r)) return 0;
    if (!is_product(graph, xpu_node_input(graph, difference, 1), 1, &h, &r->s, r)) return 0;
    add_part(r, difference);
    const uint32_t at = is_product(graph, xpu_node_input(graph, sum, 0), 0, &h, &r->s, r) ? 0 : 1;
    if (at == 1 && !is_product(graph, xpu_node_input(graph, sum, 1), 0, &h, &r->s, r)) return 0;
    if (!is_product(graph, xpu_node_input(graph, sum, 1 - at), 1, &h, &r->c, r)) return 0;
    add_part(r, sum);
    r->pairs_apart = h.form == FORM_PAIRS;
    const int rank = rank_of(graph, h.x) - r->pairs_apart;
    for (int i = 0; i < 2; i++) {
        if (rank_of(graph, parts[i]) != rank) return 0;
        if (!same_dims(graph, parts[i], h.x, r->pairs_apart ? rank : rank - 1)) return 0;
        if (!r->pairs_apart && 2 * size_at(graph, parts[i], 1) != size_at(graph, h.x, 1)) return 0;
    }
    r->x = h.x;
    r->halved = 1;
    r->interleaved = h.form != FORM_HALVES;
    return 1;
}

/* ---- x with pairs exchanged ---- */

/* Whether w is x[..., d/2, 2], or x[..., 2, d/2], with the 2 backwards. */
static int is_backwards(const xpu_graph *graph, xpu_value w, rotation *r) {
    xpu_node reshape = xpu_made_by(graph, w, XPU_OP_RESHAPE);
    xpu_node slice = reshape.id ? xpu_made_by(graph, xpu_node_input(graph, reshape, 0), XPU_OP_SLICE) : reshape;
    if (!slice.id) return 0;
    r->x = xpu_node_input(graph, slice, 0);
    const int rank = rank_of(graph, r->x);
    if (rank != rank_of(graph, w) + 1 || rank < 2 || !same_dims(graph, r->x, w, rank - 2)) return 0;
    const int64_t *by = xpu_node_attr(graph, slice, XPU_ATTR_BY)->ints;
    r->interleaved = by[rank - 1] == -1;
    const int axis = r->interleaved ? rank - 1 : rank - 2;
    if (by[axis] != -1 || !is_whole_but(graph, slice, axis)) return 0;
    add_part(r, slice);
    return number_of(graph, xpu_node_attr(graph, slice, XPU_ATTR_STARTS)->dims[axis]) == 1 &&
           size_at(graph, r->x, rank - axis) == 2 && size_at(graph, xpu_node_output(graph, slice, 0), rank - axis) == 2;
}

/* Whether w is -second, first of each pair. */
static int is_turned(const xpu_graph *graph, xpu_value w, rotation *r) {
    half h;
    xpu_value parts[2];
    xpu_node reshape = xpu_made_by(graph, w, XPU_OP_RESHAPE);
    xpu_node concat = xpu_made_by(graph, reshape.id ? xpu_node_input(graph, reshape, 0) : w, XPU_OP_CONCAT);
    const pair_form form = reshape.id ? FORM_PAIRS : FORM_HALVES;
    if (!joins(graph, concat, form, parts) || !is_half(graph, parts[1], &h) || h.which != 0) return 0;
    xpu_node neg = xpu_made_by(graph, parts[0], XPU_OP_NEG);
    if (!neg.id || (h.form == FORM_HALVES) != (form == FORM_HALVES)) return 0;
    if (!is_its_half(graph, xpu_node_input(graph, neg, 0), 1, &h)) return 0;
    const int rank = rank_of(graph, w);
    if (rank != rank_of(graph, h.x) - (h.form == FORM_PAIRS) || !same_dims(graph, w, h.x, rank - 1)) return 0;
    add_part(r, neg);
    add_part(r, concat);
    r->x = h.x;
    r->interleaved = form != FORM_HALVES;
    r->negated = 1;
    return 1;
}

/* x * c + w * s, w being operand `i` of product q. */
static int is_exchange(const xpu_graph *graph, xpu_node p, xpu_node q, uint32_t i, rotation *r) {
    const xpu_value w = xpu_node_input(graph, q, i);
    *r = (rotation){.part_count = 0};
    if (!is_backwards(graph, w, r)) {
        *r = (rotation){.part_count = 0};
        if (!is_turned(graph, w, r)) return 0;
    }
    const xpu_value root = before_reshapes(graph, r->x);
    for (uint32_t k = 0; k < 2; k++) {
        xpu_value x = xpu_node_input(graph, p, k);
        if (before_reshapes(graph, x).id != root.id || !xpu_value_same_shape(graph, x, w)) continue;
        r->x = x;
        r->c = xpu_node_input(graph, p, 1 - k);
        r->s = xpu_node_input(graph, q, 1 - i);
        add_part(r, p);
        add_part(r, q);
        return 1;
    }
    return 0;
}

static int is_sum(const xpu_graph *graph, xpu_node sum, rotation *r) {
    for (uint32_t i = 0; i < 4; i++) {
        xpu_node p = xpu_made_by(graph, xpu_node_input(graph, sum, i % 2), XPU_OP_MUL);
        xpu_node q = xpu_made_by(graph, xpu_node_input(graph, sum, 1 - i % 2), XPU_OP_MUL);
        if (p.id && q.id && is_exchange(graph, p, q, i / 2, r)) return 1;
    }
    return 0;
}

/* ---- the operator ---- */

static xpu_value build(const builder *b, xpu_op_id op, const xpu_value *inputs, uint32_t count, const xpu_attr *attr) {
    return xpu_build_part(b->graph, b->node, op, inputs, count, attr, attr != NULL, b->diags);
}

static xpu_value reshaped(const builder *b, xpu_value x, const xpu_dim *dims, int rank) {
    return build(b, XPU_OP_RESHAPE, &x, 1, &XPU_ATTR_DIMS_OF(SHAPE, dims, (uint32_t)rank));
}

/* A table of whole rows of one with an element for each pair: `first` and `second` of them. */
static xpu_value whole_table(const builder *b, xpu_value first, xpu_value second, int interleaved) {
    const xpu_value_info info = *xpu_value_at(b->graph, second);
    const int rank = info.rank;
    xpu_dim dims[XPU_MAX_RANK + 1];
    for (int i = 0; i < rank; i++) dims[i] = info.dims[i];
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, interleaved ? rank : rank - 1);
    if (!interleaved) return build(b, XPU_OP_CONCAT, (const xpu_value[]){first, second}, 2, &axis);
    dims[rank] = xpu_dim_const(&b->graph->dims, 1);
    const xpu_value parts[] = {reshaped(b, first, dims, rank + 1), reshaped(b, second, dims, rank + 1)};
    xpu_value table = build(b, XPU_OP_CONCAT, parts, 2, &axis);
    dims[rank - 1] = xpu_dim_mul_const(&b->graph->dims, dims[rank - 1], 2);
    return reshaped(b, table, dims, rank);
}

/* s times -1 and 1 for the first and the second of a pair. */
static xpu_value with_signs(const builder *b, xpu_value s, int64_t size, int interleaved) {
    float signs[XPU_ROTARY_MOST];
    for (int64_t i = 0; i < size; i++) signs[i] = (interleaved ? i % 2 == 0 : i < size / 2) ? -1.0f : 1.0f;
    const xpu_tensor row = {.dtype = XPU_F32, .rank = 1, .dims = {size}, .data = signs};
    return build(b, XPU_OP_MUL, (const xpu_value[]){s, xpu_graph_const_bytes(b->graph, NULL, &row)}, 2, NULL);
}

static int is_float32(const xpu_graph *graph, xpu_value value) {
    return xpu_value_at(graph, value)->dtype == XPU_F32;
}

/* Whether the tables, of rows for the pairs or for all elements, fit x as [..., size]. */
static int fits(const xpu_graph *graph, const rotation *r, const xpu_value_info *x, int64_t size) {
    int first, last;
    xpu_value_info row = *x;
    if (size < 2 || size > XPU_ROTARY_MOST || size % 2 || !is_float32(graph, r->x) || !is_float32(graph, r->c) ||
        !is_float32(graph, r->s) || !xpu_value_same_shape(graph, r->c, r->s))
        return 0;
    if (r->halved) {
        const xpu_value_info *table = xpu_value_at(graph, r->c);
        if (table->rank < 1 || table->rank == XPU_MAX_RANK) return 0;
        if (number_of(graph, table->dims[table->rank - 1]) != size / 2) return 0;
        row.dims[row.rank - 1] = table->dims[table->rank - 1];
    }
    return xpu_rotary_fits(graph, &row, xpu_value_at(graph, r->c), &first, &last);
}

xpu_status xpu_find_rotary(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const builder b = {graph, node, diags};
    const size_t errors = diags->errors;
    rotation r = {.part_count = 0};
    if (xpu_node_is(graph, node, XPU_OP_CONCAT) ? !is_joined(graph, node, &r)
                                                : !xpu_node_is(graph, node, XPU_OP_ADD) || !is_sum(graph, node, &r))
        return XPU_OK;
    const xpu_value_info result = *xpu_value_at(graph, xpu_node_output(graph, node, 0));
    xpu_value_info x = *xpu_value_at(graph, r.x);
    if (r.pairs_apart && x.rank < 2) return XPU_OK;
    if (r.pairs_apart) {
        x.rank--;
        x.dims[x.rank - 1] = xpu_dim_mul_const(&graph->dims, x.dims[x.rank - 1], 2);
    }
    const int64_t size = x.rank > 0 ? number_of(graph, x.dims[x.rank - 1]) : 0;
    if (!fits(graph, &r, &x, size)) return XPU_OK;
    xpu_node_lead_origins(graph, node, r.parts, r.part_count);
    xpu_value inputs[3] = {r.x, r.c, r.s};
    if (r.pairs_apart) inputs[0] = reshaped(&b, r.x, x.dims, x.rank);
    if (r.halved) {
        inputs[XPU_IN_COSINES] = whole_table(&b, r.c, r.c, r.interleaved);
        inputs[XPU_IN_SINES] = whole_table(&b, build(&b, XPU_OP_NEG, &r.s, 1, NULL), r.s, r.interleaved);
    } else if (r.negated) {
        inputs[XPU_IN_SINES] = with_signs(&b, r.s, size, r.interleaved);
    }
    const xpu_attr attr = XPU_ATTR_INT_OF(INTERLEAVED, r.interleaved);
    if (diags->errors != errors) return xpu_diags_status(diags);
    if (r.halved && r.interleaved) {
        xpu_value turned = build(&b, XPU_OP_ROTARY, inputs, 3, &attr);
        xpu_rewrite(graph, node, XPU_OP_RESHAPE, &turned, 1,
                    &XPU_ATTR_DIMS_OF(SHAPE, result.dims, (uint32_t)result.rank), 1);
    } else {
        xpu_rewrite(graph, node, XPU_OP_ROTARY, inputs, 3, &attr, 1);
    }
    return xpu_op_infer(graph, node, diags);
}
