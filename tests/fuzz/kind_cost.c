/*
 * Programs whose metadata is made to take time and memory: small files with long dim expressions, values that are used
 * very often, lists as long as a file may have them. They are opened, described, and one layer is run alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ir/dim.h"
#include "core/ir/graph.h"
#include "tests/fuzz/hostile.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpu_runtime/program/file.h"
#include "xpu_runtime/program/program.pb-c.h"

typedef XpuMeta__Program program;
typedef XpuMeta__Graph graph;

static hostile_file seed;
static char dump[128];

/* What is being changed; messages in the arena. */
typedef struct {
    xpu_arena *arena;
    hostile_random *random;
    program *p;
    graph *g;
    uint32_t size;     /* how many of something */
    uint32_t *lengths; /* of dim expressions, by id; what the file had counts 0 */
    uint32_t most_dims;
} change;

enum { LONGEST = 4000 }; /* a longer expression is refused at once */

/* Room for `added` more pointers in a list of messages. */
#define ROOM(c, list, count, added) (list = grow((c)->arena, list, count, added))

static void *grow(xpu_arena *arena, const void *list, size_t count, size_t added) {
    void **room = XPU_NEW_ARRAY(arena, void *, count + added);
    if (count) memcpy(room, list, count * sizeof *room);
    return room;
}

/* ---- dims ---- */

static uint32_t add_dim(change *c, xpu_dim_kind kind, int64_t value, uint32_t a, uint32_t b) {
    XpuMeta__Dim *d = XPU_NEW(c->arena, XpuMeta__Dim);
    xpu_meta__dim__init(d);
    d->kind = kind;
    d->has_value = kind <= XPU_DIM_SYMBOL;
    d->value = value;
    d->has_a = d->has_b = kind > XPU_DIM_SYMBOL;
    d->a = a;
    d->b = b;
    c->p->dims[c->p->n_dims++] = d;
    uint32_t id = (uint32_t)c->p->n_dims;
    if (id < c->most_dims) c->lengths[id] = kind > XPU_DIM_SYMBOL ? 1 + c->lengths[a] + c->lengths[b] : 1;
    return id;
}

static uint32_t add_symbols(change *c, uint32_t count) {
    uint32_t first = 0;
    ROOM(c, c->p->symbols, c->p->n_symbols, count);
    for (uint32_t i = 0; i < count; i++) {
        XpuMeta__Symbol *s = XPU_NEW(c->arena, XpuMeta__Symbol);
        xpu_meta__symbol__init(s);
        s->name = (char *)(uintptr_t)xpu_printf(c->arena, "s%u", i);
        s->min = 1 + hostile_below(c->random, 5);
        s->max = s->min + 1 + hostile_below(c->random, 100000);
        s->step = 1;
        c->p->symbols[c->p->n_symbols++] = s;
        uint32_t id = add_dim(c, XPU_DIM_SYMBOL, (int64_t)c->p->n_symbols - 1, 0, 0);
        if (i == 0) first = id;
    }
    return first;
}

/* Sums of many terms, again and again multiplied, divided and added to each other. */
static void nest_dims(change *c) {
    uint32_t symbols = 2 + hostile_below(c->random, 40), way = hostile_below(c->random, 3);
    ROOM(c, c->p->dims, c->p->n_dims, 2 * (size_t)c->size + 4 * symbols + 16);
    uint32_t first = add_symbols(c, symbols), sum = first;
    for (uint32_t i = 1; i < symbols; i++) sum = add_dim(c, XPU_DIM_ADD, 0, sum, first + i);
    uint32_t root = sum, last = sum, start = (uint32_t)c->p->n_dims;
    while (c->p->n_dims < start + c->size) {
        uint32_t number = add_dim(c, XPU_DIM_CONST, 2 + hostile_below(c->random, 1000), 0, 0);
        uint32_t near = start + hostile_below(c->random, (uint32_t)c->p->n_dims - start);
        xpu_dim_kind kind = (xpu_dim_kind)(XPU_DIM_ADD + hostile_below(c->random, 6));
        if (c->lengths[last] + c->lengths[near] > LONGEST || hostile_below(c->random, 40) == 0) last = root;
        if (way == 0)
            last = add_dim(c, c->p->n_dims & 2 ? XPU_DIM_MUL : XPU_DIM_FLOORDIV, 0, root, number);
        else if (way == 1 || c->lengths[last] + c->lengths[near] > LONGEST)
            last = add_dim(c, kind, 0, hostile_chance(c->random, 30) ? root : last, number);
        else
            last = add_dim(c, kind, 0, near, hostile_chance(c->random, 50) ? last : first);
    }
}

