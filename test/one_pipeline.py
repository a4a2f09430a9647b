#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `skript-opt` and `skript compile` run the same pipeline.

For each model and stage, `skript-opt --pass-pipeline` runs the passes that `skript compile --print-pipeline` prints, on the text of
`skript compile --emit=skript`. The result must be byte for byte the module that `skript compile --emit=STAGE` writes, and
`skript-translate --mlir-to-llvmir` must print the LLVM IR of `--emit=llvm-unoptimized`.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAGES = ["buffers", "scheduled", "llvm-dialect"]

# Models for different lowerings: contractions, windows, loops and branches of graphs, state, dynamic dimensions, run-time
# checks, intrinsics, scatters, hundreds of operators.
MODELS = [
    ("examples/alexnet", ["linalg"]),
    ("examples/perceptron", ["linalg", "linalg-named", "affine", "scf"]),
    ("examples/contrast", ["linalg", "scf"]),
    ("examples/sharded", ["linalg"]),
    ("test/tools/compile/inputs/intrinsic.sknd", ["linalg"]),
    ("examples/c", ["linalg"]),
    ("test/passes/skript-separate-inits/Inputs/two-chains.sknd", ["linalg"]),
    ("test/pipeline/Inputs/loops.sknd", ["linalg", "scf"]),
    ("test/pipeline/Inputs/dynamic.sknd", ["linalg", "linalg-named", "scf"]),
    ("test/pipeline/Inputs/state.sknd", ["linalg", "scf"]),
]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr[:2000]}")
    return done.stdout


def differences(model, lowering, tools, folder):
    """Yields each stage whose two texts differ."""
    skript, opt, translate = (tools / name for name in ("skript", "skript-opt", "skript-translate"))
    options = ["--pipeline", lowering]
    source = folder / "skript.mlir"
    run(skript, "compile", model, *options, "--emit=skript", "-o", source)
    for stage in [lowering, *STAGES]:
        passes = run(skript, "compile", *options, "--print-pipeline", f"--emit={stage}").strip()
        ours = run(skript, "compile", model, *options, f"--emit={stage}")
        theirs = run(opt, source, "--mlir-print-debuginfo", f"--pass-pipeline={passes}")
        if ours.rstrip("\n") != theirs.rstrip("\n"):
            yield stage
    last = folder / "llvm.mlir"
    last.write_text(theirs)
    ours = run(skript, "compile", model, *options, "--emit=llvm-unoptimized")
    if ours != run(translate, "--mlir-to-llvmir", last):
        yield "llvm-unoptimized"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "target/release", help="folder of skript and skript-opt")
    arguments = parser.parse_args()
    compared = failed = 0
    for model, lowerings in MODELS:
        for lowering in lowerings:
            with tempfile.TemporaryDirectory() as folder:
                for stage in differences(ROOT / model, lowering, arguments.tools, pathlib.Path(folder)):
                    failed += 1
                    print(f"{model}, {lowering}: the modules after stage {stage} differ")
            compared += 1
    print(f"{compared} pipelines compared, {failed} stages differ")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
