#include "tests/rtl/dma/rtl.h"

#include "Vdma.h"
#include "Vpair.h"
#include "tests/rtl/dma/memory.h"
#include "tests/rtl/bare/bare.h"
#include "verilated.h"

struct rtl {
    VerilatedContext context;
    Vdma top{&context};
    Vpair pair{&context};
    dma::memory memory;
    dma::port r, w, q, r1, w1;
    struct {
        uint32_t next[3];                  // index + 1 of the next completed list of this core's queue
        std::vector<uint32_t> expected[3]; // addresses of descriptors in the order of completion
        size_t done[3];
    } cores[RTL_CORES];
    uint32_t counters[64];
    uint32_t completed = 0;
    bool wrong_order = false, not_quiet = false;

    // What must stay in a cycle for which `quiet` was said.
    uint64_t outputs() {
        return top.r_valid | top.w_valid << 1 | top.desc_ready << 2 | top.desc_done << 3 | top.fault_valid << 4 |
               top.state << 5 | static_cast<uint64_t>(top.r_address ^ top.w_address) << 32;
    }
    uint64_t outputs_pair() {
        return pair.q_valid | pair.r0_valid << 1 | pair.r1_valid << 2 | pair.w0_valid << 3 | pair.w1_valid << 4 |
               pair.rsp_valid << 5 | pair.fault_valid << 6 | pair.state << 7 |
               static_cast<uint64_t>(pair.q_address ^ pair.r0_address ^ pair.w1_address ^ completed) << 32;
    }
    void step() {
        bool r_ready = top.r_ready, w_ready = top.w_ready;
        r.read(memory, top.r_valid, r_ready, top.r_address, top.r_done, top.r_error, top.r_rdata);
        w.write(memory, top.w_valid, w_ready, top.w_address, top.w_mask, top.w_wdata, top.w_done, top.w_error);
        if (memory.seed) top.eval();
        bool quiet = memory.seed && top.quiet;
        uint64_t before = outputs();
        top.clk = 1;
        top.eval();
        if (quiet && before != outputs()) not_quiet = true;
        top.clk = 0;
        top.r_ready = r.ready(memory);
        top.w_ready = w.ready(memory);
        top.eval();
        memory.cycle++;
    }
    void step_pair() {
        q.read(memory, pair.q_valid, pair.q_ready, pair.q_address, pair.q_done, pair.q_error, pair.q_rdata);
        r.read(memory, pair.r0_valid, pair.r0_ready, pair.r0_address, pair.r0_done, pair.r0_error, pair.r0_rdata);
        w.write(memory, pair.w0_valid, pair.w0_ready, pair.w0_address, pair.w0_mask, pair.w0_wdata, pair.w0_done,
                pair.w0_error);
        r1.read(memory, pair.r1_valid, pair.r1_ready, pair.r1_address, pair.r1_done, pair.r1_error, pair.r1_rdata);
        w1.write(memory, pair.w1_valid, pair.w1_ready, pair.w1_address, pair.w1_mask, pair.w1_wdata, pair.w1_done,
                 pair.w1_error);
        if (memory.seed) pair.eval();
        bool quiet = memory.seed && pair.quiet;
        uint64_t before = outputs_pair();
        pair.clk = 1;
        pair.eval();
        if (quiet && before != outputs_pair()) not_quiet = true;
        pair.clk = 0;
        pair.q_ready = q.ready(memory);
        pair.r0_ready = r.ready(memory);
        pair.w0_ready = w.ready(memory);
        pair.r1_ready = r1.ready(memory);
        pair.w1_ready = w1.ready(memory);
        pair.eval();
        memory.cycle++;
    }
    void reset(uint32_t seed, uint32_t latency) {
        not_quiet = false;
        memory.start(0);
        memory.latency = latency;
        top.rst = pair.rst = 1;
        top.desc_valid = pair.req_valid = 0;
        top.cycles_per_edge = pair.cycles_per_edge = 1;
        top.r_ready = top.w_ready = top.r_done = top.w_done = 0;
        pair.q_ready = pair.r0_ready = pair.w0_ready = pair.r1_ready = pair.w1_ready = 0;
        pair.q_done = pair.r0_done = pair.w0_done = pair.r1_done = pair.w1_done = 0;
        for (int i = 0; i < 6; i++) {
            top.clk = pair.clk = !(i & 1);
            top.eval();
            pair.eval();
        }
        for (dma::port *p : {&r, &w, &q, &r1, &w1}) p->reset();
        top.rst = pair.rst = 0;
        memory.start(seed);
    }
};

