//! Asks the system what an AArch64 processor has.

use std::arch::is_aarch64_feature_detected as detected;

pub fn features() -> impl Iterator<Item = &'static str> {
    let known = [
        ("fp-armv8", detected!("fp")),
        ("neon", detected!("neon")),
        ("aes", detected!("aes")),
        ("sha2", detected!("sha2")),
        ("sha3", detected!("sha3")),
        ("sm4", detected!("sm4")),
        ("crc", detected!("crc")),
        ("lse", detected!("lse")),
        ("rdm", detected!("rdm")),
        ("rcpc", detected!("rcpc")),
        ("rcpc-immo", detected!("rcpc2")),
        ("dotprod", detected!("dotprod")),
        ("fullfp16", detected!("fp16")),
        ("fp16fml", detected!("fhm")),
        ("jsconv", detected!("jsconv")),
        ("complxnum", detected!("fcma")),
        ("bf16", detected!("bf16")),
        ("i8mm", detected!("i8mm")),
        ("f32mm", detected!("f32mm")),
        ("f64mm", detected!("f64mm")),
        ("sve", detected!("sve")),
        ("sve2", detected!("sve2")),
        ("flagm", detected!("flagm")),
        ("pauth", detected!("paca")),
        ("ssbs", detected!("ssbs")),
        ("sb", detected!("sb")),
        ("dpb", detected!("dpb")),
    ];
    known
        .into_iter()
        .filter(|(_, has)| *has)
        .map(|(name, _)| name)
}
