/* Operators that are told places by tensors, constants that they make, and sums over few operands. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "frontend/paddle/converters.h"

static const xpu_value failed = {0};

enum { MOST_CONSTANT = 1 << 24 };

static xpu_dim fixed(const xpu_paddle_node *node, int64_t size) {
    return xpu_dim_const(&node->build.graph->dims, size);
}

static int is_known(const xpu_paddle_node *node, xpu_value x, int axis, int64_t *size) {
    if (xpu_dim_is_const(&node->build.graph->dims, xpu_paddle_info(node, x)->dims[axis], size)) return 1;
    xpu_paddle_refuse(node, "a dim is not known",
                      xpu_paddle_format(node, "dim %d of %s", axis, fe_shape_text(&node->build, x)));
    return 0;
}

static xpu_value list_of(const fe_builder *b, const int64_t *items, int64_t count) {
    xpu_tensor tensor = {.dtype = XPU_I64, .rank = 1, .dims = {count}, .data = (void *)(uintptr_t)items};
    return xpu_graph_const_bytes(b->graph, NULL, &tensor);
}

static xpu_value expanded_like(fe_builder *b, xpu_value x, xpu_value like) {
    const xpu_value_info info = *fe_info(b, like);
    xpu_dim *dims = XPU_NEW_ARRAY(b->scratch, xpu_dim, info.rank + 1);
    for (int i = 0; i < info.rank; i++) dims[i] = info.dims[i];
    return fe_expand(b, x, (fe_dims){dims, (size_t)info.rank});
}

/* ---- scatter ---- */

/* Rows of x become the updates'; without overwrite, the sums of all of them. */
xpu_value xpu_paddle_convert_scatter(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), ids = xpu_paddle_operand(node, "Ids");
    xpu_value updates = xpu_paddle_operand(node, "Updates");
    if (!x.id || !ids.id || !updates.id) return failed;
    fe_builder inside = fe_inside(&node->build);
    int64_t one = 1;
    if (xpu_paddle_rank(node, ids) == 0) {
        int64_t first = 0;
        ids = fe_unsqueeze(&inside, ids, (fe_ints){&first, 1});
        if (ids.id && xpu_paddle_rank(node, updates) < xpu_paddle_rank(node, x))
            updates = fe_unsqueeze(&inside, updates, (fe_ints){&first, 1});
    }
    if (ids.id && xpu_paddle_rank(node, ids) == 1) ids = fe_unsqueeze(&inside, ids, (fe_ints){&one, 1});
    fe_scattering form = {.x = x, .indices = ids, .updates = updates};
    if (!ids.id || !updates.id) return failed;
    if (!xpu_paddle_int(node, "overwrite", 1)) {
        xpu_dtype dtype = xpu_paddle_info(node, updates)->dtype;
        form.updates = expanded_like(&inside, xpu_paddle_single(node, dtype, 0), updates);
        form.x = form.updates.id ? fe_scatter_nd(&inside, &form) : failed;
        form.updates = updates;
        form.kind = XA_PLACE_SUM;
    }
    node->build.made = inside.made;
    return form.x.id ? fe_scatter_nd(&node->build, &form) : failed;
}

static const struct {
    const char *name;
    xa_placing kind;
} reductions[] = {{"assign", XA_PLACE},           {"add", XA_PLACE_SUM},  {"mul", XA_PLACE_PRODUCT},
                  {"multiply", XA_PLACE_PRODUCT}, {"amax", XA_PLACE_MAX}, {"amin", XA_PLACE_MIN}};

