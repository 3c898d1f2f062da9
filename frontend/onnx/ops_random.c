/* Numbers by chance, reversed sequences, pools undone, elements once. */
#include <string.h>

#include "frontend/onnx/importer.h"

static const xpu_value failed = {0};

/* The seed that is given; else of the name of the result, so that two operators differ and every run is the same. */
static uint64_t seed_of(const xpu_onnx_node *node) {
    enum { FNV_OFFSET = 2166136261u, FNV_PRIME = 16777619u };
    if (xpu_onnx_attr_of(node, "seed")) {
        const float seed = xpu_onnx_attr_float(node, "seed", 0);
        uint32_t bits;
        memcpy(&bits, &seed, sizeof bits);
        return bits;
    }
    uint32_t hash = FNV_OFFSET;
    for (const char *c = node->proto->output[0]; *c; c++) hash = (hash ^ (unsigned char)*c) * FNV_PRIME;
    return (uint64_t)(hash >> 1 | 1) << 32;
}

/* Attribute dtype; XPU_DTYPE_NONE after reporting. */
static xpu_dtype dtype_of(const xpu_onnx_node *node, xpu_dtype fallback, int any) {
    const xpu_onnx_attr_proto *attr = xpu_onnx_attr_of(node, "dtype");
    xpu_dtype dtype = attr ? xpu_onnx_dtype((int)attr->i) : fallback;
    if (xpu_onnx_is_float(dtype)) return dtype;
    if (any && dtype != XPU_DTYPE_NONE && dtype != XPU_F64) return dtype;
    fe_bad_attr(&node->build, "dtype", any ? "it is a type that is not supported" : "it is no float");
    return XPU_DTYPE_NONE;
}

/* RandomUniform, RandomNormal and their Like forms. */
xpu_value xpu_onnx_convert_random(xpu_onnx_node *node) {
    const int is_like = node->row->min_inputs == 1;
    fe_randomness form = {.seed = seed_of(node), .is_normal = strstr(node->row->name, "Normal") != NULL};
    form.start = form.is_normal ? xpu_onnx_attr_float(node, "mean", 0.0f) : xpu_onnx_attr_float(node, "low", 0.0f);
    form.width = form.is_normal ? xpu_onnx_attr_float(node, "scale", 1.0f)
                                : xpu_onnx_attr_float(node, "high", 1.0f) - form.start;
    xpu_value_info info = {.dtype = XPU_F32};
    if (is_like) info = *xpu_onnx_info(node, node->inputs[0]);
    form.dtype = dtype_of(node, info.dtype, 0);
    if (form.dtype == XPU_DTYPE_NONE) return failed;
    const fe_ints shape = xpu_onnx_attr_ints(node, "shape");
    for (size_t i = 0; i < shape.count; i++) {
        if (shape.items[i] >= 0 && shape.items[i] <= INT32_MAX && shape.count <= XPU_MAX_RANK) continue;
        fe_bad_attr(&node->build, "shape", "it has too many dims, or a dim is negative or larger than 2^31 - 1");
        return failed;
    }
    if (!is_like && !shape.items) {
        fe_bad_attr(&node->build, "shape", "it is missing");
        return failed;
    }
    form.shape = is_like ? (fe_dims){info.dims, (size_t)info.rank} : xpu_onnx_dims_of(node, shape);
    return fe_random(&node->build, &form);
}

xpu_value xpu_onnx_convert_bernoulli(xpu_onnx_node *node) {
    const xpu_dtype own = xpu_onnx_info(node, node->inputs[0])->dtype, dtype = dtype_of(node, own, 1);
    if (dtype == XPU_DTYPE_NONE) return failed;
    if (!xpu_onnx_is_float(own)) {
        return xpu_onnx_refuse(node, "onnx-dtype", xpu_onnx_format(node, "input 0 is %s", xpu_dtype_name(own)),
                               "chances are floats", NULL);
    }
    return fe_bernoulli(&node->build, node->inputs[0], dtype, seed_of(node));
}

