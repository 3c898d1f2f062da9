# The bare array, the unit of simulation speed, for the benches
BARE_DIR := $(BUILD)/rtl/bare
BARE_LIB := $(BARE_DIR)/Vbare__ALL.a
BARE     := $(BARE_DIR)/bare.o $(BARE_LIB)
$(BARE_LIB): tests/rtl/bare/bare.sv
	@mkdir -p $(@D)
	$(call say,VERILATE,bare array)
	$(Q)$(VERILATOR) --cc --prefix Vbare $(RTL_FLAGS) --Mdir $(@D) --top-module bare $<
	$(Q)MAKEFLAGS= $(MAKE) -s -C $(@D) -f Vbare.mk $(RTL_OPT) Vbare__ALL.a $(RTL_RUN) >/dev/null
$(BARE_DIR)/bare.o: tests/rtl/bare/bare.cpp tests/rtl/bare/bare.h $(BARE_LIB)
	$(call say,CXX,$<)
	$(Q)g++ $(RTL_CXX) -I$(@D) -c $< -o $@
