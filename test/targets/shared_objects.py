#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles examples/c to shared objects for other processors, and calls them from C under qemu: the same lines as on this one.

    shared_objects.py --skript BINARY
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLE = os.path.join(ROOT, "examples", "c")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(command), done.stdout + done.stderr))
    return done.stdout


def answers(skript, flags, compiler, runner):
    with tempfile.TemporaryDirectory() as out:
        weights = out + "/weights"
        os.mkdir(weights)
        write = [sys.executable, os.path.join(ROOT, "test", "tools", "write_dat.py")]
        run(*write, weights + "/main.Follow.center.dat", "--shape", "2")
        run(*write, weights + "/main.Follow.calls.dat", "--shape", "", "--item-type", "4", "--bits", "32")
        run(skript, "compile", EXAMPLE, *flags, "-o", out + "/follow.so")
        run(compiler, "-std=gnu11", "-O1", "-include", out + "/follow.h", EXAMPLE + "/main.c", "-lpthread", "-lm", "-ldl", "-o", out + "/follow")
        said = run(*runner, out + "/follow", out + "/follow.so", weights)
        # Addresses differ.
        return [line for line in said.split("\n") if " at 0x" not in line]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    args = parser.parse_args()
    wanted = answers(args.skript, [], "cc", [])
    failed = 0
    for name in "aarch64", "riscv64":
        compiler, qemu = name + "-linux-gnu-gcc", "qemu-" + name
        missing = next((program for program in (compiler, qemu) if not shutil.which(program)), None)
        if missing:
            print("%s: skipped, %s is not installed" % (name, missing))
            continue
        got = answers(args.skript, ["--target=%s-linux-gnu" % name], compiler, [qemu, "-L", "/usr/%s-linux-gnu" % name])
        failed += got != wanted
        for line in got if got != wanted else []:
            print("%s: %s" % (name, line))
        print("%s: a shared object prints %d lines, %s" % (name, len(got), "as here" if got == wanted else "not as here"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
