/* --shape NAME=DIM,DIM,...: DIM is a number, FIRST..LAST or FIRST..LAST:STEP, a symbol, or SYMBOL=FIRST..LAST:STEP. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "xpuc/pipeline.h"

typedef struct {
    xpu_arena *arena;
    xpu_diags *diags;
    const char *text;
} parser;

static xpu_status fail(const parser *p, const char *why) {
    return xpu_error(p->diags, XPU_EUSAGE, NULL, "shape-option",
                     xpu_printf(p->arena, "--shape %s", xpu_escape(p->arena, p->text, 200)), "the shape cannot be read",
                     why, "write for example --shape x=N,3,32..224:32,64, every number at least 1");
}

/* A number from 1; moves *at behind it. */
static int parse_number(const char **at, int64_t *value) {
    char *end;
    if (!isdigit((unsigned char)**at)) return 0;
    errno = 0;
    *value = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0 && *value >= 1 && *value <= INT32_MAX;
}

static int parse_range(const char **at, xpu_shape_dim *dim) {
    if (!parse_number(at, &dim->min)) return 0;
    dim->max = dim->min;
    dim->step = 1;
    if (strncmp(*at, "..", 2) != 0) return 1;
    *at += 2;
    if (!parse_number(at, &dim->max) || dim->max < dim->min) return 0;
    if (**at != ':') return 1;
    ++*at;
    return parse_number(at, &dim->step);
}

static int parse_dim(const parser *p, const char **at, xpu_shape_dim *dim) {
    *dim = (xpu_shape_dim){.symbol = NULL};
    if (isalpha((unsigned char)**at) || **at == '_') {
        const char *start = *at;
        while (isalnum((unsigned char)**at) || **at == '_') ++*at;
        dim->symbol = xpu_strndup(p->arena, start, (size_t)(*at - start));
        if (**at != '=') return 1;
        ++*at;
    }
    return parse_range(at, dim);
}

xpu_status xpu_shape_parse(xpu_arena *arena, const char *text, xpu_shape_spec *spec, xpu_diags *diags) {
    parser p = {arena, diags, text};
    const char *at = strchr(text, '=');
    *spec = (xpu_shape_spec){.rank = 0};
    if (!at || at == text) return fail(&p, "there is no 'NAME=' in front of the dims");
    spec->input = xpu_strndup(arena, text, (size_t)(at - text));
    at++;
    if (!*at) return XPU_OK; /* a scalar */
    for (;; at++) {
        if (spec->rank == XPU_MAX_RANK) return fail(&p, "a tensor has at most 8 dims");
        if (!parse_dim(&p, &at, &spec->dims[spec->rank]) || (*at && *at != ',')) {
            return fail(&p, xpu_printf(arena, "dim %d is not valid", spec->rank));
        }
        spec->rank++;
        if (!*at) return XPU_OK;
    }
}
