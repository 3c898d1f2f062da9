/*
 * ResNet-50's layer3.1 at int8 with operands in L3. Core 0 queues three lists per layer and engine: DMA0 loads the
 * whole image and, tile by tile of 32 output channels and one piece ahead, weights and residual into SM; the tensor
 * engine multiplies, adds the residual and rounds; DMA1 stores each tile of the result.
 */
#include "tests/rtl/bench/bench.h"
#include "xpu_runtime/include/xpu_device.h"

/* SM. Images begin at 0; each of the rest is two slots. */
enum {
    IMAGE_AT = XPU_SM_BASE,
    RESULT_AT = XPU_SM_BASE + 0x39000,
    RESIDUAL_AT = XPU_SM_BASE + 0x3c100,
    TILE_BYTES = RESNET_PIXELS * RESNET_COLUMNS
};
static const uint32_t weights_at[RESNET_LAYERS] = {XPU_SM_BASE + 0x31000, XPU_SM_BASE + 0x10000, XPU_SM_BASE + 0x34000};

/* How many descriptors of each kind have been written: what their counters will reach. It stands on the stack, that is
 * in LM; static variables of a bare program are in GM. */
typedef struct {
    uint32_t loads, tensors, stores;
    uint32_t *next; /* in LM, where the next descriptor is to stand */
    uint32_t *list; /* the first that no engine has been told of */
} lists;

int main(void);

static void tell(lists *q, uint32_t engine) {
    uint32_t count = (uint32_t)(q->next - q->list) / XPU_DESC_WORDS;
    mfence();
    xpu_reg_store(XPU_REG_DOORBELL_ADDRESS + 16 * engine, xpu_lm_address(q->list));
    xpu_reg_store(XPU_REG_DOORBELL_COUNT + 16 * engine, count);
    q->list = q->next;
}

/* `rows` rows of `bytes` bytes, after both counters. */
static void copy(lists *q, uint32_t to, uint32_t to_stride, uint32_t from, uint32_t from_stride, uint32_t rows,
                 uint32_t bytes, uint32_t tensors, uint32_t stores, uint32_t signal) {
    xpu_desc_copy d = {.wait0 = XPU_COUNTER_TENSOR,
                       .wait0_value = tensors,
                       .wait1 = XPU_COUNTER_STORE,
                       .wait1_value = stores,
                       .signal = signal,
                       .signal_add = 1,
                       .src_type = XPU_TYPE_I32,
                       .dst_type = XPU_TYPE_I32,
                       .src = from,
                       .dst = to,
                       .size0 = 1,
                       .size1 = 1,
                       .size2 = rows,
                       .size3 = bytes / 4,
                       .src_stride2 = (int32_t)from_stride,
                       .dst_stride2 = (int32_t)to_stride,
                       .src_stride3 = 4,
                       .dst_stride3 = 4};
    xpu_desc_copy_pack(q->next, &d);
    q->next += XPU_DESC_WORDS;
}

static void load(lists *q, uint32_t to, uint32_t to_stride, uint32_t from, uint32_t from_stride, uint32_t rows,
                 uint32_t bytes, uint32_t tensors, uint32_t stores) {
    copy(q, to, to_stride, from, from_stride, rows, bytes, tensors, stores, XPU_COUNTER_LOAD);
    q->loads++;
}

/* What all tiles of a layer share. */
static void describe(xpu_desc_tensor *d, const resnet_layer *l, uint32_t index) {
    uint32_t small = RESNET_SMALL + index * RESNET_SMALL_STRIDE;
    *d = (xpu_desc_tensor){.layer = index,
                           .wait0 = XPU_COUNTER_LOAD,
                           .wait1 = XPU_COUNTER_STORE,
                           .signal = XPU_COUNTER_TENSOR,
                           .signal_add = 1,
                           .params = small,
                           .y_type = XPU_TYPE_I8,
                           .branch_type = XPU_TYPE_I8,
                           .columns = RESNET_COLUMNS,
                           .oh = RESNET_EXTENT,
                           .ow = RESNET_EXTENT,
                           .tile_rows = RESNET_EXTENT,
                           .tile_cols = RESNET_EXTENT,
                           .x_pixel_stride = (int32_t)l->channels,
                           .x_row_stride = (int32_t)(RESNET_EXTENT * l->channels),
                           .y_pixel_stride = RESNET_COLUMNS,
                           .y_row_stride = RESNET_EXTENT * RESNET_COLUMNS,
                           .branch_pixel_stride = RESNET_COLUMNS,
                           .branch_row_stride = RESNET_EXTENT * RESNET_COLUMNS,
                           .w_row_stride = RESNET_COLUMNS,
                           .channels = l->channels / l->parts,
                           .kh = l->kernel,
                           .kw = l->kernel,
                           .stride_h = 1,
                           .stride_w = 1,
                           .dilation_h = 1,
                           .dilation_w = 1,
                           .pad_top = (int32_t)(l->kernel / 2),
                           .pad_left = (int32_t)(l->kernel / 2),
                           .mode = XPU_OPERANDS_8X8,
                           .post_mode = XPU_POST_QUANTISED};
}

