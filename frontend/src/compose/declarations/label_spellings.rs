// SPDX-License-Identifier: Apache-2.0
//! Aliases of a variable in files of weights: Khronos' writer joins labels and the numbers of items by `_` in
//! documents, and by `.` and `:` in the names of files.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::model::Variable;

/// The maximum number of `_` for which all combinations are tried; with more, each `_` is tried separately.
const MAX_COMBINED: usize = 4;

/// Adds aliases to the names of the variables below the graph `root`. An alias of several variables is dropped.
pub(in crate::compose) fn add_spellings(variables: &mut [Variable], root: &str) {
    let names: FxHashSet<String> = variables.iter().map(|v| v.name.clone()).collect();
    let mut holders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (position, variable) in variables.iter().enumerate() {
        let path = variable.name.strip_prefix(root);
        let Some(path) = path.and_then(|p| p.strip_prefix('.')) else {
            continue;
        };
        for spelling in other_spellings(path) {
            let name = format!("{root}.{spelling}");
            if !names.contains(&name) {
                holders.entry(name).or_default().push(position);
            }
        }
    }
    for (name, positions) in holders {
        if let [position] = positions.as_slice()
            && let Some(variable) = variables.get_mut(*position)
            && !variable.aliases.contains(&name)
        {
            variable.aliases.push(name);
        }
    }
}

/// Aliases of a path below its graph: `lab.w` as `lab_w`, `lab_w` as `lab.w`, `vs_1` as `vs:1`.
fn other_spellings(path: &str) -> Vec<String> {
    let mut spellings = Vec::new();
    if path.contains(['.', ':']) {
        spellings.push(path.replace(['.', ':'], "_"));
    }
    let locations: Vec<usize> = path.match_indices('_').map(|(at, _)| at).collect();
    // An identifier may begin with `_`, and a part of a path is not empty.
    let locations: Vec<usize> = locations.into_iter().filter(|at| *at > 0 && *at + 1 < path.len()).collect();
    let chosen: Vec<Vec<usize>> = if locations.len() <= MAX_COMBINED {
        (1..1u32 << locations.len())
            .map(|set| {
                locations
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| set >> bit & 1 == 1)
                    .map(|(_, at)| *at)
                    .collect()
            })
            .collect()
    } else {
        locations.iter().map(|at| vec![*at]).collect()
    };
    for set in chosen {
        let dotted: String =
            path.char_indices().map(|(at, c)| if set.contains(&at) { '.' } else { c }).collect();
        spellings.push(dotted);
    }
    let numbered: Vec<String> = std::iter::once(path)
        .chain(spellings.iter().map(String::as_str))
        .filter_map(|name| {
            let at = name.rfind('_')?;
            let (before, number) = (name.get(..at)?, name.get(at + 1..)?);
            let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            (is_number && !before.is_empty()).then(|| format!("{before}:{number}"))
        })
        .collect();
    spellings.extend(numbered);
    spellings.retain(|name| name != path);
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_numbers_are_joined_either_way() {
        assert_eq!(other_spellings("w"), Vec::<String>::new());
        assert_eq!(other_spellings("lab.w"), ["lab_w"]);
        assert_eq!(other_spellings("lab_w"), ["lab.w"]);
        assert_eq!(other_spellings("vs_1"), ["vs.1", "vs:1"]);
        assert!(other_spellings("a_b_2").contains(&"a.b:2".to_string()));
        assert_eq!(other_spellings("_w"), Vec::<String>::new());
    }

    #[test]
    fn ambiguous_aliases_are_dropped() {
        let variable = |name: &str| Variable {
            name: name.to_string(),
            aliases: Vec::new(),
            tensor: crate::model::TensorType { kind: skript_semantics::ScalarKind::Real, shape: Vec::new() },
            numbers: skript_semantics::Numbers::default(),
            span: crate::source::Span::new(crate::source::FileId(0), 0, 0),
        };
        let mut variables = ["m.G.a.b_c", "m.G.a_b.c", "m.G.a_b.d"].map(variable);
        add_spellings(&mut variables, "m.G");
        assert_eq!(variables[0].aliases, Vec::<String>::new());
        assert_eq!(variables[1].aliases, Vec::<String>::new());
        assert_eq!(variables[2].aliases, ["m.G.a.b.d", "m.G.a_b_d"]);
        let mut variables = ["m.G.a.w", "m.G.a_w"].map(variable);
        add_spellings(&mut variables, "m.G");
        assert!(variables.iter().all(|v| v.aliases.is_empty()));
    }

    #[test]
    fn long_names_have_few_spellings() {
        assert!(other_spellings("a_b_c_d_e_f_g_h_i_j").len() < 20);
    }
}
