// Post-processor of the tensor and the window engine: from accumulators, or values from memory (descriptor kind post), to the output.
// All roundings are those of core/arith.h.
//
// A job is one descriptor's drain, or COLUMNS columns of a descriptor of kind post, or of kind window and of these a stripe
// of pixels. A sequencer reads start values, parameters, scales, bias and table through the port s into one of two sets,
// while the job before runs from the other one. Branch and x of kind post stream through the same port. A job then sends
// one group of LANES columns per cycle down a pipeline of eight stages of float lanes: float of the integer; scale; bias,
// or rounding of quantised mode; two stages for branch and activation in either order; multiplier of an integer output;
// rounding. Hard swish takes the last four, a product in each but one: a sixth of the value; plus a half, clipped; times
// the value; times a factor plus an addend. A float32 output may be clipped once more where others are multiplied. The
// output is written one 64-byte line per cycle; meanwhile a stage moves where the one behind it is free, so a group that
// comes late leaves no gap.
//
// Throughput: one group per cycle, less what its bytes need on the ports. Latency: 10 cycles.
  localparam int unsigned RING = 8;   // lines of an operand of one group that are kept
  localparam logic [63:0] FLOAT_SIXTH = 64'h3e2aaaab, FLOAT_HALF = 64'h3f000000, FLOAT_ONE = 64'h3f800000;
  localparam int unsigned PARAM = xpu_chip_pkg::POST_WORDS;
  localparam int unsigned COLUMNS_PADDED = (COLUMNS + LANES - 1) / LANES * LANES;

  // Descriptors, a ring
  logic [1023:0] p_words[4];
  logic p_drain[4];
  logic p_starts[4];
  logic p_posts[4];
  logic p_adds[4];          // int32 values from memory are added to the accumulators
  logic p_raw[4];           // the accumulators are the output
  logic [15:0] p_stripe[4]; // output columns of a job
  logic [31:0] p_start_address[4];
  logic [15:0] p_start_count[4];
  logic [2:0] p_write, p_start, p_setup;

  // Sequencer
  localparam logic [2:0] Q_IDLE = 0, Q_STEP = 1, Q_FETCH = 2, Q_DIVIDE = 3, Q_ROUND = 4;
  localparam logic [2:0] T_PARAMS = 0, T_ABSMAX = 1, T_W_ABSMAX = 2, T_SCALE = 3, T_BIAS = 4, T_TABLE = 5, T_DONE = 6,
                         T_START = 7;
  logic [2:0] q_state, q_step;
  logic [31:0] q_address, q_value, q_before, q_x_scale, q_w_scale;
  logic [15:0] q_left, q_index, q_first, q_stripe, q_ox;  // q_first, q_ox: first columns, of channels and pixels
  logic q_set, q_asked, q_here, q_buffer, q_is_post, q_adds, q_raw;
  /* verilator lint_off UNUSEDSIGNAL */  // as above
  xpu_chip_pkg::desc_tensor_t cur;      // the descriptor that is prepared; one that is of kind post in cur_post too
  xpu_chip_pkg::desc_post_t cur_post;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [63:0] q_number, q_quotient, q_exponent;
  logic [15:0] q_rest, q_limit;
  logic [3:0] q_digits;
  logic [31:0] q_line[16];

  // What a set holds
  logic [31:0] param[2*PARAM];
  logic [31:0] scale[2*COLUMNS_PADDED];
  logic [31:0] bias[2*COLUMNS_PADDED];
  logic [31:0] lookup[2*64];
  logic [1:0] r_valid;       // in use
  logic [1:0] r_todo;        // prepared, its job has not begun
  logic r_quantised[2];
  logic r_post[2];
  logic r_x[2];            // x is read
  logic r_raw[2];
  logic r_wide[2];
  logic r_branch[2];
  logic r_bias[2];
  logic r_lookup[2];
  logic r_findmax[2];
  logic r_after[2];
  logic r_clips[2];        // float32 output: clipped at the end
  logic r_first[2];        // quantised: the branch is the sum's first operand
  logic r_final[2];        // last job of its descriptor
  logic [1:0] r_op[2];
  logic [1:0] r_act[2];
  logic [3:0] r_x_type[2];
  logic [3:0] r_b_type[2];
  logic [3:0] r_y_type[2];
  logic [15:0] r_oh[2];
  logic [15:0] r_ow[2];
  logic [15:0] r_columns[2];
  logic [31:0] r_findmax_at[2];
  logic [31:0] r_most[2];
  logic [31:0] r_base[8];   // by stream and set: 0 branch, 1 x, 2 y
  logic [31:0] r_row[8];
  logic [31:0] r_pixel[8];

  // The running job. Positions: 0 branch, 1 x, 2 y of the next group; 3, 4 what was asked for of branch and x
  logic run, run_set, here;
  logic [15:0] p_oy[5];
  logic [15:0] p_ox[5];
  logic [15:0] p_column[5];
  logic [31:0] p_row[5];
  logic [31:0] p_pixel[5];
  logic [31:0] p_base[5];
  logic p_ended[5];
  logic [26:0] tag[2*RING];    // lines in the ring: valid bit, line
  logic [26:0] asked[2*RING];  // the same, of what was asked for
  logic [31:0] i_line[2*LINES*16];
  logic [31:0] ring[2*RING*16];
  logic [3:0] i_write[2];
  logic [3:0] i_read[2];
  logic [3:0] i_flight[2];
  logic [1:0] route[32];    // whom an answer is for: 0 branch, 1 x, 2 sequencer, 3 findmax
  logic [4:0] route_write, route_read;

  // The pipeline
  logic [31:0] raw[LANES];
  logic [63:0] value[LANES];
  logic [63:0] u0[LANES];
  logic [63:0] u1[LANES];
  logic [63:0] u2[LANES];
  logic [63:0] u3[LANES];
  logic [63:0] u4[LANES];
  logic [63:0] u5[LANES];
  logic [63:0] u6[LANES];
  logic [63:0] u7[LANES];
  logic [63:0] b0[LANES];
  logic [63:0] b1[LANES];
  logic [63:0] b2[LANES];
  logic [63:0] b3[LANES];
  logic [63:0] b4[LANES];
  logic [63:0] b5[LANES];
  logic [7:0] m_valid, m_moves;
  logic m_set[8];
  logic m_last[8];
  logic [15:0] m_count[8];
  logic [15:0] m_column[8];
  logic [31:0] m_address[8];

  // Output
  logic o_valid, o_set, o_last;
  logic [31:0] o_address, o_left;
  logic [31:0] o_words[LANES];
  logic [31:0] o_index;     // of the word at o_address
  logic [1:0] o_shift;      // bytes that words are off
  logic [31:0] o_line[16];
  logic [1:0] f_state;      // findmax: 0 none, 1 to ask, 2 asked, 3 to write
  logic f_set;
  logic [31:0] wrote, seen;
  logic [31:0] c_mark[4];
  logic c_final[4];
  logic [2:0] c_write, c_read;

  logic drained;            // a descriptor's output is visible
  logic post_busy;          // a group of a descriptor of kind post was taken
  logic s_want, y_want;     // as s_valid and y_valid
  logic [3:0] failed;       // w_absmax cannot be read: the fault; the sequencer prepares nothing more
  logic [31:0] failed_at;

  // Position m of stream k (times 2) to its next group
