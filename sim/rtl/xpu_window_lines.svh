// Window engine: from SM into weights, start values and line buffers.
//
// Two walkers see the same sequence of pieces of memory: of each job the rows of weights, the start values, then row after
// row the pixels. Walker 1 asks for lines, walker 0 uses them: two neighbouring pixels of bytes in a cycle, which go into
// one word of a line buffer, or one of int16; a row of weights; 16 start values. Windows that are the whole tile do not
// need line buffers: their pixels go to the accumulators at once.
//
// Throughput: one line of 64 bytes per cycle. A row of a line buffer is written when no window needs the row before in it.
  localparam int unsigned PIECE_WORDS = HALF > 16 ? HALF : 16;

  logic [2:0] w_job[2];
  logic w_new[2];            // its first piece is the next
  logic w_pixels[2];         // weights and start values are done
  logic [15:0] w_k[2];       // piece of those
  logic [31:0] w_n[2];       // row
  logic w_new_row[2];
  logic w_outside[2];        // the row is outside of the tile
  logic [7:0] w_ky[2];
  logic [31:0] w_y[2];
  logic [31:0] w_window_y[2];
  logic [31:0] w_m[2];       // column
  logic [7:0] w_kx[2];
  logic [31:0] w_x[2];
  logic [31:0] w_window_x[2];
  logic [31:0] w_at[2];      // address
  logic [31:0] w_window_at[2];
  logic [26:0] w_tag0[2];    // by walker and parity of the line: valid bit, line
  logic [26:0] w_tag1[2];
  logic [31:0] x_line[LINES*16];
  logic [3:0] x_write, x_read, x_flight;
  logic [31:0] pair_line[32];  // the last even and odd line
  logic [31:0] piece[1][PIECE_WORDS];
  logic [31:0] lanes[CHANNELS];
  logic l_set, l_new;        // the set that is filled; nothing is done for it yet
  logic x_want;              // as x_valid

  // Walker u at its piece: `at` its address, `size` its bytes, la and lb its first and last line; skip: there is nothing
  // to fetch, a row or a column outside
