/* What the host's and the device's half of the system tests share. */
#ifndef XPU_TESTS_RTL_SYSTEM_H
#define XPU_TESTS_RTL_SYSTEM_H

#include <stdint.h>

#define SYSTEM_REQUEST 0x80100000u
#define SYSTEM_RESULTS 0x80101000u
enum { SYSTEM_RESULT_WORDS = 1024 };

/* Request word 0; words 1 to 4: what it works with. */
enum {
    SYSTEM_REGISTERS = 1,
    SYSTEM_ACCESS, /* kind, address, value, core */
    SYSTEM_RING,   /* rounds */
    SYSTEM_MEET,   /* rounds */
    SYSTEM_TICKETS,
    SYSTEM_HOST,
    SYSTEM_WATCHDOG, /* limit */
    SYSTEM_SPIN,     /* limit */
    SYSTEM_MEMORY,
    SYSTEM_DEAD,
    SYSTEM_PRINT
};
enum { SYSTEM_LB, SYSTEM_LH, SYSTEM_LW, SYSTEM_SB, SYSTEM_SH, SYSTEM_SW, SYSTEM_JUMP, SYSTEM_EBREAK, SYSTEM_ILLEGAL };

#endif
