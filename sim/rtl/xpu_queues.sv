// xpu_queues: the queues of the three engines: takes lists from doorbells, fetches their descriptors, gives those to the
// engines whose waits hold, signals when they are done.
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNDRIVEN */
/* verilator lint_off UNUSEDPARAM */
module xpu_queues #(
  parameter int unsigned CORES = 1,
  parameter logic [2:0]  ENGINES = 3'b111      // which engines exist
) (
  input  logic                clk,
  input  logic                rst,
  input  logic [31:0]         cycles_per_edge,
  input  logic [63:0]         host,
  // doorbells, as xpu_regs has them
  input  logic                door_valid,
  input  logic [1:0]          door_engine,
  input  logic [3:0]          door_core,
  input  logic [31:0]         door_address,
  input  logic [31:0]         door_count,
  output logic [3*CORES-1:0]  door_full,
  output logic [9*CORES-1:0]  door_lists,
  // counters that changed, with their new values
  input  logic [3:0]          change_valid,
  input  logic [23:0]         change_counter,  // 6 bits each
  input  logic [127:0]        change_value,    // 32 bits each
  // line port, reads
  output logic                q_valid,
  input  logic                q_ready,
  output logic [31:0]         q_address,
  output logic [63:0]         q_mask,
  input  logic                q_done,
  input  logic                q_error,
  input  logic [511:0]        q_rdata,
  // engines
  output logic [2:0]          desc_valid,
  input  logic [2:0]          desc_ready,
  output logic [1023:0]       desc0,
  output logic [1023:0]       desc1,
  output logic [1023:0]       desc2,
  input  logic [2:0]          desc_done,
  input  logic [2:0]          engine_fault,
  input  logic [11:0]         engine_cause,    // 4 bits each
  input  logic [95:0]         engine_address,  // 32 bits each
  input  logic [14:0]         engine_state,    // 5 bits each
  // completion, to xpu_regs
  output logic [2:0]          signal_valid,
  output logic [17:0]         signal_counter,  // 6 bits each
  output logic [23:0]         signal_add,      // 8 bits each
  output logic                engine_progress,
  // sticky
  output logic                fault_valid,
  output logic [1:0]          fault_engine,
  output logic [3:0]          fault_cause,
  output logic [31:0]         fault_address,
  output logic [31:0]         fault_descriptor,
  output logic [15:0]         fault_layer,
  output logic [14:0]         state,           // 5 bits each
  output logic                quiet,
  output logic [31:0]         next_event
);
endmodule
