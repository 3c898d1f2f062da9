/*
 * Writes a random bare program whose cores hand lists of descriptors of all kinds to the engines. It is made as a
 * sequence of tasks, each with one agent (a queue of an engine, or a core), memory that it reads and memory that it
 * writes; a task waits for the tasks of other agents before it in the sequence whose memory meets its own. So the
 * result is that of the sequence, in whatever order the agents run; and no wait depends on anything later in the
 * sequence.
 *
 * Floats stay finite where an engine computes with them (the bits of a NaN are not defined), and what decides whether a
 * descriptor is legal (indices, parameter blocks) is never written.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file.h"
#include "tests/gen/descriptors.h"
#include "tests/gen/random_descriptors_state.h"

/* ---- Memory ---- */

static uint8_t *add_part(generator *g, uint32_t address, uint32_t length) {
    if (g->part_count == MAX_PARTS) abort();
    part *p = &g->parts[g->part_count++];
    *p = (part){address, length, calloc(length, 1)};
    if (!p->bytes) abort();
    return p->bytes;
}

static uint8_t *host(const generator *g, uint32_t address) {
    for (unsigned i = 0; i < g->part_count; i++)
        if (address - g->parts[i].address < g->parts[i].length)
            return g->parts[i].bytes + (address - g->parts[i].address);
    abort();
}

static void add_slots(generator *g, uint32_t address, unsigned count, int is_sm, int owner) {
    uint8_t *bytes = add_part(g, address, count * SLOT);
    for (uint32_t i = 0; i < count * SLOT; i += 4) {
        uint32_t word = draw(g, 4) ? draw_word(g) : tame(g, 100.0f);
        memcpy(bytes + i, &word, 4);
    }
    for (unsigned i = 0; i < count; i++)
        g->slots[g->slot_count++] = (slot){.address = address + i * SLOT, .is_sm = is_sm, .owner = owner, .writer = -1};
}

static void make_constants(generator *g) {
    uint32_t *w = g->const_words;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t *q = w + PARAMS_QUANTISED / 4 + i * XPU_POST_WORDS, *f = w + PARAMS_FLOAT / 4 + i * XPU_POST_WORDS;
        q[0] = (uint32_t)between(g, -128, 0), q[1] = (uint32_t)between(g, 10, 255);
        f[0] = tame(g, 20.0f), f[1] = tame(g, 500.0f);
        for (unsigned k = 0; k < 2; k++) {
            uint32_t *p = k ? f : q;
            p[2] = tame(g, 0.5f), p[3] = tame(g, 1.0f), p[4] = tame(g, 1.5f), p[5] = tame(g, 30.0f);
            p[6] = (uint32_t)between(g, -128, 127), p[7] = (uint32_t)between(g, -128, -50);
            p[8] = (uint32_t)between(g, 50, 255), p[9] = tame(g, 2.0f), p[10] = tame(g, 0.1f);
            p[11] = draw(g, 2) ? float_bits(1.0f) : tame(g, 0.1f), p[12] = tame(g, 1e-3f);
            p[13] = draw(g, 2) ? RD_CONST_GM + ABSMAX + 4 * draw(g, 16) : 0;
            p[14] = (uint32_t)between(g, -128, 127), p[15] = (uint32_t)between(g, -128, 127);
        }
    }
    for (unsigned i = 0; i < COLUMNS; i++) {
        w[SCALE / 4 + i] = tame(g, 1e-3f), w[BIAS / 4 + i] = tame(g, 100.0f);
        w[START / 4 + i] = (uint32_t)between(g, -100000, 100000), w[LOOKUP / 4 + i] = draw_word(g);
        w[INDEX / 4 + i] = (uint32_t)between(g, -3, 12);
    }
    for (unsigned i = 0; i < 16; i++) {
        w[FACTORS / 4 + i] = tame(g, i & 1 ? 1e-4f : 50.0f);
        w[ABSMAX / 4 + i] = tame(g, i & 1 ? 1e6f : 2.0f) & 0x7fffffff;
    }
}

static void make_memory(generator *g) {
    const xpu_chip *c = &g->chip;
    unsigned sm = (c->sm_bytes - 8192) / SLOT, l3 = (c->l3_bytes - 8192) / SLOT, lm = (c->lm_bytes - 8192) / SLOT;
    make_constants(g);
    g->const_at[0] = RD_CONST_GM, g->const_at[1] = XPU_L3_BASE + 4096, g->const_at[2] = XPU_SM_BASE + 2048;
    for (unsigned i = 0; i < 3; i++) memcpy(add_part(g, g->const_at[i], CONST_BYTES), g->const_words, CONST_BYTES);
    uint8_t *floats = add_part(g, XPU_SM_BASE + 4096, FLOATS_BYTES);
    for (unsigned i = 0; i < FLOATS_BYTES; i += 4) {
        uint32_t word = tame(g, 50.0f);
        memcpy(floats + i, &word, 4);
    }
    for (unsigned i = 0; i < 3; i++) { /* 16 words for findmax in each memory, 0 at the start */
        static const uint32_t places[3] = {RD_CONST_GM + CONST_BYTES, XPU_L3_BASE + 4096 + CONST_BYTES,
                                           XPU_SM_BASE + 6144};
        add_part(g, places[i], 64);
        for (unsigned k = 0; k < 2; k++)
            g->slots[g->slot_count++] =
                (slot){.address = places[i] + 32 * k, .owner = -1, .found_floats = 1, .writer = -1};
    }
    g->sm_first = g->slot_count, g->sm_count = sm < 16 ? sm : 16;
    add_slots(g, XPU_SM_BASE + 8192, g->sm_count, 1, -1);
    add_slots(g, XPU_L3_BASE + 8192, l3 < 16 ? l3 : 16, 0, -1);
    add_slots(g, RD_SLOTS_GM, 16, 0, -1);
    add_part(g, RD_COUNTERS, 256);
    uint32_t lists[3] = {RD_LISTS, XPU_L3_BASE, XPU_SM_BASE + 1024}, bytes[3] = {0x80000, 4096, 1024};
    for (unsigned i = 0; i < 3; i++) {
        add_part(g, lists[i], bytes[i]);
        g->lists_at[i] = lists[i], g->lists_end[i] = lists[i] + bytes[i];
    }
    for (unsigned core = 0; core < c->cores; core++) {
        uint32_t base = XPU_LM_ALL_BASE + core * XPU_LM_ALIAS_STRIDE;
        add_slots(g, base, lm < 3 ? lm : 3, 0, (int)core);
        g->lists_at[3 + core] = base + 6144, g->lists_end[3 + core] = base + 8192;
        add_part(g, base + 6144, 2048);
    }
}

