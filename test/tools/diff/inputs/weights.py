# SPDX-License-Identifier: Apache-2.0
"""Writes folders with one graph and weights with other zeros and NaNs, and folders without a file."""
import os
import struct
import sys

TEXT = """import math;

graph G {
    @input { x: real[3]; }
    @variable { v: real[3]; w: real[3]; }
    @output { y: real[3]; }
    @compose { p = math.mul(v, w); y = math.add(x, p); }
}
"""


def written(name, **weights):
    folder = os.path.join(sys.argv[1], name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "main.sknd"), "w") as file:
        file.write(TEXT)
    for weight, elements in weights.items():
        head = b"\x4e\xef\x01\x00" + struct.pack("<II8III", 12, 1, 3, 0, 0, 0, 0, 0, 0, 0, 32, 0)
        with open(os.path.join(folder, "main.G.%s.dat" % weight), "wb") as file:
            file.write(head.ljust(128, b"\0") + struct.pack("<3I", *elements))


ONE, ZERO, MINUS_ZERO, NAN, OTHER_NAN = 0x3F800000, 0, 0x80000000, 0x7FC00000, 0x7FC00001
written("first", v=(ONE, ZERO, NAN), w=(ONE, ONE, ONE))
written("zero", v=(ONE, MINUS_ZERO, NAN), w=(ONE, ONE, ONE))
written("nan", v=(ONE, ZERO, OTHER_NAN), w=(ONE, ONE, ONE))
written("deleted", v=(ONE, ZERO, NAN))
written("empty")
