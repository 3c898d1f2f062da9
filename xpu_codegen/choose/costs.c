#include "xpu_codegen/choose/costs.h"

const xpu_costs xpu_cost = {
#define COST(name, value, about) .name = (value),
#include "xpu_codegen/choose/costs.def"
#undef COST
};
