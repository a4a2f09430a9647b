# SPDX-License-Identifier: Apache-2.0
"""Compares pairs of models that differ, and pairs that are equal, by the exit status of `skript diff`.

    pairs.py SKRIPT FOLDER
"""
import pathlib
import subprocess
import sys

IMPORTS = "import math; import layout;\n"
VECTORS = "x: real[n|16]; w: real[n]; q: real[m|8];"
UNARY = "operator %s { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = %s, i < n; } }"


def graph(inputs, outputs, body, blocks=""):
    return "%sgraph G { %s @input { %s } @output { %s } @compose { %s } }" % (IMPORTS, blocks, inputs, outputs, body)


def vectors(body):
    return graph(VECTORS, "y: real[n];", body)


def asserted(blocks):
    return graph("x: real[n|16];", "y: real[n];", "y = math.neg(x);", blocks)


def quantized(function):
    operator = UNARY % ("f", "`%s`(x[i,])" % function)
    return "%s%s\ngraph G { @input { x: real[4]; } @output { y: real[4]; } @compose { y = math.neg(x); } @quantize { x: f; } }" % (IMPORTS, operator)


def two_outputs(name, count):
    body = "z = math.exp(x); v = with %s = a do..(%d) math.mul(%s, x);" % (name, count, name)
    return graph("x: real[4]; a: real[4];", "z: real[4]; v: real[4];", body)


def branches(order, joined="d, e, f"):
    lines = [STARTS[n] for n in order] + [ENDS[n] for n in order] + [JOINED % joined]
    return graph("x: real[4];", "y: real[12];", " ".join(lines))


def two_operators(separator):
    operators = separator.join((UNARY % ("h", "-x[i,]"), UNARY % ("o", "x[i,] + 1.0")))
    return operators + "\ngraph G { @input { x: real[4]; } @output { y: real[4]; } @compose { a = h(x); y = o(a); } }"


SCALARS = "u = math.mul(q, %s); v = math.mul(q, %s); p = math.add(u, v); s = math.sub(p, u); y = math.neg(x);"
CARRIED = "h1, g1, k1 = with h = x, g = %s, k = w do..(n) { s = math.add(h, g); t = math.sub(g, k); yield s, t, k; }; y = h1;"
ROLES = "a, b = with %s = x, %s = w do..(n) { s = math.sub(%s, %s); yield s, %s; }; y = a;"
BRANCH = "%s = if c then math.exp(x) else math.neg(x); y = math.abs(%s);"
STARTS = ("a = math.abs(x);", "b = math.abs(x);", "c = math.abs(x);")
ENDS = ("d = math.exp(a);", "e = math.exp(b);", "f = math.sin(c);")
JOINED = "y = layout.concat{axis = 0}([%s]);"
CONDITION = "y = if %s then math.exp(x) else math.neg(x);"

