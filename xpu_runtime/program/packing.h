/*
 * How a constant lies in the weights segment. The compiler packs, ref unpacks; the device kernels expect these forms
 * (kernels.def).
 */
#ifndef XPU_PROGRAM_PACKING_H
#define XPU_PROGRAM_PACKING_H

#include "base/diag.h"
#include "base/tensor.h"

typedef enum {
    XPU_PACK_LINEAR,        /* row-major, as the logical tensor */
    XPU_PACK_CONV_F32,      /* [group][kh][kw][c/group][(o/group) padded to 16] */
    XPU_PACK_DEPTHWISE_F32, /* [kh][kw][c padded to 16] */
    XPU_PACK_CONV_I16,      /* tiles for the tensor engine, see xpu_tiling.h */
    XPU_PACK_CONV_I8,       /* the same of int8 or uint8 */
    XPU_PACK_DEPTHWISE_I8,  /* as DEPTHWISE_F32, of int8 or uint8 */
    XPU_PACK_DEPTHWISE_I16, /* the same of int16 */
    XPU_PACK_COUNT
} xpu_packing_kind;

typedef struct {
    xpu_packing_kind kind;
    /* The logical tensor seen as convolution weights [out_c][in_c/groups][kernel_h][kernel_w]; a matmul's [K][N] is
     * out_c = N, in_c = K, kernel 1x1 with `transposed` set (the logical tensor then is [in_c][out_c]). */
    int32_t out_c, in_c, kernel_h, kernel_w, groups;
    uint8_t transposed;
    int32_t columns, tile_c; /* CONV_I16, CONV_I8: the array's columns, input channels of a chunk */
} xpu_packing;

/* Bytes of the packed form of a constant of this dtype with `count` elements. 0 when the packing is inconsistent. */
uint64_t xpu_packed_bytes(const xpu_packing *packing, xpu_dtype dtype, uint64_t count);
/* Both return XPU_EBUG when sizes do not fit the packing. `packed` has xpu_packed_bytes bytes; padding is zero. */
xpu_status xpu_pack(const xpu_packing *packing, const xpu_tensor *tensor, void *packed);
xpu_status xpu_unpack(const xpu_packing *packing, const void *packed, uint64_t packed_bytes, xpu_tensor *tensor);

#endif
