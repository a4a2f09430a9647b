#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/pipelines.md: how many conformance cases each engine and pipeline passes, by family.

Reads the lists of passing cases of test/conformance/check.py.
"""
import collections
import os

HERE = os.path.join(os.path.dirname(__file__), "..", "test", "conformance")
WAYS = [("evaluator", "reference"), ("linalg", "compiled"), ("linalg-named", "compiled-linalg-named"),
        ("scf", "compiled-scf"), ("affine", "compiled-affine")]


def families(name):
    with open(os.path.join(HERE, "passing-%s.txt" % name)) as file:
        return collections.Counter(case.split("/")[0] for case in file.read().split())


def main():
    counts = [families(name) for _, name in WAYS]
    print("<!-- Written by scripts/docs.sh from test/conformance/passing-*.txt. -->")
    print("# Pipelines\n")
    print("""\
Conformance cases that pass through the evaluator and through each pipeline of the compiler. A document that must be
refused passes if it is refused. `make test` compares the evaluator and `linalg` with their lists, `make test-all` all pipelines.

- `linalg` and `linalg-named` lower sequential formulas, and formulas whose accesses are offset or divided by a dynamic
  extent, to scf loops. The attribute `not_linalg` states the reason.
- `linalg-named` is for backends that have kernels for named operations, which it uses where linalg has them (`matmul`,
  `conv_2d_nchw_fchw`, `pooling_nhwc_max`, `reduce`, `transpose`, …). Windows read a border of zeros instead of a guard, so
  an infinite or NaN *weight* there produces NaN where the formula skips the product. The compiler's own kernels use
  `linalg`, which is faster.
- `linalg-tensors`, for `skript compile --emit=` only, is for other compilers, such as IREE: tensors instead of buffers,
  and run-time checks as `cf.assert`. To erase the checks, run `skript-opt --convert-skript-check-to-cf=drop=true
  --skript-to-linalg-tensors` on the output of `--emit=skript`. Kernels of the runtime (`skript.intrinsic`, such as that
  of `algo.top_k`) have no form in upstream dialects.
- `affine` lacks the cases [below](#cases-that-are-not-affine).
""")
    print("| family | " + " | ".join(way for way, _ in WAYS) + " |")
    print("|---" * (len(WAYS) + 1) + "|")
    for family in sorted(set().union(*counts)):
        print("| %s | %s |" % (family, " | ".join(str(count[family]) for count in counts)))
    totals = [sum(count.values()) for count in counts]
    print("| **all** | %s |" % " | ".join(str(total) for total in totals))
    print("| **of linalg** | | %s |" % " | ".join("%.1f %%" % (100 * total / totals[1]) for total in totals[1:]))

    print("""
## Cases that are not affine

`test/conformance/not-affine.txt` lists these cases. `make test-all` compares the pipeline with it
(`test/conformance/affine.py`): every other case becomes affine loops without any linalg operation.

An affine index is a sum of multiples of loop indices, with floor division and remainder by constants. Minimum, maximum and
conditions in an index (clamped, mirrored, wrapped borders) make it piecewise affine; `affine.if` selects the piece.
""")
    print("| reason | cases | families |\n|---|---|---|")
    with open(os.path.join(HERE, "not-affine.txt")) as file:
        entries = [line.rstrip("\n").split(" ", 1) for line in file]
    for reason in sorted({reason for _, reason in entries}):
        cases = [case for case, other in entries if other == reason]
        named = collections.Counter(case.split("/")[0] for case in cases)
        print("| it %s | %d | %s |" % (reason, len(cases), ", ".join("%s %d" % pair for pair in sorted(named.items()))))
    print("| **all** | %d | |" % len(entries))


if __name__ == "__main__":
    main()
