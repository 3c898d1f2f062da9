/* Operators that move or name elements. */
#include <inttypes.h>
#include <string.h>

#include "frontend/paddle/converters.h"

static const xpu_value failed = {0};

static fe_builder inside_of(const xpu_paddle_node *node) {
    return fe_inside(&node->build);
}

xpu_value xpu_paddle_convert_reshape(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    fe_dims shape;
    if (!x.id || !xpu_paddle_dims(node, "shape", "Shape", "ShapeTensor", &shape)) return failed;
    return fe_reshape(&node->build, x, shape, 0);
}

/* Dims start to stop become one; of flatten and flatten2, a matrix. */
xpu_value xpu_paddle_convert_flatten(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id) return failed;
    if (node->row->op == XPU_OP_IDENTITY) return fe_flatten(&node->build, x, xpu_paddle_int(node, "axis", 1));
    const xpu_value_info info = *xpu_paddle_info(node, x);
    if (info.rank == 0) {
        xpu_dim one = xpu_dim_const(&node->build.graph->dims, 1);
        return fe_reshape_to(&node->build, x, &one, 1, 1);
    }
    int start = fe_axis(&node->build, xpu_paddle_int(node, "start_axis", 1), info.rank);
    int stop = fe_axis(&node->build, xpu_paddle_int(node, "stop_axis", 1), info.rank), rank = 0;
    if (start < 0 || stop < 0) return failed;
    if (stop < start)
        return xpu_paddle_refuse(node, "the axes are out of order", xpu_paddle_format(node, "%d to %d", start, stop));
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < start; i++) dims[rank++] = info.dims[i];
    dims[rank++] = fe_dim_product(&node->build, info.dims, start, stop + 1);
    for (int i = stop + 1; i < info.rank; i++) dims[rank++] = info.dims[i];
    return fe_reshape_to(&node->build, x, dims, rank, 1);
}

/* Axes whose dims are not 1 stay; without axes, all dims of 1 go. */
xpu_value xpu_paddle_convert_squeeze(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    fe_ints axes;
    if (!x.id || !xpu_paddle_numbers(node, "axes", "AxesTensor", "AxesTensorList", &axes)) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int64_t *kept = XPU_NEW_ARRAY(node->importer->scratch, int64_t, axes.count + XPU_MAX_RANK + 1);
    size_t count = 0, total = axes.count ? axes.count : (size_t)info.rank;
    for (size_t i = 0; i < total; i++) {
        int64_t size = 1;
        int axis = fe_axis(&node->build, axes.count ? axes.items[i] : (int64_t)i, info.rank);
        if (axis < 0) return failed;
        int known = xpu_dim_is_const(&node->build.graph->dims, info.dims[axis], &size);
        if (known ? size == 1 : axes.count > 0) kept[count++] = axis;
    }
    return count ? fe_squeeze(&node->build, x, (fe_ints){kept, count}) : fe_identity(&node->build, x);
}

/* One after the other, each axis one of the result so far. */
xpu_value xpu_paddle_convert_unsqueeze(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    fe_ints axes;
    if (!x.id || !xpu_paddle_numbers(node, "axes", "AxesTensor", "AxesTensorList", &axes)) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    xpu_dim dims[XPU_MAX_RANK + 1];
    int rank = info.rank;
    for (int i = 0; i < rank; i++) dims[i] = info.dims[i];
    for (size_t i = 0; i < axes.count; i++) {
        int axis = fe_axis(&node->build, axes.items[i], rank + 1);
        if (axis < 0) return failed;
        if (rank == XPU_MAX_RANK)
            return xpu_paddle_refuse(node, "the result has too many dims",
                                     xpu_paddle_format(node, "at most %d are supported", XPU_MAX_RANK));
        memmove(dims + axis + 1, dims + axis, (size_t)(rank - axis) * sizeof *dims);
        dims[axis] = xpu_dim_const(&node->build.graph->dims, 1);
        rank++;
    }
    return fe_reshape_to(&node->build, x, dims, rank, 1);
}

