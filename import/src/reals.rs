// SPDX-License-Identifier: Apache-2.0
//! The type of reals of a model, and the rounding of narrower reals.
//!
//! A SkriptND model has one type `real`: the narrowest type that represents all reals of the ONNX model. Tensors of narrower types have
//! storage types, which `import.json` lists, and are rounded when they are computed. Tensors between the statements of an operator of
//! the document have no storage type: with `--structure`, each operation with a narrower result is followed by an operator that rounds.
//! The significand of the wider type has more than twice as many digits as that of the narrower type, plus one (24 for f32 and 11 for
//! f16, 53 for f64 and 24 for f32), so rounding a sum, product, quotient or root twice is equivalent to rounding it once.

use std::collections::{BTreeMap, BTreeSet};

use skript_tensor::ElementType;

use crate::importer::Importer;
use crate::literals::real_text;
use crate::statement::{Argument, Block, Body, Statement};
use crate::tensor::rounded;
use crate::value::{Value, is_real};

/// Determines the type that represents all reals of the inputs and the block. Narrower results have storage types if `is_stored`;
/// otherwise operators that round them are added.
pub fn settle(importer: &mut Importer, inputs: &[Value], block: &mut Block, is_stored: bool) -> ElementType {
    let widest = widest(inputs, block);
    if is_stored {
        cast_narrower(block);
        return widest;
    }
    let mut read = BTreeSet::new();
    block.statements.iter().for_each(|s| s.reads(&mut read));
    Rounding { importer, widest, read }.block(block, true);
    widest
}

/// The widest real type of the inputs, the statements and the yielded values.
pub fn widest(inputs: &[Value], block: &Block) -> ElementType {
    let mut types_by_size: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    let mut widest = ElementType::F16;
    let mut any = false;
    let mut note = |value: &Value| {
        let element = value.element;
        if !is_real(element) {
            return;
        }
        any = true;
        types_by_size.entry(element.size()).or_default().insert(element.name());
        if element.size() >= widest.size() {
            widest = element;
        }
    };
    inputs.iter().for_each(&mut note);
    block.yields.iter().for_each(&mut note);
    visit(block, &mut |statement| statement.results.iter().for_each(&mut note));
    if !any || types_by_size.get(&widest.size()).is_some_and(|types| types.len() > 1) {
        // Neither f16 nor bf16 can represent all values of the other.
        widest = ElementType::F32;
    }
    widest
}

/// Visits all statements, including statements of bodies.
pub fn visit(block: &Block, see: &mut dyn FnMut(&Statement)) {
    block.statements.iter().for_each(|statement| visit_statement(statement, see));
}

/// Visits a statement and the statements of its bodies.
pub fn visit_statement(statement: &Statement, see: &mut dyn FnMut(&Statement)) {
    see(statement);
    match &statement.body {
        Body::If { then, otherwise, .. } => {
            visit(then, see);
            visit(otherwise, see);
        }
        Body::Loop(l) => visit(&l.body, see),
        _ => {}
    }
}

fn visit_mut(block: &mut Block, change: &mut dyn FnMut(&mut Statement)) {
    for statement in &mut block.statements {
        change(statement);
        match &mut statement.body {
            Body::If { then, otherwise, .. } => {
                visit_mut(then, change);
                visit_mut(otherwise, change);
            }
            Body::Loop(l) => visit_mut(&mut l.body, change),
            _ => {}
        }
    }
}

/// Converts copies of reals with narrower types to casts, whose results have separate storage types.
pub fn cast_narrower(block: &mut Block) {
    visit_mut(block, &mut cast_one);
}

fn cast_one(statement: &mut Statement) {
    if let Body::Same(from) = &statement.body
        && !holds(statement, from.element)
    {
        statement.body = Body::Call {
            operator: "layout.cast<real>".to_owned(),
            attributes: Vec::new(),
            arguments: vec![Argument::Tensor(from.clone())],
        };
    }
}

struct Rounding<'i> {
    importer: &'i mut Importer,
    widest: ElementType,
    /// The values that statements read. Other results are outputs, which are rounded when they are written.
    read: BTreeSet<usize>,
}

