// SPDX-License-Identifier: Apache-2.0
//! Triples: the systems that code can be compiled for, as data, and the triple of LLVM for one that may be short.

use super::architectures::Architecture;

/// A system, as the words of a triple name it.
#[derive(Debug)]
pub(crate) struct System {
    /// The word; versions may follow it where `environments` are none.
    name: &'static str,
    /// The words that may follow it: calling conventions and C libraries that change nothing in objects.
    environments: &'static [&'static str],
}

const fn system(name: &'static str, environments: &'static [&'static str]) -> System {
    System { name, environments }
}

/// Systems whose objects are ELF, with pointers of 64 bits.
pub(crate) const ELF: &[System] =
    &[system("linux", &["gnu", "musl", "android"]), system("freebsd", &[]), system("none", &["elf"])];

/// Systems of WebAssembly.
pub(crate) const WASM: &[System] =
    &[system("unknown", &["unknown"]), system("none", &[]), system("wasi", &[])];

/// Processors that run one program.
pub(crate) const EMBEDDED: &[System] = &[system("none", &["eabi", "eabihf"])];

/// Words that name no system in the place of a vendor.
const NO_VENDOR: [&str; 3] = ["none", "unknown", "pc"];

impl Architecture {
    /// The complete triple of one that may be short: `riscv64`, `aarch64-linux-gnu`; `None` for another system than those of the
    /// architecture.
    pub(crate) fn complete(&self, triple: &str) -> Option<String> {
        let words: Vec<&str> = triple.split('-').collect();
        let own = self.triple.split('-').next()?;
        let is = |system: &[&str]| self.systems.iter().any(|known| known.is(system));
        match &words[..] {
            [_] => Some(self.triple.to_owned()),
            // A vendor is missing, or is the word for no system.
            [_, rest @ ..] if is(rest) => Some(match rest {
                ["none", _] => format!("{own}-{}", rest.join("-")),
                _ => format!("{own}-unknown-{}", rest.join("-")),
            }),
            [_, vendor, rest @ ..] if is(rest) && !vendor.is_empty() => {
                Some(format!("{own}-{vendor}-{}", rest.join("-")))
            }
            // Environments of no system.
            [_, vendor, environment] if NO_VENDOR.contains(vendor) && is(&["none", environment]) => {
                Some(format!("{own}-{vendor}-{environment}"))
            }
            _ => None,
        }
    }

    /// The systems of the architecture's triples, for messages.
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
    /// Whether words of a triple name the system.
    fn is(&self, words: &[&str]) -> bool {
        // Versions: `android21`, `freebsd14.0`, `wasip1`.
        let begins = |word: &str, name: &str| {
            let version = word.strip_prefix(name).map(|rest| rest.trim_start_matches('p'));
            version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
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

/// Whether programs of a triple have no C library: its system is none, or unknown.
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
        Architecture::of(triple)?.complete(triple)
    }

    #[test]
    fn triples_have_the_architecture_of_their_first_word() {
        let name = |triple: &str| Architecture::of(triple).map(|a| a.name);
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
    fn systems_without_a_library_are_found() {
        assert!(is_freestanding("wasm32-unknown-unknown"));
        assert!(is_freestanding("aarch64-none-elf"));
        assert!(!is_freestanding("riscv64-unknown-linux-gnu"));
        assert!(!is_freestanding("arm64-apple-macosx14"));
    }
}
