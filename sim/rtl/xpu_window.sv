// Window engine: takes descriptors of kind window (and nop, which completes at once) whose waits hold, and executes them
// in order as sim/func/window.c does: depthwise convolution, maximum and sum over windows, CHANNELS channels at a time.
//
// A descriptor is cut into jobs: groups of CHANNELS channels, and of each group stripes of output columns, so that the
// input columns of a stripe fit a line buffer. Up to four descriptors are inside: while one drains through the
// post-processor, the next one is computed and lines of the one behind it are fetched. So a descriptor must not read what
// one before it writes without a wait between them. desc_done pulses once per descriptor, in order, when all it wrote is
// visible.
//
// Latency: 5 cycles from desc_valid to the first line read. Throughput: see xpu_window_lines (input) and
// xpu_window_taps (9 taps of all channels a cycle). Back-pressure: desc and desc_valid hold until desc_ready, which comes
// after one cycle or more, not while four descriptors are inside. Each memory port takes a request when valid and ready,
// and answers come in order, at any time later. Rules and addresses of a descriptor are checked before it is taken, in
// the order of the functional engine, but for w_absmax, which stands in memory. Faults are sticky and come when all
// descriptors before are done: the engine takes and completes no further one.
`include "xpu_lanes.svh"
`include "xpu_checks.svh"
module xpu_window #(
    parameter int unsigned CHANNELS = 8,       // of a group: 8, 16 or 32
    parameter int unsigned LINE_ROWS = 8,      // line buffers, at least xpu_chip_pkg::WINDOW_KERNEL
    parameter int unsigned LINE_BYTES = 1024,  // of a line buffer, at least 16 pixels of CHANNELS int16
    parameter int unsigned CORES = 1,
    parameter int unsigned LM_BYTES = 16384,
    parameter int unsigned SM_BYTES = 32768,
    parameter int unsigned L3_BYTES = 65536,
    parameter int unsigned GM_BYTES = 268435456
) (
    input logic clk,
    input logic rst,
    // The engine has no timer: nothing in it depends on how many cycles an edge stands for
    /* verilator lint_off UNUSEDSIGNAL */
    input logic [31:0] cycles_per_edge,
    /* verilator lint_on UNUSEDSIGNAL */
    input logic desc_valid,
    output logic desc_ready,
    input logic [1023:0] desc,
    output logic desc_done,
    // x: pixels, weights and start values; s: the post-processor's reads
    output logic x_valid,
    input logic x_ready,
    output logic [31:0] x_address,
    input logic x_done,
    input logic [511:0] x_rdata,
    output logic s_valid,
    input logic s_ready,
    output logic [31:0] s_address,
    input logic s_done,
    input logic [511:0] s_rdata,
    output logic y_valid,
    input logic y_ready,
    output logic [31:0] y_address,
    output logic [511:0] y_wdata,
    output logic [63:0] y_mask,
    input logic y_done,
    output logic fault_valid,
    output logic [3:0] fault_cause,
    output logic [31:0] fault_address,
    output logic quiet,
    output logic [31:0] next_event,
    output logic [4:0] state
);
  localparam int unsigned COLUMNS = CHANNELS;  // of a job of the post-processor
  localparam int unsigned LANES = CHANNELS;
  localparam int unsigned LINES = 8;  // asked for and not used yet, of each operand
  // The descriptor, while it is looked at
  /* verilator lint_off UNUSEDSIGNAL */  // some fields matter elsewhere
  xpu_chip_pkg::desc_window_t in;
  /* verilator lint_on UNUSEDSIGNAL */

  // Of a descriptor the first cycle multiplies its sizes, the next one looks at its rules, and in the third it is taken and
  // goes to all parts at once
  logic sized, taken;
  logic [31:0] in_places, in_x_rows, in_x_places, in_taps, in_span_h, in_span_w;  // of outputs, x, weights, windows
  logic [2:0] count;  // descriptors inside
  logic [1:0] oldest;
  logic done, faulty, alive, alive_q;

  assign next_event = 32'hffffffff;
  assign quiet = !alive_q && !desc_valid;

