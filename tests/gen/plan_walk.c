#include "tests/gen/plan_walk.h"

#include <stdarg.h>
#include <string.h>

#include "core/ops/control.h"

enum { SHOWN = 6, MAX_NESTING = 64, NO_LAYER = -1 };
#define OWN UINT32_MAX

/* What was written at one time: the bytes, how many loops were around, and whose it is (for messages). */
typedef struct {
    uint64_t start, end;
    uint32_t nesting, buffer;
    const char *name;
} content;

/* What is where, on the path that is walked. */
typedef struct {
    uint32_t *held;        /* by value, then by buffer (scratch and copies): number of its content; 0: none */
    uint32_t *overwritten; /* by content: the layer that wrote over it, plus 1 */
    uint32_t count;        /* of contents, in a copy */
} moment;

typedef struct {
    uint32_t first, last; /* layers */
} span;

typedef struct {
    const xpu_walked_plan *plan;
    const xpu_program *program;
    const xpu_graph *graph;
    xpu_arena *arena;
    xpu_text *text;
    uint32_t wrong;
    const xpu_program_step *steps;
    uint32_t step_count;
    const xpu_program_value **placed; /* by value */
    int32_t *layer_of;                /* by node */
    uint64_t *into;                   /* by value: bytes from the content's start to its own */
    uint8_t *has_values, *is_read;    /* by buffer */
    uint64_t *bytes;                  /* by buffer */
    XPU_ARRAY(content) contents;
    moment now;
    uint32_t capacity;    /* of now.overwritten */
    uint32_t step, taken; /* the next step; layers of it that have run */
    uint32_t end;         /* of the list of steps that is walked */
    uint32_t layer;       /* the last one that began */
    span loops[MAX_NESTING];
    uint32_t nesting;
} walker;

static void __attribute__((format(printf, 2, 3))) wrong(walker *w, const char *format, ...) {
    if (w->wrong++ >= SHOWN) return;
    va_list arguments;
    va_start(arguments, format);
    xpu_text_add(w->text, "  layer %u: %s\n", w->layer, xpu_vprintf(w->arena, format, arguments));
    va_end(arguments);
}

/* ---- buffers and their bytes ---- */

static const xpu_program_buffer *buffer_at(const walker *w, uint32_t buffer) {
    return &w->program->buffers.items[buffer];
}

/* The buffer whose memory it has. */
static uint32_t owner_of(const walker *w, uint32_t buffer) {
    while (buffer_at(w, buffer)->alias_of >= 0) buffer = (uint32_t)buffer_at(w, buffer)->alias_of;
    return buffer;
}

static content bytes_of(const walker *w, uint32_t buffer, const char *name) {
    uint64_t start = w->plan->places[buffer].address;
    return (content){start, start + w->bytes[buffer], w->nesting, buffer, name};
}

/* The bytes of the buffer that a value has; 0: it has none. */
static int place_of(const walker *w, xpu_value value, content *to) {
    const xpu_program_value *placed = value.id ? w->placed[value.id] : NULL;
    if (!placed) return 0;
    *to = bytes_of(w, placed->buffer, xpu_value_at(w->graph, value)->name);
    if (placed->offset.id) to->start += (uint64_t)xpu_dim_eval(&w->graph->dims, placed->offset, w->plan->symbols);
    return 1;
}

static int overlap(const content *a, const content *b) {
    return a->start < b->end && b->start < a->end;
}

static void check_lives(walker *w, uint32_t buffer, uint32_t layer) {
    const xpu_program_buffer *b = buffer_at(w, owner_of(w, buffer));
    if (layer < b->first_layer || layer > b->last_layer)
        wrong(w, "buffer '%s' lives from %u to %u only", b->name, b->first_layer, b->last_layer);
}

/* ---- writing and reading ---- */

