/* Whole graphs with the reference kernels: nodes in order, bodies of control flow as their conditions say. */
#include <string.h>

#include "core/ops/control.h"
#include "core/ops/ref.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

/* Values of an enclosing block that the bodies of a node use: they live until the node has run. */
typedef struct {
    const xpu_value *items;
    uint32_t count;
} captures;

typedef struct {
    const xpu_graph *graph;
    const xpu_ref_options *options;
    int64_t *symbols;          /* of this moment: those that values define change */
    uint8_t *is_known, *seen;  /* by symbol: it has its value; of one guard */
    int changed;               /* a symbol has got a value since guards were looked at */
    const uint32_t *next_of;   /* by symbol: the next one that the same value defines, plus 1 */
    const uint32_t *symbol_of; /* by value id: the first symbol that it defines, plus 1 */
    xpu_tensor *values;        /* by value id */
    xpu_arena **owners;        /* by value id: the arena that holds the data of a node's first result, else NULL */
    uint32_t *remaining;       /* by value id: uses still to come in its own block */
    uint32_t *uses;            /* by value id: such uses each time that the block runs */
    captures *captures;        /* by node id */
    xpu_arena *arena;          /* of the run */
    xpu_diags *diags;
} run;

static xpu_status run_block(run *r, xpu_block block);

/* ---- what is known before ---- */

static void find_definers(run *r) {
    const xpu_dims *dims = &r->graph->dims;
    uint32_t *symbol_of = XPU_NEW_ARRAY(r->arena, uint32_t, r->graph->values.count);
    uint32_t *next_of = XPU_NEW_ARRAY(r->arena, uint32_t, dims->symbols.count);
    r->symbols = XPU_NEW_ARRAY(r->arena, int64_t, dims->symbols.count);
    r->is_known = XPU_NEW_ARRAY(r->arena, uint8_t, dims->symbols.count);
    r->seen = XPU_NEW_ARRAY(r->arena, uint8_t, dims->symbols.count);
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        const xpu_symbol *symbol = &dims->symbols.items[i];
        r->is_known[i] = !xpu_symbol_is_dynamic(r->graph, i);
        r->symbols[i] = r->options->symbols ? r->options->symbols[i] : symbol->min;
        if (!symbol->value.id) continue;
        next_of[i] = symbol_of[symbol->value.id];
        symbol_of[symbol->value.id] = i + 1;
    }
    if (r->options->found) *r->options->found = r->symbols;
    r->symbol_of = symbol_of;
    r->next_of = next_of;
}

/* Uses by nodes of the value's own block, as operands or in bodies, and as a result of it. */
static void count_uses(run *r) {
    const xpu_graph *graph = r->graph;
    r->uses = XPU_NEW_ARRAY(r->arena, uint32_t, graph->values.count);
    r->captures = XPU_NEW_ARRAY(r->arena, captures, graph->nodes.count);
    XPU_FOR_ALL_NODES(graph, node) {
        const xpu_node_info *info = xpu_node_at(graph, node);
        if (info->block_count) {
            captures *list = &r->captures[node.id];
            list->items = xpu_node_captures(graph, node, r->arena, &list->count);
            for (uint32_t i = 0; i < list->count; i++) {
                r->uses[list->items[i].id] += xpu_value_block(graph, list->items[i]).id == info->parent.id;
            }
        }
        for (uint32_t i = 0; i < info->input_count; i++) {
            if (!info->inputs[i].id) continue;
            r->uses[info->inputs[i].id] += xpu_value_block(graph, info->inputs[i]).id == info->parent.id;
        }
    }
    XPU_FOR_BLOCKS(graph, block) {
        const xpu_block_info *info = xpu_block_at(graph, block);
        for (uint32_t i = 0; i < info->results.count; i++) {
            r->uses[info->results.items[i].id] += xpu_value_block(graph, info->results.items[i]).id == block.id;
        }
    }
    r->remaining = xpu_copy(r->arena, r->uses, graph->values.count * sizeof *r->uses);
}

static void begin_run(run *r, xpu_arena *arena) {
    const xpu_graph *graph = r->graph;
    r->arena = xpu_arena_new(xpu_arena_mem(arena), "ref");
    r->values = XPU_NEW_ARRAY(r->arena, xpu_tensor, graph->values.count);
    r->owners = XPU_NEW_ARRAY(r->arena, xpu_arena *, graph->values.count);
    find_definers(r);
    count_uses(r);
}

