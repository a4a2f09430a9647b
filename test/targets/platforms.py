# SPDX-License-Identifier: Apache-2.0
"""Data of the platforms for which object files are linked and run on this computer."""
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVER = os.path.join(HERE, "driver.c")

# Functions that code for systems without a C library may call: C compilers expect that every program defines them. The linker defines the
# stack pointer of WebAssembly, which is a variable.
MEMORY_FUNCTIONS = {"memcpy", "memmove", "memset", "memcmp", "__stack_pointer"}
WASM_LINK = ["-nostdlib", "-fuse-ld=lld", "-Wl,--no-entry,--export=skript_drive,--export=skript_stream_address,-z,stack-size=1048576"]


def processor_features():
    """The features of this x86-64 processor by their names in /proc/cpuinfo."""
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].split() for line in file if line.startswith("flags")), [])


class Platform:
    """Flags of `skript compile`, the command that links the driver, and the command that runs programs (None for Node).

    `features` are the features of this processor that programs need, by their names in /proc/cpuinfo.
    """

    def __init__(self, name, flags, linker, runner=None, libraries=("-lm",), freestanding=False, features=()):
        self.name, self.flags, self.linker, self.runner = name, flags, linker, runner
        self.libraries, self.freestanding, self.features = list(libraries), freestanding, features

    def missing(self):
        """The reason why no program of this platform can run here, or None."""
        programs = [self.linker[0], self.runner[0] if self.runner else "node"]
        if "-fuse-ld=lld" in self.linker:
            programs.append("wasm-ld-22")
        absent = next((program for program in programs if not shutil.which(program)), None)
        if absent:
            return "%s is not installed" % absent
        lacking = [feature for feature in self.features if feature not in processor_features()]
        return "this processor lacks %s" % ", ".join(lacking) if lacking else None

    def link(self, header, model, program):
        """The error, or None."""
        done = subprocess.run([*self.linker, "-std=c11", "-O1", '-DMODEL_H="%s"' % header, DRIVER, model, *self.libraries, "-o", program],
                              capture_output=True, text=True)
        return "link: " + done.stderr.strip()[-300:] if done.returncode else None


def linux(name, cc, qemu, *flags):
    return Platform(name, list(flags), [cc, "-static"], qemu)


def wasm(name, *flags):
    clang = ["clang-22", "--target=wasm32-unknown-unknown", "-ffreestanding", "-mbulk-memory", *WASM_LINK]
    if "--features=+simd128" in flags:
        clang.append("-msimd128")
    return Platform(name, ["--target=wasm32", *flags], clang, libraries=(), freestanding=True)


AARCH64, RISCV64 = "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"
PLATFORMS = {
    platform.name: platform
    for platform in [
        linux("aarch64", AARCH64, ["qemu-aarch64"], "--target=aarch64-linux-gnu"),
        linux("aarch64-n1", AARCH64, ["qemu-aarch64", "-cpu", "neoverse-n1"], "--target=aarch64-linux-gnu", "--cpu=neoverse-n1"),
        linux("aarch64-sve256", AARCH64, ["qemu-aarch64", "-cpu", "max,sve256=on,sve-default-vector-length=32"], "--target=aarch64-linux-gnu", "--features=+sve,+sve2,+sve256"),
        linux("aarch64-sve512", AARCH64, ["qemu-aarch64", "-cpu", "max,sve512=on,sve-default-vector-length=64"], "--target=aarch64-linux-gnu", "--features=+sve,+sve2,+sve512"),
        Platform("aarch64-none", ["--target=aarch64-none-elf"], [AARCH64, "-static"], ["qemu-aarch64"], (), True),
        # For this processor: the tests that need no C library on other processors.
        Platform("x86-64-none", ["--target=x86_64-none-elf", "--cpu=x86-64-v2"], ["cc", "-static"], ["env"], (), True),
        linux("riscv64", RISCV64, ["qemu-riscv64"], "--target=riscv64-linux-gnu"),
        linux("riscv64-v", RISCV64, ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"], "--target=riscv64-linux-gnu", "--features=+v"),
        linux("riscv64-v256", RISCV64, ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=256,vext_spec=v1.0"], "--target=riscv64-linux-gnu", "--features=+v,+zvl256b"),
        wasm("wasm32"),
        wasm("wasm32-simd", "--features=+simd128"),
    ]
}
