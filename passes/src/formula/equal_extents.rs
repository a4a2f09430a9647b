// SPDX-License-Identifier: Apache-2.0
//! Proves that extents are equal, from definitions of tensors and from run-time checks: `a == b`, and `a <= 8`, after
//! which `min(a, 8)` is a.
//!
//! Requires: a queried value is not moved. Operations that are replaced are followed and never stored.

use crate::ir;
use crate::ir::arith::Constant;
use crate::ir::copy::operation_name;
use crate::ir::ops;
use crate::ir::shape::{self, Dim, InsertSlice};
use crate::ir::skript::Check;
use crate::ir::users;
use crate::ir::{ValueKey, types};

use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::r#type::RankedTensorType;
use melior::ir::{OperationRef, ShapedTypeLike, Value, ValueLike};
use skript_dialect::op;
use std::collections::HashMap;

/// A value that is known only at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Number {
    Fixed(i64),
    Value(ValueKey),
    /// An extent of a tensor whose definition does not determine it.
    Extent(ValueKey, usize),
}

/// The facts established by the checks so far: those in functions, outside of branches and loops.
#[derive(Debug, Default)]
pub(crate) struct EqualExtents {
    /// Values that are equal to others.
    equal: HashMap<Number, Number>,
}

impl EqualExtents {
    /// Adds a check that holds from here on: `a == b`, `a <= b` with a constant b, and conjunctions.
    pub(crate) fn learn<'c: 'a, 'a>(&mut self, check: Check<'c, 'a>) {
        let parent = op::parent(check.op());
        if !parent.is_some_and(|parent| op::is(&parent, ops::func::FUNC)) {
            return;
        }
        let mut flags: Vec<Value<'c, 'a>> = check.condition().into_iter().collect();
        while let Some(flag) = flags.pop() {
            let Ok(op) = OperationResult::try_from(flag).map(|result| result.owner()) else {
                continue;
            };
            let operands: Vec<Value<'c, 'a>> = op.operands().collect();
            match (operation_name(op).as_str(), operands.as_slice()) {
                (ops::skript::AND | ops::arith::ANDI, parts) => flags.extend(parts),
                (ops::skript::EQ, [a, b]) => self.unite(number(*a), number(*b)),
                (ops::skript::LE, [a, b]) => {
                    for clamped in redundant_clamps(*a, *b) {
                        self.unite(number(clamped), number(*a));
                    }
                }
                _ => {}
            }
        }
    }

    fn unite(&mut self, a: Number, b: Number) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.equal.insert(a, b);
        }
    }

    fn root(&self, mut number: Number) -> Number {
        while let Some(equal) = self.equal.get(&number) {
            number = *equal;
        }
        number
    }

    /// Whether a dimension of a tensor has this extent in every run.
    pub(crate) fn is_extent<'c: 'a, 'a>(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        value: Value<'c, 'a>,
    ) -> bool {
        self.root(extent(tensor, dimension)) == self.root(number(value))
    }

    /// Whether a dimension of a tensor is always this extent times a constant, by a multiplication.
    pub(crate) fn is_multiple<'c: 'a, 'a>(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        value: Value<'c, 'a>,
        factor: i64,
    ) -> bool {
        let is_product = |op: &OperationRef<'c, 'a>| {
            let factors = op.operands().map(number);
            matches!(operation_name(*op).as_str(), ops::arith::MULI | ops::skript::MUL)
                && factors.eq([number(value), Number::Fixed(factor)])
        };
        let mut products = users(value).into_iter().filter(is_product);
        products.any(|op| ir::result(op).is_ok_and(|product| self.is_extent(tensor, dimension, product)))
    }
}

fn number<'c: 'a, 'a>(value: Value<'c, 'a>) -> Number {
    let Ok(op) = OperationResult::try_from(value).map(|result| result.owner()) else {
        return Number::Value(ValueKey::of(value));
    };
    let known = match operation_name(op).as_str() {
        ops::tensor::DIM => Dim::cast(op).and_then(|dim| Some(extent(dim.source().ok()?, dim.dimension()?))),
        ops::arith::CONSTANT => Constant::cast(op).and_then(Constant::integer).map(Number::Fixed),
        _ => None,
    };
    known.unwrap_or(Number::Value(ValueKey::of(value)))
}

/// The clamps `min(value, limit)`, also with a larger limit, of a value that is at most a constant limit.
fn redundant_clamps<'c: 'a, 'a>(value: Value<'c, 'a>, limit: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let Number::Fixed(most) = number(limit) else {
        return Vec::new();
    };
    let is_idle = |op: &OperationRef<'c, 'a>| {
        matches!(operation_name(*op).as_str(), ops::arith::MINSI | ops::skript::MIN)
            && ir::both_operands(*op).is_ok_and(|[clamped, limit]| {
                number(clamped) == number(value)
                    && matches!(number(limit), Number::Fixed(least) if least >= most)
            })
    };
    let clamps = users(value).into_iter().filter(is_idle);
    clamps.filter_map(|op| ir::result(op).ok()).collect()
}

