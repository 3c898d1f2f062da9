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

/* The composite with tanh: fl(fl(x / 2) * fl(1 + tanh(fl(x * fl(fl(x * x) * b + a))))), a = sqrt(2 / pi), b = 0.044715
 * a. */
XF_FUNCTION XF XF_NAME(gelu_tanh)(XF x XF_VL) {
    XF cubic = XF_ADDC(XF_MULC(XF_MUL(x, x), 0x1.2449fap-5f), 0x1.988454p-1f);
    XF t = XF_CALL(tanh, XF_MUL(x, cubic));
    return XF_MUL(XF_MULC(x, 0.5f), XF_ADDC(t, 1.0f));
}

/* fl(1 / x) */
XF_FUNCTION XF XF_NAME(reciprocal)(XF x XF_VL) {
    return XF_RDIVC(x, 1.0f);
}

/* fl(x / fl(1 + |x|)); infinities give NaN. */
XF_FUNCTION XF XF_NAME(softsign)(XF x XF_VL) {
    return XF_DIV(x, XF_ADDC(XF_ABS(x), 1.0f));
}

/* Zeros, NaN and the sign of a zero result are those of x. */
XF_FUNCTION XF XF_NAME(floor)(XF x XF_VL) {
    XF near = XF_CALL(round, x);
    XF y = XF_SELECT(XM_GT(near, x), XF_ADDC(near, -1.0f), near);
    return XF_COPYSIGN(y, x);
}
XF_FUNCTION XF XF_NAME(ceil)(XF x XF_VL) {
    XF near = XF_CALL(round, x);
    XF y = XF_SELECT(XM_LT(near, x), XF_ADDC(near, 1.0f), near);
    return XF_COPYSIGN(y, x);
}

/* 1, -1, +0 or NaN. */
XF_FUNCTION XF XF_NAME(sign)(XF x XF_VL) {
    XF other = XF_SELECTC(XM_EQC(x, 0.0f), 0.0f, x);
    return XF_SELECTC(XM_GTC(x, 0.0f), 1.0f, XF_SELECTC(XM_LTC(x, 0.0f), -1.0f, other));
}

XF_FUNCTION XF XF_NAME(prelu)(XF x, XF slope XF_VL) {
    return XF_SELECT(XM_LTC(x, 0.0f), XF_MUL(x, slope), x);
}

/* x where it is above alpha, else 0: of a NaN, too. */
XF_FUNCTION XF XF_NAME(thresholded_relu)(XF x, float alpha XF_VL) {
    return XF_SELECT(XM_GTC(x, alpha), x, XF_SPLAT(0.0f));
}

/* What lies within -lambda .. lambda is 0, a NaN, too; the rest moves towards 0 by bias. */
XF_FUNCTION XF XF_NAME(shrink)(XF x, float bias, float lambda XF_VL) {
    XF raised = XF_SELECT(XM_LTC(x, -lambda), XF_ADDC(x, bias), XF_SPLAT(0.0f));
    return XF_SELECT(XM_GTC(x, lambda), XF_ADDC(x, -bias), raised);
}

/* e^x - 1, within 1.5 ulp; -1 where x is below -30. */
XF_FUNCTION XF XF_NAME(expm1)(XF x XF_VL) {
    XF bounded = XF_SELECTC(XM_LTC(x, -30.0f), -30.0f, x);
    XI n = XI_MINC(XF_NEAREST(XF_MULC(bounded, XF_LOG2_E)), 129);
    XI most = XI_MINC(n, 127); /* 2^128 is no float: what is above 2^127 becomes a factor */
    XF scale = XF_CALL(power_of_two, most);
    XF q = XF_CALL(expm1_near, XF_CALL(exp_rest, bounded, n));
    return XF_MUL(XF_FMA(q, scale, XF_ADDC(scale, -1.0f)), XF_CALL(power_of_two, XI_SUB(n, most)));
}

/* fl(alpha * expm1(x)) below 0 */
XF_FUNCTION XF XF_NAME(elu)(XF x, float alpha XF_VL) {
    return XF_SELECT(XM_LTC(x, 0.0f), XF_MULC(XF_CALL(expm1, x), alpha), x);
}