`include "xpu_rules.svh"

  // The parts, as in the tensor engine: each keeps its state and has a task that is its step
`include "xpu_window_jobs.svh"
`include "xpu_window_taps.svh"
`include "xpu_window_lines.svh"
  // What the post-processor asks of the descriptor that is taken
  logic in_posts, in_drains, in_starts, in_adds, in_raw;
`include "xpu_tensor_post.svh"

  task automatic step_front;
    logic is_bad, wide, quantised, absmax_fits, go;
    logic [3:0] cause;
    logic [31:0] fault_at, places;
    logic [63:0] bytes;
    logic [1:0] xs, ws, ys, bs;
    is_bad = 0; wide = 0; quantised = 0; absmax_fits = 1; go = 0; cause = NO_FAULT; fault_at = 0; bytes = 0; places = 0;
    xs = 0; ws = 0; ys = 0; bs = 0;
    if (rst) begin
      sized = 0; taken = 0; count = 0; oldest = 0; done = 0; faulty = 0; fault_cause <= NO_FAULT; fault_address <= 0;
    end else begin
      done = 0;
      // The one whose w_absmax cannot be read is the oldest now
      if (failed != NO_FAULT && oldest == p_setup[1:0] && !faulty) begin
        faulty = 1; fault_address <= failed_at; fault_cause <= failed;
      end
      if (drained && !faulty) begin
        done = 1; oldest = oldest + 1; count = count - 1;
      end
      // The next descriptor
      go = desc_valid && !taken && count != 4 && 3'(p_write - p_start) < 4 && 3'(p_write - p_setup) < 4 && !faulty;
      taken = 0;
      if (go && !sized) begin
        in = desc; sized = 1; in_places = 32'(in.oh) * 32'(in.ow); in_taps = 32'(in.kh) * 32'(in.kw);
        in_x_rows = in.x_ring_rows != 0 ? 32'(in.x_ring_rows) : 32'(in.tile_rows);
        in_x_places = in_x_rows * 32'(in.tile_cols);
        in_span_h = (32'(in.kh) - 1) * 32'(in.dilation_h) + 1; in_span_w = (32'(in.kw) - 1) * 32'(in.dilation_w) + 1;
      end else if (go) begin
        sized = 0; places = in_places;
        wide = in.mode != xpu_chip_pkg::OPERANDS_8X8; quantised = in.post_mode == xpu_chip_pkg::POST_QUANTISED[0];
        ys = log_bytes(in.y_type); bs = log_bytes(in.branch_type);
        xs = wide ? 2'd1 : 2'd0; ws = in.mode == xpu_chip_pkg::OPERANDS_16X16 ? 2'd1 : 2'd0;
        is_bad = in.opcode != xpu_chip_pkg::OPCODE_WINDOW || in.op > xpu_chip_pkg::WINDOW_SUM ||
                 in.mode > xpu_chip_pkg::OPERANDS_16X16 || (ws != 0 && in.op != xpu_chip_pkg::WINDOW_CONVOLUTION);
        if (in.whole) is_bad = is_bad || in.op == xpu_chip_pkg::WINDOW_CONVOLUTION || in.oh != 1 || in.ow != 1;
        else
          is_bad = is_bad || in.kh == 0 || 32'(in.kh) > KERNEL || in.kw == 0 || 32'(in.kw) > KERNEL ||
                   in.stride_h == 0 || in.stride_w == 0 || in.dilation_h == 0 || in.dilation_w == 0;
        is_bad = is_bad || in.oh == 0 || in.ow == 0 || in.columns == 0;
        is_bad = is_bad || (in.x_unsigned ? in.x_zero[8] : in.x_zero[8] != in.x_zero[7]);
        is_bad = is_bad || (in.w_unsigned ? in.w_zero[8] : in.w_zero[8] != in.w_zero[7]);
        is_bad = is_bad || (wide && (in.x_unsigned || in.w_unsigned || in.x_zero != 0 || in.w_zero != 0)) ||
                 (in.op == xpu_chip_pkg::WINDOW_MAX && (in.accumulate || {in.start_hi, in.start} != 0)) ||
                 (in.accumulate && {in.start_hi, in.start} == 0) || ((in.accumulate || !in.drain) && wide) ||
                 (in.drain && wide && quantised) ||
                 (in.x_ring_rows == 0 ? in.x_ring_first != 0 :
                  in.tile_rows > in.x_ring_rows || in.x_ring_first >= in.x_ring_rows) ||
                 (in.op == xpu_chip_pkg::WINDOW_CONVOLUTION && 32'(in.w_row_stride) < 32'(in.columns) << ws) ||
                 (!in.drain && in.y_type != xpu_chip_pkg::TYPE_I32);
        `RULE(is_bad ? BAD : NO_FAULT, 0)
        if (in.tile_rows != 0 && in.tile_cols != 0)
          `RULE(box_fault({in.x_hi, in.x}, in_x_rows, in.x_row_stride, 32'(in.tile_cols), in.x_pixel_stride, in_x_places,
                          in.columns, xs), in.x)
        if (in.op == xpu_chip_pkg::WINDOW_CONVOLUTION)
          `RULE(box_fault({in.w_hi, in.w}, 1, 0, in_taps, 32'(in.w_row_stride), in_taps, in.columns, ws), in.w)
        if (in.drain) begin
`include "xpu_post_rules.svh"
        end else
          `RULE(box_fault({in.y_hi, in.y}, 32'(in.oh), in.y_row_stride, 32'(in.ow), in.y_pixel_stride, places, in.columns,
                          ys), in.y)
        bytes = {46'd0, in.columns, 2'd0} * (in.accumulate ? {32'd0, places} : 64'd1);
        `MEMORY(start, bytes[63:32] != 0 ? 32'hffffffff : bytes[31:0], 2)
        in_posts = 0; in_drains = 1; in_starts = 0; in_adds = in.accumulate; in_raw = !in.drain;
        in_stripe = in.whole ? 16'd1 : stripe_of(wide, in.kw, in_span_w, in.stride_w);
        taken = cause == NO_FAULT;
        if (taken) count = count + 1;
        else if (count == 0) begin
          faulty = 1; fault_address <= fault_at; fault_cause <= cause;
        end
      end
    end
    desc_ready <= taken; desc_done <= done; fault_valid <= faulty;
    // Nothing is inside, and the outputs are as they stay
    alive = count != 0 || taken || done || p_start != p_write || p_setup != p_write;
    alive_q <= alive;
    state <= taps_busy || post_busy ? xpu_chip_pkg::LOST_BUSY : count == 0 ? xpu_chip_pkg::LOST_EMPTY : lost;
  endtask

  always @(posedge clk) if (rst || alive || desc_valid) begin
    step_post();
    step_taps();
    step_lines();
    step_jobs();
    step_front();
  end

  `CHECK_HELD(desc, desc_valid, desc_ready, desc)
  `CHECK_HELD(x, x_valid, x_ready, x_address)
  `CHECK_HELD(s, s_valid, s_ready, s_address)
  `CHECK_HELD(y, y_valid, y_ready, {y_address, y_mask, y_wdata})
  `CHECK_ANSWERS(x, x_valid && x_ready, x_done, LINES)
  `CHECK_ANSWERS(s, s_valid && s_ready, s_done, 2 * LINES + 2)
  `CHECK_ANSWERS(y, y_valid && y_ready, y_done, 4096)
  `CHECK_ANSWERS(desc, desc_valid && desc_ready, desc_done, 4)
  `CHECK(count <= 4 && 3'(b_write - a_job) <= 4 && 3'(q_write - q_read) <= 4 && 3'(d_write - d_split) <= 4 &&
         x_flight <= 4'(LINES), "a ring is overfull")
  `CHECK(16'(l_rows - f_rows) <= 16'(LINE_ROWS) && 16'(k_asked - a_at) <= 16'(RING_COLUMNS), "an operand is overwritten")
  `CHECK(quiet || state != xpu_chip_pkg::LOST_EMPTY || count == 0, "work without a state")
endmodule