xpu_value xpu_paddle_convert_put_along_axis(xpu_paddle_node *node) {
    const char *way = xpu_paddle_text(node, "Reduce", "assign");
    xpu_value updates = xpu_paddle_operand(node, "Value"), indices = xpu_paddle_operand(node, "Index");
    fe_scattering form = {.x = xpu_paddle_operand(node, "Input"), .kind = XA_PLACINGS};
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        if (strcmp(reductions[i].name, way) == 0) form.kind = reductions[i].kind;
    }
    if (form.kind == XA_PLACINGS || (form.kind != XA_PLACE && !xpu_paddle_int(node, "Include_self", 1)))
        return xpu_paddle_refuse(node, "the reduction is not supported", xpu_escape(node->importer->scratch, way, 40));
    if (!form.x.id || !indices.id || !updates.id) return failed;
    form.axis = xpu_paddle_int(node, "Axis", 0);
    form.indices = indices;
    fe_builder inside = fe_inside(&node->build);
    form.updates = expanded_like(&inside, updates, indices);
    node->build.made = inside.made;
    return form.updates.id ? fe_scatter_elements(&node->build, &form) : failed;
}

/* Elements or slices at the places that one vector of indices for each of the first dims says. */
xpu_value xpu_paddle_convert_index_put(xpu_paddle_node *node) {
    xpu_paddle_values indices = xpu_paddle_operands(node, "indices");
    xpu_value x = xpu_paddle_operand(node, "x"), value = xpu_paddle_operand(node, "value");
    if (!x.id || !value.id || !indices.count) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    fe_builder inside = fe_inside(&node->build);
    xpu_value *parts = XPU_NEW_ARRAY(node->importer->scratch, xpu_value, indices.count);
    int64_t one = 1;
    if ((int)indices.count > info.rank) return xpu_paddle_refuse(node, "there are too many indices", "more than dims");
    for (uint32_t i = 0; i < indices.count; i++) {
        const xpu_value_info *index = xpu_paddle_info(node, indices.items[i]);
        if (index->rank != 1 || index->dtype == XPU_BOOL)
            return xpu_paddle_refuse(node, "the indices are not supported", "they are not vectors of integers");
        parts[i] = fe_unsqueeze(&inside, indices.items[i], (fe_ints){&one, 1});
        if (!parts[i].id) return failed;
    }
    xpu_dim dims[XPU_MAX_RANK];
    int rank = info.rank - (int)indices.count + 1;
    dims[0] = xpu_paddle_info(node, indices.items[0])->dims[0];
    for (int i = 1; i < rank; i++) dims[i] = info.dims[(int)indices.count + i - 1];
    fe_scattering form = {.x = x, .kind = xpu_paddle_int(node, "accumulate", 0) ? XA_PLACE_SUM : XA_PLACE};
    form.indices = fe_concat(&inside, parts, indices.count, 1);
    form.updates = fe_expand(&inside, value, (fe_dims){dims, (size_t)rank});
    node->build.made = inside.made;
    return form.indices.id && form.updates.id ? fe_scatter_nd(&node->build, &form) : failed;
}

/* The elements where the mask holds, in row-major order. */
xpu_value xpu_paddle_convert_masked_select(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), mask = xpu_paddle_operand(node, "Mask");
    if (!x.id || !mask.id) return failed;
    fe_builder inside = fe_inside(&node->build);
    const xpu_value_info info = *xpu_paddle_info(node, x);
    xpu_dim all = fe_dim_product(&inside, info.dims, 0, info.rank);
    mask = expanded_like(&inside, mask, x);
    if (mask.id) mask = fe_reshape_to(&inside, mask, &all, 1, 0);
    node->build.made = inside.made;
    return mask.id ? fe_compress(&node->build, x, mask, NULL) : failed;
}

/* ---- picks ---- */

