/* What the exact search infers: how low what is left can be, whether it fits, and what that rests on. */
#include "memplan/exact.h"

void xpu_memplan_exact_explain(const xpu_memplan_exact *x, uint32_t item, xpu_memplan_reasons *reasons) {
    if (!x->marked[item]) {
        xpu_memplan_add_reasons(x, reasons, xpu_memplan_why(x, item));
        return;
    }
    /* A marked item rests on all that might lift it, and on all that might lift those of them that are marked. */
    uint32_t count = 0;
    x->work[count++] = item;
    x->seen[item] = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = x->work[i];
        xpu_memplan_add_reasons(x, reasons, xpu_memplan_why(x, at));
        if (!x->marked[at]) continue;
        xpu_memplan_add_reason(reasons, x->decision[at]);
        for (uint32_t k = x->meet_at[at]; k < x->meet_at[at + 1]; k++) {
            uint32_t other = x->meets[k];
            if (x->placed[other]) {
                xpu_memplan_add_reason(reasons, x->decision[other]);
            } else if (!x->seen[other]) {
                x->seen[other] = 1;
                x->work[count++] = other;
            }
        }
    }
    while (count > 0) x->seen[x->work[--count]] = 0;
}

/* The lowest end of what can lift a marked item; INT64_MAX where nothing can. */
static xpu_memplan_height lift(xpu_memplan_exact *x, uint32_t item) {
    xpu_memplan_height top = x->floor[item] + x->size[item], best = INT64_MAX;
    for (uint32_t k = x->meet_at[item]; k < x->meet_at[item + 1]; k++) { /* without branches, which nobody foresees */
        const uint32_t other = x->meets[k];
        const xpu_memplan_height least = x->least[other], end = least + x->size[other];
        const xpu_memplan_height possible = least < top ? end : INT64_MAX;
        best = possible < best ? possible : best;
    }
    x->steps += x->meet_at[item + 1] - x->meet_at[item];
    return best == INT64_MAX ? best : xpu_memplan_exact_rest(x, item, best);
}

/* Raises the least offsets of the marked items; 0: `reasons` says why one of them cannot be lifted. */
static int lift_marked(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, xpu_memplan_height low,
                       xpu_memplan_reasons *reasons) {
    enum { ROUNDS = 3 };
    for (uint32_t i = 0; i < count; i++) {
        uint32_t item = list[i];
        x->least[item] = x->marked[item] ? low : x->floor[item];
    }
    for (int round = 0, changed = 1; round < ROUNDS && changed; round++) {
        changed = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t item = list[i];
            if (!x->marked[item]) continue;
            int lies_below = x->floor[item] + x->size[item] <= low;
            xpu_memplan_height lifted = lies_below ? INT64_MAX : lift(x, item);
            if (lifted == INT64_MAX || lifted + x->size[item] > x->limit[item]) {
                xpu_memplan_exact_explain(x, item, reasons);
                return 0;
            }
            if (lifted > x->least[item]) {
                x->least[item] = lifted;
                changed = 1;
            }
        }
    }
    return 1;
}

/* The list by least offsets: the marked ones are sorted and merged into the others, which are sorted already. */
static void sort_by_least(xpu_memplan_exact *x, const uint32_t *list, uint32_t count) {
    uint32_t marked = 0, made = 0, next = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!x->marked[list[i]]) continue;
        uint32_t k = marked++;
        for (; k > 0 && x->least[x->work[k - 1]] > x->least[list[i]]; k--) x->work[k] = x->work[k - 1];
        x->work[k] = list[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (x->marked[list[i]]) continue;
        while (next < marked && x->least[x->work[next]] <= x->least[list[i]]) x->sorted[made++] = x->work[next++];
        x->sorted[made++] = list[i];
    }
    while (next < marked) x->sorted[made++] = x->work[next++];
}

static int lives_in(const xpu_memplan_exact *x, uint32_t item, uint32_t section) {
    for (uint32_t i = x->stretch_at[item]; i < x->stretch_at[item + 1]; i++) {
        if (x->stretches[i].from <= section && section < x->stretches[i].to) return 1;
    }
    return 0;
}

/* The items above the last hole that a section's bound leaves are those that it rests on. */
static void explain_section(const xpu_memplan_exact *x, uint32_t section, uint32_t count,
                            xpu_memplan_reasons *reasons) {
    xpu_memplan_height height = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t item = x->sorted[i];
        if (!lives_in(x, item, section)) continue;
        if (x->least[item] >= height) {
            height = x->least[item];
            first = i;
        }
        height += x->size[item];
    }
    for (uint32_t i = first; i < count; i++) {
        uint32_t item = x->sorted[i];
        if (lives_in(x, item, section)) xpu_memplan_exact_explain(x, item, reasons);
    }
}

/* In each section, what is left stands one above the other, none lower than its least offset. */
int xpu_memplan_exact_may_fit(xpu_memplan_exact *x, const uint32_t *list, uint32_t count, xpu_memplan_height low,
                              uint32_t from, uint32_t to, xpu_memplan_reasons *reasons) {
    if (!lift_marked(x, list, count, low, reasons)) return 0;
    sort_by_least(x, list, count);
    const uint32_t section = xpu_memplan_exact_stack(x, x->sorted, count, from, to);
    if (section == to) return 1;
    explain_section(x, section, count, reasons);
    return 0;
}
