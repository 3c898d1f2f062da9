// The Verilated chip: its clock, and what it asks the harness for (DPI-C).
#include "sim/harness/model.h"

#include <cstring>
#include <new>
#include <type_traits>

#include "Vxpu_chip.h"
#include "Vxpu_chip___024root.h"
#include "Vxpu_chip__Dpi.h"
#include "memories.h" // made from the Verilated headers by sim/harness/memories
#include XPU_CORE_HEADER
#include "verilated.h"
#ifdef XPU_WAVE
#include "verilated_fst_c.h"
#endif

namespace {
constexpr unsigned cores = CHIP_CORES;
using Core = std::remove_pointer_t<decltype(Vxpu_chip___024root::XPU_CORE_0)>;
} // namespace

struct xpu_model {
    VerilatedContext context;
    Vxpu_chip chip{&context};
    Core *const core[cores] = {XPU_CORES(chip.rootp)};
    xpu_model_host *host = nullptr;
    uint64_t states[XPU_MODEL_MAX_CORES][XPU_MODEL_STATES] = {};
    uint64_t engine_states[XPU_MODEL_ENGINES][XPU_MODEL_STATES] = {};
    uint64_t edges = 0;
    uint32_t engines = 0; // their states, since that cycle
    uint64_t engines_since = 0, states_until[cores] = {};
    uint64_t cores_until[cores] = {}, queues_until = 0, memory_until = 0; // cycles until the last edge of these clocks

    void clocks(bool high, uint32_t ticks);
    void evaluate(uint32_t ticks);
    void settle();
#ifdef XPU_WAVE
    VerilatedFstC wave;
    bool traced = false;
#endif

    void edge(uint32_t cycles);
};

namespace {

xpu_model_host *host_of(unsigned long long host) {
    return reinterpret_cast<xpu_model_host *>(static_cast<uintptr_t>(host));
}

// Makes a model's context the thread's: Verilated's destructors use that one, not the model's. Afterwards the thread has
// one that is there for ever, as a model that another thread frees would leave it with one that is gone.
class Entered {
  public:
    explicit Entered(xpu_model *model) {
        lasting();
        Verilated::threadContextp(&model->context);
    }
    ~Entered() { Verilated::threadContextp(lasting()); }
    Entered(const Entered &) = delete;
    Entered &operator=(const Entered &) = delete;

  private:
    static VerilatedContext *lasting() {
        static auto *const context = new VerilatedContext;
        return context;
    }
};

uint8_t *line_at(const xpu_model_host *host, unsigned int address) {
    return host->gm + ((address - 0x80000000u) & ~63u);
}

} // namespace

// ---- What the chip calls ----

void xpu_dpi_gm_read(unsigned long long host, unsigned int address, unsigned long long mask, svBitVecVal *data) {
    std::memcpy(data, line_at(host_of(host), address), 64);
    host_of(host)->gm_read_bytes += static_cast<unsigned>(__builtin_popcountll(mask));
}

void xpu_dpi_gm_write(unsigned long long host, unsigned int address, unsigned long long mask, const svBitVecVal *data) {
    uint8_t *line = line_at(host_of(host), address);
    const uint8_t *from = reinterpret_cast<const uint8_t *>(data);
    host_of(host)->gm_write_bytes += static_cast<unsigned>(__builtin_popcountll(mask));
    if (mask == ~0ull) {
        std::memcpy(line, from, 64);
        return;
    }
    for (unsigned i = 0; mask; i++, mask >>= 1)
        if (mask & 1) line[i] = from[i];
}

void xpu_dpi_counter(unsigned long long host, unsigned int counter, unsigned int value) {
    host_of(host)->counter(host_of(host)->context, counter, value);
}

int xpu_dpi_ticket(unsigned long long host, unsigned int counter, unsigned int value, unsigned int layer) {
    return host_of(host)->ticket(host_of(host)->context, counter, value, layer);
}

void xpu_dpi_put(unsigned long long host, unsigned int character) {
    host_of(host)->put(host_of(host)->context, static_cast<char>(character));
}

