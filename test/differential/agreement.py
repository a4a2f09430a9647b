# SPDX-License-Identifier: Apache-2.0
"""Compares arrays: reals must agree within a tolerance; ints and bools, shapes and types must be equal."""

import numpy as np


def agree(one, other, rtol=1e-5, atol=1e-5):
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return not differing(one, other, rtol, atol).any()


def differing(one, other, rtol=1e-5, atol=1e-5):
    """The mask of elements that differ between two arrays of the same shape and type."""
    if one.dtype.kind != "f":
        return np.asarray(one != other)
    return ~np.isclose(other, one, rtol=rtol, atol=atol, equal_nan=True)
