/* What the packets of gdb ask for. */
#include "sim/func/gdb/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/func/core.h"
#include "sim/func/gdb/breaks.h"
#include "sim/func/gdb/packets.h"
#include "sim/func/gdb/registers.h"
#include "sim/func/gdb/run.h"
#include "sim/func/memory.h"

/* A hexadecimal number; 0: there is none. *text moves behind it. */
static int number(const char **text, uint64_t *value) {
    const char *begin = *text;
    *value = 0;
    for (; xpu_gdb_digit(**text) >= 0 && *text - begin < 16; (*text)++)
        *value = *value << 4 | (unsigned)xpu_gdb_digit(**text);
    return *text > begin;
}

/* A number and the character behind it. */
static int number_then(const char **text, uint64_t *value, char end) {
    return number(text, value) && *(*text)++ == end;
}

/* A thread: its core, -1 for all; any is `any`. 0: no such thread. */
static int thread(const xpu_gdb *gdb, const char **text, int any, int *core) {
    uint64_t id;
    if (strncmp(*text, "-1", 2) == 0) {
        *text += 2;
        *core = -1;
        return 1;
    }
    if (!number(text, &id) || id > gdb->func->chip.cores) return 0;
    *core = id ? (int)id - 1 : any;
    return 1;
}

static int starts(const char *packet, const char *with) {
    return strncmp(packet, with, strlen(with)) == 0;
}

static int error(xpu_gdb_reply *reply, int code) {
    xpu_gdb_put(reply, "E%02x", code);
    return 1;
}

static int ok(xpu_gdb_reply *reply, int good) {
    if (!good) return error(reply, 1);
    xpu_gdb_put(reply, "OK");
    return 1;
}

static xpu_hart *hart_of(const xpu_gdb *gdb) {
    return &gdb->func->harts[gdb->current];
}

/* ---- registers and memory ---- */

static int read_registers(const xpu_gdb *gdb, xpu_gdb_reply *reply) {
    uint8_t bytes[XPU_VLEN_BYTES];
    for (unsigned i = 0; i < XPU_GDB_REGISTERS; i++) {
        xpu_gdb_read_register(hart_of(gdb), i, bytes);
        xpu_gdb_put_hex(reply, bytes, xpu_gdb_register_bytes(i));
    }
    return 1;
}

static int write_registers(const xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    uint8_t bytes[XPU_VLEN_BYTES];
    for (unsigned i = 0; i < XPU_GDB_REGISTERS; i++) {
        unsigned length = xpu_gdb_register_bytes(i);
        if (xpu_gdb_bytes(text, bytes, length) != length) return ok(reply, i > 0);
        xpu_gdb_write_register(hart_of(gdb), i, bytes);
        text += (size_t)2 * length;
    }
    return ok(reply, 1);
}

static int one_register(const xpu_gdb *gdb, const char *text, int write, xpu_gdb_reply *reply) {
    uint8_t bytes[XPU_VLEN_BYTES];
    uint64_t i;
    if (write ? !number_then(&text, &i, '=') : !number(&text, &i)) return error(reply, 1);
    unsigned length = i < XPU_GDB_REGISTERS ? xpu_gdb_register_bytes((unsigned)i) : 0;
    if (!length) return error(reply, 1);
    if (!write) {
        xpu_gdb_read_register(hart_of(gdb), (unsigned)i, bytes);
        xpu_gdb_put_hex(reply, bytes, length);
        return 1;
    }
    if (xpu_gdb_bytes(text, bytes, length) != length) return error(reply, 1);
    xpu_gdb_write_register(hart_of(gdb), (unsigned)i, bytes);
    return ok(reply, 1);
}

/* Memory as the current core addresses it; counters can be read as registers. NULL: there is none. */
static uint8_t *memory(const xpu_gdb *gdb, uint64_t address, uint64_t length, int write) {
    const xpu_func *func = gdb->func;
    if (address >= XPU_LM_BASE && address - XPU_LM_BASE < XPU_LM_ALIAS_STRIDE)
        address += XPU_LM_ALL_BASE - XPU_LM_BASE + gdb->current * XPU_LM_ALIAS_STRIDE;
    if (!write && address >= XPU_REGS_BASE && address - XPU_REGS_BASE + length <= sizeof func->events.counters &&
        length <= sizeof func->events.counters)
        return (uint8_t *)gdb->func->events.counters + (address - XPU_REGS_BASE);
    return xpu_func_engine_memory(func, address, length);
}

static int read_memory(const xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    uint64_t address, length;
    if (!number_then(&text, &address, ',') || !number(&text, &length)) return error(reply, 1);
    if (length > XPU_GDB_PACKET / 2) length = XPU_GDB_PACKET / 2;
    while (length && !memory(gdb, address, length, 0)) length /= 2; /* what there is of it */
    if (!length) return error(reply, 14);
    xpu_gdb_put_hex(reply, memory(gdb, address, length, 0), length);
    return 1;
}