void xpu_dpi_retire(unsigned long long host, unsigned int core, unsigned long long order, unsigned int insn,
                    unsigned int pc, unsigned int next, unsigned int kinds, unsigned int registers, unsigned int rd,
                    unsigned int frd, unsigned int address, unsigned int rdata, unsigned int wdata) {
    xpu_retired r{};
    r.core = core;
    r.order = order;
    r.cycle = host_of(host)->cycle;
    r.insn = insn;
    r.pc = pc;
    r.next = next;
    r.trap = kinds >> 9 & 1;
    r.vector = kinds >> 10 & 1;
    r.fflags = kinds >> 11 & 31;
    r.vxsat = kinds >> 16 & 1;
    r.writes_f = kinds >> 8 & 1;
    r.rd = registers & 31;
    r.frd = registers >> 5 & 31;
    r.rd_value = rd;
    r.frd_value = frd;
    r.address = address;
    r.read_mask = kinds >> 4 & 15;
    r.write_mask = kinds & 15;
    r.read_data = rdata;
    r.write_data = wdata;
    host_of(host)->retire(host_of(host)->context, &r);
}

void xpu_dpi_complete(unsigned long long host, unsigned int engine, unsigned int core, unsigned int descriptor,
                      unsigned int layer, unsigned int opcode, unsigned int cycles) {
    host_of(host)->descriptors[engine]++;
    if (host_of(host)->complete)
        host_of(host)->complete(host_of(host)->context, engine, core, descriptor, layer, opcode, cycles);
}

// ---- What the harness calls ----

// A part of an input of 32 bits for each core
template <typename Input> static void set_word(Input &to, unsigned n, uint32_t word) {
    if constexpr (sizeof to == 4)
        to = word;
    else if constexpr (sizeof to == 8 && cores == 2)
        to = (to & ~(0xffffffffull << 32 * n)) | static_cast<uint64_t>(word) << 32 * n;
    else
        to[n] = word;
}

void xpu_model::clocks(bool high, uint32_t ticks) {
    chip.clk = high;
    chip.clk_tensor = high & ticks;
    chip.clk_dma0 = high & ticks >> 1;
    chip.clk_dma1 = high & ticks >> 2;
    chip.clk_queues = high & ticks >> 3;
    chip.clk_memory = high & ticks >> 4;
    chip.clk_cores = high ? ticks >> 5 & ((1u << cores) - 1) : 0;
    chip.clk_window = high & ticks >> (cores + 5);
}

// What happens at the rising edges, and that nothing happens at the falling ones, is known. So where Verilator's function
// for the registers and all behind them can be called, that is all that is done; no input of it has changed that is
// looked at between edges.
void xpu_model::evaluate(uint32_t ticks) {
#if defined XPU_TRIGGERS && !defined XPU_WAVE
    auto &triggered = chip.rootp->__VnbaTriggered;
    if (!chip.rst) {
        XPU_TRIGGERS(triggered, ticks);
        Vxpu_chip___024root___eval_nba(chip.rootp);
        return;
    }
#endif
    clocks(true, ticks);
    chip.eval();
#ifdef XPU_WAVE
    if (wave.isOpen()) wave.dump(2 * host->cycle);
#endif
    clocks(false, ticks);
    chip.eval();
#ifdef XPU_WAVE
    if (wave.isOpen()) wave.dump(2 * host->cycle + 1);
#endif
}

void xpu_model::settle() {
    for (unsigned n = 0; n < XPU_MODEL_ENGINES; n++)
        engine_states[n][engines >> 5 * n & 31] += host->cycle - engines_since;
    engines_since = host->cycle;
    engines = chip.engine_states;
    for (unsigned n = 0; n < cores; n++) {
        states[n][core[n]->state] += host->cycle - states_until[n];
        states_until[n] = host->cycle;
    }
}

// States of engines are those of the cycles that an edge ends; cores tell theirs afterwards.
void xpu_model::edge(uint32_t cycles) {
    const uint32_t ticks = chip.rst ? ~0u : chip.ticks;
    const uint64_t begin = host->cycle, now = begin + cycles;
    if (chip.engine_states != engines) settle();
    chip.cycles_per_edge = cycles;
    if (ticks >> 3 & 1) {
        chip.cycles_queues = static_cast<uint32_t>(now - queues_until);
        queues_until = now;
    }
    if (ticks >> 4 & 1) {
        chip.cycles_memory = static_cast<uint32_t>(now - memory_until);
        memory_until = now;
    }
    for (unsigned n = 0; n < cores; n++)
        if (ticks >> (n + 5) & 1) {
            states[n][core[n]->state] += begin - states_until[n];
            const auto since = static_cast<uint32_t>(now - cores_until[n]);
            set_word(chip.cycles_cores, n, since);
            core[n]->cycles_per_edge = since; // the input's copy, which Verilator's function does not bring along
            cores_until[n] = now;
        }
    evaluate(ticks);
    for (unsigned n = 0; n < cores; n++)
        if (ticks >> (n + 5) & 1) {
            states[n][core[n]->state] += cycles;
            states_until[n] = now;
        }
    host->cycle = now;
    edges++;
}

