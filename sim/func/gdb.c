/* Packets to and from gdb, and how the chip runs and stops for it. */
#include "sim/func/gdb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/func/gdb_internal.h"

enum { INTERRUPT = 3, POLL_EVERY = 1024, LOOK = 100 /* milliseconds between two questions whether to stop */ };
/* Signals as gdb numbers them. */
enum {
    SIGNAL_INT = 2,
    SIGNAL_ILL = 4,
    SIGNAL_TRAP = 5,
    SIGNAL_ABRT = 6,
    SIGNAL_BUS = 10,
    SIGNAL_SEGV = 11,
    SIGNAL_ALRM = 14
};

static void on_writes(void *context, const xpu_func_box *box);

/* ---- making ---- */

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
    func->writes_context = gdb;
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

static void hang_up(xpu_gdb *gdb) {
    if (gdb->out >= 0 && gdb->out != gdb->in) close(gdb->out);
    if (gdb->in >= 0) close(gdb->in);
    if (gdb->listening >= 0) close(gdb->listening);
    gdb->in = gdb->out = gdb->listening = -1;
}

void xpu_gdb_free(xpu_gdb *gdb) {
    if (!gdb) return;
    hang_up(gdb);
    free(gdb);
}

static void stop_with(xpu_gdb *gdb, unsigned core, int signal, const char *why) {
    gdb->running = 0;
    gdb->current = core;
    snprintf(gdb->stop, sizeof gdb->stop, "T%02x%sthread:%x;", (unsigned)signal, why, core + 1);
}

void xpu_gdb_start(xpu_gdb *gdb) {
    gdb->break_core = -1;
    stop_with(gdb, 0, SIGNAL_TRAP, "");
}

/* ---- packets ---- */

void xpu_gdb_put(xpu_gdb_reply *reply, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int got = vsnprintf(reply->text + reply->length, sizeof reply->text - reply->length, format, args);
    va_end(args);
    if (got > 0) reply->length += (size_t)got;
    if (reply->length > XPU_GDB_PACKET) reply->length = XPU_GDB_PACKET;
}

void xpu_gdb_put_hex(xpu_gdb_reply *reply, const void *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length && reply->length + 2 <= XPU_GDB_PACKET; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];
        reply->text[reply->length++] = digits[byte >> 4];
        reply->text[reply->length++] = digits[byte & 15];
    }
    reply->text[reply->length] = 0;
}

void xpu_gdb_detach(xpu_gdb *gdb) {
    while (gdb->func->code && gdb->break_count) /* the program goes on without them */
        xpu_code_break(gdb->func->code, gdb->breaks[--gdb->break_count], 0);
    gdb->watch_count = 0;
    for (unsigned i = 0; i < gdb->func->chip.cores; i++)
        xpu_hart_observe(&gdb->func->harts[i], gdb->func->races != NULL);
    gdb->leaving = 1;
}

static void send_bytes(xpu_gdb *gdb, const char *bytes, size_t length) {
    while (length && gdb->out >= 0) {
        ssize_t sent = send(gdb->out, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == ENOTSOCK) sent = write(gdb->out, bytes, length);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) {
            xpu_gdb_detach(gdb);
            return;
        }
        bytes += sent;
        length -= (size_t)sent;
    }
}

static void send_reply(xpu_gdb *gdb, const xpu_gdb_reply *reply) {
    char end[4];
    uint8_t sum = 0;
    for (size_t i = 0; i < reply->length; i++) sum = (uint8_t)(sum + (uint8_t)reply->text[i]);
    snprintf(end, sizeof end, "#%02x", sum);
    send_bytes(gdb, "$", 1);
    send_bytes(gdb, reply->text, reply->length);
    send_bytes(gdb, end, 3);
}

/* Waits until there is something to read or accept; 0: the run shall end before. */
static int await(const xpu_gdb *gdb, int file) {
    struct pollfd waiting = {file, POLLIN, 0};
    while (!xpu_func_stopped(gdb->func)) {
        int ready = poll(&waiting, 1, LOOK);
        if (ready > 0 || (ready < 0 && errno != EINTR)) return 1;
    }
    return 0;
}

/* The next byte; -1: the client is gone. */
static int next_byte(xpu_gdb *gdb) {
    if (gdb->input_at == gdb->input_count) {
        ssize_t got;
        if (!await(gdb, gdb->in)) return -1;
        do got = read(gdb->in, gdb->input, sizeof gdb->input);
        while (got < 0 && errno == EINTR);
        if (got <= 0) return -1;
        gdb->input_at = 0;
        gdb->input_count = (size_t)got;
    }
    return gdb->input[gdb->input_at++];
}

