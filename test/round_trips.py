# SPDX-License-Identifier: Apache-2.0
"""Checks that all `.mlir` files below test/ and examples/ survive printing and parsing: `skript-opt --verify-roundtrip` reads each
part of each file, as text and as bytecode. Prints the number of parts, and lists those that MLIR refuses, which must be parts of
tests that expect an error."""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

import shards

ROOT = pathlib.Path(__file__).resolve().parent.parent
# An option in the command line of a test that the parser of the file also needs.
READS_UNKNOWN = "--allow-unregistered-dialect"
SHARDY = "sdy.mesh"
EXPECTS_REFUSAL = re.compile(r"^// RUN:.*(\bnot\b|--verify-diagnostics)", re.MULTILINE)


def run(opt, text, flags):
    """Whether skript-opt accepts a text, and its output."""
    command = [opt, "-", "-o", "/dev/null", *flags]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    return done.returncode == 0, done.stderr


def read(opt, path):
    """The parts that survive, the parts that MLIR refuses, and the errors."""
    text = path.read_text()
    flags = [READS_UNKNOWN] if READS_UNKNOWN in text else []
    parts = re.split(r"^// -----.*$", text, flags=re.MULTILINE)
    if not EXPECTS_REFUSAL.search(text):
        survives, said = run(opt, text, [*flags, "--split-input-file", "--verify-roundtrip"])
        return (len(parts), 0, []) if survives else (0, 0, ["%s: %s" % (path.relative_to(ROOT), said.strip())])
    survived, refused, failures = 0, 0, []
    for number, part in enumerate(parts):
        name = "%s, part %d" % (path.relative_to(ROOT), number)
        survives, said = run(opt, part, [*flags, "--verify-roundtrip"])
        if survives:
            survived += 1
        elif run(opt, part, flags)[0]:
            failures.append("%s: %s" % (name, said.strip()))
        else:
            refused += 1
    return survived, refused, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skript-opt", default=str(ROOT / "target/release/skript-opt"))
    shards.add_argument(parser)
    arguments = parser.parse_args()
    opt = arguments.skript_opt
    # Programs that a run must refuse are not valid MLIR, and only the import reads the annotations of Shardy.
    files = sorted(
        path
        for folder in ("test", "examples")
        for path in (ROOT / folder).rglob("*.mlir")
        if "untrusted" not in path.parts and SHARDY not in path.read_text()
    )
    files = shards.shard(files, arguments.shard)
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda path: read(opt, path), files))
    for path, (_, refused, _) in zip(files, results):
        if refused:
            print("%s: MLIR refuses %d parts, as the test expects" % (path.relative_to(ROOT), refused))
    failures = [failure for _, _, found in results for failure in found]
    print("\n".join(failures), end="\n" if failures else "")
    survived, refused = (sum(result[n] for result in results) for n in range(2))
    print("%d files: %d parts survive, %d are refused, %d fail" % (len(files), survived, refused, len(failures)))
    return bool(failures) or not survived


if __name__ == "__main__":
    sys.exit(main())
