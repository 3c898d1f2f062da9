// xpu_regs: the registers of docs/chip.md: counters, waits, barrier, doorbells, layer and ticket registers, watchdog,
// exit, abort, debug output, host call, description of the chip.
//   Takes one access in each cycle, from the bus; answers in the next cycle, or, where the register stalls the core,
//   in the cycle after what the core waits for. Each core has at most one access under way. Answers are held until
//   rsp_ready. A write to EXIT is never answered: the program has ended.
//   Tickets, counters and debug output are told to the harness (DPI-C), which stops the clock when a ticket comes true.
//   since: cycles without progress or a store to WATCHDOG; held: without progress. timed_out when since has reached
//   WATCHDOG_LIMIT, or held WATCHDOG_STRETCH times that.
`include "xpu_checks.svh"
module xpu_regs #(
  parameter int unsigned CORES = 1,
  parameter int unsigned ENGINES = 3,      // 4: with the window engine
  parameter int unsigned LM_BYTES = 16384,
  parameter int unsigned SM_BYTES = 32768,
  parameter int unsigned L3_BYTES = 65536,
  parameter int unsigned GM_BYTES = 268435456,
  parameter int unsigned ARRAY_ROWS = 8,
  parameter int unsigned ARRAY_COLUMNS = 8,
  parameter int unsigned ACC_ROWS = 128,
  parameter int unsigned ABI_HASH = 0
) (
  input  logic                clk,
  input  logic                rst,
  input  logic [31:0]         cycles_per_edge,
  input  logic [63:0]         host,
  input  logic [31:0]         seed_start,    // SEED after reset
  // accesses
  input  logic                req_valid,
  input  logic                req_write,
  input  logic [3:0]          req_core,
  input  logic [15:0]         req_offset,
  input  logic [31:0]         req_wdata,
  output logic                rsp_valid,
  input  logic                rsp_ready,
  output logic [3:0]          rsp_core,
  output logic [31:0]         rsp_rdata,     // with rsp_error: the cause of the fault
  output logic                rsp_error,
  // engines: signals of finished descriptors, in every cycle one of each engine; progress without a signal
  input  logic [ENGINES-1:0]   signal_valid,
  input  logic [6*ENGINES-1:0] signal_counter, // 6 bits each
  input  logic [8*ENGINES-1:0] signal_add,     // 8 bits each
  input  logic                engine_progress,
  // doorbells: one cycle; not while the queue is full. Bit or field of queue (engine, core): engine * CORES + core
  output logic                door_valid,
  output logic [1:0]          door_engine,
  output logic [3:0]          door_core,
  output logic [31:0]         door_address,
  output logic [31:0]         door_count,
  input  logic [ENGINES*CORES-1:0]   door_full,
  input  logic [3*ENGINES*CORES-1:0] door_lists, // lists queued or running
  // counters that have changed, with their new values: one cycle; of one that is there twice the higher place is newer
  output logic [ENGINES:0]    change_valid,
  output logic [6*ENGINES+5:0]   change_counter, // 6 bits each
  output logic [32*ENGINES+31:0] change_value,   // 32 bits each
  // chip
  output logic [31:0]         seed,
  output logic                seed_written,   // one cycle
  output logic                ended,
  output logic [31:0]         exit_status,
  output logic                host_call,
  output logic [31:0]         host_address,
  input  logic                host_answer,    // one cycle
  output logic [31:0]         abort_code,
  output logic                timed_out,
  output logic [31:0]         until_time_out, // cycles
  output logic                quiet
);
`ifndef YOSYS
  import "DPI-C" function void xpu_dpi_counter(input longint unsigned host, input int unsigned counter,
                                               input int unsigned value);
  import "DPI-C" function int xpu_dpi_ticket(input longint unsigned host, input int unsigned counter,
                                             input int unsigned value, input int unsigned layer);
  import "DPI-C" function void xpu_dpi_put(input longint unsigned host, input int unsigned character);
