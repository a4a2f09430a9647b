// SPDX-License-Identifier: Apache-2.0
//! Paths in code spans and links of Markdown files exist.

use crate::tree::Tree;

pub fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for page in tree.ending(&[".md"]) {
        let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in prose(&page.text) {
            let spans = code_spans(line).filter(|p| starts_in(tree, p));
            let links = links(line).map(|link| resolve(folder, link));
            for path in spans.map(str::to_owned).chain(links) {
                if !exists(tree, &path) {
                    complaints.push(format!("{}:{number}: there is no `{path}`", page.path));
                }
            }
        }
    }
    complaints
}

/// The lines outside of fenced blocks, numbered from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(n, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((n + 1, line))
    })
}

/// Code spans that look like a single path; patterns and lists of paths are ignored.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.filter(|span| {
        span.contains('/') && span.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
    })
}

/// Targets of links into the tree, without their anchors.
fn links(line: &str) -> impl Iterator<Item = &str> {
    let targets = line.split("](").skip(1);
    targets
        .filter_map(|rest| rest.split(')').next())
        .map(|target| target.split_once('#').map_or(target, |(file, _)| file))
        .filter(|target| !target.is_empty() && !target.contains("://"))
}

fn starts_in(tree: &Tree, path: &str) -> bool {
    let first = path.split_once('/').map_or(path, |(first, _)| first);
    let folder = format!("{first}/");
    !first.is_empty() && tree.files.iter().any(|f| f.path.starts_with(&folder))
}

fn resolve(folder: &str, link: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn exists(tree: &Tree, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let folder = format!("{path}/");
    tree.has(path) || tree.files.iter().any(|f| f.path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::File;

    fn complaints(page: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        check(&Tree { files: vec![file("docs/a.md", page), file("passes/src/all.rs", "")] })
    }

    #[test]
    fn existing_paths_are_accepted() {
        let page =
            "`passes/src/all.rs`, `passes/src/`, [all](../passes/src/all.rs#L1), `x/y`, [w](https://a.b/c)";
        assert_eq!(complaints(page), Vec::<String>::new());
    }

    #[test]
    fn missing_paths_are_reported_with_their_line() {
        let page = "one\n`passes/src/none.rs` and [b](b.md)\n```\n`passes/none`\n```";
        assert_eq!(
            complaints(page),
            ["docs/a.md:2: there is no `passes/src/none.rs`", "docs/a.md:2: there is no `docs/b.md`"]
        );
    }
}
