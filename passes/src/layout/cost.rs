// SPDX-License-Identifier: Apache-2.0
//! The cost of a layout in cycles: the estimate of the kernel cost model, and the copies at the borders of regions.

use super::LastDimension;
use super::classes::Classes;
use super::node::Node;
use crate::ir::generic::Operand;
use crate::ir::types;
use crate::schedule::dot::{Dot, Instruction};
use crate::schedule::nest::{Address, Loop, LoopKind, Nest};
use crate::schedule::select::fraction_of_peak;
use crate::schedule::target::Target;
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};

/// Cycles of a scalar access.
const SINGLE: f64 = 1.0;

/// The cost model of a function.
pub(super) struct Costs<'t, 'c, 'a> {
    classes: &'t Classes<'c, 'a>,
    target: Target,
    /// For each class, the cycles of the copies at its borders.
    borders: Vec<f64>,
    /// The classes of the operands and results of each node.
    of_nodes: Vec<Vec<Option<usize>>>,
}

impl<'t, 'c: 'a, 'a> Costs<'t, 'c, 'a> {
    pub(super) fn new(classes: &'t Classes<'c, 'a>, target: Target) -> Self {
        let mut borders = vec![0.0; classes.members.len()];
        let mut add = |class: usize, value: Value| {
            if let Some(border) = borders.get_mut(class) {
                *border += elements(value) * SINGLE;
            }
        };
        for (class, members) in classes.members.iter().enumerate() {
            let copied = members.iter().filter(|value| !classes.borders(**value).is_empty());
            copied.for_each(|value| add(class, *value));
        }
        // Inserted tensors that are not members are copied.
        for slice in &classes.slices {
            let (Ok(source), Ok(result)) = (slice.operand(0), slice.result(0)) else {
                continue;
            };
            if let (None, Some(class)) = (classes.class(source), classes.class(result.into())) {
                add(class, source);
            }
        }
        Costs {
            classes,
            target,
            borders,
            of_nodes: classes.nodes.iter().map(|n| classes.of_node(n)).collect(),
        }
    }

    /// Cycles of all operations and copies that depend on the layouts of these classes.
    pub(super) fn total(&self, classes: &[usize], layouts: &[LastDimension]) -> f64 {
        let layout = |class: Option<usize>| class.and_then(|c| layouts.get(c).copied().flatten());
        let mut nodes: Vec<usize> =
            classes.iter().filter_map(|class| self.classes.touching.get(*class)).flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let costs = nodes.into_iter().map(|number| {
            let (Some(node), Some(classes)) = (self.classes.nodes.get(number), self.of_nodes.get(number))
            else {
                return 0.0;
            };
            let layouts: Vec<LastDimension> = classes.iter().map(|class| layout(*class)).collect();
            self.of_node(node, &layouts)
        });
        let permuted = classes.iter().filter(|class| layout(Some(**class)).is_some());
        let borders = permuted.filter_map(|class| self.borders.get(*class));
        costs.sum::<f64>() + borders.sum::<f64>()
    }

    /// Whether an operation sums groups of products.
    pub(super) fn sums_groups(&self, node: &Node<'c, 'a>) -> bool {
        node.nest.reduces() && dot(node, self.target).is_some()
    }

    /// Cycles of an operation whose operands have these layouts.
    fn of_node(&self, node: &Node<'c, 'a>, layouts: &[LastDimension]) -> f64 {
        let outputs = node.nest.outputs();
        let points: f64 = node.nest.extents.iter().map(|e| *e as f64).product();
        if node.nest.reduces() {
            let bits = outputs.first().map_or(32, |o| bits(o.value));
            let vectors = self.target.vectors(bits);
            let fraction = nest(node, layouts).and_then(|mut nest| {
                nest.keeps_order = self.target.keep_order;
                nest.dot = dot(node, self.target);
                nest.simplify(&[]);
                fraction_of_peak(&nest, vectors)
            });
            match fraction {
                Some(fraction) => {
                    points / (vectors.lanes as f64 * f64::from(vectors.costs.fma_ports) * fraction.max(0.01))
                }
                None => points * SINGLE,
            }
        } else {
            let last = layouts.get(node.nest.inputs).copied().flatten();
            let lanes = outputs.first().and_then(|output| node.contiguous(output, last));
            let accessed = node.nest.operands.iter().zip(layouts).filter(|(o, _)| {
                let is_output = outputs.iter().any(|output| output.value == o.value);
                is_output || o.is_read()
            });
            let cycles = accessed.map(|(operand, last)| {
                let strides = node.strides(operand, *last).unwrap_or_default();
                let stride = lanes.and_then(|l| strides.get(l).copied());
                let size: f64 = operand.shape.iter().map(|e| *e as f64).product();
                match stride {
                    Some(0) => 0.0,
                    Some(1) => size / self.target.vectors(bits(operand.value)).lanes as f64,
                    _ => size * SINGLE,
                }
            });
            cycles.sum()
        }
    }
}

/// Returns the dot-product instruction for a sum of products of bytes or of bf16.
fn dot(node: &Node, target: Target) -> Option<Dot> {
    let is = |operand: &Operand, name: &str| {
        let element = types::element_of(operand.value.r#type());
        element.is_some_and(|element| element.to_string() == name)
    };
    let instructions = [("i8", "i32", target.dot), ("bf16", "f32", target.half_dot)];
    let instruction = instructions.into_iter().find(|(factor, sum, instruction)| {
        let factors =
            node.read_inputs().all(|n| node.nest.operands.get(n).is_some_and(|operand| is(operand, factor)));
        let sums = node.nest.outputs().iter().all(|operand| is(operand, sum));
        factors && sums && *instruction != Instruction::None
    });
    let (.., instruction) = instruction.filter(|_| node.read_inputs().count() == 2)?;
    Some(Dot { instruction, unsigned: 0 })
}

/// Builds the loop nest of a reduction with these layouts; `None` if the kernels do not support it.
fn nest(node: &Node, layouts: &[LastDimension]) -> Option<Nest> {
    let output = node.nest.output()?;
    let last = layouts.get(node.nest.inputs).copied().flatten();
    let lanes = last.and_then(|_| node.contiguous(output, last));
    let mut operands = Vec::new();
    let mut constants = Vec::new();
    for number in node.read_inputs() {
        let last = layouts.get(number).copied().flatten().or_else(|| node.stored_last(number, lanes?));
        if node.constants.get(number) == Some(&true) {
            constants.push(operands.len());
        }
        operands.push(Address::with_strides(node.strides(node.nest.operands.get(number)?, last)?));
    }
    let position = operands.len();
    operands.push(Address::with_strides(node.strides(output, last)?));
    let kinds = node.nest.reductions.iter().zip(&node.nest.extents).enumerate();
    let loops = kinds.map(|(dimension, (reduces, extent))| Loop {
        extent: *extent,
        kind: if *reduces { LoopKind::Reduction } else { LoopKind::Parallel },
        dimension: Some(dimension),
        source: None,
    });
    Some(Nest { loops: loops.collect(), operands, output: position, constants, ..Nest::default() })
}

/// The number of elements of a tensor; dynamic extents count as 1.
fn elements(value: Value) -> f64 {
    let extents = types::shape(value.r#type());
    extents.into_iter().filter(|e| *e != types::DYNAMIC).map(|e| e as f64).product()
}

/// The bits of an element.
fn bits(value: Value) -> i64 {
    let bits = types::bits(types::element_or_self(value.r#type()));
    bits.filter(|bits| *bits >= 8).map_or(64, i64::from)
}
