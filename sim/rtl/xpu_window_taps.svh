// Window engine: from the line buffers to the accumulators.
//
// A column is the pixels of one place in all rows of a window; a word of a line buffer has two of bytes. Eight columns
// stand beside the multipliers, so that neighbouring windows share them. In each cycle one word of each line buffer is
// read into one or two of these, zero points subtracted, and nine taps of one window are multiplied and added: 8x8 and
// pooling take one such step for each nine taps, 16x8 two, 16x16 four (bytes of the operands, as in the tensor engine).
//
// Throughput: a step in each cycle, while input arrives, results are taken and the weights of the next job are here.
// Latency: three cycles from a word of the line buffers to its result.
  localparam int unsigned BANKS = 4;      // results that wait for the post-processor
  localparam int unsigned ACC_ROWS = 1;
  localparam int unsigned QUARTER = CHANNELS / 4;
  localparam int unsigned HALF = CHANNELS / 2;
  localparam int unsigned KERNEL = xpu_chip_pkg::WINDOW_KERNEL;
  localparam int unsigned TAPS = KERNEL * KERNEL, NO_TAP = TAPS;
  localparam int unsigned SET = TAPS + 1;  // of weights: the row of zeros stands behind them

  // Lanes are channels in the order 0, 4, 8, ..., 1, 5, ... of bytes, 0, 2, ..., 1, 3, ... of int16: so operands are
  // taken out of words without a shuffle. Results and start values are in the natural order.
  logic [31:0] lines[LINE_ROWS*WORDS][HALF];
  logic [31:0] held[RING_COLUMNS*8][CHANNELS];  // column, row of the window
  logic [31:0] weight[2*SET][CHANNELS];
  logic [31:0] start[2*CHANNELS];
  logic [1:0] set_full;

  // Columns that are read: the walker, and what the second stage is to do
  logic [2:0] k_job;
  logic [15:0] k_oy;
  logic [31:0] k_m, k_tap, k_x, k_y;      // number of the column; its tap (where they are read again), place, top row
  logic [31:0] k_window_x;
  logic [15:0] k_slot, k_row;             // line buffer of the top row; its number, counted over all jobs
  logic [15:0] k_asked, k_have;           // columns, counted over all jobs
  logic [1:0] c_valid, c_pad;
  logic c_half[2];
  logic [1:0] c_desc;
  logic [2:0] c_at;
  logic [15:0] c_slot, c_freed, c_word;
  logic [31:0] c_y;
  logic [15:0] l_rows, l_slot, f_rows;    // rows that are complete in the line buffers; that are no longer needed
  logic [31:0] l_columns;                 // columns of the row that arrives

  // Windows
  logic a_set;
  logic [15:0] a_oy, a_ox, a_at;          // a_at: number of the first column
  logic [7:0] a_ky, a_kx;
  logic [5:0] a_tap;                      // number of the next tap
  logic [2:0] a_column;                   // its column, where it is not the first of a row
  logic [1:0] a_part;
  logic [31:0] sum[CHANNELS];
  logic [31:0] acc[CHANNELS];
  logic [63:0] wide_acc[CHANNELS];
  logic e_valid, e_first, e_last, e_end, e_max, e_wide, e_set;
  logic [4:0] e_shift;
  logic [15:0] e_channels;

  // Results, to the post-processor: the names that it has for the tensor engine's banks
  logic [31:0] low[BANKS*ACC_ROWS][COLUMNS];
  logic [31:0] high[BANKS*ACC_ROWS][COLUMNS];
  /* verilator lint_off UNUSEDSIGNAL */
  logic [3:0] bank_busy;
  logic [1:0] start_count, q_credit;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [1:0] q_bank[4];
  logic [15:0] q_pixels[4];
  logic [15:0] q_columns[4];
  logic [2:0] q_write, q_read;
  logic [15:0] q_pixel, q_column;

  logic taps_busy;
  logic [4:0] lost;
  logic room;              // for one more result

  // A byte of a 16-bit operand: the high one is signed
