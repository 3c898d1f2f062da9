/* convert.c: from the options to the files. */
#ifndef XPU_XPUC_CONVERT_H
#define XPU_XPUC_CONVERT_H

#include "xpuc/pipeline.h"

/* Reads the model and writes it as pipeline->output, whose ending says the format. [convert-format] [convert-operator]
 */
xpu_status xpu_convert(xpu_pipeline *pipeline);

#endif
