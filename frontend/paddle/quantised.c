/* Levels, products of levels, and what follows them. */
#include "frontend/paddle/quantised.h"

#include <math.h>

#include "core/passes/rewrite.h"

static const xpu_value none = {0};

/* ---- levels ---- */

static const float *constant_floats(const xpu_graph *graph, xpu_value value, xpu_arena *arena, xpu_diags *diags,
                                    int64_t *count) {
    xpu_tensor tensor;
    const xpu_value_info *info = value.id ? xpu_value_at(graph, value) : NULL;
    if (!info || info->kind != XPU_VALUE_CONST || info->dtype != XPU_F32) return NULL;
    if (xpu_const_tensor(graph, value, arena, &tensor, diags) != XPU_OK) return NULL;
    *count = xpu_tensor_count(&tensor);
    return tensor.data;
}

/* The node that makes the value, where it is this operator; else {0}. */
static xpu_node made_by(const xpu_graph *graph, xpu_value value, xpu_op_id op) {
    if (!value.id || xpu_value_at(graph, value)->kind != XPU_VALUE_NODE) return (xpu_node){0};
    xpu_node node = xpu_value_at(graph, value)->node;
    return xpu_node_is(graph, node, op) ? node : (xpu_node){0};
}

/* The step of a QUANTIZE or DEQUANTIZE with one; 0 where there are several, or it is computed. */
static float one_step(const xpu_graph *graph, xpu_node node, xpu_arena *arena, xpu_diags *diags) {
    int64_t count = 0;
    const float *steps = constant_floats(graph, xpu_node_input(graph, node, 1), arena, diags, &count);
    return steps && count == 1 && !xpu_node_input(graph, node, 2).id ? steps[0] : 0;
}

static int are_levels(const float *items, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (!(items[i] >= INT8_MIN && items[i] <= INT8_MAX && rintf(items[i]) == items[i])) return 0;
    }
    return 1;
}

/* The elements are read to be looked at alone: they stay where they are. */
static xpu_value constant_levels(fe_builder *b, xpu_value value) {
    xpu_arena *arena = xpu_arena_new(xpu_arena_mem(b->scratch), "levels");
    int64_t count = 0;
    const float *items = constant_floats(b->graph, value, arena, b->diags, &count);
    int whole = items && are_levels(items, count);
    xpu_arena_free(arena);
    return whole ? fe_derive(b, value, &(xpu_const_step){.kind = XPU_STEP_CAST, .dtype = XPU_I8}) : none;
}

/* A constant that is reshaped. */
static xpu_value reshaped_levels(fe_builder *b, xpu_node reshape, xpu_value result) {
    xpu_value from = xpu_node_input(b->graph, reshape, 0);
    if (fe_info(b, from)->kind != XPU_VALUE_CONST || fe_info(b, from)->dtype != XPU_F32) return none;
    const xpu_value_info info = *fe_info(b, result);
    xpu_const_step step = {.kind = XPU_STEP_RESHAPE, .rank = info.rank};
    for (int i = 0; i < info.rank; i++) {
        if (!xpu_dim_is_const(&b->graph->dims, info.dims[i], &step.dims[i])) return none;
    }
    xpu_value integers = constant_levels(b, from);
    return integers.id ? fe_derive(b, integers, &step) : none;
}

xpu_value xpu_paddle_levels(fe_builder *b, xpu_value value) {
    const xpu_value_info *info = fe_info(b, value);
    if (info->dtype == XPU_I8) return value;
    if (info->kind == XPU_VALUE_CONST) return info->dtype == XPU_F32 ? constant_levels(b, value) : none;
    xpu_node reshape = made_by(b->graph, value, XPU_OP_RESHAPE);
    if (reshape.id) return reshaped_levels(b, reshape, value);
    xpu_node maker = made_by(b->graph, value, XPU_OP_DEQUANTIZE);
    if (!maker.id || one_step(b->graph, maker, b->scratch, b->diags) != 1) return none;
    return xpu_node_input(b->graph, maker, 0);
}

static xpu_value vector_of(const xpu_graph *graph, const float *items, int64_t count) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)items};
    return xpu_graph_const_bytes((xpu_graph *)(uintptr_t)graph, NULL, &tensor);
}

xpu_value xpu_paddle_dequantize(fe_builder *b, xpu_value integers, const xpu_paddle_steps *steps) {
    fe_scales scales = {.axis = steps->count == 1 ? 0 : steps->axis};
    scales.scale = steps->count == 1 ? fe_number(b, steps->items[0]) : vector_of(b->graph, steps->items, steps->count);
    return fe_dequantize(b, integers, &scales);
}