xpu_value xpu_paddle_convert_concat(xpu_paddle_node *node) {
    xpu_paddle_values all = xpu_paddle_operands(node, "X");
    double axis = 0;
    if (!all.count || !xpu_paddle_number(node, "axis", "AxisTensor", &axis)) return failed;
    return fe_concat(&node->build, all.items, all.count, xpu_paddle_whole(axis));
}

xpu_value xpu_paddle_convert_stack(xpu_paddle_node *node) {
    xpu_paddle_values all = xpu_paddle_operands(node, "X");
    if (!all.count) return failed;
    int64_t axis = fe_axis(&node->build, xpu_paddle_int(node, "axis", 0), xpu_paddle_rank(node, all.items[0]) + 1);
    if (axis < 0) return failed;
    xpu_value *parts = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, all.count);
    fe_builder inside = inside_of(node);
    for (uint32_t i = 0; i < all.count; i++) parts[i] = fe_unsqueeze(&inside, all.items[i], (fe_ints){&axis, 1});
    node->build.made = inside.made;
    return fe_concat(&node->build, parts, all.count, axis);
}

/* The parts become the results, or of PIR the list that is the first. */
static xpu_value give_parts(xpu_paddle_node *node, const xpu_value *parts, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!parts[i].id) return failed;
        if (i < node->result_count) node->results[i] = parts[i];
    }
    node->list = (xpu_paddle_values){parts, count};
    return count ? parts[0] : failed;
}

enum { MOST_PARTS = 4096 };

static int check_parts(const xpu_paddle_node *node, uint64_t count) {
    if (count >= 1 && count <= MOST_PARTS) return 1;
    xpu_paddle_refuse(node, "the number of parts is invalid", xpu_paddle_format(node, "it is %" PRIu64, count));
    return 0;
}

xpu_value xpu_paddle_convert_split(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    double axis = 0;
    fe_ints sections;
    if (!x.id || !xpu_paddle_number(node, "axis", "AxisTensor", &axis) ||
        !xpu_paddle_numbers(node, "sections", "sections", "SectionsTensorList", &sections))
        return failed;
    uint64_t parts = sections.count ? sections.count : (uint64_t)xpu_paddle_int(node, "num", 0);
    if (!check_parts(node, parts)) return failed;
    fe_splitting form = {.axis = xpu_paddle_whole(axis), .parts = (uint32_t)parts};
    int at = fe_axis(&node->build, form.axis, xpu_paddle_rank(node, x));
    if (at < 0) return failed;
    if (sections.count) {
        xpu_dims *table = &node->build.graph->dims;
        xpu_dim *sizes = XPU_NEW_ARRAY(node->importer->scratch, xpu_dim, parts),
                rest = xpu_paddle_info(node, x)->dims[at];
        for (size_t i = 0; i < parts; i++) {
            sizes[i] = xpu_dim_const(table, sections.items[i] < 0 ? 0 : sections.items[i]);
            rest = xpu_dim_add(table, rest, xpu_dim_mul(table, sizes[i], xpu_dim_const(table, -1)));
        }
        for (size_t i = 0; i < parts; i++) sizes[i] = sections.items[i] < 0 ? rest : sizes[i];
        form.sizes = (fe_dims){sizes, parts};
    }
    xpu_value *results = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, parts);
    return fe_split(&node->build, x, &form, results) ? give_parts(node, results, (uint32_t)parts) : failed;
}