static rtl *current;

extern "C" {
void xpu_dpi_counter(unsigned long long, unsigned counter, unsigned value) {
    current->counters[counter] = value;
}
int xpu_dpi_ticket(unsigned long long, unsigned, unsigned, unsigned) {
    return 1;
}
void xpu_dpi_put(unsigned long long, unsigned) {}
void xpu_dpi_complete(unsigned long long, unsigned engine, unsigned core, unsigned descriptor, unsigned, unsigned,
                      unsigned) {
    auto &c = current->cores[core];
    if (c.done[engine] >= c.expected[engine].size() || c.expected[engine][c.done[engine]] != descriptor)
        current->wrong_order = true;
    c.done[engine]++;
    current->completed++;
}
}

rtl *rtl_create(void) {
    return new rtl;
}

void rtl_destroy(rtl *r) {
    Verilated::threadContextp(&r->context); // scopes, which assertions have, leave the context of the thread
    delete r;
}

uint8_t *rtl_memory(rtl *r, uint32_t address) {
    return r->memory.at(address);
}

uint32_t rtl_counter(rtl *r, unsigned counter) {
    return r->counters[counter];
}

rtl_result rtl_run(rtl *r, const uint32_t *words, size_t count, uint32_t seed, uint32_t latency) {
    rtl_result result = {};
    dma::memory &m = r->memory;
    r->reset(seed, latency);
    size_t next = 0;
    bool offered = false; // stays until the descriptor is taken
    uint64_t quiet_for = 0, begin = m.cycle;
    double start = bare_now();
    while (result.done < count && !result.fault && !result.hung) {
        bool again = !offered; // a new descriptor comes a cycle after the one before it
        offered = next < count && (offered || seed == 0 || m.draw(4) != 0);
        r->top.desc_valid = offered;
        if (offered && again) memcpy(&r->top.desc[0], words + 32 * next, 128);
        bool taken = offered && r->top.desc_ready;
        r->step();
        next += taken;
        if (taken) offered = false;
        if (taken) r->top.desc_valid = 0;
        result.states[r->top.state < RTL_STATES ? r->top.state : 0]++;
        quiet_for = r->top.desc_done ? 0 : quiet_for + 1;
        result.done += r->top.desc_done;
        result.fault = r->top.fault_valid ? r->top.fault_cause : 0;
        result.fault_address = r->top.fault_address;
        result.hung = quiet_for > 60000;
    }
    result.ns = bare_now() - start;
    result.cycles = m.cycle - begin;
    result.unclean = r->not_quiet || r->r.changed || r->w.changed || (!result.fault && r->w.count);
    return result;
}

