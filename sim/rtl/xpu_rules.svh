// Rules of descriptors for engines with a post-processor, as the functional engines have them. The including module has
// CORES and the sizes of the memories as parameters, and the descriptor that is looked at in `in`.
  localparam logic [3:0] NO_FAULT = xpu_chip_pkg::FAULT_NONE, BAD = xpu_chip_pkg::FAULT_DESCRIPTOR,
                         MISALIGNED = xpu_chip_pkg::FAULT_MISALIGNED, OUTSIDE = xpu_chip_pkg::FAULT_ENGINE_ADDRESS;
  localparam logic [63:0] MOST = 64'h80000000;  // elements of a box
  function automatic logic is_byte(input logic [3:0] kind);
    is_byte = kind == xpu_chip_pkg::TYPE_I8 || kind == xpu_chip_pkg::TYPE_U8;
  endfunction
  function automatic logic is_float(input logic [3:0] kind);
    is_float = kind == xpu_chip_pkg::TYPE_F32 || kind == xpu_chip_pkg::TYPE_I16 || kind == xpu_chip_pkg::TYPE_I8;
  endfunction
  function automatic logic [1:0] log_bytes(input logic [3:0] kind);
    log_bytes = kind == xpu_chip_pkg::TYPE_I16 ? 2'd1 : kind >= xpu_chip_pkg::TYPE_I32 ? 2'd2 : 2'd0;
  endfunction
`include "xpu_inside.svh"
  // Whether low bits of a are set below 1 << size
  function automatic logic off(input logic [31:0] a, input logic [1:0] size);
    off = (a & ((32'd1 << size) - 1)) != 0;
  endfunction
  // The fault of `bytes` bytes at an address that is a multiple of 1 << size
  function automatic logic [3:0] memory_fault(input logic [39:0] a, input logic [31:0] bytes, input logic [1:0] size);
    memory_fault = off(a[31:0], size) ? MISALIGNED :
                   inside_memory({24'd0, a}, {32'd0, bytes}) ? NO_FAULT : OUTSIDE;
  endfunction
  // The fault of a box of rows x pixels x elements of 1 << size bytes in SM. Products: r, p: bytes from the first to the
  // last row and pixel; places: rows x pixels; all: elements of all of them
  function automatic logic [3:0] products_fault(input logic [39:0] a, input logic [31:0] rows, input logic [31:0] row_stride,
                                                input logic [31:0] pixels, input logic [31:0] pixel_stride,
                                                input logic [63:0] r, input logic [63:0] p, input logic [31:0] places,
                                                input logic [63:0] all, input logic [15:0] elements,
                                                input logic [1:0] size);
    logic [63:0] first, bytes;
    first = {24'd0, a} + (r[63] ? r : 64'd0) + (p[63] ? p : 64'd0);
    bytes = (r[63] ? 64'd0 - r : r) + (p[63] ? 64'd0 - p : p) + ({48'd0, elements} << size);
    products_fault = a[39:30] != 10'd0 || !a[29] ? OUTSIDE :
                     rows == 0 ? NO_FAULT :
                     rows != 1 && off(row_stride, size) ? MISALIGNED :
                     pixels == 0 ? NO_FAULT :
                     {32'd0, places} > MOST ? BAD :
                     pixels != 1 && off(pixel_stride, size) ? MISALIGNED :
                     all > MOST ? BAD :
                     off(a[31:0], size) ? MISALIGNED :
                     inside_memory(first, bytes) ? NO_FAULT : OUTSIDE;
  endfunction
  // The same where places, a product, was multiplied in a cycle before: one multiplication stands in front of each rule
  function automatic logic [3:0] box_fault(input logic [39:0] a, input logic [31:0] rows, input logic [31:0] row_stride,
                                           input logic [31:0] pixels, input logic [31:0] pixel_stride,
                                           input logic [31:0] places, input logic [15:0] elements,
                                           input logic [1:0] size);
    box_fault = products_fault(a, rows, row_stride, pixels, pixel_stride,
                               {32'd0, rows - 1} * {{32{row_stride[31]}}, row_stride},
                               {32'd0, pixels - 1} * {{32{pixel_stride[31]}}, pixel_stride}, places,
                               {32'd0, places} * {48'd0, elements}, elements, size);
  endfunction

`ifndef XPU_RULES_SVH
`define XPU_RULES_SVH
  // A rule of the descriptor, unless one before it is broken; at: the address in its fault
`define RULE(fault, at) if (cause == NO_FAULT) begin cause = (fault); fault_at = (at); end
`define MEMORY(name, bytes, size) \
    if ({in.name``_hi, in.name} != 0) `RULE(memory_fault({in.name``_hi, in.name}, bytes, size), in.name)
`endif
