# SPDX-License-Identifier: Apache-2.0
# Every build is a preset of CMakePresets.json; this file only calls them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup bench test build all wheel adapters mpi with-mpi core lint nightly clean distclean

# Tools that setup installed without root come first.
export PATH := $(CURDIR)/.deps/bin:$(PATH)

# A file that includes torch needs up to 2.7 GB of memory while it compiles.
JOBS ?= $(shell awk -v cores="$$(nproc)" '/MemAvailable/ { fit = int($$2 / 2.7e6); \
  print fit < 1 ? 1 : fit < cores ? fit : cores }' /proc/meminfo)
PRESET ?= release
BUILD := build/$(PRESET)

help:
	@echo 'make bench    set up, build, run experiments/quick.toml; a table and a page'
	@echo 'make test     set up, build everything, run every test'
	@echo 'make all      set up and build everything, tests and benchmarks too'
	@echo 'make build    set up and build the program: build/paceline'
	@echo 'make wheel    build the program and dist/paceline-*.whl, for pip install'
	@echo 'make adapters NAME="jax paddle"  install frameworks, each apart; docs/adapters.md'
	@echo 'make mpi      install Open MPI (as root) and build the program with the engine mpi'
	@echo 'make core     build and test the half that needs no torch (minutes)'
	@echo 'make lint     format, module dependencies, sizes, clang-tidy, what is linked'
	@echo 'make nightly  the sanitizer presets, the nightly tests (300 faults among them), then every test ten times'
	@echo 'make setup    install what is missing, nothing else'
	@echo 'make clean    remove build/; distclean removes .deps/ and .venv/ too'
	@echo
	@echo 'TORCH=.../site-packages/torch   use this PyTorch wheel'
	@echo 'JOBS=2                          compile and test this many at once'

setup:
	@tools/setup.sh build

# Configured once; ninja runs cmake again when a CMake file has changed.
$(BUILD)/build.ninja: | setup
	cmake --preset $(PRESET) $(if $(TORCH),-DTORCH=$(TORCH))

build: setup $(BUILD)/build.ninja
	cmake --build --preset $(PRESET) --parallel $(JOBS) --target paceline netlab-delay
	@ln -sfn $(PRESET)/apps/paceline/paceline build/paceline

bench: build
	@mkdir -p results
	@old=results/quick.jsonl; [ ! -e $$old ] || \
	  mv $$old results/quick-$$(date -u -r $$old +%Y%m%dT%H%M%SZ).jsonl
	build/paceline run experiments/quick.toml --records results/quick.jsonl
	@build/paceline report results/quick.jsonl --output results/quick.html

wheel: build
	@tools/setup.sh wheel
	@tools/wheel/make_wheel.sh $(BUILD) dist

adapters: build
	@tools/setup/adapters.sh "$$(sed -n 's/^PACELINE_PYTHON:.*=//p' $(BUILD)/CMakeCache.txt)" $(NAME)

# Configured anew, because ninja does not see that MPI has come.
with-mpi: setup
	@tools/setup.sh mpi || echo 'no Open MPI here: the engine mpi is left out'
	cmake --preset $(PRESET) $(if $(TORCH),-DTORCH=$(TORCH))

mpi: with-mpi
	@grep --quiet '^PACELINE_FOUND_MPI:.*=ON$$' $(BUILD)/CMakeCache.txt || \
	  { echo 'make mpi: no MPI was found; install libopenmpi-dev and openmpi-bin, or their like' >&2; exit 3; }
	@$(MAKE) --no-print-directory build

all: with-mpi build
	@tools/setup.sh wheel
	cmake --build --preset $(PRESET) --parallel $(JOBS)

test: all
	ctest --preset $(PRESET) --parallel $(JOBS)

# One test more than there are cores, because some of them sleep.
core:
	@tools/setup.sh core
	cmake --preset core
	cmake --build --preset core --parallel $(JOBS)
	ctest --preset core --parallel $$(($(JOBS) + 1))

lint: build
	@tools/setup.sh lint
	tools/lint.sh $(BUILD) $(JOBS)

nightly: test
	for preset in asan-ubsan tsan; do \
	  cmake --preset $$preset && \
	  cmake --build --preset $$preset --parallel $(JOBS) && \
	  ctest --preset $$preset --parallel $(JOBS) || exit 1; \
	done
	CUDA_VISIBLE_DEVICES= ctest --test-dir $(BUILD) --label-regex '^nightly$$' --no-tests=error --output-on-failure --parallel $(JOBS)
	ctest --preset $(PRESET) --parallel $(JOBS) --schedule-random --repeat until-fail:10

clean:
	rm -rf build

distclean: clean
	rm -rf .deps .venv
