#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the workloads of bench/peers: `skript check` accepts all models, results of small ones agree with onnxruntime, and updates
of pages change only tables.

    peers.py --skript BINARY
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench", "peers"))
import agreement  # noqa: E402
import memory_bound  # noqa: E402
import model_files  # noqa: E402
import networks  # noqa: E402
import numpy  # noqa: E402
import onnxruntime  # noqa: E402
import operators as op  # noqa: E402
import tables  # noqa: E402
from workloads import WORKLOADS, Workload, pair  # noqa: E402


def encoder(net):
    """All parts of the encoder, small."""
    net.output(networks.encoder_layer(net, net.input([1, 5, 24]), 3))


def blocks(net):
    """The parts of convolutional networks, small."""
    x = net.input([1, 3, 17, 17])
    x = op.relu6(net, op.batch_norm(net, op.conv(net, x, 8, 3, 2, bias=False)))
    x = op.add(net, x, op.conv(net, x, 8, 3, groups=8))
    x = op.pool(net, x, "max", 3, 2, 1)
    net.output(op.softmax(net, op.linear(net, op.global_pool(net, x), 10)))


def pointwise(net):
    x = net.input([3, 4, 6])
    x = op.silu(net, op.rms_norm(net, op.add_channels(net, x)))
    net.output(op.transpose(net, op.concat(net, [x, op.scale(net, x, 0.5)], 1), [2, 0, 1]))


def of_map(add):
    return lambda net: net.output(add(net, net.input([1, 3, 8, 9])))


def of_rows(add):
    return lambda net: net.output(add(net, net.input([6, 10])))


def gathered(net):
    net.output(op.gather(net, net.variable([11, 3]), net.input([4], integers=11)))


def largest(net):
    net.output(op.argmax(net, net.input([6, 10])), integers=True)


def best(net):
    for value, integers in zip(op.top_k(net, net.input([6, 10]), 3), (False, True)):
        net.output(value, integers=integers)


# Workloads that the untuned shapes exclude.
SMALL = [
    ("encoder", encoder),
    ("blocks", blocks),
    ("pointwise", pointwise),
    ("lstm", lambda net: net.output(op.lstm(net, net.input([5, 2, 3]), 4))),
    ("instance norm", of_map(op.instance_norm)),
    ("average pool", of_map(lambda net, x: op.pool(net, x, "avg", 3, 1, 1))),
    ("bilinear", of_map(lambda net, x: op.resize(net, x, [16, 18]))),
    ("sums", lambda net: net.output(op.total(net, op.unary(net, net.input([6, 4]), "math.tanh", "Tanh"), 0))),
    ("normalized groups", lambda net: net.output(op.group_norm(net, net.input([1, 6, 3, 5]), 3))),
    ("nearest", of_map(lambda net, x: op.resize_nearest(net, x, [16, 23]))),
    ("log-softmax", of_rows(op.log_softmax)),
    ("gelu by tanh", of_rows(op.gelu_by_tanh)),
    ("mish", of_rows(op.mish)),
    ("running sums", of_rows(lambda net, x: op.cumulative_sum(net, op.cumulative_sum(net, x, 0), 1))),
    ("chain", of_rows(memory_bound.chain)),
    ("best", best),
    ("gathered", gathered),
    ("largest", largest),
    *pair("rows", [7, 6], 0, "batch", lambda net, x: op.gelu(net, op.dense(net, x, 5))),
]
UNTUNED = [w for w in WORKLOADS if w.group == "untuned"]


def accepted(skript, workload, folder):
    """The errors that `skript check` reports for the text, or for the ONNX model of a workload without a text."""
    net = workload.build()
    path = os.path.join(folder, workload.slug + (".sknd" if net.text() else ".onnx"))
    with open(path, "wb") as file:
        file.write(net.text().encode() if net.text() else net.onnx().SerializeToString())
    done = subprocess.run([skript, "check", path, "--message-format=short"], capture_output=True, text=True)
    return done.returncode and "%s: %s" % (workload.name, done.stderr.strip())


