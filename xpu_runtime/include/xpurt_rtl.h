/*
 * The library of a Verilated chip, libxpurtl-CHIP.so: a device for xpurt_run with time. There is one library for each
 * chip; xpurt_rtl_load loads it.
 */
#ifndef XPURT_RTL_H
#define XPURT_RTL_H

#include "xpurt.h"
#include "xpurt_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How devices that a thread creates from now on work. */
typedef struct {
    int lockstep;        /* the functional chip executes what the RTL has executed; the first difference ends the run */
    int no_skip;         /* cycles in which nothing happens are simulated one by one, too; counts stay the same */
    uint32_t seed;       /* register SEED after the start */
    uint64_t max_cycles; /* a run ends with XPURT_EVENT_BUDGET so many cycles after the start; 0: no limit */
    /* A waveform (FST) of one layer, from the cycle in which core 0 begins with it to its completion; NULL: none. The
     * library must have been built with tracing. */
    const char *wave_file;
    uint32_t wave_layer;
    /* Called for each retired instruction, with the layer that its core is in; or NULL. That is register LAYER >> 16;
     * of a program whose layers come in order the number goes on behind 65,535, as that of wave_layer does. */
    void (*trace)(void *context, uint64_t cycle, unsigned core, uint32_t layer, uint32_t pc, uint32_t instruction);
    void *context;
} xpurt_rtl_options;

/* What a run has cost the host, and where each core's cycles went (xpu_lost_cause, core/chip.h), since the start. */
typedef struct {
    uint64_t cycles, edges; /* edges: of the simulated clock since create; skipping makes them fewer than cycles */
    uint64_t states[XPURT_MAX_CORES][XPURT_STATES];
} xpurt_rtl_statistics;

/* The driver of the Verilated chip of this name: loads its library from `folder` (NULL: where libxpurt is) or, where
 * there is none, from glibc-hwcaps/x86-64-v3 or -v2 in it, the highest that the processor has; with
 * wave_file the one that is named libxpurtl-CHIP-wave.so, which stays loaded. `options` (NULL: none) hold for the
 * devices that it creates from now on in the calling thread: the first run of a session makes its device. NULL with
 * error filled in on failure [device-missing]. */
typedef const xpurt_device_driver *xpurt_rtl_load_fn(const char *chip, const char *folder,
                                                     const xpurt_rtl_options *options, xpurt_error *error);
XPURT_API xpurt_rtl_load_fn xpurt_rtl_load;

/* What the library exports. */
#define XPURT_RTL_DRIVER    "xpurt_rtl_driver"
#define XPURT_RTL_CONFIGURE "xpurt_rtl_configure"
#define XPURT_RTL_LOOK      "xpurt_rtl_look"
typedef const xpurt_device_driver *xpurt_rtl_driver_fn(void);
typedef void xpurt_rtl_configure_fn(const xpurt_rtl_options *options);
typedef void xpurt_rtl_look_fn(const xpurt_device *device, xpurt_rtl_statistics *statistics);

#ifdef __cplusplus
}
#endif
#endif
