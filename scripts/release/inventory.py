#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists what the files of a release contain: the crates that the tools and libraries link, by `cargo metadata`, the Debian packages
of the libraries beside them, and the npm packages of the extension for VS Code.

    inventory.py --sbom FILE --notices FILE --epoch SECONDS [--metafile build/vscode/metafile.json] [--binary FILE]

`--sbom` is a bill of materials in CycloneDX, which is checked against its schema. `--notices` has the licenses with their texts.
"""
import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
from bundle import carried  # noqa: E402

# The crates whose binaries and libraries a release has.
SHIPPED = {"skript-tools", "skript-run", "skript-language-server", "skript-c", "skript-python", "skript-python-runtime", "skript-javascript"}
TEXTS = re.compile(r"(licen[cs]e|copying|notice|unlicense)", re.IGNORECASE)
TARGET = "x86_64-unknown-linux-gnu"


class Package:
    """A dependency: its URL type, name, version, license expression, license texts, and SHA-256."""

    def __init__(self, kind, name, version, license, texts, digest=None):
        self.kind, self.name, self.version, self.license, self.texts, self.digest = kind, name, version, license, texts, digest


def texts_in(folder):
    files = sorted(path for path in folder.iterdir() if path.is_file() and TEXTS.match(path.name))
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in files]


def crates():
    """The crates that the shipped ones link, of other projects, with the version of this one."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--filter-platform", TARGET]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    wanted = [key for key, package in packages.items() if package["name"] in SHIPPED and not package["source"]]
    version, linked = packages[wanted[0]]["version"], set()
    while wanted:
        key = wanted.pop()
        if key not in linked:
            linked.add(key)
            # Build and development dependencies are not in the files.
            wanted += [d["pkg"] for d in nodes[key]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    digests = {(package["name"], package["version"]): package.get("checksum") for package in lock}
    found = []
    for package in (packages[key] for key in linked if packages[key]["source"]):
        texts = texts_in(pathlib.Path(package["manifest_path"]).parent)
        # Older crates separate licenses by a slash.
        license = (package["license"] or "").replace("/", " OR ")
        name, number = package["name"], package["version"]
        found.append(Package("cargo", name, number, license, texts, digests[name, number]))
    return version, found


def standard_library():
    """Rust's standard library, which all binaries link. Its version is that of the compiler."""
    def stdout_of(*arguments):
        return subprocess.run(["rustc", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    folder = pathlib.Path(stdout_of("--print", "sysroot").strip(), "share/doc/rust/html/static.files")
    files = [path for name in ("COPYRIGHT", "LICENSE-MIT", "LICENSE-APACHE") for path in folder.glob(name + "-*.txt")]
    if not files:
        sys.exit("inventory: %s lacks the standard library's licenses" % folder)
    texts = [path.read_text(encoding="utf-8").strip() for path in files]
    return Package("generic", "rust-std", stdout_of("--version").split()[1], "MIT OR Apache-2.0", texts)


def npm_packages(metafile):
    inputs = json.loads(metafile.read_text())["inputs"]
    folders = {match[0] for match in (re.match(r".*node_modules/(?:@[^/]+/)?[^/]+", path) for path in inputs) if match}
    for folder in folders:
        data = json.loads((metafile.parent / folder / "package.json").read_text())
        yield Package("npm", data["name"], data["version"], data["license"], texts_in(metafile.parent / folder))


def debian_packages(libraries):
    """The Debian packages of libraries. Their copyright files are the license texts."""
    def query(*arguments):
        return subprocess.run(["dpkg-query", *arguments], check=True, capture_output=True, text=True).stdout

    # Packages that predate the merge of /lib and /usr/lib list their files in /lib.
    for name in {query("-S", "*" + str(library).removeprefix("/usr")).split(":")[0] for library in libraries}:
        version = query("-W", "-f=${Version}\\n", name).split("\n")[0]
        copyright = pathlib.Path("/usr/share/doc", name, "copyright").read_text(encoding="utf-8", errors="replace")
        yield Package("deb", name, version, None, [copyright.strip()])


def bill(version, packages, epoch):
    factory, bom = LicenseFactory(), Bom()
    bom.metadata.component = Component(name="skriptnd", bom_ref="skriptnd", version=version, type=ComponentType.APPLICATION, licenses=[factory.make_with_expression("Apache-2.0")])
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc)
    for package in packages:
        url = PackageURL(package.kind, "debian" if package.kind == "deb" else None, package.name, package.version)
        bom.components.add(
            Component(
                name=package.name,
                version=package.version,
                type=ComponentType.LIBRARY,
                purl=url,
                bom_ref=str(url),
                licenses=[factory.make_from_string(package.license)] if package.license else [],
                hashes=[HashType(alg=HashAlgorithm.SHA_256, content=package.digest)] if package.digest else [],
            )
        )
    bom.register_dependency(bom.metadata.component, bom.components)
    # The serial number depends on the contents alone.
    names = " ".join(sorted(component.bom_ref.value for component in bom.components))
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, "skriptnd %s %s" % (version, names))
    text = JsonV1Dot6(bom).output_as_string(indent=1) + "\n"
    if errors := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit("inventory: the bill of materials is wrong: %s" % errors)
    return text


def notices(version, packages):
    """The licenses of all packages; equal texts once."""
    by_text = {}
    for package in packages:
        for text in package.texts or ["The package has no license text; its license is %s." % package.license]:
            by_text.setdefault(text, []).append("%s %s (%s)" % (package.name, package.version, package.license or "see below"))
    parts = ["Software in SkriptND %s, with its licenses. SkriptND itself has the license Apache-2.0.\n" % version]
    for text, names in sorted(by_text.items(), key=lambda entry: (sorted(entry[1])[0], entry[0])):
        parts.append("%s\n\n%s\n" % ("\n".join(sorted(set(names))), text))
    return ("\n" + "=" * 100 + "\n\n").join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sbom", type=pathlib.Path, required=True)
    parser.add_argument("--notices", type=pathlib.Path, required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("--metafile", type=pathlib.Path)
    parser.add_argument("--binary", help="packages contain the libraries of this binary")
    options = parser.parse_args()
    version, packages = crates()
    packages.append(standard_library())
    packages += npm_packages(options.metafile) if options.metafile else []
    packages += debian_packages(carried([options.binary])[0].values()) if options.binary else []
    packages.sort(key=lambda package: (package.kind, package.name, package.version))
    unknown = [package.name for package in packages if not package.license and not package.texts]
    if unknown:
        sys.exit("inventory: packages without a license: %s" % ", ".join(unknown))
    options.sbom.write_text(bill(version, packages, options.epoch), encoding="utf-8")
    options.notices.write_text(notices(version, packages), encoding="utf-8")
    kinds = ", ".join("%d %s" % (sum(p.kind == kind for p in packages), kind) for kind in ("cargo", "deb", "npm"))
    print("inventory: packages of %s" % kinds)


if __name__ == "__main__":
    main()
