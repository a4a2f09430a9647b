# SPDX-License-Identifier: Apache-2.0
"""samples.py FOLDER: arrays for the graphs of line.sknd; t = 2 x0 - x1 + 0.5."""
import os
import sys

import numpy as np

folder = sys.argv[1]
x = np.random.default_rng(1).uniform(-1, 1, (26, 2)).astype(np.float32)
t = (x @ np.float32([[2], [-1]]) + np.float32(0.5)).astype(np.float32)


def write(name, **arrays):
    np.savez(os.path.join(folder, name), **arrays)


write("samples.npz", x=x[:20], t=t[:20])
write("held.npz", x=x[20:], t=t[20:])
write("few.npz", x=x[:3], t=t[:3])
write("unequal.npz", x=x[:20], t=t[:19])
write("unknown.npz", x=x, t=t, z=t)
write("missing.npz", x=x)
write("shape.npz", x=x[:20, :1], t=t[:20, 0])
write("kind.npz", x=x[:20], label=np.zeros(20, np.float32))
write("labels.npz", x=x[:18], label=np.arange(18) % 3)
write("pixels.npz", x=np.zeros((20, 2), np.uint8), label=np.zeros(20, np.int64))
write("huge.npz", x=np.full((20, 2), 1e30, np.float32), t=t[:20])
np.save(os.path.join(folder, "x.npy"), np.float32([[1, 1], [0, 0]]))
