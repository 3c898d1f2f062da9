/* Operands of products that DMA quantises, and weaves, as it loads them: no layer makes the bytes or the pixels. */
#ifndef XPU_CODEGEN_QUANTISED_INPUT_H
#define XPU_CODEGEN_QUANTISED_INPUT_H

#include "xpu_codegen/values.h"

typedef struct {
    xpu_value x; /* float32 */
    float scale;
    int32_t zero;
    int has_planes; /* x is [n][channels][pixels], which the load weaves; else channels lie side by side */
} xpu_quantised_input;

/* Whether DMA can do what a QUANTIZE does: by a constant scale, a positive normal number, with a constant zero point
 * that is added behind the rounding. *input may be NULL. */
int xpu_is_quantised_by_dma(xpu_codegen *cg, xpu_node quantize, xpu_quantised_input *input);
/* Whether the product on the tensor engine `node` alone reads such bytes, perhaps behind a RELAYOUT, and loads x
 * itself: not before layouts are chosen. *input may be NULL. */
int xpu_quantises_input(xpu_codegen *cg, xpu_node node, xpu_quantised_input *input);
/* Whether the convolution on the tensor engine `node`, in int16 or int16x8, alone reads an image that is made of a few
 * planes, and loads these itself: not before layouts are chosen. *planes may be NULL. */
int xpu_weaves_input(xpu_codegen *cg, xpu_node node, xpu_value *planes);
/* Whether the result of a node is such bytes, or such an image, so that it makes nothing. */
int xpu_is_quantised_in_load(xpu_codegen *cg, xpu_node node);

#endif
