/*
 * The elementary functions, written once for two types: float (included by core/arith.h) and vfloat32m4_t (included by
 * core/arith_rvv.h), in both followed by core/arith_elementwise.h. The includer defines the operations; both then
 * execute the same IEEE operations in the same order, so they give the same bits. Branch-free; every function is within
 * 2 ulp of the true value for all floats, subnormal ones included (tests/long/long_arith_exhaustive.c); the largest
 * error found stands at each function.
 *
 * XF, XI, XM    float, int32, mask                  XF_NAME(f), XF_VL, XF_CALL   naming, last parameter, call
 * XF_LINE(c0, c1, x)  fma(c1, x, c0)                XF_FMA(a, b, c), XF_FMAC(c, b, a)   fma(a, b, c), fma(c, b, a)
 * XF_NEAREST(x) int of x, ties to even, for |x| < 2^22; anything large for larger x; anything for NaN
 * XF_SELECT(m, a, b), XF_SELECTC(m, c, b)           m ? a : b; names that end in C take a constant operand
 *
 * Coefficients: own minimax fits (tests/gen/arith_coefficients.py).
 */

#define XF_LN2_HIGH 0x1.62e430p-1f     /* ln 2 rounded to float */
#define XF_LN2_LOW  (-0x1.05c610p-29f) /* what is missing */
#define XF_LOG2_E   0x1.715476p+0f

/* 2^n for -126 <= n <= 127. */
XF_FUNCTION XF XF_NAME(power_of_two)(XI n XF_VL) {
    return XF_FROM_BITS(XI_SLLC(XI_ADDC(n, 127), 23));
}

/* x - n ln 2 */
XF_FUNCTION XF XF_NAME(exp_rest)(XF x, XI n XF_VL) {
    XF steps = XF_FROM_INT(n);
    return XF_FMAC(-XF_LN2_LOW, steps, XF_FMAC(-XF_LN2_HIGH, steps, x));
}

/* e^r - 1 for |r| <= ln 2 / 2: r + r^2 P(r) */
XF_FUNCTION XF XF_NAME(expm1_near)(XF r XF_VL) {
    XF square = XF_MUL(r, r);
    XF high = XF_FMAC(0x1.6a5054p-10f, square, XF_LINE(0x1.5558acp-5f, 0x1.123976p-7f, r));
    XF p = XF_FMA(high, square, XF_LINE(0x1.fffffcp-2f, 0x1.555492p-3f, r));
    return XF_FMA(p, square, r);
}

/* n ln 2 + log(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2): f + f^2 (-1/2 + f R(f)) */
XF_FUNCTION XF XF_NAME(log_near)(XF f, XF n XF_VL) {
    XF square = XF_MUL(f, f);
    XF r = XF_LINE(0x1.055ec4p-3f, -0x1.38c9d4p-4f, f);
    r = XF_FMA(r, square, XF_LINE(0x1.22d92ep-3f, -0x1.0d8242p-3f, f));
    r = XF_FMA(r, square, XF_LINE(0x1.99a01cp-3f, -0x1.54728ap-3f, f));
    r = XF_FMA(r, square, XF_LINE(0x1.555554p-2f, -0x1.000226p-2f, f));
    XF curve = XF_FMA(r, f, XF_SPLAT(-0.5f));
    XF low = XF_FMA(curve, square, XF_FMAC(XF_LN2_LOW, n, f));
    return XF_FMAC(XF_LN2_HIGH, n, low);
}

/* e^x / 2^n for n = XF_NEAREST(x / ln 2). */
XF_FUNCTION XF XF_NAME(exp_power)(XF x, XI n XF_VL) {
    return XF_ADDC(XF_CALL(expm1_near, XF_CALL(exp_rest, x, n)), 1.0f);
}

/* x and *n for exp_power, and power * 2^n: limited, in two steps of which the first is exact and the second rounds
 * once; or for -69 <= x <= 0 and NaN, where the bits are the same without. */
XF_FUNCTION XF XF_NAME(exp_begin)(XF x, XI *n XF_VL) {
    XF bounded = XF_SELECTC(XM_LTC(x, -105.0f), -105.0f, x);
    *n = XI_MINC(XF_NEAREST(XF_MULC(bounded, XF_LOG2_E)), 129);
    return bounded;
}

XF_FUNCTION XF XF_NAME(exp_end)(XF power, XI n XF_VL) {
    XI half = XI_SRAC(n, 1);
    power = XF_MUL(power, XF_CALL(power_of_two, half));
    return XF_MUL(power, XF_CALL(power_of_two, XI_SUB(n, half)));
}

XF_FUNCTION XI XF_NAME(exp_begin_plain)(XF x XF_VL) {
    return XF_NEAREST(XF_MULC(x, XF_LOG2_E));
}

XF_FUNCTION XF XF_NAME(exp_end_plain)(XF power, XI n XF_VL) {
    return XF_MUL(power, XF_CALL(power_of_two, n));
}

/* Underflows to subnormals and 0, overflows to inf. 1.04 ulp. */
XF_FUNCTION XF XF_NAME(exp)(XF x XF_VL) {
    XI n;
    XF bounded = XF_CALL(exp_begin, x, &n);
    return XF_CALL(exp_end, XF_CALL(exp_power, bounded, n), n);
}

/* The same bits for -69 <= x <= 0 and NaN. */
XF_FUNCTION XF XF_NAME(exp_plain)(XF x XF_VL) {
    XI n = XF_CALL(exp_begin_plain, x);
    return XF_CALL(exp_end_plain, XF_CALL(exp_power, x, n), n);
}

