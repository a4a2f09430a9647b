#!/usr/bin/env python3
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
    print("Conformance cases that pass through the evaluator and through each pipeline of the compiler; refused documents")
    print("count where the refusal is right. `make test` holds the first two against their lists, `make test-all` all.")
    print("What affine lacks is told [below](#what-is-not-affine). In the pipelines of linalg, formulas that run in order and")
    print("those that read at places which extents of the run move or divide are loops of scf (`not_linalg` says why).")
    print()
    print("`linalg-named` is for backends with kernels of their own: what linalg has a name for (`matmul`, `conv_2d_nchw_fchw`,")
    print("`pooling_nhwc_max`, `reduce`, `transpose`, …) is a named operation, and windows read a border instead of a guard, so an")
    print("infinite or NaN *weight* there gives NaN where the formula skips the product. `skript compile --emit=linalg-named` and")
    print("`skript-opt --skript-to-linalg-named` print it; code of our own is made from `linalg`, whose kernels are faster.\n")
    print("| family | " + " | ".join(way for way, _ in WAYS) + " |")
    print("|---" * (len(WAYS) + 1) + "|")
    for family in sorted(set().union(*counts)):
        print("| %s | %s |" % (family, " | ".join(str(count[family]) for count in counts)))
    totals = [sum(count.values()) for count in counts]
    print("| **all** | %s |" % " | ".join(str(total) for total in totals))
    print("| **of linalg** | | %s |" % " | ".join("%.1f %%" % (100 * total / totals[1]) for total in totals[1:]))


    print("\n## What is not affine\n")
    print("`test/conformance/not-affine.txt` lists these cases; `make test-all` holds the pipeline to it by `test/conformance/affine.py`: every")
    print("other case becomes affine loops, and no linalg operation is left in any.\n")
    print("An affine place is a sum of multiples of indices, with floor division and remainder by constants. Minimum, maximum and")
    print("conditions in a place (clamped, mirrored, wrapped borders) make pieces of it, and `affine.if` chooses among them.\n")
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
