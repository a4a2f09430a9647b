// SPDX-License-Identifier: Apache-2.0
//! Reads a model's files: the main module and everything it imports, from the model folder and the embedded library.

use std::fs;
use std::path::{Path, PathBuf};

use skript_host::file::{self, FileError};

use crate::ast::{Definition, Import, Module};
use crate::diagnostics::codes::{
    EDITIONS_MIXED, ENCODING, IMPORT_DEPTH, MODULE_MISSING, SOURCE_SIZE, UNREADABLE,
};
use crate::diagnostics::{Code, Diagnostic, Sink};
use crate::library::{self, Layer, Used};
use crate::limits::Limits;
use crate::program::{Edition, ModuleInfo, Origin, Program};
use crate::source::{FileId, Span};
use crate::syntax::{StatementCache, expand_input_helpers, parse_definitions, parse_module};

/// Loads the model at `path`: a folder with `main.sknd`, or a single file whose stem becomes the main module's name.
///
/// Imports are looked up in the model folder (`a.b` is `a/b.sknd`, always from the folder itself), then in the library;
/// library modules import from the library only. `edition` overrides the automatic choice for the modules of the model.
/// Errors are reported to `sink`; the readable part of the program is returned. Of library modules, it contains only the
/// definitions that are used.
pub fn load_program(path: &Path, edition: Option<Edition>, limits: &Limits, sink: &mut Sink) -> Program {
    load_program_with(path, edition, limits, sink, &|_| None)
}

/// Like [`load_program`], but a file for which `open` has bytes is not read: editors hold texts that are not saved, and
/// packed models hold all of theirs.
pub fn load_program_with(
    path: &Path,
    edition: Option<Edition>,
    limits: &Limits,
    sink: &mut Sink,
    open: &dyn Fn(&Path) -> Option<Vec<u8>>,
) -> Program {
    load(path, edition, limits, sink, open, None)
}

/// Like [`load_program_with`], with whole modules of the library: editors offer all of their definitions. `cache` has the
/// statements of the texts before the last change.
pub fn load_program_and_library(
    path: &Path,
    edition: Option<Edition>,
    limits: &Limits,
    sink: &mut Sink,
    open: &dyn Fn(&Path) -> Option<Vec<u8>>,
    cache: &StatementCache,
) -> Program {
    cache.begin();
    load(path, edition, limits, sink, open, Some(cache))
}

fn load(
    path: &Path,
    edition: Option<Edition>,
    limits: &Limits,
    sink: &mut Sink,
    open: &dyn Fn(&Path) -> Option<Vec<u8>>,
    cache: Option<&StatementCache>,
) -> Program {
    let (folder, file) = if path.is_dir() {
        (path.to_path_buf(), path.join("main.sknd"))
    } else {
        let parent = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        (parent, path.to_path_buf())
    };
    let mut loader = Loader { open, cache, ..Loader::new(&file, folder, edition, limits, sink) };
    let main = loader.program.main.clone();
    if let Some(module) = loader.read(&file, &main, None) {
        loader.register(main, module, Origin::Model, 0);
        loader.follow_imports();
        loader.read_library(cache.is_some());
    }
    loader.program
}

/// Like [`load_program`], for a text in memory. `file` is its name in messages, and imports are looked up in the folder
/// of `file`.
pub fn load_text(
    text: &str,
    file: &Path,
    edition: Option<Edition>,
    limits: &Limits,
    sink: &mut Sink,
) -> Program {
    let folder = file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    let mut loader = Loader::new(file, folder, edition, limits, sink);
    let main = loader.program.main.clone();
    let id = loader.program.sources.add(file, text);
    if text.len() > limits.source_bytes {
        let message = format!("larger than {} bytes", limits.source_bytes);
        let span = Span::new(id, 0, 0);
        loader.sink.report(Diagnostic::error(&SOURCE_SIZE, span, message));
        return loader.program;
    }
    let module = parse_module(id, text, &main, limits, loader.sink);
    loader.register(main, module, Origin::Model, 0);
    loader.follow_imports();
    loader.read_library(false);
    loader.program
}

