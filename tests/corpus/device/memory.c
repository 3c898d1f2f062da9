/* Memory: copies, strides, layouts of structures, bytes and halves, lists, all memories of the chip. */
#include "tests/corpus/device/support/corpus.h"

static uint8_t far_bytes[2048] __attribute__((aligned(64)));
static uint32_t far_words[512] __attribute__((aligned(64)));

KERNEL(copies) {
    uint8_t a[600], b[600];
    for (int i = 0; i < 600; i++) a[i] = (uint8_t)next(&seed), b[i] = 0;
    for (int k = 0; k < 24; k++) { /* all alignments of both ends */
        uint32_t from = below(&seed, 40), to = below(&seed, 40), n = below(&seed, 80);
        for (uint32_t i = 0; i < n; i++) b[k * 20 + to + i] = a[k * 20 + from + i];
    }
    for (int k = 0; k < 20; k++) { /* overlapping */
        uint32_t from = below(&seed, 400), to = from + below(&seed, 60) - 30 + (from < 30 ? 30 : 0),
                 n = below(&seed, 100);
        __builtin_memmove(b + to, b + from, n);
    }
    __builtin_memset(a + 3, 0x5b, 41);
    __builtin_memcpy(out, b, 600);
    __builtin_memcpy(out + 150, a, 80);
}

KERNEL(strided_copies) {
    uint32_t image[24][20], *sm = SM_AREA;
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 20; j++) image[i][j] = next(&seed);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 10; j++) sm[i * 10 + j] = image[2 * i + 1][2 * j];
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 12; j++) out[i * 12 + j] = sm[j * 10 + (9 - i)];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 24; j++) out[120 + i * 24 + j] = image[j][4 * i];
}

struct record {
    uint8_t kind;
    int16_t height;
    uint32_t key;
    int8_t tail[3];
    float weight;
    uint64_t stamp;
};
KERNEL(structures) {
    struct record r[12], *sorted[12];
    for (int i = 0; i < 12; i++) {
        r[i].kind = (uint8_t)next(&seed), r[i].height = (int16_t)next(&seed), r[i].key = next(&seed);
        for (int k = 0; k < 3; k++) r[i].tail[k] = (int8_t)next(&seed);
        r[i].weight = unit(&seed), r[i].stamp = (uint64_t)next(&seed) * next(&seed);
        int at = i;
        for (; at > 0 && sorted[at - 1]->key > r[i].key; at--) sorted[at] = sorted[at - 1];
        sorted[at] = &r[i];
    }
    struct record copy = *sorted[3];
    *sorted[3] = *sorted[7], *sorted[7] = copy;
    for (int i = 0; i < 12; i++) {
        uint32_t *o = out + 9 * i;
        const struct record *p = sorted[i];
        o[0] = p->kind, o[1] = (uint32_t)p->height, o[2] = p->key, o[3] = (uint32_t)p->tail[0],
        o[4] = (uint32_t)p->tail[1];
        o[5] = (uint32_t)p->tail[2], o[6] = bits(p->weight), o[7] = (uint32_t)p->stamp,
        o[8] = (uint32_t)(p->stamp >> 32);
    }
    out[200] = sizeof(struct record), out[201] = offsetof(struct record, weight),
    out[202] = offsetof(struct record, stamp);
}

KERNEL(arrays_of_fields) {
    const int n = OPAQUE(60); /* clang 19 fails on strided loops with a known count */
    struct {
        float x, y, z;
        int32_t n;
    } points[60];
    float x[60], y[60], z[60];
    for (int i = 0; i < n; i++)
        points[i].x = unit(&seed), points[i].y = unit(&seed), points[i].z = unit(&seed), points[i].n = i * i;
    for (int i = 0; i < n; i++) x[i] = points[i].x, y[i] = points[i].y, z[i] = points[i].z;
    for (int i = 0; i < n; i++) x[i] += y[i] * (float)points[i].n, points[59 - i].z = x[i] - z[i];
    for (int i = 0; i < n; i++)
        out[4 * i] = bits(points[i].x), out[4 * i + 1] = bits(x[i]), out[4 * i + 2] = bits(points[i].z),
                out[4 * i + 3] = bits(y[i] * z[i]);
}