/* ---- Tasks ---- */

static void put_action(generator *g, int core, rd_kind kind, uint32_t to, uint32_t from, uint32_t count) {
    uint32_t *n = &g->action_count[core];
    if (*n == MAX_ACTIONS) abort();
    g->actions[core][(*n)++] = (rd_action){kind, to, from, count};
}

static void close_list(generator *g, agent *a) {
    if (a->open < 0) return;
    rd_action *ring = &g->actions[a->core][a->open];
    ring->from = a->list, ring->count = a->length;
    a->open = -1;
}

/* Room for a list of some descriptors, at any multiple of 4, in a memory drawn at random. */
static void open_list(generator *g, agent *a) {
    uint32_t room = 1 + draw(g, 6), where = draw(g, 3 + g->chip.cores), shift = draw(g, 2) ? 0 : 4 * draw(g, 32);
    if (g->lists_at[where] + shift + room * XPU_DESC_BYTES > g->lists_end[where]) where = 0;
    g->lists_at[where] += shift;
    a->list = g->lists_at[where], a->length = 0, a->room = room;
    if (a->list + room * XPU_DESC_BYTES > g->lists_end[where]) abort();
    g->lists_at[where] += room * XPU_DESC_BYTES;
    a->open = (int)g->action_count[a->core], a->opened_at = g->tasks;
    put_action(g, a->core, RD_RING, (uint32_t)a->engine, 0, 0);
}

/* A queue of an engine in which descriptors overlap. */
static int has_overlaps(const agent *a) {
    return !a->is_core && a->engine >= (int)XPU_ENGINE_TENSOR;
}

/* Whether the order inside of a queue leaves out that the present task of agent `which` comes behind an earlier one
 * that wrote what it reads (is_read), or read what it writes. */
static int unordered(const generator *g, unsigned which, unsigned other, int is_read) {
    const agent *a = &g->agents[which];
    return which == other && has_overlaps(a) && (is_read || g->is_post);
}

/* The tasks that the present one of agent `which` has to follow: the last one of each agent, 1 + its number. What the
 * order of its own queue ensures is left out. */
static void dependencies(const generator *g, unsigned which, uint32_t *last) {
    memset(last, 0, MAX_AGENTS * sizeof *last);
    for (unsigned i = 0; i < g->read_count + g->write_count; i++) {
        int writes = i >= g->read_count;
        const slot *s = &g->slots[writes ? g->writes[i - g->read_count] : g->reads[i]];
        if (s->writer >= 0) {
            unsigned other = (unsigned)g->task_agent[s->writer];
            if ((other != which || unordered(g, which, other, !writes)) && last[other] < (uint32_t)s->writer + 1)
                last[other] = (uint32_t)s->writer + 1;
        }
        for (unsigned k = 0; k < g->agent_count && writes; k++)
            if ((k != which || unordered(g, which, k, 0)) && last[k] < s->readers[k]) last[k] = s->readers[k];
    }
}

static void note_accesses(generator *g, unsigned which) {
    for (unsigned i = 0; i < g->read_count; i++) g->slots[g->reads[i]].readers[which] = g->tasks + 1;
    for (unsigned i = 0; i < g->write_count; i++) {
        slot *s = &g->slots[g->writes[i]];
        s->writer = (int)g->tasks;
        memset(s->readers, 0, sizeof s->readers);
    }
}

typedef struct {
    uint32_t counter, value;
} wait;

/* Whether a queue in which descriptors overlap would read too early what an earlier one writes, or (a post descriptor)
 * write too early what an earlier one still reads. */
static int overlaps_own(const generator *g, unsigned which, int is_post) {
    const agent *a = &g->agents[which];
    if (!has_overlaps(a)) return 0;
    for (unsigned i = 0; i < g->read_count; i++) {
        int writer = g->slots[g->reads[i]].writer;
        if (writer >= 0 && g->task_agent[writer] == (int)which) return 1;
    }
    for (unsigned i = 0; i < g->write_count && is_post; i++)
        if (g->slots[g->writes[i]].readers[which]) return 1;
    return 0;
}

/* The waits of the present task of agent `which`. Most earlier tasks of the agent need none, nor do those of a core
 * that came before the doorbell for the list. Now and then a wait that is not needed. */
static unsigned waits_of(generator *g, unsigned which, int is_post, wait *waits) {
    const agent *a = &g->agents[which];
    uint32_t last[MAX_AGENTS];
    unsigned n = 0;
    dependencies(g, which, last);
    if (draw(g, 6) == 0 && g->tasks) {
        uint32_t earlier = draw(g, g->tasks);
        unsigned other = (unsigned)g->task_agent[earlier];
        if (last[other] < earlier + 1) last[other] = earlier + 1;
    }
    for (unsigned k = 0; k < g->agent_count; k++) {
        const agent *other = &g->agents[k];
        if (!last[k]) continue;
        if (k == which && draw(g, 8) && !overlaps_own(g, which, is_post)) continue;
        if (!a->is_core && other->is_core && other->core == a->core && last[k] - 1 < a->opened_at && draw(g, 2))
            continue;
        waits[n++] = (wait){other->counter, g->task_value[last[k] - 1]};
    }
    return n;
}

