# Thin: each target is a preset or a script. `make build` and `make test` need nothing but make on a fresh Debian 12.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
CTEST = ctest --output-on-failure --no-tests=error

# Compiler cache entries stay valid in a clone at another path.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.NOTPARALLEL:
.PHONY: build test check test-fast test-slow asan tsan fuzz interop bench demo format clean deps-build deps-test

build: deps-build
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

# Cheap refusals first; ctest's own summary of the release build last.
test: deps-test build check asan tsan fuzz interop test-fast test-slow

deps-build:
	tools/install-deps build
deps-test:
	tools/install-deps test

check: build
	cmake --build --preset release -j $(JOBS) --target all_verify_interface_header_sets
	tools/check --build build/release

test-fast: build
	$(CTEST) --test-dir build/release -L fast
test-slow: build
	$(CTEST) --test-dir build/release -L slow

# The sanitizers run what is labelled fast; nothing else is built for them.
asan tsan: deps-test
	cmake --preset $@
	cmake --build --preset $@ -j $(JOBS) --target fast_tests
	$(CTEST) --test-dir build/$@ -L fast

# Each target runs for FUZZ_SECONDS from a seed corpus made of tests/data.
fuzz: deps-test
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	tools/fuzz build/fuzz $(FUZZ_SECONDS)

interop: deps-test build
	tests/interop/run build/release

bench: build
	for bench in build/release/bin/*_bench; do "$$bench" $(BENCH_ARGS); done

demo: build
	tools/demo

format:
	git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' '*.inl' | xargs -0 clang-format-14 -i

clean:
	rm -rf build
