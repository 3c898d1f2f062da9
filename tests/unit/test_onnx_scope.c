/* Subgraphs of the ONNX importer: branches that are decided, the names that they see, and what is said of bad ones. */
#include "tests/unit/onnx_fixture.h"

/* A builder for a subgraph of the fixture's model. */
static xpu_onnx_builder *subgraph(fixture *f) {
    xpu_onnx_builder *builder = XPU_NEW(f->arena, xpu_onnx_builder);
    xpu_onnx_begin(builder, f->arena, 13);
    return builder;
}

static void unary(xpu_onnx_builder *builder, const char *op, const char *from, const char *to) {
    xpu_onnx_node(builder, op, NULL, to, (const char *const[]){from, NULL});
}

/* A branch that is one operator on `from`. */
static xpu_onnx_builder *branch(fixture *f, const char *op, const char *from, const char *to) {
    xpu_onnx_builder *builder = subgraph(f);
    unary(builder, op, from, to);
    xpu_onnx_output(builder, to, 1, (int64_t[]){4});
    return builder;
}

static void condition(fixture *f, xpu_onnx_builder *builder, const char *name, int value) {
    uint8_t byte = (uint8_t)value;
    xpu_tensor tensor = {.dtype = XPU_BOOL, .rank = 0, .data = &byte};
    (void)f;
    xpu_onnx_initializer(builder, name, &tensor, 0);
}

static XpuOnnx__NodeProto *add_if(fixture *f, xpu_onnx_builder *builder, const char *cond, const char *output,
                                  xpu_onnx_builder *then_branch, xpu_onnx_builder *else_branch) {
    (void)f;
    XpuOnnx__NodeProto *node = xpu_onnx_node(builder, "If", NULL, output, (const char *const[]){cond, NULL});
    if (then_branch) xpu_onnx_graph(builder, node, "then_branch", then_branch);
    if (else_branch) xpu_onnx_graph(builder, node, "else_branch", else_branch);
    return node;
}

static void begin_model(fixture *f, int value) {
    begin(f, 13);
    xpu_onnx_input(&f->builder, "x", 1, (int64_t[]){4});
    condition(f, &f->builder, "cond", value);
    xpu_onnx_output(&f->builder, "y", 1, (int64_t[]){4});
}

/* The operator that makes the only output. */
static const char *last_op(fixture *f) {
    xpu_value y = f->graph->outputs.items[0];
    return xpu_node_at(f->graph, xpu_value_at(f->graph, y)->node)->op->name;
}

static void test_decided(void) {
    for (int value = 0; value < 2; value++) {
        fixture f;
        begin_model(&f, value);
        add_if(&f, &f.builder, "cond", "y", branch(&f, "Relu", "x", "a"), branch(&f, "Neg", "x", "a"));
        import(&f);
        expect("errors", errors(&f), "");
        CU_ASSERT_EQUAL_FATAL(f.status, XPU_OK);
        expect("output", xpu_value_at(f.graph, f.graph->outputs.items[0])->name, "y");
        CU_ASSERT_EQUAL(xpu_graph_by_name(f.graph, "a").id != 0, 1);
        xpu_node node = xpu_graph_first(f.graph);
        expect("operator", xpu_node_at(f.graph, node)->op->name, value ? "relu" : "neg");
        expect("operator's name", xpu_node_name(f.graph, node),
               value ? "If_0/then_branch/Relu_0" : "If_0/else_branch/Neg_0");
        end(&f);
    }
}

/* What is not taken may be anything; what stands in a branch sees the names around it, and its own first. */
static void test_names(void) {
    fixture f;
    begin_model(&f, 1);
    xpu_onnx_builder *outer = subgraph(&f), *inner = branch(&f, "Neg", "t", "y");
    unary(outer, "Relu", "x", "t");
    condition(&f, outer, "cond", 0);
    add_if(&f, outer, "cond", "r", branch(&f, "NoSuchOperator", "nothing", "y"), inner);
    xpu_onnx_output(outer, "r", 1, (int64_t[]){4});
    add_if(&f, &f.builder, "cond", "q", outer, branch(&f, "Frobnicate", "x", "y"));
    unary(&f.builder, "Abs", "q", "y");
    import(&f);
    expect("errors", errors(&f), "");
    CU_ASSERT_EQUAL_FATAL(f.status, XPU_OK);
    expect("last", last_op(&f), "abs");
    expect("output", xpu_value_at(f.graph, f.graph->outputs.items[0])->name, "y");
    end(&f);
}