/* Whatever else lies there is gone, but for content `except` or, where that is OWN, what the buffer itself holds. */
static void overwrite(walker *w, const content *bytes, uint32_t except) {
    const uint32_t slots = w->graph->values.count + w->program->buffers.count;
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t held = w->now.held[i];
        if (!held || held == except || !overlap(&w->contents.items[held], bytes)) continue;
        if (except == OWN && owner_of(w, w->contents.items[held].buffer) == owner_of(w, bytes->buffer)) continue;
        if (!w->now.overwritten[held]) w->now.overwritten[held] = w->layer + 1;
    }
    for (uint32_t i = 0; i < w->program->buffers.count; i++) {
        if (buffer_at(w, i)->kind != XPU_BUFFER_WEIGHT) continue;
        content weight = bytes_of(w, i, buffer_at(w, i)->name);
        if (overlap(&weight, bytes)) wrong(w, "'%s' is written over weight '%s'", bytes->name, weight.name);
    }
}

static uint32_t new_content(walker *w, const content *bytes, uint32_t overwritten) {
    uint32_t number = w->contents.count;
    XPU_PUSH(w->arena, &w->contents, *bytes);
    if (number >= w->capacity) {
        uint32_t *grown = XPU_NEW_ARRAY(w->arena, uint32_t, 2 * w->capacity);
        memcpy(grown, w->now.overwritten, w->capacity * sizeof *grown);
        w->now.overwritten = grown;
        w->capacity *= 2;
    }
    w->now.overwritten[number] = overwritten;
    return number;
}

/* `kept`: a content that stays, though it is there. */
static void write_beside(walker *w, uint32_t slot, const content *bytes, uint32_t kept) {
    uint32_t number = new_content(w, bytes, 0);
    overwrite(w, bytes, kept);
    w->now.held[slot] = number;
}

static void write_slot(walker *w, uint32_t slot, const content *bytes) {
    write_beside(w, slot, bytes, 0);
}

/* The content behind which the node appends: its first operand has a place of its own in the result's. */
static uint32_t appended_to(const walker *w, const xpu_node_info *node, const content *result) {
    content first;
    if (xpu_op_id_of(node->op) != XPU_OP_CONCAT || !place_of(w, node->inputs[0], &first)) return 0;
    return first.buffer == result->buffer && first.start == result->start ? w->now.held[node->inputs[0].id] : 0;
}

static void write_result(walker *w, const xpu_node_info *node, uint32_t output) {
    content bytes;
    if (!place_of(w, node->outputs[output], &bytes)) return;
    check_lives(w, bytes.buffer, w->layer);
    write_beside(w, node->outputs[output].id, &bytes, appended_to(w, node, &bytes));
}

static void write_value(walker *w, xpu_value value, uint32_t layer) {
    content bytes;
    if (!place_of(w, value, &bytes)) return;
    check_lives(w, bytes.buffer, layer);
    write_slot(w, value.id, &bytes);
}

static void check_whole(walker *w, uint32_t slot, const char *name) {
    uint32_t held = w->now.held[slot], by = held ? w->now.overwritten[held] : 0;
    if (by) wrong(w, "'%s' was overwritten by layer %u ('%s')", name, by - 1, w->program->layers.items[by - 1].name);
}

