# SPDX-License-Identifier: Apache-2.0
"""The cases of each module's operators; each file states the source of its expected values."""
from . import broadcasting, corners, drawing, elementwise, format, images, indexing, language_models, magnitudes, networks, onnx_runtime, products, reductions, reshaping, training, windows

FAMILIES = [elementwise, broadcasting, reductions, reshaping, indexing, products, windows, networks, images, drawing, format, language_models, training, corners, magnitudes, onnx_runtime]


def all_cases():
    for family in FAMILIES:
        for case in family.cases():
            case.source = family.__name__
            yield case
