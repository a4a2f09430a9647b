// SPDX-License-Identifier: Apache-2.0
//! Loops that select a position, such as that of the largest element of a row, by several threads of a block.
//!
//! Such a loop holds the selected position in an element of an array, and replaces it by its counter where the value at the counter is strictly
//! better, by one comparison, than the value at the held position:
//! ```text
//! for l: if value(l) > value(y[i]): y[i] = l
//! ```
//! A position may have several counters, each of which is held in an array of its own: positions are numbered in the order of the loops.
//!
//! Thread t of T considers positions t, t + T, …, each from the initial value on; of the selected ones, the better is combined in pairs, the
//! first of equal ones. That is what the loop selects: no position is better than an initial value that is NaN, and a NaN
//! is better than none.

use super::outline::MOST_BLOCKS;
use super::threads::constant;
use crate::ir::memref::may_overlap;
use crate::ir::splice::{Lines, splice};
use crate::ir::{self, ValueKey, arith, attributes, ops};
use crate::schedule::targets::gpus::Gpu;
use crate::schedule::writer::properties;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{PassError, op};
use std::collections::HashMap;

/// Positions of the shortest row that several threads share.
const SHORTEST: i64 = 64;

/// Positions that a thread considers at least.
const OWN: i64 = 4;

/// Results from which on one thread computes each.
const MANY: i64 = 1 << 13;

/// Operations of the deepest value.
const DEPTH: usize = 64;

/// Predicates of `arith.cmpf` and of `arith.cmpi` that hold for no value and itself.
const STRICT_REALS: [i64; 2] = [2, 4];
const STRICT_INTEGERS: [i64; 4] = [2, 4, 6, 8];

/// Loops of which one selects a position.
struct Selection<'c, 'a> {
    /// Iterations of the other loops, and their numbers.
    iterations: Vec<Value<'c, 'a>>,
    counts: Vec<Value<'c, 'a>>,
    /// The counters of a position, outermost first, and their numbers of iterations.
    counters: Vec<(Value<'c, 'a>, Value<'c, 'a>)>,
    /// By counter: the load of the held one, and the store that replaces it.
    held: Vec<OperationRef<'c, 'a>>,
    stores: Vec<OperationRef<'c, 'a>>,
    compare: OperationRef<'c, 'a>,
    /// Whether the value at the counters is the right one of the comparison.
    is_right: bool,
}

/// Replaces loops of which one selects a position by blocks of threads. False if there are none, or if it is short.
pub(super) fn map<'c: 'a, 'a>(root: OperationRef<'c, 'a>, gpu: &Gpu) -> Result<bool, PassError> {
    let Some(selection) = Selection::of(root) else {
        return Ok(false);
    };
    let mut results = selection.counts.iter().map(|count| constant(*count));
    let results = results.try_fold(1_i64, |all, count| Some(all.saturating_mul(count?)));
    let mut lengths = selection.counters.iter().map(|(_, count)| constant(*count));
    let length = lengths.try_fold(1_i64, |all, count| Some(all.saturating_mul(count?)));
    if results.is_some_and(|results| results >= MANY) || length.is_some_and(|n| n < SHORTEST) {
        return Ok(false);
    }
    let (mut threads, most) = (i64::from(gpu.warp), i64::from(gpu.block));
    while threads * 2 <= most && length.is_some_and(|length| threads * OWN < length) {
        threads *= 2;
    }
    let mut writer = Writer { lines: Lines::default(), root, names: HashMap::new(), arguments: Vec::new() };
    let Some(text) = writer.write(&selection, threads, most / threads) else {
        return Ok(false);
    };
    splice(root, &writer.arguments, &text, &[])?;
    ir::erase(root);
    Ok(true)
}

/// The operations of the only block of a region, without the last.
fn body<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Vec<OperationRef<'c, 'a>>> {
    let mut all = ir::operations(ir::first_block(op)?);
    all.pop();
    Some(all)
}

