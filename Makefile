# Thin: each target is a preset or a script. `make build` and `make test` need nothing but make on a fresh Debian 12.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
CTEST = ctest --output-on-failure --no-tests=error
stage = @printf '\n== %s  %s\n' "$$(date +%T)" "$@"

# Compiler cache entries stay valid in a clone at another path.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.NOTPARALLEL:
.PHONY: build test check test-fast test-slow asan tsan fuzz interop bench demo format clean deps-build deps-test

build: deps-build
	$(stage)
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

# Cheap refusals first, full-size circuits last.
test: deps-test build check test-fast asan tsan fuzz interop test-slow

deps-build:
	tools/install-deps build
deps-test:
	tools/install-deps test

check: build
	$(stage)
	cmake --build --preset release -j $(JOBS) --target all_verify_interface_header_sets
	tools/check --build build/release

test-fast: build
	$(stage)
	$(CTEST) -j $(JOBS) --test-dir build/release -L fast
test-slow: build
	$(stage)
	$(CTEST) --test-dir build/release -L slow

# The sanitizers run what is labelled fast; nothing else is built for them. Debian's gRPC is not instrumented: what it does
# to memory and locks by itself is not judged. Transforms and sums run here with one set of kernels, the kernels with all.
asan: export LSAN_OPTIONS := suppressions=$(CURDIR)/tests/support/lsan.supp:print_suppressions=0
tsan: export TSAN_OPTIONS := ignore_noninstrumented_modules=1
asan tsan: deps-test
	$(stage)
	cmake --preset $@
	cmake --build --preset $@ -j $(JOBS) --target fast_tests
	$(CTEST) -j $(JOBS) --test-dir build/$@ -L fast -E '^(ntt|msm)_test_'

# Each target runs for FUZZ_SECONDS from a seed corpus made of tests/data.
fuzz: deps-test
	$(stage)
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	tools/fuzz build/fuzz $(FUZZ_SECONDS)

interop: deps-test build
	$(stage)
	tests/interop/run build/release

bench: build
	$(stage)
	for bench in build/release/bin/*_bench; do "$$bench" $(BENCH_ARGS); done

demo: build
	$(stage)
	tools/demo

format:
	git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' '*.inl' | xargs -0 clang-format-14 -i

clean:
	rm -rf build
