# SPDX-License-Identifier: Apache-2.0
"""A network as data: typed values and the statements that compute them, written as SkriptND text."""

import os
import random
import re

import numpy as np

# The upper bound of the dynamic batch, whose name is `b`.
LARGEST_BATCH = 8
# Ints select rows of tables: `gather` takes the nearest row for others.
LARGEST_INT = 9


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "network_operators.sknd")) as file:
    # The text of each operator that networks define, by name.
    OPERATORS = {text.split()[1]: text.strip() for text in re.split(r"(?m)^(?=operator )", file.read()) if text.startswith("operator ")}


class Value:
    """A named tensor or pack of tensors. Extents are ints, `b`, or multiples of it (`3*b`)."""

    def __init__(self, name, shape, kind="real"):
        self.name, self.shape, self.kind = name, list(shape), kind

    def signature(self):
        return self.kind, tuple(map(str, self.shape))

    def as_result(self):
        """The name on the left side of a statement; the shape of a pack begins with its length."""
        if self.kind == "pack":
            return "%s..(%d)" % (self.name, self.shape[0])
        return "~" if self.kind == "dropped" else self.name

    def is_dynamic(self):
        return any(isinstance(extent, str) for extent in self.shape)


class Statement:
    """Results, and the text of their computation, with `%s` for the name of each operand."""

    def __init__(self, results, text, operands, packed):
        self.results, self.text, self.operands, self.packed = results, text, operands, packed

    def write(self):
        names = ", ".join(value.as_result() for value in self.results)
        left = "[%s]" % names if self.packed else names
        return "%s = %s;" % (left, self.text % tuple(value.name for value in self.operands))


class Network:
    """Inputs, variables and statements in order; outputs by name; new values of variables."""

    def __init__(self):
        self.inputs, self.variables, self.statements = [], [], []
        self.outputs, self.updates = [], []

    def live(self):
        """A copy without values that no output and no update depends on; the first input is kept, as it declares the batch."""
        needed = {value.name for _, value in self.outputs} | {value.name for _, value in self.updates}
        kept = []
        for statement in reversed(self.statements):
            if any(value.name in needed for value in statement.results):
                needed.update(value.name for value in statement.operands)
                kept.append(statement)
        needed.update(variable.name for variable, _ in self.updates)
        network = Network()
        network.inputs = self.inputs[:1] + [value for value in self.inputs[1:] if value.name in needed]
        network.variables = [value for value in self.variables if value.name in needed]
        network.statements = kept[::-1]
        network.outputs, network.updates = self.outputs, self.updates
        return network

    def write(self):
        """The text of `main.sknd`."""
        body = [statement.write() for statement in self.statements]
        # An output that is the result of a statement has its name; other outputs are further names of a value.
        body += ["%s = %s;" % (name, value.name) for name, value in self.outputs if name != value.name]
        calls = "\n".join(body)
        operators = definitions(calls)
        modules = [m for m in ("algo", "image", "layer", "layout", "linalg", "math", "nn") if m + "." in calls + operators]
        lines = ["import %s;" % module for module in modules] + [operators, "graph G {"]
        lines += block("input", declarations(self.inputs, bounded=True)) + block("variable", declarations(self.variables))
        lines += block("output", ["%s: %s;" % (name, shape_of(value, "~")) for name, value in self.outputs])
        lines += block("compose", body)
        lines += block("update", ["%s = %s;" % (variable.name, value.name) for variable, value in self.updates])
        return "\n".join(lines + ["}"]) + "\n"

    def values(self, seed):
        """Arrays for the inputs."""
        batch = random.Random(seed).choice([1, 1, 2, 3, LARGEST_BATCH])
        for value in self.inputs:
            extents = [extent_for(extent, batch) for extent in value.shape]
            # Seeded by name, so that an input keeps its values when other inputs are removed.
            rng = np.random.default_rng([seed, *value.name.encode()])
            if value.kind == "int":
                yield value.name, rng.integers(0, LARGEST_INT + 1, extents, dtype=np.int64)
            elif value.kind == "bool":
                yield value.name, np.asarray(rng.random(extents) < 0.5)
            else:
                yield value.name, np.asarray(rng.uniform(-1, 1, extents), np.float32)


def extent_for(extent, batch):
    """The value of an extent in a run with this batch."""
    if isinstance(extent, int):
        return extent
    factor, _, _ = extent.rpartition("*")
    return int(factor or 1) * batch


def definitions(text):
    """The operators that `text` calls, and those that these call."""
    found, before = {}, None
    while found != before:
        before = dict(found)
        for name, definition in OPERATORS.items():
            if re.search(r"(?<![\w.])%s[({]" % name, "\n".join([text, *found.values()])):
                found[name] = definition
    return "\n".join(found.values())


def block(name, lines):
    return ["  @%s {" % name] + ["    " + line for line in lines] + ["  }"] if lines else []


def shape_of(value, multiple=None):
    """Type and shape; `multiple` is the text for extents that are multiples of the batch."""
    extents = [multiple if multiple and isinstance(e, str) and e != "b" else str(e) for e in value.shape]
    return "%s[%s]" % (value.kind, ",".join(extents))


def declarations(values, bounded=False):
    lines = []
    for value in values:
        text = "%s: %s;" % (value.name, shape_of(value))
        if bounded and "b" in value.shape:
            text, bounded = text.replace("[b,", "[b|%d," % LARGEST_BATCH, 1), False
        lines.append(text)
    return lines
