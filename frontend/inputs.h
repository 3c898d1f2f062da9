/*
 * What the user's options say of a model's inputs (--shape, --value, --bound), and defaults; of every importer. What
 * the model itself says of an input, the importer has read.
 */
#ifndef XPU_FRONTEND_INPUTS_H
#define XPU_FRONTEND_INPUTS_H

#include "core/ir/graph.h"
#include "frontend/import.h"

typedef struct {
    xpu_arena *scratch;
    const xpu_import_options *options;
    xpu_graph *graph;
    xpu_diags *diags;
    const char *file;
    const char *rule, *hint; /* of messages about what the model says: "onnx-input" */
} xpu_input_reader;

typedef struct {
    const char *name;
    int is_faulty; /* that is reported: it gets no value */
    xpu_dtype dtype;
    int rank;                  /* -1: the model does not say it */
    const int64_t *dims;       /* below 0: open */
    const char *const *params; /* what the model calls its dims, NULL and "": nothing; or NULL */
    const char *constant_name; /* of the constant that --value makes of it; NULL: its own */
    xpu_value value;           /* the result; {0} after reporting */
} xpu_input;

/* Adds the graph's inputs; small ones of integers get a symbol for each element. All errors are reported. */
void xpu_add_inputs(const xpu_input_reader *reader, xpu_input *inputs, uint32_t count);

/* input_values.c: every --value names an input, once; otherwise that is reported. */
void xpu_check_values(const xpu_input_reader *reader, const xpu_input *inputs, uint32_t count);
/* Whether --value says what the input holds. */
int xpu_has_value(const xpu_import_options *options, const char *input);
/* An input of the graph, or a constant where --value says what it holds; {0} after reporting. */
xpu_value xpu_add_input(const xpu_input_reader *reader, const xpu_input *input, int rank, const xpu_dim *dims);
/* A symbol for each element of small inputs of integers. */
void xpu_name_elements(const xpu_input_reader *reader);

/* bounds.c: gives the graph the user's bounds, and reports those that are for nothing. */
void xpu_take_given_bounds(const xpu_input_reader *reader);
void xpu_check_given_bounds(const xpu_input_reader *reader);

#endif