/* ---- products of levels ---- */

enum { MAX_VIEWS = 8, MAX_OPERANDS = 8 };

static int is_view(const xpu_graph *graph, xpu_node node) {
    return xpu_node_has(graph, node, XPU_TRAIT_VIEW) && xpu_node_at(graph, node)->input_count == 1;
}

/* The same operator on these operands, with the origins of both. */
static xpu_value again(fe_builder *b, xpu_node node, const xpu_value *operands, uint32_t count) {
    xpu_node_info info = *xpu_node_at(b->graph, node);
    xpu_value value = fe_node(b, xpu_op_id_of(info.op), operands, count, info.attrs.items, info.attrs.count, 1);
    if (!value.id) return none;
    xpu_node made = xpu_value_at(b->graph, value)->node;
    xpu_node_info *own = xpu_node_at(b->graph, made);
    own->origins.items = NULL;
    own->origins.count = own->origins.capacity = 0;
    xpu_node_add_origins(b->graph, made, node);
    xpu_node_add_origin(b->graph, made, b->origin);
    return value;
}

/* Levels of an activation, maybe behind views, times their own step, which *step gets. */
static xpu_value rescaled_operand(fe_builder *b, xpu_value value, float *step, int views) {
    if (fe_info(b, value)->kind != XPU_VALUE_NODE) return none;
    xpu_node maker = fe_info(b, value)->node;
    if (is_view(b->graph, maker) && views < MAX_VIEWS) {
        xpu_value inner = rescaled_operand(b, xpu_node_input(b->graph, maker, 0), step, views + 1);
        return inner.id ? again(b, maker, &inner, 1) : none;
    }
    xpu_value integers = xpu_paddle_levels(b, value);
    if (!integers.id) return none;
    xpu_node quantise = made_by(b->graph, integers, XPU_OP_QUANTIZE);
    float own = quantise.id ? one_step(b->graph, quantise, b->scratch, b->diags) : 0;
    *step = own > 0 ? own : 1;
    return xpu_paddle_dequantize(b, integers, &(xpu_paddle_steps){step, 1, 0});
}

static xpu_value rescale(fe_builder *b, xpu_node product, const xpu_paddle_steps *steps) {
    xpu_value x = xpu_node_input(b->graph, product, XPU_IN_X), w = xpu_node_input(b->graph, product, XPU_IN_W);
    int is_conv = xpu_node_is(b->graph, product, XPU_OP_CONV);
    int rank = fe_info(b, xpu_node_output(b->graph, product, 0))->rank;
    if (xpu_node_at(b->graph, product)->input_count > 2) return none;
    if (steps->count > 1 && steps->axis != (is_conv ? 1 : rank - 1)) return none;
    fe_builder inside = fe_inside(b);
    xpu_value integers = xpu_paddle_levels(&inside, w);
    float step = 1;
    if (!integers.id || fe_info(b, integers)->kind != XPU_VALUE_CONST) return none;
    x = rescaled_operand(&inside, x, &step, 0);
    if (!x.id) return none;
    float *own = XPU_NEW_ARRAY(b->scratch, float, steps->count + 1);
    for (int64_t i = 0; i < steps->count; i++) own[i] = steps->items[i] / step;
    int axis = is_conv ? 0 : fe_info(b, integers)->rank - 1;
    w = xpu_paddle_dequantize(&inside, integers, &(xpu_paddle_steps){own, steps->count, axis});
    b->made = inside.made;
    return w.id ? again(b, product, (xpu_value[]){x, w}, 2) : none;
}

static xpu_value rescale_behind(fe_builder *b, xpu_value value, const xpu_paddle_steps *steps, int views) {
    if (fe_info(b, value)->kind != XPU_VALUE_NODE) return none;
    xpu_node maker = fe_info(b, value)->node;
    if (xpu_node_is(b->graph, maker, XPU_OP_CONV) || xpu_node_is(b->graph, maker, XPU_OP_MATMUL))
        return rescale(b, maker, steps);
    if (!xpu_node_is(b->graph, maker, XPU_OP_RESHAPE) || views == MAX_VIEWS) return none;
    xpu_value from = xpu_node_input(b->graph, maker, 0);
    xpu_paddle_steps inner = *steps;
    const xpu_value_info *before = fe_info(b, from), *after = fe_info(b, value);
    if (steps->count > 1 && (before->rank < 1 || after->rank < 1 || steps->axis != after->rank - 1 ||
                             !xpu_dim_equal(before->dims[before->rank - 1], after->dims[after->rank - 1])))
        return none;
    inner.axis = before->rank - 1;
    fe_builder inside = fe_inside(b);
    xpu_value product = rescale_behind(&inside, from, &inner, views + 1);
    b->made = inside.made;
    return product.id ? again(b, maker, &product, 1) : none;
}

