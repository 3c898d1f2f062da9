/* The graph: editing keeps use lists and order, verify finds planted damage, constants follow their recipes. */
#include "core/ops/graph_text.h"
#include <math.h>

#include "core/arith.h"
#include "tests/unit/ir.h"
#include "tests/unit/oom.h"

/* x -> a = relu(x) -> b = neg(a) -> c = add(a, b); c is the output. */
typedef struct {
    xpu_value x, a, b, c;
    xpu_node relu, neg, add;
} sample;

static sample build_sample(xpu_graph *g, xpu_diags *diags) {
    sample s;
    xpu_dim dims[] = {xpu_dim_const(&g->dims, 2), xpu_dim_const(&g->dims, 3)};
    xpu_origin origins[] = {
        {"onnx", "Relu", 14, "first", 0}, {"onnx", "Neg", 13, "second", 1}, {"onnx", "Add", 14, "third", 2}};
    uint32_t ids[3];
    for (int i = 0; i < 3; i++) ids[i] = xpu_graph_origin(g, &origins[i]);
    s.x = xpu_graph_input(g, "x", XPU_F32, 2, dims);
    s.relu = xpu_build(g, (xpu_node){0}, XPU_OP_RELU, &s.x, 1, "a", NULL, 0, &ids[0], 1, diags);
    s.a = xpu_node_output(g, s.relu, 0);
    s.neg = xpu_build(g, (xpu_node){0}, XPU_OP_NEG, &s.a, 1, "b", NULL, 0, &ids[1], 1, diags);
    s.b = xpu_node_output(g, s.neg, 0);
    s.add = xpu_build(g, (xpu_node){0}, XPU_OP_ADD, (xpu_value[]){s.a, s.b}, 2, "c", NULL, 0, &ids[2], 1, diags);
    s.c = xpu_node_output(g, s.add, 0);
    xpu_graph_output(g, s.c);
    return s;
}

static void expect_valid(bench *b) {
    CU_ASSERT_EQUAL(xpu_verify(b->graph, "test", &b->diags), XPU_OK);
    bench_print(b);
    xpu_diags_clear(&b->diags);
    xpu_diags_init(&b->diags);
}

static const char *name_of(const bench *b, xpu_value value) {
    return xpu_value_at(b->graph, value)->name;
}

static void edits(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    sample s = build_sample(g, &b.diags);
    CU_ASSERT_EQUAL(xpu_value_at(g, s.a)->uses.count, 2);
    expect_valid(&b);

    /* replacing an output moves its name; the node that made it can go */
    xpu_node tanh_node = bench_node(&b, XPU_OP_TANH, &s.b, 1, NULL, 0);
    xpu_value t = xpu_node_output(g, tanh_node, 0);
    CU_ASSERT_EQUAL(xpu_value_replace(g, s.c, t), 1);
    CU_ASSERT_STRING_EQUAL(name_of(&b, t), "c");
    CU_ASSERT(xpu_graph_by_name(g, "c").id == t.id);
    xpu_node_add_origins(g, tanh_node, s.add);
    CU_ASSERT_EQUAL(xpu_remove_dead(g), 1);
    CU_ASSERT(xpu_node_at(g, s.add)->dead);
    CU_ASSERT_STRING_EQUAL(xpu_node_name(g, tanh_node), "third");
    expect_valid(&b);

    /* an operand of another node, then everything that only fed the old one goes */
    xpu_node_set_input(g, tanh_node, 0, s.x);
    CU_ASSERT_EQUAL(xpu_value_at(g, s.b)->uses.count, 0);
    xpu_node_remove(g, s.relu);
    CU_ASSERT(!xpu_node_at(g, s.relu)->dead); /* neg still uses it */
    CU_ASSERT_EQUAL(xpu_remove_dead(g), 2);
    CU_ASSERT(xpu_graph_first(g).id == tanh_node.id && !xpu_node_next(g, tanh_node).id);
    expect_valid(&b);

    /* an output whose replacement has a name of its own keeps its node */
    CU_ASSERT_EQUAL(xpu_value_replace(g, t, s.x), 0);
    CU_ASSERT(xpu_value_at(g, t)->is_output && !xpu_value_at(g, s.x)->is_output);
    xpu_node_remove(g, tanh_node);
    CU_ASSERT(!xpu_node_at(g, tanh_node)->dead);
    expect_valid(&b);
    bench_close(&b);
}

