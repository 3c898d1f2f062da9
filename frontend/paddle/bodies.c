/* Bodies of branches and loops: control.h. */
#include <inttypes.h>
#include <string.h>

#include "base/compare.h"
#include "core/ir/known.h"
#include "frontend/build/counted.h"
#include "frontend/paddle/control.h"

enum { MAX_NESTED = 48, MOST_BODY_OPS = 1 << 18 };

static const xpu_value none = {0};

/* ---- variables of bodies ---- */

static int is_inside(const xpu_paddle_program *program, uint32_t block, uint32_t body) {
    while (block != body && block != XPU_PADDLE_NO_VAR && block > body) block = program->blocks.items[block].parent;
    return block == body;
}

/* The body that an operator of a ProgramDesc names, NO_VAR: it has none. */
static uint32_t body_of(const xpu_paddle_program *program, const xpu_paddle_op *op, uint32_t index) {
    if (op->dialect[0]) return index < op->body_count ? op->bodies[index] : XPU_PADDLE_NO_VAR;
    const xpu_paddle_attr *attr = xpu_paddle_attr_of(op, "sub_block");
    if (index || !attr || !attr->is_block || !attr->count) return XPU_PADDLE_NO_VAR;
    int64_t block = attr->integers[attr->count - 1];
    int is_one = block > op->block && block < (int64_t)program->blocks.count;
    return is_one && program->blocks.items[block].parent == op->block ? (uint32_t)block : XPU_PADDLE_NO_VAR;
}

enum { READ = 1, WRITTEN = 2, MARKS = 2 };

/* Whether this is the first time; a mark is good for one turn. */
static int first_time(xpu_paddle_importer *importer, uint32_t var, uint32_t mark) {
    uint32_t now = importer->turn << MARKS, *seen = &importer->seen[var];
    if (*seen >> MARKS != importer->turn) *seen = now;
    if (*seen & mark) return 0;
    *seen |= mark;
    return 1;
}

static void note_vars(xpu_paddle_importer *importer, uint32_t body, const uint32_t *vars, size_t count, uint32_t mark,
                      xpu_paddle_body_vars *found) {
    for (size_t i = 0; i < count; i++) {
        if (vars[i] == XPU_PADDLE_NO_VAR || !first_time(importer, vars[i], mark)) continue;
        xpu_paddle_var_kind kind = importer->program->vars.items[vars[i]].kind;
        int is_own = is_inside(importer->program, importer->program->vars.items[vars[i]].block, body);
        xpu_paddle_vars *list = mark == WRITTEN ? is_own ? &found->own : &found->written : is_own ? NULL : &found->read;
        if (mark == WRITTEN && kind != XPU_PADDLE_TENSOR && kind != XPU_PADDLE_ARRAY && kind != XPU_PADDLE_VECTOR)
            list = &found->others;
        if (list) XPU_PUSH(importer->scratch, list, vars[i]);
    }
}

static void note_block(xpu_paddle_importer *importer, uint32_t body, uint32_t block, uint32_t depth,
                       xpu_paddle_body_vars *found) {
    const xpu_paddle_block *info = &importer->program->blocks.items[block];
    note_vars(importer, body, info->arguments, info->argument_count, WRITTEN, found);
    for (uint32_t i = 0; i < info->op_count; i++) {
        const xpu_paddle_op *op = &info->ops[i];
        for (uint32_t k = 0; k < op->input_count; k++)
            note_vars(importer, body, op->inputs[k].vars, op->inputs[k].count, READ, found);
        for (uint32_t k = 0; k < op->attr_count; k++) {
            if (op->attrs[k].kind == XPU_PADDLE_VARS)
                note_vars(importer, body, op->attrs[k].vars, op->attrs[k].count, READ, found);
        }
        uint32_t inner = body_of(importer->program, op, 0);
        for (uint32_t k = 0; inner != XPU_PADDLE_NO_VAR && depth < MAX_NESTED; k++) {
            note_block(importer, body, inner, depth + 1, found);
            inner = body_of(importer->program, op, k + 1);
        }
        for (uint32_t k = 0; k < op->output_count; k++)
            note_vars(importer, body, op->outputs[k].vars, op->outputs[k].count, WRITTEN, found);
    }
}

xpu_paddle_body_vars xpu_paddle_vars_of(xpu_paddle_importer *importer, uint32_t body) {
    xpu_paddle_body_vars found = {{0}, {0}, {0}, {0}};
    importer->turn++;
    if (body != XPU_PADDLE_NO_VAR) note_block(importer, body, body, 0, &found);
    return found;
}

/* ---- bindings ---- */

