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
	$(CTEST) -j $(JOBS) --test-dir build/release -L slow

# The sanitizers run what is labelled fast; nothing else is built for them, but the fuzzers share clang's objects. Debian's
# gRPC is not instrumented: what it does to memory and locks by itself is not judged. Transforms and sums run here with one
# set of kernels, the kernels with all in field_test.
asan: export LSAN_OPTIONS := suppressions=$(CURDIR)/tests/support/lsan.supp:print_suppressions=0
asan: deps-test
	$(stage)
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS) --target fast_tests
	$(CTEST) -j $(JOBS) --test-dir build/asan -L fast -E '^(ntt_test|msm_test|field_kernels)_'

# Those that start threads; what sectors do in parallel is run by the programs' test.
THREADED := exec_test mem_test ntt_test msm_test r1cs_test groth16_test engine_test service_test cli_test capi_test
tsan: export TSAN_OPTIONS := ignore_noninstrumented_modules=1
tsan: deps-test
	$(stage)
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS) --target $(THREADED) cuzk cuzk-daemon
	$(CTEST) -j $(JOBS) --test-dir build/tsan -R "^($$(tr ' ' '|' <<<'$(THREADED) programs_test'))$$"

# Each target runs for FUZZ_SECONDS from a seed corpus made of tests/data.
fuzz: deps-test
	$(stage)
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS) --target fuzzers
	tools/fuzz build/asan $(FUZZ_SECONDS)

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
