/* Branches and loops: steps around the layers of their bodies, and layers that move values in and out of these. */
#include "xpu_codegen/lower/control.h"

#include <stddef.h>
#include <string.h>

#include "core/ops/control.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/carried.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"
#include "xpu_codegen/lower/steps.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

enum { WORD_BYTES = 4 };

/* The place of a word among those of its step. */
#define WORD_OF(type, member) (offsetof(struct type, member) / sizeof(uint32_t))

static uint32_t last_layer(const xpu_codegen *cg) {
    return cg->program.layers.count ? cg->program.layers.count - 1 : 0;
}

/* A constant has the name of the node that needs it in memory. */
static uint32_t buffer_of(xpu_codegen *cg, xpu_value value, xpu_node node) {
    xpu_value root = xpu_value_root(cg, value);
    if (!xpu_is_const_value(cg, root)) return xpu_activation_buffer(cg, root);
    const char *name =
        xpu_printf(cg->arena, "%s/%s", xpu_node_name(cg->graph, node), xpu_value_at(cg->graph, root)->name);
    return xpu_weight_buffer(cg, root, &(xpu_packing){.kind = XPU_PACK_LINEAR}, name);
}

static xpu_plan_word address_of(uint32_t buffer) {
    return (xpu_plan_word){.kind = XPU_WORD_ADDRESS, .buffer = buffer};
}

static xpu_plan_word number(int64_t value) {
    return (xpu_plan_word){.kind = XPU_WORD_CONST, .bits = (uint32_t)value};
}

/* Where control reads a value behind the layers that are there; number(0) where the value is absent. */
static xpu_plan_word read_by_control(xpu_codegen *cg, xpu_value value, xpu_node node, xpu_block block) {
    if (!value.id) return number(0);
    xpu_plan_word word = address_of(buffer_of(cg, value, node));
    xpu_value_read(cg, value, last_layer(cg), block);
    return word;
}

static int is_true(const xpu_codegen *cg, xpu_value value) {
    if (!value.id) return 1;
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    return info->kind == XPU_VALUE_CONST && info->constant->bytes && !info->constant->steps.count &&
           *(const uint8_t *)info->constant->bytes;
}

static int is_needed(const xpu_codegen *cg, xpu_value value) {
    if (xpu_value_at(cg->graph, value)->uses.count || xpu_value_leaves(cg->graph, value)) return 1;
    for (uint32_t i = 0; i < cg->graph->dims.symbols.count; i++) {
        if (cg->graph->dims.symbols.items[i].value.id == value.id) return 1;
    }
    return 0;
}

/* ---- symbols ---- */

void xpu_set_symbols_of(xpu_codegen *cg, xpu_value value) {
    xpu_dims *dims = &cg->graph->dims;
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        const xpu_symbol symbol = dims->symbols.items[i];
        if (symbol.value.id != value.id || !xpu_symbol_is_dynamic(cg->graph, i)) continue;
        const xpu_value_info *info = xpu_value_at(cg->graph, value);
        int64_t bytes = (int64_t)xpu_dtype_bytes(info->dtype);
        xpu_dim whole = xpu_dim_of(cg, INT32_MAX);
        xpu_dim most = symbol.max < INT32_MAX ? xpu_dim_of(cg, symbol.max) : whole;
        if (symbol.bound.id) most = xpu_dim_op(dims, XPU_DIM_MIN, symbol.bound, most);
        uint32_t step = xpu_add_step(cg, XPU_DO_SET, symbol.name);
        cg->program.steps.items[step].symbol = i;
        xpu_plan_word *words = xpu_step_control_of(cg, step)->words;
        xpu_plan_word bound = {.kind = XPU_WORD_DIM, .dim = most};
        words[WORD_OF(xpu_set_words, value)] = words[WORD_OF(xpu_set_words, max)] = bound;
        words[WORD_OF(xpu_set_words, min)] = number(symbol.min);
        words[WORD_OF(xpu_set_words, bytes)] = number(bytes);
        xpu_plan_word result = read_by_control(cg, value, info->node, xpu_value_block(cg->graph, value));
        if (symbol.element) result.dim = xpu_dim_of(cg, bytes * symbol.element);
        xpu_step_control_of(cg, step)->words[WORD_OF(xpu_set_words, result)] = result;
        xpu_end_range(cg);
    }
}

/* ---- layers that move values ---- */

