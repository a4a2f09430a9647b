// SPDX-License-Identifier: Apache-2.0
//! Computes values of payloads for the lanes of a vector: integers, and constants where all lanes are known.
//!
//! Integers have 32 bits. For sums of products of bytes, they have 8 bits, the lowest ones: sums, products and masks of them have the right
//! lowest 8 bits. Operations that need all bits of an operand are refused unless it is from −128 to 127.

mod fields;
mod levels;
mod reads;
mod shared;

use self::fields::Fields;
pub(super) use self::levels::{GROUP, Levels, Scaled};
use super::lines::Line;
use super::sources::{self, Sources};
use super::tables::{Table, Tables};
use crate::elementwise::fold_integers::decide;
use crate::ir::builder::arith::Integers;
use crate::ir::generic::LoopNest;
use crate::ir::linalg::index_of;
use crate::ir::operator::Operator;
use crate::ir::{self, Builder, ValueKey, attributes, ops, types, vector};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, Type, TypeLike, Value, ValueLike};
use skript_symbolic::Interval;
use std::collections::HashMap;

/// A value of a payload for all lanes.
#[derive(Clone)]
pub(super) struct Item<'c, 'a> {
    what: What<'c, 'a>,
    /// The values of an integer or bool.
    interval: Option<Interval>,
    /// The bits that determine the integer.
    fields: Option<Fields<'c, 'a>>,
    /// The vector that is this integer after a shift to the right.
    shifted: Option<(Value<'c, 'a>, i64)>,
    /// The words that contain the integer.
    word: Option<Word<'c, 'a>>,
    /// A vector of bytes with the lowest bits of the integer, and the number of these bits.
    low: Option<(Value<'c, 'a>, u32)>,
}

#[derive(Clone)]
enum What<'c, 'a> {
    /// An integer or bool that is known for each lane.
    Known(Vec<i64>),
    /// A scalar that all lanes share.
    Shared(Value<'c, 'a>),
    Vector(Value<'c, 'a>),
    /// The reals of a vector at the positions that the lowest bits of another vector contain.
    Table {
        reals: Value<'c, 'a>,
        positions: Value<'c, 'a>,
    },
}

/// Integers whose lowest bits are bits of a word that all lanes share.
#[derive(Clone)]
struct Word<'c, 'a> {
    scalar: Value<'c, 'a>,
    vector: Value<'c, 'a>,
    /// For each lane, the position of the lowest bit in the word.
    shifts: Vec<i64>,
    /// For each lane, the number of bits of the word that the integer begins with.
    bits: Vec<i64>,
}

/// The elements of a map at one position for each lane.
struct Frame<'s, 'c, 'a> {
    nest: &'s LoopNest<'c, 'a>,
    loops: Vec<Line>,
    known: HashMap<ValueKey, Item<'c, 'a>>,
}

/// Why a value is not computed.
pub(super) enum Failure {
    /// The operations are not supported.
    Unsupported,
    /// The kernel must be emitted again, with other tables and scales.
    Incomplete,
}

type Computed<'c, 'a> = Result<Item<'c, 'a>, Failure>;

/// Emits values at a point of a kernel. Values that several positions share are computed once.
pub(super) struct Values<'s, 'c, 'a> {
    pub(super) at: Builder<'c, 'a>,
    pub(super) lanes: usize,
    /// Whether the target has an instruction that permutes the lanes of a vector by another vector.
    pub(super) permutes: bool,
    /// The number of bits of integers: 8 or 32.
    bits: u32,
    sources: &'s Sources<'c, 'a>,
    /// Flat views of the arrays of the sources.
    views: HashMap<ValueKey, Value<'c, 'a>>,
    pub(super) tables: &'s mut Tables<'c, 'a>,
    table_views: &'s [Value<'c, 'a>],
    /// The variables of lines, and their extents.
    variables: Vec<Value<'c, 'a>>,
    extents: Vec<i64>,
    frames: Vec<Frame<'s, 'c, 'a>>,
    numbers: HashMap<(usize, Vec<Line>), usize>,
    bases: HashMap<(ValueKey, Vec<i64>), Value<'c, 'a>>,
    /// The array of the scales of all blocks, and the row of the tile whose vectors are computed.
    scales: Option<(Option<Value<'c, 'a>>, i64)>,
}

