/* The ONNX importer: what each form of each operator becomes, and what is said about those that it cannot take. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "core/ops/op.h"
#include "frontend/onnx/onnx.h"
#include "tests/gen/onnx_build.h"
#include "tests/unit/unit.h"

/* ---- small models from text ---- */

typedef struct {
    xpu_mem mem;
    xpu_arena *arena;
    xpu_diags diags;
    xpu_graph *graph;
    xpu_status status;
    xpu_onnx_builder builder;
    xpu_import_options options;
} fixture;

static void begin(fixture *f, int opset) {
    memset(f, 0, sizeof *f);
    xpu_mem_init(&f->mem);
    if (setjmp(f->mem.out_of_memory)) {
        CU_FAIL_FATAL("out of memory");
    }
    f->arena = xpu_arena_new(&f->mem, "test");
    xpu_diags_init(&f->diags);
    xpu_onnx_begin(&f->builder, f->arena, opset);
}

static void end(fixture *f) {
    xpu_diags_clear(&f->diags);
    xpu_mem_release(&f->mem);
}

static void import(fixture *f) {
    size_t length = 0;
    void *bytes = xpu_onnx_pack(&f->builder, "test", &length);
    f->status = xpu_onnx_import_bytes(f->arena, bytes, length, "m.onnx", &f->options, &f->graph, &f->diags);
    CU_ASSERT_EQUAL(f->status == XPU_OK, f->graph != NULL);
    if (f->graph) CU_ASSERT_EQUAL(xpu_graph_verify(f->graph, "import", &f->diags), XPU_OK);
}

/* Every message in its text form, one after another. */
static const char *messages(fixture *f) {
    xpu_text text;
    xpu_text_init(&text, f->arena);
    for (size_t i = 0; i < f->diags.count; i++) {
        char line[4096];
        xpu_diag_text(&f->diags, i, line, sizeof line);
        xpu_text_add(&text, "%s\n", line);
    }
    return text.text;
}

static void expect(const char *of, const char *found, const char *expected) {
    if (strcmp(found, expected) != 0) fprintf(stderr, "\n%s:\n  expected %s\n  found    %s\n", of, expected, found);
    CU_ASSERT_STRING_EQUAL(found, expected);
}

static int parse_list(const char *text, int64_t *values) {
    int count = 0;
    while (*text && *text != ']' && *text != '}') {
        char *next = NULL;
        values[count++] = *text == 'N' ? -1 : strtoll(text, &next, 10);
        text = *text == 'N' ? text + 1 : next;
        if (*text == ',') text++;
    }
    return count;
}

/* "i:1", "f:0.5", "s:SAME_UPPER", "I:1,2", separated by blanks and named "name=". */
static void add_attrs(fixture *f, XpuOnnx__NodeProto *node, const char *text) {
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        char *value = strchr(word, '=');
        if (!value) continue;
        *value = '\0';
        char kind = value[1];
        value += 3;
        int64_t list[16];
        if (kind == 'i') xpu_onnx_int(&f->builder, node, word, strtoll(value, NULL, 10));
        if (kind == 'f') xpu_onnx_float(&f->builder, node, word, strtof(value, NULL));
        if (kind == 's') xpu_onnx_string(&f->builder, node, word, value);
        if (kind == 'I') xpu_onnx_ints(&f->builder, node, word, list, (size_t)parse_list(value, list));
    }
}

/* One operand: "[N,3,8]" a graph input, "{4,3}" float32 weights, "=1,-1" an int64 list, "%0.5" a float32 scalar, "-"
 * none. */
