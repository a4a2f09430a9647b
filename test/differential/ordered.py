#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares compiled code with the evaluator on random formulas that run in order, and on sums over data-dependent ranges.

    ordered.py --skript BINARY [--count N] [--seed S] [--pipelines linalg,scf]

Dimensions without dependences are at random positions of the tensors and of the loops; values are cheap or call functions. So some loops
are interchanged, some are vectorized on transposed copies, and others are unchanged. Ranges may be empty, reversed or out of bounds.
"""

import argparse
import os
import random
import sys
import tempfile

import numpy as np

import formulas
from agreement import agree


def recurrence(draw):
    """One table: only dimensions t and u may carry dependences, not b (batch) and c (channel)."""
    extents = {"b": draw.choice([1, 3, 16, 20, 33]), "c": draw.choice([1, 4, 9]), "t": draw.choice([5, 9, 14]), "u": draw.choice([1, 7, 12, 37])}
    names = list(extents)
    draw.shuffle(names)
    loops = draw.sample(names, 4)
    table = ",".join("%d" % (extents[n] + (n in "tu")) for n in names)
    shape = ",".join(str(extents[n]) for n in names)
    at = lambda dt, du: ",".join("%s + %d" % (n, {"t": dt, "u": du}.get(n, 0)) if n in "tu" else n for n in names)
    reads = draw.sample([(0, 0), (0, 1), (1, 0)], draw.randint(1, 3))
    terms = ["r[%s]" % at(*read) for read in reads]
    value = "x[%s]" % ",".join(names)
    for term in terms:
        value = draw.choice(["%s * 0.5 + %s * 0.25", "(%s >> %s - 0.1)", "(%s << %s * 0.5)"]) % (value, term)
    if draw.random() < 0.6:
        value = draw.choice(["`exp`(-(%s) * (%s))", "`tanh`(%s) + `sin`(%s) * 0.1", "`log`(1.5 + (%s) * (%s))"]) % (value, value)
    condition = " | x[%s] > -1.0" % ",".join(names) if draw.random() < 0.3 else ""
    start = draw.choice(["0.0", "real(%s + %s) * 0.01" % tuple(draw.sample(names, 2)), "s[%s]" % ",".join(names)])
    bounds = lambda more: ", ".join("%s < %d" % (n, extents[n] + more * (n in "tu")) for n in (names if more else loops))
    ask = draw.random()
    after = "last[b,c] = r[%s], b < %d, c < %d;" % (",".join({"t": str(extents["t"]), "u": str(extents["u"])}.get(n, n) for n in names), extents["b"], extents["c"])
    text = """
operator table {
    @input { x: real[%s]; s: real[%s]; }
    @output { r: real[%s]; }
    @lower {
        r[%s] = %s, %s;
        r[%s] := %s, %s%s;
    }
}
operator ending { @input { r: real[%s]; } @output { last: real[%d,%d]; } @lower { %s } }
graph G {
    @input { x: real[%s]; s: real[%s]; }
    @output { y: real[%s]; last: real[%d,%d]; }
    @compose { r = table(x, s); y = r; last = ending(r); }
}
""" % (shape, table, table, ",".join(names), start, bounds(1), at(1, 1), value, bounds(0), condition, table, extents["b"], extents["c"], after, shape, table, table, extents["b"], extents["c"])
    if ask < 0.5:
        text = text.replace("y: real[%s]; " % table, "").replace("y = r; ", "")
    arrays = {"x": np.array([draw.uniform(-1.5, 1.5) for _ in range(int(np.prod([extents[n] for n in names])))], np.float32).reshape([extents[n] for n in names])}
    grown = [extents[n] + (n in "tu") for n in names]
    arrays["s"] = np.array([draw.uniform(-1, 1) for _ in range(int(np.prod(grown)))], np.float32).reshape(grown)
    return text, arrays


def whole(draw):
    """A tensor whose elements are each written once, in either direction, from elements before or after them, or out of bounds."""
    extents = draw.sample([1, 2, 5, 17, 40, 130, 517, 1024], draw.choice([1, 2, 2, 3]))
    while np.prod(extents) > 1 << 18:
        extents[extents.index(max(extents))] = 9
    names = "ijk"[: len(extents)]
    backward = [draw.random() < 0.3 for _ in names]

    def subscripts(steps):
        texts = []
        for name, extent, back, step in zip(names, extents, backward, steps):
            text = "%d - %s + %d" % (extent - 1, name, -step) if back else "%s + %d" % (name, step)
            texts.append("|%s|" % text if step else text)
        return ",".join(texts) + "," * (len(extents) == 1)

    def read():
        steps = [0] * len(extents)
        for _ in range(draw.choice([1, 1, 2])):
            steps[draw.randrange(len(extents))] = draw.choice([-1, -1, -1, -2, 1])
        return "y[%s]" % subscripts(steps)

    kind = draw.choice(["real", "real", "int"])
    element = "x[%s]" % (",".join(names) + "," * (len(extents) == 1))
    value = draw.choice(["(%s + %s)", "(%s - %s)", "(%s >> %s)"]) % (read(), element)
    value += draw.choice(["", " - " + read()])
    value = "0.5 * (%s)" % value if kind == "real" else value
    here, shape = subscripts([0] * len(extents)), ",".join(map(str, extents))
    bounds = ", ".join("%s < %d" % pair for pair in zip(names, extents))
    first = draw.choice([element, "1" if kind == "int" else "1.0", "%s + %s" % (element, element)])
    text = """
