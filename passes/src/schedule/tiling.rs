// SPDX-License-Identifier: Apache-2.0
//! The parallel loops of a kernel around its register tile.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::nest::Nest;
use super::plan::Plan;
use super::writer::{LastVector, State, Tile, Writer};
use crate::ir::ops;

/// The number of steps that threads may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// The number of steps.
    Static(i64),
    /// As many as tiles of `factor` iterations cover a loop with a dynamic extent.
    Dynamic {
        /// The loop, from the outermost.
        loop_number: usize,
        /// Iterations of one tile.
        factor: i64,
    },
}

impl Plan {
    /// The steps of a kernel that threads may share; `None` for one that computes all at once.
    pub fn steps(&self, nest: &Nest) -> Option<Steps> {
        let outermost = *self.parallels.first().filter(|_| self.is_split)?;
        Some(match nest.loops[outermost].source {
            None => Steps::Static(self.tiles(nest, outermost)),
            Some(_) => Steps::Dynamic { loop_number: outermost, factor: self.factor(outermost) },
        })
    }
}

/// The tiles of a loop: full ones, then smaller ones.
struct Tiles {
    /// The number of full tiles; `None` if it is known at run time.
    whole: Option<i64>,
    /// The smaller tiles and the iterations of each; `None` if they are known at run time.
    rest: Option<(i64, i64)>,
}

