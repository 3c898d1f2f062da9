/* xpuc_convert: a model of one framework as a file of another. */
#include <string.h>
#include <strings.h>

#include "convert/convert.h"
#include "xpuc/convert.h"

static const char *ending_of(const char *path) {
    const char *dot = strrchr(xpu_path_name(path), '.');
    return dot ? dot : "";
}

static xpu_status bad_output(const xpu_pipeline *p) {
    return xpu_error(p->diags, XPU_EUSAGE, NULL, "convert-format", "option '--output'",
                     "the output's name does not say which format is wanted",
                     xpu_printf(p->arena, "it is '%s'", xpu_escape(p->arena, p->output, 200)),
                     "end it with .onnx, .pdmodel or .json");
}

static xpu_status check_opset(const xpu_pipeline *p) {
    const int opset = p->wanted->opset;
    if (!opset || (opset >= XPU_CONVERT_MIN_OPSET && opset <= XPU_CONVERT_MAX_OPSET)) return XPU_OK;
    return xpu_error(
        p->diags, XPU_EUSAGE, NULL, "option", "option '--opset'", "the opset cannot be written",
        xpu_printf(p->arena, "it is %d; %d to %d are written", opset, XPU_CONVERT_MIN_OPSET, XPU_CONVERT_MAX_OPSET),
        "leave it out for the first one that has all operators");
}

static xpu_status check_effect(const xpu_pipeline *p, int is_onnx) {
    const char *option = p->wanted->opset ? "--opset" : p->wanted->external_data ? "--external-data" : NULL;
    if (is_onnx || !option) return XPU_OK;
    return xpu_error(p->diags, XPU_EUSAGE, NULL, "usage", xpu_printf(p->arena, "option '%s'", option),
                     "the option has no effect on this format", "it is of ONNX files",
                     "leave it out, or end the output's name with .onnx");
}

static xpu_output *open_output(xpu_pipeline *p, const char *path) {
    xpu_keep(p->arena, p->path);
    const char *kept = xpu_kept_path(xpu_arena_mem(p->arena), path);
    if (kept) {
        xpu_kept_error(p->arena, p->diags, "--output", path, kept);
        return NULL;
    }
    xpu_output *output = xpu_output_open(p->arena, path, p->diags);
    if (output) xpu_output_label(output, "option '--output'");
    return output;
}

static xpu_status write_onnx(xpu_pipeline *p) {
    const xpu_convert_options options = {.opset = p->wanted->opset, .is_external = p->wanted->external_data};
    xpu_output *outputs[2];
    xpu_status status = xpu_convert_onnx(p->arena, p->graph, p->output, p->file, &outputs[0], &options, p->diags);
    if (status != XPU_OK) return status;
    const size_t others = outputs[0] != NULL;
    outputs[others] = p->file;
    return xpu_outputs_commit(outputs, others + 1);
}

/* "model.pdmodel" has its parameters in "model.pdiparams". */
static xpu_output *open_parameters(xpu_pipeline *p) {
    const int length = (int)(strlen(p->output) - strlen(ending_of(p->output)));
    return open_output(p, xpu_printf(p->arena, "%.*s.pdiparams", length, p->output));
}

static xpu_status write_paddle(xpu_pipeline *p, int is_pir) {
    xpu_output *outputs[] = {open_parameters(p), p->file};
    if (!outputs[0]) return xpu_diags_status(p->diags);
    xpu_status status = xpu_output_allowed(outputs[0]);
    if (status == XPU_OK)
        status = (is_pir ? xpu_convert_pir : xpu_convert_paddle)(p->arena, p->graph, p->file, outputs[0], p->diags);
    if (status != XPU_OK) return status;
    const size_t first = xpu_output_bytes(outputs[0]) ? 0 : 1; /* PaddlePaddle reads no file without parameters */
    return xpu_outputs_commit(outputs + first, 2 - first);
}

static xpu_status write_desc(xpu_pipeline *p) {
    return write_paddle(p, 0);
}

static xpu_status write_pir(xpu_pipeline *p) {
    return write_paddle(p, 1);
}

static const struct {
    const char *ending;
    xpu_status (*write)(xpu_pipeline *);
} formats[] = {{".onnx", write_onnx}, {".pdmodel", write_desc}, {".json", write_pir}};

xpu_status xpu_convert(xpu_pipeline *p) {
    xpu_status (*write)(xpu_pipeline *) = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcasecmp(ending_of(p->output), formats[i].ending) == 0) write = formats[i].write;
    }
    xpu_status status = xpu_check_format(p);
    if (status == XPU_OK) status = xpu_check_convert_options(p);
    if (status == XPU_OK) status = check_opset(p);
    if (status == XPU_OK && !write) status = bad_output(p);
    if (status == XPU_OK) status = check_effect(p, write == write_onnx);
    if (status == XPU_OK && !(p->file = open_output(p, p->output))) status = xpu_diags_status(p->diags);
    if (status == XPU_OK) status = xpu_import_model(p);
    if (status == XPU_OK) xpu_diags_drop_notes(p->diags); /* they are for who compiles */
    if (status == XPU_OK) status = xpu_output_allowed(p->file);
    if (status == XPU_OK) status = xpu_convert_prepare(p->graph, p->diags);
    if (status != XPU_OK) return status;
    const uint32_t nodes = xpu_count_nodes(p->graph);
    if (xpu_stopped(p->arena))
        status = xpu_error_stopped(p->diags, p->path, NULL, "the model was read; nothing is written");
    if (status == XPU_OK) status = write(p);
    p->text = xpu_printf(p->arena, "%s: %u operators, %.2f s", p->output, nodes, xpu_seconds() - p->started);
    return status;
}
