# SPDX-License-Identifier: Apache-2.0
"""Programs for `jax_programs.py` with StableHLO operations to which no JAX function lowers."""
import jax
import numpy
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import func
from jax.extend.core import Primitive

TYPES = {"float32": "f32", "float64": "f64", "complex64": "complex<f32>", "complex128": "complex<f64>", "bool": "i1"}
spelled = Primitive("spelled")
spelled.def_abstract_eval(lambda *_, text, shape, dtype: jax.core.ShapedArray(shape, numpy.dtype(dtype)))


def lowered(context, *operands, text, shape, dtype):
    module = context.module_context.module
    name = mlir.merge_mlir_modules(module, "spelled", ir.Module.parse(text))
    results = [mlir.aval_to_ir_type(context.module_context, aval) for aval in context.avals_out]
    return func.CallOp(results, ir.FlatSymbolRefAttr.get(name), operands).results


mlir.register_lowering(spelled, lowered)


def tensor(shape, dtype):
    return "tensor<%s%s>" % ("".join("%dx" % extent for extent in shape), TYPES[str(dtype)])


def operation(name, attributes, shape, dtype, *arguments):
    """A function with one operation, and its arguments."""
    types = [tensor(a.shape, a.dtype) for a in arguments]
    names = ["%%a%d" % n for n in range(len(arguments))]
    result = tensor(shape, dtype)
    signature = ", ".join("%s: %s" % pair for pair in zip(names, types))
    text = "func.func @main(%s) -> %s {\n  %%r = \"stablehlo.%s\"(%s) {%s} : (%s) -> %s\n  return %%r : %s\n}\n" % (
        signature, result, name, ", ".join(names), attributes, ", ".join(types), result, result)
    return lambda *operands: spelled.bind(*operands, text=text, shape=shape, dtype=dtype)


def matrices(program, reals, dtype):
    """Matrix factorizations and linear systems as StableHLO operations, which jax writes for other devices only."""
    def matrix(*shape):
        if dtype.startswith("complex"):
            return (reals(*shape) + 1j * reals(*shape)).astype(dtype)
        return reals(*shape, dtype=dtype)

    def root(a, lower):
        made = operation("cholesky", "lower = %s" % lower, a.shape, dtype, a)
        half = jax.numpy.tril if lower == "true" else jax.numpy.triu
        return lambda a: half(made(a))
    a = matrix(2, 4, 4)
    a = (a @ a.conj().swapaxes(-1, -2) + 4 * numpy.eye(4)).astype(dtype)
    small = a[:, :1, :1]
    both = {lower: (root(a, lower), root(small, lower)) for lower in ("true", "false")}
    # The other triangle is ignored.
    other = numpy.triu(numpy.full((4, 4), numpy.nan), 1).astype(dtype)
    program("operation_cholesky_" + dtype, lambda a, low, high, small: [
        made(given) for lower, given in (("true", low), ("false", high)) for made, given in zip(both[lower], (given, small))
    ], a, a + other, a + other.T, small)

    a = (matrix(2, 3, 3) + 4 * numpy.eye(3)).astype(dtype)
    bs = {"true": matrix(2, 3, 4), "false": matrix(2, 4, 3)}
    solvers = []
    for number in range(24):
        left, lower, unit = (("true", "false")[number >> bit & 1] for bit in range(3))
        form = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")[number // 8]
        attributes = "left_side = %s, lower = %s, unit_diagonal = %s, transpose_a = #stablehlo<transpose %s>" % (
            left, lower, unit, form)
        solvers.append((left, operation("triangular_solve", attributes, bs[left].shape, dtype, a, bs[left])))
    program("operation_triangular_solve_" + dtype,
            lambda a, x, y: [solve(a, x if left == "true" else y) for left, solve in solvers], a, bs["true"], bs["false"])


def register(program, reals):
    def reversed_window(name, image, kernel, shape, window, groups=(1, 1), labels=None):
        space = ", ".join(str(n) for n in range(image.ndim - 2))
        labels = labels or "[b, f, {0}]x[o, i, {0}]->[b, f, {0}]".format(space)
        attributes = "dimension_numbers = #stablehlo.conv<%s>, feature_group_count = %d : i64, batch_group_count = %d : i64, %s" % (
            labels, *groups, window)
        function = operation("convolution", attributes, shape, "float32", image, kernel)
        program("conv_reversed_" + name, function, image, kernel)
    reversed_window("1d", reals(1, 1, 5), reals(1, 1, 2), (1, 1, 4), "window_reversal = array<i1: true>")
    both = "window_reversal = array<i1: true, true>"
    reversed_window("2d", reals(1, 2, 5, 6), reals(3, 2, 2, 3), (1, 3, 4, 4), both)
    reversed_window("labels", reals(1, 5, 6, 2), reals(2, 3, 2, 3), (4, 4, 1, 3), both,
                    labels="[b, 0, 1, f]x[0, 1, i, o]->[0, 1, b, f]")
    second = "window_reversal = array<i1: false, true>, window_strides = array<i64: 1, 2>, lhs_dilation = array<i64: 2, 1>, " \
             "padding = dense<[[1, 0], [2, 3]]> : tensor<2x2xi64>"
    reversed_window("groups", reals(1, 2, 5, 6), reals(4, 1, 2, 3), (1, 4, 9, 5), second, groups=(2, 1))
    first = "window_reversal = array<i1: true, false>, window_strides = array<i64: 1, 3>, rhs_dilation = array<i64: 2, 1>, " \
            "padding = dense<[[1, 1], [1, 0]]> : tensor<2x2xi64>"
    reversed_window("batch_groups", reals(4, 2, 5, 6), reals(6, 2, 2, 3), (2, 6, 5, 2), first, groups=(1, 2))
    for dtype in ("float32", "float64", "complex64", "complex128"):
        matrices(program, reals, dtype)
    z = numpy.array([1j, 0, 1, -2 + 3j, -0.0, complex(numpy.nan, 0), complex(0, numpy.nan)], "complex64")
    program("convert_complex64_bool", operation("convert", "", z.shape, "bool", z), z)
