// Decoding of Zve32f: what the vector unit does with an instruction, and whether it is legal. Included inside of
// modules.
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNUSEDPARAM */
// how the arithmetic pipe works on an instruction
localparam logic [2:0] VK_LANES = 3'd0;  // a register of the result per cycle
localparam logic [2:0] VK_SERIAL = 3'd1; // an element per cycle
localparam logic [2:0] VK_REDUCE = 3'd2; // a register of the source per cycle into one element
localparam logic [2:0] VK_MASK = 3'd3;   // a mask of the whole length in one cycle
localparam logic [2:0] VK_GET = 3'd4;    // to an x or f register
// operations on lanes; x, y, z are the elements of vs2, of vs1 (or the scalar) and of vd
localparam logic [5:0] VO_ADD = 6'd0;
localparam logic [5:0] VO_SUB = 6'd1;
localparam logic [5:0] VO_RSUB = 6'd2;
localparam logic [5:0] VO_MIN = 6'd3;
localparam logic [5:0] VO_MAX = 6'd4;
localparam logic [5:0] VO_AND = 6'd5;
localparam logic [5:0] VO_OR = 6'd6;
localparam logic [5:0] VO_XOR = 6'd7;
localparam logic [5:0] VO_MOVE = 6'd8;    // y
localparam logic [5:0] VO_EXTEND = 6'd9;  // x
localparam logic [5:0] VO_MERGE = 6'd10;
localparam logic [5:0] VO_ADC = 6'd11;
localparam logic [5:0] VO_SBC = 6'd12;
localparam logic [5:0] VO_MADC = 6'd13;
localparam logic [5:0] VO_MSBC = 6'd14;
localparam logic [5:0] VO_SLL = 6'd15;
localparam logic [5:0] VO_SHR = 6'd16;
localparam logic [5:0] VO_MUL = 6'd17;
localparam logic [5:0] VO_MULH = 6'd18;
localparam logic [5:0] VO_MACC = 6'd19;   // z + x * y
localparam logic [5:0] VO_NMSAC = 6'd20;  // z - x * y
localparam logic [5:0] VO_MADD = 6'd21;   // x + z * y
localparam logic [5:0] VO_NMSUB = 6'd22;  // x - z * y
localparam logic [5:0] VO_SADD = 6'd23;
localparam logic [5:0] VO_SSUB = 6'd24;
localparam logic [5:0] VO_AADD = 6'd25;
localparam logic [5:0] VO_ASUB = 6'd26;
localparam logic [5:0] VO_SMUL = 6'd27;
localparam logic [5:0] VO_SSHR = 6'd28;
localparam logic [5:0] VO_CLIP = 6'd29;
localparam logic [5:0] VO_EQ = 6'd30;
localparam logic [5:0] VO_NE = 6'd31;
localparam logic [5:0] VO_LT = 6'd32;
localparam logic [5:0] VO_LE = 6'd33;
localparam logic [5:0] VO_GT = 6'd34;
localparam logic [5:0] VO_ID = 6'd35;
localparam logic [5:0] VO_IOTA = 6'd36;
localparam logic [5:0] VO_SLIDE_UP = 6'd37;
localparam logic [5:0] VO_SLIDE_DOWN = 6'd38;
localparam logic [5:0] VO_SLIDE1_UP = 6'd39;
localparam logic [5:0] VO_SLIDE1_DOWN = 6'd40;
localparam logic [5:0] VO_FMA = 6'd41;    // float additions and multiplications; how, see the fields fma_*
localparam logic [5:0] VO_FSGNJ = 6'd42;
localparam logic [5:0] VO_FSGNJN = 6'd43;
localparam logic [5:0] VO_FSGNJX = 6'd44;
localparam logic [5:0] VO_FMIN = 6'd45;
localparam logic [5:0] VO_FMAX = 6'd46;
localparam logic [5:0] VO_FCLASS = 6'd47;
localparam logic [5:0] VO_FEQ = 6'd48;
localparam logic [5:0] VO_FNE = 6'd49;
localparam logic [5:0] VO_FLT = 6'd50;
localparam logic [5:0] VO_FLE = 6'd51;
localparam logic [5:0] VO_FGT = 6'd52;
localparam logic [5:0] VO_FGE = 6'd53;
localparam logic [5:0] VO_TO_INT = 6'd54;   // x1 field: signed
localparam logic [5:0] VO_FROM_INT = 6'd55;
// of VK_SERIAL
localparam logic [5:0] VS_DIV = 6'd0;
localparam logic [5:0] VS_REM = 6'd1;
localparam logic [5:0] VS_GATHER = 6'd2;
localparam logic [5:0] VS_COMPRESS = 6'd3;
localparam logic [5:0] VS_FDIV = 6'd4;
localparam logic [5:0] VS_FRDIV = 6'd5;
localparam logic [5:0] VS_FSQRT = 6'd6;
localparam logic [5:0] VS_FREC7 = 6'd7;
localparam logic [5:0] VS_FRSQRT7 = 6'd8;
localparam logic [5:0] VS_FREDSUM = 6'd9;
localparam logic [5:0] VS_FREDMIN = 6'd10;
localparam logic [5:0] VS_FREDMAX = 6'd11;
// of VK_MASK: 0 to 7 mask logic by funct6[2:0]
localparam logic [5:0] VM_SBF = 6'd9;
localparam logic [5:0] VM_SOF = 6'd10;
localparam logic [5:0] VM_SIF = 6'd11;
// of VK_GET
localparam logic [5:0] VG_MOVE = 6'd0;
localparam logic [5:0] VG_FMOVE = 6'd1;
localparam logic [5:0] VG_CPOP = 6'd2;
localparam logic [5:0] VG_FIRST = 6'd3;
// rules of legal operands
localparam logic [3:0] VF_NONE = 4'd0;    // not an instruction
localparam logic [3:0] VF_ELEMENT = 4'd1;
localparam logic [3:0] VF_TO_MASK = 4'd2;
localparam logic [3:0] VF_APART = 4'd3;   // vd overlaps no source
localparam logic [3:0] VF_COMPRESS = 4'd4;
localparam logic [3:0] VF_REDUCE = 4'd5;
localparam logic [3:0] VF_ANY = 4'd6;
localparam logic [3:0] VF_COUNT = 4'd7;
localparam logic [3:0] VF_SET = 4'd8;
localparam logic [3:0] VF_IOTA = 4'd9;
localparam logic [3:0] VF_ID = 4'd10;
localparam logic [3:0] VF_WHOLE = 4'd11;
localparam logic [3:0] VF_MEMORY = 4'd12;
localparam logic [3:0] VF_INDEXED = 4'd13;
/* verilator lint_on UNUSEDPARAM */

