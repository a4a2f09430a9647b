// SPDX-License-Identifier: Apache-2.0
//! The state of writing a function: the expressions of values, names, and lines.

use super::array::{Array, Number};
use super::element::Element;
use super::expression::Expression;
use super::names::Names;
use super::range::Ranges;
use super::support::Support;
use crate::error::CodegenError;
use crate::ir::{self, ValueKey};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, OperationRef, Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// The maximum length of an expression. Longer ones are split by variables.
const LONGEST: usize = 64;

/// A line of the function.
pub(super) struct Line {
    depth: usize,
    pub(super) text: String,
    /// The variable that the line declares. The line is dropped if no later line uses the variable.
    declares: Option<String>,
    /// The variable that the line assigns. The line is dropped if no line reads the variable.
    assigns: Option<String>,
}

impl Line {
    /// The names that the line reads, and those that it declares.
    fn names(&self) -> impl Iterator<Item = &str> {
        let is_comment = self.text.starts_with("/*");
        let value = match &self.assigns {
            Some(name) => self.text.strip_prefix(name.as_str()).unwrap_or(&self.text),
            None => self.text.as_str(),
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        value.split(move |c| !is_word(c)).filter(move |_| !is_comment)
    }
}

/// The form of a value in C.
#[derive(Clone, Debug)]
pub(super) enum Held {
    Scalar(Expression),
    Array(Array),
}

/// Writes the body of a function.
pub(super) struct Writer<'c, 'a> {
    held: HashMap<ValueKey, Held>,
    /// Values that read memory and are not written yet, in order.
    pending: Vec<Value<'c, 'a>>,
    pub(super) ranges: Ranges,
    pub(super) support: Support,
    pub(super) names: Names,
    pub(super) lines: Vec<Line>,
    pub(super) depth: usize,
    /// The constant arrays that the function reads, as definitions.
    pub(super) tables: Vec<(String, Array, String)>,
    /// The last comment, or `None` if the code has no comments with locations.
    pub(super) comment: Option<String>,
}

impl<'c: 'a, 'a> Writer<'c, 'a> {
    pub(super) fn new(names: Names, has_locations: bool) -> Self {
        Writer {
            held: HashMap::new(),
            pending: Vec::new(),
            ranges: Ranges::default(),
            support: Support::default(),
            names,
            lines: Vec::new(),
            depth: 1,
            tables: Vec::new(),
            comment: has_locations.then(String::new),
        }
    }