void xpu_paddle_bind(const xpu_paddle_importer *importer, uint32_t var, xpu_value value) {
    importer->bindings[var] = (xpu_paddle_binding){.state = value.id ? XPU_PADDLE_READY : XPU_PADDLE_FAILED};
    importer->bindings[var].value = value;
}

xpu_paddle_saved xpu_paddle_save(const xpu_paddle_importer *importer, const xpu_paddle_vars *vars) {
    xpu_paddle_saved kept = {vars, XPU_NEW_ARRAY(importer->scratch, xpu_paddle_binding, vars->count + 1)};
    for (uint32_t i = 0; i < vars->count; i++) kept.bindings[i] = importer->bindings[vars->items[i]];
    return kept;
}

static void restore(const xpu_paddle_importer *importer, const xpu_paddle_saved *kept) {
    for (uint32_t i = 0; i < kept->vars->count; i++) importer->bindings[kept->vars->items[i]] = kept->bindings[i];
}

/* The variable as one value; {0}: it has none. */
xpu_value xpu_paddle_held_value(const xpu_paddle_node *node, uint32_t var) {
    const xpu_paddle_binding *binding = &node->importer->bindings[var];
    if (binding->state != XPU_PADDLE_READY) return none;
    return xpu_paddle_is_array(node->importer, var) ? xpu_paddle_stack_of(node, var) : binding->value;
}

/* ---- types of what a body gives ---- */

/* `block`: where the value is made. */
static xpu_paddle_value_type type_of(const xpu_paddle_node *node, xpu_value value, xpu_block block) {
    const xpu_value_info *info = xpu_paddle_info(node, value);
    xpu_paddle_value_type found = {.is_known = 1, .dtype = info->dtype, .rank = info->rank};
    for (int d = 0; d < info->rank; d++) {
        int is_inner = fe_dim_is_inner(node->build.graph, info->dims[d], block);
        found.dims[d] = is_inner ? (xpu_dim){0} : info->dims[d];
    }
    return found;
}

/* What a variable holds that nothing was given: nothing reads it; of an array, no tensors. */
xpu_value xpu_paddle_blank(const xpu_paddle_node *node, const xpu_paddle_value_type *of, int is_array) {
    xpu_dim dims[XPU_MAX_RANK], zero = xpu_dim_const(&node->build.graph->dims, 0);
    for (int d = 0; d < of->rank; d++) dims[d] = of->dims[d].id && (d || !is_array) ? of->dims[d] : zero;
    for (int d = 1; is_array && d < of->rank; d++) {
        if (of->dims[d].id) continue;
        return xpu_paddle_refuse(node, "the tensors of an array differ in shape",
                                 "only the run knows the shape of what is written to it");
    }
    return xpu_paddle_zeros(node, of->dtype, dims, of->rank);
}

/* ---- reading bodies ---- */

static int too_much(const xpu_paddle_node *node) {
    xpu_paddle_importer *importer = node->importer;
    const char *why = importer->depth >= MAX_NESTED                   ? "more than 48 stand inside each other"
                      : importer->body_ops >= importer->most_body_ops ? "they have too many operators together"
                                                                      : NULL;
    if (!why) return 0;
    xpu_error(importer->diags, XPU_EMODEL, importer->program->file, "paddle-limit", node->build.where,
              "the bodies of the program are too large", why, "save the program with fewer loops inside of loops");
    return 1;
}

/* All operators of the block, in the block where nodes are added. */
int xpu_paddle_read_ops(const xpu_paddle_node *node, uint32_t block) {
    xpu_paddle_importer *importer = node->importer;
    const xpu_paddle_block *info = &importer->program->blocks.items[block];
    size_t errors = importer->diags->errors;
    importer->was_read[block] = 1;
    if (!importer->most_body_ops) importer->most_body_ops = MOST_BODY_OPS;
    if (too_much(node)) return 0;
    importer->depth++;
    for (uint32_t i = 0; i < info->op_count && importer->body_ops < importer->most_body_ops; i++) {
        importer->body_ops++;
        if (strcmp(info->ops[i].dialect, "cf") == 0 && strcmp(info->ops[i].type, "yield") == 0) continue;
        xpu_paddle_read_op(importer, &info->ops[i]);
    }
    importer->depth--;
    if (importer->diags->errors == errors) too_much(node);
    return importer->diags->errors == errors;
}

/* What the body's operators do to bindings is undone. */
typedef struct {
    xpu_paddle_saved own, written, others;
    xpu_paddle_body_vars *vars;
} undone;