struct Loader<'a> {
    program: Program,
    edition: Option<Edition>,
    limits: &'a Limits,
    sink: &'a mut Sink,
    /// The contents of files that are not read from disk.
    open: &'a dyn Fn(&Path) -> Option<Vec<u8>>,
    cache: Option<&'a StatementCache>,
    /// Keys of modules whose imports are not followed yet, with their distance from the main module.
    pending: Vec<(String, usize)>,
    /// The key and the name of each imported library module, and whether it belongs to edition khronos. The modules contain only
    /// imports until all files are read.
    library: Vec<(String, String, bool)>,
}

impl<'a> Loader<'a> {
    /// The main module is named after its file.
    fn new(
        file: &Path,
        folder: PathBuf,
        edition: Option<Edition>,
        limits: &'a Limits,
        sink: &'a mut Sink,
    ) -> Self {
        let stem = file.file_stem().map(|s| s.to_string_lossy().into_owned());
        Loader {
            program: Program {
                main: stem.unwrap_or_else(|| "main".to_string()),
                folder,
                ..Program::default()
            },
            edition,
            limits,
            sink,
            open: &|_| None,
            cache: None,
            pending: Vec::new(),
            library: Vec::new(),
        }
    }

    /// Reads the library definitions that the files of the model use, or all definitions of the imported modules.
    fn read_library(&mut self, whole: bool) {
        let sources = &self.program.sources;
        let texts = self
            .program
            .modules
            .iter()
            .filter(|(key, _)| self.program.origin(key) == Origin::Model)
            .filter_map(|(_, module)| sources.get(module.file));
        let texts: Vec<&str> = texts.map(|file| file.text.as_ref()).collect();
        let modules = self.library.iter().flat_map(|(_, name, khronos)| {
            let overlay = khronos.then_some((Layer::Khronos, name.as_str()));
            overlay.into_iter().chain([(Layer::Draft, name.as_str())])
        });
        let modules: Vec<(Layer, &str)> = modules.collect();
        // A file with errors may misspell the name of a definition, so all names are read.
        let used = if whole || self.sink.has_errors() { Used::All } else { Used::by(&texts, &modules) };
        for (key, name, khronos) in std::mem::take(&mut self.library) {
            if let Some(module) = self.library_module(&name, khronos, &used) {
                self.program.modules.insert(key, module);
            }
        }
    }

    fn register(&mut self, key: String, mut module: Module, origin: Origin, depth: usize) {
        let edition = self.choose_edition(&module, origin);
        let edition_from_syntax = self.edition.is_none() && origin == Origin::Model;
        if edition == Edition::Khronos {
            expand_input_helpers(&mut module);
            // A module may use its name without an import; an import of that name takes precedence.
            let own_import = (key.clone(), module.name.clone());
            self.program.imports.insert(own_import, key.clone());
        }
        self.program.info.insert(key.clone(), ModuleInfo { edition, edition_from_syntax, origin });
        self.program.modules.insert(key.clone(), module);
        self.pending.push((key, depth));
    }

    fn choose_edition(&mut self, module: &Module, origin: Origin) -> Edition {
        if origin == Origin::Library {
            return Edition::Draft6;
        }
        if let Some(edition) = self.edition {
            return edition;
        }
        let marks = &module.edition_marks;
        match (&marks.khronos_only, &marks.draft_only) {
            (Some(_), None) => Edition::Khronos,
            (Some((khronos, khronos_text)), Some((draft, draft_text))) => {
                let message = format!(
                    "`{khronos_text}` is syntax of edition khronos, `{draft_text}` of draft6; the module is read as draft6"
                );
                self.sink.report(
                    Diagnostic::warning(&EDITIONS_MIXED, *khronos, message)
                        .with_label_at(*draft, "draft6 only")
                        .with_help("choose with `--edition=draft6` or `--edition=khronos`"),
                );
                Edition::Draft6
            }
            (None, None) if marks.khronos_first.is_some() => Edition::Khronos,
            (None, _) => Edition::Draft6,
        }
    }

