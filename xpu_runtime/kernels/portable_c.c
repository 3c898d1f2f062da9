/* Functions of other targets: core 0 calls one on pointers, to copies in LM as far as there is room. */
#include "xpu_runtime/kernels/common.h"

enum { LINE = 64, WATCHDOG_CYCLES = 1000000000 }; /* the function tells the chip nothing of its progress */

/* Behind the arguments. */
struct place {
    uint32_t address, bytes;
};

typedef struct {
    const struct xpu_portable_c_args *args;
    const struct place *places; /* of operands, then of results */
    const void **pointers;      /* the same, then scratch and dims */
    uint8_t *free, *end;        /* of LM */
} calling;

/* Room for `bytes` in LM, or where they lie in device memory. */
static const void *place_of(calling *c, uint32_t address, uint32_t bytes) {
    if (!address) return 0;
    if (bytes > (uint32_t)(c->end - c->free)) return (const void *)(uintptr_t)address;
    const uint8_t *place = c->free;
    c->free += min_u32(round_up(bytes, LINE), (uint32_t)(c->end - c->free));
    return place;
}

static int is_in_lm(const calling *c, uint32_t i) {
    return (uint32_t)(uintptr_t)c->pointers[i] != c->places[i].address;
}

static void place_all(calling *c) {
    const struct xpu_portable_c_args *a = c->args;
    const uint32_t values = (uint32_t)(a->operands + a->results);
    c->pointers = (const void **)xpu_lm_begin();
    c->end = xpu_lm_begin() + xpu_lm_bytes();
    c->free = xpu_lm_begin() + round_up((values + 2) * 4, LINE);
    if (c->free > c->end) xpu_abort(ABORT_LOCAL_MEMORY);
    c->pointers[values] = place_of(c, a->scratch, (uint32_t)a->scratch_bytes);
    c->pointers[values + 1] = c->places + values;
    for (uint32_t i = values; i-- > 0;) c->pointers[i] = place_of(c, c->places[i].address, c->places[i].bytes);
}

static void portable_share(const void *args, uint32_t core, uint32_t cores) {
    (void)cores;
    if (core != 0) return;
    calling c = {.args = args, .places = (const struct place *)((const struct xpu_portable_c_args *)args + 1)};
    const uint32_t operands = (uint32_t)c.args->operands, values = operands + (uint32_t)c.args->results;
    place_all(&c);
    for (uint32_t i = 0; i < operands; i++) {
        if (is_in_lm(&c, i)) GM2LM((void *)(uintptr_t)c.pointers[i], c.places[i].address, c.places[i].bytes);
    }
    xpu_dma_drain();
    xpu_reg_store(XPU_REG_WATCHDOG_LIMIT, WATCHDOG_CYCLES);
    xpu_call_body()((const float *const *)c.pointers, 0, 0, 0);
    mfence();
    for (uint32_t i = operands; i < values; i++) {
        if (is_in_lm(&c, i)) LM2GM(c.places[i].address, c.pointers[i], c.places[i].bytes);
    }
}

xpu_ticket xpu_portable_c(const struct xpu_portable_c_args *args, xpu_portable_c_body body, uint32_t layer,
                          xpu_ticket after) {
    uint32_t limit = xpu_reg_load(XPU_REG_WATCHDOG_LIMIT);
    xpu_ticket done = xpu_run_on_cores_with(portable_share, args, body, layer, after);
    xpu_reg_store(XPU_REG_WATCHDOG_LIMIT, limit); /* behind the core's signal, which is progress */
    return done;
}