static undone begin_body(xpu_paddle_importer *importer, uint32_t body) {
    undone kept;
    kept.vars = XPU_NEW(importer->scratch, xpu_paddle_body_vars);
    *kept.vars = xpu_paddle_vars_of(importer, body);
    kept.own = xpu_paddle_save(importer, &kept.vars->own);
    kept.written = xpu_paddle_save(importer, &kept.vars->written);
    kept.others = xpu_paddle_save(importer, &kept.vars->others);
    for (uint32_t i = 0; i < kept.vars->own.count; i++)
        importer->bindings[kept.vars->own.items[i]] = (xpu_paddle_binding){.state = XPU_PADDLE_UNSET};
    return kept;
}

static void end_body(const xpu_paddle_importer *importer, const undone *kept) {
    restore(importer, &kept->own);
    restore(importer, &kept->written);
    restore(importer, &kept->others);
}

/* Values made inside give way to the program's own names. */
static void release_names(xpu_graph *graph, uint32_t first) {
    for (uint32_t id = first; id < graph->values.count; id++) graph->values.items[id].has_made_name = 1;
}

int xpu_paddle_give_results(xpu_paddle_reading *r, uint32_t body, xpu_value *results) {
    const xpu_paddle_node *node = r->node;
    const xpu_block here = node->build.graph->current;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t var = r->gives[body] ? r->gives[body][i] : XPU_PADDLE_NO_VAR;
        size_t errors = node->importer->diags->errors;
        results[i] = var == XPU_PADDLE_NO_VAR ? none : xpu_paddle_held_value(node, var);
        if (!results[i].id && r->types && r->types[i].is_known && node->importer->diags->errors == errors)
            results[i] = xpu_paddle_blank(node, &r->types[i],
                                          var != XPU_PADDLE_NO_VAR && xpu_paddle_is_array(node->importer, var));
        if (results[i].id && r->types && !r->types[i].is_known) r->types[i] = type_of(node, results[i], here);
        if (results[i].id) continue;
        if (node->importer->diags->errors == errors)
            xpu_paddle_refuse(
                node, "a result of the body has no value",
                xpu_paddle_format(node, "nothing gives result %u one in its %s", i, r->is_loop ? "body" : "branch"));
        return 0;
    }
    return 1;
}

/* A condition is one bool, of rank 0. */
xpu_value xpu_paddle_scalar_condition(const xpu_paddle_node *node, xpu_value value) {
    if (!value.id) return none;
    const xpu_value_info info = *xpu_paddle_info(node, value);
    int64_t size = 1, dim = 1;
    for (int d = 0; d < info.rank; d++)
        size = xpu_dim_is_const(&node->build.graph->dims, info.dims[d], &dim) ? size * dim : -1;
    if (info.dtype != XPU_BOOL || size != 1)
        return xpu_paddle_refuse(node, "the condition is invalid",
                                 xpu_paddle_format(node, "it is %s%s; bool of one element is expected",
                                                   xpu_dtype_name(info.dtype), fe_shape_text(&node->build, value)));
    fe_builder inside = fe_inside(&node->build);
    inside.made = 2000 + value.id;
    return info.rank ? fe_reshape_to(&inside, value, NULL, 0, 0) : value;
}

int xpu_paddle_read_body(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results,
                         xpu_diags *diags) {
    xpu_paddle_reading *r = context;
    xpu_paddle_node *node = r->node;
    xpu_paddle_importer *importer = node->importer;
    xpu_diags *around = importer->diags;
    const uint32_t block = r->bodies[body], first = importer->graph->values.count;
    xpu_paddle_saved before = {.vars = NULL};
    importer->diags = node->build.diags = diags;
    undone kept = begin_body(importer, block);
    if (r->around[body]) {
        before = xpu_paddle_save(importer, r->around[body]->vars);
        restore(importer, r->around[body]);
    }
    for (uint32_t i = 0; r->is_loop && i < r->count; i++)
        xpu_paddle_bind(importer, r->arguments[i], arguments[XPU_BODY_FIRST + i]);
    int ok = block == XPU_PADDLE_NO_VAR || xpu_paddle_read_ops(node, block);
    if (r->is_loop && ok) {
        ok = xpu_paddle_check_var(node, r->condition);
        if (ok)
            results[XPU_BODY_GOES_ON] = xpu_paddle_scalar_condition(node, xpu_paddle_held_value(node, r->condition));
        ok = ok && results[XPU_BODY_GOES_ON].id;
    }
    ok = ok && xpu_paddle_give_results(r, body, r->is_loop ? results + XPU_BODY_NEXT : results);
    release_names(importer->graph, first);
    if (before.vars) restore(importer, &before);
    end_body(importer, &kept);
    importer->diags = node->build.diags = around;
    return ok;
}

