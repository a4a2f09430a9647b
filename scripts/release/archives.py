#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packages the tools and libraries of target/release: a Debian package, which depends on Debian's MLIR, and an archive that contains
MLIR and runs in any folder. Equal files result in equal packages.

    archives.py --version 0.1.0 --epoch SECONDS --notices FILE --sbom FILE --patchelf PATCHELF -o FOLDER [--only deb|tar] [--level 1]
"""
import argparse
import gzip
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
from bundle import loaded_libraries, needed, relocate, stdout_of  # noqa: E402

BUILT = ROOT / "target/release"
TOOLS = ("skript", "skript-driver", "skript-run", "skript-language-server", "skript-lsp-server", "skript-opt", "skript-translate", "skript-reduce")
CONTROL = """Package: skriptnd
Version: {version}
Architecture: {architecture}
Maintainer: SkriptND developers
Installed-Size: {size}
Depends: {depends}
Section: devel
Priority: optional
Description: compiler of SkriptND, the language of NNEF 2.0
 Checks, compiles and runs neural networks in SkriptND, ONNX and StableHLO,
 with a language server, tools for the MLIR dialect, and a library for C.
"""


def stage(root, options):
    """Writes the files of both packages below `root`: binaries, library, header, manual pages, completions, licenses."""
    (root / "bin").mkdir(parents=True)
    for tool in TOOLS:
        shutil.copy2(BUILT / tool, root / "bin" / tool)
    stdout_of(ROOT / "skript-c/install.sh", root)
    for binary in [*(root / "bin").iterdir(), root / "lib/libskript-c.so"]:
        stdout_of("strip", "--strip-unneeded", binary)
        stdout_of(options.patchelf, "--remove-rpath", binary)
    pages = root / "share/man/man1"
    pages.mkdir(parents=True)
    stdout_of(BUILT / "skript", "man", "--output-dir", pages)
    for page in list(pages.iterdir()):
        page.with_name(page.name + ".gz").write_bytes(gzip.compress(page.read_bytes(), 9, mtime=0))
        page.unlink()
    for shell, path in (("bash", "bash-completion/completions/skript"), ("zsh", "zsh/vendor-completions/_skript"), ("fish", "fish/vendor_completions.d/skript.fish")):
        completions = root / "share" / path
        completions.parent.mkdir(parents=True)
        completions.write_text(stdout_of(BUILT / "skript", "completions", shell))
    documents = root / "share/doc/skriptnd"
    documents.mkdir(parents=True)
    shutil.copy2(ROOT / "LICENSE", documents / "copyright")
    shutil.copy2(options.notices, documents / "NOTICES.txt")
    shutil.copy2(options.sbom, documents / "skriptnd.cdx.json")


def dependencies(binaries):
    """The packages of the libraries that the binaries link, with their versions, by dpkg-shlibdeps."""
    with tempfile.TemporaryDirectory() as temporary:
        control = pathlib.Path(temporary, "debian/control")
        control.parent.mkdir()
        control.write_text("Source: skriptnd\n\nPackage: skriptnd\nArchitecture: any\n")
        # Debian has MLIR's libraries in a folder of its version.
        command = ["dpkg-shlibdeps", "-O", "--ignore-missing-info", *("-l%s" % folder for folder in library_folders()), *binaries]
        # Perl's hash order selects one of two paths to libLLVM, and only one path has a package.
        environment = {**os.environ, "PERL_HASH_SEED": "0"}
        done = subprocess.run([str(c) for c in command], cwd=temporary, check=True, capture_output=True, text=True, env=environment)
    depends = done.stdout.strip().removeprefix("shlibs:Depends=").split(", ")
    for library in loaded_libraries(BUILT / "skript-driver").values():
        if "llvm" in str(library):
            package = stdout_of("dpkg-query", "-S", library.resolve()).split(":")[0]
            depends += [] if any(entry.split()[0] == package for entry in depends) else [package]
    return ", ".join(sorted(depends))


def library_folders():
    """The folders of libraries outside of the usual ones."""
    paths = {path.parent for name in TOOLS for path in loaded_libraries(BUILT / name).values()}
    return sorted(str(path) for path in paths if "llvm" in str(path))


def debian(root, options):
    architecture = stdout_of("dpkg", "--print-architecture").strip()
    binaries = [*sorted((root / "bin").iterdir()), root / "lib/libskript-c.so"]
    # Debian's package has MLIR in its own folder.
    for binary in binaries:
        if any("MLIR" in name or "LLVM" in name for name in needed(binary)):
            stdout_of(options.patchelf, "--set-rpath", ":".join(library_folders()), binary)
    depends = dependencies(binaries)
    with tempfile.TemporaryDirectory() as temporary:
        package = pathlib.Path(temporary, "package")
        shutil.copytree(root, package / "usr")
        size = sum(path.stat().st_size for path in package.rglob("*") if path.is_file()) // 1024
        (package / "DEBIAN").mkdir()
        (package / "DEBIAN/control").write_text(CONTROL.format(version=options.version, architecture=architecture, size=size, depends=depends))
        for path in [package, *package.rglob("*")]:
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
        output = options.output / ("skriptnd_%s_%s.deb" % (options.version, architecture))
        # dpkg-deb sorts the files, and SOURCE_DATE_EPOCH is the latest time of a file.
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(options.epoch)}
        for path in [package, *package.rglob("*")]:
            os.utime(path, (options.epoch, options.epoch))
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z%d" % options.level, "--build", str(package), str(output)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return output


def archive(root, options):
    name = "skriptnd-%s-%s-linux" % (options.version, os.uname().machine)
    folder = {**{root / "bin" / tool: "$ORIGIN/../lib" for tool in TOOLS}, root / "lib/libskript-c.so": "$ORIGIN"}
    # The search for libraries uses the paths of the build.
    for binary in folder:
        stdout_of(options.patchelf, "--set-rpath", ":".join(library_folders()), binary)
    relocate(folder, root / "lib", options.patchelf)
    output = options.output / (name + ".tar.gz")
    with open(output, "wb") as file, gzip.GzipFile("", "wb", options.level, file, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in sorted(path for path in root.rglob("*") if path.is_file()):
                entry = tarfile.TarInfo("%s/%s" % (name, path.relative_to(root)))
                data = path.read_bytes()
                entry.size, entry.mtime = len(data), options.epoch
                entry.mode = 0o755 if path.parent.name == "bin" else 0o644
                tar.addfile(entry, io.BytesIO(data))
    return output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("--notices", type=pathlib.Path, required=True)
    parser.add_argument("--sbom", type=pathlib.Path, required=True)
    parser.add_argument("--patchelf", required=True)
    parser.add_argument("--only", choices=["deb", "tar"])
    parser.add_argument("--level", type=int, default=6, help="of the compression")
    parser.add_argument("-o", dest="output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    for kind, write in (("deb", debian), ("tar", archive)):
        if options.only in (None, kind):
            with tempfile.TemporaryDirectory() as temporary:
                stage(pathlib.Path(temporary, "root"), options)
                output = write(pathlib.Path(temporary, "root"), options)
                print("%s: %.1f MB" % (output, output.stat().st_size / 1e6))


if __name__ == "__main__":
    main()
