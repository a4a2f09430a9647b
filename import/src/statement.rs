// SPDX-License-Identifier: Apache-2.0
//! Statements of a composition, before names are assigned to values.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::extent::Extent;
use crate::value::Value;

/// An argument of an invocation.
#[derive(Clone, Debug)]
pub enum Argument {
    Tensor(Value),
    Number(String),
    Pack(Vec<Value>),
    /// An omitted input.
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
    /// An invocation whose result is a pack.
    Unpacked {
        operator: String,
        attributes: Vec<(String, String)>,
        arguments: Vec<Argument>,
    },
    /// A copy, possibly with another type of the same kind.
    Same(Value),
    /// An operator of the document that replaces repeated statements.
    Instance(Instance),
    /// A branch whose condition is known only at run time.
    If {
        condition: Value,
        then: Block,
        otherwise: Block,
    },
    /// A loop with loop-carried values.
    Loop(Box<Loop>),
}

/// Operator, attributes and arguments.
type Invocation<'b> = (&'b str, &'b [(String, String)], &'b [Argument]);

impl Body {
    /// The invocation, if the body is an operator of a library.
    pub fn call(&self) -> Option<Invocation<'_>> {
        match self {
            Body::Call { operator, attributes, arguments }
            | Body::Unpacked { operator, attributes, arguments } => Some((operator, attributes, arguments)),
            _ => None,
        }
    }
}

/// Operators that check a call. They are kept even if their results are dead, for example if only the shapes of the results are used.
const CHECKS: [&str; 2] = ["onnx.agreed", "onnx.of_branch"];

/// Repeated statements as an operator. The block contains the statements of the first occurrence and yields its outputs.
#[derive(Debug)]
pub struct Template {
    /// The index of the operator in the document.
    pub index: usize,
    pub name: String,
    /// The common prefix of the names of values and nodes.
    pub prefix: String,
    /// The names of dynamic dimensions in the shapes of the inputs.
    pub dimensions: Vec<String>,
    pub inputs: Vec<Value>,
    /// Weights that only this operator reads.
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
    /// Loop-carried values with their initial values.
    pub carried: Vec<(Value, Value)>,
    /// The loop-carried value that must be true for another step.
    pub condition: Option<Value>,
    /// The index of the step.
    pub index: Value,
    /// The maximum number of steps; `None` if only the condition ends the loop.
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
    /// The name of the ONNX node.
    pub node: String,
}

/// Delimiters of value ids in the text of attributes.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';

/// The text of an extent, with delimited ids in place of the names of values.
pub fn marked(extent: &Extent) -> String {
    extent.text(&|value| format!("{BEGIN}{value}{END}"))
}

/// Whether a text refers to a value.
pub fn is_marked(text: &str) -> bool {
    text.contains(BEGIN)
}

/// The text with the delimited ids replaced by the names of the values.
pub fn named(text: &str, name: &dyn Fn(usize) -> String) -> String {
    let Some((plain, delimited)) = text.split_once(BEGIN) else {
        return text.to_owned();
    };
    let mut result = plain.to_owned();
    for part in delimited.split(BEGIN) {
        let (value, plain) = part.split_once(END).unwrap_or(("", part));
        if let Ok(value) = value.parse() {
            result.push_str(&name(value));
        }
        result.push_str(plain);
    }
    result
}

/// Collects the values that a text refers to.
fn mentioned(text: &str, ids: &mut BTreeSet<usize>) {
    for part in text.split(BEGIN).skip(1) {
        let value: Option<usize> = part.split_once(END).and_then(|(value, _)| value.parse().ok());
        ids.extend(value);
    }
}

/// Collects a value and the values that its known elements depend on.
fn read(value: &Value, ids: &mut BTreeSet<usize>) {
    ids.insert(value.id);
    for item in value.known.iter().flatten() {
        if let crate::value::Item::Int(extent) = item {
            extent.values(ids);
        }
    }
}

/// The name of an operator without its module and type argument: `cast` for `layout.cast<real>`.
pub fn short_name(operator: &str) -> &str {
    let name = operator.rsplit_once('.').map_or(operator, |(_, name)| name);
    name.split_once('<').map_or(name, |(name, _)| name)
}

impl Statement {
    /// Whether the statement may fail a call.
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

    /// Collects the values that the statement reads.
    pub fn reads(&self, ids: &mut BTreeSet<usize>) {
        match &self.body {
            Body::Call { attributes, arguments, .. } | Body::Unpacked { attributes, arguments, .. } => {
                for (_, text) in attributes {
                    mentioned(text, ids);
                }
                for argument in arguments {
                    match argument {
                        Argument::Tensor(value) => read(value, ids),
                        Argument::Pack(values) => values.iter().for_each(|v| read(v, ids)),
                        Argument::Number(text) => mentioned(text, ids),
                        Argument::Absent => {}
                    }
                }
            }
            Body::Same(value) => read(value, ids),
            Body::Instance(instance) => {
                let variables = &instance.variables;
                let values = instance.arguments.iter().chain(variables);
                values.for_each(|v| read(v, ids));
            }
            Body::If { condition, then, otherwise } => {
                read(condition, ids);
                then.reads(ids);
                otherwise.reads(ids);
            }
            Body::Loop(l) => {
                for (_, start) in &l.carried {
                    read(start, ids);
                }
                match &l.count {
                    Some(Count::Extent(count)) => count.values(ids),
                    Some(Count::Tensor(count)) => read(count, ids),
                    None => {}
                }
                l.body.reads(ids);
            }
        }
    }
}

impl Block {
    fn reads(&self, ids: &mut BTreeSet<usize>) {
        self.statements.iter().for_each(|s| s.reads(ids));
        self.yields.iter().for_each(|v| read(v, ids));
    }

    fn checks(&self) -> bool {
        self.statements.iter().any(Statement::checks)
    }

    /// Drops dead statements, except those that check a call.
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
