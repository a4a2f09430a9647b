#!/usr/bin/env python3
"""Random networks through the evaluator and through compiled code: the answers must agree.

    networks.py --skript BINARY [--seed S|day] [--count N] [--min-operators N] [--max-operators N] [--kinds NAME,...]
                [--pipelines linalg,linalg-named,scf,affine] [--seconds S] [--jobs N] [--keep DIR] [--reduce] [--times FILE]

A seed decides a network, its inputs and its weights. One run of the evaluator serves all pipelines; wrong results, refusals, crashes and
hangs are failures, but for what the affine pipeline declares not to take. --keep keeps the model folders of failures, and --reduce
shrinks the first one: statements become inputs or fall away as long as the pipeline still fails.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from agreement import differing
from network_generation import KINDS, generate
from network_reduction import reduce

HERE = os.path.relpath(__file__)
PIPELINES = "linalg,linalg-named,scf,affine"
# Relative to a result's largest element. Sums in another order differ by 2e-6 in networks of 150 operators.
RTOL, ATOL = 1e-4, 1e-4
# Bytes before the items of a `.dat` file.
HEADER = 128


class Answer:
    """What one engine returned for one network."""

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
        self.args, self.seed, self.network, self.home = args, seed, network, home
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
    """How an answer differs from the evaluator's; `None`: it does not."""
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
    """A reason why comparing these results would not mean much."""
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


def repeat(args, seed, pipelines):
    """The command that repeats a network, in the pipelines that fail."""
    kinds = " --kinds %s" % ",".join(args.kinds) if args.kinds else ""
    engines = "" if pipelines == ["reference"] else " --pipelines " + ",".join(pipelines)
    return ".venv/bin/python %s --skript %s --seed %d --count 1 --min-operators %d --max-operators %d%s%s" % (
        HERE, args.skript, seed, args.min_operators, args.max_operators, kinds, engines)


def keep(args, name, seed, network, text):
    """A model folder with its inputs and the commands that run it."""
    home = os.path.join(args.keep, name)
    case = Case(args, seed, network, home)
    with open(os.path.join(home, "failure.txt"), "w") as file:
        file.write(text + "\n")
        for engine in ["reference"] + args.pipelines:
            file.write(" ".join([args.skript, *case.command(engine)]) + "\n")
    return home


def shrink(args, outcome, network, folder):
    """A smaller network that fails in the same pipeline, and how it fails."""
    pipeline = next(iter(outcome.failures))
    attempt, reasons = [0], {}
    one = argparse.Namespace(**{**vars(args), "pipelines": [pipeline] if pipeline != "reference" else []})

    def fails(candidate):
        attempt[0] += 1
        home = os.path.join(folder, "reduced%d" % attempt[0])
        found = check(one, outcome.seed, candidate, home).failures
        shutil.rmtree(home)
        reasons[candidate.write()] = found.get(pipeline)
        return pipeline in found

    smaller = reduce(network, fails)
    return smaller, pipeline, reasons.get(smaller.write(), outcome.failures[pipeline])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--seed", default="1", help="seed of the first network; 'day': another one each day")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--min-operators", type=int, default=20)
    parser.add_argument("--max-operators", type=int, default=150)
    parser.add_argument("--kinds", help="blocks to draw from: " + ", ".join(KINDS))
    parser.add_argument("--pipelines", default=PIPELINES)
    parser.add_argument("--seconds", type=float, help="begin no network later than this")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of one engine")
    parser.add_argument("--jobs", type=int, default=2, help="how many networks at a time")
    parser.add_argument("--keep", help="folder for models that fail")
    parser.add_argument("--reduce", action="store_true", help="shrink the first network that fails; needs --keep")
    parser.add_argument("--times", help="file for the times of each network, one JSON object a line")
    args = parser.parse_args()
    if args.reduce and not args.keep:
        parser.error("--reduce needs --keep DIR for the smaller model")
    args.pipelines = args.pipelines.split(",")
    args.kinds = args.kinds.split(",") if args.kinds else []
    for kind in args.kinds:
        if kind not in KINDS:
            parser.error("no kind of blocks is called %s" % kind)
    # Far from the seeds that somebody writes down.
    args.seed = 1_000_000 + 1_000 * time.localtime().tm_yday if args.seed == "day" else int(args.seed)
    return args


def report(args, outcome, network):
    for pipeline, reason in outcome.failures.items():
        print("--- seed %d, %s, %d operators: %s" % (outcome.seed, pipeline, outcome.operators, reason))
    text = repeat(args, outcome.seed, list(outcome.failures))
    print("    repeat: " + text)
    if args.keep:
        print("    model: " + keep(args, str(outcome.seed), outcome.seed, network, text))
    sys.stdout.flush()


def main():
    args = arguments()
    start, outcomes = time.monotonic(), []
    with tempfile.TemporaryDirectory(prefix="networks_") as folder, ThreadPoolExecutor(args.jobs) as pool:

        def one(seed):
            if args.seconds and time.monotonic() - start > args.seconds:
                return None
            network = generate(seed, args.min_operators, args.max_operators, args.kinds)
            home = os.path.join(folder, str(seed))
            outcome = check(args, seed, network, home)
            shutil.rmtree(home)
            return outcome, network

        for done in pool.map(one, range(args.seed, args.seed + args.count)):
            if done is None:
                continue
            outcome, network = done
            outcomes.append(outcome)
            if args.times:
                with open(args.times, "a") as file:
                    file.write(json.dumps(vars(outcome)) + "\n")
            if not outcome.failures:
                continue
            report(args, outcome, network)
            if args.reduce:
                smaller, pipeline, reason = shrink(args, outcome, network, folder)
                home = keep(args, "%d-reduced" % outcome.seed, outcome.seed, smaller, "%s: %s" % (pipeline, reason))
                print("    reduced to %d operators: %s: %s\n    model: %s" % (len(smaller.statements), pipeline, reason, home))
                args.reduce = False
    failed = sum(bool(outcome.failures) for outcome in outcomes)
    sizes = [outcome.operators for outcome in outcomes] or [0]
    print("networks: %d of %d from seed %d on, of %d to %d operators, affine leaves %d, %d differ; %d s"
          % (len(outcomes), args.count, args.seed, min(sizes), max(sizes), sum(len(o.left) for o in outcomes), failed, time.monotonic() - start))
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
