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
    print("What affine lacks has places that are no affine forms of the indices: data choose them, or they are clamped.")
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


if __name__ == "__main__":
    main()
