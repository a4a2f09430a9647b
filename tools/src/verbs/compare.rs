// SPDX-License-Identifier: Apache-2.0
//! `skript compare`: compares the outputs of compiled code with the reference evaluator, or with saved arrays.

use skript::{Compiler, Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::ANSWERS_DIFFER;
use skript_frontend::model;
use skript_frontend::source::Span;
use skript_passes::Options;
use skript_semantics::RealType;

use crate::command_line::CompareArguments;
use crate::console::{Console, Status};
use crate::engine::{Calls, Job};
use crate::outputs;
use crate::session::{Session, Stopped, reporter};
use crate::watch::Watch;

mod saved;
mod steps;

pub fn run(arguments: &CompareArguments, console: &mut Console) -> Status {
    let _watch = Watch::begin(arguments.call.stop.timeout, reporter(arguments.call.reading.message_format));
    let call = &arguments.call;
    call.threads.apply();
    call.target.announce(console);
    let mut session = Session::open_for_call(&arguments.model, &call.reading, &call.inputs);
    if let Some((model, (inputs, variables))) = session.compose_with_arrays(call) {
        let job = Job { model: &model, inputs: &inputs, variables: &variables };
        let report = match &arguments.with {
            Some(path) => saved::compare(arguments, &job, path, session.unpacked_bytes()),
            None => compare(arguments, &job),
        };
        match report {
            Ok(report) => crate::stdout::print(&skript_host::printable(&report)),
            Err(error) => session.report_all(error),
        }
    }
    session.close(console)
}

/// Compares the outputs of the graph as it is compiled otherwise; if they differ, or on request, every tensor of the graph.
fn compare(arguments: &CompareArguments, job: &Job) -> Result<String, Stopped> {
    let compiler = compiler(arguments);
    let is_integer = compiler.options_for(job.model.origin()).target.computes_integers();
    let both = |model: &Model| {
        let job = Job { model, ..*job };
        Ok::<_, Stopped>((job.evaluate(1)?.outputs, job.compute(&compiler, ONCE)?.outputs))
    };
    let model = job.model;
    let (expected, found) = both(model)?;
    let outputs = lines(arguments, model, is_integer, &expected, &found);
    let differs = outputs.iter().any(|l| !l.agrees);
    let detailed = if differs || arguments.keep_intermediates {
        let exposed = model.with_intermediates();
        let (expected, found) = both(&exposed)?;
        lines(arguments, &exposed, is_integer, &expected, &found)
    } else {
        Vec::new()
    };
    // If every tensor agrees that is computed as an output, only the outputs differ.
    let explained = detailed.iter().any(|l| !l.agrees);
    if differs && !explained {
        first_difference(&outputs, false)?;
    }
    first_difference(&detailed, true)?;
    let shown = if detailed.is_empty() { &outputs } else { &detailed };
    Ok(shown.iter().map(|line| format!("{} {}\n", line.name, line.text)).collect())
}

/// A call without a cache, as a command makes it.
const ONCE: Calls = Calls { count: 1, is_profiled: false, is_cached: false };

fn compiler(arguments: &CompareArguments) -> Compiler {
    let compiler = arguments.call.compiler();
    let options = Options { exchange: arguments.break_lowering.clone(), ..compiler.options().clone() };
    compiler.with_options(options)
}

/// The error for the first tensor that differs. It has the location of the tensor if `is_located`.
fn first_difference(lines: &[Line], is_located: bool) -> Result<(), Stopped> {
    let Some(at) = lines.iter().position(|line| !line.agrees) else { return Ok(()) };
    let (agreeing, rest) = lines.split_at(at);
    let Some(line) = rest.first() else { return Ok(()) };
    let message = format!("`{}` {}", line.name, line.text);
    let diagnostic = match line.span.filter(|_| is_located) {
        Some(span) => {
            Diagnostic::error(&ANSWERS_DIFFER, span, message).with_label("the first tensor that differs")
        }
        None => Diagnostic::without_location(&ANSWERS_DIFFER, message),
    };
    Err(match agreeing.last().filter(|_| is_located) {
        Some(last) => {
            let count = agreeing.len();
            let agree = if count == 1 { "tensor before it agrees" } else { "tensors before it agree" };
            let text = format!("{count} {agree}, the last is `{}`", last.name);
            diagnostic.with_note(None, text)
        }
        None => diagnostic,
    }
    .into())
}

/// The comparison of one tensor.
struct Line {
    name: String,
    agrees: bool,
    text: String,
    span: Option<Span>,
}

fn lines(
    arguments: &CompareArguments,
    model: &Model,
    is_integer: bool,
    expected: &[Tensor],
    found: &[Tensor],
) -> Vec<Line> {
    let model = model.ir();
    let (rtol, atol) = tolerances(model);
    let step = |e: &Tensor, f: &Tensor| steps::step(e, f).filter(|_| is_integer);
    let spans = spans(model);
    outputs::names(model)
        .into_iter()
        .enumerate()
        .map(|(position, name)| {
            let (agrees, text) = match (expected.get(position), found.get(position)) {
                (Some(e), Some(f)) => {
                    // Integer arithmetic may round a value to an adjacent step.
                    let with_step = || atol + step(e, f).unwrap_or(0.0);
                    let atol = arguments.atol.unwrap_or_else(with_step);
                    difference(e, f, arguments.rtol.unwrap_or(rtol), atol)
                }
                _ => (false, "is missing".to_string()),
            };
            Line { name, agrees, text, span: spans.get(position).copied() }
        })
        .collect()
}

/// The locations of the outputs, in the order of their tensors.
fn spans(model: &model::Model) -> Vec<Span> {
    let outputs = model.function(model.entry).into_iter().flat_map(|f| &f.outputs);
    outputs.flat_map(|port| port.tensors.values().iter().map(|_| port.span)).collect()
}

/// The relative and the absolute tolerance for rounding: a few ulp of the narrowest type of a tensor.
pub(super) fn tolerances(model: &model::Model) -> (f64, f64) {
    match narrowest(model) {
        RealType::F16 => (4e-3, 1e-3),
        RealType::BF16 => (3e-2, 1e-2),
        RealType::F32 => (1e-4, 1e-5),
        RealType::F64 => (1e-11, 1e-12),
    }
}

/// The type of reals in the graph with the fewest significant bits.
fn narrowest(model: &model::Model) -> RealType {
    let entry = model.function(model.entry).into_iter();
    let stored = entry.flat_map(|f| f.values.iter().map(|v| f.numbers_of(v).real));
    let digits = |real: &RealType| match real {
        RealType::BF16 => 8,
        RealType::F16 => 11,
        RealType::F32 => 24,
        RealType::F64 => 53,
    };
    stored.chain([model.numbers.real]).min_by_key(digits).unwrap_or(model.numbers.real)
}

/// Whether two tensors agree, and a description of the difference.
pub(super) fn difference(expected: &Tensor, found: &Tensor, rtol: f64, atol: f64) -> (bool, String) {
    if expected.shape() != found.shape() || expected.kind() != found.kind() {
        let show = |t: &Tensor| format!("{}{:?}", t.kind().name(), t.shape());
        return (false, format!("is {} instead of {}", show(found), show(expected)));
    }
    let number = |t: &Tensor, i: usize| match t.get(i) {
        Some(skript_semantics::Scalar::Real(v)) => v,
        Some(skript_semantics::Scalar::Int(v)) => v as f64,
        Some(skript_semantics::Scalar::Bool(v)) => f64::from(u8::from(v)),
        None => f64::NAN,
    };
    let (mut largest, mut wrong, mut first, mut worst) = (0.0f64, 0usize, None, (0.0f64, None));
    for i in 0..expected.volume() {
        let (e, f) = (number(expected, i), number(found, i));
        if e == f || e.is_nan() && f.is_nan() {
            continue;
        }
        let distance = (e - f).abs();
        largest = if distance.is_nan() { f64::INFINITY } else { largest.max(distance) };
        // Infinities and NaN never agree with another number, whatever the tolerance.
        if !distance.is_finite() || distance > atol + rtol * e.abs() {
            wrong += 1;
            first.get_or_insert((i, e, f));
            let distance = if distance.is_nan() { f64::INFINITY } else { distance };
            if distance > worst.0 {
                worst = (distance, Some((i, e, f)));
            }
        }
    }
    match first {
        Some((i, e, f)) => {
            let at = |i: usize| location(expected.shape(), i);
            let of = expected.volume();
            let mut text =
                format!("differs in {wrong} of {of} elements, first at {:?}: {f} instead of {e}", at(i));
            if let (_, Some((worst, e, f))) = worst
                && worst != i
            {
                text += &format!("; most at {:?}: {f} instead of {e}", at(worst));
            }
            (false, text)
        }
        None => (true, format!("{:?} agrees, largest difference {largest:.3e}", expected.shape())),
    }
}

/// The indices of a row-major position.
fn location(shape: &[u64], position: usize) -> Vec<u64> {
    let mut rest = position as u64;
    let mut indices: Vec<u64> = shape
        .iter()
        .rev()
        .map(|extent| {
            let extent = (*extent).max(1);
            let index = rest % extent;
            rest /= extent;
            index
        })
        .collect();
    indices.reverse();
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f32]) -> Tensor {
        Tensor::from_f32(&[values.len() as u64], values).unwrap()
    }

    #[test]
    fn a_difference_has_a_position() {
        let (agrees, text) = difference(&tensor(&[1.0, 2.0, 3.0]), &tensor(&[1.0, 2.5, 3.0]), 1e-4, 1e-5);
        assert!(!agrees);
        assert!(text.contains("1 of 3") && text.contains("[1]: 2.5 instead of 2"), "{text}");
        assert!(difference(&tensor(&[1.0]), &tensor(&[1.00001]), 1e-4, 0.0).0);
    }

    #[test]
    fn nan_agrees_only_with_nan() {
        assert!(difference(&tensor(&[f32::NAN]), &tensor(&[f32::NAN]), 0.0, 0.0).0);
        assert!(!difference(&tensor(&[f32::NAN]), &tensor(&[0.0]), 1.0, 1.0).0);
        assert!(difference(&tensor(&[f32::INFINITY]), &tensor(&[f32::INFINITY]), 0.0, 0.0).0);
        assert!(!difference(&tensor(&[f32::INFINITY]), &tensor(&[1.0]), 0.0, 0.0).0);
    }

    #[test]
    fn positions_are_row_major() {
        assert_eq!(location(&[2, 3], 4), [1, 1]);
    }
}