static const char *add_operand(fixture *f, const char *text, int index) {
    const char *name = text[0] == '-' ? "" : xpu_printf(f->arena, "%c", "xwbcde"[index]);
    xpu_tensor tensor = {.dtype = XPU_F32};
    if (text[0] == '[') {
        int64_t dims[8];
        int rank = parse_list(text + 1, dims);
        xpu_onnx_input(&f->builder, name, rank, dims);
    } else if (text[0] == '{') {
        tensor.rank = parse_list(text + 1, tensor.dims);
        float *data = XPU_NEW_ARRAY(f->arena, float, xpu_tensor_count(&tensor));
        for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) data[i] = (float)(i % 7) - 3.0f;
        tensor.data = data;
        xpu_onnx_initializer(&f->builder, name, &tensor, 0);
    } else if (text[0] == '=') {
        int64_t values[16];
        tensor = (xpu_tensor){.dtype = XPU_I64, .rank = 1, .dims = {parse_list(text + 1, values)}, .data = values};
        xpu_onnx_initializer(&f->builder, name, &tensor, 0);
    } else if (text[0] == '%') {
        float value = strtof(text + 1, NULL);
        tensor.data = &value;
        xpu_onnx_initializer(&f->builder, name, &tensor, 1);
    }
    return name;
}

/* A model of one node 'n' with result 'y'. */
static XpuOnnx__NodeProto *add_node(fixture *f, const char *op, const char *attrs, const char *operands) {
    const char *names[XPU_ONNX_MAX_INPUTS + 1] = {NULL};
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", operands);
    int count = 0;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (*word) {
            names[count] = add_operand(f, word, count);
            count++;
        }
    }
    XpuOnnx__NodeProto *node = xpu_onnx_node(&f->builder, op, "n", "y", names);
    add_attrs(f, node, attrs);
    return node;
}

static void add_output(fixture *f, const char *name) {
    xpu_onnx_output(&f->builder, name, 0, NULL);
}

/* ---- what forms become ---- */

typedef struct {
    const char *op;
    int opset;
    const char *attrs, *operands, *result, *nodes, *contains;
} form;

