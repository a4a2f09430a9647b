// SPDX-License-Identifier: Apache-2.0
//! The features of x86-64 processors: LLVM's names and their `cpuid` bits.

/// A feature, and the system support that it requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// LLVM's name.
    pub name: &'static str,
    /// The value of EAX for `cpuid`.
    pub leaf: u32,
    /// The value of ECX for `cpuid`.
    pub subleaf: u32,
    /// The result register that contains the bit.
    pub register: Register,
    /// The number of the bit, from the least significant.
    pub bit: u32,
    /// The bits of XCR0 that must be set: processor state that the system saves for each thread.
    pub state: u32,
}

/// The registers of the result of `cpuid`, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// EAX.
    Eax,
    /// EBX.
    Ebx,
    /// ECX.
    Ecx,
    /// EDX.
    Edx,
}

use Register::{Eax as EAX, Ebx as EBX, Ecx as ECX, Edx as EDX};

/// No registers beyond the registers of SSE.
const NONE: u32 = 0;
/// 256-bit registers.
const AVX: u32 = 0b110;
/// 512-bit registers, and mask registers.
const AVX512: u32 = AVX | 0b1110_0000;
/// Tile registers.
const AMX: u32 = 0b11 << 17;
/// 32 general-purpose registers.
const APX: u32 = 1 << 19;

const fn feature(
    name: &'static str,
    leaf: u32,
    subleaf: u32,
    register: Register,
    bit: u32,
    state: u32,
) -> Feature {
    Feature { name, leaf, subleaf, register, bit, state }
}

