/* What the cores do between start and exit: core 0 walks the layers, the others serve their mailboxes. */
#include <riscv_vector.h>

#include "xpu_runtime/include/xpu_device.h"

enum { STACK_BYTES = 4096 }; /* a generated chain may keep eight vector groups of 256 bytes there */

extern uint8_t xpu_bss_end[];
extern const uint32_t xpu_plan[];

/* Filled by the runtime before the start. */
__attribute__((section(".xpu_control"), used)) volatile struct xpu_control xpu_control = {0, 0};

/* What a mailbox in SM holds: a line of it, which is written and read at once. */
struct mailbox {
    _Alignas(XPU_MAILBOX_BYTES) xpu_core_function function;
    const void *args;
    xpu_chain_body body;
    uint32_t layer;
    struct xpu_progress progress; /* of the operand */
};
_Static_assert(sizeof(struct mailbox) == XPU_MAILBOX_BYTES, "a call fits a mailbox");

static uint32_t last_layer; /* core 0: of the range that runs */
/* Core 0: the value that each counter of layers reaches when all that was queued is done. */
static uint32_t expected[XPU_COUNTER_CORE_LOAD];
static struct mailbox current; /* the call that runs on this core */
uint32_t xpu_layer_now;
xpu_ticket xpu_engines_done = {XPU_NO_COUNTER, 0};

/* Core 0: the layer that has not queued all of its descriptors. */
static struct {
    int (*step)(void); /* 0: there is none */
    uint32_t layer, y;
    struct xpu_progress progress;
} unfinished;

/* Core 0: a layer's arguments are fetched from the plan table one layer ahead, to SM behind the mailboxes, where all
 * cores read them. */
enum { ARGS_PLACES = 3, ARGS_WORDS = 56, ENTRIES = 16 };
static struct {
    uint32_t places;            /* that there is room for */
    uint32_t busy[ARGS_PLACES]; /* a place is free when DONE has reached this */
    uint32_t entries[ENTRIES];  /* of xpu_layer_args, for layers block * ENTRIES .. */
    uint32_t block;             /* + 1; 0: none is there */
    uint32_t layer;             /* + 1: whose arguments come; 0: none */
    uint32_t place, word;       /* where to, and from where in the plan table */
    uint32_t ready;             /* what ARGS is then */
    uint32_t done;              /* what DONE is known to have reached */
    uint32_t *copy, first;      /* the copy that fetches, on the stack; the first place's address */
} fetched;

/* Core 0: the layer that was called ahead or needs no call, 0: none, and its ticket. */
static struct {
    uint32_t layer;
    xpu_ticket ticket;
} ahead;

static struct mailbox *mailbox_of(uint32_t core) {
    return (struct mailbox *)(XPU_SM_BASE + XPU_MAILBOX_BYTES * core);
}

