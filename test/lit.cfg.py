# SPDX-License-Identifier: Apache-2.0
"""Suites of FileCheck tests; run them with scripts/lit.sh."""

import os

import lit.formats

config.name = "skript"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".sknd", ".test"]
config.excludes = ["Inputs", "inputs", "conformance", "differential", "numerics", "stability"]
config.test_source_root = os.path.dirname(__file__)

binaries = lit_config.params["binaries"]
config.test_exec_root = os.path.join(binaries, "lit")
config.environment["PATH"] = os.pathsep.join(
    [binaries, lit_config.params["llvm"], config.environment.get("PATH", "")]
)
for name in ["HOME", "RUST_BACKTRACE"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

root = os.path.dirname(config.test_source_root)
python = os.path.join(root, ".venv", "bin", "python")
config.substitutions.append(("%python", python if os.path.exists(python) else "python3"))
config.substitutions.append(("%llvm_lib", os.path.join(os.path.dirname(lit_config.params["llvm"]), "lib")))
config.substitutions.append(("%examples", os.path.join(root, "examples")))

# A test that runs a binary has `REQUIRES: skript`, so that the other tests also run with a partial build.
for name in ["skript", "skript-opt", "skript-translate", "skript-run"]:
    if os.path.exists(os.path.join(binaries, name)):
        config.available_features.add(name)

# scripts/lit.sh --param roundtrip=1: all inputs of tests must survive printing and parsing.
if "roundtrip" in lit_config.params:
    config.substitutions.append((r"(?<![-/\w])skript-opt(?![-\w])", "skript-opt --verify-roundtrip"))
