// SPDX-License-Identifier: Apache-2.0
//! `skript tune`: measures the plans of each kernel on this machine, and keeps the fastest for later compilations of the model.
//!
//! All plans of a kernel combine the points of each element in the same order, so results are bit-identical; a plan that rounds
//! differently is not kept. Each plan is measured within the whole model, so that the caches contain its operands as in later
//! calls. Calls with the plan alternate with calls that use the plans of the cost model, so that both run under the same load.

mod measurement;
mod report;

use std::collections::HashSet;
use std::time::Duration;

use skript::{Compiler, Model, RunError, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT, RUN_FAILED, UNREADABLE};
use skript_passes::Options;
use skript_passes::target::TargetDescription;
use skript_runtime::cache::Cache;

use self::measurement::{Agreement, Build, Timings, alternate};
use self::report::{Kernel, Report};
use crate::command_line::TuneArguments;
use crate::console::{Console, Status};
use crate::engine::{Job, failed, load};
use crate::measure::write_json;
use crate::session::{Session, Stopped, reporter};
use crate::stablehlo_program;
use crate::verbs::compare::tolerances;
use crate::watch::Watch;

/// Minimum fraction of the time that a plan must save in the first measurement. When all selected plans are measured together,
/// each plan must save more than the variation of the times with the plans of the cost model.
const MIN_GAIN: f64 = 0.03;

/// Maximum number of measurements of all selected plans together. Each measurement omits the plans that were not faster in the
/// previous measurement.
const CONFIRMATIONS: u32 = 3;

pub fn run(arguments: &TuneArguments, console: &mut Console) -> Status {
    let _watch = Watch::begin(arguments.call.stop.timeout, reporter(arguments.call.reading.message_format));
    let call = &arguments.call;
    call.threads.apply();
    let mut session = Session::open_for_call(&arguments.model, &call.reading, &call.inputs);
    if stablehlo_program::is_program(&arguments.model) {
        let text = "`skript tune` takes models in SkriptND; the plans of StableHLO programs are those of the cost model";
        session.report_all(Diagnostic::without_location(&UNREADABLE, text).into());
        return session.close(console);
    }
    let done = match kept(arguments) {
        Some((plans, what)) => session.compose_measured(&call.inputs).map(|model| {
            let kept = Plans::open(arguments, &model)?;
            check(plans, arguments, &model)?;
            kept.keep(plans)?;
            crate::stdout::print(&format!("{what}\n"));
            Ok(())
        }),
        None => session.compose_with_arrays(call).map(|(model, (inputs, variables))| {
            tune(arguments, &Job { model: &model, inputs: &inputs, variables: &variables })
        }),
    };
    if let Some(Err(error)) = done {
        session.report_all(error);
    }
    session.close(console)
}

/// The plans that are kept without measurements, and the message that confirms it.
fn kept(arguments: &TuneArguments) -> Option<(&str, &'static str)> {
    match (&arguments.keep, arguments.reset) {
        (Some(plans), _) => Some((plans, "kept the plans for this model")),
        (None, true) => Some(("", "removed the plans of this model")),
        (None, false) => None,
    }
}

/// Returns an error if the model's kernels do not have the plans.
fn check(plans: &str, arguments: &TuneArguments, model: &Model) -> Result<(), Stopped> {
    if plans.is_empty() {
        return Ok(());
    }
    let kernels = Kernel::from_steps(&compiler(arguments, "*:0").profile(model)?.1);
    let mut seen = HashSet::new();
    let wrong = plans.split(',').find_map(|item| {
        let Some((key, number)) = item.split_once(':') else {
            return Some(format!("`{item}` is no KEY:NUMBER"));
        };
        let Some(kernel) = kernels.iter().find(|kernel| kernel.key == key) else {
            return Some(format!(
                "no kernel of this model with several plans has the key `{key}`, with these options on this processor"
            ));
        };
        let last = kernel.count - 1;
        let is_number = number.parse().is_ok_and(|n: usize| n <= last);
        match (is_number, seen.insert(key)) {
            (false, _) => Some(format!("the kernel `{key}` has the plans 0 to {last}, not `{number}`")),
            (true, false) => Some(format!("the key `{key}` is there more than once")),
            (true, true) => None,
        }
    });
    match wrong {
        None => Ok(()),
        Some(wrong) => {
            let wrong = Diagnostic::without_location(&COMMAND_LINE_NAME, format!("--keep: {wrong}"));
            let help = "`skript tune MODEL --json FILE` writes the keys and plans of this model";
            Err(wrong.with_help(help).into())
        }
    }
}

