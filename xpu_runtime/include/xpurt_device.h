/*
 * What a device is to the runtime: a driver (a table of functions) that makes instances of a chip: sim/func has one,
 * the chip in C, and each library of a Verilated chip (sim/harness). A caller hands the driver to xpurt_run.
 *
 * An instance is used by one thread at a time; instances are independent. Functions that return int give 0 on success.
 */
#ifndef XPURT_DEVICE_H
#define XPURT_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xpu_chip;  /* core/chip.h */
struct xpu_diags; /* base/diag.h */

enum {
    XPURT_DEVICE_VERSION = 4,
    XPURT_MAX_CORES = 16,
    XPURT_ENGINES = 4,
    XPURT_MEMORIES = 4, /* LM, SM, L3, GM */
    XPURT_STATES = 32   /* room for the states of a unit in a cycle: xpu_lost_cause, core/chip.h */
};

typedef struct xpurt_device xpurt_device;

/* A fault, a time-out or a dead lock. Sticky: every later run reports it again. Texts belong to the device. */
typedef struct {
    int cause;              /* xpu_fault_cause, core/chip.h */
    const char *cause_text; /* "bad address" */
    int core;               /* or -1 */
    int engine;             /* or -1; 0 DMA0, 1 DMA1, 2 tensor, 3 window */
    uint32_t pc;            /* core: the instruction's address */
    uint32_t instruction;   /* core: the instruction word */
    uint64_t address;       /* the address at fault; engine: that of the descriptor where nothing else is at fault */
    uint64_t descriptor;    /* engine: address of the descriptor */
    uint32_t layer;         /* layer tag of the core (register LAYER, >> 16) or of the descriptor */
    uint32_t code;          /* software abort: what the program wrote */
    int differs;            /* no fault of the program: lock-step has found a difference between rtl and func */
    const char *reason;     /* one sentence */
    const char *state;      /* several lines: every core, queue and counter that is not 0 */
} xpurt_fault;

typedef enum {
    XPURT_EVENT_ENDED,     /* the program wrote EXIT */
    XPURT_EVENT_LAYER,     /* a ticket came true: this layer's output exists now */
    XPURT_EVENT_HOST_CALL, /* core 0 waits for the host: answer with answer() */
    XPURT_EVENT_FAULT,     /* a fault, time-out or dead lock */
    XPURT_EVENT_BUDGET,    /* the budget of this run is used up; run again to go on */
    XPURT_EVENT_STOPPED    /* the hook of stop() wanted it; run again to go on */
} xpurt_event_kind;

typedef struct {
    xpurt_event_kind kind;
    uint32_t status;          /* ENDED: what the program wrote, 0: done */
    uint32_t layer;           /* LAYER: the layer's index */
    uint32_t address;         /* HOST_CALL: the request block in GM */
    const xpurt_fault *fault; /* FAULT */
} xpurt_event;

/* One of two accesses that nothing orders. */
typedef struct {
    int core;            /* that made it, or in whose queue the descriptor stood; -1: the host */
    int engine;          /* or -1: the core itself, or the host */
    uint32_t pc;         /* core: the instruction's address */
    uint64_t descriptor; /* engine: the descriptor's address */
    const char *kind;    /* engine: "copy" */
    const char *field;   /* engine: "src", "findmax" */
    uint32_t layer;
    int write;
} xpurt_access;

/* A race: two accesses to the byte at `address`, as an engine addresses it, in the order in which they happened this
 * time; or (counter not -1) two signals of a counter, either of which may fulfil a wait for `value`. */
typedef struct {
    xpurt_access before, after;
    uint64_t address;
    int counter;
    uint32_t value;
    const char *hint;
} xpurt_race;

/* Totals since create; cycles is 0 on a device without timing. */
typedef struct {
    uint64_t cycles;
    uint64_t instructions[XPURT_MAX_CORES];
    uint64_t descriptors[XPURT_ENGINES];
    uint64_t macs;
    uint64_t gm_read_bytes, gm_write_bytes; /* by engines, and by loads and stores of cores */
    /* With timing: edges of the simulated clock, which skipping makes fewer than cycles; how many cycles each unit has
     * been in which state (one in each cycle). */
    uint64_t edges, core_states[XPURT_MAX_CORES][XPURT_STATES], engine_states[XPURT_ENGINES][XPURT_STATES];
} xpurt_counters;

