/* The libraries name options of the tools: here they have other names. */
#include <stdlib.h>
#include <string.h>

#include "provider/provider.h"

static const struct {
    const char *tool, *own;
} words[] = {{"--precision-rules", "precision_rules"},
             {"--precision", "precision"},
             {"--memory", "memory_rules"},
             {"--shape", "shapes"},
             {"--value", "values"},
             {"--chip", "chip"}};

static int goes_on(char c) {
    return c == '-' || (c >= 'a' && c <= 'z');
}

/* The option of which `text` begins with the name, and how long that is there: "xpuc --shape" is that of "--shape". */
static const char *find(const char *text, size_t *length) {
    const char *start = strncmp(text, "xpuc --", 7) == 0 ? text + 5 : text;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t of_word = strlen(words[i].tool);
        if (strncmp(start, words[i].tool, of_word) != 0 || goes_on(start[of_word])) continue;
        *length = (size_t)(start - text) + of_word;
        return words[i].own;
    }
    return NULL;
}

/* "--shape x=1,3" is "shapes=x=1,3" */
static int has_value(const char *text) {
    return text[0] == ' ' && strcspn(text + 1, "=") < strcspn(text + 1, " \n:;,");
}

char *xpu_ep_own_words(const char *text) {
    static const char before[] = "the option ";
    size_t length, most = strlen(text) + 1;
    for (const char *at = text; (at = strstr(at, "--")); at += 2) most += sizeof before + sizeof "precision_rules";
    char *copy = malloc(most), *to = copy;
    if (!copy) return NULL;
    for (const char *at = text; *at;) {
        int starts = at == text || !goes_on(at[-1]), is_quoted = at > text && at[-1] == '\'';
        const char *own = starts ? find(at, &length) : NULL;
        if (!own) {
            *to++ = *at++;
            continue;
        }
        at += length;
        int gives = has_value(at);
        if (!gives && !is_quoted) to = stpcpy(to, before);
        to = stpcpy(to, own);
        if (gives) *to++ = '=', at++;
    }
    *to = '\0';
    return copy;
}
