// Tensor engine: implicit im2col. Walks the passes of each tensor descriptor (K = kh x kw x channels in blocks of ROWS,
// the output pixels within a block; a block twice for 16x16 operands) and makes one row of ROWS operands per step.
//
// A block of K is cut into segments, runs of bytes of the tile that hang together: a piece of one tap, or of one row of
// taps where pixels lie densely and the dilation is 1. Up to SEGMENTS segments are looked up per cycle, each in a
// window of its own of two 64-byte lines, so that a line is read once for all pixels that it serves. What lies outside
// of the tile is filled with the zero point.
//
// Throughput: one row per cycle as long as a row needs at most one new line and SEGMENTS segments. Latency: 4 cycles
// beyond the memory's. Up to LINES lines are on their way; rows wait at row_valid until row_ready.
  localparam int unsigned SEGMENTS = 4;
  localparam int unsigned TABLES = 4;   // blocks of K whose segments are known

  // Descriptors, a ring
  logic [31:0] d_x[4];            // address of tap 0 of output pixel 0
  logic [31:0] d_row_step[4];     // bytes from an output row to the next
  logic [31:0] d_pixel_step[4];
  logic [31:0] d_tap_row[4];      // bytes from a kernel row to the next
  logic [31:0] d_tap[4];          // bytes from a kernel column to the next
  logic [31:0] d_y0[4];           // tile row of tap 0 of output row 0
  logic [31:0] d_e0[4];           // tile column of tap 0 of output pixel 0, times channels
  logic [31:0] d_pixel_elements[4];
  logic [31:0] d_tap_elements[4];
  logic [31:0] d_run[4];          // elements of a run before the next tap or row of taps
  logic [31:0] d_row_elements[4]; // elements of a tile row
  logic [15:0] d_tile_rows[4];
  logic [15:0] d_oh[4];
  logic [15:0] d_ow[4];
  logic [7:0] d_stride_h[4];
  logic [7:0] d_dilation_h[4];
  logic [7:0] d_kh[4];
  logic [7:0] d_runs[4];          // runs per kernel row
  logic d_twice[4];
  logic [7:0] d_pad[4];           // byte of padding

  // Segments of the blocks of K, a ring of tables
  logic [31:0] s_offset[TABLES*ROWS];
  logic [31:0] s_element[TABLES*ROWS];
  logic [15:0] s_row[TABLES*ROWS];     // tile row relative to tap 0
  logic [15:0] s_length[TABLES*ROWS];  // elements
  logic [15:0] s_at[TABLES*ROWS];      // first row of the array
  logic [15:0] t_count[TABLES];
  logic t_first[TABLES];
  logic t_last[TABLES];
  logic [2:0] t_write;
  logic [2:0] c_desc;
  logic [15:0] c_at, c_count, c_row;
  logic [31:0] c_run_at, c_row_offset, c_tap_offset, c_tap_element;
  logic [7:0] c_ky, c_run;
  logic c_first;

  // Two walkers over tables, pixels and segments: 1 asks for lines, 0 uses them. Both see the same lines in the same
  // order, so that the tags of 0 say which answers to take.
  logic [2:0] w_table[2];
  logic [2:0] w_desc[2];
  logic w_new[2];
  logic w_low[2];
  logic [15:0] w_oy[2];
  logic [15:0] w_ox[2];
  logic [15:0] w_segment[2];
  logic [15:0] w_pixel[2];
  logic [31:0] w_row_base[2];
  logic [31:0] w_base[2];
  logic [31:0] w_y[2];
  logic [31:0] w_e[2];
  logic [26:0] w_tag0[SEGMENTS*2];  // by walker: valid bit, line
  logic [26:0] w_tag1[SEGMENTS*2];

  // Answers, and windows: line l of segment s is in slot 2 s + l[0]
  logic [31:0] line[LINES][16];
  logic [3:0] l_write, l_read;
  logic [3:0] l_flight;  // asked for and not used yet
  logic [31:0] window[SEGMENTS*2][16];

  // Row under construction: what the second stage is to do
  logic g_valid, g_first, g_last, g_full, g_wide;
  logic [7:0] g_pad;
  logic [15:0] g_count;
  logic [6:0] g_ring[SEGMENTS];
  logic [15:0] g_low[SEGMENTS];   // bytes of the row
  logic [15:0] g_high[SEGMENTS];
  logic [15:0] g_pixel;
  logic g_begin, g_initial, g_pass_low, g_end, g_done;
  logic [31:0] row[WORDS];

  // The row that the array takes next: operand k in byte k, or for 16-bit modes in bytes 2 k and 2 k + 1
  logic [31:0] row_data[WORDS];
  logic row_valid, row_ready;
  logic [15:0] row_pixel;  // output pixel, counted over the tile
  logic row_begin;         // first row of a descriptor
  logic row_initial;       // of the first block of K
  logic row_low;           // of the pass with the low bytes of 16-bit weights
  logic row_end;           // last row of a pass
  logic row_last;          // last row of a descriptor
  logic x_want;            // as x_valid

  // Segment s of walker u: e element in the tile row, lo .. hi the elements that exist, la and lb their first and last
  // line, at the address of element 0
