// SPDX-License-Identifier: Apache-2.0
//! Compiles the text of a program to an artifact.
//!
//! Arguments and results are arrays of element types that NumPy has: `bf16` is passed as f32, 4-bit integers as i8 and
//! u8, and complex numbers as reals with an additional last dimension of 2. A function around the entry converts them.
//! All calls are inlined.

use super::element::{Element, Float};
use super::entry::{entry, op_name};
use super::reading::normalized;
use super::refine::Shapes;
use super::refusal::{Refusal, malformed, refusal_at, refused};
use super::to_linalg::Tensor;
use super::{
    allowed, calls, decompose, ends, extents, factorization, limits, literals, refine, resources, survey,
    unreadable,
};
use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::block::BlockLike;
use melior::ir::{Module, Operation, OperationRef, Type};
use skript_dialect::melior;
use skript_dialect::op;
use skript_passes::codegen::{CodegenError, Interface};
use skript_passes::compile::{compile_tensors, compile_tensors_for_profile};
use skript_passes::ir;
use skript_passes::ir::ops;
use skript_passes::ir::types;
use skript_passes::target::TargetDescription;
use skript_runtime::artifact::{Artifact, Port, PortExtent};
use skript_runtime::profile::Step;
use skript_tensor::ElementType;

/// A compiled program.
pub struct Program {
    /// The object code and its interface.
    pub artifact: Artifact,
    /// The arguments and results as the program declares them; the artifact's ports describe the arrays.
    pub arguments: Vec<Tensor>,
    /// The types of the results, in order.
    pub results: Vec<Tensor>,
}

/// The passes between StableHLO and code generation.
pub(crate) const PASSES: &str = "inline,symbol-dce,canonicalize,convert-stablehlo-to-linalg,\
    convert-skript-elementwise-to-linalg,convert-stablehlo-scalar-to-arith,skript-drop-signs,\
    convert-complex-to-standard,skript-guard-angles,canonicalize,cse,skript-fuse-elementwise,canonicalize,cse";

/// The passes that compile a program, as `skript-opt --pass-pipeline` accepts them. They run after a function that
/// converts arguments and results was added around the entry.
pub fn pipeline_text(target: &TargetDescription) -> String {
    skript_passes::compile::tensors_pipeline_text(PASSES, target)
}

/// The name of the function around the entry.
const AROUND: &str = "skript.around";

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

/// Compiles as [`compile`] does, to code that reports to the runtime which step it computes; returns the steps as well.
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
            let (artifact, found) = compile_tensors_for_profile(module, interface, target)?;
            steps = found;
            Ok(artifact)
        },
    )?;
    Ok((program, steps))
}

/// Compiles a program, with `make` from linalg on, unless there is kept code.
fn compile_with(
    text: &str,
    shapes: &mut Shapes,
    kept: impl FnOnce(&Interface) -> Option<Artifact>,
    make: impl FnOnce(&Module, Interface) -> Result<Artifact, CodegenError>,
) -> Result<Program, Vec<Refusal>> {
    crate::register();
    // It has the program's dialects only until the program has been parsed.
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
    let name = op_name(entry);
    hide(&module);
    let around = around(&name, &arguments, &results);
    let around = Module::parse(&context, &around);
    let around = around.and_then(|m| ir::operations(m.body()).last().map(|op| Operation::clone(op)));
    let around = around.ok_or_else(|| refused(&CodegenError::Module("no entry".to_owned())))?;
    module.body().append_operation(around);
    ir::run_pipeline(&module, "lowering to linalg", PASSES).map_err(|e| refused(&e))?;
    let artifact = make(&module, interface).map_err(|e| refused(&e))?;
    Ok(Program { artifact, arguments, results })
}

/// Parses a text in either spelling; removes attributes that its operations do not define; registers the dialects of
/// programs in the context.
///
/// # Errors
/// Fails on operations for which `is_taken` is false (all are listed), on invalid MLIR, and if the program exceeds a
/// limit.
pub(super) fn read<'c>(
    context: &'c Context,
    text: &str,
    is_taken: fn(&str) -> bool,
) -> Result<Module<'c>, Vec<Refusal>> {
    if let Some(refusal) = unreadable::refusal(text) {
        return Err(vec![refusal]);
    }
    let foreign = ends::of_others(text);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    let text = normalized(text);
    if let Some(refusal) = limits::refusal(&text) {
        return Err(vec![refusal]);
    }
    if let Some(refusal) = survey::refusal(&survey::without_code(&text, is_taken)) {
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
    let foreign = allowed::refusals(&module, is_taken);
    if !foreign.is_empty() {
        return Err(foreign);
    }
    resources::inline(&module);
    decompose::decompose(&module).map_err(|e| refused(&CodegenError::Module(e.to_string())))?;
    match calls::refusals(&module) {
        endless if endless.is_empty() => Ok(module),
        endless => Err(endless),
    }
}

