/*
 * Protobuf's wire format, field by field, over bytes in memory: what each message means is the caller's. The first
 * problem is reported once, with its offset; after it every call says that there is nothing more.
 */
#ifndef XPU_FRONTEND_PADDLE_WIRE_H
#define XPU_FRONTEND_PADDLE_WIRE_H

#include "base/diag.h"

typedef struct {
    const uint8_t *bytes; /* the whole file */
    const char *file;
    xpu_arena *scratch;
    xpu_diags *diags;
    int failed;
    uint32_t fields, max_fields;
} xpu_wire;

typedef enum { XPU_WIRE_VARINT = 0, XPU_WIRE_FIXED64 = 1, XPU_WIRE_BYTES = 2, XPU_WIRE_FIXED32 = 5 } xpu_wire_type;

/* A message: a stretch of the file. */
typedef struct {
    xpu_wire *wire;
    const char *name; /* "OpDesc" */
    uint64_t at, end;
} xpu_wire_message;

typedef struct {
    uint32_t number;
    xpu_wire_type type;
    uint64_t start;   /* of the tag */
    uint64_t value;   /* of a number */
    uint64_t at, end; /* of bytes */
} xpu_wire_field;

/* The next field; 0 at the end, or after reporting. */
int xpu_wire_next(xpu_wire_message *message, xpu_wire_field *field);
/* What the field holds, which must have the wire type that goes with it; otherwise that is reported. `name` is the
 * field's. */
int64_t xpu_wire_int(const xpu_wire_message *message, const xpu_wire_field *field, const char *name);
double xpu_wire_float(const xpu_wire_message *message, const xpu_wire_field *field, const char *name);
double xpu_wire_double(const xpu_wire_message *message, const xpu_wire_field *field, const char *name);
/* A copy in the scratch arena; one with a NUL byte is malformed. */
const char *xpu_wire_text(const xpu_wire_message *message, const xpu_wire_field *field, const char *name);
xpu_wire_message xpu_wire_inner(const xpu_wire_message *message, const xpu_wire_field *field, const char *name);

/* Repeated numbers, one by one or packed. */
typedef struct {
    XPU_ARRAY(int64_t) items;
} xpu_wire_ints;
typedef struct {
    XPU_ARRAY(double) items;
} xpu_wire_floats;
void xpu_wire_add_ints(const xpu_wire_message *message, const xpu_wire_field *field, const char *name,
                       xpu_wire_ints *list);
/* `bytes`: 4 or 8, of each. */
void xpu_wire_add_floats(const xpu_wire_message *message, const xpu_wire_field *field, const char *name, size_t bytes,
                         xpu_wire_floats *list);

/* Reports [paddle-wire] at a field; returns 0. */
int xpu_wire_malformed(const xpu_wire_message *message, uint64_t offset, const char *name, const char *why);

#endif
