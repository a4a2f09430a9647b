#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of jax with symbolic dimensions on arrays of several shapes, and compares with jax.

    jax_symbolic.py --skript BINARY [--only TEXT]... [--keep FOLDER]

`jax.export` writes each program once. Its shapes are integer operations on the extents of the arguments. If an assertion
excludes the shapes of a run, it must fail with the text of the assertion.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy
from jax import export, lax

PROGRAMS = {}


def program(name, function, shapes, *calls, constraints=(), refused=(), dtype="float32"):
    PROGRAMS[name] = (function, shapes, calls, constraints, refused, dtype)


def network(x, w, v):
    hidden = jax.nn.gelu(x @ w)
    return jax.nn.softmax(hidden @ v, axis=-1), jnp.mean(hidden, axis=0), jnp.argmax(hidden, axis=-1)


def attention(q, k, v):
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / jnp.sqrt(jnp.float32(q.shape[-1]))
    mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1), v)


def image(x, k):
    y = lax.conv_general_dilated(x, k, (2, 2), "SAME")
    return y, lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "SAME"), jnp.mean(y, axis=(2, 3))


def loops(x):
    total = lax.fori_loop(0, x.shape[0], lambda i, s: s + lax.dynamic_index_in_dim(x, i, keepdims=False), jnp.zeros(x.shape[1], x.dtype))
    carried, all_ = lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(x.shape[1], x.dtype), x)
    return total, carried, all_, lax.cond(x.sum() > 2, lambda x: x + 1, lambda x: x * 2, x)


program("network", network, ("b, 4", "4, 8", "8, 3"), *[((b, 4), (4, 8), (8, 3)) for b in (1, 2, 7)])
program("attention", attention, ("b, s, 8",) * 3, *[((b, s, 8),) * 3 for b, s in ((1, 1), (2, 5), (3, 16))])
program("image", image, ("b, 2, h, w", "4, 2, 3, 3"), *[((b, 2, h, w), (4, 2, 3, 3)) for b, h, w in ((1, 4, 4), (2, 5, 7), (1, 1, 8))])
program("loops", loops, ("n, 3",), ((1, 3),), ((3, 3),), ((6, 3),))
program("reshape", lambda x: (x.reshape(-1), x.reshape(2, -1), x.reshape(x.shape[1], x.shape[0])), ("n, 4",), ((1, 4),), ((5, 4),))
program("slices", lambda x: (x[1:], x[:-1], x[::2], x[::-1], x[-1], x[:, 1:3]), ("n, 4",), ((1, 4),), ((2, 4),), ((5, 4),))
program("borders", lambda x: (jnp.pad(x, ((1, 2), (0, 1))), lax.pad(x, 0.0, ((1, x.shape[0], 0), (0, 0, 1)))), ("n, 3",), ((1, 3),), ((4, 3),))
program("positions", lambda x: (jnp.arange(x.shape[0]), jnp.arange(0, 2 * x.shape[0], 2) + x[:, 0], lax.broadcasted_iota(jnp.int32, x.shape, 1)), ("n, m",),
        ((1, 1),), ((3, 2),))
program("joined", lambda x, y: (jnp.concatenate([x, y]), jnp.stack([x, x]), jnp.tile(x, (2, 1)), jnp.repeat(x, 2, axis=0)), ("n, 3", "m, 3"),
        ((1, 3), (2, 3)), ((4, 3), (1, 3)))
