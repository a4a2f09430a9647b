// SPDX-License-Identifier: Apache-2.0
//! Emits the accesses of a formula: addresses, loads and stores of elements.

use super::{Loops, Lowering, moved};
use crate::formula::Refusal;
use crate::ir;
use crate::ir::ops;
use crate::ir::skript::Access;
use crate::ir::{Builder, Copier, ValueKey, copy, maps, types};
use crate::structure::{Affine, Pieces};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike};

impl<'c: 'a, 'a> Lowering<'_, 'c, 'a> {
    /// Emits the element that an access reads.
    pub(super) fn read(
        &self,
        copier: &Copier<'c, 'a>,
        op: OperationRef<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Refusal> {
        if let Some(value) = self.last_written(op) {
            return Ok(value);
        }
        let access = Access::cast(op).ok_or(Refusal::Shape("reads no element"))?;
        let tensor = access.tensor()?;
        let buffer =
            *self.buffers.get(&ValueKey::of(tensor)).ok_or(Refusal::Shape("reads an unknown tensor"))?;
        let addresses: Vec<_> = op.operands().skip(1).collect();
        let element = ir::result(op)?.r#type();
        if self.loops == Loops::Affine {
            return self.affine_load(buffer, &self.pieces(&addresses)?, element, at);
        }
        let mut operands = vec![buffer];
        let addresses: Vec<_> = addresses.iter().map(|p| copier.get(*p)).collect();
        operands.extend(self.arranged(tensor, &addresses));
        Ok(at.value(self.load_name(), &operands, &[], element)?)
    }

    /// Returns the subscripts in the order of the dimensions of a tensor's buffer.
    fn arranged(&self, tensor: Value<'c, 'a>, subscripts: &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>> {
        match self.moved(self.read_tensor(tensor)) {
            Some(dimension) => moved::to_end(subscripts, dimension),
            None => subscripts.to_vec(),
        }
    }

    /// Returns the destination for a region's argument, and any other value unchanged.
    fn read_tensor(&self, value: Value<'c, 'a>) -> Value<'c, 'a> {
        for block in self.reading.blocks() {
            let outputs = copy::arguments(block).into_iter().skip(self.reading.indices);
            let mut outputs = outputs.zip(&self.reading.outs);
            if let Some((_, out)) = outputs.find(|(argument, _)| *argument == value) {
                return *out;
            }
        }
        value
    }

    /// Loads the element at a subscript. If the subscript depends on conditions, emits branches that yield the element.
    fn affine_load(
        &self,
        buffer: Value<'c, 'a>,
        address: &Pieces<Vec<Affine>>,
        element: Type<'c>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Refusal> {
        let loaded = self.by_pieces(address, &[element], at, &|forms, at| {
            let map = [("map", self.map(forms, at)?)];
            let mut operands = vec![buffer];
            operands.extend(self.dimensions());
            Ok(vec![at.value(ops::affine::LOAD, &operands, &map, element)?])
        })?;
        let nothing = Refusal::Shape("has a subscript without an element");
        loaded.first().copied().ok_or(nothing)
    }

    /// Emits branches that compute `each` for the forms that hold at a point. Returns their results.
    fn by_pieces(
        &self,
        address: &Pieces<Vec<Affine>>,
        types: &[Type<'c>],
        at: &Builder<'c, 'a>,
        each: &Each<'_, 'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        let (form, branches) = match address {
            Pieces::One(forms) => return each(forms, at),
            Pieces::Split { form, then, otherwise } => (form, [then, otherwise]),
        };
        let set = maps::set_of(at.context, self.positions(), std::slice::from_ref(form))
            .ok_or(Refusal::Shape("has a condition that no affine set holds"))?;
        let mut regions = Vec::new();
        for branch in branches {
            let (region, inside, _) = at.region(&[]);
            let values = self.by_pieces(branch, types, &inside, each)?;
            inside.create(ops::affine::YIELD, &values, &[], &[], Vec::new())?;
            regions.push(region);
        }
        let condition = [("condition", set)];
        let operands: Vec<_> = self.dimensions().collect();
        let op = at.create(ops::affine::IF, &operands, &condition, types, regions)?;
        Ok(op.results().map(Into::into).collect())
    }

    /// Returns the dimensions of affine maps at this point: the indices of the enclosing loops, then extents.
    fn dimensions(&self) -> impl Iterator<Item = Value<'c, 'a>> {
        let extents = self.extents.values.iter().map(|(_, extent)| *extent);
        self.indices.iter().copied().chain(extents)
    }

    /// Returns the position of each of [`Self::dimensions`] in affine forms.
    fn positions(&self) -> impl Iterator<Item = usize> {
        let extents = self.extents.values.iter().map(|(position, _)| *position);
        (0..self.indices.len()).chain(extents)
    }

    fn map(&self, forms: &[Affine], at: &Builder<'c, 'a>) -> Result<Attribute<'c>, Refusal> {
        maps::map_of(at.context, self.positions(), forms)
            .ok_or(Refusal::Shape("has subscripts that an affine map cannot represent"))
    }

    fn pieces(&self, addresses: &[Value<'c, 'a>]) -> Result<Pieces<Vec<Affine>>, Refusal> {
        let placed = &self.extents.reading;
        let terms = addresses.iter().map(|address| placed.find(*address));
        terms
            .collect::<Option<Vec<_>>>()
            .and_then(|terms| placed.nest.pieces(&terms))
            .ok_or(Refusal::Shape("has subscripts that are not affine in its indices"))
    }

    /// Emits the subscripts of a target at this point.
    fn target_addresses(
        &mut self,
        target: usize,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        self.map_indices(self.reading.body);
        let addresses = self.reading.subscripts.get(target).cloned().ok_or(melior::Error::OperationBuild)?;
        let mut built = Vec::new();
        for address in addresses {
            built.push(self.subscript(address, at)?);
        }
        Ok(self.arranged(self.out(target)?, &built))
    }

    /// Copies a subscript and its operands on demand.
    fn subscript(&mut self, address: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        let known = self.copier.get(address);
        if ValueKey::of(known) != ValueKey::of(address) {
            return Ok(known);
        }
        let Ok(result) = OperationResult::try_from(address) else {
            return Ok(address);
        };
        let op = result.owner();
        if op.parent_operation() != Some(self.reading.op) {
            return Ok(address);
        }
        let outer = self.copier.clone();
        for operand in op.operands() {
            let value = self.subscript(operand, at)?;
            self.copier.set(operand, value);
        }
        self.copy(&[op], at)?;
        let value = self.copier.get(address);
        self.copier = outer;
        Ok(value)
    }

    /// Emits the subscripts of a target at this point; returns an empty list for affine loops, whose subscripts are maps.
    pub(super) fn target_position(
        &mut self,
        target: usize,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        match self.loops {
            Loops::Affine => Ok(Vec::new()),
            Loops::Scf => self.target_addresses(target, at),
        }
    }

    /// Loads the element of a target at this point.
    pub(super) fn load(
        &self,
        target: usize,
        address: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Refusal> {
        let buffer = self.destination(target)?;
        let out = self.out(target)?;
        let element =
            types::element_of(out.r#type()).ok_or(Refusal::Shape("writes a value that is not a tensor"))?;
        if self.loops == Loops::Affine {
            return self.affine_load(buffer, &self.target_pieces(target)?, element, at);
        }
        let mut operands = vec![buffer];
        operands.extend(address);
        Ok(at.value(self.load_name(), &operands, &[], element)?)
    }

    /// The operation that reads an element of a buffer, or of a tensor.
    fn load_name(&self) -> &'static str {
        if self.options.tensors { ops::tensor::EXTRACT } else { ops::memref::LOAD }
    }

    /// Stores the element of a target at this point.
    pub(super) fn store(
        &mut self,
        target: usize,
        address: &[Value<'c, 'a>],
        value: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        if self.options.tensors {
            return self.insert(target, address, value, at);
        }
        let buffer = self.destination(target)?;
        let mut operands = vec![value, buffer];
        if self.loops == Loops::Affine {
            operands.extend(self.dimensions());
            self.by_pieces(&self.target_pieces(target)?, &[], at, &|forms, at| {
                let map = [("map", self.map(forms, at)?)];
                at.create(ops::affine::STORE, &operands, &map, &[], Vec::new())?;
                Ok(Vec::new())
            })?;
        } else {
            operands.extend(address);
            at.create(ops::memref::STORE, &operands, &[], &[], Vec::new())?;
        }
        Ok(())
    }

    fn target_pieces(&self, target: usize) -> Result<Pieces<Vec<Affine>>, Refusal> {
        let addresses =
            self.reading.subscripts.get(target).ok_or(Refusal::Shape("has too few destinations"))?;
        self.pieces(addresses)
    }
}

/// Emits the code of one piece; returns the values that the piece yields.
type Each<'s, 'c, 'a> = dyn Fn(&[Affine], &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Refusal> + 's;