static void end_run(run *r) {
    for (uint32_t id = 1; id < r->graph->values.count; id++) xpu_arena_free(r->owners[id]);
    xpu_arena_free(r->arena);
}

/* ---- values ---- */

static xpu_status wrong_shape(run *r, xpu_node node, const char *what) {
    return xpu_error(r->diags, XPU_EUSAGE, r->graph->file, "ref-shape", xpu_node_where(r->graph, node, r->arena), what,
                     "the shapes given for this run do not fit the model", "give another input shape");
}

/* A value is there: the symbols that it defines get their values. */
static void set_value(run *r, xpu_value value, const xpu_tensor *tensor) {
    r->values[value.id] = *tensor;
    int64_t count = xpu_tensor_count(tensor);
    for (uint32_t i = r->symbol_of[value.id]; i; i = r->next_of[i - 1]) {
        const xpu_symbol *symbol = &r->graph->dims.symbols.items[i - 1];
        if ((int64_t)symbol->element >= count) continue;
        r->is_known[i - 1] = 1;
        r->changed = 1;
        if (tensor->dtype == XPU_I64) r->symbols[i - 1] = ((const int64_t *)tensor->data)[symbol->element];
        if (tensor->dtype == XPU_I32) r->symbols[i - 1] = ((const int32_t *)tensor->data)[symbol->element];
    }
}

static int is_all_known(run *r, xpu_dim dim) {
    const xpu_dims *dims = &r->graph->dims;
    memset(r->seen, 0, dims->symbols.count);
    xpu_dim_find_symbols(dims, dim, r->seen);
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        if (r->seen[i] && !r->is_known[i]) return 0;
    }
    return 1;
}

/* Guards with symbols that the run finds, once it has found all of them; the others were looked at before the run. */
static xpu_status check_guards(run *r) {
    const xpu_dims *dims = &r->graph->dims;
    if (!r->changed) return XPU_OK;
    r->changed = 0;
    for (uint32_t i = 0; i < r->graph->guards.count; i++) {
        const xpu_guard *guard = &r->graph->guards.items[i];
        if (!xpu_dim_is_dynamic(r->graph, guard->a) && !xpu_dim_is_dynamic(r->graph, guard->b)) continue;
        if (xpu_dim_eval(dims, guard->a, r->symbols) == xpu_dim_eval(dims, guard->b, r->symbols)) continue;
        if (!is_all_known(r, guard->a) || !is_all_known(r, guard->b)) continue;
        return xpu_error(r->diags, XPU_EFAULT, r->graph->file, "value-guard",
                         xpu_escape_message(r->arena, guard->where, 200), "it cannot run with the sizes of this run",
                         xpu_printf(r->arena, "it needs %s", xpu_guard_text(r->graph, guard, r->arena)),
                         "the sizes follow from the data: give other inputs");
    }
    return XPU_OK;
}

/* Whether a tensor has the dims that the value has at this moment. */
static int fits(const run *r, xpu_value value, const xpu_tensor *tensor) {
    const xpu_value_info *info = xpu_value_at(r->graph, value);
    xpu_tensor expected = {.dtype = info->dtype, .rank = info->rank};
    return xpu_value_dims(r->graph, value, r->symbols, expected.dims) && xpu_same_shape(&expected, tensor);
}

static xpu_status constant_operand(run *r, xpu_value value, xpu_arena *arena) {
    const xpu_const *constant = xpu_value_at(r->graph, value)->constant;
    if (constant->kind != XPU_CONST_BYTES || constant->steps.count) {
        return xpu_const_tensor(r->graph, value, arena, &r->values[value.id], r->diags);
    }
    const xpu_value_info *info = xpu_value_at(r->graph, value);
    xpu_tensor *tensor = &r->values[value.id];
    *tensor = (xpu_tensor){.dtype = info->dtype, .rank = info->rank, .data = (void *)(uintptr_t)constant->bytes};
    return xpu_value_dims(r->graph, value, NULL, tensor->dims) ? XPU_OK : XPU_EBUG;
}

/* The value's tensor; of constants in `arena`. */
static xpu_status operand(run *r, xpu_value value, xpu_arena *arena, const xpu_tensor **tensor) {
    *tensor = &r->values[value.id];
    return xpu_value_at(r->graph, value)->kind == XPU_VALUE_CONST ? constant_operand(r, value, arena) : XPU_OK;
}

