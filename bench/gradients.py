#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures gradients of operators: ours (`skript.grad`, compiled), torch.compile and jax.grad, which alternate in separate processes that
are pinned to as many CPUs as they have threads. All compute the output and its gradients by all real inputs, scaled by a seed, in f32.
Results are compared before they are measured.

    gradients.py [--threads N,…] [--only PART] [--rounds N] [--torch-python FILE] [--jax-python FILE]
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent

NBODY = """
operator potential { @input { x: real[n,3]; m: real[n]; } @output { u: real[n]; } @lower {
    a = x[i,0] - x[j,0], b = x[i,1] - x[j,1], c = x[i,2] - x[j,2],
    u[i,] += m[i,] * m[j,] / `sqrt`(a * a + b * b + c * c + 0.01), i < n, j < n; } }
graph G { @input { x: real[512,3]; m: real[512]; } @output { u: real[512]; } @compose { u = potential(x, m); } }"""
SCAN = """
operator scan { @input { x: real[b,t,d]; a: real[b,t,d]; } @output { y: real[b,t,d]; } @lower {
    y[i,k,j] = x[i,k,j], i < b, k < t, j < d;
    y[i,k + 1,j] := a[i,k + 1,j] * y[i,k,j] + x[i,k + 1,j], i < b, k < t - 1, j < d; } }
graph G { @input { x: real[4,256,64]; a: real[4,256,64]; } @output { y: real[4,256,64]; } @compose { y = scan(x, a); } }"""
NORM = """
operator norm { @input { x: real[n,c]; g: real[c]; } @output { y: real[n,c]; } @lower {
    m[i,] += x[i,j] / real(c), i < n, j < c;
    v[i,] += (x[i,j] - m[i,]) * (x[i,j] - m[i,]) / real(c), i < n, j < c;
    y[i,j] = (x[i,j] - m[i,]) / `sqrt`(v[i,] + 1e-5) * g[j,], i < n, j < c; } }
graph G { @input { x: real[512,512]; g: real[512]; } @output { y: real[512,512]; } @compose { y = norm(x, g); } }"""
BILATERAL = """
operator smooth { @input { x: real[h,w]; } @output { y: real[h,w]; } @lower {
    o = x[|i + a - 2 <> 0 : h - 1|,|j + b - 2 <> 0 : w - 1|], e = o - x[i,j],
    s[i,j] += `exp`(-50.0 * e * e), i < h, j < w, a < 5, b < 5;
    o = x[|i + a - 2 <> 0 : h - 1|,|j + b - 2 <> 0 : w - 1|], e = o - x[i,j],
    v[i,j] += `exp`(-50.0 * e * e) * o, i < h, j < w, a < 5, b < 5;
    y[i,j] = v[i,j] / s[i,j], i < h, j < w; } }
graph G { @input { x: real[128,128]; } @output { y: real[128,128]; } @compose { y = smooth(x); } }"""
CONV = """
import nn;
graph G { @input { x: real[2,32,32,32]; w: real[32,32,3,3]; } @output { y: real[2,32,32,32]; }
    @compose { y = nn.conv{padding=[1, 1, 1, 1]}(x, w); } }"""
DENSE = """
import nn;
graph G { @input { x: real[128,256]; w: real[256,256]; b: real[256]; } @output { y: real[128,256]; }
    @compose { h = nn.linear(x, w, b); y = nn.gelu(h); } }"""
SOFTMAX = """
import nn;
graph G { @input { x: real[512,512]; } @output { y: real[512,512]; } @compose { y = nn.softmax{axes=[1]}(x); } }"""


def nbody(k):
    def run(x, m):
        d = x[:, None] - x[None]
        return (m[:, None] * m[None] / k.sqrt((d * d).sum(-1) + 0.01)).sum(1)
    return run


