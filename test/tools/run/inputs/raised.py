# SPDX-License-Identifier: Apache-2.0
"""raised.py FOLDER: writes a model with sums of products, and inputs. raised.py FOLDER OUT: compares the outputs in OUT with numpy."""
import itertools
import re
import sys

import numpy

# Extents of the loops; subscripts of the output and of two factors, guarded ones in bars; the summand.
WINDOW = dict(s=2, n=3, m=4, x=6, k=3)
IMAGE = dict(s=2, n=3, m=2, y=5, x=4, k=3, l=2)
PRODUCT = dict(i=4, j=3, l=5)
VARIANTS = [
    (PRODUCT, "i j", "i l", "l j", "-(A * B)"),
    (PRODUCT, "j i", "i l", "j 4-l", "2 * A * B"),
    (PRODUCT, "3-i j", "4-l i", "4-l j", "-(-A * -(B * 0.5))"),
    (PRODUCT, "i j", "i l", "l 2-j", "(A + 1) * B"),
    (PRODUCT, "i j", "i 2*l+1", "l+2 j", "A * (B - A0)"),
    (dict(i=4, l=5), "i", "i 4-l", "3 l", "A * B"),
    (dict(i=4, l=5), "i", "i l", "l", "A * A"),
    (WINDOW, "s n x", "s m |x-k+1|", "n m k", "-(A * B)"),
    (WINDOW, "n x", "m x+k", "n m k", "A * B"),
    (WINDOW, "x n", "|2*x-k+1| m", "k m n", "A * B"),
    (WINDOW, "n x s", "m 7-x-k s", "n m k", "2 * A * B"),
    (WINDOW, "s x", "s 3*x+2*k", "2-k", "A * B"),
    (WINDOW, "x", "x+k+2", "k", "-A * B"),
    (IMAGE, "n y x s", "m |y+k-1| 2*x+l s", "m k l n", "-(A * B)"),
    (IMAGE, "s y n x", "y-k+2 x+l m s", "n l m k", "A * B"),
    (IMAGE, "x y n s", "m s 4-y+k x+l", "k n l m", "A * B"),
    (IMAGE, "s m y x n", "s m |y-k+1| |x+l|", "k l m n", "A * B"),
    (IMAGE, "m y x", "|y+k-1| x-l+1 m", "m k l", "A * B"),
    (dict(s=2, g=2, n=3, m=2, x=5, k=3), "s g*3+n x", "s g*2+m |x-k+1|", "g*3+n m k", "-(A * B)"),
]


def loops(extents, *subscripts):
    used = re.findall("[a-z]", " ".join(subscripts))
    return {name: extent for name, extent in extents.items() if name in used}


def shape(extents, subscripts, guarded=0):
    """The extent of each dimension: one more than the largest subscript, or for guarded subscripts the extent of their first loop."""
    sizes = []
    for word in subscripts.split():
        if "|" in word:
            first = next(c for c in word if c.isalpha())
            step = int((re.findall(r"(\d)\*" + first, word) or ["1"])[0])
            sizes.append(step * extents[first])
            continue
        letters = loops(extents, word)
        points = itertools.product(*map(range, letters.values()))
        sizes.append(1 + max(eval(word, dict(zip(letters, p))) for p in points))
    return sizes


def document():
    text, call, ports = "", "", ""
    for number, (extents, *words, value) in enumerate(VARIANTS):
        # A comma after a single subscript distinguishes it from the index of a pack.
        y, a, b = (", ".join(w.split()) + ("" if " " in w else ",") for w in words)
        sizes = [", ".join(map(str, shape(extents, w))) for w in words]
        value = re.sub(r"\bA0\b", "1.0", value)
        value = re.sub(r"\b(\d)\b(?!\.)(?<!\.\d)", r"\1.0", value)
        value = value.replace("A", "a[%s]" % a).replace("B", "b[%s]" % b)
        bounds = ", ".join("%s < %d" % item for item in loops(extents, *words).items())
        text += "operator v%d {\n  @input { a: real[%s]; b: real[%s]; }\n  @output { c: real[%s]; }\n" % (number, sizes[1], sizes[2], sizes[0])
        text += "  @lower { c[%s] += %s, %s; }\n}\n" % (y, value, bounds)
        ports += "    a%d: real[%s]; b%d: real[%s];\n" % (number, sizes[1], number, sizes[2])
        call += "    y%d = v%d(a%d, b%d);\n" % ((number,) * 4)
    outputs = "".join("    y%d: real[%s];\n" % (n, ", ".join(map(str, shape(v[0], v[1])))) for n, v in enumerate(VARIANTS))
    return text + "graph G {\n  @input {\n%s  }\n  @output {\n%s  }\n  @compose {\n%s  }\n}\n" % (ports, outputs, call)


def values(number):
    rng = numpy.random.default_rng(number)
    extents, _, a, b, _ = VARIANTS[number]
    # Multiples of 1/2: sums of a few are exact in any order.
    return [(rng.integers(-8, 9, shape(extents, w)) / 2).astype(numpy.float32) for w in (a, b)]


def expected(number):
    extents, y, a, b, value = VARIANTS[number]
    result, (left, right) = numpy.zeros(shape(extents, y), numpy.float32), values(number)
    used = loops(extents, y, a, b)
    for point in itertools.product(*map(range, used.values())):
        place = lambda words: tuple(eval(w.strip("|"), dict(zip(used, point))) for w in words.split())
        at, of = place(a), place(b)
        if all(0 <= p < e for p, e in zip(at, left.shape)):
            result[place(y)] += eval(value, {"A": left[at], "B": right[of], "A0": 1})
    return result


folder, *out = sys.argv[1:]
if out:
    for number in range(len(VARIANTS)):
        found = numpy.load("%s/y%d.npy" % (out[0], number))
        assert numpy.array_equal(found, expected(number)), "%s\n%s\n%s" % (VARIANTS[number], found, expected(number))
else:
    open(folder + "/main.sknd", "w").write(document())
    for number in range(len(VARIANTS)):
        for name, array in zip("ab", values(number)):
            numpy.save("%s/%s%d.npy" % (folder, name, number), array)
