// SPDX-License-Identifier: Apache-2.0
//! `skript tune`: measures plans of each kernel on this machine, and keeps the fastest for later compilations of the model.
//!
//! All plans of a kernel combine the points of each element in the same order, so that results are the same bits; a plan that rounds
//! otherwise is not kept. Each plan is measured in the whole model, where its operands are in the caches as they will be; calls with it
//! and calls with the plans of the cost model alternate, so that both meet the same load of the machine.

mod measurement;
mod report;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, OUTPUT, RUN_FAILED, UNREADABLE};
use skript_frontend::model::Model;
use skript_passes::target::TargetDescription;
use skript_runtime::cache::Cache;
use skript_tensor::Tensor;

use self::measurement::{Agreement, Build, Timings, alternate};
use self::report::{Kernel, Report};
use crate::command_line::TuneArguments;
use crate::console::{Console, Status};
use crate::engine::Job;
use crate::engine::compiled::{Compiled, captured, failed, options, plans_key};
use crate::measure::write_json;
use crate::session::{Session, Stopped, Weights};
use crate::stablehlo_program;
use crate::verbs::compare::tolerances;

/// The share of the time that a plan must gain in the first measurement; when all are measured together, it must gain more than the
/// times of the cost model's plans vary.
const LEAST_GAIN: f64 = 0.03;

/// Measurements of all chosen plans together, each without those that were not faster in the one before.
const CONFIRMATIONS: u32 = 3;

pub fn run(arguments: &TuneArguments, console: &mut Console) -> Status {
    arguments.threads.apply();
    let mut session = Session::open_for_call(&arguments.model, &arguments.reading, &arguments.inputs);
    let weights = Weights::of_arguments(arguments.variables.as_deref(), arguments.weights.as_ref());
    if stablehlo_program::is_program(&arguments.model) {
        let text = "`skript tune` takes models in SkriptND; the plans of StableHLO programs are those of the cost model";
        session.report_all(Box::new(Diagnostic::without_location(&UNREADABLE, text)).into());
        return session.close(console);
    }
    let done = match kept(arguments) {
        Some((plans, what)) => session.compose_measured(&arguments.inputs).map(|model| {
            let kept = Plans::of(arguments, &session, &model)?;
            check(plans, arguments, &session, &model)?;
            kept.keep(plans)?;
            crate::stdout::print(&format!("{what}\n"));
            Ok(())
        }),
        None => session
            .compose_with_arrays(&arguments.inputs, weights)
            .map(|(model, (inputs, variables))| tune(arguments, &session, &model, &inputs, &variables)),
    };
    if let Some(Err(error)) = done {
        session.report_all(error);
    }
    session.close(console)
}

/// The plans to keep without measurements, and a message.
fn kept(arguments: &TuneArguments) -> Option<(&str, &'static str)> {
    match (&arguments.keep, arguments.reset) {
        (Some(plans), _) => Some((plans, "kept the plans for this model")),
        (None, true) => Some(("", "removed the plans of this model")),
        (None, false) => None,
    }
}

/// Refuses plans that the model's kernels do not have.
fn check(plans: &str, arguments: &TuneArguments, session: &Session, model: &Model) -> Result<(), Stopped> {
    if plans.is_empty() {
        return Ok(());
    }
    let job = Job { model, sources: &session.program.sources, inputs: &[], variables: &[] };
    let kernels = Kernel::of(&compiled(arguments, "*:0").profiled(&job)?.1);
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
            Err(Box::new(wrong.with_help(help)).into())
        }
    }
}

/// The compiler with plans of kernels.
fn compiled(arguments: &TuneArguments, plans: &str) -> Compiled {
    Compiled {
        pipeline: arguments.pipeline,
        target: TargetDescription {
            plans: plans.to_owned(),
            ..arguments.target.target_of(&arguments.reading)
        },
        cache: false,
        profile: true,
        exchange: None,
    }
}

