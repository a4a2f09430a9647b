// SPDX-License-Identifier: Apache-2.0
//! Matrix factorizations and triangular systems, expanded to operations on full tensors: those that are StableHLO
//! operations, and those that programs call by name in custom calls.
//!
//! Each becomes a loop over columns that processes all matrices of a batch together. Matrices are the last two
//! dimensions. Elements are real or complex, with parts of 32 or 64 bits.

mod arrays;
mod eigen;
mod householder;
mod lower_upper;
mod parts;
mod singular;
mod triangular;

use super::to_linalg::{Found, Tensor};
use crate::typed::CustomCall;
use arrays::{Array, Arrays};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Module, OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{PassError, op};
use skript_passes::ir::splice::splice;
use skript_passes::ir::{self, attributes, ops};

/// The supported element types of matrices.
const ELEMENTS: [&str; 4] = ["f32", "f64", "complex<f32>", "complex<f64>"];

/// Whether an operation is a StableHLO operation on matrices that is expanded here.
pub(crate) fn is_operation(found: OperationRef) -> bool {
    let name = op::name(&found);
    let is_one = name == ops::stablehlo::CHOLESKY || name == ops::stablehlo::TRIANGULAR_SOLVE;
    let mut results = found.results().map(|r| Tensor::of(r.r#type()));
    is_one && results.all(|r| r.is_none_or(|r| r.volume() != 0))
}

/// The expansion of a StableHLO operation on matrices: text in front of it, and the values that replace its results.
///
/// # Errors
/// Fails if element type or extents are not supported.
pub(crate) fn in_place<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let found = Found::of(op)?;
    let result = found.result()?;
    let element = result.element.text();
    if !ELEMENTS.contains(&element.as_str()) {
        return Err(PassError::from(format!(
            "has no code for matrices of {element}: convert them to f32 in front of it"
        )));
    }
    let operands = arrays(&found.operands);
    let word = |name: &str| op.attribute(name).map(|a| a.to_string());
    let holds = |name: &str| word(name).is_ok_and(|value| value == "true");
    let lower = holds("lower");
    let mut t = Arrays::new("%factor");
    let solved = match operands.as_slice() {
        [a] => triangular::cholesky(&mut t, a, lower).map(|(root, _)| triangular::half(&mut t, &root, lower)),
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

/// The operands of a template.
fn arrays(tensors: &[Tensor]) -> Vec<Array> {
    let array = |(n, tensor): (usize, &Tensor)| Array {
        name: format!("%{n}"),
        extents: tensor.extents.clone(),
        element: tensor.element.text(),
    };
    tensors.iter().enumerate().map(array).collect()
}

/// Replaces custom calls of factorizations; returns the calls that are not supported.
pub(crate) fn expand<'c: 'a, 'a>(module: &'a Module<'c>) -> Vec<CustomCall<'c, 'a>> {
    let operations = op::collect(&module.as_operation(), |_| true);
    let mut calls: Vec<_> = operations.into_iter().filter_map(CustomCall::cast).collect();
    calls.retain(|call| {
        let Some(values) = called(*call) else {
            return true;
        };
        for (result, value) in call.op().results().zip(values) {
            ir::replace_uses(result.into(), value);
        }
        ir::erase(call.op());
        false
    });
    calls
}

/// The results of a custom call; `None` if its target or its tensors are not supported.
fn called<'c: 'a, 'a>(call: CustomCall<'c, 'a>) -> Option<Vec<Value<'c, 'a>>> {
    let found = Found::of(call.op()).ok()?;
    let routine = Routine::named(&call.target())?;
    let mut t = Arrays::new("%factor");
    let operands = arrays(&found.operands);
    let solved = computed(&mut t, routine, (&operands, &found.results), call)?;
    let types = found.results.iter().map(Tensor::text);
    if !solved.iter().map(Array::r#type).eq(types) {
        return None;
    }
    let results = solved.iter().map(|a| (a.name.clone(), a.r#type()));
    let results: Vec<_> = results.collect();
    Some(splice(call.op(), &found.values, t.text(), &results).ok()?.values)
}

/// The computations that custom calls can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Routine {
    Cholesky,
    Eigen,
    Householder,
    HouseholderProduct,
    LowerUpper,
    Singular,
    Triangular,
}

impl Routine {
    fn named(target: &str) -> Option<Self> {
        // LAPACK has a letter for the element type, and different words for reals and complex numbers.
        let routine = target.strip_prefix("lapack_").and_then(|r| r.strip_suffix("_ffi"));
        let routine = routine.and_then(|r| r.strip_prefix(['s', 'd', 'c', 'z']));
        Some(match routine.unwrap_or(target) {
            "potrf" => Routine::Cholesky,
            "syevd" | "heevd" => Routine::Eigen,
            "geqrf" | "cusolver_geqrf_ffi" | "Qr" => Routine::Householder,
            "orgqr" | "ungqr" | "cusolver_orgqr_ffi" => Routine::HouseholderProduct,
            "ProductOfElementaryHouseholderReflectors" => Routine::HouseholderProduct,
            "getrf" | "cusolver_getrf_ffi" => Routine::LowerUpper,
            "gesdd" | "gesvd" => Routine::Singular,
            "trsm" => Routine::Triangular,
            _ => return None,
        })
    }
}

/// Whether a custom call with this target name is supported for some tensors.
pub(crate) fn is_known(target: &str) -> bool {
    Routine::named(target).is_some()
}

/// The results of a custom call with this target name.
fn computed(
    t: &mut Arrays,
    routine: Routine,
    (operands, results): (&[Array], &[Tensor]),
    call: CustomCall,
) -> Option<Vec<Array>> {
    let [first, ..] = operands else {
        return None;
    };
    let alike = operands.iter().all(|o| o.element == first.element);
    if !ELEMENTS.contains(&first.element.as_str()) || first.rank() < 2 || !alike {
        return None;
    }
    let letter = |key: &str| {
        let letter = attributes::entry(call.configuration()?, key)?;
        let letter = IntegerAttribute::try_from(letter).ok()?.unsigned_value();
        u8::try_from(letter).ok().map(char::from)
    };
    Some(match (routine, operands) {
        (Routine::Triangular, [a, b]) => {
            let system = triangular::System {
                left: letter("side")? == 'L',
                lower: letter("uplo")? == 'L',
                transposed: letter("trans_x")? != 'N',
                conjugate: letter("trans_x")? == 'C',
                unit: letter("diag")? == 'U',
            };
            vec![system.solve(t, a, b)?]
        }
        (Routine::Cholesky, [a]) => {
            let (root, info) = triangular::cholesky(t, a, letter("uplo")? == 'L')?;
            vec![root, info]
        }
        (Routine::LowerUpper, [a]) => lower_upper::factors(t, a).into(),
        (Routine::Householder, [a]) => householder::factors(t, a).into(),
        (Routine::HouseholderProduct, [a, taus]) => vec![householder::product(t, a, taus)?],
        (Routine::Singular, [a]) => {
            let is_square = |result: usize| match results.get(result).map(|r| &r.extents[..]) {
                Some([.., height, width]) => height == width,
                _ => false,
            };
            let found = singular::values(t, a, is_square(2) && is_square(3))?;
            vec![a.clone(), found.values, found.left, found.right, found.info]
        }
        (Routine::Eigen, [a]) => eigen::symmetric(t, a, letter("uplo")? == 'L')?.into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::Context;
    use melior::dialect::DialectRegistry;

    /// The number of remaining custom calls of a program, and the program.
    fn expanded(lines: &str, arguments: &str) -> (usize, String) {
        let context = Context::new();
        let registry = DialectRegistry::new();
        skript_dialect::register_programs(&registry);
        context.append_dialect_registry(&registry);
        let text = format!("func.func @main({arguments}) {{\n{lines}\nreturn\n}}");
        let module = Module::parse(&context, &text).unwrap();
        let left = expand(&module).len();
        assert!(module.as_operation().verify());
        (left, module.as_operation().to_string())
    }

    #[test]
    fn calls_that_have_a_form_are_replaced() {
        let (left, text) = expanded(
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {backend_config = \"\", mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>)\n\
             %1 = \"stablehlo.custom_call\"(%0#0) <{call_target_name = \"lapack_sorgqr_ffi\", backend_config = \"\"}> : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>",
            "%a: tensor<2x3x3xf32>",
        );
        assert_eq!(left, 1);
        assert!(text.contains("stablehlo.while("), "{text}");
        assert_eq!(text.matches("custom_call").count(), 1, "{text}");
    }

    #[test]
    fn calls_that_have_none_stay() {
        for call in [
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3x3xf16>) -> (tensor<3x3xf16>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)",
            "%0:1 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<3x3xf32>) -> (tensor<3xf32>)",
            "%0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<0x3xf32>) -> (tensor<0x3xf32>, tensor<0xf32>, tensor<0x0xf32>, tensor<3x3xf32>, tensor<i32>)",
            "%0:5 = stablehlo.custom_call @lapack_sgees_ffi(%a) {mhlo.backend_config = {mode = 78 : ui8}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i32>)",
            "%0:2 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>)",
            "%0:1 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<3x3xf32>, tensor<3xf32>) -> (tensor<3xf32>)",
            "%0:1 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<3x3xf32>, tensor<3x3xf64>) -> (tensor<3x3xf64>)",
            "%0:1 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %b) {mhlo.backend_config = {}} : (tensor<2x3x3xf32>, tensor<f32>) -> (tensor<2x3x3xf32>)",
            "%0:1 = stablehlo.custom_call @lapack_sorgqr_ffi(%a, %b) {mhlo.backend_config = {}} : (tensor<2x3x3xf32>, tensor<2x4xf32>) -> (tensor<2x3x3xf32>)",
        ] {
            let inputs = call.split_once(" : (").and_then(|(_, types)| types.split_once(") -> "));
            let inputs = inputs.unwrap().0.split(", ").zip(["%a", "%b"]);
            let arguments: Vec<_> = inputs.map(|(t, name)| format!("{name}: {t}")).collect();
            let (left, text) = expanded(call, &arguments.join(", "));
            assert_eq!(left, 1, "{text}");
        }
    }
}
