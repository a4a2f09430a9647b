# SPDX-License-Identifier: Apache-2.0
"""The inputs of dynamic.test: dynamic.py FOLDER; or a comparison of the outputs in two folders: dynamic.py FOLDER FIRST SECOND"""
import os
import sys

import numpy as np

folder, *compared = sys.argv[1:]
if compared:
    first, second = (os.path.join(folder, name) for name in compared)
    names = sorted(os.listdir(first))
    assert names == sorted(os.listdir(second)) and "x_grad.npy" in names, names
    for name in names:
        one, other = np.load(os.path.join(first, name)), np.load(os.path.join(second, name))
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6, err_msg=name)
        assert np.abs(one).max() > 1e-3, name
else:
    draw = np.random.default_rng(1)
    for n in (1, 5, 16):
        for name, width in (("x", 4), ("t", 2), ("tangent", 4)):
            np.save(os.path.join(folder, name + str(n)), draw.standard_normal((n, width)).astype(np.float32))