/* A branch may come before what it uses; a cycle through one is found. */
static void test_order(void) {
    fixture f;
    begin_model(&f, 1);
    add_if(&f, &f.builder, "cond", "y", branch(&f, "Relu", "late", "a"), branch(&f, "Neg", "x", "a"));
    unary(&f.builder, "Abs", "x", "late");
    import(&f);
    expect("errors", errors(&f), "");
    CU_ASSERT_EQUAL(f.status, XPU_OK);
    end(&f);

    begin_model(&f, 1);
    add_if(&f, &f.builder, "cond", "y", branch(&f, "Relu", "late", "a"), branch(&f, "Neg", "x", "a"));
    unary(&f.builder, "Abs", "y", "late");
    import(&f);
    CU_ASSERT_PTR_NOT_NULL(strstr(errors(&f), "error [onnx-cycle] node #1: the nodes form a cycle"));
    end(&f);
}

typedef struct {
    const char *error;
    const char *op, *from, *to; /* of the branch that is taken */
    const char *output;         /* of it, where it is not `to` */
} refusal;

static void test_refusals(void) {
    static const refusal rows[] = {
        {"m.onnx: error [onnx-unsupported-op] node 'If_0/then_branch/Frobnicate_0' (Frobnicate-13, #0) in then_branch "
         "of node "
         "'If_0' (If-13, #0): operator Frobnicate is not supported",
         "Frobnicate", "x", "a", NULL},
        {"m.onnx: error [onnx-name] node 'If_0/then_branch/Relu_0' (Relu-13, #0) in then_branch of node 'If_0' (If-13, "
         "#0): "
         "input 0 ('nothing') is not defined",
         "Relu", "nothing", "a", NULL},
        {"m.onnx: error [onnx-output] output 'b' in then_branch of node 'If_0' (If-13, #0): the output is not defined",
         "Relu", "x", "a", "b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin_model(&f, 1);
        xpu_onnx_builder *taken = subgraph(&f);
        unary(taken, rows[i].op, rows[i].from, rows[i].to);
        xpu_onnx_output(taken, rows[i].output ? rows[i].output : rows[i].to, 1, (int64_t[]){4});
        add_if(&f, &f.builder, "cond", "y", taken, branch(&f, "Neg", "x", "a"));
        import(&f);
        CU_ASSERT_EQUAL(f.diags.errors, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(errors(&f), rows[i].error));
        if (!strstr(errors(&f), rows[i].error)) fprintf(stderr, "\n%s", errors(&f));
        end(&f);
    }
}

static void test_interface(void) {
    fixture f;
    begin_model(&f, 1);
    add_if(&f, &f.builder, "cond", "y", NULL, branch(&f, "Neg", "x", "a"));
    import(&f);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(errors(&f), "[onnx-attribute] node 'If_0' (If-13, #0): attribute 'then_branch' is invalid"));
    end(&f);

    begin_model(&f, 1);
    xpu_onnx_builder *taken = branch(&f, "Relu", "x", "a");
    xpu_onnx_input(taken, "i", 1, (int64_t[]){4});
    add_if(&f, &f.builder, "cond", "y", taken, branch(&f, "Neg", "x", "a"));
    import(&f);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(errors(&f), "[onnx-operand] node 'If_0' (If-13, #0): the subgraph 'then_branch' does not fit the node"));
    CU_ASSERT_PTR_NOT_NULL(strstr(errors(&f), "it has 1 inputs and 1 outputs; 0 and 1 are needed"));
    end(&f);

    begin_model(&f, 1);
    add_if(&f, &f.builder, "x", "y", branch(&f, "Relu", "x", "a"), branch(&f, "Neg", "x", "a"));
    import(&f);
    CU_ASSERT_PTR_NOT_NULL(strstr(errors(&f), "[onnx-dtype] node 'If_0' (If-13, #0): the condition is float32"));
    end(&f);
}

