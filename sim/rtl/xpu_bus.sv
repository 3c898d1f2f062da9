// xpu_bus: carries the cores' accesses outside of their own LM, and their instruction lines, to the registers and to
// xpu_fabric, which has the memories and the LM of all cores.
//   One request leaves in every second cycle, instruction lines first, otherwise round robin among the cores, after the
//   one before it has been taken by its target. One answer comes back in every second cycle; answers of different
//   targets may overtake each other. bus_* of a core has one request on its way, fetch_* any number, which are answered
//   in their order (GM answers in order; what is answered here waits for it). At most one is on its way to SM, L3, LM.
//   Request to target 1 cycle, target to core 1 cycle. So req_* and rdata never change in a cycle in which somebody may
//   look at them, which saves the simulator two copies of a line per cycle.
//   An address that nothing answers, or that this port may not use, is answered with bus_error and cause 0 (bad
//   address) in bus_rdata[3:0]; a register's fault with its cause. Data requests with an empty mask only ask whether
//   there is memory. With `perturb`, grants are delayed at random.
`include "xpu_checks.svh"
module xpu_bus #(
  parameter int unsigned CORES = 1,
  parameter int unsigned LM_BYTES = 16384,
  parameter int unsigned SM_BYTES = 32768,
  parameter int unsigned L3_BYTES = 65536,
  parameter int unsigned GM_BYTES = 268435456
) (
  input  logic                   clk,
  input  logic                   rst,
  input  logic                   perturb,
  input  logic                   perturb_start, // begins the sequence of perturb_seed
  input  logic [31:0]            perturb_seed,
  // cores
  input  logic [CORES-1:0]       bus_valid,
  input  logic [CORES-1:0]       bus_write,
  input  logic [CORES*32-1:0]    bus_address,
  input  logic [CORES*64-1:0]    bus_mask,
  input  logic [CORES*512-1:0]   bus_wdata,
  output logic [CORES-1:0]       bus_ready,
  output logic [CORES-1:0]       bus_done,
  input  logic [CORES-1:0]       fetch_valid,
  input  logic [CORES*32-1:0]    fetch_address,
  output logic [CORES-1:0]       fetch_ready,
  output logic [CORES-1:0]       fetch_done,
  output logic [511:0]           rdata,         // with bus_done and fetch_done
  output logic                   error,
  // both targets
  output logic                   req_write,
  output logic                   req_fetch,
  output logic [31:0]            req_address,
  output logic [63:0]            req_mask,
  output logic [511:0]           req_wdata,
  output logic [4:0]             req_tag,       // {fetch, core}
  // memories: held until mem_taken, which comes a cycle after the request was looked at for the last time
  output logic [3:0]             mem_valid,     // one of: LM, L3, SM, GM
  input  logic                   mem_taken,
  input  logic                   mem_rsp_valid,
  output logic                   mem_rsp_ready,
  input  logic [4:0]             mem_rsp_tag,
  input  logic [511:0]           mem_rsp_rdata,
  // registers: always ready
  output logic                   reg_valid,
  input  logic                   reg_rsp_valid,
  output logic                   reg_rsp_ready,
  input  logic [3:0]             reg_rsp_core,
  input  logic [31:0]            reg_rsp_rdata,
  input  logic                   reg_rsp_error,
  output logic                   quiet
);
  localparam int unsigned CORE_BITS = CORES > 1 ? $clog2(CORES) : 1;
  // 33 bits, so that a memory may reach up to the end of the address space
  localparam logic [32:0] GM_END = {1'b0, xpu_chip_pkg::GM_BASE} + 33'(GM_BYTES);
  localparam logic [32:0] SM_END = {1'b0, xpu_chip_pkg::SM_BASE} + 33'(SM_BYTES);
  localparam logic [32:0] L3_END = {1'b0, xpu_chip_pkg::L3_BASE} + 33'(L3_BYTES);

  logic         none_q;      // the request's target is nobody: it is answered here
  logic         none_error_q;
  logic [8:0]   lines_q;     // instruction lines on their way to GM and back
  logic         direct_q;    // a request is on its way to SM, L3 or LM
  logic [CORE_BITS-1:0] direct_core_q; // by this core
  logic [5:0]   last_q;      // core that was served last
  logic [31:0]  random_q;

  logic asked, taken, occupied, free, none_answers; // free: an answer may go out
  assign asked = (bus_valid & ~bus_ready) != '0 || (fetch_valid & ~fetch_ready) != '0;
  assign free = bus_done == '0 && fetch_done == '0;
  assign occupied = reg_valid || none_q || (mem_valid != 4'd0 && !mem_taken);
  assign none_answers = none_q && free && !mem_rsp_valid && !reg_rsp_valid && !(req_fetch && lines_q != 9'd0);
  assign taken = reg_valid || mem_taken || none_answers;
  assign mem_rsp_ready = free;
  assign reg_rsp_ready = free && !mem_rsp_valid;
  assign quiet = !asked && !occupied && !mem_taken && bus_ready == '0 && bus_done == '0 && fetch_ready == '0 &&
                 fetch_done == '0 && !mem_rsp_valid && !reg_rsp_valid;
  logic unused;
  assign unused = &{1'b0, reg_rsp_core, mem_rsp_tag};

  // What a request asks for.
  function automatic logic [6:0] target_of(input logic fetch, input logic probe, input logic [31:0] address);
    logic in_gm, in_sm, in_l3, in_lm, in_registers;
    in_gm = address >= xpu_chip_pkg::GM_BASE && {1'b0, address} < GM_END;
    in_sm = !fetch && address >= xpu_chip_pkg::SM_BASE && {1'b0, address} < SM_END;
    in_l3 = !fetch && address >= xpu_chip_pkg::L3_BASE && {1'b0, address} < L3_END;
    in_lm = !fetch && address[31:24] == xpu_chip_pkg::LM_ALL_BASE[31:24] && {28'd0, address[23:20]} < CORES &&
            {12'd0, address[19:0]} < LM_BYTES;
    in_registers = !fetch && address[31:16] == xpu_chip_pkg::REGS_BASE[31:16];
    // none, error, registers; LM, L3, SM, GM
    target_of = {!(in_gm || in_sm || in_l3 || in_lm || in_registers), 1'b0, in_registers, in_lm, in_l3, in_sm, in_gm};
    if (target_of[6]) target_of[5] = 1'b1;
    else if (probe && !fetch) target_of = {2'b10 | {1'b0, in_registers}, 5'd0};
  endfunction

  always_ff @(posedge clk) begin : p_bus
    logic [5:0]           at;
    logic [6:0]           target;
    logic                 found, fetch, write, line_goes, line_comes;
    logic [CORE_BITS-1:0] core;
    logic [31:0]          address;
    logic [63:0]          mask;
    line_goes = 1'b0;
    line_comes = 1'b0;
    if (rst) begin
      bus_ready <= '0;
      bus_done <= '0;
      fetch_ready <= '0;
      fetch_done <= '0;
      mem_valid <= 4'd0;
      reg_valid <= 1'b0;
      none_q <= 1'b0;
      lines_q <= 9'd0;
      direct_q <= 1'b0;
      last_q <= 6'd0;
      random_q <= 32'd1;
    end else begin
      if (perturb_start) random_q <= perturb_seed;
      if (!quiet) begin
        // ---- Answers ----
        bus_done <= '0;
        fetch_done <= '0;
        if (!free) begin
          // the answer of the cycle before is looked at
        end else if (mem_rsp_valid) begin
          rdata = mem_rsp_rdata;
          error = 1'b0;
          line_comes = mem_rsp_tag[4];
          if (mem_rsp_tag[4]) fetch_done[mem_rsp_tag[CORE_BITS-1:0]] <= 1'b1;
          else begin
            bus_done[mem_rsp_tag[CORE_BITS-1:0]] <= 1'b1;
            if (mem_rsp_tag[CORE_BITS-1:0] == direct_core_q) direct_q <= 1'b0;
          end
        end else if (reg_rsp_valid) begin
          rdata = {16{reg_rsp_rdata}};
          error = reg_rsp_error;
          bus_done[reg_rsp_core[CORE_BITS-1:0]] <= 1'b1;
        end else if (none_answers) begin
          rdata = 512'd0;
          error = none_error_q;
          if (req_tag[4]) fetch_done[req_tag[CORE_BITS-1:0]] <= 1'b1;
          else bus_done[req_tag[CORE_BITS-1:0]] <= 1'b1;
        end
        // ---- Requests ----
        bus_ready <= '0;
        fetch_ready <= '0;
        if (taken) begin
          reg_valid <= 1'b0;
          none_q <= 1'b0;
          mem_valid <= 4'd0;
        end
        if (asked) begin
          if (!perturb_start) random_q <= {random_q[30:0], random_q[31] ^ random_q[21] ^ random_q[1] ^ random_q[0]};
          if (!occupied && !(perturb && random_q[1:0] == 2'd0)) begin
            found = 1'b0;
            at = last_q;
            fetch = (fetch_valid & ~fetch_ready) != '0;
            core = '0;
            for (int unsigned n = 0; n < CORES; n = n + 1) begin
              if (!found) begin
                at = {26'd0, at} + 1 >= CORES ? 6'd0 : at + 6'd1;
                core = CORE_BITS'(at);
                found = fetch ? fetch_valid[core] && !fetch_ready[core] : bus_valid[core] && !bus_ready[core];
              end
            end
            last_q <= at;
            address = fetch ? fetch_address[32 * 32'(core) +: 32] : bus_address[32 * 32'(core) +: 32];
            mask = fetch ? {64{1'b1}} : bus_mask[64 * 32'(core) +: 64];
            write = !fetch && bus_write[core];
            target = target_of(fetch, mask == 64'd0, address);
            if (target[3:1] == 3'd0 || !direct_q) begin
              if (fetch) fetch_ready[core] <= 1'b1;
              else bus_ready[core] <= 1'b1;
              req_write = write;
              req_fetch = fetch;
              req_address = address;
              req_mask = mask;
              if (write) req_wdata = bus_wdata[512 * 32'(core) +: 512];
              req_tag = {fetch, 4'(core)};
              line_goes = fetch && target[0];
              mem_valid <= target[3:0];
              if (target[3:1] != 3'd0) begin
                direct_q <= 1'b1;
                direct_core_q <= core;
              end
              reg_valid <= target[4];
              none_q <= target[6];
              none_error_q <= target[5];
            end
          end
        end
        lines_q <= lines_q + 9'(line_goes) - 9'(line_comes);
      end
    end
  end

  for (genvar n = 0; n < CORES; n = n + 1) begin : checks
    `CHECK_HELD(bus, bus_valid[n], bus_ready[n],
                {bus_write[n], bus_address[32*n+:32], bus_mask[64*n+:64], {512{bus_write[n]}} & bus_wdata[512*n+:512]})
    `CHECK_HELD(fetch, fetch_valid[n], fetch_ready[n], fetch_address[32*n+:32])
    `CHECK_ANSWERS(bus, bus_valid[n] && bus_ready[n], bus_done[n], 1)
    `CHECK_ANSWERS(fetch, fetch_valid[n] && fetch_ready[n], fetch_done[n], 256)
  end
  `CHECK_HELD(mem, mem_valid != 0, mem_taken,
              {mem_valid, req_write, req_fetch, req_address, req_mask, {512{req_write}} & req_wdata, req_tag})
  `CHECK_HELD(mem_rsp, mem_rsp_valid, mem_rsp_ready, {mem_rsp_tag, mem_rsp_rdata})
  `CHECK_ANSWERS(mem, mem_taken, mem_rsp_valid && mem_rsp_ready, 257 * CORES)
  `CHECK_ANSWERS(reg, reg_valid, reg_rsp_valid && reg_rsp_ready, CORES)
  `CHECK_HELD(reg_rsp, reg_rsp_valid, reg_rsp_ready, {reg_rsp_core, reg_rsp_rdata, reg_rsp_error})
  `CHECK($onehot0({mem_valid, reg_valid, none_q}), "a request has more than one target")
  `CHECK($onehot0({bus_done, fetch_done}), "an answer is for more than one core")
endmodule
