// SPDX-License-Identifier: Apache-2.0
//! The known name that is nearest to an unknown name.

/// The maximum number of bytes of a name that is compared letter by letter.
const MAX_COMPARED: usize = 256;

/// Returns the candidate that was probably meant: at most a third of the letters differ.
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.chars().count() / 3;
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let same = |c: &&&str| c.eq_ignore_ascii_case(name) && **c != name;
    if let Some(same) = candidates.iter().find(same) {
        return Some(same);
    }
    let compared = if name.len() <= MAX_COMPARED { candidates.as_slice() } else { &[] };
    let near = compared
        .iter()
        .copied()
        .filter(|c| *c != name && c.len().abs_diff(name.len()) <= 4 * limit)
        .map(|c| (edit_distance(name, c), c))
        .filter(|(d, c)| *d <= limit && *d < c.chars().count())
        .min()
        .map(|(_, c)| c);
    near.or_else(|| shortest_completion(name, &candidates))
}

/// Returns the shortest candidate that starts with a name of two letters or more, if it is not much longer.
fn shortest_completion<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let shortest = candidates
        .iter()
        .copied()
        .filter(|c| name.len() >= 2 && c.starts_with(name) && *c != name)
        .min_by_key(|c| (c.len(), *c))?;
    (shortest.len() <= 2 * name.len()).then_some(shortest)
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let at = |v: &[usize], k: usize| v.get(k).copied().unwrap_or(usize::MAX / 2);
            let mut best = at(&last, j) + usize::from(ca != cb);
            best = best.min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(cb) && b.get(j - 1) == Some(ca);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    let Some(distance) = last.last() else {
        unreachable!("internal compiler error: a row of distances without columns")
    };
    *distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits_and_swaps() {
        assert_eq!(edit_distance("stride", "stride"), 0);
        assert_eq!(edit_distance("stirde", "stride"), 1);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }

    #[test]
    fn suggestions_are_near() {
        assert_eq!(closest("paddng", ["stride", "padding", "size"]), Some("padding"));
        assert_eq!(closest("xyz", ["stride", "padding"]), None);
        assert_eq!(closest("ci", ["bi"]), None);
        assert_eq!(closest("Relu", ["elu", "relu"]), Some("relu"));
        assert_eq!(closest("ad", ["add", "addn", "abs"]), Some("add"));
        assert_eq!(closest("pad", ["padding", "stride"]), None);
        assert_eq!(closest("a", ["ab"]), None);
    }
}
