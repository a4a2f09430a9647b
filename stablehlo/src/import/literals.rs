//! Elements of constants that do not match their type, wherever the text has them: in an operation, pretty or generic, in an
//! alias, in a `sparse<…>`. MLIR's parser keeps only the bits of integers, and accepts pairs for other types, so these elements
//! are reported before it parses.

use super::operations;
use super::program::Refusal;
use skript_dialect::stray_element;
use std::ffi::CString;

/// The most that are reported at once.
const MOST_REPORTED: usize = 20;

/// The first such element of each constant.
pub fn stray(text: &str) -> Vec<Refusal> {
    let Ok(whole) = CString::new(text) else {
        // A NUL has been reported.
        return Vec::new();
    };
    let literals = operations::literals(text).into_iter();
    let found = literals.filter_map(|at| {
        let (offset, message) = stray_element(&whole.as_c_str()[at..])?;
        Some(Refusal::malformed_at(text, at + offset, message))
    });
    found.take(MOST_REPORTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(text: &str) -> Vec<(usize, usize)> {
        let places = stray(text).into_iter().filter_map(|refusal| refusal.place);
        places.collect()
    }

    #[test]
    fn every_way_of_writing_a_constant_is_read() {
        for (text, place) in [
            ("#c = dense<200> : tensor<2xi8>", (1, 12)),
            (
                "\n%0 = stablehlo.constant sparse<[[0], [1]], [7, -9]> : tensor<4xi4>",
                (2, 48),
            ),
            (
                "%0 = \"stablehlo.constant\"() <{value = dense<[true, -1]> : tensor<2xi1>}>",
                (1, 52),
            ),
            (
                "%0 = stablehlo.constant dense<[1, // >\n 128]> // :\n : tensor< 2xi8>",
                (2, 2),
            ),
            ("dense<18446744073709551616> : tensor<ui64>", (1, 7)),
            ("dense<[ // (\n (1.0, 2.0)]> : tensor<1xf32>", (2, 2)),
            ("sparse<[[0]], [(1, 2)]> : tensor<2x2xi32>", (1, 16)),
        ] {
            assert_eq!(positions(text), [place], "{text}");
        }
        let several = "dense<[300, 300]> : tensor<2xi8> dense<-1> : tensor<ui8>";
        assert_eq!(positions(several), [(1, 8), (1, 40)]);
    }

    /// Near misses: what fits, bits, other elements, no tensors, strings, remarks, what does not end.
    #[test]
    fn what_is_an_element_is_not_told() {
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
