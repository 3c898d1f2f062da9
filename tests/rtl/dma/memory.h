// The chip's memories behind line ports, with latencies and stalls that a seed draws. A write is seen when it is done,
// not before; a read sees what is there when it is taken.
#ifndef XPU_TESTS_RTL_DMA_MEMORY_H
#define XPU_TESTS_RTL_DMA_MEMORY_H

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/rtl/dma/rtl.h"

namespace dma {

struct memory {
    std::vector<uint8_t> lm = std::vector<uint8_t>(RTL_CORES * RTL_LM_BYTES);
    std::vector<uint8_t> sm = std::vector<uint8_t>(RTL_SM_BYTES);
    std::vector<uint8_t> l3 = std::vector<uint8_t>(RTL_L3_BYTES);
    std::vector<uint8_t> gm = std::vector<uint8_t>(RTL_GM_BYTES);
    uint32_t seed = 0, draws = 0, latency = 2;
    uint64_t cycle = 0;

    uint8_t *at(uint32_t address) {
        if (address >= 0x80000000u) return address - 0x80000000u < RTL_GM_BYTES ? &gm[address - 0x80000000u] : nullptr;
        if (address >= 0x40000000u) return address - 0x40000000u < RTL_L3_BYTES ? &l3[address - 0x40000000u] : nullptr;
        if (address >= 0x20000000u) return address - 0x20000000u < RTL_SM_BYTES ? &sm[address - 0x20000000u] : nullptr;
        uint32_t core = (address - 0x11000000u) >> 20, offset = address & 0xfffff;
        if (address < 0x11000000u || core >= RTL_CORES || offset >= RTL_LM_BYTES) return nullptr;
        return &lm[core * RTL_LM_BYTES + offset];
    }
    uint32_t draw(uint32_t bound) {
        draws = draws * 1664525u + 1013904223u;
        return static_cast<uint32_t>((static_cast<uint64_t>(draws) * bound) >> 32);
    }
    void start(uint32_t with) { seed = draws = with; }
};

// Requests of one port that are on their way, in order.
struct port {
    static constexpr unsigned DEPTH = 256;
    struct request {
        uint64_t due, mask;
        uint32_t address;
        uint8_t data[64];
        bool bad;
    } requests[DEPTH];
    unsigned first = 0, count = 0;
    uint32_t held = 0; // what was offered and not taken: it must not change
    bool offered = false, changed = false;

    void reset() {
        first = count = 0;
        offered = changed = false;
    }
    bool ready(memory &m) { return count < DEPTH && (m.seed == 0 || m.draw(4) != 0); }
    // Whether an answer comes in this cycle.
    bool due(memory &m) { return count && requests[first].due <= m.cycle && (m.seed == 0 || m.draw(8) != 0); }
    request &take() {
        request &r = requests[first];
        first = (first + 1) % DEPTH;
        count--;
        return r;
    }
    request &put(memory &m, uint32_t address) {
        request &r = requests[(first + count++) % DEPTH];
        r.address = address & ~63u;
        r.due = m.cycle + (m.seed == 0 ? m.latency : 1 + (m.draw(8) == 0 ? m.draw(60) : m.draw(4)));
        r.bad = m.at(r.address) == nullptr;
        return r;
    }
    template <typename W>
    void read(memory &m, bool valid, bool ready, uint32_t address, CData &done, CData &error, W &data) {
        if (valid && ready) {
            request &r = put(m, address);
            if (!r.bad) memcpy(r.data, m.at(r.address), 64);
        }
        watch(valid, ready, address);
        done = due(m);
        if (done) {
            request &r = take();
            error = r.bad;
            memcpy(&data[0], r.data, 64);
        }
    }
    template <typename W>
    void write(memory &m, bool valid, bool ready, uint32_t address, uint64_t mask, const W &data, CData &done,
               CData &error) {
        if (valid && ready) {
            request &r = put(m, address);
            r.mask = mask;
            memcpy(r.data, &data[0], 64);
        }
        watch(valid, ready, address ^ static_cast<uint32_t>(mask) ^ data[0] ^ data[15]);
        done = due(m);
        if (done) {
            request &r = take();
            error = r.bad;
            uint8_t *to = m.at(r.address);
            if (!r.bad && r.mask == ~0ull)
                memcpy(to, r.data, 64);
            else if (!r.bad)
                for (unsigned i = 0; i < 64; i++)
                    if (r.mask >> i & 1) to[i] = r.data[i];
        }
    }
    void watch(bool valid, bool ready, uint32_t what) {
        if (offered && (!valid || what != held)) changed = true;
        offered = valid && !ready;
        held = what;
    }
};

} // namespace dma

#endif
