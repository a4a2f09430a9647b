// SPDX-License-Identifier: Apache-2.0
//! Constants as expressions of index symbols (2.7).

use crate::ast::{Declaration, Expr, LoopBound};
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::coercion::coerce_scalar;
use crate::diagnostics::codes::{CONSTANT_VALUE, LIMIT_EXCEEDED, UNEXPECTED_VALUE};
use crate::eval::stop::{EvalResult, stop, stop_with_help};
use crate::eval::{Atom, Demands, Evaluator, FormulaState, Scope, Value};
use crate::limits::Limits;
use crate::model::{self, Extent, FormulaIndex, Node, TensorType, shape_text};
use skript_semantics::{Scalar, ScalarOp};

/// Rejects a constant whose value is known only at run time.
///
/// # Errors
/// An element is not a number at compile time.
pub(crate) fn known_while_composing(declaration: &Declaration, value: &Value) -> EvalResult<()> {
    let open = value.atoms().iter().find(|atom| matches!(atom, Atom::Run(_) | Atom::Series(_)));
    let (Some(open), Some(default)) = (open, &declaration.default) else {
        return Ok(());
    };
    stop_with_help(
        &CONSTANT_VALUE,
        default.span,
        format!(
            "{} is known only at run time, but the elements of the constant `{}` must be known at compile time",
            open.text(),
            declaration.name.name
        ),
        "pass the value as an argument, which becomes a tensor, or write it into a tensor by a formula: `c[i,] = n, i < 2`",
    )
}

/// Evaluates a constant's value at every point of its index symbols, row-major.
pub(crate) fn computed_elements(
    builder: &Builder,
    declaration: &Declaration,
    tensor: &TensorType,
    limits: &Limits,
) -> EvalResult<Vec<Scalar>> {
    let kind = tensor.kind;
    let Some(default) = &declaration.default else {
        return Ok(Vec::new());
    };
    let mut symbols = Vec::new();
    let mut extents: Vec<i64> = Vec::new();
    for LoopBound { name, bound, .. } in &declaration.bounds {
        let value = builder.evaluator(limits).eval(bound)?;
        let mut own = Vec::new();
        for atom in value.atoms() {
            match atom {
                Atom::Int(n) => own.push((*n).max(0)),
                Atom::Run(_) => {
                    return stop(
                        &UNEXPECTED_VALUE,
                        bound.span,
                        format!(
                            "the elements of the constant `{}` are computed at compile time, but the bound of `{}` is known only at run time; write one value for all elements, or compute them by a formula",
                            declaration.name.name, name.name
                        ),
                    );
                }
                other => {
                    return stop(
                        &UNEXPECTED_VALUE,
                        bound.span,
                        format!("a bound must be an int, this is {}", other.describe()),
                    );
                }
            }
        }
        extents.extend(&own);
        symbols.push((name.name.clone(), matches!(value, Value::Pack(_)), own));
    }
    let shape: Vec<i64> =
        tensor.shape.iter().map(|extent| i64::try_from(extent.bound()).unwrap_or(i64::MAX)).collect();
    if extents != shape {
        return stop(
            &CONSTANT_VALUE,
            declaration.span,
            format!(
                "`{}` has the shape {}, but its index symbols have the bounds {extents:?}: it needs one for each dimension, in order",
                declaration.name.name,
                shape_text(&tensor.shape),
            ),
        );
    }
    let total = extents.iter().try_fold(1usize, |product, n| product.checked_mul(usize::try_from(*n).ok()?));
    let Some(total) = total.filter(|t| *t <= limits.constant_elements) else {
        return stop(
            &LIMIT_EXCEEDED,
            declaration.span,
            "the index symbols span too many elements (limit `constant_elements`)",
        );
    };
    let elements = Elements { builder, value: default, symbols, limits };
    let closed = elements.closed_form(&extents);
    let mut scope = builder.scope.clone();
    scope.push();
    let mut scalars = Vec::with_capacity(total);
    let mut point = vec![0i64; extents.len()];
    for _ in 0..total {
        let computed = closed.as_ref().and_then(|value| at_point(value, &point));
        let value = match computed {
            Some(scalar) => Value::Atom(Atom::from_scalar(scalar)),
            // Values without a closed form, and values that are undefined there.
            None => elements.at(&mut scope, &point)?,
        };
        let scalar = match &value {
            Value::Atom(atom) => atom.scalar().and_then(|s| coerce_scalar(s, kind)),
            _ => None,
        };
        known_while_composing(declaration, &value)?;
        let Some(scalar) = scalar else {
            return stop(
                &CONSTANT_VALUE,
                default.span,
                format!("each element must be one {}, this is {}", kind.name(), value.text()),
            );
        };
        scalars.push(scalar);
        for (coordinate, extent) in point.iter_mut().zip(&extents).rev() {
            *coordinate += 1;
            if *coordinate < *extent {
                break;
            }
            *coordinate = 0;
        }
    }
    Ok(scalars)
}

