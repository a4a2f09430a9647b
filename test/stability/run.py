#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the current tools on files of earlier releases, and programs that use their APIs (docs/stability.md).

Each folder beside this script is a release. Its documents, modules of the dialect, StableHLO programs and programs in C and Python must work
as they did. An artifact in another version of the format must be refused with a message that names the version.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOOLS = ROOT / "target/release"
sys.path.insert(0, str(ROOT / "test"))
import documents  # noqa: E402


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, **options)
    return done.returncode, done.stdout + done.stderr


class Release:
    def __init__(self, folder, out):
        self.folder, self.out, self.complaints = folder, out, []
        self.expected = [np.load(folder / f"{name}.npy") for name in ("y", "total")]

    def require(self, what, outcome):
        code, text = outcome
        if code != 0:
            self.complaints.append(f"{self.folder.name}: {what}: {text}")
        return code == 0

    def computes(self, what, names, *command):
        """Whether a command writes the expected outputs under these names."""
        target = self.out / what
        if self.require(what, run(*command, "--output-dir", target)):
            for name, value in zip(names, self.expected):
                found = np.load(target / f"{name}.npy")
                if found.shape != value.shape or not np.allclose(found, value, rtol=1e-5, atol=1e-5):
                    self.complaints.append(f"{self.folder.name}: {what}: {name} has other values")

    def documents(self):
        x = self.folder / "x.npy"
        self.computes("document", ("y", "total"), TOOLS / "skript", "run", self.folder / "net.sknd", "--input", f"x={x}")
        self.require("edition khronos", run(TOOLS / "skript", "check", "--edition=khronos", self.folder / "khronos.sknd"))

    def modules(self):
        """The text of the dialect: one module with dynamic extents is lowered, one with static extents is computed."""
        self.require("dialect", run(TOOLS / "skript-opt", "--skript-to-linalg", self.folder / "net.mlir"))
        program = self.out / "fixed.mlir"
        if self.require("dialect, static", run(TOOLS / "skript-translate", "--to-stablehlo", self.folder / "fixed.mlir", "-o", program)):
            weights = np.load(self.folder / "net.npz")
            arrays = [np.load(self.folder / "x.npy"), weights["net.Net.filter"], weights["net.Net.bias"]]
            inputs = []
            for n, array in enumerate(arrays):
                np.save(self.out / f"{n}.npy", array)
                inputs += ["--input", f"{n}={self.out / f'{n}.npy'}"]
            self.computes("dialect, static", ("0", "1"), TOOLS / "skript", "run", program, *inputs)

    def programs(self):
        self.computes("StableHLO", ("0", "1"), TOOLS / "skript", "run", self.folder / "program.mlir", "--input", f"0={self.folder / 'x.npy'}")

    def artifacts(self):
        artifact = self.folder / "net.skm"
        written = int.from_bytes(artifact.read_bytes()[8:12], "little")
        readable = int(re.search(r"compiled models: version (\d+)", run(TOOLS / "skript-run", "--version")[1])[1])
        if written == readable:
            self.computes("artifact", ("y", "total"), TOOLS / "skript-run", artifact, "--input", f"x={self.folder / 'x.npy'}")
            artifact, written = self.out / "older.skm", written - 1
            data = (self.folder / "net.skm").read_bytes()
            artifact.write_bytes(data[:8] + written.to_bytes(4, "little") + data[12:])
        code, text = run(TOOLS / "skript-run", artifact, "--input", f"x={self.folder / 'x.npy'}")
        if code == 0 or f"format {written}" not in text:
            self.complaints.append(f"{self.folder.name}: an artifact of version {written} is not refused by its version: {text}")

    def interfaces(self):
        installed, program = self.out / "installed", self.out / "program"
        self.require("install", run(ROOT / "skript-c/install.sh", installed))
        build = ["cc", "-Wall", "-Werror", self.folder / "program.c", "-I", installed / "include", "-L", installed / "lib"]
        if self.require("C, build", run(*build, "-lskript-c", f"-Wl,-rpath,{installed}/lib", "-lm", "-o", program)):
            self.require("C", run(program, self.folder / "net.sknd"))
        environment = {**os.environ, "PYTHONPATH": str(documents.OUT / "packages")}
        self.require("Python", run(sys.executable, self.folder / "program.py", self.folder, self.out, env=environment))


def main():
    documents.OUT.mkdir(parents=True, exist_ok=True)
    documents.place_packages()
    folders = sorted(path for path in HERE.iterdir() if (path / "net.sknd").exists())
    complaints = []
    with tempfile.TemporaryDirectory() as out:
        os.environ["XDG_CACHE_HOME"] = f"{out}/cache"
        for folder in folders:
            release = Release(folder, pathlib.Path(out))
            for part in (release.documents, release.modules, release.programs, release.artifacts, release.interfaces):
                part()
            complaints += release.complaints
    print("\n".join(complaints))
    print(f"stability: {len(folders)} releases, {len(complaints)} complaints")
    return 1 if complaints or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
