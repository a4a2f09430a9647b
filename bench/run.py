#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures models with `skript bench` and writes bench/README.md: commands, machine, times. Keeps the tables of bench/peers."""
import datetime
import json
import os
import platform
import subprocess
import tempfile

import compilation
import composition
from peers import tables

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKRIPT = os.path.join(ROOT, "target", "release", "skript")
WORKLOADS = [
    ("AlexNet, 224 × 224, batch 1", ["examples/alexnet", "--weights=random:1", "--calls=20"]),
    ("matrix product 512³", ["bench/models/matmul.sknd", "--calls=50"]),
    ("matrix product 1024³", ["bench/models/matmul.sknd", "--set", "size=1024", "--calls=20"]),
    ("padded 3 × 3 window, 64 → 64 channels, 56 × 56", ["bench/models/window.sknd", "--calls=50"]),
    ("a loop of 10⁶ steps over a scalar and a pair", ["bench/models/steps.sknd", "--calls=20"]),
]


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


THREADS = (1, 2)


def measure(arguments):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([SKRIPT, "bench", *arguments, "--json", file.name], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return json.load(file)


def cached_run():
    """Peak memory of a process that runs AlexNet from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        stats = os.path.join(folder, "stats.json")
        command = [SKRIPT, "run", "examples/alexnet", "--weights=zero", "--input", "input=random:1", "--output-dir", folder, "--stats", stats]
        for _ in range(2):
            subprocess.run(command, cwd=ROOT, check=True)
        with open(stats) as file:
            return json.load(file)


def main():
    lines = [
        "# Benchmarks",
        "",
        "`make bench` (`bench/run.py`) writes this page. f32. *call* is the minimum over the timed iterations; *% of FMA peak* is the",
        "share of the multiply-add rate that the same number of threads reached in the same process. Shared machines are noisy: compare within one table only.",
        "",
        "Machine: %s, %s, %s." % (processor(), platform.system(), datetime.date.today().isoformat()),
        "",
        "| workload | threads | call, ms | median, ms | GFLOP/s | % of FMA peak | compile, ms | from the cache, ms | arena, MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, arguments in [(name, [*arguments, "--threads", str(n)]) for name, arguments in WORKLOADS for n in THREADS]:
        f = measure(arguments)
        share = "%.0f" % (100 * f["gflops"] / f["peak_gflops"]) if f["peak_gflops"] else "–"
        lines.append("| %s<br>`skript bench %s` | %d | %.2f | %.2f | %.1f | %s | %.0f | %.1f | %.1f |" % (
            name, " ".join(arguments), f["threads"], f["call_ms"], f["median_ms"], f["gflops"], share, f["compile_ms"], f["cached_ms"], f["arena_bytes"] / 1e6))
    stats = cached_run()
    lines += [
        "",
        "A process that runs AlexNet from the cache (`skript run examples/alexnet --weights=zero …`, second time) has a peak of %.0f MB resident;" % (stats["peak_bytes"] / 1e6),
        "the weights are 201 MB of zeros, which take no memory until they are written, the arena %.1f MB. The code was ready after %.1f ms." % (stats["arena_bytes"] / 1e6, stats["compile_ms"]),
        *composition.table(SKRIPT),
        *compilation.table(SKRIPT),
        "",
    ]
    page = tables.replaced("\n".join(lines))
    with open(os.path.join(ROOT, "bench", "README.md"), "w") as file:
        file.write(page)
    print(page)


if __name__ == "__main__":
    main()