`define SEGMENT(u, s) \
    i = 32'(w_table[u][1:0]) * ROWS + 32'(s); wd = w_desc[u][1:0]; \
    e = w_e[u] + s_element[i]; \
    lo = e[31] ? 32'd0 - e : 32'd0; \
    hi = d_row_elements[wd] - e; \
    hi = hi[31] ? 32'd0 : hi; hi = hi > 32'(s_length[i]) ? 32'(s_length[i]) : hi; \
    e = w_y[u] + {{16{s_row[i][15]}}, s_row[i]}; \
    hi = e >= 32'(d_tile_rows[wd]) ? 32'd0 : hi; \
    at = w_base[u] + s_offset[i]; \
    la = 26'((at + (lo << d_wide[wd])) >> 6); lb = 26'((at + (hi << d_wide[wd]) - 1) >> 6);

  // Takes walker u to the first pixel of its pass when it is new there
`define ENTER(u) \
    if (w_new[u]) begin \
      wd = w_desc[u][1:0]; w_new[u] = 0; \
      w_row_base[u] = d_x[wd]; w_base[u] = d_x[wd]; w_y[u] = d_y0[wd]; w_e[u] = d_e0[wd]; \
      w_oy[u] = 0; w_ox[u] = 0; w_segment[u] = 0; w_pixel[u] = 0; \
    end

  // Takes walker u to its next pixel
