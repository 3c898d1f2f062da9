/* What a DMA descriptor does, element by element, straight from docs/chip.md; shares no code with the engines. */
#ifndef XPU_TESTS_RTL_DMA_PLAIN_H
#define XPU_TESTS_RTL_DMA_PLAIN_H

#include <stdint.h>

/* Host address of a device address. */
typedef uint8_t *plain_memory(void *context, uint32_t address);

/* Executes a valid descriptor of kind copy, fill or gather. */
void plain_execute(const uint32_t *words, plain_memory *at, void *context);

#endif
