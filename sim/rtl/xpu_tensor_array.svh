// Tensor engine: the weight-stationary array of ROWS x COLUMNS cells that multiply 9 by 9 bits, its two sets of weight
// registers with their loader, and the accumulator banks.
//
// Each step multiplies one row of operands with all weights: 8x8 takes one step per row; 16-bit operands are a signed
// high and an unsigned low byte, so 16x8 takes two steps per row and 16x16 also runs each block of K twice, once per
// byte of the weights. Sums are added to the accumulators shifted by 0, 8 or 16 bits: 32 bits wide for 8x8, else 48.
// Neighbouring descriptors may use one bank one after the other, but a bank keeps its mode until it starts anew.
//
// Throughput: one step per cycle while rows arrive, the weights of the next pass are loaded during this one (at most
// WEIGHT_ROWS rows and one new 64-byte line per cycle), and the bank of the next descriptor is free; there is no idle
// cycle between passes or descriptors. 16-bit weights are loaded once for each of their bytes; for descriptors of fewer
// than ROWS / 4 pixels, which would wait for that, both bytes of a block of K go into the two sets at once, when both are
// empty. Latency: three cycles from a row to its accumulator. After the last row of a
// descriptor that drains, its bank waits for the post-processor, which takes a group of LANES columns per cycle. A drain
// without a product waits until the products before it have ended that have its bank, or drain, too; products behind it
// do not begin before that.
  localparam int unsigned CHUNKS = COLUMNS > 32 ? (COLUMNS + 31) / 32 : 1;  // pieces of 64 bytes of a row of weights
  localparam int unsigned BIG = COLUMNS > 64 ? COLUMNS : 64;

  // Descriptors, a ring
  logic [31:0] d_w[4];
  logic [31:0] d_stride[4];
  logic [31:0] d_depth[4];
  logic [15:0] d_columns[4];
  logic [15:0] d_pixels[4];
  logic d_words[4];     // weights of 16 bits
  logic d_both[4];      // whose bytes are loaded at once
  logic [31:0] d_x_flip[4];
  logic [31:0] d_x_zero[4];
  logic [31:0] d_w_flip[4];
  logic [31:0] d_w_zero[4];
  logic [1:0] d_bank[4];
  logic d_drain[4];
  logic d_start[4];
  logic d_accumulate[4];
  logic [2:0] d_behind[4];  // e_write when it came
  logic [3:0] d_busy;       // it has not ended
  logic [1:0] d_oldest;     // the one that ends next

  // Two walkers over rows of weights: 1 asks for lines, 0 uses them
  logic [2:0] k_desc[2];
  logic k_low[2];
  logic [15:0] k_row[2];     // row of the pass
  logic [7:0] k_chunk[2];
  logic [31:0] k_left[2];    // rows of w that are left, from this pass on
  logic [31:0] k_base[2];    // address of the pass
  logic [31:0] k_at[2];      // address of the row
  logic k_new[2];
  logic [26:0] k_tag0[2];    // by walker and parity of the line: valid bit, line
  logic [26:0] k_tag1[2];
  logic [31:0] k_line[LINES*16];
  logic [3:0] k_write, k_read, k_flight;
  logic [31:0] k_window[32];

  // The array
  logic [31:0] weight[2*ROWS][COLUMNS];
  logic [31:0] operand[ROWS];
  logic [31:0] sum[COLUMNS];
  logic [1:0] full;
  logic fill, use_q;
  logic phase;
  logic [2:0] a_desc;
  logic s1_valid, s1_set, s1_end, s1_wide, s1_initial, s1_last, s1_accumulate, s1_start, s1_buffer, s1_drain;
  logic [4:0] s1_shift;
  logic [31:0] s1_row;
  logic [15:0] s1_columns, s1_pixels;
  logic [1:0] s1_bank;
  logic s2_valid, s2_wide, s2_initial, s2_last, s2_accumulate, s2_start, s2_buffer, s2_drain;
  logic [4:0] s2_shift;
  logic [31:0] s2_row;
  logic [15:0] s2_columns, s2_pixels;
  logic [1:0] s2_bank;

  // Accumulators and what they start from
  logic [31:0] low[BANKS*ACC_ROWS][COLUMNS];
  logic [31:0] high[BANKS*ACC_ROWS][COLUMNS];  // 16 bits each
  logic [31:0] start[2*COLUMNS];
  logic [1:0] start_count;
  logic start_use;

  // Drains without a product that wait, a ring
  logic [3:0] e_waits[4];   // for which products
  logic [1:0] e_bank[4];
  logic [15:0] e_pixels[4];
  logic [15:0] e_columns[4];
  logic [2:0] e_write, e_read;

  // Banks that drain, in order
  logic [3:0] bank_busy;
  logic [1:0] q_bank[4];
  logic [15:0] q_pixels[4];
  logic [15:0] q_columns[4];
  logic [2:0] q_write, q_read;
  logic [15:0] q_pixel, q_column;

  logic computed;          // a descriptor has left the array
  logic array_busy;        // a step was made
  logic lost_weights, lost_post;
  logic w_want;            // as w_valid

  // Address and last byte of the chunk of walker u
