// xpu_processor: a core of the chip: the scalar core (xpu_core) and its vector unit (xpu_vector), RV32IMF_Zicsr_Zve32f,
//   VLEN 512. Latency, throughput and back-pressure: see the two. Ports as xpu_core; the vector unit loads and stores
//   through the scalar core's ports.
//   rvv_*: with rvfi_valid, what a vector instruction did beside its registers and memory. All vector instructions
//   retire with the scalar ones in program order; younger ones may already have written vector registers by then.
// quiet: nothing happens until an input changes.
`include "xpu_checks.svh"
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
  logic         v_valid;
  logic [31:0]  v_insn;
  logic [3:0]   v_tag;
  logic [31:0]  v_x1;
  logic [31:0]  v_x2;
  logic [9:0]   v_vl;
  logic [4:0]   v_vtype;
  logic [8:0]   v_vstart;
  logic [2:0]   v_frm;
  logic [1:0]   v_vxrm;
  logic         v_ready;
  logic         v_retire_valid;
  logic [3:0]   v_retire_tag;
  logic         v_retire_x_valid;
  logic         v_retire_f_valid;
  logic [31:0]  v_retire_x_data;
  logic [4:0]   v_retire_fflags;
  logic         v_retire_vxsat;
  logic         v_retire_fault;
  logic [3:0]   v_retire_cause;
  logic [31:0]  v_retire_address;
  logic         v_retire_vl_valid;
  logic [9:0]   v_retire_vl;
  logic         vm_valid;
  logic         vm_write;
  logic [31:0]  vm_address;
  logic [63:0]  vm_mask;
  logic [511:0] vm_wdata;
  logic         vm_ready;
  logic         vm_done;
  logic [511:0] vm_rdata;
  logic         vm_error;
  logic         core_quiet, vector_quiet;
  logic [4:0]   vector_state;
  assign quiet = core_quiet && vector_quiet;
  logic unused;
  assign unused = &{1'b0, vector_state};

  xpu_core #(.LM_BYTES(LM_BYTES), .ICACHE_BYTES(ICACHE_BYTES), .VECTOR(1)) core (
    .clk, .rst, .cycles_per_edge, .core_id, .core_num, .cluster_id, .start, .entry, .bus_valid, .bus_write,
    .bus_address, .bus_mask, .bus_wdata, .bus_ready, .bus_done, .bus_rdata, .bus_error, .fetch_valid, .fetch_address,
    .fetch_ready, .fetch_done, .fetch_rdata, .fetch_error, .lmx_valid, .lmx_write, .lmx_address, .lmx_mask,
    .lmx_wdata, .lmx_ready, .lmx_done, .lmx_rdata, .v_valid, .v_insn, .v_tag, .v_x1, .v_x2, .v_vl, .v_vtype,
    .v_vstart, .v_frm, .v_vxrm, .v_ready, .v_retire_valid, .v_retire_tag, .v_retire_x_valid, .v_retire_f_valid,
    .v_retire_x_data, .v_retire_fflags, .v_retire_vxsat, .v_retire_fault, .v_retire_cause, .v_retire_address,
    .v_retire_vl_valid, .v_retire_vl, .vm_valid, .vm_write, .vm_address, .vm_mask, .vm_wdata, .vm_ready, .vm_done,
    .vm_rdata, .vm_error, .rvfi_valid, .rvfi_order, .rvfi_insn, .rvfi_trap, .rvfi_pc_rdata, .rvfi_pc_wdata,
    .rvfi_rd_addr, .rvfi_rd_wdata, .rvfi_frd_valid, .rvfi_frd_addr, .rvfi_frd_wdata, .rvfi_mem_addr, .rvfi_mem_rmask,
    .rvfi_mem_wmask, .rvfi_mem_rdata, .rvfi_mem_wdata, .rvv_valid, .rvv_fflags, .rvv_vxsat, .fault_valid,
    .fault_cause, .fault_pc, .fault_insn, .fault_address, .halted, .quiet(core_quiet), .next_event, .state
  );
  xpu_vector #(.LM_BYTES(LM_BYTES)) vector (
    .clk, .rst, .v_valid, .v_insn, .v_tag, .v_x1, .v_x2, .v_vl, .v_vtype, .v_vstart, .v_frm, .v_vxrm, .v_ready,
    .v_retire_valid, .v_retire_tag, .v_retire_x_valid, .v_retire_f_valid, .v_retire_x_data, .v_retire_fflags,
    .v_retire_vxsat, .v_retire_fault, .v_retire_cause, .v_retire_address, .v_retire_vl_valid, .v_retire_vl, .vm_valid,
    .vm_write, .vm_address, .vm_mask, .vm_wdata, .vm_ready, .vm_done, .vm_rdata, .vm_error, .quiet(vector_quiet),
    .state(vector_state)
  );

  `CHECK_HELD(v, v_valid, v_ready, {v_insn, v_tag, v_x1, v_x2, v_vl, v_vtype, v_vstart, v_frm, v_vxrm})
  `CHECK_HELD(vm, vm_valid, vm_ready, {vm_write, vm_address, vm_mask, {512{vm_write}} & vm_wdata})
  `CHECK_ANSWERS(v, v_valid && v_ready, v_retire_valid, 16)
  `CHECK_ANSWERS(vm, vm_valid && vm_ready, vm_done, 16)
endmodule
