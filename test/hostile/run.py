#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tools on hostile inputs: run.py [--binaries DIR] [--jobs N] [CLASS[/NAME]…].

Each .txt file beside this script is a class of inputs; README.md has the notation. An entry fails if its process

- ends by a signal, or with a status other than 0, 1 and 2, or prints an internal error or a backtrace,
- has another status or lacks the expected line of its output,
- takes more than 10 s of processor time, or a minute,
- has a peak resident set above 160 MiB + that of its tool on a small valid input + 4 bytes for each byte of its files, or 512 for
  documents, whose tokens and syntax trees are in memory until the diagnostics are printed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import builders
import shards

HERE = pathlib.Path(__file__).resolve().parent
# Processor time and wall-clock time: other processes may delay this one.
SECONDS, MOST_SECONDS = 10, 60
MIB = 1 << 20
# Stops a process before it exhausts the machine; the bound of an entry is on resident memory.
ADDRESS_SPACE = 24 << 30
INTERNAL = re.compile(r"SK9199|internal (compiler )?error|panicked|Stack backtrace|RUST_BACKTRACE|LLVM ERROR|PLEASE submit", re.I)
STATUS = {"ok": 0, "usage": 2}


class Entry:
    """One input: its files, its command, and the expected output."""

    def __init__(self, where, name, settings):
        self.where, self.name = where, name
        self.command, self.file, self.others = settings["run"], settings.get("file"), list(settings["with"])
        self.template = settings.get("within")
        self.body, self.expected, self.arguments = [], [], ""

    def contents(self):
        """The bytes of the file that the entry is about."""
        text = "\n".join(self.body)
        if text.startswith("= "):
            value = builders.evaluate(text[2:])
            if isinstance(value, bytes):
                return value
            text = value
        else:
            text = re.sub(r"<<(.*?)>>", lambda m: str(builders.evaluate(m[1])), text)
        if self.template:
            text = self.template.replace("@@", text)
        return text.encode()

    def is_mutation(self):
        """Whether the bytes are a valid file with a change."""
        return any(re.match(r"= (cut|put|swap)\(", line) for line in self.body)


def entries(path):
    """The entries of a class, in order."""
    settings, entry, found = {"with": []}, None, []
    lines = path.read_text().split("\n")
    at = 0
    while at < len(lines):
        line, where = lines[at], f"{path.name}:{at + 1}"
        at += 1
        if line.startswith(":: "):
            name, _, arguments = line[3:].partition(" | ")
            entry = Entry(where, name.strip(), settings)
            entry.arguments = arguments.strip()
            found.append(entry)
        elif entry and line.startswith("=>"):
            entry.expected.append(line[2:].strip())
        elif key := re.match(r"!(run|file|with|within)\b ?(.*)", line):
            entry = None
            if key[1] == "within":
                template = []
                while lines[at] != "!end":
                    template.append(lines[at])
                    at += 1
                at += 1
                settings["within"] = "\n".join(template)
            elif key[1] == "with":
                settings["with"].append(tuple(part.strip() for part in key[2].split(" = ", 1)))
            elif key[1] == "run":
                settings = {"run": key[2], "with": []}
            else:
                settings[key[1]] = key[2].strip()
        elif entry and not entry.expected and not line.startswith("## "):
            entry.body.append(line)
        elif line and not line.startswith("#"):
            raise SystemExit(f"{where}: unexpected line: {line}")
    return found


class Outcome:
    def __init__(self, status, text, seconds, peak, size):
        self.status, self.text, self.seconds, self.peak, self.size = status, text, seconds, peak, size
        self.text = text.replace(str(builders.STORE), "{store}")


