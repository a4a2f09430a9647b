# SPDX-License-Identifier: Apache-2.0
"""Completes the wheel of the package skript: adds MLIR, LLVM and the command-line tools beside the extension module, with
relative paths, so that the package runs without other installed software.

    bundle.py WHEEL --binaries target/release --patchelf PATCHELF --license LICENSE -o FOLDER

Libraries that LLVM links, but that the compiler does not call (an SMT solver, XML, line editing, foreign calls), are
replaced by libraries with the same symbols, which trap: they would be half of the wheel's dependencies.
"""
import argparse
import base64
import hashlib
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
import zipfile

# Libraries that every Linux distribution has, as defined by manylinux.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz)\.so\.\d+|ld-linux-.*|linux-vdso.*")
# Libraries that are replaced, because this compiler does not contain their callers.
REPLACED = re.compile(r"(libz3|libxml2|libedit|libffi)\.so\.\d+")
TOOLS = ["skript", "skript-driver", "skript-opt", "skript-translate"]
# LLVM's library in Debian 12 needs this C library.
TAG = "manylinux_2_36_%s" % platform.machine()
# The time of all files, so that equal files result in equal wheels.
TIME = (2026, 1, 1, 0, 0, 0)
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
SYMBOL = re.compile(r"^\s*\d+: \S+\s+\d+ (\S+)\s+\S+\s+\S+\s+(\S+) ([^\s@]+)@?@?(\S*)")


