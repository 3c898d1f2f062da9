/* Random programs of doorbells and descriptors: what their generator and the program on the chip share. */
#ifndef XPU_TESTS_GEN_RANDOM_DESCRIPTORS_H
#define XPU_TESTS_GEN_RANDOM_DESCRIPTORS_H

#include <stdint.h>

/* In GM. */
#define RD_HEADER   0x80100000u
#define RD_ACTIONS  0x80101000u /* 64 KiB for each core */
#define RD_LISTS    0x80280000u
#define RD_CONST_GM 0x80300000u
#define RD_SLOTS_GM 0x80301000u /* 16 slots */
#define RD_COUNTERS 0x80309000u /* 64 words, written at the end */

enum { RD_MAX_CORES = 16 };

/* RING: engine `to`, list `from`, `count` descriptors. WAIT: counter `to` reaches `from`. SIGNAL: counter `to` grows by
 * `from`. The rest: work on `count` elements at `to` with those at `from`. */
typedef enum {
    RD_END,
    RD_RING,
    RD_WAIT,
    RD_SIGNAL,
    RD_BARRIER,
    RD_WORDS,
    RD_BYTES,
    RD_VECTOR,
    RD_FLOATS,
    RD_HALVES
} rd_kind;

typedef struct {
    uint32_t kind, to, from, count;
} rd_action;

typedef struct {
    uint32_t seed; /* for register SEED */
    uint32_t actions[RD_MAX_CORES];
} rd_header;

#endif
