/* What the cores do between start and exit: core 0 walks the layers, the others serve their mailboxes. */
#include "xpu_runtime/include/xpu_device.h"

enum { STACK_BYTES = 4096 }; /* a generated chain may keep eight vector groups of 256 bytes there */

extern uint8_t xpu_bss_end[];
extern const uint32_t xpu_plan[];

/* Filled by the runtime before the start. */
__attribute__((section(".xpu_control"), used)) volatile struct xpu_control xpu_control = {0, 0};

/* What a mailbox in SM holds. */
struct mailbox {
    xpu_core_function function;
    const void *args;
    xpu_chain_body body;
    uint32_t layer;
    struct xpu_progress progress; /* of the operand */
};
_Static_assert(sizeof(struct mailbox) <= XPU_MAILBOX_BYTES, "a call fits a mailbox");

static uint32_t
    expected[XPU_COUNTERS]; /* core 0: the value that each counter reaches when all that was queued is done */
static xpu_chain_body current_body;
static struct xpu_progress current_progress;

/* Core 0: the layer that has not queued all of its descriptors. */
static struct {
    int (*step)(void); /* 0: there is none */
    uint32_t layer, y;
    struct xpu_progress progress;
} unfinished;

/* Core 0: the layer that was called ahead, 0: none, and its ticket. */
static struct {
    uint32_t layer;
    xpu_ticket ticket;
} ahead;

static struct mailbox *mailbox_of(uint32_t core) {
    return (struct mailbox *)(XPU_SM_BASE + XPU_MAILBOX_BYTES * core);
}

uint8_t *xpu_lm_begin(void) {
    return xpu_bss_end;
}

uint32_t xpu_lm_bytes(void) {
    return XPU_LM_BASE + xpu_reg_load(XPU_REG_LM_BYTES) - STACK_BYTES - (uint32_t)(uintptr_t)xpu_bss_end;
}

xpu_ticket xpu_expect(uint32_t counter, uint32_t amount) {
    expected[counter] += amount;
    return (xpu_ticket){counter, expected[counter]};
}

void xpu_enqueue(uint32_t engine, const uint32_t *descriptors, uint32_t count) {
    mfence();
    xpu_reg_store(XPU_REG_DOORBELL_ADDRESS + XPU_REG_DOORBELL_ADDRESS_STRIDE * engine, xpu_lm_address(descriptors));
    xpu_reg_store(XPU_REG_DOORBELL_COUNT + XPU_REG_DOORBELL_COUNT_STRIDE * engine, count);
}

xpu_chain_body xpu_call_body(void) {
    return current_body;
}

const struct xpu_progress *xpu_call_progress(void) {
    return &current_progress;
}

void xpu_continue_later(int (*step)(void), uint32_t layer, uint32_t y, const struct xpu_progress *progress) {
    unfinished.step = step;
    unfinished.layer = layer;
    unfinished.y = y;
    unfinished.progress = *progress;
}

void xpu_finish_queueing(void) {
    if (!unfinished.step) return;
    while (unfinished.step()) {
    }
    unfinished.step = 0;
}

int xpu_find_progress(uint32_t layer, uint32_t y, struct xpu_progress *progress) {
    if (!unfinished.step || unfinished.layer != layer || unfinished.y != y) return 0;
    *progress = unfinished.progress;
    return 1;
}

static void run_share(const struct mailbox *call, uint32_t core, uint32_t cores) {
    xpu_reg_store(XPU_REG_LAYER, call->layer << 16);
    current_body = call->body;
    current_progress = call->progress;
    call->function(call->args, core, cores);
    xpu_dma_drain();
    xpu_signal(XPU_COUNTER_DONE, 1);
}

/* Core 0: the last layer of the range that runs. */
static uint32_t last_layer;

/* Calls the layer behind `layer`, whose ticket is `done`, where that may be. */
static void call_ahead(uint32_t layer, xpu_ticket done) {
    uint32_t next = layer + 1;
    if (next > last_layer || !xpu_layers_ahead[next]) return;
    ahead.ticket = xpu_layers[next](xpu_plan, done);
    ahead.layer = next;
}

