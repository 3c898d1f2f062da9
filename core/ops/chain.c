#include "core/ops/chain.h"

#include <stddef.h>

#include "core/arith.h"

static const struct {
    const char *name;
    int arity, immediates;
} facts[XPU_EW_COUNT] = {
#define EW(name, operands, immediate_count, ...) [XPU_EW_##name] = {#name, operands, immediate_count},
#include "core/ops/elementwise.def"
#undef EW
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

/* APPLY_2_0(f): f called with 2 operands and 0 immediates. */
#define APPLY_1_0(f) f(operands[0])
#define APPLY_1_1(f) f(operands[0], immediates[0])
#define APPLY_1_2(f) f(operands[0], immediates[0], immediates[1])
#define APPLY_2_0(f) f(operands[0], operands[1])
#define APPLY_3_0(f) f(operands[0], operands[1], operands[2])

float xpu_elementwise_apply(xpu_elementwise op, const float *operands, const float *immediates) {
    switch (op) {
#define EW(name, arity, immediate_count, scalar, ...)                                                                  \
    case XPU_EW_##name: return APPLY_##arity##_##immediate_count(scalar);
#include "core/ops/elementwise.def"
#undef EW
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
