// SPDX-License-Identifier: Apache-2.0
//! Statements of a composition, before values have names.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::extent::Extent;
use crate::value::Value;

/// An argument of an invocation.
#[derive(Clone, Debug)]
pub enum Argument {
    Tensor(Value),
    /// A number.
    Number(String),
    Pack(Vec<Value>),
    /// An input that is left out.
    Absent,
}

impl From<&Value> for Argument {
    fn from(value: &Value) -> Self {
        Argument::Tensor(value.clone())
    }
}

impl From<Option<&Value>> for Argument {
    fn from(value: Option<&Value>) -> Self {
        value.map_or(Argument::Absent, Argument::from)
    }
}

/// Statements with the values that they yield.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub statements: Vec<Statement>,
    pub yields: Vec<Value>,
}

/// The right side of a statement.
#[derive(Clone, Debug)]
pub enum Body {
    Call {
        operator: String,
        attributes: Vec<(String, String)>,
        arguments: Vec<Argument>,
    },
    /// An operator whose results are a pack.
    Unpacked {
        operator: String,
        attributes: Vec<(String, String)>,
        arguments: Vec<Argument>,
    },
    /// The same tensor as a value of another type of the same kind.
    Same(Value),
    /// An operator of the document, which stands for repeated statements.
    Instance(Instance),
    /// A branch by a condition that is known at run time only.
    If {
        condition: Value,
        then: Block,
        otherwise: Block,
    },
    /// A loop with carried values.
    Loop(Box<Loop>),
}

/// Operator, attributes and arguments.
type Invocation<'b> = (&'b str, &'b [(String, String)], &'b [Argument]);

impl Body {
    /// The invocation, if the body is one of an operator of a library.
    pub fn call(&self) -> Option<Invocation<'_>> {
        match self {
            Body::Call { operator, attributes, arguments }
            | Body::Unpacked { operator, attributes, arguments } => Some((operator, attributes, arguments)),
            _ => None,
        }
    }
}

/// Operators that refuse calls. They are kept even if only the shapes of their results are used, which are known at import.
const CHECKS: [&str; 2] = ["onnx.agreed", "onnx.of_branch"];

/// Statements that repeat, as an operator: those of their first occurrence, whose outputs the block yields.
#[derive(Debug)]
pub struct Template {
    /// The number of the operator in the document.
    pub index: usize,
    pub name: String,
    /// What the names of values and nodes begin with.
    pub prefix: String,
    /// The names of dynamic dimensions in the shapes of its inputs.
    pub dimensions: Vec<String>,
    pub inputs: Vec<Value>,
    /// Arrays that nothing else reads.
    pub variables: Vec<Value>,
    pub block: Block,
}

/// An occurrence of a template, with the values for its inputs and variables.
#[derive(Clone, Debug)]
pub struct Instance {
    pub operator: Rc<Template>,
    /// The name of the occurrence in the ONNX graph.
    pub label: String,
    pub arguments: Vec<Value>,
    pub variables: Vec<Value>,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Carried values of a step, with what they start as.
    pub carried: Vec<(Value, Value)>,
    /// The carried value that must be true for another step.
    pub condition: Option<Value>,
    /// The index of the step.
    pub index: Value,
    /// The number of steps, at most, unless the condition alone ends the loop.
    pub count: Option<Count>,
    pub body: Block,
}

/// A number of steps.
#[derive(Clone, Debug)]
pub enum Count {
    Extent(Extent),
    Tensor(Value),
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    pub results: Vec<Value>,
    pub body: Body,
    /// The name of the ONNX node that it is for.
    pub node: String,
}

/// Marks the name of a value in the text of attributes.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// The text of an extent; names of values are marked.
pub fn marked(extent: &Extent) -> String {
    extent.text(&|value| format!("{BEGIN}{value}{END}"))
}

/// Whether a text names a value.
pub fn is_marked(text: &str) -> bool {
    text.contains(BEGIN)
}

