# `make wheel`: the Python package with everything it needs as one file in dist/ (docs/python.md).
WHEEL      := $(BUILD)/wheel
NATIVE     ?= $(WHEEL)/native
DIST       ?= dist
WHEEL_DATA := $(addprefix $(NATIVE)/demo/,digits.onnx digits_heldout.npz README.md digits.xpu)
# Libraries that Debian has and others may not are linked in, and nothing of them is seen from outside
WHEEL_LIBS := -Wl,--as-needed -Wl,-Bstatic -lprotobuf-c -ljansson -lyaml -lpng -ljpeg -lz -Wl,-Bdynamic -lm -ldl
WHEEL_LINK := -s -Wl,--build-id=none -Wl,--exclude-libs,ALL -Wl,-rpath,'$$ORIGIN/../lib' -static-libgcc
WHEEL_STDIN := $(BUILD)/obj/python/native/stdin.o
WHEEL_SO   := $(foreach l,xpuc xpurt xpufunc,$(NATIVE)/lib/lib$l.so.$(SOVERSION))
WHEEL_BIN  := $(TOOL_NAMES:%=$(NATIVE)/bin/%)
WHEEL_PY   := $(wildcard python/xpu/*.py python/xpu/py.typed)

$(NATIVE)/lib/libxpuc.so.$(SOVERSION): $(XPUC_O)
$(NATIVE)/lib/libxpurt.so.$(SOVERSION): $(XPURT_O)
$(NATIVE)/lib/libxpufunc.so.$(SOVERSION): $(FUNC_O)
$(WHEEL_SO): $(WHEEL_STDIN)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -o $@ $^ $(WHEEL_LINK) $(WHEEL_LIBS)
$(NATIVE)/bin/xpuc: $(BUILD)/obj/xpuc/main.o
$(filter-out %/xpuc,$(WHEEL_BIN)): $(NATIVE)/bin/%: $(BUILD)/obj/tools/%.o
$(WHEEL_BIN): $(LIBALL) $(WHEEL_SO)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(filter %/libxpurt.so.$(SOVERSION) %/libxpuc.so.$(SOVERSION),$^) $(LIBALL) $(WHEEL_LINK) $(WHEEL_LIBS)

# The Verilated chips for any x86-64, from the C++ of this machine's: libxpurt takes the best that the processor has
WHEEL_CHIPS  := nano standard
WHEEL_LEVELS ?= v2 v3
define wheel_chip # $(1): the chip, $(2): the level
$(WHEEL)/rtl/$(1)-$(2)/Vxpu_chip__ALL.a: $(BUILD)/rtl/$(1)/Vxpu_chip__ALL.a
	$(call say,CXX,$$(@D))
	@mkdir -p $$(@D)
	$(Q)cp $(BUILD)/rtl/$(1)/*.cpp $(BUILD)/rtl/$(1)/*.h $(BUILD)/rtl/$(1)/*.mk $$(@D) && rm -f $$(@D)/Vxpu_chip__ALL.cpp
	$(Q)MAKEFLAGS= $(MAKE) -s -j$(SYSTEM_JOBS) -C $$(@D) -f Vxpu_chip.mk OPT_FAST='-O3 -march=x86-64-$(2)' Vxpu_chip__ALL.a $(RTL_RUN) >/dev/null
	@touch $$@
$(WHEEL)/rtl/$(1)-$(2)/model.o: sim/harness/model.cpp sim/harness/model.h $(WHEEL)/rtl/$(1)-$(2)/Vxpu_chip__ALL.a
	$(Q)g++ $(SYSTEM_CXX) $(patsubst -march=%,-march=x86-64-$(2),$(SYSTEM_LIB)) -I$$(@D) \
	    $$$$(sed -n 's/^DEFINES := //p' $$(@D)/chip.mk) -c $$< -o $$@
$(NATIVE)/lib/glibc-hwcaps/x86-64-$(2)/libxpurtl-$(1).so: $(WHEEL)/rtl/$(1)-$(2)/model.o $(HARNESS_O) $(FUNC_O) $(WHEEL_STDIN)
	@mkdir -p $$(@D)
	$(call say,LINK,$$@)
	$(Q)g++ -shared -Wl,-Bsymbolic -Wl,-soname,$$(@F) -o $$@ $$^ $(WHEEL)/rtl/$(1)-$(2)/Vxpu_chip__ALL.a \
	    $(addprefix $(WHEEL)/rtl/$(1)-$(2)/,$(RTL_RUN)) -lpthread -static-libstdc++ $(WHEEL_LINK) $(WHEEL_LIBS)
endef
$(foreach c,$(WHEEL_CHIPS),$(foreach l,$(WHEEL_LEVELS),$(eval $(call wheel_chip,$c,$l))))
WHEEL_RTL := $(foreach l,$(WHEEL_LEVELS),$(WHEEL_CHIPS:%=$(NATIVE)/lib/glibc-hwcaps/x86-64-$l/libxpurtl-%.so))
# Without levels: those of this machine, for tests
ifeq ($(WHEEL_LEVELS),)
WHEEL_RTL := $(WHEEL_CHIPS:%=$(NATIVE)/lib/libxpurtl-%.so)
$(WHEEL_RTL): $(NATIVE)/lib/libxpurtl-%.so: $(BUILD)/rtl/%/model.o $(HARNESS_O) $(FUNC_O) $(WHEEL_STDIN)
	@mkdir -p $(@D)
	$(Q)g++ -shared -Wl,-Bsymbolic -Wl,-soname,$(@F) -o $@ $^ $(BUILD)/rtl/$*/Vxpu_chip__ALL.a \
	    $(addprefix $(BUILD)/rtl/$*/,$(RTL_RUN)) -lpthread -static-libstdc++ $(WHEEL_LINK) $(WHEEL_LIBS)
endif

# What the libraries and the demonstration read
$(NATIVE)/.share: $(SHARE)/.stamp $(SHARE)/device/libxpudevice.a
	@rm -rf $(NATIVE)/share/xpu && mkdir -p $(NATIVE)/share/xpu
	$(Q)cp -r $(SHARE)/configs $(SHARE)/device $(NATIVE)/share/xpu
	@touch $@
$(filter-out %.xpu,$(WHEEL_DATA)): $(NATIVE)/demo/%: examples/digits/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(NATIVE)/demo/digits.xpu: examples/digits/digits.onnx $(BUILD)/bin/xpuc $(SHARE)/.stamp $(SHARE)/device/libxpudevice.a
	@mkdir -p $(@D)
	$(Q)$(BUILD)/bin/xpuc -q $< --shape x=1..16,1,16,16 -o $@

.PHONY: wheel
wheel: $(WHEEL_SO) $(WHEEL_BIN) $(WHEEL_RTL) $(WHEEL_DATA) $(NATIVE)/.share
	@scripts/wheel xpu $(VERSION) $(NATIVE) $(DIST) $(filter-out %/.share,$^) $(NATIVE)/share
