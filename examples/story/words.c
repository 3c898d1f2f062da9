#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common/file.h"

static uint32_t word(const uint8_t *b) {
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

int words_read(const char *path, uint32_t count, words_table *table, const char **why) {
    size_t size = 0, at = 4;
    *table = (words_table){0};
    table->bytes = file_read(path, &size, why);
    if (!table->bytes) return 3;
    table->words = calloc(count, sizeof *table->words);
    table->lengths = calloc(count, sizeof *table->lengths);
    if (!table->words || !table->lengths) *why = "there is not enough memory";
    if (!table->words || !table->lengths) return 3;
    for (; table->count < count; table->count++) {
        if (at + 8 > size || word(table->bytes + at + 4) > size - at - 8) {
            *why = "it ends before its last word";
            return 2;
        }
        table->lengths[table->count] = word(table->bytes + at + 4);
        table->words[table->count] = table->bytes + at + 8;
        at += 8 + table->lengths[table->count];
    }
    return 0;
}

void words_clear(words_table *table) {
    free(table->bytes);
    free(table->words);
    free(table->lengths);
    *table = (words_table){0};
}

const uint8_t *words_text(const words_table *table, uint32_t before, uint32_t token, uint8_t *room, uint32_t *length) {
    *length = 0;
    if (token >= table->count || token == WORDS_BEGIN) return room;
    const uint8_t *text = table->words[token];
    unsigned byte;
    *length = table->lengths[token];
    if (*length == 6 && sscanf((const char *)text, "<0x%2X>", &byte) == 1) {
        *room = (uint8_t)byte;
        *length = 1;
        return room;
    }
    if (before == WORDS_BEGIN && *length && text[0] == ' ') { /* no space begins a story */
        --*length;
        text++;
    }
    return text;
}
