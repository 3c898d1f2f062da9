/* Writers: a graph as an importer made it, before passes lower it, as a model file of another framework. */
#ifndef XPU_CONVERT_CONVERT_H
#define XPU_CONVERT_CONVERT_H

#include "base/file.h"
#include "convert/refused.h"
#include "core/ops/op.h"

/* Opsets of ONNX that are written; 0 stands for the first from XPU_CONVERT_OPSET on that has all operators. */
enum { XPU_CONVERT_MIN_OPSET = 13, XPU_CONVERT_OPSET = 17, XPU_CONVERT_MAX_OPSET = 28 };

typedef struct {
    int opset;       /* of ONNX */
    int is_external; /* ONNX: weights go into a file of their own even where the model is below 2 GiB */
} xpu_convert_options;

/*
 * What a writer makes before it writes: a skeleton in memory, and which constants follow where. Constants stay where
 * they are (in the source model's file) until they are copied, one at a time.
 */

/* Takes away what needs no operator in a file: reshapes and transposes of constants, what nobody uses. Q and DQ stay.
 * The graph is the writer's from then on. */
xpu_status xpu_convert_prepare(xpu_graph *graph, xpu_diags *diags);

/* Whether a reshape only takes away dims of 1 (-1) or adds some (1): their axes, of the operand or of the result. 0: it
 * does something else. */
int xpu_convert_ones(const xpu_graph *graph, int from_rank, const xpu_dim *from, int to_rank, const xpu_dim *to,
                     int64_t *axes, uint32_t *count);

/* The elements of a constant, row-major, to where the output stands; a chunk of its file at a time where it needs no
 * recipe. */
xpu_status xpu_convert_constant(const xpu_graph *graph, xpu_value constant, xpu_output *output, xpu_diags *diags);
/* Why an operator without a row has no counterpart. */
xpu_refused xpu_convert_no_row(const xpu_graph *graph, xpu_node node);
uint64_t xpu_convert_constant_bytes(const xpu_graph *graph, xpu_value constant);

/* An ONNX model. `data`: takes the weights where they go into a file of their own, which is then opened at
 * `path`.data and given to the caller to be committed with the model; else NULL. Operators without a counterpart are
 * all reported, [convert-operator], before anything is written. */
xpu_status xpu_convert_onnx(xpu_arena *arena, xpu_graph *graph, const char *path, xpu_output *model, xpu_output **data,
                            const xpu_convert_options *options, xpu_diags *diags);

/* A PaddlePaddle program (ProgramDesc of version 2.6.2) and its parameters in one file. [convert-operator] */
xpu_status xpu_convert_paddle(xpu_arena *arena, xpu_graph *graph, xpu_output *program, xpu_output *parameters,
                              xpu_diags *diags);
/* The same as PIR (JSON, version 4 of its format, which PaddlePaddle 3.3 writes). */
xpu_status xpu_convert_pir(xpu_arena *arena, xpu_graph *graph, xpu_output *program, xpu_output *parameters,
                           xpu_diags *diags);

#endif
