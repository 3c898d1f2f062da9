/* What the readers of problems and plans share: names to numbers, with messages. */
#ifndef XPU_MEMPLAN_READER_H
#define XPU_MEMPLAN_READER_H

#include "base/json.h"
#include "memplan/moves.h"

typedef struct {
    xpu_arena *arena;
    const char *file;
    xpu_diags *diags;
} xpu_memplan_reader;

typedef struct {
    const char *name;
    uint32_t number;
} xpu_memplan_named;

/* The error [memplan-name]. Returns XPU_EUSAGE. */
xpu_status xpu_memplan_wrong_name(const xpu_memplan_reader *r, const char *path, const char *what, const char *name,
                                  const char *hint);

/* The buffers by name; reports two of one name. */
xpu_memplan_named *xpu_memplan_index(const xpu_memplan_reader *r, const xpu_memplan_problem *problem);
/* XPU_MEMPLAN_NONE after reporting that there is none; of NULL without. */
uint32_t xpu_memplan_buffer_named(const xpu_memplan_reader *r, const xpu_memplan_named *index,
                                  const xpu_memplan_problem *problem, const char *path, const char *name);
uint32_t xpu_memplan_level_named(const xpu_memplan_reader *r, const xpu_memplan_problem *problem, const char *path,
                                 const char *name);

/* The length of a list; 0 after reporting that it is longer than `most`. */
uint32_t xpu_memplan_length(const xpu_memplan_reader *r, const char *key, const json_t *list, uint32_t most);

/* A list of pairs of a step and a number: [[3, 4096], ...]; and what is said of one that is none. */
typedef struct {
    uint32_t step;
    uint64_t value;
} xpu_memplan_pair;
typedef struct {
    const char *what, *why, *hint;
    int64_t most; /* of the number */
} xpu_memplan_pair_form;
const xpu_memplan_pair *xpu_memplan_read_pairs(const xpu_memplan_reader *r, const json_t *list, const char *path,
                                               const xpu_memplan_pair_form *form, uint32_t *count);

/* file_moves.c: "steps" of a problem, and what its buffers say of time. `steps` is NULL where there are none: then
 * buffers may say nothing. */
void xpu_memplan_read_timeline(const xpu_memplan_reader *r, json_t *steps, json_t *buffers,
                               const xpu_memplan_named *index, xpu_memplan_problem *problem);

/* A plan as JSON, released with the arena; and one of JSON. `moves`: NULL, or takes its keys, too. */
json_t *xpu_memplan_plan_json(xpu_arena *arena, const xpu_memplan_problem *problem, const xpu_memplan *plan);
xpu_status xpu_memplan_plan_of_json(const xpu_memplan_reader *r, json_t *root, int has_moves,
                                    const xpu_memplan_problem *problem, xpu_memplan *plan);

#endif
