#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures kernels on a computer with a GPU, and compares them with torch and XLA; needs neither the compiler nor a network there.

    measure.py pack FOLDER --skript BINARY [--arch sm_90] [--target nvptx64|vulkan] [--suite SUITE] [--small]
    measure.py run FOLDER --runner SKRIPT-RUN [--device NAME] [--calls N] [--table FILE] [--seconds N]

`pack` compiles the models below into FOLDER, and with `--suite` the cases of a conformance suite (carried.py). `run` needs the folder, the program
skript-run and numpy. It runs the cases, then measures each model with its arrays on the device, by skript-run and, where they are importable,
by torch (eager, compiled) and jax, compares the results with those of torch, and writes a table after each measurement. Libraries run in processes
of their own, with a time limit for each model. A time is the minimum of the calls. `--small` packs small sizes, for
devices that compute on the processor. Exit status 1 if a result differs or a case fails.
"""
import argparse
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Models as text, with the extents of sizes().
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
# The largest sum of two elements: no library has this operation.
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
ATTENTION = """
import linalg;
import math;
import nn;
graph G {{
    @input {{ q: real[{h}, {n}, {c}]; k: real[{h}, {n}, {c}]; v: real[{h}, {n}, {c}]; }}
    @output {{ c: real[{h}, {n}, {c}]; }}
    @compose {{
        s = linalg.matmul{{transB=true}}(q, k);
        scaled = math.mul(s, 0.125);
        w = nn.softmax{{axes=[2]}}(scaled);
        c = linalg.matmul(w, v);
    }}
}}
"""
LAYERNORM = """
import math;
graph G {{
    @input {{ a: real[{rows}, {n}]; }}
    @output {{ c: real[{rows}, {n}]; }}
    @compose {{
        mean = math.mean_reduce{{axes=[1]}}(a);
        shifted = math.sub(a, mean);
        squares = math.mul(shifted, shifted);
        variance = math.mean_reduce{{axes=[1]}}(squares);
        safe = math.add(variance, 0.00001);
        factor = math.rsqrt(safe);
        c = math.mul(shifted, factor);
    }}
}}
"""
# A bottleneck of ResNet-50, and the second half of a layer of BERT.
BOTTLENECK = """
import math;
import nn;
graph G {{
    @input {{ x: real[{batch}, {c}, {h}, {h}]; f: real[{d}, {c}, 1, 1]; g: real[{d}, {d}, 3, 3]; e: real[{c}, {d}, 1, 1]; }}
    @output {{ c: real[{batch}, {c}, {h}, {h}]; }}
    @compose {{
        p = nn.conv{{padding=0}}(x, f);
        narrow = nn.relu(p);
        q = nn.conv{{padding=1}}(narrow, g);
        inner = nn.relu(q);
        r = nn.conv{{padding=0}}(inner, e);
        total = math.add(r, x);
        c = nn.relu(total);
    }}
}}
"""
FEED = """
import math;
import nn;
graph G {{
    @input {{ x: real[{rows}, {n}]; f: real[{m}, {n}]; g: real[{n}, {m}]; }}
    @output {{ c: real[{rows}, {n}]; }}
    @compose {{
        wide = nn.linear(x, f);
        active = nn.gelu(wide);
        narrow = nn.linear(active, g);
        total = math.add(narrow, x);
        mean = math.mean_reduce{{axes=[1]}}(total);
        shifted = math.sub(total, mean);
        squares = math.mul(shifted, shifted);
        variance = math.mean_reduce{{axes=[1]}}(squares);
        safe = math.add(variance, 0.00001);
        factor = math.rsqrt(safe);
        c = math.mul(shifted, factor);
    }}
}}
"""
ALEXNET = {
    "kernel1": (64, 3, 11, 11), "bias1": (64,), "kernel2": (192, 64, 5, 5), "bias2": (192,), "kernel3": (384, 192, 3, 3), "bias3": (384,),
    "kernel4": (384, 384, 3, 3), "bias4": (384,), "kernel5": (256, 384, 3, 3), "bias5": (256,), "kernel6": (4096, 256, 5, 5),
    "bias6": (4096,), "kernel7": (4096, 4096), "bias7": (4096,), "kernel8": (1000, 4096), "bias8": (1000,),
}  # fmt: skip


def models(small):
    """(name, operation, text or None, inputs, precisions) of each model; those with a required ratio are first."""
    found = []

    def add(name, operation, template, inputs, precisions=("f32",), **extents):
        found.append((name, operation, template and template.format(**extents), inputs, list(precisions)))

    def window(batch, c, h):
        inputs = {"a": (batch, c, h, h), "b": (c, c, 3, 3)}
        add("conv %d×%d×%d×%d" % (batch, c, h, h), "conv", WINDOW, inputs, ["f32", "tf32", "f16"], batch=batch, c=c, h=h)

    def product(n):
        add("matmul %d" % n, "matmul", PRODUCT, {"a": (n, n), "b": (n, n)}, ["f32", "tf32", "f16"], n=n)

    product(128 if small else 4096)
    window(*((1, 16, 14) if small else (16, 64, 56)))
    h, n, c = (2, 64, 16) if small else (96, 512, 64)
    shape = (h, n, c)
    add("attention %d×%d×%d" % shape, "attention", ATTENTION, {"q": shape, "k": shape, "v": shape}, ["f32", "tf32", "f16"], h=h, n=n, c=c)
    rows, n = (64, 128) if small else (8192, 1024)
    for name, operation, template in [("softmax", "softmax", SOFTMAX), ("layernorm", "layernorm", LAYERNORM)]:
        add("%s %d×%d" % (name, rows, n), operation, template, {"a": (rows, n)}, rows=rows, n=n)
    count = 1 << (12 if small else 24)
    add("elementwise %d" % count, "elementwise", ELEMENTWISE, {"a": (count,), "b": (count,)}, n=count)
    add("AlexNet", "alexnet", None, {"input": (1, 3, 224, 224)}, ["f32", "tf32"])
    batch, c, d, h = (1, 32, 8, 7) if small else (16, 1024, 256, 14)
    inputs = {"x": (batch, c, h, h), "f": (d, c, 1, 1), "g": (d, d, 3, 3), "e": (c, d, 1, 1)}
    add("bottleneck %d×%d×%d×%d" % (batch, c, h, h), "bottleneck", BOTTLENECK, inputs, ["f32", "tf32", "f16"], batch=batch, c=c, d=d, h=h)
    r, k, m = (32, 64, 128) if small else (1024, 768, 3072)
    add("feed-forward %d×%d" % (r, k), "feed", FEED, {"x": (r, k), "f": (m, k), "g": (k, m)}, ["f32", "tf32", "f16"], rows=r, n=k, m=m)
    add("argmax %d×%d" % (rows, n), "argmax", ARGMAX, {"a": (rows, n)}, rows=rows, n=n)
    n = 64 if small else 1024
    add("max-plus %d" % n, "longest", LONGEST, {"a": (n, n), "b": (n, n)}, n=n)
    if not small:
        product(1024)
        product(2048)
        window(16, 256, 14)
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
                # With 16-bit precisions, arrays have the same type.
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
    # Sums are of order one: otherwise 16-bit weights would overflow.
    return {name: (random.standard_normal(shape) * scale * (1 if n == 0 else SCALES.get(name, 1.0))).astype(kind) for n, (name, shape) in enumerate(shapes.items())}


# Factors of weights.
SCALES = {"f": 0.05, "g": 0.05, "e": 0.05}


def by_runner(model, folder, options, inputs, weights):
    """(milliseconds, result)"""
    with tempfile.TemporaryDirectory() as scratch:
        command = [options.runner, str(folder / model["file"]), "--device=" + options.device, "--repeat", str(options.calls), "--output-dir", scratch]
        for name, array in inputs.items():
            np.save("%s/%s.npy" % (scratch, name), array)
            command += ["--input", "%s=%s/%s.npy" % (name, scratch, name)]
        if weights:
            np.savez(scratch + "/weights.npz", **{"main.AlexNet." + name: array for name, array in weights.items()})
            command += ["--weights", scratch + "/weights.npz"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.model_seconds)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[0] if done.stderr.strip() else "status %d" % done.returncode)
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

    def bottleneck(x, f, g, e):
        inner = functional.relu(functional.conv2d(functional.relu(functional.conv2d(x, f)), g, padding=1))
        return functional.relu(functional.conv2d(inner, e) + x)

    def feed(x, f, g):
        return functional.layer_norm(functional.linear(functional.gelu(functional.linear(x, f)), g) + x, x.shape[1:])

    return {
        "attention": lambda q, k, v: functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=0.125)[0],
        "layernorm": lambda a: functional.layer_norm(a, a.shape[1:]),
        "bottleneck": bottleneck,
        "feed": feed,
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


def torch_engine(model, inputs, weights, calls, is_compiled, out):
    """The milliseconds of a call; the result goes to `out`."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = model["precision"] == "tf32"
    given = [torch.from_numpy(array).to(device) for array in inputs.values()]
    if weights:
        given.append({name: torch.from_numpy(array).to(device) for name, array in weights.items()})
    function = torch_function(model["operation"], torch)
    if is_compiled:
        function = torch.compile(function)
    with torch.no_grad():
        if out:
            np.save(out, function(*given).cpu().numpy())
        return least(lambda: function(*given), wait, calls)


