/* The lists that doorbells queued. */
#include "sim/func/queues.h"

#include "sim/func/memory.h"
#include "sim/func/races.h"

int xpu_func_queue_push(xpu_func *func, unsigned engine, unsigned core, uint32_t address, uint32_t count) {
    xpu_func_queue *queue = &func->queues[engine][core];
    if (queue->count == XPU_QUEUE_DEPTH) return 0;
    unsigned slot = (queue->first + queue->count++) % XPU_QUEUE_DEPTH;
    queue->lists[slot] = (xpu_func_list){address, count, 0};
    if (func->races) xpu_races_doorbell(func->races, core, engine, slot);
    return 1;
}

const uint32_t *xpu_func_queue_head(const xpu_func *func, const xpu_func_queue *queue, uint64_t *address) {
    const xpu_func_list *list = &queue->lists[queue->first];
    *address = list->address + (uint64_t)list->done * XPU_DESC_BYTES;
    return (const uint32_t *)(const void *)xpu_func_engine_memory(func, *address, XPU_DESC_BYTES);
}
