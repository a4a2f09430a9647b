#!/usr/bin/env python3
"""Random loops and branches through the evaluator and through compiled code: the answers must agree.

    loops.py --skript BINARY [--count N] [--seed S] [--pipelines linalg,affine,scf] [--depth D]

What is nested, started from, yielded and given out is drawn, so that tensors are read while loops change them. Numbers stay
near one: every operator is a mean or a movement. Failing models are printed. What bufferization refuses to write in place, with
a diagnostic, counts as refused: one in twenty at most.
"""

import argparse
import os
import random
import sys
import tempfile

import numpy as np

import formulas

OPERATORS = """
operator half { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] * 0.5 + 0.25, i < n; } }
operator back { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[n - 1 - i,], i < n; } }
operator mean { @input { x: real[n]; z: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] * 0.5 + z[i,] * 0.5, i < n; } }
operator pair { @input { x: real[n]; } @output { y: real[n]; z: real[n]; } @compose { w = back(x); y = mean(x, w); z = x; } }
operator low { @input { x: real[n]; } @output { y: bool[]; } @lower { y[] = true; y[] &= x[i,] < 0.75, i < n; } }
"""
EXTENT = 4


class Body:
    """Statements over the names that are known."""

    def __init__(self, seed, depth):
        self.draw, self.made = random.Random(seed), 0
        lines, names = self.statements(["x", "z"], depth, self.draw.randint(2, 3))
        outputs = self.draw.sample(names[2:], min(3, len(names) - 2))
        self.outputs = ["o%d" % n for n in range(len(outputs))]
        lines += ["%s = %s;" % pair for pair in zip(self.outputs, outputs)]
        body = "\n    ".join(lines)
        declared = " ".join("%s: real[%%s];" % name for name in self.outputs)
        whole = "@input { x: real[%s]; z: real[%s]; t: int[]; } @output { " + declared + " } @compose {\n    %s\n}"
        extents = ("n",) * (2 + len(self.outputs)), (EXTENT,) * (2 + len(self.outputs))
        if self.draw.random() < 0.4:
            call = "%s = whole(x, z, t);" % ", ".join(self.outputs)
            self.text = "operator whole { " + whole % (*extents[0], body) + " }\ngraph G { " + whole % (*extents[1], call) + " }\n"
        else:
            self.text = "graph G { " + whole % (*extents[1], body) + " }\n"

    def name(self):
        self.made += 1
        return "v%d" % self.made

    def statements(self, names, depth, count):
        names, lines = list(names), []
        for _ in range(count):
            made = self.statement(names, depth)
            lines.append("%s = %s;" % (", ".join(made[0]), made[1]))
            names += made[0]
        return lines, names

    def statement(self, names, depth):
        """The names on the left, and what is assigned to them."""
        chance, known = self.draw.random(), lambda: self.draw.choice(names)
        if depth == 0 or chance < 0.3:
            operator, inputs, outputs = self.draw.choice([("half", 1, 1), ("back", 1, 1), ("mean", 2, 1), ("pair", 1, 2)])
            left = [self.name() for _ in range(outputs)]
            return left, "%s(%s)" % (operator, ", ".join(known() for _ in range(inputs)))
        if chance < 0.45:
            arms = []
            for count in (self.draw.randint(1, 2), 1):
                lines, inner = self.statements(names, depth - 1, count)
                arms.append("{ %s yield %s; }" % (" ".join(lines), self.draw.choice(inner)))
            return [self.name()], "if low(%s) then %s else %s" % (known(), *arms)
        carried = [self.name() for _ in range(self.draw.choice([1, 1, 2]))]
        starts = ", ".join("%s = %s" % (name, known()) for name in carried)
        lines, inner = self.statements(names + carried, depth - 1, self.draw.randint(1, 2))
        yields = [inner[-1]] + [self.draw.choice(inner) for _ in carried[1:]]
        times = self.draw.choice(["%s -> t" % self.name(), "%s -> t" % self.name(), "3"])
        left = [self.name() for _ in carried]
        return left, "with %s do..(%s) { %s yield %s; }" % (starts, times, " ".join(lines), ", ".join(yields))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--pipelines", default="linalg,affine,scf")
    args = parser.parse_args()
    engines = [("reference", ["--engine=reference"])]
    engines += [(p, ["--pipeline=" + p, "--no-cache"]) for p in args.pipelines.split(",")]
    failures, refused = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        arrays = {"x": np.array([1.5, -0.5, 0.75, 0.1], np.float32), "z": np.array([0.3, 1.25, -1, 0.9], np.float32), "t": np.array(2)}
        for name, array in arrays.items():
            np.save(os.path.join(folder, name), array)
            inputs += ["--input", "%s=%s" % (name, os.path.join(folder, name + ".npy"))]
        bodies, jobs = [], {name: [] for name, _ in engines}
        for number in range(args.count):
            body = Body(args.seed * 1_000_003 + number, args.depth)
            home = os.path.join(folder, str(number))
            os.mkdir(home)
            model = os.path.join(home, "main.sknd")
            with open(model, "w") as file:
                file.write(OPERATORS + body.text)
            bodies.append(body)
            for name, _ in engines:
                jobs[name].append([model, "--message-format=short", *inputs, "--output-dir", os.path.join(home, name)])
        answers = {name: formulas.run(args.skript, flags, jobs[name], folder) for name, flags in engines}
        for number, body in enumerate(bodies):
            load = lambda name: [np.load(os.path.join(folder, str(number), name, o + ".npy")) for o in body.outputs]
            for name, _ in engines:
                status, said = answers[name][number]
                if status == 1 and "SK8001" in said and "not bufferizable" in said:
                    refused += 1
                    break
                problem = "exit %d: %s" % (status, said) if status else None
                if not problem and not all(map(formulas.agree, load("reference"), load(name))):
                    problem = "evaluator %s\n%s %s" % (load("reference"), name, load(name))
                if problem:
                    failures += 1
                    print("--- model %d of seed %d, %s\n%s%s\n" % (number, args.seed, name, body.text, problem))
                    break
    print("loops: %d models computed alike, %d refused, %d differ" % (args.count - failures - refused, refused, failures))
    return 1 if failures or refused > args.count // 20 else 0


if __name__ == "__main__":
    sys.exit(main())
