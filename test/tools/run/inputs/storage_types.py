# SPDX-License-Identifier: Apache-2.0
"""Writes arrays for types.sknd and compares results with numpy: `make FOLDER`, `check REAL INT RESULTS...`."""
import os
import struct
import sys

import numpy as np

X = np.array([-3.7, -1.0, -0.0001, 0.0, 0.3, 2.0, 5.0])
BIG = np.array([300.0, -2.0, np.nan, np.inf])
N = np.array([-128, -100, -1, 0, 100, 127])
A = np.arange(12.0).reshape(3, 4) / 4 - 1
W = np.arange(20.0).reshape(4, 5) / 8 - 1
ONES = np.ones((2, 3000)) * [[1], [0.5]]

STORED = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}
# Half a unit in the last place of 1; for f32 and f64, the error of sine and exponential.
UNIT = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8, "f32": 2.0 ** -21, "f64": 2.0 ** -50}


def rounded(x, real):
    """Rounds to nearest, ties to even; numpy has no bf16."""
    with np.errstate(over="ignore"):
        if real != "bf16":
            return np.asarray(x).astype(STORED[real])
        bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
        even = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000
        return np.where(np.isnan(x), np.nan, even.astype(np.uint32).view(np.float32)).astype(np.float32)


def make(folder):
    for name, array in (("x", X), ("big", BIG), ("n", N), ("a", A), ("ones", ONES)):
        np.save(os.path.join(folder, name + ".npy"), array)
    head = b"\x4e\xef\x01\x00" + struct.pack("<II8III", W.nbytes, 2, 4, 5, *[0] * 6, 64, 0)
    with open(os.path.join(folder, "main.G.w.dat"), "wb") as file:
        file.write(head.ljust(128, b"\0") + W.tobytes())


def check(real, int_, folder):
    work = np.float64 if real == "f64" else np.float32
    get = lambda name: np.load(os.path.join(folder, name + ".npy"))  # noqa: E731
    x = rounded(X, real).astype(work)

    # An operator rounds once: the large number in the middle is limited only by the precision of the compute type.
    want = np.sin(x.astype(np.float64)) + np.exp(x.astype(np.float64))
    slack = 2 ** -12 if work == np.float32 else 2 ** -42
    found = get("mapped")
    assert found.dtype == STORED[real], found.dtype
    np.testing.assert_allclose(found.astype(np.float64), want, rtol=UNIT[real], atol=slack)

    # Accumulated in the compute type: in f16, the sum would stop at 2048, in bf16 at 256.
    np.testing.assert_array_equal(get("summed"), rounded([3000.0, 1500.0], real))
    np.testing.assert_array_equal(get("p"), rounded(A @ W, real))
    sums = np.cumsum(x.astype(np.float64))
    np.testing.assert_allclose(get("ran").astype(np.float64), sums, rtol=UNIT[real], atol=2 ** -20)

    # 90000 is not an f16 number.
    np.testing.assert_array_equal(get("squares"), rounded([90000.0, 4.0, np.nan, np.inf], real))
    assert np.isinf(get("squares")[0]) == (real == "f16")

    # Formulas compute 64-bit ints; the result is the nearest int of the storage type.
    store = np.dtype(int_)
    for name, value in (("m", N * N + 100), ("half", (N + 100) // 2), ("all", N.sum())):
        found = get(name)
        assert found.dtype == store, (name, found.dtype)
        nearest = np.clip(value, np.iinfo(store).min, np.iinfo(store).max)
        np.testing.assert_array_equal(found, nearest, err_msg=name)


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    for results in sys.argv[4:]:
        check(sys.argv[2], {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64"}[sys.argv[3]], results)
