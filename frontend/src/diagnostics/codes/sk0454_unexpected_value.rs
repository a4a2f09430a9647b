// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The expression yields null, a pack, a tensor or a scalar of another type than required.
pub static UNEXPECTED_VALUE: Code = Code {
    id: "SK0454",
    title: "a value has the wrong kind",
    explanation: "The expression yields null, a pack, a tensor or a scalar of another type than required.\n\
        \n    int..(k) items where k is 'abc'\n    # rather\n    int..(k) items where k is 3\n",
};

pub(super) use UNEXPECTED_VALUE as CODE_ENTRY;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::testing::*;

    #[test]
    fn fires() {
        assert_fires(&UNEXPECTED_VALUE, &with_symbols("v = -word;"));
    }

    #[test]
    fn near_miss() {
        assert_composes(&with_symbols("v = -k;"));
    }

    #[test]
    fn s2_4_strings_do_not_format_what_only_the_run_knows() {
        let with = |extent: &str| {
            format!(
                "operator o {{ @input {{ x: real[n]; }} @using {{ e = \"{{n}}\" == \"4\"; }} @assert {{ n > 0: \"n = {{n}}\"; }} \
                 @output {{ y: int[]; }} @lower {{ y[] = int(e); }} }} \
                 graph G {{ @input {{ x: real[{extent}]; }} @output {{ y: int[]; }} @compose {{ y = o(x); }} }}"
            )
        };
        assert_fires(&UNEXPECTED_VALUE, &with("s|9"));
        assert_composes(&with("4"));
    }
}
