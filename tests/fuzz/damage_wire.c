/* Damage to protobuf messages: the tree of fields is kept, so that readers get past the first length. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/hostile.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, MAX_FIELDS = 60000, MAX_DEPTH = 12 };

typedef struct {
    size_t start, end; /* of the field with its tag */
    size_t content;    /* of its contents, where BYTES */
    uint32_t number, type;
    int parent; /* index of the message that it stands in, or -1 */
} field;

typedef struct {
    field *items;
    int count;
} field_list;

static int read_varint(const hostile_file *file, size_t end, size_t *at, uint64_t *value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = file->data[(*at)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return 1;
    }
    return 0;
}

static int read_field(const hostile_file *file, size_t end, size_t *at, field *f) {
    uint64_t value;
    f->start = *at;
    if (!read_varint(file, end, at, &value)) return 0;
    f->number = (uint32_t)(value >> 3);
    f->type = value & 7;
    if (f->number == 0 || value >> 3 > 30000) return 0;
    if (f->type == VARINT && !read_varint(file, end, at, &value)) return 0;
    f->content = *at;
    uint64_t length = f->type == FIXED64 ? 8 : f->type == FIXED32 ? 4 : 0;
    if (f->type == BYTES) {
        if (!read_varint(file, end, at, &length)) return 0;
        f->content = *at;
    } else if (f->type != VARINT && !length) {
        return 0;
    }
    if (length > end - *at) return 0;
    *at += (size_t)length;
    f->end = *at;
    return 1;
}

/* Adds the fields of [start, end); contents that read as a message are one. Returns 0, and adds none, where the bytes
 * are no message. */
static int collect(const hostile_file *file, size_t start, size_t end, int parent, int depth, field_list *list) {
    int before = list->count;
    for (size_t at = start; at < end;) {
        if (list->count == MAX_FIELDS) return 1;
        field *f = &list->items[list->count];
        if (!read_field(file, end, &at, f)) {
            list->count = before;
            return 0;
        }
        f->parent = parent;
        int index = list->count++;
        if (f->type == BYTES && f->end - f->content > 1 && depth < MAX_DEPTH) {
            collect(file, f->content, f->end, index, depth + 1, list);
        }
    }
    return 1;
}

static size_t put_varint(uint8_t *to, uint64_t value) {
    size_t length = 0;
    for (; value >= 0x80; value >>= 7) to[length++] = (uint8_t)(value | 0x80);
    to[length++] = (uint8_t)value;
    return length;
}

static void add_head(hostile_file *to, uint32_t number, uint32_t type, size_t length) {
    uint8_t bytes[20];
    size_t count = put_varint(bytes, (uint64_t)number << 3 | type);
    if (type == BYTES) count += put_varint(bytes + count, length);
    hostile_add(to, bytes, count);
}

/* Puts `by` in the place of [start, end), which stands in message `parent`, and corrects the lengths around it. */
static void replace_span(hostile_file *file, const field_list *list, int parent, size_t start, size_t end,
                         hostile_file *by) {
    while (parent >= 0) {
        const field *outer = &list->items[parent];
        hostile_file around = {NULL, 0, 0};
        size_t length = (start - outer->content) + by->size + (outer->end - end);
        add_head(&around, outer->number, outer->type, length);
        hostile_add(&around, file->data + outer->content, start - outer->content);
        hostile_add(&around, by->data, by->size);
        hostile_add(&around, file->data + end, outer->end - end);
        hostile_clear(by);
        *by = around;
        start = outer->start;
        end = outer->end;
        parent = outer->parent;
    }
    hostile_replace(file, start, end - start, by->data, by->size);
}

static void new_string(hostile_random *random, const hostile_file *file, const field_list *list, const field *f,
                       hostile_file *to) {
    static const char *const texts[] = {
        "",       "N",  "../../../../etc/passwd", "%s%n%s", "*/", "\n\"\\", "\xff\xfe", "Constant", "Conv", "Reshape",
        "Concat", "Pad"};
    switch (hostile_below(random, 4)) {
    case 0: hostile_set(to, texts[0], 0); break;
    case 1: hostile_add_text(to, texts[hostile_below(random, sizeof texts / sizeof *texts)]); break;
    case 2: {
        const field *other = f;
        for (int i = 0; i < 20; i++) {
            other = &list->items[hostile_below(random, (uint32_t)list->count)];
            if (other->type == BYTES) break;
        }
        if (other->type == BYTES) hostile_set(to, file->data + other->content, other->end - other->content);
        break;
    }
    default: {
        uint32_t length = hostile_below(random, hostile_chance(random, 90) ? 12 : 5000);
        for (uint32_t i = 0; i < length; i++) hostile_add(to, &(uint8_t){(uint8_t)(32 + hostile_below(random, 95))}, 1);
    }
    }
}

static int is_message(const field_list *list, const field *f) {
    return f + 1 < list->items + list->count && f[1].parent == f - list->items;
}