    fn follow_imports(&mut self) {
        let mut at = 0;
        while let Some((key, depth)) = self.pending.get(at).cloned() {
            at += 1;
            let imports = match self.program.modules.get(&key) {
                Some(module) => module.imports.clone(),
                None => continue,
            };
            for import in imports {
                if depth >= self.limits.import_depth {
                    let message = format!(
                        "`{}` is the end of a chain of more than {} imports (limit `import_depth`)",
                        import.path.text(),
                        self.limits.import_depth
                    );
                    self.sink.report(Diagnostic::error(&IMPORT_DEPTH, import.span, message));
                    return;
                }
                if let Some(imported) = self.import(&key, &import, depth + 1) {
                    let entry = (key.clone(), import.path.text());
                    self.program.imports.insert(entry, imported);
                }
            }
        }
    }

    /// The key of the imported module, which is loaded on its first import.
    fn import(&mut self, from: &str, import: &Import, depth: usize) -> Option<String> {
        let name = import.path.text();
        let file = self.model_file(&name);
        let present = exists(&file) || (self.open)(&file).is_some();
        if self.program.origin(from) == Origin::Model && present {
            if !self.program.modules.contains_key(&name) {
                let module = self.read(&file, &name, Some(import.path.span))?;
                self.register(name.clone(), module, Origin::Model, depth);
            }
            return Some(name);
        }
        let khronos =
            self.program.edition(from) == Edition::Khronos && library::contains(Layer::Khronos, &name);
        if !khronos && !library::contains(Layer::Draft, &name) {
            self.report_missing(from, import, &name, &file);
            return None;
        }
        let key = if khronos {
            format!("<stdlib/khronos>/{name}")
        } else if present || name == self.program.main {
            format!("<stdlib>/{name}")
        } else {
            name.clone()
        };
        if !self.program.modules.contains_key(&key) {
            let module = self.library_module(&name, khronos, &Used::none())?;
            self.register(key.clone(), module, Origin::Library, depth);
            self.library.push((key.clone(), name, khronos));
        }
        Some(key)
    }

    fn model_file(&self, name: &str) -> PathBuf {
        let mut file: PathBuf = self.program.folder.clone();
        file.extend(name.split('.'));
        file.set_extension("sknd");
        file
    }

    fn library_module(&mut self, name: &str, khronos: bool, used: &Used) -> Option<Module> {
        let sources = &mut self.program.sources;
        let base = library::part(Layer::Draft, name, used, sources, self.sink);
        if !khronos {
            return base;
        }
        let overlay = library::part(Layer::Khronos, name, used, sources, self.sink)?;
        let Some(mut module) = base else {
            return Some(overlay);
        };
        let known = |imports: &[Import], import: &Import| {
            let text = import.path.text();
            imports.iter().any(|i| i.path.text() == text)
        };
        for import in overlay.imports {
            if !known(&module.imports, &import) {
                module.imports.push(import);
            }
        }
        for definition in overlay.definitions {
            let same = |d: &&mut Definition| d.name.name == definition.name.name;
            match module.definitions.iter_mut().find(same) {
                Some(slot) => *slot = definition,
                None => module.definitions.push(definition),
            }
        }
        Some(module)
    }

    fn report_missing(&mut self, from: &str, import: &Import, name: &str, file: &Path) {
        let standard: Vec<&str> = library::names().collect();
        let looked = if self.program.origin(from) == Origin::Model {
            format!("looked for {} and in the standard library", file.display())
        } else {
            "looked in the standard library only".to_string()
        };
        let message = format!("there is no module `{name}`; {looked}");
        let diagnostic = Diagnostic::error(&MODULE_MISSING, import.path.span, message);
        let known = "the modules of the library are";
        self.sink.report(diagnostic.with_names(name, known, &standard));
    }

