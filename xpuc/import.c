/* Which importer reads a model. */
#include <string.h>
#include <strings.h>

#include "frontend/onnx/onnx.h"
#include "xpuc/pipeline.h"

/* Files that are models, or look like ones, and that no importer here reads. */
static const struct {
    const char *ending, *what, *hint;
} refused[] = {
    {".pdmodel", "a PaddlePaddle program", "export it with paddle2onnx"},
    {".json", "a JSON file", "give the model's .onnx file"},
    {".pt", "a PyTorch file", "export it with torch.onnx.export"},
    {".pth", "a PyTorch file", "export it with torch.onnx.export"},
    {".jit", "a TorchScript file", "export it with torch.onnx.export"},
    {".xpu", "a compiled program", "run it with xpu-run, or look into it with xpuc --describe"},
};

xpu_status xpu_import_model(xpu_pipeline *pipeline) {
    const char *ending = strrchr(xpu_path_name(pipeline->path), '.');
    for (size_t i = 0; ending && i < sizeof refused / sizeof *refused; i++) {
        if (strcasecmp(ending, refused[i].ending) != 0) continue;
        return xpu_error(
            pipeline->diags, XPU_EUSAGE, pipeline->path, "model-format", NULL,
            "the file is no model that can be compiled",
            xpu_printf(pipeline->arena, "its name says that it is %s; ONNX models can be read", refused[i].what),
            refused[i].hint);
    }
    return xpu_onnx_import(pipeline->arena, pipeline->path, &pipeline->import, &pipeline->graph, pipeline->diags);
}