static void order_and_names(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    sample s = build_sample(g, &b.diags);
    xpu_node abs_node = xpu_build(g, s.neg, XPU_OP_ABS, &s.a, 1, "a", NULL, 0, NULL, 0, &b.diags);
    CU_ASSERT(xpu_node_next(g, s.relu).id == abs_node.id && xpu_node_next(g, abs_node).id == s.neg.id);
    CU_ASSERT_STRING_NOT_EQUAL(name_of(&b, xpu_node_output(g, abs_node, 0)), "a");
    expect_valid(&b);
    xpu_node_move_before(g, abs_node, (xpu_node){0});
    CU_ASSERT(xpu_block_at(g, (xpu_block){1})->last.id == abs_node.id);
    expect_valid(&b);
    xpu_node_move_before(g, abs_node, s.add);
    xpu_node_move_before(g, abs_node, abs_node);
    CU_ASSERT(xpu_node_next(g, abs_node).id == s.add.id);
    expect_valid(&b);
    for (int i = 0; i < 600; i++) xpu_graph_const_f32(g, "same", 1);
    expect_valid(&b);
    CU_ASSERT_STRING_EQUAL(xpu_node_where(g, s.neg, b.arena), "node 'second' (Neg-13, #1)");
    bench_close(&b);
}

static void attributes(void) {
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value x = bench_input(&b, "x", XPU_F32, DIMS(1, 2, 8, 8)), w = bench_input(&b, "w", XPU_F32, DIMS(4, 2, 3, 3));
    xpu_node conv = bench_node(&b, XPU_OP_CONV, (xpu_value[]){x, w}, 2, NULL, 0);
    uint32_t count;
    const int64_t *strides = xpu_node_ints(g, conv, XPU_ATTR_STRIDES, &count);
    CU_ASSERT(count == 2 && strides[0] == 1 && strides[1] == 1); /* made explicit */
    CU_ASSERT_EQUAL(xpu_node_int(g, conv, XPU_ATTR_GROUP), 1);
    CU_ASSERT_PTR_NULL(xpu_node_attr(g, conv, XPU_ATTR_GROUP));
    int64_t twos[] = {2, 2};
    xpu_node_set_attr(g, conv, &XPU_ATTR_INTS_OF(STRIDES, twos, 2));
    twos[0] = 9;
    CU_ASSERT_EQUAL(xpu_node_ints(g, conv, XPU_ATTR_STRIDES, &count)[0], 2);
    CU_ASSERT_EQUAL(xpu_op_infer(g, conv, &b.diags), XPU_OK);
    int64_t dims[XPU_MAX_RANK];
    CU_ASSERT(xpu_value_dims(g, xpu_node_output(g, conv, 0), NULL, dims) && dims[2] == 3);
    CU_ASSERT_EQUAL(xpu_op_by_name("max_pool"), xpu_op_of(XPU_OP_MAX_POOL));
    CU_ASSERT_PTR_NULL(xpu_op_by_name("nothing"));
    bench_close(&b);
}

