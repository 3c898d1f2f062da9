// xpu_chip: the top: cores, bus, registers, GM.
//   Time: each edge of clk stands for cycles_per_edge cycles, normally 1. While `quiet`, an edge with any number of
//   cycles up to next_event and until_time_out has the same effect as so many edges of one cycle; quiet with next_event
//   32'hffffffff: nothing will ever happen again.
//   rst: registers, queues and cores; memories keep their contents. start: all cores begin at `entry`.
//   attention: the program has ended (and core 0 has retired what was before), calls the host, is timed out, or a core
//   has a fault: the harness stops the clock. What single cores do is read from the inside (sim/harness/chip.vlt).
// host: what the DPI-C functions get as their first argument.
module xpu_chip #(
  parameter int unsigned CORES = 1,
  parameter int unsigned LM_BYTES = 16384,
  parameter int unsigned ICACHE_BYTES = 8192,
  parameter int unsigned SM_BYTES = 32768,
  parameter int unsigned L3_BYTES = 65536,
  parameter int unsigned GM_BYTES = 268435456,
  parameter int unsigned ARRAY_ROWS = 8,
  parameter int unsigned ARRAY_COLUMNS = 8,
  parameter int unsigned ACC_ROWS = 128,
  parameter int unsigned ABI_HASH = 0,
  parameter int unsigned GM_ENTRIES = 128
) (
  input  logic                clk,
  input  logic                rst,
  input  logic [31:0]         cycles_per_edge,
  input  logic [63:0]         host,
  input  logic                start,
  input  logic [31:0]         entry,
  input  logic [31:0]         seed_start,
  input  logic                retire_enable,
  // run-time registers of GM
  input  logic [15:0]         gm_latency,
  input  logic [15:0]         gm_line_time,  // cycles * 256 for 64 bytes
  input  logic [15:0]         gm_outstanding,
  // host
  output logic                attention,
  output logic                ended,
  output logic [31:0]         exit_status,
  output logic                host_call,
  output logic [31:0]         host_address,
  input  logic                host_answer,
  output logic [31:0]         abort_code,
  output logic                timed_out,
  // time
  output logic                quiet,
  output logic [31:0]         next_event,
  output logic [31:0]         until_time_out
);
  // ---- Cores ----
  logic [CORES-1:0]     bus_valid, bus_write, bus_ready, bus_done, fetch_valid, fetch_ready, fetch_done;
  logic [CORES*32-1:0]  bus_address, fetch_address;
  logic [CORES*64-1:0]  bus_mask;
  logic [CORES*512-1:0] bus_wdata, lmx_rdata;
  logic [CORES-1:0]     lmx_valid, lmx_ready, lmx_done, core_quiet, fault_valid;
  logic [CORES*32-1:0]  core_next_event;
  logic [511:0]         bus_rdata;
  logic                 bus_error;
  logic                 req_write, req_fetch;
  logic [31:0]          req_address;
  logic [63:0]          req_mask;
  logic [511:0]         req_wdata;
  logic [4:0]           req_tag;

  for (genvar n = 0; n < CORES; n = n + 1) begin : cores
    logic        rvfi_valid, rvfi_trap, rvfi_frd_valid;
    logic [63:0] rvfi_order;
    logic [31:0] rvfi_insn, rvfi_pc_rdata, rvfi_pc_wdata, rvfi_rd_wdata, rvfi_frd_wdata, rvfi_mem_addr, rvfi_mem_rdata,
                 rvfi_mem_wdata;
    logic [4:0]  rvfi_rd_addr, rvfi_frd_addr;
    logic [3:0]  rvfi_mem_rmask, rvfi_mem_wmask;

    xpu_core #(.LM_BYTES(LM_BYTES), .ICACHE_BYTES(ICACHE_BYTES)) core (
      .clk, .rst, .cycles_per_edge, .core_id(4'(n)), .core_num(5'(CORES)), .cluster_id(4'd0), .start, .entry,
      .bus_valid(bus_valid[n]), .bus_write(bus_write[n]), .bus_address(bus_address[32 * n +: 32]),
      .bus_mask(bus_mask[64 * n +: 64]), .bus_wdata(bus_wdata[512 * n +: 512]), .bus_ready(bus_ready[n]),
      .bus_done(bus_done[n]), .bus_rdata, .bus_error,
      .fetch_valid(fetch_valid[n]), .fetch_address(fetch_address[32 * n +: 32]), .fetch_ready(fetch_ready[n]),
      .fetch_done(fetch_done[n]), .fetch_rdata(bus_rdata), .fetch_error(bus_error),
      .lmx_valid(lmx_valid[n]), .lmx_write(req_write), .lmx_address(req_address[19:0]), .lmx_mask(req_mask),
      .lmx_wdata(req_wdata), .lmx_ready(lmx_ready[n]), .lmx_done(lmx_done[n]), .lmx_rdata(lmx_rdata[512 * n +: 512]),
      /* verilator lint_off PINCONNECTEMPTY */
      .fault_cause(), .fault_pc(), .fault_insn(), .fault_address(), .halted(), .state(), .v_valid(), .v_insn(), .v_order(), .v_pc(), .v_x1(), .v_x2(), .v_f1(), .v_vl(), .v_vtype(), .v_vill(),
      .v_vstart(), .v_frm(), .v_vxrm(), .vm_ready(), .vm_done(), .vm_rdata(), .vm_error(),
      /* verilator lint_on PINCONNECTEMPTY */
      .v_ready(1'b0), .v_retire_valid(1'b0), .v_retire_order(64'd0), .v_retire_x_valid(1'b0), .v_retire_f_valid(1'b0),
      .v_retire_x_data(32'd0), .v_retire_fflags(5'd0), .v_retire_vxsat(1'b0), .v_retire_fault(1'b0),
      .v_retire_cause(4'd0), .v_retire_address(32'd0), .v_retire_vl_valid(1'b0), .v_retire_vl(10'd0),
      .vm_valid(1'b0), .vm_write(1'b0), .vm_address(32'd0), .vm_mask(64'd0), .vm_wdata(512'd0),
      .rvfi_valid, .rvfi_order, .rvfi_insn, .rvfi_trap, .rvfi_pc_rdata, .rvfi_pc_wdata, .rvfi_rd_addr, .rvfi_rd_wdata,
      .rvfi_frd_valid, .rvfi_frd_addr, .rvfi_frd_wdata, .rvfi_mem_addr, .rvfi_mem_rmask, .rvfi_mem_wmask,
      .rvfi_mem_rdata, .rvfi_mem_wdata,
      .fault_valid(fault_valid[n]), .quiet(core_quiet[n]), .next_event(core_next_event[32 * n +: 32])
    );
    xpu_retire retire (
      .clk, .enable(retire_enable), .host, .core(4'(n)), .rvfi_valid, .rvfi_order, .rvfi_insn, .rvfi_trap,
      .rvfi_pc_rdata, .rvfi_pc_wdata, .rvfi_rd_addr, .rvfi_rd_wdata, .rvfi_frd_valid, .rvfi_frd_addr, .rvfi_frd_wdata,
      .rvfi_mem_addr, .rvfi_mem_rmask, .rvfi_mem_wmask, .rvfi_mem_rdata, .rvfi_mem_wdata
    );
  end

  // ---- Bus ----
  logic [2:0]    mem_valid, mem_rsp_ready;
  logic [4:0]    gm_tag;
  logic [511:0]  gm_rdata;
  logic          gm_ready, gm_rsp_valid, gm_quiet, bus_quiet, reg_valid, reg_rsp_valid, reg_rsp_ready, reg_rsp_error;
  logic [3:0]    reg_rsp_core, gm_delay;
  logic [31:0]   reg_rsp_rdata, gm_next_event, seed;
  logic          seed_written;
  xpu_bus #(.CORES(CORES), .LM_BYTES(LM_BYTES), .SM_BYTES(0), .L3_BYTES(0), .GM_BYTES(GM_BYTES)) system_bus (
    .clk, .rst, .perturb(seed != 32'd0), .perturb_start(seed_written), .perturb_seed(seed), .gm_delay,
    .bus_valid, .bus_write, .bus_address, .bus_mask, .bus_wdata, .bus_ready, .bus_done,
    .fetch_valid, .fetch_address, .fetch_ready, .fetch_done, .rdata(bus_rdata), .error(bus_error),
    .req_write, .req_fetch, .req_address, .req_mask, .req_wdata, .req_tag,
    .lmx_valid, .lmx_ready, .lmx_done, .lmx_rdata,
    .mem_valid, .mem_ready({2'd0, gm_ready}), .mem_rsp_valid({2'd0, gm_rsp_valid}), .mem_rsp_ready,
    .mem_rsp_tag({10'd0, gm_tag}), .mem_rsp_rdata({1024'd0, gm_rdata}),
    .reg_valid, .reg_rsp_valid, .reg_rsp_ready, .reg_rsp_core, .reg_rsp_rdata, .reg_rsp_error, .quiet(bus_quiet)
  );
  xpu_gm #(.TAG_BITS(5), .ENTRIES(GM_ENTRIES)) gm (
    .clk, .rst, .cycles_per_edge, .host, .latency(gm_latency), .line_time(gm_line_time), .outstanding(gm_outstanding),
    .delay(gm_delay), .req_valid(mem_valid[0]), .req_ready(gm_ready), .req_write, .req_fetch, .req_address, .req_mask,
    .req_wdata, .req_tag, .rsp_valid(gm_rsp_valid), .rsp_ready(mem_rsp_ready[0]), .rsp_tag(gm_tag),
    .rsp_rdata(gm_rdata), .quiet(gm_quiet), .next_event(gm_next_event)
  );

  // ---- Registers ----
  logic [31:0]        reg_wdata;
  logic [9*CORES-1:0] door_lists;
  logic [3*CORES-1:0] door_full;
  logic               regs_quiet, exit_written, faulty_q;
  assign reg_wdata = req_wdata[{req_address[5:2], 5'd0} +: 32];
  assign door_lists = '0;
  assign door_full = '1;
  xpu_regs #(
    .CORES(CORES), .ENGINES(3'b000), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .L3_BYTES(L3_BYTES),
    .GM_BYTES(GM_BYTES), .ARRAY_ROWS(ARRAY_ROWS), .ARRAY_COLUMNS(ARRAY_COLUMNS), .ACC_ROWS(ACC_ROWS),
    .ABI_HASH(ABI_HASH)
  ) registers (
    .clk, .rst, .cycles_per_edge, .host, .seed_start, .req_valid(reg_valid), .req_write, .req_core(req_tag[3:0]),
    .req_offset(req_address[15:0]), .req_wdata(reg_wdata), .rsp_valid(reg_rsp_valid), .rsp_ready(reg_rsp_ready),
    .rsp_core(reg_rsp_core), .rsp_rdata(reg_rsp_rdata), .rsp_error(reg_rsp_error),
    .signal_valid(3'd0), .signal_counter(18'd0), .signal_add(24'd0), .engine_progress(1'b0),
    /* verilator lint_off PINCONNECTEMPTY */
    .door_valid(), .door_engine(), .door_core(), .door_address(), .door_count(), .change_valid(),
    .change_counter(), .change_value(),
    /* verilator lint_on PINCONNECTEMPTY */
    .door_full, .door_lists, .seed, .seed_written, .ended(exit_written), .exit_status, .host_call, .host_address, .host_answer,
    .abort_code, .timed_out, .until_time_out, .quiet(regs_quiet)
  );

  // ---- Time ----
  // A cycle behind fault_valid: then the instruction has been told, see xpu_retire.
  always_ff @(posedge clk) faulty_q <= !rst && fault_valid != '0;
  assign ended = exit_written && core_quiet[0];
  assign attention = ended || host_call || timed_out || faulty_q;
  assign quiet = core_quiet == {CORES{1'b1}} && bus_quiet && gm_quiet && regs_quiet && !start &&
                 (fault_valid != '0) == faulty_q;
  always_comb begin
    next_event = gm_next_event;
    for (int unsigned n = 0; n < CORES; n = n + 1)
      if (core_next_event[32 * n +: 32] < next_event) next_event = core_next_event[32 * n +: 32];
  end
  logic unused;
  assign unused = &{1'b0, mem_valid[2:1], mem_rsp_ready[2:1]};
endmodule