static const form forms[] = {
    {"Conv", 7, "", "[1,3,8,9] {4,3,3,3}", "[1,4,6,7]", "conv", "pads=[0,0,0,0], group=1"},
    {"Conv", 8, "auto_pad=s:SAME_UPPER strides=I:2,2", "[1,3,8,9] {4,3,2,3} {4}", "[1,4,4,5]", "conv",
     "pads=[0,1,0,1]"},
    {"Conv", 11, "auto_pad=s:SAME_LOWER kernel_shape=I:4,4", "[N,3,8,8] {4,3,4,4}", "[N,4,8,8]", "conv",
     "pads=[2,2,1,1]"},
    {"Conv", 22, "auto_pad=s:VALID dilations=I:2", "[N,4,9] {8,4,3}", "[N,8,5]", "conv", "pads=[0,0]"},
    {"Conv", 22, "group=i:2 dilations=I:2 pads=I:1,0", "[N,4,9] {8,2,3}", "[N,8,6]", "conv", "dilations=[2]"},
    {"Conv", 13, "auto_pad=s:SAME_UPPER", "[1,3,N,8] {4,3,3,3}", "[1,4,N,8]", "conv", "pads=[1,1,1,1]"},
    {"Gemm", 7, "", "[2,3] {3,5} {5}", "[2,5]", "matmul", "matmul(%x, %w, %b)"},
    {"Gemm", 9, "transB=i:1", "[N,3] {5,3} {1,5}", "[N,5]", "matmul", "matmul(%x, %y/1, %y/2)"},
    {"Gemm", 11, "transA=i:1", "[3,2] [3,5]", "[2,5]", "transpose matmul", "perm=[1,0]"},
    {"Gemm", 13, "alpha=f:0.5 beta=f:2", "[2,3] {3,5} {5}", "[2,5]", "matmul mul add", NULL},
    {"Gemm", 13, "beta=f:2", "[2,3] {3,5} {1,1}", "[2,5]", "matmul add", NULL},
    {"Gemm", 13, "alpha=f:3", "[2,3] {3,5}", "[2,5]", "matmul mul", NULL},
    {"Gemm", 13, "", "[2,3] [3,5] [2,1]", "[2,5]", "matmul add", NULL},
    {"Gemm", 13, "beta=f:0", "[2,3] [3,5] [2,5]", "[2,5]", "matmul", NULL},
    {"MatMul", 8, "", "[2,1,4,3] {5,3,6}", "[2,5,4,6]", "matmul", NULL},
    {"MatMul", 13, "", "[3] {3,6}", "[6]", "reshape matmul reshape", NULL},
    {"MatMul", 13, "", "[2,4,3] {3}", "[2,4]", "reshape matmul reshape", NULL},
    {"MatMul", 13, "", "[3] [3]", "[]", "reshape reshape matmul reshape", NULL},
    {"Relu", 7, "", "[N,3]", "[N,3]", "relu", NULL},
    {"Clip", 7, "max=f:6 min=f:0", "[2]", "[2]", "clip", "low=0, high=6"},
    {"Clip", 11, "", "[2] %-1 %2.5", "[2]", "clip", "low=-1, high=2.5"},
    {"Clip", 12, "", "[2] - %6", "[2]", "clip", "low=-3.40282347e+38, high=6"},
    {"LeakyRelu", 16, "", "[2]", "[2]", "leaky_relu", "alpha=0.00999999978"},
    {"HardSigmoid", 22, "", "[2]", "[2]", "hard_sigmoid", "beta=0.5"},
    {"HardSwish", 14, "", "[2]", "[2]", "hard_swish", NULL},
    {"Erf", 9, "", "[2]", "[2]", "erf", NULL},
    {"Add", 7, "", "[N,3,1] {4}", "[N,3,4]", "add", NULL},
    {"Max", 8, "", "[3] [2,1] {2,3}", "[2,3]", "max max", NULL},
    {"Min", 13, "", "[3]", "[3]", "identity", NULL},
    {"MaxPool", 8, "kernel_shape=I:2,2 strides=I:2,2 storage_order=i:0", "[1,3,7,8]", "[1,3,3,4]", "max_pool",
     "dilations=[1,1]"},
    {"MaxPool", 10, "kernel_shape=I:2,2 strides=I:2,2 ceil_mode=i:1", "[1,3,7,8]", "[1,3,4,4]", "max_pool",
     "ceil_mode=1"},
    {"MaxPool", 12, "kernel_shape=I:3 dilations=I:2", "[1,3,9]", "[1,3,5]", "max_pool", NULL},
    {"AveragePool", 7, "kernel_shape=I:3,3 pads=I:1,1,1,1 count_include_pad=i:1", "[1,3,7,8]", "[1,3,7,8]",
     "average_pool", "count_include_pad=1"},
    {"AveragePool", 19, "kernel_shape=I:2 dilations=I:3", "[1,3,9]", "[1,3,6]", "average_pool", NULL},
    {"GlobalAveragePool", 22, "", "[N,3,7,8]", "[N,3,1,1]", "global_average_pool", NULL},
    {"BatchNormalization", 7, "spatial=i:1 momentum=f:0.9", "[N,3,4] {3} {3} {3} {3}", "[N,3,4]", "batch_norm",
     "epsilon=9.99999975e-06"},
    {"BatchNormalization", 15, "training_mode=i:0 epsilon=f:0.5", "[N,3,4] {3} {3} {3} {3}", "[N,3,4]", "batch_norm",
     "epsilon=0.5"},
    {"Flatten", 9, "axis=i:2", "[N,3,4,5]", "[N*3,20]", "reshape", NULL},
    {"Flatten", 11, "axis=i:-1", "[2,3,4]", "[6,4]", "reshape", NULL},
    {"Flatten", 13, "axis=i:0", "[2,3,4]", "[1,24]", "reshape", NULL},
    {"Reshape", 7, "", "[N,6,4] =0,-1", "[N,24]", "reshape", NULL},
    {"Reshape", 13, "", "[N,6,4] =-1,8", "[N*3,8]", "reshape", NULL},
    {"Reshape", 14, "allowzero=i:0", "[2,6] =4,3", "[4,3]", "reshape", NULL},
    {"Reshape", 21, "", "[1] =", "[]", "reshape", NULL},
    {"Squeeze", 7, "axes=I:0,2", "[1,3,1,4]", "[3,4]", "reshape", NULL},
    {"Squeeze", 11, "axes=I:-2", "[1,3,1,4]", "[1,3,4]", "reshape", NULL},
    {"Squeeze", 13, "", "[1,3,1,4]", "[3,4]", "reshape", NULL},
    {"Squeeze", 13, "", "[1,3,1,4] =0", "[3,1,4]", "reshape", NULL},
    {"Unsqueeze", 7, "axes=I:2,0", "[3,4]", "[1,3,1,4]", "reshape", NULL},
    {"Unsqueeze", 21, "", "[3,4] =-1", "[3,4,1]", "reshape", NULL},
    {"Transpose", 13, "", "[2,3,4]", "[4,3,2]", "transpose", NULL},
    {"Transpose", 13, "perm=I:0,2,1", "[2,3,4]", "[2,4,3]", "transpose", NULL},
    {"Concat", 11, "axis=i:-1", "[2,3] {2,4} [2,1]", "[2,8]", "concat", "axis=1"},
    {"Softmax", 7, "", "[N,3,4]", "[N,3,4]", "reshape softmax reshape", "shape=[N,12]"},
    {"Softmax", 11, "axis=i:-1", "[N,3,4]", "[N,3,4]", "softmax", "axis=2"},
    {"Softmax", 13, "axis=i:1", "[N,3,4]", "[N,3,4]", "softmax", "axis=1"},
    {"Pad", 7, "pads=I:0,1,2,0 value=f:1.5", "[3,4]", "[5,5]", "pad", "value=1.5"},
    {"Pad", 11, "mode=s:reflect", "[3,4] =0,1,0,2", "[3,7]", "pad", "mode=\"reflect\""},
    {"Pad", 18, "mode=s:edge", "[3,4,5] =1,2 - =-2", "[3,7,5]", "pad", "pads=[0,1,0,0,2,0]"},
    {"Identity", 13, "", "[3,4]", "[3,4]", "identity", NULL},
    {"Dropout", 7, "ratio=f:0.5", "[3,4]", "[3,4]", "identity", NULL},
    {"Dropout", 13, "", "[3,4] %0.5", "[3,4]", "identity", NULL},
};

