#include "xpu_codegen/lower/ahead.h"

#include <math.h>
#include <string.h>

#include "memplan/moves.h"
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/slow.h"
#include "xpu_codegen/lower/layer_cost.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/program/placement.h"

enum {
    LINE_BYTES = 64,
    PART_BYTES = 65536, /* about, of what is fetched together */
    MOST_OF_WEIGHT = 15,
    LEAST_BYTES = 8192, /* of weights that are worth it */
    MOST_PARTS = 512,
    BUDGET = 200000, /* of the search (memplan/moves.h) */
    TRIES = 4
};

/* Levels of the time line. */
enum { FAST, SLOW, LEVELS };

/* Of the time of a layer transfers may take so much: the model is not more exact. */
static const double SHARE = 0.95, SHARE_BESIDE_GM = 0.75; /* the second: where images lie in GM */

/* The same part of each block of a layer's weights. */
typedef struct {
    uint32_t weight, layer, number, of;
    uint64_t offset, row, pitch, bytes, saved; /* saved: of the bytes that the layer reads from GM */
} part;

typedef struct {
    xpu_codegen *cg;
    xpu_arena *arena; /* scratch */
    const xpu_lists_kind *lists;
    double *cycles, *slow; /* by layer: of the unit that computes; bytes as long as all else that its loads take */
    XPU_ARRAY(part) parts;
} chooser;

/* ---- what layers take ---- */

static const xpu_plan_word *first_word(const xpu_codegen *cg, uint32_t layer) {
    const xpu_plan_word *word = cg->program.plan.items;
    for (uint32_t i = 0; i < layer; i++)
        for (uint32_t k = 0; k < cg->layers.items[i].calls.count; k++) word += cg->layers.items[i].calls.items[k].words;
    return word;
}

static uint32_t words_of(const xpu_codegen *cg, uint32_t layer) {
    uint32_t words = 0;
    for (uint32_t k = 0; k < cg->layers.items[layer].calls.count; k++)
        words += cg->layers.items[layer].calls.items[k].words;
    return words;
}

static uint64_t bytes_of(const xpu_codegen *cg, uint32_t buffer) {
    return (uint64_t)xpu_dim_eval(&cg->graph->dims, cg->program.buffers.items[buffer].bytes, NULL);
}

