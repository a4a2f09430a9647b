// SPDX-License-Identifier: Apache-2.0
//! Reductions along axes.

use skript_tensor::ElementType;

use super::elementwise::converted;
use super::{Operator, operator};
use crate::call::{Call, axes, axis, product};
use crate::extent::Extent;
use crate::literals::axis_list;
use crate::refusal::Ruled;
use crate::statement::{Argument, marked};
use crate::value::{Item, Value, width};

pub const OPERATORS: &[Operator] = &[
    operator("ReduceSum", "`math.sum_reduce`", |c| reduce(c, 13, &[], "math.sum_reduce", &[])),
    operator("ReduceMean", "`math.mean_reduce`, `onnx.divide_ints`", mean),
    operator("ReduceMax", "`math.max_reduce`, `math.any_reduce`", |c| {
        extreme(c, "math.max_reduce", "math.any_reduce")
    }),
    operator("ReduceMin", "`math.min_reduce`, `math.all_reduce`", |c| {
        extreme(c, "math.min_reduce", "math.all_reduce")
    }),
    operator("ReduceProd", "`math.prod_reduce`", |c| reduce(c, 18, &[], "math.prod_reduce", &[])),
    operator("ReduceL1", "`math.abs`, `math.sum_reduce`", |c| {
        reduce(c, 18, &["math.abs"], "math.sum_reduce", &[])
    }),
    operator("ReduceL2", "`math.sqr`, `math.sum_reduce`, `math.sqrt`", norm),
    operator("ReduceSumSquare", "`math.sqr`, `math.sum_reduce`", |c| {
        reduce(c, 18, &["math.sqr"], "math.sum_reduce", &[])
    }),
    operator("ReduceLogSum", "`math.sum_reduce`, `math.log`", |c| {
        real_reduce(c, &[], "math.sum_reduce", &["math.log"])
    }),
    operator("ReduceLogSumExp", "`onnx.log_sum_exp`", |c| real_reduce(c, &[], "onnx.log_sum_exp", &[])),
    operator("ArgMax", "`onnx.argmax`", |c| position(c, "onnx.argmax")),
    operator("ArgMin", "`onnx.argmin`", |c| position(c, "onnx.argmin")),
    operator("CumSum", "`onnx.cumulative_sum`", |c| cumulative(c, "onnx.cumulative_sum")),
    operator("CumProd", "`onnx.cumulative_product`", |c| cumulative(c, "onnx.cumulative_product")),
];

fn real_reduce(c: &mut Call, before: &[&str], operator: &str, after: &[&str]) -> Ruled<()> {
    c.real(0)?;
    reduce(c, 18, before, operator, after)
}

/// The axes: an attribute before opset `input_since`, an input since. `None` if nothing is reduced.
fn reduced(c: &Call, x: &Value, input_since: i64) -> Ruled<Option<Vec<usize>>> {
    let given = match c.opset >= input_since {
        true if c.optional(1).is_some() => Some(c.numbers(1, "the axes")?),
        true => None,
        false => c.ints("axes"),
    };
    match given.filter(|given| !given.is_empty()) {
        Some(given) => axes(&given, x.rank()).map(Some),
        None if c.flag("noop_with_empty_axes", false) => Ok(None),
        None => Ok(Some((0..x.rank()).collect())),
    }
}

/// The shape of a reduction.
pub(super) fn reduced_shape(shape: &[Extent], axes: &[usize], keep: bool) -> Vec<Extent> {
    shape
        .iter()
        .enumerate()
        .filter_map(
            |(at, extent)| {
                if axes.contains(&at) { keep.then(|| Extent::from(1)) } else { Some(extent.clone()) }
            },
        )
        .collect()
}

