/*
 * The Verilated chip behind a C interface: model.cpp is compiled once for each chip, everything else here is the same
 * for all. One model is used by one thread at a time; models are independent.
 */
#ifndef XPU_SIM_HARNESS_MODEL_H
#define XPU_SIM_HARNESS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { XPU_MODEL_MAX_CORES = 16, XPU_MODEL_COUNTERS = 64, XPU_MODEL_STATES = 32, XPU_MODEL_ENGINES = 4 };

/* An instruction that has retired, or (trap) has not because of a fault. Masks: bytes of the access from `address` on.
 */
typedef struct {
    unsigned core;
    uint64_t order, cycle;
    uint32_t insn, pc, next;
    int trap, writes_f;
    int vector;             /* an instruction of the vector unit: no scalar memory access is told */
    unsigned fflags, vxsat; /* that a vector instruction has raised */
    unsigned rd, frd;       /* rd 0: none */
    uint32_t rd_value, frd_value;
    uint32_t address, read_mask, write_mask, read_data, write_data;
} xpu_retired;

/* What the chip asks its surroundings for while it runs. */
typedef struct {
    void *context;
    uint8_t *gm; /* memory from 0x80000000 on, in whole lines of 64 bytes */
    int stop;    /* set by any of the functions: the run ends after this edge */
    uint64_t cycle;
    uint64_t gm_read_bytes, gm_write_bytes;
    uint64_t descriptors[XPU_MODEL_ENGINES];                                        /* complete, since the start */
    void (*counter)(void *context, unsigned counter, uint32_t value);               /* a counter has a new value */
    int (*ticket)(void *context, unsigned counter, uint32_t value, uint32_t layer); /* 0: there is no room for it */
    void (*put)(void *context, char byte);
    void (*retire)(void *context, const xpu_retired *retired); /* NULL: nobody looks; fixed when the model is made */
    /* A descriptor is complete; `cycles` ago its engine got it. NULL: nobody looks */
    void (*complete)(void *context, unsigned engine, unsigned core, uint32_t descriptor, uint32_t layer,
                     uint32_t opcode, uint64_t cycles);
} xpu_model_host;

/* Constants of the compiled chip. */
typedef struct {
    uint32_t cores, lm_bytes, sm_bytes, l3_bytes, gm_bytes, abi_hash, icache_bytes, gm_entries;
    uint32_t sm_banks, sm_hold, l3_banks, l3_entries, weight_rows, post_lanes; /* SM in banks of 64 bytes; hold: cycles
                                                                                   of an access */
} xpu_model_info;

/* Run-time registers. */
typedef struct {
    uint16_t gm_latency, gm_line_time, gm_outstanding; /* line time: cycles * 256 */
    uint16_t l3_latency, l3_rate;                      /* rate: bytes a cycle in each direction */
} xpu_model_times;

/* What is to be seen between two edges. */
typedef struct {
    int ended, host_call, timed_out, quiet;
    uint32_t exit_status, host_address, abort_code, next_event;
    struct {
        uint64_t instructions;
        uint32_t pc, layer, stalled, stalled_value; /* stalled: offset of a register, or 0 */
        int halted, fault;
        uint32_t cause, fault_pc, fault_insn, fault_address;
    } core[XPU_MODEL_MAX_CORES];
    unsigned engine_state[XPU_MODEL_ENGINES]; /* xpu_lost_cause */
    int engine_fault;                         /* the next five: of the first fault of an engine */
    unsigned engine;
    uint32_t engine_cause, engine_address, descriptor, descriptor_layer;
} xpu_model_state;

typedef enum {
    XPU_MODEL_ATTENTION, /* an end, host call, time-out or fault, see the state */
    XPU_MODEL_STOPPED,   /* the host's `stop` */
    XPU_MODEL_DEAD,      /* nothing will ever happen again */
    XPU_MODEL_LIMIT      /* the limit of this run is reached */
} xpu_model_reason;

typedef struct xpu_model xpu_model;

xpu_model_info xpu_model_about(void);

/* NULL: out of memory. `host` must outlive the model. Memory reads as zero. */
xpu_model *xpu_model_new(xpu_model_host *host, const xpu_model_times *times);
void xpu_model_free(xpu_model *model);

/* Resets all but memory, and lets the cores begin at `entry`. The cycle of the host begins again at 0. */
void xpu_model_start(xpu_model *model, uint32_t entry, uint32_t seed);

/* Runs at most `limit` cycles (0: no limit). Without `skip` every cycle is an edge of its own. */
xpu_model_reason xpu_model_run(xpu_model *model, uint64_t limit, int skip);

/* The host has answered a host call: core 0 goes on with the next run. */
void xpu_model_answer(xpu_model *model);

void xpu_model_look(const xpu_model *model, xpu_model_state *state);

/* A core's queue of an engine: how many lists stand in it, and the first: its address, its descriptors, and how many of
 * them are not complete. */
typedef struct {
    unsigned lists;
    uint32_t address, count, left;
} xpu_model_queue;
xpu_model_queue xpu_model_look_queue(const xpu_model *model, unsigned engine, unsigned core);

/* The bytes of a core's LM, of SM, of L3. */
uint8_t *xpu_model_lm(xpu_model *model, unsigned core);
uint8_t *xpu_model_sm(xpu_model *model);
uint8_t *xpu_model_l3(xpu_model *model);

/* A core's 32 vector registers, 8 words each. */
const uint64_t *xpu_model_vreg(xpu_model *model, unsigned core);

/* Cycles that a core has spent in each state (xpu_lost_cause) since the start, XPU_MODEL_STATES of them. */
const uint64_t *xpu_model_states(const xpu_model *model, unsigned core);
const uint64_t *xpu_model_engine_states(const xpu_model *model, unsigned engine);

/* Writes a waveform (FST) from now on. -1: the library was built without tracing, or the file cannot be written. */
int xpu_model_wave_open(xpu_model *model, const char *file);
void xpu_model_wave_close(xpu_model *model);

/* Edges since the model was made: with skipping fewer than cycles. */
uint64_t xpu_model_edges(const xpu_model *model);

#ifdef __cplusplus
}
#endif
#endif
