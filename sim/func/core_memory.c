/* Memory as a core reaches it by the slow way: ranges by search, the system behind them. */
#include "sim/func/core_parts.h"

uint8_t *xpu_hart_span(xpu_hart *hart, uint32_t address, uint32_t bytes, int store) {
    for (unsigned i = 1; i <= hart->range_count; i++) {
        xpu_core_range *range = &hart->ranges[i];
        uint32_t offset = address - range->base;
        if (offset >= range->size || bytes > range->size - offset) continue;
        if (store && !range->writable) return NULL;
        if (hart->bus->observe && !hart->map[0][range->base >> 20])
            hart->bus->observe(hart->bus->context, address, bytes, store);
        range->bytes[store] += bytes;
        return range->host + offset;
    }
    return NULL;
}

static int in_ranges(const xpu_hart *hart, uint32_t address) {
    for (unsigned i = 1; i <= hart->range_count; i++)
        if (address - hart->ranges[i].base < hart->ranges[i].size) return 1;
    return 0;
}

uint8_t *xpu_hart_slow(xpu_hart *hart, uint32_t address, uint32_t size, int store) {
    return xpu_hart_block(hart, address, size, size, store);
}

uint8_t *xpu_hart_block(xpu_hart *hart, uint32_t address, uint32_t bytes, uint32_t alignment, int store) {
    if (address & (alignment - 1)) {
        xpu_fault(hart, in_ranges(hart, address) ? XPU_FAULT_MISALIGNED : XPU_FAULT_ADDRESS, address);
        return NULL;
    }
    uint8_t *memory = xpu_hart_span(hart, address, bytes, store);
    if (!memory) xpu_fault(hart, XPU_FAULT_ADDRESS, address);
    return memory;
}

/* An access outside of the ranges, which is the system's. */
static xpu_outcome bus_access(xpu_hart *hart, uint32_t address, uint32_t size, uint32_t *value, int store) {
    xpu_bus_result (*call)(void *, uint32_t, uint32_t *) = store ? hart->bus->store : hart->bus->load;
    if (size != 4 || address & 3 || !call || in_ranges(hart, address))
        return xpu_fault(hart, XPU_FAULT_ADDRESS, address);
    xpu_fp_leave(hart);
    xpu_bus_result result = call(hart->bus->context, address, value);
    xpu_fp_enter(hart);
    switch (result) {
    case XPU_BUS_OK: return XPU_DONE;
    case XPU_BUS_STALL: return XPU_STALL;
    case XPU_BUS_STOP: return XPU_STOP;
    default: return xpu_fault(hart, (xpu_fault_cause)*value, address);
    }
}

xpu_outcome xpu_hart_load(xpu_hart *hart, uint32_t address, uint32_t size, uint32_t *value) {
    *value = 0;
    if (address & (size - 1) && in_ranges(hart, address)) return xpu_fault(hart, XPU_FAULT_MISALIGNED, address);
    const uint8_t *memory = address & (size - 1) ? NULL : xpu_hart_span(hart, address, size, 0);
    if (!memory) return bus_access(hart, address, size, value, 0);
    memcpy(value, memory, size);
    return XPU_DONE;
}

xpu_outcome xpu_hart_store(xpu_hart *hart, uint32_t address, uint32_t size, uint32_t value) {
    if (address & (size - 1) && in_ranges(hart, address)) return xpu_fault(hart, XPU_FAULT_MISALIGNED, address);
    uint8_t *memory = address & (size - 1) ? NULL : xpu_hart_span(hart, address, size, 1);
    if (!memory) return bus_access(hart, address, size, &value, 1);
    memcpy(memory, &value, size);
    return XPU_DONE;
}
