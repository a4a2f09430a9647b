// SPDX-License-Identifier: Apache-2.0
//! Converts operations that are defined as SkriptND operators in `library/`.
//!
//! The operator is composed for the shapes of the operation and lowered like an operator of a model. Its body replaces
//! the operation.

use super::element::{Element, converted};
use super::parts;
use super::to_linalg::{SourceOp, Tensor};
use melior::ir::{Module, Value};
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::{Severity, Sink};
use skript_frontend::limits::Limits;
use skript_frontend::source_files::load_text;
use skript_passes::emit::emit;
use skript_passes::ir::{self, Builder, regions};
use skript_passes::pipeline::Pipeline;
use skript_semantics::{Numbers, RealType};
use std::path::Path;

const SOURCES: [&str; 3] = [
    include_str!("../../library/functions.sknd"),
    include_str!("../../library/linear.sknd"),
    include_str!("../../library/spectral.sknd"),
];

/// How a tensor of a program is passed to an operator or returned from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// Reals; half-precision floats are converted to f32.
    Reals,
    /// The parts of complex numbers, or real numbers, along an additional first dimension.
    Parts,
    /// 64-bit integers.
    Integers,
    /// A result that is the first operand.
    Unchanged,
}

impl Passing {
    /// The type of a tensor in the operator; `None` if the operator does not support the tensor.
    fn inside(self, tensor: &Tensor) -> Option<Tensor> {
        match (self, tensor.element) {
            (Passing::Parts, _) => parts::along(tensor, 0),
            (Passing::Reals, Element::Float(float)) => {
                let wide = if float.is_half() { RealType::F32 } else { float };
                Some(tensor.with_element(Element::Float(wide)))
            }
            (Passing::Integers, Element::Signed(32)) => Some(tensor.with_element(Element::Signed(64))),
            _ => None,
        }
    }

    /// Converts a value of the program, which has a type in the operator.
    fn inward<'c: 'a, 'a>(
        self,
        at: &Builder<'c, 'a>,
        value: Value<'c, 'a>,
        inside: &Tensor,
    ) -> Value<'c, 'a> {
        match self {
            Passing::Parts => parts::split(at, value, 0),
            _ => converted(value, inside.r#type(at.context), at),
        }
    }

    /// Converts a result of the operator.
    fn outward<'c: 'a, 'a>(
        self,
        at: &Builder<'c, 'a>,
        value: Value<'c, 'a>,
        tensor: &Tensor,
    ) -> Value<'c, 'a> {
        match self {
            Passing::Parts => parts::join(at, value, tensor, 0),
            _ => converted(value, tensor.r#type(at.context), at),
        }
    }
}

/// An operator with its attributes, and the conversions of its operands and results.
pub(super) struct Invocation<'n> {
    pub operator: &'n str,
    /// `name=value, …`
    pub attributes: String,
    pub operands: &'n [Passing],
    pub results: &'n [Passing],
}

