/* Reports of memory plans: per level peak, lower bound, gap and fragmentation; the spills; the table of buffers. */
#ifndef XPU_MEMPLAN_REPORT_H
#define XPU_MEMPLAN_REPORT_H

#include <jansson.h>

#include "memplan/memplan.h"

/* Text for people, in `arena`. Names are escaped. */
char *xpu_memplan_text(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan);

/* {"levels": [{"name", "bytes", "reserved", "alignment", "capacity", "peak", "lower_bound", "gap", "proved_bound",
 *              "worst_step", "fragmentation_permille", "buffers"}],
 *  "spills": [{"buffer", "preferred", "level", "why"}],
 *  "buffers": [{"name", "kind", "level", "offset", "bytes", "first", "last", "gaps", "alias_of"}]}
 * A spill's level is where it stands; alias_of is absent where a buffer is no alias, gaps
 * where it has none. Released with the arena. */
json_t *xpu_memplan_json(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan);

/* Sets "gaps": [[first, last], ...] where the buffer has some. */
void xpu_memplan_set_gaps(xpu_arena *arena, json_t *object, const xpu_memplan_buffer *buffer);

#endif