static int write_memory(xpu_gdb *gdb, const char *text, const char *end, int binary, xpu_gdb_reply *reply) {
    static _Thread_local uint8_t bytes[XPU_GDB_PACKET];
    uint64_t address, length;
    size_t count = 0;
    if (!number_then(&text, &address, ',') || !number_then(&text, &length, ':')) return error(reply, 1);
    if (binary) {
        for (; text < end; text++) {
            if (*text == '}' && ++text == end) break;
            bytes[count++] = (uint8_t)(text[-1] == '}' ? *text ^ 0x20 : *text);
        }
    } else {
        count = xpu_gdb_bytes(text, bytes, sizeof bytes);
    }
    if (count != length) return error(reply, 1);
    if (!length) return ok(reply, 1);
    uint8_t *to = memory(gdb, address, length, 1);
    if (!to) return error(reply, 14);
    memcpy(to, bytes, length);
    if (address >= XPU_GM_BASE) xpu_code_invalidate(gdb->func->code, (uint32_t)address, (uint32_t)length);
    return ok(reply, 1);
}

/* ---- breakpoints ---- */

static int breakpoint(xpu_gdb *gdb, const char *text, int set, xpu_gdb_reply *reply) {
    uint64_t kind, address, length;
    if (!number_then(&text, &kind, ',') || !number_then(&text, &address, ',') || !number(&text, &length) ||
        address >> 32)
        return error(reply, 1);
    if (kind < 2) return ok(reply, xpu_gdb_code_break(gdb, (uint32_t)address, set));
    if (kind > 4) return 1;
    if (address - XPU_LM_BASE < XPU_LM_ALIAS_STRIDE)
        address += XPU_LM_ALL_BASE - XPU_LM_BASE + gdb->current * XPU_LM_ALIAS_STRIDE;
    if (length == 0 || length > 0x10000000) return error(reply, 1);
    return ok(reply,
              xpu_gdb_watchpoint(gdb, &(xpu_gdb_watch){(uint32_t)address, (uint32_t)length, (unsigned)kind}, set));
}

/* ---- running ---- */

/* vCont;ACTION[:THREAD]... : the first action that names a core is its own. */
static int run_threads(xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    int given[XPU_MAX_CORES] = {0};
    for (unsigned i = 0; i < XPU_MAX_CORES; i++) gdb->action[i] = XPU_GDB_STAY;
    while (*text == ';') {
        char action = *++text;
        uint64_t signal;
        int core = -1;
        if (!action || !strchr("cCsS", action)) return error(reply, 1);
        text++;
        if ((action == 'C' || action == 'S') && !number(&text, &signal)) return error(reply, 1);
        if (*text == ':') {
            text++;
            if (!thread(gdb, &text, (int)gdb->current, &core)) return error(reply, 1);
        }
        for (unsigned i = 0; i < gdb->func->chip.cores; i++) {
            if (given[i] || (core >= 0 && (unsigned)core != i)) continue;
            given[i] = 1;
            gdb->action[i] = action == 's' || action == 'S' ? XPU_GDB_STEP : XPU_GDB_GO;
        }
    }
    if (*text) return error(reply, 1);
    xpu_gdb_resume(gdb);
    return 0;
}

/* c, s, C, S with an address where to go on. */
static int run_simple(xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    char action = *text++;
    uint64_t value;
    if (action == 'C' || action == 'S') {
        if (!number(&text, &value)) return error(reply, 1);
        if (*text == ';') text++;
    }
    int steps = action == 's' || action == 'S';
    unsigned core = gdb->resumed >= 0 ? (unsigned)gdb->resumed : gdb->current;
    if (number(&text, &value)) gdb->func->harts[core].pc = (uint32_t)value;
    if (*text) return error(reply, 1);
    for (unsigned i = 0; i < XPU_MAX_CORES; i++)
        gdb->action[i] = steps ? (i == core ? XPU_GDB_STEP : XPU_GDB_STAY)
                               : (gdb->resumed < 0 || i == core ? XPU_GDB_GO : XPU_GDB_STAY);
    xpu_gdb_resume(gdb);
    return 0;
}

/* ---- queries ---- */

static int part_of(const char *text, const char *whole, size_t length, xpu_gdb_reply *reply) {
    uint64_t offset, count;
    if (!number_then(&text, &offset, ',') || !number(&text, &count)) return error(reply, 1);
    if (offset > length) return error(reply, 1);
    if (count > XPU_GDB_PACKET - 16) count = XPU_GDB_PACKET - 16;
    if (count > length - offset) count = length - offset;
    xpu_gdb_put(reply, "%c%.*s", offset + count < length ? 'm' : 'l', (int)count, whole + offset);
    return 1;
}

/* The line of the state report that is this core's, without the newline. */
static int thread_text(xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    int core;
    if (!thread(gdb, &text, 0, &core) || core < 0) return error(reply, 1);
    gdb->func->describe(gdb->func);
    const char *line = gdb->func->fault.state;
    for (int i = 0; i < core; i++) {
        const char *next = strchr(line, '\n');
        line = next ? next + 1 : line;
    }
    xpu_gdb_put_hex(reply, line, strcspn(line, "\n"));
    if (gdb->func->fault.cause == XPU_FAULT_NONE) gdb->func->fault.state = NULL;
    return 1;
}