xpu_value xpu_paddle_convert_unstack(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t size = 0;
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int axis = fe_axis(&node->build, xpu_paddle_int(node, "axis", 0), info.rank);
    if (axis < 0) return failed;
    if (!xpu_dim_is_const(&node->build.graph->dims, info.dims[axis], &size))
        return xpu_paddle_refuse(node, "how many results there are is not known",
                                 xpu_paddle_format(node, "the operand is %s", fe_shape_text(&node->build, x)));
    if (!check_parts(node, (uint64_t)size)) return failed;
    xpu_value *results = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, (size_t)size);
    xpu_dim dims[XPU_MAX_RANK], one = xpu_dim_const(&node->build.graph->dims, 1);
    for (int i = 0, k = 0; i < info.rank; i++) {
        if (i != axis) dims[k++] = info.dims[i];
    }
    for (int64_t i = 0; i < size; i++) {
        int named = 0;
        fe_builder own = fe_builder_of(&node->build, (uint32_t)i, &named);
        xpu_value part = fe_part(&own, x, axis, xpu_dim_const(&own.graph->dims, i), one, 1, 0);
        results[i] = part.id ? fe_reshape_to(&own, part, dims, info.rank - 1, named) : failed;
    }
    return give_parts(node, results, (uint32_t)size);
}

/* Dims of `x` that are taken away: a whole one, in programs before 0-D tensors, leaves one. */
static xpu_value decrease(xpu_paddle_node *node, fe_builder *b, xpu_value x, fe_ints axes) {
    const xpu_value_info info = *xpu_paddle_info(node, x);
    uint32_t var = node->result_count ? node->result_vars[0] : XPU_PADDLE_NO_VAR;
    int declared = var == XPU_PADDLE_NO_VAR ? 0 : node->importer->program->vars.items[var].rank, rank = 0;
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = 0; i < info.rank; i++) {
        int gone = 0;
        for (size_t k = 0; k < axes.count; k++) gone |= axes.items[k] == i || axes.items[k] == i - info.rank;
        if (!gone) dims[rank++] = info.dims[i];
    }
    if (!rank && declared == 1) dims[rank++] = xpu_dim_const(&b->graph->dims, 1);
    return fe_reshape_to(b, x, dims, rank, 1);
}

xpu_value xpu_paddle_convert_slice(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "Input");
    fe_ints gone = xpu_paddle_ints(node, "decrease_axis");
    fe_slicing form = {.axes = xpu_paddle_ints(node, "axes")};
    if (!x.id || !xpu_paddle_bounds(node, "starts", "StartsTensor", "StartsTensorList", &form.starts) ||
        !xpu_paddle_bounds(node, "ends", "EndsTensor", "EndsTensorList", &form.ends) ||
        !xpu_paddle_numbers(node, "strides", "StridesTensor", "StridesTensorList", &form.steps))
        return failed;
    if (!form.steps.count) form.steps = (fe_ints){NULL, 0};
    if (!gone.count) return fe_slice(&node->build, x, &form);
    fe_builder inside = inside_of(node);
    xpu_value part = fe_slice(&inside, x, &form);
    node->build.made = inside.made;
    return part.id ? decrease(node, &node->build, part, gone) : failed;
}

/* The shape is of int32 in a ProgramDesc and in pd_op.shape, of int64 in pd_op.shape64. */
xpu_value xpu_paddle_convert_shape(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "Input");
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    if (strcmp(node->op->type, "shape64") == 0) return fe_dim_values(&node->build, info.dims, (uint32_t)info.rank, 1);
    fe_builder inside = inside_of(node);
    xpu_value dims = fe_dim_values(&inside, info.dims, (uint32_t)info.rank, 1);
    node->build.made = inside.made;
    return dims.id ? fe_convert(&node->build, dims, XPU_I32) : failed;
}

xpu_value xpu_paddle_convert_size(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "Input");
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    xpu_dim size = fe_dim_product(&node->build, info.dims, 0, info.rank);
    return size.id ? fe_dim_values(&node->build, &size, 1, 0)
                   : xpu_paddle_refuse(node, "the number of elements is no expression that can be kept",
                                       fe_shape_text(&node->build, x));
}

