#include "frontend/onnx/skeleton.h"

#include <inttypes.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, WIRE_FIXED32 = 5 };
enum { WINDOW = 64 << 10, MAX_VARINT = 10, LENGTH_ROOM = 5, PAYLOAD_FIELD = 20000 };
enum { DEFAULT_MAX_FIELDS = 2 << 20, DEFAULT_MAX_SKELETON = 256 << 20 };

typedef struct {
    const xpu_onnx_source *source;
    xpu_arena *scratch;
    xpu_diags *diags;
    uint8_t *window; /* the last part of the file that was read */
    uint64_t window_offset;
    size_t window_length;
    xpu_text out; /* the skeleton */
    uint32_t fields, max_fields;
    size_t max_bytes;
    int failed;
} walker;

/* One field of a message in the source. */
typedef struct {
    const ProtobufCMessageDescriptor *message;
    const ProtobufCFieldDescriptor *known; /* NULL: not in onnx.proto */
    uint64_t start;                        /* of the tag */
    uint32_t number;
    int wire;
    uint64_t at, length; /* contents */
} field;

xpu_status xpu_onnx_source_read(const xpu_onnx_source *source, uint64_t offset, void *buffer, size_t length,
                                xpu_diags *diags) {
    if (source->file) return xpu_file_read(source->file, offset, buffer, length, diags);
    memcpy(buffer, source->bytes + offset, length);
    return XPU_OK;
}

static int fail(walker *walk, const char *rule, uint64_t offset, const field *in, const char *what, const char *why) {
    if (walk->failed) return 0;
    walk->failed = 1;
    const char *where = xpu_printf(walk->scratch, "byte %" PRIu64, offset);
    if (in && in->known) {
        where = xpu_printf(walk->scratch, "%s (%s.%s)", where, in->message->short_name, in->known->name);
    } else if (in) {
        where = xpu_printf(walk->scratch, "%s (%s)", where, in->message->short_name);
    }
    const char *hint = strcmp(rule, "onnx-wire") == 0 ? "check that this is an ONNX file, and that it is complete"
                                                      : "models of this size are not supported";
    xpu_error(walk->diags, XPU_EMODEL, walk->source->name, rule, where, what, why, hint);
    return 0;
}

static int malformed(walker *walk, uint64_t offset, const field *in, const char *why) {
    return fail(walk, "onnx-wire", offset, in, "the bytes are no valid protobuf message", why);
}

/* The bytes at `offset`, at least one of them; *have is how many, at most `want`. NULL after an I/O error. */
static const uint8_t *look(walker *walk, uint64_t offset, uint64_t want, size_t *have) {
    uint64_t left = walk->source->size - offset;
    if (want > left) want = left;
    if (!walk->source->file) {
        *have = (size_t)want;
        return walk->source->bytes + offset;
    }
    if (offset < walk->window_offset || offset >= walk->window_offset + walk->window_length ||
        (want <= MAX_VARINT && offset + want > walk->window_offset + walk->window_length)) {
        size_t length = left < WINDOW ? (size_t)left : WINDOW;
        walk->window_length = 0;
        if (xpu_onnx_source_read(walk->source, offset, walk->window, length, walk->diags) != XPU_OK) {
            walk->failed = 1;
            return NULL;
        }
        walk->window_offset = offset;
        walk->window_length = length;
    }
    uint64_t there = walk->window_offset + walk->window_length - offset;
    *have = (size_t)(want < there ? want : there);
    return walk->window + (offset - walk->window_offset);
}

/* Reads a varint at *at, which moves behind it. */
static int read_varint(walker *walk, const field *in, uint64_t *at, uint64_t end, uint64_t *value) {
    if (*at >= end) return malformed(walk, *at, in, "a number is cut off");
    size_t have = 0;
    const uint8_t *bytes = look(walk, *at, end - *at < MAX_VARINT ? end - *at : MAX_VARINT, &have);
    if (!bytes) return 0;
    *value = 0;
    for (size_t i = 0; i < have; i++) {
        if (i == MAX_VARINT - 1 && bytes[i] > 1) break;
        *value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80) {
            *at += i + 1;
            return 1;
        }
    }
    return malformed(walk, *at, in, have < MAX_VARINT ? "a number is cut off" : "a number has more than 64 bits");
}

static int room(walker *walk, const field *in, uint64_t bytes) {
    if (walk->out.length + bytes <= walk->max_bytes) return 1;
    return fail(walk, "onnx-limit", in->start, in, "the model is too large",
                xpu_printf(walk->scratch, "without its tensors it has more than %zu bytes", walk->max_bytes));
}

/* Copies source bytes to the skeleton. `text` asks for a check that no NUL is among them. */
static int copy(walker *walk, const field *in, uint64_t at, uint64_t length, int text) {
    if (!room(walk, in, length)) return 0;
    while (length > 0) {
        size_t have = 0;
        const uint8_t *bytes = look(walk, at, length, &have);
        if (!bytes) return 0;
        if (text && memchr(bytes, 0, have)) return malformed(walk, at, in, "a string holds a NUL byte");
        xpu_text_add_bytes(&walk->out, (const char *)bytes, have);
        at += have;
        length -= have;
    }
    return 1;
}