/* monitor state */
static int monitor(xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    static const char help[] = "monitor state: cores, queues and counters\n";
    char command[16] = "";
    command[xpu_gdb_bytes(text, (uint8_t *)command, sizeof command - 1)] = 0;
    if (strcmp(command, "state") != 0) {
        xpu_gdb_put_hex(reply, help, sizeof help - 1);
        return 1;
    }
    gdb->func->describe(gdb->func);
    const char *state = gdb->func->fault.state;
    size_t length = strlen(state);
    xpu_gdb_put_hex(reply, state, length < XPU_GDB_PACKET / 2 ? length : XPU_GDB_PACKET / 2);
    if (gdb->func->fault.cause == XPU_FAULT_NONE) gdb->func->fault.state = NULL;
    return 1;
}

static int query(xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    size_t length;
    if (starts(text, "Supported")) {
        gdb->has_swbreak = strstr(text, "swbreak+") != NULL;
        xpu_gdb_put(reply, "PacketSize=%x;qXfer:features:read+;vContSupported+;QStartNoAckMode+%s", XPU_GDB_PACKET,
                    gdb->has_swbreak ? ";swbreak+" : "");
    } else if (starts(text, "Xfer:features:read:target.xml:")) {
        const char *whole = xpu_gdb_description(&length);
        return part_of(strrchr(text, ':') + 1, whole, length, reply);
    } else if (strcmp(text, "fThreadInfo") == 0) {
        for (unsigned i = 0; i < gdb->func->chip.cores; i++) xpu_gdb_put(reply, "%c%x", i ? ',' : 'm', i + 1);
    } else if (strcmp(text, "sThreadInfo") == 0) {
        xpu_gdb_put(reply, "l");
    } else if (starts(text, "ThreadExtraInfo,")) {
        return thread_text(gdb, text + 16, reply);
    } else if (strcmp(text, "C") == 0) {
        xpu_gdb_put(reply, "QC%x", gdb->current + 1);
    } else if (starts(text, "Attached")) {
        xpu_gdb_put(reply, "1");
    } else if (starts(text, "Symbol")) {
        xpu_gdb_put(reply, "OK");
    } else if (starts(text, "Rcmd,")) {
        return monitor(gdb, text + 5, reply);
    }
    return 1;
}

static int select_thread(xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    char what = *text;
    int core;
    if (what) text++;
    if (!thread(gdb, &text, what == 'c' ? -1 : (int)gdb->current, &core)) return error(reply, 1);
    if (what == 'c')
        gdb->resumed = core;
    else if (what == 'g' && core >= 0)
        gdb->current = (unsigned)core;
    return ok(reply, what == 'c' || what == 'g');
}

static int is_thread(const xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    int core;
    return ok(reply, thread(gdb, &text, 0, &core) && core >= 0);
}

static int v_command(xpu_gdb *gdb, const char *text, xpu_gdb_reply *reply) {
    if (strcmp(text, "vCont?") == 0)
        xpu_gdb_put(reply, "vCont;c;C;s;S");
    else if (starts(text, "vCont;"))
        return run_threads(gdb, text + 5, reply);
    else if (starts(text, "vKill")) {
        xpu_gdb_kill(gdb);
        return ok(reply, 1);
    }
    return 1;
}

int xpu_gdb_command(xpu_gdb *gdb, char *packet, size_t length, xpu_gdb_reply *reply) {
    const char *rest = packet + 1;
    switch (packet[0]) {
    case '?': xpu_gdb_put(reply, "%s", gdb->stop); return 1;
    case 'g': return read_registers(gdb, reply);
    case 'G': return write_registers(gdb, rest, reply);
    case 'p': return one_register(gdb, rest, 0, reply);
    case 'P': return one_register(gdb, rest, 1, reply);
    case 'm': return read_memory(gdb, rest, reply);
    case 'M': return write_memory(gdb, rest, packet + length, 0, reply);
    case 'X': return write_memory(gdb, rest, packet + length, 1, reply);
    case 'Z': return breakpoint(gdb, rest, 1, reply);
    case 'z': return breakpoint(gdb, rest, 0, reply);
    case 'H': return select_thread(gdb, rest, reply);
    case 'T': return is_thread(gdb, rest, reply);
    case 'q': return query(gdb, rest, reply);
    case 'v': return v_command(gdb, packet, reply);
    case 'c':
    case 'C':
    case 's':
    case 'S': return run_simple(gdb, packet, reply);
    case 'Q':
        if (strcmp(packet, "QStartNoAckMode") != 0) return 1;
        gdb->no_ack = 1;
        return ok(reply, 1);
    case 'D':
        xpu_gdb_put(reply, "OK");
        xpu_gdb_detach(gdb);
        return 1;
    case 'k': xpu_gdb_kill(gdb); return 0;
    default: return 1;
    }
}
