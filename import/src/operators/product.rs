// SPDX-License-Identifier: Apache-2.0
//! Products of matrices and tensors.

use skript_tensor::ElementType;

use super::activation::{OF_PRODUCTS, activated, function};
use super::movement::{agreed, reshaped, transposed, unsqueezed};
use super::{Operator, microsoft, operator};
use crate::call::{Call, broadcast, equal};
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled};
use crate::value::Value;

pub const OPERATORS: &[Operator] = &[
    operator("MatMul", "`linalg.matmul`, `onnx.matmul_ints`", matmul),
    operator("Gemm", "`nn.linear`, `linalg.matmul`", gemm),
    operator("Det", "`onnx.determinant`", determinant),
    operator("MatMulInteger", "`onnx.matmul_ints`", matmul_integer),
    operator("Einsum", "`layout.transpose`, `linalg.matmul`, `onnx.matmul_ints`", einsum),
    microsoft("FusedMatMul", "`linalg.matmul`", fused_matmul),
    microsoft("FusedGemm", "as Gemm, then the activation", fused_gemm),
];

/// The product of two tensors with the semantics of `numpy.matmul`.
pub(super) fn product(
    c: &mut Call,
    a: &Value,
    b: &Value,
    operator: &str,
    element: ElementType,
) -> Ruled<Value> {
    product_of(c, a, b, (false, false), operator, element)
}

pub(super) fn product_of(
    c: &mut Call,
    a: &Value,
    b: &Value,
    (trans_a, trans_b): (bool, bool),
    operator: &str,
    element: ElementType,
) -> Ruled<Value> {
    if a.rank() == 0 || b.rank() == 0 {
        return Err("a product with a scalar is not supported".into());
    }
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let a = if row { unsqueezed(c, a, &[0]) } else { a.clone() };
    let b = if column { unsqueezed(c, b, &[1]) } else { b.clone() };
    let summed = [
        a.extent(if trans_a { a.rank() - 2 } else { a.rank() - 1 }),
        b.extent(if trans_b { b.rank() - 1 } else { b.rank() - 2 }),
    ];
    let [columns, rows] = &summed;
    equal("the columns of A and the rows of B", columns, rows)?;
    let outer = |v: &Value| v.shape.iter().take(v.rank() - 2).cloned().collect::<Vec<_>>();
    let mut shape = broadcast(&outer(&a), &outer(&b))?;
    shape.push(a.extent(if trans_a { a.rank() - 1 } else { a.rank() - 2 }));
    shape.push(b.extent(if trans_b { b.rank() - 2 } else { b.rank() - 1 }));
    let mut attributes = Vec::new();
    if trans_a {
        attributes.push(("transA", "true".to_owned()));
    }
    if trans_b {
        attributes.push(("transB", "true".to_owned()));
    }
    let y = c.call(operator, &attributes, &[(&a).into(), (&b).into()], (element, shape.clone()));
    if !row && !column {
        return Ok(y);
    }
    if column {
        shape.pop();
    }
    if row {
        shape.remove(shape.len() - usize::from(!column) - 1);
    }
    Ok(reshaped(c, &y, shape))
}

/// The operator of matrix products with elements of this type.
fn matmul_operator(x: &Value) -> &'static str {
    if x.is_real() { "linalg.matmul" } else { "onnx.matmul_ints" }
}

fn matmul(c: &mut Call) -> Ruled<()> {
    let (a, b) = (c.input(0)?, c.input(1)?);
    let y = product(c, &a, &b, matmul_operator(&a), a.element)?;
    let y = c.wrapped(y);
    c.set(0, y);
    Ok(())
}

fn fused_matmul(c: &mut Call) -> Ruled<()> {
    let (a, b) = (c.real(0)?, c.real(1)?);
    if c.flag("transBatchA", false) || c.flag("transBatchB", false) {
        return Err("transposed batches are not supported".into());
    }
    let transposed = (c.flag("transA", false), c.flag("transB", false));
    let mut y = product_of(c, &a, &b, transposed, "linalg.matmul", a.element)?;
    let alpha = c.float("alpha", 1.0);
    if alpha != 1.0 {
        y = c.with_number("math.mul", &y, alpha.into());
    }
    c.set(0, y);
    Ok(())
}

fn gemm(c: &mut Call) -> Ruled<()> {
    let y = scaled_sum(c)?;
    c.set(0, y);
    Ok(())
}

