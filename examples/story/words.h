/* The pieces of text that tokens stand for: a vocabulary file of llama2.c. */
#ifndef STORY_WORDS_H
#define STORY_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum { WORDS_BEGIN = 1 }; /* the token that begins a story, and ends it */

typedef struct {
    uint8_t *bytes;
    const uint8_t **words; /* in bytes */
    uint32_t *lengths;
    uint32_t count;
} words_table;

/* Reads a file of `count` words: behind a number, for each a float and a length, 32 bits each, and its bytes. Returns 0
 * or an exit code, with *why: 2 (not such a file), 3 (it cannot be read). */
int words_read(const char *path, uint32_t count, words_table *table, const char **why);
void words_clear(words_table *table);

/* The text of a token behind another one, in *room of one byte where it is that byte's number. */
const uint8_t *words_text(const words_table *table, uint32_t before, uint32_t token, uint8_t *room, uint32_t *length);

#endif