DIFFERENT = {
    "scalars of dynamic extents": (vectors(SCALARS % ("n - m", "m + n")), vectors(SCALARS % ("m + n", "n - m"))),
    "arguments in another order": (vectors("y = math.clamp(x, -1.0, 1.0);"), vectors("y = math.clamp(x, 1.0, -1.0);")),
    "initial values of a loop": (vectors(CARRIED % "x"), vectors(CARRIED % "w")),
    "roles of carried tensors": (vectors(ROLES % tuple("hghgg")), vectors(ROLES % tuple("ghhgh"))),
    "the number of iterations": (vectors("y = with h = x do..(n - 1) math.exp(h);"), vectors("y = with h = x do..((n - 1) >> 2) math.exp(h);")),
    "a condition": (graph("x: real[4]; p: bool[]; q: bool[];", "y: real[4];", CONDITION % "p"), graph("x: real[4]; p: bool[]; q: bool[];", "y: real[4];", CONDITION % "q")),
    "a value of @using in an assertion": (asserted("@using { k = n + 1; } @assert { k > 2: 'small'; }"), asserted("@using { k = n - 5; } @assert { k > 2: 'small'; }")),
    "one of two messages": (asserted("@assert { n > 1: 'one'; n > 1: 'two'; }"), asserted("@assert { n > 1: 'other'; n > 1: 'two'; }")),
    "spaces in a message": (asserted("@assert { n > 1: 'a b'; }"), asserted("@assert { n > 1: 'a  b'; }")),
    "an extent that a run checks": (graph("x: real[n|4]; z: real[2 * n];", "y: real[n];", "y = x;"), graph("x: real[n|4]; z: real[n + 4];", "y: real[n];", "y = x;")),
    "a result that a run checks": (graph("x: real[n|4];", "y: real[3];", "y = math.neg(x);"), graph("x: real[n|4];", "y: real[2];", "y = math.neg(x);")),
    "an unused default": (graph("x: real[4]; d: real[4] = 1.0;", "y: real[4];", "y = math.neg(x);"), graph("x: real[4]; d: real[4] = 2.0;", "y: real[4];", "y = math.neg(x);")),
    "an unused input with a default": (graph("x: real[4]; d: real[4] = 1.0;", "y: real[4];", "y = math.neg(x);"), graph("x: real[4];", "y: real[4];", "y = math.neg(x);")),
    "a quantizer": (quantized("round"), quantized("floor")),
    "the type of an attribute without a value": (asserted("@attrib { k: optional int; }"), asserted("@attrib { k: optional str; }")),
    "a bound of dimensions that do not correspond": (graph("x: real[n|16]; w: real[n];", "y: real[n];", "y = math.neg(x);"), graph("x: real[n|8]; w: real[k|16];", "y: real[n];", "y = math.neg(x);")),
    "a loop whose output has the name of another": (two_outputs("h", 3), two_outputs("h", 4)),
    "the order of results of equal operations": (branches((0, 1, 2)), branches((0, 1, 2), "d, f, e")),
}
EQUAL = {
    "names of carried tensors": (vectors(ROLES % tuple("hghgg")), vectors(ROLES % tuple("ghghh"))),
    "a value of @using in place of its name": (asserted("@using { k = n + 1; } @assert { k > 2: 'small'; }"), asserted("@assert { n+1>2: 'small'; }")),
    "layout of an assertion": (asserted("@assert { n>1: 'a b'; }"), asserted("@assert { n > 1 : # c\n 'a b'; }")),
    "the name of a branch": (graph("x: real[4]; c: bool[];", "y: real[4];", BRANCH % ("t", "t")), graph("x: real[4]; c: bool[];", "y: real[4];", BRANCH % ("u", "u"))),
    "the name of a loop": (vectors("t = with h = x do..(3) math.exp(h); y = math.abs(t);"), vectors("u = with h = x do..(3) math.exp(h); y = math.abs(u);")),
    "operators on one line": (two_operators("\n"), two_operators(" ")),
    "names in a loop whose output has the name of another": (two_outputs("h", 3), two_outputs("g", 3)),
    "the order of equal operations": (branches((0, 1, 2)), branches((2, 1, 0))),
    "the order of equal branches": (branches((0, 1, 2)), branches((1, 0, 2), "e, d, f")),
}


def main():
    skript, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / "first.sknd", folder / "second.sknd"]
    wrong = 0
    for expected, pairs in ((1, DIFFERENT), (0, EQUAL)):
        for name, texts in pairs.items():
            for file, text in zip(files, texts):
                file.write_text(text)
            for given in (files, files[::-1]):
                done = subprocess.run([skript, "diff", *given], capture_output=True, text=True)
                if done.returncode != expected:
                    wrong += 1
                    print("%s: status %d\n%s%s" % (name, done.returncode, done.stdout, done.stderr))
    print("%d pairs, %d wrong" % (len(DIFFERENT) + len(EQUAL), wrong))


main()
