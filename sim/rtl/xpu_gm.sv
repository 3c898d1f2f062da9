// xpu_gm: the time of global memory, a model of DRAM. Its contents are the harness's; xpu_fabric asks for them (DPI-C).
//   Requests are 64-byte lines, taken in order, one each cycle while fewer than `outstanding` are on their way. The
//   channel moves one line in line_time/256 cycles. A read is answered `latency` cycles after the channel began with it,
//   a write when it begins. Answers come in the order of the requests, at most one each cycle, held until rsp_ready.
`include "xpu_checks.svh"
module xpu_gm #(
  parameter int unsigned TAG_BITS = 5,
  parameter int unsigned ENTRIES = 128
) (
  input  logic                clk,
  input  logic                rst,
  input  logic [31:0]         cycles_per_edge,
  // run-time registers
  input  logic [15:0]         latency,
  input  logic [15:0]         line_time,   // cycles * 256
  input  logic [15:0]         outstanding, // 1 .. ENTRIES
  input  logic [3:0]          delay,       // added to the latency of a request that is taken now
  // requests
  input  logic                req_valid,
  output logic                req_ready,
  input  logic                req_write,
  input  logic                req_fetch,   // instructions: not counted as read
  input  logic [31:0]         req_address,
  input  logic [63:0]         req_mask,
  input  logic [TAG_BITS-1:0] req_tag,
  // answers
  output logic                rsp_valid,
  input  logic                rsp_ready,
  output logic [TAG_BITS-1:0] rsp_tag,
  output logic                rsp_write,
  output logic [31:0]         rsp_address,
  output logic [63:0]         rsp_mask,    // 0: not counted as read
  output logic                quiet,
  output logic [31:0]         next_event
);
  localparam int unsigned BITS = $clog2(ENTRIES);

  logic [31:0]         now_q;
  logic [39:0]         free_q; // when the channel is free, in 1/256 cycles
  logic [BITS-1:0]     head_q, tail_q;
  logic [BITS:0]       count_q;
  logic [31:0]         head_due_q;
  logic [31:0]         due_q [ENTRIES];
  logic [31:0]         address_q [ENTRIES];
  logic [63:0]         mask_q [ENTRIES];
  logic [ENTRIES-1:0]  write_q;
  logic [TAG_BITS-1:0] tag_q [ENTRIES];

  logic [31:0] left;
  logic        due;
  assign left = head_due_q - now_q;
  assign due = count_q != '0 && (left[31] || left == 32'd0);
  assign req_ready = {{(15-BITS){1'b0}}, count_q} < outstanding;
  assign quiet = !req_valid && !rsp_valid && !due;
  assign next_event = count_q != '0 ? left : 32'hffffffff;

  always_ff @(posedge clk) begin : p_gm
    logic [39:0]  start;
    /* verilator lint_off UNUSEDSIGNAL */
    logic [39:0]  ahead; // of now is the channel's next free cycle
    /* verilator lint_on UNUSEDSIGNAL */
    logic [31:0]  arrives;
    logic         takes, pops;
    logic [31:0]  now; // of this cycle: the edge may stand for cycles without anything before it
    takes = req_valid && req_ready;
    pops = due && (!rsp_valid || rsp_ready);
    now = now_q + cycles_per_edge - 32'd1;
    now_q <= now_q + cycles_per_edge;
    if (rst) begin
      now_q <= 32'd0;
      free_q <= 40'd0;
      head_q <= '0;
      tail_q <= '0;
      count_q <= '0;
      write_q <= '0;
      rsp_valid <= 1'b0;
    end else if (takes || pops || rsp_valid) begin
      arrives = 32'd0;
      if (takes) begin
        ahead = free_q - {now, 8'd0};
        start = ahead[39] ? {now, 8'd0} : free_q;
        free_q <= start + {24'd0, line_time};
        arrives = start[39:8] + (req_write ? 32'd0 : {16'd0, latency}) + {28'd0, delay};
        due_q[tail_q] <= arrives;
        address_q[tail_q] <= req_address;
        mask_q[tail_q] <= req_fetch ? 64'd0 : req_mask;
        write_q[tail_q] <= req_write;
        tag_q[tail_q] <= req_tag;
        tail_q <= tail_q + 1'b1;
      end
      if (pops) begin
        rsp_write <= write_q[head_q];
        rsp_address <= address_q[head_q];
        rsp_mask <= mask_q[head_q];
        rsp_tag <= tag_q[head_q];
        head_q <= head_q + 1'b1;
      end
      if (takes && (count_q == '0 || (pops && count_q == {{BITS{1'b0}}, 1'b1}))) head_due_q <= arrives;
      else if (pops) head_due_q <= due_q[head_q + 1'b1];
      count_q <= count_q + {{BITS{1'b0}}, takes} - {{BITS{1'b0}}, pops};
      rsp_valid <= pops || (rsp_valid && !rsp_ready);
    end
  end

  `CHECK_HELD(req, req_valid, req_ready, {req_write, req_fetch, req_address, req_mask, req_tag})
  `CHECK_HELD(rsp, rsp_valid, rsp_ready, {rsp_tag, rsp_write, rsp_address, rsp_mask})
  `CHECK_ANSWERS(rsp, req_valid && req_ready, rsp_valid && rsp_ready, ENTRIES + 1)
endmodule
