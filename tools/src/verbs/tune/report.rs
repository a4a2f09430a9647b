// SPDX-License-Identifier: Apache-2.0
//! The measurements of each kernel, and the kept plans.

use std::time::Duration;

use serde_json::{Value, json};
use skript_runtime::profile::Step;

use super::measurement::Timings;
use super::speedup;
use crate::measure::duration_text;
use crate::profile::operators;
use crate::table::aligned;

/// A kernel of a model, and its plans.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub key: String,
    /// The distinct descriptions of its steps.
    operators: Vec<String>,
    /// The number of its steps.
    steps: usize,
    /// The number of its plans.
    pub count: usize,
    /// The plan of the cost model.
    text: String,
    measured: Vec<Measured>,
    /// The index in `measured` of the kept plan.
    selected: Option<usize>,
    /// The times with the plan of the cost model and with the kept plan, when all kept plans are measured together.
    confirmed: Option<[Duration; 2]>,
}

/// A plan that was measured.
#[derive(Clone, Debug)]
struct Measured {
    number: usize,
    text: String,
    before: Duration,
    after: Duration,
}

impl Kernel {
    /// The kernels of a model that have several plans, in the order of their first steps.
    pub fn from_steps(steps: &[Step]) -> Vec<Kernel> {
        let mut kernels: Vec<Kernel> = Vec::new();
        for step in steps {
            let Some(plan) = step.plan.as_ref().filter(|plan| plan.count > 1) else {
                continue;
            };
            let operator = operators(step);
            match kernels.iter_mut().find(|kernel| kernel.key == plan.key) {
                Some(kernel) => {
                    kernel.steps += 1;
                    if !kernel.operators.contains(&operator) {
                        kernel.operators.push(operator);
                    }
                }
                None => kernels.push(Kernel {
                    key: plan.key.clone(),
                    operators: vec![operator],
                    steps: 1,
                    count: plan.count,
                    text: plan.text.clone(),
                    measured: Vec::new(),
                    selected: None,
                    confirmed: None,
                }),
            }
        }
        kernels
    }

    /// Adds the times of a plan, and the times of the plan of the cost model.
    pub fn add(&mut self, before: &Timings, after: &Timings, steps: &[Step]) {
        let plans = steps.iter().filter_map(|step| step.plan.as_ref());
        let plan = plans.into_iter().find(|plan| plan.key == self.key);
        let times = before.kernels.get(&self.key).zip(after.kernels.get(&self.key));
        if let (Some(plan), Some((before, after))) = (plan.filter(|p| p.number > 0), times) {
            self.measured.push(Measured {
                number: plan.number,
                text: plan.text.clone(),
                before: *before,
                after: *after,
            });
        }
    }

    fn selected(&self) -> Option<&Measured> {
        self.measured.get(self.selected?)
    }

    /// The fraction by which the times of the same plan vary between measurements.
    fn noise(&self) -> f64 {
        let times = || self.measured.iter().map(|measured| measured.before);
        match (times().min(), times().max()) {
            (Some(minimum), Some(maximum)) => gain(maximum, minimum),
            _ => 0.0,
        }
    }
}

/// The measurements of a model.
#[derive(Clone, Debug)]
pub struct Report {
    kernels: Vec<Kernel>,
    /// The times of a call with the plans of the cost model and with the kept plans.
    call: Option<[Duration; 2]>,
}

impl Report {
    pub fn new(kernels: Vec<Kernel>) -> Self {
        Report { kernels, call: None }
    }

    /// Selects the fastest plan of each kernel, if it saves at least the fraction `min_gain` of the time, and more than the times
    /// vary.
    pub fn select(&mut self, min_gain: f64) {
        for kernel in &mut self.kernels {
            let noise = kernel.noise();
            let best = kernel
                .measured
                .iter()
                .enumerate()
                .map(|(n, m)| (n, gain(m.before, m.after)))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            kernel.selected = best.filter(|(_, gain)| *gain >= min_gain && *gain > noise).map(|(n, _)| n);
        }
    }