/// Replaces custom calls by the operations that they stand for.
///
/// # Errors
/// Fails on custom calls that are not supported, and if the program then exceeds a limit.
pub(super) fn expand(module: &Module) -> Result<(), Vec<Refusal>> {
    let unknown = factorization::expand(module).into_iter().map(|call| {
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
    let mut found = Vec::new();
    for (n, r#type) in types.iter().enumerate() {
        match Tensor::of(*r#type) {
            Some(tensor) if !tensor.extents.contains(&types::DYNAMIC) => found.push(tensor),
            other => refusals.push(Refusal {
                malformed: false,
                message: match other {
                    Some(_) => format!(
                        "{role} {n} of `{}` is {type}: extents must be known; export the program for fixed shapes",
                        op_name(entry)
                    ),
                    None => format!("there is no code for {type}, {role} {n} of `{}`", op_name(entry)),
                },
                source_position: None,
            }),
        }
    }
    found
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
        Element::Float(Float::BF16) => Element::Float(Float::F32),
        Element::Signed(4) => Element::Signed(8),
        Element::Unsigned(4) => Element::Unsigned(8),
        other => other,
    };
    Tensor { extents, element }
}

/// The wrapper function that converts arrays, as StableHLO text; it declares the program's entry so that it parses.
///
/// The entry's name comes from the program: it is escaped, so that it cannot end the string that contains it.
fn around(name: &str, arguments: &[Tensor], results: &[Tensor]) -> String {
    let name = escaped(name);
    let mut text = String::new();
    let types = |tensors: &[Tensor]| tensors.iter().map(Tensor::text).collect::<Vec<_>>();
    let (from, to) = (types(arguments).join(", "), types(results).join(", "));
    let outside: Vec<Tensor> = results.iter().map(outer).collect();
    let parameters = arguments
        .iter()
        .enumerate()
        .map(|(n, t)| format!("%a{n}: {} {{bufferization.writable = false}}", outer(t).text()));
    text.push_str(&format!(
        "func.func private @\"{name}\"({from}) -> ({to})\n\
         func.func @\"{AROUND}\"({}) -> ({}) attributes {{skript.entry}} {{\n",
        parameters.collect::<Vec<_>>().join(", "),
        types(&outside).join(", ")
    ));
    for (n, tensor) in arguments.iter().enumerate() {
        text.push_str(&inward(n, tensor));
    }
    let names = |letter: char, count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("%{letter}{n}")).collect();
        names.join(", ")
    };
    let call = format!("func.call @\"{name}\"({}) : ({from}) -> ({to})\n", names('x', arguments.len()));
    let given = names('y', results.len());
    text.push_str(&if results.is_empty() { call } else { format!("{given} = {call}") });
    for (n, tensor) in results.iter().enumerate() {
        text.push_str(&outward(n, tensor));
    }
    let colon = if results.is_empty() { "" } else { " : " };
    text.push_str(&format!("return {}{colon}{}\n}}", names('z', results.len()), types(&outside).join(", ")));
    text
}

/// A name as the contents of a string in MLIR text.
fn escaped(name: &str) -> String {
    let byte = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("\\{byte:02X}"),
    };
    name.bytes().map(byte).collect()
}

/// Types of the real or imaginary parts of a tensor: without and with a last dimension of one element.
fn parts(tensor: &Tensor, part: Float) -> (String, String) {
    let reals = Tensor { extents: tensor.extents.clone(), element: Element::Float(part) };
    let thin = [&tensor.extents[..], &[1]].concat();
    (reals.text(), reals.with_extents(&thin).text())
}

/// `%xN` from `%aN`.
fn inward(n: usize, tensor: &Tensor) -> String {
    let array = outer(tensor);
    let (from, to) = (array.text(), tensor.text());
    if array == *tensor {
        return format!("%x{n} = stablehlo.reshape %a{n} : ({from}) -> {to}\n");
    }
    let Element::Complex(part) = tensor.element else {
        return format!("%x{n} = stablehlo.convert %a{n} : ({from}) -> {to}\n");
    };
    let (reals, thin) = parts(tensor, part);
    let ranges: String = tensor.extents.iter().map(|e| format!("0:{e}, ")).collect();
    let mut text = String::new();
    for (word, range) in [("re", "0:1"), ("im", "1:2")] {
        text.push_str(&format!(
            "%{word}s{n} = stablehlo.slice %a{n} [{ranges}{range}] : ({from}) -> {thin}\n\
             %{word}{n} = stablehlo.reshape %{word}s{n} : ({thin}) -> {reals}\n"
        ));
    }
    text + &format!("%x{n} = stablehlo.complex %re{n}, %im{n} : {to}\n")
}

/// `%zN` from `%yN`.
fn outward(n: usize, tensor: &Tensor) -> String {
    let array = outer(tensor);
    let (from, to) = (tensor.text(), array.text());
    if array == *tensor {
        return format!("%z{n} = stablehlo.reshape %y{n} : ({from}) -> {to}\n");
    }
    let Element::Complex(part) = tensor.element else {
        return format!("%z{n} = stablehlo.convert %y{n} : ({from}) -> {to}\n");
    };
    let (reals, thin) = parts(tensor, part);
    let mut text = String::new();
    for word in ["real", "imag"] {
        text.push_str(&format!(
            "%{word}{n} = stablehlo.{word} %y{n} : ({from}) -> {reals}\n\
             %{word}s{n} = stablehlo.reshape %{word}{n} : ({reals}) -> {thin}\n"
        ));
    }
    text + &format!(
        "%z{n} = stablehlo.concatenate %reals{n}, %imags{n}, dim = {} : ({thin}, {thin}) -> {to}\n",
        tensor.rank()
    )
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

/// The element type of an array; for outer types only.
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
            Float::F16 => ElementType::F16,
            Float::BF16 => ElementType::BF16,
            Float::F32 => ElementType::F32,
            Float::F64 => ElementType::F64,
        },
    }
}
