// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A block sees the names of the blocks before it in the order @dtype, @attrib, @input, @using, @constant,
/// @variable, @output (2.2); helpers see the helpers above them (2.9). In the edition khronos, @input also sees helpers that rest
/// on attributes alone, and operators whose names begin with `_` are visible in their module only.
pub static NAME_NOT_VISIBLE: Code = Code {
    id: "SK0214",
    title: "a name is not visible here",
    explanation: "\
A block sees the names of the blocks before it in the order @dtype, @attrib, @input, @using, @constant,
@variable, @output (2.2); helpers see the helpers above them (2.9). In the edition khronos, @input also sees helpers
that rest on attributes alone, and operators whose names begin with `_` are visible in their module only.

    @using { v = u + 1; u = 3; }   # wrong
    @using { u = 3; v = u + 1; }   # right
",
};

pub(super) use NAME_NOT_VISIBLE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::*;
    use crate::program::Edition;

    #[test]
    fn fires() {
        assert_fires(&NAME_NOT_VISIBLE, &in_using("v = u + 1; u = 3;"));
    }

    #[test]
    fn near_miss() {
        assert_silent(&in_using("u = 3; v = u + 1;"));
    }

    /// A module with an operator `_p`, and a graph that invokes it.
    fn foreign(module: &str) -> Document {
        let body = "{ @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,], i < n; } }";
        let graph = "graph Main { @input { x: real[2]; } @output { y: real[2]; } @compose { y = mine._p(x); } }";
        vec![
            ("main", format!("import mine; {graph}")),
            ("mine", format!("{module} operator _p {body}")),
        ]
    }

    #[test]
    fn editions_private_names() {
        let fired = |module, edition| {
            let found = check_as(&foreign(module), edition);
            found.iter().map(|d| d.code.id).collect::<Vec<_>>()
        };
        assert_eq!(fired("", Edition::Khronos), ["SK0214"]);
        assert!(fired("", Edition::Draft6).is_empty());
    }

    #[test]
    fn editions_modules_invoke_their_private_operators() {
        let own = "operator q { @input { x: real[n]; } @output { y: real[n]; } @compose { y = _p(x); } }";
        let mut document = foreign(own);
        for (_, text) in &mut document {
            *text = text.replace("mine._p", "mine.q");
        }
        assert!(check_as(&document, Edition::Khronos).is_empty());
    }
}
