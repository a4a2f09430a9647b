#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of all optimizers compared with numpy, in f32 and f64; and trainings that are killed at random moments and continued, whose
files must equal those of a training without interruption; and the examples that train.

    run.py --skript BINARY [--kills N]
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "inputs", "regression.sknd")
STEPS = 5


def gradients(w, b, x, t):
    """The gradients of mean((x wᵀ + b − t)²)."""
    d = 2 * (x @ w.T + b - t) / t.size
    return [d.T @ x, d.sum(axis=0)]


def sgd(rate, momentum=0.0, nesterov=False, decay=0.0):
    def step(w, g, factor, state, n):
        g = g + decay * w
        if momentum:
            state["v"] = momentum * state.get("v", 0) + g
            g = g + momentum * state["v"] if nesterov else state["v"]
        return w - factor * rate * g
    return step


def adam(rate=1e-3, beta1=0.9, beta2=0.999, decay=0.0, decoupled=False):
    def step(w, g, factor, state, n):
        if decoupled:
            w = w - factor * rate * decay * w
        else:
            g = g + decay * w
        state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * g
        state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * g ** 2
        m, v = state["m"] / (1 - beta1 ** n), state["v"] / (1 - beta2 ** n)
        return w - factor * rate * m / (np.sqrt(v) + 1e-8)
    return step


def rmsprop(rate, momentum=0.0):
    def step(w, g, factor, state, n):
        state["s"] = 0.99 * state.get("s", 0) + 0.01 * g ** 2
        state["v"] = momentum * state.get("v", 0) + g / (np.sqrt(state["s"]) + 1e-8)
        return w - factor * rate * state["v"]
    return step


def lion(rate, decay):
    def step(w, g, factor, state, n):
        m = state.get("m", 0)
        state["m"] = 0.99 * m + 0.01 * g
        return w - factor * rate * (np.sign(0.9 * m + 0.1 * g) + decay * w)
    return step


def by_norm(limit):
    def clip(gs):
        norm = np.sqrt(sum((g ** 2).sum() for g in gs))
        return [g * min(1, limit / norm) for g in gs]
    return clip


