// SPDX-License-Identifier: Apache-2.0
//! Emits the parallel loops of a kernel around its register tile.

use super::nest::Nest;
use super::plan::Plan;
use super::writer::{LastVector, State, Tile, Writer};
use crate::ir::builder::arith::Integers;
use melior::ir::Value;

/// The number of steps of a kernel, which may be distributed over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// A static number of steps.
    Static(i64),
    /// The number of tiles of `factor` iterations that cover a loop with a dynamic extent.
    Dynamic {
        /// The loop, from the outermost.
        loop_number: usize,
        /// Iterations of one tile.
        factor: i64,
    },
}

impl Plan {
    /// Returns the steps of a kernel; `None` for a kernel that is not divided into steps.
    pub fn steps(&self, nest: &Nest) -> Option<Steps> {
        let outermost = *self.parallels.first().filter(|_| self.is_split)?;
        Some(match nest.loops[outermost].source {
            None => Steps::Static(self.tiles(nest, outermost)),
            Some(_) => Steps::Dynamic { loop_number: outermost, factor: self.factor(outermost) },
        })
    }
}

/// The tiles of a loop: full tiles, then smaller tiles.
struct Tiles {
    /// The number of full tiles; `None` if it is known only at run time.
    whole: Option<i64>,
    /// The number of smaller tiles, and the iterations of each; `None` if they are known only at run time.
    rest: Option<(i64, i64)>,
}

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    fn tiles(&self, l: usize) -> Tiles {
        let (tiled, factor) = (&self.nest.loops[l], self.plan.factor(l));
        let tiles = self.plan.tiles(self.nest, l);
        let missing = tiles * factor - tiled.extent;
        match tiled.source {
            // Along the lanes, the last tile is masked; along other loops, tiles have nearly equal sizes.
            None if l == self.plan.lanes_loop => Tiles {
                whole: Some(tiled.extent / factor),
                rest: Some((i64::from(missing > 0), tiled.extent % factor)),
            },
            None if missing <= tiles => {
                Tiles { whole: Some(tiles - missing), rest: Some((missing, factor - 1)) }
            }
            None => Tiles { whole: Some(tiled.extent / factor), rest: Some((1, tiled.extent % factor)) },
            Some(_) => Tiles { whole: None, rest: (factor == 1).then_some((0, 0)) },
        }
    }

    /// Returns a tile with a number of iterations of a loop.
    fn sized(&self, l: usize, iterations: i64) -> Tile {
        let lanes = self.plan.lanes;
        if l == self.plan.lanes_loop {
            Tile { count: (iterations + lanes - 1) / lanes, last: LastVector::of_elements(iterations, lanes) }
        } else {
            Tile::full(iterations)
        }
    }

    /// Emits the parallel loops from `level` on: a loop over full tiles, then the remainder.
    pub(super) fn parallel(&mut self, level: usize, state: &State<'c, 'a>) {
        let Some(&l) = self.plan.parallels.get(level) else {
            return self.tile(state);
        };
        if level == 0
            && let Some(range) = self.given.steps.filter(|_| self.plan.is_split)
        {
            return self.steps(l, state, range);
        }
        let factor = self.plan.factor(l);
        let tiles = self.tiles(l);
        let zero = self.constant(0);
        match tiles.whole {
            Some(0) => {}
            Some(1) => self.inside(level, l, state, factor, zero),
            whole => {
                let end = match whole {
                    Some(whole) => self.constant(whole * factor),
                    None if factor == 1 => self.extent(l),
                    None => {
                        let extent = self.extent(l);
                        self.multiple(extent, factor)
                    }
                };
                self.loop_over(level, l, state, [zero, end], factor);
                if tiles.rest.is_none() {
                    self.rest(level, l, state, end);
                }
            }
        }
        if let (Some(whole), Some((count @ 1.., rest))) = (tiles.whole, tiles.rest) {
            let start = self.constant(whole * factor);
            match count {
                1 => self.inside(level, l, state, rest, start),
                _ => {
                    let end = self.constant(whole * factor + count * rest);
                    self.loop_over(level, l, state, [start, end], rest);
                }
            }
        }
    }

    /// Emits a loop over tiles with a number of iterations.
    fn loop_over(
        &mut self,
        level: usize,
        l: usize,
        state: &State<'c, 'a>,
        range: [Value<'c, 'a>; 2],
        iterations: i64,
    ) {
        self.loop_in(range, iterations, |w, start| w.inside(level, l, state, iterations, start));
    }

    /// Emits the remainder of a loop with a dynamic extent after the full tiles: vectors along the lanes; along other loops, at most one
    /// tile of each power of two iterations.
    fn rest(&mut self, level: usize, l: usize, state: &State<'c, 'a>, from: Value<'c, 'a>) {
        let range = [from, self.extent(l)];
        if l != self.plan.lanes_loop {
            return self.halves(level, l, state, range);
        }
        // A packed operand is stored in full tiles, so the remainder is computed in full tiles as well.
        let vectors = match self.plan.packed {
            Some(_) => self.plan.vectors,
            None => 1,
        };
        self.loop_in(range, vectors * self.plan.lanes, |w, start| {
            let inner = w.with_loop(state, l, start);
            let inner = w.with_rest(&inner, l, vectors);
            w.parallel(level + 1, &inner);
        });
    }

    /// Emits the remaining iterations, fewer than those of a tile, in tiles of powers of two.
    fn halves(&mut self, level: usize, l: usize, state: &State<'c, 'a>, [from, to]: [Value<'c, 'a>; 2]) {
        let factor = self.plan.factor(l);
        let mut from = from;
        let sizes: Vec<i64> = (0..).map(|power| 1 << power).take_while(|size| *size < factor).collect();
        for size in sizes.into_iter().rev() {
            let end = if size == 1 {
                to
            } else {
                let rest = self.at.subi(to, from);
                let whole = self.multiple(rest, size);
                self.at.addi(from, whole)
            };
            self.loop_over(level, l, state, [from, end], size);
            from = end;
        }
    }

    /// Emits the loops inside of a tile that begins at `start`.
    fn inside(
        &mut self,
        level: usize,
        l: usize,
        state: &State<'c, 'a>,
        iterations: i64,
        start: Value<'c, 'a>,
    ) {
        let mut state = state.clone();
        state.tile.insert(l, self.sized(l, iterations));
        let inner = self.with_loop(&state, l, start);
        self.parallel(level + 1, &inner);
    }

    /// Emits a range of steps, which are tiles of loop `l`. The last steps are the smaller tiles, if there are any.
    fn steps(&mut self, l: usize, state: &State<'c, 'a>, [from, to]: [Value<'c, 'a>; 2]) {
        let factor = self.plan.factor(l);
        let tiles = self.tiles(l);
        let whole = match tiles.whole {
            Some(whole) => self.constant(whole),
            None if factor == 1 => self.extent(l),
            None => {
                let extent = self.extent(l);
                let factor = self.constant(factor);
                self.at.divui(extent, factor)
            }
        };
        let has_rest = tiles.rest.is_none_or(|(count, _)| count > 0);
        let end = if has_rest { self.at.minsi(to, whole) } else { to };
        self.loop_in([from, end], 1, |w, step| {
            let start = if factor == 1 { step } else { w.times(step, factor) };
            w.inside(0, l, state, factor, start);
        });
        if !has_rest {
            return;
        }
        let last = self.at.cmpi(Integers::SignedGreater, to, whole);
        self.when(last, |w| match (tiles.whole, tiles.rest) {
            (Some(full), Some((1, rest))) => {
                let start = w.constant(full * factor);
                w.inside(0, l, state, rest, start);
            }
            (Some(full), Some((_, rest))) => {
                // Step s of the smaller tiles begins at full · factor + (s - full) · rest.
                let first = w.at.maxsi(from, whole);
                w.loop_in([first, to], 1, |w, step| {
                    let start = w.times(step, rest);
                    let before = w.constant(full * (factor - rest));
                    let start = w.at.addi(start, before);
                    w.inside(0, l, state, rest, start);
                });
            }
            _ => {
                let start = w.times(whole, factor);
                w.rest(0, l, state, start);
            }
        });
    }
}