/// The only operation with regions or effects of a list whose others compute or read.
fn only<'c: 'a, 'a>(all: &[OperationRef<'c, 'a>]) -> Option<OperationRef<'c, 'a>> {
    let is_value = |op: &OperationRef<'c, 'a>| {
        let is_load = ir::name(*op) == ops::memref::LOAD;
        is_load || op.region_count() == 0 && op::is_pure(op)
    };
    let mut others = all.iter().filter(|op| !is_value(op));
    let found = *others.next()?;
    others.next().is_none().then_some(found)
}

/// The stores of a list whose other operations compute or read.
fn stores<'c: 'a, 'a>(all: &[OperationRef<'c, 'a>]) -> Option<Vec<OperationRef<'c, 'a>>> {
    let is_value = |op: &OperationRef<'c, 'a>| op.region_count() == 0 && op::is_pure(op);
    let others = all.iter().filter(|op| !is_value(op)).copied();
    let is_store = |op: OperationRef<'c, 'a>| (ir::name(op) == ops::memref::STORE).then_some(op);
    others.map(is_store).collect()
}

/// Whether a value is defined inside of an operation.
fn is_inside<'c: 'a, 'a>(value: Value<'c, 'a>, root: OperationRef<'c, 'a>) -> bool {
    match ir::argument(value) {
        Some(argument) => {
            let owner = argument.owner().parent_operation();
            owner.is_some_and(|own| is_within(own, root))
        }
        None => {
            let owner = ir::definition(value).and_then(|(op, _)| op.parent_operation());
            owner.is_some_and(|own| is_within(own, root))
        }
    }
}

/// Whether an operation is another one, or inside of it.
fn is_within<'c: 'a, 'a>(op: OperationRef<'c, 'a>, root: OperationRef<'c, 'a>) -> bool {
    let mut own = Some(op);
    while let Some(op) = own.filter(|op| *op != root) {
        own = op.parent_operation();
    }
    own.is_some()
}

/// The value that index conversions of a value begin with.
fn converted<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let mut value = value;
    for _ in 0..DEPTH {
        let conversion = ir::definition(value).map(|(op, _)| op).filter(|op| {
            let name = ir::name(*op);
            [ops::arith::INDEX_CAST, ops::arith::EXTSI, ops::arith::TRUNCI].contains(&name.as_str())
        });
        match conversion.and_then(|op| ir::operand(op).ok()) {
            Some(source) => value = source,
            None => break,
        }
    }
    value
}

