/* The engines at work: waits, execution, completion. */
#include "sim/func/engine.h"

#include <string.h>

#include "sim/func/dma.h"
#include "sim/func/job.h"
#include "sim/func/memory.h"
#include "sim/func/post.h"
#include "sim/func/queues.h"
#include "sim/func/races.h"
#include "sim/func/tensor.h"
#include "sim/func/window.h"

static int wait_holds(const xpu_func *func, uint32_t counter, uint32_t value) {
    return counter == XPU_NO_COUNTER || counter >= XPU_COUNTERS ||
           (int32_t)(func->events.counters[counter] - value) >= 0;
}

static int check_common(const xpu_func_job *job) {
    uint32_t counters[] = {xpu_desc_nop_get_wait0(job->words), xpu_desc_nop_get_wait1(job->words),
                           xpu_desc_nop_get_signal(job->words)};
    for (int i = 0; i < 3; i++)
        if (counters[i] != XPU_NO_COUNTER && counters[i] >= XPU_COUNTERS)
            return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address,
                                         "counter %u of the waits and the signal does not exist", counters[i]);
    return 0;
}

static int execute(const xpu_func_job *job) {
    static const struct {
        uint32_t opcode;
        unsigned engine; /* that executes it; DMA0: both DMA engines do */
        int (*run)(const xpu_func_job *job);
    } kinds[] = {{XPU_OPCODE_COPY, XPU_ENGINE_DMA0, xpu_func_dma_copy},
                 {XPU_OPCODE_FILL, XPU_ENGINE_DMA0, xpu_func_dma_fill},
                 {XPU_OPCODE_GATHER, XPU_ENGINE_DMA0, xpu_func_dma_gather},
                 {XPU_OPCODE_TENSOR, XPU_ENGINE_TENSOR, xpu_func_tensor},
                 {XPU_OPCODE_POST, XPU_ENGINE_TENSOR, xpu_func_post},
                 {XPU_OPCODE_WINDOW, XPU_ENGINE_WINDOW, xpu_func_window}};
    unsigned engine = job->engine == XPU_ENGINE_DMA1 ? XPU_ENGINE_DMA0 : job->engine;
    uint32_t opcode = xpu_desc_nop_get_opcode(job->words);
    if (check_common(job)) return -1;
    if (opcode == XPU_OPCODE_NOP) return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].opcode == opcode && kinds[i].engine == engine) return kinds[i].run(job);
    const char *name = xpu_desc_kind_name(opcode);
    return xpu_func_engine_fault(job, XPU_FAULT_DESCRIPTOR, job->address, "opcode %u (%s) is none of engine %s", opcode,
                                 name ? name : "unknown", xpu_engine_name(job->engine));
}

int xpu_func_descriptor_run(xpu_func *func, unsigned engine, uint64_t address) {
    uint32_t words[XPU_DESC_WORDS];
    xpu_func_job job = {.func = func, .engine = engine, .address = address};
    const uint8_t *bytes = xpu_func_engine_memory(func, address, sizeof words);
    if (!bytes)
        return xpu_func_engine_fault(&job, XPU_FAULT_ENGINE_ADDRESS, address,
                                     "the descriptor list leaves the memories of this chip");
    memcpy(words, bytes, sizeof words);
    job.words = words;
    return execute(&job);
}

int xpu_func_descriptor_check(xpu_func *func, unsigned engine, uint64_t address) {
    func->fault = (xpurt_fault){0};
    func->extent = XPU_FUNC_CHECK_ALL;
    int result = xpu_func_descriptor_run(func, engine, address);
    func->extent = XPU_FUNC_EXECUTE;
    return result;
}

/* The product of `count` sizes; 0 where it is over `most`: such a descriptor is a fault. */
static uint64_t product(const uint32_t *sizes, int count, uint64_t most) {
    uint64_t result = 1;
    for (int i = 0; i < count; i++) {
        if (__builtin_mul_overflow(result, (uint64_t)sizes[i], &result) || result > most) return 0;
    }
    return result;
}

enum { FETCH_CYCLES = XPU_DESC_BYTES / 64 }; /* a descriptor itself is read, too */

/* Cycles that the work of a descriptor takes at least: of a DMA engine 64 bytes each, of the array one for each of its
 * rows, of the window engine one for XPU_WINDOW_TAPS taps of its channels. */