/* What a loop or scan hands to its body is there. */
static void test_missing_inputs(void) {
    static const struct {
        const char *op, *error;
        const char *inputs[5];
    } rows[] = {
        {"Scan", "[onnx-operand] node 'Scan_0' (Scan-11, #0): input 0 is missing", {"", "x", NULL}},
        {"Loop", "[onnx-operand] node 'Loop_0' (Loop-13, #0): input 2 is missing", {"", "cond", "", "x", NULL}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin_model(&f, 1);
        XpuOnnx__NodeProto *node = xpu_onnx_node(&f.builder, rows[i].op, NULL, "y", rows[i].inputs);
        if (i == 0) xpu_onnx_int(&f.builder, node, "num_scan_inputs", 1);
        xpu_onnx_graph(&f.builder, node, "body", branch(&f, "Relu", "x", "a"));
        import(&f);
        CU_ASSERT_PTR_NOT_NULL(strstr(errors(&f), rows[i].error));
        if (!strstr(errors(&f), rows[i].error)) fprintf(stderr, "\n%s", errors(&f));
        end(&f);
    }
}

/* A Loop of one carried value: `op` is what its body does with it, and then it has a node that nobody uses. */
static XpuOnnx__NodeProto *add_loop(fixture *f, const char *op, const char *unused) {
    xpu_onnx_builder *body = subgraph(f);
    xpu_onnx_input(body, "i", 1, (int64_t[]){1});
    xpu_onnx_input(body, "c", 0, NULL);
    xpu_onnx_input(body, "s", 1, (int64_t[]){4});
    unary(body, op, "s", "t");
    if (unused) unary(body, unused, "s", "u");
    xpu_onnx_output(body, "c", 0, NULL);
    xpu_onnx_output(body, "t", 1, (int64_t[]){4});
    XpuOnnx__NodeProto *node =
        xpu_onnx_node(&f->builder, "Loop", NULL, "y", (const char *const[]){"trips", "cond", "x", NULL});
    xpu_onnx_graph(&f->builder, node, "body", body);
    return node;
}

/* What is wrong in a body is an error even where nothing uses it; arguments may be of no type. */
static void test_loops(void) {
    static const struct {
        const char *op, *unused, *error;
        int types; /* of the first so many arguments */
    } rows[] = {
        {"Relu", NULL, "", 3},
        {"Relu", NULL, "", 0},
        {"Relu", "Abs", "", 3},
        {"Relu", "Frobnicate", "operator Frobnicate is not supported", 3},
        {"Frobnicate", NULL, "operator Frobnicate is not supported", 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        int64_t trips = 5;
        begin_model(&f, 1);
        xpu_onnx_initializer(&f.builder, "trips", &(xpu_tensor){.dtype = XPU_I64, .data = &trips}, 0);
        XpuOnnx__NodeProto *node = add_loop(&f, rows[i].op, rows[i].unused);
        for (int k = rows[i].types; k < 3; k++) node->attribute[0]->g->input[k]->type = NULL;
        import(&f);
        CU_ASSERT_EQUAL(f.diags.errors, rows[i].error[0] != 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(errors(&f), rows[i].error));
        end(&f);
    }
}

/* What nobody needs goes, with the symbol of its size. */
static void test_unneeded_sizes(void) {
    fixture f;
    begin_model(&f, 1);
    unary(&f.builder, "NonZero", "x", "places");
    unary(&f.builder, "Neg", "places", "list");
    unary(&f.builder, "Abs", "list", "nothing");
    unary(&f.builder, "Relu", "x", "y");
    import(&f); /* verifies the graph */
    expect("errors", errors(&f), "");
    CU_ASSERT_EQUAL_FATAL(f.status, XPU_OK);
    CU_ASSERT_EQUAL(f.graph->dims.symbols.count, 0);
    end(&f);
}

XPU_TEST_MAIN("onnx-scope", {"decided", test_decided}, {"names", test_names}, {"order", test_order},
              {"refusals", test_refusals}, {"interface", test_interface}, {"missing inputs", test_missing_inputs},
              {"loops", test_loops}, {"sizes that nobody needs", test_unneeded_sizes})
