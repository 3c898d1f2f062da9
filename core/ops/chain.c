#include "core/ops/chain.h"

#include <stddef.h>

#include "core/arith_types.h"

enum { SHORT, LONG };
/* ATTRS(FLOAT(LOW, ..), FLOAT(HIGH, ..)) as identifiers; those that are missing are 0. */
enum {
    ID_ = 0,
#define X(name, text, type) ID_##name = XPU_ATTR_##name,
#include "core/ir/attrs.def"
#undef X
};
#define ID_FLOAT(name, ...)                     ID_##name
#define ID_INT(name, ...)                       ID_##name
#define IDS(a, b, c, ...)                       {(xpu_attr_id)ID_##a, (xpu_attr_id)ID_##b, (xpu_attr_id)ID_##c}
#define IDS_ATTRS(...)                          IDS(__VA_ARGS__, , , )
#define EW(id, name, operands, attributes, ...) [XPU_EW_##name] = IDS_##attributes,
#define EW_STEP(...)
static const xpu_attr_id attrs[XPU_EW_COUNT][XPU_CHAIN_MAX_IMMEDIATES] = {
#include "core/ops/elementwise.def"
};

static const struct {
    const char *name;
    int arity, immediates;
    xpu_signature signature;
    int is_long;
} facts[XPU_EW_COUNT] = {
#define EW_ROW(name, operands, immediate_count, signature, length, about)                                              \
    [XPU_EW_##name] = {#name, operands, XPU_EW_##signature == XPU_EW_CONVERT ? 0 : immediate_count,                    \
                       XPU_EW_##signature, length},
#include "core/ops/elementwise.def"
};

const char *xpu_elementwise_name(xpu_elementwise op) {
    return facts[op].name;
}

int xpu_elementwise_arity(xpu_elementwise op) {
    return facts[op].arity;
}

int xpu_elementwise_immediates(xpu_elementwise op) {
    return facts[op].immediates;
}

xpu_signature xpu_elementwise_signature(xpu_elementwise op) {
    return facts[op].signature;
}

int xpu_elementwise_is_long(xpu_elementwise op) {
    return facts[op].is_long;
}

xpu_attr_id xpu_elementwise_attr(xpu_elementwise op, int i) {
    return attrs[op][i];
}

#define OPERANDS_1   operands[0]
#define OPERANDS_2   OPERANDS_1, operands[1]
#define OPERANDS_3   OPERANDS_2, operands[2]
#define IMMEDIATES_0 /* none */
#define IMMEDIATES_1 , immediates[0]
#define IMMEDIATES_2 IMMEDIATES_1, immediates[1]
#define IMMEDIATES_3 IMMEDIATES_2, immediates[2]

float xpu_elementwise_apply(xpu_elementwise op, const float *operands, const float *immediates) {
    switch (op) {
#define EW_FLOAT_ROW(name, arity, immediate_count, ...)                                                                \
    case XPU_EW_##name: return xa_##name(OPERANDS_##arity IMMEDIATES_##immediate_count);
#include "core/ops/elementwise.def"
    default: break;
    }
    return xa_nan();
}

int xpu_chain_is_valid(const xpu_chain *chain, uint32_t input_count) {
    if (!chain || chain->input_count != input_count || chain->input_count > XPU_CHAIN_MAX_INPUTS) return 0;
    if (chain->step_count < 1 || chain->step_count > XPU_CHAIN_MAX_STEPS) return 0;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        if ((unsigned)chain->steps[s].op >= XPU_EW_COUNT || chain->steps[s].dtype >= XPU_DTYPE_COUNT) return 0;
        for (int i = 0; i < xpu_elementwise_arity(chain->steps[s].op); i++) {
            if (chain->steps[s].operands[i] >= input_count + s) return 0;
        }
    }
    return 1;
}

/* ---- types ---- */

xpu_compute xpu_compute_of(xpu_dtype dtype) {
    switch (dtype) {
    case XPU_F32:
    case XPU_F16:
    case XPU_BF16: return XPU_COMPUTE_F32;
    case XPU_I8:
    case XPU_I16:
    case XPU_I32:
    case XPU_BOOL: return XPU_COMPUTE_I32;
    case XPU_U8:
    case XPU_U16:
    case XPU_U32: return XPU_COMPUTE_U32;
    case XPU_I64: return XPU_COMPUTE_I64;
    case XPU_U64: return XPU_COMPUTE_U64;
    default: return XPU_COMPUTE_COUNT;
    }
}

const char *xpu_compute_name(xpu_compute class_id) {
    static const char *const names[XPU_COMPUTE_COUNT] = {"f32", "i32", "u32", "i64", "u64"};
    return names[class_id];
}