/// The value of a constant as a function of its index symbols.
struct Elements<'a, 'p> {
    builder: &'a Builder<'p>,
    value: &'a Expr,
    /// For each symbol: its name, whether it is a pack, its extents.
    symbols: Vec<(String, bool, Vec<i64>)>,
    limits: &'a Limits,
}

impl Elements<'_, '_> {
    /// The value at one point.
    fn at(&self, scope: &mut Scope, point: &[i64]) -> EvalResult<Value> {
        self.bind(scope, point.iter().map(|location| Atom::Int(*location)));
        self.evaluator(scope, &self.builder.demands).eval(self.value)
    }

    /// The value as an expression of the index symbols, if it is one at all points: elements are then computed without
    /// lookups of names.
    fn closed_form(&self, extents: &[i64]) -> Option<model::Expr> {
        let mut scope = self.builder.scope.clone();
        scope.push();
        let symbols = (0..extents.len()).map(|location| Atom::from_expr(model::Expr::index(location)));
        self.bind(&mut scope, symbols);
        let shape = extents.iter().map(|n| u64::try_from(*n).ok());
        let shape: Vec<Extent> = shape.map(|n| n.map(Extent::Fixed)).collect::<Option<_>>()?;
        let demands = Demands::default();
        let mut evaluator = self.evaluator(&scope, &demands);
        evaluator.formula = Some(FormulaState {
            indices: FormulaIndex::over(&shape),
            in_turns: true,
            ..FormulaState::default()
        });
        let (value, guards) = evaluator.guarded(|e| e.eval(self.value)).ok()?;
        let clamped = evaluator.formula.is_some_and(|state| state.clamped);
        match value {
            Value::Atom(Atom::Run(expr)) if guards.is_empty() && !clamped => Some((*expr).clone()),
            _ => None,
        }
    }

    fn bind(&self, scope: &mut Scope, mut locations: impl Iterator<Item = Atom>) {
        for (name, packed, own) in &self.symbols {
            let values: Vec<Atom> = locations.by_ref().take(own.len()).collect();
            let value = match (packed, values.first()) {
                (false, Some(single)) => Value::Atom(single.clone()),
                (false, None) => Value::Null,
                (true, _) => Value::pack(values),
            };
            scope.set(name.clone(), value);
        }
    }

    fn evaluator<'e>(&'e self, scope: &'e Scope, demands: &'e Demands) -> Evaluator<'e> {
        let builder = self.builder;
        Evaluator::new(scope, &builder.types, builder.edition, self.limits, demands)
    }
}

