/* Elementwise layers on the tensor engine's post-processor (kernel elementwise): steps, and what they take. */
#ifndef XPU_CODEGEN_CHOOSE_ELEMENTWISE_H
#define XPU_CODEGEN_CHOOSE_ELEMENTWISE_H

#include "xpu_codegen/values.h"

/* A layer: images x rows x columns elements; is_flat: `rows` elements, all tensors dense. */
typedef struct {
    xpu_dim images, rows, columns;
    int is_flat;
    int x_bytes, branch_bytes, y_bytes; /* of an element; branch_bytes 0: there is none */
    int branch_is_row;                  /* a row of it is for all of an image */
    int has_scale, has_bias, has_table;
    int vectors_by_image; /* scale and bias are not those of the image before */
    int is_strided;       /* rows of a tensor lie apart */
} xpu_elementwise_shape;

/* tile: rows, or elements, of a step; cycles: of all of them at the upper bound of the symbols, without the layer's
 * start. */
typedef struct {
    int32_t tile;
    int64_t sm_bytes;
    double cycles;
} xpu_elementwise_tile;

/* The fastest; 0: SM has no room for a step, or descriptors have none for its sizes. */
int xpu_choose_elementwise(xpu_codegen *cg, const xpu_elementwise_shape *shape, xpu_elementwise_tile *tile);
/* What the layer takes with its start. */
double xpu_elementwise_cycles(xpu_codegen *cg, const xpu_elementwise_tile *tile);
/* The same of bytes on the cores: `elements` of each of `tensors`, cycles_of_64 of a core for 64 of them. */
double xpu_bytes_on_cores_cycles(xpu_codegen *cg, xpu_dim elements, int tensors, double cycles_of_64);

/* A sum or product of bytes with a row of channels, for all pixels of an image or of all, or of elements of the last
 * dim, for all others; which operand has the result's dims, and whether these are an image. */
typedef struct {
    uint32_t full;
    int is_image, row_by_image;
    xpu_elementwise_shape shape;
    xpu_elementwise_tile tile;
} xpu_row_pair;
int xpu_find_row_pair(xpu_codegen *cg, xpu_node node, xpu_row_pair *pair);

#endif
