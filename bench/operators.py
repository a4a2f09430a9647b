#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the operators of examples/operators against their equivalents in numpy and in torch, eager and compiled, and writes
the table in bench/README.md.

Engines alternate, each in a separate process that is pinned to as many CPUs as it has threads. Before torch is measured, its
outputs are compared with those of numpy.
"""
import argparse
import datetime
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
sys.path[:0] = [os.path.join(ROOT, "examples", "operators"), os.path.join(HERE, "peers")]
RESULTS = os.path.join(HERE, "operators.json")
BEGIN, END = "<!-- operators: made by bench/operators.py -->", "<!-- operators: end -->"
ENGINES = ("ours", "numpy", "torch", "torch.compile")
# Seconds that a process may take, compilation included.
TIMEOUT = 240
# torch.compile unrolls loops over steps, so hundreds of steps take minutes to compile.
NOT_COMPILED = {"moving_average", "soft_dtw", "edit_distance", "viterbi"}


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


def ours(skript, name, threads, round, seconds):
    import cases
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        _, inputs = cases.made(name, {})
        command = [skript, "bench", cases.file_of(name), "--threads", str(threads), "--json", os.path.join(folder, "out.json")]
        for key, value in inputs.items():
            path = os.path.join(folder, key + ".npy")
            numpy.save(path, value)
            command += ["--input", "%s=%s" % (key, path)]
        first = run([*command, "--calls", "1"], threads, round)
        if isinstance(first, dict):
            return first
        read = lambda: json.load(open(os.path.join(folder, "out.json")))
        calls = max(3, min(2000, int(1000 * seconds / read()["call_ms"])))
        again = run([*command, "--calls", str(calls)], threads, round)
        return again if isinstance(again, dict) else {"ms": read()["call_ms"]}


def peer(engine, name, threads, round, seconds):
    command = [sys.executable, os.path.abspath(__file__), "--measure", engine, name, str(threads), str(seconds)]
    text = run(command, threads, round)
    return text if isinstance(text, dict) else json.loads(text.splitlines()[-1])


def measure(engine, name, threads, seconds):
    """Prints the shortest time of a call in milliseconds. Runs in the process of a peer."""
    import cases
    import numpy

    attributes, inputs = cases.made(name, {})
    expected = cases.expected(name, attributes, inputs)
    if engine == "numpy":
        function = cases.CASES[name].outputs
        call = lambda: function(**inputs, **cases.options(function, attributes))
    else:
        import torch

        import operators_torch

        torch.set_num_threads(threads)
        function = getattr(operators_torch, name)
        options = cases.options(function, attributes)
        tensors = {key: torch.from_numpy(value) for key, value in inputs.items()}
        compiled = torch.compile(function) if engine == "torch.compile" else function
        with torch.inference_mode():
            results = compiled(**tensors, **options)
        results = [value.numpy() for value in (results if isinstance(results, tuple) else (results,))]
        for result, reference in zip(results, expected.values()):
            scale = numpy.abs(reference).max()
            off = numpy.abs(result.astype(float) - reference) > 1e-3 * scale
            # Values on the border of two bins may round into either bin.
            assert off.mean() < 1e-3 or name == "histogram" and numpy.abs(result - reference).sum() < 1e-3 * reference.sum(), "%s differs" % name

        def call():
            with torch.inference_mode():
                compiled(**tensors, **options)

    call()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    print(json.dumps({"ms": 1000 * min(times)}))


def table(results):
    threads = sorted({int(n) for times in results["operators"].values() for n in times})
    heads = ["%s, %d" % (engine, n) for n in threads for engine in ENGINES] + ["ours / best, %d" % n for n in threads]
    lines = ["| operator | %s |" % " | ".join(heads), "|---|%s" % ("---|" * len(heads))]
    ratios = {n: {} for n in threads}
    for name, times in results["operators"].items():
        for n in threads:
            found = {engine: times[str(n)].get(engine, {}).get("ms") for engine in ENGINES}
            peers = [ms for engine, ms in found.items() if engine != "ours" and ms]
            if found["ours"] and peers:
                ratios[n][name] = found["ours"] / min(peers)
    cell = lambda entry: "%.3g" % entry["ms"] if "ms" in entry else "–"
    for name in sorted(results["operators"], key=lambda name: -ratios[threads[0]].get(name, math.inf)):
        times = results["operators"][name]
        cells = [cell(times[str(n)].get(engine, {})) for n in threads for engine in ENGINES]
        cells += ["**%.2f**" % ratios[n][name] if name in ratios[n] else "–" for n in threads]
        lines.append("| [%s](../examples/operators/%s.sknd) | %s |" % (name, name, " | ".join(cells)))
    means = ["%.2f on %s (*n* = %d)" % (math.exp(sum(map(math.log, ratios[n].values())) / len(ratios[n])),
                                        "one thread" if n == 1 else "%d threads" % n, len(ratios[n]))
             for n in threads if ratios[n]]
    return [*lines, "", "Geometric mean of *ours / best*: %s." % ", ".join(means)]


def write(results):
    page = os.path.join(HERE, "README.md")
    with open(page) as file:
        text = file.read()
    body = "\n".join([BEGIN, "## Operators defined by formulas", "",
        "`make bench-operators` (`bench/operators.py`) writes this part: the formulas of [examples/operators](../examples/operators) against the",
        "same in numpy and in torch, eager and compiled, in f32, alternating, each in a separate process on as many CPUs as threads.",
        "Cells: shortest time of a call in ms; *ours / best*: our time divided by that of the fastest other engine; –: no result.", "",
        "%s; numpy %s, torch %s; %s." % (results["machine"], results["numpy"], results["torch"], results["date"]), *filter(None, [results.get("note")]), "", *table(results), END])
    if BEGIN in text:
        before, rest = text.split(BEGIN)
        text = before + body + rest.split(END)[1]
    else:
        text = text.rstrip("\n") + "\n\n" + body + "\n"
    with open(page, "w") as file:
        file.write(text)


def main():
    if sys.argv[1:2] == ["--measure"]:
        engine, name, threads, seconds = sys.argv[2:]
        return measure(engine, name, int(threads), float(seconds))
    import cases
    import machine

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--skript", default=os.path.join(ROOT, "target", "release", "skript"))
    options.add_argument("--seconds", type=float, default=1.0, help="for each engine and round")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--only", default=",".join(ENGINES), help="engines to measure; the others keep their results")
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    try:
        with open(RESULTS) as file:
            results = json.load(file)
    except FileNotFoundError:
        results = {"operators": {}}
    versions = {package: importlib.metadata.version(package) for package in ("numpy", "torch")}
    results.pop("note", None)
    results.update(versions, machine=machine.name(), date=str(datetime.date.today()))
    for name in options.names or cases.CASES:
        for threads in (1, 2):
            engines = [e for e in options.only.split(",") if (e, name) not in {("torch.compile", n) for n in NOT_COMPILED}]
            best = {}
            for round in range(options.rounds):
                for engine in engines:
                    if "failure" in best.get(engine, {}):
                        continue
                    found = ours(options.skript, name, threads, round, options.seconds) if engine == "ours" else peer(engine, name, threads, round, options.seconds)
                    if "failure" in found:
                        print("%s, %s: %s" % (name, engine, found["failure"]), file=sys.stderr)
                    best[engine] = min((best.get(engine, {"ms": math.inf}), found), key=lambda entry: entry.get("ms", -1))
            results["operators"].setdefault(name, {}).setdefault(str(threads), {}).update(best)
            print("%-20s %d  %s" % (name, threads, "  ".join("%s %.3g" % (engine, times.get("ms", math.nan)) for engine, times in results["operators"][name][str(threads)].items())), flush=True)
        with open(RESULTS, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    write(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
