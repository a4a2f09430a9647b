// SPDX-License-Identifier: Apache-2.0
//! The steps of a training: calls of compiled code that update the variables, and the outputs on other samples.

use std::io::Write as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skript::{Compiler, Gradient, Instance, Model, Tensor};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::TRAINING;
use skript_runtime::Artifact;
use skript_semantics::Scalar;

use super::checkpoint::{self, Fingerprint, Progress, save_arrays};
use super::curve::Curve;
use super::data::{Data, order};
use crate::command_line::TrainArguments;
use crate::engine::{failed, load};
use crate::stopped::Stopped;

/// The model, the training step, and the samples.
pub struct Training<'a> {
    pub arguments: &'a TrainArguments,
    pub compiler: &'a Compiler,
    pub model: &'a Model,
    /// The training step, with its variables by the positions of those of the model.
    pub gradient: &'a Gradient,
    pub step: &'a Model,
    pub data: &'a Data,
    pub validation: Option<&'a Data>,
    /// The model for the validation samples that do not fill a batch.
    pub rest: Option<&'a Model>,
    pub batch: usize,
    /// The outputs that are recorded, by position and name; the first one is reduced.
    pub outputs: &'a [(usize, String)],
    pub fingerprint: Fingerprint,
}

impl Training<'_> {
    /// Trains from these variables of the training step. Returns the variables of the model.
    ///
    /// # Errors
    /// The step cannot be compiled or run, its output is not finite, or a file cannot be written.
    pub fn run(&self, variables: Vec<Tensor>, mut progress: Progress) -> Result<Vec<Tensor>, Stopped> {
        let mut state = variables;
        let artifact = self.compiler.compile(self.step)?.artifact;
        let mut instance = load(artifact, self.compiler, self.step, &state)?;
        let mut evaluated = Vec::new();
        for model in self.validation.map(|_| self.model).into_iter().chain(self.rest) {
            evaluated.push((model, self.compiler.compile(model)?.artifact));
        }
        self.report(&progress)?;
        while progress.rows.len() < self.arguments.epochs as usize && !self.is_patient_end(&progress) {
            let epoch = progress.rows.len();
            self.epoch(&mut instance, &mut state, &mut progress)?;
            self.step.release(instance.variables(), &mut state);
            let steps = (self.data.count / self.batch).max(1) as f64;
            let mut row: Vec<f64> = progress.sums.iter().map(|sum| sum / steps).collect();
            if let Some(samples) = self.validation {
                let means = self.evaluate(&evaluated, samples, &self.weights(&state))?;
                row.splice(self.outputs.len().., means);
            }
            self.finish(epoch, row, &state, &mut progress)?;
        }
        match progress.best.filter(|_| self.arguments.patience.is_some()) {
            Some(_) => self.best(),
            None => Ok(self.weights(&state)),
        }
    }

    /// The steps of an epoch from the current position.
    fn epoch(
        &self,
        instance: &mut Instance,
        state: &mut [Tensor],
        progress: &mut Progress,
    ) -> Result<(), Stopped> {
        let epoch = progress.rows.len();
        let order = order(self.data.count, self.arguments.seed, epoch as u64);
        let bar = bar(order.len() / self.batch, epoch + 1, self.arguments.epochs);
        let mut saved = Instant::now();
        for samples in order.chunks_exact(self.batch).skip(progress.position) {
            let inputs = self.data.batch(samples)?;
            let outputs = instance.compute(&inputs.iter().collect::<Vec<_>>());
            let outputs = outputs.map_err(|error| failed(&error, self.step))?;
            progress.position += 1;
            self.check_finite(&outputs, epoch, progress.position)?;
            for ((position, _), sum) in self.outputs.iter().zip(&mut progress.sums) {
                *sum += value(outputs.get(*position));
            }
            bar.set_position(progress.position as u64);
            let is_last = progress.position == order.len() / self.batch;
            if !is_last && saved.elapsed() >= self.arguments.checkpoint_interval {
                self.step.release(instance.variables(), state);
                self.save(state, progress)?;
                saved = Instant::now();
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Records an epoch: its means, the best weights, the curve and a checkpoint.
    fn finish(
        &self,
        epoch: usize,
        row: Vec<f64>,
        state: &[Tensor],
        progress: &mut Progress,
    ) -> Result<(), Stopped> {
        let judged =
            |row: &[f64]| row.get(if self.validation.is_some() { self.outputs.len() } else { 0 }).copied();
        let least = progress.best.and_then(|best| judged(progress.rows.get(best)?));
        let is_less = |value: f64| value.is_finite() && least.is_none_or(|least| value < least);
        if judged(&row).is_some_and(is_less) {
            progress.best = Some(epoch);
            // Also without --patience, which may be given when the training continues.
            let weights = self.weights(state);
            let names = self.model.ir().variables.iter().map(|variable| variable.name.as_str());
            save_arrays(&checkpoint::best(&self.arguments.output), names.zip(&weights))?;
        }
        progress.sums = vec![0.0; row.len()];
        progress.rows.push(row);
        progress.position = 0;
        self.save(state, progress)?;
        self.report(progress)?;
        crate::stdout::print(&self.curve(progress).line(epoch));
        Ok(())
    }

    /// Writes a checkpoint, unless the last step made a weight infinite or NaN.
    fn save(&self, state: &[Tensor], progress: &Progress) -> Result<(), Stopped> {
        let names = self.model.ir().variables.iter().map(|variable| variable.name.as_str());
        let mut weights = names.zip(self.weights(state));
        if let Some((name, _)) = weights.find(|(_, weights)| !is_finite(weights)) {
            // A checkpoint within an epoch has a position.
            let epoch = progress.rows.len() + usize::from(progress.position > 0);
            return Err(diverged(format!("`{name}` has infinite elements or NaN in epoch {epoch}")));
        }
        Ok(checkpoint::save(&self.arguments.output, self.step, state, progress, &self.fingerprint)?)
    }

    /// Checks the output that is reduced.
    fn check_finite(&self, outputs: &[Tensor], epoch: usize, step: usize) -> Result<(), Stopped> {
        let Some((position, name)) = self.outputs.first() else { return Ok(()) };
        let reduced = value(outputs.get(*position));
        if reduced.is_finite() {
            return Ok(());
        }
        Err(diverged(format!("`{name}` is {reduced} in epoch {}, step {step}", epoch + 1)))
    }

    fn is_patient_end(&self, progress: &Progress) -> bool {
        let waited = progress.best.map_or(0, |best| progress.rows.len().saturating_sub(best + 1));
        self.arguments.patience.is_some_and(|patience| waited >= patience as usize)
    }

    fn curve(&self, progress: &Progress) -> Curve {
        let names = self.outputs.iter().map(|(_, name)| name.clone());
        let validated = self.outputs.iter().filter(|_| self.validation.is_some());
        let names = names.chain(validated.map(|(_, name)| format!("validation_{name}"))).collect();
        Curve { names, rows: progress.rows.clone() }
    }

    /// Writes the curve.
    fn report(&self, progress: &Progress) -> Result<(), Stopped> {
        let curve = self.curve(progress);
        for (name, text) in [("loss.csv", curve.csv()), ("loss.svg", curve.svg())] {
            checkpoint::replace(&self.arguments.output.join(name), |stream| {
                stream.write_all(text.as_bytes())
            })?;
        }
        Ok(())
    }

    /// The variables of the model among those of the training step.
    fn weights(&self, state: &[Tensor]) -> Vec<Tensor> {
        let names: Vec<&str> =
            self.step.ir().variables.iter().map(|variable| variable.name.as_str()).collect();
        let mut placed: Vec<(usize, Tensor)> = Vec::new();
        for (at, name) in &self.gradient.variables {
            let position = names.iter().position(|known| known == name);
            placed.extend(
                position.and_then(|position| state.get(position)).map(|tensor| (*at, tensor.clone())),
            );
        }
        placed.sort_by_key(|(at, _)| *at);
        placed.into_iter().map(|(_, tensor)| tensor).collect()
    }

    /// The weights of the best epoch.
    fn best(&self) -> Result<Vec<Tensor>, Stopped> {
        let path = checkpoint::best(&self.arguments.output);
        let weights = skript::Weights::open(&path)?;
        let loaded = weights.load_each(&self.model.requests()).into_iter().collect::<Result<Vec<_>, _>>();
        Ok(loaded.map_err(|error| skript::Error::Arrays(vec![error]))?)
    }

    /// The means of the outputs over samples, by the model for batches, and that for the rest.
    fn evaluate(
        &self,
        models: &[(&Model, Artifact)],
        samples: &Data,
        weights: &[Tensor],
    ) -> Result<Vec<f64>, Stopped> {
        let positions: Vec<usize> = (0..samples.count).collect();
        let (whole, rest) = positions.split_at(samples.count - samples.count % self.batch);
        let mut sums = vec![0.0; self.outputs.len()];
        let mut count = 0;
        for ((model, artifact), positions) in models.iter().zip([whole, rest]) {
            let mut instance = load(artifact.clone(), self.compiler, model, weights)?;
            for batch in positions.chunks(self.batch) {
                let inputs = samples.batch(batch)?;
                let outputs = instance.compute(&inputs.iter().collect::<Vec<_>>());
                let outputs = outputs.map_err(|error| failed(&error, model))?;
                for ((position, _), sum) in self.outputs.iter().zip(&mut sums) {
                    *sum += batch.len() as f64 * value(outputs.get(*position));
                }
                count += batch.len();
            }
        }
        Ok(sums.into_iter().map(|sum| sum / count as f64).collect())
    }
}

/// The error of a training that cannot go on.
fn diverged(text: String) -> Stopped {
    let help = "reduce the rate of --optimizer, limit the gradients by --clip-norm, or correct the samples; the last checkpoint is of a step before";
    Diagnostic::without_location(&TRAINING, text).with_help(help).into()
}

/// Whether a tensor has neither infinite elements nor NaN.
fn is_finite(tensor: &Tensor) -> bool {
    match tensor.as_f32() {
        Some(values) => values.iter().all(|value| value.is_finite()),
        None => (0..tensor.volume()).all(|at| match tensor.get(at) {
            Some(Scalar::Real(value)) => value.is_finite(),
            _ => true,
        }),
    }
}

/// The element of an output.
fn value(output: Option<&Tensor>) -> f64 {
    match output.and_then(|output| output.get(0)) {
        Some(Scalar::Real(value)) => value,
        _ => f64::NAN,
    }
}

/// The progress of an epoch on stderr, if it is a terminal.
fn bar(steps: usize, epoch: usize, epochs: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len}, {eta} left");
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    let bar = match style {
        Ok(style) => bar.with_style(style.progress_chars("=> ")),
        Err(_) => bar,
    };
    bar.enable_steady_tick(Duration::from_millis(250));
    bar.with_message(format!("epoch {epoch}/{epochs}"))
}