impl Rounding<'_> {
    fn block(&mut self, block: &mut Block, is_outer: bool) {
        let mut statements = Vec::new();
        for mut statement in std::mem::take(&mut block.statements) {
            match &mut statement.body {
                Body::If { then, otherwise, .. } => {
                    self.block(then, false);
                    self.block(otherwise, false);
                }
                Body::Loop(l) => self.block(&mut l.body, false),
                _ => {}
            }
            self.statement(statement, is_outer, &mut statements);
        }
        block.statements = statements;
    }

    fn statement(&mut self, mut statement: Statement, is_outer: bool, into: &mut Vec<Statement>) {
        let is_exact = match &statement.body {
            Body::Same(from) => holds(&statement, from.element),
            Body::Instance(_) | Body::If { .. } | Body::Loop(_) => true,
            Body::Call { .. } | Body::Unpacked { .. } => moves(&statement),
        };
        if is_exact {
            into.push(statement);
            return;
        }
        let mut after = Vec::new();
        for result in &mut statement.results {
            let element = result.element;
            let is_output = is_outer && !self.read.contains(&result.id);
            if !is_real(element) || element == self.widest || is_output {
                continue;
            }
            let hint = format!("{}_exact", result.onnx);
            let shape = result.shape.clone();
            let exact = self.importer.value(&hint, self.widest, shape, None, None);
            let narrow = std::mem::replace(result, exact.clone());
            after.push(Statement {
                results: vec![narrow],
                body: Body::Call {
                    operator: "onnx.round_reals".to_owned(),
                    attributes: attributes(element),
                    arguments: vec![Argument::Tensor(exact)],
                },
                node: statement.node.clone(),
            });
        }
        if let (Body::Same(from), [rounding]) = (&statement.body, after.as_mut_slice()) {
            // A Cast only rounds.
            if let Body::Call { arguments, .. } = &mut rounding.body {
                *arguments = vec![Argument::Tensor(from.clone())];
            }
        } else {
            into.push(statement);
        }
        into.extend(after);
    }
}

/// Whether the type of the results represents all reals of another type. Ints are not rounded.
fn holds(statement: &Statement, from: ElementType) -> bool {
    let mut elements = statement.results.iter().map(|r| r.element);
    elements.all(|e| !is_real(e) || e == from || e.size() > from.size())
}

/// The parameters of rounding to a narrower type: digits, minimum exponent, and the smallest number that rounds to infinity.
fn attributes(element: ElementType) -> Vec<(String, String)> {
    let Format { digits, min_exponent, .. } = Format::from_element(element);
    let largest = if element == ElementType::F16 { 16 } else { 128 };
    let limit = 2f64.powi(largest) * (1.0 - 2f64.powi(-1 - digits));
    vec![
        ("digits".to_owned(), digits.to_string()),
        ("least".to_owned(), min_exponent.to_string()),
        ("limit".to_owned(), real_text(ElementType::F64, limit)),
    ]
}

/// A binary format of reals.
pub struct Format {
    pub digits: i32,
    /// The binary exponent of the smallest positive number.
    pub min_exponent: i32,
    /// The biased exponent of infinity.
    pub exponents: i32,
}

impl Format {
    pub fn from_element(element: ElementType) -> Format {
        let (digits, min_exponent, exponents) = match element {
            ElementType::F16 => (11, -24, 31),
            ElementType::BF16 => (8, -133, 255),
            ElementType::F64 => (53, -1074, 2047),
            _ => (24, -149, 255),
        };
        Format { digits, min_exponent, exponents }
    }
}

/// Whether narrow operands imply exact narrow results: each element is an element of an operand, its negative, or an adjacent integer.
fn moves(statement: &Statement) -> bool {
    const EXACT: &[&str] = &[
        "algo.top_k",
        "math.abs",
        "math.ceil",
        "math.floor",
        "math.max",
        "math.max_reduce",
        "math.min",
        "math.min_reduce",
        "math.neg",
        "math.select",
        "nn.max_pool",
        "onnx.agreed",
        "onnx.expand",
        "onnx.fill",
        "onnx.gather",
        "onnx.gather_elements",
        "onnx.gather_nd",
        "onnx.max_pool_indices",
        "onnx.of_branch",
        "onnx.one_hot",
        "onnx.pad_wrap",
        "onnx.reverse_sequence",
        "onnx.round_even",
        "onnx.scatter_elements",
        "onnx.scatter_nd",
        "onnx.sign",
        "onnx.slice",
        "onnx.trilu",
    ];
    let Some((operator, attributes, arguments)) = statement.body.call() else {
        return false;
    };
    let fits = |text: &str| {
        let Ok(number) = text.parse::<f64>() else {
            return false;
        };
        let mut elements = statement.results.iter().map(|r| r.element);
        elements.all(|e| !is_real(e) || rounded(e, number) == number)
    };
    let numbers_fit = arguments.iter().all(|argument| match argument {
        Argument::Number(text) => fits(text),
        _ => true,
    });
    let is_relu = operator == "nn.relu" && attributes.is_empty();
    let is_layout = operator.starts_with("layout.") && !operator.starts_with("layout.cast");
    numbers_fit && (is_layout || is_relu || EXACT.contains(&operator))
}
