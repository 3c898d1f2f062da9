# The Verilated chip as a library, $(BUILD)/lib/libxpurtl-CHIP.so: `make rtl CHIP=NAME or FILE.json`; its tests.
SYSTEM_DEPS := $(RTL_PKG) $(RTL_SV) $(RTL_INC) $(wildcard sim/rtl/*.vlt) sim/harness/chip.vlt sim/harness/memories sim/harness/aligned.sed
# The C++ in one piece: there g++ sees which functions are the same for all cores. How many compilers at once
SYSTEM_SPLIT := --output-split 1000000 --output-split-cfuncs 20000
SYSTEM_JOBS  ?= 2
SYSTEM_CXX  := -std=c++17 -Wall -Wextra -I. -isystem $(VERILATOR_ROOT)/include -isystem $(VERILATOR_ROOT)/include/vltstd
SYSTEM_LIB  := -O3 -march=native -fPIC -fvisibility=hidden -fno-gnu-unique
HARNESS_O   := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out %/params.c,$(wildcard sim/harness/*.c)))
PARAMS      := $(BUILD)/rtl/params
$(PARAMS): $(BUILD)/obj/sim/harness/params.o $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(LDLIBS)

# One chip: $(1) its name, $(2) what names its description, $(3) --trace-fst where it writes waveforms. Assertions are on in
# those that only tests have. Its folder holds
# what it is built with, the Verilated C++, and the objects.
define system_chip
# chip.mk gets a new time only when it says something new: what is Verilated does not depend on the host's sources
$(BUILD)/rtl/$(1)/chip.stamp: $(PARAMS) $(if $(filter %.json,$(2)),$(2),configs/chip/$(2).json)
	@mkdir -p $$(@D)
	$(Q)$(PARAMS) configs/chip $(2) >$$(@D)/chip.new
	$(Q)if cmp -s $$(@D)/chip.new $$(@D)/chip.mk; then rm $$(@D)/chip.new; else mv $$(@D)/chip.new $$(@D)/chip.mk; fi
	@touch $$@
$(BUILD)/rtl/$(1)/chip.mk: $(BUILD)/rtl/$(1)/chip.stamp
	@:
$(BUILD)/rtl/$(1)/Vxpu_chip__ALL.a: $(BUILD)/rtl/$(1)/chip.mk $(SYSTEM_DEPS)
	$(call say,VERILATE,$(1))
	$(Q)$(VERILATOR) --cc --prefix Vxpu_chip $(RTL_FLAGS) --Mdir $$(@D) --top-module xpu_chip $(SYSTEM_SPLIT) \
	    $$$$(sed -n 's/^GENERICS := //p' $$<) -CFLAGS '-fPIC -fvisibility=hidden -fno-gnu-unique' \
	    $(wildcard sim/rtl/*.vlt) sim/harness/chip.vlt $(RTL_PKG) sim/rtl/xpu_chip.sv $(3) \
	    $(if $(filter tests/% $(BUILD)/rtl/random-%,$(2)),$(RTL_CHECKS))
	$(Q)sed -E -i -f sim/harness/aligned.sed $$(@D)/Vxpu_chip_*.h
	$(Q)sim/harness/memories $$(@D) >$$(@D)/memories.h
	$(Q)MAKEFLAGS= $(MAKE) -s -j$(SYSTEM_JOBS) -C $$(@D) -f Vxpu_chip.mk $(RTL_OPT) Vxpu_chip__ALL.a verilated.o verilated_threads.o >/dev/null
	@touch $$@
$(BUILD)/rtl/$(1)/model.o: sim/harness/model.cpp sim/harness/model.h $(BUILD)/rtl/$(1)/Vxpu_chip__ALL.a
	$(call say,CXX,$$@)
	$(Q)g++ $(SYSTEM_CXX) $(SYSTEM_LIB) -I$$(@D) $(if $(3),-DXPU_WAVE) $$$$(sed -n 's/^DEFINES := //p' $$(@D)/chip.mk) -c $$< -o $$@
	$(if $(3),$(Q)$(MAKE) -s -C $$(@D) -f Vxpu_chip.mk $(RTL_OPT) verilated_fst_c.o >/dev/null)
$(BUILD)/lib/libxpurtl-$(1).so: $(BUILD)/rtl/$(1)/model.o $(HARNESS_O) $(FUNC_O)
	@mkdir -p $$(@D)
	$(call say,LINK,$$@)
	$(Q)g++ -shared -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -Wl,-soname,$$(@F) -o $$@ $$^ $(BUILD)/rtl/$(1)/Vxpu_chip__ALL.a \
	    $(BUILD)/rtl/$(1)/verilated.o $(BUILD)/rtl/$(1)/verilated_threads.o $(if $(3),$(BUILD)/rtl/$(1)/verilated_fst_c.o) \
	    -lpthread $(LDLIBS)
endef

# CHIP on the command line chooses one chip, else those that the tests need. With WAVE=1 `make chip` builds the library
# that writes waveforms, libxpurtl-CHIP-wave.so.
RTL_CHIPS   := $(if $(filter command environment,$(origin CHIP))$(filter chip,$(MAKECMDGOALS)),$(CHIP),nano tests/rtl/system/quad.json tests/chip/nano-window.json)
chip_name    = $(if $(filter %.json,$(1)),$(shell sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' $(1) | head -n 1),$(1))
# Those that whole networks are run on, and that are installed.
USER_CHIPS  := $(if $(filter command environment,$(origin CHIP))$(filter chip,$(MAKECMDGOALS)),$(CHIP),nano standard)
USER_LIBS   := $(foreach c,$(USER_CHIPS),$(BUILD)/lib/libxpurtl-$(call chip_name,$(c)).so)
$(foreach c,$(sort $(RTL_CHIPS) $(USER_CHIPS)),$(eval $(call system_chip,$(call chip_name,$(c)),$(c))))
$(if $(WAVE),$(foreach c,$(RTL_CHIPS),$(eval $(call system_chip,$(call chip_name,$(c))-wave,$(c),--trace-fst))))
.PHONY: chip chips
chip: $(if $(WAVE),$(USER_LIBS:.so=-wave.so),$(USER_LIBS))
chips: $(USER_LIBS)
rtl: $(foreach c,$(RTL_CHIPS),$(BUILD)/lib/libxpurtl-$(call chip_name,$(c)).so)

# Its tests
SYSTEM_TEST := $(BUILD)/tests/rtl/system/system
SYSTEM_ELF  := $(SYSTEM_TEST).elf
BARE_LD     := xpu_runtime/devrt/bare/link.ld
BARE_FLAGS  := $(CORE_FLAGS) -O2 -I. -fuse-ld=lld -Wl,-T,$(BARE_LD) xpu_runtime/devrt/bare/start.S
$(SYSTEM_ELF): tests/rtl/system/device/system.c tests/rtl/system/system.h xpu_runtime/devrt/bare/start.S $(BARE_LD)
	@mkdir -p $(@D)
	$(call say,CLANG,$@)
	$(Q)$(CLANG) $(BARE_FLAGS) $< -o $@
$(SYSTEM_TEST): $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/rtl/system/*.c)) $(BUILD)/obj/sim/harness/lockstep.o $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(LDLIBS) -lcunit
.PHONY: test-rtl-system
test-rtl: test-rtl-system
test-rtl-system: rtl $(SYSTEM_TEST) $(SYSTEM_ELF) $(BUILD)/bin/xpu-run $(SHARE)/.stamp
	$(Q)XPU_BUILD=$(BUILD) $(SYSTEM_TEST)
	$(Q)XPU_BIN=$(BUILD)/bin DEVICES='func rtl' CHIPS=nano bash tests/chip/test_bare.sh
	$(Q)XPU_BIN=$(BUILD)/bin bash tests/rtl/system/kernels.sh nano tests/rtl/system/quad.json