def scan(k):
    if k.name == "jax":
        def combine(left, right):
            return left[0] * right[0], left[1] * right[0] + right[1]
        return lambda x, a: k.associative_scan(combine, (a, x), axis=1)[1]

    def run(x, a):
        states = [x[:, 0]]
        for t in range(1, x.shape[1]):
            states.append(a[:, t] * states[-1] + x[:, t])
        return k.stack(states, 1)
    return run


def norm(k):
    def run(x, g):
        d = x - x.mean(1)[:, None]
        return d / k.sqrt((d * d).mean(1)[:, None] + 1e-5) * g
    return run


def bilateral(k):
    def run(x):
        height, width = x.shape
        padded = k.edge_padded(x, 2)
        parts = [padded[i:i + height, j:j + width] for i in range(5) for j in range(5)]
        weights = [k.exp(-50.0 * (o - x) ** 2) for o in parts]
        return sum(w * o for w, o in zip(weights, parts)) / sum(weights)
    return run


# Name, document, shapes of the inputs, and the same for torch and jax.
CASES = {
    "n-body": (NBODY, [(512, 3), (512,)], nbody),
    "linear scan": (SCAN, [(4, 256, 64)] * 2, scan),
    "layer normalization": (NORM, [(512, 512), (512,)], norm),
    "bilateral filter": (BILATERAL, [(128, 128)], bilateral),
    "convolution": (CONV, [(2, 32, 32, 32), (32, 32, 3, 3)], lambda k: k.conv),
    "dense layer, GELU": (DENSE, [(128, 256), (256, 256), (256,)], lambda k: lambda x, w, b: k.gelu(x @ w.T + b)),
    "softmax": (SOFTMAX, [(512, 512)], lambda k: lambda x: k.softmax(x)),
}
ENGINES = ("ours", "torch.compile", "jax.grad")
# Seconds that a process may take, compilation included.
TIMEOUT = 120


class Torch:
    name = "torch"

    def __init__(self, threads):
        import torch
        torch.set_num_threads(threads)
        self.torch, self.sqrt, self.exp, self.stack = torch, torch.sqrt, torch.exp, torch.stack
        self.gelu = torch.nn.functional.gelu
        self.softmax = lambda x: torch.softmax(x, 1)
        self.conv = lambda x, w: torch.nn.functional.conv2d(x, w, padding=1)
        self.edge_padded = lambda x, by: torch.nn.functional.pad(x[None], [by] * 4, mode="replicate")[0]

    def step(self, build, inputs, seed):
        inputs = [self.torch.tensor(x, requires_grad=True) for x in inputs]
        run, seed = self.torch.compile(build(self)), self.torch.tensor(seed)

        def call():
            output = run(*inputs)
            return (output, *self.torch.autograd.grad(output, inputs, seed))
        return call, lambda results: [x.detach().numpy() for x in results]


class Jax:
    name = "jax"

    def __init__(self, threads):
        import jax
        import jax.numpy as jnp
        self.jax, self.sqrt, self.exp, self.associative_scan = jax, jnp.sqrt, jnp.exp, jax.lax.associative_scan
        self.gelu = lambda x: jax.nn.gelu(x, approximate=False)
        self.softmax = lambda x: jax.nn.softmax(x, 1)
        self.conv = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), [(1, 1), (1, 1)])
        self.edge_padded = lambda x, by: jnp.pad(x, by, mode="edge")

    def step(self, build, inputs, seed):
        run, inputs, seed = build(self), [self.jax.device_put(x) for x in inputs], self.jax.device_put(seed)

        @self.jax.jit
        def both(inputs, seed):
            output, backward = self.jax.vjp(run, *inputs)
            return (output, *backward(seed))
        return (lambda: self.jax.block_until_ready(both(inputs, seed))), lambda results: [np.asarray(x) for x in results]


class Ours:
    def __init__(self, threads):
        sys.path.insert(0, str(ROOT / "test/python"))
        import package  # noqa: F401  places the packages
        import skript
        self.skript, self.threads = skript, threads

    def step(self, document, inputs, seed):
        model = self.skript.from_text(document, threads=self.threads)
        names = inputs_of(document)
        gradient = self.skript.grad(model, names).compile(threads=self.threads)
        return (lambda: gradient(*inputs, seed)), lambda results: [np.asarray(x) for x in results]


