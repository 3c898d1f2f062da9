#include "decode.h"

#include <stdlib.h>
#include <string.h>

int characters_read(const char *path, character_list *list, file_error *error) {
    const char *why = NULL;
    size_t size, lines = 0;
    *list = (character_list){0};
    *error = (file_error){0};
    uint8_t *bytes = file_read(path, &size, &why);
    if (!bytes)
        return file_fails(error, 3, "io-read", "the characters cannot be read",
                          "scripts/get-models ppocr_keys_v1.txt says where they are", "%s", why);
    for (size_t i = 0; i < size; i++) lines += bytes[i] == '\n' || i + 1 == size;
    list->bytes = realloc(bytes, size + 1);
    if (!list->bytes) free(bytes);
    list->names = list->bytes ? malloc((lines + 2) * sizeof *list->names) : NULL;
    if (!list->names)
        return file_fails(error, 3, "memory", "there is not enough memory", "a smaller file", "%zu lines", lines);
    if (!lines || memchr(list->bytes, 0, size))
        return file_fails(error, 2, "ocr-characters", "this is no list of characters",
                          "scripts/get-models ppocr_keys_v1.txt says where one is",
                          lines ? "it has bytes that are 0" : "it has no lines");
    list->bytes[size] = '\n';
    list->names[list->count++] = "";
    for (char *at = list->bytes; list->count <= lines;) {
        char *end = strchr(at, '\n');
        if (end > at && end[-1] == '\r') end[-1] = 0;
        *end = 0;
        list->names[list->count++] = at;
        at = end + 1;
    }
    list->names[list->count++] = " ";
    return 0;
}

void characters_clear(character_list *list) {
    free(list->bytes);
    free(list->names);
    *list = (character_list){0};
}

char *decode_text(const float *probability, size_t steps, const character_list *list, double *mean) {
    size_t room = 1, used = 0, before = 0, characters = 0;
    char *text = calloc(1, 1);
    *mean = 0;
    for (size_t i = 0; text && i < steps; i++) {
        const float *row = probability + i * list->count;
        size_t best = 0;
        for (size_t k = 1; k < list->count; k++) {
            if (row[k] > row[best]) best = k;
        }
        int counts = best != 0 && best != before;
        before = best;
        if (!counts) continue;
        size_t length = strlen(list->names[best]);
        while (used + length + 1 > room) room *= 2;
        char *larger = realloc(text, room);
        if (!larger) free(text);
        text = larger;
        if (text) memcpy(text + used, list->names[best], length + 1);
        used += length;
        *mean += (double)row[best];
        characters++;
    }
    if (characters) *mean /= (double)characters;
    return text;
}