/// The value at a point; `None` if it has none. Only the selected branch needs one.
fn at_point(expr: &model::Expr, point: &[i64]) -> Option<Scalar> {
    let of = |expr: &model::Expr| at_point(expr, point);
    let choose = |condition, then, otherwise| match of(condition)? {
        Scalar::Bool(true) => of(then),
        _ => of(otherwise),
    };
    match &expr.node {
        Node::Literal(value) => Some(*value),
        Node::Index(index) => point.get(*index).copied().map(Scalar::Int),
        Node::Table { items, index } => match of(index)? {
            Scalar::Int(location) => items.get(usize::try_from(location).ok()?).copied(),
            _ => None,
        },
        Node::Select { condition, then, otherwise } => choose(condition, then, otherwise),
        Node::Apply { op, operands } => match (op, operands.as_slice()) {
            (ScalarOp::Select, [condition, then, otherwise]) => choose(condition, then, otherwise),
            (ScalarOp::And | ScalarOp::Or | ScalarOp::Implies, [a, b]) => {
                let a = of(a)?;
                let decides = match op {
                    ScalarOp::Or => a == Scalar::Bool(true),
                    _ => a == Scalar::Bool(false),
                };
                if decides {
                    Some(Scalar::Bool(*op != ScalarOp::And))
                } else {
                    op.checked_eval(&[a, of(b)?]).ok()
                }
            }
            (_, [a]) => op.checked_eval(&[of(a)?]).ok(),
            (_, [a, b]) => op.checked_eval(&[of(a)?, of(b)?]).ok(),
            _ => None,
        },
        Node::Local(_) | Node::Access { .. } | Node::Extent(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, composed};
    use skript_semantics::Scalar;

    fn graph(extent: &str, constant: &str) -> String {
        format!(
            "operator o {{ @input {{ x: real[n]; }} @constant {{ c: real[n] = {constant}; }} @output {{ y: real[n]; }} \
             @lower {{ y[i,] = x[i,] + c[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[{extent}]; }} @output {{ y: real[~]; }} @compose {{ y = o(x); }} }}"
        )
    }

    /// The elements of a constant, and whether they have a closed form.
    fn elements(value: &str) -> Vec<f64> {
        let text = format!(
            "operator o {{ @attrib {{ p: int.. = [5, 7, 6]; q: real.. = [0.5, 2.0, 0.25]; }} @output {{ y: real[3,4]; }} \
             @constant {{ c: real[3,4] = {value}, i < 3, j < 4; }} @lower {{ y[i,j] = c[i,j], i < 3, j < 4; }} }} \
             graph G {{ @output {{ y: real[3,4]; }} @compose {{ y = o(); }} }}"
        );
        let model = composed(&text).unwrap();
        let mut constants = model.functions.iter().flat_map(|f| &f.constants);
        let (_, data) = constants.next().unwrap();
        let number = |scalar| match scalar {
            Scalar::Real(x) => x,
            other => panic!("{other:?}"),
        };
        data.scalars().map(number).collect()
    }

    #[test]
    fn s2_7_what_only_the_run_knows_is_no_value() {
        for constant in
            ["c: int[2] = n", "c: int[2] = [n, 4]", "c: bool[2] = n > 2", "c: int[2] = n + i, i < 2"]
        {
            let text = |extent: &str| {
                format!(
                    "operator o {{ @input {{ x: real[n]; }} @constant {{ {constant}; }} @output {{ y: real[n]; }} \
                     @lower {{ y[i,] = x[i,], i < n; }} }} \
                     graph G {{ @input {{ x: real[{extent}]; }} @output {{ y: real[~]; }} @compose {{ y = o(x); }} }}"
                )
            };
            assert_composes(&text("3"));
            let found = composed(&text("n|3")).err().unwrap();
            assert!(format!("{found:?}").contains("known only at run time"), "{found:?}");
        }
    }

    #[test]
    fn s2_7_elements_are_those_of_the_expression() {
        let each = |value: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            let locations = (0..3).flat_map(|i| (0..4).map(move |j| (i, j)));
            locations.map(|(i, j)| value(i, j)).collect()
        };
        let (p, q) = ([5.0, 7.0, 6.0], [0.5, 2.0, 0.25]);
        assert_eq!(
            elements("q[i] * real(p[j % 3] - i / 2)"),
            each(&|i, j| q[i] * (p[j % 3] - (i / 2) as f64))
        );
        // Only the selected value is defined.
        assert_eq!(
            elements("j < 3 ? q[j] : i > 0 && 6 / i > 5 ? 1.0 : `sqrt`(4.0)"),
            each(&|i, j| if j < 3 {
                q[j]
            } else if i == 1 {
                1.0
            } else {
                2.0
            })
        );
        // Not an expression of the symbols.
        assert_eq!(
            elements("real(([0:i + 1] + ..) + [p.., j][-1])"),
            each(&|i, j| (i * (i + 1) / 2 + j) as f64)
        );
    }

    #[test]
    fn s2_7_elements_without_a_value_are_refused() {
        use crate::compose::testing::assert_fires;
        use crate::diagnostics::codes::{DIVISION_BY_ZERO, INDEX_OUT_OF_RANGE, INTEGER_OVERFLOW};
        assert_fires(&DIVISION_BY_ZERO, &graph("4", "real(6 / (i - 2)), i < n"));
        assert_fires(&INDEX_OUT_OF_RANGE, &graph("4", "real([1, 2, 4][i]), i < n"));
        assert_fires(&INDEX_OUT_OF_RANGE, &graph("4", "i > 2 ? real([1, 2, 4][i]) : 0.0, i < n"));
        assert_fires(&INTEGER_OVERFLOW, &graph("4", "real(3000000000 ** i), i < n"));
    }

    #[test]
    fn s2_7_index_symbols_run_over_extents_that_are_known() {
        assert_composes(&graph("4", "real(i * i), i < n"));
        assert_composes(&graph("s|4", "2.0"));
        let found = composed(&graph("s|4", "real(i * i), i < n")).unwrap_err();
        let message = &found.first().unwrap().message;
        assert!(message.contains("the bound of `i` is known only at run time"), "{message}");
    }
}
