#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the affine pipeline compiles all cases but the listed ones.

    affine.py SUITE --skript BINARY [--jobs N] [--update]

`not-affine.txt` beside this file lists the conformance cases that the affine pipeline may refuse, each with the reason in the
message. All other cases that the linalg pipeline compiles must become affine loops without linalg operations. A listed case that
compiles, or is refused for another reason, is also an error. `--update` rewrites the list.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "not-affine.txt")
REFUSED = re.compile(r"error\[SK8001\]: cannot (?:become|be filled by) affine loops: it (.*)")


def lowered(suite, case, binary):
    """The reason why the case's model is refused ("" if it is not), and the remaining linalg operations."""
    folder = os.path.join(suite, case)
    with open(os.path.join(folder, "case.json")) as file:
        meta = json.load(file)
    command = [binary, "compile", "--emit=affine", "--message-format=short", folder] + (meta.get("args") or [])
    for name, value in (meta.get("attrs") or {}).items():
        command += ["--set", "%s=%s" % (name, json.dumps(value))]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    reasons = "; ".join(sorted(set(REFUSED.findall(run.stderr))))
    if run.returncode and not reasons:
        reasons = run.stderr.strip().split("\n")[-1]
    return reasons, sorted(set(re.findall(r"\blinalg\.\w+", run.stdout)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite")
    parser.add_argument("--skript", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()

    with open(os.path.join(HERE, "passing-compiled.txt")) as file:
        cases = [case for case in file.read().split() if not expects_error(args.suite, case)]
    listed = {}
    if os.path.exists(LIST):
        with open(LIST) as file:
            listed = dict(line.rstrip("\n").split(" ", 1) for line in file)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda case: lowered(args.suite, case, args.skript), cases))
    refused = {case: reason for case, (reason, _) in zip(cases, results) if reason}
    wrong = ["%s: linalg is left: %s" % (case, ", ".join(left)) for case, (_, left) in zip(cases, results) if left]
    if args.update:
        with open(LIST, "w") as file:
            file.writelines("%s %s\n" % entry for entry in sorted(refused.items()))
        listed = refused
    for case in sorted(set(refused) | set(listed)):
        if refused.get(case) != listed.get(case):
            wrong.append("%s: %s, listed as %s" % (case, refused.get(case, "taken"), listed.get(case, "affine")))
    print("\n".join(wrong + ["affine: %d of %d cases are affine and taken, %d are not affine; linalg operations left in %d" % (
        len(cases) - len(refused), len(cases), len(refused), sum(1 for _, left in results if left))]))
    return 1 if wrong else 0


def expects_error(suite, case):
    with open(os.path.join(suite, case, "case.json")) as file:
        return json.load(file)["expect"] == "error"


if __name__ == "__main__":
    sys.exit(main())
