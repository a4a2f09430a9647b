# SPDX-License-Identifier: Apache-2.0
"""Runs the models of packed_products.py, and looks for arrays of the size of the unpacked matrix.

    packed_each.py FOLDER SKRIPT [PREFIX]

PREFIX selects subfolders, such as `rounded`, whose kernels multiply bytes.
"""
import math
import re
import subprocess
import sys
from pathlib import Path

WIDE = 24 * 512

prefix = sys.argv[3] if len(sys.argv) > 3 else ""
for model in sorted(Path(sys.argv[1]).glob(prefix + "*/*")):
    code = subprocess.run([sys.argv[2], "compile", model, "--emit=scheduled"], check=True, capture_output=True, text=True).stdout
    assert "call @product_" in code, "%s: the product does not read bytes" % model
    if model.parent.name in ("rounded-one", "rounded-few") and model.name not in ("iq4_nl", "mxfp4", "nvfp4", "tq1_0"):
        kernel = subprocess.run([sys.argv[2], "compile", model, "--emit=scheduled", "--cpu=x86-64-v3"], check=True, capture_output=True, text=True)
        assert "pmadd.ub.sw" in kernel.stdout, "%s: the kernel does not multiply bytes" % model
    shapes = re.findall(r"memref<([\dx]+)xf32", code) if model.parent.name.endswith("one") else []
    large = [shape for shape in shapes if math.prod(map(int, shape.split("x"))) == WIDE]
    assert not large, "%s: arrays of %s" % (model, large)
    for x in model.glob("x*.npy"):
        arguments = ["run", model, "--input", "x=%s" % x, "--output-dir", model / x.stem.replace("x", "y")]
        subprocess.run([sys.argv[2], *arguments], check=True)
