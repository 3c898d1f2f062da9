#include "sim/func/races.h"

#include <stdlib.h>
#include <string.h>

#include "core/chip.h"
#include "sim/func/events.h"
#include "sim/func/shadow.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

/* Details of a tag: the host's access; no pc, and no field. */
enum { BY_HOST = 0 };
enum { MAX_RACES = 100, MAX_FIELDS = 64, MAX_EPOCH = 0x0ffffffe, LOOK_BACK = 64, MAX_HISTORY = 1 << 16 };

typedef uint32_t clock_values[XPU_MAX_AGENTS];

/* clock[its own number]: the last epoch that ended with a fence. */
typedef struct {
    clock_values clock;
    uint32_t now;          /* epoch */
    int dirty;             /* there was an access in it */
    uint32_t forgotten[2]; /* epochs behind [0] up to [1]: of the last hand-over without a fence before it */
    uint32_t layer;
    uint32_t *layers; /* by epoch */
    size_t capacity;
} core_state;

typedef struct {
    uint32_t address;
    uint32_t layer;
    uint8_t opcode;
} descriptor;

/* clock: what is ordered before the descriptor at the head; its own number: the last descriptor that it waited for. */
typedef struct {
    clock_values clock;
    clock_values rung[XPU_QUEUE_DEPTH]; /* what was ordered before the doorbell of each list */
    uint32_t now;                       /* descriptors so far */
    uint32_t undrained;                 /* the first product without drain since one with; 0: none */
    uint32_t own_reads;                 /* what this descriptor writes comes behind the reads of those up to here */
    descriptor *descriptors;
    size_t capacity;
} queue_state;

/* One addition to a counter. */
typedef struct {
    uint64_t sum; /* with it */
    uint64_t tag; /* who: the details are the pc, as for accesses */
    uint32_t amount;
} addition;

/* clocks: of each addition two clocks of `agents` values: the adder's, and those of it and all before joined. */
typedef struct {
    addition *additions;
    uint32_t *clocks;
    size_t count, capacity;
    uint64_t sum, adders; /* adders: a bit for each agent */
    uint64_t awaited;     /* the largest sum that anybody has waited for */
} counter_state;

struct xpu_races {
    unsigned cores, agents;
    xpu_shadow *shadow;
    core_state core[XPU_MAX_CORES];
    queue_state queue[XPU_MAX_AGENTS - XPU_MAX_CORES];
    counter_state counter[XPU_COUNTERS];
    clock_values barrier, host;
    uint64_t host_tag; /* whose signal made the last ticket come true: the host reads in that moment; 0: nobody's */
    unsigned active;   /* agent of the descriptor that is being executed */
    const char *fields[MAX_FIELDS];
    unsigned field_count;
    xpurt_race races[MAX_RACES];
    size_t race_count;
    int failed;
};

static void next_epoch(xpu_races *r, core_state *c);
static void add_race(xpu_races *r, const xpurt_race *race);
static void found(void *context, uint64_t before, int before_writes, const xpu_shadow_access *now, uint32_t address);

/* ---- Making ---- */

xpu_races *xpu_races_new(unsigned cores) {
    xpu_races *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->cores = cores;
    r->agents = cores + XPU_ENGINE_TENSOR * cores + XPU_ENGINES - XPU_ENGINE_TENSOR;
    r->shadow = xpu_shadow_new(r->agents, found, r);
    if (r->shadow) {
        xpu_races_reset(r);
        return r;
    }
    free(r);
    return NULL;
}

static void release_memory(xpu_races *r) {
    for (unsigned i = 0; i < r->cores; i++) free(r->core[i].layers);
    for (unsigned i = 0; i < r->agents - r->cores; i++) free(r->queue[i].descriptors);
    for (unsigned i = 0; i < XPU_COUNTERS; i++) {
        free(r->counter[i].additions);
        free(r->counter[i].clocks);
    }
}

void xpu_races_free(xpu_races *r) {
    if (!r) return;
    release_memory(r);
    xpu_shadow_free(r->shadow);
    free(r);
}

void xpu_races_reset(xpu_races *r) {
    release_memory(r);
    xpu_shadow_clear(r->shadow);
    memset(r->core, 0, sizeof r->core);
    memset(r->queue, 0, sizeof r->queue);
    memset(r->counter, 0, sizeof r->counter);
    memset(r->barrier, 0, sizeof r->barrier);
    memset(r->host, 0, sizeof r->host);
    r->host_tag = 0;
    r->race_count = 0;
    r->failed = 0;
    for (unsigned i = 0; i < r->cores; i++) next_epoch(r, &r->core[i]);
}

