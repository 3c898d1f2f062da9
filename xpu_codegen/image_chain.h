/* Elementwise chains over channel-last images, of whose operands some are smaller by whole factors. */
#ifndef XPU_CODEGEN_IMAGE_CHAIN_H
#define XPU_CODEGEN_IMAGE_CHAIN_H

#include "xpu_codegen/values.h"

/* An operand as the kernel chain_image reads it: each of its pixels stands for repeat[0] x repeat[1] of the result's,
 * where `is_pixel` it has one for all of an image. */
typedef struct {
    xpu_value source; /* the chain's operand, or the smaller image that a REPEAT makes it of */
    xpu_node repeat_node;
    int64_t repeat[2];
    int is_pixel, is_shared; /* is_shared: all images have the same */
} xpu_image_operand;

typedef struct {
    int64_t channels;
    xpu_image_operand x[XPU_CHAIN_MAX_INPUTS];
} xpu_image_chain;

/* Factors of more channels cost the general kernel, which calls the body for each pixel, less than to be spread over
 * rows. */
enum { XPU_FEW_CHANNELS = 32 };

/* Whether the kernel can run the chain, its operands read through every REPEAT of images: float32, its result a
 * channel-last image of rank 4, at least one operand smaller, and room in LM. *chain may be NULL. */
int xpu_image_chain_of(xpu_codegen *cg, xpu_node node, xpu_image_chain *chain);

/* Whether a node is a REPEAT of the pixels of channel-last images. */
int xpu_repeats_pixels(const xpu_codegen *cg, xpu_node node);

#endif
