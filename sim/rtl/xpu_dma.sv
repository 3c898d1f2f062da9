// xpu_dma: a DMA engine; executes descriptors of kinds copy, fill and gather.
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNDRIVEN */
/* verilator lint_off UNUSEDPARAM */
module xpu_dma #(
  parameter int unsigned CORES = 1,
  parameter int unsigned LM_BYTES = 16384,
  parameter int unsigned SM_BYTES = 32768,
  parameter int unsigned L3_BYTES = 65536,
  parameter int unsigned GM_BYTES = 268435456,
  parameter int unsigned READS = 32            // reads that may be on their way, a power of 2
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
  // sticky; of the oldest descriptor that is not done
  output logic          fault_valid,
  output logic [3:0]    fault_cause,
  output logic [31:0]   fault_address,
  output logic          quiet,
  output logic [31:0]   next_event,
  output logic [4:0]    state
);
endmodule
