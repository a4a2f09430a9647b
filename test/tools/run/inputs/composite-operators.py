# SPDX-License-Identifier: Apache-2.0
"""Inputs and expected outputs of composite-operators.test."""
import sys

import numpy as np

if sys.argv[1] == "make":
    np.save(sys.argv[2] + "/x.npy", np.float32([40960, 49152]))
    np.save(sys.argv[2] + "/p.npy", np.float32([[300, 160]]))
    np.save(sys.argv[2] + "/n.npy", np.int64([100, -100, 5]))
    np.save(sys.argv[2] + "/one.npy", np.float32(336))
    np.save(sys.argv[2] + "/count.npy", np.int64(3))
    sys.exit()

real, folder = sys.argv[2:]
finite = real == "bf16"  # 81920 and 98304 are bf16 numbers that exceed f16
expected = {
    "mean": [45056],
    "norm": [[300 / 340, 160 / 340]],
    "squares": [[300**2 + 160**2 - 336**2]],
    "again": [40960, 49152],
    "rounded": [40960, 49152] if finite else [np.inf, np.inf],
    "same": [100, -100, 5],
}
for name, wanted in expected.items():
    found = np.load("%s/%s.npy" % (folder, name)).astype(np.float64)
    # Half a unit in the last place: one rounding.
    np.testing.assert_allclose(found, wanted, rtol=2.0**-11 if real == "f16" else 2.0**-8, err_msg=name)
