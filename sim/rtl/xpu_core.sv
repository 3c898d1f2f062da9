// xpu_core: the scalar core, RV32IMF and Zicsr, in order; the vector unit's instructions leave it by v_*.
//   Pipeline: F fetch | D decode, operands | X execute, address | W load alignment, write back. One instruction per
//   cycle. A load's user waits 1 cycle, a taken branch or jump costs 2, multiplication takes 3, division 10 to 34,
//   float arithmetic 4 (pipelined), float division 31 and square root 30. These write back when they are done, beside
//   younger instructions (a scoreboard of the 64 registers x0-x31, f0-f31 holds back who needs them); retirement is in
//   order.
//   Own LM: one 64-byte port, 1 cycle, the core's loads and stores first, then the vector unit, then lmx_*. Everything
//   else goes over bus_*: one request outstanding, the core waits. CSR instructions, fence and wfi wait until all older
//   instructions have retired; scalar loads and stores wait for the vector unit's.
//   Instruction cache: direct mapped, lines of 64 bytes. With a missed line, and with the first use of each line, the
//   AHEAD lines behind it are fetched too unless they are there or on their way; what is needed now is asked for first.
//   A line ahead does not take the place of the line in use; one that cannot be fetched is forgotten.
//   Back-pressure: retirement holds 16 instructions; v_* stalls the core while the unit's queue is full.
//
// Ports: see each group. A bus error carries its cause in bus_rdata[3:0] (FAULT_*; 0: bad address). Misaligned accesses
// outside of LM are asked for with an empty mask: no error means that there is memory, and the fault is "misaligned".
// fault_*: sticky, when the instruction is the oldest one. An instruction with a fault is shown with rvfi_trap.
// quiet: nothing happens until an input changes.
// Memories: nobody reads a word in the cycle in which it is written, except before that.
`ifdef YOSYS
`define STORE(element, value) element <= value
`else
`define STORE(element, value) element = value
`endif
`include "xpu_checks.svh"
module xpu_core #(
  parameter int unsigned LM_BYTES = 65536,
  parameter int unsigned ICACHE_BYTES = 16384,
  parameter int unsigned VECTOR = 0 // 0: no vector unit, its instructions are illegal
) (
  input  logic         clk,
  input  logic         rst,
  input  logic [31:0]  cycles_per_edge,
  input  logic [3:0]   core_id,
  input  logic [4:0]   core_num,
  input  logic [3:0]   cluster_id,
  input  logic         start,          // one cycle: begin at `entry` with all registers as they are (0 after reset)
  input  logic [31:0]  entry,
  // data bus: held until bus_ready, answered by bus_done in the same or a later cycle
  output logic         bus_valid,
  output logic         bus_write,
  output logic [31:0]  bus_address,
  output logic [63:0]  bus_mask,
  output logic [511:0] bus_wdata,
  input  logic         bus_ready,
  input  logic         bus_done,
  input  logic [511:0] bus_rdata,
  input  logic         bus_error,
  // instruction lines: held until fetch_ready, answered by fetch_done in the same or a later cycle, in their order
  output logic         fetch_valid,
  output logic [31:0]  fetch_address,
  input  logic         fetch_ready,
  input  logic         fetch_done,
  input  logic [511:0] fetch_rdata,
  input  logic         fetch_error,
  // own LM for others
  input  logic         lmx_valid,
  input  logic         lmx_write,
  input  logic [19:0]  lmx_address,
  input  logic [63:0]  lmx_mask,
  input  logic [511:0] lmx_wdata,
  output logic         lmx_ready,
  output logic         lmx_done,
  output logic [511:0] lmx_rdata,
  // vector unit: legal instructions, in order
  output logic         v_valid,
  output logic [31:0]  v_insn,
  output logic [3:0]   v_tag,          // the lowest bits of its number
  output logic [31:0]  v_x1,           // rs1 from x or f
  output logic [31:0]  v_x2,           // rs2 from x
  output logic [9:0]   v_vl,
  output logic [4:0]   v_vtype,        // SEW, LMUL
  output logic [8:0]   v_vstart,
  output logic [2:0]   v_frm,
  output logic [1:0]   v_vxrm,
  input  logic         v_ready,
  input  logic         v_retire_valid,
  input  logic [3:0]   v_retire_tag,
  input  logic         v_retire_x_valid,
  input  logic         v_retire_f_valid,
  input  logic [31:0]  v_retire_x_data,  // of either kind
  input  logic [4:0]   v_retire_fflags,
  input  logic         v_retire_vxsat,
  input  logic         v_retire_fault,
  input  logic [3:0]   v_retire_cause,
  input  logic [31:0]  v_retire_address,
  input  logic         v_retire_vl_valid,
  input  logic [9:0]   v_retire_vl,
  // vector unit: memory
  input  logic         vm_valid,
  input  logic         vm_write,
  input  logic [31:0]  vm_address,
  input  logic [63:0]  vm_mask,
  input  logic [511:0] vm_wdata,
  output logic         vm_ready,
  output logic         vm_done,
  output logic [511:0] vm_rdata,
  output logic         vm_error,
  // retirement
  output logic         rvfi_valid,
  output logic [63:0]  rvfi_order,
  output logic [31:0]  rvfi_insn,
  output logic         rvfi_trap,
  output logic [31:0]  rvfi_pc_rdata,
  output logic [31:0]  rvfi_pc_wdata,
  output logic [4:0]   rvfi_rd_addr,
  output logic [31:0]  rvfi_rd_wdata,
  output logic         rvfi_frd_valid,
  output logic [4:0]   rvfi_frd_addr,
  output logic [31:0]  rvfi_frd_wdata,
  output logic [31:0]  rvfi_mem_addr,
  output logic [3:0]   rvfi_mem_rmask,
  output logic [3:0]   rvfi_mem_wmask,
  output logic [31:0]  rvfi_mem_rdata,
  output logic [31:0]  rvfi_mem_wdata,
  output logic         rvv_valid,      // the instruction is one of the vector unit's
  output logic [4:0]   rvv_fflags,     // flags that it raised
  output logic         rvv_vxsat,      // it saturated
  output logic         fault_valid,
  output logic [3:0]   fault_cause,
  output logic [31:0]  fault_pc,
  output logic [31:0]  fault_insn,
  output logic [31:0]  fault_address,
  output logic         halted,
  output logic         quiet,
  output logic [31:0]  next_event,
  output logic [4:0]   state           // LOST_* of the cycle before
);
  `include "xpu_core_ops.svh"
  `include "xpu_core_decode.svh"
  `include "xpu_vector_decode.svh"
  `include "xpu_vector_legal.svh"

  localparam int unsigned LM_LINES = LM_BYTES / 64;
  localparam int unsigned LM_BITS = $clog2(LM_LINES);
  localparam int unsigned IC_LINES = ICACHE_BYTES / 64;
  localparam int unsigned IC_BITS = $clog2(IC_LINES);
  localparam int unsigned TAG_BITS = 26 - IC_BITS;
  localparam logic [25:0] AHEAD = 26'd8;           // lines
  localparam int unsigned FILL_BITS = 4;
  localparam int unsigned FILLS = 1 << FILL_BITS;  // lines on their way; two places are for those that are needed now
  localparam logic [FILL_BITS:0] FILL_AHEAD = (FILL_BITS+1)'(FILLS - 2);
  localparam logic [7:0] LM_REGION = xpu_chip_pkg::LM_BASE[31:24];
  localparam logic [15:0] REGISTER_REGION = xpu_chip_pkg::REGS_BASE[31:16];

  assign next_event = 32'hffffffff;
  logic unused;
  assign unused = &{1'b0, lmx_address};

  // ---- Units with stages of their own ----
  logic        fpu_done, fpu_done_divide;
  logic [3:0]  fpu_result_tag;
  logic [18:0] unit_control; // for the float unit, for the other, operation, rounding mode, destination, tag
  logic [31:0] unit_a, unit_b, unit_c, fpu_result, md_result;
  logic [4:0]  fpu_flags;
  logic [5:0]  fpu_result_rd, md_result_rd;
  logic        md_done, md_done_divide;
  logic [3:0]  md_result_tag;

  xpu_core_fpu fpu (
    .clk, .rst, .valid(unit_control[18]), .op(unit_control[16:13]), .rm(unit_control[12:10]), .a(unit_a), .b(unit_b),
    .c(unit_c), .rd(unit_control[9:4]), .tag(unit_control[3:0]), .done(fpu_done), .done_divide(fpu_done_divide),
    .result(fpu_result), .flags(fpu_flags), .result_rd(fpu_result_rd), .result_tag(fpu_result_tag)
  );
  xpu_core_muldiv muldiv (
    .clk, .rst, .valid(unit_control[17]), .op(unit_control[15:13]), .a(unit_a), .b(unit_b), .rd(unit_control[9:4]),
    .tag(unit_control[3:0]), .done(md_done), .done_divide(md_done_divide), .result(md_result),
    .result_rd(md_result_rd), .result_tag(md_result_tag)
  );

  // ---- Memories ----
  logic [511:0]        lm_q [LM_LINES];
  logic [511:0]        ic_q [IC_LINES];
  logic [TAG_BITS-1:0] ic_tag_q [IC_LINES];

  // Of the LM's port: in this cycle the core's execute stage does not need it; a request of the vector unit for the bus
  // is under way.
  logic slot_q, vbus_q;
  assign vm_ready = slot_q && !vbus_q;
  assign lmx_ready = slot_q && !(vm_valid && !vbus_q);
  logic [511:0] vm_line [1]; // an array of one element, see xpu_fabric
  assign vm_rdata = vm_line[0];

  // ---- State of the pipeline. Stages run from the last to the first, so each sees what the one before had. ----
  logic [63:0] cycles;
  logic        run;                                // started, not halted
  logic        ended;                              // halted
  logic        tidy;                               // the cycle before was not idle: outputs are to be brought to rest
  // What the outputs of these names show: reading an output that this block writes would cost a copy per cycle.
  logic        bus_waits, vector_waits, vm_answered, lmx_answered, vbus;
  logic        stop;                               // nothing more enters the execute stage
  logic        v_faulted;                          // a vector instruction has a fault
  logic [63:0] retired;
  logic [4:0]  issued;                             // instructions that have entered the execute stage, modulo 32
  (* mem2reg *) logic [31:0] regs [64];                          // x0 to x31, f0 to f31
  logic [63:0] busy;                               // registers that a unit will write
  logic        fdiv_busy, div_busy;
  logic [5:0]  vmem_count;                         // vector loads and stores that have not retired
  logic        vl_wait;                            // the vector length is not known
  logic [4:0]  units;                              // instructions in the float unit, the multiplier and divider
  // CSRs
  logic [4:0]  fflags;
  logic [2:0]  frm;
  logic [9:0]  vl;
  logic [31:0] vtype;
  logic [8:0]  vstart;
  logic        vxsat;
  logic [1:0]  vxrm;
  // F
  logic [31:0] f_pc;
  logic        f_missed;                           // there was no line to fetch from
  logic [IC_LINES-1:0] ic_valid, ic_fresh;         // fresh: not used yet
  // Lines on their way, in a ring
  (* mem2reg *) logic [25:0] fill_line [FILLS];
  logic [FILLS-1:0] fill_wanted;                   // on its way, and not from before a fence.i
  logic [FILL_BITS-1:0] fill_head, fill_tail;
  logic [FILL_BITS:0] fill_count;
  logic        fetch_waits;                        // what the output fetch_valid shows
  logic [25:0] ahead_line, ahead_end;              // the lines from the first up to the second are to be looked up
  logic        bad_valid;
  logic [25:0] bad_line;                           // a line that could not be fetched
  // D
  logic        d_valid, d_bad;
  logic [31:0] d_pc, d_insn;
  // X
  logic        x_valid, x_unaligned, x_bus;
  logic [3:0]  x_kind, x_op;
  logic [31:0] x_pc, x_insn, x_a, x_b, x_imm;
  logic [5:0]  x_rd;
  logic [4:0]  x_lost;                             // why it waits for the bus
  // W
  logic        w_valid, w_load, w_long, w_trap;
  logic [3:0]  w_tag;
  logic [5:0]  w_rd;
  logic [2:0]  w_size;
  logic [31:0] w_value, w_raw, w_insn, w_pc, w_next, w_address, w_data;
  logic [3:0]  w_rmask, w_wmask;
  // A line that is written with a mask; not local, since clearing them costs.
  logic [511:0] wide_old, wide_data;
  // The instruction with a fault.
  logic [3:0]  trap_cause;
  logic [31:0] trap_address;
  // Retirement: instruction number n stands in entry n modulo 16 unless it retires when it leaves W.
  logic [15:0] r_done, r_trap, r_vmem, r_vector;
  (* mem2reg *) logic [5:0]  r_raised [16];           // by a vector instruction: vxsat, fflags
  (* mem2reg *) logic [31:0] r_insn [16];
  (* mem2reg *) logic [31:0] r_pc [16];
  (* mem2reg *) logic [31:0] r_next [16];
  (* mem2reg *) logic [31:0] r_value [16];
  (* mem2reg *) logic [31:0] r_address [16];
  (* mem2reg *) logic [31:0] r_data [16];
  (* mem2reg *) logic [5:0]  r_rd [16];
  (* mem2reg *) logic [7:0]  r_masks [16];

  // The lost-cycle cause of a wait for a register, by its address.
  function automatic logic [4:0] register_cause(input logic [15:0] offset);
    if (offset[15:8] == 8'd2) register_cause = xpu_chip_pkg::LOST_COUNTER;
    else if (offset[15:8] == 8'd3) register_cause = xpu_chip_pkg::LOST_QUEUE_FULL;
    else if (offset == xpu_chip_pkg::REG_BARRIER) register_cause = xpu_chip_pkg::LOST_BARRIER;
    else if (offset == xpu_chip_pkg::REG_HOST_CALL) register_cause = xpu_chip_pkg::LOST_HOST;
    else register_cause = xpu_chip_pkg::LOST_MEMORY;
  endfunction

  always_ff @(posedge clk) begin : p_core
    // X
    logic        redirect, x_leaves, trap, taken, active, fill_ask, w_direct, retires;
    logic [31:0] target, address, old, loaded, length;
    logic [11:0] number;
    logic [8:0]  written;
    logic [3:0]  mask, cause;
    logic [32:0] simple;
    logic        misaligned, in_lm;
    // D
    logic [31:0] i, imm;
    logic [5:0]  s1, s2, s3, rd;
    logic [3:0]  kind, op;
    logic [2:0]  rm;
    logic        use_imm, use_pc, legal, rounds, serial, memory, hazard, iterative, leaves, vload, vmemory;
    logic [31:0] va, vb, vc;
    logic [4:0]  lost;
    logic [25:0] fill_next;
    logic [IC_BITS-1:0] f_at, fill_at;
    logic        f_first, working;
    logic        slot, wide_write;
    logic [LM_BITS-1:0] wide_line;
    logic [31:0] bits;
    logic [63:0] wide_mask;
    redirect = 1'b0; x_leaves = 1'b0; trap = 1'b0; taken = 1'b0; active = 1'b0; fill_ask = 1'b0; w_direct = 1'b0;
    retires = 1'b0; target = 32'd0; address = 32'd0; old = 32'd0; loaded = 32'd0; length = 32'd0; number = 12'd0;
    written = 9'd0; mask = 4'd0; cause = 4'd0; simple = 33'd0; misaligned = 1'b0; in_lm = 1'b0;
    i = 32'd0; imm = 32'd0; s1 = 6'd0; s2 = 6'd0; s3 = 6'd0; rd = 6'd0; kind = 4'd0; op = 4'd0; rm = 3'd0;
    use_imm = 1'b0; use_pc = 1'b0; legal = 1'b0; rounds = 1'b0; serial = 1'b0; memory = 1'b0; hazard = 1'b0;
    iterative = 1'b0; leaves = 1'b0; vload = 1'b0; vmemory = 1'b0; va = 32'd0; vb = 32'd0; vc = 32'd0; lost = 5'd0;
    fill_next = 26'd0; f_at = '0; fill_at = '0; f_first = 1'b0; working = 1'b0;
    slot = 1'b0; wide_write = 1'b0; wide_line = '0; bits = 32'd0; wide_mask = 64'd0;
    if (rst) begin
      cycles = 64'd0; ended = 1'b0; bus_waits = 1'b0; vector_waits = 1'b0; vm_answered = 1'b0; lmx_answered = 1'b0;
      vbus = 1'b0; tidy = 1'b0;
      run = 1'b0; stop = 1'b0; retired = 64'd0; issued = 5'd0; busy = 64'd0; fdiv_busy = 1'b0; div_busy = 1'b0;
      vmem_count = 6'd0; vl_wait = 1'b0; units = 5'd0; v_faulted = 1'b0;
      fflags = 5'd0; frm = 3'd0; vl = 10'd0; vtype = 32'h80000000; vstart = 9'd0; vxsat = 1'b0; vxrm = 2'd0;
      ic_valid = '0; ic_fresh = '0; fill_wanted = '0; fill_head = '0; fill_tail = '0; fill_count = '0;
      fetch_waits = 1'b0; ahead_line = 26'd0; ahead_end = 26'd0; bad_valid = 1'b0; f_missed = 1'b0;
      d_valid = 1'b0; x_valid = 1'b0; x_bus = 1'b0; w_valid = 1'b0; r_done = 16'd0;
      w_load = 1'b0; w_rd = 6'd0;
      for (int unsigned n = 0; n < 64; n = n + 1) regs[n] = 32'd0;
      bus_valid <= 1'b0; fetch_valid <= 1'b0; lmx_done <= 1'b0; vm_done <= 1'b0; vm_error <= 1'b0; v_valid <= 1'b0;
      unit_control <= 19'd0;
      rvfi_valid <= 1'b0; rvfi_trap <= 1'b0; fault_valid <= 1'b0; fault_cause <= xpu_chip_pkg::FAULT_NONE;
      fault_pc <= 32'd0; fault_insn <= 32'd0; fault_address <= 32'd0; halted <= 1'b0; quiet <= 1'b1;
      state <= xpu_chip_pkg::LOST_EMPTY;
      slot_q <= 1'b1; vbus_q <= 1'b0;
    end else begin
      cycles = cycles + {32'd0, cycles_per_edge};
      if (start) begin
        run = 1'b1;
        f_pc = entry;
      end
      active = start;
      slot = 1'b1;
      if (run || tidy || lmx_valid || fill_count != '0 || (VECTOR != 0 && (vm_valid || vbus))) begin
        if (VECTOR != 0 && vm_answered) begin
          active = 1'b1;
          vm_answered = 1'b0;
          vm_error <= 1'b0;
        end
        // ---- The bus: requests of the vector unit; those of the execute stage are answered there ----
        if (bus_ready) bus_waits = 1'b0;
        if (VECTOR != 0 && vbus && bus_done) begin
          active = 1'b1;
          vbus = 1'b0;
          vm_answered = 1'b1;
          vm_error <= bus_error;
          vm_line[0] <= bus_rdata;
        end
        // ---- Requests for the LM by others; the execute stage leaves the port alone in this cycle ----
        if (lmx_valid || lmx_answered || vm_valid) begin
          active = 1'b1;
          lmx_answered = lmx_valid && lmx_ready;
          in_lm = vm_address[31:20] == xpu_chip_pkg::LM_BASE[31:20] && {12'd0, vm_address[19:0]} < LM_BYTES;
          if (vm_valid && vm_ready) begin
            if (in_lm) begin
              vm_answered = 1'b1;
              wide_write = vm_write;
              if (!vm_write) vm_line[0] <= lm_q[vm_address[6 +: LM_BITS]];
            end else if (vm_address[31:24] == LM_REGION || vm_address[31:16] == REGISTER_REGION) begin
              vm_answered = 1'b1; // scalar accesses only
              vm_error <= 1'b1;
            end else begin
              vbus = 1'b1;
              bus_waits = 1'b1;
              bus_write <= vm_write;
              bus_address <= vm_address;
              bus_mask <= vm_mask;
              bus_wdata <= vm_wdata;
            end
          end else if (lmx_valid && lmx_ready) begin
            wide_write = lmx_write;
            if (!lmx_write) lmx_rdata <= lm_q[lmx_address[6 +: LM_BITS]];
          end
          if (wide_write) begin
            wide_line = vm_valid && vm_ready ? vm_address[6 +: LM_BITS] : lmx_address[6 +: LM_BITS];
            wide_old = lm_q[wide_line];
            wide_data = vm_valid && vm_ready ? vm_wdata : lmx_wdata;
            wide_mask = vm_valid && vm_ready ? vm_mask : lmx_mask;
            for (int unsigned n = 0; n < 16; n = n + 1) begin
              bits = {{8{wide_mask[4 * n + 3]}}, {8{wide_mask[4 * n + 2]}}, {8{wide_mask[4 * n + 1]}},
                      {8{wide_mask[4 * n]}}};
              wide_data[32 * n +: 32] = (wide_data[32 * n +: 32] & bits) | (wide_old[32 * n +: 32] & ~bits);
            end
            `STORE(lm_q[wide_line], wide_data);
          end
        end
        if (run) begin
          // ---- Retirement of an instruction that has waited for older ones or for a unit ----
          retires = r_done[retired[3:0]];
          trap = 1'b0;
          if (retires) begin
            r_done[retired[3:0]] = 1'b0;
            trap = r_trap[retired[3:0]];
            rd = r_rd[retired[3:0]];
            rvfi_order <= retired;
            rvfi_insn <= r_insn[retired[3:0]];
            rvfi_pc_rdata <= r_pc[retired[3:0]];
            rvfi_pc_wdata <= r_next[retired[3:0]];
            rvfi_rd_addr <= rd[5] ? 5'd0 : rd[4:0];
            rvfi_rd_wdata <= rd[5] ? 32'd0 : r_value[retired[3:0]];
            rvfi_frd_valid <= rd[5];
            rvfi_frd_addr <= rd[4:0];
            rvfi_frd_wdata <= r_value[retired[3:0]];
            rvfi_mem_addr <= r_address[retired[3:0]];
            rvfi_mem_rmask <= r_masks[retired[3:0]][7:4];
            rvfi_mem_wmask <= r_masks[retired[3:0]][3:0];
            rvfi_mem_rdata <= r_data[retired[3:0]];
            rvfi_mem_wdata <= r_data[retired[3:0]];
            if (VECTOR != 0) begin
              rvv_valid <= r_vector[retired[3:0]] && !trap;
              {rvv_vxsat, rvv_fflags} <= r_vector[retired[3:0]] ? r_raised[retired[3:0]] : 6'd0;
            end
            if (trap) begin
              fault_pc <= r_pc[retired[3:0]];
              fault_insn <= r_insn[retired[3:0]];
            end
          end
          w_direct = !retires && w_tag == retired[3:0] && !w_long;

          // ---- Results of the units ----
          unit_control <= 19'd0;
          if (fpu_done) begin
            active = 1'b1;
            if (fpu_result_rd != 6'd0) regs[fpu_result_rd] = fpu_result;
            busy[fpu_result_rd] = 1'b0;
            units = units - 5'd1;
            fflags = fflags | fpu_flags;
            r_value[fpu_result_tag] = fpu_result_rd != 6'd0 ? fpu_result : 32'd0;
            r_done[fpu_result_tag] = 1'b1;
            if (fpu_done_divide) fdiv_busy = 1'b0;
          end
          if (md_done) begin
            active = 1'b1;
            units = units - 5'd1;
            if (md_result_rd != 6'd0) regs[md_result_rd] = md_result;
            busy[md_result_rd] = 1'b0;
            r_value[md_result_tag] = md_result_rd != 6'd0 ? md_result : 32'd0;
            r_done[md_result_tag] = 1'b1;
            if (md_done_divide) div_busy = 1'b0;
          end
          if (VECTOR != 0 && v_retire_valid) begin
            active = 1'b1;
            r_done[v_retire_tag] = 1'b1;
            fflags = fflags | v_retire_fflags;
            vxsat = vxsat | v_retire_vxsat;
            r_raised[v_retire_tag] = {v_retire_vxsat, v_retire_fflags};
            if (r_vmem[v_retire_tag]) vmem_count = vmem_count - 6'd1;
            if (v_retire_x_valid || v_retire_f_valid) begin
              rd = {v_retire_f_valid, r_insn[v_retire_tag][11:7]};
              if (rd != 6'd0) regs[rd] = v_retire_x_data;
              busy[rd] = 1'b0;
              r_value[v_retire_tag] = rd != 6'd0 ? v_retire_x_data : 32'd0;
            end
            if (v_retire_vl_valid) vl = v_retire_vl;
            if (v_retire_fault) begin // the only one of the vector unit; a scalar one that waits is younger
              r_trap[v_retire_tag] = 1'b1;
              v_faulted = 1'b1;
              trap_cause = v_retire_cause;
              trap_address = v_retire_address;
              stop = 1'b1;
            end
          end

          // ---- W ----
          if (w_valid) begin
            active = 1'b1;
            if (w_load) begin
              loaded = w_raw >> {w_address[1:0], 3'd0};
              case (w_size)
                3'd0: w_value = {{24{loaded[7]}}, loaded[7:0]};
                3'd1: w_value = {{16{loaded[15]}}, loaded[15:0]};
                3'd4: w_value = {24'd0, loaded[7:0]};
                3'd5: w_value = {16'd0, loaded[15:0]};
                default: w_value = loaded;
              endcase
              w_data = w_value;
              if (w_rd == 6'd0) w_value = 32'd0;
            end
            if (w_rd != 6'd0 && !w_long) regs[w_rd] = w_value;
            if (w_direct) begin
              retires = 1'b1;
              trap = w_trap;
              rvfi_order <= retired;
              rvfi_insn <= w_insn;
              rvfi_pc_rdata <= w_pc;
              rvfi_pc_wdata <= w_next;
              rvfi_rd_addr <= w_rd[5] ? 5'd0 : w_rd[4:0];
              rvfi_rd_wdata <= w_rd[5] ? 32'd0 : w_value;
              rvfi_frd_valid <= w_rd[5];
              rvfi_frd_addr <= w_rd[4:0];
              rvfi_frd_wdata <= w_value;
              rvfi_mem_addr <= w_address;
              rvfi_mem_rmask <= w_rmask;
              rvfi_mem_wmask <= w_wmask;
              rvfi_mem_rdata <= w_data;
              rvfi_mem_wdata <= w_data;
              if (VECTOR != 0) begin
                rvv_valid <= 1'b0;
                {rvv_vxsat, rvv_fflags} <= 6'd0;
              end
              if (w_trap) begin
                fault_pc <= w_pc;
                fault_insn <= w_insn;
              end
            end else begin
              r_done[w_tag] = !w_long;
              r_trap[w_tag] = w_trap;
              r_insn[w_tag] = w_insn;
              r_pc[w_tag] = w_pc;
              r_next[w_tag] = w_next;
              r_rd[w_tag] = w_rd;
              if (!w_long) r_value[w_tag] = w_value;
              r_address[w_tag] = w_address;
              r_data[w_tag] = w_data;
              r_masks[w_tag] = {w_rmask, w_wmask};
            end
          end
          rvfi_valid <= retires;
          rvfi_trap <= trap;
          if (retires) begin
            active = 1'b1;
            if (trap) begin
              fault_valid <= 1'b1;
              fault_cause <= trap_cause;
              fault_address <= trap_address;
              run = 1'b0;
            end else begin
              retired = retired + 64'd1;
            end
          end

          // ---- X ----
          redirect = 1'b0;
          x_leaves = 1'b1;
          target = 32'd0;
          w_valid = 1'b0;
          if (VECTOR != 0 && v_ready) vector_waits = 1'b0;
          if (x_valid) begin
            trap = 1'b0;
            cause = xpu_chip_pkg::FAULT_ILLEGAL;
            address = 32'd0;
            w_load = 1'b0;
            w_long = 1'b0;
            w_value = 32'd0;
            w_rmask = 4'd0;
            w_wmask = 4'd0;
            w_next = x_pc + 32'd4;
            case (x_kind)
              KIND_ALU: w_value = alu(x_op, x_a, x_b);
              KIND_BRANCH: begin
                taken = branch_taken(x_op[2:0], x_a, x_b);
                redirect = taken;
                target = x_pc + x_imm;
              end
              KIND_JUMP: begin
                redirect = 1'b1;
                target = (x_a + x_imm) & ~32'd1;
                w_value = w_next;
              end
              KIND_LOAD, KIND_STORE: begin
                address = x_a + x_imm;
                mask = x_op[1] ? 4'hf : x_op[0] ? 4'h3 : 4'h1;
                misaligned = (x_op[1] && address[1:0] != 2'd0) || (x_op[0] && address[0]);
                in_lm = address[31:20] == xpu_chip_pkg::LM_BASE[31:20] && {12'd0, address[19:0]} < LM_BYTES;
                if (x_kind == KIND_LOAD) begin
                  w_load = 1'b1;
                  w_rmask = mask;
                end else begin
                  w_wmask = mask;
                  w_data = x_b;
                end
                if (in_lm) begin
                  trap = misaligned;
                  cause = xpu_chip_pkg::FAULT_MISALIGNED;
                  if (!misaligned) begin
                    if (x_kind == KIND_LOAD)
                      w_raw = lm_q[address[6 +: LM_BITS]][{address[5:2], 5'd0} +: 32];
                    else if (x_op[1])
                      `STORE(lm_q[address[6 +: LM_BITS]][{address[5:2], 5'd0} +: 32], x_b);
                    else if (x_op[0])
                      `STORE(lm_q[address[6 +: LM_BITS]][{address[5:1], 4'd0} +: 16], x_b[15:0]);
                    else
                      `STORE(lm_q[address[6 +: LM_BITS]][{address[5:0], 3'd0} +: 8], x_b[7:0]);
                  end
                end else if (!x_bus) begin
                  if (address[31:24] == LM_REGION ||
                      (address[31:16] == REGISTER_REGION && (misaligned || !x_op[1]))) begin
                    trap = 1'b1;
                    cause = xpu_chip_pkg::FAULT_ADDRESS;
                  end else begin
                    active = 1'b1;
                    x_leaves = 1'b0;
                    x_bus = 1'b1;
                    x_unaligned = misaligned;
                    x_lost = address[31:16] == REGISTER_REGION ? register_cause(address[15:0])
                                                                : xpu_chip_pkg::LOST_MEMORY;
                    bus_waits = 1'b1;
                    bus_write <= x_kind == KIND_STORE && !misaligned;
                    bus_address <= address;
                    bus_mask <= misaligned ? 64'd0 : {60'd0, mask} << address[5:0];
                    bus_wdata <= {16{x_op[1] ? x_b : x_op[0] ? {2{x_b[15:0]}} : {4{x_b[7:0]}}}};
                  end
                end else if (bus_done) begin
                  active = 1'b1;
                  x_bus = 1'b0;
                  w_raw = bus_rdata[{address[5:2], 5'd0} +: 32];
                  trap = bus_error || x_unaligned;
                  cause = !bus_error ? xpu_chip_pkg::FAULT_MISALIGNED
                                     : bus_rdata[3:0] == 4'd0 ? xpu_chip_pkg::FAULT_ADDRESS : bus_rdata[3:0];
                end else begin
                  x_leaves = 1'b0;
                end
              end
              KIND_CSR: begin
                old = 32'd0;
                number = x_imm[11:0];
                written = x_a[8:0];
                trap = x_insn[31:30] == 2'd3 && !(x_op[1:0] != 2'd1 && x_insn[19:15] == 5'd0);
                case (number)
                  xpu_chip_pkg::CSR_FFLAGS: old = {27'd0, fflags};
                  xpu_chip_pkg::CSR_FRM: old = {29'd0, frm};
                  xpu_chip_pkg::CSR_FCSR: old = {24'd0, frm, fflags};
                  xpu_chip_pkg::CSR_VSTART: old = {23'd0, vstart};
                  xpu_chip_pkg::CSR_VXSAT: old = {31'd0, vxsat};
                  xpu_chip_pkg::CSR_VXRM: old = {30'd0, vxrm};
                  xpu_chip_pkg::CSR_VCSR: old = {29'd0, vxrm, vxsat};
                  xpu_chip_pkg::CSR_CYCLE, xpu_chip_pkg::CSR_TIME: old = cycles[31:0];
                  xpu_chip_pkg::CSR_CYCLEH, xpu_chip_pkg::CSR_TIMEH: old = cycles[63:32];
                  xpu_chip_pkg::CSR_INSTRET: old = retired[31:0];
                  xpu_chip_pkg::CSR_INSTRETH: old = retired[63:32];
                  xpu_chip_pkg::CSR_VL: old = {22'd0, vl};
                  xpu_chip_pkg::CSR_VTYPE: old = vtype;
                  xpu_chip_pkg::CSR_VLENB: old = 32'd64;
                  xpu_chip_pkg::CSR_MHARTID, xpu_chip_pkg::CSR_CORE_ID: old = {28'd0, core_id};
                  xpu_chip_pkg::CSR_CLUSTER_ID: old = {28'd0, cluster_id};
                  xpu_chip_pkg::CSR_CORE_NUM: old = {27'd0, core_num};
                  default: trap = 1'b1;
                endcase
                w_value = old;
                case (x_op[1:0])
                  2'd2: written = old[8:0] | x_a[8:0];
                  2'd3: written = old[8:0] & ~x_a[8:0];
                  default: ;
                endcase
                if (!trap)
                  case (number)
                    xpu_chip_pkg::CSR_FFLAGS: fflags = written[4:0];
                    xpu_chip_pkg::CSR_FRM: frm = written[2:0];
                    xpu_chip_pkg::CSR_FCSR: {frm, fflags} = written[7:0];
                    xpu_chip_pkg::CSR_VSTART: vstart = written;
                    xpu_chip_pkg::CSR_VXSAT: vxsat = written[0];
                    xpu_chip_pkg::CSR_VXRM: vxrm = written[1:0];
                    xpu_chip_pkg::CSR_VCSR: {vxrm, vxsat} = written[2:0];
                    default: ;
                  endcase
              end
              KIND_FLOAT: begin
                simple = float_simple(x_op, x_a, x_b);
                w_value = simple[31:0];
                fflags[4] = fflags[4] | simple[32];
              end
              KIND_FPU, KIND_MULDIV: w_long = 1'b1;
              KIND_FENCE_I: begin
                redirect = 1'b1;
                target = w_next;
                ic_valid = '0;
                bad_valid = 1'b0;
                fill_wanted = '0;
                ahead_line = w_next[31:6];
                ahead_end = ahead_line;
              end
              KIND_WFI: stop = 1'b1;
              KIND_VCONFIG: begin
                vtype = checked_vtype(x_b);
                length = x_op[0] ? x_a : x_op[1] ? {22'd0, vl} : 32'hffffffff;
                vl = vtype[31] ? 10'd0 : vector_length_max(vtype[4:3], vtype[2:0]);
                if (length < {22'd0, vl}) vl = length[9:0];
                vstart = 9'd0;
                w_value = {22'd0, vl};
              end
              KIND_VECTOR: begin
                x_leaves = !vector_waits;
                if (x_leaves) trap = !vector_legal(x_insn, vtype, vstart == 9'd0, frm);
                w_long = !trap;
                if (x_leaves && !trap) begin
                  vector_waits = 1'b1;
                  v_insn <= x_insn;
                  v_tag <= issued[3:0] - 4'd1;
                  v_x1 <= x_a;
                  v_x2 <= x_b;
                  v_vl <= vl;
                  v_vtype <= vtype[4:0];
                  v_vstart <= vstart;
                  v_frm <= frm;
                  v_vxrm <= vxrm;
                  vstart = 9'd0;
                end
              end
              KIND_FAULT: begin
                trap = 1'b1;
                cause = x_op;
                address = x_imm;
              end
              default: ; // fence
            endcase
            if (x_leaves) begin
              w_valid = 1'b1;
              w_trap = trap;
              w_tag = issued[3:0] - 4'd1;
              w_rd = x_rd;
              w_size = x_op[2:0];
              w_insn = x_insn;
              w_pc = x_pc;
              w_address = address;
              if (redirect) w_next = target;
              if (x_rd == 6'd0) w_value = 32'd0;
              x_valid = 1'b0;
              if (trap) begin
                w_load = 1'b0;
                w_rd = 6'd0;
                w_value = 32'd0;
                w_rmask = 4'd0;
                w_wmask = 4'd0;
                if (!v_faulted) begin
                  trap_cause = cause;
                  trap_address = address;
                end
                stop = 1'b1;
              end
            end
          end

          // ---- D ----
          lost = f_missed ? xpu_chip_pkg::LOST_ICACHE : xpu_chip_pkg::LOST_HAZARD; // else: behind a jump
          leaves = 1'b0;
          if (redirect) begin
            d_valid = 1'b0;
            lost = xpu_chip_pkg::LOST_HAZARD;
          end
          if (stop) begin
            d_valid = 1'b0;
            lost = xpu_chip_pkg::LOST_HAZARD;
            if (issued == retired[4:0] && !w_valid && !x_valid) run = 1'b0; // wfi has retired
          end
          if (!x_leaves) begin
            lost = x_kind == KIND_VECTOR ? xpu_chip_pkg::LOST_ISSUE : x_lost;
          end else if (d_valid) begin
            i = d_insn;
            legal = 1'b1;
            kind = KIND_ALU;
            op = {1'b0, i[14:12]};
            s1 = 6'd0;
            s2 = 6'd0;
            s3 = 6'd0;
            rd = {1'b0, i[11:7]};
            imm = {{20{i[31]}}, i[31:20]};
            use_imm = 1'b0;
            use_pc = 1'b0;
            rounds = 1'b0;
            rm = i[14:12] == 3'd7 ? frm : i[14:12];
            serial = 1'b0;
            memory = 1'b0;
            iterative = 1'b0;
            vload = 1'b0;
            vmemory = 1'b0;
            case (i[6:2])
              5'b00100: begin // integer and immediate
                s1 = {1'b0, i[19:15]};
                use_imm = 1'b1;
                if (i[13:12] == 2'd1) begin
                  op[3] = i[30];
                  legal = i[31:25] == 7'd0 || (i[31:25] == 7'h20 && i[14]);
                end
              end
              5'b01100: begin // integer, two registers
                s1 = {1'b0, i[19:15]};
                s2 = {1'b0, i[24:20]};
                op[3] = i[30];
                if (i[25]) begin
                  kind = KIND_MULDIV;
                  legal = i[31:25] == 7'd1;
                  iterative = i[14] && div_busy;
                end else begin
                  legal = i[31:25] == 7'd0 || (i[31:25] == 7'h20 && (i[14:12] == 3'd0 || i[14:12] == 3'd5));
                end
              end
              5'b00000, 5'b00001: begin // loads
                kind = KIND_LOAD;
                s1 = {1'b0, i[19:15]};
                memory = 1'b1;
                if (i[2]) begin
                  rd[5] = 1'b1;
                  legal = i[14:12] == 3'd2;
                  vload = VECTOR != 0 && (i[14:12] == 3'd0 || i[14:12] == 3'd5 || i[14:12] == 3'd6);
                end else begin
                  legal = i[13:12] != 2'd3 && i[14:12] != 3'd6;
                end
              end
              5'b01000, 5'b01001: begin // stores
                kind = KIND_STORE;
                s1 = {1'b0, i[19:15]};
                s2 = {i[2], i[24:20]};
                rd = 6'd0;
                imm = {{20{i[31]}}, i[31:25], i[11:7]};
                memory = 1'b1;
                legal = i[2] ? i[14:12] == 3'd2 : i[14:12] < 3'd3;
                vload = VECTOR != 0 && i[2] && (i[14:12] == 3'd0 || i[14:12] == 3'd5 || i[14:12] == 3'd6);
              end
              5'b11000: begin
                kind = KIND_BRANCH;
                s1 = {1'b0, i[19:15]};
                s2 = {1'b0, i[24:20]};
                rd = 6'd0;
                imm = {{20{i[31]}}, i[7], i[30:25], i[11:8], 1'b0};
                legal = i[14:13] != 2'd1;
              end
              5'b11011: begin // jal
                kind = KIND_JUMP;
                use_pc = 1'b1;
                imm = {{12{i[31]}}, i[19:12], i[20], i[30:21], 1'b0};
              end
              5'b11001: begin // jalr
                kind = KIND_JUMP;
                s1 = {1'b0, i[19:15]};
                legal = i[14:12] == 3'd0;
              end
              5'b01101, 5'b00101: begin // lui, auipc
                op = ALU_ADD;
                use_pc = !i[5];
                use_imm = 1'b1;
                imm = {i[31:12], 12'd0};
              end
              5'b10000, 5'b10001, 5'b10010, 5'b10011: begin // multiply and add
                kind = KIND_FPU;
                op = {2'b00, i[3:2]};
                s1 = {1'b1, i[19:15]};
                s2 = {1'b1, i[24:20]};
                s3 = {1'b1, i[31:27]};
                rd[5] = 1'b1;
                rounds = 1'b1;
                legal = i[26:25] == 2'd0;
              end
              5'b10100: begin // float
                s1 = {1'b1, i[19:15]};
                s2 = {1'b1, i[24:20]};
                rd[5] = 1'b1;
                case (i[31:25])
                  7'h00: begin kind = KIND_FPU; op = FPU_ADD; rounds = 1'b1; end
                  7'h04: begin kind = KIND_FPU; op = FPU_SUB; rounds = 1'b1; end
                  7'h08: begin kind = KIND_FPU; op = FPU_MUL; rounds = 1'b1; end
                  7'h0c: begin kind = KIND_FPU; op = FPU_DIV; rounds = 1'b1; iterative = fdiv_busy; end
                  7'h2c: begin
                    kind = KIND_FPU;
                    op = FPU_SQRT;
                    rounds = 1'b1;
                    iterative = fdiv_busy;
                    s2 = 6'd0;
                    legal = i[24:20] == 5'd0;
                  end
                  7'h10: begin kind = KIND_FLOAT; op = FM_SGNJ + {2'd0, i[13:12]}; legal = i[14:12] < 3'd3; end
                  7'h14: begin kind = KIND_FLOAT; op = FM_MIN + {3'd0, i[12]}; legal = i[14:13] == 2'd0; end
                  7'h50: begin
                    kind = KIND_FLOAT;
                    op = FM_LE + {2'd0, i[13:12]};
                    rd[5] = 1'b0;
                    legal = i[14:12] < 3'd3;
                  end
                  7'h60: begin
                    kind = KIND_FPU;
                    op = FPU_TO_INT + {3'd0, i[20]};
                    rounds = 1'b1;
                    s2 = 6'd0;
                    rd[5] = 1'b0;
                    legal = i[24:21] == 4'd0;
                  end
                  7'h68: begin
                    kind = KIND_FPU;
                    op = FPU_FROM_INT + {3'd0, i[20]};
                    rounds = 1'b1;
                    s1[5] = 1'b0;
                    s2 = 6'd0;
                    legal = i[24:21] == 4'd0;
                  end
                  7'h70: begin
                    kind = KIND_FLOAT;
                    op = i[12] ? FM_CLASS : FM_MOVE;
                    s2 = 6'd0;
                    rd[5] = 1'b0;
                    legal = i[24:20] == 5'd0 && i[14:13] == 2'd0;
                  end
                  7'h78: begin
                    kind = KIND_FLOAT;
                    op = FM_MOVE;
                    s1[5] = 1'b0;
                    s2 = 6'd0;
                    legal = i[24:20] == 5'd0 && i[14:12] == 3'd0;
                  end
                  default: legal = 1'b0;
                endcase
              end
              5'b00011: begin // fence, fence.i
                kind = i[12] ? KIND_FENCE_I : KIND_FENCE;
                rd = 6'd0;
                serial = 1'b1;
                legal = i[14:13] == 2'd0;
              end
              5'b11100: begin // system
                serial = 1'b1;
                if (i[14:12] == 3'd0) begin
                  rd = 6'd0;
                  kind = KIND_WFI;
                  if (i == 32'h00000073 || i == 32'h00100073) begin
                    kind = KIND_FAULT;
                    op = xpu_chip_pkg::FAULT_ABORT;
                    imm = 32'd0;
                  end else begin
                    legal = i == 32'h10500073;
                  end
                end else begin
                  kind = KIND_CSR;
                  imm = {20'd0, i[31:20]};
                  legal = i[13:12] != 2'd0;
                  if (!i[14]) s1 = {1'b0, i[19:15]};
                end
              end
              5'b10101: begin // vector
                kind = KIND_VECTOR;
                legal = VECTOR != 0;
                if (i[14:12] == 3'd7) begin
                  kind = KIND_VCONFIG;
                  if (!(i[31] && i[30])) s1 = {1'b0, i[19:15]};
                  if (i[31] && !i[30]) s2 = {1'b0, i[24:20]};
                  use_imm = !i[31] || i[30];
                  imm = i[31] ? {22'd0, i[29:20]} : {21'd0, i[30:20]};
                  op = {2'd0, i[11:7] == 5'd0, i[19:15] != 5'd0 || (i[31] && i[30])};
                  if (i[31] && !i[30]) legal = legal && i[29:25] == 5'd0;
                end else begin
                  if (i[14:12] == 3'd5) s1 = {1'b1, i[19:15]};
                  if (i[14:12] == 3'd4 || i[14:12] == 3'd6) s1 = {1'b0, i[19:15]};
                  // vmv.x.s, vcpop, vfirst; vfmv.f.s
                  rd = i[31:26] == 6'h10 && (i[14:12] == 3'd1 || i[14:12] == 3'd2) ? {i[12], i[11:7]} : 6'd0;
                end
              end
              default: legal = 1'b0;
            endcase
            if (vload) begin
              kind = KIND_VECTOR;
              legal = 1'b1;
              memory = 1'b0;
              vmemory = 1'b1;
              rd = 6'd0;
              s2 = i[27:26] == 2'd2 ? {1'b0, i[24:20]} : 6'd0;
            end
            if (i[1:0] != 2'd3 || (rounds && rm > 3'd4)) legal = 1'b0;
            if (!legal || d_bad) begin
              kind = KIND_FAULT;
              op = d_bad ? xpu_chip_pkg::FAULT_FETCH : xpu_chip_pkg::FAULT_ILLEGAL;
              imm = d_bad ? d_pc : 32'd0;
              s1 = 6'd0;
              s2 = 6'd0;
              s3 = 6'd0;
              rd = 6'd0;
              serial = 1'b0;
              memory = 1'b0;
              iterative = 1'b0;
            end
            hazard = busy[s1] || busy[s2] || busy[s3] || busy[rd] || iterative || vl_wait ||
                     (w_valid && w_load && w_rd != 6'd0 && (w_rd == s1 || w_rd == s2 || w_rd == s3)) ||
                     (serial && issued != retired[4:0]) || issued - retired[4:0] > 5'd14 ||
                     (VECTOR != 0 && memory && vmem_count != 6'd0);
            if (VECTOR != 0 && vl_wait && issued == retired[4:0]) begin
              vl_wait = 1'b0;
              active = 1'b1;
            end
            lost = hazard ? xpu_chip_pkg::LOST_HAZARD : xpu_chip_pkg::LOST_BUSY;
            leaves = !hazard;
            if (leaves) begin
              active = 1'b1;
              va = w_valid && w_rd == s1 ? w_value : regs[s1];
              vb = w_valid && w_rd == s2 ? w_value : regs[s2];
              vc = regs[s3];
              if (w_valid && w_rd == s3) vc = w_value;
              if (VECTOR != 0) r_vector[issued[3:0]] = kind == KIND_VECTOR;
              if (kind == KIND_FPU || kind == KIND_MULDIV) begin
                units = units + 5'd1;
                unit_a <= va;
                unit_b <= vb;
                unit_c <= vc;
                unit_control <= {kind == KIND_FPU, kind == KIND_MULDIV, op, rm, rd, issued[3:0]};
                if (rd != 6'd0) busy[rd] = 1'b1;
                if (kind == KIND_FPU && (op == FPU_DIV || op == FPU_SQRT)) fdiv_busy = 1'b1;
                if (kind == KIND_MULDIV && op[2]) div_busy = 1'b1;
              end
              if (VECTOR != 0 && kind == KIND_VECTOR) begin
                if (rd != 6'd0) busy[rd] = 1'b1;
                r_vmem[issued[3:0]] = vmemory;
                if (vmemory) vmem_count = vmem_count + 6'd1;
                vl_wait = vmemory && !i[5] && i[27:26] == 2'd0 && i[24:20] == 5'h10;
              end
              x_valid = 1'b1;
              x_kind = kind;
              x_op = op;
              x_pc = d_pc;
              x_insn = d_insn;
              x_a = use_pc ? d_pc : (i[14] && kind == KIND_CSR) || (kind == KIND_VCONFIG && i[31:30] == 2'd3)
                  ? {27'd0, i[19:15]} : va;
              x_b = use_imm ? imm : vb;
              x_imm = imm;
              x_rd = rd;
              issued = issued + 5'd1;
              d_valid = 1'b0;
              slot = kind != KIND_LOAD && kind != KIND_STORE;
            end
          end
          state <= lost;

          // ---- F ----
          f_missed = 1'b0;
          fill_next = f_pc[31:6];
          f_at = f_pc[6 +: IC_BITS];
          if (redirect) begin
            f_pc = target;
            active = 1'b1;
          end else if (!d_valid && !stop) begin
            if (f_pc[1:0] != 2'd0 || (bad_valid && bad_line == f_pc[31:6])) begin
              d_valid = 1'b1;
              d_bad = 1'b1;
              d_pc = f_pc;
              d_insn = 32'd0;
              active = 1'b1;
            end else if (ic_valid[f_at] && ic_tag_q[f_at] == f_pc[31 -: TAG_BITS]) begin
              d_valid = 1'b1;
              d_bad = 1'b0;
              d_pc = f_pc;
              d_insn = ic_q[f_at][{f_pc[5:2], 5'd0} +: 32];
              active = 1'b1;
              f_first = ic_fresh[f_at];
              f_pc = f_pc + 32'd4;
            end else begin
              f_missed = 1'b1;
              f_first = 1'b1;
              fill_ask = 1'b1;
              for (int unsigned n = 0; n < FILLS; n = n + 1)
                if (fill_wanted[n] && fill_line[n] == fill_next) fill_ask = 1'b0;
            end
            if (f_first) begin
              ic_fresh[f_at] = 1'b0;
              ahead_end = fill_next + 26'd1 + AHEAD;
              if (ahead_line - fill_next - 26'd1 > AHEAD) ahead_line = fill_next + 26'd1;
            end
          end
          if (!run) begin
            ended = 1'b1;
            halted <= 1'b1;
            fill_ask = 1'b0;
            ahead_end = ahead_line;
            bus_waits = 1'b0;
            vector_waits = 1'b0;
            unit_control <= 19'd0;
          end
          slot_q <= slot;
          working = units != 5'd0 || w_valid;
        end else begin
          rvfi_valid <= 1'b0;
          slot_q <= 1'b1;
          if (ended) state <= xpu_chip_pkg::LOST_HALTED;
        end
        // ---- Instruction lines ----
        if (fill_count != '0 || fill_ask || ahead_line != ahead_end) begin
          if (fetch_ready) fetch_waits = 1'b0;
          if (!fetch_waits && !fill_ask && ahead_line != ahead_end && fill_count < FILL_AHEAD) begin
            active = 1'b1;
            fill_next = ahead_line;
            ahead_line = ahead_line + 26'd1;
            fill_ask = !ic_valid[fill_next[IC_BITS-1:0]] ||
                       ic_tag_q[fill_next[IC_BITS-1:0]] != fill_next[25 -: TAG_BITS];
            for (int unsigned n = 0; n < FILLS; n = n + 1)
              if (fill_wanted[n] && fill_line[n] == fill_next) fill_ask = 1'b0;
          end
          if (fill_ask && !fetch_waits && !fill_count[FILL_BITS]) begin
            active = 1'b1;
            fetch_waits = 1'b1;
            fetch_address <= {fill_next, 6'd0};
            fill_line[fill_tail] = fill_next;
            fill_wanted[fill_tail] = 1'b1;
            fill_tail = fill_tail + 1'b1;
            fill_count = fill_count + 1'b1;
          end
          if (fetch_done) begin
            active = 1'b1;
            fill_at = fill_line[fill_head][IC_BITS-1:0];
            if (fill_wanted[fill_head] && !(ic_valid[fill_at] && {ic_tag_q[fill_at], fill_at} == f_pc[31:6])) begin
              if (!fetch_error) begin
                `STORE(ic_q[fill_at], fetch_rdata);
                ic_tag_q[fill_at] <= fill_line[fill_head][25 -: TAG_BITS];
                ic_valid[fill_at] = 1'b1;
                ic_fresh[fill_at] = 1'b1;
              end else if (fill_line[fill_head] == f_pc[31:6]) begin
                bad_valid = 1'b1;
                bad_line = f_pc[31:6];
              end
            end
            fill_wanted[fill_head] = 1'b0;
            fill_head = fill_head + 1'b1;
            fill_count = fill_count - 1'b1;
          end
          fetch_valid <= fetch_waits;
        end
        quiet <= !active && !working;
        bus_valid <= bus_waits;
        lmx_done <= lmx_answered;
        if (VECTOR != 0) begin
          v_valid <= vector_waits;
          vm_done <= vm_answered;
          vbus_q <= vbus;
        end
        tidy = run || active;
      end
    end
  end

  `CHECK_HELD(bus, bus_valid, bus_ready, {bus_write, bus_address, bus_mask, {512{bus_write}} & bus_wdata})
  `CHECK_HELD(fetch, fetch_valid, fetch_ready, fetch_address)
  `CHECK_HELD(lmx, lmx_valid, lmx_ready, {lmx_write, lmx_address, lmx_mask, {512{lmx_write}} & lmx_wdata})
  `CHECK_ANSWERS(lmx, lmx_valid && lmx_ready, lmx_done, 2)
  `CHECK_ANSWERS(bus, bus_valid && bus_ready, bus_done, 1)
  `CHECK_ANSWERS(fetch, fetch_valid && fetch_ready, fetch_done, 256)
endmodule
`undef STORE
