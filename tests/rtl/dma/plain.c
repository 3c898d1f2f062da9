#include "tests/rtl/dma/plain.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

/* Fields by their numbers in the tables of docs/chip.md. */
enum { WORD_SRC = 4, WORD_DST, WORD_HIGH, WORD_TYPES, WORD_SIZE, WORD_SRC_STRIDE = 12, WORD_DST_STRIDE = 16 };
enum { WORD_SCALE = 20, WORD_SCALE_ADDRESS, WORD_INDEX };
enum { COPY = 2, FILL = 3, GATHER = 4 };
enum { I8, U8, I16, I32, F32 };

static const unsigned bytes_of[] = {1, 1, 2, 4, 4};

static float multiplier(const uint32_t *words, plain_memory *at, void *context, float limit, int to_float) {
    uint32_t mode = words[WORD_TYPES] >> 8 & 3;
    float number;
    if (mode == 0)
        memcpy(&number, &words[WORD_SCALE], 4);
    else
        memcpy(&number, at(context, words[WORD_SCALE_ADDRESS]), 4);
    if (mode < 2) return number;
    if (to_float) return isnan(number) || number == INFINITY ? NAN : number / limit;
    if (!(number > 0)) return 0;
    return fminf(limit / number, 0x1.fffffep127f);
}

static float integer_at(const uint8_t *from, uint32_t type) {
    int8_t i8;
    int16_t i16;
    int32_t i32;
    switch (type) {
    case I8: memcpy(&i8, from, 1); return i8;
    case I16: memcpy(&i16, from, 2); return i16;
    default: memcpy(&i32, from, 4); return (float)i32;
    }
}

static void convert(uint8_t *to, uint32_t to_type, const uint8_t *from, uint32_t from_type, float m, float limit) {
    float x;
    if (to_type == F32) {
        x = integer_at(from, from_type) * m;
        memcpy(to, &x, 4);
        return;
    }
    memcpy(&x, from, 4);
    float y = nearbyintf(x * m);
    int value = isnan(y) || y > limit ? (int)limit : y < -limit ? -(int)limit : (int)y;
    int16_t i16 = (int16_t)value;
    int8_t i8 = (int8_t)value;
    memcpy(to, to_type == I16 ? (void *)&i16 : (void *)&i8, bytes_of[to_type]);
}

/* QuantizeLinear. */
static void quantise(uint8_t *to, const uint32_t *words, const uint8_t *from) {
    int is_signed = (words[WORD_TYPES] >> 4 & 15) == I8, low = is_signed ? -128 : 0;
    uint8_t zero_byte = (uint8_t)(words[WORD_TYPES] >> 16);
    int zero = is_signed ? (int8_t)zero_byte : zero_byte;
    float x, scale;
    memcpy(&x, from, 4);
    memcpy(&scale, &words[WORD_SCALE], 4);
    double level = nearbyint((double)(x / scale)) + zero;
    *to = (uint8_t)(isnan(level) || level > low + 255 ? low + 255 : level < low ? low : (int)level);
}

void plain_execute(const uint32_t *words, plain_memory *at, void *context) {
    uint32_t kind = words[0] & 255, from_type = words[WORD_TYPES] & 15, to_type = words[WORD_TYPES] >> 4 & 15;
    uint32_t dim = words[WORD_TYPES] >> 10 & 3, position[4];
    const uint32_t *size = words + WORD_SIZE;
    int32_t index;
    if (!size[0] || !size[1] || !size[2] || !size[3]) return;
    int to_float = to_type == F32;
    float limit = (to_float ? from_type : to_type) == I16 ? 32767 : 127, m = 0;
    int divides = kind != FILL && from_type != to_type && (words[WORD_TYPES] >> 8 & 3) == 3;
    if (kind != FILL && from_type != to_type && !divides) m = multiplier(words, at, context, limit, to_float);
    unsigned order[4] = {0, 1, 2, 3}; /* a gather: the gathered dimension outermost */
    for (unsigned i = 0, next = 1; i < 4 && kind == GATHER; i++) order[i == dim ? 0 : next++] = i;
    for (position[order[0]] = 0; position[order[0]] < size[order[0]]; position[order[0]]++)
        for (position[order[1]] = 0; position[order[1]] < size[order[1]]; position[order[1]]++)
            for (position[order[2]] = 0; position[order[2]] < size[order[2]]; position[order[2]]++)
                for (position[order[3]] = 0; position[order[3]] < size[order[3]]; position[order[3]]++) {
                    uint32_t from = words[WORD_SRC], to = words[WORD_DST];
                    for (unsigned d = 0; d < 4; d++) {
                        uint32_t place = position[d];
                        to += place * words[WORD_DST_STRIDE + d];
                        if (kind == GATHER && d == dim) {
                            memcpy(&index, at(context, words[WORD_INDEX] + 4 * place), 4);
                            place = (uint32_t)index;
                        }
                        from += place * words[WORD_SRC_STRIDE + d];
                    }
                    if (kind == FILL)
                        memcpy(at(context, to), &words[WORD_SCALE], bytes_of[to_type]);
                    else if (divides)
                        quantise(at(context, to), words, at(context, from));
                    else if (from_type == to_type)
                        memcpy(at(context, to), at(context, from), bytes_of[to_type]);
                    else
                        convert(at(context, to), to_type, at(context, from), from_type, m, limit);
                }
}
