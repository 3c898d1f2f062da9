# The tools on the Verilated chip: make test-rtl-tools.
.PHONY: test-rtl-tools
test-rtl: test-rtl-tools
test-rtl-tools: rtl all
	$(Q)XPU_BIN=$(BUILD)/bin bash tests/rtl/tools/tools.sh
