#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `skript run` with jax on programs of jax: `jax_programs.py --skript BINARY [--only SUBSTRING]... [--shard I/N]`.

Each program is a function and its arguments; its text is that of `jax.jit(f).lower(…).as_text()`. Results must have the same
types and shapes; integers and bools must be equal, reals close, or equal if the function has the attribute `exact`.

With `--through-skript`, programs are first converted to the `skript` dialect and back to StableHLO. A second conversion must
result in the same text. Programs that the dialect cannot express are counted and skipped.

With `--to-linalg MLIR_OPT`, `skript-opt --stablehlo-to-linalg` lowers each program instead, and upstream's `mlir-opt` must accept it.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import xla
import shards  # noqa: E402

xla.require()
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.export
import jax.numpy as jnp
import numpy
from jax import lax

import jax_families
import spelled

jax.config.update("jax_enable_x64", True)

PROGRAMS = {}
# The number of programs that the `skript` dialect expresses.
EXPRESSIBLE = 375
random = numpy.random.default_rng(1)
FLOATS = ["float16", "bfloat16", "float32", "float64"]
SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.5, numpy.inf, -numpy.inf, numpy.nan, 1e-3, 100.0]


def program(name, function, *arguments):
    assert name not in PROGRAMS, name
    PROGRAMS[name] = (function, arguments)


def reals(*shape, dtype="float32"):
    return jnp.asarray(random.normal(size=shape), dtype=dtype)


def integers(*shape, low=-9, high=10, dtype="int32"):
    return jnp.asarray(random.integers(low, high, size=shape), dtype=dtype)


def sample(dtype, count=24):
    """Values of an element type, including extremes."""
    kind = jnp.dtype(dtype).kind if dtype != "bfloat16" else "f"
    if kind == "f":
        return jnp.asarray(SPECIAL + list(random.normal(scale=3, size=count - len(SPECIAL))), dtype=dtype)
    if kind == "c":
        return jnp.asarray(random.normal(scale=2, size=count) + 1j * random.normal(scale=2, size=count), dtype=dtype)
    if kind == "b":
        return jnp.asarray(random.integers(0, 2, size=count), dtype=bool)
    limits = jnp.iinfo(dtype)
    values = [limits.min, limits.max, limits.max - 1, 0, 1, 2, 3, 7]
    values += [int(v) for v in random.integers(max(limits.min, -100), min(limits.max, 100), size=count - len(values))]
    return jnp.asarray(numpy.array(values, dtype=dtype))


