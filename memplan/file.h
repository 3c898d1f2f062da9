/*
 * Problems and plans as files. A problem:
 *     {"levels": [{"name": "SM", "bytes": 262144, "reserved": 1024, "alignment": 64, "bytes_per_cycle": 64,
 *                  "banks": 8, "bank_bytes": 64, "bank_fields": 3}, ...],
 *      "buffers": [{"name": "conv1/out", "bytes": 4096, "alignment": 64, "first": 0, "last": 12, "gaps": [[3, 6]],
 *                   "kind": "activation", "access_bytes": 8192, "levels": ["L3", "GM"], "offset": 64}, ...],
 *      "aliases": [{"buffer": "add/out", "other": "conv1/out", "kind": "in-place", "offset": 0, "rows": 0,
 *                   "row_bytes": 0, "pitch": 0}, ...]}
 * levels of a buffer: best first; absent: all. offset: it is pinned there, and has one level. gaps: [first, last] steps
 * at which it is not live. All other numbers but bytes, first and last may be left out. A plan:
 *     {"places": [{"buffer": "conv1/out", "level": "L3", "offset": 0, "alias_of": "x"}, ...],
 *      "usage": [{"level": "SM", "buffers": 3, "capacity": 261120, "peak": 4096, "lower_bound": 4096, "gap": 0,
 *                 "proved_bound": 4096, "worst_step": 2, "fragmentation_permille": 0}, ...],
 *      "spills": [{"buffer": "conv1/out", "preferred": "SM", "why": "no room: ..."}, ...]}
 * with alias_of where an alternative was taken, and "alternative": N where N others of the two buffers are before it.
 *
 * With "steps": [{"name": "conv1", "cycles": 1200}, ...] a problem has a time line: a level may have a "latency", a
 * buffer "uses": [[step, bytes], ...], "home": "GM" and "anew": {"cycles": 100, "operands": ["x"]}. Its plan has places
 * in time (memplan/moves.h): "stays": [{"buffer", "level", "from", "to"}, ...], "transfers": [{"source": 0, "target":
 * 1, "begin": 3, "end": 4, "shares": [[3, 4096], ...]}, ...], in which source and target are numbers of stays,
 * "cycles": [of each step], "last_bytes", and all of the above as for a problem whose buffers are the stays; of a
 * buffer with several they are called conv1/w@L3:3, with level and first step, and a "+" where a buffer is called so.
 *
 * Minimalloc's CSV is a problem of one level too, whose size the caller gives. Its first line names the columns, in any
 * order: id (or buffer, buffer_id), lower (start, begin), upper, which the life does not include (or end, which it
 * does), size, and where they are wanted alignment, gaps, "3-7 10-12", which end as the life does, and offset, where
 * the buffer is pinned if it says so. With an offset for each buffer it is a plan of one level without aliases.
 */
#ifndef XPU_MEMPLAN_FILE_H
#define XPU_MEMPLAN_FILE_H

#include "memplan/memplan.h"

/* Reads a problem; everything lives in `arena`. Errors: those of base/json.h, [memplan-name] a name that does not exist
 * or exists twice, [memplan-csv]. `csv_bytes`: size of the level of a .csv file, 0: just what the largest step needs.
 */
xpu_status xpu_memplan_read(xpu_arena *arena, const char *path, uint64_t csv_bytes, xpu_memplan_problem *problem,
                            xpu_diags *diags);

/* A plan as JSON, or as CSV where the path ends in .csv: [memplan-csv] where that cannot hold it. */
xpu_status xpu_memplan_write(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                             const xpu_memplan *plan, xpu_diags *diags);
/* Places, usage and spills as the file says; xpu_memplan_check judges them. */
xpu_status xpu_memplan_read_plan(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                                 xpu_memplan *plan, xpu_diags *diags);

/* Writes a picture: a panel for each level, steps to the right, bytes upwards, a rectangle for each buffer. */
xpu_status xpu_memplan_draw(xpu_arena *arena, const char *path, const xpu_memplan_problem *problem,
                            const xpu_memplan *plan, xpu_diags *diags);

#endif
