// xpu_core_fpu: float32 arithmetic of the scalar core: add, sub, mul, the four fused forms, div, sqrt, conversions from
// and to integers. Exact: five rounding modes, subnormals, all flags (tininess after rounding), NaN results 7fc00000.
//   Latency, from issue to issue of a user: 4 cycles (three stages, then the register file); div 31, sqrt 30, but 4 for
//   special operands. Throughput: one operation a cycle; one div or sqrt at a time, beside the others.
//   Back-pressure: none; the core starts no second div or sqrt before done_divide.
//   A finished div or sqrt enters the third stage in a cycle in which no other operation does.
module xpu_core_fpu (
  input  logic        clk,
  input  logic        rst,
  input  logic        valid,
  input  logic [3:0]  op,          // FPU_*
  input  logic [2:0]  rm,          // 0 to 4
  input  logic [31:0] a,
  input  logic [31:0] b,
  input  logic [31:0] c,
  input  logic [5:0]  rd,
  input  logic [3:0]  tag,
  output logic        done,
  output logic        done_divide,
  output logic [31:0] result,
  output logic [4:0]  flags,       // NV DZ OF UF NX
  output logic [5:0]  result_rd,
  output logic [3:0]  result_tag
);
  `include "xpu_core_ops.svh"

  localparam logic [31:0] SIGN = 32'h80000000;
  localparam logic [31:0] ONE = 32'h3f800000;
  localparam logic [31:0] INFINITY = 32'h7f800000;
  localparam logic [31:0] NAN = 32'h7fc00000;
  localparam logic [4:0] NX = 5'd1;
  localparam logic [4:0] DZ = 5'd8;
  localparam logic [4:0] NV = 5'd16;

  // Whether the magnitude is incremented.
  function automatic logic round_up(input logic [2:0] mode, input logic sign, input logic odd, input logic half,
                                    input logic rest);
    case (mode)
      3'd0: round_up = half & (rest | odd);
      3'd2: round_up = sign & (half | rest);
      3'd3: round_up = ~sign & (half | rest);
      3'd4: round_up = half;
      default: round_up = 1'b0;
    endcase
  endfunction

  // Leading zeros of a 24-bit number that is not 0.
  function automatic logic [4:0] zeros24(input logic [23:0] value);
    logic [23:0] v;
    v = value;
    zeros24 = 5'd0;
    if (v[23:8] == 16'd0) begin v = v << 16; zeros24 = 5'd16; end
    if (v[23:16] == 8'd0) begin v = v << 8; zeros24 = zeros24 + 5'd8; end
    if (v[23:20] == 4'd0) begin v = v << 4; zeros24 = zeros24 + 5'd4; end
    if (v[23:22] == 2'd0) begin v = v << 2; zeros24 = zeros24 + 5'd2; end
    if (!v[23]) zeros24 = zeros24 + 5'd1;
  endfunction

  // Stage 1 to 2. Values are x * 2^(ex - 1213) with the binary point so that a normal number has bit 62 set.
  logic        s1_valid_q, s1_special_q, s1_sub_q, s1_sign_q, s1_divides_q;
  logic [63:0] s1_x_q, s1_w_q;
  logic [5:0]  s1_shift_q;
  logic [11:0] s1_ex_q;
  logic [31:0] s1_result_q;
  logic [4:0]  s1_flags_q;
  logic [2:0]  s1_rm_q;
  logic [5:0]  s1_rd_q;
  logic [3:0]  s1_tag_q;
  // Stage 2 to 3.
  logic        s2_valid_q, s2_special_q, s2_sign_q, s2_divides_q;
  logic [63:0] s2_s_q;
  logic [11:0] s2_ex_q;
  logic [31:0] s2_result_q;
  logic [4:0]  s2_flags_q;
  logic [2:0]  s2_rm_q;
  logic [5:0]  s2_rd_q;
  logic [3:0]  s2_tag_q;
  // Division and square root: one bit of the result per cycle.
  logic        it_busy_q, it_root_q, it_sign_q;
  logic [4:0]  it_count_q;
  logic [27:0] it_rest_q;
  logic [26:0] it_quotient_q;
  logic [23:0] it_divisor_q;
  logic [51:0] it_radicand_q;
  logic [11:0] it_ex_q;
  logic [2:0]  it_rm_q;
  logic [5:0]  it_rd_q;
  logic [3:0]  it_tag_q;

  // Stages run from the last to the first, so each sees what the one before had. Temporaries are cleared first.
  logic done_q; // what `done` shows
  always_ff @(posedge clk) begin : p_fpu
    logic [31:0] xa, xb, xc, special_result, magnitude, r;
    logic        sa, sp, sc, special, nan_a, nan_b, nan_c, inf_p, zero_a, zero_b, zero_c, inf_c, swap, up, invalid;
    logic        is_signed, half, rest, negative, take_iterative, inexact, tiny, overflow, carries, fits;
    logic [11:0] ea, eb, ec, ex, distance, field, shift;
    logic [23:0] ma, mb, mc;
    logic [4:0]  zeros, special_flags;
    logic [47:0] product;
    logic [63:0] x, w, s, t, aligned, sum;
    logic [49:0] shifted;
    logic [32:0] rounded, most;
    logic [27:0] trial, it_next;
    xa = 32'd0; xb = 32'd0; xc = 32'd0; special_result = 32'd0; magnitude = 32'd0; r = 32'd0;
    sa = 1'b0; sp = 1'b0; sc = 1'b0; special = 1'b0; nan_a = 1'b0; nan_b = 1'b0; nan_c = 1'b0; inf_p = 1'b0;
    zero_a = 1'b0; zero_b = 1'b0; zero_c = 1'b0; inf_c = 1'b0; swap = 1'b0; up = 1'b0; invalid = 1'b0;
    is_signed = 1'b0; half = 1'b0; rest = 1'b0; negative = 1'b0; take_iterative = 1'b0; inexact = 1'b0;
    tiny = 1'b0; overflow = 1'b0; carries = 1'b0; fits = 1'b0;
    ea = 12'd0; eb = 12'd0; ec = 12'd0; ex = 12'd0; distance = 12'd0; field = 12'd0; shift = 12'd0;
    ma = 24'd0; mb = 24'd0; mc = 24'd0; zeros = 5'd0; special_flags = 5'd0; product = 48'd0;
    x = 64'd0; w = 64'd0; s = 64'd0; t = 64'd0; aligned = 64'd0; sum = 64'd0; shifted = 50'd0;
    rounded = 33'd0; most = 33'd0; trial = 28'd0; it_next = 28'd0;
    if (rst) begin
      s1_valid_q = 1'b0;
      s2_valid_q = 1'b0;
      it_busy_q = 1'b0;
      done_q = 1'b0;
      done <= 1'b0;
      done_divide <= 1'b0;
    end else if (valid || s1_valid_q || s2_valid_q || it_busy_q || done_q) begin
      // ---- Stage 3: normalisation and rounding ----
      done <= s2_valid_q;
      done_q = s2_valid_q;
      done_divide <= s2_valid_q && s2_divides_q;
      if (s2_valid_q) begin
        result_rd <= s2_rd_q;
        result_tag <= s2_tag_q;
        if (s2_special_q) begin
          result <= s2_result_q;
          flags <= s2_flags_q;
        end else begin
          s = s2_s_q;
          field = s2_ex_q;
          if (s[63:31] == 33'd0) begin s = s << 32; field = field - 12'd32; end
          if (s[63:47] == 17'd0) begin s = s << 16; field = field - 12'd16; end
          if (s[63:55] == 9'd0) begin s = s << 8; field = field - 12'd8; end
          if (s[63:59] == 5'd0) begin s = s << 4; field = field - 12'd4; end
          if (s[63:61] == 3'd0) begin s = s << 2; field = field - 12'd2; end
          if (s[63:62] == 2'd0) begin s = s << 1; field = field - 12'd1; end
          tiny = $signed(field) <= 12'sd1024;
          t = s;
          if (tiny) begin
            shift = 12'd1025 - field;
            if (shift > 12'd63) shift = 12'd63;
            t = s >> shift[5:0];
            if ((t << shift[5:0]) != s) t[0] = 1'b1;
            // rounded to 24 bits without a bound of the exponent, it may reach the least normal number
            carries = field == 12'd1024 && (&s[62:39]) &&
                      round_up(s2_rm_q, s2_sign_q, 1'b1, s[38], s[37:0] != 38'd0);
          end
          inexact = t[38:0] != 39'd0;
          up = round_up(s2_rm_q, s2_sign_q, t[39], t[38], t[37:0] != 38'd0);
          r = {8'd0, t[62:39]} + {31'd0, up};
          if (!tiny) r = r + {field[8:0] - 9'd1, 23'd0}; // the leading one adds the rest
          overflow = !tiny && (field > 12'd1278 || r[31:23] >= 9'd255);
          if (overflow)
            r = s2_rm_q == 3'd1 || (s2_rm_q == 3'd2 && !s2_sign_q) || (s2_rm_q == 3'd3 && s2_sign_q)
                ? 32'h7f7fffff : INFINITY;
          result <= {s2_sign_q, r[30:0]};
          flags <= {2'b00, overflow, tiny && inexact && !carries, inexact || overflow};
          if (s2_s_q == 64'd0) begin
            result <= {s2_sign_q, 31'd0};
            flags <= 5'd0;
          end
        end
      end

      // ---- Stage 2: alignment and sum ----
      take_iterative = it_busy_q && it_count_q == 5'd0 && !s1_valid_q;
      s2_valid_q = s1_valid_q || take_iterative;
      s2_divides_q = s1_valid_q ? s1_divides_q : take_iterative;
      if (s1_valid_q) begin
        aligned = s1_w_q >> s1_shift_q;
        if ((aligned << s1_shift_q) != s1_w_q) aligned[0] = 1'b1;
        sum = s1_sub_q ? s1_x_q - aligned : s1_x_q + aligned;
        negative = sum[63];
        s2_s_q = negative ? ~sum + 64'd1 : sum;
        s2_sign_q = sum == 64'd0 && s1_sub_q ? s1_rm_q == 3'd2 : s1_sign_q ^ negative;
        s2_ex_q = s1_ex_q + 12'd1;
        s2_special_q = s1_special_q;
        s2_result_q = s1_result_q;
        s2_flags_q = s1_flags_q;
        s2_rm_q = s1_rm_q;
        s2_rd_q = s1_rd_q;
        s2_tag_q = s1_tag_q;
      end else if (take_iterative) begin
        s2_s_q = it_root_q ? {1'b0, it_quotient_q[25:0], 36'd0, it_rest_q != 28'd0}
                            : {1'b0, it_quotient_q, 35'd0, it_rest_q != 28'd0};
        s2_sign_q = it_sign_q;
        s2_ex_q = it_ex_q;
        s2_special_q = 1'b0;
        it_busy_q = 1'b0;
        s2_rm_q = it_rm_q;
        s2_rd_q = it_rd_q;
        s2_tag_q = it_tag_q;
      end

      // ---- Division and square root ----
      if (it_busy_q) begin
        it_next = it_root_q ? {it_rest_q[25:0], it_radicand_q[51:50]} : it_rest_q;
        trial = it_root_q ? {it_quotient_q[25:0], 2'd1} : {4'd0, it_divisor_q};
        fits = it_next >= trial;
        if (it_count_q != 5'd0) begin
          it_next = fits ? it_next - trial : it_next;
          it_rest_q = it_root_q ? it_next : {it_next[26:0], 1'b0};
          it_quotient_q = {it_quotient_q[25:0], fits};
          it_radicand_q = {it_radicand_q[49:0], 2'd0};
          it_count_q = it_count_q - 5'd1;
        end
      end

      // ---- Stage 1: operands, product, distance of the exponents; results that need no arithmetic ----
      s1_valid_q = 1'b0;
      if (valid) begin
        xa = a;
        xb = b;
        xc = c;
        case (op)
          FPU_ADD: begin xb = ONE; xc = b; end
          FPU_SUB: begin xb = ONE; xc = b ^ SIGN; end
          FPU_MUL: xc = (a ^ b) & SIGN;
          FPU_MSUB: xc = c ^ SIGN;
          FPU_NMSUB: xa = a ^ SIGN;
          FPU_NMADD: begin xa = a ^ SIGN; xc = c ^ SIGN; end
          FPU_DIV: xc = 32'd0;
          FPU_SQRT, FPU_TO_INT, FPU_TO_UINT: begin xb = ONE; xc = 32'd0; end
          default: ;
        endcase
        sa = xa[31];
        sp = xa[31] ^ xb[31];
        sc = xc[31];
        ea = {4'd0, xa[30:23]};
        eb = {4'd0, xb[30:23]};
        ec = {4'd0, xc[30:23]};
        ma = {ea != 12'd0, xa[22:0]};
        mb = {eb != 12'd0, xb[22:0]};
        mc = {ec != 12'd0, xc[22:0]};
        nan_a = ea == 12'd255 && xa[22:0] != 23'd0;
        nan_b = eb == 12'd255 && xb[22:0] != 23'd0;
        nan_c = ec == 12'd255 && xc[22:0] != 23'd0;
        zero_a = ma == 24'd0;
        zero_b = mb == 24'd0;
        zero_c = mc == 24'd0;
        invalid = (nan_a && !xa[22]) || (nan_b && !xb[22]) || (nan_c && !xc[22]);
        inf_c = ec == 12'd255;
        if (ea == 12'd0) begin
          zeros = zeros24(ma);
          ma = ma << zeros;
          ea = 12'd1 - {7'd0, zeros};
        end
        if (eb == 12'd0) begin
          zeros = zeros24(mb);
          mb = mb << zeros;
          eb = 12'd1 - {7'd0, zeros};
        end
        if (ec == 12'd0) ec = 12'd1;
        case (op)
          FPU_DIV: begin
            inf_p = ea == 12'd255;
            inf_c = eb == 12'd255;
            special = inf_p || inf_c || zero_a || zero_b;
            if (nan_a || nan_b || (inf_p && inf_c) || (zero_a && zero_b)) begin
              special_result = NAN;
              invalid = invalid || !(nan_a || nan_b);
            end else if (inf_p || zero_b) begin
              special_result = {sp, INFINITY[30:0]};
              special_flags = inf_p ? 5'd0 : DZ;
            end else begin
              special_result = {sp, 31'd0};
            end
            if (invalid) special_flags = NV;
            ex = 12'd1151 + ea - eb;
          end
          FPU_SQRT: begin
            special = ea == 12'd255 || zero_a || sa;
            special_result = xa;
            if (nan_a || (sa && !zero_a)) begin
              special_result = NAN;
              if (invalid || !nan_a) special_flags = NV;
            end
            ex = ea - 12'd127; // the real exponent; its parity goes into the radicand
            ex = 12'd1151 + {ex[11], ex[11:1]};
          end
          FPU_TO_INT, FPU_TO_UINT: begin
            special = 1'b1;
            is_signed = op == FPU_TO_INT;
            ma = {xa[30:23] != 8'd0, xa[22:0]};
            ea = {4'd0, xa[30:23] == 8'd0 ? 8'd1 : xa[30:23]};
            if (ea >= 12'd150) begin
              distance = ea - 12'd150;
              rounded = {9'd0, ma} << distance[3:0];
              if (ea > 12'd158) rounded = 33'h1ffffffff;
            end else begin
              distance = 12'd150 - ea;
              if (distance > 12'd26) distance = 12'd26;
              shifted = {ma, 26'd0} >> distance[4:0];
              half = shifted[25];
              rest = shifted[24:0] != 25'd0;
              up = round_up(rm, sa, shifted[26], half, rest);
              rounded = {9'd0, shifted[49:26]} + {32'd0, up};
            end
            if (nan_a) sa = 1'b0;
            most = is_signed ? (sa ? 33'h080000000 : 33'h07fffffff) : sa ? 33'd0 : 33'h0ffffffff;
            if (rounded > most) begin
              rounded = most;
              special_flags = NV;
            end else if (half || rest) begin
              special_flags = NX;
            end
            special_result = sa ? ~rounded[31:0] + 32'd1 : rounded[31:0];
          end
          FPU_FROM_INT, FPU_FROM_UINT: begin
            sp = op == FPU_FROM_INT && a[31];
            sc = sp;
            magnitude = sp ? ~a + 32'd1 : a;
            special = a == 32'd0;
            x = {1'b0, magnitude, 31'd0};
            ex = 12'd1181;
          end
          default: begin
            inf_p = ea == 12'd255 || eb == 12'd255;
            invalid = invalid || (inf_p && (zero_a || zero_b) && !nan_a && !nan_b);
            special = 1'b1;
            if (nan_a || nan_b || nan_c || (inf_p && (zero_a || zero_b))) begin
              special_result = NAN;
            end else if (inf_p) begin
              special_result = {sp, INFINITY[30:0]};
              if (inf_c && sp != sc) begin
                special_result = NAN;
                invalid = 1'b1;
              end
            end else if (inf_c) begin
              special_result = xc;
            end else if (zero_a || zero_b) begin
              special_result = !zero_c || sp == sc ? xc : rm == 3'd2 ? SIGN : 32'd0;
            end else begin
              special = 1'b0;
            end
            if (invalid) special_flags = NV;
            product = {24'd0, ma} * {24'd0, mb};
            x = {2'd0, product, 14'd0};
            w = {2'd0, mc, 38'd0};
            ex = ea + eb + 12'd898;
            ec = zero_c ? 12'd0 : ec + 12'd1024;
            swap = $signed(ec) > $signed(ex);
            distance = swap ? ec - ex : ex - ec;
          end
        endcase
        if ((op == FPU_DIV || op == FPU_SQRT) && !special) begin
          it_busy_q = 1'b1;
          it_root_q = op == FPU_SQRT;
          it_count_q = op == FPU_SQRT ? 5'd26 : 5'd27;
          it_sign_q = sp;
          it_rest_q = op == FPU_SQRT ? 28'd0 : {4'd0, ma};
          it_quotient_q = 27'd0;
          it_divisor_q = mb;
          // bits 51:50 are the first pair; an odd exponent doubles the radicand
          it_radicand_q = ea[0] ? {1'b0, ma, 27'd0} : {ma, 28'd0};
          it_ex_q = ex;
          it_rm_q = rm;
          it_rd_q = rd;
          it_tag_q = tag;
        end else begin
          s1_valid_q = 1'b1;
          s1_special_q = special;
          s1_divides_q = op == FPU_DIV || op == FPU_SQRT;
          s1_result_q = special_result;
          s1_flags_q = special_flags;
          s1_x_q = swap ? w : x;
          s1_w_q = swap ? x : w;
          s1_shift_q = distance > 12'd63 ? 6'd63 : distance[5:0];
          s1_ex_q = swap ? ec : ex;
          s1_sign_q = swap ? sc : sp;
          s1_sub_q = sp ^ sc;
          s1_rm_q = rm;
          s1_rd_q = rd;
          s1_tag_q = tag;
        end
      end
    end
  end
endmodule
