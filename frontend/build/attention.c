/* Attention, and rotary embedding: products, masks, softmax. */
#include <inttypes.h>
#include <math.h>

#include "frontend/build/build.h"

static const xpu_value none = {0};

/* ---- rotary embedding ---- */

static xpu_value part_of_last(fe_builder *b, xpu_value x, int64_t start, int64_t count, int64_t step) {
    if (!x.id) return x;
    xpu_dims *table = &b->graph->dims;
    return fe_part(b, x, fe_info(b, x)->rank - 1, xpu_dim_const(table, start), xpu_dim_const(table, count), step, 0);
}

/* The pairs of x side by side again: first all first ones, or one after the other. */
static xpu_value joined(fe_builder *b, xpu_value first, xpu_value second, int interleaved) {
    if (!first.id || !second.id) return none;
    const xpu_value_info info = *fe_info(b, first);
    xpu_dim dims[XPU_MAX_RANK];
    const int rank = info.rank;
    if (!interleaved) return fe_concat(b, (xpu_value[]){first, second}, 2, rank - 1);
    for (int i = 0; i < rank; i++) dims[i] = info.dims[i];
    dims[rank] = xpu_dim_const(&b->graph->dims, 1);
    first = fe_reshape_to(b, first, dims, rank + 1, 0);
    second = fe_reshape_to(b, second, dims, rank + 1, 0);
    xpu_value pairs = fe_concat(b, (xpu_value[]){first, second}, 2, rank);
    dims[rank - 1] = xpu_dim_mul_const(&b->graph->dims, info.dims[rank - 1], 2);
    return pairs.id ? fe_reshape_to(b, pairs, dims, rank, 0) : pairs;
}

/* A cache by place, [B,S,half], as it broadcasts to x with its heads. */
static xpu_value cache_of(fe_builder *b, xpu_value cache, xpu_value positions, int64_t half, int heads_at) {
    if (positions.id) cache = fe_gather(b, cache, positions, 0);
    if (!cache.id) return cache;
    const xpu_value_info info = *fe_info(b, cache);
    int64_t size;
    if (info.rank != 3 || !xpu_dim_is_const(&b->graph->dims, info.dims[2], &size) || size != half) {
        return fe_refuse(
            b, FE_SHAPE, "a cache does not fit the input",
            fe_format(b, "it is %s by place, half of what turns is %" PRId64, fe_shape_text(b, cache), half), NULL);
    }
    xpu_dim dims[4] = {info.dims[0], info.dims[1], info.dims[1], info.dims[2]};
    dims[heads_at] = xpu_dim_const(&b->graph->dims, 1);
    return fe_reshape_to(b, cache, dims, 4, 0);
}

