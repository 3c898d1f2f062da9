#include "xpu_codegen/choose/recurrent.h"

#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_tiling.h"

enum { LANES = 16, WORD_BYTES = 4, MOST_HIDDEN = 65535 }; /* hidden: channels of a descriptor */

/* Floats of LM that a core needs: sums, inputs, state and result of its units for the whole batch. */
static int64_t floats_of_core(const xpu_codegen *cg, const xpu_recurrence *r, int64_t batch) {
    const int64_t groups = (r->hidden + LANES - 1) / LANES, cores = cg->chip.cores;
    const int64_t units = (groups + cores - 1) / cores * LANES;
    return batch * units * (2 * r->gates + 2) + units * r->gates;
}

const char *xpu_choose_recurrent(const xpu_codegen *cg, xpu_node node, int narrow, xpu_recurrent_room *room) {
    static const char *const too_large = "its state does not fit the memories of this chip";
    xpu_recurrence r;
    if (!xpu_recurrence_of(cg->graph, node, &r)) return too_large;
    const int64_t batch = xpu_dim_upper(cg, r.batch), columns = cg->chip.array_columns, weight = narrow ? 1 : 2;
    if (batch < 1 || batch > cg->chip.acc_rows || r.hidden > MOST_HIDDEN) return too_large;
    if (4 * floats_of_core(cg, &r, batch) > xpu_lm_room(cg)) return too_large;
    const int64_t tiles = ((int64_t)r.gates * r.hidden + columns - 1) / columns;
    const int64_t most = (int64_t)cg->chip.sm_bytes - (int64_t)XPU_MAILBOX_BYTES * XPU_MAX_CORES;
    if (batch * r.gates * r.hidden * WORD_BYTES > most || r.hidden * columns * weight > most) return too_large;
    const xpu_tiling_recurrence at = xpu_tiling_recurrence_of((uint32_t)batch, (uint32_t)r.hidden, (uint32_t)r.gates,
                                                              (uint32_t)columns, (uint32_t)weight, 0);
    room->slots = most < at.total ? 0 : (most - at.total) / at.block;
    if (room->slots > tiles) room->slots = tiles;
    if (room->slots < (tiles < 2 ? tiles : 2)) return too_large;
    room->sm_bytes = at.total + room->slots * at.block;
    room->lists = 2 * tiles * XPU_DESC_WORDS * WORD_BYTES;
    return NULL;
}