`endif
  localparam int unsigned COUNTERS = xpu_chip_pkg::COUNTERS;
  localparam int unsigned INDEX_BITS = $clog2(CORES * COUNTERS);
  localparam logic [3:0] IS_ADDRESS = xpu_chip_pkg::FAULT_ADDRESS;

  // What a core waits for.
  localparam logic [2:0] WAIT_NONE = 3'd0, WAIT_COUNTER = 3'd1, WAIT_BARRIER = 3'd2, WAIT_DOORBELL = 3'd3,
                         WAIT_HOST = 3'd4;

  logic [31:0] counters [COUNTERS];
  logic [31:0] wait_value [CORES * COUNTERS];
  logic [31:0] door_address_of [CORES * 4];
  logic [31:0] ticket_counter [CORES];
  logic [31:0] ticket_value [CORES];
  logic [2:0]  waits [CORES];
  logic [5:0]  wait_counter [CORES]; // doorbells: the engine
  logic [31:0] wait_for [CORES];     // doorbells: the count
  logic [31:0] answer [CORES];
  logic [31:0] layers [CORES];
  logic [15:0] stalled_at [CORES];  // the register that the core waits for; 0: none
  logic [CORES-1:0] answered, faulty, waiting, arrived;
  logic [31:0] since;
  logic [ENGINES*CORES-1:0] door_waiting;  // for room in this queue
  logic        door_room;
  assign door_room = (door_waiting & ~door_full) != '0;

  assign quiet = !req_valid && !rsp_valid && answered == '0 && signal_valid == '0 && !engine_progress &&
                 !door_valid && !host_answer && !seed_written && !door_room && change_valid == '0;
  logic [31:0] watchdog_limit_q, since_q, until_limit;
  logic [37:0] held, held_q, held_limit, until_held;
  assign held_limit = {6'd0, watchdog_limit_q} * 38'(xpu_chip_pkg::WATCHDOG_STRETCH);
  assign until_limit = watchdog_limit_q - since_q;
  assign until_held = held_limit - held_q;
  assign until_time_out = until_held < {6'd0, until_limit} ? until_held[31:0] : until_limit;
  assign timed_out = since_q >= watchdog_limit_q || held_q >= held_limit;

  logic unused;
  assign unused = &{1'b0, stalled_at[0]}; // for reports

  always_ff @(posedge clk) begin : p_regs
    logic        progress, alive, changed, look, plain, stalls, fault;
    logic [31:0] value;
    logic [INDEX_BITS-1:0] index;
    logic [3:0]  cause;
    logic [5:0]  number;
    logic [1:0]  engine;
    logic [31:0] core;
    progress = 1'b0;
    alive = 1'b0;
    if (rst) begin
      for (int unsigned n = 0; n < COUNTERS; n = n + 1) counters[n] = 32'd0;
      for (int unsigned n = 0; n < CORES * COUNTERS; n = n + 1) wait_value[n] = 32'd0;
      for (int unsigned n = 0; n < CORES * 4; n = n + 1) door_address_of[n] = 32'd0;
      for (int unsigned n = 0; n < CORES; n = n + 1) begin
        ticket_counter[n] = 32'd0;
        ticket_value[n] = 32'd0;
        waits[n] = WAIT_NONE;
        layers[n] = 32'd0;
        stalled_at[n] = 16'd0;
      end
      answered = '0;
      faulty = '0;
      waiting = '0;
      arrived = '0;
      since = 32'd0;
      door_waiting = '0;
      rsp_valid <= 1'b0;
      door_valid <= 1'b0;
      change_valid <= '0;
      seed <= seed_start;
      seed_written <= 1'b1;
      ended <= 1'b0;
      exit_status <= 32'd0;
      host_call <= 1'b0;
      host_address <= 32'd0;
      abort_code <= 32'd0;
      watchdog_limit_q <= xpu_chip_pkg::WATCHDOG_CYCLES;
    end else if (!quiet) begin
      changed = 1'b0;
      look = door_room;
      door_valid <= 1'b0;
      change_valid <= '0;
      seed_written <= 1'b0;
      if (rsp_ready) rsp_valid <= 1'b0;
      // ---- Signals ----
      if (engine_progress) progress = 1'b1;
      if (signal_valid != '0) begin
        for (int unsigned e = 0; e < ENGINES; e = e + 1)
          if (signal_valid[e]) begin
            number = signal_counter[6 * e +: 6];
            counters[number] = counters[number] + {24'd0, signal_add[8 * e +: 8]};
            changed = 1'b1;
            change_valid[e] <= 1'b1;
            change_counter[6 * e +: 6] <= number;
            change_value[32 * e +: 32] <= counters[number];
`ifndef YOSYS
            xpu_dpi_counter(host, {26'd0, number}, counters[number]);
`endif
          end
      end
      // ---- The host's answer ----
      if (host_answer) begin
        progress = 1'b1;
        host_call <= 1'b0;
        waits[0] = WAIT_NONE;
        waiting[0] = 1'b0;
        answered[0] = 1'b1;
        stalled_at[0] = 16'd0;
      end
      // ---- An access ----
      if (req_valid) begin
        core = {28'd0, req_core};
        number = req_offset[7:2];
        index = INDEX_BITS'(core * COUNTERS + {26'd0, number});
        engine = req_offset[5:4];
        value = 32'd0;
        fault = 1'b0;
        cause = IS_ADDRESS;
        stalls = 1'b0;
        plain = 1'b0;
        if (req_offset[15:8] == 8'd0) begin // COUNTER
          if (req_write) begin
            counters[number] = counters[number] + req_wdata;
            changed = 1'b1;
            change_valid[ENGINES] <= 1'b1;
            change_counter[6*ENGINES +: 6] <= number;
            change_value[32*ENGINES +: 32] <= counters[number];
`ifndef YOSYS
            xpu_dpi_counter(host, {26'd0, number}, counters[number]);
`endif
          end
          value = counters[number];
        end else if (req_offset[15:8] == 8'd1) begin // WAIT_VALUE
          if (req_write) wait_value[index] = req_wdata;
          value = wait_value[index];
        end else if (req_offset[15:8] == 8'd2) begin // WAIT
          fault = req_write;
          if (!fault) begin
            stalls = 1'b1;
            waits[core] = WAIT_COUNTER;
            wait_counter[core] = number;
            wait_for[core] = wait_value[index];
            look = 1'b1;
          end
        end else if (req_offset[15:8] == 8'd3) begin // doorbells
          fault = req_offset[7:6] != 2'd0 || {30'd0, engine} >= ENGINES;
          case (req_offset[3:0])
            4'h0: begin
              if (req_write && !fault) door_address_of[{core[29:0], engine}] = req_wdata;
              value = door_address_of[{core[29:0], engine}];
            end
            4'h4: begin
              if (!req_write) fault = 1'b1;
              if (!fault && (req_wdata == 32'd0 ||
                             door_address_of[{core[29:0], engine}][1:0] != 2'd0 ||
                             ({30'd0, engine} >= xpu_chip_pkg::ENGINE_TENSOR && core != 32'd0))) begin
                fault = 1'b1;
                cause = xpu_chip_pkg::FAULT_DOORBELL;
              end
              if (!fault) begin
                stalls = 1'b1;
                waits[core] = WAIT_DOORBELL;
                wait_counter[core] = {4'd0, engine};
                wait_for[core] = req_wdata;
                door_waiting[{30'd0, engine} * CORES + core] = 1'b1;
                look = 1'b1;
              end
            end
            4'h8: begin
              fault = fault || req_write;
              if (!fault) value = {29'd0, door_lists[3 * ({30'd0, engine} * CORES + core) +: 3]};
            end
            default: fault = 1'b1;
          endcase
        end else begin
          if (req_write) begin
            case (req_offset)
              xpu_chip_pkg::REG_LAYER: layers[core] = req_wdata;
              xpu_chip_pkg::REG_TICKET_COUNTER: begin
                fault = req_wdata >= COUNTERS;
                if (!fault) ticket_counter[core] = req_wdata;
              end
              xpu_chip_pkg::REG_TICKET_VALUE: ticket_value[core] = req_wdata;
              xpu_chip_pkg::REG_TICKET_LAYER: begin
                fault = core != 32'd0;
                if (!fault) begin
`ifndef YOSYS
                  if (xpu_dpi_ticket(host, ticket_counter[0], ticket_value[0], req_wdata) == 32'sd0) begin
                    fault = 1'b1;
                    cause = xpu_chip_pkg::FAULT_TICKETS;
                  end
`endif
                  progress = !fault;
                end
              end
              xpu_chip_pkg::REG_WATCHDOG: alive = 1'b1;
              xpu_chip_pkg::REG_WATCHDOG_LIMIT: watchdog_limit_q <= req_wdata;
              xpu_chip_pkg::REG_EXIT: begin
                fault = core != 32'd0;
                if (!fault) begin
                  ended <= 1'b1;
                  exit_status <= req_wdata;
                  stalls = 1'b1;
                end
              end
              xpu_chip_pkg::REG_ABORT: begin
                fault = 1'b1;
                cause = xpu_chip_pkg::FAULT_ABORT;
                abort_code <= req_wdata;
              end
              xpu_chip_pkg::REG_PUTCHAR: begin
`ifndef YOSYS
                xpu_dpi_put(host, {24'd0, req_wdata[7:0]});
`endif
              end
              xpu_chip_pkg::REG_SEED: begin
                seed <= req_wdata;
                seed_written <= 1'b1;
              end
              xpu_chip_pkg::REG_HOST_CALL: begin
                fault = core != 32'd0;
                if (!fault) begin
                  progress = 1'b1;
                  host_call <= 1'b1;
                  host_address <= req_wdata;
                  stalls = 1'b1;
                  waits[0] = WAIT_HOST;
                end
              end
              default: fault = 1'b1;
            endcase
          end else begin
            case (req_offset)
              xpu_chip_pkg::REG_BARRIER: begin
                stalls = 1'b1;
                waits[core] = WAIT_BARRIER;
                arrived[core] = 1'b1;
                progress = 1'b1;
              end
              xpu_chip_pkg::REG_LAYER: value = layers[core];
              xpu_chip_pkg::REG_TICKET_COUNTER: value = ticket_counter[core];
              xpu_chip_pkg::REG_TICKET_VALUE: value = ticket_value[core];
              xpu_chip_pkg::REG_WATCHDOG_LIMIT: value = watchdog_limit_q;
              xpu_chip_pkg::REG_ABI_HASH: value = ABI_HASH;
              xpu_chip_pkg::REG_SEED: value = seed;
              xpu_chip_pkg::REG_CORES: value = CORES;
              xpu_chip_pkg::REG_LM_BYTES: value = LM_BYTES;
              xpu_chip_pkg::REG_SM_BYTES: value = SM_BYTES;
              xpu_chip_pkg::REG_L3_BYTES: value = L3_BYTES;
              xpu_chip_pkg::REG_GM_BYTES: value = GM_BYTES;
              xpu_chip_pkg::REG_ARRAY_ROWS: value = ARRAY_ROWS;
              xpu_chip_pkg::REG_ARRAY_COLUMNS: value = ARRAY_COLUMNS;
              xpu_chip_pkg::REG_ACC_ROWS: value = ACC_ROWS;
              default: fault = 1'b1;
            endcase
          end
        end
        if (stalls) begin
          waiting[core] = 1'b1;
          stalled_at[core] = req_offset;
        end else begin
          answered[core] = 1'b1;
          faulty[core] = fault;
          answer[core] = fault ? {28'd0, cause} : value;
        end
      end
      // ---- Cores that wait ----
      if (waiting != '0 && (changed || look)) begin
        plain = 1'b0; // a doorbell has rung in this cycle
        for (int unsigned n = 0; n < CORES; n = n + 1) begin
          stalls = 1'b1;
          value = 32'd0;
          if (waits[n] == WAIT_COUNTER) begin
            value = counters[wait_counter[n]] - wait_for[n];
            stalls = value[31];
            value = counters[wait_counter[n]];
          end
          if (waits[n] == WAIT_DOORBELL) begin
            engine = wait_counter[n][1:0];
            stalls = plain || door_full[{30'd0, engine} * CORES + n] || door_valid;
            if (!stalls) begin
              plain = 1'b1;
              door_waiting[{30'd0, engine} * CORES + n] = 1'b0;
              progress = 1'b1;
              door_valid <= 1'b1;
              door_engine <= engine;
              door_core <= 4'(n);
              door_address <= door_address_of[{n[29:0], engine}];
              door_count <= wait_for[n];
            end
          end
          if (!stalls) begin
            waits[n] = WAIT_NONE;
            waiting[n] = 1'b0;
            answered[n] = 1'b1;
            answer[n] = value;
            stalled_at[n] = 16'd0;
          end
        end
      end
      if (arrived == {CORES{1'b1}}) begin
        for (int unsigned n = 0; n < CORES; n = n + 1) begin
          waits[n] = WAIT_NONE;
          answer[n] = 32'd0;
          stalled_at[n] = 16'd0;
        end
        waiting = '0;
        answered = {CORES{1'b1}};
        arrived = '0;
      end
      if (changed) progress = 1'b1;
      // ---- Answers ----
      if (answered != '0 && (!rsp_valid || rsp_ready)) begin
        plain = 1'b0;
        for (int unsigned n = 0; n < CORES; n = n + 1)
          if (answered[n] && !plain) begin
            plain = 1'b1;
            answered[n] = 1'b0;
            rsp_valid <= 1'b1;
            rsp_core <= 4'(n);
            rsp_rdata <= answer[n];
            rsp_error <= faulty[n];
            faulty[n] = 1'b0;
          end
      end
    end
    // ---- Watchdog ----
    since = progress || alive || rst ? 32'd0 : since + cycles_per_edge;
    held = progress || rst ? 38'd0 : held + {6'd0, cycles_per_edge};
    since_q <= since;
    held_q <= held;
  end

  `CHECK_HELD(rsp, rsp_valid, rsp_ready, {rsp_core, rsp_rdata, rsp_error})
  `CHECK_ANSWERS(rsp, req_valid, rsp_valid && rsp_ready, CORES)
  `CHECK(!door_valid || !door_full[32'(door_engine) * CORES + 32'(door_core)], "a doorbell at a full queue")
endmodule
