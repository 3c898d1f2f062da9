/* What the system tests run with: the Verilated chips, the program, runs on the functional and the Verilated chip. */
#ifndef XPU_TESTS_RTL_RIG_H
#define XPU_TESTS_RTL_RIG_H

#include "core/chip.h"
#include "sim/func/driver.h"
#include "tests/rtl/system/system.h"
#include "tests/unit/unit.h"
#include "xpu_runtime/include/xpurt_rtl.h"

enum { MAX_EVENTS = 32, CHIPS = 2 };

typedef struct {
    const char *name, *file;
    xpu_chip chip;
    const xpurt_device_driver *driver;
    xpurt_rtl_configure_fn *configure;
    xpurt_rtl_look_fn *look;
} system_chip;

typedef struct {
    xpurt_event events[MAX_EVENTS];
    unsigned event_count;
    xpurt_fault fault; /* texts: gone */
    char text[600];    /* of a fault */
    char state[2000];  /* of a dead lock */
    uint32_t results[SYSTEM_RESULT_WORDS];
    char printed[64];
    unsigned printed_count;
    xpurt_counters counters;
    xpurt_rtl_statistics statistics;
} outcome;

/* nano, and one with several cores: quad, or the one that XPU_SYSTEM_CHIP names. */
extern system_chip chips[CHIPS];
extern xpu_arena *arena;
extern xpu_diags diags;
extern uint32_t system_entry;

/* What else happens to the memory of a device before and after a run; NULL: nothing. */
typedef struct {
    void *context;
    void (*before)(void *context, const xpurt_device_driver *driver, xpurt_device *device);
    void (*after)(void *context, const xpurt_device_driver *driver, xpurt_device *device);
} memory_hooks;
extern memory_hooks hooks;

/* 0: done. Ends the program's memory with release. */
int set_up(void);
void release(void);

/* A device with the program and this request, started; its run to the end; both together. */
xpurt_device *prepare(const xpurt_device_driver *driver, const xpu_chip *chip, const uint32_t *request, outcome *o);
void follow(const xpurt_device_driver *driver, xpurt_device *device, outcome *o);
void run_func(const xpu_chip *chip, const uint32_t *request, outcome *o);
void run_rtl(const system_chip *chip, const uint32_t *request, const xpurt_rtl_options *options, outcome *o);

/* Whether two runs on the Verilated chip took the same time. */
int same_time(const outcome *a, const outcome *b);

void test_engines(void);
void test_engine_faults(void);
void test_fields(void);

#endif
