/* What the host's and the device's half of the system tests share. */
#ifndef XPU_TESTS_RTL_SYSTEM_H
#define XPU_TESTS_RTL_SYSTEM_H

#include <stdint.h>

#define SYSTEM_REQUEST 0x80100000u
#define SYSTEM_RESULTS 0x80101000u
#define SYSTEM_TABLE   0x80108000u /* of lists: 16 for each core, 4 words each: engine, address, count, 0 */
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
    SYSTEM_ALIVE,    /* limit: WATCHDOG is written without end */
    SYSTEM_FLOOD,    /* layers are announced without end, none complete */
    SYSTEM_MEMORY,
    SYSTEM_DEAD,
    SYSTEM_PRINT,
    SYSTEM_ENGINES /* value of counter 11, of counter 12, rounds of loads and stores */
};
enum {
    SYSTEM_LISTS = 16,
    /* Where cores load and store meanwhile: blocks of 1 KiB, in SM and L3 one for each core */
    SYSTEM_BLOCK = 1024,
    SYSTEM_SM_CORE = 25,
    SYSTEM_L3_CORE = 48,
    SYSTEM_LM_CORE = 10
};
enum { SYSTEM_LB, SYSTEM_LH, SYSTEM_LW, SYSTEM_SB, SYSTEM_SH, SYSTEM_SW, SYSTEM_JUMP, SYSTEM_EBREAK, SYSTEM_ILLEGAL };

#endif
