/*
 * What the files of the PaddlePaddle importer share. One xpu_paddle_importer per import; it and everything in `scratch`
 * are gone when the import ends.
 *
 * Operators are read in the order of the program. A variable is what was assigned to it last: `bindings` says what that
 * is, so that a ProgramDesc that assigns to a variable again, its operand among them, means what it says.
 */
#ifndef XPU_FRONTEND_PADDLE_IMPORTER_H
#define XPU_FRONTEND_PADDLE_IMPORTER_H

#include "frontend/build/build.h"
#include "frontend/inputs.h"
#include "frontend/paddle/files.h"
#include "frontend/paddle/paddle.h"

/* A list: of PIR's combine, or of a tensor array whose length is known. */
typedef struct {
    const xpu_value *items;
    uint32_t count;
} xpu_paddle_values;

typedef struct xpu_paddle_pending xpu_paddle_pending;

/* A tensor array is a list, or one tensor whose first dim is its length; either may be {0}, and both of an empty one.
 */
typedef struct {
    enum {
        XPU_PADDLE_UNSET,
        XPU_PADDLE_READY,
        XPU_PADDLE_FAILED, /* its operator had an error, which is reported */
        XPU_PADDLE_PENDING /* what a conditional block gives it; the block has not been read (ops_branch.c) */
    } state;
    xpu_value value; /* {0} of a list */
    xpu_paddle_values list;
    xpu_paddle_pending *pending;
    int is_complex; /* a last dim of real and imaginary part (ops_fourier.c) */
} xpu_paddle_binding;

/* A result of beam_search, and what stands behind it in room for all: [K] each, in order; those that there are first.
 */
typedef struct {
    xpu_value value, ids, scores, parents, flags;
    int64_t most; /* K is at most that */
} xpu_paddle_beam;

typedef struct {
    xpu_arena *arena, *scratch;
    const xpu_import_options *options;
    xpu_paddle_files files;
    const xpu_paddle_program *program;
    xpu_graph *graph;
    xpu_diags *diags;
    xpu_paddle_binding *bindings; /* by variable */
    const char **names;           /* by variable: of the values that operators give it */
    uint8_t *is_output;           /* by variable */
    uint32_t *assigned, *made;    /* by variable: how often operators give it a value, and have done so */
    uint8_t *was_read;            /* by block */
    uint32_t *seen, turn;         /* by variable: marks of bodies.c */
    uint32_t depth;               /* bodies inside each other, while they are read */
    uint64_t body_ops, most_body_ops;
    XPU_ARRAY(xpu_paddle_beam) beams; /* ops_beams.c */
} xpu_paddle_importer;

typedef struct xpu_paddle_node xpu_paddle_node;

/* Gives the operator to builders (frontend/build); returns its first result, or {0} after reporting. Further ones it
 * puts into node->results, those of a list into node->list. */
typedef xpu_value xpu_paddle_convert(xpu_paddle_node *node);

/*
 * One operator that is supported, in one of the two forms. Converters know operands, results and attributes by
 * ProgramDesc's names: of PIR, where operands have a place and other names, the row says which is which.
 */
typedef struct {
    xpu_paddle_dialect dialect;
    const char *name;
    xpu_paddle_convert *convert;
    xpu_op_id op;         /* for the converters that serve several operators */
    const char *inputs;   /* "X,Y": names of the operands; of PIR by place */
    const char *outputs;  /* of a ProgramDesc: of the results that are computed; a list "Out*" last. PIR: NULL */
    const char *renames;  /* of PIR: "axis=perm": attributes with another name; or NULL */
    int computes_float32; /* operands of float16 and bfloat16 become float32, and the result that type again */
    int is_control;       /* the converter looks at variables and bodies itself */
    int takes_complex;    /* the converter knows of complex operands */
} xpu_paddle_row;

struct xpu_paddle_node {
    xpu_paddle_importer *importer;
    const xpu_paddle_op *op;
    const xpu_paddle_row *row;
    fe_builder build;
    uint32_t result_count;
    const uint32_t *result_vars;  /* the variables that get the results */
    xpu_value *results;           /* as many; all {0} before the operator is converted */
    xpu_paddle_values list;       /* of PIR: the result that is a list, */
    uint32_t list_at;             /* and which one that is */
    xpu_paddle_values other_list; /* and of two lists the other one */
    uint32_t other_list_at;
    int is_bound;      /* the converter has bound the results itself */
    int gives_complex; /* the first result is complex */
};

/* ranges.c: the options, with shapes of inputs that inference.yml beside the program gives and the user does not, in
 * `arena`. What cannot be taken of it is a warning, what is taken a note: [paddle-ranges]. */
