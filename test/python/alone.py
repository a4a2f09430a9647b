# SPDX-License-Identifier: Apache-2.0
"""Checks that an installed package loads only its own libraries, and those that numpy and every Linux distribution include, and that the
runtime does not load the compiler."""
import pathlib
import re
import sys

SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libz|libexpat|libssl|libcrypto|libpython[\d.]+"
                    r"|libffi|libuuid|libbz2|liblzma|libutil)\.so(\.\d+)*|ld-linux-.*")  # fmt: skip


def libraries():
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    files = {line.split(None, 5)[5] for line in lines if line.count("/")}
    return {pathlib.Path(name) for name in files if re.search(r"\.so(\.|$)", name)}


def foreign():
    """The libraries from other locations."""
    own = pathlib.Path(sys.prefix)
    base = pathlib.Path(sys.base_prefix)
    others = [path for path in libraries() if own not in path.parents and not SYSTEM.fullmatch(path.name)]
    return [path for path in others if "lib-dynload" not in path.parts or base not in path.parents]


def main():
    import skript_runtime

    compilers = [path for path in libraries() if re.search("LLVM|MLIR", path.name)]
    assert not compilers, compilers
    import skript

    text = "import math; graph G { @input { x: real[n|8]; } @output { y: real[n]; } @compose { y = math.sqrt(x); } }"
    model = skript.from_text(text).compile()
    model.save("alone.skm")
    for callable_model in (model, skript_runtime.load("alone.skm")):
        assert callable_model([4.0, 9.0]).tolist() == [2, 3]
    assert not foreign(), foreign()
    names = {path.name for path in libraries()}
    assert any("LLVM" in name for name in names) and any("MLIR" in name for name in names)


if __name__ == "__main__":
    main()
