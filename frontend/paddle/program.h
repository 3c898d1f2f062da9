/*
 * A PaddlePaddle program as its file says it, in either form: a ProgramDesc (framework.proto, PaddlePaddle 1.x to 2.6)
 * or a PIR program (JSON, PaddlePaddle 3). Everything lives in the arena that the reader was given.
 *
 * Variables of a ProgramDesc have names and may be assigned more than once; values of PIR have numbers and one maker.
 * Both are entries of `vars`, and operators refer to them by index.
 */
#ifndef XPU_FRONTEND_PADDLE_PROGRAM_H
#define XPU_FRONTEND_PADDLE_PROGRAM_H

#include "base/file.h"
#include "base/tensor.h"
#include "frontend/import.h"

typedef enum { XPU_PADDLE_DESC, XPU_PADDLE_PIR } xpu_paddle_dialect;

typedef enum {
    XPU_PADDLE_NOTHING, /* of PIR: null, or a kind that no operator needs */
    XPU_PADDLE_INT,     /* bool, int32, int64, an element type, a block, with ProgramDesc's codes */
    XPU_PADDLE_FLOAT,
    XPU_PADDLE_STRING,
    XPU_PADDLE_INTS,
    XPU_PADDLE_FLOATS,
    XPU_PADDLE_STRINGS,
    XPU_PADDLE_VARS /* variables in place of numbers */
} xpu_paddle_attr_kind;

typedef struct {
    const char *name;
    xpu_paddle_attr_kind kind;
    int is_type;     /* the number is an element type */
    int is_block;    /* the numbers are blocks */
    size_t count;    /* 1 of what is no list */
    int64_t integer; /* of a single one */
    double number;
    const char *text;
    const int64_t *integers; /* of a list, and of blocks */
    const double *numbers;
    const char *const *texts; /* of VARS, too */
    const uint32_t *vars;
} xpu_paddle_attr;

typedef enum {
    XPU_PADDLE_TENSOR,
    XPU_PADDLE_ARRAY,  /* a list of tensors that grows: LoDTensorArray */
    XPU_PADDLE_VECTOR, /* of PIR: several values under one number */
    XPU_PADDLE_FEED,   /* where feed takes inputs from, and fetch puts outputs */
    XPU_PADDLE_OTHER
} xpu_paddle_var_kind;

enum { XPU_PADDLE_NO_RANK = -1, XPU_PADDLE_MAX_DIMS = 64 };

typedef struct {
    const char *name; /* "" of PIR's where nothing names it */
    uint32_t block;
    xpu_paddle_var_kind kind;
    int code;              /* the element type, with ProgramDesc's codes; -1: none that has one */
    const char *type_name; /* "float32", "complex64", "step_scopes" */
    xpu_dtype dtype;       /* XPU_DTYPE_NONE where the type is not supported */
    int rank;              /* XPU_PADDLE_NO_RANK: not said */
    const int64_t *dims;   /* -1: open */
    int is_persistable;    /* it has a value in the parameter file */
    int is_parameter;
} xpu_paddle_var;

enum { XPU_PADDLE_NO_VAR = UINT32_MAX };

/* The variables that an operator takes or gives under one name; in PIR each slot is one value, and has no name. */
typedef struct {
    const char *name;
    uint32_t count;
    const uint32_t *vars; /* XPU_PADDLE_NO_VAR: absent */
} xpu_paddle_slot;

typedef struct {
    const char *dialect; /* "" of a ProgramDesc; "pd_op", "builtin", "cf" */
    const char *type;    /* "conv2d" */
    uint32_t index;      /* in its block */
    uint32_t block;
    uint32_t input_count, output_count, attr_count, body_count;
    const xpu_paddle_slot *inputs, *outputs;
    const xpu_paddle_attr *attrs;
    const uint32_t *bodies; /* blocks, of PIR's regions */
} xpu_paddle_op;

typedef struct {
    uint32_t parent; /* XPU_PADDLE_NO_VAR: none */
    uint32_t op_count, argument_count;
    const xpu_paddle_op *ops;
    const uint32_t *arguments; /* variables, of PIR */
} xpu_paddle_block;

