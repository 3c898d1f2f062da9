// Rolled loops and branch-free float32 lanes, shared by the tensor engine's parts.
//
// LOOP: Verilator keeps `while` loops rolled when a statement stands between their initialisation and them, so that the
// host's compiler vectorises them; Yosys knows `for` only. The block declares the loop variable and z as `int unsigned`.
// LOOP_TO runs to `n` where loops with a variable end are allowed, else to its largest value `most`; its body must do
// no harm from n on. LOOP_WHILE runs while `more` holds, which is at most n times. SET writes an element of
// a memory: a block reads memories before it sets them, so that both forms are the same.
`ifndef XPU_LANES_SVH
`define XPU_LANES_SVH

`ifdef YOSYS
`define LOOP(i, n) for (i = 0; i < (n); i = i + 1) begin
`define LOOP4(i, n) for (i = 0; i < (n); i = i + 4) begin
`define LOOP_TO(i, n, most) for (i = 0; i < (most); i = i + 1) begin
`define LOOP_WHILE(i, n, more) for (i = 0; i < (n); i = i + 1) if (more) begin
`define ENDLOOP(i) end
`define ENDLOOP4(i) end
`define SET(element, value) element <= value
`else
`define LOOP(i, n) i = 0; z = 0; while (i < (n)) begin
`define LOOP4(i, n) i = 0; z = 0; while (i < (n)) begin
`define LOOP_TO(i, n, most) i = 0; z = 0; while (i < (n)) begin
`define LOOP_WHILE(i, n, more) i = 0; z = 0; while (more) begin
`define ENDLOOP(i) i = i + 1; end
`define ENDLOOP4(i) i = i + 4; end
`define SET(element, value) element = value
`endif

// Float lanes: 64-bit variables with the bits of a float32 in the low half, or integers in two's complement. A block
// that uses them declares FLOAT_TEMPS in itself and sets FLOAT_ZERO at its top (temporaries outside of the block, or
// not set, cost a factor of three).
`define FLOAT_TEMPS logic [63:0] fa, fb, fc, fm, fn, fs, ft, fw, fx, fe, fd, fg, fh, fi, fj, fk;
`define FLOAT_ZERO \
    fa = 0; fb = 0; fc = 0; fm = 0; fn = 0; fs = 0; ft = 0; fw = 0; fx = 0; fe = 0; fd = 0; fg = 0; fh = 0; fi = 0; \
    fj = 0; fk = 0;

// Shifts s (below 2^63) left until bit 62 is set; e is the exponent of bit 62. A zero stays.
`define FLOAT_NORM(s, e) \
    ft = (s >> 31) == 0 ? 64'd32 : 64'd0; s = s << ft[5:0]; e = e - ft; \
    ft = (s >> 47) == 0 ? 64'd16 : 64'd0; s = s << ft[5:0]; e = e - ft; \
    ft = (s >> 55) == 0 ? 64'd8 : 64'd0; s = s << ft[5:0]; e = e - ft; \
    ft = (s >> 59) == 0 ? 64'd4 : 64'd0; s = s << ft[5:0]; e = e - ft; \
    ft = (s >> 61) == 0 ? 64'd2 : 64'd0; s = s << ft[5:0]; e = e - ft; \
    ft = (s >> 62) == 0 ? 64'd1 : 64'd0; s = s << ft[5:0]; e = e - ft;

