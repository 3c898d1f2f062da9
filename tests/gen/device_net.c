#include "tests/gen/device_net.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "sim/func/driver.h"
#include "tests/gen/random_cnn.h"
#include "xpu_runtime/include/xpurt.h"
#include "xpuc/include/xpuc.h"

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    xpu_random_network network;
    const char *model, *program, *dumps[2]; /* paths; dumps of ref and func */
    xpu_device_net_result *result;
} job;

static int fail(job *j, const char *stage, const char *text) {
    j->result->problem = xpu_printf(j->arena, "%s: %s", stage, text ? text : "failed");
    return 0;
}

static int compile(job *j, const char *chip, const char *precision) {
    xpuc_result result;
    xpuc_error error;
    xpuc_options options = {.chip = chip, .precision = precision};
    int ok = xpuc_compile_to_file(j->model, j->program, &options, &result, &error) == 0;
    if (!ok) fail(j, "compile", error.text);
    xpuc_result_clear(&result);
    xpuc_error_clear(&error);
    return ok;
}

static void keep(job *j, const xpurt_tensor *outputs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        xpu_named_tensor kept = {.name = xpu_strdup(j->arena, outputs[i].name)};
        kept.tensor.dtype = strcmp(outputs[i].dtype, "float32") == 0 ? XPU_F32 : XPU_DTYPE_NONE;
        kept.tensor.rank = outputs[i].rank;
        memcpy(kept.tensor.dims, outputs[i].dims, sizeof kept.tensor.dims);
        kept.tensor.data = xpu_copy(j->arena, outputs[i].data, xpu_tensor_bytes(&kept.tensor));
        XPU_PUSH(j->arena, &j->result->outputs, kept);
    }
}

static int run(job *j, xpurt_program *program, int on_func, int keep_outputs) {
    const xpu_tensor *image = &j->network.input;
    xpurt_error error = {0};
    xpurt_tensor input = {.name = j->network.input_name, .dtype = "float32", .rank = image->rank, .data = image->data};
    memcpy(input.dims, image->dims, sizeof image->dims);
    uint32_t count = xpurt_output_count(program);
    xpurt_tensor *outputs = XPU_NEW_ARRAY(j->arena, xpurt_tensor, count);
    xpurt_run_options options = {.device = on_func ? &xpu_func_driver : NULL, .dump_folder = j->dumps[on_func]};
    int ok = xpurt_run(program, &input, 1, outputs, &options, &error) == 0;
    if (!ok) fail(j, on_func ? "func" : "ref", error.text);
    if (ok && keep_outputs) keep(j, outputs, count);
    for (uint32_t i = 0; i < count; i++) xpurt_tensor_clear(&outputs[i]);
    xpurt_error_clear(&error);
    return ok;
}

/* One layer's files are equal byte by byte. */
static int same_file(job *j, const char *name) {
    enum { LIMIT = 1 << 28 };
    const char *bytes[2];
    size_t lengths[2];
    for (int i = 0; i < 2; i++) {
        bytes[i] =
            xpu_file_read_all(j->arena, xpu_path_join(j->arena, j->dumps[i], name), LIMIT, &lengths[i], j->diags);
        if (!bytes[i]) return fail(j, name, "the layer was not dumped on one of the devices");
    }
    if (lengths[0] == lengths[1] && memcmp(bytes[0], bytes[1], lengths[0]) == 0) return 1;
    return fail(j, name, "func and ref differ");
}

/* In the order of execution, which is that of the names. */
static int compare(job *j) {
    struct dirent **entries;
    int count = scandir(j->dumps[0], &entries, NULL, alphasort), ok = count >= 0;
    for (int i = 0; i < count; i++) {
        size_t length = strlen(entries[i]->d_name);
        int is_layer = length > 4 && strcmp(entries[i]->d_name + length - 4, ".npy") == 0;
        if (ok && is_layer) {
            ok = same_file(j, entries[i]->d_name);
            j->result->layers++;
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return ok;
}

void xpu_device_net(xpu_arena *arena, uint64_t seed, const xpu_device_net_options *options,
                    xpu_device_net_result *result, xpu_diags *diags) {
    static const char *const chips[] = {"nano", "standard", "pro"}, *const precisions[] = {"fp32", "int16"};
    job j = {.arena = arena, .diags = diags, .result = result};
    *result = (xpu_device_net_result){.problem = NULL};
    const char *folder = xpu_temporary_folder(arena, diags);
    xpu_random_cnn(arena, seed, &j.network);
    j.model = xpu_path_join(arena, folder, "net.onnx");
    j.program = xpu_path_join(arena, folder, "net.xpu");
    j.dumps[0] = xpu_path_join(arena, folder, "ref");
    j.dumps[1] = xpu_path_join(arena, folder, "func");
    xpu_file_write(arena, j.model, j.network.model, j.network.model_bytes, diags);
    const char *chip = options->chip ? options->chip : chips[seed % 3];
    if (!compile(&j, chip, options->precision ? options->precision : precisions[seed / 3 % 2])) return;
    xpurt_error error = {0};
    xpurt_program *program = xpurt_open(j.program, &error);
    if (!program) fail(&j, "open", error.text);
    xpurt_error_clear(&error);
    int ok = program && run(&j, program, 0, 0) && run(&j, program, 1, options->keep_outputs) && compare(&j);
    if (ok && !result->layers) fail(&j, "dump", "there is no layer");
    xpurt_close(program);
}