/* What the rows say: attributes with their defaults, traits, element types. */
static void rows(void) {
    BENCH_OPEN(b);
    const xpu_op *softmax = xpu_op_of(XPU_OP_SOFTMAX), *conv = xpu_op_of(XPU_OP_CONV);
    CU_ASSERT(softmax->attr_count == 1 && xpu_op_attr(softmax, XPU_ATTR_AXIS) != NULL);
    CU_ASSERT_PTR_NULL(xpu_op_attr(softmax, XPU_ATTR_PADS));
    CU_ASSERT_EQUAL(xpu_op_of(XPU_OP_RELU)->attr_count, 0);
    CU_ASSERT(xpu_op_attr(conv, XPU_ATTR_GROUP)->i == 1 && xpu_op_attr(conv, XPU_ATTR_PRECISION)->i == 0);
    xpu_value x = bench_input(&b, "x", XPU_F32, DIMS(2));
    xpu_node leaky = bench_node(&b, XPU_OP_LEAKY_RELU, &x, 1, NULL, 0);
    xpu_node hard = bench_node(&b, XPU_OP_HARD_SIGMOID, &x, 1, NULL, 0);
    xpu_node clip = bench_node(&b, XPU_OP_CLIP, &x, 1, NULL, 0);
    CU_ASSERT_EQUAL(xpu_node_float(b.graph, leaky, XPU_ATTR_ALPHA), 0.01f);
    CU_ASSERT_EQUAL(xpu_node_float(b.graph, hard, XPU_ATTR_ALPHA), 0.2f);
    CU_ASSERT_EQUAL(xpu_node_float(b.graph, hard, XPU_ATTR_BETA), 0.5f);
    CU_ASSERT_EQUAL(xpu_node_float(b.graph, clip, XPU_ATTR_LOW), -INFINITY);
    CU_ASSERT_EQUAL(xpu_node_float(b.graph, clip, XPU_ATTR_HIGH), INFINITY);
    for (int id = 0; id < XPU_OP_COUNT; id++) {
        const xpu_op *op = xpu_op_of((xpu_op_id)id);
        int is_view = id == XPU_OP_RESHAPE || id == XPU_OP_TRANSPOSE || id == XPU_OP_IDENTITY || id == XPU_OP_RELAYOUT;
        CU_ASSERT_EQUAL(xpu_op_has(op, XPU_TRAIT_VIEW), is_view);
        CU_ASSERT(op->takes_count >= 1 && op->gives_count >= 1 && (int)op->gives_count <= op->max_outputs);
        CU_ASSERT((int)op->takes_count <= op->max_inputs || op->max_inputs == 0);
        for (uint32_t i = 0; i < op->takes_count; i++) CU_ASSERT_NOT_EQUAL(op->takes[i], 0);
        for (uint32_t i = 0; i < op->gives_count; i++) CU_ASSERT_NOT_EQUAL(op->gives[i], 0);
        for (uint32_t i = 0; i < op->attr_count; i++) {
            CU_ASSERT_EQUAL(xpu_op_attr(op, op->attrs[i].id), &op->attrs[i]); /* none stands twice */
        }
    }
    CU_ASSERT_EQUAL(xpu_op_takes(conv, 1), XPU_TYPE_SET(XPU_F32) | XPU_TYPE_SET(XPU_I8) | XPU_TYPE_SET(XPU_I16));
    CU_ASSERT_EQUAL(xpu_op_takes(conv, 5), XPU_TYPE_SET(XPU_F32)); /* the last entry */
    CU_ASSERT_EQUAL(xpu_op_gives(xpu_op_of(XPU_OP_DYNAMIC_QUANTIZE), 2), XPU_TYPE_SET(XPU_U8));
    bench_close(&b);
}

/* ---- verify ---- */

