/* Element types, versions, and what is looked up of an operator. */
#include <inttypes.h>
#include <string.h>

#include "frontend/paddle/program.h"

/* VarType.Type of framework.proto: its name in attributes, PIR's, which may have been another one, and ours. */
static const struct {
    const char *name, *pir, *pir_before;
    xpu_dtype dtype;
    int computes; /* PaddlePaddle's operators take it */
} types[] = {
    [0] = {"bool", "t_bool", NULL, XPU_BOOL, 1},
    [1] = {"int16", "t_i16", NULL, XPU_I16, 1},
    [2] = {"int32", "t_i32", NULL, XPU_I32, 1},
    [3] = {"int64", "t_i64", "t_index", XPU_I64, 1},
    [4] = {"float16", "t_f16", NULL, XPU_F16, 1},
    [5] = {"float32", "t_f32", NULL, XPU_F32, 1},
    [6] = {"float64", "t_f64", NULL, XPU_F64, 1},
    [7] = {"dense_tensor", NULL, NULL, XPU_DTYPE_NONE, 0},
    [8] = {"selected_rows", NULL, NULL, XPU_DTYPE_NONE, 0},
    [9] = {"feed_minibatch", NULL, NULL, XPU_DTYPE_NONE, 0},
    [10] = {"fetch_list", NULL, NULL, XPU_DTYPE_NONE, 0},
    [11] = {"step_scopes", NULL, NULL, XPU_DTYPE_NONE, 0},
    [12] = {"lod_rank_table", NULL, NULL, XPU_DTYPE_NONE, 0},
    [13] = {"dense_tensor_array", NULL, NULL, XPU_DTYPE_NONE, 0},
    [14] = {"place_list", NULL, NULL, XPU_DTYPE_NONE, 0},
    [15] = {"reader", NULL, NULL, XPU_DTYPE_NONE, 0},
    [17] = {"raw", NULL, NULL, XPU_DTYPE_NONE, 0},
    [18] = {"tuple", NULL, NULL, XPU_DTYPE_NONE, 0},
    [19] = {"size_t", NULL, NULL, XPU_U64, 0},
    [20] = {"uint8", "t_ui8", NULL, XPU_U8, 1},
    [21] = {"int8", "t_i8", NULL, XPU_I8, 1},
    [22] = {"bfloat16", "t_bf16", NULL, XPU_BF16, 1},
    [23] = {"complex64", "t_c64", NULL, XPU_DTYPE_NONE, 0},
    [24] = {"complex128", "t_c128", NULL, XPU_DTYPE_NONE, 0},
    [25] = {"string", NULL, NULL, XPU_DTYPE_NONE, 0},
    [26] = {"strings", NULL, NULL, XPU_DTYPE_NONE, 0},
    [27] = {"vocab", NULL, NULL, XPU_DTYPE_NONE, 0},
    [28] = {"feed_list", NULL, NULL, XPU_DTYPE_NONE, 0},
    [29] = {"pstring", NULL, NULL, XPU_DTYPE_NONE, 0},
    [30] = {"sparse_coo", NULL, NULL, XPU_DTYPE_NONE, 0},
    [31] = {"sparse_csr", NULL, NULL, XPU_DTYPE_NONE, 0},
    [32] = {"float8_e4m3fn", "t_f8_e4m3fn", "t_f8e4m3", XPU_DTYPE_NONE, 0},
    [33] = {"float8_e5m2", "t_f8_e5m2", "t_f8e5m2", XPU_DTYPE_NONE, 0},
    [36] = {"uint16", "t_ui16", NULL, XPU_U16, 0},
    [37] = {"uint32", "t_ui32", NULL, XPU_U32, 0},
    [38] = {"uint64", "t_ui64", NULL, XPU_U64, 0},
};
enum { TYPES = sizeof types / sizeof *types };

xpu_dtype xpu_paddle_dtype(int64_t code) {
    return code >= 0 && code < TYPES ? types[code].dtype : XPU_DTYPE_NONE;
}

const char *xpu_paddle_type_name(int64_t code) {
    return code >= 0 && code < TYPES && types[code].name ? types[code].name : "undefined";
}

