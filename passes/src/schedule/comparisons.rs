// SPDX-License-Identifier: Apache-2.0
//! `skript-sort-comparisons`: counts how elements of a row compare with each other by sorting the row.
//!
//! `y[i] += x[k] < x[i] || (x[k] == x[i] && k < i) ? 1 : 0` compares all pairs of elements. What it counts for a pair depends on the order of the
//! elements and on that of their positions alone ([`cases`]). In a stable order, the elements that are less, those that are equal and precede or
//! follow, and those that are greater are next to each other: their numbers follow from the place of an element and from the places
//! where equal ones begin and end. Ranks, numbers of equal elements and the like so take as many steps as a merge sort. NaN is last.
//!
//! Requires: static buffers. Guarantees: no other results; short rows stay as they are.

mod cases;

use crate::ir::linalg::Generic;
use crate::ir::splice::splice;
use crate::ir::walk::named;
use crate::ir::{self, maps, ops};
use cases::{Payload, Relation};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use std::cmp::Ordering;

/// The pass `skript-sort-comparisons`.
pub const PASS: Pass = Pass {
    flag: "skript-sort-comparisons",
    summary: "count how elements of a row compare with each other by sorting the row",
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf],
    run: |root, _, _| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(counts) = Counts::of(op) {
                splice(op, &counts.operands, &counts.text(), &[])?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Elements of the shortest row that is sorted: comparisons of shorter ones, several at once, take less time.
const SHORTEST: i64 = 1024;

/// Elements of the longest row: positions have 32 bits.
const LONGEST: i64 = 1 << 30;

/// What is counted for an element that is no NaN, and for one that is: of each other element by how it compares.
#[derive(Default)]
struct Weights {
    less: i64,
    equal_before: i64,
    itself: i64,
    equal_after: i64,
    greater: i64,
    nan: i64,
}

impl Weights {
    fn largest(&self) -> i64 {
        let equal = [self.equal_before, self.itself, self.equal_after];
        let all = equal.into_iter().chain([self.less, self.greater, self.nan]);
        all.map(i64::saturating_abs).fold(0, i64::max)
    }
}

/// A reduction that counts comparisons.
struct Counts<'c, 'a> {
    /// The array and the result.
    operands: [Value<'c, 'a>; 2],
    types: [MemRefType<'c>; 2],
    /// The loops of the subscripts of both, and their extents.
    subscripts: [Vec<usize>; 2],
    extents: Vec<i64>,
    /// The loop of the own position.
    own: usize,
    /// The loop of the other position.
    other: usize,
    numbers: Weights,
    /// Of a NaN, the numbers count as less; equal are other NaN.
    nans: Weights,
}

impl<'c: 'a, 'a> Counts<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = Generic::cast(op).filter(|_| op.result_count() == 0)?;
        let operands: Vec<Value> = op.operands().collect();
        let [first, second, result] = *operands.as_slice() else {
            return None;
        };
        if first != second || first == result {
            return None;
        }
        let types = [first, result].map(|value| MemRefType::try_from(value.r#type()).ok());
        let [Some(array), Some(counted)] = types else {
            return None;
        };
        let reductions = generic.reductions();
        let other = reductions.iter().position(|reduces| *reduces)?;
        let maps = generic.indexing_maps();
        let mut subscripts = Vec::new();
        for map in maps {
            let indices: Option<Vec<usize>> = maps::indices(map).into_iter().collect();
            subscripts.push(indices?);
        }
        let [mut one, mut two, target] = <[Vec<usize>; 3]>::try_from(subscripts).ok()?;
        let depends = |list: &[usize], number: usize| list.iter().filter(|n| **n == number).count();
        let is_swapped = depends(&one, other) == 0;
        if is_swapped {
            std::mem::swap(&mut one, &mut two);
        }
        let differing = one.iter().zip(&two).find(|(a, b)| a != b);
        let own = *differing.map(|(_, own)| own)?;
        let replaced: Vec<usize> = one.iter().map(|n| if *n == other { own } else { *n }).collect();
        let is_one_row = replaced == two && depends(&one, other) == 1 && depends(&one, own) == 0;
        let parallel = (0..reductions.len()).filter(|n| *n != other);
        let is_whole =
            parallel.clone().all(|n| depends(&target, n) == 1) && target.len() + 1 == reductions.len();
        let is_reduced_once = reductions.iter().filter(|reduces| **reduces).count() == 1;
        if !is_one_row || !is_whole || !is_reduced_once {
            return None;
        }

        let mut extents = vec![0; reductions.len()];
        for (r#type, list) in [(&array, &one), (&array, &two), (&counted, &target)] {
            for (dimension, number) in list.iter().enumerate() {
                let DimSize::Static(extent) = r#type.dim_size(dimension).ok()? else {
                    return None;
                };
                *extents.get_mut(*number)? = i64::try_from(extent).ok()?;
            }
        }
        let length = *extents.get(own)?;
        let is_long = (SHORTEST..=LONGEST).contains(&length) && extents.get(other) == Some(&length);
        let is_real = matches!(array.element().to_string().as_str(), "f32" | "f64");
        let is_known = is_real || matches!(array.element().to_string().as_str(), "i32" | "i64");
        let is_counted = matches!(counted.element().to_string().as_str(), "i32" | "i64");
        if !is_long || !is_known || !is_counted {
            return None;
        }

        let payload = Payload::of(generic.body()?, [other, own], usize::from(!is_swapped))?;
        let always = |relation: Relation| {
            let before = payload.count(relation, Ordering::Less)?;
            let after = payload.count(relation, Ordering::Greater)?;
            (before == after).then_some(before)
        };
        let mut numbers = Weights {
            less: always(Relation::Less)?,
            equal_before: payload.count(Relation::Equal, Ordering::Less)?,
            itself: payload.count(Relation::Equal, Ordering::Equal)?,
            equal_after: payload.count(Relation::Equal, Ordering::Greater)?,
            greater: always(Relation::Greater)?,
            nan: 0,
        };
        let mut nans = Weights::default();
        if is_real {
            numbers.nan = always(Relation::OtherNan)?;
            nans = Weights {
                less: always(Relation::OwnNan)?,
                equal_before: payload.count(Relation::BothNan, Ordering::Less)?,
                itself: payload.count(Relation::BothNan, Ordering::Equal)?,
                equal_after: payload.count(Relation::BothNan, Ordering::Greater)?,
                ..nans
            };
        }
        // An index has 32 bits on some processors.
        let fits = |weights: &Weights| weights.largest().saturating_mul(length) < 1 << 31;
        if !fits(&numbers) || !fits(&nans) {
            return None;
        }
        Some(Counts {
            operands: [first, result],
            types: [array, counted],
            subscripts: [one, target],
            extents,
            own,
            other,
            numbers,
            nans,
        })
    }

    fn is_real(&self) -> bool {
        self.types[0].element().to_string().starts_with('f')
    }

    /// The subscripts of the array or the result, with a position in the row.
    fn at(&self, subscripts: &[usize], position: &str) -> String {
        let names = subscripts.iter().map(|number| {
            if *number == self.own || *number == self.other {
                position.to_owned()
            } else {
                format!("%b{number}")
            }
        });
        names.collect::<Vec<_>>().join(", ")
    }

    /// The loops of other rows.
    fn rows(&self) -> impl Iterator<Item = (usize, i64)> {
        self.extents
            .iter()
            .copied()
            .enumerate()
            .filter(|(number, _)| *number != self.own && *number != self.other)
    }

    /// `%name = order[half, position]`, a position in the row.
    fn placed(&self, name: &str, half: &str, position: &str) -> String {
        let order = self.order_type();
        let rows: String = self.rows().map(|(n, _)| format!("%b{n}, ")).collect();
        format!(
            "%{name}_word = memref.load %order[{rows}{half}, {position}] : {order}\n\
             %{name} = arith.index_cast %{name}_word : i32 to index\n"
        )
    }

    /// Two halves for each row: each pass of the sort reads one and writes the other.
    fn order_type(&self) -> String {
        let length = self.extents.get(self.own).copied().unwrap_or(0);
        let rows: String = self.rows().map(|(_, extent)| format!("{extent}x")).collect();
        format!("memref<{rows}2x{length}xi32>")
    }

    fn load(&self, name: &str, position: &str) -> String {
        format!("%{name} = memref.load %0[{}] : {}\n", self.at(&self.subscripts[0], position), self.types[0])
    }

    /// `%name`: whether an element comes before another one that is no earlier in the row.
    fn before(&self, name: &str, left: &str, right: &str) -> String {
        let element = self.types[0].element();
        if self.is_real() {
            format!(
                "%{name}_less = arith.cmpf olt, %{left}, %{right} : {element}\n\
                 %{name}_last = arith.cmpf uno, %{right}, %{right} : {element}\n\
                 %{name}_number = arith.cmpf ord, %{left}, %{left} : {element}\n\
                 %{name}_to_nan = arith.andi %{name}_last, %{name}_number : i1\n\
                 %{name} = arith.ori %{name}_less, %{name}_to_nan : i1\n"
            )
        } else {
            format!("%{name} = arith.cmpi slt, %{left}, %{right} : {element}\n")
        }
    }

    /// The sort, and the counts.
    fn text(&self) -> String {
        let length = self.extents.get(self.own).copied().unwrap_or(0);
        let order = self.order_type();
        let passes = 64 - (length - 1).leading_zeros();
        let rows: Vec<(usize, i64)> = self.rows().collect();
        let mut text = format!(
            "%order = memref.alloc() : {order}\n\
             %zero = arith.constant 0 : index\n%one = arith.constant 1 : index\n%two = arith.constant 2 : index\n\
             %length = arith.constant {length} : index\n%last = arith.constant {} : index\n\
             %passes = arith.constant {passes} : index\n%sorted = arith.constant {} : index\n",
            length - 1,
            passes % 2
        );
        let prefix: String = rows.iter().map(|(n, _)| format!("%b{n}, ")).collect();
        let body = self.sort(&prefix, &order) + &self.counted();
        let list = |item: &dyn Fn(usize) -> String| -> String {
            let items: Vec<String> = rows.iter().map(|(n, _)| item(*n)).collect();
            items.join(", ")
        };
        if rows.is_empty() {
            text += &body
        } else {
            for (number, extent) in &rows {
                text += &format!("%e{number} = arith.constant {extent} : index\n");
            }
            text += &format!(
                "scf.parallel ({}) = ({}) to ({}) step ({}) {{\n{body}scf.reduce\n}}\n",
                list(&|n| format!("%b{n}")),
                list(&|_| "%zero".to_owned()),
                list(&|n| format!("%e{n}")),
                list(&|_| "%one".to_owned()),
            );
        }
        text
    }

    /// Merges runs of 1, 2, 4, … positions.
    fn sort(&self, rows: &str, order: &str) -> String {
        let parts = [
            format!(
                "scf.for %p = %zero to %length step %one {{\n\
                 %word = arith.index_cast %p : index to i32\n\
                 memref.store %word, %order[{rows}%zero, %p] : {order}\n}}\n\
                 scf.for %pass = %zero to %passes step %one {{\n\
                 %from = arith.andi %pass, %one : index\n%to = arith.xori %from, %one : index\n\
                 %width = arith.shli %one, %pass : index\n%twice = arith.shli %two, %pass : index\n\
                 scf.for %low = %zero to %length step %twice {{\n\
                 %low_end = arith.addi %low, %width : index\n%middle = arith.minsi %low_end, %length : index\n\
                 %high_end = arith.addi %low, %twice : index\n%high = arith.minsi %high_end, %length : index\n\
                 %ends:2 = scf.for %p = %low to %high step %one iter_args(%a = %low, %c = %middle) -> (index, index) {{\n\
                 %has_a = arith.cmpi slt, %a, %middle : index\n%has_c = arith.cmpi slt, %c, %high : index\n\
                 %near_a = arith.minsi %a, %last : index\n%near_c = arith.minsi %c, %last : index\n"
            ),
            self.placed("first", "%from", "%near_a"),
            self.placed("second", "%from", "%near_c"),
            self.load("first_element", "%first"),
            self.load("second_element", "%second"),
            self.before("is_before", "second_element", "first_element"),
            format!(
                "%true = arith.constant true\n%lacks_a = arith.xori %has_a, %true : i1\n\
                 %is_next = arith.ori %lacks_a, %is_before : i1\n%takes = arith.andi %has_c, %is_next : i1\n\
                 %word = arith.select %takes, %second_word, %first_word : i32\n\
                 memref.store %word, %order[{rows}%to, %p] : {order}\n\
                 %step_c = arith.extui %takes : i1 to i32\n%step = arith.index_cast %step_c : i32 to index\n\
                 %next_c = arith.addi %c, %step : index\n%rest = arith.subi %one, %step : index\n\
                 %next_a = arith.addi %a, %rest : index\n\
                 scf.yield %next_a, %next_c : index, index\n}}\n}}\n}}\n"
            ),
        ];
        parts.concat()
    }

    /// The places of equal elements from the first one on, and from the last one back.
    fn counted(&self) -> String {
        let element = self.types[0].element();
        let is_nan = if self.is_real() {
            format!("%is_nan = arith.cmpf uno, %own, %own : {element}\n")
        } else {
            "%is_nan = arith.constant false\n".to_owned()
        };
        let weight = |name: &str, number: i64, nan: i64| {
            format!(
                "%{name}_number = arith.constant {number} : index\n%{name}_nan = arith.constant {nan} : index\n\
                 %{name} = arith.select %is_nan, %{name}_nan, %{name}_number : index\n"
            )
        };
        let (number, nan) = (&self.numbers, &self.nans);
        let forward = [
            "scf.for %p = %zero to %length step %one iter_args(%begin = %zero) -> (index) {\n".to_owned(),
            "%near = arith.subi %p, %one : index\n%earlier = arith.maxsi %near, %zero : index\n".to_owned(),
            self.placed("own_place", "%sorted", "%p"),
            self.placed("near_place", "%sorted", "%earlier"),
            self.load("own", "%own_place"),
            self.load("neighbour", "%near_place"),
            self.before("differs", "neighbour", "own"),
            is_nan.clone(),
            "%start = arith.select %differs, %p, %begin : index\n".to_owned(),
            weight("less", number.less, nan.less),
            weight("preceding", number.equal_before, nan.equal_before),
            weight("itself", number.itself, nan.itself),
            "%below = arith.muli %start, %less : index\n%equal = arith.subi %p, %start : index\n\
             %earlier_equal = arith.muli %equal, %preceding : index\n\
             %part = arith.addi %below, %earlier_equal : index\n%total = arith.addi %part, %itself : index\n"
                .to_owned(),
            self.add("%own_place"),
            "scf.yield %start : index\n}\n".to_owned(),
        ];
        let backward = [
            "scf.for %n = %zero to %length step %one iter_args(%end = %length, %ordered = %zero) -> (index, index) {\n"
                .to_owned(),
            "%p = arith.subi %last, %n : index\n%next = arith.addi %p, %one : index\n\
             %later = arith.minsi %next, %last : index\n"
                .to_owned(),
            self.placed("own_place", "%sorted", "%p"),
            self.placed("near_place", "%sorted", "%later"),
            self.load("own", "%own_place"),
            self.load("neighbour", "%near_place"),
            self.before("differs", "own", "neighbour"),
            is_nan,
            // The place behind the last number is that of the first one that is met.
            "%stop = arith.select %differs, %next, %end : index\n%none = arith.cmpi eq, %ordered, %zero : index\n\
             %found = arith.select %none, %next, %ordered : index\n\
             %numbers = arith.select %is_nan, %ordered, %found : index\n"
                .to_owned(),
            weight("following", number.equal_after, nan.equal_after),
            weight("greater", number.greater, 0),
            weight("nan", number.nan, 0),
            "%behind = arith.subi %stop, %next : index\n%later_equal = arith.muli %behind, %following : index\n\
             %beyond = arith.subi %numbers, %stop : index\n%above = arith.muli %beyond, %greater : index\n\
             %unordered = arith.subi %length, %numbers : index\n%others = arith.muli %unordered, %nan : index\n\
             %part = arith.addi %later_equal, %above : index\n%total = arith.addi %part, %others : index\n"
                .to_owned(),
            self.add("%own_place"),
            "scf.yield %stop, %numbers : index, index\n}\n".to_owned(),
        ];
        let first = format!("%forward = {}", forward.concat());
        let after = &self.numbers;
        let is_needed = after.equal_after != 0 || after.greater != 0 || after.nan != 0;
        if is_needed || self.nans.equal_after != 0 {
            first + &format!("%backward:2 = {}", backward.concat())
        } else {
            first
        }
    }

    /// Adds `%total` to the result.
    fn add(&self, position: &str) -> String {
        let (result, element) = (&self.types[1], self.types[1].element());
        let at = self.at(&self.subscripts[1], position);
        format!(
            "%count = arith.index_cast %total : index to {element}\n%old = memref.load %1[{at}] : {result}\n\
             %new = arith.addi %old, %count : {element}\nmemref.store %new, %1[{at}] : {result}\n"
        )
    }
}
