// Tensor engine: takes descriptors of kinds tensor and post (and nop, which completes at once) whose waits hold, and
// executes them in order as sim/func/tensor.c and post.c do.
//
// Up to four descriptors are inside: while one is multiplied, the one before it drains through the post-processor and
// the operands of the next are fetched. So a descriptor must not read what one before it writes without a wait between
// them. desc_done pulses once per descriptor, in order, when all it wrote is visible.
//
// Latency: 4 cycles from desc_valid to the first line reads. Throughput: a step of the array per cycle, see
// xpu_tensor_array. Back-pressure: desc and desc_valid hold until desc_ready, which comes after one cycle or more, not
// while four descriptors are inside. Each memory port takes a request when valid and ready, and answers come in order,
// at any time later. Rules and addresses of a descriptor are checked in the cycle of desc_ready, in the order of the
// functional engine, but for w_absmax, which stands in memory; one that breaks a rule goes no further. Faults are sticky and come when all descriptors before are done: the
// engine takes and completes no further one.
// Multiply-accumulate operations are not counted here: they follow from the descriptors (oh x ow x columns x K).
`include "xpu_lanes.svh"
`include "xpu_checks.svh"
module xpu_tensor #(
    parameter int unsigned ARRAY_ROWS = 8,
    parameter int unsigned ARRAY_COLUMNS = 8,
    parameter int unsigned ACC_BANKS = 2,
    parameter int unsigned ACC_ROWS = 16,
    parameter int unsigned WEIGHT_ROWS = 1,
    parameter int unsigned POST_LANES = 8,  // fewer than 4 are 4
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
    output logic x_valid,
    input logic x_ready,
    output logic [31:0] x_address,
    input logic x_done,
    input logic [511:0] x_rdata,
    output logic w_valid,
    input logic w_ready,
    output logic [31:0] w_address,
    input logic w_done,
    input logic [511:0] w_rdata,
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
  localparam int unsigned ROWS = ARRAY_ROWS;
  localparam int unsigned COLUMNS = ARRAY_COLUMNS;
  localparam int unsigned BANKS = ACC_BANKS;
  localparam int unsigned LANES = POST_LANES < 4 ? 4 : POST_LANES;
  localparam int unsigned LINES = 8;  // asked for and not used yet, of each operand
  localparam int unsigned WORDS = ROWS / 2;
  // The descriptor, while it is looked at; drains: its flag drain afterwards
  /* verilator lint_off UNUSEDSIGNAL */  // some fields matter elsewhere
  xpu_chip_pkg::desc_tensor_t in;
  xpu_chip_pkg::desc_post_t in_post;
  /* verilator lint_on UNUSEDSIGNAL */
  logic drains;

  // A descriptor comes into `in` in its first cycle, which multiplies its sizes; in the next one its rules are looked at, and
  // it goes to all parts at once. One that breaks a rule waits for those before it
  logic sized, taken, refused;
  logic is_tensor, is_drain, is_post;  // is_drain: of kind tensor, drains without a product
  logic [31:0] in_places, in_x_places, in_taps;  // of outputs and x; kh x kw
  logic [31:0] in_tap_weights;                   // of all columns
  logic [63:0] in_tap_bytes;                     // rows of weights of a tap, from one to the next tap
  logic [31:0] in_depth;                         // rows of weights
  logic [3:0] refusal;
  logic [31:0] refusal_at;
  logic [2:0] count;        // descriptors inside
  logic [1:0] newest, oldest;
  logic [3:0] used, computing, draining;
  logic done, faulty, alive, alive_q;

  assign next_event = 32'hffffffff;
  assign quiet = !alive_q && !desc_valid;

