/* What a random program of descriptors is made in, and its random numbers. */
#ifndef XPU_TESTS_RANDOM_DESCRIPTORS_STATE_H
#define XPU_TESTS_RANDOM_DESCRIPTORS_STATE_H

#include <string.h>

#include "core/chip.h"
#include "tests/gen/random_descriptors.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"

enum {
    SLOT = 2048,
    MAX_SLOTS = 160,
    MAX_AGENTS = 3 * RD_MAX_CORES + 2,
    MAX_ACTIONS = 4096,
    MAX_PARTS = 64,
    MAX_WAITS = MAX_AGENTS,
    /* The constants that lie in GM, L3 and SM; offsets in bytes. */
    PARAMS_QUANTISED = 0, /* four blocks each */
    PARAMS_FLOAT = 256,
    SCALE = 512,
    BIAS = 768,
    START = 1024,
    LOOKUP = 1280,
    INDEX = 1536, /* 64 of them */
    FACTORS = 1792,
    ABSMAX = 1856,
    CONST_BYTES = 2048,
    FLOATS_BYTES = 2048, /* finite floats in SM, behind the constants */
    COLUMNS = 64         /* of descriptors: the vectors above have so many elements */
};

/* A piece of memory that tasks depend on as a whole. */
typedef struct {
    uint32_t address;
    int is_sm, owner;             /* owner: the core whose LM this is, or -1 */
    int found_floats;             /* a few words for findmax, no slot of SLOT bytes */
    int writer;                   /* last task that wrote it, or -1 */
    uint32_t readers[MAX_AGENTS]; /* by agent: 1 + the last task that read it since */
} slot;

typedef struct {
    int is_core, core, engine; /* engine: of a queue */
    uint32_t counter, value;   /* the counter that its tasks add to, and what it will hold then */
    int open;                  /* index of the RING action of the list that is open, or -1 */
    uint32_t list, length, room;
    uint32_t opened_at; /* first task of the open list */
} agent;

typedef struct {
    uint32_t address, length;
    uint8_t *bytes;
} part;

typedef struct {
    xpu_chip chip;
    uint64_t random;
    slot slots[MAX_SLOTS];
    unsigned slot_count, sm_first, sm_count;
    agent agents[MAX_AGENTS];
    unsigned agent_count;
    rd_action actions[RD_MAX_CORES][MAX_ACTIONS];
    uint32_t action_count[RD_MAX_CORES];
    int *task_agent; /* by task */
    uint32_t *task_value;
    uint32_t tasks, wanted, descriptors;
    part parts[MAX_PARTS];
    unsigned part_count;
    uint32_t lists_at[RD_MAX_CORES + 3], lists_end[RD_MAX_CORES + 3]; /* GM, L3, SM, LM of each core */
    uint32_t const_at[3];
    uint32_t const_words[CONST_BYTES / 4];
    /* of the task under construction */
    unsigned reads[16], read_count, writes[4], write_count, is_post;
} generator;

/* ---- Random numbers ---- */

static inline uint32_t draw(generator *g, uint32_t bound) {
    uint64_t x = g->random += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(((x ^ x >> 31) >> 32) * bound >> 32);
}
static inline int between(generator *g, int low, int high) {
    return low + (int)draw(g, (uint32_t)(high - low + 1));
}
static inline uint32_t draw_word(generator *g) {
    return draw(g, 1u << 16) << 16 | draw(g, 1u << 16);
}
static inline uint32_t float_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static inline uint32_t tame(generator *g, float size) {
    return float_bits(((float)draw(g, 1u << 24) / (float)(1 << 23) - 1.0f) * size);
}

static const uint32_t type_bytes[] = {
#define X(name, code, bytes, doc) bytes,
    XPU_DESC_TYPES(X)
#undef X
};

#endif