/* fl(gamma * elu(x, alpha)) */
XF_FUNCTION XF XF_NAME(selu)(XF x, float alpha, float gamma XF_VL) {
    return XF_MULC(XF_CALL(elu, x, alpha), gamma);
}

/* fl(alpha * expm1(fl(x / alpha))) below 0 */
XF_FUNCTION XF XF_NAME(celu)(XF x, float alpha XF_VL) {
    XF curve = XF_CALL(expm1, XF_DIV(x, XF_SPLAT(alpha)));
    return XF_SELECT(XM_LTC(x, 0.0f), XF_MULC(curve, alpha), x);
}

/* fl(x * sigmoid(fl(alpha * x))) */
XF_FUNCTION XF XF_NAME(swish)(XF x, float alpha XF_VL) {
    return XF_MUL(x, XF_CALL(sigmoid, XF_MULC(x, alpha)));
}

/* y e^x for x <= 0, without a subnormal in between. */
XF_FUNCTION XF XF_NAME(times_exp)(XF y, XF x XF_VL) {
    XI n = XF_NEAREST(XF_MULC(x, XF_LOG2_E));
    XF power = XF_ADDC(XF_CALL(expm1_near, XF_CALL(exp_rest, x, n)), 1.0f);
    XI half = XI_SRAC(n, 1);
    power = XF_MUL(XF_MUL(y, power), XF_CALL(power_of_two, half));
    return XF_MUL(power, XF_CALL(power_of_two, XI_SUB(n, half)));
}

/* x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^2 + 2 e, e = e^x; x e^x far below 0, x far above. */
XF_FUNCTION XF XF_NAME(mish)(XF x XF_VL) {
    XF bounded = XF_SELECTC(XM_LTC(x, -120.0f), -120.0f, x);
    XF e = XF_CALL(exp, XF_SELECTC(XM_GTC(x, 20.0f), 20.0f, bounded));
    XF n = XF_FMA(e, e, XF_ADD(e, e));
    XF y = XF_DIV(XF_MUL(x, n), XF_ADDC(n, 2.0f));
    y = XF_SELECT(XM_LTC(x, -20.0f), XF_CALL(times_exp, bounded, bounded), y);
    y = XF_SELECTC(XM_EQC(x, -XF_INF), XF_NAN, y); /* -inf * 0 */
    return XF_SELECT(XM_GTC(x, 20.0f), x, y);
}

/*
 * a^y for a > 0: 2^(y log2(a)), the logarithm in two floats, h + l. With a = 2^n m and s = (m - 1) / (m + 1) it is
 * n + (2 / ln 2) s (1 + s^2 P(s^2)), P = 1/3 + s^2 / 5 + ...
 */