/* Whether the layer reads, or makes, something in GM. */
static void find_slow(const chooser *c, uint32_t layer, const xpu_memplan *plan, int *reads, int *writes) {
    const xpu_codegen *cg = c->cg;
    const xpu_plan_word *word = first_word(cg, layer);
    *reads = *writes = 0;
    for (uint32_t i = 0; i < words_of(cg, layer); i++) {
        if (word[i].kind != XPU_WORD_ADDRESS) continue;
        const uint32_t buffer = xpu_buffer_place(cg, word[i].buffer);
        const xpu_program_buffer *b = &cg->program.buffers.items[buffer];
        if (b->kind != XPU_BUFFER_ACTIVATION || plan->places[buffer].level != XPU_LEVEL_GM) continue;
        *(b->first_layer == layer ? writes : reads) = 1;
    }
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* Of a layer whose loads transfers may stand among. */
static void measure_listed(chooser *c, uint32_t layer, const xpu_memplan *plan) {
    xpu_codegen *cg = c->cg;
    const xpu_codegen_layer *item = &cg->layers.items[layer];
    const double rate = cg->chip.gm_rate;
    double load, store = 0;
    int reads, writes;
    find_slow(c, layer, plan, &reads, &writes);
    if (item->tiles) {
        const xpu_tile *tile = &item->tiles->items[item->tiles->sizes.count - 1];
        c->cycles[layer] = larger(tile->model.compute, tile->model.store);
        load = tile->model.load;
        store = tile->model.store;
        if (item->ring_cycles > 0) c->cycles[layer] = item->ring_cycles;
    } else { /* windows: what their tasks take counts loads, too */
        c->cycles[layer] = xpu_layer_cycles(cg, layer);
        load = c->cycles[layer];
    }
    if (layer + 1 < cg->layers.count && c->lists[layer + 1] == XPU_LISTS_BESIDE && item->ring_cycles <= 0) {
        const double beside = xpu_layer_cycles(cg, layer + 1);
        c->cycles[layer] = larger(c->cycles[layer], beside);
        load += beside / 2;
    }
    c->slow[layer] = load * (reads ? LINE_BYTES : rate) + (writes ? store * LINE_BYTES : 0);
    c->slow[layer] += (1 - (reads || writes ? SHARE_BESIDE_GM : SHARE)) * rate * c->cycles[layer];
}

static void measure(chooser *c, const xpu_memplan *plan) {
    xpu_codegen *cg = c->cg;
    for (uint32_t i = 0; i < cg->layers.count; i++) {
        if (c->lists[i] == XPU_LISTS_OWN) {
            measure_listed(c, i, plan);
            continue;
        }
        c->cycles[i] = 1 + (c->lists[i] == XPU_LISTS_NONE ? floor(xpu_layer_cycles(cg, i)) : 0);
        c->slow[i] = c->cycles[i] * cg->chip.gm_rate; /* nothing comes meanwhile */
    }
}

/* ---- weights ---- */

/* How many layers read a buffer. */
static uint32_t *count_readers(const chooser *c) {
    const xpu_codegen *cg = c->cg;
    uint32_t *readers = XPU_NEW_ARRAY(c->arena, uint32_t, cg->program.buffers.count);
    for (uint32_t i = 0; i < cg->program.plan.count; i++) {
        const xpu_plan_word *word = &cg->program.plan.items[i];
        if (word->kind == XPU_WORD_ADDRESS) readers[word->buffer]++;
    }
    return readers;
}

/* The packed matrix of a layer. */
static const xpu_weight *weight_of(const chooser *c, uint32_t layer) {
    const xpu_codegen *cg = c->cg;
    const xpu_plan_word *word = first_word(cg, layer);
    const xpu_weight *largest = NULL;
    for (uint32_t i = 0; i < words_of(cg, layer); i++) {
        if (word[i].kind != XPU_WORD_ADDRESS) continue;
        for (uint32_t k = 0; k < cg->weights.count; k++) {
            const xpu_weight *weight = &cg->weights.items[k];
            if (weight->buffer != word[i].buffer || weight->packing.columns < 1) continue;
            if (!largest || bytes_of(cg, weight->buffer) > bytes_of(cg, largest->buffer)) largest = weight;
        }
    }
    return largest;
}

/* Bytes of what a load of weights takes where all are as large, else those of a column tile. */
static uint64_t block_of(const xpu_packing *packing, uint64_t bytes) {
    const uint64_t columns = (uint64_t)packing->columns, tiles = ((uint64_t)packing->out_c + columns - 1) / columns,
                   tile = bytes / tiles;
    const uint64_t chunks =
        packing->tile_c > 0 && packing->in_c % packing->tile_c == 0 ? (uint64_t)(packing->in_c / packing->tile_c) : 1;
    if (packing->groups > 1 || tile * tiles != bytes) return 0;
    return tile % (chunks * LINE_BYTES) ? tile : tile / chunks;
}

/* Weights of a layer that would wait for them. A part has some of each block: so the layer has as much to wait for at
 * all times. */
static void add_parts(chooser *c, uint32_t layer, const uint32_t *readers) {
    const xpu_codegen *cg = c->cg;
    const xpu_tiles *tiles = cg->layers.items[layer].tiles;
    const xpu_weight *weight = tiles && c->lists[layer] == XPU_LISTS_OWN ? weight_of(c, layer) : NULL;
    if (!weight) return;
    const double gm_bytes = tiles->items[tiles->sizes.count - 1].gm_bytes;
    const uint64_t bytes = bytes_of(cg, weight->buffer), block = block_of(&weight->packing, bytes);
    if (!block || bytes < LEAST_BYTES || readers[weight->buffer] != 1 ||
        c->slow[layer] + gm_bytes <= c->cycles[layer] * cg->chip.gm_rate) {
        c->slow[layer] += gm_bytes;
        return;
    }
    const double kept = (double)cg->chip.gm_rate / larger(1, cg->chip.l3_rate); /* of the time, from L3 */
    c->slow[layer] += kept * gm_bytes / 2;
    uint64_t count = bytes / PART_BYTES;
    if (count > MOST_OF_WEIGHT) count = MOST_OF_WEIGHT;
    const uint64_t lines = block / LINE_BYTES, each = (lines + count) / (count + 1) * LINE_BYTES;
    for (uint64_t at = 0; at < block && c->parts.count < MOST_PARTS; at += each) {
        const uint64_t row = block - at < each ? block - at : each;
        XPU_PUSH(
            c->arena, &c->parts,
            ((part){weight->buffer, layer, (uint32_t)(at / each), (uint32_t)((block + each - 1) / each), at, row, block,
                    bytes / block * row, (uint64_t)((1 - kept / 2) * gm_bytes * (double)row / (double)block)}));
    }
}

/* ---- the time line ---- */

/* Buffers that lie in L3 without transfers: where several share bytes, one for all of their lives. */
static uint32_t add_standing(const chooser *c, const xpu_placement *placement, const xpu_memplan *plan,
                             xpu_memplan_buffer *buffers) {
    const xpu_memplan_problem *problem = &placement->problem;
    uint32_t *number = XPU_NEW_ARRAY(c->arena, uint32_t, problem->buffer_count), count = 0;
    for (uint32_t i = 0; i < problem->buffer_count; i++) number[i] = XPU_MEMPLAN_NONE;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
        const xpu_memplan_buffer *b = &problem->buffers[i];
        uint32_t root = i;
        while (plan->places[root].alias_of != XPU_MEMPLAN_NONE) root = plan->places[root].alias_of;
        if (plan->places[root].level != XPU_LEVEL_L3 || !problem->buffers[root].bytes) continue;
        if (number[root] == XPU_MEMPLAN_NONE) {
            number[root] = count;
            buffers[count] = problem->buffers[root];
            buffers[count].levels[0] = FAST;
            buffers[count].level_count = 1;
            buffers[count].pinned = 0;
            buffers[count++].gap_count = 0;
        }
        xpu_memplan_buffer *all = &buffers[number[root]];
        if (b->first < all->first) all->first = b->first;
        if (b->last > all->last) all->last = b->last;
    }
    return count;
}

