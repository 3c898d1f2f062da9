# The one build file. `make help` lists the targets; everything that is built stands in $(BUILD).
#   SAN=address,undefined   build with sanitizers, in a folder of its own
#   CHIP=nano               the chip that `make run` compiles for (default: standard)
#   COVERAGE=1              count which lines run, in a folder of its own (make coverage)
#   V=1                     show the commands
#   SOUND=FILE.wav          where `make demo-voice` looks for speech
#   PICTURE=FILE.jpg        what `make demo-ocr` reads; FORM=paddle: with PaddlePaddle's programs (default: onnx)
#   DEVICE=rtl              demonstrations on the Verilated chip (default: func); TOKENS=32: a shorter story
#   CC=clang-19             another host compiler
#   DEPS=no                 neither looks for Debian packages nor installs them
SAN    ?=
CHIP   ?= standard
SOUND  ?= examples/voice/yes_1000ms.wav
PICTURE ?= examples/ocr/text.png
FORM   ?= onnx
DEVICE ?= func
TOKENS ?= 256
PREFIX ?= /usr/local
CLANG  ?= clang-19
BUILD  ?= build$(if $(SAN),/san)$(if $(COVERAGE),/coverage)

VERSION := 0.1.0
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
MAKEFLAGS += --no-builtin-rules
# What `make` without -j begins builds with all processors (expanded in recipes: only there MAKEFLAGS knows).
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# Where packages are missing, these goals install them first and then make the rest anew, since variables hold what the
# packages' programs say; the others name the line that does. What is built alone needs neither Verilator nor the tests'.
INSTALL_DEPS := run run-resnet50 demo-voice demo-story demo-ocr models test test-long test-models bench bench-func
BUILD_ONLY   := all device examples gen
GOALS        := $(filter-out $(INSTALL_DEPS) deps help clean layers lengths,$(or $(MAKECMDGOALS),all))
ifeq ($(MAKELEVEL)$(filter no,$(DEPS)),0)
MISSING := $(if $(GOALS),$(strip $(shell scripts/deps --missing $(if $(filter-out $(BUILD_ONLY),$(GOALS)),,build))))
$(if $(MISSING),$(error packages are missing, `make deps` installs them (root or sudo): $(MISSING)))
endif
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:

CC      ?= gcc
ifeq ($(origin CC),default)
CC      := gcc
endif
WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers
# at -O1 gcc warns of setjmp for variables that no longjmp meets
OPT     := $(if $(SAN),-O1 -g -fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer \
    $(if $(findstring clang,$(CC)),,-Wno-clobbered $(if $(findstring thread,$(SAN)),-Wno-maybe-uninitialized)),$(if $(COVERAGE),-O1 -g --coverage -Wno-clobbered -Wno-maybe-uninitialized,-O2 -g))
CFLAGS  := -std=c11 $(WARN) $(OPT) -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno -fno-trapping-math \
           -D_GNU_SOURCE -DXPU_VERSION='"$(VERSION)"' -I. -I$(BUILD)/gen
LDFLAGS := $(if $(SAN),-fsanitize=$(SAN)) $(if $(COVERAGE),--coverage) -Wl,-rpath,'$$ORIGIN/../lib'
LDLIBS  := -Wl,--as-needed -lprotobuf-c -ljansson -lyaml -lpng -ljpeg -lz -lm -ldl
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-8s %s\n' $(1) $(2))

