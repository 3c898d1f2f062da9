/* The lowest peak by the exact search. */
#include "memplan/exact.h"

#include <string.h>

typedef struct {
    xpu_memplan_exact *exact;
    uint64_t proved; /* no placement has a lower peak */
    uint64_t *peak, *offset;
} lowest;

/* Tries a peak in one way; one that is possible becomes *peak. */
static xpu_memplan_verdict try_peak(lowest *l, uint64_t wanted, uint32_t way, uint64_t patience) {
    xpu_memplan_exact *x = l->exact;
    xpu_memplan_verdict verdict = xpu_memplan_exact_try(x, x->start + wanted, way, patience, x->found);
    if (verdict == XPU_MEMPLAN_FITS) {
        *l->peak = xpu_memplan_exact_peak(x, x->found);
        memcpy(l->offset, x->found, x->all * sizeof *x->found);
    } else if (verdict == XPU_MEMPLAN_NEVER_FITS && wanted >= l->proved) {
        l->proved = wanted + x->unit;
    }
    return verdict;
}

static int is_over(const lowest *l) {
    const xpu_memplan_exact *x = l->exact;
    return l->proved >= *l->peak || x->steps > x->step_limit || xpu_stopped(x->arena);
}

/* One way: peaks between what was given up and the best, and at last the bound itself, since it is so often possible.
 * How far between changes from one order to the next: what fits and what does not is a matter of luck. */
static void try_peaks(lowest *l, uint32_t way, uint32_t round) {
    static const uint8_t parts[] = {19, 21, 23, 17}; /* of PARTS */
    enum { PARTS = 32, LATER = 20 };
    const uint64_t patience = xpu_memplan_exact_patience(l->exact, round), unit = l->exact->unit;
    const uint64_t part = round ? LATER : parts[way / XPU_MEMPLAN_EXACT_STYLES % sizeof parts];
    uint64_t below = l->proved;
    for (uint32_t given_up = 0; given_up < 1 + round && !is_over(l);) {
        if (l->proved > below + unit) below = l->proved - unit;
        if (below + unit >= *l->peak) break;
        uint64_t wanted = below + (*l->peak - below) * part / PARTS / unit * unit;
        if (wanted == below) wanted += unit;
        xpu_memplan_verdict verdict = try_peak(l, wanted, way, patience);
        if (verdict != XPU_MEMPLAN_FITS) below = wanted;
        given_up += verdict == XPU_MEMPLAN_GAVE_UP;
    }
    if (!xpu_memplan_exact_fits_walls(way) && !is_over(l)) try_peak(l, l->proved, way, patience);
}

uint64_t xpu_memplan_exact_minimise(xpu_memplan_exact *x, uint64_t low, uint64_t budget, uint64_t *steps,
                                    uint64_t *peak, uint64_t *offset) {
    const uint64_t unit = x->unit, start = x->start;
    const uint64_t pinned = x->pinned_end > start ? x->pinned_end - start : 0;
    lowest l = {x, ((pinned > low ? pinned : low) + unit - 1) / unit * unit, peak, offset};
    x->steps = 0;
    x->step_limit = budget;
    for (uint32_t turn = 0; !is_over(&l); turn++) {
        try_peaks(&l, turn % XPU_MEMPLAN_EXACT_WAYS, turn / XPU_MEMPLAN_EXACT_WAYS);
    }
    *steps += x->steps;
    return l.proved < *peak ? l.proved : *peak;
}
