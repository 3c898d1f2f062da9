# The processor (scalar core and vector unit) against the functional core: make test-rtl-vector. The bench is the core's.
VECTOR_RTL   := $(BUILD)/rtl/vector
VECTOR_LIB   := $(VECTOR_RTL)/Vxpu_processor__ALL.a
VECTOR_BENCH := $(BUILD)/tests/rtl/vector/vector_bench
VECTOR_O     := $(addprefix $(BUILD)/obj/tests/rtl/,vector/main.o vector/streams.o vector/bench.o \
                core/programs.o core/lockstep.o)
$(VECTOR_LIB): $(wildcard sim/rtl/xpu_vector*) $(wildcard sim/rtl/xpu_core*) sim/rtl/xpu_processor.sv sim/rtl/xpu_lanes.svh sim/rtl/xpu_checks.svh \
    sim/rtl/waivers.vlt tests/rtl/vector/public.vlt $(RTL_PKG)
	@mkdir -p $(@D)
	$(call say,VERILATE,xpu_processor)
	$(Q)$(VERILATOR) --cc --prefix Vxpu_processor $(RTL_FLAGS) $(RTL_CHECKS) tests/rtl/vector/public.vlt --Mdir $(@D) \
	    --top-module xpu_processor -GLM_BYTES=65536 -GICACHE_BYTES=4096 $(RTL_PKG) sim/rtl/xpu_processor.sv
	$(Q)MAKEFLAGS= $(MAKE) -s -C $(@D) -f Vxpu_processor.mk $(RTL_OPT) Vxpu_processor__ALL.a $(RTL_RUN) >/dev/null
$(BUILD)/obj/tests/rtl/vector/bench.o: tests/rtl/core/bench.cpp tests/rtl/core/bench.h $(VECTOR_LIB)
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)g++ $(RTL_CXX) -DBENCH_PROCESSOR -I$(VECTOR_RTL) -c $< -o $@
$(VECTOR_BENCH): $(VECTOR_O) $(VECTOR_LIB) $(BARE) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)g++ -o $@ $(VECTOR_O) $(VECTOR_LIB) $(BARE) $(addprefix $(VECTOR_RTL)/,$(RTL_RUN)) $(LIBALL) $(LDFLAGS) -lm -lpthread

# Kernels in C with the flags of device code: of this bench and of the core's
VECTOR_ELF   := $(foreach k,loops strips integer floats memory,$(foreach o,2 3,$(BUILD)/tests/rtl/vector/$(k)-O$(o).elf))
VECTOR_FLAGS := $(subst rv32imf_zicsr,rv32imf_zicsr_zve32f_zvl512b,$(CORE_FLAGS)) \
                -mllvm -riscv-v-register-bit-width-lmul=1 -mllvm -enable-mem-access-versioning=false \
                -mllvm -enable-interleaved-mem-accesses=false
define vector_elf
$(BUILD)/tests/rtl/vector/%-O$(1).elf: tests/rtl/$(2)/device/%.c tests/rtl/core/device/start.S tests/rtl/core/device/kernel.h \
    tests/rtl/core/device/link.ld
	@mkdir -p $$(@D)
	$$(call say,CLANG,$$@)
	$$(Q)$$(CLANG) $$(VECTOR_FLAGS) -O$(1) -I. -fuse-ld=lld -Wl,-T,tests/rtl/core/device/link.ld \
	    tests/rtl/core/device/start.S $$< -o $$@
endef
$(foreach o,2 3,$(foreach d,vector core,$(eval $(call vector_elf,$(o),$(d)))))
rtl: $(VECTOR_BENCH) $(VECTOR_ELF)
.PHONY: test-rtl-vector
test-rtl: test-rtl-vector
test-rtl-vector: $(VECTOR_BENCH) $(VECTOR_ELF)
	$(Q)$(VECTOR_BENCH) test $(VECTOR_ELF)