xpu_value xpu_onnx_convert_multinomial(xpu_onnx_node *node) {
    const xpu_dtype own = xpu_onnx_info(node, node->inputs[0])->dtype, dtype = dtype_of(node, XPU_I32, 1);
    if (dtype == XPU_DTYPE_NONE) return failed;
    if (!xpu_onnx_is_float(own) || (dtype != XPU_I32 && dtype != XPU_I64)) {
        return xpu_onnx_refuse(node, "onnx-dtype", "a type is not supported",
                               "logarithms of chances are floats, samples int32 or int64", NULL);
    }
    return fe_multinomial(&node->build, node->inputs[0], xpu_onnx_attr_int(node, "sample_size", 1), dtype,
                          seed_of(node));
}

/* ---- places ---- */

xpu_value xpu_onnx_convert_reverse_sequence(xpu_onnx_node *node) {
    const int64_t batch = xpu_onnx_attr_int(node, "batch_axis", 1), time = xpu_onnx_attr_int(node, "time_axis", 0);
    if (batch < 0 || batch > 1 || time != 1 - batch) {
        fe_bad_attr(&node->build, "time_axis", "it and batch_axis are 0 and 1");
        return failed;
    }
    return fe_reverse_sequence(&node->build, node->inputs[0], node->inputs[1], (int)time);
}

xpu_value xpu_onnx_convert_unique(xpu_onnx_node *node) {
    xpu_value results[4] = {{0}, {0}, {0}, {0}};
    int ok = 1, sorted = xpu_onnx_attr_flag(node, "sorted", 1, &ok);
    const int64_t axis = xpu_onnx_attr_int(node, "axis", 0);
    const int rank = xpu_onnx_info(node, node->inputs[0])->rank;
    if (xpu_onnx_attr_of(node, "axis") && (rank != 1 || axis < -1 || axis > 0)) {
        fe_bad_attr(&node->build, "axis", "slices are not supported: it is left out, or the input has rank 1");
        return failed;
    }
    if (!ok || !fe_unique(&node->build, node->inputs[0], sorted, results)) return failed;
    for (uint32_t i = 0; i < node->proto->n_output && i < 4; i++) node->results[i] = results[i];
    return results[0];
}

xpu_value xpu_onnx_convert_max_unpool(xpu_onnx_node *node) {
    xpu_dims *dims = &node->importer->graph->dims;
    const xpu_value_info info = *xpu_onnx_info(node, node->inputs[0]);
    const fe_ints kernel = xpu_onnx_attr_ints(node, "kernel_shape"), strides = xpu_onnx_attr_ints(node, "strides");
    const fe_ints pads = xpu_onnx_attr_ints(node, "pads");
    const size_t spatial = info.rank > 2 ? (size_t)info.rank - 2 : 0;
    xpu_dim shape[XPU_MAX_RANK];
    fe_dims given = {shape, (size_t)info.rank};
    if (!spatial || kernel.count != spatial || (strides.items && strides.count != spatial) ||
        (pads.items && pads.count != 2 * spatial)) {
        fe_bad_attr(&node->build, "kernel_shape", "it, strides and pads have a number for each spatial dim");
        return failed;
    }
    for (size_t i = 0; i < (size_t)info.rank; i++) {
        shape[i] = info.dims[i];
        if (i < 2) continue;
        const int64_t stride = strides.items ? strides.items[i - 2] : 1, size = kernel.items[i - 2];
        const int64_t cut = pads.items ? pads.items[i - 2] + pads.items[i - 2 + spatial] : 0;
        if (stride < 1 || stride > FE_MAX_EXTENT || size < 1 || size > FE_MAX_EXTENT || cut < 0 ||
            cut > FE_MAX_EXTENT) {
            fe_bad_attr(&node->build, "strides", "windows, strides and pads are positive and at most 2^20");
            return failed;
        }
        shape[i] = xpu_dim_add_const(dims, xpu_dim_mul_const(dims, xpu_dim_add_const(dims, info.dims[i], -1), stride),
                                     size - cut);
    }
    if (xpu_onnx_has_input(node, 2) && !xpu_onnx_dim_list(node, 2, &given)) return failed;
    if (given.count != (size_t)info.rank) {
        return xpu_onnx_refuse(node, "onnx-operand", "the shape of the result is invalid",
                               "it has the rank of the input", NULL);
    }
    return fe_max_unpool(&node->build, node->inputs[0], node->inputs[1], given);
}
