// SPDX-License-Identifier: Apache-2.0
//! Factorizations and triangular systems in terms of whole tensors: those that StableHLO has as operations, and those that
//! others call by name.
//!
//! Each becomes a loop over columns, for all matrices of a batch together: operations where they stand in a module, calls on
//! their line of a text. Matrices are the last two dimensions, of reals or complex numbers of 32 or 64 bits a part.

mod arrays;
mod eigen;
mod householder;
mod lower_upper;
mod parts;
mod singular;
mod triangular;

use super::reading;
use super::to_linalg::{Found, Tensor};
use arrays::{Array, Arrays};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{PassError, op};
use skript_passes::ir::ops;
use skript_passes::ir::splice::splice;

/// Elements of matrices that have a form.
const ELEMENTS: [&str; 4] = ["f32", "f64", "complex<f32>", "complex<f64>"];

/// Whether an operation is one of StableHLO's own, of matrices with elements.
pub(crate) fn is_operation(found: OperationRef) -> bool {
    let name = op::name(&found);
    let is_one = name == ops::stablehlo::CHOLESKY || name == ops::stablehlo::TRIANGULAR_SOLVE;
    let mut results = found.results().map(|r| Tensor::of(r.r#type()));
    is_one && results.all(|r| r.is_none_or(|r| r.volume() != 0))
}

/// What stands for the result of one of StableHLO's own, spelled out in front of it.
///
/// # Errors
/// Its elements or extents have no form.
pub(crate) fn in_place<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let found = Found::of(op)?;
    let result = found.result()?;
    let element = result.element.text();
    if !ELEMENTS.contains(&element.as_str()) {
        return Err(PassError::from(format!(
            "has no code for matrices of {element}: convert them to f32 in front of it"
        )));
    }
    let operand = |(n, tensor): (usize, &Tensor)| Array {
        name: format!("%{n}"),
        extents: tensor.extents.clone(),
        element: tensor.element.text(),
    };
    let operands: Vec<Array> = found.operands.iter().enumerate().map(operand).collect();
    let word = |name: &str| op.attribute(name).map(|a| a.to_string());
    let holds = |name: &str| word(name).is_ok_and(|value| value == "true");
    let lower = holds("lower");
    let mut t = Arrays::new("%factor");
    let solved = match operands.as_slice() {
        [a] => triangular::cholesky(&mut t, a, lower)
            .map(|(root, _)| triangular::half(&mut t, &root, lower)),
        [a, b] => {
            let form = word("transpose_a")?;
            let system = triangular::System {
                left: holds("left_side"),
                lower,
                transposed: !form.contains("NO_TRANSPOSE"),
                conjugate: form.contains("ADJOINT"),
                unit: holds("unit_diagonal"),
            };
            system.solve(&mut t, a, b)
        }
        _ => None,
    };
    let solved = solved.ok_or("has no form for these matrices")?;
    let results = [(solved.name, result.text())];
    Ok(splice(op, &found.values, t.text(), &results)?.values)
}

/// A text with every factorization spelled out that is called by name and has a form.
pub(crate) fn spelled_out(text: &str) -> String {
    let lines = (1..).zip(text.split('\n'));
    let lines = lines.map(|(number, line)| {
        let spelled = reading::start(line).and_then(|(at, name)| one(line, at, name, number));
        spelled.unwrap_or_else(|| line.to_owned())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The call that a line begins at `at`; `None`: it is none of these, or its elements have no form.
fn one(line: &str, at: usize, name: &str, number: usize) -> Option<String> {
    if name != ops::stablehlo::CUSTOM_CALL {
        return None;
    }
    let name = called(&line[at..])?;
    let (head, rest) = line.split_at(at);
    let (body, place) = match rest.rfind(" loc(") {
        Some(end) if rest.ends_with(')') => rest.split_at(end),
        _ => (rest, ""),
    };
    let (before, types) = body.rsplit_once(" : ")?;
    let (inputs, results) = types.split_once(" -> ").unwrap_or((types, types));
    let results = tensors(results);
    let arguments = before.split(['{', '<']).next()?;
    let operands = arguments.split([',', '(', ')', ' ']).map(str::trim);
    let operands = operands.filter(|o| o.starts_with('%'));
    let operands: Vec<Array> = operands
        .zip(tensors(inputs))
        .map(|(name, r#type)| Array::of(name, &r#type))
        .collect::<Option<_>>()?;
    let mut t = Arrays::new(&format!("%factor_{number}"));
    let found = computed(&mut t, name, (&operands, &results), before)?;
    if found.iter().map(Array::r#type).ne(results.iter().cloned()) {
        return None;
    }
    let names: Vec<&str> = found.iter().map(|a| a.name.as_str()).collect();
    let (names, types) = (names.join(", "), results.join(", "));
    Some(format!(
        "{} {head}stablehlo.optimization_barrier {names} : {types}{place}",
        t.text()
    ))
}

/// What a `custom_call` calls.
fn called(line: &str) -> Option<&str> {
    let target = match line.split_once("call_target_name = \"") {
        Some((_, target)) => target,
        None => line.split_once(" @")?.1.trim_start_matches('"'),
    };
    target.split(['(', ' ', '"']).next()
}

/// `(T, U)` or `T` as a list of types.
fn tensors(text: &str) -> Vec<String> {
    let text = text.trim();
    let text = text.strip_prefix('(').unwrap_or(text);
    let text = text.strip_suffix(')').unwrap_or(text);
    text.split(',').map(|t| t.trim().to_owned()).collect()
}

/// The results of one of them.
fn computed(
    t: &mut Arrays,
    name: &str,
    (operands, results): (&[Array], &[String]),
    said: &str,
) -> Option<Vec<Array>> {
    let [first, ..] = operands else {
        return None;
    };
    let alike = operands.iter().all(|o| o.element == first.element);
    if !ELEMENTS.contains(&first.element.as_str()) || first.rank() < 2 || !alike {
        return None;
    }
    // LAPACK has a letter for the elements, and words for reals and complex numbers.
    let routine = name
        .strip_prefix("lapack_")
        .and_then(|r| r.strip_suffix("_ffi"));
    let routine = routine.and_then(|r| r.strip_prefix(['s', 'd', 'c', 'z']));
    let name = routine.unwrap_or(name);
    let letter = |key: &str| attribute(said, key)?.parse::<u8>().ok().map(char::from);
    Some(match (name, operands) {
        ("trsm", [a, b]) => {
            let system = triangular::System {
                left: letter("side")? == 'L',
                lower: letter("uplo")? == 'L',
                transposed: letter("trans_x")? != 'N',
                conjugate: letter("trans_x")? == 'C',
                unit: letter("diag")? == 'U',
            };
            vec![system.solve(t, a, b)?]
        }
        ("potrf", [a]) => {
            let (root, info) = triangular::cholesky(t, a, letter("uplo")? == 'L')?;
            vec![root, info]
        }
        ("getrf" | "cusolver_getrf_ffi", [a]) => lower_upper::factors(t, a).into(),
        ("geqrf" | "cusolver_geqrf_ffi" | "Qr", [a]) => householder::factors(t, a).into(),
        (
            "orgqr" | "ungqr" | "cusolver_orgqr_ffi" | "ProductOfElementaryHouseholderReflectors",
            [a, taus],
        ) => vec![householder::product(t, a, taus)?],
        ("gesdd" | "gesvd", [a]) => {
            let is_square = |result: usize| {
                let own = results.get(result).and_then(|r#type| Array::of("", r#type));
                own.is_some_and(|own| own.rank() >= 2 && own.is_square())
            };
            let found = singular::values(t, a, is_square(2) && is_square(3))?;
            vec![a.clone(), found.values, found.left, found.right, found.info]
        }
        ("syevd" | "heevd", [a]) => eigen::symmetric(t, a, letter("uplo")? == 'L')?.into(),
        _ => return None,
    })
}

/// What stands behind `key = `, up to its type.
fn attribute<'t>(said: &'t str, key: &str) -> Option<&'t str> {
    let (_, value) = said.split_once(&format!("{key} = "))?;
    value.split([',', '}', ' ', '>']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_form_stays_on_its_line() {
        let text = "func.func @main() {\n  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>) loc(#loc1)\n}";
        let spelled = spelled_out(text);
        assert_eq!(spelled.matches('\n').count(), 2);
        assert!(spelled.contains(" stablehlo.while("), "{spelled}");
        assert!(spelled.contains("  %0:2 = stablehlo.optimization_barrier %factor_2_"));
        assert!(spelled.contains(" : tensor<2x3x3xf32>, tensor<2xi32> loc(#loc1)\n"));
    }

    #[test]
    fn what_has_none_stays_as_it_is() {
        for line in [
            "%0 = stablehlo.cholesky %a, lower = true : tensor<3x3xf32>",
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {uplo = 76 : ui8} : (tensor<3x3xf16>) -> (tensor<3x3xf16>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {uplo = 76 : ui8} : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {uplo = 76 : ui8} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {uplo = 76 : ui8} : (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<i32>)",
            "%0 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mode = 65 : ui8} : (tensor<3x3xf32>) -> tensor<3xf32>",
            "%0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mode = 65 : ui8} : (tensor<0x3xf32>) -> (tensor<0x3xf32>, tensor<0xf32>, tensor<0x0xf32>, tensor<3x3xf32>, tensor<i32>)",
            "%0:5 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mode = 78 : ui8} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>)",
            "%0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8} : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>",
            "%0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8} : (tensor<3x3xf32>, tensor<3x3xf64>) -> tensor<3x3xf64>",
            "%0 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %b) : (tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x3x3xf32>",
            "%0 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %b) : (tensor<2x3x3xf32>, tensor<2x4xf32>) -> tensor<2x3x3xf32>",
            "%0 = stablehlo.add %a, %b : tensor<3x3xf32>",
        ] {
            assert_eq!(spelled_out(line), line);
        }
    }
}
