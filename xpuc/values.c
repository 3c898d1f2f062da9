/* --value NAME=NUMBER,NUMBER,... or NAME=FIRST..LAST; --bound NAME=NUMBER. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xpuc/pipeline.h"

static xpu_status fail(xpu_arena *arena, const char *text, const char *why, xpu_diags *diags) {
    return xpu_error(diags, XPU_EUSAGE, NULL, "value-option",
                     xpu_printf(arena, "--value %s", xpu_escape(arena, text, 200)), "the value cannot be read", why,
                     "write for example --value sr=16000, --value axes=0,2 or --value k=1..9");
}

/* A number; moves *at behind it. */
static int parse_number(const char **at, int64_t *value) {
    char *end;
    const char *digits = *at + (**at == '-');
    if (*digits < '0' || *digits > '9') return 0;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

xpu_status xpu_values_parse(xpu_arena *arena, const char *text, xpu_value_spec *spec, xpu_diags *diags) {
    const char *at = strchr(text, '=');
    *spec = (xpu_value_spec){.count = 0};
    if (!at || at == text) return fail(arena, text, "there is no 'NAME=' in front of the numbers", diags);
    spec->input = xpu_strndup(arena, text, (size_t)(at - text));
    do {
        at++;
        if (spec->count == XPU_MOST_VALUES) return fail(arena, text, "there are more than 16 numbers", diags);
        if (!parse_number(&at, &spec->numbers[spec->count++]))
            return fail(arena, text, "something is no number of 64 bits", diags);
    } while (*at == ',');
    if (strncmp(at, "..", 2) == 0 && spec->count == 1) {
        at += 2;
        spec->is_range = 1;
        spec->min = spec->numbers[0];
        if (!parse_number(&at, &spec->max) || spec->max < spec->min || spec->min < INT32_MIN || spec->max > INT32_MAX)
            return fail(arena, text, "the range is none of numbers of 32 bits", diags);
    }
    return *at ? fail(arena, text, xpu_printf(arena, "'%s' is too much", xpu_escape(arena, at, 40)), diags) : XPU_OK;
}

xpu_status xpu_bounds_parse(xpu_arena *arena, const char *text, xpu_bound_spec *spec, xpu_diags *diags) {
    const char *equals = strrchr(text, '='), *at = equals ? equals + 1 : text, *why = NULL;
    *spec = (xpu_bound_spec){.name = equals ? xpu_strndup(arena, text, (size_t)(equals - text)) : text};
    if (!equals || equals == text) {
        why = "there is no 'NAME=' in front of the number";
    } else if (!parse_number(&at, &spec->most) || *at || spec->most < 1 || spec->most > XPU_MOST_BOUND) {
        why = xpu_printf(arena, "'%s' is no number from 1 to %d", xpu_escape(arena, equals + 1, 40), XPU_MOST_BOUND);
    }
    if (!why) return XPU_OK;
    return xpu_error(diags, XPU_EUSAGE, NULL, "bound-option",
                     xpu_printf(arena, "--bound %s", xpu_escape(arena, text, 200)), "the bound cannot be read", why,
                     "write for example --bound boxes=100");
}