xpu_value xpu_paddle_convert_kthvalue(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X"), results[2];
    int64_t k = xpu_paddle_int(node, "k", 1), size = 0;
    if (!x.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int axis = fe_axis(&node->build, xpu_paddle_int(node, "axis", -1), info.rank);
    if (axis < 0 || !is_known(node, x, axis, &size)) return failed;
    if (k < 1 || k > size)
        return fe_bad_attr(&node->build, "k", xpu_paddle_format(node, "%" PRId64 " of %" PRId64, k, size)), failed;
    fe_builder inside = fe_inside(&node->build);
    fe_ordering order = {.axis = axis, .k = fixed(node, k)};
    if (!fe_top(&inside, x, &order, results)) return failed;
    for (int i = 0; i < 2; i++) {
        int named = 0;
        fe_builder own = fe_builder_of(&node->build, (uint32_t)i, &named);
        int64_t at = axis;
        xpu_value y = fe_part(&inside, results[i], axis, fixed(node, k - 1), fixed(node, 1), 1, 0);
        own.made = inside.made;
        if (y.id)
            y = xpu_paddle_int(node, "keepdim", 0) ? fe_identity(&own, y) : fe_squeeze(&own, y, (fe_ints){&at, 1});
        if (!y.id) return failed;
        results[i] = y;
        if (i < (int)node->result_count) node->results[i] = y;
    }
    return results[0];
}

/* A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector. */
xpu_value xpu_paddle_convert_diag(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    int64_t offset = xpu_paddle_int(node, "offset", 0), sizes[2] = {0};
    int rank = xpu_paddle_rank(node, x);
    if (!x.id) return failed;
    if (rank < 1 || rank > 2)
        return xpu_paddle_refuse(node, "the rank is not supported", fe_shape_text(&node->build, x));
    for (int i = 0; i < rank; i++) {
        if (!is_known(node, x, i, &sizes[i])) return failed;
    }
    int64_t down = offset < 0 ? -offset : 0, right = offset > 0 ? offset : 0;
    if (down > FE_MAX_EXTENT || right > FE_MAX_EXTENT)
        return fe_bad_attr(&node->build, "offset", "it is too large"), failed;
    fe_builder inside = fe_inside(&node->build);
    if (rank == 2) {
        int64_t rows = sizes[0] - down, columns = sizes[1] - right, count = rows < columns ? rows : columns;
        if (count < 1) return xpu_paddle_refuse(node, "the diagonal is empty", fe_shape_text(&inside, x));
        int64_t *places = XPU_NEW_ARRAY(node->importer->scratch, int64_t, count);
        for (int64_t i = 0; i < count; i++) places[i] = (i + down) * sizes[1] + i + right;
        xpu_dim all = fixed(node, sizes[0] * sizes[1]);
        x = fe_reshape_to(&inside, x, &all, 1, 0);
        node->build.made = inside.made;
        return x.id ? fe_gather(&node->build, x, list_of(&inside, places, count), 0) : failed;
    }
    int64_t size = sizes[0] + down + right;
    if (size > 4096 || sizes[0] < 1)
        return xpu_paddle_refuse(node, "the matrix is too large", fe_shape_text(&inside, x));
    int64_t *places = XPU_NEW_ARRAY(node->importer->scratch, int64_t, size *size);
    for (int64_t i = 0; i < size * size; i++) places[i] = sizes[0];
    for (int64_t i = 0; i < sizes[0]; i++) places[(i + down) * size + i + right] = i;
    xpu_dtype dtype = xpu_paddle_info(node, x)->dtype;
    xpu_dim one = fixed(node, 1), dims[] = {fixed(node, size), fixed(node, size)};
    xpu_value padding = xpu_paddle_single(node, dtype, (double)xpu_paddle_float(node, "padding_value", 0));
    xpu_value pair[] = {x, fe_reshape_to(&inside, padding, &one, 1, 0)};
    xpu_value all = pair[1].id ? fe_concat(&inside, pair, 2, 0) : failed;
    if (all.id) all = fe_gather(&inside, all, list_of(&inside, places, size * size), 0);
    node->build.made = inside.made;
    return all.id ? fe_reshape_to(&node->build, all, dims, 2, 1) : failed;
}

/* Along a dim of 3: x1 y2 - x2 y1 and so on in turn. */
xpu_value xpu_paddle_convert_cross(xpu_paddle_node *node) {
    static const int64_t next[] = {1, 2, 0}, other[] = {2, 0, 1};
    xpu_value x = xpu_paddle_operand(node, "X"), y = xpu_paddle_operand(node, "Y");
    int64_t axis = xpu_paddle_int(node, "dim", 9), size = 0;
    if (!x.id || !y.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    for (int i = 0; axis == 9 && i < info.rank; i++) {
        if (xpu_dim_is_const(&node->build.graph->dims, info.dims[i], &size) && size == 3) axis = i;
    }
    int at = fe_axis(&node->build, axis, info.rank);
    if (at < 0 || !is_known(node, x, at, &size)) return failed;
    if (size != 3) return xpu_paddle_refuse(node, "the dim is not 3", fe_shape_text(&node->build, x));
    fe_builder inside = fe_inside(&node->build);
    xpu_value first = list_of(&inside, next, 3), second = list_of(&inside, other, 3);
    xpu_value products[] = {
        fe_binary(&inside, XPU_OP_MUL, fe_gather(&inside, x, first, at), fe_gather(&inside, y, second, at)),
        fe_binary(&inside, XPU_OP_MUL, fe_gather(&inside, x, second, at), fe_gather(&inside, y, first, at))};
    node->build.made = inside.made;
    return products[0].id && products[1].id ? fe_elementwise(&node->build, XPU_OP_SUB, products, 2, NULL, 0) : failed;
}

/* For each length a row that is 1 so far. */
xpu_value xpu_paddle_convert_sequence_mask(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    double most = (double)xpu_paddle_int(node, "maxlen", -1);
    int64_t end = -1;
    if (!x.id || !xpu_paddle_number(node, "maxlen", "MaxLenTensor", &most)) return failed;
    if (!(most >= 1 && most <= INT32_MAX))
        return xpu_paddle_refuse(node, "the length is not known", "maxlen is not given");
    xpu_dtype dtype = xpu_paddle_type(node, "out_dtype", XPU_I64), own = xpu_paddle_info(node, x)->dtype;
    if (dtype == XPU_DTYPE_NONE) return failed;
    if (own != XPU_I32 && own != XPU_I64)
        return xpu_paddle_refuse(node, "the lengths are no integers", xpu_dtype_name(own));
    fe_builder inside = fe_inside(&node->build);
    xpu_value counted = fe_counted(&inside, own, fixed(node, (int64_t)most), 0, 1);
    xpu_value y = fe_binary(&inside, XPU_OP_LESS, counted, fe_unsqueeze(&inside, x, (fe_ints){&end, 1}));
    node->build.made = inside.made;
    return y.id ? fe_convert(&node->build, y, dtype) : failed;
}

/* ---- constants ---- */

xpu_value xpu_paddle_convert_eye(xpu_paddle_node *node) {
    double height = 0, width = -1;
    if (!xpu_paddle_number(node, "num_rows", "num_rows", &height) ||
        !xpu_paddle_number(node, "num_columns", "num_columns", &width))
        return failed;
    int64_t rows = xpu_paddle_whole(height), columns = width < 0 ? rows : xpu_paddle_whole(width);
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_F32);
    if (dtype == XPU_DTYPE_NONE) return failed;
    if (rows < 1 || columns < 1 || rows > MOST_CONSTANT / columns)
        return fe_bad_attr(&node->build, "num_rows", xpu_paddle_format(node, "%" PRId64 " x %" PRId64, rows, columns)),
               failed;
    float *items = XPU_NEW_ARRAY(node->importer->scratch, float, rows *columns);
    for (int64_t i = 0; i < rows && i < columns; i++) items[i * columns + i] = 1;
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 2, .dims = {rows, columns}, .data = items};
    xpu_value ones = xpu_graph_const_bytes(node->importer->graph, xpu_paddle_constant_name(node), &tensor);
    return dtype == XPU_F32 ? ones : fe_convert(&node->build, ones, dtype);
}