/// All features that LLVM reports for a host, except for versions of AVX10, which need leaf 0x24.
#[rustfmt::skip]
pub const TABLE: &[Feature] = &[
    feature("cx8", 1, 0, EDX, 8, NONE),
    feature("cmov", 1, 0, EDX, 15, NONE),
    feature("mmx", 1, 0, EDX, 23, NONE),
    feature("fxsr", 1, 0, EDX, 24, NONE),
    feature("sse", 1, 0, EDX, 25, NONE),
    feature("sse2", 1, 0, EDX, 26, NONE),
    feature("sse3", 1, 0, ECX, 0, NONE),
    feature("pclmul", 1, 0, ECX, 1, NONE),
    feature("ssse3", 1, 0, ECX, 9, NONE),
    feature("fma", 1, 0, ECX, 12, AVX),
    feature("cx16", 1, 0, ECX, 13, NONE),
    feature("sse4.1", 1, 0, ECX, 19, NONE),
    feature("sse4.2", 1, 0, ECX, 20, NONE),
    feature("crc32", 1, 0, ECX, 20, NONE),
    feature("movbe", 1, 0, ECX, 22, NONE),
    feature("popcnt", 1, 0, ECX, 23, NONE),
    feature("aes", 1, 0, ECX, 25, NONE),
    feature("xsave", 1, 0, ECX, 26, AVX),
    feature("avx", 1, 0, ECX, 28, AVX),
    feature("f16c", 1, 0, ECX, 29, AVX),
    feature("rdrnd", 1, 0, ECX, 30, NONE),
    feature("sahf", 0x8000_0001, 0, ECX, 0, NONE),
    feature("lzcnt", 0x8000_0001, 0, ECX, 5, NONE),
    feature("sse4a", 0x8000_0001, 0, ECX, 6, NONE),
    feature("prfchw", 0x8000_0001, 0, ECX, 8, NONE),
    feature("xop", 0x8000_0001, 0, ECX, 11, AVX),
    feature("lwp", 0x8000_0001, 0, ECX, 15, NONE),
    feature("fma4", 0x8000_0001, 0, ECX, 16, AVX),
    feature("tbm", 0x8000_0001, 0, ECX, 21, NONE),
    feature("mwaitx", 0x8000_0001, 0, ECX, 29, NONE),
    feature("64bit", 0x8000_0001, 0, EDX, 29, NONE),
    feature("clzero", 0x8000_0008, 0, EBX, 0, NONE),
    feature("rdpru", 0x8000_0008, 0, EBX, 4, NONE),
    feature("wbnoinvd", 0x8000_0008, 0, EBX, 9, NONE),
    feature("fsgsbase", 7, 0, EBX, 0, NONE),
    feature("sgx", 7, 0, EBX, 2, NONE),
    feature("bmi", 7, 0, EBX, 3, NONE),
    feature("avx2", 7, 0, EBX, 5, AVX),
    feature("bmi2", 7, 0, EBX, 8, NONE),
    feature("invpcid", 7, 0, EBX, 10, NONE),
    feature("rtm", 7, 0, EBX, 11, NONE),
    feature("avx512f", 7, 0, EBX, 16, AVX512),
    feature("avx512dq", 7, 0, EBX, 17, AVX512),
    feature("rdseed", 7, 0, EBX, 18, NONE),
    feature("adx", 7, 0, EBX, 19, NONE),
    feature("avx512ifma", 7, 0, EBX, 21, AVX512),
    feature("clflushopt", 7, 0, EBX, 23, NONE),
    feature("clwb", 7, 0, EBX, 24, NONE),
    feature("avx512cd", 7, 0, EBX, 28, AVX512),
    feature("sha", 7, 0, EBX, 29, NONE),
    feature("avx512bw", 7, 0, EBX, 30, AVX512),
    feature("avx512vl", 7, 0, EBX, 31, AVX512),
    feature("avx512vbmi", 7, 0, ECX, 1, AVX512),
    feature("pku", 7, 0, ECX, 4, NONE),
    feature("waitpkg", 7, 0, ECX, 5, NONE),
    feature("avx512vbmi2", 7, 0, ECX, 6, AVX512),
    feature("shstk", 7, 0, ECX, 7, NONE),
    feature("gfni", 7, 0, ECX, 8, NONE),
    feature("vaes", 7, 0, ECX, 9, AVX),
    feature("vpclmulqdq", 7, 0, ECX, 10, AVX),
    feature("avx512vnni", 7, 0, ECX, 11, AVX512),
    feature("avx512bitalg", 7, 0, ECX, 12, AVX512),
    feature("avx512vpopcntdq", 7, 0, ECX, 14, AVX512),
    feature("rdpid", 7, 0, ECX, 22, NONE),
    feature("kl", 7, 0, ECX, 23, NONE),
    feature("cldemote", 7, 0, ECX, 25, NONE),
    feature("movdiri", 7, 0, ECX, 27, NONE),
    feature("movdir64b", 7, 0, ECX, 28, NONE),
    feature("enqcmd", 7, 0, ECX, 29, NONE),
    feature("uintr", 7, 0, EDX, 5, NONE),
    feature("avx512vp2intersect", 7, 0, EDX, 8, AVX512),
    feature("serialize", 7, 0, EDX, 14, NONE),
    feature("tsxldtrk", 7, 0, EDX, 16, NONE),
    feature("pconfig", 7, 0, EDX, 18, NONE),
    feature("amx-bf16", 7, 0, EDX, 22, AMX),
    feature("avx512fp16", 7, 0, EDX, 23, AVX512),
    feature("amx-tile", 7, 0, EDX, 24, AMX),
    feature("amx-int8", 7, 0, EDX, 25, AMX),
    feature("sha512", 7, 1, EAX, 0, AVX),
    feature("sm3", 7, 1, EAX, 1, AVX),
    feature("sm4", 7, 1, EAX, 2, AVX),
    feature("raoint", 7, 1, EAX, 3, NONE),
    feature("avxvnni", 7, 1, EAX, 4, AVX),
    feature("avx512bf16", 7, 1, EAX, 5, AVX512),
    feature("cmpccxadd", 7, 1, EAX, 7, NONE),
    feature("amx-fp16", 7, 1, EAX, 21, AMX),
    feature("hreset", 7, 1, EAX, 22, NONE),
    feature("avxifma", 7, 1, EAX, 23, AVX),
    feature("movrs", 7, 1, EAX, 31, NONE),
    feature("avxvnniint8", 7, 1, EDX, 4, AVX),
    feature("avxneconvert", 7, 1, EDX, 5, AVX),
    feature("amx-complex", 7, 1, EDX, 8, AMX),
    feature("avxvnniint16", 7, 1, EDX, 10, AVX),
    feature("prefetchi", 7, 1, EDX, 14, NONE),
    feature("usermsr", 7, 1, EDX, 15, NONE),
    feature("egpr", 7, 1, EDX, 21, APX),
    feature("push2pop2", 7, 1, EDX, 21, APX),
    feature("ppx", 7, 1, EDX, 21, APX),
    feature("ndd", 7, 1, EDX, 21, APX),
    feature("ccmp", 7, 1, EDX, 21, APX),
    feature("nf", 7, 1, EDX, 21, APX),
    feature("cf", 7, 1, EDX, 21, APX),
    feature("zu", 7, 1, EDX, 21, APX),
    feature("xsaveopt", 0xd, 1, EAX, 0, AVX),
    feature("xsavec", 0xd, 1, EAX, 1, AVX),
    feature("xsaves", 0xd, 1, EAX, 3, AVX),
    feature("ptwrite", 0x14, 0, EBX, 4, NONE),
    feature("widekl", 0x19, 0, EBX, 2, NONE),
    feature("amx-fp8", 0x1e, 1, EAX, 4, AMX),
    feature("amx-tf32", 0x1e, 1, EAX, 6, AMX),
    feature("amx-avx512", 0x1e, 1, EAX, 7, AMX),
    feature("amx-movrs", 0x1e, 1, EAX, 8, AMX),
];