/* `layer`: the one that reads, or behind which control does. */
static void read_value(walker *w, xpu_value value, uint32_t layer) {
    content place;
    if (!value.id || xpu_value_at(w->graph, value)->kind == XPU_VALUE_CONST) return;
    const char *name = xpu_value_at(w->graph, value)->name;
    uint32_t held = w->now.held[value.id];
    xpu_node maker = xpu_value_at(w->graph, value)->node;
    int is_made = xpu_value_at(w->graph, value)->kind == XPU_VALUE_NODE;
    if (is_made && !w->placed[value.id] && w->layer_of[maker.id] == NO_LAYER) { /* what it is made of is read */
        read_value(w, xpu_node_at(w->graph, maker)->inputs[0], layer);
        return;
    }
    if (!place_of(w, value, &place)) {
        wrong(w, "'%s' is read and has no place", name);
    } else if (!held) {
        wrong(w, "'%s' is read before it is written", name);
    } else {
        const content *found = &w->contents.items[held];
        if (found->start + w->into[value.id] != place.start) wrong(w, "'%s' is read where it is not", name);
        check_whole(w, value.id, name);
        check_lives(w, place.buffer, layer);
        w->is_read[owner_of(w, place.buffer)] = 1;
        const xpu_program_buffer *b = buffer_at(w, owner_of(w, place.buffer));
        if (found->nesting < w->nesting && b->last_layer < w->loops[found->nesting].last)
            wrong(w, "buffer '%s' lives to %u, and the loop that reads it to %u", b->name, b->last_layer,
                  w->loops[found->nesting].last);
    }
}

/* ---- the next layer, the next step ---- */

/* Up to what runs: behind a symbol's value the words that depend on it are there. */
static void set_symbols(walker *w) {
    while (w->step < w->end && w->steps[w->step].kind == XPU_DO_SET) {
        read_value(w, w->graph->dims.symbols.items[w->steps[w->step].symbol].value, w->layer);
        w->step++;
    }
}

static int next_layer(walker *w) {
    set_symbols(w);
    int runs = w->step < w->end && w->steps[w->step].kind == XPU_DO_RUN;
    return runs ? (int)(w->steps[w->step].first + w->taken) : NO_LAYER;
}

static void begin_layer(walker *w) {
    w->layer = (uint32_t)next_layer(w);
    w->taken++;
    if (w->layer < w->steps[w->step].last) return;
    w->step++;
    w->taken = 0;
}

/* The place of an IF or LOOP in the list, which is the next step. */
static uint32_t take_control(walker *w, xpu_program_step_kind kind) {
    set_symbols(w);
    if (w->step >= w->end || w->steps[w->step].kind != kind || w->taken)
        wrong(w, "step %u is not the branch or loop that comes in the graph", w->step);
    return w->step++;
}

/* ---- layers ---- */

static int holds_no_value(const walker *w, uint32_t buffer) {
    return !w->has_values[buffer] && buffer_at(w, buffer)->kind != XPU_BUFFER_WEIGHT;
}

/* What lives in this layer beside operands and results: scratch, copies of weights, and what the next layer, which is
 * called ahead, begins to write. */
static void use_others(walker *w, const uint8_t *is_target) {
    for (uint32_t i = 0; i < w->program->buffers.count; i++) {
        const xpu_program_buffer *b = buffer_at(w, i);
        const uint32_t slot = w->graph->values.count + i;
        content bytes = bytes_of(w, i, b->name);
        if (b->kind == XPU_BUFFER_WEIGHT || w->layer < b->first_layer || w->layer > b->last_layer) continue;
        if (holds_no_value(w, i)) {
            if (w->layer > b->first_layer) check_whole(w, slot, b->name);
            if (w->layer == b->first_layer || b->kind != XPU_BUFFER_COPY) write_slot(w, slot, &bytes);
        } else if (w->layer == b->first_layer && b->alias_of < 0 && !is_target[i]) {
            overwrite(w, &bytes, OWN);
        }
    }
}

static void check_others(walker *w) {
    for (uint32_t i = 0; i < w->program->buffers.count; i++) {
        const xpu_program_buffer *b = buffer_at(w, i);
        if (!holds_no_value(w, i) || w->layer < b->first_layer || w->layer > b->last_layer) continue;
        check_whole(w, w->graph->values.count + i, b->name);
    }
}

static int is_declared(const walker *w, uint32_t result, uint32_t operand) {
    for (uint32_t i = 0; i < w->program->in_place.count; i++) {
        const xpu_program_in_place *pair = &w->program->in_place.items[i];
        if (pair->buffer == result && pair->other == operand) return 1;
    }
    return owner_of(w, result) == owner_of(w, operand);
}

