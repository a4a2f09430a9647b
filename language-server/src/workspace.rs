// SPDX-License-Identifier: Apache-2.0
//! The open texts, and the analysis of the model that contains a file.

use crate::analysis::Analysis;
use crate::positions;
use lsp_types::{Range, Url};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Analyses of models by main file.
type Analyses = BTreeMap<PathBuf, Rc<Analysis>>;

/// An open text, and the number that the editor gives to its version.
struct Text {
    text: String,
    version: i32,
}

/// Open texts by path, and the analyses of models since the last change of a text.
#[derive(Default)]
pub(crate) struct Workspace {
    open: BTreeMap<PathBuf, Text>,
    known: RefCell<Analyses>,
    /// The analyses before the last change of a text.
    outdated: RefCell<Analyses>,
}

/// The path of a `file:` URI. A text without a file, such as `untitled:Untitled-1`, has its URI as its path.
pub(crate) fn path_of(url: &Url) -> Option<PathBuf> {
    if url.scheme() == "file" { file_path(url) } else { Some(PathBuf::from(url.as_str())) }
}

pub(crate) fn url_of(path: &Path) -> Option<Url> {
    if is_file(path) { file_url(path) } else { Url::parse(path.to_str()?).ok() }
}

#[cfg(not(target_family = "wasm"))]
fn file_path(url: &Url) -> Option<PathBuf> {
    url.to_file_path().ok()
}

#[cfg(not(target_family = "wasm"))]
fn file_url(path: &Path) -> Option<Url> {
    Url::from_file_path(path).ok()
}

/// WebAssembly has no files.
#[cfg(target_family = "wasm")]
fn file_path(_: &Url) -> Option<PathBuf> {
    None
}

#[cfg(target_family = "wasm")]
fn file_url(_: &Path) -> Option<Url> {
    None
}

/// Whether the path is that of a file, and not a URI.
pub(crate) fn is_file(path: &Path) -> bool {
    path.is_absolute()
}

impl Workspace {
    pub(crate) fn set(&mut self, path: PathBuf, text: String, version: i32) {
        self.forget();
        self.open.insert(path, Text { text, version });
    }

    /// The version of an open text.
    pub(crate) fn version(&self, path: &Path) -> Option<i32> {
        self.open.get(path).map(|open| open.version)
    }

    /// Replaces a part of an open text, or all of it without a range.
    pub(crate) fn edit(&mut self, path: &Path, range: Option<Range>, text: String, version: i32) {
        self.forget();
        // The text of a file that is not open is unknown.
        let Some(open) = self.open.get_mut(path) else { return };
        open.version = version;
        let whole = &mut open.text;
        match range {
            Some(range) => {
                let start = positions::offset(whole, range.start);
                let end = positions::offset(whole, range.end).max(start);
                whole.replace_range(start..end, &text);
            }
            None => *whole = text,
        }
    }

    pub(crate) fn close(&mut self, path: &Path) {
        self.forget();
        self.open.remove(path);
    }

    /// Whether the editor has the text of a file.
    pub(crate) fn is_open(&self, path: &Path) -> bool {
        self.open.contains_key(path)
    }

    /// Drops all analyses, because files have changed.
    pub(crate) fn forget(&mut self) {
        self.outdated.get_mut().append(self.known.get_mut());
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.open.keys().map(PathBuf::as_path)
    }

    /// The analyses of the models of all open files.
    pub(crate) fn analyses(&self) -> Vec<Rc<Analysis>> {
        let mut mains = BTreeSet::new();
        let all = self.paths().map(|path| self.analyse(path));
        all.filter(|analysis| mains.insert(analysis.main().to_path_buf())).collect()
    }

    /// Analyses the model that contains the file: the model of the nearest `main.sknd` in the folders above that imports the
    /// file, or the file alone.
    /// Analyses are reused while the texts and the files that they read are unchanged.
    pub(crate) fn analyse(&self, path: &Path) -> Rc<Analysis> {
        let mut known = self.known.borrow_mut();
        let open = |file: &Path| self.open.get(file).map(|open| open.text.clone());
        let is_open = |file: &Path| self.open.contains_key(file);
        let mut analysis = |main: &Path| match known.get(main) {
            Some(analysis) if analysis.is_current(&is_open) => Rc::clone(analysis),
            _ => {
                let before = self.outdated.borrow_mut().remove(main).or_else(|| known.remove(main));
                let analysis = Rc::new(Analysis::new(main, &open, before.as_deref()));
                known.insert(main.to_path_buf(), Rc::clone(&analysis));
                analysis
            }
        };
        for folder in path.ancestors().skip(1).filter(|_| is_file(path)) {
            let main = folder.join("main.sknd");
            if main != path && (self.open.contains_key(&main) || main.is_file()) {
                let analysis = analysis(&main);
                if analysis.module_of(path).is_some() {
                    return analysis;
                }
            }
        }
        analysis(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_belongs_to_the_model_that_imports_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        std::fs::create_dir(file("ops")).unwrap();
        let graph =
            "graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = ops.mine.f(x); } }";
        std::fs::write(file("main.sknd"), format!("import ops.mine;\n{graph}")).unwrap();
        let operator =
            "operator f { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,], i < n; } }";
        std::fs::write(file("ops/mine.sknd"), operator).unwrap();
        std::fs::write(file("ops/other.sknd"), operator).unwrap();

        let mut workspace = Workspace::default();
        let mine = file("ops/mine.sknd");
        assert_eq!(workspace.analyse(&mine).main(), file("main.sknd"));
        let other = file("ops/other.sknd");
        assert_eq!(workspace.analyse(&other).main(), other);
        // Open texts take precedence over files.
        workspace.set(file("main.sknd"), graph.to_owned(), 1);
        assert_eq!(workspace.analyse(&mine).main(), mine);
    }

    #[test]
    fn analyses_are_reused_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let graph = "graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } }";
        std::fs::write(file("main.sknd"), format!("import mine;\n{graph}")).unwrap();
        let mut workspace = Workspace::default();
        // A module that is missing may be added at any time.
        let without = workspace.analyse(&file("main.sknd"));
        assert!(!Rc::ptr_eq(&without, &workspace.analyse(&file("main.sknd"))));
        std::fs::write(file("mine.sknd"), "").unwrap();
        let first = workspace.analyse(&file("main.sknd"));
        assert!(Rc::ptr_eq(&first, &workspace.analyse(&file("mine.sknd"))));
        // A file that no editor has open.
        std::fs::write(file("mine.sknd"), "operator f { @input { x: real[n]; } }").unwrap();
        let second = workspace.analyse(&file("main.sknd"));
        assert!(!Rc::ptr_eq(&first, &second));
        workspace.set(file("mine.sknd"), String::new(), 1);
        assert!(!Rc::ptr_eq(&second, &workspace.analyse(&file("main.sknd"))));
    }
}