/* ---- types that nothing outside says ---- */

static int read_to_learn(void *context, uint32_t body, const xpu_value *arguments, xpu_value *results,
                         xpu_diags *diags) {
    xpu_paddle_reading *r = context;
    xpu_paddle_importer *importer = r->node->importer;
    xpu_diags *around = importer->diags;
    (void)body;
    (void)arguments;
    (void)results;
    importer->diags = r->node->build.diags = diags;
    undone kept = begin_body(importer, r->bodies[r->learnt]);
    for (uint32_t i = 0; i < r->start_count; i++) importer->bindings[r->arguments[i]] = r->start[i];
    if (xpu_paddle_read_ops(r->node, r->bodies[r->learnt])) {
        for (uint32_t i = 0; i < r->count; i++) {
            uint32_t var = r->gives[r->learnt][i];
            xpu_value value =
                var == XPU_PADDLE_NO_VAR || r->types[i].is_known ? none : xpu_paddle_held_value(r->node, var);
            if (value.id) r->types[i] = type_of(r->node, value, r->node->build.graph->current);
        }
    }
    end_body(importer, &kept);
    importer->diags = r->node->build.diags = around;
    return 0;
}

/* Reads the body once to see what it gives; the graph stays as it is. */
void xpu_paddle_learn(xpu_paddle_reading *r, uint32_t body, xpu_value condition) {
    xpu_graph *graph = r->node->build.graph;
    xpu_arena *scratch = r->node->importer->scratch;
    xpu_paddle_value_type *before = xpu_copy(scratch, r->types, r->count * sizeof *before + 1);
    xpu_graph_mark mark = xpu_graph_mark_now(graph);
    fe_builder b = r->node->build;
    b.diags = xpu_diags_new(scratch);
    r->learnt = body;
    fe_if(&b, condition, &(fe_bodies){read_to_learn, r}, 0, NULL);
    const xpu_dim_node *nodes = xpu_copy(scratch, graph->dims.nodes.items, graph->dims.nodes.count * sizeof *nodes);
    xpu_graph_take_back(graph, &mark);
    const uint32_t kept = graph->dims.nodes.count;
    for (uint32_t i = 0; i < r->count; i++) {
        for (int d = 0; !before[i].is_known && d < r->types[i].rank; d++) {
            xpu_dim dim = r->types[i].dims[d];
            r->types[i].dims[d] = dim.id ? fe_dim_again(&graph->dims, nodes, kept, dim) : dim;
        }
    }
}

/* ---- bodies in place ---- */

/* A bool or integer that is known. */
int xpu_paddle_known_number(const xpu_paddle_node *node, xpu_value value, int64_t *number) {
    xpu_tensor tensor;
    const xpu_paddle_importer *importer = node->importer;
    if (!value.id || !xpu_paddle_info(node, value)->constant) return 0;
    if (xpu_const_tensor(importer->graph, value, importer->scratch, &tensor, importer->diags) != XPU_OK) return 0;
    if (xpu_tensor_count(&tensor) != 1) return 0;
    *number = (int64_t)xpu_element(&tensor, 0);
    return 1;
}

/* The variables that the block yields, PIR. */
const xpu_paddle_slot *xpu_paddle_yields_of(const xpu_paddle_node *node, uint32_t block, uint32_t *count) {
    *count = 0;
    if (block == XPU_PADDLE_NO_VAR) return NULL;
    const xpu_paddle_block *info = &node->importer->program->blocks.items[block];
    const xpu_paddle_op *last = info->op_count ? &info->ops[info->op_count - 1] : NULL;
    if (!last || strcmp(last->dialect, "cf") != 0 || strcmp(last->type, "yield") != 0) return NULL;
    *count = last->input_count;
    return last->inputs;
}

/* Pending values that the body reads or writes are settled first, where all paths see them. */
void xpu_paddle_settle_all(xpu_paddle_importer *importer, const xpu_paddle_body_vars *vars) {
    for (uint32_t i = 0; i < vars->read.count; i++) {
        if (importer->bindings[vars->read.items[i]].state == XPU_PADDLE_PENDING)
            xpu_paddle_settle(importer, vars->read.items[i]);
    }
    for (uint32_t i = 0; i < vars->written.count; i++) {
        if (importer->bindings[vars->written.items[i]].state == XPU_PADDLE_PENDING)
            xpu_paddle_settle(importer, vars->written.items[i]);
    }
}

