# SPDX-License-Identifier: Apache-2.0
# The front door: set-up, then CMake and CTest. No compile rules here. `make help` lists the targets.
PRESET ?= release
JOBS ?= $(shell nproc)
BUILD := $(if $(filter release,$(PRESET)),build,build-$(PRESET))
CMAKE_ARGS ?=
CTEST ?=

export CHARTER_BUILD := $(BUILD)
.DEFAULT_GOAL := help
.PHONY: help setup configure build test run smollm2 bench fuzz format format-check tidy clean

help: ## show this list
	@echo "make TARGET [PRESET=release|debug|asan|cuda] [JOBS=N] [CMAKE_ARGS=-D...] [CTEST=-R...]"
	@sed -n 's/^\([a-z0-9%-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

setup: ## install the Debian packages that are missing
	@scripts/setup.sh build

configure: setup ## run CMake
	@cmake --preset $(PRESET) $(CMAKE_ARGS)

build: configure ## compile everything
	@cmake --build $(BUILD) --parallel $(JOBS)

test: build ## build, then all tests; CTEST="-R Name" or "-L unit" picks some
	@ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure $(CTEST)

test-np%: build ## the tests on N ranks: test-np1, test-np2, test-np4
	@ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure --label-regex '^np$*$$' $(CTEST)

run: build ## fine-tune the tiny world on 2 ranks (on a login node: print the line that submits it)
	@scripts/run_tiny_world.sh

smollm2: build ## fetch SmolLM2-135M-Instruct and convert it
	@scripts/setup.sh smollm2
	@scripts/fetch_smollm2.sh

bench: build ## run the benchmarks
	@scripts/run_benchmarks.sh

fuzz: ## search for faults of the readers; FUZZ_SECONDS=60 each, TARGET=gguf picks one
	@scripts/setup.sh develop
	@JOBS=$(JOBS) FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) scripts/fuzz.sh $(TARGET)

format: ## let clang-format rewrite all C++ files
	@scripts/setup.sh develop
	@scripts/format.sh

format-check: ## fail where clang-format would change a file
	@scripts/setup.sh develop
	@scripts/format.sh --check

tidy: configure ## clang-tidy; FILES="src/base" limits it, CHANGED=1 takes the files changed since the last commit
	@scripts/setup.sh develop
	@JOBS=$(JOBS) CHANGED=$(CHANGED) scripts/tidy.sh $(FILES)

clean: ## remove the build folder
	@cmake -E rm -rf $(BUILD)