xpu_model_info xpu_model_about(void) {
    return {cores,           CHIP_LM_BYTES,     CHIP_SM_BYTES,   CHIP_L3_BYTES, CHIP_GM_BYTES,
            CHIP_ABI_HASH,   CHIP_ICACHE_BYTES, CHIP_GM_ENTRIES, CHIP_SM_BANKS, CHIP_SM_HOLD,
            CHIP_L3_BANKS,   CHIP_L3_ENTRIES,   CHIP_WEIGHT_ROWS, CHIP_POST_LANES};
}

xpu_model *xpu_model_new(xpu_model_host *host, const xpu_model_times *times) {
    auto *model = new (std::nothrow) xpu_model;
    if (!model) return nullptr;
    const Entered entered(model);
#ifdef XPU_WAVE
    model->context.traceEverOn(true);
#endif
    model->host = host;
    model->chip.host = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(host));
    model->chip.gm_latency = times->gm_latency;
    model->chip.gm_line_time = times->gm_line_time;
    model->chip.gm_outstanding = times->gm_outstanding;
    model->chip.l3_latency = times->l3_latency;
    model->chip.l3_rate = times->l3_rate;
    model->chip.retire_enable = host->retire != nullptr;
    model->clocks(false, 0);
    model->chip.eval();
    for (unsigned core = 0; core < cores; core++) std::memset(xpu_model_lm(model, core), 0, CHIP_LM_BYTES);
    std::memset(xpu_model_sm(model), 0, CHIP_SM_BYTES);
    std::memset(xpu_model_l3(model), 0, CHIP_L3_BYTES);
    return model;
}

int xpu_model_wave_open(xpu_model *model, const char *file) {
#ifdef XPU_WAVE
    if (!model->traced) model->chip.trace(&model->wave, 99);
    model->traced = true;
    model->wave.open(file);
    return model->wave.isOpen() ? 0 : -1;
#else
    (void)model;
    (void)file;
    return -1;
#endif
}

void xpu_model_wave_close(xpu_model *model) {
#ifdef XPU_WAVE
    if (model->wave.isOpen()) model->wave.close();
#else
    (void)model;
#endif
}

void xpu_model_free(xpu_model *model) {
    if (!model) return;
    const Entered entered(model);
    xpu_model_wave_close(model);
    model->chip.final();
    delete model;
}

void xpu_model_start(xpu_model *model, uint32_t entry, uint32_t seed) {
    const Entered entered(model);
    Vxpu_chip &chip = model->chip;
    chip.rst = 1;
    chip.start = 0;
    chip.host_answer = 0;
    chip.entry = entry;
    chip.seed_start = seed;
    for (int i = 0; i < 2; i++) model->edge(0);
    chip.rst = 0;
    chip.start = 1;
    chip.eval();
    std::memset(model->states, 0, sizeof model->states);
    std::memset(model->engine_states, 0, sizeof model->engine_states);
    std::memset(model->host->descriptors, 0, sizeof model->host->descriptors);
    std::memset(model->states_until, 0, sizeof model->states_until);
    std::memset(model->cores_until, 0, sizeof model->cores_until);
    model->engines = chip.engine_states;
    model->engines_since = model->queues_until = model->memory_until = model->host->cycle = 0;
}

