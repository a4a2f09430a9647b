# SPDX-License-Identifier: Apache-2.0
"""Runs a network in every engine and compares the results."""

import os
import subprocess
import time

import numpy as np

from agreement import differing

# Relative to the largest element of a result. Sums in another order differ by 2e-6 in networks of 150 operators.
RTOL, ATOL = 1e-4, 1e-4
# Bytes before the items of a `.dat` file.
HEADER = 128


class Answer:
    """The result of one engine for one network."""

    def __init__(self, status, stderr, seconds, folder):
        self.status, self.stderr, self.seconds, self.folder = status, stderr, seconds, folder

    def arrays(self):
        """Outputs by name, and the new values of variables."""
        found = {}
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".npy"):
                found[name[:-4]] = np.load(os.path.join(self.folder, name))
        state = os.path.join(self.folder, "state")
        for name in sorted(os.listdir(state)) if os.path.isdir(state) else []:
            found["variable " + name[:-4]] = np.fromfile(os.path.join(state, name), np.uint8)[HEADER:].view(np.float32)
        return found


class Case:
    """A network in a folder, with its inputs."""

    def __init__(self, args, seed, network, home):
        self.args, self.seed, self.home = args, seed, home
        os.makedirs(home, exist_ok=True)
        self.text = network.write()
        with open(os.path.join(home, "main.sknd"), "w") as file:
            file.write(self.text)
        self.inputs = []
        for name, array in network.values(seed):
            np.save(os.path.join(home, name), array)
            self.inputs.append("--input=%s=%s" % (name, os.path.join(home, name + ".npy")))

    def command(self, engine, home=None):
        """The arguments of `skript`; the reference engine is the evaluator."""
        home = home or self.home
        how = ["--engine=reference"] if engine == "reference" else ["--pipeline=" + engine, "--no-cache"]
        inputs = [text.replace(self.home, home) for text in self.inputs]
        return ["run", home, "--message-format=short", *how, "--weights=random:%d" % self.seed, *inputs]

    def run(self, engine):
        folder = os.path.join(self.home, "out", engine)
        command = [self.args.skript, *self.command(engine), "--output-dir", folder]
        if "momentum=" in self.text or "@update" in self.text:
            command += ["--save-variables", os.path.join(folder, "state")]
        start = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.args.timeout)
            status, stderr = done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            status, stderr = "no end", "still running after %d s" % self.args.timeout
        return Answer(status, stderr, time.monotonic() - start, folder)


def problem(expected, found):
    """The difference of an answer from that of the evaluator, or `None`."""
    if found.status != 0:
        return "exit status %s: %s" % (found.status, found.stderr.strip()[-400:])
    one, other = expected.arrays(), found.arrays()
    if sorted(one) != sorted(other):
        return "results %s instead of %s" % (sorted(other), sorted(one))
    lines = [line for line in (difference(name, one[name], other[name]) for name in one) if line]
    return "; ".join(lines[:4]) + (", and %d more results" % (len(lines) - 4) if len(lines) > 4 else "") if lines else None


def difference(name, one, other):
    if one.shape != other.shape or one.dtype != other.dtype:
        return "%s: %s%s instead of %s%s" % (name, other.dtype, list(other.shape), one.dtype, list(one.shape))
    scale = max(0.1, np.abs(one).max()) if one.size and one.dtype.kind == "f" else 1.0
    wrong = differing(one, other, RTOL, ATOL * scale)
    if not wrong.any():
        return None
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
    values = np.atleast_1d(other)[at], np.atleast_1d(one)[at]
    return "%s: %d of %d elements differ, at %s %s instead of %s" % (name, wrong.sum(), one.size, list(at), *values)


def unhealthy(arrays):
    """A reason why a comparison of these results is not meaningful, or `None`."""
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return "%s is not finite" % name
        if array.dtype.kind == "f" and array.size and np.abs(array).max() > 1e6:
            return "%s is as large as %g" % (name, np.abs(array).max())
    return None


class Outcome:
    def __init__(self, seed, operators, variables):
        self.seed, self.operators, self.variables = seed, operators, variables
        self.failures, self.left, self.seconds = {}, [], {}


def check(args, seed, network, home):
    """Runs a network in every engine and compares."""
    case = Case(args, seed, network, home)
    outcome = Outcome(seed, len(network.statements), len(network.variables))
    expected = case.run("reference")
    outcome.seconds["reference"] = expected.seconds
    reason = "exit status %s: %s" % (expected.status, expected.stderr.strip()[-400:]) if expected.status else unhealthy(expected.arrays())
    if reason:
        outcome.failures["reference"] = reason
        return outcome
    for pipeline in args.pipelines:
        found = case.run(pipeline)
        outcome.seconds[pipeline] = found.seconds
        if pipeline == "affine" and found.status == 1 and "SK8001" in found.stderr:
            outcome.left.append(pipeline)
            continue
        reason = problem(expected, found)
        if reason:
            outcome.failures[pipeline] = reason
    return outcome
