/*
 * Elementwise operators (core/ops/elementwise.def) that are the same operations on float and on vfloat32m4_t, written
 * once: included by core/arith.h and core/arith_rvv.h behind core/arith_poly.h, whose comment says what the macros are.
 * Operands are XF, immediates float, the last parameter is XF_VL.
 */

/* The composite of operators fl(fl(x / 2) * fl(1 + erf(fl(x * sqrt(1/2))))): no ulp bound of its own. */
XF_FUNCTION XF XF_NAME(gelu)(XF x XF_VL) {
    XF e = XF_CALL(erf, XF_MULC(x, 0x1.6a09e6p-1f));
    return XF_MUL(XF_MULC(x, 0.5f), XF_ADDC(e, 1.0f));
}

#undef XF_LN2_HIGH
#undef XF_LN2_LOW
#undef XF_LOG2_E
#undef XF
#undef XI
#undef XM
#undef XF_FUNCTION
#undef XF_NAME
#undef XF_VL
#undef XF_CALL
#undef XF_SPLAT
#undef XF_INF
#undef XF_NAN
#undef XF_ADD
#undef XF_SUB
#undef XF_MUL
#undef XF_DIV
#undef XF_FMA
#undef XF_ADDC
#undef XF_MULC
#undef XF_RSUBC
#undef XF_RDIVC
#undef XF_FMAC
#undef XF_LINE
#undef XF_NEG
#undef XF_ABS
#undef XF_COPYSIGN
#undef XF_BITS
#undef XF_FROM_BITS
#undef XF_NEAREST
#undef XF_FROM_INT
#undef XI_ADDC
#undef XI_SUB
#undef XI_SLLC
#undef XI_SRAC
#undef XI_MINC
#undef XM_LTC
#undef XM_GTC
#undef XM_EQC
#undef XF_SELECT
#undef XF_SELECTC
