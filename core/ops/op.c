#include "core/ops/op.h"

#include <string.h>

#include "core/ops/rows.h"

/* ATTRS(STRIDES, PADS) as a set of bits. ATTRS() has one empty argument, whose bit is none. */
enum {
    BIT_OF_ = 0,
#define X(name, text, type) BIT_OF_##name = XPU_ATTR_##name + 1,
#include "core/ops/attrs.def"
#undef X
};
_Static_assert(XPU_ATTR_COUNT < 64, "xpu_op.attrs has one bit per attribute");

#define BIT(name)                                                         ((uint64_t)1 << BIT_OF_##name >> 1)
#define PASTE(a, b)                                                       PASTE_(a, b)
#define PASTE_(a, b)                                                      a##b
#define COUNT_OF(...)                                                     COUNT_OF_(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define COUNT_OF_(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, n, ...) n
#define BITS_1(a)                                                         BIT(a)
#define BITS_2(a, ...)                                                    BIT(a) | BITS_1(__VA_ARGS__)
#define BITS_3(a, ...)                                                    BIT(a) | BITS_2(__VA_ARGS__)
#define BITS_4(a, ...)                                                    BIT(a) | BITS_3(__VA_ARGS__)
#define BITS_5(a, ...)                                                    BIT(a) | BITS_4(__VA_ARGS__)
#define BITS_6(a, ...)                                                    BIT(a) | BITS_5(__VA_ARGS__)
#define BITS_7(a, ...)                                                    BIT(a) | BITS_6(__VA_ARGS__)
#define BITS_8(a, ...)                                                    BIT(a) | BITS_7(__VA_ARGS__)
#define BITS_9(a, ...)                                                    BIT(a) | BITS_8(__VA_ARGS__)
#define BITS_10(a, ...)                                                   BIT(a) | BITS_9(__VA_ARGS__)
#define BITS_11(a, ...)                                                   BIT(a) | BITS_10(__VA_ARGS__)
#define BITS_12(a, ...)                                                   BIT(a) | BITS_11(__VA_ARGS__)
#define BITS_13(a, ...)                                                   BIT(a) | BITS_12(__VA_ARGS__)
#define BITS_14(a, ...)                                                   BIT(a) | BITS_13(__VA_ARGS__)
#define BITS_15(a, ...)                                                   BIT(a) | BITS_14(__VA_ARGS__)
#define BITS_16(a, ...)                                                   BIT(a) | BITS_15(__VA_ARGS__)

#define BITS_ATTRS(...)         PASTE(BITS_, COUNT_OF(__VA_ARGS__))(__VA_ARGS__)
#define ELEMENTWISE_AS_EW(name) XPU_EW_##name
#define ELEMENTWISE_NO_EW       -1
#define ENTRY_FN(f)             f
#define ENTRY_NONE(reason)      NULL
#define REASON_FN(f)            NULL
#define REASON_NONE(reason)     reason

/* OP's arguments are expanded before ROW sees them: FN(f) and NONE("reason") are told apart by pasting. */
#define ROW(id, text, least, most, results, attributes, ew, infer_fn, value_fn, ref_fn, expand_fn, about_text)         \
    [XPU_OP_##id] = {.name = text,                                                                                     \
                     .min_inputs = least,                                                                              \
                     .max_inputs = most,                                                                               \
                     .max_outputs = results,                                                                           \
                     .attrs = BITS_##attributes,                                                                       \
                     .elementwise = ELEMENTWISE_##ew,                                                                  \
                     .infer = infer_fn,                                                                                \
                     .value = ENTRY_##value_fn,                                                                        \
                     .ref = ENTRY_##ref_fn,                                                                            \
                     .expand = ENTRY_##expand_fn,                                                                      \
                     .no_value = REASON_##value_fn,                                                                    \
                     .no_ref = REASON_##ref_fn,                                                                        \
                     .no_expand = REASON_##expand_fn,                                                                  \
                     .about = about_text},
#define OP(...) ROW(__VA_ARGS__)

static const xpu_op rows[XPU_OP_COUNT] = {
#include "core/ops/ops.def"
};
#undef OP

const xpu_op *xpu_op_of(xpu_op_id id) {
    return &rows[id];
}

xpu_op_id xpu_op_id_of(const xpu_op *op) {
    return (xpu_op_id)(op - rows);
}

const xpu_op *xpu_op_by_name(const char *name) {
    for (int i = 0; i < XPU_OP_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    }
    return NULL;
}

const char *xpu_node_precision(const xpu_graph *graph, xpu_node node) {
    static const char *const names[] = {
        [XPU_PRECISION_FP32] = "fp32", [XPU_PRECISION_INT16] = "int16", [XPU_PRECISION_INT16X8] = "int16x8"};
    const xpu_node_info *info = xpu_node_at(graph, node);
    if (info->op->attrs >> XPU_ATTR_PRECISION & 1) return names[xpu_node_int(graph, node, XPU_ATTR_PRECISION)];
    if (info->input_count == 0 || !info->inputs[0].id) return "fp32";
    xpu_dtype dtype = xpu_value_at(graph, info->inputs[0])->dtype;
    return dtype == XPU_F32 ? "fp32" : xpu_is_byte(dtype) ? "int8" : xpu_dtype_name(dtype);
}
