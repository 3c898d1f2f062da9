#!/usr/bin/env python3
"""Prints the coefficients of core/arith_poly.h: minimax fits by Lawson's reweighting, rounded to float32 one after the
other, from the lowest power up, the rest fitted again each time. Needs mpmath and numpy; nothing in the build uses it."""
import mpmath as mp
import numpy as np

mp.mp.dps = 40
POINTS, ROUNDS = 3000, 400


def fit(name, target, weight, lo, hi, count):
    """sum c[k] x^k, k < count, with the least maximum of |weight * (sum - target)| on [lo, hi]."""
    x = (lo + hi) / 2 + (hi - lo) / 2 * np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    t = np.array([float(target(mp.mpf(v))) for v in x])
    w = np.abs(np.array([float(weight(mp.mpf(v))) for v in x]))
    columns = np.stack([x**k for k in range(count)], axis=1)
    fixed = []
    for k in range(count):
        rest, residual = columns[:, k:], t - columns[:, :k] @ np.array(fixed)
        share, best = np.ones(POINTS), None
        for _ in range(ROUNDS):
            root = np.sqrt(share) * w
            c = np.linalg.lstsq(rest * root[:, None], residual * root, rcond=None)[0]
            error = w * np.abs(rest @ c - residual)
            if best is None or error.max() < best[0]:
                best = (error.max(), c)
            share = share * (error / error.max() + 1e-3)
            share /= share.mean()
        fixed.append(float(np.float32(best[1][0])))
    error = (w * np.abs(columns @ np.array(fixed) - t)).max()
    print("%s: error 2^%.2f" % (name, np.log2(error)))
    for c in fixed:
        print("    %.9g  %s" % (c, c.hex()))


half_ln2 = float(mp.log(2) / 2 + mp.mpf("1e-4"))
fit("expm1_near, P", lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.exp(r), -half_ln2, half_ln2, 5)
fit("log_near, R", lambda f: ((mp.log1p(f) - f) / f**2 + 0.5) / f, lambda f: f**3 / mp.log1p(f),
    float(mp.sqrt(0.5) - 1), float(mp.sqrt(2) - 1), 8)
fit("tanh, P", lambda t: (mp.tanh(mp.sqrt(t)) / mp.sqrt(t) - 1) / t, lambda t: t * mp.sqrt(t) / mp.tanh(mp.sqrt(t)),
    1e-9, 0.5505**2, 5)
fit("erf, S", lambda t: mp.erf(mp.sqrt(t)) / mp.sqrt(t) - 1, lambda t: mp.sqrt(t) / mp.erf(mp.sqrt(t)),
    1e-9, 0.875**2, 6)
fit("erf, g", lambda a: mp.log(mp.erfc(a)), lambda a: mp.erfc(a) / mp.erf(a), 0.875, 4.0, 7)
quarter = float(mp.pi / 4 + mp.mpf("1e-6"))
fit("sine, S", lambda t: (mp.sin(mp.sqrt(t)) / mp.sqrt(t) - 1) / t, lambda t: t * mp.sqrt(t) / mp.sin(mp.sqrt(t)), 1e-9, quarter**2, 3)
fit("cosine, C", lambda t: (mp.cos(mp.sqrt(t)) - 1 + t / 2) / t**2, lambda t: t**2 / mp.cos(mp.sqrt(t)), 1e-6, quarter**2, 3)
fit("atan, P", lambda t: (mp.atan(mp.sqrt(t)) / mp.sqrt(t) - 1) / t, lambda t: t * mp.sqrt(t) / mp.atan(mp.sqrt(t)), 1e-9, 0.41425**2, 4)
fit("asin, P", lambda t: (mp.asin(mp.sqrt(t)) / mp.sqrt(t) - 1) / t, lambda t: t * mp.sqrt(t) / mp.asin(mp.sqrt(t)), 1e-9, 0.25001, 5)
fit("sinh, P", lambda t: (mp.sinh(mp.sqrt(t)) / mp.sqrt(t) - 1) / t, lambda t: t * mp.sqrt(t) / mp.sinh(mp.sqrt(t)), 1e-9, 1.0001, 4)
