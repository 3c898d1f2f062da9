/*
 * Lock-step: the RTL leads. Each instruction that retires there and each descriptor that is complete there is executed
 * by the functional chip, which has memories and registers of its own; what both have done is compared. Loads of
 * registers that depend on time give what they gave in the RTL.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sim/func/core.h"
#include "sim/func/driver.h"
#include "sim/func/engine.h"
#include "sim/func/memory.h"
#include "sim/func/registers.h"
#include "sim/harness/harness.h"

enum {
    MAX_STORES = 2048, /* of one instruction: 8 fields of 256 elements */
    MAX_DOUBTS = 64,
    DOUBT_BYTES = 8 * XPU_VLEN_BYTES,
    DOUBT_INSTRUCTIONS = 32 /* more than the RTL begins before the oldest of them retires */
};

/* What differs when a vector instruction retires may be the work of younger ones, which the RTL has begun already. Then
 * each byte is what one of them gives, when they retire. Bytes for which that is not so are a difference. */
typedef struct {
    unsigned core, left; /* instructions of this core that may still retire */
    int in_memory;
    uint32_t at, bytes;       /* memory: as engines address it; else where in the vector registers */
    uint8_t rtl[DOUBT_BYTES]; /* when the instruction retired */
    uint8_t open[DOUBT_BYTES];
    uint32_t layer;
    char text[480];
} doubt;

