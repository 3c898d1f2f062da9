/* The ONNX importer: models as a whole, their shapes, and real files. */
#include <stdio.h>
#include <string.h>

#include "core/passes/verify.h"
#include "base/file.h"
#include "tests/unit/onnx_fixture.h"

/* ---- nodes and their order ---- */

static XpuOnnx__NodeProto *link_node(fixture *f, const char *op, const char *name, const char *output,
                                     const char *input) {
    return xpu_onnx_node(&f->builder, op, name, output, (const char *const[]){input, NULL});
}

/* All unsupported nodes come at once; what depends on them is not complained about, except if it is unsupported too. */
static void test_all_at_once(void) {
    fixture f;
    begin(&f, 13);
    xpu_onnx_input(&f.builder, "x", 2, (const int64_t[]){2, 3});
    link_node(&f, "Det", "first", "a", "x");
    link_node(&f, "Relu", "fine", "b", "a");
    XpuOnnx__NodeProto *custom = link_node(&f, "BiasGelu", NULL, "c", "b");
    custom->domain = "com.microsoft";
    link_node(&f, "StringNormalizer", "it's\n", "d", "x");
    add_output(&f, "c");
    add_output(&f, "d");
    import(&f);
    expect("all at once", messages(&f),
           "m.onnx: error [onnx-unsupported-op] node 'first' (Det-11, #0): operator Det is not supported\n"
           "  why: the importer has no row for Det-11\n"
           "  hint: replace it by supported operators (docs/onnx-operators.md lists them), or export the model without "
           "it\n"
           "m.onnx: error [onnx-unsupported-op] node 'BiasGelu_2' (com.microsoft.BiasGelu-0, #2): operator "
           "BiasGelu is not supported\n"
           "  why: operators of domain 'com.microsoft' are not ONNX operators\n"
           "  hint: export with operators of the default domain only\n"
           "m.onnx: error [onnx-unsupported-op] node 'it\\x27s\\x0a' (StringNormalizer-10, #3): operator "
           "StringNormalizer is not supported\n"
           "  why: the importer has no row for StringNormalizer-10\n"
           "  hint: replace it by supported operators (docs/onnx-operators.md lists them), or export the model without "
           "it\n");
    end(&f);
}

static void test_order(void) {
    fixture f;
    begin(&f, 13);
    xpu_onnx_input(&f.builder, "x", 1, (const int64_t[]){2});
    link_node(&f, "Exp", NULL, "c", "b");
    link_node(&f, "Abs", NULL, "b", "a");
    link_node(&f, "Neg", NULL, "a", "x");
    add_output(&f, "c");
    import(&f);
    if (f.graph) expect("sorted", nodes_of(&f), "neg abs exp");
    end(&f);

    begin(&f, 13);
    link_node(&f, "Exp", "one", "b", "a");
    link_node(&f, "Abs", "two", "a", "b");
    link_node(&f, "Neg", "three", "c", "nowhere");
    link_node(&f, "Neg", "four", "c", "c");
    add_output(&f, "c");
    add_output(&f, "z");
    import(&f);
    expect("cycle", messages(&f),
           "m.onnx: error [onnx-name] result 'c' of node #3: the name is defined twice\n"
           "  why: names of tensors are unique in ONNX\n"
           "  hint: export the model again, or check it with onnx.checker\n"
           "m.onnx: error [onnx-cycle] node #1: the nodes form a cycle\n"
           "  why: input 'b' depends on the node's own result\n"
           "  hint: export the model again, or check it with onnx.checker\n"
           "m.onnx: error [onnx-name] node 'three' (Neg-13, #2): input 0 ('nowhere') is not defined\n"
           "  why: no graph input, initializer or node has this name\n"
           "  hint: export the model again, or check it with onnx.checker\n"
           "m.onnx: error [onnx-output] output 'z': the output is not defined\n"
           "  why: no graph input, initializer or node has this name\n"
           "  hint: export the model again, or check it with onnx.checker\n");
    end(&f);
}

/* Outputs that are inputs, constants or outputs already; results that nothing uses. */
static void test_outputs(void) {
    fixture f;
    begin(&f, 12);
    XpuOnnx__NodeProto *node = add_node(&f, "MaxPool", "kernel_shape=I:2", "[1,3,8]");
    node->output = (char *[]){"y", "indices"};
    node->n_output = 2;
    float value = 2;
    xpu_onnx_initializer(&f.builder, "k", &(xpu_tensor){.dtype = XPU_F32, .data = &value}, 0);
    add_output(&f, "x");
    add_output(&f, "y");
    add_output(&f, "y");
    add_output(&f, "k");
    import(&f);
    CU_ASSERT_EQUAL(f.status, XPU_OK);
    if (f.graph) {
        expect("outputs", nodes_of(&f), "max_pool identity identity identity");
        CU_ASSERT_EQUAL(f.graph->outputs.count, 4);
        static const char *const names[] = {"x_1", "y", "y_2",
                                            "k"}; /* of copies: names of their own, but for constants */
        for (int i = 0; i < 4; i++) expect("name", xpu_value_at(f.graph, f.graph->outputs.items[i])->name, names[i]);
        for (uint32_t i = 0; i < f.graph->outputs.count; i++) {
            CU_ASSERT_EQUAL(xpu_value_at(f.graph, f.graph->outputs.items[i])->kind, XPU_VALUE_NODE);
        }
    }
    end(&f);

    begin(&f, 12);
    node = add_node(&f, "MaxPool", "kernel_shape=I:2", "[1,3,8]");
    node->output = (char *[]){"y", "indices"};
    node->n_output = 2;
    add_output(&f, "indices");
    import(&f);
    expect("indices", messages(&f),
           "m.onnx: error [onnx-unsupported-form] node 'n' (MaxPool-12, #0): the indices of the maxima are not "
           "supported\n  why: result 1 ('indices') is used\n  hint: export the model without them\n");
    end(&f);
}

