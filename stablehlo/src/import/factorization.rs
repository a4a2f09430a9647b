// SPDX-License-Identifier: Apache-2.0
//! Converts matrix factorizations and triangular systems, which are StableHLO operations or custom calls, to operators
//! of the library.
//!
//! The last two dimensions are matrices. Elements are real or complex, with 32-bit or 64-bit parts.

use super::element::Element;
use super::library::{Invocation, Passing};
use super::to_linalg::{SourceOp, Tensor};
use crate::typed::CustomCall;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{PassError, op};
use skript_passes::ir::{self, attributes, ops};
use skript_semantics::RealType;

/// Whether an operation is a StableHLO operation on matrices that this module expands.
pub(crate) fn is_operation(source: OperationRef) -> bool {
    let name = op::name(&source);
    let is_one = name == ops::stablehlo::CHOLESKY || name == ops::stablehlo::TRIANGULAR_SOLVE;
    let mut results = source.results().map(|r| Tensor::from_type(r.r#type()));
    is_one && results.all(|r| r.is_none_or(|r| r.volume() != 0))
}

/// Expands a StableHLO operation on matrices: inserts operations before it; returns the values that replace its
/// results.
///
/// # Errors
/// Fails if element type or extents are not supported.
pub(crate) fn in_place<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let source = SourceOp::with_static_extents(op)?;
    let result = source.result()?;
    if !is_element(result.element) {
        return Err(PassError::from(format!(
            "is not supported on matrices of {}: convert them to f32 before it",
            result.element.text()
        )));
    }
    let word = |name: &str| op.attribute(name).map(|a| a.to_string());
    let holds = |name: &str| word(name).is_ok_and(|value| value == "true");
    let lower = holds("lower");
    let invocation = if source.operands.len() == 1 {
        cholesky("cholesky_factor", lower, &[Passing::Parts])
    } else {
        let form = word("transpose_a")?;
        let system = System {
            left: holds("left_side"),
            lower,
            transposed: !form.contains("NO_TRANSPOSE"),
            conjugate: form.contains("ADJOINT"),
            unit: holds("unit_diagonal"),
        };
        system.solved()
    };
    invocation.replace(&source)
}

/// Whether matrices with this element type are supported.
fn is_element(element: Element) -> bool {
    matches!(element, Element::Float(RealType::F32 | RealType::F64) | Element::Complex(_))
}

/// Replaces custom calls of factorizations; returns the calls that are not supported.
pub(crate) fn expand<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> Vec<CustomCall<'c, 'a>> {
    let operations = op::collect(&module, |_| true);
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

/// Expands a custom call; returns the values that replace its results. `None` if its target or its tensors are not
/// supported.
fn called<'c: 'a, 'a>(call: CustomCall<'c, 'a>) -> Option<Vec<Value<'c, 'a>>> {
    let source = SourceOp::with_static_extents(call.op()).ok()?;
    let routine = Routine::named(&call.target())?;
    let first = source.operands.first()?;
    let alike = source.operands.iter().all(|o| o.element == first.element);
    if !is_element(first.element) || first.rank() < 2 || !alike {
        return None;
    }
    invocation(routine, &source.results, call)?.replace(&source).ok()
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
        // LAPACK names have a letter for the element type, and some names differ between real and complex routines.
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

/// The invocation for a custom call; `None` if the call lacks an attribute, or if its results do not match the routine.
fn invocation(routine: Routine, results: &[Tensor], call: CustomCall) -> Option<Invocation<'static>> {
    use Passing::{Integers, Parts, Reals, Unchanged};
    let letter = |key: &str| {
        let letter = attributes::entry(call.configuration()?, key)?;
        let letter = IntegerAttribute::try_from(letter).ok()?.unsigned_value();
        u8::try_from(letter).ok().map(char::from)
    };
    let plain =
        |operator, operands, results| Invocation { operator, attributes: String::new(), operands, results };
    Some(match routine {
        Routine::Triangular => {
            let system = System {
                left: letter("side")? == 'L',
                lower: letter("uplo")? == 'L',
                transposed: letter("trans_x")? != 'N',
                conjugate: letter("trans_x")? == 'C',
                unit: letter("diag")? == 'U',
            };
            system.solved()
        }
        Routine::Cholesky => cholesky("cholesky", letter("uplo")? == 'L', &[Parts, Integers]),
        Routine::LowerUpper => plain("lower_upper", &[Parts], &[Parts, Integers, Integers]),
        Routine::Householder => plain("householder", &[Parts], &[Parts, Parts]),
        Routine::HouseholderProduct => plain("householder_product", &[Parts, Parts], &[Parts]),
        Routine::Singular => {
            let is_square = |result: usize| match results.get(result).map(|r| &r.extents[..]) {
                Some([.., height, width]) => height == width,
                _ => false,
            };
            if results.first()?.volume() == 0 {
                return None;
            }
            Invocation {
                operator: "singular_values",
                attributes: format!("whole={}", is_square(2) && is_square(3)),
                operands: &[Parts],
                results: &[Unchanged, Reals, Parts, Parts, Integers],
            }
        }
        Routine::Eigen => Invocation {
            operator: "symmetric_eigen",
            attributes: format!("lower={}", letter("uplo")? == 'L'),
            operands: &[Parts],
            results: &[Parts, Reals, Integers],
        },
    })
}

fn cholesky(operator: &'static str, lower: bool, results: &'static [Passing]) -> Invocation<'static> {
    Invocation { operator, attributes: format!("lower={lower}"), operands: &[Passing::Parts], results }
}

