//! `index[:,k] = i, i < s | cond` with an output `index: int[d,k|n]` (editions): k counts the steps that write, and is in the
//! end the extent. A formula fills a tensor as large as it can become, and counts; a loop of so many iterations takes out
//! what it wrote.

use std::sync::Arc;

use skript_semantics::{ScalarKind, ScalarOp};

use super::arguments::ArgumentList;
use super::composer::{Composed, Composer, Reported};
use super::dynamic_extent::Canonical;
use super::instantiate::Builder;
use super::synthesis::empty_function;
use crate::ast::{ExprKind, LoweringOp, Subscript};
use crate::diagnostics::codes::{FORMULA, UNDETERMINED_EXTENT};
use crate::eval::{Atom, Value};
use crate::model::{
    self, Accumulation, Block, Body, Expr, Extent, Formula, FormulaIndex, FunctionId, Init, Invoke,
    Loop, Node, Operation, Port, PortTensors, ShapeExpr, Target, TensorType, ValueId,
};
use crate::source::Span;

/// The extent of the only output that the only formula counts: its name.
pub fn write_counter(definition: &crate::ast::Definition) -> Option<&str> {
    let ([output], [lowering]) = (definition.outputs.as_slice(), definition.lowers.as_slice())
    else {
        return None;
    };
    let name = |expr: &crate::ast::Expr| match &expr.kind {
        ExprKind::Name(name) => Some(name.name.clone()),
        _ => None,
    };
    let counted: Vec<String> = lowering
        .target
        .subscripts
        .iter()
        .filter_map(|subscript| match subscript {
            Subscript::Expr(expr) => name(expr),
            _ => None,
        })
        .collect();
    let bound_here = |own: &str| lowering.bounds.iter().any(|b| b.name.name == own);
    let extents = output.type_spec.shape.iter().flatten();
    let mut open = extents.filter(|e| e.bound.is_some() && e.pack.is_none());
    open.find_map(|extent| match &extent.extent.as_ref()?.kind {
        ExprKind::Name(own) if counted.contains(&own.name) && !bound_here(&own.name) => {
            Some(own.name.as_str())
        }
        _ => None,
    })
}

