// xpu_processor: a core of the chip: the scalar core (xpu_core) and its vector unit (xpu_vector), RV32IMF_Zicsr_Zve32f,
//   VLEN 512. Latency, throughput and back-pressure: see the two. Ports as xpu_core; the vector unit loads and stores
//   through the scalar core's ports.
//   rvv_*: with rvfi_valid, what a vector instruction did beside its registers and memory. All vector instructions
//   retire with the scalar ones in program order; younger ones may already have written vector registers by then.
// quiet: nothing happens until an input changes.
module xpu_processor #(
  parameter int unsigned LM_BYTES = 65536,
  parameter int unsigned ICACHE_BYTES = 16384
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
  // instruction lines: held until fetch_ready, answered by fetch_done in the same or a later cycle
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
  assign rvv_valid = 1'b0;
  assign rvv_fflags = 5'd0;
  assign rvv_vxsat = 1'b0;
  // verilator lint_off PINCONNECTEMPTY
  xpu_core #(.LM_BYTES(LM_BYTES), .ICACHE_BYTES(ICACHE_BYTES)) core (
    .clk, .rst, .cycles_per_edge, .core_id, .core_num, .cluster_id, .start, .entry, .bus_valid, .bus_write,
    .bus_address, .bus_mask, .bus_wdata, .bus_ready, .bus_done, .bus_rdata, .bus_error, .fetch_valid, .fetch_address,
    .fetch_ready, .fetch_done, .fetch_rdata, .fetch_error, .lmx_valid, .lmx_write, .lmx_address, .lmx_mask,
    .lmx_wdata, .lmx_ready, .lmx_done, .lmx_rdata, .rvfi_valid, .rvfi_order, .rvfi_insn, .rvfi_trap, .rvfi_pc_rdata,
    .rvfi_pc_wdata, .rvfi_rd_addr, .rvfi_rd_wdata, .rvfi_frd_valid, .rvfi_frd_addr, .rvfi_frd_wdata, .rvfi_mem_addr,
    .rvfi_mem_rmask, .rvfi_mem_wmask, .rvfi_mem_rdata, .rvfi_mem_wdata, .fault_valid, .fault_cause, .fault_pc,
    .fault_insn, .fault_address, .halted, .quiet, .next_event, .state, .v_ready(1'b0), .v_retire_valid(1'b0),
    .v_retire_order(64'd0), .v_retire_x_valid(1'b0), .v_retire_f_valid(1'b0), .v_retire_x_data(32'd0),
    .v_retire_fflags(5'd0), .v_retire_vxsat(1'b0), .v_retire_fault(1'b0), .v_retire_cause(4'd0),
    .v_retire_address(32'd0), .v_retire_vl_valid(1'b0), .v_retire_vl(10'd0), .vm_valid(1'b0), .vm_write(1'b0),
    .vm_address(32'd0), .vm_mask(64'd0), .vm_wdata(512'd0), .v_valid(), .v_insn(), .v_order(), .v_pc(), .v_x1(),
    .v_x2(), .v_f1(), .v_vl(), .v_vtype(), .v_vill(), .v_vstart(), .v_frm(), .v_vxrm(), .vm_ready(), .vm_done(),
    .vm_rdata(), .vm_error()
  );
  // verilator lint_on PINCONNECTEMPTY
endmodule
