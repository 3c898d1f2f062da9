// The multiply-add of float lanes and the rounding, of xpu_vector; see xpu_lanes.svh for the style of these macros.
`ifndef XPU_VECTOR_FMA_SVH
`define XPU_VECTOR_FMA_SVH

// Rounds s, whose bit 62 is set (or 0), of sign fg, exponent e (biased, of bit 62, plus 1024), to the bits of a float
// without its sign in fx; y: flags. Uses fj, fk, fn, ft, fw, fm, fd.
`define VECTOR_ROUND(y, s, e) \
    fn = (fr_up & (fg ^ 64'd1)) | (fr_dn & fg); \
    ft = e <= 64'd1024 ? 64'd1025 - e : 64'd0; ft = ft > 64'd40 ? 64'd40 : ft; \
    fw = s >> ft[5:0]; fw = fw | `FLAG((fw << ft[5:0]) != s); \
    fj = `FLAG((fw & 64'h3fffffffff) != 0); fk = (fw >> 38) & 64'd1; \
    fx = (fk & (((fj | (fw >> 39)) & fr_ne) | fr_mm)) | ((fk | fj) & fn); \
    fx = (fw >> 39) + (fx & 64'd1); fj = fj | fk; \
    fk = (s >> 38) & 64'd1; fd = `FLAG((s & 64'h3fffffffff) != 0); \
    fd = (fk & (fr_ne | fr_mm)) | ((fk | fd) & fn); \
    fd = fd & `FLAG((s >> 39) == 64'hffffff) & `FLAG(e == 64'd1024); \
    fx = fx + (e <= 64'd1024 ? 64'd0 : (e - 64'd1025) << 23); \
    fm = `FLAG(fx >= 64'h7f800000); fx = fm != 0 ? 64'h7f800000 - ((fg & fo_n) | ((fg ^ 64'd1) & fo_p)) : fx; \
    y = fj | fm | (fm << 2) | ((fj & ~fd & `FLAG(e <= 64'd1024)) << 1); \
    y = s == 0 ? 64'd0 : y; fx = s == 0 ? 64'd0 : fx;

// The exact sum X[i] * Y[i] + Z[i]: magnitude fs, not normalised, exponent fe, sign fg. fo: the result instead where fi
// is not 0 (infinite operands, NaN); fq: it is invalid.
`define VECTOR_SUM \
      fa = X[i]; fb = Y[i]; fc = Z[i]; \
      `FLOAT_OPEN(fa, fe, fm, fi) \
      `FLOAT_OPEN(fb, fd, fn, fj) \
      fg = ((fa ^ fb) >> 31) & 64'd1; fh = (fc >> 31) & 64'd1; \
      fs = ((fm & 64'hffffffff) * (fn & 64'hffffffff)) << 14; fe = fe + fd + 64'd898; fe = fs == 0 ? 64'd0 : fe; \
      fk = `FLOAT_NAN_FLAG(fa); ft = `FLOAT_NAN_FLAG(fb); \
      fq = (fk & ~(fa >> 22)) | (ft & ~(fb >> 22)) | \
           (fi & ~fk & ~`FLOAT_SOME_FLAG(fb)) | (fj & ~ft & ~`FLOAT_SOME_FLAG(fa)); \
      fp = fk | ft; fi = fi | fj; \
      `FLOAT_OPEN(fc, fd, fm, fx) \
      fk = `FLOAT_NAN_FLAG(fc); fp = fp | fk; \
      fq = (fq | (fk & ~(fc >> 22)) | (fi & fx & (fg ^ fh) & ~fp)) & 64'd1; \
      fp = fp | fq; fi = fi | (fx << 1); \
      fm = fm << 38; fd = fd + 64'd1024; \
      fx = 64'd0 - `FLAG(fd > fe); ft = (fs ^ fm) & fx; fs = fs ^ ft; fm = fm ^ ft; \
      ft = ((fe - fd) ^ fx) - fx; ft = ft > 64'd63 ? 64'd63 : ft; fe = fe ^ ((fe ^ fd) & fx); \
      fw = fm >> ft[5:0]; fw = fw | `FLAG((fw << ft[5:0]) != fm); \
      fd = fg ^ ((fg ^ fh) & fx); \
      fx = 64'd0 - (fg ^ fh); fs = fs + ((fw ^ fx) - fx); \
      fx = 64'd0 - (fs >> 63); fs = (fs ^ fx) - fx; \
      fd = (fd ^ fx) & 64'd1; fd = fs == 0 ? (fg & fh) | ((fg ^ fh) & fr_dn) : fd; \
      fo = (fi & 64'd2) != 0 ? fc : (fg << 31) | 64'h7f800000; \
      fo = fp != 0 ? 64'h7fc00000 : fo; fi = fi | fp; \
      fg = fd; fe = fe + 64'd1;

// fw = the magnitude of fa as an integer, fg its sign; fx: out of range, (fi | fj): inexact. fb: the limit, fh: signed.
`define VECTOR_TO_INT \
      fe = (fa >> 23) & 64'd255; fk = `FLOAT_NAN_FLAG(fa); \
      fm = ((fa & 64'h7fffff) | 64'h800000) << 39; fm = fe < 64'd126 ? `FLOAT_SOME_FLAG(fa) : fm; \
      fg = (fa >> 31) & ~fk & 64'd1; \
      fd = fe >= 64'd159 ? 64'd30 : 64'd188 - fe; fd = fe < 64'd126 ? 64'd62 : fd; \
      fw = fm >> fd[5:0]; fi = `FLAG((fw << fd[5:0]) != fm); fj = fw & 64'd1; fw = fw >> 1; \
      fx = (fr_ne & fj & (fi | fw)) | (fr_mm & fj) | ((fi | fj) & ((fr_up & ~fg) | (fr_dn & fg))); \
      fw = fw + (fx & 64'd1); \
      fn = (fb & (64'd0 - (fh | (fg ^ 64'd1)))) - ((fg & fh) ^ 64'd1); \
      fn = (fg & ~fh) != 0 ? 64'd0 : fn; \
      fx = `FLAG(fw > fn) | `FLAG(fe >= 64'd159); \
      fw = fx != 0 ? fn : fw;

`endif
