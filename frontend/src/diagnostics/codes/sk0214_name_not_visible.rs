use crate::diagnostics::Code;

/// A block sees the names of the blocks before it in the order @dtype, @attrib, @input, @using, @constant,
/// @variable, @output (2.2); helpers see the helpers above them (2.9).
pub static NAME_NOT_VISIBLE: Code = Code {
    id: "SK0214",
    title: "a name is not visible here",
    explanation: "\
A block sees the names of the blocks before it in the order @dtype, @attrib, @input, @using, @constant,
@variable, @output (2.2); helpers see the helpers above them (2.9).

    @using { v = u + 1; u = 3; }   # wrong
    @using { u = 3; v = u + 1; }   # right
",
};

pub(super) use NAME_NOT_VISIBLE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;

    #[test]
    fn fires() {
        assert_fires(&NAME_NOT_VISIBLE, &in_using("v = u + 1; u = 3;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("u = 3; v = u + 1;"));
    }
}