fn tune(
    arguments: &TuneArguments,
    session: &Session,
    model: &Model,
    inputs: &[Arc<Tensor>],
    variables: &[Arc<Tensor>],
) -> Result<(), Stopped> {
    let plans = Plans::of(arguments, session, model)?;
    let job = Job { model, sources: &session.program.sources, inputs, variables };
    let tuner = Tuner { arguments, job: &job };
    let report = tuner.measure()?;
    plans.keep(&report.choices())?;
    crate::stdout::print(&skript_host::printable(&report.table()));
    match &arguments.json {
        Some(path) => Ok(write_json(path, &report.json())?),
        None => Ok(()),
    }
}

/// Where the plans of a model are kept.
struct Plans {
    cache: Cache,
    key: String,
}

impl Plans {
    fn of(arguments: &TuneArguments, session: &Session, model: &Model) -> Result<Self, Stopped> {
        let cache = Cache::of_user().ok_or_else(|| {
            let text =
                "there is no cache to keep plans in: neither XDG_CACHE_HOME nor HOME is an absolute path";
            Box::new(Diagnostic::without_location(&UNREADABLE, text))
        })?;
        let options = options(arguments.pipeline, arguments.target.target_of(&arguments.reading));
        let key = plans_key(model, &session.program.sources, &options);
        Ok(Plans { cache, key })
    }

    fn keep(&self, plans: &str) -> Result<(), Stopped> {
        self.cache.put_plans(&self.key, plans).map_err(|e| {
            let text = format!("cannot write plans to {}: {e}", self.cache.folder().display());
            Box::new(Diagnostic::without_location(&OUTPUT, text)).into()
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
        let mut kernels = Kernel::of(&base.steps);
        let most = kernels.iter().map(|kernel| kernel.count).max().unwrap_or(0);
        for number in 1..most {
            let mut other = self.build(&format!("*:{number}"))?;
            let Some([before, after]) = self.alternate(&mut base, &mut other)? else {
                continue;
            };
            for kernel in &mut kernels {
                kernel.add(&before, &after, &other.steps);
            }
        }
        let mut report = Report::new(kernels);
        report.select(LEAST_GAIN);
        // Plans that were measured one at a time are measured together.
        for _ in 0..CONFIRMATIONS {
            if report.choices().is_empty() {
                return Ok(report);
            }
            let mut chosen = self.build(&report.choices())?;
            let Some([before, after]) = self.alternate(&mut base, &mut chosen)? else {
                break;
            };
            if report.confirm(&before, &after) {
                return Ok(report);
            }
        }
        report.drop_choices();
        Ok(report)
    }

    /// The model's code with plans of its kernels.
    fn build(&self, plans: &str) -> Result<Build, Stopped> {
        let (artifact, steps) = compiled(self.arguments, plans).profiled(self.job)?;
        let variables = self.variables();
        let build = Build::new(artifact, steps, &variables);
        Ok(build.map_err(|e| Box::new(failed(&e, self.job.model, self.job.sources)))?)
    }

    fn variables(&self) -> Vec<&Tensor> {
        let variables: Vec<&Tensor> = self.job.variables.iter().map(Arc::as_ref).collect();
        captured(self.job.model, &variables)
    }

    /// The least times of both builds; `None` if their outputs differ by rounding.
    fn alternate(&self, base: &mut Build, other: &mut Build) -> Result<Option<[Timings; 2]>, Stopped> {
        let inputs: Vec<&Tensor> = self.job.inputs.iter().map(Arc::as_ref).collect();
        let variables = self.variables();
        let times = alternate([base, other], self.arguments.calls, &inputs, &variables);
        let times = times.map_err(|e| Box::new(failed(&e, self.job.model, self.job.sources)))?;
        match base.agreement(other, tolerances(self.job.model)) {
            Agreement::Same => Ok(Some(times)),
            Agreement::Rounded => Ok(None),
            Agreement::Wrong(difference) => {
                let text = format!(
                    "a plan changes results: this is a defect of the compiler, and no plan is kept; an output {difference}"
                );
                Err(Box::new(Diagnostic::without_location(&RUN_FAILED, text)).into())
            }
        }
    }
}

/// `1.05` for a plan that is so many times as fast.
fn speedup(before: Duration, after: Duration) -> f64 {
    before.as_secs_f64() / after.as_secs_f64().max(1e-9)
}
