use crate::diagnostics::Code;

/// Inputs that are neither optional nor have a default must be given; `~` skips only such (2.10).
pub static MISSING_ARGUMENT: Code = Code {
    id: "SK1008",
    title: "a required input is not given",
    explanation: "\
Inputs that are neither optional nor have a default must be given; `~` skips only such (2.10).

    y = add(x);   # wrong
    y = add(x, x);   # right
",
};

pub(super) use MISSING_ARGUMENT as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&MISSING_ARGUMENT, &in_compose("y = add(~, x);"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_compose("y = add(x, x, ~);"));
    }
}
