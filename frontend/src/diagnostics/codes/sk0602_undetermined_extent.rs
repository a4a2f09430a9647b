// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// An extent or length that is `a * name + b`, with literal a and b, declares the name; in any other
/// expression all names must be declared (2.6).
pub static UNDETERMINED_EXTENT: Code = Code {
    id: "SK0602",
    title: "a name cannot be determined from a shape",
    explanation: "\
An extent or length that is `a * name + b`, with literal a and b, declares the name; in any other expression
all names must be declared (2.6).

    @input { x: real[m * n]; }   # wrong
    @input { x: real[2 * n + 1]; }   # right
",
};

pub(super) use UNDETERMINED_EXTENT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNDETERMINED_EXTENT, &in_document("operator o { @input { x: real[m * n]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    const GRAPH: &str = "graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }";

    #[test]
    fn fires_for_extents_that_no_formula_tells() {
        for (extent, counter) in [("~|n", "i"), ("k|n", "i")] {
            assert_fires(&UNDETERMINED_EXTENT, &in_document(&format!(
                "operator o {{ @input {{ x: real[n]; }} @output {{ y: int[{extent}]; }} @lower {{ y[{counter},] = i, i < n; }} }} {GRAPH}"
            )));
        }
    }

    #[test]
    fn formulas_may_count_what_they_write() {
        assert_silent(&in_document(&format!(
            "operator o {{ @input {{ x: real[n]; }} @output {{ y: int[k|n]; }} @lower {{ y[k,] = i, i < n | x[i,] > 0.0; }} }} {GRAPH}"
        )));
    }

    #[test]
    fn data_decide_where_there_is_no_formula() {
        assert_silent(&in_document(&format!(
            "operator o {{ @input {{ x: real[n]; }} @output {{ y: int[~|n]; z: int[k|n]; }} }} {GRAPH}"
        )));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @input { x: real[m * n]; z: real[m,n]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
