// xpu_dma: a DMA engine; executes descriptors of kinds copy, fill and gather in order, as sim/func/dma.c does.
//
// Source and destination are walked by themselves, each as runs of dense bytes; between them is a stream of bytes.
//   check    takes a descriptor, checks it, one dimension a cycle, joins dense dimensions: 6 cycles, beside the others
//   source   asks for lines, one a cycle; a line that consecutive runs share is read once; indices and scale, too
//   extract  a piece of a line (at most 64 bytes of one run) goes into the ring each cycle
//   convert  16 elements a cycle, 3 stages, from the inner ring to the outer. By a divisor: the first bits of its
//            inverse find k, and a second product says on which side of k + 1/2 the quotient is
//   weave    where 2 to 16 planes become elements side by side: source takes 16 elements of each plane in turn, which go
//            through the stages of convert, whether they are converted or not, into one of two blocks of 16 x 16, and
//            from there in the order of the target into the outer ring, 64 bytes a cycle
//   unweave  the mirror: a block has 16 pixels, whose elements go through the stages of convert 16 at a time where pixels
//            lie side by side, else those of a pixel, and leaves by 16 elements of each plane in turn
//   place    a piece goes from the ring into the line that is being written, each cycle; a line leaves when it is full
//            or the next piece is in another
// So dense rows move 64 bytes a cycle however they lie, runs shorter than a line one run a cycle, and planes are woven
// and unwoven by 16 elements a cycle (half of it where these are in two lines), or by those of a pixel where pixels lie
// apart. A gather goes through the gathered dimension outermost.
//
// Up to eight descriptors are inside: the reads of one begin while the writes of those before it drain, unless it reads
// where they write. desc_done: one cycle, in order, when all writes of the oldest are done.
// Latency: 8 cycles from desc_valid to the first read, 4 from a line's arrival to its write. Throughput: see above; the
// bench prints it. Back-pressure: desc holds until desc_ready; a request on a line port holds until it is ready,
// answers come in the order of the requests, and there is room for each. Faults are sticky and come when all
// descriptors before are done; the engine takes nothing more. No timer: next_event is never.
`include "xpu_lanes.svh"
`include "xpu_checks.svh"
module xpu_dma #(
  parameter int unsigned CORES = 1,
  parameter int unsigned LM_BYTES = 16384,
  parameter int unsigned SM_BYTES = 32768,
  parameter int unsigned L3_BYTES = 65536,
  parameter int unsigned GM_BYTES = 268435456,
  parameter int unsigned READS = 32            // reads that may be on their way, a power of 2, at least 8
) (
  input  logic          clk,
  input  logic          rst,
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic [31:0]   cycles_per_edge,
  /* verilator lint_on UNUSEDSIGNAL */
  // descriptors whose waits hold; desc_done: all that the oldest one wrote is visible
  input  logic          desc_valid,
  output logic          desc_ready,
  input  logic [1023:0] desc,
  output logic          desc_done,
  // line port, reads
  output logic          r_valid,
  input  logic          r_ready,
  output logic [31:0]   r_address,
  output logic [63:0]   r_mask,
  input  logic          r_done,
  input  logic          r_error,
  input  logic [511:0]  r_rdata,
  // line port, writes
  output logic          w_valid,
  input  logic          w_ready,
  output logic [31:0]   w_address,
  output logic [63:0]   w_mask,
  output logic [511:0]  w_wdata,
  input  logic          w_done,
  input  logic          w_error,
  // sticky; of the oldest descriptor that is not done. A bad descriptor has no address.
  output logic          fault_valid,
  output logic [3:0]    fault_cause,
  output logic [31:0]   fault_address,
  output logic          quiet,
  output logic [31:0]   next_event,
  output logic [4:0]    state
);
  localparam int unsigned LINE_BITS = $clog2(READS);
  localparam int unsigned PIECES = 2 * READS;
  localparam int unsigned PIECE_BITS = LINE_BITS + 1;
  localparam int unsigned INDEX_LINES = 8;
  localparam int unsigned PLANES = xpu_chip_pkg::WOVEN_PLANES;
  localparam int unsigned SOURCE = 0; // the first side of a copy; the second is its target
  localparam logic [1:0] IS_DATA = 2'd0, IS_INDEX = 2'd1, IS_SCALE = 2'd2;
  localparam logic [2:0] C_IDLE = 3'd0, C_FIELDS = 3'd1, C_DIMENSION = 3'd2, C_RANGE = 3'd3;
  localparam logic [1:0] S_IDLE = 2'd0, S_RUN = 2'd1, S_FAULT = 2'd2;
  localparam logic [3:0] NO_FAULT = xpu_chip_pkg::FAULT_NONE, BAD = xpu_chip_pkg::FAULT_DESCRIPTOR,
                         MISALIGNED = xpu_chip_pkg::FAULT_MISALIGNED, OUTSIDE = xpu_chip_pkg::FAULT_ENGINE_ADDRESS;

  // ---- What the stages know of the descriptors; [8 * side + slot], loops: [32 * side + 4 * slot + loop] ----
  logic [31:0] p_address [16];
  logic [31:0] p_run [16];       // dense bytes
  logic [31:0] p_count [64];    // of the loops around the runs, 0 the innermost; less 1
  logic [31:0] p_stride [64];
  logic [31:0] p_first [32];    // ranges: [8 * (0 source, 1 target, 2 indices, 3 scale) + slot]; empty: first > last
  logic [31:0] p_last [32];
  logic [63:0] p_low [16];       // gather: from the address of a step to its first byte, and its bytes
  logic [63:0] p_length [16];
  logic [3:0]  p_step_fault [16];
  logic [31:0] p_step [16];      // stride of the gathered dimension
  logic [31:0] p_steps [8];
  logic [31:0] p_scale [8];     // a fill's value, too
  logic [3:0]  p_cause [8];
  logic [31:0] p_fault_at [8];
  logic [1:0]  p_source_size [8]; // log2 of an element's bytes
  logic [1:0]  p_target_size [8];
  logic [1:0]  p_scale_mode [8];  // of a conversion
  logic [7:0]  p_fill, p_gather, p_convert, p_widen, p_empty, p_wide; // wide: int16
  logic [7:0]  p_divide, p_signed; // to bytes by a divisor: int8, else uint8
  logic [9:0]  p_zero [8];        // its zero point
  logic [13:0] p_inverse [8];     // floor(2^36 / the divisor's mantissa)
  logic [7:0]  p_weave, p_unweave, p_block, p_lanes; // block: one of both; lanes: goes through the stages of convert
  logic [7:0]  p_apart;          // unweave: pixels lie apart
  logic [4:0]  p_planes [8];
  logic [4:0]  p_tail [8];       // elements of a row's last run of a plane; the others have 16
  logic [4:0]  p_steps_full [8]; // times that convert takes elements for a block, for a row's last
  logic [4:0]  p_steps_tail [8];
  logic [7:0]  scaled, live, placed; // scale is there; source has begun; all writes are asked for
  logic [31:0] writes [8];      // on their way
  logic [2:0]  c_slot, s_slot, d_slot, o_slot; // check, source, place, oldest
  logic [3:0]  c_ahead;         // checked descriptors that source has not begun with
  logic [3:0]  d_ahead;         // descriptors that source has begun with and place has not
  logic [3:0]  taken;

  // ---- Check ----
  logic [2:0]  c_state;
  logic [1:0]  c_step;
  /* verilator lint_off UNUSEDSIGNAL */
  xpu_chip_pkg::desc_gather_t c_desc; // copy and fill have their fields at the same places
  /* verilator lint_on UNUSEDSIGNAL */
  logic [31:0] c_size [4];
  logic [31:0] c_stride [8];
  logic [31:0] c_run [2];
  logic [2:0]  c_loops [2];
  logic [63:0] c_low [2];
  logic [63:0] c_high [2];
  logic [3:0]  c_box_fault [2];
  logic [63:0] c_elements;
  logic        c_ended, c_fill, c_gather, c_convert, c_widen, c_weave, c_unweave;
  logic [3:0]  c_cause;
  logic [31:0] c_fault_at;

  // ---- Source ----
  logic [1:0]  s_state;
  logic [31:0] s_left [5];      // loops of both walkers: steps left
  logic [31:0] d_left [4];
  logic [31:0] s_base [4];      // where the current step of each loop begins
  logic [31:0] d_base [4];
  logic [31:0] s_at, s_bytes, d_at, d_bytes; // the rest of the run
  logic        s_walking, s_ask_scale, s_line_known, g_ready, d_active, d_walked;
  logic [25:0] s_line;
  logic [31:0] g_at;            // source of the next step
  logic [63:0] g_target;        // target of the one after it
  logic [3:0]  g_cause;
  logic [31:0] g_fault_at;
  logic [31:0] i_left;          // indices not looked at
  logic [31:0] i_at;            // address of the next
  logic [25:0] i_ask, i_until;  // next line to ask for, the last one
  logic [3:0]  i_lines;         // asked for and not used up
  logic [3:0]  i_here;          // of these, arrived
  logic [2:0]  i_write;
  logic [31:0] i_buffer [16 * INDEX_LINES];
  logic [1:0]  kinds [READS];
  logic [LINE_BITS-1:0] k_write, k_read;
  logic [LINE_BITS:0]   k_count; // reads on their way
  logic [15:0] pieces [PIECES];  // end of a run, last, new line, offset, bytes
  logic [PIECE_BITS-1:0] x_write, x_read;
  logic [PIECE_BITS:0]   x_count;
  logic [63:0] lines [8 * READS];
  logic [LINE_BITS-1:0] l_write, l_read;
  logic [LINE_BITS:0]   l_count, l_here; // asked for and not used up; of these, arrived and not begun with

  // ---- Scale ----
  logic        q_asked;
  logic [2:0]  q_slot;
  logic [2:0]  q_word;
  logic        q_odd;
  logic [3:0]  q_step;          // of the division; 0: idle
  logic [31:0] q_value;
  logic [63:0] q_number, q_quotient, q_exponent;
  logic [31:0] q_rest, q_by;

  // ---- Extract, convert, place ----
  logic        x_active, x_seen;
  logic [63:0] ring [64];       // 32: the outer ring, 0: the inner
  logic [7:0]  ri_write, ri_read, ro_write, ro_read;
  logic [8:0]  ri_level, ro_level;
  logic [63:0] m_one [16];
  logic [63:0] m_two [16];
  logic [4:0]  m_one_count, m_two_count;
  logic        m_one_last, m_two_last, m_one_tail, m_two_tail; // of a block, which is a row's last
  logic [31:0] v_block [32 * PLANES]; // two blocks: [pixel][plane]
  logic [4:0]  v_step;            // times that convert has taken elements for a block
  logic [8:0]  v_stored;          // planes that are stored in it; unweave: elements
  logic [31:0] v_left;            // blocks that are left in this row, without this one
  logic [1:0]  v_full;            // blocks that are complete
  logic        v_fill, v_empty;   // the block that is stored into, and the one that goes into the ring
  logic [8:0]  v_count [2];       // its elements; unweave: its planes
  logic [1:0]  v_tail;            // it is a row's last
  logic [8:0]  v_at;              // of these, in the ring
  logic [63:0] line [8];        // being written
  logic [63:0] line_mask;
  logic [25:0] line_at;

  logic work_q, r_valid_i, w_valid_i, ready_i, faulty; // the last four: twins of outputs
  logic [31:0] r_address_i, w_address_i;

  assign next_event = 32'hffffffff;
  assign quiet = !work_q && !(desc_valid && desc_ready) && !r_done && !w_done && !(r_valid && r_ready) &&
                 !(w_valid && w_ready);