static void damage_use_list(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->uses.count--;
}
static void damage_use_extra(xpu_graph *g, sample s) {
    XPU_PUSH(g->arena, &xpu_value_at(g, s.x)->uses, ((xpu_use){s.neg, 0}));
}
static void damage_input(xpu_graph *g, sample s) {
    xpu_node_at(g, s.neg)->inputs[0] = s.c;
}
static void damage_handle(xpu_graph *g, sample s) {
    xpu_node_at(g, s.neg)->inputs[0].id = 12345;
}
static void damage_absent(xpu_graph *g, sample s) {
    xpu_node_at(g, s.neg)->inputs[0].id = 0;
}
static void damage_order(xpu_graph *g, sample s) {
    xpu_node_move_before(g, s.relu, (xpu_node){0});
}
static void damage_link(xpu_graph *g, sample s) {
    xpu_node_at(g, s.neg)->previous.id = 0;
}
static void damage_cycle(xpu_graph *g, sample s) {
    xpu_node_at(g, s.add)->next = s.relu;
}
static void damage_last(xpu_graph *g, sample s) {
    xpu_block_at(g, (xpu_block){1})->last = s.neg;
}
static void damage_parent(xpu_graph *g, sample s) {
    xpu_node_at(g, s.neg)->parent.id = 0;
}
static void damage_dead(xpu_graph *g, sample s) {
    xpu_node_at(g, s.relu)->dead = 1;
}
static void damage_maker(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->node = s.neg;
}
static void damage_rank(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->rank = 9;
}
static void damage_dim(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->dims[0].id = 999;
}
static void damage_unknown_dim(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->dims[0].id = 0;
}
static void damage_dtype(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->dtype = XPU_DTYPE_NONE;
}
static void damage_layout(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->layout = XPU_LAYOUT_CHANNEL_LAST;
}
static void damage_name(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->name = "x";
}
static void damage_no_name(xpu_graph *g, sample s) {
    xpu_value_at(g, s.a)->name = NULL;
}
static void damage_output(xpu_graph *g, sample s) {
    xpu_value_at(g, s.c)->is_output = 0;
}
static void damage_output_list(xpu_graph *g, sample s) {
    g->outputs.items[0] = s.b;
}
static void damage_inputs(xpu_graph *g, sample s) {
    g->inputs.items[0] = s.a;
}
static void damage_kind(xpu_graph *g, sample s) {
    xpu_value_at(g, s.x)->kind = XPU_VALUE_CONST;
}
static void damage_attr(xpu_graph *g, sample s) {
    xpu_node_set_attr(g, s.relu, &XPU_ATTR_INT_OF(AXIS, 0));
}
static void damage_origin(xpu_graph *g, sample s) {
    xpu_node_at(g, s.relu)->origins.items[0] = 77;
}
static void damage_arity(xpu_graph *g, sample s) {
    xpu_node_set_input(g, s.relu, 1, s.x);
}
static void damage_operator(xpu_graph *g, sample s) {
    xpu_node_at(g, s.relu)->op = NULL;
}
static void damage_argument(xpu_graph *g, sample s) {
    xpu_value_at(g, s.x)->kind = XPU_VALUE_ARGUMENT;
}
static void damage_state(xpu_graph *g, sample s) {
    xpu_graph_tie(g, 0, 7);
    (void)s;
}
static void damage_state_type(xpu_graph *g, sample s) {
    xpu_value flag = xpu_graph_input(g, "flag", XPU_BOOL, 0, NULL);
    xpu_graph_tie(g, 0, g->inputs.count - 1);
    (void)s, (void)flag;
}
static void damage_state_twice(xpu_graph *g, sample s) {
    xpu_graph_tie(g, 0, 0);
    xpu_graph_tie(g, 0, 0);
    (void)s;
}
static void damage_perm(xpu_graph *g, sample s) {
    int64_t perm[] = {0, 0};
    xpu_node_at(g, s.relu)->op = xpu_op_of(XPU_OP_TRANSPOSE);
    xpu_node_set_attr(g, s.relu, &XPU_ATTR_INTS_OF(PERM, perm, 2));
}
static void damage_chain(xpu_graph *g, sample s) {
    xpu_chain chain = {.input_count = 1, .step_count = 1};
    chain.steps[0] = (xpu_chain_step){.op = XPU_EW_relu, .operands = {1}}; /* its own result */
    xpu_node_at(g, s.relu)->op = xpu_op_of(XPU_OP_CHAIN);
    xpu_node_set_attr(g, s.relu, &XPU_ATTR_CHAIN_OF(STEPS, &chain));
}
static void damage_operand_type(xpu_graph *g, sample s) {
    xpu_value_at(g, s.x)->dtype = XPU_F64;
}
static void damage_result_type(xpu_graph *g, sample s) {
    xpu_value_at(g, s.c)->dtype = XPU_BOOL;
}
static void damage_constant(xpu_graph *g, sample s) {
    xpu_value constant = xpu_graph_const_f32(g, "k", 1);
    xpu_value_at(g, constant)->constant->length = 3;
    (void)s;
}