def stdout_of(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def needed(binary):
    return NEEDED.findall(stdout_of("readelf", "-d", binary))


def loaded_libraries(binary):
    """The files of all libraries that a binary loads, by name."""
    lines = (line.split() for line in stdout_of("ldd", binary).splitlines())
    return {words[0]: pathlib.Path(words[2]) for words in lines if len(words) > 2 and words[1] == "=>"}


def symbols(binary):
    """The symbols of a library: name, version, kind, and whether the library defines it."""
    for line in stdout_of("readelf", "--dyn-syms", "-W", binary).splitlines():
        match = SYMBOL.match(line)
        if match:
            kind, section, name, version = match.groups()
            yield name, version, kind, section not in ("UND", "ABS")


def replacement(name, library, users, folder):
    """Builds a stub library with the symbols of `library` that `users` refer to."""
    wanted = {symbol for user in users for symbol, _, _, defined in symbols(user) if not defined}
    defined = {symbol: (version, kind) for symbol, version, kind, here in symbols(library) if here and symbol in wanted}
    source, versions = [], {}
    for symbol, (version, kind) in sorted(defined.items()):
        is_object = kind == "OBJECT"
        source.append("void *%s;" % symbol if is_object else "void %s(void) { __builtin_trap(); }" % symbol)
        versions.setdefault(version, []).append(symbol)
    for known in sorted({version for _, version, _, here in symbols(library) if here}):
        versions.setdefault(known, [])
    stanza = lambda names: "global: %s" % " ".join(name + ";" for name in names) if names else ""  # noqa: E731
    script = "".join("%s { %s };\n" % (version, stanza(names)) for version, names in sorted(versions.items()) if version)
    text, map_file, result = folder / (name + ".c"), folder / (name + ".map"), folder / name
    text.write_text("\n".join(source) + "\n")
    map_file.write_text(script)
    flags = ["-Wl,--version-script=%s" % map_file] if script else []
    stdout_of("cc", "-shared", "-fPIC", "-w", "-fno-builtin", "-s", "-Wl,-soname,%s" % name, *flags, text, "-o", result)
    text.unlink()
    map_file.unlink()
    return len(defined)


def own_name(name):
    """The name of a library in the package. It is unique, so that no other module of the process loads it by the usual name."""
    return re.sub(r"\.so\b.*", "-skript.so", name)


def carried(binaries):
    """The libraries of binaries that are not the system's: those to copy, and those to replace, by name."""
    where, wanted, copied, replaced = {}, [], {}, {}
    for binary in binaries:
        where.update(loaded_libraries(binary))
        wanted += needed(binary)
    while wanted:
        name = wanted.pop()
        if REPLACED.fullmatch(name):
            replaced[name] = where[name]
        elif not SYSTEM.fullmatch(name) and name not in copied:
            copied[name] = where[name].resolve()
            wanted += needed(copied[name])
    return copied, replaced


def relocate(binaries, libraries, patchelf):
    """Copies the libraries of binaries, which are not the system's, into a folder, with relative paths to it. Each binary has its path
    to the folder."""
    copied, replaced = carried(binaries)
    copies = {name: libraries / own_name(name) for name in copied}
    for name, copy in copies.items():
        shutil.copy2(copied[name], copy)
    for name, library in sorted(replaced.items()):
        count = replacement(own_name(name), library, copies.values(), libraries)
        print("bundle: %s is replaced, %d symbols" % (name, count))
    for binary, path in {**binaries, **{copy: "$ORIGIN" for copy in copies.values()}}.items():
        changes = ["--set-rpath", path]
        for name in needed(binary):
            if name in copies or name in replaced:
                changes += ["--replace-needed", name, own_name(name)]
        if binary in copies.values():
            changes += ["--set-soname", binary.name]
        stdout_of(patchelf, *changes, binary)


def complete(package, binaries, patchelf):
    """Adds libraries and tools to an unpacked package."""
    (extension,) = package.glob("_skript*.so")
    libraries, tools = package / "lib", package / "bin"
    libraries.mkdir()
    tools.mkdir()
    for tool in TOOLS:
        shutil.copy2(binaries / tool, tools / tool)
        stdout_of("strip", tools / tool)
    stdout_of("strip", "--strip-unneeded", extension)
    relocate({extension: "$ORIGIN/lib", **{tools / tool: "$ORIGIN/../lib" for tool in TOOLS}}, libraries, patchelf)


def normalize(bill):
    """Removes the time, the folder of the build, and random numbers from a bill of materials, which maturin writes."""
    text = re.sub(r"path\+file://[^#\"]*/", "path+file:///", bill.read_text(encoding="utf-8"))
    document = json.loads(text)
    document["metadata"]["timestamp"] = "%04d-%02d-%02dT%02d:%02d:%02dZ" % TIME
    document["serialNumber"] = "urn:uuid:%s" % uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document["components"]))
    bill.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def pack(folder, wheel, licenses):
    """Writes a wheel with its licenses and its list of files."""
    (metadata,) = folder.glob("*.dist-info")
    (metadata / "licenses").mkdir(exist_ok=True)
    for path in licenses:
        shutil.copy2(path, metadata / "licenses" / path.name)
    for bill in metadata.glob("sboms/*.json"):
        normalize(bill)
    description = metadata / "WHEEL"
    lines = [line for line in description.read_text().splitlines() if line and not line.startswith("Tag:")]
    tag = "-".join(wheel.stem.split("-")[2:])
    description.write_text("\n".join([*lines, "Tag: %s" % tag, ""]))
    record = metadata / "RECORD"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != record)
    rows = []

    def add(name, data, mode):
        entry = zipfile.ZipInfo(name, TIME)
        entry.external_attr = mode << 16
        archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)

    with zipfile.ZipFile(wheel, "w") as archive:
        for path in files:
            data, name = path.read_bytes(), path.relative_to(folder).as_posix()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append("%s,sha256=%s,%d" % (name, digest, len(data)))
            add(name, data, 0o100755 if path.stat().st_mode & 0o100 else 0o100644)
        name = record.relative_to(folder).as_posix()
        add(name, "\n".join([*rows, name + ",,", ""]), 0o100644)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--patchelf", required=True)
    parser.add_argument("--tag", default=TAG, help="the platform tag")
    parser.add_argument("--license", type=pathlib.Path, action="append", default=[], help="a file for the metadata")
    parser.add_argument("-o", dest="output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        with zipfile.ZipFile(options.wheel) as archive:
            archive.extractall(folder)
        if (folder / "skript").is_dir():
            complete(folder / "skript", options.binaries, options.patchelf)
        else:
            (extension,) = folder.glob("skript_runtime/_runtime*.so")
            foreign = [name for name in needed(extension) if not SYSTEM.fullmatch(name)]
            if foreign:
                sys.exit("bundle: the runtime links %s" % ", ".join(foreign))
            if options.tag.endswith(platform.machine()):
                stdout_of("strip", "--strip-unneeded", extension)
            stdout_of(options.patchelf, "--remove-rpath", extension)
        parts = options.wheel.stem.split("-")
        wheel = options.output / ("-".join([*parts[:4], options.tag]) + ".whl")
        pack(folder, wheel, options.license)
    print("%s: %.1f MB" % (wheel, wheel.stat().st_size / 1e6))


if __name__ == "__main__":
    main()
