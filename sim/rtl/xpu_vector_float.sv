// xpu_vector_float: the float lanes of the vector unit, 16 of float32: additions, multiplications, fused forms,
//   minimum, maximum, conversions between int32 and float32. Exact: five rounding modes, subnormals, all flags
//   (tininess after rounding), NaN results 7fc00000.
//   Latency 1 cycle, throughput 16 results a cycle, no back-pressure. The stages of xpu_vector before and behind it
//   hold nothing but registers, over which synthesis may spread it.
//   op 0: a * b + c, as the control bits say; 1, 2: minimum, maximum of a and b; 3: a from an integer; 4: a to one.
// Branch-free loops over lanes of 64 bits, see xpu_lanes.svh.
`include "xpu_lanes.svh"
`include "xpu_vector_fma.svh"
module xpu_vector_float (
  input  logic         clk,
  input  logic         valid,
  input  logic [2:0]   op,
  input  logic         add,       // a + b
  input  logic         mul,       // a * b
  input  logic         swap,      // c * b + a; with add: b + a
  input  logic         neg,       // the product is negated
  input  logic         sub,       // what is added is negated
  input  logic         is_signed, // of integers
  input  logic [2:0]   mode,
  input  logic [511:0] a,
  input  logic [511:0] b,
  input  logic [511:0] c,
  input  logic [15:0]  active,    // lanes whose flags count
  output logic [511:0] result,
  output logic [4:0]   flags
);
  (* mem2reg *) logic [63:0] A [16];
  (* mem2reg *) logic [63:0] B [16];
  (* mem2reg *) logic [63:0] C [16];
  (* mem2reg *) logic [63:0] R [16];
  (* mem2reg *) logic [63:0] K [16]; // all ones where flags count

  always_ff @(posedge clk) begin : p_float
    `FLOAT_TEMPS
    logic [63:0] fl, fo, fp, fq, fy, fr_ne, fr_mm, fr_up, fr_dn, fo_p, fo_n;
    int unsigned i;
    // verilator lint_off UNUSEDSIGNAL
    int unsigned z; // keeps loops rolled
    // verilator lint_on UNUSEDSIGNAL
    `FLOAT_ZERO
    fl = 0; fo = 0; fp = 0; fq = 0; fy = 0; fr_ne = 0; fr_mm = 0; fr_up = 0; fr_dn = 0; fo_p = 0; fo_n = 0;
    i = 0; z = 0;
    if (valid) begin
      fr_ne = `FLAG(mode == 3'd0); fr_mm = `FLAG(mode == 3'd4);
      fr_up = `FLAG(mode == 3'd3); fr_dn = `FLAG(mode == 3'd2);
      fo_p = `FLAG(mode == 3'd1 || mode == 3'd2); fo_n = `FLAG(mode == 3'd1 || mode == 3'd3);
      for (int unsigned k = 0; k < 16; k = k + 1) begin
        A[k] = {32'd0, a[32 * k +: 32]};
        B[k] = {32'd0, b[32 * k +: 32]};
        K[k] = active[k] ? ~64'd0 : 64'd0;
      end
      case (op)
        3'd0: begin
          fa = {32'd0, neg, 31'd0}; fb = {32'd0, sub, 31'd0};
          if (add) begin
            if (swap) begin
              `LOOP(i, 16) fc = A[i] ^ fb; A[i] = B[i]; C[i] = fc; B[i] = 64'h3f800000; `ENDLOOP(i)
            end else begin
              `LOOP(i, 16) C[i] = B[i] ^ fb; B[i] = 64'h3f800000; `ENDLOOP(i)
            end
          end else if (mul) begin
            `LOOP(i, 16) C[i] = (A[i] ^ B[i]) & 64'h80000000; `ENDLOOP(i)
          end else begin
            for (int unsigned k = 0; k < 16; k = k + 1) C[k] = {32'd0, c[32 * k +: 32]};
            if (swap) begin
              `LOOP(i, 16) fc = C[i]; C[i] = A[i] ^ fb; A[i] = fc ^ fa; `ENDLOOP(i)
            end else begin
              `LOOP(i, 16) C[i] = C[i] ^ fb; A[i] = A[i] ^ fa; `ENDLOOP(i)
            end
          end
          // The product stands in bits 61:14, what is added in 61:38; the one with the lower exponent is shifted right
          // and keeps a sticky bit. Subnormals need no normalisation before.
          `LOOP(i, 16)
            `VECTOR_FMA
            R[i] = fp != 0 ? 64'h7fc00000 : fx;
            fl = fl | ((fy | (fq << 4)) & K[i]);
          `ENDLOOP(i)
        end
        3'd1, 3'd2: begin
          fd = op == 3'd2 ? ~64'd0 : 64'd0;
          `LOOP(i, 16)
            fa = A[i]; fb = B[i];
            fx = (`FLOAT_KEY(fa) ^ fd) < (`FLOAT_KEY(fb) ^ fd) ? fa : fb;
            fi = `FLOAT_NAN_FLAG(fa); fj = `FLOAT_NAN_FLAG(fb);
            fx = fj != 0 ? fa : fx; fx = fi != 0 ? fb : fx; R[i] = (fi & fj) != 0 ? 64'h7fc00000 : fx;
            fl = fl | ((((fi & ~(fa >> 22)) | (fj & ~(fb >> 22))) & K[i] & 64'd1) << 4);
          `ENDLOOP(i)
        end
        3'd3: begin
          fb = is_signed ? 64'h80000000 : 64'd0;
          `LOOP(i, 16)
            fa = (A[i] ^ fb) - fb; fg = fa >> 63; fs = fg != 0 ? 64'd0 - fa : fa; fe = 64'd1213;
            `FLOAT_NORM(fs, fe)
            fj = `FLAG((fs & 64'h3fffffffff) != 0); fi = (fs >> 38) & 64'd1;
            fx = (fr_ne & fi & (fj | (fs >> 39))) | (fr_mm & fi) | ((fi | fj) & ((fr_up & ~fg) | (fr_dn & fg)));
            fx = (fs >> 39) + (fx & 64'd1) + ((fe - 64'd1025) << 23);
            R[i] = fs == 0 ? 64'd0 : (fg << 31) | fx;
            fl = fl | ((fi | fj) & K[i] & 64'd1);
          `ENDLOOP(i)
        end
        default: begin
          // the magnitude with its half bit below; numbers below a quarter keep a sticky bit
          fb = is_signed ? 64'h80000000 : 64'h100000000; // limit
          fh = {63'd0, is_signed};
          `LOOP(i, 16)
            fa = A[i];
            `VECTOR_TO_INT
            R[i] = fg != 0 ? 64'd0 - fw : fw;
            fl = fl | (((fx << 4) | ((fi | fj) & ~fx & 64'd1)) & K[i]);
          `ENDLOOP(i)
        end
      endcase
      for (int unsigned k = 0; k < 16; k = k + 1) result[32 * k +: 32] <= R[k][31:0];
      flags <= fl[4:0];
    end
  end
endmodule