static void run(lists *q, const resnet_layer *l, uint32_t index, int early) {
    uint32_t depth = l->kernel * l->kernel * l->channels / l->parts, bytes = depth * RESNET_COLUMNS;
    uint32_t pieces = l->out / RESNET_COLUMNS * l->parts, image = 0;
    uint32_t tensors = q->tensors, stores = q->stores, loads = q->loads;
    /* Weights and residual of two pieces, the image, the other pieces; a slot is free when its piece is multiplied. */
    for (uint32_t piece = 0; piece < pieces; piece++) {
        uint32_t slot = piece % 2, tile = piece / l->parts;
        uint32_t before = piece >= 2 ? tensors + piece - 1 : early ? 0 : tensors;
        load(q, weights_at[index] + slot * bytes, 0, l->weights + piece * bytes, 0, 1, bytes, before, 0);
        if (l->residual)
            load(q, RESIDUAL_AT + slot * TILE_BYTES, RESNET_COLUMNS, l->residual + tile * RESNET_COLUMNS, l->out,
                 RESNET_PIXELS, RESNET_COLUMNS, before, 0);
        if (piece != 1) continue;
        load(q, IMAGE_AT, 0, l->input, 0, 1, RESNET_PIXELS * l->channels, tensors, stores);
        image = q->loads;
        tell(q, XPU_ENGINE_DMA0);
    }
    tell(q, XPU_ENGINE_DMA0);
    xpu_desc_tensor d;
    describe(&d, l, index);
    for (uint32_t piece = 0; piece < pieces; piece++) {
        uint32_t slot = piece % 2, tile = piece / l->parts, part = piece % l->parts;
        uint32_t loaded = loads + (piece + 1) * (l->residual ? 2 : 1) + (piece >= 2 ? 1 : 0);
        uint32_t small = RESNET_SMALL + index * RESNET_SMALL_STRIDE + 4 * RESNET_COLUMNS * tile;
        d.wait0_value = loaded < image ? image : loaded;
        d.wait1_value = tile >= 2 ? stores + tile - 1 : stores;
        d.accumulate = part != 0, d.drain = part + 1 == l->parts, d.bank = tile % 2;
        d.x = IMAGE_AT + part * d.channels, d.w = weights_at[index] + slot * bytes;
        d.y = RESULT_AT + tile % 2 * TILE_BYTES, d.branch = l->residual ? RESIDUAL_AT + slot * TILE_BYTES : 0;
        d.scale = small + RESNET_SCALE, d.start = part == 0 ? small + RESNET_BIAS : 0;
        xpu_desc_tensor_pack(q->next, &d);
        q->next += XPU_DESC_WORDS, q->tensors++;
    }
    tell(q, XPU_ENGINE_TENSOR);
    for (uint32_t tile = 0; tile < l->out / RESNET_COLUMNS; tile++, q->stores++)
        copy(q, l->output + tile * RESNET_COLUMNS, l->out, RESULT_AT + tile % 2 * TILE_BYTES, RESNET_COLUMNS,
             RESNET_PIXELS, RESNET_COLUMNS, tensors + (tile + 1) * l->parts, 0, XPU_COUNTER_STORE);
    tell(q, XPU_ENGINE_DMA1);
}

int main(void) {
    static const resnet_layer layers[RESNET_LAYERS] = {RESNET_TABLE};
    lists q = {.next = (uint32_t *)(uintptr_t)XPU_LM_BASE, .list = (uint32_t *)(uintptr_t)XPU_LM_BASE};
    for (uint32_t i = 0; i < RESNET_LAYERS; i++) run(&q, &layers[i], i, i == 2);
    xpu_wait((xpu_ticket){XPU_COUNTER_STORE, q.stores});
    return 0;
}