impl<'c: 'a, 'a> Selection<'c, 'a> {
    fn of(root: OperationRef<'c, 'a>) -> Option<Self> {
        // Loops around each other, and what they compute before the inner one.
        let (mut counters, mut parallel) = (Vec::new(), Vec::new());
        let (mut own, mut before) = (root, Vec::new());
        let (all, choice) = loop {
            let operands: Vec<Value> = own.operands().collect();
            let rank = match ir::name(own).as_str() {
                ops::scf::FOR => 1,
                ops::scf::PARALLEL => operands.len() / 3,
                _ => return None,
            };
            let bound = |n: usize| operands.iter().skip(n * rank).take(rank).copied();
            let is_plain = operands.len() == 3 * rank
                && own.result_count() == 0
                && bound(0).all(|v| constant(v) == Some(0))
                && bound(2).all(|v| constant(v) == Some(1))
                && bound(1).all(|v| !is_inside(v, root));
            if !is_plain {
                return None;
            }
            let arguments = ir::arguments(ir::first_block(own)?);
            let loops = arguments.into_iter().zip(bound(1));
            match ir::name(own).as_str() {
                ops::scf::FOR => counters.extend(loops),
                _ => parallel.extend(loops),
            }
            let all = body(own)?;
            let inner = only(&all)?;
            if ir::name(inner) == ops::scf::IF {
                break (all, inner);
            }
            own = inner;
            before.extend(all);
        };
        let is_alone = choice.result_count() == 0
            && choice.region(1).ok().is_none_or(|other| {
                use melior::ir::RegionLike;
                other.first_block().is_none()
            });
        if !is_alone {
            return None;
        }
        let stores = stores(&body(choice)?)?;
        // Some loops select, each with an array of its own; each iteration of the others has an element of its own.
        let mut selecting = Vec::new();
        let mut held_in = Vec::new();
        for (counter, count) in std::mem::take(&mut counters) {
            let mut own = stores.iter().filter(|store| {
                let value = store.operands().next();
                value.is_some_and(|value| converted(value) == counter)
            });
            match (own.next(), own.next()) {
                (Some(store), None) => {
                    selecting.push((counter, count));
                    held_in.push(*store);
                }
                (None, None) => counters.push((counter, count)),
                _ => return None,
            }
        }
        let first = held_in.first()?;
        let subscripts: Vec<Value> = first.operands().skip(2).collect();
        let is_alike = |store: &OperationRef<'c, 'a>| store.operands().skip(2).eq(subscripts.iter().copied());
        let is_subscript = |(own, _): &(Value<'c, 'a>, _)| subscripts.contains(own);
        let is_each = counters.iter().all(is_subscript) && held_in.iter().all(is_alike);
        if !is_each || held_in.len() != stores.len() {
            return None;
        }
        parallel.extend(counters);
        let arrays = held_in.iter().map(|store| store.operand(1).ok());
        let arrays = arrays.collect::<Option<Vec<Value>>>()?;
        let overlaps = |source: Value<'c, 'a>| arrays.iter().any(|own| may_overlap(source, *own));
        let is_read = |op: &OperationRef<'c, 'a>| {
            let is_load = ir::name(*op) == ops::memref::LOAD;
            is_load && ir::operand(*op).is_ok_and(overlaps)
        };
        if before.iter().any(is_read) {
            return None;
        }
        for (n, array) in arrays.iter().enumerate() {
            let mut others = arrays.iter().skip(n + 1);
            if !others.all(|other| !may_overlap(*array, *other)) {
                return None;
            }
        }
        let (compare, _) = ir::definition(ir::operand(choice).ok()?)?;
        let predicate = arith::predicate(compare)?;
        let is_strict = match ir::name(compare).as_str() {
            ops::arith::CMPF => STRICT_REALS.contains(&predicate),
            ops::arith::CMPI => STRICT_INTEGERS.contains(&predicate),
            _ => false,
        };
        if !is_strict {
            return None;
        }
        // The held position: the elements that the loops write.
        let mut held = vec![None; held_in.len()];
        for load in all.iter().filter(|op| ir::name(**op) == ops::memref::LOAD) {
            let is_held = |store: &OperationRef<'c, 'a>| load.operands().eq(store.operands().skip(1));
            let place = held_in.iter().position(is_held);
            match place.and_then(|n| held.get_mut(n)) {
                Some(slot) if slot.is_none() => *slot = Some(*load),
                _ if is_read(load) => return None,
                _ => {}
            }
        }
        let (iterations, counts) = parallel.into_iter().unzip();
        let selection = Selection {
            iterations,
            counts,
            counters: selecting,
            held: held.into_iter().collect::<Option<_>>()?,
            stores: held_in,
            compare,
            is_right: false,
        };
        let [left, right] = ir::both_operands(compare).ok()?;
        let is_fixed = |value: &Value<'c, 'a>| !selection.depends(*value, DEPTH);
        let is_invariant = subscripts.iter().chain(&arrays).all(is_fixed);
        if !is_invariant {
            return None;
        }
        if selection.is_same(left, right, DEPTH) {
            return Some(selection);
        }
        let is_right = selection.is_same(right, left, DEPTH);
        is_right.then_some(Selection { is_right, ..selection })
    }

    /// Whether a value depends on a counter or on the held position.
    fn depends(&self, value: Value<'c, 'a>, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return true;
        };
        if self.counters.iter().any(|(own, _)| *own == value) {
            return true;
        }
        match ir::definition(value) {
            Some((op, _)) if self.held.contains(&op) => true,
            Some((op, _)) => op.operands().any(|operand| self.depends(operand, depth)),
            None => false,
        }
    }

    /// Whether a value of the counters is the other one of the held position.
    fn is_same(&self, own: Value<'c, 'a>, other: Value<'c, 'a>, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let mut counters = self.counters.iter().zip(&self.held);
        if let Some((_, held)) = counters.find(|((counter, _), _)| *counter == own) {
            let position = ir::definition(converted(other));
            return position.is_some_and(|(op, _)| op == *held);
        }
        if own == other {
            return !self.depends(own, DEPTH);
        }
        let (Some((one, _)), Some((two, _))) = (ir::definition(own), ir::definition(other)) else {
            return false;
        };
        let is_alike = ir::name(one) == ir::name(two)
            && one.region_count() == 0
            && one.result_count() == 1
            && one.operand_count() == two.operand_count()
            && attributes::inherent(one) == attributes::inherent(two)
            && own.r#type() == other.r#type();
        is_alike && one.operands().zip(two.operands()).all(|(a, b)| self.is_same(a, b, depth))
    }
}

