#include "core/ops/rows.h"

#include <math.h>
#include <string.h>

/* Entries of ATTRS(..) as xpu_attr, whose type must be that of attrs.def. */
enum {
#define X(name, text, type) TYPE_OF_##name = XPU_ATTR_TYPE_##type,
#include "core/ir/attrs.def"
#undef X
};
#define ID_OF(name, type) XPU_ATTR_##name + 0 * sizeof(char[(int)TYPE_OF_##name == (int)XPU_ATTR_TYPE_##type ? 1 : -1])
#define INT(name, ...)    {.id = ID_OF(name, INT), .i = +__VA_ARGS__ + 0}
#define FLOAT(name, ...)  {.id = ID_OF(name, FLOAT), .f = +__VA_ARGS__ + 0}
#define STRING(name, ...) {.id = ID_OF(name, STRING), .s = __VA_ARGS__ ""}
#define INTS(name)        {.id = ID_OF(name, INTS)}
#define DIMS(name)        {.id = ID_OF(name, DIMS)}
#define CHAIN(name)       {.id = ID_OF(name, CHAIN)}

/* Sets of element types in TAKES(..) and GIVES(..). */
enum {
#define X(name, text, bytes, npy) name = XPU_TYPE_SET(XPU_##name),
    XPU_DTYPES(X)
#undef X
        BYTE = I8 | U8,
    STORED = BYTE | I16 | U16, /* quantised tensors */
    FLOATING = F32 | F16 | BF16,
    INTEGER = I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64,
    COMPUTED = FLOATING | INTEGER | BOOL, /* the elements of chains */
    ANY = XPU_TYPE_SET(XPU_DTYPE_COUNT) - XPU_TYPE_SET(XPU_F32)
};

enum {
#define X(name, about) TRAIT_##name = 1 << XPU_TRAIT_##name,
#include "core/ops/traits.def"
#undef X
    TRAIT_ = 0,
};

/* TRAITS(VIEW, LINEAR) as a set of bits; TRAITS() has one empty argument. */
#define PASTE(a, b)                         PASTE_(a, b)
#define PASTE_(a, b)                        a##b
#define COUNT_OF(...)                       COUNT_OF_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define COUNT_OF_(a, b, c, d, e, f, n, ...) n
#define BITS_1(a)                           TRAIT_##a
#define BITS_2(a, ...)                      TRAIT_##a | BITS_1(__VA_ARGS__)
#define BITS_3(a, ...)                      TRAIT_##a | BITS_2(__VA_ARGS__)
#define BITS_4(a, ...)                      TRAIT_##a | BITS_3(__VA_ARGS__)
#define BITS_5(a, ...)                      TRAIT_##a | BITS_4(__VA_ARGS__)
#define BITS_6(a, ...)                      TRAIT_##a | BITS_5(__VA_ARGS__)
#define BITS_TRAITS(...)                    PASTE(BITS_, COUNT_OF(__VA_ARGS__))(__VA_ARGS__)

/* The lists of a row: [0] is not of it, so that a list may be empty. */
#define LIST_ATTRS(...) ((const xpu_attr[]){{.id = XPU_ATTR_COUNT}, __VA_ARGS__})
#define LIST_TAKES(...) ((const xpu_types[]){0, __VA_ARGS__})
#define LIST_GIVES(...) ((const xpu_types[]){0, __VA_ARGS__})
#define LENGTH_OF(list) (sizeof list / sizeof *list - 1)

#define ELEMENTWISE_AS_EW(name) XPU_EW_##name
#define ELEMENTWISE_NO_EW       -1
#define ENTRY_FN(f)             f
#define ENTRY_NONE(reason)      NULL
#define REASON_FN(f)            NULL
#define REASON_NONE(reason)     reason

/* OP's arguments are expanded before ROW sees them: FN(f) and NONE("reason") are told apart by pasting. */
#define ROW(id, text, least, most, results, attributes, trait_set, operands, made, ew, infer_fn, value_fn, ref_fn,     \
            expand_fn, about_text)                                                                                     \
    [XPU_OP_##id] = {.name = text,                                                                                     \
                     .min_inputs = least,                                                                              \
                     .max_inputs = most,                                                                               \
                     .max_outputs = results,                                                                           \
                     .attrs = LIST_##attributes + 1,                                                                   \
                     .attr_count = LENGTH_OF(LIST_##attributes),                                                       \
                     .traits = BITS_##trait_set,                                                                       \
                     .takes = LIST_##operands + 1,                                                                     \
                     .takes_count = LENGTH_OF(LIST_##operands),                                                        \
                     .gives = LIST_##made + 1,                                                                         \
                     .gives_count = LENGTH_OF(LIST_##made),                                                            \
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
