#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `--emit=linalg-tensors` with other compilers: IREE compiles and runs each program, and upstream's mlir-opt verifies it.

    linalg.py --skript BINARY [--mlir-opt BINARY] [NAME]...

The programs are the operators of examples/operators in small sizes, and the graphs of Inputs/updates.sknd. The results must equal
those of numpy. REFUSED lists the operators that have no form in upstream dialects.
"""
import argparse
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "examples", "operators"), os.path.join(ROOT, "test", "stablehlo")]
import cases
import iree_cpu

# A kernel of the runtime computes `algo.top_k`.
REFUSED = {"nearest_neighbours": "skript.intrinsic"}


def argmax(x):
    return [np.array(i, np.int64) for i in np.unravel_index(x.argmax(), x.shape)]


def update(x, p, u):
    y = x.copy()
    for i, at in enumerate(p):
        y[at] = u[i]
    return [y]


def updates():
    """The graphs of Inputs/updates.sknd: inputs and results."""
    random = np.random.default_rng(1)
    reals = lambda *shape: random.standard_normal(shape, np.float32)
    x, z = reals(7), reals(7)
    # The last update of a row overwrites the first one.
    p = np.array([2, 0, 2])
    rows, new, matrix, square = reals(4, 2), reals(3, 2), reals(3, 6), reals(4, 4)
    return {
        "Argmax": ([matrix], argmax(matrix)),
        "Update": ([rows, p, new], update(rows, p, new)),
        "Triangle": ([square], [np.where(np.tri(4, dtype=bool), square, np.float32(-1))]),
        "RunningMax": ([x, z], [np.maximum.accumulate(x + z)]),
    }


def programs():
    """For each program, the arguments of `skript compile`, the inputs and the results."""
    for name, case in cases.CASES.items():
        attributes, inputs = cases.made(name, case.small)
        sizes = [word for key, value in case.small.items() for word in ("--set", "%s=%s" % (key, value))]
        yield name, [cases.file_of(name), *sizes], list(inputs.values()), list(cases.expected(name, attributes, inputs).values())
    for graph, (inputs, outputs) in updates().items():
        yield graph, [os.path.join(HERE, "Inputs", "updates.sknd"), "--graph", graph], inputs, outputs


def run(text, inputs):
    import iree.compiler
    import iree.runtime
    code = iree.compiler.compile_str(text, input_type="auto", target_backends=["llvm-cpu"],
                                     extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-input-demote-i64-to-i32=false"])
    module = iree.runtime.load_vm_flatbuffer(code, driver="local-sync")
    [entry] = [name for name in module.vm_module.function_names if not name.startswith("__")]
    results = module[entry](*inputs)
    results = results if isinstance(results, (list, tuple)) else [results]
    return [result.to_host() for result in results]


def compare(found, expected):
    assert len(found) == len(expected), (len(found), len(expected))
    for values, wanted in zip(found, expected):
        assert values.shape == wanted.shape, (values.shape, wanted.shape)
        if wanted.dtype.kind == "i":
            np.testing.assert_array_equal(values, wanted)
        else:
            np.testing.assert_allclose(values, wanted, 1e-4, 2e-5 * np.abs(wanted[np.isfinite(wanted)]).max(initial=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--mlir-opt", help="upstream's mlir-opt, which must accept each program")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    iree_cpu.require()
    count, failures = 0, 0
    for name, command, inputs, outputs in programs():
        if args.names and name not in args.names:
            continue
        count += 1
        lowered = [args.skript, "compile", "--emit=linalg-tensors", *command]
        text = subprocess.run(lowered, check=True, stdout=subprocess.PIPE, text=True).stdout
        if name in REFUSED:
            assert REFUSED[name] in text, "%s is accepted: remove it from REFUSED" % name
            continue
        try:
            if args.mlir_opt:
                subprocess.run([args.mlir_opt, "-o", os.devnull], check=True, input=text, text=True)
            compare(run(text, inputs), outputs)
        except Exception as error:
            failures += 1
            print("FAIL %s: %s" % (name, " ".join(str(error).split())[:500]))
    refused = 0 if args.names else len(REFUSED)
    print("linalg in IREE: %d programs, %d equal, %d refused" % (count, count - failures - refused, refused))
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