def inputs_of(document):
    """The names of the inputs of the graph, in order."""
    ports = document.split("graph G { @input {")[1].split("}")[0].split(";")
    return [port.split(":")[0].strip() for port in ports if ":" in port]


def work(engine, name, threads, file, seconds):
    """Prints the least time of a call in seconds, and writes the results."""
    document, shapes, build = CASES[name]
    draw = np.random.default_rng(1)
    inputs = [draw.uniform(0.1, 0.9, shape).astype(np.float32) for shape in shapes]
    output = shapes[0] if name != "n-body" else (512,)
    if name == "convolution":
        output = (2, 32, 32, 32)
    seed = draw.uniform(0.5, 1.5, output).astype(np.float32)
    if engine == "ours":
        call, arrays = Ours(threads).step(document, inputs, seed)
    else:
        call, arrays = {"torch.compile": Torch, "jax.grad": Jax}[engine](threads).step(build, inputs, seed)
    np.savez(file, *arrays(call()))
    times, end = [], time.monotonic() + seconds
    while len(times) < 5 or time.monotonic() < end:
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    print(json.dumps(sorted(times)[len(times) // 4]))


def measured(engine, name, threads, arguments, file):
    python = {"torch.compile": arguments.torch_python, "jax.grad": arguments.jax_python}.get(engine, sys.executable)
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "JAX_PLATFORMS": "cpu"}
    command = [python, __file__, "--work", json.dumps([engine, name, threads, file, arguments.seconds])]
    try:
        process = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=TIMEOUT,
                                 preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    except subprocess.TimeoutExpired:
        print("%s takes more than %d s to compile %s" % (engine, TIMEOUT, name), file=sys.stderr)
        return math.inf
    if process.returncode:
        return sys.exit("%s, %s: %s" % (engine, name, process.stderr[-2000:]))
    return json.loads(process.stdout.splitlines()[-1])


def compared(name, files):
    results = {engine: list(np.load(file).values()) for engine, file in files.items() if os.path.exists(file)}
    for engine, arrays in results.items():
        for ours, theirs in zip(results["ours"], arrays, strict=True):
            if not np.allclose(ours, theirs, rtol=1e-3, atol=1e-3 * np.abs(theirs).max()):
                sys.exit("%s: the results of %s differ from ours by %g" % (name, engine, np.abs(ours - theirs).max()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--torch-python", default=str(ROOT / "build/networks-venv/bin/python"))
    parser.add_argument("--jax-python", default=str(ROOT / ".venv/bin/python"))
    parser.add_argument("--work")
    arguments = parser.parse_args()
    if arguments.work:
        return work(*json.loads(arguments.work))
    print("| gradient | threads | %s | ours / best |\n|---|---|%s---|" % (" | ".join(ENGINES), "---|" * len(ENGINES)))
    for threads in map(int, arguments.threads.split(",")):
        ratios = []
        for name in [name for name in CASES if arguments.only in name]:
            with tempfile.TemporaryDirectory(prefix="gradients_") as folder:
                files = {engine: os.path.join(folder, "%d.npz" % at) for at, engine in enumerate(ENGINES)}
                rounds = [{engine: measured(engine, name, threads, arguments, files[engine]) for engine in ENGINES}
                          for _ in range(arguments.rounds)]
                compared(name, files)
            best = {engine: min(times[engine] for times in rounds) for engine in ENGINES}
            ratios.append(best["ours"] / min(best["torch.compile"], best["jax.grad"]))
            row = " | ".join("%.2f ms" % (1e3 * best[engine]) if best[engine] < math.inf else "—" for engine in ENGINES)
            print("| %s | %d | %s | %.2f |" % (name, threads, row, ratios[-1]), flush=True)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print("| geometric mean | %d |%s %.2f |" % (threads, " |" * len(ENGINES), mean), flush=True)


if __name__ == "__main__":
    main()
