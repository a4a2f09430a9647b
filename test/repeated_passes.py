# SPDX-License-Identifier: Apache-2.0
"""Runs every pass twice on the modules of its tests and of test/pipeline: the second run must not change anything, and new
operations must have source locations. Constants may lack a location, because MLIR's folders share constants among users."""
import argparse
import concurrent.futures
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Passes that are not required to change a module or to run twice, with the reason.
EXEMPT = {
    "skript-verify-accesses": "only verifies",
    "convert-stablehlo-to-skript": "converts complete StableHLO programs only, so it refuses its own result",
}
PRINT_FLAGS = ["--mlir-print-debuginfo", "--mlir-print-local-scope"]
WITHOUT_LOCATION = re.compile(r"^(?!.*\b(?:arith|llvm\.mlir)\.constant\b).*loc\(unknown\)", re.MULTILINE)


@functools.cache
def run_passes(opt, text, passes):
    """The module after the passes; `None` if a pass or the parser fails."""
    command = [opt, "-", *PRINT_FLAGS, *passes]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
    return done.stdout if done.returncode == 0 else None


def invocations(flag, texts):
    """The pass with the options of its tests, and without options."""
    flags = {"--" + flag}
    for text in texts:
        for line in re.findall(r"^// RUN:.*", text, re.MULTILINE):
            flags.update(re.findall(r"(--%s=(?:\"[^\"]*\"|\S+))" % re.escape(flag), line))
    return sorted(call.replace('"', "") for call in flags)


def check(opt, call, name, part):
    """Whether the pass changes a part, and the error."""
    before, once = run_passes(opt, part, ()), run_passes(opt, part, (call,))
    if before is None or once is None or once == before:
        return False, []
    twice = run_passes(opt, part, (call, call))
    problems = []
    if twice is None:
        problems.append("%s: %s fails the second time, on\n%s" % (name, call, once))
    elif twice != once:
        problems.append("%s: %s produces\n%s\nand, when it runs again,\n%s" % (name, call, once, twice))
    if "loc(unknown)" not in part and WITHOUT_LOCATION.search(once) and not WITHOUT_LOCATION.search(before):
        problems.append("%s: %s creates an operation without a location: %s" % (name, call, WITHOUT_LOCATION.search(once).group()))
    return True, problems


def parts(path):
    text = path.read_text()
    return [("%s, part %d" % (path.relative_to(ROOT), n), part) for n, part in enumerate(re.split(r"^// -----.*$", text, flags=re.MULTILINE))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skript-opt", default=str(ROOT / "target/release/skript-opt"))
    parser.add_argument("passes", nargs="*", help="names of passes; all by default")
    arguments = parser.parse_args()
    others = [part for path in sorted((ROOT / "test/pipeline").glob("*.mlir")) for part in parts(path)]
    problems = []
    for folder in sorted((ROOT / "test/passes").iterdir()):
        if arguments.passes and folder.name not in arguments.passes:
            continue
        tests = sorted(folder.glob("*.mlir"))
        jobs = [(call, *part) for call in invocations(folder.name, [path.read_text() for path in tests]) for path in tests for part in parts(path)]
        jobs += [("--" + folder.name, *part) for part in others]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(lambda job: check(arguments.skript_opt, *job), jobs))
        changed = sum(changes for changes, _ in results)
        pass_problems = [problem for _, reported in results for problem in reported]
        print("%s: %d modules changed, %d problems" % (folder.name, changed, len(pass_problems)), flush=True)
        if folder.name in EXEMPT:
            continue
        problems += pass_problems if changed else ["no module is changed by " + folder.name]
    print("\n\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
