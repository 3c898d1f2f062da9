/* A network that is made in C: what the files of xpuc_build.h share. */
#ifndef XPU_XPUC_NETWORK_H
#define XPU_XPUC_NETWORK_H

#include "frontend/build/build.h"
#include "xpuc/include/xpuc_build.h"
#include "xpuc/pipeline.h"

/* A symbol of the inputs, with the range that it was given first. */
typedef struct {
    const char *name;
    int64_t min, max, step;
    xpu_dim dim;
} xpu_network_symbol;

struct xpuc_network {
    xpu_mem mem;
    xpu_arena *arena, *scratch; /* scratch: of the operator that is being built */
    xpu_diags diags;
    xpu_graph *graph;
    xpu_built built;
    XPU_ARRAY(xpu_network_symbol) symbols;
    uint32_t operators, tensors; /* so far; tensors: inputs and constants */
    int out_of_memory;           /* the graph is not to be touched any more */
};

/* One call of an operator's function: what is common, and room for what is not. */
typedef struct {
    const char *op, *name;    /* "conv", and the caller's name or NULL */
    const xpuc_value *values; /* operands */
    uint32_t value_count;
    uint32_t required; /* of them: the first ones */
    const void *form;  /* the caller's struct, or NULL */
    fe_ints ints;
    const float *floats;
    uint32_t float_count;
    int64_t axis;
    const char *text;
    xpuc_value *more; /* room for further results; NULL: there is only one */
} xpu_network_call;

/* A call, and its operands, of which the first `needed` must be there. */
#define CALL(...)                (&(xpu_network_call){__VA_ARGS__})
#define OPERANDS(n, needed, ...) .values = (xpuc_value[]){__VA_ARGS__}, .value_count = (n), .required = (needed)

/* Builds with operands that are there where they must be. {0} after reporting. */
typedef xpu_value xpu_network_make(fe_builder *b, const xpu_network_call *call, const xpu_value *x);

/* Runs `make` behind the API boundary, with name, operands and place in the list of operators checked. */
xpuc_value xpu_network_build(xpuc_network *network, const xpu_network_call *call, xpu_network_make *make);

/* What a value that could not be made is to the caller. */
#define XPU_NETWORK_FAILED ((xpuc_value){UINT32_MAX})

/* The element type of this name, or XPU_DTYPE_NONE. */
xpu_dtype xpu_network_dtype(const char *name);

/*
 * The caller's struct of `bytes` bytes (0: `least`, those of the first version) into `form`, which has `room`. Members
 * that this version does not know have to be 0. 0 after reporting.
 */
int xpu_network_form(const fe_builder *b, const void *given, size_t least, void *form, size_t room);

#endif
