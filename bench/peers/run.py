#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our code with other engines and writes the tables into bench/README.md.

    build/peers-venv/bin/python bench/peers/run.py [--only TEXT]… [--group GROUP]… [--threads 1,2] [--rounds 5] [--dry]

`bench/peers/setup.sh` makes the environment, `bench/operators-setup.sh` that of torch. Selected workloads replace their rows; the others keep theirs.
"""
import argparse
import datetime
import json
import os

import engines
import machine
import rounds
import tables
from workloads import GROUPS, WORKLOADS

ROOT = os.path.dirname(os.path.dirname(engines.HERE))
PAGE = os.path.join(ROOT, "bench", "README.md")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skript", default=os.path.join(ROOT, "target", "release", "skript"), help="the binary to measure")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="part of the name of a workload; may be repeated")
    parser.add_argument("--group", action="append", default=[], choices=list(GROUPS), help="a group of workloads; may be repeated")
    parser.add_argument("--list", action="store_true", help="print the selected workloads")
    parser.add_argument("--peers", default=",".join(engines.PEERS), help="names separated by commas; default: %(default)s")
    parser.add_argument("--threads", default="1,2", help="numbers separated by commas; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each engine; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=0.4, help="how long a process calls the model; default: %(default)s")
    parser.add_argument("--note", help="what readers should know of this machine during the measurements")
    parser.add_argument("--cpu", help="processor that our code is generated for, to compare with engines that are limited to it; with --dry")
    parser.add_argument("--dry", action="store_true", help="print the ratios and write nothing")
    options = parser.parse_args()
    if options.cpu:
        if not options.dry:
            parser.error("--cpu is for --dry: the tables are of the machine's own processor")
        engines.OURS_OPTIONS[:] = ["--cpu", options.cpu]
    return options


def selected(only, groups):
    return [w for w in WORKLOADS if (not groups or w.group in groups) and (not only or any(text in w.name for text in only))]


def line(row):
    """The text of one row for the terminal."""
    times = "  ".join("%s %.3f" % (name, times["ms"]) for name, times in row["engines"].items())
    ratio = tables.ratio(row)
    return "%-48s %d  %s  %s" % (row["workload"], row["threads"], "%5.2f" % ratio if ratio else "    –", times)


def results(rows, failures, peers, note):
    """The content of a results file."""
    versions = {name: engines.version(name) for name in peers}
    return {"machine": machine.name(), "dates": [datetime.date.today().isoformat()], "peers": versions, "rows": rows, "failures": failures,
            "note": note}


def save(new):
    """Merges the results into those of this machine kind and renews the page."""
    os.makedirs(tables.RESULTS, exist_ok=True)
    path = os.path.join(tables.RESULTS, machine.slug() + ".json")
    old = {}
    if os.path.exists(path):
        with open(path) as file:
            old = json.load(file)
    with open(path, "w") as file:
        json.dump(tables.merged(old, new), file, indent=1, ensure_ascii=False)
        file.write("\n")
    with open(PAGE) as file:
        page = tables.replaced(file.read())
    with open(PAGE, "w") as file:
        file.write(page)


def main():
    options = parsed()
    chosen = selected(options.only, options.group)
    if options.list:
        print("\n".join("%-10s %s" % (w.group, w.name) for w in chosen))
        return
    peers, threads = options.peers.split(","), [int(n) for n in options.threads.split(",")]
    scratch = os.path.join(ROOT, "build")
    os.makedirs(scratch, exist_ok=True)
    rows, failures = [], []
    for workload in chosen:
        found = rounds.compare(workload, peers, threads, options.rounds, options.seconds, options.skript, scratch)
        rows += found.rows
        failures += [[workload.name, *failure] for failure in found.failures]
        print("\n".join(map(line, found.rows)), flush=True)
        for name, reason in found.failures:
            print("    %s: %s" % (name, reason), flush=True)
        # Saves after each workload, so that measurements are kept if the program fails.
        if not options.dry:
            save(results(rows, failures, peers, options.note))
    for group in GROUPS:
        for count in threads:
            ratios = [r for r in (tables.ratio(row) for row in rows if row["group"] == group and row["threads"] == count) if r]
            if ratios:
                print("%s, %d threads: geometric mean of %d: %.2f" % (group, count, len(ratios), tables.geometric_mean(ratios)))


if __name__ == "__main__":
    main()
