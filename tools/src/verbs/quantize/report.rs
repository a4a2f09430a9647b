// SPDX-License-Identifier: Apache-2.0
//! The tables of `skript quantize`, and its warnings.

use std::ops::Range;

use skript::{SumsOfProducts, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::QUANTIZATION_NOISE;
use skript_frontend::source::Span;

use super::accuracy::{Accuracy, decibels};
use super::calibration::{Calibration, Exposed, Run};
use super::observation::{channel_layout, for_each};
use super::operands::{Selected, Selection};
use crate::command_line::{QuantizeArgument, QuantizeArguments};
use crate::stopped::Stopped;
use crate::table::aligned;

/// The measurements of a quantized model.
pub struct Report<'a> {
    arguments: &'a QuantizeArguments,
    /// The sums of products in the code for integers.
    pub sums: SumsOfProducts,
    /// The number of sums of products whose operands are not quantized.
    skipped: usize,
    heading: String,
    outputs: Vec<Output>,
    tensors: Vec<Line>,
}

struct Output {
    name: String,
    /// The index of the output.
    position: usize,
    how: QuantizeArgument,
    accuracy: Accuracy,
}

/// A quantized tensor.
struct Line {
    name: String,
    span: Span,
    cells: [String; 4],
    accuracy: Accuracy,
}

impl<'a> Report<'a> {
    pub fn new(
        arguments: &'a QuantizeArguments,
        selection: &Selection,
        (calibrating, measuring): (&Range<usize>, &Range<usize>),
    ) -> Self {
        let calibrating_text = counted(calibrating.len(), "sample");
        let samples = if calibrating == measuring {
            format!("{calibrating_text} calibrate and measure")
        } else {
            format!("{calibrating_text} calibrate, {} measure", counted(measuring.len(), "other"))
        };
        let heading = format!(
            "{}: {} of {}; {samples}",
            arguments.output.display(),
            counted(selection.tensors.len(), "tensor"),
            counted(selection.products, "sum") + " of products",
        );
        Report {
            arguments,
            sums: SumsOfProducts::default(),
            skipped: selection.skipped.len(),
            heading,
            outputs: Vec::new(),
            tensors: Vec::new(),
        }
    }

    /// Adds the differences between tensors of the float model and their quantized values.
    pub fn add_tensors(
        &mut self,
        run: Run,
        selected: &[Selected],
        calibration: &Calibration,
        exposed: &Exposed,
        samples: Range<usize>,
    ) -> Result<(), Stopped> {
        let mut accuracies = vec![Accuracy::default(); selected.len()];
        exposed.for_each(run, selected, samples, |at, _, tensor| {
            let parameters = calibration.parameters.get(at).and_then(Option::as_ref);
            let (Some(parameters), Some(accuracy)) = (parameters, accuracies.get_mut(at)) else {
                return Ok(());
            };
            let (channels, inner) = match parameters.channel {
                Some(dimension) => channel_layout(tensor.shape(), dimension),
                None => (1, 1),
            };
            let mut position = 0;
            for_each(tensor, |element| {
                let channel = position / inner % channels;
                accuracy.add_element(element, parameters.quantized(element, channel));
                position += 1;
            });
            Ok(())
        })?;
        let columns = selected.iter().zip(&calibration.parameters).zip(&calibration.ranges);
        for (((selected, parameters), [low, high]), accuracy) in columns.zip(accuracies) {
            let Some(parameters) = parameters else { continue };
            let scale = match parameters.scales.as_slice() {
                [single] => format!("{single:.3e}"),
                all => counted(all.len(), "scale"),
            };
            let name = selected.name.clone();
            let cells = [name.clone(), format!("{low:.4} … {high:.4}"), scale, parameters.zero.to_string()];
            self.tensors.push(Line { name, span: selected.place.span, cells, accuracy });
        }
        Ok(())
    }

    /// Adds the difference between an output of the float model and of the quantized model.
    pub fn add_output(&mut self, how: QuantizeArgument, position: usize, name: &str, tensors: [&Tensor; 2]) {
        let same = |output: &&mut Output| output.how == how && output.position == position;
        let [expected, found] = tensors;
        if let Some(output) = self.outputs.iter_mut().find(same) {
            output.accuracy.add(expected, found);
            return;
        }
        let mut accuracy = Accuracy::default();
        accuracy.add(expected, found);
        self.outputs.push(Output { name: name.to_owned(), position, how, accuracy });
    }

    /// The heading and the tables.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.heading);
        text.push_str(&format!(
            "{} of products computed in integers, {} in reals\n",
            counted(self.sums.bytes, "sum"),
            self.sums.reals
        ));
        if self.arguments.reading.verbose {
            let head = ["tensor", "elements", "scale", "zero", "SNR (dB)", "largest error"].map(String::from);
            let lines = self.tensors.iter().map(|line| {
                let [name, range, scale, zero] = line.cells.clone();
                let largest = format!("{:.3e}", line.accuracy.largest);
                [name, range, scale, zero, decibels(line.accuracy.snr()), largest]
            });
            text.push_str(&aligned(&[head].into_iter().chain(lines).collect::<Vec<_>>(), 0));
        }
        let head = ["output", "computed", "SNR (dB)", "largest error", "top-1"].map(String::from);
        let lines = self.outputs.iter().map(|output| {
            let agreement = output.accuracy.agreement();
            [
                output.name.clone(),
                word(output.how).to_owned(),
                decibels(output.accuracy.snr()),
                format!("{:.3e}", output.accuracy.largest),
                agreement.map_or(String::new(), |agreement| format!("{:.1} %", 100.0 * agreement)),
            ]
        });
        text.push_str(&aligned(&[head].into_iter().chain(lines).collect::<Vec<_>>(), 0));
        text
    }

    /// A warning for each tensor and output below the threshold, and for sums of products that remain in reals.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let least = self.arguments.min_snr;
        let is_low = |accuracy: &Accuracy| accuracy.snr() < least;
        let low = |what: String, accuracy: &Accuracy| {
            let snr = decibels(accuracy.snr());
            format!("{what} has a signal-to-noise ratio of {snr} dB, less than {least} dB")
        };
        let tensors = self.tensors.iter().filter(|line| is_low(&line.accuracy)).map(|line| {
            let text = low(format!("the quantized tensor `{}`", line.name), &line.accuracy);
            Diagnostic::warning(&QUANTIZATION_NOISE, line.span, text)
        });
        let outputs = self.outputs.iter().filter(|output| is_low(&output.accuracy)).map(|output| {
            let text = low(format!("output `{}`, {},", output.name, word(output.how)), &output.accuracy);
            Diagnostic::warning_without_location(&QUANTIZATION_NOISE, text)
        });
        let remaining = self.sums.reals.saturating_sub(self.skipped);
        let remaining = (remaining > 0).then(|| {
            let text = format!("{} of products of quantized tensors in reals", counted(remaining, "sum"));
            let warning = Diagnostic::warning_without_location(&QUANTIZATION_NOISE, text);
            warning.with_help(
                "docs/numerics.md has the conditions of sums in integers, such as the types of tensors",
            )
        });
        tensors.chain(outputs).chain(remaining).collect()
    }
}

fn word(how: QuantizeArgument) -> &'static str {
    match how {
        QuantizeArgument::Simulate => "simulated",
        QuantizeArgument::Integer => "in integers",
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