/* ---- work ---- */

static xpu_status meter_node(run *r, xpu_node node) {
    const xpu_ref_options *options = r->options;
    if (!options->meter) return XPU_OK;
    return options->meter(options->context, node, xpu_ref_cost_of_node(r->graph, node, r->symbols).work);
}

static xpu_status meter_iteration(run *r, xpu_node loop, const xpu_tensor *results, uint32_t count) {
    double work = 1 + (double)count;
    if (!r->options->meter) return XPU_OK;
    for (uint32_t i = 0; i < count; i++) work += (double)xpu_tensor_count(&results[i]);
    return r->options->meter(r->options->context, loop, work);
}

/* One arena per node holds its results; it goes when the last of them has been used. */
static void release(run *r, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(r->graph, node);
    xpu_arena **owner = &r->owners[info->outputs[0].id];
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (r->remaining[info->outputs[i].id] || xpu_value_at(r->graph, info->outputs[i])->is_output) return;
    }
    xpu_arena_free(*owner);
    *owner = NULL;
}

static void used(run *r, xpu_value value, xpu_block block) {
    if (!value.id || xpu_value_block(r->graph, value).id != block.id) return;
    r->remaining[value.id]--;
    const xpu_value_info *info = xpu_value_at(r->graph, value);
    if (info->kind == XPU_VALUE_NODE) release(r, info->node);
}

/* ---- bodies ---- */

static void begin_block(run *r, xpu_block block) {
    XPU_FOR_BLOCK_NODES(r->graph, block, node) {
        const xpu_node_info *info = xpu_node_at(r->graph, node);
        for (uint32_t i = 0; i < info->output_count; i++) {
            r->remaining[info->outputs[i].id] = r->uses[info->outputs[i].id];
        }
    }
    const xpu_block_info *info = xpu_block_at(r->graph, block);
    for (uint32_t i = 0; i < info->arguments.count; i++) {
        r->remaining[info->arguments.items[i].id] = r->uses[info->arguments.items[i].id];
    }
}

static void forget_symbols(run *r, xpu_value value) {
    for (uint32_t i = r->symbol_of[value.id]; i; i = r->next_of[i - 1]) r->is_known[i - 1] = 0;
}

static void end_block(run *r, xpu_block block) {
    const xpu_block_info *info = xpu_block_at(r->graph, block);
    for (uint32_t i = 0; i < info->arguments.count; i++) forget_symbols(r, info->arguments.items[i]);
    XPU_FOR_BLOCK_NODES(r->graph, block, node) {
        const xpu_node_info *made = xpu_node_at(r->graph, node);
        for (uint32_t i = 0; i < made->output_count; i++) forget_symbols(r, made->outputs[i]);
        xpu_arena **owner = &r->owners[xpu_node_output(r->graph, node, 0).id];
        xpu_arena_free(*owner);
        *owner = NULL;
    }
}

/* Copies of results [first, end) of a block that has run. */
static xpu_status take_results(run *r, xpu_block block, uint32_t first, uint32_t end, xpu_tensor *copies,
                               xpu_arena *arena) {
    const xpu_block_info *info = xpu_block_at(r->graph, block);
    for (uint32_t i = first; i < end; i++) {
        const xpu_tensor *tensor;
        xpu_status status = operand(r, info->results.items[i], arena, &tensor);
        if (status != XPU_OK) return status;
        copies[i] = *tensor;
        copies[i].data = xpu_copy(arena, tensor->data, xpu_tensor_bytes(tensor));
    }
    return XPU_OK;
}

static int64_t integer_of(const xpu_tensor *tensor) {
    return *(const int64_t *)tensor->data;
}
static int bool_of(const xpu_tensor *tensor) {
    return *(const uint8_t *)tensor->data != 0;
}

static xpu_status run_if(run *r, xpu_node node, const xpu_tensor *const *inputs, xpu_tensor *results,
                         xpu_arena *arena) {
    const xpu_node_info *info = xpu_node_at(r->graph, node);
    xpu_block body = info->blocks[bool_of(inputs[XPU_IF_CONDITION]) ? XPU_THEN : XPU_ELSE];
    xpu_status status = run_block(r, body);
    if (status == XPU_OK) status = take_results(r, body, 0, info->output_count, results, arena);
    end_block(r, body);
    return status;
}

