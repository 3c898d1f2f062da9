/* What the two files of --describe share: lines of a graph, of a model or of a program. */
#ifndef XPU_XPUC_DESCRIBE_H
#define XPU_XPUC_DESCRIBE_H

#include "xpuc/pipeline.h"

void xpu_describe_values(const xpu_pipeline *p, xpu_text *text, const char *title, const xpu_value *values,
                         uint32_t count);
void xpu_describe_symbols(const xpu_pipeline *p, xpu_text *text);
void xpu_describe_guards(const xpu_pipeline *p, xpu_text *text);

/* describe_model.c: as text, operator by operator, or as JSON, as --describe asks. NULL after reporting. */
char *xpu_describe_model(xpu_pipeline *p);

#endif
