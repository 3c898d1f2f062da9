/* Pictures as inputs: BMP, PNG and JPEG, told apart by content, scaled to what a model wants. */
#ifndef XPU_TOOLS_IMAGE_H
#define XPU_TOOLS_IMAGE_H

#include "base/diag.h"
#include "base/tensor.h"

typedef struct {
    int width, height;
    uint8_t *rgb; /* [height][width][3] */
} xpu_image;

/* How pixels become numbers: (value / 255 - mean) / std for each channel. */
typedef struct {
    float mean[3], std[3];
    int is_bgr; /* the model's channels are blue, green, red; mean and std are in the model's order */
} xpu_image_scale;

enum { XPU_IMAGE_MAX_SIDE = 1 << 14, XPU_IMAGE_MAX_PIXELS = 1 << 26 };

/* Reads a picture; the pixels live in `arena`. [io-open], [image-format]: the bytes are no picture of these kinds, or
 * damaged; [image-size]. PNG transparency is over white. */
xpu_status xpu_image_read(xpu_arena *arena, const char *path, xpu_image *image, xpu_diags *diags);
xpu_status xpu_image_parse(xpu_arena *arena, const void *bytes, size_t length, const char *name, xpu_image *image,
                           xpu_diags *diags);

/* The picture as tensor [1,3,H,W], [1,1,H,W] (luma), [1,H,W,3] or [1,H,W,1] of float32 or uint8 (as it is): `rank`,
 * `dims` and `dtype` are those of the model's input, -1 where a dim is free: then 1, or the picture's size. Scaled with
 * a triangle filter as wide as a source pixel, or a target pixel where that is wider. [image-input] where the input is
 * no picture. */
xpu_status xpu_image_tensor(xpu_arena *arena, const xpu_image *image, const xpu_image_scale *scale, xpu_dtype dtype,
                            int rank, const int64_t *dims, const char *name, xpu_tensor *tensor, xpu_diags *diags);

/* "0.485,0.456,0.406" or one number for all three; 0 where it is none. */
int xpu_image_triple(const char *text, float *values);

#endif
