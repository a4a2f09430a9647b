# SPDX-License-Identifier: Apache-2.0
"""Writes the input x of `dense.sknd`: a row of ones and a row of zeros."""
import sys

import numpy

x = numpy.zeros((2, 3), "float32")
x[0] = 1.0
numpy.save(sys.argv[1], x)
