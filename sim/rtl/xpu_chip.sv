// xpu_chip: the top: cores, engines and their queues, bus, registers, memories.
//   Time: each edge of clk stands for cycles_per_edge cycles, normally 1. While `quiet`, an edge with any number of
//   cycles up to next_event and until_time_out has the same effect as so many edges of one cycle; quiet with next_event
//   32'hffffffff: nothing will ever happen again.
//   Clocks: a unit of its own clock needs an edge of it only when its bit of `ticks` is set: then the edges of clk and of
//   this clock come together. At its next edge the unit's input of cycles is the sum of those it has not seen. Whoever
//   has no use for this connects all clocks together. Units: 0 tensor engine, 1 DMA0, 2 DMA1, 3 queues,
//   4 bus, memories and what is between, 5 .. cores, 5 + CORES window engine.
//   rst: registers, queues and cores; memories keep their contents. start: all cores begin at `entry`.
//   attention: the program has ended (and core 0 has retired what was before), calls the host, is timed out, or a core
//   or an engine has a fault: the harness stops the clock. What single units do is read from the inside
//   (sim/harness/chip.vlt).
//   Who reads a line stands before who makes it: so Verilator needs no copies of the wide registers between.
// host: what the DPI-C functions get as their first argument.
module xpu_chip #(
  parameter int unsigned CORES = 1,
  parameter int unsigned LM_BYTES = 16384,
  parameter int unsigned ICACHE_BYTES = 8192,
  parameter int unsigned SM_BYTES = 32768,
  parameter int unsigned SM_BANKS = 4,      // of 64 bytes
  parameter int unsigned SM_HOLD = 1,       // cycles that an access occupies its bank
  parameter int unsigned L3_BYTES = 65536,
  parameter int unsigned L3_BANKS = 4,      // of 64 bytes
  parameter int unsigned L3_ENTRIES = 16,
  parameter int unsigned GM_BYTES = 268435456,
  parameter int unsigned ARRAY_ROWS = 8,
  parameter int unsigned ARRAY_COLUMNS = 8,
  parameter int unsigned ACC_BANKS = 2,
  parameter int unsigned ACC_ROWS = 128,
  parameter int unsigned WEIGHT_ROWS = 1,
  parameter int unsigned POST_LANES = 8,
  parameter int unsigned WINDOW_CHANNELS = 0, // 0: no window engine
  parameter int unsigned WINDOW_LINES = 8,
  parameter int unsigned WINDOW_LINE_BYTES = 4096,
  parameter int unsigned ABI_HASH = 0,
  parameter int unsigned GM_ENTRIES = 128
) (
  input  logic                clk,           // of the registers
  input  logic                clk_tensor,
  input  logic                clk_dma0,
  input  logic                clk_dma1,
  input  logic                clk_queues,
  input  logic                clk_memory,
  input  logic [CORES-1:0]    clk_cores,
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic                clk_window,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic [CORES+5:0]    ticks,
  input  logic                rst,
  input  logic [31:0]         cycles_per_edge,
  input  logic [31:0]         cycles_queues,
  input  logic [31:0]         cycles_memory,
  input  logic [CORES*32-1:0] cycles_cores,
  input  logic [63:0]         host,
  input  logic                start,
  input  logic [31:0]         entry,
  input  logic [31:0]         seed_start,
  input  logic                retire_enable,
  // run-time registers of L3 and GM
  input  logic [15:0]         l3_latency,
  input  logic [15:0]         l3_rate,       // bytes a cycle in each direction
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
  // engines: 0 DMA0, 1 DMA1, 2 tensor, 3 window
  output logic [19:0]         engine_states, // LOST_*, 5 bits each, of this cycle
  output logic                engine_faulty, // sticky
  output logic [1:0]          fault_engine,
  output logic [3:0]          fault_cause,
  output logic [31:0]         fault_address,
  output logic [31:0]         fault_descriptor,
  output logic [15:0]         fault_layer,
  // time
  output logic                quiet,
  output logic [31:0]         next_event,
  output logic [31:0]         until_time_out
);
  localparam int unsigned CORE_BITS = CORES > 1 ? $clog2(CORES) : 1;
  localparam int unsigned READS = GM_ENTRIES < 128 ? GM_ENTRIES : 128;
  localparam int unsigned ENGINES = WINDOW_CHANNELS != 0 ? 4 : 3;

  // ---- Engines ----
  logic [ENGINES-1:0] desc_valid, desc_ready, desc_done, engine_fault, engine_quiet;
  logic [1023:0] desc0, desc1, desc2;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [1023:0] desc3;  // unused without the window engine, as what comes to its ports
  /* verilator lint_on UNUSEDSIGNAL */
  logic [3:0]            engine_cause0, engine_cause1, engine_cause2, engine_cause3;
  logic [31:0]           engine_address0, engine_address1, engine_address2, engine_address3;
  logic [5*ENGINES-1:0]  engine_state, queue_state;
  logic [31:0]   next_event0, next_event1, next_event2;
  logic          x_valid, x_ready, x_done, w_valid, w_ready, w_done, s_valid, s_ready, s_done, y_valid, y_ready,
                 y_done, q_valid, q_ready, q_done, q_error, d0r_valid, d0r_ready, d0r_done, d0r_error, d0w_valid,
                 d0w_ready, d0w_done, d0w_error, d1r_valid, d1r_ready, d1r_done, d1r_error, d1w_valid, d1w_ready, d1w_done,
                 d1w_error;
  logic [31:0]   x_address, w_address, s_address, y_address, q_address, d0r_address, d0w_address, d1r_address, d1w_address;
  logic [63:0]   y_mask, q_mask, d0r_mask, d0w_mask, d1r_mask, d1w_mask;
  logic [511:0]  x_rdata, w_rdata, s_rdata, y_wdata, q_rdata, d0r_rdata, d0w_wdata, d1r_rdata, d1w_wdata;

  xpu_tensor #(
    .ARRAY_ROWS(ARRAY_ROWS), .ARRAY_COLUMNS(ARRAY_COLUMNS), .ACC_BANKS(ACC_BANKS), .ACC_ROWS(ACC_ROWS),
    .WEIGHT_ROWS(WEIGHT_ROWS), .POST_LANES(POST_LANES), .CORES(CORES), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES),
    .L3_BYTES(L3_BYTES), .GM_BYTES(GM_BYTES)
  ) tensor (
    .clk(clk_tensor), .rst, .cycles_per_edge, .desc_valid(desc_valid[2]), .desc_ready(desc_ready[2]), .desc(desc2),
    .desc_done(desc_done[2]), .x_valid, .x_ready, .x_address, .x_done, .x_rdata, .w_valid, .w_ready, .w_address, .w_done,
    .w_rdata, .s_valid, .s_ready, .s_address, .s_done, .s_rdata, .y_valid, .y_ready, .y_address, .y_wdata,
    .y_mask, .y_done, .fault_valid(engine_fault[2]), .fault_cause(engine_cause2),
    .fault_address(engine_address2), .quiet(engine_quiet[2]), .next_event(next_event2), .state(engine_state[14:10])
  );
  xpu_dma #(
    .CORES(CORES), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .L3_BYTES(L3_BYTES), .GM_BYTES(GM_BYTES), .READS(READS)
  ) dma0 (
    .clk(clk_dma0), .rst, .cycles_per_edge, .desc_valid(desc_valid[0]), .desc_ready(desc_ready[0]), .desc(desc0),
    .desc_done(desc_done[0]), .r_valid(d0r_valid), .r_ready(d0r_ready), .r_address(d0r_address), .r_mask(d0r_mask),
    .r_done(d0r_done), .r_error(d0r_error), .r_rdata(d0r_rdata), .w_valid(d0w_valid), .w_ready(d0w_ready),
    .w_address(d0w_address), .w_mask(d0w_mask), .w_wdata(d0w_wdata), .w_done(d0w_done), .w_error(d0w_error),
    .fault_valid(engine_fault[0]), .fault_cause(engine_cause0), .fault_address(engine_address0),
    .quiet(engine_quiet[0]), .next_event(next_event0), .state(engine_state[4:0])
  );
  xpu_dma #(
    .CORES(CORES), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .L3_BYTES(L3_BYTES), .GM_BYTES(GM_BYTES), .READS(READS)
  ) dma1 (
    .clk(clk_dma1), .rst, .cycles_per_edge, .desc_valid(desc_valid[1]), .desc_ready(desc_ready[1]), .desc(desc1),
    .desc_done(desc_done[1]), .r_valid(d1r_valid), .r_ready(d1r_ready), .r_address(d1r_address), .r_mask(d1r_mask),
    .r_done(d1r_done), .r_error(d1r_error), .r_rdata(d1r_rdata), .w_valid(d1w_valid), .w_ready(d1w_ready),
    .w_address(d1w_address), .w_mask(d1w_mask), .w_wdata(d1w_wdata), .w_done(d1w_done), .w_error(d1w_error),
    .fault_valid(engine_fault[1]), .fault_cause(engine_cause1), .fault_address(engine_address1),
    .quiet(engine_quiet[1]), .next_event(next_event1), .state(engine_state[9:5])
  );

  // ---- Window engine ----
  logic          win_x_valid, win_s_valid, win_y_valid, window_tick;
  logic [31:0]   win_x_address, win_s_address, win_y_address;
  logic [63:0]   win_y_mask;
  logic [511:0]  win_y_wdata;
  /* verilator lint_off UNUSEDSIGNAL */
  logic          win_x_ready, win_x_done, win_s_ready, win_s_done, win_y_ready, win_y_done;
  logic [511:0]  win_x_rdata, win_s_rdata;
  /* verilator lint_on UNUSEDSIGNAL */
  if (WINDOW_CHANNELS != 0) begin : with_window
    logic [31:0] window_next_event;
    xpu_window #(
      .CHANNELS(WINDOW_CHANNELS), .LINE_ROWS(WINDOW_LINES), .LINE_BYTES(WINDOW_LINE_BYTES), .CORES(CORES),
      .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .L3_BYTES(L3_BYTES), .GM_BYTES(GM_BYTES)
    ) window (
      .clk(clk_window), .rst, .cycles_per_edge, .desc_valid(desc_valid[3]), .desc_ready(desc_ready[3]), .desc(desc3),
      .desc_done(desc_done[3]), .x_valid(win_x_valid), .x_ready(win_x_ready), .x_address(win_x_address),
      .x_done(win_x_done), .x_rdata(win_x_rdata), .s_valid(win_s_valid), .s_ready(win_s_ready), .s_address(win_s_address),
      .s_done(win_s_done), .s_rdata(win_s_rdata), .y_valid(win_y_valid), .y_ready(win_y_ready), .y_address(win_y_address),
      .y_wdata(win_y_wdata), .y_mask(win_y_mask), .y_done(win_y_done), .fault_valid(engine_fault[3]),
      .fault_cause(engine_cause3), .fault_address(engine_address3), .quiet(engine_quiet[3]),
      .next_event(window_next_event), .state(engine_state[19:15])
    );
    logic unused;
    assign unused = &{1'b0, window_next_event};  // never: it has no timer
    assign window_tick = !engine_quiet[3];
    assign engine_states = queue_state;
  end else begin : without_window
    assign {win_x_valid, win_s_valid, win_y_valid, window_tick} = 4'd0;
    assign {win_x_address, win_s_address, win_y_address, engine_address3} = 128'd0;
    assign engine_cause3 = 4'd0;
    assign win_y_mask = 64'd0;
    assign win_y_wdata = 512'd0;
    assign engine_states = {5'd0, queue_state};
  end

  logic               door_valid, queues_quiet, engine_progress;
  logic [1:0]         door_engine;
  logic [3:0]         door_core;
  logic [ENGINES:0]   change_valid;
  logic [31:0]        door_address, door_count, queues_next_event;
  logic [3*ENGINES*CORES-1:0] door_lists;
  logic [ENGINES*CORES-1:0] door_full;
  logic [ENGINES-1:0] signal_valid;
  logic [6*ENGINES-1:0] signal_counter;
  logic [8*ENGINES-1:0] signal_add;
  logic [6*ENGINES+5:0] change_counter;
  logic [32*ENGINES+31:0] change_value;
  xpu_queues #(.CORES(CORES), .ENGINES(ENGINES)) queues (
    .clk(clk_queues), .rst, .cycles_per_edge(cycles_queues), .host,
    .door_valid, .door_engine, .door_core, .door_address, .door_count, .door_full,
    .door_lists, .change_valid, .change_counter, .change_value, .q_valid, .q_ready, .q_address, .q_mask, .q_done, .q_error,
    .q_rdata, .desc_valid, .desc_ready, .desc0, .desc1, .desc2, .desc3, .desc_done, .engine_fault, .engine_cause0,
    .engine_cause1, .engine_cause2, .engine_cause3, .engine_address0, .engine_address1, .engine_address2,
    .engine_address3, .engine_state, .signal_valid, .signal_counter, .signal_add, .engine_progress,
    .fault_valid(engine_faulty), .fault_engine, .fault_cause, .fault_address, .fault_descriptor, .fault_layer,
    .state(queue_state), .quiet(queues_quiet), .next_event(queues_next_event)
  );

  // ---- Cores ----
  logic [CORES-1:0]     bus_valid, bus_write, bus_ready, bus_done, fetch_valid, fetch_ready, fetch_done;
  logic [CORES*32-1:0]  bus_address, fetch_address;
  logic [CORES*64-1:0]  bus_mask;
  logic [CORES*512-1:0] bus_wdata;
  logic [511:0]         lm_line [CORES]; // what a core's LM has read
  logic [CORE_BITS-1:0] lmx_core;
  logic [CORES-1:0]     lmx_valid, lmx_ready, core_quiet, fault_valid;
  logic                 lmx_write;
  logic [19:0]          lmx_address;
  logic [63:0]          lmx_mask;
  logic [511:0]         lmx_wdata;
  logic [CORES*32-1:0]  core_next_event;
  logic [511:0]         bus_rdata;
  logic                 bus_error;

  for (genvar n = 0; n < CORES; n = n + 1) begin : cores
    logic        rvfi_valid, rvfi_trap, rvfi_frd_valid;
    logic [63:0] rvfi_order;
    logic [31:0] rvfi_insn, rvfi_pc_rdata, rvfi_pc_wdata, rvfi_rd_wdata, rvfi_frd_wdata, rvfi_mem_addr, rvfi_mem_rdata,
                 rvfi_mem_wdata;
    logic [4:0]  rvfi_rd_addr, rvfi_frd_addr;
    logic [3:0]  rvfi_mem_rmask, rvfi_mem_wmask;
    logic        rvv_valid, rvv_vxsat, lmx_done;
    logic [511:0] lmx_rdata;
    always_ff @(posedge clk_memory) if (lmx_done) lm_line[n] <= lmx_rdata;
    logic [4:0]  rvv_fflags;

    xpu_processor #(.LM_BYTES(LM_BYTES), .ICACHE_BYTES(ICACHE_BYTES)) processor (
      .clk(clk_cores[n]), .rst, .cycles_per_edge(cycles_cores[32 * n +: 32]), .core_id(4'(n)), .core_num(5'(CORES)),
      .cluster_id(4'd0), .start, .entry,
      .bus_valid(bus_valid[n]), .bus_write(bus_write[n]), .bus_address(bus_address[32 * n +: 32]),
      .bus_mask(bus_mask[64 * n +: 64]), .bus_wdata(bus_wdata[512 * n +: 512]), .bus_ready(bus_ready[n]),
      .bus_done(bus_done[n]), .bus_rdata, .bus_error,
      .fetch_valid(fetch_valid[n]), .fetch_address(fetch_address[32 * n +: 32]), .fetch_ready(fetch_ready[n]),
      .fetch_done(fetch_done[n]), .fetch_rdata(bus_rdata), .fetch_error(bus_error),
      .lmx_valid(lmx_valid[n]), .lmx_write, .lmx_address, .lmx_mask, .lmx_wdata, .lmx_ready(lmx_ready[n]),
      .lmx_done, .lmx_rdata,
      /* verilator lint_off PINCONNECTEMPTY */
      .fault_cause(), .fault_pc(), .fault_insn(), .fault_address(), .halted(), .state(),
      /* verilator lint_on PINCONNECTEMPTY */
      .rvfi_valid, .rvfi_order, .rvfi_insn, .rvfi_trap, .rvfi_pc_rdata, .rvfi_pc_wdata, .rvfi_rd_addr, .rvfi_rd_wdata,
      .rvfi_frd_valid, .rvfi_frd_addr, .rvfi_frd_wdata, .rvfi_mem_addr, .rvfi_mem_rmask, .rvfi_mem_wmask,
      .rvfi_mem_rdata, .rvfi_mem_wdata,
      .rvv_valid, .rvv_fflags, .rvv_vxsat, .fault_valid(fault_valid[n]), .quiet(core_quiet[n]), .next_event(core_next_event[32 * n +: 32])
    );
    assign ticks[n + 5] = !core_quiet[n] || rvfi_valid || start || bus_ready[n] || bus_done[n] || fetch_ready[n] ||
                          fetch_done[n] || lmx_valid[n] || rst;
    xpu_retire retire (
      .clk(clk_cores[n]), .enable(retire_enable), .host, .core(4'(n)), .rvfi_valid, .rvfi_order, .rvfi_insn, .rvfi_trap,
      .rvfi_pc_rdata, .rvfi_pc_wdata, .rvfi_rd_addr, .rvfi_rd_wdata, .rvfi_frd_valid, .rvfi_frd_addr, .rvfi_frd_wdata,
      .rvfi_mem_addr, .rvfi_mem_rmask, .rvfi_mem_wmask, .rvfi_mem_rdata, .rvfi_mem_wdata, .rvv_valid, .rvv_fflags,
      .rvv_vxsat
    );
  end

  // ---- Registers ----
  logic         req_write, req_fetch, reg_valid, reg_rsp_valid, reg_rsp_ready, reg_rsp_error, seed_written;
  logic         regs_quiet, exit_written, faulty_q;
  logic [31:0]  req_address, reg_wdata, reg_rsp_rdata, seed;
  logic [63:0]  req_mask;
  logic [511:0] req_wdata;
  logic [4:0]   req_tag;
  logic [3:0]   reg_rsp_core;
  assign reg_wdata = req_wdata[{req_address[5:2], 5'd0} +: 32];
  xpu_regs #(
    .CORES(CORES), .ENGINES(ENGINES), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .L3_BYTES(L3_BYTES),
    .GM_BYTES(GM_BYTES), .ARRAY_ROWS(ARRAY_ROWS), .ARRAY_COLUMNS(ARRAY_COLUMNS), .ACC_ROWS(ACC_ROWS),
    .ABI_HASH(ABI_HASH)
  ) registers (
    .clk, .rst, .cycles_per_edge, .host, .seed_start, .req_valid(reg_valid), .req_write, .req_core(req_tag[3:0]),
    .req_offset(req_address[15:0]), .req_wdata(reg_wdata), .rsp_valid(reg_rsp_valid), .rsp_ready(reg_rsp_ready),
    .rsp_core(reg_rsp_core), .rsp_rdata(reg_rsp_rdata), .rsp_error(reg_rsp_error), .signal_valid, .signal_counter,
    .signal_add, .engine_progress, .change_valid, .change_counter, .change_value, .door_valid, .door_engine, .door_core,
    .door_address, .door_count, .door_full, .door_lists, .seed, .seed_written, .ended(exit_written), .exit_status,
    .host_call, .host_address, .host_answer, .abort_code, .timed_out, .until_time_out, .quiet(regs_quiet)
  );

  // ---- Memories ----
  logic [3:0]   mem_valid, gm_delay;
  logic         mem_taken, mem_rsp_valid, mem_rsp_ready, bus_quiet, fabric_quiet;
  logic [4:0]   mem_rsp_tag;
  logic [511:0] mem_rsp_rdata;
  logic         gm_valid, gm_ready, gm_write, gm_fetch, gm_rsp_valid, gm_rsp_ready, gm_rsp_write, gm_quiet;
  logic [31:0]  gm_address, gm_rsp_address, gm_next_event;
  logic [63:0]  gm_mask, gm_rsp_mask;
  logic [8:0]   gm_tag, gm_rsp_tag;
  xpu_bus #(.CORES(CORES), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .L3_BYTES(L3_BYTES), .GM_BYTES(GM_BYTES)) system_bus (
    .clk(clk_memory), .rst, .perturb(seed != 32'd0), .perturb_start(seed_written), .perturb_seed(seed),
    .bus_valid, .bus_write, .bus_address, .bus_mask, .bus_wdata, .bus_ready, .bus_done,
    .fetch_valid, .fetch_address, .fetch_ready, .fetch_done, .rdata(bus_rdata), .error(bus_error),
    .req_write, .req_fetch, .req_address, .req_mask, .req_wdata, .req_tag,
    .mem_valid, .mem_taken, .mem_rsp_valid, .mem_rsp_ready, .mem_rsp_tag, .mem_rsp_rdata,
    .reg_valid, .reg_rsp_valid, .reg_rsp_ready, .reg_rsp_core, .reg_rsp_rdata, .reg_rsp_error, .quiet(bus_quiet)
  );
  xpu_gm #(.TAG_BITS(9), .ENTRIES(GM_ENTRIES)) gm (
    .clk(clk_memory), .rst, .cycles_per_edge(cycles_memory), .latency(gm_latency), .line_time(gm_line_time),
    .outstanding(gm_outstanding),
    .delay(gm_delay), .req_valid(gm_valid), .req_ready(gm_ready), .req_write(gm_write), .req_fetch(gm_fetch),
    .req_address(gm_address), .req_mask(gm_mask), .req_tag(gm_tag), .rsp_valid(gm_rsp_valid), .rsp_ready(gm_rsp_ready),
    .rsp_tag(gm_rsp_tag), .rsp_write(gm_rsp_write), .rsp_address(gm_rsp_address), .rsp_mask(gm_rsp_mask),
    .quiet(gm_quiet), .next_event(gm_next_event)
  );
  xpu_fabric #(
    .CORES(CORES), .LM_BYTES(LM_BYTES), .SM_BYTES(SM_BYTES), .SM_BANKS(SM_BANKS), .SM_HOLD(SM_HOLD), .L3_BYTES(L3_BYTES),
    .L3_BANKS(L3_BANKS), .L3_ENTRIES(L3_ENTRIES), .GM_BYTES(GM_BYTES), .WINDOW(WINDOW_CHANNELS != 0 ? 1 : 0)
  ) fabric (
    .clk(clk_memory), .rst, .host, .perturb(seed != 32'd0), .perturb_start(seed_written), .perturb_seed(seed),
    .l3_latency, .l3_rate,
    .x_valid, .x_address, .x_ready, .x_done, .x_rdata, .w_valid, .w_address, .w_ready, .w_done, .w_rdata,
    .s_valid, .s_address, .s_ready, .s_done, .s_rdata,
    .y_valid, .y_address, .y_mask, .y_wdata, .y_ready, .y_done,
    .win_x_valid, .win_x_address, .win_x_ready, .win_x_done, .win_x_rdata,
    .win_s_valid, .win_s_address, .win_s_ready, .win_s_done, .win_s_rdata,
    .win_y_valid, .win_y_address, .win_y_mask, .win_y_wdata, .win_y_ready, .win_y_done,
    .q_valid, .q_address, .q_mask, .q_ready, .q_done, .q_error, .q_rdata,
    .d0r_valid, .d0r_address, .d0r_mask, .d0r_ready, .d0r_done, .d0r_error, .d0r_rdata,
    .d0w_valid, .d0w_address, .d0w_mask, .d0w_wdata, .d0w_ready, .d0w_done, .d0w_error,
    .d1r_valid, .d1r_address, .d1r_mask, .d1r_ready, .d1r_done, .d1r_error, .d1r_rdata,
    .d1w_valid, .d1w_address, .d1w_mask, .d1w_wdata, .d1w_ready, .d1w_done, .d1w_error,
    .b_valid(mem_valid), .b_write(req_write), .b_fetch(req_fetch), .b_address(req_address), .b_mask(req_mask),
    .b_wdata(req_wdata), .b_tag(req_tag), .b_taken(mem_taken), .b_rsp_valid(mem_rsp_valid),
    .b_rsp_ready(mem_rsp_ready), .b_rsp_tag(mem_rsp_tag), .b_rsp_rdata(mem_rsp_rdata),
    .lmx_valid, .lmx_write, .lmx_address, .lmx_mask, .lmx_wdata, .lmx_ready,
    .lmx_core, .lmx_rdata(lm_line[lmx_core]), .gm_valid, .gm_ready, .gm_write, .gm_fetch, .gm_address, .gm_mask, .gm_tag, .gm_delay,
    .gm_rsp_valid, .gm_rsp_ready, .gm_rsp_write, .gm_rsp_address, .gm_rsp_mask, .gm_rsp_tag, .quiet(fabric_quiet)
  );

  // ---- Time ----
  assign ticks[3:0] = {!queues_quiet, ~engine_quiet[1:0], !engine_quiet[2]} | {4{rst}};
  assign ticks[CORES+5] = window_tick || rst;
  assign ticks[4] = !bus_quiet || !fabric_quiet || !gm_quiet || gm_next_event != 32'hffffffff || seed_written || rst;
  // A cycle behind fault_valid: then the instruction has been told, see xpu_retire.
  always_ff @(posedge clk) faulty_q <= !rst && fault_valid != '0;
  assign ended = exit_written && core_quiet[0];
  assign attention = ended || host_call || timed_out || faulty_q || engine_faulty;
  assign quiet = core_quiet == {CORES{1'b1}} && engine_quiet == '1 && queues_quiet && bus_quiet && fabric_quiet &&
                 gm_quiet && regs_quiet && !start && (fault_valid != '0) == faulty_q;
  always_comb begin
    next_event = gm_next_event;
    if (next_event0 < next_event) next_event = next_event0;
    if (next_event1 < next_event) next_event = next_event1;
    if (next_event2 < next_event) next_event = next_event2;
    if (queues_next_event < next_event) next_event = queues_next_event;
    for (int unsigned n = 0; n < CORES; n = n + 1)
      if (core_next_event[32 * n +: 32] < next_event) next_event = core_next_event[32 * n +: 32];
  end
endmodule
