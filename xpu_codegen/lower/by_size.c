/* Fields of calls that are a step function of the size of images. */
#include "xpu_codegen/lower/by_size.h"

#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"

/* values[i] for images of sizes->items[i]; unknown where the expression gets too large. */
static xpu_dim by_size(xpu_codegen *cg, const xpu_sizes *sizes, const int64_t *values) {
    xpu_dims *dims = &cg->graph->dims;
    xpu_dim value = xpu_dim_of(cg, values[0]), one = xpu_dim_of(cg, 1);
    for (uint32_t i = 0; i + 1 < sizes->count; i++) {
        const xpu_size *size = &sizes->items[i];
        if (values[i + 1] == values[i]) continue;
        xpu_dim times = xpu_dim_floordiv_const(dims, xpu_dim_add_const(dims, size->measure, -1), size->most);
        xpu_dim is_larger = xpu_dim_op(dims, XPU_DIM_MIN, times, one);
        value = xpu_dim_add(dims, value, xpu_dim_mul_const(dims, is_larger, values[i + 1] - values[i]));
    }
    return value;
}

void xpu_set_by_size(xpu_codegen *cg, const xpu_sizes *sizes, const xpu_sized_field *fields, uint32_t count) {
    int known = 1;
    for (uint32_t i = 0; i < count; i++) known &= by_size(cg, sizes, fields[i].values).id != 0;
    for (uint32_t i = 0; i < count; i++) {
        *fields[i].field = known ? xpu_arg_dim(by_size(cg, sizes, fields[i].values))
                                 : xpu_arg_number(fields[i].values[sizes->count - 1]);
    }
}

struct xpu_task_group xpu_task_of(xpu_codegen *cg, const xpu_byte_tasks *tasks) {
    struct xpu_task_group task;
    xpu_sized_field fields[] = {{.field = &task.tile_c}, {.field = &task.tile_h}, {.field = &task.tile_w}};
    for (uint32_t i = 0; i < tasks->sizes.count; i++) {
        fields[0].values[i] = tasks->items[i].tile_c;
        fields[1].values[i] = tasks->items[i].tile_h;
        fields[2].values[i] = tasks->items[i].tile_w;
    }
    xpu_set_by_size(cg, &tasks->sizes, fields, 3);
    return task;
}

xpu_arg_address xpu_window_scratch(xpu_codegen *cg, uint32_t layer, const xpu_byte_tasks *tasks, int64_t sm_bytes) {
    const char *scratch = xpu_printf(cg->arena, "%s/tiles", cg->program.layers.items[layer].name);
    cg->layers.items[layer].task_cycles = tasks->predicted;
    cg->layers.items[layer].sm_bytes = (uint32_t)sm_bytes;
    cg->layers.items[layer].scratch = xpu_scratch_buffer(cg, layer - (uint32_t)cg->layers.items[layer].begins_early,
                                                         layer, xpu_dim_of(cg, sm_bytes), scratch);
    return xpu_arg_at(cg->layers.items[layer].scratch);
}

void xpu_place_window(xpu_codegen *cg, uint32_t layer, const xpu_byte_tasks *tasks, int64_t sm_bytes,
                      struct xpu_window_i8_call *call) {
    call->sm = xpu_window_scratch(cg, layer, tasks, sm_bytes);
    call->task = xpu_task_of(cg, tasks);
    call->sm_bytes = xpu_arg_number(sm_bytes);
}
