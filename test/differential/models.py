#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares compiled code with the evaluator on random models.

    models.py [--skript BINARY] [--seed S|day] [--count N] [--seconds S] [--pipelines linalg,linalg-named,scf,affine] [--keep DIR]

A model is a graph of operators with random formulas, operators of the library, composite operators, branches, loops, packs, dynamic
extents, variables and updates. A round of 25 models has one setting: element types, level of fast math, number of threads, sizes of
caches. With f64 and --fast-math=none, all bits must be those of the evaluator, also for NaN, infinities and extreme ints. Wrong results,
crashes, hangs and refusals by one engine only are failures; each is reduced, and kept with its arrays and commands in --keep.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time

import numpy as np

from model_generation import Model
from model_rewriting import rewritten
from model_runs import Case, Setting, arrays, problems, symptom
from text_reduction import reduced

PIPELINES = "linalg,linalg-named,scf,affine"
ROUND = 25


def shrink(args, case, pipeline, problem, folder):
    """The text of a smaller model with the same symptom."""
    wanted, tries = symptom(problem), [0]

    def fails(texts):
        tries[0] += 1
        home = os.path.join(folder, "reduced%d" % tries[0])
        cases = [Case(os.path.join(home, str(at)), text, case.inputs, case.variables, case.setting) for at, text in enumerate(texts)]
        found, _ = problems(args.skript, cases, [p for p in [pipeline] if p != "reference"], folder)
        shutil.rmtree(home)
        return [symptom(one.get(pipeline)) == wanted for one in found]

    return reduced(case.rewritten or case.text, fails)


def report(args, seed, case, found, folder):
    pipeline, problem = next(iter(found.items()))
    print("--- model %d, %s, %s %s: %s" % (seed, ",".join(found), " ".join(case.setting.types()), " ".join(case.setting.options), problem))
    text = shrink(args, case, pipeline, problem, folder) if args.reduce else case.rewritten or case.text
    print(text)
    sys.stdout.flush()
    if not args.keep:
        return
    home = os.path.join(args.keep, str(seed))
    kept = Case(home, text, case.inputs, case.variables, case.setting)
    with open(os.path.join(home, "failure.txt"), "w") as file:
        file.write(problem + "\n")
        for flags in (["--engine=reference"], ["--pipeline=" + pipeline, "--no-cache", *case.setting.options]):
            file.write(" ".join([args.skript, "run", *flags, *kept.arguments(flags[0].split("=")[1], case.setting.types())]) + "\n")
    with open(os.path.join(home, "original.sknd"), "w") as file:
        file.write(case.text)
    np.savez(os.path.join(home, "arrays.npz"), **case.inputs, **case.variables)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", default="target/release/skript")
    parser.add_argument("--seed", default="1", help="seed of the first round; 'day': another one each day")
    parser.add_argument("--count", type=int, default=100, help="number of models")
    parser.add_argument("--seconds", type=float, help="begin no round later than this")
    parser.add_argument("--pipelines", default=PIPELINES)
    parser.add_argument("--one-pipeline", action="store_true", help="another pipeline in each round instead of all of them")
    parser.add_argument("--rewrite", action="store_true", help="compile an equivalent rewriting of each model")
    parser.add_argument("--keep", help="folder for models that fail")
    parser.add_argument("--progress", action="store_true", help="print the numbers after each 500 models")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false", help="print failing models as they are")
    args = parser.parse_args()
    args.pipelines = args.pipelines.split(",")
    # Far from the seeds that commands usually name.
    args.seed = 1_000_000 * time.localtime().tm_yday if args.seed == "day" else int(args.seed)
    return args


def main():
    args = arguments()
    start, computed, refused, failures = time.monotonic(), 0, 0, 0
    number = 0
    while number < args.count and (not args.seconds or time.monotonic() - start < args.seconds):
        setting = Setting(random.Random(args.seed + number))
        with tempfile.TemporaryDirectory(prefix="models_") as folder:
            cases, seeds = [], range(args.seed + number, args.seed + min(number + ROUND, args.count))
            for seed in seeds:
                model = Model(seed, setting.functions, setting.is_large)
                made = arrays(model, setting, seed)
                inputs = {value.name: made[value.name] for value in model.inputs}
                variables = {value.name: made[value.name] for value in model.variables}
                other = rewritten(model, random.Random(seed)) if args.rewrite else None
                cases.append(Case(os.path.join(folder, str(seed)), model.text(), inputs, variables, setting, other))
            pipelines = [random.Random(args.seed + number).choice(args.pipelines)] if args.one_pipeline else args.pipelines
            found, statuses = problems(args.skript, cases, pipelines, folder)
            computed += statuses.count(0)
            refused += statuses.count(1)
            for seed, case, one in zip(seeds, cases, found):
                if one:
                    failures += 1
                    report(args, seed, case, one, folder)
        number += len(seeds)
        if args.progress and number % (20 * ROUND) == 0:
            print("%d models, %d computed, %d fail; %d s" % (number, computed, failures, time.monotonic() - start), flush=True)
    print("models: %d from seed %d on, %d computed, %d refused alike, %d fail; %d s"
          % (number, args.seed, computed, refused, failures, time.monotonic() - start))
    return 1 if failures or computed < number // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
