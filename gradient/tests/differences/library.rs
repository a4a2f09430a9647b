// SPDX-License-Identifier: Apache-2.0
//! The examples in the comments of the library, as models: literals with a point become inputs.

use crate::model::Random;
use skript_frontend::documentation::of_library;
use skript_tensor::{ElementType, Tensor};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A literal of an example.
#[derive(Clone, Debug)]
enum Literal {
    Real(f64),
    /// An int, a bool or a name.
    Other(String),
    List(Vec<Literal>),
    Pack(Vec<Literal>),
}

/// A graph that invokes an operator, with values for its inputs.
#[derive(Debug)]
pub struct Case {
    pub document: String,
    pub values: Vec<Tensor>,
    scale: f64,
}

/// Imports of all modules of the library.
static IMPORTS: LazyLock<String> = LazyLock::new(|| {
    let entries = of_library();
    let names = entries.iter().filter(|entry| !entry.khronos);
    let modules: BTreeSet<&str> = names.filter_map(|entry| Some(entry.name.split_once('.')?.0)).collect();
    modules.into_iter().map(|module| format!("import {module}; ")).collect::<String>() + "\n"
});

/// The model of an example `nn.relu([-1.0, 2.0]) = [0.0, 2.0]`; `None` if no input or no output is real.
/// Values are `scale` times those of the example, plus a random shift.
pub fn case(example: &str, scale: f64, random: &mut Random) -> Option<Case> {
    let example = example.split(" with ").next()?;
    let (call, results) = split_top(example, " = ")?;
    let open = arguments_at(&call)?;
    let (operator, arguments) = call.split_at(open);
    let arguments = arguments.strip_prefix('(')?.trim_end().strip_suffix(')')?;
    let mut case = Case { document: String::new(), values: Vec::new(), scale };
    let mut inputs = String::new();
    let mut texts = Vec::new();
    for (at, argument) in items(arguments).iter().enumerate() {
        texts.push(case.argument(&literal(argument), &format!("x{at}"), &mut inputs, random)?);
    }
    let (mut outputs, mut targets) = (String::new(), Vec::new());
    for (at, result) in items(&results).iter().enumerate() {
        targets.push(target(&literal(result), &format!("y{at}"), &mut outputs));
    }
    if outputs.is_empty() || !inputs.contains("real") {
        return None;
    }
    let imports = &*IMPORTS;
    case.document = format!(
        "{imports}graph G {{ @input {{ {inputs} }} @output {{ {outputs} }} @compose {{ {} = {operator}({}); }} }}",
        targets.join(", "),
        texts.join(", ")
    );
    Some(case)
}

impl Case {
    /// Declares an input for an argument of reals or a list; returns the text of the argument.
    fn argument(
        &mut self,
        literal: &Literal,
        name: &str,
        inputs: &mut String,
        random: &mut Random,
    ) -> Option<String> {
        if let Literal::Pack(items) = literal {
            let texts: Option<Vec<String>> = items
                .iter()
                .enumerate()
                .map(|(at, item)| self.argument(item, &format!("{name}_{at}"), inputs, random))
                .collect();
            return Some(format!("[{}]", texts?.join(", ")));
        }
        let mut leaves = Vec::new();
        let shape = flattened(literal, &mut leaves)?;
        let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
        let extents = extents.join(",");
        if leaves.iter().any(|leaf| matches!(leaf, Literal::Real(_))) {
            let values: Vec<f64> = leaves
                .iter()
                .map(|leaf| match leaf {
                    // Moves away from kinks, and from the ends of domains toward zero.
                    Literal::Real(x) => x * (self.scale + 0.06 * random.unit()) + 0.02 + 0.01 * random.unit(),
                    _ => 0.0,
                })
                .collect();
            inputs.push_str(&format!("{name}: real[{extents}]; "));
            self.values.push(crate::model::tensor(&shape, &values));
            return Some(name.to_owned());
        }
        let Literal::Other(text) = leaves.first()? else { return None };
        if shape.is_empty() {
            return Some(text.clone());
        }
        let texts = leaves.iter().map(|leaf| match leaf {
            Literal::Other(text) => text.as_str(),
            _ => "0",
        });
        if text == "true" || text == "false" {
            let bytes: Vec<u8> = texts.map(|text| u8::from(text == "true")).collect();
            self.values.push(Tensor::from_bytes(ElementType::Bool, &shape, &bytes).ok()?);
            inputs.push_str(&format!("{name}: bool[{extents}]; "));
        } else {
            let ints: Option<Vec<i64>> = texts.map(|text| text.parse().ok()).collect();
            self.values.push(Tensor::from_i64(&shape, &ints?).ok()?);
            inputs.push_str(&format!("{name}: int[{extents}]; "));
        }
        Some(name.to_owned())
    }
}

/// Declares an output for a result of reals; returns the target of the statement.
fn target(literal: &Literal, name: &str, outputs: &mut String) -> String {
    if let Literal::Pack(items) = literal {
        let names: Vec<String> = items
            .iter()
            .enumerate()
            .map(|(at, item)| target(item, &format!("{name}_{at}"), outputs))
            .collect();
        return format!("[{}]", names.join(", "));
    }
    let mut leaves = Vec::new();
    let is_real = flattened(literal, &mut leaves).is_some()
        && leaves
            .iter()
            .any(|leaf| matches!(leaf, Literal::Real(_)) || matches!(leaf, Literal::Other(t) if t == "nan"));
    if !is_real {
        return "~".to_owned();
    }
    outputs.push_str(&format!("{name}: real; "));
    name.to_owned()
}

/// The shape, and the leaves in row-major order.
fn flattened(literal: &Literal, leaves: &mut Vec<Literal>) -> Option<Vec<u64>> {
    match literal {
        Literal::List(items) => {
            let mut shape = vec![items.len() as u64];
            let mut inner = None;
            for item in items {
                inner = Some(flattened(item, leaves)?);
            }
            shape.extend(inner.into_iter().flatten());
            Some(shape)
        }
        Literal::Pack(_) => None,
        leaf => {
            leaves.push(leaf.clone());
            Some(Vec::new())
        }
    }
}

fn literal(text: &str) -> Literal {
    let text = text.trim();
    let inner = |open, close| text.strip_prefix(open).and_then(|t: &str| t.strip_suffix(close));
    if let Some(inner) = inner('[', ']') {
        return Literal::List(items(inner).iter().map(|item| literal(item)).collect());
    }
    if let Some(inner) = inner('(', ')') {
        return Literal::Pack(items(inner).iter().map(|item| literal(item)).collect());
    }
    match text.parse::<f64>() {
        Ok(value) if text.contains(['.', 'e']) || value.is_infinite() => Literal::Real(value),
        _ => Literal::Other(text.to_owned()),
    }
}

/// The position of the parenthesis that opens the arguments.
fn arguments_at(call: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in call.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '(' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Splits at the first separator outside of brackets.
fn split_top(text: &str, separator: &str) -> Option<(String, String)> {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if depth == 0 && text[at..].starts_with(separator) => {
                return Some((text[..at].to_owned(), text[at + separator.len()..].to_owned()));
            }
            _ => {}
        }
    }
    None
}

/// The items between commas outside of brackets.
fn items(text: &str) -> Vec<String> {
    let mut rest = text.trim().to_owned();
    let mut items = Vec::new();
    while let Some((item, after)) = split_top(&rest, ",") {
        items.push(item.trim().to_owned());
        rest = after.trim().to_owned();
    }
    if !rest.is_empty() {
        items.push(rest);
    }
    items
}
