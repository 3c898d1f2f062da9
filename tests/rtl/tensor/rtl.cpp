#include "tests/rtl/tensor/rtl.h"

#include <cstring>
#include <vector>

#include TOP_HEADER // Vtensor.h or Vwindow.h
#include TOP_INSIDE // Vtensor___024root.h or Vwindow___024root.h
#include "tests/rtl/bare/bare.h"
#include "verilated.h"

void TOP_CLOCKED(TOP_ROOT *); // Verilator's function for what clocks have triggered

namespace {

// Answers of one port, in order: what was accepted, and the cycle in which each answer may come.
struct port {
    static constexpr unsigned DEPTH = 64;
    uint32_t address[DEPTH];
    uint64_t due[DEPTH];
    unsigned first = 0, count = 0;
    void put(uint32_t a, uint64_t when) {
        address[(first + count) % DEPTH] = a;
        due[(first + count++) % DEPTH] = when;
    }
    uint32_t take() {
        uint32_t a = address[first];
        first = (first + 1) % DEPTH;
        count--;
        return a;
    }
};

} // namespace

struct rtl {
    VerilatedContext context;
    TOP top{&context};
    std::vector<uint8_t> sm = std::vector<uint8_t>(RTL_SM_BYTES + 64);
    std::vector<uint8_t> l3 = std::vector<uint8_t>(RTL_L3_BYTES + 64);
    uint8_t scrap[64];
    uint64_t cycle = 0;
    uint32_t seed = 0, draws = 0;
    port x, w, s, y;

    uint8_t *line(uint32_t address) {
        if (address - 0x20000000u < RTL_SM_BYTES) return &sm[address - 0x20000000u];
        if (address - 0x40000000u < RTL_L3_BYTES) return &l3[address - 0x40000000u];
        return scrap;
    }
    uint32_t draw(uint32_t bound) {
        draws = draws * 1664525u + 1013904223u;
        return static_cast<uint32_t>((static_cast<uint64_t>(draws) * bound) >> 32);
    }
    bool is_ready(const port &p) { return p.count < port::DEPTH - 1 && (seed == 0 || draw(4) != 0); }
    uint64_t due() { return cycle + 2 + (seed == 0 ? 0 : draw(8) == 0 ? draw(30) : draw(3)); }
    template <typename W> void answer(port &p, CData &done, W &rdata) {
        done = p.count && p.due[p.first] <= cycle && (seed == 0 || draw(8) != 0);
        if (done) memcpy(&rdata[0], line(p.take()), 64);
    }
    void write(uint32_t address) {
        uint8_t *to = line(address);
        const uint8_t *from = reinterpret_cast<const uint8_t *>(&top.y_wdata[0]);
        for (unsigned i = 0; i < 64; i++)
            if (top.y_mask >> i & 1) to[i] = from[i];
    }
    void step() {
        top.x_ready = is_ready(x);
#if TOP_HAS_W
        top.w_ready = is_ready(w);
#endif
        top.s_ready = is_ready(s);
        top.y_ready = is_ready(y);
        answer(x, top.x_done, top.x_rdata);
        answer(s, top.s_done, top.s_rdata);
        top.y_done = y.count && y.due[y.first] <= cycle;
        if (top.y_done) y.take();
        if (top.x_valid && top.x_ready) x.put(top.x_address, due());
#if TOP_HAS_W
        answer(w, top.w_done, top.w_rdata);
        if (top.w_valid && top.w_ready) w.put(top.w_address, due());
#endif
        if (top.s_valid && top.s_ready) s.put(top.s_address, due());
        if (top.y_valid && top.y_ready) {
            write(top.y_address);
            y.put(top.y_address, due());
        }
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
        cycle++;
    }
    void reset() {
        top.rst = 1;
        top.desc_valid = 0;
        top.cycles_per_edge = 1;
        x.count = w.count = s.count = y.count = 0;
        step();
        step();
        top.rst = 0;
    }
};

rtl *rtl_create(void) {
    return new rtl;
}

void rtl_destroy(rtl *r) {
    Verilated::threadContextp(&r->context); // the bare array has made its own the current one
    delete r;
}

uint8_t *rtl_memory(rtl *r, uint32_t address) {
    return r->line(address);
}

rtl_result rtl_run(rtl *r, const uint32_t *words, size_t count, uint32_t seed) {
    rtl_result result = {};
    r->seed = 0;
    r->reset();
    r->seed = r->draws = seed;
    size_t next = 0;
    bool offered = false; // stays until the descriptor is taken
    uint64_t quiet_for = 0, begin = r->cycle;
    double start = bare_now();
    while (result.done < count && !result.fault && !result.hung) {
        offered = next < count && (offered || seed == 0 || r->draw(4) != 0);
        r->top.desc_valid = offered;
        if (r->top.desc_valid) memcpy(&r->top.desc[0], words + 32 * next, 128);
        bool taken = r->top.desc_valid && r->top.desc_ready;
        r->step();
        next += taken;
        if (taken) offered = false;
        result.states[r->top.state < RTL_STATES ? r->top.state : 0]++;
        quiet_for = r->top.desc_done || r->top.state == 0 ? 0 : quiet_for + 1;
        result.done += r->top.desc_done;
        result.fault = r->top.fault_valid ? r->top.fault_cause : 0;
        result.fault_address = r->top.fault_address;
        result.hung = quiet_for > 20000;
    }
    result.ns = bare_now() - start;
    result.cycles = r->cycle - begin;
    return result;
}

double rtl_asleep(rtl *r, uint64_t cycles) {
    r->seed = 0;
    r->reset();
    for (unsigned i = 0; i < 10; i++) r->step();
    double ns[2]; // without an edge of the clock, with one
    for (unsigned edge = 0; edge < 2; edge++) {
        r->top.rootp->__VnbaTriggered.at(0) = edge != 0;
        double start = bare_now();
        for (uint64_t i = 0; i < cycles; i++) TOP_CLOCKED(r->top.rootp);
        ns[edge] = (bare_now() - start) / static_cast<double>(cycles);
    }
    return ns[1] - ns[0];
}
