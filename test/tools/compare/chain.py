# SPDX-License-Identifier: Apache-2.0
"""Writes a long chain to the given file: maps with one variable each, contractions that share a variable, a loop with state."""
import sys

COUNT = 300
with open(sys.argv[1], "w") as file:
    line = lambda text: file.write(text + "\n")
    line("import math;\nimport linalg;\ngraph G {\n    @input { x: real[4,8]; }\n    @output { y: real[4,8]; }")
    line("    @variable { w: real[8,8]; %s }" % " ".join("w%d: real[1,8];" % n for n in range(COUNT)))
    line("    @compose {")
    for n in range(COUNT):
        line("        a%d = math.add(%s, w%d);" % (n, "b%d" % (n - 1) if n else "x", n))
        line("        c%d = linalg.matmul(a%d, w);" % (n, n))
        line("        %s = math.sin(c%d);" % ("b%d" % n if n < COUNT - 1 else "y", n))
    line("    }\n}")
