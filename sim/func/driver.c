/* The functional chip as a device of the runtime, with the guests that were asked for. */
#include "sim/func/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "sim/func/core.h"
#include "sim/func/gdb/gdb.h"
#include "sim/func/memory.h"
#include "sim/func/races.h"
#include "sim/func/report/chip.h"
#include "sim/func/schedule.h"
#include "sim/func/setup.h"

/* The public device is the chip itself. */
struct xpurt_device {
    xpu_func func;
};

static xpu_func_options configured;

void xpu_func_configure(const xpu_func_options *options) {
    configured = *options;
}

xpu_func *xpu_func_of(xpurt_device *device) {
    return &device->func;
}

static void destroy(xpurt_device *device) {
    if (!device) return;
    xpu_func_close(&device->func);
    free(device);
}

static int listen_for_gdb(xpu_func *func, xpu_diags *diags) {
    char why[80];
    if (xpu_gdb_listen(func, configured.gdb_port)) return 1;
    snprintf(why, sizeof why, "port %u of 127.0.0.1: %s", configured.gdb_port, strerror(errno));
    xpu_error(diags, XPU_EIO, NULL, "device-gdb", NULL, "gdb cannot be waited for", why, "choose another port");
    return 0;
}

static xpurt_device *create(const xpu_chip *chip, xpu_diags *diags) {
    xpurt_device *device = calloc(1, sizeof *device);
    if (!device) {
        xpu_error_oom(diags);
        return NULL;
    }
    device->func.chip = *chip;
    device->func.describe = xpu_func_describe;
    if (xpu_func_open(&device->func, configured.check_races) == 0) {
        if (!configured.gdb_port || listen_for_gdb(&device->func, diags)) return device;
        destroy(device);
        return NULL;
    }
    destroy(device);
    xpu_error(diags, XPU_EIO, NULL, "device-memory", NULL, "the functional chip cannot be set up",
              "the host has no room for 4 GiB of address space and the chip's buffers",
              "free memory or raise the limit of the address space (ulimit -v)");
    return NULL;
}

/* The host's accesses between start and end of a program. */
static void observe_host(xpu_func *func, uint64_t address, size_t length, int write) {
    if (func->races && func->started) xpu_races_host(func->races, func->events.host_call, address, length, write);
}

static int write_memory(xpurt_device *device, uint64_t address, const void *bytes, size_t length) {
    if (length == 0) return 0;
    uint8_t *to = xpu_func_engine_memory(&device->func, address, length);
    if (!to) return -1;
    observe_host(&device->func, address, length, 1);
    memcpy(to, bytes, length);
    if (address >= XPU_GM_BASE) xpu_code_invalidate(device->func.code, (uint32_t)address, (uint32_t)length);
    return 0;
}

static int read_memory(xpurt_device *device, uint64_t address, void *bytes, size_t length) {
    if (length == 0) return 0;
    const uint8_t *from = xpu_func_engine_memory(&device->func, address, length);
    if (!from) return -1;
    observe_host(&device->func, address, length, 0);
    memcpy(bytes, from, length);
    return 0;
}

static int map_memory(xpurt_device *device, uint64_t address, int file, uint64_t offset, size_t length) {
    if (xpu_func_memory_map(&device->func, address, file, offset, length)) return -1;
    xpu_code_invalidate(device->func.code, (uint32_t)address, (uint32_t)length);
    return 0;
}

static void set_output(xpurt_device *device, void (*put)(void *context, char byte), void *context) {
    device->func.events.put = put;
    device->func.events.put_context = context;
}

static void counters(const xpurt_device *device, xpurt_counters *totals) {
    xpu_func_counters(&device->func, totals);
}

static int start(xpurt_device *device, uint32_t entry) {
    return xpu_func_start(&device->func, entry);
}

static int run(xpurt_device *device, uint64_t budget, xpurt_event *event) {
    return xpu_func_run(&device->func, budget, event);
}

static void set_seed(xpurt_device *device, uint32_t seed) {
    device->func.start_seed = seed;
}

static void set_stop(xpurt_device *device, int (*stop)(void *context), void *context) {
    device->func.stop = stop;
    device->func.stop_context = context;
}

static void position(const xpurt_device *device, xpurt_position *position) {
    const xpu_func *func = &device->func;
    *position = (xpurt_position){.cores = func->chip.cores};
    for (unsigned core = 0; core < func->chip.cores; core++) {
        position->core[core].pc = func->harts[core].pc;
        position->core[core].layer = func->core_state[core].layer >> 16;
    }
}

static int answer(xpurt_device *device) {
    if (!device->func.events.host_call) return -1;
    device->func.events.host_call = 0;
    device->func.progress = 1;
    return 0;
}

static int get_race(const xpurt_device *device, size_t index, xpurt_race *race) {
    return device->func.races && xpu_races_get(device->func.races, index, race);
}

const xpurt_device_driver xpu_func_driver = {
    .version = XPURT_DEVICE_VERSION,
    .name = "func",
    .about = "the functional chip: exact results, no timing",
    .create = create,
    .destroy = destroy,
    .write = write_memory,
    .read = read_memory,
    .map = map_memory,
    .output = set_output,
    .start = start,
    .seed = set_seed,
    .run = run,
    .stop = set_stop,
    .position = position,
    .answer = answer,
    .counters = counters,
    .race = get_race,
};
