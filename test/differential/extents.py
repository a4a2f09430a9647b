#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models for dynamic extents from zero to the upper bound: results of both engines are equal, or both refuse the run.

    extents.py --skript BINARY [--case SUBSTRING]...

Each model is compiled once. The models are those of test/stablehlo/padded.py and further ones.
"""
import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "stablehlo"))
import padded  # noqa: E402
import shards  # noqa: E402

# By name: inputs, outputs, their formulas, and additional operators.
MODELS = {
    "replicated": ("x: real[n|4]", "y: real[~]", "y = layout.pad{padding=[1,2], method='REPLICATE'}(x)"),
    "mirrored": ("x: real[n|4]", "y: real[~]", "y = layout.pad{padding=[0,0], method='SYMMETRIC'}(x)"),
    "cut": ("x: real[n|4]", "y: real[~]", "y = layout.slice{axes=[0], begin=[0], end=[2]}(x)"),
    "stacked": ("x: real[n|4]; z: real[n]", "y: real[~,~]", "y = layout.stack{axis=0, squeeze=true}([x, z])"),
    "upsampled": ("x: real[n|4]", "y: real[~]", "y = image.linear_upsample{factor=[2]}(x)"),
    "repeated": ("x: real[n|4,2]", "y: real[~,~]", "y = image.nearest_upsample{factor=[2,2]}(x)"),
    "largest": ("x: real[n|4]", "y: real[~]; i: int[~]", "y, i = algo.top_k{k=2}(x)"),
    "found": ("x: real[n|4,m|3]", "y: int[2,~]", "y = layout.nonzero(x)"),
    "response": ("x: real[n|4,m|3]", "y: real[~,~]", "y = nn.local_response_norm{size=[3]}(x)"),
    "norm": ("x: real[n|4,m|3]", "y: real[~,~]", "y = nn.l2_norm{axes=[0]}(x)"),
    "gathered": ("x: real[n|4,2]; i: int[m|3,1]", "y: real[~,~]", "y = layout.gather_nd(x, i)"),
    "scattered": ("x: real[n|4]; i: int[m|3]; u: real[m]", "y: real[~]", "y = layout.scatter{axis=0}(x, i, u)"),
    "least": ("x: real[n|4,m|3]", "y: int[~,~]", "y = math.argmin{axis=0}(x)"),
    "recurrent": ("X: real[s|3,b|2,2]; W: real[8,2]; R: real[8,2]; B: real[8]; h: real[b,2]; c: real[b,2]",
                  "Y: real[~,~,2]; hN: real[~,2]; cN: real[~,2]", "Y, hN, cN = nn.lstm(X, W, R, B, h, c)"),
    # Sums over rows of at most one vector and of several; borders along static dimensions.
    "network": ("x: real[b|5,3,9,20]; w: real[4,3,3,3]; v: real[4,1,3,3]; d: real[96,11]", "y: real[~,~]; z: real[~,~,~,~]",
                "c = nn.conv{padding=[1,1,1,1]}(x, w); r = nn.relu(c); z = nn.conv{groups=4,stride=[2,1],padding=[1,0,1,0]}(r, v); "
                "p = nn.max_pool{size=[3,3],stride=[3,3],padding=[0,2,0,2],axes=[2,3]}(r); f = layout.flatten{axis=1}(p); "
                "y = linalg.matmul(f, d)"),
    "attention": ("q: real[n|20,8]; k: real[m|17,8]; v: real[m,24]", "y: real[~,~]; s: real[~,~]",
                  "s = linalg.matmul{transB=true}(q, k); p = nn.softmax{axes=[1]}(s); y = linalg.matmul(p, v)"),
    "product": ("x: real[n|19,k|33]; w: real[k,m|18]; b: real[m]", "y: real[~,~]; t: real[~,~]",
                "p = linalg.matmul(x, w); u = math.add{rhs_align=1}(p, b); y = math.max(u, 0.0); t = linalg.matmul{transA=true}(x, p)"),
    "columns": ("x: real[n|21,m|18]; i: int[n]", "y: real[~,~]; z: real[~,~]; l: int[~,~]",
                "y = math.sum_reduce{axes=[0]}(x); z = math.max_reduce{axes=[0]}(x); l = math.argmax{axis=0}(x)"),
    # Windows along dynamic dimensions, with borders and without, and subscripts that are sums and multiples of indices.
    "picture": ("x: real[b|2,3,h|9,w|10]; f: real[4,3,3,3]; v: real[4,1,3,3]", "y: real[~,~,~,~]; z: real[~,~,~,~]; p: real[~,~,~,~]",
              "c = nn.conv{padding=[1,1,1,1]}(x, f); r = nn.relu(c); z = nn.conv{groups=4,stride=[2,1],padding=[1,2,1,0]}(r, v); "
              "p = nn.max_pool{size=[3,3],stride=[3,2],padding=[1,2,1,2],axes=[2,3]}(r); y = nn.avg_pool{size=[2,2],axes=[2,3],padding=[1,0,1,0]}(r)"),
    # Windows in vectors along a dynamic extent: contiguous elements, and elements two and three apart.
    "wide pictures": ("x: real[b|2,8,h|5,w|37]; z: real[1,8,3,u|22]; f: real[12,8,3,3]; g: real[12,8,1,1]",
                      "a: real[~,~,~,~]; c: real[~,~,~,~]; d: real[~,~,~,~]; e: real[~,~,~,~]; l: real[~,~,~,~]",
                      "a = nn.conv{padding=[1,1,1,1]}(x, f); c = nn.conv{stride=[2,2],padding=[1,1,1,1]}(x, f); d = nn.conv{stride=[1,3],padding=[1,1,1,1]}(x, f); "
                      "e = nn.conv{stride=[2,2],padding=[0,0,0,0]}(x, g); l = nn.conv{stride=[1,2],padding=[1,1,1,1]}(z, f)"),
    # Remainders of tiles of rows.
    "rows": ("x: real[n|7,80]; z: real[m|13,80]; w: real[80,96]", "y: real[~,~]; u: real[~,~]", "y = linalg.matmul(x, w); u = linalg.matmul(z, w)"),
    "indexed": ("x: real[n|11,u|5]", "a: real[~,~]; b: real[~,~]; c: real[~,~,2]; d: real[~,~]; e: real[~,~]; f: real[~,~]; g: real[~,~]",
               "a, b, c, d, e, f, g = places(x)",
               "operator places { @input { x: real[n,u]; } "
               "@output { a: real[n-2<<0,u]; b: real[(n+1)/2,u]; c: real[n/2,u,2]; d: real[n-2<<0,u]; e: real[n,u]; f: real[n,2*u]; g: real[n,n]; } "
               "@lower { a[i,j] = x[i+2,j] - x[i,j], i < (n-2<<0), j < u; b[i,j] = x[2*i,j], i < (n+1)/2, j < u; "
               "c[i,j,k] = x[2*i+k,j], i < n/2, j < u, k < 2; d[i,j] += x[i+k,j], i < (n-2<<0), j < u, k < 3; "
               "e[i,j] += x[|i+2*k-2|,j], i < n, j < u, k < 3; f[i,j] += x[i,k] * x[i,|j-k|], i < n, j < 2*u, k < u; "
               "g[i,j] += x[i,k] * x[j,k], i < n, j < n, k < u | i + j < n; } }"),
    "viewed": ("x: real[b|4,1,6,n|3]", "y: real[~,~,~]; z: real[~,6,~,1]; v: real[~,2,3,~]; t: real[~,1,3,2,~]", "s = layout.squeeze{axes=[1]}(x); y = math.add(s, s); "
               "z = layout.unsqueeze{axes=[3]}(y); v = layout.reshape{axis=1, rank=2, shape=[2,3]}(x); u = layout.unsqueeze{axes=[1]}(v); t = layout.transpose{axis=1, perm=[1,3,2,4]}(u)"),
    # Reads of tensors that may be empty, at positions outside of the loops, and writes in steps and groups.
    "taken": ("x: real[n|7,u|4]; z: real[m|3,u]; k: int[m]", "a: real[~,~]; b: real[~,~]; c: real[~,~]; d: real[~,~]; e: real[~,~]; f: real[~,~]; "
              "g: real[~,~]; h: real[~,~]; l: real[~]; o: real[~,~]; p: real[~,~]; q: real[~,~]", "a, b, c, d, e, f, g, h, l, o, p, q = takes(x, z, k)",
              "operator takes { @input { x: real[n,u]; z: real[m,u]; k: int[m]; } @output { a: real[n,u]; b: real[n,u]; c: real[2*n,u]; "
              "d: real[n+m,u]; e: real[u,n+m]; f: real[n,u]; g: real[m,u]; h: real[n+3,u]; l: real[n*u]; o: real[3*n,2*u]; p: real[n,u]; q: real[n,u]; } "
              "@lower { a[i,j] = x[n-1-i,u-1-j], i < n, j < u; b[i,j] = x[(i+2)%n,j] - x[i,j], i < n, j < u; c[i,j] = x[i%n,j], i < 2*n, j < u; "
              "d[i,j] = i < n ? x[i,j] : z[i-n,j], i < n+m, j < u; e[i,j] = j < n ? x[j,i] : 2.0 * z[j-n,i], i < u, j < n+m; "
              "f[i,j] = 0.25*((i > 0 ? x[i-1,j] : 1.0) + (j+1 < u ? x[i,j+1] : 2.0)) + x[i,j], i < n, j < u; g[i,j] = x[k[i,]>>0<<n-1,j], i < m, j < u; "
              "h[i,j] = x[|i-2|,j], i < n+3, j < u; l[i,] = x[i/u,i%u] + 1.0, i < n*u; o[3*i+v,2*j+w] = x[i,j], i < n, v < 3, j < u, w < 2; "
              "p[i,j] = 2.0 * x[|i-1|,j] + 1.0, i < n, j < u | x[|i-1|,j] > 0.0; q[i,j] += x[i,|j-v|] * x[i,v], i < n, j < u, v < u | j > 1; } }"),
    # Quotients in data-dependent branches; their operands are the same at all steps of the innermost loop.
    **{"divided " + name: ("x: real[n|64,m|64]; z: real[k|9]", "y: real[~,~]", "y = divides(x, z)",
                           "operator divides { @input { x: real[n,m]; z: real[k]; } @output { y: real[n,m]; } @lower { y[i,j] = %s, i < n, j < m; } }" % value)
       for name, value in [("once", "j > 2 && x[i,j] > 0.0 ? z[i%k,] + x[i,j] : 0.0"), ("twice", "x[i,j] > 0.0 ? z[i/k%k,] : 0.0"),
                           ("columns", "x[i,j] > 0.0 ? x[(2*j+i)%2%k<<n-1,j] : 0.0")]},
    **{name: model[:3] + model[4:] for name, model in padded.MODELS.items()},
}


def write(folder, inputs, outputs, computes, operators=""):
    modules = sorted(set(re.findall(r"(\w+)\.\w+[({]", computes)))
    lines = ["import %s;" % m for m in modules] + [operators, "graph G {", "@input { %s; }" % inputs, "@output { %s; }" % outputs, "@compose { %s; }" % computes, "}"]
    with open(os.path.join(folder, "main.sknd"), "w") as file:
        file.write("\n".join(lines) + "\n")


# The maximum number of runs of a model; of more choices, a sample is run.
MOST = 96


def runs(name, inputs, folder):
    """Arguments of a run for each choice of extents: none, one, two, the bound. Each `~` is a separate extent."""
    inputs = re.sub("~", lambda _, count=itertools.count(): "any%d" % next(count), inputs)
    bounds = dict(re.findall(r"(\w+)\|(\d+)", inputs))
    choices = list(itertools.product(*[sorted({0, 1, 2, int(b)}) for b in bounds.values()]))
    if len(choices) > MOST:
        # The bounds fit together.
        choices = [choices[0], choices[-1], *random.Random(name).sample(choices, MOST)]
    for number, sizes in enumerate(choices):
        extents = dict(zip(bounds, sizes))
        values = numpy.random.default_rng(number)
        arguments = []
        for tensor, kind, shape in re.findall(r"(\w+): (\w+)\[([^\]]*)\]", inputs):
            axes = [d.split("|")[0].strip() for d in shape.split(",") if d.strip()]
            array = values.standard_normal([extents.get(d) if d in extents else int(d) for d in axes])
            array = {"real": array.astype("f"), "int": numpy.zeros(array.shape, "i8"), "bool": array > 0}[kind]
            path = os.path.join(folder, "%d.%s.npy" % (number, tensor))
            numpy.save(path, array)
            arguments += ["--input", "%s=%s" % (tensor, path)]
        yield "%s %s" % (name, extents), arguments


def batch(skript, engine, lines, folder):
    path = os.path.join(folder, engine + ".jsonl")
    with open(path, "w") as file:
        for number, (model, arguments) in enumerate(lines):
            file.write(json.dumps([model] + arguments + ["--output-dir", os.path.join(folder, engine, str(number))]) + "\n")
    command = [skript, "run", "--message-format=short", "--engine=" + engine, "--output-dir", folder, "--batch", path]
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    results = [json.loads(line) for line in process.stdout.splitlines()]
    if len(results) < len(lines):
        sys.exit("FAILED %s: the process ended with status %d in run %d: %s" % (engine, process.returncode, len(results), lines[len(results)]))
    return results


def difference(results, folders):
    codes = [r["exit"] for r in results]
    if codes[0] != codes[1] or codes[0] not in (0, 1):
        return "exit status %s; %s" % (codes, [r["stderr"].strip()[:200] for r in results])
    for file in sorted(os.listdir(folders[0])) if codes[0] == 0 else []:
        a, b = (numpy.load(os.path.join(f, file)) for f in folders)
        if a.shape != b.shape or not numpy.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True):
            return "%s: %s %s against %s %s" % (file, a.shape, a.ravel()[:5], b.shape, b.ravel()[:5])
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    parser.add_argument("--case", action="append", default=[])
    shards.add_argument(parser)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="extents_") as folder:
        names, lines = [], []
        for name, (inputs, outputs, *computes) in shards.shard(list(MODELS.items()), args.shard):
            if args.case and not any(c in name for c in args.case):
                continue
            model = os.path.join(folder, name)
            os.makedirs(model)
            write(model, inputs, outputs, *computes)
            for name, arguments in runs(name, inputs, model):
                names.append(name)
                lines.append((model, arguments))
        results = [batch(args.skript, engine, lines, folder) for engine in ("reference", "compiled")]
        failures = 0
        for number, name in enumerate(names):
            said = difference([r[number] for r in results], [os.path.join(folder, e, str(number)) for e in ("reference", "compiled")])
            if said:
                failures += 1
                print("FAILED %s: %s" % (name, said))
        refused = sum(r["exit"] != 0 for r in results[0])
        models = len(set(m for m, _ in lines))
        print("open extents: %d runs of %d models, %d refused by the evaluator, %d differ" % (len(names), models, refused, failures))
    return 1 if failures or not names else 0


if __name__ == "__main__":
    sys.exit(main())