    /// Drops the plans that do not save more than the times vary when all plans are measured together. Drops all plans if calls
    /// are not faster. Returns whether all plans are kept.
    pub fn confirm(&mut self, before: &Timings, after: &Timings) -> bool {
        let is_faster = after.call < before.call;
        let mut all_kept = true;
        for kernel in self.kernels.iter_mut().filter(|k| k.selected.is_some()) {
            let noise = kernel.noise();
            let pair = before.kernels.get(&kernel.key).zip(after.kernels.get(&kernel.key));
            let times = pair.map(|(before, after)| [*before, *after]);
            let gains = |[before, after]: &[Duration; 2]| gain(*before, *after) > noise;
            kernel.confirmed = times.filter(|times| is_faster && gains(times));
            if kernel.confirmed.is_none() {
                kernel.selected = None;
                all_kept = false;
            }
        }
        self.call = Some([before.call, after.call]);
        all_kept
    }

    /// Drops all plans.
    pub fn drop_choices(&mut self) {
        for kernel in &mut self.kernels {
            kernel.selected = None;
            kernel.confirmed = None;
        }
    }

    /// The selected plans as the option `plans` of the passes.
    pub fn choices(&self) -> String {
        let selected = self.kernels.iter().filter_map(|kernel| {
            let selected = kernel.selected()?;
            Some(format!("{}:{}", kernel.key, selected.number))
        });
        selected.collect::<Vec<_>>().join(",")
    }

    /// A table with a line for each kernel, and a summary.
    pub fn table(&self) -> String {
        let mut lines =
            vec![["before", "after", "speedup", "plans", "steps", "operator", "plan"].map(str::to_owned)];
        for kernel in &self.kernels {
            let cells = match (kernel.selected(), kernel.confirmed) {
                (Some(selected), Some([before, after])) => [
                    duration_text(before, 0),
                    duration_text(after, 0),
                    format!("{:.2}", speedup(before, after)),
                    selected.text.clone(),
                ],
                _ => {
                    let before = kernel.measured.iter().map(|m| m.before).min();
                    let before = before.map_or_else(|| "-".to_owned(), |b| duration_text(b, 0));
                    [before, "-".to_owned(), "-".to_owned(), kernel.text.clone()]
                }
            };
            let [before, after, speedup, plan] = cells;
            lines.push([
                before,
                after,
                speedup,
                kernel.count.to_string(),
                kernel.steps.to_string(),
                kernel.operators.join(", "),
                plan,
            ]);
        }
        let mut text = if self.kernels.is_empty() { String::new() } else { aligned(&lines, 5) };
        let kept = self.kernels.iter().filter(|k| k.selected.is_some()).count();
        let all = kernels(self.kernels.len());
        text.push_str(&match (kept, self.call) {
            (1.., Some([before, after])) => format!(
                "a call takes {} in place of {} with other plans for {kept} of {all}; they are kept for this model\n",
                duration_text(after, 0),
                duration_text(before, 0),
            ),
            _ => format!("{all} measured, none of them faster with another plan; none is kept\n"),
        });
        text
    }

    /// All measurements.
    pub fn json(&self) -> Value {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let kernels = self.kernels.iter().map(|kernel| {
            let plans = kernel.measured.iter().map(|m| {
                json!({
                    "number": m.number,
                    "plan": m.text,
                    "ns": nanoseconds(m.after),
                    "base_ns": nanoseconds(m.before),
                })
            });
            json!({
                "key": kernel.key,
                "operators": kernel.operators,
                "steps": kernel.steps,
                "plan": kernel.text,
                "plans": plans.collect::<Vec<_>>(),
                "kept": kernel.selected().map(|selected| selected.number),
                "before_ns": kernel.confirmed.map(|[before, _]| nanoseconds(before)),
                "after_ns": kernel.confirmed.map(|[_, after]| nanoseconds(after)),
            })
        });
        json!({
            "plans": self.choices(),
            "before_ns": self.call.map(|[before, _]| nanoseconds(before)),
            "after_ns": self.call.map(|[_, after]| nanoseconds(after)),
            "kernels": kernels.collect::<Vec<_>>(),
        })
    }
}