/* A dim -1 is the operand's own one. */
xpu_value xpu_paddle_convert_expand(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), like = xpu_paddle_operand(node, "Y");
    fe_dims shape;
    if (!x.id || !xpu_paddle_dims(node, "shape", "Shape", "expand_shapes_tensor", &shape)) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    if (like.id) {
        const xpu_value_info other = *xpu_paddle_info(node, like);
        shape = (fe_dims){xpu_copy(node->importer->scratch, other.dims, sizeof other.dims), (size_t)other.rank};
    } else if (!shape.items) {
        shape = fe_dims_of(&node->build, xpu_paddle_ints(node, "target_shape"));
    }
    if (shape.count < (size_t)info.rank || shape.count > XPU_MAX_RANK)
        return xpu_paddle_refuse(node, "the shape does not fit the operand",
                                 xpu_paddle_format(node, "it has %zu dims, the operand %d", shape.count, info.rank));
    xpu_dim dims[XPU_MAX_RANK];
    for (size_t i = 0; i < shape.count; i++) {
        int64_t size = 0;
        int own = (int)i - (int)(shape.count - (size_t)info.rank);
        dims[i] = shape.items[i];
        if (own >= 0 && xpu_dim_is_const(&node->build.graph->dims, dims[i], &size) && size == -1)
            dims[i] = info.dims[own];
    }
    return fe_expand(&node->build, x, (fe_dims){dims, shape.count});
}

/* How often x goes into each dim of another tensor. */
static xpu_value tile_like(xpu_paddle_node *node, xpu_value x, xpu_value other) {
    const xpu_value_info info = *xpu_paddle_info(node, x), target = *xpu_paddle_info(node, other);
    xpu_dims *dims = &node->build.graph->dims;
    xpu_dim times[XPU_MAX_RANK];
    int fits = info.rank == target.rank;
    for (int i = 0; fits && i < info.rank; i++) {
        int64_t has = 0, wants = 0;
        if (xpu_dim_is_const(dims, info.dims[i], &has) && xpu_dim_is_const(dims, target.dims[i], &wants))
            fits = has > 0 && wants % has == 0;
        times[i] = xpu_dim_same(dims, info.dims[i], target.dims[i])
                       ? xpu_dim_const(dims, 1)
                       : xpu_dim_op(dims, XPU_DIM_FLOORDIV, target.dims[i], info.dims[i]);
    }
    if (!fits)
        return xpu_paddle_refuse(node, "the operand does not go into the other one",
                                 xpu_paddle_format(node, "they are %s and %s", fe_shape_text(&node->build, x),
                                                   fe_shape_text(&node->build, other)));
    return fe_tile(&node->build, x, (fe_dims){times, (size_t)info.rank});
}

/* The shorter of the operand's dims and the list is lengthened in front by 1. */
xpu_value xpu_paddle_convert_tile(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), like = xpu_paddle_operand(node, "target_tensor");
    fe_dims times;
    if (x.id && like.id) return tile_like(node, x, like);
    if (!x.id || !xpu_paddle_dims(node, "repeat_times", "RepeatTimes", "repeat_times_tensor", &times)) return failed;
    if (!times.items) times = fe_dims_of(&node->build, xpu_paddle_ints(node, "expand_times"));
    const xpu_value_info info = *xpu_paddle_info(node, x);
    size_t rank = times.count > (size_t)info.rank ? times.count : (size_t)info.rank;
    if (rank > XPU_MAX_RANK)
        return xpu_paddle_refuse(node, "the result has too many dims",
                                 xpu_paddle_format(node, "%zu; at most %d are supported", rank, XPU_MAX_RANK));
    xpu_dim dims[XPU_MAX_RANK], repeats[XPU_MAX_RANK], one = xpu_dim_const(&node->build.graph->dims, 1);
    for (size_t i = 0; i < rank; i++) {
        size_t of_x = rank - (size_t)info.rank, of_times = rank - times.count;
        dims[i] = i < of_x ? one : info.dims[i - of_x];
        repeats[i] = i < of_times ? one : times.items[i - of_times];
    }
    if (rank > (size_t)info.rank) x = fe_reshape_to(&node->build, x, dims, (int)rank, 0);
    return x.id ? fe_tile(&node->build, x, (fe_dims){repeats, rank}) : failed;
}