xpu_value xpu_paddle_rescale_product(fe_builder *b, xpu_value value, const xpu_paddle_steps *steps) {
    return rescale_behind(b, value, steps, 0);
}

/* ---- what follows a product ---- */

typedef struct {
    xpu_graph *graph;
    xpu_arena *arena;
    xpu_diags *diags;
    xpu_node product;
    xpu_node steps[MAX_VIEWS]; /* between it and what is quantised, the last one first */
    uint32_t step_count;
    int channel_axis; /* of the product's result */
    int64_t channels;
    float x_step;
    const float *w_steps;
    int64_t w_count;
    double *factors, *addends; /* of the channels */
} fold;

/* A float for each channel, or one; NULL: it is not such a constant. */
static const float *channel_floats(const fold *f, xpu_value value, int64_t *count) {
    xpu_node reshape = made_by(f->graph, value, XPU_OP_RESHAPE);
    const xpu_value_info *info = xpu_value_at(f->graph, value);
    int rank = xpu_value_at(f->graph, xpu_node_output(f->graph, f->product, 0))->rank;
    for (int i = 0; i < info->rank; i++) {
        int64_t size = 0;
        if (!xpu_dim_is_const(&f->graph->dims, info->dims[i], &size)) return NULL;
        if (size != 1 && (i + rank - info->rank != f->channel_axis || size != f->channels)) return NULL;
    }
    if (info->rank > rank) return NULL;
    const float *items =
        constant_floats(f->graph, reshape.id ? xpu_node_input(f->graph, reshape, 0) : value, f->arena, f->diags, count);
    return items && (*count == 1 || *count == f->channels) ? items : NULL;
}

static int fold_constant(const fold *f, xpu_value value, int is_sum) {
    int64_t count = 0;
    const float *items = channel_floats(f, value, &count);
    if (!items) return 0;
    for (int64_t c = 0; c < f->channels; c++) {
        double item = (double)items[count == 1 ? 0 : c];
        if (is_sum) {
            f->addends[c] += item;
            continue;
        }
        f->factors[c] *= item;
        f->addends[c] *= item;
    }
    return 1;
}

static int fold_batch_norm(const fold *f, xpu_node node) {
    enum { SCALE = 1, BIAS, MEAN, VARIANCE, OPERANDS };
    const float *items[OPERANDS] = {NULL};
    for (uint32_t i = SCALE; i < OPERANDS; i++) {
        int64_t count = 0;
        items[i] = constant_floats(f->graph, xpu_node_input(f->graph, node, i), f->arena, f->diags, &count);
        if (!items[i] || count != f->channels) return 0;
    }
    double epsilon = (double)xpu_node_float(f->graph, node, XPU_ATTR_EPSILON);
    for (int64_t c = 0; c < f->channels; c++) {
        double k = (double)items[SCALE][c] / sqrt((double)items[VARIANCE][c] + epsilon);
        f->factors[c] *= k;
        f->addends[c] = (f->addends[c] - (double)items[MEAN][c]) * k + (double)items[BIAS][c];
    }
    return 1;
}

static int changes_nothing(const xpu_graph *graph, xpu_node node) {
    if (xpu_node_is(graph, node, XPU_OP_IDENTITY)) return 1;
    return xpu_node_is(graph, node, XPU_OP_RESHAPE) &&
           xpu_value_same_shape(graph, xpu_node_input(graph, node, 0), xpu_node_output(graph, node, 0));
}

/* Which operand of the sum or product comes from the quantised product: what stands further back in its order. */
static int fold_step(const fold *f, xpu_node node, xpu_value from) {
    if (changes_nothing(f->graph, node)) return 1;
    if (xpu_node_is(f->graph, node, XPU_OP_BATCH_NORM)) return fold_batch_norm(f, node);
    int other = xpu_node_input(f->graph, node, 0).id == from.id;
    return fold_constant(f, xpu_node_input(f->graph, node, (uint32_t)other), xpu_node_is(f->graph, node, XPU_OP_ADD));
}