const WIDE: Interval = Interval { low: i32::MIN as i64, high: i32::MAX as i64 };
/// The integers of which the lowest 8 bits are computed.
const NARROW: Interval = Interval { low: -256, high: 511 };
const SIGNED_BYTE: Interval = Interval { low: i8::MIN as i64, high: i8::MAX as i64 };
const UNSIGNED_BYTE: Interval = Interval { low: 0, high: u8::MAX as i64 };

fn supported<T>(value: Option<T>) -> Result<T, Failure> {
    value.ok_or(Failure::Unsupported)
}

impl<'c, 'a> Item<'c, 'a> {
    fn known(lanes: Vec<i64>) -> Self {
        let interval = lanes.iter().map(|lane| Interval::point(*lane)).reduce(Interval::hull);
        Item::new(What::Known(lanes), interval)
    }

    fn new(what: What<'c, 'a>, interval: Option<Interval>) -> Self {
        Item { what, interval, fields: None, shifted: None, word: None, low: None }
    }

    fn point(&self) -> Option<i64> {
        match &self.what {
            What::Known(lanes) => uniform(lanes),
            _ => None,
        }
    }

    fn is_vector(&self) -> bool {
        match self.what {
            What::Known(_) => self.point().is_none(),
            What::Shared(_) => false,
            What::Vector(_) | What::Table { .. } => true,
        }
    }
}