/* From start to stop, both included; all constants. */
xpu_value xpu_paddle_convert_linspace(xpu_paddle_node *node) {
    double start = 0, stop = 0, number = 0;
    if (!xpu_paddle_number(node, NULL, "Start", &start) || !xpu_paddle_number(node, NULL, "Stop", &stop) ||
        !xpu_paddle_number(node, NULL, "Num", &number))
        return failed;
    xpu_dtype dtype = xpu_paddle_type(node, "dtype", XPU_F32);
    if (dtype == XPU_DTYPE_NONE) return failed;
    if (!(number >= 1 && number <= MOST_CONSTANT))
        return xpu_paddle_refuse(node, "the count is invalid", "it is not 1 to 2^24");
    int64_t count = (int64_t)number;
    float *items = XPU_NEW_ARRAY(node->importer->scratch, float, count);
    double step = count > 1 ? (stop - start) / (double)(count - 1) : 0;
    for (int64_t i = 0; i < count; i++)
        items[i] =
            (float)(i < count / 2 || count == 1 ? start + step * (double)i : stop - step * (double)(count - i - 1));
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 1, .dims = {count}, .data = items};
    xpu_value line = xpu_graph_const_bytes(node->importer->graph, xpu_paddle_constant_name(node), &tensor);
    return dtype == XPU_F32 ? line : fe_convert(&node->build, line, dtype);
}