    /// Reads and parses a file. Errors of the file itself are reported at `import`, or at the beginning of the file.
    fn read(&mut self, file: &Path, name: &str, import: Option<Span>) -> Option<Module> {
        match self.read_bytes(file) {
            Ok(bytes) => {
                let is_bytecode = bytes.starts_with(b"ML\xefR");
                let (text, bad) = match String::from_utf8(bytes) {
                    Ok(text) => (text, None),
                    Err(error) => {
                        let bad = error.utf8_error().valid_up_to();
                        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                        (text, Some(bad))
                    }
                };
                let id = self.program.sources.add(file, text.as_str());
                if let Some(bad) = bad {
                    let at = u32::try_from(bad).unwrap_or(u32::MAX);
                    let (message, help) = if is_bytecode {
                        ("this is MLIR bytecode", "write the program as text, into a file `….mlir`")
                    } else {
                        ("this byte is not UTF-8", "save the file as UTF-8 text")
                    };
                    self.sink
                        .report(Diagnostic::error(&ENCODING, Span::new(id, at, at), message).with_help(help));
                    return None;
                }
                Some(parse_definitions((id, &text), name, &|_| true, self.limits, self.sink, self.cache))
            }
            Err((code, message)) => {
                let span = import.unwrap_or_else(|| {
                    let id: FileId = self.program.sources.add(file, "");
                    Span::new(id, 0, 0)
                });
                let message = format!("{}: {message}", file.display());
                let diagnostic = Diagnostic::error(code, span, message);
                self.sink.report(match import {
                    None if !exists(file) => {
                        diagnostic.with_help("a model is a folder with a main.sknd, or a single file")
                    }
                    _ => diagnostic,
                });
                None
            }
        }
    }

    fn read_bytes(&self, path: &Path) -> Result<Vec<u8>, (&'static Code, String)> {
        let limit = self.limits.source_bytes;
        let too_large = || (&SOURCE_SIZE, format!("larger than {limit} bytes"));
        if let Some(bytes) = (self.open)(path) {
            return (bytes.len() <= limit).then_some(bytes).ok_or_else(too_large);
        }
        // The main file may be a link to any location, because the user named it; imports must be in its folder.
        let most = u64::try_from(limit).unwrap_or(u64::MAX);
        let read = if self.program.modules.contains_key(&self.program.main) {
            file::read_within(path, &self.program.folder, most)
        } else {
            file::read(path, most)
        };
        read.map_err(|error| match error {
            FileError::Size { .. } => too_large(),
            FileError::Outside { target, .. } => {
                let message = format!("a link out of the model folder, to {}", target.display());
                (&UNREADABLE, message)
            }
            other => (&UNREADABLE, other.to_string()),
        })
    }
}