int xpu_races_incomplete(const xpu_races *r) {
    return r->failed || xpu_shadow_failed(r->shadow);
}

/* Room for `count` elements of `size` bytes; 0: out of memory. */
static int grow(xpu_races *r, void *array, size_t *capacity, size_t count, size_t size) {
    void *old, *grown;
    if (count <= *capacity) return 1;
    size_t wanted = *capacity ? 2 * *capacity : 64;
    if (wanted < count) wanted = count;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, wanted * size);
    if (!grown) {
        r->failed = 1;
        return 0;
    }
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return 1;
}

static void join(const xpu_races *r, uint32_t *to, const uint32_t *from) {
    for (unsigned i = 0; i < r->agents; i++)
        if (from[i] > to[i]) to[i] = from[i];
}

/* ---- Epochs of cores ---- */

/* Every epoch knows its layer. */
static void next_epoch(xpu_races *r, core_state *c) {
    if (c->now == MAX_EPOCH) {
        r->failed = 1;
        return;
    }
    c->now++;
    if (grow(r, &c->layers, &c->capacity, c->now + 1, sizeof *c->layers)) c->layers[c->now] = c->layer;
}

void xpu_races_fence(xpu_races *r, unsigned core) {
    core_state *c = &r->core[core];
    if (!c->dirty) return;
    c->dirty = 0;
    c->clock[core] = c->now;
    next_epoch(r, c);
}

void xpu_races_layer(xpu_races *r, unsigned core, uint32_t layer) {
    core_state *c = &r->core[core];
    c->layer = xpu_sim_layer_of_tag(c->layer, layer);
    next_epoch(r, c);
}

void xpu_races_core(xpu_races *r, unsigned core, uint32_t pc, uint32_t address, uint32_t bytes, int write) {
    core_state *c = &r->core[core];
    xpu_shadow_access access = {xpu_tag(core, c->now, pc >> 2), c->clock, write, 0, UINT32_MAX};
    if (address - XPU_LM_BASE < XPU_LM_ALIAS_STRIDE)
        address += XPU_LM_ALL_BASE - XPU_LM_BASE + core * XPU_LM_ALIAS_STRIDE;
    c->dirty = 1;
    xpu_shadow_visit(r->shadow, &access, address, bytes);
}

/* What a core hands over: its clock. Without accesses since the last fence the epoch ends here. */
static const uint32_t *hand_over(xpu_races *r, unsigned core) {
    core_state *c = &r->core[core];
    if (c->dirty) {
        c->forgotten[0] = c->clock[core];
        c->forgotten[1] = c->now;
    } else {
        c->clock[core] = c->now;
        next_epoch(r, c);
    }
    return c->clock;
}

/* ---- Counters ---- */

static uint32_t *clock_of(const xpu_races *r, const counter_state *c, size_t i, int joined) {
    return c->clocks + (2 * i + (joined ? 1 : 0)) * r->agents;
}

/* The access of a signal, for a report. */
static xpu_shadow_access signal_of(const addition *a) {
    return (xpu_shadow_access){a->tag, NULL, 1, 0, 0};
}

static void describe(const xpu_races *r, uint64_t tag, int write, xpurt_access *to);

/* Whether `late`, which came when the wait for `sum` was over, could have come instead of one of the additions up to
 * `last`, which fulfilled it: the wait orders nothing then. */
static void check_wait(xpu_races *r, unsigned counter, size_t last, uint64_t sum, size_t late) {
    const counter_state *c = &r->counter[counter];
    const addition *b = &c->additions[late];
    const uint32_t *clock = clock_of(r, c, late, 0);
    for (size_t i = last + 1; i-- > 0 && last - i < LOOK_BACK;) {
        const addition *a = &c->additions[i];
        unsigned agent = xpu_tag_agent(a->tag);
        if (agent == xpu_tag_agent(b->tag) || clock[agent] >= xpu_tag_epoch(a->tag)) continue;
        if (c->additions[last].sum - a->amount + b->amount < sum) continue;
        xpu_shadow_access second = signal_of(b);
        xpurt_race race = {.counter = (int)counter, .value = (uint32_t)sum};
        describe(r, a->tag, 1, &race.before);
        describe(r, second.tag, 1, &race.after);
        race.hint = "wait for a sum that only all of these signals together reach, or give each a counter of its own";
        add_race(r, &race);
        return;
    }
}

