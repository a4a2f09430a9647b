use crate::diagnostics::Code;

/// At most one packed extent of an input may have an unknown length. Int attributes and other inputs can fix
/// lengths; packed, optional and computed attributes cannot (2.6.1).
pub static AMBIGUOUS_SHAPE: Code = Code {
    id: "SK0603",
    title: "a shape can be split in several ways",
    explanation: "\
At most one packed extent of an input may have an unknown length. Int attributes and other inputs can fix
lengths; packed, optional and computed attributes cannot (2.6.1).

    @input { x: real[s..,t..]; }   # wrong
    @attrib { r: int; } @input { x: real[s..(r),t..]; }   # right
",
};

pub(super) use AMBIGUOUS_SHAPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&AMBIGUOUS_SHAPE, &in_document("operator o { @attrib { a: int..(d) = 0; } @input { x: real[s..(d),t..]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @input { x: real[s..(d),t..]; y: real[s..(d)]; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
