/*
 * Lock-step: the RTL leads. Each instruction that retires there is executed by the functional chip, which has memories
 * and registers of its own; what both have done is compared. Loads of registers that depend on time give what they gave
 * in the RTL.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sim/func/driver.h"
#include "sim/harness/harness.h"

struct xpu_lockstep {
    xpurt_device *device; /* of the functional chip's driver */
    xpu_func *func;
    xpu_retired now;
    struct {
        uint32_t address, value;
        int store;
    } last_register; /* of this instruction; address 0: none */
    char text[400];
};

static uint32_t depends_on_time(uint32_t offset) {
    return offset < XPU_REG_WAIT_VALUE || (offset >= XPU_REG_WAIT && offset < XPU_REG_DOORBELL_ADDRESS) ||
           offset == XPU_REG_BARRIER ||
           (offset >= XPU_REG_DOORBELL_ADDRESS && offset < XPU_REG_BARRIER && (offset & 15) == 8);
}

static xpu_lockstep *of_port(void *port, unsigned *core) {
    const xpu_func_port *p = port;
    *core = p->core;
    return p->func->events.put_context;
}

static xpu_bus_result load(void *port, uint32_t address, uint32_t *value) {
    unsigned core;
    xpu_lockstep *lockstep = of_port(port, &core);
    if (depends_on_time(address - XPU_REGS_BASE) && lockstep->now.read_mask) {
        *value = lockstep->now.read_data;
        return XPU_BUS_OK;
    }
    return xpu_func_load_register(port, address, value);
}

/* Signals, doorbells, tickets and the end are the RTL's; the rest is kept here too, to be read back. */
static xpu_bus_result store(void *port, uint32_t address, uint32_t *value) {
    unsigned core;
    xpu_lockstep *lockstep = of_port(port, &core);
    uint32_t offset = address - XPU_REGS_BASE;
    lockstep->last_register.address = address;
    lockstep->last_register.value = *value;
    if (core == 0 && (offset == XPU_REG_EXIT || offset == XPU_REG_HOST_CALL || offset == XPU_REG_TICKET_LAYER))
        return XPU_BUS_OK;
    if (offset == XPU_REG_PUTCHAR) return XPU_BUS_OK;
    if (offset >= XPU_REG_DOORBELL_ADDRESS && offset < XPU_REG_BARRIER && (offset & 15) == 4 && !lockstep->now.trap)
        return XPU_BUS_OK;
    xpu_bus_result result = xpu_func_store_register(port, address, value);
    return result == XPU_BUS_STOP ? XPU_BUS_OK : result;
}

/* CSRs cycle and time give what they gave in the RTL: the half that this instruction reads. */
static uint64_t cycle(void *port) {
    unsigned core;
    const xpu_retired *now = &of_port(port, &core)->now;
    return now->insn >> 27 & 1 ? (uint64_t)now->rd_value << 32 : now->rd_value;
}

xpu_lockstep *xpu_lockstep_new(const xpu_chip *chip) {
    xpu_lockstep *lockstep = calloc(1, sizeof *lockstep);
    xpu_diags diags;
    if (!lockstep) return NULL;
    xpu_diags_init(&diags);
    lockstep->device = xpu_func_driver.create(chip, &diags);
    xpu_diags_clear(&diags);
    if (!lockstep->device) {
        free(lockstep);
        return NULL;
    }
    lockstep->func = xpu_func_of(lockstep->device);
    lockstep->func->events.put_context = lockstep;
    for (unsigned core = 0; core < chip->cores; core++)
        lockstep->func->buses[core] = (xpu_core_bus){&lockstep->func->ports[core], load, store, cycle, NULL};
    return lockstep;
}

void xpu_lockstep_free(xpu_lockstep *lockstep) {
    if (!lockstep) return;
    xpu_func_driver.destroy(lockstep->device);
    free(lockstep);
}

int xpu_lockstep_write(xpu_lockstep *lockstep, uint64_t address, const void *bytes, size_t length) {
    return xpu_func_driver.write(lockstep->device, address, bytes, length);
}

int xpu_lockstep_map(xpu_lockstep *lockstep, uint64_t address, int file, uint64_t offset, size_t length) {
    return xpu_func_driver.map(lockstep->device, address, file, offset, length);
}

int xpu_lockstep_start(xpu_lockstep *lockstep, uint32_t entry, uint32_t seed) {
    lockstep->text[0] = 0;
    if (xpu_func_driver.start(lockstep->device, entry)) return -1;
    lockstep->func->seed = seed;
    return 0;
}

const char *xpu_lockstep_text(const xpu_lockstep *lockstep) {
    return lockstep->text;
}

