// SPDX-License-Identifier: Apache-2.0
//! The value of `--profile`.

use std::path::PathBuf;

/// What to make of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A table on standard output.
    Table,
    /// A list of the steps as JSON.
    List(PathBuf),
    /// The steps in time, in the format of Chrome's tracer.
    Trace(PathBuf),
    /// A flame graph.
    Flame(PathBuf),
}

impl Output {
    /// The output that a file's name selects; the table without one.
    ///
    /// # Errors
    /// The name has none of the extensions.
    pub fn of(text: &str) -> Result<Output, String> {
        let path = || PathBuf::from(text);
        match text {
            "" => Ok(Output::Table),
            _ if text.ends_with(".trace.json") => Ok(Output::Trace(path())),
            _ if text.ends_with(".json") => Ok(Output::List(path())),
            _ if text.ends_with(".svg") => Ok(Output::Flame(path())),
            _ => Err("the extension selects the format: .json for a list, .trace.json for Chrome's tracer, .svg for a flame graph".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_selects_the_format() {
        assert_eq!(Output::of(""), Ok(Output::Table));
        assert_eq!(Output::of("a.json"), Ok(Output::List("a.json".into())));
        assert_eq!(Output::of("a.trace.json"), Ok(Output::Trace("a.trace.json".into())));
        assert_eq!(Output::of("b/a.svg"), Ok(Output::Flame("b/a.svg".into())));
        assert!(Output::of("a.txt").is_err());
        assert!(Output::of("json").is_err());
    }
}
