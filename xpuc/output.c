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

static xpu_output *open_output(xpu_pipeline *p, const char *path, const char *option) {
    xpu_output *output = xpu_output_open(p->arena, path, p->diags);
    if (output) xpu_output_label(output, option);
    return output;
}

xpu_status xpu_open_outputs(xpu_pipeline *p) {
    const char *const options[] = {"--output", "--report"}, *const paths[] = {p->output, p->wanted->report};
    if (!p->built) xpu_keep(p->arena, p->path);
    for (int i = 0; i < 2; i++) {
        const char *kept = paths[i] ? xpu_kept_path(xpu_arena_mem(p->arena), paths[i]) : NULL;
        if (kept) xpu_kept_error(p->arena, p->diags, options[i], paths[i], kept);
    }
    if (paths[0] && paths[1] && xpu_paths_clash(paths[0], paths[1])) {
        xpu_error(p->diags, XPU_EUSAGE, NULL, "option", options[1], "the report and the result have one name",
                  xpu_printf(p->arena, "--report is '%s', --output is '%s'", xpu_escape(p->arena, paths[1], 200),
                             xpu_escape(p->arena, paths[0], 200)),
                  "give one of them another name");
    }
    if (p->diags->errors) return XPU_EUSAGE;
    if (paths[0]) p->file = open_output(p, paths[0], options[0]);
    if (paths[1]) p->report_file = open_output(p, paths[1], options[1]);
    return (paths[0] && !p->file) || (paths[1] && !p->report_file) ? xpu_diags_status(p->diags) : XPU_OK;
}

xpu_status xpu_allow_outputs(xpu_pipeline *p) {
    xpu_status status = p->file ? xpu_output_allowed(p->file) : XPU_OK;
    xpu_status report = p->report_file ? xpu_output_allowed(p->report_file) : XPU_OK;
    return status == XPU_OK ? report : status;
}

xpu_status xpu_commit_outputs(xpu_pipeline *p) {
    xpu_output *outputs[2];
    size_t count = 0;
    if (p->file) outputs[count++] = p->file;
    if (p->report_file) xpu_json_print(p->arena, p->report, outputs[count++] = p->report_file);
    return xpu_outputs_commit(outputs, count);
}
