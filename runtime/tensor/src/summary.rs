// SPDX-License-Identifier: Apache-2.0
//! Tensors as lines of text.

use skript_host::printable;
use skript_semantics::Scalar;

use crate::{ElementType, Tensor};

/// Maximum number of elements in a line.
const MAX_SHOWN: usize = 8;

/// Returns one line with name, element type, shape and the first eight elements: `y: f32[2, 3] = 1 2 3 4 5 6`.
pub fn line(name: &str, tensor: &Tensor) -> String {
    let elements = (0..tensor.volume().min(MAX_SHOWN)).filter_map(|at| element(tensor, at));
    let mut elements: Vec<String> = elements.collect();
    if tensor.volume() > MAX_SHOWN {
        elements.push("…".to_string());
    }
    format!("{}: {}{:?} = {}\n", printable(name), tensor.element(), tensor.shape(), elements.join(" "))
}

/// One element; a `u64` may exceed the language's integers.
fn element(tensor: &Tensor, at: usize) -> Option<String> {
    if tensor.element() == ElementType::U64 {
        let bytes = tensor.bytes().chunks_exact(size_of::<u64>()).nth(at)?;
        return Some(u64::from_le_bytes(bytes.try_into().ok()?).to_string());
    }
    Some(match tensor.get(at)? {
        Scalar::Int(i) => i.to_string(),
        Scalar::Real(r) => format!("{r}"),
        Scalar::Bool(b) => b.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(element: ElementType, shape: &[u64], bytes: &[u8]) -> Tensor {
        Tensor::from_bytes(element, shape, bytes).unwrap()
    }

    #[test]
    fn long_tensors_are_cut_short() {
        let nine = tensor(ElementType::U8, &[9], &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(line("y", &nine), "y: u8[9] = 1 2 3 4 5 6 7 8 …\n");
        let eight = tensor(ElementType::U8, &[8], &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(line("y", &eight), "y: u8[8] = 1 2 3 4 5 6 7 8\n");
    }

    #[test]
    fn large_unsigned_elements_are_exact() {
        let largest = tensor(ElementType::U64, &[], &[255; 8]);
        assert_eq!(line("n", &largest), "n: u64[] = 18446744073709551615\n");
    }
}
