// SPDX-License-Identifier: Apache-2.0
//! The payload of a reduction as plain data: scalar operations, and how their result is combined with the output.

use crate::ir::ops;
use std::collections::HashSet;

/// The source of a scalar of the payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The element of an input, by position among [`super::nest::Nest::operands`].
    Input(usize),
    /// The result of a step.
    Step(usize),
    /// A value from outside the nest, by position in [`Body::captures`].
    Capture(usize),
    /// An element of the output after the reduction; in [`Body::finish`] only.
    Reduced,
}

/// One scalar operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a dimension of the original operation.
    Index {
        /// The dimension, from the outermost.
        dimension: usize,
    },
    /// A constant, as MLIR prints its attribute: `0.000000e+00 : f32`.
    Constant {
        /// The value with its type.
        attribute: String,
        /// The element type.
        element: String,
    },
    /// Any operation with the same meaning on scalars and on vectors.
    Apply {
        /// The operation's name.
        name: String,
        /// Inherent attributes in generic form, without braces: `predicate = 2 : i64`.
        attributes: String,
        /// The operands, in order.
        operands: Vec<Operand>,
        /// Element types of the operands and of the result.
        operand_elements: Vec<String>,
        /// The element type of the result.
        element: String,
    },
}

impl Step {
    /// The element type of the result.
    pub fn element(&self) -> &str {
        match self {
            Step::Index { .. } => "index",
            Step::Constant { element, .. } | Step::Apply { element, .. } => element,
        }
    }
}

/// How values are combined into the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combine {
    /// `arith.addf` and the like.
    pub name: String,
    /// The attributes of the operation, as in `fastmath<reassoc>`.
    pub attributes: String,
    /// The kind of `vector.reduction`.
    pub reduction: &'static str,
    /// The identity of the operation for the element type, as text.
    pub identity: String,
}

impl Combine {
    /// Operations that may be reassociated, for one element type.
    pub fn of(name: &str, attributes: &str, element: &str) -> Option<Combine> {
        let float = element.starts_with('f');
        let (reduction, identity) = match name {
            ops::arith::ADDF => ("add", "0.0".to_string()),
            ops::arith::MULF => ("mul", "1.0".to_string()),
            ops::arith::MAXIMUMF => ("maximumf", infinity(element, true)?),
            ops::arith::MINIMUMF => ("minimumf", infinity(element, false)?),
            ops::arith::ADDI => ("add", "0".to_string()),
            ops::arith::MULI => ("mul", "1".to_string()),
            ops::arith::MAXSI => ("maxsi", extreme(element, true)?),
            ops::arith::MINSI => ("minsi", extreme(element, false)?),
            _ => return None,
        };
        (float == name.ends_with('f')).then(|| Combine {
            name: name.to_string(),
            attributes: attributes.to_string(),
            reduction,
            identity,
        })
    }
}

impl Combine {
    /// Whether the result depends on the order of the values.
    pub(crate) fn rounds(&self, element: &str) -> bool {
        matches!(self.reduction, "add" | "mul") && element.trim_start_matches('b').starts_with('f')
    }
}

