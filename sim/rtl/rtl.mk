# RTL: `make rtl` verilates what the tests need, `make test-rtl` runs them, `make lint-rtl` checks every module.
VERILATOR      ?= verilator
VERILATOR_ROOT ?= $(shell $(VERILATOR) --getenv VERILATOR_ROOT 2>/dev/null)
RTL_PKG    := sim/rtl/generated/xpu_chip_pkg.sv
RTL_SV     := $(sort $(wildcard sim/rtl/*.sv))
RTL_INC    := $(wildcard sim/rtl/*.svh)
RTL_CXX    := -std=c++17 -O2 -g -Wall -Wextra -I. -isystem $(VERILATOR_ROOT)/include -isystem $(VERILATOR_ROOT)/include/vltstd
# Its reordering of statements took most of its time and made nothing faster (docs/rtl.md)
RTL_FLAGS  := -Wall -O3 -fno-reorder --x-assign fast --x-initial fast -Isim/rtl sim/rtl/waivers.vlt
RTL_OPT    := OPT_FAST="-O3 -march=native"
# Assertions of xpu_checks.svh
RTL_CHECKS := --assert -DXPU_CHECKS
RTL_RUN    := verilated.o verilated_threads.o

.PHONY: rtl test-rtl lint-rtl
rtl:
test-rtl:

# The core alone
CORE_RTL   := $(BUILD)/rtl/core
CORE_LIB   := $(CORE_RTL)/Vxpu_core__ALL.a
CORE_BENCH := $(BUILD)/tests/rtl/core/core_bench
CORE_ELF   := $(foreach k,integer floats memory,$(foreach o,1 2 3,$(BUILD)/tests/rtl/core/$(k)-O$(o).elf)) \
              $(BUILD)/tests/rtl/core/loop-O2.elf
CORE_FLAGS := --target=riscv32-unknown-elf -march=rv32imf_zicsr -mabi=ilp32f -std=c11 -ffreestanding -nostdlib \
              -fno-math-errno -ffp-contract=off -mno-relax -fno-ident -ffunction-sections -Wall -Wextra -Werror
$(CORE_LIB): $(wildcard sim/rtl/xpu_core*) sim/rtl/xpu_vector_decode.svh sim/rtl/xpu_vector_legal.svh sim/rtl/waivers.vlt $(RTL_PKG)
	@mkdir -p $(CORE_RTL)
	$(call say,VERILATE,xpu_core)
	$(Q)$(VERILATOR) --cc --prefix Vxpu_core $(RTL_FLAGS) --Mdir $(CORE_RTL) --top-module xpu_core \
	    -GLM_BYTES=65536 -GICACHE_BYTES=4096 $(RTL_PKG) sim/rtl/xpu_core.sv
	$(Q)MAKEFLAGS= $(MAKE) -s -C $(CORE_RTL) -f Vxpu_core.mk $(RTL_OPT) Vxpu_core__ALL.a $(RTL_RUN) >/dev/null
$(BUILD)/obj/tests/rtl/core/%.o: tests/rtl/core/%.cpp $(CORE_LIB)
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)g++ $(RTL_CXX) -I$(CORE_RTL) -MMD -MP -c $< -o $@
$(CORE_BENCH): $(patsubst %,$(BUILD)/obj/tests/rtl/core/%.o,main programs prefetch lockstep bench) $(CORE_LIB) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)g++ -o $@ $(filter %.o,$^) $(CORE_LIB) $(addprefix $(CORE_RTL)/,$(RTL_RUN)) $(LIBALL) $(LDFLAGS) -lm -lpthread
define core_elf
$(BUILD)/tests/rtl/core/%-O$(1).elf: tests/rtl/core/device/%.c tests/rtl/core/device/start.S \
    tests/rtl/core/device/kernel.h tests/rtl/core/device/link.ld
	@mkdir -p $$(@D)
	$$(call say,CLANG,$$@)
	$$(Q)$$(CLANG) $$(CORE_FLAGS) -O$(1) -I. -fuse-ld=lld -Wl,-T,tests/rtl/core/device/link.ld \
	    tests/rtl/core/device/start.S $$< -o $$@
endef
$(foreach o,1 2 3,$(eval $(call core_elf,$(o))))
rtl: $(CORE_BENCH) $(CORE_ELF)
.PHONY: test-rtl-core
test-rtl: test-rtl-core
test-rtl-core: rtl
	$(Q)$(CORE_BENCH) test $(filter-out %/loop-O2.elf,$(CORE_ELF))

# Lint: each module by itself by both tools, with the parameters that stand in it, the slow ones first; and the chip in
# each configuration by Verilator. Yosys tells of arrays that become registers; any other warning is an error.
LINT       := $(BUILD)/lint
LINT_SV    := $(RTL_SV) $(wildcard tests/rtl/*/*.sv)
LINT_SLOW  := $(patsubst %,sim/rtl/xpu_%.sv,tensor window vector fabric core queues)
LINT_FILES := $(patsubst %.sv,$(LINT)/%.file,$(LINT_SLOW) $(filter-out $(LINT_SLOW),$(LINT_SV)))
LINT_CHIPS := $(patsubst configs/chip/%.json,$(LINT)/%.chip,$(wildcard configs/chip/*.json))
LINT_RTL   := $(VERILATOR) --lint-only $(RTL_FLAGS) $(RTL_CHECKS) $(RTL_PKG)
$(LINT)/%.file: %.sv $(RTL_PKG) $(RTL_SV) $(RTL_INC) sim/rtl/waivers.vlt
	@mkdir -p $(@D)
	$(call say,LINT,$<)
	$(Q)$(LINT_RTL) $< --top-module $(*F)
	$(Q)yosys -q -w 'Replacing memory' -e . -p "read_verilog -sv -Isim/rtl $(RTL_PKG) $<"
	@touch $@
$(LINT)/%.chip: configs/chip/%.json $(RTL_PKG) $(RTL_SV) $(RTL_INC) sim/rtl/waivers.vlt | $(BUILD)/rtl/params
	@mkdir -p $(@D)
	$(call say,LINT,chip-$*)
	$(Q)$(LINT_RTL) sim/rtl/xpu_chip.sv --top-module xpu_chip $$($(PARAMS) configs/chip $* | sed -n 's/^GENERICS := //p')
	@touch $@
lint-rtl: $(LINT_FILES) $(LINT_CHIPS) lint-slang

# By slang, where python3 has pyslang: the chip in each configuration with all its modules, and the modules of the tests
PYTHON     ?= python3
LINT_SLANG := $(PYTHON) scripts/lint-slang
.PHONY: lint-slang
lint-slang: | $(BUILD)/rtl/params
	$(Q)if ! $(LINT_SLANG); then exit 0; fi; set -e; \
	for chip in configs/chip/*.json tests/chip/*.json; do \
	    $(LINT_SLANG) xpu_chip $(RTL_PKG) $(RTL_SV) $$($(PARAMS) $${chip%/*} $$chip | sed -n 's/^GENERICS := //p'); \
	done; \
	$(LINT_SLANG) bare tests/rtl/bare/bare.sv; \
	$(LINT_SLANG) pair $(RTL_PKG) $(patsubst %,sim/rtl/xpu_%.sv,dma queues regs) tests/rtl/dma/pair.sv

# Benches with a file of their own
-include $(wildcard tests/rtl/*/*.mk)

# The whole chip
-include sim/rtl/system.mk

# Of the benches, what `make test` runs (units), and all of them; two at a time are built
.PHONY: units unit-benches all-benches
unit-benches: $(CORE_BENCH) $(CORE_ELF) $(VECTOR_BENCH) $(VECTOR_ELF) $(BUILD)/tests/rtl/tensor/tensor-8x8 \
    $(BUILD)/tests/rtl/window/window-8 $(DMA_BENCH) \
    $(SYSTEM_TEST) $(SYSTEM_ELF) $(BUILD)/lib/libxpurtl-nano-window.so
units: all chips
	$(Q)$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j2) --no-print-directory unit-benches
all-benches: all chips
	$(Q)$(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j2) --no-print-directory rtl
