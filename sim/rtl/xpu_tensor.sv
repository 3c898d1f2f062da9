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
// at any time later. x and w lie in SM, as do y and branch: their addresses are checked; what s and y address else is
// there unless s_error or y_error says so. Faults are sticky: the engine takes and completes no further descriptor.
// Multiply-accumulate operations are not counted here: they follow from the descriptors (oh x ow x columns x K).
module xpu_tensor #(
    parameter int unsigned ARRAY_ROWS = 8,
    parameter int unsigned ARRAY_COLUMNS = 8,
    parameter int unsigned ACC_BANKS = 2,
    parameter int unsigned ACC_ROWS = 16,
    parameter int unsigned WEIGHT_ROWS = 1,
    parameter int unsigned POST_LANES = 8,  // fewer than 4 are 4
    parameter int unsigned SM_BYTES = 32768
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
    input logic s_error,  // with s_done: there is no such memory
    input logic [511:0] s_rdata,
    output logic y_valid,
    input logic y_ready,
    output logic [31:0] y_address,
    output logic [511:0] y_wdata,
    output logic [63:0] y_mask,
    input logic y_done,
    input logic y_error,
    output logic fault_valid,
    output logic [3:0] fault_cause,
    output logic [31:0] fault_address,
    output logic quiet,
    output logic [31:0] next_event,
    output logic [4:0] state
);
  localparam int unsigned LANES = POST_LANES < 4 ? 4 : POST_LANES;
  // The descriptor, while it is looked at; drains_q: its flag drain afterwards
  /* verilator lint_off UNUSEDSIGNAL */  // some fields matter elsewhere
  xpu_chip_pkg::desc_tensor_t d_q;
  xpu_chip_pkg::desc_post_t p_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic drains_q;

  // A descriptor is looked at in its first cycle; in the next one it is taken and goes to all parts at once
  logic push_q;
  logic is_tensor, is_post;
  logic [2:0] count_q;      // descriptors inside
  logic [1:0] write_q, read_q;
  logic [3:0] used_q, computing_q, draining_q;
  logic computed, drained, array_busy, post_busy, post_room, lost_weights, lost_post, gather_idle, array_idle, post_idle;
  logic row_valid, row_ready, row_begin, row_initial, row_low, row_end, row_last;
  logic [ARRAY_ROWS*16-1:0] row_data;
  logic [15:0] row_pixel;
  logic post_error;
  logic [31:0] post_address;
  logic start_write, start_buffer, start_full, start_free, acc_valid, acc_ready;
  logic [7:0] start_column;
  logic [31:0] start_value;
  logic [LANES*32-1:0] acc_low;
  logic [LANES*16-1:0] acc_high;

  assign desc_ready = push_q;
  assign next_event = 32'hffffffff;
  assign quiet = count_q == 0 && !push_q && !desc_valid && !desc_done && gather_idle && array_idle && post_idle;
  assign state = array_busy || post_busy ? xpu_chip_pkg::LOST_BUSY :
                 count_q == 0 ? xpu_chip_pkg::LOST_EMPTY :
                 lost_weights ? xpu_chip_pkg::LOST_WEIGHTS :
                 lost_post || gather_idle ? xpu_chip_pkg::LOST_POST : xpu_chip_pkg::LOST_BANK;

  // Rules of the descriptor, as the functional engine has them
  logic wide, quantised, bad, misaligned, outside;
  logic [31:0] bad_address;

  function automatic logic is_byte(input logic [3:0] kind);
    is_byte = kind == xpu_chip_pkg::TYPE_I8 || kind == xpu_chip_pkg::TYPE_U8;
  endfunction
  function automatic logic is_float(input logic [3:0] kind);
    is_float = kind == xpu_chip_pkg::TYPE_F32 || kind == xpu_chip_pkg::TYPE_I16 || kind == xpu_chip_pkg::TYPE_I8;
  endfunction
  function automatic logic [1:0] log_bytes(input logic [3:0] kind);
    log_bytes = kind == xpu_chip_pkg::TYPE_I16 ? 2'd1 : kind >= xpu_chip_pkg::TYPE_I32 ? 2'd2 : 2'd0;
  endfunction
  // Whether low bits of a are set below 1 << size
  function automatic logic off(input logic [31:0] a, input logic [1:0] size);
    off = (a & ((32'd1 << size) - 1)) != 0;
  endfunction
  // Whether a box of rows x pixels x bytes at a leaves SM
  function automatic logic leaves(input logic [31:0] a, input logic [31:0] rows, input logic [31:0] row_stride,
                                  input logic [31:0] pixels, input logic [31:0] pixel_stride,
                                  input logic [31:0] bytes);
    logic [63:0] r, p, low, high;
    r = {32'd0, rows - 1} * {{32{row_stride[31]}}, row_stride};
    p = {32'd0, pixels - 1} * {{32{pixel_stride[31]}}, pixel_stride};
    low = {32'd0, a} + (r[63] ? r : 64'd0) + (p[63] ? p : 64'd0);
    high = {32'd0, a} + (r[63] ? 64'd0 : r) + (p[63] ? 64'd0 : p) + {32'd0, bytes};
    leaves = rows != 0 && pixels != 0 && bytes != 0 &&
             (low[63] || low < {32'd0, xpu_chip_pkg::SM_BASE} || high > {32'd0, xpu_chip_pkg::SM_BASE} + 64'(SM_BYTES));
  endfunction

  // The parts from the last to the first and then the front: so Verilator needs no copies of the wide registers between
  xpu_post #(.COLUMNS(ARRAY_COLUMNS), .LANES(LANES)) post (
      .clk(clk), .rst(rst), .push(is_tensor || is_post), .desc(desc), .s_valid(s_valid), .s_ready(s_ready),
      .s_address(s_address), .s_done(s_done), .s_error(s_error), .s_rdata(s_rdata), .y_valid(y_valid), .y_ready(y_ready),
      .y_address(y_address), .y_wdata(y_wdata), .y_mask(y_mask), .y_done(y_done),
      .y_error(y_error), .start_write(start_write),
      .start_buffer(start_buffer), .start_column(start_column), .start_value(start_value), .start_full(start_full),
      .start_free(start_free), .acc_valid(acc_valid), .acc_ready(acc_ready), .acc_low(acc_low), .acc_high(acc_high),
      .room(post_room), .drained(drained), .busy(post_busy), .error(post_error),
      .error_address(post_address), .idle(post_idle));
  xpu_tensor_array #(.ROWS(ARRAY_ROWS), .COLUMNS(ARRAY_COLUMNS), .BANKS(ACC_BANKS), .ACC_ROWS(ACC_ROWS),
                     .WEIGHT_ROWS(WEIGHT_ROWS), .LANES(LANES)) cells (
      .clk(clk), .rst(rst), .push(is_tensor), .desc(desc), .w_valid(w_valid), .w_ready(w_ready),
      .w_address(w_address), .w_done(w_done), .w_rdata(w_rdata), .row_valid(row_valid), .row_ready(row_ready),
      .row_data(row_data), .row_pixel(row_pixel), .row_begin(row_begin), .row_initial(row_initial), .row_low(row_low),
      .row_end(row_end), .row_last(row_last), .start_write(start_write), .start_buffer(start_buffer),
      .start_column(start_column), .start_value(start_value), .start_full(start_full), .start_free(start_free),
      .acc_valid(acc_valid), .acc_ready(acc_ready), .acc_low(acc_low), .acc_high(acc_high), .computed(computed),
      .busy(array_busy), .lost_weights(lost_weights), .lost_post(lost_post), .idle(array_idle));
  xpu_tensor_gather #(.ROWS(ARRAY_ROWS)) gather (
      .clk(clk), .rst(rst), .push(is_tensor), .desc(desc), .x_valid(x_valid), .x_ready(x_ready),
      .x_address(x_address), .x_done(x_done), .x_rdata(x_rdata), .row_valid(row_valid), .row_ready(row_ready),
      .row_data(row_data), .row_pixel(row_pixel), .row_begin(row_begin), .row_initial(row_initial), .row_low(row_low),
      .row_end(row_end), .row_last(row_last), .idle(gather_idle));

  always @(posedge clk) begin : p_top
    logic [1:0] i;
    logic posts, zero_bad;
    logic [1:0] xs, ys, bs;
    i = 0; posts = 0; zero_bad = 0; xs = 0; ys = 0; bs = 0;
    if (rst) begin
      push_q <= 0; count_q <= 0; write_q <= 0; read_q <= 0; used_q = 0; computing_q = 0; draining_q = 0;
      desc_done <= 0; fault_valid <= 0; fault_cause <= xpu_chip_pkg::FAULT_NONE; fault_address <= 0;
      is_tensor <= 0; is_post <= 0;
    end else if (count_q != 0 || desc_valid || push_q || desc_done) begin
      push_q <= 0; desc_done <= 0; is_tensor <= 0; is_post <= 0;
      if (desc_valid && !push_q && count_q != 4 && post_room && !fault_valid) begin
        d_q = desc; p_q = desc; drains_q <= d_q.drain;
        wide = d_q.mode != xpu_chip_pkg::OPERANDS_8X8; quantised = d_q.post_mode == xpu_chip_pkg::POST_QUANTISED[0];
        posts = d_q.opcode == xpu_chip_pkg::OPCODE_POST || d_q.drain; bad = 0; misaligned = 0; outside = 0;
        bad_address = 0; ys = log_bytes(d_q.y_type); bs = log_bytes(d_q.branch_type);
        if (d_q.opcode == xpu_chip_pkg::OPCODE_TENSOR) begin
          zero_bad = d_q.x_unsigned ? d_q.x_zero[8] : d_q.x_zero[8] != d_q.x_zero[7];
          zero_bad = zero_bad || (d_q.w_unsigned ? d_q.w_zero[8] : d_q.w_zero[8] != d_q.w_zero[7]);
          bad = d_q.mode > xpu_chip_pkg::OPERANDS_16X16 || d_q.kh == 0 || d_q.kw == 0 || d_q.channels == 0 ||
                d_q.stride_h == 0 || d_q.stride_w == 0 || d_q.dilation_h == 0 || d_q.dilation_w == 0 ||
                d_q.columns == 0 || 32'(d_q.columns) > ARRAY_COLUMNS || d_q.oh == 0 || d_q.ow == 0 ||
                32'(d_q.oh) * 32'(d_q.ow) > ACC_ROWS || 32'(d_q.bank) >= ACC_BANKS ||
                (wide && (d_q.x_unsigned || d_q.w_unsigned || d_q.x_zero != 0 || d_q.w_zero != 0)) || zero_bad ||
                (d_q.drain && wide && quantised) ||
                32'(d_q.w_row_stride) < 32'(d_q.columns) << (d_q.mode == xpu_chip_pkg::OPERANDS_16X16);
          xs = wide ? 2'd1 : 2'd0;
          misaligned = off(d_q.x | d_q.x_row_stride | d_q.x_pixel_stride, xs) ||
                       off(d_q.w | 32'(d_q.w_row_stride), d_q.mode == xpu_chip_pkg::OPERANDS_16X16 ? 2'd1 : 2'd0) ||
                       off(d_q.start, 2'd2);
          bad_address = d_q.x;
          outside = leaves(d_q.x, 32'(d_q.tile_rows), d_q.x_row_stride, 32'(d_q.tile_cols), d_q.x_pixel_stride,
                           32'(d_q.channels) << xs);
          if (leaves(d_q.w, 1, 0, 32'(d_q.kh) * 32'(d_q.kw) * 32'(d_q.channels), 32'(d_q.w_row_stride),
                     32'(d_q.columns) << (d_q.mode == xpu_chip_pkg::OPERANDS_16X16)) && !outside) begin
            outside = 1; bad_address = d_q.w;
          end
        end else if (d_q.opcode == xpu_chip_pkg::OPCODE_POST) begin
          xs = log_bytes(p_q.x_type);
          bad = p_q.x_type > xpu_chip_pkg::TYPE_F32 || p_q.op > xpu_chip_pkg::POST_MUL ||
                (p_q.op != xpu_chip_pkg::POST_SCALE && d_q.branch == 0) ||
                (p_q.op == xpu_chip_pkg::POST_ADD && !quantised) ||
                (quantised && p_q.x_type == xpu_chip_pkg::TYPE_F32) ||
                (quantised && p_q.op != xpu_chip_pkg::POST_SCALE && !is_byte(p_q.x_type)) ||
                (d_q.absmax != 0 && p_q.x_type != xpu_chip_pkg::TYPE_I16 && p_q.x_type != xpu_chip_pkg::TYPE_I8);
          misaligned = off(d_q.x | d_q.x_row_stride | d_q.x_pixel_stride, xs);
          bad_address = d_q.x;
          outside = leaves(d_q.x, 32'(d_q.oh), d_q.x_row_stride, 32'(d_q.ow), d_q.x_pixel_stride,
                           32'(d_q.columns) << xs);
        end else bad = d_q.opcode != xpu_chip_pkg::OPCODE_NOP;
        if (posts && d_q.opcode != xpu_chip_pkg::OPCODE_NOP) begin
          bad = bad || d_q.oh == 0 || d_q.ow == 0 || d_q.columns == 0 || d_q.activation > xpu_chip_pkg::ACT_LEAKY ||
                !(quantised ? is_byte(d_q.y_type) : is_float(d_q.y_type)) ||
                (d_q.branch != 0 && !(quantised ? is_byte(d_q.branch_type) : is_float(d_q.branch_type))) ||
                (quantised ? d_q.bias != 0 || d_q.findmax != 0 : d_q.lookup != 0);
          misaligned = misaligned || off(d_q.y | d_q.y_row_stride | d_q.y_pixel_stride, ys) ||
                       (d_q.branch != 0 && off(d_q.branch | d_q.branch_row_stride | d_q.branch_pixel_stride, bs)) ||
                       off(d_q.params | d_q.scale | d_q.bias | d_q.findmax | d_q.absmax, 2'd2);
          if (leaves(d_q.y, 32'(d_q.oh), d_q.y_row_stride, 32'(d_q.ow), d_q.y_pixel_stride,
                     32'(d_q.columns) << ys) && !outside) begin
            outside = 1; bad_address = d_q.y;
          end
          if (d_q.branch != 0 && leaves(d_q.branch, 32'(d_q.oh), d_q.branch_row_stride, 32'(d_q.ow),
                                        d_q.branch_pixel_stride, 32'(d_q.columns) << bs) && !outside) begin
            outside = 1; bad_address = d_q.branch;
          end
        end
        if (bad || misaligned || outside) begin
          fault_valid <= 1; fault_address <= bad_address;
          fault_cause <= bad ? xpu_chip_pkg::FAULT_DESCRIPTOR :
                         misaligned ? xpu_chip_pkg::FAULT_MISALIGNED : xpu_chip_pkg::FAULT_ENGINE_ADDRESS;
        end else begin
          push_q <= 1;
          is_tensor <= d_q.opcode == xpu_chip_pkg::OPCODE_TENSOR; is_post <= d_q.opcode == xpu_chip_pkg::OPCODE_POST;
        end
      end
      if (post_error && !fault_valid) begin
        fault_valid <= 1; fault_address <= post_address; fault_cause <= xpu_chip_pkg::FAULT_ENGINE_ADDRESS;
      end
      // Bookkeeping, in order: the oldest descriptor that computes, the oldest that drains
      if (computed) begin
        i = computing_q[read_q] ? read_q : computing_q[read_q+2'd1] ? read_q + 2'd1 :
            computing_q[read_q+2'd2] ? read_q + 2'd2 : read_q + 2'd3;
        computing_q[i] = 0;
      end
      if (drained) begin
        i = draining_q[read_q] ? read_q : draining_q[read_q+2'd1] ? read_q + 2'd1 :
            draining_q[read_q+2'd2] ? read_q + 2'd2 : read_q + 2'd3;
        draining_q[i] = 0;
      end
      if (push_q) begin
        used_q[write_q] = 1; computing_q[write_q] = is_tensor; draining_q[write_q] = is_post || (is_tensor && drains_q);
        write_q <= write_q + 1;
      end
      if (used_q[read_q] && !computing_q[read_q] && !draining_q[read_q] && !post_error && !fault_valid) begin
        desc_done <= 1; used_q[read_q] = 0; read_q <= read_q + 1; count_q <= push_q ? count_q : count_q - 1;
      end else if (push_q) count_q <= count_q + 1;
    end
  end

endmodule