def computed(skript, runs, above):
    """Runs all models, in folders of `above`, in one process. Returns the errors by folder."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for folder, net in runs.items():
            inputs = [part for name in net.inputs for part in ("--input", "%s=%s/%s.npy" % (name, folder, name))]
            file.write(json.dumps([folder, *inputs, "--output-dir", os.path.join(folder, "out")]) + "\n")
        file.flush()
        done = subprocess.run([skript, "run", "--output-dir", above, "--batch", file.name], capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(runs):
        return {folder: done.stderr.strip() for folder in runs}
    return {folder: answer["stderr"] for folder, answer in zip(runs, answers) if answer["exit"]}


def disagreement(folder, net):
    """Describes the difference from the results of onnxruntime, if it exceeds the tolerance."""
    session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, {name: array.values for name, array in net.inputs.items()})))
    results = {name: numpy.load(os.path.join(folder, "out", name + ".npy")) for name in names}
    difference = agreement.difference(results, expected)
    return difference > net.tolerance and "differs from onnxruntime by %.1e" % difference


def disagreements(skript, folder):
    runs, names = {}, {}
    for workload in [*(Workload(name, "small", add) for name, add in SMALL), *UNTUNED]:
        path, net = os.path.join(folder, workload.slug), workload.build()
        model_files.write(net, path)
        os.mkdir(os.path.join(path, "out"))
        runs[path], names[path] = net, workload.name
    failed = computed(skript, runs, folder)
    wrong = {path: failed.get(path) or disagreement(path, net) for path, net in runs.items()}
    return ["%s: %s" % (names[path], text) for path, text in wrong.items() if text]


def without_torch():
    """Yields the memory-bound workloads without a torch function. Raises SyntaxError if Python cannot parse a function."""
    for workload in WORKLOADS:
        if workload.group in memory_bound.GROUPS:
            text = workload.build().torch()
            if not text:
                yield "%s has no torch function" % workload.name
            else:
                compile(text, workload.name, "exec")


def wrong_pages():
    """Errors of updated pages: tables may replace only tables, and rows only rows of the same workload."""
    page = tables.replaced("# Title\n\ntext\n")
    again = tables.replaced(page.replace(tables.END, "old\n" + tables.END) + "\nafter\n")
    if not page.startswith("# Title\n\ntext\n\n" + tables.BEGIN) or again != page.rstrip("\n") + "\n\nafter\n":
        yield "a page lost its text beside the tables"
    row = {"workload": "a", "group": "main", "threads": 1, "engines": {"ours": {"ms": 3}, "one": {"ms": 2}, "two": {"ms": 4}}}
    if tables.ratio(row) != 1.5 or abs(tables.geometric_mean([2, 8]) - 4) > 1e-9:
        yield "wrong ratio or mean"
    old = {"rows": [row, {**row, "threads": 2}], "failures": [["a", "one", "x"], ["b", "one", "x"]], "dates": ["2001-01-01"]}
    merged = tables.merged(old, {"rows": [{**row, "group": "new"}], "failures": [], "dates": ["2002-02-02"]})
    if [r["group"] for r in merged["rows"]] != ["new", "main"] or merged["failures"] != [["b", "one", "x"]]:
        yield "merged results lost rows or kept old ones"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skript", default=os.path.join(ROOT, "target", "release", "skript"))
    skript = parser.parse_args().skript
    wrong = [*wrong_pages(), *without_torch()]
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong += [text for text in pool.map(lambda workload: accepted(skript, workload, folder), WORKLOADS) if text]
        wrong += disagreements(skript, folder)
    print("\n".join([*wrong, "%d models, %d results, %d wrong" % (len(WORKLOADS), len(SMALL) + len(UNTUNED), len(wrong))]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
