/*
 * Branches, loops and tensor arrays of both forms. Bodies give values to variables: those of a ProgramDesc, and those
 * values of PIR that operators write in place (pir.c makes them one variable). What a body writes of what is outside of
 * it becomes a result of the branch, or is carried by the loop, so that a variable that is written and read has one
 * meaning.
 */
#ifndef XPU_FRONTEND_PADDLE_CONTROL_H
#define XPU_FRONTEND_PADDLE_CONTROL_H

#include "core/ops/control.h"
#include "frontend/paddle/importer.h"

typedef XPU_ARRAY(uint32_t) xpu_paddle_vars;

/* Of a body, with the bodies in it, in the order of their first use. */
typedef struct {
    xpu_paddle_vars read, written; /* those of outside */
    xpu_paddle_vars own;           /* its own that are written */
    xpu_paddle_vars others;        /* what is written and holds no tensors: a loop's scopes */
} xpu_paddle_body_vars;

/* What variables are bound to. */
typedef struct {
    const xpu_paddle_vars *vars;
    xpu_paddle_binding *bindings;
} xpu_paddle_saved;

/* Of what a body gives. */
typedef struct {
    int is_known;
    xpu_dtype dtype;
    int rank;
    xpu_dim dims[XPU_MAX_RANK]; /* {0}: only inside of the body */
} xpu_paddle_value_type;

/* How bodies are read; the context of xpu_paddle_read_body. */
typedef struct {
    xpu_paddle_node *node;
    uint32_t bodies[XPU_BRANCHES];                /* NO_VAR: one that does nothing */
    const xpu_paddle_saved *around[XPU_BRANCHES]; /* bindings to be read with, or NULL */
    const uint32_t *gives[XPU_BRANCHES];          /* the variables whose values are the results, behind the condition */
    uint32_t count;
    xpu_paddle_value_type *types; /* by result, of a branch: those that are known before, then those of the first */
    int is_loop;
    uint32_t condition;        /* of a loop, the variable */
    const uint32_t *arguments; /* of a loop, the variables that get the body's arguments */
    uint32_t learnt, start_count;
    const xpu_paddle_binding *start; /* of the first arguments, while types are looked for */
} xpu_paddle_reading;

/* ---- bodies.c; what reports returns 0, {0} or NO_VAR ---- */

xpu_paddle_body_vars xpu_paddle_vars_of(xpu_paddle_importer *importer, uint32_t body);
/* Both lists, each variable once. */
xpu_paddle_vars xpu_paddle_unite(xpu_paddle_importer *importer, const xpu_paddle_vars *a, const xpu_paddle_vars *b);
const uint32_t *xpu_paddle_join_vars(const xpu_paddle_node *node, const uint32_t *first, uint32_t count,
                                     const xpu_paddle_vars *second);
const uint32_t *xpu_paddle_vars_of_slots(const xpu_paddle_node *node, const xpu_paddle_slot *slots, uint32_t count);
/* The body that the operator has to have, and the variable of a slot of a ProgramDesc. */
uint32_t xpu_paddle_one_body(const xpu_paddle_node *node, uint32_t index);
uint32_t xpu_paddle_one_var(const xpu_paddle_node *node, const char *name);
/* What the block yields, of PIR. */
const xpu_paddle_slot *xpu_paddle_yields_of(const xpu_paddle_node *node, uint32_t block, uint32_t *count);

xpu_paddle_saved xpu_paddle_save(const xpu_paddle_importer *importer, const xpu_paddle_vars *vars);
void xpu_paddle_bind(const xpu_paddle_importer *importer, uint32_t var, xpu_value value); /* {0}: FAILED */
/* The variable as one value; {0}: it has none, or after reporting. */
xpu_value xpu_paddle_held_value(const xpu_paddle_node *node, uint32_t var);
/* The value as a bool of rank 0. */
xpu_value xpu_paddle_scalar_condition(const xpu_paddle_node *node, xpu_value value);
/* Whether a bool or integer of one element is known. */
int xpu_paddle_known_number(const xpu_paddle_node *node, xpu_value value, int64_t *number);
/* Before a body is read: pending values that it reads or writes are settled where all paths see them, and tensor arrays
 * that it reads become one tensor where they can. */
void xpu_paddle_settle_all(xpu_paddle_importer *importer, const xpu_paddle_body_vars *vars);
void xpu_paddle_stack_arrays(const xpu_paddle_node *node, const xpu_paddle_body_vars *vars);

/* All operators of the block, in the block where nodes are added. */
int xpu_paddle_read_ops(const xpu_paddle_node *node, uint32_t block);
/* fe_bodies.read */
int xpu_paddle_read_body(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results,
                         xpu_diags *diags);
int xpu_paddle_give_results(xpu_paddle_reading *r, uint32_t body, xpu_value *results);
/* Types that the variables have before; 0: of some nothing is known, so that the body is read once to see what it
 * gives: the graph stays as it is. */
int xpu_paddle_types_before(const xpu_paddle_node *node, const uint32_t *vars, uint32_t count,
                            xpu_paddle_value_type *types);
void xpu_paddle_learn(xpu_paddle_reading *r, uint32_t body, xpu_value condition);
/* What a variable holds that nothing was given: nothing reads it; of an array, no tensors. */
xpu_value xpu_paddle_blank(const xpu_paddle_node *node, const xpu_paddle_value_type *of, int is_array);

/* The results of the node are bound, or failed. */
xpu_value xpu_paddle_done(xpu_paddle_node *node, int ok);
xpu_value xpu_paddle_fail_all(xpu_paddle_node *node, const xpu_paddle_vars *vars);

/* ---- ops_array.c ---- */

int xpu_paddle_is_array(const xpu_paddle_importer *importer, uint32_t var);
/* The array as one tensor, made in the block where nodes are added; {0}: it is empty, or after reporting that its
 * tensors differ. */
xpu_value xpu_paddle_stack_of(const xpu_paddle_node *node, uint32_t var);
/* Zeros; an intermediate result. */
xpu_value xpu_paddle_zeros(const xpu_paddle_node *node, xpu_dtype dtype, const xpu_dim *dims, int rank);

#endif