static uint64_t whole(double number) {
    return number <= 0 ? 0 : number < 1e15 ? (uint64_t)number : (uint64_t)1e15;
}

/* Each part lives from the start, in GM at least; and one buffer moves what else the layers do. */
static xpu_memplan_problem *make_problem(chooser *c, const xpu_placement *placement, const xpu_memplan *plan,
                                         uint32_t *first_part) {
    const xpu_chip *chip = &c->cg->chip;
    const uint32_t layers = c->cg->layers.count, parts = c->parts.count;
    const uint32_t most = placement->problem.buffer_count + parts + 1;
    xpu_memplan_buffer *buffers = XPU_NEW_ARRAY(c->arena, xpu_memplan_buffer, most);
    xpu_memplan_traffic *traffic = XPU_NEW_ARRAY(c->arena, xpu_memplan_traffic, most);
    xpu_memplan_use *uses = XPU_NEW_ARRAY(c->arena, xpu_memplan_use, layers + parts);
    uint64_t *cycles = XPU_NEW_ARRAY(c->arena, uint64_t, layers);
    xpu_memplan_level *levels = XPU_NEW_ARRAY(c->arena, xpu_memplan_level, LEVELS);
    uint32_t count = add_standing(c, placement, plan, buffers);
    for (uint32_t i = 0; i < count; i++) traffic[i].home = XPU_MEMPLAN_NONE;
    *first_part = count;
    for (uint32_t i = 0; i < parts; i++, count++) {
        const part *p = &c->parts.items[i];
        buffers[count] = (xpu_memplan_buffer){.name = c->cg->program.buffers.items[p->weight].name,
                                              .bytes = p->bytes,
                                              .alignment = LINE_BYTES,
                                              .last = p->layer,
                                              .levels = {FAST, SLOW},
                                              .level_count = LEVELS};
        uses[i] = (xpu_memplan_use){p->layer, p->saved};
        traffic[count] = (xpu_memplan_traffic){.uses = &uses[i], .use_count = 1, .home = SLOW};
    }
    for (uint32_t i = 0; i < layers; i++) {
        cycles[i] = whole(c->cycles[i]);
        uses[parts + i] = (xpu_memplan_use){i, whole(c->slow[i])};
    }
    buffers[count] = (xpu_memplan_buffer){
        .name = "loads", .bytes = LINE_BYTES, .last = layers - 1, .levels = {SLOW}, .level_count = 1};
    traffic[count++] = (xpu_memplan_traffic){.uses = uses + parts, .use_count = layers, .home = XPU_MEMPLAN_NONE};
    levels[FAST] = placement->problem.levels[XPU_LEVEL_L3];
    levels[SLOW] = placement->problem.levels[XPU_LEVEL_GM];
    levels[FAST].bytes_per_cycle = chip->l3_rate;
    xpu_memplan_timeline *line = XPU_NEW(c->arena, xpu_memplan_timeline);
    *line = (xpu_memplan_timeline){cycles, layers, traffic};
    xpu_memplan_problem *problem = XPU_NEW(c->arena, xpu_memplan_problem);
    *problem = (xpu_memplan_problem){
        .levels = levels, .level_count = LEVELS, .buffers = buffers, .buffer_count = count, .timeline = line};
    return problem;
}