/// An extent, as far as definitions determine it.
fn extent<'c: 'a, 'a>(mut tensor: Value<'c, 'a>, mut dimension: usize) -> Number {
    loop {
        let extents = types::extents(tensor.r#type()).unwrap_or_default();
        match extents.get(dimension) {
            Some(&types::DYNAMIC) => {}
            Some(fixed) => return Number::Fixed(*fixed),
            None => return Number::Extent(ValueKey::of(tensor), dimension),
        }
        let Ok(result) = OperationResult::try_from(tensor) else {
            return Number::Extent(ValueKey::of(tensor), dimension);
        };
        let open = extents.iter().take(dimension);
        let position = open.filter(|extent| **extent == types::DYNAMIC).count();
        match made(&result, position) {
            Some(Made::Of(size)) => return number(size),
            Some(Made::Like(other)) => tensor = other,
            None => match collapsed(&result, dimension) {
                Some((source, own)) => (tensor, dimension) = (source, own),
                None => return Number::Extent(ValueKey::of(tensor), dimension),
            },
        }
    }
}

enum Made<'c, 'a> {
    /// With this extent.
    Of(Value<'c, 'a>),
    /// With the extents of another tensor.
    Like(Value<'c, 'a>),
}

/// The source of the extents of a result; `position` counts the dynamic ones.
fn made<'c: 'a, 'a>(result: &OperationResult<'c, 'a>, position: usize) -> Option<Made<'c, 'a>> {
    let op = result.owner();
    let name = operation_name(op);
    match name.as_str() {
        ops::tensor::EMPTY | ops::tensor::SPLAT | ops::tensor::EXPAND_SHAPE | ops::tensor::EXTRACT_SLICE => {
            shape::dynamic_size(op, position).map(Made::Of)
        }
        ops::tensor::INSERT_SLICE => InsertSlice::cast(op)?.destination().ok().map(Made::Like),
        ops::tensor::CAST => ir::operand(op).ok().map(Made::Like),
        ops::skript::FORMULA | ops::linalg::GENERIC | ops::linalg::FILL => {
            ir::destination(op, result.result_number()).map(Made::Like)
        }
        _ if op::has_elementwise_trait(&op) => {
            let own = rank(Value::from(*result))?;
            let mut tensors = op.operands();
            tensors.find(|o| rank(*o) == Some(own)).map(Made::Like)
        }
        _ => None,
    }
}

/// The dimension that one of a `tensor.collapse_shape` is, if it merges none but those of one element.
fn collapsed<'c: 'a, 'a>(
    result: &OperationResult<'c, 'a>,
    dimension: usize,
) -> Option<(Value<'c, 'a>, usize)> {
    let op = result.owner();
    if operation_name(op) != ops::tensor::COLLAPSE_SHAPE {
        return None;
    }
    let group = shape::reassociation(op)?.get(dimension)?.clone();
    let source = ir::operand(op).ok()?;
    let extents = types::extents(source.r#type())?;
    let mut own = None;
    for merged in group {
        if extents.get(merged) != Some(&1) && own.replace(merged).is_some() {
            return None;
        }
    }
    Some((source, own?))
}

fn rank(value: Value) -> Option<usize> {
    let tensor = RankedTensorType::try_from(value.r#type()).ok()?;
    Some(tensor.rank())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{blocks, operations};
    use melior::ir::{BlockLike, Module};

    #[test]
    fn definitions_and_checks_tell_which_extents_are_the_same() {
        let text = "
            func.func @f(%x: tensor<?x3xf32>, %y: tensor<?xf32>, %n: index) {
              %c0 = arith.constant 0 : index
              %v = arith.constant 0.0 : f32
              %m = tensor.dim %x, %c0 : tensor<?x3xf32>
              %s = tensor.splat %v[%n] : tensor<?x3xf32>
              %u = tensor.splat %v[%n] : tensor<1x?x3x1xf32>
              %z = skript.add %s, %x : tensor<?x3xf32>
              %c4 = arith.constant 4 : index
              %fourfold = skript.mul %n, %c4 : index
              %wide = tensor.empty(%fourfold) : tensor<?xf32>
              %part = tensor.extract_slice %x[%m, 0] [%n, 1] [1, 1] : tensor<?x3xf32> to tensor<?xf32>
              %flat = tensor.collapse_shape %u [[0, 1], [2, 3]] : tensor<1x?x3x1xf32> into tensor<?x3xf32>
              %same = skript.eq %m, %n : index
              %flag = arith.andi %same, %same : i1
              skript.check %flag, \"SK9203\", \"not equal\"
              return
            }";
        let context = crate::ir::new_context();
        let module = Module::parse(&context, text).unwrap();
        let function = module.body().first_operation().unwrap();
        let body = blocks(function)[0];
        let all = operations(body);
        let [x, y, n] = [0, 1, 2].map(|a| Value::from(body.argument(a).unwrap()));
        let made = |name: &str| -> Value {
            let named = |op: &&OperationRef| operation_name(**op) == name;
            all.iter().find(named).unwrap().result(0).unwrap().into()
        };
        let mut same = EqualExtents::default();
        for name in ["tensor.splat", "skript.add", "tensor.collapse_shape", "tensor.extract_slice"] {
            assert!(same.is_extent(made(name), 0, n), "{name}");
        }
        assert!(same.is_extent(x, 0, made("tensor.dim")));
        assert!(!same.is_extent(x, 0, n));
        assert!(!same.is_extent(y, 0, n));
        assert!(same.is_multiple(made("tensor.empty"), 0, n, 4));
        assert!(!same.is_multiple(made("tensor.empty"), 0, n, 2));
        assert!(!same.is_multiple(y, 0, n, 4));
        let check = all.iter().find_map(|op| Check::cast(*op));
        same.learn(check.unwrap());
        assert!(same.is_extent(x, 0, n));
        assert!(!same.is_extent(y, 0, n));
    }
}
