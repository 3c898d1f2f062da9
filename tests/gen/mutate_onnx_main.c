/* Writes a model with one thing changed, and says what, for tests of xpu-validate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/gen/mutate_onnx.h"

static const char usage[] = "usage: mutate_onnx_main MODEL.onnx SEED OUT.onnx [--rename]\n"
                            "SEED 0 changes nothing; --rename gives inner tensors other names. Prints KIND, the "
                            "operator, its node's\nname or OPERATOR_INDEX, and what was changed, with tabs.\n"
                            "Example: mutate_onnx_main tests/models/mnist-8.onnx 3 /tmp/m.onnx\n";

static int run(xpu_arena *arena, char **argv, int rename, xpu_diags *diags) {
    const xpu_file *file = xpu_file_open(arena, argv[1], diags);
    uint64_t seed = strtoull(argv[2], NULL, 10);
    xpu_mutation made = {"none", 0, "nothing"};
    if (!file) return XPU_EIO;
    void *bytes = xpu_alloc(arena, file->size);
    if (xpu_file_read(file, 0, bytes, file->size, diags) != XPU_OK) return XPU_EIO;
    XpuOnnx__ModelProto *model = xpu_onnx__model_proto__unpack(NULL, file->size, bytes);
    if (!model || !model->graph) return XPU_EMODEL;
    /* what is changed lies in the arena: the message is not freed */
    if (seed && !xpu_mutate_onnx(model->graph, seed, arena, &made)) return XPU_EUSAGE;
    const XpuOnnx__NodeProto *node = model->graph->node[made.node];
    const char *name = node->name && node->name[0] ? node->name : xpu_printf(arena, "%s_%u", node->op_type, made.node);
    if (seed) printf("%s\t%s\t%s\t%s\n", made.kind, node->op_type, name, made.what);
    if (rename) xpu_rename_onnx(model->graph, arena);
    size_t length = xpu_onnx__model_proto__get_packed_size(model);
    uint8_t *packed = xpu_alloc(arena, length);
    xpu_onnx__model_proto__pack(model, packed);
    return (int)xpu_file_write(arena, argv[3], packed, length, diags);
}

int main(int argc, char **argv) {
    static xpu_mem mem;
    static xpu_diags diags;
    int rename = argc == 5 && strcmp(argv[4], "--rename") == 0;
    if (argc != 4 + rename) {
        fputs(usage, stderr);
        return XPU_EUSAGE;
    }
    xpu_mem_init(&mem);
    xpu_diags_init(&diags);
    if (setjmp(mem.out_of_memory)) return XPU_EIO;
    int status = run(xpu_arena_new(&mem, "mutation"), argv, rename, &diags);
    xpu_diags_print(&diags, stderr);
    xpu_diags_clear(&diags);
    xpu_mem_release(&mem);
    return status;
}
