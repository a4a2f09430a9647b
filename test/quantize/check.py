#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantizes small networks by each method, and compares scales and results with numpy.

    check.py [--skript FILE]

numpy computes every tensor, its range by the description of the method, and the scale of each tensor. The written models are run in
reals and in integers, and compared with the float results.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HELD = 10

PERCEPTRON = """
import nn;

graph Net {
    @input { x: real[1,8]; }
    @output { y: real[1,4]; }
    @variable {
        w1: real[16,8];
        b1: real[16];
        w2: real[4,16];
    }
    @compose {
        h = nn.linear(x, w1, b1);
        r = nn.relu(h);
        y = nn.linear(r, w2);
    }
}
"""

CONVOLUTIONS = """
import nn;
import math;

# A convolution whose result is not negative.
public operator block {
    @attrib { channels: int; size: int; }
    @input { x: real[b,c,h,w]; }
    @output { y: real[b,channels,h,w]; }
    @variable { f: real[channels,c,size,size]; g: real[channels,channels,1,1]; }
    @compose {
        c = nn.conv{padding=[1, 1, 1, 1]}(x, f);
        inner = nn.relu(c);
        outer = nn.conv{padding=[0, 0, 0, 0]}(inner, g);
        y = nn.relu(outer);
    }
}

graph Net {
    @input { x: real[1,3,8,8]; }
    @output { y: real[1,5]; }
    @variable { w: real[5,6]; }
    @compose {
        a = block{channels=4, size=3}(x);
        p = nn.max_pool{size=[2, 2], stride=[2, 2], padding=[0, 0, 0, 0]}(a);
        b = block{channels=6, size=3}(p);
        s = math.mean_reduce{axes=[2, 3], squeeze=true}(b);
        y = nn.linear(s, w);
    }
}
"""


def linear(x, w, b=0.0):
    return x @ w.T + b


def relu(x):
    return numpy.maximum(x, 0)


def conv(x, f):
    """A convolution with unit strides that keeps the extents."""
    border = f.shape[2] // 2
    padded = numpy.pad(x, ((0, 0), (0, 0), (border, border), (border, border)))
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, f.shape[2:], (2, 3))
    return numpy.einsum("bchwij,ncij->bnhw", windows, f)


def perceptron(x, w):
    """The tensors to quantize, and the output, for samples along the first axis."""
    r = relu(linear(x, w["w1"], w["b1"]))
    return {"x": x, "w1": w["w1"], "r": r, "w2": w["w2"]}, linear(r, w["w2"])


def convolutions(x, w):
    tensors = {"x": x}

    def block(name, x):
        f, g = w[name + ".f"], w[name + ".g"]
        inner = relu(conv(x, f))
        tensors.update({name + ".f": f, name + ".inner": inner, name + ".g": g})
        return relu(conv(inner, g))

    a = block("a", x)
    p = a.reshape(*a.shape[:2], 4, 2, 4, 2).max((3, 5))
    tensors["p"] = p
    s = block("b", p).mean((2, 3))
    tensors.update({"s": s, "w": w["w"]})
    return tensors, linear(s, w["w"])


NETWORKS = {
    "perceptron": (PERCEPTRON, perceptron, (8,), {"w1": (16, 8), "b1": (16,), "w2": (4, 16)}),
    "convolutions": (
        CONVOLUTIONS,
        convolutions,
        (3, 8, 8),
        {"a.f": (4, 3, 3, 3), "a.g": (4, 4, 1, 1), "b.f": (6, 4, 3, 3), "b.g": (6, 6, 1, 1), "w": (5, 6)},
    ),
}


def entropy_limit(x, levels):
    """The limit of the magnitudes with the least divergence of the quantized distribution."""
    magnitudes = numpy.abs(x[x != 0])
    largest = magnitudes.max()
    bins = numpy.bincount(numpy.minimum((magnitudes / largest * 2048).astype(int), 2047), minlength=2048).astype(float)
    divergences = []
    for kept in range(levels, 2049):
        p = bins[:kept].copy()
        filled = p > 0
        group = numpy.arange(kept) * levels // kept
        sums = numpy.bincount(group, p, levels)
        counts = numpy.bincount(group, filled, levels)
        q = numpy.where(filled, sums[group] / numpy.maximum(counts[group], 1), 0)
        p[-1] += bins[kept:].sum()
        p, q, used = p / p.sum(), q / q.sum(), p > 0
        with numpy.errstate(divide="ignore"):
            divergences.append(numpy.sum(p[used] * numpy.log(p[used] / q[used])))
    divergences = numpy.array(divergences)
    best = numpy.flatnonzero(divergences <= divergences.min() + 1e-12).max()
    return largest * (best + levels) / 2048


def parameters(x, method, symmetric):
    """The scale and the zero point of a tensor that depends on inputs."""
    x = x.astype(numpy.float64)
    low, high = x.min(), x.max()
    if method == "percentile":
        low, high = numpy.percentile(x, [1, 99])
        if symmetric:
            high = numpy.percentile(numpy.abs(x), 99)
            low = -high
    elif method == "entropy":
        limit = entropy_limit(x, 128 if symmetric or low < 0 < high else 256)
        low, high = max(low, -limit), min(high, limit)
    if symmetric:
        return max(-low, high) / 127, 0
    low, high = min(low, 0), max(high, 0)
    return (high - low) / 255, numpy.round(-low / ((high - low) / 255))


