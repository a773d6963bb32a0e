# SPDX-License-Identifier: Apache-2.0
# One-word targets around the CMake presets (CMakePresets.json) and the tools (tools/).
#
#   make demo        compile a real trained network and read a text with it
#   make test        everything a change must pass, with a time budget by part
#   make test-full   also Clang, thread sanitizer, libFuzzer, clang-tidy, huge files, the corpus (CORPUS=DIR);
#                    FUZZ_SECONDS=S for both: so long for each fuzz target (30, and 600 with libFuzzer)
#   make build       the program: build/release/bin/rota
#   make setup       install what is missing (Debian packages, .venv); demo and test do it themselves
#   make bench       the project's benchmarks; bench-peers: beside other runtimes
#   make lint        layering, sizes, headers, words, formatting, link contents; make format mends the formatting
#   make gen         rewrite the generated pages under docs/
#   make install PREFIX=DIR
SHELL := /bin/bash
.DEFAULT_GOAL := build
PYTHON := .venv/bin/python
ROTA := build/release/bin/rota
PREFIX ?= /usr/local
CORPUS ?=

.PHONY: setup setup-build build demo test test-full bench bench-peers lint format gen install clean

setup:
	@tools/setup.sh develop

setup-build:
	@tools/setup.sh build

build: setup-build
	@cmake --preset release --log-level=WARNING
	@ninja -C build/release --quiet

demo: build
	@$(PYTHON) examples/demo/demo.py --rota $(ROTA)

bench: build
	@ninja -C build/release --quiet rota_benchmarks
	@set -e; for program in $(wildcard bench/*.cpp); do build/release/bench/$$(basename $$program .cpp); done
	@$(PYTHON) bench/cpu_models.py --rota $(ROTA) $(if $(CORPUS),--corpus '$(CORPUS)')

bench-peers: build
	@tools/setup.sh build peers
	@$(PYTHON) bench/cpu_models.py --rota $(ROTA) --peers ort,openvino $(if $(CORPUS),--corpus '$(CORPUS)')

test test-full:
	@start=$$EPOCHREALTIME; tools/setup.sh develop && \
	python3 tools/test.py $(if $(filter test-full,$@),--full) $(if $(CORPUS),--corpus '$(CORPUS)') \
	  $(if $(FUZZ_SECONDS),--fuzz-seconds $(FUZZ_SECONDS)) --setup-seconds $$(awk "BEGIN { print $$EPOCHREALTIME - $$start }")

lint: setup
	@$(PYTHON) tools/lint.py --headers $(if $(wildcard build/release/lib/librota_runtime.so),--link build/release)

format: setup
	@git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -r -P 2 -n 16 clang-format-19 -i

gen: build
	@mkdir -p docs
	@build/release/tools/gen_docs docs

install: build
	@cmake --install build/release --prefix '$(PREFIX)'

clean:
	rm -rf build
