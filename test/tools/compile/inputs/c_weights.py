# SPDX-License-Identifier: Apache-2.0
import sys

import numpy as np

weights = {"w": np.array([[0.5, -1, 2], [1, 0, 0.25]], np.float32), "bias": np.zeros(2, np.float32), "calls": np.array(0)}
np.savez(sys.argv[1], **{"c-program.Net." + name: array for name, array in weights.items()})