static void check_in_place(walker *w, const xpu_node_info *info, const content *result) {
    for (uint32_t i = 0; i < info->input_count; i++) {
        content operand;
        if (!place_of(w, info->inputs[i], &operand) || !overlap(&operand, result)) continue;
        if (operand.start != result->start || !is_declared(w, result->buffer, operand.buffer))
            wrong(w, "'%s' lies over operand '%s'", result->name, operand.name);
    }
}

static void run_layer(walker *w, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(w->graph, node);
    uint8_t *is_target = XPU_NEW_ARRAY(w->arena, uint8_t, w->program->buffers.count);
    content bytes;
    begin_layer(w);
    for (uint32_t i = 0; i < info->input_count; i++) read_value(w, info->inputs[i], w->layer);
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (place_of(w, info->outputs[i], &bytes)) is_target[owner_of(w, bytes.buffer)] = is_target[bytes.buffer] = 1;
    }
    use_others(w, is_target);
    for (uint32_t i = 0; i < info->input_count; i++) {
        if (info->inputs[i].id) check_whole(w, info->inputs[i].id, xpu_value_at(w->graph, info->inputs[i])->name);
    }
    for (uint32_t i = 0; i < info->output_count; i++) {
        if (place_of(w, info->outputs[i], &bytes)) check_in_place(w, info, &bytes);
        write_result(w, info, i);
    }
    for (uint32_t i = 0; i < info->output_count; i++)
        check_whole(w, info->outputs[i].id, xpu_value_at(w->graph, info->outputs[i])->name);
    check_others(w);
}

/* ---- values that move, all at once ---- */

typedef struct {
    xpu_value from, to; /* from: absent where `to` becomes a constant */
    int is_entry;       /* a part of `to`, which keeps the others */
} move;

typedef struct {
    XPU_ARRAY(move) items;
} moves;

static void add_move(walker *w, moves *m, xpu_value from, xpu_value to, int is_entry) {
    if (to.id && w->placed[to.id]) XPU_PUSH(w->arena, &m->items, ((move){from, to, is_entry}));
}

static int stays(const walker *w, const move *m) {
    content from, to;
    return place_of(w, m->to, &to) && place_of(w, m->from, &from) && from.start == to.start && !m->is_entry;
}

static void write_move(walker *w, const move *m) {
    content to;
    place_of(w, m->to, &to);
    check_lives(w, to.buffer, w->layer);
    if (m->is_entry) {
        overwrite(w, &to, w->now.held[m->to.id]);
    } else if (stays(w, m)) {
        w->now.held[m->to.id] = w->now.held[m->from.id];
    } else {
        write_slot(w, m->to.id, &to);
    }
}

static void run_moves(walker *w, const moves *m) {
    uint8_t *is_target = XPU_NEW_ARRAY(w->arena, uint8_t, w->program->buffers.count);
    int moved = 0, next = next_layer(w);
    for (uint32_t i = 0; i < m->items.count; i++) {
        content to;
        moved |= !stays(w, &m->items.items[i]);
        if (place_of(w, m->items.items[i].to, &to)) is_target[to.buffer] = is_target[owner_of(w, to.buffer)] = 1;
    }
    int is_mover = next != NO_LAYER && !w->program->layers.items[next].node.id;
    if (moved && !is_mover) wrong(w, "no layer moves the values");
    moved = is_mover; /* perhaps to where they are */
    if (moved) begin_layer(w);
    for (uint32_t i = 0; i < m->items.count; i++) read_value(w, m->items.items[i].from, w->layer);
    if (moved) use_others(w, is_target);
    for (uint32_t i = 0; i < m->items.count && moved; i++) {
        if (m->items.items[i].from.id) check_whole(w, m->items.items[i].from.id, "what moves");
    }
    for (uint32_t i = 0; i < m->items.count; i++) write_move(w, &m->items.items[i]);
    for (uint32_t i = 0; i < m->items.count; i++)
        check_whole(w, m->items.items[i].to.id, xpu_value_at(w->graph, m->items.items[i].to)->name);
    if (moved) check_others(w);
}