`define CHUNK(u) \
    if (k_new[u]) begin \
      wd = k_desc[u][1:0]; k_new[u] = 0; k_left[u] = d_depth[wd]; k_base[u] = d_w[wd]; k_at[u] = d_w[wd]; \
    end \
    wd = k_desc[u][1:0]; at = k_at[u] + 32'(k_chunk[u]) * 64; \
    size = (32'(d_columns[wd]) << d_words[wd]) - 32'(k_chunk[u]) * 64; final_chunk = size <= 64; \
    size = final_chunk ? size : 64; \
    la = 26'(at >> 6); lb = 26'((at + size - 1) >> 6);

`define NEXT_CHUNK(u) \
    k_chunk[u] = final_chunk ? 0 : k_chunk[u] + 1; \
    if (final_chunk) begin \
      k_row[u] = k_row[u] + 1; k_at[u] = k_at[u] + d_stride[wd]; \
    end

  // The next pass of walker u, or descriptor
`define NEXT_PASS(u) \
    k_row[u] = 0; \
    if (d_words[wd] && !d_both[wd] && !k_low[u]) begin \
      k_low[u] = 1; k_at[u] = k_base[u]; \
    end else begin \
      k_low[u] = 0; k_base[u] = k_at[u]; \
      if (k_left[u] <= ROWS) begin \
        k_new[u] = 1; k_desc[u] = k_desc[u] + 1; k_tag``u[0] = 0; k_tag``u[1] = 0; \
      end \
      k_left[u] = k_left[u] - ROWS; \
    end

  task automatic step_array;
  /* verilator lint_off UNUSEDSIGNAL */  // z is LOOP's
    int unsigned i, j, k, n, z, to, other;
  /* verilator lint_on UNUSEDSIGNAL */
    logic go, issued, popped, final_chunk, both;
    logic [1:0] wd, ed;
    logic [2:0] drains_before;
    logic [31:0] at, size, b, c, q, f, v, x;
    logic [25:0] la, lb;
    logic [63:0] pair, t;
    i = 0; j = 0; k = 0; n = 0; z = 0; to = 0; other = 0; go = 0; issued = 0; popped = 0; final_chunk = 0; both = 0;
    wd = 0; ed = 0; drains_before = 0;
    at = 0; size = 0; b = 0; c = 0; q = 0; f = 0; v = 0; x = 0; la = 0; lb = 0; pair = 0; t = 0;
    if (rst) begin
      w_want = 0; w_valid <= 0; computed = 0; array_busy = 0; lost_weights = 0; lost_post = 0;
      d_write = 0; k_write = 0; k_read = 0; k_flight = 0; full = 0; fill = 0; use_q = 0; phase = 0; a_desc = 0;
      s1_valid = 0; s2_valid = 0; start_count = 0; start_use = 0; bank_busy = 0; q_write = 0; q_read = 0;
      q_pixel = 0; q_column = 0; d_busy = 0; d_oldest = 0; e_write = 0; e_read = 0;
      for (i = 0; i < 2; i = i + 1) begin
        k_desc[i] = 0; k_low[i] = 0; k_row[i] = 0; k_chunk[i] = 0; k_new[i] = 1; k_tag0[i] = 0; k_tag1[i] = 0;
      end
    end else begin
      computed = 0; row_ready = 0;
      lost_weights = row_valid && !full[use_q];
      drains_before = d_behind[a_desc[1:0]] - e_read;
      lost_post = row_valid && row_begin &&
                  (bank_busy[d_bank[a_desc[1:0]]] || (d_start[a_desc[1:0]] && start_count == 0) ||
                   (drains_before != 0 && !drains_before[2]));
      // Sums to the accumulators
      if (s2_valid) begin
        b = s2_row; c = 32'(s2_buffer) * COLUMNS; f = s2_start ? 32'hffffffff : 0; q = 32'(s2_columns);
        if (!s2_wide && !(s2_initial && !s2_accumulate)) begin
          `LOOP(n, COLUMNS) `SET(low[b][n], low[b][n] + sum[n]); `ENDLOOP(n)
        end else if (!s2_wide) begin
          `LOOP(n, COLUMNS)
            `SET(low[b][n], (n < q ? start[c+n] & f : low[b][n]) + sum[n]);
          `ENDLOOP(n)
        end else if (!(s2_initial && !s2_accumulate)) begin
          `LOOP(n, COLUMNS)
            t = {32'd0, sum[n] ^ 32'h80000000} - 64'h80000000;
            t = (t << s2_shift) + {high[b][n], low[b][n]};
            `SET(low[b][n], t[31:0]); `SET(high[b][n], {16'd0, t[47:32]});
          `ENDLOOP(n)
        end else begin
          `LOOP(n, COLUMNS)
            t = {32'd0, sum[n] ^ 32'h80000000} - 64'h80000000; t = t << s2_shift;
            pair = {32'd0, (start[c+n] & f) ^ 32'h80000000} - 64'h80000000;
            t = t + (n < q ? pair : {high[b][n], low[b][n]});
            `SET(low[b][n], t[31:0]); `SET(high[b][n], {16'd0, t[47:32]});
          `ENDLOOP(n)
        end
        if (s2_last) begin
          computed = 1; d_busy[d_oldest] = 0;
          for (j = 0; j < 4; j = j + 1) e_waits[j][d_oldest] = 0;  // its place may have another product soon
          d_oldest = d_oldest + 1;
          if (s2_start) q_credit = q_credit + 1;
          if (s2_drain) begin
            q_bank[q_write[1:0]] = s2_bank; q_pixels[q_write[1:0]] = s2_pixels; q_columns[q_write[1:0]] = s2_columns;
            q_write = q_write + 1;
          end
        end
      end
      // Drains without a product, behind the product that has just ended
      ed = e_read[1:0];
      if (e_read != e_write && e_waits[ed] == 0 && !bank_busy[e_bank[ed]]) begin
        q_bank[q_write[1:0]] = e_bank[ed]; q_pixels[q_write[1:0]] = e_pixels[ed]; q_columns[q_write[1:0]] = e_columns[ed];
        q_write = q_write + 1; bank_busy[e_bank[ed]] = 1; e_read = e_read + 1;
      end
      s2_valid = s1_valid;
      // The products of all cells
      if (s1_valid) begin
        b = s1_set ? ROWS : 0;
        `LOOP(n, COLUMNS)
          sum[n] = (operand[0] * weight[b][n] + operand[1] * weight[b+1][n]) +
                   (operand[2] * weight[b+2][n] + operand[3] * weight[b+3][n]);
        `ENDLOOP(n)
        `LOOP4(k, ROWS - 4)
          `LOOP(n, COLUMNS)
            sum[n] = sum[n] + ((operand[k+4] * weight[b+k+4][n] + operand[k+5] * weight[b+k+5][n]) +
                               (operand[k+6] * weight[b+k+6][n] + operand[k+7] * weight[b+k+7][n]));
          `ENDLOOP(n)
        `ENDLOOP4(k)
        if (s1_end) full[s1_set] = 0;
        s2_wide = s1_wide; s2_initial = s1_initial; s2_last = s1_last; s2_accumulate = s1_accumulate;
        s2_start = s1_start; s2_buffer = s1_buffer; s2_drain = s1_drain; s2_shift = s1_shift; s2_row = s1_row;
        s2_columns = s1_columns; s2_pixels = s1_pixels; s2_bank = s1_bank;
      end
      // A row into the operand registers
      s1_valid = row_valid && !lost_weights && !lost_post; array_busy = s1_valid;
      if (s1_valid) begin
        wd = a_desc[1:0];
        if (!d_wide[wd]) begin
          f = d_x_flip[wd]; v = d_x_zero[wd];
          for (j = 0; j < 4; j = j + 1) begin
            `LOOP(i, ROWS / 4) operand[j*(ROWS/4)+i] = (((row_data[i] >> (8 * j)) & 255) ^ f) - v; `ENDLOOP(i)
          end
        end else begin
          f = phase ? 0 : 128; v = phase ? 0 : 8;
          for (j = 0; j < 2; j = j + 1) begin
            `LOOP(i, WORDS) operand[j*WORDS+i] = (((row_data[i] >> (16 * j + v)) & 255) ^ f) - f; `ENDLOOP(i)
          end
        end
        s1_wide = d_wide[wd]; s1_accumulate = d_accumulate[wd]; s1_initial = row_initial && !phase;
        s1_start = d_start[wd]; s1_buffer = start_use; s1_drain = d_drain[wd]; s1_bank = d_bank[wd];
        s1_shift = s1_wide ? (phase ? 5'd0 : 5'd8) + (d_words[wd] && !row_low ? 5'd8 : 5'd0) : 5'd0;
        s1_row = 32'(d_bank[wd]) * ACC_ROWS + 32'(row_pixel); s1_columns = d_columns[wd]; s1_pixels = d_pixels[wd];
        s1_set = use_q; go = phase == s1_wide; s1_end = row_end && go; s1_last = row_last && go;
        phase = !go; row_ready = go;
        if (s1_end) use_q = !use_q;
        if (s1_last) begin
          a_desc = a_desc + 1;
          if (s1_start) begin
            start_use = !start_use; start_count = start_count - 1;
          end
          if (s1_drain) bank_busy[s1_bank] = 1;
        end
      end
      // Weights into the set that is not in use
      popped = 0; both = d_both[k_desc[0][1:0]]; go = k_desc[0] != d_write && (both ? full == 0 : !full[fill]);
      for (j = 0; j < WEIGHT_ROWS * CHUNKS; j = j + 1) if (go) begin
        `CHUNK(0)
        to = 32'(k_row[0]);
        to = d_wide[wd] ? (to & 1) * (ROWS / 2) + (to >> 1) : (to & 3) * (ROWS / 4) + (to >> 2);
        other = to + (fill ? 0 : ROWS); to = to + (fill ? ROWS : 0);
        if (32'(k_row[0]) >= k_left[0]) begin  // behind the last row of w
          `LOOP(n, COLUMNS) `SET(weight[to][n], 0); `ENDLOOP(n)
          if (both) begin
            `LOOP(n, COLUMNS) `SET(weight[other][n], 0); `ENDLOOP(n)
          end
          k_row[0] = k_row[0] + 1;
        end else begin
          if (k_tag0[32'(la[0])] != {1'b1, la}) begin
            if (!popped && k_read != k_write) begin
              popped = 1; k_tag0[32'(la[0])] = {1'b1, la};
              `LOOP(k, 16) k_window[32'(la[0])*16+k] = k_line[32'(k_read[2:0])*16+k]; `ENDLOOP(k)
              k_read = k_read + 1; k_flight = k_flight - 1;
            end else go = 0;
          end
          if (lb != la && k_tag0[32'(lb[0])] != {1'b1, lb}) begin
            if (go && !popped && k_read != k_write) begin
              popped = 1; k_tag0[32'(lb[0])] = {1'b1, lb};
              `LOOP(k, 16) k_window[32'(lb[0])*16+k] = k_line[32'(k_read[2:0])*16+k]; `ENDLOOP(k)
              k_read = k_read + 1; k_flight = k_flight - 1;
            end else go = 0;
          end
          if (go) begin
            q = (at >> 2) & 31; c = 32'(d_columns[wd]);
            if (!d_words[wd]) begin
              f = d_w_flip[wd]; v = d_w_zero[wd]; b = 64 * 32'(k_chunk[0]);
              `LOOP(k, (COLUMNS < 64 ? COLUMNS : 64) / 4)
                pair = {k_window[(q + k + 1) & 31], k_window[(q + k) & 31]} >> {at[1:0], 3'd0};
                x = pair[31:0]; n = (b + 4 * k) & (BIG - 1);
                if (n < COLUMNS) begin
                  `SET(weight[to][n], n < c ? ((x & 255) ^ f) - v : 0);
                  `SET(weight[to][n+1], n + 1 < c ? (((x >> 8) & 255) ^ f) - v : 0);
                  `SET(weight[to][n+2], n + 2 < c ? (((x >> 16) & 255) ^ f) - v : 0);
                  `SET(weight[to][n+3], n + 3 < c ? ((x >> 24) ^ f) - v : 0);
                end
              `ENDLOOP(k)
            end else begin
              f = k_low[0] ? 0 : 128; v = k_low[0] ? 0 : 8; b = 32 * 32'(k_chunk[0]);
              `LOOP(k, (COLUMNS < 32 ? COLUMNS : 32) / 2)
                pair = {k_window[(q + k + 1) & 31], k_window[(q + k) & 31]} >> {at[1:0], 3'd0};
                x = pair[31:0]; n = (b + 2 * k) & (BIG - 1);
                if (n < COLUMNS) begin
                  `SET(weight[to][n], n < c ? (((x >> v[4:0]) & 255) ^ f) - f : 0);
                  `SET(weight[to][n+1], n + 1 < c ? (((x >> (16 + v)) & 255) ^ f) - f : 0);
                end
              `ENDLOOP(k)
              if (both) begin
                `LOOP(k, (COLUMNS < 32 ? COLUMNS : 32) / 2)
                  pair = {k_window[(q + k + 1) & 31], k_window[(q + k) & 31]} >> {at[1:0], 3'd0};
                  x = pair[31:0]; n = (b + 2 * k) & (BIG - 1);
                  if (n < COLUMNS) begin
                    `SET(weight[other][n], n < c ? x & 255 : 0);
                    `SET(weight[other][n+1], n + 1 < c ? (x >> 16) & 255 : 0);
                  end
                `ENDLOOP(k)
              end
            end
            `NEXT_CHUNK(0)
            // columns of chunks that do not exist
            if (final_chunk && CHUNKS > 1) begin
              `LOOP(n, COLUMNS) if (n >= c) `SET(weight[to][n], 0); `ENDLOOP(n)
              if (both) begin
                `LOOP(n, COLUMNS) if (n >= c) `SET(weight[other][n], 0); `ENDLOOP(n)
              end
            end
          end
        end
        if (32'(k_row[0]) == ROWS) begin
          go = 0;
          if (both) full = 3;
          else begin
            full[fill] = 1; fill = !fill;
          end
          `NEXT_PASS(0)
        end
      end
      // Requests
      if (w_ready) w_want = 0;
      issued = 0; go = k_desc[1] != d_write && !w_want && k_flight != 4'(LINES);
      for (j = 0; j < WEIGHT_ROWS * CHUNKS; j = j + 1) if (go) begin
        `CHUNK(1)
        if (k_tag1[32'(la[0])] != {1'b1, la}) begin
          if (issued) go = 0;
          else begin
            issued = 1; w_want = 1; w_address <= {la, 6'd0}; k_tag1[32'(la[0])] = {1'b1, la};
            k_flight = k_flight + 1;
          end
        end
        if (go && lb != la && k_tag1[32'(lb[0])] != {1'b1, lb}) begin
          if (issued) go = 0;
          else begin
            issued = 1; w_want = 1; w_address <= {lb, 6'd0}; k_tag1[32'(lb[0])] = {1'b1, lb};
            k_flight = k_flight + 1;
          end
        end
        if (go) begin
          `NEXT_CHUNK(1)
          if (32'(k_row[1]) == ROWS || 32'(k_row[1]) == k_left[1]) begin
            go = 0;
            `NEXT_PASS(1)
          end
        end
      end
      w_valid <= w_want;
      if (w_done) begin
        for (k = 0; k < 16; k = k + 1) `SET(k_line[32'(k_write[2:0])*16+k], w_rdata[k*32+:32]);
        k_write = k_write + 1;
      end
      if (is_tensor) begin
        wd = d_write[1:0];
        d_w[wd] = in.w; d_stride[wd] = 32'(in.w_row_stride); d_columns[wd] = in.columns;
        d_depth[wd] = in_depth; d_pixels[wd] = in_places[15:0];
        d_words[wd] = in.mode == xpu_chip_pkg::OPERANDS_16X16;
        d_both[wd] = d_words[wd] && 32'(d_pixels[wd]) < ROWS / 4;
        d_x_flip[wd] = in.x_unsigned ? 0 : 128; d_w_flip[wd] = in.w_unsigned ? 0 : 128;
        d_x_zero[wd] = d_x_flip[wd] + {{23{in.x_zero[8]}}, in.x_zero};
        d_w_zero[wd] = d_w_flip[wd] + {{23{in.w_zero[8]}}, in.w_zero};
        d_bank[wd] = in.bank; d_drain[wd] = in.drain; d_accumulate[wd] = in.accumulate;
        d_start[wd] = !in.accumulate && in.start != 0;
        d_behind[wd] = e_write; d_busy[wd] = 1;
      end
      if (is_drain) begin
        ed = e_write[1:0];
        for (j = 0; j < 4; j = j + 1) e_waits[ed][j] = d_busy[j] && (d_bank[j] == 2'(in.bank) || d_drain[j]);
        e_bank[ed] = in.bank; e_pixels[ed] = in_places[15:0]; e_columns[ed] = in.columns;
        e_write = e_write + 1;
      end
    end
  endtask