static void put_varint(walker *walk, uint64_t value) {
    uint8_t bytes[MAX_VARINT];
    size_t n = 0;
    do {
        bytes[n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    } while (value >>= 7);
    xpu_text_add_bytes(&walk->out, (const char *)bytes, n);
}

static void put_fixed64(walker *walk, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    xpu_text_add_bytes(&walk->out, (const char *)bytes, sizeof bytes);
}

/* TensorProto.payload in place of the field itself. */
static int put_payload(walker *walk, const field *in) {
    enum { PAYLOAD_BYTES = 1 + 1 + 1 + 8 + 1 + 8 };
    if (!room(walk, in, PAYLOAD_BYTES + 4)) return 0;
    put_varint(walk, PAYLOAD_FIELD << 3 | WIRE_LENGTH);
    put_varint(walk, PAYLOAD_BYTES);
    put_varint(walk, 1 << 3 | WIRE_VARINT);
    put_varint(walk, in->number);
    put_varint(walk, 2 << 3 | WIRE_FIXED64);
    put_fixed64(walk, in->at);
    put_varint(walk, 3 << 3 | WIRE_FIXED64);
    put_fixed64(walk, in->length);
    return 1;
}

static int wire_of(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return WIRE_FIXED64;
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT: return WIRE_FIXED32;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return WIRE_LENGTH;
    default: return WIRE_VARINT;
    }
}

/* Numeric contents of a tensor that may be left in the file. */
static int is_payload(const field *in) {
    return in->message == &xpu_onnx__tensor_proto__descriptor && in->wire == WIRE_LENGTH &&
           in->length > XPU_ONNX_INLINE_PAYLOAD && in->number != 1 &&
           (in->known->type == PROTOBUF_C_TYPE_BYTES || wire_of(in->known->type) != WIRE_LENGTH) && in->number != 6;
}

static int is_dropped(const field *in) {
    if (!in->known || in->number == PAYLOAD_FIELD) return 1;
    return strcmp(in->known->name, "doc_string") == 0 || strcmp(in->known->name, "metadata_props") == 0;
}

/* Reads tag and length at *at; *at moves behind the field's contents. */
static int read_field(walker *walk, field *in, uint64_t *at, uint64_t end) {
    uint64_t tag = 0;
    in->known = NULL;
    in->start = *at;
    if (!read_varint(walk, in, at, end, &tag)) return 0;
    in->wire = (int)(tag & 7);
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3) return malformed(walk, in->start, in, "a field number is invalid");
    in->number = (uint32_t)(tag >> 3);
    in->known = protobuf_c_message_descriptor_get_field(in->message, in->number);
    uint64_t length = in->wire == WIRE_FIXED64 ? 8 : 4, ignored = 0, start = *at;
    switch (in->wire) {
    case WIRE_VARINT:
        if (!read_varint(walk, in, at, end, &ignored)) return 0;
        length = *at - start;
        break;
    case WIRE_LENGTH:
        if (!read_varint(walk, in, at, end, &length)) return 0;
        start = *at;
        break;
    case WIRE_FIXED64:
    case WIRE_FIXED32: break;
    default:
        return malformed(
            walk, in->start, in,
            xpu_printf(walk->scratch, "wire type %d (%s)", in->wire, in->wire < 5 ? "a group" : "undefined"));
    }
    if (length > end - start) {
        return malformed(
            walk, in->start, in,
            xpu_printf(walk->scratch, "a field of %" PRIu64 " bytes where %" PRIu64 " are left", length, end - start));
    }
    in->at = start;
    in->length = length;
    *at = start + length;
    return 1;
}

/* Wire type and count of a known field. `seen` has a bit for each field of the message that came before. */
static int check_field(walker *walk, const field *in, uint64_t *seen, uint64_t *taken) {
    int wire = wire_of(in->known->type), repeated = in->known->label == PROTOBUF_C_LABEL_REPEATED;
    int packed = repeated && wire != WIRE_LENGTH && in->wire == WIRE_LENGTH;
    if (in->wire != wire && !packed) {
        return malformed(walk, in->start, in, xpu_printf(walk->scratch, "wire type %d, not %d", in->wire, wire));
    }
    uint64_t bit = 1ULL << ((size_t)(in->known - in->message->fields) & 63);
    if (!repeated && (*seen & bit)) return malformed(walk, in->start, in, "the field occurs twice");
    if ((*taken & bit) || (is_payload(in) && (*seen & bit))) {
        return malformed(walk, in->start, in, "tensor data in several pieces");
    }
    *seen |= bit;
    if (is_payload(in)) *taken |= bit;
    if (packed && wire != WIRE_VARINT && in->length % (wire == WIRE_FIXED64 ? 8 : 4) != 0) {
        return malformed(walk, in->start, in, "a list ends inside an element");
    }
    return 1;
}