/// Whether a printed constant is the identity of the operation.
pub(crate) fn is_identity(attribute: &str, combine: &Combine) -> bool {
    let value = attribute.split(' ').next().unwrap_or("");
    if value == combine.identity {
        return true;
    }
    match (value.parse::<f64>(), combine.identity.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// ±infinity as a hexadecimal literal.
fn infinity(element: &str, negative: bool) -> Option<String> {
    let bits = match (element, negative) {
        ("f32", true) => "0xFF800000",
        ("f32", false) => "0x7F800000",
        ("f64", true) => "0xFFF0000000000000",
        ("f64", false) => "0x7FF0000000000000",
        ("f16", true) => "0xFC00",
        ("f16", false) => "0x7C00",
        _ => return None,
    };
    Some(bits.to_string())
}

/// The smallest or largest signed integer.
fn extreme(element: &str, smallest: bool) -> Option<String> {
    let value = match (element, smallest) {
        ("i64", true) => i64::MIN,
        ("i64", false) => i64::MAX,
        ("i32", true) => i64::from(i32::MIN),
        ("i32", false) => i64::from(i32::MAX),
        _ => return None,
    };
    Some(value.to_string())
}

/// A payload: each element of the output begins as `start`; `value` of each point is combined with it if `predicate` is
/// true; it ends as `finish`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The operations, in order.
    pub steps: Vec<Step>,
    /// An element before the reduction: that of the output, or a value that the payload computes.
    pub start: Operand,
    /// An element after the reduction; [`Operand::Reduced`] if nothing follows it.
    pub finish: Operand,
    /// The element type of the reduction.
    pub accumulator: String,
    /// The value that is combined with the accumulator.
    pub value: Operand,
    /// A bool; points where it is false contribute nothing.
    pub predicate: Option<Operand>,
    /// A bool; points where it is false may be skipped, as their values change nothing.
    pub skips: Option<Operand>,
    /// The combination with the accumulator.
    pub combine: Combine,
    /// Element types of values from outside.
    pub captures: Vec<String>,
}

impl Body {
    /// Dimensions whose value is used.
    pub fn used_dimensions(&self) -> Vec<usize> {
        let mut roots = vec![self.value.clone(), self.start.clone(), self.finish.clone()];
        roots.extend(self.predicate.clone());
        self.dimensions(roots)
    }

    /// Dimensions that decide which points may be skipped.
    pub fn skipped_dimensions(&self) -> Vec<usize> {
        self.dimensions(self.skips.clone().into_iter().collect())
    }

    /// Whether an index from outside decides which points may be skipped: the nest is a block of a larger one.
    pub(super) fn skips_by_outside(&self) -> bool {
        let mut found = false;
        self.visit(self.skips.clone().into_iter().collect(), |operand| {
            if let Operand::Capture(number) = operand {
                found |= self.captures.get(*number).is_some_and(|kind| kind == "index");
            }
        });
        found
    }

    /// Inputs whose elements decide which points contribute.
    pub fn tested_inputs(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let roots = self.predicate.iter().chain(&self.skips).cloned().collect();
        self.visit(roots, |operand| {
            if let Operand::Input(number) = operand {
                found.push(*number);
            }
        });
        found
    }

    fn dimensions(&self, roots: Vec<Operand>) -> Vec<usize> {
        let mut used = Vec::new();
        self.visit(roots, |operand| {
            if let Operand::Step(number) = operand
                && let Some(Step::Index { dimension }) = self.steps.get(*number)
            {
                used.push(*dimension);
            }
        });
        used.sort_unstable();
        used
    }

    /// Whether elements of the output begin as the identity of the combination.
    pub(crate) fn starts_with_identity(&self) -> bool {
        let Operand::Step(number) = self.start else {
            return false;
        };
        match self.steps.get(number) {
            Some(Step::Constant { attribute, .. }) => is_identity(attribute, &self.combine),
            _ => false,
        }
    }

    /// Whether the end of the payload reads an array.
    pub fn finish_reads(&self, array: usize) -> bool {
        self.reads(&self.finish, array)
    }

    /// Whether elements of the output begin as what follows from an array.
    pub fn start_reads(&self, array: usize) -> bool {
        self.reads(&self.start, array)
    }

    fn reads(&self, root: &Operand, array: usize) -> bool {
        let mut reads = false;
        self.visit(vec![root.clone()], |operand| {
            reads |= *operand == Operand::Input(array);
        });
        reads
    }

    /// The payload where a bool from outside is true, so that no point needs the predicate, that where it is false, and the position of
    /// the bool in [`Body::captures`]. `None` if the predicate depends on no such bool.
    pub fn cases(&self) -> Option<(Body, Body, usize)> {
        let Some(Operand::Step(number)) = &self.predicate else {
            return None;
        };
        let Some(Step::Apply { name, operands, .. }) = self.steps.get(*number) else {
            return None;
        };
        let (ops::arith::ORI, [holds, Operand::Capture(condition)]) = (name.as_str(), operands.as_slice())
        else {
            return None;
        };
        let with =
            |predicate: Option<Operand>, skips: Option<Operand>| Body { predicate, skips, ..self.clone() };
        let open = with(None, Some(holds.clone()));
        Some((open, with(Some(holds.clone()), None), *condition))
    }

    /// Visits each value that some values are computed from, these included, once.
    fn visit(&self, mut pending: Vec<Operand>, mut visit: impl FnMut(&Operand)) {
        let mut seen = HashSet::new();
        while let Some(operand) = pending.pop() {
            if !seen.insert(operand.clone()) {
                continue;
            }
            visit(&operand);
            if let Operand::Step(number) = operand
                && let Some(Step::Apply { operands, .. }) = self.steps.get(number)
            {
                pending.extend(operands.iter().cloned());
            }
        }
    }

    /// Whether the payload uses the input's element; an operand may be there for its shape alone.
    pub fn uses_input(&self, input: usize) -> bool {
        let is = |o: &Operand| *o == Operand::Input(input);
        is(&self.value)
            || is(&self.start)
            || is(&self.finish)
            || self.predicate.as_ref().is_some_and(is)
            || self.steps.iter().any(|s| match s {
                Step::Apply { operands, .. } => operands.iter().any(is),
                _ => false,
            })
    }
}
