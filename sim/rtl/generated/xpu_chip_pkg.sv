// Made by tools/hwgen from core/chip.def and core/isa.def; do not edit.
package xpu_chip_pkg;
  // Each module uses some of these only.
  /* verilator lint_off UNUSEDPARAM */
  localparam int unsigned COUNTERS = 64;  // counters
  localparam int unsigned QUEUE_DEPTH = 4;  // entries of one core's queue of one engine
  localparam int unsigned DESC_WORDS = 32;  // words of one descriptor
  localparam int unsigned DESC_BYTES = 128;  // bytes of one descriptor; descriptors are aligned to 4 bytes
  localparam int unsigned NO_COUNTER = 255;  // counter number that means: none
  localparam int unsigned MAILBOX_BYTES = 64;  // bytes of one core's mailbox; mailbox i begins at SM + 64 * i
  localparam int unsigned MAX_CORES = 16;  // cores that the memory map has room for
  localparam int unsigned LM_ALIAS_STRIDE = 1048576;  // distance of two cores' LM in the region LM_ALL
  localparam int unsigned WATCHDOG_CYCLES = 1000000;  // reset value of WATCHDOG_LIMIT
  localparam int unsigned WATCHDOG_STRETCH = 64;  // stores to WATCHDOG put a time-out off for at most so many times WATCHDOG_LIMIT
  localparam int unsigned TICKETS = 1024;  // layers that may be announced and not complete
  localparam int unsigned WOVEN_PLANES = 16;  // planes, at most, that a DMA engine weaves to elements side by side, or takes apart
  localparam int unsigned WINDOW_TAPS = 9;  // taps of one output that the window engine multiplies in a cycle, of all its channels
  localparam int unsigned WINDOW_KERNEL = 7;  // rows and columns, at most, of the window engine's kernels
  localparam int unsigned POST_WORDS = 16;  // words of a post-processor parameter block
  localparam int unsigned ABI_VERSION = 5;  // version of everything that this file fixes; part of the ABI hash
  localparam logic [31:0] REGS_BASE = 32'h02000000;  // registers; 32-bit accesses only, by cores only
  localparam logic [31:0] LM_BASE = 32'h10000000;  // local memory of the core that addresses it; not seen by engines
  localparam logic [31:0] LM_ALL_BASE = 32'h11000000;  // local memory of core i at + 0x100000 * i, as engines and other cores see it
  localparam logic [31:0] SM_BASE = 32'h20000000;  // shared memory; its first 64 * 16 bytes are the cores' mailboxes
  localparam logic [31:0] L3_BASE = 32'h40000000;  // L3 memory
  localparam logic [31:0] GM_BASE = 32'h80000000;  // global memory (DRAM)
  localparam logic [15:0] REG_COUNTER = 16'h0000;  // read: the counter's value now; write: adds the written value to it
  localparam logic [15:0] REG_WAIT_VALUE = 16'h0100;  // per core: the value that the next load of WAIT waits for
  localparam logic [15:0] REG_WAIT = 16'h0200;  // a load stalls until (int32)(COUNTER - WAIT_VALUE) >= 0, then returns the counter
  localparam logic [15:0] REG_DOORBELL_ADDRESS = 16'h0300;  // per core, by engine: address of the next descriptor list, in GM, L3, SM or LM (by 0x11000000)
  localparam logic [15:0] REG_DOORBELL_COUNT = 16'h0304;  // queues DOORBELL_ADDRESS and this many descriptors on this core's queue; stalls while it is full
  localparam logic [15:0] REG_DOORBELL_STATUS = 16'h0308;  // lists of this core that are queued or running on the engine
  localparam logic [15:0] REG_BARRIER = 16'h0400;  // a load stalls until every core has loaded it in this round, then returns 0
  localparam logic [15:0] REG_LAYER = 16'h0404;  // per core: (tag << 16) of the layer that the core works on, for profiles
  localparam logic [15:0] REG_TICKET_COUNTER = 16'h0408;  // per core: counter of the next TICKET_LAYER
  localparam logic [15:0] REG_TICKET_VALUE = 16'h040c;  // per core: value of the next TICKET_LAYER
  localparam logic [15:0] REG_TICKET_LAYER = 16'h0410;  // core 0: layer (the written index) is complete when COUNTER[TICKET_COUNTER] reaches TICKET_VALUE
  localparam logic [15:0] REG_WATCHDOG = 16'h0414;  // writing any value puts a time-out off, but not for ever (WATCHDOG_STRETCH)
  localparam logic [15:0] REG_WATCHDOG_LIMIT = 16'h0418;  // cycles without progress until a time-out is reported
  localparam logic [15:0] REG_EXIT = 16'h041c;  // core 0: ends the program with the written status (0: done)
  localparam logic [15:0] REG_ABORT = 16'h0420;  // fault 'software abort' with the written code
  localparam logic [15:0] REG_PUTCHAR = 16'h0424;  // one byte of debug output
  localparam logic [15:0] REG_ABI_HASH = 16'h0428;  // hash of the chip's ABI keys
  localparam logic [15:0] REG_SEED = 16'h042c;  // perturbs grants and stalls, never results
  localparam logic [15:0] REG_HOST_CALL = 16'h0430;  // core 0: address of a request block in GM; stalls until the host has answered
  localparam logic [15:0] REG_CORES = 16'h0440;  // number of cores
  localparam logic [15:0] REG_LM_BYTES = 16'h0444;  // bytes of LM per core
  localparam logic [15:0] REG_SM_BYTES = 16'h0448;  // bytes of SM
  localparam logic [15:0] REG_L3_BYTES = 16'h044c;  // bytes of L3
  localparam logic [15:0] REG_GM_BYTES = 16'h0450;  // bytes of GM
  localparam logic [15:0] REG_ARRAY_ROWS = 16'h0454;  // rows of the MAC array
  localparam logic [15:0] REG_ARRAY_COLUMNS = 16'h0458;  // columns of the MAC array
  localparam logic [15:0] REG_ACC_ROWS = 16'h045c;  // rows of one accumulator bank
  localparam logic [11:0] CSR_FFLAGS = 12'h001;  // accrued float exceptions
  localparam logic [11:0] CSR_FRM = 12'h002;  // float rounding mode
  localparam logic [11:0] CSR_FCSR = 12'h003;  // frm and fflags
  localparam logic [11:0] CSR_VSTART = 12'h008;  // first vector element to work on
  localparam logic [11:0] CSR_VXSAT = 12'h009;  // fixed-point saturation flag
  localparam logic [11:0] CSR_VXRM = 12'h00a;  // fixed-point rounding mode
  localparam logic [11:0] CSR_VCSR = 12'h00f;  // vxrm and vxsat
  localparam logic [11:0] CSR_CYCLE = 12'hc00;  // cycles, low word
  localparam logic [11:0] CSR_TIME = 12'hc01;  // cycles, low word
  localparam logic [11:0] CSR_INSTRET = 12'hc02;  // retired instructions, low word
  localparam logic [11:0] CSR_CYCLEH = 12'hc80;  // cycles, high word
  localparam logic [11:0] CSR_TIMEH = 12'hc81;  // cycles, high word
  localparam logic [11:0] CSR_INSTRETH = 12'hc82;  // retired instructions, high word
  localparam logic [11:0] CSR_VL = 12'hc20;  // vector length
  localparam logic [11:0] CSR_VTYPE = 12'hc21;  // vector type
  localparam logic [11:0] CSR_VLENB = 12'hc22;  // bytes of a vector register: 64
  localparam logic [11:0] CSR_MHARTID = 12'hf14;  // core id
  localparam logic [11:0] CSR_CORE_ID = 12'hfc0;  // core id
  localparam logic [11:0] CSR_CLUSTER_ID = 12'hfc1;  // cluster id
  localparam logic [11:0] CSR_CORE_NUM = 12'hfc2;  // cores per cluster
  localparam int unsigned ENGINE_DMA0 = 0;  // DMA engine; one queue per core, served round robin among queues whose head descriptor's waits hold
  localparam int unsigned ENGINE_DMA1 = 1;  // a second DMA engine, as DMA0
  localparam int unsigned ENGINE_TENSOR = 2;  // tensor engine and its post-processor; core 0's queue only
  localparam int unsigned ENGINE_WINDOW = 3;  // window engine and its post-processor; core 0's queue only; not on chips with window.channels 0
  localparam logic [3:0] TYPE_I8 = 4'd0;
  localparam logic [3:0] TYPE_U8 = 4'd1;
  localparam logic [3:0] TYPE_I16 = 4'd2;
  localparam logic [3:0] TYPE_I32 = 4'd3;
  localparam logic [3:0] TYPE_F32 = 4'd4;
  localparam logic [1:0] SCALE_IMMEDIATE = 2'd0;  // scale_mode: multiply by the field scale
  localparam logic [1:0] SCALE_MEMORY = 2'd1;  // scale_mode: multiply by the float at scale_address, read when the descriptor starts
  localparam logic [1:0] SCALE_ABSMAX = 2'd2;  // scale_mode: the float at scale_address is an absmax; from float multiply by fl(Q/absmax), to float by fl(absmax/Q), where Q is 32767 for int16 and 127 for int8
  localparam logic [1:0] SCALE_DIVISOR = 2'd3;  // scale_mode: float32 to int8 or uint8 as QuantizeLinear, clamp(rne(fl(x / scale)) + zero), all levels of the type
  localparam logic [1:0] OPERANDS_8X8 = 2'd0;  // mode: x and w 8 bits, accumulators 32 bits
  localparam logic [1:0] OPERANDS_16X8 = 2'd1;  // mode: x int16, w int8, accumulators 48 bits
  localparam logic [1:0] OPERANDS_16X16 = 2'd2;  // mode: x and w int16, accumulators 48 bits
  localparam logic [1:0] POST_QUANTISED = 2'd0;  // post_mode: int8 or uint8 out, the roundings of QLinear operators
  localparam logic [1:0] POST_FLOAT = 2'd1;  // post_mode: float32 inside
  localparam logic [1:0] ACT_NONE = 2'd0;  // activation: none (in quantised mode the clamp to lo, hi is always done)
  localparam logic [1:0] ACT_CLIP = 2'd1;  // activation: clip to lo, hi
  localparam logic [1:0] ACT_LEAKY = 2'd2;  // activation: x < 0 gives fl(x * slope)
  localparam logic [1:0] ACT_HARD_SWISH = 2'd3;  // activation: fma(hard_swish(x), ra, f); float mode, float32 out, no branch
  localparam logic [1:0] POST_SCALE = 2'd0;  // op: x - za goes through the post-processor like an accumulator
  localparam logic [1:0] POST_ADD = 2'd1;  // op, quantised mode: clamp(rne(fma(x, ra, fma(branch, rb, f))), lo2, hi2), or in the other order
  localparam logic [1:0] POST_MUL = 2'd2;  // op: quantised clamp(rne(fl(fl((x-za)*(branch-zb))*ra)+zero)), lo2, hi2); float act(fl(v*b))
  localparam logic [1:0] WINDOW_CONVOLUTION = 2'd0;  // op of kind window: depthwise convolution
  localparam logic [1:0] WINDOW_MAX = 2'd1;  // op of kind window: the largest x - x_zero of the taps
  localparam logic [1:0] WINDOW_SUM = 2'd2;  // op of kind window: the sum of x - x_zero over the taps
  localparam logic [7:0] OPCODE_NOP = 8'd1;  // carries waits and a signal, does nothing
  localparam logic [7:0] OPCODE_COPY = 8'd2;  // 4-D strided copy; the types differ: conversion with a scale
  localparam logic [7:0] OPCODE_FILL = 8'd3;  // 4-D strided fill with a constant
  localparam logic [7:0] OPCODE_GATHER = 8'd4;  // a copy in which a list of int32 indices replaces the position in one dimension of the source
  localparam logic [7:0] OPCODE_TENSOR = 8'd8;  // a group of matrix passes over one input tile in SM into one accumulator bank; drains it
  localparam logic [7:0] OPCODE_POST = 8'd9;  // the post-processor alone, fed from memory
  localparam logic [7:0] OPCODE_WINDOW = 8'd10;  // depthwise convolution or pooling of a tile in SM, through a post-processor
  localparam int unsigned POST_PARAM_LO = 0;  // lower clip; int32 in quantised mode, float32 in float mode
  localparam int unsigned POST_PARAM_HI = 1;  // upper clip, as lo
  localparam int unsigned POST_PARAM_SLOPE = 2;  // float mode: factor of a leaky activation
  localparam int unsigned POST_PARAM_RA = 3;  // quantised mode: factor of what the branch is added to; factor of a multiply; float mode: of hard swish, or lower limit of clip_last
  localparam int unsigned POST_PARAM_RB = 4;  // quantised mode: factor of the branch; float mode: upper limit of clip_last
  localparam int unsigned POST_PARAM_F = 5;  // quantised mode: addend of a residual add; float mode: of hard swish
  localparam int unsigned POST_PARAM_ZERO = 6;  // quantised mode: zero point of stage 1 and of a multiply
  localparam int unsigned POST_PARAM_LO2 = 7;  // quantised mode: lower clamp after add and multiply
  localparam int unsigned POST_PARAM_HI2 = 8;  // quantised mode: upper clamp after add and multiply
  localparam int unsigned POST_PARAM_OUT_SCALE = 9;  // float mode: multiplier on the way to an int16 or int8 output
  localparam int unsigned POST_PARAM_BRANCH_SCALE = 10;  // float mode: multiplier of an integer branch
  localparam int unsigned POST_PARAM_X_SCALE = 11;  // scale of x where the descriptor's absmax is 0
  localparam int unsigned POST_PARAM_W_SCALE = 12;  // scale of w for all columns where the descriptor's scale and w_absmax are 0
  localparam int unsigned POST_PARAM_W_ABSMAX = 13;  // address of the absmax of w (w converted at run time): w_scale is fl(absmax/Q); 0: none
  localparam int unsigned POST_PARAM_ZA = 14;  // kind post: zero point of an integer x, subtracted first (not by a quantised add)
  localparam int unsigned POST_PARAM_ZB = 15;  // quantised multiply: zero point of the branch
  localparam logic [4:0] LOST_BUSY = 5'd0;  // the unit does its work
  localparam logic [4:0] LOST_EMPTY = 5'd1;  // nothing is queued
  localparam logic [4:0] LOST_COUNTER = 5'd2;  // the head's wait does not hold
  localparam logic [4:0] LOST_FETCH = 5'd3;  // the next descriptor has not arrived
  localparam logic [4:0] LOST_WEIGHTS = 5'd4;  // the next weights are not in the array
  localparam logic [4:0] LOST_BANK = 5'd5;  // an SM or L3 bank served another unit
  localparam logic [4:0] LOST_GM_LATENCY = 5'd6;  // GM has not answered yet
  localparam logic [4:0] LOST_GM_BANDWIDTH = 5'd7;  // GM is busy with other transfers
  localparam logic [4:0] LOST_POST = 5'd8;  // the drain of the previous bank has not ended
  localparam logic [4:0] LOST_ISSUE = 5'd9;  // the core's front end waited for the vector queue
  localparam logic [4:0] LOST_HAZARD = 5'd10;  // an operand was not ready
  localparam logic [4:0] LOST_ICACHE = 5'd11;  // the instruction cache waited for GM
  localparam logic [4:0] LOST_MEMORY = 5'd12;  // a load or store to GM, L3, SM or a register
  localparam logic [4:0] LOST_BARRIER = 5'd13;  // other cores have not arrived
  localparam logic [4:0] LOST_QUEUE_FULL = 5'd14;  // a doorbell waited for room
  localparam logic [4:0] LOST_HOST = 5'd15;  // the host has not answered
  localparam logic [4:0] LOST_HALTED = 5'd16;  // the core has ended
  localparam logic [4:0] LOST_LINES = 5'd17;  // window engine: the pixels of the next window have not arrived from SM
  localparam logic [3:0] FAULT_NONE = 4'd0;  // no fault
  localparam logic [3:0] FAULT_ILLEGAL = 4'd1;  // the instruction word is not implemented or its operands are not allowed
  localparam logic [3:0] FAULT_ADDRESS = 4'd2;  // no memory or register at this address, or none that this access may use
  localparam logic [3:0] FAULT_FETCH = 4'd3;  // the program counter left the program's memory or is misaligned
  localparam logic [3:0] FAULT_MISALIGNED = 4'd4;  // the address is not a multiple of the element's size
  localparam logic [3:0] FAULT_ABORT = 4'd5;  // the program wrote ABORT, or executed ebreak or ecall
  localparam logic [3:0] FAULT_DESCRIPTOR = 4'd6;  // a field of a descriptor has a value that the engine cannot execute
  localparam logic [3:0] FAULT_ENGINE_ADDRESS = 4'd7;  // a descriptor reaches outside of the memories that its engine may use
  localparam logic [3:0] FAULT_DOORBELL = 4'd8;  // this core has no queue of this engine, or the list is empty
  localparam logic [3:0] FAULT_TIMEOUT = 4'd9;  // no progress for WATCHDOG_LIMIT cycles
  localparam logic [3:0] FAULT_DEADLOCK = 4'd10;  // every core and engine waits for something that nobody will do
  localparam logic [3:0] FAULT_TICKETS = 4'd11;  // more layers are announced and not complete than the host keeps

  // carries waits and a signal, does nothing
  typedef struct packed {
    logic [895:0] reserved0;
    logic [31:0] wait1_value;
    logic [31:0] wait0_value;
    logic [7:0] signal_add;
    logic [7:0] signal;
    logic [7:0] wait1;
    logic [7:0] wait0;
    logic [15:0] layer;
    logic [7:0] reserved1;
    logic [7:0] opcode;
  } desc_nop_t;

  // 4-D strided copy; the types differ: conversion with a scale
  typedef struct packed {
    logic [319:0] reserved0;
    logic [31:0] scale_address;
    logic [31:0] scale;
    logic [31:0] dst_stride3;
    logic [31:0] dst_stride2;
    logic [31:0] dst_stride1;
    logic [31:0] dst_stride0;
    logic [31:0] src_stride3;
    logic [31:0] src_stride2;
    logic [31:0] src_stride1;
    logic [31:0] src_stride0;
    logic [31:0] size3;
    logic [31:0] size2;
    logic [31:0] size1;
    logic [31:0] size0;
    logic [7:0] reserved1;
    logic [7:0] zero;
    logic [5:0] reserved2;
    logic [1:0] scale_mode;
    logic [3:0] dst_type;
    logic [3:0] src_type;
    logic [7:0] reserved3;
    logic [7:0] scale_address_hi;
    logic [7:0] dst_hi;
    logic [7:0] src_hi;
    logic [31:0] dst;
    logic [31:0] src;
    logic [31:0] wait1_value;
    logic [31:0] wait0_value;
    logic [7:0] signal_add;
    logic [7:0] signal;
    logic [7:0] wait1;
    logic [7:0] wait0;
    logic [15:0] layer;
    logic [7:0] reserved4;
    logic [7:0] opcode;
  } desc_copy_t;

  // 4-D strided fill with a constant
  typedef struct packed {
    logic [351:0] reserved0;
    logic [31:0] value;
    logic [31:0] dst_stride3;
    logic [31:0] dst_stride2;
    logic [31:0] dst_stride1;
    logic [31:0] dst_stride0;
    logic [127:0] reserved1;
    logic [31:0] size3;
    logic [31:0] size2;
    logic [31:0] size1;
    logic [31:0] size0;
    logic [23:0] reserved2;
    logic [3:0] dst_type;
    logic [19:0] reserved3;
    logic [7:0] dst_hi;
    logic [7:0] reserved4;
    logic [31:0] dst;
    logic [31:0] reserved5;
    logic [31:0] wait1_value;
    logic [31:0] wait0_value;
    logic [7:0] signal_add;
    logic [7:0] signal;
    logic [7:0] wait1;
    logic [7:0] wait0;
    logic [15:0] layer;
    logic [7:0] reserved6;
    logic [7:0] opcode;
  } desc_fill_t;

  // a copy in which a list of int32 indices replaces the position in one dimension of the source
  typedef struct packed {
    logic [287:0] reserved0;
    logic [31:0] index;
    logic [31:0] scale_address;
    logic [31:0] scale;
    logic [31:0] dst_stride3;
    logic [31:0] dst_stride2;
    logic [31:0] dst_stride1;
    logic [31:0] dst_stride0;
    logic [31:0] src_stride3;
    logic [31:0] src_stride2;
    logic [31:0] src_stride1;
    logic [31:0] src_stride0;
    logic [31:0] size3;
    logic [31:0] size2;
    logic [31:0] size1;
    logic [31:0] size0;
    logic [7:0] reserved1;
    logic [7:0] zero;
    logic [3:0] reserved2;
    logic [1:0] gather_dim;
    logic [1:0] scale_mode;
    logic [3:0] dst_type;
    logic [3:0] src_type;
    logic [7:0] index_hi;
    logic [7:0] scale_address_hi;
    logic [7:0] dst_hi;
    logic [7:0] src_hi;
    logic [31:0] dst;
    logic [31:0] src;
    logic [31:0] wait1_value;
    logic [31:0] wait0_value;
    logic [7:0] signal_add;
    logic [7:0] signal;
    logic [7:0] wait1;
    logic [7:0] wait0;
    logic [15:0] layer;
    logic [7:0] reserved3;
    logic [7:0] opcode;
  } desc_gather_t;

  // a group of matrix passes over one input tile in SM into one accumulator bank; drains it
  typedef struct packed {
    logic [31:0] reserved0;
    logic [3:0] branch_type;
    logic [0:0] reserved1;
    logic [0:0] clip_last;
    logic [0:0] branch_first;
    logic [8:0] w_zero;
    logic [6:0] reserved2;
    logic [8:0] x_zero;
    logic [31:0] branch_pixel_stride;
    logic [31:0] branch_row_stride;
    logic [31:0] y_pixel_stride;
    logic [31:0] y_row_stride;
    logic [15:0] ow;
    logic [15:0] oh;
    logic [15:0] w_row_stride;
    logic [7:0] dilation_w;
    logic [7:0] dilation_h;
    logic [15:0] pad_left;
    logic [15:0] pad_top;
    logic [7:0] stride_w;
    logic [7:0] stride_h;
    logic [7:0] kw;
    logic [7:0] kh;
    logic [31:0] x_pixel_stride;
    logic [31:0] x_row_stride;
    logic [15:0] columns;
    logic [15:0] channels;
    logic [15:0] tile_cols;
    logic [15:0] tile_rows;
    logic [3:0] y_type;
    logic [0:0] w_unsigned;
    logic [0:0] x_unsigned;
    logic [1:0] mode;
    logic [7:0] lookup_hi;
    logic [7:0] absmax_hi;
    logic [7:0] findmax_hi;
    logic [7:0] branch_hi;
    logic [7:0] start_hi;
    logic [7:0] bias_hi;
    logic [7:0] scale_hi;
    logic [7:0] params_hi;
    logic [7:0] y_hi;
    logic [7:0] w_hi;
    logic [7:0] x_hi;
    logic [31:0] lookup;
    logic [31:0] absmax;
    logic [31:0] findmax;
    logic [31:0] branch;
    logic [31:0] start;
    logic [31:0] bias;
    logic [31:0] scale;
    logic [31:0] params;
    logic [31:0] y;
    logic [31:0] w;
    logic [31:0] x;
    logic [31:0] wait1_value;
    logic [31:0] wait0_value;
    logic [7:0] signal_add;
    logic [7:0] signal;
    logic [7:0] wait1;
    logic [7:0] wait0;
    logic [15:0] layer;
    logic [0:0] act_after;
    logic [1:0] activation;
    logic [0:0] post_mode;
    logic [1:0] bank;
    logic [0:0] drain;
    logic [0:0] accumulate;
    logic [7:0] opcode;
  } desc_tensor_t;

  // the post-processor alone, fed from memory
  typedef struct packed {
    logic [31:0] reserved0;
    logic [3:0] branch_type;
    logic [0:0] reserved1;
    logic [0:0] clip_last;
    logic [0:0] branch_first;
    logic [2:0] reserved2;
    logic [1:0] op;
    logic [3:0] x_type;
    logic [15:0] reserved3;
    logic [31:0] branch_pixel_stride;
    logic [31:0] branch_row_stride;
    logic [31:0] y_pixel_stride;
    logic [31:0] y_row_stride;
    logic [15:0] ow;
    logic [15:0] oh;
    logic [95:0] reserved4;
    logic [31:0] x_pixel_stride;
    logic [31:0] x_row_stride;
    logic [15:0] columns;
    logic [47:0] reserved5;
    logic [3:0] y_type;
    logic [3:0] reserved6;
    logic [7:0] lookup_hi;
    logic [7:0] absmax_hi;
    logic [7:0] findmax_hi;
    logic [7:0] branch_hi;
    logic [7:0] reserved7;
    logic [7:0] bias_hi;
    logic [7:0] scale_hi;
    logic [7:0] params_hi;
    logic [7:0] y_hi;
    logic [7:0] reserved8;
    logic [7:0] x_hi;
    logic [31:0] lookup;
    logic [31:0] absmax;
    logic [31:0] findmax;
    logic [31:0] branch;
    logic [31:0] reserved9;
    logic [31:0] bias;
    logic [31:0] scale;
    logic [31:0] params;
    logic [31:0] y;
    logic [31:0] reserved10;
    logic [31:0] x;
    logic [31:0] wait1_value;
    logic [31:0] wait0_value;
    logic [7:0] signal_add;
    logic [7:0] signal;
    logic [7:0] wait1;
    logic [7:0] wait0;
    logic [15:0] layer;
    logic [0:0] act_after;
    logic [1:0] activation;
    logic [0:0] post_mode;
    logic [3:0] reserved11;
    logic [7:0] opcode;
  } desc_post_t;

  // depthwise convolution or pooling of a tile in SM, through a post-processor
  typedef struct packed {
    logic [15:0] reserved0;
    logic [15:0] x_ring_first;
    logic [3:0] branch_type;
    logic [0:0] reserved1;
    logic [0:0] clip_last;
    logic [0:0] branch_first;
    logic [8:0] w_zero;
    logic [5:0] reserved2;
    logic [0:0] whole;
    logic [8:0] x_zero;
    logic [31:0] branch_pixel_stride;
    logic [31:0] branch_row_stride;
    logic [31:0] y_pixel_stride;
    logic [31:0] y_row_stride;
    logic [15:0] ow;
    logic [15:0] oh;
    logic [15:0] w_row_stride;
    logic [7:0] dilation_w;
    logic [7:0] dilation_h;
    logic [15:0] pad_left;
    logic [15:0] pad_top;
    logic [7:0] stride_w;
    logic [7:0] stride_h;
    logic [7:0] kw;
    logic [7:0] kh;
    logic [31:0] x_pixel_stride;
    logic [31:0] x_row_stride;
    logic [15:0] columns;
    logic [15:0] x_ring_rows;
    logic [15:0] tile_cols;
    logic [15:0] tile_rows;
    logic [3:0] y_type;
    logic [0:0] w_unsigned;
    logic [0:0] x_unsigned;
    logic [1:0] mode;
    logic [7:0] lookup_hi;
    logic [7:0] absmax_hi;
    logic [7:0] findmax_hi;
    logic [7:0] branch_hi;
    logic [7:0] start_hi;
    logic [7:0] bias_hi;
    logic [7:0] scale_hi;
    logic [7:0] params_hi;
    logic [7:0] y_hi;
    logic [7:0] w_hi;
    logic [7:0] x_hi;
    logic [31:0] lookup;
    logic [31:0] absmax;
    logic [31:0] findmax;
    logic [31:0] branch;
    logic [31:0] start;
    logic [31:0] bias;
    logic [31:0] scale;
    logic [31:0] params;
    logic [31:0] y;
    logic [31:0] w;
    logic [31:0] x;
    logic [31:0] wait1_value;
    logic [31:0] wait0_value;
    logic [7:0] signal_add;
    logic [7:0] signal;
    logic [7:0] wait1;
    logic [7:0] wait0;
    logic [15:0] layer;
    logic [0:0] act_after;
    logic [1:0] activation;
    logic [0:0] post_mode;
    logic [1:0] op;
    logic [0:0] drain;
    logic [0:0] accumulate;
    logic [7:0] opcode;
  } desc_window_t;

  // Instructions: a word is the first one for which (word & MASK) == MATCH.
  localparam logic [6:0] CLASS_ALU = 7'd0;  // integer
  localparam logic [6:0] CLASS_MULTIPLY = 7'd1;  // integer multiplication
  localparam logic [6:0] CLASS_DIVIDE = 7'd2;  // integer division
  localparam logic [6:0] CLASS_BRANCH = 7'd3;  // branch
  localparam logic [6:0] CLASS_JUMP = 7'd4;  // jump
  localparam logic [6:0] CLASS_LOAD = 7'd5;  // load
  localparam logic [6:0] CLASS_STORE = 7'd6;  // store
  localparam logic [6:0] CLASS_FENCE = 7'd7;  // fence
  localparam logic [6:0] CLASS_SYSTEM = 7'd8;  // system
  localparam logic [6:0] CLASS_CSR = 7'd9;  // control and status registers
  localparam logic [6:0] CLASS_FP = 7'd10;  // float32 addition, multiplication
  localparam logic [6:0] CLASS_FP_DIVIDE = 7'd11;  // float32 division, square root
  localparam logic [6:0] CLASS_FP_MOVE = 7'd12;  // float32 moves, signs, class
  localparam logic [6:0] CLASS_FP_COMPARE = 7'd13;  // float32 comparison
  localparam logic [6:0] CLASS_FP_CONVERT = 7'd14;  // float32 conversion
  localparam logic [6:0] CLASS_VCONFIG = 7'd15;  // vector configuration
  localparam logic [6:0] CLASS_VLOAD_UNIT = 7'd16;  // vector load, unit stride
  localparam logic [6:0] CLASS_VLOAD_FIRST = 7'd17;  // vector load, fault only first
  localparam logic [6:0] CLASS_VLOAD_MASK = 7'd18;  // vector load of a mask
  localparam logic [6:0] CLASS_VLOAD_STRIDED = 7'd19;  // vector load, strided
  localparam logic [6:0] CLASS_VLOAD_INDEXED = 7'd20;  // vector load, indexed
  localparam logic [6:0] CLASS_VLOAD_WHOLE = 7'd21;  // load of whole registers
  localparam logic [6:0] CLASS_VSTORE_UNIT = 7'd22;  // vector store, unit stride
  localparam logic [6:0] CLASS_VSTORE_MASK = 7'd23;  // vector store of a mask
  localparam logic [6:0] CLASS_VSTORE_STRIDED = 7'd24;  // vector store, strided
  localparam logic [6:0] CLASS_VSTORE_INDEXED = 7'd25;  // vector store, indexed
  localparam logic [6:0] CLASS_VSTORE_WHOLE = 7'd26;  // store of whole registers
  localparam logic [6:0] CLASS_VINT = 7'd27;  // vector integer
  localparam logic [6:0] CLASS_VINT_CARRY = 7'd28;  // vector integer with v0 as operand
  localparam logic [6:0] CLASS_VINT_MULTIPLY = 7'd29;  // vector multiplication
  localparam logic [6:0] CLASS_VINT_DIVIDE = 7'd30;  // vector division
  localparam logic [6:0] CLASS_VCARRY_OUT = 7'd31;  // vector carry into a mask
  localparam logic [6:0] CLASS_VCOMPARE = 7'd32;  // vector comparison into a mask
  localparam logic [6:0] CLASS_VEXTEND2 = 7'd33;  // extension of half-width elements
  localparam logic [6:0] CLASS_VEXTEND4 = 7'd34;  // extension of quarter-width elements
  localparam logic [6:0] CLASS_VWIDEN = 7'd35;  // widening: 2*SEW = SEW op SEW
  localparam logic [6:0] CLASS_VWIDEN_W = 7'd36;  // widening: 2*SEW = 2*SEW op SEW
  localparam logic [6:0] CLASS_VNARROW = 7'd37;  // narrowing: SEW = 2*SEW op SEW
  localparam logic [6:0] CLASS_VFIX = 7'd38;  // fixed point
  localparam logic [6:0] CLASS_VFIX_NARROW = 7'd39;  // fixed point, narrowing
  localparam logic [6:0] CLASS_VREDUCE = 7'd40;  // reduction
  localparam logic [6:0] CLASS_VREDUCE_WIDEN = 7'd41;  // widening reduction
  localparam logic [6:0] CLASS_VFP = 7'd42;  // vector float32
  localparam logic [6:0] CLASS_VFP_DIVIDE = 7'd43;  // vector float32 division, square root
  localparam logic [6:0] CLASS_VFP_MOVE = 7'd44;  // vector float32 without rounding
  localparam logic [6:0] CLASS_VFP_MERGE = 7'd45;  // vector float32 with v0 as operand
  localparam logic [6:0] CLASS_VFP_COMPARE = 7'd46;  // vector float32 comparison into a mask
  localparam logic [6:0] CLASS_VFP_CONVERT = 7'd47;  // vector conversion
  localparam logic [6:0] CLASS_VFP_WIDEN = 7'd48;  // vector conversion, int16 to float32
  localparam logic [6:0] CLASS_VFP_NARROW = 7'd49;  // vector conversion, float32 to int16
  localparam logic [6:0] CLASS_VFP_REDUCE = 7'd50;  // vector float32 reduction
  localparam logic [6:0] CLASS_VMASK = 7'd51;  // mask logic
  localparam logic [6:0] CLASS_VMASK_COUNT = 7'd52;  // mask to an integer register
  localparam logic [6:0] CLASS_VMASK_SET = 7'd53;  // mask from the first set bit
  localparam logic [6:0] CLASS_VIOTA = 7'd54;  // prefix sum of a mask
  localparam logic [6:0] CLASS_VID = 7'd55;  // element index
  localparam logic [6:0] CLASS_VMOVE_SCALAR = 7'd56;  // move of element 0
  localparam logic [6:0] CLASS_VMOVE_SCALAR_FP = 7'd57;  // move of element 0, float32
  localparam logic [6:0] CLASS_VMOVE_WHOLE = 7'd58;  // move of whole registers
  localparam logic [6:0] CLASS_VSLIDE_UP = 7'd59;  // slide up
  localparam logic [6:0] CLASS_VSLIDE_DOWN = 7'd60;  // slide down
  localparam logic [6:0] CLASS_VSLIDE_UP_FP = 7'd61;  // slide up by one, float32
  localparam logic [6:0] CLASS_VSLIDE_DOWN_FP = 7'd62;  // slide down by one, float32
  localparam logic [6:0] CLASS_VGATHER = 7'd63;  // gather
  localparam logic [6:0] CLASS_VGATHER16 = 7'd64;  // gather with 16-bit indices
  localparam logic [6:0] CLASS_VCOMPRESS = 7'd65;  // compress
  localparam logic [31:0] INSN_LUI_MASK = 32'h0000007f;  // lui
  localparam logic [31:0] INSN_LUI_MATCH = 32'h00000037;
  localparam logic [6:0] INSN_LUI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_AUIPC_MASK = 32'h0000007f;  // auipc
  localparam logic [31:0] INSN_AUIPC_MATCH = 32'h00000017;
  localparam logic [6:0] INSN_AUIPC_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_JAL_MASK = 32'h0000007f;  // jal
  localparam logic [31:0] INSN_JAL_MATCH = 32'h0000006f;
  localparam logic [6:0] INSN_JAL_CLASS = CLASS_JUMP;
  localparam logic [31:0] INSN_JALR_MASK = 32'h0000707f;  // jalr
  localparam logic [31:0] INSN_JALR_MATCH = 32'h00000067;
  localparam logic [6:0] INSN_JALR_CLASS = CLASS_JUMP;
  localparam logic [31:0] INSN_BEQ_MASK = 32'h0000707f;  // beq
  localparam logic [31:0] INSN_BEQ_MATCH = 32'h00000063;
  localparam logic [6:0] INSN_BEQ_CLASS = CLASS_BRANCH;
  localparam logic [31:0] INSN_BNE_MASK = 32'h0000707f;  // bne
  localparam logic [31:0] INSN_BNE_MATCH = 32'h00001063;
  localparam logic [6:0] INSN_BNE_CLASS = CLASS_BRANCH;
  localparam logic [31:0] INSN_BLT_MASK = 32'h0000707f;  // blt
  localparam logic [31:0] INSN_BLT_MATCH = 32'h00004063;
  localparam logic [6:0] INSN_BLT_CLASS = CLASS_BRANCH;
  localparam logic [31:0] INSN_BGE_MASK = 32'h0000707f;  // bge
  localparam logic [31:0] INSN_BGE_MATCH = 32'h00005063;
  localparam logic [6:0] INSN_BGE_CLASS = CLASS_BRANCH;
  localparam logic [31:0] INSN_BLTU_MASK = 32'h0000707f;  // bltu
  localparam logic [31:0] INSN_BLTU_MATCH = 32'h00006063;
  localparam logic [6:0] INSN_BLTU_CLASS = CLASS_BRANCH;
  localparam logic [31:0] INSN_BGEU_MASK = 32'h0000707f;  // bgeu
  localparam logic [31:0] INSN_BGEU_MATCH = 32'h00007063;
  localparam logic [6:0] INSN_BGEU_CLASS = CLASS_BRANCH;
  localparam logic [31:0] INSN_LB_MASK = 32'h0000707f;  // lb
  localparam logic [31:0] INSN_LB_MATCH = 32'h00000003;
  localparam logic [6:0] INSN_LB_CLASS = CLASS_LOAD;
  localparam logic [31:0] INSN_LH_MASK = 32'h0000707f;  // lh
  localparam logic [31:0] INSN_LH_MATCH = 32'h00001003;
  localparam logic [6:0] INSN_LH_CLASS = CLASS_LOAD;
  localparam logic [31:0] INSN_LW_MASK = 32'h0000707f;  // lw
  localparam logic [31:0] INSN_LW_MATCH = 32'h00002003;
  localparam logic [6:0] INSN_LW_CLASS = CLASS_LOAD;
  localparam logic [31:0] INSN_LBU_MASK = 32'h0000707f;  // lbu
  localparam logic [31:0] INSN_LBU_MATCH = 32'h00004003;
  localparam logic [6:0] INSN_LBU_CLASS = CLASS_LOAD;
  localparam logic [31:0] INSN_LHU_MASK = 32'h0000707f;  // lhu
  localparam logic [31:0] INSN_LHU_MATCH = 32'h00005003;
  localparam logic [6:0] INSN_LHU_CLASS = CLASS_LOAD;
  localparam logic [31:0] INSN_SB_MASK = 32'h0000707f;  // sb
  localparam logic [31:0] INSN_SB_MATCH = 32'h00000023;
  localparam logic [6:0] INSN_SB_CLASS = CLASS_STORE;
  localparam logic [31:0] INSN_SH_MASK = 32'h0000707f;  // sh
  localparam logic [31:0] INSN_SH_MATCH = 32'h00001023;
  localparam logic [6:0] INSN_SH_CLASS = CLASS_STORE;
  localparam logic [31:0] INSN_SW_MASK = 32'h0000707f;  // sw
  localparam logic [31:0] INSN_SW_MATCH = 32'h00002023;
  localparam logic [6:0] INSN_SW_CLASS = CLASS_STORE;
  localparam logic [31:0] INSN_ADDI_MASK = 32'h0000707f;  // addi
  localparam logic [31:0] INSN_ADDI_MATCH = 32'h00000013;
  localparam logic [6:0] INSN_ADDI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SLTI_MASK = 32'h0000707f;  // slti
  localparam logic [31:0] INSN_SLTI_MATCH = 32'h00002013;
  localparam logic [6:0] INSN_SLTI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SLTIU_MASK = 32'h0000707f;  // sltiu
  localparam logic [31:0] INSN_SLTIU_MATCH = 32'h00003013;
  localparam logic [6:0] INSN_SLTIU_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_XORI_MASK = 32'h0000707f;  // xori
  localparam logic [31:0] INSN_XORI_MATCH = 32'h00004013;
  localparam logic [6:0] INSN_XORI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_ORI_MASK = 32'h0000707f;  // ori
  localparam logic [31:0] INSN_ORI_MATCH = 32'h00006013;
  localparam logic [6:0] INSN_ORI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_ANDI_MASK = 32'h0000707f;  // andi
  localparam logic [31:0] INSN_ANDI_MATCH = 32'h00007013;
  localparam logic [6:0] INSN_ANDI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SLLI_MASK = 32'hfe00707f;  // slli
  localparam logic [31:0] INSN_SLLI_MATCH = 32'h00001013;
  localparam logic [6:0] INSN_SLLI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SRLI_MASK = 32'hfe00707f;  // srli
  localparam logic [31:0] INSN_SRLI_MATCH = 32'h00005013;
  localparam logic [6:0] INSN_SRLI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SRAI_MASK = 32'hfe00707f;  // srai
  localparam logic [31:0] INSN_SRAI_MATCH = 32'h40005013;
  localparam logic [6:0] INSN_SRAI_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_ADD_MASK = 32'hfe00707f;  // add
  localparam logic [31:0] INSN_ADD_MATCH = 32'h00000033;
  localparam logic [6:0] INSN_ADD_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SUB_MASK = 32'hfe00707f;  // sub
  localparam logic [31:0] INSN_SUB_MATCH = 32'h40000033;
  localparam logic [6:0] INSN_SUB_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SLL_MASK = 32'hfe00707f;  // sll
  localparam logic [31:0] INSN_SLL_MATCH = 32'h00001033;
  localparam logic [6:0] INSN_SLL_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SLT_MASK = 32'hfe00707f;  // slt
  localparam logic [31:0] INSN_SLT_MATCH = 32'h00002033;
  localparam logic [6:0] INSN_SLT_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SLTU_MASK = 32'hfe00707f;  // sltu
  localparam logic [31:0] INSN_SLTU_MATCH = 32'h00003033;
  localparam logic [6:0] INSN_SLTU_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_XOR_MASK = 32'hfe00707f;  // xor
  localparam logic [31:0] INSN_XOR_MATCH = 32'h00004033;
  localparam logic [6:0] INSN_XOR_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SRL_MASK = 32'hfe00707f;  // srl
  localparam logic [31:0] INSN_SRL_MATCH = 32'h00005033;
  localparam logic [6:0] INSN_SRL_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_SRA_MASK = 32'hfe00707f;  // sra
  localparam logic [31:0] INSN_SRA_MATCH = 32'h40005033;
  localparam logic [6:0] INSN_SRA_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_OR_MASK = 32'hfe00707f;  // or
  localparam logic [31:0] INSN_OR_MATCH = 32'h00006033;
  localparam logic [6:0] INSN_OR_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_AND_MASK = 32'hfe00707f;  // and
  localparam logic [31:0] INSN_AND_MATCH = 32'h00007033;
  localparam logic [6:0] INSN_AND_CLASS = CLASS_ALU;
  localparam logic [31:0] INSN_FENCE_MASK = 32'h0000707f;  // fence
  localparam logic [31:0] INSN_FENCE_MATCH = 32'h0000000f;
  localparam logic [6:0] INSN_FENCE_CLASS = CLASS_FENCE;
  localparam logic [31:0] INSN_FENCE_I_MASK = 32'h0000707f;  // fence.i
  localparam logic [31:0] INSN_FENCE_I_MATCH = 32'h0000100f;
  localparam logic [6:0] INSN_FENCE_I_CLASS = CLASS_FENCE;
  localparam logic [31:0] INSN_ECALL_MASK = 32'hffffffff;  // ecall
  localparam logic [31:0] INSN_ECALL_MATCH = 32'h00000073;
  localparam logic [6:0] INSN_ECALL_CLASS = CLASS_SYSTEM;
  localparam logic [31:0] INSN_EBREAK_MASK = 32'hffffffff;  // ebreak
  localparam logic [31:0] INSN_EBREAK_MATCH = 32'h00100073;
  localparam logic [6:0] INSN_EBREAK_CLASS = CLASS_SYSTEM;
  localparam logic [31:0] INSN_WFI_MASK = 32'hffffffff;  // wfi
  localparam logic [31:0] INSN_WFI_MATCH = 32'h10500073;
  localparam logic [6:0] INSN_WFI_CLASS = CLASS_SYSTEM;
  localparam logic [31:0] INSN_CSRRW_MASK = 32'h0000707f;  // csrrw
  localparam logic [31:0] INSN_CSRRW_MATCH = 32'h00001073;
  localparam logic [6:0] INSN_CSRRW_CLASS = CLASS_CSR;
  localparam logic [31:0] INSN_CSRRS_MASK = 32'h0000707f;  // csrrs
  localparam logic [31:0] INSN_CSRRS_MATCH = 32'h00002073;
  localparam logic [6:0] INSN_CSRRS_CLASS = CLASS_CSR;
  localparam logic [31:0] INSN_CSRRC_MASK = 32'h0000707f;  // csrrc
  localparam logic [31:0] INSN_CSRRC_MATCH = 32'h00003073;
  localparam logic [6:0] INSN_CSRRC_CLASS = CLASS_CSR;
  localparam logic [31:0] INSN_CSRRWI_MASK = 32'h0000707f;  // csrrwi
  localparam logic [31:0] INSN_CSRRWI_MATCH = 32'h00005073;
  localparam logic [6:0] INSN_CSRRWI_CLASS = CLASS_CSR;
  localparam logic [31:0] INSN_CSRRSI_MASK = 32'h0000707f;  // csrrsi
  localparam logic [31:0] INSN_CSRRSI_MATCH = 32'h00006073;
  localparam logic [6:0] INSN_CSRRSI_CLASS = CLASS_CSR;
  localparam logic [31:0] INSN_CSRRCI_MASK = 32'h0000707f;  // csrrci
  localparam logic [31:0] INSN_CSRRCI_MATCH = 32'h00007073;
  localparam logic [6:0] INSN_CSRRCI_CLASS = CLASS_CSR;
  localparam logic [31:0] INSN_MUL_MASK = 32'hfe00707f;  // mul
  localparam logic [31:0] INSN_MUL_MATCH = 32'h02000033;
  localparam logic [6:0] INSN_MUL_CLASS = CLASS_MULTIPLY;
  localparam logic [31:0] INSN_MULH_MASK = 32'hfe00707f;  // mulh
  localparam logic [31:0] INSN_MULH_MATCH = 32'h02001033;
  localparam logic [6:0] INSN_MULH_CLASS = CLASS_MULTIPLY;
  localparam logic [31:0] INSN_MULHSU_MASK = 32'hfe00707f;  // mulhsu
  localparam logic [31:0] INSN_MULHSU_MATCH = 32'h02002033;
  localparam logic [6:0] INSN_MULHSU_CLASS = CLASS_MULTIPLY;
  localparam logic [31:0] INSN_MULHU_MASK = 32'hfe00707f;  // mulhu
  localparam logic [31:0] INSN_MULHU_MATCH = 32'h02003033;
  localparam logic [6:0] INSN_MULHU_CLASS = CLASS_MULTIPLY;
  localparam logic [31:0] INSN_DIV_MASK = 32'hfe00707f;  // div
  localparam logic [31:0] INSN_DIV_MATCH = 32'h02004033;
  localparam logic [6:0] INSN_DIV_CLASS = CLASS_DIVIDE;
  localparam logic [31:0] INSN_DIVU_MASK = 32'hfe00707f;  // divu
  localparam logic [31:0] INSN_DIVU_MATCH = 32'h02005033;
  localparam logic [6:0] INSN_DIVU_CLASS = CLASS_DIVIDE;
  localparam logic [31:0] INSN_REM_MASK = 32'hfe00707f;  // rem
  localparam logic [31:0] INSN_REM_MATCH = 32'h02006033;
  localparam logic [6:0] INSN_REM_CLASS = CLASS_DIVIDE;
  localparam logic [31:0] INSN_REMU_MASK = 32'hfe00707f;  // remu
  localparam logic [31:0] INSN_REMU_MATCH = 32'h02007033;
  localparam logic [6:0] INSN_REMU_CLASS = CLASS_DIVIDE;
  localparam logic [31:0] INSN_FLW_MASK = 32'h0000707f;  // flw
  localparam logic [31:0] INSN_FLW_MATCH = 32'h00002007;
  localparam logic [6:0] INSN_FLW_CLASS = CLASS_LOAD;
  localparam logic [31:0] INSN_FSW_MASK = 32'h0000707f;  // fsw
  localparam logic [31:0] INSN_FSW_MATCH = 32'h00002027;
  localparam logic [6:0] INSN_FSW_CLASS = CLASS_STORE;
  localparam logic [31:0] INSN_FMADD_S_MASK = 32'h0600007f;  // fmadd.s
  localparam logic [31:0] INSN_FMADD_S_MATCH = 32'h00000043;
  localparam logic [6:0] INSN_FMADD_S_CLASS = CLASS_FP;
  localparam logic [31:0] INSN_FMSUB_S_MASK = 32'h0600007f;  // fmsub.s
  localparam logic [31:0] INSN_FMSUB_S_MATCH = 32'h00000047;
  localparam logic [6:0] INSN_FMSUB_S_CLASS = CLASS_FP;
  localparam logic [31:0] INSN_FNMSUB_S_MASK = 32'h0600007f;  // fnmsub.s
  localparam logic [31:0] INSN_FNMSUB_S_MATCH = 32'h0000004b;
  localparam logic [6:0] INSN_FNMSUB_S_CLASS = CLASS_FP;
  localparam logic [31:0] INSN_FNMADD_S_MASK = 32'h0600007f;  // fnmadd.s
  localparam logic [31:0] INSN_FNMADD_S_MATCH = 32'h0000004f;
  localparam logic [6:0] INSN_FNMADD_S_CLASS = CLASS_FP;
  localparam logic [31:0] INSN_FADD_S_MASK = 32'hfe00007f;  // fadd.s
  localparam logic [31:0] INSN_FADD_S_MATCH = 32'h00000053;
  localparam logic [6:0] INSN_FADD_S_CLASS = CLASS_FP;
  localparam logic [31:0] INSN_FSUB_S_MASK = 32'hfe00007f;  // fsub.s
  localparam logic [31:0] INSN_FSUB_S_MATCH = 32'h08000053;
  localparam logic [6:0] INSN_FSUB_S_CLASS = CLASS_FP;
  localparam logic [31:0] INSN_FMUL_S_MASK = 32'hfe00007f;  // fmul.s
  localparam logic [31:0] INSN_FMUL_S_MATCH = 32'h10000053;
  localparam logic [6:0] INSN_FMUL_S_CLASS = CLASS_FP;
  localparam logic [31:0] INSN_FDIV_S_MASK = 32'hfe00007f;  // fdiv.s
  localparam logic [31:0] INSN_FDIV_S_MATCH = 32'h18000053;
  localparam logic [6:0] INSN_FDIV_S_CLASS = CLASS_FP_DIVIDE;
  localparam logic [31:0] INSN_FSQRT_S_MASK = 32'hfff0007f;  // fsqrt.s
  localparam logic [31:0] INSN_FSQRT_S_MATCH = 32'h58000053;
  localparam logic [6:0] INSN_FSQRT_S_CLASS = CLASS_FP_DIVIDE;
  localparam logic [31:0] INSN_FSGNJ_S_MASK = 32'hfe00707f;  // fsgnj.s
  localparam logic [31:0] INSN_FSGNJ_S_MATCH = 32'h20000053;
  localparam logic [6:0] INSN_FSGNJ_S_CLASS = CLASS_FP_MOVE;
  localparam logic [31:0] INSN_FSGNJN_S_MASK = 32'hfe00707f;  // fsgnjn.s
  localparam logic [31:0] INSN_FSGNJN_S_MATCH = 32'h20001053;
  localparam logic [6:0] INSN_FSGNJN_S_CLASS = CLASS_FP_MOVE;
  localparam logic [31:0] INSN_FSGNJX_S_MASK = 32'hfe00707f;  // fsgnjx.s
  localparam logic [31:0] INSN_FSGNJX_S_MATCH = 32'h20002053;
  localparam logic [6:0] INSN_FSGNJX_S_CLASS = CLASS_FP_MOVE;
  localparam logic [31:0] INSN_FMIN_S_MASK = 32'hfe00707f;  // fmin.s
  localparam logic [31:0] INSN_FMIN_S_MATCH = 32'h28000053;
  localparam logic [6:0] INSN_FMIN_S_CLASS = CLASS_FP_COMPARE;
  localparam logic [31:0] INSN_FMAX_S_MASK = 32'hfe00707f;  // fmax.s
  localparam logic [31:0] INSN_FMAX_S_MATCH = 32'h28001053;
  localparam logic [6:0] INSN_FMAX_S_CLASS = CLASS_FP_COMPARE;
  localparam logic [31:0] INSN_FCVT_W_S_MASK = 32'hfff0007f;  // fcvt.w.s
  localparam logic [31:0] INSN_FCVT_W_S_MATCH = 32'hc0000053;
  localparam logic [6:0] INSN_FCVT_W_S_CLASS = CLASS_FP_CONVERT;
  localparam logic [31:0] INSN_FCVT_WU_S_MASK = 32'hfff0007f;  // fcvt.wu.s
  localparam logic [31:0] INSN_FCVT_WU_S_MATCH = 32'hc0100053;
  localparam logic [6:0] INSN_FCVT_WU_S_CLASS = CLASS_FP_CONVERT;
  localparam logic [31:0] INSN_FMV_X_W_MASK = 32'hfff0707f;  // fmv.x.w
  localparam logic [31:0] INSN_FMV_X_W_MATCH = 32'he0000053;
  localparam logic [6:0] INSN_FMV_X_W_CLASS = CLASS_FP_MOVE;
  localparam logic [31:0] INSN_FCLASS_S_MASK = 32'hfff0707f;  // fclass.s
  localparam logic [31:0] INSN_FCLASS_S_MATCH = 32'he0001053;
  localparam logic [6:0] INSN_FCLASS_S_CLASS = CLASS_FP_MOVE;
  localparam logic [31:0] INSN_FEQ_S_MASK = 32'hfe00707f;  // feq.s
  localparam logic [31:0] INSN_FEQ_S_MATCH = 32'ha0002053;
  localparam logic [6:0] INSN_FEQ_S_CLASS = CLASS_FP_COMPARE;
  localparam logic [31:0] INSN_FLT_S_MASK = 32'hfe00707f;  // flt.s
  localparam logic [31:0] INSN_FLT_S_MATCH = 32'ha0001053;
  localparam logic [6:0] INSN_FLT_S_CLASS = CLASS_FP_COMPARE;
  localparam logic [31:0] INSN_FLE_S_MASK = 32'hfe00707f;  // fle.s
  localparam logic [31:0] INSN_FLE_S_MATCH = 32'ha0000053;
  localparam logic [6:0] INSN_FLE_S_CLASS = CLASS_FP_COMPARE;
  localparam logic [31:0] INSN_FCVT_S_W_MASK = 32'hfff0007f;  // fcvt.s.w
  localparam logic [31:0] INSN_FCVT_S_W_MATCH = 32'hd0000053;
  localparam logic [6:0] INSN_FCVT_S_W_CLASS = CLASS_FP_CONVERT;
  localparam logic [31:0] INSN_FCVT_S_WU_MASK = 32'hfff0007f;  // fcvt.s.wu
  localparam logic [31:0] INSN_FCVT_S_WU_MATCH = 32'hd0100053;
  localparam logic [6:0] INSN_FCVT_S_WU_CLASS = CLASS_FP_CONVERT;
  localparam logic [31:0] INSN_FMV_W_X_MASK = 32'hfff0707f;  // fmv.w.x
  localparam logic [31:0] INSN_FMV_W_X_MATCH = 32'hf0000053;
  localparam logic [6:0] INSN_FMV_W_X_CLASS = CLASS_FP_MOVE;
  localparam logic [31:0] INSN_VSETVLI_MASK = 32'h8000707f;  // vsetvli
  localparam logic [31:0] INSN_VSETVLI_MATCH = 32'h00007057;
  localparam logic [6:0] INSN_VSETVLI_CLASS = CLASS_VCONFIG;
  localparam logic [31:0] INSN_VSETIVLI_MASK = 32'hc000707f;  // vsetivli
  localparam logic [31:0] INSN_VSETIVLI_MATCH = 32'hc0007057;
  localparam logic [6:0] INSN_VSETIVLI_CLASS = CLASS_VCONFIG;
  localparam logic [31:0] INSN_VSETVL_MASK = 32'hfe00707f;  // vsetvl
  localparam logic [31:0] INSN_VSETVL_MATCH = 32'h80007057;
  localparam logic [6:0] INSN_VSETVL_CLASS = CLASS_VCONFIG;
  localparam logic [31:0] INSN_VLE8_V_MASK = 32'hfdf0707f;  // vle8.v
  localparam logic [31:0] INSN_VLE8_V_MATCH = 32'h00000007;
  localparam logic [6:0] INSN_VLE8_V_CLASS = CLASS_VLOAD_UNIT;
  localparam logic [31:0] INSN_VLE16_V_MASK = 32'hfdf0707f;  // vle16.v
  localparam logic [31:0] INSN_VLE16_V_MATCH = 32'h00005007;
  localparam logic [6:0] INSN_VLE16_V_CLASS = CLASS_VLOAD_UNIT;
  localparam logic [31:0] INSN_VLE32_V_MASK = 32'hfdf0707f;  // vle32.v
  localparam logic [31:0] INSN_VLE32_V_MATCH = 32'h00006007;
  localparam logic [6:0] INSN_VLE32_V_CLASS = CLASS_VLOAD_UNIT;
  localparam logic [31:0] INSN_VLE8FF_V_MASK = 32'hfdf0707f;  // vle8ff.v
  localparam logic [31:0] INSN_VLE8FF_V_MATCH = 32'h01000007;
  localparam logic [6:0] INSN_VLE8FF_V_CLASS = CLASS_VLOAD_FIRST;
  localparam logic [31:0] INSN_VLE16FF_V_MASK = 32'hfdf0707f;  // vle16ff.v
  localparam logic [31:0] INSN_VLE16FF_V_MATCH = 32'h01005007;
  localparam logic [6:0] INSN_VLE16FF_V_CLASS = CLASS_VLOAD_FIRST;
  localparam logic [31:0] INSN_VLE32FF_V_MASK = 32'hfdf0707f;  // vle32ff.v
  localparam logic [31:0] INSN_VLE32FF_V_MATCH = 32'h01006007;
  localparam logic [6:0] INSN_VLE32FF_V_CLASS = CLASS_VLOAD_FIRST;
  localparam logic [31:0] INSN_VLM_V_MASK = 32'hfff0707f;  // vlm.v
  localparam logic [31:0] INSN_VLM_V_MATCH = 32'h02b00007;
  localparam logic [6:0] INSN_VLM_V_CLASS = CLASS_VLOAD_MASK;
  localparam logic [31:0] INSN_VLSE8_V_MASK = 32'hfc00707f;  // vlse8.v
  localparam logic [31:0] INSN_VLSE8_V_MATCH = 32'h08000007;
  localparam logic [6:0] INSN_VLSE8_V_CLASS = CLASS_VLOAD_STRIDED;
  localparam logic [31:0] INSN_VLSE16_V_MASK = 32'hfc00707f;  // vlse16.v
  localparam logic [31:0] INSN_VLSE16_V_MATCH = 32'h08005007;
  localparam logic [6:0] INSN_VLSE16_V_CLASS = CLASS_VLOAD_STRIDED;
  localparam logic [31:0] INSN_VLSE32_V_MASK = 32'hfc00707f;  // vlse32.v
  localparam logic [31:0] INSN_VLSE32_V_MATCH = 32'h08006007;
  localparam logic [6:0] INSN_VLSE32_V_CLASS = CLASS_VLOAD_STRIDED;
  localparam logic [31:0] INSN_VLUXEI8_V_MASK = 32'hfc00707f;  // vluxei8.v
  localparam logic [31:0] INSN_VLUXEI8_V_MATCH = 32'h04000007;
  localparam logic [6:0] INSN_VLUXEI8_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLUXEI16_V_MASK = 32'hfc00707f;  // vluxei16.v
  localparam logic [31:0] INSN_VLUXEI16_V_MATCH = 32'h04005007;
  localparam logic [6:0] INSN_VLUXEI16_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLUXEI32_V_MASK = 32'hfc00707f;  // vluxei32.v
  localparam logic [31:0] INSN_VLUXEI32_V_MATCH = 32'h04006007;
  localparam logic [6:0] INSN_VLUXEI32_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLOXEI8_V_MASK = 32'hfc00707f;  // vloxei8.v
  localparam logic [31:0] INSN_VLOXEI8_V_MATCH = 32'h0c000007;
  localparam logic [6:0] INSN_VLOXEI8_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLOXEI16_V_MASK = 32'hfc00707f;  // vloxei16.v
  localparam logic [31:0] INSN_VLOXEI16_V_MATCH = 32'h0c005007;
  localparam logic [6:0] INSN_VLOXEI16_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLOXEI32_V_MASK = 32'hfc00707f;  // vloxei32.v
  localparam logic [31:0] INSN_VLOXEI32_V_MATCH = 32'h0c006007;
  localparam logic [6:0] INSN_VLOXEI32_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VL1RE8_V_MASK = 32'hfff0707f;  // vl1re8.v
  localparam logic [31:0] INSN_VL1RE8_V_MATCH = 32'h02800007;
  localparam logic [6:0] INSN_VL1RE8_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL1RE16_V_MASK = 32'hfff0707f;  // vl1re16.v
  localparam logic [31:0] INSN_VL1RE16_V_MATCH = 32'h02805007;
  localparam logic [6:0] INSN_VL1RE16_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL1RE32_V_MASK = 32'hfff0707f;  // vl1re32.v
  localparam logic [31:0] INSN_VL1RE32_V_MATCH = 32'h02806007;
  localparam logic [6:0] INSN_VL1RE32_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL2RE8_V_MASK = 32'hfff0707f;  // vl2re8.v
  localparam logic [31:0] INSN_VL2RE8_V_MATCH = 32'h22800007;
  localparam logic [6:0] INSN_VL2RE8_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL2RE16_V_MASK = 32'hfff0707f;  // vl2re16.v
  localparam logic [31:0] INSN_VL2RE16_V_MATCH = 32'h22805007;
  localparam logic [6:0] INSN_VL2RE16_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL2RE32_V_MASK = 32'hfff0707f;  // vl2re32.v
  localparam logic [31:0] INSN_VL2RE32_V_MATCH = 32'h22806007;
  localparam logic [6:0] INSN_VL2RE32_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL4RE8_V_MASK = 32'hfff0707f;  // vl4re8.v
  localparam logic [31:0] INSN_VL4RE8_V_MATCH = 32'h62800007;
  localparam logic [6:0] INSN_VL4RE8_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL4RE16_V_MASK = 32'hfff0707f;  // vl4re16.v
  localparam logic [31:0] INSN_VL4RE16_V_MATCH = 32'h62805007;
  localparam logic [6:0] INSN_VL4RE16_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL4RE32_V_MASK = 32'hfff0707f;  // vl4re32.v
  localparam logic [31:0] INSN_VL4RE32_V_MATCH = 32'h62806007;
  localparam logic [6:0] INSN_VL4RE32_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL8RE8_V_MASK = 32'hfff0707f;  // vl8re8.v
  localparam logic [31:0] INSN_VL8RE8_V_MATCH = 32'he2800007;
  localparam logic [6:0] INSN_VL8RE8_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL8RE16_V_MASK = 32'hfff0707f;  // vl8re16.v
  localparam logic [31:0] INSN_VL8RE16_V_MATCH = 32'he2805007;
  localparam logic [6:0] INSN_VL8RE16_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VL8RE32_V_MASK = 32'hfff0707f;  // vl8re32.v
  localparam logic [31:0] INSN_VL8RE32_V_MATCH = 32'he2806007;
  localparam logic [6:0] INSN_VL8RE32_V_CLASS = CLASS_VLOAD_WHOLE;
  localparam logic [31:0] INSN_VLSEGE8_V_MASK = 32'h1df0707f;  // vlseg#e8.v
  localparam logic [31:0] INSN_VLSEGE8_V_MATCH = 32'h00000007;
  localparam logic [6:0] INSN_VLSEGE8_V_CLASS = CLASS_VLOAD_UNIT;
  localparam logic [31:0] INSN_VLSEGE16_V_MASK = 32'h1df0707f;  // vlseg#e16.v
  localparam logic [31:0] INSN_VLSEGE16_V_MATCH = 32'h00005007;
  localparam logic [6:0] INSN_VLSEGE16_V_CLASS = CLASS_VLOAD_UNIT;
  localparam logic [31:0] INSN_VLSEGE32_V_MASK = 32'h1df0707f;  // vlseg#e32.v
  localparam logic [31:0] INSN_VLSEGE32_V_MATCH = 32'h00006007;
  localparam logic [6:0] INSN_VLSEGE32_V_CLASS = CLASS_VLOAD_UNIT;
  localparam logic [31:0] INSN_VLSEGE8FF_V_MASK = 32'h1df0707f;  // vlseg#e8ff.v
  localparam logic [31:0] INSN_VLSEGE8FF_V_MATCH = 32'h01000007;
  localparam logic [6:0] INSN_VLSEGE8FF_V_CLASS = CLASS_VLOAD_FIRST;
  localparam logic [31:0] INSN_VLSEGE16FF_V_MASK = 32'h1df0707f;  // vlseg#e16ff.v
  localparam logic [31:0] INSN_VLSEGE16FF_V_MATCH = 32'h01005007;
  localparam logic [6:0] INSN_VLSEGE16FF_V_CLASS = CLASS_VLOAD_FIRST;
  localparam logic [31:0] INSN_VLSEGE32FF_V_MASK = 32'h1df0707f;  // vlseg#e32ff.v
  localparam logic [31:0] INSN_VLSEGE32FF_V_MATCH = 32'h01006007;
  localparam logic [6:0] INSN_VLSEGE32FF_V_CLASS = CLASS_VLOAD_FIRST;
  localparam logic [31:0] INSN_VLSSEGE8_V_MASK = 32'h1c00707f;  // vlsseg#e8.v
  localparam logic [31:0] INSN_VLSSEGE8_V_MATCH = 32'h08000007;
  localparam logic [6:0] INSN_VLSSEGE8_V_CLASS = CLASS_VLOAD_STRIDED;
  localparam logic [31:0] INSN_VLSSEGE16_V_MASK = 32'h1c00707f;  // vlsseg#e16.v
  localparam logic [31:0] INSN_VLSSEGE16_V_MATCH = 32'h08005007;
  localparam logic [6:0] INSN_VLSSEGE16_V_CLASS = CLASS_VLOAD_STRIDED;
  localparam logic [31:0] INSN_VLSSEGE32_V_MASK = 32'h1c00707f;  // vlsseg#e32.v
  localparam logic [31:0] INSN_VLSSEGE32_V_MATCH = 32'h08006007;
  localparam logic [6:0] INSN_VLSSEGE32_V_CLASS = CLASS_VLOAD_STRIDED;
  localparam logic [31:0] INSN_VLUXSEGEI8_V_MASK = 32'h1c00707f;  // vluxseg#ei8.v
  localparam logic [31:0] INSN_VLUXSEGEI8_V_MATCH = 32'h04000007;
  localparam logic [6:0] INSN_VLUXSEGEI8_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLUXSEGEI16_V_MASK = 32'h1c00707f;  // vluxseg#ei16.v
  localparam logic [31:0] INSN_VLUXSEGEI16_V_MATCH = 32'h04005007;
  localparam logic [6:0] INSN_VLUXSEGEI16_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLUXSEGEI32_V_MASK = 32'h1c00707f;  // vluxseg#ei32.v
  localparam logic [31:0] INSN_VLUXSEGEI32_V_MATCH = 32'h04006007;
  localparam logic [6:0] INSN_VLUXSEGEI32_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLOXSEGEI8_V_MASK = 32'h1c00707f;  // vloxseg#ei8.v
  localparam logic [31:0] INSN_VLOXSEGEI8_V_MATCH = 32'h0c000007;
  localparam logic [6:0] INSN_VLOXSEGEI8_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLOXSEGEI16_V_MASK = 32'h1c00707f;  // vloxseg#ei16.v
  localparam logic [31:0] INSN_VLOXSEGEI16_V_MATCH = 32'h0c005007;
  localparam logic [6:0] INSN_VLOXSEGEI16_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VLOXSEGEI32_V_MASK = 32'h1c00707f;  // vloxseg#ei32.v
  localparam logic [31:0] INSN_VLOXSEGEI32_V_MATCH = 32'h0c006007;
  localparam logic [6:0] INSN_VLOXSEGEI32_V_CLASS = CLASS_VLOAD_INDEXED;
  localparam logic [31:0] INSN_VSE8_V_MASK = 32'hfdf0707f;  // vse8.v
  localparam logic [31:0] INSN_VSE8_V_MATCH = 32'h00000027;
  localparam logic [6:0] INSN_VSE8_V_CLASS = CLASS_VSTORE_UNIT;
  localparam logic [31:0] INSN_VSE16_V_MASK = 32'hfdf0707f;  // vse16.v
  localparam logic [31:0] INSN_VSE16_V_MATCH = 32'h00005027;
  localparam logic [6:0] INSN_VSE16_V_CLASS = CLASS_VSTORE_UNIT;
  localparam logic [31:0] INSN_VSE32_V_MASK = 32'hfdf0707f;  // vse32.v
  localparam logic [31:0] INSN_VSE32_V_MATCH = 32'h00006027;
  localparam logic [6:0] INSN_VSE32_V_CLASS = CLASS_VSTORE_UNIT;
  localparam logic [31:0] INSN_VSM_V_MASK = 32'hfff0707f;  // vsm.v
  localparam logic [31:0] INSN_VSM_V_MATCH = 32'h02b00027;
  localparam logic [6:0] INSN_VSM_V_CLASS = CLASS_VSTORE_MASK;
  localparam logic [31:0] INSN_VSSE8_V_MASK = 32'hfc00707f;  // vsse8.v
  localparam logic [31:0] INSN_VSSE8_V_MATCH = 32'h08000027;
  localparam logic [6:0] INSN_VSSE8_V_CLASS = CLASS_VSTORE_STRIDED;
  localparam logic [31:0] INSN_VSSE16_V_MASK = 32'hfc00707f;  // vsse16.v
  localparam logic [31:0] INSN_VSSE16_V_MATCH = 32'h08005027;
  localparam logic [6:0] INSN_VSSE16_V_CLASS = CLASS_VSTORE_STRIDED;
  localparam logic [31:0] INSN_VSSE32_V_MASK = 32'hfc00707f;  // vsse32.v
  localparam logic [31:0] INSN_VSSE32_V_MATCH = 32'h08006027;
  localparam logic [6:0] INSN_VSSE32_V_CLASS = CLASS_VSTORE_STRIDED;
  localparam logic [31:0] INSN_VSUXEI8_V_MASK = 32'hfc00707f;  // vsuxei8.v
  localparam logic [31:0] INSN_VSUXEI8_V_MATCH = 32'h04000027;
  localparam logic [6:0] INSN_VSUXEI8_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSUXEI16_V_MASK = 32'hfc00707f;  // vsuxei16.v
  localparam logic [31:0] INSN_VSUXEI16_V_MATCH = 32'h04005027;
  localparam logic [6:0] INSN_VSUXEI16_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSUXEI32_V_MASK = 32'hfc00707f;  // vsuxei32.v
  localparam logic [31:0] INSN_VSUXEI32_V_MATCH = 32'h04006027;
  localparam logic [6:0] INSN_VSUXEI32_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSOXEI8_V_MASK = 32'hfc00707f;  // vsoxei8.v
  localparam logic [31:0] INSN_VSOXEI8_V_MATCH = 32'h0c000027;
  localparam logic [6:0] INSN_VSOXEI8_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSOXEI16_V_MASK = 32'hfc00707f;  // vsoxei16.v
  localparam logic [31:0] INSN_VSOXEI16_V_MATCH = 32'h0c005027;
  localparam logic [6:0] INSN_VSOXEI16_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSOXEI32_V_MASK = 32'hfc00707f;  // vsoxei32.v
  localparam logic [31:0] INSN_VSOXEI32_V_MATCH = 32'h0c006027;
  localparam logic [6:0] INSN_VSOXEI32_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VS1R_V_MASK = 32'hfff0707f;  // vs1r.v
  localparam logic [31:0] INSN_VS1R_V_MATCH = 32'h02800027;
  localparam logic [6:0] INSN_VS1R_V_CLASS = CLASS_VSTORE_WHOLE;
  localparam logic [31:0] INSN_VS2R_V_MASK = 32'hfff0707f;  // vs2r.v
  localparam logic [31:0] INSN_VS2R_V_MATCH = 32'h22800027;
  localparam logic [6:0] INSN_VS2R_V_CLASS = CLASS_VSTORE_WHOLE;
  localparam logic [31:0] INSN_VS4R_V_MASK = 32'hfff0707f;  // vs4r.v
  localparam logic [31:0] INSN_VS4R_V_MATCH = 32'h62800027;
  localparam logic [6:0] INSN_VS4R_V_CLASS = CLASS_VSTORE_WHOLE;
  localparam logic [31:0] INSN_VS8R_V_MASK = 32'hfff0707f;  // vs8r.v
  localparam logic [31:0] INSN_VS8R_V_MATCH = 32'he2800027;
  localparam logic [6:0] INSN_VS8R_V_CLASS = CLASS_VSTORE_WHOLE;
  localparam logic [31:0] INSN_VSSEGE8_V_MASK = 32'h1df0707f;  // vsseg#e8.v
  localparam logic [31:0] INSN_VSSEGE8_V_MATCH = 32'h00000027;
  localparam logic [6:0] INSN_VSSEGE8_V_CLASS = CLASS_VSTORE_UNIT;
  localparam logic [31:0] INSN_VSSEGE16_V_MASK = 32'h1df0707f;  // vsseg#e16.v
  localparam logic [31:0] INSN_VSSEGE16_V_MATCH = 32'h00005027;
  localparam logic [6:0] INSN_VSSEGE16_V_CLASS = CLASS_VSTORE_UNIT;
  localparam logic [31:0] INSN_VSSEGE32_V_MASK = 32'h1df0707f;  // vsseg#e32.v
  localparam logic [31:0] INSN_VSSEGE32_V_MATCH = 32'h00006027;
  localparam logic [6:0] INSN_VSSEGE32_V_CLASS = CLASS_VSTORE_UNIT;
  localparam logic [31:0] INSN_VSSSEGE8_V_MASK = 32'h1c00707f;  // vssseg#e8.v
  localparam logic [31:0] INSN_VSSSEGE8_V_MATCH = 32'h08000027;
  localparam logic [6:0] INSN_VSSSEGE8_V_CLASS = CLASS_VSTORE_STRIDED;
  localparam logic [31:0] INSN_VSSSEGE16_V_MASK = 32'h1c00707f;  // vssseg#e16.v
  localparam logic [31:0] INSN_VSSSEGE16_V_MATCH = 32'h08005027;
  localparam logic [6:0] INSN_VSSSEGE16_V_CLASS = CLASS_VSTORE_STRIDED;
  localparam logic [31:0] INSN_VSSSEGE32_V_MASK = 32'h1c00707f;  // vssseg#e32.v
  localparam logic [31:0] INSN_VSSSEGE32_V_MATCH = 32'h08006027;
  localparam logic [6:0] INSN_VSSSEGE32_V_CLASS = CLASS_VSTORE_STRIDED;
  localparam logic [31:0] INSN_VSUXSEGEI8_V_MASK = 32'h1c00707f;  // vsuxseg#ei8.v
  localparam logic [31:0] INSN_VSUXSEGEI8_V_MATCH = 32'h04000027;
  localparam logic [6:0] INSN_VSUXSEGEI8_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSUXSEGEI16_V_MASK = 32'h1c00707f;  // vsuxseg#ei16.v
  localparam logic [31:0] INSN_VSUXSEGEI16_V_MATCH = 32'h04005027;
  localparam logic [6:0] INSN_VSUXSEGEI16_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSUXSEGEI32_V_MASK = 32'h1c00707f;  // vsuxseg#ei32.v
  localparam logic [31:0] INSN_VSUXSEGEI32_V_MATCH = 32'h04006027;
  localparam logic [6:0] INSN_VSUXSEGEI32_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSOXSEGEI8_V_MASK = 32'h1c00707f;  // vsoxseg#ei8.v
  localparam logic [31:0] INSN_VSOXSEGEI8_V_MATCH = 32'h0c000027;
  localparam logic [6:0] INSN_VSOXSEGEI8_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSOXSEGEI16_V_MASK = 32'h1c00707f;  // vsoxseg#ei16.v
  localparam logic [31:0] INSN_VSOXSEGEI16_V_MATCH = 32'h0c005027;
  localparam logic [6:0] INSN_VSOXSEGEI16_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VSOXSEGEI32_V_MASK = 32'h1c00707f;  // vsoxseg#ei32.v
  localparam logic [31:0] INSN_VSOXSEGEI32_V_MATCH = 32'h0c006027;
  localparam logic [6:0] INSN_VSOXSEGEI32_V_CLASS = CLASS_VSTORE_INDEXED;
  localparam logic [31:0] INSN_VADD_VV_MASK = 32'hfc00707f;  // vadd.vv
  localparam logic [31:0] INSN_VADD_VV_MATCH = 32'h00000057;
  localparam logic [6:0] INSN_VADD_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VADD_VX_MASK = 32'hfc00707f;  // vadd.vx
  localparam logic [31:0] INSN_VADD_VX_MATCH = 32'h00004057;
  localparam logic [6:0] INSN_VADD_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VADD_VI_MASK = 32'hfc00707f;  // vadd.vi
  localparam logic [31:0] INSN_VADD_VI_MATCH = 32'h00003057;
  localparam logic [6:0] INSN_VADD_VI_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSUB_VV_MASK = 32'hfc00707f;  // vsub.vv
  localparam logic [31:0] INSN_VSUB_VV_MATCH = 32'h08000057;
  localparam logic [6:0] INSN_VSUB_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSUB_VX_MASK = 32'hfc00707f;  // vsub.vx
  localparam logic [31:0] INSN_VSUB_VX_MATCH = 32'h08004057;
  localparam logic [6:0] INSN_VSUB_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VRSUB_VX_MASK = 32'hfc00707f;  // vrsub.vx
  localparam logic [31:0] INSN_VRSUB_VX_MATCH = 32'h0c004057;
  localparam logic [6:0] INSN_VRSUB_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VRSUB_VI_MASK = 32'hfc00707f;  // vrsub.vi
  localparam logic [31:0] INSN_VRSUB_VI_MATCH = 32'h0c003057;
  localparam logic [6:0] INSN_VRSUB_VI_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMINU_VV_MASK = 32'hfc00707f;  // vminu.vv
  localparam logic [31:0] INSN_VMINU_VV_MATCH = 32'h10000057;
  localparam logic [6:0] INSN_VMINU_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMINU_VX_MASK = 32'hfc00707f;  // vminu.vx
  localparam logic [31:0] INSN_VMINU_VX_MATCH = 32'h10004057;
  localparam logic [6:0] INSN_VMINU_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMIN_VV_MASK = 32'hfc00707f;  // vmin.vv
  localparam logic [31:0] INSN_VMIN_VV_MATCH = 32'h14000057;
  localparam logic [6:0] INSN_VMIN_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMIN_VX_MASK = 32'hfc00707f;  // vmin.vx
  localparam logic [31:0] INSN_VMIN_VX_MATCH = 32'h14004057;
  localparam logic [6:0] INSN_VMIN_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMAXU_VV_MASK = 32'hfc00707f;  // vmaxu.vv
  localparam logic [31:0] INSN_VMAXU_VV_MATCH = 32'h18000057;
  localparam logic [6:0] INSN_VMAXU_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMAXU_VX_MASK = 32'hfc00707f;  // vmaxu.vx
  localparam logic [31:0] INSN_VMAXU_VX_MATCH = 32'h18004057;
  localparam logic [6:0] INSN_VMAXU_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMAX_VV_MASK = 32'hfc00707f;  // vmax.vv
  localparam logic [31:0] INSN_VMAX_VV_MATCH = 32'h1c000057;
  localparam logic [6:0] INSN_VMAX_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMAX_VX_MASK = 32'hfc00707f;  // vmax.vx
  localparam logic [31:0] INSN_VMAX_VX_MATCH = 32'h1c004057;
  localparam logic [6:0] INSN_VMAX_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VAND_VV_MASK = 32'hfc00707f;  // vand.vv
  localparam logic [31:0] INSN_VAND_VV_MATCH = 32'h24000057;
  localparam logic [6:0] INSN_VAND_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VAND_VX_MASK = 32'hfc00707f;  // vand.vx
  localparam logic [31:0] INSN_VAND_VX_MATCH = 32'h24004057;
  localparam logic [6:0] INSN_VAND_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VAND_VI_MASK = 32'hfc00707f;  // vand.vi
  localparam logic [31:0] INSN_VAND_VI_MATCH = 32'h24003057;
  localparam logic [6:0] INSN_VAND_VI_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VOR_VV_MASK = 32'hfc00707f;  // vor.vv
  localparam logic [31:0] INSN_VOR_VV_MATCH = 32'h28000057;
  localparam logic [6:0] INSN_VOR_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VOR_VX_MASK = 32'hfc00707f;  // vor.vx
  localparam logic [31:0] INSN_VOR_VX_MATCH = 32'h28004057;
  localparam logic [6:0] INSN_VOR_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VOR_VI_MASK = 32'hfc00707f;  // vor.vi
  localparam logic [31:0] INSN_VOR_VI_MATCH = 32'h28003057;
  localparam logic [6:0] INSN_VOR_VI_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VXOR_VV_MASK = 32'hfc00707f;  // vxor.vv
  localparam logic [31:0] INSN_VXOR_VV_MATCH = 32'h2c000057;
  localparam logic [6:0] INSN_VXOR_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VXOR_VX_MASK = 32'hfc00707f;  // vxor.vx
  localparam logic [31:0] INSN_VXOR_VX_MATCH = 32'h2c004057;
  localparam logic [6:0] INSN_VXOR_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VXOR_VI_MASK = 32'hfc00707f;  // vxor.vi
  localparam logic [31:0] INSN_VXOR_VI_MATCH = 32'h2c003057;
  localparam logic [6:0] INSN_VXOR_VI_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSLL_VV_MASK = 32'hfc00707f;  // vsll.vv
  localparam logic [31:0] INSN_VSLL_VV_MATCH = 32'h94000057;
  localparam logic [6:0] INSN_VSLL_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSLL_VX_MASK = 32'hfc00707f;  // vsll.vx
  localparam logic [31:0] INSN_VSLL_VX_MATCH = 32'h94004057;
  localparam logic [6:0] INSN_VSLL_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSLL_VI_MASK = 32'hfc00707f;  // vsll.vi
  localparam logic [31:0] INSN_VSLL_VI_MATCH = 32'h94003057;
  localparam logic [6:0] INSN_VSLL_VI_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSRL_VV_MASK = 32'hfc00707f;  // vsrl.vv
  localparam logic [31:0] INSN_VSRL_VV_MATCH = 32'ha0000057;
  localparam logic [6:0] INSN_VSRL_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSRL_VX_MASK = 32'hfc00707f;  // vsrl.vx
  localparam logic [31:0] INSN_VSRL_VX_MATCH = 32'ha0004057;
  localparam logic [6:0] INSN_VSRL_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSRL_VI_MASK = 32'hfc00707f;  // vsrl.vi
  localparam logic [31:0] INSN_VSRL_VI_MATCH = 32'ha0003057;
  localparam logic [6:0] INSN_VSRL_VI_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSRA_VV_MASK = 32'hfc00707f;  // vsra.vv
  localparam logic [31:0] INSN_VSRA_VV_MATCH = 32'ha4000057;
  localparam logic [6:0] INSN_VSRA_VV_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSRA_VX_MASK = 32'hfc00707f;  // vsra.vx
  localparam logic [31:0] INSN_VSRA_VX_MATCH = 32'ha4004057;
  localparam logic [6:0] INSN_VSRA_VX_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VSRA_VI_MASK = 32'hfc00707f;  // vsra.vi
  localparam logic [31:0] INSN_VSRA_VI_MATCH = 32'ha4003057;
  localparam logic [6:0] INSN_VSRA_VI_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VADC_VVM_MASK = 32'hfe00707f;  // vadc.vvm
  localparam logic [31:0] INSN_VADC_VVM_MATCH = 32'h40000057;
  localparam logic [6:0] INSN_VADC_VVM_CLASS = CLASS_VINT_CARRY;
  localparam logic [31:0] INSN_VADC_VXM_MASK = 32'hfe00707f;  // vadc.vxm
  localparam logic [31:0] INSN_VADC_VXM_MATCH = 32'h40004057;
  localparam logic [6:0] INSN_VADC_VXM_CLASS = CLASS_VINT_CARRY;
  localparam logic [31:0] INSN_VADC_VIM_MASK = 32'hfe00707f;  // vadc.vim
  localparam logic [31:0] INSN_VADC_VIM_MATCH = 32'h40003057;
  localparam logic [6:0] INSN_VADC_VIM_CLASS = CLASS_VINT_CARRY;
  localparam logic [31:0] INSN_VMADC_VVM_MASK = 32'hfe00707f;  // vmadc.vvm
  localparam logic [31:0] INSN_VMADC_VVM_MATCH = 32'h44000057;
  localparam logic [6:0] INSN_VMADC_VVM_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMADC_VXM_MASK = 32'hfe00707f;  // vmadc.vxm
  localparam logic [31:0] INSN_VMADC_VXM_MATCH = 32'h44004057;
  localparam logic [6:0] INSN_VMADC_VXM_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMADC_VIM_MASK = 32'hfe00707f;  // vmadc.vim
  localparam logic [31:0] INSN_VMADC_VIM_MATCH = 32'h44003057;
  localparam logic [6:0] INSN_VMADC_VIM_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMADC_VV_MASK = 32'hfe00707f;  // vmadc.vv
  localparam logic [31:0] INSN_VMADC_VV_MATCH = 32'h46000057;
  localparam logic [6:0] INSN_VMADC_VV_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMADC_VX_MASK = 32'hfe00707f;  // vmadc.vx
  localparam logic [31:0] INSN_VMADC_VX_MATCH = 32'h46004057;
  localparam logic [6:0] INSN_VMADC_VX_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMADC_VI_MASK = 32'hfe00707f;  // vmadc.vi
  localparam logic [31:0] INSN_VMADC_VI_MATCH = 32'h46003057;
  localparam logic [6:0] INSN_VMADC_VI_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VSBC_VVM_MASK = 32'hfe00707f;  // vsbc.vvm
  localparam logic [31:0] INSN_VSBC_VVM_MATCH = 32'h48000057;
  localparam logic [6:0] INSN_VSBC_VVM_CLASS = CLASS_VINT_CARRY;
  localparam logic [31:0] INSN_VSBC_VXM_MASK = 32'hfe00707f;  // vsbc.vxm
  localparam logic [31:0] INSN_VSBC_VXM_MATCH = 32'h48004057;
  localparam logic [6:0] INSN_VSBC_VXM_CLASS = CLASS_VINT_CARRY;
  localparam logic [31:0] INSN_VMSBC_VVM_MASK = 32'hfe00707f;  // vmsbc.vvm
  localparam logic [31:0] INSN_VMSBC_VVM_MATCH = 32'h4c000057;
  localparam logic [6:0] INSN_VMSBC_VVM_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMSBC_VXM_MASK = 32'hfe00707f;  // vmsbc.vxm
  localparam logic [31:0] INSN_VMSBC_VXM_MATCH = 32'h4c004057;
  localparam logic [6:0] INSN_VMSBC_VXM_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMSBC_VV_MASK = 32'hfe00707f;  // vmsbc.vv
  localparam logic [31:0] INSN_VMSBC_VV_MATCH = 32'h4e000057;
  localparam logic [6:0] INSN_VMSBC_VV_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMSBC_VX_MASK = 32'hfe00707f;  // vmsbc.vx
  localparam logic [31:0] INSN_VMSBC_VX_MATCH = 32'h4e004057;
  localparam logic [6:0] INSN_VMSBC_VX_CLASS = CLASS_VCARRY_OUT;
  localparam logic [31:0] INSN_VMERGE_VVM_MASK = 32'hfe00707f;  // vmerge.vvm
  localparam logic [31:0] INSN_VMERGE_VVM_MATCH = 32'h5c000057;
  localparam logic [6:0] INSN_VMERGE_VVM_CLASS = CLASS_VINT_CARRY;
  localparam logic [31:0] INSN_VMERGE_VXM_MASK = 32'hfe00707f;  // vmerge.vxm
  localparam logic [31:0] INSN_VMERGE_VXM_MATCH = 32'h5c004057;
  localparam logic [6:0] INSN_VMERGE_VXM_CLASS = CLASS_VINT_CARRY;
  localparam logic [31:0] INSN_VMERGE_VIM_MASK = 32'hfe00707f;  // vmerge.vim
  localparam logic [31:0] INSN_VMERGE_VIM_MATCH = 32'h5c003057;
  localparam logic [6:0] INSN_VMERGE_VIM_CLASS = CLASS_VINT_CARRY;
  localparam logic [31:0] INSN_VMV_V_V_MASK = 32'hfff0707f;  // vmv.v.v
  localparam logic [31:0] INSN_VMV_V_V_MATCH = 32'h5e000057;
  localparam logic [6:0] INSN_VMV_V_V_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMV_V_X_MASK = 32'hfff0707f;  // vmv.v.x
  localparam logic [31:0] INSN_VMV_V_X_MATCH = 32'h5e004057;
  localparam logic [6:0] INSN_VMV_V_X_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMV_V_I_MASK = 32'hfff0707f;  // vmv.v.i
  localparam logic [31:0] INSN_VMV_V_I_MATCH = 32'h5e003057;
  localparam logic [6:0] INSN_VMV_V_I_CLASS = CLASS_VINT;
  localparam logic [31:0] INSN_VMSEQ_VV_MASK = 32'hfc00707f;  // vmseq.vv
  localparam logic [31:0] INSN_VMSEQ_VV_MATCH = 32'h60000057;
  localparam logic [6:0] INSN_VMSEQ_VV_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSEQ_VX_MASK = 32'hfc00707f;  // vmseq.vx
  localparam logic [31:0] INSN_VMSEQ_VX_MATCH = 32'h60004057;
  localparam logic [6:0] INSN_VMSEQ_VX_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSEQ_VI_MASK = 32'hfc00707f;  // vmseq.vi
  localparam logic [31:0] INSN_VMSEQ_VI_MATCH = 32'h60003057;
  localparam logic [6:0] INSN_VMSEQ_VI_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSNE_VV_MASK = 32'hfc00707f;  // vmsne.vv
  localparam logic [31:0] INSN_VMSNE_VV_MATCH = 32'h64000057;
  localparam logic [6:0] INSN_VMSNE_VV_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSNE_VX_MASK = 32'hfc00707f;  // vmsne.vx
  localparam logic [31:0] INSN_VMSNE_VX_MATCH = 32'h64004057;
  localparam logic [6:0] INSN_VMSNE_VX_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSNE_VI_MASK = 32'hfc00707f;  // vmsne.vi
  localparam logic [31:0] INSN_VMSNE_VI_MATCH = 32'h64003057;
  localparam logic [6:0] INSN_VMSNE_VI_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLTU_VV_MASK = 32'hfc00707f;  // vmsltu.vv
  localparam logic [31:0] INSN_VMSLTU_VV_MATCH = 32'h68000057;
  localparam logic [6:0] INSN_VMSLTU_VV_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLTU_VX_MASK = 32'hfc00707f;  // vmsltu.vx
  localparam logic [31:0] INSN_VMSLTU_VX_MATCH = 32'h68004057;
  localparam logic [6:0] INSN_VMSLTU_VX_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLT_VV_MASK = 32'hfc00707f;  // vmslt.vv
  localparam logic [31:0] INSN_VMSLT_VV_MATCH = 32'h6c000057;
  localparam logic [6:0] INSN_VMSLT_VV_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLT_VX_MASK = 32'hfc00707f;  // vmslt.vx
  localparam logic [31:0] INSN_VMSLT_VX_MATCH = 32'h6c004057;
  localparam logic [6:0] INSN_VMSLT_VX_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLEU_VV_MASK = 32'hfc00707f;  // vmsleu.vv
  localparam logic [31:0] INSN_VMSLEU_VV_MATCH = 32'h70000057;
  localparam logic [6:0] INSN_VMSLEU_VV_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLEU_VX_MASK = 32'hfc00707f;  // vmsleu.vx
  localparam logic [31:0] INSN_VMSLEU_VX_MATCH = 32'h70004057;
  localparam logic [6:0] INSN_VMSLEU_VX_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLEU_VI_MASK = 32'hfc00707f;  // vmsleu.vi
  localparam logic [31:0] INSN_VMSLEU_VI_MATCH = 32'h70003057;
  localparam logic [6:0] INSN_VMSLEU_VI_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLE_VV_MASK = 32'hfc00707f;  // vmsle.vv
  localparam logic [31:0] INSN_VMSLE_VV_MATCH = 32'h74000057;
  localparam logic [6:0] INSN_VMSLE_VV_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLE_VX_MASK = 32'hfc00707f;  // vmsle.vx
  localparam logic [31:0] INSN_VMSLE_VX_MATCH = 32'h74004057;
  localparam logic [6:0] INSN_VMSLE_VX_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSLE_VI_MASK = 32'hfc00707f;  // vmsle.vi
  localparam logic [31:0] INSN_VMSLE_VI_MATCH = 32'h74003057;
  localparam logic [6:0] INSN_VMSLE_VI_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSGTU_VX_MASK = 32'hfc00707f;  // vmsgtu.vx
  localparam logic [31:0] INSN_VMSGTU_VX_MATCH = 32'h78004057;
  localparam logic [6:0] INSN_VMSGTU_VX_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSGTU_VI_MASK = 32'hfc00707f;  // vmsgtu.vi
  localparam logic [31:0] INSN_VMSGTU_VI_MATCH = 32'h78003057;
  localparam logic [6:0] INSN_VMSGTU_VI_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSGT_VX_MASK = 32'hfc00707f;  // vmsgt.vx
  localparam logic [31:0] INSN_VMSGT_VX_MATCH = 32'h7c004057;
  localparam logic [6:0] INSN_VMSGT_VX_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMSGT_VI_MASK = 32'hfc00707f;  // vmsgt.vi
  localparam logic [31:0] INSN_VMSGT_VI_MATCH = 32'h7c003057;
  localparam logic [6:0] INSN_VMSGT_VI_CLASS = CLASS_VCOMPARE;
  localparam logic [31:0] INSN_VMULHU_VV_MASK = 32'hfc00707f;  // vmulhu.vv
  localparam logic [31:0] INSN_VMULHU_VV_MATCH = 32'h90002057;
  localparam logic [6:0] INSN_VMULHU_VV_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMULHU_VX_MASK = 32'hfc00707f;  // vmulhu.vx
  localparam logic [31:0] INSN_VMULHU_VX_MATCH = 32'h90006057;
  localparam logic [6:0] INSN_VMULHU_VX_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMUL_VV_MASK = 32'hfc00707f;  // vmul.vv
  localparam logic [31:0] INSN_VMUL_VV_MATCH = 32'h94002057;
  localparam logic [6:0] INSN_VMUL_VV_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMUL_VX_MASK = 32'hfc00707f;  // vmul.vx
  localparam logic [31:0] INSN_VMUL_VX_MATCH = 32'h94006057;
  localparam logic [6:0] INSN_VMUL_VX_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMULHSU_VV_MASK = 32'hfc00707f;  // vmulhsu.vv
  localparam logic [31:0] INSN_VMULHSU_VV_MATCH = 32'h98002057;
  localparam logic [6:0] INSN_VMULHSU_VV_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMULHSU_VX_MASK = 32'hfc00707f;  // vmulhsu.vx
  localparam logic [31:0] INSN_VMULHSU_VX_MATCH = 32'h98006057;
  localparam logic [6:0] INSN_VMULHSU_VX_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMULH_VV_MASK = 32'hfc00707f;  // vmulh.vv
  localparam logic [31:0] INSN_VMULH_VV_MATCH = 32'h9c002057;
  localparam logic [6:0] INSN_VMULH_VV_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMULH_VX_MASK = 32'hfc00707f;  // vmulh.vx
  localparam logic [31:0] INSN_VMULH_VX_MATCH = 32'h9c006057;
  localparam logic [6:0] INSN_VMULH_VX_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VDIVU_VV_MASK = 32'hfc00707f;  // vdivu.vv
  localparam logic [31:0] INSN_VDIVU_VV_MATCH = 32'h80002057;
  localparam logic [6:0] INSN_VDIVU_VV_CLASS = CLASS_VINT_DIVIDE;
  localparam logic [31:0] INSN_VDIVU_VX_MASK = 32'hfc00707f;  // vdivu.vx
  localparam logic [31:0] INSN_VDIVU_VX_MATCH = 32'h80006057;
  localparam logic [6:0] INSN_VDIVU_VX_CLASS = CLASS_VINT_DIVIDE;
  localparam logic [31:0] INSN_VDIV_VV_MASK = 32'hfc00707f;  // vdiv.vv
  localparam logic [31:0] INSN_VDIV_VV_MATCH = 32'h84002057;
  localparam logic [6:0] INSN_VDIV_VV_CLASS = CLASS_VINT_DIVIDE;
  localparam logic [31:0] INSN_VDIV_VX_MASK = 32'hfc00707f;  // vdiv.vx
  localparam logic [31:0] INSN_VDIV_VX_MATCH = 32'h84006057;
  localparam logic [6:0] INSN_VDIV_VX_CLASS = CLASS_VINT_DIVIDE;
  localparam logic [31:0] INSN_VREMU_VV_MASK = 32'hfc00707f;  // vremu.vv
  localparam logic [31:0] INSN_VREMU_VV_MATCH = 32'h88002057;
  localparam logic [6:0] INSN_VREMU_VV_CLASS = CLASS_VINT_DIVIDE;
  localparam logic [31:0] INSN_VREMU_VX_MASK = 32'hfc00707f;  // vremu.vx
  localparam logic [31:0] INSN_VREMU_VX_MATCH = 32'h88006057;
  localparam logic [6:0] INSN_VREMU_VX_CLASS = CLASS_VINT_DIVIDE;
  localparam logic [31:0] INSN_VREM_VV_MASK = 32'hfc00707f;  // vrem.vv
  localparam logic [31:0] INSN_VREM_VV_MATCH = 32'h8c002057;
  localparam logic [6:0] INSN_VREM_VV_CLASS = CLASS_VINT_DIVIDE;
  localparam logic [31:0] INSN_VREM_VX_MASK = 32'hfc00707f;  // vrem.vx
  localparam logic [31:0] INSN_VREM_VX_MATCH = 32'h8c006057;
  localparam logic [6:0] INSN_VREM_VX_CLASS = CLASS_VINT_DIVIDE;
  localparam logic [31:0] INSN_VMADD_VV_MASK = 32'hfc00707f;  // vmadd.vv
  localparam logic [31:0] INSN_VMADD_VV_MATCH = 32'ha4002057;
  localparam logic [6:0] INSN_VMADD_VV_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMADD_VX_MASK = 32'hfc00707f;  // vmadd.vx
  localparam logic [31:0] INSN_VMADD_VX_MATCH = 32'ha4006057;
  localparam logic [6:0] INSN_VMADD_VX_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VNMSUB_VV_MASK = 32'hfc00707f;  // vnmsub.vv
  localparam logic [31:0] INSN_VNMSUB_VV_MATCH = 32'hac002057;
  localparam logic [6:0] INSN_VNMSUB_VV_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VNMSUB_VX_MASK = 32'hfc00707f;  // vnmsub.vx
  localparam logic [31:0] INSN_VNMSUB_VX_MATCH = 32'hac006057;
  localparam logic [6:0] INSN_VNMSUB_VX_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMACC_VV_MASK = 32'hfc00707f;  // vmacc.vv
  localparam logic [31:0] INSN_VMACC_VV_MATCH = 32'hb4002057;
  localparam logic [6:0] INSN_VMACC_VV_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VMACC_VX_MASK = 32'hfc00707f;  // vmacc.vx
  localparam logic [31:0] INSN_VMACC_VX_MATCH = 32'hb4006057;
  localparam logic [6:0] INSN_VMACC_VX_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VNMSAC_VV_MASK = 32'hfc00707f;  // vnmsac.vv
  localparam logic [31:0] INSN_VNMSAC_VV_MATCH = 32'hbc002057;
  localparam logic [6:0] INSN_VNMSAC_VV_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VNMSAC_VX_MASK = 32'hfc00707f;  // vnmsac.vx
  localparam logic [31:0] INSN_VNMSAC_VX_MATCH = 32'hbc006057;
  localparam logic [6:0] INSN_VNMSAC_VX_CLASS = CLASS_VINT_MULTIPLY;
  localparam logic [31:0] INSN_VZEXT_VF4_MASK = 32'hfc0ff07f;  // vzext.vf4
  localparam logic [31:0] INSN_VZEXT_VF4_MATCH = 32'h48022057;
  localparam logic [6:0] INSN_VZEXT_VF4_CLASS = CLASS_VEXTEND4;
  localparam logic [31:0] INSN_VSEXT_VF4_MASK = 32'hfc0ff07f;  // vsext.vf4
  localparam logic [31:0] INSN_VSEXT_VF4_MATCH = 32'h4802a057;
  localparam logic [6:0] INSN_VSEXT_VF4_CLASS = CLASS_VEXTEND4;
  localparam logic [31:0] INSN_VZEXT_VF2_MASK = 32'hfc0ff07f;  // vzext.vf2
  localparam logic [31:0] INSN_VZEXT_VF2_MATCH = 32'h48032057;
  localparam logic [6:0] INSN_VZEXT_VF2_CLASS = CLASS_VEXTEND2;
  localparam logic [31:0] INSN_VSEXT_VF2_MASK = 32'hfc0ff07f;  // vsext.vf2
  localparam logic [31:0] INSN_VSEXT_VF2_MATCH = 32'h4803a057;
  localparam logic [6:0] INSN_VSEXT_VF2_CLASS = CLASS_VEXTEND2;
  localparam logic [31:0] INSN_VWADDU_VV_MASK = 32'hfc00707f;  // vwaddu.vv
  localparam logic [31:0] INSN_VWADDU_VV_MATCH = 32'hc0002057;
  localparam logic [6:0] INSN_VWADDU_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWADDU_VX_MASK = 32'hfc00707f;  // vwaddu.vx
  localparam logic [31:0] INSN_VWADDU_VX_MATCH = 32'hc0006057;
  localparam logic [6:0] INSN_VWADDU_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWADD_VV_MASK = 32'hfc00707f;  // vwadd.vv
  localparam logic [31:0] INSN_VWADD_VV_MATCH = 32'hc4002057;
  localparam logic [6:0] INSN_VWADD_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWADD_VX_MASK = 32'hfc00707f;  // vwadd.vx
  localparam logic [31:0] INSN_VWADD_VX_MATCH = 32'hc4006057;
  localparam logic [6:0] INSN_VWADD_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWSUBU_VV_MASK = 32'hfc00707f;  // vwsubu.vv
  localparam logic [31:0] INSN_VWSUBU_VV_MATCH = 32'hc8002057;
  localparam logic [6:0] INSN_VWSUBU_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWSUBU_VX_MASK = 32'hfc00707f;  // vwsubu.vx
  localparam logic [31:0] INSN_VWSUBU_VX_MATCH = 32'hc8006057;
  localparam logic [6:0] INSN_VWSUBU_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWSUB_VV_MASK = 32'hfc00707f;  // vwsub.vv
  localparam logic [31:0] INSN_VWSUB_VV_MATCH = 32'hcc002057;
  localparam logic [6:0] INSN_VWSUB_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWSUB_VX_MASK = 32'hfc00707f;  // vwsub.vx
  localparam logic [31:0] INSN_VWSUB_VX_MATCH = 32'hcc006057;
  localparam logic [6:0] INSN_VWSUB_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWADDU_WV_MASK = 32'hfc00707f;  // vwaddu.wv
  localparam logic [31:0] INSN_VWADDU_WV_MATCH = 32'hd0002057;
  localparam logic [6:0] INSN_VWADDU_WV_CLASS = CLASS_VWIDEN_W;
  localparam logic [31:0] INSN_VWADDU_WX_MASK = 32'hfc00707f;  // vwaddu.wx
  localparam logic [31:0] INSN_VWADDU_WX_MATCH = 32'hd0006057;
  localparam logic [6:0] INSN_VWADDU_WX_CLASS = CLASS_VWIDEN_W;
  localparam logic [31:0] INSN_VWADD_WV_MASK = 32'hfc00707f;  // vwadd.wv
  localparam logic [31:0] INSN_VWADD_WV_MATCH = 32'hd4002057;
  localparam logic [6:0] INSN_VWADD_WV_CLASS = CLASS_VWIDEN_W;
  localparam logic [31:0] INSN_VWADD_WX_MASK = 32'hfc00707f;  // vwadd.wx
  localparam logic [31:0] INSN_VWADD_WX_MATCH = 32'hd4006057;
  localparam logic [6:0] INSN_VWADD_WX_CLASS = CLASS_VWIDEN_W;
  localparam logic [31:0] INSN_VWSUBU_WV_MASK = 32'hfc00707f;  // vwsubu.wv
  localparam logic [31:0] INSN_VWSUBU_WV_MATCH = 32'hd8002057;
  localparam logic [6:0] INSN_VWSUBU_WV_CLASS = CLASS_VWIDEN_W;
  localparam logic [31:0] INSN_VWSUBU_WX_MASK = 32'hfc00707f;  // vwsubu.wx
  localparam logic [31:0] INSN_VWSUBU_WX_MATCH = 32'hd8006057;
  localparam logic [6:0] INSN_VWSUBU_WX_CLASS = CLASS_VWIDEN_W;
  localparam logic [31:0] INSN_VWSUB_WV_MASK = 32'hfc00707f;  // vwsub.wv
  localparam logic [31:0] INSN_VWSUB_WV_MATCH = 32'hdc002057;
  localparam logic [6:0] INSN_VWSUB_WV_CLASS = CLASS_VWIDEN_W;
  localparam logic [31:0] INSN_VWSUB_WX_MASK = 32'hfc00707f;  // vwsub.wx
  localparam logic [31:0] INSN_VWSUB_WX_MATCH = 32'hdc006057;
  localparam logic [6:0] INSN_VWSUB_WX_CLASS = CLASS_VWIDEN_W;
  localparam logic [31:0] INSN_VWMULU_VV_MASK = 32'hfc00707f;  // vwmulu.vv
  localparam logic [31:0] INSN_VWMULU_VV_MATCH = 32'he0002057;
  localparam logic [6:0] INSN_VWMULU_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMULU_VX_MASK = 32'hfc00707f;  // vwmulu.vx
  localparam logic [31:0] INSN_VWMULU_VX_MATCH = 32'he0006057;
  localparam logic [6:0] INSN_VWMULU_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMULSU_VV_MASK = 32'hfc00707f;  // vwmulsu.vv
  localparam logic [31:0] INSN_VWMULSU_VV_MATCH = 32'he8002057;
  localparam logic [6:0] INSN_VWMULSU_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMULSU_VX_MASK = 32'hfc00707f;  // vwmulsu.vx
  localparam logic [31:0] INSN_VWMULSU_VX_MATCH = 32'he8006057;
  localparam logic [6:0] INSN_VWMULSU_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMUL_VV_MASK = 32'hfc00707f;  // vwmul.vv
  localparam logic [31:0] INSN_VWMUL_VV_MATCH = 32'hec002057;
  localparam logic [6:0] INSN_VWMUL_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMUL_VX_MASK = 32'hfc00707f;  // vwmul.vx
  localparam logic [31:0] INSN_VWMUL_VX_MATCH = 32'hec006057;
  localparam logic [6:0] INSN_VWMUL_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMACCU_VV_MASK = 32'hfc00707f;  // vwmaccu.vv
  localparam logic [31:0] INSN_VWMACCU_VV_MATCH = 32'hf0002057;
  localparam logic [6:0] INSN_VWMACCU_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMACCU_VX_MASK = 32'hfc00707f;  // vwmaccu.vx
  localparam logic [31:0] INSN_VWMACCU_VX_MATCH = 32'hf0006057;
  localparam logic [6:0] INSN_VWMACCU_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMACC_VV_MASK = 32'hfc00707f;  // vwmacc.vv
  localparam logic [31:0] INSN_VWMACC_VV_MATCH = 32'hf4002057;
  localparam logic [6:0] INSN_VWMACC_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMACC_VX_MASK = 32'hfc00707f;  // vwmacc.vx
  localparam logic [31:0] INSN_VWMACC_VX_MATCH = 32'hf4006057;
  localparam logic [6:0] INSN_VWMACC_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMACCUS_VX_MASK = 32'hfc00707f;  // vwmaccus.vx
  localparam logic [31:0] INSN_VWMACCUS_VX_MATCH = 32'hf8006057;
  localparam logic [6:0] INSN_VWMACCUS_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMACCSU_VV_MASK = 32'hfc00707f;  // vwmaccsu.vv
  localparam logic [31:0] INSN_VWMACCSU_VV_MATCH = 32'hfc002057;
  localparam logic [6:0] INSN_VWMACCSU_VV_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VWMACCSU_VX_MASK = 32'hfc00707f;  // vwmaccsu.vx
  localparam logic [31:0] INSN_VWMACCSU_VX_MATCH = 32'hfc006057;
  localparam logic [6:0] INSN_VWMACCSU_VX_CLASS = CLASS_VWIDEN;
  localparam logic [31:0] INSN_VNSRL_WV_MASK = 32'hfc00707f;  // vnsrl.wv
  localparam logic [31:0] INSN_VNSRL_WV_MATCH = 32'hb0000057;
  localparam logic [6:0] INSN_VNSRL_WV_CLASS = CLASS_VNARROW;
  localparam logic [31:0] INSN_VNSRL_WX_MASK = 32'hfc00707f;  // vnsrl.wx
  localparam logic [31:0] INSN_VNSRL_WX_MATCH = 32'hb0004057;
  localparam logic [6:0] INSN_VNSRL_WX_CLASS = CLASS_VNARROW;
  localparam logic [31:0] INSN_VNSRL_WI_MASK = 32'hfc00707f;  // vnsrl.wi
  localparam logic [31:0] INSN_VNSRL_WI_MATCH = 32'hb0003057;
  localparam logic [6:0] INSN_VNSRL_WI_CLASS = CLASS_VNARROW;
  localparam logic [31:0] INSN_VNSRA_WV_MASK = 32'hfc00707f;  // vnsra.wv
  localparam logic [31:0] INSN_VNSRA_WV_MATCH = 32'hb4000057;
  localparam logic [6:0] INSN_VNSRA_WV_CLASS = CLASS_VNARROW;
  localparam logic [31:0] INSN_VNSRA_WX_MASK = 32'hfc00707f;  // vnsra.wx
  localparam logic [31:0] INSN_VNSRA_WX_MATCH = 32'hb4004057;
  localparam logic [6:0] INSN_VNSRA_WX_CLASS = CLASS_VNARROW;
  localparam logic [31:0] INSN_VNSRA_WI_MASK = 32'hfc00707f;  // vnsra.wi
  localparam logic [31:0] INSN_VNSRA_WI_MATCH = 32'hb4003057;
  localparam logic [6:0] INSN_VNSRA_WI_CLASS = CLASS_VNARROW;
  localparam logic [31:0] INSN_VSADDU_VV_MASK = 32'hfc00707f;  // vsaddu.vv
  localparam logic [31:0] INSN_VSADDU_VV_MATCH = 32'h80000057;
  localparam logic [6:0] INSN_VSADDU_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSADDU_VX_MASK = 32'hfc00707f;  // vsaddu.vx
  localparam logic [31:0] INSN_VSADDU_VX_MATCH = 32'h80004057;
  localparam logic [6:0] INSN_VSADDU_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSADDU_VI_MASK = 32'hfc00707f;  // vsaddu.vi
  localparam logic [31:0] INSN_VSADDU_VI_MATCH = 32'h80003057;
  localparam logic [6:0] INSN_VSADDU_VI_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSADD_VV_MASK = 32'hfc00707f;  // vsadd.vv
  localparam logic [31:0] INSN_VSADD_VV_MATCH = 32'h84000057;
  localparam logic [6:0] INSN_VSADD_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSADD_VX_MASK = 32'hfc00707f;  // vsadd.vx
  localparam logic [31:0] INSN_VSADD_VX_MATCH = 32'h84004057;
  localparam logic [6:0] INSN_VSADD_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSADD_VI_MASK = 32'hfc00707f;  // vsadd.vi
  localparam logic [31:0] INSN_VSADD_VI_MATCH = 32'h84003057;
  localparam logic [6:0] INSN_VSADD_VI_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSUBU_VV_MASK = 32'hfc00707f;  // vssubu.vv
  localparam logic [31:0] INSN_VSSUBU_VV_MATCH = 32'h88000057;
  localparam logic [6:0] INSN_VSSUBU_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSUBU_VX_MASK = 32'hfc00707f;  // vssubu.vx
  localparam logic [31:0] INSN_VSSUBU_VX_MATCH = 32'h88004057;
  localparam logic [6:0] INSN_VSSUBU_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSUB_VV_MASK = 32'hfc00707f;  // vssub.vv
  localparam logic [31:0] INSN_VSSUB_VV_MATCH = 32'h8c000057;
  localparam logic [6:0] INSN_VSSUB_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSUB_VX_MASK = 32'hfc00707f;  // vssub.vx
  localparam logic [31:0] INSN_VSSUB_VX_MATCH = 32'h8c004057;
  localparam logic [6:0] INSN_VSSUB_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VAADDU_VV_MASK = 32'hfc00707f;  // vaaddu.vv
  localparam logic [31:0] INSN_VAADDU_VV_MATCH = 32'h20002057;
  localparam logic [6:0] INSN_VAADDU_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VAADDU_VX_MASK = 32'hfc00707f;  // vaaddu.vx
  localparam logic [31:0] INSN_VAADDU_VX_MATCH = 32'h20006057;
  localparam logic [6:0] INSN_VAADDU_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VAADD_VV_MASK = 32'hfc00707f;  // vaadd.vv
  localparam logic [31:0] INSN_VAADD_VV_MATCH = 32'h24002057;
  localparam logic [6:0] INSN_VAADD_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VAADD_VX_MASK = 32'hfc00707f;  // vaadd.vx
  localparam logic [31:0] INSN_VAADD_VX_MATCH = 32'h24006057;
  localparam logic [6:0] INSN_VAADD_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VASUBU_VV_MASK = 32'hfc00707f;  // vasubu.vv
  localparam logic [31:0] INSN_VASUBU_VV_MATCH = 32'h28002057;
  localparam logic [6:0] INSN_VASUBU_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VASUBU_VX_MASK = 32'hfc00707f;  // vasubu.vx
  localparam logic [31:0] INSN_VASUBU_VX_MATCH = 32'h28006057;
  localparam logic [6:0] INSN_VASUBU_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VASUB_VV_MASK = 32'hfc00707f;  // vasub.vv
  localparam logic [31:0] INSN_VASUB_VV_MATCH = 32'h2c002057;
  localparam logic [6:0] INSN_VASUB_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VASUB_VX_MASK = 32'hfc00707f;  // vasub.vx
  localparam logic [31:0] INSN_VASUB_VX_MATCH = 32'h2c006057;
  localparam logic [6:0] INSN_VASUB_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSMUL_VV_MASK = 32'hfc00707f;  // vsmul.vv
  localparam logic [31:0] INSN_VSMUL_VV_MATCH = 32'h9c000057;
  localparam logic [6:0] INSN_VSMUL_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSMUL_VX_MASK = 32'hfc00707f;  // vsmul.vx
  localparam logic [31:0] INSN_VSMUL_VX_MATCH = 32'h9c004057;
  localparam logic [6:0] INSN_VSMUL_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSRL_VV_MASK = 32'hfc00707f;  // vssrl.vv
  localparam logic [31:0] INSN_VSSRL_VV_MATCH = 32'ha8000057;
  localparam logic [6:0] INSN_VSSRL_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSRL_VX_MASK = 32'hfc00707f;  // vssrl.vx
  localparam logic [31:0] INSN_VSSRL_VX_MATCH = 32'ha8004057;
  localparam logic [6:0] INSN_VSSRL_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSRL_VI_MASK = 32'hfc00707f;  // vssrl.vi
  localparam logic [31:0] INSN_VSSRL_VI_MATCH = 32'ha8003057;
  localparam logic [6:0] INSN_VSSRL_VI_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSRA_VV_MASK = 32'hfc00707f;  // vssra.vv
  localparam logic [31:0] INSN_VSSRA_VV_MATCH = 32'hac000057;
  localparam logic [6:0] INSN_VSSRA_VV_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSRA_VX_MASK = 32'hfc00707f;  // vssra.vx
  localparam logic [31:0] INSN_VSSRA_VX_MATCH = 32'hac004057;
  localparam logic [6:0] INSN_VSSRA_VX_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VSSRA_VI_MASK = 32'hfc00707f;  // vssra.vi
  localparam logic [31:0] INSN_VSSRA_VI_MATCH = 32'hac003057;
  localparam logic [6:0] INSN_VSSRA_VI_CLASS = CLASS_VFIX;
  localparam logic [31:0] INSN_VNCLIPU_WV_MASK = 32'hfc00707f;  // vnclipu.wv
  localparam logic [31:0] INSN_VNCLIPU_WV_MATCH = 32'hb8000057;
  localparam logic [6:0] INSN_VNCLIPU_WV_CLASS = CLASS_VFIX_NARROW;
  localparam logic [31:0] INSN_VNCLIPU_WX_MASK = 32'hfc00707f;  // vnclipu.wx
  localparam logic [31:0] INSN_VNCLIPU_WX_MATCH = 32'hb8004057;
  localparam logic [6:0] INSN_VNCLIPU_WX_CLASS = CLASS_VFIX_NARROW;
  localparam logic [31:0] INSN_VNCLIPU_WI_MASK = 32'hfc00707f;  // vnclipu.wi
  localparam logic [31:0] INSN_VNCLIPU_WI_MATCH = 32'hb8003057;
  localparam logic [6:0] INSN_VNCLIPU_WI_CLASS = CLASS_VFIX_NARROW;
  localparam logic [31:0] INSN_VNCLIP_WV_MASK = 32'hfc00707f;  // vnclip.wv
  localparam logic [31:0] INSN_VNCLIP_WV_MATCH = 32'hbc000057;
  localparam logic [6:0] INSN_VNCLIP_WV_CLASS = CLASS_VFIX_NARROW;
  localparam logic [31:0] INSN_VNCLIP_WX_MASK = 32'hfc00707f;  // vnclip.wx
  localparam logic [31:0] INSN_VNCLIP_WX_MATCH = 32'hbc004057;
  localparam logic [6:0] INSN_VNCLIP_WX_CLASS = CLASS_VFIX_NARROW;
  localparam logic [31:0] INSN_VNCLIP_WI_MASK = 32'hfc00707f;  // vnclip.wi
  localparam logic [31:0] INSN_VNCLIP_WI_MATCH = 32'hbc003057;
  localparam logic [6:0] INSN_VNCLIP_WI_CLASS = CLASS_VFIX_NARROW;
  localparam logic [31:0] INSN_VREDSUM_VS_MASK = 32'hfc00707f;  // vredsum.vs
  localparam logic [31:0] INSN_VREDSUM_VS_MATCH = 32'h00002057;
  localparam logic [6:0] INSN_VREDSUM_VS_CLASS = CLASS_VREDUCE;
  localparam logic [31:0] INSN_VREDAND_VS_MASK = 32'hfc00707f;  // vredand.vs
  localparam logic [31:0] INSN_VREDAND_VS_MATCH = 32'h04002057;
  localparam logic [6:0] INSN_VREDAND_VS_CLASS = CLASS_VREDUCE;
  localparam logic [31:0] INSN_VREDOR_VS_MASK = 32'hfc00707f;  // vredor.vs
  localparam logic [31:0] INSN_VREDOR_VS_MATCH = 32'h08002057;
  localparam logic [6:0] INSN_VREDOR_VS_CLASS = CLASS_VREDUCE;
  localparam logic [31:0] INSN_VREDXOR_VS_MASK = 32'hfc00707f;  // vredxor.vs
  localparam logic [31:0] INSN_VREDXOR_VS_MATCH = 32'h0c002057;
  localparam logic [6:0] INSN_VREDXOR_VS_CLASS = CLASS_VREDUCE;
  localparam logic [31:0] INSN_VREDMINU_VS_MASK = 32'hfc00707f;  // vredminu.vs
  localparam logic [31:0] INSN_VREDMINU_VS_MATCH = 32'h10002057;
  localparam logic [6:0] INSN_VREDMINU_VS_CLASS = CLASS_VREDUCE;
  localparam logic [31:0] INSN_VREDMIN_VS_MASK = 32'hfc00707f;  // vredmin.vs
  localparam logic [31:0] INSN_VREDMIN_VS_MATCH = 32'h14002057;
  localparam logic [6:0] INSN_VREDMIN_VS_CLASS = CLASS_VREDUCE;
  localparam logic [31:0] INSN_VREDMAXU_VS_MASK = 32'hfc00707f;  // vredmaxu.vs
  localparam logic [31:0] INSN_VREDMAXU_VS_MATCH = 32'h18002057;
  localparam logic [6:0] INSN_VREDMAXU_VS_CLASS = CLASS_VREDUCE;
  localparam logic [31:0] INSN_VREDMAX_VS_MASK = 32'hfc00707f;  // vredmax.vs
  localparam logic [31:0] INSN_VREDMAX_VS_MATCH = 32'h1c002057;
  localparam logic [6:0] INSN_VREDMAX_VS_CLASS = CLASS_VREDUCE;
  localparam logic [31:0] INSN_VWREDSUMU_VS_MASK = 32'hfc00707f;  // vwredsumu.vs
  localparam logic [31:0] INSN_VWREDSUMU_VS_MATCH = 32'hc0000057;
  localparam logic [6:0] INSN_VWREDSUMU_VS_CLASS = CLASS_VREDUCE_WIDEN;
  localparam logic [31:0] INSN_VWREDSUM_VS_MASK = 32'hfc00707f;  // vwredsum.vs
  localparam logic [31:0] INSN_VWREDSUM_VS_MATCH = 32'hc4000057;
  localparam logic [6:0] INSN_VWREDSUM_VS_CLASS = CLASS_VREDUCE_WIDEN;
  localparam logic [31:0] INSN_VFADD_VV_MASK = 32'hfc00707f;  // vfadd.vv
  localparam logic [31:0] INSN_VFADD_VV_MATCH = 32'h00001057;
  localparam logic [6:0] INSN_VFADD_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFADD_VF_MASK = 32'hfc00707f;  // vfadd.vf
  localparam logic [31:0] INSN_VFADD_VF_MATCH = 32'h00005057;
  localparam logic [6:0] INSN_VFADD_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFSUB_VV_MASK = 32'hfc00707f;  // vfsub.vv
  localparam logic [31:0] INSN_VFSUB_VV_MATCH = 32'h08001057;
  localparam logic [6:0] INSN_VFSUB_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFSUB_VF_MASK = 32'hfc00707f;  // vfsub.vf
  localparam logic [31:0] INSN_VFSUB_VF_MATCH = 32'h08005057;
  localparam logic [6:0] INSN_VFSUB_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFRSUB_VF_MASK = 32'hfc00707f;  // vfrsub.vf
  localparam logic [31:0] INSN_VFRSUB_VF_MATCH = 32'h9c005057;
  localparam logic [6:0] INSN_VFRSUB_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMUL_VV_MASK = 32'hfc00707f;  // vfmul.vv
  localparam logic [31:0] INSN_VFMUL_VV_MATCH = 32'h90001057;
  localparam logic [6:0] INSN_VFMUL_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMUL_VF_MASK = 32'hfc00707f;  // vfmul.vf
  localparam logic [31:0] INSN_VFMUL_VF_MATCH = 32'h90005057;
  localparam logic [6:0] INSN_VFMUL_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFDIV_VV_MASK = 32'hfc00707f;  // vfdiv.vv
  localparam logic [31:0] INSN_VFDIV_VV_MATCH = 32'h80001057;
  localparam logic [6:0] INSN_VFDIV_VV_CLASS = CLASS_VFP_DIVIDE;
  localparam logic [31:0] INSN_VFDIV_VF_MASK = 32'hfc00707f;  // vfdiv.vf
  localparam logic [31:0] INSN_VFDIV_VF_MATCH = 32'h80005057;
  localparam logic [6:0] INSN_VFDIV_VF_CLASS = CLASS_VFP_DIVIDE;
  localparam logic [31:0] INSN_VFRDIV_VF_MASK = 32'hfc00707f;  // vfrdiv.vf
  localparam logic [31:0] INSN_VFRDIV_VF_MATCH = 32'h84005057;
  localparam logic [6:0] INSN_VFRDIV_VF_CLASS = CLASS_VFP_DIVIDE;
  localparam logic [31:0] INSN_VFMADD_VV_MASK = 32'hfc00707f;  // vfmadd.vv
  localparam logic [31:0] INSN_VFMADD_VV_MATCH = 32'ha0001057;
  localparam logic [6:0] INSN_VFMADD_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMADD_VF_MASK = 32'hfc00707f;  // vfmadd.vf
  localparam logic [31:0] INSN_VFMADD_VF_MATCH = 32'ha0005057;
  localparam logic [6:0] INSN_VFMADD_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFNMADD_VV_MASK = 32'hfc00707f;  // vfnmadd.vv
  localparam logic [31:0] INSN_VFNMADD_VV_MATCH = 32'ha4001057;
  localparam logic [6:0] INSN_VFNMADD_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFNMADD_VF_MASK = 32'hfc00707f;  // vfnmadd.vf
  localparam logic [31:0] INSN_VFNMADD_VF_MATCH = 32'ha4005057;
  localparam logic [6:0] INSN_VFNMADD_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMSUB_VV_MASK = 32'hfc00707f;  // vfmsub.vv
  localparam logic [31:0] INSN_VFMSUB_VV_MATCH = 32'ha8001057;
  localparam logic [6:0] INSN_VFMSUB_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMSUB_VF_MASK = 32'hfc00707f;  // vfmsub.vf
  localparam logic [31:0] INSN_VFMSUB_VF_MATCH = 32'ha8005057;
  localparam logic [6:0] INSN_VFMSUB_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFNMSUB_VV_MASK = 32'hfc00707f;  // vfnmsub.vv
  localparam logic [31:0] INSN_VFNMSUB_VV_MATCH = 32'hac001057;
  localparam logic [6:0] INSN_VFNMSUB_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFNMSUB_VF_MASK = 32'hfc00707f;  // vfnmsub.vf
  localparam logic [31:0] INSN_VFNMSUB_VF_MATCH = 32'hac005057;
  localparam logic [6:0] INSN_VFNMSUB_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMACC_VV_MASK = 32'hfc00707f;  // vfmacc.vv
  localparam logic [31:0] INSN_VFMACC_VV_MATCH = 32'hb0001057;
  localparam logic [6:0] INSN_VFMACC_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMACC_VF_MASK = 32'hfc00707f;  // vfmacc.vf
  localparam logic [31:0] INSN_VFMACC_VF_MATCH = 32'hb0005057;
  localparam logic [6:0] INSN_VFMACC_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFNMACC_VV_MASK = 32'hfc00707f;  // vfnmacc.vv
  localparam logic [31:0] INSN_VFNMACC_VV_MATCH = 32'hb4001057;
  localparam logic [6:0] INSN_VFNMACC_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFNMACC_VF_MASK = 32'hfc00707f;  // vfnmacc.vf
  localparam logic [31:0] INSN_VFNMACC_VF_MATCH = 32'hb4005057;
  localparam logic [6:0] INSN_VFNMACC_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMSAC_VV_MASK = 32'hfc00707f;  // vfmsac.vv
  localparam logic [31:0] INSN_VFMSAC_VV_MATCH = 32'hb8001057;
  localparam logic [6:0] INSN_VFMSAC_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMSAC_VF_MASK = 32'hfc00707f;  // vfmsac.vf
  localparam logic [31:0] INSN_VFMSAC_VF_MATCH = 32'hb8005057;
  localparam logic [6:0] INSN_VFMSAC_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFNMSAC_VV_MASK = 32'hfc00707f;  // vfnmsac.vv
  localparam logic [31:0] INSN_VFNMSAC_VV_MATCH = 32'hbc001057;
  localparam logic [6:0] INSN_VFNMSAC_VV_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFNMSAC_VF_MASK = 32'hfc00707f;  // vfnmsac.vf
  localparam logic [31:0] INSN_VFNMSAC_VF_MATCH = 32'hbc005057;
  localparam logic [6:0] INSN_VFNMSAC_VF_CLASS = CLASS_VFP;
  localparam logic [31:0] INSN_VFMIN_VV_MASK = 32'hfc00707f;  // vfmin.vv
  localparam logic [31:0] INSN_VFMIN_VV_MATCH = 32'h10001057;
  localparam logic [6:0] INSN_VFMIN_VV_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFMIN_VF_MASK = 32'hfc00707f;  // vfmin.vf
  localparam logic [31:0] INSN_VFMIN_VF_MATCH = 32'h10005057;
  localparam logic [6:0] INSN_VFMIN_VF_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFMAX_VV_MASK = 32'hfc00707f;  // vfmax.vv
  localparam logic [31:0] INSN_VFMAX_VV_MATCH = 32'h18001057;
  localparam logic [6:0] INSN_VFMAX_VV_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFMAX_VF_MASK = 32'hfc00707f;  // vfmax.vf
  localparam logic [31:0] INSN_VFMAX_VF_MATCH = 32'h18005057;
  localparam logic [6:0] INSN_VFMAX_VF_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFSGNJ_VV_MASK = 32'hfc00707f;  // vfsgnj.vv
  localparam logic [31:0] INSN_VFSGNJ_VV_MATCH = 32'h20001057;
  localparam logic [6:0] INSN_VFSGNJ_VV_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFSGNJ_VF_MASK = 32'hfc00707f;  // vfsgnj.vf
  localparam logic [31:0] INSN_VFSGNJ_VF_MATCH = 32'h20005057;
  localparam logic [6:0] INSN_VFSGNJ_VF_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFSGNJN_VV_MASK = 32'hfc00707f;  // vfsgnjn.vv
  localparam logic [31:0] INSN_VFSGNJN_VV_MATCH = 32'h24001057;
  localparam logic [6:0] INSN_VFSGNJN_VV_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFSGNJN_VF_MASK = 32'hfc00707f;  // vfsgnjn.vf
  localparam logic [31:0] INSN_VFSGNJN_VF_MATCH = 32'h24005057;
  localparam logic [6:0] INSN_VFSGNJN_VF_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFSGNJX_VV_MASK = 32'hfc00707f;  // vfsgnjx.vv
  localparam logic [31:0] INSN_VFSGNJX_VV_MATCH = 32'h28001057;
  localparam logic [6:0] INSN_VFSGNJX_VV_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFSGNJX_VF_MASK = 32'hfc00707f;  // vfsgnjx.vf
  localparam logic [31:0] INSN_VFSGNJX_VF_MATCH = 32'h28005057;
  localparam logic [6:0] INSN_VFSGNJX_VF_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFSQRT_V_MASK = 32'hfc0ff07f;  // vfsqrt.v
  localparam logic [31:0] INSN_VFSQRT_V_MATCH = 32'h4c001057;
  localparam logic [6:0] INSN_VFSQRT_V_CLASS = CLASS_VFP_DIVIDE;
  localparam logic [31:0] INSN_VFRSQRT7_V_MASK = 32'hfc0ff07f;  // vfrsqrt7.v
  localparam logic [31:0] INSN_VFRSQRT7_V_MATCH = 32'h4c021057;
  localparam logic [6:0] INSN_VFRSQRT7_V_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFREC7_V_MASK = 32'hfc0ff07f;  // vfrec7.v
  localparam logic [31:0] INSN_VFREC7_V_MATCH = 32'h4c029057;
  localparam logic [6:0] INSN_VFREC7_V_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFCLASS_V_MASK = 32'hfc0ff07f;  // vfclass.v
  localparam logic [31:0] INSN_VFCLASS_V_MATCH = 32'h4c081057;
  localparam logic [6:0] INSN_VFCLASS_V_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VFMERGE_VFM_MASK = 32'hfe00707f;  // vfmerge.vfm
  localparam logic [31:0] INSN_VFMERGE_VFM_MATCH = 32'h5c005057;
  localparam logic [6:0] INSN_VFMERGE_VFM_CLASS = CLASS_VFP_MERGE;
  localparam logic [31:0] INSN_VFMV_V_F_MASK = 32'hfff0707f;  // vfmv.v.f
  localparam logic [31:0] INSN_VFMV_V_F_MATCH = 32'h5e005057;
  localparam logic [6:0] INSN_VFMV_V_F_CLASS = CLASS_VFP_MOVE;
  localparam logic [31:0] INSN_VMFEQ_VV_MASK = 32'hfc00707f;  // vmfeq.vv
  localparam logic [31:0] INSN_VMFEQ_VV_MATCH = 32'h60001057;
  localparam logic [6:0] INSN_VMFEQ_VV_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFEQ_VF_MASK = 32'hfc00707f;  // vmfeq.vf
  localparam logic [31:0] INSN_VMFEQ_VF_MATCH = 32'h60005057;
  localparam logic [6:0] INSN_VMFEQ_VF_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFLE_VV_MASK = 32'hfc00707f;  // vmfle.vv
  localparam logic [31:0] INSN_VMFLE_VV_MATCH = 32'h64001057;
  localparam logic [6:0] INSN_VMFLE_VV_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFLE_VF_MASK = 32'hfc00707f;  // vmfle.vf
  localparam logic [31:0] INSN_VMFLE_VF_MATCH = 32'h64005057;
  localparam logic [6:0] INSN_VMFLE_VF_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFLT_VV_MASK = 32'hfc00707f;  // vmflt.vv
  localparam logic [31:0] INSN_VMFLT_VV_MATCH = 32'h6c001057;
  localparam logic [6:0] INSN_VMFLT_VV_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFLT_VF_MASK = 32'hfc00707f;  // vmflt.vf
  localparam logic [31:0] INSN_VMFLT_VF_MATCH = 32'h6c005057;
  localparam logic [6:0] INSN_VMFLT_VF_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFNE_VV_MASK = 32'hfc00707f;  // vmfne.vv
  localparam logic [31:0] INSN_VMFNE_VV_MATCH = 32'h70001057;
  localparam logic [6:0] INSN_VMFNE_VV_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFNE_VF_MASK = 32'hfc00707f;  // vmfne.vf
  localparam logic [31:0] INSN_VMFNE_VF_MATCH = 32'h70005057;
  localparam logic [6:0] INSN_VMFNE_VF_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFGT_VF_MASK = 32'hfc00707f;  // vmfgt.vf
  localparam logic [31:0] INSN_VMFGT_VF_MATCH = 32'h74005057;
  localparam logic [6:0] INSN_VMFGT_VF_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VMFGE_VF_MASK = 32'hfc00707f;  // vmfge.vf
  localparam logic [31:0] INSN_VMFGE_VF_MATCH = 32'h7c005057;
  localparam logic [6:0] INSN_VMFGE_VF_CLASS = CLASS_VFP_COMPARE;
  localparam logic [31:0] INSN_VFCVT_XU_F_V_MASK = 32'hfc0ff07f;  // vfcvt.xu.f.v
  localparam logic [31:0] INSN_VFCVT_XU_F_V_MATCH = 32'h48001057;
  localparam logic [6:0] INSN_VFCVT_XU_F_V_CLASS = CLASS_VFP_CONVERT;
  localparam logic [31:0] INSN_VFCVT_X_F_V_MASK = 32'hfc0ff07f;  // vfcvt.x.f.v
  localparam logic [31:0] INSN_VFCVT_X_F_V_MATCH = 32'h48009057;
  localparam logic [6:0] INSN_VFCVT_X_F_V_CLASS = CLASS_VFP_CONVERT;
  localparam logic [31:0] INSN_VFCVT_F_XU_V_MASK = 32'hfc0ff07f;  // vfcvt.f.xu.v
  localparam logic [31:0] INSN_VFCVT_F_XU_V_MATCH = 32'h48011057;
  localparam logic [6:0] INSN_VFCVT_F_XU_V_CLASS = CLASS_VFP_CONVERT;
  localparam logic [31:0] INSN_VFCVT_F_X_V_MASK = 32'hfc0ff07f;  // vfcvt.f.x.v
  localparam logic [31:0] INSN_VFCVT_F_X_V_MATCH = 32'h48019057;
  localparam logic [6:0] INSN_VFCVT_F_X_V_CLASS = CLASS_VFP_CONVERT;
  localparam logic [31:0] INSN_VFCVT_RTZ_XU_F_V_MASK = 32'hfc0ff07f;  // vfcvt.rtz.xu.f.v
  localparam logic [31:0] INSN_VFCVT_RTZ_XU_F_V_MATCH = 32'h48031057;
  localparam logic [6:0] INSN_VFCVT_RTZ_XU_F_V_CLASS = CLASS_VFP_CONVERT;
  localparam logic [31:0] INSN_VFCVT_RTZ_X_F_V_MASK = 32'hfc0ff07f;  // vfcvt.rtz.x.f.v
  localparam logic [31:0] INSN_VFCVT_RTZ_X_F_V_MATCH = 32'h48039057;
  localparam logic [6:0] INSN_VFCVT_RTZ_X_F_V_CLASS = CLASS_VFP_CONVERT;
  localparam logic [31:0] INSN_VFWCVT_F_XU_V_MASK = 32'hfc0ff07f;  // vfwcvt.f.xu.v
  localparam logic [31:0] INSN_VFWCVT_F_XU_V_MATCH = 32'h48051057;
  localparam logic [6:0] INSN_VFWCVT_F_XU_V_CLASS = CLASS_VFP_WIDEN;
  localparam logic [31:0] INSN_VFWCVT_F_X_V_MASK = 32'hfc0ff07f;  // vfwcvt.f.x.v
  localparam logic [31:0] INSN_VFWCVT_F_X_V_MATCH = 32'h48059057;
  localparam logic [6:0] INSN_VFWCVT_F_X_V_CLASS = CLASS_VFP_WIDEN;
  localparam logic [31:0] INSN_VFNCVT_XU_F_W_MASK = 32'hfc0ff07f;  // vfncvt.xu.f.w
  localparam logic [31:0] INSN_VFNCVT_XU_F_W_MATCH = 32'h48081057;
  localparam logic [6:0] INSN_VFNCVT_XU_F_W_CLASS = CLASS_VFP_NARROW;
  localparam logic [31:0] INSN_VFNCVT_X_F_W_MASK = 32'hfc0ff07f;  // vfncvt.x.f.w
  localparam logic [31:0] INSN_VFNCVT_X_F_W_MATCH = 32'h48089057;
  localparam logic [6:0] INSN_VFNCVT_X_F_W_CLASS = CLASS_VFP_NARROW;
  localparam logic [31:0] INSN_VFNCVT_RTZ_XU_F_W_MASK = 32'hfc0ff07f;  // vfncvt.rtz.xu.f.w
  localparam logic [31:0] INSN_VFNCVT_RTZ_XU_F_W_MATCH = 32'h480b1057;
  localparam logic [6:0] INSN_VFNCVT_RTZ_XU_F_W_CLASS = CLASS_VFP_NARROW;
  localparam logic [31:0] INSN_VFNCVT_RTZ_X_F_W_MASK = 32'hfc0ff07f;  // vfncvt.rtz.x.f.w
  localparam logic [31:0] INSN_VFNCVT_RTZ_X_F_W_MATCH = 32'h480b9057;
  localparam logic [6:0] INSN_VFNCVT_RTZ_X_F_W_CLASS = CLASS_VFP_NARROW;
  localparam logic [31:0] INSN_VFREDUSUM_VS_MASK = 32'hfc00707f;  // vfredusum.vs
  localparam logic [31:0] INSN_VFREDUSUM_VS_MATCH = 32'h04001057;
  localparam logic [6:0] INSN_VFREDUSUM_VS_CLASS = CLASS_VFP_REDUCE;
  localparam logic [31:0] INSN_VFREDOSUM_VS_MASK = 32'hfc00707f;  // vfredosum.vs
  localparam logic [31:0] INSN_VFREDOSUM_VS_MATCH = 32'h0c001057;
  localparam logic [6:0] INSN_VFREDOSUM_VS_CLASS = CLASS_VFP_REDUCE;
  localparam logic [31:0] INSN_VFREDMIN_VS_MASK = 32'hfc00707f;  // vfredmin.vs
  localparam logic [31:0] INSN_VFREDMIN_VS_MATCH = 32'h14001057;
  localparam logic [6:0] INSN_VFREDMIN_VS_CLASS = CLASS_VFP_REDUCE;
  localparam logic [31:0] INSN_VFREDMAX_VS_MASK = 32'hfc00707f;  // vfredmax.vs
  localparam logic [31:0] INSN_VFREDMAX_VS_MATCH = 32'h1c001057;
  localparam logic [6:0] INSN_VFREDMAX_VS_CLASS = CLASS_VFP_REDUCE;
  localparam logic [31:0] INSN_VMANDN_MM_MASK = 32'hfe00707f;  // vmandn.mm
  localparam logic [31:0] INSN_VMANDN_MM_MATCH = 32'h62002057;
  localparam logic [6:0] INSN_VMANDN_MM_CLASS = CLASS_VMASK;
  localparam logic [31:0] INSN_VMAND_MM_MASK = 32'hfe00707f;  // vmand.mm
  localparam logic [31:0] INSN_VMAND_MM_MATCH = 32'h66002057;
  localparam logic [6:0] INSN_VMAND_MM_CLASS = CLASS_VMASK;
  localparam logic [31:0] INSN_VMOR_MM_MASK = 32'hfe00707f;  // vmor.mm
  localparam logic [31:0] INSN_VMOR_MM_MATCH = 32'h6a002057;
  localparam logic [6:0] INSN_VMOR_MM_CLASS = CLASS_VMASK;
  localparam logic [31:0] INSN_VMXOR_MM_MASK = 32'hfe00707f;  // vmxor.mm
  localparam logic [31:0] INSN_VMXOR_MM_MATCH = 32'h6e002057;
  localparam logic [6:0] INSN_VMXOR_MM_CLASS = CLASS_VMASK;
  localparam logic [31:0] INSN_VMORN_MM_MASK = 32'hfe00707f;  // vmorn.mm
  localparam logic [31:0] INSN_VMORN_MM_MATCH = 32'h72002057;
  localparam logic [6:0] INSN_VMORN_MM_CLASS = CLASS_VMASK;
  localparam logic [31:0] INSN_VMNAND_MM_MASK = 32'hfe00707f;  // vmnand.mm
  localparam logic [31:0] INSN_VMNAND_MM_MATCH = 32'h76002057;
  localparam logic [6:0] INSN_VMNAND_MM_CLASS = CLASS_VMASK;
  localparam logic [31:0] INSN_VMNOR_MM_MASK = 32'hfe00707f;  // vmnor.mm
  localparam logic [31:0] INSN_VMNOR_MM_MATCH = 32'h7a002057;
  localparam logic [6:0] INSN_VMNOR_MM_CLASS = CLASS_VMASK;
  localparam logic [31:0] INSN_VMXNOR_MM_MASK = 32'hfe00707f;  // vmxnor.mm
  localparam logic [31:0] INSN_VMXNOR_MM_MATCH = 32'h7e002057;
  localparam logic [6:0] INSN_VMXNOR_MM_CLASS = CLASS_VMASK;
  localparam logic [31:0] INSN_VCPOP_M_MASK = 32'hfc0ff07f;  // vcpop.m
  localparam logic [31:0] INSN_VCPOP_M_MATCH = 32'h40082057;
  localparam logic [6:0] INSN_VCPOP_M_CLASS = CLASS_VMASK_COUNT;
  localparam logic [31:0] INSN_VFIRST_M_MASK = 32'hfc0ff07f;  // vfirst.m
  localparam logic [31:0] INSN_VFIRST_M_MATCH = 32'h4008a057;
  localparam logic [6:0] INSN_VFIRST_M_CLASS = CLASS_VMASK_COUNT;
  localparam logic [31:0] INSN_VMSBF_M_MASK = 32'hfc0ff07f;  // vmsbf.m
  localparam logic [31:0] INSN_VMSBF_M_MATCH = 32'h5000a057;
  localparam logic [6:0] INSN_VMSBF_M_CLASS = CLASS_VMASK_SET;
  localparam logic [31:0] INSN_VMSOF_M_MASK = 32'hfc0ff07f;  // vmsof.m
  localparam logic [31:0] INSN_VMSOF_M_MATCH = 32'h50012057;
  localparam logic [6:0] INSN_VMSOF_M_CLASS = CLASS_VMASK_SET;
  localparam logic [31:0] INSN_VMSIF_M_MASK = 32'hfc0ff07f;  // vmsif.m
  localparam logic [31:0] INSN_VMSIF_M_MATCH = 32'h5001a057;
  localparam logic [6:0] INSN_VMSIF_M_CLASS = CLASS_VMASK_SET;
  localparam logic [31:0] INSN_VIOTA_M_MASK = 32'hfc0ff07f;  // viota.m
  localparam logic [31:0] INSN_VIOTA_M_MATCH = 32'h50082057;
  localparam logic [6:0] INSN_VIOTA_M_CLASS = CLASS_VIOTA;
  localparam logic [31:0] INSN_VID_V_MASK = 32'hfdfff07f;  // vid.v
  localparam logic [31:0] INSN_VID_V_MATCH = 32'h5008a057;
  localparam logic [6:0] INSN_VID_V_CLASS = CLASS_VID;
  localparam logic [31:0] INSN_VMV_X_S_MASK = 32'hfe0ff07f;  // vmv.x.s
  localparam logic [31:0] INSN_VMV_X_S_MATCH = 32'h42002057;
  localparam logic [6:0] INSN_VMV_X_S_CLASS = CLASS_VMOVE_SCALAR;
  localparam logic [31:0] INSN_VMV_S_X_MASK = 32'hfff0707f;  // vmv.s.x
  localparam logic [31:0] INSN_VMV_S_X_MATCH = 32'h42006057;
  localparam logic [6:0] INSN_VMV_S_X_CLASS = CLASS_VMOVE_SCALAR;
  localparam logic [31:0] INSN_VFMV_F_S_MASK = 32'hfe0ff07f;  // vfmv.f.s
  localparam logic [31:0] INSN_VFMV_F_S_MATCH = 32'h42001057;
  localparam logic [6:0] INSN_VFMV_F_S_CLASS = CLASS_VMOVE_SCALAR_FP;
  localparam logic [31:0] INSN_VFMV_S_F_MASK = 32'hfff0707f;  // vfmv.s.f
  localparam logic [31:0] INSN_VFMV_S_F_MATCH = 32'h42005057;
  localparam logic [6:0] INSN_VFMV_S_F_CLASS = CLASS_VMOVE_SCALAR_FP;
  localparam logic [31:0] INSN_VSLIDEUP_VX_MASK = 32'hfc00707f;  // vslideup.vx
  localparam logic [31:0] INSN_VSLIDEUP_VX_MATCH = 32'h38004057;
  localparam logic [6:0] INSN_VSLIDEUP_VX_CLASS = CLASS_VSLIDE_UP;
  localparam logic [31:0] INSN_VSLIDEUP_VI_MASK = 32'hfc00707f;  // vslideup.vi
  localparam logic [31:0] INSN_VSLIDEUP_VI_MATCH = 32'h38003057;
  localparam logic [6:0] INSN_VSLIDEUP_VI_CLASS = CLASS_VSLIDE_UP;
  localparam logic [31:0] INSN_VSLIDEDOWN_VX_MASK = 32'hfc00707f;  // vslidedown.vx
  localparam logic [31:0] INSN_VSLIDEDOWN_VX_MATCH = 32'h3c004057;
  localparam logic [6:0] INSN_VSLIDEDOWN_VX_CLASS = CLASS_VSLIDE_DOWN;
  localparam logic [31:0] INSN_VSLIDEDOWN_VI_MASK = 32'hfc00707f;  // vslidedown.vi
  localparam logic [31:0] INSN_VSLIDEDOWN_VI_MATCH = 32'h3c003057;
  localparam logic [6:0] INSN_VSLIDEDOWN_VI_CLASS = CLASS_VSLIDE_DOWN;
  localparam logic [31:0] INSN_VSLIDE1UP_VX_MASK = 32'hfc00707f;  // vslide1up.vx
  localparam logic [31:0] INSN_VSLIDE1UP_VX_MATCH = 32'h38006057;
  localparam logic [6:0] INSN_VSLIDE1UP_VX_CLASS = CLASS_VSLIDE_UP;
  localparam logic [31:0] INSN_VSLIDE1DOWN_VX_MASK = 32'hfc00707f;  // vslide1down.vx
  localparam logic [31:0] INSN_VSLIDE1DOWN_VX_MATCH = 32'h3c006057;
  localparam logic [6:0] INSN_VSLIDE1DOWN_VX_CLASS = CLASS_VSLIDE_DOWN;
  localparam logic [31:0] INSN_VFSLIDE1UP_VF_MASK = 32'hfc00707f;  // vfslide1up.vf
  localparam logic [31:0] INSN_VFSLIDE1UP_VF_MATCH = 32'h38005057;
  localparam logic [6:0] INSN_VFSLIDE1UP_VF_CLASS = CLASS_VSLIDE_UP_FP;
  localparam logic [31:0] INSN_VFSLIDE1DOWN_VF_MASK = 32'hfc00707f;  // vfslide1down.vf
  localparam logic [31:0] INSN_VFSLIDE1DOWN_VF_MATCH = 32'h3c005057;
  localparam logic [6:0] INSN_VFSLIDE1DOWN_VF_CLASS = CLASS_VSLIDE_DOWN_FP;
  localparam logic [31:0] INSN_VRGATHER_VV_MASK = 32'hfc00707f;  // vrgather.vv
  localparam logic [31:0] INSN_VRGATHER_VV_MATCH = 32'h30000057;
  localparam logic [6:0] INSN_VRGATHER_VV_CLASS = CLASS_VGATHER;
  localparam logic [31:0] INSN_VRGATHER_VX_MASK = 32'hfc00707f;  // vrgather.vx
  localparam logic [31:0] INSN_VRGATHER_VX_MATCH = 32'h30004057;
  localparam logic [6:0] INSN_VRGATHER_VX_CLASS = CLASS_VGATHER;
  localparam logic [31:0] INSN_VRGATHER_VI_MASK = 32'hfc00707f;  // vrgather.vi
  localparam logic [31:0] INSN_VRGATHER_VI_MATCH = 32'h30003057;
  localparam logic [6:0] INSN_VRGATHER_VI_CLASS = CLASS_VGATHER;
  localparam logic [31:0] INSN_VRGATHEREI16_VV_MASK = 32'hfc00707f;  // vrgatherei16.vv
  localparam logic [31:0] INSN_VRGATHEREI16_VV_MATCH = 32'h38000057;
  localparam logic [6:0] INSN_VRGATHEREI16_VV_CLASS = CLASS_VGATHER16;
  localparam logic [31:0] INSN_VCOMPRESS_VM_MASK = 32'hfe00707f;  // vcompress.vm
  localparam logic [31:0] INSN_VCOMPRESS_VM_MATCH = 32'h5e002057;
  localparam logic [6:0] INSN_VCOMPRESS_VM_CLASS = CLASS_VCOMPRESS;
  localparam logic [31:0] INSN_VMV1R_V_MASK = 32'hfe0ff07f;  // vmv1r.v
  localparam logic [31:0] INSN_VMV1R_V_MATCH = 32'h9e003057;
  localparam logic [6:0] INSN_VMV1R_V_CLASS = CLASS_VMOVE_WHOLE;
  localparam logic [31:0] INSN_VMV2R_V_MASK = 32'hfe0ff07f;  // vmv2r.v
  localparam logic [31:0] INSN_VMV2R_V_MATCH = 32'h9e00b057;
  localparam logic [6:0] INSN_VMV2R_V_CLASS = CLASS_VMOVE_WHOLE;
  localparam logic [31:0] INSN_VMV4R_V_MASK = 32'hfe0ff07f;  // vmv4r.v
  localparam logic [31:0] INSN_VMV4R_V_MATCH = 32'h9e01b057;
  localparam logic [6:0] INSN_VMV4R_V_CLASS = CLASS_VMOVE_WHOLE;
  localparam logic [31:0] INSN_VMV8R_V_MASK = 32'hfe0ff07f;  // vmv8r.v
  localparam logic [31:0] INSN_VMV8R_V_MATCH = 32'h9e03b057;
  localparam logic [6:0] INSN_VMV8R_V_CLASS = CLASS_VMOVE_WHOLE;
  /* verilator lint_on UNUSEDPARAM */
endpackage