static xpu_status run_region(run *r, xpu_node node, const xpu_tensor *const *inputs, xpu_tensor *results,
                             xpu_arena *arena) {
    const xpu_node_info *info = xpu_node_at(r->graph, node);
    xpu_block body = info->blocks[0];
    for (uint32_t i = 0; i < info->input_count; i++) {
        set_value(r, xpu_block_at(r->graph, body)->arguments.items[i], inputs[i]);
    }
    xpu_status status = run_block(r, body);
    if (status == XPU_OK) status = take_results(r, body, 0, info->output_count, results, arena);
    end_block(r, body);
    return status;
}

/* An iteration's results, in an arena of their own until the next one has run. */
typedef struct {
    xpu_arena *arena;
    xpu_tensor *results;
} round;

typedef struct {
    xpu_node node;
    xpu_loop loop;
    int64_t trips, count; /* at most; so far */
    int goes_on;
    const xpu_tensor **now; /* the carried values: first those from outside, then of `last` */
    round last;
    xpu_text *stacks;    /* bytes of the stacked results */
    xpu_tensor *entries; /* the shapes of their entries */
} iterations;

static xpu_status bind_arguments(run *r, iterations *it) {
    const xpu_block_info *body = xpu_block_at(r->graph, it->loop.body);
    uint8_t goes_on = 1;
    xpu_arena *arena = it->last.arena ? it->last.arena : r->arena;
    xpu_tensor number = {.dtype = XPU_I64, .data = xpu_copy(arena, &it->count, sizeof it->count)};
    xpu_tensor condition = {.dtype = XPU_BOOL, .data = xpu_copy(arena, &goes_on, sizeof goes_on)};
    for (uint32_t i = 0; i < body->arguments.count; i++) {
        xpu_value argument = body->arguments.items[i];
        xpu_tensor tensor = i == XPU_BODY_ITERATION   ? number
                            : i == XPU_BODY_CONDITION ? condition
                                                      : *it->now[i - XPU_BODY_FIRST];
        const xpu_value_info *info = xpu_value_at(r->graph, argument);
        for (; i < XPU_BODY_FIRST && tensor.rank < info->rank; tensor.rank++) tensor.dims[tensor.rank] = 1;
        set_value(r, argument, &tensor);
    }
    for (uint32_t i = 0; i < it->loop.carried; i++) {
        if (fits(r, body->arguments.items[XPU_BODY_FIRST + i], it->now[i])) continue;
        return wrong_shape(r, it->node, xpu_printf(r->arena, "carried value %u has not the dims of this iteration", i));
    }
    return XPU_OK;
}

static xpu_status stack_results(run *r, iterations *it) {
    for (uint32_t i = 0; i < it->loop.stacked; i++) {
        const xpu_tensor *entry = &it->last.results[XPU_BODY_NEXT + it->loop.carried + i];
        if (it->count && !xpu_same_shape(entry, &it->entries[i]))
            return wrong_shape(r, it->node, xpu_printf(r->arena, "entries of stack %u differ in shape", i));
        it->entries[i] = *entry;
        xpu_text_add_bytes(&it->stacks[i], entry->data, xpu_tensor_bytes(entry));
    }
    return XPU_OK;
}

static xpu_status iterate(run *r, iterations *it) {
    uint32_t count = xpu_block_at(r->graph, it->loop.body)->results.count;
    xpu_status status = xpu_stopped(r->arena) ? XPU_ESTOPPED : bind_arguments(r, it);
    if (status == XPU_OK && r->options->iterates) r->options->iterates(r->options->context, it->node, it->count);
    if (status == XPU_OK) status = run_block(r, it->loop.body);
    round next = {.arena = xpu_arena_new(xpu_arena_mem(r->arena), "iteration")};
    next.results = XPU_NEW_ARRAY(next.arena, xpu_tensor, count);
    if (status == XPU_OK) status = take_results(r, it->loop.body, 0, count, next.results, next.arena);
    if (status == XPU_OK) status = meter_iteration(r, it->node, next.results, count);
    end_block(r, it->loop.body);
    xpu_arena_free(it->last.arena);
    it->last = next;
    if (status == XPU_OK) status = stack_results(r, it);
    for (uint32_t i = 0; i < it->loop.carried; i++) it->now[i] = &next.results[XPU_BODY_NEXT + i];
    it->goes_on = status == XPU_OK && bool_of(&next.results[XPU_BODY_GOES_ON]);
    it->count++;
    return status;
}

