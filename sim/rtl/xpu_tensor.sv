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
// at any time later. Rules and addresses of a descriptor are checked before it is taken, in the order of the functional
// engine, but for w_absmax, which stands in memory. Faults are sticky and come when all descriptors before are done: the
// engine takes and completes no further one.
// Multiply-accumulate operations are not counted here: they follow from the descriptors (oh x ow x columns x K).
`include "xpu_lanes.svh"
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
  localparam logic [3:0] NO_FAULT = xpu_chip_pkg::FAULT_NONE, BAD = xpu_chip_pkg::FAULT_DESCRIPTOR,
                         MISALIGNED = xpu_chip_pkg::FAULT_MISALIGNED, OUTSIDE = xpu_chip_pkg::FAULT_ENGINE_ADDRESS;
  localparam logic [63:0] MOST = 64'h80000000;  // elements of a box
  // The descriptor, while it is looked at; drains: its flag drain afterwards
  /* verilator lint_off UNUSEDSIGNAL */  // some fields matter elsewhere
  xpu_chip_pkg::desc_tensor_t in;
  xpu_chip_pkg::desc_post_t in_post;
  /* verilator lint_on UNUSEDSIGNAL */
  logic drains;

  // A descriptor is looked at in its first cycle; in the next one it is taken and goes to all parts at once
  logic taken, is_tensor, is_post;
  logic [2:0] count;        // descriptors inside
  logic [1:0] newest, oldest;
  logic [3:0] used, computing, draining;
  logic done, faulty, alive, alive_q;

  assign next_event = 32'hffffffff;
  assign quiet = !alive_q && !desc_valid;

  // Rules of the descriptor, as the functional engine has them
  function automatic logic is_byte(input logic [3:0] kind);
    is_byte = kind == xpu_chip_pkg::TYPE_I8 || kind == xpu_chip_pkg::TYPE_U8;
  endfunction
  function automatic logic is_float(input logic [3:0] kind);
    is_float = kind == xpu_chip_pkg::TYPE_F32 || kind == xpu_chip_pkg::TYPE_I16 || kind == xpu_chip_pkg::TYPE_I8;
  endfunction
  function automatic logic [1:0] log_bytes(input logic [3:0] kind);
    log_bytes = kind == xpu_chip_pkg::TYPE_I16 ? 2'd1 : kind >= xpu_chip_pkg::TYPE_I32 ? 2'd2 : 2'd0;
  endfunction
`include "xpu_inside.svh"
  // Whether low bits of a are set below 1 << size
  function automatic logic off(input logic [31:0] a, input logic [1:0] size);
    off = (a & ((32'd1 << size) - 1)) != 0;
  endfunction
  // The fault of `bytes` bytes at an address that is a multiple of 1 << size
  function automatic logic [3:0] memory_fault(input logic [39:0] a, input logic [31:0] bytes, input logic [1:0] size);
    memory_fault = off(a[31:0], size) ? MISALIGNED :
                   inside_memory({24'd0, a}, {32'd0, bytes}) ? NO_FAULT : OUTSIDE;
  endfunction
  // The fault of a box of rows x pixels x elements of 1 << size bytes in SM
  function automatic logic [3:0] box_fault(input logic [39:0] a, input logic [31:0] rows, input logic [31:0] row_stride,
                                           input logic [31:0] pixels, input logic [31:0] pixel_stride,
                                           input logic [15:0] elements, input logic [1:0] size);
    logic [63:0] r, p, first, bytes, places;
    r = {32'd0, rows - 1} * {{32{row_stride[31]}}, row_stride};
    p = {32'd0, pixels - 1} * {{32{pixel_stride[31]}}, pixel_stride};
    first = {24'd0, a} + (r[63] ? r : 64'd0) + (p[63] ? p : 64'd0);
    bytes = (r[63] ? 64'd0 - r : r) + (p[63] ? 64'd0 - p : p) + ({48'd0, elements} << size);
    places = {32'd0, rows} * {32'd0, pixels};
    box_fault = a[39:30] != 10'd0 || !a[29] ? OUTSIDE :
                rows == 0 ? NO_FAULT :
                rows != 1 && off(row_stride, size) ? MISALIGNED :
                pixels == 0 ? NO_FAULT :
                places > MOST ? BAD :
                pixels != 1 && off(pixel_stride, size) ? MISALIGNED :
                places * {48'd0, elements} > MOST ? BAD :
                off(a[31:0], size) ? MISALIGNED :
                inside_memory(first, bytes) ? NO_FAULT : OUTSIDE;
  endfunction

  // The parts: what they keep, and a task that is their step. All steps are made by one block: so the simulator looks
  // at one condition in a cycle without work, and what goes from one part to the next are plain variables. A part
  // declares what it hands on and stands before those that read it; what goes both ways is declared here.
  logic d_wide[4];         // of gather and array: operands of 16 bits
  logic [2:0] d_write;     // where the next descriptor goes in their rings
  logic [1:0] q_credit;    // of array and post-processor: rows of start values that may be prepared
`include "xpu_tensor_gather.svh"
`include "xpu_tensor_array.svh"
`include "xpu_tensor_post.svh"

  // A rule of the descriptor, unless one before it is broken; at: the address in its fault
`define RULE(fault, at) if (cause == NO_FAULT) begin cause = (fault); fault_at = (at); end
`define MEMORY(name, bytes, size) \
    if ({in.name``_hi, in.name} != 0) `RULE(memory_fault({in.name``_hi, in.name}, bytes, size), in.name)

  task automatic step_front;
    logic [1:0] i;
    logic posts, is_bad, wide, quantised;
    logic [3:0] cause;
    logic [31:0] fault_at;
    logic [1:0] xs, ws, ys, bs;
    i = 0; posts = 0; is_bad = 0; wide = 0; quantised = 0; cause = NO_FAULT; fault_at = 0;
    xs = 0; ws = 0; ys = 0; bs = 0;
    if (rst) begin
      taken = 0; is_tensor = 0; is_post = 0; count = 0; newest = 0; oldest = 0; used = 0; computing = 0; draining = 0;
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
        used[newest] = 1; computing[newest] = is_tensor; draining[newest] = is_post || (is_tensor && drains);
        newest = newest + 1; count = count + 1;
      end
      // The one whose w_absmax cannot be read is the oldest now
      if (failed != NO_FAULT && oldest == p_setup[1:0] && !faulty) begin
        faulty = 1; fault_address <= failed_at; fault_cause <= failed;
      end
      if (used[oldest] && !computing[oldest] && !draining[oldest] && !faulty) begin
        done = 1; used[oldest] = 0; oldest = oldest + 1; count = count - 1;
      end
      // The next descriptor
      i = taken ? 2'd1 : 2'd0; taken = 0; is_tensor = 0; is_post = 0;
      if (desc_valid && i == 0 && count != 4 && 3'(p_write - p_start) < 4 && 3'(p_write - p_setup) < 4 && !faulty) begin
        in = desc; in_post = desc; drains = in.drain;
        wide = in.mode != xpu_chip_pkg::OPERANDS_8X8; quantised = in.post_mode == xpu_chip_pkg::POST_QUANTISED[0];
        is_tensor = in.opcode == xpu_chip_pkg::OPCODE_TENSOR; is_post = in.opcode == xpu_chip_pkg::OPCODE_POST;
        posts = is_post || (is_tensor && in.drain); ys = log_bytes(in.y_type); bs = log_bytes(in.branch_type);
        xs = is_post ? log_bytes(in_post.x_type) : wide ? 2'd1 : 2'd0;
        ws = in.mode == xpu_chip_pkg::OPERANDS_16X16 ? 2'd1 : 2'd0;
        if (is_tensor) begin
          is_bad = in.x_unsigned ? in.x_zero[8] : in.x_zero[8] != in.x_zero[7];
          is_bad = is_bad || (in.w_unsigned ? in.w_zero[8] : in.w_zero[8] != in.w_zero[7]);
          is_bad = is_bad || in.mode > xpu_chip_pkg::OPERANDS_16X16 || in.kh == 0 || in.kw == 0 || in.channels == 0 ||
                   in.stride_h == 0 || in.stride_w == 0 || in.dilation_h == 0 || in.dilation_w == 0 ||
                   in.columns == 0 || 32'(in.columns) > ARRAY_COLUMNS || in.oh == 0 || in.ow == 0 ||
                   32'(in.oh) * 32'(in.ow) > ACC_ROWS || 32'(in.bank) >= ACC_BANKS ||
                   (wide && (in.x_unsigned || in.w_unsigned || in.x_zero != 0 || in.w_zero != 0)) ||
                   (in.drain && wide && quantised) || 32'(in.w_row_stride) < 32'(in.columns) << ws;
          `RULE(is_bad ? BAD : NO_FAULT, 0)
          `RULE(box_fault({in.x_hi, in.x}, 32'(in.tile_rows), in.x_row_stride, 32'(in.tile_cols), in.x_pixel_stride,
                          in.channels, xs), in.x)
          `RULE(box_fault({in.w_hi, in.w}, 1, 0, 32'(in.kh) * 32'(in.kw) * 32'(in.channels), 32'(in.w_row_stride),
                          in.columns, ws), in.w)
        end else `RULE(is_post ? (in_post.x_type > xpu_chip_pkg::TYPE_F32 ? BAD : NO_FAULT) :
                       in.opcode == xpu_chip_pkg::OPCODE_NOP ? NO_FAULT : BAD, 0)
        if (posts) begin
          `RULE(memory_fault({in.params_hi, in.params}, 4 * xpu_chip_pkg::POST_WORDS, 2), in.params)
          is_bad = in.oh == 0 || in.ow == 0 || in.columns == 0 || in.activation > xpu_chip_pkg::ACT_LEAKY ||
                   !(quantised ? is_byte(in.y_type) : is_float(in.y_type)) ||
                   ({in.branch_hi, in.branch} != 0 &&
                    !(quantised ? is_byte(in.branch_type) : is_float(in.branch_type))) ||
                   (quantised ? {in.bias_hi, in.bias, in.findmax_hi, in.findmax} != 0 : {in.lookup_hi, in.lookup} != 0);
          `RULE(is_bad ? BAD : NO_FAULT, 0)
          `RULE(box_fault({in.y_hi, in.y}, 32'(in.oh), in.y_row_stride, 32'(in.ow), in.y_pixel_stride, in.columns, ys),
                in.y)
          if ({in.branch_hi, in.branch} != 0)
            `RULE(box_fault({in.branch_hi, in.branch}, 32'(in.oh), in.branch_row_stride, 32'(in.ow),
                            in.branch_pixel_stride, in.columns, bs), in.branch)
          `MEMORY(lookup, 256, 0)
          `MEMORY(findmax, 4, 2)
          if ({in.absmax_hi, in.absmax} != 0 && is_post)
            `RULE(in_post.x_type == xpu_chip_pkg::TYPE_I16 || in_post.x_type == xpu_chip_pkg::TYPE_I8 ? NO_FAULT : BAD, 0)
          `MEMORY(absmax, 4, 2)
          `MEMORY(scale, 32'(in.columns) << 2, 2)
          `MEMORY(bias, 32'(in.columns) << 2, 2)
        end
        if (is_tensor && !in.accumulate) `MEMORY(start, 32'(in.columns) << 2, 2)
        if (is_post) begin
          is_bad = in_post.op > xpu_chip_pkg::POST_MUL ||
                   (in_post.op != xpu_chip_pkg::POST_SCALE && {in.branch_hi, in.branch} == 0) ||
                   (in_post.op == xpu_chip_pkg::POST_ADD && !quantised) ||
                   (quantised && in_post.x_type == xpu_chip_pkg::TYPE_F32) ||
                   (quantised && in_post.op != xpu_chip_pkg::POST_SCALE && !is_byte(in_post.x_type));
          `RULE(is_bad ? BAD : NO_FAULT, 0)
          `RULE(box_fault({in.x_hi, in.x}, 32'(in.oh), in.x_row_stride, 32'(in.ow), in.x_pixel_stride, in.columns, xs),
                in.x)
        end
        taken = cause == NO_FAULT;
        if (!taken) begin
          is_tensor = 0; is_post = 0;
          if (count == 0) begin
            faulty = 1; fault_address <= fault_at; fault_cause <= cause;
          end
        end
      end
    end
    desc_ready <= taken; desc_done <= done; fault_valid <= faulty;
    // Nothing is inside, and the outputs are as they stay
    alive = count != 0 || taken || done || p_start != p_write || p_setup != p_write;
    alive_q <= alive;
    state <= array_busy || post_busy ? xpu_chip_pkg::LOST_BUSY :
             count == 0 ? xpu_chip_pkg::LOST_EMPTY :
             lost_weights ? xpu_chip_pkg::LOST_WEIGHTS :
             lost_post || w_desc[0] == d_write ? xpu_chip_pkg::LOST_POST : xpu_chip_pkg::LOST_BANK;
  endtask

  always @(posedge clk) if (rst || alive || desc_valid) begin
    step_post();
    step_array();
    step_gather();
    step_front();
  end
endmodule