/* ---- what comes of it ---- */

static void add_fetched(chooser *c, const part *p, const xpu_memplan_moves *moves,
                        const xpu_memplan_transfer *transfer) {
    xpu_codegen *cg = c->cg;
    const xpu_program_buffer *weight = &cg->program.buffers.items[p->weight];
    const uint32_t buffer = cg->program.buffers.count, place = transfer->target;
    xpu_program_buffer made = {.name = p->of > 1 ? xpu_printf(cg->arena, "%s@L3:%u", weight->name, p->number)
                                                 : xpu_printf(cg->arena, "%s@L3", weight->name),
                               .kind = XPU_BUFFER_AHEAD,
                               .bytes = xpu_dim_of(cg, (int64_t)p->bytes),
                               .alignment = LINE_BYTES,
                               .first_layer = moves->stays[place].from,
                               .last_layer = p->layer,
                               .levels = {XPU_LEVEL_L3, XPU_LEVEL_GM},
                               .level_count = 2,
                               .passes = 1,
                               .alias_of = -1,
                               .copy_of = p->weight,
                               .copy_offset = p->offset,
                               .copy_row = p->row,
                               .copy_pitch = p->pitch};
    for (uint32_t i = 0; i < transfer->share_count; i++)
        if (transfer->shares[i].bytes && c->lists[transfer->shares[i].step] != XPU_LISTS_OWN) return;
    XPU_PUSH(cg->arena, &cg->program.buffers, made);
    for (uint32_t i = 0; i < transfer->share_count; i++) {
        const xpu_memplan_use *share = &transfer->shares[i];
        const xpu_program_transfer next = {buffer, share->step, share->bytes};
        if (share->bytes) XPU_PUSH(cg->arena, &cg->program.transfers, next);
    }
}

/* Shares in whole words: what is left over comes with the next one. */
static void round_shares(xpu_codegen *cg) {
    uint64_t over = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < cg->program.transfers.count; i++) {
        xpu_program_transfer t = cg->program.transfers.items[i];
        t.bytes += over;
        const int is_last =
            i + 1 == cg->program.transfers.count || t.buffer != cg->program.transfers.items[i + 1].buffer;
        over = is_last ? 0 : t.bytes % LINE_BYTES;
        t.bytes -= over;
        if (t.bytes) cg->program.transfers.items[count++] = t;
    }
    cg->program.transfers.count = count;
}