impl<'p> Composer<'p, '_> {
    /// The body of an operator whose formula counts what it writes.
    pub fn counted_writes(
        &mut self,
        builder: &mut Builder<'p>,
        list: &ArgumentList,
        counter: &str,
    ) -> Composed<()> {
        let definition = builder.found.definition;
        let ([output], [lowering]) = (definition.outputs.as_slice(), definition.lowers.as_slice())
        else {
            return Err(Reported);
        };
        let span = lowering.span;
        if output.type_spec.pack.is_some() || lowering.op != LoweringOp::Assign {
            return Err(self.error(
                &FORMULA,
                span,
                format!("`{counter}` counts the steps that write: one tensor, by `=`"),
            ));
        }
        let declared = self.declared_tensors(builder, output, 1)?;
        let own = ShapeExpr::Symbol(counter.to_string());
        let counts = |e: &Extent| matches!(e, Extent::Dynamic { expr, .. } if **expr == own);
        let Some(tensor) = declared.into_iter().next() else {
            return Err(Reported);
        };
        let Some(dimension) = tensor.shape.iter().position(counts) else {
            return Err(self.error(
                &UNDETERMINED_EXTENT,
                output.span,
                format!("no formula can tell the extent `{counter}`"),
            ));
        };
        let bound = tensor.shape.get(dimension).map_or(0, Extent::bound);
        let mut room = tensor.clone();
        if let Some(extent) = room.shape.get_mut(dimension) {
            *extent = Extent::Fixed(bound);
        }
        let name = &output.name;
        let room = builder.value(Some(name.name.clone()), room, name.span);
        let count = builder.wide_int(Some(counter.to_string()), name.span);
        let port = |name: &str, id| Port {
            name: name.to_string(),
            tensors: PortTensors::Single(id),
            span: output.name.span,
        };
        builder.function.outputs = vec![port(&name.name, room.id), port(counter, count.id)];
        builder.tensors.insert(name.name.clone());
        builder
            .scope
            .set(name.name.clone(), Value::Atom(Atom::Tensor(room.clone())));
        let counted = element(&count.tensor, count.id, Vec::new());
        builder
            .scope
            .set(counter, Value::Atom(Atom::from_expr(counted.clone())));
        let formula = self.one_formula(builder, lowering)?;
        let formula = counting(formula, dimension, count.id, &counted);
        let Some(formula) = formula else {
            return Err(self.error(
                &FORMULA,
                span,
                format!("`{counter}` stands alone in the dimension that it counts"),
            ));
        };
        builder.function.body = Body::Formulas(vec![formula]);
        self.formulas_apart(builder, list)?;
        builder.function.outputs.clear();

        // One item for each step that wrote.
        let step = builder.wide_int(None, span);
        let mut item = (*room.tensor).clone();
        item.shape.remove(dimension);
        let item = builder.value(None, item, span);
        let taken = self.taken(&room.tensor, dimension, span)?;
        let mut body = Block::default();
        body.operations
            .push(invoke(taken, vec![room.id, step.id], item.id, span));
        body.results.push(item.id);
        let extent = Extent::Dynamic {
            expr: Arc::new(ShapeExpr::Symbol(builder.fresh_extent())),
            bound,
        };
        let mut stack = (*item.tensor).clone();
        stack.shape.insert(0, extent.clone());
        let mut result = builder.value(None, stack, span);
        builder.emit(Operation::Loop(Box::new(Loop {
            carried: Vec::new(),
            scans: Vec::new(),
            stack_scans: Vec::new(),
            index: Some(step.id),
            static_count: None,
            room: Some(bound),
            dynamic_count: Some(count.id),
            before: None,
            body,
            after: None,
            scan_outputs: vec![vec![result.id]],
            span,
        })));
        if dimension > 0 {
            let mut whole = (*item.tensor).clone();
            whole.shape.insert(dimension, extent);
            let turned = self.turned(&result.tensor, dimension, span)?;
            let moved = builder.value(None, whole, span);
            builder.emit(invoke(turned, vec![result.id], moved.id, span));
            result = moved;
        }
        builder.function.outputs = vec![port(&name.name, result.id)];
        builder.function.body = Body::Block(builder.blocks.pop().unwrap_or_default());
        Ok(())
    }

    /// What a tensor holds at one place of a dimension, which an int tensor says.
    fn taken(&mut self, whole: &TensorType, dimension: usize, span: Span) -> Composed<FunctionId> {
        let whole = Canonical::default().tensor(whole);
        let mut result = whole.clone();
        result.shape.remove(dimension);
        let place = TensorType {
            kind: ScalarKind::Int,
            shape: Vec::new(),
        };
        let at = element(&place, ValueId(1), Vec::new());
        self.rearranged("taken", vec![whole, place], result, span, |mut places| {
            places.insert(dimension, at);
            places
        })
    }

    /// A tensor with its first dimension at another place.
    fn turned(&mut self, whole: &TensorType, dimension: usize, span: Span) -> Composed<FunctionId> {
        let whole = Canonical::default().tensor(whole);
        let mut result = whole.clone();
        let first = result.shape.remove(0);
        result.shape.insert(dimension, first);
        self.rearranged("turned", vec![whole], result, span, |mut places| {
            let first = places.remove(dimension);
            places.insert(0, first);
            places
        })
    }

    /// A function of one formula: each element of the result is that of the first input at other places.
    fn rearranged(
        &mut self,
        name: &str,
        inputs: Vec<TensorType>,
        result: TensorType,
        span: Span,
        places: impl FnOnce(Vec<Expr>) -> Vec<Expr>,
    ) -> Composed<FunctionId> {
        let mut function = empty_function(name, span);
        let ids: Vec<ValueId> = (0u32..).take(inputs.len() + 1).map(ValueId).collect();
        let indices = FormulaIndex::over(&result.shape);
        let own: Vec<Expr> = (0..indices.len()).map(Expr::index).collect();
        let (Some(first), Some((output, given))) = (inputs.first().cloned(), ids.split_last())
        else {
            return Err(Reported);
        };
        function.body = Body::Formulas(vec![Formula {
            indices,
            locals: Vec::new(),
            predicate: None,
            kind: Accumulation::Assign,
            targets: vec![Target {
                output: *output,
                subscripts: own.clone(),
                value: element(&first, ValueId(0), places(own)),
                init: Init::Fill(result.kind.default_value()),
            }],
            span,
        }]);
        let port = |id: &ValueId| Port {
            name: format!("x.{}", id.0),
            tensors: PortTensors::Single(*id),
            span,
        };
        function.inputs = given.iter().map(port).collect();
        function.outputs = vec![port(output)];
        // The first input is the tensor; what else there is says where.
        let inputs = inputs.into_iter().enumerate();
        function.values = inputs
            .map(|(position, tensor)| (tensor, position > 0))
            .chain([(result, false)])
            .map(|(tensor, wide)| model::Value {
                name: None,
                tensor,
                wide,
                span,
            })
            .collect();
        self.synthesized(function)
    }
}