`define ADVANCE(m, k, w) \
    p_column[m] = p_column[m] + 16'(LANES); p_base[m] = p_base[m] + w; \
    if (p_column[m] >= r_columns[run_set]) begin \
      p_column[m] = 0; p_ox[m] = p_ox[m] + 1; \
      p_pixel[m] = p_pixel[m] + r_pixel[run_set?k+1:k]; p_base[m] = p_pixel[m]; \
      if (p_ox[m] == r_ow[run_set]) begin \
        p_ox[m] = 0; p_oy[m] = p_oy[m] + 1; \
        p_row[m] = p_row[m] + r_row[run_set?k+1:k]; p_pixel[m] = p_row[m]; p_base[m] = p_row[m]; \
        p_ended[m] = p_oy[m] == r_oh[run_set]; \
      end \
    end

  // Activation of a lane
`define ACTIVATE(y, v) \
    if (act == xpu_chip_pkg::ACT_CLIP) begin \
      `LOOP(i, LANES) `FLOAT_CLIP(y[i], v[i], lo, hi) `ENDLOOP(i) \
    end else if (act == xpu_chip_pkg::ACT_LEAKY) begin \
      `LOOP(i, LANES) \
        `FLOAT_MUL(y[i], v[i], slope) \
        y[i] = (v[i] >> 31) != 0 && (v[i] & 64'h7fffffff) != 0 && !`FLOAT_IS_NAN(v[i]) ? y[i] : v[i]; \
      `ENDLOOP(i) \
    end else begin \
      `LOOP(i, LANES) y[i] = v[i]; `ENDLOOP(i) \
    end
  // The largest magnitude of `count` lanes of v, in a tree
`define FIND_MOST(v, count) \
    `LOOP(i, LANES) \
      e = 32'(v[i]) & 32'h7fffffff; e = e > 32'h7f800000 ? 32'h7f800000 : e; \
      raw[i] = i < 32'(count) ? e : 0; \
    `ENDLOOP(i) \
    for (j = LANES / 2; j > 0; j = j / 2) begin \
      `LOOP(i, j) raw[i] = raw[i] > raw[i+j] ? raw[i] : raw[i+j]; `ENDLOOP(i) \
    end \
    r_most[r] = r_most[r] > raw[0] ? r_most[r] : raw[0];
  // Which of the lines la .. lb of operand j are not in `tags`, and m, the first of them
`define MISSING(tags) \
    for (k = 0; k < RING; k = k + 1) \
      missing[k] = 26'(k) <= lb - la && tags[RING*j+((32'(la)+k)&(RING-1))] != {1'b1, la + 26'(k)}; \
    first = missing & (~missing + 1); m = 32'({(first & 8'hf0) != 0, (first & 8'hcc) != 0, (first & 8'haa) != 0});
`define COPY(y, v) `LOOP(i, LANES) y[i] = v[i]; `ENDLOOP(i)
`define WORD64(x) {{32{x[31]}}, x}
  // A group from stage m to stage n
`define MOVE(m, n) \
    m_valid[m] = 0; m_valid[n] = 1; m_set[n] = m_set[m]; m_last[n] = m_last[m]; m_count[n] = m_count[m]; \
    m_column[n] = m_column[m]; m_address[n] = m_address[m];
  // What stages need of set r
