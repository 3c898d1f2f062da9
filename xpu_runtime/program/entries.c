#include "xpu_runtime/program/entries.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 }; /* wire types */

/* One field on the wire. */
typedef struct {
    uint32_t number, type;
    const uint8_t *begin; /* the tag's first byte */
    const uint8_t *value; /* LENGTH: behind the length */
    const uint8_t *end;
} wire_field;

/* The byte behind the varint; NULL where there is none. */
static const uint8_t *read_varint(const uint8_t *at, const uint8_t *end, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
        uint8_t byte = *at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return at;
    }
    return NULL;
}

/* 0: there is no whole field. */
static int read_field(const uint8_t *at, const uint8_t *end, wire_field *field) {
    uint64_t tag, length = 0;
    field->begin = at;
    at = read_varint(at, end, &tag);
    if (!at || tag > UINT32_MAX || !(tag >> 3)) return 0;
    field->number = (uint32_t)tag >> 3;
    field->type = (uint32_t)tag & 7;
    field->value = at;
    switch (field->type) {
    case VARINT:
        at = read_varint(at, end, &length);
        length = 0;
        break;
    case FIXED64: length = 8; break;
    case FIXED32: length = 4; break;
    case LENGTH: field->value = at = read_varint(at, end, &length); break;
    default: return 0;
    }
    if (!at || length > (uint64_t)(end - at)) return 0;
    field->end = at + length;
    return 1;
}

/* ---- memory of what is unpacked ---- */

static void *allocate(void *context, size_t bytes) {
    xpu_message_memory *memory = context;
    size_t taken = bytes + 16; /* as the arena rounds */
    if (bytes > memory->left || taken > memory->left) return NULL;
    memory->left -= taken;
    return xpu_alloc(memory->arena, bytes);
}
static void release(void *context, void *block) {
    (void)context, (void)block;
}

static ProtobufCMessage *unpack(xpu_message_memory *memory, const ProtobufCMessageDescriptor *descriptor,
                                const uint8_t *bytes, size_t length) {
    ProtobufCAllocator allocator = {allocate, release, memory};
    return protobuf_c_message_unpack(descriptor, &allocator, length, bytes);
}

/* Entries share an arena until they have taken so much. */
static void forget_entries(xpu_message_memory *memory) {
    enum { KEPT = 1 << 18 };
    if (memory->most - memory->left < KEPT) return;
    xpu_arena *next = xpu_arena_new(xpu_arena_mem(memory->arena), "entry of a message");
    xpu_arena_free(memory->arena);
    memory->arena = next;
    memory->left = memory->most;
}

/* ---- messages ---- */

static const ProtobufCFieldDescriptor *list_of(const ProtobufCMessageDescriptor *descriptor, uint32_t number) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(descriptor, number);
    int is_list = field && field->label == PROTOBUF_C_LABEL_REPEATED && field->type == PROTOBUF_C_TYPE_MESSAGE;
    return is_list ? field : NULL;
}

int xpu_message_open(xpu_message *message, const ProtobufCMessageDescriptor *descriptor, const xpu_blob *blob,
                     size_t most, xpu_arena *arena) {
    *message = (xpu_message){.descriptor = descriptor, .bytes = blob->bytes};
    message->end = message->bytes + blob->length;
    message->counts = XPU_NEW_ARRAY(arena, size_t, descriptor->n_fields);
    message->firsts = XPU_NEW_ARRAY(arena, const uint8_t *, descriptor->n_fields);
    message->memory = (xpu_message_memory){xpu_arena_new(xpu_arena_mem(arena), "entry of a message"), most, most};
    xpu_text rest;
    xpu_text_init(&rest, arena);
    wire_field wire;
    for (const uint8_t *at = message->bytes; at < message->end; at = wire.end) {
        if (!read_field(at, message->end, &wire)) return 0;
        const ProtobufCFieldDescriptor *list = list_of(descriptor, wire.number);
        if (!list) {
            xpu_text_add_bytes(&rest, (const char *)wire.begin, (size_t)(wire.end - wire.begin));
        } else if (wire.type == LENGTH) {
            if (!message->counts[list - descriptor->fields]++) message->firsts[list - descriptor->fields] = at;
        } else {
            return 0;
        }
    }
    xpu_message_memory memory = {arena, most, most};
    message->rest = unpack(&memory, descriptor, (const uint8_t *)rest.text, rest.length);
    return message->rest != NULL;
}

void xpu_message_close(xpu_message *message) {
    xpu_arena_free(message->memory.arena);
    message->memory.arena = NULL;
}

xpu_entries xpu_message_list(xpu_message *message, const char *name) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
    size_t index = (size_t)(field - message->descriptor->fields);
    return (xpu_entries){message, field, message->firsts[index], message->counts[index], 0, 0};
}

const void *xpu_entries_next(xpu_entries *entries) {
    xpu_message *message = entries->message;
    wire_field wire;
    while (!entries->damaged && entries->taken < entries->count) {
        if (!read_field(entries->at, message->end, &wire)) break; /* all of them were read before */
        entries->at = wire.end;
        if (wire.number != entries->field->id) continue;
        entries->taken++;
        forget_entries(&message->memory);
        const void *entry =
            unpack(&message->memory, entries->field->descriptor, wire.value, (size_t)(wire.end - wire.value));
        entries->damaged = entry == NULL;
        return entry;
    }
    return NULL;
}
