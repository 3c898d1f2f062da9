# Lock-step without RTL: make test-rtl-lockstep.
LOCKSTEP_TEST := $(BUILD)/tests/rtl/lockstep/lockstep
$(LOCKSTEP_TEST): $(addprefix $(BUILD)/obj/,tests/rtl/lockstep/main.o sim/harness/lockstep.o) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(LDLIBS) -lcunit
.PHONY: test-rtl-lockstep
test-rtl: test-rtl-lockstep
test-rtl-lockstep: $(LOCKSTEP_TEST)
	$(Q)$(LOCKSTEP_TEST)
