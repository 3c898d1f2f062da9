/* The constants of the model of cycles: choose/costs.def. */
#ifndef XPU_CODEGEN_CHOOSE_COSTS_H
#define XPU_CODEGEN_CHOOSE_COSTS_H

typedef struct {
#define COST(name, value, about) double name;
#include "xpu_codegen/choose/costs.def"
#undef COST
} xpu_costs;
extern const xpu_costs xpu_cost; /* cycles */

#endif