`define NEXT_PIXEL(u) \
    wd = w_desc[u][1:0]; w_segment[u] = 0; w_pixel[u] = w_pixel[u] + 1; \
    if (w_ox[u] + 1 != d_ow[wd]) begin \
      w_ox[u] = w_ox[u] + 1; w_base[u] = w_base[u] + d_pixel_step[wd]; w_e[u] = w_e[u] + d_pixel_elements[wd]; \
    end else if (w_oy[u] + 1 != d_oh[wd]) begin \
      w_ox[u] = 0; w_oy[u] = w_oy[u] + 1; w_row_base[u] = w_row_base[u] + d_row_step[wd]; \
      w_base[u] = w_row_base[u]; w_e[u] = d_e0[wd]; w_y[u] = w_y[u] + 32'(d_stride_h[wd]); \
    end else begin \
      w_new[u] = 1; w_low[u] = d_twice[wd] && !w_low[u]; \
      if (!w_low[u]) begin \
        if (t_last[w_table[u][1:0]]) begin \
          w_desc[u] = w_desc[u] + 1; \
          `LOOP(k, SEGMENTS * 2) w_tag``u[k] = 0; `ENDLOOP(k) \
        end \
        w_table[u] = w_table[u] + 1; \
      end \
    end

  task automatic step_gather;
  /* verilator lint_off UNUSEDSIGNAL */  // z is LOOP's; high halves of shifts
    int unsigned i, j, k, q, s, z;
    logic [63:0] pair, mask;
  /* verilator lint_on UNUSEDSIGNAL */
    logic go, issued, popped;
    logic [1:0] wd;
    logic [31:0] e, lo, hi, at, m, room, rest, length;
    logic [25:0] la, lb;
    i = 0; j = 0; k = 0; q = 0; s = 0; z = 0; go = 0; issued = 0; popped = 0; wd = 0;
    e = 0; lo = 0; hi = 0; at = 0; m = 0; room = 0; rest = 0; length = 0; la = 0; lb = 0; pair = 0; mask = 0;
    if (rst) begin
      row_valid = 0; row_ready = 0; x_want = 0; x_valid <= 0; t_write = 0; c_desc = 0; c_first = 1;
      c_at = 0; c_count = 0; c_row = 0; c_run_at = 0; c_row_offset = 0; c_tap_offset = 0; c_tap_element = 0;
      c_ky = 0; c_run = 0; l_write = 0; l_read = 0; l_flight = 0; g_valid = 0;
      w_table[0] = 0; w_table[1] = 0; w_desc[0] = 0; w_desc[1] = 0; w_new[0] = 1; w_new[1] = 1;
      w_low[0] = 0; w_low[1] = 0;
      `LOOP(k, SEGMENTS * 2) w_tag0[k] = 0; w_tag1[k] = 0; `ENDLOOP(k)
    end else begin
      // Second stage: from the windows into the row, and out
      if (row_ready) row_valid = 0;
      if (g_valid && (!g_last || !row_valid)) begin
        if (g_full && g_ring[0][4:0] == 0 && ROWS == 32 && !g_wide) begin  // the common case, for the simulator's sake
          s = 32'(g_ring[0][6]);
          if (g_ring[0][5]) begin
            `LOOP(k, WORDS / 2) row_data[k] = window[s][k+8]; `ENDLOOP(k)
          end else begin
            `LOOP(k, WORDS / 2) row_data[k] = window[s][k]; `ENDLOOP(k)
          end
        end else if (g_full) begin
          q = 32'(g_ring[0]) >> 2;
          `LOOP_TO(k, g_wide ? WORDS : WORDS / 2, WORDS)
            i = q + k; j = i + 1;
            pair = {window[(j>>4)&1][j&15], window[(i>>4)&1][i&15]} >> {g_ring[0][1:0], 3'd0};
            row_data[k] = pair[31:0];
          `ENDLOOP(k)
        end else begin
          if (g_first) begin
            `LOOP(k, WORDS) row[k] = {4{g_pad}}; `ENDLOOP(k)
          end
          for (s = 0; s < SEGMENTS; s = s + 1) if (s < 32'(g_count) && g_low[s] < g_high[s]) begin
            q = 32'(g_ring[s]) >> 2;
            `LOOP(k, WORDS)
              i = q + k; j = i + 1;
              pair = {window[s*2+((j>>4)&1)][j&15], window[s*2+((i>>4)&1)][i&15]} >> {g_ring[s][1:0], 3'd0};
              lo = 32'(g_low[s]) > 4 * k ? 32'(g_low[s]) - 4 * k : 0; lo = lo > 4 ? 4 : lo;
              hi = 32'(g_high[s]) > 4 * k ? 32'(g_high[s]) - 4 * k : 0; hi = hi > 4 ? 4 : hi;
              mask = ((64'd1 << {hi[2:0], 3'd0}) - 1) & ~((64'd1 << {lo[2:0], 3'd0}) - 1); m = mask[31:0];
              row[k] = (row[k] & ~m) | (pair[31:0] & m);
            `ENDLOOP(k)
          end
          if (g_last) begin
            `LOOP(k, WORDS) row_data[k] = row[k]; `ENDLOOP(k)
          end
        end
        if (g_last) begin
          row_valid = 1; row_pixel = g_pixel; row_begin = g_begin; row_initial = g_initial; row_low = g_pass_low;
          row_end = g_end; row_last = g_done;
        end
        g_valid = 0;
      end
      // First stage: lines into windows, until all lines of a group of segments are there
      if (!g_valid && w_table[0] != t_write) begin
        `ENTER(0)
        go = 1; popped = 0; g_wide = d_wide[w_desc[0][1:0]];
        rest = 32'(t_count[w_table[0][1:0]]) - 32'(w_segment[0]);
        g_last = rest <= SEGMENTS; g_count = g_last ? 16'(rest) : 16'(SEGMENTS); g_first = w_segment[0] == 0;
        g_full = g_first && rest == 1;
        for (j = 0; j < SEGMENTS; j = j + 1) if (go && j < 32'(g_count)) begin
          `SEGMENT(0, 32'(w_segment[0]) + j)
          if (lo < hi) begin
            if (w_tag0[j*2+32'(la[0])] != {1'b1, la}) begin
              if (!popped && l_read != l_write) begin
                popped = 1; w_tag0[j*2+32'(la[0])] = {1'b1, la}; s = j * 2 + 32'(la[0]);
              end else go = 0;
            end
            if (lb != la && w_tag0[j*2+32'(lb[0])] != {1'b1, lb}) begin
              if (go && !popped && l_read != l_write) begin
                popped = 1; w_tag0[j*2+32'(lb[0])] = {1'b1, lb}; s = j * 2 + 32'(lb[0]);
              end else go = 0;
            end
          end
          g_ring[j] = 7'(at - (32'(s_at[i]) << g_wide));
          g_low[j] = 16'((32'(s_at[i]) + lo) << g_wide);
          g_high[j] = lo < hi ? 16'((32'(s_at[i]) + hi) << g_wide) : 0;
          g_full = g_full && lo == 0 && hi == ROWS;
        end
        if (popped) begin
          `LOOP(k, 16) `SET(window[s][k], line[l_read[2:0]][k]); `ENDLOOP(k)
          l_read = l_read + 1; l_flight = l_flight - 1;
        end
        if (go) begin
          g_valid = 1; g_pixel = w_pixel[0]; wd = w_desc[0][1:0]; g_pad = d_pad[wd];
          g_begin = t_first[w_table[0][1:0]] && w_pixel[0] == 0 && !w_low[0];
          g_initial = t_first[w_table[0][1:0]] && !w_low[0]; g_pass_low = w_low[0];
          g_end = w_ox[0] + 1 == d_ow[wd] && w_oy[0] + 1 == d_oh[wd];
          g_done = g_end && t_last[w_table[0][1:0]] && w_low[0] == d_twice[wd];
          if (g_last) begin
            `NEXT_PIXEL(0)
          end else w_segment[0] = w_segment[0] + 16'(SEGMENTS);
        end
      end
      // Requests
      if (x_ready) x_want = 0;
      if (w_table[1] != t_write && !x_want && l_flight != 4'(LINES)) begin
        `ENTER(1)
        go = 1; issued = 0;
        for (j = 0; j < SEGMENTS; j = j + 1) if (go) begin
          `SEGMENT(1, w_segment[1])
          s = 2 * 32'(w_segment[1][1:0]);
          if (lo < hi) begin
            if (w_tag1[s+32'(la[0])] != {1'b1, la}) begin
              if (issued) go = 0;
              else begin
                issued = 1; x_want = 1; x_address <= {la, 6'd0}; w_tag1[s+32'(la[0])] = {1'b1, la};
                l_flight = l_flight + 1;
              end
            end
            if (go && lb != la && w_tag1[s+32'(lb[0])] != {1'b1, lb}) begin
              if (issued) go = 0;
              else begin
                issued = 1; x_want = 1; x_address <= {lb, 6'd0}; w_tag1[s+32'(lb[0])] = {1'b1, lb};
                l_flight = l_flight + 1;
              end
            end
          end
          if (go) begin
            if (w_segment[1] + 1 == t_count[w_table[1][1:0]]) begin
              go = 0;
              `NEXT_PIXEL(1)
            end else w_segment[1] = w_segment[1] + 1;
          end
        end
      end
      x_valid <= x_want;
      // Answers
      if (x_done) begin
        for (k = 0; k < 16; k = k + 1) `SET(line[l_write[2:0]][k], x_rdata[k*32+:32]);
        l_write = l_write + 1;
      end
      // The next segment
      if (c_desc != d_write && 3'(t_write - w_table[0]) != 3'(TABLES)) begin
        wd = c_desc[1:0];
        room = ROWS - 32'(c_at); rest = d_run[wd] - c_run_at;
        length = rest > room ? room : rest;
        length = length > (32'd64 >> d_wide[wd]) ? 32'd64 >> d_wide[wd] : length;
        i = 32'(t_write[1:0]) * ROWS + 32'(c_count);
        `SET(s_offset[i], c_row_offset + c_tap_offset + (c_run_at << d_wide[wd]));
        `SET(s_element[i], c_tap_element + c_run_at);
        `SET(s_row[i], c_row);
        `SET(s_length[i], 16'(length));
        `SET(s_at[i], c_at);
        c_count = c_count + 1; c_at = c_at + 16'(length); c_run_at = c_run_at + length; go = 0;
        if (c_run_at == d_run[wd]) begin
          c_run_at = 0; c_run = c_run + 1;
          c_tap_offset = c_tap_offset + d_tap[wd]; c_tap_element = c_tap_element + d_tap_elements[wd];
          if (c_run == d_runs[wd]) begin
            c_run = 0; c_tap_offset = 0; c_tap_element = 0; c_ky = c_ky + 1;
            c_row = c_row + 16'(d_dilation_h[wd]); c_row_offset = c_row_offset + d_tap_row[wd];
            if (c_ky == d_kh[wd]) begin
              go = 1; c_ky = 0; c_row = 0; c_row_offset = 0;
            end
          end
        end
        if (go || 32'(c_at) == ROWS) begin
          t_count[t_write[1:0]] = c_count; t_first[t_write[1:0]] = c_first; t_last[t_write[1:0]] = go;
          t_write = t_write + 1; c_count = 0; c_at = 0; c_first = go;
          if (go) c_desc = c_desc + 1;
        end
      end
      // A new descriptor
      if (is_tensor) begin
        wd = d_write[1:0];
        go = in.dilation_w == 1 && in.x_pixel_stride == (32'(in.channels) << (in.mode != 0));
        d_twice[wd] = in.mode == xpu_chip_pkg::OPERANDS_16X16; d_wide[wd] = in.mode != 0;
        d_x[wd] = in.x - {{16{in.pad_top[15]}}, in.pad_top} * in.x_row_stride -
                  {{16{in.pad_left[15]}}, in.pad_left} * in.x_pixel_stride;
        d_row_step[wd] = 32'(in.stride_h) * in.x_row_stride; d_pixel_step[wd] = 32'(in.stride_w) * in.x_pixel_stride;
        d_tap_row[wd] = 32'(in.dilation_h) * in.x_row_stride; d_tap[wd] = 32'(in.dilation_w) * in.x_pixel_stride;
        d_y0[wd] = 32'd0 - {{16{in.pad_top[15]}}, in.pad_top};
        d_e0[wd] = 32'd0 - {{16{in.pad_left[15]}}, in.pad_left} * 32'(in.channels);
        d_pixel_elements[wd] = 32'(in.stride_w) * 32'(in.channels);
        d_tap_elements[wd] = 32'(in.dilation_w) * 32'(in.channels);
        d_run[wd] = go ? 32'(in.kw) * 32'(in.channels) : 32'(in.channels);
        d_runs[wd] = go ? 8'd1 : in.kw;
        d_row_elements[wd] = 32'(in.tile_cols) * 32'(in.channels);
        d_tile_rows[wd] = in.tile_rows; d_oh[wd] = in.oh; d_ow[wd] = in.ow; d_kh[wd] = in.kh;
        d_stride_h[wd] = in.stride_h; d_dilation_h[wd] = in.dilation_h;
        d_pad[wd] = in.mode != 0 ? 8'd0 : in.x_zero[7:0];
        d_write = d_write + 1;
      end
    end
  endtask