/* The first addition with which the counter has reached `sum`. */
static size_t reached(const counter_state *c, uint64_t sum) {
    size_t low = 0, high = c->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->additions[middle].sum >= sum)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void forget_half(const xpu_races *r, counter_state *c) {
    size_t half = c->count / 2;
    c->count -= half;
    memmove(c->additions, c->additions + half, c->count * sizeof *c->additions);
    memmove(c->clocks, c->clocks + 2 * half * r->agents, 2 * c->count * r->agents * sizeof *c->clocks);
}

static void add(xpu_races *r, unsigned counter, uint32_t amount, uint64_t tag, const uint32_t *clock) {
    counter_state *c = &r->counter[counter];
    if (c->count == MAX_HISTORY) forget_half(r, c);
    if (c->count == c->capacity) {
        size_t capacity = c->capacity, same = c->capacity;
        if (!grow(r, &c->additions, &capacity, c->count + 1, sizeof *c->additions) ||
            !grow(r, &c->clocks, &same, c->count + 1, sizeof *c->clocks * 2 * r->agents))
            return;
        c->capacity = capacity;
    }
    size_t i = c->count++;
    uint32_t *joined = clock_of(r, c, i, 1);
    uint64_t awaited = c->awaited, before = c->sum;
    c->sum += amount;
    c->adders |= (uint64_t)1 << xpu_tag_agent(tag);
    c->additions[i] = (addition){c->sum, tag, amount};
    memcpy(clock_of(r, c, i, 0), clock, r->agents * sizeof *clock);
    memcpy(joined, clock, r->agents * sizeof *clock);
    if (i) join(r, joined, clock_of(r, c, i - 1, 1));
    if (c->adders & (c->adders - 1) && awaited && awaited <= before && i)
        check_wait(r, counter, reached(c, awaited), awaited, i);
}

/* A wait for `value` was fulfilled: what its signals hand over goes into `clock`. The tag of the last one; 0: none was
 * needed. */
static uint64_t acquire(xpu_races *r, unsigned counter, uint32_t value, uint32_t *clock) {
    counter_state *c = &r->counter[counter];
    int64_t sum = (int64_t)c->sum + (int32_t)(value - (uint32_t)c->sum);
    if (sum <= 0 || c->count == 0) return 0;
    size_t last = reached(c, (uint64_t)sum);
    if ((uint64_t)sum > c->awaited) c->awaited = (uint64_t)sum;
    join(r, clock, clock_of(r, c, last, 1));
    if (c->adders & (c->adders - 1))
        for (size_t late = last + 1; late < c->count && late - last <= LOOK_BACK; late++)
            check_wait(r, counter, last, (uint64_t)sum, late);
    return c->additions[last].tag;
}

void xpu_races_signal(xpu_races *r, unsigned core, uint32_t pc, unsigned counter, uint32_t amount) {
    const uint32_t *clock = hand_over(r, core);
    add(r, counter, amount, xpu_tag(core, clock[core], pc >> 2), clock);
}

void xpu_races_wait(xpu_races *r, unsigned core, unsigned counter, uint32_t value) {
    acquire(r, counter, value, r->core[core].clock);
}

void xpu_races_barrier_reach(xpu_races *r, unsigned core) {
    join(r, r->barrier, hand_over(r, core));
}

void xpu_races_barrier_open(xpu_races *r) {
    for (unsigned i = 0; i < r->cores; i++) join(r, r->core[i].clock, r->barrier);
}

/* ---- Queues ---- */

/* Queues: those of the cores, engine by engine, then one of each engine that serves core 0 alone. */
static queue_state *queue_of(xpu_races *r, unsigned engine, unsigned core, unsigned *agent) {
    unsigned index = engine < XPU_ENGINE_TENSOR ? engine * r->cores + core
                                                : XPU_ENGINE_TENSOR * r->cores + engine - XPU_ENGINE_TENSOR;
    *agent = r->cores + index;
    return &r->queue[index];
}

void xpu_races_doorbell(xpu_races *r, unsigned core, unsigned engine, unsigned slot) {
    unsigned agent;
    queue_state *q = queue_of(r, engine, core, &agent);
    memcpy(q->rung[slot], hand_over(r, core), sizeof q->rung[slot]);
}

static uint32_t field_number(xpu_races *r, const char *field) {
    uint32_t i = BY_HOST + 1;
    while (i < r->field_count && r->fields[i] != field) i++;
    if (i == MAX_FIELDS) return MAX_FIELDS - 1;
    r->fields[i] = field;
    if (i >= r->field_count) r->field_count = i + 1;
    return i;
}

/* Whether descriptors of this agent overlap: those of the tensor and the window engine do. */
static int overlaps(const xpu_races *r, unsigned agent) {
    return agent >= r->cores + XPU_ENGINE_TENSOR * r->cores;
}

