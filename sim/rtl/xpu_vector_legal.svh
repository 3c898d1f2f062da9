// Which vector instructions are legal (RVV 1.0, 5.2); included inside of modules behind xpu_vector_decode.svh.
/* verilator lint_off UNUSEDSIGNAL */

// log2 of the registers of a group, of the signed log2 of LMUL.
function automatic logic [1:0] vector_registers(input logic [3:0] lmul);
  vector_registers = lmul[3] ? 2'd0 : lmul[1:0];
endfunction

// A group that exists: its width, its LMUL, its first register.
function automatic logic vector_fits(input logic [4:0] first, input logic [3:0] lmul, input logic [2:0] width);
  vector_fits = width <= 3'd2 && (lmul[3] || lmul <= 4'd3) &&
                (first & ((5'd1 << vector_registers(lmul)) - 5'd1)) == 5'd0;
endfunction

function automatic logic vector_overlap(input logic [4:0] a, input logic [1:0] ra, input logic [4:0] b,
                                        input logic [1:0] rb);
  vector_overlap = (a >> (ra > rb ? ra : rb)) == (b >> (ra > rb ? ra : rb));
endfunction

// The rules for a destination that overlaps a source; wd is 7 for a mask.
function automatic logic vector_may_overlap(input logic [4:0] d, input logic [1:0] rd, input logic [2:0] wd,
                                            input logic [4:0] s, input logic [3:0] lmul, input logic [2:0] ws);
  logic [1:0] rs;
  rs = vector_registers(lmul);
  if (!vector_overlap(d, rd, s, rs) || wd == ws) vector_may_overlap = 1'b1;
  else if (wd == 3'd7 || wd < ws) vector_may_overlap = d == s;
  else vector_may_overlap = !lmul[3] && s == d + (5'd1 << rd) - (5'd1 << rs);
endfunction

function automatic logic vector_legal(input logic [31:0] i, input logic [31:0] of_type, input logic at_start,
                                      input logic [2:0] rounding);
  logic [`VC_BITS-1:0] c;
  logic [4:0] d, s2, s1, all, fields, last;
  logic [3:0] lmul, ld, l2, l1;
  logic [2:0] sew;
  logic [1:0] rd;
  logic spares, fits_d, fits_2, fits_1, good;
  c = vector_decode(i, of_type[4:3]);
  d = i[11:7]; s2 = i[24:20]; s1 = i[19:15];
  sew = {1'b0, of_type[4:3]};
  lmul = {of_type[2], of_type[2:0]};
  ld = c[`VC_TO_MASK] ? 4'd0 : lmul + {c[`VC_WD_SIGN], c[`VC_WD]} - {1'b0, sew};
  l2 = lmul + {c[`VC_W2_SIGN], c[`VC_W2]} - {1'b0, sew};
  l1 = lmul + {c[`VC_W1_SIGN], c[`VC_W1]} - {1'b0, sew};
  rd = vector_registers(ld);
  spares = i[25] || d != 5'd0;
  fits_d = vector_fits(d, ld, c[`VC_WD]);
  fits_2 = vector_fits(s2, l2, c[`VC_W2]);
  fits_1 = !c[`VC_R1] || vector_fits(s1, l1, c[`VC_W1]);
  fields = {2'd0, i[31:29]} + 5'd1;
  all = fields << rd;
  last = 5'd0;
  good = 1'b0;
  case (c[`VC_FORM])
    VF_ELEMENT:
      good = fits_d && fits_2 && fits_1 && spares && vector_may_overlap(d, rd, c[`VC_WD], s2, l2, c[`VC_W2]) &&
             (!c[`VC_R1] || vector_may_overlap(d, rd, c[`VC_WD], s1, l1, c[`VC_W1]));
    VF_TO_MASK:
      good = fits_2 && fits_1 && vector_may_overlap(d, 2'd0, 3'd7, s2, l2, c[`VC_W2]) &&
             (!c[`VC_R1] || vector_may_overlap(d, 2'd0, 3'd7, s1, l1, c[`VC_W1]));
    VF_APART:
      good = fits_d && fits_2 && fits_1 && spares && !vector_overlap(d, rd, s2, vector_registers(l2)) &&
             (!c[`VC_R1] || !vector_overlap(d, rd, s1, vector_registers(l1)));
    VF_COMPRESS:
      good = at_start && fits_d && fits_2 && !vector_overlap(d, rd, s2, vector_registers(l2)) &&
             !vector_overlap(d, rd, s1, 2'd0);
    VF_REDUCE: good = at_start && fits_2 && c[`VC_WD] <= 3'd2;
    VF_ANY: good = 1'b1;
    VF_COUNT: good = at_start;
    VF_SET: good = at_start && d != s2 && spares;
    VF_IOTA: good = at_start && fits_d && spares && !vector_overlap(d, rd, s2, 2'd0);
    VF_ID: good = fits_d && spares;
    VF_MEMORY, VF_INDEXED: begin
      good = fits_d && (i[5] || spares) && {27'd0, fields} << rd <= 32'd8 && {27'd0, d} + {27'd0, all} <= 32'd32;
      if (c[`VC_FORM] == VF_INDEXED) begin
        good = good && vector_fits(s2, l1, c[`VC_W1]);
        if (!i[5]) begin
          last = d + all - 5'd1;
          good = good && (i[31:29] == 3'd0 ? vector_may_overlap(d, rd, c[`VC_WD], s2, l1, c[`VC_W1])
                          : last < s2 || s2 + (5'd1 << vector_registers(l1)) - 5'd1 < d);
        end
      end
    end
    default: ;
  endcase
  if (c[`VC_IS_FLOAT] && (rounding > 3'd4 || (sew != (c[`VC_NARROW] ? 3'd1 : 3'd2)))) good = 1'b0;
  if (of_type[31]) good = 1'b0;
  if (c[`VC_FORM] == VF_WHOLE)
    good = i[6] ? ((d | s2) & i[19:15]) == 5'd0 : (d & {2'd0, i[31:29]}) == 5'd0;
  if ((c[`VC_ZERO_VS2] && s2 != 5'd0) || (c[`VC_UNMASKED] && !i[25])) good = 1'b0;
  vector_legal = good;
endfunction
/* verilator lint_on UNUSEDSIGNAL */
