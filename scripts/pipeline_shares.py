#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/pipelines.md: how many conformance cases each engine and pipeline passes, by family.

Reads the lists that test/conformance/check.py holds every run against.
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
    print("Conformance cases that pass through the evaluator and through each pipeline of the compiler. A document that must be")
    print("refused counts if it is. `make test` compares the evaluator and `linalg` with their lists, `make test-all` all pipelines.\n")
    print("- `linalg` and `linalg-named` lower formulas that run in order, and formulas whose accesses a dynamic extent offsets or")
    print("  divides, to loops of scf. The attribute `not_linalg` states the reason.")
    print("- `linalg-named` is for backends with kernels of their own. It uses named operations where linalg has them (`matmul`,")
    print("  `conv_2d_nchw_fchw`, `pooling_nhwc_max`, `reduce`, `transpose`, …). Windows read a border of zeros instead of a guard, so an")
    print("  infinite or NaN *weight* there gives NaN where the formula skips the product. Our own kernels use `linalg`, which is faster.")
    print("- `affine` lacks the cases [below](#what-is-not-affine).\n")
    print("| family | " + " | ".join(way for way, _ in WAYS) + " |")
    print("|---" * (len(WAYS) + 1) + "|")
    for family in sorted(set().union(*counts)):
        print("| %s | %s |" % (family, " | ".join(str(count[family]) for count in counts)))
    totals = [sum(count.values()) for count in counts]
    print("| **all** | %s |" % " | ".join(str(total) for total in totals))
    print("| **of linalg** | | %s |" % " | ".join("%.1f %%" % (100 * total / totals[1]) for total in totals[1:]))

    print("\n## What is not affine\n")
    print("`test/conformance/not-affine.txt` lists these cases. `make test-all` compares the pipeline with it (`test/conformance/affine.py`): every")
    print("other case becomes affine loops without any linalg operation.\n")
    print("An affine index is a sum of multiples of loop indices, with floor division and remainder by constants. Minimum, maximum and")
    print("conditions in an index (clamped, mirrored, wrapped borders) make it piecewise affine; `affine.if` selects the piece.\n")
    print("| why | cases | families |\n|---|---|---|")
    with open(os.path.join(HERE, "not-affine.txt")) as file:
        entries = [line.rstrip("\n").split(" ", 1) for line in file]
    for reason in sorted({reason for _, reason in entries}):
        cases = [case for case, other in entries if other == reason]
        named = collections.Counter(case.split("/")[0] for case in cases)
        print("| it %s | %d | %s |" % (reason, len(cases), ", ".join("%s %d" % pair for pair in sorted(named.items()))))
    print("| **all** | %d | |" % len(entries))


if __name__ == "__main__":
    main()
