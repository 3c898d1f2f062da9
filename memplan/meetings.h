/* Which of many boxes of steps and bytes meet, without looking at every two. */
#ifndef XPU_MEMPLAN_MEETINGS_H
#define XPU_MEMPLAN_MEETINGS_H

#include "base/arena.h"

typedef struct {
    uint32_t first, last; /* steps, both included */
    uint64_t start, end;  /* bytes, the end not included */
    uint32_t id;
} xpu_memplan_box;

/* Called once for every two boxes that have a step and a byte in common. Not 0: that is enough. */
typedef int (*xpu_memplan_meeting_fn)(void *context, uint32_t a, uint32_t b);

/* The boxes are sorted anew. Takes n log^2 n, and the boxes that meet. */
void xpu_memplan_meetings(xpu_arena *arena, xpu_memplan_box *boxes, uint32_t count, xpu_memplan_meeting_fn meet,
                          void *context);

#endif