static const char *shape_of(fixture *f, xpu_value value) {
    const xpu_value_info *info = xpu_value_at(f->graph, value);
    xpu_text text;
    xpu_text_init(&text, f->arena);
    for (int i = 0; i < info->rank; i++) {
        xpu_text_add(&text, "%s%s", i ? "," : "", xpu_dim_text(&f->graph->dims, info->dims[i], f->arena));
    }
    return xpu_printf(f->arena, "[%s]", text.text);
}

static const char *nodes_of(fixture *f) {
    xpu_text text;
    xpu_text_init(&text, f->arena);
    XPU_FOR_NODES(f->graph, node) {
        xpu_text_add(&text, "%s%s", text.length ? " " : "", xpu_node_at(f->graph, node)->op->name);
    }
    return text.text;
}

static void test_forms(void) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const form *row = &forms[i];
        fixture f;
        begin(&f, row->opset);
        add_node(&f, row->op, row->attrs, row->operands);
        add_output(&f, "y");
        import(&f);
        const char *label = xpu_printf(f.arena, "%s (opset %d) %s %s", row->op, row->opset, row->attrs, row->operands);
        if (!f.graph) {
            expect(label, messages(&f), "");
        } else {
            xpu_text text;
            xpu_text_init(&text, f.arena);
            xpu_graph_text(f.graph, &text);
            expect(label, shape_of(&f, f.graph->outputs.items[0]), row->result);
            expect(label, xpu_value_at(f.graph, f.graph->outputs.items[0])->name, "y");
            expect(label, nodes_of(&f), row->nodes);
            if (row->contains && !strstr(text.text, row->contains)) expect(label, text.text, row->contains);
        }
        end(&f);
    }
}

/* ---- what is refused ---- */

typedef struct {
    const char *op;
    int opset;
    const char *attrs, *operands, *message; /* behind "m.onnx: error " */
} refusal;