`include "xpu_rules.svh"

  // The parts: what they keep, and a task that is their step. All steps are made by one block: so the simulator looks
  // at one condition in a cycle without work, and what goes from one part to the next are plain variables. A part
  // declares what it hands on and stands before those that read it; what goes both ways is declared here.
  logic d_wide[4];         // of gather, which sets it, and array: operands of 16 bits
  logic [2:0] d_write;     // where the next descriptor goes in their rings
  logic [1:0] q_credit;    // of array and post-processor: rows of start values that may be prepared
`include "xpu_tensor_gather.svh"
`include "xpu_tensor_array.svh"
  // What the post-processor asks of the descriptor that is taken
  logic in_posts, in_drains, in_starts, in_adds, in_raw;
  logic [15:0] in_stripe;
`include "xpu_tensor_post.svh"

  // The descriptor in `in`, before the parts take it in the same cycle
  task automatic step_rules;
    logic posts, is_bad, wide, quantised, absmax_fits;
    logic [3:0] cause;
    logic [31:0] fault_at, places;
    logic [1:0] xs, ws, ys, bs;
    posts = 0; is_bad = 0; wide = 0; quantised = 0; absmax_fits = 0; cause = NO_FAULT; fault_at = 0; places = 0;
    xs = 0; ws = 0; ys = 0; bs = 0;
    taken = 0; is_tensor = 0; is_drain = 0; is_post = 0;
    if (rst) begin
      sized = 0; refused = 0;
    end else if (sized) begin
      sized = 0; in_post = {in}; drains = in.drain; places = in_places;
      wide = in.mode != xpu_chip_pkg::OPERANDS_8X8; quantised = in.post_mode == xpu_chip_pkg::POST_QUANTISED[0];
      is_tensor = in.opcode == xpu_chip_pkg::OPCODE_TENSOR; is_post = in.opcode == xpu_chip_pkg::OPCODE_POST;
      posts = is_post || (is_tensor && in.drain); ys = log_bytes(in.y_type); bs = log_bytes(in.branch_type);
      xs = is_post ? log_bytes(in_post.x_type) : wide ? 2'd1 : 2'd0;
      ws = in.mode == xpu_chip_pkg::OPERANDS_16X16 ? 2'd1 : 2'd0; in_depth = in_taps * 32'(in.channels);
      if (is_tensor) begin
        is_bad = in.x_unsigned ? in.x_zero[8] : in.x_zero[8] != in.x_zero[7];
        is_bad = is_bad || (in.w_unsigned ? in.w_zero[8] : in.w_zero[8] != in.w_zero[7]);
        is_bad = is_bad || in.mode > xpu_chip_pkg::OPERANDS_16X16 || in.kh == 0 || in.kw == 0 ||
                 (in.channels == 0 && !(in.accumulate && in.drain)) ||
                 in.stride_h == 0 || in.stride_w == 0 || in.dilation_h == 0 || in.dilation_w == 0 ||
                 in.columns == 0 || 32'(in.columns) > ARRAY_COLUMNS || in.oh == 0 || in.ow == 0 ||
                 places > ACC_ROWS || 32'(in.bank) >= ACC_BANKS ||
                 (wide && (in.x_unsigned || in.w_unsigned || in.x_zero != 0 || in.w_zero != 0)) ||
                 (in.drain && wide && quantised) || 32'(in.w_row_stride) < 32'(in.columns) << ws;
        `RULE(is_bad ? BAD : NO_FAULT, 0)
        `RULE(box_fault({in.x_hi, in.x}, 32'(in.tile_rows), in.x_row_stride, 32'(in.tile_cols), in.x_pixel_stride,
                        in_x_places, in.channels, xs), in.x)
        `RULE(products_fault({in.w_hi, in.w}, 1, 0, in_depth, 32'(in.w_row_stride), 0,
                             {32'd0, in_taps} * in_tap_bytes - 64'(in.w_row_stride), in_depth,
                             {32'd0, in_taps} * {32'd0, in_tap_weights}, in.columns, ws), in.w)
      end else `RULE(is_post ? (in_post.x_type > xpu_chip_pkg::TYPE_F32 ? BAD : NO_FAULT) :
                     in.opcode == xpu_chip_pkg::OPCODE_NOP ? NO_FAULT : BAD, 0)
      absmax_fits = !is_post || in_post.x_type == xpu_chip_pkg::TYPE_I16 || in_post.x_type == xpu_chip_pkg::TYPE_I8;
      if (posts) begin
