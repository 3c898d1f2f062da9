/* The queues of the engines. */
#ifndef XPU_SIM_FUNC_QUEUES_H
#define XPU_SIM_FUNC_QUEUES_H

#include "sim/func/func.h"

/* Queues a list; 0: the queue is full. */
int xpu_func_queue_push(xpu_func *func, unsigned engine, unsigned core, uint32_t address, uint32_t count);

/* The next descriptor of a queue that is not empty; NULL: its address is bad. */
const uint32_t *xpu_func_queue_head(const xpu_func *func, const xpu_func_queue *queue, uint64_t *address);

#endif