/* Notes a difference; returns whether there is one. */
static int differs(xpu_lockstep *lockstep, const char *what, uint32_t rtl, uint32_t func) {
    const xpu_retired *now = &lockstep->now;
    char text[80];
    if (rtl == func) return 0;
    xpu_disassemble(now->insn, now->pc, text, sizeof text);
    for (char *c = text; *c; c++)
        if (*c == '\t') *c = ' ';
    snprintf(lockstep->text, sizeof lockstep->text,
             "cycle %" PRIu64 ", core %u, instruction %" PRIu64 ", pc 0x%08" PRIx32 ", %s: %s is 0x%08" PRIx32
             " on rtl, 0x%08" PRIx32 " on func",
             now->cycle, now->core, now->order, now->pc, text, what, rtl, func);
    return 1;
}

static int before_differs(xpu_lockstep *lockstep, const xpu_hart *hart) {
    const xpu_retired *now = &lockstep->now;
    uint32_t word = now->insn;
    if (differs(lockstep, "the number of the instruction", (uint32_t)now->order, (uint32_t)hart->instret)) return 1;
    if (differs(lockstep, "pc", now->pc, hart->pc)) return 1;
    const uint8_t *memory = hart->pc & 3 ? NULL : xpu_func_engine_memory(lockstep->func, hart->pc, sizeof word);
    if (memory) memcpy(&word, memory, sizeof word);
    return differs(lockstep, "the instruction", now->insn, word);
}

static int store_differs(xpu_lockstep *lockstep, const xpu_hart *hart) {
    const xpu_retired *now = &lockstep->now;
    uint32_t bytes = now->write_mask == 15 ? 4 : now->write_mask == 3 ? 2 : now->write_mask, func = 0;
    uint32_t rtl = bytes == 4 ? now->write_data : now->write_data & ((1u << 8 * bytes) - 1), address = now->address;
    if (bytes == 0) return differs(lockstep, "the stored register", 0, lockstep->last_register.address);
    if (lockstep->last_register.address)
        return differs(lockstep, "the address", address, lockstep->last_register.address) ||
               differs(lockstep, "the stored value", rtl, lockstep->last_register.value);
    if (address - XPU_LM_BASE < XPU_LM_ALIAS_STRIDE)
        address += XPU_LM_ALL_BASE - XPU_LM_BASE + hart->id * XPU_LM_ALIAS_STRIDE;
    const uint8_t *memory = xpu_func_engine_memory(lockstep->func, address, bytes);
    if (!memory) return differs(lockstep, "the address", now->address, 0);
    memcpy(&func, memory, bytes);
    return differs(lockstep, "the stored value", rtl, func);
}

int xpu_lockstep_retire(xpu_lockstep *lockstep, const xpu_retired *retired) {
    xpu_hart *hart = &lockstep->func->harts[retired->core];
    lockstep->now = *retired;
    lockstep->last_register.address = 0;
    if (lockstep->text[0]) return 0;
    if (before_differs(lockstep, hart)) return 0;
    xpu_hart_reason reason = xpu_hart_run(hart, 1);
    if (differs(lockstep, "the number of faults", (uint32_t)retired->trap, reason == XPU_HART_FAULT)) return 0;
    if (retired->trap) return 1;
    if (differs(lockstep, "the number of stalls", 0, reason == XPU_HART_STALLED)) return 0;
    char name[16];
    snprintf(name, sizeof name, "x%u", retired->rd);
    if (retired->rd && differs(lockstep, name, retired->rd_value, hart->x[retired->rd])) return 0;
    snprintf(name, sizeof name, "f%u", retired->frd);
    if (retired->writes_f && differs(lockstep, name, retired->frd_value, hart->f[retired->frd])) return 0;
    if (store_differs(lockstep, hart)) return 0;
    return !differs(lockstep, "the next pc", retired->next, hart->pc);
}

int xpu_lockstep_fault(xpu_lockstep *lockstep, unsigned core, uint32_t cause, uint32_t address) {
    const xpu_hart *hart = &lockstep->func->harts[core];
    if (lockstep->text[0]) return 0;
    return !differs(lockstep, "the fault's cause", cause, hart->fault.cause) &&
           !differs(lockstep, "the fault's address", address, hart->fault.address);
}

int xpu_lockstep_exit(xpu_lockstep *lockstep, uint64_t cycle_now, uint32_t status) {
    xpu_hart *hart = &lockstep->func->harts[0];
    const uint8_t *memory = xpu_func_engine_memory(lockstep->func, hart->pc, sizeof lockstep->now.insn);
    if (lockstep->text[0]) return 0;
    lockstep->now = (xpu_retired){.cycle = cycle_now, .order = hart->instret, .pc = hart->pc};
    if (memory) memcpy(&lockstep->now.insn, memory, sizeof lockstep->now.insn);
    lockstep->last_register.address = 0;
    xpu_hart_run(hart, 1);
    return !differs(lockstep, "the stored register", XPU_REGS_BASE + XPU_REG_EXIT, lockstep->last_register.address) &&
           !differs(lockstep, "the status", status, lockstep->last_register.value);
}