static uint64_t least_cycles(const xpu_chip *chip, const uint32_t *words) {
    const uint64_t most = (uint64_t)1 << 48;
    switch (xpu_desc_nop_get_opcode(words)) {
    case XPU_OPCODE_COPY:
    case XPU_OPCODE_FILL:
    case XPU_OPCODE_GATHER: {
        xpu_desc_copy d; /* a fill's fields are at the same places */
        xpu_desc_copy_unpack(words, &d);
        uint32_t sizes[] = {d.size0, d.size1, d.size2, d.size3};
        return product(sizes, 4, (uint64_t)1 << 31) * xpu_func_type_bytes(d.dst_type) / 64;
    }
    case XPU_OPCODE_TENSOR: {
        xpu_desc_tensor d;
        xpu_desc_tensor_unpack(words, &d);
        uint32_t sizes[] = {d.oh, d.ow, d.kh, d.kw, d.channels};
        return product(sizes, 5, most) / chip->array_rows;
    }
    case XPU_OPCODE_WINDOW: {
        xpu_desc_window d;
        xpu_desc_window_unpack(words, &d);
        uint32_t sizes[] = {d.oh, d.ow, d.whole ? d.tile_rows : d.kh, d.whole ? d.tile_cols : d.kw, d.columns};
        uint32_t channels = chip->window_channels ? chip->window_channels : 1; /* it is a fault on such a chip */
        return product(sizes, 5, most) / ((uint64_t)XPU_WINDOW_TAPS * channels);
    }
    default: return 0;
    }
}

/* Executes the head of a queue if its waits hold: 1; 0: it waits; -1: a fault, or the budget does not suffice. */
static int step(xpu_func *func, unsigned engine, unsigned core) {
    xpu_func_queue *queue = &func->queues[engine][core];
    xpu_func_job job = {.func = func, .engine = engine};
    uint32_t words[XPU_DESC_WORDS];
    const uint32_t *head = xpu_func_queue_head(func, queue, &job.address);
    if (!head)
        return xpu_func_engine_fault(&job, XPU_FAULT_ENGINE_ADDRESS, job.address,
                                     "the descriptor list leaves the memories of this chip");
    if (!wait_holds(func, xpu_desc_nop_get_wait0(head), xpu_desc_nop_get_wait0_value(head)) ||
        !wait_holds(func, xpu_desc_nop_get_wait1(head), xpu_desc_nop_get_wait1_value(head)))
        return 0;
    memcpy(words, head, sizeof words);
    job.words = words;
    uint64_t cycles = func->engine_cycles + FETCH_CYCLES + least_cycles(&func->chip, words);
    if (func->budget && func->spent + cycles > func->budget) {
        func->extent = XPU_FUNC_CHECK_BEGIN;
        func->exhausted = !execute(&job); /* a fault comes before the work that it would have been */
        func->extent = XPU_FUNC_EXECUTE;
        return -1;
    }
    func->engine_cycles = cycles;
    xpu_func_count_gm(func, job.address, XPU_DESC_BYTES, 0);
    if (func->races) xpu_races_start(func->races, engine, core, queue->first, (uint32_t)job.address, words);
    if (execute(&job)) return -1;
    if (func->races) xpu_races_end(func->races, words);
    uint32_t signal = xpu_desc_nop_get_signal(words);
    if (signal != XPU_NO_COUNTER) xpu_func_counter_add(func, signal, xpu_desc_nop_get_signal_add(words));
    func->totals.descriptors[engine]++;
    func->progress = 1;
    xpu_func_list *list = &queue->lists[queue->first];
    if (++list->done == list->count) {
        queue->first = (queue->first + 1) % XPU_QUEUE_DEPTH;
        queue->count--;
    }
    return 1;
}

/* One descriptor of one engine: the first queue, from the one after the last served, whose head can go. */
static int step_engine(xpu_func *func, unsigned engine) {
    unsigned cores = func->chip.cores;
    for (unsigned i = 0; i < cores; i++) {
        unsigned core = (func->next_queue[engine] + i) % cores;
        if (func->queues[engine][core].count == 0) continue;
        int done = step(func, engine, core);
        if (done > 0) func->next_queue[engine] = (core + 1) % cores;
        if (done != 0) return done;
    }
    return 0;
}

/* Under a seed an engine may get far ahead of the others, and work that is possible may stay for the next turn; at
 * least one descriptor is executed when any can be. */
static uint64_t run_perturbed(xpu_func *func) {
    uint64_t total = 0;
    unsigned engines = xpu_chip_engines(&func->chip), favourite = xpu_func_draw(func, engines);
    for (;;) {
        int done = 0;
        if (xpu_func_draw(func, 8) == 0) favourite = xpu_func_draw(func, engines);
        for (unsigned i = 0; i < engines && done == 0; i++) done = step_engine(func, (favourite + i) % engines);
        if (done <= 0) return total;
        total++;
        if ((func->events.ticket_count && xpu_sim_ticket_ready(&func->events)) || xpu_func_draw(func, 8) == 0)
            return total;
    }
}

uint64_t xpu_func_engines_run(xpu_func *func) {
    if (func->seed) return run_perturbed(func);
    uint64_t total = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (unsigned engine = 0; engine < xpu_chip_engines(&func->chip); engine++) {
            int done = step_engine(func, engine);
            if (done < 0) return total;
            if (done == 0) continue;
            moved = 1;
            total++;
            if (func->events.ticket_count && xpu_sim_ticket_ready(&func->events)) return total;
        }
    }
    return total;
}