static xpu_model_reason run(xpu_model *model, uint64_t limit, int skip) {
    Vxpu_chip &chip = model->chip;
    xpu_model_host *host = model->host;
    const uint64_t last = limit ? host->cycle + limit : ~0ull;
    for (;;) {
        if (chip.attention && !chip.host_answer) return XPU_MODEL_ATTENTION;
        if (host->stop) {
            host->stop = 0;
            return XPU_MODEL_STOPPED;
        }
        if (host->cycle >= last) return XPU_MODEL_LIMIT;
        uint32_t cycles = 1;
        if (chip.quiet) {
            if (chip.next_event == ~0u) return XPU_MODEL_DEAD;
            if (skip) {
                cycles = chip.next_event < chip.until_time_out ? chip.next_event : chip.until_time_out;
                if (cycles > last - host->cycle) cycles = static_cast<uint32_t>(last - host->cycle);
            }
        }
        model->edge(cycles);
        if (chip.start | chip.host_answer) {
            chip.start = chip.host_answer = 0;
            chip.eval();
        }
    }
}

xpu_model_reason xpu_model_run(xpu_model *model, uint64_t limit, int skip) {
    const Entered entered(model);
    const xpu_model_reason reason = run(model, limit, skip);
    model->settle();
    return reason;
}

void xpu_model_answer(xpu_model *model) {
    const Entered entered(model);
    model->chip.host_answer = 1;
    model->chip.eval();
}

void xpu_model_look(const xpu_model *model, xpu_model_state *state) {
    const Vxpu_chip &chip = model->chip;
    *state = {};
    state->ended = chip.ended;
    state->host_call = chip.host_call;
    state->timed_out = chip.timed_out;
    state->quiet = chip.quiet;
    state->exit_status = chip.exit_status;
    state->host_address = chip.host_address;
    state->abort_code = chip.abort_code;
    state->next_event = chip.next_event;
    for (unsigned n = 0; n < cores; n++) {
        auto &to = state->core[n];
        const Core &from = *model->core[n];
        to.instructions = from.XPU_SCALAR(retired);
        to.pc = from.XPU_SCALAR(retired) ? from.rvfi_pc_wdata : chip.entry;
        to.layer = chip.rootp->XPU_REGISTERS(layers)[n];
        to.stalled = chip.rootp->XPU_REGISTERS(stalled_at)[n];
        to.stalled_value = chip.rootp->XPU_REGISTERS(wait_for)[n];
        to.halted = from.halted;
        to.fault = from.fault_valid;
        to.cause = from.fault_cause;
        to.fault_pc = from.fault_pc;
        to.fault_insn = from.fault_insn;
        to.fault_address = from.fault_address;
    }
    for (unsigned n = 0; n < XPU_MODEL_ENGINES; n++) state->engine_state[n] = chip.engine_states >> 5 * n & 31;
    state->engine_fault = chip.engine_faulty;
    state->engine = chip.fault_engine;
    state->engine_cause = chip.fault_cause;
    state->engine_address = chip.fault_address;
    state->descriptor = chip.fault_descriptor;
    state->descriptor_layer = chip.fault_layer;
}

xpu_model_queue xpu_model_look_queue(const xpu_model *model, unsigned engine, unsigned core) {
    const auto &root = *model->chip.rootp;
    const unsigned queue = engine == XPU_MODEL_ENGINES - 1 ? 2 * cores + 1 : engine * cores + core, list = 4 * queue + root.XPU_QUEUES(l_first)[queue];
    return {root.XPU_QUEUES(l_lists)[queue], root.XPU_QUEUES(l_address)[list], root.XPU_QUEUES(l_count)[list],
            root.XPU_QUEUES(l_left)[queue]};
}

uint8_t *xpu_model_lm(xpu_model *model, unsigned core) {
    return reinterpret_cast<uint8_t *>(&model->core[core]->XPU_SCALAR(lm_q)[0]);
}

uint8_t *xpu_model_sm(xpu_model *model) {
    return reinterpret_cast<uint8_t *>(&model->chip.rootp->XPU_FABRIC(sm_q)[0]);
}

uint8_t *xpu_model_l3(xpu_model *model) {
    return reinterpret_cast<uint8_t *>(&model->chip.rootp->XPU_FABRIC(l3_q)[0]);
}

const uint64_t *xpu_model_vreg(xpu_model *model, unsigned core) {
    return reinterpret_cast<const uint64_t *>(&model->core[core]->XPU_VECTOR(v_q)[0]);
}

const uint64_t *xpu_model_engine_states(const xpu_model *model, unsigned engine) {
    return model->engine_states[engine];
}

const uint64_t *xpu_model_states(const xpu_model *model, unsigned core) {
    return model->states[core];
}

uint64_t xpu_model_edges(const xpu_model *model) {
    return model->edges;
}