/// The text with the marked values replaced by their names.
pub fn named(text: &str, name: &dyn Fn(usize) -> String) -> String {
    if !is_marked(text) {
        return text.to_owned();
    }
    let mut parts = text.split(BEGIN);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (value, rest) = part.split_once(END).unwrap_or(("", part));
        if let Ok(value) = value.parse() {
            result.push_str(&name(value));
        }
        result.push_str(rest);
    }
    result
}

/// The values that a text names.
fn mentioned(text: &str, found: &mut BTreeSet<usize>) {
    for part in text.split(BEGIN).skip(1) {
        let value: Option<usize> = part.split_once(END).and_then(|(value, _)| value.parse().ok());
        found.extend(value);
    }
}

/// A value that is read, and those that its known elements rest on.
fn read(value: &Value, found: &mut BTreeSet<usize>) {
    found.insert(value.id);
    for item in value.known.iter().flatten() {
        if let crate::value::Item::Int(extent) = item {
            extent.values(found);
        }
    }
}

impl Statement {
    /// Whether the statement may refuse a call.
    fn checks(&self) -> bool {
        match &self.body {
            Body::Call { operator, .. } | Body::Unpacked { operator, .. } => {
                CHECKS.contains(&operator.as_str())
            }
            Body::Same(_) => false,
            Body::Instance(instance) => instance.operator.block.checks(),
            Body::If { then, otherwise, .. } => then.checks() || otherwise.checks(),
            Body::Loop(l) => l.body.checks(),
        }
    }

    /// The values that the statement reads.
    pub fn reads(&self, found: &mut BTreeSet<usize>) {
        match &self.body {
            Body::Call { attributes, arguments, .. } | Body::Unpacked { attributes, arguments, .. } => {
                for (_, text) in attributes {
                    mentioned(text, found);
                }
                for argument in arguments {
                    match argument {
                        Argument::Tensor(value) => read(value, found),
                        Argument::Pack(values) => values.iter().for_each(|v| read(v, found)),
                        Argument::Number(text) => mentioned(text, found),
                        Argument::Absent => {}
                    }
                }
            }
            Body::Same(value) => read(value, found),
            Body::Instance(instance) => {
                let variables = &instance.variables;
                let values = instance.arguments.iter().chain(variables);
                values.for_each(|v| read(v, found));
            }
            Body::If { condition, then, otherwise } => {
                read(condition, found);
                then.reads(found);
                otherwise.reads(found);
            }
            Body::Loop(l) => {
                for (_, start) in &l.carried {
                    read(start, found);
                }
                match &l.count {
                    Some(Count::Extent(count)) => count.values(found),
                    Some(Count::Tensor(count)) => read(count, found),
                    None => {}
                }
                l.body.reads(found);
            }
        }
    }
}

impl Block {
    fn reads(&self, found: &mut BTreeSet<usize>) {
        self.statements.iter().for_each(|s| s.reads(found));
        self.yields.iter().for_each(|v| read(v, found));
    }

    fn checks(&self) -> bool {
        self.statements.iter().any(Statement::checks)
    }

    /// Drops statements whose results nothing reads, except those that check a call.
    pub fn drop_unread(&mut self) {
        let mut live = BTreeSet::new();
        self.yields.iter().for_each(|v| read(v, &mut live));
        let mut kept = Vec::new();
        for mut statement in std::mem::take(&mut self.statements).into_iter().rev() {
            if !statement.results.iter().any(|r| live.contains(&r.id)) && !statement.checks() {
                continue;
            }
            match &mut statement.body {
                Body::If { then, otherwise, .. } => {
                    then.drop_unread();
                    otherwise.drop_unread();
                }
                Body::Loop(l) => l.body.drop_unread(),
                _ => {}
            }
            statement.reads(&mut live);
            kept.push(statement);
        }
        kept.reverse();
        self.statements = kept;
    }
}
