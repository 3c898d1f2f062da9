// The float lanes of the vector unit, 16 of float32: additions, multiplications, fused forms, minimum, maximum,
// conversions between int32 and float32. Exact: five rounding modes, subnormals, all flags (tininess after rounding),
// NaN results 7fc00000. Included inside of xpu_vector.
//   F[i] = op(X[i], Y[i], Z[i]); f_flags: those of the lanes in f_active.
//   f_op 0: x * y + z; 1, 2: minimum, maximum of x and y; 3: x from an integer; 4: x to one.
//   Operands come from registers and the result goes into registers; the stages before and behind hold nothing but
//   registers, over which synthesis may spread the lanes.
// Branch-free loops over lanes of 64 bits, see xpu_lanes.svh; nth is i in 64 bits: g++ does not vectorise shifts by i.
  task automatic float_lanes;
    `FLOAT_TEMPS
    logic [63:0] fl, fo, fp, fq, fy, fr_ne, fr_mm, fr_up, fr_dn, fo_p, fo_n, on, nth;
    int unsigned i;
    // verilator lint_off UNUSEDSIGNAL
    int unsigned z; // keeps loops rolled
    // verilator lint_on UNUSEDSIGNAL
    `FLOAT_ZERO
    nth = 0; fl = 0; fo = 0; fp = 0; fq = 0; fy = 0; i = 0; z = 0;
    fr_ne = `FLAG(f_mode == 3'd0); fr_mm = `FLAG(f_mode == 3'd4);
    fr_up = `FLAG(f_mode == 3'd3); fr_dn = `FLAG(f_mode == 3'd2);
    fo_p = `FLAG(f_mode == 3'd1 || f_mode == 3'd2); fo_n = `FLAG(f_mode == 3'd1 || f_mode == 3'd3);
    on = {48'd0, f_active};
    case (f_op)
      // The product stands in bits 61:14, what is added in 61:38; the one with the lower exponent is shifted right and
      // keeps a sticky bit. Subnormals need no normalisation before. Three loops: the host overlaps the lanes of short
      // ones.
      3'd0: begin
        `LOOP(i, 16)
          `VECTOR_SUM
          A[i] = fs; B[i] = fe; C[i] = fg; D[i] = fo; K[i] = fi; S[i] = fq;
        `ENDLOOP(i)
        `LOOP(i, 16)
          fs = A[i]; fe = B[i];
          `FLOAT_NORM(fs, fe)
          A[i] = fs; B[i] = fe;
        `ENDLOOP(i)
        `LOOP(i, 16)
          fs = A[i]; fe = B[i]; fg = C[i];
          `VECTOR_ROUND(fy, fs, fe)
          fx = (fg << 31) | fx;
          F[i] = K[i] != 0 ? D[i] : fx; fy = K[i] != 0 ? 64'd0 : fy;
          fl = fl | ((fy | (S[i] << 4)) & (64'd0 - ((on >> nth[5:0]) & 64'd1)));
          nth = nth + 64'd1;
        `ENDLOOP(i)
      end
      3'd1, 3'd2: begin
        fd = f_op == 3'd2 ? ~64'd0 : 64'd0;
        `LOOP(i, 16)
          fa = X[i]; fb = Y[i];
          fx = (`FLOAT_KEY(fa) ^ fd) < (`FLOAT_KEY(fb) ^ fd) ? fa : fb;
          fi = `FLOAT_NAN_FLAG(fa); fj = `FLOAT_NAN_FLAG(fb);
          fx = fj != 0 ? fa : fx; fx = fi != 0 ? fb : fx; fx = (fi & fj) != 0 ? 64'h7fc00000 : fx;
          F[i] = fx;
          fl = fl | ((((fi & ~(fa >> 22)) | (fj & ~(fb >> 22))) & (on >> nth[5:0]) & 64'd1) << 4);
          nth = nth + 64'd1;
        `ENDLOOP(i)
      end
      3'd3: begin
        fb = f_signed ? 64'h80000000 : 64'd0;
        `LOOP(i, 16)
          fa = (X[i] ^ fb) - fb; fg = fa >> 63; fs = fg != 0 ? 64'd0 - fa : fa; fe = 64'd1213;
          `FLOAT_NORM(fs, fe)
          fj = `FLAG((fs & 64'h3fffffffff) != 0); fi = (fs >> 38) & 64'd1;
          fx = (fr_ne & fi & (fj | (fs >> 39))) | (fr_mm & fi) | ((fi | fj) & ((fr_up & ~fg) | (fr_dn & fg)));
          fx = (fs >> 39) + (fx & 64'd1) + ((fe - 64'd1025) << 23);
          fx = fs == 0 ? 64'd0 : (fg << 31) | fx;
          F[i] = fx;
          fl = fl | ((fi | fj) & (on >> nth[5:0]) & 64'd1);
          nth = nth + 64'd1;
        `ENDLOOP(i)
      end
      default: begin
        // the magnitude with its half bit below; numbers below a quarter keep a sticky bit
        fb = f_signed ? 64'h80000000 : 64'h100000000; // limit
        fh = {63'd0, f_signed};
        `LOOP(i, 16)
          fa = X[i];
          `VECTOR_TO_INT
          fc = fg != 0 ? 64'd0 - fw : fw;
          F[i] = fc;
          fl = fl | (((fx << 4) | ((fi | fj) & ~fx & 64'd1)) & (64'd0 - ((on >> nth[5:0]) & 64'd1)));
          nth = nth + 64'd1;
        `ENDLOOP(i)
      end
    endcase
    f_flags = fl[4:0];
  endtask
