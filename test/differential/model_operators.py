# SPDX-License-Identifier: Apache-2.0
"""Operators of random formulas for random models."""

import math

import formulas

# The upper bound of the dynamic extent `n`.
BOUND = 6
# The maximum number of iterations of the loops of a formula: the evaluator runs them one by one.
LARGEST_LOOP = 100_000
EXACT = ["abs", "floor", "ceil", "sign", "round"]
ROUNDED = ["sqrt", "exp", "log", "sin", "cos", "tanh", "atan", "erf", "asinh"]


def volume(shape):
    """The number of elements for the upper bounds of dynamic extents."""
    return math.prod(BOUND if extent == "n" else extent for extent in shape)


class Value:
    """A tensor or, with a `length`, a pack of tensors of the same shape. Extents are ints or `n`."""

    def __init__(self, name, kind, shape, length=None):
        self.name, self.kind, self.shape, self.length = name, kind, list(shape), length

    def declare(self, extent=str):
        pack = "" if self.length is None else "..(%d)" % self.length
        return "%s: %s[%s]%s;" % (self.name, self.kind, ", ".join(extent(e) for e in self.shape), pack)

    def form(self):
        return self.kind, tuple(self.shape), self.length


class Operator(formulas.Case):
    """The text of an operator that maps tensors of these forms to tensors of those forms."""

    def __init__(self, random, name, inputs, outputs, functions):
        self.random, self.depth, self.functions = random, 0, functions
        self.bounds, self.locals = {}, []
        self.inputs = [Value("x%d" % at, *value.form()) for at, value in enumerate(inputs)]
        outputs = [Value("y%d" % at, kind, shape) for at, (kind, shape) in enumerate(outputs)]
        self.names = self.named_extents()
        lines = []
        for output in outputs:
            self.output = output
            lines.append(self.statement(True))
            if self.random.random() < 0.45:
                lines.append(self.statement(False))
        self.text = "operator %s {\n    @input { %s }\n    @output { %s }\n    @lower {\n        %s\n    }\n}\n" % (
            name, " ".join(x.declare(self.extent_text) for x in self.inputs), " ".join(y.declare(self.extent_text) for y in outputs),
            "\n        ".join(lines))

    def named_extents(self):
        """Names for static extents of the inputs: equal extents may have the same name."""
        extents = sorted({e for x in self.inputs for e in x.shape if isinstance(e, int)})
        return {e: "d%d" % e for e in extents if self.random.random() < 0.4}

    def extent_text(self, extent):
        return self.names.get(extent, str(extent))

    def extent(self):
        return self.random.choice([1, 2, 3, 4, 7])

    # Positions -----------------------------------------------------------------------------------------------------

    def position(self, extent):
        fitting = self.within(extent)
        exact = [name for name in fitting if self.bounds[name] == extent]
        if fitting and self.random.random() < 0.6:
            return self.random.choice(exact or fitting)
        if isinstance(extent, int):
            return super().position(extent)
        affine = self.affine(list(self.bounds))
        return self.random.choice(["|%s|", "|%s|", "|%s <> 0 : n - 1|"]) % affine

    def within(self, extent):
        if isinstance(extent, int):
            return [name for name in self.bounds if isinstance(self.bounds[name], int) and self.bounds[name] <= extent]
        return [name for name in self.bounds if self.bounds[name] == extent]

    def affine(self, names):
        text = super().affine(names)
        return text if "n" not in self.names.values() or self.random.random() < 0.9 else text + " - n"

    def access(self, tensor):
        if tensor.length is None:
            return super().access(tensor)
        item = Value("%s[%s]" % (tensor.name, self.random.randrange(tensor.length)), tensor.kind, tensor.shape)
        return super().access(item)

    def leaf(self, kind):
        """An access, or a comparison of one with a constant; `None` without tensors of such a kind."""
        tensors = [x for x in self.inputs if x.kind == kind] or [x for x in self.inputs if kind == "bool"]
        if not tensors:
            return None
        tensor = self.random.choice(tensors)
        if tensor.kind == kind:
            return self.access(tensor)
        sign, constant = self.random.choice(["<", "<=", ">", ">=", "==", "!="]), {"real": "0.5", "int": "2"}[tensor.kind]
        return "(%s %s %s)" % (self.access(tensor), sign, constant)

    # Values --------------------------------------------------------------------------------------------------------

    def value_of(self, kind, depth):
        leaf = self.leaf(kind) if depth <= 0 and self.random.random() < 0.7 else None
        if leaf:
            return leaf
        if kind == "real" and self.locals and self.random.random() < 0.3:
            return self.random.choice(self.locals)
        if kind == "real" and depth > 0 and self.functions and self.random.random() < 0.25:
            return "`%s`(%s)" % (self.random.choice(ROUNDED), self.value(kind, depth - 1))
        if kind != "bool" and depth > 0 and self.random.random() < 0.06:
            return "(%s %s)" % (self.value(kind, depth - 1), self.random.choice(["** 2", "/ 4", "* 3"]) + (".0" if kind == "real" else ""))
        return super().value_of(kind, depth)

    def product(self, kind):
        """A product of elements, as in contractions and windows."""
        tensors = [x for x in self.inputs if x.kind == kind]
        if kind == "bool" or not tensors:
            return self.value(kind, 2)
        return " * ".join(self.access(self.random.choice(tensors)) for _ in range(self.random.choice([1, 2, 2])))

    # Statements ----------------------------------------------------------------------------------------------------

    def statement(self, start):
        output, self.bounds, self.locals = self.output, {}, []
        places = []
        for extent in output.shape:
            if not isinstance(extent, int) or extent == 0 or self.random.random() < 0.92:
                name = "ijlm"[len(self.bounds)]
                self.bounds[name] = extent
                places.append(name)
            else:
                places.append(str(self.random.randrange(extent)))
        sign = "="
        if not start:
            signs = {"real": ["+=", "+=", "+=", ">=", "<=", ":="], "int": ["+=", ">=", "<=", ":="], "bool": ["&=", "|="]}
            sign = self.random.choice(signs[output.kind])
            extents = [e for x in self.inputs for e in x.shape]
            for name in "pq"[: self.random.choice([0, 1, 1, 2])]:
                extent = self.random.choice(extents) if extents and self.random.random() < 0.7 else self.extent()
                if volume([*self.bounds.values(), extent]) <= LARGEST_LOOP:
                    self.bounds[name] = extent
        local = ""
        if self.random.random() < 0.15:
            local = "g = %s,\n        " % self.value("real", 2)
            self.locals = ["g"]
        value = self.product(output.kind) if not start and self.random.random() < 0.3 else self.value(output.kind, self.random.randint(0, 3))
        clauses = ["%s < %s" % (name, self.extent_text(extent)) for name, extent in self.bounds.items()]
        self.random.shuffle(clauses)
        condition = " | " + self.value("bool", 1) if self.bounds and self.random.random() < 0.2 else ""
        places = places[0] + "," if len(places) == 1 else ", ".join(places)
        return "%s%s[%s] %s %s%s%s;" % (local, output.name, places, sign, value, "".join(", " + c for c in clauses), condition)
