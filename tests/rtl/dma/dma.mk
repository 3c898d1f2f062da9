# The DMA engine's RTL, alone and behind the queues, against the functional engine: make test-rtl-dma.
DMA_DIR   := $(BUILD)/rtl/dma
DMA_BENCH := $(BUILD)/tests/rtl/dma/dma
DMA_SIZES := -GCORES=4 -GLM_BYTES=16384 -GSM_BYTES=262144 -GL3_BYTES=262144 -GGM_BYTES=1048576
DMA_OPT   ?= $(RTL_OPT)
define dma_model
$(DMA_DIR)/$(1)/V$(1)__ALL.a: $(RTL_PKG) $(3) sim/rtl/xpu_lanes.svh sim/rtl/xpu_inside.svh sim/rtl/xpu_dma_check.svh sim/rtl/xpu_dma_weave.svh sim/rtl/xpu_checks.svh sim/rtl/waivers.vlt
	@mkdir -p $$(@D)
	$$(call say,VERILATE,$(2))
	$$(Q)$$(VERILATOR) --cc --prefix V$(1) $$(RTL_FLAGS) --Mdir $$(@D) --top-module $(2) $(DMA_SIZES) $(4) \
	    $(RTL_PKG) $(3)
	$$(Q)MAKEFLAGS= $$(MAKE) -s -C $$(@D) -f V$(1).mk $$(DMA_OPT) V$(1)__ALL.a $(RTL_RUN) >/dev/null
endef
$(eval $(call dma_model,dma,xpu_dma,sim/rtl/xpu_dma.sv,-GREADS=128))
$(eval $(call dma_model,pair,pair,sim/rtl/xpu_dma.sv sim/rtl/xpu_queues.sv sim/rtl/xpu_regs.sv tests/rtl/dma/pair.sv,$(RTL_CHECKS)))
DMA_LIBS  := $(DMA_DIR)/dma/Vdma__ALL.a $(DMA_DIR)/pair/Vpair__ALL.a
DMA_O     := $(addprefix $(BUILD)/obj/tests/rtl/dma/,main.o draw.o plain.o rtl.o)
$(BUILD)/obj/tests/rtl/dma/rtl.o: tests/rtl/dma/rtl.cpp tests/rtl/dma/rtl.h tests/rtl/dma/memory.h tests/rtl/bare/bare.h $(DMA_LIBS)
	@mkdir -p $(@D)
	$(call say,CXX,$<)
	$(Q)g++ $(RTL_CXX) -I$(DMA_DIR)/dma -I$(DMA_DIR)/pair -c $< -o $@
$(DMA_BENCH): $(DMA_O) $(DMA_LIBS) $(BARE) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)g++ -o $@ $^ $(addprefix $(DMA_DIR)/dma/,$(RTL_RUN)) $(LDFLAGS) $(LDLIBS) -lpthread

.PHONY: test-rtl-dma
test-rtl: test-rtl-dma
rtl: $(DMA_BENCH)
test-rtl-dma: $(DMA_BENCH)
	$(Q)$(DMA_BENCH)
