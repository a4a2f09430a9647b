use crate::diagnostics::Code;

/// Packs are indexed by an int, a pack of ints, or a mask of bools; tensors and strings by ints (2.4).
pub static INDEX_TYPE: Code = Code {
    id: "SK0408",
    title: "an index has the wrong type",
    explanation: "\
Packs are indexed by an int, a pack of ints, or a mask of bools; tensors and strings by ints (2.4).

    v = p[1.5];   # wrong
    v = p[1];   # right
",
};

pub(super) use INDEX_TYPE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&INDEX_TYPE, &in_using("v = p[r];"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = p[n]; u = p[m]; z = p[q];"));
    }
}
