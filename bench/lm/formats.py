#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures products with weights in the formats of GGUF files, per byte that they read.

    bench/lm/formats.py [--formats q4_0,q4_k] [--shapes 4096x4096,8192x2048] [--rows 1] [--threads 1] [--cpu x86-64-v3] [--rounds 3]

A shape is `outputs × inputs` of the matrix. Formats take turns in each round, and the shortest call of all rounds counts. The table has the
rate of packed bytes and its ratio to that of Q4_0; the last line is the rate at which the same threads read memory.
"""
import argparse
import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The elements and the bytes of a block.
BLOCKS = {"q4_0": (32, 18), "q4_1": (32, 20), "q5_0": (32, 22), "q5_1": (32, 24), "q8_0": (32, 34), "q2_k": (256, 84), "q3_k": (256, 110),
          "q4_k": (256, 144), "q5_k": (256, 176), "q6_k": (256, 210), "iq4_nl": (32, 18), "mxfp4": (32, 17), "nvfp4": (64, 36), "tq1_0": (256, 54),
          "tq2_0": (256, 66), "f16": (1, 2), "bf16": (1, 2)}
DOCUMENT = """import format;
import nn;

graph G {
    @input { x: real[%d,%d]; }
    @variable { weight: %s; }
    @output { y: real[%d,%d]; }
    @compose {
        w = %s;
        y = nn.linear(x, w);
    }
}
"""


def write(folder, name, outputs, inputs, rows):
    """A model folder. All bytes are below 64, so that no scale is an infinity or NaN."""
    elements, size = BLOCKS[name]
    shape = [outputs, inputs // elements, size] if elements > 1 else [outputs, inputs]
    dtype = "i8" if elements > 1 else name
    weight = ("int[%d,%d,%d]" if elements > 1 else "real[%d,%d]") % tuple(shape)
    formula = "format.%s(weight)" % name if elements > 1 else "weight"
    os.makedirs(folder)
    (folder / "main.sknd").write_text(DOCUMENT % (rows, inputs, weight, rows, outputs, formula))
    entry = {"dtype": dtype, "shape": shape, "skript": "main.G.weight"}
    (folder / "import.json").write_text(
        json.dumps({"int": "i64", "producer": "GGUF", "real": "f32", "version": 1, "variables": [entry]}))
    count = outputs * inputs // elements * size
    header = json.dumps({"main.G.weight": {"dtype": dtype.upper(), "shape": shape, "data_offsets": [0, count]}}).encode()
    data = random.Random(1).randbytes(count).translate(bytes(n % 64 for n in range(256)))
    (folder / "main.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    return count


def measured(folder, options):
    figures = folder / "figures.json"
    command = [options.skript, "bench", folder, "--threads", str(options.threads), "--calls", str(options.calls), "--json", figures]
    subprocess.run(command + (["--cpu", options.cpu] if options.cpu else []), check=True, stdout=subprocess.DEVNULL)
    return json.loads(figures.read_text())


def table(shape, rates, bandwidth):
    print("| format, %s | ms | GB/s of packed bytes | ratio to Q4_0 |\n|---|---|---|---|" % shape)
    for name, (milliseconds, rate) in rates.items():
        ratio = "%.2f" % (rate / rates["q4_0"][1]) if "q4_0" in rates else ""
        print("| %s | %.3f | %.1f | %s |" % (name.upper(), milliseconds, rate, ratio))
    print("| reads of memory | | %.1f | |\n" % bandwidth)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--formats", default=",".join(BLOCKS))
    parser.add_argument("--shapes", default="4096x4096,8192x2048")
    parser.add_argument("--rows", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu")
    parser.add_argument("--skript", default=str(ROOT / "target/release/skript"))
    options = parser.parse_args()
    for shape in options.shapes.split(","):
        outputs, inputs = map(int, shape.split("x"))
        best, bandwidth = {}, 0
        with tempfile.TemporaryDirectory() as directory:
            folders = {name: pathlib.Path(directory) / name for name in options.formats.split(",")}
            counts = {name: write(folder, name, outputs, inputs, options.rows) for name, folder in folders.items()}
            for _ in range(options.rounds):
                for name, folder in folders.items():
                    figures = measured(folder, options)
                    best[name] = min(best.get(name, float("inf")), figures["call_ms"])
                    bandwidth = max(bandwidth, figures["peak_gbytes_per_s"] or 0)
        table(shape, {name: (ms, counts[name] / ms / 1e6) for name, ms in best.items()}, bandwidth)


main()
