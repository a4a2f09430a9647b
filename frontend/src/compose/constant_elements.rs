//! Constants as expressions of index symbols (2.7).

use super::coercion::coerce_scalar;
use super::declare::shape_text;
use super::instantiate::Builder;
use crate::ast::{Declaration, LoopBound};
use crate::diagnostics::codes::{CONSTANT_VALUE, LIMIT_EXCEEDED, UNEXPECTED_VALUE};
use crate::eval::evaluator::{EvalResult, stop};
use crate::eval::{Atom, Evaluator, Value};
use crate::model::TensorType;
use skript_semantics::Scalar;

/// Evaluates a constant's value at every point of its index symbols, row-major.
pub fn computed_elements(
    builder: &Builder,
    declaration: &Declaration,
    tensor: &TensorType,
    limits: &crate::limits::Limits,
) -> EvalResult<Vec<Scalar>> {
    let kind = tensor.kind;
    let Some(default) = &declaration.default else {
        return Ok(Vec::new());
    };
    // Per symbol: its name, whether it is a pack, its extents.
    let mut symbols: Vec<(String, bool, Vec<i64>)> = Vec::new();
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
                            "the elements of the constant `{}` are computed while compiling, but the run alone knows how far \
                             `{}` goes; such a constant has one value for all elements, and a formula computes others",
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
    let shape: Vec<i64> = tensor
        .shape
        .iter()
        .map(|extent| i64::try_from(extent.bound()).unwrap_or(i64::MAX))
        .collect();
    if extents != shape {
        return stop(
            &CONSTANT_VALUE,
            declaration.span,
            format!(
                "`{}` has the shape {}, its index symbols run over {extents:?}: one for each dimension, in their order",
                declaration.name.name,
                shape_text(&tensor.shape),
            ),
        );
    }
    let total = extents.iter().try_fold(1usize, |product, n| {
        product.checked_mul(usize::try_from(*n).ok()?)
    });
    let Some(total) = total.filter(|t| *t <= limits.constant_elements) else {
        return stop(
            &LIMIT_EXCEEDED,
            declaration.span,
            "the index symbols span too many elements (limit `constant_elements`)",
        );
    };
    let mut scalars = Vec::with_capacity(total);
    let mut scope = builder.scope.clone();
    scope.push();
    let mut point = vec![0i64; extents.len()];
    for _ in 0..total {
        let mut rest = point.iter();
        for (name, packed, own) in &symbols {
            let values: Vec<Atom> = rest
                .by_ref()
                .take(own.len())
                .map(|v| Atom::Int(*v))
                .collect();
            let value = match (packed, values.first()) {
                (false, Some(single)) => Value::Atom(single.clone()),
                (false, None) => Value::Null,
                (true, _) => Value::pack(values),
            };
            scope.set(name.clone(), value);
        }
        let value = Evaluator::new(
            &scope,
            &builder.types,
            builder.edition,
            limits,
            &builder.demands,
        )
        .eval(default)?;
        let scalar = match &value {
            Value::Atom(atom) => atom.scalar().and_then(|s| coerce_scalar(s, kind)),
            _ => None,
        };
        let Some(scalar) = scalar else {
            return stop(
                &CONSTANT_VALUE,
                default.span,
                format!(
                    "each element must be one {}, this is {}",
                    kind.name(),
                    value.text()
                ),
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

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, composed};

    fn graph(extent: &str, constant: &str) -> String {
        format!(
            "operator o {{ @input {{ x: real[n]; }} @constant {{ c: real[n] = {constant}; }} @output {{ y: real[n]; }} \
             @lower {{ y[i,] = x[i,] + c[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[{extent}]; }} @output {{ y: real[~]; }} @compose {{ y = o(x); }} }}"
        )
    }

    #[test]
    fn s2_7_index_symbols_run_over_extents_that_are_known() {
        assert_composes(&graph("4", "real(i * i), i < n"));
        assert_composes(&graph("s|4", "2.0"));
        let found = composed(&graph("s|4", "real(i * i), i < n")).unwrap_err();
        let message = &found.first().unwrap().message;
        assert!(
            message.contains("the run alone knows how far `i` goes"),
            "{message}"
        );
    }
}
