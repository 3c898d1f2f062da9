/* Operators that move elements: any element type, by bytes. */
#include <string.h>

#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

xpu_status xpu_ref_copy(const xpu_ref_args *args) {
    memcpy(args->outputs[0]->data, args->inputs[0]->data, xpu_tensor_bytes(args->inputs[0]));
    return XPU_OK;
}

xpu_status xpu_ref_transpose(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    const int64_t *perm = xpu_node_ints(args->graph, args->node, XPU_ATTR_PERM, NULL);
    xpu_permute(x->data, args->outputs[0]->data, xpu_dtype_bytes(x->dtype), x->rank, x->dims, perm);
    return XPU_OK;
}

xpu_status xpu_ref_concat(const xpu_ref_args *args) {
    const xpu_tensor *y = args->outputs[0];
    int axis = (int)xpu_node_int(args->graph, args->node, XPU_ATTR_AXIS);
    size_t outer = (size_t)xpu_product(y->dims, 0, axis);
    size_t inner = (size_t)xpu_product(y->dims, axis + 1, y->rank) * xpu_dtype_bytes(y->dtype);
    uint32_t count = xpu_node_at(args->graph, args->node)->input_count;
    char *out = y->data;
    for (size_t i = 0; i < outer; i++) {
        for (uint32_t operand = 0; operand < count; operand++) {
            size_t bytes = (size_t)args->inputs[operand]->dims[axis] * inner;
            memcpy(out, (const char *)args->inputs[operand]->data + i * bytes, bytes);
            out += bytes;
        }
    }
    return XPU_OK;
}

/* ---- pad ---- */

/* Where element `i` of the result comes from along one dim of size `size`; -1: the constant. */
static int64_t pad_source(xpu_pad_mode mode, int64_t i, int64_t begin, int64_t size) {
    int64_t at = i - begin;
    if (at >= 0 && at < size) return at;
    switch (mode) {
    case XPU_PAD_REFLECT: return at < 0 ? -at : 2 * (size - 1) - at;
    case XPU_PAD_EDGE: return at < 0 ? 0 : size - 1;
    case XPU_PAD_CONSTANT:
    case XPU_PAD_UNKNOWN: break;
    }
    return -1;
}

/* Fills dims [dim, rank): `in` (NULL: the constant) and `out` stand at the current index of the dims before. */
static void pad_dim(const xpu_tensor *x, const xpu_tensor *y, xpu_pad_mode mode, const int64_t *pads,
                    const unsigned char *value, int dim, const char *in, char *out) {
    size_t element = xpu_dtype_bytes(x->dtype);
    size_t in_step = element * (size_t)xpu_product(x->dims, dim + 1, x->rank);
    size_t out_step = element * (size_t)xpu_product(y->dims, dim + 1, y->rank);
    for (int64_t i = 0; i < y->dims[dim]; i++, out += out_step) {
        int64_t index = in ? pad_source(mode, i, pads[dim], x->dims[dim]) : -1;
        const char *from = index < 0 ? NULL : in + (size_t)index * in_step;
        if (dim + 1 < x->rank) {
            pad_dim(x, y, mode, pads, value, dim + 1, from, out);
        } else {
            memcpy(out, from ? from : (const char *)value, element);
        }
    }
}

xpu_status xpu_ref_pad(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    const int64_t *pads = xpu_node_ints(args->graph, args->node, XPU_ATTR_PADS, NULL);
    xpu_pad_mode mode = xpu_node_pad_mode(args->graph, args->node);
    for (int i = 0; i < x->rank; i++) {
        int64_t most = pads[i] > pads[x->rank + i] ? pads[i] : pads[x->rank + i];
        if (most > 0 && most >= x->dims[i] + (mode == XPU_PAD_EDGE ? most : 0) && mode != XPU_PAD_CONSTANT) {
            return xpu_ref_refuse(args, "the padding is larger than the operand under this shape");
        }
    }
    unsigned char value[XPU_ELEMENT_BYTES];
    if (!xpu_dtype_element(x->dtype, xpu_node_float(args->graph, args->node, XPU_ATTR_VALUE), value) &&
        mode == XPU_PAD_CONSTANT)
        return xpu_ref_refuse(args, "the operand's type does not have the padding's value");
    if (x->rank == 0) return xpu_ref_copy(args);
    pad_dim(x, args->outputs[0], mode, pads, value, 0, x->data, args->outputs[0]->data);
    return XPU_OK;
}
