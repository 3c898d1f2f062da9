/* What the target takes: operators, the rules that they must meet, and the patterns that it fuses. */
#ifndef XPU_CODEGEN_CHOOSE_RULES_H
#define XPU_CODEGEN_CHOOSE_RULES_H

#include "xpu_codegen/state.h"

extern const xpu_support xpu_sim_support[];
extern const xpu_pattern xpu_sim_patterns[];

#endif