static const refusal refusals[] = {
    {"Resize", 13, "", "[2]",
     "[onnx-unsupported-op] node 'n' (Resize-13, #0): operator Resize is not supported\n"
     "  why: the importer has no row for Resize-13\n"
     "  hint: replace it by supported operators (docs/onnx-operators.md lists them), or export the model without it\n"},
    {"Covn", 13, "", "[2]",
     "[onnx-unsupported-op] node 'n' (Covn-13, #0): operator Covn is not supported\n"
     "  why: ONNX has no operator of this name\n"
     "  hint: the nearest one is Conv\n"},
    {"HardSwish", 13, "", "[2]",
     "[onnx-unsupported-op] node 'n' (HardSwish-13, #0): operator HardSwish is not supported\n"
     "  why: opset 13 of ONNX does not have it\n"
     "  hint: export the model again; its opset_import does not fit its nodes\n"},
    {"Relu", 13, "slope=f:1", "[2]",
     "[onnx-attribute] node 'n' (Relu-13, #0): attribute 'slope' is invalid\n"
     "  why: Relu-13 has no such attribute\n"
     "  hint: remove it, or fix the opset_import of the model\n"},
    {"MaxPool", 8, "kernel_shape=I:2 dilations=I:2", "[1,3,9]",
     "[onnx-attribute] node 'n' (MaxPool-8, #0): attribute 'dilations' is invalid\n"
     "  why: MaxPool-8 has no such attribute\n"
     "  hint: remove it, or fix the opset_import of the model\n"},
    {"Concat", 13, "axis=f:1", "[1,3,9]",
     "[onnx-attribute] node 'n' (Concat-13, #0): attribute 'axis' is invalid\n  why: it is not an integer\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Flatten", 9, "axis=i:-1", "[1,3]",
     "[onnx-attribute] node 'n' (Flatten-9, #0): the axis is out of range\n  why: axis -1 of a tensor of rank 2\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Add", 13, "", "[2]",
     "[onnx-operand] node 'n' (Add-13, #0): the node has 1 inputs\n  why: Add-13 takes 2\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Add", 13, "", "- [2]",
     "[onnx-operand] node 'n' (Add-13, #0): input 0 is missing\n  why: Add-13 requires it\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Gemm", 9, "", "[2,2] [2,2]",
     "[onnx-operand] node 'n' (Gemm-9, #0): input 2 is missing\n  why: before opset 11, Gemm requires C\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Gemm", 13, "", "[1,3] {3,5} {2,5}",
     "[onnx-shape] node 'n' (Gemm-13, #0): input 2 cannot be added to the product\n"
     "  why: it has shape [2,5], the product [1,5]\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Add", 13, "", "[2] =1,2",
     "[onnx-dtype] node 'n' (Add-13, #0): input 1 ('w') is int64\n"
     "  why: Add is supported on float32 only\n  hint: export the model in float32\n"},
    {"Clip", 13, "", "[2] [1]",
     "[onnx-unsupported-form] node 'n' (Clip-13, #0): input 1 ('w') is computed at run time\n"
     "  why: Clip needs it as a constant\n"
     "  hint: fold constants when exporting (onnx-simplifier), or export with fixed shapes\n"},
    {"Clip", 13, "", "[2] {2}",
     "[onnx-operand] node 'n' (Clip-13, #0): input 1 ('w') is invalid\n  why: it has 2 elements, not one\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Conv", 13, "auto_pad=s:SAME_UPPER strides=I:2", "[1,3,N] {4,3,3}",
     "[onnx-unsupported-form] node 'n' (Conv-11, #0): the padding depends on the size of the input\n"
     "  why: auto_pad with stride 2 over a dim of size N\n"
     "  hint: give that dim a size, or a step that 2 divides (--shape)\n"},
    {"Conv", 13, "auto_pad=s:SAME", "[1,3,8] {4,3,3}",
     "[onnx-attribute] node 'n' (Conv-11, #0): attribute 'auto_pad' is invalid\n"
     "  why: it is 'SAME'; NOTSET, SAME_UPPER, SAME_LOWER and VALID are defined\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Conv", 13, "kernel_shape=I:5", "[1,3,8] {4,3,3}",
     "[onnx-shape] node 'n' (Conv-11, #0): attribute 'kernel_shape' does not fit the weights\n"
     "  why: the weights have shape [4,3,3]\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Conv", 13, "strides=I:0", "[1,3,8] {4,3,3}",
     "[onnx-attribute] node 'n' (Conv-11, #0): attribute 'strides' is invalid\n"
     "  why: value 0 is 0; 1 to 1048576 are supported\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Conv", 13, "", "[1,3,8,8,8] {4,3,3,3,3}",
     "[onnx-unsupported-form] node 'n' (Conv-11, #0): 3-D is not supported\n"
     "  why: the input has shape [1,3,8,8,8]; [N,C,W] and [N,C,H,W] are supported\n"
     "  hint: export the model with a form that docs/onnx-operators.md lists\n"},
    {"MaxPool", 12, "kernel_shape=I:2 storage_order=i:1", "[1,3,8]",
     "[onnx-unsupported-form] node 'n' (MaxPool-12, #0): storage_order is not supported\n"
     "  why: it is not 0 (row-major)\n"
     "  hint: export the model with a form that docs/onnx-operators.md lists\n"},
    {"MaxPool", 12, "", "[1,3,8]",
     "[onnx-attribute] node 'n' (MaxPool-12, #0): attribute 'kernel_shape' is invalid\n  why: it is missing\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"BatchNormalization", 15, "training_mode=i:1", "[N,3,4] {3} {3} {3} {3}",
     "[onnx-unsupported-form] node 'n' (BatchNormalization-15, #0): the training form is not supported\n"
     "  why: training_mode is 1\n  hint: export the model for inference (model.eval())\n"},
    {"Reshape", 13, "", "[2,6] =5,-1",
     "[onnx-shape] node 'n' (Reshape-13, #0): the target shape is invalid\n"
     "  why: -1 stands for 12 elements over 5, which does not divide them\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Reshape", 13, "", "[N,6] =0,4,-1",
     "[onnx-shape] node 'n' (Reshape-13, #0): the target shape is invalid\n"
     "  why: -1 stands for N*6 elements over N*4, which is not known to divide them\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Reshape", 13, "", "[2,6] =-1,-1",
     "[onnx-shape] node 'n' (Reshape-13, #0): the target shape is invalid\n  why: dim 1 is -1, the second one\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Reshape", 13, "", "[2,6] =2,6,0",
     "[onnx-shape] node 'n' (Reshape-13, #0): the target shape is invalid\n"
     "  why: dim 2 is 0 (keep), but the input has rank 2\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Squeeze", 13, "", "[N,6]",
     "[onnx-unsupported-form] node 'n' (Squeeze-13, #0): the rank of the result depends on the input\n"
     "  why: there are no axes, and dim 0 may be 1: [N,6]\n"
     "  hint: export the model with axes, or fix the dim with --shape\n"},
    {"Squeeze", 13, "", "[2,6] =1",
     "[onnx-shape] node 'n' (Squeeze-13, #0): dim 1 cannot be removed\n  why: the input has shape [2,6]\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Transpose", 13, "perm=I:0,0", "[2,6]",
     "[onnx-attribute] node 'n' (Transpose-13, #0): attribute 'perm' is invalid\n"
     "  why: it is no permutation of the 2 dims of the input\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Pad", 19, "mode=s:wrap", "[2,6] =0,0,1,1",
     "[onnx-unsupported-form] node 'n' (Pad-19, #0): mode 'wrap' is not supported\n"
     "  why: constant, reflect and edge are supported\n"
     "  hint: export the model with a form that docs/onnx-operators.md lists\n"},
    {"Pad", 13, "", "[2,6] =1,1",
     "[onnx-operand] node 'n' (Pad-13, #0): the pads do not fit the input\n  why: 2 values for 2 dims\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"QuantizeLinear", 13, "", "[2] %0",
     "[onnx-operand] node 'n' (QuantizeLinear-13, #0): a scale is invalid\n  why: element 0 of 'w' is 0\n"
     "  hint: quantise with finite scales other than 0\n"},
    {"QuantizeLinear", 10, "", "[2] %inf",
     "[onnx-operand] node 'n' (QuantizeLinear-10, #0): a scale is invalid\n  why: element 0 of 'w' is inf\n"
     "  hint: quantise with finite scales other than 0\n"},
    {"QuantizeLinear", 21, "", "[2] %nan",
     "[onnx-operand] node 'n' (QuantizeLinear-21, #0): a scale is invalid\n  why: element 0 of 'w' is nan\n"
     "  hint: quantise with finite scales other than 0\n"},
    {"Constant", 13, "", "",
     "[onnx-attribute] node 'n' (Constant-13, #0): the constant's value is invalid\n"
     "  why: 0 attributes give it, not one\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
};

/* Errors alone: notes about open dims are tested below. */
static const char *errors(fixture *f) {
    xpu_text text;
    xpu_text_init(&text, f->arena);
    for (size_t i = 0; i < f->diags.count; i++) {
        char line[4096];
        if (f->diags.items[i].severity != XPU_SEVERITY_ERROR) continue;
        xpu_diag_text(&f->diags, i, line, sizeof line);
        xpu_text_add(&text, "%s\n", line);
    }
    return text.text;
}

static void test_refusals(void) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *row = &refusals[i];
        fixture f;
        begin(&f, row->opset);
        add_node(&f, row->op, row->attrs, row->operands);
        add_output(&f, "y");
        import(&f);
        CU_ASSERT_EQUAL(f.status, XPU_EMODEL);
        expect(row->op, errors(&f), xpu_printf(f.arena, "m.onnx: error %s", row->message));
        end(&f);
    }
}