fn reduce(c: &mut Call, input_since: i64, before: &[&str], operator: &str, after: &[&str]) -> Ruled<()> {
    let x = c.input(0)?;
    let axes = reduced(c, &x, input_since)?;
    let keep = c.flag("keepdims", true);
    let is_whole = axes.as_deref().is_some_and(|axes| axes == [0]);
    let is_plain = before.is_empty() && after.is_empty() && is_whole;
    if is_plain && let Some(y) = of_known(c, &x, keep, operator) {
        c.set(0, y);
        return Ok(());
    }
    let is_order = matches!(operator, "math.max_reduce" | "math.min_reduce");
    let is_unsigned = x.element == ElementType::U64;
    let mut y = if is_order { c.ordered(&x) } else { x.clone() };
    for operator in before.iter().filter(|o| !is_unsigned || **o != "math.abs") {
        y = c.map(operator, &[], &y);
    }
    if let Some(axes) = axes
        && x.rank() > 0
    {
        y = over(c, &y, &axes, keep, operator);
    } else if operator == "onnx.log_sum_exp" {
        // The operator is the identity on a single number.
        y = x.clone();
    }
    for operator in after {
        y = c.map(operator, &[], &y);
    }
    y = if is_order { c.unordered(y, x.element) } else { c.wrapped(y) };
    c.set(0, y);
    Ok(())
}

/// Folds the reduction of a known list, such as the product of a shape.
fn of_known(c: &mut Call, x: &Value, keep: bool, operator: &str) -> Option<Value> {
    let is_list = x.rank() == 1 && (x.element == ElementType::I64 || x.is_real());
    let mut items = x.known.clone().filter(|_| is_list)?.into_iter();
    let start = match operator {
        "math.sum_reduce" if !x.is_real() => Item::Int(Extent::from(0)),
        "math.prod_reduce" if !x.is_real() => Item::Int(Extent::from(1)),
        "math.max_reduce" | "math.min_reduce" => items.next()?,
        _ => return None,
    };
    let reduced = items.try_fold(start, |all, next| match (all, next) {
        (Item::Int(all), Item::Int(next)) => {
            let bounds = &c.importer.bounds;
            Some(Item::Int(match operator {
                "math.sum_reduce" => all.plus(&next)?,
                "math.prod_reduce" => all.times(&next)?,
                "math.max_reduce" => all.larger(&next, bounds)?,
                _ => all.smaller(&next, bounds)?,
            }))
        }
        (Item::Real(all), Item::Real(next)) if !all.is_nan() && !next.is_nan() => {
            Some(Item::Real(match operator {
                "math.max_reduce" => all.max(next),
                _ => all.min(next),
            }))
        }
        _ => None,
    });
    let shape = reduced_shape(&x.shape, &[0], keep);
    Some(c.known(x.element, shape, vec![reduced?]))
}

/// Adds a reduction by an operator with the attributes `axes` and `squeeze`.
pub(super) fn over(c: &mut Call, x: &Value, axes: &[usize], keep: bool, operator: &str) -> Value {
    if x.rank() == 0 {
        return x.clone();
    }
    let mut attributes = Vec::new();
    if axes.len() < x.rank() || operator.starts_with("onnx.") {
        attributes.push(("axes", axis_list(axes)));
    }
    if !keep {
        attributes.push(("squeeze", "true".to_owned()));
    }
    let shape = reduced_shape(&x.shape, axes, keep);
    c.call(operator, &attributes, &[x.into()], (x.element, shape))
}

fn extreme(c: &mut Call, operator: &str, of_bools: &str) -> Ruled<()> {
    let x = c.input(0)?;
    let bools = x.is_bool();
    if !bools && x.is_int() {
        let (bits, _) = width(x.element);
        let may_be_empty = |axis: &usize| x.extent(*axis).value().is_none_or(|extent| extent <= 0);
        let is_any_empty = reduced(c, &x, 18)?.is_some_and(|axes| axes.iter().any(may_be_empty));
        if bits < 64 && is_any_empty {
            reduce(c, 18, &[], operator, &[])?;
            // The extreme of an empty set is a limit of the type.
            let (min, max) = x.element.int_range();
            let (limit, end) = match operator {
                "math.max_reduce" => ("math.max", min),
                _ => ("math.min", max),
            };
            return changed(c, |c, y| {
                let limited = [(&y).into(), Argument::Number(end.to_string())];
                c.call(limit, &[], &limited, (y.element, y.shape.clone()))
            });
        }
    }
    reduce(c, 18, &[], if bools { of_bools } else { operator }, &[])
}