impl Writer<'_> {
    fn tiles(&self, l: usize) -> Tiles {
        let (own, factor) = (&self.nest.loops[l], self.plan.factor(l));
        let tiles = self.plan.tiles(self.nest, l);
        let missing = tiles * factor - own.extent;
        match own.source {
            // Along the lanes, the last tile is masked; other tiles are nearly equal.
            None if l == self.plan.lanes_loop => Tiles {
                whole: Some(own.extent / factor),
                rest: Some((i64::from(missing > 0), own.extent % factor)),
            },
            None if missing <= tiles => {
                Tiles { whole: Some(tiles - missing), rest: Some((missing, factor - 1)) }
            }
            None => Tiles { whole: Some(own.extent / factor), rest: Some((1, own.extent % factor)) },
            Some(_) => Tiles { whole: None, rest: (factor == 1).then_some((0, 0)) },
        }
    }

    /// A tile of so many iterations of a loop.
    fn sized(&self, l: usize, iterations: i64) -> Tile {
        let lanes = self.plan.lanes;
        if l == self.plan.lanes_loop {
            Tile { count: (iterations + lanes - 1) / lanes, last: LastVector::of_elements(iterations, lanes) }
        } else {
            Tile::full(iterations)
        }
    }

    /// `left` and a constant under an operation.
    fn with_constant(&mut self, name: &str, left: &str, right: i64) -> String {
        let right = self.constant(right);
        self.define(&format!("{name} {left}, {right} : index"))
    }

    /// The parallel loops from `level` on: a loop over full tiles, then the remainder.
    pub(super) fn parallel(&mut self, level: usize, state: &State) {
        let Some(&l) = self.plan.parallels.get(level) else {
            return self.tile(state);
        };
        if level == 0 && self.plan.is_split {
            return self.steps(l, state);
        }
        let factor = self.plan.factor(l);
        let tiles = self.tiles(l);
        let zero = self.constant(0);
        match tiles.whole {
            Some(0) => {}
            Some(1) => self.inside(level, l, state, factor, &zero),
            whole => {
                let end = match whole {
                    Some(whole) => self.constant(whole * factor),
                    None if factor == 1 => format!("%n{l}"),
                    None => self.multiple(&format!("%n{l}"), factor),
                };
                self.loop_over(level, l, state, (&zero, &end), factor);
                if tiles.rest.is_none() {
                    self.rest(level, l, state, &end);
                }
            }
        }
        if let (Some(whole), Some((count @ 1.., rest))) = (tiles.whole, tiles.rest) {
            let start = self.constant(whole * factor);
            match count {
                1 => self.inside(level, l, state, rest, &start),
                _ => {
                    let end = self.constant(whole * factor + count * rest);
                    self.loop_over(level, l, state, (&start, &end), rest);
                }
            }
        }
    }

    /// A loop over tiles of so many iterations.
    fn loop_over(
        &mut self,
        level: usize,
        l: usize,
        state: &State,
        (from, to): (&str, &str),
        iterations: i64,
    ) {
        let (variable, step) = (self.fresh(), self.constant(iterations));
        self.line(&format!("scf.for {variable} = {from} to {to} step {step} {{"));
        self.depth += 1;
        self.inside(level, l, state, iterations, &variable);
        self.depth -= 1;
        self.line("}");
    }

    /// What full tiles leave of a loop with a dynamic extent: vectors along the lanes, else single iterations.
    fn rest(&mut self, level: usize, l: usize, state: &State, from: &str) {
        let to = format!("%n{l}");
        if l != self.plan.lanes_loop {
            return self.loop_over(level, l, state, (from, &to), 1);
        }
        // Addresses in a packed operand are those of whole tiles.
        let vectors = match self.plan.packed {
            Some(_) => self.plan.vectors,
            None => 1,
        };
        let step = self.constant(vectors * self.plan.lanes);
        let variable = self.fresh();
        self.line(&format!("scf.for {variable} = {from} to {to} step {step} {{"));
        self.depth += 1;
        let inner = self.at(state, l, &variable);
        let inner = self.with_rest(&inner, l, vectors);
        self.parallel(level + 1, &inner);
        self.depth -= 1;
        self.line("}");
    }

    /// The loops inside of a tile that begins at `start`.
    fn inside(&mut self, level: usize, l: usize, state: &State, iterations: i64, start: &str) {
        let mut state = state.clone();
        state.tile.insert(l, self.sized(l, iterations));
        let inner = self.at(&state, l, start);
        self.parallel(level + 1, &inner);
    }

    /// The tiles of loop `l` that are the steps `%from` to `%to`; the last steps are the smaller tiles, if there are any.
    fn steps(&mut self, l: usize, state: &State) {
        let factor = self.plan.factor(l);
        let tiles = self.tiles(l);
        let whole = match tiles.whole {
            Some(whole) => self.constant(whole),
            None if factor == 1 => format!("%n{l}"),
            None => self.with_constant(ops::arith::DIVUI, &format!("%n{l}"), factor),
        };
        let has_rest = tiles.rest.is_none_or(|(count, _)| count > 0);
        let one = self.constant(1);
        let end = if has_rest {
            self.define(&format!("{} %to, {whole} : index", ops::arith::MINSI))
        } else {
            "%to".to_owned()
        };
        let step = self.fresh();
        self.line(&format!("scf.for {step} = %from to {end} step {one} {{"));
        self.depth += 1;
        let start = match factor {
            1 => step,
            _ => self.with_constant(ops::arith::MULI, &step, factor),
        };
        self.inside(0, l, state, factor, &start);
        self.depth -= 1;
        self.line("}");
        if has_rest {
            let last = self.define(&format!("{} sgt, %to, {whole} : index", ops::arith::CMPI));
            self.line(&format!("scf.if {last} {{"));
            self.depth += 1;
            match (tiles.whole, tiles.rest) {
                (Some(full), Some((1, rest))) => {
                    let start = self.constant(full * factor);
                    self.inside(0, l, state, rest, &start);
                }
                (Some(full), Some((_, rest))) => {
                    // Step s of these begins at full · factor + (s - full) · rest.
                    let first = self.define(&format!("{} %from, {whole} : index", ops::arith::MAXSI));
                    let step = self.fresh();
                    self.line(&format!("scf.for {step} = {first} to %to step {one} {{"));
                    self.depth += 1;
                    let start = self.with_constant(ops::arith::MULI, &step, rest);
                    let start = self.with_constant(ops::arith::ADDI, &start, full * (factor - rest));
                    self.inside(0, l, state, rest, &start);
                    self.depth -= 1;
                    self.line("}");
                }
                _ => {
                    let start = self.with_constant(ops::arith::MULI, &whole, factor);
                    self.rest(0, l, state, &start);
                }
            }
            self.depth -= 1;
            self.line("}");
        }
    }
}