static void visit(xpu_races *r, const uint32_t *clock, const char *field, uint64_t address, uint64_t bytes, int write) {
    const queue_state *q = &r->queue[r->active - r->cores];
    xpu_shadow_access access = {xpu_tag(r->active, q->now, field_number(r, field)), clock, write,
                                overlaps(r, r->active), q->own_reads};
    xpu_shadow_visit(r->shadow, &access, (uint32_t)address, bytes);
}

void xpu_races_start(xpu_races *r, unsigned engine, unsigned core, unsigned slot, uint32_t address,
                     const uint32_t *words) {
    queue_state *q = queue_of(r, engine, core, &r->active);
    const uint32_t waits[2][2] = {{xpu_desc_nop_get_wait0(words), xpu_desc_nop_get_wait0_value(words)},
                                  {xpu_desc_nop_get_wait1(words), xpu_desc_nop_get_wait1_value(words)}};
    if (q->now == MAX_EPOCH) {
        r->failed = 1;
        return;
    }
    q->now++;
    if (grow(r, &q->descriptors, &q->capacity, q->now + 1, sizeof *q->descriptors))
        q->descriptors[q->now] =
            (descriptor){address, xpu_sim_layer_of_tag(r->core[core].layer, xpu_desc_nop_get_layer(words)),
                         (uint8_t)xpu_desc_nop_get_opcode(words)};
    q->own_reads = q->now;
    const uint32_t opcode = xpu_desc_nop_get_opcode(words);
    if (opcode == XPU_OPCODE_TENSOR && xpu_desc_tensor_get_channels(words)) {
        if (xpu_desc_tensor_get_drain(words))
            q->undrained = 0;
        else if (!q->undrained)
            q->undrained = q->now;
    } else if ((opcode == XPU_OPCODE_TENSOR || opcode == XPU_OPCODE_POST) && q->undrained) {
        q->own_reads = q->undrained - 1; /* the post-processor does not wait for the array */
    }
    visit(r, q->rung[slot], "the descriptor", address, XPU_DESC_BYTES, 0);
    join(r, q->clock, q->rung[slot]);
    for (int i = 0; i < 2; i++)
        if (waits[i][0] < XPU_COUNTERS) acquire(r, waits[i][0], waits[i][1], q->clock);
}

void xpu_races_bytes(xpu_races *r, const char *field, uint64_t address, uint64_t bytes, int write) {
    visit(r, r->queue[r->active - r->cores].clock, field, address, bytes, write);
}

void xpu_races_box(xpu_races *r, const char *field, uint64_t address, const uint32_t *size, const int32_t *stride,
                   unsigned bytes, int write) {
    uint64_t run = bytes, counts[4] = {1, 1, 1, 1};
    int64_t steps[4] = {0};
    int outer = 0;
    for (int d = 3; d >= 0; d--) { /* dense dimensions become one run of bytes */
        if (size[d] == 1) continue;
        if (outer == 0 && stride[d] > 0 && (uint64_t)stride[d] == run) {
            run *= size[d];
        } else {
            counts[outer] = size[d];
            steps[outer++] = stride[d];
        }
    }
    for (uint64_t i = 0; i < counts[3]; i++)
        for (uint64_t j = 0; j < counts[2]; j++)
            for (uint64_t k = 0; k < counts[1]; k++)
                for (uint64_t l = 0; l < counts[0]; l++)
                    xpu_races_bytes(r, field,
                                    address + (uint64_t)((int64_t)i * steps[3] + (int64_t)j * steps[2] +
                                                         (int64_t)k * steps[1] + (int64_t)l * steps[0]),
                                    run, write);
}

void xpu_races_end(xpu_races *r, const uint32_t *words) {
    queue_state *q = &r->queue[r->active - r->cores];
    unsigned signal = xpu_desc_nop_get_signal(words);
    if (signal >= XPU_COUNTERS) return;
    uint32_t known = q->clock[r->active];
    q->clock[r->active] = q->now; /* and so all before it */
    add(r, signal, xpu_desc_nop_get_signal_add(words), xpu_tag(r->active, q->now, field_number(r, "the signal")),
        q->clock);
    q->clock[r->active] = known;
}

/* ---- The host ---- */

void xpu_races_ticket(xpu_races *r, unsigned counter, uint32_t value) {
    uint64_t last = acquire(r, counter, value, r->host);
    unsigned agent = xpu_tag_agent(last);
    r->host_tag = last ? xpu_tag(agent, xpu_tag_epoch(last), BY_HOST) : 0;
}

void xpu_races_exit(xpu_races *r) {
    join(r, r->host, hand_over(r, 0));
    r->host_tag = 0;
}