int xpu_paddle_code_of(const char *name) {
    for (int code = 0; code < TYPES; code++) {
        if (types[code].name && strcmp(types[code].name, name) == 0) return code;
    }
    return -1;
}

const char *xpu_paddle_pir_type(int64_t code) {
    return code >= 0 && code < TYPES && types[code].pir ? types[code].pir : "?";
}

int xpu_paddle_code_of_pir(const char *name) {
    for (int code = 0; code < TYPES; code++) {
        if (types[code].pir && strcmp(types[code].pir, name) == 0) return code;
        if (types[code].pir_before && strcmp(types[code].pir_before, name) == 0) return code;
    }
    return -1;
}

int xpu_paddle_code_of_dtype(xpu_dtype dtype) {
    for (int code = 0; code < TYPES; code++) {
        if (types[code].computes && types[code].dtype == dtype) return code;
    }
    return -1;
}

const char *xpu_paddle_version_text(xpu_arena *arena, const xpu_paddle_program *program) {
    int64_t version = program->version;
    if (program->dialect == XPU_PADDLE_PIR) return xpu_printf(arena, "PIR, format %" PRId64, version);
    if (version == 0) return "PaddlePaddle 1.x";
    return xpu_printf(arena, "PaddlePaddle %" PRId64 ".%" PRId64 ".%" PRId64, version / 1000000, version / 1000 % 1000,
                      version % 1000);
}

const xpu_paddle_attr *xpu_paddle_attr_of(const xpu_paddle_op *op, const char *name) {
    for (uint32_t i = 0; i < op->attr_count; i++) {
        if (strcmp(op->attrs[i].name, name) == 0) return &op->attrs[i];
    }
    return NULL;
}

const xpu_paddle_slot *xpu_paddle_slot_of(const xpu_paddle_slot *slots, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i].name && strcmp(slots[i].name, name) == 0) return &slots[i];
    }
    return NULL;
}

/* ---- inputs and outputs ---- */

int xpu_paddle_is_input(const xpu_paddle_op *op) {
    if (strcmp(op->type, "feed") == 0) return 1;
    return strcmp(op->type, "data") == 0 && strcmp(op->dialect, "pd_op") == 0;
}

int xpu_paddle_is_output(const xpu_paddle_op *op) {
    return strcmp(op->type, "fetch") == 0;
}

int xpu_paddle_is_parameter(const xpu_paddle_op *op) {
    return strcmp(op->type, "parameter") == 0 && strcmp(op->dialect, "builtin") == 0;
}

static int port_of(const xpu_paddle_op *op, int inputs, xpu_paddle_port *port) {
    const xpu_paddle_slot *slots = inputs ? op->outputs : op->inputs;
    uint32_t count = inputs ? op->output_count : op->input_count;
    const xpu_paddle_attr *name = xpu_paddle_attr_of(op, "name"), *column = xpu_paddle_attr_of(op, "col");
    if (inputs ? !xpu_paddle_is_input(op) : !xpu_paddle_is_output(op)) return 0;
    if (!count || !slots[0].count || slots[0].vars[0] == XPU_PADDLE_NO_VAR) return 0;
    *port = (xpu_paddle_port){.name = name && name->text ? name->text : "", .var = slots[0].vars[0]};
    port->column = column ? column->integer : 0;
    return 1;
}

/* An insertion behind those of the same column. */
const xpu_paddle_port *xpu_paddle_ports(xpu_arena *arena, const xpu_paddle_program *program, int inputs,
                                        uint32_t *count) {
    const xpu_paddle_block *block = &program->blocks.items[0];
    xpu_paddle_port *ports = XPU_NEW_ARRAY(arena, xpu_paddle_port, block->op_count + 1), port;
    *count = 0;
    for (uint32_t i = 0; i < block->op_count; i++) {
        if (!port_of(&block->ops[i], inputs, &port)) continue;
        uint32_t at = (*count)++;
        for (; at > 0 && ports[at - 1].column > port.column; at--) ports[at] = ports[at - 1];
        ports[at] = port;
    }
    return ports;
}
