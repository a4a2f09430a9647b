// SPDX-License-Identifier: Apache-2.0
//! Quantization, modules, the main graph, and the composition of a document (2.14, 2.15, 3, 3.1).

use super::rows::{Rows, graph, reals_of};
use skript_frontend::diagnostics::codes;
use skript_frontend::model::{Body, Model, Operation};

#[test]
fn s2_14_quantization() {
    let mut rows = Rows::default();
    let operators = "
        operator half { @attrib { bits: int = 8; } @input { x: real[s..]; } @output { y: real[s..]; } @lower { y[i..] = x[i..] / 2.0, i < s; } }
        operator two { @input { x: real[n]; } @output { y: real[n]; z: real[n]; } @lower { y[i,] = x[i,], i < n; z[i,] = x[i,], i < n; } }
        operator own { @input { x: real[n]; } @variable { w: real[n]; } @output { y: real[n]; } @compose { y = add(x, w); } }";
    let quantized = |entries: &str| {
        let statements = format!("t = lab: own(x); y = neg(t); }} @quantize {{ {entries}");
        graph(operators, "x: real[2];", "y: real[2];", &statements)
    };
    let count = |model: &Model| model.quantization.len();
    rows.model(&[262], &quantized("x: half; t: half{bits=4}; y: half{bits=2}; lab.w: half;"), count, 4);
    rows.rejected(&[263], &codes::QUANTIZED_TENSOR, &quantized("nothing: half;"));
    rows.rejected(&[263], &codes::QUANTIZATION, &quantized("lab.nothing: half;"));
    rows.rejected(&[263], &codes::UNKNOWN_OPERATOR, &quantized("x: nothing;"));
    rows.rejected(&[264], &codes::NOT_A_QUANTIZER, &quantized("x: two;"));
    rows.rejected(&[264], &codes::NOT_A_QUANTIZER, &quantized("x: add;"));
}

#[test]
fn s2_15_modules() {
    let mut rows = Rows::default();
    let scaling = |by: &str| {
        format!(
            "operator scale {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} @lower {{ y[i,] = x[i,] * {by}, i < n; }} }}"
        )
    };
    let main = |imports: &str, statements: &str| {
        format!("{imports} {}", graph(&scaling("2.0"), "x: real[2];", "y: real[2];", statements))
    };
    let files = format!(
        "\n--- mine.sknd\n{}\n--- ops/mine.sknd\n{}\n--- ops/deep/mine.sknd\nimport mine; {}\noperator twice {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} @compose {{ t = scale(x); y = mine.scale(t); }} }}",
        scaling("3.0"),
        scaling("5.0"),
        scaling("7.0")
    );
    let x = [reals_of(&[1.0, 2.0])];
    let imports = "import mine; import ops.mine; import ops.deep.mine;";
    for (invocation, factor) in [
        ("scale(x)", 2.0),
        ("mine.scale(x)", 3.0),
        ("ops.mine.scale(x)", 5.0),
        ("ops.deep.mine.scale(x)", 7.0),
        ("ops.deep.mine.twice(x)", 21.0),
    ] {
        let document = main(imports, &format!("y = {invocation};")) + &files;
        rows.output(&[265, 266, 267, 268, 269], &document, &x, &[factor, 2.0 * factor]);
    }
    rows.rejected(&[267], &codes::MODULE_MISSING, &main("import nowhere;", "y = scale(x);"));
    rows.rejected(&[267], &codes::MODULE_NOT_IMPORTED, &(main("", "y = mine.scale(x);") + &files));
    rows.rejected(
        &[267],
        &codes::MODULE_NOT_IMPORTED,
        &(main("import ops.deep.mine;", "y = mine.scale(x);") + &files),
    );
    let late = graph("", "x: real[2];", "y: real[2];", "y = neg(x);") + " import mine;" + &files;
    rows.rejected(&[266, 267], &codes::IMPORT_MISPLACED, &late);
    rows.rejected(&[271], &codes::NO_GRAPH, &scaling("2.0"));
    rows.rejected(
        &[272],
        &codes::GRAPH_IN_MODULE,
        "import mine; graph G { @output { y: real[]; } @compose { y = 1.0; } }\n--- mine.sknd\ngraph H { @output { y: real[]; } @compose { y = 1.0; } }",
    );
    let several = "graph A { @output { y: real[]; } @compose { y = 1.0; } } graph B { @output { y: real[]; } @compose { y = 2.0; } }";
    rows.output(&[273], several, &[], &[1.0]);
}

