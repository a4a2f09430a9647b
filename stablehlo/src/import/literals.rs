// SPDX-License-Identifier: Apache-2.0
//! Finds elements of constants that do not fit the constant's type: in operations in pretty or generic form, in
//! aliases, and in `sparse<…>`. The MLIR parser silently truncates such integers and misreads such complex numbers, so
//! this check reports them before parsing.

use super::operations;
use super::refusal::Refusal;
use skript_dialect::stray_element;
use std::ffi::CString;

/// Maximum number of reported constants.
const MAX_REPORTED: usize = 20;
/// Refuses the first element of each constant that does not fit its type.
pub(crate) fn stray(text: &str) -> Vec<Refusal> {
    let Ok(whole) = CString::new(text) else {
        // `unreadable` reports NUL characters.
        return Vec::new();
    };
    let literals = operations::literals(text).into_iter();
    let refusals = literals.filter_map(|at| {
        let (offset, message) = stray_element(&whole.as_c_str()[at..])?;
        Some(Refusal::malformed_at(text, at + offset, message))
    });
    refusals.take(MAX_REPORTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(text: &str) -> Vec<(usize, usize)> {
        let locations = stray(text).into_iter().filter_map(|refusal| refusal.source_position);
        locations.collect()
    }

    #[test]
    fn every_way_of_writing_a_constant_is_read() {
        for (text, location) in [
            ("#c = dense<200> : tensor<2xi8>", (1, 12)),
            ("\n%0 = stablehlo.constant sparse<[[0], [1]], [7, -9]> : tensor<4xi4>", (2, 48)),
            ("%0 = \"stablehlo.constant\"() <{value = dense<[true, -1]> : tensor<2xi1>}>", (1, 52)),
            ("%0 = stablehlo.constant dense<[1, // >\n 128]> // :\n : tensor< 2xi8>", (2, 2)),
            ("dense<18446744073709551616> : tensor<ui64>", (1, 7)),
            ("dense<[ // (\n (1.0, 2.0)]> : tensor<1xf32>", (2, 2)),
            ("sparse<[[0]], [(1, 2)]> : tensor<2x2xi32>", (1, 16)),
        ] {
            assert_eq!(positions(text), [location], "{text}");
        }
        let several = "dense<[300, 300]> : tensor<2xi8> dense<-1> : tensor<ui8>";
        assert_eq!(positions(several), [(1, 8), (1, 40)]);
    }

    /// Near misses: elements that fit, hexadecimal bit patterns, other element types, literals that are not tensors,
    /// strings, comments, unterminated text.
    #[test]
    fn elements_that_fit_are_not_reported() {
        for text in [
            "dense<[-128, 127]> : tensor<2xi8>",
            "dense<[0x80, 0xFF]> : tensor<2xi8>",
            "dense<\"0x80FF\"> : tensor<2xi8>",
            "sparse<[[128], [200]], [1, 2]> : tensor<300xi8>",
            "dense<200> : vector<2xi8>",
            "dense<1e3> : tensor<2xf32>",
            "dense<(128, -1)> : tensor<complex<i8>>",
            "dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>",
            "a = \"dense<200> : tensor<2xi8>\" // dense<200> : tensor<2xi8>",
            "dense<200",
            "dense<200>",
            "sparse<> : tensor<2xi8>",
            "@dense %sparse dense",
        ] {
            assert_eq!(positions(text), [], "{text}");
        }
    }
}