static uint32_t *new_descriptor(generator *g, agent *a) {
    uint32_t *words = (uint32_t *)(void *)host(g, a->list + a->length++ * XPU_DESC_BYTES);
    g->descriptors++;
    return words;
}

static void end_task(generator *g, unsigned which, uint32_t add) {
    agent *a = &g->agents[which];
    a->value += add;
    note_accesses(g, which);
    g->task_agent[g->tasks] = (int)which, g->task_value[g->tasks] = a->value;
    g->tasks++;
}

/* A task of a queue: `words` without waits and signal. Waits beyond two are carried by nops in front. */
static void queue_task(generator *g, unsigned which, const uint32_t *words) {
    agent *a = &g->agents[which];
    wait waits[MAX_WAITS];
    uint32_t add = draw(g, 4) ? 1 : 1 + draw(g, 255);
    if (a->open >= 0 && a->length == a->room) close_list(g, a);
    if (a->open < 0) open_list(g, a);
    unsigned n = waits_of(g, which, g->is_post, waits), used = 0;
    while (n - used > 2 || draw(g, 24) == 0) {
        xpu_desc_nop nop = {
            .wait0 = XPU_NO_COUNTER, .wait1 = XPU_NO_COUNTER, .signal = XPU_NO_COUNTER, .layer = g->tasks & 0xffff};
        if (used < n) nop.wait0 = waits[used].counter, nop.wait0_value = waits[used].value, used++;
        if (used < n && draw(g, 2)) nop.wait1 = waits[used].counter, nop.wait1_value = waits[used].value, used++;
        xpu_desc_nop_pack(new_descriptor(g, a), &nop);
        if (a->length == a->room) {
            close_list(g, a);
            open_list(g, a);
        }
    }
    uint32_t *to = new_descriptor(g, a);
    memcpy(to, words, XPU_DESC_BYTES);
    int swapped = (int)draw(g, 2); /* which of the two waits is used for one alone */
    xpu_desc_nop_set_layer(to, g->tasks & 0xffff);
    xpu_desc_nop_set_wait0(to, XPU_NO_COUNTER);
    xpu_desc_nop_set_wait1(to, XPU_NO_COUNTER);
    for (; used < n; used++, swapped = !swapped)
        if (swapped)
            xpu_desc_nop_set_wait1(to, waits[used].counter), xpu_desc_nop_set_wait1_value(to, waits[used].value);
        else
            xpu_desc_nop_set_wait0(to, waits[used].counter), xpu_desc_nop_set_wait0_value(to, waits[used].value);
    xpu_desc_nop_set_signal(to, a->counter);
    xpu_desc_nop_set_signal_add(to, add);
    end_task(g, which, add);
    if (draw(g, 5) == 0) close_list(g, a);
}

static void core_task(generator *g, unsigned which, rd_action action) {
    agent *a = &g->agents[which];
    wait waits[MAX_WAITS];
    unsigned n = waits_of(g, which, 0, waits);
    for (unsigned i = 0; i < n; i++) put_action(g, a->core, RD_WAIT, waits[i].counter, waits[i].value, 0);
    put_action(g, a->core, (rd_kind)action.kind, action.to, action.from, action.count);
    put_action(g, a->core, RD_SIGNAL, a->counter, 1, 0);
    end_task(g, which, 1);
}

static unsigned any_slot(generator *g) {
    for (;;) {
        unsigned s = draw(g, g->slot_count);
        if (!g->slots[s].found_floats) return s;
    }
}
static unsigned other_slot(generator *g, unsigned not_this) {
    for (;;) {
        unsigned s = any_slot(g);
        if (s != not_this) return s;
    }
}
static uint32_t reading(generator *g, unsigned s) {
    g->reads[g->read_count++] = s;
    return g->slots[s].address;
}
static uint32_t writing(generator *g, unsigned s) {
    g->writes[g->write_count++] = s;
    return g->slots[s].address;
}

/* ---- Boxes ---- */

typedef struct {
    uint32_t address, size[4];
    int32_t stride[4];
} box;

static void draw_sizes(generator *g, uint32_t *size) {
    static const uint32_t usual[] = {1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64};
    do
        for (unsigned i = 0; i < 4; i++) size[i] = usual[draw(g, sizeof usual / sizeof *usual)];
    while (size[0] * size[1] * size[2] * size[3] > 400);
    if (draw(g, 40) == 0) size[draw(g, 4)] = 0;
}

/* Strides with which no two elements meet; the box lies within the slot at `base`. 0: it does not fit. */
static int spread(generator *g, box *b, uint32_t base, uint32_t bytes) {
    static const uint8_t orders[][4] = {{3, 2, 1, 0}, {3, 2, 1, 0}, {3, 2, 1, 0}, {2, 3, 1, 0},
                                        {2, 3, 1, 0}, {0, 1, 2, 3}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    const uint8_t *order = orders[draw(g, sizeof orders / sizeof *orders)];
    uint32_t reach = bytes, start = 0;
    int gaps = draw(g, 2) != 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned d = order[i];
        uint32_t size = b->size[d] ? b->size[d] : 1, step = reach + (gaps ? bytes * draw(g, 3) : 0);
        b->stride[d] = (int32_t)step;
        reach = step * (size - 1) + reach;
        if (reach > SLOT) return 0;
        if (draw(g, 6) == 0) b->stride[d] = -b->stride[d], start += step * (size - 1);
    }
    b->address = base + start + draw(g, (SLOT - reach) / bytes + 1) * bytes;
    return 1;
}

