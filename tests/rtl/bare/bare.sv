// The bare array, the unit of simulation speed: products of one row with 32 x 32 weights, nothing else.
/* verilator lint_off BLKSEQ */
/* verilator lint_off UNUSEDSIGNAL */
`ifdef YOSYS
`define LOOP(i,n) for (i=0; i<(n); i=i+1) begin
`define LOOP4(i,n) for (i=0; i<(n); i=i+4) begin
`define ENDLOOP(i) end
`define ENDLOOP4(i) end
`else
`define LOOP(i,n) i=0; z=0; while (i<(n)) begin
`define LOOP4(i,n) i=0; z=0; while (i<(n)) begin
`define ENDLOOP(i) i=i+1; end
`define ENDLOOP4(i) i=i+4; end
`endif
module bare #(parameter int unsigned K=32, N=32, AW=8, ACC=32)(
  input logic clk, en, w_load, a_valid, input logic [15:0] w_idx,
  input logic [N*AW-1:0] w_row, input logic [K*AW-1:0] a_row,
  output logic y_valid, output logic [N*ACC-1:0] y_row);
  logic [31:0] w_q [K][N];
  logic [31:0] a_q [K];
  logic [31:0] y_q [N];
  logic v1, v2;
  assign y_valid = v2;
  for (genvar g=0;g<N;g++) begin : outputs assign y_row[g*ACC +: ACC] = y_q[g]; end
  always @(posedge clk) begin : p_dot
    int unsigned k, n, z;
    k = 0; n = 0; z = 0;
    if (en && v1) begin
      `LOOP(n,N) y_q[n] = 0; `ENDLOOP(n)
      `LOOP4(k,K)
        `LOOP(n,N) y_q[n] = y_q[n] + a_q[k] * w_q[k][n] + a_q[k+1] * w_q[k+1][n] + a_q[k+2] * w_q[k+2][n] + a_q[k+3] * w_q[k+3][n]; `ENDLOOP(n)
      `ENDLOOP4(k)
    end
    if (en) begin v1 <= a_valid; v2 <= v1; end
  end
  for (genvar g=0;g<K;g++) begin : operands
    always @(posedge clk) if (en && a_valid) a_q[g] <= {{24{a_row[g*AW+AW-1]}},a_row[g*AW +: AW]};
  end
  for (genvar g=0;g<N;g++) begin : weights
    always @(posedge clk) if (w_load) w_q[w_idx[$clog2(K)-1:0]][g] <= {{24{w_row[g*AW+AW-1]}},w_row[g*AW +: AW]};
  end
endmodule
