/*
 * Time is halved again and again. At each middle stand the boxes that live there: they live together, so where the plan
 * is right few of them meet in bytes. These are compared with each other and with the boxes of both halves, by address;
 * boxes of the left half and of the right one never meet.
 */
#include "memplan/meetings.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    xpu_memplan_meeting_fn meet;
    void *context;
    xpu_memplan_box *spare; /* as many as there are boxes */
    uint64_t *ends;         /* by place in a sorted list: the largest end up to there */
    int enough;
} search;

static int compare(const void *a, const void *b) {
    const xpu_memplan_box *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void try_pair(search *s, const xpu_memplan_box *a, const xpu_memplan_box *b) {
    int meet = a->first <= b->last && b->first <= a->last && a->start < b->end && b->start < a->end;
    if (meet && !s->enough) s->enough = s->meet(s->context, a->id, b->id);
}

/* How many of the sorted boxes begin below `start`. */
static uint32_t below(const xpu_memplan_box *boxes, uint32_t count, uint64_t start) {
    uint32_t from = 0, to = count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (boxes[middle].start < start) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

/* One box with all of a sorted list that reach into its bytes. */
static void compare_with(search *s, const xpu_memplan_box *one, const xpu_memplan_box *list, uint32_t count) {
    for (uint32_t i = below(list, count, one->end); i-- > 0 && s->ends[i] > one->start && !s->enough;) {
        try_pair(s, one, &list[i]);
    }
}

/* Of boxes that are sorted by address; they come back in another order. */
static void halve(search *s, xpu_memplan_box *boxes, uint32_t count, uint64_t from, uint64_t to) {
    if (count < 2 || s->enough) return;
    uint64_t middle = from + (to - from) / 2;
    uint32_t here = 0, left = 0, right = 0;
    for (int side = 0; side < 3; side++) { /* at the middle, before it, behind it; each in its order */
        for (uint32_t i = 0; i < count; i++) {
            int of = boxes[i].last < middle ? 1 : boxes[i].first > middle ? 2 : 0;
            if (of != side) continue;
            s->spare[here + left + right] = boxes[i];
            *(side == 0 ? &here : side == 1 ? &left : &right) += 1;
        }
    }
    memcpy(boxes, s->spare, count * sizeof *boxes);
    for (uint32_t i = 0; i < here; i++) {
        s->ends[i] = i && s->ends[i - 1] > boxes[i].end ? s->ends[i - 1] : boxes[i].end;
    }
    for (uint32_t i = 0; i < here; i++) compare_with(s, &boxes[i], boxes, i);
    for (uint32_t i = here; i < count; i++) compare_with(s, &boxes[i], boxes, here);
    if (left && middle > from) halve(s, boxes + here, left, from, middle - 1);
    if (right) halve(s, boxes + here + left, right, middle + 1, to);
}

void xpu_memplan_meetings(xpu_arena *arena, xpu_memplan_box *boxes, uint32_t count, xpu_memplan_meeting_fn meet,
                          void *context) {
    uint64_t last = 0;
    if (count < 2) return;
    for (uint32_t i = 0; i < count; i++) {
        if (boxes[i].last > last) last = boxes[i].last;
    }
    search s = {meet, context, XPU_NEW_ARRAY(arena, xpu_memplan_box, count), XPU_NEW_ARRAY(arena, uint64_t, count), 0};
    qsort(boxes, count, sizeof *boxes, compare);
    halve(&s, boxes, count, 0, last);
}
