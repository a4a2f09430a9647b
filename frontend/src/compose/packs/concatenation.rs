// SPDX-License-Identifier: Apache-2.0
//! Slices and concatenations of packs of dynamic length (2.4), `xs[1:]` and `[x, xs.., z]`: a function with one formula for each
//! part.

use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::checks::equality;
use crate::compose::shapes::dynamic_extent::{Canonical, extent_of};
use crate::compose::synthesized_functions::{empty_function, renamed, renamed_check};
use crate::diagnostics::codes::UNEXPECTED_VALUE;
use crate::eval::ranges::extent_expr;
use crate::eval::{Atom, Demand, DynamicPack, PackPart, PackSlice, TensorRef, runtime};
use crate::model::{
    self, Accumulation, Body, Expr, Extent, Formula, FormulaIndex, Function, Init, Invoke, Node, Operation,
    Port, PortTensors, Target, TensorType, ValueId,
};
use crate::program::Edition;
use crate::source::Span;
use skript_semantics::{Scalar, ScalarOp};

/// A tensor, or a number of items of a tensor that holds a pack.
struct Part {
    tensor: TensorRef,
    locations: Option<PackSlice>,
}

impl<'p> Composer<'p, '_> {
    /// The pack, created at the current position of the block, with run-time checks that its ranges exist.
    pub(crate) fn concatenated(
        &mut self,
        builder: &mut Builder<'p>,
        row: &DynamicPack,
        span: Span,
    ) -> Composed<Atom> {
        let mut parts = Vec::with_capacity(row.parts.len());
        for part in &row.parts {
            let (tensor, locations) = match part {
                PackPart::Pack(stack, locations) => (stack.clone(), Some(locations.clone())),
                PackPart::One(Atom::Tensor(tensor)) => (tensor.clone(), None),
                PackPart::One(Atom::Item(item)) => {
                    let Atom::Tensor(tensor) = self.item_of(builder, &item.0, &item.1, span)? else {
                        return Err(Reported);
                    };
                    (tensor, None)
                }
                PackPart::One(_) => return Err(Reported),
            };
            parts.push(Part { tensor, locations });
        }
        self.made_of(builder, &parts, &row.demands, false, span)
    }

    /// The item of a pack of dynamic length at a position that depends on extents.
    pub(crate) fn item_at(
        &mut self,
        builder: &mut Builder<'p>,
        stack: &TensorRef,
        position: &Expr,
        span: Span,
    ) -> Composed<Atom> {
        let length = stack.tensor.shape.first().map_or(Expr::int(0), extent_expr);
        let location = builder.evaluator(self.limits).index_from_end(position, &length);
        let demand = Demand::index(position, &location, &length, span);
        let locations = PackSlice { from: location, step: 1, length: Expr::int(1) };
        let part = Part { tensor: stack.clone(), locations: Some(locations) };
        self.made_of(builder, &[part], &[demand], true, span)
    }

    /// One tensor that stacks all parts along the first dimension, or the single item of the only part.
    fn made_of(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &[Part],
        demands: &[Demand],
        single: bool,
        span: Span,
    ) -> Composed<Atom> {
        let item = self.item_type(parts, span)?;
        let mut canonical = Canonical::default();
        let given: Vec<TensorType> = parts.iter().map(|part| canonical.tensor(&part.tensor.tensor)).collect();
        let inner = canonical.tensor(&item);
        canonical.end_of_tensors();
        let mut function = empty_function("concatenated", span);
        for tensor in &given {
            function.values.push(model::Value {
                name: None,
                tensor: tensor.clone(),
                wide: false,
                storage: None,
                span,
            });
        }
        self.demanded(&mut function, &mut canonical, demands)?;
        let plus =
            |a: Expr, b: Expr| runtime::operation(ScalarOp::Add, vec![a, b], Edition::Draft6).ok_or(Reported);
        let output = ValueId(u32::try_from(parts.len()).unwrap_or(u32::MAX));
        let mut formulas = Vec::new();
        let (mut offset, mut total) = (Expr::int(0), Expr::int(0));
        for (number, part) in (0u32..).zip(parts) {
            let mut indices = Vec::new();
            let mut from = Vec::new();
            let mut to = vec![offset.clone()];
            let mut length = Expr::int(1);
            if let Some(locations) = &part.locations {
                let own = PackSlice {
                    from: renamed(&mut canonical, locations.from.clone())?,
                    step: locations.step,
                    length: renamed(&mut canonical, locations.length.clone())?,
                };
                let extent = extent(&own.length).ok_or(Reported)?;
                indices.push(FormulaIndex { name: "k".to_string(), extent });
                from.push(own.at(&Expr::index(0)).ok_or(Reported)?);
                to = vec![plus(offset.clone(), Expr::index(0))?];
                length = own.length;
                total = plus(total, locations.length.clone())?;
            } else {
                total = plus(total, Expr::int(1))?;
            }
            offset = plus(offset, length)?;
            let first = indices.len();
            indices.extend(FormulaIndex::over(&inner.shape));
            let own = (first..indices.len()).map(Expr::index);
            from.extend(own.clone());
            if single {
                to.clear();
            }
            to.extend(own);
            formulas.push(Formula {
                indices,
                locals: Vec::new(),
                predicate: None,
                kind: Accumulation::Assign,
                targets: vec![Target {
                    output,
                    subscripts: to,
                    value: Expr {
                        kind: inner.kind,
                        node: Node::Access { tensor: ValueId(number), subscripts: from },
                    },
                    init: match number {
                        0 => Init::Fill(inner.kind.default_value()),
                        _ => Init::Continue,
                    },
                }],
                findings: Vec::new(),
                span,
            });
        }
        let (mut inside, mut outside) = (inner, item);
        if !single {
            inside.shape.insert(0, extent(&offset).ok_or(Reported)?);
            outside.shape.insert(0, extent(&total).ok_or(Reported)?);
        }
        self.check_size(&outside, span)?;
        function.values.push(model::Value { name: None, tensor: inside, wide: false, storage: None, span });
        let port = |name: String, tensors| Port { name, tensors, span };
        for (number, part) in (0u32..).zip(parts) {
            let id = ValueId(number);
            let tensors = match part.locations {
                Some(_) => PortTensors::Stack(id),
                None => PortTensors::Single(id),
            };
            function.inputs.push(port(format!("part.{number}"), tensors));
        }
        let result = if single { PortTensors::Single(output) } else { PortTensors::Stack(output) };
        function.outputs.push(port("all".to_string(), result));
        function.body = Body::Formulas(formulas);
        let (names, extents) = canonical.parameters().into_iter().unzip();
        function.extents = names;
        let callee = self.synthesized(function)?;
        let all = builder.value(None, outside, span);
        builder.emit(Operation::Invoke(Invoke {
            callee,
            inputs: parts.iter().map(|part| part.tensor.id).collect(),
            captures: Vec::new(),
            extents,
            outputs: vec![all.id],
            updates: Vec::new(),
            label: None,
            span,
        }));
        Ok(if single { Atom::Tensor(all) } else { Atom::Stack(all) })
    }

    /// The common type of all items.
    fn item_type(&mut self, parts: &[Part], span: Span) -> Composed<TensorType> {
        let own = |part: &Part| TensorType {
            kind: part.tensor.tensor.kind,
            shape: match part.locations {
                Some(_) => part.tensor.tensor.shape.iter().skip(1).cloned().collect(),
                None => part.tensor.tensor.shape.clone(),
            },
        };
        let mut types = parts.iter().map(own);
        let Some(first) = types.next() else {
            return Err(Reported);
        };
        let same = |a: &Extent, b: &Extent| {
            let atom = |extent| Atom::from_expr(extent_expr(extent));
            matches!(equality(&atom(a), &atom(b)), crate::compose::shapes::checks::Verdict::Holds)
        };
        for other in types {
            let shapes = first.shape.iter().zip(&other.shape);
            if first.kind != other.kind
                || first.shape.len() != other.shape.len()
                || !shapes.into_iter().all(|(a, b)| same(a, b))
            {
                return Err(self.error(
                    &UNEXPECTED_VALUE,
                    span,
                    format!(
                        "tensors of a pack of dynamic length must have one type and shape, but these are {} and {}",
                        first.text(),
                        other.text()
                    ),
                ));
            }
        }
        Ok(first)
    }

    fn demanded(
        &mut self,
        function: &mut Function,
        canonical: &mut Canonical,
        demands: &[Demand],
    ) -> Composed<()> {
        for demand in demands {
            let Some(check) = self.open_check(demand.clone())? else {
                continue;
            };
            function.checks.push(renamed_check(canonical, check)?);
        }
        Ok(())
    }
}

fn extent(expr: &Expr) -> Option<Extent> {
    match expr.node {
        Node::Literal(Scalar::Int(n)) => u64::try_from(n).ok().map(Extent::Fixed),
        _ => extent_of(expr),
    }
}
