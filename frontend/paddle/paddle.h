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

/* What the model's files say of it; parameters that are not there are no error. 0 after reporting. */
int xpu_paddle_facts(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_model_facts *facts,
                     xpu_diags *diags);

#endif
