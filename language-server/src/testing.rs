// SPDX-License-Identifier: Apache-2.0
//! Analyses of texts for unit tests.

use crate::analysis::Analysis;
use crate::names::Names;
use std::path::Path;

/// The analysis of a text that is the only file of its model.
pub(crate) fn analysed(text: &str) -> Analysis {
    let path = Path::new("/nowhere/main.sknd");
    Analysis::new(path, &|file| (file == path).then(|| text.to_owned()), None)
}

impl Analysis {
    /// The names of the main file.
    pub(crate) fn names(&self) -> Names<'_> {
        self.names_of(self.program.main_module().unwrap().file).unwrap()
    }
}