/* Every varint of a packed list ends inside it. Payloads left in the file are checked when they are read. */
static int check_packed(walker *walk, const field *in) {
    uint64_t at = in->at, value = 0;
    while (at < in->at + in->length) {
        if (!read_varint(walk, in, &at, in->at + in->length, &value)) return 0;
    }
    return 1;
}

static int walk_message(walker *walk, const ProtobufCMessageDescriptor *message, uint64_t at, uint64_t end, int depth);

static int walk_nested(walker *walk, const field *in, int depth) {
    if (depth >= XPU_ONNX_MAX_DEPTH) {
        return fail(walk, "onnx-limit", in->start, in, "the model is nested too deeply",
                    xpu_printf(walk->scratch, "more than %d messages stand inside each other", XPU_ONNX_MAX_DEPTH));
    }
    if (!room(walk, in, LENGTH_ROOM)) return 0;
    size_t place = walk->out.length;
    xpu_text_add_bytes(&walk->out, "\0\0\0\0\0", LENGTH_ROOM);
    if (!walk_message(walk, (const ProtobufCMessageDescriptor *)in->known->descriptor, in->at, in->at + in->length,
                      depth)) {
        return 0;
    }
    size_t length = walk->out.length - place - LENGTH_ROOM;
    for (size_t i = 0; i < LENGTH_ROOM; i++) {
        unsigned more = i + 1 < LENGTH_ROOM ? 0x80 : 0;
        walk->out.text[place + i] = (char)((length >> (7 * i) & 0x7f) | more);
    }
    return 1;
}

static int walk_message(walker *walk, const ProtobufCMessageDescriptor *message, uint64_t at, uint64_t end, int depth) {
    field in = {.message = message};
    uint64_t seen = 0, taken = 0;
    while (at < end) {
        if (!read_field(walk, &in, &at, end)) return 0;
        if (++walk->fields > walk->max_fields) {
            return fail(walk, "onnx-limit", in.start, &in, "the model is too large",
                        xpu_printf(walk->scratch, "it has more than %" PRIu32 " fields", walk->max_fields));
        }
        if (is_dropped(&in)) continue;
        if (!check_field(walk, &in, &seen, &taken)) return 0;
        if (is_payload(&in)) {
            if (!put_payload(walk, &in)) return 0;
            continue;
        }
        if (!room(walk, &in, (uint64_t)2 * MAX_VARINT)) return 0;
        put_varint(walk, (uint64_t)in.number << 3 | (unsigned)in.wire);
        if (in.known->type == PROTOBUF_C_TYPE_MESSAGE) {
            if (!walk_nested(walk, &in, depth + 1)) return 0;
            continue;
        }
        if (in.wire == WIRE_LENGTH) put_varint(walk, in.length);
        int varints = in.wire == WIRE_LENGTH && wire_of(in.known->type) == WIRE_VARINT;
        if (varints && !check_packed(walk, &in)) return 0;
        if (!copy(walk, &in, in.at, in.length, in.known->type == PROTOBUF_C_TYPE_STRING)) return 0;
    }
    return 1;
}

/* protobuf-c's allocator: pieces of larger blocks of the scratch arena, which frees them all at once. */
typedef struct {
    xpu_arena *arena;
    char *block;
    size_t left;
} pool;

static void *pool_alloc(void *data, size_t size) {
    enum { BLOCK = 64 << 10, ALIGN = 16 };
    pool *from = data;
    if (size > BLOCK / 4) return xpu_alloc(from->arena, size);
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size > from->left) {
        from->block = xpu_alloc(from->arena, BLOCK);
        from->left = BLOCK;
    }
    void *piece = from->block;
    from->block += size;
    from->left -= size;
    return piece;
}

static void pool_free(void *data, void *piece) {
    (void)data;
    (void)piece;
}

XpuOnnx__ModelProto *xpu_onnx_decode(xpu_arena *scratch, const xpu_onnx_source *source,
                                     const xpu_import_options *options, xpu_diags *diags) {
    walker walk = {.source = source, .scratch = scratch, .diags = diags};
    walk.max_fields = options->max_fields ? options->max_fields : DEFAULT_MAX_FIELDS;
    walk.max_bytes = options->max_skeleton_bytes ? options->max_skeleton_bytes : DEFAULT_MAX_SKELETON;
    if (source->file) walk.window = xpu_alloc(scratch, WINDOW);
    xpu_text_init(&walk.out, scratch);
    if (!walk_message(&walk, &xpu_onnx__model_proto__descriptor, 0, source->size, 0)) return NULL;
    pool from = {.arena = scratch};
    ProtobufCAllocator allocator = {.alloc = pool_alloc, .free = pool_free, .allocator_data = &from};
    XpuOnnx__ModelProto *model =
        xpu_onnx__model_proto__unpack(&allocator, walk.out.length, (const uint8_t *)walk.out.text);
    if (!model) malformed(&walk, 0, NULL, "the messages cannot be decoded");
    return model;
}