/* ---- operators of com.microsoft ---- */

static void add_bytes(fixture *f, const char *name, int rank, const int64_t *dims) {
    static const uint8_t zeros[64];
    xpu_tensor tensor = {.dtype = XPU_U8, .rank = rank, .data = (void *)(uintptr_t)zeros};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    xpu_onnx_initializer(&f->builder, name, &tensor, 0);
}

static void test_quantised_refusals(void) {
    static const struct {
        const char *op, *inputs, *message;
        float scale;
    } rows[] = {
        {"QGemm", "m s z m s z c s z",
         "[onnx-unsupported-form] node 'n' (com.microsoft.QGemm-1, #0): this shape of C is not supported\n"
         "  why: it is int32[4,1]; int32 of one row or one constant is\n"
         "  hint: write DequantizeLinear, Gemm, QuantizeLinear instead of QGemm\n",
         1},
        {"QGemm", "m s z m s z - s",
         "[onnx-unsupported-form] node 'n' (com.microsoft.QGemm-1, #0): the form with a float32 result is not "
         "supported\n  why: the scale or the zero point of the result is missing\n"
         "  hint: give the result a scale and a zero point\n",
         1},
        {"QGemm", "m s z m s z - s z",
         "[onnx-operand] node 'n' (com.microsoft.QGemm-1, #0): a scale is invalid\n"
         "  why: element 0 of 's' is inf\n  hint: quantise with finite scales\n",
         HUGE_VALF},
        {"QLinearConcat", "s z m s z m s",
         "[onnx-operand] node 'n' (com.microsoft.QLinearConcat-1, #0): the last operand is incomplete\n"
         "  why: 5 inputs follow the result's scale and zero point; operands take three each\n"
         "  hint: export the model again, or check it with onnx.checker\n",
         1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, 13);
        char copy[64], *rest = copy;
        const char *inputs[16] = {NULL};
        snprintf(copy, sizeof copy, "%s", rows[i].inputs);
        for (int n = 0; rest; n++) {
            inputs[n] = strsep(&rest, " ");
            if (inputs[n][0] == '-') inputs[n] = "";
        }
        int32_t c[4] = {0};
        add_bytes(&f, "z", 0, NULL);
        add_bytes(&f, "m", 2, (const int64_t[]){4, 4});
        xpu_onnx_initializer(&f.builder, "s", &(xpu_tensor){.dtype = XPU_F32, .data = (void *)&rows[i].scale}, 0);
        xpu_onnx_initializer(&f.builder, "c", &(xpu_tensor){.dtype = XPU_I32, .rank = 2, .dims = {4, 1}, .data = c}, 0);
        XpuOnnx__NodeProto *node = xpu_onnx_node(&f.builder, rows[i].op, "n", "y", inputs);
        xpu_onnx_domain(&f.builder, node, "com.microsoft");
        if (rows[i].op[1] == 'L') xpu_onnx_int(&f.builder, node, "axis", 0);
        add_output(&f, "y");
        import(&f);
        expect(rows[i].op, errors(&f), xpu_printf(f.arena, "m.onnx: error %s", rows[i].message));
        end(&f);
    }
}

