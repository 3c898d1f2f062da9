/* What a model's file says of it, of any format: for descriptions. Strings are the reader's, or in the arena that it
 * was given. */
#ifndef XPU_FRONTEND_MODEL_H
#define XPU_FRONTEND_MODEL_H

#include "base/arena.h"

typedef struct {
    const char *name;
    const char *type; /* "float32[N,3,?]"; "" where nothing says it */
} xpu_model_value;

typedef struct {
    const char *type;                           /* "Conv", "com.microsoft.QLinearAdd", "conv2d", "pd_op.conv2d" */
    const char *name;                           /* or "" */
    const char *block;                          /* "" of the model's own; "block 1", "then_branch of node 'x'" */
    uint32_t index;                             /* in its block */
    const char *const *inputs, *const *outputs; /* names; "" where absent */
    uint32_t input_count, output_count;
    const char *why_not; /* it is not imported; NULL: it is */
} xpu_model_operator;

typedef struct {
    const char *format;  /* "ONNX model" */
    const char *name;    /* or "" */
    const char *version; /* "opset 13, IR version 7" */
    XPU_ARRAY(xpu_model_value) inputs;
    XPU_ARRAY(xpu_model_value) outputs;
    XPU_ARRAY(xpu_model_operator) operators;
    uint64_t parameters, parameter_bytes; /* constants that the file holds, and the bytes of their elements */
    int has_no_parameters;                /* their file is not there */
    const char *parameter_file;           /* why there is none, or which; "" where they are in the model's own */
} xpu_model_facts;

#endif
