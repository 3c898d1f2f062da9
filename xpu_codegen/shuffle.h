/* Images whose elements change places: shuffled channels, pixels that become channels, channels that become pixels. A
 * model writes such a shuffle as a reshape that splits dims, a transpose, and a reshape that joins dims; over
 * channel-last images it is one copy from the first operand to the last result, and the other two make nothing. */
#ifndef XPU_CODEGEN_SHUFFLE_H
#define XPU_CODEGEN_SHUFFLE_H

#include "xpu_codegen/dims.h"

typedef struct {
    xpu_node split, transpose, join;
    xpu_value x, y; /* the operand of the first, the result of the last */
} xpu_shuffle;

/* Whether a node is one of the three of a shuffle, whatever the layouts of x and y: each result between them has one
 * reader and stays inside the program. *shuffle may be NULL. */
int xpu_find_shuffle(xpu_codegen *cg, xpu_node node, xpu_shuffle *shuffle);
/* Whether it is, and x or y is channel-last: then split and transpose are read through. */
int xpu_shuffles_image(xpu_codegen *cg, xpu_node node, xpu_shuffle *shuffle);

/* Whether slices of channels alone read its result, each of which is a box of x: then the three make nothing, and the
 * slices copy from x. */
int xpu_is_shuffle_sliced(xpu_codegen *cg, const xpu_shuffle *shuffle);
/* The shuffle whose channels a slice copies so. */
int xpu_slices_shuffle(xpu_codegen *cg, xpu_node slice, xpu_shuffle *shuffle);

/* The copy of a shuffle to y or, of what is sliced, to `slice`, in the order in which y lies: sizes, strides in x and
 * in the result, and where it begins in x, in elements. The arrays have XPU_MAX_RANK elements; returns the number of
 * dims. */
int xpu_shuffle_box(xpu_codegen *cg, const xpu_shuffle *shuffle, xpu_node slice, xpu_dim *size, xpu_dim *from,
                    xpu_dim *to, xpu_dim *offset);

#endif