/* ---- picking ---- */

/* Indices [n,1] are as good as [n]. */
static xpu_value flat_index(xpu_paddle_node *node, xpu_value index) {
    int64_t size = 0;
    if (!index.id) return index;
    const xpu_value_info info = *xpu_paddle_info(node, index);
    if (info.rank != 2 || !xpu_dim_is_const(&node->build.graph->dims, info.dims[1], &size) || size != 1) return index;
    return fe_reshape_to(&node->build, index, info.dims, 1, 0);
}

xpu_value xpu_paddle_convert_gather(xpu_paddle_node *node) {
    double axis = 0;
    xpu_value x = xpu_paddle_operand(node, "X"), index = flat_index(node, xpu_paddle_operand(node, "Index"));
    if (!x.id || !index.id || !xpu_paddle_number(node, "axis", "Axis", &axis)) return failed;
    return fe_gather(&node->build, x, index, xpu_paddle_whole(axis));
}

xpu_value xpu_paddle_convert_index_select(xpu_paddle_node *node) {
    return fe_gather(&node->build, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Index"),
                     xpu_paddle_int(node, "dim", 0));
}

xpu_value xpu_paddle_convert_gather_nd(xpu_paddle_node *node) {
    return fe_gather_nd(&node->build, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Index"), 0);
}

xpu_value xpu_paddle_convert_take(xpu_paddle_node *node) {
    return fe_gather_elements(&node->build, xpu_paddle_operand(node, "Input"), xpu_paddle_operand(node, "Index"),
                              xpu_paddle_int(node, "Axis", 0));
}

/* Of each row, the elements that a row of indices says. */
xpu_value xpu_paddle_convert_index_sample(xpu_paddle_node *node) {
    return fe_gather_elements(&node->build, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Index"), 1);
}

/* Rows of a table; that of padding_idx is 0. lookup_table has indices [...,1]. */
xpu_value xpu_paddle_convert_embedding(xpu_paddle_node *node) {
    xpu_value table = xpu_paddle_operand(node, "W"), ids = xpu_paddle_operand(node, "Ids");
    int64_t padding = xpu_paddle_int(node, "padding_idx", -1);
    if (!table.id || !ids.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, ids);
    if (node->row->op == XPU_OP_IDENTITY && info.rank > 1)
        ids = fe_reshape_to(&node->build, ids, info.dims, info.rank - 1, 0);
    if (padding == -1) return fe_gather(&node->build, table, ids, 0);
    fe_builder inside = inside_of(node);
    int64_t end = -1;
    xpu_value rows = fe_gather(&inside, table, ids, 0);
    xpu_value is_padding = fe_binary(&inside, XPU_OP_EQUAL, ids, xpu_paddle_single(node, info.dtype, (double)padding));
    if (rows.id && is_padding.id) is_padding = fe_unsqueeze(&inside, is_padding, (fe_ints){&end, 1});
    node->build.made = inside.made;
    if (!rows.id || !is_padding.id) return failed;
    xpu_value zero = xpu_paddle_single(node, xpu_paddle_info(node, table)->dtype, 0);
    return fe_elementwise(&node->build, XPU_OP_WHERE, (xpu_value[]){is_padding, zero, rows}, 3, NULL, 0);
}

xpu_value xpu_paddle_convert_scatter_nd_add(xpu_paddle_node *node) {
    const fe_scattering form = {.x = xpu_paddle_operand(node, "X"),
                                .indices = xpu_paddle_operand(node, "Index"),
                                .updates = xpu_paddle_operand(node, "Updates"),
                                .kind = XA_PLACE_SUM};
    return fe_scatter_nd(&node->build, &form);
}

xpu_value xpu_paddle_convert_one_hot(xpu_paddle_node *node) {
    static const float values[] = {0, 1};
    double depth = 0;
    xpu_value x = xpu_paddle_operand(node, "X");
    if (!x.id || !xpu_paddle_number(node, "depth", "depth_tensor", &depth)) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    if (node->row->op == XPU_OP_IDENTITY && info.rank > 1)
        x = fe_reshape_to(&node->build, x, info.dims, info.rank - 1, 0);
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_F32);
    if (dtype == XPU_DTYPE_NONE) return failed;
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {2}, .data = (void *)(uintptr_t)values};
    xpu_value both = xpu_graph_const_bytes(node->importer->graph, NULL, &tensor);
    xpu_dim classes = xpu_dim_const(&node->build.graph->dims, xpu_paddle_whole(depth));
    if (dtype == XPU_F32) return fe_one_hot(&node->build, x, classes, both, -1);
    fe_builder inside = inside_of(node);
    x = fe_one_hot(&inside, x, classes, both, -1);
    node->build.made = inside.made;
    return x.id ? fe_convert(&node->build, x, dtype) : failed;
}

