// SPDX-License-Identifier: Apache-2.0
use super::*;

/// Writes files of the format.
#[derive(Clone, Default)]
struct Writer {
    keys: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    data: Vec<u8>,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

impl Writer {
    fn key(mut self, name: &str, kind: u32, value: &[u8]) -> Writer {
        self.keys.push([&text(name), &kind.to_le_bytes()[..], value].concat());
        self
    }

    /// The extents are in the order of the file: innermost first.
    fn tensor(mut self, name: &str, extents: &[u64], kind: u32, offset: u64) -> Writer {
        let rank = extents.len() as u32;
        let extents: Vec<u8> = extents.iter().flat_map(|n| n.to_le_bytes()).collect();
        let parts =
            [&text(name), &rank.to_le_bytes()[..], &extents, &kind.to_le_bytes(), &offset.to_le_bytes()];
        self.tensors.push(parts.concat());
        self
    }

    fn data(mut self, data: &[u8]) -> Writer {
        self.data = data.to_vec();
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let counts = [self.tensors.len() as u64, self.keys.len() as u64].map(u64::to_le_bytes).concat();
        let mut bytes =
            [&b"GGUF\x03\0\0\0"[..], &counts, &self.keys.concat(), &self.tensors.concat()].concat();
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.extend(&self.data);
        bytes
    }

