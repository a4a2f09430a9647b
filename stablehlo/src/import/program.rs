// SPDX-License-Identifier: Apache-2.0
//! Compiles the text of a program to an artifact.
//!
//! Arguments and results are arrays of element types that NumPy has: `bf16` is passed as f32, 4-bit integers as i8 and
//! u8, and complex numbers as reals with an additional last dimension of 2. A wrapper of the entry converts them.
//! All calls are inlined.

use super::element::Element;
use super::entry::{entry, op_name};
use super::reading::normalized;
use super::refine::Shapes;
use super::refusal::{Refusal, malformed, refusal_at, refused};
use super::to_linalg::Tensor;
use super::{
    allowed, calls, decompose, ends, extents, factorization, limits, literals, parts, refine, resources,
    survey, unreadable,
};
use melior::dialect::DialectRegistry;
use melior::ir::attribute::{ArrayAttribute, FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;
use melior::ir::{Module, OperationRef, Type, Value, ValueLike};
use melior::{Context, Error};
use skript_dialect::melior;
use skript_dialect::op;
use skript_passes::codegen::{CodegenError, Interface};
use skript_passes::compile::{compile_tensors, compile_tensors_for_profile};
use skript_passes::ir::{self, Builder, attribute_names, attributes, context, ops, types};
use skript_passes::target::TargetDescription;
use skript_runtime::artifact::{Artifact, Port, PortExtent};
use skript_runtime::profile::Step;
use skript_semantics::RealType;
use skript_tensor::ElementType;

/// A compiled program.
pub struct Program {
    /// The object code and its interface.
    pub artifact: Artifact,
    /// The types of the arguments in the program; the artifact's ports describe the arrays.
    pub arguments: Vec<Tensor>,
    /// The types of the results in the program.
    pub results: Vec<Tensor>,
}

/// The passes between StableHLO and code generation.
pub(crate) const PASSES: &str = "inline,symbol-dce,canonicalize,convert-stablehlo-to-linalg,\
    convert-skript-elementwise-to-linalg,convert-stablehlo-scalar-to-arith,skript-drop-signs,\
    convert-complex-to-standard,skript-guard-angles,canonicalize,cse,skript-fuse-elementwise{maps-only=true},canonicalize,cse";

/// The passes that compile a program, as `skript-opt --pass-pipeline` accepts them. They run after the wrapper of the
/// entry was added, which converts arguments and results.
pub fn pipeline_text(target: &TargetDescription) -> String {
    skript_passes::compile::tensors_pipeline_text(PASSES, target)
}

/// The name of the wrapper of the entry.
const WRAPPER: &str = "skript.around";

/// Compiles a program: `@main`, or the only public function.
///
/// # Errors
/// Returns all errors: invalid text and unsupported operations.
pub fn compile(text: &str, target: &TargetDescription) -> Result<Program, Vec<Refusal>> {
    compile_unless(text, target, &mut |_| None, |_| None)
}

/// Compiles as [`compile`] does, unless `kept` returns code that was compiled earlier from the same text. `kept`
/// receives the interface that the code must have. `shapes` returns the shapes of the arguments, if the program has
/// symbolic dimensions.
///
/// # Errors
/// As for [`compile`].
pub fn compile_unless(
    text: &str,
    target: &TargetDescription,
    shapes: &mut Shapes,
    kept: impl FnOnce(&Interface) -> Option<Artifact>,
) -> Result<Program, Vec<Refusal>> {
    let make = |module: &Module, interface| compile_tensors(module, interface, target);
    compile_with(text, shapes, kept, make)
}

/// Like [`compile`], with code that reports the current step to the runtime; returns the steps as well.
///
/// # Errors
/// As for [`compile`].
pub fn compile_for_profile(
    text: &str,
    target: &TargetDescription,
    shapes: &mut Shapes,
) -> Result<(Program, Vec<Step>), Vec<Refusal>> {
    let mut steps = Vec::new();
    let program = compile_with(
        text,
        shapes,
        |_| None,
        |module, interface| {
            let (artifact, profiled) = compile_tensors_for_profile(module, interface, target)?;
            steps = profiled;
            Ok(artifact)
        },
    )?;
    Ok((program, steps))
}

/// Lowers a program to linalg and compiles it by `make`, unless `kept` returns code.
fn compile_with(
    text: &str,
    shapes: &mut Shapes,
    kept: impl FnOnce(&Interface) -> Option<Artifact>,
    make: impl FnOnce(&Module, Interface) -> Result<Artifact, CodegenError>,
) -> Result<Program, Vec<Refusal>> {
    crate::register();
    // Until the program has been parsed, the context has only the dialects of programs.
    let context = Context::new();
    context.enable_multi_threading(false);
    let module = read(&context, text, survey::runs)?;
    ir::load_all(&context);
    if refine::is_dynamic(&module) {
        refine::refine(&module, shapes)?;
    }
    expand(&module)?;
    let entry = entry(&module).map_err(|e| vec![e])?;
    let (arguments, results) = ir::signature(entry).map_err(|e| refused(&e))?;
    let mut refusals = Vec::new();
    let arguments = tensors(entry, &arguments, "argument", &mut refusals);
    let results = tensors(entry, &results, "result", &mut refusals);
    refusals.extend(extents::unusable(&module));
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let interface = Interface { inputs: ports(&arguments), outputs: ports(&results), ..Interface::default() };
    if let Some(artifact) = kept(&interface) {
        return Ok(Program { artifact, arguments, results });
    }
    hide(&module);
    wrap(entry, &arguments, &results).map_err(|e| refused(&CodegenError::Module(e.to_string())))?;
    ir::run_pipeline(&module, "lowering to linalg", PASSES).map_err(|e| refused(&e))?;
    let artifact = make(&module, interface).map_err(|e| refused(&e))?;
    Ok(Program { artifact, arguments, results })
}

/// Parses a text in either spelling; removes attributes that its operations do not define; registers the dialects of
/// programs in the context.
///
/// # Errors
/// Fails on operations for which `is_supported` is false (all are listed), on invalid MLIR, and if the program exceeds
/// a limit.
pub(super) fn read<'c>(
    context: &'c Context,
    text: &str,
    is_supported: fn(&str) -> bool,
) -> Result<Module<'c>, Vec<Refusal>> {
    if let Some(refusal) = unreadable::refusal(text) {
        return Err(vec![refusal]);
    }
    let foreign = ends::foreign_returns(text);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    let text = normalized(text);
    if let Some(refusal) = limits::refusal(&text) {
        return Err(vec![refusal]);
    }
    if let Some(refusal) = survey::refusal(&survey::unsupported(&text, is_supported)) {
        return Err(vec![refusal]);
    }
    let stray = literals::stray(&text);
    if !stray.is_empty() {
        return Err(stray);
    }
    let registry = DialectRegistry::new();
    skript_dialect::register_programs(&registry);
    context.append_dialect_registry(&registry);
    context.set_allow_unregistered_dialects(false);
    let (module, messages) = ir::collecting(context, || Module::parse(context, &text));
    let module = module.ok_or_else(|| -> Vec<Refusal> { messages.iter().map(|m| malformed(m)).collect() })?;
    allowed::strip(&module);
    let foreign = allowed::refusals(&module, is_supported);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    resources::inline(&module);
    decompose::decompose(module.as_operation()).map_err(|e| refused(&CodegenError::Module(e.to_string())))?;
    match calls::refusals(&module) {
        endless if endless.is_empty() => Ok(module),
        endless => Err(endless),
    }
}