struct xpu_lockstep {
    xpurt_device *device; /* of the functional chip's driver */
    xpu_func *func;
    xpu_lockstep_rtl rtl;
    xpu_retired now;
    struct {
        uint32_t address, bytes;
    } stores[MAX_STORES]; /* to memory, by the vector instruction that is executed */
    unsigned store_count;
    xpu_func_box *boxes; /* that the descriptor writes */
    size_t box_count, box_capacity;
    int no_memory;
    uint32_t layer;
    doubt doubts[MAX_DOUBTS]; /* the oldest first */
    unsigned doubt_count;
    struct {
        uint32_t address, value;
        int store;
    } last_register; /* of this instruction; address 0: none */
    char text[480];
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
    if (core == 0 && offset == XPU_REG_TICKET_LAYER && lockstep->now.trap) {
        *value = XPU_FAULT_TICKETS; /* the harness keeps them */
        return XPU_BUS_FAULT;
    }
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

/* ---- what the functional chip writes ---- */

static int is_vector_store(uint32_t insn) {
    uint32_t width = insn >> 12 & 7;
    return (insn & 0x7f) == 0x27 && (width == 0 || width >= 5);
}

static void observe(void *port, uint32_t address, uint32_t bytes, int is_store) {
    unsigned core;
    xpu_lockstep *lockstep = of_port(port, &core);
    if (!is_store || !is_vector_store(lockstep->now.insn) || lockstep->store_count == MAX_STORES) return;
    lockstep->stores[lockstep->store_count].address = address;
    lockstep->stores[lockstep->store_count++].bytes = bytes;
}

static void on_box(void *context, const xpu_func_box *box) {
    xpu_lockstep *lockstep = context;
    if (lockstep->box_count == lockstep->box_capacity) {
        size_t capacity = lockstep->box_capacity ? 2 * lockstep->box_capacity : 64;
        xpu_func_box *grown = realloc(lockstep->boxes, capacity * sizeof *grown);
        if (!grown) {
            lockstep->no_memory = 1;
            return;
        }
        lockstep->boxes = grown;
        lockstep->box_capacity = capacity;
    }
    lockstep->boxes[lockstep->box_count++] = *box;
}

/* ---- making it ---- */

xpu_lockstep *xpu_lockstep_new(const xpu_chip *chip, const xpu_lockstep_rtl *rtl) {
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
    if (rtl) lockstep->rtl = *rtl;
    lockstep->func = xpu_func_of(lockstep->device);
    lockstep->func->events.put_context = lockstep->func->writes_context = lockstep;
    lockstep->func->writes = on_box;
    for (unsigned core = 0; core < chip->cores; core++)
        lockstep->func->buses[core] = (xpu_core_bus){
            .context = &lockstep->func->ports[core], .load = load, .store = store, .cycle = cycle, .observe = observe};
    return lockstep;
}

void xpu_lockstep_free(xpu_lockstep *lockstep) {
    if (!lockstep) return;
    xpu_func_driver.destroy(lockstep->device);
    free(lockstep->boxes);
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
    lockstep->doubt_count = 0;
    if (xpu_func_driver.start(lockstep->device, entry)) return -1;
    lockstep->func->seed = seed;
    for (unsigned core = 0; core < lockstep->func->chip.cores; core++)
        xpu_hart_observe(&lockstep->func->harts[core], 1);
    return 0;
}

const char *xpu_lockstep_text(const xpu_lockstep *lockstep) {
    return lockstep->text;
}

uint32_t xpu_lockstep_layer(const xpu_lockstep *lockstep) {
    return lockstep->layer;
}

/* ---- instructions ---- */

/* Notes a difference; returns whether there is one. */
static int differs(xpu_lockstep *lockstep, const char *what, uint32_t rtl, uint32_t func) {
    const xpu_retired *now = &lockstep->now;
    char text[80];
    if (rtl == func) return 0;
    if (lockstep->rtl.layer) lockstep->layer = lockstep->rtl.layer(lockstep->rtl.context, now->core);
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

/* Where engines see what is at an address of a core. */
static uint32_t engine_address(uint32_t address, unsigned core) {
    if (address - XPU_LM_BASE >= XPU_LM_ALIAS_STRIDE) return address;
    return address + XPU_LM_ALL_BASE - XPU_LM_BASE + core * XPU_LM_ALIAS_STRIDE;
}

static int store_differs(xpu_lockstep *lockstep, const xpu_hart *hart) {
    const xpu_retired *now = &lockstep->now;
    uint32_t bytes = now->write_mask == 15 ? 4 : now->write_mask == 3 ? 2 : now->write_mask, func = 0;
    uint32_t rtl = bytes == 4 ? now->write_data : now->write_data & ((1u << 8 * bytes) - 1), address = now->address;
    if (bytes == 0) return differs(lockstep, "the stored register", 0, lockstep->last_register.address);
    if (lockstep->last_register.address)
        return differs(lockstep, "the address", address, lockstep->last_register.address) ||
               differs(lockstep, "the stored value", rtl, lockstep->last_register.value);
    const uint8_t *memory = xpu_func_engine_memory(lockstep->func, engine_address(address, hart->id), bytes);
    if (!memory) return differs(lockstep, "the address", now->address, 0);
    memcpy(&func, memory, bytes);
    return differs(lockstep, "the stored value", rtl, func);
}

static const uint8_t *rtl_memory(const xpu_lockstep *lockstep, uint64_t address, uint64_t length) {
    return lockstep->rtl.memory ? lockstep->rtl.memory(lockstep->rtl.context, address, length) : NULL;
}

/* The first word that differs. */
static void words_at(const uint8_t *rtl, const uint8_t *func, size_t length, size_t *at, uint32_t *a, uint32_t *b) {
    for (*at = 0; *at < length && rtl[*at] == func[*at]; ++*at) {
    }
    *at &= ~(size_t)3;
    size_t bytes = length - *at < sizeof *a ? length - *at : sizeof *a;
    *a = *b = 0;
    memcpy(a, rtl + *at, bytes);
    memcpy(b, func + *at, bytes);
}

static const uint8_t *func_bytes(const xpu_lockstep *lockstep, const doubt *d) {
    return d->in_memory ? xpu_func_engine_memory(lockstep->func, d->at, d->bytes)
                        : lockstep->func->harts[d->core].v + d->at;
}

static const uint8_t *rtl_bytes(const xpu_lockstep *lockstep, const doubt *d) {
    if (d->in_memory) return rtl_memory(lockstep, d->at, d->bytes);
    const uint8_t *v = lockstep->rtl.vectors ? lockstep->rtl.vectors(lockstep->rtl.context, d->core) : NULL;
    return v ? v + d->at : NULL;
}

/* Closes the bytes that are what func has now; returns whether some are open. */
static int is_open(const xpu_lockstep *lockstep, doubt *d) {
    const uint8_t *func = func_bytes(lockstep, d);
    int open = 0;
    for (uint32_t i = 0; i < d->bytes; i++) open |= d->open[i] &= d->rtl[i] != func[i];
    return open;
}

static void take_doubt(xpu_lockstep *lockstep, const doubt *d) {
    memcpy(lockstep->text, d->text, sizeof lockstep->text);
    lockstep->layer = d->layer;
}

/* Notes what differs now. Returns whether there is no room for it: then it counts. */
static int doubts(xpu_lockstep *lockstep, int in_memory, uint32_t at, uint32_t bytes) {
    doubt *d = &lockstep->doubts[lockstep->doubt_count];
    size_t offset;
    uint32_t a, b;
    char name[48];
    d->core = lockstep->now.core;
    d->left = DOUBT_INSTRUCTIONS;
    d->in_memory = in_memory;
    d->at = at;
    d->bytes = bytes < DOUBT_BYTES ? bytes : DOUBT_BYTES;
    const uint8_t *rtl = rtl_bytes(lockstep, d), *func = func_bytes(lockstep, d);
    if (!rtl || !func || memcmp(rtl, func, d->bytes) == 0) return 0;
    words_at(rtl, func, d->bytes, &offset, &a, &b);
    if (in_memory)
        snprintf(name, sizeof name, "memory at 0x%08" PRIx32, at + (uint32_t)offset);
    else
        snprintf(name, sizeof name, "v%u from byte %zu on", at / XPU_VLEN_BYTES, offset);
    differs(lockstep, name, a, b);
    if (lockstep->doubt_count + 1 == MAX_DOUBTS) return 1;
    memcpy(d->rtl, rtl, d->bytes);
    memset(d->open, 1, d->bytes);
    memcpy(d->text, lockstep->text, sizeof d->text);
    d->layer = lockstep->layer;
    lockstep->text[0] = 0;
    lockstep->doubt_count++;
    return 0;
}

/* Another instruction of this core has retired. Returns whether a difference has stayed for too long; `end`: it has in
 * any case. */
static int doubts_stay(xpu_lockstep *lockstep, unsigned core, int end) {
    unsigned kept = 0;
    for (unsigned i = 0; i < lockstep->doubt_count; i++) {
        doubt *d = &lockstep->doubts[i];
        if ((d->core == core || end) && !is_open(lockstep, d)) continue;
        if (end || (d->core == core && d->left-- == 0)) {
            take_doubt(lockstep, d);
            return 1;
        }
        if (kept != i) lockstep->doubts[kept] = *d;
        kept++;
    }
    lockstep->doubt_count = kept;
    return 0;
}

/* The registers that the instruction has changed, and the first of its group. */
static int vectors_differ(xpu_lockstep *lockstep, const xpu_hart *hart, const uint8_t *before) {
    unsigned vd = lockstep->now.insn >> 7 & 31;
    for (unsigned v = 0; v < 32; v++) {
        uint32_t at = v * XPU_VLEN_BYTES;
        if (v != vd && memcmp(hart->v + at, before + at, XPU_VLEN_BYTES) == 0) continue;
        if (doubts(lockstep, 0, at, XPU_VLEN_BYTES)) return 1;
    }
    return 0;
}

static int vector_stores_differ(xpu_lockstep *lockstep, const xpu_hart *hart) {
    for (unsigned i = 0; i < lockstep->store_count; i++)
        if (doubts(lockstep, 1, engine_address(lockstep->stores[i].address, hart->id), lockstep->stores[i].bytes))
            return 1;
    return 0;
}

static int is_vector(uint32_t insn) {
    uint32_t opcode = insn & 0x7f, width = insn >> 12 & 7;
    if (opcode == 0x57) return width != 7; /* vsetvl and its like are scalar */
    return (opcode == 0x07 || opcode == 0x27) && (width == 0 || width >= 5);
}

static int results_differ(xpu_lockstep *lockstep, const xpu_hart *hart, const uint8_t *before) {
    const xpu_retired *retired = &lockstep->now;
    char name[16];
    snprintf(name, sizeof name, "x%u", retired->rd);
    if (retired->rd && differs(lockstep, name, retired->rd_value, hart->x[retired->rd])) return 1;
    snprintf(name, sizeof name, "f%u", retired->frd);
    if (retired->writes_f && differs(lockstep, name, retired->frd_value, hart->f[retired->frd])) return 1;
    if (is_vector_store(retired->insn)) return vector_stores_differ(lockstep, hart);
    if (is_vector(retired->insn)) return vectors_differ(lockstep, hart, before);
    return store_differs(lockstep, hart);
}

/* Executes a vector instruction. What it raises is compared, but for a fault: there it has not ended. */
static xpu_hart_reason run_vector(xpu_lockstep *lockstep, xpu_hart *hart) {
    uint8_t fflags = hart->fflags, vxsat = hart->vxsat;
    hart->fflags = hart->vxsat = 0;
    xpu_hart_reason reason = xpu_hart_run(hart, 1);
    if (!lockstep->now.trap && !differs(lockstep, "the raised float flags", lockstep->now.fflags, hart->fflags))
        differs(lockstep, "the raised vxsat", lockstep->now.vxsat, hart->vxsat);
    hart->fflags |= fflags;
    hart->vxsat |= vxsat;
    return reason;
}

/* A difference that follows from an older doubt is not the first one. */
static int first_difference(xpu_lockstep *lockstep) {
    for (unsigned i = 0; i < lockstep->doubt_count; i++) {
        if (!is_open(lockstep, &lockstep->doubts[i])) continue;
        take_doubt(lockstep, &lockstep->doubts[i]);
        break;
    }
    return 0;
}

static int retire(xpu_lockstep *lockstep, xpu_hart *hart) {
    const xpu_retired *retired = &lockstep->now;
    uint8_t before[sizeof hart->v];
    int vector = is_vector(retired->insn);
    if (before_differs(lockstep, hart)) return 0;
    if (vector) memcpy(before, hart->v, sizeof before);
    xpu_hart_reason reason = vector ? run_vector(lockstep, hart) : xpu_hart_run(hart, 1);
    if (lockstep->text[0]) return 0;
    if (differs(lockstep, "the number of faults", (uint32_t)retired->trap, reason == XPU_HART_FAULT)) return 0;
    if (retired->trap) return 1;
    if (differs(lockstep, "the number of stalls", 0, reason == XPU_HART_STALLED)) return 0;
    if (lockstep->doubt_count && doubts_stay(lockstep, retired->core, 0)) return 0;
    if (results_differ(lockstep, hart, before)) return 0;
    return !differs(lockstep, "the next pc", retired->next, hart->pc);
}

int xpu_lockstep_retire(xpu_lockstep *lockstep, const xpu_retired *retired) {
    if (lockstep->text[0]) return 0;
    lockstep->now = *retired;
    lockstep->last_register.address = 0;
    lockstep->store_count = 0;
    return retire(lockstep, &lockstep->func->harts[retired->core]) || first_difference(lockstep);
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
    if (lockstep->text[0] || doubts_stay(lockstep, 0, 1)) return 0;
    lockstep->now = (xpu_retired){.cycle = cycle_now, .order = hart->instret, .pc = hart->pc};
    if (memory) memcpy(&lockstep->now.insn, memory, sizeof lockstep->now.insn);
    lockstep->last_register.address = 0;
    xpu_hart_run(hart, 1);
    return !differs(lockstep, "the stored register", XPU_REGS_BASE + XPU_REG_EXIT, lockstep->last_register.address) &&
           !differs(lockstep, "the status", status, lockstep->last_register.value);
}

/* ---- descriptors ---- */

static void note(xpu_lockstep *lockstep, const xpurt_completion *c, const char *what) {
    const char *kind = xpu_desc_kind_name(c->opcode);
    lockstep->layer = c->layer;
    snprintf(lockstep->text, sizeof lockstep->text,
             "cycle %" PRIu64 ", engine %s, descriptor at 0x%08" PRIx64 " (%s, queue of core %u): %s", c->end,
             xpu_engine_name(c->engine), c->descriptor, kind ? kind : "unknown kind", c->core, what);
}

/* `length` bytes at `offset` of a box. */
static int bytes_differ(xpu_lockstep *lockstep, const xpurt_completion *c, const xpu_func_box *box, int64_t offset,
                        size_t length) {
    uint64_t address = box->address + (uint64_t)offset;
    const uint8_t *func = box->bytes_at + offset, *rtl = rtl_memory(lockstep, address, length);
    size_t at;
    uint32_t a, b;
    char what[120];
    if (!rtl || memcmp(rtl, func, length) == 0) return 0;
    words_at(rtl, func, length, &at, &a, &b);
    snprintf(what, sizeof what, "memory at 0x%08" PRIx64 " is 0x%08" PRIx32 " on rtl, 0x%08" PRIx32 " on func",
             address + at, a, b);
    note(lockstep, c, what);
    return 1;
}

static int box_differs(xpu_lockstep *lockstep, const xpurt_completion *c, const xpu_func_box *box) {
    int dense = box->stride[3] == (int32_t)box->bytes;
    uint32_t pieces = dense ? 1 : box->size[3];
    for (int d = 0; d < 4; d++)
        if (box->size[d] == 0) return 0;
    for (uint32_t i = 0; i < box->size[0]; i++)
        for (uint32_t j = 0; j < box->size[1]; j++)
            for (uint32_t k = 0; k < box->size[2]; k++)
                for (uint32_t l = 0; l < pieces; l++) {
                    int64_t offset = (int64_t)i * box->stride[0] + (int64_t)j * box->stride[1] +
                                     (int64_t)k * box->stride[2] + (int64_t)l * box->stride[3];
                    size_t length = dense ? (size_t)box->size[3] * box->bytes : box->bytes;
                    if (bytes_differ(lockstep, c, box, offset, length)) return 1;
                }
    return 0;
}

int xpu_lockstep_complete(xpu_lockstep *lockstep, const xpurt_completion *completion) {
    if (lockstep->text[0]) return 0;
    lockstep->box_count = 0;
    if (xpu_func_descriptor_run(lockstep->func, completion->engine, completion->descriptor)) {
        char what[300];
        snprintf(what, sizeof what, "func has the fault %s: %s", lockstep->func->fault.cause_text,
                 lockstep->func->fault.reason);
        note(lockstep, completion, what);
        return 0;
    }
    if (lockstep->no_memory) {
        note(lockstep, completion, "the host has no memory to compare what it writes");
        return 0;
    }
    for (size_t i = 0; i < lockstep->box_count; i++)
        if (box_differs(lockstep, completion, &lockstep->boxes[i])) return first_difference(lockstep);
    return 1;
}

int xpu_lockstep_engine_fault(xpu_lockstep *lockstep, const xpurt_fault *rtl, uint64_t cycle_now) {
    const xpurt_fault *func = &lockstep->func->fault;
    const uint8_t *opcode = xpu_func_engine_memory(lockstep->func, rtl->descriptor, 1);
    const xpurt_completion at = {.engine = (unsigned)rtl->engine,
                                 .descriptor = rtl->descriptor,
                                 .layer = rtl->layer,
                                 .opcode = opcode ? *opcode : 0,
                                 .end = cycle_now};
    char what[120] = "";
    if (lockstep->text[0]) return 0;
    xpu_func_descriptor_run(lockstep->func, at.engine, at.descriptor);
    if (func->cause != rtl->cause)
        snprintf(what, sizeof what, "the fault is %s on rtl, %s on func", rtl->cause_text,
                 xpu_fault_text((xpu_fault_cause)func->cause));
    else if (func->address != rtl->address)
        snprintf(what, sizeof what, "the fault's address is 0x%08" PRIx64 " on rtl, 0x%08" PRIx64 " on func",
                 rtl->address, func->address);
    else if (func->layer != rtl->layer)
        snprintf(what, sizeof what, "the fault's layer is %" PRIu32 " on rtl, %" PRIu32 " on func", rtl->layer,
                 func->layer);
    if (what[0]) note(lockstep, &at, what);
    return !what[0];
}
