// The clock, the memories and the bus of the test bench.
#include "tests/rtl/core/bench.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#ifdef BENCH_PROCESSOR
#include "Vxpu_processor.h"
#include "Vxpu_processor___024root.h"
using Core = Vxpu_processor;
#else
#include "Vxpu_core.h"
using Core = Vxpu_core;
#endif
#include "verilated.h"

namespace {

struct Region {
    uint32_t base, bytes;
    std::vector<uint8_t> copies[2];
};
Region regions[] = {{BENCH_LM, BENCH_LM_BYTES, {}},
                    {BENCH_SM, BENCH_SM_BYTES, {}},
                    {BENCH_L3, BENCH_L3_BYTES, {}},
                    {BENCH_GM, BENCH_GM_BYTES, {}}};

// One request at a time: taken after a while, answered after another.
struct Port {
    bool taken = false;
    uint32_t wait = 0;
    bool chosen = false;
};

// An instruction line that was asked for: answered in the cycle `due` or later, in the order of the requests.
struct Line {
    uint64_t due;
    uint32_t address;
    bool error;
    uint8_t bytes[64];
};

class Bench {
  public:
    bench_result run(uint32_t entry, const bench_options &options);

  private:
    void edge();
    void bus();
    void fetch();
    uint32_t step() const;
    void outer_traffic();
    void retire();
    void load_lm();
    bool compare_memories();
    uint32_t chance(uint32_t bound) { return bench_random(&outer_seed_) % bound; }
    uint32_t delay(uint32_t bound) { return seed_ ? bench_random(&seed_) % bound : 0; }