/* ---- paths ---- */

static moment copy_now(const walker *w) {
    const uint32_t slots = w->graph->values.count + w->program->buffers.count, count = w->contents.count;
    return (moment){xpu_copy(w->arena, w->now.held, slots * sizeof *w->now.held),
                    xpu_copy(w->arena, w->now.overwritten, count * sizeof *w->now.overwritten), count};
}

/* Goes on from there; contents that were made since are not held there. */
static void resume(walker *w, const moment *from) {
    const uint32_t slots = w->graph->values.count + w->program->buffers.count;
    w->now.held = xpu_copy(w->arena, from->held, slots * sizeof *from->held);
    w->now.overwritten = XPU_NEW_ARRAY(w->arena, uint32_t, w->capacity);
    memcpy(w->now.overwritten, from->overwritten, from->count * sizeof *from->overwritten);
}

/* Where two paths meet: what is there on both. */
static void meet(walker *w, const moment *other) {
    const uint32_t slots = w->graph->values.count + w->program->buffers.count;
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t a = w->now.held[i], b = other->held[i];
        if (!a || !b) {
            w->now.held[i] = 0;
        } else if (a == b) {
            if (!w->now.overwritten[a]) w->now.overwritten[a] = other->overwritten[b];
        } else if (w->contents.items[a].start != w->contents.items[b].start) {
            w->now.held[i] = 0;
        } else {
            content both = w->contents.items[a];
            uint32_t by = w->now.overwritten[a] ? w->now.overwritten[a] : other->overwritten[b];
            if (w->contents.items[b].nesting < both.nesting) both.nesting = w->contents.items[b].nesting;
            w->now.held[i] = new_content(w, &both, by);
        }
    }
}

/* What a body makes is gone behind it, and when it begins anew. */
static void forget(walker *w, xpu_block body) {
    for (uint32_t id = 1; id < w->graph->values.count; id++) {
        const xpu_value_info *info = xpu_value_at(w->graph, (xpu_value){id});
        if (info->kind != XPU_VALUE_NODE || xpu_node_at(w->graph, info->node)->dead) continue;
        if (xpu_block_is_in(w->graph, xpu_value_block(w->graph, (xpu_value){id}), body)) w->now.held[id] = 0;
    }
}

static void walk_block(walker *w, xpu_block block);

static void walk_if(walker *w, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(w->graph, node);
    read_value(w, info->inputs[XPU_IF_CONDITION], w->layer);
    const xpu_program_step *step = &w->steps[take_control(w, XPU_DO_IF)];
    const uint32_t ends[] = {[XPU_THEN] = step->middle, [XPU_ELSE] = step->end};
    const moment before = copy_now(w);
    const uint32_t layer = w->layer;
    const uint32_t end = w->end;
    moment after_then = {.count = 0};
    for (uint32_t branch = XPU_THEN; branch <= XPU_ELSE; branch++) {
        moves results = {.items = {0}};
        w->end = ends[branch];
        walk_block(w, info->blocks[branch]);
        for (uint32_t i = 0; i < info->output_count; i++)
            add_move(w, &results, xpu_block_at(w->graph, info->blocks[branch])->results.items[i], info->outputs[i], 0);
        run_moves(w, &results);
        set_symbols(w);
        if (w->step != ends[branch]) wrong(w, "a branch ends at step %u, not %u", w->step, ends[branch]);
        w->step = ends[branch];
        forget(w, info->blocks[branch]);
        if (branch == XPU_ELSE) break;
        after_then = copy_now(w);
        resume(w, &before);
        w->layer = layer;
    }
    meet(w, &after_then);
    w->end = end;
}