static void verify_finds_damage(void) {
    static const struct {
        const char *name;
        void (*damage)(xpu_graph *, sample);
    } cases[] = {
        {"a use is missing", damage_use_list},
        {"a use too many", damage_use_extra},
        {"an operand was swapped behind the use lists", damage_input},
        {"operand handle", damage_handle},
        {"operand absent", damage_absent},
        {"made after its use", damage_order},
        {"previous link", damage_link},
        {"cycle", damage_cycle},
        {"last node", damage_last},
        {"parent", damage_parent},
        {"dead node in use", damage_dead},
        {"maker", damage_maker},
        {"rank", damage_rank},
        {"dim handle", damage_dim},
        {"unknown dim", damage_unknown_dim},
        {"dtype", damage_dtype},
        {"layout", damage_layout},
        {"name twice", damage_name},
        {"no name", damage_no_name},
        {"output mark", damage_output},
        {"output list", damage_output_list},
        {"input list", damage_inputs},
        {"constant without bytes", damage_kind},
        {"attribute of another operator", damage_attr},
        {"origin", damage_origin},
        {"too many operands", damage_arity},
        {"no operator", damage_operator},
        {"argument of no block", damage_argument},
        {"state of no input", damage_state},
        {"state of two types", damage_state_type},
        {"state tied twice", damage_state_twice},
        {"permutation", damage_perm},
        {"chain uses itself", damage_chain},
        {"operand of a type that its row has not", damage_operand_type},
        {"result of a type that its row has not", damage_result_type},
        {"constant length", damage_constant},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        BENCH_OPEN(b);
        sample s = build_sample(b.graph, &b.diags);
        expect_valid(&b);
        cases[i].damage(b.graph, s);
        CU_ASSERT_EQUAL(xpu_verify(b.graph, "damage", &b.diags), XPU_EBUG);
        if (b.diags.errors == 0) printf("not found: %s\n", cases[i].name);
        CU_ASSERT(b.diags.errors > 0 && strcmp(b.diags.items[0].rule, "ir-verify") == 0);
        CU_ASSERT_EQUAL(b.diags.items[0].status, XPU_EBUG);
        bench_close(&b);
    }
}

static void text_form(void) {
    BENCH_OPEN(b);
    build_sample(b.graph, &b.diags);
    xpu_text text;
    xpu_text_init(&text, b.arena);
    xpu_graph_text(b.graph, &text);
    CU_ASSERT_STRING_EQUAL(text.text, "graph \"test\"\n"
                                      "input %x : float32[2,3]\n"
                                      "%a : float32[2,3] = relu(%x)  // Relu 'first' #0\n"
                                      "%b : float32[2,3] = neg(%a)  // Neg 'second' #1\n"
                                      "%c : float32[2,3] = add(%a, %b)  // Add 'third' #2\n"
                                      "output %c\n");
    bench_close(&b);
}

/* ---- constants ---- */

enum { ROWS = 70, COLUMNS = 601 }; /* 168 KB of float32: lazy, and more than one chunk */

static float source_value(int i) {
    return (float)((i * 7919) % 1000 - 500) / 8.0f;
}

/* A graph constant over a file (with 24 bytes in front) or over memory. */
static xpu_value big_constant(bench *b, int in_file) {
    xpu_tensor tensor = {.dtype = XPU_F32, .rank = 2, .dims = {ROWS, COLUMNS}};
    float *data = XPU_NEW_ARRAY(b->arena, float, 6 + ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++) data[6 + i] = source_value(i);
    tensor.data = data + 6;
    if (!in_file) return xpu_graph_const_bytes(b->graph, "w", &tensor);
    char *path = xpu_path_join(b->arena, xpu_temporary_folder(b->arena, &b->diags), "weights");
    xpu_file_write(b->arena, path, data, 24 + xpu_tensor_bytes(&tensor), &b->diags);
    const xpu_file *file = xpu_file_open(b->arena, path, &b->diags);
    return xpu_graph_const_file(b->graph, "w", XPU_F32, 2, tensor.dims, file, 24);
}

