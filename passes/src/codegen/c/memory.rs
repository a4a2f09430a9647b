// SPDX-License-Identifier: Apache-2.0
//! Reads, writes, copies, and views of arrays.

use super::array::{Array, Number};
use super::element::{Element, literals};
use super::expression::{Expression, level};
use super::range::EXTENT;
use super::scalar::index;
use super::writer::{Held, Writer, refused};
use crate::error::CodegenError;
use crate::ir::memref::Copy;
use crate::ir::shape::{Dim, dynamic_size, reassociation};
use crate::ir::{self, dense, maps, memref, ops, typed, types, walk};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::MemRefType;
use melior::ir::{OperationRef, ShapedTypeLike, Value, ValueLike};

impl<'c: 'a, 'a> Writer<'c, 'a> {
    /// Defines the element that `memref.load` reads.
    pub(super) fn load(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let operands: Vec<Value> = op.operands().collect();
        let (array, indices) = operands.split_first().ok_or_else(|| refused(op, "has no array"))?;
        let place = self.place(*array, indices)?;
        self.define(op.result(0)?.into(), place)
    }

    /// The element of an array.
    fn place(&mut self, array: Value<'c, 'a>, indices: &[Value<'c, 'a>]) -> Result<Expression, CodegenError> {
        let array = self.array(array)?;
        let indices: Vec<_> = indices.iter().map(|index| self.take(*index)).collect::<Result<_, _>>()?;
        Ok(array.element_at(&indices))
    }

    /// Writes `memref.store`.
    pub(super) fn store(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let operands: Vec<Value> = op.operands().collect();
        let [value, array, ref indices @ ..] = *operands.as_slice() else {
            return Err(refused(op, "has no array"));
        };
        let value = self.take(value)?;
        let place = self.place(array, indices)?;
        self.flush()?;
        self.line(value.assigned_to(&place.text));
        Ok(())
    }

    /// Writes `memref.copy`.
    pub(super) fn copy(&mut self, copy: Copy<'c, 'a>) -> Result<(), CodegenError> {
        let (source, target) = (copy.source()?, copy.target()?);
        if source == target {
            return Ok(());
        }
        let (from, to) = (self.array(source)?, self.array(target)?);
        self.flush()?;
        if from.is_contiguous() && to.is_contiguous() {
            let mut count = Expression::literal("1".to_owned());
            for extent in &to.extents {
                count = match (count.integer(), extent) {
                    (Some(1), _) => extent.expression(),
                    (Some(count), Number::Known(extent)) => index(count.saturating_mul(*extent)),
                    _ => Expression::binary(level::PRODUCT, "*", &count, &extent.expression()),
                };
            }
            let count = Expression::cast("size_t", &count);
            let size = Expression::primary(format!("sizeof *{}", to.pointer));
            let bytes = Expression::binary(level::PRODUCT, "*", &count, &size);
            self.line(format!("memcpy({}, {}, {});", to.pointer, from.pointer, bytes.text));
            return Ok(());
        }
        let depth = self.depth;
        let mut indices = Vec::new();
        for extent in &to.extents {
            let name = self.names.loop_variable(self.depth - 1);
            let extent = extent.expression().text;
            self.line(format!("for (int64_t {name} = 0; {name} < {extent}; {name}++) {{"));
            indices.push(Expression::primary(name));
            self.depth += 1;
        }
        self.line(format!("{} = {};", to.element_at(&indices).text, from.element_at(&indices).text));
        while self.depth > depth {
            self.depth -= 1;
            self.line("}");
        }
        Ok(())
    }

    /// Defines the extent that `memref.dim` returns.
    pub(super) fn dim(&mut self, dim: Dim<'c, 'a>) -> Result<(), CodegenError> {
        let array = self.array(dim.source()?)?;
        let extent = dim.dimension().and_then(|dimension| array.extents.get(dimension));
        let extent = extent.ok_or_else(|| refused(dim.op(), "of a dimension that is not constant"))?;
        let result = dim.op().result(0)?.into();
        self.ranges.set(result, EXTENT);
        self.alias(result, extent.expression());
        Ok(())
    }

    /// The extents of the result of an operation that lists its dynamic sizes.
    fn sizes(&mut self, op: OperationRef<'c, 'a>) -> Result<Vec<Number>, CodegenError> {
        let result: Value = op.result(0)?.into();
        let mut numbers = Vec::new();
        let mut dynamic = 0;
        for extent in memref::extents(result.r#type()) {
            if extent != types::DYNAMIC {
                numbers.push(Number::Known(extent));
                continue;
            }
            let size = dynamic_size(op, dynamic).ok_or_else(|| refused(op, "has no size"))?;
            numbers.push(self.number(size)?);
            dynamic += 1;
        }
        Ok(numbers)
    }

    /// A contiguous array with these extents.
    pub(super) fn contiguous(
        &mut self,
        value: Value<'c, 'a>,
        pointer: String,
        extents: Vec<Number>,
    ) -> Result<Array, CodegenError> {
        let element = Element::new(MemRefType::try_from(value.r#type())?.element())?;
        let strides = Array::contiguous(&extents, |a, b| self.product(a, b));
        Ok(Array { element, pointer, extents, strides, is_constant: false })
    }

    /// Writes a view of bytes: an array in the workspace, or an argument.
    pub(super) fn view(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let operands: Vec<Value> = op.operands().collect();
        let [bytes, offset, ..] = *operands.as_slice() else {
            return Err(refused(op, "has no offset"));
        };
        let extents = self.sizes(op)?;
        let result: Value = op.result(0)?.into();
        let source = self.array(bytes)?;
        if source.pointer != super::ARENA {
            // An argument, of which a view has all elements.
            if self.take(offset)?.integer() != Some(0) || !source.extents.is_empty() {
                return Err(refused(op, "of a part of an array has no form in C"));
            }
            let array = self.contiguous(result, source.pointer, extents)?;
            self.hold(result, Held::Array(Array { is_constant: source.is_constant, ..array }));
            return Ok(());
        }
        let offset = self.take(offset)?.text;
        let name = self.buffer_name(op);
        let array = self.contiguous(result, name.clone(), extents)?;
        let r#type = array.element.name();
        let place =
            if offset == "0" { super::ARENA.to_owned() } else { format!("({} + {offset})", super::ARENA) };
        self.declare(&name, format!("{type} *const {name} = ({type} *){place};"));
        self.hold(result, Held::Array(array));
        Ok(())
    }

    /// The name of an array in the workspace: that of the operator whose result it contains.
    fn buffer_name(&mut self, op: OperationRef<'c, 'a>) -> String {
        let trace = ir::location::trace(op.location());
        let operator = trace.last().and_then(|call| call.rsplit_once(": "));
        let name = operator.and_then(|(_, name)| name.rsplit('.').next().map(str::to_owned));
        self.names.unique(name.as_deref().unwrap_or("buffer"))
    }

    /// Writes an array on the stack.
    pub(super) fn on_stack(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let result: Value = op.result(0)?.into();
        let extents = memref::extents(result.r#type());
        if extents.contains(&types::DYNAMIC) {
            return Err(refused(op, "with dynamic extents has no form in C"));
        }
        let count: i64 = extents.iter().product();
        let name = self.buffer_name(op);
        let known = extents.into_iter().map(Number::Known).collect();
        let array = self.contiguous(result, name.clone(), known)?;
        self.declare(&name, format!("{} {name}[{}];", array.element.name(), count.max(1)));
        self.hold(result, Held::Array(array));
        Ok(())
    }

    /// Writes `memref.subview`.
    pub(super) fn subview(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let result: Value = op.result(0)?.into();
        let source = ir::operand_at(op, 0).ok_or_else(|| refused(op, "has no array"))?;
        let source = self.array(source)?;
        let mut dynamic = op.operands().skip(1);
        let mut lists = Vec::new();
        for name in ["static_offsets", "static_sizes", "static_strides"] {
            let mut numbers = Vec::new();
            for number in typed::i64s(op, name) {
                numbers.push(match number {
                    types::DYNAMIC => {
                        let value = dynamic.next().ok_or_else(|| refused(op, "has no size"))?;
                        self.number(value)?
                    }
                    number => Number::Known(number),
                });
            }
            lists.push(numbers);
        }
        let [offsets, sizes, steps] = lists.try_into().map_err(|_| refused(op, "has no sizes"))?;
        let rank = source.extents.len();
        if [&source.strides, &offsets, &sizes, &steps].into_iter().any(|list| list.len() != rank) {
            return Err(refused(op, "of an array without extents has no form in C"));
        }
        let offsets: Vec<_> = offsets.iter().map(Number::expression).collect();
        let offset = source.offset(&offsets);
        let mut array = Array { extents: Vec::new(), strides: Vec::new(), ..source.clone() };
        let mut kept = memref::extents(result.r#type()).into_iter().peekable();
        let static_sizes = typed::i64s(op, "static_sizes");
        for ((size, declared), (step, stride)) in
            sizes.iter().zip(static_sizes).zip(steps.iter().zip(&source.strides))
        {
            if kept.next_if_eq(&declared).is_some() {
                array.extents.push(size.clone());
                array.strides.push(stride.times(step).unwrap_or_else(|| self.product(stride, step)));
            } else if declared != 1 {
                return Err(refused(op, "without a dimension of several elements has no form in C"));
            }
        }
        if kept.peek().is_some() {
            return Err(refused(op, "with other dimensions than its source has no form in C"));
        }
        if offset.integer() != Some(0) {
            let name = self.names.local();
            let constant = if source.is_constant { "const " } else { "" };
            let r#type = source.element.name();
            let place = Expression::binary(level::SUM, "+", &Expression::primary(source.pointer), &offset);
            self.declare(&name, format!("{constant}{type} *const {name} = {};", place.text));
            array.pointer = name;
        }
        self.hold(result, Held::Array(array));
        Ok(())
    }

    /// Writes `memref.collapse_shape`, `memref.expand_shape` or `memref.cast`, which do not move elements.
    pub(super) fn reshape(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let result: Value = op.result(0)?.into();
        let source = ir::operand_at(op, 0).ok_or_else(|| refused(op, "has no array"))?;
        let source = self.array(source)?;
        // A cast has no groups.
        let groups: Vec<_> = reassociation(op).into_iter().flatten().collect();
        let array = match ir::name(op).as_str() {
            ops::memref::COLLAPSE_SHAPE => self.collapsed(source, &groups),
            ops::memref::EXPAND_SHAPE => {
                let extents = self.sizes(op)?;
                self.expanded(source, &groups, extents)
            }
            _ => source,
        };
        self.hold(result, Held::Array(array));
        Ok(())
    }

    /// Writes `memref.transpose`, which permutes dimensions.
    pub(super) fn transpose(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let source = ir::operand_at(op, 0).ok_or_else(|| refused(op, "has no array"))?;
        let source = self.array(source)?;
        let map = op.attribute("permutation").ok().map(maps::indices);
        let map: Option<Vec<usize>> = map.and_then(|map| map.into_iter().collect());
        let map = map.ok_or_else(|| refused(op, "has no permutation"))?;
        let mut array = Array { extents: Vec::new(), strides: Vec::new(), ..source.clone() };
        for dimension in map {
            array.extents.extend(source.extents.get(dimension).cloned());
            array.strides.extend(source.strides.get(dimension).cloned());
        }
        self.hold(op.result(0)?.into(), Held::Array(array));
        Ok(())
    }

    fn collapsed(&mut self, source: Array, groups: &[Vec<usize>]) -> Array {
        let mut array = Array { extents: Vec::new(), strides: Vec::new(), ..source.clone() };
        for group in groups {
            let mut extent = Number::Known(1);
            for dimension in group {
                let next = source.extents.get(*dimension).cloned().unwrap_or(Number::Known(1));
                extent = extent.times(&next).unwrap_or_else(|| self.product(&extent, &next));
            }
            // The strides of dimensions with one element are arbitrary.
            let longer = |d: &&usize| source.extents.get(**d).is_some_and(|e| *e != Number::Known(1));
            let inner = group.iter().rev().find(longer).or(group.last());
            let stride = inner.and_then(|d| source.strides.get(*d)).cloned().unwrap_or(Number::Known(1));
            array.extents.push(extent);
            array.strides.push(stride);
        }
        array
    }

    fn expanded(&mut self, source: Array, groups: &[Vec<usize>], extents: Vec<Number>) -> Array {
        let mut strides = vec![Number::Known(1); extents.len()];
        for (group, stride) in groups.iter().zip(&source.strides) {
            let mut stride = stride.clone();
            for dimension in group.iter().rev() {
                if let Some(place) = strides.get_mut(*dimension) {
                    *place = stride.clone();
                }
                let extent = extents.get(*dimension).cloned().unwrap_or(Number::Known(1));
                // The stride after the outermost dimension is not used.
                if Some(dimension) != group.first() {
                    stride = stride.times(&extent).unwrap_or_else(|| self.product(&stride, &extent));
                }
            }
        }
        Array { extents, strides, ..source }
    }

    /// Writes a constant array to the tables of the file.
    pub(super) fn global(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let result: Value = op.result(0)?.into();
        let symbol = typed::symbol(op, "name").ok_or_else(|| refused(op, "has no name"))?;
        let known =
            self.tables.iter().find(|(known, _, _)| *known == symbol).map(|(_, array, _)| array.clone());
        let array = match known {
            Some(array) => array,
            None => self.table(op, result, symbol)?,
        };
        self.hold(result, Held::Array(array));
        Ok(())
    }

    fn table(
        &mut self,
        op: OperationRef<'c, 'a>,
        result: Value<'c, 'a>,
        symbol: String,
    ) -> Result<Array, CodegenError> {
        let module = walk::parents(op).last().ok_or_else(|| refused(op, "is in no module"))?;
        let is_named = |global: &OperationRef| typed::string(*global, "sym_name").as_ref() == Some(&symbol);
        let global = walk::named(module, ops::memref::GLOBAL).into_iter().find(is_named);
        let value = global.and_then(|global| global.attribute("initial_value").ok());
        let value = value.ok_or_else(|| refused(op, "has no value"))?;
        let extents = memref::extents(result.r#type());
        let count = usize::try_from(extents.iter().product::<i64>());
        let count = count.map_err(|_| refused(op, "has dynamic extents"))?;
        let name = self.names.unique("table");
        let known = extents.into_iter().map(Number::Known).collect();
        let array = Array { is_constant: true, ..self.contiguous(result, name.clone(), known)? };
        let bytes = match array.element {
            Element::Bool => Some(dense::bools(value, count)),
            element => dense::bytes(value, element.size(), count),
        };
        let bytes = bytes.ok_or_else(|| refused(op, "has no dense value"))?;
        let mut items = literals(&bytes, array.element);
        if let [item] = items.as_slice() {
            items = vec![item.clone(); count];
        }
        let definition = super::weights::table(array.element.name(), &name, &items);
        self.tables.push((symbol, array.clone(), definition));
        Ok(array)
    }
}
