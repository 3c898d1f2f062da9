#include "xpu_codegen/lower/elementwise.h"

#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

struct xpu_elementwise_call xpu_elementwise_defaults(void) {
    const xpu_arg_address absent = xpu_arg_absent();
    const xpu_arg_int none = xpu_arg_number(0);
    const xpu_arg_float one = xpu_arg_real(1.0f), zero = xpu_arg_real(0.0f);
    return (struct xpu_elementwise_call){.branch = absent,
                                         .scale = absent,
                                         .bias = absent,
                                         .table = absent,
                                         .y_absmax = absent,
                                         .images = xpu_arg_number(1),
                                         .columns = none,
                                         .x_image = none,
                                         .x_row = none,
                                         .branch_image = none,
                                         .branch_row = none,
                                         .y_image = none,
                                         .y_row = none,
                                         .vector_image = none,
                                         .vectors_computed = none,
                                         .x_type = none,
                                         .branch_type = none,
                                         .y_type = none,
                                         .op = none,
                                         .is_float = none,
                                         .activation = none,
                                         .branch_after = none,
                                         .branch_first = none,
                                         .clips_last = none,
                                         .factor = one,
                                         .low = zero,
                                         .high = zero,
                                         .slope = zero,
                                         .least = none,
                                         .most = none,
                                         .ra = zero,
                                         .rb = zero,
                                         .f = zero,
                                         .zero = none,
                                         .x_zero = none,
                                         .b_zero = none,
                                         .out_scale = one,
                                         .branch_scale = one};
}

xpu_status xpu_lower_elementwise(xpu_codegen *cg, uint32_t layer, const xpu_elementwise_tile *tile,
                                 struct xpu_elementwise_call *call) {
    xpu_describe_layer(cg, layer, XPU_KERNEL_elementwise, xpu_dim_of(cg, 0));
    const char *name = xpu_printf(cg->arena, "%s/tiles", cg->program.layers.items[layer].name);
    cg->layers.items[layer].task_cycles = tile->cycles;
    cg->layers.items[layer].scratch = xpu_scratch_buffer(cg, layer, layer, xpu_dim_of(cg, tile->sm_bytes), name);
    call->sm = xpu_arg_at(cg->layers.items[layer].scratch);
    call->sm_bytes = xpu_arg_number(tile->sm_bytes);
    call->tile = xpu_arg_number(tile->tile);
    return xpu_add_elementwise(cg, layer, call);
}