// Fields of a decoded instruction, 41 bits (Yosys knows no local variables of struct types).
`ifndef XPU_VECTOR_DECODE_SVH
`define XPU_VECTOR_DECODE_SVH
`define VC_BITS 41
`define VC_FORM 40:37          // VF_*
`define VC_KIND 36:34          // VK_*
`define VC_OP 33:28            // VO_*, VS_*, VM_*, VG_*
`define VC_WD 27:25            // log2 of the bytes of an element of vd; above 2: there is none
`define VC_W2 24:22            // of vs2
`define VC_W1 21:19            // of vs1
`define VC_X2 18               // elements of vs2 are signed
`define VC_X1 17               // of vs1
`define VC_R2 16               // vs2 is read as a vector
`define VC_R1 15               // vs1
`define VC_RD 14               // vd, beside elements that keep their value
`define VC_TO_MASK 13          // the result is a mask
`define VC_CARRY 12            // v0 is an operand, not a mask
`define VC_IS_FLOAT 11         // SEW must be 32 (narrow: 16)
`define VC_NARROW 10           // float conversions between widths
`define VC_ZERO_VS2 9          // the field vs2 is 0
`define VC_UNMASKED 8          // bit 25 is 1
`define VC_SCALAR 7            // element 0 only
`define VC_IMMEDIATE 6         // y is the field rs1, unsigned
`define VC_RTZ 5               // rounds towards zero
`define VC_FMA_SWAP 4          // c * b + a instead of a * b + c; of additions b + a
`define VC_FMA_ADD 3           // a + b
`define VC_FMA_MUL 2           // a * b
`define VC_FMA_NEG 1           // the product is negated
`define VC_FMA_SUB 0           // what is added is negated
// the two low bits of the widths; their signs
`define VC_WD_LOW 26:25
`define VC_W2_LOW 23:22
`define VC_W1_LOW 20:19
`define VC_WD_SIGN 27
`define VC_W2_SIGN 24
`define VC_W1_SIGN 21
`endif

// Integer instructions, funct3 0, 3, 4.
function automatic logic [`VC_BITS-1:0] vector_decode_i(input logic [31:0] i, input logic [1:0] sew);
  logic [`VC_BITS-1:0] c;
  logic vv, vi, vx;
  c = '0;
  vv = i[14:12] == 3'd0; vi = i[14:12] == 3'd3; vx = i[14:12] == 3'd4;
  c[`VC_FORM] = VF_ELEMENT;
  c[`VC_WD] = {1'b0, sew}; c[`VC_W2] = {1'b0, sew}; c[`VC_W1] = {1'b0, sew};
  c[`VC_R2] = 1'b1; c[`VC_R1] = vv;
  case (i[31:26])
    6'h00: c[`VC_OP] = VO_ADD;
    6'h02: begin c[`VC_OP] = VO_SUB; if (vi) c[`VC_FORM] = VF_NONE; end
    6'h03: begin c[`VC_OP] = VO_RSUB; if (vv) c[`VC_FORM] = VF_NONE; end
    6'h04, 6'h05, 6'h06, 6'h07: begin
      c[`VC_OP] = i[27] ? VO_MAX : VO_MIN;
      c[`VC_X2] = i[26]; c[`VC_X1] = i[26];
      if (vi) c[`VC_FORM] = VF_NONE;
    end
    6'h09: c[`VC_OP] = VO_AND;
    6'h0a: c[`VC_OP] = VO_OR;
    6'h0b: c[`VC_OP] = VO_XOR;
    6'h0c: begin c[`VC_KIND] = VK_SERIAL; c[`VC_OP] = VS_GATHER; c[`VC_FORM] = VF_APART; c[`VC_IMMEDIATE] = 1'b1; end
    6'h0e: begin
      c[`VC_FORM] = VF_APART; c[`VC_IMMEDIATE] = 1'b1; c[`VC_OP] = VO_SLIDE_UP;
      if (vv) begin c[`VC_KIND] = VK_SERIAL; c[`VC_OP] = VS_GATHER; c[`VC_W1] = 3'd1; end
    end
    6'h0f: begin c[`VC_OP] = VO_SLIDE_DOWN; c[`VC_IMMEDIATE] = 1'b1; if (vv) c[`VC_FORM] = VF_NONE; end
    6'h10: begin c[`VC_OP] = VO_ADC; c[`VC_CARRY] = 1'b1; if (i[25]) c[`VC_FORM] = VF_NONE; end
    6'h11: begin c[`VC_OP] = VO_MADC; c[`VC_CARRY] = 1'b1; c[`VC_FORM] = VF_TO_MASK; c[`VC_TO_MASK] = 1'b1; end
    6'h12: begin c[`VC_OP] = VO_SBC; c[`VC_CARRY] = 1'b1; if (i[25] || vi) c[`VC_FORM] = VF_NONE; end
    6'h13: begin
      c[`VC_OP] = VO_MSBC; c[`VC_CARRY] = 1'b1; c[`VC_FORM] = vi ? VF_NONE : VF_TO_MASK; c[`VC_TO_MASK] = 1'b1;
    end
    6'h17: begin
      c[`VC_OP] = i[25] ? VO_MOVE : VO_MERGE;
      c[`VC_CARRY] = 1'b1; c[`VC_ZERO_VS2] = i[25]; c[`VC_R2] = !i[25];
    end
    6'h18, 6'h19, 6'h1a, 6'h1b, 6'h1c, 6'h1d, 6'h1e, 6'h1f: begin
      c[`VC_FORM] = VF_TO_MASK; c[`VC_TO_MASK] = 1'b1;
      c[`VC_X2] = i[26]; c[`VC_X1] = i[26];
      case (i[28:27])
        2'd0: c[`VC_OP] = i[26] ? VO_NE : VO_EQ;
        2'd1: begin c[`VC_OP] = VO_LT; if (vi) c[`VC_FORM] = VF_NONE; end
        2'd2: c[`VC_OP] = VO_LE;
        default: begin c[`VC_OP] = VO_GT; if (vv) c[`VC_FORM] = VF_NONE; end
      endcase
    end
    6'h20, 6'h21: begin c[`VC_OP] = VO_SADD; c[`VC_X2] = i[26]; c[`VC_X1] = i[26]; end
    6'h22, 6'h23: begin c[`VC_OP] = VO_SSUB; c[`VC_X2] = i[26]; c[`VC_X1] = i[26]; if (vi) c[`VC_FORM] = VF_NONE; end
    6'h25: begin c[`VC_OP] = VO_SLL; c[`VC_IMMEDIATE] = 1'b1; end
    6'h27: begin
      c[`VC_OP] = VO_SMUL; c[`VC_X2] = 1'b1; c[`VC_X1] = 1'b1;
      if (vi) begin
        c[`VC_OP] = VO_EXTEND; c[`VC_X2] = 1'b0; c[`VC_FORM] = VF_WHOLE; c[`VC_UNMASKED] = 1'b1;
        if (i[19:15] != 5'd0 && i[19:15] != 5'd1 && i[19:15] != 5'd3 && i[19:15] != 5'd7) c[`VC_FORM] = VF_NONE;
      end
    end
    6'h28, 6'h29: begin c[`VC_OP] = VO_SHR; c[`VC_X2] = i[26]; c[`VC_IMMEDIATE] = 1'b1; end
    6'h2a, 6'h2b: begin c[`VC_OP] = VO_SSHR; c[`VC_X2] = i[26]; c[`VC_IMMEDIATE] = 1'b1; end
    6'h2c, 6'h2d: begin c[`VC_OP] = VO_SHR; c[`VC_X2] = i[26]; c[`VC_W2] = {1'b0, sew} + 3'd1;
    c[`VC_IMMEDIATE] = 1'b1; end
    6'h2e, 6'h2f: begin c[`VC_OP] = VO_CLIP; c[`VC_X2] = i[26]; c[`VC_W2] = {1'b0, sew} + 3'd1;
    c[`VC_IMMEDIATE] = 1'b1; end
    6'h30, 6'h31: begin
      c[`VC_KIND] = VK_REDUCE; c[`VC_OP] = VO_ADD; c[`VC_FORM] = vv ? VF_REDUCE : VF_NONE; c[`VC_X2] = i[26];
      c[`VC_X1] = i[26];
      c[`VC_WD] = {1'b0, sew} + 3'd1; c[`VC_W1] = c[`VC_WD];
    end
    default: c[`VC_FORM] = VF_NONE;
  endcase
  if (vx) c[`VC_IMMEDIATE] = 1'b0;
  vector_decode_i = c;
endfunction

// Integer instructions, funct3 2 and 6: multiplications, reductions, masks.
function automatic logic [`VC_BITS-1:0] vector_decode_m(input logic [31:0] i, input logic [1:0] sew);
  logic [`VC_BITS-1:0] c;
  logic vv;
  c = '0;
  vv = !i[14];
  c[`VC_FORM] = VF_ELEMENT;
  c[`VC_WD] = {1'b0, sew}; c[`VC_W2] = {1'b0, sew}; c[`VC_W1] = {1'b0, sew};
  c[`VC_R2] = 1'b1; c[`VC_R1] = vv;
  case (i[31:26])
    6'h00, 6'h01, 6'h02, 6'h03, 6'h04, 6'h05, 6'h06, 6'h07: begin
      c[`VC_KIND] = VK_REDUCE; c[`VC_FORM] = vv ? VF_REDUCE : VF_NONE;
      case (i[28:26])
        3'd0: c[`VC_OP] = VO_ADD;
        3'd1: c[`VC_OP] = VO_AND;
        3'd2: c[`VC_OP] = VO_OR;
        3'd3: c[`VC_OP] = VO_XOR;
        default: begin c[`VC_OP] = i[27] ? VO_MAX : VO_MIN; c[`VC_X2] = i[26]; c[`VC_X1] = i[26]; end
      endcase
    end
    6'h08, 6'h09: begin c[`VC_OP] = VO_AADD; c[`VC_X2] = i[26]; c[`VC_X1] = i[26]; end
    6'h0a, 6'h0b: begin c[`VC_OP] = VO_ASUB; c[`VC_X2] = i[26]; c[`VC_X1] = i[26]; end
    6'h0e: begin c[`VC_OP] = VO_SLIDE1_UP; c[`VC_FORM] = vv ? VF_NONE : VF_APART; end
    6'h0f: begin c[`VC_OP] = VO_SLIDE1_DOWN; if (vv) c[`VC_FORM] = VF_NONE; end
    6'h10: begin
      c[`VC_FORM] = VF_ANY;
      if (!vv) begin
        c[`VC_OP] = VO_MOVE; c[`VC_SCALAR] = 1'b1; c[`VC_ZERO_VS2] = 1'b1; c[`VC_UNMASKED] = 1'b1; c[`VC_R2] = 1'b0;
      end else begin
        c[`VC_KIND] = VK_GET; c[`VC_R1] = 1'b0; c[`VC_X2] = 1'b1;
        case (i[19:15])
          5'h00: begin c[`VC_OP] = VG_MOVE; c[`VC_UNMASKED] = 1'b1; end
          5'h10: begin c[`VC_OP] = VG_CPOP; c[`VC_FORM] = VF_COUNT; end
          5'h11: begin c[`VC_OP] = VG_FIRST; c[`VC_FORM] = VF_COUNT; end
          default: c[`VC_FORM] = VF_NONE;
        endcase
      end
    end
    6'h12: begin
      c[`VC_OP] = VO_EXTEND; c[`VC_R1] = 1'b0; c[`VC_X2] = i[15];
      c[`VC_W2] = i[16] ? {1'b0, sew} - 3'd1 : {1'b0, sew} - 3'd2;
      if (!vv || i[19:17] != 3'b001) c[`VC_FORM] = VF_NONE;
    end
    6'h14: begin
      c[`VC_R1] = 1'b0; c[`VC_FORM] = VF_SET; c[`VC_KIND] = VK_MASK;
      case (i[19:15])
        5'h01: c[`VC_OP] = VM_SBF;
        5'h02: c[`VC_OP] = VM_SOF;
        5'h03: c[`VC_OP] = VM_SIF;
        5'h10: begin c[`VC_OP] = VO_IOTA; c[`VC_KIND] = VK_LANES; c[`VC_FORM] = VF_IOTA; end
        5'h11: begin c[`VC_OP] = VO_ID; c[`VC_KIND] = VK_LANES; c[`VC_FORM] = VF_ID; c[`VC_ZERO_VS2] = 1'b1;
        c[`VC_R2] = 1'b0; end
        default: c[`VC_FORM] = VF_NONE;
      endcase
      if (!vv) c[`VC_FORM] = VF_NONE;
    end
    6'h17: begin
      c[`VC_KIND] = VK_SERIAL; c[`VC_OP] = VS_COMPRESS; c[`VC_FORM] = vv ? VF_COMPRESS : VF_NONE;
      c[`VC_UNMASKED] = 1'b1;
    end
    6'h18, 6'h19, 6'h1a, 6'h1b, 6'h1c, 6'h1d, 6'h1e, 6'h1f: begin
      c[`VC_KIND] = VK_MASK; c[`VC_OP] = {3'd0, i[28:26]}; c[`VC_FORM] = vv ? VF_ANY : VF_NONE; c[`VC_UNMASKED] = 1'b1;
    end
    6'h20, 6'h21: begin c[`VC_KIND] = VK_SERIAL; c[`VC_OP] = VS_DIV; c[`VC_X2] = i[26]; c[`VC_X1] = i[26]; end
    6'h22, 6'h23: begin c[`VC_KIND] = VK_SERIAL; c[`VC_OP] = VS_REM; c[`VC_X2] = i[26]; c[`VC_X1] = i[26]; end
    6'h24: c[`VC_OP] = VO_MULH;
    6'h25: c[`VC_OP] = VO_MUL;
    6'h26: begin c[`VC_OP] = VO_MULH; c[`VC_X2] = 1'b1; end
    6'h27: begin c[`VC_OP] = VO_MULH; c[`VC_X2] = 1'b1; c[`VC_X1] = 1'b1; end
    6'h29: begin c[`VC_OP] = VO_MADD; c[`VC_RD] = 1'b1; end
    6'h2b: begin c[`VC_OP] = VO_NMSUB; c[`VC_RD] = 1'b1; end
    6'h2d: begin c[`VC_OP] = VO_MACC; c[`VC_RD] = 1'b1; end
    6'h2f: begin c[`VC_OP] = VO_NMSAC; c[`VC_RD] = 1'b1; end
    6'h30, 6'h31, 6'h32, 6'h33, 6'h34, 6'h35, 6'h36, 6'h37: begin
      c[`VC_OP] = i[27] ? VO_SUB : VO_ADD;
      c[`VC_X2] = i[26]; c[`VC_X1] = i[26];
      c[`VC_WD] = {1'b0, sew} + 3'd1;
      if (i[28]) c[`VC_W2] = c[`VC_WD];
    end
    6'h38, 6'h3a, 6'h3b: begin c[`VC_OP] = VO_MUL; c[`VC_X2] = i[27]; c[`VC_X1] = i[26]; c[`VC_WD] = {1'b0,
        sew} + 3'd1; end
    6'h3c, 6'h3d, 6'h3e, 6'h3f: begin
      c[`VC_OP] = VO_MACC; c[`VC_RD] = 1'b1; c[`VC_WD] = {1'b0, sew} + 3'd1;
      c[`VC_X2] = i[27:26] == 2'd1 || i[27:26] == 2'd2;
      c[`VC_X1] = i[26];
      if (i[27:26] == 2'd2 && vv) c[`VC_FORM] = VF_NONE;
    end
    default: c[`VC_FORM] = VF_NONE;
  endcase
  vector_decode_m = c;
endfunction

// Float instructions, funct3 1 and 5.
function automatic logic [`VC_BITS-1:0] vector_decode_f(input logic [31:0] i, input logic [1:0] sew);
  logic [`VC_BITS-1:0] c;
  logic vv;
  c = '0;
  vv = !i[14];
  c[`VC_FORM] = VF_ELEMENT;
  c[`VC_WD] = {1'b0, sew}; c[`VC_W2] = {1'b0, sew}; c[`VC_W1] = {1'b0, sew};
  c[`VC_R2] = 1'b1; c[`VC_R1] = vv; c[`VC_IS_FLOAT] = 1'b1;
  case (i[31:26])
    6'h00: begin c[`VC_OP] = VO_FMA; c[`VC_FMA_ADD] = 1'b1; end
    6'h02: begin c[`VC_OP] = VO_FMA; c[`VC_FMA_ADD] = 1'b1; c[`VC_FMA_SUB] = 1'b1; end
    6'h27: begin
      c[`VC_OP] = VO_FMA; c[`VC_FMA_ADD] = 1'b1; c[`VC_FMA_SUB] = 1'b1; c[`VC_FMA_SWAP] = 1'b1;
      if (vv) c[`VC_FORM] = VF_NONE;
    end
    6'h24: begin c[`VC_OP] = VO_FMA; c[`VC_FMA_MUL] = 1'b1; end
    6'h28, 6'h29, 6'h2a, 6'h2b, 6'h2c, 6'h2d, 6'h2e, 6'h2f: begin
      c[`VC_OP] = VO_FMA; c[`VC_RD] = 1'b1; c[`VC_FMA_SWAP] = !i[28]; c[`VC_FMA_NEG] = i[26];
      c[`VC_FMA_SUB] = i[26] ^ i[27];
    end
    6'h01, 6'h03, 6'h05, 6'h07: begin
      c[`VC_KIND] = VK_SERIAL; c[`VC_FORM] = vv ? VF_REDUCE : VF_NONE;
      c[`VC_OP] = !i[28] ? VS_FREDSUM : i[27] ? VS_FREDMAX : VS_FREDMIN;
    end
    6'h04: c[`VC_OP] = VO_FMIN;
    6'h06: c[`VC_OP] = VO_FMAX;
    6'h08: c[`VC_OP] = VO_FSGNJ;
    6'h09: c[`VC_OP] = VO_FSGNJN;
    6'h0a: c[`VC_OP] = VO_FSGNJX;
    6'h0e: begin c[`VC_OP] = VO_SLIDE1_UP; c[`VC_FORM] = vv ? VF_NONE : VF_APART; end
    6'h0f: begin c[`VC_OP] = VO_SLIDE1_DOWN; if (vv) c[`VC_FORM] = VF_NONE; end
    6'h10: begin
      c[`VC_FORM] = VF_ANY; c[`VC_UNMASKED] = 1'b1;
      if (!vv) begin
        c[`VC_OP] = VO_MOVE; c[`VC_SCALAR] = 1'b1; c[`VC_ZERO_VS2] = 1'b1; c[`VC_R2] = 1'b0;
      end else begin
        c[`VC_KIND] = VK_GET; c[`VC_OP] = VG_FMOVE; c[`VC_R1] = 1'b0;
        if (i[19:15] != 5'd0) c[`VC_FORM] = VF_NONE;
      end
    end
    6'h12: begin
      c[`VC_R1] = 1'b0;
      c[`VC_RTZ] = i[17];
      case (i[19:15])
        5'h00, 5'h01, 5'h06, 5'h07: begin c[`VC_OP] = VO_TO_INT; c[`VC_X1] = i[15]; end
        5'h02, 5'h03: begin c[`VC_OP] = VO_FROM_INT; c[`VC_X2] = i[15]; c[`VC_RTZ] = 1'b0; end
        5'h0a, 5'h0b: begin
          c[`VC_OP] = VO_FROM_INT; c[`VC_X2] = i[15]; c[`VC_RTZ] = 1'b0; c[`VC_WD] = {1'b0, sew} + 3'd1;
          c[`VC_NARROW] = 1'b1;
        end
        5'h10, 5'h11, 5'h16, 5'h17: begin
          c[`VC_OP] = VO_TO_INT; c[`VC_X1] = i[15]; c[`VC_W2] = {1'b0, sew} + 3'd1; c[`VC_NARROW] = 1'b1;
        end
        default: c[`VC_FORM] = VF_NONE;
      endcase
      if (!vv) c[`VC_FORM] = VF_NONE;
    end
    6'h13: begin
      c[`VC_R1] = 1'b0; c[`VC_KIND] = VK_SERIAL;
      case (i[19:15])
        5'h00: c[`VC_OP] = VS_FSQRT;
        5'h04: c[`VC_OP] = VS_FRSQRT7;
        5'h05: c[`VC_OP] = VS_FREC7;
        5'h10: begin c[`VC_KIND] = VK_LANES; c[`VC_OP] = VO_FCLASS; end
        default: c[`VC_FORM] = VF_NONE;
      endcase
      if (!vv) c[`VC_FORM] = VF_NONE;
    end
    6'h17: begin
      c[`VC_OP] = i[25] ? VO_MOVE : VO_MERGE;
      c[`VC_CARRY] = 1'b1; c[`VC_ZERO_VS2] = i[25]; c[`VC_R2] = !i[25];
      if (vv) c[`VC_FORM] = VF_NONE;
    end
    6'h18, 6'h19, 6'h1b, 6'h1c, 6'h1d, 6'h1f: begin
      c[`VC_FORM] = VF_TO_MASK; c[`VC_TO_MASK] = 1'b1;
      case (i[28:26])
        3'd0: c[`VC_OP] = VO_FEQ;
        3'd1: c[`VC_OP] = VO_FLE;
        3'd3: c[`VC_OP] = VO_FLT;
        3'd4: c[`VC_OP] = VO_FNE;
        3'd5: begin c[`VC_OP] = VO_FGT; if (vv) c[`VC_FORM] = VF_NONE; end
        default: begin c[`VC_OP] = VO_FGE; if (vv) c[`VC_FORM] = VF_NONE; end
      endcase
    end
    6'h20: begin c[`VC_KIND] = VK_SERIAL; c[`VC_OP] = VS_FDIV; end
    6'h21: begin c[`VC_KIND] = VK_SERIAL; c[`VC_OP] = VS_FRDIV; if (vv) c[`VC_FORM] = VF_NONE; end
    default: c[`VC_FORM] = VF_NONE;
  endcase
  vector_decode_f = c;
endfunction

// Loads and stores. wd: bytes of an element of memory, w1: of an index.
function automatic logic [`VC_BITS-1:0] vector_decode_memory(input logic [31:0] i, input logic [1:0] sew);
  logic [`VC_BITS-1:0] c;
  logic power;
  c = '0;
  power = i[31:29] == 3'd0 || i[31:29] == 3'd1 || i[31:29] == 3'd3 || i[31:29] == 3'd7;
  c[`VC_WD] = {1'b0, i[13:12]}; // widths 0, 5, 6: 0, 1, 2 bytes' logarithm
  c[`VC_FORM] = VF_MEMORY;
  if (i[26]) begin
    c[`VC_FORM] = VF_INDEXED;
    c[`VC_W1] = c[`VC_WD];
    c[`VC_WD] = {1'b0, sew};
  end else if (!i[27]) begin
    case (i[24:20])
      5'h00: ;
      5'h08: c[`VC_FORM] = i[25] && power && (!i[5] || i[14:12] == 3'd0) ? VF_WHOLE : VF_NONE;
      5'h0b: c[`VC_FORM] = i[25] && i[31:29] == 3'd0 && i[14:12] == 3'd0 ? VF_ANY : VF_NONE;
      5'h10: if (i[5]) c[`VC_FORM] = VF_NONE;
      default: c[`VC_FORM] = VF_NONE;
    endcase
  end
  if (i[28] || (i[14:12] != 3'd0 && i[14:12] != 3'd5 && i[14:12] != 3'd6)) c[`VC_FORM] = VF_NONE;
  vector_decode_memory = c;
endfunction

function automatic logic [`VC_BITS-1:0] vector_decode(input logic [31:0] i, input logic [1:0] sew);
  if (!i[6]) vector_decode = vector_decode_memory(i, sew);
  else
    case (i[14:12])
      3'd0, 3'd3, 3'd4: vector_decode = vector_decode_i(i, sew);
      3'd2, 3'd6: vector_decode = vector_decode_m(i, sew);
      3'd1, 3'd5: vector_decode = vector_decode_f(i, sew);
      default: vector_decode = '0;
    endcase
endfunction
/* verilator lint_on UNUSEDSIGNAL */
