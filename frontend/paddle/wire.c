#include "frontend/paddle/wire.h"

#include <inttypes.h>
#include <string.h>

static int fail(const xpu_wire_message *message, const char *rule, uint64_t offset, const char *name, const char *what,
                const char *why, const char *hint) {
    xpu_wire *wire = message->wire;
    if (wire->failed) return 0;
    wire->failed = 1;
    const char *where = name ? xpu_printf(wire->scratch, "byte %" PRIu64 " (%s.%s)", offset, message->name, name)
                             : xpu_printf(wire->scratch, "byte %" PRIu64 " (%s)", offset, message->name);
    xpu_error(wire->diags, XPU_EMODEL, wire->file, rule, where, what, why, hint);
    return 0;
}

int xpu_wire_malformed(const xpu_wire_message *message, uint64_t offset, const char *name, const char *why) {
    return fail(message, "paddle-wire", offset, name, "the bytes are no valid protobuf message", why,
                "check that this is a PaddlePaddle program (.pdmodel, __model__), and that it is complete");
}

/* Reads a varint at *at, which moves behind it. */
static int read_varint(const xpu_wire_message *message, const char *name, uint64_t *at, uint64_t end, uint64_t *value) {
    enum { MAX_BYTES = 10 };
    const uint8_t *bytes = message->wire->bytes;
    *value = 0;
    for (unsigned i = 0; i < MAX_BYTES && *at + i < end; i++) {
        uint8_t byte = bytes[*at + i];
        if (i == MAX_BYTES - 1 && byte > 1) break;
        *value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *at += i + 1;
            return 1;
        }
    }
    int cut = end - *at < MAX_BYTES;
    return xpu_wire_malformed(message, *at, name, cut ? "a number is cut off" : "a number has more than 64 bits");
}

static uint64_t read_fixed(const uint8_t *bytes, size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

int xpu_wire_next(xpu_wire_message *message, xpu_wire_field *field) {
    xpu_wire *wire = message->wire;
    uint64_t tag = 0, length = 0;
    if (wire->failed || message->at == message->end) return 0;
    *field = (xpu_wire_field){.start = message->at};
    if (++wire->fields > wire->max_fields) {
        return fail(message, "paddle-limit", field->start, NULL, "the program is too large",
                    xpu_printf(wire->scratch, "it has more than %" PRIu32 " fields", wire->max_fields),
                    "programs of this size are not supported");
    }
    if (!read_varint(message, NULL, &message->at, message->end, &tag)) return 0;
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
        return xpu_wire_malformed(message, field->start, NULL, "a field number is invalid");
    field->number = (uint32_t)(tag >> 3);
    field->type = (xpu_wire_type)(tag & 7);
    switch (tag & 7) {
    case XPU_WIRE_VARINT: return read_varint(message, NULL, &message->at, message->end, &field->value);
    case XPU_WIRE_BYTES:
        if (!read_varint(message, NULL, &message->at, message->end, &length)) return 0;
        break;
    case XPU_WIRE_FIXED64: length = 8; break;
    case XPU_WIRE_FIXED32: length = 4; break;
    default:
        return xpu_wire_malformed(
            message, field->start, NULL,
            xpu_printf(wire->scratch, "wire type %d (%s)", (int)(tag & 7), (tag & 7) < 5 ? "a group" : "undefined"));
    }
    uint64_t left = message->end - message->at;
    if (length > left) {
        return xpu_wire_malformed(message, field->start, NULL,
                                  xpu_printf(wire->scratch,
                                             "field %" PRIu32 " has %" PRIu64 " bytes where %" PRIu64 " are left",
                                             field->number, length, left));
    }
    field->at = message->at;
    field->end = message->at + length;
    if (field->type != XPU_WIRE_BYTES) field->value = read_fixed(wire->bytes + field->at, (size_t)length);
    message->at += length;
    return 1;
}

static int has_type(const xpu_wire_message *message, const xpu_wire_field *field, const char *name,
                    xpu_wire_type type) {
    if (field->type == type) return 1;
    return xpu_wire_malformed(
        message, field->start, name,
        xpu_printf(message->wire->scratch, "wire type %d where %d is expected", (int)field->type, (int)type));
}

int64_t xpu_wire_int(const xpu_wire_message *message, const xpu_wire_field *field, const char *name) {
    return has_type(message, field, name, XPU_WIRE_VARINT) ? (int64_t)field->value : 0;
}

static double float_of(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double xpu_wire_float(const xpu_wire_message *message, const xpu_wire_field *field, const char *name) {
    return has_type(message, field, name, XPU_WIRE_FIXED32) ? float_of(field->value) : 0;
}

double xpu_wire_double(const xpu_wire_message *message, const xpu_wire_field *field, const char *name) {
    return has_type(message, field, name, XPU_WIRE_FIXED64) ? double_of(field->value) : 0;
}

const char *xpu_wire_text(const xpu_wire_message *message, const xpu_wire_field *field, const char *name) {
    if (!has_type(message, field, name, XPU_WIRE_BYTES)) return "";
    const char *text = (const char *)message->wire->bytes + field->at;
    size_t length = (size_t)(field->end - field->at);
    if (length && memchr(text, 0, length)) {
        xpu_wire_malformed(message, field->at, name, "a string holds a NUL byte");
        return "";
    }
    return length ? xpu_strndup(message->wire->scratch, text, length) : "";
}

xpu_wire_message xpu_wire_inner(const xpu_wire_message *message, const xpu_wire_field *field, const char *name) {
    xpu_wire_message inner = {.wire = message->wire, .name = name};
    if (!has_type(message, field, name, XPU_WIRE_BYTES)) return inner;
    inner.at = field->at;
    inner.end = field->end;
    return inner;
}

void xpu_wire_add_ints(const xpu_wire_message *message, const xpu_wire_field *field, const char *name,
                       xpu_wire_ints *list) {
    xpu_arena *scratch = message->wire->scratch;
    if (field->type != XPU_WIRE_BYTES) {
        int64_t value = xpu_wire_int(message, field, name);
        XPU_PUSH(scratch, &list->items, value);
        return;
    }
    for (uint64_t at = field->at, value = 0; at < field->end;) {
        if (!read_varint(message, name, &at, field->end, &value)) return;
        XPU_PUSH(scratch, &list->items, (int64_t)value);
    }
}

void xpu_wire_add_floats(const xpu_wire_message *message, const xpu_wire_field *field, const char *name, size_t bytes,
                         xpu_wire_floats *list) {
    xpu_arena *scratch = message->wire->scratch;
    if (field->type != XPU_WIRE_BYTES) {
        double value = bytes == 4 ? xpu_wire_float(message, field, name) : xpu_wire_double(message, field, name);
        XPU_PUSH(scratch, &list->items, value);
        return;
    }
    if ((field->end - field->at) % bytes) {
        xpu_wire_malformed(message, field->at, name,
                           xpu_printf(scratch, "a list of %" PRIu64 " bytes is no list of elements of %zu",
                                      field->end - field->at, bytes));
        return;
    }
    for (uint64_t at = field->at; at < field->end; at += bytes) {
        uint64_t bits = read_fixed(message->wire->bytes + at, bytes);
        XPU_PUSH(scratch, &list->items, bytes == 4 ? float_of(bits) : double_of(bits));
    }
}