/// The compiler with the given plans of kernels.
fn compiler(arguments: &TuneArguments, plans: &str) -> Compiler {
    let compiler = arguments.call.compiler();
    let target = TargetDescription { plans: plans.to_owned(), ..compiler.options().target.clone() };
    let options = Options { target, ..compiler.options().clone() };
    compiler.with_options(options)
}

fn tune(arguments: &TuneArguments, job: &Job) -> Result<(), Stopped> {
    let plans = Plans::open(arguments, job.model)?;
    let report = Tuner { arguments, job }.measure()?;
    plans.keep(&report.choices())?;
    crate::stdout::print(&skript_host::printable(&report.table()));
    match &arguments.json {
        Some(path) => Ok(write_json(path, &report.json())?),
        None => Ok(()),
    }
}

/// The entry of the cache for the plans of a model.
struct Plans {
    cache: Cache,
    key: String,
}

impl Plans {
    fn open(arguments: &TuneArguments, model: &Model) -> Result<Self, Stopped> {
        let cache = Cache::of_user().ok_or_else(|| {
            let text =
                "there is no cache to keep plans in: neither XDG_CACHE_HOME nor HOME is an absolute path";
            Diagnostic::without_location(&UNREADABLE, text)
        })?;
        Ok(Plans { cache, key: arguments.call.compiler().plans_key(model) })
    }

    fn keep(&self, plans: &str) -> Result<(), Stopped> {
        self.cache.put_plans(&self.key, plans).map_err(|e| {
            let text = format!("cannot write plans to {}: {e}", self.cache.folder().display());
            Diagnostic::without_location(&OUTPUT, text).into()
        })
    }
}

struct Tuner<'a> {
    arguments: &'a TuneArguments,
    job: &'a Job<'a>,
}

impl Tuner<'_> {
    fn measure(&self) -> Result<Report, Stopped> {
        let mut base = self.build("*:0")?;
        let mut kernels = Kernel::from_steps(&base.steps);
        let max_count = kernels.iter().map(|kernel| kernel.count).fold(0, usize::max);
        for number in 1..max_count {
            let mut other = self.build(&format!("*:{number}"))?;
            let Some([before, after]) = self.alternate(&mut base, &mut other)? else {
                continue;
            };
            for kernel in &mut kernels {
                kernel.add(&before, &after, &other.steps);
            }
        }
        let mut report = Report::new(kernels);
        report.select(MIN_GAIN);
        // Plans that were measured one at a time are measured together.
        for _ in 0..CONFIRMATIONS {
            if report.choices().is_empty() {
                return Ok(report);
            }
            let mut selected = self.build(&report.choices())?;
            let Some([before, after]) = self.alternate(&mut base, &mut selected)? else {
                break;
            };
            if report.confirm(&before, &after) {
                return Ok(report);
            }
        }
        report.drop_choices();
        Ok(report)
    }

    /// Compiles the model with the given plans of its kernels.
    fn build(&self, plans: &str) -> Result<Build, Stopped> {
        let compiler = compiler(self.arguments, plans);
        let (artifact, steps) = compiler.profile(self.job.model)?;
        let mut instance = load(artifact, &compiler, self.job.model, self.job.variables)?;
        instance.prepare(false).map_err(|e| self.failed(&e))?;
        Ok(Build::new(instance, steps))
    }

    fn failed(&self, error: &RunError) -> Stopped {
        failed(error, self.job.model).into()
    }

    /// The minimum times of both builds; `None` if their outputs differ by rounding.
    fn alternate(&self, base: &mut Build, other: &mut Build) -> Result<Option<[Timings; 2]>, Stopped> {
        let inputs: Vec<&Tensor> = self.job.inputs.iter().collect();
        let times = alternate([base, other], self.arguments.calls, &inputs);
        let times = times.map_err(|e| self.failed(&e))?;
        match base.agreement(other, tolerances(self.job.model.ir())) {
            Agreement::Same => Ok(Some(times)),
            Agreement::Rounded => Ok(None),
            Agreement::Wrong(difference) => {
                let text = format!(
                    "a plan changes results: this is a defect of the compiler, and no plan is kept; an output {difference}"
                );
                Err(Diagnostic::without_location(&RUN_FAILED, text).into())
            }
        }
    }
}

/// The ratio of two times, such as `1.05` if the second one is 5 % faster.
fn speedup(before: Duration, after: Duration) -> f64 {
    before.as_secs_f64() / after.as_secs_f64().max(1e-9)
}
