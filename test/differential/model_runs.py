# SPDX-License-Identifier: Apache-2.0
"""Runs models in the evaluator and in compiled code, many in one process, and compares the results."""

import json
import os
import re
import subprocess

import numpy as np

from model_operators import BOUND

# By element type: the relative tolerance, and the absolute one for elements near 1.
TOLERANCES = {"f16": (1e-2, 4e-3), "bf16": (8e-2, 4e-2), "f32": (1e-4, 1e-5), "f64": (1e-11, 1e-12)}
SPECIAL = [np.nan, np.inf, -np.inf, -0.0]
# Only if all bits are compared.
UNUSUAL = SPECIAL + [1e-310, 1e300, 0.1, -3.7]
EXTREME = [-(2**63), 2**63 - 1, -(2**31), 127, -128, 1 << 40]


class Setting:
    """The types and options of a round of models."""

    def __init__(self, random):
        self.real = random.choice(["f32"] * 4 + ["f64"] * 3 + ["f16", "bf16"])
        self.int = random.choice(["i64"] * 5 + ["i32", "i16", "i8"])
        self.fast_math = random.choice(["none", "default", "default"])
        self.threads = random.choice([1, 2])
        # The bits of the evaluator are expected: docs/numerics.md.
        self.is_exact = self.real == "f64" and self.fast_math == "none"
        self.functions = not self.is_exact and random.random() < 0.3
        self.has_special_values = random.random() < 0.4
        self.is_rounded = random.random() < 0.3
        self.is_large = random.random() < 0.4
        self.options = ["--threads=%d" % self.threads, "--fast-math=" + self.fast_math]
        if random.random() < 0.3:
            self.options.append("--cache-bytes=2048,8192,32768")

    def types(self):
        return ["--real=" + self.real, "--int=" + self.int]


def arrays(model, setting, seed):
    """Arrays for the inputs and variables of a model, by name."""
    rng = np.random.default_rng(seed)
    extent = int(rng.integers(0 if seed % 8 == 0 else 1, BOUND + 1))
    found = {}
    for value in model.inputs + model.variables:
        shape = [extent if e == "n" else e for e in value.shape]
        if value.length is not None:
            shape = [value.length] + shape
        if value.name == "steps":
            array = rng.integers(0, 4, shape)
        elif value.kind == "bool":
            array = rng.random(shape) < 0.5
        elif value.kind == "int":
            array = rng.integers(-4, 9, shape)
            if setting.has_special_values and setting.int == "i64":
                array = np.where(rng.random(shape) < 0.2, rng.choice(np.array(EXTREME), shape), array)
        else:
            # Multiples of 1/2: sums of a few are exact in any order.
            array = rng.integers(-8, 9, shape) / 2
            if setting.is_rounded:
                array = rng.normal(0, 2, shape)
            if setting.has_special_values:
                array = np.where(rng.random(shape) < 0.1, rng.choice(UNUSUAL if setting.is_exact else SPECIAL, shape), array)
        found[value.name] = np.asarray(array)
    return found


class Case:
    """A model in a folder, with its arrays; `rewritten` is an equivalent text for compiled code."""

    def __init__(self, home, text, inputs, variables, setting, rewritten=None):
        self.home, self.text, self.rewritten, self.setting = home, text, rewritten, setting
        # Names of variables begin with the name of the file.
        for path, contents in (("main.sknd", text), ("rewritten/main.sknd", rewritten)):
            if contents:
                path = os.path.join(home, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(contents)
        self.inputs, self.variables, self.arrays = inputs, variables, {}

    def declared(self, name, block):
        found = re.search(r"graph G \{.*?@%s \{([^}]*)\}" % block, self.text, re.S)
        return bool(found and re.search(r"\b%s:" % name, found.group(1)))

    def arguments(self, engine, types):
        real = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}[types[0].split("=")[1]]
        folder = os.path.join(self.home, types[0][2:])
        os.makedirs(folder, exist_ok=True)
        is_rewritten = self.rewritten and engine not in ("reference", "precise")
        path = os.path.join(self.home, "rewritten/main.sknd" if is_rewritten else "main.sknd")
        made = ["--message-format=short", path, *types, "--output-dir", self.output(engine)]
        for name, array in self.inputs.items():
            if self.declared(name, "input"):
                items = array if name == "pack" else [array]
                paths = [os.path.join(folder, "%s%d.npy" % (name, at)) for at in range(len(items))]
                for path, item in zip(paths, items):
                    np.save(path, item.astype(real) if item.dtype.kind == "f" else item)
                made += ["--input", "%s=%s" % (name, ",".join(paths))]
        weights = {"main.G." + name: array.astype(real) for name, array in self.variables.items() if self.declared(name, "variable")}
        if weights:
            path = os.path.join(folder, "weights.npz")
            np.savez(path, **weights)
            made += ["--variables", path]
        if "@update" in self.text:
            made += ["--save-variables", os.path.join(self.output(engine), "state")]
        return made

    def output(self, engine):
        return os.path.join(self.home, "out-" + engine)

    def results(self, engine):
        """The outputs and new values of variables, by name."""
        found = {}
        for folder, _, files in os.walk(self.output(engine)):
            for file in files:
                path = os.path.join(folder, file)
                if file.endswith(".npy"):
                    found[file] = np.load(path)
                elif file.endswith(".dat"):
                    found[file] = np.frombuffer(open(path, "rb").read(), np.uint8)
        return found


