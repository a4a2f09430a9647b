// SPDX-License-Identifier: Apache-2.0
//! The output of `--profile`: the time of each step of compiled code, by operator.

mod chrome;
mod flame;
mod list;
mod output;
mod table;

pub use output::Output;

use std::time::Duration;

use skript_frontend::diagnostics::Diagnostic;
use skript_runtime::profile::{Profile, Step};

use crate::written::write;

/// Recorded calls and the steps of their code.
pub struct Recorded {
    pub steps: Vec<Step>,
    /// The sums over all recorded calls.
    pub profile: Profile,
    /// The number of recorded calls.
    pub calls: u32,
    /// The time to prepare variables, once before the first call; `None` if there is nothing to prepare.
    pub prepared: Option<Duration>,
    /// The name of the graph or program.
    pub model: String,
}

/// A step, as shown in all formats. Figures are averages over the calls.
struct Row {
    /// The computed operators, the main one first: `nn.softmax/math.exp + nn.relu`.
    operator: String,
    /// `path:line:column` of the invocation of the main operator in the model.
    location: String,
    /// Nested invocations of the main operator, outermost first, with their locations.
    frames: Vec<(String, String)>,
    kernel: String,
    layout: String,
    nanoseconds: f64,
    /// `None` if the operations of the step are not counted.
    flops: Option<u64>,
    bytes: u64,
}

impl Recorded {
    /// Prints or writes the profile.
    ///
    /// # Errors
    /// A diagnostic if the file cannot be written.
    pub fn report(&self, output: &Output) -> Result<(), Box<Diagnostic>> {
        let (path, text) = match output {
            Output::Table => {
                crate::stdout::print(&skript_host::printable(&self.table()));
                return Ok(());
            }
            Output::List(path) => (path, self.list()),
            Output::Trace(path) => (path, self.chrome()),
            Output::Flame(path) => (path, self.flame()),
        };
        write(path, &[text.as_bytes()])
    }

    /// The steps in program order.
    fn rows(&self) -> Vec<Row> {
        let calls = u64::from(self.calls.max(1));
        let rows = self.steps.iter().zip(&self.profile.sums);
        let row = |(step, sums): (&Step, &skript_runtime::profile::Sums)| {
            let main = step.operators.first().map_or(&[][..], Vec::as_slice);
            let frames: Vec<_> = main.iter().rev().map(|call| frame(call)).collect();
            Row {
                operator: operators(step),
                location: frames.first().map_or_else(String::new, |f| f.1.clone()),
                frames,
                kernel: step.kernel.clone(),
                layout: step.layout.clone(),
                nanoseconds: sums.time.as_nanos() as f64 / calls as f64,
                flops: step.is_counted.then_some(sums.flops / calls),
                bytes: sums.bytes / calls,
            }
        };
        rows.map(row).collect()
    }

    /// The average time of a call in nanoseconds.
    fn total(&self) -> f64 {
        self.profile.total.as_nanos() as f64 / f64::from(self.calls.max(1))
    }

    /// The average time outside of all steps in nanoseconds.
    fn rest(&self) -> f64 {
        self.profile.rest().as_nanos() as f64 / f64::from(self.calls.max(1))
    }
}

/// The operators that a step computes, as in `nn.softmax/math.exp + nn.relu`; the name of its kernel if they are unknown.
pub fn operators(step: &Step) -> String {
    let named: Vec<String> = step.operators.iter().map(|calls| name(calls)).collect();
    let named: Vec<String> = named.into_iter().filter(|n| !n.is_empty()).collect();
    if named.is_empty() { step.kernel.clone() } else { named.join(" + ") }
}

/// The names of nested invocations, outermost first: `nn.softmax/math.exp`.
fn name(calls: &[String]) -> String {
    let names = calls.iter().rev().map(|call| frame(call).0);
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    names.join("/")
}

/// Splits `path:line:column-line:column: name` into the name and `path:line:column`. The end of the range is optional.
fn frame(call: &str) -> (String, String) {
    let (location, name) = call.rsplit_once(": ").unwrap_or((call, ""));
    let numbers = |text: &str| {
        let digit_or_colon = |c: char| c.is_ascii_digit() || c == ':';
        !text.is_empty() && text.chars().all(digit_or_colon)
    };
    let location = match location.rsplit_once('-') {
        Some((before, end)) if numbers(end) && !before.is_empty() => before,
        _ => location,
    };
    (name.to_owned(), location.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_runtime::profile::{Span, Sums};

    /// Two steps of a call of 10 µs; the first is fused, the second is part of a composite operator.
    pub fn recorded() -> Recorded {
        let step = |operators: &[&[&str]], kernel: &str, is_counted| Step {
            operators: operators
                .iter()
                .map(|calls| calls.iter().map(|c| (*c).to_owned()).collect())
                .collect(),
            kernel: kernel.to_owned(),
            layout: "row-major".to_owned(),
            is_counted,
            plan: None,
        };
        let micros = Duration::from_micros;
        let sums = |time, flops, bytes| Sums { count: 2, time: micros(time), flops, bytes };
        Recorded {
            steps: vec![
                step(&[&["a-1.sknd:3:5-3:9: nn.conv"], &["a-1.sknd:4:5-4:9: nn.relu"]], "kernel_0", true),
                step(&[&["<lib>/nn.sknd:9:1: math.exp", "a-1.sknd:5:5: nn.soft<max>"]], "map", false),
            ],
            profile: Profile {
                sums: vec![sums(12, 24_000, 8_000), sums(6, 0, 600)],
                spans: vec![
                    Span { step: 0, begin: micros(1), length: micros(6) },
                    Span { step: 1, begin: micros(7), length: micros(3) },
                ],
                total: micros(20),
            },
            calls: 2,
            prepared: Some(micros(1500)),
            model: "main.G".to_owned(),
        }
    }

    #[test]
    fn rows_name_operators_and_average_over_calls() {
        let recorded = recorded();
        let rows = recorded.rows();
        let [first, second] = rows.as_slice() else { panic!("two rows") };
        assert_eq!(first.operator, "nn.conv + nn.relu");
        assert_eq!(first.location, "a-1.sknd:3:5");
        assert_eq!((first.flops, first.bytes), (Some(12_000), 4_000));
        assert!((first.nanoseconds - 6000.0).abs() < 1e-6);
        assert_eq!(second.operator, "nn.soft<max>/math.exp");
        assert_eq!(second.location, "a-1.sknd:5:5");
        assert_eq!(second.flops, None);
        assert!((recorded.rest() - 1000.0).abs() < 1e-6);
    }
}