    VerilatedContext context_;
    std::unique_ptr<Core> core_{new Core{&context_}};
    bench_options options_{};
    bench_result result_{};
    uint64_t seed_ = 0, outer_seed_ = 0, registers_seed_ = 1;
    Port bus_;
    std::deque<Line> lines_;
    bool line_waits_ = false; // a line is asked for, and taken in the cycle line_taken_
    uint64_t line_taken_ = 0;
    uint64_t cycles_ = 0;
    bool outer_read_ = false;
    bool outer_waits_ = false; // a request stands at the port of the LM
    uint32_t outer_line_ = 0;
    uint8_t outer_[BENCH_LM_BYTES]; // what the outer port has written
};

void Bench::edge() {
    core_->clk = 1;
    core_->eval();
    core_->clk = 0;
    core_->eval();
    result_.edges++;
    cycles_ += core_->cycles_per_edge;
    result_.lost[core_->state] += core_->cycles_per_edge;
}

// Whether the registers answer, with what.
uint32_t register_access(uint32_t address, bool write, bool *error) {
    uint32_t offset = address - BENCH_REGISTERS;
    *error = offset >= BENCH_REGISTER_BYTES || (write && offset == BENCH_ABORT);
    return offset == BENCH_ABORT ? 5 : 0; // XPU_FAULT_ABORT
}

void Bench::bus() {
    core_->bus_ready = core_->bus_done = core_->bus_error = 0;
    if (!bus_.taken) {
        if (!core_->bus_valid) return;
        if (!bus_.chosen) {
            bus_.chosen = true;
            bus_.wait = delay(4);
        }
        if (bus_.wait) {
            bus_.wait -= core_->cycles_per_edge;
            return;
        }
        core_->bus_ready = 1;
        bus_.taken = true;
        bus_.wait = delay(2) ? delay(30) : 0;
        if (bus_.wait) return;
    } else if (bus_.wait > core_->cycles_per_edge) {
        bus_.wait -= core_->cycles_per_edge;
        return;
    }
    bus_.taken = bus_.chosen = false;
    core_->bus_done = 1;
    uint32_t line = core_->bus_address & ~63u;
    uint8_t *memory = bench_memory(0, line, 64);
    if (memory && line - BENCH_LM >= BENCH_LM_BYTES) {
        auto *data = reinterpret_cast<uint8_t *>(&core_->bus_rdata[0]);
        std::memcpy(data, memory, 64);
        if (core_->bus_write) {
            auto *from = reinterpret_cast<const uint8_t *>(&core_->bus_wdata[0]);
            for (unsigned i = 0; i < 64; i++)
                if (core_->bus_mask >> i & 1) memory[i] = from[i];
        }
        return;
    }
    bool error = false;
    uint32_t value = register_access(core_->bus_address, core_->bus_write, &error);
    core_->bus_error = error;
    uint32_t word = core_->bus_address >> 2 & 15;
    if (!error) {
        value = bench_random(&registers_seed_);
        if (core_->bus_write && core_->bus_address == BENCH_REGISTERS + BENCH_EXIT)
            result_.exit_status = core_->bus_wdata[word];
    }
    for (unsigned i = 0; i < 16; i++) core_->bus_rdata[i] = value;
}

void Bench::fetch() {
    core_->fetch_ready = core_->fetch_done = 0;
    if (core_->fetch_valid) {
        if (!line_waits_) {
            line_waits_ = true;
            line_taken_ = cycles_ + delay(3);
        }
        if (cycles_ >= line_taken_) {
            core_->fetch_ready = 1;
            line_waits_ = false;
            // the line as it is now: later stores do not reach it
            Line line{cycles_ + options_.fetch_latency + (delay(4) ? delay(40) : 0), core_->fetch_address, false, {}};
            const uint8_t *memory = line.address >= BENCH_GM ? bench_memory(0, line.address, 64) : nullptr;
            line.error = memory == nullptr;
            if (memory) std::memcpy(line.bytes, memory, 64);
            for (const Line &other : lines_) result_.fetched_twice += other.address == line.address;
            result_.fetched++;
            lines_.push_back(line);
        }
    }
    if (lines_.empty() || lines_.front().due > cycles_) return;
    core_->fetch_done = 1;
    core_->fetch_error = lines_.front().error;
    std::memcpy(&core_->fetch_rdata[0], lines_.front().bytes, 64);
    lines_.pop_front();
}

// How many cycles the next edge stands for: nothing happens before the next answer.
uint32_t Bench::step() const {
    if (!options_.skip || !core_->quiet || core_->start || outer_waits_) return 1;
    uint64_t next = UINT64_MAX;
    if (core_->bus_valid && !bus_.chosen) return 1;
    if (core_->fetch_valid && !line_waits_) return 1;
    if (bus_.chosen) next = cycles_ + (bus_.wait ? bus_.wait - 1 : 0);
    if (line_waits_ && line_taken_ < next) next = line_taken_;
    if (!lines_.empty() && lines_.front().due < next) next = lines_.front().due;
    return next != UINT64_MAX && next > cycles_ ? static_cast<uint32_t>(next - cycles_) : 1;
}

// Other users of the LM, in lines that the program does not touch.
void Bench::outer_traffic() {
    if (core_->lmx_done && outer_read_) {
        if (std::memcmp(&core_->lmx_rdata[0], outer_ + outer_line_, 64) != 0) {
            std::printf("cycle %llu: the outer port reads a wrong line at %05x\n",
                        static_cast<unsigned long long>(cycles_), outer_line_);
            result_.equal = 0;
        }
        outer_read_ = false;
    }
    if (core_->lmx_done == 0 && outer_read_) {
        std::printf("cycle %llu: no answer of the outer port\n", static_cast<unsigned long long>(cycles_));
        result_.equal = 0;
        outer_read_ = false;
    }
    if (!outer_waits_) {
        core_->lmx_valid = 0;
        if (!seed_ || chance(4) || core_->cycles_per_edge != 1) return;
        core_->lmx_valid = 1;
        core_->lmx_address = BENCH_LM_SHARED + chance((BENCH_LM_BYTES - BENCH_LM_SHARED) / 64) * 64;
        core_->lmx_write = chance(2) == 0;
        core_->lmx_mask = static_cast<uint64_t>(bench_random(&outer_seed_)) << 32 | bench_random(&outer_seed_);
        if (chance(3) == 0) core_->lmx_mask = ~0ull;
        for (unsigned i = 0; i < 16; i++) core_->lmx_wdata[i] = bench_random(&outer_seed_);
    }
    core_->eval();
    outer_waits_ = !core_->lmx_ready;
    if (outer_waits_) return;
    const uint32_t line = core_->lmx_address;
    outer_read_ = !core_->lmx_write;
    outer_line_ = line;
    auto *from = reinterpret_cast<const uint8_t *>(&core_->lmx_wdata[0]);
    for (unsigned i = 0; core_->lmx_write && i < 64; i++)
        if (core_->lmx_mask >> i & 1) outer_[line + i] = from[i];
}

void Bench::retire() {
    if (!core_->rvfi_valid) return;
    result_.instructions++;
    if (!options_.lockstep || !result_.equal) return;
    bench_retired r{};
    r.cycle = cycles_;
    r.order = core_->rvfi_order;
    r.insn = core_->rvfi_insn;
    r.pc = core_->rvfi_pc_rdata;
    r.next = core_->rvfi_pc_wdata;
    r.rd = core_->rvfi_rd_addr;
    r.rd_value = core_->rvfi_rd_wdata;
    r.is_float = core_->rvfi_frd_valid;
    r.frd = core_->rvfi_frd_addr;
    r.frd_value = core_->rvfi_frd_wdata;
    r.address = core_->rvfi_mem_addr;
    r.read_mask = core_->rvfi_mem_rmask;
    r.write_mask = core_->rvfi_mem_wmask;
    r.read_data = core_->rvfi_mem_rdata;
    r.write_data = core_->rvfi_mem_wdata;
    r.trap = core_->rvfi_trap;
    r.cause = core_->fault_cause;
    r.fault_pc = core_->fault_pc;
    r.fault_insn = core_->fault_insn;
    r.fault_address = core_->fault_address;
#ifdef BENCH_PROCESSOR
    r.vector = core_->rvv_valid;
    r.fflags = core_->rvv_fflags;
    r.vxsat = core_->rvv_vxsat;
    r.v = &core_->rootp->xpu_processor__DOT__vector__DOT__v_q[0];
    r.writers = &core_->rootp->xpu_processor__DOT__vector__DOT__writer_q[0];
    result_.vectors += r.vector;
#endif
    if (!bench_lockstep_check(&r)) result_.equal = 0;
}

void Bench::load_lm() {
    const uint8_t *image = bench_memory(0, BENCH_LM, BENCH_LM_BYTES);
    std::memcpy(outer_, image, BENCH_LM_BYTES);
    core_->lmx_write = 1;
    core_->lmx_mask = ~0ull;
    for (uint32_t line = 0; line < BENCH_LM_BYTES; line += 64) {
        core_->lmx_valid = 1;
        core_->lmx_address = line;
        std::memcpy(&core_->lmx_wdata[0], image + line, 64);
        edge();
    }
    core_->lmx_valid = 0;
    core_->lmx_write = 0;
    edge();
}

bool Bench::compare_memories() {
    core_->lmx_write = 0;
    for (uint32_t line = 0; line < BENCH_LM_BYTES; line += 64) {
        core_->lmx_valid = 1;
        core_->lmx_address = line;
        edge();
        const uint8_t *func = line < BENCH_LM_SHARED ? bench_memory(1, BENCH_LM + line, 64) : outer_ + line;
        if (core_->lmx_done && std::memcmp(&core_->lmx_rdata[0], func, 64) == 0) continue;
        std::printf("LM differs at the end, line %08x\n", BENCH_LM + line);
        return false;
    }
    core_->lmx_valid = 0;
    for (Region &region : regions) {
        if (region.base == BENCH_LM || region.copies[0] == region.copies[1]) continue;
        for (uint32_t i = 0; i < region.bytes; i++) {
            if (region.copies[0][i] == region.copies[1][i]) continue;
            std::printf("memory differs at the end, %08x\n", region.base + i);
            return false;
        }
    }
    return true;
}

bench_result Bench::run(uint32_t entry, const bench_options &options) {
    options_ = options;
    result_ = {};
    result_.equal = 1;
    seed_ = options.seed;
    outer_seed_ = options.seed + 54321;
    registers_seed_ = options.seed + 12345;
    bus_ = {};
    lines_.clear();
    line_waits_ = false;
    outer_read_ = false;
    core_->core_id = 3;
    core_->core_num = 5;
    core_->cluster_id = 0;
    core_->cycles_per_edge = 1;
    core_->entry = entry;
    core_->bus_ready = core_->bus_done = core_->fetch_ready = core_->fetch_done = core_->lmx_valid = 0;
    outer_waits_ = false;
    core_->rst = 1;
    edge();
    edge();
    core_->rst = 0;
    load_lm();
    if (options.lockstep) bench_lockstep_start(entry);
    std::memset(result_.lost, 0, sizeof result_.lost);
    core_->start = 1;
    cycles_ = result_.edges = 0;
    uint64_t limit = options.max_cycles ? options.max_cycles : 20000000;
    while (!core_->halted && cycles_ < limit && result_.equal) {
        core_->cycles_per_edge = step();
        bus();
        fetch();
        if (options_.lockstep) outer_traffic();
        edge();
        core_->start = 0;
        retire();
    }
    core_->cycles_per_edge = 1;
    core_->lmx_valid = 0;
    result_.cycles = cycles_;
    result_.cause = core_->fault_valid ? core_->fault_cause : 0;
    if (!core_->halted && result_.equal && options.lockstep) {
        std::printf("no end after %llu cycles, last pc %08x, state %u\n", static_cast<unsigned long long>(cycles_),
                    core_->rvfi_pc_rdata, core_->state);
        result_.equal = 0;
    }
    bench_result result = result_;
    if (options.lockstep && result.equal && !compare_memories()) result.equal = 0;
#ifdef BENCH_PROCESSOR
    if (options.lockstep && result.equal && !result.cause)
        result.equal = bench_lockstep_end(&core_->rootp->xpu_processor__DOT__vector__DOT__v_q[0]);
#endif
    return result;
}

} // namespace

extern "C" uint32_t bench_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return static_cast<uint32_t>(*state >> 16);
}

extern "C" uint8_t *bench_memory(int copy, uint32_t address, uint32_t size) {
    for (Region &region : regions) {
        if (address - region.base >= region.bytes || size > region.bytes - (address - region.base)) continue;
        if (region.copies[copy].empty()) region.copies[copy].resize(region.bytes);
        return region.copies[copy].data() + (address - region.base);
    }
    return nullptr;
}

extern "C" void bench_write(uint32_t address, const void *bytes, size_t size) {
    for (int copy = 0; copy < 2; copy++) {
        uint8_t *memory = bench_memory(copy, address, static_cast<uint32_t>(size));
        if (memory) std::memcpy(memory, bytes, size);
    }
}

extern "C" void bench_clear(void) {
    for (Region &region : regions)
        for (auto &copy : region.copies) copy.assign(region.bytes, 0);
}

extern "C" bench_result bench_run(uint32_t entry, const bench_options *options) {
    static Bench bench;
    return bench.run(entry, *options);
}
