// SPDX-License-Identifier: Apache-2.0
//! Any bytes are read as an array or refused with a reason; the first byte selects the format: `cargo +nightly fuzz run arrays`.
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skript_tensor::weights::{MissingWeights, VariableRequest, WeightStore, load_each};
use skript_tensor::{ElementType, npy};
use tempfile::TempDir;

/// The folder of the files.
static FOLDER: OnceLock<TempDir> = OnceLock::new();

/// Maximum number of bytes that a file may unpack to.
const MAX_BYTES: u64 = 1 << 20;

fn weights(path: &Path) {
    let Ok(store) = WeightStore::open(path, MAX_BYTES) else {
        return;
    };
    for contents in store.contents() {
        assert!(!contents.text(40).is_empty());
    }
    for element in [ElementType::F32, ElementType::I64, ElementType::Bool] {
        let request = VariableRequest { name: "main.G.w", aliases: &[], element, shape: vec![2, 3] };
        for loaded in load_each(&store, &[request], MissingWeights::Error) {
            match loaded {
                Ok(tensor) => assert_eq!((tensor.element(), tensor.shape()), (element, &[2, 3][..])),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((format, bytes)) = bytes.split_first() else {
        return;
    };
    let folder = FOLDER.get_or_init(|| TempDir::new().expect("a folder for the files")).path();
    match format % 5 {
        0 => {
            let size = bytes.len() as u64;
            let read = npy::read_stream(Path::new("x.npy"), &mut &bytes[..], size, &|_, _| Ok(()));
            if let Ok(tensor) = read {
                assert!(tensor.bytes().len() <= bytes.len());
            }
        }
        kind => {
            let name = ["main.G.w.dat", "w.npz", "w.safetensors", "w.tgz"][usize::from(kind - 1)];
            std::fs::write(folder.join(name), bytes).expect("a file");
            weights(&if kind == 1 { folder.to_path_buf() } else { folder.join(name) });
        }
    }
});