#[test]
fn s3_composition() {
    let mut rows = Rows::default();
    let typed = "graph G { @attrib { k: real; } @output { y: real[]; } @compose { y = k; } }";
    rows.rejected(&[277], &codes::ATTRIBUTE_MISSING, typed);
    rows.rejected(
        &[277],
        &codes::TYPE_DEDUCTION,
        "graph G { @dtype { T: num; } @input { x: T[2]; } @output { y: T[2]; } @compose { y = x; } }",
    );
    rows.output(&[277], &typed.replace("k: real;", "k: real = 4.5;"), &[], &[4.5]);
    // Attributes, shapes, types, helpers, assertions, output shapes: each may use what comes before it.
    let staged = "operator f { @dtype { T: num; } @attrib { k: int; d: int = k + n; } @input { x: T[n]; } @using { u = d * 2; }
        @assert { u == 10: \"u is {u}\"; } @output { y: T[u]; } @lower { y[i,] = T(d), i < u; } }";
    rows.output(&[278], &graph(staged, "x: real[3];", "y: real[~];", "y = f{k=2}(x);"), &[], &[5.0; 10]);
    rows.message(&[278], &graph(staged, "x: real[3];", "y: real[~];", "y = f{k=3}(x);"), "u is 12");
    let order = |model: &Model| {
        let entry = model.function(model.entry).unwrap();
        let Body::Block(block) = &entry.body else {
            return Vec::new();
        };
        let names = block.operations.iter().filter_map(|o| match o {
            Operation::Invoke(invoke) => model.function(invoke.callee).map(|f| f.name.clone()),
            _ => None,
        });
        names.collect::<Vec<_>>()
    };
    let three = graph("", "x: real[3];", "y: real[3];", "b = neg(x); a = id(b); y = add(a, b);");
    rows.model(&[278, 282], &three, order, ["main.neg", "main.id", "main.add"].map(String::from).to_vec());
    // A composite keeps its statements, a formula operator its formulas, each function its attributes and types.
    let nested = "operator leaf { @dtype { T: num; } @attrib { k: T; } @input { x: T[n]; } @output { y: T[n]; } @lower { y[i,] = x[i,] * k, i < n; } }
        operator node { @input { x: real[n]; } @output { y: real[n]; } @compose { t = leaf{k=2.0}(x); y = leaf{k=3.0}(t); } }";
    let shape = |model: &Model| {
        let found = model.functions.iter().map(|f| {
            let body = match &f.body {
                Body::Formulas(formulas) => format!("{} formulas", formulas.len()),
                Body::Block(block) => format!("{} operations", block.operations.len()),
                Body::Intrinsic => "none".to_string(),
            };
            format!("{} {} {} {body}", f.name, f.attributes.len(), f.types.len())
        });
        let mut found: Vec<String> = found.collect();
        found.sort();
        found
    };
    rows.model(
        &[280, 281],
        &graph(nested, "x: real[3];", "y: real[3];", "y = node(x);"),
        shape,
        [
            "main.G 0 0 1 operations",
            "main.leaf 1 1 1 formulas",
            "main.leaf 1 1 1 formulas",
            "main.node 0 0 2 operations",
        ]
        .map(String::from)
        .to_vec(),
    );
    let ports = |model: &Model| {
        let entry = model.function(model.entry).unwrap();
        let names = entry.inputs.iter().chain(&entry.outputs).map(|p| p.name.clone());
        (names.collect::<Vec<_>>(), entry.values.len())
    };
    rows.model(&[282], &three, ports, (["x", "y"].map(String::from).to_vec(), 4));
}
