use crate::diagnostics::Code;

/// Yielded results are never optional (2.10.1).
pub static YIELD_OPTIONAL: Code = Code {
    id: "SK1019",
    title: "a block yields something that may be null",
    explanation: "\
Yielded results are never optional (2.10.1).

    y = { yield z; };   # wrong: z: an optional input
    y = if ?z then { yield z; } else { yield x; };   # right
",
};

pub(super) use YIELD_OPTIONAL as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&YIELD_OPTIONAL, &in_document("operator o { @input { x: real[n]; z: optional real[n]; } @output { y: real[n]; } @compose { y = { yield z; }; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_document("operator o { @input { x: real[n]; z: optional real[n]; } @output { y: real[n]; } @compose { y = if ?z then { yield z; } else { yield x; }; } } graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }"));
    }
}
