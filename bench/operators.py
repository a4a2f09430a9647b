#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures operators that formulas define against the same in numpy, numba and torch, eager and compiled, and writes a table: the
examples of examples/operators in bench/README.md, with `--suite formulas` the formulas of bench/formulas in its README.md.

Engines alternate, each in a separate process that is pinned to as many CPUs as it has threads. Before an engine is measured, its
outputs are compared with the reference in numpy.
"""
import argparse
import dataclasses
import datetime
import importlib
import importlib.metadata
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
EXAMPLES, FORMULAS = os.path.join(ROOT, "examples", "operators"), os.path.join(HERE, "formulas")
sys.path[:0] = [EXAMPLES, FORMULAS, os.path.join(HERE, "peers")]
BEGIN, END = "<!-- operators: made by bench/operators.py -->", "<!-- operators: end -->"
# Seconds that a process may take, compilation included.
TIMEOUT = 240


@dataclasses.dataclass
class Suite:
    """Models with the same computations in Python. `cases` is the module with their inputs and their reference in numpy."""

    name: str
    cases: str
    engines: tuple
    results: str
    page: str
    link: str
    text: list

    def module(self):
        return importlib.import_module(self.cases)


SUITES = {
    suite.name: suite
    for suite in (
        Suite("operators", "cases", ("ours", "numpy", "torch", "torch.compile"), os.path.join(HERE, "operators.json"),
              os.path.join(HERE, "README.md"), "../examples/operators/", [
            "## Operators defined by formulas", "",
            "`make bench-operators` (`bench/operators.py`) writes this part: the formulas of [examples/operators](../examples/operators) against the",
            "same in numpy and in torch, eager and compiled, in f32, alternating, each in a separate process on as many CPUs as threads."]),
        Suite("formulas", "kinds", ("ours", "numpy", "numba", "torch", "torch.compile"), os.path.join(FORMULAS, "results.json"),
              os.path.join(FORMULAS, "README.md"), "", [
            "`make bench-formulas` (`bench/operators.py --suite formulas`) writes this table: formulas as a reader of",
            "[the language](../../docs/language.md) writes them, against the same in numpy, in loops that numba compiles, and in torch, eager and",
            "compiled, in f32, alternating, each in a separate process on as many CPUs as threads. All engines compute the same outputs."]),
    )
}


def environment(threads):
    count = str(threads)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    # Some systems set variables of OpenBLAS as workarounds for old builds. They would slow numpy.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    return {**kept, **{name: count for name in names}}


def run(command, threads, round):
    from engines import cpus

    pinned = cpus(threads, round)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=environment(threads),
                              preexec_fn=lambda: os.sched_setaffinity(0, pinned))
    except subprocess.TimeoutExpired:
        return {"failure": "no result within %d s" % TIMEOUT}
    if done.returncode:
        return {"failure": (done.stderr.strip().splitlines() or ["exit status %d" % done.returncode])[-1][:200]}
    return done.stdout


def ours(skript, suite, name, threads, round, seconds):
    import numpy

    cases = suite.module()
    with tempfile.TemporaryDirectory() as folder:
        attributes, inputs = cases.made(name, {})
        command = [skript, "bench", cases.file_of(name), "--threads", str(threads), "--json", os.path.join(folder, "out.json")]
        for key, value in inputs.items():
            path = os.path.join(folder, key + ".npy")
            numpy.save(path, value)
            command += ["--input", "%s=%s" % (key, path)]
        if round == 0:
            failure = disagreement(skript, cases, name, threads, attributes, inputs)
            if failure:
                return failure
        first = run([*command, "--calls", "1"], threads, round)
        if isinstance(first, dict):
            return first
        read = lambda: json.load(open(os.path.join(folder, "out.json")))
        calls = max(3, min(2000, int(1000 * seconds / read()["call_ms"])))
        again = run([*command, "--calls", str(calls)], threads, round)
        return again if isinstance(again, dict) else {"ms": read()["call_ms"]}


def disagreement(skript, cases, name, threads, attributes, inputs):
    """A failure if our outputs differ from the reference."""
    import check

    try:
        found = check.run(skript, cases.file_of(name), {}, inputs, ["--threads=%d" % threads])
        check.compare(name, "ours", found, cases.expected(name, attributes, inputs), cases.share(name))
    except (AssertionError, subprocess.CalledProcessError) as failure:
        return {"failure": " ".join(str(failure).split())[:300]}
    return None


def peer(engine, suite, name, threads, round, seconds):
    command = [sys.executable, os.path.abspath(__file__), "--measure", suite.name, engine, name, str(threads), str(seconds)]
    text = run(command, threads, round)
    return text if isinstance(text, dict) else json.loads(text.splitlines()[-1])


def measure(suite, engine, name, threads, seconds):
    """Prints the shortest time of a call in milliseconds. Runs in the process of a peer."""
    import check

    cases = suite.module()
    attributes, inputs = cases.made(name, {})
    expected = cases.expected(name, attributes, inputs)
    function = cases.function(engine.split(".")[0], name)
    options = cases.options(function, attributes)
    if engine == "numba":
        import numba

        numba.set_num_threads(threads)
        # Sums may be reordered, as in compiled formulas; infinities keep their meaning.
        function = numba.njit(parallel=threads > 1, fastmath={"reassoc", "contract", "nsz"})(function)
    if engine.startswith("torch"):
        import torch

        torch.set_num_threads(threads)
        inputs = {key: torch.from_numpy(value) for key, value in inputs.items()}
        compiled = torch.compile(function) if engine == "torch.compile" else function

        def function(**values):
            with torch.inference_mode():
                return compiled(**values)

    call = lambda: function(**inputs, **options)
    results = call()
    results = tuple(results.values()) if isinstance(results, dict) else results if isinstance(results, tuple) else (results,)
    results = [value.numpy() if engine.startswith("torch") else value for value in results]
    # torch and numba may sum in another order, and compute distances as differences of squares.
    check.compare(name, engine, dict(zip(expected, results)), expected, cases.share(name) or 1e-3, 1e-3)
    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"ms": 1000 * min(times)}))


def table(suite, results):
    threads = sorted({int(n) for times in results["operators"].values() for n in times})
    heads = ["%s, %d" % (engine, n) for n in threads for engine in suite.engines] + ["ours / best, %d" % n for n in threads]
    lines = ["| operator | %s |" % " | ".join(heads), "|---|%s" % ("---|" * len(heads))]
    ratios = {n: {} for n in threads}
    for name, times in results["operators"].items():
        for n in threads:
            found = {engine: times[str(n)].get(engine, {}).get("ms") for engine in suite.engines}
            peers = [ms for engine, ms in found.items() if engine != "ours" and ms]
            if found["ours"] and peers:
                ratios[n][name] = found["ours"] / min(peers)
    cell = lambda entry: "%.3g" % entry["ms"] if "ms" in entry else "–"
    for name in sorted(results["operators"], key=lambda name: -ratios[threads[0]].get(name, math.inf)):
        times = results["operators"][name]
        cells = [cell(times[str(n)].get(engine, {})) for n in threads for engine in suite.engines]
        cells += ["**%.2f**" % ratios[n][name] if name in ratios[n] else "–" for n in threads]
        lines.append("| [%s](%s%s.sknd) | %s |" % (name, suite.link, name, " | ".join(cells)))
    means = ["%.2f on %s (*n* = %d)" % (math.exp(sum(map(math.log, ratios[n].values())) / len(ratios[n])),
                                        "one thread" if n == 1 else "%d threads" % n, len(ratios[n]))
             for n in threads if ratios[n]]
    return [*lines, "", "Geometric mean of *ours / best*: %s." % ", ".join(means)]


def write(suite, results):
    with open(suite.page) as file:
        text = file.read()
    versions = ", ".join("%s %s" % (package, results[package]) for package in packages(suite))
    body = "\n".join([BEGIN, *suite.text,
        "Cells: shortest time of a call in ms; *ours / best*: our time divided by that of the fastest other engine; –: no result.", "",
        "%s; %s; %s." % (results["machine"], versions, results["date"]), *filter(None, [results.get("note")]), "", *table(suite, results), END])
    if BEGIN in text:
        before, rest = text.split(BEGIN)
        text = before + body + rest.split(END)[1]
    else:
        text = text.rstrip("\n") + "\n\n" + body + "\n"
    with open(suite.page, "w") as file:
        file.write(text)


def packages(suite):
    return [engine for engine in suite.engines if engine not in ("ours", "torch.compile")]


def measures(suite, engine, name):
    """Whether an engine computes a model."""
    cases = suite.module()
    return engine == "ours" or cases.function(engine.split(".")[0], name) and (engine != "torch.compile" or cases.compiles(name))


def main():
    if sys.argv[1:2] == ["--measure"]:
        suite, engine, name, threads, seconds = sys.argv[2:]
        return measure(SUITES[suite], engine, name, int(threads), float(seconds))
    import machine

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--skript", default=os.path.join(ROOT, "target", "release", "skript"))
    options.add_argument("--seconds", type=float, default=1.0, help="for each engine and round")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--suite", choices=SUITES, default="operators")
    options.add_argument("--only", help="engines to measure; the others keep their results")
    options.add_argument("--threads", default="1,2", help="numbers of threads, separated by commas")
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    suite = SUITES[options.suite]
    try:
        with open(suite.results) as file:
            results = json.load(file)
    except FileNotFoundError:
        results = {"operators": {}}
    # Partial measurements keep the description of the table.
    if not (options.names or options.only) or "machine" not in results:
        versions = {package: importlib.metadata.version(package) for package in packages(suite)}
        results.pop("note", None)
        results.update(versions, machine=machine.name(), date=str(datetime.date.today()))
    for name in options.names or suite.module().CASES:
        for threads in map(int, options.threads.split(",")):
            engines = [e for e in (options.only.split(",") if options.only else suite.engines) if measures(suite, e, name)]
            best = {}
            for round in range(options.rounds):
                for engine in engines:
                    if "failure" in best.get(engine, {}):
                        continue
                    arguments = suite, name, threads, round, options.seconds
                    found = ours(options.skript, *arguments) if engine == "ours" else peer(engine, *arguments)
                    if "failure" in found:
                        print("%s, %s: %s" % (name, engine, found["failure"]), file=sys.stderr)
                    best[engine] = min((best.get(engine, {"ms": math.inf}), found), key=lambda entry: entry.get("ms", -1))
            results["operators"].setdefault(name, {}).setdefault(str(threads), {}).update(best)
            print("%-20s %d  %s" % (name, threads, "  ".join("%s %.3g" % (engine, times.get("ms", math.nan)) for engine, times in results["operators"][name][str(threads)].items())), flush=True)
        with open(suite.results, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    write(suite, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