/// A triangular system `op(A) X = B`, or `X op(A) = B`.
struct System {
    /// Whether A is on the left.
    left: bool,
    /// Whether the lower triangle of A is read.
    lower: bool,
    transposed: bool,
    conjugate: bool,
    /// Whether the elements of the diagonal are assumed to be 1.
    unit: bool,
}

impl System {
    fn solved(&self) -> Invocation<'static> {
        let System { left, lower, transposed, conjugate, unit } = self;
        Invocation {
            operator: "triangular_solve",
            attributes: format!(
                "left={left}, lower={lower}, transposed={transposed}, conjugate={conjugate}, unit={unit}"
            ),
            operands: &[Passing::Parts, Passing::Parts],
            results: &[Passing::Parts],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::Context;
    use melior::dialect::DialectRegistry;
    use melior::ir::Module;

    /// Expands the custom calls of a program; returns the number of remaining calls and the program.
    fn expanded(lines: &str, arguments: &str) -> (usize, String) {
        let context = Context::new();
        let registry = DialectRegistry::new();
        skript_dialect::register_programs(&registry);
        context.append_dialect_registry(&registry);
        let text = format!("func.func @main({arguments}) {{\n{lines}\nreturn\n}}");
        let module = Module::parse(&context, &text).unwrap();
        crate::register();
        ir::load_all(&context);
        let left = expand(module.as_operation()).len();
        assert!(module.as_operation().verify());
        (left, module.as_operation().to_string())
    }

    #[test]
    fn supported_calls_are_replaced() {
        let (left, text) = expanded(
            "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {backend_config = \"\", mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x3x3xf32>) -> (tensor<2x3x3xf32>, tensor<2xi32>)\n\
             %1 = \"stablehlo.custom_call\"(%0#0) <{call_target_name = \"lapack_sorgqr_ffi\", backend_config = \"\"}> : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>",
            "%a: tensor<2x3x3xf32>",
        );
        assert_eq!(left, 1);
        assert!(text.contains("math.sqrt"), "{text}");
        assert_eq!(text.matches("custom_call").count(), 1, "{text}");
    }

    #[test]
    fn unsupported_calls_are_kept() {
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
