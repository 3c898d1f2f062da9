/* Operands of a layer that runs alone. A dump has what layers made, in each iteration; what stands between them is
 * found from that: views, what a loop hands to its body, and what branches and loops leave. */
#include <string.h>

#include "core/ops/control.h"
#include "xpu_runtime/host/replay.h"

enum {
    MOST_NODES = 16,      /* between a layer's result and an operand: views such as reshape */
    MOST_DEPTH = 1024,    /* as a value that loops hand on unchanged goes back to where it was made */
    MOST_FOUND = 1 << 20, /* values that are looked for */
};

typedef struct {
    const xpu_iterations *when;
    uint32_t depth, nodes;
} place;

static xpu_status find(xpu_run *run, xpu_value value, place at, xpu_tensor *tensor);

static xpu_status missing(const xpu_run *run, xpu_value value) {
    return xpu_replay_missing(run, "the dump lacks an operand of the layer", "", xpu_value_at(run->graph, value)->name);
}

static xpu_status wrong_shape(const xpu_run *run, xpu_value value) {
    const char *name = xpu_escape(run->arena, xpu_value_at(run->graph, value)->name, 200);
    return xpu_error(
        run->diags, XPU_EUSAGE, run->options->from_dump, "dump-shape", NULL, "the dump is of another program",
        xpu_printf(run->arena, "'%s' has another shape or element type", name), "make the dump with this program");
}

/* ---- symbols and shapes ---- */

/* run->symbols as they were in another iteration; what they are now goes to *kept. */
static xpu_status enter(xpu_run *run, const xpu_iterations *when, uint32_t loops, int64_t **kept) {
    size_t bytes = run->graph->dims.symbols.count * sizeof *run->symbols;
    const char *text = xpu_iterations_text(run->arena, when, loops);
    *kept = xpu_copy(run->arena, run->symbols, bytes);
    if (loops <= run->replay->loops && strcmp(text, xpu_iterations_text(run->arena, &run->replay->now, loops)) == 0)
        return XPU_OK;
    return xpu_replay_take_symbols(run, json_object_get(run->replay->symbols, text));
}

static void leave(xpu_run *run, const int64_t *kept) {
    memcpy(run->symbols, kept, run->graph->dims.symbols.count * sizeof *run->symbols);
}

/* ---- nodes that are no layers ---- */

static xpu_status number(xpu_run *run, xpu_value value, place at, int64_t *number) {
    xpu_tensor tensor;
    xpu_status status = find(run, value, at, &tensor);
    if (status != XPU_OK) return status;
    if (xpu_tensor_count(&tensor) != 1) return wrong_shape(run, value);
    switch (tensor.dtype) {
    case XPU_BOOL: *number = *(const uint8_t *)tensor.data != 0; return XPU_OK;
    case XPU_I32: *number = *(const int32_t *)tensor.data; return XPU_OK;
    case XPU_I64: *number = *(const int64_t *)tensor.data; return XPU_OK;
    default: return wrong_shape(run, value);
    }
}

/* A value of one int64 or bool. */
static xpu_status one_element(xpu_run *run, xpu_value value, int64_t number, xpu_tensor *tensor) {
    *tensor = xpu_run_shape(run, value);
    if (xpu_tensor_count(tensor) != 1 || xpu_tensor_bytes(tensor) > sizeof number) return wrong_shape(run, value);
    tensor->data = xpu_copy(run->arena, &number, sizeof number);
    return XPU_OK;
}

/* The results of a view, from its operands. */
static xpu_status compute(xpu_run *run, xpu_node which, uint32_t result, place at, xpu_tensor *tensor) {
    const xpu_node_info *node = xpu_node_at(run->graph, which);
    const xpu_tensor **inputs = XPU_NEW_ARRAY(run->arena, const xpu_tensor *, node->input_count);
    xpu_tensor *operands = XPU_NEW_ARRAY(run->arena, xpu_tensor, node->input_count);
    xpu_tensor *results = XPU_NEW_ARRAY(run->arena, xpu_tensor, node->output_count);
    place before = {at.when, at.depth + 1, at.nodes + 1};
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!node->inputs[i].id) continue;
        xpu_status status = find(run, node->inputs[i], before, &operands[i]);
        if (status != XPU_OK) return status;
        inputs[i] = &operands[i];
    }
    int64_t *kept;
    xpu_status status = enter(run, at.when, xpu_loops_around(run->graph, node->parent), &kept);
    if (status == XPU_OK) status = xpu_run_afford_node(run, which);
    if (status == XPU_OK) status = xpu_run_node(run, which, inputs, results);
    leave(run, kept);
    *tensor = results[result];
    return status;
}