/// The table as a C file: `runtime/c/x86_features.h`.
pub fn to_c() -> String {
    let mut text = String::from(
        "// SPDX-License-Identifier: Apache-2.0\n\
         /* The features of x86-64 processors, generated from runtime/src/processor/x86_features.rs: name, leaf and subleaf of\n   \
         cpuid, register (EAX, EBX, ECX, EDX), bit, and the bits of XCR0 that must be set. */\n",
    );
    for feature in TABLE {
        let Feature { name, leaf, subleaf, register, bit, state } = feature;
        let register = *register as u32;
        text.push_str(&format!("{{\"{name}\", {leaf:#x}, {subleaf}, {register}, {bit}, {state:#x}}},\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo test -p skript-runtime` with `SKRIPT_WRITE_C_TABLE=1` writes the file.
    #[test]
    fn the_table_of_shared_objects_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/c/x86_features.h");
        if std::env::var_os("SKRIPT_WRITE_C_TABLE").is_some() {
            std::fs::write(path, to_c()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), to_c());
    }

    #[test]
    fn names_are_unique() {
        for (n, feature) in TABLE.iter().enumerate() {
            assert!(TABLE[n + 1..].iter().all(|other| other.name != feature.name), "{}", feature.name);
        }
    }

    /// The kernel's view of the first processor.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn the_kernel_finds_the_same_caches() {
        let folder = std::path::Path::new("/sys/devices/system/cpu/cpu0/cache");
        let read =
            |n: usize, file: &str| std::fs::read_to_string(folder.join(format!("index{n}/{file}"))).ok();
        for n in 0..8 {
            let (Some(level), Some(kind), Some(size)) = (read(n, "level"), read(n, "type"), read(n, "size"))
            else {
                break;
            };
            if kind.trim() != "Instruction" {
                let kib: u64 = size.trim().trim_end_matches('K').parse().unwrap();
                let level: usize = level.trim().parse().unwrap();
                assert_eq!(crate::processor::caches()[level - 1], Some(kib << 10), "level {level}");
            }
        }
    }

    /// The kernel's names of some features; the kernel lists only supported features.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn the_kernel_finds_the_same() {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let line = info.lines().find(|line| line.starts_with("flags")).unwrap();
        let has = |flag: &str| line.split_whitespace().any(|f| f == flag);
        let features = crate::processor::features();
        let names = [
            ("sse2", "sse2"),
            ("sse4.2", "sse4_2"),
            ("avx", "avx"),
            ("avx2", "avx2"),
            ("fma", "fma"),
            ("f16c", "f16c"),
            ("bmi2", "bmi2"),
            ("lzcnt", "abm"),
            ("avx512f", "avx512f"),
            ("avx512vl", "avx512vl"),
            ("avx512vnni", "avx512_vnni"),
            ("avx512bf16", "avx512_bf16"),
            ("avxvnni", "avx_vnni"),
            ("amx-tile", "amx_tile"),
            ("gfni", "gfni"),
            ("popcnt", "popcnt"),
            ("movbe", "movbe"),
        ];
        for (name, flag) in names {
            assert_eq!(features.contains(&name), has(flag), "{name}");
        }
    }
}