/* A descriptor that is complete, and the least that each resource needs for it. */
typedef struct {
    unsigned engine, core; /* core: whose queue */
    uint64_t descriptor;   /* its address */
    uint32_t layer, opcode;
    uint64_t begin, end; /* cycles since the start: when the engine got it, when all was visible */
    uint64_t macs, array_cycles, drain_cycles;
    uint64_t bytes[XPURT_MEMORIES];                         /* moved in or out */
    uint64_t read[XPURT_MEMORIES], written[XPURT_MEMORIES]; /* bytes that each memory gives and takes at least */
} xpurt_completion;

/* Where a device stands. */
typedef struct {
    unsigned cores;
    struct {
        uint32_t pc, layer; /* register LAYER, >> 16 */
    } core[XPURT_MAX_CORES];
} xpurt_position;

/* Who is told what a device does while it runs; NULL: nobody. */
typedef struct {
    void *context;
    void (*complete)(void *context, const xpurt_completion *completion);
    /* A core (unit: its number) or engine (XPURT_MAX_CORES + its number) was mostly in this state from cycle `from` to
     * `to` since the start; equal states that follow each other may come in pieces. */
    void (*state)(void *context, unsigned unit, unsigned state, uint64_t from, uint64_t to);
    void (*tick)(void *context, uint64_t cycles); /* every now and then */
} xpurt_observer;

typedef struct xpurt_device_driver {
    uint32_t version; /* XPURT_DEVICE_VERSION */
    const char *name; /* "func" */
    const char *about;

    /* A chip in its reset state; memory reads as zero. NULL with a diagnostic on failure. `chip` is copied. */
    xpurt_device *(*create)(const struct xpu_chip *chip, struct xpu_diags *diags);
    void (*destroy)(xpurt_device *device); /* NULL is allowed */

    /* Bulk access as engines address memory: GM, L3, SM, and LM of core i at 0x11000000 + 0x100000 * i. Not 0 when the
     * range leaves a memory. Between runs only. */
    int (*write)(xpurt_device *device, uint64_t address, const void *bytes, size_t length);
    int (*read)(xpurt_device *device, uint64_t address, void *bytes, size_t length);

    /* Maps a part of a file copy-on-write into GM instead of writing it; address and offset must be equal modulo the
     * page size. NULL: the device cannot. Not 0: it did not, use write. The caller may close `file` afterwards. */
    int (*map)(xpurt_device *device, uint64_t address, int file, uint64_t offset, size_t length);

    /* Where bytes written to PUTCHAR go; none by default. */
    void (*output)(xpurt_device *device, void (*put)(void *context, char byte), void *context);

    /* Every core begins at `entry`; counters, queues and registers are reset, memory stays. Also ends a fault. */
    int (*start)(xpurt_device *device, uint32_t entry);

    /* Register SEED at the next starts. */
    void (*seed)(xpurt_device *device, uint32_t seed);

    /* From the next start on; the observer is copied. NULL: the device has nothing to tell. */
    void (*observe)(xpurt_device *device, const xpurt_observer *observer);

    /* Goes on until something happens. `budget`: instructions of all cores in this run, 0: no limit. A device without
     * time also takes from it the cycles that the engines' descriptors since the start need at least. */
    int (*run)(xpurt_device *device, uint64_t budget, xpurt_event *event);

    /* The hook is asked every now and then during later runs; not 0 ends the run with XPURT_EVENT_STOPPED. NULL: no
     * hook. */
    void (*stop)(xpurt_device *device, int (*stop)(void *context), void *context);

    /* Between runs: the instructions that cores will execute next. */
    void (*position)(const xpurt_device *device, xpurt_position *position);

    /* The host has written its answer into the request block of the last HOST_CALL. */
    int (*answer)(xpurt_device *device);

    void (*counters)(const xpurt_device *device, xpurt_counters *counters);

    /* Race `index` of those found since the start: 1, or 0: there are no more. NULL: the device does not look. */
    int (*race)(const xpurt_device *device, size_t index, xpurt_race *race);
} xpurt_device_driver;

#ifdef __cplusplus
}
#endif
#endif
