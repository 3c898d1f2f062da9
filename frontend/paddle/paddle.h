/*
 * The PaddlePaddle importer: ProgramDesc (PaddlePaddle 1.x to 2.6) and PIR (PaddlePaddle 3), onto the rows of
 * core/ops/ops.def. It needs no PaddlePaddle. Parameters stay in their file until somebody needs their bytes.
 */
#ifndef XPU_FRONTEND_PADDLE_H
#define XPU_FRONTEND_PADDLE_H

#include "core/ir/graph.h"
#include "frontend/import.h"
#include "frontend/model.h"

/* Whether the path is one of a PaddlePaddle model, by its name: a folder, .pdmodel, .json, __model__, and what is said
 * not to be one with a reason (.pdiparams, .nb, .encrypted). */
int xpu_paddle_is_model(const char *path);

/*
 * Reads the model at `path`, a program's file or a folder, into a new graph in `arena`; its files stay open until the
 * arena is freed. `options` may be NULL; options->params names the parameter file.
 *
 * On failure *graph is NULL and `diags` holds every problem: those of reading ([paddle-wire], [paddle-json],
 * [paddle-limit], [paddle-model], [paddle-format], [paddle-folder], [paddle-params]), [paddle-input], [paddle-output],
 * [paddle-name], and of single operators, all at once, [paddle-unsupported-op], [paddle-form], [paddle-attribute],
 * [paddle-operand], [paddle-shape], besides those of the shape functions.
 */
xpu_status xpu_paddle_import(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_graph **graph,
                             xpu_diags *diags);

/* One row of the table of supported operators, for documents. The strings are constants. */
typedef struct {
    const char *name;     /* "conv2d", of PIR without its dialect pd_op */
    const char *operands; /* by ProgramDesc's names, separated by "," */
} xpu_paddle_operator;

uint32_t xpu_paddle_operator_count(void);
xpu_paddle_operator xpu_paddle_operator_at(uint32_t index, int *is_pir); /* in the table's order */

/* Operators that are not imported for a reason of their own: their names, separated by ","; 0: there is no such entry.
 */
int xpu_paddle_reason_at(uint32_t index, const char **names, const char **why);

/* What the model's files say of it; parameters that are not there are no error. 0 after reporting. */
int xpu_paddle_facts(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_model_facts *facts,
                     xpu_diags *diags);

#endif
