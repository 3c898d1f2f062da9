/* The target's file: at its place, whole or not at all, or in memory. */
#include <string.h>

#include "xpuc/pipeline.h"

static const char *file_in_temporary_folder(xpu_pipeline *p) {
    const char *folder = xpu_temporary_folder(p->arena, p->diags);
    return folder ? xpu_path_join(p->arena, folder, "program") : NULL;
}

static xpu_status copy(xpu_pipeline *p, const char *from, xpu_output *to) {
    enum { CHUNK = 1 << 20 };
    char *chunk = xpu_alloc(p->arena, CHUNK);
    xpu_file *file = xpu_file_open(p->arena, from, p->diags);
    if (!file) return XPU_EIO;
    for (uint64_t at = 0; at < file->size; at += CHUNK) {
        size_t length = file->size - at < CHUNK ? (size_t)(file->size - at) : CHUNK;
        if (xpu_file_read(file, at, chunk, length, p->diags) != XPU_OK) return XPU_EIO;
        xpu_output_write(to, chunk, length);
    }
    return XPU_OK;
}

static xpu_status to_memory(xpu_pipeline *p) {
    const char *path = file_in_temporary_folder(p);
    if (!path) return XPU_EIO;
    xpu_status status = p->target->pack(&p->job, p->sections, path, p->facts);
    if (status != XPU_OK) return status;
    p->bytes = xpu_file_read_all(p->arena, path, SIZE_MAX, &p->size, p->diags);
    return p->bytes ? XPU_OK : XPU_EIO;
}

xpu_status xpu_pack_output(xpu_pipeline *p) {
    if (!p->output) return to_memory(p);
    /* What is no regular file has no temporary name: its own name then stands for it. */
    const char *path = xpu_output_temporary(p->file);
    int direct = strcmp(path, p->output) == 0;
    if (direct) path = file_in_temporary_folder(p);
    if (!path) return XPU_EIO;
    xpu_status status = p->target->pack(&p->job, p->sections, path, p->facts);
    xpu_diags_rename_file(p->diags, path, p->output);
    return status == XPU_OK && direct ? copy(p, path, p->file) : status;
}

/* An output that would take the place of another file. */
static void check_name(xpu_pipeline *p, const char *option, const char *path, const char *what, const char *other,
                       const char *other_path) {
    if (!path || !other_path || !xpu_paths_clash(path, other_path)) return;
    xpu_error(p->diags, XPU_EUSAGE, NULL, "option", option, what,
              xpu_printf(p->arena, "%s is '%s', %s is '%s'", option, xpu_escape(p->arena, path, 200), other,
                         xpu_escape(p->arena, other_path, 200)),
              "give one of them another name");
}

xpu_status xpu_open_outputs(xpu_pipeline *p) {
    const char *report = p->wanted->report;
    check_name(p, "--report", report, "the report and the result have one name", "--output", p->output);
    check_name(p, "--report", report, "the report and the model have one name", "the model", p->path);
    check_name(p, "--output", p->output, "the result and the model have one name", "the model", p->path);
    if (p->diags->errors) return XPU_EUSAGE;
    if (p->output) p->file = xpu_output_open(p->arena, p->output, p->diags);
    if (report) p->report_file = xpu_output_open(p->arena, report, p->diags);
    return (p->output && !p->file) || (report && !p->report_file) ? XPU_EIO : XPU_OK;
}

xpu_status xpu_commit_outputs(xpu_pipeline *p) {
    xpu_output *outputs[2];
    size_t count = 0;
    if (p->file) outputs[count++] = p->file;
    if (p->report_file) xpu_json_print(p->arena, p->report, outputs[count++] = p->report_file);
    return xpu_outputs_commit(outputs, count);
}
