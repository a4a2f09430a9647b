# SPDX-License-Identifier: Apache-2.0
# The same computation as in decoding.py; the model computes it in one pass.
from decoding import SMALL, inputs, numpy, numba, torch  # noqa: F401