static xpu_status result_of_if(xpu_run *run, xpu_node which, uint32_t result, place at, xpu_tensor *tensor) {
    const xpu_node_info *node = xpu_node_at(run->graph, which);
    int64_t condition;
    place inside = {at.when, at.depth + 1, at.nodes};
    xpu_status status = number(run, node->inputs[XPU_IF_CONDITION], inside, &condition);
    if (status != XPU_OK) return status;
    xpu_block branch = node->blocks[condition ? XPU_THEN : XPU_ELSE];
    return find(run, xpu_block_at(run->graph, branch)->results.items[result], inside, tensor);
}

/* Whether a value is the same in all iterations of a loop that so many loops are around. */
static int is_invariant(const xpu_run *run, xpu_value value, uint32_t loops) {
    return xpu_value_at(run->graph, value)->kind == XPU_VALUE_CONST ||
           xpu_loops_around(run->graph, xpu_value_block(run->graph, value)) <= loops;
}

/* How many iterations ran: as long as the body said so. */
static xpu_status count_iterations(xpu_run *run, xpu_node which, place at, int64_t *count) {
    const xpu_node_info *node = xpu_node_at(run->graph, which);
    const xpu_block_info *body = xpu_block_at(run->graph, node->blocks[0]);
    uint32_t loops = xpu_loops_around(run->graph, node->parent);
    xpu_iterations inner = *at.when;
    place inside = {&inner, at.depth + 1, at.nodes};
    int64_t trips = INT32_MAX, goes_on = 1;
    xpu_status status = XPU_OK;
    if (node->inputs[XPU_LOOP_TRIPS].id) status = number(run, node->inputs[XPU_LOOP_TRIPS], inside, &trips);
    if (status == XPU_OK && node->inputs[XPU_LOOP_CONDITION].id)
        status = number(run, node->inputs[XPU_LOOP_CONDITION], inside, &goes_on);
    const xpu_value said = body->results.items[XPU_BODY_GOES_ON];
    if (trips > INT32_MAX) trips = INT32_MAX;
    for (*count = 0; status == XPU_OK && *count < trips && goes_on; ++*count) {
        inner.at[loops] = *count;
        status = number(run, said, inside, &goes_on);
        if (status == XPU_OK && goes_on && is_invariant(run, said, loops)) *count = trips - 1;
    }
    return status;
}

/* What the iterations made, one behind the other. */
static xpu_status stack(xpu_run *run, xpu_node which, uint32_t result, int64_t count, place at, xpu_tensor *tensor) {
    const xpu_node_info *node = xpu_node_at(run->graph, which);
    const xpu_block_info *body = xpu_block_at(run->graph, node->blocks[0]);
    uint32_t loops = xpu_loops_around(run->graph, node->parent);
    xpu_iterations inner = *at.when;
    place inside = {&inner, at.depth + 1, at.nodes};
    int64_t *kept;
    xpu_status status = enter(run, at.when, loops, &kept);
    if (status == XPU_OK) *tensor = xpu_run_shape(run, node->outputs[result]);
    leave(run, kept);
    if (status != XPU_OK) return status;
    size_t bytes = xpu_tensor_bytes(tensor), entry = count ? bytes / (size_t)count : 0;
    if (tensor->dims[0] != count) return wrong_shape(run, node->outputs[result]);
    tensor->data = xpu_alloc(run->arena, bytes);
    for (inner.at[loops] = 0; inner.at[loops] < count; inner.at[loops]++) {
        xpu_tensor item;
        status = find(run, body->results.items[XPU_BODY_NEXT + result], inside, &item);
        if (status != XPU_OK) return status;
        if (xpu_tensor_bytes(&item) != entry) return wrong_shape(run, node->outputs[result]);
        memcpy((char *)tensor->data + (size_t)inner.at[loops] * entry, item.data, entry);
    }
    return XPU_OK;
}

