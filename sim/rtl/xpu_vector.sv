// xpu_vector: the vector unit of a core, Zve32f, VLEN 512, ELEN 32: a queue of 2 instructions, one arithmetic pipe and
//   one load and store pipe, which overlap; register file v_q, 32 registers of 16 words.
//   Instructions arrive legal (xpu_vector_legal.svh, checked by the scalar core) and begin in order. A pipe works on
//   one at a time, on a register of 512 bits per cycle. What an older instruction of the other pipe or of the stages
//   below has still to read or write holds a step back, register by register: a load, what computes with it and the
//   store of the result run at the same time.
//   Arithmetic: latency from issue to issue of a user 4 cycles, throughput one register a cycle, integers of any width
//   and 16 floats; narrowing results 2 cycles each. One element a cycle: division, square root, vfrec7, vfrsqrt7,
//   vrgather, vcompress, float reductions (in the order of the elements).
//   Loads and stores: unit stride 64 bytes of a line a cycle (an unaligned register takes two lines); strided, indexed
//   and segment accesses an element of a field a cycle. Own LM answers in the next cycle; elsewhere one request at a
//   time. Tails and inactive elements keep their values.
//   Back-pressure: v_ready; vm_ready holds the load and store pipe. Completion: one v_retire_valid per instruction, at
//   most one a cycle, when all it wrote can be read; instructions of different pipes may complete out of order, the
//   scalar core retires them in order. After a fault nothing begins any more.
//   writer_q: the tag of the youngest instruction that writes a register and has begun, for who looks at v_q.
// quiet: nothing happens until an input changes. state: LOST_* of the cycle before.
`include "xpu_lanes.svh"
`include "xpu_vector_fma.svh"
module xpu_vector #(
  parameter int unsigned LM_BYTES = 65536
) (
  input  logic         clk,
  input  logic         rst,
  input  logic         v_valid,
  input  logic [31:0]  v_insn,
  input  logic [3:0]   v_tag,
  input  logic [31:0]  v_x1,      // rs1 from x or f
  input  logic [31:0]  v_x2,      // rs2 from x
  input  logic [9:0]   v_vl,
  input  logic [4:0]   v_vtype,   // SEW, LMUL
  input  logic [8:0]   v_vstart,
  input  logic [2:0]   v_frm,
  input  logic [1:0]   v_vxrm,
  output logic         v_ready,
  output logic         v_retire_valid,
  output logic [3:0]   v_retire_tag,
  output logic         v_retire_x_valid,
  output logic         v_retire_f_valid,
  output logic [31:0]  v_retire_x_data, // of either kind
  output logic [4:0]   v_retire_fflags,
  output logic         v_retire_vxsat,
  output logic         v_retire_fault,
  output logic [3:0]   v_retire_cause,
  output logic [31:0]  v_retire_address,
  output logic         v_retire_vl_valid,
  output logic [9:0]   v_retire_vl,
  // memory: taken when vm_valid and vm_ready; answers in order
  output logic         vm_valid,
  output logic         vm_write,
  output logic [31:0]  vm_address,
  output logic [63:0]  vm_mask,
  output logic [511:0] vm_wdata,
  input  logic         vm_ready,
  input  logic         vm_done,
  input  logic [511:0] vm_rdata,
  input  logic         vm_error,
  output logic         quiet,
  output logic [4:0]   state
);
  `include "xpu_vector_decode.svh"

  localparam logic [63:0] TOP = 64'h8000000000000000;

  // ---- State; the block works with variables, from the execute stage on ----
  logic [31:0] v_q [32][16];
  // verilator lint_off UNUSEDSIGNAL
  (* mem2reg *) logic [3:0] writer_q [32];
  // verilator lint_on UNUSEDSIGNAL
  // Queue
  logic        ready, waits, busy, dead;
  logic [1:0]  q_count;
  (* mem2reg *) logic [31:0] q_insn [2];
  (* mem2reg *) logic [31:0] q_x1 [2];
  (* mem2reg *) logic [31:0] q_x2 [2];
  (* mem2reg *) logic [32:0] q_rest [2]; // tag, vl, vtype, vstart, frm, vxrm
  // Arithmetic pipe: the instruction under way
  logic          a_valid, a_hold, a_masked, a_begun;
  logic          a_zero;            // reads v0 beside vs1 and vs2
  logic          a_float;           // in the float lanes
  logic          a_lanes;           // needs K
  // verilator lint_off UNUSEDSIGNAL
  logic [`VC_BITS-1:0] a_c;
  // verilator lint_on UNUSEDSIGNAL
  logic [3:0]    a_tag;
  logic [4:0]    a_rd, a_rs1, a_rs2;
  logic [31:0]   a_s;               // scalar as it came
  logic [63:0]   a_y;               // as an element
  logic [9:0]    a_vl, a_vstart, a_e, a_n, a_next, a_sum, a_most;
  logic [1:0]    a_sew, a_vxrm;
  logic [2:0]    a_frm;
  logic [4:0]    a_flags;
  logic          a_sat;
  logic [31:0]   a_reads, a_writes; // registers that it has still to read, to write
  logic [63:0]   a_acc;
  // Lanes
  (* mem2reg *) logic [63:0] A [64];
  (* mem2reg *) logic [63:0] B [64];
  (* mem2reg *) logic [63:0] C [64];
  (* mem2reg *) logic [63:0] D [64];
  (* mem2reg *) logic [63:0] S [64];
  (* mem2reg *) logic [63:0] R [64];
  (* mem2reg *) logic [63:0] K [64]; // all ones where an element is active
  (* mem2reg *) logic [31:0] W [32];
  (* mem2reg *) logic [31:0] O [16]; // a register of the result
  (* mem2reg *) logic [31:0] M [16]; // a mask being made, a register being filled element by element
  (* mem2reg *) logic [31:0] L [18]; // a line of memory
  logic [511:0] wide;
  // Results on their way to the register file, stages 1 to 3: tag and so on as {valid, last, write, x, f, sat, flags,
  // rd, tag}
  logic [19:0] p1_c, p2_c, p3_c;
  logic [31:0] p1_mask, p2_mask, p3_mask, p1_x, p2_x, p3_x;
  (* mem2reg *) logic [31:0] p1 [16];
  (* mem2reg *) logic [31:0] p2 [16];
  (* mem2reg *) logic [31:0] p3 [16];
  logic [16:0] p1_lanes, p2_lanes; // the result comes from the float lanes; those that are active
  logic [4:0]  p3_flags;           // of the float lanes, of this instruction
  // Load and store pipe
  logic        m_valid, m_older, m_store, m_masked, m_units, m_indexed, m_first, m_whole, m_asked, m_far, m_stopped;
  logic [3:0]  m_tag;
  logic [4:0]  m_rd, m_rs2;
  logic [1:0]  m_eew, m_ieew, m_group; // logarithms of bytes, of an index's bytes, of the registers of a field
  logic [2:0]  m_fields, m_f;          // fields - 1
  logic [9:0]  m_vl, m_vstart, m_e, m_new_vl;
  logic [31:0] m_base, m_stride, m_address;
  // unit stride: where byte 0 of the next line stands in the register group, signed
  logic [12:0] m_p;
  logic [31:0] m_reads, m_writes;      // as a_reads
  logic        m_fault;
  logic [3:0]  m_cause;
  logic [31:0] m_fault_address;
  // Requests that have not been answered, oldest first
  logic [2:0]  f_count;
  (* mem2reg *) logic [12:0] f_at [4];     // where byte 0 of the line stands in the register file, signed
  (* mem2reg *) logic [63:0] f_mask [4];
  (* mem2reg *) logic [9:0]  f_e [4];      // its first element
  (* mem2reg *) logic [31:0] f_address [4];

  // Float lanes: operands in the cycle after a step, the result one later
  logic        f_valid, f_signed;
  logic [2:0]  f_op, f_mode;
  logic [15:0] f_active;
  logic [4:0]  f_flags;
  (* mem2reg *) logic [63:0] X [16];
  (* mem2reg *) logic [63:0] Y [16];
  (* mem2reg *) logic [63:0] Z [16];
  (* mem2reg *) logic [63:0] F [16];

  // Elements first .. last - 1 of the 64 from `from` on.
  function automatic logic [63:0] element_range(input logic [9:0] from, input logic [9:0] first,
      input logic [9:0] last);
    logic [63:0] mask;
    mask = ~64'd0;
    if (last <= from) mask = 64'd0;
    else if (last - from < 10'd64) mask = ~(~64'd0 << (last[5:0] - from[5:0]));
    if (first > from) mask = first - from > 10'd63 ? 64'd0 : mask & (~64'd0 << (first[5:0] - from[5:0]));
    element_range = mask;
  endfunction

  // Each of the low bits becomes as many bits as an element has bytes.
  function automatic logic [63:0] spread(input logic [63:0] mask, input logic [1:0] width);
    logic [63:0] x;
    x = mask;
    if (width == 2'd1) begin
      x = x & 64'hffffffff;
      x = (x | x << 16) & 64'h0000ffff0000ffff; x = (x | x << 8) & 64'h00ff00ff00ff00ff;
      x = (x | x << 4) & 64'h0f0f0f0f0f0f0f0f; x = (x | x << 2) & 64'h3333333333333333;
      x = (x | x << 1) & 64'h5555555555555555; x = x | x << 1;
    end else if (width == 2'd2) begin
      x = x & 64'hffff;
      x = (x | x << 24) & 64'h000000ff000000ff; x = (x | x << 12) & 64'h000f000f000f000f;
      x = (x | x << 6) & 64'h0303030303030303; x = (x | x << 3) & 64'h1111111111111111;
      x = x | x << 1; x = x | x << 2;
    end
    spread = x;
  endfunction

  // Four bits become four bytes.
  function automatic logic [31:0] byte_mask(input logic [3:0] bits);
    byte_mask = ((({28'd0, bits} * 32'h00204081) & 32'h01010101) << 8) - (({28'd0,
        bits} * 32'h00204081) & 32'h01010101);
  endfunction

  // Registers a .. b.
  function automatic logic [31:0] register_range(input logic [4:0] a, input logic [4:0] b);
    register_range = (~32'd0 << a) & (~32'd0 >> (5'd31 - b));
  endfunction

  // An element, extended to 64 bits.
  function automatic logic [63:0] extended(input logic [31:0] value, input logic [1:0] width, input logic is_signed);
    logic [63:0] x, sign;
    x = {32'd0, value};
    if (width == 2'd0) x = x & 64'hff;
    if (width == 2'd1) x = x & 64'hffff;
    sign = !is_signed ? 64'd0 : width == 2'd0 ? 64'h80 : width == 2'd1 ? 64'h8000 : 64'h80000000;
    extended = (x ^ sign) - sign;
  endfunction

  `include "xpu_vector_serial.svh"
  `include "xpu_vector_round.svh"

  // Word x of the register file.
  `define WORD(x) v_q[((x) >> 4) & 31][(x) & 15]
  // W = the words from word `at` of the register file on; X = W as elements; 0 to n - 1 of them count.
  `define FETCH(at, words, most_words) `LOOP_TO(i, words, most_words) W[i] = `WORD((at) + i); `ENDLOOP(i)
  `define UNPACK(X, width, is_signed) \
    case (width) \
      2'd2: begin \
        fx = (is_signed) ? 64'h80000000 : 64'd0; \
        `LOOP_TO(i, n, 32) X[i] = ({32'd0, W[i]} ^ fx) - fx; `ENDLOOP(i) \
      end \
      2'd1: begin \
        fx = (is_signed) ? 64'h8000 : 64'd0; \
        `LOOP_TO(i, n >> 1, 32) \
          X[2 * i] = ({48'd0, W[i][15:0]} ^ fx) - fx; X[2 * i + 1] = ({48'd0, W[i][31:16]} ^ fx) - fx; \
        `ENDLOOP(i) \
      end \
      default: begin \
        fx = (is_signed) ? 64'h80 : 64'd0; \
        `LOOP_TO(i, n >> 2, 16) \
          X[4 * i] = ({56'd0, W[i][7:0]} ^ fx) - fx; X[4 * i + 1] = ({56'd0, W[i][15:8]} ^ fx) - fx; \
          X[4 * i + 2] = ({56'd0, W[i][23:16]} ^ fx) - fx; X[4 * i + 3] = ({56'd0, W[i][31:24]} ^ fx) - fx; \
        `ENDLOOP(i) \
      end \
    endcase

  always_ff @(posedge clk) begin : p_vector
    `FLOAT_TEMPS
    logic [63:0] fr_ne, fr_mm, fr_up, fr_dn, rx_up, rx_even, rx_odd;
    logic [63:0] act, carries, window0, window2, bits, shifts, most, least, line_mask;
    int unsigned i, n, at, to, from;
    // verilator lint_off UNUSEDSIGNAL
    int unsigned z; // keeps loops rolled
    // verilator lint_on UNUSEDSIGNAL
    logic [31:0] inflight, reads, touched, hazards, word, address, w;
    logic [19:0] n_c;
    logic [16:0] n_lanes;
    logic [31:0] n_x;
    logic [4:0]  n_flags, shift;
    logic        n_sat, active, masked, full, fires, last, asks, probe, skips, slides, single, in_lm, retires, write;
    logic [10:0] offset;
    logic [9:0]  e, count;
    logic [4:0]  reg_d, from_reg;
    logic [12:0] line_at;
    logic [5:0]  lane;
    logic [`VC_BITS-1:0] c;
    logic [32:0] rest;
    // cleared here, the host's compiler keeps them in registers
    `FLOAT_ZERO
    fr_ne = 0; fr_mm = 0; fr_up = 0; fr_dn = 0; n_lanes = 0;
    rx_up = 0; rx_even = 0; rx_odd = 0; act = 0; carries = 0; window0 = 0; window2 = 0; bits = 0; shifts = 0;
    most = 0; least = 0; line_mask = 0; i = 0; z = 0; n = 0; at = 0; to = 0; from = 0;
    inflight = 0; reads = 0; touched = 0; hazards = 0; word = 0; address = 0; w = 0; n_c = 0; n_x = 0; n_flags = 0;
    shift = 0; n_sat = 0; active = 0; masked = 0; full = 0; fires = 0; last = 0; asks = 0; probe = 0; skips = 0;
    slides = 0;
    single = 0; in_lm = 0; retires = 0; write = 0; offset = 0; e = 0; count = 0; reg_d = 0; from_reg = 0; line_at = 0;
    lane = 0;
    c = '0; rest = 0;
    if (rst) begin
`ifndef YOSYS
      for (int unsigned k = 0; k < 512; k = k + 1) v_q[k[8:4]][k[3:0]] = 32'd0; // as the functional core begins
`endif
      ready = 1'b1; waits = 1'b0; busy = 1'b0; dead = 1'b0; q_count = 2'd0;
      a_valid = 1'b0; a_hold = 1'b0; f_valid = 1'b0; p1_lanes = 17'd0; p2_lanes = 17'd0; p3_flags = 5'd0;
      m_valid = 1'b0; m_older = 1'b0; f_count = 3'd0;
      p1_c = 20'd0; p2_c = 20'd0; p3_c = 20'd0; p1_mask = 32'd0; p2_mask = 32'd0; p3_mask = 32'd0;
      a_reads = 32'd0; a_writes = 32'd0; m_reads = 32'd0; m_writes = 32'd0; m_far = 1'b0;
      v_ready <= 1'b1; v_retire_valid <= 1'b0; vm_valid <= 1'b0; quiet <= 1'b1;
      v_retire_fault <= 1'b0; v_retire_vl_valid <= 1'b0;
      state <= xpu_chip_pkg::LOST_EMPTY;
    end else if (v_valid || busy) begin
      inflight = p1_mask | p2_mask | p3_mask;
      // ---- End of the arithmetic pipe: a register is written, an instruction completes ----
      // Nobody reads a register in this cycle that is written here: it is in flight.
      v_retire_valid <= 1'b0;
      v_retire_fault <= 1'b0;
      v_retire_vl_valid <= 1'b0;
      retires = 1'b0;
      if (p3_c[19]) begin
        active = 1'b1;
        if (p3_c[17]) begin
          reg_d = p3_c[8:4];
          `LOOP(i, 16) `SET(v_q[reg_d][i], p3[i]); `ENDLOOP(i)
        end
        if (p3_c[18]) begin
          retires = 1'b1;
          v_retire_valid <= 1'b1;
          v_retire_tag <= p3_c[3:0];
          v_retire_x_valid <= p3_c[16];
          v_retire_f_valid <= p3_c[15];
          v_retire_x_data <= p3_x;
          v_retire_vxsat <= p3_c[14];
          v_retire_fflags <= p3_c[13:9];
        end
      end
      p3_c = p2_c; p3_mask = p2_mask; p3_x = p2_x;
      if (p2_lanes[16]) begin
        p3_flags = p3_flags | f_flags;
        `LOOP(i, 16) p3[i] = F[i][31:0]; `ENDLOOP(i)
        if (!(&p2_lanes)) begin
          for (int unsigned k = 0; k < 16; k = k + 1) if (!p2_lanes[k]) p3[k] = p2[k];
        end
      end else if (p2_c[17]) begin
        `LOOP(i, 16) p3[i] = p2[i]; `ENDLOOP(i)
      end
      if (p2_c[18]) begin
        p3_c[13:9] = p3_c[13:9] | p3_flags;
        p3_flags = 5'd0;
      end
      p2_c = p1_c; p2_mask = p1_mask; p2_x = p1_x;
      p2_lanes = p1_lanes;
      if (p1_c[17] && !(&p1_lanes)) begin
        `LOOP(i, 16) p2[i] = p1[i]; `ENDLOOP(i)
      end
      if (f_valid) float_lanes;
      f_valid = 1'b0;

      `include "xpu_vector_arithmetic.svh"
      p1_c = n_c; p1_mask = n_c[17] ? 32'd1 << n_c[8:4] : 32'd0; p1_x = n_x;
      p1_lanes = n_lanes;
      if (n_c[17] && !(&n_lanes)) begin
        `LOOP(i, 16) p1[i] = O[i]; `ENDLOOP(i)
      end

      `include "xpu_vector_memory.svh"

      // ---- End of the load and store pipe ----
      if (m_valid && m_asked && f_count == 3'd0 && !retires) begin
        active = 1'b1;
        m_valid = 1'b0;
        m_reads = 32'd0;
        m_writes = 32'd0;
        v_retire_valid <= 1'b1;
        v_retire_tag <= m_tag;
        v_retire_x_valid <= 1'b0;
        v_retire_f_valid <= 1'b0;
        v_retire_vxsat <= 1'b0;
        v_retire_fflags <= 5'd0;
        v_retire_fault <= m_fault;
        v_retire_cause <= m_cause;
        v_retire_address <= m_fault_address;
        v_retire_vl_valid <= m_stopped && !m_fault;
        v_retire_vl <= m_new_vl;
        if (m_fault) dead = 1'b1;
      end

      `include "xpu_vector_begin.svh"

      if (v_valid && ready) begin
        active = 1'b1;
        q_insn[q_count[0]] = v_insn;
        q_x1[q_count[0]] = v_x1;
        q_x2[q_count[0]] = v_x2;
        q_rest[q_count[0]] = {v_tag, v_vl, v_vtype, v_vstart, v_frm, v_vxrm};
        q_count = q_count + 2'd1;
      end
      ready = q_count < 2'd2;
      v_ready <= ready;
      vm_valid <= waits;
      busy = a_valid || m_valid || p1_c[19] || p2_c[19] || p3_c[19] || q_count != 2'd0 || active;
      quiet <= !active && !p1_c[19] && !p2_c[19] && !p3_c[19];
      state <= fires || active ? xpu_chip_pkg::LOST_BUSY : f_count != 3'd0 ? xpu_chip_pkg::LOST_MEMORY
               : busy ? xpu_chip_pkg::LOST_HAZARD : xpu_chip_pkg::LOST_EMPTY;
    end
  end
endmodule