def jax_engine(model, inputs, calls):
    import jax
    import jax.numpy as jnp

    precision = {"f32": "float32", "tf32": "tensorfloat32"}.get(model["precision"])

    def conv(a, b, pad):
        return jax.lax.conv_general_dilated(a, b, (1, 1), [(pad, pad), (pad, pad)], precision=precision)

    def normalized(a):
        shifted = a - a.mean(1, keepdims=True)
        return shifted * jax.lax.rsqrt((shifted * shifted).mean(1, keepdims=True) + 1e-5)

    def attention(q, k, v):
        scores = jnp.einsum("hic,hjc->hij", q, k, precision=precision) * 0.125
        return jnp.einsum("hij,hjc->hic", jax.nn.softmax(scores, axis=2), v, precision=precision)

    def bottleneck(x, f, g, e):
        inner = jax.nn.relu(conv(jax.nn.relu(conv(x, f, 0)), g, 1))
        return jax.nn.relu(conv(inner, e, 0) + x)

    def feed(x, f, g):
        wide = jax.nn.gelu(jnp.matmul(x, f.T, precision=precision), approximate=False)
        return normalized(jnp.matmul(wide, g.T, precision=precision) + x)

    functions = {
        "attention": attention,
        "bottleneck": bottleneck,
        "feed": feed,
        "layernorm": normalized,
        "matmul": lambda a, b: jnp.matmul(a, b, precision=precision),
        "conv": lambda a, b: conv(a, b, 1),
        "softmax": lambda a: jax.nn.softmax(a, axis=1),
        "argmax": lambda a: jnp.argmax(a, axis=1),
        "elementwise": lambda a, b: jax.nn.relu(a * b + 0.5) * jax.nn.sigmoid(a),
    }
    function = functions.get(model["operation"])
    if not function:
        return None
    compiled = jax.jit(function)
    given = [jax.device_put(array) for array in inputs.values()]
    return least(lambda: compiled(*given).block_until_ready(), lambda: None, calls)