/* Tensor arrays that a body reads are one tensor from before it on, where they can be. */
void xpu_paddle_stack_arrays(const xpu_paddle_node *node, const xpu_paddle_body_vars *vars) {
    xpu_paddle_importer *importer = node->importer;
    for (uint32_t i = 0; i < vars->read.count; i++) {
        uint32_t var = vars->read.items[i];
        if (importer->bindings[var].state != XPU_PADDLE_READY || !xpu_paddle_is_array(importer, var)) continue;
        xpu_diags *around = importer->diags;
        importer->diags = xpu_diags_new(importer->scratch); /* those that differ stay a list */
        xpu_paddle_node quiet = *node;
        quiet.build.diags = importer->diags;
        xpu_paddle_stack_of(&quiet, var);
        importer->diags = around;
    }
}

xpu_value xpu_paddle_done(xpu_paddle_node *node, int ok) {
    for (uint32_t i = 0; i < node->result_count; i++) {
        if (node->result_vars[i] != XPU_PADDLE_NO_VAR)
            xpu_paddle_bind(node->importer, node->result_vars[i], ok ? node->results[i] : none);
    }
    node->is_bound = 1;
    return node->result_count && ok ? node->results[0] : none;
}

/* Variables in one list. */
const uint32_t *xpu_paddle_join_vars(const xpu_paddle_node *node, const uint32_t *first, uint32_t count,
                                     const xpu_paddle_vars *second) {
    uint32_t *all = XPU_NEW_ARRAY(node->importer->scratch, uint32_t, count + second->count + 1);
    for (uint32_t i = 0; i < count; i++) all[i] = first[i];
    for (uint32_t i = 0; i < second->count; i++) all[count + i] = second->items[i];
    return all;
}

/* ---- what converters begin with ---- */

/* The one variable that a slot has to have; NO_VAR after reporting. */
uint32_t xpu_paddle_one_var(const xpu_paddle_node *node, const char *name) {
    const xpu_paddle_slot *slot = xpu_paddle_operand_slot(node, name);
    if (slot && slot->count == 1 && slot->vars[0] != XPU_PADDLE_NO_VAR)
        return xpu_paddle_check_var(node, slot->vars[0]) ? slot->vars[0] : XPU_PADDLE_NO_VAR;
    fe_refuse(&node->build, FE_OPERAND, xpu_paddle_format(node, "operand '%s' is invalid", name),
              xpu_paddle_format(node, "%s has one", node->op->type), NULL);
    return XPU_PADDLE_NO_VAR;
}

xpu_value xpu_paddle_fail_all(xpu_paddle_node *node, const xpu_paddle_vars *vars) {
    for (uint32_t i = 0; i < vars->count; i++) xpu_paddle_bind(node->importer, vars->items[i], none);
    node->is_bound = 1;
    return none;
}

uint32_t xpu_paddle_one_body(const xpu_paddle_node *node, uint32_t index) {
    uint32_t body = body_of(node->importer->program, node->op, index);
    if (body == XPU_PADDLE_NO_VAR)
        fe_refuse(&node->build, FE_ATTRIBUTE, "a body is missing",
                  node->op->dialect[0] ? "a region has one block"
                                       : "attribute 'sub_block' names no block whose parent is the operator's",
                  NULL);
    return body;
}

const uint32_t *xpu_paddle_vars_of_slots(const xpu_paddle_node *node, const xpu_paddle_slot *slots, uint32_t count) {
    uint32_t *vars = XPU_NEW_ARRAY(node->importer->scratch, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) vars[i] = slots[i].vars[0];
    return vars;
}

/* Both lists, each variable once. */
xpu_paddle_vars xpu_paddle_unite(xpu_paddle_importer *importer, const xpu_paddle_vars *a, const xpu_paddle_vars *b) {
    xpu_paddle_vars all = {0};
    importer->turn++;
    for (uint32_t i = 0; i < a->count; i++) {
        if (first_time(importer, a->items[i], WRITTEN)) XPU_PUSH(importer->scratch, &all, a->items[i]);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        if (first_time(importer, b->items[i], WRITTEN)) XPU_PUSH(importer->scratch, &all, b->items[i]);
    }
    return all;
}

/* Types that the variables have before; 0: of some nothing is known. */
int xpu_paddle_types_before(const xpu_paddle_node *node, const uint32_t *vars, uint32_t count,
                            xpu_paddle_value_type *types) {
    int all = 1;
    for (uint32_t i = 0; i < count; i++) {
        xpu_value value = vars[i] == XPU_PADDLE_NO_VAR ? none : xpu_paddle_held_value(node, vars[i]);
        if (value.id) types[i] = type_of(node, value, (xpu_block){0});
        all &= value.id != 0;
    }
    return all;
}