impl Invocation<'_> {
    /// Inserts the body of the operator before an operation; returns the values that replace its results.
    ///
    /// # Errors
    /// Fails if the operator does not support the types and shapes of operands and results.
    pub(super) fn replace<'c: 'a, 'a>(
        &self,
        source: &SourceOp<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, PassError> {
        let unsupported = || PassError::from("has no form for tensors of these types and shapes");
        if source.operands.len() != self.operands.len() || source.results.len() != self.results.len() {
            return Err(unsupported());
        }
        let (unchanged, returned): (Vec<_>, Vec<_>) =
            self.results.iter().zip(&source.results).partition(|(p, _)| **p == Passing::Unchanged);
        if unchanged.iter().any(|(_, tensor)| source.operands.first() != Some(tensor)) {
            return Err(unsupported());
        }
        let outputs: Option<Vec<Tensor>> =
            returned.into_iter().map(|(passing, tensor)| passing.inside(tensor)).collect();
        let outputs = outputs.ok_or_else(unsupported)?;

        let inputs =
            self.operands.iter().zip(&source.operands).map(|(passing, tensor)| passing.inside(tensor));
        let inputs: Vec<Tensor> = inputs.collect::<Option<_>>().ok_or_else(unsupported)?;
        let module = self.lowered(source, &inputs, &outputs)?;
        let at = &source.at;
        let operands = self.operands.iter().zip(&source.values).zip(&inputs);
        let operands: Vec<Value> =
            operands.map(|((passing, value), inside)| passing.inward(at, *value, inside)).collect();
        let function = ir::operations(module.body()).first().copied().ok_or("a module without functions")?;
        let mut values = regions::inline_function(source.op, function, &operands)?.into_iter();
        let results = self.results.iter().zip(&source.results);
        let results = results.map(|(passing, tensor)| match passing {
            Passing::Unchanged => source.values.first().copied(),
            _ => Some(passing.outward(at, values.next()?, tensor)),
        });
        results.collect::<Option<_>>().ok_or_else(unsupported)
    }

    /// Composes the operator for these tensors and lowers it to `linalg`.
    ///
    /// # Errors
    /// Fails with the first error in the text if the operator does not support the tensors.
    fn lowered<'c>(
        &self,
        source: &SourceOp<'c, '_>,
        inputs: &[Tensor],
        outputs: &[Tensor],
    ) -> Result<Module<'c>, PassError> {
        let (limits, mut sink) = (Limits::default(), Sink::default());
        let definition = format!("\noperator {} {{", self.operator);
        let library = SOURCES.iter().find(|text| text.contains(&definition));
        let library = library.ok_or("internal compiler error: the library lacks an operator")?;
        let text = format!("{library}\n{}", self.graph(inputs, outputs));
        let program = load_text(&text, Path::new("stablehlo.sknd"), None, &limits, &mut sink);
        check_program(&program, &mut sink);
        let is_wide = |tensor: &Tensor| tensor.element == Element::Float(RealType::F64);
        let real = if inputs.iter().any(is_wide) { RealType::F64 } else { RealType::F32 };
        let numbers = Numbers { real, ..Numbers::default() };
        let options = ComposeOptions { numbers, ..ComposeOptions::default() };
        let Some(model) = compose(&program, &options, &limits, &mut sink) else {
            let first = sink.into_sorted().into_iter().find(|d| d.severity == Severity::Error);
            let reason = first
                .map(|d| d.message)
                .ok_or("internal compiler error: the composer failed without a reason")?;
            return Err(format!("is not supported for tensors of these shapes: {reason}").into());
        };
        let context = ir::context::of(source.op);
        let module = emit(&model, &program.sources, context).map_err(|e| e.to_string())?;
        let pipeline = Pipeline::named("skript-to-linalg").ok_or("internal compiler error: no pipeline")?;
        // The inliner does not move operations of `affine` into loops.
        let passes = pipeline.text() + ",lower-affine";
        ir::run_pipeline(&module, "lowering an operator", &passes).map_err(|e| e.to_string())?;
        Ok(module)
    }

    /// A graph that invokes the operator on tensors `x0`, `x1`, ….
    fn graph(&self, inputs: &[Tensor], outputs: &[Tensor]) -> String {
        let port = |letter: char, n: usize, tensor: &Tensor| {
            let extents: Vec<String> = tensor.extents.iter().map(i64::to_string).collect();
            let kind = if matches!(tensor.element, Element::Float(_)) { "real" } else { "int" };
            format!("{letter}{n}: {kind}[{}]; ", extents.join(","))
        };
        let ports = |letter, tensors: &[Tensor]| -> String {
            tensors.iter().enumerate().map(|(n, tensor)| port(letter, n, tensor)).collect()
        };
        let names = |letter: char, count: usize| -> String {
            (0..count).map(|n| format!("{letter}{n}")).collect::<Vec<_>>().join(", ")
        };
        format!(
            "graph Program {{ @input {{ {} }} @output {{ {} }} @compose {{ {} = {}{{{}}}({}); }} }}\n",
            ports('x', inputs),
            ports('y', outputs),
            names('y', outputs.len()),
            self.operator,
            self.attributes,
            names('x', inputs.len())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_without_errors() {
        for source in SOURCES {
            let (limits, mut sink) = (Limits::default(), Sink::default());
            let program = load_text(source, Path::new("stablehlo.sknd"), None, &limits, &mut sink);
            check_program(&program, &mut sink);
            let messages: Vec<String> = sink.into_sorted().into_iter().map(|d| d.message).collect();
            assert_eq!(messages, ["the main file defines no graph"]);
        }
    }
}