/* Long expressions in every place that refers to a dim. */
static void use_dims(change *c) {
    ROOM(c, c->p->dims, c->p->n_dims, 4096);
    uint32_t symbol = add_symbols(c, 1), most = symbol;
    for (uint32_t i = 0; i < 900; i++) {
        uint32_t number = add_dim(c, XPU_DIM_CONST, 3 + i, 0, 0);
        most = add_dim(c, XPU_DIM_MAX, 0, most, add_dim(c, XPU_DIM_FLOORDIV, 0, symbol, number));
    }
    uint32_t long_dim = most - 3 * hostile_below(c->random, 300);
    ROOM(c, c->p->guards, c->p->n_guards, c->size);
    for (uint32_t i = 0; i < c->size; i++) {
        XpuMeta__Guard *guard = XPU_NEW(c->arena, XpuMeta__Guard);
        xpu_meta__guard__init(guard);
        guard->a = long_dim;
        guard->b = hostile_chance(c->random, 50) ? long_dim : long_dim - 3 * hostile_below(c->random, 50);
        guard->where = (char *)(uintptr_t)"node 'x'";
        c->p->guards[c->p->n_guards++] = guard;
    }
}

/* ---- values and nodes ---- */

static uint32_t add_value(change *c, uint32_t like, const char *name) {
    XpuMeta__Value *value = xpu_copy(c->arena, c->p->values[like - 1], sizeof **c->p->values);
    value->kind = XPU_VALUE_NODE;
    value->has_data = value->has_output = value->has_layout = 0;
    value->name = (char *)(uintptr_t)name;
    c->p->values[c->p->n_values++] = value;
    return (uint32_t)c->p->n_values;
}

static XpuMeta__Node *new_node(change *c, const char *op, uint32_t inputs, uint32_t output) {
    XpuMeta__Node *node = XPU_NEW(c->arena, XpuMeta__Node);
    xpu_meta__node__init(node);
    node->op = (char *)(uintptr_t)op;
    node->n_inputs = inputs;
    node->inputs = XPU_NEW_ARRAY(c->arena, uint32_t, inputs);
    node->n_outputs = 1;
    node->outputs = XPU_NEW_ARRAY(c->arena, uint32_t, 1);
    node->outputs[0] = output;
    return node;
}

/* Before all nodes, from the first input: each adds the one before to itself; the first node that takes the input takes
 * the last of them. */
static void double_nodes(change *c) {
    uint32_t depth = 1 + hostile_below(c->random, hostile_chance(c->random, 80) ? 17 : c->size),
             input = c->p->inputs[0], last = input;
    XpuMeta__Node **nodes = XPU_NEW_ARRAY(c->arena, XpuMeta__Node *, c->g->n_nodes + depth);
    ROOM(c, c->p->values, c->p->n_values, depth);
    for (uint32_t i = 0; i < depth; i++) {
        nodes[i] = new_node(c, "add", 2, add_value(c, input, xpu_printf(c->arena, "double %u", i)));
        nodes[i]->inputs[0] = nodes[i]->inputs[1] = last;
        last = nodes[i]->outputs[0];
    }
    for (size_t i = 0; i < c->g->n_nodes; i++) {
        XpuMeta__Node *node = nodes[depth + i] = c->g->nodes[i];
        for (size_t k = 0; k < node->n_inputs; k++) {
            if (node->inputs[k] == input) node->inputs[k] = last;
        }
    }
    c->g->nodes = nodes;
    c->g->n_nodes += depth;
}

/* A concat of 64 times the input, of 64 times that, and again: values far larger than the file, or than any memory. */
static void large_values(change *c) {
    uint32_t levels = hostile_chance(c->random, 60) ? 1 + hostile_below(c->random, 2) : 4, input = c->p->inputs[0],
             last = input;
    XpuMeta__Node **nodes = grow(c->arena, c->g->nodes, c->g->n_nodes, levels);
    ROOM(c, c->p->values, c->p->n_values, levels);
    ROOM(c, c->p->dims, c->p->n_dims, 2 * levels);
    for (uint32_t i = 0; i < levels; i++) {
        uint32_t value = add_value(c, last, xpu_printf(c->arena, "many %u", i)),
                 width = c->p->values[value - 1]->n_dims;
        XpuMeta__Value *v = c->p->values[value - 1];
        if (width == 0) break;
        v->dims = xpu_copy(c->arena, v->dims, width * sizeof *v->dims);
        uint32_t factor = add_dim(c, XPU_DIM_CONST, 64, 0, 0);
        v->dims[width - 1] = add_dim(c, XPU_DIM_MUL, 0, v->dims[width - 1], factor);
        XpuMeta__Attr *axis = XPU_NEW(c->arena, XpuMeta__Attr), **list = XPU_NEW(c->arena, XpuMeta__Attr *);
        xpu_meta__attr__init(axis);
        axis->name = (char *)(uintptr_t)"axis";
        axis->has_i = 1;
        axis->i = (int64_t)width - 1;
        *list = axis;
        nodes[c->g->n_nodes] = new_node(c, "concat", 64, value);
        for (int k = 0; k < 64; k++) nodes[c->g->n_nodes]->inputs[k] = last;
        nodes[c->g->n_nodes]->attrs = list;
        nodes[c->g->n_nodes++]->n_attrs = 1;
        last = value;
    }
    c->g->nodes = nodes;
}

