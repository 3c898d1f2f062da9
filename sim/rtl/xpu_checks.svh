// Assertions on handshakes, rings and answers: on where XPU_CHECKS is defined and Verilator gets --assert (RTL_CHECKS of
// rtl.mk: the benches, and chips that tests alone have), nothing elsewhere. What they compare with they keep themselves,
// in blocks of their own: so they hold under clocks of single units, and where a harness calls Verilator's functions
// for the blocks of one clock.
`ifndef XPU_CHECKS_SVH
`define XPU_CHECKS_SVH
`ifdef XPU_CHECKS
`define CHECK(condition, text) \
  always @(posedge clk) if (!rst) assert (condition) else $error(text);
  // A request is held as it is until it is taken
`define CHECK_HELD(name, valid, ready, payload) \
  logic name``_waited; \
  logic [$bits(payload)-1:0] name``_was; \
  always @(posedge clk) begin \
    if (!rst && name``_waited) \
      assert ((valid) && (payload) == name``_was) else $error(`"name: a request changes before it is taken`"); \
    name``_waited <= !rst && (valid) && !(ready); \
    name``_was <= payload; \
  end
  // What a part of a unit hands on stays as it is until the next part takes it, in the step that these signals stand behind
`define CHECK_STAYS(name, valid, leaves, payload) \
  logic name``_had; \
  logic [$bits(payload)-1:0] name``_had_been; \
  always @(posedge clk) begin \
    if (!rst && name``_had && !(leaves)) \
      assert ((valid) && (payload) == name``_had_been) else $error(`"name: what is handed on changes before it is taken`"); \
    name``_had <= !rst && (valid); \
    name``_had_been <= payload; \
  end
  // Each answer is one to a request that was taken, in this cycle or before; at most so many are open
`define CHECK_ANSWERS(name, taken, answered, most) \
  logic [15:0] name``_open; \
  always @(posedge clk) begin \
    if (!rst) begin \
      assert (!(answered) || (taken) || name``_open != 0) else $error(`"name: an answer that nobody asked for`"); \
      assert (name``_open <= 16'(unsigned'(most))) else $error(`"name: more requests than there is room for answers`"); \
    end \
    name``_open <= rst ? 16'd0 : name``_open + 16'(taken) - 16'(answered); \
  end
`else
`define CHECK(condition, text)
`define CHECK_HELD(name, valid, ready, payload)
`define CHECK_STAYS(name, valid, leaves, payload)
`define CHECK_ANSWERS(name, taken, answered, most)
`endif
`endif
