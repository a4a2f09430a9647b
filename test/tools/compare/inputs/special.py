# SPDX-License-Identifier: Apache-2.0
"""special.py write FOLDER: writes the inputs. special.py check FOLDER OTHER: checks that outputs of two folders have the same bits, or are both NaN."""
import sys

import numpy as np

command, folder = sys.argv[1:3]
if command == "write":
    random = np.random.default_rng(3)
    numbers = np.array([0.0, -0.0, -1, -np.inf, np.inf, np.nan, -np.nan, 1e-45, 2, 0.5, -0.5, 3], np.float32)
    x = random.choice(numbers, (64, 33))
    x[:20] = random.choice(np.array([0.0, -0.0], np.float32), (20, 33), p=[0.03, 0.97])
    x[20:30] = -x[:10]
    x[30:40] = random.choice(np.array([0.0, -0.0, -3], np.float32), (10, 33))
    x[40:45] = -x[30:35]
    np.save(folder + "/x.npy", x)
    np.save(folder + "/y.npy", random.choice(numbers, (64, 16)))
else:
    for name in ["greatest", "least", "above", "below", "power", "cube", "root"]:
        one, other = (np.load("%s/%s.npy" % (f, name)) for f in (folder, sys.argv[3]))
        same = (np.isnan(one) & np.isnan(other)) | (one.view(np.uint32) == other.view(np.uint32))
        print(name, "same" if same.all() else one[~same][:5], len(np.unique(other)) > 2)
