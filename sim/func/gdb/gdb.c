/* How the chip runs and stops for gdb. */
#include "sim/func/gdb/gdb.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/func/gdb/breaks.h"
#include "sim/func/gdb/commands.h"
#include "sim/func/gdb/packets.h"
#include "sim/func/gdb/run.h"
#include "sim/func/gdb/state.h"

enum { POLL_EVERY = 1024 };

/* ---- What the chip calls ---- */

static void start(void *context) {
    xpu_gdb *gdb = context;
    gdb->break_core = -1;
    xpu_gdb_stop(gdb, 0, XPU_GDB_TRAP, "");
}

static void tell_stop(xpu_gdb *gdb) {
    gdb->last.length = 0;
    xpu_gdb_put(&gdb->last, "%s", gdb->stop);
    xpu_gdb_send(gdb, &gdb->last);
}

/* Does what the client asks for until it lets the chip run, or leaves. */
static void serve(xpu_gdb *gdb) {
    static _Thread_local char packet[XPU_GDB_PACKET + 2];
    size_t length;
    xpu_gdb_answer_call(gdb);
    while (gdb->in >= 0 && !gdb->running) {
        if (xpu_gdb_next_packet(gdb, packet, &length)) {
            xpu_gdb_detach(gdb);
        } else {
            gdb->last.length = 0;
            gdb->last.text[0] = 0;
            int answers = xpu_gdb_command(gdb, packet, length, &gdb->last);
            if (answers)
                xpu_gdb_send(gdb, &gdb->last);
            else if (!gdb->running && !gdb->leaving)
                tell_stop(gdb);
        }
        if (gdb->leaving) xpu_gdb_hang_up(gdb);
    }
}

static void before(void *context, unsigned *core, uint64_t *budget) {
    xpu_gdb *gdb = context;
    serve(gdb);
    if (gdb->in < 0) return;
    if ((*budget > 1 && !gdb->watch_count) || gdb->polls++ % POLL_EVERY == 0) {
        if (xpu_gdb_is_interrupted(gdb)) {
            xpu_gdb_stop(gdb, *core, XPU_GDB_INT, "");
            tell_stop(gdb);
            serve(gdb);
        }
        if (gdb->in < 0) return;
    }
    *core = xpu_gdb_choose(gdb, *core, budget);
    if (gdb->watch_count) *budget = 1;
}

static void after(void *context, unsigned core, xpu_hart_reason reason, int moved) {
    xpu_gdb *gdb = context;
    xpu_hart *hart = &gdb->func->harts[core];
    char why[32] = "";
    if (reason != XPU_HART_STALLED) hart->pass = 1;
    if (gdb->in < 0 || !gdb->running || gdb->func->fault.cause != XPU_FAULT_NONE) return;
    gdb->still = moved ? 0 : gdb->still + 1;
    int stepped = gdb->action[core] == XPU_GDB_STEP && (hart->instret != gdb->retired[core] || reason == XPU_HART_IDLE);
    if (reason == XPU_HART_BREAK) {
        gdb->break_core = (int)core;
        xpu_gdb_stop(gdb, core, XPU_GDB_TRAP, gdb->has_swbreak ? "swbreak:;" : "");
    } else if (gdb->watch_hit >= 0) {
        static const char *const kinds[] = {"watch", "rwatch", "awatch"};
        snprintf(why, sizeof why, "%s:%x;", kinds[gdb->watches[gdb->watch_hit].kind - 2], gdb->watch_address);
        xpu_gdb_stop(gdb, core, XPU_GDB_TRAP, why);
    } else if (stepped || (gdb->still > 2 * gdb->func->chip.cores + 2 && !xpu_gdb_runs_all(gdb))) {
        xpu_gdb_stop(gdb, core, XPU_GDB_TRAP, "");
    } else {
        return;
    }
    tell_stop(gdb);
}

static int signal_of(int cause) {
    switch (cause) {
    case XPU_FAULT_ILLEGAL: return XPU_GDB_ILL;
    case XPU_FAULT_ABORT: return XPU_GDB_ABRT;
    case XPU_FAULT_MISALIGNED: return XPU_GDB_BUS;
    case XPU_FAULT_TIMEOUT:
    case XPU_FAULT_DEADLOCK: return XPU_GDB_ALRM;
    default: return XPU_GDB_SEGV;
    }
}