const xpu_import_options *xpu_paddle_with_ranges(xpu_arena *arena, const xpu_paddle_files *files,
                                                 const xpu_import_options *options, xpu_diags *diags);

/* operators.c: NULL where there is none. */
const xpu_paddle_row *xpu_paddle_find_row(const xpu_paddle_op *op);
/* refused.c: why there is no row, and what to do. */
const char *xpu_paddle_why_not(const xpu_paddle_op *op, const char **hint);

/* convert.c: reads one operator; its variables are bound, or FAILED after reporting. */
void xpu_paddle_read_op(xpu_paddle_importer *importer, const xpu_paddle_op *op);
/* Looks for the operator's row and names it; the node says which operator of which importer. */
void xpu_paddle_begin_op(xpu_paddle_node *node);
/* ops_branch.c: reads the conditional block that a PENDING variable waits for. */
void xpu_paddle_settle(xpu_paddle_importer *importer, uint32_t var);
/* Results other than those that the operator lists: the variables that get them, NO_VAR: none. */
void xpu_paddle_set_results(xpu_paddle_node *node, const uint32_t *vars, uint32_t count);
/* Whether the variable has a value; 0 after reporting, here or where its operator failed. */
int xpu_paddle_check_var(const xpu_paddle_node *node, uint32_t var);
/* Reports an operator of another block that has no row. */
void xpu_paddle_check_op(xpu_paddle_importer *importer, const xpu_paddle_op *op);

/* ---- node.c: what converters are made of; those that report return 0, NULL or {0} ---- */

const char *xpu_paddle_format(const xpu_paddle_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
xpu_value xpu_paddle_refuse(const xpu_paddle_node *node, const char *what, const char *why); /* [paddle-form] */

/* Attributes, by ProgramDesc's name; the fallback where there is none. */
const xpu_paddle_attr *xpu_paddle_find_attr(const xpu_paddle_node *node, const char *name);
int64_t xpu_paddle_int(const xpu_paddle_node *node, const char *name, int64_t fallback);
float xpu_paddle_float(const xpu_paddle_node *node, const char *name, float fallback);
const char *xpu_paddle_text(const xpu_paddle_node *node, const char *name, const char *fallback);
fe_ints xpu_paddle_ints(const xpu_paddle_node *node, const char *name); /* items NULL: there is none; a number: one */
const float *xpu_paddle_floats(const xpu_paddle_node *node, const char *name, size_t *count);

/* The name of a constant result: another one where an output, which is a copy, has the variable's. */
const char *xpu_paddle_constant_name(const xpu_paddle_node *node);
/* Whether the program is older than this version of PaddlePaddle. */
int xpu_paddle_is_before(const xpu_paddle_node *node, int64_t version);

/* Operands, by ProgramDesc's name: {0} where absent. */
xpu_value xpu_paddle_operand(const xpu_paddle_node *node, const char *name);
const xpu_paddle_slot *xpu_paddle_operand_slot(const xpu_paddle_node *node, const char *name); /* NULL: absent */
xpu_paddle_values xpu_paddle_operands(const xpu_paddle_node *node, const char *name);
const xpu_value_info *xpu_paddle_info(const xpu_paddle_node *node, xpu_value value);
int xpu_paddle_rank(const xpu_paddle_node *node, xpu_value value);
/* Whether anything uses result `index`; whether an operator does. */
int xpu_paddle_is_used(const xpu_paddle_node *node, uint32_t index);
int xpu_paddle_is_read(const xpu_paddle_node *node, uint32_t index);

/* A list of numbers: of tensors (operands `parts`, or attributes that name variables), a tensor (operand `whole`), or
 * the attribute; each name may be NULL. items NULL: none of them is there. Computed ones are expressions. 0 after
 * reporting. */
int xpu_paddle_dims(const xpu_paddle_node *node, const char *attr, const char *whole, const char *parts, fe_dims *list);
/* The same of places along dims: those that only the run knows are symbols. */
int xpu_paddle_bounds(xpu_paddle_node *node, const char *attr, const char *whole, const char *parts, fe_dims *list);
/* The same, of numbers that are known. */
int xpu_paddle_numbers(const xpu_paddle_node *node, const char *attr, const char *whole, const char *parts,
                       fe_ints *list);
/* A number: a tensor of one element, or the attribute. */
int xpu_paddle_number(const xpu_paddle_node *node, const char *attr, const char *whole, double *value);
/* A number as a whole one; far outside of int32 any is as good as the other. */
int64_t xpu_paddle_whole(double value);
/* The element type that the attribute names; XPU_DTYPE_NONE after reporting. `fallback`: where it is missing or -1. */
xpu_dtype xpu_paddle_type(const xpu_paddle_node *node, const char *name, xpu_dtype fallback);

#endif
