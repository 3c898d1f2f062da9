/* Which iterations of loops are meant: what dumps, statistics and replays are asked for. */
#include "xpu_runtime/host/iterations.h"

#include <stdint.h>
#include <string.h>

static int read_number(const char **text, int64_t *number) {
    const size_t digits = strspn(*text, "0123456789");
    if (digits < 1 || digits > 10) return 0;
    *number = 0;
    for (size_t i = 0; i < digits; i++) *number = *number * 10 + (*(*text)++ - '0');
    return *number <= INT32_MAX;
}

/* "*", "3" or "0..3". */
static int read_range(const char **text, xpu_iteration_range *range) {
    *range = (xpu_iteration_range){0, INT32_MAX};
    if (**text == '*') return (*text)++, 1;
    if (!read_number(text, &range->first)) return 0;
    range->last = range->first;
    if (strncmp(*text, "..", 2) != 0) return 1;
    *text += 2;
    return read_number(text, &range->last) && range->first <= range->last;
}

/* ".i0002.i0001" */
static int read_path(const char *text, xpu_iteration_ranges *ranges) {
    while (*text) {
        if (text[0] != '.' || text[1] != 'i' || ranges->count == XPU_MOST_LOOPS) return 0;
        text += 2;
        xpu_iteration_range *range = &ranges->of[ranges->count++];
        if (!read_number(&text, &range->first)) return 0;
        range->last = range->first;
    }
    return 1;
}

int xpu_iteration_ranges_read(const char *text, xpu_iteration_ranges *ranges) {
    ranges->count = 0;
    if (*text == '.') return read_path(text, ranges);
    while (ranges->count < XPU_MOST_LOOPS) {
        if (!read_range(&text, &ranges->of[ranges->count++])) return 0;
        if (!*text) return 1;
        if (*text++ != ',') return 0;
    }
    return 0;
}

int xpu_iterations_are_in(const xpu_iteration_ranges *ranges, const xpu_iterations *iterations, uint32_t loops) {
    for (uint32_t i = 0; i < loops; i++) {
        if (ranges->count > 1 && i >= ranges->count) break;
        const xpu_iteration_range *range = &ranges->of[ranges->count == 1 ? 0 : i];
        if (iterations->at[i] < range->first || iterations->at[i] > range->last) return 0;
    }
    return 1;
}

int xpu_iterations_read(const char *text, xpu_iterations *iterations) {
    xpu_iteration_ranges ranges;
    if (strchr(text, '*') || !xpu_iteration_ranges_read(text, &ranges)) return -1;
    for (uint32_t i = 0; i < ranges.count; i++) {
        if (ranges.of[i].first != ranges.of[i].last) return -1;
        iterations->at[i] = ranges.of[i].first;
    }
    return (int)ranges.count;
}

xpu_status xpu_iterations_wrong(xpu_arena *arena, xpu_diags *diags, const char *option, const char *text) {
    return xpu_error(diags, XPU_EUSAGE, NULL, "usage", option, "this is no range of iterations",
                     xpu_escape_message(arena, text, 80),
                     "write the first and the last one, from 0 on: 0..3; for each of loops in loops: 2,0..3");
}
