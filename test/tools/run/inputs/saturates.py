# SPDX-License-Identifier: Apache-2.0
"""Writes inputs and checks outputs of saturates.test: `make FOLDER`, `check INT RESULTS`."""
import os
import sys

import numpy as np

X = [600, -7, -600, np.nan, np.inf, -np.inf, 3e18]
N = [100, 100, -120, 100]

if sys.argv[1] == "make":
    np.save(sys.argv[2] + "/x.npy", np.float32(X))
    np.save(sys.argv[2] + "/n.npy", np.int64(N))
    for bits in (8, 16, 32):
        np.save("%s/n_i%d.npy" % (sys.argv[2], bits), np.array(N, "int%d" % bits))
    sys.exit()

store, folder = np.dtype("int" + sys.argv[2][1:]), sys.argv[3]
least, most = -2 ** (8 * store.itemsize - 1), 2 ** (8 * store.itemsize - 1) - 1
# The float nearest to 3e18, and half of it.
far = int(np.float32(3e18))
level = [300, -3, -300, 0, 2 ** 63 - 1, -2 ** 63, far // 2]
expected = {
    "a": level, "q": level, "r": level,
    "cast": [600, -7, -600, 0, 2 ** 63 - 1, -2 ** 63, far],
    "s": 180, "t": 180, "u": 180,
    "p": [10000, 10000, 14400, 10000],
    "c": 4,
}
order = ["a", "q", "r", "y", "cast", "s", "p", "c", "t", "u"]
get = lambda name: [np.load(p) for p in ("%s/%s.npy" % (folder, n) for n in (name, order.index(name))) if os.path.exists(p)][0]  # noqa: E731
for name, values in expected.items():
    found = get(name)
    assert found.dtype == store, (name, found.dtype)
    wanted = [min(max(v, least), most) for v in np.ravel(np.array(values, object))]
    np.testing.assert_array_equal(found.ravel(), np.array(wanted, store), err_msg=name)
np.testing.assert_array_equal(get("y"), np.float32([600, -6, -600, 0, 2.0 ** 64, -(2.0 ** 64), far]))