/* int16 [COLUMNS, ROWS] = quantised transpose(w * scale[row]), seen as [COLUMNS * ROWS]. */
static void recipes(void) {
    for (int in_file = 0; in_file < 2; in_file++) {
        BENCH_OPEN(b);
        xpu_graph *g = b.graph;
        float scale[ROWS], inverse[1] = {100};
        for (int i = 0; i < ROWS; i++) scale[i] = 1.0f + (float)i / 64.0f;
        xpu_const_step steps[] = {
            {.kind = XPU_STEP_SCALE, .axis = 0, .factors = scale, .factor_count = ROWS},
            {.kind = XPU_STEP_TRANSPOSE, .rank = 2, .dims = {1, 0}},
            {.kind = XPU_STEP_QUANTISE, .dtype = XPU_I16, .factors = inverse, .factor_count = 1},
            {.kind = XPU_STEP_RESHAPE, .rank = 1, .dims = {ROWS * COLUMNS}},
            {.kind = XPU_STEP_CAST, .dtype = XPU_I64},
        };
        xpu_value value = big_constant(&b, in_file), first = value;
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            value = xpu_const_derive(g, value, &steps[i], "derived", &b.diags);
            CU_ASSERT_FATAL(value.id != 0);
            CU_ASSERT_EQUAL(xpu_value_at(g, value)->constant->steps.count, i + 1);
        }
        scale[0] = inverse[0] = 0; /* the recipe has its own copy */
        expect_valid(&b);
        xpu_tensor result, source;
        CU_ASSERT_EQUAL(xpu_const_tensor(g, value, b.arena, &result, &b.diags), XPU_OK);
        CU_ASSERT(result.dtype == XPU_I64 && result.rank == 1 && result.dims[0] == ROWS * COLUMNS);
        int wrong = 0;
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            int row = i % ROWS, column = i / ROWS;
            float scaled = xa_mul(source_value(row * COLUMNS + column), 1.0f + (float)row / 64.0f);
            wrong += ((int64_t *)result.data)[i] != xa_absmax_quantize(scaled, 100, 32767);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(xpu_const_tensor(g, first, b.arena, &source, &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(((float *)source.data)[5], source_value(5));
        bench_close(&b);
    }
}

static void casts(void) {
    static const float values[] = {0.0f, -1.5f, 2.5f, 300.0f};
    static const uint16_t halves[] = {0x3c00, 0xc000, 0x7c00, 0x0001, 0x8400};
    static const float from_halves[] = {1, -2, __builtin_inff(), 0x1p-24f, -0x1p-14f};
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_value f = xpu_graph_const_bytes(g, "f", &(xpu_tensor){XPU_F32, 1, {4}, (void *)(uintptr_t)values});
    xpu_value h = xpu_graph_const_bytes(g, "h", &(xpu_tensor){XPU_F16, 1, {5}, (void *)(uintptr_t)halves});
    xpu_const_step to = {.kind = XPU_STEP_CAST, .dtype = XPU_I64};
    int64_t *integers = xpu_const_data(g, xpu_const_derive(g, f, &to, NULL, &b.diags), b.arena, &b.diags);
    CU_ASSERT(integers[0] == 0 && integers[1] == -1 && integers[2] == 2 && integers[3] == 300);
    to.dtype = XPU_BOOL;
    uint8_t *truths = xpu_const_data(g, xpu_const_derive(g, f, &to, NULL, &b.diags), b.arena, &b.diags);
    CU_ASSERT(!truths[0] && truths[1] == 1 && truths[2] == 1);
    to.dtype = XPU_F32;
    float *floats = xpu_const_data(g, xpu_const_derive(g, h, &to, NULL, &b.diags), b.arena, &b.diags);
    CU_ASSERT_EQUAL(memcmp(floats, from_halves, sizeof from_halves), 0);
    CU_ASSERT_EQUAL(b.diags.errors, 0);
    bench_close(&b);
}

static void impossible_recipes(void) {
    static const float factor[2] = {1, 1};
    static const xpu_const_step cases[] = {
        {.kind = XPU_STEP_RESHAPE, .rank = 1, .dims = {3}},
        {.kind = XPU_STEP_RESHAPE, .rank = 2, .dims = {INT64_MAX, 4}},
        {.kind = XPU_STEP_RESHAPE, .rank = 9},
        {.kind = XPU_STEP_TRANSPOSE, .rank = 2, .dims = {0, 0}},
        {.kind = XPU_STEP_TRANSPOSE, .rank = 2, .dims = {0, 7}},
        {.kind = XPU_STEP_TRANSPOSE, .rank = 1, .dims = {0}},
        {.kind = XPU_STEP_SCALE, .axis = 1, .factors = factor, .factor_count = 2},
        {.kind = XPU_STEP_SCALE, .axis = 5, .factors = factor, .factor_count = 2},
        {.kind = XPU_STEP_QUANTISE, .dtype = XPU_F32, .factors = factor, .factor_count = 1},
        {.kind = XPU_STEP_CAST, .dtype = XPU_F16},
        {.kind = XPU_STEP_CAST, .dtype = XPU_DTYPE_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        BENCH_OPEN(b);
        float data[6] = {0};
        xpu_value w = xpu_graph_const_bytes(b.graph, "w", &(xpu_tensor){XPU_F32, 2, {2, 3}, data});
        CU_ASSERT_EQUAL(xpu_const_derive(b.graph, w, &cases[i], NULL, &b.diags).id, 0);
        CU_ASSERT_EQUAL(b.diags.errors, 1);
        bench_close(&b);
    }
}

static void short_file(void) {
    BENCH_OPEN(b);
    xpu_value w = big_constant(&b, 1);
    xpu_value_at(b.graph, w)->constant->offset += 100;
    CU_ASSERT_PTR_NULL(xpu_const_data(b.graph, w, b.arena, &b.diags));
    CU_ASSERT_EQUAL(b.diags.errors, 1);
    bench_close(&b);
}

/* ---- running out of memory ---- */

static xpu_status work(xpu_arena *arena, xpu_diags *diags) {
    xpu_graph *g = xpu_graph_new(arena, "test", "test.onnx");
    sample s = build_sample(g, diags);
    float data[6] = {1, 2, 3};
    xpu_value w = xpu_graph_const_bytes(g, "w", &(xpu_tensor){XPU_F32, 2, {2, 3}, data});
    xpu_build(g, (xpu_node){0}, XPU_OP_TRANSPOSE, &w, 1, NULL, NULL, 0, NULL, 0, diags); /* folds */
    xpu_node_set_input(g, s.add, 1, w);
    xpu_remove_dead(g);
    xpu_text text;
    xpu_text_init(&text, arena);
    xpu_graph_text(g, &text);
    return xpu_verify(g, "test", diags);
}

/* ---- a value that very many nodes use: removing in every order takes time linear in the uses ---- */

static void many_uses(void) {
    enum { USES = 100000 };
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    const int64_t dims[] = {2};
    xpu_value x = bench_input(&b, "x", XPU_F32, 1, dims);
    xpu_node *nodes = XPU_NEW_ARRAY(b.arena, xpu_node, USES);
    for (int i = 0; i < USES; i++) {
        nodes[i] = bench_node(&b, XPU_OP_MUL, (xpu_value[]){x, x}, 2, NULL, 0);
        if (i % 4 == 3) xpu_graph_output(g, xpu_node_output(g, nodes[i], 0));
    }
    expect_valid(&b);
    for (int i = 0; i < USES; i += 2) xpu_node_remove(g, nodes[i]);
    CU_ASSERT_EQUAL(xpu_value_at(g, x)->uses.count, USES);
    expect_valid(&b);
    CU_ASSERT_EQUAL(xpu_remove_dead(g), USES / 4);
    CU_ASSERT_EQUAL(xpu_value_at(g, x)->uses.count, USES / 2);
    expect_valid(&b);
    bench_close(&b);
}

static void every_allocation_may_fail(void) {
    CU_ASSERT(xpu_fail_each_allocation(work, 1) > 20);
}

XPU_TEST_MAIN("graph", {"edits", edits}, {"order and names", order_and_names}, {"attributes", attributes},
              {"rows", rows}, {"verify finds damage", verify_finds_damage}, {"text", text_form},
              {"recipes of constants", recipes}, {"casts", casts}, {"impossible recipes", impossible_recipes},
              {"short file", short_file}, {"many uses", many_uses},
              {"every allocation may fail", every_allocation_may_fail})
