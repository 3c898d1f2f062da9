// xpu_fabric: shared memory SM, the L3, and the way of all masters to them, to GM and to the LM of the cores.
//   Masters: nine line ports (the tensor engine's x, w, s, y; descriptors q; reads and writes of the two DMA engines), three
//   more with WINDOW (that engine's x, s, y),
//   and the cores' port b behind xpu_bus. A line port: address and mask (bytes of the line address[31:6] that are
//   touched) hold until ready; each request is answered by one done, in order, which cannot be stalled; done with error
//   (the tensor engine asks for memory that exists): there is no such memory. A write that is done is visible to everybody. Reads may answer with more bytes than asked.
//   SM: banks of 64 bytes a cycle each; latency 1. A line's bank is the sum without carries of three fields of its
//   address, the lowest one and those above it: neighbouring lines lie in different banks, and so do pixels that are a
//   power of two apart, below 64 bytes times the third power of the number of banks.
//   L3: as many bytes a cycle in each direction as l3_rate says, neighbouring lines in neighbouring banks, latency
//   l3_latency. LM: one line a cycle over all cores, latency 3.
//   GM: one line a cycle to xpu_gm, whose own latency 2 cycles come on top of. One access of a bank in each cycle; x is
//   served first, then b, then the others in turn, in every second cycle in front of the window engine's. Whoever is not
//   served waits in its place here, ready falls meanwhile.
//   A port's request to another memory than the one before waits for the answers of those on their way.
//   With `perturb`, grants are delayed at random, and answers of GM.
//   The memories stand here, in one clocked block, and lines go from them to the masters' registers directly: a line is
//   copied once. Simulation pays for active ports only.
`include "xpu_lanes.svh"
`include "xpu_checks.svh"
module xpu_fabric #(
  parameter int unsigned CORES = 1,
  parameter int unsigned LM_BYTES = 16384,
  parameter int unsigned SM_BYTES = 32768,
  parameter int unsigned SM_BANKS = 4,       // of 64 bytes
  parameter int unsigned SM_HOLD = 1,        // cycles that an access occupies its bank
  parameter int unsigned L3_BYTES = 65536,
  parameter int unsigned L3_BANKS = 4,       // of 64 bytes
  parameter int unsigned L3_ENTRIES = 16,    // power of two, at least l3_latency
  parameter int unsigned GM_BYTES = 268435456,
  parameter int unsigned WINDOW = 0,         // 1: there is a window engine
  localparam int unsigned CORE_BITS = CORES > 1 ? $clog2(CORES) : 1
) (
  input  logic                 clk,
  input  logic                 rst,
  /* verilator lint_off UNUSEDSIGNAL */
  input  logic [63:0]          host,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic                 perturb,
  input  logic                 perturb_start, // begins the sequence of perturb_seed
  input  logic [31:0]          perturb_seed,
  // run-time registers
  input  logic [15:0]          l3_latency,    // 1 .. L3_ENTRIES
  input  logic [15:0]          l3_rate,       // bytes a cycle in each direction
  // tensor engine
  input  logic                 x_valid,
  input  logic [31:0]          x_address,
  output logic                 x_ready,
  output logic                 x_done,
  output logic [511:0]         x_rdata,
  input  logic                 w_valid,
  input  logic [31:0]          w_address,
  output logic                 w_ready,
  output logic                 w_done,
  output logic [511:0]         w_rdata,
  input  logic                 s_valid,
  input  logic [31:0]          s_address,
  output logic                 s_ready,
  output logic                 s_done,
  output logic [511:0]         s_rdata,
  input  logic                 y_valid,
  input  logic [31:0]          y_address,
  input  logic [63:0]          y_mask,
  input  logic [511:0]         y_wdata,
  output logic                 y_ready,
  output logic                 y_done,
  // window engine
  input  logic                 win_x_valid,
  input  logic [31:0]          win_x_address,
  output logic                 win_x_ready,
  output logic                 win_x_done,
  output logic [511:0]         win_x_rdata,
  input  logic                 win_s_valid,
  input  logic [31:0]          win_s_address,
  output logic                 win_s_ready,
  output logic                 win_s_done,
  output logic [511:0]         win_s_rdata,
  input  logic                 win_y_valid,
  input  logic [31:0]          win_y_address,
  input  logic [63:0]          win_y_mask,
  input  logic [511:0]         win_y_wdata,
  output logic                 win_y_ready,
  output logic                 win_y_done,
  // descriptors
  input  logic                 q_valid,
  input  logic [31:0]          q_address,
  input  logic [63:0]          q_mask,
  output logic                 q_ready,
  output logic                 q_done,
  output logic                 q_error,
  output logic [511:0]         q_rdata,
  // DMA engines
  input  logic                 d0r_valid,
  input  logic [31:0]          d0r_address,
  input  logic [63:0]          d0r_mask,
  output logic                 d0r_ready,
  output logic                 d0r_done,
  output logic                 d0r_error,
  output logic [511:0]         d0r_rdata,
  input  logic                 d0w_valid,
  input  logic [31:0]          d0w_address,
  input  logic [63:0]          d0w_mask,
  input  logic [511:0]         d0w_wdata,
  output logic                 d0w_ready,
  output logic                 d0w_done,
  output logic                 d0w_error,
  input  logic                 d1r_valid,
  input  logic [31:0]          d1r_address,
  input  logic [63:0]          d1r_mask,
  output logic                 d1r_ready,
  output logic                 d1r_done,
  output logic                 d1r_error,
  output logic [511:0]         d1r_rdata,
  input  logic                 d1w_valid,
  input  logic [31:0]          d1w_address,
  input  logic [63:0]          d1w_mask,
  input  logic [511:0]         d1w_wdata,
  output logic                 d1w_ready,
  output logic                 d1w_done,
  output logic                 d1w_error,
  // cores: held until b_taken, which comes a cycle after the request was looked at for the last time. Answers of
  // different memories may overtake each other; one request at a time to SM, L3 and LM.
  input  logic [3:0]           b_valid,       // one of: LM, L3, SM, GM
  input  logic                 b_write,
  input  logic                 b_fetch,
  input  logic [31:0]          b_address,
  input  logic [63:0]          b_mask,
  input  logic [511:0]         b_wdata,
  input  logic [4:0]           b_tag,
  output logic                 b_taken,
  output logic                 b_rsp_valid,
  input  logic                 b_rsp_ready,
  output logic [4:0]           b_rsp_tag,
  output logic [511:0]         b_rsp_rdata,
  // LM of the cores: answered in the second cycle after lmx_ready
  output logic [CORES-1:0]     lmx_valid,
  output logic                 lmx_write,
  output logic [19:0]          lmx_address,
  output logic [63:0]          lmx_mask,
  output logic [511:0]         lmx_wdata,
  input  logic [CORES-1:0]     lmx_ready,
  output logic [CORE_BITS-1:0] lmx_core,      // whose answer lmx_rdata is in this cycle
  input  logic [511:0]         lmx_rdata,
  // GM
  output logic                 gm_valid,
  input  logic                 gm_ready,
  output logic                 gm_write,
  output logic                 gm_fetch,
  output logic [31:0]          gm_address,
  output logic [63:0]          gm_mask,
  output logic [8:0]           gm_tag,
  output logic [3:0]           gm_delay,
  input  logic                 gm_rsp_valid,
  output logic                 gm_rsp_ready,
  input  logic                 gm_rsp_write,
  input  logic [31:0]          gm_rsp_address,
  input  logic [63:0]          gm_rsp_mask,
  input  logic [8:0]           gm_rsp_tag,
  output logic                 quiet
);
`ifndef YOSYS
  import "DPI-C" function void xpu_dpi_gm_read(input longint unsigned host, input int unsigned address,
                                               input longint unsigned mask, output bit [511:0] data);
  import "DPI-C" function void xpu_dpi_gm_write(input longint unsigned host, input int unsigned address,
                                                input longint unsigned mask, input bit [511:0] data);
`endif
  // Ports; those that write: Y, D0W, D1W, NY. B is not one of them. Those behind USED - 1 ask nothing.
  localparam int unsigned X = 0, W = 1, S = 2, Y = 3, Q = 4, D0R = 5, D0W = 6, D1R = 7, D1W = 8, NX = 9, NS = 10,
                          NY = 11, PORTS = 12, USED = WINDOW != 0 ? 12 : 9;
  localparam logic [11:0] WRITES = 12'b100101001000;
  localparam logic [3:0] B = 4'd12, LAST = 4'(D1W);
  localparam logic [1:0] GM = 2'd0, SM = 2'd1, L3 = 2'd2, LM = 2'd3;
  localparam logic [1:0] B_IDLE = 2'd0, B_WAITS = 2'd1, B_READY = 2'd2;
  localparam int unsigned SM_BITS = $clog2(SM_BYTES / 64), L3_BITS = $clog2(L3_BYTES / 64);
  localparam int unsigned L3_AT = $clog2(L3_ENTRIES), SM_FOLD = $clog2(SM_BANKS);
  localparam logic [31:0] SM_BANK = SM_BANKS - 1, L3_BANK = L3_BANKS - 1;
  // 33 bits, so that a memory may reach up to the end of the address space
  localparam logic [32:0] GM_END = {1'b0, xpu_chip_pkg::GM_BASE} + 33'(GM_BYTES);
  localparam logic [32:0] SM_END = {1'b0, xpu_chip_pkg::SM_BASE} + 33'(SM_BYTES);
  localparam logic [32:0] L3_END = {1'b0, xpu_chip_pkg::L3_BASE} + 33'(L3_BYTES);

  logic [511:0] sm_q [SM_BYTES / 64];
  logic [511:0] l3_q [L3_BYTES / 64];

  // ---- State ----
  logic [11:0] full;                         // a request waits here
  logic [31:0] line [PORTS];                 // whose bytes are answered in this cycle
  logic [31:0] at [PORTS + 1];               // it, or the one that is looked at
  logic [63:0] bytes [PORTS + 1];
  logic [511:0] held_y, held_0, held_1, held_n;      // what waiting requests write
  logic [11:0] flight [PORTS];               // requests that are not answered
  logic [1:0]  where [PORTS];                // by which memory
  logic [3:0]  turn;                         // who is asked first behind x and b
  logic [31:0] random;
  logic        gm_waits;                     // twin of gm_valid
  logic [CORES-1:0] lm_waits;                // of lmx_valid
  logic [3:0]  lm_port, lm_next, lm_from;    // whose request to an LM waits, is answered in the next cycle, in this one
  logic        lm_write, lm_next_write, lm_from_write, lm_asked, lm_answers;
  logic [CORE_BITS-1:0] lm_core, lm_next_core; // whose LM
  logic [7:0]  sm_wait;                      // cycles until SM takes a request, where it is slower than a line a cycle
  logic [L3_AT-1:0] l3_now;                  // the entry that is answered in this cycle
  logic [11:0] l3_count;
  logic [12:0] l3_ports [L3_ENTRIES];        // who is answered
  logic [31:0] l3_at [L3_ENTRIES * 16];      // entry, port
  logic [15:0] l3_read_credit, l3_write_credit; // bytes
  // The request of b to SM, L3 or LM
  logic [1:0]  b_state, b_where;
  logic        b_took, b_answers;            // twins of b_taken, b_rsp_valid
  logic [4:0]  b_whose;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [31:0] b_at;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [511:0] b_line;                      // what an LM has answered
  logic [511:0] wide_data, wide_out, wide_old, wide_gm, wide_lm; // not local: clearing them costs
  // What ports have read. Arrays of one element: an assignment `<=` to one costs nothing in a cycle without it.
  logic [511:0] x_data [1];
  logic [511:0] w_data [1];
  logic [511:0] s_data [1];
  logic [511:0] q_data [1];
  logic [511:0] d0r_data [1];
  logic [511:0] d1r_data [1];
  logic [511:0] win_x_data [1];
  logic [511:0] win_s_data [1];
  assign x_rdata = x_data[0];
  assign w_rdata = w_data[0];
  assign s_rdata = s_data[0];
  assign q_rdata = q_data[0];
  assign d0r_rdata = d0r_data[0];
  assign d1r_rdata = d1r_data[0];
  assign win_x_rdata = win_x_data[0];
  assign win_s_rdata = win_s_data[0];
  logic [511:0] lm_data [1];                 // what is written to an LM
  assign lmx_wdata = lm_data[0];
  logic        awake;                        // something is to be done without a request
  logic [11:0] ready_q, done_q, error_q;

  logic [11:0] asks;
  logic [15:0] credit_most;
  assign asks = {win_y_valid, win_s_valid, win_x_valid, d1w_valid, d1r_valid, d0w_valid, d0r_valid, q_valid, y_valid, s_valid, w_valid, x_valid};
  assign {win_y_ready, win_s_ready, win_x_ready, d1w_ready, d1r_ready, d0w_ready, d0r_ready, q_ready, y_ready, s_ready, w_ready, x_ready} = ready_q;
  assign {win_y_done, win_s_done, win_x_done, d1w_done, d1r_done, d0w_done, d0r_done, q_done, y_done, s_done, w_done, x_done} = done_q;
  assign {d1w_error, d1r_error, d0w_error, d0r_error, q_error} = error_q[8:4];
  assign credit_most = l3_rate < 16'd64 ? 16'd64 : l3_rate;
  assign gm_delay = perturb ? random[11:8] : 4'd0;
  assign gm_rsp_ready = gm_rsp_tag[8:5] != B || !b_rsp_valid;
  assign quiet = !awake && asks == 12'd0 && b_valid == 4'd0 && !gm_rsp_valid;
  logic unused;
  assign unused = &{1'b0, error_q[3:0], error_q[11:9]};

  // {somebody answers, who}
  function automatic logic [2:0] target_of(input logic [31:0] address);
    target_of = 3'd0;
    if (address[31]) target_of = {{1'b0, address} < GM_END, GM};
    else if (address[31:28] == xpu_chip_pkg::SM_BASE[31:28]) target_of = {{1'b0, address} < SM_END, SM};
    else if (address[31:30] == xpu_chip_pkg::L3_BASE[31:30]) target_of = {{1'b0, address} < L3_END, L3};
    else if (address[31:24] == xpu_chip_pkg::LM_ALL_BASE[31:24])
      target_of = {{28'd0, address[23:20]} < CORES && {12'd0, address[19:0]} < LM_BYTES, LM};
  endfunction
  // Eight bits to eight bytes of ones
  function automatic logic [63:0] bytes_of(input logic [7:0] mask);
    logic [63:0] t;
    t = ({8{mask}} & 64'h8040201008040201) + 64'h7f7f7f7f7f7f7f7f;
    bytes_of = ((t & 64'h8080808080808080) >> 7) * 64'd255;
  endfunction

`ifndef YOSYS
  // Of its own: its variables would be cleared in every cycle
  task read_gm(input logic [31:0] address, input logic [63:0] mask);
    /* verilator no_inline_task */
    xpu_dpi_gm_read(host, address, mask, wide_gm);
  endtask
`endif
`define TAKE(n, address, mask) if (fresh[n]) begin at[n] = address; bytes[n] = mask; end
`define ANSWER(n, rdata) if (reads[n]) \
        case (from[2 * n +: 2]) \
          SM: rdata <= sm_q[line[n][6 +: SM_BITS]]; \
          L3: rdata <= l3_q[line[n][6 +: L3_BITS]]; \
          LM: rdata <= wide_lm; \
          default: rdata <= wide_gm; \
        endcase
  always_ff @(posedge clk) begin : p_fabric
    logic [11:0] fresh, done, fail, reads;
    logic [12:0] pending, ports;
    logic [31:0] others;                     // ports 1 to 8, in turn
    logic [51:0] order;                      // ports as they are looked at
    /* verilator lint_off UNUSEDSIGNAL */
    logic [23:0] from;                       // 2 bits for each port: who answers in this cycle
    /* verilator lint_on UNUSEDSIGNAL */
    logic [31:0] address;
    logic [3:0]  p;
    logic [2:0]  target;
    logic [63:0] mask, bits;
    logic [25:0] fold;
    logic        go, write, b_old, lm_sends;
    logic [SM_BANKS-1:0] sm_busy, sm_bank;
    logic [L3_BANKS-1:0] l3_busy, l3_bank;
    logic [L3_AT-1:0] slot;
    logic [CORES-1:0] lm_taken;
    /* verilator lint_off UNUSEDSIGNAL */
    int unsigned k, z;
    /* verilator lint_on UNUSEDSIGNAL */
    k = 0; z = 0; others = 32'd0; order = 52'd0;
    fresh = 12'd0; done = 12'd0; fail = 12'd0; reads = 12'd0; pending = 13'd0; ports = 13'd0; from = 24'd0;
    address = 32'd0; p = 4'd0; target = 3'd0; mask = 64'd0; bits = 64'd0; fold = 26'd0; go = 1'b0; write = 1'b0; b_old = 1'b0; lm_sends = 1'b0;
    sm_busy = '0; sm_bank = '0; l3_busy = '0; l3_bank = '0; slot = '0; lm_taken = '0;
    if (rst) begin
      full = 12'd0; turn = 4'd1; gm_waits = 1'b0; lm_waits = '0; lm_asked = 1'b0; lm_answers = 1'b0; sm_wait = 8'd0;
      l3_now = '0; l3_count = 12'd0; l3_read_credit = 16'd64; l3_write_credit = 16'd64; b_state = B_IDLE;
      b_took = 1'b0; b_answers = 1'b0; random = 32'd1;
      for (int unsigned n = 0; n < PORTS; n = n + 1) flight[n] = 12'd0;
      for (int unsigned n = 0; n < L3_ENTRIES; n = n + 1) l3_ports[n] = 13'd0;
      ready_q <= 12'hfff; done_q <= 12'd0; error_q <= 12'd0;
      b_taken <= 1'b0; b_rsp_valid <= 1'b0; lmx_valid <= '0; gm_valid <= 1'b0; awake <= 1'b1;
    end else begin
      if (perturb_start) random = perturb_seed;
      if (!quiet) begin
        // ---- Requests come in ----
        fresh = asks & ~full;
        if (fresh != 12'd0) begin
          `TAKE(X, x_address, 64'hffffffffffffffff)
          `TAKE(W, w_address, 64'hffffffffffffffff)
          `TAKE(S, s_address, 64'hffffffffffffffff)
          `TAKE(Y, y_address, y_mask)
          `TAKE(Q, q_address, q_mask)
          `TAKE(D0R, d0r_address, d0r_mask)
          `TAKE(D0W, d0w_address, d0w_mask)
          `TAKE(D1R, d1r_address, d1r_mask)
          `TAKE(D1W, d1w_address, d1w_mask)
          if (WINDOW != 0) begin
            `TAKE(NX, win_x_address, 64'hffffffffffffffff)
            `TAKE(NS, win_s_address, 64'hffffffffffffffff)
            `TAKE(NY, win_y_address, win_y_mask)
          end
        end
        full = full | fresh;
        pending = {b_valid != 4'd0 && !b_took, full};
        if (pending[B]) begin
          at[B] = b_address;
          bytes[B] = b_mask;
        end
        if (perturb) begin
          pending = pending & ~({random[9], random[31:29], random[8:0]} & {random[19], random[22:20], random[18:10]});
          random = {random[30:0], random[31] ^ random[21] ^ random[1] ^ random[0]};
        end
        b_took = 1'b0;
        b_old = b_answers;
        if (b_rsp_ready) b_answers = 1'b0;
        if (gm_ready) gm_waits = 1'b0;
        if (sm_wait != 8'd0) sm_wait = sm_wait - 8'd1;
        l3_read_credit = l3_read_credit + l3_rate < credit_most ? l3_read_credit + l3_rate : credit_most;
        l3_write_credit = l3_write_credit + l3_rate < credit_most ? l3_write_credit + l3_rate : credit_most;
        // ---- An LM has answered, one has taken a request ----
        if (lm_answers) begin
          if (!lm_from_write) wide_lm = lmx_rdata;
          if (lm_from == B) begin
            b_state = B_READY;
            if (!lm_from_write) b_line = wide_lm;
          end else begin
            done[lm_from] = 1'b1;
            reads[lm_from] = !lm_from_write;
            from[{lm_from, 1'b0} +: 2] = LM;
            flight[lm_from] = flight[lm_from] - 12'd1;
          end
        end
        lm_answers = lm_asked;
        lm_from = lm_next;
        lmx_core <= lm_next_core;
        lm_from_write = lm_next_write;
        lm_taken = lm_waits & lmx_ready;
        lm_asked = lm_taken != '0;
        if (lm_asked) begin
          lm_waits = '0;
          lm_next = lm_port;
          lm_next_core = lm_core;
          lm_next_write = lm_write;
        end
        // ---- Grants: x, b, the others in turn ----
        if (pending != 13'd0) begin
          others = 32'(64'h8765432187654321 >> {turn - 4'd1, 2'd0});
          order = turn[0] ? {others, 4'(NY), 4'(NS), 4'(NX), B, 4'(X)} : {4'(NY), 4'(NS), 4'(NX), others, B, 4'(X)};
          `LOOP_WHILE(k, PORTS + 1, pending != 13'd0)  // order has ports that ask nothing, too
            p = order[3:0];
            order = order >> 4;
            if (pending[p]) begin
              pending[p] = 1'b0;
              address = at[p];
              mask = bytes[p];
              write = p == B ? b_write : WRITES[p];
              go = 1'b1;
              target = p != B ? target_of(address) : {1'b1, b_valid[0] ? GM : b_valid[1] ? SM : b_valid[2] ? L3 : LM};
              if (p != B) begin
                if (target == {1'b1, SM} || !target[2]) go = flight[p] == 12'd0 && !done[p];
                else go = (flight[p] == 12'd0 || where[p] == target[1:0]) && (!done[p] || target[1:0] == LM);
              end else if (!b_valid[0]) go = b_state == B_IDLE;
              fold = address[31:6] ^ (address[31:6] >> SM_FOLD) ^ (address[31:6] >> (2 * SM_FOLD));
              sm_bank = {{(SM_BANKS-1){1'b0}}, 1'b1} << (fold & SM_BANK[25:0]);
              l3_bank = {{(L3_BANKS-1){1'b0}}, 1'b1} << (address[31:6] & L3_BANK[25:0]);
              if (target[2])
                case (target[1:0])
                  GM: go = go && !gm_waits;
                  SM: go = go && sm_wait == 8'd0 && (sm_busy & sm_bank) == '0;
                  L3: go = go && (l3_busy & l3_bank) == '0 &&
                           (write ? l3_write_credit >= 16'd64 : l3_read_credit >= 16'd64);
                  default: go = go && lm_waits == '0;
                endcase
              if (go) begin
                if (p == B) b_took = 1'b1;
                else full[p] = 1'b0;
                if (write) begin
                  case (p)
                    4'(Y): if (fresh[Y]) wide_data = y_wdata; else wide_data = held_y;
                    4'(D0W): if (fresh[D0W]) wide_data = d0w_wdata; else wide_data = held_0;
                    4'(D1W): if (fresh[D1W]) wide_data = d1w_wdata; else wide_data = held_1;
                    4'(NY): if (fresh[NY]) wide_data = win_y_wdata; else wide_data = held_n;
                    default: wide_data = b_wdata;
                  endcase
                  if (target == {1'b1, SM} || target == {1'b1, L3}) begin
                    if (mask != 64'hffffffffffffffff) begin
                      if (target[1:0] == SM) wide_old = sm_q[address[6 +: SM_BITS]];
                      else wide_old = l3_q[address[6 +: L3_BITS]];
                      for (int unsigned i = 0; i < 8; i = i + 1) begin
                        bits = bytes_of(mask[8 * i +: 8]);
                        wide_data[64 * i +: 64] = (wide_data[64 * i +: 64] & bits) | (wide_old[64 * i +: 64] & ~bits);
                      end
                    end
                    if (target[1:0] == SM) `SET(sm_q[address[6 +: SM_BITS]], wide_data);
                    else `SET(l3_q[address[6 +: L3_BITS]], wide_data);
                  end
                end
                if (target[2] && target[1:0] != SM && p != B) begin
                  flight[p] = flight[p] + 12'd1;
                  where[p] = target[1:0];
                end
                if (p == B && target[1:0] != GM) begin
                  b_state = target[1:0] == SM ? B_READY : B_WAITS;
                  b_where = target[1:0];
                  b_whose = b_tag;
                  b_at = address;
                end
                if (!target[2]) begin
                  done[p] = 1'b1;
                  fail[p] = 1'b1;
                end else
                  case (target[1:0])
                    GM: begin
                      gm_waits = 1'b1;
                      gm_write <= write;
                      gm_fetch <= p == B && b_fetch;
                      gm_address <= address;
                      gm_mask <= mask;
                      gm_tag <= {p, p == B ? b_tag : 5'd0};
`ifndef YOSYS
                      if (write) xpu_dpi_gm_write(host, address, mask, wide_data);
`endif
                    end
                    SM: begin
                      sm_busy = sm_busy | sm_bank;
                      if (SM_HOLD > 1) sm_wait = 8'(SM_HOLD);
                      if (p != B) begin
                        done[p] = 1'b1;
                        reads[p] = !write;
                        from[{p, 1'b0} +: 2] = SM;
                        line[p] = address;
                      end
                    end
                    L3: begin
                      l3_busy = l3_busy | l3_bank;
                      if (write) l3_write_credit = l3_write_credit - 16'd64;
                      else l3_read_credit = l3_read_credit - 16'd64;
                      slot = l3_now + L3_AT'(l3_latency - 16'd1);
                      l3_ports[slot][p] = 1'b1;
                      `SET(l3_at[{slot, p}], address);
                      l3_count = l3_count + 12'd1;
                    end
                    default: begin
                      for (int unsigned c = 0; c < CORES; c = c + 1) lm_waits[c] = {28'd0, address[23:20]} == c;
                      lm_port = p;
                      lm_core = address[20 +: CORE_BITS];
                      lm_write = write;
                      lmx_write <= write;
                      lmx_address <= address[19:0];
                      lmx_mask <= mask;
                      if (write) begin
                        wide_out = wide_data;
                        lm_sends = 1'b1;
                      end
                    end
                  endcase
              end
            end
          `ENDLOOP(k)
        end
        turn = turn == LAST ? 4'd1 : turn + 4'd1;
        if (fresh[Y] && full[Y]) held_y = y_wdata;
        if (fresh[D0W] && full[D0W]) held_0 = d0w_wdata;
        if (fresh[D1W] && full[D1W]) held_1 = d1w_wdata;
        if (WINDOW != 0 && fresh[NY] && full[NY]) held_n = win_y_wdata;
        // ---- Answers of L3 ----
        if (l3_count != 12'd0) begin
          ports = l3_ports[l3_now];
          if (ports != 13'd0) begin
            for (int unsigned n = 0; n < USED; n = n + 1)
              if (ports[n]) begin
                done[n] = 1'b1;
                reads[n] = !WRITES[n];
                from[2 * n +: 2] = L3;
                line[n] = l3_at[{l3_now, 4'(n)}];
                flight[n] = flight[n] - 12'd1;
                l3_count = l3_count - 12'd1;
              end
            if (ports[B]) begin
              b_state = B_READY;
              l3_count = l3_count - 12'd1;
            end
            l3_ports[l3_now] = 13'd0;
          end
          l3_now = l3_now + 1'b1;
        end
        // ---- Answers of GM ----
        if (gm_rsp_valid && gm_rsp_ready) begin
          p = gm_rsp_tag[8:5];
          if (p == B) begin
`ifndef YOSYS
            if (!gm_rsp_write) begin
              read_gm(gm_rsp_address, gm_rsp_mask);
              b_rsp_rdata = wide_gm;
            end
`endif
            b_answers = 1'b1;
            b_rsp_tag <= gm_rsp_tag[4:0];
          end else begin
`ifndef YOSYS
            if (!gm_rsp_write) read_gm(gm_rsp_address, gm_rsp_mask);
`endif
            done[p] = 1'b1;
            reads[p] = !gm_rsp_write;
            from[{p, 1'b0} +: 2] = GM;
            flight[p] = flight[p] - 12'd1;
          end
        end
        // ---- Answers to b of SM, L3 and LM ----
        if (b_state == B_READY && !b_old && !b_answers) begin
          case (b_where)
            SM: b_rsp_rdata = sm_q[b_at[6 +: SM_BITS]];
            L3: b_rsp_rdata = l3_q[b_at[6 +: L3_BITS]];
            default: b_rsp_rdata = b_line;
          endcase
          b_answers = 1'b1;
          b_rsp_tag <= b_whose;
          b_state = B_IDLE;
        end
        // ---- Out ----
        if (reads != 12'd0) begin
          `ANSWER(X, x_data[0])
          `ANSWER(W, w_data[0])
          `ANSWER(S, s_data[0])
          `ANSWER(Q, q_data[0])
          `ANSWER(D0R, d0r_data[0])
          `ANSWER(D1R, d1r_data[0])
          if (WINDOW != 0) begin
            `ANSWER(NX, win_x_data[0])
            `ANSWER(NS, win_s_data[0])
          end
        end
        ready_q <= ~full;
        done_q <= done;
        error_q <= fail;
        b_taken <= b_took;
        b_rsp_valid <= b_answers;
        gm_valid <= gm_waits;
        lmx_valid <= lm_waits;
        if (lm_sends) lm_data[0] <= wide_out;
        awake <= full != 12'd0 || done != 12'd0 || gm_waits || lm_waits != '0 || lm_asked || lm_answers || l3_count != 12'd0 ||
                 b_state == B_READY || b_answers || b_took || sm_wait != 8'd0 ||
                 l3_read_credit != credit_most || l3_write_credit != credit_most;
      end
    end
  end
`undef TAKE
`undef ANSWER

`define CHECK_PORT(name, payload) \
  `CHECK_HELD(name, name``_valid, name``_ready, payload) \
  `CHECK_ANSWERS(name, name``_valid && name``_ready, name``_done, 4095)
  `CHECK_PORT(x, x_address)
  `CHECK_PORT(w, w_address)
  `CHECK_PORT(s, s_address)
  `CHECK_PORT(y, {y_address, y_mask, y_wdata})
  `CHECK_PORT(win_x, win_x_address)
  `CHECK_PORT(win_s, win_s_address)
  `CHECK_PORT(win_y, {win_y_address, win_y_mask, win_y_wdata})
  `CHECK_PORT(q, {q_address, q_mask})
  `CHECK_PORT(d0r, {d0r_address, d0r_mask})
  `CHECK_PORT(d0w, {d0w_address, d0w_mask, d0w_wdata})
  `CHECK_PORT(d1r, {d1r_address, d1r_mask})
  `CHECK_PORT(d1w, {d1w_address, d1w_mask, d1w_wdata})
`undef CHECK_PORT
  `CHECK_HELD(lmx, lmx_valid != 0, (lmx_valid & lmx_ready) != 0,
              {lmx_valid, lmx_write, lmx_address, lmx_mask, {512{lmx_write}} & lmx_wdata})
  `CHECK_ANSWERS(b, b_taken, b_rsp_valid && b_rsp_ready, 257 * CORES)
  `CHECK_HELD(b, b_valid != 0, b_taken, {b_valid, b_write, b_fetch, b_address, b_mask, {512{b_write}} & b_wdata, b_tag})
  `CHECK_HELD(b_rsp, b_rsp_valid, b_rsp_ready, {b_rsp_tag, b_rsp_rdata})
  `CHECK_HELD(gm, gm_valid, gm_ready, {gm_write, gm_fetch, gm_address, gm_mask, gm_tag})
  `CHECK_HELD(gm_rsp, gm_rsp_valid, gm_rsp_ready, {gm_rsp_write, gm_rsp_address, gm_rsp_mask, gm_rsp_tag})
  `CHECK($onehot0(lmx_valid), "a line of more than one LM")
  `CHECK($onehot0(b_valid), "a request has more than one target")
endmodule