/* `value`, all of it, to a buffer, `offset` elements behind its beginning; absent: a bool that is true. `spread`: a
 * value with gaps that lies in that buffer. */
typedef struct {
    xpu_value value, spread;
    uint32_t from, to;
    xpu_dim count, offset;
    int64_t element;
} move;

typedef struct {
    xpu_codegen *cg;
    xpu_node node;   /* whose values these are */
    xpu_block block; /* where they are moved */
    XPU_ARRAY(move) items;
} moves;

static void add_move(moves *m, xpu_value value, uint32_t to) {
    xpu_codegen *cg = m->cg;
    const xpu_value_info *info = xpu_value_at(cg->graph, value);
    move item = {.value = value,
                 .from = buffer_of(cg, value, m->node),
                 .to = to,
                 .count = xpu_dims_product(cg, value, 0, info->rank),
                 .offset = xpu_dim_of(cg, 0),
                 .element = (int64_t)xpu_dtype_bytes(xpu_value_at(cg->graph, value)->dtype)};
    if (xpu_buffer_place(cg, item.from) != xpu_buffer_place(cg, to)) XPU_PUSH(cg->arena, &m->items, item);
}

static xpu_status set_true(xpu_codegen *cg, uint32_t layer, uint32_t to) {
    float word;
    static const uint32_t bytes = 0x01010101;
    memcpy(&word, &bytes, sizeof word);
    struct xpu_fill_call call = {.y = xpu_arg_at(to), .count = xpu_arg_number(1), .value = xpu_arg_real(word)};
    return xpu_add_fill(cg, layer, &call);
}

/* At the smallest shape; memory is planned behind lowering. */
static xpu_status check_room(xpu_codegen *cg, const move *item) {
    const int64_t most = cg->chip.gm_bytes, count = xpu_dim_eval(&cg->graph->dims, item->count, NULL);
    if (item->count.id && count >= 0 && count <= most / item->element) return XPU_OK;
    const char *name = xpu_escape(cg->arena, xpu_value_at(cg->graph, item->value)->name, 80);
    return xpu_error(cg->diags, XPU_EMODEL, cg->graph->file, "gm-capacity", NULL, "GM has no room for one value",
                     xpu_printf(cg->arena, "'%s' has more bytes than GM, which has %lld", name, (long long)most),
                     "use a chip with more GM, or smaller shapes");
}

static xpu_status copy(xpu_codegen *cg, uint32_t layer, const move *item, uint32_t from, uint32_t to) {
    if (!item->value.id) return set_true(cg, layer, to);
    if (item->spread.id) return xpu_add_value_copy(cg, layer, item->value, from, item->spread, to);
    xpu_dims *dims = &cg->graph->dims;
    xpu_status room = check_room(cg, item);
    if (room != XPU_OK) return room;
    int64_t words = item->element > WORD_BYTES ? item->element / WORD_BYTES : 1;
    struct xpu_copy_nd_call call = {.x = xpu_arg_at(from), .y = xpu_arg_at(to)};
    call.element_bytes = xpu_arg_number(item->element / words);
    call.x_offset = xpu_arg_number(0);
    call.y_offset = xpu_arg_dim(xpu_dim_mul_const(dims, item->offset, words));
    for (int d = 0; d < XPU_COPY_DIMS; d++) {
        int last = d + 1 == XPU_COPY_DIMS;
        call.d[d] = last ? xpu_arg_dim(xpu_dim_mul_const(dims, item->count, words)) : xpu_arg_number(1);
        call.xs[d] = call.ys[d] = xpu_arg_number(last);
    }
    return xpu_add_copy_nd(cg, layer, &call);
}

static uint32_t add_moving_layer(moves *m, const char *suffix) {
    xpu_codegen *cg = m->cg;
    uint32_t layer = cg->program.layers.count;
    const char *name = xpu_printf(cg->arena, "%s/%s", xpu_node_name(cg->graph, m->node), suffix);
    xpu_program_layer item = {.name = xpu_unique_layer_name(cg, name)};
    const char *comment =
        xpu_printf(cg->arena, "%s: values move, made by the compiler", xpu_node_where(cg->graph, m->node, cg->arena));
    xpu_codegen_layer made = {.region = xpu_last_region(cg, m->node), .comment = comment};
    XPU_PUSH(cg->arena, &cg->program.layers, item);
    XPU_PUSH(cg->arena, &cg->layers, made);
    xpu_step_layer(cg, layer);
    xpu_describe_layer(cg, layer, XPU_KERNEL_copy_nd, xpu_dim_of(cg, 0));
    return layer;
}