/* A sampling grid of rotated, scaled, moved images: places of the target times theta [N,2,3]. */
xpu_value xpu_paddle_convert_affine_grid(xpu_paddle_node *node) {
    enum { SHAPE = 4 };
    fe_ints shape;
    xpu_value theta = xpu_paddle_operand(node, "Theta");
    int corners = xpu_paddle_int(node, "align_corners", 1) != 0;
    if (!theta.id || !xpu_paddle_numbers(node, "output_shape", "OutputShape", NULL, &shape)) return failed;
    if (shape.count != SHAPE || xpu_paddle_rank(node, theta) != 3)
        return xpu_paddle_refuse(node, "the shape is not supported", "only that of images [N,C,H,W] is");
    int64_t height = shape.items[2], width = shape.items[3];
    if (height < 1 || width < 1 || height > MOST_CONSTANT / width)
        return fe_bad_attr(&node->build, "output_shape",
                           xpu_paddle_format(node, "%" PRId64 " x %" PRId64, height, width)),
               failed;
    float *places = XPU_NEW_ARRAY(node->importer->scratch, float, 3 * height * width);
    for (int64_t i = 0; i < height * width; i++) {
        int64_t size[] = {width, height}, at[] = {i % width, i / width};
        for (int k = 0; k < 2; k++) {
            double place = corners && size[k] > 1 ? 2.0 * (double)at[k] / (double)(size[k] - 1) - 1 : -1;
            if (!corners) place = (2.0 * (double)at[k] + 1) / (double)size[k] - 1;
            places[3 * i + k] = (float)place;
        }
        places[3 * i + 2] = 1;
    }
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 2, .dims = {height * width, 3}, .data = places};
    static const int64_t perm[] = {0, 2, 1};
    xpu_dim dims[] = {xpu_paddle_info(node, theta)->dims[0], fixed(node, height), fixed(node, width), fixed(node, 2)};
    fe_builder inside = fe_inside(&node->build);
    xpu_value turned = fe_transpose(&inside, theta, (fe_ints){perm, 3});
    xpu_value grid =
        turned.id ? fe_matmul(&inside, xpu_graph_const_bytes(inside.graph, NULL, &tensor), turned) : failed;
    node->build.made = inside.made;
    return grid.id ? fe_reshape_to(&node->build, grid, dims, SHAPE, 1) : failed;
}

/* ---- a few of the core's ---- */

static xpu_value pair(xpu_paddle_node *node, xpu_op_id op, xpu_value x, xpu_value y) {
    if (!x.id || !y.id) return failed;
    return fe_elementwise(&node->build, op, (xpu_value[]){x, y}, 2, NULL, 0);
}

