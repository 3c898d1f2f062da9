/* Element types and dense tensors in host memory. */
#ifndef XPU_BASE_TENSOR_H
#define XPU_BASE_TENSOR_H

#include <stddef.h>
#include <stdint.h>

enum { XPU_MAX_RANK = 8 };

/* X(enum name, text name, bytes, numpy type string) */
#define XPU_DTYPES(X)                                                                                                  \
    X(F32, "float32", 4, "<f4")                                                                                        \
    X(F64, "float64", 8, "<f8")                                                                                        \
    X(F16, "float16", 2, "<f2")                                                                                        \
    X(BF16, "bfloat16", 2, "|V2")                                                                                      \
    X(I8, "int8", 1, "|i1")                                                                                            \
    X(U8, "uint8", 1, "|u1")                                                                                           \
    X(I16, "int16", 2, "<i2")                                                                                          \
    X(U16, "uint16", 2, "<u2")                                                                                         \
    X(I32, "int32", 4, "<i4")                                                                                          \
    X(U32, "uint32", 4, "<u4")                                                                                         \
    X(I64, "int64", 8, "<i8")                                                                                          \
    X(U64, "uint64", 8, "<u8")                                                                                         \
    X(BOOL, "bool", 1, "|b1")

typedef enum {
    XPU_DTYPE_NONE,
#define X(name, text, bytes, npy) XPU_##name,
    XPU_DTYPES(X)
#undef X
        XPU_DTYPE_COUNT
} xpu_dtype;

const char *xpu_dtype_name(xpu_dtype dtype); /* "float32"; "none" for XPU_DTYPE_NONE */
size_t xpu_dtype_bytes(xpu_dtype dtype);     /* bytes of one element */
int xpu_is_byte(xpu_dtype dtype);            /* int8 or uint8 */

/* `value` as one element of this type, in the first xpu_dtype_bytes of `element`; the rest of it is 0. Returns whether
 * the type has the value: if not, floats are rounded to the nearest, integers are 0. */
enum { XPU_ELEMENT_BYTES = 8 };
int xpu_dtype_element(xpu_dtype dtype, float value, unsigned char element[XPU_ELEMENT_BYTES]);

/* A dense tensor in row-major logical order (NCHW for images). `data` belongs to whoever made it. */
typedef struct {
    xpu_dtype dtype;
    int rank; /* 0 for a scalar */
    int64_t dims[XPU_MAX_RANK];
    void *data;
} xpu_tensor;

int64_t xpu_tensor_count(const xpu_tensor *tensor); /* elements; 1 for a scalar */
size_t xpu_tensor_bytes(const xpu_tensor *tensor);
int xpu_same_shape(const xpu_tensor *a, const xpu_tensor *b); /* the same element type, too */

/* Product of dims[first .. end). */
static inline int64_t xpu_product(const int64_t *dims, int first, int end) {
    int64_t product = 1;
    for (int i = first; i < end; i++) product *= dims[i];
    return product;
}

/* out[dims permuted] = in[dims]: dim i of the result is dim perm[i] of `in`; elements of `element` bytes, row-major. */
void xpu_permute(const void *in, void *out, size_t element, int rank, const int64_t *in_dims, const int64_t *perm);

/* dims as "[1,3,224,224]" into `buffer`; returns buffer. 192 bytes always suffice. */
const char *xpu_dims_text(int rank, const int64_t *dims, char *buffer, size_t size);

#endif