/* Whether the move's source is written by another one. */
static int is_overwritten(const moves *m, const move *item) {
    for (uint32_t i = 0; i < m->items.count && item->value.id; i++) {
        if (xpu_buffer_place(m->cg, m->items.items[i].to) == xpu_buffer_place(m->cg, item->from)) return 1;
    }
    return 0;
}

/* All at once: what is overwritten is copied aside first. No layer where nothing moves. */
static xpu_status run_moves(moves *m, const char *suffix) {
    xpu_codegen *cg = m->cg;
    if (!m->items.count) return XPU_OK;
    uint32_t layer = add_moving_layer(m, suffix);
    xpu_status status = XPU_OK;
    for (uint32_t i = 0; i < m->items.count; i++) {
        move *item = &m->items.items[i];
        if (item->value.id) xpu_value_read(cg, item->value, layer, m->block);
        xpu_buffer_lives(cg, item->to, layer, layer);
        if (!is_overwritten(m, item)) continue;
        move aside = *item;
        aside.offset = xpu_dim_of(cg, 0);
        aside.spread = (xpu_value){0};
        uint32_t between = xpu_aside_buffer(cg, item->from, layer);
        if (status == XPU_OK) status = copy(cg, layer, &aside, item->from, between);
        item->from = between;
    }
    for (uint32_t i = 0; i < m->items.count && status == XPU_OK; i++) {
        const move *item = &m->items.items[i];
        status = copy(cg, layer, item, item->from, item->to);
    }
    return status;
}

/* ---- if ---- */

static xpu_status lower_branch(xpu_codegen *cg, xpu_node node, uint32_t branch, xpu_lower_block_fn lower_body) {
    static const char *const suffixes[] = {[XPU_THEN] = "then", [XPU_ELSE] = "else"};
    const xpu_node_info info = *xpu_node_at(cg->graph, node);
    moves results = {.cg = cg, .node = node, .block = info.blocks[branch]};
    xpu_status status = lower_body(cg, info.blocks[branch]);
    for (uint32_t i = 0; i < info.output_count && status == XPU_OK; i++) {
        if (!is_needed(cg, info.outputs[i])) continue;
        add_move(&results, xpu_block_at(cg->graph, info.blocks[branch])->results.items[i],
                 xpu_activation_buffer(cg, info.outputs[i]));
    }
    return status == XPU_OK ? run_moves(&results, suffixes[branch]) : status;
}

xpu_status xpu_lower_if(xpu_codegen *cg, xpu_node node, xpu_lower_block_fn lower_body) {
    const xpu_node_info info = *xpu_node_at(cg->graph, node);
    xpu_plan_word condition = read_by_control(cg, info.inputs[XPU_IF_CONDITION], node, info.parent);
    uint32_t step = xpu_add_step(cg, XPU_DO_IF, xpu_node_where(cg->graph, node, cg->arena));
    xpu_step_control_of(cg, step)->words[WORD_OF(xpu_if_words, condition)] = condition;
    xpu_status status = lower_branch(cg, node, XPU_THEN, lower_body);
    cg->program.steps.items[step].middle = xpu_end_range(cg);
    if (status == XPU_OK) status = lower_branch(cg, node, XPU_ELSE, lower_body);
    cg->program.steps.items[step].end = xpu_end_range(cg);
    cg->last_of[node.id] = last_layer(cg);
    return status;
}

/* ---- loop ---- */

typedef struct {
    xpu_codegen *cg;
    xpu_node node;
    xpu_loop loop;
    xpu_node_info info;
    uint32_t first, body_first, step;
    int has_condition; /* the body's argument has a place */
} looping;

static xpu_value argument(const looping *l, uint32_t i) {
    return xpu_block_at(l->cg->graph, l->loop.body)->arguments.items[i];
}

static xpu_value result(const looping *l, uint32_t i) {
    return xpu_block_at(l->cg->graph, l->loop.body)->results.items[i];
}

static int is_appended(const xpu_codegen *cg, xpu_value value) {
    const xpu_extent *extent = xpu_extent_of(cg, value);
    return extent && extent->is_appended;
}

/* A carried value, what follows it and the loop's result lie in one place, which is as large as both; what is appended
 * to, is there, too. */