/// The fraction of the time `before` that `after` saves.
fn gain(before: Duration, after: Duration) -> f64 {
    1.0 - 1.0 / speedup(before, after).max(1e-9)
}

/// `1 kernel`, `2 kernels`.
fn kernels(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} kernel{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_runtime::profile::Plan;

    fn step(key: &str, number: usize) -> Step {
        Step {
            operators: vec![vec!["m.sknd:3:5-3:9: nn.conv".to_owned()]],
            plan: Some(Plan { key: key.to_owned(), number, count: 3, text: format!("lanes=0x{number}") }),
            ..Step::default()
        }
    }

    fn times(call: u64, kernels: [u64; 2]) -> Timings {
        Timings {
            call: Duration::from_micros(call),
            kernels: ["a", "b"]
                .map(str::to_owned)
                .into_iter()
                .zip(kernels.map(Duration::from_micros))
                .collect(),
        }
    }

    fn report(second: u64) -> Report {
        let mut kernels = Kernel::from_steps(&[step("a", 0), step("b", 0), step("a", 0)]);
        assert_eq!(kernels.len(), 2);
        for (number, after) in [(1, [90, 100]), (2, [80, 99])] {
            let steps = [step("a", number), step("b", number)];
            for kernel in &mut kernels {
                kernel.add(&times(500, [100, 100]), &times(500, after), &steps);
            }
        }
        let mut report = Report::new(kernels);
        report.select(0.03);
        assert_eq!(report.choices(), "a:2");
        report.confirm(&times(500, [100, 100]), &times(480, [second, 100]));
        report
    }

    #[test]
    fn the_fastest_plan_of_a_kernel_is_kept() {
        let report = report(80);
        assert_eq!(report.choices(), "a:2");
        assert_eq!(
            report.table(),
            "    before      after  speedup  plans  steps  operator  plan\n\
             100.000 µs  80.000 µs     1.25      3      2  nn.conv   lanes=0x2\n\
             100.000 µs          -        -      3      1  nn.conv   lanes=0x0\n\
             a call takes 480.000 µs in place of 500.000 µs with other plans for 1 of 2 kernels; they are kept for this model\n"
        );
        let json = report.json();
        assert_eq!(json["kernels"][0]["kept"], 2);
        assert_eq!(json["kernels"][1]["plans"][1]["ns"], 99_000);
    }

    #[test]
    fn a_plan_that_is_not_faster_again_is_dropped() {
        let report = report(100);
        assert_eq!(report.choices(), "");
        assert!(
            report
                .table()
                .ends_with("2 kernels measured, none of them faster with another plan; none is kept\n")
        );
    }

    #[test]
    fn no_plan_is_kept_if_calls_are_not_faster() {
        let mut report = report(80);
        assert!(!report.confirm(&times(500, [100, 100]), &times(500, [80, 100])));
        assert_eq!(report.choices(), "");
    }

    #[test]
    fn a_gain_within_the_variation_of_times_is_ignored() {
        let mut kernels = Kernel::from_steps(&[step("a", 0), step("b", 0)]);
        for (number, before, after) in [(1, [100, 100], [95, 95]), (2, [110, 101], [109, 96])] {
            let steps = [step("a", number), step("b", number)];
            for kernel in &mut kernels {
                kernel.add(&times(500, before), &times(500, after), &steps);
            }
        }
        let mut report = Report::new(kernels);
        report.select(0.03);
        assert_eq!(report.choices(), "b:1");
        assert!(!report.confirm(&times(500, [100, 1000]), &times(499, [100, 991])));
        assert_eq!(report.choices(), "");
    }
}
