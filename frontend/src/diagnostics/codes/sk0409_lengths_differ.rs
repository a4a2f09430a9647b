use crate::diagnostics::Code;

/// Operands that are taken item by item, zipped packs, masks and replaced items have equal lengths (2.4).
pub static LENGTHS_DIFFER: Code = Code {
    id: "SK0409",
    title: "packs have lengths that cannot agree",
    explanation: "\
Operands that are taken item by item, zipped packs, masks and replaced items have equal lengths (2.4).

    v = [1, 2] + [1, 2, 3];   # wrong
    v = [1, 2] + [1, 2];   # right
",
};

pub(super) use LENGTHS_DIFFER as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&LENGTHS_DIFFER, &in_using("v = [p.., 1] + q;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("v = p + q; u = [p.., 1] + [1, q..];"));
    }
}
