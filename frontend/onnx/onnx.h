/*
 * The ONNX importer: IR versions 3 and up, opset 7 to 28 of the default domain, onto the rows of core/ops/ops.def.
 *
 * Tensor payloads over 256 bytes are not decoded with the model: the reader keeps where they stand in the file, and
 * constants over 64 KiB stay slices of it (XPU_CONST_FILE) until somebody needs their bytes.
 */
#ifndef XPU_FRONTEND_ONNX_H
#define XPU_FRONTEND_ONNX_H

#include "core/ir/graph.h"
#include "frontend/import.h"
#include "frontend/model.h"

enum { XPU_ONNX_MIN_OPSET = 7, XPU_ONNX_MAX_OPSET = 28 };

/*
 * Reads the model at `path` into a new graph in `arena`. The model's file, and its files of external data, stay open
 * until the arena is freed. `options` may be NULL.
 *
 * On failure *graph is NULL and `diags` holds every problem of the first stage that had any: [io-open] and [io-short]
 * (XPU_EIO), [shape-option] (XPU_EUSAGE), and of status XPU_EMODEL: [onnx-wire] malformed bytes, with their offset;
 * [onnx-limit]; [onnx-model], [onnx-opset], [onnx-input], [onnx-output], [onnx-name], [onnx-cycle]; [onnx-tensor] and
 * [onnx-external-data]; and for single nodes [onnx-unsupported-op], [onnx-unsupported-form], [onnx-attribute],
 * [onnx-operand], [onnx-dtype], [onnx-shape], besides those of the shape functions. Nodes that depend on a faulty node
 * are checked as far as that is possible without its results.
 * On success `diags` may have got notes: [shape-open] for dims that neither model nor user bounds.
 */
xpu_status xpu_onnx_import(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_graph **graph,
                           xpu_diags *diags);

/* The same for a model in memory, which is copied as far as it is needed. `name` stands for the file in messages.
 * Such a model has no folder, so external data is an error. */
xpu_status xpu_onnx_import_bytes(xpu_arena *arena, const void *bytes, size_t length, const char *name,
                                 const xpu_import_options *options, xpu_graph **graph, xpu_diags *diags);

/* What the model's file says of it. 0 after reporting: [onnx-wire], [onnx-limit], [onnx-model], or an I/O error. */
int xpu_onnx_facts(xpu_arena *arena, const char *path, const xpu_import_options *options, xpu_model_facts *facts,
                   xpu_diags *diags);

/* One row of the table of supported operators, for documents. The strings are constants. */
typedef struct {
    const char *name;    /* "Conv" */
    const char *domain;  /* "" for ONNX's own */
    const int *versions; /* opset versions of the forms that are understood, ascending, ended by 0 */
    const char *core;    /* rows of ops.def that it maps to, separated by ", " */
    const char *remarks; /* what is left out, or "" */
} xpu_onnx_operator;

uint32_t xpu_onnx_operator_count(void);
xpu_onnx_operator xpu_onnx_operator_at(uint32_t index); /* in alphabetical order, by domain */

#endif
