/* Values: which share memory. */
#ifndef XPU_CODEGEN_VALUES_H
#define XPU_CODEGEN_VALUES_H

#include "xpu_codegen/dims.h"

/* Whether a node makes no layer: its result is another name for the bytes of its operand, which has no gaps. */
int xpu_is_view(xpu_codegen *cg, xpu_node node);
/* Whether the value's bytes are an output's, a body's result or an operand of the host, behind what may be views or
 * parts, too. */
int xpu_value_leaves_program(const xpu_codegen *cg, xpu_value value);
/* Whether a node makes no layer because its result is a run of the bytes of its operand, which some layer of the same
 * block makes, and stays inside the program: *offset, in elements, if not NULL. */
int xpu_is_part(xpu_codegen *cg, xpu_node node, xpu_dim *offset);
/* Whether operand x is made in the pixels of y, the result of a concat along channels (choose/joins.h). */
int xpu_is_among_channels(const xpu_codegen *cg, xpu_value x, xpu_value y);
/* Whether a concat makes no layer: each operand is made in its result by a layer, as a run of its bytes or as channels
 * of its pixels. */
int xpu_is_joined(xpu_codegen *cg, xpu_node node);
/* The result of such a concat that `value` is made in, and where (in elements, if not NULL); {0}: there is none. */
xpu_value xpu_joined_whole(xpu_codegen *cg, xpu_value value, xpu_dim *offset);
/* The value whose memory `value` is, behind views; a part has a buffer of its own, an alias. */
xpu_value xpu_value_root(xpu_codegen *cg, xpu_value value);
/* The value of which `value` is a rearrangement, behind reshape, transpose, relayout and identity. */
xpu_value xpu_same_elements(const xpu_codegen *cg, xpu_value value);
/* Whether a node is a matrix product with nothing behind it: of matrices without an inner dim it gives zeros. */
int xpu_is_plain_product(const xpu_codegen *cg, xpu_node node);
/* What every word of a buffer filled with this value is, as a float of its bits. 0: an element of 8 bytes has unequal
 * halves, or the type does not have the value. */
int xpu_pad_word(xpu_dtype dtype, float value, float *word);

#endif
