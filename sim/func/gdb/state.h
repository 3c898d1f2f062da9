/* The state of the debugger's stub, which its files share. */
#ifndef XPU_SIM_FUNC_GDB_STATE_H
#define XPU_SIM_FUNC_GDB_STATE_H

#include <stddef.h>

#include "sim/func/func.h"

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

typedef struct xpu_gdb {
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
} xpu_gdb;

#endif
