# SPDX-License-Identifier: Apache-2.0
"""Writes a graph with many variables, some of which are outputs, to the given file."""
import sys

COUNT = 90
with open(sys.argv[1], "w") as file:
    name = lambda n: "y%d" % n if n % 9 == 8 else "t%d" % n
    line = lambda text: file.write(text + "\n")
    line("import math;\ngraph G {\n    @input { x: real[4,8]; }")
    line("    @output { %s }" % " ".join("y%d: real[4,8];" % n for n in range(8, COUNT, 9)))
    line("    @variable { %s }" % " ".join("w%d: real[1,8];" % n for n in range(COUNT)))
    line("    @compose {")
    for n in range(COUNT):
        line("        %s = math.add(%s, w%d);" % (name(n), name(n - 1) if n else "x", n))
    line("    }\n}")
