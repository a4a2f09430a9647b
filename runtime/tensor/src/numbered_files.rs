// SPDX-License-Identifier: Apache-2.0
//! Files with numbered names: Khronos' reference implementation names the variables of operators that are not `public`
//! `.T1`, `.T2`, …, counted together with the tensors between operators; its writer may write `_` for the dot. The order of
//! the numbers is the order of the composition, which maps the numbers to variables.

use std::path::Path;

/// Returns the names of the numbered files without extension (`.T7` for `.T7.dat`), sorted by number.
pub(crate) fn numbered<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut numbered: Vec<(u64, String)> = files
        .filter_map(|file| {
            let name = file.strip_suffix(".dat")?;
            let number = name.strip_prefix(".T").or_else(|| name.strip_prefix("_T"))?;
            let digits = number.bytes().all(|b| b.is_ascii_digit());
            let number = number.parse().ok().filter(|_| digits)?;
            Some((number, name.to_owned()))
        })
        .collect();
    numbered.sort();
    numbered.into_iter().map(|(_, name)| name).collect()
}

/// The numbered files in a folder; empty if the folder cannot be read.
pub(crate) fn numbered_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    numbered(names.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn names_with_a_number_are_sorted_by_it() {
        let files = [
            ".T10.dat",
            ".T9.dat",
            "_T11.dat",
            ".T.dat",
            ".T1x.dat",
            ".T+2.dat",
            "T3.dat",
            ".T4.npy",
            ".T99999999999999999999.dat",
            "main.G.w.dat",
        ];
        assert_eq!(numbered(files.into_iter()), [".T9", ".T10", "_T11"]);
    }
}
