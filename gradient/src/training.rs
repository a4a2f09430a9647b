// SPDX-License-Identifier: Apache-2.0
//! The update of a training step: an optimizer for each variable, a schedule of its rate, and limits of the gradients.

use crate::flatten::{Graph, TensorId};
use crate::names::Names;
use crate::refusal::{Refusal, request};
use crate::text::literal;
use skript_semantics::Scalar;

/// How variables are updated. An optimizer is an operator that maps a variable, its gradient and, with a schedule, a factor of the
/// rate to the variable's next value; a schedule is an operator without inputs that computes this factor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Training {
    /// The optimizer with its attributes: `optim.adam{rate=1e-3}`.
    pub optimizer: String,
    /// The schedule with its attributes: `optim.cosine{steps=1000}`.
    pub schedule: Option<String>,
    /// The largest norm of all gradients together.
    pub clip_norm: Option<f64>,
    /// The largest magnitude of an element of a gradient.
    pub clip_value: Option<f64>,
}

/// The statements of `@update`, and the modules that they use.
#[derive(Debug, Default)]
pub struct Steps {
    pub imports: Vec<String>,
    pub lines: Vec<String>,
}

impl Training {
    /// Checks that operators are qualified names with attributes, and that the request is one for training.
    ///
    /// # Errors
    /// The part of the request that does not fit, and how to write it.
    pub fn check(&self, graph: &Graph, of: &str, is_scalar: bool, wrt: &[TensorId]) -> Result<(), Refusal> {
        for (what, operator) in [("optimizer", Some(&self.optimizer)), ("schedule", self.schedule.as_ref())] {
            if let Some(operator) = operator.filter(|operator| module(operator).is_none()) {
                return Err(request(format!(
                    "the {what} `{operator}` is not an operator with attributes, such as `optim.adam{{rate=1e-3}}`"
                )));
            }
        }
        if !is_scalar {
            let message = format!("training reduces a scalar, and the output `{of}` has several elements");
            return Err(request(message));
        }
        let is_variable = |id: &TensorId| graph.variables.iter().any(|(variable, _)| variable == id);
        let named =
            |id: &TensorId| graph.tensors.get(*id).map_or("", |tensor| tensor.name.as_str()).to_owned();
        if let Some(input) = wrt.iter().find(|id| !is_variable(id)) {
            let message = format!("training updates variables, and `{}` is an input", named(input));
            return Err(request(message));
        }
        let mut updated = graph.updates.iter().map(|(variable, _)| variable);
        match updated.find(|variable| wrt.contains(variable)) {
            Some(both) => Err(request(format!(
                "`{}` has a new value by `@update` of the model, so an optimizer cannot update it, too: list other variables",
                named(both)
            ))),
            None => Ok(()),
        }
    }
}

/// The module of an operator with attributes; `None` for other texts.
fn module(operator: &str) -> Option<&str> {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let (name, attributes) = operator.split_at(operator.find('{').unwrap_or(operator.len()));
    let is_whole = attributes.is_empty()
        || attributes.ends_with('}') && !attributes.contains([';', '\n', '#', '(', ')']);
    let (module, name) = name.trim_end().rsplit_once('.')?;
    (is_whole && is_word(name) && module.split('.').all(is_word)).then_some(module)
}

/// The statements that update the weights, given with their gradients, and the other variables, given with their new values.
pub fn steps(
    training: &Training,
    weights: Vec<(String, String)>,
    updates: &[(String, String)],
    names: &mut Names,
) -> Steps {
    let mut steps = Steps { imports: Vec::new(), lines: Vec::new() };
    for (variable, value) in updates {
        steps.lines.push(format!("{variable} = {value}"));
    }
    let weights = steps.clipped(training, weights, names);
    let factor = training.schedule.as_ref().map(|schedule| {
        let (factor, label) = (names.fresh("factor"), names.fresh("schedule"));
        steps.call(&factor, Some(&label), schedule, &[]);
        factor
    });
    for (weight, gradient) in &weights {
        let label = names.fresh(&format!("{weight}_step"));
        let arguments = [Some(weight), Some(gradient), factor.as_ref()];
        let arguments: Vec<&str> = arguments.into_iter().flatten().map(String::as_str).collect();
        steps.call(weight, Some(&label), &training.optimizer, &arguments);
    }
    steps
}

impl Steps {
    fn call(&mut self, result: &str, label: Option<&str>, operator: &str, arguments: &[&str]) {
        if let Some(module) = module(operator)
            && !self.imports.iter().any(|known| known == module)
        {
            self.imports.push(module.to_owned());
        }
        let label = label.map_or_else(String::new, |label| format!("{label}: "));
        self.lines.push(format!("{result} = {label}{operator}({})", arguments.join(", ")));
    }

    /// The weights with limited gradients.
    fn clipped(
        &mut self,
        training: &Training,
        mut weights: Vec<(String, String)>,
        names: &mut Names,
    ) -> Vec<(String, String)> {
        if let Some(limit) = training.clip_value {
            for (_, gradient) in &mut weights {
                let limited = names.fresh(&format!("{gradient}_limited"));
                self.call(&limited, None, &with_limit("optim.clip_value", limit), &[gradient]);
                *gradient = limited;
            }
        }
        if let Some(limit) = training.clip_norm {
            let mut squares = Vec::new();
            for (_, gradient) in &weights {
                let sum = names.fresh(&format!("{gradient}_squares"));
                self.call(&sum, None, "optim.sum_of_squares", &[gradient]);
                squares.push(sum);
            }
            let factor = names.fresh("norm_factor");
            let pack = format!("[{}]", squares.join(", "));
            self.call(&factor, None, &with_limit("optim.norm_factor", limit), &[&pack]);
            for (_, gradient) in &mut weights {
                let scaled = names.fresh(&format!("{gradient}_scaled"));
                self.call(&scaled, None, "optim.scale", &[gradient, &factor]);
                *gradient = scaled;
            }
        }
        weights
    }
}

fn with_limit(operator: &str, limit: f64) -> String {
    format!("{operator}{{limit={}}}", literal(Scalar::Real(limit)))
}
