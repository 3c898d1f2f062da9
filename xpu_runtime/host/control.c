/* Branches and loops of a program that runs: what its symbols are now, which iteration runs, and what stopped it. */
#include <string.h>

#include "core/ops/op.h"
#include "xpu_runtime/host/host.h"

/* Where each layer stands, from the tree of steps. */
static void find_nesting(xpu_run *run) {
    const xpu_program *p = run->program;
    run->nesting = XPU_NEW_ARRAY(run->arena, uint8_t, p->layers.count);
    for (uint32_t i = 0; i < p->steps.count; i++) {
        const xpu_program_step *outer = &p->steps.items[i];
        if (outer->kind == XPU_DO_RUN || outer->kind == XPU_DO_SET) continue;
        uint8_t nesting = outer->kind == XPU_DO_LOOP ? XPU_NESTED_LOOP : XPU_NESTED_BRANCH;
        for (uint32_t k = i + 1; k < outer->end; k++) {
            const xpu_program_step *step = &p->steps.items[k];
            for (uint32_t l = step->first; step->kind == XPU_DO_RUN && l <= step->last; l++) run->nesting[l] |= nesting;
        }
    }
}

unsigned xpu_run_nesting(xpu_run *run, uint32_t layer) {
    if (!run->program->steps.count) return 0;
    if (!run->nesting) find_nesting(run);
    return run->nesting[layer];
}

static xpu_status read_word(const xpu_run *run, uint32_t word, int32_t *value) {
    uint32_t address = run->program->plan_address + word * (uint32_t)sizeof *value;
    if (run->driver->read(run->device, address, value, sizeof *value) == 0) return XPU_OK;
    return xpu_error(run->diags, XPU_EFAULT, run->owner->image->name, "device-memory", NULL,
                     "a word of the plan table cannot be read", "it is outside of the device's memory",
                     "compile the model again with xpuc");
}

static int holds(const xpu_program *p, uint32_t outer, uint32_t layer) {
    for (uint32_t i = outer + 1; i < p->steps.items[outer].end; i++) {
        const xpu_program_step *step = &p->steps.items[i];
        if (step->kind == XPU_DO_RUN && step->first <= layer && layer <= step->last) return 1;
    }
    return 0;
}

static uint32_t on_device(const xpu_run *run, uint32_t layer, xpu_iterations *iterations) {
    const xpu_program *p = run->program;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->steps.count && count < XPU_MOST_LOOPS; i++) {
        int32_t iteration = 0;
        if (p->steps.items[i].kind != XPU_DO_LOOP || !holds(p, i, layer)) continue;
        read_word(run, p->steps.items[i].word, &iteration);
        iterations->at[count++] = iteration;
    }
    return count;
}

static uint32_t on_ref(const xpu_run *run, uint32_t layer, xpu_iterations *iterations) {
    const xpu_graph *graph = run->graph;
    xpu_node node = run->program->layers.items[layer].node;
    if (!node.id || !run->iteration_of) return 0;
    uint32_t count = xpu_loops_around(graph, xpu_node_at(graph, node)->parent);
    if (count > XPU_MOST_LOOPS) return 0;
    for (uint32_t i = count; i > 0;) {
        node = xpu_block_at(graph, xpu_node_at(graph, node)->parent)->owner;
        if (xpu_node_is(graph, node, XPU_OP_LOOP)) iterations->at[--i] = run->iteration_of[node.id];
    }
    return count;
}

uint32_t xpu_loops_around(const xpu_graph *graph, xpu_block block) {
    uint32_t count = 0;
    for (xpu_node owner; (owner = xpu_block_at(graph, block)->owner).id; block = xpu_node_at(graph, owner)->parent)
        count += (uint32_t)xpu_node_is(graph, owner, XPU_OP_LOOP);
    return count;
}

uint32_t xpu_run_iterations(xpu_run *run, uint32_t layer, xpu_iterations *iterations) {
    if (!(xpu_run_nesting(run, layer) & XPU_NESTED_LOOP)) return 0;
    if (run->replay) return xpu_replay_iterations(run, iterations);
    return run->driver ? on_device(run, layer, iterations) : on_ref(run, layer, iterations);
}

const char *xpu_iterations_text(xpu_arena *arena, const xpu_iterations *iterations, uint32_t count) {
    const char *text = "";
    for (uint32_t i = 0; i < count; i++) text = xpu_printf(arena, "%s.i%04lld", text, (long long)iterations->at[i]);
    return text;
}

const char *xpu_run_path(xpu_run *run, uint32_t layer) {
    xpu_iterations iterations;
    return xpu_iterations_text(run->arena, &iterations, xpu_run_iterations(run, layer, &iterations));
}

