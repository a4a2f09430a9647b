#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares compiled code with the evaluator on random networks.

    networks.py --skript BINARY [--seed S|day] [--count N] [--min-operators N] [--max-operators N] [--kinds NAME,...]
                [--pipelines linalg,linalg-named,scf,affine] [--seconds S] [--jobs N] [--keep DIR] [--reduce] [--times FILE]

A seed determines a network, its inputs and its weights. All pipelines are compared with one run of the evaluator. Wrong results, refusals,
crashes and hangs are failures, except networks that the affine pipeline documents as not supported. --keep keeps the model folders of
failures, and --reduce shrinks the first one: statements are replaced by inputs or removed while the pipeline still fails.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from network_generation import KINDS, generate
from network_reduction import reduce
from network_runs import Case, check

HERE = os.path.relpath(__file__)
PIPELINES = "linalg,linalg-named,scf,affine"


def repeat(args, seed, pipelines):
    """The command that runs a network again in the pipelines that fail."""
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
    """A smaller network that fails in the same pipeline, and its failure."""
    pipeline, reason = next(iter(outcome.failures.items()))
    attempt, reasons, same = [0], {}, symptom(reason)
    one = argparse.Namespace(**{**vars(args), "pipelines": [pipeline] if pipeline != "reference" else []})

    def fails(candidate):
        attempt[0] += 1
        home = os.path.join(folder, "reduced%d" % attempt[0])
        found = check(one, outcome.seed, candidate, home).failures
        shutil.rmtree(home)
        reasons[candidate.write()] = found.get(pipeline)
        return symptom(found.get(pipeline, "")) == same

    smaller = reduce(network, fails)
    return smaller, pipeline, reasons.get(smaller.write(), reason)


def symptom(reason):
    """The symptom that a reduced network must show: the diagnostic without its location, the exit status, or different elements."""
    if "differ" in reason:
        return "differ"
    found = re.search(r"error\[\w+\]: .*|exit status \S+", reason)
    return found.group() if found else reason


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
    # Far from the seeds that commands usually name.
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