def entries(text):
    """The entries of @quantize: name, scales, zero point, channel."""
    found = {}
    for name, attributes in re.findall(r"([\w.]+):\s*quant\.zero_point_linear_quantize\s*\{([^}]*)\}", text):
        value = lambda key: re.search(key + r"\s*=\s*(\[[^\]]*\]|[^,\s]+)", attributes)
        scales = [float(number) for number in re.findall(r"[\d.]+(?:e-?\d+)?", value("scale").group(1))]
        channel = value("channel_axis")
        found[name] = scales, int(value("zero_point").group(1)), channel and int(channel.group(1))
    return found


def check(condition, *message):
    if not condition:
        print("FAILED:", *message)
        check.failures += 1


check.failures = 0


def check_scales(where, found, tensors, weights, method, symmetric, per_channel):
    check(set(found) == set(tensors), where, "quantizes", sorted(found), "instead of", sorted(tensors))
    for name, tensor in tensors.items():
        scales, zero, channel = found.get(name, ([], 0, None))
        if name in weights:
            others = tuple(range(1, tensor.ndim)) if per_channel else None
            expected = numpy.atleast_1d(numpy.abs(tensor).max(others) / 127)
            check(channel == (0 if per_channel else None), where, name, "has channel", channel)
            expected_zero = 0
        else:
            scale, expected_zero = parameters(tensor, method, symmetric)
            expected = numpy.array([scale])
        # numpy adds the terms of sums in another order, which may move elements of computed tensors to other bins.
        tolerance = 2e-3 if method == "entropy" and name not in weights and name != "x" else 1e-5
        close = len(scales) == len(expected) and numpy.allclose(scales, expected, rtol=tolerance, atol=0)
        check(close, where, name, "has scales", scales, "instead of", expected)
        check(zero == expected_zero, where, name, "has zero point", zero, "instead of", expected_zero)


def ratio(expected, found):
    return 10 * numpy.log10(numpy.sum(expected**2) / numpy.sum((expected - found) ** 2))


def run(arguments, skript, folder):
    command = [skript, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    check(result.returncode == 0, " ".join(command), result.stdout, result.stderr)
    return result.stdout


def check_network(name, skript, folder):
    text, compute, shape, shapes = NETWORKS[name]
    random = numpy.random.default_rng(5)
    weights = {key: random.standard_normal(s, dtype="f4") / numpy.float32(numpy.sqrt(numpy.prod(s[1:]))) for key, s in shapes.items()}
    data = random.standard_normal((40 + HELD, *shape), dtype="f4")
    # Few elements are far from all others.
    data[3].flat[:2] = 9, -7
    model = folder / name
    model.mkdir()
    (model / "main.sknd").write_text(text)
    numpy.savez(model / "main.npz", **{"main.Net." + key: value for key, value in weights.items()})
    numpy.savez(folder / "data.npz", x=data)
    tensors, _ = compute(data[:-HELD], weights)
    _, exact = compute(data[-HELD:].astype("f8"), {key: value.astype("f8") for key, value in weights.items()})
    least = {}
    for method in "min-max", "percentile", "entropy":
        for symmetric, per_channel in (False, True), (True, False):
            where = f"{name}, {method}{', symmetric' * symmetric}:"
            output = folder / f"{name}-{method}-{symmetric}"
            flags = ["--symmetric"] * symmetric + ["--per-channel=false"] * (not per_channel)
            flags += ["--percentile=99"] * (method == "percentile")
            table = run(["quantize", model, "--data", folder / "data.npz", "-o", output, "--method", method, *flags], skript, folder)
            products = len(tensors) // 2
            check(f"{products} sums of products computed in integers, 0 in reals" in table, where, table)
            found = entries((output / "main.sknd").read_text())
            check_scales(where, found, tensors, weights, method, symmetric, per_channel)
            results = {}
            for how in "simulate", "integer":
                computed = []
                for sample in data[-HELD:]:
                    numpy.save(folder / "x.npy", sample[None])
                    run(["run", output, f"--quantize={how}", "--input", "x=x.npy", "--output-dir", "out"], skript, folder)
                    computed.append(numpy.load(folder / "out/y.npy")[0])
                results[how] = ratio(exact, numpy.array(computed))
            printed = [float(n) for n in re.findall(r"^y\s+(?:simulated|in integers)\s+(-?[\d.]+)", table, re.M)]
            check(numpy.allclose(printed, list(results.values()), atol=0.11), where, "prints", printed, "instead of", results)
            least[method] = min(least.get(method, numpy.inf), results["integer"])
            # Eight bits have 6 dB each; clamped elements and several layers lose more.
            required = 28 if method == "min-max" else 15
            check(results["integer"] > required, where, "has only", results["integer"], "dB in integers")
            check(abs(results["integer"] - results["simulate"]) < 3, where, "differs between", results)
    print(name, {method: f"{value:.1f} dB" for method, value in least.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    arguments = parser.parse_args()
    for name in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            check_network(name, str(pathlib.Path(arguments.skript).resolve()), pathlib.Path(folder))
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