/* 0 gives -inf, negative numbers NaN. 0.94 ulp. */
XF_FUNCTION XF XF_NAME(log)(XF x XF_VL) {
    XM small = XM_LTC(x, 0x1p-126f);
    XI bits = XF_BITS(XF_SELECT(small, XF_MULC(x, 0x1p23f), x));
    XI n = XI_SRAC(XI_ADDC(bits, -0x3f3504f3), 23); /* sqrt(1/2) <= x / 2^n < sqrt(2) */
    XF f = XF_ADDC(XF_FROM_BITS(XI_SUB(bits, XI_SLLC(n, 23))), -1.0f);
    XF steps = XF_ADD(XF_FROM_INT(n), XF_SELECTC(small, -23.0f, XF_SPLAT(0.0f)));
    XF y = XF_SELECT(XM_LTC(x, XF_INF), XF_CALL(log_near, f, steps), x);
    y = XF_SELECTC(XM_LTC(x, 0.0f), XF_NAN, y);
    return XF_SELECTC(XM_EQC(x, 0.0f), -XF_INF, y);
}

/* x + x t P(t), t = x^2, below 0.55, else 1 - 2 / (1 + e^(2|x|)). 1.47 ulp. */
XF_FUNCTION XF XF_NAME(tanh)(XF x XF_VL) {
    XF t = XF_MUL(x, x), t2 = XF_MUL(t, t), a = XF_ABS(x);
    XF p = XF_FMAC(-0x1.9921a2p-8f, t2, XF_LINE(-0x1.b91e7ep-5f, 0x1.58e518p-6f, t));
    p = XF_FMA(p, t2, XF_LINE(-0x1.55554ap-2f, 0x1.110ceep-3f, t));
    XF near = XF_FMA(XF_MUL(p, t), x, x);

    XF twice = XF_SELECTC(XM_GTC(a, 20.0f), 40.0f, XF_ADD(a, a));
    XI n = XF_NEAREST(XF_MULC(twice, XF_LOG2_E));
    XF q = XF_CALL(expm1_near, XF_CALL(exp_rest, twice, n));
    XF scale = XF_CALL(power_of_two, n);
    XF below = XF_RDIVC(XF_ADDC(XF_FMA(q, scale, scale), 1.0f), 2.0f);
    XF far = XF_RSUBC(below, 1.0f);
    return XF_COPYSIGN(XF_SELECT(XM_LTC(a, 0.55f), near, far), x); /* of -0 too, which near loses */
}

/* With E = e^(-|x|): 1 / (1 + E), or E / (1 + E) for negative x. The last line lessens the error of the quotient y:
 * the true value is the numerator - y E. 1.66 ulp. */
XF_FUNCTION XF XF_NAME(sigmoid)(XF x XF_VL) {
    XF e = XF_CALL(exp, XF_NEG(XF_ABS(x)));
    XF numerator = XF_SELECT(XM_LTC(x, 0.0f), e, XF_SPLAT(1.0f));
    XF y = XF_DIV(numerator, XF_ADDC(e, 1.0f));
    return XF_FMA(XF_NEG(y), e, numerator);
}

/* x + x S(x^2) below 0.875, else 1 - e^g(|x|) with g = log(erfc). 1.27 ulp. */
XF_FUNCTION XF XF_NAME(erf)(XF x XF_VL) {
    XF t = XF_MUL(x, x), t2 = XF_MUL(t, t);
    XF s = XF_LINE(0x1.47d510p-8f, -0x1.3cb546p-11f, t);
    s = XF_FMA(s, t2, XF_LINE(0x1.ce1bfap-4f, -0x1.b6a3b4p-6f, t));
    s = XF_FMA(s, t2, XF_LINE(0x1.06eba6p-3f, -0x1.8126eep-2f, t));
    XF near = XF_FMA(s, x, x);

    XF a = XF_ABS(x);
    XF b = XF_SELECTC(XM_GTC(a, 4.0f), 4.0f, a), b2 = XF_MUL(b, b);
    XF g = XF_FMAC(0x1.a585fap-13f, b2, XF_LINE(0x1.6f554cp-6f, -0x1.955072p-9f, b));
    g = XF_FMA(g, b2, XF_LINE(-0x1.46026cp-1f, -0x1.ab5356p-4f, b));
    g = XF_FMA(g, b2, XF_LINE(-0x1.182074p-13f, -0x1.20c06cp+0f, b));
    XI n = XF_NEAREST(XF_MULC(g, XF_LOG2_E));
    XF q = XF_CALL(expm1_near, XF_CALL(exp_rest, g, n));
    XF scale = XF_CALL(power_of_two, n);
    XF far = XF_RSUBC(XF_FMA(q, scale, scale), 1.0f);
    return XF_SELECT(XM_LTC(a, 0.875f), near, XF_COPYSIGN(far, x));
}

/* log(1 + e^x) = max(x, 0) + log(1 + E), E = e^(-|x|). 1.75 ulp. */
XF_FUNCTION XF XF_NAME(softplus)(XF x XF_VL) {
    XF e = XF_CALL(exp, XF_NEG(XF_ABS(x)));
    XM upper = XM_GTC(e, 0x1.a8279ap-2f); /* sqrt(2) - 1 */
    XF f = XF_SELECT(upper, XF_MULC(XF_ADDC(e, -1.0f), 0.5f), e);
    XF y = XF_CALL(log_near, f, XF_SELECTC(upper, 1.0f, XF_SPLAT(0.0f)));
    return XF_ADD(y, XF_SELECTC(XM_LTC(x, 0.0f), 0.0f, x));
}
