# SPDX-License-Identifier: Apache-2.0
# The two commands: `make demo` and `make test`. Both do their own set-up.
CARGO ?= cargo
PYTHON = .venv/bin/python

.PHONY: setup build demo test test-all bench docs tidy clean

setup:
	@scripts/setup.sh

build: setup
	$(CARGO) build --release

demo: build
	@scripts/demo.sh

test: setup
	@scripts/test.sh

test-all: setup
	@scripts/test.sh --all

bench: build
	@$(PYTHON) bench/run.py

docs: build
	@scripts/docs.sh

tidy:
	$(CARGO) run --quiet -p skript-tidy

clean:
	$(CARGO) clean
	rm -rf build out
