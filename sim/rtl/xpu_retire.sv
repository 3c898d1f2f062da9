// xpu_retire: tells the harness what a core retires (DPI-C), for lock-step and traces: one edge after rvfi_valid
//   has been set. Nothing in hardware.
module xpu_retire (
  input logic        clk,
  input logic        enable,
  input logic [63:0] host,
  input logic [3:0]  core,
  input logic        rvfi_valid,
  input logic [63:0] rvfi_order,
  input logic [31:0] rvfi_insn,
  input logic        rvfi_trap,
  input logic [31:0] rvfi_pc_rdata,
  input logic [31:0] rvfi_pc_wdata,
  input logic [4:0]  rvfi_rd_addr,
  input logic [31:0] rvfi_rd_wdata,
  input logic        rvfi_frd_valid,
  input logic [4:0]  rvfi_frd_addr,
  input logic [31:0] rvfi_frd_wdata,
  input logic [31:0] rvfi_mem_addr,
  input logic [3:0]  rvfi_mem_rmask,
  input logic [3:0]  rvfi_mem_wmask,
  input logic [31:0] rvfi_mem_rdata,
  input logic [31:0] rvfi_mem_wdata,
  input logic        rvv_valid,
  input logic [4:0]  rvv_fflags,
  input logic        rvv_vxsat
);
`ifndef YOSYS
  // kinds: {vxsat, fflags, vector, trap, frd_valid, rmask, wmask}; registers: {frd, rd}
  import "DPI-C" function void xpu_dpi_retire(
      input longint unsigned host, input int unsigned core, input longint unsigned order, input int unsigned insn,
      input int unsigned pc, input int unsigned next, input int unsigned kinds, input int unsigned registers,
      input int unsigned rd, input int unsigned frd, input int unsigned address, input int unsigned rdata,
      input int unsigned wdata);
  always_ff @(posedge clk) begin
    if (enable && rvfi_valid)
      xpu_dpi_retire(host, {28'd0, core}, rvfi_order, rvfi_insn, rvfi_pc_rdata, rvfi_pc_wdata,
                     {15'd0, rvv_vxsat, rvv_fflags, rvv_valid, rvfi_trap, rvfi_frd_valid, rvfi_mem_rmask, rvfi_mem_wmask},
                     {22'd0, rvfi_frd_addr, rvfi_rd_addr}, rvfi_rd_wdata, rvfi_frd_wdata, rvfi_mem_addr,
                     rvfi_mem_rdata, rvfi_mem_wdata);
  end
`endif
endmodule