/// A general matrix product, followed by an activation function.
fn fused_gemm(c: &mut Call) -> Ruled<()> {
    let mut y = scaled_sum(c)?;
    if let Some(function) = function(c, OF_PRODUCTS)? {
        let (name, parameters) = function;
        let mut values = Vec::new();
        for parameter in parameters {
            let attribute = format!("activation_{parameter}");
            if !c.has(&attribute) {
                return Err(Reason(format!(
                    "the attribute `{attribute}`, which the activation {name:?} requires, is missing"
                )));
            }
            values.push(c.float(&attribute, 0.0));
        }
        y = activated(c, y, function, &values)?;
    }
    c.set(0, y);
    Ok(())
}

/// alpha · A · B + beta · C.
fn scaled_sum(c: &mut Call) -> Ruled<Value> {
    let (a, b) = (c.input(0)?, c.input(1)?);
    if !a.is_real() {
        return Err("it is supported only for reals".into());
    }
    if a.rank() != 2 || b.rank() != 2 {
        return Err("the operands are not matrices".into());
    }
    let (alpha, beta) = (c.float("alpha", 1.0), c.float("beta", 1.0));
    let (ta, tb) = (c.flag("transA", false), c.flag("transB", false));
    let shape = vec![a.extent(usize::from(ta)), b.extent(usize::from(!tb))];
    let (columns, rows) = (a.extent(usize::from(!ta)), b.extent(usize::from(tb)));
    equal("the columns of A and the rows of B", &columns, &rows)?;
    let bias = c.optional(2).filter(|_| beta != 0.0);
    if let Some(bias) = &bias {
        let all = crate::call::broadcast(&shape, &bias.shape)?;
        let fits = |(all, extent): (&Extent, &Extent)| extent.value().is_none() || all == extent;
        if all.len() != shape.len() || !all.iter().zip(&shape).all(fits) {
            return Err("C does not broadcast to the shape of the product".into());
        }
    }
    let simple = alpha == 1.0 && beta == 1.0;
    let along_rows = |v: &Value| v.rank() == 1 && v.shape.first() == shape.get(1);
    if simple && !ta && tb && bias.as_ref().is_none_or(along_rows) {
        let arguments = [(&a).into(), (&b).into(), bias.as_ref().into()];
        return Ok(c.call("nn.linear", &[], &arguments, (a.element, shape)));
    }
    let mut attributes = Vec::new();
    if ta {
        attributes.push(("transA", "true".to_owned()));
    }
    if tb {
        attributes.push(("transB", "true".to_owned()));
    }
    let mut y = c.call("linalg.matmul", &attributes, &[(&a).into(), (&b).into()], (a.element, shape));
    if alpha != 1.0 {
        y = c.with_number("math.mul", &y, alpha.into());
    }
    if let Some(mut bias) = bias {
        if beta != 1.0 {
            bias = c.with_number("math.mul", &bias, beta.into());
        }
        y = c.binary("math.add", &y, &bias)?;
    }
    Ok(y)
}

/// Subtracts a zero point, which is a scalar, or a vector of one number for each row or column of the last two dimensions.
pub(super) fn less_zero_point(c: &mut Call, x: &Value, zero: Option<Value>, rows: bool) -> Ruled<Value> {
    let x = &super::quantize::limited(c, x);
    let Some(mut zero) = zero else {
        return Ok(x.clone());
    };
    if zero.volume() == Some(1) {
        zero = reshaped(c, &zero, Vec::new());
    } else if zero.rank() == 1 && rows {
        zero = unsqueezed(c, &zero, &[1]);
    }
    let x = c.retyped(x, ElementType::I64);
    let zero = c.retyped(&zero, ElementType::I64);
    c.binary("math.sub", &x, &zero)
}

/// Subtracts the zero points of ints, and multiplies the results.
pub(super) fn product_of_ints(
    c: &mut Call,
    (a, a_zero): (&Value, Option<Value>),
    (b, b_zero): (&Value, Option<Value>),
    element: ElementType,
) -> Ruled<Value> {
    let a = less_zero_point(c, a, a_zero, true)?;
    let b = less_zero_point(c, b, b_zero, false)?;
    product(c, &a, &b, "onnx.matmul_ints", element)
}

fn determinant(c: &mut Call) -> Ruled<()> {
    let x = c.real(0)?;
    let outer = x.rank().checked_sub(2).and_then(|r| x.shape.get(..r));
    let outer = outer.ok_or("the operand is not a matrix")?.to_vec();
    let y = c.call("onnx.determinant", &[], &[(&x).into()], (x.element, outer));
    c.set(0, y);
    Ok(())
}

