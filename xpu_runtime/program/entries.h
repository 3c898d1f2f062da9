/*
 * Reads a protobuf message whose lists of messages are long: their entries one at a time, the rest as a whole. The
 * unpacked entries of a large program at once would be many times as large as its bytes.
 */
#ifndef XPU_PROGRAM_ENTRIES_H
#define XPU_PROGRAM_ENTRIES_H

#include <protobuf-c/protobuf-c.h>

#include "xpu_runtime/program/metadata.h"

/* Memory that messages are unpacked to, `most` bytes of them at one time. */
typedef struct {
    xpu_arena *arena; /* of what is unpacked now */
    size_t most, left;
} xpu_message_memory;

typedef struct {
    const ProtobufCMessageDescriptor *descriptor;
    const uint8_t *bytes, *end;
    size_t *counts;         /* by field of the descriptor: entries; 0 where it is no list of messages ... */
    const uint8_t **firsts; /* ... and where the first one begins */
    ProtobufCMessage *rest; /* the message without the entries of those lists */
    xpu_message_memory memory;
} xpu_message;

typedef struct {
    xpu_message *message;
    const ProtobufCFieldDescriptor *field;
    const uint8_t *at;
    size_t count, taken; /* entries: that there are, that next has given */
    int damaged;         /* an entry cannot be unpacked, or takes too much memory */
} xpu_entries;

/* 0: the bytes are no such message. Counts and rest are in `arena`, entries take `most` bytes each at most. */
int xpu_message_open(xpu_message *message, const ProtobufCMessageDescriptor *descriptor, const xpu_blob *blob,
                     size_t most, xpu_arena *arena);
void xpu_message_close(xpu_message *message);

/* A list by its field's name. */
xpu_entries xpu_message_list(xpu_message *message, const char *name);
/* The next entry, which is there until the one after it is asked for; NULL: none is left, or it is damaged. */
const void *xpu_entries_next(xpu_entries *entries);

#endif
