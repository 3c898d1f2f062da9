/* The engines at work: waits, execution, completion. */
#ifndef XPU_SIM_FUNC_ENGINE_H
#define XPU_SIM_FUNC_ENGINE_H

#include "sim/func/func.h"

/* Runs every descriptor whose waits hold, until none is left; returns how many. Stops at a fault. With a seed: some of
 * them, in a drawn order. */
uint64_t xpu_func_engines_run(xpu_func *func);

/* Executes the descriptor at `address` now, whatever it waits for, and without its signal: 0; -1: a fault. */
int xpu_func_descriptor_run(xpu_func *func, unsigned engine, uint64_t address);

/* The fault that the descriptor at `address` has now, without executing it: 0: none; -1: it is in func->fault. Of
 * `func` only the chip's sizes and memory are needed. */
int xpu_func_descriptor_check(xpu_func *func, unsigned engine, uint64_t address);

#endif
