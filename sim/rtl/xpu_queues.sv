// xpu_queues: the queues of the engines: takes lists from doorbells, fetches their descriptors, gives those whose
// waits hold to the engines, signals when they are done, as sim/func/engine.c does.
//   Queue: engine * CORES + core for the DMA engines, 2 * CORES for the tensor engine, the next one for the window engine
//   (core 0's only). Fields of doorbells: engine * CORES + core. Each holds
//   QUEUE_DEPTH lists; a list leaves when its last descriptor is done. Of each queue up to eight descriptors are
//   fetched ahead, over the border of lists too, one line a cycle, round robin among the queues; so a list goes on
//   without an idle cycle while its fetches keep up.
//   An engine gets a descriptor in every second cycle at most: desc and desc_valid hold until desc_ready. Round robin
//   among the queues whose head's waits hold. A nop is done when all before it on this engine are.
//   Latency: doorbell to the first fetch 2 cycles, last line of a descriptor to desc_valid 2, desc_done to signal 1, a
//   counter's change to desc_valid 1.
//   Faults are sticky: nothing more is fetched or given to engines. A bad descriptor is one when all before it on its
//   engine are done. No timer: next_event is never; fetches are never stalled (room for each line is kept).
`include "xpu_checks.svh"
module xpu_queues #(
  parameter int unsigned CORES = 1,
  parameter int unsigned ENGINES = 3           // 4: with the window engine
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
  output logic [ENGINES*CORES-1:0]   door_full,
  output logic [3*ENGINES*CORES-1:0] door_lists,
  // counters that changed, with their new values
  input  logic [ENGINES:0]    change_valid,
  input  logic [6*ENGINES+5:0]   change_counter,  // 6 bits each
  input  logic [32*ENGINES+31:0] change_value,    // 32 bits each
  // line port, reads
  output logic                q_valid,
  input  logic                q_ready,
  output logic [31:0]         q_address,
  output logic [63:0]         q_mask,
  input  logic                q_done,
  input  logic                q_error,
  input  logic [511:0]        q_rdata,
  // engines
  output logic [ENGINES-1:0]  desc_valid,
  input  logic [ENGINES-1:0]  desc_ready,
  output logic [1023:0]       desc0,
  output logic [1023:0]       desc1,
  output logic [1023:0]       desc2,
  output logic [1023:0]       desc3,
  input  logic [ENGINES-1:0]  desc_done,
  input  logic [ENGINES-1:0]  engine_fault,
  input  logic [3:0]          engine_cause0,     // not one wide input: it would be put together in each cycle
  input  logic [3:0]          engine_cause1,
  input  logic [3:0]          engine_cause2,
  input  logic [3:0]          engine_cause3,
  input  logic [31:0]         engine_address0,
  input  logic [31:0]         engine_address1,
  input  logic [31:0]         engine_address2,
  input  logic [31:0]         engine_address3,
  input  logic [5*ENGINES-1:0]  engine_state,    // 5 bits each
  // completion, to xpu_regs
  output logic [ENGINES-1:0]  signal_valid,
  output logic [6*ENGINES-1:0] signal_counter,  // 6 bits each
  output logic [8*ENGINES-1:0] signal_add,      // 8 bits each
  output logic                engine_progress,
  // sticky
  output logic                fault_valid,
  output logic [1:0]          fault_engine,
  output logic [3:0]          fault_cause,
  output logic [31:0]         fault_address,
  output logic [31:0]         fault_descriptor,
  output logic [15:0]         fault_layer,
  output logic [5*ENGINES-1:0] state,           // 5 bits each
  output logic                quiet,
  output logic [31:0]         next_event
);
`ifndef YOSYS
  import "DPI-C" function void xpu_dpi_complete(input longint unsigned host, input int unsigned engine,
                                                input int unsigned core, input int unsigned descriptor,
                                                input int unsigned layer, input int unsigned opcode,
                                                input int unsigned cycles);
