#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the versions of the crates, the tools, the Python packages, the editor's extension and CHANGELOG.md.

The version is that of the newest release in CHANGELOG.md. `(unreleased)` above it is the next one.
"""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ("skript", "skript-driver", "skript-run", "skript-opt", "skript-translate", "skript-reduce")


def numbers(version):
    return tuple(map(int, version.split(".")))


def main():
    complaints = []
    headings = re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}|unreleased)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    if [v for v, _ in headings] != sorted((v for v, _ in headings), key=numbers, reverse=True):
        complaints.append("CHANGELOG.md: the newest version must come first")
    if any(year == "unreleased" for _, year in headings[1:]):
        complaints.append("CHANGELOG.md: only the first version may be unreleased")
    released = next(version for version, year in headings if year != "unreleased")

    def require(what, version):
        if version != released:
            complaints.append(f"{what} has version {version}, the newest release in CHANGELOG.md is {released}")

    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    require("Cargo.toml", workspace["package"]["version"])
    for name, dependency in workspace["dependencies"].items():
        if isinstance(dependency, dict) and "path" in dependency:
            require(f"Cargo.toml: {name}", dependency["version"])
    metadata = subprocess.run(["cargo", "metadata", "--offline", "--no-deps", "--format-version=1"], cwd=ROOT, check=True, capture_output=True, text=True)
    for package in json.loads(metadata.stdout)["packages"]:
        require(f"the crate {package['name']}", package["version"])
    for project in ("python", "python/runtime"):
        configuration = tomllib.loads((ROOT / project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        if "version" not in configuration.get("dynamic", []):
            require(f"{project}/pyproject.toml", configuration["version"])
    for path in ("javascript/package/package.json", "editors/vscode/package.json", "editors/tree-sitter-sknd/package.json"):
        require(path, json.loads((ROOT / path).read_text(encoding="utf-8"))["version"])
    grammar = json.loads((ROOT / "editors/tree-sitter-sknd/tree-sitter.json").read_text(encoding="utf-8"))
    require("editors/tree-sitter-sknd/tree-sitter.json", grammar["metadata"]["version"])
    for tool in TOOLS:
        printed = subprocess.run([ROOT / "target/release" / tool, "--version"], check=True, capture_output=True, text=True).stdout
        require(tool, printed.split("\n")[0].split()[-1])
    for wheel in (ROOT / "build/wheels").glob("*.whl"):
        require(wheel.name, wheel.name.split("-")[1])

    print("\n".join(complaints))
    print(f"versions: {released}, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