typedef struct {
    const char *op;
    int64_t version;
} xpu_paddle_op_version;

typedef struct {
    const char *file; /* for messages */
    xpu_paddle_dialect dialect;
    int64_t version; /* of PaddlePaddle, 2006002 is 2.6.2; of PIR's file format */
    XPU_ARRAY(xpu_paddle_block) blocks;
    XPU_ARRAY(xpu_paddle_var) vars;
    XPU_ARRAY(xpu_paddle_op_version) op_versions;
} xpu_paddle_program;

/* program_desc.c: NULL with a diagnostic: [paddle-wire] with offset, message and field, [paddle-model],
 * [paddle-limit]. */
xpu_paddle_program *xpu_paddle_read_desc(xpu_arena *arena, const void *bytes, size_t length, const char *file,
                                         const xpu_import_options *options, xpu_diags *diags);
/* pir.c: the same of JSON: [paddle-json] with the place, [paddle-model], [paddle-limit]. */
xpu_paddle_program *xpu_paddle_read_pir(xpu_arena *arena, const char *text, size_t length, const char *file,
                                        const xpu_import_options *options, xpu_diags *diags);

/* types.c: element types by ProgramDesc's codes. */
xpu_dtype xpu_paddle_dtype(int64_t code);
const char *xpu_paddle_type_name(int64_t code); /* "float32", "lod_tensor", "type 77"'s is "undefined" */
int xpu_paddle_code_of(const char *name);       /* of "float32"; -1 */
const char *xpu_paddle_pir_type(int64_t code);  /* "t_f32"; "?" */
int xpu_paddle_code_of_pir(const char *name);   /* of "t_f32"; -1 */
int xpu_paddle_code_of_dtype(xpu_dtype dtype);  /* -1: no operator of PaddlePaddle takes it */
/* "2.6.2" of 2006002, "1.x" of 0. */
const char *xpu_paddle_version_text(xpu_arena *arena, const xpu_paddle_program *program);

/* What is looked up of an operator. */
const xpu_paddle_attr *xpu_paddle_attr_of(const xpu_paddle_op *op, const char *name);
const xpu_paddle_slot *xpu_paddle_slot_of(const xpu_paddle_slot *slots, uint32_t count, const char *name);

/* Operators that give the program's inputs and take its outputs, and those of PIR that stand for parameters. */
int xpu_paddle_is_input(const xpu_paddle_op *op);
int xpu_paddle_is_output(const xpu_paddle_op *op);
int xpu_paddle_is_parameter(const xpu_paddle_op *op);

/* An input or output of the program. */
typedef struct {
    const char *name; /* "" where only the variable has one */
    uint32_t var;
    int64_t column;
} xpu_paddle_port;
/* All of them, in the order of their columns. */
const xpu_paddle_port *xpu_paddle_ports(xpu_arena *arena, const xpu_paddle_program *program, int inputs,
                                        uint32_t *count);

/* One tensor of a parameter file. */
typedef struct {
    const char *name;
    const xpu_file *file;
    uint64_t offset, bytes; /* of the elements */
    int code;
    int rank;
    const int64_t *dims;
} xpu_paddle_parameter;

typedef struct {
    XPU_ARRAY(xpu_paddle_parameter) items; /* by name, bytewise ascending */
} xpu_paddle_parameters;

/* params.c: the record at *offset, which moves behind it; elements are not read. `name` stands for it in messages:
 * [paddle-params] with the bytes that are needed and those that are there. */
int xpu_paddle_read_record(xpu_arena *arena, const xpu_file *file, uint64_t *offset, const char *name,
                           xpu_paddle_parameter *parameter, xpu_diags *diags);
/* All tensors of the program's persistable variables, in one file, or with `file` NULL each in a file of its own name
 * in `folder`. Returns 0 after reporting. */
int xpu_paddle_read_parameters(xpu_arena *arena, const xpu_paddle_program *program, const xpu_file *file,
                               const char *folder, xpu_paddle_parameters *parameters, xpu_diags *diags);

#endif