# Modules of the host, by layer (scripts/layers checks what they include).
COMMON  := base core core/ir core/ops core/passes memplan xpu_runtime/program
COMPILE := frontend frontend/build frontend/onnx frontend/paddle partition convert xpu_codegen $(addprefix xpu_codegen/,choose lower emit pack) xpuc
RUN     := xpu_runtime/host
FUNC    := sim/func sim/func/gdb sim/func/report
SHARED  := tools/common tools/memplan
sources  = $(foreach d,$(1),$(sort $(wildcard $(d)/*.c)))
objects  = $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out xpuc/main.c,$(call sources,$(1))))
protos  := frontend/onnx/onnx xpu_runtime/program/program
GEN_H   := $(foreach p,$(protos),$(BUILD)/gen/$(p).pb-c.h)
pb       = $(patsubst %,$(BUILD)/obj/gen/%.pb-c.o,$(1))

# Device kernels that also run on the host, for the descriptors that they queue (xpu_runtime/program/record.c); what
# their arithmetic, and that file's, does with arguments that no compiler makes is defined.
RECORDED_O := $(patsubst %,$(BUILD)/obj/xpu_runtime/kernels/%.o,engine_parameters matrix_tensor post_engine window_engine_i8)
$(RECORDED_O) $(addprefix $(BUILD)/obj/xpu_runtime/program/,record.o record_behind.o): CFLAGS += -fwrapv
XPUC_O  := $(call objects,$(COMMON) $(COMPILE)) $(RECORDED_O) $(call pb,$(protos))
XPURT_O := $(call objects,$(COMMON) $(RUN)) $(RECORDED_O) $(call pb,xpu_runtime/program/program)
FUNC_O  := $(call objects,base core $(FUNC))
ALL_O   := $(call objects,$(COMMON) $(COMPILE) $(RUN) $(FUNC) $(SHARED)) $(RECORDED_O) $(call pb,$(protos)) \
           $(patsubst %,$(BUILD)/obj/sim/harness/%.o,lockstep bounds)

LIBXPUC  := $(BUILD)/lib/libxpuc.so
LIBXPURT := $(BUILD)/lib/libxpurt.so
LIBFUNC  := $(BUILD)/lib/libxpufunc.so
LIBALL   := $(BUILD)/lib/libxpu-internal.a
SHARE    := $(BUILD)/share/xpu
TOOLS    := $(patsubst tools/%.c,$(BUILD)/bin/%,$(filter-out tools/hwgen.c tools/docgen.c,$(wildcard tools/*.c)))
BINARIES := $(BUILD)/bin/xpuc $(TOOLS)

.PHONY: all run run-resnet50 demo-voice demo-story demo-ocr models memory constants test test-long test-models lint layers lengths tidy fmt-check fmt bench bench-func deps install help clean gen tests examples
all: $(BINARIES) $(LIBXPUC) $(LIBXPURT) $(LIBFUNC) device examples $(SHARE)/suite manuals

help:
	@echo 'all        build everything into $(BUILD)'
	@echo 'run        install what is missing, build, compile the digits network and run it on the Verilated chip'
	@echo 'run-resnet50  the whole of ResNet-50 on the Verilated chip (needs ../shared)'
	@echo 'demo-voice  where speech is in SOUND=FILE.wav, as text and as a picture; DEVICE=rtl: on the Verilated chip'
	@echo 'demo-story  a small language model tells a story, TOKENS=256 long; DEVICE=rtl: on the Verilated chip'
	@echo 'demo-ocr   the text in PICTURE=FILE.jpg (or PNG), by three networks; DEVICE=rtl: on the Verilated chip; FORM=paddle'
	@echo 'models     what networks of others take and how far they are from onnxruntime: the table of docs/models.md'
	@echo 'memory     bytes that cross GM, and cycles, of networks on chips with much and little L3: a table of docs/memory.md'
	@echo 'constants  what the model of cycles is made of, measured on the Verilated chip beside what xpu_codegen/choose/costs.def says'
	@echo 'chip       the Verilated chip CHIP (WAVE=1: with waveforms) as a library; CHIP=FILE.json: your own'
	@echo 'test       build and run the tests (about six minutes)'
	@echo 'test-long  the long tests: 500 random networks, 20,000 hostile files of each kind, 2,000,000 in all, large models, of the RTL'
	@echo '           10^6 random instructions, 10^5 descriptors, ten random chips, the chip pro, all benches of its units'
	@echo 'test-models  the networks of ../shared: every quantised tensor against onnxruntime, on DEVICES (func rtl)'
	@echo 'bench      compile and simulation speed per model, as text and JSON'
	@echo 'bench-func  func beside onnxruntime on one thread, which PYTHON must have: a table of docs/models.md'
	@echo 'validate-paddle  converted models in PYTHON'"'"'s onnxruntime, PADDLE2 and PADDLE3 (PaddlePaddle 2.6 and 3.3)'
	@echo 'bench-sim  host time per simulated cycle of the standard chip, beside that of the bare array'
	@echo 'coverage   which lines of the host code the quick tests reach: docs/coverage.md'
	@echo 'lint       warnings of gcc and clang, clang-format, layers, lengths, tidy, generated files, lint-rtl'
	@echo 'lint-rtl   SystemVerilog: every file by Verilator and Yosys, the chip in each configuration by Verilator and slang'
	@echo 'lint-slang SystemVerilog by slang alone; skipped where python3 has no pyslang'
	@echo 'test-rtl   the tests of the units in SystemVerilog'
	@echo 'layers     which module includes which, steps of the target, circles between files'
	@echo 'lengths    no function over 80 lines, no source file over 800'
	@echo 'tidy       clang-tidy and -Wconversion over the host code, files that have changed (.clang-tidy says what and why)'
	@echo 'fmt        format the sources; fmt-check only looks'
	@echo 'gen        write the generated files that are committed again (hwgen)'
	@echo 'docs       run the commands in README.md and docs again, and put in what they print now (scripts/docs says how)'
	@echo 'deps       install the Debian packages that are missing (root or sudo)'
	@echo 'wheel      the Python package with everything it needs, as one file in dist/ (docs/python.md)'
	@echo 'provider   the execution provider for onnxruntime; ORT_INCLUDE=DIR: its headers (docs/onnxruntime.md)'
	@echo 'provider-wheel  the same as one file in dist/, with everything it needs'
	@echo 'install    to $$(DESTDIR)$$(PREFIX)'
	@echo 'Variables: SAN=address,undefined  CHIP=nano|standard|pro  V=1  CC=  BUILD=  PREFIX=  DESTDIR=  DEPS=no'

deps:
	@$(if $(filter no,$(DEPS)),:,scripts/deps)

# Host objects and libraries
$(BUILD)/obj/%.o: %.c | $(GEN_H)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS) $(EXTRA_$(subst /,_,$*)) -MMD -MP -MT '$(patsubst $(BUILD)/%,$$(BUILD)/%,$@)' -c $< -o $@

$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h &: %.proto
	@mkdir -p $(@D)
	$(call say,PROTOC,$<)
	$(Q)protoc-c --proto_path=. --c_out=$(BUILD)/gen $<

$(BUILD)/obj/gen/%.pb-c.o: $(BUILD)/gen/%.pb-c.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(filter-out -Wmissing-prototypes -Wshadow,$(CFLAGS)) -MMD -MP -MT '$(patsubst $(BUILD)/%,$$(BUILD)/%,$@)' -c $< -o $@

# The hot loops of the functional chip, of ref and of the exact search: blocked so that the host compiler vectorises them.
HOT := $(call objects,$(FUNC) core/ops) $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard memplan/exact*.c))
$(HOT): CFLAGS += $(if $(SAN)$(COVERAGE),,-O3)

# Each library is a file with its version, which two links lead to: that of the soname and that of the linker
LIBRARIES := $(LIBXPUC) $(LIBXPURT) $(LIBFUNC)
$(LIBXPUC).$(VERSION): $(XPUC_O)
$(LIBXPURT).$(VERSION): $(XPURT_O)
$(LIBFUNC).$(VERSION): $(FUNC_O)
$(LIBRARIES:%=%.$(VERSION)): %.$(VERSION):
	@mkdir -p $(@D)
	$(call say,LINK,$*)
	$(Q)$(CC) -shared -Wl,-soname,$(*F).$(SOVERSION) -o $@ $^ $(LDFLAGS) $(LDLIBS)
$(LIBRARIES): %: %.$(VERSION)
	$(Q)ln -sf $(<F) $@.$(SOVERSION) && ln -sf $(@F).$(SOVERSION) $@

$(LIBALL): $(ALL_O)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/bin/xpuc: $(BUILD)/obj/xpuc/main.o $(LIBXPUC) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(LIBXPUC) $(LIBALL) $(LDFLAGS) $(LDLIBS)

$(BUILD)/bin/%: $(BUILD)/obj/tools/%.o $(LIBXPURT) $(LIBXPUC) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(LIBXPURT) $(LIBXPUC) $(LIBALL) $(LDFLAGS) $(LDLIBS)

# Man pages and completion for bash: what the tools say of themselves
TOOL_NAMES  := $(notdir $(BINARIES))
MANUALS     := $(TOOL_NAMES:%=$(BUILD)/share/man/man1/%.1)
COMPLETIONS := $(TOOL_NAMES:%=$(BUILD)/share/bash-completion/completions/%)
.PHONY: manuals
manuals: $(MANUALS) $(COMPLETIONS)
$(MANUALS): $(BUILD)/share/man/man1/%.1: $(BUILD)/bin/%
	@mkdir -p $(@D)
	$(Q)$< --help=man >$@
$(COMPLETIONS): $(BUILD)/share/bash-completion/completions/%: $(BUILD)/bin/%
	@mkdir -p $(@D)
	$(Q)$< --help=bash >$@

# hwgen and what it writes; the generated files are committed, `make lint` diffs them
$(BUILD)/hwgen $(BUILD)/docgen: $(BUILD)/%: $(BUILD)/obj/tools/%.o $(LIBALL)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(LDLIBS)
gen: $(BUILD)/hwgen $(BUILD)/docgen
	@scripts/generate $(BUILD) .

# The device library: kernels and start-up code, compiled for the chip's cores
# Data of these stand in memory in this order, and code that link.ld does not place: kernels that are not named follow,
# so that a new one moves no other, and no cycle changes.
KERNELS    := $(patsubst %,xpu_runtime/kernels/%.c,reduce_absmax_f32 bytes chain matrix_conv_f32 matrix_tensor move \
                matrix_depthwise_f32 findmax window_large_max_i8 matrix_f32 window_pool_f32 norm_softmax_f32 window window_i8 \
                window_multiply)
DEVICE_C   := $(call sources,xpu_runtime/devrt) $(KERNELS) $(filter-out $(KERNELS),$(call sources,xpu_runtime/kernels))
DEVICE_S   := $(wildcard xpu_runtime/devrt/*.S)
DEVICE_O   := $(patsubst %.c,$(BUILD)/device/%.o,$(DEVICE_C)) $(patsubst %.S,$(BUILD)/device/%.o,$(DEVICE_S))
DEVICE_H   := $(wildcard xpu_runtime/include/*.h xpu_runtime/include/*.def xpu_runtime/include/generated/*.h \
                core/arith*.h core/ops/elementwise.def xpu_runtime/kernels/*.h)
FLAGS      := xpu_runtime/devrt/clang.flags
# Vector instructions begin in order: here they stand as they shall begin, loads between the products that they overlap.
$(BUILD)/device/xpu_runtime/kernels/attention_f32.o: KERNEL_FLAGS := -mllvm -enable-misched=0
$(BUILD)/device/xpu_runtime/kernels/hard_swish.o: KERNEL_FLAGS := -mllvm -enable-misched=0
$(BUILD)/device/xpu_runtime/kernels/matrix_row_scale.o: KERNEL_FLAGS := -mllvm -enable-misched=0
$(BUILD)/device/xpu_runtime/kernels/matrix_rows_f32.o: KERNEL_FLAGS := -mllvm -enable-misched=0
$(BUILD)/device/xpu_runtime/kernels/matrix_depthwise_i16.o: KERNEL_FLAGS := -mllvm -enable-misched=0 -mllvm -disable-lsr
$(BUILD)/device/xpu_runtime/kernels/window_multiply_deep.o: KERNEL_FLAGS := -mllvm -enable-misched=0
$(BUILD)/device/xpu_runtime/kernels/recurrent_f32.o: KERNEL_FLAGS := -mllvm -enable-misched=0 -mllvm -disable-lsr
$(BUILD)/device/xpu_runtime/kernels/window_max_f32.o: KERNEL_FLAGS := -mllvm -enable-misched=0
$(BUILD)/device/xpu_runtime/kernels/window_i8.o: KERNEL_FLAGS := -mllvm -enable-misched=0 -mllvm -disable-lsr
$(BUILD)/device/%.o: %.c $(FLAGS)
	@mkdir -p $(@D)
	$(call say,CLANG,$<)
	$(Q)$(CLANG) @$(FLAGS) $(KERNEL_FLAGS) -Wall -Wextra -Werror -I. -MMD -MP -MT '$(patsubst $(BUILD)/%,$$(BUILD)/%,$@)' -c $< -o $@
$(BUILD)/device/%.o: %.S $(FLAGS)
	@mkdir -p $(@D)
	$(call say,CLANG,$<)
	$(Q)$(CLANG) @$(FLAGS) -Wno-unused-command-line-argument -I. -MMD -MP -MT '$(patsubst $(BUILD)/%,$$(BUILD)/%,$@)' -c $< -o $@
$(SHARE)/device/libxpudevice.a: $(DEVICE_O)
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && llvm-ar-19 rcs $@ $^
$(SHARE)/.stamp: $(DEVICE_H) $(FLAGS) $(wildcard xpu_runtime/devrt/*.ld configs/*/*.json)
	@mkdir -p $(SHARE)/device/include $(SHARE)/configs
	$(Q)cp --parents $(DEVICE_H) $(SHARE)/device/include
	$(Q)cp $(FLAGS) $(wildcard xpu_runtime/devrt/*.ld) $(SHARE)/device
	$(Q)cp -r configs/. $(SHARE)/configs
	@touch $@
.PHONY: device
device: $(SHARE)/.stamp $(SHARE)/device/libxpudevice.a
# The suite of xpu-regress with the models that it names: in the build folder a link to the source tree
SUITE := $(wildcard tests/regress/*.json tests/regress/networks/* tests/regress/detector/*) examples/digits/README.md $(wildcard examples/digits/*.onnx examples/digits/*.npz) \
         $(wildcard tests/models/licences/* tests/models/*.md tests/models/*.onnx tests/models/*.npy) tests/models/mnist8_expected.npz
$(SHARE)/suite:
	@mkdir -p $(@D)
	$(Q)ln -sfn "$$(realpath --relative-to=$(@D) .)" $@

# Examples link what a user's program links
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
DEMOS    := voice story ocr
PLUGINS  := $(patsubst examples/%/plugin.c,$(BUILD)/lib/xpu-target-%.so,$(wildcard examples/*/plugin.c))
# These are programs of a user: they know the headers as they are installed
EXTRA_examples_build_in_c := -Ixpuc/include -Ixpu_runtime/include
EXTRA_examples_stream := -Ixpuc/include -Ixpu_runtime/include
EXTRA_examples_common_demo := -Ixpu_runtime/include
EXTRA_examples_voice_voice := -Ixpu_runtime/include
EXTRA_examples_story_story := -Ixpu_runtime/include
EXTRA_examples_ocr_ocr := -Ixpu_runtime/include
examples: $(EXAMPLES) $(DEMOS:%=$(BUILD)/examples/%) $(PLUGINS)
$(BUILD)/examples/%: $(BUILD)/obj/examples/%.o $(LIBXPURT) $(LIBXPUC) $(LIBFUNC) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(LIBXPURT) $(LIBXPUC) $(LIBFUNC) $(LIBALL) $(LDFLAGS) $(LDLIBS)
# A demonstration is a folder of sources that are one program, with those of examples/common
$(foreach d,$(DEMOS),$(eval $(BUILD)/examples/$d: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard examples/$d/*.c examples/common/*.c))))
$(DEMOS:%=$(BUILD)/examples/%): $(LIBXPURT) $(LIBFUNC)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(filter %.so,$^) $(LDFLAGS) $(LDLIBS)
$(BUILD)/lib/xpu-target-%.so: $(BUILD)/obj/examples/%/plugin.o
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ $^ $(LDFLAGS)

# Tests: every tests/*/test_*.c is a program, every tests/*/test_*.sh a script
TEST_C    := $(wildcard tests/*/test_*.c)
LONG_C    := $(wildcard tests/*/long_*.c)
BENCH_C   := $(wildcard tests/bench/*.c)
GEN_C     := $(filter-out %_main.c,$(wildcard tests/gen/*.c tests/chip/rig/*.c))
TEST_LIB  := $(BUILD)/lib/libxpu-tests.a
TEST_BIN  := $(patsubst %.c,$(BUILD)/%,$(TEST_C))
LONG_BIN  := $(patsubst %.c,$(BUILD)/%,$(LONG_C))
BENCH_BIN := $(patsubst %.c,$(BUILD)/%,$(BENCH_C))
GEN_BIN   := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/gen/*_main.c))
$(TEST_LIB): $(patsubst %.c,$(BUILD)/obj/%.o,$(GEN_C))
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^
$(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(TEST_LIB) $(LIBXPURT) $(LIBXPUC) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $< $(TEST_LIB) $(LIBALL) $(LDFLAGS) $(LDLIBS) -lcunit
# The device's half of the kernel tests
KERNELS_ELF := $(BUILD)/tests/chip/kernels.elf
$(KERNELS_ELF): $(BUILD)/device/tests/chip/device/kernels.o $(SHARE)/device/libxpudevice.a \
                $(BUILD)/device/tests/chip/device/pixels.o xpu_runtime/devrt/link.ld
	@mkdir -p $(@D)
	$(call say,LLD,$@)
	$(Q)ld.lld-19 --gc-sections -T xpu_runtime/devrt/link.ld $(filter %.o %.a,$^) -o $@
# Hostile files, with sanitizers: the program is built in a sanitizer folder of its own
FUZZ_O   := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/fuzz/*.c))
SAN_BIN  := $(if $(SAN),$(BUILD),$(BUILD)/san)/tests/fuzz/hostile
$(BUILD)/tests/fuzz/hostile: $(FUZZ_O) $(TEST_LIB) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $^ $(LDFLAGS) $(LDLIBS)
.PHONY: hostile
hostile:
	$(Q)$(MAKE) $(PARALLEL) --no-print-directory SAN=address,undefined BUILD=$(patsubst %/tests/fuzz/hostile,%,$(SAN_BIN)) $(SAN_BIN)
tests: $(TEST_BIN) $(GEN_BIN) $(KERNELS_ELF) $(BUILD)/tests/bench/run_bench $(BUILD)/tests/bench/read_bench hostile
test: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all tests chips units
	@scripts/test $(BUILD) $(TEST_BIN) $(wildcard tests/*/test_*.sh)
test-long: deps
	@$(if $(filter no,$(DEPS)),:,scripts/deps long)
	@$(MAKE) $(PARALLEL) --no-print-directory all tests chips all-benches $(LONG_BIN)
	@XPU_TEST_SECONDS=$${XPU_TEST_SECONDS:-7200} scripts/test $(BUILD) $(LONG_BIN) $(wildcard tests/*/long_*.sh)
test-models: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all chips
	@XPU_BUILD=$(BUILD) bash tests/models/long_models.sh
bench: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all $(BENCH_BIN) $(KERNELS_ELF)
	@scripts/bench $(BUILD)
.PHONY: validate-paddle
validate-paddle: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all
	@XPU_BUILD=$(BUILD) XPU_BIN=$(BUILD)/bin PYTHON=$(PYTHON) bash tests/convert/validate.sh
PYTHON ?= python3
bench-func: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all $(BUILD)/tests/bench/run_bench
	@$(PYTHON) scripts/bench-func $(BUILD) ../shared/models --write

run: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all
	@$(MAKE) $(PARALLEL) --no-print-directory chip CHIP=$(CHIP)
	@scripts/run $(BUILD) $(CHIP)
run-resnet50: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all
	@$(MAKE) $(PARALLEL) --no-print-directory chip CHIP=standard
	@scripts/run_resnet50 $(BUILD) ../shared

# Demonstrations: docs/demos.md
demo-voice: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all $(if $(filter rtl,$(DEVICE)),chip CHIP=standard)
	@scripts/demo_voice $(BUILD) $(DEVICE) "$(SOUND)"
demo-story: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all $(if $(filter rtl,$(DEVICE)),chip CHIP=standard)
	@scripts/demo_story $(BUILD) $(DEVICE) $(TOKENS)
demo-ocr: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all $(if $(filter rtl,$(DEVICE)),chip CHIP=standard)
	@scripts/demo_ocr $(BUILD) $(DEVICE) "$(PICTURE)" ../shared/models $(FORM)
models: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all
	@$(MAKE) $(PARALLEL) --no-print-directory chip CHIP=standard
	@scripts/models $(BUILD) ../shared/models --write
	@scripts/models $(BUILD) ../shared/models --write vision

memory: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all
	@$(MAKE) $(PARALLEL) --no-print-directory chip CHIP=standard
	@$(MAKE) $(PARALLEL) --no-print-directory chip CHIP=small-l3
	@scripts/memory $(BUILD) ../shared/models --write

constants: deps
	@$(MAKE) $(PARALLEL) --no-print-directory all $(BUILD)/tests/gen/constants_main
	@$(MAKE) $(PARALLEL) --no-print-directory chip CHIP=standard
	@XPU_BUILD=$(BUILD) $(BUILD)/tests/gen/constants_main

# Which lines of the host's code the quick tests reach: docs/coverage.md
COVERED    := $(TEST_BIN) $(GEN_BIN) $(KERNELS_ELF)
COVERED_SH := errors golden sweep corpus unit regress
.PHONY: coverage coverage-tests
coverage: deps
	@$(MAKE) $(PARALLEL) --no-print-directory chips
	@mkdir -p $(BUILD)/coverage/lib && ln -sf ../../lib/libxpurtl-nano.so ../../lib/libxpurtl-standard.so $(BUILD)/coverage/lib
	@$(MAKE) $(PARALLEL) --no-print-directory COVERAGE=1 BUILD=$(BUILD)/coverage coverage-tests
coverage-tests: all $(COVERED)
	@scripts/coverage $(BUILD) $(TEST_BIN) $(filter-out %/test_rtl.sh,$(wildcard $(COVERED_SH:%=tests/%/test_*.sh)))

# A test compares (tests/docs)
.PHONY: docs
docs: all chips
	@scripts/docs $(BUILD) --write

lint: fmt-check layers lengths tidy
	@scripts/lint $(BUILD)
fmt-check:
	@scripts/format --check
fmt:
	@scripts/format
layers:
	@scripts/layers
lengths:
	@scripts/lengths
tidy: $(GEN_H)
	@scripts/tidy $(BUILD)

# Headers of the libraries; and what a plug-in includes (cc -I$(PREFIX)/include/xpu)
PUBLIC_H := $(addprefix xpuc/include/,xpuc.h xpuc_build.h xpuc_validate.h) $(addprefix xpu_runtime/include/,xpurt.h xpurt_device.h xpurt_func.h xpurt_rtl.h)
PLUGIN_H := $(wildcard base/*.h core/target.h core/ir/*.h core/ir/*.def core/ops/*.h core/ops/*.def)
# pkg-config: what a library is, and what it needs
about_xpuc    := compiles neural networks for an XPU-style NPU
about_xpurt   := runs what libxpuc has compiled, on the Verilated chip or on the host
about_xpufunc := the functional chip as a device of libxpurt
needs_xpufunc := xpurt
package = printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: $(1)' \
          'Description: $(about_$(1))' 'Version: $(VERSION)' 'Requires: $(needs_$(1))' 'Cflags: -I$${includedir}' \
          'Libs: -L$${libdir} -l$(1)'
install: all chips
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share
	install $(BINARIES) $(DESTDIR)$(PREFIX)/bin
	install $(LIBRARIES:%=%.$(VERSION)) $(USER_LIBS) $(DESTDIR)$(PREFIX)/lib
	cp -P $(LIBRARIES) $(LIBRARIES:%=%.$(SOVERSION)) $(DESTDIR)$(PREFIX)/lib
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	$(foreach l,xpuc xpurt xpufunc,$(call package,$(l)) >$(DESTDIR)$(PREFIX)/lib/pkgconfig/$(l).pc &&) :
	install -m 644 $(PUBLIC_H) $(DESTDIR)$(PREFIX)/include
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,man/man1 bash-completion/completions)
	install -m 644 $(MANUALS) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(COMPLETIONS) $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -d $(DESTDIR)$(PREFIX)/include/xpu
	cp --parents $(PLUGIN_H) $(DESTDIR)$(PREFIX)/include/xpu
	install -d $(DESTDIR)$(PREFIX)/share/xpu/suite
	cp -r $(SHARE)/configs $(SHARE)/device $(DESTDIR)$(PREFIX)/share/xpu
	cp --parents $(SUITE) $(DESTDIR)$(PREFIX)/share/xpu/suite

clean:
	rm -rf $(BUILD)

-include sim/rtl/rtl.mk
include python/wheel.mk
include provider/provider.mk
# What is built with sanitizers says the same names of its own files.
-include $(shell find $(BUILD) -path $(BUILD)/san -prune -o -name '*.d' -print 2>/dev/null)
