#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures kernels on a machine with a GPU, which needs neither the compiler nor a network, and compares them with torch and XLA.

    measure.py pack FOLDER --skript BINARY [--arch sm_90] [--target nvptx64|vulkan] [--suite SUITE] [--small]
    measure.py run FOLDER --runner SKRIPT-RUN [--device NAME] [--calls N] [--table FILE]

`pack` compiles the models below into FOLDER, and with `--suite` the cases of a conformance suite (carried.py). `run` needs the folder, the program
skript-run and numpy. It runs the cases, then measures each model with its arrays on the device, by skript-run and, where they are importable,
by torch (eager, compiled) and jax, compares the results, and writes a table. A time is the least of the calls. `--small` packs small sizes, for
devices that compute on the processor. Exit status 1 if a result differs or a case fails.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Models as text, with the extents that sizes() gives.
PRODUCT = """
operator product {{
    @input {{ a: real[m, k]; b: real[k, n]; }}
    @output {{ c: real[m, n]; }}
    @lower {{ c[i, j] += a[i, l] * b[l, j], i < m, j < n, l < k; }}
}}
graph G {{
    @input {{ a: real[{n}, {n}]; b: real[{n}, {n}]; }}
    @output {{ c: real[{n}, {n}]; }}
    @compose {{ c = product(a, b); }}
}}
"""
WINDOW = """
import nn;
graph G {{
    @input {{ a: real[{batch}, {c}, {h}, {h}]; b: real[{c}, {c}, 3, 3]; }}
    @output {{ c: real[{batch}, {c}, {h}, {h}]; }}
    @compose {{ c = nn.conv{{padding=1}}(a, b); }}
}}
"""
SOFTMAX = """
import nn;
graph G {{
    @input {{ a: real[{rows}, {n}]; }}
    @output {{ c: real[{rows}, {n}]; }}
    @compose {{ c = nn.softmax{{axes=[1]}}(a); }}
}}
"""
ELEMENTWISE = """
operator chain {{
    @input {{ a: real[n]; b: real[n]; }}
    @output {{ c: real[n]; }}
    @lower {{ c[i,] = (a[i,] * b[i,] + 0.5 > 0.0 ? a[i,] * b[i,] + 0.5 : 0.0) / (1.0 + exp(-a[i,])), i < n; }}
}}
graph G {{
    @input {{ a: real[{n}]; b: real[{n}]; }}
    @output {{ c: real[{n}]; }}
    @compose {{ c = chain(a, b); }}
}}
"""
ARGMAX = """
import math;
graph G {{
    @input {{ a: real[{rows}, {n}]; }}
    @output {{ c: int[{rows}]; }}
    @compose {{ c = math.argmax{{axis=1, squeeze=true}}(a); }}
}}
"""
# No library has it: the largest sum of two elements.
LONGEST = """
operator longest {{
    @input {{ a: real[m, k]; b: real[k, n]; }}
    @output {{ c: real[m, n]; }}
    @lower {{ c[i, j] >= a[i, l] + b[l, j], i < m, j < n, l < k; }}
}}
graph G {{
    @input {{ a: real[{n}, {n}]; b: real[{n}, {n}]; }}
    @output {{ c: real[{n}, {n}]; }}
    @compose {{ c = longest(a, b); }}
}}
"""
ALEXNET = {
    "kernel1": (64, 3, 11, 11), "bias1": (64,), "kernel2": (192, 64, 5, 5), "bias2": (192,), "kernel3": (384, 192, 3, 3), "bias3": (384,),
    "kernel4": (384, 384, 3, 3), "bias4": (384,), "kernel5": (256, 384, 3, 3), "bias5": (256,), "kernel6": (4096, 256, 5, 5),
    "bias6": (4096,), "kernel7": (4096, 4096), "bias7": (4096,), "kernel8": (1000, 4096), "bias8": (1000,),
}  # fmt: skip


def models(small):
    """(name, operation, text or None, inputs, precisions) of every model."""
    found = []
    for n in [128] if small else [1024, 2048, 4096]:
        found.append(("matmul %d" % n, "matmul", PRODUCT.format(n=n), {"a": (n, n), "b": (n, n)}, ["f32", "tf32", "f16"]))
    for batch, c, h in [(1, 16, 14)] if small else [(16, 64, 56), (16, 256, 14)]:
        text = WINDOW.format(batch=batch, c=c, h=h)
        found.append(("conv %d×%d×%d×%d" % (batch, c, h, h), "conv", text, {"a": (batch, c, h, h), "b": (c, c, 3, 3)}, ["f32", "tf32", "f16"]))
    rows, n = (64, 128) if small else (8192, 1024)
    found.append(("softmax %d×%d" % (rows, n), "softmax", SOFTMAX.format(rows=rows, n=n), {"a": (rows, n)}, ["f32"]))
    found.append(("argmax %d×%d" % (rows, n), "argmax", ARGMAX.format(rows=rows, n=n), {"a": (rows, n)}, ["f32"]))
    n = 1 << (12 if small else 24)
    found.append(("elementwise %d" % n, "elementwise", ELEMENTWISE.format(n=n), {"a": (n,), "b": (n,)}, ["f32"]))
    n = 64 if small else 1024
    found.append(("max-plus %d" % n, "longest", LONGEST.format(n=n), {"a": (n, n), "b": (n, n)}, ["f32"]))
    if not small:
        found.append(("AlexNet", "alexnet", None, {"input": (1, 3, 224, 224)}, ["f32", "tf32"]))
    return found