fn matmul_integer(c: &mut Call) -> Ruled<()> {
    let (a, b) = (c.input(0)?, c.input(1)?);
    let (za, zb) = (c.optional(2), c.optional(3));
    let y = product_of_ints(c, (&a, za), (&b, zb), ElementType::I32)?;
    let y = c.wrapped(y);
    c.set(0, y);
    Ok(())
}

/// The letters of each operand, and of the result.
fn letters(equation: &str, operands: &[Value]) -> Ruled<(Vec<Vec<char>>, Vec<char>)> {
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left.to_owned(), Some(right.to_owned())),
        None => (equation.clone(), None),
    };
    if equation.contains(|l: char| !l.is_ascii_alphabetic() && !",.->".contains(l)) {
        return Err("the equation has characters that are not letters".into());
    }
    if left.split(',').count() != operands.len() {
        return Err("the equation must have one term for each operand".into());
    }
    // Digits name the dimensions of `...`; the last dimension is `0`.
    let mut terms = Vec::new();
    let mut longest = 0u32;
    for (term, operand) in left.split(',').zip(operands) {
        let named = term.replace("...", "");
        let hidden = if term.contains("...") {
            operand.rank().checked_sub(named.chars().count()).ok_or("a term has too many letters")?
        } else {
            0
        };
        let hidden = u32::try_from(hidden).ok().filter(|h| *h < 10);
        let hidden = hidden.ok_or("`...` stands for more than 9 dimensions")?;
        longest = longest.max(hidden);
        let digits: String = (0..hidden).rev().filter_map(|d| char::from_digit(d, 10)).collect();
        let term: Vec<char> = term.replace("...", &digits).chars().collect();
        if term.len() != operand.rank() || !term.iter().all(char::is_ascii_alphanumeric) {
            return Err("a term does not match the rank of its operand".into());
        }
        terms.push(term);
    }
    let digits: String = (0..longest).rev().filter_map(|d| char::from_digit(d, 10)).collect();
    let result = match right {
        Some(right) => right.replace("...", &digits).chars().collect(),
        None => {
            let all: Vec<char> = terms.concat();
            let mut once: Vec<char> = all
                .iter()
                .copied()
                .filter(|l| l.is_ascii_alphabetic() && all.iter().filter(|o| *o == l).count() == 1)
                .collect();
            once.sort_unstable();
            digits.chars().chain(once).collect()
        }
    };
    Ok((terms, result))
}

/// Sums a single operand over the letters that the result lacks; transposes, flattens and multiplies two operands as matrices; and
/// contracts further operands from left to right.
fn einsum(c: &mut Call) -> Ruled<()> {
    let operands = (0..c.inputs.len()).map(|at| c.input(at)).collect::<Ruled<Vec<_>>>()?;
    let (terms, result) = letters(&c.string("equation", ""), &operands)?;
    let mut sorted = result.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != result.len() {
        return Err("a letter occurs twice in the result".into());
    }
    let mut remaining = operands
        .into_iter()
        .zip(terms)
        .map(|(x, term)| diagonal(c, x, term))
        .collect::<Ruled<std::collections::VecDeque<_>>>()?;
    let (mut x, mut on) = remaining.pop_front().ok_or("there are no operands")?;
    while let Some((y, term)) = remaining.pop_front() {
        (x, on) = without_ones(c, x, on, (&y, &term))?;
        let (y, term) = without_ones(c, y, term, (&x, &on))?;
        let needed = |l: &char| result.contains(l) || remaining.iter().any(|(_, t)| t.contains(l));
        (x, on) = contracted(c, (&x, &on), (&y, &term), &needed)?;
    }
    let summed: Vec<usize> =
        (0..on.len()).filter(|at| on.get(*at).is_some_and(|l| !result.contains(l))).collect();
    if !summed.is_empty() {
        x = super::reduction::over(c, &x, &summed, false, "math.sum_reduce");
        on.retain(|l| result.contains(l));
    }
    let perm: Option<Vec<usize>> = result.iter().map(|l| on.iter().position(|o| o == l)).collect();
    let Some(perm) = perm.filter(|perm| perm.len() == on.len()) else {
        return Err("a letter of the result does not occur in an operand".into());
    };
    let y = transposed(c, &x, &perm);
    let y = c.wrapped(y);
    c.set(0, y);
    Ok(())
}