def elementwise():
    def each(operations, dtypes, arity):
        for name, operation in operations.items():
            for dtype in dtypes:
                x, y = sample(dtype), sample(dtype)[::-1]
                program("%s_%s" % (name, dtype), operation, *[x, y][:arity])
    real_unary = dict(abs=lax.abs, ceil=lax.ceil, cos=lax.cos, floor=lax.floor, log=lax.log, logistic=lax.logistic,
                      neg=lax.neg, rsqrt=lax.rsqrt, sin=lax.sin, sqrt=lax.sqrt, tanh=lax.tanh, exp=lax.exp,
                      expm1=lax.expm1, log1p=lax.log1p, cbrt=lax.cbrt, tan=lax.tan, sign=lax.sign,
                      round=lambda x: lax.round(x), is_finite=lax.is_finite, square=lax.square,
                      round_even=lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN))
    each(real_unary, FLOATS, 1)
    # The rounding of 1 + x loses all digits of x; quotients by x detect this.
    near = [s * m * 10.0 ** e for e in (-30, -9, -7, -5, -3, -1) for m in (1, 3.3) for s in (1, -1)]
    for name in ["log1p", "expm1"]:
        for dtype in FLOATS:
            small = jnp.asarray([v for v in near if abs(v) > (1e-4 if dtype == "float16" else 0)], dtype)
            program("%s_near_zero_%s" % (name, dtype), lambda x, f=getattr(lax, name): lax.div(f(x), x), small)
    both = dict(add=lax.add, sub=lax.sub, mul=lax.mul, max=lax.max, min=lax.min, div=lax.div, rem=lax.rem,
                eq=lax.eq, ne=lax.ne, lt=lax.lt, le=lax.le, gt=lax.gt, ge=lax.ge)
    each(both, FLOATS + SIGNED + UNSIGNED, 2)
    each(dict(pow=lambda x, y: lax.pow(lax.abs(x), y), atan2=lax.atan2), FLOATS, 2)
    each(dict(abs=lax.abs, neg=lax.neg, sign=lax.sign), SIGNED, 1)
    bits = {"not": lax.bitwise_not, "popcnt": lax.population_count, "clz": lax.clz}
    each(bits, SIGNED + UNSIGNED, 1)
    each({"and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor}, SIGNED + UNSIGNED + ["bool"], 2)
    each(dict(shl=lax.shift_left, shr=lax.shift_right_logical, sar=lax.shift_right_arithmetic), SIGNED + UNSIGNED, 2)
    each({"neg": lax.neg, "conj": jnp.conj, "exp": lax.exp, "log": lax.log, "sin": lax.sin, "cos": lax.cos,
          "sqrt": lax.sqrt, "rsqrt": lax.rsqrt, "tanh": lax.tanh, "logistic": lax.logistic, "expm1": lax.expm1,
          "abs": lax.abs, "real": lax.real, "imag": lax.imag, "log1p": lax.log1p, "sign": lax.sign}, COMPLEX, 1)
    each(dict(add=lax.add, sub=lax.sub, mul=lax.mul, div=lax.div, pow=lax.pow, eq=lax.eq, ne=lax.ne), COMPLEX, 2)
    everything = FLOATS + SIGNED + UNSIGNED + ["bool"]
    for source in everything + COMPLEX:
        for target in everything + (COMPLEX if source in COMPLEX + FLOATS else []):
            if source != target and not (source in COMPLEX and target not in COMPLEX):
                program("convert_%s_%s" % (source, target), lambda x, t=target: lax.convert_element_type(x, t), sample(source))
    small = jnp.linspace(-0.95, 0.95, 24, dtype="float32")
    for name in ["erf", "erfc", "erf_inv", "asin", "acos", "atan", "sinh", "cosh", "asinh", "atanh"]:
        program("chlo_" + name, getattr(lax, name), small)
        program("chlo_%s_f64" % name, getattr(lax, name), small.astype("float64"))
    program("erfc_far", lax.erfc, jnp.asarray([-40, -9, -3, -1, 1, 2, 3, 5, 7.5, 8, 8.5, 9, 12, 40, jnp.inf, -jnp.inf, jnp.nan], "float32"))
    program("erfc_far_f64", lax.erfc, jnp.asarray([-40, -9, -3, -1, 1, 2, 3, 5, 7.5, 8, 8.5, 9, 12, 25, 40, jnp.inf, -jnp.inf, jnp.nan]))
    for dtype in FLOATS[:2]:
        program("erfc_" + dtype, lax.erfc, small.astype(dtype))
    for dtype in FLOATS:
        for name in ["eq_to", "le_to", "lt_to"]:
            # bf16 arrays are passed as f32, and the conversion does not keep the sign of NaN.
            special = jnp.asarray([0.0, -0.0, jnp.nan, 2.0 if dtype == "bfloat16" else -jnp.nan, jnp.inf, -jnp.inf, 1.0], dtype)
            program("%s_%s" % (name, dtype), getattr(jax._src.lax.lax, name + "_p").bind, special[:, None] + jnp.zeros((7, 7), dtype), special[None] + jnp.zeros((7, 7), dtype))
    program("acosh", lax.acosh, 1 + abs(reals(8)))
    program("select", lambda p, x, y: jnp.where(p, x, y), sample("bool"), sample("float32"), sample("float32")[::-1])
    program("select_scalar", lambda x: lax.select(x[0] > 5, x, -x), sample("float32"))
    program("clamp", lambda x: lax.clamp(jnp.float32(-1), x, jnp.float32(1)), sample("float32"))
    program("clamp_arrays", lambda x: lax.clamp(-x, x, x + 1), reals(7))
    program("bitcast", lambda x: lax.bitcast_convert_type(x, jnp.int32), sample("float32"))
    program("bitcast_u16", lambda x: lax.bitcast_convert_type(x, jnp.uint16), sample("float16"))
    for source, target in [("float32", "uint8"), ("float64", "int32"), ("int64", "float32"), ("float64", "bfloat16"),
                           ("uint32", "float16")]:
        program("bitcast_%s_%s" % (source, target), lambda x, t=target: lax.bitcast_convert_type(x, t), sample(source))
    program("bitcast_int8_uint4", lambda x: lax.bitcast_convert_type(x, jnp.uint4).astype(jnp.uint8), sample("int8"))
    for source, target in [("uint8", "float32"), ("int32", "float64"), ("float32", "int64"), ("bfloat16", "uint64"),
                           ("float16", "uint32")]:
        parts = sample(source).reshape(-1, jnp.dtype(target).itemsize // jnp.dtype(source).itemsize)
        program("bitcast_%s_%s" % (source, target), lambda x, t=target: lax.bitcast_convert_type(x, t), parts)
    for dtype in FLOATS:
        for exponent, mantissa in [(8, 7), (5, 10), (4, 3), (1, 0), (11, 20), (20, 60)]:
            wide = sample(dtype) * jnp.asarray([1, 2 ** 10, 2 ** -12], dtype=dtype)[jnp.arange(24) % 3]
            program("reduce_precision_%s_e%dm%d" % (dtype, exponent, mantissa),
                    lambda x, e=exponent, m=mantissa: lax.reduce_precision(x, e, m), wide)
    ties = lax.bitcast_convert_type(jnp.asarray([0x3f808000, 0x3f818000, 0x3f808001, 0x7f7f8000, 0x7f7f7fff, 1, 0x477ff000,
                                                 0x80000000, 0x807fffff, 0xc77fefff, 0x38800000, 0x387fffff], jnp.uint32), "float32")
    for exponent, mantissa in [(8, 7), (5, 10)]:
        program("reduce_precision_ties_e%dm%d" % (exponent, mantissa),
                lambda x, e=exponent, m=mantissa: lax.bitcast_convert_type(lax.reduce_precision(x, e, m), "uint32"), ties)
    program("reduce_precision_in_reduction", lambda x: jnp.sum(lax.reduce_precision(x, 8, 7), axis=1), reals(3, 4))
    program("optimization_barrier", lambda x, y: sum(lax.optimization_barrier((x * 2, y + 1))), reals(3, 4), reals(4))
    program("complex", lambda x, y: lax.complex(x, y), reals(2, 3), reals(2, 3))
    program("int4", lambda x: (x.astype(jnp.int4) + x.astype(jnp.int4)).astype(jnp.int32), sample("int32"))
    program("uint4", lambda x: (x.astype(jnp.uint4) * x.astype(jnp.uint4)).astype(jnp.uint8), integers(8, low=0, high=4, dtype="uint8"))
    program("integer_power", lambda x: x ** 3, sample("int32"))
    program("rank_0", lambda x, y: x * y + 1, reals(), reals())
    program("no_elements", lambda x: x + 1, reals(0, 3))
    program("several_results", lambda x: (x, x + 1, x > 0), reals(3))
    program("matrix", lambda x, y: jnp.maximum(x + y, 0.0), reals(3, 4), reals(3, 4))


def shapes():
    x = reals(3, 4, 5)
    program("iota", lambda x: x + lax.broadcasted_iota(jnp.float32, (3, 4, 5), 1), x)
    program("iota_u8", lambda x: x + lax.iota(jnp.uint8, 7), integers(7, low=0, dtype="uint8"))
    program("broadcast", lambda x: x[:, None, :] + jnp.ones((2, 1)), reals(3, 5))
    program("reshape", lambda x: x.reshape(5, 12).reshape(-1).reshape(2, 30), x)
    program("reshape_scalar", lambda x: x.reshape(()), reals(1, 1))
    program("transpose", lambda x: x.transpose(2, 0, 1), x)
    program("slice", lambda x: x[1:, ::2, -3:], x)
    program("reverse", lambda x: x[::-1, :, ::-1], x)
    program("pad", lambda x: lax.pad(x, jnp.float32(7), [(1, 2, 1), (-1, 0, 0), (0, -2, 2)]), x)
    program("concatenate", lambda x, y: jnp.concatenate([x, y, x], axis=1), reals(2, 3), reals(2, 4))
    program("concatenate_bool", lambda x: jnp.concatenate([x > 0, x < 0]), reals(5))
    program("dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j, jnp.int32(0)), (2, 2, 3)), x, integers(low=2, high=3), integers(low=9, high=10))
    program("dynamic_slice_negative", lambda x, i: lax.dynamic_slice(x, (i,), (2,)), reals(6), integers(low=-2, high=-1))
    program("dynamic_update_slice", lambda x, y, i: lax.dynamic_update_slice(x, y, (i, jnp.int32(1), jnp.int32(0))), x, reals(2, 2, 2), integers(low=1, high=2))
    program("roll", lambda x: jnp.roll(x, 2, axis=1), x)
    program("stack", lambda x, y: jnp.stack([x, y]), reals(3), reals(3))
    program("tile", lambda x: jnp.tile(x, (2, 3)), reals(2, 2))
    program("complex_movement", lambda x: jnp.flip(x.T.reshape(-1)), reals(2, 3) + 1j * reals(2, 3))


def combinations():
    x = reals(3, 4, 5)
    for name in ["sum", "prod", "max", "min", "mean", "var", "any", "all", "argmax", "argmin"]:
        program(name, lambda x, n=name: getattr(jnp, n)(x), x)
        program(name + "_axis", lambda x, n=name: getattr(jnp, n)(x, axis=1), x)
    for dtype in ["float16", "bfloat16", "float64", "int8", "uint8", "int64", "complex64"]:
        program("sum_" + dtype, lambda x: lax.reduce(x, jnp.asarray(0, x.dtype), lax.add, (0,)), sample(dtype, 24)[14:].reshape(5, 2))
    program("reduce_max_u32", lambda x: x.max(axis=0), sample("uint32").reshape(6, 4))
    program("reduce_and", lambda x: lax.reduce_and(x, (0,)), sample("int32").reshape(6, 4))
    program("softmax", lambda x: jax.nn.softmax(x), reals(4, 10))
    program("logsumexp", lambda x: jax.nn.logsumexp(x, axis=0), reals(4, 10))
    program("layer_norm", lambda x: jax.nn.standardize(x), reals(4, 16))
    program("gelu", lambda x: jax.nn.gelu(x), reals(16))
    program("cumsum", lambda x: jnp.cumsum(x, axis=1), reals(3, 9))
    program("cumprod", lambda x: jnp.cumprod(x), reals(6))
    program("cummax", lambda x: lax.cummax(x, reverse=True), reals(6))
    program("matmul", lambda x, y: x @ y, reals(5, 7), reals(7, 3))
    program("matmul_large", lambda x, y: x @ y, reals(64, 128), reals(128, 96))
    program("matmul_f64", lambda x, y: x @ y, reals(5, 7, dtype="float64"), reals(7, 3, dtype="float64"))
    program("matmul_bf16", lambda x, y: x @ y, reals(5, 7, dtype="bfloat16"), reals(7, 3, dtype="bfloat16"))
    program("matmul_f16", lambda x, y: x @ y, reals(5, 7, dtype="float16"), reals(7, 3, dtype="float16"))
    program("matmul_i8", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32), integers(5, 7, dtype="int8"), integers(7, 3, dtype="int8"))
    program("matmul_u8", lambda x, y: lax.dot(x, y), integers(5, 7, low=0, dtype="uint8"), integers(7, 3, low=0, dtype="uint8"))
    program("matmul_c64", lambda x, y: x @ y, reals(4, 3) + 1j * reals(4, 3), reals(3, 2) + 1j * reals(3, 2))
    program("batch_matmul", lambda x, y: jnp.einsum("bij,bjk->bik", x, y), reals(2, 3, 4), reals(2, 4, 5))
    program("einsum", lambda x, y: jnp.einsum("abcd,dbe->eac", x, y), reals(2, 3, 4, 5), reals(5, 3, 6))
    program("outer", lambda x, y: jnp.outer(x, y), reals(3), reals(4))
    program("vector_dot", lambda x, y: x @ y, reals(9), reals(9))
    program("attention", lambda q, k, v: jax.nn.softmax(q @ k.T / 4.0) @ v, reals(6, 8), reals(6, 8), reals(6, 8))

    def conv(x, w, **options):
        options.setdefault("window_strides", (1,) * (x.ndim - 2))
        options.setdefault("padding", "SAME")
        return lax.conv_general_dilated(x, w, **options)
    image, kernel = reals(2, 4, 9, 8), reals(6, 4, 3, 3)
    program("conv", conv, image, kernel)
    program("conv_valid_stride", lambda x, w: conv(x, w, window_strides=(2, 3), padding="VALID"), image, kernel)
    program("conv_dilated", lambda x, w: conv(x, w, rhs_dilation=(2, 2)), image, kernel)
    program("conv_transposed", lambda x, w: conv(x, w, padding=[(2, 2), (1, 2)], lhs_dilation=(2, 2)), image, kernel)
    program("conv_groups", lambda x, w: conv(x, w, feature_group_count=2), image, reals(6, 2, 3, 3))
    program("conv_depthwise", lambda x, w: conv(x, w, feature_group_count=4), image, reals(4, 1, 3, 3))
    program("conv_batch_groups", lambda x, w: conv(x, w, batch_group_count=2), image, reals(6, 4, 3, 3))
    program("conv_nhwc", lambda x, w: conv(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC")), reals(2, 9, 8, 4), reals(3, 3, 4, 6))
    program("conv_1d", conv, reals(1, 3, 10), reals(5, 3, 4))
    program("conv_3d", conv, reals(1, 2, 4, 5, 6), reals(3, 2, 2, 2, 3))
    program("conv_negative", lambda x, w: conv(x, w, padding=[(-1, 0), (0, -2)]), image, kernel)
    program("conv_bf16", conv, image.astype("bfloat16"), kernel.astype("bfloat16"))
    program("conv_gradient", lambda x, w: jax.grad(lambda w: conv(x, w).sum())(w), image, kernel)
    program("conv_gradient_input", lambda x, w: jax.grad(lambda x: conv(x, w, window_strides=(2, 2)).sum())(x), image, kernel)

    def pool(x, init, combine, window=(1, 1, 3, 3), strides=(1, 1, 2, 2), padding="SAME", **options):
        return lax.reduce_window(x, init, combine, window, strides, padding, **options)
    program("max_pool", lambda x: pool(x, -jnp.inf, lax.max), image)
    program("sum_pool", lambda x: pool(x, 0.0, lax.add, padding="VALID"), image)
    program("dilated_pool", lambda x: pool(x, 0.0, lax.add, base_dilation=(1, 1, 2, 2), window_dilation=(1, 1, 2, 1)), image)
    program("max_pool_gradient", lambda x: jax.grad(lambda x: (pool(x, -jnp.inf, lax.max) ** 2).sum())(x), image)
    program("max_pool_gradient_valid", lambda x: jax.grad(lambda x: pool(x, -jnp.inf, lax.max, padding="VALID", strides=(1, 1, 3, 3)).sum())(x), image)
    program("pool_i32", lambda x: lax.reduce_window(x, jnp.int32(0), lax.add, (3,), (1,), "SAME"), integers(12))


def places():
    x = reals(6, 5)
    program("index", lambda x, i: x[i], x, integers(4, low=0, high=6))
    program("index_pairs", lambda x, i, j: x[i, j], x, integers(4, low=0, high=6), integers(4, low=0, high=5))
    program("index_negative", lambda x, i: x[:, i], x, integers(2, 3, low=-5, high=5))
    program("index_u8", lambda x, i: x[i], x, integers(4, low=0, high=6, dtype="uint8"))
    program("take", lambda x, i: jnp.take(x, i, axis=1, mode="clip"), x, integers(3, low=-9, high=9))
    program("take_fill", lambda x, i: jnp.take(x, i, axis=0, mode="fill"), x, integers(5, low=-9, high=9))
    program("take_along", lambda x, i: jnp.take_along_axis(x, i, axis=1), x, integers(6, 2, low=0, high=5))
    program("window", lambda x, i: jax.vmap(lambda k: lax.dynamic_slice(x, (k, jnp.int32(0)), (2, 3)))(i), x, integers(4, low=0, high=5))
    program("batched_window", lambda x, i: jax.vmap(lambda r, k: lax.dynamic_slice(r, (k,), (2,)))(x, i), x, integers(6, low=0, high=4))
    program("set", lambda x, i: x.at[i].set(0.0), x, integers(2, low=0, high=6))
    program("add_at", lambda x, i: x.at[i].add(1.0), x, integers(9, low=0, high=6))
    program("max_at", lambda x, i, v: x.at[:, i].max(v), x, integers(3, low=0, high=5), reals(6, 3))
    program("drop", lambda x, i: x.at[i].add(1.0, mode="drop"), x, integers(9, low=-20, high=20))
    program("point", lambda x: x.at[1, 2].multiply(3.0), x)
    program("histogram", lambda i: jnp.zeros(8, jnp.int32).at[i].add(1), integers(40, low=0, high=8))
    program("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 4), x, integers(6, low=0, high=4))
    program("one_hot", lambda i: jax.nn.one_hot(i, 5), integers(7, low=0, high=5))
    program("gather_gradient", lambda x, i: jax.grad(lambda x: (x[i] ** 2).sum())(x), x, integers(4, low=0, high=6))
    program("sort", lambda x: jnp.sort(x), reals(4, 13))
    program("sort_special", lambda x: jnp.sort(x), sample("float32"))
    program("sort_u8", lambda x: jnp.sort(x, axis=0), sample("uint8").reshape(8, 3))
    program("sort_descending", lambda x: -jnp.sort(-x, axis=0), reals(17, 2))
    program("argsort", lambda x: jnp.argsort(x, axis=0), integers(20, 3, low=0, high=5))
    program("sort_pairs", lambda x, y: lax.sort((x, y), num_keys=2), integers(30, low=0, high=4), integers(30))
    program("sort_large", lambda x: jnp.sort(x), reals(1000))
    program("top_k", lambda x: lax.top_k(x, 3), reals(4, 9))
    program("top_k_ties", lambda x: lax.top_k(x, 4), integers(3, 12, low=0, high=4))
    program("median", lambda x: jnp.median(x), reals(11))
    program("unique", lambda x: jnp.unique(x, size=6, fill_value=-1), integers(12, low=0, high=6))
    program("nonzero", lambda x: jnp.nonzero(x, size=6, fill_value=0), integers(12, low=0, high=2))
    program("searchsorted", lambda x, v: jnp.searchsorted(jnp.sort(x), v), reals(20), reals(7))


def control():
    x = reals(3, 4)
    program("for", lambda x: lax.fori_loop(0, 5, lambda k, a: a * 0.5 + k, x), x)
    program("while", lambda x: lax.while_loop(lambda c: c[0] < 100.0, lambda c: (c[0] * 2, c[1] + 1), (x, 0)), abs(reals()) + 1)
    program("while_swap", lambda x, y: lax.fori_loop(0, 3, lambda k, c: (c[1], c[0] + 1), (x, y)), reals(3), reals(3))
    program("scan", lambda x: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x), x)
    program("map", lambda x: lax.map(lambda r: r.sum(), x), x)
    program("cond_true", lambda x, p: lax.cond(p, lambda y: y + 1, lambda y: -y, x), x, jnp.asarray(True))
    program("cond_false", lambda x, p: lax.cond(p, lambda y: y + 1, lambda y: -y, x), x, jnp.asarray(False))
    for n in [-1, 0, 1, 2, 7]:
        program("switch_%d" % n, lambda x, i: lax.switch(i, [lambda y: y, lambda y: -y, lambda y: y * 2], x), x, jnp.asarray(n, "int32"))
    program("nested", lambda x: lax.fori_loop(0, 3, lambda i, a: lax.fori_loop(0, i, lambda j, b: b + j, a), x), x)
    program("cond_in_loop", lambda x: lax.fori_loop(0, 6, lambda i, a: lax.cond(i % 2 == 0, lambda b: b + 1, lambda b: b * 2, a), x), x)
    program("call_twice", lambda x: jax.jit(jnp.sin)(x) + jax.jit(jnp.sin)(x + 1), x)
    program("newton", lambda x: lax.while_loop(lambda r: abs(r * r - x) > 1e-4, lambda r: (r + x / r) / 2, x), jnp.float32(7.0))

    def network(x, w1, b1, w2, b2):
        return jax.nn.relu(x @ w1 + b1) @ w2 + b2

    def loss(parameters, x, y):
        return jnp.mean((network(x, *parameters) - y) ** 2)
    parameters = (reals(4, 8), reals(8), reals(8, 2), reals(2))
    program("network", lambda x, *p: network(x, *p), reals(5, 4), *parameters)
    program("training_step", lambda x, y, *p: [a - 0.1 * g for a, g in zip(p, jax.grad(loss)(p, x, y))], reals(5, 4), reals(5, 2), *parameters)
    program("random_normal", lambda k: jax.random.normal(jax.random.wrap_key_data(k), (5,)), jnp.asarray([1, 2], "uint32"))
    program("random_bits", lambda k: jax.random.bits(jax.random.wrap_key_data(k), (7,)), jnp.asarray([3, 4], "uint32"))
    program("power_iteration", lambda a: lax.fori_loop(0, 10, lambda _, v: a @ v / jnp.linalg.norm(a @ v), jnp.ones(4)), reals(4, 4))
    program("fibonacci", lambda n: lax.fori_loop(0, n, lambda _, c: (c[1], c[0] + c[1]), (jnp.int64(0), jnp.int64(1)))[0], jnp.asarray(30))


elementwise()
ELEMENTWISE = list(PROGRAMS)
for part in (shapes, combinations, places, control):
    part()
jax_families.register(program, reals, integers, sample)
spelled.register(program, reals)


def stored(value):
    """The array in the format that `skript run` accepts."""
    array = numpy.asarray(value)
    return array.astype("float32") if array.dtype == jnp.bfloat16 else array


def tolerance(dtype):
    return {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-9, "complex128": 1e-9}.get(str(dtype), 2e-5)


def difference(got, want, exact=False):
    """The error, or None."""
    dtype = numpy.asarray(want).dtype
    if got.shape != want.shape or got.dtype != stored(want).dtype:
        return "%s%s instead of %s%s" % (got.dtype, list(got.shape), dtype, list(want.shape))
    want, limit = stored(want), tolerance(dtype)
    if exact or want.dtype.kind not in "fc":
        bad = got != want
    else:
        bad = ~numpy.isclose(got, want, rtol=limit, atol=limit, equal_nan=True)
    if not bad.any():
        return None
    at = tuple(numpy.argwhere(bad)[0])
    return "%d of %d values differ, first at %s: %s instead of %s" % (bad.sum(), bad.size, [int(i) for i in at], got[at], want[at])


def text(name):
    """The text of the program of this name."""
    function, arguments = PROGRAMS[name]
    return written(jax.jit(function).lower(*arguments), function, arguments)


def written(lowered, function, arguments):
    """The text of the program. Attributes of the function select the text of `jax.export`, another platform, or a text with
    source locations."""
    platform = getattr(function, "platform", None)
    if platform or getattr(function, "exported", False):
        return str(jax.export.export(jax.jit(function), platforms=platform and [platform])(*arguments).mlir_module())
    return lowered.as_text(debug_info=getattr(function, "located", False))


class Inexpressible(Exception):
    """A program that the dialect cannot express."""


def translated(skript, text):
    """A program after conversion to the `skript` dialect and back."""
    tool = os.path.join(os.path.dirname(os.path.abspath(skript)), "skript-translate")
    done = subprocess.run([tool, "--from-stablehlo", "--to-stablehlo"], input=text, capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout
    if "not supported: " in done.stderr or "has no form in the skript dialect" in done.stderr:
        raise Inexpressible()
    raise RuntimeError(done.stderr.strip()[:600])


def through_skript(skript, text):
    """A program after a round trip through the dialect; a second round trip must not change it."""
    once = translated(skript, text)
    if translated(skript, once) != once:
        raise RuntimeError("a second round trip changes the text")
    return once


def refusal(opt, upstream, text):
    """Why `--stablehlo-to-linalg`, or `mlir-opt` on its result, refuses a program; `None` if both accept it."""
    lowered = subprocess.run([opt, "--stablehlo-to-linalg"], input=text, capture_output=True, text=True)
    if lowered.returncode == 0:
        lowered = subprocess.run([upstream, "-o", os.devnull], input=lowered.stdout, capture_output=True, text=True)
    return lowered.stderr.strip()[:300] if lowered.returncode else None


def to_linalg(opt, upstream, chosen):
    """Lowers programs to upstream dialects; returns the exit status."""
    wrong = 0
    for name in chosen:
        reason = refusal(opt, upstream, text(name))
        if reason is not None:
            wrong += 1
            print("%s: %s" % (name, reason))
    print("JAX programs: %d lowered to upstream dialects, %d refused" % (len(chosen) - wrong, wrong))
    return 1 if wrong or not chosen else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--only", action="append", help="programs whose name holds this")
    shards.add_argument(parser)
    parser.add_argument("--through-skript", action="store_true", help="run each elementwise program after conversion to the `skript` dialect and back")
    parser.add_argument("--to-linalg", metavar="MLIR_OPT", help="lower each program with skript-opt, and verify it with this mlir-opt")
    parser.add_argument("--keep", help="folder for programs and arrays")
    args = parser.parse_args()
    everything = ELEMENTWISE if args.through_skript else PROGRAMS
    chosen = [n for n in everything if not args.only or any(o in n for o in args.only)]
    chosen = shards.shard(chosen, args.shard)
    if args.to_linalg:
        return to_linalg(os.path.join(os.path.dirname(args.skript), "skript-opt"), args.to_linalg, chosen)
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or folder
        wanted, lines, wrong, left_out = {}, [], 0, []
        for name in chosen:
            function, arguments = PROGRAMS[name]
            own = os.path.join(folder, name)
            path = own + ".mlir"
            lowered = jax.jit(function).lower(*arguments)
            text = written(lowered, function, arguments)
            if args.through_skript:
                try:
                    text = through_skript(args.skript, text)
                except Inexpressible:
                    left_out.append(name)
                    continue
                except RuntimeError as error:
                    wrong += 1
                    print("%s: %s" % (name, error))
                    continue
            os.makedirs(own, exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
            wanted[name] = jax.tree_util.tree_leaves(lowered.compile()(*arguments))
            line = [path, "--message-format=short", "--output-dir", own]
            kept = lowered._lowering.compile_args.get("kept_var_idx", range(len(arguments)))
            leaves = jax.tree_util.tree_leaves(arguments)
            for number, position in enumerate(sorted(kept)):
                file = os.path.join(own, "in%d.npy" % number)
                numpy.save(file, stored(leaves[position]))
                line += ["--input", "%d=%s" % (number, file)]
            lines.append(json.dumps(line))
        chosen = list(wanted)
        batch = os.path.join(folder, "batch.jsonl")
        with open(batch, "w") as file:
            file.write("\n".join(lines) + "\n")
        done = subprocess.run([args.skript, "run", "--output-dir", folder, "--batch", batch], capture_output=True, text=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) != len(chosen):
            print("the batch ended early, at %s: %s" % (chosen[len(answers)], done.stderr.strip()[-500:]))
        wrong += len(chosen) - len(answers)
        for name, answer in zip(chosen, answers):
            reason = answer["stderr"].strip()[:600] if answer["exit"] else None
            for number, want in enumerate(wanted[name]):
                if reason is None:
                    got = numpy.load(os.path.join(folder, name, "%d.npy" % number))
                    reason = difference(got, want, getattr(PROGRAMS[name][0], "exact", False))
            if reason:
                wrong += 1
                print("%s: %s" % (name, reason))
    print("JAX programs: %d run, %d wrong, %d skipped" % (len(chosen), wrong, len(left_out)))
    # The number of expressible programs must not fall.
    is_whole = args.shard == "0/1" and not args.only
    few = args.through_skript and is_whole and len(chosen) < EXPRESSIBLE
    if few:
        print("fewer than %d programs have a form in the dialect" % EXPRESSIBLE)
    return 1 if wrong or few else 0


if __name__ == "__main__":
    sys.exit(main())