static void share_carried(looping *l) {
    xpu_codegen *cg = l->cg;
    for (uint32_t i = 0; i < l->loop.carried; i++) {
        xpu_value now = argument(l, XPU_BODY_FIRST + i), last = l->info.outputs[i];
        uint32_t buffer = xpu_activation_buffer(cg, now);
        cg->buffer_of[last.id] = (int32_t)buffer;
        if (is_appended(cg, result(l, XPU_BODY_NEXT + i)))
            cg->buffer_of[result(l, XPU_BODY_NEXT + i).id] = (int32_t)buffer;
        xpu_program_buffer *shared = &cg->program.buffers.items[buffer];
        shared->bytes = xpu_dim_op(&cg->graph->dims, XPU_DIM_MAX, shared->bytes, xpu_value_bytes(cg, last));
    }
    xpu_value root = xpu_value_root(cg, result(l, XPU_BODY_GOES_ON));
    const xpu_value_info *again = xpu_value_at(cg->graph, root);
    l->has_condition = is_needed(cg, argument(l, XPU_BODY_CONDITION)) || again->kind == XPU_VALUE_ARGUMENT;
}

/* The condition of the first iteration, where the body reads it: a byte that is 1 where there is none. */
static void begin_condition(looping *l, moves *m) {
    xpu_codegen *cg = l->cg;
    xpu_value condition = l->info.inputs[XPU_LOOP_CONDITION];
    uint32_t buffer = xpu_activation_buffer(cg, argument(l, XPU_BODY_CONDITION));
    if (condition.id)
        add_move(m, condition, buffer);
    else
        XPU_PUSH(cg->arena, &m->items, ((move){.from = UINT32_MAX, .to = buffer}));
}

static xpu_status begin_loop(looping *l) {
    xpu_codegen *cg = l->cg;
    moves m = {.cg = cg, .node = l->node, .block = l->info.parent};
    for (uint32_t i = 0; i < l->loop.carried; i++) {
        xpu_value now = argument(l, XPU_BODY_FIRST + i);
        uint32_t count = m.items.count;
        add_move(&m, l->info.inputs[XPU_LOOP_FIRST + i], xpu_activation_buffer(cg, now));
        if (m.items.count > count && xpu_has_gaps(cg, now)) m.items.items[count].spread = now;
    }
    if (l->has_condition) begin_condition(l, &m);
    return run_moves(&m, "first");
}

/* A symbol for the number of the iteration, which says where an entry of a stack goes. */
static xpu_dim iteration_of(looping *l) {
    xpu_codegen *cg = l->cg;
    xpu_dims *dims = &cg->graph->dims;
    xpu_value iteration = argument(l, XPU_BODY_ITERATION);
    xpu_dim trips = xpu_value_dim(cg, l->info.outputs[l->loop.carried], 0);
    xpu_dim bound = xpu_dim_add_const(dims, trips, -1);
    for (uint32_t i = 0; i < dims->symbols.count; i++) {
        xpu_symbol *symbol = &dims->symbols.items[i];
        if (symbol->value.id != iteration.id) continue;
        if (!symbol->bound.id) symbol->bound = bound;
        return xpu_dim_symbol(dims, symbol->name, symbol->min, symbol->max, symbol->step);
    }
    return xpu_dim_new_symbol(dims, "iteration", 0, INT32_MAX - 1, iteration, 0, bound);
}

static void add_stacks(looping *l, moves *m, xpu_dim iteration) {
    xpu_codegen *cg = l->cg;
    for (uint32_t k = 0; k < l->loop.stacked; k++) {
        uint32_t i = l->loop.carried + k, count = m->items.count;
        if (!is_needed(cg, l->info.outputs[i])) continue;
        add_move(m, result(l, XPU_BODY_NEXT + i), xpu_activation_buffer(cg, l->info.outputs[i]));
        move *item = &m->items.items[count];
        item->offset = xpu_dim_mul(&cg->graph->dims, iteration, item->count);
    }
}

