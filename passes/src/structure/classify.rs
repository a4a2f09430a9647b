// SPDX-License-Identifier: Apache-2.0
//! Classifies a formula: map, view, contraction, window, reduction, gather, scatter or sequential.

use super::arg_reduction::ArgReduction;
use super::guard::Guard;
use super::nest::{Nest, Term, TermId};
use super::target::Placement;
use skript_frontend::model::Accumulation;
use skript_symbolic::Affine;
use std::fmt;

/// The kinds of computation that lowerings distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Structure {
    /// Writes each output element once, from elements at affine subscripts.
    Map,
    /// A map that only moves elements: reshape, transpose, slice, broadcast, pad, concatenate.
    View,
    /// A sum of products of several elements. `window`: a subscript adds an output index and a reduced index.
    Contraction {
        window: bool,
    },
    /// A reduction whose subscripts add output indices and reduced indices.
    Window,
    Reduce,
    /// Positions of the best elements: arg min, arg max.
    ArgReduce,
    /// A subscript of a read depends on data, or is not affine.
    Gather,
    /// A subscript of a write depends on data, or several points write one element.
    Scatter,
    /// Must be executed in the order of its loops.
    Sequential,
}

impl Structure {
    pub(crate) fn new(nest: &Nest) -> Structure {
        let guard = Guard::new(nest);
        if nest.kind == Accumulation::Replace || nest.reads_destination() {
            return if ArgReduction::new(nest).is_some_and(|r| r.guards.is_empty()) {
                Structure::ArgReduce
            } else {
                Structure::Sequential
            };
        }
        let mut reduced = vec![true; nest.extents.len()];
        for target in &nest.targets {
            let subscripts: Vec<_> = target.subscripts.iter().map(|s| nest.affine(*s)).collect();
            match Placement::new(&subscripts, &nest.extents) {
                Placement::Block(slots) => {
                    for index in slots.iter().flat_map(|s| &s.indices) {
                        if let Some(reduced) = reduced.get_mut(*index) {
                            *reduced = false;
                        }
                    }
                }
                // Reversed indices also only move elements.
                Placement::Overlapping if reversed(&subscripts) => {
                    for index in subscripts.iter().flatten().flat_map(Affine::indices) {
                        if let Some(reduced) = reduced.get_mut(index) {
                            *reduced = false;
                        }
                    }
                }
                Placement::Overlapping | Placement::Indirect => {
                    return if nest.kind == Accumulation::Assign
                        && nest.accesses(&target.subscripts).is_empty()
                    {
                        Structure::Sequential
                    } else {
                        Structure::Scatter
                    };
                }
            }
        }
        for (index, extent) in nest.extents.iter().enumerate() {
            if *extent == 1
                && let Some(reduced) = reduced.get_mut(index)
            {
                *reduced = false;
            }
        }
        let reduces = reduced.contains(&true);
        if reduces && nest.kind == Accumulation::Assign {
            return Structure::Sequential;
        }
        let values: Vec<_> = nest.targets.iter().map(|t| t.value).collect();
        let accesses = nest.accesses(&nest.roots());
        let mut window = false;
        for (_, _, subscripts) in &accesses {
            for subscript in *subscripts {
                let Some(form) = nest.affine(*subscript) else {
                    return Structure::Gather;
                };
                let is_reduced = |i: &usize| reduced.get(*i) == Some(&true);
                let indices = form.indices();
                window |= indices.iter().any(is_reduced) && !indices.iter().all(is_reduced);
            }
        }
        if !reduces {
            let moves = nest.kind == Accumulation::Assign
                && guard.others.is_empty()
                && values.iter().all(|v| matches!(nest.terms.get(*v), Some(Term::Access { .. })));
            return if moves { Structure::View } else { Structure::Map };
        }
        let reads = |factor: &TermId| !nest.accesses(&[*factor]).is_empty();
        let multiplies = values.iter().all(|v| nest.factors(*v).iter().filter(|f| reads(f)).count() > 1);
        if nest.kind == Accumulation::Sum && multiplies {
            Structure::Contraction { window }
        } else if window {
            Structure::Window
        } else {
            Structure::Reduce
        }
    }
}

