# The tensor engine's RTL against the functional engine: make test-rtl-tensor. One build per size of the array.
TENSOR_SV  := $(RTL_PKG) sim/rtl/xpu_tensor.sv
TENSOR_DIR := $(BUILD)/rtl/tensor

# name, rows, columns, accumulator rows, weight rows per cycle, lanes, flags: the small one with assertions
define tensor_bench
$(TENSOR_DIR)/$(1)/Vtensor__ALL.a: $(TENSOR_SV) $(wildcard sim/rtl/xpu_tensor_*.svh) sim/rtl/xpu_lanes.svh sim/rtl/xpu_inside.svh sim/rtl/xpu_rules.svh sim/rtl/xpu_post_rules.svh sim/rtl/xpu_checks.svh sim/rtl/waivers.vlt
	@mkdir -p $$(@D)
	$$(call say,VERILATE,xpu_tensor $(1))
	$$(Q)$$(VERILATOR) --cc --prefix Vtensor $$(RTL_FLAGS) --Mdir $$(@D) --top-module xpu_tensor -GARRAY_ROWS=$(2) \
	    -GARRAY_COLUMNS=$(3) -GACC_ROWS=$(4) -GWEIGHT_ROWS=$(5) -GPOST_LANES=$(6) -GSM_BYTES=1048576 -GGM_BYTES=1048576 $(7) \
	    sim/rtl/waivers.vlt $$(TENSOR_SV)
	$$(Q)MAKEFLAGS= $$(MAKE) -s -C $$(@D) -f Vtensor.mk $$(RTL_OPT) Vtensor__ALL.a >/dev/null
$(TENSOR_DIR)/$(1)/%.o: tests/rtl/tensor/%.c tests/rtl/tensor/rtl.h tests/rtl/tensor/bench.h
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)
	$$(Q)$$(CC) $$(CFLAGS) -DCHIP_ROWS=$(2)u -DCHIP_COLUMNS=$(3)u -DCHIP_BANKS=2u -DCHIP_ACC_ROWS=$(4)u \
	    -DCHIP_WEIGHT_ROWS=$(5) -DCHIP_LANES=$(6) -MMD -MP -c $$< -o $$@
$(TENSOR_DIR)/$(1)/rtl.o: tests/rtl/tensor/rtl.cpp tests/rtl/tensor/rtl.h tests/rtl/bare/bare.h $(TENSOR_DIR)/$(1)/Vtensor__ALL.a
	$$(call say,CXX,$$<)
	$$(Q)g++ $$(RTL_CXX) -I$$(@D) -DTOP=Vtensor -DTOP_HEADER='"Vtensor.h"' -DTOP_INSIDE='"Vtensor___024root.h"' \
	    -DTOP_ROOT=Vtensor___024root -DTOP_CLOCKED=Vtensor___024root___eval_nba -DTOP_HAS_W=1 -c $$< -o $$@
$(BUILD)/tests/rtl/tensor/tensor-$(1): $(TENSOR_DIR)/$(1)/main.o $(TENSOR_DIR)/$(1)/bench.o $(TENSOR_DIR)/$(1)/rtl.o \
    $(TENSOR_DIR)/$(1)/Vtensor__ALL.a $(BARE) $(LIBALL)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)g++ -o $$@ $$^ $$(addprefix $(BARE_DIR)/,$$(RTL_RUN)) $$(LDFLAGS) $(LDLIBS) -lpthread
TENSOR_BIN += $(BUILD)/tests/rtl/tensor/tensor-$(1)
endef
TENSOR_BIN :=
$(eval $(call tensor_bench,8x8,8,8,128,1,8,$(RTL_CHECKS)))
$(eval $(call tensor_bench,32x32,32,32,512,2,32))
$(eval $(call tensor_bench,16x64,16,64,64,4,16))
$(eval $(call tensor_bench,64x64,64,64,512,2,64))

.PHONY: test-rtl-tensor
test-rtl: test-rtl-tensor
rtl: $(TENSOR_BIN)
test-rtl-tensor: $(TENSOR_BIN)
	$(Q)for b in $(TENSOR_BIN); do $$b 300 || exit 1; done