rtl_result rtl_run_lists(rtl *r, const rtl_list *lists, size_t count, uint32_t seed, uint32_t latency) {
    rtl_result result = {};
    dma::memory &m = r->memory;
    size_t next[RTL_CORES] = {}, step[RTL_CORES] = {}, total = 0;
    bool waits[RTL_CORES] = {};
    current = r;
    r->completed = 0;
    r->wrong_order = false;
    memset(r->counters, 0, sizeof r->counters);
    for (auto &c : r->cores)
        for (unsigned e = 0; e < 3; e++) c.expected[e].clear(), c.done[e] = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < lists[i].count; k++, total++)
            r->cores[lists[i].core].expected[lists[i].engine].push_back(lists[i].address + 128 * k);
    r->reset(seed, latency);
    uint64_t quiet_for = 0, begin = m.cycle;
    double start = bare_now();
    while (r->completed < total && !result.fault && !result.hung) {
        uint32_t before = r->completed;
        // one access per cycle: ADDRESS and COUNT of each core's next list
        r->pair.req_valid = 0;
        for (unsigned core = 0; core < RTL_CORES && !r->pair.req_valid; core++) {
            size_t &i = next[core];
            while (i < count && lists[i].core != core) i++;
            if (i >= count || waits[core] || (seed && m.draw(4) == 0)) continue;
            r->pair.req_valid = r->pair.req_write = 1;
            r->pair.req_core = static_cast<CData>(core);
            r->pair.req_offset = static_cast<SData>(0x300 + 16 * lists[i].engine + 4 * step[core]);
            r->pair.req_wdata = step[core] ? lists[i].count : lists[i].address;
            waits[core] = true;
            if (step[core]) i++;
            step[core] ^= 1;
        }
        r->step_pair();
        if (r->pair.rsp_valid) {
            waits[r->pair.rsp_core] = false;
            if (r->pair.rsp_error) result.unclean = 1;
        }
        result.states[(r->pair.state & 31) < RTL_STATES ? r->pair.state & 31 : 0]++;
        quiet_for = before != r->completed ? 0 : quiet_for + 1;
        result.fault = r->pair.fault_valid ? r->pair.fault_cause : 0;
        result.fault_address = r->pair.fault_address;
        result.fault_descriptor = r->pair.fault_descriptor;
        result.fault_layer = r->pair.fault_layer;
        result.hung = quiet_for > 60000;
    }
    r->pair.req_valid = 0;
    result.ns = bare_now() - start;
    result.cycles = m.cycle - begin;
    result.done = r->completed;
    for (int i = 0; i < 4; i++) r->step_pair(); // the last signal reaches its counter
    // DOORBELL_STATUS: no lists are left
    for (unsigned i = 0; i < 2 * RTL_CORES && !result.fault && !result.hung; i++) {
        r->pair.req_valid = 1;
        r->pair.req_write = 0;
        r->pair.req_core = static_cast<CData>(i / 2);
        r->pair.req_offset = static_cast<SData>(0x308 + 16 * (i & 1));
        do {
            r->step_pair();
            r->pair.req_valid = 0;
        } while (!r->pair.rsp_valid);
        if (r->pair.rsp_error || r->pair.rsp_rdata) result.unclean = 1;
        r->step_pair();
    }
    for (dma::port *p : {&r->r, &r->w, &r->q, &r->r1, &r->w1})
        if (p->changed) result.unclean = 1;
    if (r->wrong_order || r->not_quiet) result.unclean = 1;
    return result;
}

double rtl_memories(rtl *r, uint64_t cycles) {
    dma::memory &m = r->memory;
    CData done, error;
    r->reset(0, 100);
    double start = bare_now();
    for (uint64_t i = 0; i < cycles; i++, m.cycle++) {
        uint32_t offset = static_cast<uint32_t>(i % 1024 * 64);
        r->r.read(m, true, r->r.ready(m), 0x80020000u + offset, done, error, r->top.r_rdata);
        r->w.write(m, true, r->w.ready(m), 0x20010000u + offset, ~0ull, r->top.w_wdata, done, error);
    }
    return (bare_now() - start) / static_cast<double>(cycles);
}

double rtl_idle(rtl *r, uint64_t cycles) {
    r->reset(0, 2);
    for (int i = 0; i < 10; i++) r->step();
    double start = bare_now();
    for (uint64_t i = 0; i < cycles; i++) r->top.clk = 1, r->top.eval(), r->top.clk = 0, r->top.eval();
    return (bare_now() - start) / static_cast<double>(cycles);
}

double rtl_idle_lists(rtl *r, uint64_t cycles) {
    current = r;
    r->reset(0, 2);
    for (int i = 0; i < 10; i++) r->step_pair();
    double start = bare_now();
    for (uint64_t i = 0; i < cycles; i++) r->pair.clk = 1, r->pair.eval(), r->pair.clk = 0, r->pair.eval();
    return (bare_now() - start) / static_cast<double>(cycles);
}