const int64_t *xpu_run_symbols(const xpu_run *run) {
    return run->driver || !run->found ? run->symbols : run->found;
}

xpu_status xpu_run_refresh(xpu_run *run) {
    const xpu_program *p = run->program;
    if (run->only_layer != UINT32_MAX) return XPU_OK; /* the symbols are the dump's */
    for (uint32_t i = 0; run->driver && i < p->steps.count; i++) {
        const xpu_program_step *step = &p->steps.items[i];
        int32_t value;
        if (step->kind != XPU_DO_SET) continue;
        xpu_status status = read_word(run, step->word, &value);
        if (status != XPU_OK) return status;
        const xpu_symbol *symbol = &run->graph->dims.symbols.items[step->symbol];
        if (value < symbol->min || value > symbol->max) value = (int32_t)symbol->min; /* damaged: sizes stay sane */
        run->symbols[step->symbol] = value;
    }
    return XPU_OK;
}

/* ---- faults ---- */

/* The node that makes a size, or in whose body it is found. */
static const char *definer(const xpu_run *run, const xpu_symbol *symbol) {
    const xpu_graph *graph = run->graph;
    const xpu_value_info *info = xpu_value_at(graph, symbol->value);
    xpu_node node = info->kind == XPU_VALUE_ARGUMENT ? xpu_block_at(graph, info->block)->owner : info->node;
    return node.id ? xpu_node_where(graph, node, run->arena) : NULL;
}

/* What --bound calls a symbol: the tensor for its entries "y.0", "y.1". */
static const char *bound_name(const xpu_run *run, const xpu_symbol *symbol) {
    const char *tensor = xpu_value_at(run->graph, symbol->value)->name;
    const size_t length = tensor ? strlen(tensor) : 0;
    int is_entry = length && strncmp(symbol->name, tensor, length) == 0 && symbol->name[length] == '.';
    return is_entry ? tensor : symbol->name;
}

xpu_status xpu_run_control_fault(const xpu_run *run, const xpurt_fault *f, const char *where, const char *node) {
    const xpu_graph *graph = run->graph;
    const char *file = run->owner->image->name;
    if (f->cause == XPU_FAULT_ABORT && f->code >= XPU_ABORT_INDEX &&
        f->code - XPU_ABORT_INDEX <= XPU_ABORT_INDEX_MOST) {
        return xpu_error(
            run->diags, XPU_EFAULT, file, "index-outside", node, "an index is outside its dim",
            xpu_printf(run->arena, "entry %u of its indices is the first that was found", f->code - XPU_ABORT_INDEX),
            "indices are from -size to size - 1: give other inputs");
    }
    if (f->cause != XPU_FAULT_ABORT || f->code < XPU_ABORT_SYMBOL || f->code >= XPU_ABORT_CONTROL_END) return XPU_OK;
    uint32_t index = f->code & 0xffff;
    if (f->code >= XPU_ABORT_TRIPS) {
        return xpu_error(run->diags, XPU_EFAULT, file, "loop-trips", where, "a loop does not end",
                         "it has run 2^31 - 1 times", "look at what makes the loop's condition false");
    }
    if (f->code >= XPU_ABORT_GUARD && index < graph->guards.count) {
        const xpu_guard *guard = &graph->guards.items[index];
        return xpu_error(run->diags, XPU_EFAULT, file, "value-guard", xpu_escape_message(run->arena, guard->where, 200),
                         "it cannot run with the sizes of this run",
                         xpu_printf(run->arena, "it needs %s", xpu_guard_text(graph, guard, run->arena)),
                         "the sizes follow from the data: give other inputs");
    }
    if (f->code < XPU_ABORT_GUARD && index < graph->dims.symbols.count) {
        const xpu_symbol *s = &graph->dims.symbols.items[index];
        const char *name = xpu_escape(run->arena, s->name, 80);
        const char *most =
            s->bound.id ? xpu_printf(run->arena, ", and at most %s", xpu_dim_text(&graph->dims, s->bound, run->arena))
                        : "";
        return xpu_error(run->diags, XPU_EFAULT, file, "value-bound", definer(run, s),
                         xpu_printf(run->arena, "the size '%s' that the run has found is out of range", name),
                         xpu_printf(run->arena, "the program was compiled for %lld to %lld%s", (long long)s->min,
                                    (long long)s->max, most),
                         xpu_printf(run->arena, "compile with a larger bound: xpuc --bound=%s=N",
                                    xpu_escape(run->arena, bound_name(run, s), 80)));
    }
    return XPU_OK;
}