/* The operand of a step that is computed. */
static xpu_value computed_operand(const fold *f, xpu_node node) {
    const xpu_graph *graph = f->graph;
    xpu_value x = xpu_node_input(graph, node, 0);
    if (changes_nothing(graph, node) || xpu_node_is(graph, node, XPU_OP_BATCH_NORM)) return x;
    if (!xpu_node_is(graph, node, XPU_OP_ADD) && !xpu_node_is(graph, node, XPU_OP_MUL)) return none;
    xpu_node view = made_by(graph, x, XPU_OP_RESHAPE);
    xpu_value behind = view.id ? xpu_node_input(graph, view, 0) : x;
    return xpu_value_at(graph, behind)->kind == XPU_VALUE_CONST ? xpu_node_input(graph, node, 1) : x;
}

/* The product that `value` is made of, and what stands between; 0: there is none that may be changed. */
static int find_product(fold *f, xpu_value value) {
    while (xpu_value_at(f->graph, value)->kind == XPU_VALUE_NODE) {
        xpu_node node = xpu_value_at(f->graph, value)->node;
        if (!xpu_used_once(f->graph, node)) return 0;
        if (xpu_node_is(f->graph, node, XPU_OP_CONV) || xpu_node_is(f->graph, node, XPU_OP_MATMUL)) {
            f->product = node;
            return 1;
        }
        value = computed_operand(f, node);
        if (!value.id || f->step_count == MAX_VIEWS) return 0;
        f->steps[f->step_count++] = node;
    }
    return 0;
}

/* Views between a DEQUANTIZE and the product are moved later. */
static xpu_node dequantise_of(const fold *f, xpu_value value) {
    for (int views = 0; views < MAX_VIEWS && xpu_value_at(f->graph, value)->kind == XPU_VALUE_NODE; views++) {
        xpu_node maker = xpu_value_at(f->graph, value)->node;
        if (xpu_node_is(f->graph, maker, XPU_OP_DEQUANTIZE)) return maker;
        if (!is_view(f->graph, maker) && !xpu_node_is(f->graph, maker, XPU_OP_MAX_POOL)) break;
        value = xpu_node_input(f->graph, maker, 0);
    }
    return (xpu_node){0};
}

/* The steps of the product's operands, which are 8-bit integers; its bias, in float32, is the first addend. */
static int read_product(fold *f) {
    const xpu_graph *graph = f->graph;
    int is_conv = xpu_node_is(graph, f->product, XPU_OP_CONV);
    xpu_value w = xpu_node_input(graph, f->product, XPU_IN_W), bias = xpu_node_input(graph, f->product, XPU_IN_BIAS);
    xpu_node x_maker = dequantise_of(f, xpu_node_input(graph, f->product, XPU_IN_X));
    xpu_node w_maker = made_by(graph, w, XPU_OP_DEQUANTIZE);
    if (!x_maker.id || !w_maker.id || xpu_node_input(graph, w_maker, 2).id ||
        xpu_node_input(graph, f->product, XPU_IN_BRANCH).id)
        return 0;
    const xpu_value_info *info = xpu_value_at(graph, w);
    int axis = is_conv ? 0 : info->rank - 1;
    f->channel_axis = is_conv ? 1 : xpu_value_at(graph, xpu_node_output(graph, f->product, 0))->rank - 1;
    if (axis < 0 || !xpu_dim_is_const(&graph->dims, info->dims[axis], &f->channels) || f->channels < 1) return 0;
    f->x_step = one_step(graph, x_maker, f->arena, f->diags);
    f->w_steps = constant_floats(graph, xpu_node_input(graph, w_maker, 1), f->arena, f->diags, &f->w_count);
    if (!(f->x_step > 0) || !f->w_steps) return 0;
    if (f->w_count != 1 && (f->w_count != f->channels || xpu_node_int(graph, w_maker, XPU_ATTR_AXIS) != axis)) return 0;
    f->factors = XPU_NEW_ARRAY(f->arena, double, f->channels);
    f->addends = XPU_NEW_ARRAY(f->arena, double, f->channels);
    for (int64_t c = 0; c < f->channels; c++) f->factors[c] = 1;
    if (!bias.id) return 1;
    int64_t count = 0;
    const float *items = constant_floats(graph, bias, f->arena, f->diags, &count);
    for (int64_t c = 0; items && count == f->channels && c < count; c++) f->addends[c] = (double)items[c];
    return items && count == f->channels;
}

/* Steps of the weights and the integers of the bias; 0: some are out of range. */
static int scale_channels(const fold *f, float *steps, int32_t *bias) {
    const double most = 0x1p30;
    for (int64_t c = 0; c < f->channels; c++) {
        steps[c] = (float)((double)f->w_steps[f->w_count == 1 ? 0 : c] * f->factors[c]);
        double integer = rint(f->addends[c] / ((double)f->x_step * (double)steps[c]));
        if (steps[c] == 0 || !(fabs(integer) <= most) || !isfinite(steps[c] * 512.0f)) return 0;
        bias[c] = (int32_t)integer;
    }
    return 1;
}

