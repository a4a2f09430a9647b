#!/usr/bin/env python3
"""Prints docs/pipelines.md: how many conformance cases each engine and pipeline passes, by family.

Reads the lists that test/conformance/check.py holds every run against.
"""
import collections
import os

HERE = os.path.join(os.path.dirname(__file__), "..", "test", "conformance")
WAYS = [("evaluator", "reference"), ("linalg", "compiled"), ("scf", "compiled-scf"), ("affine", "compiled-affine")]


def families(name):
    with open(os.path.join(HERE, "passing-%s.txt" % name)) as file:
        return collections.Counter(case.split("/")[0] for case in file.read().split())


def main():
    counts = [families(name) for _, name in WAYS]
    print("<!-- Written by scripts/docs.sh from test/conformance/passing-*.txt. -->")
    print("# Pipelines\n")
    print("Conformance cases that pass through the evaluator and through each pipeline of the compiler; refused documents")
    print("count where the refusal is right. `make test` holds the first two against their lists, `make test-all` all four.")
    print("What affine lacks has places that are no affine forms of the indices: data choose them, or they are clamped.\n")
    print("| family | " + " | ".join(way for way, _ in WAYS) + " |")
    print("|---" * (len(WAYS) + 1) + "|")
    for family in sorted(set().union(*counts)):
        print("| %s | %s |" % (family, " | ".join(str(count[family]) for count in counts)))
    totals = [sum(count.values()) for count in counts]
    print("| **all** | %s |" % " | ".join(str(total) for total in totals))
    print("| **of linalg** | | %s |" % " | ".join("%.1f %%" % (100 * total / totals[1]) for total in totals[1:]))


if __name__ == "__main__":
    main()