CASES = [
    ("optim.sgd{rate=0.1}", [], sgd(0.1), None, None),
    ("optim.sgd{rate=0.1, momentum=0.9, decay=0.01}", [], sgd(0.1, 0.9, decay=0.01), None, None),
    ("optim.sgd{rate=0.1, momentum=0.9, nesterov=true}", [], sgd(0.1, 0.9, True), None, None),
    ("optim.adam", [], adam(), None, None),
    ("optim.adam{rate=0.05, decay=0.1}", [], adam(0.05, decay=0.1), None, None),
    ("optim.adamw{rate=0.05, decay=0.1}", ["--schedule", "optim.cosine{steps=5, warmup=2}"], adam(0.05, decay=0.1, decoupled=True),
     lambda n: n / 2 if n <= 2 else 0.5 * (1 + np.cos(np.pi * (n - 3) / 3)), None),
    ("optim.rmsprop{rate=0.05}", ["--schedule", "optim.staircase{every=2, decay=0.5}"], rmsprop(0.05), lambda n: 0.5 ** ((n - 1) // 2), None),
    ("optim.rmsprop{rate=0.05, momentum=0.9}", [], rmsprop(0.05, 0.9), None, None),
    ("optim.lion{rate=0.02, decay=0.1}", ["--schedule", "optim.constant{factor=0.5}"], lion(0.02, 0.1), lambda n: 0.5, None),
    ("optim.sgd{rate=0.1}", ["--clip-norm", "0.25"], sgd(0.1), None, by_norm(0.25)),
    ("optim.sgd{rate=0.1}", ["--clip-value", "0.125"], sgd(0.1), None, lambda gs: [np.clip(g, -0.125, 0.125) for g in gs]),
    ("optim.sgd{rate=0.1}", ["--clip-value", "0.125", "--clip-norm", "0.25"], sgd(0.1), None,
     lambda gs: by_norm(0.25)([np.clip(g, -0.125, 0.125) for g in gs])),
]


def dat(path, kind):
    with open(path, "rb") as file:
        return np.frombuffer(file.read()[128:], kind)


def check_steps(skript, folder, draw):
    model = os.path.join(folder, "regression")
    os.makedirs(model)
    shutil.copy(MODEL, os.path.join(model, "main.sknd"))
    for real, kind, tolerance in [("f32", np.float32, 2e-5), ("f64", np.float64, 1e-12)]:
        arrays = {name: draw.standard_normal(shape).astype(kind)
                  for name, shape in [("w", (4, 3)), ("bias", 4), ("unused", 2), ("x", (8, 3)), ("t", (8, 4))]}
        np.savez(os.path.join(model, "main.npz"), **{"main.Regression." + name: arrays[name] for name in ("w", "bias", "unused")})
        np.savez(os.path.join(folder, "inputs.npz"), x=arrays["x"], t=arrays["t"])
        for optimizer, flags, step, schedule, clip in CASES:
            written, saved = os.path.join(folder, "step"), os.path.join(folder, "saved")
            for old in (written, saved):
                shutil.rmtree(old, ignore_errors=True)
            subprocess.run([skript, "grad", model, "--real", real, "--train", optimizer, *flags, "-o", written], check=True)
            subprocess.run([skript, "fmt", "--check", os.path.join(written, "main.sknd")], check=True)
            subprocess.run([skript, "run", written, "--no-cache", "--input", os.path.join(folder, "inputs.npz"), "--repeat", str(STEPS),
                            "--save-variables", saved], check=True, stdout=subprocess.DEVNULL)
            values = {name: array.astype(np.float64) for name, array in arrays.items()}
            weights, states = [values["w"], values["bias"]], [{}, {}]
            for n in range(1, STEPS + 1):
                gs = gradients(*weights, values["x"], values["t"])
                gs = clip(gs) if clip else gs
                factor = schedule(n) if schedule else 1.0
                weights = [step(w, g, factor, state, n) for w, g, state in zip(weights, gs, states)]
            for name, want in zip(["w", "bias"], weights):
                found = dat(os.path.join(saved, "main.RegressionTraining.%s.dat" % name), kind).reshape(want.shape)
                np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance, err_msg="%s, %s of %s" % (real, name, optimizer))
    print("steps: %d optimizers with numpy's results in f32 and f64" % len(CASES))


def files(folder):
    found = {}
    for name in ("main.safetensors", "checkpoint.safetensors", "best.safetensors", "loss.csv", "loss.svg"):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def check_kills(skript, folder, draw, kills):
    x = draw.standard_normal((400, 3)).astype(np.float32)
    t = (x @ draw.standard_normal((3, 4)) + 0.1 * draw.standard_normal((400, 4))).astype(np.float32)
    np.savez(os.path.join(folder, "data.npz"), x=x[:300], t=t[:300])
    np.savez(os.path.join(folder, "held.npz"), x=x[300:], t=t[300:])
    command = [skript, "train", MODEL, "--data", os.path.join(folder, "data.npz"), "--validation", os.path.join(folder, "held.npz"),
               "--weights", "random:1", "--optimizer", "optim.adam{rate=1e-2}", "--schedule", "optim.cosine{steps=2000}",
               "--epochs", "20", "--patience", "20", "--checkpoint-interval", "0"]
    whole = os.path.join(folder, "whole")
    begun = time.monotonic()
    subprocess.run(command + ["-o", whole, "--threads", "1"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    span = time.monotonic() - begun
    choose = random.Random(7)
    killed = 0
    for attempt in range(kills):
        parts = os.path.join(folder, "parts%d" % attempt)
        for part in range(60):
            resume = ["--resume"] if os.path.exists(os.path.join(parts, "checkpoint.safetensors")) else ["--force"]
            process = subprocess.Popen(command + ["-o", parts, "--threads", "2"] + resume, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            # The first process ends after its first checkpoint, the others at random moments.
            while part == 0 and process.poll() is None and not os.path.exists(os.path.join(parts, "checkpoint.safetensors")):
                time.sleep(0.001)
            try:
                process.wait(timeout=0 if part == 0 else choose.uniform(0.2, 1.0) * span)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
        if process.returncode:
            sys.exit(process.stderr.read().decode())
        if files(parts) != files(whole):
            sys.exit("the files of a continued training differ from those of one without interruption")
    assert killed, "no training was killed"
    more = subprocess.run(command[:-6] + ["--epochs", "25", "--patience", "20", "-o", whole, "--resume"], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL)
    assert more.returncode == 0 and more.stdout.splitlines()[0].startswith("epoch 21:"), more
    print("continued: %d trainings, killed %d times, have the files of one without interruption" % (kills, killed))


def check_examples(skript, folder, draw):
    """The network of examples/digits on noisy patterns, and the parameters of examples/operator-learning."""
    examples = os.path.join(HERE, "..", "..", "examples")
    patterns = draw.uniform(0, 1, (10, 1, 8, 8))
    for name, count in [("train", 640), ("test", 128)]:
        label = draw.integers(0, 10, count)
        image = patterns[label] + 0.3 * draw.standard_normal((count, 1, 8, 8))
        np.savez(os.path.join(folder, name + ".npz"), image=image.astype(np.float32), label=label)
    trained, image = os.path.join(folder, "digits"), os.path.join(folder, "image.npy")
    subprocess.run([skript, "train", os.path.join(examples, "digits"), "--graph", "Training", "--of", "loss", "--weights", "random:1", "--data",
                    os.path.join(folder, "train.npz"), "--validation", os.path.join(folder, "test.npz"), "--batch", "32", "--epochs", "4",
                    "-o", trained], check=True, stdout=subprocess.DEVNULL)
    accuracy = np.genfromtxt(os.path.join(trained, "loss.csv"), delimiter=",", names=True)["validation_accuracy"][-1]
    assert accuracy >= 0.95, accuracy
    np.save(image, patterns.astype(np.float32))
    subprocess.run([skript, "run", trained, "--input", "image=" + image, "--output-dir", folder], check=True)
    assert np.load(os.path.join(folder, "scores.npy")).argmax(axis=1).tolist() == list(range(10))
    script = os.path.join(examples, "operator-learning", "data.py")
    samples, learned = os.path.join(folder, "samples.npz"), os.path.join(folder, "learned")
    subprocess.run([sys.executable, script, "make", samples], check=True)
    subprocess.run([skript, "train", os.path.join(examples, "operator-learning"), "--data", samples, "--weights", "random:1", "--epochs", "40",
                    "--optimizer", "optim.adam{rate=1e-2}", "--schedule", "optim.cosine{steps=1280}", "-o", learned], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, script, "check", learned], check=True, stdout=subprocess.DEVNULL)
    print("examples: the network classifies %.1f %% of the patterns, and the parameters of the filters are learned" % (100 * accuracy))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--kills", type=int, default=3)
    arguments = parser.parse_args()
    skript = os.path.abspath(arguments.skript)
    with tempfile.TemporaryDirectory(prefix="training_") as folder:
        draw = np.random.default_rng(5)
        check_steps(skript, folder, draw)
        check_kills(skript, folder, draw, arguments.kills)
        check_examples(skript, folder, draw)


main()
