/* The lowest peak by the exact search. */
#include "memplan/exact.h"

#include <string.h>

typedef struct {
    xpu_memplan_exact *exact;
    uint64_t proved; /* no placement has a lower peak */
    uint64_t *peak, *offset;
} lowest;

/* Tries a peak in one order; one that is possible becomes *peak. */
static xpu_memplan_verdict try_peak(lowest *l, uint64_t wanted, uint32_t order, uint64_t nodes) {
    xpu_memplan_exact *x = l->exact;
    xpu_memplan_verdict verdict = xpu_memplan_exact_try(x, (uint64_t)x->start + wanted, order, nodes, x->found);
    if (verdict == XPU_MEMPLAN_FITS) {
        *l->peak = xpu_memplan_exact_peak(x, x->found);
        memcpy(l->offset, x->found, x->all * sizeof *x->found);
    } else if (verdict == XPU_MEMPLAN_NEVER_FITS && wanted >= l->proved) {
        l->proved = wanted + (uint64_t)x->unit;
    }
    return verdict;
}

static int is_over(const lowest *l) {
    const xpu_memplan_exact *x = l->exact;
    return l->proved >= *l->peak || x->steps > x->step_limit || xpu_stopped(x->arena);
}

/* One order: the bound itself, since it is so often possible, then peaks between what was given up and the best; in
 * later rounds closer to the best. */
static void try_peaks(lowest *l, uint32_t order, uint32_t round) {
    const uint64_t nodes = xpu_memplan_exact_turn(l->exact, round);
    const uint64_t unit = (uint64_t)l->exact->unit;
    uint64_t below = l->proved;
    try_peak(l, below, order, nodes);
    for (uint32_t given_up = 0; given_up < 2 + round && !is_over(l);) {
        if (l->proved > below + unit) below = l->proved - unit;
        if (below + unit >= *l->peak) break;
        uint64_t wanted = below + (*l->peak - below) * (round ? 3 : 2) / 4 / unit * unit;
        if (wanted == below) wanted += unit;
        xpu_memplan_verdict verdict = try_peak(l, wanted, order, nodes);
        if (verdict != XPU_MEMPLAN_FITS) below = wanted;
        given_up += verdict == XPU_MEMPLAN_GAVE_UP;
    }
}

uint64_t xpu_memplan_exact_minimise(xpu_memplan_exact *x, uint64_t low, uint64_t budget, uint64_t *steps,
                                    uint64_t *peak, uint64_t *offset) {
    const uint64_t unit = (uint64_t)x->unit, start = (uint64_t)x->start;
    const uint64_t pinned = x->pinned_end > start ? x->pinned_end - start : 0;
    lowest l = {x, ((pinned > low ? pinned : low) + unit - 1) / unit * unit, peak, offset};
    x->steps = 0;
    x->step_limit = budget;
    for (uint32_t turn = 0; !is_over(&l); turn++) {
        try_peaks(&l, turn % XPU_MEMPLAN_EXACT_ORDERS, turn / XPU_MEMPLAN_EXACT_ORDERS);
    }
    *steps += x->steps;
    return l.proved < *peak ? l.proved : *peak;
}