`define STAGE(m) \
    r = m_set[m]; quantised = r_quantised[r]; op = r_op[r]; branch = r_branch[r]; act = r_act[r]; after = r_after[r]; \
    swish = !quantised && act == xpu_chip_pkg::ACT_HARD_SWISH; clips = !quantised && r_clips[r]; \
    p = r ? PARAM : 0; c = (r ? COLUMNS_PADDED : 0) + (COLUMNS > LANES ? 32'(m_column[m]) : 0);

  task automatic step_post;
  /* verilator lint_off UNUSEDSIGNAL */  // z is LOOP's
    int unsigned i, j, k, m, z, p, c;
  /* verilator lint_on UNUSEDSIGNAL */
    `FLOAT_TEMPS
    logic r, quantised, branch, after, swish, clips, go, fire, popped, ready, asks;
    logic [1:0] op, act, size, whose, answered;
    logic [RING-1:0] missing, first;
    logic [63:0] lo, hi, slope, ra, add, t, flip, zero, x;
    logic [31:0] at, n, w, e;
    logic [25:0] la, lb;
    i = 0; j = 0; k = 0; m = 0; z = 0; p = 0; c = 0; r = 0; quantised = 0; branch = 0; after = 0; swish = 0; clips = 0; go = 0;
    fire = 0; popped = 0; ready = 0; asks = 0; op = 0; act = 0; size = 0; whose = 0; answered = 0; missing = 0; first = 0; lo = 0; hi = 0; slope = 0;
    ra = 0; add = 0; t = 0; flip = 0; zero = 0; x = 0; at = 0; n = 0; w = 0; e = 0; la = 0; lb = 0;
    `FLOAT_ZERO
    if (rst) begin
      s_valid <= 0; y_valid <= 0; s_want = 0; y_want = 0; drained = 0; post_busy = 0; failed = NO_FAULT; failed_at = 0;
      p_write = 0; p_start = 0; p_setup = 0; q_state = Q_IDLE; q_step = 0; q_first = 0; q_ox = 0; q_set = 0; q_asked = 0;
      q_here = 0; q_buffer = 0; q_credit = 2; r_valid = 0; r_todo = 0; run = 0; here = 0; run_set = 0;
      route_write = 0; route_read = 0;
      o_valid = 0; f_state = 0; f_set = 0; wrote = 0; seen = 0; c_write = 0;
      c_read = 0;
      m_valid = 0;
      for (i = 0; i < 2; i = i + 1) begin
        i_write[i] = 0; i_read[i] = 0; i_flight[i] = 0;
      end
    end else begin
      drained = 0; post_busy = 0;
      // Completion
      if (y_done) begin
        seen = seen + 1;
      end
      e = seen - c_mark[c_read[1:0]];
      if (c_read != c_write && !e[31]) begin
        drained = c_final[c_read[1:0]]; c_read = c_read + 1;
      end
      // Output: one i_line per cycle
      if (y_ready) y_want = 0;
      ready = !y_want;
      if (ready && f_state == 3) begin
        for (k = 0; k < 16; k = k + 1) y_wdata[k*32+:32] <= r_most[f_set];
        y_want = 1; y_address <= {r_findmax_at[f_set][31:6], 6'd0}; y_mask <= 64'd15 << r_findmax_at[f_set][5:0];
        wrote = wrote + 1; c_mark[c_write[1:0]] = wrote; c_final[c_write[1:0]] = r_final[f_set]; c_write = c_write + 1;
        f_state = 0; r_valid[f_set] = 0;
      end else if (ready && o_valid && f_state == 0) begin
        n = 64 - 32'(o_address[5:0]); n = n > o_left ? o_left : n;
        w = 32'(o_address[5:2]);
        `LOOP(k, 16)
          i = o_index + k - w; j = i - 1;  // far above LANES where it would be negative
          t = {i < LANES ? o_words[i] : 32'd0, j < LANES ? o_words[j] : 32'd0} << {o_shift, 3'd0};
          o_line[k] = t[63:32];
        `ENDLOOP(k)
        for (k = 0; k < 16; k = k + 1) y_wdata[k*32+:32] <= o_line[k];
        y_want = 1; y_address <= {o_address[31:6], 6'd0};
        y_mask <= (n == 64 ? 64'hffffffffffffffff : (64'd1 << n[5:0]) - 1) << o_address[5:0];
        wrote = wrote + 1; o_left = o_left - n; o_address = o_address + n; o_index = o_index + 16 - w;
        if (o_left == 0) begin
          o_valid = 0;
          if (o_last && r_findmax[o_set]) begin
            f_state = 1; f_set = o_set;
          end else if (o_last) begin
            c_mark[c_write[1:0]] = wrote; c_final[c_write[1:0]] = r_final[o_set]; c_write = c_write + 1;
            r_valid[o_set] = 0;
          end
        end
      end
      y_valid <= y_want;
      // A stage moves when one of those behind it, or the output, is free
      if (m_valid != 0) begin
        m_moves = m_valid;
        if (o_valid || f_state != 0)
          m_moves = m_valid & {1'b0, m_valid[7] != 1, m_valid[7:6] != 3, m_valid[7:5] != 7, m_valid[7:4] != 15,
                               m_valid[7:3] != 31, m_valid[7:2] != 63, m_valid[7:1] != 127};
        if (m_moves[7]) begin
          m_valid[7] = 0;
          `STAGE(7)
          o_valid = 1; o_set = r; o_last = m_last[7]; o_address = m_address[7]; o_shift = o_address[1:0]; o_index = 0;
          size = log_bytes(r_y_type[r]); o_left = 32'(m_count[7]) << size;
          if ((swish || clips) && r_findmax[r]) begin
            `FIND_MOST(u7, m_count[7])
          end
          if (r_lookup[r]) begin
            `LOOP(i, LANES)
              e = lookup[(r ? 64 : 0) + 32'(u7[i][7:2])] >> {u7[i][1:0], 3'd0}; u7[i] = {56'd0, e[7:0]};
            `ENDLOOP(i)
          end
          if (size == 0) begin
            `LOOP(i, LANES / 4)
              o_words[i] = (32'(u7[4*i]) & 255) | ((32'(u7[4*i+1]) & 255) << 8) | ((32'(u7[4*i+2]) & 255) << 16) |
                           (32'(u7[4*i+3]) << 24);
            `ENDLOOP(i)
          end else if (size == 1) begin
            `LOOP(i, LANES / 2) o_words[i] = (32'(u7[2*i]) & 65535) | (32'(u7[2*i+1]) << 16); `ENDLOOP(i)
          end else begin
            `LOOP(i, LANES) o_words[i] = 32'(u7[i]); `ENDLOOP(i)
          end
        end
        if (m_moves[6]) begin
          `MOVE(6, 7)
          `STAGE(6)
          if (swish) begin
            ra = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_RA]}; add = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_F]};
            `LOOP(i, LANES) `FLOAT_FMA(u7[i], u6[i], ra, add) `ENDLOOP(i)
          end else if (!quantised && r_y_type[r] != xpu_chip_pkg::TYPE_F32) begin
            hi = r_y_type[r] == xpu_chip_pkg::TYPE_I16 ? 32767 : 127; lo = 0 - hi;
            `LOOP(i, LANES)
              `FLOAT_TO_INT(x, u6[i])
              `INT_CLAMP(u7[i], x, lo, hi)
            `ENDLOOP(i)
          end else begin
            `COPY(u7, u6)
          end
        end
        if (m_moves[5]) begin
          `MOVE(5, 6)
          `STAGE(5)
          if (quantised && (branch || op == xpu_chip_pkg::POST_MUL)) begin
            lo = `WORD64(param[p+xpu_chip_pkg::POST_PARAM_LO2]); hi = `WORD64(param[p+xpu_chip_pkg::POST_PARAM_HI2]);
            `LOOP(i, LANES)
              `FLOAT_TO_INT(x, u5[i])
              `INT_CLAMP(u6[i], x, lo, hi)
            `ENDLOOP(i)
          end else begin
            if (!quantised && r_findmax[r] && !swish && !clips) begin
              `FIND_MOST(u5, m_count[5])
            end
            if (swish) begin
              `LOOP(i, LANES) `FLOAT_MUL(u6[i], u5[i], b5[i]) `ENDLOOP(i)
            end else if (clips) begin
              lo = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_RA]}; hi = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_RB]};
              `LOOP(i, LANES) `FLOAT_CLIP(u6[i], u5[i], lo, hi) `ENDLOOP(i)
            end else if (!quantised && r_y_type[r] != xpu_chip_pkg::TYPE_F32) begin
              slope = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_OUT_SCALE]};
              `LOOP(i, LANES) `FLOAT_MUL(u6[i], u5[i], slope) `ENDLOOP(i)
            end else begin
              `COPY(u6, u5)
            end
          end
        end
        if (m_moves[4]) begin
          `MOVE(4, 5)
          `STAGE(4)
          lo = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_LO]}; hi = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_HI]};
          slope = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_SLOPE]};
          if (swish) begin
            lo = 0; hi = FLOAT_ONE; t = FLOAT_HALF;
            `LOOP(i, LANES)
              `FLOAT_ADD(x, u4[i], t)
              `FLOAT_CLIP(u5[i], x, lo, hi)
            `ENDLOOP(i)
            `COPY(b5, b4)
          end else if (!quantised && (after || op == xpu_chip_pkg::POST_MUL)) begin
            `ACTIVATE(u5, u4)
          end else if (!quantised && branch) begin
            `LOOP(i, LANES) `FLOAT_ADD(u5[i], u4[i], b4[i]) `ENDLOOP(i)
          end else if (quantised && branch && op != xpu_chip_pkg::POST_MUL) begin
            t = {32'd0, param[p+(r_first[r] ? xpu_chip_pkg::POST_PARAM_RB : xpu_chip_pkg::POST_PARAM_RA)]};
            `LOOP(i, LANES) `FLOAT_FMA(u5[i], b4[i], t, u4[i]) `ENDLOOP(i)
          end else begin
            `COPY(u5, u4)
          end
        end
        if (m_moves[3]) begin
          `MOVE(3, 4)
          `STAGE(3)
          lo = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_LO]}; hi = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_HI]};
          slope = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_SLOPE]};
          if (swish) begin
            t = FLOAT_SIXTH;
            `LOOP(i, LANES) `FLOAT_MUL(u4[i], u3[i], t) `ENDLOOP(i)
            `COPY(b4, u3)
          end else if (op == xpu_chip_pkg::POST_MUL) begin
            if (quantised) begin
              t = `WORD64(param[p+xpu_chip_pkg::POST_PARAM_ZERO]);
              `FLOAT_FROM_INT(add, t)
              `LOOP(i, LANES) `FLOAT_ADD(u4[i], u3[i], add) `ENDLOOP(i)
            end else begin
              `LOOP(i, LANES) `FLOAT_MUL(u4[i], u3[i], b3[i]) `ENDLOOP(i)
            end
          end else if (quantised && branch) begin
            // The sum's second operand times its factor, plus f; the first one goes on
            t = {32'd0, param[p+(r_first[r] ? xpu_chip_pkg::POST_PARAM_RA : xpu_chip_pkg::POST_PARAM_RB)]};
            add = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_F]};
            if (r_first[r]) begin
              `COPY(b4, b3)
              `COPY(b3, u3)
            end else begin
              `COPY(b4, u3)
            end
            `LOOP(i, LANES) `FLOAT_FMA(u4[i], b3[i], t, add) `ENDLOOP(i)
          end else if (quantised) begin
            `COPY(u4, u3)
          end else if (!after) begin
            `ACTIVATE(u4, u3)
            `COPY(b4, b3)
          end else if (branch) begin
            `LOOP(i, LANES) `FLOAT_ADD(u4[i], u3[i], b3[i]) `ENDLOOP(i)
          end else begin
            `COPY(u4, u3)
          end
        end
        if (m_moves[2]) begin
          `MOVE(2, 3)
          `STAGE(2)
          if (branch) begin
            `COPY(b3, b2)
          end
          if (!quantised && r_bias[r]) begin
            `LOOP(i, LANES)
              t = {32'd0, bias[c+i]};
              `FLOAT_ADD(u3[i], u2[i], t)
            `ENDLOOP(i)
          end else if (quantised && op == xpu_chip_pkg::POST_SCALE) begin
            zero = `WORD64(param[p+xpu_chip_pkg::POST_PARAM_ZERO]);
            lo = `WORD64(param[p+xpu_chip_pkg::POST_PARAM_LO]) - zero;
            hi = `WORD64(param[p+xpu_chip_pkg::POST_PARAM_HI]) - zero;
            `LOOP(i, LANES)
              `FLOAT_TO_INT(x, u2[i])
              `INT_CLAMP(u3[i], x, lo, hi)
              u3[i] = u3[i] + zero;
            `ENDLOOP(i)
            if (branch) begin
              `LOOP(i, LANES) `FLOAT_FROM_INT(u3[i], u3[i]) `ENDLOOP(i)
            end
          end else if (quantised && op == xpu_chip_pkg::POST_MUL) begin
            ra = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_RA]};
            `LOOP(i, LANES) `FLOAT_MUL(u3[i], u2[i], ra) `ENDLOOP(i)
          end else begin
            `COPY(u3, u2)
          end
        end
        if (m_moves[1]) begin
          `MOVE(1, 2)
          `STAGE(1)
          if (quantised && op == xpu_chip_pkg::POST_MUL) begin
            `LOOP(i, LANES) `FLOAT_MUL(u2[i], u1[i], b1[i]) `ENDLOOP(i)
          end else if (quantised && op == xpu_chip_pkg::POST_ADD) begin
            `COPY(u2, u1)
          end else begin
            `LOOP(i, LANES)
              t = {32'd0, scale[c+i]};
              `FLOAT_MUL(u2[i], u1[i], t)
            `ENDLOOP(i)
          end
          slope = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_BRANCH_SCALE]};
          if (branch && !quantised && r_b_type[r] != xpu_chip_pkg::TYPE_F32) begin
            `LOOP(i, LANES) `FLOAT_MUL(b2[i], b1[i], slope) `ENDLOOP(i)
          end else if (branch) begin
            `COPY(b2, b1)
          end
        end
        if (m_moves[0]) begin
          `MOVE(0, 1)
          `STAGE(0)
          if (r_raw[r] || (r_post[r] && r_x_type[r] == xpu_chip_pkg::TYPE_F32)) begin
            `COPY(u1, u0)
          end else begin
            `LOOP(i, LANES) `FLOAT_FROM_INT(u1[i], u0[i]) `ENDLOOP(i)
          end
          if (branch && r_b_type[r] == xpu_chip_pkg::TYPE_F32) begin
            `COPY(b1, b0)
          end else if (branch) begin
            `LOOP(i, LANES) `FLOAT_FROM_INT(b1[i], b0[i]) `ENDLOOP(i)
          end
        end
      end
      // The next group
      r = run_set;
      fire = run && !m_valid[0] && here && (r_post[r] || q_read != q_write);
      if (fire) begin
        n = 32'(r_columns[r]) - 32'(p_column[2]); n = n > LANES ? LANES : n;
        p = r ? PARAM : 0;
        for (j = 0; j < 2; j = j + 1) if (j == 0 ? r_branch[r] : r_x[r]) begin
          e = j == 0 ? 32'(r_b_type[r]) : 32'(r_x_type[r]);
          size = log_bytes(4'(e)); at = p_base[j]; w = at >> 2;
          `LOOP_TO(k, (LANES << size) / 4, LANES)
            t = {ring[j*RING*16+((w+k+1)&(RING*16-1))], ring[j*RING*16+((w+k)&(RING*16-1))]} >> {at[1:0], 3'd0};
            raw[k] = t[31:0];
          `ENDLOOP(k)
          flip = e == 32'(xpu_chip_pkg::TYPE_I8) ? 64'h80 : e == 32'(xpu_chip_pkg::TYPE_I16) ? 64'h8000 :
                 e == 32'(xpu_chip_pkg::TYPE_I32) ? 64'h80000000 : 64'd0;
          zero = 0;
          if (j == 0 && r_quantised[r] && r_op[r] == xpu_chip_pkg::POST_MUL)
            zero = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_ZB]};
          if (j == 1 && r_post[r] && e != 32'(xpu_chip_pkg::TYPE_F32) && !(r_quantised[r] && r_op[r] == xpu_chip_pkg::POST_ADD))
            zero = {32'd0, param[p+xpu_chip_pkg::POST_PARAM_ZA]};
          if (size == 0) begin
            `LOOP(k, LANES) value[k] = {32'd0, (raw[k>>2] >> (8 * (k & 3))) & 255}; `ENDLOOP(k)
          end else if (size == 1) begin
            `LOOP(k, LANES) value[k] = {32'd0, (raw[k>>1] >> (16 * (k & 1))) & 65535}; `ENDLOOP(k)
          end else begin
            `LOOP(k, LANES) value[k] = {32'd0, raw[k]}; `ENDLOOP(k)
          end
          if (e != 32'(xpu_chip_pkg::TYPE_F32)) begin
            `LOOP(k, LANES)
              x = ((value[k] ^ flip) - flip - zero) & 64'hffffffff;
              value[k] = (x ^ 64'h80000000) - 64'h80000000;
            `ENDLOOP(k)
          end
          if (j == 0) begin
            `LOOP(k, LANES) b0[k] = value[k]; `ENDLOOP(k)
          end else begin
            `LOOP(k, LANES) u0[k] = value[k]; `ENDLOOP(k)
          end
        end
        if (!r_post[r]) begin
          i = 32'(q_read[1:0]); at = 32'(q_bank[i[1:0]]) * ACC_ROWS + 32'(q_pixel); c = 32'(q_column);
          if (r_wide[r]) begin
            `LOOP(k, LANES)
              x = {16'd0, high[at][c+k][15:0], low[at][c+k]}; u0[k] = (x ^ 64'h800000000000) - 64'h800000000000;
            `ENDLOOP(k)
          end else if (r_x[r]) begin
            `LOOP(k, LANES)
              x = ({32'd0, low[at][c+k]} + u0[k]) & 64'hffffffff; u0[k] = (x ^ 64'h80000000) - 64'h80000000;
            `ENDLOOP(k)
          end else begin
            `LOOP(k, LANES) x = {32'd0, low[at][c+k]}; u0[k] = (x ^ 64'h80000000) - 64'h80000000; `ENDLOOP(k)
          end
          q_column = q_column + 16'(LANES);
          if (q_column >= q_columns[i[1:0]]) begin
            q_column = 0; q_pixel = q_pixel + 1;
            if (q_pixel == q_pixels[i[1:0]]) begin
              q_pixel = 0; bank_busy[q_bank[i[1:0]]] = 0; q_read = q_read + 1;
            end
          end
        end
        here = 0; post_busy = r_post[r];
        m_valid[0] = 1; m_set[0] = r; m_count[0] = 16'(n); m_column[0] = p_column[2]; m_address[0] = p_base[2];
        if (r_branch[r]) begin
          w = LANES << log_bytes(r_b_type[r]);
          `ADVANCE(0, 0, w)
        end
        if (r_x[r]) begin
          w = LANES << log_bytes(r_x_type[r]);
          `ADVANCE(1, 2, w)
        end
        w = LANES << log_bytes(r_y_type[r]);
        `ADVANCE(2, 4, w)
        m_last[0] = p_ended[2];
        if (p_ended[2]) begin
          run = 0; run_set = !run_set;
        end
      end
      // The next job
      if (!run && r_todo[run_set]) begin
        r = run_set; run = 1; here = 0; r_todo[r] = 0;
        for (k = 0; k < 5; k = k + 1) begin
          i = (k < 3 ? 2 * k : 2 * k - 6) + (r ? 1 : 0);
          p_oy[k] = 0; p_ox[k] = 0; p_column[k] = 0; p_ended[k] = 0;
          p_row[k] = r_base[i]; p_pixel[k] = r_base[i]; p_base[k] = r_base[i];
        end
        `LOOP(k, 2 * RING) tag[k] = 0; asked[k] = 0; `ENDLOOP(k)
      end
      // Lines for the group after this: one per cycle and operand
      r = run_set; go = run && !here; here = run;
      for (j = 0; j < 2; j = j + 1) if (go && (j == 0 ? r_branch[r] : r_x[r])) begin
        n = 32'(r_columns[r]) - 32'(p_column[j]); n = n > LANES ? LANES : n;
        size = log_bytes(j == 0 ? r_b_type[r] : r_x_type[r]);
        at = p_base[j]; la = 26'(at >> 6); lb = 26'((at + (n << size) - 1) >> 6);
        `MISSING(tag)
        i = RING * j + ((32'(la) + m) & (RING - 1)); popped = missing != 0 && i_read[j] != i_write[j];
        if (missing != 0) here = here && popped && (missing & (missing - 1)) == 0;
        if (popped) begin
          tag[i] = {1'b1, la + 26'(m)}; e = (j * LINES + 32'(i_read[j][2:0])) * 16; w = i * 16;
          `LOOP(c, 16) `SET(ring[w+c], i_line[e+c]); `ENDLOOP(c)
          i_read[j] = i_read[j] + 1; i_flight[j] = i_flight[j] - 1;
        end
      end
      // Requests: findmax, sequencer, branch, x
      if (s_ready) s_want = 0;
      ready = !s_want; asks = 0; answered = route[route_read];
      if (ready && f_state == 1 && seen == wrote) begin
        ready = 0; f_state = 2; asks = 1; whose = 3; s_address <= {r_findmax_at[f_set][31:6], 6'd0};
      end
      if (ready && q_state == Q_FETCH && !q_asked && !q_here) begin
        ready = 0; q_asked = 1; asks = 1; whose = 2; s_address <= {q_address[31:6], 6'd0};
      end
      for (j = 0; j < 2; j = j + 1)
        if (run && (j == 0 ? r_branch[r] : r_x[r]) && !p_ended[3+j] && i_flight[j] != 4'(LINES)) begin
          n = 32'(r_columns[r]) - 32'(p_column[3+j]); n = n > LANES ? LANES : n;
          size = log_bytes(j == 0 ? r_b_type[r] : r_x_type[r]);
          at = p_base[3+j]; la = 26'(at >> 6); lb = 26'((at + (n << size) - 1) >> 6);
          `MISSING(asked)
          go = missing == 0 || (ready && la + 26'(m) == lb);
          if (missing != 0 && ready) begin
            i = RING * j + ((32'(la) + m) & (RING - 1)); asked[i] = {1'b1, la + 26'(m)}; i_flight[j] = i_flight[j] + 1;
            ready = 0; asks = 1; whose = j[1:0]; s_address <= {la + 26'(m), 6'd0};
          end
          if (go && j == 0) begin
            w = LANES << size;
            `ADVANCE(3, 0, w)
          end else if (go) begin
            w = LANES << size;
            `ADVANCE(4, 2, w)
          end
        end
      if (asks) begin
        s_want = 1; route[route_write] = whose; route_write = route_write + 1;
      end
      s_valid <= s_want;
      // Sequencer
      p = q_set ? PARAM : 0; c = q_set ? COLUMNS_PADDED : 0;
      n = 32'(cur.columns) - 32'(q_first); n = n > COLUMNS ? COLUMNS : n;
      case (q_state)
        Q_IDLE: begin
          i = 32'(p_start[1:0]); j = 32'(p_setup[1:0]);
          if (p_start != p_write && !p_starts[i[1:0]]) p_start = p_start + 1;
          else if (p_start != p_write && q_credit != 0) begin
            q_state = Q_FETCH; q_step = T_START; q_address = p_start_address[i[1:0]]; q_index = 0;
            q_left = p_start_count[i[1:0]];
          end
          if (p_setup != p_write && q_state == Q_IDLE && failed == NO_FAULT) begin
            if (!p_drain[j[1:0]] && !p_posts[j[1:0]]) p_setup = p_setup + 1;
            else if (!r_valid[q_set]) begin
              cur = p_words[j[1:0]]; cur_post = p_words[j[1:0]]; q_is_post = p_posts[j[1:0]];
              q_adds = p_adds[j[1:0]]; q_raw = p_raw[j[1:0]]; q_stripe = p_stripe[j[1:0]];
              r_valid[q_set] = 1; q_state = q_raw ? Q_STEP : Q_FETCH; q_step = q_raw ? T_DONE : T_PARAMS;
              q_address = cur.params; q_index = 0; q_left = 16'(PARAM);
            end
          end
        end
        Q_STEP: begin
          q_index = 0;
          case (q_step)
            T_ABSMAX: begin
              q_address = cur.absmax; q_left = 1; q_x_scale = param[p+xpu_chip_pkg::POST_PARAM_X_SCALE];
              q_limit = q_is_post ? (cur_post.x_type == xpu_chip_pkg::TYPE_I16 ? 16'd32767 : 16'd127) :
                        cur.mode != xpu_chip_pkg::OPERANDS_8X8 ? 16'd32767 : 16'd127;
              if (cur.absmax != 0) q_state = Q_FETCH; else q_step = T_W_ABSMAX;
            end
            T_W_ABSMAX: begin
              q_address = param[p+xpu_chip_pkg::POST_PARAM_W_ABSMAX]; q_left = 1;
              q_w_scale = param[p+xpu_chip_pkg::POST_PARAM_W_SCALE];
              q_limit = q_is_post || cur.mode == xpu_chip_pkg::OPERANDS_16X16 ? 16'd32767 : 16'd127;
              if (cur.scale != 0 || q_address == 0) q_step = T_SCALE;
              else begin
                failed = memory_fault({8'd0, q_address}, 4, 2); failed_at = q_address;
                q_state = failed == NO_FAULT ? Q_FETCH : Q_IDLE;
              end
            end
            T_SCALE: begin
              q_address = cur.scale + 4 * 32'(q_first); q_left = 16'(n);
              if (cur.scale != 0) q_state = Q_FETCH;
              else begin
                lo = {32'd0, q_x_scale}; hi = {32'd0, q_w_scale};
                `FLOAT_MUL(t, lo, hi)
                `LOOP(i, COLUMNS) `SET(scale[c+i], t[31:0]); `ENDLOOP(i)
                q_step = T_BIAS;
              end
            end
            T_BIAS: begin
              q_address = cur.bias + 4 * 32'(q_first); q_left = 16'(n);
              if (cur.bias != 0) q_state = Q_FETCH; else q_step = T_TABLE;
            end
            T_TABLE: begin
              q_address = {cur.lookup[31:2], 2'd0}; q_left = cur.lookup[1:0] == 0 ? 16'd64 : 16'd65;
              if (cur.lookup != 0) q_state = Q_FETCH; else q_step = T_DONE;
            end
            default: begin
              r = q_set; i = r ? 1 : 0;
              r_quantised[r] = q_raw || cur.post_mode == xpu_chip_pkg::POST_QUANTISED[0];
              r_post[r] = q_is_post; r_x[r] = q_is_post || q_adds; r_raw[r] = q_raw;
              r_wide[r] = !q_is_post && cur.mode != xpu_chip_pkg::OPERANDS_8X8;
              r_branch[r] = cur.branch != 0 && !q_raw; r_bias[r] = cur.bias != 0; r_lookup[r] = cur.lookup != 0 && !q_raw;
              r_findmax[r] = cur.findmax != 0 && !q_raw; r_findmax_at[r] = cur.findmax; r_most[r] = 0;
              r_after[r] = cur.act_after; r_clips[r] = cur.clip_last; r_first[r] = cur.branch_first; r_act[r] = cur.activation;
              // Raw: no stage changes anything in a quantised sum without a branch
              r_op[r] = q_is_post ? cur_post.op : q_raw ? xpu_chip_pkg::POST_ADD : xpu_chip_pkg::POST_SCALE;
              r_x_type[r] = q_is_post ? cur_post.x_type : xpu_chip_pkg::TYPE_I32; r_b_type[r] = cur.branch_type;
              r_y_type[r] = cur.y_type; r_oh[r] = cur.oh; r_columns[r] = 16'(n);
              r_ow[r] = cur.ow - q_ox > q_stripe ? q_stripe : cur.ow - q_ox;
              r_base[i] = cur.branch + (32'(q_first) << log_bytes(cur.branch_type)) + 32'(q_ox) * cur.branch_pixel_stride;
              r_row[i] = cur.branch_row_stride; r_pixel[i] = cur.branch_pixel_stride;
              r_base[2+i] = cur.x + (32'(q_first) << log_bytes(cur_post.x_type));
              r_row[2+i] = cur.x_row_stride; r_pixel[2+i] = cur.x_pixel_stride;
              if (q_adds) begin  // one behind the other
                r_pixel[2+i] = 32'(cur.columns) << 2; r_row[2+i] = 32'(cur.ow) * r_pixel[2+i];
                r_base[2+i] = cur.start + (32'(q_first) << 2) + 32'(q_ox) * r_pixel[2+i];
              end
              r_base[4+i] = cur.y + (32'(q_first) << log_bytes(cur.y_type)) + 32'(q_ox) * cur.y_pixel_stride;
              r_row[4+i] = cur.y_row_stride; r_pixel[4+i] = cur.y_pixel_stride;
              r_todo[r] = 1; q_set = !q_set; q_state = Q_IDLE; r_final[r] = 0; q_ox = q_ox + r_ow[r];
              if (q_ox == cur.ow) begin
                q_ox = 0; q_first = q_first + 16'(COLUMNS); r_final[r] = q_first >= cur.columns || 32'(q_first) < COLUMNS;
              end
              if (r_final[r]) begin
                q_first = 0; p_setup = p_setup + 1;
              end
            end
          endcase
        end
        Q_FETCH: if (q_here) begin
          e = q_line[q_address[5:2]]; q_value = e;
          case (q_step)
            T_START: begin
              `SET(start[(q_buffer ? COLUMNS : 0)+32'(q_index)], e);
            end
            T_PARAMS: `SET(param[p+32'(q_index[3:0])], e);
            T_SCALE: begin
              lo = {32'd0, q_x_scale}; hi = {32'd0, e};
              `FLOAT_MUL(t, lo, hi)
              `SET(scale[c+32'(q_index)], t[31:0]);
            end
            T_BIAS: `SET(bias[c+32'(q_index)], e);
            T_TABLE: begin
              t = {e, q_before} >> {cur.lookup[1:0], 3'd0}; i = q_set ? 64 : 0;
              if (cur.lookup[1:0] == 0) `SET(lookup[i+32'(q_index)], e);
              else if (q_index != 0) `SET(lookup[i+32'(q_index)-1], t[31:0]);
            end
            default: ;
          endcase
          q_before = e;
          q_address = q_address + 4; q_left = q_left - 1; q_index = q_index + 1;
          if (q_left == 0 || q_address[5:0] == 0) q_here = 0;
          if (q_left == 0) begin
            if (q_step == T_START) begin
              start_count = start_count + 1; q_credit = q_credit - 1; q_buffer = !q_buffer;
              p_start = p_start + 1; q_state = Q_IDLE;
            end else if (q_step == T_ABSMAX || q_step == T_W_ABSMAX) begin
              t = {32'd0, e};
              `FLOAT_OPEN(t, fe, fm, fk)
              q_exponent = fe; q_number = fm << 40; q_quotient = 0; q_rest = 0; q_digits = 0; q_state = Q_DIVIDE;
            end else begin
              q_step = q_step + 1; q_state = Q_STEP;
            end
          end
        end
        Q_DIVIDE: begin
          // A digit in base q_limit + 1, which is a power of two: rest * base + digit = rest * q_limit + (rest + digit).
          // 56 bits by seven, or 60 by fifteen; those that are left are 0
          go = q_limit == 127;
          if (go || q_digits < 4) begin
            n = 32'(q_rest) + (go ? 32'(q_number[63:57]) : 32'(q_number[63:49])); e = n >= 32'(q_limit) ? 1 : 0;
            q_quotient = (q_quotient << (go ? 7 : 15)) + 64'(q_rest) + 64'(e); q_number = q_number << (go ? 7 : 15);
            q_rest = e != 0 ? 16'(n) - q_limit : 16'(n);
          end
          q_digits = q_digits + 1;
          if (q_digits == 8) q_state = Q_ROUND;
        end
        default: begin  // Q_ROUND
          fs = q_quotient << (q_limit == 127 ? 8 : 4) | (q_rest != 0 ? 64'd1 : 64'd0); fe = q_exponent + 64'd1023;
          `FLOAT_NORM(fs, fe)
          `FLOAT_PACK(fx, fs, fe)
          if (q_value[30:23] == 255) e = q_value == 32'hff800000 ? q_value : 32'h7fc00000;
          else e = {q_value[31], fx[30:0]};
          if (q_step == T_ABSMAX) q_x_scale = e; else q_w_scale = e;
          q_step = q_step + 1; q_state = Q_STEP;
        end
      endcase
      // Answers
      if (s_done) begin
        case (answered)
          2: begin
            for (k = 0; k < 16; k = k + 1) q_line[k] = s_rdata[k*32+:32];
            q_here = 1; q_asked = 0;
          end
          3: begin
            e = s_rdata[{r_findmax_at[f_set][5:2], 5'd0}+:32];
            r_most[f_set] = e > r_most[f_set] ? e : r_most[f_set]; f_state = 3;
          end
          default: begin
            j = answered == 1 ? 1 : 0; w = (j * LINES + 32'(i_write[j[0]][2:0])) * 16;
            for (k = 0; k < 16; k = k + 1) `SET(i_line[w+k], s_rdata[k*32+:32]);
            i_write[j[0]] = i_write[j[0]] + 1;
          end
        endcase
        route_read = route_read + 1;
      end
      if (taken) begin
        i = 32'(p_write[1:0]);
        p_words[i[1:0]] = in; p_posts[i[1:0]] = in_posts; p_drain[i[1:0]] = in_drains; p_starts[i[1:0]] = in_starts;
        p_adds[i[1:0]] = in_adds; p_raw[i[1:0]] = in_raw; p_stripe[i[1:0]] = in_stripe;
        p_start_address[i[1:0]] = in.start; p_start_count[i[1:0]] = in.columns;
        p_write = p_write + 1;
      end
    end
  endtask

  `CHECK(3'(p_write - p_start) <= 4 && 3'(p_write - p_setup) <= 4 && 3'(c_write - c_read) <= 4 &&
         i_flight[0] <= 4'(LINES) && i_flight[1] <= 4'(LINES), "a ring of the post-processor is overfull")
  `CHECK((r_todo & ~r_valid) == 0 && (!run || r_valid[run_set]) && (!o_valid || r_valid[o_set]), "a job without its operands")
  `CHECK(!o_valid || o_left != 0, "a group without bytes")
