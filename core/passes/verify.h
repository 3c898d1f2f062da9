#ifndef XPU_CORE_PASSES_VERIFY_H
#define XPU_CORE_PASSES_VERIFY_H

#include "core/target.h"

/* What xpu_graph_verify checks, and what must hold of operators behind `stage`, the name of the pass that just ran
 * (another text: what holds behind every pass). `job` and `target` are NULL where there is none: what depends on them
 * is not checked then. Adds [ir-verify] errors, which name the check; returns XPU_OK or XPU_EBUG. */
xpu_status xpu_verify_stage(const xpu_graph *graph, const char *stage, xpu_target_job *job, const xpu_target *target,
                            xpu_diags *diags);
static inline xpu_status xpu_verify(const xpu_graph *graph, const char *stage, xpu_diags *diags) {
    return xpu_verify_stage(graph, stage, NULL, NULL, diags);
}

#endif