static xpu_status finish_loop(run *r, iterations *it, xpu_tensor *results, xpu_arena *arena) {
    for (uint32_t i = 0; i < it->loop.carried; i++) {
        results[i] = *it->now[i];
        results[i].data = xpu_copy(arena, it->now[i]->data, xpu_tensor_bytes(it->now[i]));
    }
    results[xpu_loop_count_result(&it->loop)] =
        (xpu_tensor){.dtype = XPU_I64, .data = xpu_copy(arena, &it->count, sizeof it->count)};
    set_value(r, xpu_node_output(r->graph, it->node, xpu_loop_count_result(&it->loop)),
              &results[xpu_loop_count_result(&it->loop)]);
    for (uint32_t i = 0; i < it->loop.stacked; i++) {
        uint32_t output = it->loop.carried + i;
        xpu_value value = xpu_node_output(r->graph, it->node, output);
        const xpu_value_info *info = xpu_value_at(r->graph, value);
        xpu_tensor *stack = &results[output];
        *stack = (xpu_tensor){.dtype = info->dtype, .rank = info->rank};
        if (it->count) {
            for (int d = 1; d < info->rank; d++) stack->dims[d] = it->entries[i].dims[d - 1];
        } else if (!xpu_value_dims(r->graph, value, r->symbols, stack->dims)) {
            return wrong_shape(r, it->node, "a stack has no valid dims in this run");
        }
        stack->dims[0] = it->count;
        stack->data = xpu_copy(arena, it->stacks[i].text, it->stacks[i].length);
    }
    return XPU_OK;
}

static xpu_status run_loop(run *r, xpu_node node, const xpu_tensor *const *inputs, xpu_tensor *results,
                           xpu_arena *arena) {
    const xpu_tensor *trips = inputs[XPU_LOOP_TRIPS], *condition = inputs[XPU_LOOP_CONDITION];
    iterations it = {.node = node, .loop = xpu_loop_of(r->graph, node)};
    it.trips = trips ? integer_of(trips) : INT64_MAX;
    it.goes_on = !condition || bool_of(condition);
    it.now = XPU_NEW_ARRAY(arena, const xpu_tensor *, it.loop.carried);
    it.stacks = XPU_NEW_ARRAY(arena, xpu_text, it.loop.stacked);
    it.entries = XPU_NEW_ARRAY(arena, xpu_tensor, it.loop.stacked);
    for (uint32_t i = 0; i < it.loop.carried; i++) it.now[i] = inputs[XPU_LOOP_FIRST + i];
    for (uint32_t i = 0; i < it.loop.stacked; i++) xpu_text_init(&it.stacks[i], arena);
    xpu_status status = XPU_OK;
    while (status == XPU_OK && it.goes_on && it.count < it.trips) status = iterate(r, &it);
    if (status == XPU_OK) status = finish_loop(r, &it, results, arena);
    xpu_arena_free(it.last.arena);
    return status;
}

/* ---- nodes ---- */

static xpu_status run_control(run *r, xpu_node node, const xpu_tensor *const *inputs, xpu_tensor *results,
                              xpu_arena *arena) {
    const xpu_node_info *info = xpu_node_at(r->graph, node);
    xpu_op_id op = xpu_op_id_of(info->op);
    xpu_status status = op == XPU_OP_LOOP ? run_loop(r, node, inputs, results, arena)
                        : op == XPU_OP_IF ? run_if(r, node, inputs, results, arena)
                                          : run_region(r, node, inputs, results, arena);
    for (uint32_t i = 0; i < info->output_count && status == XPU_OK; i++) set_value(r, info->outputs[i], &results[i]);
    for (uint32_t i = 0; i < info->output_count && status == XPU_OK; i++) {
        if (!fits(r, info->outputs[i], &results[i]))
            status = wrong_shape(r, node, xpu_printf(r->arena, "result %u has not the dims of this run", i));
    }
    return status;
}

