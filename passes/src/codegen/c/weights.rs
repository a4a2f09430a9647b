// SPDX-License-Identifier: Apache-2.0
//! Constant arrays in the written C.

use skript_tensor::Tensor;
use std::fmt::Write as _;

/// The maximum length of a line with elements.
const LINE: usize = 116;

/// The definition of a constant array. An empty one has one element, because C has no empty arrays.
pub(super) fn table(r#type: &str, name: &str, items: &[String]) -> String {
    let mut text = format!("static const {type} {name}[{}] = {{", items.len().max(1));
    let zero = "0".to_owned();
    let items = if items.is_empty() { std::slice::from_ref(&zero) } else { items };
    let mut line = String::new();
    for item in items {
        if line.len() + item.len() > LINE || line.is_empty() {
            let _ = write!(text, "{line}\n ");
            line.clear();
        }
        let _ = write!(line, " {item},");
    }
    let _ = write!(text, "{line}\n}};\n");
    text
}

/// The alignment of weights in a file, in bytes.
const ALIGNMENT: usize = 64;

/// The offset of each tensor in a file of weights, and the size of the file.
pub(super) fn offsets(tensors: &[Tensor]) -> (Vec<usize>, usize) {
    let mut end = 0;
    let mut offsets = Vec::new();
    for tensor in tensors {
        let offset = usize::next_multiple_of(end, ALIGNMENT);
        offsets.push(offset);
        end = offset + tensor.bytes().len();
    }
    (offsets, end)
}

/// The contents of a file of weights.
pub(super) fn file(tensors: &[Tensor]) -> Vec<u8> {
    let (offsets, _) = offsets(tensors);
    let mut bytes = Vec::new();
    for (tensor, offset) in tensors.iter().zip(offsets) {
        bytes.resize(offset, 0);
        bytes.extend_from_slice(tensor.bytes());
    }
    bytes
}
