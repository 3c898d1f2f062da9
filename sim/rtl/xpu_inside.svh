// For modules with CORES and the sizes of the memories as parameters.
  // Whether `length` bytes from `first` on are in one memory.
  function automatic logic inside_memory(input logic [63:0] first, input logic [63:0] length);
    logic [31:0] a, offset, bytes;
    a = first[31:0];
    if (a >= xpu_chip_pkg::GM_BASE) begin
      offset = a - xpu_chip_pkg::GM_BASE;
      bytes = GM_BYTES;
    end else if (a >= xpu_chip_pkg::L3_BASE) begin
      offset = a - xpu_chip_pkg::L3_BASE;
      bytes = L3_BYTES;
    end else if (a >= xpu_chip_pkg::SM_BASE) begin
      offset = a - xpu_chip_pkg::SM_BASE;
      bytes = SM_BYTES;
    end else begin
      offset = {12'd0, a[19:0]};
      bytes = a[31:24] == xpu_chip_pkg::LM_ALL_BASE[31:24] && {28'd0, a[23:20]} < CORES ? LM_BYTES : 32'd0;
    end
    inside_memory = first[63:32] == 32'd0 && offset < bytes && length <= {32'd0, bytes - offset};
  endfunction