/// Whether the subscripts are distinct single indices, up to their signs.
fn reversed(subscripts: &[Option<Affine>]) -> bool {
    let mut seen = Vec::new();
    subscripts.iter().all(|subscript| {
        let Some(linear) = subscript.as_ref().and_then(Affine::as_linear) else {
            return false;
        };
        match linear.as_slice() {
            [] => true,
            [(index, _)] if !seen.contains(index) => {
                seen.push(*index);
                true
            }
            _ => false,
        }
    })
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Structure::Map => "map",
            Structure::View => "view",
            Structure::Contraction { window: false } => "contraction",
            Structure::Contraction { window: true } => "window contraction",
            Structure::Window => "window",
            Structure::Reduce => "reduce",
            Structure::ArgReduce => "arg reduce",
            Structure::Gather => "gather",
            Structure::Scatter => "scatter",
            Structure::Sequential => "sequential",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_semantics::{ScalarKind, ScalarOp};

    #[test]
    fn a_matrix_product_is_a_contraction() {
        let mut b = Builder::new(Accumulation::Sum, &[4, 8, 16]);
        let (i, j, l) = (b.index(0), b.index(1), b.index(2));
        let (x, y) = (b.access(&[4, 16], &[i, l]), b.access(&[16, 8], &[l, j]));
        let product = b.reals(ScalarOp::Mul, x, y);
        let nest = b.target(&[4, 8], &[i, j], product);
        assert_eq!(Structure::new(&nest), Structure::Contraction { window: false });
    }

    #[test]
    fn signs_and_constants_do_not_affect_contractions() {
        let mut b = Builder::new(Accumulation::Sum, &[4, 8]);
        let (i, l) = (b.index(0), b.index(1));
        let (x, y) = (b.access(&[4, 8], &[i, l]), b.access(&[8], &[l]));
        let product = b.reals(ScalarOp::Mul, x, y);
        let two = b.term(Term::Opaque { operands: Vec::new() });
        let scaled = b.reals(ScalarOp::Mul, two, product);
        let negated =
            b.term(Term::Apply { op: ScalarOp::Neg, kind: ScalarKind::Real, operands: vec![scaled] });
        let single = b.term(Term::Apply { op: ScalarOp::Neg, kind: ScalarKind::Real, operands: vec![x] });
        let reduced = Builder { nest: b.nest.clone() };
        assert_eq!(Structure::new(&b.target(&[4], &[i], negated)), Structure::Contraction { window: false });
        assert_eq!(Structure::new(&reduced.target(&[4], &[i], single)), Structure::Reduce);
    }

    #[test]
    fn a_sliding_product_is_a_window_contraction() {
        let mut b = Builder::new(Accumulation::Sum, &[8, 3]);
        let (i, j) = (b.index(0), b.index(1));
        let position = b.window(0, 1, 1, 1, -1);
        let within = b.within(position, 8);
        b.nest.predicate = Some(within);
        let (x, w) = (b.access(&[8], &[position]), b.access(&[3], &[j]));
        let product = b.reals(ScalarOp::Mul, x, w);
        let nest = b.target(&[8], &[i], product);
        assert_eq!(Structure::new(&nest), Structure::Contraction { window: true });
    }

    #[test]
    fn a_pool_is_a_window_and_a_norm_is_a_reduction() {
        let mut b = Builder::new(Accumulation::Max, &[4, 2]);
        let i = b.index(0);
        let position = b.window(0, 2, 1, 1, 0);
        let x = b.access(&[8], &[position]);
        assert_eq!(Structure::new(&b.target(&[4], &[i], x)), Structure::Window);

        let mut b = Builder::new(Accumulation::Sum, &[4, 2]);
        let (i, j) = (b.index(0), b.index(1));
        let x = b.access(&[4, 2], &[i, j]);
        assert_eq!(Structure::new(&b.target(&[4], &[i], x)), Structure::Reduce);
    }

    #[test]
    fn a_flattened_copy_is_a_view_and_its_double_is_a_map() {
        let mut b = Builder::new(Accumulation::Assign, &[3, 4]);
        let (i, j) = (b.index(0), b.index(1));
        let flat = b.window(0, 4, 1, 1, 0);
        let x = b.access(&[3, 4], &[i, j]);
        let mut doubled = Builder { nest: b.nest.clone() };
        let sum = doubled.reals(ScalarOp::Add, x, x);
        assert_eq!(Structure::new(&b.target(&[12], &[flat], x)), Structure::View);
        assert_eq!(Structure::new(&doubled.target(&[12], &[flat], sum)), Structure::Map);
    }

    #[test]
    fn data_in_subscripts_gathers_and_scatters() {
        let mut b = Builder::new(Accumulation::Assign, &[4]);
        let i = b.index(0);
        let address = b.access(&[4], &[i]);
        let x = b.access(&[9], &[address]);
        let mut written = Builder { nest: b.nest.clone() };
        let value = written.access(&[4], &[i]);
        assert_eq!(Structure::new(&b.target(&[4], &[i], x)), Structure::Gather);
        assert_eq!(Structure::new(&written.target(&[9], &[address], value)), Structure::Scatter);
    }

    #[test]
    fn a_formula_that_reads_its_output_is_sequential() {
        let mut b = Builder::new(Accumulation::Replace, &[4]);
        let i = b.index(0);
        let x = b.access(&[4], &[i]);
        b.nest.tensors[0].destination = Some(0);
        assert_eq!(Structure::new(&b.target(&[4], &[i], x)), Structure::Sequential);
    }
}