program("sums", lambda x: (jnp.cumsum(x, axis=0), lax.cummax(x, axis=0), jnp.var(x), jnp.prod(x, axis=0), jnp.linalg.norm(x)), ("n, 3",), ((1, 3),), ((5, 3),))
program("sorted", lambda x: (jnp.sort(x, axis=0), jnp.argsort(x, axis=0), lax.top_k(x, 2)[0], jnp.median(x, axis=0)), ("n, 4",), ((1, 4),), ((6, 4),))
program("gathered", lambda x, i: (x[i], x.at[i].add(1.0), jnp.take(x, i, axis=0, mode="clip")), ("n, 3", "k"), ((2, 3), (1,)), ((5, 3), (4,)))
program("extents", lambda x: (x + x.shape[0] // 2, x * (x.shape[0] % 3), jnp.zeros((x.shape[0] * 2 + 1, 2)) + x[0, 0]), ("n, 2",),
        ((1, 2),), ((4, 2),))
program("multiples", lambda x: x.reshape(-1, 2, 3).sum(1), ("2*n, 3",), ((2, 3),), ((6, 3),), refused=[((3, 3),)])
program("equal", lambda x, y: x + y, ("n, 2", "n, 2"), ((3, 2), (3, 2)), refused=[((3, 2), (2, 2))])
program("constrained", lambda x: x[2:], ("n, 2",), ((4, 2),), constraints=("n >= 3",), refused=[((2, 2),)])
program("ints", lambda x: (x // 3, x % 3, x.sum()), ("n, 2",), ((1, 2),), ((4, 2),), dtype="int32")
program("pairs", lambda x: (x * 2, jnp.abs(x), x.conj().T @ x), ("n, 2",), ((1, 2),), ((4, 2),), dtype="complex64")


def arrays(shapes, dtype):
    random = numpy.random.default_rng(1)
    made = []
    for number, shape in enumerate(shapes):
        array = random.standard_normal(shape)
        if dtype == "complex64":
            array = array + 1j * random.standard_normal(shape)
        if dtype == "int32":
            array = 10 * array
        made.append(array.astype(dtype) if len(shape) != 1 else random.integers(0, 2, shape).astype("int32"))
    return made


def difference(got, want):
    want = numpy.asarray(want)
    if got.shape != want.shape:
        return "shape %s instead of %s" % (got.shape, want.shape)
    if not numpy.allclose(got, want, rtol=1e-4, atol=1e-5, equal_nan=True):
        return "%s instead of %s" % (got.ravel()[:4], want.ravel()[:4])
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep")
    args = parser.parse_args()
    lines, cases, wrong = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = args.keep or folder
        for name, (function, shapes, calls, constraints, refused, dtype) in PROGRAMS.items():
            if args.only and not any(text in name for text in args.only):
                continue
            path = os.path.join(folder, name + ".mlir")
            # The indices of a gather are ints.
            dtypes = ["int32" if shape == "k" else dtype for shape in shapes]
            scope = export.SymbolicScope(constraints)
            arguments = [jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), d) for s, d in zip(shapes, dtypes)]
            os.makedirs(folder, exist_ok=True)
            with open(path, "w") as file:
                file.write(export.export(jax.jit(function))(*arguments).mlir_module())
            for number, call in enumerate([*calls, *refused]):
                own = os.path.join(folder, "%s.%d" % (name, number))
                os.makedirs(own, exist_ok=True)
                inputs, line = arrays(call, dtype), [path, "--message-format=short", "--output-dir", own]
                for position, array in enumerate(inputs):
                    file = os.path.join(own, "in%d.npy" % position)
                    numpy.save(file, array)
                    line += ["--input", "%d=%s" % (position, file)]
                lines.append(json.dumps(line))
                cases.append((name, call, None if call in refused else jax.tree_util.tree_leaves(jax.jit(function)(*inputs)), own))
        batch = os.path.join(folder, "batch.jsonl")
        with open(batch, "w") as file:
            file.write("\n".join(lines) + "\n")
        done = subprocess.run([args.skript, "run", "--output-dir", folder, "--batch", batch], capture_output=True, text=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        wrong += len(cases) - len(answers)
        for (name, call, wanted, own), answer in zip(cases, answers):
            reason = answer["stderr"].strip()[:600] if answer["exit"] else None
            if wanted is None:
                is_said = reason and ("is false for the shapes of this call" in reason or "its shape in this call" in reason)
                reason = None if is_said else "not refused: %s" % reason
            elif not reason:
                found = [difference(numpy.load(os.path.join(own, "%d.npy" % n)), want) for n, want in enumerate(wanted)]
                reason = next((text for text in found if text), None)
            if reason:
                wrong += 1
                print("%s of %s: %s" % (name, call, reason))
    print("programs with symbolic dimensions: %d calls, %d wrong" % (len(cases), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