/* The places that are not 0, a row for each. */
xpu_value xpu_paddle_convert_nonzero(xpu_paddle_node *node) {
    fe_builder inside = inside_of(node);
    xpu_value places = fe_nonzero(&inside, xpu_paddle_operand(node, "Condition"));
    node->build.made = inside.made;
    return places.id ? fe_transpose(&node->build, places, (fe_ints){NULL, 0}) : failed;
}

/* How many, from the attribute or an operand of one element, which may be an expression or what the run finds. */
static int read_k(xpu_paddle_node *node, xpu_dim *k) {
    const xpu_value given = xpu_paddle_operand(node, "K");
    const xpu_value_info *info = given.id ? xpu_paddle_info(node, given) : NULL;
    fe_dims list;
    if (info && info->constant && info->dtype == XPU_F32) {
        double number = 1;
        if (!xpu_paddle_number(node, "k", "K", &number)) return 0;
        *k = xpu_dim_const(&node->build.graph->dims, xpu_paddle_whole(number));
        return 1;
    }
    if (!xpu_paddle_dims(node, "k", "K", NULL, &list)) return 0;
    *k = list.items ? list.items[0] : xpu_dim_const(&node->build.graph->dims, 1);
    if (!list.items || list.count == 1) return 1;
    xpu_paddle_refuse(node, "operand 'K' is invalid",
                      xpu_paddle_format(node, "it has %zu elements, not one", list.count));
    return 0;
}

xpu_value xpu_paddle_convert_top(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), results[2];
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int axis = fe_axis(&node->build, xpu_paddle_int(node, "axis", -1), info.rank), sorts = node->row->op == XPU_OP_SUB;
    if (axis < 0) return failed;
    int largest = sorts ? xpu_paddle_int(node, "descending", 0) != 0 : xpu_paddle_int(node, "largest", 1) != 0;
    fe_ordering form = {.axis = axis, .k = info.dims[axis], .largest = largest};
    if (!sorts && !read_k(node, &form.k)) return failed;
    if (!fe_top(&node->build, x, &form, results)) return failed;
    if (node->result_count > 1) node->results[1] = results[1];
    return results[0];
}

/* ---- order ---- */

xpu_value xpu_paddle_convert_flip(xpu_paddle_node *node) {
    enum { FAR = 1 << 30 };
    xpu_value x = xpu_paddle_operand(node, "X");
    fe_ints axes;
    if (!x.id || !xpu_paddle_numbers(node, "axis", "axis", NULL, &axes)) return failed;
    int64_t *numbers = XPU_NEW_ARRAY(node->importer->scratch, int64_t, 3 * axes.count + 1);
    for (size_t i = 0; i < axes.count; i++) {
        numbers[i] = FAR;
        numbers[axes.count + i] = -FAR;
        numbers[2 * axes.count + i] = -1;
    }
    fe_slicing form = {.axes = axes, .steps = {numbers + 2 * axes.count, axes.count}};
    form.starts = fe_dims_of(&node->build, (fe_ints){numbers, axes.count});
    form.ends = fe_dims_of(&node->build, (fe_ints){numbers + axes.count, axes.count});
    return fe_slice(&node->build, x, &form);
}