void xpu_races_host(xpu_races *r, int in_call, uint64_t address, uint64_t bytes, int write) {
    const core_state *c = &r->core[0];
    xpu_shadow_access for_core = {xpu_tag(0, c->now, 0), c->clock, write, 0, UINT32_MAX},
                      own = {r->host_tag, r->host, 0, 1, 0};
    if (in_call) r->core[0].dirty = 1;
    if (in_call || !write) xpu_shadow_visit(r->shadow, in_call ? &for_core : &own, (uint32_t)address, bytes);
}

/* ---- Reports ---- */

static void describe(const xpu_races *r, uint64_t tag, int write, xpurt_access *to) {
    unsigned agent = xpu_tag_agent(tag);
    uint32_t epoch = xpu_tag_epoch(tag), details = xpu_tag_details(tag);
    *to = (xpurt_access){.core = -1, .engine = -1, .write = write};
    if (tag == 0) return;
    if (agent < r->cores) {
        const core_state *c = &r->core[agent];
        to->pc = details << 2;
        to->core = details == BY_HOST ? -1 : (int)agent;
        to->layer = epoch < c->capacity ? c->layers[epoch] : 0;
        return;
    }
    const queue_state *q = &r->queue[agent - r->cores];
    if (epoch < q->capacity) to->layer = q->descriptors[epoch].layer;
    if (details == BY_HOST) return;
    unsigned index = agent - r->cores, of_cores = XPU_ENGINE_TENSOR * r->cores;
    to->engine = (int)(index < of_cores ? index / r->cores : XPU_ENGINE_TENSOR + index - of_cores);
    to->core = (int)(index < of_cores ? index % r->cores : 0);
    to->field = r->fields[details];
    if (epoch >= q->capacity) return;
    to->descriptor = q->descriptors[epoch].address;
    to->kind = xpu_desc_kind_name(q->descriptors[epoch].opcode);
}

/* Whether two sides are the same place of a program, on whatever core. */
static int same_side(const xpurt_access *a, const xpurt_access *b) {
    return a->engine == b->engine && (a->core < 0) == (b->core < 0) && a->pc == b->pc && a->kind == b->kind &&
           a->field == b->field && a->layer == b->layer && a->write == b->write;
}

static void add_race(xpu_races *r, const xpurt_race *race) {
    for (size_t i = 0; i < r->race_count; i++)
        if (r->races[i].counter == race->counter && same_side(&r->races[i].before, &race->before) &&
            same_side(&r->races[i].after, &race->after))
            return;
    if (r->race_count < MAX_RACES) r->races[r->race_count++] = *race;
}

static const char *hint_for(const xpu_races *r, uint64_t before, const xpu_shadow_access *now, const xpurt_race *race) {
    unsigned agent = xpu_tag_agent(before);
    uint32_t epoch = xpu_tag_epoch(before);
    if (!now->tag && agent == 0) return "core 0 has to fence before it stores to EXIT";
    if (now->clock == r->host)
        return "wait for the work before EXIT, and announce a layer with the ticket of all that writes it";
    if (race->before.core < 0 && !race->before.write)
        return "what overwrites the result of a layer must wait for the layer's ticket";
    if (race->before.core == race->after.core && race->before.engine == race->after.engine)
        return "the tensor engine's descriptors overlap: the later one needs a wait for the signal of the earlier one";
    if (agent < r->cores && epoch > r->core[agent].forgotten[0] && epoch <= r->core[agent].forgotten[1])
        return "the first core has signalled without a fence: put one before the signal, doorbell or barrier";
    if (race->after.field && strcmp(race->after.field, "the descriptor") == 0)
        return "write a descriptor, fence, then ring the doorbell: the engine may fetch it from then on";
    if (race->before.field && strcmp(race->before.field, "the descriptor") == 0)
        return "wait for the descriptor's signal before its words are written again";
    if (!race->before.write) return "wait until the reader is done before its data is overwritten";
    return "the second must wait for a counter that the first (or what waits for it) signals, or meet it at the "
           "barrier";
}

static void found(void *context, uint64_t before, int before_writes, const xpu_shadow_access *now, uint32_t address) {
    xpu_races *r = context;
    xpurt_race race = {.address = address, .counter = -1};
    describe(r, before, before_writes, &race.before);
    describe(r, now->tag, now->write, &race.after);
    race.hint = hint_for(r, before, now, &race);
    add_race(r, &race);
}

int xpu_races_get(const xpu_races *r, size_t index, xpurt_race *race) {
    if (index >= r->race_count) return 0;
    *race = r->races[index];
    return 1;
}
