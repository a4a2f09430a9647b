// SPDX-License-Identifier: Apache-2.0
//! What a layout costs, in cycles: the estimate that plans of kernels are selected by, and copies at the borders.

use super::Last;
use super::classes::Classes;
use super::node::{Node, Operand};
use crate::ir::types;
use crate::schedule::dot::{Dot, Instruction};
use crate::schedule::nest::{Address, Loop, LoopKind, Nest};
use crate::schedule::select::share_of_peak;
use crate::schedule::target::Target;
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};

/// Cycles of an element that is not accessed as part of a vector.
const SINGLE: f64 = 1.0;

/// Estimates of the time of a function.
pub(super) struct Costs<'t, 'c, 'a> {
    classes: &'t Classes<'c, 'a>,
    target: Target,
    /// By class: cycles of the copies at its borders.
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
        // What is inserted and is no member is copied.
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

    /// Cycles of all that depends on the layouts of these classes.
    pub(super) fn of(&self, classes: &[usize], layouts: &[Last]) -> f64 {
        let layout = |class: Option<usize>| class.and_then(|c| layouts.get(c).copied().flatten());
        let mut nodes: Vec<usize> =
            classes.iter().filter_map(|class| self.classes.touching.get(*class)).flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let nodes = nodes.into_iter().map(|number| {
            let (Some(node), Some(own)) = (self.classes.nodes.get(number), self.of_nodes.get(number)) else {
                return 0.0;
            };
            let own: Vec<Last> = own.iter().map(|class| layout(*class)).collect();
            self.of_node(node, &own)
        });
        let borders = classes.iter().filter(|class| layout(Some(**class)).is_some());
        let borders = borders.filter_map(|class| self.borders.get(*class));
        nodes.sum::<f64>() + borders.sum::<f64>()
    }

    /// Whether an operation sums groups of products.
    pub(super) fn sums_groups(&self, node: &Node<'c, 'a>) -> bool {
        node.reductions.contains(&true) && dot(node, self.target).is_some()
    }

    /// Cycles of an operation whose operands have these layouts.
    fn of_node(&self, node: &Node<'c, 'a>, layouts: &[Last]) -> f64 {
        let points: f64 = node.extents.iter().map(|e| *e as f64).product();
        if node.reductions.contains(&true) {
            let bits = node.outputs().first().map_or(32, |o| bits(o.value));
            let vectors = self.target.vectors(bits);
            let share = nest(node, layouts).and_then(|mut nest| {
                nest.keeps_order = self.target.keep_order;
                nest.dot = dot(node, self.target);
                nest.simplify(&[]);
                share_of_peak(&nest, vectors)
            });
            match share {
                Some(share) => {
                    points / (vectors.lanes as f64 * f64::from(vectors.costs.fma_ports) * share.max(0.01))
                }
                None => points * SINGLE,
            }
        } else {
            let lanes = node.outputs().first().and_then(|output| {
                output.contiguous(layouts.get(node.inputs).copied().flatten(), node.parallels())
            });
            let loops = node.extents.len();
            let accessed = node.operands.iter().zip(layouts).filter(|(o, _)| {
                let is_output = node.outputs().iter().any(|own| own.value == o.value);
                is_output || o.is_read
            });
            let cycles = accessed.map(|(operand, last)| {
                let strides = operand.strides(*last, loops).unwrap_or_default();
                let stride = lanes.and_then(|l| strides.get(l).copied());
                match stride {
                    Some(0) => 0.0,
                    Some(1) => operand.size() / self.target.vectors(bits(operand.value)).lanes as f64,
                    _ => operand.size() * SINGLE,
                }
            });
            cycles.sum()
        }
    }
}

/// The instruction of a sum of products of bytes or of bf16.
fn dot(node: &Node, target: Target) -> Option<Dot> {
    let is = |operand: &Operand, name: &str| {
        let element = types::element_of(operand.value.r#type());
        element.is_some_and(|element| element.to_string() == name)
    };
    let instruction = [("i8", "i32", target.dot), ("bf16", "f32", target.half_dot)];
    let instruction = instruction.into_iter().find(|(factor, sum, instruction)| {
        let factors = node.read().all(|operand| is(operand, factor));
        let sums = node.outputs().iter().all(|operand| is(operand, sum));
        factors && sums && *instruction != Instruction::None
    });
    let (.., instruction) = instruction.filter(|_| node.read().count() == 2)?;
    Some(Dot { instruction, unsigned: 0 })
}

/// The nest of a reduction in these layouts; `None` if it is none that a kernel computes.
fn nest(node: &Node, layouts: &[Last]) -> Option<Nest> {
    let [output] = node.outputs() else {
        return None;
    };
    let last = layouts.get(node.inputs).copied().flatten();
    let lanes = last.and_then(|_| output.contiguous(last, node.parallels()));
    let loops = node.extents.len();
    let mut operands = Vec::new();
    let mut constants = Vec::new();
    for (operand, last) in node.operands.iter().zip(layouts).take(node.inputs) {
        if !operand.is_read {
            continue;
        }
        let last = last.or_else(|| node.stored_last(operand, lanes?));
        if operand.is_constant {
            constants.push(operands.len());
        }
        operands.push(Address::with_strides(operand.strides(last, loops)?));
    }
    let position = operands.len();
    operands.push(Address::with_strides(output.strides(last, loops)?));
    let kinds = node.reductions.iter().zip(&node.extents).enumerate();
    let loops = kinds.map(|(dimension, (reduces, extent))| Loop {
        extent: *extent,
        kind: if *reduces { LoopKind::Reduction } else { LoopKind::Parallel },
        dimension: Some(dimension),
        source: None,
    });
    Some(Nest {
        loops: loops.collect(),
        operands,
        output: position,
        constants,
        repeats: Vec::new(),
        skipped: Vec::new(),
        tested: Vec::new(),
        keeps_order: false,
        dot: None,
    })
}

/// The number of elements of a tensor; dynamic extents count as one.
fn elements(value: Value) -> f64 {
    let extents = types::extents(value.r#type()).unwrap_or_default();
    extents.into_iter().filter(|e| *e != types::DYNAMIC).map(|e| e as f64).product()
}

/// The bits of an element.
fn bits(value: Value) -> i64 {
    let element = types::element_of(value.r#type()).map(|element| element.to_string());
    let digits = element.as_deref().map(|e| e.trim_start_matches(['b', 'f', 'i']));
    let bits = digits.and_then(|digits| digits.parse().ok());
    bits.filter(|bits: &i64| *bits >= 8).unwrap_or(64)
}