/* ---- long lists ---- */

/* The list with entries of its own behind it, `size` of them. */
static void *repeat(change *c, const void *list, size_t *count) {
    void **longer = grow(c->arena, list, *count, c->size);
    for (size_t first = *count; first && *count < first + c->size; ++*count) {
        longer[*count] = longer[hostile_below(c->random, 3) % first];
    }
    return longer;
}

static void repeat_outputs(change *c) {
    uint32_t *outputs = XPU_NEW_ARRAY(c->arena, uint32_t, c->p->n_outputs + c->size);
    for (size_t i = 0; i < c->p->n_outputs + c->size; i++) outputs[i] = c->p->outputs[i % c->p->n_outputs];
    c->p->outputs = outputs;
    c->p->n_outputs += c->size;
}

static void repeat_lists(change *c) {
    switch (hostile_below(c->random, 9)) {
    case 0: c->p->layers = repeat(c, c->p->layers, &c->p->n_layers); break;
    case 1: c->p->buffers = repeat(c, c->p->buffers, &c->p->n_buffers); break;
    case 2: c->p->placed = repeat(c, c->p->placed, &c->p->n_placed); break;
    case 3: c->p->plan = repeat(c, c->p->plan, &c->p->n_plan); break;
    case 4: c->p->tensors = repeat(c, c->p->tensors, &c->p->n_tensors); break;
    case 5: c->p->values = repeat(c, c->p->values, &c->p->n_values); break;
    case 6: c->p->regions = repeat(c, c->p->regions, &c->p->n_regions); break;
    case 7: c->g->origins = repeat(c, c->g->origins, &c->g->n_origins); break;
    default: c->p->in_place = repeat(c, c->p->in_place, &c->p->n_in_place);
    }
}

/* Messages of no bytes, which take far more memory than the file. */
static void empty_messages(change *c) {
    XpuMeta__Node *node = c->g->nodes[hostile_below(c->random, (uint32_t)c->g->n_nodes)];
    XpuMeta__Attr *attr = XPU_NEW(c->arena, XpuMeta__Attr);
    xpu_meta__attr__init(attr);
    attr->name = (char *)(uintptr_t)"";
    size_t count = 8 * (size_t)c->size;
    node->attrs = XPU_NEW_ARRAY(c->arena, XpuMeta__Attr *, count);
    for (node->n_attrs = 0; node->n_attrs < count; node->n_attrs++) node->attrs[node->n_attrs] = attr;
}

/* ---- the kind ---- */

static void pack(hostile_file *file, const char *section, const ProtobufCMessage *message) {
    hostile_file bytes = {NULL, 0, 0};
    size_t size = protobuf_c_message_get_packed_size(message);
    void *packed = malloc(size + 1);
    if (!packed) abort();
    protobuf_c_message_pack(message, packed);
    hostile_set(&bytes, packed, size);
    hostile_set_section(file, section, &bytes);
    hostile_clear(&bytes);
    free(packed);
}

static void *allocate(void *arena, size_t bytes) {
    return xpu_alloc(arena, bytes);
}
static void keep(void *arena, void *block) {
    (void)arena, (void)block;
}

static void make_cost(hostile_random *random, hostile_file *file) {
    static void (*const ways[])(change *c) = {nest_dims,      use_dims,     double_nodes,  large_values,
                                              repeat_outputs, repeat_lists, empty_messages};
    hostile_file metadata = {NULL, 0, 0}, nodes = {NULL, 0, 0};
    xpu_mem mem;
    xpu_mem_init(&mem);
    if (setjmp(mem.out_of_memory)) abort();
    hostile_set(file, seed.data, seed.size);
    hostile_section(file, ".xpu.program", &metadata);
    hostile_section(file, ".xpu.graph", &nodes);
    change c = {.arena = xpu_arena_new(&mem, "change"), .random = random};
    ProtobufCAllocator allocator = {allocate, keep, c.arena};
    c.p = xpu_meta__program__unpack(&allocator, metadata.size, metadata.data);
    c.g = xpu_meta__graph__unpack(&allocator, nodes.size, nodes.data);
    if (!c.p || !c.g) abort();
    c.size = 1 + (hostile_chance(random, 99) ? hostile_below(random, 1u << hostile_below(random, 11))
                                             : 1u << (12 + hostile_below(random, 6)));
    c.most_dims = (uint32_t)c.p->n_dims + 2 * c.size + 8192;
    c.lengths = XPU_NEW_ARRAY(c.arena, uint32_t, c.most_dims);
    ways[hostile_below(random, sizeof ways / sizeof *ways)](&c);
    pack(file, ".xpu.program", &c.p->base);
    pack(file, ".xpu.graph", &c.g->base);
    hostile_clear(&metadata);
    hostile_clear(&nodes);
    xpu_mem_release(&mem);
}

