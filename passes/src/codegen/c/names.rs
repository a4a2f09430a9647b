// SPDX-License-Identifier: Apache-2.0
//! Identifiers of the written C.

use std::collections::HashSet;

/// Names of loop variables by depth.
const LOOPS: [&str; 12] = ["i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"];

/// Words that names of tensors may not be: keywords, and what the written code and its headers declare.
const RESERVED: &str = "auto break case char const continue default do double else enum extern float for goto if \
inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile \
while bool true false NAN INFINITY INT64_MIN INT64_C memcpy main arena workspace weights asm typeof linux unix \
NULL abort acosh alignas alignof asinh assert atan2 atanh cbrt constexpr copysign erfc exp2 expm1 frexp hypot ldexp lrint lround nearbyint \
nullptr static_assert thread_local calloc errno exit fmod fpclassify free isfinite isinf isnan isnormal malloc math_errhandling memcmp memmove modf \
realloc stderr stdin stdout trunc abs acos asin atan ceil cos cosh div erf exp fabs floor fma fmax fmin fmod gamma j0 j1 jn labs lgamma log log1p log2 \
logb nan pow remainder rint round scalb signbit sin sinh sqrt tan tanh tgamma trunc y0 y1 yn index memset strlen";

/// The names in use.
#[derive(Debug)]
pub(super) struct Names {
    used: HashSet<String>,
    loops: Vec<String>,
    locals: usize,
    /// The function, whose name begins the names of its macros and types.
    function: Option<String>,
}

/// Suffixes of the function's name in names that the header declares.
const OF_FUNCTION: [&str; 6] = ["_SIZE_", "_WORKSPACE_", "_WEIGHTS_", "_weight", "_constants", "_bind"];

impl Names {
    pub(super) fn new() -> Self {
        let used = RESERVED.split_whitespace().map(str::to_owned).collect();
        Names { used, loops: Vec::new(), locals: 0, function: None }
    }

    /// A new identifier like a text.
    pub(super) fn unique(&mut self, text: &str) -> String {
        let base = identifier(text);
        let rest = self.function.as_deref().and_then(|function| base.strip_prefix(function));
        let is_declared = rest.is_some_and(|rest| OF_FUNCTION.iter().any(|name| rest.starts_with(name)));
        let base = if is_declared { format!("t_{base}") } else { base };
        let numbered = (2_usize..).map(|n| format!("{base}_{n}"));
        let name = std::iter::once(base.clone()).chain(numbered).find(|name| !self.used.contains(name));
        let name = name.unwrap_or(base);
        self.used.insert(name.clone());
        name
    }

    /// The name of the function for a graph.
    pub(super) fn function(&mut self, graph: &str) -> String {
        let name = identifier(graph);
        let name = if self.used.contains(&name) { format!("graph_{name}") } else { name };
        let name = self.unique(&name);
        self.function = Some(name.clone());
        name
    }

    /// A new name of an intermediate value.
    pub(super) fn local(&mut self) -> String {
        loop {
            self.locals += 1;
            let name = format!("v{}", self.locals);
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The variable of a loop in this many other loops.
    pub(super) fn loop_variable(&mut self, depth: usize) -> String {
        while self.loops.len() <= depth {
            let unused = LOOPS.iter().find(|name| !self.used.contains(**name));
            let name = unused.map_or_else(|| format!("i{}", self.loops.len()), |name| (*name).to_owned());
            let name = self.unique(&name);
            self.loops.push(name);
        }
        self.loops[depth].clone()
    }
}

/// The identifier that is most like a text: other characters become `_`.
pub(super) fn identifier(text: &str) -> String {
    let name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    // Identifiers that begin with `_` or `skript_` are reserved.
    let name = name.trim_start_matches('_');
    if name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !name.starts_with("skript_")
        && !is_of_headers(name)
    {
        name.to_owned()
    } else {
        format!("t_{name}")
    }
}

/// Whether an identifier may be one of the C library: a macro such as `SIZE_MAX`, a type such as `size_t`, or the variant of a function
/// for `float` or `long double`.
fn is_of_headers(name: &str) -> bool {
    let is_macro = name.contains('_') && !name.contains(|c: char| c.is_ascii_lowercase());
    let function = name.strip_suffix(['f', 'l']);
    let is_variant =
        function.is_some_and(|function| RESERVED.split_whitespace().any(|word| word == function));
    is_macro || name.ends_with("_t") || is_variant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_that_differ() {
        let mut names = Names::new();
        let texts = ["x", "x", "xs:1", "1a", "int", "_é", "", "skript_min"];
        let expected = ["x", "x_2", "xs_1", "t_1a", "int_2", "t_", "t__2", "t_skript_min"];
        assert_eq!(texts.map(|text| names.unique(text)), expected);
        let of_headers = ["NULL", "SIZE_MAX", "int64_t", "roundf", "free", "X", "half"];
        let expected = ["NULL_2", "t_SIZE_MAX", "t_int64_t", "t_roundf", "free_2", "X", "half"];
        assert_eq!(of_headers.map(|text| names.unique(text)), expected);
        assert_eq!(names.unique("i"), "i");
        assert_eq!(names.loop_variable(0), "j");
        assert_eq!(names.loop_variable(13), "i13");
        assert_eq!(names.function("main"), "graph_main");
    }

    #[test]
    fn names_are_not_those_of_the_header() {
        let mut names = Names::new();
        assert_eq!(names.function("G"), "G");
        let texts = ["G_SIZE_x", "G_weights", "G_bind", "G_x", "G"];
        assert_eq!(
            texts.map(|text| names.unique(text)),
            ["t_G_SIZE_x", "t_G_weights", "t_G_bind", "G_x", "G_2"]
        );
    }
}