// Conditions are kept as numbers of 64 bits, 0 or 1: combined truth values do not vectorise with g++ 12.
`define FLAG(condition) ((condition) ? 64'd1 : 64'd0)

// Rounds a normalised s to nearest even, to the bits of a float without its sign; e: biased exponent of bit 62 plus
// 1024. The low bits of s may stand for bits further down (sticky).
`define FLOAT_PACK(r, s, e) \
    ft = e <= 64'd1024 ? 64'd1025 - e : 64'd0; ft = ft > 64'd40 ? 64'd40 : ft; \
    fw = s >> ft[5:0]; fw = fw | `FLAG((fw << ft[5:0]) != s); \
    r = (fw >> 39) + ((fw >> 38) & `FLAG((fw & 64'hbfffffffff) != 0)); \
    r = r + ((e <= 64'd1024 ? 64'd0 : e - 64'd1025) << 23); \
    r = r >= 64'h7f800000 ? 64'h7f800000 : r; \
    r = s == 0 ? 64'd0 : r;

// Fields of x: exponent e (1 for subnormals), mantissa m with its hidden bit, k: 1 for inf and NaN.
`define FLOAT_OPEN(x, e, m, k) \
    e = ((x) >> 23) & 64'd255; k = (e + 64'd1) >> 8; \
    m = ((e + 64'd255) >> 8) << 23; e = e + 64'd1 - (m >> 23); m = m | ((x) & 64'h7fffff);
// 1 for a NaN; 1 for a number that is not 0
`define FLOAT_NAN_FLAG(x) ((((x) & 64'h7fffffff) + 64'h7fffff) >> 31)
`define FLOAT_SOME_FLAG(x) ((((x) & 64'h7fffffff) + 64'h7fffffff) >> 31)

// y = fl(a * b)
`define FLOAT_MUL(y, a, b) \
    fa = a; fb = b; \
    `FLOAT_OPEN(fa, fe, fm, fi) \
    `FLOAT_OPEN(fb, fd, fn, fj) \
    fg = ((fa ^ fb) >> 31) & 64'd1; \
    fk = `FLOAT_NAN_FLAG(fa) | `FLOAT_NAN_FLAG(fb) | \
         (fi & ~`FLOAT_SOME_FLAG(fb)) | (fj & ~`FLOAT_SOME_FLAG(fa)); \
    fs = ((fm & 64'hffffffff) * (fn & 64'hffffffff)) << 15; fe = fe + fd + 64'd898; \
    `FLOAT_NORM(fs, fe) \
    `FLOAT_PACK(fx, fs, fe) \
    fx = (fi | fj) != 0 ? 64'h7f800000 : fx; \
    y = fk != 0 ? 64'h7fc00000 : (fg << 31) | fx;

// y = fl(a + b)
`define FLOAT_ADD(y, a, b) \
    fa = a; fb = b; \
    fx = (fa & 64'h7fffffff) < (fb & 64'h7fffffff) ? fb : fa; fb = fa ^ fb ^ fx; fa = fx; \
    `FLOAT_OPEN(fa, fe, fm, fi) \
    `FLOAT_OPEN(fb, fd, fn, fj) \
    fg = (fa >> 31) & 64'd1; fh = ((fa ^ fb) >> 31) & 64'd1; \
    fk = `FLOAT_NAN_FLAG(fa) | (fi & fj & fh); \
    fm = fm << 38; fn = fn << 38; fd = fe - fd; fd = fd > 64'd63 ? 64'd63 : fd; \
    fw = fn >> fd[5:0]; fw = fw | `FLAG((fw << fd[5:0]) != fn); \
    fs = fh != 0 ? fm - fw : fm + fw; fe = fe + 64'd1025; \
    fg = fs == 0 ? fg & (fb >> 31) : fg; \
    `FLOAT_NORM(fs, fe) \
    `FLOAT_PACK(fx, fs, fe) \
    fx = fi != 0 ? 64'h7f800000 : fx; \
    y = fk != 0 ? 64'h7fc00000 : (fg << 31) | fx;

// y = fl(a * b + c), rounded once
`define FLOAT_FMA(y, a, b, c) \
    fa = a; fb = b; fc = c; \
    `FLOAT_OPEN(fa, fe, fm, fi) \
    `FLOAT_OPEN(fb, fd, fn, fj) \
    fg = ((fa ^ fb) >> 31) & 64'd1; fh = (fc >> 31) & 64'd1; \
    fk = `FLOAT_NAN_FLAG(fa) | `FLOAT_NAN_FLAG(fb) | \
         (fi & ~`FLOAT_SOME_FLAG(fb)) | (fj & ~`FLOAT_SOME_FLAG(fa)); \
    fi = fi | fj; \
    fs = ((fm & 64'hffffffff) * (fn & 64'hffffffff)) << 15; fe = fe + fd + 64'd898; fj = `FLAG(fs == 0); \
    `FLOAT_NORM(fs, fe) \
    `FLOAT_OPEN(fc, fd, fn, fx) \
    fk = fk | `FLOAT_NAN_FLAG(fc) | (fx & fi & (fg ^ fh)); \
    fi = fi | (fx << 1); \
    fm = fs >> 1; fn = fn << 38; fd = fd + 64'd1024; \
    fx = 64'd0 - `FLAG(fd > fe); ft = (fm ^ fn) & fx; fs = fm ^ ft; fn = fn ^ ft; ft = fg ^ ((fg ^ fh) & fx); \
    fm = ((fe - fd) ^ fx) - fx; fm = fm > 64'd63 ? 64'd63 : fm; fe = fe ^ ((fe ^ fd) & fx); \
    fw = fn >> fm[5:0]; fw = fw | `FLAG((fw << fm[5:0]) != fn); \
    fx = 64'd0 - (fg ^ fh); fs = fs + ((fw ^ fx) - fx); \
    fx = 64'd0 - (fs >> 63); fs = (fs ^ fx) - fx; fd = (ft ^ fx) & 64'd1; fe = fe + 64'd1; \
    fd = fs == 0 ? fg & fh : fd; \
    `FLOAT_NORM(fs, fe) \
    `FLOAT_PACK(fx, fs, fe) \
    fx = (fd << 31) | fx; \
    fw = (fc & 64'h7fffffff) == 0 ? (fg & fh) << 31 : fc; fx = fj != 0 ? fw : fx; \
    fx = (fi & 64'd2) != 0 ? fc : fx; \
    fx = (fi & 64'd1) != 0 ? (fg << 31) | 64'h7f800000 : fx; \
    y = fk != 0 ? 64'h7fc00000 : fx;

// y = float of an integer whose magnitude is below 2^48
`define FLOAT_FROM_INT(y, v) \
    fa = v; fg = fa >> 63; fs = fg != 0 ? 64'd0 - fa : fa; fs = fs << 15; fe = 64'd1198; \
    `FLOAT_NORM(fs, fe) \
    fx = (fs >> 39) + ((fs >> 38) & `FLAG((fs & 64'hbfffffffff) != 0)) + ((fe - 64'd1025) << 23); \
    y = fs == 0 ? 64'd0 : (fg << 31) | fx;

// y = x to an int32 (in 64 bits), ties to even; out of range saturates, NaN gives the largest
`define FLOAT_TO_INT(y, x) \
    fa = x; fe = (fa >> 23) & 64'd255; fm = (fa & 64'h7fffff) | 64'h800000; fm = fe == 0 ? 64'd0 : fm << 32; \
    fg = (fa >> 31) & ~`FLOAT_NAN_FLAG(fa) & 64'd1; \
    fd = fe >= 64'd158 ? 64'd23 : 64'd181 - fe; fd = fd > 64'd62 ? 64'd62 : fd; \
    fs = fm >> fd[5:0]; fx = `FLAG((fs << fd[5:0]) != fm) | (fs >> 1); fs = (fs >> 1) + (fs & fx & 64'd1); \
    fs = fe >= 64'd158 ? 64'h7fffffff + fg : fs; \
    y = fg != 0 ? 64'd0 - fs : fs;

// rne(fl(x / b)) of a positive normal b, within 512, in two steps with a product each. i = floor(2^36 / m) of b's
// mantissa m. First: y = k << 32 | x, where |x| / b is between k and k + 11/8.
`define FLOAT_HALVES(y, x, b, i) \
    fa = x; fb = b; \
    `FLOAT_OPEN(fa, fe, fm, fi) \
    fd = fe - ((fb >> 23) & 64'd255) + 64'd1; fd = fd > 64'd9 ? 64'd9 : fd; \
    fs = ((fm >> 12) & 64'hffffffff) * ((i) & 64'hffffffff); \
    y = fa | ((fs >> (64'd25 - fd)) << 32);

// Second: 2 |x| / b against n = 2k + 1, as integers m_x << fd against n * m_b. A float quotient is n, a tie, where they
// differ by no more than half of the last place of n, ft. fd: the difference of exponents plus 1, where that is 0 to 9;
// less makes 0, more a number outside of a byte, as NaN does.
`define FLOAT_QUOTIENT(y, x, b) \
    fa = x; fb = b; fk = fa >> 32; fa = fa & 64'hffffffff; \
    `FLOAT_OPEN(fa, fe, fm, fi) \
    fn = (fb & 64'h7fffff) | 64'h800000; fd = fe - ((fb >> 23) & 64'd255) + 64'd1; \
    fg = (fa >> 31) & ~`FLOAT_NAN_FLAG(fa) & 64'd1; \
    fj = fd >> 63; fi = fi | (`FLAG(fd > 64'd9) & ~fj); fh = fd > 64'd9 ? 64'd0 : fd; \
    ft = fn >> (64'd24 - fh + `FLAG(fm < fn)); \
    fs = (fn & 64'hffffffff) * (((fk << 1) | 64'd1) & 64'hffffffff) + (ft ^ (64'd0 - (fk & 64'd1))); \
    fk = fk + `FLAG((fm << fh) > fs); \
    fk = fj != 0 ? 64'd0 : fk; fk = fi != 0 ? 64'd512 : fk; \
    y = fg != 0 ? 64'd0 - fk : fk;

// y = min(max(v, lo), hi) of two's complement numbers of far less than 64 bits
`define INT_CLAMP(y, v, lo, hi) \
    fa = (v) + 64'h4000000000000000; fb = (lo) + 64'h4000000000000000; fc = (hi) + 64'h4000000000000000; \
    fa = fa < fb ? fb : fa; fa = fa > fc ? fc : fa; y = fa - 64'h4000000000000000;

`define FLOAT_IS_NAN(x) (((x) & 64'h7fffffff) > 64'h7f800000)
// The order of floats as an unsigned number: -0 below +0
`define FLOAT_KEY(x) (((x) >> 31) != 0 ? 64'hffffffff - (x) : (x) + 64'h80000000)
// y = fmin(fmax(x, lo), hi): a NaN stays one, a limit that is NaN is none
`define FLOAT_CLIP(y, x, lo, hi) \
    fa = x; fb = lo; fc = `FLOAT_KEY(fa) < `FLOAT_KEY(fb) ? fb : fa; fc = `FLOAT_IS_NAN(fb) ? fa : fc; \
    fd = hi; fb = `FLOAT_KEY(fc) > `FLOAT_KEY(fd) ? fd : fc; fb = `FLOAT_IS_NAN(fd) ? fc : fb; \
    y = `FLOAT_IS_NAN(fa) ? 64'h7fc00000 : fb;

`endif
