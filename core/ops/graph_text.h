/* The text form: one node per line with origin, shapes and attributes (`xpuc --emit=ir`, `--dump-after`). */
#ifndef XPU_CORE_OPS_GRAPH_TEXT_H
#define XPU_CORE_OPS_GRAPH_TEXT_H

#include "core/ir/graph.h"

void xpu_graph_text(const xpu_graph *graph, xpu_text *text);

#endif