static int is_known(xpu_dtype dtype) {
    return xpu_compute_of(dtype) != XPU_COMPUTE_COUNT;
}
static int is_float(xpu_dtype dtype) {
    return xpu_compute_of(dtype) == XPU_COMPUTE_F32;
}
static int is_number(xpu_dtype dtype) {
    return is_known(dtype) && dtype != XPU_BOOL;
}
static int is_integer(xpu_dtype dtype) {
    return is_number(dtype) && !is_float(dtype);
}
static int is_bool(xpu_dtype dtype) {
    return dtype == XPU_BOOL;
}

typedef enum { SAME, TO_BOOL, TO_ATTRIBUTE } result_rule;
static const struct {
    int (*takes)(xpu_dtype dtype);
    result_rule result;
    const char *text;
} signatures[] = {
    [XPU_EW_FLOATS] = {is_float, SAME, "float32, float16 or bfloat16"},
    [XPU_EW_NUMBERS] = {is_number, SAME, "float32, float16, bfloat16 or integers"},
    [XPU_EW_COMPARE] = {is_known, TO_BOOL, "two of one type: float32, float16, bfloat16, integers or bool"},
    [XPU_EW_LOGIC] = {is_bool, SAME, "bool"},
    [XPU_EW_INTEGERS] = {is_integer, SAME, "integers"},
    [XPU_EW_SELECT] = {is_known, SAME, "bool, then two of one type"},
    [XPU_EW_CONVERT] = {is_known, TO_ATTRIBUTE, "every type but float64"},
    [XPU_EW_TEST] = {is_float, TO_BOOL, "float32, float16 or bfloat16"},
    [XPU_EW_ANY] = {is_known, SAME, "every type but float64"},
};

const char *xpu_signature_text(xpu_signature signature) {
    return signatures[signature].text;
}

xpu_dtype xpu_elementwise_result(xpu_elementwise op, const xpu_dtype *operands, xpu_dtype convert_to,
                                 xpu_dtype *computes) {
    xpu_signature signature = xpu_elementwise_signature(op);
    int first = signature == XPU_EW_SELECT;
    xpu_dtype dtype = operands[first];
    if (first && operands[0] != XPU_BOOL) return XPU_DTYPE_NONE;
    if (!signatures[signature].takes(dtype)) return XPU_DTYPE_NONE;
    for (int i = first + 1; i < xpu_elementwise_arity(op); i++) {
        if (operands[i] != dtype) return XPU_DTYPE_NONE;
    }
    if (computes) *computes = dtype;
    switch (signatures[signature].result) {
    case SAME: return dtype;
    case TO_BOOL: return XPU_BOOL;
    case TO_ATTRIBUTE: return is_known(convert_to) ? convert_to : XPU_DTYPE_NONE;
    }
    return XPU_DTYPE_NONE;
}

int xpu_chain_types_of(const xpu_chain *chain, const xpu_dtype *inputs, xpu_chain_types *types) {
    *types = (xpu_chain_types){.is_float32 = 1};
    for (uint32_t v = 0; v < chain->input_count + chain->step_count; v++) {
        if (v < chain->input_count) {
            types->values[v] = inputs[v];
        } else {
            const xpu_chain_step *step = &chain->steps[v - chain->input_count];
            xpu_dtype operands[XPU_CHAIN_MAX_OPERANDS];
            for (int i = 0; i < xpu_elementwise_arity(step->op); i++) {
                operands[i] = types->values[step->operands[i]];
            }
            xpu_dtype *computes = &types->computes[v - chain->input_count];
            types->values[v] = xpu_elementwise_result(step->op, operands, (xpu_dtype)step->dtype, computes);
            if (types->values[v] == XPU_DTYPE_NONE) return 0;
            if (xpu_elementwise_signature(step->op) == XPU_EW_CONVERT) types->is_float32 = 0;
        }
        types->is_float32 &= types->values[v] == XPU_F32;
        types->is_wide |= xpu_dtype_bytes(types->values[v]) > 4;
    }
    return 1;
}

const xpu_chain *xpu_chain_of(const xpu_graph *graph, xpu_node node) {
    return xpu_node_attr(graph, node, XPU_ATTR_STEPS)->chain;
}

int xpu_chain_types_of_node(const xpu_graph *graph, xpu_node node, xpu_chain_types *types) {
    const xpu_chain *chain = xpu_chain_of(graph, node);
    xpu_dtype dtypes[XPU_CHAIN_MAX_INPUTS];
    for (uint32_t i = 0; i < chain->input_count; i++) {
        dtypes[i] = xpu_value_at(graph, xpu_node_input(graph, node, i))->dtype;
    }
    return xpu_chain_types_of(chain, dtypes, types);
}