operator scan {
    @input { x: %(kind)s[%(shape)s]; }
    @output { y: %(kind)s[%(shape)s]; }
    @lower { y[%(at)s] = %(first)s, %(bounds)s; y[%(here)s] := %(value)s, %(bounds)s; }
}
graph G {
    @input { x: %(kind)s[%(shape)s]; }
    @output { y: %(kind)s[%(shape)s]; }
    @compose { y = scan(x); }
}
""" % dict(kind=kind, shape=shape, at=element[2:-1], first=first, bounds=bounds, here=here, value=value)
    random = np.random.default_rng(draw.randrange(1 << 30))
    drawn = random.integers(-9, 9, extents)
    return text, {"x": drawn if kind == "int" else (drawn / 8).astype(np.float32)}


def ranges(draw):
    """Sums over k, whose bounds depend on data or on another index."""
    segments, width, n = draw.choice([1, 4, 7]), draw.choice([1, 3, 8, 17]), draw.choice([5, 30])
    low = draw.choice(["start[i,] <= k", "start[i,] < k", "k >= start[i,] - 1", "k > i", "start[i,] + i <= k"])
    high = draw.choice(["k < start[i + 1,]", "k <= start[i + 1,]", "start[i + 1,] > k", "k < start[i,] + 3", "k == start[i,]", "k <= i"])
    other = draw.choice(["", " && x[k,c] > 0.0", " && c != 2"])
    order = ["i < %d" % segments, "c < %d" % width, "k < %d" % n]
    draw.shuffle(order)
    sign = draw.choice(["+=", ">=", "*="])
    value = draw.choice(["x[k,c]", "x[k,c] * x[at[k,],c]", "real(k) * 0.1 + x[k,c]"])
    text = """
operator parts {
    @input { x: real[%(n)d,%(w)d]; start: int[%(e)d]; at: int[%(n)d]; }
    @output { y: real[%(s)d,%(w)d]; }
    @lower { y[i,c] = 0.5, i < %(s)d, c < %(w)d; y[i,c] %(sign)s %(value)s, %(order)s | %(low)s && %(high)s%(other)s; }
}
graph G {
    @input { x: real[%(n)d,%(w)d]; start: int[%(e)d]; at: int[%(n)d]; }
    @output { y: real[%(s)d,%(w)d]; }
    @compose { y = parts(x, start, at); }
}
""" % dict(n=n, w=width, s=segments, e=segments + 1, sign=sign, value=value, order=", ".join(order), low=low, high=high, other=other)
    ends = sorted(draw.randint(-3, n + 3) for _ in range(segments + 1))
    if draw.random() < 0.3:
        draw.shuffle(ends)
    if draw.random() < 0.2:
        ends[0], ends[-1] = -(2**63), 2**63 - 1
    random = np.random.default_rng(draw.randrange(1 << 30))
    arrays = {"x": random.uniform(-1.5, 1.5, (n, width)).astype(np.float32), "start": np.array(ends, np.int64), "at": random.integers(0, n, n)}
    return text, arrays


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=90)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pipelines", default="linalg,scf")
    args = parser.parse_args()
    engines = [("reference", ["--engine=reference"])]
    engines += [(p, ["--pipeline=" + p, "--no-cache"]) for p in args.pipelines.split(",")]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        texts, jobs = [], {name: [] for name, _ in engines}
        for number in range(args.count):
            draw = random.Random(args.seed * 1_000_003 + number)
            text, arrays = draw.choice([recurrence, whole, ranges])(draw)
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            model = os.path.join(home, "main.sknd")
            with open(model, "w") as file:
                file.write(text)
            texts.append(text)
            inputs = []
            for name, array in arrays.items():
                path = os.path.join(home, name + ".npy")
                np.save(path, array)
                inputs += ["--input", "%s=%s" % (name, path)]
            for name, _ in engines:
                jobs[name].append([model, "--message-format=short", *inputs, "--output-dir", os.path.join(home, name)])
        answers = {name: formulas.run(args.skript, flags, jobs[name], folder) for name, flags in engines}
        for number, text in enumerate(texts):
            def load(name):
                home = os.path.join(folder, str(number), name)
                return [np.load(os.path.join(home, file)) for file in sorted(os.listdir(home))]

            for name, _ in engines:
                status, said = answers[name][number]
                problem = "exit %d: %s" % (status, said) if status else None
                if not problem and not all(map(agree, load("reference"), load(name))):
                    problem = "evaluator %s\n%s %s" % (load("reference"), name, load(name))
                if problem:
                    failures += 1
                    print("--- model %d of seed %d, %s\n%s%s\n" % (number, args.seed, name, text, problem))
                    break
    print("ordered: %d models computed alike, %d differ" % (args.count - failures, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
