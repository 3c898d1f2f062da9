// Window engine: descriptors, and the jobs that they are cut into: a group of channels by a stripe of output columns.
//
// Rows and columns of the input are read in one of two ways each. Kept: one after the other, each once, while neighbouring
// windows share them. Again: for each window those of its taps, where a window spans more than the line buffers, or the
// eight columns beside the multipliers, hold (large dilations), or windows do not touch (large strides). Either way row n
// of what is read is tap ky of output row oy with n = oy * advance + ky * step, and columns alike.
  localparam int unsigned WORDS = LINE_BYTES / (2 * CHANNELS);  // of a line buffer: 2 pixels of bytes, or one of int16
  localparam int unsigned PIXELS = 2 * WORDS;
  localparam int unsigned RING_COLUMNS = 8;

  // Descriptors, a ring
  logic [1:0] d_op[4];
  logic d_whole[4];
  logic d_wide[4];
  logic d_words[4];            // weights of 16 bits
  logic d_start[4];            // start values per channel
  logic [31:0] d_flip[4];      // operands: (raw ^ flip) - zero
  logic [31:0] d_zero[4];
  logic [31:0] d_w_flip[4];
  logic [31:0] d_w_zero[4];
  logic [31:0] d_x[4];
  logic [31:0] d_w[4];
  logic [31:0] d_start_at[4];
  logic [31:0] d_row_stride[4];
  logic [31:0] d_w_stride[4];
  logic [31:0] d_step_bytes[4];    // from a column that is read to the next, of the same window if they are read again
  logic [31:0] d_window_bytes[4];  // from a window to the next
  logic [31:0] d_columns[4];
  logic [15:0] d_tile_rows[4];
  logic [15:0] d_tile_cols[4];
  logic [15:0] d_ring_rows[4];
  logic [15:0] d_ring_first[4];
  logic [15:0] d_oh[4];
  logic [15:0] d_ow[4];
  logic [7:0] d_kh[4];
  logic [7:0] d_kw[4];
  logic [7:0] d_taps[4];
  logic [7:0] d_stride_h[4];
  logic [7:0] d_stride_w[4];
  logic [7:0] d_dilation_h[4];
  logic [7:0] d_dilation_w[4];
  logic [31:0] d_top[4];       // tile row of tap 0 of output row 0
  logic [31:0] d_left[4];
  logic d_keep_h[4];
  logic d_keep_w[4];
  logic [7:0] d_advance_h[4];
  logic [7:0] d_advance_w[4];
  logic [7:0] d_step_h[4];
  logic [7:0] d_step_w[4];
  logic [7:0] d_span_h[4];     // rows of a window as they are read
  logic [7:0] d_span_w[4];
  logic [31:0] d_rows[4];      // read by a job
  logic [15:0] d_stripe[4];    // output columns of a job
  logic [31:0] d_stripe_x[4];  // input columns from a stripe to the next
  logic [31:0] d_pixel_bytes[4];
  logic [2:0] d_write, d_split;

  logic [15:0] in_stripe;      // of the descriptor that is taken

  // Jobs, a ring
  logic [1:0] b_desc[4];
  logic [31:0] b_x[4];         // of pixel (0, 0) of the tile, or of row 0 of the ring
  logic [31:0] b_offset[4];    // from there to the first column
  logic [31:0] b_left[4];      // the first column
  logic [31:0] b_w[4];
  logic [31:0] b_start[4];
  logic [31:0] b_read[4];      // columns that are read of a row
  logic [15:0] b_channels[4];
  logic [15:0] b_ow[4];
  logic [2:0] b_write, a_job;   // a_job: whose windows are computed
  logic [31:0] j_channel, j_left;
  logic [15:0] j_column;

  // ceil(log2(v)) of 1 .. 255
  function automatic logic [3:0] shift_of(input logic [7:0] v);
    shift_of = v > 128 ? 8 : v > 64 ? 7 : v > 32 ? 6 : v > 16 ? 5 : v > 8 ? 4 : v > 4 ? 3 : v > 2 ? 2 : v > 1 ? 1 : 0;
  endfunction

  // Whether columns are kept, whose windows span so many
  function automatic logic keeps_columns(input logic [31:0] span, input logic [7:0] stride);
    keeps_columns = span <= RING_COLUMNS && 32'(stride) <= span;
  endfunction

  // Output columns whose input columns fit a line buffer
  function automatic logic [15:0] stripe_of(input logic wide, input logic [7:0] kw, input logic [31:0] span,
                                            input logic [7:0] stride);
    logic [31:0] most;
    most = wide ? WORDS : PIXELS;
    most = keeps_columns(span, stride) ? ((most - span) >> shift_of(stride)) + 1 : most >> shift_of(kw);
    stripe_of = most > 65535 ? 16'hffff : most[15:0];
  endfunction

  task automatic step_jobs;
    logic [1:0] wd, wj;
    logic [31:0] rest;
    wd = 0; wj = 0; rest = 0;
    if (rst) begin
      d_write = 0; d_split = 0; b_write = 0; j_channel = 0; j_column = 0; j_left = 0;
    end else begin
      // The next job
      if (d_split != d_write && 3'(b_write - a_job) != 4) begin
        wd = d_split[1:0]; wj = b_write[1:0];
        rest = d_columns[wd] - j_channel;
        b_desc[wj] = wd; b_channels[wj] = rest > CHANNELS ? 16'(CHANNELS) : rest[15:0];
        b_x[wj] = d_x[wd] + (j_channel << d_wide[wd]); b_w[wj] = d_w[wd] + (j_channel << d_words[wd]);
        b_start[wj] = d_start_at[wd] + (j_channel << 2);
        if (j_column == 0) j_left = d_left[wd];
        b_left[wj] = j_left; b_offset[wj] = j_left * d_pixel_bytes[wd];
        b_ow[wj] = d_ow[wd] - j_column > d_stripe[wd] ? d_stripe[wd] : d_ow[wd] - j_column;
        b_read[wj] = d_whole[wd] ? (d_tile_cols[wd] == 0 ? 32'd1 : 32'(d_tile_cols[wd])) :
                     (32'(b_ow[wj]) - 1) * 32'(d_advance_w[wd]) + 32'(d_span_w[wd]);
        b_write = b_write + 1;
        j_column = j_column + b_ow[wj]; j_left = j_left + d_stripe_x[wd];
        if (j_column == d_ow[wd]) begin
          j_column = 0; j_channel = j_channel + CHANNELS;
          if (j_channel >= d_columns[wd]) begin
            j_channel = 0; d_split = d_split + 1;
          end
        end
      end
      // A new descriptor
      if (taken) begin
        wd = d_write[1:0];
        d_op[wd] = in.op; d_whole[wd] = in.whole; d_wide[wd] = in.mode != xpu_chip_pkg::OPERANDS_8X8;
        d_words[wd] = in.mode == xpu_chip_pkg::OPERANDS_16X16; d_start[wd] = !in.accumulate && in.start != 0;
        d_flip[wd] = d_wide[wd] ? 32'h8000 : in.x_unsigned ? 0 : 128;
        d_zero[wd] = d_flip[wd] + {{23{in.x_zero[8]}}, in.x_zero};
        // A maximum is found among unsigned numbers
        if (in.op == xpu_chip_pkg::WINDOW_MAX) d_zero[wd] = d_zero[wd] ^ 32'h80000000;
        d_w_flip[wd] = d_words[wd] ? 32'h8000 : in.w_unsigned ? 0 : 128;
        d_w_zero[wd] = d_w_flip[wd] + {{23{in.w_zero[8]}}, in.w_zero};
        d_x[wd] = in.x; d_w[wd] = in.w; d_start_at[wd] = in.start; d_row_stride[wd] = in.x_row_stride;
        d_w_stride[wd] = 32'(in.w_row_stride); d_pixel_bytes[wd] = in.x_pixel_stride;
        d_columns[wd] = 32'(in.columns); d_tile_rows[wd] = in.tile_rows; d_tile_cols[wd] = in.tile_cols;
        d_ring_rows[wd] = in.x_ring_rows; d_ring_first[wd] = in.x_ring_first; d_oh[wd] = in.oh; d_ow[wd] = in.ow;
        d_kh[wd] = in.kh; d_kw[wd] = in.kw; d_taps[wd] = in_taps[7:0]; d_stride_h[wd] = in.stride_h;
        d_stride_w[wd] = in.stride_w; d_dilation_h[wd] = in.dilation_h; d_dilation_w[wd] = in.dilation_w;
        d_top[wd] = in.whole ? 0 : 32'd0 - {{16{in.pad_top[15]}}, in.pad_top};
        d_left[wd] = in.whole ? 0 : 32'd0 - {{16{in.pad_left[15]}}, in.pad_left};
        d_keep_h[wd] = in.whole || (in_span_h <= LINE_ROWS && 32'(in.stride_h) <= in_span_h);
        d_span_h[wd] = d_keep_h[wd] ? in_span_h[7:0] : in.kh; d_step_h[wd] = d_keep_h[wd] ? in.dilation_h : 8'd1;
        d_advance_h[wd] = d_keep_h[wd] ? in.stride_h : in.kh;
        d_rows[wd] = in.whole ? (in.tile_rows == 0 ? 32'd1 : 32'(in.tile_rows)) :
                     (32'(in.oh) - 1) * 32'(d_advance_h[wd]) + 32'(d_span_h[wd]);
        d_keep_w[wd] = in.whole || keeps_columns(in_span_w, in.stride_w);
        d_span_w[wd] = d_keep_w[wd] ? in_span_w[7:0] : in.kw; d_step_w[wd] = d_keep_w[wd] ? in.dilation_w : 8'd1;
        d_advance_w[wd] = d_keep_w[wd] ? in.stride_w : in.kw;
        d_stripe[wd] = in_stripe;
        d_stripe_x[wd] = 32'(d_stripe[wd]) * 32'(in.stride_w);
        d_step_bytes[wd] = d_keep_w[wd] ? in.x_pixel_stride : 32'(in.dilation_w) * in.x_pixel_stride;
        d_window_bytes[wd] = 32'(in.stride_w) * in.x_pixel_stride;
        d_write = d_write + 1;
      end
    end
  endtask