/// Expands custom calls to library operators.
///
/// # Errors
/// Fails on custom calls that are not supported, and if the program then exceeds a limit.
pub(super) fn expand(module: &Module) -> Result<(), Vec<Refusal>> {
    let unknown = factorization::expand(module.as_operation()).into_iter().map(|call| {
        let name = format!("{} @{}", ops::stablehlo::CUSTOM_CALL, call.target());
        (name, refusal_at(call.op(), "").source_position)
    });
    if let Some(refusal) = survey::refusal(&survey::grouped(unknown)) {
        return Err(vec![refusal]);
    }
    match calls::refusals(module) {
        endless if endless.is_empty() => Ok(()),
        endless => Err(endless),
    }
}

fn tensors(entry: OperationRef, types: &[Type], role: &str, refusals: &mut Vec<Refusal>) -> Vec<Tensor> {
    let mut tensors = Vec::new();
    for (n, r#type) in types.iter().enumerate() {
        match Tensor::from_type(*r#type) {
            Some(tensor) if !tensor.extents.contains(&types::DYNAMIC) => tensors.push(tensor),
            other => refusals.push(Refusal {
                malformed: false,
                message: match other {
                    Some(_) => format!(
                        "{role} {n} of `{}` is {type}: extents must be known; export the program for fixed shapes",
                        op_name(entry)
                    ),
                    None => format!("{role} {n} of `{}` is {type}, which is not supported", op_name(entry)),
                },
                source_position: None,
            }),
        }
    }
    tensors
}

/// Makes all functions private.
fn hide(module: &Module) {
    for function in op::collect(&module.as_operation(), |op| op::is(&op, ops::func::FUNC)) {
        ir::set_string(function, "sym_visibility", "private");
    }
}

