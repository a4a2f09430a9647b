# SPDX-License-Identifier: Apache-2.0
"""Every pass, over the modules of its tests and of test/pipeline: run a second time it changes nothing, and what it
makes has places in the source. Constants may lack one: upstream's folders share them among those who need them."""
import argparse
import concurrent.futures
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Passes that do more each time, or nothing, and why.
BY_NATURE = {
    "skript-verify-accesses": "proves, and changes nothing",
    "convert-stablehlo-to-skript": "takes a whole program of StableHLO, and refuses others: what it makes is one of those",
}
SHOWN = ["--mlir-print-debuginfo", "--mlir-print-local-scope"]
WITHOUT_PLACE = re.compile(r"^(?!.*\b(?:arith|llvm\.mlir)\.constant\b).*loc\(unknown\)", re.MULTILINE)


@functools.cache
def made(opt, text, passes):
    """What passes make of a text, part by part; `None` where they or the reader refuse."""
    command = [opt, "-", *SHOWN, *passes]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
    return done.stdout if done.returncode == 0 else None


def calls(flag, texts):
    """The pass as it is called in tests, and without options."""
    found = {"--" + flag}
    for text in texts:
        for line in re.findall(r"^// RUN:.*", text, re.MULTILINE):
            found.update(re.findall(r"(--%s=(?:\"[^\"]*\"|\S+))" % re.escape(flag), line))
    return sorted(call.replace('"', "") for call in found)


def check(opt, call, name, part):
    """Whether the pass changes a part, and what is wrong."""
    before, once = made(opt, part, ()), made(opt, part, (call,))
    if before is None or once is None or once == before:
        return False, []
    twice = made(opt, part, (call, call))
    problems = []
    if twice is None:
        problems.append("%s: %s fails the second time, on\n%s" % (name, call, once))
    elif twice != once:
        problems.append("%s: %s makes\n%s\nand the second time\n%s" % (name, call, once, twice))
    if "loc(unknown)" not in part and WITHOUT_PLACE.search(once) and not WITHOUT_PLACE.search(before):
        problems.append("%s: %s makes what has no place: %s" % (name, call, WITHOUT_PLACE.search(once).group()))
    return True, problems


def parts(path):
    text = path.read_text()
    return [("%s, part %d" % (path.relative_to(ROOT), n), part) for n, part in enumerate(re.split(r"^// -----.*$", text, flags=re.MULTILINE))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skript-opt", default=str(ROOT / "target/release/skript-opt"))
    parser.add_argument("passes", nargs="*", help="flags; all if none is given")
    arguments = parser.parse_args()
    others = [part for path in sorted((ROOT / "test/pipeline").glob("*.mlir")) for part in parts(path)]
    problems = []
    for folder in sorted((ROOT / "test/passes").iterdir()):
        if arguments.passes and folder.name not in arguments.passes:
            continue
        own = sorted(folder.glob("*.mlir"))
        jobs = [(call, *part) for call in calls(folder.name, [path.read_text() for path in own]) for path in own for part in parts(path)]
        jobs += [("--" + folder.name, *part) for part in others]
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(lambda job: check(arguments.skript_opt, *job), jobs))
        changed = sum(changes for changes, _ in results)
        found = [problem for _, said in results for problem in said]
        print("%s: %d modules changed, %d problems" % (folder.name, changed, len(found)), flush=True)
        if folder.name in BY_NATURE:
            continue
        problems += found if changed else ["no module is changed by " + folder.name]
    print("\n\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