fn element(tensor: &TensorType, id: ValueId, subscripts: Vec<Expr>) -> Expr {
    Expr {
        kind: tensor.kind,
        node: Node::Access {
            tensor: id,
            subscripts,
        },
    }
}

fn invoke(callee: FunctionId, inputs: Vec<ValueId>, output: ValueId, span: Span) -> Operation {
    Operation::Invoke(Invoke {
        callee,
        inputs,
        captures: Vec::new(),
        extents: Vec::new(),
        outputs: vec![output],
        updates: Vec::new(),
        label: None,
        span,
    })
}

/// The step counts as well: `None` if the counter does not stand alone in its dimension everywhere.
fn counting(
    mut formula: Formula,
    dimension: usize,
    count: ValueId,
    counted: &Expr,
) -> Option<Formula> {
    let stands = |t: &Target| t.subscripts.get(dimension) == Some(counted);
    if formula.targets.iter().any(|t| !stands(t)) {
        return None;
    }
    formula.kind = Accumulation::Replace;
    for (position, target) in formula.targets.iter_mut().enumerate() {
        target.init = match position {
            0 => Init::Fill(target.value.kind.default_value()),
            _ => Init::Continue,
        };
    }
    formula.targets.push(Target {
        output: count,
        subscripts: Vec::new(),
        value: Expr::apply(
            ScalarKind::Int,
            ScalarOp::Add,
            vec![counted.clone(), Expr::int(1)],
        ),
        init: Init::Fill(ScalarKind::Int.default_value()),
    });
    Some(formula)
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires, with_operator};
    use crate::diagnostics::codes::FORMULA;

    fn document(output: &str, formula: &str) -> String {
        with_operator(
            &format!("@input {{ a: real[n]; }} @output {{ at: {output}; }} @lower {{ {formula} }}"),
            "z1 = f(x); y = pass(x);",
        )
    }

    #[test]
    fn counters_stand_in_any_dimension() {
        assert_composes(&document("int[k|n]", "at[k,] = i, i < n | a[i,] > 0.0;"));
        assert_composes(&document(
            "int[2,k|n]",
            "at[:,k] = [i, k], i < n | a[i,] > 0.0;",
        ));
        assert_composes(&document(
            "real[k|3,n]",
            "at[k,j] = a[i,] * a[j,], j < n, i < n | a[i,] > 0.0;",
        ));
    }

    #[test]
    fn counters_are_no_parts_of_places() {
        assert_fires(&FORMULA, &document("int[k|n,2]", "at[i,k] = i, i < n;"));
        assert_fires(&FORMULA, &document("int[k|n]", "at[k,] += i, i < n;"));
    }
}