static span layers_in(const walker *w, uint32_t first, uint32_t end) {
    span found = {UINT32_MAX, 0};
    for (uint32_t i = first; i < end; i++) {
        if (w->steps[i].kind != XPU_DO_RUN) continue;
        if (found.first == UINT32_MAX) found.first = w->steps[i].first;
        found.last = w->steps[i].last;
    }
    return found;
}

/* An iteration: what control writes, the body, what it hands on. */
static void walk_iteration(walker *w, xpu_node node, const xpu_loop *loop, uint32_t step) {
    const xpu_node_info *info = xpu_node_at(w->graph, node);
    const xpu_block_info *body = xpu_block_at(w->graph, loop->body);
    const xpu_value condition = body->arguments.items[XPU_BODY_CONDITION];
    moves next = {.items = {0}};
    const uint32_t end = w->end;
    forget(w, loop->body);
    w->step = step + 1;
    w->end = w->steps[step].end;
    const span *layers = &w->loops[w->nesting - 1];
    write_value(w, body->arguments.items[XPU_BODY_ITERATION], layers->first == UINT32_MAX ? w->layer : layers->first);
    walk_block(w, loop->body);
    for (uint32_t i = loop->carried; i < loop->carried + loop->stacked; i++)
        add_move(w, &next, body->results.items[XPU_BODY_NEXT + i], info->outputs[i], 1);
    for (uint32_t i = 0; i < loop->carried; i++)
        add_move(w, &next, body->results.items[XPU_BODY_NEXT + i], body->arguments.items[XPU_BODY_FIRST + i], 0);
    add_move(w, &next, body->results.items[XPU_BODY_GOES_ON], condition, 0);
    run_moves(w, &next);
    read_value(w, w->placed[condition.id] ? condition : body->results.items[XPU_BODY_GOES_ON], w->layer);
    set_symbols(w);
    if (w->step != w->end) wrong(w, "a body ends at step %u, not %u", w->step, w->end);
    w->step = w->end;
    w->end = end;
}

static void begin_loop(walker *w, xpu_node node, const xpu_loop *loop) {
    const xpu_node_info *info = xpu_node_at(w->graph, node);
    const xpu_block_info *body = xpu_block_at(w->graph, loop->body);
    moves first = {.items = {0}};
    for (uint32_t i = 0; i < loop->carried; i++)
        add_move(w, &first, info->inputs[XPU_LOOP_FIRST + i], body->arguments.items[XPU_BODY_FIRST + i], 0);
    add_move(w, &first, info->inputs[XPU_LOOP_CONDITION], body->arguments.items[XPU_BODY_CONDITION], 0);
    run_moves(w, &first);
    read_value(w, info->inputs[XPU_LOOP_TRIPS], w->layer);
    read_value(w, info->inputs[XPU_LOOP_CONDITION], w->layer);
}

static void walk_loop(walker *w, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(w->graph, node);
    const xpu_loop loop = xpu_loop_of(w->graph, node);
    const xpu_block_info *body = xpu_block_at(w->graph, loop.body);
    begin_loop(w, node, &loop);
    const uint32_t step = take_control(w, XPU_DO_LOOP);
    const span layers = layers_in(w, step + 1, w->steps[step].end);
    for (uint32_t i = loop.carried; i < loop.carried + loop.stacked; i++)
        write_value(w, info->outputs[i], layers.first == UINT32_MAX ? w->layer : layers.first);
    if (w->nesting == MAX_NESTING) return;
    moment ended = copy_now(w);
    w->loops[w->nesting++] = layers;
    for (int i = 0; i < 2; i++) {
        walk_iteration(w, node, &loop, step);
        moment here = copy_now(w);
        meet(w, &ended);
        ended = copy_now(w);
        resume(w, &here);
    }
    w->nesting--;
    resume(w, &ended);
    for (uint32_t i = 0; i < loop.carried; i++) {
        xpu_value now = body->arguments.items[XPU_BODY_FIRST + i], last = info->outputs[i];
        content from, to;
        if (!place_of(w, last, &to) || !place_of(w, now, &from)) continue;
        if (from.start != to.start) wrong(w, "'%s' is not where the loop has carried it", to.name);
        w->now.held[last.id] = w->now.held[now.id];
    }
    write_value(w, info->outputs[xpu_loop_count_result(&loop)], w->layer);
    forget(w, loop.body);
    for (uint32_t i = 0; i < body->arguments.count; i++) w->now.held[body->arguments.items[i].id] = 0;
}

