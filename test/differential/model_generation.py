# SPDX-License-Identifier: Apache-2.0
"""Random models: graphs of operators with random formulas, operators of the library, branches, loops, packs, variables and updates."""

import random
import re

from model_library import called
from model_operators import BOUND, Operator, Value, volume

# Extents of large models: vectors, tiles and their remainders.
LARGE = [15, 16, 17, 31, 33, 64, 65, 100, 130, 257]
# The maximum number of elements of a tensor that is not a result of the library.
LARGEST = 8_192


class Model:
    """The model of a seed. `functions`: formulas call functions that round, such as `exp`."""

    def __init__(self, seed, functions, large=False):
        self.random = random.Random(seed)
        self.functions, self.made = functions, 0
        self.extents = self.random.sample([1, 2, 3, 4, 5, 8], 3) + (["n"] if self.chance(0.3) else [])
        if large:
            self.extents[:2] = self.random.sample(LARGE, 2)
        self.definitions, self.inputs, self.variables = [], [], []
        for _ in range(self.random.randint(2, 4)):
            self.inputs.append(Value("in%d" % len(self.inputs), self.kind(), self.shape()))
        if self.chance(0.3):
            self.inputs.append(Value("pack", "real", self.shape(), self.random.randint(1, 3)))
        for _ in range(self.random.choice([0, 0, 1, 2])):
            static = [e for e in self.shape() if isinstance(e, int)]
            self.variables.append(Value("w%d" % len(self.variables), "real", static))
        lines, scope = self.statements(self.inputs + self.variables, 2, self.random.randint(2, 6))
        self.values = {value.name: value for value in scope[len(self.inputs + self.variables):]}
        self.outputs = self.results(scope[len(self.inputs + self.variables):] or self.inputs, lines)
        update = ""
        if self.variables and self.chance(0.6):
            more = []
            name = self.formed(scope, "real", self.variables[0].shape, more)
            update = "    @update {\n        %s\n        w0 = %s;\n    }\n" % ("\n        ".join(more), name)
        self.body, self.update = lines, update

    def results(self, values, lines):
        """Up to five outputs; values that no statement reads are preferred."""
        tensors = [value for value in values if value.length is None] or [self.inputs[0]]
        unread = [value for value in tensors if len(re.findall(r"\b%s\b" % value.name, " ".join(lines))) < 2]
        rest = [value for value in tensors if value not in unread]
        return (unread + self.random.sample(rest, min(len(rest), 2)))[:5]

    def text(self):
        dynamic = lambda extent: "n|%d" % BOUND if extent == "n" else str(extent)
        inputs = " ".join(value.declare(dynamic) for value in self.inputs)
        variables = "    @variable { %s }\n" % " ".join(value.declare() for value in self.variables) if self.variables else ""
        outputs = " ".join("o%d: %s[%s];" % (at, value.kind, ", ".join("~" if e == "n" else str(e) for e in value.shape))
                           for at, value in enumerate(self.outputs))
        lines = self.body + ["o%d = %s;" % (at, value.name) for at, value in enumerate(self.outputs)]
        imports = "".join("import %s;\n" % m for m in ("layout", "linalg", "math", "nn") if m + "." in "".join(lines + self.definitions) + self.update)
        return "%s%sgraph G {\n    @input { %s }\n%s    @output { %s }\n    @compose {\n        %s\n    }\n%s}\n" % (
            imports, "".join(self.definitions), inputs, variables, outputs, "\n        ".join(lines), self.update)

    # Choices -------------------------------------------------------------------------------------------------------

    def chance(self, probability):
        return self.random.random() < probability

    def kind(self):
        return self.random.choice(["real", "real", "real", "int", "bool"])

    def shape(self):
        while True:
            shape = [self.extent() for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))]
            if volume(shape) <= LARGEST:
                return shape

    def extent(self):
        return 0 if self.chance(0.02) else self.random.choice(self.extents)

    def name(self, stem="t"):
        self.made += 1
        return "%s%d" % (stem, self.made)

    # Statements ----------------------------------------------------------------------------------------------------

    def statements(self, scope, depth, count):
        """The lines of statements, and the values that are visible after them."""
        lines, scope = [], list(scope)
        for _ in range(count):
            choice = self.random.random()
            if choice < 0.3:
                self.library(scope, lines)
            elif depth == 0 or choice < 0.68:
                self.formula(scope, lines)
            elif choice < 0.76:
                self.branch(scope, lines, depth)
            elif choice < 0.9:
                self.loop(scope, lines, depth)
            else:
                self.composite(scope, lines, depth)
        return lines, scope

    def operands(self, scope, more=()):
        """Inputs of an operator; recent values are likelier."""
        count = self.random.randint(1, 3) - len(more)
        recent = scope[-4:]
        chosen = list(more) + [self.random.choice(recent if self.chance(0.7) else scope) for _ in range(max(count, 0))]
        unique = {value.name: value for value in chosen}
        return list(unique.values())

    def formula(self, scope, lines, outputs=None, more=()):
        """A call of an operator with random formulas."""
        if outputs is None:
            outputs = [(self.kind(), self.shape()) for _ in range(self.random.choice([1, 1, 1, 2]))]
        operands = self.operands(scope, more)
        needed = {e for _, shape in outputs for e in shape if e == "n"}
        if needed and not any("n" in value.shape for value in operands):
            known = [value for value in scope if "n" in value.shape]
            if known:
                operands.append(self.random.choice(known))
            else:
                outputs = [(kind, [2 if e == "n" else e for e in shape]) for kind, shape in outputs]
        operator = self.name("op")
        self.definitions.append(Operator(self.random, operator, operands, outputs, self.functions).text)
        results = [Value(self.name(), kind, shape) for kind, shape in outputs]
        lines.append("%s = %s(%s);" % (", ".join(r.name for r in results), operator, ", ".join(x.name for x in operands)))
        scope += results
        return results

    def library(self, scope, lines):
        """A call of an operator of the library, or of a formula if none fits."""
        value = self.random.choice([v for v in scope if v.length is None][-6:])
        made = called(self.random, value, [v for v in scope if v.length is None], self.functions)
        if made is None or volume(made[2]) > 8 * LARGEST:
            return self.formula(scope, lines)
        text, kind, shape = made
        result = Value(self.name(), kind, shape)
        lines.append("%s = %s;" % (result.name, text))
        scope.append(result)

    def formed(self, scope, kind, shape, lines):
        """The name of a value of this form, perhaps of a new one."""
        known = [v for v in scope if v.form() == (kind, tuple(shape), None)]
        if known and self.chance(0.3):
            return self.random.choice(known[-2:]).name
        more = [v for v in scope if v.length is None and v.form() == (kind, tuple(shape), None)][-1:]
        result, = self.formula(list(scope), lines, [(kind, list(shape))], more)
        if result.shape != list(shape):
            return more[0].name
        return result.name

    def test(self, scope, lines):
        """The name of a bool."""
        return self.formed(scope, "bool", [], lines)

    def block(self, scope, forms, depth):
        """The text of a block that yields values of these forms."""
        lines, inner = self.statements(scope, depth - 1, self.random.randint(0, 2))
        names = [self.formed(inner, kind, shape, lines) for kind, shape in forms]
        return "{ %s yield %s; }" % (" ".join(lines), ", ".join(names))

    def branch(self, scope, lines, depth):
        value = self.random.choice([v for v in scope if v.length is None])
        forms = [(value.kind, value.shape)]
        text = "if %s then %s else %s" % (self.test(scope, lines), self.block(scope, forms, depth), self.block(scope, forms, depth))
        result = Value(self.name(), *value.form())
        lines.append("%s = %s;" % (result.name, text))
        scope.append(result)

    def loop(self, scope, lines, depth):
        tensors = [v for v in scope if v.length is None]
        starts = self.random.sample(tensors, min(len(tensors), self.random.choice([1, 1, 2])))
        carried = [Value(self.name("c"), v.kind, v.shape) for v in starts]
        header = "with " + ", ".join("%s = %s" % (c.name, v.name) for c, v in zip(carried, starts))
        inner, form = scope + carried, self.random.choice(["count", "index", "for", "while", "until", "unroll"])
        forms = [(c.kind, c.shape) for c in carried]
        results = [Value(self.name(), *form) for form in forms]
        packs = [v for v in scope if v.length is not None]
        if form == "for":
            pack = self.random.choice(packs) if packs and self.chance(0.5) else None
            if pack is None:
                item = self.random.choice(tensors)
                same = [v for v in tensors if v.form() == item.form()]
                items = [self.random.choice(same) for _ in range(self.random.randint(1, 3))]
                source, pack = "[%s]" % ", ".join(v.name for v in items), Value("", item.kind, item.shape, len(items))
            else:
                source = pack.name
            element = Value(self.name("e"), pack.kind, pack.shape)
            inner = inner + [element]
            header += " for %s : %s" % (element.name, source)
            if self.chance(0.4):
                forms.append((pack.kind, pack.shape))
                results.append(Value(self.name(), pack.kind, pack.shape, pack.length))
        index = Value(self.name("i"), "int", [])
        body = self.block(inner + ([index] if form in ("index", "unroll") else []), forms, depth)
        count = self.random.randint(0, 3)
        if form in ("while", "until"):
            test = self.condition(inner)
            text = "%s while %s do..(%d) %s" % (header, test, count, body)
            if form == "until":
                text = "%s do..(%d) %s while %s" % (header, count, body, test)
        else:
            do = {"count": "do..(%d)" % count, "index": "do..(%s -> %s)" % (index.name, self.steps(scope, count)),
                  "for": self.random.choice(["do", "do", "unroll"]), "unroll": "unroll..(%s -> %d)" % (index.name, count)}[form]
            text = "%s %s %s" % (header, do, body)
        left = ", ".join(r.name + (".." if r.length is not None else "") for r in results)
        lines.append("%s = %s;" % (left, text))
        scope += results

    def condition(self, scope):
        """The text of a condition of a loop."""
        lines = []
        result, = self.formula(list(scope), lines, [("bool", [])])
        return "{ %s yield %s; }" % (lines[0], result.name)

    def steps(self, scope, count):
        """A number of iterations: static, or an input."""
        if self.chance(0.5):
            return str(count)
        known = [v for v in self.inputs if v.name == "steps"]
        if not known:
            self.inputs.append(Value("steps", "int", []))
        return "steps"

    def composite(self, scope, lines, depth):
        """A call of a composite operator, whose inputs have other names."""
        operands = self.operands(scope)
        if all(value.length is not None for value in operands):
            return self.formula(scope, lines)
        inner = [Value(self.name("p"), *value.form()) for value in operands]
        body, visible = self.statements(inner, depth - 1, self.random.randint(1, 3))
        own = [v for v in visible[len(inner):] if v.length is None] or inner[:1]
        results = self.random.sample(own, min(len(own), self.random.choice([1, 1, 2])))
        if any(v.length is not None for v in results) or ("steps" in " ".join(body)):
            return self.formula(scope, lines)
        operator = self.name("comp")
        body += ["r%d = %s;" % (at, v.name) for at, v in enumerate(results)]
        outputs = " ".join("r%d: %s[%s];" % (at, v.kind, ", ".join(map(str, v.shape))) for at, v in enumerate(results))
        self.definitions.append("operator %s {\n    @input { %s }\n    @output { %s }\n    @compose {\n        %s\n    }\n}\n" % (
            operator, " ".join(v.declare() for v in inner), outputs, "\n        ".join(body)))
        outer = [Value(self.name(), *v.form()) for v in results]
        lines.append("%s = %s(%s);" % (", ".join(v.name for v in outer), operator, ", ".join(v.name for v in operands)))
        scope += outer
