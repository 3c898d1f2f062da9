/* xpu-convert: a model of one framework as a file of another. Everything happens in libxpuc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tools/common/tool.h"
#include "xpuc/include/xpuc.h"

static const xpu_option options[] = {
    {"output", 'o', "FILE", "the file to write; its ending says the format: .onnx, .pdmodel or .json (and .pdiparams)",
     XPU_SEEKS},
    {"opset", 0, "N", "ONNX: the opset, 13 to 28 (the first from 17 on that has all operators)"},
    {"external-data", 0, NULL, "ONNX: weights in OUT.onnx.data, as they are above 2 GiB at any rate"},
    {"shape", 0, "INPUT=DIMS", "an input's dims: x=N,3,32..224:32,64; may be given for each input"},
    {"value", 0, "INPUT=NUMBERS", "what an input of integers holds: sr=16000; for each such input"},
    {"bound", 0, "NAME=N", "a size that only the run knows is at most N: its symbol, or the tensor that says it"},
    {"params", 0, "FILE", "the parameters of a PaddlePaddle program (found beside it)", XPU_READS},
    {NULL, 0, NULL, NULL},
};

static const xpu_command command = {
    .tool = "xpu-convert",
    .usage = "MODEL -o OUT.onnx [options]",
    .about = "Writes a neural network (an ONNX file or a PaddlePaddle model) in another format.",
    .example = "xpu-convert inference.pdmodel -o model.onnx\n"
               "xpu-convert model.onnx -o model.pdmodel\n"
               "xpu-convert model.onnx --shape=x=1,3,224,224 --opset=19 -o fixed.onnx",
    .options = options,
    .words = XPU_READS,
};

static int read_opset(xpu_tool *tool, int *opset) {
    const char *text = xpu_tool_option(tool, "opset");
    char *end = NULL;
    const long value = text ? strtol(text, &end, 10) : 0;
    *opset = (int)value;
    if (!text || (text[0] >= '0' && text[0] <= '9' && !*end && value > 0 && value < 1000)) return 0;
    return xpu_tool_usage(tool, "option '--opset'", "this is no opset", xpu_escape(tool->arena, text, 80),
                          "write a number: --opset=17");
}

static int run(xpu_tool *tool) {
    const char *model = xpu_tool_word(tool, 0), *output = xpu_tool_option(tool, "output");
    xpuc_options wanted = {.params = xpu_tool_option(tool, "params"),
                           .external_data = xpu_tool_flag(tool, "external-data"),
                           .shapes = xpu_tool_options(tool, "shape"),
                           .values = xpu_tool_options(tool, "value"),
                           .bounds = xpu_tool_options(tool, "bound"),
                           .group_messages = !tool->verbose};
    if (xpu_tool_words(tool) != 1)
        return xpu_tool_usage(tool, NULL, "one model is converted",
                              xpu_printf(tool->arena, "%u are given", xpu_tool_words(tool)),
                              "write xpu-convert MODEL -o OUT.onnx");
    if (!output)
        return xpu_tool_usage(tool, NULL, "there is no file to write", "--output is missing", "add -o OUT.onnx");
    int status = read_opset(tool, &wanted.opset);
    if (status) return status;
    xpuc_result result;
    xpuc_error error;
    status = xpuc_convert(model, output, &wanted, &result, &error);
    if (result.summary && !tool->quiet) printf("%s\n", xpu_tool_path(tool, result.summary));
    xpu_tool_report(tool, status, error.text);
    xpuc_error_clear(&error);
    xpuc_result_clear(&result);
    return status;
}

int main(int argc, char **argv) {
    return xpu_tool_main(&command, argc, argv, run);
}
