// SPDX-License-Identifier: Apache-2.0
//! Limits import cycles: only a few files of a crate may depend on each other cyclically.
//!
//! A file depends on the files that its private `use` declarations name, and on the files that it names by a path from
//! `crate`, `super` or `self`. A `pub use` only re-exports names: a path through it leads to the file that defines them.

use crate::tree::{Tree, is_comment};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of files in a cycle.
const MAX_FILES: usize = 5;

/// Maximum number of re-exports through which a name is followed.
const MAX_REEXPORTS: usize = 4;

/// The files that each file depends on.
type Graph<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

pub fn check(tree: &Tree) -> Vec<String> {
    let files = tree.files.iter().map(|file| (file.path.as_str(), file.text.as_str()));
    complaints(&cycles(&graph(files)))
}

fn complaints(cycles: &[Graph]) -> Vec<String> {
    cycles.iter().filter(|cycle| cycle.len() > MAX_FILES).map(described).collect()
}

fn described(cycle: &Graph) -> String {
    let first = cycle.keys().next().unwrap_or(&"");
    let mut text = format!(
        "{first}: {} files depend on each other in a circle, the ceiling is {MAX_FILES}: move what they share to a file \
         that does not import them",
        cycle.len()
    );
    for (file, targets) in cycle {
        let names: Vec<&str> = targets.iter().filter_map(|target| target.rsplit('/').next()).collect();
        text.push_str(&format!("\n    {file} -> {}", names.join(", ")));
    }
    text
}

/// The strongly connected components of several files, each with its edges.
fn cycles<'t>(graph: &Graph<'t>) -> Vec<Graph<'t>> {
    let reached: Graph = graph.keys().map(|file| (*file, reachable(graph, file))).collect();
    let mut seen = BTreeSet::new();
    let mut cycles = Vec::new();
    for (file, targets) in &reached {
        let mutual =
            targets.iter().filter(|target| reached.get(*target).is_some_and(|back| back.contains(file)));
        let members: BTreeSet<&str> = mutual.copied().collect();
        if members.len() > 1 && seen.insert(members.clone()) {
            let inside = |file: &&'t str| (*file, graph[file].intersection(&members).copied().collect());
            cycles.push(members.iter().map(inside).collect());
        }
    }
    cycles
}

fn reachable<'t>(graph: &Graph<'t>, start: &'t str) -> BTreeSet<&'t str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(file) = open.pop() {
        open.extend(graph[file].iter().filter(|target| reached.insert(**target)));
    }
    reached
}

fn graph<'t>(files: impl Iterator<Item = (&'t str, &'t str)>) -> Graph<'t> {
    let sources: BTreeMap<Module, Source> = files.filter_map(|(path, text)| source(path, text)).collect();
    let edges = sources.iter().map(|(module, source)| {
        let private = source.imports.iter().filter(|import| !import.is_public);
        let targets = private.filter_map(|import| target(&sources, module, &import.path, 0));
        (source.file, targets.filter(|file| *file != source.file).collect())
    });
    edges.collect()
}

/// The crate's folder, and the names of the modules from its root.
type Module<'t> = (&'t str, Vec<&'t str>);

struct Source<'t> {
    file: &'t str,
    words: BTreeSet<&'t str>,
    imports: Vec<Import<'t>>,
}

/// A path in a file.
struct Import<'t> {
    path: Vec<&'t str>,
    /// The name that the path is imported as.
    name: &'t str,
    is_public: bool,
}

/// The module of a file; `None` if the file belongs to a program or is not Rust.
fn source<'t>(file: &'t str, text: &'t str) -> Option<(Module<'t>, Source<'t>)> {
    let (folder, path) = file.strip_suffix(".rs")?.split_once("/src/")?;
    let mut module: Vec<&str> = path.split('/').collect();
    match module[..] {
        ["lib"] => module.clear(),
        ["main"] | ["bin", ..] => return None,
        _ => {}
    }
    let tokens = tokens(text);
    let imports = imports(&tokens);
    let source = Source { file, words: tokens.into_iter().collect(), imports };
    Some(((folder, module), source))
}

/// The tokens of a file before its unit tests, without comment lines: words, `::` and single characters.
fn tokens(text: &str) -> Vec<&str> {
    let is_tests = |rest: &str| {
        let line = rest.lines().next().unwrap_or("");
        line.contains("mod ") && line.ends_with('{')
    };
    let end = text.match_indices("#[cfg(test)]\n").find(|(at, marker)| is_tests(&text[at + marker.len()..]));
    let text = end.map_or(text, |(at, _)| &text[..at]);
    let mut tokens = Vec::new();
    for line in text.lines().filter(|line| !is_comment(line)) {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match rest.find(|c: char| !c.is_alphanumeric() && c != '_') {
                Some(0) if rest.starts_with("::") => 2,
                Some(0) => first.len_utf8(),
                Some(end) => end,
                None => rest.len(),
            };
            tokens.push(&rest[..length]);
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn imports<'t>(tokens: &[&'t str]) -> Vec<Import<'t>> {
    let mut imports = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (before, after) = tokens.split_at(at);
        let is_public = before.ends_with(&["pub"]) || before.ends_with(&[")"]);
        at += 1;
        match after {
            ["use", ..] => at = tree(tokens, at, &[], is_public, &mut imports),
            // Visibility such as `pub(in crate::eval)` is not an import.
            ["crate" | "super" | "self", "::", ..] if !before.ends_with(&["(", "in"]) => {
                at = tree(tokens, at - 1, &[], false, &mut imports);
            }
            _ => {}
        }
    }
    imports
}

