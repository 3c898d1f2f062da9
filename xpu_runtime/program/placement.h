/*
 * Where the buffers of a program lie: the one conversion of a program's buffers into a memory plan. The compiler plans
 * programs without symbols with it and tries others at their largest shape; the runtime plans when shapes are bound.
 *
 * Planned areas: SM behind the mailboxes, L3 whole, GM behind the program's image. Offsets of buffers count from there;
 * those of weights from the start of the weights' segment.
 */
#ifndef XPU_PROGRAM_PLACEMENT_H
#define XPU_PROGRAM_PLACEMENT_H

#include "core/chip.h"
#include "memplan/memplan.h"
#include "xpu_runtime/program/program.h"

typedef struct {
    xpu_memplan_problem problem;        /* its buffer i is buffer i of the program; its levels are xpu_level */
    uint64_t reserved[XPU_LEVEL_COUNT]; /* bytes at the start of each level that are not planned */
    xpu_memplan_options planning;
} xpu_placement;

typedef struct {
    xpu_level level;
    uint64_t offset;  /* as in xpu_program_buffer */
    uint32_t address; /* on the device */
} xpu_place;

/* The memory problem of `program` when symbol i has symbols[i] (NULL where there is none). weights_address and
 * image_end of the program must be known. Errors: [gm-capacity] where the program or one value alone does not fit GM.
 */
xpu_status xpu_placement_problem(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols,
                                 xpu_arena *arena, xpu_placement *placement, xpu_diags *diags);

/* Plans it; memplan's validator checks the plan. [gm-capacity] and [plan-capacity] name the shape. */
xpu_status xpu_placement_plan(const xpu_placement *placement, xpu_arena *arena, xpu_memplan **plan, xpu_diags *diags);

/* "shape x=4,3,224,224": the inputs with symbols; NULL where there are none. */
const char *xpu_placement_shape(const xpu_program *program, const int64_t *symbols, xpu_arena *arena);

/* Places of all buffers from a plan of that problem, in `arena`. */
xpu_place *xpu_placement_places(const xpu_program *program, const xpu_placement *placement, const xpu_memplan *plan,
                                xpu_arena *arena);

/* states.c: fills program->states once values, buffers and layers are known. What is wrong with them, or NULL. */
const char *xpu_program_find_states(xpu_program *program, xpu_arena *arena);
/* The places for a run behind an odd number of runs: each state's input and output change places. */
void xpu_placement_swap(const xpu_program *program, xpu_place *places);

/* For showing: the plan that runs of this problem have, its stored places where the program carries them; memplan's
 * validator has checked it. Afterwards a buffer that is another name for a part of one (alias_of) has its bytes, in the
 * plan and in the problem, whose buffers are copied for it. What a stored plan says of spills is found from its places.
 */
xpu_status xpu_placement_show(const xpu_program *program, xpu_placement *placement, const int64_t *symbols,
                              xpu_arena *arena, xpu_memplan **plan, xpu_diags *diags);

/* Whether the program carries the places of all buffers: nothing is planned when shapes are bound. */
int xpu_placement_is_stored(const xpu_program *program);

/* Plans anew, whatever the program carries; otherwise as xpu_placement_make. */
xpu_place *xpu_placement_make_new(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols,
                                  xpu_arena *arena, xpu_diags *diags);

/* The whole way: stored places where every buffer has one, else the problem is planned. One place per buffer in
 * `arena`; NULL with diagnostics on failure. */
xpu_place *xpu_placement_make(const xpu_program *program, const xpu_chip *chip, const int64_t *symbols,
                              xpu_arena *arena, xpu_diags *diags);

#endif
