// SPDX-License-Identifier: Apache-2.0
//! Overflow-checked arithmetic on extents.

use crate::element::ElementType;

/// Number of elements; `None` beyond 2^63 - 1. 0 if any extent is 0, even if the others overflow.
pub fn volume(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1u64, |product, &extent| product.checked_mul(extent))
        .filter(|&v| v <= i64::MAX as u64)
}

/// The size of a tensor in bytes; `None` if it exceeds `usize` or the limit of one allocation.
pub fn byte_length(element: ElementType, shape: &[u64]) -> Option<usize> {
    let size = u64::try_from(element.size()).ok()?;
    let bytes = volume(shape)?.checked_mul(size)?;
    usize::try_from(bytes).ok().filter(|&b| b <= isize::MAX as usize - crate::buffer::ALIGNMENT)
}

/// The shape as text, `[2, 3]`.
pub fn text(shape: &[u64]) -> String {
    format!("{shape:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_do_not_overflow() {
        assert_eq!(volume(&[]), Some(1));
        assert_eq!(volume(&[2, 3]), Some(6));
        assert_eq!(volume(&[u64::MAX, 0]), Some(0));
        assert_eq!(volume(&[1 << 32, 1 << 32]), None);
        assert_eq!(volume(&[1 << 63]), None);
        assert_eq!(byte_length(ElementType::F64, &[1 << 60]), None);
    }
}