/// Writes the code of the threads.
struct Writer<'c, 'a> {
    lines: Lines,
    root: OperationRef<'c, 'a>,
    /// Values of the loops, by their names in the code.
    names: HashMap<ValueKey, String>,
    /// Values from outside, `%0`, `%1`, ….
    arguments: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Writer<'c, 'a> {
    /// A value with those of the loops replaced. `None` if it cannot be computed again.
    fn value(&mut self, value: Value<'c, 'a>, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        if let Some(name) = self.names.get(&ValueKey::of(value)) {
            return Some(name.clone());
        }
        let own = ir::definition(value).map(|(op, _)| op);
        if own.is_none() && is_inside(value, self.root) {
            return None;
        }
        let Some(op) = own.filter(|_| is_inside(value, self.root)) else {
            let position = self.arguments.iter().position(|own| *own == value);
            let position = position.unwrap_or_else(|| {
                self.arguments.push(value);
                self.arguments.len() - 1
            });
            return Some(format!("%{position}"));
        };
        if op.region_count() != 0 || op.result_count() != 1 {
            return None;
        }
        let mut operands = Vec::new();
        let mut types = Vec::new();
        for operand in op.operands() {
            operands.push(self.value(operand, depth)?);
            types.push(operand.r#type().to_string());
        }
        Some(self.lines.value(format!(
            "\"{}\"({}) {} : ({}) -> {}",
            ir::name(op),
            operands.join(", "),
            properties(&attributes::inherent(op)?),
            types.join(", "),
            value.r#type()
        )))
    }

    fn index(&mut self, value: i64) -> String {
        self.lines.value(format!("arith.constant {value} : index"))
    }

    fn binary(&mut self, op: &str, a: &str, b: &str) -> String {
        self.lines.value(format!("{op} {a}, {b} : index"))
    }

    /// Whether one value is better than another.
    fn is_better(&mut self, own: &Selection<'c, 'a>, one: &str, other: &str) -> Option<String> {
        let kind = own.compare.operands().next()?.r#type();
        let (a, b) = if own.is_right { (other, one) } else { (one, other) };
        Some(self.lines.value(format!(
            "\"{}\"({a}, {b}) {} : ({kind}, {kind}) -> i1",
            ir::name(own.compare),
            properties(&attributes::inherent(own.compare)?)
        )))
    }

    /// The launch, of blocks of `rows` results by `threads` threads each.
    fn write(&mut self, own: &Selection<'c, 'a>, threads: i64, rows: i64) -> Option<String> {
        let kind = own.compare.operands().next()?.r#type().to_string();
        let mut lengths = Vec::new();
        let mut count = self.index(1);
        for (_, length) in &own.counters {
            let length = self.value(*length, DEPTH)?;
            count = self.binary(ops::arith::MULI, &count, &length);
            lengths.push(length);
        }
        let mut counts = Vec::new();
        let mut total = self.index(1);
        for extent in &own.counts {
            let extent = self.value(*extent, DEPTH)?;
            total = self.binary(ops::arith::MULI, &total, &extent);
            counts.push(extent);
        }
        let (size, none) = (self.index(rows), self.index(0));
        let blocks = self.binary(ops::arith::CEILDIVUI, &total, &size);
        // Without positions nothing is read.
        let is_any = self.lines.value(format!("arith.cmpi ugt, {count}, {none} : index"));
        let tiles = format!("arith.select {is_any}, {blocks}, {none} : index");
        let tiles = self.lines.value(tiles);
        let (most, one) = (self.index(MOST_BLOCKS), self.index(1));
        let blocks = self.binary(ops::arith::MINUI, &tiles, &most);
        let blocks = self.binary(ops::arith::MAXUI, &blocks, &one);
        let block = self.index(threads * rows);
        let host = self.lines.take();
        self.threads(own, [&count, &total], [&counts, &lengths], [threads, rows])?;
        let body = self.lines.take();
        let [values, positions] = shared(threads * rows, &kind);
        Some(format!(
            "{host}gpu.launch blocks(%bx, %by, %bz) in (%gx = {blocks}, %gy = {one}, %gz = {one}) \
             threads(%thread, %ty, %tz) in (%sx = {block}, %sy = {one}, %sz = {one}) \
             workgroup(%values : {values}, %positions : {positions}) {{\n\
             scf.for %block = %bx to {tiles} step %gx {{\n{body}}}\ngpu.terminator\n}}"
        ))
    }

    /// The code of a thread for a block of results.
    fn threads(
        &mut self,
        own: &Selection<'c, 'a>,
        [count, total]: [&str; 2],
        [counts, lengths]: [&[String]; 2],
        [threads, rows]: [i64; 2],
    ) -> Option<()> {
        let kind = own.compare.operands().next()?.r#type().to_string();
        let [values, positions] = shared(threads * rows, &kind);
        let step = self.index(threads);
        let line = self.binary(ops::arith::DIVUI, "%thread", &step);
        let first = self.binary(ops::arith::REMUI, "%thread", &step);
        let size = self.index(rows);
        let result = self.binary(ops::arith::MULI, "%block", &size);
        let result = self.binary(ops::arith::ADDI, &result, &line);
        let is_inside = format!("arith.cmpi ult, {result}, {total} : index");
        let is_inside = self.lines.value(is_inside);
        let one = self.index(1);
        let last = self.binary(ops::arith::SUBI, total, &one);
        let mut rest = self.binary(ops::arith::MINUI, &result, &last);
        for (iteration, count) in own.iterations.iter().zip(counts).rev() {
            let position = self.binary(ops::arith::REMUI, &rest, count);
            rest = self.binary(ops::arith::DIVUI, &rest, count);
            self.names.insert(ValueKey::of(*iteration), position);
        }
        let [left, right] = ir::both_operands(own.compare).ok()?;
        let (candidate, current) = if own.is_right { (right, left) } else { (left, right) };
        let initial = self.value(current, DEPTH)?;
        let nothing = self.lines.value("arith.constant -1 : i64");
        let [found, counter, best, place] = std::array::from_fn(|_| self.lines.name());
        self.lines.line(format!(
            "{found}:2 = scf.for {counter} = {first} to {count} step {step} \
             iter_args({best} = {initial}, {place} = {nothing}) -> ({kind}, i64) {{"
        ));
        self.place(own, &counter, lengths);
        let value = self.value(candidate, DEPTH)?;
        let is_better = self.is_better(own, &value, &best)?;
        let lines = &mut self.lines;
        let word = lines.value(format!("arith.index_cast {counter} : index to i64"));
        let next = lines.value(format!("arith.select {is_better}, {value}, {best} : {kind}"));
        let word = lines.value(format!("arith.select {is_better}, {word}, {place} : i64"));
        lines.line(format!("scf.yield {next}, {word} : {kind}, i64\n}}"));
        lines.line(format!(
            "memref.store {found}#0, %values[%thread] : {values}\n\
             memref.store {found}#1, %positions[%thread] : {positions}\ngpu.barrier"
        ));
        let zero = lines.value("arith.constant 0 : i64");
        let mut half = threads / 2;
        while half > 0 {
            let far = self.index(half);
            let other = self.binary(ops::arith::ADDI, "%thread", &far);
            let lines = &mut self.lines;
            let is_one = lines.value(format!("arith.cmpi ult, {first}, {far} : index"));
            lines.line(format!("scf.if {is_one} {{"));
            let [a, b] =
                ["%thread", &other].map(|n| lines.value(format!("memref.load %values[{n}] : {values}")));
            let [at_a, at_b] = ["%thread", &other]
                .map(|n| lines.value(format!("memref.load %positions[{n}] : {positions}")));
            let is_some = lines.value(format!("arith.cmpi sge, {at_b}, {zero} : i64"));
            let is_only = lines.value(format!("arith.cmpi slt, {at_a}, {zero} : i64"));
            let is_first = lines.value(format!("arith.cmpi slt, {at_b}, {at_a} : i64"));
            let is_better = self.is_better(own, &b, &a)?;
            let is_worse = self.is_better(own, &a, &b)?;
            let lines = &mut self.lines;
            let no = lines.value("arith.constant false");
            // The first of equal ones.
            let equal = lines.value(format!("arith.select {is_worse}, {no}, {is_first} : i1"));
            let takes = lines.value(format!("arith.ori {is_better}, {equal} : i1"));
            let takes = lines.value(format!("arith.ori {is_only}, {takes} : i1"));
            let takes = lines.value(format!("arith.andi {is_some}, {takes} : i1"));
            let value = lines.value(format!("arith.select {takes}, {b}, {a} : {kind}"));
            let place = lines.value(format!("arith.select {takes}, {at_b}, {at_a} : i64"));
            lines.line(format!(
                "memref.store {value}, %values[%thread] : {values}\n\
                 memref.store {place}, %positions[%thread] : {positions}\n}}\ngpu.barrier"
            ));
            half /= 2;
        }
        let none = self.index(0);
        let lines = &mut self.lines;
        let is_first = lines.value(format!("arith.cmpi eq, {first}, {none} : index"));
        let found = lines.value(format!("memref.load %positions[%thread] : {positions}"));
        let is_some = lines.value(format!("arith.cmpi sge, {found}, {zero} : i64"));
        let writes = lines.value(format!("arith.andi {is_first}, {is_inside} : i1"));
        let writes = lines.value(format!("arith.andi {writes}, {is_some} : i1"));
        lines.line(format!("scf.if {writes} {{"));
        let position = lines.value(format!("arith.index_cast {found} : i64 to index"));
        self.place(own, &position, lengths);
        for store in &own.stores {
            let stored: Vec<Value> = store.operands().collect();
            let mut names = Vec::new();
            for value in &stored {
                names.push(self.value(*value, DEPTH)?);
            }
            let ([value, array], place) = names.split_first_chunk()?;
            let array_type = stored.get(1)?.r#type();
            self.lines.line(format!("memref.store {value}, {array}[{}] : {array_type}", place.join(", ")));
        }
        // The next results of the block begin when all are done.
        self.lines.line("}\ngpu.barrier");
        Some(())
    }

    /// Names the counters of a position by its number, the last counter fastest.
    fn place(&mut self, own: &Selection<'c, 'a>, number: &str, lengths: &[String]) {
        let mut rest = number.to_owned();
        for (n, ((counter, _), length)) in own.counters.iter().zip(lengths).enumerate().rev() {
            let mut position = rest.clone();
            if n > 0 {
                position = self.binary(ops::arith::REMUI, &rest, length);
                rest = self.binary(ops::arith::DIVUI, &rest, length);
            }
            self.names.insert(ValueKey::of(*counter), position);
        }
    }
}

/// The types of the arrays that the threads of a block share: a value and a position of each.
fn shared(threads: i64, kind: &str) -> [String; 2] {
    [kind, "i64"].map(|element| format!("memref<{threads}x{element}, #gpu.address_space<workgroup>>"))
}