`define PIECE(u) \
    wj = w_job[u][1:0]; wd = b_desc[wj]; \
    n_weights = d_op[wd] == xpu_chip_pkg::WINDOW_CONVOLUTION ? 16'(d_taps[wd]) : 0; \
    n_start = d_start[wd] ? (b_channels[wj] + 15) >> 4 : 0; \
    if (w_new[u]) begin \
      w_new[u] = 0; w_pixels[u] = n_weights + n_start == 0; w_k[u] = 0; w_n[u] = 0; w_new_row[u] = 1; w_ky[u] = 0; \
      w_y[u] = d_top[wd]; w_window_y[u] = w_y[u]; w_at[u] = n_weights != 0 ? b_w[wj] : b_start[wj]; \
    end \
    if (w_pixels[u] && w_new_row[u]) begin \
      w_new_row[u] = 0; w_m[u] = 0; w_kx[u] = 0; w_x[u] = b_left[wj]; w_window_x[u] = w_x[u]; \
      w_outside[u] = w_y[u] >= 32'(d_tile_rows[wd]); \
      row = 32'(d_ring_first[wd]) + w_y[u]; \
      if (d_ring_rows[wd] != 0 && row >= 32'(d_ring_rows[wd])) row = row - 32'(d_ring_rows[wd]); \
      w_at[u] = b_x[wj] + b_offset[wj] + row * d_row_stride[wd]; w_window_at[u] = w_at[u]; \
    end \
    skip = w_pixels[u] && (w_outside[u] || w_x[u] >= 32'(d_tile_cols[wd])); \
    at = w_at[u]; \
    size = w_pixels[u] ? 32'(b_channels[wj]) << d_wide[wd] : \
           w_k[u] < n_weights ? 32'(b_channels[wj]) << d_words[wd] : \
           (w_k[u] + 1 == n_weights + n_start ? ((32'(b_channels[wj]) - 1) & 15) + 1 : 32'd16) << 2; \
    la = 26'(at >> 6); lb = 26'((at + size - 1) >> 6);

  // Takes walker u to its next piece; rows outside are one piece but where the tile is the window
`define NEXT_PIECE(u) \
    if (!w_pixels[u]) begin \
      w_k[u] = w_k[u] + 1; \
      w_at[u] = w_k[u] < n_weights ? w_at[u] + d_w_stride[wd] : w_k[u] == n_weights ? b_start[wj] : w_at[u] + 64; \
      w_pixels[u] = w_k[u] == n_weights + n_start; \
    end else begin \
      w_m[u] = w_outside[u] && !d_whole[wd] ? b_read[wj] : w_m[u] + 1; \
      if (d_keep_w[wd]) begin \
        w_x[u] = w_x[u] + 1; w_at[u] = w_at[u] + d_step_bytes[wd]; \
      end else begin \
        w_kx[u] = w_kx[u] + 1; w_x[u] = w_x[u] + 32'(d_dilation_w[wd]); w_at[u] = w_at[u] + d_step_bytes[wd]; \
        if (w_kx[u] == d_kw[wd]) begin \
          w_kx[u] = 0; w_window_x[u] = w_window_x[u] + 32'(d_stride_w[wd]); w_x[u] = w_window_x[u]; \
          w_window_at[u] = w_window_at[u] + d_window_bytes[wd]; w_at[u] = w_window_at[u]; \
        end \
      end \
      if (w_m[u] == b_read[wj]) begin \
        w_n[u] = w_n[u] + 1; w_new_row[u] = 1; w_ky[u] = w_ky[u] + 1; \
        if (d_keep_h[wd]) w_y[u] = w_y[u] + 1; \
        else if (w_ky[u] != d_kh[wd]) w_y[u] = w_y[u] + 32'(d_dilation_h[wd]); \
        else begin \
          w_ky[u] = 0; w_window_y[u] = w_window_y[u] + 32'(d_stride_h[wd]); w_y[u] = w_window_y[u]; \
        end \
        if (w_n[u] == d_rows[wd]) begin \
          w_new[u] = 1; w_job[u] = w_job[u] + 1; w_tag``u[0] = 0; w_tag``u[1] = 0; \
        end \
      end \
    end

  // Line l into the pair of walker 0, if it has arrived; else go falls