static xpu_value dequantise_before(const fold *f, xpu_value integers, const float *steps, int axis) {
    xpu_value operands[] = {integers, vector_of(f->graph, steps, f->channels)};
    return xpu_build_part(f->graph, f->product, XPU_OP_DEQUANTIZE, operands, 2, &XPU_ATTR_INT_OF(AXIS, axis), 1,
                          f->diags);
}

/* The product gets the new weights and bias, and the name and place of the last step. */
static int put_product(const fold *f, xpu_value result, const float *steps, const int32_t *bias) {
    xpu_graph *graph = f->graph;
    float *sums = XPU_NEW_ARRAY(f->arena, float, f->channels);
    for (int64_t c = 0; c < f->channels; c++) sums[c] = f->x_step * steps[c];
    xpu_tensor tensor = {.dtype = XPU_I32, .rank = 1, .dims = {f->channels}, .data = (void *)(uintptr_t)bias};
    xpu_node w_maker = made_by(graph, xpu_node_input(graph, f->product, XPU_IN_W), XPU_OP_DEQUANTIZE);
    int axis = xpu_node_is(graph, f->product, XPU_OP_CONV)
                   ? 0
                   : xpu_value_at(graph, xpu_node_input(graph, f->product, XPU_IN_W))->rank - 1;
    xpu_value w = dequantise_before(f, xpu_node_input(graph, w_maker, 0), steps, axis);
    xpu_value b = dequantise_before(f, xpu_graph_const_bytes(graph, NULL, &tensor), sums, 0);
    if (!w.id || !b.id) return 0;
    xpu_node_info info = *xpu_node_at(graph, f->product);
    xpu_value operands[] = {xpu_node_input(graph, f->product, XPU_IN_X), w, b};
    xpu_value made = xpu_build_part(graph, f->product, xpu_op_id_of(info.op), operands, 3, info.attrs.items,
                                    info.attrs.count, f->diags);
    if (!made.id) return 0;
    xpu_node node = xpu_value_at(graph, made)->node;
    for (uint32_t i = f->step_count; i-- > 0;) xpu_node_add_origins(graph, node, f->steps[i]);
    xpu_value_replace(graph, result, made);
    return 1;
}

static int fold_behind(fold *f, xpu_value result) {
    xpu_value from = result;
    if (!find_product(f, result) || !read_product(f)) return 0;
    if (!f->step_count && !xpu_node_input(f->graph, f->product, XPU_IN_BIAS).id) return 0;
    from = xpu_node_output(f->graph, f->product, 0);
    for (uint32_t i = f->step_count; i-- > 0;) {
        if (!fold_step(f, f->steps[i], from)) return 0;
        from = xpu_node_output(f->graph, f->steps[i], 0);
    }
    float *steps = XPU_NEW_ARRAY(f->arena, float, f->channels);
    int32_t *bias = XPU_NEW_ARRAY(f->arena, int32_t, f->channels);
    return scale_channels(f, steps, bias) && put_product(f, result, steps, bias);
}

/* What a QUANTIZE takes: the operand of an activation, if there is one. */
static xpu_value behind_activation(const xpu_graph *graph, xpu_node quantise) {
    xpu_value value = xpu_node_input(graph, quantise, 0);
    if (xpu_value_at(graph, value)->kind != XPU_VALUE_NODE) return value;
    xpu_node node = xpu_value_at(graph, value)->node;
    int clamps = xpu_node_is(graph, node, XPU_OP_RELU) || xpu_node_is(graph, node, XPU_OP_CLIP);
    return clamps && xpu_used_once(graph, node) ? xpu_node_input(graph, node, 0) : value;
}

xpu_status xpu_paddle_fold_quantised(xpu_graph *graph, xpu_diags *diags) {
    size_t errors = diags->errors;
    for (uint32_t i = 1, count = graph->nodes.count; i < count && diags->errors == errors; i++) {
        xpu_node node = {i};
        if (xpu_node_at(graph, node)->dead || !xpu_node_is(graph, node, XPU_OP_QUANTIZE)) continue;
        fold f = {.graph = graph, .arena = xpu_arena_new(xpu_arena_mem(graph->arena), "fold"), .diags = diags};
        fold_behind(&f, behind_activation(graph, node));
        xpu_arena_free(f.arena);
    }
    return diags->errors == errors ? XPU_OK : xpu_diags_status(diags);
}