/* Any strides, elements may meet: what a source may be. `low` and `high`: least and greatest position in dimension d.
 */
static int anyhow(generator *g, box *b, uint32_t base, uint32_t bytes, const int *low, const int *high) {
    int before = 0, behind = (int)bytes;
    for (unsigned d = 0; d < 4; d++) {
        int step = between(g, -3, 24) * (int)bytes;
        if (draw(g, 3) == 0) step = (int)bytes;
        b->stride[d] = step;
        int first = low[d] * step, last = high[d] * step;
        before += first < last ? first : last, behind += first < last ? last : first;
    }
    if (behind - before > SLOT) return 0;
    b->address = base + (uint32_t)(-before) + draw(g, (uint32_t)(SLOT - (behind - before)) / bytes + 1) * bytes;
    return 1;
}

/* ---- DMA ---- */

static uint32_t constant(generator *g, uint32_t offset) {
    return g->const_at[draw(g, 3)] + offset;
}

/* Types and scale of a copy or gather. */
static void draw_conversion(generator *g, xpu_desc_copy *d) {
    static const uint8_t pairs[][2] = {{XPU_TYPE_F32, XPU_TYPE_I8},  {XPU_TYPE_F32, XPU_TYPE_I16},
                                       {XPU_TYPE_I8, XPU_TYPE_F32},  {XPU_TYPE_I16, XPU_TYPE_F32},
                                       {XPU_TYPE_I32, XPU_TYPE_F32}, {XPU_TYPE_F32, XPU_TYPE_U8}};
    d->src_type = d->dst_type = draw(g, 5);
    d->scale_mode = draw(g, 4), d->scale = 0.0f, d->zero = draw(g, 256);
    if (draw(g, 2)) return;
    const uint8_t *pair = pairs[draw(g, 6)];
    d->src_type = pair[0], d->dst_type = pair[1];
    const int narrows = d->src_type == XPU_TYPE_F32 && d->dst_type != XPU_TYPE_I16;
    if (d->dst_type == XPU_TYPE_U8) d->scale_mode = XPU_SCALE_DIVISOR;
    if (d->scale_mode == XPU_SCALE_DIVISOR && narrows) {
        d->scale = (float)between(g, 1, 1000) / 64.0f;
        return;
    }
    if (d->scale_mode == XPU_SCALE_DIVISOR) d->scale_mode = XPU_SCALE_IMMEDIATE;
    if (d->src_type == XPU_TYPE_I32 && d->scale_mode == XPU_SCALE_ABSMAX) d->scale_mode = XPU_SCALE_MEMORY;
    d->scale = (float)between(g, -1000, 1000) / 64.0f;
    d->scale_address = constant(g, d->scale_mode == XPU_SCALE_MEMORY ? FACTORS : ABSMAX) + 4 * draw(g, 16);
    if (d->src_type == XPU_TYPE_F32 && d->scale_mode == XPU_SCALE_ABSMAX && draw(g, 2))
        d->scale_address = reading(g, draw(g, 6)) + 4 * draw(g, 8);
}

static void use_boxes(xpu_desc_copy *d, const box *src, const box *dst) {
    d->src = src->address, d->dst = dst->address;
    d->size0 = dst->size[0], d->size1 = dst->size[1], d->size2 = dst->size[2], d->size3 = dst->size[3];
    d->src_stride0 = src->stride[0], d->src_stride1 = src->stride[1];
    d->src_stride2 = src->stride[2], d->src_stride3 = src->stride[3];
    d->dst_stride0 = dst->stride[0], d->dst_stride1 = dst->stride[1];
    d->dst_stride2 = dst->stride[2], d->dst_stride3 = dst->stride[3];
}

/* A copy, or a gather with the same fields. */
static void copy_words(generator *g, uint32_t *words) {
    unsigned from = any_slot(g), to = other_slot(g, from), dim = draw(g, 4), is_gather = draw(g, 3) == 0;
    uint32_t first = draw(g, 30), bytes;
    xpu_desc_copy d = {0};
    box src, dst;
    draw_conversion(g, &d);
    uint32_t source = reading(g, from), target = writing(g, to);
    bytes = type_bytes[d.src_type];
    for (;;) {
        int low[4] = {0}, high[4];
        draw_sizes(g, dst.size);
        memcpy(src.size, dst.size, sizeof src.size);
        if (is_gather && dst.size[dim] > 32) continue;
        for (unsigned i = 0; i < 4; i++) high[i] = dst.size[i] ? (int)dst.size[i] - 1 : 0;
        for (uint32_t i = 0; is_gather && i < dst.size[dim]; i++) {
            int index = (int)g->const_words[INDEX / 4 + first + i];
            if (i == 0 || index < low[dim]) low[dim] = index;
            if (i == 0 || index > high[dim]) high[dim] = index;
        }
        if (is_gather && low[dim] > 0) low[dim] = 0;
        if (is_gather && high[dim] < 0) high[dim] = 0;
        if (!spread(g, &dst, target, type_bytes[d.dst_type])) continue;
        if (is_gather || draw(g, 2) ? anyhow(g, &src, source, bytes, low, high) : spread(g, &src, source, bytes)) break;
    }
    use_boxes(&d, &src, &dst);
    xpu_desc_copy_pack(words, &d);
    if (!is_gather) return;
    xpu_desc_gather_set_opcode(words, XPU_OPCODE_GATHER);
    xpu_desc_gather_set_gather_dim(words, dim);
    xpu_desc_gather_set_index(words, constant(g, INDEX) + 4 * first);
}

