use crate::diagnostics::Code;

/// Extents of one name agree, so they have one upper bound (2.6).
pub static BOUNDS_DIFFER: Code = Code {
    id: "SK0605",
    title: "one name has two upper bounds",
    explanation: "\
Extents of one name agree, so they have one upper bound (2.6).

    @input { x: real[s|10]; y: real[s|8]; }   # wrong
    @input { x: real[s|10]; y: real[s]; }   # right
",
};

pub(super) use BOUNDS_DIFFER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&BOUNDS_DIFFER, &in_document("graph G { @input { x: real[s|10]; z: real[s|8]; } @output { y: real[s]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("graph G { @input { x: real[s|10]; z: real[s]; } @output { y: real[s]; } @compose { y = x; } }"));
    }
}