/* ---- whole models ---- */

static XpuOnnx__NodeProto *link_node(fixture *f, const char *op, const char *name, const char *output,
                                     const char *input) {
    return xpu_onnx_node(&f->builder, op, name, output, (const char *const[]){input, NULL});
}

/* All unsupported nodes come at once; what depends on them is not complained about, except if it is unsupported too. */
static void test_all_at_once(void) {
    fixture f;
    begin(&f, 13);
    xpu_onnx_input(&f.builder, "x", 2, (const int64_t[]){2, 3});
    link_node(&f, "Elu", "first", "a", "x");
    link_node(&f, "Relu", "fine", "b", "a");
    XpuOnnx__NodeProto *custom = link_node(&f, "BiasGelu", NULL, "c", "b");
    custom->domain = "com.microsoft";
    link_node(&f, "Einsum", "it's\n", "d", "x");
    add_output(&f, "c");
    add_output(&f, "d");
    import(&f);
    expect(
        "all at once", messages(&f),
        "m.onnx: error [onnx-unsupported-op] node 'first' (Elu-6, #0): operator Elu is not supported\n"
        "  why: the importer has no row for Elu-6\n"
        "  hint: replace it by supported operators (docs/onnx-operators.md lists them), or export the model without "
        "it\n"
        "m.onnx: error [onnx-unsupported-op] node 'BiasGelu_2' (com.microsoft.BiasGelu-0, #2): operator "
        "BiasGelu is not supported\n"
        "  why: operators of domain 'com.microsoft' are not ONNX operators\n"
        "  hint: export with operators of the default domain only\n"
        "m.onnx: error [onnx-unsupported-op] node 'it\\x27s\\x0a' (Einsum-12, #3): operator Einsum is not supported\n"
        "  why: the importer has no row for Einsum-12\n"
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
         "m.onnx: error [onnx-opset] the model's opset is not supported\n  why: it is opset 6; 7 to 22 are supported\n"
         "  hint: export the model with a supported opset_version, or convert it with onnx.version_converter\n"},
        {23, 11,
         "m.onnx: error [onnx-opset] the model's opset is not supported\n  why: it is opset 23; 7 to 22 are supported\n"
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
    if (f.graph) CU_ASSERT_EQUAL(xpu_graph_verify(f.graph, "import", &f.diags), XPU_OK);
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
                  {"ch_PP-OCRv4_det_infer", 0},
                  {"ch_PP-OCRv4_rec_infer", 0},
                  {"ch_ppocr_mobile_v2.0_cls_infer", 0},
                  {"silero_vad", 0},
                  {"silero_vad_16k_op15", 0},
                  {"nnsplit_bidi_lstm", 0},
                  {"stories260K_logits", 0},
                  {"stories260K_generate_loop", 0}};
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

/* The table of supported operators: in order, and the rows that it names exist. */
static void test_table(void) {
    for (uint32_t i = 0; i < xpu_onnx_operator_count(); i++) {
        xpu_onnx_operator op = xpu_onnx_operator_at(i);
        if (i > 0) { /* it is searched by halving */
            xpu_onnx_operator before = xpu_onnx_operator_at(i - 1);
            int domains = strcmp(before.domain, op.domain);
            CU_ASSERT(domains < 0 || (domains == 0 && strcmp(before.name, op.name) < 0));
        }
        CU_ASSERT(op.versions[0] >= 1 && op.remarks != NULL);
        for (int v = 1; op.versions[v]; v++) CU_ASSERT(op.versions[v - 1] < op.versions[v]);
        char copy[128], *rest = copy;
        snprintf(copy, sizeof copy, "%s", op.core);
        for (char *word; op.core[0] && (word = strsep(&rest, ",")) != NULL;) {
            CU_ASSERT_PTR_NOT_NULL(xpu_op_by_name(word + (*word == ' ')));
        }
    }
}

XPU_TEST_MAIN("onnx", {"forms", test_forms}, {"refusals", test_refusals},
              {"refusals of quantised operators", test_quantised_refusals}, {"all at once", test_all_at_once},
              {"order", test_order}, {"outputs", test_outputs}, {"header", test_header}, {"shapes", test_shapes},
              {"default shape", test_default_shape}, {"limits of open dims", test_open_limits}, {"files", test_files},
              {"table", test_table})
