#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the costs of a processor (`passes/src/schedule/costs.rs`) to measurements of `skript tune` on it.

    .venv/bin/python bench/fit_costs.py MODEL… [--calls 8] [--threads 1]

Measures every plan of every kernel of each model. Then changes one cost at a time, as long as this reduces the time of the kernels
with the plans that the cost model selects. A plan that was not measured counts as slightly slower than the selected one.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VALUES = {
    "fma-latency": [2, 3, 4, 5, 6, 8],
    "l2-bytes": [8, 12, 16, 24, 32, 48, 64],
    "predicate-cycles": [0, 1, 2, 4, 8],
    "load-percent": [0, 2, 5, 10, 20, 40],
    "packing-rows": [16, 32, 48, 64, 96],
    "scatter-steps": [2, 4, 8, 16, 32],
}
UNKNOWN = 1.02
PLAN = re.compile(r'skript\.plan = \["(\w+)", "(\d+)", "\d+", "([^"]*)"\]')


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, **options)
    if done.returncode:
        raise SystemExit("%s: %s" % (" ".join(command), done.stderr.strip()))
    return done.stdout


class Model:
    """A model before scheduling, and the times of the plans of its kernels."""

    def __init__(self, path, folder, tools, options):
        self.opt = os.path.join(tools, "skript-opt")
        skript = os.path.join(tools, "skript")
        self.file = os.path.join(folder, "%d.mlir" % len(os.listdir(folder)))
        times = self.file + ".json"
        environment = dict(os.environ, XDG_CACHE_HOME=folder)
        run([skript, "compile", path, "--emit=buffers", "-o", self.file])
        pipeline = run([skript, "compile", path, "--emit=scheduled", "--print-pipeline"])
        options_of_pass = re.search(r"skript-vectorize-reductions\{([^}]*)\}", pipeline).group(1)
        self.fixed = dict(item.split("=") for item in options_of_pass.split())
        run([skript, "tune", path, "--weights=random:1", "--json", times, "--calls", str(options.calls), "--threads", str(options.threads)],
            env=environment)
        with open(times) as file:
            kernels = json.load(file)["kernels"]
        self.times = {kernel["key"]: self.ratios(kernel) for kernel in kernels}
        # The order of the kernels does not depend on the costs, but their keys do: they are those of the selected plans.
        self.order = [key for key, _ in self.selected({})]

    @staticmethod
    def ratios(kernel):
        """The time of a call with the selected plan, and the ratio of each plan to it."""
        ratios = {plan["plan"]: plan["ns"] / plan["base_ns"] for plan in kernel["plans"]}
        base = min(plan["base_ns"] for plan in kernel["plans"])
        return base, {kernel["plan"]: 1.0, **ratios}

    def selected(self, costs):
        """The key and the selected plan of each kernel."""
        options = " ".join("%s=%s" % item for item in {**self.fixed, **costs, "plans": "*:0"}.items())
        text = run([self.opt, self.file, "--pass-pipeline=builtin.module(skript-fill-borders,skript-vectorize-reductions{%s})" % options])
        return [(key, plan) for key, _, plan in PLAN.findall(text)]

    def time(self, costs):
        """Estimated nanoseconds of a call with the plans that these costs select, and with the best ones."""
        total = best = 0.0
        for key, (_, plan) in zip(self.order, self.selected(costs)):
            if key in self.times:
                base, ratios = self.times[key]
                total += base * ratios.get(plan, UNKNOWN)
                best += base * min(ratios.values())
        return total, best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", metavar="MODEL", help="model folder or file")
    parser.add_argument("--tools", default=os.path.join(ROOT, "target", "release"), help="folder of skript and skript-opt")
    parser.add_argument("--calls", type=int, default=8, help="timed calls with each plan; default: %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="threads; default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        models = []
        for path in options.models:
            models.append(Model(path, folder, options.tools, options))
            print("%s: %d kernels" % (path, len(models[-1].times)), flush=True)

        def relative(costs):
            """The time relative to that with the best plan of each kernel, as the mean over the models."""
            times = [model.time(costs) for model in models]
            return sum(total / best for total, best in times) / len(times)

        costs = {name: int(models[0].fixed[name]) for name in VALUES}
        least = relative(costs)
        print("now: %.4f of the best plans: %s" % (least, costs), flush=True)
        improved = True
        while improved:
            improved = False
            for name, values in VALUES.items():
                for value in values:
                    other = {**costs, name: value}
                    time = relative(other) if value != costs[name] else least
                    if time < least * 0.9995:
                        costs, least, improved = other, time, True
        print("fitted: %.4f of the best plans: %s" % (least, costs))


if __name__ == "__main__":
    main()
