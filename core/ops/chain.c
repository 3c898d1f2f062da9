#include "core/ops/chain.h"

#include <stddef.h>

#include "core/arith.h"

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
    [XPU_EW_##name] = {#name, operands, immediate_count, XPU_EW_##signature, length},
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
#define EW_ROW(name, arity, immediate_count, ...)                                                                      \
    case XPU_EW_##name: return xa_##name(OPERANDS_##arity IMMEDIATES_##immediate_count);
#include "core/ops/elementwise.def"
    case XPU_EW_COUNT: break;
    }
    return xa_nan();
}

int xpu_chain_is_valid(const xpu_chain *chain, uint32_t input_count) {
    if (!chain || chain->input_count != input_count || chain->input_count > XPU_CHAIN_MAX_INPUTS) return 0;
    if (chain->step_count < 1 || chain->step_count > XPU_CHAIN_MAX_STEPS) return 0;
    for (uint32_t s = 0; s < chain->step_count; s++) {
        if ((unsigned)chain->steps[s].op >= XPU_EW_COUNT) return 0;
        for (int i = 0; i < xpu_elementwise_arity(chain->steps[s].op); i++) {
            if (chain->steps[s].operands[i] >= input_count + s) return 0;
        }
    }
    return 1;
}