`define BYTE_OF(v, s, f) (((((v) >> s) & 255) ^ f) - f)

  // A lane of a pixel: of bytes the s-th of a word, of int16
`define LANE8(word, s, f, o) (((((word) >> (8 * s)) & 255) ^ f) - o)
`define LANE16(word, s, f, o) (((((word) >> (16 * s)) & 65535) ^ f) - o)
  // The lanes of a pixel, out of words at v[i][b], into y
`define TO_LANES(y, v, i, b, wide, f, o) \
    if (!wide) begin \
      for (j = 0; j < 4; j = j + 1) begin \
        `LOOP(k, QUARTER) `SET(y[j*QUARTER+k], `LANE8(v[i][b+k], j, f, o)); `ENDLOOP(k) \
      end \
    end else begin \
      for (j = 0; j < 2; j = j + 1) begin \
        `LOOP(k, HALF) `SET(y[j*HALF+k], `LANE16(v[i][k], j, f, o)); `ENDLOOP(k) \
      end \
    end

  task automatic step_taps;
  /* verilator lint_off UNUSEDSIGNAL */  // z is LOOP's
    int unsigned i, j, k, n, z, b, to, s, h;
  /* verilator lint_on UNUSEDSIGNAL */
    logic go, used, pad;
    logic [1:0] wd, wj;
    logic [31:0] f, o, xs, xf, ws, wf, word, tap, column, ky, kx, y, slot, read;
    logic [15:0] ahead;
    logic [63:0] t;
  /* verilator lint_off UNUSEDSIGNAL */  // high bits of numbers of memory rows
    int unsigned r0, r1, r2, r3, r4, r5, r6, r7, r8, w0, w1, w2, w3, w4, w5, w6, w7, w8;
  /* verilator lint_on UNUSEDSIGNAL */
    i = 0; j = 0; k = 0; n = 0; z = 0; b = 0; to = 0; s = 0; h = 0; go = 0; used = 0; pad = 0; wd = 0; wj = 0; f = 0; o = 0;
    xs = 0; xf = 0; ws = 0; wf = 0; word = 0; tap = 0; column = 0; ky = 0; kx = 0; y = 0; slot = 0; read = 0; ahead = 0;
    t = 0;
    r0 = 0; r1 = 0; r2 = 0; r3 = 0; r4 = 0; r5 = 0; r6 = 0; r7 = 0; r8 = 0;
    w0 = 0; w1 = 0; w2 = 0; w3 = 0; w4 = 0; w5 = 0; w6 = 0; w7 = 0; w8 = 0;
    if (rst) begin
      k_job = 0; k_oy = 0; k_m = 0; k_tap = 0; k_x = 0; k_y = 0; k_window_x = 0; k_slot = 0; k_row = 0; k_asked = 0;
      k_have = 0; c_valid = 0; c_freed = 0; f_rows = 0; a_job = 0; a_set = 0; a_oy = 0; a_ox = 0; a_at = 0; a_ky = 0;
      a_kx = 0; a_tap = 0; a_column = 0; a_part = 0; e_valid = 0; set_full = 0; q_write = 0; q_read = 0; q_pixel = 0;
      q_column = 0; bank_busy = 0; start_count = 0; taps_busy = 0; lost = xpu_chip_pkg::LOST_EMPTY; room = 1;
      `LOOP(n, CHANNELS)
        `SET(weight[NO_TAP][n], 0); `SET(weight[SET+NO_TAP][n], 0);
      `ENDLOOP(n)
    end else begin
      // Sums to the accumulators; of the last step to the results
      if (e_valid) begin
        if (e_max) begin
          if (!e_first) begin
            `LOOP(n, CHANNELS) sum[n] = sum[n] < acc[n] ? acc[n] : sum[n]; `ENDLOOP(n)
          end
          if (e_last) begin
            `LOOP(n, CHANNELS) sum[n] = sum[n] ^ 32'h80000000; `ENDLOOP(n)
          end
        end else if (!e_wide && !e_first) begin
          `LOOP(n, CHANNELS) sum[n] = sum[n] + acc[n]; `ENDLOOP(n)
        end
        if (!e_wide || e_max) begin
          `LOOP(n, CHANNELS) acc[n] = sum[n]; `ENDLOOP(n)
        end
        if (e_wide) begin
          f = e_first || e_max ? 0 : 32'hffffffff;
          `LOOP(n, CHANNELS)
            t = {32'd0, sum[n] ^ 32'h80000000} - 64'h80000000;
            wide_acc[n] = (t << e_shift) + (wide_acc[n] & {f, f});
          `ENDLOOP(n)
        end
        if (e_last) begin
          i = 32'(q_write[1:0]); b = e_set ? CHANNELS : 0;
          if (!e_wide) begin
            `LOOP(k, QUARTER)
              `SET(low[i][4*k], acc[k] + start[b+4*k]);
              `SET(low[i][4*k+1], acc[QUARTER+k] + start[b+4*k+1]);
              `SET(low[i][4*k+2], acc[2*QUARTER+k] + start[b+4*k+2]);
              `SET(low[i][4*k+3], acc[3*QUARTER+k] + start[b+4*k+3]);
            `ENDLOOP(k)
          end else begin
            for (j = 0; j < 2; j = j + 1) begin
              `LOOP(k, HALF)
                t = {32'd0, start[b+2*k+j] ^ 32'h80000000} - 64'h80000000 + wide_acc[j*HALF+k];
                `SET(low[i][2*k+j], t[31:0]); `SET(high[i][2*k+j], {16'd0, t[47:32]});
              `ENDLOOP(k)
            end
          end
          q_bank[i[1:0]] = i[1:0]; q_pixels[i[1:0]] = 1; q_columns[i[1:0]] = e_channels; q_write = q_write + 1;
        end
        if (e_end) set_full[e_set] = 0;
      end
      room = 3'(q_write - q_read) != 4;
      e_valid = 0; taps_busy = 0; lost = xpu_chip_pkg::LOST_POST;
      // Nine taps of a window
      wj = a_job[1:0]; wd = b_desc[wj];
      if (a_job != b_write && !d_whole[wd]) begin
        ahead = k_have - a_at;
        if (!set_full[a_set]) lost = xpu_chip_pkg::LOST_WEIGHTS;
        else if (ahead[15] || ahead < 16'(d_span_w[wd])) lost = xpu_chip_pkg::LOST_LINES;
        else if (room) begin
          e_valid = 1; taps_busy = 1; e_first = a_ky == 0 && a_kx == 0 && a_part == 0;
          e_max = d_op[wd] == xpu_chip_pkg::WINDOW_MAX; e_wide = d_wide[wd]; e_set = a_set; e_channels = b_channels[wj];
          s = a_set ? SET : 0; ky = 32'(a_ky); kx = 32'(a_kx); tap = s + 32'(a_tap);
          column = kx == 0 ? 32'(a_at) : 32'(a_column);
`define TAP(c) \
          if (ky < 32'(d_kh[wd])) begin \
            r``c = (column & (RING_COLUMNS - 1)) * 8 + ky; w``c = tap; \
            kx = kx + 1; tap = tap + 1; column = column + 32'(d_step_w[wd]); \
            if (kx == 32'(d_kw[wd])) begin \
              kx = 0; ky = ky + 1; column = 32'(a_at); \
            end \
          end else begin \
            r``c = r0; w``c = s + NO_TAP; \
          end
          `TAP(0) `TAP(1) `TAP(2) `TAP(3) `TAP(4) `TAP(5) `TAP(6) `TAP(7) `TAP(8)
          go = 32'(a_tap) + 9 >= 32'(d_taps[wd]);  // the last step of its part: ky is d_kh
          if (e_max) begin
`define LARGER(v, c) word = held[r``c][n]; v = v < word ? word : v;
            `LOOP(n, CHANNELS)
              f = held[r0][n]; `LARGER(f, 1)
              o = held[r2][n]; `LARGER(o, 3)
              xs = held[r4][n]; `LARGER(xs, 5)
              xf = held[r6][n]; `LARGER(xf, 7)
              f = f < o ? o : f; xs = xs < xf ? xf : xs; f = f < xs ? xs : f; `LARGER(f, 8)
              sum[n] = f;
            `ENDLOOP(n)
            e_shift = 0;
          end else if (!d_wide[wd] || d_op[wd] == xpu_chip_pkg::WINDOW_SUM) begin
            `LOOP(n, CHANNELS)
              sum[n] = held[r0][n] * weight[w0][n] + held[r1][n] * weight[w1][n] + held[r2][n] * weight[w2][n] +
                       held[r3][n] * weight[w3][n] + held[r4][n] * weight[w4][n] + held[r5][n] * weight[w5][n] +
                       held[r6][n] * weight[w6][n] + held[r7][n] * weight[w7][n] + held[r8][n] * weight[w8][n];
            `ENDLOOP(n)
            e_shift = 0;
          end else begin
            // Parts: bit 0: low bytes of x, bit 1: of w
            xs = a_part[0] ? 0 : 8; xf = a_part[0] ? 0 : 128;
            ws = !d_words[wd] || a_part[1] ? 0 : 8; wf = d_words[wd] && a_part[1] ? 0 : 128;
            e_shift = xs[4:0] + ws[4:0];
            `LOOP(n, CHANNELS) sum[n] = 0; `ENDLOOP(n)
`define PRODUCT(c) \
            `LOOP(n, CHANNELS) \
              sum[n] = sum[n] + `BYTE_OF(held[r``c][n], xs, xf) * `BYTE_OF(weight[w``c][n], ws, wf); \
            `ENDLOOP(n)
            `PRODUCT(0) `PRODUCT(1) `PRODUCT(2) `PRODUCT(3) `PRODUCT(4) `PRODUCT(5) `PRODUCT(6) `PRODUCT(7) `PRODUCT(8)
            if (go && a_part != (d_words[wd] ? 2'd3 : 2'd1)) begin
              go = 0; ky = 0; kx = 0; tap = s; a_part = a_part + 1;
            end
          end
          e_last = go; e_end = 0; a_ky = ky[7:0]; a_kx = kx[7:0];
          tap = tap - s; a_tap = tap[5:0]; a_column = column[2:0];
          if (go) begin
            a_ky = 0; a_kx = 0; a_tap = 0; a_part = 0; a_ox = a_ox + 1; a_at = a_at + 16'(d_advance_w[wd]);
            if (a_ox == b_ow[wj]) begin
              a_ox = 0; a_oy = a_oy + 1; a_at = a_at + 16'(d_span_w[wd]) - 16'(d_advance_w[wd]);
              if (a_oy == d_oh[wd]) begin
                a_oy = 0; e_end = 1; a_set = !a_set; a_job = a_job + 1;
              end
            end
          end
        end
      end else if (a_job != b_write && !set_full[a_set]) lost = xpu_chip_pkg::LOST_WEIGHTS;
      else if (a_job != b_write && room) lost = xpu_chip_pkg::LOST_LINES;
      // Words into columns
      f_rows = f_rows + c_freed; c_freed = 0;
      if (c_valid != 0) begin
        wd = c_desc; f = d_flip[wd]; o = d_zero[wd];
        for (s = 0; s < 2; s = s + 1) if (c_valid[s]) begin
          y = c_y; slot = 32'(c_slot);
          for (h = 0; h < 7; h = h + 1) if (h < 32'(d_kh[wd])) begin
            to = 8 * ((32'(c_at) + s) & (RING_COLUMNS - 1)) + h;
            if (c_pad[s] || y >= 32'(d_tile_rows[wd])) begin
              b = d_op[wd] == xpu_chip_pkg::WINDOW_MAX ? 0 - o : 0;
              `LOOP(n, CHANNELS) `SET(held[to][n], b); `ENDLOOP(n)
            end else begin
              i = slot * WORDS + 32'(c_word); b = c_half[s] ? QUARTER : 0;
              `TO_LANES(held[to], lines, i, b, d_wide[wd], f, o)
            end
            y = y + 32'(d_dilation_h[wd]); slot = slot + 32'(d_step_h[wd]);
            slot = slot >= LINE_ROWS ? slot - LINE_ROWS : slot;
          end
          k_have = k_have + 1;
        end
      end
      c_valid = 0;
      // The next columns: one word, and pixels of padding
      if (k_job != b_write && d_whole[b_desc[k_job[1:0]]]) k_job = k_job + 1;
      else if (k_job != b_write) begin
        used = 0; go = 1; word = 0; wj = k_job[1:0]; wd = b_desc[wj]; c_at = k_asked[2:0];
        if (k_m == 0) begin
          k_x = b_left[wj]; k_window_x = k_x; k_tap = 0;
          if (k_oy == 0) k_y = d_top[wd];
        end
        c_y = k_y; c_slot = k_slot; c_desc = wd; read = b_read[wj];
        ahead = l_rows - k_row;
        for (s = 0; s < 2; s = s + 1) if (go && k_m != read) begin
          pad = k_x >= 32'(d_tile_cols[wd]);
          go = 16'(k_asked - a_at) < 16'(RING_COLUMNS) &&
               (ahead >= 16'(d_span_h[wd]) || (ahead + 1 == 16'(d_span_h[wd]) && l_columns > k_m)) &&
               (pad || !used || word == (d_wide[wd] ? k_m : k_m >> 1));
          if (go) begin
            if (!pad) begin
              used = 1; word = d_wide[wd] ? k_m : k_m >> 1;
            end
            c_valid[s] = 1; c_pad[s] = pad; c_half[s] = k_m[0] && !d_wide[wd];
            k_asked = k_asked + 1; k_m = k_m + 1;
            if (d_keep_w[wd]) k_x = k_x + 1;
            else begin
              k_tap = k_tap + 1; k_x = k_x + 32'(d_dilation_w[wd]);
              if (k_tap == 32'(d_kw[wd])) begin
                k_tap = 0; k_window_x = k_window_x + 32'(d_stride_w[wd]); k_x = k_window_x;
              end
            end
          end
        end
        c_word = word[15:0];
        // The next row of windows; line buffers are free when the second stage has read them
        if (k_m == read) begin
          k_m = 0; k_oy = k_oy + 1; c_freed = 16'(d_advance_h[wd]); k_y = k_y + 32'(d_stride_h[wd]);
          if (k_oy == d_oh[wd]) begin
            k_oy = 0; k_job = k_job + 1; c_freed = 16'(d_span_h[wd]);
          end
          k_row = k_row + c_freed; k_slot = k_slot + c_freed;
          if (32'(k_slot) >= LINE_ROWS) k_slot = k_slot - 16'(LINE_ROWS);
        end
      end
    end
  endtask