/// Takes the diagonal along letters that occur more than once in an operand.
fn diagonal(c: &mut Call, mut x: Value, mut on: Vec<char>) -> Ruled<(Value, Vec<char>)> {
    let twice = |on: &[char]| {
        let again =
            |at: &usize| on.get(*at + 1..).and_then(|r| r.iter().position(|o| Some(o) == on.get(*at)));
        let mut all = 0..on.len();
        all.find_map(|at| again(&at).map(|between| (at, between)))
    };
    while let Some((first, between)) = twice(&on) {
        let second = first + between + 1;
        x = agreed(c, &x, second, &x.extent(first))?;
        let mut shape = x.shape.clone();
        shape.remove(second);
        on.remove(second);
        let attributes = [("first", first.to_string()), ("between", between.to_string())];
        x = c.call("onnx.diagonal", &attributes, &[(&x).into()], (x.element, shape));
    }
    Ok((x, on))
}

type Lettered<'v> = (&'v Value, &'v [char]);

/// Removes the dimensions of extent 1 that broadcast along dimensions of another operand.
fn without_ones(c: &mut Call, x: Value, mut on: Vec<char>, (y, on_y): Lettered) -> Ruled<(Value, Vec<char>)> {
    let broadcasts = |at: &usize| {
        let other = on.get(*at).and_then(|l| on_y.iter().position(|o| o == l));
        x.extent(*at).is(1) && other.is_some_and(|other| !y.extent(other).is(1))
    };
    let kept: Vec<usize> = (0..on.len()).filter(|at| !broadcasts(at)).collect();
    if kept.len() == on.len() {
        return Ok((x, on));
    }
    let shape = kept.iter().map(|at| x.extent(*at)).collect();
    on = kept.iter().filter_map(|at| on.get(*at).copied()).collect();
    Ok((reshaped(c, &x, shape), on))
}

fn contracted(
    c: &mut Call,
    (x, on_x): Lettered,
    (y, on_y): Lettered,
    needed: &dyn Fn(&char) -> bool,
) -> Ruled<(Value, Vec<char>)> {
    let extent = |v: &Value, on: &[char], l: char| on.iter().position(|o| *o == l).map(|at| v.extent(at));
    let shared: Vec<char> = on_x.iter().copied().filter(|l| on_y.contains(l)).collect();
    let (mut x, mut y) = (x.clone(), y.clone());
    for l in &shared {
        let at = |on: &[char]| on.iter().position(|o| o == l);
        let (Some(at_x), Some(at_y)) = (at(on_x), at(on_y)) else { continue };
        let (a, b) = (x.extent(at_x), y.extent(at_y));
        if a.value().is_some() && b.value().is_some() && a != b {
            return Err(Reason(format!("the extents along the letter `{l}` differ, and neither is 1")));
        }
        if a.value().is_none() && b.value().is_some() {
            x = agreed(c, &x, at_x, &b)?;
        } else {
            y = agreed(c, &y, at_y, &a)?;
        }
    }
    let (x, y) = (&x, &y);
    let (batch, summed): (Vec<char>, Vec<char>) = shared.iter().copied().partition(|l| needed(l));
    let rows: Vec<char> = on_x.iter().copied().filter(|l| !shared.contains(l)).collect();
    let columns: Vec<char> = on_y.iter().copied().filter(|l| !shared.contains(l)).collect();
    let order = |on: &[char], wanted: &[char]| -> Vec<usize> {
        wanted.iter().filter_map(|l| on.iter().position(|o| o == l)).collect()
    };
    let extents = |v: &Value, on: &[char], list: &[char]| -> Vec<Extent> {
        list.iter().filter_map(|l| extent(v, on, *l)).collect()
    };
    let flat = |list: &[Extent]| crate::call::product(list);
    let left: Vec<char> = [batch.as_slice(), &rows, &summed].concat();
    let right: Vec<char> = [batch.as_slice(), &summed, &columns].concat();
    let a = transposed(c, x, &order(on_x, &left));
    let b = transposed(c, y, &order(on_y, &right));
    let outer = extents(x, on_x, &batch);
    let (m, k, n) = (extents(x, on_x, &rows), extents(x, on_x, &summed), extents(y, on_y, &columns));
    let a = reshaped(c, &a, [outer.clone(), vec![flat(&m)?, flat(&k)?]].concat());
    let b = reshaped(c, &b, [outer.clone(), vec![flat(&k)?, flat(&n)?]].concat());
    let z = product(c, &a, &b, matmul_operator(x), x.element)?;
    let z = reshaped(c, &z, [outer, m, n].concat());
    Ok((z, [batch, rows, columns].concat()))
}
