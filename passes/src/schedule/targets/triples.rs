// SPDX-License-Identifier: Apache-2.0
//! Target triples: the supported systems, as data, and the completion of short triples.

use super::architectures::Architecture;

/// A system of a triple: an operating system, with its environments.
#[derive(Debug)]
pub(crate) struct System {
    /// The name of the operating system; a version may follow it if `environments` is empty.
    name: &'static str,
    /// The environments that may follow the name: calling conventions and C libraries that do not affect objects.
    environments: &'static [&'static str],
}

const fn system(name: &'static str, environments: &'static [&'static str]) -> System {
    System { name, environments }
}

/// Systems with ELF objects and 64-bit pointers.
pub(crate) const ELF: &[System] =
    &[system("linux", &["gnu", "musl", "android"]), system("freebsd", &[]), system("none", &["elf"])];

/// Systems of WebAssembly.
pub(crate) const WASM: &[System] =
    &[system("unknown", &["unknown"]), system("none", &[]), system("wasi", &[])];

/// Systems of bare-metal processors.
pub(crate) const EMBEDDED: &[System] = &[system("none", &["eabi", "eabihf"])];

/// Words at the position of the vendor that name neither a vendor nor a system.
const NO_VENDOR: [&str; 3] = ["none", "unknown", "pc"];

impl Architecture {
    /// Completes a triple that may be short, such as `riscv64` or `aarch64-linux-gnu`; `None` if the architecture does not support its
    /// system.
    pub(crate) fn complete(&self, triple: &str) -> Option<String> {
        let words: Vec<&str> = triple.split('-').collect();
        let architecture = self.triple.split('-').next()?;
        let is = |system: &[&str]| self.systems.iter().any(|known| known.is(system));
        match &words[..] {
            [_] => Some(self.triple.to_owned()),
            // The vendor is missing, or `none` is both the vendor and the system.
            [_, rest @ ..] if is(rest) => Some(match rest {
                ["none", _] => format!("{architecture}-{}", rest.join("-")),
                _ => format!("{architecture}-unknown-{}", rest.join("-")),
            }),
            [_, vendor, rest @ ..] if is(rest) && !vendor.is_empty() => {
                Some(format!("{architecture}-{vendor}-{}", rest.join("-")))
            }
            // The system is missing; the environment is one of bare-metal systems.
            [_, vendor, environment] if NO_VENDOR.contains(vendor) && is(&["none", environment]) => {
                Some(format!("{architecture}-{vendor}-{environment}"))
            }
            _ => None,
        }
    }

    /// Lists the systems of the architecture's triples, for messages.
    pub(crate) fn system_names(&self) -> String {
        let words = |system: &System| match system.environments {
            [] => vec![system.name.to_owned()],
            all => all.iter().map(|environment| format!("{}-{environment}", system.name)).collect(),
        };
        let names: Vec<String> = self.systems.iter().flat_map(words).collect();
        names.join(", ")
    }
}

impl System {
    /// Whether the last words of a triple name this system.
    fn is(&self, words: &[&str]) -> bool {
        // A version may follow a name: `android21`, `freebsd14.0`, `wasip1`.
        let begins = |word: &str, name: &str| {
            let version = word.strip_prefix(name).map(|version| version.trim_start_matches('p'));
            version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
        };
        match words {
            [name] => begins(name, self.name),
            [name, environment] => {
                *name == self.name && self.environments.iter().any(|e| begins(environment, e))
            }
            _ => false,
        }
    }
}

/// Whether programs for a triple have no C library, because its system is `none` or unknown.
pub(crate) fn is_freestanding(triple: &str) -> bool {
    let mut words = triple.split('-').skip(1);
    words.all(|word| {
        !["linux", "darwin", "windows", "wasi", "macosx", "freebsd"]
            .iter()
            .any(|system| word.starts_with(system))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(triple: &str) -> Option<String> {
        Architecture::for_triple(triple)?.complete(triple)
    }

    #[test]
    fn triples_have_the_architecture_of_their_first_word() {
        let name = |triple: &str| Architecture::for_triple(triple).map(|a| a.name);
        assert_eq!(name("arm64-linux-gnu"), Some("aarch64"));
        assert_eq!(name("thumbv7em-none-eabihf"), Some("arm"));
        for unknown in [
            "sparc64-linux-gnu",
            "aarch64_be-linux-gnu",
            "armeb-none-eabi",
            "arm64_32-none",
            "x86_64h",
            "thumbv6m-none-eabi",
            "",
        ] {
            assert_eq!(name(unknown), None, "{unknown}");
        }
    }

    /// The second triples are those of `clang -print-effective-triple` and `gcc -dumpmachine`, or have the same meaning for LLVM.
    #[test]
    fn short_triples_are_completed() {
        for (short, long) in [
            ("wasm32", "wasm32-unknown-unknown"),
            ("wasm32-wasip1", "wasm32-unknown-wasip1"),
            ("thumb", "thumbv7em-none-eabihf"),
            ("thumbv7em-none-eabi", "thumbv7em-none-eabi"),
            ("aarch64-linux-gnu", "aarch64-unknown-linux-gnu"),
            ("arm64-linux-android21", "aarch64-unknown-linux-android21"),
            ("x86_64-linux", "x86_64-unknown-linux"),
            ("amd64-freebsd14.1", "x86_64-unknown-freebsd14.1"),
            ("x86_64-redhat-linux", "x86_64-redhat-linux"),
            ("x86_64-pc-linux-musl", "x86_64-pc-linux-musl"),
            ("riscv64gc-unknown-linux-gnu", "riscv64-unknown-linux-gnu"),
            ("riscv64-unknown-elf", "riscv64-unknown-elf"),
            ("aarch64-none-elf", "aarch64-none-elf"),
            ("aarch64-none-linux-gnu", "aarch64-none-linux-gnu"),
        ] {
            assert_eq!(complete(short).as_deref(), Some(long), "{short}");
        }
    }

    #[test]
    fn other_systems_and_formats_are_refused() {
        for triple in [
            "x86_64-windows-msvc",
            "x86_64-pc-windows-gnu",
            "arm64-apple-macosx14",
            "x86_64-apple-darwin",
            "x86_64-unknown-uefi",
            "x86_64-linux-gnux32",
            "x86_64-linux-gnu-macho",
            "aarch64-linux-gnu_ilp32",
            "x86_64-wasi",
            "wasm32-linux-gnu",
            "thumb-linux-gnueabihf",
            "x86_64-",
        ] {
            assert_eq!(complete(triple), None, "{triple}");
        }
    }

    #[test]
    fn freestanding_systems_are_recognized() {
        assert!(is_freestanding("wasm32-unknown-unknown"));
        assert!(is_freestanding("aarch64-none-elf"));
        assert!(!is_freestanding("riscv64-unknown-linux-gnu"));
        assert!(!is_freestanding("arm64-apple-macosx14"));
    }
}
