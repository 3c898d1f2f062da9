/* Text from the probabilities of a recogniser that was trained by connectionist temporal classification. */
#ifndef OCR_DECODE_H
#define OCR_DECODE_H

#include <stddef.h>

#include "examples/common/file.h"

/* Class 0 is blank; the lines of the file follow, and a space is last. */
typedef struct {
    char *bytes;
    const char **names; /* in bytes, each ends with 0 */
    size_t count;
} character_list;

/* Reads a file with a character (UTF-8) in each line. Returns 0 or an exit code (2: it has no lines, 3: it cannot be
 * read). */
int characters_read(const char *path, character_list *list, file_error *error);
void characters_clear(character_list *list);

/* The likeliest class of each step; a class that follows itself counts once, blanks separate and are left out.
 * probability: [steps][list->count]. *mean: of the characters' probabilities, 0 where there are none. Returns the text,
 * malloc'd, the caller's to free; NULL where memory is short. */
char *decode_text(const float *probability, size_t steps, const character_list *list, double *mean);

#endif