/* Core 0 calls the next layer while it waits for the one before: then that costs no time. */
static xpu_ticket run_on_cores(const struct mailbox *call, xpu_ticket after) {
    uint32_t cores = core_num();
    int comes_by_rows = call->progress.counter != XPU_NO_COUNTER;
    /* Mailboxes are free: the call before is complete, as each call waits for its predecessor. */
    xpu_wait((xpu_ticket){XPU_COUNTER_DONE, expected[XPU_COUNTER_DONE]});
    xpu_ticket done = xpu_expect(XPU_COUNTER_DONE, cores);
    if (!comes_by_rows) {
        call_ahead(call->layer, done);
        xpu_wait(after);
    }
    for (uint32_t core = 1; core < cores; core++) *mailbox_of(core) = *call;
    xpu_signal(XPU_COUNTER_CALL, 1);
    if (comes_by_rows) {
        xpu_finish_queueing();
        call_ahead(call->layer, done);
        xpu_wait(after);
    }
    run_share(call, 0, cores);
    return done;
}

xpu_ticket xpu_run_on_cores_with(xpu_core_function function, const void *args, xpu_chain_body body, uint32_t layer,
                                 xpu_ticket after) {
    struct mailbox call = {function, args, body, layer, {.counter = XPU_NO_COUNTER}};
    xpu_finish_queueing();
    return run_on_cores(&call, after);
}

xpu_ticket xpu_run_on_cores_behind(xpu_core_function function, const void *args, uint32_t layer, xpu_ticket after,
                                   const struct xpu_progress *progress) {
    struct mailbox call = {function, args, 0, layer, *progress};
    return run_on_cores(&call, after);
}

xpu_ticket xpu_run_on_cores(xpu_core_function function, const void *args, uint32_t layer, xpu_ticket after) {
    return xpu_run_on_cores_with(function, args, 0, layer, after);
}

xpu_ticket xpu_host_call(uint32_t layer, xpu_ticket after) {
    static uint32_t request[2] __attribute__((section(".xpu_control")));
    xpu_finish_queueing();
    xpu_wait(after);
    request[0] = layer;
    mfence();
    xpu_reg_store(XPU_REG_HOST_CALL, (uint32_t)(uintptr_t)request);
    mfence();
    if (request[1] != 0) xpu_abort(request[1]);
    xpu_ticket done = xpu_expect(XPU_COUNTER_HOST, 1);
    xpu_signal(XPU_COUNTER_HOST, 1);
    return done;
}

void xpu_run_layers(uint32_t first, uint32_t last) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    last_layer = last;
    ahead.layer = 0; /* that of a range before has run */
    for (uint32_t layer = first; layer <= last; layer++) {
        xpu_reg_store(XPU_REG_LAYER, layer << 16);
        ticket = layer > 0 && layer == ahead.layer ? ahead.ticket : xpu_layers[layer](xpu_plan, ticket);
        xpu_reg_store(XPU_REG_TICKET_COUNTER, ticket.counter);
        xpu_reg_store(XPU_REG_TICKET_VALUE, ticket.value);
        xpu_reg_store(XPU_REG_TICKET_LAYER, layer);
    }
    xpu_finish_queueing();
    xpu_wait(ticket);
}

static void run(void) {
    uint32_t first = xpu_control.first_layer, last = xpu_control.last_layer;
    if (xpu_program && last == XPU_WHOLE_PROGRAM)
        xpu_program();
    else
        xpu_run_layers(first, last < xpu_layer_count ? last : xpu_layer_count - 1);
}

void xpu_core_main(void);
void xpu_core_main(void) {
    uint32_t core = core_id(), cores = core_num();
    if (core == 0) {
        run();
        xpu_reg_store(XPU_REG_EXIT, 0);
        return;
    }
    for (uint32_t call = 1;; call++) {
        xpu_wait((xpu_ticket){XPU_COUNTER_CALL, call});
        struct mailbox mine = *mailbox_of(core);
        run_share(&mine, core, cores);
    }
}
