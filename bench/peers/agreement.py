# SPDX-License-Identifier: Apache-2.0
"""Whether the outputs of two engines agree."""
import numpy


def difference(results, expected):
    """The maximum difference of all outputs, relative to the largest element of each output; infinite if shapes or names differ."""
    if results.keys() != expected.keys():
        return float("inf")
    return max(_difference(results[name], expected[name]) for name in expected)


def _difference(result, expected):
    if result.shape != expected.shape:
        return float("inf")
    if expected.dtype.kind != "f":
        return float(not numpy.array_equal(result, expected))
    if not numpy.isfinite(expected).all() or not numpy.isfinite(result).all():
        return float("inf")
    return float(abs(result.astype("f8") - expected).max() / max(abs(expected).max(), 1e-30))