`include "xpu_inside.svh"
  function automatic logic [1:0] log_bytes(input logic [3:0] kind);
    log_bytes = kind == xpu_chip_pkg::TYPE_I16 ? 2'd1 : kind >= xpu_chip_pkg::TYPE_I32 ? 2'd2 : 2'd0;
  endfunction
  /* verilator lint_off UNUSEDSIGNAL */
  function automatic logic off(input logic [31:0] a, input logic [1:0] size); // no multiple of 1 << size
    off = (a[0] && size != 2'd0) || (a[1] && size == 2'd2);
  endfunction
  // The region that an address is in
  function automatic logic [31:0] region_first(input logic [31:0] a);
    region_first = a[31] ? xpu_chip_pkg::GM_BASE : a[30] ? xpu_chip_pkg::L3_BASE :
                   a[29] ? xpu_chip_pkg::SM_BASE : 32'd0;
  endfunction
  function automatic logic [31:0] region_last(input logic [31:0] a);
    region_last = a[31] ? 32'hffffffff : a[30] ? 32'h7fffffff : a[29] ? 32'h3fffffff : 32'h1fffffff;
  endfunction
  /* verilator lint_on UNUSEDSIGNAL */

// Next run of a walker: x its prefix, slot its descriptor; `more` is 0 when all loops are through.
`define NEXT_RUN(x, side, slot, more) \
    more = 1'b1; \
    if (x``_left[0] != 32'd0) begin \
      x``_left[0] = x``_left[0] - 32'd1; x``_base[0] = x``_base[0] + p_stride[{side, slot, 2'd0}]; \
    end else begin \
      x``_left[0] = p_count[{side, slot, 2'd0}]; \
      if (x``_left[1] != 32'd0) begin \
        x``_left[1] = x``_left[1] - 32'd1; x``_base[1] = x``_base[1] + p_stride[{side, slot, 2'd1}]; \
      end else begin \
        x``_left[1] = p_count[{side, slot, 2'd1}]; \
        if (x``_left[2] != 32'd0) begin \
          x``_left[2] = x``_left[2] - 32'd1; x``_base[2] = x``_base[2] + p_stride[{side, slot, 2'd2}]; \
        end else begin \
          x``_left[2] = p_count[{side, slot, 2'd2}]; \
          if (x``_left[3] != 32'd0) begin \
            x``_left[3] = x``_left[3] - 32'd1; x``_base[3] = x``_base[3] + p_stride[{side, slot, 2'd3}]; \
          end else more = 1'b0; \
          x``_base[2] = x``_base[3]; \
        end \
        x``_base[1] = x``_base[2]; \
      end \
      x``_base[0] = x``_base[1]; \
    end \
    x``_at = x``_base[0]; x``_bytes = p_run[{side, slot}];

  // ---- The engine: stages from the last to the first ----
  always_ff @(posedge clk) begin : p_dma
    int unsigned i, j, k, n, first, last;
    /* verilator lint_off UNUSEDSIGNAL */
    int unsigned z;
    `FLOAT_TEMPS
    /* verilator lint_on UNUSEDSIGNAL */
    logic        moved, busy, more, hit, emit, fresh;
    logic [2:0]  slot;
    logic [1:0]  dim, from_size, to_size;
    logic [3:0]  cause;
    logic [5:0]  shift, low_bits;
    logic [7:0]  position;
    logic [31:0] stride, size, where;
    logic [63:0] a, b, keep, reach, product;
    logic [6:0]  bytes;
    logic [63:0] scale, limit, value, inverse, low, zero;
    logic [63:0] packed_words [8];
    logic [31:0] v_plane [16];
    i = 0; j = 0; k = 0; z = 0; n = 0; first = 0; last = 0;
    moved = 0; busy = 0; more = 0; hit = 0; emit = 0; fresh = 0; slot = 0; dim = 0; from_size = 0;
    to_size = 0; cause = 0; shift = 0; low_bits = 0;
    position = 0; stride = 0; size = 0; where = 0; a = 0; b = 0; keep = 0; reach = 0; product = 0; bytes = 0;
    `FLOAT_ZERO
    scale = 0; limit = 0; value = 0; inverse = 0; low = 0; zero = 0;
    if (rst) begin
      r_valid_i = 0; w_valid_i = 0; r_address_i = 0; w_address_i = 0;
      r_valid <= 0; w_valid <= 0; desc_ready <= 0; desc_done <= 0; work_q <= 1;
      faulty = 0; ready_i = 0; fault_valid <= 0; fault_cause <= NO_FAULT; fault_address <= 0;
      state <= xpu_chip_pkg::LOST_EMPTY;
      scaled = 0; live = 0; placed = 0; c_slot = 0; s_slot = 0; d_slot = 0; o_slot = 0; c_ahead = 0; d_ahead = 0;
      taken = 0; c_state = C_IDLE; s_state = S_IDLE; s_walking = 0; s_ask_scale = 0; s_line_known = 0; g_ready = 0;
      g_cause = NO_FAULT; d_active = 0; d_walked = 0; x_active = 0; x_seen = 0; k_write = 0; k_read = 0; k_count = 0;
      x_write = 0; x_read = 0; x_count = 0; l_write = 0; l_read = '1; l_count = 0; l_here = 0; q_asked = 0; q_step = 0;
      i_lines = 0; i_here = 0; i_write = 0; m_one_count = 0; m_two_count = 0; line_mask = 0;
      ri_level = 0; ro_level = 0;
      for (i = 0; i < 8; i = i + 1) writes[i] = 0;
    end else if (!quiet) begin
      // ---- Answers of writes, completion ----
      desc_done <= 0;
      if (w_valid_i && w_ready) begin
        w_valid_i = 0; moved = 1;
      end
      if (w_done) begin
        slot = o_slot;
        for (i = 0; i < 7; i = i + 1) if (writes[slot] == 0) slot = slot + 3'd1;
        writes[slot] = writes[slot] - 1;
        moved = 1;
        if (w_error) begin
          faulty = 1; fault_cause <= OUTSIDE; fault_address <= p_address[{1'b1, slot}]; s_state = S_FAULT;
        end
      end
      if (live[o_slot] && placed[o_slot] && writes[o_slot] == 0) begin
        desc_done <= 1; live[o_slot] = 0; taken = taken - 1; o_slot = o_slot + 1; moved = 1;
      end

      // ---- Place ----
      hit = 0;
      if (d_active) begin
        slot = d_slot;
        n = 32'd64 - {26'd0, d_at[5:0]};
        if (d_bytes < n) n = d_bytes;
        hit = !d_walked && n != 0 && (p_fill[slot] || {23'd0, ro_level} >= n); // a piece can be placed; n: not 2^32
        emit = line_mask != 0 && (line_mask == 64'hffffffffffffffff || d_walked || (hit && line_at != d_at[31:6]));
        if (emit && !w_valid_i) begin
          w_valid_i = 1; w_address_i = {line_at, 6'd0};
          w_mask <= line_mask;
          w_wdata <= {line[7], line[6], line[5], line[4], line[3], line[2], line[1], line[0]};
          line_mask = 0; writes[slot] = writes[slot] + 1; moved = 1;
        end
        hit = hit && (line_mask == 0 || (line_mask != 64'hffffffffffffffff && line_at == d_at[31:6]));
        if (hit) begin
          // n bytes from the ring's place ro_read to offset d_at[5:0] of the line
          position = ro_read - {5'd0, d_at[2:0]};
          shift = {position[2:0], 3'd0};
          first = {29'd0, d_at[5:3]}; last = ({26'd0, d_at[5:0]} + n - 1) >> 3;
          j = {27'd0, position[7:3]} - first;
          a = line[first]; b = line[last];
          `LOOP_TO(k, last - first + 1, 8)
            line[(first + k) & 7] = (ring[32 + ((j + first + k) & 31)] >> shift) |
                                    ((ring[32 + ((j + first + k + 1) & 31)] << 1) << (6'd63 - shift));
          `ENDLOOP(k)
          if (line_mask != 0) begin // the line holds bytes already
            low_bits = {d_at[2:0], 3'd0};
            keep = (64'd1 << low_bits) - 1;
            if (first != last) line[first] = (a & keep) | (line[first] & ~keep);
            low_bits = {3'(d_at[2:0] + n[2:0]), 3'd0};
            value = low_bits == 0 ? 64'd0 : 64'hffffffffffffffff << low_bits;
            if (first != last) keep = value; else keep = keep | value;
            line[last] = (b & keep) | (line[last] & ~keep);
          end
          line_at = d_at[31:6];
          line_mask = line_mask | ((64'hffffffffffffffff >> (7'd64 - 7'(n))) << d_at[5:0]);
          if (!p_fill[slot]) begin
            ro_read = ro_read + 8'(n); ro_level = ro_level - 9'(n);
          end
          d_at = d_at + n; d_bytes = d_bytes - n;
          if (d_bytes == 0) begin
            `NEXT_RUN(d, 1'b1, slot, more)
            if (p_unweave[slot] && d_left[1] == 0) d_bytes = {27'd0, p_tail[slot]} << p_target_size[slot];
            d_walked = !more;
          end
          moved = 1; busy = 1;
        end
        if (d_walked && line_mask == 0) begin
          d_active = 0; placed[slot] = 1; d_slot = d_slot + 1; moved = 1;
        end
      end
      // The next descriptor
      if (!d_active && d_ahead != 0) begin
        slot = d_slot; moved = 1;
        d_ahead = d_ahead - 1; d_active = 1; d_walked = p_empty[slot]; x_active = !p_empty[slot] && !p_fill[slot];
        x_seen = 0; ri_write = 0; ri_read = 0; ro_write = 0; ro_read = 0; ri_level = 0; ro_level = 0;
        v_step = 0; v_stored = 0; v_left = p_count[{p_unweave[slot], slot, 2'd1}]; v_full = 0; v_fill = 0;
        v_empty = 0; v_at = 0;
        d_at = p_address[{1'b1, slot}]; d_bytes = p_run[{1'b1, slot}];
        for (i = 0; i < 4; i = i + 1) begin
          d_left[i] = p_count[{26'd0, 1'b1, slot, 2'd0} + i]; d_base[i] = d_at;
        end
        if (p_unweave[slot] && d_left[1] == 0) d_bytes = {27'd0, p_tail[slot]} << p_target_size[slot];
        if (p_fill[slot]) begin
          where = p_scale[slot];
          if (p_target_size[slot] == 2'd0) where = {4{where[7:0]}};
          if (p_target_size[slot] == 2'd1) where = {2{where[15:0]}};
          for (i = 32; i < 64; i = i + 1) `SET(ring[i], {where, where});
        end
      end

`include "xpu_dma_weave.svh"

      // ---- Convert ----
      if (d_active && p_lanes[d_slot]) begin
        slot = d_slot;
        limit = p_wide[slot] ? 64'd32767 : 64'd127;
        scale = {32'd0, p_scale[slot]};
        // third stage: to integers where that is the target, into the outer ring
        if (m_two_count != 0 && !(p_block[slot] && v_full == 2'd2)) begin
          j = 32 + {27'd0, ro_write[7:3]};
          if (p_divide[slot]) begin
            low = p_signed[slot] ? 64'd0 - 64'd128 : 64'd0;
            zero = {{54{p_zero[slot][9]}}, p_zero[slot]};
            `LOOP(k, 16)
              `FLOAT_QUOTIENT(value, m_two[k], scale)
              value = value + zero;
              `INT_CLAMP(value, value, low, low + 64'd255)
              m_two[k] = value;
            `ENDLOOP(k)
          end else if (p_convert[slot] && !p_widen[slot]) begin
            `LOOP(k, 16)
              `FLOAT_TO_INT(value, m_two[k])
              `INT_CLAMP(value, value, 64'd0 - limit, limit)
              m_two[k] = value;
            `ENDLOOP(k)
          end
          if (p_block[slot]) begin
            j = (v_fill ? 16 * PLANES : 0) + {23'd0, v_stored};
            last = p_unweave[slot] ? 32'd1 : {27'd0, p_planes[slot]};
            `LOOP(k, 16) `SET(v_block[(j+k*last)&(32*PLANES-1)], m_two[k][31:0]); `ENDLOOP(k)
            v_stored = v_stored + (p_unweave[slot] ? 9'(m_two_count) : 9'd1);
            if (m_two_last) begin
              `SET(v_count[v_fill], (p_unweave[slot] ? 9'd1 : 9'(m_two_count)) * 9'(p_planes[slot]));
              v_tail[v_fill] = m_two_tail;
              v_stored = 0; v_fill = !v_fill; v_full = v_full + 1;
            end
          end else if (p_widen[slot]) begin
            `LOOP(k, 8) `SET(ring[j+k], (m_two[2*k] & 64'hffffffff) | m_two[2*k+1] << 32); `ENDLOOP(k)
          end else if (p_wide[slot]) begin
            `LOOP(k, 4)
              `SET(ring[j+k], (m_two[4*k] & 64'hffff) | (m_two[4*k+1] & 64'hffff) << 16 |
                          (m_two[4*k+2] & 64'hffff) << 32 | m_two[4*k+3] << 48);
            `ENDLOOP(k)
          end else begin
            `LOOP(k, 2)
              a = 0;
              for (i = 0; i < 8; i = i + 1) a = a | (m_two[8*k+i] & 64'hff) << (8 * i);
              `SET(ring[j+k], a);
            `ENDLOOP(k)
          end
          n = p_block[slot] ? 0 : {27'd0, m_two_count} << p_target_size[slot];
          ro_write = ro_write + 8'(n); ro_level = ro_level + 9'(n); m_two_count = 0; moved = 1; busy = 1;
        end
        // second stage: multiply; where a divisor is, by the first bits of its inverse
        if (m_one_count != 0 && m_two_count == 0) begin
          if (p_divide[slot]) begin
            inverse = {50'd0, p_inverse[slot]};
            `LOOP(k, 16)
              `FLOAT_HALVES(value, m_one[k], scale, inverse)
              m_two[k] = value;
            `ENDLOOP(k)
          end else if (p_convert[slot]) begin
            `LOOP(k, 16)
              `FLOAT_MUL(value, m_one[k], scale)
              m_two[k] = value;
            `ENDLOOP(k)
          end else begin
            `LOOP(k, 16) m_two[k] = m_one[k]; `ENDLOOP(k)
          end
          m_two_count = m_one_count; m_two_last = m_one_last; m_two_tail = m_one_tail; m_one_count = 0; moved = 1; busy = 1;
        end
        // first stage: 16 elements out of the inner ring
        n = 32'd16 << p_source_size[slot];
        if (scaled[slot] && ({23'd0, ri_level} >= n || (ri_level != 0 && !x_active)) &&
            (p_block[slot] ? m_one_count == 0 :
             {23'd0, ro_level} + (m_two_count != 0 ? 32'd64 : 32'd0) <= 32'd128)) begin
          if ({23'd0, ri_level} < n) n = {23'd0, ri_level};
          j = {27'd0, ri_read[7:3]};
          if (p_source_size[slot] == 2'd2) begin
            `LOOP(k, 8)
              m_one[2*k] = ring[j+k] & 64'hffffffff; m_one[2*k+1] = ring[j+k] >> 32;
            `ENDLOOP(k)
          end else if (p_source_size[slot] == 2'd1) begin
            `LOOP(k, 16) m_one[k] = ring[j+(k>>2)] >> ((k & 3) << 4) & 64'hffff; `ENDLOOP(k)
          end else begin
            `LOOP(k, 16) m_one[k] = ring[j+(k>>3)] >> ((k & 7) << 3) & 64'hff; `ENDLOOP(k)
          end
          if (p_convert[slot] && p_widen[slot]) begin
            keep = p_source_size[slot] == 2'd2 ? 64'h80000000 : p_source_size[slot] == 2'd1 ? 64'h8000 : 64'h80;
            `LOOP(k, 16)
              value = (m_one[k] ^ keep) - keep;
              `FLOAT_FROM_INT(value, value)
              m_one[k] = value;
            `ENDLOOP(k)
          end
          ri_read = ri_read + 8'(n); ri_level = ri_level - 9'(n); m_one_count = 5'(n >> p_source_size[slot]); moved = 1;
          if (p_block[slot]) begin
            m_one_tail = v_left == 0; v_step = v_step + 1;
            if (p_apart[slot]) m_one_count = p_planes[slot];
            else if (p_weave[slot] && m_one_tail) m_one_count = p_tail[slot];
            m_one_last = v_step == (m_one_tail ? p_steps_tail[slot] : p_steps_full[slot]);
            if (m_one_last) begin
              v_step = 0; v_left = v_left == 0 ? p_count[{p_unweave[slot], slot, 2'd1}] : v_left - 1;
            end
          end
        end
      end

      // ---- Extract ----
      if (x_active && x_count != 0) begin
        slot = d_slot;
        bytes = pieces[x_read][6:0];
        fresh = pieces[x_read][13];
        if ((!fresh || l_here != 0) && (p_lanes[slot] ? ri_level : ro_level) <= 9'd128) begin
          if (fresh) begin // the line before it is used up
            l_read = l_read + 1; l_here = l_here - 1; l_count = l_count - 1;
          end
          // bytes from offset pieces[..][12:7] to the ring's place `position`
          position = p_lanes[slot] ? ri_write : ro_write;
          where = {26'd0, pieces[x_read][12:7]} + 32'd8 - {29'd0, position[2:0]};
          shift = {where[2:0], 3'd0};
          j = (where >> 3) + 7; // less 1, modulo 8
          i = p_lanes[slot] ? 0 : 32;
          first = {27'd0, position[7:3]};
          last = ({29'd0, position[2:0]} + {25'd0, bytes} + 7) >> 3;
          where = {32'(l_read) << 3};
          low_bits = {position[2:0], 3'd0};
          keep = (64'd1 << low_bits) - 1;
          a = lines[where + (j & 7)]; b = lines[where + ((j + 1) & 7)];
          value = (a >> shift) | ((b << 1) << (6'd63 - shift));
          `SET(ring[i + first], (ring[i + first] & keep) | (value & ~keep));
          `LOOP_TO(k, last - 1, 8) // what comes behind the piece is free
            a = b; b = lines[where + ((j + k + 2) & 7)];
            `SET(ring[i + ((first + k + 1) & 31)], (a >> shift) | ((b << 1) << (6'd63 - shift)));
          `ENDLOOP(k)
          if (p_lanes[slot]) begin
            ri_write = ri_write + {1'b0, bytes}; ri_level = ri_level + {2'd0, bytes};
            if (p_block[slot] && pieces[x_read][15]) begin // each run has 16 places
              position = (8'd16 << p_source_size[slot]) - 8'd1; position = (8'd0 - ri_write) & position;
              ri_write = ri_write + position; ri_level = ri_level + {1'b0, position};
            end
          end else begin
            ro_write = ro_write + {1'b0, bytes}; ro_level = ro_level + {2'd0, bytes};
          end
          if (pieces[x_read][14]) x_active = 0;
          x_read = x_read + 1; x_count = x_count - 1; x_seen = 1; moved = 1; busy = 1;
        end
      end

      // ---- Scale: fl(limit / absmax), fl(absmax / limit) or a divisor's inverse, eight bits of the quotient per cycle
      if (q_step != 0) begin
        moved = 1; slot = q_slot;
        limit = p_divide[slot] ? 64'h800000 : p_wide[slot] ? 64'hfffe00 : 64'hfe0000;
        fb = p_wide[slot] ? 64'd141 : 64'd133;
        fa = {32'd0, q_value};
        if (q_step == 4'd10) begin
          `FLOAT_OPEN(fa, fe, fm, fi)
          if (p_widen[slot]) begin
            q_number = fm << 40; q_by = limit[31:0]; q_exponent = fe + 64'd1173 - fb;
          end else begin
            q_number = limit << 40; q_by = fm[31:0]; q_exponent = fb + 64'd1173 - fe;
          end
          q_quotient = 0; q_rest = 0;
          q_step = p_scale_mode[slot] >= xpu_chip_pkg::SCALE_ABSMAX ? 4'd9 : 4'd0;
          `SET(p_scale[slot], q_value); scaled[slot] = q_step == 4'd0;
        end else if (q_step != 4'd1) begin
          for (i = 0; i < 8; i = i + 1) begin
            q_rest = {q_rest[30:0], q_number[63]}; q_number = q_number << 1; q_quotient = q_quotient << 1;
            if (q_rest >= q_by) begin
              q_rest = q_rest - q_by; q_quotient = q_quotient | 64'd1;
            end
          end
          q_step = q_step - 1;
        end else begin
          fs = q_quotient | (q_rest != 0 ? 64'd1 : 64'd0); fe = q_exponent;
          `FLOAT_NORM(fs, fe)
          `FLOAT_PACK(fx, fs, fe)
          if (p_divide[slot]) begin
            `SET(p_inverse[slot], q_quotient[40:27]);
          end else if (p_widen[slot]) begin
            if (q_value[30:23] == 8'd255) `SET(p_scale[slot], q_value == 32'hff800000 ? q_value : 32'h7fc00000);
            else `SET(p_scale[slot], {q_value[31], fx[30:0]});
          end else begin // at most the largest float; 0 for 0, negative numbers, inf and NaN
            if (q_value[31] || q_value[30:0] == 0 || q_value[30:23] == 8'd255) `SET(p_scale[slot], 0);
            else if (q_value[30:23] == 0 || fx >= 64'h7f800000) `SET(p_scale[slot], 32'h7f7fffff);
            else `SET(p_scale[slot], fx[31:0]);
          end
          scaled[slot] = 1; q_step = 0;
        end
      end

      // ---- Source ----
      if (r_valid_i && r_ready) begin
        r_valid_i = 0; moved = 1;
      end
      slot = s_slot;
      if (s_state == S_RUN) begin
        // scale and indices go before data
        if (s_ask_scale && p_divide[slot]) begin
          if (!q_asked && q_step == 0) begin
            q_value = p_scale[slot]; q_slot = slot; q_step = 4'd10; s_ask_scale = 0; moved = 1;
          end
        end else if (s_ask_scale && !r_valid_i && k_count != READS[LINE_BITS:0] && !q_asked && q_step == 0) begin
          r_valid_i = 1; r_address_i = {p_first[{2'd3, slot}][31:6], 6'd0};
          r_mask <= 64'd15 << p_first[{2'd3, slot}][5:0];
          q_odd = p_first[{2'd3, slot}][2]; q_word = p_first[{2'd3, slot}][5:3]; q_asked = 1; q_slot = slot;
          `SET(kinds[k_write], IS_SCALE); k_write = k_write + 1; k_count = k_count + 1; s_ask_scale = 0; moved = 1;
        end
        if (p_gather[slot] && i_ask != i_until && i_lines != INDEX_LINES[3:0] && !r_valid_i && !s_ask_scale &&
            k_count != READS[LINE_BITS:0]) begin
          r_valid_i = 1; r_address_i = {i_ask, 6'd0}; r_mask <= 64'hffffffffffffffff;
          if (i_ask == p_first[{2'd2, slot}][31:6]) r_mask <= 64'hffffffffffffffff << p_first[{2'd2, slot}][5:0];
          `SET(kinds[k_write], IS_INDEX); k_write = k_write + 1; k_count = k_count + 1;
          i_ask = i_ask + 1; i_lines = i_lines + 1; moved = 1;
        end
        // a piece of the current run
        if (s_walking && !s_ask_scale && x_count != PIECES[PIECE_BITS:0]) begin
          n = 32'd64 - {26'd0, s_at[5:0]};
          if (s_bytes < n) n = s_bytes;
          fresh = !s_line_known || s_line != s_at[31:6];
          if (!fresh || (!r_valid_i && k_count != READS[LINE_BITS:0] && l_count != READS[LINE_BITS:0] - 1)) begin
            moved = 1;
            if (fresh) begin
              r_valid_i = 1; r_address_i = {s_at[31:6], 6'd0};
              r_mask <= (64'hffffffffffffffff >> (7'd64 - 7'(n))) << s_at[5:0];
              `SET(kinds[k_write], IS_DATA); k_write = k_write + 1; k_count = k_count + 1; l_count = l_count + 1;
              s_line = s_at[31:6]; s_line_known = 1;
            end
            bytes = 7'(n); position = {2'd0, s_at[5:0]};
            s_at = s_at + n; s_bytes = s_bytes - n;
            more = 1; hit = s_bytes == 0;
            if (hit) begin
              `NEXT_RUN(s, 1'b0, slot, more)
              if (p_weave[slot] && s_left[1] == 0) s_bytes = {27'd0, p_tail[slot]} << p_source_size[slot];
              if (!more) s_walking = 0;
              if (!more && p_gather[slot] && s_left[4] != 0) more = 1;
            end
            `SET(pieces[x_write], {hit, !more, fresh, position[5:0], bytes});
            x_write = x_write + 1; x_count = x_count + 1;
          end
        end
        if (p_gather[slot]) begin
          // the next step begins
          if (!s_walking && g_ready) begin
            g_ready = 0; s_walking = 1; s_left[4] = s_left[4] - 1; moved = 1;
            s_at = g_at; s_bytes = p_run[{1'b0, slot}];
            for (i = 0; i < 4; i = i + 1) s_base[i] = g_at;
          end
          // an index is looked at
          if (!g_ready && i_left != 0 && i_here != 0 && g_cause == NO_FAULT) begin
            where = i_buffer[{25'd0, 3'(i_write - i_here[2:0]), i_at[5:2]}];
            product = {{32{where[31]}}, where} * {{32{p_step[{1'b0, slot}][31]}}, p_step[{1'b0, slot}]};
            reach = {32'd0, p_address[{1'b0, slot}]} + product;
            g_at = reach[31:0]; g_fault_at = reach[31:0];
            g_cause = p_step_fault[{1'b0, slot}] != NO_FAULT ? p_step_fault[{1'b0, slot}] :
                      !inside_memory(reach + p_low[{1'b0, slot}], p_length[{1'b0, slot}]) ? OUTSIDE : NO_FAULT;
            if (g_cause == NO_FAULT) begin
              reach = g_target;
              g_fault_at = g_target[31:0];
              g_cause = p_step_fault[{1'b1, slot}] != NO_FAULT ? p_step_fault[{1'b1, slot}] :
                        !inside_memory(reach + p_low[{1'b1, slot}], p_length[{1'b1, slot}]) ? OUTSIDE : NO_FAULT;
            end
            g_target = g_target + {{32{p_step[{1'b1, slot}][31]}}, p_step[{1'b1, slot}]};
            i_at = i_at + 4; i_left = i_left - 1;
            if (i_at[5:0] == 0 || i_left == 0) begin
              i_here = i_here - 1; i_lines = i_lines - 1;
            end
            g_ready = g_cause == NO_FAULT; moved = 1;
          end
          if (g_cause != NO_FAULT && o_slot == slot && !faulty) begin
            faulty = 1; fault_cause <= g_cause; fault_address <= g_fault_at; s_state = S_FAULT; moved = 1;
          end
        end
        if (!s_walking && !s_ask_scale && !(p_gather[slot] && s_left[4] != 0) && s_state == S_RUN) begin
          s_state = S_IDLE; s_slot = s_slot + 1; moved = 1;
        end
      end
      slot = s_slot;
      if (s_state == S_IDLE && c_ahead != 0) begin
        if (p_cause[slot] != NO_FAULT) begin
          if (live == 0) begin
            faulty = 1; fault_cause <= p_cause[slot]; fault_address <= p_fault_at[slot];
            s_state = S_FAULT; moved = 1;
          end
        end else begin
          hit = 0; // it reads where one before it writes
          for (i = 0; i < 8; i = i + 1)
            if (live[i])
              for (j = 0; j < 32; j = j + 8)
                if (j != 8 && p_first[j + {29'd0, slot}] <= p_last[8 + i] &&
                    p_last[j + {29'd0, slot}] >= p_first[8 + i])
                  hit = 1;
          if (!hit) begin
            c_ahead = c_ahead - 1; d_ahead = d_ahead + 1; live[slot] = 1; placed[slot] = 0; moved = 1;
            s_line_known = 0; s_state = S_RUN;
            s_walking = !p_empty[slot] && !p_fill[slot] && !p_gather[slot];
            s_ask_scale = p_convert[slot] && p_scale_mode[slot] != xpu_chip_pkg::SCALE_IMMEDIATE && !p_empty[slot];
            scaled[slot] = !s_ask_scale;
            s_at = p_address[{1'b0, slot}]; s_bytes = p_run[{1'b0, slot}];
            for (i = 0; i < 4; i = i + 1) begin
              s_left[i] = p_count[{26'd0, 1'b0, slot, 2'd0} + i]; s_base[i] = s_at;
            end
            if (p_weave[slot] && s_left[1] == 0) s_bytes = {27'd0, p_tail[slot]} << p_source_size[slot];
            s_left[4] = p_gather[slot] ? p_steps[slot] : 0;
            i_left = s_left[4]; i_at = p_first[{2'd2, slot}]; i_ask = i_at[31:6];
            i_until = p_last[{2'd2, slot}][31:6] + 1;
            i_lines = 0; i_here = 0; i_write = 0; g_ready = 0; g_cause = NO_FAULT;
            g_target = {32'd0, p_address[{1'b1, slot}]};
            if (p_empty[slot] || p_fill[slot]) begin
              s_state = S_IDLE; s_slot = s_slot + 1;
            end
          end
        end
      end

`include "xpu_dma_check.svh"

      // ---- Answers of reads ----
      if (r_done) begin
        moved = 1; k_count = k_count - 1;
        case (kinds[k_read])
          IS_DATA: begin
            where = 32'(l_write) << 3;
            `SET(lines[where], r_rdata[63:0]); `SET(lines[where+1], r_rdata[127:64]);
            `SET(lines[where+2], r_rdata[191:128]); `SET(lines[where+3], r_rdata[255:192]);
            `SET(lines[where+4], r_rdata[319:256]); `SET(lines[where+5], r_rdata[383:320]);
            `SET(lines[where+6], r_rdata[447:384]); `SET(lines[where+7], r_rdata[511:448]);
            l_write = l_write + 1; l_here = l_here + 1;
          end
          IS_INDEX: begin
            where = {25'd0, i_write, 4'd0};
            for (i = 0; i < 16; i = i + 1) `SET(i_buffer[where + i], r_rdata[32 * i +: 32]);
            i_write = i_write + 1; i_here = i_here + 1;
          end
          default: begin
            q_value = q_word[0] ? q_odd ? r_rdata[127:96] : r_rdata[95:64] : q_odd ? r_rdata[63:32] : r_rdata[31:0];
            case (q_word[2:1])
              2'd1: q_value = q_word[0] ? q_odd ? r_rdata[255:224] : r_rdata[223:192] :
                                          q_odd ? r_rdata[191:160] : r_rdata[159:128];
              2'd2: q_value = q_word[0] ? q_odd ? r_rdata[383:352] : r_rdata[351:320] :
                                          q_odd ? r_rdata[319:288] : r_rdata[287:256];
              2'd3: q_value = q_word[0] ? q_odd ? r_rdata[511:480] : r_rdata[479:448] :
                                          q_odd ? r_rdata[447:416] : r_rdata[415:384];
              default: ;
            endcase
            q_step = 4'd10; q_asked = 0;
          end
        endcase
        k_read = k_read + 1;
        if (r_error) begin
          faulty = 1; fault_cause <= OUTSIDE; fault_address <= p_address[{1'b0, o_slot}]; s_state = S_FAULT;
        end
      end

      // ---- Outputs ----
      ready_i = c_state == C_IDLE && taken < 4'd8 && s_state != S_FAULT;
      desc_ready <= ready_i; fault_valid <= faulty;
      r_valid <= r_valid_i; r_address <= r_address_i; w_valid <= w_valid_i; w_address <= w_address_i;
      work_q <= moved;
      slot = d_slot;
      state <= taken == 0 ? xpu_chip_pkg::LOST_EMPTY : busy ? xpu_chip_pkg::LOST_BUSY :
               w_valid_i ? (w_address_i[31] ? xpu_chip_pkg::LOST_GM_BANDWIDTH : xpu_chip_pkg::LOST_BANK) :
               k_count != 0 ? (!r_address_i[31] ? xpu_chip_pkg::LOST_BANK :
                               x_seen ? xpu_chip_pkg::LOST_GM_BANDWIDTH : xpu_chip_pkg::LOST_GM_LATENCY) :
               moved ? xpu_chip_pkg::LOST_BUSY :
               w_address_i[31] ? xpu_chip_pkg::LOST_GM_LATENCY : xpu_chip_pkg::LOST_BANK;
    end
  end

  `CHECK_HELD(desc, desc_valid, desc_ready, desc)
  `CHECK_HELD(r, r_valid, r_ready, {r_address, r_mask})
  `CHECK_HELD(w, w_valid, w_ready, {w_address, w_mask, w_wdata})
  `CHECK_ANSWERS(desc, desc_valid && desc_ready, desc_done, 8)
  `CHECK_ANSWERS(r, r_valid && r_ready, r_done, READS)
  `CHECK_ANSWERS(w, w_valid && w_ready, w_done, 4096)
  `CHECK(ri_level <= 9'd256 && ro_level <= 9'd256, "a ring of bytes is overfull")
  `CHECK(32'(k_count) <= READS && 32'(l_count) <= READS && 32'(x_count) <= PIECES && v_full <= 2'd2,
         "a ring is overfull")
endmodule