    /// Adds a statement.
    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.lines.push(Line { depth: self.depth, text: text.into(), declares: None, assigns: None });
    }

    /// Adds an assignment to a variable.
    pub(super) fn assignment(&mut self, name: &str, value: &Expression) {
        let (text, assigns) = (value.assigned_to(name), Some(name.to_owned()));
        self.lines.push(Line { depth: self.depth, text, declares: None, assigns });
    }

    /// Adds the declaration of a variable.
    pub(super) fn declare(&mut self, name: &str, text: impl Into<String>) {
        let declares = Some(name.to_owned());
        self.lines.push(Line { depth: self.depth, text: text.into(), declares, assigns: None });
    }

    pub(super) fn hold(&mut self, value: Value<'c, 'a>, held: Held) {
        self.held.insert(ValueKey::of(value), held);
    }

    /// Sets the expression of a value that never needs a variable, because it is a name or a literal.
    pub(super) fn alias(&mut self, value: Value<'c, 'a>, expression: Expression) {
        self.hold(value, Held::Scalar(expression));
    }

    /// Sets the expression of a result: inlined into its only user in the same block, otherwise a variable.
    pub(super) fn define(
        &mut self,
        value: Value<'c, 'a>,
        expression: Expression,
    ) -> Result<(), CodegenError> {
        let users = ir::users(value);
        let block = ir::defining_op(value).and_then(|op| op.block());
        let is_here = |user: &OperationRef<'c, 'a>| {
            user.block().map(|b| b.to_raw().ptr) == block.map(|b| b.to_raw().ptr)
        };
        let is_inlined = match users.as_slice() {
            [] => return Ok(()),
            [user] => is_here(user) && expression.text.len() <= LONGEST,
            _ => false,
        };
        if !is_inlined && !expression.is_atom() {
            return self.variable(value, &expression);
        }
        if expression.reads {
            self.pending.push(value);
        }
        self.alias(value, expression);
        Ok(())
    }

    /// Writes a variable with the value of an expression.
    fn variable(&mut self, value: Value<'c, 'a>, expression: &Expression) -> Result<(), CodegenError> {
        let name = self.names.local();
        let r#type = Element::new(value.r#type())?.name();
        self.declare(&name, format!("const {type} {name} = {};", expression.text));
        self.alias(value, Expression::primary(name));
        Ok(())
    }

    /// The expression of a value.
    ///
    /// # Errors
    /// The value is not a scalar, or its operation was not written.
    pub(super) fn take(&mut self, value: Value<'c, 'a>) -> Result<Expression, CodegenError> {
        self.pending.retain(|pending| *pending != value);
        match self.held.get(&ValueKey::of(value)) {
            Some(Held::Scalar(expression)) => Ok(expression.clone()),
            _ => Err(CodegenError::Module(format!("a value of type `{}` has no form in C", value.r#type()))),
        }
    }

    /// The expression of a value as a name or a literal.
    pub(super) fn atom(&mut self, value: Value<'c, 'a>) -> Result<Expression, CodegenError> {
        let expression = self.take(value)?;
        if !expression.is_atom() {
            self.variable(value, &expression)?;
        }
        self.take(value)
    }

    /// The array of a value.
    ///
    /// # Errors
    /// The value is not an array, or its operation was not written.
    pub(super) fn array(&self, value: Value<'c, 'a>) -> Result<Array, CodegenError> {
        match self.held.get(&ValueKey::of(value)) {
            Some(Held::Array(array)) => Ok(array.clone()),
            _ => Err(CodegenError::Module(format!("an array of type `{}` has no form in C", value.r#type()))),
        }
    }

    /// The form of a value.
    pub(super) fn form(&mut self, value: Value<'c, 'a>) -> Result<Held, CodegenError> {
        match self.array(value) {
            Ok(array) => Ok(Held::Array(array)),
            Err(_) => self.take(value).map(Held::Scalar),
        }
    }

    /// A size as a number.
    pub(super) fn number(&mut self, value: Value<'c, 'a>) -> Result<Number, CodegenError> {
        let expression = self.atom(value)?;
        Ok(match expression.integer() {
            Some(known) => Number::Known(known),
            None => Number::Named(expression.text),
        })
    }

    /// The product of two sizes, as a variable.
    pub(super) fn product(&mut self, a: &Number, b: &Number) -> Number {
        let product =
            Expression::binary(super::expression::level::PRODUCT, "*", &a.expression(), &b.expression());
        let name = self.names.local();
        self.declare(&name, format!("const int64_t {name} = {};", product.text));
        Number::Named(name)
    }

    /// Writes the pending expressions that read memory to variables, because the next statement writes memory.
    pub(super) fn flush(&mut self) -> Result<(), CodegenError> {
        for value in std::mem::take(&mut self.pending) {
            if let Some(Held::Scalar(expression)) = self.held.get(&ValueKey::of(value)).cloned() {
                self.variable(value, &expression)?;
            }
        }
        Ok(())
    }

    /// Writes the operations of a block.
    pub(super) fn block(&mut self, block: BlockRef<'c, 'a>) -> Result<(), CodegenError> {
        ir::operations(block).into_iter().try_for_each(|op| self.operation(op))
    }

    /// The lines of the body, without declarations of unused variables, and the names that occur in it.
    pub(super) fn finish(&mut self) -> (String, HashSet<String>) {
        let mut lines = std::mem::take(&mut self.lines);
        let others = lines.iter().filter(|line| line.declares.is_none());
        let declared = lines.iter().filter_map(|line| Some((line.declares.as_deref()?, line)));
        // A declaration reads all names in it but its own.
        let initial = declared.flat_map(|(name, line)| line.names().filter(move |other| *other != name));
        let read: HashSet<String> = others.flat_map(Line::names).chain(initial).map(str::to_owned).collect();
        lines.retain(|line| line.assigns.as_ref().is_none_or(|name| read.contains(name)));
        let mut used: HashSet<String> = HashSet::new();
        let mut kept = Vec::new();
        for line in lines.into_iter().rev() {
            if line.declares.as_ref().is_some_and(|name| !used.contains(name)) {
                continue;
            }
            used.extend(line.names().map(str::to_owned));
            used.extend(line.assigns.clone());
            kept.push(format!("{}{}\n", "  ".repeat(line.depth), line.text));
        }
        kept.reverse();
        (kept.concat(), used)
    }
}

/// The refusal of an operation.
pub(super) fn refused(op: OperationRef, why: &str) -> CodegenError {
    let source_position = ir::location::trace(op.location()).into_iter().next();
    let place = source_position.map_or_else(String::new, |place| format!("{place}: "));
    CodegenError::Module(format!("{place}`{}` {why}", ir::name(op)))
}