    fn message(&self) -> String {
        opened(self.bytes()).unwrap_err()
    }
}

fn opened(bytes: Vec<u8>) -> Result<Gguf, String> {
    Gguf::new(MappedFile::unpacked(bytes), Path::new("m.gguf")).map_err(|e| e.to_string())
}

fn small() -> Writer {
    let list = [&8u32.to_le_bytes()[..], &2u64.to_le_bytes(), &text("a"), &text("bc")].concat();
    let data: Vec<u8> = (0..68).chain([0; 28]).chain(1.5f32.to_le_bytes()).collect();
    Writer::default()
        .key("general.architecture", 8, &text("llama"))
        .key("llama.block_count", 4, &1u32.to_le_bytes())
        .key("llama.eps", 6, &0.5f32.to_le_bytes())
        .key("tokens", LIST, &list)
        .key("flag", 7, &[1])
        .tensor("blk.0.attn_q.weight", &[32, 2], 8, 0)
        .tensor("norm.weight", &[1], 0, 96)
        .data(&data)
}

const LIST: u32 = 9;

#[test]
fn metadata_and_tensors_are_read() {
    let file = opened(small().bytes()).unwrap();
    assert_eq!(file.value("general.architecture"), Some(&Value::Text("llama".to_owned())));
    assert_eq!(file.value("llama.block_count"), Some(&Value::Int(1)));
    assert_eq!(file.value("llama.eps"), Some(&Value::Real(0.5)));
    assert_eq!(file.texts("tokens").unwrap(), Some(vec!["a".to_owned(), "bc".to_owned()]));
    assert_eq!(file.texts("none").unwrap(), None);
    let wrong = file.ints("tokens").unwrap_err().to_string();
    assert!(wrong.ends_with("the key `tokens` is not a list of integers"), "{wrong}");
    assert_eq!(file.value("flag"), Some(&Value::Bool(true)));
    assert_eq!(file.value("none"), None);
    let entry = file.entry("blk.0.attn_q.weight").unwrap();
    assert_eq!((entry.kind.name(), &entry.shape[..]), ("Q8_0", &[2, 32][..]));
    assert_eq!(entry.array(), (ElementType::I8, vec![2, 1, 34]));
    for name in ["blk.0.attn_q.weight", "blk_0.attn_q.weight", "main.Any.blk_0.attn_q.weight"] {
        let tensor = file.get(name, &|_, _| Ok(())).unwrap().unwrap();
        assert!(tensor.is_mapped());
        assert_eq!(tensor.bytes(), (0..68).collect::<Vec<u8>>());
    }
    let norm = file.get("main.Any.norm.weight", &|_, _| Ok(())).unwrap().unwrap();
    assert_eq!((norm.shape(), norm.as_f32()), (&[1][..], Some(&[1.5][..])));
    assert!(file.get("main.Any.norm", &|_, _| Ok(())).unwrap().is_none());
    assert_eq!(label_path("blk.12.ffn.0"), "blk_12.ffn_0");
}

#[test]
fn headers_are_validated() {
    let key = |name, kind, value: &[u8]| Writer::default().key(name, kind, value).message();
    let tensor =
        |extents: &[u64], kind, offset| Writer::default().tensor("t", extents, kind, offset).message();
    let cases = [
        (opened(b"GGML".to_vec()).unwrap_err(), "does not begin with the bytes `GGUF`"),
        (opened(b"GGUF\0\0\0\x03".to_vec()).unwrap_err(), "byte 4: the file is big endian"),
        (opened(b"GGUF\x01\0\0\0".to_vec()).unwrap_err(), "the version is 1; versions 2 and 3"),
        (key("k", 13, &[]), "byte 37: the value of the key `k` has the unknown type 13"),
        (key("k", 7, &[2]), "byte 37: the value of the key `k` is the bool 2"),
        (key("k", 8, &u64::MAX.to_le_bytes()), "the value of the key `k` has 18446744073709551615 bytes"),
        (key("k", LIST, &[&[9, 0, 0, 0][..], &[0; 8]].concat()), "is a list of lists"),
        (key("k", LIST, &[&[77, 0, 0, 0][..], &[0; 8]].concat()), "a list of the unknown type 77"),
        (key("k", LIST, &[&[12, 0, 0, 0][..], &[255; 8]].concat()), "items, more than the file"),
        (key("k", LIST, &[&[8, 0, 0, 0][..], &[255; 8]].concat()), "but the file has only"),
        (key("general.alignment", 4, &[3, 0, 0, 0]), "is 3, which is not a 32-bit power of two"),
        (key("general.alignment", 8, &text("8")), "is not an integer"),
        (small().key("flag", 7, &[1]).message(), "the key `flag` occurs twice"),
        (small().tensor("norm.weight", &[1], 0, 0).message(), "the tensor `norm.weight` occurs twice"),
        (
            small().tensor("blk_0.attn_q.weight", &[1], 0, 128).message(),
            "the tensors `blk.0.attn_q.weight` and `blk_0.attn_q.weight` are one variable",
        ),
        (small().tensor("again", &[1], 0, 32).message(), "overlap in the file"),
        (tensor(&[1; 5], 0, 0), "byte 33: the entry of the tensor `t` has 5 dimensions; at most 4"),
        (tensor(&[1 << 40, 1 << 40], 0, 0), "byte 37: the entry of the tensor `t` has the shape"),
        (tensor(&[1], 4, 0), "byte 45: the entry of the tensor `t` has the type 4, which is not known"),
        (tensor(&[33], 8, 0), "not blocks of 32 elements of type Q8_0"),
        (tensor(&[], 8, 0), "not blocks of 32 elements"),
        (tensor(&[1], 0, 8), "the offset 8 of the tensor `t` is not a multiple of 32"),
        (tensor(&[1], 0, 0), "of type F32 and shape [1] at offset 0 ends after the"),
        (tensor(&[1], 0, u64::MAX - 31), "ends after the"),
    ];
    for (message, expected) in cases {
        assert!(message.starts_with("m.gguf: ") && message.contains(expected), "{message}");
    }
}

/// Every file that differs from a valid one in one byte, or ends before, is accepted or refused with a message.
#[test]
fn mutated_files_are_read_or_refused() {
    let bytes = small().bytes();
    let mut refused = 0;
    let mut open = |bytes: Vec<u8>| match opened(bytes) {
        Ok(file) => {
            for entry in file.entries() {
                assert!(file.get(&entry.name, &|_, _| Ok(())).unwrap().is_some());
            }
        }
        Err(message) => {
            assert!(message.contains("byte"), "{message}");
            refused += 1;
        }
    };
    for length in 0..bytes.len() {
        open(bytes[..length].to_vec());
    }
    for at in 0..bytes.len() {
        for value in [0, 1, 9, 127, 128, 255] {
            let mut mutated = bytes.clone();
            mutated[at] = value;
            open(mutated);
        }
    }
    assert!(refused > bytes.len(), "{refused}");
}

#[test]
fn lists_of_numbers_have_their_values() {
    let list =
        |kind: u32, items: &[u8], count: u64| [&kind.to_le_bytes()[..], &count.to_le_bytes(), items].concat();
    let reals: Vec<u8> = [0.5f32, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let ints: Vec<u8> = [-3i32, 7].iter().flat_map(|n| n.to_le_bytes()).collect();
    let file = small().key("reals", 9, &list(6, &reals, 2)).key("ints", 9, &list(5, &ints, 2));
    let file = opened(file.bytes()).unwrap();
    assert_eq!(file.reals("reals").unwrap(), Some(vec![0.5, -1.0]));
    assert_eq!(file.ints("ints").unwrap(), Some(vec![-3, 7]));
    assert!(file.reals("ints").is_err() && file.ints("llama.block_count").is_err());
    let bad = small().key("texts", 9, &list(8, &[&1u64.to_le_bytes()[..], &[0xff]].concat(), 1));
    let message = opened(bad.bytes()).unwrap().texts("texts").unwrap_err().to_string();
    assert!(message.contains("the value of the key `texts` is not UTF-8"), "{message}");
}
