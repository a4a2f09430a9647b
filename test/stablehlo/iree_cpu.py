#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the StableHLO export with IREE, which compiles conformance cases for its CPU target and runs them.

    iree_cpu.py SUITE --skript BINARY [--case SUBSTRING]...

Without --case, runs all cases of the family `models` that passing-xla.txt lists. Each one must compute the expected values.
The script needs the version of IREE below, which is also that of scripts/requirements.in.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import xla
import shards  # noqa: E402

VERSION = "3.13.0"


def require():
    """Ends the script unless this version of IREE is installed."""
    try:
        import iree.compiler.version
        found = iree.compiler.version.VERSION
    except ImportError:
        found = "none"
    if not found.startswith(VERSION):
        sys.exit("iree: needs version %s, found %s: run scripts/setup.sh" % (VERSION, found))


class Iree:
    """Compiles and runs a program in this process."""

    def run(self, text, arguments):
        import iree.compiler
        import iree.runtime
        code = iree.compiler.compile_str(text, input_type="stablehlo", target_backends=["llvm-cpu"],
                                         extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-input-demote-i64-to-i32=false",
                                                     "--iree-input-demote-f64-to-f32=false"])
        module = iree.runtime.load_vm_flatbuffer(code, driver="local-sync")
        results = module.main(*arguments)
        results = results if isinstance(results, (list, tuple)) else [results]
        return [result.to_host() for result in results]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite")
    parser.add_argument("--skript", required=True)
    parser.add_argument("--case", action="append")
    shards.add_argument(parser)
    args = parser.parse_args()
    require()
    with open(os.path.join(xla.HERE, "passing-xla.txt")) as file:
        listed = set(file.read().split())
    cases = xla.collect(args.suite, args.case or ["models/"])
    cases = [case for case in cases if args.case or case[0] in listed]
    cases = shards.shard(cases, args.shard)
    engine, failures = Iree(), 0
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            path = os.path.join(folder, "%d.mlir" % number)
            reason = xla.export(os.path.abspath(args.skript), case, path, xla.shapes_of(case)) or xla.judge(engine, case, path)
            if reason:
                failures += 1
                print("FAIL %s: %s" % (case[0], reason))
    print("StableHLO in IREE: %d cases, %d equal" % (len(cases), len(cases) - failures))
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