static void drop(xpu_codegen *cg, uint32_t first, const uint8_t *dropped) {
    uint32_t *number = XPU_NEW_ARRAY(cg->arena, uint32_t, cg->program.buffers.count), kept = first, count = 0;
    for (uint32_t i = first; i < cg->program.buffers.count; i++) {
        number[i] = dropped[i - first] ? UINT32_MAX : kept;
        if (!dropped[i - first]) cg->program.buffers.items[kept++] = cg->program.buffers.items[i];
    }
    cg->program.buffers.count = kept;
    for (uint32_t i = 0; i < cg->program.transfers.count; i++) {
        xpu_program_transfer t = cg->program.transfers.items[i];
        t.buffer = number[t.buffer];
        if (t.buffer != UINT32_MAX) cg->program.transfers.items[count++] = t;
    }
    cg->program.transfers.count = count;
}

/* Only what the plan of the whole program has room for is fetched, and only where it drives nobody else out. */
static void keep_what_fits(chooser *c, const xpu_memplan *before, uint32_t first) {
    xpu_codegen *cg = c->cg;
    for (int i = 0; i < TRIES && cg->program.buffers.count > first; i++) {
        xpu_placement placement;
        const xpu_memplan *plan = xpu_plan_unlinked(cg, c->arena, &placement);
        const uint32_t count = cg->program.buffers.count - first;
        uint8_t *dropped = XPU_NEW_ARRAY(c->arena, uint8_t, count);
        uint32_t driven = 0, out = 0;
        for (uint32_t k = 0; plan && k < first; k++) driven += plan->places[k].level > before->places[k].level;
        for (uint32_t k = 0; k < count; k++) {
            dropped[k] =
                !plan || i + 1 == TRIES || plan->places[first + k].level != XPU_LEVEL_L3 || (driven && k >= count / 2);
            out += dropped[k];
        }
        if (!out && !driven) return;
        drop(cg, first, dropped);
    }
}

void xpu_fetch_ahead(xpu_codegen *cg, const xpu_lists_kind *lists) {
    if (cg->chip.gm_rate >= cg->chip.l3_rate || cg->chip.gm_rate >= LINE_BYTES || cg->wishes) return;
    const uint32_t layers = cg->layers.count, first = cg->program.buffers.count;
    chooser c = {.cg = cg, .arena = xpu_arena_new(xpu_arena_mem(cg->arena), "fetched ahead"), .lists = lists};
    xpu_placement placement;
    xpu_memplan_moves *moves;
    uint32_t first_part;
    const xpu_memplan *plan = xpu_plan_unlinked(cg, c.arena, &placement);
    c.cycles = XPU_NEW_ARRAY(c.arena, double, layers);
    c.slow = XPU_NEW_ARRAY(c.arena, double, layers);
    if (plan) measure(&c, plan);
    const uint32_t *readers = count_readers(&c);
    for (uint32_t i = 1; plan && i < layers; i++) add_parts(&c, i, readers);
    if (c.parts.count) {
        const xpu_memplan_options options = {.step_budget = BUDGET};
        xpu_diags *diags = xpu_diags_new(c.arena);
        const xpu_memplan_problem *problem = make_problem(&c, &placement, plan, &first_part);
        xpu_status status = xpu_memplan_make_moves(c.arena, problem, &options, &moves, diags);
        if (status == XPU_OK) status = xpu_memplan_check_moves(c.arena, problem, moves, diags);
        for (uint32_t i = 0; status == XPU_OK && i < moves->transfer_count; i++) {
            const xpu_memplan_transfer *t = &moves->transfers[i];
            const xpu_memplan_stay *stay = &moves->stays[t->target];
            if (stay->level == FAST) add_fetched(&c, &c.parts.items[stay->buffer - first_part], moves, t);
        }
        round_shares(cg);
        keep_what_fits(&c, plan, first);
    }
    xpu_arena_free(c.arena);
}