static xpu_status result_of_loop(xpu_run *run, xpu_node which, uint32_t result, place at, xpu_tensor *tensor) {
    const xpu_node_info *node = xpu_node_at(run->graph, which);
    xpu_loop loop = xpu_loop_of(run->graph, which);
    uint32_t loops = xpu_loops_around(run->graph, node->parent);
    int64_t count;
    if (loops >= XPU_MOST_LOOPS) return missing(run, node->outputs[result]);
    xpu_status status = count_iterations(run, which, at, &count);
    if (status != XPU_OK) return status;
    if (result == xpu_loop_count_result(&loop)) return one_element(run, node->outputs[result], count, tensor);
    if (result >= loop.carried) return stack(run, which, result, count, at, tensor);
    xpu_iterations last = *at.when;
    place before = {&last, at.depth + 1, at.nodes};
    if (!count) return find(run, node->inputs[XPU_LOOP_FIRST + result], before, tensor);
    last.at[loops] = count - 1;
    return find(run, xpu_block_at(run->graph, loop.body)->results.items[XPU_BODY_NEXT + result], before, tensor);
}

/* What a loop hands to its body: the iteration, and what the iteration before made. */
static xpu_status argument(xpu_run *run, xpu_value value, place at, xpu_tensor *tensor) {
    const xpu_block_info *body = xpu_block_at(run->graph, xpu_value_block(run->graph, value));
    const xpu_node_info *node = xpu_node_at(run->graph, body->owner);
    uint32_t loops = xpu_loops_around(run->graph, node->parent), which = 0;
    while (body->arguments.items[which].id != value.id) which++;
    if (which == XPU_BODY_ITERATION) return one_element(run, value, at.when->at[loops], tensor);
    if (which == XPU_BODY_CONDITION) return one_element(run, value, 1, tensor);
    which -= XPU_BODY_FIRST;
    xpu_iterations before = *at.when;
    place there = {&before, at.depth + 1, at.nodes};
    if (!before.at[loops]) return find(run, node->inputs[XPU_LOOP_FIRST + which], there, tensor);
    before.at[loops]--;
    return find(run, body->results.items[XPU_BODY_NEXT + which], there, tensor);
}

static xpu_status from_node(xpu_run *run, xpu_value value, place at, xpu_tensor *tensor) {
    xpu_node node = xpu_value_at(run->graph, value)->node;
    const xpu_node_info *info = xpu_node_at(run->graph, node);
    uint32_t result = 0;
    while (info->outputs[result].id != value.id) result++;
    if (xpu_run_layer_of(run, node) != UINT32_MAX) return missing(run, value);
    if (xpu_node_is(run->graph, node, XPU_OP_LOOP)) return result_of_loop(run, node, result, at, tensor);
    if (xpu_node_is(run->graph, node, XPU_OP_IF)) return result_of_if(run, node, result, at, tensor);
    return at.nodes < MOST_NODES ? compute(run, node, result, at, tensor) : missing(run, value);
}

static int is_now(const xpu_run *run, xpu_value value, const xpu_iterations *when) {
    uint32_t loops = xpu_loops_around(run->graph, xpu_value_block(run->graph, value));
    return memcmp(when->at, run->replay->now.at, loops * sizeof *when->at) == 0;
}

/* Values of the layer's own iteration are found once, however many nodes use them. */
static xpu_status find(xpu_run *run, xpu_value value, place at, xpu_tensor *tensor) {
    const xpu_value_info *info = xpu_value_at(run->graph, value);
    xpu_tensor *known = &run->replay->values[value.id];
    if (at.depth > MOST_DEPTH || ++run->replay->found > MOST_FOUND) return missing(run, value);
    if (info->kind == XPU_VALUE_CONST) return xpu_const_tensor(run->graph, value, run->arena, tensor, run->diags);
    int now = is_now(run, value, at.when), found = 0;
    if (now && known->dtype != XPU_DTYPE_NONE) {
        *tensor = *known;
        return XPU_OK;
    }
    xpu_status status = xpu_replay_read(run, value, at.when, tensor, &found);
    if (status == XPU_OK && !found) {
        status = info->kind == XPU_VALUE_ARGUMENT ? argument(run, value, at, tensor)
                 : info->kind == XPU_VALUE_NODE   ? from_node(run, value, at, tensor)
                                                  : missing(run, value);
    }
    if (status == XPU_OK && now) *known = *tensor;
    return status;
}

xpu_status xpu_replay_value(xpu_run *run, xpu_value value, xpu_tensor *tensor) {
    xpu_status status = find(run, value, (place){.when = &run->replay->now}, tensor);
    if (status != XPU_OK) return status;
    xpu_tensor shape = xpu_run_shape(run, value);
    if (shape.dtype != tensor->dtype || !xpu_same_shape(&shape, tensor)) return wrong_shape(run, value);
    return XPU_OK;
}