struct fields {
    uint32_t a : 3, b : 13;
    int32_t c : 7, d : 9;
    uint32_t e : 1, f : 31;
};
KERNEL(bit_fields) {
    struct fields f = {0};
    for (int i = 0; i < 40; i++) {
        uint32_t r = next(&seed);
        f.a += r & 7, f.b = r >> 3 & 0x1fff, f.c = (int32_t)(r >> 16 & 0x3f) - 32,
                      f.d = (int32_t)(r >> 20 & 0xff) - 128;
        f.e ^= r >> 31, f.f = r * 5 & 0x7fffffff;
        out[6 * i] = f.a, out[6 * i + 1] = f.b, out[6 * i + 2] = (uint32_t)f.c, out[6 * i + 3] = (uint32_t)f.d,
                out[6 * i + 4] = f.e, out[6 * i + 5] = f.f;
    }
}

KERNEL(bytes_and_halves) {
    uint16_t *halves = SM_AREA;
    int8_t *bytes = L3_AREA;
    for (int i = 0; i < 400; i++) halves[i] = (uint16_t)next(&seed), bytes[i] = (int8_t)next(&seed);
    for (int i = 0; i < 400; i += 3) far_bytes[i] = (uint8_t)(halves[i] >> 4), far_bytes[i + 1] = (uint8_t)bytes[i + 1];
    uint32_t hash = 0;
    for (int i = 0; i < 399; i++) {
        int32_t wide = (int16_t)halves[i] * bytes[399 - i] + far_bytes[i];
        bytes[i] = (int8_t)(wide >> 3), halves[i + 1] = (uint16_t)(halves[i + 1] ^ (uint16_t)wide);
        hash = mix(hash, (uint32_t)wide);
    }
    for (int i = 0; i < 100; i++) out[2 * i] = halves[4 * i], out[2 * i + 1] = (uint32_t)bytes[4 * i + 1];
    out[200] = hash;
}

KERNEL(byte_orders) {
    uint8_t stream[256];
    for (int i = 0; i < 256; i++) stream[i] = (uint8_t)next(&seed);
    for (int i = 0; i < 80; i++) {
        const uint8_t *p = stream + 3 * i;
        uint32_t little = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24, unaligned;
        __builtin_memcpy(&unaligned, p, 4);
        out[3 * i] = little, out[3 * i + 1] = __builtin_bswap32(little) ^ (uint32_t)__builtin_bswap16((uint16_t)little),
                out[3 * i + 2] = unaligned - little;
    }
}

KERNEL(linked_lists) {
    struct node {
        struct node *next;
        uint32_t value;
    } *heap = L3_AREA, *head = 0;
    for (int i = 0; i < 100; i++) {
        struct node *n = heap + (uint32_t)(i * 37 % 101), **at = &head;
        n->value = next(&seed) >> 16;
        while (*at && (*at)->value < n->value) at = &(*at)->next;
        n->next = *at, *at = n;
    }
    struct node *reversed = 0;
    for (int i = 0; head; i++) {
        struct node *n = head;
        head = n->next;
        if (i % 7 == 3) continue;
        n->next = reversed, reversed = n;
    }
    for (int i = 0; reversed; reversed = reversed->next) out[i++] = reversed->value;
}

KERNEL(queues) {
    uint32_t ring[32], first = 0, last = 0, n = 0;
    for (int i = 0; i < 1000 && n < 240; i++) {
        if (next(&seed) & 1) {
            if (last - first < 32) ring[last++ % 32] = next(&seed);
        } else if (last != first) {
            out[n++] = ring[first % 32] ^ (last - first);
            first++;
        }
    }
    out[250] = first, out[251] = last;
}

KERNEL(all_memories) {
    uint32_t local[128], *places[4] = {local, SM_AREA, L3_AREA, far_words};
    for (int p = 0; p < 4; p++)
        for (int i = 0; i < 128; i++) places[p][i] = next(&seed);
    for (int round = 0; round < 3; round++)
        for (int p = 0; p < 4; p++) {
            uint32_t *from = places[p], *to = places[(p + 1 + round) % 4];
            for (int i = 0; i < 128; i++) to[i] = to[i] * 5 + from[i];
        }
    for (int p = 0; p < 4; p++)
        for (int i = 0; i < 62; i++) out[p * 62 + i] = places[p][2 * i] ^ places[p][2 * i + 1];
}

KERNEL(stack_frames) {
    volatile uint32_t sum = 0;
    for (uint32_t n = 1; n < 20; n++) {
        uint8_t area[n * 37];
        for (uint32_t i = 0; i < n * 37; i++) area[i] = (uint8_t)next(&seed);
        uint32_t hash = n;
        for (uint32_t i = 0; i < n * 37; i++) hash = mix(hash, area[n * 37 - 1 - i]);
        sum += hash, out[n] = sum;
    }
}

RUN(copies, strided_copies, structures, arrays_of_fields, bit_fields, bytes_and_halves, byte_orders, linked_lists,
    queues, all_memories, stack_frames)
