# SPDX-License-Identifier: Apache-2.0
"""Writes small programs that would expand to large ones: `untrusted.py FOLDER`."""
import os
import sys

T = "tensor<4xf32>"


def function(name, callees, last, visibility="private "):
    """A function of calls in sequence, then an operation."""
    lines = ["func.func %s@%s(%%x: %s) -> %s {" % (visibility, name, T, T)]
    value = "%x"
    for number, callee in enumerate(callees):
        lines.append("  %%%d = call @%s(%s) : (%s) -> %s" % (number, callee, value, T, T))
        value = "%%%d" % number
    if last:
        lines.append("  %%y = stablehlo.negate %s : %s" % (value, T))
        value = "%y"
    return lines + ["  return %s : %s" % (value, T), "}"]


def calls(depth, width):
    """Functions, each of which calls the next one `width` times."""
    lines = function("main", ["f0"], False, "")
    for n in range(depth):
        lines += function("f%d" % n, ["f%d" % (n + 1)] * width, False)
    return lines + function("f%d" % depth, [], True)


def tuples(depth):
    """An argument whose type is nested pairs."""
    lines = ["!a0 = tuple<tensor<f32>, tensor<f32>>"]
    lines += ["!a%d = tuple<!a%d, !a%d>" % (n, n - 1, n - 1) for n in range(1, depth + 1)]
    return lines + ["func.func @main(%%x: !a%d) {" % depth, "  return", "}"]


def branches(depth):
    """Nested branches."""
    lines = ["func.func @main(%%x: %s, %%p: tensor<i1>) -> %s {" % (T, T)]
    lines += ["  %%r%d = \"stablehlo.if\"(%%p) ({" % n for n in range(depth)]
    lines.append("  stablehlo.return %%x : %s" % T)
    for n in reversed(range(depth)):
        lines += ["  }, {", "  stablehlo.return %%x : %s" % T, "  }) : (tensor<i1>) -> %s" % T]
        lines.append("  %s %%r%d : %s" % ("stablehlo.return" if n else "return", n, T))
    return lines + ["}"]


def arguments(count):
    """A function of many arguments."""
    listed = ", ".join("%%a%d: %s" % (n, T) for n in range(count))
    return ["func.func @main(%s) -> %s {" % (listed, T), "  return %%a0 : %s" % T, "}"]


def results(count):
    """A function of many results."""
    types = ", ".join([T] * count)
    return ["func.func @main(%%x: %s) -> (%s) {" % (T, types), "  return %s : %s" % (", ".join(["%x"] * count), types), "}"]


PROGRAMS = {
    "arguments-30000": arguments(30000), "results-10000": results(10000),
    "tuples-8": tuples(8), "tuples-22": tuples(22), "tuples-40": tuples(40),
    "tree-5": calls(5, 2), "tree-18": calls(18, 2), "tree-200": calls(200, 2),
    "chain-100": calls(100, 1), "chain-2000": calls(2000, 1),
    "branches-100": branches(100), "branches-30000": branches(30000),
}

os.makedirs(sys.argv[1], exist_ok=True)
for name, lines in PROGRAMS.items():
    with open(os.path.join(sys.argv[1], name + ".mlir"), "w") as file:
        file.write("\n".join(lines) + "\n")