/* Along one axis after the other, what leaves the end comes in at the front; without axes, of all elements in order. */
xpu_value xpu_paddle_convert_roll(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    fe_ints shifts, axes = xpu_paddle_ints(node, "axis");
    if (!x.id || !xpu_paddle_numbers(node, "shifts", "ShiftsTensor", NULL, &shifts)) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int whole = axes.count == 0;
    if (shifts.count != (whole ? 1 : axes.count))
        return xpu_paddle_refuse(node, "the shifts do not fit the axes",
                                 xpu_paddle_format(node, "%zu and %zu", shifts.count, axes.count));
    fe_builder inside = inside_of(node);
    if (whole) x = fe_flatten(&inside, x, 0);
    for (size_t i = 0; x.id && i < shifts.count; i++) {
        int64_t size = 0;
        int axis = whole ? 1 : fe_axis(&inside, axes.items[i], info.rank);
        if (axis < 0) return failed;
        if (!xpu_dim_is_const(&inside.graph->dims, xpu_paddle_info(node, x)->dims[axis], &size) || size < 1)
            return xpu_paddle_refuse(node, "the dim that is rolled is not known", fe_shape_text(&inside, x));
        int64_t shift = (shifts.items[i] % size + size) % size;
        if (!shift) continue;
        xpu_dims *dims = &inside.graph->dims;
        xpu_value parts[] = {
            fe_part(&inside, x, axis, xpu_dim_const(dims, size - shift), xpu_dim_const(dims, shift), 1, 0),
            fe_part(&inside, x, axis, xpu_dim_const(dims, 0), xpu_dim_const(dims, size - shift), 1, 0)};
        x = fe_concat(&inside, parts, 2, axis);
    }
    node->build.made = inside.made;
    if (!x.id) return failed;
    return whole ? fe_reshape_to(&node->build, x, info.dims, info.rank, 1) : fe_identity(&node->build, x);
}

xpu_value xpu_paddle_convert_triangle(xpu_paddle_node *node) {
    int64_t diagonal = xpu_paddle_int(node, "diagonal", 0);
    int lower = strcmp(node->op->type, "tril") == 0 ||
                (strcmp(node->op->type, "triu") != 0 && xpu_paddle_int(node, "lower", 1));
    xpu_value at = diagonal ? xpu_paddle_single(node, XPU_I64, (double)diagonal) : failed;
    return fe_triangle(&node->build, xpu_paddle_operand(node, "X"), at, !lower);
}

xpu_value xpu_paddle_convert_meshgrid(xpu_paddle_node *node) {
    xpu_paddle_values all = xpu_paddle_operands(node, "X");
    if (all.count < 1 || all.count > XPU_MAX_RANK)
        return xpu_paddle_refuse(node, "the number of operands is not supported",
                                 xpu_paddle_format(node, "it is %u", all.count));
    xpu_dim shape[XPU_MAX_RANK], one = xpu_dim_const(&node->build.graph->dims, 1);
    for (uint32_t i = 0; i < all.count; i++) {
        const xpu_value_info *info = xpu_paddle_info(node, all.items[i]);
        shape[i] = info->rank ? info->dims[0] : one;
    }
    xpu_value *parts = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, all.count);
    for (uint32_t i = 0; i < all.count; i++) {
        int named = 0;
        fe_builder own = fe_builder_of(&node->build, i, &named);
        xpu_dim dims[XPU_MAX_RANK];
        for (uint32_t k = 0; k < all.count; k++) dims[k] = k == i ? shape[k] : one;
        xpu_value line = fe_reshape_to(&own, all.items[i], dims, (int)all.count, 0);
        parts[i] = line.id ? fe_expand(&own, line, (fe_dims){shape, all.count}) : failed;
    }
    return give_parts(node, parts, all.count);
}

