// SPDX-License-Identifier: Apache-2.0
//! The value of `--profile`.

use std::path::PathBuf;

/// The output format of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A table on standard output.
    Table,
    /// A list of the steps as JSON.
    List(PathBuf),
    /// A trace of the steps, in the format of Chrome's tracer.
    Trace(PathBuf),
    /// A flame graph.
    Flame(PathBuf),
}

impl Output {
    /// Selects the output by the extension of the file; the table if the name is empty.
    ///
    /// # Errors
    /// The name has another extension.
    pub fn from_name(text: &str) -> Result<Output, String> {
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
        assert_eq!(Output::from_name(""), Ok(Output::Table));
        assert_eq!(Output::from_name("a.json"), Ok(Output::List("a.json".into())));
        assert_eq!(Output::from_name("a.trace.json"), Ok(Output::Trace("a.trace.json".into())));
        assert_eq!(Output::from_name("b/a.svg"), Ok(Output::Flame("b/a.svg".into())));
        assert!(Output::from_name("a.txt").is_err());
        assert!(Output::from_name("json").is_err());
    }
}