xpu_value fe_rotary_embedding(fe_builder *b, const fe_rotary_operands *in, const fe_rotation *form) {
    if (!in->x.id || !in->cosines.id || !in->sines.id) return none;
    const xpu_value_info info = *fe_info(b, in->x);
    fe_builder inside = fe_inside(b);
    xpu_dims *table = &b->graph->dims;
    int64_t size = 0, turned = form->size;
    int known = (info.rank == 3 || info.rank == 4) && xpu_dim_is_const(table, info.dims[info.rank - 1], &size);
    if (info.rank == 3) {
        known = known && form->heads > 0 && size % form->heads == 0;
        if (known) size /= form->heads;
    }
    if (!turned) turned = size;
    if (!known || turned < 2 || turned % 2 || turned > size) {
        return fe_refuse(b, FE_SHAPE, "the input does not fit the rotation",
                         fe_format(b, "it is %s, with %" PRId64 " heads, of which %" PRId64 " elements turn",
                                   fe_shape_text(b, in->x), form->heads, turned),
                         "it is [batch,heads,sequence,size], or [batch,sequence,heads * size] with num_heads");
    }
    const int heads_at = info.rank == 3 ? 2 : 1;
    xpu_dim dims[4] = {info.dims[0], info.dims[1], xpu_dim_const(table, form->heads), xpu_dim_const(table, size)};
    xpu_value x = info.rank == 3 ? fe_reshape_to(&inside, in->x, dims, 4, 0) : in->x;
    xpu_value c = cache_of(&inside, in->cosines, in->positions, turned / 2, heads_at);
    xpu_value s = cache_of(&inside, in->sines, in->positions, turned / 2, heads_at);
    const int64_t step = form->interleaved ? 2 : 1;
    xpu_value first = part_of_last(&inside, x, 0, turned / 2, step);
    xpu_value second = part_of_last(&inside, x, form->interleaved ? 1 : turned / 2, turned / 2, step);
    xpu_value real = fe_binary(&inside, XPU_OP_SUB, fe_binary(&inside, XPU_OP_MUL, c, first),
                               fe_binary(&inside, XPU_OP_MUL, s, second));
    xpu_value other = fe_binary(&inside, XPU_OP_ADD, fe_binary(&inside, XPU_OP_MUL, s, first),
                                fe_binary(&inside, XPU_OP_MUL, c, second));
    xpu_value y = joined(&inside, real, other, form->interleaved);
    if (turned < size && y.id) {
        y = fe_concat(&inside, (xpu_value[]){y, part_of_last(&inside, x, turned, size - turned, 1)}, 2, 3);
    }
    if (y.id && info.rank == 3) y = fe_reshape_to(&inside, y, info.dims, 3, 0);
    return fe_broadcasts_to(b, in->x, y) ? fe_finish(b, &inside, y) : none;
}

/* ---- attention ---- */

typedef struct {
    fe_builder *b; /* of intermediate results */
    const fe_attention_form *form;
    fe_attention_operands in; /* [batch,heads,sequence,size]; keys and values with those of the past */
    xpu_dim batch, queries, keys, past;
    int64_t q_heads, group; /* query heads for each head of the keys */
} attention;

/* [B,S,heads * size] as [B,heads,S,size]. */
static xpu_value with_heads(fe_builder *b, xpu_value x, int64_t heads) {
    static const int64_t perm[] = {0, 2, 1, 3};
    const xpu_value_info info = *fe_info(b, x);
    int64_t size;
    if (info.rank == 4) return x;
    if (info.rank != 3 || heads < 1 || !xpu_dim_is_const(&b->graph->dims, info.dims[2], &size) || size % heads) {
        return fe_refuse(b, FE_SHAPE, "an operand does not have the heads of the attention",
                         fe_format(b, "it is %s, of %" PRId64 " heads", fe_shape_text(b, x), heads), NULL);
    }
    xpu_dim dims[] = {info.dims[0], info.dims[1], xpu_dim_const(&b->graph->dims, heads),
                      xpu_dim_const(&b->graph->dims, size / heads)};
    x = fe_reshape_to(b, x, dims, 4, 0);
    return x.id ? fe_node(b, XPU_OP_TRANSPOSE, &x, 1, &XPU_ATTR_INTS_OF(PERM, perm, 4), 1, 0) : x;
}

