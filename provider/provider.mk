# `make provider`: the execution provider for onnxruntime (docs/onnxruntime.md). Its headers are no Debian package: they are
# onnxruntime's own, of 1.24 or newer, in ORT_INCLUDE, or those of the Go module onnxruntime_go where Go has fetched it.
GO_MODULES  ?= $(or $(GOMODCACHE),$(or $(firstword $(subst :, ,$(GOPATH))),$(HOME)/go)/pkg/mod)
ORT_INCLUDE ?= $(lastword $(sort $(wildcard $(GO_MODULES)/github.com/yalue/onnxruntime_go@v1.*)))
ORT_HEADERS := $(if $(ORT_INCLUDE),$(wildcard $(ORT_INCLUDE)/onnxruntime_ep_c_api.h))
PROVIDER    := $(BUILD)/lib/libonnxruntime_ep_xpu.so
PROVIDER_C  := $(wildcard provider/*.c)
PROVIDER_O  := $(PROVIDER_C:%.c=$(BUILD)/obj/%.o) $(call pb,frontend/onnx/onnx)

$(BUILD)/obj/provider/%.o: CFLAGS += -isystem $(ORT_INCLUDE)
$(PROVIDER): $(PROVIDER_O) $(LIBXPUC) $(LIBXPURT) $(LIBFUNC) $(LIBALL)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -o $@ $(PROVIDER_O) $(LIBXPUC) $(LIBXPURT) $(LIBFUNC) -Wl,--exclude-libs,ALL $(LIBALL) -Wl,-rpath,'$$ORIGIN' $(LDFLAGS) $(LDLIBS)

.PHONY: provider provider-headers provider-include
provider-include:
	@$(if $(ORT_HEADERS),echo $(ORT_INCLUDE),:)
provider-headers:
	@$(if $(ORT_HEADERS),:,echo 'onnxruntime_ep_c_api.h is missing: give ORT_INCLUDE=DIR, or run `go mod download github.com/yalue/onnxruntime_go@v1.27.0` (docs/onnxruntime.md)' >&2; exit 3)
# The make inside must not meet this one in the same folder: what else is asked for comes first
provider: provider-headers $(filter all chips wheel tests,$(MAKECMDGOALS))
	@$(if $(ORT_HEADERS),$(MAKE) $(PARALLEL) --no-print-directory $(PROVIDER) device,:)

# `make install` takes it along where its headers are
.PHONY: install-provider
install: install-provider
install-provider: $(if $(ORT_HEADERS),all chips)
	$(if $(ORT_HEADERS),@$(MAKE) $(PARALLEL) --no-print-directory $(PROVIDER) device)
	$(if $(ORT_HEADERS),install -d $(DESTDIR)$(PREFIX)/lib,@echo 'the execution provider for onnxruntime is not installed: its headers are missing (docs/onnxruntime.md)')
	$(if $(ORT_HEADERS),install $(PROVIDER) $(DESTDIR)$(PREFIX)/lib)

# `make provider-wheel`: the provider with everything it needs as one file in dist/
PROVIDER_WHEEL := $(NATIVE)/lib/libonnxruntime_ep_xpu.so
$(PROVIDER_WHEEL): $(PROVIDER_O) $(LIBALL) $(WHEEL_STDIN) $(WHEEL_SO)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -o $@ $(PROVIDER_O) $(WHEEL_STDIN) $(WHEEL_SO) $(LIBALL) $(WHEEL_LINK) $(WHEEL_LIBS)
.PHONY: provider-wheel provider-wheel-files
provider-wheel: provider-headers $(filter all chips wheel tests provider,$(MAKECMDGOALS))
	@$(if $(ORT_HEADERS),$(MAKE) $(PARALLEL) --no-print-directory provider-wheel-files,:)
provider-wheel-files: $(PROVIDER_WHEEL) $(WHEEL_SO) $(WHEEL_RTL) $(NATIVE)/.share
	@scripts/wheel onnxruntime_ep_xpu $(VERSION) $(NATIVE) $(DIST) $(filter-out %/.share,$^) $(NATIVE)/share