/* A vector over the channels as what broadcasts to x. */
static xpu_value by_channel(xpu_paddle_node *node, xpu_value x, const char *operand) {
    xpu_value value = xpu_paddle_operand(node, operand);
    const char *format = xpu_paddle_text(node, "data_layout", "NCHW");
    if (!x.id || !value.id) return failed;
    const xpu_value_info info = *xpu_paddle_info(node, x);
    int axis = format[0] == 'N' && format[strlen(format) - 1] == 'C' ? info.rank - 1 : 1;
    xpu_dim dims[XPU_MAX_RANK];
    for (int i = axis; i < info.rank; i++) dims[i - axis] = i == axis ? info.dims[i] : fixed(node, 1);
    return fe_reshape_to(&node->build, value, dims, info.rank - axis, 0);
}

xpu_value xpu_paddle_convert_affine_channel(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "X");
    xpu_value y = fe_binary(&node->build, XPU_OP_MUL, x, by_channel(node, x, "Scale"));
    return pair(node, XPU_OP_ADD, y, by_channel(node, x, "Bias"));
}

/* (x - mean) / deviation of statistics that are sums. */
xpu_value xpu_paddle_convert_data_norm(xpu_paddle_node *node) {
    fe_builder *b = &node->build;
    xpu_value x = xpu_paddle_operand(node, "X"), size = xpu_paddle_operand(node, "BatchSize");
    if (xpu_paddle_int(node, "enable_scale_and_shift", 0) || xpu_paddle_int(node, "slot_dim", -1) > 0)
        return xpu_paddle_refuse(node, "the form is not supported", "it scales and shifts, or has slots");
    xpu_value mean = fe_binary(b, XPU_OP_DIV, xpu_paddle_operand(node, "BatchSum"), size);
    xpu_value factor =
        fe_unary(b, XPU_OP_SQRT, fe_binary(b, XPU_OP_DIV, size, xpu_paddle_operand(node, "BatchSquareSum")));
    return pair(node, XPU_OP_MUL, fe_binary(b, XPU_OP_SUB, x, mean), factor);
}

/* The angle of (x2, x1): that of the quotient, turned where x2 is negative. */
xpu_value xpu_paddle_convert_atan2(xpu_paddle_node *node) {
    const float pi = 3.14159265358979323846f;
    fe_builder *b = &node->build;
    xpu_value y = xpu_paddle_operand(node, "X1"), x = xpu_paddle_operand(node, "X2"), zero = fe_number(b, 0);
    if (!x.id || !y.id) return failed;
    xpu_value angle = fe_unary(b, XPU_OP_ATAN, fe_binary(b, XPU_OP_DIV, y, x)),
              left = fe_binary(b, XPU_OP_LESS, x, zero);
    xpu_value half[] = {fe_binary(b, XPU_OP_LESS, y, zero), fe_number(b, -pi), fe_number(b, pi)};
    xpu_value turn[] = {left, half[0].id ? fe_node(b, XPU_OP_WHERE, half, 3, NULL, 0, 0) : failed, zero};
    if (!angle.id || !left.id || !turn[1].id) return failed;
    xpu_value by = fe_node(b, XPU_OP_WHERE, turn, 3, NULL, 0, 0);
    xpu_value origin[] = {fe_binary(b, XPU_OP_EQUAL, y, zero), zero, angle}; /* of 0 / 0, too */
    xpu_value known = origin[0].id ? fe_node(b, XPU_OP_WHERE, origin, 3, NULL, 0, 0) : failed;
    return pair(node, XPU_OP_ADD, known, by);
}

