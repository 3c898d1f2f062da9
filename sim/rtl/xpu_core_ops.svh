// Names of what the parts of the core tell each other; included inside of modules.
/* verilator lint_off UNUSEDPARAM */
// operations of xpu_core_fpu
localparam logic [3:0] FPU_MADD = 4'd0;
localparam logic [3:0] FPU_MSUB = 4'd1;
localparam logic [3:0] FPU_NMSUB = 4'd2;
localparam logic [3:0] FPU_NMADD = 4'd3;
localparam logic [3:0] FPU_ADD = 4'd4;
localparam logic [3:0] FPU_SUB = 4'd5;
localparam logic [3:0] FPU_MUL = 4'd6;
localparam logic [3:0] FPU_DIV = 4'd7;
localparam logic [3:0] FPU_SQRT = 4'd8;
localparam logic [3:0] FPU_TO_INT = 4'd9;
localparam logic [3:0] FPU_TO_UINT = 4'd10;
localparam logic [3:0] FPU_FROM_INT = 4'd11;
localparam logic [3:0] FPU_FROM_UINT = 4'd12;
// operations of the integer unit: funct3, and bit 3 for sub and sra
localparam logic [3:0] ALU_ADD = 4'd0;
localparam logic [3:0] ALU_SLL = 4'd1;
localparam logic [3:0] ALU_SLT = 4'd2;
localparam logic [3:0] ALU_SLTU = 4'd3;
localparam logic [3:0] ALU_XOR = 4'd4;
localparam logic [3:0] ALU_SRL = 4'd5;
localparam logic [3:0] ALU_OR = 4'd6;
localparam logic [3:0] ALU_AND = 4'd7;
localparam logic [3:0] ALU_SUB = 4'd8;
localparam logic [3:0] ALU_SRA = 4'd13;
// float operations that take one cycle
localparam logic [3:0] FM_SGNJ = 4'd0;
localparam logic [3:0] FM_SGNJN = 4'd1;
localparam logic [3:0] FM_SGNJX = 4'd2;
localparam logic [3:0] FM_MIN = 4'd3;
localparam logic [3:0] FM_MAX = 4'd4;
localparam logic [3:0] FM_LE = 4'd5;
localparam logic [3:0] FM_LT = 4'd6;
localparam logic [3:0] FM_EQ = 4'd7;
localparam logic [3:0] FM_MOVE = 4'd8;
localparam logic [3:0] FM_CLASS = 4'd9;
// what the execute stage does with an instruction
localparam logic [3:0] KIND_ALU = 4'd0;
localparam logic [3:0] KIND_BRANCH = 4'd1;
localparam logic [3:0] KIND_JUMP = 4'd2;   // x_a: base of the target
localparam logic [3:0] KIND_LOAD = 4'd3;
localparam logic [3:0] KIND_STORE = 4'd4;
localparam logic [3:0] KIND_CSR = 4'd5;
localparam logic [3:0] KIND_FLOAT = 4'd6;  // FM_*
localparam logic [3:0] KIND_FPU = 4'd7;    // in the float unit
localparam logic [3:0] KIND_MULDIV = 4'd8; // in the multiplier and divider
localparam logic [3:0] KIND_FENCE = 4'd9;
localparam logic [3:0] KIND_FENCE_I = 4'd10;
localparam logic [3:0] KIND_WFI = 4'd11;
localparam logic [3:0] KIND_VCONFIG = 4'd12;
localparam logic [3:0] KIND_VECTOR = 4'd13;
localparam logic [3:0] KIND_FAULT = 4'd14; // x_imm: cause
/* verilator lint_on UNUSEDPARAM */
