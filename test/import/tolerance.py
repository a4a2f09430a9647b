# SPDX-License-Identifier: Apache-2.0
"""When results of networks are equal to those of onnxruntime."""

# The largest difference of an output, relative to its largest element.
TOLERANCE = 1e-3
