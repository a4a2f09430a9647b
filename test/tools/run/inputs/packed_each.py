# SPDX-License-Identifier: Apache-2.0
"""Runs the models of packed_products.py, and looks for arrays of the size of the unpacked matrix: packed_each.py FOLDER SKRIPT"""
import math
import re
import subprocess
import sys
from pathlib import Path

WIDE = 24 * 512

for model in sorted(Path(sys.argv[1]).glob("*/*")):
    code = subprocess.run([sys.argv[2], "compile", model, "--emit=scheduled"], check=True, capture_output=True, text=True).stdout
    assert "call @product_" in code, "%s: the product does not read bytes" % model
    shapes = re.findall(r"memref<([\dx]+)xf32", code) if model.parent.name == "one" else []
    large = [shape for shape in shapes if math.prod(map(int, shape.split("x"))) == WIDE]
    assert not large, "%s: arrays of %s" % (model, large)
    for x in model.glob("x*.npy"):
        arguments = ["run", model, "--input", "x=%s" % x, "--output-dir", model / x.stem.replace("x", "y")]
        subprocess.run([sys.argv[2], *arguments], check=True)