def execute(entry, binaries):
    """Runs an entry in a new folder."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="skript-hostile-"))
    try:
        home = folder / "home"
        work = folder / "work"
        home.mkdir()
        work.mkdir()
        size = 0
        if (entry.file or "").startswith("cache."):
            shutil.copytree(builders.STORE / "home", home, dirs_exist_ok=True)
        for name, expression in entry.others:
            size += allowed(name, write(work / name, builders.evaluate(expression)))
        if entry.file:
            path = builders.cache_path(home, entry.file[6:]) if entry.file.startswith("cache.") else work / entry.file
            size += allowed(entry.file, write(path, entry.contents()))
        return start(entry, binaries, work, home, size)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def allowed(name, size):
    """The bytes of memory that a file of this size may take."""
    return size * (512 if name.endswith(".sknd") else 4)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(data)
    return len(data)


def start(entry, binaries, work, home, size):
    words = builders.words(entry.command + " " + entry.arguments)
    stdin = subprocess.DEVNULL
    if "<" in words:
        stdin = open(work / words[words.index("<") + 1], "rb")
        words = words[:words.index("<")]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_CACHE_HOME": str(home), "LC_ALL": "C.UTF-8", "SKRIPT_NUM_THREADS": "1"}
    output = tempfile.TemporaryFile()
    begin = time.monotonic()
    process = subprocess.Popen([str(binaries / words[0]), *words[1:]], cwd=work, env=environment, stdin=stdin, stdout=output,
                               stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=limit)
    timer = threading.Timer(MOST_SECONDS, lambda: os.killpg(process.pid, signal.SIGKILL))
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    waited = time.monotonic() - begin
    seconds = waited if waited >= MOST_SECONDS else usage.ru_utime + usage.ru_stime
    output.seek(0)
    text = output.read(1 << 20).decode(errors="replace")
    return Outcome(process.returncode, text, seconds, usage.ru_maxrss * 1024, size)


def limit():
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def complaints(entry, outcome, base):
    """The differences between an outcome and the expectations."""
    wrong = []
    if outcome.seconds >= SECONDS:
        return [f"takes {outcome.seconds:.0f} s"]
    if outcome.status not in (0, 1, 2):
        wrong.append(f"ends with {outcome.status}")
    if INTERNAL.search(outcome.text):
        wrong.append("reports an internal error")
    most = 160 * MIB + base + outcome.size
    if outcome.peak > most:
        wrong.append(f"takes {outcome.peak // MIB} MiB, more than {most // MIB}")
    if not entry.expected:
        wrong.append("has no expectation")
    for wanted in entry.expected:
        wrong += missing(wanted, outcome)
    return wrong


def missing(wanted, outcome):
    """Why an outcome lacks an expected status and line: `ok`, or `LINE:COLUMN CODE words`."""
    head, _, rest = wanted.partition(" ")
    status = STATUS.get(head, 1)
    wanted = rest if head in STATUS else wanted
    if outcome.status != status:
        return [f"has status {outcome.status} instead of {status}"]
    place = re.match(r"(\d+:\d+)(?: |$)", wanted)
    wanted = wanted[place.end():] if place else wanted
    code = re.match(r"(SK\d{4})(?: |$)", wanted)
    words = wanted[code.end():] if code else wanted
    parts = ([f":{place[1]}: "] if place else []) + ([f"[{code[1]}]"] if code else []) + [words.strip()]
    if any(all(part in line for part in parts) for line in outcome.text.split("\n")):
        return []
    return [f"has no line with {' '.join(parts)!r}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=pathlib.Path, default=HERE.parent.parent / "target/release")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", action="store_true", help="print the output of failing entries")
    shards.add_argument(parser)
    parser.add_argument("only", nargs="*", help="classes, or CLASS/NAME")
    options = parser.parse_args()
    binaries = options.binaries.resolve()
    start_time = time.monotonic()
    builders.prepare(binaries)
    classes = {path.stem: entries(path) for path in sorted(HERE.glob("*.txt"))}
    count = sum(map(len, classes.values()))
    mutations = sum(entry.is_mutation() for found in classes.values() for entry in found)
    for name, found in classes.items():
        names = [entry.name for entry in found]
        if twice := {n for n in names if names.count(n) > 1}:
            raise SystemExit(f"{name}: names occur twice: {sorted(twice)}")
    wanted = [(name, entry) for name, found in classes.items() for entry in found
              if not options.only or name in options.only or f"{name}/{entry.name}" in options.only]
    wanted = shards.shard(wanted, options.shard)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda pair: execute(pair[1], binaries), wanted)
        for (name, entry), outcome in zip(wanted, outcomes):
            if wrong := complaints(entry, outcome, builders.BASE[entry.command.split()[0]]):
                failed += 1
                print(f"{entry.where}: {name}/{entry.name}: {'; '.join(wrong)}")
                if options.show:
                    print("    " + outcome.text[:2000].replace("\n", "\n    "))
    builders.discard()
    print(f"{len(wanted) - failed} of {len(wanted)} hostile inputs in {time.monotonic() - start_time:.0f} s;"
          f" {count} in all, {mutations} of them mutations")
    if not options.only and mutations * 5 > count:
        raise SystemExit("more than a fifth are mutations: write inputs by hand")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