static inline void copy_mailbox(struct mailbox *to, const struct mailbox *from) {
    size_t vl = __riscv_vsetvl_e32m1(XPU_MAILBOX_BYTES / 4);
    __riscv_vse32_v_u32m1((uint32_t *)to, __riscv_vle32_v_u32m1((const uint32_t *)from, vl), vl);
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

xpu_chain_body xpu_call_body(void) {
    return current.body;
}

const struct xpu_progress *xpu_call_progress(void) {
    return &current.progress;
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

int (*xpu_take_over(uint32_t layer, uint32_t y, struct xpu_progress *progress))(void) {
    if (!xpu_find_progress(layer, y, progress)) return 0;
    int (*step)(void) = unfinished.step;
    unfinished.step = 0;
    return step;
}

int xpu_find_progress(uint32_t layer, uint32_t y, struct xpu_progress *progress) {
    if (!unfinished.step || unfinished.layer != layer || unfinished.y != y) return 0;
    *progress = unfinished.progress;
    return 1;
}

static void run_share(uint32_t core, uint32_t cores) {
    xpu_layer_now = current.layer;
    xpu_reg_store(XPU_REG_LAYER, current.layer << 16);
    current.function(current.args, core, cores);
    xpu_dma_drain();
    xpu_signal(XPU_COUNTER_DONE, 1);
}

/* 0: it has no arguments, or more than fit a place. */
static uint32_t entry_of(uint32_t layer) {
    uint32_t block = layer / ENTRIES + 1;
    if (fetched.block != block) {
        size_t vl = __riscv_vsetvl_e32m1(ENTRIES);
        __riscv_vse32_v_u32m1(fetched.entries, __riscv_vle32_v_u32m1(xpu_layer_args + layer / ENTRIES * ENTRIES, vl),
                              vl);
        fetched.block = block;
    }
    const uint32_t entry = fetched.entries[layer % ENTRIES];
    return entry % XPU_LAYER_ARGS_LIMIT - 1 < ARGS_WORDS ? entry : 0;
}

static uint32_t place_at(uint32_t place) {
    return fetched.first + 4 * ARGS_WORDS * place;
}

static xpu_ticket fetched_ready(void) {
    return (xpu_ticket){XPU_COUNTER_ARGS, fetched.ready};
}

static void prepare_fetching(uint32_t cores, uint32_t *copy) {
    const uint32_t room = XPU_MAILBOX_BYTES * (XPU_MAX_CORES - cores) / (4 * ARGS_WORDS);
    fetched.places = room < ARGS_PLACES ? room : ARGS_PLACES;
    fetched.first = XPU_SM_BASE + XPU_MAILBOX_BYTES * cores;
    fetched.copy = copy;
    xpu_load_template(copy);
    xpu_desc_copy_set_signal(copy, XPU_COUNTER_ARGS);
    xpu_desc_copy_set_size2(copy, 1);
}

/* Of the layer, or where it has none, of the one behind it. */
static void fetch_args(uint32_t layer) {
    uint32_t entry = entry_of(layer);
    if (!entry && layer < last_layer) entry = entry_of(++layer);
    if (fetched.layer) {
        if (fetched.layer == layer + 1) return;
        xpu_wait(fetched_ready());
        fetched.layer = 0;
    }
    if (!entry) return;
    const uint32_t place = fetched.place + 1 < fetched.places ? fetched.place + 1 : 0;
    if ((int32_t)(fetched.busy[place] - fetched.done) > 0) {
        fetched.done = fetched.busy[place];
        xpu_wait((xpu_ticket){XPU_COUNTER_DONE, fetched.done});
    }
    fetched.layer = layer + 1;
    fetched.place = place;
    fetched.word = entry / XPU_LAYER_ARGS_LIMIT;
    uint32_t *copy = fetched.copy;
    xpu_desc_copy_set_layer(copy, layer);
    SET_ADDRESS(copy, copy, src, (uint32_t)(uintptr_t)(xpu_plan + fetched.word));
    SET_ADDRESS(copy, copy, dst, place_at(place));
    xpu_desc_copy_set_size3(copy, entry % XPU_LAYER_ARGS_LIMIT);
    xpu_enqueue(XPU_ENGINE_DMA0, copy, 1);
    fetched.ready++;
}

/* Calls a layer; its arguments are found in SM if they have been fetched. The next one's are fetched where that layer's
 * place is free: with three places, also while the layer before this one runs. */
static __attribute__((noinline)) xpu_ticket call_layer(uint32_t layer, xpu_ticket after, uint32_t least_places) {
    const uint32_t *plan = xpu_plan;
    uint32_t place = fetched.place;
    if (fetched.layer == layer + 1) {
        xpu_wait(fetched_ready());
        fetched.layer = 0;
        plan = (const uint32_t *)(uintptr_t)(place_at(place) - 4 * fetched.word);
    }
    if (layer < last_layer && fetched.places >= least_places) fetch_args(layer + 1);
    xpu_ticket done = xpu_layers[layer](plan, after);
    fetched.busy[place] = expected[XPU_COUNTER_DONE];
    return done;
}

void xpu_needs_no_call(uint32_t layer, xpu_ticket ticket) {
    ahead.layer = layer;
    ahead.ticket = ticket;
}

/* Calls the layer behind `layer`, whose ticket is `done`, where that may be. */
static void call_ahead(uint32_t layer, xpu_ticket done) {
    uint32_t next = layer + 1;
    if (next > last_layer || !xpu_layers_ahead[next]) return;
    ahead.ticket = call_layer(next, done, 3);
    ahead.layer = next;
}

/* Core 0 calls the next layer while it waits for the one before: then that costs no time. */
static xpu_ticket run_on_cores(xpu_ticket after) {
    uint32_t cores = core_num();
    int comes_by_rows = current.progress.counter != XPU_NO_COUNTER;
    /* Mailboxes are free: the call before is complete, as each call waits for its predecessor. */
    xpu_wait((xpu_ticket){XPU_COUNTER_DONE, expected[XPU_COUNTER_DONE]});
    xpu_ticket done = xpu_expect(XPU_COUNTER_DONE, cores);
    if (!comes_by_rows) {
        call_ahead(current.layer, done);
        if (after.counter != XPU_COUNTER_DONE) xpu_wait(after);
    }
    for (uint32_t core = 1; core < cores; core++) copy_mailbox(mailbox_of(core), &current);
    xpu_signal(XPU_COUNTER_CALL, 1);
    if (comes_by_rows) {
        xpu_finish_queueing();
        call_ahead(current.layer, done);
        xpu_wait(after);
    }
    run_share(0, cores);
    return done;
}

static void set_call(xpu_core_function function, const void *args, xpu_chain_body body, uint32_t layer) {
    current.function = function;
    current.args = args;
    current.body = body;
    current.layer = layer;
}

xpu_ticket xpu_run_on_cores_with(xpu_core_function function, const void *args, xpu_chain_body body, uint32_t layer,
                                 xpu_ticket after) {
    set_call(function, args, body, layer);
    current.progress.counter = XPU_NO_COUNTER;
    xpu_finish_queueing();
    return run_on_cores(after);
}

xpu_ticket xpu_run_on_cores_behind(xpu_core_function function, const void *args, xpu_chain_body body, uint32_t layer,
                                   xpu_ticket after, const struct xpu_progress *progress) {
    set_call(function, args, body, layer);
    current.progress = *progress;
    return run_on_cores(after);
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

__attribute__((noinline)) void xpu_run_layers(uint32_t first, uint32_t last) {
    xpu_ticket ticket = {XPU_COUNTER_CALL, 0};
    last_layer = last;
    ahead.layer = 0; /* that of a range before has run */
    fetch_args(first);
    for (uint32_t layer = first; layer <= last; layer++) {
        xpu_reg_store(XPU_REG_LAYER, layer << 16);
        ticket = layer > 0 && layer == ahead.layer ? ahead.ticket : call_layer(layer, ticket, 2);
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
    uint32_t core = core_id(), cores = core_num(), copy[XPU_DESC_WORDS]; /* core 0: that fetches arguments */
    xpu_dma_begin();
    if (core == 0) {
        prepare_fetching(cores, copy);
        run();
        xpu_reg_store(XPU_REG_EXIT, 0);
        return;
    }
    for (uint32_t call = 1;; call++) {
        xpu_wait((xpu_ticket){XPU_COUNTER_CALL, call});
        copy_mailbox(&current, mailbox_of(core));
        run_share(core, cores);
    }
}