/* Reads a packet of at most XPU_GDB_PACKET bytes and a 0 behind it; -1: the client is gone. */
static int next_packet(xpu_gdb *gdb, char *packet, size_t *length) {
    for (;;) {
        char sent[3] = "";
        uint8_t sum = 0, wanted;
        int c;
        size_t count = 0;
        while ((c = next_byte(gdb)) >= 0 && c != '$')
            if (c == '-' && !gdb->no_ack) send_reply(gdb, &gdb->last);
        while (c >= 0 && (c = next_byte(gdb)) >= 0 && c != '#') {
            sum = (uint8_t)(sum + c);
            if (count <= XPU_GDB_PACKET) packet[count++] = (char)c;
        }
        for (int i = 0; i < 2 && c >= 0; i++) sent[i] = (char)(c = next_byte(gdb));
        if (c < 0) return -1;
        int good = count <= XPU_GDB_PACKET && xpu_gdb_bytes(sent, &wanted, 1) == 1 && wanted == sum;
        if (!gdb->no_ack) send_bytes(gdb, good ? "+" : "-", 1);
        if (!good) continue;
        packet[count] = 0;
        *length = count;
        return 0;
    }
}

/* ---- running and stopping ---- */

void xpu_gdb_kill(xpu_gdb *gdb) {
    xpurt_fault *fault = &gdb->func->fault;
    if (fault->cause == XPU_FAULT_NONE) {
        *fault = (xpurt_fault){.cause = XPU_FAULT_ABORT,
                               .cause_text = xpu_fault_text(XPU_FAULT_ABORT),
                               .core = (int)gdb->current,
                               .engine = -1,
                               .pc = gdb->func->harts[gdb->current].pc,
                               .reason = "the debugger has ended the run"};
    }
    gdb->leaving = 1;
}

int xpu_gdb_runs_all(const xpu_gdb *gdb) {
    for (unsigned i = 0; i < gdb->func->chip.cores; i++)
        if (gdb->in >= 0 && gdb->action[i] != XPU_GDB_GO) return 0;
    return 1;
}

void xpu_gdb_resume(xpu_gdb *gdb) {
    unsigned moving = 0;
    gdb->running = 1;
    gdb->still = 0;
    gdb->stalled = 0;
    gdb->watch_hit = -1;
    for (unsigned i = 0; i < gdb->func->chip.cores; i++) {
        gdb->retired[i] = gdb->func->harts[i].instret;
        moving += gdb->action[i] != XPU_GDB_STAY;
    }
    if (gdb->break_core >= 0) gdb->func->harts[gdb->break_core].pass = gdb->func->harts[gdb->break_core].pc;
    gdb->break_core = -1;
    if (!moving) stop_with(gdb, gdb->current, SIGNAL_TRAP, "");
}

static void tell_stop(xpu_gdb *gdb) {
    gdb->last.length = 0;
    xpu_gdb_put(&gdb->last, "%s", gdb->stop);
    send_reply(gdb, &gdb->last);
}