static xpu_status run_node(run *r, xpu_node node) {
    const xpu_graph *graph = r->graph;
    const xpu_node_info *info = xpu_node_at(graph, node);
    const captures *captured = &r->captures[node.id];
    xpu_arena *constants = xpu_arena_new(xpu_arena_mem(r->arena), "constants");
    xpu_arena *owner = xpu_arena_new(xpu_arena_mem(r->arena), "results");
    const xpu_tensor **inputs = XPU_NEW_ARRAY(constants, const xpu_tensor *, info->input_count);
    xpu_tensor *results = XPU_NEW_ARRAY(constants, xpu_tensor, info->output_count);
    xpu_status status = check_guards(r);
    if (status == XPU_OK) status = meter_node(r, node);
    r->owners[info->outputs[0].id] = owner;
    xpu_doing(xpu_arena_mem(r->arena), "node", xpu_node_name(graph, node));
    for (uint32_t i = 0; i < info->input_count && status == XPU_OK; i++) {
        if (info->inputs[i].id) status = operand(r, info->inputs[i], constants, &inputs[i]);
    }
    if (status == XPU_OK && info->block_count) {
        status = run_control(r, node, inputs, results, owner);
    } else if (status == XPU_OK) {
        status = xpu_ref_node(graph, node, r->symbols, inputs, results, owner, r->diags);
    }
    for (uint32_t i = 0; i < info->output_count && status == XPU_OK; i++) set_value(r, info->outputs[i], &results[i]);
    int is_seen = r->options->observer && (r->options->bodies || info->parent.id == XPU_TOP_BLOCK.id);
    if (status == XPU_OK && is_seen) {
        status = r->options->observer(r->options->context, node, results, info->output_count);
    }
    for (uint32_t i = 0; i < info->input_count && status == XPU_OK; i++) used(r, info->inputs[i], info->parent);
    for (uint32_t i = 0; i < captured->count && status == XPU_OK; i++) used(r, captured->items[i], info->parent);
    if (status == XPU_OK) release(r, node);
    xpu_arena_free(constants);
    return status;
}

static xpu_status run_block(run *r, xpu_block block) {
    xpu_status status = XPU_OK;
    begin_block(r, block);
    XPU_FOR_BLOCK_NODES(r->graph, block, node) {
        status = xpu_stopped(r->arena) ? XPU_ESTOPPED : run_node(r, node);
        if (status != XPU_OK) break;
    }
    return status;
}

/* ---- the interface ---- */

static xpu_status copy_output(run *r, xpu_value value, xpu_tensor *output, xpu_arena *arena) {
    if (xpu_value_at(r->graph, value)->kind == XPU_VALUE_CONST) {
        return xpu_const_tensor(r->graph, value, arena, output, r->diags);
    }
    *output = r->values[value.id];
    output->data = xpu_copy(arena, r->values[value.id].data, xpu_tensor_bytes(output));
    return XPU_OK;
}

xpu_status xpu_ref_run(const xpu_graph *graph, const xpu_ref_options *options, xpu_tensor *outputs, xpu_arena *arena,
                       xpu_diags *diags) {
    run r = {.graph = graph, .options = options, .diags = diags};
    begin_run(&r, arena);
    for (uint32_t i = 0; i < graph->inputs.count; i++) r.values[graph->inputs.items[i].id] = options->inputs[i];
    xpu_status status = run_block(&r, XPU_TOP_BLOCK);
    if (status == XPU_OK) status = check_guards(&r);
    for (uint32_t i = 0; i < graph->outputs.count && status == XPU_OK; i++) {
        status = copy_output(&r, graph->outputs.items[i], &outputs[i], arena);
    }
    end_run(&r);
    return status;
}

xpu_status xpu_ref_control(const xpu_graph *graph, xpu_node node, const xpu_ref_options *options,
                           const xpu_tensor *const *inputs, xpu_tensor *results, xpu_arena *arena, xpu_diags *diags) {
    const xpu_node_info *info = xpu_node_at(graph, node);
    run r = {.graph = graph, .options = options, .diags = diags};
    begin_run(&r, arena);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (info->inputs[i].id) set_value(&r, info->inputs[i], inputs[i]);
    }
    xpu_status status = run_control(&r, node, inputs, results, arena);
    end_run(&r);
    return status;
}

/* ---- raise ---- */

xpu_status xpu_ref_raise(const xpu_ref_args *args) {
    return xpu_error(args->diags, XPU_EUSAGE, args->graph->file, "ref-raise",
                     xpu_node_where(args->graph, args->node, args->scratch),
                     "the run came to a part of the model that cannot run",
                     xpu_node_string(args->graph, args->node, XPU_ATTR_REASON),
                     "the inputs of this run choose that part: give others, or compile for other shapes");
}
