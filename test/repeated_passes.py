# SPDX-License-Identifier: Apache-2.0
"""Runs every pass twice on the modules of its tests and of test/pipeline: the second run must not change anything, and new
operations must have source locations. Constants may lack a location, because MLIR's folders share constants among users."""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

import shards

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Passes that are not required to change a module or to run twice, with the reason.
EXEMPT = {
    "skript-verify-accesses": "only verifies",
    "convert-stablehlo-to-skript": "converts complete StableHLO programs only, so it refuses its own result",
}
PRINT_FLAGS = ["--mlir-print-debuginfo", "--mlir-print-local-scope"]
WITHOUT_LOCATION = re.compile(r"^(?!.*\b(?:arith|llvm\.mlir)\.constant\b).*loc\(unknown\)", re.MULTILINE)


SEPARATOR = "// -----"
SPLIT = re.compile(r"^%s.*$" % SEPARATOR, re.MULTILINE)


class Crash(Exception):
    """A process ended without the results of all its modules."""


def run_passes(opt, texts, passes):
    """The modules after the passes, in one process; a text is empty if a pass or the parser fails."""
    command = [opt, "-", "--split-input-file", *PRINT_FLAGS, *passes]
    done = subprocess.run(command, input=("\n%s\n" % SEPARATOR).join(texts), capture_output=True, text=True, timeout=300)
    results = [result.strip() for result in SPLIT.split(done.stdout)]
    if len(results) != len(texts):
        raise Crash("%s: %d of %d modules: %s" % (" ".join(passes), len(results), len(texts), done.stderr[-2000:]))
    return results


def invocations(flag, texts):
    """The pass with the options of its tests, and without options."""
    flags = {"--" + flag}
    for text in texts:
        for line in re.findall(r"^// RUN:.*", text, re.MULTILINE):
            flags.update(re.findall(r"(--%s=(?:\"[^\"]*\"|\S+))" % re.escape(flag), line))
    return sorted(call.replace('"', "") for call in flags)


def compare(call, name, part, before, once, twice):
    """The errors of a module that a pass changes."""
    if not twice:
        yield "%s: %s fails the second time, on\n%s" % (name, call, once)
    elif twice != once:
        yield "%s: %s produces\n%s\nand, when it runs again,\n%s" % (name, call, once, twice)
    if "loc(unknown)" not in part and WITHOUT_LOCATION.search(once) and not WITHOUT_LOCATION.search(before):
        yield "%s: %s creates an operation without a location: %s" % (name, call, WITHOUT_LOCATION.search(once).group())


def check(opt, call, modules):
    """The number of modules that a pass changes, and the errors. A module has its name, its text, and the text as MLIR prints it."""
    try:
        results = [run_passes(opt, [text for _, text, _ in modules], passes) for passes in ((call,), (call, call))]
    except Crash as crash:
        return 0, [str(crash)]
    both = [(*module, *after) for module, *after in zip(modules, *results)]
    changed = [module for module in both if module[2] and module[3] and module[2] != module[3]]
    return len(changed), [problem for module in changed for problem in compare(call, *module)]


def read(opt, paths):
    """The modules of files."""
    named = [("%s, part %d" % (path.relative_to(ROOT), n), part) for path in sorted(paths) for n, part in enumerate(SPLIT.split(path.read_text()))]
    return [(*module, printed) for module, printed in zip(named, run_passes(opt, [text for _, text in named], ()))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skript-opt", default=str(ROOT / "target/release/skript-opt"))
    parser.add_argument("passes", nargs="*", help="names of passes; all by default")
    shards.add_argument(parser)
    arguments = parser.parse_args()
    opt = arguments.skript_opt
    others = read(opt, (ROOT / "test/pipeline").glob("*.mlir"))
    problems = []
    for folder in shards.shard(sorted((ROOT / "test/passes").iterdir()), arguments.shard):
        if arguments.passes and folder.name not in arguments.passes:
            continue
        tests = sorted(folder.glob("*.mlir"))
        own = read(opt, tests)
        plain = "--" + folder.name
        calls = invocations(folder.name, [path.read_text() for path in tests])
        jobs = [(call, own + others if call == plain else own) for call in calls]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(lambda job: check(opt, *job), jobs))
        changed = sum(count for count, _ in results)
        pass_problems = [problem for _, reported in results for problem in reported]
        print("%s: %d modules changed, %d problems" % (folder.name, changed, len(pass_problems)), flush=True)
        if folder.name in EXEMPT:
            continue
        problems += pass_problems if changed else ["no module is changed by " + folder.name]
    print("\n\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
