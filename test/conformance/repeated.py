#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a conformance suite twice, the second time without the driver: a recorded run has the same results.

    repeated.py SUITE --skript BINARY [--sample N]
    repeated.py --twice BINARY LOG run MODEL …      runs one case, and adds its outcome to the file LOG
"""
import argparse
import collections
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from check import sampled

CALLED = 42


def stand_in(driver, real):
    """A program with the file size and time of the driver, which only reports that it was called."""
    status = real.stat()
    driver.unlink()
    driver.write_text("#!/bin/sh\nexit %d\n" % CALLED)
    os.truncate(driver, status.st_size)
    driver.chmod(0o755)
    os.utime(driver, ns=(status.st_atime_ns, status.st_mtime_ns))


def twice(skript, log, words):
    output = pathlib.Path(words[words.index("--output-dir") + 1])
    with tempfile.TemporaryDirectory() as folder:
        own, driver, real = pathlib.Path(folder, "skript"), pathlib.Path(folder, "skript-driver"), skript.with_name("skript-driver")
        shutil.copy2(skript, own)
        driver.symlink_to(real)
        environment = {**os.environ, "XDG_CACHE_HOME": folder + "/cache"}

        def call():
            done = subprocess.run([own, *words], env=environment, capture_output=True)
            files = {path.name: path.read_bytes() for path in output.iterdir()} if output.is_dir() else {}
            return done.returncode, done.stdout, done.stderr, files

        first = call()
        stand_in(driver, real)
        shutil.rmtree(output, ignore_errors=True)
        second = call()
        if second[0] == CALLED:
            driver.unlink()
            driver.symlink_to(real)
            second = call()
            event = "driver"
        else:
            event = "repeated" if first[0] == 0 else "repeated, failed"
        if first != second:
            event = "different"
    with open(log, "a") as file:
        file.write("%s: %s\n" % (event, words[-1] if event != "different" else shlex.join(words)))
    sys.stdout.buffer.write(second[1])
    sys.stderr.buffer.write(second[2])
    return second[0]


def main():
    if sys.argv[1:2] == ["--twice"]:
        return twice(pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("suite")
    parser.add_argument("--skript", required=True, type=pathlib.Path)
    parser.add_argument("--sample", type=int, default=1)
    args = parser.parse_args()
    with tempfile.NamedTemporaryFile(suffix=".txt") as log:
        command = shlex.join([sys.executable, os.path.abspath(__file__), "--twice", str(args.skript.resolve()), log.name, "run", "--message-format=short"])
        cases = sampled(args.suite, args.sample) if args.sample > 1 else []
        script = os.path.join(args.suite, "run_conformance.py")
        done = subprocess.run([sys.executable, script, args.suite, "--jobs", str(os.cpu_count() or 1), "--command", command, *cases])
        lines = pathlib.Path(log.name).read_text().splitlines()
    events = collections.Counter(line.split(": ")[0] for line in lines)
    print("\n".join(line for line in lines if line.startswith(("different", "repeated, failed"))))
    print("runs: %s" % ", ".join("%d %s" % (count, event) for event, count in sorted(events.items())))
    # Packs, and documents with errors, need the driver.
    is_right = set(events) <= {"driver", "repeated"} and events["repeated"] > events["driver"]
    return done.returncode or not is_right


if __name__ == "__main__":
    sys.exit(main())
