/* What the files of the debugger's stub share. */
#ifndef XPU_SIM_FUNC_GDB_INTERNAL_H
#define XPU_SIM_FUNC_GDB_INTERNAL_H

#include <stddef.h>

#include "sim/func/func.h"
#include "sim/func/gdb.h"

enum { XPU_GDB_PACKET = 0x4000, XPU_GDB_WATCHES = 16, XPU_GDB_BREAKS = 256 };

/* What a core does until the next stop. */
typedef enum { XPU_GDB_STAY, XPU_GDB_STEP, XPU_GDB_GO } xpu_gdb_action;

typedef struct {
    uint32_t address, bytes;
    unsigned kind; /* 2: writes, 3: reads, 4: both */
} xpu_gdb_watch;

/* A packet under construction. */
typedef struct {
    char text[XPU_GDB_PACKET + 1];
    size_t length;
} xpu_gdb_reply;

struct xpu_gdb {
    xpu_func *func;
    int listening, in, out; /* -1: none */
    unsigned port;
    int running, no_ack, has_swbreak, leaving;
    int break_core; /* that the last stop left before a breakpoint, or -1 */
    unsigned stalled;
    uint32_t breaks[XPU_GDB_BREAKS];
    unsigned break_count;
    unsigned current; /* core of register and memory commands */
    int resumed;      /* core of c and s, -1: all */
    xpu_gdb_action action[XPU_MAX_CORES];
    uint64_t retired[XPU_MAX_CORES]; /* when the run began */
    unsigned still, polls;
    xpu_gdb_watch watches[XPU_GDB_WATCHES];
    unsigned watch_count;
    int watch_hit; /* index, or -1 */
    uint32_t watch_address;
    char stop[80]; /* the last stop's reply */
    xpu_gdb_reply last;
    uint8_t input[4096];
    size_t input_at, input_count;
};

/* ---- gdb.c ---- */
/* Packets that do not fit are cut. */
void xpu_gdb_put(xpu_gdb_reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xpu_gdb_put_hex(xpu_gdb_reply *reply, const void *bytes, size_t length);
void xpu_gdb_detach(xpu_gdb *gdb);
/* From here on the cores do as `action` says. */
void xpu_gdb_resume(xpu_gdb *gdb);
/* The program ends with a fault that says so. */
void xpu_gdb_kill(xpu_gdb *gdb);

/* ---- gdb_commands.c ---- */
/* Executes a packet; gives 0 when there is nothing to answer. `packet` ends with 0, which `length` does not count. */
int xpu_gdb_command(xpu_gdb *gdb, char *packet, size_t length, xpu_gdb_reply *reply);
/* Pairs of hexadecimal digits; how many bytes, at most `room`. */
size_t xpu_gdb_bytes(const char *text, uint8_t *bytes, size_t room);

/* ---- gdb_registers.c ---- */
enum { XPU_GDB_REGISTERS = 33 + 32 + 11 + 32 };
const char *xpu_gdb_description(size_t *length);
/* Bytes of a register, 0: there is none of this number. */
unsigned xpu_gdb_register_bytes(unsigned number);
void xpu_gdb_read_register(xpu_hart *hart, unsigned number, uint8_t *bytes);
void xpu_gdb_write_register(xpu_hart *hart, unsigned number, const uint8_t *bytes);

#endif