static int read_attention(attention *a) {
    xpu_dims *table = &a->b->graph->dims;
    fe_attention_operands *in = &a->in;
    in->q = with_heads(a->b, in->q, a->form->q_heads);
    in->k = with_heads(a->b, in->k, a->form->kv_heads);
    in->v = with_heads(a->b, in->v, a->form->kv_heads);
    if (!in->q.id || !in->k.id || !in->v.id) return 0;
    a->past = xpu_dim_const(table, 0);
    if (in->past_key.id && in->past_value.id) {
        if (fe_info(a->b, in->past_key)->rank == 4) a->past = fe_info(a->b, in->past_key)->dims[2];
        in->k = fe_concat(a->b, (xpu_value[]){in->past_key, in->k}, 2, 2);
        in->v = fe_concat(a->b, (xpu_value[]){in->past_value, in->v}, 2, 2);
        if (!in->k.id || !in->v.id) return 0;
    }
    const xpu_value_info q = *fe_info(a->b, in->q), k = *fe_info(a->b, in->k);
    int64_t kv_heads;
    if (!xpu_dim_is_const(table, q.dims[1], &a->q_heads) || a->q_heads < 1 ||
        !xpu_dim_is_const(table, k.dims[1], &kv_heads) || kv_heads < 1 || a->q_heads % kv_heads) {
        fe_refuse(
            a->b, FE_SHAPE, "the heads of the queries are no multiple of those of the keys",
            fe_format(a->b, "the queries are %s, the keys %s", fe_shape_text(a->b, in->q), fe_shape_text(a->b, in->k)),
            NULL);
        return 0;
    }
    if (!xpu_dim_same(table, fe_info(a->b, in->v)->dims[1], k.dims[1])) {
        fe_refuse(
            a->b, FE_SHAPE, "the values have other heads than the keys",
            fe_format(a->b, "the keys are %s, the values %s", fe_shape_text(a->b, in->k), fe_shape_text(a->b, in->v)),
            NULL);
        return 0;
    }
    a->group = a->q_heads / kv_heads;
    a->batch = q.dims[0], a->queries = q.dims[2], a->keys = k.dims[2];
    return 1;
}

/* The query heads of one head of the keys as one, with so many times the rows; and back. */
static xpu_value grouped(const attention *a, xpu_value x) {
    if (a->group == 1 || !x.id) return x;
    const xpu_value_info info = *fe_info(a->b, x);
    xpu_dims *table = &a->b->graph->dims;
    xpu_dim dims[] = {info.dims[0], xpu_dim_const(table, a->q_heads / a->group),
                      xpu_dim_mul_const(table, info.dims[2], a->group), info.dims[3]};
    return fe_reshape_to(a->b, x, dims, 4, 0);
}
static xpu_value ungrouped(const attention *a, xpu_value x) {
    if (a->group == 1 || !x.id) return x;
    xpu_dim dims[] = {a->batch, xpu_dim_const(&a->b->graph->dims, a->q_heads), a->queries, fe_info(a->b, x)->dims[3]};
    return fe_reshape_to(a->b, x, dims, 4, 0);
}

static xpu_value scores(const attention *a) {
    static const int64_t perm[] = {0, 1, 3, 2};
    int64_t size = 0;
    float scale = a->form->scale;
    if (scale == 0) {
        if (!xpu_dim_is_const(&a->b->graph->dims, fe_info(a->b, a->in.q)->dims[3], &size) || size < 1) {
            return fe_refuse(a->b, FE_FORM, "the scale depends on the size of a head, which is not known",
                             fe_format(a->b, "the queries are %s", fe_shape_text(a->b, a->in.q)), NULL);
        }
        scale = (float)(1 / sqrt((double)size));
    }
    xpu_value q = fe_binary(a->b, XPU_OP_MUL, a->in.q, fe_number(a->b, scale));
    xpu_value k = fe_node(a->b, XPU_OP_TRANSPOSE, &a->in.k, 1, &XPU_ATTR_INTS_OF(PERM, perm, 4), 1, 0);
    q = grouped(a, q);
    return q.id && k.id ? ungrouped(a, fe_matmul(a->b, q, k)) : none;
}

static xpu_value both(fe_builder *b, xpu_value x, xpu_value y) {
    return x.id ? fe_binary(b, XPU_OP_AND, x, y) : y;
}

/* The number of keys that count in each batch, [B,1,1,1]. */
static xpu_value lengths_of(const attention *a) {
    const xpu_value_info info = *fe_info(a->b, a->in.lengths);
    xpu_dim one = xpu_dim_const(&a->b->graph->dims, 1), dims[] = {a->batch, one, one, one};
    if (info.rank != 1) {
        return fe_refuse(a->b, FE_SHAPE, "the lengths are no vector",
                         fe_format(a->b, "they are %s", fe_shape_text(a->b, a->in.lengths)), NULL);
    }
    return fe_reshape_to(a->b, fe_convert(a->b, a->in.lengths, XPU_I32), dims, 4, 0);
}