/// The array type that represents a tensor.
fn outer(tensor: &Tensor) -> Tensor {
    let mut extents = tensor.extents.clone();
    let element = match tensor.element {
        Element::Complex(part) => {
            extents.push(2);
            Element::Float(part)
        }
        Element::Float(RealType::BF16) => Element::Float(RealType::F32),
        Element::Signed(4) => Element::Signed(8),
        Element::Unsigned(4) => Element::Unsigned(8),
        other => other,
    };
    Tensor { extents, element }
}

/// Appends the wrapper of the entry, which converts arrays, to the module.
fn wrap<'c: 'a, 'a>(
    entry: OperationRef<'c, 'a>,
    arguments: &[Tensor],
    results: &[Tensor],
) -> Result<(), Error> {
    let at =
        Builder::at_end(context::of(entry), entry.block().ok_or(Error::OperationBuild)?, entry.location());
    let types = |tensors: &[Tensor]| tensors.iter().map(|t| t.r#type(at.context)).collect::<Vec<_>>();
    let arrays = |tensors: &[Tensor]| types(&tensors.iter().map(outer).collect::<Vec<_>>());
    let (region, body, parameters) = at.region(&arrays(arguments));
    let passed = parameters.into_iter().zip(arguments);
    let passed: Vec<Value> = passed.map(|(array, tensor)| inward(&body, array, tensor)).collect();
    let callee = [("callee", FlatSymbolRefAttribute::new(at.context, &op_name(entry)).into())];
    let call = body.create(ops::func::CALL, &passed, &callee, &types(results), Vec::new())?;
    let returned = call.results().zip(results);
    let returned: Vec<Value> = returned.map(|(value, tensor)| outward(&body, value.into(), tensor)).collect();
    body.create(ops::func::RETURN, &returned, &[], &[], Vec::new())?;
    let is_kept = ("bufferization.writable", attributes::boolean(at.context, false));
    let is_kept = vec![attributes::dictionary(at.context, &[is_kept]); arguments.len()];
    let r#type = FunctionType::new(at.context, &arrays(arguments), &arrays(results));
    let entries = [
        ("sym_name", attributes::string(at.context, WRAPPER)),
        ("function_type", TypeAttribute::new(r#type.into()).into()),
        ("arg_attrs", ArrayAttribute::new(at.context, &is_kept).into()),
        (attribute_names::ENTRY, attributes::unit(at.context)),
    ];
    at.create(ops::func::FUNC, &[], &entries, &[], vec![region])?;
    Ok(())
}

/// Converts an array to the tensor of the program.
fn inward<'c: 'a, 'a>(at: &Builder<'c, 'a>, array: Value<'c, 'a>, tensor: &Tensor) -> Value<'c, 'a> {
    match tensor.element {
        Element::Complex(_) => parts::join(at, array, tensor, tensor.rank()),
        _ => converted(at, array, tensor),
    }
}

/// Converts a tensor of the program to its array.
fn outward<'c: 'a, 'a>(at: &Builder<'c, 'a>, value: Value<'c, 'a>, tensor: &Tensor) -> Value<'c, 'a> {
    match tensor.element {
        Element::Complex(_) => parts::split(at, value, tensor.rank()),
        _ => converted(at, value, &outer(tensor)),
    }
}

fn converted<'c: 'a, 'a>(at: &Builder<'c, 'a>, value: Value<'c, 'a>, to: &Tensor) -> Value<'c, 'a> {
    let to = to.r#type(at.context);
    let operation = if value.r#type() == to { ops::stablehlo::RESHAPE } else { ops::stablehlo::CONVERT };
    at.make(operation, &[value], &[], to)
}

fn ports(tensors: &[Tensor]) -> Vec<Port> {
    let port = |(n, tensor): (usize, &Tensor)| {
        let array = outer(tensor);
        Port {
            name: n.to_string(),
            aliases: Vec::new(),
            element: element_type(array.element),
            imported: None,
            shape: array.extents.iter().map(|e| PortExtent::Fixed(e.unsigned_abs())).collect(),
            pack: None,
        }
    };
    tensors.iter().enumerate().map(port).collect()
}

/// The element type of an array; `element` is an element type that [`outer`] returns.
fn element_type(element: Element) -> ElementType {
    match element {
        Element::Pred => ElementType::Bool,
        Element::Signed(4 | 8) => ElementType::I8,
        Element::Signed(16) => ElementType::I16,
        Element::Signed(32) => ElementType::I32,
        Element::Signed(_) => ElementType::I64,
        Element::Unsigned(4 | 8) => ElementType::U8,
        Element::Unsigned(16) => ElementType::U16,
        Element::Unsigned(32) => ElementType::U32,
        Element::Unsigned(_) => ElementType::U64,
        Element::Float(float) | Element::Complex(float) => match float {
            RealType::F16 => ElementType::F16,
            RealType::BF16 => ElementType::BF16,
            RealType::F32 => ElementType::F32,
            RealType::F64 => ElementType::F64,
        },
    }
}