static xpu_status end_iteration(looping *l, xpu_dim iteration) {
    xpu_codegen *cg = l->cg;
    moves m = {.cg = cg, .node = l->node, .block = l->loop.body};
    add_stacks(l, &m, iteration);
    for (uint32_t i = 0; i < l->loop.carried; i++) {
        xpu_value now = argument(l, XPU_BODY_FIRST + i), next = result(l, XPU_BODY_NEXT + i);
        xpu_make_in_place(cg, now, next);
        add_move(&m, next, xpu_activation_buffer(cg, now));
    }
    xpu_value again = result(l, XPU_BODY_GOES_ON), condition = argument(l, XPU_BODY_CONDITION);
    if (l->has_condition) add_move(&m, again, xpu_activation_buffer(cg, condition));
    xpu_status status = run_moves(&m, "next");
    xpu_plan_word *words = xpu_step_control_of(cg, l->step)->words;
    if (!is_true(cg, again))
        words[WORD_OF(xpu_loop_words, again)] =
            read_by_control(cg, l->has_condition ? condition : again, l->node, l->loop.body);
    return status;
}

/* What the loop's own steps read and write stays where it is from its first to its last layer. */
static void keep_places(const looping *l) {
    xpu_codegen *cg = l->cg;
    uint32_t last = last_layer(cg), first = l->first < last ? l->first : last;
    const xpu_block_info *body = xpu_block_at(cg->graph, l->loop.body);
    for (uint32_t i = 0; i < body->arguments.count; i++) {
        int32_t buffer = cg->buffer_of[body->arguments.items[i].id];
        if (buffer >= 0) xpu_buffer_lives(cg, (uint32_t)buffer, first, last);
    }
    for (uint32_t i = l->loop.carried; i < l->info.output_count; i++) {
        int32_t buffer = cg->buffer_of[l->info.outputs[i].id];
        if (buffer >= 0) xpu_buffer_lives(cg, (uint32_t)buffer, first, last);
    }
    cg->last_of[l->node.id] = last;
    XPU_PUSH(cg->arena, &cg->loops, ((xpu_loop_layers){l->body_first, last}));
}

static void begin_steps(looping *l) {
    xpu_codegen *cg = l->cg;
    xpu_plan_word trips = read_by_control(cg, l->info.inputs[XPU_LOOP_TRIPS], l->node, l->info.parent);
    xpu_value condition = l->info.inputs[XPU_LOOP_CONDITION];
    xpu_plan_word first = is_true(cg, condition) ? number(0) : read_by_control(cg, condition, l->node, l->info.parent);
    l->step = xpu_add_step(cg, XPU_DO_LOOP, xpu_node_where(cg->graph, l->node, cg->arena));
    xpu_plan_word *words = xpu_step_control_of(cg, l->step)->words;
    words[WORD_OF(xpu_loop_words, trips)] = trips;
    words[WORD_OF(xpu_loop_words, first)] = first;
    xpu_value count = l->info.outputs[xpu_loop_count_result(&l->loop)];
    if (is_needed(cg, count))
        words[WORD_OF(xpu_loop_words, count_result)] = address_of(xpu_activation_buffer(cg, count));
}

xpu_status xpu_lower_loop(xpu_codegen *cg, xpu_node node, xpu_lower_block_fn lower_body) {
    looping l = {.cg = cg,
                 .node = node,
                 .loop = xpu_loop_of(cg->graph, node),
                 .info = *xpu_node_at(cg->graph, node),
                 .first = cg->program.layers.count};
    share_carried(&l);
    xpu_status status = begin_loop(&l);
    if (status != XPU_OK) return status;
    l.body_first = cg->program.layers.count;
    begin_steps(&l);
    int stacks = 0;
    for (uint32_t k = 0; k < l.loop.stacked; k++) stacks |= is_needed(cg, l.info.outputs[l.loop.carried + k]);
    xpu_dim iteration = stacks ? iteration_of(&l) : xpu_dim_of(cg, 0);
    if (is_needed(cg, argument(&l, XPU_BODY_ITERATION))) {
        uint32_t buffer = xpu_activation_buffer(cg, argument(&l, XPU_BODY_ITERATION));
        xpu_step_control_of(cg, l.step)->words[WORD_OF(xpu_loop_words, iteration_result)] = address_of(buffer);
    }
    const uint32_t arguments = xpu_block_at(cg->graph, l.loop.body)->arguments.count;
    for (uint32_t i = 0; i < arguments; i++) xpu_set_symbols_of(cg, argument(&l, i));
    status = lower_body(cg, l.loop.body);
    if (status == XPU_OK) status = end_iteration(&l, iteration);
    cg->program.steps.items[l.step].end = xpu_end_range(cg);
    keep_places(&l);
    return status;
}
