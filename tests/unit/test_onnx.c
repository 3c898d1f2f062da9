/* The ONNX importer: what each form of each operator becomes, and what is said about those that it cannot take. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ops/graph_text.h"
#include "core/ops/op.h"
#include "tests/unit/onnx_fixture.h"

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
    {"LeakyRelu", 16, "alpha=f:0.25", "[2]", "[2]", "leaky_relu", "alpha=0.25"},
    {"HardSigmoid", 22, "beta=f:0.5", "[2]", "[2]", "hard_sigmoid", "{beta=0.5}"},
    {"Selu", 9, "gamma=f:2 alpha=f:0.5", "[2]", "[2]", "selu", "alpha=0.5, beta=2"},
    {"Shrink", 9, "lambd=f:2", "[2]", "[2]", "shrink", "alpha=2"},
    {"Gelu", 20, "", "[2]", "[2]", "gelu", NULL},
    {"Gelu", 20, "approximate=s:tanh", "[2]", "[2]", "gelu_tanh", NULL},
    {"PRelu", 9, "", "[N,3,4] {3,1}", "[N,3,4]", "prelu", NULL},
    {"Pow", 7, "", "[2,3] {3}", "[2,3]", "pow", NULL},
    {"Pow", 15, "", "[N,3] %2", "[N,3]", "mul", "mul(%x, %x)"},
    {"Mean", 13, "", "[3] [2,1] {2,3}", "[2,3]", "add add div", NULL},
    {"Mean", 8, "", "[3]", "[3]", "identity", NULL},
    {"Sum", 8, "", "[3] [2,1]", "[2,3]", "add", NULL},
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
    {"RoiAlign", 13, "", "[2]",
     "[onnx-unsupported-op] node 'n' (RoiAlign-10, #0): operator RoiAlign is not supported\n"
     "  why: the importer has no row for RoiAlign-10\n"
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
    {"Softmax", 11, "axis=i:2", "[1,3]",
     "[onnx-unsupported-form] node 'n' (Softmax-11, #0): the softmax is over nothing\n  why: axis 2 of a tensor of "
     "rank 2\n"
     "  hint: export the model with a form that docs/onnx-operators.md lists\n"},
    {"Transpose", 13, "perm=I:0,2", "[2,3]",
     "[onnx-attribute] node 'n' (Transpose-13, #0): attribute 'perm' is invalid\n"
     "  why: it is no permutation of the 2 dims of the input\n"
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
     "[dtype-operand] node 'n' (Add-13, #0): add does not take these element types\n"
     "  why: they are float32, int64\n  hint: it takes float32, float16, bfloat16 or integers\n"},
    {"Clip", 13, "", "[2] [1]",
     "[onnx-unsupported-form] node 'n' (Clip-13, #0): input 1 ('w') is computed at run time\n"
     "  why: Clip needs it as a constant\n"
     "  hint: fold constants when exporting (onnx-simplifier), or export with fixed shapes\n"},
    {"PRelu", 9, "", "[3] [2,3]",
     "[onnx-shape] node 'n' (PRelu-9, #0): an operand does not broadcast to the first one\n"
     "  why: the first one is [3], together they are [2,3]\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Gelu", 20, "approximate=s:fast", "[3]",
     "[onnx-attribute] node 'n' (Gelu-20, #0): attribute 'approximate' is invalid\n"
     "  why: \"none\" and \"tanh\" are defined\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
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
    {"Attention", 23, "scale=f:0", "[1,2,3,4] [1,2,3,4] [1,2,3,4]",
     "[onnx-attribute] node 'n' (Attention-23, #0): attribute 'scale' is invalid\n  why: it is not above 0\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"ReverseSequence", 10, "", "[3] =1,1,1",
     "[onnx-operand] node 'n' (ReverseSequence-10, #0): the operands are invalid\n"
     "  why: they are float32[3] and int64[3]; rank 2 and more, and int64 of rank 1 are defined\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"ReverseSequence", 10, "", "[2,3] {2}",
     "[onnx-operand] node 'n' (ReverseSequence-10, #0): the operands are invalid\n"
     "  why: they are float32[2,3] and float32[2]; rank 2 and more, and int64 of rank 1 are defined\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"LSTM", 14, "hidden_size=i:4", "[5,2,3] {1,16,3} {1,16,4} - =5,5",
     "[onnx-dtype] node 'n' (LSTM-14, #0): input 4 is int64\n  why: lengths are int32\n"
     "  hint: export the model in float32\n"},
    {"Range", 11, "", "%0 %2147483648 %1",
     "[onnx-operand] node 'n' (Range-11, #0): the range has no end\n"
     "  why: its step is 0 or not a number, or it has 2^31 elements and more\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Scan", 11, "num_scan_inputs=i:0", "[3,2]",
     "[onnx-attribute] node 'n' (Scan-11, #0): attribute 'num_scan_inputs' is invalid\n"
     "  why: it is 0; there are 1 operands and 1 results\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Scan", 11, "num_scan_inputs=i:2", "[3,2]",
     "[onnx-attribute] node 'n' (Scan-11, #0): attribute 'num_scan_inputs' is invalid\n"
     "  why: it is 2; there are 1 operands and 1 results\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Resize", 13, "coordinate_transformation_mode=s:tf_crop_and_resize", "[1,1,4,4] {3} {4}",
     "[onnx-operand] node 'n' (Resize-13, #0): the region of interest does not fit\n"
     "  why: it has 3 numbers for 4 axes\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Resize", 13, "coordinate_transformation_mode=s:half_way", "[1,1,4,4] - {4}",
     "[onnx-attribute] node 'n' (Resize-13, #0): attribute 'coordinate_transformation_mode' is invalid\n"
     "  why: it is 'half_way'\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
    {"Constant", 13, "", "",
     "[onnx-attribute] node 'n' (Constant-13, #0): the constant's value is invalid\n"
     "  why: 0 attributes give it, not one\n"
     "  hint: export the model again, or check it with onnx.checker\n"},
};

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

/* Columns first up to opset 18, for strides along a row of 1 and 2, in rows that onnxruntime's buffer holds. */
static void test_order_of_averages(void) {
    static const struct {
        int opset;
        int64_t width, kernel[2], stride, by_columns;
    } cases[] = {{11, 16, {3, 3}, 1, 1}, {18, 16, {2, 2}, 2, 1},   {19, 16, {2, 2}, 2, 0},
                 {22, 16, {3, 3}, 1, 0}, {13, 16, {3, 3}, 3, 0},   {13, 16, {1, 3}, 1, 0},
                 {13, 16, {3, 1}, 1, 0}, {13, 2045, {3, 3}, 1, 1}, {13, 2046, {3, 3}, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        begin(&f, cases[i].opset);
        xpu_onnx_input(&f.builder, "x", 4, (const int64_t[]){1, 2, 16, cases[i].width});
        XpuOnnx__NodeProto *node = xpu_onnx_node(&f.builder, "AveragePool", "n", "y", (const char *const[]){"x", NULL});
        xpu_onnx_ints(&f.builder, node, "kernel_shape", cases[i].kernel, 2);
        xpu_onnx_ints(&f.builder, node, "strides", (const int64_t[]){1, cases[i].stride}, 2);
        xpu_onnx_output(&f.builder, "y", 4, (const int64_t[]){-1, -1, -1, -1});
        import(&f);
        CU_ASSERT_EQUAL_FATAL(f.status, XPU_OK);
        CU_ASSERT_EQUAL(xpu_node_int(f.graph, xpu_graph_first(f.graph), XPU_ATTR_BY_COLUMNS), cases[i].by_columns);
        end(&f);
    }
}

/* Values that converters make give way to a later one of the model that has their name. */
static void test_names(void) {
    static const char *const names[] = {"y", "y/1", "v1", "v2"};
    fixture f;
    begin(&f, 20);
    add_node(&f, "IsInf", "", "[2]");
    for (int i = 1; i < 4; i++) xpu_onnx_node(&f.builder, "Relu", names[i], names[i], (const char *const[]){"x", NULL});
    for (int i = 0; i < 4; i++) add_output(&f, names[i]);
    import(&f);
    CU_ASSERT_EQUAL_FATAL(f.status, XPU_OK);
    for (uint32_t i = 0; i < 4; i++) {
        expect("output", xpu_value_at(f.graph, f.graph->outputs.items[i])->name, names[i]);
    }
    end(&f);
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
            word += *word == ' ';
            CU_ASSERT(strcmp(word, "elementwise") == 0 || xpu_op_by_name(word)); /* rows of elementwise.def */
        }
    }
}

XPU_TEST_MAIN("onnx", {"forms", test_forms}, {"refusals", test_refusals},
              {"refusals of quantised operators", test_quantised_refusals},
              {"order of averages", test_order_of_averages}, {"names", test_names}, {"table", test_table})
