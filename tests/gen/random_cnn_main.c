/* Writes one random network and its input, for onnxruntime and for looking at. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/npy.h"
#include "tests/gen/random_cnn.h"

static const char usage[] = "usage: random_cnn_main [--quantised] SEED OUT.onnx OUT_input.npz\n"
                            "Writes the random CNN of SEED (0 to 2^64 - 1) and a matching input \"x\".\n"
                            "Example: random_cnn_main 7 net.onnx net_input.npz\n";

static xpu_status write_network(xpu_mem *mem, int is_quantised, uint64_t seed, const char *model_path,
                                const char *input_path, xpu_diags *diags) {
    xpu_arena *arena = xpu_arena_new(mem, "network");
    xpu_random_network network;
    xpu_random_quantised quantised;
    if (is_quantised) {
        xpu_random_qcnn(arena, seed, &quantised);
        network = quantised.network;
    } else {
        xpu_random_cnn(arena, seed, &network);
    }
    xpu_status status = xpu_file_write(arena, model_path, network.model, network.model_bytes, diags);
    if (status) return status;
    xpu_named_tensor input = {network.input_name, network.input};
    status = xpu_npz_write(arena, input_path, &input, 1, diags);
    if (status) return status;
    printf("%s: %zu bytes, opset %d; input %s\n", model_path, network.model_bytes, network.opset, input_path);
    return XPU_OK;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "--help")) {
        fputs(usage, stdout);
        return XPU_OK;
    }
    const int is_quantised = argc > 1 && strcmp(argv[1], "--quantised") == 0, count = argc - is_quantised;
    char **const arguments = argv + is_quantised;
    char *end = NULL;
    errno = 0;
    uint64_t seed = count == 4 ? strtoull(arguments[1], &end, 10) : 0;
    if (count != 4 || errno || end == arguments[1] || *end || arguments[1][0] == '-') {
        fputs(usage, stderr);
        return XPU_EUSAGE;
    }
    xpu_diags diags;
    xpu_mem mem;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    xpu_status status;
    if (setjmp(mem.out_of_memory))
        status = xpu_error_oom(&diags);
    else
        status = write_network(&mem, is_quantised, seed, arguments[2], arguments[3], &diags);
    xpu_diags_print(&diags, stderr);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return (int)status;
}