/// Replaces the result of a reduction.
fn changed(c: &mut Call, change: impl FnOnce(&mut Call, Value) -> Value) -> Ruled<()> {
    let result = c.results.first().cloned().flatten().ok_or("the reduction has no result")?;
    let result = change(c, result);
    c.set(0, result);
    Ok(())
}

/// The mean. The mean of ints is their 64-bit sum divided by their number, rounded towards zero.
fn mean(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    if x.is_real() {
        return real_reduce(c, &[], "math.mean_reduce", &[]);
    }
    let Some(axes) = reduced(c, &x, 18)? else {
        c.set(0, x);
        return Ok(());
    };
    let count: Vec<Extent> = axes.iter().map(|axis| x.extent(*axis)).collect();
    let count = product(&count)?;
    if count.is(0) {
        return Err("the mean of an empty set of ints is undefined".into());
    }
    let keep = c.flag("keepdims", true);
    let sum = over(c, &x, &axes, keep, "math.sum_reduce");
    let divide = match width(x.element) {
        (64, false) => "onnx.divide_unsigned",
        _ => "onnx.divide_ints",
    };
    let arguments = [(&sum).into(), Argument::Number(marked(&count))];
    let mean = c.call(divide, &[], &arguments, (sum.element, sum.shape.clone()));
    c.set(0, mean);
    Ok(())
}

/// The square root of the sum of squares; for ints, computed in f64 and rounded towards zero.
fn norm(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    if x.is_real() {
        return real_reduce(c, &["math.sqr"], "math.sum_reduce", &["math.sqrt"]);
    }
    // Squares would overflow the int type.
    let wide = converted(c, &x, ElementType::F64)?;
    let mut sum = c.map("math.sqr", &[], &wide);
    if let Some(axes) = reduced(c, &x, 18)? {
        let keep = c.flag("keepdims", true);
        sum = over(c, &sum, &axes, keep, "math.sum_reduce");
    }
    let root = c.map("math.sqrt", &[], &sum);
    let root = converted(c, &root, x.element)?;
    c.set(0, root);
    Ok(())
}

fn position(c: &mut Call, operator: &str) -> Ruled<()> {
    let x = c.input(0)?;
    if x.rank() == 0 {
        let zero = c.known(ElementType::I64, Vec::new(), vec![Item::Int(Extent::from(0))]);
        c.set(0, zero);
        return Ok(());
    }
    let at = axis(c.int("axis", 0), x.rank())?;
    let keep = c.flag("keepdims", true);
    let last = c.flag("select_last_index", false);
    let mut attributes = vec![("axis", at.to_string())];
    if !keep {
        attributes.push(("squeeze", "true".to_owned()));
    }
    if last {
        attributes.push(("last", "true".to_owned()));
    }
    let shape = reduced_shape(&x.shape, &[at], keep);
    let x = c.ordered(&x);
    let y = c.call(operator, &attributes, &[(&x).into()], (ElementType::I64, shape));
    c.set(0, y);
    Ok(())
}

fn cumulative(c: &mut Call, operator: &str) -> Ruled<()> {
    let x = c.input(0)?;
    let given = c.numbers(1, "the axis")?;
    let [given] = given.as_slice() else {
        return Err("the axis is not one number".into());
    };
    let at = axis(*given, x.rank())?;
    let mut attributes = vec![("axis", at.to_string())];
    for name in ["exclusive", "reverse"] {
        if c.flag(name, false) {
            attributes.push((name, "true".to_owned()));
        }
    }
    let y = c.map(operator, &attributes, &x);
    let y = c.wrapped(y);
    c.set(0, y);
    Ok(())
}
