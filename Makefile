# SPDX-License-Identifier: Apache-2.0
# The two commands: `make demo` and `make test`. Both do their own set-up.
CARGO ?= cargo
PYTHON = .venv/bin/python

.PHONY: setup build demo test test-all bench bench-peers bench-operators bench-formulas bench-gradients test-networks wheel release docs site tidy clean

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

# PEERS: options of bench/peers/run.py, such as `--group single`.
bench-peers: build
	@bench/peers/setup.sh
	@build/peers-venv/bin/python bench/peers/run.py $(PEERS)

# OPERATORS: options of bench/operators.py, such as names of operators.
bench-operators: build
	@bench/operators-setup.sh
	@build/torch-venv/bin/python bench/operators.py $(OPERATORS)

# FORMULAS: options of bench/operators.py, such as names of formulas.
bench-formulas: build
	@bench/operators-setup.sh
	@build/torch-venv/bin/python bench/operators.py --suite formulas $(FORMULAS)

# Gradients beside torch.compile and jax.grad. GRADIENTS: options of bench/gradients.py, such as `--only softmax`.
bench-gradients: build
	@test/import/networks-setup.sh
	@$(PYTHON) bench/gradients.py $(GRADIENTS)

# Networks that packages ship and that torch exports, compared with onnxruntime. NETWORKS: options of
# test/import/torch_networks.py, such as `--only BERT`; SHIPPED: options of test/import/shipped.py.
test-networks: build
	@$(PYTHON) test/import/shipped.py --table out/shipped.md $(SHIPPED)
	@test/import/networks-setup.sh
	@build/networks-venv/bin/python test/import/torch_networks.py --table out/networks.md $(NETWORKS)

# All files of a release, in build/release.
release: build
	@scripts/release.sh

# The packages for Python, in build/wheels.
wheel: build
	@python/wheels.sh

docs: build
	@scripts/docs.sh

# The documentation as a site, in build/site/book. With RUSTDOC=1 it has the documentation of the Rust API.
site:
	@scripts/site.sh $(if $(RUSTDOC),--rustdoc)

tidy:
	$(CARGO) run --quiet -p skript-tidy

clean:
	$(CARGO) clean
	rm -rf build out
