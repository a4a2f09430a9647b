#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all GPU checks with one command: results of the conformance suite, ratios to torch and XLA, compute-sanitizer.

    on_device.py pack FOLDER --skript BINARY --runner SKRIPT-RUN --suite SUITE [--arch sm_90] [--target nvptx64|vulkan] [--limit MIB] [--small]
    python3 FOLDER/on_device.py run OUT [--device cuda] [--seconds N]

`pack` makes a folder of at most `--limit` MiB, which needs neither the compiler nor a network: the runner, compiled models and cases, and these
scripts. Cases that do not fit are listed. `run` needs Python with numpy, and torch and jax for the comparison with them. Each part is a process with
a time limit that writes into OUT while it runs. The most important part is first: a sample of the cases, ratios, all cases, then compute-sanitizer.
A part that fails or hangs does not stop the next ones. Exit status 1 if a part found a difference, or no kernel ran on the device.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ["on_device.py", "measure.py", "carried.py"]
RUNNER, SUITE = "skript-run", "suite.tar.xz"
# The time limit of each part in seconds, if as much time is left: imports, a sample, ratios, all cases, sanitizers.
PREFLIGHT, SAMPLE, RATIOS, SANITIZER = 60, 60, 270, 60
PARTS = ["sample", "ratios", "suite", "memcheck", "racecheck"]
# The time in seconds in which a part must end after its limit.
GRACE = 20


def pack(options):
    folder = pathlib.Path(options.folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / SCRIPTS[0]).exists():
        sys.exit("error: %s has files that no pack made: name another folder, or an empty one" % folder)
    shutil.rmtree(folder, ignore_errors=True)
    python = [sys.executable]
    models = [*python, str(HERE / "measure.py"), "pack", str(folder), "--skript", options.skript, "--arch", options.arch, "--target", options.target]
    status = subprocess.run(models + ["--cpu", options.cpu] + ["--small"] * options.small).returncode
    for script in SCRIPTS:
        shutil.copy(HERE / script, folder / script)
    shutil.copy(options.runner, folder / RUNNER)
    if options.suite:
        with tempfile.TemporaryDirectory() as scratch:
            cases = pathlib.Path(scratch) / "suite"
            command = [*python, str(HERE / "carried.py"), "pack", options.suite, str(cases), "--skript", options.skript, "--sample", str(options.sample)]
            status |= subprocess.run([*command, "--target", options.target, "--cpu", options.cpu, "--arch", options.arch]).returncode
            status |= archive(cases, folder, options.limit)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print("%s: %.1f MiB" % (folder, size / 2**20))
    return status


def archive(cases, folder, limit):
    """Packs the cases, smallest first, while the folder has at most `limit` MiB."""
    other = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    sized = [(sum(file.stat().st_size for file in case.parent.iterdir()), case.parent) for case in cases.glob("*/*/case.json")]
    path = folder / SUITE
    left_out = []
    with open(path, "wb") as stream, tarfile.open(fileobj=stream, mode="w|xz") as packed:
        for size, case in sorted(sized):
            # The stream buffers few bytes, and compression never enlarges an array.
            if other + stream.tell() + size > limit * 2**20:
                left_out.append(case)
            else:
                packed.add(case, "suite/%s" % case.relative_to(cases))
    for case in left_out:
        print("left out, for the folder would be too large: %s" % case.relative_to(cases))
    return 1 if left_out else 0


class Parts:
    """Runs the parts in sequence, and writes their output."""

    def __init__(self, out, seconds):
        self.out, self.begun, self.seconds = out, time.monotonic(), seconds
        # Only a few files are written, because some systems return only a few: a log of all parts, their exit states, and tables.
        self.summary, self.log, self.printed = [], out / "log.txt", ""

    def left(self):
        return self.seconds - (time.monotonic() - self.begun)

    def run(self, name, command, limit, environment=None):
        """The exit status; None if the part did not end, or had no time."""
        if limit < 5:
            self.note("%s: no time left" % name)
            return None
        begun, status = time.monotonic(), None
        with open(self.log, "a") as log:
            log.write("== %s: %s\n" % (name, " ".join(command)))
            log.flush()
            start = log.tell()
            # A separate session, so that its children end with it.
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, env={**os.environ, **(environment or {})})
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        with open(self.log, errors="replace") as log:
            log.seek(start)
            self.printed = log.read()
        lines = [line for line in self.printed.splitlines() if line.strip()]
        ended = "ended with status %s" % status if status is not None else "stopped"
        self.note("%s: %s after %.0f s; %s" % (name, ended, time.monotonic() - begun, lines[-1][:300] if lines else "no output"))
        return status

    def note(self, line):
        self.summary.append(line)
        print(line, flush=True)
        (self.out / "summary.txt").write_text("\n".join(self.summary) + "\n")


