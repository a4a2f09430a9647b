// SPDX-License-Identifier: Apache-2.0

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn member(name: &[u8], kind: u8, data: &[u8]) -> Vec<u8> {
    let mut header = vec![0u8; BLOCK];
    header[..name.len()].copy_from_slice(name);
    header[124..135].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
    header[156] = kind;
    header[257..263].copy_from_slice(b"ustar\0");
    seal(&mut header);
    header.extend(data);
    header.resize(header.len().next_multiple_of(BLOCK), 0);
    header
}

fn seal(header: &mut [u8]) {
    let sum = checksum(header).unwrap();
    header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    header[154..156].copy_from_slice(b"\0 ");
}

fn packed(members: &[Vec<u8>]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for member in members {
        encoder.write_all(member).unwrap();
    }
    encoder.write_all(&[0; 2 * BLOCK]).unwrap();
    encoder.finish().unwrap()
}

fn opened(bytes: &[u8], max_bytes: u64) -> Result<Archive, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.tgz");
    std::fs::write(&path, bytes).unwrap();
    Archive::open(&path, max_bytes).map_err(|e| e.to_string())
}

fn refusal(members: &[Vec<u8>]) -> String {
    opened(&packed(members), 1 << 20).unwrap_err()
}

#[test]
fn the_model_may_lie_in_a_folder() {
    for root in ["", "./", "net/"] {
        let name = |n: &str| format!("{root}{n}").into_bytes();
        let long = [b"31 path=", &name("main.Net.w.dat")[..]].concat();
        let long = format!("{} {}\n", long.len() + 1, &String::from_utf8(long).unwrap()[3..]);
        let archive = opened(
            &packed(&[
                member(&name(""), b'5', b""),
                member(&name("main.sknd"), b'0', b"graph"),
                member(b"PaxHeader", b'x', long.as_bytes()),
                member(b"short", b'0', b"12"),
                member(b"././@LongLink", b'L', &[&name("sub/a.sknd")[..], b"\0"].concat()),
                member(b"short", 0, b"import"),
            ]),
            1 << 20,
        )
        .unwrap();
        let read = |n: &str| archive.read(&archive.folder().join(n));
        assert_eq!(read("main.sknd"), Some(&b"graph"[..]));
        assert_eq!(read("main.Net.w.dat"), Some(&b"12"[..]));
        assert_eq!(read("sub/a.sknd"), Some(&b"import"[..]));
        assert_eq!(read("../main.sknd"), None);
        assert_eq!(read("none"), None);
    }
}

#[test]
fn nothing_leads_out_of_an_archive() {
    for name in [&b"/etc/passwd"[..], b"../main.sknd", b"a/../../b", b"a\\b", b"\xff"] {
        let text = refusal(&[member(name, b'0', b"")]);
        assert!(text.contains("leads out") || text.contains("UTF-8"), "{text}");
    }
    for kind in [b'1', b'2'] {
        assert!(refusal(&[member(b"main.sknd", kind, b"")]).contains("is a link"));
    }
    for kind in [b'3', b'4', b'6', b'S', b'?'] {
        assert!(refusal(&[member(b"main.sknd", kind, b"")]).contains("not a regular file"));
    }
    let twice = [member(b"main.sknd", b'0', b"a"), member(b"./main.sknd", b'0', b"b")];
    assert!(refusal(&twice).contains("two members"));
    let two = [member(b"a/main.sknd", b'0', b"a"), member(b"b/main.sknd", b'0', b"b")];
    assert!(refusal(&two).contains("a/main.sknd and a b/main.sknd"));
    assert!(refusal(&[]).contains("no main.sknd"));
    assert!(refusal(&[member(b"x", b'x', b"99 path=a\n")]).contains("pax header"));
    assert!(refusal(&[member(b"x", b'x', b"0 path=a\n")]).contains("pax header"));
}

#[test]
fn bombs_are_refused_before_they_fill_memory() {
    let bomb = packed(&[member(b"main.sknd", b'0', &vec![0; 8 << 20])]);
    assert!(bomb.len() < 1 << 17, "{}", bomb.len());
    let text = opened(&bomb, 1 << 20).unwrap_err();
    assert!(text.contains("more than 1048576 bytes"), "{text}");

    // The header states a size; the data are missing.
    let mut header = member(b"w.dat", b'0', b"");
    header[124..135].copy_from_slice(b"50000000000");
    seal(&mut header[..BLOCK]);
    let text = refusal(&[member(b"main.sknd", b'0', b"graph"), header]);
    assert!(text.contains("\"w.dat\" it has 5368710656"), "{text}");

    // Data after the end, and other formats, are not kept.
    let after = packed(&[member(b"main.sknd", b'0', b""), vec![0; 4 << 20]]);
    let text = opened(&after, 1 << 30).unwrap_err();
    assert!(text.contains("after the end"), "{text}");
    let text = opened(&packed(&[vec![7; 4 << 20]]), 1 << 30).unwrap_err();
    assert!(text.contains("byte 0 begins no header"), "{text}");
}

#[test]
fn files_of_another_kind_are_reported() {
    for bytes in [&b"graph G { }"[..], b"", b"\x1f"] {
        let text = opened(bytes, 1 << 20).unwrap_err();
        assert!(text.contains("1F 8B of gzip; `tar -czf`"), "{text}");
    }
}

#[test]
fn every_truncation_is_detected() {
    let good = packed(&[member(b"main.sknd", b'0', b"graph G { }")]);
    assert!(opened(&good, 1 << 20).is_ok());
    for n in 0..good.len() {
        assert!(opened(&good[..n], 1 << 20).is_err(), "cut at {n}");
    }
    let mut header = member(b"main.sknd", b'0', b"graph");
    header[124..135].copy_from_slice(b"77777777777");
    seal(&mut header[..BLOCK]);
    let text = opened(&packed(&[header]), 1 << 40).unwrap_err();
    assert!(text.contains("cut off"), "{text}");
    let mut header = member(b"main.sknd", b'0', b"graph");
    header[124..136].copy_from_slice(&[0x80, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]);
    seal(&mut header[..BLOCK]);
    assert!(refusal(&[header]).contains("cut off"));
    let mut header = member(b"main.sknd", b'0', b"graph");
    header[0] ^= 1;
    assert!(refusal(&[header]).contains("no header"));
}
