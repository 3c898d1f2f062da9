#include "tools/common/validate_device.h"

#include <string.h>

#include "base/file.h"
#include "base/stop.h"
#include "tools/common/dump.h"
#include "tools/common/inputs.h"

typedef struct {
    xpurt_program *program;
    xpurt_tensor *outputs;
} opened;

static void close_program(void *object) {
    opened *o = object;
    for (uint32_t i = 0; o->program && i < xpurt_output_count(o->program); i++) xpurt_tensor_clear(&o->outputs[i]);
    xpurt_close(o->program);
}

static void give_tensor(xpuc_device_run *run, const char *name, const xpu_tensor *tensor) {
    xpuc_tensor given = {
        .name = name, .dtype = xpu_dtype_name(tensor->dtype), .rank = tensor->rank, .data = tensor->data};
    memcpy(given.dims, tensor->dims, sizeof given.dims);
    run->give(run, &given);
}

static int give_dump(xpu_tool *tool, xpu_arena *arena, const char *folder, xpuc_device_run *run) {
    xpu_dump_list list;
    xpu_status status = xpu_dump_list_open(&list, arena, folder, &tool->diags);
    for (uint32_t i = 0; status == XPU_OK && i < list.items.count; i++) {
        xpu_tensor tensor;
        status = xpu_dump_item_read(&list.items.items[i], arena, &tensor, &tool->diags);
        if (status == XPU_OK) give_tensor(run, list.items.items[i].tensor, &tensor);
    }
    return (int)status;
}

/* The error's text becomes the library's, whose message names the model. */
static int take(xpurt_error *error, char **text) {
    int status = error->status;
    *text = error->text;
    return status;
}

static int run_program(const xpu_validate_device *device, xpu_arena *arena, xpuc_device_run *run, char **text) {
    xpu_tool *tool = device->tool;
    opened *o = XPU_NEW(arena, opened);
    xpurt_error error = {0};
    xpu_chip chip;
    xpurt_run_options with = {.stop = xpu_stop_requested, .seed = device->device.rtl.seed};
    const char *folder = xpu_temporary_folder(arena, &tool->diags);
    if (!folder) return XPU_EIO;
    o->program = xpurt_open_memory(run->program, run->size, run->name, &error);
    if (!o->program) return take(&error, text);
    o->outputs = XPU_NEW_ARRAY(arena, xpurt_tensor, xpurt_output_count(o->program) + 1);
    xpu_arena_defer(arena, close_program, o);
    const char *json = xpurt_chip_json(o->program);
    int status = (int)xpu_chip_parse(arena, json, strlen(json), "chip", &chip, &tool->diags);
    if (!status) status = xpu_device_open(tool, &device->device, &chip, &with.device);
    if (status) return status;
    xpurt_tensor *inputs = XPU_NEW_ARRAY(arena, xpurt_tensor, run->input_count + 1);
    for (uint32_t i = 0; i < run->input_count; i++) {
        const xpuc_tensor *from = &run->inputs[i];
        inputs[i] =
            (xpurt_tensor){.name = from->name, .dtype = from->dtype, .rank = from->rank, .data = (void *)from->data};
        memcpy(inputs[i].dims, from->dims, sizeof inputs[i].dims);
    }
    with.dump_folder = xpu_path_join(arena, folder, "dump");
    xpurt_run(o->program, inputs, run->input_count, o->outputs, &with, &error);
    if (error.status) return take(&error, text);
    xpurt_error_clear(&error);
    for (uint32_t i = 0; i < xpurt_output_count(o->program); i++) {
        xpu_tensor tensor = xpu_from_runtime(&o->outputs[i]);
        give_tensor(run, o->outputs[i].name, &tensor);
    }
    return give_dump(tool, arena, with.dump_folder, run);
}

int xpu_validate_device_run(const xpu_validate_device *device, xpuc_device_run *run, char **text) {
    xpu_arena *arena = xpu_arena_new(&device->tool->mem, "device");
    int status = run_program(device, arena, run, text);
    xpu_arena_free(arena);
    return status;
}
