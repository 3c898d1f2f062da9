/* What the two files of --describe share: lines of a graph, of a model or of a program. */
#ifndef XPU_XPUC_DESCRIBE_H
#define XPU_XPUC_DESCRIBE_H

#include "xpuc/pipeline.h"

void xpu_describe_values(const xpu_pipeline *p, xpu_text *text, const char *title, const xpu_value *values,
                         uint32_t count);
void xpu_describe_symbols(const xpu_pipeline *p, xpu_text *text);
void xpu_describe_guards(const xpu_pipeline *p, xpu_text *text);

/* Operators of one type that stay on the host, and why the first of them does. */
typedef struct {
    const char *op;
    uint32_t count;
    const char *why;
} xpu_host_operators;

typedef struct {
    const char *target;
    XPU_ARRAY(xpu_host_operators) host;
} xpu_placement;

/* describe_target.c: what the default target takes of the model that `described` has imported; 0 where it cannot be
 * asked. */
int xpu_describe_placement(const xpu_pipeline *described, xpu_placement *placement);

/* describe_model.c: as text, operator by operator, or as JSON, as --describe asks. NULL after reporting. */
char *xpu_describe_model(xpu_pipeline *p);

#endif
