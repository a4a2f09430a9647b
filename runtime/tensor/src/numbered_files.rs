// SPDX-License-Identifier: Apache-2.0
//! Files with numbered names: Khronos' reference implementation names the variables of operators that are not `public`
//! `.T1`, `.T2`, …, counted together with the tensors between operators; its writer may write `_` for the dot. The order of
//! the numbers is that of the composition, which maps them to variables.

use std::path::Path;

/// The names of numbered files among these names of files, `.T7` of `.T7.dat`, in the order of their numbers.
pub(crate) fn numbered<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<(u64, String)> = files
        .filter_map(|file| {
            let name = file.strip_suffix(".dat")?;
            let number = name.strip_prefix(".T").or_else(|| name.strip_prefix("_T"))?;
            let digits = number.bytes().all(|b| b.is_ascii_digit());
            let number = number.parse().ok().filter(|_| digits)?;
            Some((number, name.to_owned()))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

/// The numbered files in a folder; none if it cannot be read.
pub(crate) fn numbered_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    numbered(names.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn numbers_are_no_words() {
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