/* Where a query sees a key, of what positions say; {0}: everywhere, and *ok says whether nothing was reported. */
static xpu_value visible(const attention *a, int *ok) {
    fe_builder *b = a->b;
    const fe_attention_form *form = a->form;
    xpu_value allowed = none, lengths = a->in.lengths.id ? lengths_of(a) : none;
    xpu_value key = fe_counted(b, XPU_I32, a->keys, 1, 2), place = fe_counted(b, XPU_I32, a->queries, 0, 2);
    *ok = key.id && place.id && (lengths.id || !a->in.lengths.id);
    if (!*ok) return none;
    if (form->is_causal || form->left >= 0 || form->right >= 0) {
        xpu_value before = fe_convert(b, fe_dim_values(b, &a->past, 1, 0), XPU_I32);
        if (lengths.id && !a->in.past_key.id) {
            xpu_value queries = fe_convert(b, fe_dim_values(b, &a->queries, 1, 0), XPU_I32);
            before = fe_binary(b, XPU_OP_SUB, lengths, queries);
        }
        xpu_value ahead = fe_binary(b, XPU_OP_SUB, key, fe_binary(b, XPU_OP_ADD, place, before));
        if (form->is_causal) allowed = fe_binary(b, XPU_OP_LESS_OR_EQUAL, ahead, fe_integer(b, XPU_I32, 0));
        if (form->left >= 0) {
            int32_t least = form->left > INT32_MAX ? -INT32_MAX : -(int32_t)form->left;
            allowed = both(b, allowed, fe_binary(b, XPU_OP_GREATER_OR_EQUAL, ahead, fe_integer(b, XPU_I32, least)));
        }
        if (form->right >= 0) {
            int32_t most = form->right > INT32_MAX ? INT32_MAX : (int32_t)form->right;
            allowed = both(b, allowed, fe_binary(b, XPU_OP_LESS_OR_EQUAL, ahead, fe_integer(b, XPU_I32, most)));
        }
        *ok = allowed.id != 0;
    }
    if (lengths.id) allowed = both(b, allowed, fe_binary(b, XPU_OP_LESS, key, lengths));
    *ok = *ok && (allowed.id || !lengths.id);
    return allowed;
}

/* The mask as what is added. */
static xpu_value added_mask(const attention *a) {
    fe_builder *b = a->b;
    xpu_value mask = a->in.mask;
    const xpu_value_info info = *fe_info(b, mask);
    int64_t keys, own;
    if (info.rank < 1 || info.rank > 4) {
        return fe_refuse(b, FE_SHAPE, "the mask does not fit", fe_format(b, "it is %s", fe_shape_text(b, mask)), NULL);
    }
    if (info.dtype == XPU_BOOL) {
        xpu_value choice[] = {mask, fe_number(b, 0.0f), fe_number(b, -INFINITY)};
        mask = fe_node(b, XPU_OP_WHERE, choice, 3, NULL, 0, 0);
    } else if (info.dtype != XPU_F32) {
        mask = fe_convert(b, mask, XPU_F32);
    }
    if (!mask.id || !a->form->pads_mask || !xpu_dim_is_const(&b->graph->dims, a->keys, &keys) ||
        !xpu_dim_is_const(&b->graph->dims, info.dims[info.rank - 1], &own) || own >= keys) {
        return mask;
    }
    const int64_t pads[] = {0, keys - own}, axis = -1;
    const fe_padding padding = {.mode = "constant", .value = -INFINITY, .pads = {pads, 2}, .axes = {&axis, 1}};
    return fe_pad(b, mask, &padding);
}