static void fill_words(generator *g, uint32_t *words) {
    xpu_desc_fill d = {.dst_type = draw(g, 5), .value = draw_word(g)};
    uint32_t target = writing(g, any_slot(g));
    box b;
    do draw_sizes(g, b.size);
    while (!spread(g, &b, target, type_bytes[d.dst_type]));
    d.dst = b.address, d.size0 = b.size[0], d.size1 = b.size[1], d.size2 = b.size[2], d.size3 = b.size[3];
    d.dst_stride0 = b.stride[0], d.dst_stride1 = b.stride[1], d.dst_stride2 = b.stride[2], d.dst_stride3 = b.stride[3];
    xpu_desc_fill_pack(words, &d);
}

/* ---- Tensor ---- */

/* `count` slots of SM in a row; what this task writes is none of what it reads. Their address. */
static uint32_t sm_slots(generator *g, unsigned count, int writes) {
    for (;;) {
        unsigned first = g->sm_first + draw(g, g->sm_count - count + 1), used = 0;
        for (unsigned i = 0; i < g->read_count && writes; i++) used |= g->reads[i] - first < count;
        for (unsigned i = 0; i < g->write_count; i++) used |= g->writes[i] - first < count;
        if (used) continue;
        for (unsigned i = 0; i < count; i++)
            if (writes)
                writing(g, first + i);
            else
                reading(g, first + i);
        return g->slots[first].address;
    }
}

static const uint32_t float_types[] = {XPU_TYPE_F32, XPU_TYPE_I16, XPU_TYPE_I8};

/* Strides of pixels and rows, and how far the first pixel is behind the lowest address. */
typedef struct {
    int32_t pixel, row;
    uint32_t first;
} steps;

/* Rows of pixels in `bytes`, now and then backwards; what is only read may stand still. 0: too large. */
static int pixels(generator *g, const xpu_desc_post *d, uint32_t element, uint32_t bytes, int is_read, steps *s) {
    s->pixel = (int32_t)((d->columns + draw(g, 3)) * element);
    s->row = (int32_t)(d->ow * (uint32_t)s->pixel + draw(g, 3) * element);
    s->first = 0;
    if ((d->oh - 1) * (uint32_t)s->row + (d->ow - 1) * (uint32_t)s->pixel + d->columns * element > bytes) return 0;
    if (is_read && draw(g, 6) == 0) s->pixel = 0;
    if (is_read && draw(g, 6) == 0) s->row = 0;
    if (draw(g, 8) == 0) s->first += (d->ow - 1) * (uint32_t)s->pixel, s->pixel = -s->pixel;
    if (draw(g, 8) == 0) s->first += (d->oh - 1) * (uint32_t)s->row, s->row = -s->row;
    return 1;
}

/* What kinds tensor and post share; columns, oh, ow and post_mode are set. 0: does not fit, nothing is changed. */
static int draw_post(generator *g, xpu_desc_post *d, int may_have_absmax) {
    int quantised = d->post_mode == XPU_POST_QUANTISED;
    d->y_type = quantised ? draw(g, 2) : float_types[draw(g, 3)];
    d->branch_type = quantised ? draw(g, 2) : float_types[draw(g, 3)];
    const int swish = !quantised && d->op == XPU_POST_SCALE && draw(g, 4) == 0;
    if (swish) d->y_type = XPU_TYPE_F32;
    uint32_t yb = type_bytes[d->y_type], bb = type_bytes[d->branch_type];
    steps y, branch;
    if (!pixels(g, d, yb, 2 * SLOT - 64, 0, &y) || !pixels(g, d, bb, SLOT - 64, 1, &branch)) return 0;
    d->y_pixel_stride = y.pixel, d->y_row_stride = y.row;
    d->branch_pixel_stride = branch.pixel, d->branch_row_stride = branch.row;
    d->y = sm_slots(g, 2, 1) + y.first + draw(g, 16) * yb;
    if (!swish && (draw(g, 2) || (d->op != XPU_POST_SCALE)))
        d->branch =
            (d->branch_type == XPU_TYPE_F32 ? XPU_SM_BASE + 4096 : sm_slots(g, 1, 0)) + branch.first + draw(g, 16) * bb;
    d->params = constant(g, quantised ? PARAMS_QUANTISED : PARAMS_FLOAT) + 4 * XPU_POST_WORDS * draw(g, 4);
    d->activation = swish ? XPU_ACT_HARD_SWISH : draw(g, 3), d->act_after = draw(g, 2), d->branch_first = draw(g, 2);
    d->clip_last = !quantised && !swish && d->y_type == XPU_TYPE_F32 && draw(g, 2);
    d->scale = draw(g, 2) ? constant(g, SCALE) : 0;
    d->bias = !quantised && draw(g, 2) ? constant(g, BIAS) : 0;
    d->lookup = quantised && draw(g, 3) == 0 ? constant(g, LOOKUP) : 0;
    unsigned found = draw(g, 6);
    if (!quantised && draw(g, 2)) d->findmax = writing(g, found) + 4 * draw(g, 8);
    if (may_have_absmax && draw(g, 3) == 0) d->absmax = constant(g, ABSMAX) + 4 * draw(g, 16);
    unsigned other = draw(g, 6);
    if (d->y_type != XPU_TYPE_F32 && may_have_absmax && !d->absmax && other != found && draw(g, 3) == 0)
        d->absmax = reading(g, other) + 4 * draw(g, 8);
    return 1;
}

static void post_words(generator *g, uint32_t *words) {
    for (;;) {
        xpu_desc_post d = {
            .post_mode = draw(g, 2), .columns = 1 + draw(g, COLUMNS), .oh = 1 + draw(g, 4), .ow = 1 + draw(g, 6)};
        d.op = d.post_mode == XPU_POST_QUANTISED ? draw(g, 3) : draw(g, 2) * XPU_POST_MUL;
        d.x_type = d.post_mode == XPU_POST_FLOAT ? draw(g, 5) : draw(g, d.op == XPU_POST_SCALE ? 4 : 2);
        uint32_t xb = type_bytes[d.x_type];
        steps x;
        if (!pixels(g, &d, xb, SLOT - 64, 1, &x)) continue;
        d.x_pixel_stride = x.pixel, d.x_row_stride = x.row;
        g->read_count = g->write_count = 0;
        d.x = (d.x_type == XPU_TYPE_F32 ? XPU_SM_BASE + 4096 : sm_slots(g, 1, 0)) + x.first + draw(g, 16) * xb;
        if (!draw_post(g, &d, d.x_type == XPU_TYPE_I8 || d.x_type == XPU_TYPE_I16)) continue;
        xpu_desc_post_pack(words, &d);
        return;
    }
}

