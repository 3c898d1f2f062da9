// Functions of xpu_vector on one element: float operations give {flags, result}. Included inside of the module.
/* verilator lint_off UNUSEDSIGNAL */

// The last register of a group that holds `count` elements of 1 << width bytes.
function automatic logic [4:0] last_register(input logic [4:0] first, input logic [9:0] count, input logic [2:0] width);
  logic [12:0] bytes;
  bytes = {3'd0, count} << width;
  last_register = bytes == 13'd0 ? first : first + bytes[10:6] - (bytes[5:0] == 6'd0 ? 5'd1 : 5'd0);
endfunction

// The register of a group, counted from its first, that holds an element.
function automatic logic [3:0] elements_register(input logic [9:0] element, input logic [2:0] width);
  logic [12:0] bytes;
  bytes = {3'd0, element} << width;
  elements_register = bytes[9:6];
endfunction

// Word i of a mask with the elements first .. last - 1.
function automatic logic [31:0] word_range(input logic [3:0] i, input logic [9:0] first, input logic [9:0] last);
  logic [63:0] mask;
  mask = element_range({1'b0, i, 5'd0}, first, last);
  word_range = mask[31:0];
endfunction

// Set bits.
function automatic logic [31:0] ones(input logic [31:0] value);
  logic [31:0] x;
  x = value - ((value >> 1) & 32'h55555555);
  x = (x & 32'h33333333) + ((x >> 2) & 32'h33333333);
  x = (x + (x >> 4)) & 32'h0f0f0f0f;
  ones = (x * 32'h01010101) >> 24;
endfunction

// Rounds s * 2^x to a float, bit 62 of s standing for the exponent e (biased, plus 1024); bit 0 may be sticky.
function automatic logic [36:0] float_round(input logic sign, input logic [63:0] value, input logic [11:0] exponent,
                                            input logic [2:0] mode);
  logic [63:0] s, t;
  logic [11:0] e, shift;
  logic tiny, carries, inexact, overflow;
  logic [31:0] r;
  s = value; e = exponent;
  if (s[63:31] == 33'd0) begin s = s << 32; e = e - 12'd32; end
  if (s[63:47] == 17'd0) begin s = s << 16; e = e - 12'd16; end
  if (s[63:55] == 9'd0) begin s = s << 8; e = e - 12'd8; end
  if (s[63:59] == 5'd0) begin s = s << 4; e = e - 12'd4; end
  if (s[63:61] == 3'd0) begin s = s << 2; e = e - 12'd2; end
  if (s[63:62] == 2'd0) begin s = s << 1; e = e - 12'd1; end
  tiny = e <= 12'd1024;
  t = s;
  carries = 1'b0;
  if (tiny) begin
    shift = 12'd1025 - e;
    if (shift > 12'd63) shift = 12'd63;
    t = s >> shift[5:0];
    if ((t << shift[5:0]) != s) t[0] = 1'b1;
    carries = e == 12'd1024 && (&s[62:39]) && rounds_up(mode, sign, 1'b1, s[38], s[37:0] != 38'd0);
  end
  inexact = t[38:0] != 39'd0;
  r = {8'd0, t[62:39]} + {31'd0, rounds_up(mode, sign, t[39], t[38], t[37:0] != 38'd0)};
  if (!tiny) r = r + {e[8:0] - 9'd1, 23'd0};
  overflow = !tiny && (e > 12'd1278 || r[31:23] >= 9'd255);
  if (overflow)
    r = mode == 3'd1 || (mode == 3'd2 && !sign) || (mode == 3'd3 && sign) ? 32'h7f7fffff : 32'h7f800000;
  float_round = {2'b00, overflow, tiny && inexact && !carries, inexact || overflow, sign, r[30:0]};
endfunction

// Whether the magnitude is incremented.
function automatic logic rounds_up(input logic [2:0] mode, input logic sign, input logic odd, input logic half,
                                   input logic more);
  case (mode)
    3'd0: rounds_up = half & (more | odd);
    3'd2: rounds_up = sign & (half | more);
    3'd3: rounds_up = ~sign & (half | more);
    3'd4: rounds_up = half;
    default: rounds_up = 1'b0;
  endcase
endfunction

// {exponent, mantissa with its leading one in bit 23} of a finite number that is not 0; the exponent plus 1024.
function automatic logic [35:0] float_fields(input logic [31:0] x);
  logic [23:0] m;
  logic [11:0] e;
  m = {x[30:23] != 8'd0, x[22:0]};
  e = 12'd1024 + {4'd0, x[30:23] == 8'd0 ? 8'd1 : x[30:23]};
  if (m[23:8] == 16'd0) begin m = m << 16; e = e - 12'd16; end
  if (m[23:16] == 8'd0) begin m = m << 8; e = e - 12'd8; end
  if (m[23:20] == 4'd0) begin m = m << 4; e = e - 12'd4; end
  if (m[23:22] == 2'd0) begin m = m << 2; e = e - 12'd2; end
  if (!m[23]) begin m = m << 1; e = e - 12'd1; end
  float_fields = {e, m};
endfunction

function automatic logic is_nan(input logic [31:0] x);
  is_nan = x[30:0] > 31'h7f800000;
endfunction

function automatic logic [36:0] float_add(input logic [31:0] x, input logic [31:0] y, input logic [2:0] mode);
  logic [31:0] a, b;
  logic [7:0] ea, eb, distance;
  logic [63:0] w, t, s;
  a = x[30:0] < y[30:0] ? y : x;
  b = x[30:0] < y[30:0] ? x : y;
  ea = a[30:23] == 8'd0 ? 8'd1 : a[30:23];
  eb = b[30:23] == 8'd0 ? 8'd1 : b[30:23];
  distance = ea - eb;
  if (distance > 8'd63) distance = 8'd63;
  w = {40'd0, b[30:23] != 8'd0, b[22:0]} << 38;
  t = w >> distance[5:0];
  if ((t << distance[5:0]) != w) t[0] = 1'b1;
  s = {40'd0, a[30:23] != 8'd0, a[22:0]} << 38;
  s = a[31] == b[31] ? s + t : s - t;
  if (is_nan(x) || is_nan(y))
    float_add = {(is_nan(x) && !x[22]) || (is_nan(y) && !y[22]), 4'd0, 32'h7fc00000};
  else if (a[30:0] == 31'h7f800000)
    float_add = b[30:0] == 31'h7f800000 && a[31] != b[31] ? {5'd16, 32'h7fc00000} : {5'd0, a};
  else if (s == 64'd0) float_add = {5'd0, a[31] == b[31] ? a[31] : mode == 3'd2, 31'd0};
  else float_add = float_round(a[31], s, {4'd0, ea} + 12'd1025, mode);
endfunction

function automatic logic [36:0] float_divide(input logic [31:0] a, input logic [31:0] b, input logic [2:0] mode);
  logic sign;
  logic [35:0] fa, fb;
  logic [63:0] dividend, divisor, quotient;
  sign = a[31] ^ b[31];
  fa = float_fields(a); fb = float_fields(b);
  dividend = {13'd0, fa[23:0], 27'd0};
  divisor = {40'd0, fb[23:0]};
  if (fb[23:0] == 24'd0) divisor = 64'd1;
  quotient = dividend / divisor;
  if (is_nan(a) || is_nan(b))
    float_divide = {(is_nan(a) && !a[22]) || (is_nan(b) && !b[22]), 4'd0, 32'h7fc00000};
  else if (a[30:0] == 31'h7f800000)
    float_divide = b[30:0] == 31'h7f800000 ? {5'd16, 32'h7fc00000} : {5'd0, sign, 31'h7f800000};
  else if (b[30:0] == 31'd0)
    float_divide = a[30:0] == 31'd0 ? {5'd16, 32'h7fc00000} : {5'd8, sign, 31'h7f800000};
  else if (a[30:0] == 31'd0 || b[30:0] == 31'h7f800000) float_divide = {5'd0, sign, 31'd0};
  else
    float_divide = float_round(sign, quotient << 35 | {63'd0, quotient * divisor != dividend},
                               fa[35:24] - fb[35:24] + 12'd1151, mode);
endfunction

function automatic logic [36:0] float_root(input logic [31:0] a, input logic [2:0] mode);
  logic [35:0] f;
  logic [63:0] radicand, root, rest;
  logic [11:0] e;
  f = float_fields(a);
  e = f[35:24] - 12'd127; // plus 1024
  radicand = {40'd0, f[23:0]} << (e[0] ? 30 : 29);
  if (e[0]) e = e - 12'd1;
  root = 64'd0; rest = 64'd0;
  for (int unsigned k = 0; k < 27; k = k + 1) begin
    rest = rest << 2 | ((radicand >> (52 - 2 * k)) & 64'd3);
    root = root << 1;
    if (rest >= (root << 1 | 64'd1)) begin
      rest = rest - (root << 1 | 64'd1);
      root = root | 64'd1;
    end
  end
  if (is_nan(a)) float_root = {!a[22], 4'd0, 32'h7fc00000};
  else if (a[30:0] == 31'd0) float_root = {5'd0, a};
  else if (a[31]) float_root = {5'd16, 32'h7fc00000};
  else if (a[30:0] == 31'h7f800000) float_root = {5'd0, a};
  else float_root = float_round(1'b0, root << 36 | {63'd0, rest != 64'd0}, (e >> 1) + 12'd639, mode);
endfunction

function automatic logic [36:0] float_reciprocal7(input logic [31:0] a, input logic [2:0] mode);
  logic [35:0] f;
  logic [11:0] to;
  logic [31:0] result;
  f = float_fields(a);
  result = (32'd131072 / (32'd257 + {24'd0, f[22:16], 1'b0}) + 32'd1) >> 1;
  result = {9'd0, result[6:0], 16'd0};
  to = 12'd1277 - f[35:24]; // the result's exponent: from -1 up
  if (is_nan(a)) float_reciprocal7 = {!a[22], 4'd0, 32'h7fc00000};
  else if (a[30:0] == 31'h7f800000) float_reciprocal7 = {5'd0, a[31], 31'd0};
  else if (a[30:0] == 31'd0) float_reciprocal7 = {5'd8, a[31], 31'h7f800000};
  else if (f[35:24] < 12'd1023)
    float_reciprocal7 = {5'd5, a[31], mode == 3'd1 || (mode == 3'd2 && !a[31]) || (mode == 3'd3 && a[31])
                                          ? 31'h7f7fffff : 31'h7f800000};
  else if (to[11] || to == 12'd0) float_reciprocal7 = {5'd0, a[31], {result[30:24], 1'b1, result[22:0]} >>
                                                                      (to[11] ? 2 : 1)};
  else float_reciprocal7 = {5'd0, a[31], to[7:0], result[22:0]};
endfunction

function automatic logic [36:0] float_root_reciprocal7(input logic [31:0] a);
  logic [35:0] f;
  logic [11:0] to;
  logic [31:0] middle, y, t;
  f = float_fields(a);
  middle = f[24] ? 32'd129 + {25'd0, f[22:17], 1'b0} : 32'd258 + {24'd0, f[22:17], 2'b00};
  if (f[24]) middle = 32'd129 + {25'd0, f[22:17], 1'b0};
  y = 32'd128;
  for (int unsigned k = 0; k < 7; k = k + 1) begin
    t = y + (32'd64 >> k);
    if ((t * 32'd2 - 32'd1) * (t * 32'd2 - 32'd1) * middle < 32'd33554432) y = t;
  end
  to = (12'd1404 - f[35:24]) >> 1;
  if (a[30:0] == 31'd0) float_root_reciprocal7 = {5'd8, a[31], 31'h7f800000};
  else if (is_nan(a)) float_root_reciprocal7 = {!a[22], 4'd0, 32'h7fc00000};
  else if (a[31]) float_root_reciprocal7 = {5'd16, 32'h7fc00000};
  else if (a[30:0] == 31'h7f800000) float_root_reciprocal7 = 37'd0;
  else float_root_reciprocal7 = {5'd0, 1'b0, to[7:0], y[6:0], 16'd0};
endfunction

// The lesser, or the greater, of two.
function automatic logic [36:0] float_extreme(input logic [31:0] a, input logic [31:0] b, input logic greater);
  logic [31:0] ka, kb, result;
  ka = a[31] ? ~a : a | 32'h80000000;
  kb = b[31] ? ~b : b | 32'h80000000;
  result = (greater ? ka > kb : ka < kb) ? a : b;
  if (is_nan(b)) result = a;
  if (is_nan(a)) result = is_nan(b) ? 32'h7fc00000 : b;
  float_extreme = {(is_nan(a) && !a[22]) || (is_nan(b) && !b[22]), 4'd0, result};
endfunction

// Quotient or remainder of extended integers.
function automatic logic [63:0] divide(input logic [63:0] x, input logic [63:0] y, input logic remainder);
  logic [63:0] mx, my, result;
  mx = x[63] ? 64'd0 - x : x;
  my = y[63] ? 64'd0 - y : y;
  if (y == 64'd0) divide = remainder ? x : ~64'd0;
  else begin
    result = remainder ? mx % my : mx / my;
    divide = x[63] ^ (y[63] && !remainder) ? 64'd0 - result : result;
  end
endfunction
/* verilator lint_on UNUSEDSIGNAL */