/* What is added to the scores; {0}: nothing, or *ok is 0. */
static xpu_value bias_of(const attention *a, int *ok) {
    xpu_value allowed = visible(a, ok), mask = *ok && a->in.mask.id ? added_mask(a) : none;
    *ok = *ok && (mask.id || !a->in.mask.id);
    if (!*ok || !allowed.id) return mask;
    xpu_value choice[] = {allowed, mask.id ? mask : fe_number(a->b, 0.0f), fe_number(a->b, -INFINITY)};
    mask = fe_node(a->b, XPU_OP_WHERE, choice, 3, NULL, 0, 0);
    *ok = mask.id != 0;
    return mask;
}

/* Softmax; a row that sees nothing is 0. */
static xpu_value probabilities(const attention *a, xpu_value x, xpu_value bias) {
    static const int64_t last[] = {-1};
    xpu_value p = x.id ? fe_softmax(a->b, x, 3, 0) : x;
    const int may_be_blind = a->in.mask.id || a->in.lengths.id || a->form->left >= 0 || a->form->right >= 0;
    if (!bias.id || !p.id || !may_be_blind) return p;
    xpu_value most = fe_reduce(a->b, XPU_OP_REDUCE_MAX, bias, (fe_ints){last, 1}, 1);
    xpu_value blind = fe_binary(a->b, XPU_OP_EQUAL, most, fe_number(a->b, -INFINITY));
    if (!blind.id) return blind;
    return fe_node(a->b, XPU_OP_WHERE, (xpu_value[]){blind, fe_number(a->b, 0.0f), p}, 3, NULL, 0, 0);
}

int fe_attention(fe_builder *b, const fe_attention_operands *operands, const fe_attention_form *form,
                 xpu_value results[FE_ATTENTION_RESULTS]) {
    static const int64_t perm[] = {0, 2, 1, 3};
    if (!operands->q.id || !operands->k.id || !operands->v.id) return 0;
    const int is_flat = fe_info(b, operands->q)->rank == 3;
    fe_builder inside = fe_inside(b);
    attention a = {.b = &inside, .form = form, .in = *operands};
    int ok = 1;
    if (!read_attention(&a)) return 0;
    xpu_value stages[4] = {scores(&a)};
    xpu_value bias = stages[0].id ? bias_of(&a, &ok) : none;
    if (!stages[0].id || !ok) return 0;
    stages[1] = stages[0];
    if (form->softcap > 0) {
        xpu_value cap = fe_number(b, form->softcap);
        stages[1] = fe_unary(&inside, XPU_OP_TANH, fe_binary(&inside, XPU_OP_DIV, stages[0], cap));
        stages[1] = fe_binary(&inside, XPU_OP_MUL, stages[1], cap);
    }
    stages[2] = bias.id ? fe_binary(&inside, XPU_OP_ADD, stages[1], bias) : stages[1];
    if (!fe_broadcasts_to(b, stages[0], stages[2])) return 0;
    stages[3] = probabilities(&a, stages[2], bias);
    xpu_value weights = grouped(&a, stages[3]);
    xpu_value y = weights.id ? ungrouped(&a, fe_matmul(&inside, weights, a.in.v)) : none;
    if (y.id && is_flat) {
        const xpu_value_info info = *fe_info(b, y);
        xpu_dim dims[] = {info.dims[0], info.dims[2], xpu_dim_mul_const(&b->graph->dims, info.dims[3], a.q_heads)};
        y = fe_node(&inside, XPU_OP_TRANSPOSE, &y, 1, &XPU_ATTR_INTS_OF(PERM, perm, 4), 1, 0);
        if (y.id) y = fe_reshape_to(&inside, y, dims, 3, 0);
    }
    results[1] = fe_unary(&inside, XPU_OP_IDENTITY, a.in.k);
    results[2] = fe_unary(&inside, XPU_OP_IDENTITY, a.in.v);
    results[3] = fe_unary(&inside, XPU_OP_IDENTITY, stages[form->stage]);
    results[0] = fe_finish(b, &inside, y);
    return results[0].id != 0;
}