/* The geometry of a tensor descriptor; 0: something does not fit. */
static int draw_tile(generator *g, xpu_desc_tensor *d) {
    uint32_t xb = d->mode ? 2 : 1, wb = d->mode == XPU_OPERANDS_16X16 ? 2 : 1;
    d->kh = 1 + draw(g, 3), d->kw = 1 + draw(g, 3);
    d->channels = draw(g, 3) ? 1 + draw(g, 12) : g->chip.array_rows;
    d->stride_h = 1 + draw(g, 2), d->stride_w = 1 + draw(g, 2);
    d->dilation_h = 1 + draw(g, 2), d->dilation_w = draw(g, 3) ? 1 : 2;
    d->pad_top = between(g, -1, 2), d->pad_left = between(g, -1, 2);
    d->tile_rows = draw(g, 8), d->tile_cols = draw(g, 10);
    d->x_pixel_stride = (int32_t)((d->channels + (draw(g, 2) ? 0 : draw(g, 5))) * xb);
    d->x_row_stride = (int32_t)(d->tile_cols * (uint32_t)d->x_pixel_stride + draw(g, 3) * xb);
    d->w_row_stride = (d->columns + (draw(g, 2) ? 0 : draw(g, 3))) * wb;
    if (d->mode == XPU_OPERANDS_8X8) {
        d->x_unsigned = draw(g, 2), d->w_unsigned = draw(g, 2);
        d->x_zero = between(g, d->x_unsigned ? 0 : -128, d->x_unsigned ? 255 : 127);
        d->w_zero = between(g, d->w_unsigned ? 0 : -128, d->w_unsigned ? 255 : 127);
    }
    return d->tile_rows * (uint32_t)d->x_row_stride + 64 <= 2 * SLOT &&
           d->kh * d->kw * d->channels * d->w_row_stride + 64 <= 3 * SLOT;
}

/* A product in another bank without a drain, between another one's products and their drain. */
static void undrained_product(generator *g, unsigned which, const xpu_desc_tensor *like) {
    xpu_desc_tensor d = *like;
    uint32_t words[XPU_DESC_WORDS];
    d.bank = (d.bank + 1) % g->chip.acc_banks;
    while (!draw_tile(g, &d)) {
    }
    g->read_count = g->write_count = 0;
    d.x = sm_slots(g, 2, 0), d.w = sm_slots(g, 3, 0);
    d.accumulate = d.drain = 0, d.start = 0;
    xpu_desc_tensor_pack(words, &d);
    queue_task(g, which, words);
}

/* Sums of one to three descriptors in one bank, the last of which may be a drain without a product. */
static void tensor_tasks(generator *g, unsigned which) {
    unsigned parts = 1 + draw(g, 3);
    xpu_desc_tensor d = {.mode = draw(g, 3), .bank = draw(g, g->chip.acc_banks)};
    uint32_t most = g->chip.array_columns < COLUMNS ? g->chip.array_columns : COLUMNS;
    d.columns = draw(g, 2) ? most : 1 + draw(g, most);
    do d.oh = 1 + draw(g, 6), d.ow = 1 + draw(g, 8);
    while (d.oh * d.ow > g->chip.acc_rows || d.oh * d.ow * d.columns > 900);
    d.post_mode = d.mode == XPU_OPERANDS_8X8 ? draw(g, 2) : XPU_POST_FLOAT;
    for (unsigned i = 0; i < parts; i++) {
        uint32_t words[XPU_DESC_WORDS];
        const int drains_only = i > 0 && i + 1 == parts && draw(g, 2);
        if (drains_only && draw(g, 2)) undrained_product(g, which, &d);
        while (!draw_tile(g, &d)) {
        }
        uint32_t wb = d.mode == XPU_OPERANDS_16X16 ? 2 : 1, xb = d.mode ? 2 : 1;
        xpu_desc_post p;
        do {
            p = (xpu_desc_post){.post_mode = d.post_mode, .columns = d.columns, .oh = d.oh, .ow = d.ow};
            g->read_count = g->write_count = 0;
        } while (i + 1 == parts && !draw_post(g, &p, 1));
        d.x = sm_slots(g, 2, 0) + draw(g, 16) * xb, d.w = sm_slots(g, 3, 0) + draw(g, 16) * wb;
        if (d.tile_rows && draw(g, 8) == 0)
            d.x += (d.tile_rows - 1) * (uint32_t)d.x_row_stride, d.x_row_stride = -d.x_row_stride;
        d.accumulate = i > 0, d.drain = i + 1 == parts;
        if (drains_only) d.channels = 0;
        d.start = i == 0 && draw(g, 2) ? constant(g, START) : 0;
        xpu_desc_tensor all = d;
        TAKE_POST(all, p);
        xpu_desc_tensor_pack(words, &all);
        g->is_post = drains_only; /* which does not wait for products either */
        queue_task(g, which, words);
        g->is_post = 0;
    }
}