/// Parses the tree of a `use`, or a path, and returns its end.
fn tree<'t>(
    tokens: &[&'t str],
    mut at: usize,
    prefix: &[&'t str],
    is_public: bool,
    imports: &mut Vec<Import<'t>>,
) -> usize {
    let mut path = prefix.to_vec();
    let mut continues = true;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match *token {
            "::" => continues = true,
            "{" if continues => {
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = tree(tokens, at, &path, is_public, imports).max(at + 1);
                }
                return at + 1;
            }
            word if continues && (word == "*" || is_word(word)) => {
                path.push(word);
                continues = false;
            }
            _ => {
                at -= 1;
                break;
            }
        }
    }
    let mut name = path.last().copied().unwrap_or("");
    if let Some(["as", alias]) = tokens.get(at..at + 2) {
        name = alias;
        at += 2;
    }
    if path.len() > prefix.len() {
        imports.push(Import { path, name, is_public });
    }
    at
}

/// The file that defines the item of a path in a module; `None` if the item is not in the crate.
fn target<'t>(
    sources: &BTreeMap<Module<'t>, Source<'t>>,
    (folder, module): &Module<'t>,
    path: &[&'t str],
    depth: usize,
) -> Option<&'t str> {
    let has = |module: &[&'t str]| sources.contains_key(&(*folder, module.to_vec()));
    let mut path = path;
    let mut module = module.clone();
    match path {
        ["crate", rest @ ..] => (module, path) = (Vec::new(), rest),
        ["self", rest @ ..] => path = rest,
        ["super", ..] => {}
        [first, ..] if has(&[&module[..], &[*first]].concat()) => {}
        _ => return None,
    }
    while let ["super", rest @ ..] = path {
        module.pop();
        path = rest;
    }
    while let [next, rest @ ..] = path
        && has(&[&module[..], &[*next]].concat())
    {
        module.push(next);
        path = rest;
    }
    let module = (*folder, module);
    let source = sources.get(&module)?;
    let Some(name) = path.first().filter(|_| depth < MAX_REEXPORTS) else {
        return Some(source.file);
    };
    let reexported = source.imports.iter().filter(|import| import.is_public).find_map(|import| {
        let is_named = import.name == *name;
        let file =
            target(sources, &module, &import.path, depth + 1).filter(|_| is_named || import.name == "*")?;
        let defines = |source: &Source| source.file == file && source.words.contains(name);
        (file != source.file && (is_named || sources.values().any(defines))).then_some(file)
    });
    Some(reexported.unwrap_or(source.file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(files: &[(&'static str, &'static str)]) -> Vec<(String, String)> {
        let graph = graph(files.iter().copied());
        let name = |file: &str| file.trim_start_matches("a/src/").trim_end_matches(".rs").to_owned();
        let pairs =
            graph.iter().flat_map(|(file, targets)| targets.iter().map(move |t| (name(file), name(t))));
        pairs.collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(file, target)| ((*file).to_owned(), (*target).to_owned())).collect()
    }

    #[test]
    fn uses_and_paths_are_edges() {
        let files = [
            (
                "a/src/one.rs",
                "use crate::{\n    two::{A, B as C},\n    std::x,\n};\nfn f() { super::three::g() }\n",
            ),
            ("a/src/two.rs", "use inner::X;\n// use crate::three::Y;\npub(in crate::one) struct A;\n"),
            ("a/src/two/inner.rs", "use super::super::one;\nuse std::fmt::{self, Write};\n"),
            (
                "a/src/three.rs",
                "#[cfg(test)]\nfn f() {}\nuse crate::one;\n#[cfg(test)]\nmod tests {\n    use crate::two;\n}\n",
            ),
            ("b/src/one.rs", "use crate::three;\n"),
        ];
        let expected =
            [("one", "three"), ("one", "two"), ("three", "one"), ("two", "two/inner"), ("two/inner", "one")];
        assert_eq!(edges(&files), pairs(&expected));
    }

    #[test]
    fn reexports_lead_to_the_definition() {
        let files = [
            ("a/src/lib.rs", "mod facade;\npub use facade::*;\n"),
            ("a/src/facade.rs", "mod inner;\npub(crate) use inner::{A as B, C};\npub struct D;\n"),
            ("a/src/facade/inner.rs", "pub struct A;\npub struct C;\n"),
            ("a/src/user.rs", "use crate::facade::B;\n"),
            ("a/src/other.rs", "use crate::D;\n"),
        ];
        assert_eq!(edges(&files), pairs(&[("other", "facade"), ("user", "facade/inner")]));
    }

    /// A ring of files.
    fn ring(size: usize) -> Vec<Graph<'static>> {
        let names = ["a/src/0.rs", "a/src/1.rs", "a/src/2.rs", "a/src/3.rs", "a/src/4.rs", "a/src/5.rs"];
        let next = |n: usize| (names[n], BTreeSet::from([names[(n + 1) % size]]));
        cycles(&(0..size).map(next).collect())
    }

    #[test]
    fn large_cycles_are_reported_with_their_arrows() {
        assert_eq!(complaints(&ring(5)), [""; 0]);
        let complaint = &complaints(&ring(6))[0];
        assert!(complaint.starts_with("a/src/0.rs: 6 files depend on each other"), "{complaint}");
        assert!(complaint.contains("\n    a/src/5.rs -> 0.rs"), "{complaint}");
    }
}
