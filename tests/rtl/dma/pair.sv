// Two DMA engines behind the queues and the registers, as in the chip.
module pair #(
  parameter int unsigned CORES = 4,
  parameter int unsigned LM_BYTES = 16384,
  parameter int unsigned SM_BYTES = 262144,
  parameter int unsigned L3_BYTES = 262144,
  parameter int unsigned GM_BYTES = 1048576
) (
  input  logic         clk,
  input  logic         rst,
  input  logic [31:0]  cycles_per_edge,
  input  logic         req_valid,
  input  logic         req_write,
  input  logic [3:0]   req_core,
  input  logic [15:0]  req_offset,
  input  logic [31:0]  req_wdata,
  output logic         rsp_valid,
  output logic [3:0]   rsp_core,
  output logic [31:0]  rsp_rdata,
  output logic         rsp_error,
  output logic         q_valid,
  input  logic         q_ready,
  output logic [31:0]  q_address,
  input  logic         q_done,
  input  logic         q_error,
  input  logic [511:0] q_rdata,
  output logic         r0_valid,
  input  logic         r0_ready,
  output logic [31:0]  r0_address,
  input  logic         r0_done,
  input  logic         r0_error,
  input  logic [511:0] r0_rdata,
  output logic         w0_valid,
  input  logic         w0_ready,
  output logic [31:0]  w0_address,
  output logic [63:0]  w0_mask,
  output logic [511:0] w0_wdata,
  input  logic         w0_done,
  input  logic         w0_error,
  output logic         r1_valid,
  input  logic         r1_ready,
  output logic [31:0]  r1_address,
  input  logic         r1_done,
  input  logic         r1_error,
  input  logic [511:0] r1_rdata,
  output logic         w1_valid,
  input  logic         w1_ready,
  output logic [31:0]  w1_address,
  output logic [63:0]  w1_mask,
  output logic [511:0] w1_wdata,
  input  logic         w1_done,
  input  logic         w1_error,
  output logic         fault_valid,
  output logic [1:0]   fault_engine,
  output logic [3:0]   fault_cause,
  output logic [31:0]  fault_address,
  output logic [31:0]  fault_descriptor,
  output logic [15:0]  fault_layer,
  output logic [14:0]  state,
  output logic         quiet
);
  logic                door_valid, engine_progress, regs_quiet, queues_quiet;
  logic [1:0]          door_engine;
  logic [3:0]          door_core, change_valid;
  logic [31:0]         door_address, door_count;
  logic [3*CORES-1:0]  door_full;
  logic [9*CORES-1:0]  door_lists;
  logic [23:0]         change_counter, signal_add;
  logic [127:0]        change_value;
  logic [2:0]          desc_valid, desc_ready, desc_done, engine_fault, signal_valid, engine_quiet;
  logic [1023:0]       desc0, desc1;
  logic [3:0]          engine_cause0, engine_cause1;
  logic [31:0]         engine_address0, engine_address1;
  logic [14:0]         engine_state;
  logic [17:0]         signal_counter;
  assign {desc_ready[2], desc_done[2], engine_fault[2], engine_quiet[2]} = 4'b0001;
  assign engine_state[14:10] = 5'd0;
  assign quiet = regs_quiet && queues_quiet && engine_quiet == 3'b111;
  /* verilator lint_off PINCONNECTEMPTY */
  xpu_regs #(.CORES(CORES), .ENGINES(3)) registers (
    .clk, .rst, .cycles_per_edge, .host(64'd0), .seed_start(32'd0), .req_valid, .req_write, .req_core, .req_offset,
    .req_wdata, .rsp_valid, .rsp_ready(1'b1), .rsp_core, .rsp_rdata, .rsp_error, .signal_valid, .signal_counter,
    .signal_add, .engine_progress, .door_valid, .door_engine, .door_core, .door_address, .door_count, .door_full,
    .door_lists, .change_valid, .change_counter, .change_value, .seed(), .seed_written(), .ended(), .exit_status(),
    .host_call(), .host_address(), .host_answer(1'b0), .abort_code(), .timed_out(), .until_time_out(),
    .quiet(regs_quiet));
  xpu_queues #(.CORES(CORES), .ENGINES(3)) queues (
    .clk, .rst, .cycles_per_edge, .host(64'd0), .door_valid, .door_engine, .door_core, .door_address, .door_count,
    .door_full, .door_lists, .change_valid, .change_counter, .change_value, .q_valid, .q_ready, .q_address, .q_mask(),
    .q_done, .q_error, .q_rdata, .desc_valid, .desc_ready, .desc0, .desc1, .desc2(), .desc3(), .desc_done, .engine_fault,
    .engine_cause0, .engine_cause1, .engine_cause2(4'd0), .engine_cause3(4'd0), .engine_address0,
    .engine_address1, .engine_address2(32'd0), .engine_address3(32'd0), .engine_state, .signal_valid, .signal_counter,
    .signal_add, .engine_progress,
    .fault_valid, .fault_engine, .fault_cause, .fault_address, .fault_descriptor, .fault_layer, .state,
    .quiet(queues_quiet), .next_event());
  xpu_dma #(.CORES(CORES), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .L3_BYTES(L3_BYTES), .GM_BYTES(GM_BYTES)) dma0 (
    .clk, .rst, .cycles_per_edge, .desc_valid(desc_valid[0]), .desc_ready(desc_ready[0]), .desc(desc0),
    .desc_done(desc_done[0]), .r_valid(r0_valid), .r_ready(r0_ready), .r_address(r0_address), .r_mask(),
    .r_done(r0_done), .r_error(r0_error), .r_rdata(r0_rdata), .w_valid(w0_valid), .w_ready(w0_ready),
    .w_address(w0_address), .w_mask(w0_mask), .w_wdata(w0_wdata), .w_done(w0_done), .w_error(w0_error),
    .fault_valid(engine_fault[0]), .fault_cause(engine_cause0), .fault_address(engine_address0),
    .quiet(engine_quiet[0]), .next_event(), .state(engine_state[4:0]));
  xpu_dma #(.CORES(CORES), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .L3_BYTES(L3_BYTES), .GM_BYTES(GM_BYTES)) dma1 (
    .clk, .rst, .cycles_per_edge, .desc_valid(desc_valid[1]), .desc_ready(desc_ready[1]), .desc(desc1),
    .desc_done(desc_done[1]), .r_valid(r1_valid), .r_ready(r1_ready), .r_address(r1_address), .r_mask(),
    .r_done(r1_done), .r_error(r1_error), .r_rdata(r1_rdata), .w_valid(w1_valid), .w_ready(w1_ready),
    .w_address(w1_address), .w_mask(w1_mask), .w_wdata(w1_wdata), .w_done(w1_done), .w_error(w1_error),
    .fault_valid(engine_fault[1]), .fault_cause(engine_cause1), .fault_address(engine_address1),
    .quiet(engine_quiet[1]), .next_event(), .state(engine_state[9:5]));
  /* verilator lint_on PINCONNECTEMPTY */
  logic unused;
  assign unused = &{1'b0, desc_valid[2]};
endmodule