def pack(options):
    folder = pathlib.Path(options.folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    described, refused = [], 0
    for number, (name, operation, text, inputs, precisions) in enumerate(models(options.small)):
        for precision in precisions if options.target == "nvptx64" else ["f32"]:
            with tempfile.TemporaryDirectory() as scratch:
                path = ROOT / "examples/alexnet"
                if text:
                    path = pathlib.Path(scratch) / "main.sknd"
                    path.write_text(text)
                made = folder / ("model-%d-%s.skm" % (number, precision))
                command = [options.skript, "compile", str(path), "--target=" + options.target, "--cpu=" + options.cpu, "-o", str(made)]
                # A precision of 16 bits is that of the arrays as well.
                command += ["--gpu-precision=" + precision] * (precision != "f32") + ["--real=" + precision] * (precision == "f16")
                command += ["--gpu-arch=" + options.arch] * (options.target == "nvptx64")
                done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                refused += 1
                print("%s, %s: %s" % (name, precision, done.stderr.strip()[:300]))
                continue
            described.append({"name": name, "operation": operation, "precision": precision, "file": made.name, "inputs": inputs})
    (folder / "models.json").write_text(json.dumps(described))
    print("%d models packed" % len(described))
    if options.suite:
        command = [sys.executable, str(HERE / "carried.py"), "pack", options.suite, str(folder / "suite"), "--skript", options.skript]
        refused += subprocess.run([*command, "--target", options.target, "--cpu", options.cpu]).returncode
    return 1 if refused else 0


def arrays(shapes, precision, scale=1.0):
    random = np.random.default_rng(0)
    kind = np.float16 if precision == "f16" else np.float32
    return {name: (random.standard_normal(shape) * scale).astype(kind) for name, shape in shapes.items()}


def by_runner(model, folder, options, inputs, weights):
    """(milliseconds, result)"""
    with tempfile.TemporaryDirectory() as scratch:
        command = [options.runner, str(folder / model["file"]), "--device=" + options.device, "--repeat", str(options.calls), "--output-dir", scratch]
        for name, array in inputs.items():
            np.save("%s/%s.npy" % (scratch, name), array)
            command += ["--input", "%s=%s/%s.npy" % (name, scratch, name)]
        if weights:
            np.savez(scratch + "/weights.npz", **weights)
            command += ["--weights", scratch + "/weights.npz"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "status %d" % done.returncode)
        measured = json.loads(done.stdout.strip().splitlines()[-1])
        return measured["call_ms"], np.load(scratch + ("/output.npy" if weights else "/c.npy"))


def torch_function(operation, torch):
    functional = torch.nn.functional

    def alexnet(input, w):
        layers = [(1, 4, 0, True), (2, 1, 2, True), (3, 1, 1, False), (4, 1, 1, False), (5, 1, 1, True), (6, 1, 0, False)]
        for n, stride, padding, pools in layers:
            input = functional.relu(functional.conv2d(input, w["kernel%d" % n], w["bias%d" % n], stride, padding))
            input = functional.max_pool2d(input, 3, 2) if pools else input
        input = functional.relu(functional.linear(input.flatten(1), w["kernel7"], w["bias7"]))
        return torch.softmax(functional.linear(input, w["kernel8"], w["bias8"]), 1)

    return {
        "matmul": lambda a, b: a @ b,
        "conv": lambda a, b: functional.conv2d(a, b, padding=1),
        "softmax": lambda a: torch.softmax(a, 1),
        "argmax": lambda a: torch.argmax(a, 1),
        "elementwise": lambda a, b: functional.relu(a * b + 0.5) * torch.sigmoid(a),
        "longest": lambda a, b: torch.stack([(a[i : i + 16, :, None] + b[None]).amax(1) for i in range(0, a.shape[0], 16)]).flatten(0, 1),
        "alexnet": alexnet,
    }[operation]


def least(call, wait, calls):
    for _ in range(3):
        call()
    wait()
    times = []
    for _ in range(calls):
        begun = time.perf_counter()
        call()
        wait()
        times.append(1e3 * (time.perf_counter() - begun))
    return min(times)


def by_torch(model, inputs, weights, calls):
    """{name: milliseconds}, and the result."""
    try:
        import torch
    except ImportError:
        return {}, None
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = model["precision"] == "tf32"
    given = [torch.from_numpy(array).to(device) for array in inputs.values()]
    if weights:
        given.append({name: torch.from_numpy(array).to(device) for name, array in weights.items()})
    function = torch_function(model["operation"], torch)
    times = {}
    with torch.no_grad():
        result = function(*given).cpu().numpy()
        times["torch"] = least(lambda: function(*given), wait, calls)
        try:
            compiled = torch.compile(function)
            times["torch compiled"] = least(lambda: compiled(*given), wait, calls)
        except Exception as error:  # Whatever is not installed there.
            print("torch.compile, %s: %s" % (model["name"], str(error).strip().splitlines()[0][:150]))
    return times, result


def by_jax(model, inputs, calls):
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return {}
    precision = {"f32": "float32", "tf32": "tensorfloat32"}.get(model["precision"])
    functions = {
        "matmul": lambda a, b: jnp.matmul(a, b, precision=precision),
        "conv": lambda a, b: jax.lax.conv_general_dilated(a, b, (1, 1), [(1, 1), (1, 1)], precision=precision),
        "softmax": lambda a: jax.nn.softmax(a, axis=1),
        "argmax": lambda a: jnp.argmax(a, axis=1),
        "elementwise": lambda a, b: jax.nn.relu(a * b + 0.5) * jax.nn.sigmoid(a),
    }
    function = functions.get(model["operation"])
    if not function:
        return {}
    compiled = jax.jit(function)
    given = [jax.device_put(array) for array in inputs.values()]
    return {"XLA": least(lambda: compiled(*given).block_until_ready(), lambda: None, calls)}


TOLERANCE = {"f32": 1e-4, "tf32": 1e-2, "f16": 1e-2}


def run(options):
    folder = pathlib.Path(options.folder)
    wrong = 0
    if (folder / "suite").exists():
        command = [sys.executable, str(HERE / "carried.py"), "run", str(folder / "suite"), "--runner", options.runner]
        wrong += subprocess.run([*command, "--device=" + options.device]).returncode
    columns = ["skript", "torch", "torch compiled", "XLA"]
    lines = ["| model | precision | %s | ratio to the fastest other | result |" % " | ".join(columns), "|---|---|" + "---|" * (len(columns) + 2)]
    for model in json.loads((folder / "models.json").read_text()):
        inputs = arrays(model["inputs"], model["precision"])
        weights = arrays(ALEXNET, "f32", 0.02) if model["operation"] == "alexnet" else None
        times, verdict = {}, "not compared"
        try:
            times, expected = by_torch(model, inputs, weights, options.calls)
            times.update(by_jax(model, inputs, options.calls))
            times["skript"], found = by_runner(model, folder, options, inputs, weights)
            if expected is not None:
                scale = np.max(np.abs(expected.astype(np.float64)), initial=1e-30)
                error = np.max(np.abs(found.astype(np.float64) - expected.astype(np.float64)), initial=0) / scale
                verdict = "differs by %.1e of the largest" % error
                wrong += int(not error <= TOLERANCE[model["precision"]])
        except RuntimeError as error:
            verdict, wrong = "failed: %s" % error, wrong + 1
        others = [times[name] for name in columns[1:] if name in times]
        ratio = "%.2f" % (min(others) / times["skript"]) if others and "skript" in times else ""
        cells = ["%.3f ms" % times[name] if name in times else "" for name in columns]
        lines.append("| %s | %s | %s | %s | %s |" % (model["name"], model["precision"], " | ".join(cells), ratio, verdict))
        print(lines[-1], flush=True)
    if options.table:
        pathlib.Path(options.table).write_text("\n".join(lines) + "\n")
    print("%d failures" % wrong)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("folder")
    packing.add_argument("--skript", required=True)
    packing.add_argument("--arch", default="sm_90")
    packing.add_argument("--target", default="nvptx64", choices=["nvptx64", "vulkan"])
    packing.add_argument("--cpu", default="x86-64-v3")
    packing.add_argument("--suite")
    packing.add_argument("--small", action="store_true")
    packing.set_defaults(command=pack)
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--runner", required=True)
    running.add_argument("--device", default="auto")
    running.add_argument("--calls", type=int, default=20)
    running.add_argument("--table")
    running.set_defaults(command=run)
    options = parser.parse_args()
    return options.command(options)


if __name__ == "__main__":
    sys.exit(main())