/* Whole numbers to an end that shapes decide. */
static xpu_value range_by_shape(xpu_paddle_node *node, xpu_dtype dtype, double start, double step) {
    xpu_dims *table = &node->build.graph->dims;
    const int64_t first = (int64_t)start, by = (int64_t)step;
    fe_dims end;
    if (!xpu_paddle_dims(node, NULL, "End", NULL, &end)) return failed;
    if ((dtype != XPU_I32 && dtype != XPU_I64) || end.count != 1 || by < 1 || by > FE_MAX_STEP || (double)by != step)
        return xpu_paddle_refuse(node, "operand 'End' is computed",
                                 "start and step are whole numbers, and the step is positive");
    xpu_dim span =
        xpu_dim_op(table, XPU_DIM_MAX, xpu_dim_add_const(table, end.items[0], -first), xpu_dim_const(table, 0));
    return fe_range(&node->build, xpu_paddle_single(node, dtype, start), xpu_paddle_single(node, dtype, step),
                    xpu_dim_floordiv_const(table, xpu_dim_add_const(table, span, by - 1), by));
}

/* From start to below end, all constants unless shapes decide the end. */
xpu_value xpu_paddle_convert_range(xpu_paddle_node *node) {
    double start = 0, stop = 0, step = 1;
    xpu_value first = xpu_paddle_operand(node, "Start"), last = xpu_paddle_operand(node, "End");
    if (last.id && !xpu_paddle_info(node, last)->constant) {
        const xpu_dtype own = xpu_paddle_type(node, "dtype", xpu_paddle_info(node, last)->dtype);
        if (!xpu_paddle_number(node, "start", "Start", &start) || !xpu_paddle_number(node, "step", "Step", &step) ||
            own == XPU_DTYPE_NONE)
            return failed;
        return range_by_shape(node, own, start, step);
    }
    if (!xpu_paddle_number(node, "start", "Start", &start) || !xpu_paddle_number(node, "end", "End", &stop) ||
        !xpu_paddle_number(node, "step", "Step", &step))
        return failed;
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", first.id ? xpu_paddle_info(node, first)->dtype : XPU_I64);
    double count = step != 0 ? (stop - start) / step : -1;
    if (dtype == XPU_DTYPE_NONE) return failed;
    if (!(count < 0x1p30)) return xpu_paddle_refuse(node, "the range is too long", "more than 2^30 numbers");
    int64_t whole = count > 0 ? (int64_t)count + (count > (double)(int64_t)count) : 0;
    return fe_range(&node->build, xpu_paddle_single(node, dtype, start), xpu_paddle_single(node, dtype, step),
                    xpu_dim_const(&node->build.graph->dims, whole));
}

/* ---- lists of PIR ---- */

xpu_value xpu_paddle_convert_combine(xpu_paddle_node *node) {
    XPU_ARRAY(xpu_value) items = {0};
    for (uint32_t i = 0; i < node->op->input_count; i++) {
        uint32_t var = node->op->inputs[i].vars[0];
        if (var == XPU_PADDLE_NO_VAR) continue;
        XPU_PUSH(node->importer->scratch, &items, node->importer->bindings[var].value);
    }
    node->list = (xpu_paddle_values){items.items, items.count};
    return items.count ? items.items[0] : failed;
}

/* builtin.split: all of a list; builtin.slice: one of it. */
xpu_value xpu_paddle_convert_take_apart(xpu_paddle_node *node) {
    xpu_paddle_values all = xpu_paddle_operands(node, "X");
    int64_t index = xpu_paddle_int(node, "index", 0);
    if (strcmp(node->op->type, "split") == 0) return give_parts(node, all.items, all.count);
    if (index >= 0 && index < (int64_t)all.count) return all.items[index];
    return xpu_paddle_refuse(node, "the list has no such part",
                             xpu_paddle_format(node, "part %" PRId64 " of %u", index, all.count));
}