VERSIONS = """
import importlib, sys
print("python", sys.version.split()[0])
for name in ("numpy", "torch", "jax"):
    try:
        print(name, importlib.import_module(name).__version__, flush=True)
    except Exception as error:
        print(name, "is not usable:", str(error)[:200], flush=True)
try:
    import torch
    print("device", torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none for torch")
except Exception:
    pass
"""


def run(options):
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    parts = Parts(out, options.seconds)
    python, failed = sys.executable, []

    chosen, ran = options.parts.split(","), []
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit("error: there is no part `%s`; there are %s" % (unknown[0], ", ".join(PARTS)))

    def part(name, command, limit, environment=None):
        if name not in chosen:
            return None
        status = parts.run(name, command, min(limit, parts.left()), environment)
        ran.extend([] if status is None else [name])
        if status:
            failed.append(name)
        return status

    parts.run("versions", [python, "-c", VERSIONS], min(PREFLIGHT, parts.left()))
    print(parts.printed, flush=True)
    if shutil.which("nvidia-smi"):
        parts.run("driver", ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], 20)
    with tempfile.TemporaryDirectory() as scratch:
        # Copied files may lose the permission to be executed.
        runner = pathlib.Path(scratch) / RUNNER
        shutil.copy(HERE / RUNNER, runner)
        runner.chmod(0o755)
        common = ["--runner", str(runner), "--device=" + options.device]
        suite = pathlib.Path(scratch) / "suite"
        if (HERE / SUITE).exists():
            with tarfile.open(HERE / SUITE) as packed:
                packed.extractall(scratch, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        carried = [python, str(HERE / "carried.py"), "run", str(suite), *common, "--jobs", str(options.jobs)]
        compiled = {"CUDA_CACHE_MAXSIZE": str(2**30)}
        if suite.exists():
            sample = part("sample", [*carried, "--first", "64", "--case-seconds", "30", "--seconds", str(SAMPLE), "--table", str(out / "sample.md")], SAMPLE + GRACE, compiled)
            if "sample" in options.parts and "\n0 of " in parts.printed:
                parts.note("nothing of the sample is right on %s (status %s): no more is run" % (options.device, sample))
                print(parts.printed[:3000])
                return 1
        measure = [python, str(HERE / "measure.py"), "run", str(HERE), *common, "--table", str(out / "ratios.md"), "--calls", str(options.calls)]
        limit = min(RATIOS, parts.left() - GRACE)
        part("ratios", [*measure, "--seconds", str(limit - GRACE), "--model-seconds", "60"], limit + GRACE, compiled)
        if suite.exists():
            limit = parts.left() - (SANITIZER if shutil.which("compute-sanitizer") else 0) - GRACE
            part("suite", [*carried, "--case-seconds", "60", "--seconds", str(limit - GRACE), "--table", str(out / "suite.md")], limit, compiled)
            for tool in ["memcheck", "racecheck"] if shutil.which("compute-sanitizer") else []:
                limit = min(SANITIZER, parts.left() - GRACE)
                wrapper = "compute-sanitizer --tool=%s --error-exitcode=9" % tool
                part(tool, [*carried, "--first", "24", "--case-seconds", "60", "--seconds", str(limit / 2), "--wrapper", wrapper], limit)
    for name in ["ratios.md", "suite.md"]:
        if (out / name).exists():
            print((out / name).read_text(), flush=True)
    parts.note("ended: %s; failed: %s" % (", ".join(ran) or "none", ", ".join(failed) or "none"))
    return 1 if failed or not ran else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("folder", help="made anew")
    packing.add_argument("--skript", required=True, help="the compiler")
    packing.add_argument("--runner", required=True, help="skript-run of the same build")
    packing.add_argument("--suite", help="a folder with conformance cases")
    packing.add_argument("--sample", type=int, default=1, help="take every N-th case")
    packing.add_argument("--arch", default="sm_90", help="the GPU, such as sm_80")
    packing.add_argument("--target", default="nvptx64", choices=["nvptx64", "vulkan"], help="vulkan: for a trial on this machine")
    packing.add_argument("--cpu", default="x86-64-v3", help="the processor of the machine with the GPU")
    packing.add_argument("--limit", type=float, default=56, help="MiB that the folder may have")
    packing.add_argument("--small", action="store_true", help="small models, for a trial")
    packing.set_defaults(command=pack)
    running = commands.add_parser("run")
    running.add_argument("out", help="folder for the tables")
    running.add_argument("--device", default="cuda", help="cuda or vulkan")
    running.add_argument("--seconds", type=float, default=560, help="the time for all parts")
    running.add_argument("--parts", default=",".join(PARTS), help="for a second call, those that the first one left")
    running.add_argument("--calls", type=int, default=20)
    running.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1))
    running.set_defaults(command=run)
    options = parser.parse_args()
    return options.command(options)


if __name__ == "__main__":
    sys.exit(main())