/* The field with other contents. */
static void change(hostile_random *random, const hostile_file *file, const field_list *list, const field *f,
                   hostile_file *to) {
    uint8_t bytes[10];
    uint64_t value = (uint64_t)hostile_number(random);
    if (f->type == BYTES) {
        hostile_file contents = {NULL, 0, 0};
        if (hostile_chance(random, 40)) {
            hostile_set(&contents, file->data + f->content, f->end - f->content);
            hostile_damage(random, &contents);
        } else {
            new_string(random, file, list, f, &contents);
        }
        add_head(to, f->number, BYTES, contents.size);
        hostile_add(to, contents.data, contents.size);
        hostile_clear(&contents);
        return;
    }
    add_head(to, f->number, f->type, 0);
    if (f->type == VARINT) {
        hostile_add(to, bytes, put_varint(bytes, value));
        return;
    }
    if (hostile_chance(random, 30)) value = UINT64_C(0x7fc000007fc00000); /* NaN */
    memcpy(bytes, &value, 8);
    hostile_add(to, bytes, f->type == FIXED64 ? 8 : 4);
}

/* Any field; mostly one that is a message no more, because damage to the bytes of a message is soon found. */
static const field *pick(hostile_random *random, const field_list *list) {
    const field *f = NULL;
    for (int i = 0; i < 8; i++) {
        f = &list->items[hostile_below(random, (uint32_t)list->count)];
        if (!is_message(list, f) || hostile_chance(random, 10)) break;
    }
    return f;
}

static void damage_field(hostile_random *random, hostile_file *file, const field_list *list) {
    int whole = hostile_chance(random, 35); /* messages are lost, repeated, moved; the rest is changed */
    const field *f = whole ? &list->items[hostile_below(random, (uint32_t)list->count)] : pick(random, list);
    const field *other = &list->items[hostile_below(random, (uint32_t)list->count)];
    hostile_file by = {NULL, 0, 0};
    uint32_t kind = whole ? 55 + hostile_below(random, 45) : hostile_below(random, 60);
    if (kind < 55) {
        change(random, file, list, f, &by);
    } else if (kind < 65) {
        /* nothing: the field is lost */
    } else if (kind < 80) {
        uint32_t count = 2 + hostile_below(random, hostile_chance(random, 90) ? 3 : 300);
        if (f->end - f->start > 4096) count = 2;
        for (uint32_t i = 0; i < count; i++) hostile_add(&by, file->data + f->start, f->end - f->start);
    } else if (kind < 90) {
        hostile_set(&by, file->data + other->start, other->end - other->start);
    } else if (kind < 95) {
        hostile_set(&by, file->data + f->start, f->end - f->start);
        hostile_add(&by, file->data + other->start, other->end - other->start);
    } else {
        add_head(&by, 1 + hostile_below(random, 32), f->type, f->end - f->content);
        size_t contents = f->type == VARINT ? f->start + 1 : f->content;
        hostile_add(&by, file->data + contents, f->end - contents);
    }
    replace_span(file, list, f->parent, f->start, f->end, &by);
    hostile_clear(&by);
}

/* A number becomes another small one, a string that of another field with the same number: what comes out is a message
 * that says something else. */
static void damage_gently(hostile_random *random, hostile_file *file, const field_list *list) {
    const field *f = NULL;
    for (int i = 0; i < 30; i++) {
        f = &list->items[hostile_below(random, (uint32_t)list->count)];
        if (f->type == VARINT || (f->type == BYTES && !is_message(list, f) && f->end - f->content < 64)) break;
    }
    hostile_file by = {NULL, 0, 0};
    uint8_t bytes[10];
    add_head(&by, f->number, f->type, f->end - f->content);
    if (f->type == VARINT) {
        uint64_t value = 0;
        size_t at = f->start;
        read_varint(file, f->end, &at, &value);
        read_varint(file, f->end, &at, &value);
        static const int64_t steps[] = {-2, -1, 1, 1, 2, 3, 16};
        value =
            hostile_chance(random, 60) ? value + (uint64_t)steps[hostile_below(random, 7)] : hostile_below(random, 300);
        hostile_add(&by, bytes, put_varint(bytes, value));
    } else {
        const field *other = f;
        for (int i = 0; i < 200; i++) {
            other = &list->items[hostile_below(random, (uint32_t)list->count)];
            if (other->type == f->type && other->number == f->number && other->end - other->content < 64) break;
            other = f;
        }
        by.size = 0;
        hostile_add(&by, file->data + other->start, other->end - other->start);
    }
    replace_span(file, list, f->parent, f->start, f->end, &by);
    hostile_clear(&by);
}

void hostile_damage_wire(hostile_random *random, hostile_file *file) {
    field_list list = {calloc(MAX_FIELDS, sizeof(field)), 0};
    if (!list.items) abort();
    uint32_t times = 1 + hostile_below(random, hostile_chance(random, 70) ? 2 : 8);
    int gently = hostile_chance(random, 45);
    for (uint32_t i = 0; i < times; i++) {
        list.count = 0;
        if (!collect(file, 0, file->size, -1, 0, &list) || !list.count) break;
        if (gently)
            damage_gently(random, file, &list);
        else
            damage_field(random, file, &list);
    }
    free(list.items);
}

void hostile_nest_wire(hostile_file *file, const uint8_t *fields, size_t count, size_t depth) {
    /* Heads are made from the inside to the outside and written in the other order. */
    hostile_file heads = {NULL, 0, 0};
    size_t length = 0;
    for (size_t i = depth; i-- > 0;) {
        hostile_file head = {NULL, 0, 0};
        add_head(&head, fields[i % count], BYTES, length);
        for (size_t k = head.size; k-- > 0;) hostile_add(&heads, &head.data[k], 1);
        length += head.size;
        hostile_clear(&head);
    }
    for (size_t i = heads.size; i-- > 0;) hostile_add(file, &heads.data[i], 1);
    hostile_clear(&heads);
}
