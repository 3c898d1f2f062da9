#include "tools/common/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tools/common/image.h"

enum { MAX_TOP = 1000, MAX_LABEL_BYTES = 1 << 24 };

static int bad_triple(xpu_tool *tool, const char *option, const char *value) {
    return xpu_tool_usage(tool, xpu_printf(tool->arena, "option '--%s'", option), "these are no numbers",
                          xpu_escape(tool->arena, value, 80),
                          "write three numbers, one for each channel, or one for all: --mean=0.485,0.456,0.406");
}

static int read_scale(xpu_tool *tool, xpu_image_scale *scale) {
    const char *mean = xpu_tool_option(tool, "mean"), *std = xpu_tool_option(tool, "std");
    *scale = (xpu_image_scale){.std = {1, 1, 1}, .is_bgr = xpu_tool_flag(tool, "bgr")};
    if (mean && !xpu_image_triple(mean, scale->mean)) return bad_triple(tool, "mean", mean);
    if (std && !xpu_image_triple(std, scale->std)) return bad_triple(tool, "std", std);
    for (int i = 0; i < 3; i++) {
        if (scale->std[i] != 0) continue;
        return xpu_tool_usage(tool, "option '--std'", "a divisor is 0", xpu_escape(tool->arena, std, 80),
                              "leave --std out to divide by 1");
    }
    return XPU_OK;
}

static int has_tensor(const xpu_inputs *inputs, const char *name) {
    for (uint32_t i = 0; i < inputs->count; i++) {
        if (inputs->items[i].name && strcmp(inputs->items[i].name, name) == 0) return 1;
    }
    return 0;
}

/* The input that `name` is, or where that is NULL the first without a tensor. */
static int find_input(const xpurt_program *program, const xpu_inputs *inputs, const char *name, xpurt_tensor *info) {
    for (uint32_t i = 0; i < xpurt_input_count(program); i++) {
        xpurt_input(program, i, info);
        if (name ? strcmp(info->name, name) == 0 : !has_tensor(inputs, info->name)) return 1;
    }
    return 0;
}

static xpu_status add_picture(xpu_tool *tool, const xpurt_program *program, const char *spec,
                              const xpu_image_scale *scale, xpu_inputs *inputs) {
    const char *equals = strchr(spec, '='), *name = NULL, *path = spec;
    if (equals && !xpu_file_exists(spec)) {
        name = xpu_strndup(tool->arena, spec, (size_t)(equals - spec));
        path = equals + 1;
    }
    xpurt_tensor info;
    if (!find_input(program, inputs, name, &info)) {
        return (xpu_status)xpu_tool_usage(
            tool, "option '--image'", "there is no input for this picture",
            name ? xpu_printf(tool->arena, "the model has no input '%s'", xpu_escape(tool->arena, name, 80))
                 : "all inputs have their tensors",
            "xpuc --describe FILE.xpu lists the inputs");
    }
    xpu_image image;
    xpu_tensor tensor, wanted = xpu_from_runtime(&info);
    xpu_status status = xpu_image_read(tool->arena, path, &image, &tool->diags);
    if (status == XPU_OK) {
        status = xpu_image_tensor(tool->arena, &image, scale, wanted.dtype, wanted.rank, wanted.dims, info.name,
                                  &tensor, &tool->diags);
    }
    if (status == XPU_OK) XPU_PUSH(tool->arena, inputs, xpu_to_runtime(info.name, &tensor));
    return status;
}

xpu_status xpu_picture_inputs(xpu_tool *tool, const xpurt_program *program, xpu_inputs *inputs) {
    xpu_image_scale scale;
    int status = read_scale(tool, &scale);
    for (uint32_t i = 0; i < tool->arguments.count && !status; i++) {
        const xpu_argument *a = &tool->arguments.items[i];
        if (a->name && strcmp(a->name, "image") == 0)
            status = (int)add_picture(tool, program, a->value, &scale, inputs);
    }
    return (xpu_status)status;
}

static void cut_lines(xpu_tool *tool, char *text, xpu_presentation *p) {
    int64_t lines = 1;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    p->labels = XPU_NEW_ARRAY(tool->arena, const char *, lines + 1);
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        line[strcspn(line, "\r")] = '\0';
        p->labels[p->label_count++] = xpu_escape(tool->arena, line, 100);
        line = end ? end + 1 : NULL;
    }
}

xpu_status xpu_presentation_read(xpu_tool *tool, xpu_presentation *p) {
    const char *top = xpu_tool_option(tool, "top"), *path = xpu_tool_option(tool, "labels");
    *p = (xpu_presentation){.top = 5, .asked = top || path};
    if (top) {
        char *end;
        long number = strtol(top, &end, 10);
        if (*end || end == top || number < 1 || number > MAX_TOP) {
            return (xpu_status)xpu_tool_usage(tool, "option '--top'", "this is no number of elements",
                                              xpu_escape(tool->arena, top, 80), "write a number from 1 to 1000");
        }
        p->top = (int)number;
    }
    if (!path) return XPU_OK;
    size_t length;
    char *text = xpu_file_read_all(tool->arena, path, MAX_LABEL_BYTES, &length, &tool->diags);
    if (!text) return xpu_diags_status(&tool->diags);
    cut_lines(tool, text, p);
    return XPU_OK;
}
