# make bench-sim: host time per simulated cycle of the standard chip, beside the bare array's; make test-rtl-bench: its
# programs on the functional chip.
BENCH_DIR  := $(BUILD)/tests/rtl/bench
BENCH_SIM  := $(BENCH_DIR)/bench-sim
BENCH_ELF  := $(patsubst %,$(BENCH_DIR)/%.elf,resnet exp scalar)
BENCH_RTL  := $(BUILD)/lib/libxpurtl-standard.so
# Vector instructions where the program asks for them, only
$(BENCH_DIR)/resnet.elf $(BENCH_DIR)/scalar.elf: BENCH_ARCH := -march=rv32imf_zicsr
$(BENCH_DIR)/%.elf: tests/rtl/bench/device/%.c tests/rtl/bench/bench.h xpu_runtime/include/xpu_device.h \
    core/arith_rvv.h core/arith_poly.h core/arith_elementwise.h core/arith_trigonometry.h xpu_runtime/devrt/bare/start.S xpu_runtime/devrt/bare/link.ld $(FLAGS)
	@mkdir -p $(@D)
	$(call say,CLANG,$@)
	$(Q)$(CLANG) @$(FLAGS) $(BENCH_ARCH) -Wall -Wextra -Werror -I. -fuse-ld=lld \
	    -Wl,--gc-sections,-T,xpu_runtime/devrt/bare/link.ld xpu_runtime/devrt/bare/start.S $< -o $@
$(BENCH_SIM): $(BUILD)/obj/tests/rtl/bench/main.o $(BUILD)/obj/tests/rtl/bench/network.o $(BARE) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)g++ -o $@ $^ $(addprefix $(BARE_DIR)/,$(RTL_RUN)) $(LDFLAGS) $(LDLIBS) -lpthread
.PHONY: bench-sim test-rtl-bench
test-rtl: test-rtl-bench
test-rtl-bench: $(BENCH_SIM) $(BENCH_ELF)
	$(Q)$(BENCH_SIM) $(BENCH_DIR) func
bench-sim: $(BENCH_SIM) $(BENCH_ELF)
	$(Q)$(MAKE) --no-print-directory CHIP=standard $(BENCH_RTL) device
	$(Q)XPU_RESOURCES=$(abspath $(SHARE)) $(BENCH_SIM) $(BENCH_DIR) $(BENCH_RTL) $(BUILD)/bench-sim.json
