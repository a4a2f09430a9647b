# SPDX-License-Identifier: Apache-2.0
"""The tolerance for results of networks that are compared with onnxruntime."""

# The maximum difference of an output, relative to its largest element.
TOLERANCE = 1e-3