XF_FUNCTION XF XF_NAME(pow_positive)(XF a, XF y XF_VL) {
    XM small = XM_LTC(a, 0x1p-126f);
    XI bits = XF_BITS(XF_SELECT(small, XF_MULC(a, 0x1p23f), a));
    XI exponent = XI_SRAC(XI_ADDC(bits, -0x3f3504f3), 23);
    XF m = XF_FROM_BITS(XI_SUB(bits, XI_SLLC(exponent, 23)));
    XF n = XF_ADD(XF_FROM_INT(exponent), XF_SELECTC(small, -23.0f, XF_SPLAT(0.0f)));

    XF f = XF_ADDC(m, -1.0f), d = XF_ADDC(m, 1.0f); /* f is exact; d is d + d_low */
    XF d_low = XF_ADD(XF_RSUBC(d, 1.0f), m);
    XF sh = XF_DIV(f, d);
    XF sl = XF_DIV(XF_FMA(XF_NEG(sh), d_low, XF_FMA(XF_NEG(sh), d, f)), d);
    XF th = XF_MUL(sh, sh), tl = XF_FMA(sh, XF_ADD(sl, sl), XF_FMA(sh, sh, XF_NEG(th)));

    XF q = XF_FMA(XF_LINE(0x1.c71c72p-4f, 0x1.8p-4f, th), th, XF_SPLAT(0x1.24924ap-3f));
    q = XF_MUL(XF_FMA(q, th, XF_SPLAT(0x1.99999ap-3f)), th);
    XF ph = XF_ADDC(q, 0x1.555556p-2f);
    XF pl = XF_ADDC(XF_ADD(XF_RSUBC(ph, 0x1.555556p-2f), q), -0x1.555556p-27f);
    XF uh = XF_MUL(th, ph), ul = XF_FMA(th, pl, XF_FMA(tl, ph, XF_FMA(th, ph, XF_NEG(uh))));

    XF vh = XF_MUL(sh, uh), ve = XF_FMA(sh, ul, XF_FMA(sl, uh, XF_FMA(sh, uh, XF_NEG(vh))));
    XF wh = XF_ADD(sh, vh), wl = XF_ADD(XF_ADD(XF_SUB(sh, wh), vh), XF_ADD(sl, ve));
    XF lh = XF_MULC(wh, 0x1.715476p+1f); /* 2 / ln 2 */
    XF ll = XF_FMAC(0x1.4ae0cp-25f, wh, XF_FMAC(0x1.715476p+1f, wl, XF_FMAC(0x1.715476p+1f, wh, XF_NEG(lh))));
    XF gh = XF_ADD(n, lh), gl = XF_ADD(XF_ADD(XF_SUB(n, gh), lh), ll);

    XF zh = XF_MUL(y, gh), zl = XF_FMA(y, gl, XF_FMA(y, gh, XF_NEG(zh)));
    XM in_range = XM_LTC(XF_ABS(zh), 250.0f);
    zl = XF_SELECT(in_range, zl, XF_SPLAT(0.0f));
    zh = XF_SELECTC(XM_GTC(zh, 250.0f), 250.0f, XF_SELECTC(XM_LTC(zh, -250.0f), -250.0f, zh));
    XI k = XF_NEAREST(zh);
    XF rest = XF_MULC(XF_ADD(XF_SUB(zh, XF_FROM_INT(k)), zl), 0x1.62e430p-1f);
    XF power = XF_ADDC(XF_CALL(expm1_near, rest), 1.0f);
    XI half = XI_SRAC(k, 1);
    power = XF_MUL(power, XF_CALL(power_of_two, half));
    return XF_MUL(power, XF_CALL(power_of_two, XI_SUB(k, half)));
}

/* x^y with the special cases of IEEE 754: 1 where y is 0 or x is 1, whatever the other; NaN for negative finite x and
 * a finite y that is no integer. */
XF_FUNCTION XF XF_NAME(pow)(XF x, XF y XF_VL) {
    XF a = XF_ABS(x), half = XF_MULC(y, 0.5f);
    XF power = XF_CALL(pow_positive, a, y);
    XF inverse = XF_SELECTC(XM_LTC(y, 0.0f), XF_INF, XF_SPLAT(0.0f)); /* of 0 */
    power = XF_SELECT(XM_EQC(a, 0.0f), inverse, power);
    power = XF_SELECT(XM_EQC(a, XF_INF), XF_RDIVC(inverse, 1.0f), power);
    power = XF_SELECTC(XM_EQC(a, 1.0f), 1.0f, power);
    XM whole = XM_EQ(XF_CALL(round, y), y), even = XM_EQ(XF_CALL(round, half), half);
    power = XF_COPYSIGN(power, XF_SELECTC(even, 1.0f, XF_SELECT(whole, x, XF_SPLAT(1.0f))));
    XM below = XM_AND(XM_LTC(x, 0.0f), XM_GTC(x, -XF_INF));
    power = XF_SELECTC(XM_AND(below, XM_NOT(whole)), XF_NAN, power);
    power = XF_SELECT(XM_AND(XM_EQ(x, x), XM_EQ(y, y)), power, XF_ADD(x, y));
    return XF_SELECTC(XM_OR(XM_EQC(x, 1.0f), XM_EQC(y, 0.0f)), 1.0f, power);
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
#undef XM_LT
#undef XM_GT
#undef XM_EQ
#undef XM_AND
#undef XM_OR
#undef XM_NOT
#undef XF_SELECT
#undef XF_SELECTC
