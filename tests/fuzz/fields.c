/* Which fields of a program's metadata no seed has: what reads them would meet damage by chance only. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/hostile.h"
#include "xpu_runtime/program/program.pb-c.h"

enum { MOST_FIELDS = 512 };

typedef const ProtobufCFieldDescriptor *field;
typedef struct {
    field items[MOST_FIELDS];
    uint32_t count;
} field_set;

static int has(const field_set *set, field f) {
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->items[i] == f) return 1;
    }
    return 0;
}

static void add(field_set *set, field f) {
    if (has(set, f)) return;
    if (set->count == MOST_FIELDS) abort();
    set->items[set->count++] = f;
}

static int is_message(field f) {
    return f->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* Texts, bytes and messages are there where they are; numbers where a flag says so. */
static int is_there(const ProtobufCMessage *message, field f) {
    const char *at = (const char *)message;
    if (f->label == PROTOBUF_C_LABEL_REQUIRED) return 1;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) return *(const size_t *)(const void *)(at + f->quantifier_offset) > 0;
    if (f->type == PROTOBUF_C_TYPE_STRING || is_message(f))
        return *(const void *const *)(const void *)(at + f->offset) != NULL;
    return *(const protobuf_c_boolean *)(const void *)(at + f->quantifier_offset);
}

static void reach(field_set *set, const ProtobufCMessage *message) {
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        field f = &message->descriptor->fields[i];
        const char *at = (const char *)message + f->offset;
        if (!is_there(message, f)) continue;
        add(set, f);
        if (!is_message(f)) continue;
        if (f->label != PROTOBUF_C_LABEL_REPEATED) {
            reach(set, *(const ProtobufCMessage *const *)(const void *)at);
            continue;
        }
        size_t count = *(const size_t *)(const void *)((const char *)message + f->quantifier_offset);
        const ProtobufCMessage *const *list = *(const ProtobufCMessage *const *const *)(const void *)at;
        for (size_t k = 0; k < count; k++) reach(set, list[k]);
    }
}

static void reach_section(field_set *set, const hostile_file *seed, const char *name,
                          const ProtobufCMessageDescriptor *descriptor) {
    hostile_file bytes = {NULL, 0, 0};
    if (!hostile_section(seed, name, &bytes)) return;
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, NULL, bytes.size, bytes.data);
    if (!message) abort();
    reach(set, message);
    protobuf_c_message_free_unpacked(message, NULL);
    hostile_clear(&bytes);
}

/* Says which are missing; returns how many. */
static uint64_t miss(const field_set *reached, field_set *told, const ProtobufCMessageDescriptor *descriptor) {
    uint64_t missing = 0;
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        field f = &descriptor->fields[i];
        if (has(told, f)) continue;
        add(told, f);
        if (!has(reached, f)) {
            printf("no seed has %s of %s\n", f->name, descriptor->short_name);
            missing++;
        }
        if (is_message(f)) missing += miss(reached, told, f->descriptor);
    }
    return missing;
}

static void reach_seed(void *context, const hostile_file *seed) {
    reach_section(context, seed, ".xpu.program", &xpu_meta__program__descriptor);
    reach_section(context, seed, ".xpu.graph", &xpu_meta__graph__descriptor);
}

uint64_t hostile_fields(void) {
    static field_set reached, told;
    hostile_steps.prepare();
    hostile_program_seeds(reach_seed, &reached);
    hostile_steps_seeds(reach_seed, &reached);
    return miss(&reached, &told, &xpu_meta__program__descriptor) + miss(&reached, &told, &xpu_meta__graph__descriptor);
}