/* Runs the program, or its first layer with the operands of the dump. */
static void run(xpurt_program *opened, const xpurt_run_options *options, hostile_result *result) {
    xpurt_error error = {0, NULL};
    uint32_t count = xpurt_output_count(opened);
    float *pixels = calloc(28 * 28, sizeof *pixels);
    xpurt_tensor input = {.dtype = "float32", .rank = 4, .dims = {1, 1, 28, 28}, .data = pixels};
    xpurt_tensor *outputs = calloc(count + 1, sizeof *outputs);
    if (!pixels || !outputs) abort();
    int status = xpurt_run(opened, &input, 1, outputs, options, &error);
    hostile_judge(result, options->layer ? "a layer alone on ref" : "xpurt_run on ref", status, error.text);
    for (uint32_t i = 0; i < count; i++) xpurt_tensor_clear(&outputs[i]);
    xpurt_error_clear(&error);
    free(outputs);
    free(pixels);
}

/* The bytes of all tensors that the program declares, each once. */
static size_t declared(const hostile_file *file) {
    static double total;
    xpu_mem mem;
    xpu_diags diags;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    total = 0;
    if (setjmp(mem.out_of_memory) == 0) {
        const xpu_program_image *image =
            xpu_program_parse(xpu_arena_new(&mem, "declared"), file->data, file->size, "hostile.xpu", &diags);
        for (uint32_t id = 1; image && id < image->program.graph->values.count; id++) {
            const xpu_value_info *info = xpu_value_at(image->program.graph, (xpu_value){id});
            double bytes = (double)xpu_dtype_bytes(info->dtype);
            for (int i = 0; i < info->rank; i++) {
                bytes *= (double)xpu_dim_eval(&image->program.graph->dims, info->dims[i], NULL);
            }
            total += bytes;
        }
    }
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return total <= 0x1p33 ? (size_t)total : 0; /* more is refused before anything runs */
}

static void load_cost(void) {
    hostile_result result = {.refused = 0};
    hostile_compile(&seed, "tests/models/mnist-8.onnx", "nano", "fp32", NULL);
    xpurt_error error = {0, NULL};
    snprintf(dump, sizeof dump, "%s/cost-%d", hostile_folder(), (int)getpid());
    xpurt_program *opened = xpurt_open_memory(seed.data, seed.size, "seed.xpu", &error);
    if (!opened) abort();
    run(opened, &(xpurt_run_options){.dump_folder = dump}, &result);
    xpurt_close(opened);
    if (result.refused) abort();
}

/* The dump is said to be this program's, so that its layer is replayed. */
static void adopt_dump(const hostile_file *file) {
    hostile_file index = {NULL, 0, 0};
    char path[300], digits[2 * XPU_HASH_BYTES + 1];
    snprintf(path, sizeof path, "%s/index.json", dump);
    hostile_load(&index, path);
    hostile_add(&index, "", 1);
    char *at = strstr((char *)index.data, "\"program_hash\": \"");
    if (!at || file->size < XPU_HASH_BYTES) abort();
    for (size_t i = 0; i < XPU_HASH_BYTES; i++) {
        snprintf(digits + 2 * i, 3, "%02x", file->data[file->size - XPU_HASH_BYTES + i]);
    }
    memcpy(at + strlen("\"program_hash\": \""), digits, sizeof digits - 1);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(index.data, 1, index.size - 1, out) != index.size - 1 || fclose(out)) abort();
    hostile_clear(&index);
}

static void feed_cost(hostile_random *random, const hostile_file *file, hostile_result *result) {
    xpurt_error error = {0, NULL};
    result->declared = declared(file);
    xpurt_program *opened = xpurt_open_memory(file->data, file->size, "hostile.xpu", &error);
    hostile_judge(result, "xpurt_open", error.status, error.text);
    xpurt_error_clear(&error);
    if (!opened) return;
    xpurt_describe(opened, &error);
    hostile_judge(result, "xpurt_describe", error.status, error.text);
    xpurt_error_clear(&error);
    adopt_dump(file);
    run(opened, &(xpurt_run_options){.layer = "ReLU32", .from_dump = dump}, result);
    if (hostile_chance(random, 30)) run(opened, &(xpurt_run_options){.layer = NULL}, result);
    xpurt_close(opened);
}

const hostile_kind hostile_cost = {"cost", ".xpu", load_cost, make_cost, feed_cost};