/* Another name for its operand, or for a run of it. */
static void name_again(walker *w, xpu_node node) {
    const xpu_node_info *info = xpu_node_at(w->graph, node);
    const xpu_value_info *x = xpu_value_at(w->graph, info->inputs[0]);
    int64_t offset = 0, stride = (int64_t)xpu_dtype_bytes(x->dtype);
    const xpu_attr *starts = xpu_node_attr(w->graph, node, XPU_ATTR_STARTS);
    for (int i = x->rank; xpu_node_is(w->graph, node, XPU_OP_SLICE) && i-- > 0;) {
        offset += stride * xpu_dim_eval(&w->graph->dims, starts->dims[i], w->plan->symbols);
        stride *= xpu_dim_eval(&w->graph->dims, x->dims[i], w->plan->symbols);
    }
    w->now.held[info->outputs[0].id] = w->now.held[info->inputs[0].id];
    w->into[info->outputs[0].id] = w->into[info->inputs[0].id] + (uint64_t)offset;
}

static void walk_block(walker *w, xpu_block block) {
    XPU_FOR_BLOCK_NODES(w->graph, block, node) {
        if (xpu_node_is(w->graph, node, XPU_OP_IF)) {
            walk_if(w, node);
        } else if (xpu_node_is(w->graph, node, XPU_OP_LOOP)) {
            walk_loop(w, node);
        } else if (w->layer_of[node.id] == NO_LAYER) {
            name_again(w, node);
        } else if (next_layer(w) != w->layer_of[node.id]) {
            wrong(w, "layer %d runs where node '%s' should", next_layer(w),
                  w->program->layers.items[w->layer_of[node.id]].name);
            return;
        } else {
            run_layer(w, node);
        }
    }
}

/* ---- runs ---- */

static void begin_run(walker *w, int again) {
    moment before = w->now;
    const uint32_t slots = w->graph->values.count + w->program->buffers.count;
    w->now.held = XPU_NEW_ARRAY(w->arena, uint32_t, slots);
    w->step = w->taken = w->layer = 0;
    w->end = w->step_count;
    for (uint32_t i = 0; again && i < w->graph->states.count; i++) {
        const xpu_graph_state *state = &w->graph->states.items[i];
        const xpu_value input = w->graph->inputs.items[state->input];
        const uint32_t last = before.held[w->graph->outputs.items[state->output].id];
        content here;
        if (!place_of(w, input, &here) || here.start != w->contents.items[last].start)
            wrong(w, "state %u is not where the last run has left it", i);
        else
            w->now.held[input.id] = new_content(w, &here, w->now.overwritten[last]);
    }
    for (uint32_t i = 0; i < w->graph->inputs.count; i++) {
        if (!w->now.held[w->graph->inputs.items[i].id]) write_value(w, w->graph->inputs.items[i], 0);
    }
    int first = next_layer(w);
    int copies = first != NO_LAYER && !w->program->layers.items[first].node.id;
    for (uint32_t i = 0; i < w->program->buffers.count; i++)
        copies = copies && (buffer_at(w, i)->kind != XPU_BUFFER_COPY || buffer_at(w, i)->first_layer == 0);
    if (!copies) return;
    for (uint32_t i = 0; i < w->program->buffers.count; i++) {
        if (buffer_at(w, i)->kind != XPU_BUFFER_COPY) continue;
        begin_layer(w);
        use_others(w, XPU_NEW_ARRAY(w->arena, uint8_t, w->program->buffers.count));
        return;
    }
}

