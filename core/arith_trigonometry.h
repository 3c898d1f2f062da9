/*
 * Trigonometric and hyperbolic functions, written once for float and vfloat32m4_t: included by core/arith.h and
 * core/arith_rvv.h between core/arith_poly.h and core/arith_elementwise.h, with the same macros and these of integers:
 * XI_ADD, XI_MUL (low bits), XI_MULHU (high bits of the unsigned product), XI_OR, XI_ANDC, XI_SRLC, XI_SLL,
 * XI_SRL (by an operand), XI_RSUBC(a, c) = c - a, XI_SPLAT, XI_SELECTC(m, c, b), XM_LTU (unsigned), XM_IEQC.
 * The largest errors stand in docs/arithmetic.md.
 */

/* Word `index` + offset of 2 / pi in binary, 32 places before the point and 224 behind it; 0 <= index <= 4, 0 <= offset
 * <= 3. */
XF_FUNCTION XI XF_NAME(two_over_pi)(XI index, int offset XF_VL) {
    static const uint32_t bits[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                    0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
    const int32_t words[] = {(int32_t)bits[offset], (int32_t)bits[offset + 1], (int32_t)bits[offset + 2],
                             (int32_t)bits[offset + 3], (int32_t)bits[offset + 4]};
    XI word = XI_SPLAT(words[0]);
    word = XI_SELECTC(XM_IEQC(index, 1), words[1], word);
    word = XI_SELECTC(XM_IEQC(index, 2), words[2], word);
    word = XI_SELECTC(XM_IEQC(index, 3), words[3], word);
    return XI_SELECTC(XM_IEQC(index, 4), words[4], word);
}

/* 32 bits of two words, from bit `shift` of the upper one on. */
XF_FUNCTION XI XF_NAME(window_of)(XI upper, XI lower, XI shift XF_VL) {
    return XI_OR(XI_SLL(upper, shift), XI_SRL(XI_SRLC(lower, 1), XI_RSUBC(shift, 31)));
}

/*
 * |x| (2 / pi) modulo 4 as a fraction of 2^64 in two words, for 1/2 <= |x|: the significand, an integer, times the 96
 * bits of 2 / pi of which the product's first ones weigh 2. All bits that count are there, however large x is.
 */
XF_FUNCTION XI XF_NAME(quarter_turns)(XF a, XI *low XF_VL) {
    XI bits = XF_BITS(a);
    XI place = XI_ADDC(XI_SRAC(bits, 23), 7 - 127), index = XI_SRAC(place, 5), shift = XI_ANDC(place, 31);
    XI m = XI_ADDC(XI_ANDC(bits, 0x7fffff), 0x800000);
    XI w1 = XF_CALL(two_over_pi, index, 1), w2 = XF_CALL(two_over_pi, index, 2);
    XI h0 = XF_CALL(window_of, XF_CALL(two_over_pi, index, 0), w1, shift);
    XI h1 = XF_CALL(window_of, w1, w2, shift);
    XI h2 = XF_CALL(window_of, w2, XF_CALL(two_over_pi, index, 3), shift);
    XI carried = XI_MULHU(m, h2);
    *low = XI_ADD(XI_MUL(m, h1), carried);
    XI high = XI_ADD(XI_MUL(m, h0), XI_MULHU(m, h1));
    return XI_ADD(high, XI_SELECTC(XM_LTU(*low, carried), 1, XI_SPLAT(0)));
}

/* |x| less n pi / 2, the nearest multiple; *quadrant is n modulo 4. */
XF_FUNCTION XF XF_NAME(quadrant_rest)(XF x, XI *quadrant XF_VL) {
    XF a = XF_ABS(x);
    XM near = XM_LTC(a, 0x1.921fb4p-1f); /* pi / 4 */
    XI low, high = XF_CALL(quarter_turns, XF_SELECTC(near, 0.5f, a), &low);
    *quadrant = XI_SELECTC(near, 0, XI_SRLC(XI_ADDC(high, 0x20000000), 30));
    XI fraction = XI_OR(XI_SLLC(high, 2), XI_SRLC(low, 30)); /* of 2^32, from -1/2 on */
    XF t = XF_FMAC(0x1p-24f, XF_FROM_INT(XI_SRLC(XI_SLLC(low, 2), 8)), XF_FROM_INT(fraction));
    return XF_SELECT(near, a, XF_FMAC(-0x1.777a5cp-58f, t, XF_MULC(t, 0x1.921fb6p-32f)));
}

/* sin r and cos r for |r| <= pi / 4 */
XF_FUNCTION XF XF_NAME(sine_near)(XF r XF_VL) {
    XF t = XF_MUL(r, r);
    XF p = XF_FMA(XF_LINE(0x1.110778p-7f, -0x1.995408p-13f, t), t, XF_SPLAT(-0x1.555546p-3f));
    return XF_FMA(XF_MUL(p, t), r, r);
}
XF_FUNCTION XF XF_NAME(cosine_near)(XF r XF_VL) {
    XF t = XF_MUL(r, r);
    XF p = XF_FMA(XF_LINE(-0x1.6c0c28p-10f, 0x1.99e80cp-16f, t), t, XF_SPLAT(0x1.55554ap-5f));
    return XF_FMA(p, XF_MUL(t, t), XF_FMAC(-0.5f, t, XF_SPLAT(1.0f)));
}

/* sin of r + quadrant pi / 2 */
XF_FUNCTION XF XF_NAME(sine_of)(XF r, XI quadrant XF_VL) {
    XM odd = XM_IEQC(XI_ANDC(quadrant, 1), 1), below = XM_IEQC(XI_ANDC(quadrant, 2), 2);
    XF y = XF_SELECT(odd, XF_CALL(cosine_near, r), XF_CALL(sine_near, r));
    return XF_SELECT(below, XF_NEG(y), y);
}

/* NaN of infinities. */
XF_FUNCTION XF XF_NAME(sin)(XF x XF_VL) {
    XI quadrant;
    XF r = XF_CALL(quadrant_rest, x, &quadrant), y = XF_CALL(sine_of, r, quadrant);
    y = XF_SELECT(XM_LTC(x, 0.0f), XF_NEG(y), y);
    y = XF_SELECT(XM_LTC(XF_ABS(x), 0x1p-12f), x, y);
    return XF_SELECT(XM_LTC(XF_ABS(x), XF_INF), y, XF_SPLAT(XF_NAN));
}
XF_FUNCTION XF XF_NAME(cos)(XF x XF_VL) {
    XI quadrant;
    XF r = XF_CALL(quadrant_rest, x, &quadrant), y = XF_CALL(sine_of, r, XI_ADDC(quadrant, 1));
    return XF_SELECT(XM_LTC(XF_ABS(x), XF_INF), y, XF_SPLAT(XF_NAN));
}
XF_FUNCTION XF XF_NAME(tan)(XF x XF_VL) {
    XI quadrant;
    XF r = XF_CALL(quadrant_rest, x, &quadrant), s = XF_CALL(sine_near, r), c = XF_CALL(cosine_near, r);
    XM odd = XM_IEQC(XI_ANDC(quadrant, 1), 1);
    XF y = XF_DIV(XF_SELECT(odd, XF_NEG(c), s), XF_SELECT(odd, s, c));
    y = XF_SELECT(XM_LTC(x, 0.0f), XF_NEG(y), y);
    y = XF_SELECT(XM_LTC(XF_ABS(x), 0x1p-12f), x, y);
    return XF_SELECT(XM_LTC(XF_ABS(x), XF_INF), y, XF_SPLAT(XF_NAN));
}

/* Of |x| above tan(3 pi / 8): pi / 2 - atan(1 / |x|); above tan(pi / 8): pi / 4 + atan((|x| - 1) / (|x| + 1)). */
XF_FUNCTION XF XF_NAME(atan)(XF x XF_VL) {
    XF a = XF_ABS(x);
    XM middle = XM_GTC(a, 0x1.a8279ap-2f), far = XM_GTC(a, 0x1.3504f4p+1f);
    XF upper = XF_SELECTC(far, -1.0f, XF_SELECT(middle, XF_ADDC(a, -1.0f), a));
    XF lower = XF_SELECT(far, a, XF_SELECT(middle, XF_ADDC(a, 1.0f), XF_SPLAT(1.0f)));
    XF z = XF_DIV(upper, lower), t = XF_MUL(z, z);
    XF p = XF_LINE(-0x1.1c37a4p-3f, 0x1.49e3f8p-4f, t);
    p = XF_FMA(p, t, XF_SPLAT(0x1.9924d4p-3f));
    p = XF_FMA(p, t, XF_SPLAT(-0x1.555454p-2f));
    XF y = XF_FMA(XF_MUL(p, t), z, z);
    XF base = XF_SELECTC(far, 0x1.921fb6p+0f, XF_SELECTC(middle, 0x1.921fb6p-1f, XF_SPLAT(0.0f)));
    XF rest = XF_SELECTC(far, -0x1.777a5cp-25f, XF_SELECTC(middle, -0x1.777a5cp-26f, XF_SPLAT(0.0f)));
    return XF_COPYSIGN(XF_ADD(base, XF_ADD(y, rest)), x);
}

/* asin z for 0 <= z <= 1/2, t = z^2 */
XF_FUNCTION XF XF_NAME(asin_near)(XF z, XF t XF_VL) {
    XF p = XF_LINE(0x1.8c3dcep-6f, 0x1.595d0ap-5f, t);
    p = XF_FMA(p, t, XF_SPLAT(0x1.747bbep-5f));
    p = XF_FMA(p, t, XF_SPLAT(0x1.330204p-4f));
    p = XF_FMA(p, t, XF_SPLAT(0x1.5555c8p-3f));
    return XF_FMA(XF_MUL(p, t), z, z);
}

/* Above 1/2: pi / 2 - 2 asin(sqrt((1 - |x|) / 2)); NaN above 1. */
XF_FUNCTION XF XF_NAME(asin)(XF x XF_VL) {
    XF a = XF_ABS(x);
    XM far = XM_GTC(a, 0.5f);
    XF t = XF_SELECT(far, XF_MULC(XF_RSUBC(a, 1.0f), 0.5f), XF_MUL(a, a));
    XF y = XF_CALL(asin_near, XF_SELECT(far, XF_CALL(sqrt, t), a), t);
    XF rest = XF_RSUBC(XF_ADDC(XF_ADD(y, y), 0x1.777a5cp-25f), 0x1.921fb6p+0f);
    return XF_COPYSIGN(XF_SELECT(far, rest, y), x);
}
XF_FUNCTION XF XF_NAME(acos)(XF x XF_VL) {
    XF a = XF_ABS(x);
    XM far = XM_GTC(a, 0.5f), below = XM_LTC(x, 0.0f);
    XF t = XF_SELECT(far, XF_MULC(XF_RSUBC(a, 1.0f), 0.5f), XF_MUL(a, a));
    XF y = XF_CALL(asin_near, XF_SELECT(far, XF_CALL(sqrt, t), a), t), twice = XF_ADD(y, y);
    XF middle = XF_RSUBC(XF_ADDC(XF_COPYSIGN(y, x), 0x1.777a5cp-25f), 0x1.921fb6p+0f);
    XF end = XF_SELECT(below, XF_RSUBC(XF_ADDC(twice, 0x1.777a5cp-24f), 0x1.921fb6p+1f), twice);
    return XF_SELECT(far, end, middle);
}

/* e^a / 2 for a >= 0, which is finite where e^a is not. */
XF_FUNCTION XF XF_NAME(half_exp)(XF a XF_VL) {
    XF bounded = XF_SELECTC(XM_GTC(a, 100.0f), 100.0f, a);
    XI n = XF_NEAREST(XF_MULC(bounded, 0x1.715476p+0f));
    XF power = XF_ADDC(XF_CALL(expm1_near, XF_CALL(exp_rest, bounded, n)), 1.0f);
    XI less = XI_ADDC(n, -1), half = XI_SRAC(less, 1);
    power = XF_MUL(power, XF_CALL(power_of_two, half));
    return XF_MUL(power, XF_CALL(power_of_two, XI_SUB(less, half)));
}

XF_FUNCTION XF XF_NAME(sinh)(XF x XF_VL) {
    XF a = XF_ABS(x), t = XF_MUL(a, a), h = XF_CALL(half_exp, a);
    XF p = XF_LINE(0x1.a022bap-13f, 0x1.756cb2p-19f, t);
    p = XF_FMA(p, t, XF_SPLAT(0x1.1110e0p-7f));
    p = XF_FMA(p, t, XF_SPLAT(0x1.555556p-3f));
    XF near = XF_FMA(XF_MUL(p, t), a, a), far = XF_SUB(h, XF_RDIVC(h, 0.25f));
    return XF_COPYSIGN(XF_SELECT(XM_LTC(a, 1.0f), near, far), x);
}
XF_FUNCTION XF XF_NAME(cosh)(XF x XF_VL) {
    XF h = XF_CALL(half_exp, XF_ABS(x));
    return XF_ADD(h, XF_RDIVC(h, 0.25f));
}

/* log(1 + f): the logarithm of what 1 + f is rounded to, and what the rounding took. */
XF_FUNCTION XF XF_NAME(log1p)(XF f XF_VL) {
    XF u = XF_ADDC(f, 1.0f), lost = XF_DIV(XF_SUB(f, XF_ADDC(u, -1.0f)), u);
    return XF_ADD(XF_CALL(log, u), XF_SELECT(XM_LTC(u, XF_INF), lost, XF_SPLAT(0.0f)));
}

/* log1p(a + a^2 / (1 + sqrt(1 + a^2))); of large a log(a) + log(2). */
XF_FUNCTION XF XF_NAME(asinh)(XF x XF_VL) {
    XF a = XF_ABS(x), square = XF_MUL(a, a);
    XF rest = XF_DIV(square, XF_ADDC(XF_CALL(sqrt, XF_ADDC(square, 1.0f)), 1.0f));
    XF far = XF_ADDC(XF_CALL(log, a), 0x1.62e430p-1f);
    XF y = XF_SELECT(XM_GTC(a, 0x1p13f), far, XF_CALL(log1p, XF_ADD(a, rest)));
    return XF_COPYSIGN(y, x);
}
/* log1p(f + sqrt(f (f + 2))), f = x - 1. */
XF_FUNCTION XF XF_NAME(acosh)(XF x XF_VL) {
    XF f = XF_ADDC(x, -1.0f), root = XF_CALL(sqrt, XF_MUL(f, XF_ADDC(f, 2.0f)));
    XF far = XF_ADDC(XF_CALL(log, x), 0x1.62e430p-1f);
    XF y = XF_SELECT(XM_GTC(x, 0x1p13f), far, XF_CALL(log1p, XF_ADD(f, root)));
    return XF_SELECTC(XM_LTC(x, 1.0f), XF_NAN, y);
}
/* log1p(2 a / (1 - a)) / 2 */
XF_FUNCTION XF XF_NAME(atanh)(XF x XF_VL) {
    XF a = XF_ABS(x), f = XF_DIV(XF_ADD(a, a), XF_RSUBC(a, 1.0f));
    return XF_COPYSIGN(XF_MULC(XF_CALL(log1p, f), 0.5f), x);
}

#undef XI_ADD
#undef XI_MUL
#undef XI_MULHU
#undef XI_OR
#undef XI_ANDC
#undef XI_SRLC
#undef XI_SLL
#undef XI_SRL
#undef XI_RSUBC
#undef XI_SPLAT
#undef XI_SELECTC
#undef XM_LTU
#undef XM_IEQC
