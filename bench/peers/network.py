# SPDX-License-Identifier: Apache-2.0
"""A network under construction, in several languages at once: statements of SkriptND, nodes of ONNX and, where a workload is compared
with torch, lines of Python, with the same variables."""
import dataclasses
import functools
import hashlib
import typing

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

# Gelu exists from opset 20 on.
OPSET = 20
IR_VERSION = 9


class Value:
    """A tensor of the network: `name` in all languages, and the shape that it has in the measured calls."""

    def __init__(self, name, shape):
        self.name, self.shape = name, list(shape)


@dataclasses.dataclass
class Array:
    """An input or a variable. Its values are computed on first use: the SkriptND and torch texts do not contain them."""

    shape: list
    compute: typing.Callable
    integers: bool = False

    @functools.cached_property
    def values(self):
        return numpy.ascontiguousarray(self.compute(), dtype=numpy.int64 if self.integers else numpy.float32)


class Network:
    """Inputs, variables, statements, nodes and lines. The values of an array depend only on the name of the network and the numbers of
    inputs and variables before the array, so they are the same in every process."""

    # The largest difference of two engines, relative to the largest element. Both round each step to f32 and sum in different orders.
    tolerance = 1e-3

    def __init__(self, name):
        self.seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
        self.inputs, self.variables, self.dynamic = {}, {}, {}
        self.operators, self.statements, self.nodes, self.constants, self.outputs = [], [], [], {}, []
        self.lines = []
        self.count = 0

    # Operands ----------------------------------------------------------------------------------------------------------

    def generator(self):
        """The generator of random numbers of the next array."""
        return numpy.random.default_rng([self.seed, len(self.inputs), len(self.variables)])

    def input(self, shape, dynamic=None, integers=None):
        """An input of normally distributed reals, or of integers below `integers`; `dynamic` maps the axes of dynamic dimensions to names."""
        name, random = "x%d" % len(self.inputs), self.generator()
        if integers:
            self.inputs[name] = Array(shape, lambda: random.integers(0, integers, shape), True)
        else:
            self.inputs[name] = Array(shape, lambda: random.standard_normal(shape, dtype=numpy.float32))
        self.dynamic[name] = dynamic or {}
        return Value(name, shape)

    def variable(self, shape, spread=1.0):
        """A variable with normally distributed values."""
        random = self.generator()
        return self._add_variable(shape, lambda: numpy.float32(spread) * random.standard_normal(shape, dtype=numpy.float32))

    def positive(self, shape):
        """A variable with values between 0.5 and 1.5: scales and variances."""
        random = self.generator()
        return self._add_variable(shape, lambda: random.uniform(0.5, 1.5, shape))

    def weights(self, shape, terms):
        """Weights of sums over `terms` products: the results keep the variance of the operand if a rectifier follows."""
        return self.variable(shape, (2.0 / terms) ** 0.5)

    def _add_variable(self, shape, compute):
        name = "w%d" % len(self.variables)
        self.variables[name] = Array(shape, compute)
        return Value(name, shape)

    def constant(self, values):
        """Adds an initializer to the ONNX model that is an attribute or a literal in SkriptND. Returns its name."""
        return self.derived(lambda: numpy.asarray(values, numpy.int64 if _are_integers(values) else numpy.float32))

    def derived(self, compute):
        """Adds an initializer to the ONNX model with the values of variables in another form. Returns its name."""
        self.constants["c%d" % len(self.constants)] = compute
        return "c%d" % (len(self.constants) - 1)

    # Statements --------------------------------------------------------------------------------------------------------

    def value(self, shape):
        self.count += 1
        return Value("t%d" % self.count, shape)

    def operator(self, text):
        """Defines an operator that the library lacks, once."""
        if text not in self.operators:
            self.operators.append(text)

    def statement(self, results, text, *operands):
        """Adds a statement; `text` has a `%s` for each operand."""
        names = ", ".join(result.name for result in results)
        self.statements.append("%s = %s;" % (names, text % tuple(operand.name for operand in operands)))

    def eager(self, results, text, *operands):
        """Adds a line of the torch function; `text` has a `%s` for each operand."""
        self.lines.append((results, text % tuple(operand.name for operand in operands), operands))

    def node(self, operator, inputs, outputs=None, **attributes):
        """Adds a node and returns the name of its first output. Without `outputs`, the node has one new output. Operands are values or names."""
        if outputs is None:
            outputs = [self.value([])]
        names = [[v if isinstance(v, str) else v.name for v in side] for side in (inputs, outputs)]
        self.nodes.append(helper.make_node(operator, *names, **attributes))
        return names[1][0]

    def both(self, shape, text, operator, operands, extra=(), torch=None, **attributes):
        """Adds one statement and one node with the same operands, and the torch expression; `extra` are inputs of the node only."""
        result = self.value(shape)
        if torch:
            self.eager([result], torch, *operands)
        self.statement([result], text, *operands)
        self.node(operator, [*operands, *extra], [result], **attributes)
        return result

    def output(self, value, dynamic=None, integers=False):
        self.outputs.append((value, dynamic or {}, integers))

    # Results -----------------------------------------------------------------------------------------------------------

    def text(self):
        """The SkriptND text of the network."""
        lines = ["import %s;" % name for name in ("algo", "image", "layout", "linalg", "math", "nn")]
        lines += ["", *self.operators, "graph Main {", "    @input {"]
        for name, array in self.inputs.items():
            dynamic = self.dynamic[name]
            extents = ["%s|%d" % (dynamic[at], n) if at in dynamic else str(n) for at, n in enumerate(array.shape)]
            lines.append(_declaration(name, extents, array.integers))
        lines += ["    }", "    @output {"]
        for value, dynamic, integers in self.outputs:
            lines.append(_declaration(value.name, [dynamic.get(at, str(n)) for at, n in enumerate(value.shape)], integers))
        lines.append("    }")
        if self.variables:
            variables = [_declaration(name, map(str, array.shape)) for name, array in self.variables.items()]
            lines += ["    @variable {", *variables, "    }"]
        return "\n".join([*lines, "    @compose {", *("        " + s for s in self.statements), "    }", "}", ""])

    def torch(self):
        """A torch function that returns the outputs; `None` if a part of the network has no torch expression."""
        needed, lines = {value.name for value, _, _ in self.outputs}, []
        for results, text, operands in reversed(self.lines):
            names = {result.name for result in results}
            if names & needed:
                needed = needed - names | {operand.name for operand in operands}
                lines.append("    %s = %s" % (", ".join(result.name for result in results), text))
        arguments = [*self.inputs, *self.variables]
        if not needed <= set(arguments):
            return None
        results = ", ".join("'%s': %s" % (value.name, value.name) for value, _, _ in self.outputs)
        return "\n".join(["def main(%s):" % ", ".join(arguments), *reversed(lines), "    return {%s}" % results, ""])

    def onnx(self):
        """The ONNX model of the network."""
        inputs = [_port(name, array.shape, self.dynamic[name], array.integers) for name, array in self.inputs.items()]
        outputs = [_port(value.name, value.shape, dynamic, integers) for value, dynamic, integers in self.outputs]
        used = {name for node in self.nodes for name in node.input}
        arrays = {name: array.values for name, array in self.variables.items() if name in used}
        arrays.update((name, compute()) for name, compute in self.constants.items())
        initializers = [numpy_helper.from_array(values, name) for name, values in arrays.items()]
        graph = helper.make_graph(self.nodes, "main", inputs, outputs, initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model


def _are_integers(values):
    return all(isinstance(value, int) for value in (values if isinstance(values, list) else [values]))


def _declaration(name, extents, integers=False):
    return "        %s: %s[%s];" % (name, "int" if integers else "real", ",".join(extents))


def _port(name, shape, dynamic, integers):
    kind = TensorProto.INT64 if integers else TensorProto.FLOAT
    return helper.make_tensor_value_info(name, kind, [dynamic.get(at, n) for at, n in enumerate(shape)])