/* The norm of the difference of all elements. */
xpu_value xpu_paddle_convert_dist(xpu_paddle_node *node) {
    float p = xpu_paddle_float(node, "p", 2);
    fe_builder inside = fe_inside(&node->build);
    xpu_value z = fe_binary(&inside, XPU_OP_SUB, xpu_paddle_operand(node, "X"), xpu_paddle_operand(node, "Y"));
    if (!z.id) return failed;
    int is_limit = isinf(p), is_root = !is_limit && p != 0 && p != 1 && p != 2;
    z = fe_unary(&inside, XPU_OP_ABS, z);
    if (p == 0) z = fe_as(&inside, fe_binary(&inside, XPU_OP_LESS, fe_number(&inside, 0), z), XPU_F32);
    if (is_root && z.id) z = fe_pow(&inside, z, fe_number(&inside, p));
    if (!z.id) return failed;
    if (p == 2)
        z = fe_reduce_function(&inside, FE_L2, z, (fe_ints){NULL, 0}, 0, 0);
    else
        z = fe_reduce(&inside,
                      !is_limit ? XPU_OP_REDUCE_SUM
                      : p > 0   ? XPU_OP_REDUCE_MAX
                                : XPU_OP_REDUCE_MIN,
                      z, (fe_ints){NULL, 0}, 0);
    if (is_root && z.id) z = fe_pow(&inside, z, fe_number(&inside, 1 / p));
    return fe_finish(&node->build, &inside, z);
}

/* int8 in a table of 128: its negative for negative ones. */
xpu_value xpu_paddle_convert_dequantize_log(xpu_paddle_node *node) {
    enum { HALF = 128, ALL = 256 };
    xpu_value x = xpu_paddle_operand(node, "X"), table = xpu_paddle_operand(node, "Dict");
    xpu_tensor tensor;
    float all[ALL];
    if (!x.id || !table.id) return failed;
    const xpu_value_info *info = xpu_paddle_info(node, table);
    if (info->kind != XPU_VALUE_CONST || info->dtype != XPU_F32)
        return xpu_paddle_refuse(node, "the table is computed", "it is needed as a constant");
    if (xpu_const_tensor(node->importer->graph, table, node->importer->scratch, &tensor, node->importer->diags))
        return failed;
    if (xpu_tensor_count(&tensor) != HALF)
        return xpu_paddle_refuse(node, "the table has the wrong size", "it is not 128");
    for (int i = 0; i < HALF; i++) {
        all[HALF + i] = ((const float *)tensor.data)[i];
        all[i] = -all[HALF + i];
    }
    xpu_tensor both = {.dtype = XPU_F32, .rank = 1, .dims = {ALL}, .data = all};
    xpu_value index =
        fe_binary(&node->build, XPU_OP_ADD, fe_as(&node->build, x, XPU_I32), fe_integer(&node->build, XPU_I32, HALF));
    return index.id ? fe_gather(&node->build, xpu_graph_const_bytes(node->importer->graph, NULL, &both), index, 0)
                    : failed;
}

/* The softmax, and where something uses it the loss: the negative logarithm at the label. */
xpu_value xpu_paddle_convert_softmax_loss(xpu_paddle_node *node) {
    xpu_value x = xpu_paddle_operand(node, "Logits"), label = xpu_paddle_operand(node, "Label");
    if (!x.id || !label.id) return failed;
    int axis = fe_axis(&node->build, xpu_paddle_int(node, "axis", -1), xpu_paddle_rank(node, x));
    if (axis < 0) return failed;
    if (xpu_paddle_int(node, "soft_label", 0) || !xpu_paddle_int(node, "use_softmax", 1))
        return xpu_paddle_refuse(node, "the form is not supported", "soft_label, or no softmax");
    xpu_value y = fe_softmax(&node->build, x, axis, 0);
    if (!y.id || node->result_count < 2 || xpu_paddle_rank(node, label) != xpu_paddle_rank(node, x)) return y;
    int named = 0;
    fe_builder own = fe_builder_of(&node->build, 1, &named), inside = fe_inside(&own);
    inside.made = node->build.made + 100;
    xpu_value logs = fe_log_softmax(&inside, x, axis, 0);
    if (logs.id) logs = fe_gather_elements(&inside, logs, label, axis);
    node->results[1] = logs.id ? fe_elementwise(&own, XPU_OP_NEG, &logs, 1, NULL, 0) : failed;
    return node->results[1].id ? y : failed;
}
