/*
 * Shadow memory of the race check: for each word of the 32-bit address space who wrote it last and who has read it
 * since, to the byte where a word was not accessed as a whole. Pages appear when they are first accessed.
 */
#ifndef XPU_SIM_FUNC_SHADOW_H
#define XPU_SIM_FUNC_SHADOW_H

#include <stdint.h>

/*
 * A tag says who accessed: agent + 1 in bits 63:58, the agent's epoch in 57:30, details in 29:0. Tag 0: nobody. The
 * epochs of an agent grow.
 */
enum { XPU_TAG_EPOCH = 30, XPU_TAG_AGENT = 58, XPU_MAX_AGENTS = 60 };
static inline uint64_t xpu_tag(unsigned agent, uint32_t epoch, uint32_t details) {
    return (uint64_t)(agent + 1) << XPU_TAG_AGENT | (uint64_t)epoch << XPU_TAG_EPOCH | details;
}
static inline unsigned xpu_tag_agent(uint64_t tag) {
    return (unsigned)(tag >> XPU_TAG_AGENT) - 1;
}
static inline uint32_t xpu_tag_epoch(uint64_t tag) {
    return (uint32_t)(tag >> XPU_TAG_EPOCH) & 0x0fffffff;
}
static inline uint32_t xpu_tag_details(uint64_t tag) {
    return (uint32_t)tag & 0x3fffffff;
}

/* An access in the making. */
typedef struct {
    uint64_t tag;          /* 0: the access is checked and leaves no trace (reads only) */
    const uint32_t *clock; /* by agent: the last epoch that is ordered before this access */
    int write;
    int overlaps;       /* a read sees of the agent's own earlier writes only those that the clock has */
    uint32_t own_reads; /* a write is ordered behind the agent's own reads up to this epoch */
} xpu_shadow_access;

typedef struct xpu_shadow xpu_shadow;

/* Called for two accesses to the byte at `address` that nothing orders. */
typedef void xpu_shadow_race(void *context, uint64_t before, int before_writes, const xpu_shadow_access *now,
                             uint32_t address);

/* `agents`: how many there are, at most XPU_MAX_AGENTS. NULL: out of memory. */
xpu_shadow *xpu_shadow_new(unsigned agents, xpu_shadow_race *race, void *context);
void xpu_shadow_free(xpu_shadow *shadow);
void xpu_shadow_clear(xpu_shadow *shadow);

/* Checks the access against all before it, and notes it. */
void xpu_shadow_visit(xpu_shadow *shadow, const xpu_shadow_access *access, uint32_t address, uint64_t bytes);

/* Whether memory ran out, so that accesses were not noted. */
int xpu_shadow_failed(const xpu_shadow *shadow);

#endif
