#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles examples/c to shared objects for other processors, and calls them from C under qemu: the output must be that of this one.

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
        # Addresses differ between runs.
        return [line for line in said.split("\n") if " at 0x" not in line]


def refused(skript):
    """Returns the message of the program on a processor with shorter registers than the code needs."""
    with tempfile.TemporaryDirectory() as out:
        run(skript, "compile", EXAMPLE, "--target=aarch64-linux-gnu", "--features=+sve,+sve256", "-o", out + "/follow.so")
        run("aarch64-linux-gnu-gcc", "-std=gnu11", "-O1", "-include", out + "/follow.h", EXAMPLE + "/main.c", "-lpthread", "-lm", "-ldl", "-o", out + "/follow")
        qemu = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-cpu", "max,sve256=off"]
        done = subprocess.run([*qemu, out + "/follow", out + "/follow.so", out], capture_output=True, text=True, timeout=120)
        return done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--skript", required=True)
    args = parser.parse_args()
    wanted = answers(args.skript, [], "cc", [])
    failed = 0
    wide = "+sve,+sve256", "max,sve256=on,sve-default-vector-length=32"
    for name, features, processor in [("aarch64", None, None), ("aarch64", *wide), ("riscv64", None, None)]:
        compiler, qemu = name + "-linux-gnu-gcc", "qemu-" + name
        missing = next((program for program in (compiler, qemu) if not shutil.which(program)), None)
        if missing:
            print("%s: skipped, %s is not installed" % (name, missing))
            continue
        flags = ["--target=%s-linux-gnu" % name] + (["--features=" + features] if features else [])
        runner = [qemu, "-L", "/usr/%s-linux-gnu" % name] + (["-cpu", processor] if processor else [])
        name += " " + features if features else ""
        got = answers(args.skript, flags, compiler, runner)
        failed += got != wanted
        for line in got if got != wanted else []:
            print("%s: %s" % (name, line))
        print("%s: a shared object prints %d lines, %s" % (name, len(got), "as here" if got == wanted else "not as here"))
        if processor:
            said = refused(args.skript)
            if "compiled for a processor with sve256, which this processor lacks" not in said:
                failed += 1
                print("128-bit registers are not refused: " + said)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