/* Waits for a client if there has been none. */
static void answer_call(xpu_gdb *gdb) {
    int yes = 1;
    if (gdb->listening < 0) return;
    while (await(gdb, gdb->listening)) {
        gdb->in = accept(gdb->listening, NULL, NULL);
        if (gdb->in >= 0 || errno != EINTR) break;
    }
    close(gdb->listening);
    gdb->listening = -1;
    gdb->out = gdb->in;
    if (gdb->in >= 0) setsockopt(gdb->in, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* Does what the client asks for until it lets the chip run, or leaves. */
static void serve(xpu_gdb *gdb) {
    static _Thread_local char packet[XPU_GDB_PACKET + 2];
    size_t length;
    answer_call(gdb);
    while (gdb->in >= 0 && !gdb->running) {
        if (next_packet(gdb, packet, &length)) {
            xpu_gdb_detach(gdb);
        } else {
            gdb->last.length = 0;
            gdb->last.text[0] = 0;
            int answers = xpu_gdb_command(gdb, packet, length, &gdb->last);
            if (answers)
                send_reply(gdb, &gdb->last);
            else if (!gdb->running && !gdb->leaving)
                tell_stop(gdb);
        }
        if (gdb->leaving) hang_up(gdb);
    }
}

/* Ctrl-C: a byte between packets. */
static int is_interrupted(xpu_gdb *gdb) {
    struct pollfd poll_in = {gdb->in, POLLIN, 0};
    if (gdb->input_at < gdb->input_count) return gdb->input[gdb->input_at] == INTERRUPT && next_byte(gdb) >= 0;
    if (poll(&poll_in, 1, 0) <= 0) return 0;
    int c = next_byte(gdb);
    if (c < 0) {
        xpu_gdb_detach(gdb);
        hang_up(gdb);
    } else if (c != INTERRUPT) {
        gdb->input_at--;
    }
    return c == INTERRUPT;
}

/* The core whose turn it is: one that steps, every second time while it stalls; else the next that goes. */
static unsigned choose(xpu_gdb *gdb, unsigned core, uint64_t *budget) {
    unsigned cores = gdb->func->chip.cores;
    gdb->stalled ^= 1;
    for (unsigned i = 0; i < 2 * cores; i++) {
        unsigned at = (core + i) % cores;
        xpu_gdb_action wanted = (i < cores) == (gdb->stalled != 0) ? XPU_GDB_STEP : XPU_GDB_GO;
        if (gdb->action[at] != wanted) continue;
        if (wanted == XPU_GDB_STEP) *budget = 1;
        return at;
    }
    return core;
}

void xpu_gdb_before(xpu_gdb *gdb, unsigned *core, uint64_t *budget) {
    serve(gdb);
    if (gdb->in < 0) return;
    if ((*budget > 1 && !gdb->watch_count) || gdb->polls++ % POLL_EVERY == 0) {
        if (is_interrupted(gdb)) {
            stop_with(gdb, *core, SIGNAL_INT, "");
            tell_stop(gdb);
            serve(gdb);
        }
        if (gdb->in < 0) return;
    }
    *core = choose(gdb, *core, budget);
    if (gdb->watch_count) *budget = 1;
}

void xpu_gdb_after(xpu_gdb *gdb, unsigned core, xpu_hart_reason reason, int moved) {
    xpu_hart *hart = &gdb->func->harts[core];
    char why[32] = "";
    if (reason != XPU_HART_STALLED) hart->pass = 1;
    if (gdb->in < 0 || !gdb->running || gdb->func->fault.cause != XPU_FAULT_NONE) return;
    gdb->still = moved ? 0 : gdb->still + 1;
    int stepped = gdb->action[core] == XPU_GDB_STEP && (hart->instret != gdb->retired[core] || reason == XPU_HART_IDLE);
    if (reason == XPU_HART_BREAK) {
        gdb->break_core = (int)core;
        stop_with(gdb, core, SIGNAL_TRAP, gdb->has_swbreak ? "swbreak:;" : "");
    } else if (gdb->watch_hit >= 0) {
        static const char *const kinds[] = {"watch", "rwatch", "awatch"};
        snprintf(why, sizeof why, "%s:%x;", kinds[gdb->watches[gdb->watch_hit].kind - 2], gdb->watch_address);
        stop_with(gdb, core, SIGNAL_TRAP, why);
    } else if (stepped || (gdb->still > 2 * gdb->func->chip.cores + 2 && !xpu_gdb_runs_all(gdb))) {
        stop_with(gdb, core, SIGNAL_TRAP, "");
    } else {
        return;
    }
    tell_stop(gdb);
}

static int signal_of(int cause) {
    switch (cause) {
    case XPU_FAULT_ILLEGAL: return SIGNAL_ILL;
    case XPU_FAULT_ABORT: return SIGNAL_ABRT;
    case XPU_FAULT_MISALIGNED: return SIGNAL_BUS;
    case XPU_FAULT_TIMEOUT:
    case XPU_FAULT_DEADLOCK: return SIGNAL_ALRM;
    default: return SIGNAL_SEGV;
    }
}

void xpu_gdb_end(xpu_gdb *gdb) {
    const xpurt_fault *fault = &gdb->func->fault;
    if (gdb->in < 0) return;
    if (fault->cause != XPU_FAULT_NONE) {
        stop_with(gdb, fault->core >= 0 ? (unsigned)fault->core : gdb->current, signal_of(fault->cause), "");
        tell_stop(gdb);
    }
    serve(gdb);
    if (gdb->in < 0) return;
    gdb->last.length = 0;
    if (fault->cause != XPU_FAULT_NONE)
        xpu_gdb_put(&gdb->last, "X%02x", (unsigned)signal_of(fault->cause));
    else
        xpu_gdb_put(&gdb->last, "W%02x", (unsigned)(gdb->func->events.exit_status & 255));
    send_reply(gdb, &gdb->last);
    xpu_gdb_detach(gdb);
    hang_up(gdb);
}

/* ---- watchpoints ---- */

void xpu_gdb_access(xpu_gdb *gdb, uint32_t address, uint32_t bytes, int write) {
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
                    xpu_gdb_access(gdb, (uint32_t)((int64_t)box->address + at), box->bytes, 1);
                }
}
