#!/usr/bin/env bash
# Rows of tables that lack a column, and calls with a wrong field, do not compile: one line is changed each time.
set -uo pipefail
. "$(dirname "$0")/../checks.sh"
gen=${XPU_BUILD:-build}/gen
syntax() { "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -DXPU_VERSION='"0"' -Wall -Wextra -Werror -Wno-missing-field-initializers -I"$folder" -I. -I"$gen" -fsyntax-only "$1"; }
row() { # row OLD NEW: rules.c with ops.def changed by sed's s
    mkdir -p "$folder/xpu_codegen"
    sed "s#$1#$2#" xpu_codegen/ops.def >"$folder/xpu_codegen/ops.def"
    syntax xpu_codegen/choose/rules.c && syntax xpu_codegen/choose/layout.c && syntax xpu_codegen/lower/program.c
}
check 0 '' row 'nothing is changed' ''
check 1 'argument' row 'XPU_SIM_OP(SOFTMAX, softmax, NO_RULES, FOLLOW, "softmax_f32")' \
    'XPU_SIM_OP(SOFTMAX, softmax, NO_RULES, "softmax_f32")'
check 1 'argument' row 'XPU_SIM_OP(SOFTMAX, softmax, NO_RULES, FOLLOW, "softmax_f32")' \
    'XPU_SIM_OP(SOFTMAX, softmax, NO_RULES, FOLLOW)'
check 1 'float23' row 'softmax, NO_RULES' 'softmax, RULE(float23)'
check 1 'FOLLOWS' row 'softmax, NO_RULES, FOLLOW' 'softmax, NO_RULES, FOLLOWS'
check 1 'XPU_OP_HARDMAX' row 'XPU_SIM_OP(SOFTMAX' 'XPU_SIM_OP(HARDMAX'
rm -r "$folder/xpu_codegen"
call() { # call STATEMENT: in a function that has a call of copy_nd
    printf '#include "xpu_codegen/lower/layers.h"\nxpu_status lower(xpu_codegen *cg);\nxpu_status lower(xpu_codegen *cg) {\n' >"$folder/call.c"
    printf '    struct xpu_copy_nd_call call = {0};\n    %s\n    return xpu_add_copy_nd(cg, 0, &call);\n}\n' "$1" >>"$folder/call.c"
    syntax "$folder/call.c"
}
check 0 '' call 'call.x = xpu_arg_at(3); call.d[5] = xpu_arg_number(8); call.element_bytes = xpu_arg_dim(xpu_dim_of(cg, 4));'
check 1 'nonsense' call 'call.nonsense = xpu_arg_number(8);'
check 1 'incompatible' call 'call.x = xpu_arg_number(8);'
check 1 'incompatible' call 'call.element_bytes = xpu_arg_real(8);'
check 1 'incompatible' call 'return xpu_add_fill(cg, 0, &call);'
kernel() { # kernel OLD NEW: calls.c with kernels.def changed
    mkdir -p "$folder/xpu_runtime/include"
    sed "s#$1#$2#" xpu_runtime/include/kernels.def >"$folder/xpu_runtime/include/kernels.def"
    syntax xpu_codegen/lower/calls.c
}
check 0 '' kernel 'nothing is changed' ''
check 1 'argument' kernel 'KERNEL(fill, DMA, ' 'KERNEL(fill, '
check 1 'XPU_UNIT_ENGINE' kernel 'KERNEL(fill, DMA, ' 'KERNEL(fill, ENGINE, '
echo "$passed passed, $failed failed"
[ $failed = 0 ]