/// Whether an entry with this name exists. A broken link counts, so that it is not mistaken for a library module.
fn exists(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok()
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// The codes that loading a folder with these files reports.
    pub(crate) fn loaded(files: &[(&str, &[u8])]) -> Vec<&'static str> {
        loaded_within(files, &Limits::default())
    }

    pub(crate) fn loaded_within(files: &[(&str, &[u8])], limits: &Limits) -> Vec<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let mut sink = Sink::default();
        load_program(folder.path(), None, limits, &mut sink);
        sink.into_sorted().iter().map(|d| d.code.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "import a;\nimport sub.b;\ngraph G { }\n";

    fn load(files: &[(&str, &[u8])], limits: &Limits) -> (Program, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        load_folder(folder.path(), limits)
    }

    fn load_folder(folder: &Path, limits: &Limits) -> (Program, Vec<String>) {
        let mut sink = Sink::default();
        let program = load_program(folder, None, limits, &mut sink);
        let lines = sink.into_sorted().into_iter().map(|d| {
            let span = d.span.unwrap();
            let file = program.sources.get(span.file).unwrap();
            let (line, column) = file.line_column(span.start);
            let path = file.path.strip_prefix(folder).unwrap();
            format!("{}:{line}:{column}: {}", path.display(), d.code.id)
        });
        let messages = lines.collect();
        (program, messages)
    }

    #[test]
    fn a_text_imports_from_beside_the_file_it_is_named_after() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.sknd"), "operator o { }\n").unwrap();
        let mut sink = Sink::default();
        let file = folder.path().join("model.sknd");
        let program = load_text(
            "import a;\nimport nowhere;\ngraph G { }\n",
            &file,
            None,
            &Limits::default(),
            &mut sink,
        );
        let keys: Vec<&str> = program.modules.keys().map(String::as_str).collect();
        assert_eq!(keys, ["model", "a"]);
        assert_eq!(sink.error_count(), 1);
    }

    #[test]
    fn modules_of_sub_folders_import_from_the_root() {
        let (program, messages) = load(
            &[
                ("main.sknd", MAIN.as_bytes()),
                ("a.sknd", b"import sub.b;\n"),
                ("sub/b.sknd", b"import a;\nimport sub.c;\n"),
                ("sub/c.sknd", b"operator o { }\n"),
            ],
            &Limits::default(),
        );
        assert_eq!(messages, Vec::<String>::new());
        let keys: Vec<&str> = program.modules.keys().map(String::as_str).collect();
        assert_eq!(keys, ["main", "a", "sub.b", "sub.c"]);
        assert_eq!(program.resolve("a", "sub.b").unwrap().0, "sub.b");
        assert!(program.resolve("main", "sub.c").is_none());
    }

    #[test]
    fn what_cannot_be_loaded_is_reported_at_its_import() {
        let (_, messages) =
            load(&[("main.sknd", MAIN.as_bytes()), ("a.sknd", b"# \xff\n")], &Limits::default());
        assert_eq!(messages, ["main.sknd:2:8: SK1511", "a.sknd:1:3: SK1609"]);
        assert_eq!(load(&[], &Limits::default()).1, ["main.sknd:1:1: SK1512"]);
        let (_, messages) = load(&[("main.sknd", b"import a;"), ("a.sknd/x", b"")], &Limits::default());
        assert_eq!(messages, ["main.sknd:1:8: SK1512"]);
    }

    #[test]
    fn limits_hold() {
        let limits = Limits { source_bytes: 20, import_depth: 2, ..Limits::default() };
        let (_, messages) = load(
            &[
                ("main.sknd", b"import a;"),
                ("a.sknd", b"import b;"),
                ("b.sknd", b"import c;"),
                ("c.sknd", b""),
            ],
            &limits,
        );
        assert_eq!(messages, ["b.sknd:1:1: SK1513"]);
        let (_, messages) = load(&[("main.sknd", b"import a;"), ("a.sknd", &[b' '; 21])], &limits);
        assert_eq!(messages, ["main.sknd:1:8: SK1610"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_folder_are_refused() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("a.sknd"), "").unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("main.sknd"), "import a;").unwrap();
        let link = folder.path().join("a.sknd");
        std::os::unix::fs::symlink(outside.path().join("a.sknd"), link).unwrap();
        let (_, messages) = load_folder(folder.path(), &Limits::default());
        assert_eq!(messages, ["main.sknd:1:8: SK1512"]);
    }

    #[test]
    fn editions_are_chosen_by_their_tokens() {
        let khronos = "operator o { @using { a = b <? c; } }";
        let both = "operator o { @using { a = b <? c; d = a << b; } }";
        let edition = |text: &str| {
            let (program, messages) = load(&[("main.sknd", text.as_bytes())], &Limits::default());
            (program.edition("main"), messages)
        };
        assert_eq!(edition(khronos), (Edition::Khronos, vec![]));
        assert_eq!(edition("graph G { }"), (Edition::Draft6, vec![]));
        let warned = vec!["main.sknd:1:29: SK1514".to_string()];
        assert_eq!(edition(both), (Edition::Draft6, warned));
    }

    /// The codes reported for a folder whose module `math` refers to its operator by the full name; `head` begins the module.
    fn own_name(head: &str, edition: Edition) -> Vec<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        let body = "@input { x: real[n]; } @output { y: real[n]; }";
        let module = format!(
            "{head} operator add {{ {body} @lower {{ y[i,] = x[i,], i < n; }} }} \
             operator twice {{ {body} @compose {{ y = math.add(x); }} }}"
        );
        let main = "import math; graph G { @input { x: real[2]; } @output { y: real[2]; } \
            @compose { y = math.twice(x); } }";
        fs::write(folder.path().join("main.sknd"), main).unwrap();
        fs::write(folder.path().join("math.sknd"), module).unwrap();
        let mut sink = Sink::default();
        let program = load_program(folder.path(), Some(edition), &Limits::default(), &mut sink);
        crate::check::check_program(&program, &mut sink);
        sink.into_sorted().iter().map(|d| d.code.id).collect()
    }

    #[test]
    fn editions_a_module_may_name_itself() {
        assert_eq!(own_name("", Edition::Khronos), [""; 0]);
        assert!(own_name("import math;", Edition::Khronos).is_empty());
        let unknown = "operator other { @input { x: real[n]; } @output { y: real[n]; } \
            @compose { y = math.ad(x); } }";
        assert_eq!(own_name(unknown, Edition::Khronos).len(), 1);
        assert!(!own_name("", Edition::Draft6).is_empty());
    }
}