def run(skript, options, cases, engine, flags, types, folder, timeout=120):
    """(exit status, stderr) of each case. After a crash of the process, the remaining cases run in another one."""
    answers = []
    while len(answers) < len(cases):
        batch = os.path.join(folder, "batch.jsonl")
        with open(batch, "w") as file:
            for case in cases[len(answers):]:
                file.write(json.dumps(flags + case.arguments(engine, types)) + "\n")
        try:
            done = subprocess.run([skript, "run", *options, "--output-dir", folder, "--batch", batch], capture_output=True, text=True, timeout=timeout)
            status, stdout, stderr = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as error:
            status, stdout, stderr = "no end", (error.stdout or b"").decode(), "still running after %d s" % timeout
        lines = [json.loads(line) for line in stdout.splitlines() if line.endswith("}")]
        answers += [(line["exit"], line["stderr"]) for line in lines]
        # On a busy machine, the time may be too short for all cases: the next process begins with the first one without an answer.
        if len(answers) < len(cases) and not (status == "no end" and lines):
            answers.append((status, "crash: " + stderr[-600:]))
    return answers


def close(one, other, rtol, atol):
    """Where two arrays agree."""
    if one.dtype.kind not in "f":
        return one == other
    with np.errstate(all="ignore"):
        one, other = one.astype(np.float64), other.astype(np.float64)
        finite = np.abs(one[np.isfinite(one)])
        scale = max(1.0, finite.max()) if finite.size else 1.0
        return np.isclose(other, one, rtol=rtol, atol=atol * scale, equal_nan=True) | (one == other)


def difference(case, precise, found):
    """A text about results that differ from those of the evaluator, or `None`. Elements for which the evaluator's results in f64 differ,
    because they depend on rounding, are not compared."""
    setting = case.setting
    expected, found = case.results("reference"), case.results(found)
    wide = case.results(precise) if precise else expected
    if sorted(expected) != sorted(found):
        return "results %s instead of %s" % (sorted(found), sorted(expected))
    rtol, atol = TOLERANCES[setting.real]
    for name, one in sorted(expected.items()):
        other = found[name]
        if one.shape != other.shape or one.dtype != other.dtype:
            return "%s is %s%s instead of %s%s" % (name, other.dtype, other.shape, one.dtype, one.shape)
        if setting.is_exact:
            wrong = ~close(one, other, 0, 0)
        elif name.endswith(".dat"):
            continue
        else:
            with np.errstate(all="ignore"):
                wrong = ~close(one, other, rtol, atol) & close(one, wide[name].astype(one.dtype), rtol / 10, atol / 10)
        if wrong.any():
            at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
            return "%s: %d of %d elements differ, at %s %s instead of %s" % (
                name, wrong.sum(), one.size, list(at), np.atleast_1d(other)[at], np.atleast_1d(one)[at])
    return None


def symptom(problem):
    """The symptom that a reduced model must show: a diagnostic without its location, a crash, or different elements."""
    if problem is None:
        return None
    found = re.search(r"error\[\w+\]: .*|panicked at \S+", problem)
    return found.group()[:60] if found else re.sub(r"[\d.]+.*", "", problem)[:24]


def code(said):
    return re.findall(r"error\[(\w+)\]", said)[:1]


def problems(skript, cases, pipelines, folder):
    """For each case, the problems by pipeline. `reference` stands for an internal error or crash of the evaluator. Also whether the
    evaluator computed the case."""
    setting = cases[0].setting
    expected = run(skript, [], cases, "reference", ["--engine=reference"], setting.types(), folder)
    precise = None if setting.real == "f64" else "precise"
    if precise:
        run(skript, [], cases, precise, ["--engine=reference"], ["--real=f64", setting.types()[1]], folder)
    found = [{} for _ in cases]
    for at, (status, said) in enumerate(expected):
        if status not in (0, 1) or "SK9199" in said:
            found[at]["reference"] = "exit %s: %s" % (status, said)
    for pipeline in pipelines:
        flags = ["--pipeline=" + pipeline, "--no-cache"]
        answers = run(skript, setting.options, cases, pipeline, flags, setting.types(), folder)
        for at, (status, said) in enumerate(answers):
            known, reason = expected[at]
            if pipeline == "affine" and status == 1 and "cannot become affine" in said:
                continue
            if status != known:
                found[at][pipeline] = "exit %s instead of %s: %s%s" % (status, known, said, reason)
            elif status == 1 and code(said) != code(reason):
                found[at][pipeline] = "refused as %s instead of %s" % (said, reason)
            elif status == 0:
                text = difference(cases[at], precise, pipeline)
                if text:
                    found[at][pipeline] = text
    return found, [status for status, _ in expected]
