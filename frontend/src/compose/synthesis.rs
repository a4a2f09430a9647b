//! Functions that stand in no text: what control flow and run-time extents need where tensors are expected.

use skript_semantics::{ScalarKind, ScalarOp};

use super::checks::text;
use super::composer::{Composed, Composer, InstanceInfo, Reported};
use super::dynamic_extent::Canonical;
use super::instantiate::Builder;
use super::ranges::extent_expr;
use crate::diagnostics::codes::{LIMIT_EXCEEDED, RESULTS_MISMATCH};
use crate::eval::{Atom, TensorRef, Value, runtime};
use crate::model::{
    self, Accumulation, Body, Check, CheckKind, Expr, Extent, Formula, FormulaIndex, Function,
    FunctionId, FunctionRole, Init, Invoke, MessagePart, Node, Operation, Port, PortTensors,
    Target, TensorType, ValueId,
};
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    /// The items of a pack of run-time length, as tensors of their own. Every run tests that there are so many.
    pub fn items_of(
        &mut self,
        builder: &mut Builder<'p>,
        stack: &TensorRef,
        count: usize,
        span: Span,
    ) -> Composed<Value> {
        let length = stack.tensor.shape.first().cloned();
        let most = length.as_ref().map_or(0, Extent::bound);
        if u64::try_from(count).map_or(true, |n| n > most) {
            return Err(self.error(
                &RESULTS_MISMATCH,
                span,
                format!("there are {count} items written here, the pack has at most {most}"),
            ));
        }
        let mut canonical = Canonical::default();
        let whole = canonical.tensor(&stack.tensor);
        let mut function = empty_function("items", span);
        let mut new = |tensor: TensorType| {
            let id = ValueId(u32::try_from(function.values.len()).unwrap_or(u32::MAX));
            function.values.push(model::Value {
                name: None,
                tensor,
                span,
            });
            id
        };
        let input = new(whole.clone());
        let item = TensorType {
            kind: whole.kind,
            shape: whole.shape.iter().skip(1).cloned().collect(),
        };
        let outputs: Vec<ValueId> = (0..count).map(|_| new(item.clone())).collect();
        let indices: Vec<FormulaIndex> = item
            .shape
            .iter()
            .enumerate()
            .map(|(dimension, extent)| FormulaIndex {
                name: format!("i.{dimension}"),
                extent: extent.clone(),
            })
            .collect();
        let places: Vec<Expr> = (0..indices.len()).map(Expr::index).collect();
        let formulas = (0i64..).zip(&outputs).map(|(position, output)| {
            let mut subscripts = vec![Expr::int(position)];
            subscripts.extend(places.iter().cloned());
            let node = Node::Access {
                tensor: input,
                subscripts,
            };
            Formula {
                indices: indices.clone(),
                locals: Vec::new(),
                predicate: None,
                kind: Accumulation::Assign,
                targets: vec![Target {
                    output: *output,
                    subscripts: places.clone(),
                    value: Expr {
                        kind: item.kind,
                        node,
                    },
                    init: Init::Fill(item.kind.default_value()),
                }],
                span,
            }
        });
        function.body = Body::Formulas(formulas.collect());
        if let Some(length @ Extent::Dynamic { .. }) = whole.shape.first() {
            let length = extent_expr(length);
            let mut message = Vec::new();
            text(
                &format!("the pack must have {count} items, it has "),
                &mut message,
            );
            message.push(MessagePart::Value(length.clone()));
            let wanted = Expr::int(i64::try_from(count).unwrap_or(i64::MAX));
            function.checks.push(Check {
                kind: CheckKind::Extent,
                condition: runtime::compare(ScalarOp::Eq, length, wanted),
                message,
                span,
            });
        }
        function.inputs.push(Port {
            name: "pack".into(),
            tensors: PortTensors::Stack(input),
            span,
        });
        function.outputs.push(Port {
            name: "items".into(),
            tensors: PortTensors::Pack(outputs),
            span,
        });
        let callee = self.synthesized(function)?;
        let item = TensorType {
            kind: stack.tensor.kind,
            shape: stack.tensor.shape.iter().skip(1).cloned().collect(),
        };
        let items: Vec<TensorRef> = (0..count)
            .map(|_| builder.value(None, item.clone(), span))
            .collect();
        builder.emit(Operation::Invoke(Invoke {
            callee,
            inputs: vec![stack.id],
            captures: Vec::new(),
            extents: Vec::new(),
            outputs: items.iter().map(|t| t.id).collect(),
            updates: Vec::new(),
            label: None,
            span,
        }));
        Ok(Value::pack(items.into_iter().map(Atom::Tensor).collect()))
    }

    /// A scalar over run-time extents as a tensor of rank 0.
    pub fn scalar_of(
        &mut self,
        builder: &mut Builder<'p>,
        expr: &Expr,
        span: Span,
    ) -> Composed<TensorRef> {
        let mut canonical = Canonical::default();
        let Value::Atom(renamed) = canonical.attribute(&Value::Atom(Atom::from_expr(expr.clone())))
        else {
            return Err(Reported);
        };
        let Some(value) = renamed.to_expr() else {
            return Err(Reported);
        };
        let (names, extents): (Vec<String>, Vec<Extent>) =
            canonical.parameters().into_iter().unzip();
        let tensor = TensorType {
            kind: expr.kind,
            shape: Vec::new(),
        };
        let mut function = empty_function("scalar", span);
        function.extents = names;
        let output = ValueId(0);
        function.values.push(model::Value {
            name: None,
            tensor: tensor.clone(),
            span,
        });
        function.body = Body::Formulas(vec![Formula {
            indices: Vec::new(),
            locals: Vec::new(),
            predicate: None,
            kind: Accumulation::Assign,
            targets: vec![Target {
                output,
                subscripts: Vec::new(),
                value,
                init: Init::Fill(tensor.kind.default_value()),
            }],
            span,
        }]);
        function.outputs.push(Port {
            name: "value".into(),
            tensors: PortTensors::Single(output),
            span,
        });
        let callee = self.synthesized(function)?;
        let result = builder.value(None, tensor, span);
        builder.emit(Operation::Invoke(Invoke {
            callee,
            inputs: Vec::new(),
            captures: Vec::new(),
            extents,
            outputs: vec![result.id],
            updates: Vec::new(),
            label: None,
            span,
        }));
        Ok(result)
    }

    fn synthesized(&mut self, function: Function) -> Composed<FunctionId> {
        if self.functions.len() >= self.limits.instances {
            let message = format!(
                "the model has more than {} functions (limit `instances`)",
                self.limits.instances
            );
            return Err(self.error(&LIMIT_EXCEEDED, function.span, message));
        }
        let id = FunctionId(u32::try_from(self.functions.len()).map_err(|_| Reported)?);
        self.functions.push(function);
        self.infos.push(InstanceInfo::default());
        Ok(id)
    }
}

fn empty_function(name: &str, span: Span) -> Function {
    Function {
        name: name.into(),
        role: FunctionRole::Operator,
        attributes: Vec::new(),
        types: Vec::new(),
        values: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        captures: Vec::new(),
        updates: Vec::new(),
        capture_variables: Vec::new(),
        extents: Vec::new(),
        checks: Vec::new(),
        result_checks: Vec::new(),
        constants: Vec::new(),
        body: Body::Intrinsic,
        span,
    }
}

/// A scalar over run-time extents in another kind: int where real is declared (errata 15).
pub fn as_kind(expr: &Expr, kind: ScalarKind) -> Option<Expr> {
    match (expr.kind, kind) {
        (from, to) if from == to => Some(expr.clone()),
        (ScalarKind::Int, ScalarKind::Real) => {
            Some(Expr::apply(kind, ScalarOp::ToReal, vec![expr.clone()]))
        }
        _ => None,
    }
}