static void end(void *context) {
    xpu_gdb *gdb = context;
    const xpurt_fault *fault = &gdb->func->fault;
    if (gdb->in < 0) return;
    if (fault->cause != XPU_FAULT_NONE) {
        xpu_gdb_stop(gdb, fault->core >= 0 ? (unsigned)fault->core : gdb->current, signal_of(fault->cause), "");
        tell_stop(gdb);
    }
    serve(gdb);
    if (gdb->in < 0) return;
    gdb->last.length = 0;
    if (fault->cause != XPU_FAULT_NONE)
        xpu_gdb_put(&gdb->last, "X%02x", (unsigned)signal_of(fault->cause));
    else
        xpu_gdb_put(&gdb->last, "W%02x", (unsigned)(gdb->func->events.exit_status & 255));
    xpu_gdb_send(gdb, &gdb->last);
    xpu_gdb_detach(gdb);
    xpu_gdb_hang_up(gdb);
}

static void on_access(void *context, uint32_t address, uint32_t bytes, int write) {
    xpu_gdb *gdb = context;
    for (unsigned i = 0; i < gdb->watch_count && gdb->watch_hit < 0; i++) {
        const xpu_gdb_watch *w = &gdb->watches[i];
        if (w->kind == (write ? 3 : 2) || address - w->address >= w->bytes) {
            if (w->kind == (write ? 3 : 2) || w->address - address >= bytes) continue;
        }
        gdb->watch_hit = (int)i;
        gdb->watch_address = address - w->address < w->bytes ? address : w->address;
    }
}

/* What an engine writes. */
static void on_writes(void *context, const xpu_func_box *box) {
    xpu_gdb *gdb = context;
    if (!gdb->watch_count || gdb->in < 0) return;
    for (uint32_t i = 0; i < box->size[0]; i++)
        for (uint32_t j = 0; j < box->size[1]; j++)
            for (uint32_t k = 0; k < box->size[2]; k++)
                for (uint32_t l = 0; l < box->size[3]; l++) {
                    int64_t at = (int64_t)i * box->stride[0] + (int64_t)j * box->stride[1] +
                                 (int64_t)k * box->stride[2] + (int64_t)l * box->stride[3];
                    on_access(gdb, (uint32_t)((int64_t)box->address + at), box->bytes, 1);
                }
}

static int runs_all(const void *context) {
    return xpu_gdb_runs_all(context);
}

static void release(void *context) {
    xpu_gdb_free(context);
}

static const xpu_func_debugger debugger = {.start = start,
                                           .before = before,
                                           .after = after,
                                           .end = end,
                                           .runs_all = runs_all,
                                           .access = on_access,
                                           .release = release};

/* ---- Making ---- */

xpu_gdb *xpu_gdb_attach(xpu_func *func, int in, int out) {
    xpu_gdb *gdb = calloc(1, sizeof *gdb);
    if (!gdb) return NULL;
    gdb->func = func;
    gdb->listening = -1;
    gdb->in = in;
    gdb->out = out;
    gdb->watch_hit = -1;
    gdb->resumed = gdb->break_core = -1;
    func->writes = on_writes;
    func->debugger = &debugger;
    func->writes_context = func->debugger_context = gdb;
    return gdb;
}

xpu_gdb *xpu_gdb_listen(xpu_func *func, unsigned port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t length = sizeof address;
    int yes = 1, listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listening < 0) return NULL;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    xpu_gdb *gdb = NULL;
    if (bind(listening, (struct sockaddr *)&address, sizeof address) == 0 && listen(listening, 1) == 0 &&
        getsockname(listening, (struct sockaddr *)&address, &length) == 0)
        gdb = xpu_gdb_attach(func, -1, -1);
    if (!gdb) {
        int why = errno;
        close(listening);
        errno = why;
        return NULL;
    }
    gdb->listening = listening;
    gdb->port = ntohs(address.sin_port);
    return gdb;
}

unsigned xpu_gdb_port(const xpu_gdb *gdb) {
    return gdb->port;
}

void xpu_gdb_free(xpu_gdb *gdb) {
    if (!gdb) return;
    xpu_gdb_hang_up(gdb);
    gdb->func->writes = NULL;
    gdb->func->debugger = NULL;
    free(gdb);
}