impl<'s, 'c: 'a, 'a> Values<'s, 'c, 'a> {
    pub(super) fn new(
        at: Builder<'c, 'a>,
        (lanes, permutes): (usize, bool),
        (sources, views): (&'s Sources<'c, 'a>, HashMap<ValueKey, Value<'c, 'a>>),
        (tables, table_views): (&'s mut Tables<'c, 'a>, &'s [Value<'c, 'a>]),
        (variables, extents): (Vec<Value<'c, 'a>>, Vec<i64>),
    ) -> Self {
        Values {
            at,
            lanes,
            permutes,
            bits: 32,
            sources,
            views,
            tables,
            table_views,
            variables,
            extents,
            frames: Vec::new(),
            numbers: HashMap::new(),
            bases: HashMap::new(),
            scales: None,
        }
    }

    /// Computes the lowest 8 bits of integers.
    pub(super) fn in_bytes(mut self) -> Self {
        self.bits = 8;
        self.permutes = false;
        self
    }

    /// Whether integers have all bits.
    fn is_wide(&self) -> bool {
        self.bits == 32
    }

    /// The type of integers.
    fn word(&self) -> Type<'c> {
        types::int(self.at.context, self.bits)
    }

    /// The integer with the type of the lanes.
    fn wrapped(&self, integer: i64) -> i64 {
        let unused = i64::BITS - self.bits;
        integer << unused >> unused
    }

    /// Refuses an integer that the bits of the lanes do not represent as a signed one.
    fn exact(&self, interval: Interval) -> Result<(), Failure> {
        supported((self.is_wide() || is_within(interval, SIGNED_BYTE)).then_some(()))
    }

    /// Reads scales from an array that the kernel writes before.
    pub(super) fn with_scales(mut self, array: Option<Value<'c, 'a>>) -> Self {
        self.scales = Some((array, 0));
        self
    }

    /// A vector of the elements of a buffer at flat positions, in a row of the tile.
    pub(super) fn vector_at(
        &mut self,
        buffer: Value<'c, 'a>,
        row: i64,
        line: &Line,
    ) -> Result<Value<'c, 'a>, Failure> {
        self.scales = self.scales.map(|(array, _)| (array, row));
        let item = self.element(buffer, line)?;
        let element = types::element_or_self(buffer.r#type());
        Ok(self.emitted(&item, element, true))
    }

    /// The elements of a buffer at flat positions.
    fn element(&mut self, buffer: Value<'c, 'a>, line: &Line) -> Computed<'c, 'a> {
        let sources = self.sources;
        let Some(nest) = sources.map(buffer) else {
            return self.load(buffer, line);
        };
        let shape = supported(nest.static_extents())?;
        let loops = supported(line.digits(shape, &self.extents))?;
        let frame = self.frame(nest, loops);
        self.value(frame, *supported(nest.yielded.first())?)
    }

    /// The number of the frame of a map at a position.
    fn frame(&mut self, nest: &'s LoopNest<'c, 'a>, loops: Vec<Line>) -> usize {
        let key = (ir::key(nest.op), loops);
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        self.frames.push(Frame { nest, loops: key.1.clone(), known: HashMap::new() });
        self.numbers.insert(key, self.frames.len() - 1);
        self.frames.len() - 1
    }

    fn value(&mut self, frame: usize, value: Value<'c, 'a>) -> Computed<'c, 'a> {
        let key = ValueKey::of(value);
        if let Some(item) = self.frames[frame].known.get(&key) {
            return Ok(item.clone());
        }
        let item = match self.scale(frame, value) {
            Some(scale) => scale,
            None => self.computed(frame, value)?,
        };
        let range = if self.is_wide() { WIDE } else { NARROW };
        supported(item.interval.is_none_or(|interval| is_within(interval, range)).then_some(()))?;
        self.frames[frame].known.insert(key, item.clone());
        Ok(item)
    }

    fn computed(&mut self, frame: usize, value: Value<'c, 'a>) -> Computed<'c, 'a> {
        let nest = self.frames[frame].nest;
        if let Some(constant) = ir::integer(value) {
            return Ok(Item::known(vec![constant; self.lanes]));
        }
        if let Some(constant) = ir::real(value) {
            return Ok(Item::new(What::Shared(self.at.real(constant, value.r#type())), None));
        }
        if let Some(position) = nest.position(value) {
            let line = supported(self.position(frame, position))?;
            return self.element(supported(nest.operands.get(position))?.value, &line);
        }
        let (op, _) = supported(ir::definition(value))?;
        if let Some(l) = index_of(op) {
            let line = supported(self.frames[frame].loops.get(l))?.clone();
            return self.index(&line);
        }
        if !nest.payload.contains(&op) {
            return Err(Failure::Unsupported);
        }
        if let Some(item) = self.tabulated(frame, value)? {
            return Ok(item);
        }
        self.operation(frame, op)
    }

    /// The flat position of an operand's element in its buffer.
    fn position(&self, frame: usize, operand: usize) -> Option<Line> {
        let Frame { nest, loops, .. } = &self.frames[frame];
        let operand = nest.operands.get(operand)?;
        let (strides, offset) = sources::layout(operand.value)?;
        let zero = Line::zero(self.variables.len(), self.lanes).plus_constant(offset)?;
        let subscripts = operand.forms.iter().map(|form| Line::of_form(form, loops, &zero));
        subscripts.zip(strides).try_fold(zero.clone(), |sum, (line, stride)| sum.plus(&line?, stride))
    }

    fn index(&mut self, line: &Line) -> Computed<'c, 'a> {
        if line.is_constant() {
            return Ok(Item::known(line.lanes.clone()));
        }
        let [low, high] = supported(line.bounds(&self.extents).filter(|_| line.is_uniform()))?;
        let index = self.address(line, line.lanes[0]);
        let index = self.at.index_cast(index, self.word());
        Ok(Item::new(What::Shared(index), Some(Interval { low, high })))
    }

    /// The value of a line whose lanes have the constant `first`.
    pub(super) fn address(&mut self, line: &Line, first: i64) -> Value<'c, 'a> {
        let at = self.at;
        let mut sum: Option<Value> = None;
        for (factor, variable) in line.factors.iter().zip(&self.variables) {
            if *factor != 0 {
                let key = (ValueKey::of(*variable), vec![*factor]);
                let product = self.bases.entry(key).or_insert_with(|| at.muli(*variable, at.idx(*factor)));
                sum = Some(match sum {
                    Some(sum) => at.addi(sum, *product),
                    None => *product,
                });
            }
        }
        let first = at.idx(first);
        sum.map_or(first, |sum| at.addi(sum, first))
    }

    fn kind(&self, element: Type<'c>) -> Type<'c> {
        vector::of(&[ir::signed(self.lanes)], element)
    }

    /// The scalar or vector of an item; `element` is the type of a bool or real.
    fn emitted(&self, item: &Item<'c, 'a>, element: Type<'c>, wide: bool) -> Value<'c, 'a> {
        let is_bool = types::bits(element) == Some(1);
        let element = if element.is_float() || is_bool { element } else { self.word() };
        match &item.what {
            What::Known(lanes) => match item.point().map(|point| self.wrapped(point)) {
                Some(point) if wide => self.at.int(point, self.kind(element)),
                Some(point) => self.at.int(point, element),
                None => {
                    let attribute = |lane: &i64| IntegerAttribute::new(element, self.wrapped(*lane)).into();
                    let lanes: Vec<Attribute> = lanes.iter().map(attribute).collect();
                    self.at.literal(attributes::listed(self.kind(element), &lanes))
                }
            },
            What::Shared(value) if wide => self.at.broadcast(*value, ir::signed(self.lanes)),
            What::Shared(value) | What::Vector(value) => *value,
            What::Table { reals, positions } => self.permuted(*reals, *positions),
        }
    }

    /// The load of a value from a table of all its values, if it is a real that few shared bytes determine.
    fn tabulated(&mut self, frame: usize, value: Value<'c, 'a>) -> Result<Option<Item<'c, 'a>>, Failure> {
        let nest = self.frames[frame].nest;
        let Some((table, leaves)) = Table::new(nest, value, self.sources) else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        for leaf in leaves {
            let line = supported(self.position(frame, leaf))?;
            if !line.is_uniform() {
                return Ok(None);
            }
            bytes.push(self.element(nest.operands[leaf].value, &line)?);
        }
        let Some(view) = self.table_views.get(self.tables.number(table)).copied() else {
            return Err(Failure::Incomplete);
        };
        let (at, word) = (self.at, types::i32(self.at.context));
        let index = bytes.iter().enumerate().fold(None, |sum: Option<Value>, (n, byte)| {
            let byte = at.andi(self.emitted(byte, word, false), at.int(255, word));
            let part = if n == 0 { byte } else { at.shli(byte, at.int(8 * ir::signed(n), word)) };
            Some(sum.map_or(part, |sum| at.ori(sum, part)))
        });
        let index = at.convert(ops::arith::INDEX_CASTUI, supported(index)?, at.index_type());
        Ok(Some(Item::new(What::Shared(at.load(view, &[index])), None)))
    }

    fn operation(&mut self, frame: usize, op: OperationRef<'c, 'a>) -> Computed<'c, 'a> {
        let name = ir::name(op);
        let operands: Vec<Value> = op.operands().collect();
        let result: Type = supported(op.result(0).ok())?.r#type();
        match (name.as_str(), operands.as_slice()) {
            (ops::memref::LOAD, [table, index]) => {
                let index = self.value(frame, *index)?;
                self.lookup(*table, &index)
            }
            (ops::arith::SELECT, [condition, then, otherwise]) => {
                if let Some((value, modulus)) = remainder_of(op) {
                    let value = self.value(frame, value)?;
                    return self.masked(&value, modulus - 1);
                }
                let condition = self.value(frame, *condition)?;
                match condition.point() {
                    Some(0) => return self.value(frame, *otherwise),
                    Some(_) => return self.value(frame, *then),
                    None => {}
                }
                let (then, otherwise) = (self.value(frame, *then)?, self.value(frame, *otherwise)?);
                self.selected(&condition, &then, &otherwise, result)
            }
            (ops::arith::CMPI, [x, y]) => {
                let (x, y) = (self.value(frame, *x)?, self.value(frame, *y)?);
                let predicate = supported(ir::arith::predicate(op))?;
                self.compared(op, predicate, &x, &y)
            }
            (ops::arith::INDEX_CAST | ops::arith::EXTSI, [x]) => {
                let is_flag = types::bits(x.r#type()) == Some(1);
                let x = self.value(frame, *x)?;
                supported((!is_flag).then_some(x))
            }
            (ops::arith::SITOFP, [x]) if result.is_f32() => {
                let x = self.value(frame, *x)?;
                Ok(self.real(&x, result))
            }
            (ops::arith::ANDI | ops::arith::ORI, [x, y]) if types::bits(result) == Some(1) => {
                let (x, y) = (self.value(frame, *x)?, self.value(frame, *y)?);
                self.both_or_one(&name, &x, &y)
            }
            (_, [x, y]) if !result.is_float() && types::bits(result) != Some(1) => {
                let (x, y) = (self.value(frame, *x)?, self.value(frame, *y)?);
                self.integer(&name, &x, &y)
            }
            (_, operands) if name.starts_with("arith.") && result.is_f32() => {
                self.applied(frame, op, operands, result)
            }
            _ => Err(Failure::Unsupported),
        }
    }

    /// The conjunction or disjunction of bools.
    fn both_or_one(&self, name: &str, x: &Item<'c, 'a>, y: &Item<'c, 'a>) -> Computed<'c, 'a> {
        let decisive = i64::from(name == ops::arith::ORI);
        match (x.point(), y.point()) {
            (Some(point), _) | (_, Some(point)) if point == decisive => {
                return Ok(Item::known(vec![decisive; self.lanes]));
            }
            (Some(_), _) => return Ok(y.clone()),
            (_, Some(_)) => return Ok(x.clone()),
            (None, None) => {}
        }
        let (flag, wide) = (types::flag(self.at.context), x.is_vector() || y.is_vector());
        let operands = [self.emitted(x, flag, wide), self.emitted(y, flag, wide)];
        let value = self.at.make(name, &operands, &[], operands[0].r#type());
        let interval = Some(Interval { low: 0, high: 1 });
        Ok(Item::new(if wide { What::Vector(value) } else { What::Shared(value) }, interval))
    }

    /// Applies an operation on reals.
    fn applied(
        &mut self,
        frame: usize,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        result: Type<'c>,
    ) -> Computed<'c, 'a> {
        let mut items = Vec::new();
        for operand in operands {
            if !operand.r#type().is_f32() {
                return Err(Failure::Unsupported);
            }
            items.push(self.value(frame, *operand)?);
        }
        if let Some(item) = self.applied_to_table(op, &items, result) {
            return Ok(item);
        }
        let wide = items.iter().any(Item::is_vector);
        let operands: Vec<Value> = items.iter().map(|item| self.emitted(item, result, wide)).collect();
        let kind = if wide { self.kind(result) } else { result };
        let value = Operator::from_op(op).apply(&self.at, &operands, kind);
        Ok(Item::new(if wide { What::Vector(value) } else { What::Shared(value) }, None))
    }

    fn selected(
        &self,
        condition: &Item<'c, 'a>,
        then: &Item<'c, 'a>,
        otherwise: &Item<'c, 'a>,
        element: Type<'c>,
    ) -> Computed<'c, 'a> {
        let interval = then.interval.zip(otherwise.interval).map(|(x, y)| x.hull(y));
        if let (What::Known(condition), What::Known(then), What::Known(otherwise)) =
            (&condition.what, &then.what, &otherwise.what)
        {
            let lanes = condition.iter().zip(then.iter().zip(otherwise));
            return Ok(Item::known(lanes.map(|(holds, (x, y))| if *holds == 0 { *y } else { *x }).collect()));
        }
        let wide = [condition, then, otherwise].iter().any(|item| item.is_vector());
        let condition = self.emitted(condition, types::flag(self.at.context), wide);
        let values = [then, otherwise].map(|item| self.emitted(item, element, wide));
        let value = self.at.select(condition, values[0], values[1]);
        let mut selected = Item::new(if wide { What::Vector(value) } else { What::Shared(value) }, interval);
        if then.low.is_some() || otherwise.low.is_some() {
            let both = self.low_bits(then).zip(self.low_bits(otherwise));
            selected.low =
                both.map(|((x, of_x), (y, of_y))| (self.at.select(condition, x, y), of_x.min(of_y)));
        }
        Ok(selected)
    }

    /// A vector of bytes with the lowest bits of an integer, and their number.
    fn low_bits(&self, x: &Item<'c, 'a>) -> Option<(Value<'c, 'a>, u32)> {
        match x.what {
            _ if self.is_wide() || x.interval.is_none() => None,
            What::Vector(vector) => x.low.or(Some((vector, self.bits))),
            _ => None,
        }
    }

    fn compared(
        &self,
        op: OperationRef<'c, 'a>,
        predicate: i64,
        x: &Item<'c, 'a>,
        y: &Item<'c, 'a>,
    ) -> Computed<'c, 'a> {
        let intervals = x.interval.zip(y.interval);
        if let Some(holds) = intervals.and_then(|(x, y)| decide(predicate, x, y)) {
            return Ok(Item::known(vec![holds.into(); self.lanes]));
        }
        if let (What::Known(x), What::Known(y)) = (&x.what, &y.what) {
            let holds = |(x, y): (&i64, &i64)| decide(predicate, Interval::point(*x), Interval::point(*y));
            let lanes: Option<Vec<bool>> = x.iter().zip(y).map(holds).collect();
            return Ok(Item::known(supported(lanes)?.into_iter().map(i64::from).collect()));
        }
        for interval in [x.interval, y.interval].into_iter().flatten() {
            self.exact(interval)?;
        }
        let wide = x.is_vector() || y.is_vector();
        let word = self.word();
        let operands = [self.emitted(x, word, wide), self.emitted(y, word, wide)];
        let flag = types::flag(self.at.context);
        let kind = if wide { self.kind(flag) } else { flag };
        let value = Operator::from_op(op).apply(&self.at, &operands, kind);
        let interval = Some(Interval { low: 0, high: 1 });
        Ok(Item::new(if wide { What::Vector(value) } else { What::Shared(value) }, interval))
    }

    /// The lowest bits of an integer, as a natural number.
    fn masked(&self, x: &Item<'c, 'a>, mask: i64) -> Computed<'c, 'a> {
        if let What::Known(lanes) = &x.what {
            return Ok(Item::known(lanes.iter().map(|lane| lane & mask).collect()));
        }
        if x.interval.is_some_and(|interval| interval.low >= 0 && interval.high <= mask) {
            return Ok(x.clone());
        }
        let count = i64::from(mask.count_ones());
        let masks = Item::known(vec![mask; self.lanes]);
        let word = x.word.as_ref().filter(|word| word.bits.iter().all(|bits| *bits >= count));
        let mut masked = match word.filter(|_| x.is_vector()) {
            Some(word) => {
                let vector = Item::new(What::Vector(word.vector), None);
                let shifted = self.emit(ops::arith::SHRUI, &vector, &Item::known(word.shifts.clone()))?;
                self.emit(ops::arith::ANDI, &shifted, &masks)?
            }
            None => match self.low_bits(x).filter(|(_, bits)| mask < 1 << bits) {
                Some((low, _)) => self.emit(ops::arith::ANDI, &Item::new(What::Vector(low), None), &masks)?,
                None => self.emit(ops::arith::ANDI, x, &masks)?,
            },
        };
        masked.interval = Some(Interval { low: 0, high: mask });
        masked.fields = self.bits(x, word, mask.count_ones()).map(Fields::from);
        Ok(masked)
    }

    /// An operation on integers.
    fn integer(&self, name: &str, x: &Item<'c, 'a>, y: &Item<'c, 'a>) -> Computed<'c, 'a> {
        let (of_x, of_y) = (supported(x.interval)?, supported(y.interval)?);
        if let (What::Known(x), What::Known(y)) = (&x.what, &y.what) {
            let lanes = x.iter().zip(y).map(|(x, y)| evaluated(name, *x, *y));
            return Ok(Item::known(supported(lanes.collect::<Option<_>>())?));
        }
        let fields = self.combined_fields(name, x, y);
        let interval = match (name, y.point()) {
            (ops::arith::ADDI | ops::arith::SUBI | ops::arith::SHRSI | ops::arith::SHLI, Some(0)) => {
                return Ok(x.clone());
            }
            (ops::arith::ADDI, _) if x.point() == Some(0) => return Ok(y.clone()),
            (ops::arith::MULI | ops::arith::FLOORDIVSI | ops::arith::DIVSI, Some(1)) => return Ok(x.clone()),
            (ops::arith::MAXSI, _) if of_x.low >= of_y.high => return Ok(x.clone()),
            (ops::arith::MINSI, _) if of_x.high <= of_y.low => return Ok(x.clone()),
            (ops::arith::REMSI, Some(power)) if of_x.low >= 0 && power > 0 && power.count_ones() == 1 => {
                return self.masked(x, power - 1);
            }
            (ops::arith::ANDI, Some(mask)) if mask > 0 && mask & (mask + 1) == 0 => {
                return self.masked(x, mask);
            }
            (ops::arith::ADDI, _) => of_x.plus(of_y),
            (ops::arith::SUBI, _) => of_x.minus(of_y),
            (ops::arith::MULI, _) => of_x.times(of_y),
            (ops::arith::MAXSI | ops::arith::MINSI, _) => {
                self.exact(of_x)?;
                self.exact(of_y)?;
                Some(if name == ops::arith::MAXSI { of_x.max(of_y) } else { of_x.min(of_y) })
            }
            (ops::arith::SHRSI, _) => {
                let quotient = supported(shifts(y).and_then(|powers| of_x.quotient(powers)))?;
                if let What::Known(exponents) = &y.what {
                    return self.shifted(x, exponents.clone(), quotient);
                }
                self.exact(of_x)?;
                supported((of_y.high < self.bits.into()).then_some(()))?;
                Some(quotient)
            }
            (ops::arith::SHLI, _) => {
                let is_defined = of_y.high < self.bits.into();
                shifts(y).filter(|_| is_defined).and_then(|powers| of_x.times(powers))
            }
            (ops::arith::FLOORDIVSI | ops::arith::DIVSI, _) => {
                let is_floor = name == ops::arith::FLOORDIVSI || of_x.low >= 0;
                let quotient = of_x.quotient(of_y).filter(|_| is_floor && of_y.low > 0);
                if let (What::Known(divisors), Some(quotient)) = (&y.what, quotient)
                    && let Some(exponents) = exponents(divisors)
                {
                    return self.shifted(x, exponents, quotient);
                }
                self.exact(of_x)?;
                self.exact(of_y)?;
                let mut divided = self.emit(ops::arith::DIVSI, x, y)?;
                divided.interval = Some(supported(quotient.filter(|_| of_x.low >= 0))?);
                return Ok(divided);
            }
            (ops::arith::REMSI, _) if of_x.low >= 0 && of_y.low > 0 => {
                self.exact(of_x)?;
                self.exact(of_y)?;
                Some(Interval { low: 0, high: of_x.high.min(of_y.high - 1) })
            }
            (ops::arith::ANDI | ops::arith::ORI, _) if of_x.low >= 0 && of_y.low >= 0 => {
                let bits = i64::BITS - (of_x.high | of_y.high).leading_zeros();
                Some(Interval { low: 0, high: (1 << bits) - 1 })
            }
            _ => None,
        };
        let mut result = self.emit(name, x, y)?;
        result.interval = Some(supported(interval)?);
        result.fields = fields;
        Ok(result)
    }

    /// The quotient by powers of two.
    fn shifted(&self, x: &Item<'c, 'a>, exponents: Vec<i64>, quotient: Interval) -> Computed<'c, 'a> {
        // LLVM does not define shifts by all bits or more.
        supported(exponents.iter().all(|by| *by < self.bits.into()).then_some(()))?;
        let is_unsigned = !self.is_wide() && x.interval.is_some_and(|x| is_within(x, UNSIGNED_BYTE));
        if !is_unsigned {
            self.exact(supported(x.interval)?)?;
        }
        let name = if is_unsigned { ops::arith::SHRUI } else { ops::arith::SHRSI };
        let by = Item::known(exponents.clone());
        let mut shifted = self.emit(name, x, &by)?;
        if let Some((low, bits)) = self.low_bits(x)
            && let Some(rest) =
                exponents.iter().max().and_then(|most| bits.checked_sub(u32::try_from(*most).ok()?))
        {
            let low = self.at.shrui(low, self.emitted(&by, self.word(), true));
            shifted.low = Some((low, rest));
        }
        shifted.interval = Some(quotient);
        shifted.word = x.word.clone().map(|word| {
            let moved = |lanes: Vec<i64>, by: i64| {
                lanes.into_iter().zip(&exponents).map(|(x, e)| x + by * e).collect()
            };
            Word { shifts: moved(word.shifts, 1), bits: moved(word.bits, -1), ..word }
        });
        if let (What::Vector(vector), Some(by)) = (&x.what, uniform(&exponents)) {
            let (vector, before) = x.shifted.unwrap_or((*vector, 0));
            shifted.shifted = Some((vector, before + by));
        }
        Ok(shifted)
    }

    fn emit(&self, name: &str, x: &Item<'c, 'a>, y: &Item<'c, 'a>) -> Computed<'c, 'a> {
        let wide = x.is_vector() || y.is_vector();
        let word = self.word();
        let operands = [self.emitted(x, word, wide), self.emitted(y, word, wide)];
        let value = self.at.make(name, &operands, &[], operands[0].r#type());
        Ok(Item::new(if wide { What::Vector(value) } else { What::Shared(value) }, None))
    }

    /// The integer as a real.
    fn real(&self, x: &Item<'c, 'a>, element: Type<'c>) -> Item<'c, 'a> {
        if let Some(item) = x.fields.as_ref().and_then(|fields| self.real_of_fields(fields, element)) {
            return item;
        }
        let wide = x.is_vector();
        let value = self.emitted(x, types::i32(self.at.context), wide);
        let value = self.at.convert(ops::arith::SITOFP, value, element);
        Item::new(if wide { What::Vector(value) } else { What::Shared(value) }, None)
    }
}

fn is_within(inner: Interval, outer: Interval) -> bool {
    outer.low <= inner.low && inner.high <= outer.high
}

/// The value that all elements have.
fn uniform(values: &[i64]) -> Option<i64> {
    values.first().copied().filter(|first| values.iter().all(|value| value == first))
}

/// The powers of two by which a shift multiplies or divides.
fn shifts(y: &Item) -> Option<Interval> {
    let interval = y.interval.filter(|interval| interval.low >= 0 && interval.high < 31)?;
    Some(Interval { low: 1 << interval.low, high: 1 << interval.high })
}

/// The exponents of powers of two.
fn exponents(powers: &[i64]) -> Option<Vec<i64>> {
    let exponent =
        |power: &i64| (*power > 0 && power.count_ones() == 1).then(|| power.trailing_zeros().into());
    powers.iter().map(exponent).collect()
}

/// The result of an operation on 64-bit integers; `None` if it is not known or wraps.
fn evaluated(name: &str, x: i64, y: i64) -> Option<i64> {
    match name {
        ops::arith::ADDI => x.checked_add(y),
        ops::arith::SUBI => x.checked_sub(y),
        ops::arith::MULI => x.checked_mul(y),
        ops::arith::MAXSI => Some(x.max(y)),
        ops::arith::MINSI => Some(x.min(y)),
        ops::arith::ANDI => Some(x & y),
        ops::arith::ORI => Some(x | y),
        ops::arith::DIVSI => x.checked_div(y),
        ops::arith::REMSI => x.checked_rem(y),
        ops::arith::FLOORDIVSI if y > 0 => Some(x.div_euclid(y)),
        ops::math::IPOWI => x.checked_pow(u32::try_from(y).ok()?),
        ops::arith::SHLI if (0..31).contains(&y) => x.checked_mul(1 << y),
        ops::arith::SHRSI if (0..63).contains(&y) => Some(x >> y),
        _ => None,
    }
}

/// The dividend and the divisor of a remainder with the sign of the divisor, which is a power of two:
/// `r ≠ 0 and r < 0 ? r + divisor : r` with `r = dividend rem divisor`.
fn remainder_of<'c: 'a, 'a>(select: OperationRef<'c, 'a>) -> Option<(Value<'c, 'a>, i64)> {
    let operand = |op: OperationRef<'c, 'a>, n: usize| ir::operand_at(op, n);
    let named = |value: Value<'c, 'a>, name: &str| {
        ir::definition(value).map(|(op, _)| op).filter(|op| ir::name(*op) == name)
    };
    let value = operand(select, 2)?;
    let remainder = named(value, ops::arith::REMSI)?;
    let divisor = ir::integer(operand(remainder, 1)?).filter(|n| *n > 1 && n.count_ones() == 1)?;
    let sum = named(operand(select, 1)?, ops::arith::ADDI)?;
    let both = named(operand(select, 0)?, ops::arith::ANDI)?;
    let test = |n: usize, predicate: Integers| {
        let test = named(operand(both, n)?, ops::arith::CMPI)?;
        let is_zero = operand(test, 0)? == value && ir::integer(operand(test, 1)?) == Some(0);
        (is_zero && ir::arith::predicate(test) == Some(predicate as i64)).then_some(())
    };
    test(0, Integers::NotEqual)?;
    test(1, Integers::SignedLess)?;
    let is_sum = operand(sum, 0)? == value && ir::integer(operand(sum, 1)?) == Some(divisor);
    Some((operand(remainder, 0)?, divisor)).filter(|_| is_sum)
}