`define GET(l) \
    if (w_tag0[32'(l[0])] != {1'b1, l}) begin \
      if (go && !popped && x_read != x_write) begin \
        popped = 1; w_tag0[32'(l[0])] = {1'b1, l}; i = 32'(x_read[2:0]) * 16; \
        if (l[0]) begin \
          `LOOP(k, 16) pair_line[16+k] = x_line[i+k]; `ENDLOOP(k) \
        end else begin \
          `LOOP(k, 16) pair_line[k] = x_line[i+k]; `ENDLOOP(k) \
        end \
        x_read = x_read + 1; x_flight = x_flight - 1; \
      end else go = 0; \
    end

  // Line l for walker 1, unless it was asked for; else go falls
`define ASK(l) \
    if (go && w_tag1[32'(l[0])] != {1'b1, l}) begin \
      if (issued) go = 0; \
      else begin \
        issued = 1; x_want = 1; x_address <= {l, 6'd0}; w_tag1[32'(l[0])] = {1'b1, l}; x_flight = x_flight + 1; \
      end \
    end

  task automatic step_lines;
  /* verilator lint_off UNUSEDSIGNAL */  // z is LOOP's; high halves of shifts
    int unsigned i, j, k, n, z, q, s, to, b;
    logic [63:0] t;
  /* verilator lint_on UNUSEDSIGNAL */
    logic go, issued, popped, skip, wide, is_pixel, fresh;
    logic [1:0] wd, wj;
    logic [15:0] n_weights, n_start;
    logic [31:0] at, size, row, f, o, w;
    logic [25:0] la, lb;
    i = 0; j = 0; k = 0; n = 0; z = 0; q = 0; s = 0; to = 0; b = 0; t = 0; go = 0; issued = 0; popped = 0; skip = 0; wide = 0;
    is_pixel = 0; fresh = 0; wd = 0; wj = 0; n_weights = 0; n_start = 0; at = 0; size = 0; row = 0; f = 0; o = 0; w = 0;
    la = 0; lb = 0;
    if (rst) begin
      x_want = 0; x_valid <= 0; x_write = 0; x_read = 0; x_flight = 0; l_rows = 0; l_slot = 0; l_columns = 0; l_set = 0; l_new = 1;
      for (s = 0; s < 2; s = s + 1) begin
        w_job[s] = 0; w_new[s] = 1; w_tag0[s] = 0; w_tag1[s] = 0;
      end
    end else begin
      go = w_job[0] != b_write; fresh = 1;
      for (s = 0; s < 2; s = s + 1) if (go && w_job[0] != b_write) begin
        `PIECE(0)
        is_pixel = w_pixels[0]; wide = d_wide[wd];
        // The second pixel must be the neighbour in its word
        if (s == 1) go = is_pixel && !fresh && !wide && w_m[0][0];
        if (l_new && set_full[l_set]) go = 0;
        if (go && l_new) begin
          // No weights: a sum has ones; no start values: zeros
          l_new = 0; b = l_set ? SET : 0; q = l_set ? CHANNELS : 0; set_full[l_set] = n_weights + n_start == 0;
          if (n_start == 0) begin
            `LOOP(k, CHANNELS) `SET(start[q+k], 0); `ENDLOOP(k)
          end
          if (d_op[wd] == xpu_chip_pkg::WINDOW_SUM && !d_whole[wd]) begin
            for (j = 0; j < TAPS; j = j + 1) if (j < 32'(d_taps[wd])) begin
              `LOOP(k, CHANNELS) `SET(weight[b+j][k], 1); `ENDLOOP(k)
            end
          end
        end
        if (is_pixel && !d_whole[wd] && 16'(l_rows - f_rows) >= 16'(LINE_ROWS)) go = 0;
        if (is_pixel && d_whole[wd] && !(a_job == w_job[0] && room && (s == 1 || !e_valid))) go = 0;
        if (go && !skip) begin
          `GET(la)
          `GET(lb)
        end
        if (go) begin
          fresh = 0;
          // What the piece holds, from its first byte on
          if (!skip) begin
            q = (at >> 2) & 31; n = (size + 3) >> 2;
            if (at[4:0] == 0 && CHANNELS == 32 && n == 8) begin  // the common case, for the simulator's sake
              `LOOP(k, QUARTER) piece[0][k] = pair_line[q+k]; `ENDLOOP(k)
            end else begin
              `LOOP_TO(k, n, PIECE_WORDS)
                t = {pair_line[(q + k + 1) & 31], pair_line[(q + k) & 31]} >> {at[1:0], 3'd0};
                piece[0][k] = t[31:0];
              `ENDLOOP(k)
            end
          end
          if (!is_pixel && w_k[0] < n_weights) begin
            to = (l_set ? SET : 0) + 32'(w_k[0]); f = d_w_flip[wd]; o = d_w_zero[wd];
            if (d_words[wd] == wide) begin
              `TO_LANES(weight[to], piece, 0, 0, wide, f, o)
            end else begin  // bytes, for lanes in the order of int16
              for (j = 0; j < 2; j = j + 1) begin
                `LOOP(k, QUARTER)
                  w = piece[0][k] >> (8 * j);
                  `SET(weight[to][j*HALF+2*k], ((w & 255) ^ f) - o);
                  `SET(weight[to][j*HALF+2*k+1], (((w >> 16) & 255) ^ f) - o);
                `ENDLOOP(k)
              end
            end
          end else if (!is_pixel) begin
            q = (l_set ? CHANNELS : 0) + 16 * (32'(w_k[0]) - 32'(n_weights));
            `LOOP(k, (CHANNELS < 16 ? CHANNELS : 16)) `SET(start[q+k], piece[0][k]); `ENDLOOP(k)
          end else if (d_whole[wd]) begin
            f = d_flip[wd]; o = d_zero[wd]; b = d_op[wd] == xpu_chip_pkg::WINDOW_MAX ? 0 - o : 0;
            if (skip) begin
              `LOOP(n, CHANNELS) lanes[n] = b; `ENDLOOP(n)
            end else if (wide) begin
              for (j = 0; j < 2; j = j + 1) begin
                `LOOP(k, HALF) lanes[j*HALF+k] = `LANE16(piece[0][k], j, f, o); `ENDLOOP(k)
              end
            end else begin
              for (j = 0; j < 4; j = j + 1) begin
                `LOOP(k, QUARTER) lanes[j*QUARTER+k] = `LANE8(piece[0][k], j, f, o); `ENDLOOP(k)
              end
            end
            if (!e_valid) begin
              `LOOP(n, CHANNELS) sum[n] = lanes[n]; `ENDLOOP(n)
              e_first = w_n[0] == 0 && w_m[0] == 0;
            end else if (e_max) begin
              `LOOP(n, CHANNELS) sum[n] = sum[n] < lanes[n] ? lanes[n] : sum[n]; `ENDLOOP(n)
            end else begin
              `LOOP(n, CHANNELS) sum[n] = sum[n] + lanes[n]; `ENDLOOP(n)
            end
            e_valid = 1; taps_busy = 1; e_last = 0; e_end = 0; e_max = d_op[wd] == xpu_chip_pkg::WINDOW_MAX;
            e_wide = wide; e_shift = 0; e_set = l_set; e_channels = b_channels[wj];
          end else if (!skip) begin
            to = 32'(l_slot) * WORDS + (wide ? w_m[0] : w_m[0] >> 1); b = !wide && w_m[0][0] ? QUARTER : 0;
            if (wide) begin
              `LOOP(k, HALF) `SET(lines[to][k], piece[0][k]); `ENDLOOP(k)
            end else begin
              `LOOP(k, QUARTER) `SET(lines[to][b+k], piece[0][k]); `ENDLOOP(k)
            end
          end
          `NEXT_PIECE(0)
          if (w_pixels[0] && !is_pixel) set_full[l_set] = 1;
          if (is_pixel && !d_whole[wd]) begin
            l_columns = w_m[0];
            if (w_new_row[0]) begin
              l_columns = 0; l_rows = l_rows + 1; l_slot = 32'(l_slot) == LINE_ROWS - 1 ? 0 : l_slot + 1;
            end
          end
          if (w_new[0]) begin
            if (d_whole[wd]) begin
              e_last = 1; e_end = 1; a_job = a_job + 1; a_set = !a_set;
            end
            l_set = !l_set; l_new = 1;
          end
          if (!is_pixel || w_new_row[0]) go = 0;
        end
      end
      // Requests
      if (x_ready) x_want = 0;
      issued = 0; go = w_job[1] != b_write && !x_want && x_flight != 4'(LINES);
      for (s = 0; s < 2; s = s + 1) if (go && w_job[1] != b_write) begin
        `PIECE(1)
        if (!skip) begin
          `ASK(la)
          if (lb != la) `ASK(lb)
        end
        if (go) begin
          `NEXT_PIECE(1)
        end
      end
      x_valid <= x_want;
      // Answers
      if (x_done) begin
        for (k = 0; k < 16; k = k + 1) `SET(x_line[32'(x_write[2:0])*16+k], x_rdata[k*32+:32]);
        x_write = x_write + 1;
      end
    end
  endtask