static void test_header(void) {
    static const struct {
        int opset, ir_version;
        const char *message;
    } rows[] = {
        {6, 4,
         "m.onnx: error [onnx-opset] the model's opset is not supported\n  why: it is opset 6; 7 to 28 are supported\n"
         "  hint: export the model with a supported opset_version, or convert it with onnx.version_converter\n"},
        {29, 13,
         "m.onnx: error [onnx-opset] the model's opset is not supported\n  why: it is opset 29; 7 to 28 are supported\n"
         "  hint: export the model with a supported opset_version, or convert it with onnx.version_converter\n"},
        {13, 2,
         "m.onnx: error [onnx-model] the model's format is too old\n  why: it has IR version 2; 3 and up can be read\n"
         "  hint: convert it with a newer release of ONNX\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, 13);
        f.builder.opset = rows[i].opset;
        f.builder.ir_version = rows[i].ir_version;
        add_node(&f, "Relu", "", "[2]");
        add_output(&f, "y");
        import(&f);
        expect("header", messages(&f), rows[i].message);
        end(&f);
    }
}

/* ---- shapes ---- */

#define SIZE(n)                {n, n, 1, NULL}
#define RANGE(low, high, step) {low, high, step, NULL}
#define NAMED(name)            {0, 0, 0, name}

/* x [N,3,h] and z [h]; h is called "h" in both. */
static void shaped_model(fixture *f) {
    begin(f, 13);
    xpu_onnx_input(&f->builder, "x", 3, (const int64_t[]){-1, 3, -1});
    xpu_onnx_input(&f->builder, "z", 1, (const int64_t[]){-1});
    f->builder.inputs.items[0]->type->tensor_type->shape->dim[2]->dim_param = "h";
    f->builder.inputs.items[1]->type->tensor_type->shape->dim[0]->dim_param = "h";
    xpu_onnx_node(&f->builder, "Add", "n", "y", (const char *const[]){"x", "z", NULL});
    add_output(f, "y");
}

static void test_shapes(void) {
    static const xpu_shape_spec range = {"x", 3, {SIZE(1), SIZE(3), RANGE(32, 224, 32)}};
    static const xpu_shape_spec named = {"x", 3, {NAMED("B"), SIZE(3), SIZE(7)}};
    static const xpu_shape_spec wrong = {"x", 3, {SIZE(1), SIZE(4), SIZE(7)}};
    static const xpu_shape_spec short_spec = {"x", 2, {SIZE(1), SIZE(3)}};
    static const xpu_shape_spec typo = {"y", 1, {SIZE(1)}};
    static const xpu_shape_spec other = {"z", 1, {SIZE(9)}};
    static const xpu_shape_spec empty = {"z", 1, {RANGE(5, 4, 1)}};
    static const struct {
        const xpu_shape_spec *specs[2];
        xpu_status status;
        const char *result; /* shape, or the messages */
    } rows[] = {
        {{&range}, XPU_OK, "[1,3,h]"},
        {{&named}, XPU_OK, "[B,3,7]"},
        {{&wrong}, XPU_OK, "[1,4,7]"},
        {{&short_spec},
         XPU_EUSAGE,
         "error [shape-option] --shape x: the shape has the wrong rank\n  why: it has 2 dims, the input has 3\n"
         "  hint: give a number, a range or a name for each dim of the input\n"},
        {{&typo},
         XPU_EUSAGE,
         "error [shape-option] --shape y: the model has no such input\n  why: its inputs are 'x', 'z'\n  hint: write "
         "the name of one of them\n"},
        {{&named, &other},
         XPU_EUSAGE,
         "error [shape-option] --shape z: dim 0 contradicts another --shape\n"
         "  why: the model calls both 'h'; they are 7 and 9\n  hint: give them the same size or name\n"},
        {{&empty},
         XPU_EUSAGE,
         "error [shape-option] --shape z: dim 0 is invalid\n  why: 5..4:1\n"
         "  hint: write a number, FIRST..LAST or FIRST..LAST:STEP, each at least 1\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        shaped_model(&f);
        xpu_shape_spec specs[2];
        for (f.options.shape_count = 0; f.options.shape_count < 2 && rows[i].specs[f.options.shape_count];) {
            specs[f.options.shape_count] = *rows[i].specs[f.options.shape_count];
            f.options.shape_count++;
        }
        f.options.shapes = specs;
        import(&f);
        CU_ASSERT_EQUAL(f.status, rows[i].status);
        if (f.graph) {
            expect("shapes", shape_of(&f, f.graph->outputs.items[0]), rows[i].result);
            if (i == 0) {
                CU_ASSERT_EQUAL(f.graph->dims.symbols.count, 1);
                CU_ASSERT_EQUAL(f.graph->dims.symbols.items[0].min, 32);
                CU_ASSERT_EQUAL(f.graph->dims.symbols.items[0].max, 224);
                CU_ASSERT_EQUAL(f.graph->dims.symbols.items[0].step, 32);
            }
        } else {
            expect("shapes", errors(&f), rows[i].result);
        }
        end(&f);
    }
}

static void test_default_shape(void) {
    fixture f;
    shaped_model(&f);
    f.builder.inputs.items[0]->type->tensor_type->shape->dim[0]->dim_param = NULL;
    import(&f);
    expect("note", messages(&f),
           "m.onnx: note [shape-open] input 'x': dim 0 ('x_0'), dim 2 ('h') may be as large as memory allows\n"
           "  why: the model leaves that open\n"
           "  hint: for code that fits a range: --shape x=1..16,3,32..224\n");
    if (f.graph) expect("default", shape_of(&f, f.graph->outputs.items[0]), "[x_0,3,h]");
    end(&f);
}

/* An open dim is at most such that its input, all others at their least, fits the target's memory. */
static void test_open_limits(void) {
    static const xpu_shape_spec wide = {"x", 3, {NAMED("B"), SIZE(3), RANGE(50, 200, 1)}};
    static const struct {
        uint64_t memory_bytes;
        const xpu_shape_spec *spec;
        int64_t batch, height; /* the largest */
    } rows[] = {
        {0, NULL, INT32_MAX, INT32_MAX},
        {12000, NULL, 1000, 1000},
        {12011, NULL, 1000, 1000},
        {12000, &wide, 20, 200},
        {UINT64_MAX, NULL, INT32_MAX, INT32_MAX},
        {24, NULL, 2, 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        shaped_model(&f);
        f.options.memory_bytes = rows[i].memory_bytes;
        f.options.shapes = rows[i].spec;
        f.options.shape_count = rows[i].spec != NULL;
        import(&f);
        CU_ASSERT_PTR_NOT_NULL_FATAL(f.graph);
        CU_ASSERT_EQUAL_FATAL(f.graph->dims.symbols.count, 2);
        CU_ASSERT_EQUAL(f.graph->dims.symbols.items[0].min, 1);
        CU_ASSERT_EQUAL(f.graph->dims.symbols.items[0].max, rows[i].batch);
        CU_ASSERT_EQUAL(f.graph->dims.symbols.items[1].max, rows[i].height);
        end(&f);
    }
}

/* ---- real files ---- */

/* The errors of a file, or NULL when it imports. */
static void import_file(const char *path, int supported) {
    fixture f;
    begin(&f, 13);
    f.status = xpu_onnx_import(f.arena, path, NULL, &f.graph, &f.diags);
    if (f.status != (supported ? XPU_OK : XPU_EMODEL)) fprintf(stderr, "\n%s:\n%s", path, errors(&f));
    CU_ASSERT_EQUAL(f.status, supported ? XPU_OK : XPU_EMODEL);
    if (f.graph) CU_ASSERT_EQUAL(xpu_verify(f.graph, "import", &f.diags), XPU_OK);
    end(&f);
}

static void test_files(void) {
    static const char *const committed[] = {"tests/models/mnist-8.onnx", "examples/digits/digits.onnx"};
    static const struct {
        const char *name;
        int supported;
    } shared[] = {{"mnist-8", 1},
                  {"mobilenet_v2_fp32", 1},
                  {"super_resolution_10", 1},
                  {"mobilenet_v2_qdq", 1},
                  {"mobilenet_v2_quant", 1},
                  {"ch_PP-OCRv4_det_infer", 1},
                  {"ch_PP-OCRv4_rec_infer", 1},
                  {"ch_ppocr_mobile_v2.0_cls_infer", 1},
                  {"silero_vad", 0},
                  {"silero_vad_16k_op15", 0},
                  {"nnsplit_bidi_lstm", 1},
                  {"stories260K_logits", 1},
                  {"stories260K_generate_loop", 1}};
    for (size_t i = 0; i < sizeof committed / sizeof *committed; i++) {
        if (xpu_file_exists(committed[i])) import_file(committed[i], 1);
    }
    const char *folder = getenv("XPU_SHARED");
    if (!folder) {
        printf("(XPU_SHARED is not set: large models are skipped) ");
        return;
    }
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/models/onnx/%s.onnx", folder, shared[i].name);
        import_file(path, shared[i].supported);
    }
}

XPU_TEST_MAIN("onnx models", {"all at once", test_all_at_once}, {"order", test_order}, {"outputs", test_outputs},
              {"header", test_header}, {"shapes", test_shapes}, {"default shape", test_default_shape},
              {"limits of open dims", test_open_limits}, {"files", test_files})
