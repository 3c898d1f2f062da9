/* Core 0 between ranges of layers. What they made is complete: its loads see it, and engines and other cores, which
 * take their next work behind a fence, see what it stores; so does the host, which reads the words of steps. */
#include "xpu_runtime/include/xpu_device.h"

static const volatile uint32_t *words_at(uint32_t address) {
    return (const volatile uint32_t *)(uintptr_t)address;
}

int xpu_condition(uint32_t address) {
    return !address || *(const volatile uint8_t *)(uintptr_t)address != 0;
}

/* An int64 in device memory, within what 32 bits hold. */
static int32_t clamped(uint32_t address) {
    uint32_t low = words_at(address)[0];
    int32_t high = (int32_t)words_at(address)[1];
    if (high == (int32_t)low >> 31) return (int32_t)low;
    return high < 0 ? INT32_MIN : INT32_MAX;
}

int32_t xpu_loop_trips(const struct xpu_loop_words *loop) {
    return loop->trips ? clamped(loop->trips) : INT32_MAX;
}

static void store_number(uint32_t address, int32_t value) {
    volatile uint32_t *words = (volatile uint32_t *)(uintptr_t)address;
    if (!address) return;
    words[0] = (uint32_t)value;
    words[1] = 0;
}

/* Iterations are counted in 32 bits: a loop that has run so many, and was not to end there, ends the run. */
static void check_count(const struct xpu_loop_words *loop) {
    int ends_there = loop->trips && words_at(loop->trips)[0] == INT32_MAX && words_at(loop->trips)[1] == 0;
    if (!ends_there && xpu_condition(loop->again)) xpu_abort(XPU_ABORT_TRIPS);
}

int xpu_loop_goes_on(struct xpu_loop_words *loop, int32_t iteration, int32_t trips) {
    if (iteration >= trips || !xpu_condition(iteration ? loop->again : loop->first)) {
        if (iteration == INT32_MAX) check_count(loop);
        store_number(loop->count_result, iteration);
        mfence();
        return 0;
    }
    loop->iteration = (uint32_t)iteration;
    store_number(loop->iteration_result, iteration);
    mfence();
    return 1;
}

int32_t xpu_set_symbol(struct xpu_set_words *words, uint32_t symbol) {
    int32_t value = words->bytes == 4 ? (int32_t)words_at(words->result)[0] : clamped(words->result);
    if (value < words->min || value > words->max) xpu_abort(XPU_ABORT_SYMBOL + symbol);
    words->value = value;
    mfence();
    return value;
}

void xpu_check_guard(uint32_t guard, int32_t a, int32_t b) {
    if (a != b) xpu_abort(XPU_ABORT_GUARD + guard);
}
