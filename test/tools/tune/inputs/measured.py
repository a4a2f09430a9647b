# SPDX-License-Identifier: Apache-2.0
"""Checks the output of `skript tune --json`; with `other`, prints a list with the first other plan of each kernel."""
import json
import sys

with open(sys.argv[1]) as file:
    measured = json.load(file)
kernels = measured["kernels"]
if sys.argv[2:] == ["other"]:
    print(",".join("%s:1" % kernel["key"] for kernel in kernels))
    sys.exit()
assert len(kernels) >= 3, kernels
kept = []
for kernel in kernels:
    numbers = [plan["number"] for plan in kernel["plans"]]
    assert numbers == list(range(1, len(numbers) + 1)) and numbers, kernel
    texts = [kernel["plan"]] + [plan["plan"] for plan in kernel["plans"]]
    assert len(set(texts)) == len(texts), texts
    assert all(plan["ns"] > 0 and plan["base_ns"] > 0 for plan in kernel["plans"]), kernel
    if kernel["kept"] is not None:
        assert kernel["kept"] in numbers and kernel["after_ns"] < kernel["before_ns"], kernel
        kept.append("%s:%d" % (kernel["key"], kernel["kept"]))
assert measured["plans"] == ",".join(kept), measured
