/* Which nodes of a graph the compiler takes: it is asked, region by region, until nothing changes. */
#ifndef XPU_PROVIDER_TRIAL_H
#define XPU_PROVIDER_TRIAL_H

#include "provider/provider.h"

typedef struct {
    xpu_ep *ep;
    xpu_ep_graph graph;
    uint8_t *takes;      /* by node: the compiler may get it */
    uint8_t *computes;   /* by node: the chip has work to do for it */
    uint8_t *products;   /* by node: that work is sums of products */
    uint32_t *region_of; /* by node: from 1 on; 0: it is onnxruntime's */
    uint32_t regions;
    const xpu_ep_compiled **compiled; /* by region; NULL: not yet, or the machine lacks something */
    XPU_ARRAY(xpu_hash) tried;        /* models whose nodes all run on the chip */
} xpu_ep_trial;

/* Asks about a region, without clang. Nodes that are refused get takes 0 and a reason; *changed says whether there were
 * some. */
OrtStatus *xpu_ep_try_region(xpu_ep_trial *trial, uint32_t region, int *changed);

/* Compiles a region whose nodes have been tried, for Compile to find it. */
OrtStatus *xpu_ep_prepare_region(xpu_ep_trial *trial, uint32_t region, int *changed);

/* rules.c: an error where a rule matches nothing of any region, though it should; a warning in the log for others.
 * The regions are compiled. */
OrtStatus *xpu_ep_check_rules(xpu_ep_trial *trial);

#endif