/* The geometry of a window descriptor; 0: something does not fit. */
static int draw_window(generator *g, xpu_desc_window *d) {
    *d = (xpu_desc_window){
        .op = draw(g, 3), .columns = 1 + draw(g, COLUMNS), .kh = 1 + draw(g, 4), .kw = 1 + draw(g, 4)};
    d->mode = draw(g, d->op == XPU_WINDOW_CONVOLUTION ? 3 : 2);
    d->whole = d->op != XPU_WINDOW_CONVOLUTION && draw(g, 3) == 0;
    d->oh = d->whole ? 1 : 1 + draw(g, 6), d->ow = d->whole ? 1 : 1 + draw(g, 8);
    if (draw(g, 8) == 0) d->kh = 7, d->kw = 7;
    uint32_t xb = d->mode ? 2 : 1, wb = d->mode == XPU_OPERANDS_16X16 ? 2 : 1;
    d->stride_h = 1 + draw(g, 3), d->stride_w = 1 + draw(g, 3);
    d->dilation_h = 1 + draw(g, 2), d->dilation_w = draw(g, 3) ? 1 : 2;
    d->pad_top = between(g, -1, 3), d->pad_left = between(g, -1, 3);
    d->tile_rows = draw(g, 10), d->tile_cols = draw(g, 12);
    if (draw(g, 3) == 0) {
        d->x_ring_rows = d->tile_rows + 1 + draw(g, 3);
        d->x_ring_first = draw(g, d->x_ring_rows);
    }
    d->x_pixel_stride = (int32_t)((d->columns + (draw(g, 2) ? 0 : draw(g, 5))) * xb);
    d->x_row_stride = (int32_t)(d->tile_cols * (uint32_t)d->x_pixel_stride + draw(g, 3) * xb);
    d->w_row_stride = (d->columns + (draw(g, 2) ? 0 : draw(g, 3))) * wb;
    if (!d->mode) {
        d->x_unsigned = draw(g, 2), d->w_unsigned = draw(g, 2);
        d->x_zero = between(g, d->x_unsigned ? 0 : -128, d->x_unsigned ? 255 : 127);
        d->w_zero = between(g, d->w_unsigned ? 0 : -128, d->w_unsigned ? 255 : 127);
    }
    d->drain = d->mode || draw(g, 4);
    d->post_mode = d->mode ? XPU_POST_FLOAT : draw(g, 2);
    d->accumulate = !d->mode && d->op != XPU_WINDOW_MAX && draw(g, 4) == 0;
    return (d->tile_rows + d->x_ring_rows) * (uint32_t)d->x_row_stride + 64 <= 3 * SLOT &&
           d->kh * d->kw * d->w_row_stride + 64 <= 3 * SLOT && d->oh * d->ow * d->columns <= 900;
}

static void window_words(generator *g, uint32_t *words) {
    xpu_desc_window d;
    xpu_desc_post p;
    do {
        while (!draw_window(g, &d)) {
        }
        p = (xpu_desc_post){.post_mode = d.post_mode, .columns = d.columns, .oh = d.oh, .ow = d.ow};
        g->read_count = g->write_count = 0;
    } while (!draw_post(g, &p, 1));
    uint32_t wb = d.mode == XPU_OPERANDS_16X16 ? 2 : 1, xb = d.mode ? 2 : 1;
    d.x = sm_slots(g, 3, 0) + draw(g, 16) * xb;
    if (d.op == XPU_WINDOW_CONVOLUTION) d.w = sm_slots(g, 3, 0) + draw(g, 16) * wb;
    if (d.op != XPU_WINDOW_MAX && draw(g, 2)) d.start = constant(g, START);
    if (d.accumulate) d.start = sm_slots(g, 2, 0) + 4 * draw(g, 16);
    TAKE_POST(d, p);
    if (!d.drain) {
        d.y = g->slots[g->writes[0]].address + 4 * draw(g, 16), d.y_type = XPU_TYPE_I32;
        d.y_pixel_stride = (int32_t)(4 * d.columns), d.y_row_stride = (int32_t)d.ow * d.y_pixel_stride;
    }
    xpu_desc_window_pack(words, &d);
}

/* ---- Cores ---- */

/* An LM slot of the core itself by one of its two addresses. */
static uint32_t seen_by(generator *g, unsigned s, int core) {
    const slot *at = &g->slots[s];
    if (at->owner != core || draw(g, 2)) return at->address;
    return at->address - XPU_LM_ALL_BASE - (uint32_t)core * XPU_LM_ALIAS_STRIDE + XPU_LM_BASE;
}

static void work_task(generator *g, unsigned which) {
    static const rd_kind kinds[] = {RD_WORDS, RD_BYTES, RD_VECTOR, RD_FLOATS, RD_HALVES};
    rd_action action = {kinds[draw(g, 5)], 0, 0, 1 + draw(g, 100)};
    unsigned from = any_slot(g), to = other_slot(g, from);
    reading(g, from), writing(g, to);
    action.to = seen_by(g, to, g->agents[which].core) + 4 * draw(g, 200);
    action.from = seen_by(g, from, g->agents[which].core) + 4 * draw(g, 200);
    core_task(g, which, action);
}

static void barrier(generator *g) {
    for (unsigned core = 0; core < g->chip.cores; core++) put_action(g, (int)core, RD_BARRIER, 0, 0, 0);
}

/* ---- The program ---- */

static void make_agents(generator *g) {
    uint8_t used[XPU_COUNTERS] = {0};
    for (unsigned core = 0; core < g->chip.cores; core++)
        for (int engine = -1; engine < (core ? 2 : (int)xpu_chip_engines(&g->chip)); engine++) {
            agent *a = &g->agents[g->agent_count++];
            *a = (agent){.is_core = engine < 0, .core = (int)core, .engine = engine, .open = -1};
            do a->counter = draw(g, XPU_COUNTERS);
            while (used[a->counter]);
            used[a->counter] = 1;
            if (draw(g, 3)) continue;
            a->value = draw(g, 2) ? 0xffffff00u : draw_word(g); /* counters wrap around */
            put_action(g, 0, RD_SIGNAL, a->counter, a->value, 0);
        }
    barrier(g);
}

