// Assertions on handshakes: on where Verilator gets --assert (the benches), nothing where it does not.
`ifndef XPU_CHECKS_SVH
`define XPU_CHECKS_SVH
`ifdef YOSYS
`define CHECK(condition, text)
`define CHECK_HELD(valid, ready, payload)
`else
`define CHECK(condition, text) \
  always @(posedge clk) if (!rst) assert (condition) else $error(text);
  // A request is held as it is until it is taken
`define CHECK_HELD(valid, ready, payload) \
  assert property (@(posedge clk) disable iff (rst) (valid) && !(ready) |=> (valid) && $stable(payload));
`endif
`endif