def given(model):
    """The inputs and the weights of a model."""
    weights = arrays(ALEXNET, "f32", 0.02) if model["operation"] == "alexnet" else None
    return arrays(model["inputs"], model["precision"]), weights


def serve(options):
    """Measures the model of each input line with another library, and prints a line of JSON. Runs in a process that may crash."""
    described = json.loads((pathlib.Path(options.folder) / "models.json").read_text())
    answers = os.fdopen(os.dup(1), "w")
    # The output of the libraries is not part of the printed JSON.
    os.dup2(2, 1)
    for line in sys.stdin:
        number, out = line.split(" ", 1)
        model = described[int(number)]
        inputs, weights = given(model)
        try:
            if options.engine == "XLA":
                found = jax_engine(model, inputs, options.calls)
            else:
                found = torch_engine(model, inputs, weights, options.calls, options.engine == "torch compiled", out.strip())
            answer = {"ms": found}
        except Exception as error:  # A library that is not installed, or not supported on this computer, may raise any exception.
            answer = {"error": (str(error).strip().splitlines() or [type(error).__name__])[0][:200]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    return 0


# The time limit for the start of a library, in seconds.
STARTING = 45


class Worker:
    """A process that measures with another library; it is restarted after a crash or a time limit."""

    def __init__(self, engine, options):
        self.engine, self.options, self.process = engine, options, None

    def ask(self, number, out, seconds):
        if self.process is None:
            seconds += STARTING
            command = [sys.executable, str(HERE / "measure.py"), "serve", self.options.folder, "--engine", self.engine, "--calls", str(self.options.calls)]
            environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        ready = True
        try:
            self.process.stdin.write("%d %s\n" % (number, out))
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            line = self.process.stdout.readline() if ready else ""
        except OSError:
            line = ""
        if line:
            return json.loads(line)
        # The process may hang, or may have ended.
        self.process.kill()
        self.process.wait()
        ended, self.process = self.process.returncode, None
        return {"error": "no answer within %d s" % seconds if not ready else "the process ended with status %s" % ended}

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


TOLERANCE = {"f32": 1e-4, "tf32": 1e-2, "f16": 1e-2}
ENGINES = ["torch", "torch compiled", "XLA"]


def difference(found, expected):
    scale = np.max(np.abs(expected.astype(np.float64)), initial=1e-30)
    return float(np.max(np.abs(found.astype(np.float64) - expected.astype(np.float64)), initial=0) / scale)


def table(described, results):
    columns = ["skript", *ENGINES]
    lines = ["| model | precision | %s | ratio to the fastest other | result |" % " | ".join(columns), "|---|---|" + "---|" * (len(columns) + 2)]
    for number, model in enumerate(described):
        times, verdict = results[number]["ms"], results[number].get("verdict", "not measured")
        others = [times[name] for name in ENGINES if times.get(name)]
        ratio = "%.2f" % (min(others) / times["skript"]) if others and times.get("skript") else ""
        cells = ["%.3f ms" % times[name] if times.get(name) else "" for name in columns]
        lines.append("| %s | %s | %s | %s | %s |" % (model["name"], model["precision"], " | ".join(cells), ratio, verdict))
    return "\n".join(lines) + "\n"


def run(options):
    folder = pathlib.Path(options.folder)
    begun = time.monotonic()
    wrong = 0
    if (folder / "suite").exists():
        command = [sys.executable, str(HERE / "carried.py"), "run", str(folder / "suite"), "--runner", options.runner]
        wrong += subprocess.run([*command, "--device=" + options.device]).returncode
    described = json.loads((folder / "models.json").read_text())
    results = [{"ms": {}} for _ in described]

    def left():
        return options.seconds - (time.monotonic() - begun)

    def record():
        if options.table:
            pathlib.Path(options.table).write_text(table(described, results))

    def measured(number, engine, answer):
        if answer.get("ms"):
            results[number]["ms"][engine] = answer["ms"]
        print("%s, %s, %s: %s" % (described[number]["name"], described[number]["precision"], engine, answer.get("error") or answer.get("ms")), flush=True)
        record()

    workers = {engine: Worker(engine, options) for engine in ENGINES}
    with tempfile.TemporaryDirectory() as scratch:
        # This compiler's code is measured first, then the other libraries.
        for number, model in enumerate(described):
            if left() < 0:
                break
            out = pathlib.Path(scratch) / "expected.npy"
            out.unlink(missing_ok=True)
            inputs, weights = given(model)
            result = results[number]
            try:
                result["ms"]["skript"], found = by_runner(model, folder, options, inputs, weights)
                result["verdict"] = "not compared"
                measured(number, "skript", {"ms": result["ms"]["skript"]})
            except (RuntimeError, subprocess.TimeoutExpired, OSError, ValueError, LookupError) as error:
                result["verdict"], wrong = "failed: %s" % str(error)[:200], wrong + 1
                measured(number, "skript", {"error": str(error)[:300]})
                continue
            measured(number, "torch", workers["torch"].ask(number, out, options.model_seconds))
            if out.exists():
                error = difference(found, np.load(out))
                result["verdict"] = "differs by %.1e of the largest" % error
                wrong += int(not error <= TOLERANCE[model["precision"]])
        workers["torch"].close()
        for engine in ["XLA", "torch compiled"]:
            for number, model in enumerate(described):
                if left() > 0 and "skript" in results[number]["ms"]:
                    measured(number, engine, workers[engine].ask(number, "", min(options.model_seconds, max(1, left()))))
            workers[engine].close()
    record()
    print(table(described, results))
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
    running.add_argument("--seconds", type=float, default=1e6, help="begin no model after so many seconds")
    running.add_argument("--model-seconds", type=float, default=90, help="the limit of a model by a library")
    running.set_defaults(command=run)
    serving = commands.add_parser("serve")
    serving.add_argument("folder")
    serving.add_argument("--engine", required=True, choices=ENGINES)
    serving.add_argument("--calls", type=int, default=20)
    serving.set_defaults(command=serve)
    options = parser.parse_args()
    return options.command(options)


if __name__ == "__main__":
    sys.exit(main())
