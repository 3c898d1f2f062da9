# The window engine's RTL against the functional engine: make test-rtl-window. One build per number of channels.
WINDOW_SV  := $(RTL_PKG) sim/rtl/xpu_window.sv
WINDOW_DIR := $(BUILD)/rtl/window

# name, channels, line buffers, bytes of one, flags: the small one with assertions, the large one is measured. Where
# there is one more, the engine has the stand-in of alone for a post-processor, and its bench this before its name
WINDOW_ALONE := tests/rtl/window/alone
define window_bench
$(WINDOW_DIR)/$(1)/Vwindow__ALL.a: $(WINDOW_SV) $(wildcard sim/rtl/xpu_window_*.svh) sim/rtl/xpu_tensor_post.svh $(wildcard $(WINDOW_ALONE)/*) sim/rtl/xpu_lanes.svh sim/rtl/xpu_inside.svh sim/rtl/xpu_checks.svh sim/rtl/xpu_rules.svh sim/rtl/xpu_post_rules.svh sim/rtl/waivers.vlt
	@mkdir -p $$(@D)
	$$(call say,VERILATE,xpu_window $(1))
	$$(Q)$$(VERILATOR) --cc --prefix Vwindow $(if $(6),-I$(WINDOW_ALONE)) $$(RTL_FLAGS) $(5) --Mdir $$(@D) \
	    --top-module xpu_window -GCHANNELS=$(2) -GLINE_ROWS=$(3) -GLINE_BYTES=$(4) -GSM_BYTES=1048576 -GGM_BYTES=1048576 \
	    sim/rtl/waivers.vlt $$(WINDOW_SV)
	$$(Q)MAKEFLAGS= $$(MAKE) -s -C $$(@D) -f Vwindow.mk $$(RTL_OPT) Vwindow__ALL.a >/dev/null
$(WINDOW_DIR)/$(1)/%.o: tests/rtl/window/%.c tests/rtl/tensor/rtl.h tests/rtl/tensor/bench.h
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)
	$$(Q)$$(CC) $$(CFLAGS) -DCHIP_CHANNELS=$(2)u -DCHIP_LINES=$(3)u -DCHIP_LINE_BYTES=$(4)u \
	    -DCHIP_HAS_POST=$(if $(6),0,1) -MMD -MP -c $$< -o $$@
$(WINDOW_DIR)/$(1)/bench.o: tests/rtl/tensor/bench.c tests/rtl/tensor/rtl.h tests/rtl/tensor/bench.h
	@mkdir -p $$(@D)
	$$(call say,CC,$$<)
	$$(Q)$$(CC) $$(CFLAGS) -MMD -MP -c $$< -o $$@
$(WINDOW_DIR)/$(1)/rtl.o: tests/rtl/tensor/rtl.cpp tests/rtl/tensor/rtl.h tests/rtl/bare/bare.h $(WINDOW_DIR)/$(1)/Vwindow__ALL.a
	$$(call say,CXX,$$<)
	$$(Q)g++ $$(RTL_CXX) -I$$(@D) -DTOP=Vwindow -DTOP_HEADER='"Vwindow.h"' -DTOP_INSIDE='"Vwindow___024root.h"' \
	    -DTOP_ROOT=Vwindow___024root -DTOP_CLOCKED=Vwindow___024root___eval_nba -DTOP_HAS_W=0 -c $$< -o $$@
$(BUILD)/tests/rtl/window/$(6)window-$(1): $(WINDOW_DIR)/$(1)/main.o $(WINDOW_DIR)/$(1)/bench.o $(WINDOW_DIR)/$(1)/rtl.o \
    $(WINDOW_DIR)/$(1)/Vwindow__ALL.a $(BARE) $(LIBALL)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)g++ -o $$@ $$^ $$(addprefix $(BARE_DIR)/,$$(RTL_RUN)) $$(LDFLAGS) $(LDLIBS) -lpthread
WINDOW_BIN += $(BUILD)/tests/rtl/window/$(6)window-$(1)
endef
WINDOW_BIN :=
$(eval $(call window_bench,8,8,7,1024,$(RTL_CHECKS),))
$(eval $(call window_bench,32,32,8,4096,,))
$(eval $(call window_bench,alone,32,8,4096,-Wno-lint,only-))

.PHONY: test-rtl-window
test-rtl: test-rtl-window
rtl: $(WINDOW_BIN)
test-rtl-window: $(WINDOW_BIN)
	$(Q)for b in $(WINDOW_BIN); do $$b 1000 || exit 1; done