static void one_task(generator *g) {
    unsigned which = draw(g, g->agent_count);
    if (draw(g, 4) == 0) which = 3; /* the tensor engine's queue */
    if (g->chip.window_channels && draw(g, 4) == 0) which = 4;
    const agent *a = &g->agents[which];
    uint32_t words[XPU_DESC_WORDS];
    g->read_count = g->write_count = 0;
    if (a->is_core) {
        work_task(g, which);
        if (draw(g, 16) == 0) barrier(g);
    } else if (a->engine == XPU_ENGINE_TENSOR && draw(g, 4)) {
        tensor_tasks(g, which);
    } else {
        g->is_post = a->engine == XPU_ENGINE_TENSOR;
        if (g->is_post)
            post_words(g, words);
        else if (a->engine == XPU_ENGINE_WINDOW)
            window_words(g, words);
        else if (draw(g, 5) == 0)
            fill_words(g, words);
        else
            copy_words(g, words);
        queue_task(g, which, words);
        g->is_post = 0;
    }
}

static void make_program(generator *g, uint32_t seed_register) {
    make_memory(g);
    make_agents(g);
    while (g->descriptors < g->wanted && g->tasks < 16 * g->wanted) one_task(g);
    for (unsigned i = 0; i < g->agent_count; i++) close_list(g, &g->agents[i]);
    for (unsigned i = 0; i < g->agent_count; i++)
        put_action(g, 0, RD_WAIT, g->agents[i].counter, g->agents[i].value, 0);
    for (unsigned i = 0; i < g->part_count; i++) /* what the lists in GM take */
        if (g->parts[i].address == RD_LISTS) g->parts[i].length = g->lists_at[0] - RD_LISTS;
    rd_header header = {.seed = seed_register};
    for (unsigned core = 0; core < g->chip.cores; core++) {
        uint32_t bytes = (g->action_count[core] + 1) * (uint32_t)sizeof(rd_action);
        header.actions[core] = RD_ACTIONS + core * MAX_ACTIONS * (uint32_t)sizeof(rd_action);
        put_action(g, (int)core, RD_END, 0, 0, 0);
        memcpy(add_part(g, header.actions[core], bytes), g->actions[core], bytes);
    }
    memcpy(add_part(g, RD_HEADER, sizeof header), &header, sizeof header);
}

/* ---- The file: the program with more segments ---- */

static int write_program(const generator *g, xpu_arena *arena, const char *base, const char *path, xpu_diags *diags) {
    size_t size, at;
    uint8_t *elf = xpu_file_read_all(arena, base, 1 << 24, &size, diags);
    if (!elf) return XPU_EIO;
    Elf32_Ehdr header;
    memcpy(&header, elf, sizeof header);
    size_t tables = (header.e_phnum + g->part_count) * sizeof(Elf32_Phdr), total = size + tables;
    for (unsigned i = 0; i < g->part_count; i++) total += g->parts[i].length;
    uint8_t *file = xpu_alloc(arena, total);
    memcpy(file, elf, size);
    memcpy(file + size, elf + header.e_phoff, header.e_phnum * sizeof(Elf32_Phdr));
    at = size + tables;
    for (unsigned i = 0; i < g->part_count; i++) {
        const part *p = &g->parts[i];
        Elf32_Phdr segment = {PT_LOAD, (Elf32_Off)at, p->address, p->address, p->length, p->length, PF_R | PF_W, 4};
        memcpy(file + size + (header.e_phnum + i) * sizeof segment, &segment, sizeof segment);
        memcpy(file + at, p->bytes, p->length);
        at += p->length;
    }
    header.e_phoff = (Elf32_Off)size, header.e_phnum = (Elf32_Half)(header.e_phnum + g->part_count);
    memcpy(file, &header, sizeof header);
    return (int)xpu_file_write(arena, path, file, total, diags);
}

static int run(xpu_mem *mem, char **argv, xpu_diags *diags) {
    xpu_arena *arena = xpu_arena_new(mem, "descriptors");
    generator *g = calloc(1, sizeof *g);
    if (!g) return XPU_EIO;
    g->random = strtoull(argv[1], NULL, 0) << 32;
    g->wanted = (uint32_t)strtoul(argv[2], NULL, 0);
    g->task_agent = XPU_NEW_ARRAY(arena, int, 16 * g->wanted + 256),
    g->task_value = XPU_NEW_ARRAY(arena, uint32_t, 16 * g->wanted + 256);
    int status = (int)xpu_chip_load(arena, "configs/chip", argv[3], &g->chip, diags);
    if (!status) {
        make_program(g, (uint32_t)strtoul(argv[6], NULL, 0));
        status = write_program(g, arena, argv[4], argv[5], diags);
        printf("%u %u %u\n", g->descriptors, g->chip.cores, g->chip.sm_bytes);
    }
    for (unsigned i = 0; i < g->part_count; i++) free(g->parts[i].bytes);
    free(g);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fputs(
            "usage: random_descriptors_main SEED DESCRIPTORS CHIP BASE.elf OUT.elf SEED_REGISTER\n"
            "Adds random lists and memory to BASE.elf (tests/chip/device/descriptors.c); prints how many descriptors\n"
            "there are, and the cores and bytes of SM of the chip.\n",
            stderr);
        return XPU_EUSAGE;
    }
    xpu_diags diags;
    xpu_mem mem;
    xpu_diags_init(&diags);
    xpu_mem_init(&mem);
    int status;
    if (setjmp(mem.out_of_memory))
        status = (int)xpu_error_oom(&diags);
    else
        status = run(&mem, argv, &diags);
    xpu_diags_print(&diags, stderr);
    xpu_mem_release(&mem);
    xpu_diags_clear(&diags);
    return status;
}
