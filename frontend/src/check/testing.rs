// SPDX-License-Identifier: Apache-2.0
//! Small documents for the tests of diagnostics.

use crate::diagnostics::{Diagnostic, Sink};
use crate::limits::Limits;
use crate::program::{Edition, ModuleInfo, Origin, Program};
use crate::syntax::parse_module;

/// Files of a document: dotted name and text; the first is the main one, which must import the others itself.
pub(crate) type Document = Vec<(&'static str, String)>;

/// A complete main file. An import of `other` finds an empty module.
pub(crate) fn in_document(text: &str) -> Document {
    vec![("main", text.to_string()), ("other", String::new())]
}

const GRAPH: &str = "graph Main { @input { x: real[1]; } @output { y: real[1]; } @compose { y = x; } }";

const HEAD: &str = "
    @dtype { T: num; S: type; }
    @attrib {
        n: int; p: int..(k); q: int..(k); ps: real..(l); f: bool; m: bool..(k); r: real; w: str;
        o: optional int; t: T; s: S;
    }
    @input { x: real[a,b]; line: real[a]; maybe: optional real[a]; xs: real[a]..(c); }
    @output { y: real[a]; }";

/// Lines of a `@using` block that sees attributes and inputs of all kinds.
pub(crate) fn in_using(text: &str) -> Document {
    in_document(&format!(
        "operator probe {{ {HEAD} @using {{ {text} }} @lower {{ y[i,] = 0.0, i < a; }} }} {GRAPH}"
    ))
}

/// Formulas of an operator with the output `y: real[a]`.
pub(crate) fn in_lower(text: &str) -> Document {
    in_document(&format!("operator probe {{ {HEAD} @lower {{ {text} }} }} {GRAPH}"))
}

/// Statements of a graph with the output `y: real[4]`.
pub(crate) fn in_compose(text: &str) -> Document {
    in_document(&format!(
        "
operator id {{ @dtype {{ T: type; }} @input {{ x: T[s..]; }} @output {{ y: T[s..]; }} }}
operator same {{ @dtype {{ T: num; }} @input {{ a: T[s..]; b: T[t..]; }} @output {{ y: T[s..]; }} }}
operator convert {{ @dtype {{ R: arith; T: arith; }} @input {{ x: T[s..]; }} @output {{ y: R[s..]; }} }}
operator scale {{
    @attrib {{ k: real; n: int = 1; ks: int..(l) = []; }} @input {{ x: real[s..]; }} @output {{ y: real[s..]; }}
}}
operator add {{
    @input {{ x: real[s..]; y: real[t..]; z: optional real[s..]; }} @output {{ r: real[s..]; }}
}}
operator two {{ @input {{ x: real[s..]; }} @output {{ y: real[s..]; z: real[s..]; }} }}
operator less {{ @input {{ x: real[s..]; }} @output {{ y: bool[s..]; }} }}
operator split {{ @attrib {{ n: int; }} @input {{ x: real[s..]; }} @output {{ ys: real[s..]..(n); }} }}
operator join {{ @input {{ xs: real[s..]..(n); }} @output {{ y: real[s..]; }} }}
graph Main {{
    @attrib {{ f: bool = true; n: int = 2; }}
    @input {{ x: real[4]; i: int[]; b: bool[]; xs: real[4]..(3); }}
    @variable {{ w: real[4]; }}
    @output {{ y: real[4]; }}
    @compose {{ {text} }}
}}"
    ))
}

/// All diagnostics of parsing and checking a document.
pub(crate) fn check(document: &Document) -> Vec<Diagnostic> {
    check_as(document, Edition::Draft6)
}

/// All diagnostics of parsing and checking a document in an edition of the language.
pub(crate) fn check_as(document: &Document, edition: Edition) -> Vec<Diagnostic> {
    checked(document, edition).1.into_sorted()
}

/// A document as a program, and all diagnostics of parsing and checking it.
pub(crate) fn checked(document: &Document, edition: Edition) -> (Program, Sink) {
    let mut sink = Sink::default();
    let mut program = Program { main: "main".into(), ..Program::default() };
    for (name, text) in document {
        let file = program.sources.add(format!("{name}.sknd"), text.clone());
        let module = parse_module(file, text, name, &Limits::default(), &mut sink);
        for import in &module.imports {
            let path = import.path.text();
            if document.iter().any(|(n, _)| *n == path) {
                program.imports.insert((name.to_string(), path.clone()), path);
            }
        }
        let info = ModuleInfo { edition, edition_from_syntax: false, origin: Origin::Model };
        program.info.insert(name.to_string(), info);
        program.modules.insert(name.to_string(), module);
    }
    super::check_program(&program, &mut sink);
    (program, sink)
}

/// Asserts that nothing is reported.
pub(crate) fn assert_silent(document: &Document) {
    let reported: Vec<String> =
        check(document).iter().map(|d| format!("{}: {}", d.code.id, d.message)).collect();
    assert!(reported.is_empty(), "{reported:?}");
}