`include "xpu_post_rules.svh"
      end
      if (is_tensor && !in.accumulate) `MEMORY(start, 32'(in.columns) << 2, 2)
      if (is_post) begin
        is_bad = in_post.op > xpu_chip_pkg::POST_MUL ||
                 (in_post.op != xpu_chip_pkg::POST_SCALE && {in.branch_hi, in.branch} == 0) ||
                 (in_post.op == xpu_chip_pkg::POST_ADD && !quantised) ||
                 (quantised && in_post.x_type == xpu_chip_pkg::TYPE_F32) ||
                 (quantised && in_post.op != xpu_chip_pkg::POST_SCALE && !is_byte(in_post.x_type));
        `RULE(is_bad ? BAD : NO_FAULT, 0)
        `RULE(box_fault({in.x_hi, in.x}, 32'(in.oh), in.x_row_stride, 32'(in.ow), in.x_pixel_stride, places, in.columns,
                        xs), in.x)
      end
      in_posts = is_post; in_drains = is_tensor && in.drain; in_starts = is_tensor && !in.accumulate && in.start != 0;
      in_adds = 0; in_raw = 0; in_stripe = 16'hffff;
      taken = cause == NO_FAULT; refused = !taken; refusal = cause; refusal_at = fault_at;
      is_drain = taken && is_tensor && in.channels == 0; is_tensor = taken && is_tensor && !is_drain;
      is_post = taken && is_post;
    end
  endtask

  task automatic step_front;
    logic [1:0] i;
    i = 0;
    if (rst) begin
      count = 0; newest = 0; oldest = 0; used = 0; computing = 0; draining = 0;
      done = 0; faulty = 0; fault_cause <= NO_FAULT; fault_address <= 0;
    end else begin
      done = 0;
      // Completion, in order: the oldest descriptor that computes, the oldest that drains
      if (computed) begin
        i = computing[oldest] ? oldest : computing[oldest+2'd1] ? oldest + 2'd1 :
            computing[oldest+2'd2] ? oldest + 2'd2 : oldest + 2'd3;
        computing[i] = 0;
      end
      if (drained) begin
        i = draining[oldest] ? oldest : draining[oldest+2'd1] ? oldest + 2'd1 :
            draining[oldest+2'd2] ? oldest + 2'd2 : oldest + 2'd3;
        draining[i] = 0;
      end
      if (taken) begin
        used[newest] = 1; computing[newest] = is_tensor;
        draining[newest] = is_post || is_drain || (is_tensor && drains);
        newest = newest + 1; count = count + 1;
      end
      // The one whose w_absmax cannot be read is the oldest now
      if (failed != NO_FAULT && oldest == p_setup[1:0] && !faulty) begin
        faulty = 1; fault_address <= failed_at; fault_cause <= failed;
      end
      if (used[oldest] && !computing[oldest] && !draining[oldest] && !faulty) begin
        done = 1; used[oldest] = 0; oldest = oldest + 1; count = count - 1;
      end
      if (refused && count == 0 && !faulty) begin
        faulty = 1; fault_address <= refusal_at; fault_cause <= refusal;
      end
      // The next descriptor
      if (desc_valid && !taken && !refused && count != 4 && 3'(p_write - p_start) < 4 && 3'(p_write - p_setup) < 4 &&
          !faulty) begin
        sized = 1; in = desc; in_places = 32'(in.oh) * 32'(in.ow);
        in_x_places = 32'(in.tile_rows) * 32'(in.tile_cols);
        in_taps = 32'(in.kh) * 32'(in.kw); in_tap_weights = 32'(in.channels) * 32'(in.columns);
        in_tap_bytes = 64'(in.channels) * 64'(in.w_row_stride);
      end
    end
    desc_ready <= sized; desc_done <= done; fault_valid <= faulty;
    // Nothing is inside, and the outputs are as they stay
    alive = count != 0 || sized || (refused && !faulty) || done || p_start != p_write || p_setup != p_write;
    alive_q <= alive;
    state <= array_busy || post_busy ? xpu_chip_pkg::LOST_BUSY :
             count == 0 ? xpu_chip_pkg::LOST_EMPTY :
             lost_weights ? xpu_chip_pkg::LOST_WEIGHTS :
             lost_post || w_desc[0] == d_write ? xpu_chip_pkg::LOST_POST : xpu_chip_pkg::LOST_BANK;
  endtask

  always @(posedge clk) if (rst || alive || desc_valid) begin
    step_rules();
    step_post();
    step_array();
    step_gather();
    step_front();
  end

  `CHECK_HELD(desc, desc_valid, desc_ready, desc)
  `CHECK_HELD(x, x_valid, x_ready, x_address)
  `CHECK_HELD(w, w_valid, w_ready, w_address)
  `CHECK_HELD(s, s_valid, s_ready, s_address)
  `CHECK_HELD(y, y_valid, y_ready, {y_address, y_mask, y_wdata})
  `CHECK_ANSWERS(x, x_valid && x_ready, x_done, LINES)
  `CHECK_ANSWERS(w, w_valid && w_ready, w_done, LINES)
  `CHECK_ANSWERS(s, s_valid && s_ready, s_done, 2 * LINES + 2)
  `CHECK_ANSWERS(y, y_valid && y_ready, y_done, 4096)
  `CHECK_ANSWERS(desc, desc_valid && desc_ready, desc_done, 4)
  `CHECK(count <= 4 && l_flight <= 4'(LINES) && k_flight <= 4'(LINES), "a ring is overfull")
  `CHECK(3'(t_write - w_table[0]) <= 3'(TABLES) && 3'(d_write - w_desc[0]) <= 4 && 3'(d_write - k_desc[0]) <= 4,
         "a descriptor or a block of K is overwritten")
  `CHECK_STAYS(row, row_valid, row_ready, {row_pixel, row_begin, row_initial, row_low, row_end, row_last})
  for (genvar n = 0; n < WORDS; n = n + 1) begin : checks_row
    `CHECK_STAYS(row_data, row_valid, row_ready, row_data[n])
  end
  `CHECK(3'(q_write - q_read) <= 4 && 3'(e_write - e_read) <= 4, "a ring of drains is overfull")
  `CHECK(q_read == q_write || bank_busy[q_bank[q_read[1:0]]], "a bank drains that is not busy")
  `CHECK(3'(start_count) + 3'(q_credit) <= 2, "start values are overwritten")
endmodule
