// Functions of the decode and execute stages of xpu_core; included inside of the module.

// The integer unit.
function automatic logic [31:0] alu(input logic [3:0] op, input logic [31:0] a, input logic [31:0] b);
  case (op)
    ALU_ADD: alu = a + b;
    ALU_SUB: alu = a - b;
    ALU_SLL: alu = a << b[4:0];
    ALU_SLT: alu = {31'd0, (a ^ 32'h80000000) < (b ^ 32'h80000000)};
    ALU_SLTU: alu = {31'd0, a < b};
    ALU_XOR: alu = a ^ b;
    ALU_SRL: alu = a >> b[4:0];
    ALU_SRA: alu = $unsigned($signed(a) >>> b[4:0]);
    ALU_OR: alu = a | b;
    default: alu = a & b;
  endcase
endfunction

// Branch condition by funct3.
function automatic logic branch_taken(input logic [2:0] condition, input logic [31:0] a, input logic [31:0] b);
  case (condition)
    3'd0: branch_taken = a == b;
    3'd1: branch_taken = a != b;
    3'd4: branch_taken = (a ^ 32'h80000000) < (b ^ 32'h80000000);
    3'd5: branch_taken = (a ^ 32'h80000000) >= (b ^ 32'h80000000);
    3'd6: branch_taken = a < b;
    default: branch_taken = a >= b;
  endcase
endfunction

// Float operations of one cycle, FM_*: {invalid flag, result}.
function automatic logic [32:0] float_simple(input logic [3:0] op, input logic [31:0] a, input logic [31:0] b);
  logic nan_a, nan_b, no_signal, less, equal;
  logic [31:0] ka, kb;
  nan_a = a[30:0] > 31'h7f800000;
  nan_b = b[30:0] > 31'h7f800000;
  no_signal = !(nan_a && !a[22]) && !(nan_b && !b[22]);
  ka = a[31] ? ~a : a | 32'h80000000; // in order as unsigned numbers, -0 below +0
  kb = b[31] ? ~b : b | 32'h80000000;
  less = ka < kb;
  equal = a == b || (a[30:0] | b[30:0]) == 31'd0;
  float_simple = {1'b0, a};
  case (op)
    FM_SGNJ: float_simple[31] = b[31];
    FM_SGNJN: float_simple[31] = !b[31];
    FM_SGNJX: float_simple[31] = a[31] ^ b[31];
    FM_MIN, FM_MAX: begin
      float_simple[32] = !no_signal;
      if (nan_a) float_simple[31:0] = nan_b ? 32'h7fc00000 : b;
      else if (!nan_b && (op == FM_MIN ? !less : ka <= kb)) float_simple[31:0] = b;
    end
    FM_LE: float_simple = {nan_a || nan_b, 31'd0, !nan_a && !nan_b && (less || equal)};
    FM_LT: float_simple = {nan_a || nan_b, 31'd0, !nan_a && !nan_b && less && !equal};
    FM_EQ: float_simple = {!no_signal, 31'd0, !nan_a && !nan_b && equal};
    FM_CLASS: begin
      float_simple = 33'd0;
      if (nan_a) float_simple[a[22] ? 9 : 8] = 1'b1;
      else if (a[30:23] == 8'd255) float_simple[a[31] ? 0 : 7] = 1'b1;
      else if (a[30:23] != 8'd0) float_simple[a[31] ? 1 : 6] = 1'b1;
      else if (a[22:0] != 23'd0) float_simple[a[31] ? 2 : 5] = 1'b1;
      else float_simple[a[31] ? 3 : 4] = 1'b1;
    end
    default: ;
  endcase
endfunction

// vtype as the CSR shows it: bit 31 (vill) alone where the chip has no such type.
function automatic logic [31:0] checked_vtype(input logic [31:0] wanted);
  logic [3:0] room; // log2 of the widest element in bytes: of LMUL * 4
  room = {1'b0, wanted[2:0] ^ 3'd4} - 4'd2;
  checked_vtype = wanted[31:8] != 24'd0 || wanted[5:3] > 3'd2 || wanted[2:0] == 3'd4 ||
                  $signed({2'd0, wanted[5:3]}) > $signed({room[3], room})
                  ? 32'h80000000 : wanted;
endfunction

// Elements of a register group of a legal vtype.
function automatic logic [9:0] vector_length_max(input logic [1:0] sew, input logic [2:0] lmul);
  logic [9:0] per_register;
  per_register = 10'd64 >> sew;
  vector_length_max = lmul[2] ? per_register >> (3'd0 - lmul) : per_register << lmul[1:0];
endfunction