`endif
  localparam int unsigned QUEUES = 2 * CORES + ENGINES - 2;
  localparam int unsigned QUEUE_BITS = $clog2(QUEUES);
  localparam logic [QUEUE_BITS-1:0] LAST_QUEUE = QUEUE_BITS'(QUEUES - 1);
  localparam int unsigned DEPTH = xpu_chip_pkg::QUEUE_DEPTH; // 4
  localparam int unsigned WORDS = xpu_chip_pkg::DESC_WORDS;
  localparam logic [7:0] NONE = 8'(xpu_chip_pkg::NO_COUNTER);
  localparam logic [3:0] LINES = 4'd15; // fetches on their way
  // Of an engine and a core
`define QUEUE(engine, core) (ENGINES > 3 && (engine) == 3 ? QUEUES - 1 : (engine) * CORES + (core))

  // ---- Queues: lists; [4 * queue + place] ----
  logic [31:0] l_address [DEPTH * QUEUES];
  logic [31:0] l_count [DEPTH * QUEUES];
  logic [1:0]  l_first [QUEUES];    // the list that runs
  logic [2:0]  l_lists [QUEUES];
  logic [31:0] l_left [QUEUES];     // descriptors of the list that runs which are not done
  logic [1:0]  f_list [QUEUES];     // the list that is fetched next
  logic [2:0]  f_lists [QUEUES];    // lists not begun with
  logic [31:0] f_address [QUEUES];  // the next descriptor, of those left of this list
  logic [31:0] f_left [QUEUES];
  // ---- Descriptors fetched ahead; [8 * queue + slot] ----
  logic [31:0] words [8 * QUEUES * WORDS];
  logic [31:0] s_address [8 * QUEUES];
  logic [2:0]  s_read [QUEUES];
  logic [3:0]  s_count [QUEUES];    // asked for and not given to the engine
  logic [8*QUEUES-1:0] s_full, s_error;
  logic [QUEUES-1:0] wanted;        // has something to fetch, and room for it
  logic [QUEUES-1:0] head, holds;   // the next descriptor is there; its waits hold
  logic [QUEUES-1:0] look;          // it has just come
  logic [31:0] counters [64];
  // ---- Fetch ----
  logic [QUEUE_BITS-1:0] r_queue;
  logic [QUEUE_BITS+2:0] r_slot;
  logic [31:0] r_address;
  logic [2:0]  r_left, r_line;      // lines not asked for; the number of the next
  logic [QUEUE_BITS+2:0] t_slot [16];
  logic [2:0]  t_line [16];
  logic [15:0] t_last;
  logic [3:0]  t_read, t_write, t_count;
  logic        q_valid_i;
  // ---- Descriptors that engines have; [8 * engine + place] ----
  logic [3:0]  e_core [8*ENGINES];
  logic [31:0] e_address [8*ENGINES];
  logic [15:0] e_layer [8*ENGINES];
  logic [7:0]  e_opcode [8*ENGINES];
  logic [7:0]  e_signal [8*ENGINES];
  logic [7:0]  e_add [8*ENGINES];
  logic [31:0] e_time [8*ENGINES];
  logic [2:0]  e_read [ENGINES];
  logic [3:0]  e_count [ENGINES];
  logic [3:0]  e_engine [ENGINES];        // of these not nops: the engine has them or is offered one
  logic [3:0]  e_done [ENGINES];          // done pulses not looked at
  logic [2:0]  e_offered [ENGINES];       // place of the one that is offered or was offered last
  logic [3:0]  e_turn [ENGINES];          // core that is served next
  logic [ENGINES-1:0] valid_i;

  logic [31:0] now;
  logic        work_q, stopped;
  logic [ENGINES-1:0] idle_q;              // the engine has nothing
  logic [5*ENGINES-1:0] own_q;               // state of an engine that has nothing
  assign next_event = 32'hffffffff;
  assign quiet = !work_q && !door_valid && change_valid == '0 && desc_done == '0 &&
                 (desc_valid & desc_ready) == '0 && !q_done && !(q_valid && q_ready) &&
                 (engine_fault == '0 || fault_valid);
  for (genvar e = 0; e < ENGINES; e = e + 1) begin : states
    assign state[5*e +: 5] = idle_q[e] ? own_q[5*e +: 5] : engine_state[5*e +: 5];
  end

  always_ff @(posedge clk) begin : p_queues
    int unsigned i, j, k, q, s, c, d;
    logic        moved, found, bad;
    logic [ENGINES-1:0] now_taken;
    logic [3:0]  core, cause;
    logic [2:0]  slot;
    logic [31:0] word1, word2, word3;
    /* verilator lint_off UNUSEDSIGNAL */
    logic [31:0] word0, late0, late1;
    /* verilator lint_on UNUSEDSIGNAL */
    logic [QUEUE_BITS-1:0] at;
    i = 0; j = 0; k = 0; q = 0; s = 0; c = 0; d = 0; moved = 0; found = 0; bad = 0; now_taken = 0; core = 0; cause = 0;
    slot = 0; word0 = 0; word1 = 0; word2 = 0; word3 = 0; late0 = 0; late1 = 0; at = 0;
    now = now + cycles_per_edge;
    if (rst) begin
      now = 0;
      for (i = 0; i < QUEUES; i = i + 1) begin
        l_first[i] = 0; l_lists[i] = 0; l_left[i] = 0; f_list[i] = 0; f_lists[i] = 0; f_address[i] = 0; f_left[i] = 0;
        s_read[i] = 0; s_count[i] = 0;
      end
      for (i = 0; i < 64; i = i + 1) counters[i] = 0;
      for (i = 0; i < ENGINES; i = i + 1) begin
        e_read[i] = 0; e_count[i] = 0; e_engine[i] = 0; e_done[i] = 0; e_turn[i] = 0; e_offered[i] = 0;
      end
      s_full = 0; s_error = 0; wanted = 0; head = 0; holds = 0; look = 0;
      r_queue = 0; r_slot = 0; r_address = 0; r_left = 0; r_line = 0; t_last = 0; t_read = 0; t_write = 0; t_count = 0;
      q_valid_i = 0; q_valid <= 0; q_address <= 0; q_mask <= 0; valid_i = 0; desc_valid <= 0; signal_valid <= 0;
      engine_progress <= 0; fault_valid <= 0; fault_engine <= 0; fault_cause <= xpu_chip_pkg::FAULT_NONE;
      fault_address <= 0; fault_descriptor <= 0; fault_layer <= 0; work_q <= 1; stopped = 0; idle_q <= {ENGINES{1'b1}};
      own_q <= {ENGINES{xpu_chip_pkg::LOST_EMPTY}};
      door_full <= '0; door_lists <= '0;
    end else if (!quiet) begin
      signal_valid <= 0; engine_progress <= 0;
      // ---- Doorbells ----
      if (door_valid) begin
        d = {30'd0, door_engine} * CORES + {28'd0, door_core};
        q = `QUEUE({30'd0, door_engine}, {28'd0, door_core});
        k = 4 * q + {30'd0, 2'(l_first[q] + l_lists[q][1:0])};
        l_address[k] = door_address; l_count[k] = door_count;
        if (l_lists[q] == 0) l_left[q] = door_count;
        l_lists[q] = l_lists[q] + 1; f_lists[q] = f_lists[q] + 1;
        door_lists[3*d +: 3] <= l_lists[q]; door_full[d] <= l_lists[q] == 3'(DEPTH);
        wanted[q] = s_count[q] != 4'd8; moved = 1;
      end

      // ---- Engines: what they took and did ----
      now_taken = desc_valid & desc_ready;
      for (i = 0; i < ENGINES; i = i + 1) begin
        if (now_taken[i]) begin
          valid_i[i] = 0; e_time[8 * i + {29'd0, e_offered[i]}] = now; moved = 1;
        end
        if (desc_done[i]) e_done[i] = e_done[i] + 1;
        k = 8 * i + {29'd0, e_read[i]};
        if (e_count[i] != 0 && !stopped && (e_opcode[k] == xpu_chip_pkg::OPCODE_NOP || e_done[i] != 0)) begin
          moved = 1;
          if (e_opcode[k] != xpu_chip_pkg::OPCODE_NOP) begin
            e_done[i] = e_done[i] - 1; e_engine[i] = e_engine[i] - 1;
          end
          e_read[i] = e_read[i] + 1; e_count[i] = e_count[i] - 1;
          engine_progress <= 1;
          if (e_signal[k] != NONE) begin
            signal_valid[i] <= 1; signal_counter[6 * i +: 6] <= e_signal[k][5:0]; signal_add[8 * i +: 8] <= e_add[k];
          end
`ifndef YOSYS
          xpu_dpi_complete(host, i, {28'd0, e_core[k]}, e_address[k], {16'd0, e_layer[k]}, {24'd0, e_opcode[k]},
                           e_opcode[k] == xpu_chip_pkg::OPCODE_NOP ? 32'd0 : now - e_time[k]);
`endif
          d = i * CORES + {28'd0, e_core[k]}; q = `QUEUE(i, {28'd0, e_core[k]});
          l_left[q] = l_left[q] - 1;
          if (l_left[q] == 0) begin
            l_first[q] = l_first[q] + 1; l_lists[q] = l_lists[q] - 1;
            l_left[q] = l_count[4 * q + {30'd0, l_first[q]}];
            door_lists[3*d +: 3] <= l_lists[q]; door_full[d] <= 0;
          end
        end
      end

      // ---- Waits ----
      if (change_valid != 0) begin
        for (i = 0; i <= ENGINES; i = i + 1)
          if (change_valid[i]) counters[change_counter[6*i +: 6]] = change_value[32*i +: 32];
        look = look | (head & ~holds); moved = 1;
      end
      if (look != 0) begin
        for (q = 0; q < QUEUES; q = q + 1)
          if (look[q]) begin
            s = 8 * q + {29'd0, s_read[q]};
            word1 = words[WORDS * s + 1]; word2 = words[WORDS * s + 2]; word3 = words[WORDS * s + 3];
            late0 = counters[word1[5:0]] - word2; late1 = counters[word1[13:8]] - word3;
            holds[q] = s_error[s] || ((word1[7:6] != 0 || !late0[31]) && (word1[15:14] != 0 || !late1[31]));
          end
        look = 0; moved = 1;
      end

      // ---- To the engines ----
      if (holds != 0 && !stopped) begin
        for (i = 0; i < ENGINES; i = i + 1)
          if (!valid_i[i] && !now_taken[i] && e_count[i] != 4'd8) begin
            found = 0; core = e_turn[i]; q = 0;
            for (c = 0; c < (i >= 2 ? 1 : CORES); c = c + 1)
              if (!found) begin
                q = `QUEUE(i, {28'd0, core});
                found = holds[q];
                if (!found) core = {28'd0, core} == CORES - 1 ? 4'd0 : core + 4'd1;
              end
            if (found) begin
              s = 8 * q + {29'd0, s_read[q]};
              word0 = words[WORDS * s]; word1 = words[WORDS * s + 1];
              bad = (word1[7:6] != 0 && word1[7:0] != NONE) || (word1[15:14] != 0 && word1[15:8] != NONE) ||
                    (word1[23:22] != 0 && word1[23:16] != NONE);
              case (word0[7:0])
                xpu_chip_pkg::OPCODE_NOP: ;
                xpu_chip_pkg::OPCODE_COPY, xpu_chip_pkg::OPCODE_FILL, xpu_chip_pkg::OPCODE_GATHER: if (i >= 2) bad = 1;
                xpu_chip_pkg::OPCODE_TENSOR, xpu_chip_pkg::OPCODE_POST: if (i != 2) bad = 1;
                xpu_chip_pkg::OPCODE_WINDOW: if (i != 3) bad = 1;
                default: bad = 1;
              endcase
              if (bad || s_error[s]) begin
                if (e_count[i] == 0 && !stopped) begin
                  stopped = 1; moved = 1; fault_valid <= 1; fault_engine <= 2'(i);
                  fault_cause <= s_error[s] ? xpu_chip_pkg::FAULT_ENGINE_ADDRESS : xpu_chip_pkg::FAULT_DESCRIPTOR;
                  fault_address <= s_address[s]; fault_descriptor <= s_address[s];
                  fault_layer <= s_error[s] ? 16'd0 : word0[31:16];
                end
              end else begin
                moved = 1;
                e_turn[i] = {28'd0, core} == CORES - 1 || i >= 2 ? 4'd0 : core + 4'd1;
                e_offered[i] = word0[7:0] == xpu_chip_pkg::OPCODE_NOP ? e_offered[i] : e_read[i] + e_count[i][2:0];
                k = 8 * i + {29'd0, 3'(e_read[i] + e_count[i][2:0])};
                e_core[k] = core; e_address[k] = s_address[s]; e_layer[k] = word0[31:16]; e_opcode[k] = word0[7:0];
                e_signal[k] = word1[23:16]; e_add[k] = word1[31:24]; e_time[k] = now;
                e_count[i] = e_count[i] + 1;
                if (word0[7:0] != xpu_chip_pkg::OPCODE_NOP) begin
                  e_engine[i] = e_engine[i] + 1; valid_i[i] = 1; j = WORDS * s;
                  case (i[1:0])
                    2'd0: for (k = 0; k < WORDS; k = k + 1) desc0[32*k +: 32] = words[j + k];
                    2'd1: for (k = 0; k < WORDS; k = k + 1) desc1[32*k +: 32] = words[j + k];
                    2'd2: for (k = 0; k < WORDS; k = k + 1) desc2[32*k +: 32] = words[j + k];
                    default: for (k = 0; k < WORDS; k = k + 1) desc3[32*k +: 32] = words[j + k];
                  endcase
                end
                // the next of this queue
                s_full[s] = 0; s_read[q] = s_read[q] + 1; s_count[q] = s_count[q] - 1; holds[q] = 0;
                head[q] = s_full[8 * q + {29'd0, s_read[q]}]; look[q] = head[q];
                wanted[q] = f_left[q] != 0 || f_lists[q] != 0;
              end
            end
          end
      end

      // ---- Faults of engines: of the oldest descriptor, when what it has done and the nops before are told ----
      for (i = 0; i < ENGINES; i = i + 1) begin
        k = 8 * i + {29'd0, e_read[i]};
        if (engine_fault[i] && e_done[i] == 0 && e_opcode[k] != xpu_chip_pkg::OPCODE_NOP && !stopped) begin
          stopped = 1; moved = 1;
          cause = i == 0 ? engine_cause0 : i == 1 ? engine_cause1 : i == 2 ? engine_cause2 : engine_cause3;
          fault_valid <= 1; fault_engine <= 2'(i); fault_cause <= cause;
          fault_address <= cause == xpu_chip_pkg::FAULT_DESCRIPTOR ? e_address[k] : i == 0 ? engine_address0 :
                           i == 1 ? engine_address1 : i == 2 ? engine_address2 : engine_address3;
          fault_descriptor <= e_address[k]; fault_layer <= e_layer[k];
        end
      end

      // ---- Fetch: the lines of one descriptor after the other ----
      if (q_valid_i && q_ready) begin
        q_valid_i = 0; moved = 1;
      end
      if (r_left == 0 && wanted != 0 && !stopped) begin
        found = 0; at = r_queue; moved = 1;
        for (c = 0; c < QUEUES; c = c + 1)
          if (!found) begin
            at = at == LAST_QUEUE ? '0 : at + 1'b1;
            found = wanted[at];
          end
        q = 32'(at);
        if (f_left[q] == 0) begin
          k = 4 * q + {30'd0, f_list[q]};
          f_address[q] = l_address[k]; f_left[q] = l_count[k]; f_list[q] = f_list[q] + 1; f_lists[q] = f_lists[q] - 1;
        end
        r_queue = at; r_address = f_address[q]; slot = s_read[q] + s_count[q][2:0]; r_slot = {at, slot};
        r_left = r_address[5:0] == 0 ? 3'd2 : 3'd3; r_line = 0;
        s_address[{at, slot}] = r_address; s_error[{at, slot}] = 0;
        f_address[q] = r_address + 32'(xpu_chip_pkg::DESC_BYTES); f_left[q] = f_left[q] - 1;
        s_count[q] = s_count[q] + 1;
        wanted[q] = s_count[q] != 4'd8 && (f_left[q] != 0 || f_lists[q] != 0);
      end
      if (r_left != 0 && !q_valid_i && t_count != LINES) begin
        moved = 1; q_valid_i = 1;
        q_address <= {r_address[31:6] + {23'd0, r_line}, 6'd0};
        q_mask <= r_line == 0 ? 64'hffffffffffffffff << r_address[5:0] :
                  r_line == 2 ? ~(64'hffffffffffffffff << r_address[5:0]) : 64'hffffffffffffffff;
        t_slot[t_write] = r_slot; t_line[t_write] = r_line; t_last[t_write] = r_left == 1;
        t_write = t_write + 1; t_count = t_count + 1; r_left = r_left - 1; r_line = r_line + 1;
      end
      // Lines that have arrived
      if (q_done) begin
        moved = 1;
        s = 32'(t_slot[t_read]); at = t_slot[t_read][QUEUE_BITS+2:3]; q = 32'(at);
        // word w of line n is word 16 * n + w - (address / 4) % 16 of the descriptor
        j = {25'd0, t_line[t_read], 4'd0} - {28'd0, s_address[s][5:2]};
        for (k = 0; k < 16; k = k + 1)
          if (j + k < WORDS) words[WORDS * s + j + k] = q_rdata[32*k +: 32];
        if (q_error) s_error[s] = 1;
        if (t_last[t_read]) begin
          s_full[s] = 1;
          if (s_read[q] == s[2:0]) begin
            head[q] = 1; look[q] = 1;
          end
        end
        t_read = t_read + 1; t_count = t_count - 1;
      end

      // ---- Outputs ----
      q_valid <= q_valid_i; desc_valid <= valid_i; work_q <= moved;
      for (i = 0; i < ENGINES; i = i + 1) begin
        idle_q[i] <= e_engine[i] == 0;
        found = 0; bad = 0; // lists are there; a wait does not hold
        for (c = 0; c < (i >= 2 ? 1 : CORES); c = c + 1) begin
          q = `QUEUE(i, c);
          if (l_lists[q] != 0) found = 1;
          if (head[q] && !holds[q] && !look[q]) bad = 1;
        end
        own_q[5*i +: 5] <= !found ? xpu_chip_pkg::LOST_EMPTY :
                           bad ? xpu_chip_pkg::LOST_COUNTER : xpu_chip_pkg::LOST_FETCH;
      end
    end
  end
`undef QUEUE

  `CHECK_HELD(q, q_valid, q_ready, {q_address, q_mask})
  `CHECK_ANSWERS(q, q_valid && q_ready, q_done, LINES)
  `CHECK_HELD(desc0, desc_valid[0], desc_ready[0], desc0)
  `CHECK_HELD(desc1, desc_valid[1], desc_ready[1], desc1)
  `CHECK_HELD(desc2, desc_valid[2], desc_ready[2], desc2)
  if (ENGINES > 3) begin : checks_window
    `CHECK_HELD(desc3, desc_valid[ENGINES-1], desc_ready[ENGINES-1], desc3)
  end
  for (genvar e = 0; e < ENGINES; e = e + 1) begin : checks
    `CHECK_ANSWERS(desc, desc_valid[e] && desc_ready[e], desc_done[e], 8)
  end
  `CHECK(!door_valid || !door_full[32'(door_engine) * CORES + 32'(door_core)], "a doorbell at a full queue")
endmodule