static void walk_run(walker *w, int again) {
    begin_run(w, again);
    walk_block(w, XPU_TOP_BLOCK);
    set_symbols(w);
    if (w->step != w->step_count) wrong(w, "the program ends at step %u of %u", w->step, w->step_count);
    uint32_t last = w->program->layers.count ? w->program->layers.count - 1 : 0;
    for (uint32_t i = 0; i < w->graph->outputs.count; i++) read_value(w, w->graph->outputs.items[i], last);
    for (uint32_t i = 0; i < w->graph->states.count; i++)
        read_value(w, w->graph->inputs.items[w->graph->states.items[i].input], last); /* where the run fails */
}

static void find_facts(walker *w) {
    const xpu_program *p = w->program;
    w->placed = XPU_NEW_ARRAY(w->arena, const xpu_program_value *, w->graph->values.count);
    w->layer_of = XPU_NEW_ARRAY(w->arena, int32_t, w->graph->nodes.count);
    w->into = XPU_NEW_ARRAY(w->arena, uint64_t, w->graph->values.count);
    w->has_values = XPU_NEW_ARRAY(w->arena, uint8_t, p->buffers.count);
    w->is_read = XPU_NEW_ARRAY(w->arena, uint8_t, p->buffers.count);
    w->bytes = XPU_NEW_ARRAY(w->arena, uint64_t, p->buffers.count);
    for (uint32_t i = 0; i < w->graph->nodes.count; i++) w->layer_of[i] = NO_LAYER;
    for (uint32_t i = p->layers.count; i-- > 0;) w->layer_of[p->layers.items[i].node.id] = (int32_t)i;
    for (uint32_t i = p->values.count; i-- > 0;) {
        w->placed[p->values.items[i].value.id] = &p->values.items[i];
        w->has_values[p->values.items[i].buffer] = 1;
    }
    for (uint32_t i = 0; i < p->buffers.count; i++) {
        xpu_dim bytes = p->buffers.items[i].bytes;
        w->bytes[i] =
            (uint64_t)(xpu_dim_is_dynamic(w->graph, bytes) ? xpu_dim_between(w->graph, bytes, w->plan->symbols).max
                                                           : xpu_dim_eval(&w->graph->dims, bytes, w->plan->symbols));
    }
    static xpu_program_step all = {.kind = XPU_DO_RUN};
    w->steps = p->steps.items;
    w->step_count = p->steps.count;
    if (p->steps.count || !p->layers.count) return;
    all.last = p->layers.count - 1;
    w->steps = &all;
    w->step_count = 1;
}

static walker *walk(const xpu_walked_plan *plan, xpu_arena *arena, xpu_text *text) {
    walker *w = XPU_NEW(arena, walker);
    *w = (walker){.plan = plan, .program = plan->program, .graph = plan->program->graph, .arena = arena, .text = text};
    find_facts(w);
    w->capacity = 64;
    w->now.overwritten = XPU_NEW_ARRAY(arena, uint32_t, w->capacity);
    new_content(w, &(content){.name = ""}, 0); /* number 0 is none */
    walk_run(w, 0);
    if (!w->graph->states.count) return w;
    xpu_placement_swap(plan->program, plan->places);
    walk_run(w, 1);
    xpu_placement_swap(plan->program, plan->places);
    return w;
}

uint32_t xpu_walk_plan(const xpu_walked_plan *plan, xpu_arena *arena, xpu_text *text) {
    return walk(plan, arena, text)->wrong;
}

const uint8_t *xpu_walk_readers(const xpu_walked_plan *plan, xpu_arena *arena) {
    xpu_text text;
    xpu_text_init(&text, arena);
    return walk(plan, arena, &text)->is_read;
}
